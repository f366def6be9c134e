/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What waits in a translation unit: order, places, and what it is let go with. */

#include "weft_test.h"

#include "weft_ats_atc.h"
#include "weft_guard.h"
#include "xlate_agent.h"

#define PAGE UINT64_C(4096)
#define UNIT 7
#define CONTEXTS 5
#define PAGES 48
#define QUESTIONS 32
#define PLACES 60
#define SHARE 25
#define RW (WEFT_ATC_R | WEFT_ATC_W)

static const struct weft_xlate_cfg base = { .answer_ns = 1000,
	.life_ns = 100000,
	.entries = 64,
	.places = PLACES,
	.share = SHARE,
	.contexts = CONTEXTS,
	.id = UNIT,
	.prefetch_degree = 1,
	.is_ordered = true };

/* Translation Requests that were heard and not answered. */
static struct weft_ats_packet asked[QUESTIONS];
static unsigned int n_asked;

static struct weft_xlate *
unit_new(const struct weft_xlate_cfg *cfg)
{
	const size_t size = weft_xlate_size(cfg);
	void *mem;
	struct weft_xlate *x;

	assert_int_not_equal(size, 0);
	mem = aligned_alloc(64, size);
	memset(mem, 0xA5, size); /* init must not rely on zeroed memory */
	x = weft_xlate_init(mem, cfg);
	assert_non_null(x);
	weft_xlate_enable(x);
	n_asked = 0;
	return x;
}

static int
wait(struct weft_xlate *x, uint16_t ctx, uint64_t va, uint64_t cookie)
{
	const struct weft_xlate_item item = {
		.va = va, .cookie = cookie, .ctx = ctx, .want = WEFT_ATC_R
	};

	return weft_xlate_wait(x, &item, AGENT_NOW);
}

/* The cookie of what need not wait any more; 0: there is nothing. */
static uint64_t
taken(struct weft_xlate *x, enum weft_xlate_why why)
{
	struct weft_xlate_item item;

	if (!weft_xlate_take(x, AGENT_NOW, &item))
		return 0;
	assert_int_equal(item.why, why);
	return item.cookie;
}

static void
answer_page(struct weft_xlate *x, uint64_t va, unsigned int flags)
{
	while (n_asked < QUESTIONS && agent_hear(x, &asked[n_asked]))
		n_asked++;
	for (unsigned int i = 0; i < n_asked; i++)
		if (asked[i].addr == va) {
			agent_answer(x, &asked[i], (struct agent_page){ va, (uint8_t)flags });
			asked[i] = asked[--n_asked];
			return;
		}
	fail_msg("nobody asks for 0x%llx", (unsigned long long)va);
}

WEFT_TEST(others_pass_and_what_is_behind_stays_behind)
{
	struct weft_xlate *x = unit_new(&base);

	assert_int_equal(wait(x, 0, 1 * PAGE, 1), 0);
	assert_int_equal(wait(x, 0, 2 * PAGE, 2), 0); /* asks for nothing itself */
	assert_int_equal(wait(x, 1, 3 * PAGE, 3), 0);
	assert_true(weft_xlate_is_waiting(x, 0) && weft_xlate_is_waiting(x, 1));
	assert_false(weft_xlate_is_waiting(x, 2) || weft_xlate_is_waiting(x, CONTEXTS));
	assert_int_equal(weft_xlate_waiting(x), 3);
	answer_page(x, 3 * PAGE, RW);
	assert_int_equal(taken(x, WEFT_XLATE_LOOK), 3);
	assert_int_equal(taken(x, WEFT_XLATE_LOOK), 0);
	/* Not there, and not given: that is of the first only; the other goes on behind it. */
	answer_page(x, 1 * PAGE, 0);
	assert_int_equal(weft_xlate_ready(x), 0);
	assert_int_equal(wait(x, 0, 1 * PAGE, 4), 0);
	agent_hear_posted(x, NULL);
	/* What comes meanwhile stays behind what is still to be taken. */
	assert_true(weft_xlate_is_waiting(x, 0));
	assert_int_equal(wait(x, 0, 9 * PAGE, 5), 0);
	assert_int_equal(taken(x, WEFT_XLATE_NO_PAGE), 1);
	assert_int_equal(taken(x, WEFT_XLATE_LOOK), 2);
	assert_int_equal(taken(x, WEFT_XLATE_LOOK), 4);
	assert_int_equal(taken(x, WEFT_XLATE_LOOK), 5);
	assert_false(weft_xlate_is_waiting(x, 0));
	assert_int_equal(weft_xlate_waiting(x) + weft_xlate_ready(x), 0);
	assert_int_equal(weft_xlate_most(x), 4);
	free(x);
}

WEFT_TEST(places_are_bounded_and_shared)
{
	struct weft_xlate_cfg cfg = base;
	struct weft_xlate *x;

	cfg.places = 6;
	cfg.share = 4;
	x = unit_new(&cfg);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(wait(x, 0, i * PAGE, i), i < 4 ? 0 : -EAGAIN);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(wait(x, 1, i * PAGE, i), i < 2 ? 0 : -EAGAIN);
	assert_int_equal(wait(x, CONTEXTS, PAGE, 1), -EINVAL);
	weft_xlate_give_up(x);
	for (unsigned int i = 0; i < 6; i++)
		taken(x, WEFT_XLATE_EXPIRED);
	assert_int_equal(taken(x, WEFT_XLATE_LOOK), 0);
	assert_int_equal(wait(x, 1, PAGE, 1), 0);
	/* Without a session with the agent nothing can be waited for. */
	weft_xlate_reset(x, AGENT_NOW);
	assert_int_equal(wait(x, 2, PAGE, 1), -EACCES);
	free(x);
}

WEFT_TEST(what_was_known_is_forgotten_with_an_invalidation)
{
	struct weft_xlate *x = unit_new(&base);
	const struct weft_xlate_item item = { .va = PAGE, .known = 5, .want = WEFT_ATC_R };
	struct weft_xlate_item out;

	for (unsigned int invalidated = 0; invalidated < 2; invalidated++) {
		assert_int_equal(weft_xlate_wait(x, &item, AGENT_NOW), 0);
		answer_page(x, PAGE, RW);
		if (invalidated)
			agent_invalidate(x, UNIT, 1, 7 * PAGE, 0);
		assert_true(weft_xlate_take(x, AGENT_NOW, &out));
		assert_int_equal(out.known, invalidated ? 0 : 5);
		assert_int_equal(out.until_ns, AGENT_NOW + base.life_ns);
	}
	/* It is as old as it was. */
	assert_int_equal(weft_xlate_wait(x, &out, AGENT_NOW), 0);
	answer_page(x, PAGE, RW);
	assert_true(weft_xlate_take(x, AGENT_NOW + base.life_ns, &out));
	assert_int_equal(out.why, WEFT_XLATE_EXPIRED);
	free(x);
}

WEFT_TEST(completions_stay_behind_what_left)
{
	struct weft_xlate *x = unit_new(&base);
	uint32_t left;

	weft_xlate_leave(x, 3);
	left = weft_xlate_left(x);
	agent_invalidate(x, UNIT, 0, PAGE, 4);
	weft_xlate_leave(x, 2); /* by the new translation */
	assert_int_equal(agent_hear_posted(x, NULL), 0);
	weft_xlate_passed(x, left - 1);
	assert_int_equal(agent_hear_posted(x, NULL), 0);
	weft_xlate_passed(x, left);
	assert_int_equal(agent_hear_posted(x, NULL), 1u << 4);
	free(x);
}

static enum weft_atc_result
look(struct weft_xlate *x, uint64_t page)
{
	static const uint16_t ctx = 0;
	static const uint8_t want = WEFT_ATC_R;
	const uint64_t va = page * PAGE;
	uint64_t pa;
	uint8_t result;
	const struct weft_atc_run run = { &ctx, &va, &want, &pa, &result };

	weft_xlate_run(x, &run, 1);
	return (enum weft_atc_result)result;
}

/* A set of 8 ways: 7 pages that were missed, the last with one that was fetched along with it. */
WEFT_TEST(what_is_fetched_ahead_makes_room_first)
{
	static const uint64_t missed[] = { 10, 20, 30, 40, 50, 100, 101 };
	struct weft_xlate_cfg cfg = base;
	struct weft_xlate *x;

	cfg.entries = 8;
	cfg.prefetch_degree = 2;
	x = unit_new(&cfg);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(missed); i++) {
		weft_xlate_ask(x, 0, missed[i] * PAGE);
		answer_page(x, missed[i] * PAGE, RW);
	}
	assert_int_equal(look(x, 102), WEFT_ATC_HIT);
	weft_xlate_reset(x, AGENT_NOW);
	weft_xlate_enable(x);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(missed); i++) {
		weft_xlate_ask(x, 0, (missed[i] + 1000) * PAGE);
		answer_page(x, (missed[i] + 1000) * PAGE, RW);
	}
	weft_xlate_ask(x, 0, 2000 * PAGE);
	answer_page(x, 2000 * PAGE, RW);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(missed); i++)
		assert_int_equal(look(x, missed[i] + 1000), WEFT_ATC_HIT);
	assert_int_equal(look(x, 1102), WEFT_ATC_MISS);
	free(x);
}

WEFT_TEST(units_out_of_range_are_refused)
{
	struct weft_xlate_cfg bad[8];
	_Alignas(64) uint8_t mem[64];

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		bad[i] = base;
	bad[0].places = 0;
	bad[1].places = WEFT_XLATE_PLACES_MAX + 1;
	bad[2].share = PLACES + 1;
	bad[3].share = 0;
	bad[4].contexts = UINT16_MAX;
	bad[5].tags = 8; /* messages are of one context */
	bad[6].tags = 8;
	bad[6].contexts = 1; /* and pass each other */
	bad[7].entries = 12;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		if (weft_xlate_size(&bad[i]) != 0)
			fail_msg("row %zu is taken", i);
		assert_null(weft_xlate_init(mem, &bad[i]));
	}
}

/*
 * Any order of waiting, answers, invalidations and taking: each comes out once, those of a context
 * in their order however often they wait again, and no more wait than may. Memory is between guard
 * pages.
 */
static struct {
	struct weft_rand r;
	struct weft_xlate *x;
	uint64_t sent[CONTEXTS], seen[CONTEXTS]; /* numbers */
} w;

static unsigned int
below(unsigned int n)
{
	return (unsigned int)weft_rand_below(&w.r, n);
}

static uint64_t
held(void)
{
	return weft_xlate_waiting(w.x) + weft_xlate_ready(w.x);
}

static void
come(void)
{
	const uint16_t ctx = (uint16_t)below(CONTEXTS);
	const bool fits = held() < PLACES && w.sent[ctx] - w.seen[ctx] < SHARE;

	assert_int_equal(wait(w.x, ctx, below(PAGES) * PAGE, (w.sent[ctx] + 1) << 8 | ctx),
		fits ? 0 : -EAGAIN);
	w.sent[ctx] += fits;
}

static void
answer_any(void)
{
	while (n_asked < QUESTIONS && agent_hear(w.x, &asked[n_asked]))
		n_asked++;
	if (n_asked != 0) {
		const unsigned int i = below(n_asked);
		const struct weft_ats_packet p = asked[i];

		asked[i] = asked[--n_asked];
		agent_answer(w.x, &p, (struct agent_page){ p.addr, below(3) == 0 ? 0 : RW });
	}
	if (below(2) == 0)
		agent_hear_posted(w.x, NULL);
}

/* All that may go; some of it waits again, and then so does what is behind it. */
static void
take_all(void)
{
	static struct weft_xlate_item item[PLACES];
	unsigned int n = 0;

	while (weft_xlate_take(w.x, AGENT_NOW, &item[n]))
		n++;
	for (unsigned int i = 0; i < n; i++) {
		const uint16_t ctx = item[i].ctx;

		assert_int_equal(item[i].cookie & 0xFF, ctx);
		item[i].va = below(PAGES) * PAGE;
		if (weft_xlate_is_waiting(w.x, ctx) || below(3) == 0)
			assert_int_equal(weft_xlate_wait(w.x, &item[i], AGENT_NOW), 0);
		else
			assert_int_equal(item[i].cookie >> 8, ++w.seen[ctx]);
	}
}

WEFT_TEST(all_come_out_once_and_in_order)
{
	const size_t size = weft_xlate_size(&base);
	uint64_t out = 0, in = 0;
	struct weft_guard g;

	weft_test_seed(&w.r, "xlate");
	weft_guard_open(&g, size);
	w.x = weft_xlate_init(weft_guard_last(&g, size), &base);
	assert_non_null(w.x);
	weft_xlate_enable(w.x);
	n_asked = 0;
	for (unsigned int i = 0; i < 40000; i++)
		switch (below(8)) {
		case 0:
		case 1:
		case 2: come(); break;
		case 3:
		case 4:
		case 5: answer_any(); break;
		case 6:
			agent_invalidate(
				w.x, UNIT, (uint16_t)below(CONTEXTS), below(PAGES) * PAGE, 0);
			agent_hear_posted(w.x, NULL);
			break;
		default: take_all(); break;
		}
	for (unsigned int i = 0; i < 100000 && held() != 0; i++) {
		answer_any();
		take_all();
	}
	for (unsigned int c = 0; c < CONTEXTS; c++) {
		in += w.sent[c];
		out += w.seen[c];
	}
	assert_int_equal(in, out);
	assert_true(out > 5000);
	assert_in_range(weft_xlate_most(w.x), SHARE, PLACES);
	weft_guard_close(&g);
}
