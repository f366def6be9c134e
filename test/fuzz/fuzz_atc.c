/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Address translation caches by a script.
 *
 * A cache alone, against a list of what was put in: what it answers is in the list and newer than
 * every invalidation of its range; if it never threw anything out, it knows all of it and drops
 * exactly what overlaps. A run of look-ups with the best kernel answers as the scalar one does.
 *
 * A cache with its device, an agent, and two ways between them that keep what order PCIe keeps:
 * pages get new addresses all the time. Once an invalidation is complete no old address is found,
 * no data read by one is used and no write to one is still on its way.
 *
 *   byte 0  bit 0: which of the two; the rest: sizes
 *   then    steps: what, and what it needs
 */

#include "weft_fuzz.h"

#include "weft_atc.h"
#include "weft_ats_atc.h"
#include "weft_ats_ta.h"

#define RW (WEFT_ATC_R | WEFT_ATC_W)

static void *
take(size_t size)
{
	void *p;

	FUZZ_CHECK(size != 0);
	p = aligned_alloc(WEFT_CACHE_LINE, (size + 63) & ~(size_t)63);
	FUZZ_CHECK(p != NULL);
	memset(p, 0xA5, size);
	return p;
}

/* --- the cache alone --- */

#define CONTEXTS 3
#define PAGES_MAX 1024
#define REGION (UINT64_C(0x155) << 48)
#define RUN_MAX 24

/* Entry of a class: what was installed last for its page. */
struct page {
	uint64_t va, pa;
	uint16_t ctx;
	uint8_t log2, flags; /* flags 0: gone */
};

struct alone {
	struct fuzz_in in;
	struct weft_atc_cfg cfg;
	struct weft_atc *cache, *scalar;
	unsigned int n;
	struct page page[PAGES_MAX];
};

static uint64_t
page_last(const struct page *p)
{
	return p->va + weft_mask64(p->log2);
}

/* An address of a small region, with pages of all sizes in it. */
static uint64_t
va_in(struct fuzz_in *in)
{
	const uint8_t b = fuzz_u8(in);

	if (b == 0xFF)
		return fuzz_u64(in);
	return REGION + ((uint64_t)(b & 3) << 30) + ((uint64_t)(b >> 2 & 7) << 21) +
	       ((uint64_t)fuzz_u8(in) << 12);
}

static bool
is_complete(const struct alone *x)
{
	return weft_atc_counts(x->cache)[WEFT_ATC_N_EVICTIONS] == 0;
}

static void
remember(struct alone *x, uint16_t ctx, uint64_t va, uint64_t pa, unsigned int log2, uint8_t flags)
{
	struct page *p = NULL;

	for (unsigned int i = 0; i < x->n; i++)
		if (x->page[i].ctx == ctx && x->page[i].log2 == log2 && x->page[i].va == va)
			p = &x->page[i];
	if (p == NULL)
		p = &x->page[x->n++];
	*p = (struct page){ va, pa, ctx, (uint8_t)log2, flags };
}

static void
install(struct alone *x, uint8_t how)
{
	static const uint8_t sizes[] = { 12, 13, 16, 18, 21, 24, 30, 31 };
	const unsigned int log2 = sizes[how >> 5], ctx = fuzz_u8(&x->in) % (CONTEXTS + 1);
	const uint8_t flags = fuzz_u8(&x->in) & 15;
	const uint64_t mask = how & 8 ? 0 : weft_mask64(log2);
	const uint64_t va = va_in(&x->in) & ~mask,
		       pa = ((uint64_t)fuzz_u8(&x->in) << 40 ^ fuzz_u8(&x->in)) & ~mask;
	unsigned int of_class;
	int n;

	if (x->n + 64 > PAGES_MAX)
		return;
	n = weft_atc_install(x->cache, (uint16_t)ctx, va, pa, log2, flags);
	FUZZ_CHECK(weft_atc_install(x->scalar, (uint16_t)ctx, va, pa, log2, flags) == n);
	if (ctx >= CONTEXTS || ((va | pa) & weft_mask64(log2)) != 0 || va >> 57 != 0)
		FUZZ_CHECK(n == -EINVAL);
	FUZZ_CHECK(n == -EINVAL || (n >= 0 && n <= 64));
	if (n <= 0)
		return;
	of_class = log2 - (unsigned int)__builtin_ctz((unsigned int)n);
	FUZZ_CHECK((flags & RW) != 0 && (n & (n - 1)) == 0);
	FUZZ_CHECK(of_class == 12 || of_class == 16 || of_class == 21 || of_class == 30);
	for (unsigned int i = 0; i < (unsigned int)n; i++)
		remember(x, (uint16_t)ctx, va + ((uint64_t)i << of_class),
			pa + ((uint64_t)i << of_class), of_class, flags & 7);
}

static void
check_answer(const struct alone *x, uint16_t ctx, uint64_t va, unsigned int want,
	unsigned int result, uint64_t pa)
{
	bool any = false, hit = false, at_pa = false, untranslated = false;

	for (unsigned int i = 0; i < x->n; i++) {
		const struct page *p = &x->page[i];

		if (p->flags == 0 || p->ctx != ctx || va < p->va || va > page_last(p))
			continue;
		any = true;
		if ((p->flags & want) != want)
			continue;
		if (p->flags & WEFT_ATC_U) {
			untranslated = true;
		} else {
			hit = true;
			at_pa |= p->pa + (va - p->va) == pa;
		}
	}
	switch (result) {
	case WEFT_ATC_HIT: FUZZ_CHECK(hit && at_pa); break;
	case WEFT_ATC_UNTRANSLATED: FUZZ_CHECK(untranslated); break;
	case WEFT_ATC_DENY: FUZZ_CHECK(any && !(is_complete(x) && (hit || untranslated))); break;
	default: FUZZ_CHECK(result == WEFT_ATC_MISS && !(is_complete(x) && any)); break;
	}
}

static void
look_up(struct alone *x, uint8_t how)
{
	const unsigned int n = 1 + (how >> 3) % RUN_MAX;
	const uint64_t first = va_in(&x->in), stride = UINT64_C(1) << (fuzz_u8(&x->in) & 31);
	uint8_t want[RUN_MAX], result[RUN_MAX], other[RUN_MAX];
	uint16_t ctx[RUN_MAX];
	uint64_t va[RUN_MAX], pa[RUN_MAX] = { 0 }, other_pa[RUN_MAX] = { 0 };
	const struct weft_atc_run run = { ctx, va, want, pa, result };
	const uint8_t who = fuzz_u8(&x->in);
	unsigned int hits = 0;

	for (unsigned int i = 0; i < n; i++) {
		ctx[i] = (uint16_t)((who >> (i & 4)) & 3);
		va[i] = first + i * stride;
		want[i] = (uint8_t)(1 + (who >> (i & 7)) % 3);
		other[i] =
			(uint8_t)weft_atc_lookup(x->scalar, ctx[i], va[i], want[i], &other_pa[i]);
		hits += other[i] == WEFT_ATC_HIT;
	}
	FUZZ_CHECK(weft_atc_lookup_run(x->cache, &run, n) == hits);
	for (unsigned int i = 0; i < n; i++) {
		FUZZ_CHECK(result[i] == other[i] && pa[i] == other_pa[i]);
		check_answer(x, ctx[i], va[i], want[i], result[i], pa[i]);
	}
}

static void
invalidate(struct alone *x, uint8_t how)
{
	const unsigned int log2 = 12 + (how >> 3), ctx = fuzz_u8(&x->in) % (CONTEXTS + 1);
	const bool all = log2 == 43;
	const uint64_t va = all ? 0 : va_in(&x->in) & ~weft_mask64(log2);
	const uint64_t last = all ? UINT64_MAX : va + weft_mask64(log2);
	const bool by_context = all && (fuzz_u8(&x->in) & 1);
	int n = by_context ? weft_atc_invalidate_context(x->cache, (uint16_t)ctx)
	                   : weft_atc_invalidate(x->cache, (uint16_t)ctx, va, all ? 64 : log2);
	int other = by_context ? weft_atc_invalidate_context(x->scalar, (uint16_t)ctx)
	                       : weft_atc_invalidate(x->scalar, (uint16_t)ctx, va, all ? 64 : log2);
	int gone = 0;

	FUZZ_CHECK(n == other && (n == -EINVAL) == (ctx >= CONTEXTS));
	if (n < 0)
		return;
	for (unsigned int i = 0; i < x->n; i++) {
		struct page *p = &x->page[i];

		if (p->flags == 0 || p->ctx != ctx || p->va > last || page_last(p) < va)
			continue;
		p->flags = 0;
		gone++;
	}
	FUZZ_CHECK(n <= gone && (n == gone || !is_complete(x)));
}

static void
run_alone(struct fuzz_in in, uint8_t how)
{
	static const struct weft_atc_kernel *best;
	struct alone *x = fuzz_alloc(sizeof(*x));

	if (best == NULL)
		best = weft_atc_kernel_find(NULL, weft_cpu_detect());
	*x = (struct alone){ .in = in };
	for (unsigned int c = 0; c < WEFT_ATC_CLASSES; c++)
		x->cfg.sets[c] = how >> (c + 1) & 1 ? 1u << (how >> 5) : 0;
	x->cfg.contexts = CONTEXTS;
	if (weft_atc_size(&x->cfg) != 0) {
		x->scalar = weft_atc_init(take(weft_atc_size(&x->cfg)), &x->cfg);
		x->cfg.kernel = best;
		x->cache = weft_atc_init(take(weft_atc_size(&x->cfg)), &x->cfg);
		while (x->in.n > 0) {
			how = fuzz_u8(&x->in);
			switch (how & 7) {
			case 0:
			case 1:
			case 2: install(x, how); break;
			case 3:
			case 4: invalidate(x, how); break;
			default: look_up(x, how); break;
			}
		}
		free(x->cache);
		free(x->scalar);
	}
	free(x);
}

/* --- with its device and an agent --- */

#define SPACES 2
#define PAGES 16
#define WAY_MAX 64
#define DEVICE 0x0208
#define AGENT 0x0100
#define WALKS 4

struct packet {
	uint8_t bytes[WEFT_ATS_PACKET_MAX];
	size_t len;
	bool is_posted;
	unsigned int of; /* one answer: its packets keep their order */
};

/* Packets under way, oldest first. */
struct way {
	unsigned int n;
	struct packet p[WAY_MAX];
};

/* An access by the address that a page had: number @p gen. */
struct use {
	unsigned int space, page, gen;
	int handle;
};

struct inv {
	bool is_out;
	unsigned int space, first, n, gen[PAGES];
};

struct walk {
	int handle; /* -1: none */
	unsigned int n, first;
	struct weft_ats_xlat x[WEFT_ATS_XLATS];
};

struct pair {
	struct fuzz_in in;
	struct weft_atc *cache;
	struct weft_ats_atc *atc;
	struct weft_ats_ta *ta;
	struct way up, down;
	unsigned int gen[SPACES][PAGES]; /* of the address that a page has */
	unsigned int least[SPACES][PAGES]; /* that may still be used */
	struct inv inv[WEFT_ATS_ITAGS];
	struct walk walk[WALKS];
	unsigned int n_reads, n_writes, packets;
	struct use read[8], write[8];
};

static const int32_t pasids[SPACES] = { -1, 5 };

static void
put(struct way *w, const uint8_t *bytes, size_t len, bool is_posted, unsigned int of)
{
	struct packet *p = &w->p[w->n++];

	memcpy(p->bytes, bytes, len);
	p->len = len;
	p->is_posted = is_posted;
	p->of = of;
}

/* Whether packet @p at may pass all in front of it: none of its own kind if it is posted, else none
 * that is posted, nor one of the same answer. */
static bool
may_pass(const struct way *w, unsigned int at)
{
	for (unsigned int i = 0; i < at; i++)
		if (w->p[i].is_posted || (!w->p[at].is_posted && w->p[i].of == w->p[at].of))
			return false;
	return true;
}

/* The packet that arrives next: the one at place @p at if it may pass, else the oldest. */
static bool
get(struct way *w, unsigned int at, struct packet *out)
{
	if (w->n == 0)
		return false;
	at %= w->n;
	at = may_pass(w, at) ? at : 0;
	*out = w->p[at];
	w->n--;
	memmove(&w->p[at], &w->p[at + 1], (w->n - at) * sizeof(w->p[0]));
	return true;
}

static uint64_t
pa_of(unsigned int space, unsigned int page, unsigned int gen)
{
	return ((uint64_t)gen << 8 | space << 4 | page) << 12;
}

static void
ask(struct pair *x, uint8_t how)
{
	const unsigned int space = how >> 3 & 1, n = 1 + (how >> 4);
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	(void)weft_ats_atc_request(
		x->atc, (uint16_t)space, (uint64_t)(fuzz_u8(&x->in) % PAGES) << 12, n, false);
	while (x->up.n < WAY_MAX / 2 &&
		(len = weft_ats_atc_send_request(x->atc, buf, sizeof(buf), 0)) != 0)
		put(&x->up, buf, len, false, ++x->packets);
}

/* Begin to walk: what the table says now is what will be answered. */
static void
begin_walk(struct pair *x)
{
	struct weft_ats_walk w;
	struct walk *k = x->walk;

	while (k < x->walk + WALKS && k->handle >= 0)
		k++;
	if (k == x->walk + WALKS || (k->handle = weft_ats_ta_walk(x->ta, &w)) < 0)
		return;
	k->n = 0;
	for (unsigned int i = 0; i < w.n && (w.va >> 12) + i < PAGES; i++) {
		const unsigned int page = (unsigned int)(w.va >> 12) + i, space = w.pasid >= 0;

		k->x[k->n++] = (struct weft_ats_xlat){ pa_of(space, page, x->gen[space][page]),
			WEFT_ATS_R | WEFT_ATS_W, WEFT_ATS_PAGE_LOG2 };
	}
}

static void
send_completions(struct pair *x)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	x->packets++;
	while (x->down.n < WAY_MAX &&
		(len = weft_ats_ta_send_completion(x->ta, buf, sizeof(buf))) != 0)
		put(&x->down, buf, len, false, x->packets);
}

static void
answer(struct pair *x, struct walk *k, uint8_t how)
{
	const unsigned int first = how & 0x80 && k->n > 1 ? k->n / 2 : k->n;

	if (k->handle < 0 || x->down.n > WAY_MAX / 2)
		return;
	FUZZ_CHECK(weft_ats_ta_answer(x->ta, k->handle, WEFT_ATS_SUCCESS, k->x, k->n, first) == 0);
	k->handle = -1;
	send_completions(x);
}

/* Pages get new addresses, and the old ones are called back. */
static void
remap(struct pair *x, uint8_t how)
{
	const unsigned int space = how >> 3 & 1, log2 = 12 + (how >> 4) % 5;
	const unsigned int n = 1u << (log2 - 12), first = fuzz_u8(&x->in) % PAGES & ~(n - 1);
	const struct weft_ats_inv range = {
		.addr = (uint64_t)first << 12, .pasid = pasids[space], .log2 = (uint8_t)log2
	};
	struct inv *v;
	int itag;

	for (unsigned int i = first; i < first + n; i++)
		x->gen[space][i]++;
	itag = weft_ats_ta_invalidate(x->ta, 0, &range);
	if (itag < 0)
		return;
	v = &x->inv[itag];
	FUZZ_CHECK(!v->is_out);
	*v = (struct inv){ true, space, first, n, { 0 } };
	for (unsigned int i = first; i < first + n; i++)
		v->gen[i] = x->gen[space][i];
}

/* No walk is under way that began before: then invalidations may go out. */
static void
flush(struct pair *x)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	for (unsigned int i = 0; i < WALKS; i++)
		answer(x, &x->walk[i], 0);
	for (unsigned int i = 0; i < WALKS; i++)
		if (x->walk[i].handle >= 0)
			return;
	weft_ats_ta_flushed(x->ta, 0, UINT32_MAX);
	while (x->down.n < WAY_MAX &&
		(len = weft_ats_ta_send_invalidate(x->ta, 0, buf, sizeof(buf), 0)) != 0)
		put(&x->down, buf, len, true, 0);
}

static void
check_use(const struct pair *x, const struct use *u)
{
	FUZZ_CHECK(u->gen >= x->least[u->space][u->page]);
}

/* What is complete binds from now on. */
static void
settle(struct pair *x)
{
	for (unsigned int i = 0; i < WEFT_ATS_ITAGS; i++) {
		struct inv *v = &x->inv[i];

		if (!v->is_out || weft_ats_ta_state(x->ta, 0, i) != WEFT_ATS_INV_DONE)
			continue;
		for (unsigned int p = v->first; p < v->first + v->n; p++)
			if (x->least[v->space][p] < v->gen[p])
				x->least[v->space][p] = v->gen[p];
		v->is_out = false;
		FUZZ_CHECK(weft_ats_ta_release(x->ta, 0, i) == 0);
	}
	/* A write on its way was in front of the completion. */
	for (unsigned int i = 0; i < x->n_writes; i++)
		check_use(x, &x->write[i]);
}

static void
arrive(struct pair *x, uint8_t how)
{
	struct packet p;

	if (how & 8) {
		if (get(&x->up, how >> 4, &p) &&
			weft_ats_ta_receive(x->ta, p.bytes, p.len) == WEFT_DROP_TX_FULL)
			put(&x->up, p.bytes, p.len, p.is_posted, p.of);
	} else if (get(&x->down, how >> 4, &p)) {
		(void)weft_ats_atc_receive(x->atc, p.bytes, p.len, 0);
	}
	settle(x);
}

/* Use a page, if the cache knows it; begin a read or a write by what it says. */
static void
use(struct pair *x, uint8_t how)
{
	struct use u = { .space = how >> 3 & 1, .page = fuzz_u8(&x->in) % PAGES };
	uint64_t pa;

	if (weft_atc_lookup(x->cache, (uint16_t)u.space, (uint64_t)u.page << 12, RW, &pa) !=
		WEFT_ATC_HIT)
		return;
	u.gen = (unsigned int)(pa >> 20);
	FUZZ_CHECK(pa == pa_of(u.space, u.page, u.gen) && u.gen <= x->gen[u.space][u.page]);
	check_use(x, &u);
	if ((how & 0x30) == 0x10 && x->n_reads < WEFT_ARRAY_SIZE(x->read)) {
		u.handle = weft_ats_atc_read_begin(
			x->atc, (uint16_t)u.space, (uint64_t)u.page << 12, 4096);
		if (u.handle >= 0)
			x->read[x->n_reads++] = u;
	} else if ((how & 0x30) == 0x20 && x->n_writes < WEFT_ARRAY_SIZE(x->write)) {
		weft_ats_atc_write_begin(x->atc, 0);
		x->write[x->n_writes++] = u;
	}
}

static void
end_use(struct pair *x, uint8_t how)
{
	if ((how & 8) && x->n_reads > 0) {
		const unsigned int i = (how >> 4) % x->n_reads;
		const struct use u = x->read[i];

		x->read[i] = x->read[--x->n_reads];
		if (weft_ats_atc_read_done(x->atc, (unsigned int)u.handle))
			check_use(x, &u);
	} else if (!(how & 8) && x->n_writes > 0) {
		weft_ats_atc_write_done(x->atc, 0);
		memmove(&x->write[0], &x->write[1], --x->n_writes * sizeof(x->write[0]));
	}
}

static void
pair_step(struct pair *x)
{
	const uint8_t how = fuzz_u8(&x->in);
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	struct weft_ats_done done;
	size_t len;

	switch (how & 7) {
	case 0: ask(x, how); break;
	case 1: how & 8 ? begin_walk(x) : answer(x, &x->walk[(how >> 4) % WALKS], how); break;
	case 2: remap(x, how); break;
	case 3: flush(x); break;
	case 4:
	case 5: arrive(x, how); break;
	case 6: use(x, how); break;
	default: end_use(x, how); break;
	}
	while (x->up.n < WAY_MAX - 4 &&
		(len = weft_ats_atc_send_completion(x->atc, 0, buf, sizeof(buf))) != 0)
		put(&x->up, buf, len, true, 0);
	while (weft_ats_atc_done(x->atc, &done))
		FUZZ_CHECK(done.result <= WEFT_ATS_CANCELLED && done.ctx < SPACES);
}

static void
run_pair(struct fuzz_in in)
{
	const struct weft_atc_cfg cache = { { 16, 0, 0, 0 }, SPACES, NULL };
	const struct weft_ats_ta_cfg ta = { 1000, AGENT, 128, 1, WALKS };
	struct weft_ats_atc_cfg atc = { .timeout_ns = 1000,
		.backoff_ns = 100,
		.id = DEVICE,
		.rcb = 128,
		.slots = 4,
		.reads = 4,
		.tcs = 1,
		.retries = 1 };
	struct pair *x = fuzz_alloc(sizeof(*x));

	*x = (struct pair){ .in = in };
	for (unsigned int i = 0; i < WALKS; i++)
		x->walk[i].handle = -1;
	x->cache = weft_atc_init(take(weft_atc_size(&cache)), &cache);
	atc.cache = x->cache;
	x->atc = weft_ats_atc_init(take(weft_ats_atc_size(&atc)), &atc);
	x->ta = weft_ats_ta_init(take(weft_ats_ta_size(&ta)), &ta);
	FUZZ_CHECK(x->cache != NULL && x->atc != NULL && x->ta != NULL);
	FUZZ_CHECK(weft_ats_ta_add(x->ta, DEVICE, 0, 0) == 0);
	weft_ats_atc_reg_set(x->atc, WEFT_ATS_REG_PASID_CTL, WEFT_ATS_PASID_E);
	weft_ats_atc_reg_set(x->atc, WEFT_ATS_REG_ATS_CTL, WEFT_ATS_CTL_E);
	FUZZ_CHECK(weft_ats_atc_bind(x->atc, 1, pasids[1]) == 0);
	while (x->in.n > 0)
		pair_step(x);
	free(x->cache);
	free(x->atc);
	free(x->ta);
	free(x);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t how = fuzz_u8(&in);

	if (how & 1)
		run_pair(in);
	else
		run_alone(in, how);
	return 0;
}
