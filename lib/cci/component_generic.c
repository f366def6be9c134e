/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Generic commands of a component (fabric.md section 4.6): identity, background operation, limit of
 * responses, clock, and the command effects log, which has only what its reader may call.
 */

#include "component_priv.h"
#include "weft_cci_event.h"

#define CEL_ENTRY 4 /* opcode 2, effects 2 */
#define CEL_MAX (2 * WEFT_CCI_COMMANDS_MAX * CEL_ENTRY) /* each opcode may have an alias */

static uint16_t
generic_identify(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_component *c = arg;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	weft_put_le16(rsp, c->cfg.vid);
	weft_put_le16(rsp + 2, c->cfg.did);
	weft_put_le16(rsp + 4, c->cfg.svid);
	weft_put_le16(rsp + 6, c->cfg.ssid);
	weft_put_le64(rsp + 8, c->cfg.serial);
	rsp[16] = WEFT_CCI_LIMIT_MOST;
	rsp[17] = c->cfg.type;
	*rsp_len = 18;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
generic_background_status(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_component *c = arg;
	struct weft_cci_background b = c->background;

	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (b.iface != who->iface) /* each interface sees its own */
		b = (struct weft_cci_background){ .is_running = false };
	rsp[0] = (uint8_t)((b.is_running ? 1u : 0u) | (unsigned int)b.percent << 1);
	rsp[1] = 0;
	weft_put_le16(rsp + 2, b.opcode);
	weft_put_le16(rsp + 4, b.rc);
	weft_put_le16(rsp + 6, b.ext);
	*rsp_len = 8;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
generic_get_limit(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_component *c = arg;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	rsp[0] = c->limit_log2;
	*rsp_len = 1;
	return WEFT_CCI_SUCCESS;
}

/* More than we can is answered by what we can. */
static uint16_t
generic_set_limit(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_component *c = arg;

	(void)who;
	if (len != 1)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (req[0] < 8)
		return WEFT_CCI_INVALID_INPUT;
	c->limit_log2 = req[0] < WEFT_CCI_LIMIT_MOST ? req[0] : WEFT_CCI_LIMIT_MOST;
	rsp[0] = c->limit_log2;
	*rsp_len = 1;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
generic_abort(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_component *c = arg;
	const struct weft_cci_command *row = NULL;

	(void)who;
	(void)req;
	(void)rsp;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	*rsp_len = 0;
	if (!c->background.is_running)
		return WEFT_CCI_SUCCESS;
	for (unsigned int i = 0; i < c->n_rows; i++)
		if (c->row[i].command->opcode == weft_cci_unalias(c->background.opcode))
			row = c->row[i].command;
	if (row == NULL || (row->effects & WEFT_CCI_EFFECT_ABORT) == 0)
		return WEFT_CCI_ABORT_UNSUPPORTED;
	c->background.abort_wanted = true;
	return WEFT_CCI_SUCCESS;
}

uint64_t
component_clock(const struct weft_cci_component *c, uint64_t now_ns)
{
	return c->clock_is_set ? c->clock + (now_ns - c->clock_set_at) : 0;
}

static uint16_t
generic_get_clock(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_component *c = arg;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	weft_put_le64(rsp, component_clock(c, c->now_ns));
	*rsp_len = 8;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
generic_set_clock(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_component *c = arg;

	(void)who;
	(void)rsp;
	if (len != 8)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	c->clock = weft_get_le64(req);
	c->clock_set_at = c->now_ns;
	c->clock_is_set = true;
	*rsp_len = 0;
	return WEFT_CCI_SUCCESS;
}

static size_t
generic_put_cel_entry(uint8_t *to, uint16_t opcode, uint16_t effects)
{
	weft_put_le16(to, opcode);
	weft_put_le16(to + 2, effects);
	return CEL_ENTRY;
}

/* Aliases stand behind what they stand for, which is in order. */
static size_t
generic_make_cel(
	const struct weft_cci_component *c, const struct weft_cci_caller *who, uint8_t cel[CEL_MAX])
{
	size_t n = 0;

	for (unsigned int i = 0; i < c->n_rows; i++) {
		const struct weft_cci_command *row = c->row[i].command;

		if (component_permits(c, who, row))
			n += generic_put_cel_entry(cel + n, row->opcode, row->effects);
	}
	for (unsigned int i = 0; i < c->n_rows && c->cfg.aliases; i++) {
		const struct weft_cci_command *row = c->row[i].command;
		const uint16_t alias = component_alias_of(row->opcode);

		if (alias != row->opcode && component_permits(c, who, row))
			n += generic_put_cel_entry(cel + n, alias, row->effects);
	}
	return n;
}

static uint16_t
generic_get_logs(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	uint8_t cel[CEL_MAX];

	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	memset(rsp, 0, 8);
	weft_put_le16(rsp, 1);
	memcpy(rsp + 8, weft_cci_cel_uuid, WEFT_CCI_UUID);
	weft_put_le32(rsp + 24, (uint32_t)generic_make_cel(arg, who, cel));
	*rsp_len = 28;
	return WEFT_CCI_SUCCESS;
}

static uint16_t
generic_get_log(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	uint8_t cel[CEL_MAX];
	size_t size;
	uint32_t from, n;

	if (len != 24)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (memcmp(req, weft_cci_cel_uuid, WEFT_CCI_UUID) != 0)
		return WEFT_CCI_INVALID_LOG;
	from = weft_get_le32(req + 16);
	n = weft_get_le32(req + 20);
	size = generic_make_cel(arg, who, cel);
	if (from > size || n > size - from || n > *rsp_len)
		return WEFT_CCI_INVALID_INPUT;
	memcpy(rsp, cel + from, n);
	*rsp_len = n;
	return WEFT_CCI_SUCCESS;
}

static const struct weft_cci_command generic_commands[] = {
	{ WEFT_CCI_IDENTIFY, 0, WEFT_CCI_WHO_BOTH, false, generic_identify },
	{ WEFT_CCI_BACKGROUND_STATUS, 0, WEFT_CCI_WHO_BOTH, false, generic_background_status },
	{ WEFT_CCI_GET_RESPONSE_LIMIT, 0, WEFT_CCI_WHO_FM, false, generic_get_limit },
	{ WEFT_CCI_SET_RESPONSE_LIMIT, WEFT_CCI_EFFECT_CONFIG, WEFT_CCI_WHO_FM, true,
		generic_set_limit },
	{ WEFT_CCI_ABORT_BACKGROUND, WEFT_CCI_EFFECT_CONFIG, WEFT_CCI_WHO_FM, true, generic_abort },
	{ WEFT_CCI_GET_TIMESTAMP, 0, WEFT_CCI_WHO_FM, false, generic_get_clock },
	{ WEFT_CCI_SET_TIMESTAMP, WEFT_CCI_EFFECT_POLICY, WEFT_CCI_WHO_FM, true,
		generic_set_clock },
	{ WEFT_CCI_GET_SUPPORTED_LOGS, 0, WEFT_CCI_WHO_BOTH, false, generic_get_logs },
	{ WEFT_CCI_GET_LOG, 0, WEFT_CCI_WHO_BOTH, false, generic_get_log },
};

const struct component_set component_generic = {
	generic_commands,
	WEFT_ARRAY_SIZE(generic_commands),
};
