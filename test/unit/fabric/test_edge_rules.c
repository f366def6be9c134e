/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What set-up commands of an edge port refuse: each rule alone broken, with the error it must give,
 * and after each the whole port byte for byte as before. A good row stands before each bad one.
 */

#include "weft_test.h"

#include "weft_edge.h"

#define GB (UINT64_C(1) << 30)
#define TB (UINT64_C(1) << 40)

static struct weft_edge edge, before;

static int
setup(void **state)
{
	const struct weft_edge_cfg cfg = { .pid = 1,
		.fast_depth_log2 = 4,
		.fast_idt = 20,
		.ldst_depth_log2 = 2,
		.ldst_idt = 8,
		.rerouter_rows = 4,
		.gim = true,
		.vp = WEFT_VP_INGRESS };
	static const uint16_t gmv[] = { 0x10, 0x11, 0x12, 0x13 };

	(void)state;
	assert_int_equal(weft_edge_init(&edge, &cfg), 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(weft_edge_allow(&edge, WEFT_GMV, gmv[i], true), 0);
	assert_int_equal(weft_edge_allow(&edge, WEFT_VTV, 0x20, true), 0);
	assert_int_equal(weft_edge_allow(&edge, WEFT_LAV, 0x30, true), 0);
	assert_int_equal(weft_seg_set_range(&edge.fast, 36, 3 * 64 * GB, 19 * 64 * GB), 0);
	assert_int_equal(weft_seg_set_range(&edge.ldst, 36, 64 * GB, 5 * 64 * GB), 0);
	assert_int_equal(weft_seg_set_idt(&edge.fast, 16, gmv, 4), 0);
	memcpy(&before, &edge, sizeof(edge));
	return 0;
}

WEFT_TEST_EACH(setup, NULL)

#define assert_refused(call, error)                                                                \
	do {                                                                                       \
		assert_int_equal(call, error);                                                     \
		assert_memory_equal(&edge, &before, sizeof(edge));                                 \
	} while (0)

WEFT_TEST(configurations)
{
	struct weft_edge_cfg good = { .pid = 0xFFE, .fast_depth_log2 = 12, .fast_idt = 4096 };
	struct weft_edge_cfg bad;

	assert_int_equal(weft_edge_init(&edge, &good), 0);
	bad = good, bad.pid = 0xFFF;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
	bad = good, bad.fast_depth_log2 = 13;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
	bad = good, bad.fast_idt = 0;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
	bad = good, bad.fast_idt = 4097;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
	bad = good, bad.ldst_depth_log2 = 13;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
	bad = good, bad.ldst_idt = 4097;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
	bad = good, bad.rerouter_rows = WEFT_REROUTER_ROWS + 1;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
	bad = good, bad.vp = 4;
	assert_int_equal(weft_edge_init(&edge, &bad), -EINVAL);
}

WEFT_TEST(ranges)
{
	static const struct {
		unsigned int segment_log2;
		uint64_t base, limit;
	} bad[] = {
		{ 35, 64 * GB, 128 * GB }, { 44, 16 * TB, 32 * TB }, { 36, 65 * GB, 128 * GB },
		{ 36, 64 * GB, 129 * GB }, { 37, 64 * GB, 256 * GB }, { 36, 1, 0 }, { 36, 0, 1 },
		{ 36, 128 * GB, 64 * GB }, { 36, 64 * GB, 64 * GB },
		{ 36, 64 * GB, 18 * 64 * GB }, /* 17 segments, 16 entries */
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_refused(weft_seg_set_range(
				       &edge.fast, bad[i].segment_log2, bad[i].base, bad[i].limit),
			-EINVAL);
}

WEFT_TEST(entries)
{
	static const struct weft_fast_entry good = { .flags = 1, .dpid = 0x10 };
	static const struct {
		struct weft_fast_entry e;
		int error;
	} bad[] = {
		{ { .flags = 0x04 }, -EINVAL },
		{ { .flags = 0x80 }, -EINVAL },
		{ { .reserved = 1 }, -EINVAL },
		{ { .reserved2 = 1 }, -EINVAL },
		{ { .intlv = 9 }, -EINVAL },
		{ { .intlv = 15 }, -EINVAL },
		{ { .intlv = 16 }, -EINVAL },
		{ { .gran = 7 }, -EINVAL },
		{ { .gran = 15 }, -EINVAL },
		{ { .dpid = 0x1000 }, -EINVAL },
		{ { .flags = 1, .intlv = 2, .dpid = 17 }, -EINVAL }, /* IX + ways > depth */
		{ { .intlv = 2, .dpid = 17 }, -EINVAL }, /* not valid, yet it cannot be right */
		{ { .intlv = 8, .dpid = 0 }, -EINVAL },
		{ { .intlv = 1, .dpid = 0xFFF }, -EINVAL },
		{ { .flags = 1, .dpid = 0x14 }, -EPERM }, /* in no vector */
		{ { .flags = 1, .dpid = 0xFFF }, -EPERM },
		{ { .flags = 1, .dpid = 0x20 }, -EPERM }, /* VTV is not GMV */
		{ { .flags = 3, .dpid = 0x10 }, -EPERM }, /* GMV is not VTV */
		{ { .flags = 1, .dpid = 0x30 }, -EPERM }, /* nor is LAV */
		{ { .flags = 1, .intlv = 2, .dpid = 15 }, -EPERM }, /* first not assigned */
		{ { .flags = 3, .intlv = 2, .dpid = 16 }, -EPERM },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		const struct weft_fast_entry rows[2] = { good, bad[i].e };

		assert_refused(weft_seg_set_entries(&edge.fast, 3, rows, 2), bad[i].error);
	}
	assert_refused(weft_seg_set_entries(&edge.fast, 16, &good, 1), -EINVAL);
	assert_refused(
		weft_seg_set_entries(&edge.fast, 15, (const struct weft_fast_entry[2]){ 0 }, 2),
		-EINVAL);
	assert_refused(weft_seg_set_entries(&edge.fast, UINT32_MAX, &good, 1), -EINVAL);
	assert_refused(weft_seg_set_entries(&edge.fast, 0, &good, 17), -EINVAL);
	/* LDST: flag 1 is no GIM, and LAV alone counts. */
	assert_refused(weft_seg_set_entries(&edge.ldst, 0, &good, 1), -EPERM);
	assert_int_equal(weft_seg_set_entries(&edge.ldst, 0,
				 &(const struct weft_fast_entry){ .flags = 3, .dpid = 0x30 }, 1),
		0);
	assert_int_equal(
		weft_seg_set_entries(&edge.fast, 0,
			&(const struct weft_fast_entry){ .flags = 1, .intlv = 2, .dpid = 16 }, 1),
		0);
	assert_int_equal(weft_seg_set_entries(&edge.fast, 15, &good, 1), 0);
}

/* With an IDT that has room for more ways than there are. */
WEFT_TEST(reserved_ways_are_refused_with_any_idt)
{
	const struct weft_edge_cfg cfg = { .pid = 1, .fast_idt = 4096 };

	assert_int_equal(weft_edge_init(&edge, &cfg), 0);
	memcpy(&before, &edge, sizeof(edge));
	for (uint8_t intlv = 9; intlv < 255; intlv++)
		assert_refused(weft_seg_set_entries(&edge.fast, 0,
				       &(const struct weft_fast_entry){ .intlv = intlv }, 1),
			-EINVAL);
}

/* 5806h looks at each of the N entries: the last one of the set without a right is enough. */
WEFT_TEST(each_way_needs_its_right)
{
	static const struct weft_fast_entry set = { .flags = 1, .intlv = 2, .dpid = 16 };

	for (uint16_t pid = 0x10; pid < 0x14; pid++) {
		setup(NULL);
		assert_int_equal(weft_edge_allow(&edge, WEFT_GMV, pid, false), 0);
		memcpy(&before, &edge, sizeof(edge));
		assert_refused(weft_seg_set_entries(&edge.fast, 0, &set, 1), -EPERM);
	}
}

WEFT_TEST(gim_without_the_ability)
{
	static const struct weft_fast_entry gim = { .flags = 3, .dpid = 0x20 };

	edge.fast.cfg.gim = before.fast.cfg.gim = false;
	assert_refused(weft_seg_set_entries(&edge.fast, 0, &gim, 1), -ENOTSUP);
}

WEFT_TEST(idt_entries)
{
	static const struct {
		uint16_t pid;
		int error;
	} bad[] = { { 0x1000, -EINVAL }, { 0xFFFF, -EINVAL }, { 0x14, -EPERM }, { 0xFFF, -EPERM },
		{ 0x30, -EPERM } };
	uint16_t pid[21] = { 0x10, 0x20 };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_refused(
			weft_seg_set_idt(&edge.fast, 4, (const uint16_t[2]){ 0x10, bad[i].pid }, 2),
			bad[i].error);
	assert_refused(weft_seg_set_idt(&edge.fast, 20, pid, 1), -EINVAL);
	assert_refused(weft_seg_set_idt(&edge.fast, 19, pid, 2), -EINVAL);
	assert_refused(weft_seg_set_idt(&edge.fast, UINT32_MAX, pid, 1), -EINVAL);
	assert_refused(weft_seg_set_idt(&edge.fast, 0, pid, 21), -EINVAL);
	assert_refused(weft_seg_set_idt(&edge.ldst, 0, pid, 1), -EPERM);
	assert_int_equal(weft_seg_set_idt(&edge.fast, 18, pid, 2), 0); /* GMV or VTV will do */
	assert_int_equal(weft_seg_idt(&edge.fast, 18), 0x10);
	assert_int_equal(weft_seg_idt(&edge.fast, 19), 0x20);
	assert_int_equal(weft_seg_idt(&edge.fast, 0), 0xFFF);
}

WEFT_TEST(other_commands)
{
	static const struct weft_reroute row = { .pid = 0x30 };
	static const struct weft_hdm hdm = { 4 * GB, GB, 0x40 };

	assert_refused(weft_edge_allow(&edge, WEFT_GMV, 0xFFF, true), -EINVAL);
	assert_refused(weft_edge_allow(&edge, WEFT_LAV, 0x1000, true), -EINVAL);
	assert_refused(weft_edge_set_vp_vcs(&edge, WEFT_VP_EGRESS), -EINVAL);
	assert_refused(weft_edge_set_vp_vcs(&edge, 4), -EINVAL);
	assert_refused(weft_edge_set_vp_host(&edge, 4), -EINVAL);
	assert_refused(weft_edge_set_pcie(&edge, 0x1000), -EINVAL);
	assert_refused(weft_edge_set_rerouter(&edge, 4, &row, 1), -EINVAL);
	assert_refused(weft_edge_set_rerouter(&edge, UINT32_MAX, &row, 1), -EINVAL);
	assert_refused(weft_edge_set_rerouter(&edge, 0,
			       (const struct weft_reroute[2]){ row, { .pid = 0x1000 } }, 2),
		-EINVAL);
	assert_refused(weft_edge_set_rerouter(
			       &edge, 0, (const struct weft_reroute[2]){ row, { .pid = 0x10 } }, 2),
		-EPERM);
	assert_int_equal(weft_edge_set_rerouter(&edge, 0,
				 (const struct weft_reroute[2]){ row, { .pid = 0xFFF } }, 2),
		0);
	assert_int_equal(weft_edge_set_hdm(&edge, 0, &hdm), 0);
	memcpy(&before, &edge, sizeof(edge));
	assert_refused(weft_edge_set_hdm(&edge, 10, &hdm), -EINVAL);
	assert_refused(weft_edge_set_hdm(&edge, 1, &hdm), -EINVAL);
	assert_refused(
		weft_edge_set_hdm(&edge, 1, &(struct weft_hdm){ 0, 4 * GB + GB / 4, 1 }), -EINVAL);
	assert_refused(
		weft_edge_set_hdm(&edge, 1, &(struct weft_hdm){ 5 * GB - GB / 4, GB, 1 }), -EINVAL);
	assert_refused(weft_edge_set_hdm(&edge, 1, &(struct weft_hdm){ GB + 1, GB, 1 }), -EINVAL);
	assert_refused(weft_edge_set_hdm(&edge, 1, &(struct weft_hdm){ GB, GB / 8, 1 }), -EINVAL);
	assert_refused(weft_edge_set_hdm(&edge, 1, &(struct weft_hdm){ GB, GB, 0xFFF }), -EINVAL);
	assert_refused(
		weft_edge_set_hdm(&edge, 1, &(struct weft_hdm){ 0 - GB, 2 * GB, 1 }), -EINVAL);
	assert_int_equal(weft_edge_set_hdm(&edge, 1, &(struct weft_hdm){ 0 - GB, GB, 1 }), 0);
	assert_int_equal(weft_edge_set_hdm(&edge, 2, &(struct weft_hdm){ 5 * GB, GB, 1 }), 0);
	assert_int_equal(weft_edge_set_hdm(&edge, 3, &(struct weft_hdm){ 3 * GB, GB, 1 }), 0);
}

WEFT_TEST(base_or_size_clears_entries_and_a_limit_does_not)
{
	static const struct weft_fast_entry e = { .flags = 1, .dpid = 0x10 };
	static const struct weft_seg_target none[WEFT_SEG_ENTRIES];

	assert_int_equal(weft_seg_set_entries(&edge.fast, 5, &e, 1), 0);
	assert_int_equal(weft_seg_set_range(&edge.fast, 36, 3 * 64 * GB, 10 * 64 * GB), 0);
	assert_int_equal(weft_seg_entry(&edge.fast, 5)->dpid, 0x10);
	assert_int_equal(weft_seg_set_range(&edge.fast, 36, 4 * 64 * GB, 10 * 64 * GB), 0);
	assert_memory_equal(edge.fast.target, none, sizeof(none));
	assert_int_equal(weft_seg_set_entries(&edge.fast, 5, &e, 1), 0);
	assert_int_equal(weft_seg_set_range(&edge.fast, 37, 4 * 64 * GB, 10 * 64 * GB), 0);
	assert_memory_equal(edge.fast.target, none, sizeof(none));
	assert_int_equal(weft_seg_entry(&edge.fast, 5)->flags, 0);
	assert_int_equal(weft_seg_idt(&edge.fast, 16), 0x10);
}

WEFT_TEST(no_ldst_is_no_ldst)
{
	const struct weft_edge_cfg cfg = { .pid = 1, .fast_idt = 1 };

	assert_int_equal(weft_edge_init(&edge, &cfg), 0);
	memcpy(&before, &edge, sizeof(edge));
	assert_refused(weft_seg_set_range(&edge.ldst, 36, 64 * GB, 128 * GB), -ENOTSUP);
	assert_refused(weft_seg_set_entries(
			       &edge.ldst, 0, &(const struct weft_fast_entry){ .flags = 0 }, 1),
		-ENOTSUP);
	assert_refused(weft_seg_set_idt(&edge.ldst, 0, NULL, 0), -ENOTSUP);
}
