/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fabrics that are drawn with their load, run by the nodes of lib/node in one thread, without a
 * fault: all that is sent ends, and as it must.
 */

#include "weft_test.h"

#include "draw.h"
#include "toy.h"

#define FABRICS 200
#define STEPS 500000

/* What must have happened in so many fabrics, by the names of reports. */
static const struct {
	const char *part, *name, *counter;
} wanted[] = {
	{ NULL, "traffic", "verified" },
	{ NULL, "traffic", "refused" },
	{ NULL, "traffic", "poisoned" },
	{ "uio", "traffic", "verified" },
	{ "uio", "traffic", "refused" },
	{ "uio", "edge", "gim_fast" },
	{ "uio", "edge", "ldst" },
	{ "ats", "client", "translated" },
	{ "ats", "client", "denied" },
	{ "ats", "agent", "moved" },
};

static void
drawn_add(const struct toy *w, uint64_t total[WEFT_ARRAY_SIZE(wanted)])
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(wanted); i++)
		total[i] += toy_total(w, wanted[i].part, wanted[i].name, wanted[i].counter);
}

static void
drawn_compare(const uint64_t total[WEFT_ARRAY_SIZE(wanted)])
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(wanted); i++)
		if (total[i] == 0)
			fail_msg("no %s of %s", wanted[i].counter, wanted[i].name);
}

static bool
drawn_is_done(const struct toy *w)
{
	for (uint16_t i = 0; i < w->topo->n_nodes; i++)
		if (!weft_node_is_done(&w->at[i].node))
			return false;
	return true;
}

static void
drawn_check(const struct toy *w, const char *what)
{
	for (uint16_t i = 0; i < w->topo->n_nodes; i++) {
		const struct weft_node *n = &w->at[i].node;

		if (!weft_node_is_good(n) || !weft_node_is_done(n) || !weft_node_is_up(n))
			fail_msg("%s is done %d, good %d, up %d\n%s", n->topo->name,
				weft_node_is_done(n), weft_node_is_good(n), weft_node_is_up(n),
				what);
	}
}

WEFT_TEST(all_that_is_drawn_ends_well)
{
	static struct toy w;
	uint64_t total[WEFT_ARRAY_SIZE(wanted)] = { 0 };
	unsigned int run = 0;
	struct weft_rand r;

	weft_test_seed(&r, "drawn");
	while (run < weft_test_cases(FABRICS)) {
		uint32_t has;
		char *text = draw_fabric(weft_rand_u64(&r), -1, &has, NULL);

		assert_non_null(text);
		/* The toy world has no keys. */
		if ((has >> DRAW_IDE & 1) == 0) {
			toy_init(&w, text);
			for (unsigned int i = 0; i < STEPS && !drawn_is_done(&w); i++)
				toy_step(&w);
			drawn_check(&w, text);
			drawn_add(&w, total);
			toy_fini(&w);
			run++;
		}
		free(text);
	}
	/* Fewer may miss one by chance. */
	if (run == FABRICS)
		drawn_compare(total);
}
