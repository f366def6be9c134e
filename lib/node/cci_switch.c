/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A switch's answers about itself, its ports and their PIDs; tables are cci_switch_tables.c. */

#include "cci_link.h"
#include "cci_switch_priv.h"

#include <errno.h>

#define PORT_MODES_PBR (1u << 4) /* bits of the modes that a port can be in, from mode 1 on */
#define PORT_PRESENT (1u << 2)
#define TARGET_FPORT 0
#define TARGET_HOST 1
#define TARGET_DEVICE 2
#define TARGET_NO_VCS 0
#define PID_OP_ASSIGN 0
#define PID_OP_CLEAR 1

int
weft_cci_switch_init(struct weft_cci_switch *s, const struct weft_cci_switch_world *world,
	void *world_arg, unsigned int n_ports)
{
	if (n_ports == 0 || n_ports > UINT8_MAX)
		return -EINVAL;
	*s = (struct weft_cci_switch){
		.world = world,
		.world_arg = world_arg,
		.n_ports = (uint16_t)n_ports,
	};
	for (unsigned int p = 0; p < WEFT_SWITCH_PORTS; p++)
		s->pid[p] = WEFT_CCI_NO_PID;
	return 0;
}

uint16_t
cci_switch_rc(int rc)
{
	switch (rc) {
	case 0: return WEFT_CCI_SUCCESS;
	case -EMSGSIZE: return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	case -ENOTSUP: return WEFT_CCI_UNSUPPORTED;
	default: return WEFT_CCI_INVALID_INPUT;
	}
}

static uint16_t
switch_identify(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	struct weft_cci_identify_switch_rsp out = { .nports = (uint8_t)s->n_ports };

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	for (unsigned int p = 0; p < s->n_ports; p++) {
		struct weft_cci_switch_port port = { 0 };

		s->world->port(s->world_arg, p, &port);
		if (port.state != WEFT_CCI_PORT_DISABLED)
			out.ports[p / 8] |= (uint8_t)(1u << p % 8);
	}
	return cci_row_sent(weft_cci_put_identify_switch_rsp(rsp, *rsp_len, &out), rsp_len);
}

static void
switch_put_port(const struct weft_cci_switch *s, unsigned int port, struct weft_cci_port_block *b)
{
	struct weft_cci_switch_port p = { 0 };

	s->world->port(s->world_arg, port, &p);
	*b = (struct weft_cci_port_block){
		.port = (uint8_t)port,
		.state = p.state,
		.maxw = CCI_LINK_WIDTH,
		.speeds = CCI_LINK_SPEEDS,
		.maxs = CCI_LINK_SPEED,
		.modes = p.is_pbr ? PORT_MODES_PBR : PORT_MODES_PBR >> 2,
	};
	if (!p.is_up)
		return;
	b->mode = p.is_pbr ? CCI_LINK_MODE_PBR : CCI_LINK_MODE_PBR - 2; /* else 256-byte flits */
	b->type = p.type;
	b->negw = CCI_LINK_WIDTH;
	b->curs = CCI_LINK_SPEED;
	b->ltssm = CCI_LINK_LTSSM_L0;
	b->flags = PORT_PRESENT;
}

/* Ports that a request names: each must be there, and all must fit the answer. */
static uint16_t
switch_check_ports(const struct weft_cci_switch *s, const uint8_t *port, unsigned int n,
	size_t each, size_t head, size_t room)
{
	if (n == 0 || head + n * each > room)
		return WEFT_CCI_INVALID_INPUT;
	for (unsigned int i = 0; i < n; i++)
		if (port[i] >= s->n_ports)
			return WEFT_CCI_INVALID_INPUT;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
switch_ports(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	struct weft_cci_get_port_state_req in;
	struct weft_cci_get_port_state_rsp out = { .n = 0 };
	uint16_t rc = cci_switch_rc(weft_cci_get_get_port_state_req(&in, req, len));

	(void)who;
	if (rc == WEFT_CCI_SUCCESS)
		rc = switch_check_ports(s, in.ports, in.n, WEFT_CCI_PORT_BLOCK_LEN,
			WEFT_CCI_GET_PORT_STATE_RSP_LEN, *rsp_len);
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	out.n = in.n;
	out.block = rsp + WEFT_CCI_GET_PORT_STATE_RSP_LIST;
	for (unsigned int i = 0; i < in.n; i++) {
		struct weft_cci_port_block b;

		switch_put_port(s, in.ports[i], &b);
		weft_cci_put_port_block(rsp + WEFT_CCI_GET_PORT_STATE_RSP_LIST, i, &b);
	}
	return cci_row_sent(weft_cci_put_get_port_state_rsp(rsp, *rsp_len, &out), rsp_len);
}

static uint16_t
switch_control(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	struct weft_cci_switch_port port = { 0 };
	struct weft_cci_port_control_req in;
	const uint16_t rc = cci_switch_rc(weft_cci_get_port_control_req(&in, req, len));

	(void)who;
	(void)rsp;
	*rsp_len = 0;
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	if (in.port >= s->n_ports || in.op > WEFT_CCI_PORT_RESET)
		return WEFT_CCI_INVALID_INPUT;
	s->world->port(s->world_arg, in.port, &port);
	if (port.state == WEFT_CCI_PORT_DISABLED)
		return WEFT_CCI_INVALID_INPUT;
	return s->world->control == NULL
	               ? WEFT_CCI_UNSUPPORTED
	               : s->world->control(s->world_arg, in.port, (enum weft_cci_port_op)in.op);
}

static uint16_t
switch_partners(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	struct weft_cci_get_link_partner_info_req in;
	struct weft_cci_get_link_partner_info_rsp out = { .n = 0 };
	uint16_t rc = cci_switch_rc(weft_cci_get_get_link_partner_info_req(&in, req, len));

	(void)who;
	if (rc == WEFT_CCI_SUCCESS)
		rc = switch_check_ports(s, in.ports, in.n, WEFT_CCI_LPI_BLOCK_LEN,
			WEFT_CCI_GET_LINK_PARTNER_INFO_RSP_LEN, *rsp_len);
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	out.n = in.n;
	out.block = rsp + WEFT_CCI_GET_LINK_PARTNER_INFO_RSP_LIST;
	for (unsigned int i = 0; i < in.n; i++) {
		struct weft_cci_lpi_block b = { .pid_type = WEFT_CCI_NO_PID };

		s->world->partner(s->world_arg, in.ports[i], &b);
		b.port = in.ports[i];
		weft_cci_put_lpi_block(rsp + WEFT_CCI_GET_LINK_PARTNER_INFO_RSP_LIST, i, &b);
	}
	return cci_row_sent(weft_cci_put_get_link_partner_info_rsp(rsp, *rsp_len, &out), rsp_len);
}

static uint8_t
switch_target_type(const struct weft_cci_switch *s, unsigned int port)
{
	struct weft_cci_switch_port p = { 0 };

	s->world->port(s->world_arg, port, &p);
	return p.state == WEFT_CCI_PORT_USP   ? TARGET_HOST
	       : p.state == WEFT_CCI_PORT_DSP ? TARGET_DEVICE
	                                      : TARGET_FPORT;
}

/* A port is the target of its number. */
static uint16_t
switch_targets(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	struct weft_cci_get_pid_targets_req in;
	struct weft_cci_get_pid_targets_rsp out = { .total = s->n_ports };
	const uint16_t rc = cci_switch_rc(weft_cci_get_get_pid_targets_req(&in, req, len));

	(void)who;
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	if (in.start >= s->n_ports)
		return WEFT_CCI_INVALID_INPUT;
	out.n = (uint16_t)cci_row_fit((size_t)(s->n_ports - in.start), in.n, *rsp_len,
		WEFT_CCI_GET_PID_TARGETS_RSP_LEN, WEFT_CCI_PID_TARGET_LEN);
	out.entry = rsp + WEFT_CCI_GET_PID_TARGETS_RSP_LIST;
	for (unsigned int i = 0; i < out.n; i++) {
		const unsigned int p = in.start + i;
		const struct weft_cci_pid_target e = {
			.id = (uint16_t)p,
			.type = switch_target_type(s, p),
			.vcs = TARGET_NO_VCS,
			.port = (uint8_t)p,
			.pid = s->pid[p],
		};

		weft_cci_put_pid_target(rsp + WEFT_CCI_GET_PID_TARGETS_RSP_LIST, i, &e);
	}
	return cci_row_sent(weft_cci_put_get_pid_targets_rsp(rsp, *rsp_len, &out), rsp_len);
}

/* One change of @p pid, which becomes what the ports have if all of them can be made. */
static uint16_t
switch_assign(const struct weft_cci_switch *s, uint16_t pid[WEFT_SWITCH_PORTS],
	const struct weft_cci_pid_assign *e, bool clear)
{
	const uint16_t want = e->pid & WEFT_CCI_NO_PID;

	if (e->target >= s->n_ports || e->inst != 0)
		return WEFT_CCI_INVALID_INPUT;
	if (clear) {
		if (pid[e->target] != want || want == WEFT_CCI_NO_PID)
			return WEFT_CCI_INVALID_INPUT;
		pid[e->target] = WEFT_CCI_NO_PID;
		return WEFT_CCI_SUCCESS;
	}
	if (want == WEFT_CCI_NO_PID)
		return WEFT_CCI_INVALID_INPUT;
	for (unsigned int p = 0; p < s->n_ports; p++)
		if (p != e->target && pid[p] == want)
			return WEFT_CCI_INVALID_INPUT;
	if (s->world->may_have_pid != NULL &&
		!s->world->may_have_pid(s->world_arg, e->target, want))
		return WEFT_CCI_INVALID_INPUT;
	pid[e->target] = want;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
switch_configure_pids(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_switch *s = arg;
	struct weft_cci_configure_pid_assignment_req in;
	uint16_t pid[WEFT_SWITCH_PORTS];
	uint16_t rc = cci_switch_rc(weft_cci_get_configure_pid_assignment_req(&in, req, len));

	(void)who;
	(void)rsp;
	*rsp_len = 0;
	if (rc == WEFT_CCI_SUCCESS && (in.op & 7) > PID_OP_CLEAR)
		rc = WEFT_CCI_INVALID_INPUT;
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	memcpy(pid, s->pid, sizeof(pid));
	for (unsigned int i = 0; i < in.n && rc == WEFT_CCI_SUCCESS; i++) {
		struct weft_cci_pid_assign e;

		weft_cci_get_pid_assign(in.entry, i, &e);
		rc = switch_assign(s, pid, &e, (in.op & 7) == PID_OP_CLEAR);
	}
	if (rc == WEFT_CCI_SUCCESS)
		memcpy(s->pid, pid, sizeof(pid));
	return rc;
}

/* No VCS is there: whichever is named is out of range. */
static uint16_t
switch_get_binding(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_get_pid_binding_req in;
	const uint16_t rc = cci_switch_rc(weft_cci_get_get_pid_binding_req(&in, req, len));

	(void)arg;
	(void)who;
	(void)rsp;
	(void)rsp_len;
	return rc != WEFT_CCI_SUCCESS ? rc : WEFT_CCI_INVALID_INPUT;
}

static uint16_t
switch_configure_binding(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_configure_pid_binding_req in;
	const uint16_t rc = cci_switch_rc(weft_cci_get_configure_pid_binding_req(&in, req, len));

	(void)arg;
	(void)who;
	(void)rsp;
	(void)rsp_len;
	return rc != WEFT_CCI_SUCCESS ? rc : WEFT_CCI_INVALID_INPUT;
}

#define CONFIG WEFT_CCI_EFFECT_CONFIG
#define FM WEFT_CCI_WHO_FM

const struct weft_cci_command weft_cci_switch_commands[] = {
	{ WEFT_CCI_IDENTIFY_SWITCH, 0, WEFT_CCI_WHO_BOTH, false, switch_identify },
	{ WEFT_CCI_GET_PORT_STATE, 0, WEFT_CCI_WHO_BOTH, false, switch_ports },
	{ WEFT_CCI_PORT_CONTROL, CONFIG, FM, true, switch_control },
	{ WEFT_CCI_READ_CDAT, 0, WEFT_CCI_WHO_BOTH, false, cci_switch_read_cdat },
	{ WEFT_CCI_IDENTIFY_PBR_SWITCH, 0, FM, false, cci_switch_identify_pbr },
	{ WEFT_CCI_GET_LINK_PARTNER_INFO, 0, FM, false, switch_partners },
	{ WEFT_CCI_GET_PID_TARGETS, 0, FM, false, switch_targets },
	{ WEFT_CCI_CONFIGURE_PID_ASSIGNMENT, CONFIG, FM, true, switch_configure_pids },
	{ WEFT_CCI_GET_PID_BINDING, 0, FM, false, switch_get_binding },
	{ WEFT_CCI_CONFIGURE_PID_BINDING, CONFIG | WEFT_CCI_EFFECT_BACKGROUND, FM, true,
		switch_configure_binding },
	{ WEFT_CCI_GET_TABLE_DESCRIPTORS, 0, FM, false, cci_switch_tables },
	{ WEFT_CCI_GET_DRT, 0, FM, false, cci_switch_get_drt },
	{ WEFT_CCI_SET_DRT, CONFIG, FM, true, cci_switch_set_drt },
	{ WEFT_CCI_GET_RGT, 0, FM, false, cci_switch_get_rgt },
	{ WEFT_CCI_SET_RGT, CONFIG, FM, true, cci_switch_set_rgt },
};
const unsigned int weft_cci_switch_n_commands = WEFT_ARRAY_SIZE(weft_cci_switch_commands);
