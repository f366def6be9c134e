/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Routing tables replaced without a pause under lcores that read them: each round a reader checks
 * all 4096 rows and segments of one snapshot against its generation, so that half a change, or a
 * copy written again too early, shows. How long a change takes until every reader sees it is
 * printed and not judged: most of it is what else runs on the machine.
 */

#include "eal_test.h"

#include <rte_lcore.h>
#include <sched.h>
#include <stdatomic.h>

#include "weft_loop.h"
#include "weft_tables_writer.h"

#define READERS 2
#define UPDATES 400
#define ROWS (WEFT_PIDS - 1)
#define SEGMENT_LOG2 36
#define BASE (UINT64_C(1) << (SEGMENT_LOG2 + 12))

struct reader {
	const struct weft_tables_slot *slot;
	uint64_t hpa[WEFT_SEG_ENTRIES];
	uint16_t dpid[ROWS];
	int16_t target[WEFT_SEG_ENTRIES];
	int16_t port[WEFT_SEG_ENTRIES];
	_Alignas(WEFT_CACHE_LINE) _Atomic uint64_t seen;
	_Atomic uint64_t wrong;
	_Atomic uint64_t rounds;
};

static struct reader readers[READERS];

/* What a snapshot of this generation holds: neighbours differ in every row. */
static uint8_t
port_of(uint64_t generation, unsigned int row)
{
	return (uint8_t)(generation * 7 + row);
}

static uint16_t
dpid_of(uint64_t generation, unsigned int segment)
{
	return (uint16_t)((segment + generation) % ROWS);
}

static unsigned int
read_whole(void *arg)
{
	struct reader *r = arg;
	const struct weft_tables *t = weft_tables_now(r->slot);
	const uint64_t g = t->generation;
	uint64_t wrong = g < atomic_load_explicit(&r->seen, memory_order_relaxed);

	if (g == 0)
		return 0;
	weft_route_run(weft_tables_route(t, 0), r->dpid, r->port, ROWS);
	for (unsigned int i = 0; i < ROWS; i++)
		wrong += r->port[i] != port_of(g, i);
	/* Segments may be of an earlier generation, but all of one. */
	weft_edge_mem_run(weft_tables_edge(t, 0), r->hpa, r->target, WEFT_SEG_ENTRIES);
	weft_hpa_port_run(
		weft_tables_edge(t, 0), weft_tables_route(t, 0), r->hpa, r->port, WEFT_SEG_ENTRIES);
	for (unsigned int i = 0; i < WEFT_SEG_ENTRIES; i++) {
		wrong += r->target[i] != dpid_of((uint64_t)r->target[0], i);
		wrong += r->port[i] != port_of(g, (unsigned int)r->target[i]);
	}
	wrong += t->generation != g;
	atomic_fetch_add_explicit(&r->wrong, wrong, memory_order_relaxed);
	atomic_fetch_add_explicit(&r->rounds, 1, memory_order_relaxed);
	atomic_store_explicit(&r->seen, g, memory_order_release);
	return 1;
}

static struct weft_loop *
start(struct reader *r, unsigned int lcore, const struct weft_tables_slot *slot)
{
	const struct weft_poll poll = { read_whole, r };
	const struct weft_loop_cfg cfg = {
		.lcore = lcore, .idle = WEFT_IDLE_YIELD, .polls = &poll, .n_polls = 1
	};
	struct weft_loop *loop = weft_loop_create(&cfg);

	r->slot = slot;
	for (unsigned int i = 0; i < WEFT_SEG_ENTRIES; i++)
		r->hpa[i] = BASE + ((uint64_t)i << SEGMENT_LOG2) + i * 64;
	for (uint16_t i = 0; i < ROWS; i++)
		r->dpid[i] = i;
	assert_non_null(loop);
	assert_int_equal(weft_loop_launch(loop), 0);
	return loop;
}

static void
write_rows(struct weft_tables *t)
{
	static uint8_t row[ROWS][2];

	for (unsigned int i = 0; i < ROWS; i++) {
		row[i][0] = WEFT_DRT_PORT;
		row[i][1] = port_of(t->generation, i);
	}
	assert_int_equal(weft_route_set_drt(weft_tables_route_rw(t, 0), 0, row, ROWS), 0);
}

static void
write_segments(struct weft_tables *t)
{
	static struct weft_fast_entry entry[WEFT_SEG_ENTRIES];

	for (unsigned int i = 0; i < WEFT_SEG_ENTRIES; i++)
		entry[i] = (struct weft_fast_entry){ .flags = WEFT_SEG_VALID,
			.dpid = dpid_of(t->generation, i) };
	assert_int_equal(
		weft_seg_set_entries(&weft_tables_edge_rw(t, 0)->fast, 0, entry, WEFT_SEG_ENTRIES),
		0);
}

static bool
all_saw(uint64_t generation)
{
	for (unsigned int i = 0; i < READERS; i++)
		if (atomic_load_explicit(&readers[i].seen, memory_order_acquire) < generation)
			return false;
	return true;
}

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
print_times(const char *what, double *us)
{
	const unsigned int n = UPDATES / 4;

	qsort(us, n, sizeof(us[0]), by_value);
	print_message("%s: written and seen by %u readers: least %.0f, half %.0f, most %.0f us\n",
		what, READERS, us[0], us[n / 2], us[n - 1]);
}

WEFT_TEST(readers_see_whole_snapshots_only)
{
	static const struct weft_edge_cfg edge = {
		.pid = 0x100, .fast_depth_log2 = 12, .fast_idt = 1
	};
	static const struct weft_tables_cfg cfg = { .n_edges = 1, .edge = &edge, .n_routes = 1 };
	static double us[4][UPDATES / 4];
	struct weft_tables_writer w;
	struct weft_loop *loop[READERS];
	struct weft_edge *e;

	assert_int_equal(weft_tables_writer_init(&w, &cfg, SOCKET_ID_ANY), 0);
	for (unsigned int i = 0; i < READERS; i++)
		loop[i] = start(&readers[i], i + 1, &w.slot);
	e = weft_tables_edge_rw(weft_tables_begin(&w), 0);
	for (uint16_t p = 0; p < ROWS; p++)
		assert_int_equal(weft_edge_allow(e, WEFT_GMV, p, true), 0);
	assert_int_equal(weft_seg_set_range(&e->fast, SEGMENT_LOG2, BASE, 2 * BASE), 0);
	write_rows(w.spare);
	write_segments(w.spare);
	weft_tables_commit(&w);
	for (unsigned int i = 0; i < UPDATES; i++) {
		struct weft_tables *t = weft_tables_begin(&w);
		uint64_t from, g = t->generation;

		/*
		 * Half of them as fast as it goes; else wait until all have seen it. Half of both
		 * change the DRT alone.
		 */
		from = rte_get_timer_cycles();
		write_rows(t);
		if (i % 4 < 2)
			write_segments(t);
		weft_tables_commit(&w);
		while (i % 2 == 0 && !all_saw(g))
			sched_yield();
		us[i % 4][i / 4] =
			(double)(rte_get_timer_cycles() - from) * 1e6 / (double)rte_get_timer_hz();
	}
	while (!all_saw(w.live->generation))
		sched_yield();
	for (unsigned int i = 0; i < READERS; i++) {
		weft_loop_stop(loop[i]);
		weft_loop_join(loop[i]);
		weft_loop_free(loop[i]);
		print_message("reader %u: %llu whole snapshots of 8191 rows\n", i + 1,
			(unsigned long long)readers[i].rounds);
		assert_int_equal(readers[i].wrong, 0);
	}
	weft_tables_writer_fini(&w);
	print_times("DRT and FAST, 8191 rows", us[0]);
	print_times("DRT alone, 4095 rows", us[2]);
}

WEFT_TEST(changes_without_commit_are_forgotten)
{
	static const struct weft_tables_cfg cfg = { .n_routes = 1 };
	static const struct weft_tables_cfg bad = { .n_routes = 0 };
	const uint8_t row[1][2] = { { WEFT_DRT_PORT, 9 } };
	struct weft_tables_writer w;

	assert_int_equal(weft_tables_writer_init(&w, &bad, SOCKET_ID_ANY), -EINVAL);
	assert_int_equal(weft_tables_writer_init(&w, &cfg, SOCKET_ID_ANY), 0);
	weft_route_set_drt(weft_tables_route_rw(weft_tables_begin(&w), 0), 5, row, 1);
	assert_int_equal(weft_tables_route(weft_tables_begin(&w), 0)->first[5], -1);
	weft_route_set_drt(weft_tables_route_rw(w.spare, 0), 5, row, 1);
	weft_tables_commit(&w);
	assert_int_equal(weft_tables_now(&w.slot)->generation, 1);
	assert_int_equal(weft_tables_route(weft_tables_now(&w.slot), 0)->first[5], 9);
	assert_int_equal(weft_tables_route(weft_tables_begin(&w), 0)->first[5], 9);
	weft_tables_writer_fini(&w);
}

int
main(void)
{
	size_t first, last;
	char lcores[96];
	int failed;

	test_cpus(&first, &last);
	snprintf(lcores, sizeof(lcores), "0@(%zu,%zu),1@%zu,2@%zu", first, last, first, last);
	test_eal_start(lcores);
	failed = weft_test_run();
	weft_eal_stop();
	return failed;
}
