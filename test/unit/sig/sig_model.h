/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Block signatures by their definition, for the tests to compare with: a bit at a time, a byte at a
 * time, over whole buffers. Nothing here comes from the library but the names of its types.
 */
#ifndef SIG_MODEL_H
#define SIG_MODEL_H

#include "weft_sig.h"
#include "weft_test.h"

/* A domain with its parameters in one place. */
struct side {
	bool present;
	bool is_dif;
	enum weft_sig_crc_type crc;
	uint64_t seed;
	struct weft_sig_t10dif dif;
	uint32_t block;
};

struct model_in {
	struct side in, out;
	uint8_t check, copy;
	uint64_t block0;
};

struct model_out {
	uint8_t *bytes; /* caller's room */
	size_t len;
	unsigned int n_errors;
	struct weft_sig_error first;
	unsigned int escaped;
};

static inline uint64_t
model_crc(unsigned int width, uint64_t poly, bool reflected, uint64_t begin, const uint8_t *p,
	size_t len)
{
	const uint64_t mask = weft_mask64(width);
	uint64_t r = begin & mask, back = 0;

	for (size_t i = 0; i < len; i++)
		for (unsigned int b = 0; b < 8; b++) {
			const unsigned int in = p[i] >> (reflected ? b : 7 - b) & 1;
			const unsigned int top = (unsigned int)(r >> (width - 1)) & 1;

			r = (r << 1 & mask) ^ (top != in ? poly : 0);
		}
	if (!reflected)
		return r;
	for (unsigned int b = 0; b < width; b++)
		back |= (r >> b & 1) << (width - 1 - b);
	return ~back & mask;
}

static inline uint16_t
model_csum(uint16_t bg, const uint8_t *p, size_t len)
{
	uint32_t sum = bg;

	for (size_t i = 0; i < len; i += 2) {
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
		sum = (sum & 0xFFFF) + (sum >> 16);
	}
	return (uint16_t)~sum;
}

static inline unsigned int
side_sig_len(const struct side *s)
{
	return !s->present ? 0 : s->is_dif || s->crc == WEFT_SIG_CRC64_XP10 ? 8 : 4;
}

static inline uint64_t
model_guard(const struct side *s, const uint8_t *data)
{
	if (s->is_dif && s->dif.bg_type == WEFT_SIG_BG_CSUM)
		return model_csum(s->dif.bg, data, s->block);
	if (s->is_dif)
		return model_crc(16, 0x8BB7, false, s->dif.bg, data, s->block);
	switch (s->crc) {
	case WEFT_SIG_CRC32: return model_crc(32, 0x04C11DB7, true, s->seed, data, s->block);
	case WEFT_SIG_CRC32C: return model_crc(32, 0x1EDC6F41, true, s->seed, data, s->block);
	default: return model_crc(64, UINT64_C(0xAD93D23594C93659), true, s->seed, data, s->block);
	}
}

/* Most significant byte first into out[0..n). */
static inline void
model_put_be(uint8_t *out, unsigned int n, uint64_t v)
{
	for (unsigned int i = 0; i < n; i++)
		out[i] = (uint8_t)(v >> 8 * (n - 1 - i));
}

static inline uint64_t
model_get_be(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static inline void
model_sig(const struct side *s, const uint8_t *data, uint64_t block, uint8_t sig[8])
{
	const uint64_t guard = model_guard(s, data);

	if (s->is_dif) {
		const bool remap = (s->dif.flags & WEFT_SIG_REF_REMAP) != 0;

		model_put_be(sig, 2, guard);
		model_put_be(sig + 2, 2, s->dif.app_tag);
		model_put_be(sig + 4, 4, s->dif.ref_tag + (remap ? (uint32_t)block : 0));
		return;
	}
	for (unsigned int i = 0; i < side_sig_len(s); i++)
		sig[i] = (uint8_t)(guard >> 8 * i);
}

/* Which bit of a mask stands for signature byte @p i. */
static inline unsigned int
model_bit(const struct side *s, unsigned int i)
{
	return s->is_dif ? 7 - i : side_sig_len(s) == 4 ? 4 + i : i;
}

static inline bool
model_escaped(const struct side *s, const uint8_t *sig)
{
	const bool app = sig[2] == 0xFF && sig[3] == 0xFF;
	const bool ref = model_get_be(sig + 4, 4) == 0xFFFFFFFF;

	if (!s->is_dif)
		return false;
	if ((s->dif.flags & WEFT_SIG_APP_REF_ESCAPE) != 0)
		return app && ref;
	return (s->dif.flags & WEFT_SIG_APP_ESCAPE) != 0 && app;
}

static inline void
model_check(const struct model_in *m, const uint8_t *unit, uint64_t j, struct model_out *o)
{
	static const struct {
		unsigned int at, len;
		enum weft_sig_error_type type;
	} fields[] = { { 0, 2, WEFT_SIG_BAD_GUARD }, { 2, 2, WEFT_SIG_BAD_APPTAG },
		{ 4, 4, WEFT_SIG_BAD_REFTAG } };
	const unsigned int n = side_sig_len(&m->in);
	const uint8_t *got = unit + m->in.block;
	struct weft_sig_error e = { .block = m->block0 + j,
		.offset = (m->block0 + j) * (m->in.block + n) };
	uint8_t want[8];

	model_sig(&m->in, unit, m->block0 + j, want);
	for (unsigned int i = 0; i < n && e.type == WEFT_SIG_NO_ERROR; i++) {
		if ((m->check >> model_bit(&m->in, i) & 1) == 0 || want[i] == got[i])
			continue;
		for (unsigned int f = 0; m->in.is_dif && f < 3; f++)
			if (i >= fields[f].at && i < fields[f].at + fields[f].len) {
				e.type = fields[f].type;
				e.computed = model_get_be(want + fields[f].at, fields[f].len);
				e.stored = model_get_be(got + fields[f].at, fields[f].len);
			}
		if (m->in.is_dif)
			continue;
		e.type = WEFT_SIG_BAD_GUARD;
		for (unsigned int k = 0; k < n; k++) {
			e.computed |= (uint64_t)want[k] << 8 * k;
			e.stored |= (uint64_t)got[k] << 8 * k;
		}
	}
	if (e.type != WEFT_SIG_NO_ERROR && o->n_errors++ == 0)
		o->first = e;
}

/*
 * All of @p in_len bytes, whole units, through two domains. @p copy is the mask in force. Data by
 * itself first, then cut anew.
 */
static inline void
model_run(const struct model_in *m, const uint8_t *in, size_t in_len, struct model_out *o)
{
	const unsigned int n = side_sig_len(&m->in), k = side_sig_len(&m->out);
	const size_t unit = m->in.block + n;
	const size_t units = m->in.present ? in_len / unit : 0;
	uint8_t *data = malloc(in_len + 1);
	bool *escaped = calloc(in_len + 1, 1);
	size_t data_len = 0, pos = 0;

	assert_non_null(data);
	assert_non_null(escaped);
	o->len = o->n_errors = o->escaped = 0;
	o->first = (struct weft_sig_error){ 0 };
	for (size_t j = 0; j < units; j++) {
		const uint8_t *p = in + j * unit;

		if (model_escaped(&m->in, p + m->in.block)) {
			o->escaped++;
			memset(escaped + data_len, 1, m->in.block);
		} else {
			model_check(m, p, j, o);
		}
		memcpy(data + data_len, p, m->in.block);
		data_len += m->in.block;
	}
	if (!m->in.present) {
		memcpy(data, in, in_len);
		data_len = in_len;
	}
	for (uint64_t j = m->block0 * (m->in.present ? m->in.block : m->out.block) /
	                  (m->out.present ? m->out.block : 1);
		m->out.present && pos < data_len; j++, pos += m->out.block) {
		uint8_t sig[8];

		memcpy(o->bytes + o->len, data + pos, m->out.block);
		model_sig(&m->out, data + pos, j, sig);
		if (m->out.is_dif && memchr(escaped + pos, 1, m->out.block) != NULL)
			memset(sig + 2, 0xFF, 6);
		for (unsigned int i = 0; i < k; i++)
			if ((m->copy >> model_bit(&m->out, i) & 1) != 0)
				sig[i] = in[pos / m->out.block * unit + m->in.block + i];
		memcpy(o->bytes + o->len + m->out.block, sig, k);
		o->len += m->out.block + k;
	}
	if (!m->out.present) {
		memcpy(o->bytes, data, data_len);
		o->len = data_len;
	}
	free(data);
	free(escaped);
}

/* The copy mask that follows from two domains, as section 2.3 has it in its last column. */
static inline uint8_t
model_copy_mask(const struct side *a, const struct side *b)
{
	unsigned int mask = 0;

	if (!a->present || !b->present || a->block != b->block || a->is_dif != b->is_dif)
		return 0;
	if (!a->is_dif)
		return a->crc == b->crc && a->seed == b->seed ? 0xFF : 0;
	if (a->dif.bg_type == b->dif.bg_type && a->dif.bg == b->dif.bg)
		mask |= 0xC0;
	if (a->dif.app_tag == b->dif.app_tag)
		mask |= 0x30;
	if (a->dif.ref_tag == b->dif.ref_tag && (a->dif.flags & 1) == (b->dif.flags & 1))
		mask |= 0x0F;
	return (uint8_t)mask;
}

/* What the library is given for a side. The structs must outlive its use. */
struct given {
	struct weft_sig_domain domain;
	struct weft_sig_crc crc;
};

static inline const struct weft_sig_domain *
side_give(const struct side *s, struct given *g)
{
	if (!s->present)
		return NULL;
	g->crc = (struct weft_sig_crc){ s->crc, s->seed };
	g->domain = (struct weft_sig_domain){ .block_size = s->block,
		.sig_type = s->is_dif ? WEFT_SIG_T10DIF : WEFT_SIG_CRC };
	if (s->is_dif)
		g->domain.sig.dif = &s->dif;
	else
		g->domain.sig.crc = &g->crc;
	return &g->domain;
}

/* Set a key up; sides absent on both reset it. @return of the first call that fails. */
static inline int
key_set(struct weft_sig_key *key, const struct side *mem, const struct side *wire, uint8_t check,
	const uint8_t *copy)
{
	struct given gm, gw;
	const struct weft_sig_attr attr = {
		.mem = side_give(mem, &gm),
		.wire = side_give(wire, &gw),
		.flags = copy != NULL ? WEFT_SIG_COPY_MASK : 0,
		.check_mask = check,
		.copy_mask = copy != NULL ? *copy : 0,
	};
	const bool reset = !mem->present && !wire->present;
	int rc = weft_sig_key_configure(key, reset ? WEFT_SIG_RESET_ATTR : 0, 0);

	if (rc == 0 && !reset)
		weft_sig_key_set_sig(key, &attr);
	return rc == 0 ? weft_sig_key_complete(key) : rc;
}

/* One piece each, which must be enough. @return bytes of output. */
static inline size_t
run_whole(struct weft_sig_key *key, enum weft_sig_dir dir, uint64_t block0, uint32_t flags,
	const uint8_t *in, size_t in_len, uint8_t *out, size_t room)
{
	static struct weft_sig_stream stream;
	struct weft_sig_piece from = { (uint8_t *)(uintptr_t)in, in_len, 0 };
	struct weft_sig_piece to = { out, room, 0 };
	struct weft_sig_op op = {
		.key = key,
		.dir = dir,
		.flags = flags,
		.block0 = block0,
		.in = { .piece = &from, .n = 1 },
		.out = { .piece = &to, .n = 1 },
	};

	assert_int_equal(weft_sig_burst(&stream, &op, 1), 1);
	assert_int_equal(op.in.done, in_len);
	return op.out.done;
}

#endif /* SIG_MODEL_H */
