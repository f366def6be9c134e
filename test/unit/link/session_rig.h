/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Two ends of a session for tests, with times in units that read well: HELLO every 100. */
#ifndef SESSION_RIG_H
#define SESSION_RIG_H

#include "weft_test.h"

#include "weft_session.h"

enum {
	HELLO = 100,
	KEEPALIVE = 25,
	SILENCE = 100,
	DEAD = 1000,
	ASKS = 0, /* the two ends, by number */
	ANSWERS = 1,
	ENDS = 2,
};

static inline struct weft_session_cfg
session_cfg(unsigned int end)
{
	return (struct weft_session_cfg){
		.is_initiator = end == ASKS,
		.hello_ns = HELLO,
		.keepalive_ns = KEEPALIVE,
		.rx_timeout_ns = SILENCE,
		.session_timeout_ns = DEAD,
		.pad_flits = 8,
		.params = { .version = WEFT_WIRE_VERSION,
			.mode = WEFT_MODE_RXL,
			.max_flits = 8,
			.port = (uint16_t)(40 + end),
			.credits = 7,
			.node = { 'e', 'n', 'd', (uint8_t)('0' + end) } },
	};
}

/*
 * Keys for tests: random bytes that count up, and a proof that is a plain hash (FNV-1a) of the key
 * and all that was agreed on.
 */
struct rig_keys {
	struct weft_session_keys ops;
	uint64_t drawn;
	uint64_t psk;
	uint64_t control; /* key of control frames; 0: none */
	bool dry; /* there are no random bytes */
	bool numb; /* control frames get no keys */
};

static inline uint64_t
rig_hash(uint64_t h, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001B3);
	return h;
}

static inline uint64_t
rig_deal_hash(uint64_t h, const struct weft_session_transcript *d)
{
	const struct weft_control *const of[] = { &d->initiator, &d->responder };

	h = rig_hash(h, &d->session, sizeof(d->session));
	for (unsigned int i = 0; i < ENDS; i++) {
		h = rig_hash(h, &of[i]->port, sizeof(of[i]->port));
		h = rig_hash(h, &of[i]->ide_mode, sizeof(of[i]->ide_mode));
		h = rig_hash(h, of[i]->random, WEFT_RANDOM_LEN);
		h = rig_hash(h, &of[i]->memory, sizeof(of[i]->memory));
		h = rig_hash(h, &of[i]->known, sizeof(of[i]->known));
		assert_int_equal(of[i]->type | of[i]->padded | (int)of[i]->session, 0);
	}
	return h;
}

static inline bool
rig_random(void *arg, uint8_t *out, size_t len)
{
	struct rig_keys *k = arg;

	if (k->dry)
		return false;
	memset(out, 0, len);
	k->drawn++;
	memcpy(out, &k->drawn, sizeof(k->drawn));
	return true;
}

static inline bool
rig_proof(void *arg, const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof)
{
	const struct rig_keys *k = arg;
	const uint64_t h = rig_deal_hash(k->psk + is_initiator, d);

	memset(proof, 1, WEFT_PROOF_LEN);
	memcpy(proof, &h, sizeof(h));
	return true;
}

static inline bool
rig_bind(void *arg, const struct weft_session_transcript *d)
{
	struct rig_keys *k = arg;

	if (d != NULL && k->numb)
		return false;
	k->control = d == NULL ? 0 : rig_deal_hash(k->psk + 7, d) | 1;
	return true;
}

static inline bool
rig_mac(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac)
{
	const struct rig_keys *k = arg;
	const uint64_t h = rig_hash(k->control + from_initiator, image, len);

	assert_true(k->control != 0);
	memset(mac, 2, WEFT_CONTROL_MAC_LEN);
	memcpy(mac, &h, sizeof(h));
	return true;
}

static inline bool
rig_gone(void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	const struct rig_keys *k = arg;
	const uint64_t h = rig_hash(k->psk + session + from_initiator, &number, sizeof(number));

	memset(proof, 3, WEFT_PROOF_LEN);
	memcpy(proof, &h, sizeof(h));
	return true;
}

/* Switch IDE on at an end. */
static inline void
rig_ide(struct weft_session_cfg *c, struct rig_keys *k)
{
	k->ops = (struct weft_session_keys){ .random = rig_random,
		.proof = rig_proof,
		.bind = rig_bind,
		.mac = rig_mac,
		.gone = rig_gone,
		.arg = k };
	c->params.ide_mode = 1;
	c->keys = &k->ops;
}

#endif /* SESSION_RIG_H */
