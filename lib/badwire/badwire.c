/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Frames on a bad wire, see weft_badwire.h. Hot where there is one. */

#include "weft_badwire.h"

#include <rte_cycles.h>

#include "weft_wire.h"

const struct weft_counter weft_badwire_counters[WEFT_BADWIRE_N_COUNTERS] = {
	[WEFT_BADWIRE_N_LATE_FULL] = { "late_full", "frames",
		"Lost: too many frames were late already" },
	[WEFT_BADWIRE_N_NO_BUFFER] = { "no_buffer", "frames",
		"Copies not made: the pool was empty" },
};

void
weft_badwire_init(struct weft_badwire *l, const struct weft_impair_cfg *cfg, bool on)
{
	rte_spinlock_init(&l->lock);
	l->is_on = on;
	l->late_max = WEFT_BADWIRE_LATE_MAX;
	l->cycles_per_ns = (double)rte_get_tsc_hz() / 1e9;
	weft_impair_init(&l->impair, cfg);
}

static void
badwire_history_empty(struct weft_badwire *l)
{
	for (unsigned int i = 0; i < WEFT_IMPAIR_HISTORY_MAX; i++) {
		rte_pktmbuf_free(l->history[i]);
		l->history[i] = NULL;
	}
}

void
weft_badwire_set(struct weft_badwire *l, const struct weft_impair_cfg *cfg)
{
	rte_spinlock_lock(&l->lock);
	weft_impair_set(&l->impair, cfg);
	if (cfg->replay <= 0)
		badwire_history_empty(l);
	rte_spinlock_unlock(&l->lock);
}

void
weft_badwire_empty(struct weft_badwire *l)
{
	struct rte_mbuf *m;

	rte_spinlock_lock(&l->lock);
	while (weft_badwire_peek(l, &m, 1) == 1) {
		rte_pktmbuf_free(m);
		weft_badwire_took(l, 1);
	}
	for (unsigned int i = 0; i < l->n_late; i++)
		rte_pktmbuf_free(l->late[i].m);
	l->n_late = 0;
	badwire_history_empty(l);
	rte_spinlock_unlock(&l->lock);
}

static bool
badwire_is_sooner(const struct weft_badwire_late *a, const struct weft_badwire_late *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void
badwire_late_push(struct weft_badwire *l, struct rte_mbuf *m, uint64_t due)
{
	const struct weft_badwire_late new = { due, l->order++, m };
	unsigned int i, parent;

	if (l->n_late >= l->late_max) {
		rte_pktmbuf_free(m);
		l->count[WEFT_BADWIRE_N_LATE_FULL]++;
		return;
	}
	for (i = l->n_late++; i > 0; i = parent) {
		parent = (i - 1) / 2;
		if (!badwire_is_sooner(&new, &l->late[parent]))
			break;
		l->late[i] = l->late[parent];
	}
	l->late[i] = new;
}

static struct rte_mbuf *
badwire_late_pop(struct weft_badwire *l)
{
	struct rte_mbuf *first = l->late[0].m;
	const struct weft_badwire_late last = l->late[--l->n_late];
	unsigned int i = 0, child;

	for (; (child = 2 * i + 1) < l->n_late; i = child) {
		if (child + 1 < l->n_late &&
			badwire_is_sooner(&l->late[child + 1], &l->late[child]))
			child++;
		if (!badwire_is_sooner(&l->late[child], &last))
			break;
		l->late[i] = l->late[child];
	}
	l->late[i] = last;
	return first;
}

static void
badwire_ready_push(struct weft_badwire *l, struct rte_mbuf *m)
{
	l->ready[(l->first_ready + l->n_ready++) % WEFT_BADWIRE_READY_MAX] = m;
}

uint16_t
weft_badwire_peek(const struct weft_badwire *l, struct rte_mbuf **mbufs, uint16_t n)
{
	if (n > l->n_ready)
		n = (uint16_t)l->n_ready;
	for (unsigned int i = 0; i < n; i++)
		mbufs[i] = l->ready[(l->first_ready + i) % WEFT_BADWIRE_READY_MAX];
	return n;
}

void
weft_badwire_took(struct weft_badwire *l, uint16_t n)
{
	l->first_ready += n;
	l->n_ready -= n;
}

void
weft_badwire_release(struct weft_badwire *l, uint64_t now)
{
	while (l->n_late > 0 && l->late[0].due <= now && l->n_ready < WEFT_BADWIRE_READY_MAX)
		badwire_ready_push(l, badwire_late_pop(l));
}

/* Bytes of its own: what goes out may be written to by its receiver. */
static struct rte_mbuf *
badwire_copy(struct weft_badwire *l, const struct rte_mbuf *m)
{
	struct rte_mbuf *c = rte_pktmbuf_copy(m, m->pool, 0, UINT32_MAX);

	if (c == NULL)
		l->count[WEFT_BADWIRE_N_NO_BUFFER]++;
	return c;
}

/* Damage the flits of a frame. Anything but a whole Weft frame in one segment stays as it is. */
static void
badwire_damage(struct weft_badwire *l, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct weft_wire_hdr h;

	if (m->nb_segs == 1 && weft_wire_parse(frame, m->data_len, &h) == WEFT_OK)
		weft_impair_flits(&l->impair, frame + WEFT_WIRE_FLITS_OFF, h.n_flits);
}

static void
badwire_pass_on(struct weft_badwire *l, struct rte_mbuf *m, uint64_t delay_ns, uint64_t now)
{
	if (m == NULL)
		return;
	if (delay_ns == 0)
		badwire_ready_push(l, m);
	else
		badwire_late_push(l, m, now + (uint64_t)((double)delay_ns * l->cycles_per_ns));
}

static void
badwire_put_one(struct weft_badwire *l, struct rte_mbuf *m, uint64_t now)
{
	const bool keeps = l->impair.cfg.replay > 0;
	struct rte_mbuf *again = NULL, **place;
	struct weft_impair_fate fate;

	weft_impair_frame(&l->impair, &fate);
	if (fate.replay_back != 0)
		again = l->history[(l->kept - fate.replay_back) % WEFT_IMPAIR_HISTORY_MAX];
	if (again != NULL)
		again = badwire_copy(l, again);
	if (fate.drop) {
		rte_pktmbuf_free(m);
		badwire_pass_on(l, again, 0, now);
		return;
	}
	/* These bytes are shared. */
	if (rte_mbuf_refcnt_read(m) > 1 || !RTE_MBUF_DIRECT(m)) {
		struct rte_mbuf *own = badwire_copy(l, m);

		rte_pktmbuf_free(m);
		m = own;
	}
	if (m != NULL)
		badwire_damage(l, m);
	if (keeps) {
		place = &l->history[l->kept++ % WEFT_IMPAIR_HISTORY_MAX];
		rte_pktmbuf_free(*place);
		*place = m != NULL ? badwire_copy(l, m) : NULL;
	}
	if (fate.copies == 2 && m != NULL)
		badwire_pass_on(l, badwire_copy(l, m), fate.delay_ns[1], now);
	badwire_pass_on(l, m, fate.delay_ns[0], now);
	badwire_pass_on(l, again, 0, now);
}

uint16_t
weft_badwire_put(
	struct weft_badwire *l, struct rte_mbuf **mbufs, uint16_t n, uint64_t now, uint64_t *bytes)
{
	uint16_t i = 0;

	weft_badwire_release(l, now);
	for (; i < n && l->n_ready + WEFT_BADWIRE_PER_FRAME <= WEFT_BADWIRE_READY_MAX; i++) {
		*bytes += mbufs[i]->pkt_len;
		if (l->is_on)
			badwire_put_one(l, mbufs[i], now);
		else
			badwire_ready_push(l, mbufs[i]);
	}
	return i;
}
