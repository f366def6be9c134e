/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A component: which row answers a request, and may it (fabric.md sections 4.1, 4.3, 4.4). */

#include "component_priv.h"

#include <errno.h>

/* What a manager that is not primary may call, and nothing else (4.4). */
static const uint16_t component_for_everybody[] = {
	WEFT_CCI_IDENTIFY,
	WEFT_CCI_GET_SUPPORTED_LOGS,
	WEFT_CCI_GET_LOG,
	WEFT_CCI_IDENTIFY_PBR_COMPONENT,
	WEFT_CCI_CLAIM_OWNERSHIP,
};

static int
component_add_row(struct weft_cci_component *c, const struct weft_cci_command *command, bool is_own)
{
	unsigned int at = c->n_rows;

	if (command->run == NULL || (command->who & ~WEFT_CCI_WHO_BOTH) != 0)
		return -EINVAL;
	if (at == WEFT_CCI_COMMANDS_MAX)
		return -E2BIG;
	while (at != 0 && c->row[at - 1].command->opcode > command->opcode)
		at--;
	if (at != 0 && c->row[at - 1].command->opcode == command->opcode)
		return -EINVAL;
	memmove(&c->row[at + 1], &c->row[at], (c->n_rows - at) * sizeof(c->row[0]));
	c->row[at] = (struct weft_cci_row){ command, is_own };
	c->n_rows++;
	return 0;
}

static int
component_add_set(struct weft_cci_component *c, const struct weft_cci_command *command,
	unsigned int n, bool is_own)
{
	int rc = 0;

	for (unsigned int i = 0; i < n && rc == 0; i++)
		rc = component_add_row(c, &command[i], is_own);
	return rc;
}

int
weft_cci_component_init(struct weft_cci_component *c, const struct weft_cci_component_cfg *cfg)
{
	static const struct component_set *const own[] = { &component_generic, &component_events,
		&component_ownership };
	int rc = 0;

	if ((cfg->type != WEFT_CCI_TYPE_SWITCH && cfg->type != WEFT_CCI_TYPE_GFD &&
		    cfg->type != WEFT_CCI_TYPE_HOST) ||
		cfg->pid > WEFT_CCI_NO_PID)
		return -EINVAL;
	memset(c, 0, sizeof(*c));
	c->cfg = *cfg;
	c->limit_log2 = WEFT_CCI_LIMIT_MOST;
	c->owner.pid = cfg->pid;
	c->owner.primary_pid = WEFT_CCI_NO_PID;
	c->owner.secondary_pid = WEFT_CCI_NO_PID;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(own) && rc == 0; i++)
		rc = component_add_set(c, own[i]->command, own[i]->n, true);
	return rc != 0 ? rc : component_add_set(c, cfg->command, cfg->n_commands, false);
}

bool
component_is_primary(const struct weft_cci_component *c, const struct weft_cci_caller *who)
{
	return who->iface == WEFT_CCI_FM && who->pid < WEFT_CCI_NO_PID &&
	       who->pid == c->owner.primary_pid;
}

static bool
component_is_for_everybody(uint16_t opcode)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(component_for_everybody); i++)
		if (component_for_everybody[i] == opcode)
			return true;
	return false;
}

bool
component_permits(const struct weft_cci_component *c, const struct weft_cci_caller *who,
	const struct weft_cci_command *row)
{
	if (who->iface >= WEFT_CCI_IFACES || (row->who >> who->iface & 1) == 0 ||
		(c->cfg.read_only && row->is_write) ||
		weft_cci_access(c->cfg.type, who->iface, row->opcode) == WEFT_CCI_PROHIBITED)
		return false;
	return who->iface != WEFT_CCI_FM || c->cfg.read_only || component_is_primary(c, who) ||
	       component_is_for_everybody(row->opcode);
}

static const struct weft_cci_row *
component_find(const struct weft_cci_component *c, uint16_t opcode)
{
	const uint16_t meant = c->cfg.aliases ? weft_cci_unalias(opcode) : opcode;

	for (unsigned int i = 0; i < c->n_rows; i++)
		if (c->row[i].command->opcode == meant)
			return &c->row[i];
	return NULL;
}

/* A second operation in the background has to wait, whatever it would say. */
static bool
component_is_busy(const struct weft_cci_component *c, const struct weft_cci_command *row)
{
	return c->background.is_running && (row->effects & WEFT_CCI_EFFECT_BACKGROUND) != 0;
}

static void
component_began(struct weft_cci_component *c, const struct weft_cci_caller *who, uint16_t opcode)
{
	c->background = (struct weft_cci_background){
		.is_running = true,
		.iface = who->iface,
		.opcode = opcode,
	};
}

/* @return a return code; with Success, @p rsp_len bytes of payload */
static uint16_t
component_serve(struct weft_cci_component *c, const struct weft_cci_caller *who,
	const struct weft_cci_hdr *h, const uint8_t *req, size_t len, uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_row *row = component_find(c, h->opcode);
	const size_t limit = (size_t)1 << c->limit_log2;
	size_t n = limit;
	uint16_t rc;

	*rsp_len = 0;
	if (row == NULL || !component_permits(c, who, row->command))
		return WEFT_CCI_UNSUPPORTED;
	if (h->len != len || len > WEFT_CCI_MAX_PAYLOAD)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (component_is_busy(c, row->command))
		return WEFT_CCI_BUSY;
	rc = row->command->run(row->is_own ? c : c->cfg.arg, who, req, len, rsp, &n);
	if (rc == WEFT_CCI_BACKGROUND_STARTED)
		component_began(c, who, h->opcode);
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	if (n > limit) {
		assert(!row->command->is_write); /* these look at the limit before they begin */
		return WEFT_CCI_INVALID_INPUT;
	}
	*rsp_len = n;
	return rc;
}

size_t
weft_cci_component_run(struct weft_cci_component *c, const struct weft_cci_caller *who,
	const uint8_t *msg, size_t len, uint8_t *rsp, size_t room, uint64_t now_ns)
{
	struct weft_cci_hdr h;
	const int rc = weft_cci_get_hdr(&h, msg, len);
	size_t n;

	if (room < WEFT_CCI_MESSAGE_MAX || (rc != 0 && rc != -EBADMSG) || h.is_response)
		return 0;
	c->now_ns = now_ns;
	h.rc = component_serve(
		c, who, &h, msg + WEFT_CCI_HDR, len - WEFT_CCI_HDR, rsp + WEFT_CCI_HDR, &n);
	h.is_response = true;
	h.is_background = c->background.is_running && c->background.iface == who->iface;
	h.len = (uint32_t)n;
	h.ext = 0;
	weft_cci_put_hdr(rsp, &h);
	return WEFT_CCI_HDR + n;
}

void
weft_cci_component_progress(struct weft_cci_component *c, uint8_t percent)
{
	if (c->background.is_running)
		c->background.percent = percent < 99 ? percent : 99;
}

bool
weft_cci_component_abort_wanted(const struct weft_cci_component *c)
{
	return c->background.is_running && c->background.abort_wanted;
}

void
weft_cci_component_done(struct weft_cci_component *c, uint16_t rc)
{
	if (!c->background.is_running)
		return;
	c->background.is_running = false;
	c->background.percent = 100;
	c->background.rc = rc;
	component_notify(c, UINT16_C(1) << 15);
}

const struct weft_cci_owner *
weft_cci_component_owner(const struct weft_cci_component *c)
{
	return &c->owner;
}
