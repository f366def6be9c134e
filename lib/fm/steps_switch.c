/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Reading a switch: its ports and what is behind them, PID targets and DRTs. */

#include <errno.h>
#include <stdlib.h>

#include "fm_priv.h"

#define SWITCH_PORTS_ASKED FM_FITS(4, 54, 18) /* partner blocks */
#define SWITCH_TARGETS_ASKED FM_FITS(4, 8, 127)
#define SWITCH_ROWS_ASKED FM_FITS(8, 2, 508)
#define SWITCH_GROUPS_ASKED 64 /* of an RGT, which has a power of 2: fewer are not used */
#define SWITCH_TARGETS 4096
#define SWITCH_DRTS 256

int
fm_got_switch(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_identify_switch_rsp rsp;

	(void)fm;
	if (weft_cci_get_identify_switch_rsp(&rsp, b, len) != 0)
		return -EBADMSG;
	/* Read again, it keeps what is known: routes are computed with it meanwhile. */
	if (c->sw == NULL)
		c->sw = calloc(1, sizeof(*c->sw));
	if (c->sw == NULL)
		return -EBADMSG;
	c->sw->n_ports = rsp.nports;
	for (unsigned int p = 0; p < WEFT_FM_PORTS; p++) {
		c->sw->port[p].is_there = (rsp.ports[p / 8] >> p % 8 & 1) != 0;
		c->sw->port[p].link = FM_NO_LINK;
	}
	return FM_GOT_ALL;
}

int
fm_got_pbr_switch(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_identify_pbr_switch_rsp rsp;

	if (weft_cci_get_identify_pbr_switch_rsp(&rsp, b, len) != 0 || rsp.ndrt == 0)
		return -EBADMSG;
	c->sw->has_groups = rsp.nrgt != 0 && (rsp.modes >> WEFT_RGT_RANDOM & 1) != 0;
	if (rsp.ndrt == c->sw->n_drts)
		return FM_GOT_ALL;
	free(c->sw->drt);
	free(c->sw->rgt);
	c->sw->drt = calloc(rsp.ndrt, sizeof(*c->sw->drt));
	c->sw->rgt = calloc(rsp.ndrt, sizeof(*c->sw->rgt));
	c->sw->n_drts = c->sw->drt == NULL || c->sw->rgt == NULL ? 0 : rsp.ndrt;
	c->sw->n_groups = 0;
	fm->is_graph_old = true;
	return c->sw->n_drts == 0 ? -EBADMSG : FM_GOT_ALL;
}

/* Next ports that @takes from the cursor on, at most @max; the cursor goes behind them. */
static unsigned int
switch_next_ports(struct fm_component *c, bool (*takes)(const struct fm_port *), uint8_t *port,
	unsigned int max)
{
	unsigned int n = 0;

	for (; c->cursor < WEFT_FM_PORTS && n < max; c->cursor++)
		if (takes(&c->sw->port[c->cursor]))
			port[n++] = (uint8_t)c->cursor;
	return n;
}

static bool
switch_has_port(const struct fm_port *p)
{
	return p->is_there;
}

static bool
switch_has_partner(const struct fm_port *p)
{
	return p->is_there && p->is_up && p->is_pbr;
}

int
fm_put_ports(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	uint8_t port[SWITCH_PORTS_ASKED];
	const struct weft_cci_get_port_state_req req = {
		.n = (uint8_t)switch_next_ports(c, switch_has_port, port, SWITCH_PORTS_ASKED),
		.ports = port,
	};

	(void)fm;
	return req.n == 0 ? -1 : weft_cci_put_get_port_state_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_ports(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_get_port_state_rsp rsp;

	if (weft_cci_get_get_port_state_rsp(&rsp, b, len) != 0)
		return -EBADMSG;
	for (unsigned int i = 0; i < rsp.n; i++) {
		struct weft_cci_port_block block;
		struct fm_port was, *p;

		weft_cci_get_port_block(rsp.block, i, &block);
		p = &c->sw->port[block.port];
		was = *p;
		if (!p->is_there)
			return -EBADMSG;
		p->is_up = block.ltssm == FM_LTSSM_L0;
		p->is_host = (block.state & 0xf) == FM_PORT_USP;
		p->is_pbr = block.mode == FM_MODE_PBR && !p->is_host;
		if (p->is_up == was.is_up && p->is_host == was.is_host)
			continue;
		fm->is_graph_old = true;
		if (!p->is_up)
			p->has_partner = false;
		if (c->was_ready)
			fm_event(fm, WEFT_FM_EVENT_LINK, c, 0, "port %u is %s", block.port,
				p->is_up ? "up" : "down");
	}
	return FM_GOT_PART;
}

int
fm_put_partners(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	uint8_t port[SWITCH_PORTS_ASKED];
	const struct weft_cci_get_link_partner_info_req req = {
		.n = (uint8_t)switch_next_ports(c, switch_has_partner, port, SWITCH_PORTS_ASKED),
		.ports = port,
	};

	(void)fm;
	return req.n == 0 ? -1
	                  : weft_cci_put_get_link_partner_info_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_partners(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	static const uint8_t nobody[16];
	struct weft_cci_get_link_partner_info_rsp rsp;

	if (weft_cci_get_get_link_partner_info_rsp(&rsp, b, len) != 0)
		return -EBADMSG;
	for (unsigned int i = 0; i < rsp.n; i++) {
		struct weft_cci_lpi_block block;
		struct fm_port *p;
		bool has_partner;

		weft_cci_get_lpi_block(rsp.block, i, &block);
		p = &c->sw->port[block.port];
		if (!p->is_there)
			return -EBADMSG;
		has_partner = memcmp(block.id, nobody, sizeof(nobody)) != 0;
		if (p->has_partner == has_partner && p->far_port == block.far_port &&
			memcmp(p->far_id, block.id, sizeof(p->far_id)) == 0)
			continue;
		p->has_partner = has_partner;
		p->far_port = block.far_port;
		memcpy(p->far_id, block.id, sizeof(p->far_id));
		fm->is_graph_old = true;
	}
	return FM_GOT_PART;
}

int
fm_put_targets(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const struct weft_cci_get_pid_targets_req req = { .start = (uint16_t)c->cursor,
		.n = SWITCH_TARGETS_ASKED };

	(void)fm;
	return weft_cci_put_get_pid_targets_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_targets(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_get_pid_targets_rsp rsp;
	struct fm_switch *sw = c->sw;

	(void)fm;
	if (weft_cci_get_get_pid_targets_rsp(&rsp, b, len) != 0 || rsp.total > SWITCH_TARGETS ||
		c->cursor + rsp.n > rsp.total || (rsp.n == 0 && c->cursor < rsp.total))
		return -EBADMSG;
	if (c->cursor == 0) {
		free(sw->target);
		sw->n_targets = 0;
		sw->target = calloc(rsp.total + 1u, sizeof(*sw->target));
		if (sw->target == NULL)
			return -EBADMSG;
		sw->n_targets = rsp.total;
	}
	if (rsp.total != sw->n_targets)
		return -EBADMSG;
	for (unsigned int i = 0; i < rsp.n; i++) {
		struct weft_cci_pid_target e;

		weft_cci_get_pid_target(rsp.entry, i, &e);
		sw->target[c->cursor++] = (struct fm_target){ .id = e.id,
			.pid = e.pid & WEFT_FM_NO_PID,
			.type = e.type,
			.inst = e.inst,
			.port = e.port };
	}
	return c->cursor >= rsp.total ? FM_GOT_ALL : FM_GOT_PART;
}

/* The cursor counts rows of all tables, one after the other. */
int
fm_put_drt(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const unsigned int left = WEFT_PIDS - c->cursor % WEFT_PIDS;
	const struct weft_cci_get_drt_req req = { .drt = (uint8_t)(c->cursor / WEFT_PIDS),
		.start = (uint16_t)(c->cursor % WEFT_PIDS),
		.n = (uint16_t)(left < SWITCH_ROWS_ASKED ? left : SWITCH_ROWS_ASKED) };

	(void)fm;
	return c->cursor >= c->sw->n_drts * WEFT_PIDS
	               ? -1
	               : weft_cci_put_get_drt_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_drt(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	const unsigned int left = WEFT_PIDS - c->cursor % WEFT_PIDS;
	struct weft_cci_get_drt_rsp rsp;

	(void)fm;
	if (weft_cci_get_get_drt_rsp(&rsp, b, len) != 0 || rsp.drt != c->cursor / WEFT_PIDS ||
		rsp.start != c->cursor % WEFT_PIDS || rsp.n == 0 || rsp.n > left)
		return -EBADMSG;
	memcpy(c->sw->drt[rsp.drt].entry[rsp.start], rsp.entry, 2u * rsp.n);
	c->sw->rgt_of[rsp.drt] = rsp.rgt;
	c->cursor += rsp.n;
	return FM_GOT_PART;
}

/* The cursor counts rows of the groups of all tables. */
int
fm_put_groups(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const unsigned int table = c->cursor / WEFT_FM_PORTS;
	const struct weft_cci_get_rgt_req req = {
		.rgt = table < c->sw->n_drts ? c->sw->rgt_of[table] : (uint8_t)0,
		.start = (uint16_t)(c->cursor % WEFT_FM_PORTS),
		.n = SWITCH_GROUPS_ASKED
	};

	(void)fm;
	if (!c->sw->has_groups || table >= c->sw->n_drts)
		return -1;
	return weft_cci_put_get_rgt_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_groups(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	const unsigned int table = c->cursor / WEFT_FM_PORTS, start = c->cursor % WEFT_FM_PORTS;
	struct weft_cci_get_rgt_rsp rsp;

	if (weft_cci_get_get_rgt_rsp(&rsp, b, len) != 0 || rsp.rgt != c->sw->rgt_of[table] ||
		rsp.start != start || rsp.n != SWITCH_GROUPS_ASKED)
		return -EBADMSG;
	memcpy(&c->sw->rgt[table][start], rsp.entry, rsp.n * sizeof(c->sw->rgt[table][0]));
	c->cursor += rsp.n;
	if (table == 0 && c->cursor > c->sw->n_groups) {
		c->sw->n_groups = (uint16_t)c->cursor;
		fm->is_graph_old = true;
	}
	return FM_GOT_PART;
}
