/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One input unit, whole and in one piece: check its signature, cut its data by the output's blocks,
 * and write their signatures (signature.md section 1, steps 2 to 5). Hot path.
 */

#include "unit_priv.h"

/* The first mismatch of: guard, application tag, reference tag (section 5.2). */
static void
unit_mismatch(const struct weft_sig_spec *d, uint64_t diff, uint64_t want, uint64_t got,
	struct weft_sig_error *e)
{
	if (!d->is_dif) {
		e->type = WEFT_SIG_BAD_GUARD;
		e->computed = want;
		e->stored = got;
	} else if ((diff & 0xFFFF) != 0) {
		e->type = WEFT_SIG_BAD_GUARD;
		e->computed = __builtin_bswap16((uint16_t)want);
		e->stored = __builtin_bswap16((uint16_t)got);
	} else if ((diff & 0xFFFF0000) != 0) {
		e->type = WEFT_SIG_BAD_APPTAG;
		e->computed = sig_app(want);
		e->stored = sig_app(got);
	} else {
		e->type = WEFT_SIG_BAD_REFTAG;
		e->computed = sig_ref(want);
		e->stored = sig_ref(got);
	}
}

/* State of a unit while its data moves. */
struct unit {
	uint64_t sig; /* as it came; 0 if there is none */
	uint64_t in_sum;
	bool needs_sum; /* of the input block */
	bool has_sum;
};

/* Move data that fits into the output block; the sums grow on the way where one pass can do it. */
static void
unit_move_data(
	struct weft_sig_stream *s, struct unit *u, const uint8_t *src, uint8_t *dst, uint32_t len)
{
	if (s->makes_guard) {
		s->filling.sum = s->kernel->copy[s->out.kind](s->filling.sum, dst, src, len);
	} else if (u->needs_sum && !u->has_sum) {
		u->in_sum = s->kernel->copy[s->in.kind](s->in.begin, dst, src, len);
		u->has_sum = true;
	} else {
		memcpy(dst, src, len);
	}
}

/*
 * The signature after the output block that ends at @p dst. An escape goes through as one, and
 * poison becomes one: fresh tags would vouch for unchecked data (sections 2.6 and 8).
 */
static void
unit_put_out_sig(struct weft_sig_stream *s, struct unit *u, uint8_t *dst)
{
	uint64_t copy = s->copy_bytes, sum = s->filling.sum, sig;

	if (s->same_sum && u->needs_sum) {
		u->in_sum = sum;
		u->has_sum = true;
	}
	if (s->out.is_dif && s->filling.is_poisoned) {
		/*
		 * Only a copied guard has no sum, and then the block lies before us in one piece.
		 */
		if (!s->makes_guard)
			sum = s->kernel->sum[s->out.kind](
				s->out.begin, dst - s->out.block, s->out.block);
		copy = 0;
	}
	sig = sig_made(&s->out, sum, s->out_block);
	if (s->out.is_dif && (s->filling.is_poisoned || s->filling.is_escaped))
		sig = (sig & 0xFFFF) | unit_dif_sig(0, SIG_ESCAPE_APP, SIG_ESCAPE_REF);
	sig_store(&s->out, dst, (u->sig & copy) | (sig & ~copy));
	if ((copy & s->out_bytes) == s->out_bytes)
		s->counters.copied++;
	else
		s->counters.generated++;
	s->out_block++;
	s->filling.pos = 0;
	s->filling.sum = s->out.begin;
	s->filling.is_escaped = s->filling.is_poisoned = false;
}

/* The data of a unit, cut by the output's blocks. */
static void
unit_cut_data(struct weft_sig_stream *s, struct unit *u, const uint8_t *src, uint8_t *dst,
	bool poisoned, bool escaped)
{
	uint32_t left = s->unit_data;

	while (s->out.sig_len != 0 && left != 0) {
		const uint32_t room = s->out.block - s->filling.pos;
		const uint32_t len = left < room ? left : room;

		unit_move_data(s, u, src, dst, len);
		s->filling.is_poisoned |= poisoned;
		s->filling.is_escaped |= escaped;
		src += len;
		dst += len;
		left -= len;
		s->filling.pos += len;
		if (s->filling.pos == s->out.block) {
			unit_put_out_sig(s, u, dst);
			dst += s->out.sig_len;
		}
	}
	if (left != 0)
		unit_move_data(s, u, src, dst, left);
}

static void
unit_report(struct weft_sig_stream *s, struct weft_sig_error *e)
{
	s->counters.errors[e->type]++;
	e->domain = s->dir == WEFT_SIG_TX ? WEFT_SIG_MEM : WEFT_SIG_WIRE;
	e->block = s->in_block;
	e->offset = s->in_block * s->unit;
	sig_key_latch(s->key, e);
}

/* Compare the signature, once the sum is known. */
static void
unit_check(struct weft_sig_stream *s, const struct unit *u, struct weft_sig_error *e)
{
	const uint64_t want = sig_made(&s->in, u->in_sum, s->in_block);
	const uint64_t diff = (want ^ u->sig) & s->check_bytes;

	s->counters.checked++;
	if (diff != 0)
		unit_mismatch(&s->in, diff, want, u->sig, e);
}

static void
unit_sum(struct weft_sig_stream *s, struct unit *u, const uint8_t *src)
{
	if (u->needs_sum && !u->has_sum)
		u->in_sum = s->kernel->sum[s->in.kind](s->in.begin, src, s->unit_data);
	u->has_sum = true;
}

uint32_t
sig_unit_out_len(const struct weft_sig_stream *s)
{
	uint32_t len = s->unit_data, filled = s->filling.pos + s->unit_data;

	if (s->out.sig_len == 0)
		return len;
	for (; filled >= s->out.block; filled -= s->out.block)
		len += s->out.sig_len;
	return len;
}

bool
sig_unit_move(struct weft_sig_stream *s, const uint8_t *src, uint32_t marks, uint8_t *dst,
	bool *is_poisoned)
{
	const bool marked = marks != 0;
	struct unit u = { 0 };
	struct weft_sig_error e = { 0 };
	bool escaped = false, compares, early, poisoned;

	if (s->in.sig_len != 0)
		u.sig = sig_load(&s->in, src + s->unit_data);
	if (s->in.is_dif && !marked)
		escaped = sig_is_escaped(&s->in, u.sig);
	compares = s->check_bytes != 0 && !marked && !escaped;
	u.needs_sum = compares && s->checks_guard;
	early = compares && (s->flags & (WEFT_SIG_STOP | WEFT_SIG_POISON_BAD)) != 0;
	if (marked)
		e.type = (marks & WEFT_SIG_PIECE_LOST) != 0 ? WEFT_SIG_LOST : WEFT_SIG_POISONED;

	if (early) {
		unit_sum(s, &u, src);
		unit_check(s, &u, &e);
	} else if (u.needs_sum && s->makes_guard && !s->same_sum) {
		unit_sum(s, &u, src);
	}
	if (e.type != WEFT_SIG_NO_ERROR && (s->flags & WEFT_SIG_STOP) != 0) {
		unit_report(s, &e);
		return false;
	}
	if (escaped) {
		s->counters.escaped++;
		s->counters.escaped_unprotected += !s->out.is_dif;
	}
	poisoned = marked || (early && e.type != WEFT_SIG_NO_ERROR);
	/* Also what ends a block that was poisoned before. */
	*is_poisoned = poisoned || s->filling.is_poisoned;
	unit_cut_data(s, &u, src, dst, poisoned, escaped && (s->flags & WEFT_SIG_FRESH_TAGS) == 0);
	if (compares && !early)
		unit_check(s, &u, &e);
	if (e.type != WEFT_SIG_NO_ERROR)
		unit_report(s, &e);
	s->counters.bytes += s->unit_data;
	s->in_block++;
	return true;
}
