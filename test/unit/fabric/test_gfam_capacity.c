/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the fabric manager sets: each rule of DMPs, regions, blocks and SAT rows, one by one. */

#include "gfam_rig.h"

#define STEP (256 * MB)

static const struct weft_gfam_cfg cfg = {
	.rows = 4,
	.groups = 31,
	.dmps = 2,
	.blocks = 16,
	.media = { { 64 * MB | STEP | GB, 0 }, { 64 * MB | GB, WEFT_GFAM_DC } },
};

static struct weft_gfam *t;
static void *before;
static size_t size;

/* DMP 0: 1 GB at 1 GB; DMP 1, for DC: 1 GB at 4 GB; both in blocks of 64 MB. */
static int
setup(void **state)
{
	(void)state;
	size = weft_gfam_size(&cfg);
	before = malloc(size);
	t = weft_gfam_init(aligned_alloc(WEFT_CACHE_LINE, size), &cfg);
	assert_int_equal(weft_gfam_set_dmp(t, 0, GB, GB, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_dmp(t, 1, 4 * GB, GB, 64 * MB), 0);
	memcpy(before, t, size);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(before);
	free(t);
	return 0;
}

WEFT_TEST_EACH(setup, teardown)

/* Keeps @p rc, and that a refusal changed no byte. */
static int
unchanged(int rc)
{
	assert_memory_equal(before, t, size);
	return rc;
}

static void
keep(void)
{
	memcpy(before, t, size);
}

WEFT_TEST(configuration_out_of_range_has_no_size)
{
	struct weft_gfam_cfg c;

#define BAD(field, value)                                                                          \
	do {                                                                                       \
		c = cfg;                                                                           \
		c.field = value;                                                                   \
		assert_int_equal(weft_gfam_size(&c), 0);                                           \
		assert_null(weft_gfam_init(t, &c));                                                \
		assert_memory_equal(before, t, size);                                              \
	} while (0)
	BAD(rows, 0);
	BAD(rows, 4096);
	BAD(groups, 0);
	BAD(groups, 65);
	BAD(dmps, 0);
	BAD(dmps, 5);
	BAD(blocks, 0);
	BAD(blocks, UINT32_MAX);
	BAD(media[0].block_sizes, 1u << 5);
	BAD(media[1].block_sizes, UINT64_C(1) << 52);
#undef BAD
	/* Rows are paid for by the requesters that use them. */
	c = cfg;
	c.rows = 5;
	assert_true(weft_gfam_size(&c) - size >= 256 && weft_gfam_size(&c) - size <= 320);
}

WEFT_TEST(dmp_rules)
{
#define BAD(rc, i, base, len, block)                                                               \
	assert_int_equal(unchanged(weft_gfam_set_dmp(t, i, base, len, block)), rc)
	BAD(-EINVAL, 2, 8 * GB, GB, 64 * MB);
	BAD(-EINVAL, UINT32_MAX, 8 * GB, GB, 64 * MB);
	BAD(-EINVAL, 0, 8 * GB + STEP / 2, GB, 64 * MB);
	BAD(-EINVAL, 0, 8 * GB, GB + STEP / 2, 64 * MB);
	BAD(-EINVAL, 0, 8 * GB, GB, 0);
	BAD(-EINVAL, 0, 8 * GB, GB, 128 * MB); /* not offered */
	BAD(-EINVAL, 1, 8 * GB, GB, STEP); /* by the other only */
	BAD(-EINVAL, 0, 8 * GB, GB, 64 * MB | STEP); /* no power of two */
	BAD(-EINVAL, 0, 8 * GB, GB + STEP, GB); /* part of a block */
	BAD(-EINVAL, 0, 8 * GB + STEP, GB, GB);
	BAD(-EINVAL, 0, 4 * GB, GB, 64 * MB); /* overlaps DMP 1 */
	BAD(-EINVAL, 0, 5 * GB - STEP, GB, 64 * MB);
	BAD(-EINVAL, 0, 0 - GB, 2 * GB, GB); /* wraps */
	BAD(-ENOSPC, 0, 8 * GB, GB + STEP, 64 * MB); /* 20 blocks */
#undef BAD
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0 - GB, GB, GB), 0); /* ends with the last byte */
	assert_int_equal(weft_gfam_set_blocks(t, 0 - GB, GB, 3), 0);
	assert_int_equal(weft_gfam_group(t, UINT64_MAX), 3);
	assert_int_equal(weft_gfam_set_blocks(t, 0 - GB, GB, WEFT_GFAM_NO_GROUP), 0);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 5 * GB, 4 * GB, STEP), 0);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 3 * GB, GB, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_blocks(t, 3 * GB, 64 * MB, 30), 0);
	keep();
	assert_int_equal(unchanged(weft_gfam_set_dmp(t, 0, 3 * GB, GB, 64 * MB)), -EBUSY);
	assert_int_equal(unchanged(weft_gfam_set_dmp(t, 0, 0, 0, 0)), -EBUSY);
	assert_int_equal(weft_gfam_set_blocks(t, 3 * GB, 64 * MB, WEFT_GFAM_NO_GROUP), 0);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, 0, 0), 0);
	assert_int_equal(weft_gfam_set_blocks(t, 3 * GB, 64 * MB, 30), -EINVAL);
	assert_int_equal(weft_gfam_group(t, 3 * GB), WEFT_GFAM_NO_GROUP);
	assert_int_equal(weft_gfam_group(t, 0), WEFT_GFAM_NO_GROUP);
	assert_int_equal(weft_gfam_set_region(t, 0, 4 * GB, STEP, STEP, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_dmp(t, 1, 4 * GB, GB, 64 * MB), -EBUSY);
}

WEFT_TEST(region_rules)
{
#define BAD(i, base, decode, len, block)                                                           \
	assert_int_equal(unchanged(weft_gfam_set_region(t, i, base, decode, len, block)), -EINVAL)
	BAD(8, 4 * GB, STEP, STEP, 64 * MB);
	BAD(0, GB, STEP, STEP, 64 * MB); /* no DC there */
	BAD(0, 2 * GB, STEP, STEP, 64 * MB); /* nothing there */
	BAD(0, 4 * GB, STEP, STEP, GB);
	BAD(0, 4 * GB, STEP, STEP, 32 * MB);
	BAD(0, 4 * GB + 32 * MB, STEP, 64 * MB, 64 * MB);
	BAD(0, 4 * GB, STEP / 2, 64 * MB, 64 * MB);
	BAD(0, 4 * GB, STEP, 0, 64 * MB);
	BAD(0, 4 * GB, STEP, 32 * MB, 64 * MB);
	BAD(0, 4 * GB, STEP, STEP + 64 * MB, 64 * MB);
	BAD(0, 4 * GB, GB + STEP, STEP, 64 * MB); /* out of the DMP */
	BAD(0, 5 * GB - 64 * MB, STEP, 64 * MB, 64 * MB);
	assert_int_equal(weft_gfam_set_region(t, 0, 4 * GB + 64 * MB, STEP, 128 * MB, 64 * MB), 0);
	keep();
	BAD(7, 4 * GB, STEP, STEP, 64 * MB); /* overlaps it */
	BAD(7, 4 * GB + STEP, STEP, STEP, 64 * MB);
#undef BAD
	assert_int_equal(weft_gfam_set_region(t, 7, 4 * GB + 320 * MB, STEP, STEP, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_blocks(t, 4 * GB + 128 * MB, 64 * MB, 0), 0);
	keep();
	assert_int_equal(unchanged(weft_gfam_set_region(t, 0, 0, 0, 0, 0)), -EBUSY);
	assert_int_equal(
		weft_gfam_set_blocks(t, 4 * GB + 128 * MB, 64 * MB, WEFT_GFAM_NO_GROUP), 0);
	assert_int_equal(weft_gfam_set_region(t, 0, 0, 0, 0, 0), 0);
}

WEFT_TEST(block_rules)
{
#define BAD(dpa, len, group)                                                                       \
	assert_int_equal(unchanged(weft_gfam_set_blocks(t, dpa, len, group)), -EINVAL)
	BAD(GB, 0, 0);
	BAD(GB, 32 * MB, 0);
	BAD(GB + 64, 64 * MB, 0);
	BAD(GB, GB + 64 * MB, 0);
	BAD(GB - 64 * MB, 64 * MB, 0);
	BAD(2 * GB, 64 * MB, 0);
	BAD(GB, UINT64_MAX & ~(64 * MB - 1), 0);
	for (unsigned int g = 31; g < WEFT_GFAM_NO_GROUP; g++)
		BAD(GB, 64 * MB, (uint8_t)g);
	BAD(4 * GB, 64 * MB, 0); /* in no region yet */
	assert_int_equal(weft_gfam_set_region(t, 3, 4 * GB, STEP, 128 * MB, 64 * MB), 0);
	keep();
	BAD(4 * GB, 192 * MB, 0); /* decoded, but not to be given out */
#undef BAD
	assert_int_equal(weft_gfam_set_blocks(t, 4 * GB, 128 * MB, 30), 0);
	assert_int_equal(weft_gfam_set_blocks(t, 2 * GB - 64 * MB, 64 * MB, 1), 0);
	assert_int_equal(weft_gfam_group(t, 4 * GB + 128 * MB - 1), 30);
	assert_int_equal(weft_gfam_group(t, 4 * GB + 128 * MB), WEFT_GFAM_NO_GROUP);
	assert_int_equal(weft_gfam_group(t, 2 * GB - 1), 1);
	assert_int_equal(weft_gfam_group(t, 2 * GB), WEFT_GFAM_NO_GROUP);
	assert_int_equal(weft_gfam_group(t, 2 * GB - 64 * MB - 1), WEFT_GFAM_NO_GROUP);
}

WEFT_TEST(sat_rules)
{
	bool notify;

	assert_int_equal(unchanged(weft_gfam_set_sat(t, 0xFFF, 1)), -EINVAL);
	assert_int_equal(unchanged(weft_gfam_set_sat(t, UINT16_MAX, 1)), -EINVAL);
	for (unsigned int bit = 31; bit < 64; bit++)
		assert_int_equal(unchanged(weft_gfam_set_sat(t, 5, UINT64_C(1) << bit)), -EINVAL);
	assert_int_equal(weft_gfam_set_sat(t, 0xFFE, 0x7FFFFFFF), 0);
	assert_int_equal(weft_gfam_sat(t, 0xFFE), 0x7FFFFFFF);
	assert_int_equal(weft_gfam_set_sat32(t, 5, 0x80000003, &notify), 0);
	assert_true(notify);
	assert_int_equal(weft_gfam_sat(t, 5), 3);
	assert_int_equal(weft_gfam_set_sat32(t, 5, 0x40000000, &notify), 0);
	assert_false(notify);
	assert_int_equal(weft_gfam_sat(t, 5), 0x40000000);
	assert_int_equal(weft_gfam_sat(t, 4096), 0);
}

WEFT_TEST(hosts_are_kept_from_the_managers_commands)
{
	for (unsigned int op = 0; op <= UINT16_MAX; op++) {
		const bool is_set = op >= 0x4900 && op <= 0x4914;
		const bool is_fm = op == 0x4903 || (op >= 0x4905 && op <= 0x490D) || op == 0x490F ||
		                   op == 0x4912;

		assert_int_equal(weft_gfam_host_may((uint16_t)op), is_set && !is_fm);
	}
}

WEFT_TEST(copy_is_its_own)
{
	void *mem = aligned_alloc(WEFT_CACHE_LINE, size);
	struct weft_gfam *u = weft_gfam_copy(mem, t);
	const struct weft_gfam_decoder d = {
		.valid = true, .hpa_base = PB, .dpa_base = GB, .dpa_len = GB
	};
	struct weft_gfam_decision got;

	assert_memory_equal(t, u, size);
	assert_int_equal(weft_gfam_set_gdt(u, 9, 9, 0, &d, 1), 0);
	assert_int_equal(weft_gfam_set_blocks(u, GB, GB, 4), 0);
	assert_int_equal(weft_gfam_set_sat(u, 9, 16), 0);
	assert_memory_equal(t, before, size);
	memset(t, 0xA5, size); /* nothing of it is needed any more */
	weft_gfam_decide(u, 9, PB, true, &got);
	assert_int_equal(got.result, WEFT_GFAM_ALLOWED);
	free(mem);
}

/* Two configurations of the same members, with other bytes between them. */
WEFT_TEST(only_what_is_said_differs)
{
	struct weft_gfam *u[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct weft_gfam_cfg c;

		memset(&c, i == 0 ? 0x5A : 0xA5, sizeof(c));
		c.rows = cfg.rows;
		c.groups = cfg.groups;
		c.dmps = cfg.dmps;
		c.blocks = cfg.blocks;
		c.knobs = cfg.knobs;
		for (unsigned int k = 0; k < WEFT_GFAM_DMPS; k++) {
			c.media[k].block_sizes = cfg.media[k].block_sizes;
			c.media[k].flags = cfg.media[k].flags;
		}
		u[i] = weft_gfam_init(aligned_alloc(WEFT_CACHE_LINE, size), &c);
		assert_int_equal(weft_gfam_set_dmp(u[i], 0, GB, GB, 64 * MB), 0);
	}
	assert_false(weft_gfam_differs(u[0], u[1]));
	assert_int_equal(weft_gfam_set_sat(u[1], 9, 16), 0);
	assert_true(weft_gfam_differs(u[0], u[1]));
	free(u[0]);
	free(u[1]);
}
