/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames: which pages of maps are there, and which goes when there is no room. A clock: its hand
 * passes a page once that a thread asked for or stored to (loads of a page that is there are not
 * seen), and takes pages that were only fetched ahead the first time. What a thread asked for last
 * is held until it asks for something else, or for a moment; as much as an instruction may need, if
 * the thread comes back for it. So every thread gets on, also where the limit is one page, which is
 * passed by what is held.
 */

#include "map_priv.h"

#define CACHE_HOLD_NS (100 * 1000 * 1000)
#define CACHE_BAD_MAX 1024
#define CACHE_SOME 16
#define CACHE_RETRY_NS (1000 * 1000 * 1000) /* between two tries to write back what failed */

/* --- pages that are held --- */

static struct map_holder *
cache_holder(struct mapper *k, uint32_t tid)
{
	struct map_holder *oldest = &k->cache.holder[0], *h;

	for (h = k->cache.holder; h < k->cache.holder + MAP_HOLDERS; h++) {
		if (h->tid == tid)
			return h;
		if (h->at_ns < oldest->at_ns)
			oldest = h;
	}
	*oldest = (struct map_holder){ .tid = tid };
	return oldest;
}

void
client_map_hold(struct mapper *k, uint32_t tid, const struct map *m, uint64_t page)
{
	struct map_holder *h = cache_holder(k, tid);
	uint32_t i;

	h->at_ns = k->now_ns;
	for (i = 0; i < MAP_HOLD && (h->m[i] != m || h->page[i] != page); i++)
		;
	if (i == 0) {
		h->keep += h->keep == 0;
		return;
	}
	/* It comes back for one that went: it needs them together. */
	if (i == MAP_HOLD) {
		h->keep = 1;
		i = MAP_HOLD - 1;
	} else if (h->keep < MAP_HOLD) {
		h->keep++;
	}
	memmove(&h->m[1], &h->m[0], i * sizeof(h->m[0]));
	memmove(&h->page[1], &h->page[0], i * sizeof(h->page[0]));
	h->m[0] = m;
	h->page[0] = page;
}

void
client_map_let_go(struct mapper *k, uint32_t tid)
{
	struct map_holder *h;

	for (h = k->cache.holder; h < k->cache.holder + MAP_HOLDERS; h++)
		if (h->tid == tid)
			h->keep = 0;
}

static bool
cache_is_held(const struct mapper *k, const struct map_frame *f)
{
	const struct map_holder *h;
	uint32_t i;

	for (h = k->cache.holder; h < k->cache.holder + MAP_HOLDERS; h++)
		for (i = 0; i < h->keep && k->now_ns - h->at_ns < CACHE_HOLD_NS; i++)
			if (h->page[i] == f->page && h->m[i] == f->m)
				return true;
	return false;
}

/* --- one frame --- */

static struct map_frame *
cache_use(struct mapper *k, struct map *m, uint64_t page)
{
	struct map_frame *f;

	if (k->cache.free != MAP_NONE) {
		f = &k->cache.frame[k->cache.free];
		k->cache.free = f->next;
	} else {
		f = &k->cache.frame[k->cache.n_high++];
	}
	*f = (struct map_frame){ .m = m, .page = page, .next = MAP_NONE };
	m->cell[page] = (uint32_t)(f - k->cache.frame) + 1;
	k->cache.n_used++;
	return f;
}

static void
cache_free(struct mapper *k, struct map_frame *f)
{
	f->m->cell[f->page] = 0;
	k->cache.n_bad -= f->state == MAP_BAD;
	f->state = MAP_FREE;
	f->m = NULL;
	f->next = k->cache.free;
	k->cache.free = (uint32_t)(f - k->cache.frame);
	k->cache.n_used--;
}

void
client_map_begin_busy(struct mapper *k, struct map_frame *f, enum map_state state)
{
	f->state = (uint8_t)state;
	f->m->n_busy++;
	*(state == MAP_FETCHING ? &k->cache.n_fetching : &k->cache.n_writing) += 1;
	k->cache.n_leaving += f->is_leaving;
}

void
client_map_end_busy(struct mapper *k, struct map_frame *f, enum map_state state)
{
	*(f->state == MAP_FETCHING ? &k->cache.n_fetching : &k->cache.n_writing) -= 1;
	k->cache.n_leaving -= f->is_leaving;
	f->is_leaving = false;
	f->m->n_busy--;
	f->state = (uint8_t)state;
}

/* In the map, so that it has to be taken from there. */
static bool
cache_is_mapped(const struct map_frame *f)
{
	return f->state == MAP_CLEAN || f->state == MAP_DIRTY || f->state == MAP_WRITING;
}

void
client_map_run_end(const struct mapper *k, struct map_run *r)
{
	if (r->n > 0)
		client_map_punch(k, r->m, r->page, r->n);
	r->n = 0;
}

void
client_map_release_run(struct mapper *k, struct map_frame *f, struct map_run *r)
{
	if (cache_is_mapped(f)) {
		if (r->n == 0 || r->m != f->m || r->page + r->n != f->page) {
			client_map_run_end(k, r);
			*r = (struct map_run){ .m = f->m, .page = f->page };
		}
		r->n++;
	} else if (f->state == MAP_BAD) {
		client_map_mend(k, f->m, client_map_address(f));
	}
	cache_free(k, f);
}

void
client_map_release(struct mapper *k, struct map_frame *f)
{
	struct map_run run = { 0 };

	client_map_release_run(k, f, &run);
	client_map_run_end(k, &run);
}

/* Without poison each bad page splits the map for the kernel, which has a limit there. */
static void
cache_mend_one(struct mapper *k)
{
	uint32_t i;

	for (i = 0; i < k->cache.n_high && k->cache.n_bad >= CACHE_BAD_MAX; i++)
		if (k->cache.frame[i].state == MAP_BAD && !cache_is_held(k, &k->cache.frame[i]))
			client_map_release(k, &k->cache.frame[i]);
}

/* Of a page that is absent: it is not asked for again until it is forgotten. */
void
client_map_turn_bad(struct mapper *k, struct map_frame *f, int status)
{
	struct map *m = f->m;
	const uint64_t at = client_map_address(f);

	if (!k->has_poison)
		cache_mend_one(k);
	f->status = (int16_t)status;
	f->state = MAP_BAD;
	k->cache.n_bad++;
	k->count.failed++;
	/* Without memory even for that, who waits asks again. */
	if (client_map_poison(k, m, at) != 0) {
		cache_free(k, f);
		client_map_wake(k, at, k->page);
	}
}

void
client_map_turn_dirty(struct mapper *k, struct map_frame *f)
{
	client_map_read_page(k, f, client_map_twin(k, f));
	f->state = MAP_DIRTY;
	f->status = 0;
	f->is_again = true;
	client_map_unprotect(k, client_map_address(f));
}

/* --- room --- */

/* What cannot be written back is tried again, but not at each fault. */
static bool
cache_may_retry(struct mapper *k)
{
	if (k->now_ns < k->cache.retry_ns || k->is_over)
		return false;
	k->cache.retry_ns = k->now_ns + CACHE_RETRY_NS;
	return true;
}

/* A turn of the hand, or two. */
struct cache_sweep {
	struct map_frame *dirty[MAP_BATCH]; /* these begin to be written back */
	uint32_t need, want; /* frames to free, and more if they come at once */
	uint32_t n;
	struct map_run run;
	bool is_held; /* what a thread needs stands in the way */
	bool may_retry;
};

static void
cache_look(struct mapper *k, struct cache_sweep *s, struct map_frame *f)
{
	switch ((enum map_state)f->state) {
	case MAP_FREE:
	case MAP_WRITING: return;
	case MAP_FETCHING: s->is_held |= f->is_wanted; return;
	case MAP_DIRTY:
		/* The hand came by already; or it does not go. */
		if (f->is_leaving || (f->status != 0 && !s->may_retry))
			return;
		break;
	default: break;
	}
	if (s->need == 0 && (f->is_again || f->state == MAP_DIRTY)) {
		s->want = 0;
	} else if (f->is_again) {
		f->is_again = false;
	} else if (cache_is_held(k, f)) {
		s->is_held = true;
	} else if (f->state == MAP_DIRTY) {
		f->is_leaving = true;
		s->dirty[s->n++] = f;
	} else {
		k->count.evicted += f->state != MAP_BAD;
		client_map_release_run(k, f, &s->run);
		s->want--;
		s->need -= s->need > 0;
	}
}

/* Twice round: what is passed once is not passed again. */
static void
cache_sweep(struct mapper *k, struct cache_sweep *s)
{
	const uint64_t most = 2 * (uint64_t)k->cache.n_high;
	uint64_t looked;

	for (looked = 0; looked < most && s->want > s->n && s->n < MAP_BATCH; looked++) {
		cache_look(k, s, &k->cache.frame[k->cache.hand]);
		k->cache.hand = k->cache.hand + 1 < k->cache.n_high ? k->cache.hand + 1 : 0;
	}
	client_map_run_end(k, &s->run);
	if (s->n > 0)
		client_map_back(k, s->dirty, s->n);
}

/*
 * Room for one frame, and for a few more: taking one page from a map costs as much as taking its
 * neighbours. What is dirty begins to be written back, and is free later. @return whether what is
 * held stands in the way
 */
static bool
cache_make_room(struct mapper *k)
{
	const uint32_t some = k->cache.limit / 8 < CACHE_SOME ? k->cache.limit / 8 : CACHE_SOME;
	struct cache_sweep s = { .need = k->cache.n_used - k->cache.limit + 1 };

	s.want = s.need + some;
	/* Enough are on their way. */
	if (k->cache.n_leaving >= s.need)
		return true;
	cache_sweep(k, &s);
	if (s.need > 0 && s.n == 0 && !s.is_held && cache_may_retry(k)) {
		s.may_retry = true;
		cache_sweep(k, &s);
	}
	return s.is_held;
}

enum map_take
client_map_take(struct mapper *k, struct map *m, uint64_t page, struct map_frame **out)
{
	enum map_take rc = MAP_TAKEN;
	bool is_held;

	if (k->cache.n_used >= k->cache.limit) {
		is_held = cache_make_room(k);
		if (k->cache.n_used >= k->cache.limit) {
			if (k->cache.n_writing > 0 || k->cache.n_used == k->cache.n_frames)
				return MAP_WAIT;
			if (!is_held && k->cache.n_fetching > 0)
				return MAP_WAIT;
			rc = is_held ? MAP_TAKEN : MAP_FULL;
		}
	}
	*out = cache_use(k, m, page);
	return rc;
}

struct map_frame *
client_map_take_ahead(struct mapper *k, struct map *m, uint64_t page)
{
	if (k->cache.n_used >= k->cache.limit)
		cache_make_room(k);
	return k->cache.n_used >= k->cache.limit ? NULL : cache_use(k, m, page);
}
