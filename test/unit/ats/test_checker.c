/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The checker of ats.md 4.9 over the real peers: every order in which a host, an agent, a device
 * and the channels between them can act is tried (depth first, states seen before are not entered
 * again).
 *
 * Two pages, X and Y, begin as one translation of 64 KB. The host gives X another frame and takes
 * back 4 KB with one invalidation, then gives both another and takes back 64 KB with a second,
 * which overlaps the first and may be under way with it. Channels: requests and answers in any
 * order (the packets of one answer in theirs), invalidations in theirs, posted traffic of a class
 * in its.
 *
 * Wrong is: a write that lands in a frame, or read data used from it, after the completion of the
 * invalidation that took the frame away; and an end with an invalidation not completed. With any
 * one rule switched off this must be found.
 */

#include "weft_test.h"

#include "ats_priv.h"
#include "atc_priv.h"

#define BASE UINT64_C(0x10000)
#define PAGE UINT64_C(0x1000)
#define OLD UINT64_C(0x100000) /* both pages, at first */
#define NEW_X UINT64_C(0x200000) /* X after the first change */
#define NEWEST UINT64_C(0x300000) /* both after the second */

#define CLASSES 3
#define QUEUE 5
#define DEPTH_MAX 200
#define SEEN_LOG2 21

struct wire {
	uint8_t len;
	uint8_t bytes[40];
};

/* A posted channel holds writes, by frame, and completions. */
struct posted {
	uint64_t pa; /* of a write; 0: the packet */
	struct wire packet;
};

struct posted_queue {
	uint8_t n;
	struct posted item[QUEUE];
};

struct wire_queue {
	uint8_t n;
	struct wire item[QUEUE];
};

/* Which things may still happen, and the walker's cache. */
struct world {
	uint8_t changes; /* the host has made: 0..2 */
	uint8_t flushed; /* bit per change */
	uint8_t asks, writes, reads; /* left */
	struct weft_ats_xlat walker[2]; /* by page; log2 0: not cached */
	struct wire_queue requests, answers, invalidations;
	struct posted_queue queued[CLASSES], posted[CLASSES];
	uint64_t read_pa; /* 0: none out */
	uint8_t itag[2];
};

struct bounds {
	uint8_t tcs, asks, writes, reads;
};

static union {
	uint8_t bytes[12288];
	uint64_t words[1536];
} snapshot[DEPTH_MAX];

static uint8_t memory[sizeof(snapshot[0])] __attribute__((aligned(64)));
static size_t used;
static struct world *world;
static struct weft_atc *cache;
static struct weft_ats_atc *atc;
static struct weft_ats_ta *ta;
static uint64_t *seen;
static unsigned long n_seen, n_steps;
static const char *wrong;
static const char *path[DEPTH_MAX];
static unsigned int path_len;

static void *
take(size_t size)
{
	void *p = memory + used;

	used += (size + 63) & ~(size_t)63;
	assert_true(used <= sizeof(memory));
	return p;
}

static void
start(const struct bounds *b, unsigned int broken)
{
	const struct weft_atc_cfg cache_cfg = { { 1, 1, 0, 0 }, 1, NULL };
	const struct weft_ats_ta_cfg ta_cfg = { 1000, 0x0100, 64, 1, 3 };
	struct weft_ats_atc_cfg cfg = {
		.timeout_ns = 1000, .id = 0x0208, .rcb = 64, .slots = 2, .reads = 1, .tcs = b->tcs
	};

	memset(memory, 0, sizeof(memory));
	used = 0;
	world = take(sizeof(*world));
	cache = weft_atc_init(take(weft_atc_size(&cache_cfg)), &cache_cfg);
	cfg.cache = cache;
	atc = weft_ats_atc_init(take(weft_ats_atc_size(&cfg)), &cfg);
	ta = weft_ats_ta_init(take(weft_ats_ta_size(&ta_cfg)), &ta_cfg);
	assert_true(atc != NULL && ta != NULL);
	assert_int_equal(weft_ats_ta_add(ta, cfg.id, 0, 0), 0);
	weft_ats_atc_reg_set(atc, WEFT_ATS_REG_ATS_CTL, WEFT_ATS_CTL_E);
	atc->broken = ta->broken = broken;
	world->asks = b->asks;
	world->writes = b->writes;
	world->reads = b->reads;
	wrong = NULL;
	path_len = 0;
	n_seen = n_steps = 0;
	memset(seen, 0, sizeof(*seen) << SEEN_LOG2);
}

static struct wire
wire_take(struct wire_queue *q, unsigned int i)
{
	const struct wire w = q->item[i];

	q->n--;
	memmove(&q->item[i], &q->item[i + 1], (q->n - i) * sizeof(w));
	memset(&q->item[q->n], 0, sizeof(w));
	return w;
}

static void
wire_add(struct wire_queue *q, const uint8_t *bytes, size_t len)
{
	assert_true(q->n < QUEUE && len <= sizeof(q->item[0].bytes));
	q->item[q->n].len = (uint8_t)len;
	memcpy(q->item[q->n].bytes, bytes, len);
	q->n++;
}

static struct posted
posted_take(struct posted_queue *q)
{
	const struct posted p = q->item[0];

	q->n--;
	memmove(&q->item[0], &q->item[1], q->n * sizeof(p));
	memset(&q->item[q->n], 0, sizeof(p));
	return p;
}

static struct posted *
posted_add(struct posted_queue *q)
{
	assert_true(q->n < QUEUE);
	return &q->item[q->n++];
}

/* Whether the host believes that nobody uses the frame any more. */
static bool
is_gone(uint64_t pa)
{
	const bool first =
		world->changes > 0 && weft_ats_ta_state(ta, 0, world->itag[0]) == WEFT_ATS_INV_DONE;
	const bool second =
		world->changes > 1 && weft_ats_ta_state(ta, 0, world->itag[1]) == WEFT_ATS_INV_DONE;

	if (pa == OLD)
		return first || second;
	return second && (pa == OLD + PAGE || pa == NEW_X);
}

/* The table as it is now. */
static struct weft_ats_xlat
table(unsigned int page)
{
	struct weft_ats_xlat x = { .bits = WEFT_ATS_R | WEFT_ATS_W, .log2 = 16 };

	if (world->changes == 1) {
		x.pa = page == 0 ? NEW_X : OLD + PAGE;
		x.log2 = 12;
	} else {
		x.pa = world->changes == 0 ? OLD : NEWEST;
	}
	return x;
}

static struct weft_ats_xlat
walk(unsigned int page)
{
	if (world->walker[page].log2 == 0)
		world->walker[page] = table(page);
	return world->walker[page];
}

static void
send_all(void)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	while ((len = weft_ats_atc_send_request(atc, buf, sizeof(buf), 0)) != 0)
		wire_add(&world->requests, buf, len);
	while ((len = weft_ats_ta_send_completion(ta, buf, sizeof(buf))) != 0)
		wire_add(&world->answers, buf, len);
	while ((len = weft_ats_ta_send_invalidate(ta, 0, buf, sizeof(buf), 0)) != 0)
		wire_add(&world->invalidations, buf, len);
}

/* The actors. Each does its i-th thing and says whether it could. */

static bool
change_table(unsigned int i)
{
	const struct weft_ats_inv range = { .addr = BASE, .pasid = -1, .log2 = i == 0 ? 12 : 16 };
	int itag;

	if (world->changes != i)
		return false;
	world->changes++;
	itag = weft_ats_ta_invalidate(ta, 0, &range);
	assert_true(itag >= 0);
	world->itag[i] = (uint8_t)itag;
	return true;
}

static bool
flush_walker(unsigned int i)
{
	if (world->changes <= i || (world->flushed >> i & 1) != 0)
		return false;
	world->flushed |= (uint8_t)(1u << i);
	/* What the walker has of the range: a translation of 64 KB holds X for either page. */
	for (unsigned int page = 0; page < 2; page++)
		if (i == 1 || page == 0 || world->walker[page].log2 == 16)
			memset(&world->walker[page], 0, sizeof(world->walker[page]));
	weft_ats_ta_flushed(ta, 0, 1u << world->itag[i]);
	return true;
}

/* 0: X and Y in one request, 1: Y alone. */
static bool
ask(unsigned int i)
{
	if (world->asks == 0 || weft_ats_atc_request(atc, 0, BASE + i * PAGE, 2 - i, false) < 0)
		return false;
	world->asks--;
	return true;
}

static bool
answer(unsigned int i)
{
	struct weft_ats_walk w;
	struct weft_ats_xlat x[2];
	unsigned int first, n = 1;
	struct wire packet;
	int handle;

	if (i >= world->requests.n)
		return false;
	packet = wire_take(&world->requests, i);
	assert_int_equal(weft_ats_ta_receive(ta, packet.bytes, packet.len), WEFT_OK);
	handle = weft_ats_ta_walk(ta, &w);
	assert_true(handle >= 0);
	first = (unsigned int)((w.va - BASE) / PAGE);
	x[0] = walk(first);
	if (w.n == 2 && x[0].log2 == 12) {
		x[1] = walk(1);
		n = x[1].log2 == 12 ? 2 : 1;
	}
	/* Two translations go in two packets. */
	assert_int_equal(weft_ats_ta_answer(ta, handle, WEFT_ATS_SUCCESS, x, n, 1), 0);
	return true;
}

static unsigned int
tag_at(const struct wire *w)
{
	return w->bytes[10];
}

static bool
deliver_answer(unsigned int i)
{
	struct weft_ats_done done;
	struct wire packet;

	if (i >= world->answers.n)
		return false;
	for (unsigned int k = 0; k < i; k++)
		if (tag_at(&world->answers.item[k]) == tag_at(&world->answers.item[i]))
			return false;
	packet = wire_take(&world->answers, i);
	assert_int_equal(weft_ats_atc_receive(atc, packet.bytes, packet.len, 0), WEFT_OK);
	while (weft_ats_atc_done(atc, &done))
		assert_true(done.result == WEFT_ATS_INSTALLED || done.result == WEFT_ATS_AGAIN);
	return true;
}

static bool
deliver_invalidation(unsigned int i)
{
	struct wire packet;

	(void)i;
	if (world->invalidations.n == 0)
		return false;
	packet = wire_take(&world->invalidations, 0);
	assert_int_equal(weft_ats_atc_receive(atc, packet.bytes, packet.len, 0), WEFT_OK);
	return true;
}

static bool
begin_write(unsigned int i)
{
	const unsigned int tc = i / 2;
	uint64_t pa;

	if (world->writes == 0 || (atc->cfg.tcs >> tc & 1) == 0 ||
		weft_atc_lookup(cache, 0, BASE + i % 2 * PAGE, WEFT_ATC_W, &pa) != WEFT_ATC_HIT)
		return false;
	world->writes--;
	weft_ats_atc_write_begin(atc, tc);
	posted_add(&world->queued[tc])->pa = pa;
	return true;
}

static bool
post_write(unsigned int tc)
{
	if (world->queued[tc].n == 0)
		return false;
	*posted_add(&world->posted[tc]) = posted_take(&world->queued[tc]);
	weft_ats_atc_write_done(atc, tc);
	return true;
}

static bool
post_completion(unsigned int tc)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const size_t len = weft_ats_atc_send_completion(atc, tc, buf, sizeof(buf));
	struct posted *p;

	if (len == 0)
		return false;
	p = posted_add(&world->posted[tc]);
	p->packet.len = (uint8_t)len;
	memcpy(p->packet.bytes, buf, len);
	return true;
}

static bool
deliver_posted(unsigned int tc)
{
	struct posted p;

	if (world->posted[tc].n == 0)
		return false;
	p = posted_take(&world->posted[tc]);
	if (p.pa == 0)
		assert_int_equal(weft_ats_ta_receive(ta, p.packet.bytes, p.packet.len), WEFT_OK);
	else if (is_gone(p.pa))
		wrong = "a write landed in a frame that was taken away";
	return true;
}

static bool
begin_read(unsigned int page)
{
	uint64_t pa;

	if (world->reads == 0 || world->read_pa != 0 ||
		weft_atc_lookup(cache, 0, BASE + page * PAGE, WEFT_ATC_R, &pa) != WEFT_ATC_HIT)
		return false;
	world->reads--;
	world->read_pa = pa;
	assert_int_equal(weft_ats_atc_read_begin(atc, 0, BASE + page * PAGE, 64), 0);
	return true;
}

static bool
end_read(unsigned int i)
{
	(void)i;
	if (world->read_pa == 0)
		return false;
	if (weft_ats_atc_read_done(atc, 0) && is_gone(world->read_pa))
		wrong = "data of a frame that was taken away were used";
	world->read_pa = 0;
	return true;
}

static const struct {
	const char *name;
	bool (*act)(unsigned int i);
	unsigned int ways;
} actors[] = {
	{ "deliver answer", deliver_answer, 4 },
	{ "deliver invalidation", deliver_invalidation, 1 },
	{ "deliver posted", deliver_posted, CLASSES },
	{ "post completion", post_completion, CLASSES },
	{ "post write", post_write, CLASSES },
	{ "end read", end_read, 1 },
	{ "answer", answer, 3 },
	{ "flush walker", flush_walker, 2 },
	{ "change table", change_table, 2 },
	{ "write", begin_write, 2 * CLASSES },
	{ "read", begin_read, 2 },
	{ "ask", ask, 2 },
};

/* Make states that differ in nothing that matters the same: counters, and where numbers began. */
static void
normalise(void)
{
	memset(cache->count, 0, sizeof(cache->count));
	memset(atc->count, 0, sizeof(atc->count));
	memset(ta->count, 0, sizeof(ta->count));
	for (unsigned int tc = 0; tc < CLASSES; tc++) {
		for (unsigned int i = 0; i < WEFT_ATS_ITAGS; i++) {
			const int32_t ahead = (int32_t)(atc->fence[i][tc] - atc->passed[tc]);
			const bool is_pending = (atc->pending[tc] >> i & 1) != 0;

			atc->fence[i][tc] = is_pending && ahead > 0 ? (uint32_t)ahead : 0;
		}
		atc->queued[tc] -= atc->passed[tc];
		atc->passed[tc] = 0;
	}
}

#define LANES 4

/* Four lanes, so that one multiplication does not wait for the one before. */
static uint64_t
hash_of_memory(void)
{
	uint64_t lane[LANES] = { 1, 2, 3, 4 }, word[LANES], h = 0;

	for (size_t i = 0; i < used; i += sizeof(word)) { /* used is in whole lines */
		memcpy(word, memory + i, sizeof(word));
		for (unsigned int k = 0; k < LANES; k++) {
			lane[k] = (lane[k] ^ word[k]) * UINT64_C(0x9E3779B97F4A7C15);
			lane[k] ^= lane[k] >> 29;
		}
	}
	for (unsigned int k = 0; k < LANES; k++)
		h = ((h ^ lane[k]) * UINT64_C(0xD6E8FEB86659FD93)) ^ h >> 32;
	return h | 1;
}

/* @return whether this state was not seen before. */
static bool
is_new(void)
{
	const uint64_t h = hash_of_memory();
	size_t at = h >> (64 - SEEN_LOG2);

	for (; seen[at] != 0; at = (at + 1) & weft_mask64(SEEN_LOG2))
		if (seen[at] == h)
			return false;
	seen[at] = h;
	n_seen++;
	assert_true(n_seen < (1ul << SEEN_LOG2) * 3 / 4);
	return true;
}

static bool
is_finished(void)
{
	return world->changes == 2 &&
	       weft_ats_ta_state(ta, 0, world->itag[0]) == WEFT_ATS_INV_DONE &&
	       weft_ats_ta_state(ta, 0, world->itag[1]) == WEFT_ATS_INV_DONE;
}

static void
explore(unsigned int depth)
{
	bool moved = false;

	assert_true(depth < DEPTH_MAX);
	memcpy(snapshot[depth].bytes, memory, used);
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(actors); k++) {
		for (unsigned int i = 0; i < actors[k].ways; i++) {
			if (!actors[k].act(i))
				continue;
			moved = true;
			n_steps++;
			send_all();
			normalise();
			path[depth] = actors[k].name;
			path_len = depth + 1;
			if (wrong == NULL && is_new())
				explore(depth + 1);
			if (wrong != NULL)
				return;
			memcpy(memory, snapshot[depth].bytes, used);
		}
	}
	if (!moved && !is_finished())
		wrong = "nothing can happen and an invalidation is not complete";
}

static const char *
run(const char *name, const struct bounds *b, unsigned int broken)
{
	start(b, broken);
	explore(0);
	printf("%-36s %8lu states, %9lu steps: %s", name, n_seen, n_steps,
		wrong == NULL ? "safe\n" : wrong);
	if (wrong != NULL)
		printf(", %u steps in\n", path_len);
	return wrong;
}

WEFT_TEST(all_rules_are_safe)
{
	static const struct bounds bounds[] = { { 1, 2, 1, 1 }, { 3, 2, 1, 0 }, { 3, 1, 1, 1 },
		{ 7, 1, 1, 0 } };

	/* The third has the fewest states. */
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bounds); i++)
		if (i == 2 || !weft_test_is_again())
			assert_null(run("all rules", &bounds[i], 0));
}

WEFT_TEST(each_rule_is_needed)
{
	static const struct {
		const char *name;
		unsigned int rule;
		struct bounds b;
	} rows[] = {
		{ "no snoop of requests", ATS_RULE_SNOOP, { 3, 2, 1, 0 } },
		{ "completion passes writes", ATS_RULE_WRITES, { 3, 2, 1, 0 } },
		{ "completion on one class", ATS_RULE_EVERY_TC, { 3, 2, 1, 0 } },
		{ "walker flushed after sending", ATS_RULE_FLUSH, { 3, 2, 1, 0 } },
		{ "reads not tagged", ATS_RULE_READS, { 3, 2, 0, 1 } },
		{ "answers by what was asked for", ATS_RULE_LARGE, { 3, 2, 1, 0 } },
	};

	/* The last takes longer than all others. */
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows) - weft_test_is_again(); i++)
		assert_non_null(run(rows[i].name, &rows[i].b, rows[i].rule));
}

static int
allocate(void **state)
{
	(void)state;
	seen = malloc(sizeof(*seen) << SEEN_LOG2);
	return seen == NULL ? -1 : 0;
}

static int
release(void **state)
{
	(void)state;
	free(seen);
	return 0;
}

WEFT_TEST_AROUND(allocate, release)
