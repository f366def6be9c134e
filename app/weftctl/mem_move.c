/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Many bytes of a region, in order. Pieces wait in a ring until all before them are done: what is
 * read is handed on in order, and the first error in the region is the one that is told.
 */

#include "mem_move.h"

#include <string.h>

#include "progress.h"

#define UNDER_WAY 16
#define LOOK_NS (200 * INT64_C(1000000)) /* between looks for a signal */

enum move_state { MOVE_FREE, MOVE_READY, MOVE_OPEN, MOVE_DONE };

struct move_piece {
	enum move_state state;
	int status;
	uint64_t off, bad;
	size_t n;
	uint8_t data[MEM_PIECE];
};

struct move {
	const struct mem_move *m;
	struct move_piece *ring;
	uint64_t first, next; /* pieces under way, counted from the first of all */
	uint64_t at; /* where the next begins */
	bool is_ended; /* there is no next */
	bool is_stopped; /* nobody wants more */
};

static struct move_piece *
move_piece(const struct move *v, uint64_t number)
{
	return &v->ring[number % UNDER_WAY];
}

/* Offset up to which all is done. */
static uint64_t
move_done(const struct move *v)
{
	return v->first != v->next ? move_piece(v, v->first)->off : v->at;
}

/* Pieces end where lines do. False: there are no more. */
static bool
move_prepare(struct move *v, struct move_piece *p)
{
	const uint64_t left = v->m->off + v->m->size - v->at;
	const size_t room = MEM_PIECE - (size_t)(v->at % MEM_PIECE);

	p->off = v->at;
	p->n = left < room ? (size_t)left : room;
	if (v->m->kind == WEFT_OP_WRITE && p->n > 0)
		p->n = v->m->data(v->m->arg, p->data, p->n);
	v->at += p->n;
	p->state = p->n > 0 ? MOVE_READY : MOVE_FREE;
	return p->n > 0;
}

/* Begin what has room. */
static void
move_begin(struct move *v)
{
	while (!v->is_ended && v->next - v->first < UNDER_WAY) {
		struct move_piece *p = move_piece(v, v->next);
		struct weft_op op = {
			.kind = (int)v->m->kind, .region = v->m->r->r, .user = v->next
		};
		int rc;

		if (p->state == MOVE_FREE && !move_prepare(v, p)) {
			v->is_ended = true;
			return;
		}
		op.off = p->off;
		op.buf = p->data;
		op.n = p->n;
		rc = weft_submit(v->m->c->w, &op, 1);
		if (rc < 0)
			ctl_fail_call(v->m->c, v->m->r);
		if (rc == 0)
			return;
		p->state = MOVE_OPEN;
		v->next++;
	}
}

static void
move_wait(struct move *v)
{
	struct weft_done done[UNDER_WAY];
	const int n = weft_wait(v->m->c->w, done, UNDER_WAY, LOOK_NS);

	if (n < 0)
		ctl_fail_call(v->m->c, v->m->r);
	for (int i = 0; i < n; i++) {
		struct move_piece *p = move_piece(v, done[i].user);

		p->state = MOVE_DONE;
		p->status = done[i].status;
		p->bad = done[i].bad;
	}
}

/* Hand on what is done, up to the first that is not. */
static void
move_end(struct move *v)
{
	while (v->first != v->next && !v->is_stopped) {
		struct move_piece *p = move_piece(v, v->first);

		if (p->state != MOVE_DONE)
			break;
		if (p->status != 0)
			ctl_fail_at(v->m->c, v->m->r, p->bad, p->status);
		if (v->m->kind == WEFT_OP_READ)
			v->is_stopped = v->m->data(v->m->arg, p->data, p->n) != p->n;
		p->state = MOVE_FREE;
		v->first++;
		progress_at(p->off + p->n - v->m->off);
	}
}

uint64_t
mem_move(const struct mem_move *m)
{
	static struct move_piece ring[UNDER_WAY]; /* the library's until what is open is done */
	struct move v = { .m = m, .ring = ring, .at = m->off };

	if (!m->is_quiet)
		progress_begin(m->c->verb, m->r->name, m->size);
	while (!v.is_stopped) {
		move_begin(&v);
		if (v.is_ended && v.first == v.next)
			break;
		move_wait(&v);
		move_end(&v);
		ctl_judge_stop(m->c, m->r, move_done(&v));
	}
	progress_clear();
	return v.at - m->off;
}
