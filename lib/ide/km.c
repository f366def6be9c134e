/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* IDE_KM: one row an object says what its body holds; the responder follows a port's directions. */

#include "weft_ide_km.h"

#include <errno.h>

#define HDR_LEN 8 /* to the object's id */
#define STANDARDS_ID 3
#define VENDOR_ID 0x1E98
#define STREAM_OFF 3 /* these three in the object, where it has a sub-stream */
#define SUB_OFF 5
#define PORT_OFF 6
#define SUB_CXL 0x80
#define SUB_TX 0x02
#define SUB_BIT3 0x08
#define SUB_RESERVED 0x05
#define QUERY_PORT_OFF 2
#define KEY_OFF 7
#define IV_OFF (KEY_OFF + WEFT_IDE_KEY_LEN)
#define IV_FIRST UINT32_C(0x80000000) /* bits 95:64 of every IV */

enum { HAS_SUB = 1, HAS_KEY = 2, HAS_STATUS = 4, HAS_SELF = 8 };

static const struct {
	uint8_t len; /* with the id */
	uint8_t has;
} objects[WEFT_IDE_KM_OBJECTS] = {
	[WEFT_IDE_KM_QUERY] = { 3, 0 },
	[WEFT_IDE_KM_QUERY_RESP] = { 8 + WEFT_IDE_KM_REGS_LEN, HAS_SELF },
	[WEFT_IDE_KM_KEY_PROG] = { 51, HAS_SUB | HAS_KEY },
	[WEFT_IDE_KM_KP_ACK] = { 7, HAS_SUB | HAS_STATUS },
	[WEFT_IDE_KM_K_SET_GO] = { 7, HAS_SUB },
	[WEFT_IDE_KM_K_SET_STOP] = { 7, HAS_SUB },
	[WEFT_IDE_KM_GOSTOP_ACK] = { 7, HAS_SUB },
	[WEFT_IDE_KM_GETKEY] = { 7, HAS_SUB },
	[WEFT_IDE_KM_GETKEY_ACK] = { 51, HAS_SUB | HAS_KEY },
};

size_t
weft_ide_km_put(uint8_t *out, const struct weft_ide_km *m)
{
	uint8_t *o = out + HDR_LEN;
	unsigned int len, has;

	if (m->object >= WEFT_IDE_KM_OBJECTS)
		return 0;
	len = objects[m->object].len;
	has = objects[m->object].has;
	memset(out, 0, HDR_LEN + len);
	weft_put_le16(out, STANDARDS_ID);
	out[2] = 2;
	weft_put_le16(out + 3, VENDOR_ID);
	weft_put_le16(out + 5, (uint16_t)(len + 1));
	o[0] = m->object;
	if (has & HAS_SUB) {
		o[SUB_OFF] =
			(uint8_t)(SUB_CXL | (m->is_tx ? SUB_TX : 0) | (m->bit3 ? SUB_BIT3 : 0));
		o[PORT_OFF] = m->port;
	} else {
		o[QUERY_PORT_OFF] = m->port;
	}
	if (has & HAS_STATUS)
		o[STREAM_OFF + 1] = m->status;
	if (has & HAS_SELF) {
		const uint8_t self[] = { m->dev_func, m->bus, m->segment, m->max_port, m->caps };

		memcpy(o + 3, self, sizeof(self));
		memcpy(o + 8, m->regs, WEFT_IDE_KM_REGS_LEN);
	}
	if (has & HAS_KEY) {
		memcpy(o + KEY_OFF, m->key, WEFT_IDE_KEY_LEN);
		for (unsigned int i = 0; i < 3; i++)
			weft_put_le32(o + IV_OFF + 4 * i, m->iv[i]);
	}
	return HDR_LEN + len;
}

int
weft_ide_km_get(const uint8_t *in, size_t len, struct weft_ide_km *m)
{
	const uint8_t *o = in + HDR_LEN;
	const size_t o_len = len - HDR_LEN;
	unsigned int has;

	memset(m, 0, sizeof(*m));
	if (len < HDR_LEN + 1 || weft_get_le16(in) != STANDARDS_ID || in[2] != 2 ||
		weft_get_le16(in + 3) != VENDOR_ID || weft_get_le16(in + 5) != o_len + 1 ||
		in[7] != 0)
		return -EPROTO;
	if (o[0] >= WEFT_IDE_KM_OBJECTS)
		return -EBADRQC;
	m->object = o[0];
	has = objects[m->object].has;
	if ((has & HAS_SUB) && o_len > PORT_OFF) {
		m->is_tx = (o[SUB_OFF] & SUB_TX) != 0;
		m->bit3 = (o[SUB_OFF] & SUB_BIT3) != 0;
		m->port = o[PORT_OFF];
	}
	if (o_len != objects[m->object].len)
		return -EMSGSIZE;
	if (!(has & HAS_SUB))
		m->port = o[QUERY_PORT_OFF];
	else if (o[STREAM_OFF] != 0 || (o[SUB_OFF] & 0xF0) != SUB_CXL ||
		 (o[SUB_OFF] & SUB_RESERVED))
		return -EINVAL;
	if (has & HAS_STATUS)
		m->status = o[STREAM_OFF + 1];
	if (has & HAS_SELF) {
		m->dev_func = o[3];
		m->bus = o[4];
		m->segment = o[5];
		m->max_port = o[6];
		m->caps = o[7];
		memcpy(m->regs, o + 8, WEFT_IDE_KM_REGS_LEN);
	}
	if (has & HAS_KEY) {
		memcpy(m->key, o + KEY_OFF, WEFT_IDE_KEY_LEN);
		for (unsigned int i = 0; i < 3; i++)
			m->iv[i] = weft_get_le32(o + IV_OFF + 4 * i);
	}
	return 0;
}

/* --- responder --- */

/* Of one direction of a port: bits. */
enum { HAS_NEXT_KEY = 1, IS_RUNNING = 2 };

int
weft_ide_km_init(struct weft_ide_km_responder *r, const struct weft_ide_km *self,
	const struct weft_ide_km_ops *ops)
{
	if (self->max_port >= WEFT_IDE_KM_PORTS || (self->caps & 0xF) != WEFT_IDE_KM_CAP_VERSION)
		return -EINVAL;
	*r = (struct weft_ide_km_responder){ .self = *self, .ops = *ops };
	r->self.object = WEFT_IDE_KM_QUERY_RESP;
	return 0;
}

/* The counter of the IV that is asked for; 0: one that no stream here can begin with. */
static uint64_t
km_counter_of(const struct weft_ide_km_responder *r, const struct weft_ide_km *m)
{
	if (m->bit3)
		return 1;
	if (!(r->self.caps & WEFT_IDE_KM_CAP_IV) || m->iv[0] != IV_FIRST)
		return 0;
	return (uint64_t)m->iv[1] << 32 | m->iv[2];
}

static enum weft_ide_km_status
km_key_prog(struct weft_ide_km_responder *r, const struct weft_ide_km *m, int rc)
{
	uint64_t counter;

	if (rc == -EMSGSIZE)
		return WEFT_IDE_KM_BAD_LENGTH;
	if (m->port > r->self.max_port)
		return WEFT_IDE_KM_BAD_PORT;
	counter = km_counter_of(r, m);
	if (rc != 0 || counter == 0)
		return WEFT_IDE_KM_BAD_VALUE;
	if (r->ops.program(r->ops.arg, m->port, m->is_tx, m->key, counter) != 0)
		return WEFT_IDE_KM_FAILED;
	r->state[m->port][m->is_tx] |= HAS_NEXT_KEY;
	return WEFT_IDE_KM_OK;
}

/* A stream that runs keeps its mode; a new key changes only the key. */
static bool
km_set_go(struct weft_ide_km_responder *r, const struct weft_ide_km *m)
{
	uint8_t *state = &r->state[m->port][m->is_tx], *mode = &r->mode[m->port][m->is_tx];
	const enum weft_ide_mode want = m->bit3 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID;

	if (!(*state & HAS_NEXT_KEY) || ((*state & IS_RUNNING) && *mode != want) ||
		r->ops.go(r->ops.arg, m->port, m->is_tx, want) != 0)
		return false;
	*state = IS_RUNNING;
	*mode = (uint8_t)want;
	return true;
}

static bool
km_set_stop(struct weft_ide_km_responder *r, const struct weft_ide_km *m)
{
	uint8_t *state = &r->state[m->port][m->is_tx];

	if (!(r->self.caps & WEFT_IDE_KM_CAP_STOP) || !(*state & IS_RUNNING) ||
		r->ops.stop(r->ops.arg, m->port, m->is_tx) != 0)
		return false;
	*state = 0;
	return true;
}

static bool
km_get_key(struct weft_ide_km_responder *r, const struct weft_ide_km *m, struct weft_ide_km *answer)
{
	uint64_t counter = 1;

	if (!(r->self.caps & WEFT_IDE_KM_CAP_KEYGEN) ||
		r->ops.make_key(r->ops.arg, m->port, m->is_tx, answer->key, &counter) != 0)
		return false;
	answer->iv[0] = IV_FIRST;
	answer->iv[1] = (uint32_t)(counter >> 32);
	answer->iv[2] = (uint32_t)counter;
	return true;
}

/* True if there is an answer to a message that is well-formed. */
static bool
km_answer(struct weft_ide_km_responder *r, const struct weft_ide_km *m, struct weft_ide_km *answer)
{
	if (m->port > r->self.max_port)
		return false;
	switch (m->object) {
	case WEFT_IDE_KM_QUERY:
		*answer = r->self;
		answer->port = m->port;
		return true;
	case WEFT_IDE_KM_K_SET_GO: answer->object = WEFT_IDE_KM_GOSTOP_ACK; return km_set_go(r, m);
	case WEFT_IDE_KM_K_SET_STOP:
		answer->object = WEFT_IDE_KM_GOSTOP_ACK;
		return km_set_stop(r, m);
	case WEFT_IDE_KM_GETKEY:
		answer->object = WEFT_IDE_KM_GETKEY_ACK;
		return km_get_key(r, m, answer);
	default: return false; /* an answer, to nothing that was asked */
	}
}

size_t
weft_ide_km_respond(struct weft_ide_km_responder *r, const uint8_t *in, size_t len, uint8_t *out)
{
	struct weft_ide_km m, answer;
	const int rc = weft_ide_km_get(in, len, &m);
	size_t n = 0;
	bool good;

	answer = (struct weft_ide_km){ .port = m.port, .is_tx = m.is_tx, .bit3 = m.bit3 };
	if (m.object == WEFT_IDE_KM_KEY_PROG && rc != -EPROTO && rc != -EBADRQC) {
		answer.object = WEFT_IDE_KM_KP_ACK;
		answer.status = (uint8_t)km_key_prog(r, &m, rc);
		good = answer.status == WEFT_IDE_KM_OK;
		n = weft_ide_km_put(out, &answer);
	} else {
		good = rc == 0 && km_answer(r, &m, &answer);
		if (good)
			n = weft_ide_km_put(out, &answer);
	}
	r->count[good      ? WEFT_IDE_KM_N_ANSWERED
		 : rc != 0 ? WEFT_IDE_KM_N_MALFORMED
			   : WEFT_IDE_KM_N_REFUSED]++;
	explicit_bzero(&m, sizeof(m));
	explicit_bzero(&answer, sizeof(answer));
	return n;
}
