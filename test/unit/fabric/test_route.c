/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Routing with groups: what Set DRT and Set RGT refuse, classes that stay on one path, shares of
 * the mixes, stalls; runs against one at a time. And snapshots: copies are whole and stand alone.
 */

#include "weft_test.h"

#include <stdlib.h>

#include "weft_tables.h"

static struct weft_route route, before;
static struct weft_route_ports ports;

/* Ports 10 to 15; the first @p n_primary of @p n are primary. */
static struct weft_rgt_entry
group(unsigned int n, unsigned int n_primary, unsigned int mode, unsigned int mix)
{
	return (struct weft_rgt_entry){ .port = { 10, 11, 12, 13, 14, 15, 16, 17 },
		.counts = (uint8_t)((n - 1) | (n_primary - 1) << 3),
		.mode = (uint8_t)(mode | mix << 3) };
}

static void
use_group(struct weft_rgt_entry e)
{
	assert_int_equal(weft_route_set_rgt(&route, 1, &e, 1), 0);
}

static int
setup(void **state)
{
	static const uint8_t row[][2] = { { WEFT_DRT_PORT, 7 }, { WEFT_DRT_RGT, 1 } };

	(void)state;
	assert_int_equal(weft_route_init(&route, 4), 0);
	use_group(group(6, 2, 0, 0));
	assert_int_equal(weft_route_set_drt(&route, 0x100, row, 2), 0);
	route.spread = true;
	memset(&ports, 0, sizeof(ports));
	memset(ports.ready, 0xFF, sizeof(ports.ready));
	memcpy(&before, &route, sizeof(route));
	return 0;
}

WEFT_TEST_EACH(setup, NULL)

static void
set_ready(unsigned int port, bool on)
{
	ports.ready[port / 64] &= ~WEFT_BIT64(port % 64);
	ports.ready[port / 64] |= (uint64_t)on << port % 64;
}

#define assert_refused(call, error)                                                                \
	do {                                                                                       \
		assert_int_equal(call, error);                                                     \
		assert_memory_equal(&route, &before, sizeof(route));                               \
	} while (0)

WEFT_TEST(bad_rows_change_nothing)
{
	static const uint8_t bad_drt[][2][2] = {
		{ { 1, 5 }, { 3, 0 } },
		{ { 1, 5 }, { 4, 0 } },
		{ { 1, 5 }, { 0x81, 0 } },
		{ { 1, 5 }, { 2, 4 } },
		{ { 1, 5 }, { 2, 255 } },
	};
	static const struct {
		uint8_t counts, mode, reserved;
		int error;
	} bad_rgt[] = { { 0x40, 0, 0, -EINVAL }, { 0x80, 0, 0, -EINVAL }, { 0, 0x40, 0, -EINVAL },
		{ 0, 0x80, 0, -EINVAL }, { 0, 0, 1, -EINVAL }, { 1 | 2 << 3, 0, 0, -EINVAL },
		{ 0, 3, 0, -EINVAL }, { 0, 4, 0, -EINVAL }, { 0, 5, 0, -EINVAL },
		{ 0, 2, 0, -ENOTSUP }, { 0, 6, 0, -ENOTSUP }, { 0, 7, 0, -ENOTSUP } };
	const uint8_t good[2][2] = { { 1, 5 }, { 1, 5 } };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad_drt); i++)
		assert_refused(weft_route_set_drt(&route, 9, bad_drt[i], 2), -EINVAL);
	assert_refused(weft_route_set_drt(&route, 0xFFF, good, 1), -EINVAL);
	assert_refused(weft_route_set_drt(&route, 0xFFE, good, 2), -EINVAL);
	assert_refused(weft_route_set_drt(&route, UINT32_MAX, good, 1), -EINVAL);
	assert_int_equal(weft_route_set_drt(&before, 0xFFE, good, 1), 0);
	assert_int_equal(weft_route_set_drt(&route, 0xFFE, good, 1), 0);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad_rgt); i++) {
		const struct weft_rgt_entry e[2] = { group(1, 1, 0, 0),
			{ .counts = bad_rgt[i].counts,
				.mode = bad_rgt[i].mode,
				.reserved = { bad_rgt[i].reserved, 0 } } };

		assert_refused(weft_route_set_rgt(&route, 0, e, 2), bad_rgt[i].error);
	}
	assert_refused(weft_route_set_rgt(&route, 4, &before.rgt[1], 1), -EINVAL);
	assert_refused(weft_route_set_rgt(&route, 3, &before.rgt[0], 2), -EINVAL);
	for (unsigned int n = 0; n <= 512; n++)
		assert_int_equal(
			weft_route_init(&before, n), n <= 256 && (n & (n - 1)) == 0 ? 0 : -EINVAL);
}

/* The left column of table 7-86, by name: the library's own table is not asked. */
static bool
must_stay(enum weft_route_class c)
{
	switch (c) {
	case WEFT_CLASS_H2D_REQ:
	case WEFT_CLASS_H2D_RSP:
	case WEFT_CLASS_S2M_NDR:
	case WEFT_CLASS_M2S_REQ_HDM_D:
	case WEFT_CLASS_IO:
	case WEFT_CLASS_IO_VH: return true;
	default: return false;
	}
}

WEFT_TEST(ordered_classes_never_split)
{
	struct weft_rand r;

	weft_test_seed(&r, "route");
	for (unsigned int i = 0; i < 20000; i++) {
		const enum weft_route_class c =
			(enum weft_route_class)weft_rand_below(&r, WEFT_CLASSES);
		int port;

		route.spread = weft_rand_below(&r, 2) != 0;
		use_group(group(8, 1 + (unsigned int)weft_rand_below(&r, 8),
			(unsigned int)weft_rand_below(&r, 2),
			(unsigned int)weft_rand_below(&r, 8)));
		weft_rand_fill(&r, ports.ready, sizeof(ports.ready));
		port = weft_route_port(&route, &ports, 0x101, c, weft_rand_u64(&r));
		if (must_stay(c) || !route.spread)
			assert_int_equal(port, 10);
		else if (port != WEFT_ROUTE_STALL)
			assert_in_range(port, 10, 17);
		assert_int_equal(weft_route_port(&route, &ports, 0x100, c, 0), 7);
	}
}

/* Every class that may be spread does reach every port of its row. */
WEFT_TEST(other_classes_use_every_port)
{
	for (unsigned int c = 0; c < WEFT_CLASSES; c++) {
		unsigned int seen = 0;

		for (uint64_t i = 0; i < 8 * 64; i++)
			seen |= 1u << weft_route_port(&route, &ports, 0x101,
					(enum weft_route_class)c, i % 8 | (i / 8) << 58);
		assert_int_equal(
			seen, must_stay((enum weft_route_class)c) ? 1u << 10 : 0x3Fu << 10);
	}
}

/* Mix m: (7 - m) / 8 of all random numbers go to the primary group, exactly. */
WEFT_TEST(mixes_have_their_shares)
{
	static const double percent[7] = { 87.5, 75, 62.5, 50, 37.5, 25, 12.5 };

	for (unsigned int mode = 0; mode < 2; mode++)
		for (unsigned int mix = 0; mix < 7; mix++) {
			unsigned int primary = 0;

			use_group(group(6, 2, mode, mix));
			for (uint64_t i = 0; i < 1000; i++)
				primary += weft_route_port(&route, &ports, 0x101,
						   WEFT_CLASS_M2S_RWD, i | i << 54) < 12;
			assert_int_equal(primary, (unsigned int)(10 * percent[mix]));
		}
}

WEFT_TEST(members_of_a_group_share_alike)
{
	unsigned int seen[32] = { 0 };
	struct weft_rand r;

	weft_test_seed(&r, "route");
	set_ready(13, false);
	for (unsigned int i = 0; i < 80000; i++)
		seen[weft_route_port(
			&route, &ports, 0x101, WEFT_CLASS_M2S_RWD, weft_rand_u64(&r))]++;
	/* Primary 7/8 over two ports, secondary 1/8 over the three that are ready. */
	assert_in_range(seen[10], 34000, 36000);
	assert_in_range(seen[11], 34000, 36000);
	assert_int_equal(seen[13], 0);
	for (unsigned int p = 12; p < 16; p++)
		if (p != 13)
			assert_in_range(seen[p], 2900, 3800);
}

WEFT_TEST(least_loaded_member_is_taken)
{
	use_group(group(6, 3, WEFT_RGT_LEAST_LOADED, 0));
	ports.load[10] = 5;
	ports.load[11] = 2;
	ports.load[12] = 2;
	assert_int_equal(weft_route_port(&route, &ports, 0x101, WEFT_CLASS_S2M_DRS, 0), 11);
	set_ready(11, false);
	assert_int_equal(weft_route_port(&route, &ports, 0x101, WEFT_CLASS_S2M_DRS, 0), 12);
	ports.load[12] = UINT32_MAX;
	assert_int_equal(weft_route_port(&route, &ports, 0x101, WEFT_CLASS_S2M_DRS, 0), 10);
	assert_int_equal(weft_route_port(&route, &ports, 0x101, WEFT_CLASS_S2M_DRS, 7), 13);
}

/* A key keeps its port whatever is ready or loaded; keys share the ports as the mix says. */
WEFT_TEST(a_key_stays_on_its_port)
{
	for (unsigned int mode = 0; mode < 2; mode++) {
		unsigned int seen[WEFT_CLASSES][32] = { 0 };

		use_group(group(6, 2, mode, 1));
		for (uint64_t key = 0; key < 64 * 8000; key += 64) {
			const enum weft_route_class c =
				(enum weft_route_class)(key / 64 % WEFT_CLASSES);

			seen[c][weft_route_port_of_key(&route, 0x101, c, key)]++;
			assert_int_equal(weft_route_port_of_key(&route, 0x101, c, key),
				weft_route_port_of_key(&route, 0x101, c, key));
			assert_int_equal(weft_route_port_of_key(&route, 0x100, c, key), 7);
		}
		for (unsigned int c = 0; c < WEFT_CLASSES; c++) {
			const unsigned int all = 8000 / WEFT_CLASSES;

			if (must_stay((enum weft_route_class)c)) {
				assert_in_range(seen[c][10], all, all + 1);
				continue;
			}
			/* 3/4 over two ports, 1/4 over four. */
			for (unsigned int p = 10; p < 16; p++)
				assert_in_range(seen[c][p], p < 12 ? all / 4 : all / 40,
					p < 12 ? all / 2 : all / 8);
		}
	}
	assert_int_equal(
		weft_route_port_of_key(&route, 0xFFF, WEFT_CLASS_M2S_RWD, 0), WEFT_ROUTE_LOCAL);
	assert_int_equal(
		weft_route_port_of_key(&route, 0x1000, WEFT_CLASS_M2S_RWD, 0), WEFT_ROUTE_NONE);
	route.spread = false;
	assert_int_equal(weft_route_port_of_key(&route, 0x101, WEFT_CLASS_M2S_RWD, 12345), 10);
}

/* A table without rows of groups says so, however it came to have none. */
WEFT_TEST(rows_of_groups_are_counted)
{
	struct weft_rand r;
	unsigned int n;

	weft_test_seed(&r, "route");
	for (unsigned int k = 0; k < 2000; k++) {
		uint8_t row[8][2];

		for (unsigned int i = 0; i < 8; i++) {
			row[i][0] = (uint8_t)weft_rand_below(&r, 3);
			row[i][1] = (uint8_t)weft_rand_below(&r, 4);
		}
		assert_int_equal(
			weft_route_set_drt(&route, 0x100 + (unsigned int)weft_rand_below(&r, 12),
				row, (unsigned int)weft_rand_below(&r, 9)),
			0);
		n = 0;
		for (unsigned int d = 0; d < WEFT_PIDS; d++)
			n += weft_route_group(&route, (uint16_t)d) != NULL;
		assert_int_equal(route.n_groups, n);
		assert_int_equal(weft_route_spreads(&route, WEFT_CLASS_M2S_RWD), n != 0);
		assert_false(weft_route_spreads(&route, WEFT_CLASS_S2M_NDR));
	}
}

WEFT_TEST(a_group_without_candidate_stalls)
{
	for (unsigned int mode = 0; mode < 2; mode++)
		for (unsigned int mix = 0; mix < 8; mix++)
			for (uint64_t rnd = 0; rnd < 8; rnd++)
				for (unsigned int up = 0; up < 4; up++) {
					const bool one = (up & 1) != 0, two = (up & 2) != 0;
					int want, got;

					use_group(group(2, 1, mode, mix));
					set_ready(10, one);
					set_ready(11, two);
					if (mix == 7)
						want = one ? 10 : two ? 11 : WEFT_ROUTE_STALL;
					else if (rnd < 7 - mix)
						want = one ? 10 : WEFT_ROUTE_STALL;
					else
						want = two ? 11 : WEFT_ROUTE_STALL;
					got = weft_route_port(
						&route, &ports, 0x101, WEFT_CLASS_D2H_DH, rnd);
					assert_int_equal(got, want);
					/* No secondaries: the mix is ignored. */
					use_group(group(1, 1, mode, mix));
					got = weft_route_port(
						&route, &ports, 0x101, WEFT_CLASS_D2H_DH, rnd);
					assert_int_equal(got, one ? 10 : WEFT_ROUTE_STALL);
				}
}

WEFT_TEST(runs_equal_one_at_a_time)
{
	uint16_t dpid[100];
	int16_t port[100];
	struct weft_rand r;

	weft_test_seed(&r, "route");
	for (unsigned int d = 0; d < WEFT_PID_RESERVED; d++) {
		const uint8_t row[1][2] = { { (uint8_t)weft_rand_below(&r, 3),
			(uint8_t)weft_rand_below(&r, 4) } };

		assert_int_equal(weft_route_set_drt(&route, d, row, 1), 0);
	}
	for (unsigned int round = 0; round < 3000; round++) {
		const unsigned int n = (unsigned int)weft_rand_below(&r, 101);
		struct weft_rgt_entry e = group(8, 4, 0, 0);

		weft_rand_fill(&r, e.port, sizeof(e.port));
		assert_int_equal(
			weft_route_set_rgt(&route, (unsigned int)weft_rand_below(&r, 4), &e, 1), 0);
		for (unsigned int i = 0; i < n; i++)
			dpid[i] = (uint16_t)weft_rand_below(&r, 0x1200);
		dpid[0] = 0xFFFF;
		weft_route_run(&route, dpid, port, n);
		for (unsigned int i = 0; i < n; i++) {
			const uint8_t *row = route.drt.entry[dpid[i] & 0xFFF];
			const int one = weft_route_port(&route, &ports, dpid[i], WEFT_CLASS_IO, 0);

			assert_int_equal(port[i], one < 0 ? -1 : one);
			if (dpid[i] >= 0xFFF || row[0] == 0)
				assert_int_equal(port[i], -1);
			else
				assert_int_equal(
					port[i], row[0] == 1 ? row[1] : route.rgt[row[1]].port[0]);
		}
	}
	assert_int_equal(
		weft_route_port(&route, &ports, 0xFFF, WEFT_CLASS_IO, 0), WEFT_ROUTE_LOCAL);
	assert_int_equal(
		weft_route_port(&route, &ports, 0x1000, WEFT_CLASS_IO, 0), WEFT_ROUTE_NONE);
}

WEFT_TEST(snapshots_are_whole_and_stand_alone)
{
	static const struct weft_edge_cfg edges[2] = { { .pid = 0x101, .fast_idt = 16 },
		{ .pid = 0x102, .fast_idt = 16 } };
	struct weft_tables_cfg cfg = { .n_edges = 2, .edge = edges, .n_routes = 3, .n_rgt = 4 };
	const uint8_t row[1][2] = { { WEFT_DRT_PORT, 9 } };
	struct weft_tables_slot slot = { NULL };
	struct weft_tables *a, *b;
	size_t size;

	cfg.route_of_port[200] = 2;
	size = weft_tables_size(&cfg);
	a = aligned_alloc(WEFT_CACHE_LINE, size);
	b = aligned_alloc(WEFT_CACHE_LINE, size);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(weft_tables_init(a, &cfg), 0);
	assert_null(weft_tables_now(&slot));
	assert_null(weft_tables_publish(&slot, a));
	assert_int_equal(weft_tables_edge(a, 1)->cfg.pid, 0x102);
	weft_tables_copy(b, a);
	assert_memory_equal(a, b, size);
	assert_int_equal(weft_route_set_drt(weft_tables_route_rw(b, 2), 5, row, 1), 0);
	assert_int_equal(weft_edge_allow(weft_tables_edge_rw(b, 1), WEFT_GMV, 5, true), 0);
	assert_int_equal(weft_tables_route_of(b, 200)->first[5], 9);
	assert_int_equal(weft_tables_route_of(b, 199)->first[5], -1);
	assert_int_equal(weft_tables_route_of(weft_tables_now(&slot), 200)->first[5], -1);
	assert_false(weft_pid_set_has(&weft_tables_edge(a, 1)->vector[WEFT_GMV], 5));
	assert_false(weft_pid_set_has(&weft_tables_edge(b, 0)->vector[WEFT_GMV], 5));
	assert_ptr_equal(weft_tables_publish(&slot, b), a);
	assert_ptr_equal(weft_tables_now(&slot), b);
	cfg.route_of_port[0] = 3;
	assert_int_equal(weft_tables_init(a, &cfg), -EINVAL);
	cfg.route_of_port[0] = 0;
	cfg.n_rgt = 3;
	assert_int_equal(weft_tables_init(a, &cfg), -EINVAL);
	free(a);
	free(b);
}
