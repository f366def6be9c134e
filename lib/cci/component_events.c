/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Events of a component (fabric.md section 4.5): logs that keep the oldest records and count what
 * they lost, reading and clearing, and telling the primary manager: once when a log that it wants
 * to hear of gets its first record, for it reads until the log is empty.
 */

#include "component_priv.h"

#include <errno.h>

/* Offsets in a record. */
#define RECORD_LEN 0x10
#define RECORD_HANDLE 0x14
#define RECORD_TIME 0x18

#define EVENTS_HEAD 32 /* of a response to 0100h, before its records */
#define EVENTS_OVERFLOW 1
#define EVENTS_MORE 2
#define CLEAR_HEAD 6
#define CLEAR_ALL 1
#define POLICY_BITS 0x801F /* [4:0] logs, [15] end of a background operation */

static uint8_t *
events_record(struct weft_cci_event_log *l, unsigned int i)
{
	return l->record[(l->first + i) % WEFT_CCI_LOG_RECORDS];
}

static void
events_lost(struct weft_cci_event_log *l, uint64_t when)
{
	if (l->n_lost == 0)
		l->first_lost = when;
	l->last_lost = when;
	if (l->n_lost < UINT16_MAX)
		l->n_lost++;
}

void
component_notify(struct weft_cci_component *c, uint16_t what)
{
	uint8_t msg[WEFT_CCI_HDR + 2];
	const struct weft_cci_hdr h = { .opcode = WEFT_CCI_EVENT_NOTIFICATION, .len = 2 };

	what &= c->policy;
	if (what == 0 || c->cfg.notify == NULL || c->owner.primary_pid == WEFT_CCI_NO_PID)
		return;
	weft_cci_put_hdr(msg, &h);
	weft_put_le16(msg + WEFT_CCI_HDR, what);
	c->cfg.notify(c->cfg.world, c->owner.primary_pid, msg, sizeof(msg));
}

int
weft_cci_component_event(struct weft_cci_component *c, enum weft_cci_log_id log,
	const uint8_t record[WEFT_CCI_RECORD], uint64_t now_ns)
{
	const uint64_t when = component_clock(c, now_ns);
	struct weft_cci_event_log *l;
	uint8_t *to;

	if (log >= WEFT_CCI_LOGS)
		return -EINVAL;
	l = &c->log[log];
	if (l->n == WEFT_CCI_LOG_RECORDS) {
		events_lost(l, when);
		return -ENOSPC;
	}
	to = events_record(l, l->n++);
	if (++l->last_handle == 0) /* no record has that */
		l->last_handle = 1;
	memcpy(to, record, WEFT_CCI_RECORD);
	to[RECORD_LEN] = WEFT_CCI_RECORD;
	weft_put_le16(to + RECORD_HANDLE, l->last_handle);
	weft_put_le64(to + RECORD_TIME, when);
	if (l->n == 1)
		component_notify(c, (uint16_t)(1u << log));
	return 0;
}

static uint16_t
events_get(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_component *c = arg;
	size_t n = (*rsp_len - EVENTS_HEAD) / WEFT_CCI_RECORD;
	struct weft_cci_event_log *l;

	(void)who;
	if (len != 1)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (req[0] >= WEFT_CCI_LOGS)
		return WEFT_CCI_INVALID_INPUT;
	l = &c->log[req[0]];
	if (n > l->n)
		n = l->n;
	memset(rsp, 0, EVENTS_HEAD);
	rsp[0] = (uint8_t)((l->n_lost != 0 ? EVENTS_OVERFLOW : 0) | (l->n > n ? EVENTS_MORE : 0));
	weft_put_le16(rsp + 2, l->n_lost);
	weft_put_le64(rsp + 4, l->first_lost);
	weft_put_le64(rsp + 12, l->last_lost);
	weft_put_le16(rsp + 20, (uint16_t)n);
	for (unsigned int i = 0; i < n; i++)
		memcpy(rsp + EVENTS_HEAD + i * WEFT_CCI_RECORD, events_record(l, i),
			WEFT_CCI_RECORD);
	*rsp_len = EVENTS_HEAD + n * WEFT_CCI_RECORD;
	return WEFT_CCI_SUCCESS;
}

/* The oldest @p n go, and with them what is known of lost ones. */
static void
events_drop(struct weft_cci_event_log *l, unsigned int n)
{
	l->first = (uint16_t)((l->first + n) % WEFT_CCI_LOG_RECORDS);
	l->n = (uint16_t)(l->n - n);
	l->n_lost = 0;
	l->first_lost = 0;
	l->last_lost = 0;
}

/* Records go in the order in which they came: no older one may stay. */
static uint16_t
events_clear(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_component *c = arg;
	struct weft_cci_event_log *l;

	(void)who;
	(void)rsp;
	*rsp_len = 0;
	if (len < CLEAR_HEAD)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (req[0] >= WEFT_CCI_LOGS)
		return WEFT_CCI_INVALID_INPUT;
	l = &c->log[req[0]];
	if ((req[1] & CLEAR_ALL) != 0) {
		events_drop(l, l->n);
		return WEFT_CCI_SUCCESS;
	}
	if (len != CLEAR_HEAD + 2u * req[2])
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (req[2] == 0)
		return WEFT_CCI_INVALID_INPUT;
	if (req[2] > l->n)
		return WEFT_CCI_INVALID_HANDLE;
	for (unsigned int i = 0; i < req[2]; i++)
		if (memcmp(req + CLEAR_HEAD + (size_t)2 * i, events_record(l, i) + RECORD_HANDLE,
			    2) != 0)
			return WEFT_CCI_INVALID_HANDLE;
	events_drop(l, req[2]);
	return WEFT_CCI_SUCCESS;
}

static uint16_t
events_get_policy(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_component *c = arg;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	weft_put_le16(rsp, c->policy);
	*rsp_len = 2;
	return WEFT_CCI_SUCCESS;
}

/* Of what is there already, the manager hears at once. */
static uint16_t
events_set_policy(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_component *c = arg;
	const uint16_t before = c->policy;
	uint16_t waiting = 0;

	(void)who;
	if (len != 2)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	c->policy = weft_get_le16(req) & POLICY_BITS;
	for (unsigned int i = 0; i < WEFT_CCI_LOGS; i++)
		if (c->log[i].n != 0)
			waiting |= (uint16_t)(1u << i);
	component_notify(c, waiting & (uint16_t)~before);
	weft_put_le16(rsp, c->policy);
	*rsp_len = 2;
	return WEFT_CCI_SUCCESS;
}

static const struct weft_cci_command events_commands[] = {
	{ WEFT_CCI_GET_EVENT_RECORDS, 0, WEFT_CCI_WHO_FM, false, events_get },
	{ WEFT_CCI_CLEAR_EVENT_RECORDS, WEFT_CCI_EFFECT_LOG, WEFT_CCI_WHO_FM, true, events_clear },
	{ WEFT_CCI_GET_MCTP_EVENT_POLICY, 0, WEFT_CCI_WHO_FM, false, events_get_policy },
	{ WEFT_CCI_SET_MCTP_EVENT_POLICY, WEFT_CCI_EFFECT_POLICY, WEFT_CCI_WHO_FM, true,
		events_set_policy },
};

const struct component_set component_events = {
	events_commands,
	WEFT_ARRAY_SIZE(events_commands),
};
