/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Streams: find whole units in lists of pieces and give them to unit.c. A unit that is cut is put
 * together in the stream first: sums over whole blocks are faster than over the payloads of flits
 * (signature.md section 4.3), and tags and poison are known before any byte goes out. Hot path.
 */

#include "unit_priv.h"

#include <errno.h>

/* Masks of bits, by section 2.2, as masks of signature bytes, byte 0 lowest. */
static uint64_t
stream_bytes(const struct weft_sig_spec *d, uint8_t mask)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < d->sig_len; i++) {
		const unsigned int bit = d->is_dif ? 7 - i : i + 8 - d->sig_len;

		if ((mask >> bit & 1) != 0)
			bytes |= UINT64_C(0xFF) << 8 * i;
	}
	return bytes;
}

static uint64_t
stream_guard_bytes(const struct weft_sig_spec *d)
{
	return stream_bytes(d, d->is_dif ? WEFT_SIG_MASK_GUARD : UINT8_MAX);
}

/* The plan: it follows from the attributes, once for all units. */
static void
stream_plan(struct weft_sig_stream *s, const struct weft_sig_config *c)
{
	s->in = c->spec[s->dir == WEFT_SIG_TX ? WEFT_SIG_MEM : WEFT_SIG_WIRE];
	s->out = c->spec[s->dir == WEFT_SIG_TX ? WEFT_SIG_WIRE : WEFT_SIG_MEM];
	s->check_bytes = stream_bytes(&s->in, c->check_mask);
	s->copy_bytes = stream_bytes(&s->out, c->copy_mask);
	s->out_bytes = stream_bytes(&s->out, UINT8_MAX);
	s->checks_guard = (s->check_bytes & stream_guard_bytes(&s->in)) != 0;
	s->makes_guard = (stream_guard_bytes(&s->out) & ~s->copy_bytes) != 0;
	s->same_sum = s->makes_guard && s->in.sig_len != 0 && s->in.kind == s->out.kind &&
	              s->in.begin == s->out.begin && s->in.block == s->out.block;
	s->unit_data = s->in.sig_len != 0 ? s->in.block : s->out.block;
	s->unit = s->unit_data + s->in.sig_len;
	sig_run_plan(s);
}

/* Place the first block in the output too. Data before it: block0 * unit_data bytes. */
static int
stream_place(struct weft_sig_stream *s, uint64_t block0)
{
	const uint64_t before = block0 * s->unit_data;

	if (s->unit_data != 0 && block0 > UINT64_MAX / s->unit)
		return -EINVAL;
	s->in_block = s->out_block = block0;
	if (s->in.sig_len == 0 || s->out.sig_len == 0)
		return 0;
	s->out_block = before / s->out.block;
	return before % s->out.block == 0 ? 0 : -EINVAL;
}

int
weft_sig_begin(struct weft_sig_stream *s, struct weft_sig_key *key, enum weft_sig_dir dir,
	uint64_t block0, uint32_t flags)
{
	if ((flags & ~(WEFT_SIG_STOP | WEFT_SIG_POISON_BAD | WEFT_SIG_FRESH_TAGS)) != 0)
		return -EINVAL;
	if (dir != WEFT_SIG_TX && dir != WEFT_SIG_RX)
		return -EINVAL;
	s->key = key;
	s->kernel = key->kernel;
	s->dir = (uint8_t)dir;
	s->flags = flags;
	stream_plan(s, &key->now);
	s->is_stopped = s->filling.is_escaped = s->filling.is_poisoned = s->pending.is_poisoned =
		false;
	s->filling.sum = s->out.begin;
	s->filling.pos = 0;
	s->in_marks = s->in_len = s->pending.from = s->pending.to = 0;
	s->counters = (struct weft_sig_counters){ 0 };
	return stream_place(s, block0);
}

/* Bytes of the piece that comes next; after the last, 0. Steps over pieces that are done. */
static size_t
stream_list_room(struct weft_sig_list *l)
{
	for (; l->at < l->n; l->at++, l->off = 0)
		if (l->off < l->piece[l->at].len)
			return l->piece[l->at].len - l->off;
	return 0;
}

static uint8_t *
stream_list_here(const struct weft_sig_list *l)
{
	return (uint8_t *)l->piece[l->at].base + l->off;
}

static uint32_t
stream_list_marks(const struct weft_sig_list *l)
{
	return l->piece[l->at].flags & (WEFT_SIG_PIECE_POISONED | WEFT_SIG_PIECE_LOST);
}

static void
stream_list_advance(struct weft_sig_list *l, size_t len)
{
	l->off += len;
	l->done += len;
}

static void
stream_list_wrote(struct weft_sig_list *l, size_t len, bool is_poisoned)
{
	if (is_poisoned && len != 0)
		l->piece[l->at].flags |= WEFT_SIG_PIECE_POISONED;
	stream_list_advance(l, len);
}

static void
stream_list_read(struct weft_sig_list *l, uint8_t *dst, size_t len)
{
	if ((stream_list_marks(l) & WEFT_SIG_PIECE_LOST) != 0)
		memset(dst, 0, len);
	else
		memcpy(dst, stream_list_here(l), len);
}

/* Bring out what waits. True if nothing does any more. */
static bool
stream_write_held(struct weft_sig_stream *s, struct weft_sig_list *out)
{
	while (s->pending.from < s->pending.to) {
		const size_t room = stream_list_room(out), left = s->pending.to - s->pending.from;
		const size_t len = left < room ? left : room;

		if (len == 0)
			return false;
		memcpy(stream_list_here(out), s->out_buf + s->pending.from, len);
		stream_list_wrote(out, len, s->pending.is_poisoned);
		s->pending.from += (uint32_t)len;
	}
	s->pending.from = s->pending.to = 0;
	return true;
}

/* One whole unit to where it goes, or to where it waits for room. */
static void
stream_write_unit(
	struct weft_sig_stream *s, const uint8_t *src, uint32_t marks, struct weft_sig_list *out)
{
	const uint32_t len = sig_unit_out_len(s);
	const bool is_direct = stream_list_room(out) >= len;
	uint8_t *dst = is_direct ? stream_list_here(out) : s->out_buf;
	bool is_poisoned;

	if (!sig_unit_move(s, src, marks, dst, &is_poisoned)) {
		s->is_stopped = true;
		return;
	}
	if (is_direct) {
		stream_list_wrote(out, len, is_poisoned);
		return;
	}
	s->pending.is_poisoned = is_poisoned;
	s->pending.to = len;
	stream_write_held(s, out);
}

/* As many units as lie in one piece of each list and are in order. */
static void
stream_run_units(struct weft_sig_stream *s, struct weft_sig_list *in, struct weft_sig_list *out)
{
	const size_t step = s->unit_data + s->out.sig_len;
	const size_t from = stream_list_room(in) / s->unit, to = stream_list_room(out) / step;
	const size_t n = from < to ? from : to;

	if (n != 0) {
		const size_t done = s->run(s, stream_list_here(in), stream_list_here(out), n);

		stream_list_advance(in, done * s->unit);
		stream_list_wrote(out, done * step, false);
	}
}

/* Add to the unit in the stream. */
static void
stream_gather_unit(struct weft_sig_stream *s, struct weft_sig_list *in)
{
	const size_t room = stream_list_room(in), want = s->unit - s->in_len;
	const size_t len = room < want ? room : want;

	stream_list_read(in, s->in_buf + s->in_len, len);
	s->in_marks |= stream_list_marks(in);
	s->in_len += (uint32_t)len;
	stream_list_advance(in, len);
}

static void
stream_push_units(struct weft_sig_stream *s, struct weft_sig_list *in, struct weft_sig_list *out)
{
	size_t room;

	while (!s->is_stopped && stream_write_held(s, out) && stream_list_room(in) != 0) {
		if (s->run != NULL && s->in_len == 0 && stream_list_marks(in) == 0)
			stream_run_units(s, in, out);
		room = stream_list_room(in);
		if (room == 0)
			break;
		if (s->in_len == 0 && room >= s->unit &&
			(stream_list_marks(in) & WEFT_SIG_PIECE_LOST) == 0) {
			const uint8_t *src = stream_list_here(in);

			stream_write_unit(s, src, stream_list_marks(in), out);
			stream_list_advance(in, s->unit);
			continue;
		}
		stream_gather_unit(s, in);
		if (s->in_len == s->unit) {
			stream_write_unit(s, s->in_buf, s->in_marks, out);
			s->in_len = s->in_marks = 0;
		}
	}
}

/* Neither side has a signature. Poison is noticed once a stream. */
static void
stream_push_plain(struct weft_sig_stream *s, struct weft_sig_list *in, struct weft_sig_list *out)
{
	size_t from, to;

	while ((from = stream_list_room(in)) != 0 && (to = stream_list_room(out)) != 0) {
		const size_t len = from < to ? from : to;
		const uint32_t marks = stream_list_marks(in);

		stream_list_read(in, stream_list_here(out), len);
		stream_list_advance(in, len);
		stream_list_wrote(out, len, marks != 0);
		if (marks != 0) {
			const struct weft_sig_error e = {
				.type = (marks & WEFT_SIG_PIECE_LOST) != 0 ? WEFT_SIG_LOST
				                                           : WEFT_SIG_POISONED,
				.domain = s->dir == WEFT_SIG_TX ? WEFT_SIG_MEM : WEFT_SIG_WIRE,
				.offset = s->counters.bytes,
			};

			s->counters.errors[e.type]++;
			sig_key_latch(s->key, &e);
		}
		s->counters.bytes += len;
	}
}

int
weft_sig_push(struct weft_sig_stream *s, struct weft_sig_list *in, struct weft_sig_list *out)
{
	struct weft_sig_list none = { 0 };

	if (in == NULL)
		in = &none;
	if (s->unit == 0)
		stream_push_plain(s, in, out);
	else
		stream_push_units(s, in, out);
	/* A list that is done says so by its place. */
	stream_list_room(in);
	stream_list_room(out);
	return s->is_stopped ? -EBADMSG : 0;
}

size_t
weft_sig_held(const struct weft_sig_stream *s)
{
	return s->pending.to - s->pending.from;
}

size_t
weft_sig_partial(const struct weft_sig_stream *s)
{
	return s->in_len;
}

int
weft_sig_end(struct weft_sig_stream *s)
{
	if (weft_sig_held(s) != 0)
		return -EAGAIN;
	sig_counters_add(&s->key->counters, &s->counters);
	s->counters = (struct weft_sig_counters){ 0 };
	if (s->is_stopped)
		return -EBADMSG;
	return s->in_len != 0 || s->filling.pos != 0 ? -EINVAL : 0;
}
