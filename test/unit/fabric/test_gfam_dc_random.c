/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Dynamic capacity against a plain array of blocks: any sequence of commands must have the return
 * codes, the extents, the tags, the freed memory and the decisions that the array has.
 */

#include "gfam_rig.h"

#include <errno.h>

#include "weft_gfam_dc.h"

#define BLOCK (64 * MB)
#define REGIONS 5
#define BLOCKS 40 /* of all regions, one after the other */
#define GROUPS 4
#define TAGS 6
#define LIST_EXTENTS 18
#define LIST_TAGS 4
#define NONE 0xFF
#define STEPS 4000

/* Blocks of a region: the first, in the array and in the device, and how many. */
static const struct {
	unsigned int first, n;
	uint64_t base;
	bool is_sharable;
} region[REGIONS] = {
	{ 0, 7, 0, true },
	{ 7, 8, GB / 2, true },
	{ 15, 16, GB, true },
	{ 31, 7, 2 * GB, false },
	{ 38, 2, 3 * GB, true },
};

static const struct weft_gfam_cfg cfg = {
	.rows = 1,
	.groups = GROUPS,
	.dmps = 4,
	.blocks = 16,
	.media = { { BLOCK, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE },
		{ BLOCK, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE | WEFT_GFAM_READ_ONLY },
		{ BLOCK, WEFT_GFAM_DC }, { BLOCK, WEFT_GFAM_DC | WEFT_GFAM_SHARABLE } },
};

/* A block as the array has it. */
struct plain_block {
	unsigned int
		extent; /* number of the extent it is in, from 1 in order of addition; 0: free */
	uint8_t group; /* NONE: kept for its tag */
	uint8_t tag; /* 0: none */
	uint8_t shows; /* block that holds what it shows */
	uint16_t seq;
};

static struct plain_block plain[BLOCKS];
static uint8_t tags[TAGS + 1]; /* in the order in which they came */
static unsigned int n_tags;
static bool is_held[TAGS + 1], tag_sharable[TAGS + 1];
static unsigned int next_extent;
static uint32_t generation[GROUPS], tag_generation;

static struct weft_gfam *t;
static struct weft_gfam_dc *dc;
static struct weft_gfam_dc_done done;
static struct weft_rand r;

static unsigned int
below(unsigned int n)
{
	return (unsigned int)weft_rand_below(&r, n);
}

static uint64_t
plain_dpa(unsigned int b)
{
	unsigned int i = 0;

	while (b >= region[i].first + region[i].n)
		i++;
	return region[i].base + (b - region[i].first) * BLOCK;
}

static unsigned int
plain_region(unsigned int b)
{
	unsigned int i = 0;

	while (b >= region[i].first + region[i].n)
		i++;
	return i;
}

static unsigned int
plain_extents(void)
{
	unsigned int n = 0;

	for (unsigned int b = 0; b < BLOCKS; b++)
		n += plain[b].extent != 0 && (b == 0 || plain[b - 1].extent != plain[b].extent);
	return n;
}

static bool
plain_uses(uint8_t tag, uint8_t group)
{
	for (unsigned int b = 0; b < BLOCKS; b++)
		if (plain[b].extent != 0 && plain[b].tag == tag && plain[b].group != NONE &&
			(group == NONE || plain[b].group == group))
			return true;
	return false;
}

static bool
plain_has_tag(uint8_t tag)
{
	for (unsigned int i = 0; i < n_tags; i++)
		if (tags[i] == tag)
			return true;
	return false;
}

/* Blocks to be had: in the order in which they are to be given, with what they show. */
struct want {
	unsigned int n;
	uint8_t block[BLOCKS], shows[BLOCKS];
	bool begins[BLOCKS]; /* an extent */
};

static unsigned int
want_extents(const struct want *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->n; i++)
		n += w->begins[i];
	return n;
}

static void
want_block(struct want *w, unsigned int b, unsigned int shows, bool begins)
{
	/* It goes on where the block before it ended, and so does what it shows. */
	w->begins[w->n] = begins || w->n == 0 || w->block[w->n - 1] + 1u != b ||
	                  w->shows[w->n - 1] + 1u != shows;
	w->block[w->n] = (uint8_t)b;
	w->shows[w->n++] = (uint8_t)shows;
}

/* Give the blocks to a group: what weft_gfam_dc_add() must have done. */
static int
plain_give(const struct want *w, uint8_t group, uint8_t tag, bool has_seq)
{
	uint16_t seq = 0;

	if (plain_extents() + want_extents(w) > LIST_EXTENTS)
		return -ENOSPC;
	for (unsigned int i = 0; i < w->n; i++) {
		seq = (uint16_t)(seq + w->begins[i]);
		next_extent += w->begins[i];
		plain[w->block[i]] = (struct plain_block){ next_extent, group, tag, w->shows[i],
			has_seq ? seq : 0 };
	}
	generation[group]++;
	return 0;
}

static int
plain_add_new(uint8_t group, unsigned int in, uint8_t policy, unsigned int n, uint8_t tag,
	const struct weft_gfam_range *range, unsigned int n_ranges)
{
	struct want w = { 0 };
	bool taken[BLOCKS] = { false };
	unsigned int from = region[in].first, end = from + region[in].n, total = 0;
	int rc;

	if (tag != 0 && plain_has_tag(tag))
		return -EINVAL;
	if (policy != WEFT_GFAM_PRESCRIPTIVE && n == 0)
		return -EINVAL;
	if (policy == WEFT_GFAM_PRESCRIPTIVE && n_ranges == 0)
		return -EBADMSG;
	for (unsigned int i = 0; policy == WEFT_GFAM_PRESCRIPTIVE && i < n_ranges; i++) {
		const uint64_t at = range[i].dpa - region[in].base;

		if (range[i].dpa < region[in].base || at % BLOCK != 0 || range[i].len == 0)
			return -EBADMSG;
		for (uint64_t k = 0; k < range[i].len / BLOCK; k++) {
			const uint64_t b = from + at / BLOCK + k;

			if (b >= end || plain[b].extent != 0 || taken[b])
				return -EBADMSG;
			taken[b] = true;
			total++;
			want_block(&w, (unsigned int)b, (unsigned int)b, k == 0);
		}
	}
	if (policy == WEFT_GFAM_PRESCRIPTIVE && total != n)
		return -EBADMSG;
	for (unsigned int b = from; policy == WEFT_GFAM_FREE && b < end && w.n < n; b++)
		if (plain[b].extent == 0)
			want_block(&w, b, b, false);
	for (unsigned int b = from; policy == WEFT_GFAM_CONTIGUOUS && b < end && w.n < n; b++) {
		if (plain[b].extent != 0)
			w.n = 0;
		else
			want_block(&w, b, b, false);
	}
	if (policy != WEFT_GFAM_PRESCRIPTIVE && w.n < n)
		return -ENOSPC;
	if (tag != 0 && n_tags == LIST_TAGS)
		return -ENOSPC;
	rc = plain_give(&w, group, tag, region[in].is_sharable);
	if (rc == 0 && tag != 0) {
		tags[n_tags++] = tag;
		tag_sharable[tag] = region[in].is_sharable;
		tag_generation++;
	}
	return rc;
}

/* Memory of a tag in its own order: blocks that show themselves. */
static unsigned int
plain_memory(uint8_t tag, uint8_t block[BLOCKS])
{
	unsigned int n = 0;

	for (unsigned int seq = 1; seq <= BLOCKS; seq++)
		for (unsigned int b = 0; b < BLOCKS; b++)
			if (plain[b].extent != 0 && plain[b].tag == tag && plain[b].seq == seq &&
				plain[b].shows == b)
				block[n++] = (uint8_t)b;
	return n;
}

static int
plain_share(uint8_t group, unsigned int in, uint8_t tag)
{
	struct want w = { 0 };
	uint8_t memory[BLOCKS];
	bool at_home = true;
	unsigned int n, b = region[in].first;

	if (tag == 0 || !plain_has_tag(tag) || !tag_sharable[tag] || !region[in].is_sharable ||
		plain_uses(tag, group))
		return -EINVAL;
	n = plain_memory(tag, memory);
	for (unsigned int i = 0; i < n; i++)
		at_home =
			at_home && plain_region(memory[i]) == in && plain[memory[i]].group == NONE;
	if (at_home) {
		for (unsigned int i = 0; i < n; i++) {
			if (i == 0 || plain[memory[i]].seq != plain[memory[i - 1]].seq)
				next_extent++;
			plain[memory[i]].group = group;
			plain[memory[i]].extent = next_extent;
		}
		generation[group]++;
		return 0;
	}
	for (unsigned int i = 0; i < n; i++, b++) {
		while (b < region[in].first + region[in].n && plain[b].extent != 0)
			b++;
		if (b >= region[in].first + region[in].n)
			return -ENOSPC;
		/* An extent never spans two of the memory's. */
		want_block(&w, b, memory[i],
			i == 0 || plain[memory[i]].extent != plain[memory[i - 1]].extent);
	}
	return plain_give(&w, group, tag, true);
}

/* Free what nobody has; what was freed is in @p freed. */
static void
plain_collect(bool freed[BLOCKS])
{
	for (unsigned int i = 0; i < n_tags; i++) {
		const uint8_t tag = tags[i];

		if (is_held[tag] || plain_uses(tag, NONE))
			continue;
		for (unsigned int b = 0; b < BLOCKS; b++) {
			if (plain[b].extent == 0 || plain[b].tag != tag)
				continue;
			freed[b] = true;
			plain[b].extent = 0;
		}
		memmove(&tags[i], &tags[i + 1], n_tags - i - 1);
		n_tags--;
		i--;
		tag_generation++;
	}
}

/* Take a block from its group. */
static void
plain_leave(unsigned int b, bool freed[BLOCKS])
{
	if (plain[b].shows == b && plain[b].tag != 0 && tag_sharable[plain[b].tag]) {
		plain[b].group = NONE;
		return;
	}
	freed[b] = plain[b].shows == b;
	plain[b].extent = 0;
}

static int
plain_release_tag(uint8_t group, uint8_t tag, bool freed[BLOCKS])
{
	if (tag == 0 || !plain_has_tag(tag) || !plain_uses(tag, group))
		return -EINVAL;
	for (unsigned int b = 0; b < BLOCKS; b++)
		if (plain[b].extent != 0 && plain[b].tag == tag && plain[b].group == group)
			plain_leave(b, freed);
	generation[group]++;
	plain_collect(freed);
	return 0;
}

/* Blocks of the range if it is a whole extent of the group, else 0. */
static unsigned int
plain_whole(uint8_t group, const struct weft_gfam_range *range, unsigned int *first)
{
	for (unsigned int b = 0; b < BLOCKS; b++) {
		unsigned int n = 1;

		if (plain[b].extent == 0 || plain[b].group != group || plain_dpa(b) != range->dpa ||
			(b > 0 && plain[b - 1].extent == plain[b].extent))
			continue;
		while (b + n < BLOCKS && plain[b + n].extent == plain[b].extent)
			n++;
		*first = b;
		return range->len == n * BLOCK ? n : 0;
	}
	return 0;
}

static int
plain_release_ranges(
	uint8_t group, const struct weft_gfam_range *range, unsigned int n, bool freed[BLOCKS])
{
	bool seen[BLOCKS] = { false };
	unsigned int first;
	int rc = n == 0 ? -EBADMSG : 0;

	for (unsigned int i = 0; i < n; i++) {
		if (plain_whole(group, &range[i], &first) == 0)
			rc = -EBADMSG;
		else if (plain[first].tag != 0 && tag_sharable[plain[first].tag])
			return -EINVAL;
		else if (seen[first])
			rc = -EBADMSG;
		else
			seen[first] = true;
	}
	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = plain_whole(group, &range[i], &first); k > 0; k--)
			plain_leave(first + k - 1, freed);
	generation[group]++;
	plain_collect(freed);
	return 0;
}

static int
plain_refer(uint8_t tag, bool hold, bool freed[BLOCKS])
{
	if (tag == 0 || !plain_has_tag(tag) || !tag_sharable[tag] || (!hold && !is_held[tag]))
		return -EINVAL;
	if (is_held[tag] != hold) {
		is_held[tag] = hold;
		tag_generation++;
		plain_collect(freed);
	}
	return 0;
}

static void
check_group(uint8_t group)
{
	struct weft_gfam_extent e[LIST_EXTENTS];
	struct weft_gfam_dc_list list;
	unsigned int n = 0;

	assert_int_equal(weft_gfam_dc_extents(dc, t, group, 0, e, LIST_EXTENTS, &list), 0);
	assert_int_equal(list.generation, generation[group]);
	for (unsigned int x = 1; x <= next_extent; x++) {
		unsigned int len = 0, first = 0;

		for (unsigned int b = 0; b < BLOCKS; b++) {
			if (plain[b].extent != x || plain[b].group != group)
				continue;
			first = len++ == 0 ? b : first;
		}
		if (len == 0)
			continue;
		assert_true(n < list.n);
		assert_int_equal(e[n].dpa, plain_dpa(first));
		assert_int_equal(e[n].len, len * BLOCK);
		assert_int_equal(e[n].tag[0], plain[first].tag);
		assert_int_equal(e[n].seq, plain[first].seq);
		n++;
	}
	assert_int_equal(n, list.n);
	assert_int_equal(n, list.total);
}

static void
check_tables(void)
{
	for (unsigned int b = 0; b < BLOCKS; b++) {
		const struct weft_gfam_decoder d = { .hpa_base = 16 * GB,
			.dpa_base = plain_dpa(b),
			.dpa_len = BLOCK,
			.valid = true };
		const bool has_group = plain[b].extent != 0 && plain[b].group != NONE;
		struct weft_gfam_decision out;

		assert_int_equal(weft_gfam_set_gdt(t, 7, 7, 0, &d, 1), 0);
		weft_gfam_decide(t, 7, 16 * GB + BLOCK - 1, false, &out);
		assert_int_equal(out.result, has_group ? WEFT_GFAM_ALLOWED : WEFT_GFAM_UNGROUPED);
		assert_int_equal(out.group, has_group ? plain[b].group : WEFT_GFAM_NO_GROUP);
		assert_int_equal(out.dpa, plain_dpa(has_group ? plain[b].shows : b) + BLOCK - 1);
	}
}

static void
check_tags(void)
{
	struct weft_gfam_tag out[LIST_TAGS];
	struct weft_gfam_dc_list list;
	struct weft_gfam_dc_room room;

	assert_int_equal(weft_gfam_dc_tags(dc, 0, out, LIST_TAGS, &list), 0);
	assert_int_equal(list.total, n_tags);
	assert_int_equal(list.generation, tag_generation);
	for (unsigned int i = 0; i < n_tags; i++) {
		assert_int_equal(out[i].tag[0], tags[i]);
		assert_int_equal(out[i].is_held, is_held[tags[i]]);
	}
	weft_gfam_dc_room(dc, &room);
	assert_int_equal(room.extents_free, LIST_EXTENTS - plain_extents());
	assert_int_equal(room.tags_free, LIST_TAGS - n_tags);
}

/* What was wiped is what was freed, each block once. */
static void
check_freed(const bool freed[BLOCKS])
{
	bool wiped[BLOCKS] = { false };

	for (unsigned int i = 0; i < done.n_wipe; i++)
		for (uint64_t at = 0; at < done.wipe[i].len; at += BLOCK)
			for (unsigned int b = 0; b < BLOCKS; b++) {
				if (plain_dpa(b) != done.wipe[i].dpa + at)
					continue;
				assert_false(wiped[b]);
				wiped[b] = true;
			}
	assert_memory_equal(wiped, freed, sizeof(wiped));
}

static unsigned int
draw_ranges(struct weft_gfam_range range[4], unsigned int in)
{
	const unsigned int n = below(4);

	for (unsigned int i = 0; i < n; i++) {
		range[i].dpa = region[in].base + below(region[in].n + 1) * BLOCK +
		               (below(20) == 0 ? BLOCK / 2 : 0);
		range[i].len = below(4) * BLOCK;
	}
	return n;
}

/* Extents that there are, mostly. */
static unsigned int
draw_extents(struct weft_gfam_range range[4], uint8_t group)
{
	struct weft_gfam_extent e[LIST_EXTENTS];
	struct weft_gfam_dc_list list;
	const unsigned int n = below(4);

	assert_int_equal(weft_gfam_dc_extents(dc, t, group, 0, e, LIST_EXTENTS, &list), 0);
	if (list.n == 0)
		return draw_ranges(range, below(REGIONS));
	for (unsigned int i = 0; i < n; i++) {
		const struct weft_gfam_extent *one = &e[below(list.n)];

		range[i] = (struct weft_gfam_range){ one->dpa, one->len };
		if (below(20) == 0)
			range[i].len += BLOCK;
	}
	return n;
}

static int
step_add(int *want)
{
	struct weft_gfam_range range[4] = { { 0 } };
	const unsigned int in = below(REGIONS), n = draw_ranges(range, in);
	unsigned int blocks = below(8);
	const uint8_t group = (uint8_t)below(GROUPS), tag = (uint8_t)below(TAGS + 1);
	struct weft_gfam_add a = { .group = group,
		.policy = (uint8_t)below(4),
		.region = (uint8_t)in,
		.tag = { tag },
		.range = range,
		.n = n };

	if (a.policy == WEFT_GFAM_PRESCRIPTIVE && below(10) != 0) {
		blocks = 0;
		for (unsigned int i = 0; i < n; i++)
			blocks += (unsigned int)(range[i].len / BLOCK);
	}
	a.len = blocks * BLOCK;
	*want = a.policy == WEFT_GFAM_SHARED
	                ? plain_share(group, in, tag)
	                : plain_add_new(group, in, a.policy, blocks, tag, range, n);
	return weft_gfam_dc_add(dc, t, &a, &done);
}

static int
step_release(int *want, bool freed[BLOCKS])
{
	struct weft_gfam_range range[4] = { { 0 } };
	const uint8_t group = (uint8_t)below(GROUPS), tag = (uint8_t)below(TAGS + 1);
	const struct weft_gfam_release q = { .group = group,
		.by_tag = below(2) == 0,
		.tag = { tag },
		.range = range,
		.n = draw_extents(range, group) };

	*want = q.by_tag ? plain_release_tag(group, tag, freed)
	                 : plain_release_ranges(group, range, q.n, freed);
	return weft_gfam_dc_release(dc, t, &q, &done);
}

static int
step_refer(int *want, bool freed[BLOCKS])
{
	const uint8_t tag[WEFT_GFAM_TAG_LEN] = { (uint8_t)below(TAGS + 1) };
	const bool hold = below(2) == 0;

	*want = plain_refer(tag[0], hold, freed);
	return weft_gfam_dc_refer(dc, tag, hold, &done);
}

static void
make_device(void)
{
	const struct weft_gfam_dc_cfg lists = { LIST_EXTENTS, LIST_TAGS };

	t = rig_new(&cfg);
	dc = weft_gfam_dc_init(aligned_alloc(WEFT_CACHE_LINE, weft_gfam_dc_size(&lists)), &lists);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(weft_gfam_set_dmp(t, i, i * GB, GB, BLOCK), 0);
	for (unsigned int i = 0; i < REGIONS; i++) {
		const struct weft_gfam_region p = {
			.base = region[i].base,
			.decode_len = (region[i].n * BLOCK + GB / 4 - 1) & ~(GB / 4 - 1),
			.len = region[i].n * BLOCK,
			.block = BLOCK,
		};

		assert_int_equal(weft_gfam_dc_set_region(dc, t, i, &p), 0);
	}
	assert_int_equal(weft_gfam_set_sat(t, 7, weft_mask64(GROUPS)), 0);
}

WEFT_TEST(random_commands_equal_an_array_of_blocks)
{
	unsigned int good = 0;

	weft_test_seed(&r, "gfam dc");
	make_device();
	for (unsigned int i = 0; i < STEPS; i++) { /* in each build: fewer have bad luck */
		const unsigned int kind = below(10);
		bool freed[BLOCKS] = { false };
		int want, got;

		done = (struct weft_gfam_dc_done){ 0 };
		got = kind < 5   ? step_add(&want)
		      : kind < 8 ? step_release(&want, freed)
		                 : step_refer(&want, freed);
		assert_int_equal(got, want);
		check_freed(freed);
		for (uint8_t g = 0; g < GROUPS; g++)
			check_group(g);
		check_tags();
		check_tables();
		good += got == 0;
	}
	/* Else the draws are too wild to say much. */
	assert_true(good > STEPS / 8);
	free(dc);
	free(t);
}
