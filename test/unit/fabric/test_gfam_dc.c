/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Dynamic capacity, rule by rule. Any sequence of commands, against an array of blocks, is
 * test_gfam_dc_random.c.
 */

#include "gfam_rig.h"

#include "weft_gfam_dc.h"

#define BLOCK (64 * MB)

/* Regions: 0 in the sharable DMP, 1 in the read-only one, 2 in the plain one, 3 in the coherent. */
enum { SHARABLE, READ_ONLY, PLAIN, COHERENT, NOT_THERE };

static const uint64_t base_of[] = { 0, GB, 2 * GB, 3 * GB };

static const struct weft_gfam_cfg cfg = {
	.rows = 4,
	.groups = 31,
	.dmps = 4,
	.blocks = 16,
	.media = { { BLOCK, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE },
		{ BLOCK | 2 * BLOCK, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE | WEFT_GFAM_READ_ONLY },
		{ BLOCK, WEFT_GFAM_DC },
		{ BLOCK, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE | WEFT_GFAM_COHERENT } },
};
static const struct weft_gfam_dc_cfg lists = { .extents = 12, .tags = 3 };

static struct weft_gfam *t;
static struct weft_gfam_dc *dc;
static struct weft_gfam_dc_done done;

/* Four DMPs of 1 GB in blocks of 64 MB; the regions are 8 blocks of each. */
static int
setup(void **state)
{
	(void)state;
	t = rig_new(&cfg);
	dc = weft_gfam_dc_init(aligned_alloc(WEFT_CACHE_LINE, weft_gfam_dc_size(&lists)), &lists);
	assert_non_null(dc);
	for (unsigned int i = 0; i < 4; i++) {
		const struct weft_gfam_region r = { .base = base_of[i],
			.decode_len = 8 * BLOCK,
			.len = 8 * BLOCK,
			.block = BLOCK };

		assert_int_equal(weft_gfam_set_dmp(t, i, base_of[i], GB, BLOCK), 0);
		assert_int_equal(weft_gfam_dc_set_region(dc, t, i, &r), 0);
	}
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(dc);
	free(t);
	return 0;
}

WEFT_TEST_EACH(setup, teardown)

/* A command that fails leaves tables and lists as they were. */
static int
add(const struct weft_gfam_add *a)
{
	struct weft_gfam *before =
		weft_gfam_copy(aligned_alloc(WEFT_CACHE_LINE, weft_gfam_size(&cfg)), t);
	struct weft_gfam_dc_list was = { 0 }, is = { 0 };
	struct weft_gfam_dc_room room_was, room_is;
	struct weft_gfam_extent e;
	int rc;

	(void)weft_gfam_dc_extents(dc, t, a->group, 0, &e, 0, &was);
	weft_gfam_dc_room(dc, &room_was);
	rc = weft_gfam_dc_add(dc, t, a, &done);
	(void)weft_gfam_dc_extents(dc, t, a->group, 0, &e, 0, &is);
	weft_gfam_dc_room(dc, &room_is);
	if (rc != 0) {
		assert_false(weft_gfam_differs(before, t));
		assert_memory_equal(&was, &is, sizeof(was));
		assert_memory_equal(&room_was, &room_is, sizeof(room_was));
	} else {
		assert_int_equal(is.generation, was.generation + 1);
		assert_int_equal(is.total, was.total + done.n_extents);
		assert_int_equal(done.n_wipe, 0);
	}
	free(before);
	return rc;
}

/* Tags of tests are a letter; 0 is none. */
static int
add_new(uint16_t group, uint8_t region, uint8_t policy, uint64_t blocks, char tag)
{
	const struct weft_gfam_add a = { .group = group,
		.policy = policy,
		.region = region,
		.len = blocks * BLOCK,
		.tag = { (uint8_t)tag } };

	return add(&a);
}

static int
add_ranges(
	uint16_t group, uint8_t region, const struct weft_gfam_range *r, unsigned int n, char tag)
{
	struct weft_gfam_add a = { .group = group,
		.policy = WEFT_GFAM_PRESCRIPTIVE,
		.region = region,
		.tag = { (uint8_t)tag },
		.range = r,
		.n = n };

	for (unsigned int i = 0; i < n; i++)
		a.len += r[i].len & ~(BLOCK - 1);
	return add(&a);
}

static int
share(uint16_t group, uint8_t region, char tag)
{
	return add_new(group, region, WEFT_GFAM_SHARED, 0, tag);
}

static int
release_tag(uint16_t group, char tag)
{
	const struct weft_gfam_release r = {
		.group = group, .by_tag = true, .tag = { (uint8_t)tag }
	};

	return weft_gfam_dc_release(dc, t, &r, &done);
}

static int
release_ranges(uint16_t group, const struct weft_gfam_range *range, unsigned int n)
{
	const struct weft_gfam_release r = { .group = group, .range = range, .n = n };

	return weft_gfam_dc_release(dc, t, &r, &done);
}

static int
refer(char tag, bool hold)
{
	const uint8_t name[WEFT_GFAM_TAG_LEN] = { (uint8_t)tag };

	return weft_gfam_dc_refer(dc, name, hold, &done);
}

/* Block @p i of the region is in this group and shows that memory. */
static void
expect_block(uint8_t region, unsigned int i, uint8_t group, uint64_t memory)
{
	const uint64_t dpa = base_of[region] + i * BLOCK;
	const struct weft_gfam_decoder d = {
		.hpa_base = 16 * GB, .dpa_base = dpa, .dpa_len = BLOCK, .valid = true
	};
	struct weft_gfam_decision out;

	assert_int_equal(weft_gfam_group(t, dpa), group);
	assert_int_equal(weft_gfam_set_gdt(t, WEFT_GFAM_SELF, 7, 0, &d, 1), 0);
	assert_int_equal(weft_gfam_set_sat(t, 7, weft_mask64(31)), 0);
	weft_gfam_decide(t, 7, 16 * GB + 0x12345, false, &out);
	assert_int_equal(
		out.result, group == WEFT_GFAM_NO_GROUP ? WEFT_GFAM_UNGROUPED : WEFT_GFAM_ALLOWED);
	assert_int_equal(out.dpa, (group == WEFT_GFAM_NO_GROUP ? dpa : memory) + 0x12345);
	assert_int_equal(weft_gfam_set_sat(t, 7, 0), 0);
}

static void
expect_own(uint8_t region, unsigned int i, uint8_t group)
{
	expect_block(region, i, group, base_of[region] + i * BLOCK);
}

static void
expect_extent(const struct weft_gfam_extent *e, uint8_t region, unsigned int i, unsigned int blocks,
	char tag, unsigned int seq)
{
	assert_int_equal(e->dpa, base_of[region] + i * BLOCK);
	assert_int_equal(e->len, blocks * BLOCK);
	assert_int_equal(e->tag[0], tag);
	assert_int_equal(e->seq, seq);
}

static void
expect_wiped(uint8_t region, unsigned int i, unsigned int blocks)
{
	assert_int_equal(done.n_wipe, 1);
	assert_int_equal(done.wipe[0].dpa, base_of[region] + i * BLOCK);
	assert_int_equal(done.wipe[0].len, blocks * BLOCK);
}

static struct weft_gfam_range
blocks_of(uint8_t region, unsigned int i, unsigned int blocks)
{
	return (struct weft_gfam_range){ base_of[region] + i * BLOCK, blocks * BLOCK };
}

WEFT_TEST(lists_out_of_range_have_no_size)
{
	const struct weft_gfam_dc_cfg bad[] = { { 0, 1 }, { 1, 0 }, { 4097, 1 }, { 1, 4097 } };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		assert_int_equal(weft_gfam_dc_size(&bad[i]), 0);
		assert_null(weft_gfam_dc_init(dc, &bad[i]));
	}
}

WEFT_TEST(free_takes_the_lowest_blocks_and_contiguous_one_run)
{
	const struct weft_gfam_range hole[] = { blocks_of(PLAIN, 1, 2), blocks_of(PLAIN, 4, 1) };

	assert_int_equal(add_ranges(1, PLAIN, hole, 2, 0), 0);
	assert_int_equal(done.n_extents, 2);
	/* Free: 0, 3, 5..7. */
	assert_int_equal(add_new(2, PLAIN, WEFT_GFAM_CONTIGUOUS, 2, 0), 0);
	assert_int_equal(done.n_extents, 1);
	expect_extent(&done.extent[0], PLAIN, 5, 2, 0, 0);
	assert_int_equal(add_new(2, PLAIN, WEFT_GFAM_CONTIGUOUS, 2, 0), -ENOSPC);
	assert_int_equal(add_new(3, PLAIN, WEFT_GFAM_FREE, 4, 0), -ENOSPC);
	assert_int_equal(add_new(3, PLAIN, WEFT_GFAM_FREE, 3, 'a'), 0);
	assert_int_equal(done.n_extents, 3);
	expect_extent(&done.extent[0], PLAIN, 0, 1, 'a', 0);
	expect_extent(&done.extent[1], PLAIN, 3, 1, 'a', 0);
	expect_extent(&done.extent[2], PLAIN, 7, 1, 'a', 0);
	expect_own(PLAIN, 0, 3);
	expect_own(PLAIN, 1, 1);
	expect_own(PLAIN, 5, 2);
	assert_int_equal(add_new(3, PLAIN, WEFT_GFAM_FREE, 1, 0), -ENOSPC);
	assert_int_equal(add_new(3, SHARABLE, WEFT_GFAM_FREE, 8, 0), 0);
}

WEFT_TEST(add_refuses_what_is_not_there)
{
	struct weft_gfam_add a = { .len = BLOCK };

	assert_int_equal(add_new(31, PLAIN, WEFT_GFAM_FREE, 1, 0), -EINVAL);
	assert_int_equal(add_new(UINT16_MAX, PLAIN, WEFT_GFAM_FREE, 1, 0), -EINVAL);
	assert_int_equal(add_new(256, PLAIN, WEFT_GFAM_FREE, 1, 0), -EINVAL);
	assert_int_equal(add_new(0, NOT_THERE, WEFT_GFAM_FREE, 1, 0), -EINVAL);
	assert_int_equal(add_new(0, 8, WEFT_GFAM_FREE, 1, 0), -EINVAL);
	assert_int_equal(add_new(0, PLAIN, 4, 1, 0), -EINVAL);
	assert_int_equal(add_new(0, PLAIN, WEFT_GFAM_FREE, 0, 0), -EINVAL);
	assert_int_equal(add_new(0, PLAIN, WEFT_GFAM_CONTIGUOUS, 0, 0), -EINVAL);
	a.region = PLAIN;
	a.len = BLOCK / 2;
	assert_int_equal(add(&a), -EINVAL);
	a.len = BLOCK + 1;
	assert_int_equal(add(&a), -EINVAL);
	a.policy = WEFT_GFAM_PRESCRIPTIVE;
	assert_int_equal(add(&a), -EINVAL);
	a.region = SHARABLE;
	a.policy = WEFT_GFAM_SHARED;
	assert_int_equal(add(&a), -EINVAL);
	assert_int_equal(add_new(0, PLAIN, WEFT_GFAM_FREE, 9, 0), -ENOSPC);
	assert_int_equal(add_new(30, PLAIN, WEFT_GFAM_FREE, 8, 0), 0);
}

WEFT_TEST(prescribed_extents_are_whole_free_and_apart)
{
	struct weft_gfam_range r[3] = { blocks_of(PLAIN, 2, 1), blocks_of(PLAIN, 0, 1),
		blocks_of(PLAIN, 3, 2) };

	assert_int_equal(add_ranges(1, PLAIN, r, 0, 0), -EBADMSG);
	r[1].len = 0;
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = (struct weft_gfam_range){ base_of[PLAIN], BLOCK / 2 };
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = (struct weft_gfam_range){ base_of[PLAIN] + 64, BLOCK };
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = blocks_of(PLAIN, 7, 2); /* beyond the end */
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = blocks_of(SHARABLE, 0, 1); /* another region's */
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = (struct weft_gfam_range){ base_of[PLAIN], 0 - BLOCK };
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = blocks_of(PLAIN, 1, 2); /* overlaps the first */
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = r[0];
	assert_int_equal(add_ranges(1, PLAIN, r, 2, 0), -EBADMSG);
	r[1] = blocks_of(PLAIN, 0, 1);
	for (unsigned int blocks = 0; blocks < 6; blocks++) {
		const struct weft_gfam_add a = { .group = 1,
			.policy = WEFT_GFAM_PRESCRIPTIVE,
			.region = PLAIN,
			.len = blocks * BLOCK,
			.range = r,
			.n = 3 };

		if (blocks != 4)
			assert_int_equal(add(&a), -EBADMSG); /* not as many in all */
	}
	assert_int_equal(add_ranges(1, PLAIN, r, 3, 0), 0);
	/* As they were given, though two of them meet. */
	expect_extent(&done.extent[0], PLAIN, 2, 1, 0, 0);
	expect_extent(&done.extent[1], PLAIN, 0, 1, 0, 0);
	expect_extent(&done.extent[2], PLAIN, 3, 2, 0, 0);
	r[0] = blocks_of(PLAIN, 4, 2); /* half of it in use */
	assert_int_equal(add_ranges(1, PLAIN, r, 1, 0), -EBADMSG);
}

WEFT_TEST(lists_run_full_with_an_error_and_nothing_done)
{
	struct weft_gfam_range r[4];
	struct weft_gfam_dc_room room;

	for (unsigned int i = 0; i < 4; i++)
		r[i] = blocks_of(PLAIN, 2 * i, 1);
	assert_int_equal(add_ranges(1, PLAIN, r, 4, 0), 0);
	for (unsigned int i = 0; i < 4; i++)
		r[i].dpa += base_of[COHERENT] - base_of[PLAIN];
	assert_int_equal(add_ranges(1, COHERENT, r, 3, 'a'), 0);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 'b'), 0);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 'c'), 0);
	weft_gfam_dc_room(dc, &room);
	assert_int_equal(room.extents, 12);
	assert_int_equal(room.extents_free, 3);
	assert_int_equal(room.tags, 3);
	assert_int_equal(room.tags_free, 0);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 'd'), -ENOSPC); /* no tag */
	assert_int_equal(add_new(1, PLAIN, WEFT_GFAM_FREE, 4, 0), -ENOSPC); /* 4 extents */
	assert_int_equal(add_new(1, PLAIN, WEFT_GFAM_FREE, 3, 0), 0);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 0), -ENOSPC);
	assert_int_equal(add_ranges(1, COHERENT, &r[3], 1, 0), -ENOSPC);
}

WEFT_TEST(tag_names_one_allocation_in_the_device)
{
	struct weft_gfam_tag tag[4];
	struct weft_gfam_dc_list list;

	assert_int_equal(add_new(1, PLAIN, WEFT_GFAM_FREE, 2, 'a'), 0);
	assert_int_equal(add_new(1, PLAIN, WEFT_GFAM_FREE, 1, 'a'), -EINVAL);
	assert_int_equal(add_new(2, SHARABLE, WEFT_GFAM_CONTIGUOUS, 1, 'a'), -EINVAL);
	assert_int_equal(share(2, SHARABLE, 'a'), -EINVAL); /* of no sharable region */
	assert_int_equal(share(2, SHARABLE, 'z'), -EINVAL);
	assert_int_equal(share(2, SHARABLE, 0), -EINVAL);
	assert_int_equal(refer('a', true), -EINVAL);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 2, 'b'), 0);
	assert_int_equal(weft_gfam_dc_tags(dc, 0, tag, 4, &list), 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(tag[0].tag[0], 'a');
	assert_int_equal(tag[1].tag[0], 'b');
	assert_int_equal(list.generation, 2);
	assert_int_equal(weft_gfam_dc_tags(dc, 1, tag, 4, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.total, 2);
	assert_int_equal(weft_gfam_dc_tags(dc, 2, tag, 4, &list), 0);
	assert_int_equal(list.n, 0);
	assert_int_equal(weft_gfam_dc_tags(dc, 3, tag, 4, &list), -EINVAL);
	assert_int_equal(weft_gfam_dc_tags(dc, 0, tag, 1, &list), 0);
	assert_int_equal(list.n, 1);
	/* Once released, it can name another. */
	assert_int_equal(release_tag(1, 'a'), 0);
	assert_int_equal(weft_gfam_dc_tags(dc, 0, tag, 4, &list), 0);
	assert_int_equal(list.total, 1);
	assert_int_equal(tag[0].tag[0], 'b');
	assert_int_equal(list.generation, 3);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 'a'), 0);
	expect_extent(&done.extent[0], SHARABLE, 2, 1, 'a', 1);
}

WEFT_TEST(release_takes_whole_extents_and_names_what_to_wipe)
{
	struct weft_gfam_range r[3] = { blocks_of(PLAIN, 0, 2), blocks_of(PLAIN, 2, 1),
		blocks_of(PLAIN, 4, 1) };

	assert_int_equal(add_ranges(1, PLAIN, r, 3, 0), 0);
	assert_int_equal(release_ranges(31, r, 1), -EINVAL);
	assert_int_equal(release_ranges(1, r, 0), -EBADMSG);
	assert_int_equal(release_ranges(2, r, 1), -EBADMSG); /* another group's */
	r[0].len = BLOCK; /* a part */
	assert_int_equal(release_ranges(1, r, 1), -EBADMSG);
	r[0].len = 3 * BLOCK; /* two at once */
	assert_int_equal(release_ranges(1, r, 1), -EBADMSG);
	r[0] = r[1]; /* twice */
	assert_int_equal(release_ranges(1, r, 2), -EBADMSG);
	expect_own(PLAIN, 2, 1);
	r[0] = blocks_of(PLAIN, 4, 1);
	assert_int_equal(release_ranges(1, r, 2), 0);
	/* In the order of the list. */
	assert_int_equal(done.n_extents, 2);
	expect_extent(&done.extent[0], PLAIN, 2, 1, 0, 0);
	expect_extent(&done.extent[1], PLAIN, 4, 1, 0, 0);
	assert_int_equal(done.n_wipe, 2);
	assert_int_equal(done.wipe[0].dpa, base_of[PLAIN] + 2 * BLOCK);
	assert_int_equal(done.wipe[1].dpa, base_of[PLAIN] + 4 * BLOCK);
	expect_own(PLAIN, 1, 1);
	expect_own(PLAIN, 2, WEFT_GFAM_NO_GROUP);
	assert_int_equal(release_ranges(1, r, 1), -EBADMSG); /* gone */
	assert_int_equal(release_tag(1, 0), -EINVAL);
}

WEFT_TEST(tagged_capacity_goes_by_tag_or_piece_by_piece)
{
	struct weft_gfam_range r[2] = { blocks_of(PLAIN, 0, 2), blocks_of(PLAIN, 3, 1) };

	assert_int_equal(add_ranges(1, PLAIN, r, 2, 'a'), 0);
	assert_int_equal(release_tag(1, 'z'), -EINVAL);
	assert_int_equal(release_tag(2, 'a'), -EINVAL); /* has nothing of it */
	assert_int_equal(release_ranges(1, r, 1), 0);
	expect_wiped(PLAIN, 0, 2);
	assert_int_equal(add_new(1, PLAIN, WEFT_GFAM_FREE, 1, 'a'), -EINVAL); /* in use still */
	assert_int_equal(release_tag(1, 'a'), 0);
	expect_wiped(PLAIN, 3, 1);
	assert_int_equal(release_tag(1, 'a'), -EINVAL);
	/* Sharable capacity goes by tag alone, unless it has none. */
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 2, 'a'), 0);
	r[0] = blocks_of(SHARABLE, 0, 2);
	assert_int_equal(release_ranges(1, r, 1), -EINVAL);
	assert_int_equal(release_ranges(1, r, 2), -EINVAL); /* whatever else is wrong */
	expect_own(SHARABLE, 0, 1);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 0), 0);
	expect_extent(&done.extent[0], SHARABLE, 2, 1, 0, 1);
	r[0] = blocks_of(SHARABLE, 2, 1);
	assert_int_equal(release_ranges(1, r, 1), 0);
	expect_wiped(SHARABLE, 2, 1);
}

/* Section 1.7: written by one host, then read by others. */
WEFT_TEST(shared_capacity_is_filled_by_one_and_read_by_others)
{
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 3, 'a'), 0);
	expect_extent(&done.extent[0], SHARABLE, 0, 3, 'a', 1);
	assert_int_equal(refer('a', true), 0);
	assert_int_equal(release_tag(1, 'a'), 0);
	assert_int_equal(done.n_extents, 1);
	assert_int_equal(done.n_wipe, 0);
	expect_own(SHARABLE, 0, WEFT_GFAM_NO_GROUP);
	/* Held: nobody else gets it. */
	assert_int_equal(add_new(4, SHARABLE, WEFT_GFAM_FREE, 5, 0), 0);
	assert_int_equal(add_new(4, SHARABLE, WEFT_GFAM_FREE, 1, 0), -ENOSPC);
	assert_int_equal(share(2, READ_ONLY, 'a'), 0);
	expect_extent(&done.extent[0], READ_ONLY, 0, 3, 'a', 1);
	for (unsigned int i = 0; i < 3; i++)
		expect_block(READ_ONLY, i, 2, i * BLOCK);
	assert_int_equal(share(2, READ_ONLY, 'a'), -EINVAL); /* has it */
	assert_int_equal(share(3, READ_ONLY, 'a'), 0);
	expect_block(READ_ONLY, 4, 3, BLOCK);
	assert_int_equal(refer('a', false), 0);
	assert_int_equal(done.n_wipe, 0);
	assert_int_equal(release_tag(2, 'a'), 0);
	assert_int_equal(done.n_wipe, 0);
	expect_own(READ_ONLY, 0, WEFT_GFAM_NO_GROUP);
	expect_block(READ_ONLY, 3, 3, 0);
	/* The last one: wiped where the memory is. */
	assert_int_equal(release_tag(3, 'a'), 0);
	expect_wiped(SHARABLE, 0, 3);
	assert_int_equal(add_new(5, READ_ONLY, WEFT_GFAM_FREE, 8, 0), 0);
	expect_own(READ_ONLY, 0, 5);
	assert_int_equal(add_new(5, SHARABLE, WEFT_GFAM_FREE, 3, 'a'), 0);
}

WEFT_TEST(dropping_the_last_reference_frees)
{
	struct weft_gfam_dc_list list;
	struct weft_gfam_tag tag[1];

	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 2, 'a'), 0);
	assert_int_equal(refer('a', false), -EINVAL); /* it is not held */
	assert_int_equal(refer('a', true), 0);
	assert_int_equal(refer('a', true), 0); /* as it was */
	assert_int_equal(weft_gfam_dc_tags(dc, 0, tag, 1, &list), 0);
	assert_true(tag[0].is_held);
	assert_int_equal(list.generation, 2);
	assert_int_equal(release_tag(1, 'a'), 0);
	assert_int_equal(done.n_wipe, 0);
	assert_int_equal(refer('a', false), 0);
	expect_wiped(SHARABLE, 0, 2);
	assert_int_equal(refer('a', false), -EINVAL);
	assert_int_equal(refer(0, true), -EINVAL);
	assert_int_equal(weft_gfam_dc_tags(dc, 0, tag, 1, &list), 0);
	assert_int_equal(list.total, 0);
}

WEFT_TEST(held_capacity_comes_back_at_its_own_addresses)
{
	const struct weft_gfam_range r[2] = { blocks_of(SHARABLE, 4, 1),
		blocks_of(SHARABLE, 1, 2) };

	assert_int_equal(add_ranges(1, SHARABLE, r, 2, 'a'), 0);
	assert_int_equal(refer('a', true), 0);
	assert_int_equal(add_new(2, SHARABLE, WEFT_GFAM_FREE, 1, 'b'), 0);
	assert_int_equal(release_tag(1, 'a'), 0);
	assert_int_equal(share(2, SHARABLE, 'a'), 0);
	assert_int_equal(done.n_extents, 2);
	expect_extent(&done.extent[0], SHARABLE, 4, 1, 'a', 1);
	expect_extent(&done.extent[1], SHARABLE, 1, 2, 'a', 2);
	expect_own(SHARABLE, 1, 2);
	/* A second group in that region sees it elsewhere. */
	assert_int_equal(share(3, SHARABLE, 'a'), 0);
	expect_extent(&done.extent[0], SHARABLE, 3, 1, 'a', 1);
	expect_extent(&done.extent[1], SHARABLE, 5, 2, 'a', 2);
	expect_block(SHARABLE, 3, 3, 4 * BLOCK);
	expect_block(SHARABLE, 6, 3, 2 * BLOCK);
	/* What shows it stays when its first group leaves. */
	assert_int_equal(refer('a', false), 0);
	assert_int_equal(release_tag(2, 'a'), 0);
	assert_int_equal(done.n_wipe, 0);
	expect_block(SHARABLE, 3, 3, 4 * BLOCK);
	assert_int_equal(release_tag(3, 'a'), 0);
	assert_int_equal(done.n_wipe, 2);
	assert_int_equal(done.wipe[0].dpa, 4 * BLOCK);
	assert_int_equal(done.wipe[1].dpa, BLOCK);
}

WEFT_TEST(sharing_is_refused_where_the_region_cannot)
{
	const struct weft_gfam_range r[] = { blocks_of(PLAIN, 0, 1) };
	const struct weft_gfam_region gone = { 0 };
	const struct weft_gfam_region large = {
		.base = GB, .decode_len = 8 * BLOCK, .len = 8 * BLOCK, .block = 2 * BLOCK
	};

	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 3, 'a'), 0);
	assert_int_equal(share(2, PLAIN, 'a'), -EINVAL);
	assert_int_equal(share(2, COHERENT, 'a'), -ENOTSUP);
	assert_int_equal(add_new(1, COHERENT, WEFT_GFAM_FREE, 1, 'b'), 0);
	assert_int_equal(share(2, READ_ONLY, 'b'), -ENOTSUP);
	/* At its own address it needs nothing of that. */
	assert_int_equal(refer('b', true), 0);
	assert_int_equal(release_tag(1, 'b'), 0);
	assert_int_equal(share(2, COHERENT, 'b'), 0);
	assert_int_equal(add_new(3, READ_ONLY, WEFT_GFAM_FREE, 6, 'c'), 0);
	assert_int_equal(share(2, READ_ONLY, 'a'), -ENOSPC);
	assert_int_equal(release_tag(3, 'c'), 0);
	/* Blocks twice as large cannot show three of the small ones. */
	assert_int_equal(weft_gfam_dc_set_region(dc, t, READ_ONLY, &gone), 0);
	assert_int_equal(weft_gfam_set_dmp(t, 1, GB, GB, 2 * BLOCK), 0);
	assert_int_equal(weft_gfam_dc_set_region(dc, t, READ_ONLY, &large), 0);
	assert_int_equal(share(2, READ_ONLY, 'a'), -EINVAL);
	assert_int_equal(add_ranges(2, PLAIN, r, 1, 0), 0);
}

WEFT_TEST(lists_are_read_from_any_place)
{
	struct weft_gfam_extent e[8];
	struct weft_gfam_dc_list list;

	assert_int_equal(add_new(1, PLAIN, WEFT_GFAM_FREE, 1, 0), 0);
	assert_int_equal(add_new(2, PLAIN, WEFT_GFAM_FREE, 1, 0), 0);
	assert_int_equal(add_new(1, PLAIN, WEFT_GFAM_FREE, 1, 0), 0);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 1, 0, e, 8, &list), 0);
	assert_int_equal(list.n, 2);
	assert_int_equal(list.total, 2);
	assert_int_equal(list.generation, 2);
	expect_extent(&e[1], PLAIN, 2, 1, 0, 0);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 1, 1, e, 8, &list), 0);
	assert_int_equal(list.n, 1);
	expect_extent(&e[0], PLAIN, 2, 1, 0, 0);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 1, 0, e, 1, &list), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.total, 2);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 1, 2, e, 8, &list), 0);
	assert_int_equal(list.n, 0);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 1, 3, e, 8, &list), -EINVAL);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 1, UINT32_MAX, e, 8, &list), -EINVAL);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 31, 0, e, 8, &list), -EINVAL);
	assert_int_equal(weft_gfam_dc_extents(dc, t, 30, 0, e, 8, &list), 0);
	assert_int_equal(list.total, 0);
	assert_int_equal(list.generation, 0);
}

WEFT_TEST(group_lives_by_capacity_or_by_rights)
{
	assert_false(weft_gfam_dc_is_active(dc, t, 3));
	assert_int_equal(add_new(3, PLAIN, WEFT_GFAM_FREE, 1, 'a'), 0);
	assert_true(weft_gfam_dc_is_active(dc, t, 3));
	assert_int_equal(weft_gfam_set_sat(t, 0xFFE, 1 << 3), 0);
	assert_int_equal(release_tag(3, 'a'), 0);
	assert_true(weft_gfam_dc_is_active(dc, t, 3));
	assert_int_equal(weft_gfam_set_sat(t, 0xFFE, 1 << 4), 0);
	assert_false(weft_gfam_dc_is_active(dc, t, 3));
	assert_true(weft_gfam_dc_is_active(dc, t, 4));
	assert_false(weft_gfam_dc_is_active(dc, t, 31));
}

WEFT_TEST(regions_and_dmps_stay_while_memory_in_them_is_in_use)
{
	const struct weft_gfam_region gone = { 0 };
	struct weft_gfam_region r;

	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 'a'), 0);
	assert_int_equal(weft_gfam_dc_set_region(dc, t, SHARABLE, &gone), -EBUSY);
	assert_int_equal(refer('a', true), 0);
	assert_int_equal(release_tag(1, 'a'), 0);
	/* In no group, but the fabric manager holds it. */
	assert_int_equal(weft_gfam_dc_set_region(dc, t, SHARABLE, &gone), -EBUSY);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, 0, 0), -EBUSY);
	assert_int_equal(refer('a', false), 0);
	assert_int_equal(weft_gfam_get_region(t, SHARABLE, &r), 0);
	assert_int_equal(r.len, 8 * BLOCK);
	assert_int_equal(r.block, BLOCK);
	assert_int_equal(r.flags, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE);
	assert_int_equal(weft_gfam_dc_set_region(dc, t, SHARABLE, &gone), 0);
	assert_int_equal(weft_gfam_dc_set_region(dc, t, 8, &gone), -EINVAL);
	assert_int_equal(weft_gfam_get_region(t, SHARABLE, &r), 0);
	assert_int_equal(r.decode_len, 0);
	assert_int_equal(r.flags, 0);
	assert_int_equal(weft_gfam_get_region(t, 8, &r), -EINVAL);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, 0, 0), 0);
	assert_int_equal(weft_gfam_get_dmp(t, 0, &r), 0);
	assert_int_equal(r.len, 0);
	assert_int_equal(r.block, 0);
	assert_int_equal(r.flags, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE);
	assert_int_equal(weft_gfam_get_dmp(t, 4, &r), -EINVAL);
	assert_int_equal(add_new(1, SHARABLE, WEFT_GFAM_FREE, 1, 0), -EINVAL);
}

/* An access over two blocks whose memory lies apart cannot be done as one. */
WEFT_TEST(uio_over_memory_that_lies_apart_crosses)
{
	struct weft_gfam_cfg c = cfg;
	struct weft_gfam *u;
	struct weft_gfam_decision d;
	const struct weft_gfam_decoder dec = {
		.hpa_base = 16 * GB, .dpa_len = 4 * BLOCK, .valid = true
	};

	c.knobs = WEFT_GFAM_UIO;
	u = rig_new(&c);
	assert_int_equal(weft_gfam_set_dmp(u, 0, 0, GB, BLOCK), 0);
	assert_int_equal(weft_gfam_set_region(u, 0, 0, GB, GB, BLOCK), 0);
	assert_int_equal(weft_gfam_set_blocks(u, 0, 4 * BLOCK, 2), 0);
	assert_int_equal(weft_gfam_set_sat(u, 7, 1 << 2), 0);
	assert_int_equal(weft_gfam_set_gdt(u, 7, 7, 0, &dec, 1), 0);
	assert_int_equal(weft_gfam_set_home(u, 0, 2 * BLOCK, 4 * BLOCK), 0);
	weft_gfam_decide_uio(u, 7, 16 * GB + BLOCK - 32, 96, true, &d);
	assert_int_equal(d.result, WEFT_GFAM_ALLOWED);
	assert_int_equal(d.dpa, 5 * BLOCK - 32);
	weft_gfam_decide_uio(u, 7, 16 * GB + 2 * BLOCK - 64, 128, false, &d);
	assert_int_equal(d.result, WEFT_GFAM_CROSSES);
	weft_gfam_decide_uio(u, 7, 16 * GB + 2 * BLOCK, 64, false, &d);
	assert_int_equal(d.result, WEFT_GFAM_ALLOWED);
	assert_int_equal(d.dpa, 2 * BLOCK);
	free(u);
}

WEFT_TEST(memory_elsewhere_is_whole_blocks_of_sharable_dmps)
{
#define BAD(rc, dpa, len, home) assert_int_equal(weft_gfam_set_home(t, dpa, len, home), rc)
	BAD(-EINVAL, 0, 0, BLOCK);
	BAD(-EINVAL, 64, BLOCK, 0);
	BAD(-EINVAL, 0, BLOCK + 64, 0);
	BAD(-EINVAL, 0, BLOCK, 64);
	BAD(-EINVAL, 5 * GB, BLOCK, 0);
	BAD(-EINVAL, 0, BLOCK, 5 * GB);
	BAD(-EINVAL, 0, 2 * BLOCK, GB - BLOCK);
	BAD(-EINVAL, GB - BLOCK, 2 * BLOCK, 0);
	BAD(-ENOTSUP, 0, BLOCK, 2 * GB);
	BAD(-ENOTSUP, 2 * GB, BLOCK, 0);
	BAD(-ENOTSUP, 0, BLOCK, 3 * GB);
	BAD(-ENOTSUP, 3 * GB, BLOCK, 3 * GB + BLOCK);
	BAD(0, 2 * GB, BLOCK, 2 * GB);
	BAD(0, GB - BLOCK, BLOCK, 2 * GB - BLOCK);
#undef BAD
}
