/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the tests of ide share: random flits; a reference that builds AAD, P and PCRC from the text
 * of wire-formats.md section 5 and lets OpenSSL do the cryptography; senders that a passive monitor
 * listens to; and a receiver with the queue that its caller must keep, checked at every flit.
 */
#ifndef WEFT_TEST_IDE_RIG_H
#define WEFT_TEST_IDE_RIG_H

#include "weft_test.h"

#include <openssl/evp.h>

#include "weft_flit.h"
#include "weft_ide.h"
#include "weft_ide_monitor.h"

#define RIG_FLITS_MAX 512

/* --- flits --- */

/* Random bytes with a protocol header whose format no single bit turns into 8; not Empty. */
static inline void
rig_protocol_flit(struct weft_rand *r, uint8_t *flit)
{
	static const uint8_t fmt[] = { 1, 2, 3, 4, 5, 6, 7, 15 };

	weft_rand_fill(r, flit, WEFT_FLIT_LEN);
	flit[0] = (uint8_t)((flit[0] & 0x3F) | WEFT_FLIT_CACHEMEM << 6);
	flit[2] = (uint8_t)((flit[2] & 0xF0) | fmt[weft_rand_below(r, sizeof(fmt))]);
	if ((flit[240] & 0x1F) == 1)
		flit[240] ^= 2;
}

static inline void
rig_control_flit(struct weft_rand *r, uint8_t *flit, enum weft_llctrl c)
{
	uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN];

	rig_protocol_flit(r, flit);
	weft_rand_fill(r, payload, sizeof(payload));
	weft_llctrl_put(flit, c, payload);
}

static inline bool
rig_is_mac(const uint8_t *flit)
{
	return flit[0] >> 6 == 2 && flit[2] == 0x28 && (flit[3] & 0xF) == 3;
}

/* --- the reference --- */

struct ref_epoch {
	uint8_t aad[WEFT_IDE_EPOCH_MAX * (1 + WEFT_IDE_POISON_MAX) * 4],
		p[WEFT_IDE_EPOCH_MAX * 240 + 4];
	size_t aad_len, p_len;
};

static inline uint32_t
ref_crc32c(const uint8_t *p, size_t len)
{
	uint32_t crc = 0xFFFFFFFF;

	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78 : 0);
	}
	return crc ^ 0xFFFFFFFF;
}

/* An LOpt flit with its slots where a Standard flit has them. */
static inline void
ref_from_lopt(uint8_t *out, const uint8_t *flit)
{
	memcpy(out, flit, 256);
	memcpy(out + 7 * 16 + 10, flit + 138, 6); /* slot 7 */
	memcpy(out + 8 * 16, flit + 128, 10); /* slot 8 */
	memcpy(out + 8 * 16 + 10, flit + 242, 2);
	memset(out + 8 * 16 + 12, 0, 4);
}

static inline void
ref_to_lopt(uint8_t *flit, const uint8_t *in)
{
	memcpy(flit, in, 122);
	memcpy(flit + 128, in + 8 * 16, 10);
	memcpy(flit + 138, in + 7 * 16 + 10, 6);
	memcpy(flit + 144, in + 144, 96);
	memcpy(flit + 242, in + 8 * 16 + 10, 2);
}

/* A Poison flit: its 4 bits of payload. */
static inline void
ref_poison(struct ref_epoch *e, const uint8_t *flit)
{
	const uint8_t word[4] = { flit[4] & 0xF };

	memcpy(e->aad + e->aad_len, word, 4);
	e->aad_len += 4;
}

static inline void
ref_add(struct ref_epoch *e, const uint8_t *plain)
{
	const bool mac = rig_is_mac(plain);
	uint8_t *aad = e->aad + e->aad_len;
	uint8_t *p = e->p + e->p_len;

	memset(aad, 0, 4);
	if (mac) {
		aad[0] = plain[240];
		aad[1] = plain[241];
		memcpy(p, plain + 16, 224);
	} else {
		aad[0] = (uint8_t)(plain[240] << 4 | (plain[2] & 0xF));
		aad[1] = (uint8_t)(plain[241] << 4 | plain[240] >> 4);
		aad[2] = plain[241] >> 4;
		memset(p, 0, 3);
		p[2] = plain[2] & 0xF0;
		memcpy(p + 3, plain + 3, 237);
	}
	e->aad_len += 4;
	e->p_len += mac ? 224 : 240;
}

/* Encrypt the epoch's P in place, PCRC included, and give the tag. */
static inline void
ref_end(struct ref_epoch *e, const uint8_t *key, uint64_t counter, bool pcrc, uint8_t tag[16])
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t iv[12] = { 0x80 };
	int n;

	for (unsigned int i = 0; i < 8; i++)
		iv[11 - i] = (uint8_t)(counter >> 8 * i);
	if (pcrc) {
		const uint32_t crc = ref_crc32c(e->p, e->p_len);

		for (unsigned int i = 0; i < 4; i++)
			e->p[e->p_len++] = (uint8_t)(crc >> 8 * i);
	}
	assert_int_equal(EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, iv), 1);
	assert_int_equal(EVP_EncryptUpdate(ctx, NULL, &n, e->aad, (int)e->aad_len), 1);
	assert_int_equal(EVP_EncryptUpdate(ctx, e->p, &n, e->p, (int)e->p_len), 1);
	assert_int_equal(EVP_EncryptFinal_ex(ctx, e->p + e->p_len, &n), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, 16, tag), 1);
	EVP_CIPHER_CTX_free(ctx);
}

/* Bytes of P that the flit carries, replaced by @p text; how many there were. */
static inline size_t
ref_put(uint8_t *flit, const uint8_t *text)
{
	if (rig_is_mac(flit)) {
		memcpy(flit + 16, text, 224);
		return 224;
	}
	flit[2] = (uint8_t)((flit[2] & 0xF) | (text[2] & 0xF0));
	memcpy(flit + 3, text + 3, 237);
	return 240;
}

/* --- streams --- */

/* The monitors of the streams made last. */
static struct {
	const struct weft_ide_stream *s;
	struct weft_ide_monitor monitor;
} rig_heard[64];
static unsigned int rig_next;

static inline struct weft_ide_monitor *
rig_monitor(const struct weft_ide_stream *s)
{
	size_t i = 0;

	while (i < WEFT_ARRAY_SIZE(rig_heard) && rig_heard[i].s != s)
		i++;
	if (i == WEFT_ARRAY_SIZE(rig_heard)) {
		i = rig_next++ % WEFT_ARRAY_SIZE(rig_heard);
		rig_heard[i].s = s;
	}
	return &rig_heard[i].monitor;
}

static inline struct weft_ide_stream *
rig_setup(struct weft_ide_lib *lib, const struct weft_ide_config *cfg, const uint8_t *key,
	uint64_t counter)
{
	void *mem = aligned_alloc(64, weft_ide_stream_size());
	struct weft_ide_stream *s;

	memset(mem, 0xA5, weft_ide_stream_size()); /* set-up must not rely on zeroed memory */
	s = weft_ide_stream_setup(mem, lib, cfg, key, counter);
	assert_non_null(s);
	weft_ide_monitor_begin(rig_monitor(s), cfg->mode, cfg->format, key, counter);
	return s;
}

static inline struct weft_ide_stream *
rig_stream(struct weft_ide_lib *lib, enum weft_ide_mode mode, const uint8_t *key, uint64_t counter,
	bool pcrc)
{
	const struct weft_ide_config cfg = { .mode = mode, .pcrc = pcrc };

	return rig_setup(lib, &cfg, key, counter);
}

static inline void
rig_next_key(struct weft_ide_stream *s, struct weft_ide_lib *lib, const uint8_t *key)
{
	weft_ide_stream_next_key(s, lib, key);
	weft_ide_monitor_next_key(rig_monitor(s), key);
}

/* IDE.TMAC is heard where it is made: tests seal some that are none. */
static inline void
rig_hear(const struct weft_ide_stream *s, const uint8_t *flit)
{
	if (weft_llctrl_get(flit + 2) != WEFT_LLCTRL_IDE_TMAC)
		weft_ide_monitor_flit(rig_monitor(s), flit);
}

static inline int
rig_seal(struct weft_ide_stream *s, uint8_t *flit)
{
	const int ret = weft_ide_seal(s, flit);

	if (ret == 0)
		rig_hear(s, flit);
	return ret;
}

static inline unsigned int
rig_seal_run(struct weft_ide_stream *s, uint8_t *flits, unsigned int n)
{
	const unsigned int sealed = weft_ide_seal_run(s, flits, n);

	for (unsigned int i = 0; i < sealed; i++)
		rig_hear(s, flits + i * (size_t)WEFT_FLIT_LEN);
	return sealed;
}

static inline enum weft_ide_close
rig_close(struct weft_ide_stream *s, uint8_t *flit)
{
	const enum weft_ide_close c = weft_ide_close(s, flit);

	if (c == WEFT_IDE_CLOSE_TMAC)
		weft_ide_monitor_flit(rig_monitor(s), flit);
	return c;
}

static inline int
rig_start(struct weft_ide_stream *s, uint8_t *flit)
{
	const int ret = weft_ide_start(s, flit);

	if (ret == 0)
		weft_ide_monitor_flit(rig_monitor(s), flit);
	return ret;
}

static inline int
rig_stop(struct weft_ide_stream *s, uint8_t *flit)
{
	const int ret = weft_ide_stop(s, flit);

	if (ret == 0)
		weft_ide_monitor_flit(rig_monitor(s), flit);
	return ret;
}

/* A receiver, the flits its caller holds for it, and all that it let go. */
struct rig_rx {
	struct weft_ide_stream *s;
	uint8_t queue[WEFT_IDE_HELD_MAX + 1][WEFT_FLIT_LEN];
	unsigned int queued;
	uint8_t out[RIG_FLITS_MAX][WEFT_FLIT_LEN];
	unsigned int n_out;
	unsigned int failures, insecure, dropped, epochs_good;
	struct weft_ide_event last;
};

static inline void
rig_receive(struct rig_rx *rx, const uint8_t *flit)
{
	struct weft_ide_event *e = &rx->last;

	memcpy(rx->queue[rx->queued++], flit, WEFT_FLIT_LEN);
	memset(e, 0xFF, sizeof(*e));
	weft_ide_open(rx->s, rx->queue[rx->queued - 1], e);

	/* Every flit is held, or let go, or dropped, once. */
	assert_true(e->release <= rx->queued);
	memcpy(rx->out[rx->n_out], rx->queue[0], e->release * (size_t)WEFT_FLIT_LEN);
	memmove(rx->queue[0], rx->queue[e->release],
		(rx->queued - e->release) * (size_t)WEFT_FLIT_LEN);
	rx->n_out += e->release;
	rx->queued -= (unsigned int)(e->release + e->dropped);
	rx->dropped += e->dropped;
	assert_int_equal(rx->queued, weft_ide_held(rx->s));
	assert_true(rx->queued <= WEFT_IDE_HELD_MAX);

	rx->epochs_good += e->epoch_good;
	rx->failures += e->verdict == WEFT_DROP_IDE_MAC;
	rx->insecure += e->verdict == WEFT_DROP_IDE_INSECURE;
	assert_int_equal(e->verdict != WEFT_OK, e->dropped > 0);
	assert_int_equal(weft_ide_is_insecure(rx->s), rx->failures > 0);
}

#endif /* WEFT_TEST_IDE_RIG_H */
