/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Walks the slots of a stream of flits and hands on whole messages. Data slots have no format of
 * their own: they are known by counting what the headers before them announced (wire-formats.md
 * section 4.4). Every count has a bound that does not come from the wire.
 */

#include "slots.h"

void
weft_unpack_init(struct weft_unpacker *u, enum weft_form form, uint64_t *seen)
{
	u->form = (uint8_t)form;
	u->seen = seen;
	weft_unpack_restart(u);
}

void
weft_unpack_restart(struct weft_unpacker *u)
{
	u->head = 0;
	u->n_pending = 0;
	u->n_slots = 0;
	u->head_slots = 0;
	u->late_poison = 0;
}

static void
unpack_seen(struct weft_unpacker *u, unsigned int kind, unsigned int n)
{
	if (u->seen != NULL)
		u->seen[kind] += n;
}

static void
unpack_deliver(weft_msg_fn fn, void *arg, const struct weft_msg *m)
{
	if (fn != NULL)
		fn(arg, m);
}

static unsigned int
unpack_ring(const struct weft_unpacker *u, unsigned int i)
{
	return (u->head + i) % WEFT_UNPACK_PENDING_MAX;
}

/* The messages of a data header slot wait for their data; false if that is more than may be. */
static bool
unpack_data_header(
	struct weft_unpacker *u, const struct slot_format *s, struct slot_bits b, bool is_h)
{
	const struct slot_codec *c = &slot_codecs[s->kind][u->form];
	const bool is_drs = s->kind == WEFT_MSG_S2M_DRS;
	const unsigned int first = u->n_pending;
	unsigned int n = 0, trailers = 0;

	/* 16 slots are of 4 messages and a part of a fifth, and one header slot adds 4. */
	assert(first + s->n <= WEFT_UNPACK_PENDING_MAX);
	for (unsigned int i = 0; i < s->n; i++) {
		const unsigned int at = unpack_ring(u, first + n);

		if (!slot_next(&b, c, &u->pending[at]))
			continue;
		n++;
		trailers += u->pending[at].trp;
		u->trailer[at] = u->pending[at].trp && !is_drs ? TRAILER_OWN : TRAILER_NONE;
	}
	if (n != 0 && is_h && u->n_slots > WEFT_PENDING_SLOTS_H)
		return false;
	/* DRS: one slot for all, after the first message's data. */
	if (is_drs && trailers != 0) {
		u->trailer[unpack_ring(u, first)] = (uint8_t)n;
		trailers = 1;
	}
	u->n_slots = (uint8_t)(u->n_slots + DATA_SLOTS * n + trailers);
	u->n_pending = (uint8_t)(first + n);
	unpack_seen(u, s->kind, n);
	return true;
}

static void
unpack_trailer(struct weft_unpacker *u, const uint8_t *slot)
{
	struct weft_msg *m = &u->pending[u->head];
	unsigned int group = u->trailer[u->head], at = 0;

	if (group == TRAILER_OWN) {
		if (slot_trailer_has_enables(m))
			m->byte_enables = weft_get_le64(slot);
		if (m->kind != WEFT_MSG_D2H_DH)
			m->emd = weft_get_le32(slot + (slot_trailer_has_enables(m) ? 8 : 0));
		return;
	}
	for (unsigned int i = 0; i < group; i++) {
		m = &u->pending[unpack_ring(u, i)];
		if (m->trp) {
			m->emd = weft_get_le32(slot + at);
			at += 4;
		}
	}
}

/*
 * Data or the trailer of the message whose turn it is, of @p left slots that follow.
 *
 * @return slots used, 1 or more
 */
static unsigned int
unpack_data(
	struct weft_unpacker *u, const uint8_t *slot, unsigned int left, weft_msg_fn fn, void *arg)
{
	const bool has_trailer = u->trailer[u->head] != TRAILER_NONE;
	struct weft_msg *m = &u->pending[u->head];
	uint8_t *at = m->data + u->head_slots * WEFT_FLIT_SLOT_LEN;
	unsigned int n = 1;

	if (u->head_slots == 0 && left >= DATA_SLOTS) {
		n = DATA_SLOTS;
		memcpy(m->data, slot, WEFT_MSG_DATA_LEN);
	} else if (u->head_slots < DATA_SLOTS) {
		memcpy(at, slot, WEFT_FLIT_SLOT_LEN);
	} else {
		unpack_trailer(u, slot);
	}
	u->head_slots = (uint8_t)(u->head_slots + n);
	u->n_slots = (uint8_t)(u->n_slots - n);
	if (u->head_slots < DATA_SLOTS + has_trailer)
		return n;
	m->poison |= u->late_poison & 1;
	u->late_poison >>= 1;
	u->head = (uint8_t)unpack_ring(u, 1);
	u->n_pending--;
	u->head_slots = 0;
	unpack_deliver(fn, arg, m);
	return n;
}

/* Offsets above 7 name nothing. */
static void
unpack_poison(struct weft_unpacker *u, const uint8_t *flit)
{
	const unsigned int offset = flit[WEFT_FLIT_H_OFF + WEFT_LLCTRL_PAYLOAD_OFF] & 0xF;

	u->late_poison |= (uint8_t)(1u << offset);
}

/* One header slot. False: the walk cannot go on. */
static inline __attribute__((always_inline)) bool
unpack_header(struct weft_unpacker *u, const uint8_t *slot, bool is_h, weft_msg_fn fn, void *arg)
{
	const struct slot_format *s = &slot_formats[u->form][is_h][weft_slot_fmt(slot)];
	struct slot_bits b = slot_messages(slot, is_h);
	const unsigned int n = (unsigned int)s->n + s->n2;
	struct weft_msg m __attribute__((uninitialized)); /* decoded before it is read */

	if (n == 0)
		return false;
	if (slot_kind_has_data(s->kind))
		return unpack_data_header(u, s, b, is_h);
	for (unsigned int i = 0;;) {
		const unsigned int kind = i < s->n ? s->kind : s->kind2;
		const struct slot_codec *c = &slot_codecs[kind][u->form];

		if ((b.lo & 1) != 0) {
			c->decode(&m, b);
			unpack_seen(u, kind, 1);
			unpack_deliver(fn, arg, &m);
		}
		if (++i == n)
			return true;
		slot_skip(&b, c->bits);
	}
}

/*
 * The slots after this one go unread, and pending data may be among them: to go on counting would
 * take the next flit's slots for it.
 */
static enum weft_verdict
unpack_lost(struct weft_unpacker *u)
{
	weft_unpack_restart(u);
	return WEFT_DROP_SLOT_FORMAT;
}

static bool
unpack_is_empty(const uint8_t *slot)
{
	return (weft_get_le64(slot) | weft_get_le64(slot + 8)) == 0;
}

enum weft_verdict
weft_unpack_flit(struct weft_unpacker *u, const uint8_t *flit, weft_msg_fn fn, void *arg)
{
	int llctrl = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM || weft_flit_is_empty(flit))
		return WEFT_OK;
	if (llctrl >= 0) {
		struct weft_msg m = { .kind = WEFT_MSG_LLCTRL, .op = (uint8_t)llctrl };

		if (llctrl == WEFT_LLCTRL_POISON)
			unpack_poison(u, flit);
		unpack_seen(u, WEFT_MSG_LLCTRL, 1);
		unpack_deliver(fn, arg, &m);
		if (llctrl != WEFT_LLCTRL_IDE_MAC)
			return WEFT_OK;
	} else if (!unpack_header(u, flit + WEFT_FLIT_H_OFF, true, fn, arg)) {
		return unpack_lost(u);
	}
	for (unsigned int s = 1; s < WEFT_FLIT_SLOTS;) {
		const uint8_t *slot = flit + s * (size_t)WEFT_FLIT_SLOT_LEN;

		if (u->n_pending != 0)
			s += unpack_data(u, slot, WEFT_FLIT_SLOTS - s, fn, arg);
		else if (unpack_is_empty(slot) || unpack_header(u, slot, false, fn, arg))
			s++;
		else
			return unpack_lost(u);
	}
	return WEFT_OK;
}
