/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Whose a component is, and how it becomes ours (fabric.md section 4.4): claimed if it is nobody's,
 * taken over if it is the peer's, of which we are the secondary; then the peer is registered as
 * secondary in turn. A step of reading a component, made of as many commands as that takes.
 */

#include <errno.h>

#include "fm_priv.h"

#define OWNER_UUID 16
#define OWNER_COMMANDS 4 /* most that one component takes */

static bool
owner_is(uint16_t pid, const uint8_t *uuid, const uint8_t *of)
{
	return pid != WEFT_FM_NO_PID && memcmp(uuid, of, OWNER_UUID) == 0;
}

static bool
owner_is_us(const struct weft_fm *fm, const struct fm_component *c)
{
	return owner_is(c->owner.prim_fm_pid, c->owner.prim_uuid, fm->cfg.uuid);
}

/* A component of the peer's, of which nobody else is the secondary. */
static bool
owner_is_peer(const struct weft_fm *fm, const struct fm_component *c)
{
	return fm->cfg.has_peer &&
	       owner_is(c->owner.prim_fm_pid, c->owner.prim_uuid, fm->cfg.peer_uuid) &&
	       (c->owner.sec_fm_pid == WEFT_FM_NO_PID ||
		       owner_is(c->owner.sec_fm_pid, c->owner.sec_uuid, fm->cfg.uuid));
}

/* A component that has lost its owner has lost its tables as well: it began again. */
int
fm_got_owner(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	uint16_t want_pid;

	if (weft_cci_get_identify_pbr_component_rsp(&c->owner, b, len) != 0)
		return -EBADMSG;
	fm->look.has_news |= c->pid != c->owner.pid;
	c->pid = c->owner.pid;
	if (c->owner.prim_fm_pid != WEFT_FM_NO_PID && !owner_is_us(fm, c) &&
		!owner_is_peer(fm, c)) {
		fm_set_state(fm, c, WEFT_FM_FOREIGN);
		return FM_GOT_OTHER;
	}
	if (c->is_poll && !owner_is_us(fm, c)) {
		fm_restart(fm, c, fm->now_ns);
		return FM_GOT_OTHER;
	}
	want_pid = fm_choose_pid(fm, c);
	fm->look.has_news |= c->want_pid != want_pid;
	c->want_pid = want_pid;
	if (c->want_pid != WEFT_FM_NO_PID)
		return FM_GOT_ALL;
	fm_set_state(fm, c, WEFT_FM_NO_PIDS);
	return FM_GOT_OTHER;
}

/*
 * Operation that comes next, or -1. A component knows a manager by the way that it came, so one
 * that is ours has to be told again who we are; and by the PID that its messages come from, which
 * may be another than this seat had when it was registered. One that the peer did not live to
 * register us with takes that in the peer's name.
 */
static int
owner_next(const struct weft_fm *fm, const struct fm_component *c)
{
	const bool is_told = c->cursor != 0;

	if (c->owner.prim_fm_pid == WEFT_FM_NO_PID)
		return FM_CLAIM_PRIMARY;
	if (owner_is_us(fm, c))
		return !is_told || c->owner.prim_fm_pid != fm->cfg.pid ? FM_CLAIM_CHANGE_PID
		       : fm->cfg.has_peer && c->owner.sec_fm_pid == WEFT_FM_NO_PID
		               ? FM_CLAIM_SECONDARY
		               : -1;
	return c->owner.sec_fm_pid != WEFT_FM_NO_PID ? FM_CLAIM_PROMOTE
	       : is_told                             ? FM_CLAIM_SECONDARY
	                                             : FM_CLAIM_CHANGE_PID;
}

static const char *const owner_words[] = {
	[FM_CLAIM_PRIMARY] = "claim",
	[FM_CLAIM_SECONDARY] = "register the other manager as secondary",
	[FM_CLAIM_PROMOTE] = "take over from the other manager",
};

/*
 * A component that has an owner keeps its PID until its routes are known. The manager that a
 * request is about: the peer where it is registered, and where we speak in its name; there with our
 * PID, by which it takes the next command.
 */
int
fm_put_claim(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const int op = owner_next(fm, c);
	const bool is_of_peer =
		owner_is_us(fm, c) ? op == FM_CLAIM_SECONDARY : op == FM_CLAIM_CHANGE_PID;
	struct weft_cci_claim_ownership_req req = { .op = (uint8_t)op,
		.fm_pid = is_of_peer && op == FM_CLAIM_SECONDARY ? fm->cfg.peer_pid : fm->cfg.pid,
		.new_pid = op == FM_CLAIM_PRIMARY ? c->want_pid : c->pid };

	if (op < 0)
		return -1;
	if (op == FM_CLAIM_PRIMARY)
		fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_CLAIM_OWNERSHIP, "claim, PID 0x%03x",
			c->want_pid);
	else if (op != FM_CLAIM_CHANGE_PID)
		fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_CLAIM_OWNERSHIP, "%s",
			owner_words[op]);
	memcpy(req.fm_uuid, is_of_peer ? fm->cfg.peer_uuid : fm->cfg.uuid, sizeof(req.fm_uuid));
	return weft_cci_put_claim_ownership_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_claim(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_claim_ownership_rsp rsp;

	if (weft_cci_get_claim_ownership_rsp(&rsp, b, len) != 0)
		return -EBADMSG;
	if (c->owner.prim_fm_pid == WEFT_FM_NO_PID)
		c->pid = c->want_pid;
	c->owner.prim_fm_pid = rsp.prim_fm_pid;
	c->owner.sec_fm_pid = rsp.sec_fm_pid;
	memcpy(c->owner.prim_uuid, rsp.prim_uuid, sizeof(c->owner.prim_uuid));
	memcpy(c->owner.sec_uuid, rsp.sec_uuid, sizeof(c->owner.sec_uuid));
	/* Somebody else was faster: 0700h says who. */
	if (!owner_is_us(fm, c) && !owner_is_peer(fm, c)) {
		fm_restart(fm, c, fm->now_ns);
		return FM_GOT_OTHER;
	}
	if (++c->cursor > OWNER_COMMANDS)
		return -EBADMSG; /* it says yes and does nothing */
	return FM_GOT_PART;
}
