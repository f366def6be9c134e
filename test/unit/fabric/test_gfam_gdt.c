/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * GDT: the vectors of fabric.md part (c), every pair of ways and granularity there and back, and
 * each rule of the command.
 */

#include "gfam_rig.h"

#include "gfam_priv.h"

#define RPID 0x11
#define OTHER 0x12

#define KB UINT64_C(1024)

static const struct weft_gfam_cfg cfg = {
	.rows = 2,
	.groups = 31,
	.dmps = 2,
	.blocks = RIG_BLOCKS,
	.media = { { UINT64_C(1) << 26, WEFT_GFAM_COHERENT }, { 256 * KB, 0 } },
};

static struct weft_gfam *t;
static size_t size;

/* DMP 0: 64 GB at 0 in blocks of 64 MB; DMP 1: 256 MB at 1 TB in blocks of 256 KB. */
static int
setup(void **state)
{
	(void)state;
	t = rig_new(&cfg);
	size = weft_gfam_size(&cfg);
	assert_int_equal(weft_gfam_set_dmp(t, 0, 0, 64 * GB, 64 * MB), 0);
	assert_int_equal(weft_gfam_set_dmp(t, 1, TB, 256 * MB, 256 * KB), 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(t);
	return 0;
}

WEFT_TEST_EACH(setup, teardown)

/* A decoder that may be set: the first way of four of the set at 1 PB. */
static struct weft_gfam_decoder
good(void)
{
	return (struct weft_gfam_decoder){ .hpa_base = PB,
		.dpa_base = 8 * GB,
		.dpa_len = 4 * GB,
		.valid = true,
		.intlv = 2,
		.gran = 2 };
}

static int
set(unsigned int k, const struct weft_gfam_decoder *d)
{
	return weft_gfam_set_gdt(t, WEFT_GFAM_SELF, RPID, k, d, 1);
}

/* @p d is refused with @p rc, and no byte of the tables changes. */
static void
refused(uint16_t caller, uint16_t rpid, unsigned int start, const struct weft_gfam_decoder *d,
	unsigned int n, int rc)
{
	void *before = malloc(size);

	assert_non_null(before);
	memcpy(before, t, size);
	assert_int_equal(weft_gfam_set_gdt(t, caller, rpid, start, d, n), rc);
	assert_memory_equal(before, t, size);
	free(before);
}

WEFT_TEST(vectors_of_part_c)
{
	static const struct {
		uint64_t hpa;
		uint8_t gran, intlv, way;
		uint64_t off;
	} cut[] = {
		{ 0x123456789ABC, 0, 1, 0, 0x91A2B3C4DBC },
		{ 0x123456789ABC, 0, 8, 0x9A, 0x12345678BC },
		{ 0x123456789ABC, 4, 3, 1, 0x2468ACF1ABC },
		{ 0x123456789ABC, 6, 8, 0xE2, 0x1234565ABC },
		{ 0x1000003FC0, 0, 4, 0xF, 0x1000003C0 },
	};
	static const struct {
		uint64_t hpa;
		uint8_t way;
		uint64_t dpa;
	} set4[] = {
		{ PB, 0, 0x200000000 },
		{ PB + 0x400, 1, 0x200000000 },
		{ PB + 0xFC0, 3, 0x2000003C0 },
		{ PB + 0x12345C0, 1, 0x20048D1C0 },
	};
	struct weft_gfam_decision d;
	struct weft_gfam_decoder e;
	uint64_t hpa;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cut); i++) {
		const uint64_t g = UINT64_C(256) << cut[i].gran, w = UINT64_C(1) << cut[i].intlv;

		e = (struct weft_gfam_decoder){
			.valid = true, .gran = cut[i].gran, .intlv = cut[i].intlv, .way = cut[i].way
		};
		assert_int_equal(cut[i].hpa / g % w, cut[i].way);
		/* The same bits in the room there is in DMP 1. */
		e.hpa_base = cut[i].hpa & ~(w * 128 * MB - 1);
		e.dpa_base = TB;
		e.dpa_len = 128 * MB;
		assert_int_equal(set(0, &e), 0);
		weft_gfam_decide(t, RPID, cut[i].hpa, false, &d);
		assert_int_equal(d.result, WEFT_GFAM_UNGROUPED);
		assert_int_equal(d.dpa, TB + (cut[i].off & (128 * MB - 1)));
		assert_int_equal(weft_gfam_reverse(t, RPID, d.dpa, &hpa), 0);
		assert_int_equal(hpa, cut[i].hpa);
	}
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(set4); i++) {
		e = good();
		e.way = set4[i].way;
		assert_int_equal(set(0, &e), 0);
		weft_gfam_decide(t, RPID, set4[i].hpa, false, &d);
		assert_int_equal(d.dpa, set4[i].dpa);
		assert_int_equal(weft_gfam_reverse(t, RPID, d.dpa, &hpa), 0);
		assert_int_equal(hpa, set4[i].hpa);
		weft_gfam_decide(t, RPID, PB + 16 * GB, false, &d);
		assert_int_equal(d.result, WEFT_GFAM_NO_HIT);
	}
}

/* Each way of a set, one after the other, in the smallest range that has all bits. */
WEFT_TEST(every_byte_of_a_set_is_hit_once_and_comes_back)
{
	struct weft_rand r;

	weft_test_seed(&r, "gdt round trip");
	for (unsigned int pair = 0; pair < 9 * 7; pair++) {
		struct weft_gfam_decoder e = { .valid = true,
			.intlv = (uint8_t)(pair % 9),
			.gran = (uint8_t)(pair / 9),
			.dpa_base = TB + 256 * KB,
			.dpa_len = 256 * KB };
		const uint64_t span = e.dpa_len << e.intlv, granule = UINT64_C(256) << e.gran;

		e.hpa_base = PB + span;
		for (unsigned int way = 0; way < 1u << e.intlv; way++) {
			uint64_t owned = 0;

			e.way = (uint8_t)way;
			assert_int_equal(set(0, &e), 0);
			/* Every granule: which way it is decides alone. */
			for (uint64_t at = 0; at < span; at += granule) {
				const uint64_t hpa = e.hpa_base + at + weft_rand_below(&r, 256);
				struct weft_gfam_decision d;
				uint64_t back;

				if (way % 16 != 0 && at / granule % (UINT64_C(1) << e.intlv) != way)
					continue;
				weft_gfam_decide(t, RPID, hpa, false, &d);
				if (d.result == WEFT_GFAM_WRONG_WAY)
					continue;
				assert_int_equal(d.result, WEFT_GFAM_UNGROUPED);
				assert_int_equal(weft_gfam_reverse(t, RPID, d.dpa, &back), 0);
				assert_int_equal(back, hpa);
				/* In order, without a gap: then no two meet. */
				assert_int_equal(d.dpa, e.dpa_base + owned + hpa % 256);
				owned += granule;
			}
			assert_int_equal(owned, e.dpa_len);
			assert_int_equal(rig_ask(t, RPID, e.hpa_base - 1, false), WEFT_GFAM_NO_HIT);
			assert_int_equal(
				rig_ask(t, RPID, e.hpa_base + span, false), WEFT_GFAM_NO_HIT);
			assert_int_equal(rig_ask(t, RPID, UINT64_MAX, false), WEFT_GFAM_NO_HIT);
			assert_int_equal(rig_ask(t, RPID, 0, false), WEFT_GFAM_NO_HIT);
		}
	}
}

WEFT_TEST(wrong_way_is_no_hit_unless_switched_off)
{
	struct weft_gfam_cfg any = cfg;
	struct weft_gfam *u;
	struct weft_gfam_decoder e = good();

	any.knobs = WEFT_GFAM_ANY_WAY;
	u = rig_new(&any);
	assert_int_equal(weft_gfam_set_dmp(u, 0, 0, 64 * GB, 64 * MB), 0);
	for (uint8_t way = 0; way < 4; way++) {
		e.way = way;
		assert_int_equal(set(0, &e), 0);
		assert_int_equal(weft_gfam_set_gdt(u, RPID, RPID, 0, &e, 1), 0);
		for (uint64_t at = 0; at < 16; at++) {
			const uint64_t hpa = PB + at * 1024 + 64;

			assert_int_equal(rig_ask(t, RPID, hpa, at % 2),
				at % 4 == way ? WEFT_GFAM_UNGROUPED : WEFT_GFAM_WRONG_WAY);
			assert_int_equal(rig_ask(u, RPID, hpa, at % 2), WEFT_GFAM_UNGROUPED);
		}
	}
	free(u);
}

WEFT_TEST(each_rule_is_refused_and_changes_nothing)
{
	const struct weft_gfam_decoder g = good();
	struct weft_gfam_decoder d;

	assert_int_equal(set(0, &g), 0);
#define BAD(rc, field, value)                                                                      \
	do {                                                                                       \
		d = g;                                                                             \
		d.field = value;                                                                   \
		refused(WEFT_GFAM_SELF, RPID, 0, &d, 1, rc);                                       \
	} while (0)
	for (unsigned int v = 9; v < 256; v++)
		BAD(-EINVAL, intlv, (uint8_t)v);
	for (unsigned int v = 7; v < 256; v++)
		BAD(-EINVAL, gran, (uint8_t)v);
	for (unsigned int v = 4; v < 256; v++)
		BAD(-EINVAL, way, (uint8_t)v);
	for (unsigned int bit = 0; bit < 26; bit++) {
		BAD(-EINVAL, hpa_base, PB | UINT64_C(1) << bit);
		BAD(-EINVAL, dpa_base, 8 * GB | UINT64_C(1) << bit);
		BAD(-EINVAL, dpa_len, 4 * GB | UINT64_C(1) << bit);
	}
	BAD(-EINVAL, dpa_len, 0);
	BAD(-EINVAL, dpa_len, 57 * GB); /* out of the DMP */
	BAD(-EINVAL, dpa_len, UINT64_MAX & ~(64 * MB - 1));
	BAD(-EINVAL, dpa_base, 64 * GB); /* behind it */
	BAD(-EINVAL, hpa_base, UINT64_MAX & ~(64 * MB - 1)); /* wraps */
	/* 256 ways of 16 KB need more than the block's 256 KB. */
	d = (struct weft_gfam_decoder){ .valid = true,
		.hpa_base = PB + 2 * MB,
		.dpa_base = TB,
		.dpa_len = 4 * MB,
		.intlv = 8,
		.gran = 6 };
	refused(WEFT_GFAM_SELF, RPID, 1, &d, 1, -EINVAL);
	/* Coherent where the media is not. */
	d.hpa_base = 2 * PB;
	d.coherent = true;
	refused(WEFT_GFAM_SELF, RPID, 1, &d, 1, -ENOTSUP);
	d.coherent = false;
	assert_int_equal(set(1, &d), 0);
#undef BAD
}

static void
expect_nothing_below(struct weft_gfam *u, uint64_t base)
{
	struct weft_gfam_decision d;

	for (unsigned int i = 0; i < 64; i++) {
		weft_gfam_decide(u, 0, (base - 1) - ((base - 1) >> i), false, &d);
		assert_int_equal(d.result, WEFT_GFAM_NO_HIT);
	}
}

/*
 * Below a base the distance wraps: with the longest sets and highest bases it must not come round.
 */
WEFT_TEST(sets_at_the_end_of_all_addresses)
{
	const uint64_t block = UINT64_C(1) << 51;
	const struct weft_gfam_cfg huge = {
		.rows = 1, .groups = 1, .dmps = 1, .blocks = 64, .media = { { block, 0 } }
	};
	struct weft_gfam *u = rig_new(&huge);
	struct weft_gfam_decoder set2[2] = {
		{ .valid = true, .intlv = 7, .dpa_len = 32 * block },
		{ .valid = true, .intlv = 7, .dpa_len = 32 * block, .dpa_base = 32 * block },
	};
	struct weft_gfam_decision d;

	assert_int_equal(weft_gfam_set_dmp(u, 0, 0, 64 * block, block), 0);
	for (uint8_t n = 0; n <= 8; n++) {
		struct weft_gfam_decoder e = { .valid = true, .intlv = n };
		const uint64_t most = n < 7 ? 64 * block : (UINT64_C(1) << (64 - n)) - block;

		for (e.dpa_len = block; e.dpa_len <= most; e.dpa_len += block) {
			const uint64_t span = e.dpa_len << n;

			e.hpa_base = 0 - span - block;
			assert_int_equal(weft_gfam_set_gdt(u, 0, 0, 0, &e, 1), 0);
			expect_nothing_below(u, e.hpa_base);
			weft_gfam_decide(u, 0, e.hpa_base, false, &d);
			assert_int_equal(d.result, WEFT_GFAM_UNGROUPED);
			weft_gfam_decide(u, 0, e.hpa_base + span, false, &d);
			assert_int_equal(d.result, WEFT_GFAM_NO_HIT);
			weft_gfam_decide(u, 0, UINT64_MAX, false, &d);
			assert_int_equal(d.result, WEFT_GFAM_NO_HIT);
			e.hpa_base += block; /* ends with the last address */
			e.way = (uint8_t)((1u << n) - 1);
			assert_int_equal(weft_gfam_set_gdt(u, 0, 0, 0, &e, 1), 0);
			weft_gfam_decide(u, 0, UINT64_MAX, false, &d);
			assert_int_equal(d.result, WEFT_GFAM_UNGROUPED);
			assert_int_equal(d.dpa, e.dpa_len - 1);
			assert_int_equal(weft_gfam_reverse(u, 0, e.dpa_len - 1, &e.hpa_base), 0);
			assert_int_equal(e.hpa_base, UINT64_MAX);
			e.hpa_base = 0 - span;
			weft_gfam_decide(u, 0, e.hpa_base - 1, false, &d);
			assert_int_equal(d.result, WEFT_GFAM_NO_HIT);
			e.hpa_base += block; /* beyond it, but for what then begins at 0 */
			assert_int_equal(weft_gfam_set_gdt(u, 0, 0, 0, &e, 1),
				e.hpa_base == 0 ? 0 : -EINVAL);
			e.way = 0;
		}
		e.hpa_base = 0;
		e.dpa_len = 64 * block;
		assert_int_equal(weft_gfam_set_gdt(u, 0, 0, 0, &e, 1), n <= 7 ? 0 : -EINVAL);
	}
	/* All addresses: halves go together, the whole with nothing. */
	set2[1].hpa_base = WEFT_BIT64(63);
	assert_int_equal(weft_gfam_set_gdt(u, 0, 0, 0, set2, 2), 0);
	set2[0].intlv = 8;
	assert_int_equal(weft_gfam_set_gdt(u, 0, 0, 0, set2, 1), -EINVAL);
	set2[1].valid = false;
	assert_int_equal(weft_gfam_set_gdt(u, 0, 0, 0, set2, 2), 0);
	free(u);
}

WEFT_TEST(overlaps_are_refused_in_dpa_and_hpa)
{
	struct weft_gfam_decoder d[2] = { good(), good() };

	assert_int_equal(set(7, &d[0]), 0);
	d[0].hpa_base = 2 * PB; /* the same bytes under another address */
	refused(WEFT_GFAM_SELF, RPID, 0, d, 1, -EINVAL);
	d[0].dpa_base = 12 * GB - 64 * MB;
	refused(WEFT_GFAM_SELF, RPID, 0, d, 1, -EINVAL);
	d[0].dpa_base = 12 * GB;
	assert_int_equal(set(0, d), 0);
	d[0].hpa_base = PB + 16 * GB - 64 * MB; /* the last granules of the set at 1 PB */
	refused(WEFT_GFAM_SELF, RPID, 0, d, 1, -EINVAL);
	d[0].hpa_base = PB + 16 * GB;
	assert_int_equal(set(0, d), 0);
	/* Between two of one command. */
	d[0].hpa_base = 4 * PB;
	d[0].dpa_base = 20 * GB;
	d[1].hpa_base = 4 * PB + 64 * MB;
	d[1].dpa_base = 30 * GB;
	refused(WEFT_GFAM_SELF, RPID, 1, d, 2, -EINVAL);
	d[1].hpa_base = 5 * PB;
	assert_int_equal(weft_gfam_set_gdt(t, WEFT_GFAM_SELF, RPID, 1, d, 2), 0);
	/* Another requester may have the same bytes. */
	d[0] = good();
	assert_int_equal(weft_gfam_set_gdt(t, OTHER, OTHER, 0, d, 1), 0);
	/* In the place of an old one its own range is no overlap. */
	d[0].hpa_base = PB + 64 * MB;
	assert_int_equal(weft_gfam_set_gdt(t, OTHER, OTHER, 0, d, 1), 0);
}

WEFT_TEST(several_hits_are_an_error_where_overlap_is_allowed)
{
	struct weft_gfam_cfg lax = cfg;
	struct weft_gfam *u;
	struct weft_gfam_decoder d[3] = { good(), good(), good() };

	lax.knobs = WEFT_GFAM_HPA_OVERLAP;
	u = rig_new(&lax);
	assert_int_equal(weft_gfam_set_dmp(u, 0, 0, 64 * GB, 64 * MB), 0);
	d[1].dpa_base = 16 * GB; /* same way: several */
	d[2].dpa_base = 24 * GB; /* another way of the same range: one */
	d[2].way = 2;
	assert_int_equal(weft_gfam_set_gdt(u, RPID, RPID, 0, d, 3), 0);
	assert_int_equal(rig_ask(u, RPID, PB, false), WEFT_GFAM_SEVERAL);
	assert_int_equal(rig_ask(u, RPID, PB, true), WEFT_GFAM_SEVERAL);
	assert_int_equal(rig_ask(u, RPID, PB + 2048, false), WEFT_GFAM_UNGROUPED);
	assert_int_equal(rig_ask(u, RPID, PB + 1024, false), WEFT_GFAM_WRONG_WAY);
	free(u);
}

WEFT_TEST(numbers_of_decoders_and_rows_are_limits)
{
	struct weft_gfam_decoder d[9] = { { 0 } }, got;

	for (unsigned int i = 0; i < 9; i++)
		d[i] = (struct weft_gfam_decoder){
			.valid = true, .hpa_base = PB + i * GB, .dpa_base = i * GB, .dpa_len = GB
		};
	refused(RPID, RPID, 0, d, 0, -EINVAL);
	refused(RPID, RPID, 0, d, 9, -ENOSPC);
	refused(RPID, RPID, 1, d, 8, -ENOSPC);
	refused(RPID, RPID, 8, d, 1, -ENOSPC);
	refused(RPID, RPID, UINT32_MAX, d, 8, -ENOSPC);
	refused(WEFT_GFAM_SELF, 0xFFF, 0, d, 1, -EINVAL);
	refused(WEFT_GFAM_SELF, 0x1000, 0, d, 1, -EINVAL);
	refused(0x1000, RPID, 0, d, 1, -EINVAL);
	assert_int_equal(weft_gfam_set_gdt(t, RPID, RPID, 0, d, 8), 0);
	for (unsigned int i = 0; i < 8; i++) {
		weft_gfam_get_gdt(t, RPID, i, &got);
		assert_int_equal(got.hpa_base, PB + i * GB);
		assert_int_equal(got.dpa_base, i * GB);
	}
	/* Two rows: a third requester waits until one is free. */
	assert_int_equal(weft_gfam_set_gdt(t, OTHER, OTHER, 0, d, 1), 0);
	refused(0x13, 0x13, 0, d, 1, -ENOSPC);
	memset(&got, 0, sizeof(got));
	assert_int_equal(weft_gfam_set_gdt(t, OTHER, OTHER, 0, &got, 1), 0);
	assert_int_equal(weft_gfam_set_gdt(t, 0x13, 0x13, 0, d, 1), 0);
	assert_int_equal(rig_ask(t, OTHER, PB, false), WEFT_GFAM_NO_ROW);
}

WEFT_TEST(only_the_caller_and_its_accelerators_are_set)
{
	const struct weft_gfam_decoder d = good();

	refused(RPID, OTHER, 0, &d, 1, -EPERM);
	refused(0, OTHER, 0, &d, 1, -EPERM);
	assert_int_equal(weft_gfam_set_owner(t, OTHER, RPID), 0);
	assert_int_equal(weft_gfam_set_gdt(t, RPID, OTHER, 0, &d, 1), 0);
	assert_int_equal(weft_gfam_set_gdt(t, OTHER, OTHER, 0, &d, 1), 0);
	refused(OTHER, RPID, 0, &d, 1, -EPERM);
	assert_int_equal(weft_gfam_set_owner(t, 0xFFF, RPID), -EINVAL);
	assert_int_equal(weft_gfam_set_owner(t, RPID, 0xFFF), -EINVAL);
}

WEFT_TEST(snoop_with_no_or_two_addresses_has_none)
{
	struct weft_gfam_decoder d = good();
	uint64_t hpa;

	assert_int_equal(set(3, &d), 0);
	assert_int_equal(weft_gfam_reverse(t, RPID, 8 * GB - 1, &hpa), -ENOENT);
	assert_int_equal(weft_gfam_reverse(t, RPID, 12 * GB, &hpa), -ENOENT);
	assert_int_equal(weft_gfam_reverse(t, RPID, 12 * GB - 1, &hpa), 0);
	assert_int_equal(hpa, PB + 16 * GB - 3 * 1024 - 1);
	assert_int_equal(weft_gfam_reverse(t, OTHER, 8 * GB, &hpa), -ENOENT);
	assert_int_equal(weft_gfam_reverse(t, 0xFFF, 8 * GB, &hpa), -ENOENT);
	assert_int_equal(weft_gfam_reverse(t, UINT16_MAX, 8 * GB, &hpa), -ENOENT);
	assert_int_equal(weft_gfam_reverse(NULL, RPID, 8 * GB, &hpa), -ENOENT);
	/* No setter makes two that hold it: damage does. */
	((struct gfam_decoder *)gfam_row(t, t->rpid[RPID].row))[1] =
		gfam_row(t, t->rpid[RPID].row)[3];
	assert_int_equal(weft_gfam_reverse(t, RPID, 8 * GB, &hpa), -ENOENT);
}
