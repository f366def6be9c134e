/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Slots of a trace, found by the buffer of the frame: a frame goes from segment to segment in the
 * buffer that it came in. A slot is written by the lcore that has the frame alone; `state` hands it
 * on. Runs per burst of a pipeline that is traced, and of no other.
 */

#include "trace_priv.h"

#include <stdlib.h>

#include <rte_cycles.h>

enum trace_state { TRACE_FREE, TRACE_UNDER_WAY, TRACE_DONE };

struct weft_trace {
	struct weft_trace_cfg cfg;
	uint64_t missed; /* the first segment's lcore, as the next one */
	uint64_t n_taken;
	struct weft_trace_frame slot[WEFT_TRACE_SLOTS];
};

const char *const weft_trace_end_words[] = {
	[WEFT_TRACE_PASSED] = "passed",
	[WEFT_TRACE_DELIVERED] = "delivered",
	[WEFT_TRACE_DROPPED] = "dropped",
	[WEFT_TRACE_KEPT] = "kept",
};

struct weft_trace *
weft_trace_new(const struct weft_trace_cfg *cfg)
{
	struct weft_trace *t = calloc(1, sizeof(*t));

	if (t != NULL)
		t->cfg = *cfg;
	return t;
}

void
weft_trace_free(struct weft_trace *t)
{
	free(t);
}

static enum trace_state
trace_state(const struct weft_trace_frame *f)
{
	return (enum trace_state)__atomic_load_n(&f->state, __ATOMIC_ACQUIRE);
}

static void
trace_set_state(struct weft_trace_frame *f, enum trace_state state)
{
	__atomic_store_n(&f->state, (unsigned int)state, __ATOMIC_RELEASE);
}

/* --- which frames --- */

static void
trace_copy(struct weft_trace_frame *f, const struct rte_mbuf *m)
{
	f->len = m->data_len < sizeof(f->bytes) ? m->data_len : (uint32_t)sizeof(f->bytes);
	memcpy(f->bytes, rte_pktmbuf_mtod(m, const uint8_t *), f->len);
}

struct trace_search {
	int kind;
	bool is_found;
};

static void
trace_look_at_message(void *arg, const struct weft_msg *m)
{
	struct trace_search *s = arg;

	s->is_found |= m->kind == s->kind;
}

static bool
trace_has_flit(const struct weft_trace_cfg *cfg, const struct weft_trace_frame *f,
	const struct weft_wire_hdr *h)
{
	const enum weft_form form =
		h->mode == WEFT_MODE_RXL ? WEFT_FORM_PBR : (enum weft_form)h->form;
	unsigned int data = f->data_slots == WEFT_TRACE_UNKNOWN ? 0 : f->data_slots;
	struct trace_search s = { .kind = cfg->message };

	for (unsigned int i = 0; i < h->n_flits; i++) {
		const uint8_t *flit = f->bytes + WEFT_WIRE_FLITS_OFF + i * (size_t)WEFT_FLIT_LEN;
		const bool is_type =
			cfg->flit_type == WEFT_TRACE_ANY || flit[0] >> 6 == cfg->flit_type;

		if (cfg->message != WEFT_TRACE_ANY)
			weft_flit_walk(flit, form, &data, trace_look_at_message, &s);
		if (is_type && (cfg->message == WEFT_TRACE_ANY || s.is_found))
			return true;
	}
	return false;
}

/* Of what is no frame of ours nothing is known but where it came in. */
static bool
trace_is_meant(const struct weft_trace_cfg *cfg, const struct weft_trace_frame *f)
{
	const bool any_flit = cfg->flit_type == WEFT_TRACE_ANY && cfg->message == WEFT_TRACE_ANY;
	struct weft_wire_hdr h;

	if (weft_wire_parse(f->bytes, f->len, &h) != WEFT_OK)
		return any_flit && cfg->pid == WEFT_TRACE_ANY && cfg->frame_kind == WEFT_TRACE_ANY;
	if (cfg->pid != WEFT_TRACE_ANY && h.spid != cfg->pid && h.dpid != cfg->pid)
		return false;
	if (cfg->frame_kind != WEFT_TRACE_ANY && h.kind != cfg->frame_kind)
		return false;
	return any_flit || trace_has_flit(cfg, f, &h);
}

/* --- slots --- */

static struct weft_trace_frame *
trace_take_slot(struct weft_trace *t)
{
	struct weft_trace_frame *f = t->slot, *end = t->slot + WEFT_TRACE_SLOTS;

	while (f < end && trace_state(f) != TRACE_FREE)
		f++;
	if (f == end) {
		__atomic_store_n(&t->missed, t->missed + 1, __ATOMIC_RELAXED);
		return NULL;
	}
	memset(f, 0, offsetof(struct weft_trace_frame, bytes));
	f->data_slots = WEFT_TRACE_UNKNOWN;
	f->order = t->n_taken++;
	return f;
}

/* The frame leaves: it is for the reader to see, if it is one that is meant. */
static void
trace_finish(struct weft_trace *t, struct weft_trace_frame *f, enum weft_trace_end end)
{
	const struct weft_frame *frame = rte_mbuf_to_priv((struct rte_mbuf *)(uintptr_t)f->m);
	bool is_meant = true;

	f->end = (uint8_t)end;
	if (f->is_out) {
		is_meant = end == WEFT_TRACE_PASSED && frame->out_port == t->cfg.out_port;
		if (is_meant)
			trace_copy(f, f->m);
	} else if (end != WEFT_TRACE_KEPT) { /* else it may be somebody else's by now */
		f->corrected = frame->corrected;
		f->discard = frame->discard;
	}
	is_meant = is_meant && trace_is_meant(&t->cfg, f);
	trace_set_state(f, is_meant ? TRACE_DONE : TRACE_FREE);
}

static bool
trace_holds(struct rte_mbuf *const *pkt, uint16_t n, const struct rte_mbuf *m)
{
	for (uint16_t i = 0; i < n; i++)
		if (pkt[i] == m)
			return true;
	return false;
}

/* --- a burst --- */

static void
trace_take_up(struct weft_trace *t, struct rte_mbuf *m)
{
	const bool comes = weft_frame(m)->in_port == t->cfg.in_port;
	struct weft_trace_frame *f;

	if (!comes && t->cfg.out_port < 0)
		return;
	f = trace_take_slot(t);
	if (f == NULL)
		return;
	f->m = m;
	f->tsc = rte_rdtsc();
	f->is_out = !comes;
	if (comes)
		trace_copy(f, m);
	trace_set_state(f, TRACE_UNDER_WAY);
}

void
trace_begin(
	struct weft_trace *t, const struct weft_burst *b, unsigned int first, struct trace_burst *w)
{
	for (uint16_t i = 0; first == 0 && i < b->n; i++)
		trace_take_up(t, b->pkt[i]);
	w->n = 0;
	for (unsigned int i = 0; i < WEFT_TRACE_SLOTS; i++)
		if (trace_state(&t->slot[i]) == TRACE_UNDER_WAY &&
			trace_holds(b->pkt, b->n, t->slot[i].m))
			w->frame[w->n++] = &t->slot[i];
}

static void
trace_no_message(void *arg, const struct weft_msg *m)
{
	(void)arg;
	(void)m;
}

/* Data that the end waits for, as it is when the burst came as far as @m. */
static uint8_t
trace_data_slots(
	const struct weft_burst *b, const struct rte_mbuf *m, const struct weft_conn_dir *c)
{
	unsigned int slots = weft_link_data_slots(c->end);

	for (uint16_t i = 0; i < b->n && b->pkt[i] != m; i++) {
		const struct weft_frame *f = weft_frame(b->pkt[i]);

		if (f->conn != c)
			continue;
		for (uint64_t left = f->in_order & ~f->discard; left != 0; left &= left - 1)
			weft_flit_walk(weft_frame_flits(b->pkt[i]) +
					       (size_t)__builtin_ctzll(left) * WEFT_FLIT_LEN,
				weft_link_form(c->end), &slots, trace_no_message, NULL);
	}
	return (uint8_t)slots;
}

void
trace_before(const struct weft_burst *b, const struct weft_stage *s, struct trace_burst *w)
{
	for (unsigned int i = 0; s->order == WEFT_STAGE_DELIVER && i < w->n; i++) {
		struct weft_trace_frame *f = w->frame[i];
		const struct weft_frame *frame = weft_frame((struct rte_mbuf *)(uintptr_t)f->m);

		/* Where flits before it are missing, what data is under way is not known. */
		if (frame->conn != NULL && frame->conn->end != NULL && (frame->in_order & 1) != 0)
			f->data_slots = trace_data_slots(b, f->m, frame->conn);
	}
}

void
trace_after(struct weft_trace *t, const struct weft_burst *b, const struct weft_trace_step *step,
	enum weft_verdict verdict, struct trace_burst *w)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < w->n; i++) {
		struct weft_trace_frame *f = w->frame[i];

		f->step[f->n_steps++] = *step;
		if (trace_holds(b->pkt, b->n, f->m)) {
			w->frame[left++] = f;
		} else if (!trace_holds(b->drop, b->n_drop, f->m)) {
			trace_finish(t, f, WEFT_TRACE_KEPT);
		} else if (step->stage->order == WEFT_STAGE_DELIVER) {
			trace_finish(t, f, WEFT_TRACE_DELIVERED);
		} else {
			f->verdict = (uint8_t)verdict;
			trace_finish(t, f, WEFT_TRACE_DROPPED);
		}
	}
	w->n = left;
}

void
trace_end(struct weft_trace *t, const struct trace_burst *w)
{
	for (unsigned int i = 0; i < w->n; i++)
		trace_finish(t, w->frame[i], WEFT_TRACE_PASSED);
}

/* --- the reader --- */

const struct weft_trace_frame *
weft_trace_next(struct weft_trace *t)
{
	const struct weft_trace_frame *first = NULL;

	for (unsigned int i = 0; i < WEFT_TRACE_SLOTS; i++)
		if (trace_state(&t->slot[i]) == TRACE_DONE &&
			(first == NULL || t->slot[i].order < first->order))
			first = &t->slot[i];
	return first;
}

void
weft_trace_took(struct weft_trace *t, const struct weft_trace_frame *f)
{
	trace_set_state(&t->slot[f - t->slot], TRACE_FREE);
}

uint64_t
weft_trace_missed(const struct weft_trace *t)
{
	return __atomic_load_n(&t->missed, __ATOMIC_RELAXED);
}
