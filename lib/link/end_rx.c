/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Rx of an end: flits in sequence are decrypted, unpacked and accounted; messages not consumed
 * wait.
 */

#include "end_priv.h"

static void
end_message(void *arg, const struct weft_msg *m)
{
	struct weft_end *e = arg;
	enum weft_msg_kind kind = (enum weft_msg_kind)m->kind;
	struct box *b;

	if (kind == WEFT_MSG_LLCTRL) {
		e->init_seen |= m->op == WEFT_LLCTRL_INIT_PARAM;
		if (e->fn != NULL)
			e->fn(e->arg, m);
		return;
	}
	if (!e->init_seen) {
		e->count[WEFT_END_N_BEFORE_INIT]++;
		return;
	}
	if (!weft_credits_arrived(&e->flow, end_set_of(kind), end_class_of(kind))) {
		e->count[WEFT_END_N_NO_CREDIT]++;
		return;
	}
	e->count[WEFT_END_N_MESSAGES]++;
	b = &e->box[kind];
	if (b->n == 0 && e->fn != NULL && e->fn(e->arg, m)) {
		weft_credits_release(&e->flow, end_set_of(kind), end_class_of(kind));
		return;
	}
	b->msg[(b->head + b->n++) % b->room] = *m;
}

static void
end_credits_arrived(struct weft_end *e, uint16_t crd)
{
	if (crd == 0)
		return;
	if (!e->init_seen)
		e->count[WEFT_END_N_BEFORE_INIT]++;
	else if (!weft_credits_crd_arrived(&e->flow, crd))
		e->count[WEFT_END_N_BAD_CRD]++;
}

/* With IDE there are none: flits in the clear do not come from the holder of the key. */
static void
end_take_io_flit(struct weft_end *e, const uint8_t *flit, bool skip)
{
	if (e->ide != NULL)
		return;
	if (!e->init_seen)
		e->count[WEFT_END_N_BEFORE_INIT]++;
	else if (skip)
		end_io_lost(e->io);
	else
		end_io_flit(e->io, flit);
}

static void
end_unpack(struct weft_end *e, const uint8_t *flit)
{
	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
		return;
	if (!weft_flit_is_empty(flit) &&
		weft_unpack_flit(&e->unpack, flit, end_message, e) != WEFT_OK)
		e->count[WEFT_END_N_BAD_SLOT]++;
	end_credits_arrived(e, weft_flit_crd(flit));
}

static void
end_skip_flit(struct weft_end *e, const uint8_t *flit)
{
	weft_unpack_restart(&e->unpack);
	if (flit[0] >> 6 == WEFT_FLIT_CACHEMEM)
		end_credits_arrived(e, weft_flit_crd(flit));
}

static void
end_take_flit(struct weft_end *e, const uint8_t *flit, bool skip)
{
	if (flit[0] >> 6 == WEFT_FLIT_IO)
		end_take_io_flit(e, flit, skip);
	else if (skip)
		end_skip_flit(e, flit);
	else
		end_unpack(e, flit);
}

uint32_t
weft_end_rx_ide(const struct weft_end *e, struct weft_ide_stream **stream)
{
	*stream = e->ide == NULL ? NULL : e->ide->rx;
	return e->ide == NULL ? 0 : e->ide->n_streams;
}

void
weft_end_rx_opened(struct weft_end *e, const struct weft_ide_run *run)
{
	const uint64_t keys = e->ide->rx_keys;
	const bool was_broken = e->ide->is_broken;

	end_ide_opened(e->ide, run);
	e->count[WEFT_END_N_IDE_EPOCHS] += run->epochs_good;
	e->count[WEFT_END_N_IDE_REKEYED] += e->ide->rx_keys - keys;
	e->count[WEFT_END_N_IDE_DROPPED] += (uint64_t)run->failed + run->insecure;
	e->count[WEFT_END_N_IDE_FAILURES] += e->ide->is_broken && !was_broken;
}

/* Decrypt what was taken, and go on with what that lets go. */
static void
end_open_taken(struct weft_end *e)
{
	struct end_ide_hold *h = e->ide_hold;
	struct weft_ide_run run;
	bool skip;

	while (h != NULL && end_ide_open(e->ide, h, &run) != 0) {
		weft_end_rx_opened(e, &run);
		for (; run.release > 0; run.release--) {
			const uint8_t *flit = end_ide_released(h, &skip);

			end_take_flit(e, flit, skip);
		}
	}
}

/* With IDE that the end opens it waits for end_open_taken(). */
static void
end_take(struct weft_end *e, const uint8_t *flit, bool skip)
{
	if (e->ide_hold == NULL) {
		end_take_flit(e, flit, skip);
		return;
	}
	if (end_ide_take(e->ide_hold, flit, skip))
		return;
	end_open_taken(e);
	end_ide_take(e->ide_hold, flit, skip);
}

void
weft_end_deliver(struct weft_end *e, const uint8_t *flits, uint64_t live, uint64_t refused,
	weft_end_msg_fn fn, void *arg)
{
	e->fn = fn;
	e->arg = arg;
	for (uint64_t left = live; left != 0; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(left);

		end_take(e, flits + i * (size_t)WEFT_FLIT_LEN, (refused & WEFT_BIT64(i)) != 0);
	}
	end_open_taken(e);
}

enum weft_verdict
weft_end_receive(struct weft_end *e, const struct weft_wire_hdr *h, const uint8_t *flits,
	const uint64_t *syndrome, uint64_t skip, uint64_t now_ns, enum weft_session_event *ev,
	struct weft_llr_rx_result *in, weft_end_msg_fn fn, void *arg)
{
	enum weft_verdict v = weft_end_frame(e, h->session, now_ns, ev);
	struct weft_llr_rx_result none;
	const uint8_t *flit;

	if (in == NULL)
		in = &none;
	*in = (struct weft_llr_rx_result){ 0 };
	if (v != WEFT_OK)
		return v;
	weft_llr_rx(e->llr, flits, syndrome, h->n_flits, skip, now_ns, in);
	weft_end_deliver(e, flits, in->deliver, 0, fn, arg);
	while ((flit = weft_llr_rx_next(e->llr)) != NULL)
		end_take(e, flit, false);
	end_open_taken(e);
	return WEFT_OK;
}

const struct weft_msg *
weft_end_peek(const struct weft_end *e, enum weft_msg_kind kind)
{
	const struct box *b = &e->box[kind];

	return b->n == 0 ? NULL : &b->msg[b->head];
}

void
weft_end_pop(struct weft_end *e, enum weft_msg_kind kind)
{
	struct box *b = &e->box[kind];

	assert(b->n != 0);
	b->head = (uint16_t)((b->head + 1) % b->room);
	b->n--;
	weft_credits_release(&e->flow, end_set_of(kind), end_class_of(kind));
}

const struct weft_io_tlp *
weft_end_io_peek(const struct weft_end *e, enum weft_io_class c)
{
	return end_io_peek(e->io, c);
}

void
weft_end_io_pop(struct weft_end *e, enum weft_io_class c)
{
	end_io_pop(e->io, c);
}
