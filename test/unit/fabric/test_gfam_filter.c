/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Snoop filter: who is named and when, the way back to a host's address, and random use against a
 * table of every line and requester.
 */

#include "gfam_rig.h"

#include "weft_gfam_filter.h"
#include "weft_gfam_log.h"

#define LINES 64
#define PIDS 6

static uint64_t entry[16 * 8];
static struct weft_gfam_filter f;
static struct weft_gfam_snoop s[WEFT_GFAM_FILTER_WAYS_MAX];

static void
filter_new(uint32_t sets, uint8_t ways)
{
	memset(entry, 0xFF, sizeof(entry)); /* init clears them */
	assert_int_equal(weft_gfam_filter_init(&f, entry, sets, ways, 2), 0);
}

WEFT_TEST(init_refuses_what_is_out_of_range)
{
	assert_int_equal(weft_gfam_filter_init(&f, entry, 0, 1, 1), -EINVAL);
	assert_int_equal(weft_gfam_filter_init(&f, entry, 3, 1, 1), -EINVAL);
	assert_int_equal(weft_gfam_filter_init(&f, entry, 1, 0, 1), -EINVAL);
	assert_int_equal(weft_gfam_filter_init(&f, entry, 1, 17, 1), -EINVAL);
	assert_int_equal(weft_gfam_filter_init(&f, entry, 1, 1, 0), -EINVAL);
	assert_int_equal(weft_gfam_filter_init(&f, entry, 1u << 25, 1, 1), -EINVAL);
	filter_new(1, 1);
	assert_int_equal(weft_gfam_filter_take(&f, 0, 0xFFF, false, s), -EINVAL);
	assert_int_equal(weft_gfam_filter_take(&f, UINT64_C(1) << 52, 1, false, s), -EINVAL);
	assert_int_equal(weft_gfam_filter_take(&f, (UINT64_C(1) << 52) - 1, 0xFFE, true, s), 0);
	assert_int_equal(weft_gfam_filter_holders(&f, (UINT64_C(1) << 52) - 64, s), 1);
	assert_int_equal(s[0].pid, 0xFFE);
	assert_int_equal(s[0].dpa, (UINT64_C(1) << 52) - 64);
	assert_true(s[0].exclusive);
}

WEFT_TEST(alone_means_alone)
{
	filter_new(4, 4);
	assert_int_equal(weft_gfam_filter_take(&f, 0x1000, 1, false, s), 0);
	assert_int_equal(weft_gfam_filter_take(&f, 0x1020, 2, false, s), 0); /* same line */
	assert_int_equal(weft_gfam_filter_take(&f, 0x1000, 3, true, s), 2);
	assert_int_equal(s[0].pid + s[1].pid, 3);
	assert_int_equal(weft_gfam_filter_take(&f, 0x1000, 1, true, s), 1);
	assert_int_equal(s[0].pid, 2);
	assert_int_equal(s[0].dpa, 0x1000);
	assert_true(weft_gfam_filter_drop(&f, 0x1000, 2));
	assert_false(weft_gfam_filter_drop(&f, 0x1000, 2));
	assert_int_equal(weft_gfam_filter_take(&f, 0x1000, 1, true, s), 0);
	assert_int_equal(weft_gfam_filter_take(&f, 0x1000, 1, false, s), 0); /* stays alone */
	assert_int_equal(weft_gfam_filter_take(&f, 0x1000, 2, false, s), 1);
	assert_true(s[0].exclusive);
	assert_int_equal(s[0].pid, 1);
	assert_int_equal(f.held, 1);
	assert_int_equal(f.conflicts, 3);
}

WEFT_TEST(full_set_names_one_to_go)
{
	filter_new(1, 4);
	for (uint16_t i = 0; i < 4; i++)
		assert_int_equal(weft_gfam_filter_take(&f, i * 64u, i, true, s), 0);
	assert_int_equal(weft_gfam_filter_take(&f, 0x4000, 9, false, s), 1);
	assert_true(s[0].pid < 4 && s[0].dpa == s[0].pid * 64u);
	assert_int_equal(f.held, 4);
	/* If that one is slow, another. */
	assert_int_equal(weft_gfam_filter_take(&f, 0x4000, 9, false, &s[1]), 1);
	assert_int_not_equal(s[0].pid, s[1].pid);
	assert_true(weft_gfam_filter_drop(&f, s[0].dpa, s[0].pid));
	assert_int_equal(weft_gfam_filter_take(&f, 0x4000, 9, false, s), 0);
	assert_int_equal(f.evictions, 2);
	assert_int_equal(weft_gfam_filter_gone(&f, 9), 1);
	assert_int_equal(weft_gfam_filter_gone(&f, 9), 0);
	assert_int_equal(f.held, 3);
}

/* state: 0 not held, 1 shared, 2 alone. */
WEFT_TEST(random_use_equals_a_plain_table)
{
	uint8_t held[LINES][PIDS] = { { 0 } };
	struct weft_rand r;

	weft_test_seed(&r, "gfam filter");
	filter_new(8, 4);
	for (unsigned int i = 0; i < 200000; i++) {
		const unsigned int line = (unsigned int)weft_rand_below(&r, LINES);
		const uint16_t pid = (uint16_t)weft_rand_below(&r, PIDS);
		const bool alone = weft_rand_below(&r, 3) == 0;
		unsigned int want = 0, total = 0;
		int n = weft_gfam_filter_take(&f, line * 64u, pid, alone, s);

		for (unsigned int p = 0; p < PIDS; p++)
			want += p != pid && held[line][p] != 0 && (alone || held[line][p] == 2);
		if (want != 0)
			assert_int_equal(n, want);
		else if (held[line][pid] != 0)
			assert_int_equal(n, 0);
		else
			assert_in_range(n, 0, 1);
		for (int k = 0; k < n; k++) {
			uint8_t *h = &held[s[k].dpa / 64][s[k].pid];

			assert_int_equal(*h, s[k].exclusive ? 2 : 1);
			assert_true(want == 0 || s[k].dpa / 64 == line);
			/* Some never answer: then it must be named again. */
			if (weft_rand_below(&r, 4) == 0)
				continue;
			assert_true(weft_gfam_filter_drop(&f, s[k].dpa, s[k].pid));
			*h = 0;
		}
		if (n == 0)
			held[line][pid] = alone || held[line][pid] == 2 ? 2 : 1;
		if (weft_rand_below(&r, 5000) == 0) {
			weft_gfam_filter_gone(&f, pid);
			for (unsigned int l = 0; l < LINES; l++)
				held[l][pid] = 0;
		}
		for (unsigned int l = 0; l < LINES; l++)
			for (unsigned int p = 0; p < PIDS; p++)
				total += held[l][p] != 0;
		assert_int_equal(f.held, total);
		n = (int)weft_gfam_filter_holders(&f, line * 64u, s);
		for (int k = 0; k < n; k++)
			assert_int_equal(held[line][s[k].pid], s[k].exclusive ? 2 : 1);
	}
	assert_true(f.evictions > 1000 && f.conflicts > 1000);
}

WEFT_TEST(snoop_goes_to_the_holders_own_address_or_the_line_is_lost)
{
	const struct weft_gfam_cfg cfg = { .rows = 2,
		.groups = 1,
		.dmps = 1,
		.blocks = 16,
		.media = { { 64 * MB, WEFT_GFAM_COHERENT } } };
	struct weft_gfam_decoder d = { .valid = true,
		.coherent = true,
		.hpa_base = PB,
		.dpa_base = 256 * MB,
		.dpa_len = 64 * MB,
		.intlv = 3,
		.gran = 1,
		.way = 5 };
	struct weft_gfam_log *log = malloc(sizeof(*log));
	struct weft_gfam *t =
		weft_gfam_init(aligned_alloc(WEFT_CACHE_LINE, weft_gfam_size(&cfg)), &cfg);
	struct weft_gfam_report r;
	struct weft_gfam_decision got;
	bool due;

	assert_non_null(log);
	weft_gfam_log_init(log);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, GB, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_gdt(t, 1, 1, 0, &d, 1), 0);
	d.hpa_base = 2 * PB;
	d.intlv = d.way = 0;
	assert_int_equal(weft_gfam_set_gdt(t, 2, 2, 0, &d, 1), 0);
	filter_new(8, 4);
	/* One line, two addresses. */
	weft_gfam_decide(t, 1, PB + 5 * 512 + 8 * 512 + 64, false, &got);
	assert_int_equal(weft_gfam_filter_take(&f, got.dpa, 1, false, s), 0);
	weft_gfam_decide(t, 2, 2 * PB + 512 + 64, false, &got);
	assert_int_equal(weft_gfam_filter_take(&f, got.dpa, 2, true, s), 1);
	assert_int_equal(weft_gfam_filter_path(&f, t, log, 0, &s[0], &r, &due), 0);
	assert_int_equal(s[0].hpa, PB + 5 * 512 + 8 * 512 + 64);
	assert_true(weft_gfam_filter_drop(&f, got.dpa, 1));
	assert_int_equal(weft_gfam_filter_take(&f, got.dpa, 2, true, s), 0);
	assert_int_equal(weft_gfam_filter_take(&f, got.dpa, 1, true, s), 1);
	assert_int_equal(weft_gfam_filter_path(&f, t, log, 0, &s[0], &r, &due), 0);
	assert_int_equal(s[0].hpa, 2 * PB + 512 + 64);
	/* The decoder is taken away with a line still held. */
	d.valid = false;
	assert_int_equal(weft_gfam_set_gdt(t, 2, 2, 0, &d, 1), 0);
	assert_int_equal(weft_gfam_filter_path(&f, t, log, 7, &s[0], &r, &due), -ENOENT);
	assert_true(due);
	assert_int_equal(r.trigger, WEFT_GFAM_T_SNOOP);
	assert_int_equal(r.dpa, got.dpa);
	assert_int_equal(r.rpid, 2);
	assert_int_equal(log->rpid[2].failed[WEFT_GFAM_T_SNOOP], 1);
	assert_false(f.offline);
	assert_int_equal(weft_gfam_filter_take(&f, got.dpa, 1, true, s), 0);
	s[0].pid = 3;
	s[0].dpa = 0;
	assert_int_equal(weft_gfam_filter_path(&f, t, log, 7, &s[0], &r, &due), -ENOENT);
	assert_true(f.offline);
	assert_int_equal(weft_gfam_filter_take(&f, 0, 1, true, s), -EIO);
	free(t);
	free(log);
}
