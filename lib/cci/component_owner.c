/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Ownership of a component (fabric.md section 4.4): one primary manager, one secondary that may
 * take its place, and the PID that the primary gives the component.
 */

#include "component_priv.h"

/* Where operation and UUID of the manager are in a message. */
#define OWNER_CLAIM_LEN (WEFT_CCI_HDR + 21)
#define OWNER_CLAIM_OP WEFT_CCI_HDR
#define OWNER_CLAIM_UUID (WEFT_CCI_HDR + 3)

enum owner_op { OWNER_REGISTER_PRIMARY, OWNER_REGISTER_SECONDARY, OWNER_UPDATE, OWNER_PROMOTE };

/* Identify PBR Component. */
static uint16_t
owner_identify(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_component *c = arg;
	const struct weft_cci_owner *o = &c->owner;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	weft_put_le16(rsp, o->pid);
	weft_put_le16(rsp + 2, o->primary_pid);
	memcpy(rsp + 4, o->primary_uuid, WEFT_CCI_UUID);
	weft_put_le16(rsp + 20, o->secondary_pid);
	memcpy(rsp + 22, o->secondary_uuid, WEFT_CCI_UUID);
	*rsp_len = 38;
	return WEFT_CCI_SUCCESS;
}

/* The component gets @p pid, if it can have that. */
static uint16_t
owner_take_pid(struct weft_cci_component *c, uint16_t pid)
{
	const uint16_t rc = pid == WEFT_CCI_NO_PID    ? WEFT_CCI_INVALID_INPUT
	                    : pid == c->owner.pid     ? WEFT_CCI_SUCCESS
	                    : c->cfg.take_pid == NULL ? WEFT_CCI_SUCCESS
	                                              : c->cfg.take_pid(c->cfg.world, pid);

	if (rc == WEFT_CCI_SUCCESS)
		c->owner.pid = pid;
	return rc;
}

static uint16_t
owner_register_primary(
	struct weft_cci_component *c, uint16_t fm_pid, const uint8_t *uuid, uint16_t new_pid)
{
	uint16_t rc;

	if (c->owner.primary_pid != WEFT_CCI_NO_PID || fm_pid == WEFT_CCI_NO_PID)
		return WEFT_CCI_INVALID_INPUT;
	rc = owner_take_pid(c, new_pid);
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	c->owner.primary_pid = fm_pid;
	memcpy(c->owner.primary_uuid, uuid, WEFT_CCI_UUID);
	return WEFT_CCI_SUCCESS;
}

static uint16_t
owner_register_secondary(struct weft_cci_component *c, const struct weft_cci_caller *who,
	uint16_t fm_pid, const uint8_t *uuid)
{
	if (!component_is_primary(c, who) || c->owner.secondary_pid != WEFT_CCI_NO_PID ||
		fm_pid == WEFT_CCI_NO_PID)
		return WEFT_CCI_INVALID_INPUT;
	c->owner.secondary_pid = fm_pid;
	memcpy(c->owner.secondary_uuid, uuid, WEFT_CCI_UUID);
	return WEFT_CCI_SUCCESS;
}

static uint16_t
owner_update(struct weft_cci_component *c, const struct weft_cci_caller *who, uint16_t fm_pid,
	uint16_t new_pid)
{
	uint16_t rc;

	if (!component_is_primary(c, who) || fm_pid == WEFT_CCI_NO_PID)
		return WEFT_CCI_INVALID_INPUT;
	rc = owner_take_pid(c, new_pid);
	if (rc == WEFT_CCI_SUCCESS)
		c->owner.primary_pid = fm_pid;
	return rc;
}

static uint16_t
owner_promote(struct weft_cci_component *c, const struct weft_cci_caller *who)
{
	struct weft_cci_owner *o = &c->owner;

	if (who->pid == WEFT_CCI_NO_PID || who->pid != o->secondary_pid)
		return WEFT_CCI_INVALID_INPUT;
	o->primary_pid = o->secondary_pid;
	memcpy(o->primary_uuid, o->secondary_uuid, WEFT_CCI_UUID);
	o->secondary_pid = WEFT_CCI_NO_PID;
	memset(o->secondary_uuid, 0, WEFT_CCI_UUID);
	return WEFT_CCI_SUCCESS;
}

static size_t
owner_put(const struct weft_cci_owner *o, uint8_t *rsp)
{
	weft_put_le16(rsp, o->primary_pid);
	memcpy(rsp + 2, o->primary_uuid, WEFT_CCI_UUID);
	weft_put_le16(rsp + 18, o->secondary_pid);
	memcpy(rsp + 20, o->secondary_uuid, WEFT_CCI_UUID);
	return 36;
}

static uint16_t
owner_claim(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_component *c = arg;
	uint16_t fm_pid, new_pid, rc;

	if (len != 21)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	fm_pid = weft_get_le16(req + 1) & 0xFFF;
	new_pid = weft_get_le16(req + 19) & 0xFFF;
	switch (req[0]) {
	case OWNER_REGISTER_PRIMARY:
		rc = owner_register_primary(c, fm_pid, req + 3, new_pid);
		break;
	case OWNER_REGISTER_SECONDARY:
		rc = owner_register_secondary(c, who, fm_pid, req + 3);
		break;
	case OWNER_UPDATE: rc = owner_update(c, who, fm_pid, new_pid); break;
	case OWNER_PROMOTE: rc = owner_promote(c, who); break;
	default: rc = WEFT_CCI_INVALID_INPUT; break;
	}
	if (rc == WEFT_CCI_SUCCESS)
		*rsp_len = owner_put(&c->owner, rsp);
	return rc;
}

static const struct weft_cci_command owner_commands[] = {
	{ WEFT_CCI_IDENTIFY_PBR_COMPONENT, 0, WEFT_CCI_WHO_FM, false, owner_identify },
	{ WEFT_CCI_CLAIM_OWNERSHIP, WEFT_CCI_EFFECT_CONFIG, WEFT_CCI_WHO_FM, true, owner_claim },
};

const struct component_set component_ownership = {
	owner_commands,
	WEFT_ARRAY_SIZE(owner_commands),
};

uint16_t
weft_cci_component_manager(
	const struct weft_cci_component *c, uint16_t fm_pid, const uint8_t *msg, size_t len)
{
	const struct weft_cci_owner *o = &c->owner;

	if (len != OWNER_CLAIM_LEN ||
		weft_cci_unalias(weft_get_le16(msg + 3)) != WEFT_CCI_CLAIM_OWNERSHIP)
		return fm_pid;
	if (msg[OWNER_CLAIM_OP] == OWNER_UPDATE &&
		memcmp(msg + OWNER_CLAIM_UUID, o->primary_uuid, WEFT_CCI_UUID) == 0)
		return o->primary_pid;
	if (msg[OWNER_CLAIM_OP] == OWNER_PROMOTE &&
		memcmp(msg + OWNER_CLAIM_UUID, o->secondary_uuid, WEFT_CCI_UUID) == 0)
		return o->secondary_pid;
	return fm_pid;
}

uint16_t
weft_cci_component_learn(
	const struct weft_cci_component *c, uint16_t fm_pid, const uint8_t *msg, const uint8_t *rsp)
{
	if (weft_cci_unalias(weft_get_le16(rsp + 3)) == WEFT_CCI_CLAIM_OWNERSHIP &&
		weft_get_le16(rsp + 8) == WEFT_CCI_SUCCESS &&
		msg[OWNER_CLAIM_OP] != OWNER_REGISTER_SECONDARY)
		return c->owner.primary_pid;
	return fm_pid;
}
