/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Rx of an end: flits in sequence are decrypted, unpacked and accounted; messages not consumed
 * wait.
 */

#include "link_priv.h"

static void
link_message(void *arg, const struct weft_msg *m)
{
	struct weft_link *e = arg;
	const enum weft_msg_kind kind = (enum weft_msg_kind)m->kind;
	enum weft_credit_class class;
	enum weft_credit_set set;
	struct rx_queue *b;

	if (kind == WEFT_MSG_LLCTRL) {
		e->init_seen |= m->op == WEFT_LLCTRL_INIT_PARAM;
		if (e->fn != NULL)
			e->fn(e->arg, m);
		return;
	}
	if (!e->init_seen) {
		e->count[WEFT_LINK_N_BEFORE_INIT]++;
		return;
	}
	set = link_set_of(kind);
	class = link_class_of(kind);
	if (!weft_credits_arrived(&e->flow, set, class)) {
		e->count[WEFT_LINK_N_NO_CREDIT]++;
		return;
	}
	e->count[WEFT_LINK_N_MESSAGES]++;
	b = &e->rx_queue[kind];
	if (b->n == 0 && e->fn != NULL && e->fn(e->arg, m)) {
		weft_credits_release(&e->flow, set, class);
		return;
	}
	b->msg[(b->head + b->n++) % b->room] = *m;
}

static void
link_credits_arrived(struct weft_link *e, uint16_t crd)
{
	if (crd == 0)
		return;
	if (!e->init_seen)
		e->count[WEFT_LINK_N_BEFORE_INIT]++;
	else if (!weft_credits_crd_arrived(&e->flow, crd))
		e->count[WEFT_LINK_N_BAD_CRD]++;
}

/* With IDE there are none: flits in the clear do not come from the holder of the key. */
static void
link_take_io_flit(struct weft_link *e, const uint8_t *flit, bool skip)
{
	if (e->ide != NULL)
		return;
	if (!e->init_seen)
		e->count[WEFT_LINK_N_BEFORE_INIT]++;
	else if (skip)
		link_io_lost(e->io);
	else
		link_io_flit(e->io, flit);
}

/* Credits first, for the messages that come with them may be answered at once. */
static void
link_unpack(struct weft_link *e, const uint8_t *flit)
{
	const bool was_init_seen = e->init_seen;

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
		return;
	if (was_init_seen)
		link_credits_arrived(e, weft_flit_crd(flit));
	if (!weft_flit_is_empty(flit) &&
		weft_unpack_flit(&e->unpack, flit, link_message, e) != WEFT_OK)
		e->count[WEFT_LINK_N_BAD_SLOT]++;
	if (!was_init_seen)
		link_credits_arrived(e, weft_flit_crd(flit));
}

static void
link_skip_flit(struct weft_link *e, const uint8_t *flit)
{
	weft_unpack_restart(&e->unpack);
	if (flit[0] >> 6 == WEFT_FLIT_CACHEMEM)
		link_credits_arrived(e, weft_flit_crd(flit));
}

static void
link_take_flit(struct weft_link *e, const uint8_t *flit, bool skip)
{
	if (flit[0] >> 6 == WEFT_FLIT_IO)
		link_take_io_flit(e, flit, skip);
	else if (skip)
		link_skip_flit(e, flit);
	else
		link_unpack(e, flit);
}

const struct weft_link_rx_ide *
weft_link_rx_ide(struct weft_link *e)
{
	struct link_ide_rx *rx = &e->ide->rx;

	if (__builtin_expect(rx->apart != NULL, 0))
		link_ide_rx_hear(rx);
	return &rx->now;
}

bool
weft_link_rx_opened(struct weft_link *e, const struct weft_ide_run *run)
{
	const bool failed = link_ide_opened(&e->ide->rx, run);

	if (failed && e->ide->apart == NULL)
		e->ide->is_broken = true;
	return failed;
}

/* Decrypt what was taken, and go on with what that lets go. */
static void
link_open_taken(struct weft_link *e)
{
	struct link_ide_hold *h = e->ide_hold;
	struct weft_ide_run run;
	bool skip;

	while (h != NULL && link_ide_open(e->ide, h, &run) != 0) {
		weft_link_rx_opened(e, &run);
		for (; run.release > 0; run.release--) {
			const uint8_t *flit = link_ide_released(h, &skip);

			link_take_flit(e, flit, skip);
		}
	}
}

/* With IDE that the end opens it waits for link_open_taken(). */
static void
link_take(struct weft_link *e, const uint8_t *flit, bool skip)
{
	if (e->ide_hold == NULL) {
		link_take_flit(e, flit, skip);
		return;
	}
	if (link_ide_take(e->ide_hold, flit, skip))
		return;
	link_open_taken(e);
	link_ide_take(e->ide_hold, flit, skip);
}

void
weft_link_deliver(struct weft_link *e, const uint8_t *flits, uint64_t live, uint64_t refused,
	weft_link_msg_fn fn, void *arg)
{
	e->fn = fn;
	e->arg = arg;
	for (uint64_t left = live; left != 0; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(left);

		link_take(e, flits + i * (size_t)WEFT_FLIT_LEN, (refused & WEFT_BIT64(i)) != 0);
	}
	link_open_taken(e);
}

enum weft_verdict
weft_link_receive(struct weft_link *e, const struct weft_wire_hdr *h, const uint8_t *flits,
	const uint64_t *syndrome, uint64_t skip, uint64_t now_ns, enum weft_session_event *ev,
	struct weft_llr_rx_result *in, weft_link_msg_fn fn, void *arg)
{
	enum weft_verdict v = weft_link_frame(e, h->session, now_ns, ev);
	struct weft_llr_rx_result none;
	const uint8_t *flit;

	if (in == NULL)
		in = &none;
	*in = (struct weft_llr_rx_result){ 0 };
	if (v != WEFT_OK)
		return v;
	weft_llr_rx(e->llr, flits, syndrome, h->n_flits, skip, now_ns, in);
	weft_link_deliver(e, flits, in->deliver, 0, fn, arg);
	while ((flit = weft_llr_rx_next(e->llr)) != NULL)
		link_take(e, flit, false);
	link_open_taken(e);
	return WEFT_OK;
}

const struct weft_msg *
weft_link_peek(const struct weft_link *e, enum weft_msg_kind kind)
{
	const struct rx_queue *b = &e->rx_queue[kind];

	return b->n == 0 ? NULL : &b->msg[b->head];
}

void
weft_link_pop(struct weft_link *e, enum weft_msg_kind kind)
{
	struct rx_queue *b = &e->rx_queue[kind];

	assert(b->n != 0);
	b->head = (uint16_t)((b->head + 1) % b->room);
	b->n--;
	weft_credits_release(&e->flow, link_set_of(kind), link_class_of(kind));
}

const struct weft_io_tlp *
weft_link_io_peek(const struct weft_link *e, enum weft_io_class c)
{
	return link_io_peek(e->io, c);
}

void
weft_link_io_pop(struct weft_link *e, enum weft_io_class c)
{
	link_io_pop(e->io, c);
}
