/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Packet buffers: flits on cache lines, room for each size of frame, and the refusals. */

#include "eal_test.h"

#include <rte_mempool.h>

WEFT_TEST(flits_lie_on_cache_lines)
{
	static const unsigned int flits[] = { 1, 5, 13, 35, 64 };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(flits); i++) {
		struct rte_mempool *pool = test_pool("lines", 63, flits[i]);
		struct rte_mbuf *mbufs[63];

		assert_int_equal(rte_pktmbuf_alloc_bulk(pool, mbufs, 63), 0);
		for (size_t m = 0; m < 63; m++) {
			assert_int_equal((rte_pktmbuf_mtod(mbufs[m], uintptr_t) + 32) % 64, 0);
			assert_true(rte_pktmbuf_tailroom(mbufs[m]) >= 32 + 256 * flits[i]);
			assert_int_equal(rte_pktmbuf_priv_size(pool), TEST_PRIV_SIZE);
		}
		rte_pktmbuf_free_bulk(mbufs, 63);
		test_pool_is_whole(pool);
		rte_mempool_free(pool);
	}
}

WEFT_TEST(thirteen_flits_fit_a_page_with_all_around)
{
	struct rte_mempool *pool = test_pool("page", 7, 13);

	assert_true(rte_mempool_calc_obj_size(pool->elt_size, pool->flags, NULL) <= 4096);
	rte_mempool_free(pool);
}

WEFT_TEST(estimate_covers_what_a_pool_takes)
{
	const struct weft_pool_cfg cfg = { "mb", 2047, 35, TEST_PRIV_SIZE, 256, -1, NULL };
	struct rte_mempool *pool = weft_pool_create(&cfg, NULL, 0);
	uint64_t taken = 0;
	struct rte_mempool_memhdr *h;

	assert_non_null(pool);
	STAILQ_FOREACH (h, &pool->mem_list, next)
		taken += h->len;
	assert_true(taken != 0 && taken <= (uint64_t)weft_pool_mb(&cfg) << 20);
	rte_mempool_free(pool);
}

static const struct {
	struct weft_pool_cfg cfg;
	int rc;
	const char *says;
} bad_rows[] = {
	{ { NULL, 7, 1, 96, 0, -1, NULL }, EINVAL, "1 to 25 characters" },
	{ { "a-name-of-twenty-six-chars", 7, 1, 96, 0, -1, NULL }, EINVAL, "1 to 25 characters" },
	{ { "bad", 0, 1, 96, 0, -1, NULL }, EINVAL, "at least one buffer" },
	{ { "bad", 7, 0, 96, 0, -1, NULL }, EINVAL, "1 to 64" },
	{ { "bad", 7, 65, 96, 0, -1, NULL }, EINVAL, "1 to 64" },
	{ { "bad", 7, 1, 64, 0, -1, NULL }, EINVAL, "32 bytes modulo 64" },
	{ { "bad", 7, 1, 0, 0, -1, NULL }, EINVAL, "32 bytes modulo 64" },
	{ { "bad", 7, 1, 96, 513, -1, NULL }, EINVAL, "cache is too large" },
	{ { "bad", 7, 1, 96, 0, -1, "no_such_ops" }, EINVAL, "driver is not loaded" },
	{ { "bad", 100000, 64, 96, 0, -1, NULL }, ENOMEM, "100000 buffers need about 1" },
};

WEFT_TEST(what_cannot_be_is_refused_in_a_line)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad_rows); i++) {
		char err[256] = "";

		assert_null(weft_pool_create(&bad_rows[i].cfg, err, sizeof(err)));
		assert_int_equal(rte_errno, bad_rows[i].rc);
		if (strstr(err, bad_rows[i].says) == NULL)
			fail_msg("\"%s\" does not say \"%s\"", err, bad_rows[i].says);
		assert_null(strchr(err, '\n'));
	}
}

WEFT_TEST(name_is_taken_once)
{
	struct rte_mempool *pool = test_pool("twice", 7, 1);
	const struct weft_pool_cfg cfg = { "twice", 7, 1, TEST_PRIV_SIZE, 0, -1, NULL };

	assert_null(weft_pool_create(&cfg, NULL, 0));
	assert_int_equal(rte_errno, EEXIST);
	rte_mempool_free(pool);
}

WEFT_TEST(second_start_is_refused)
{
	const struct weft_eal_cfg cfg = { .program = "weft-test" };
	char err[256] = "";

	assert_int_equal(weft_eal_start(&cfg, err, sizeof(err)), -EALREADY);
	assert_string_not_equal(err, "");
	assert_string_not_equal(weft_eal_memory_line(), "");
}

int
main(void)
{
	const struct weft_eal_cfg cfg = { .program = "weft-test", .memory_mb = 128 };
	char err[256];
	int failed;

	/* The one test that starts as a user's program does, choosing memory by itself. */
	if (weft_eal_start(&cfg, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	printf("%s\n", weft_eal_memory_line());
	failed = weft_test_run();
	weft_eal_stop();
	return failed;
}
