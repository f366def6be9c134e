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
unpack_seen(struct weft_unpacker *u, unsigned int kind)
{
	if (u->seen != NULL)
		u->seen[kind]++;
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

/* Which trailer follows the data of message @p i of the @p n from one header slot. */
static uint8_t
unpack_trailer_for(const struct weft_msg *msgs, unsigned int n, unsigned int i)
{
	if (msgs[i].kind != WEFT_MSG_S2M_DRS)
		return msgs[i].trp ? TRAILER_OWN : TRAILER_NONE;
	/* DRS: one slot for all, after the first message's data. */
	if (i != 0)
		return TRAILER_NONE;
	for (unsigned int k = 0; k < n; k++)
		if (msgs[k].trp)
			return (uint8_t)n;
	return TRAILER_NONE;
}

/* Queue the messages of a data header slot; false if that is more than may be pending. */
static bool
unpack_queue(struct weft_unpacker *u, const struct weft_msg *msgs, unsigned int n, bool is_h)
{
	if (is_h && u->n_slots > WEFT_PENDING_SLOTS_H)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int at = unpack_ring(u, u->n_pending);

		/* 16 slots are of 4 messages and a part of a fifth, and one header slot adds 4. */
		assert(u->n_pending < WEFT_UNPACK_PENDING_MAX);
		u->pending[at] = msgs[i];
		u->trailer[at] = unpack_trailer_for(msgs, n, i);
		u->n_slots = (uint8_t)(u->n_slots + DATA_SLOTS + (u->trailer[at] != TRAILER_NONE));
		u->n_pending++;
	}
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

/* One data or trailer slot of the message whose turn it is. */
static void
unpack_data(struct weft_unpacker *u, const uint8_t *slot, weft_msg_fn fn, void *arg)
{
	struct weft_msg *m = &u->pending[u->head];
	unsigned int slots = DATA_SLOTS + (u->trailer[u->head] != TRAILER_NONE);

	if (u->head_slots < DATA_SLOTS)
		memcpy(m->data + u->head_slots * WEFT_FLIT_SLOT_LEN, slot, WEFT_FLIT_SLOT_LEN);
	else
		unpack_trailer(u, slot);
	u->head_slots++;
	u->n_slots--;
	if (u->head_slots < slots)
		return;
	m->poison |= u->late_poison & 1;
	u->late_poison >>= 1;
	u->head = (uint8_t)unpack_ring(u, 1);
	u->n_pending--;
	u->head_slots = 0;
	unpack_deliver(fn, arg, m);
}

/* Offsets above 7 name nothing. */
static void
unpack_poison(struct weft_unpacker *u, const uint8_t *flit)
{
	const unsigned int offset = flit[WEFT_FLIT_H_OFF + WEFT_LLCTRL_PAYLOAD_OFF] & 0xF;

	u->late_poison |= (uint8_t)(1u << offset);
}

/* One header slot. False: the walk cannot go on. */
static bool
unpack_header(struct weft_unpacker *u, const uint8_t *slot, bool is_h, weft_msg_fn fn, void *arg)
{
	struct weft_msg msgs[WEFT_MSG_PER_SLOT];
	unsigned int n;

	if (weft_slot_decode(slot, is_h, (enum weft_form)u->form, msgs, &n) != WEFT_OK)
		return false;
	if (n != 0 && slot_kind_has_data(msgs[0].kind)) {
		if (!unpack_queue(u, msgs, n, is_h))
			return false;
	} else {
		for (unsigned int i = 0; i < n; i++)
			unpack_deliver(fn, arg, &msgs[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		unpack_seen(u, msgs[i].kind);
	return true;
}

enum weft_verdict
weft_unpack_flit(struct weft_unpacker *u, const uint8_t *flit, weft_msg_fn fn, void *arg)
{
	int llctrl = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);
	unsigned int s = 0;

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM || weft_flit_is_empty(flit))
		return WEFT_OK;
	if (llctrl >= 0) {
		struct weft_msg m = { .kind = WEFT_MSG_LLCTRL, .op = (uint8_t)llctrl };

		if (llctrl == WEFT_LLCTRL_POISON)
			unpack_poison(u, flit);
		unpack_seen(u, WEFT_MSG_LLCTRL);
		unpack_deliver(fn, arg, &m);
		if (llctrl != WEFT_LLCTRL_IDE_MAC)
			return WEFT_OK;
		s = 1;
	}
	for (; s < WEFT_FLIT_SLOTS; s++) {
		const uint8_t *slot = weft_flit_slot_const(flit, s);

		if (s != 0 && u->n_pending != 0) {
			unpack_data(u, slot, fn, arg);
		} else if (!unpack_header(u, slot, s == 0, fn, arg)) {
			/*
			 * The slots after this one go unread, and pending data may be among them:
			 * to go on counting would take the next flit's slots for it.
			 */
			weft_unpack_restart(u);
			return WEFT_DROP_SLOT_FORMAT;
		}
	}
	return WEFT_OK;
}
