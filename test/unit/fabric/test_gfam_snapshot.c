/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A writer publishes full-size tables again and again, each with one group for all; readers must
 * find every requester's decoder, block and right of one and the same set. A set that a reader may
 * still hold is not written to: each reader says after a burst which it has seen.
 */

#include "gfam_rig.h"

#include <pthread.h>

#define READERS 2
#define SETS 200
#define HOSTS 512
#define BUFFERS 3

static const struct weft_gfam_cfg cfg = {
	.rows = 4095,
	.groups = 64,
	.dmps = 1,
	.blocks = 1024,
	.media = { { 64 * MB, 0 } },
};

struct reader {
	pthread_t thread;
	uint64_t at; /* number of bursts ended */
	uint64_t lookups, torn, sets_seen;
};

static struct weft_gfam_ref ref;
static struct reader reader[READERS];
static bool stop;

/* Set @p n: host h has 64 MB at n x 64 TB, at block (h + n), group n for all. */
static void
fill(struct weft_gfam *t, unsigned int n)
{
	assert_int_equal(weft_gfam_set_blocks(t, 0, 64 * GB, (uint8_t)(n % 64)), 0);
	for (uint16_t h = 0; h < HOSTS; h++) {
		const struct weft_gfam_decoder d = { .valid = true,
			.hpa_base = PB,
			.dpa_base = (h + n) % 1024 * 64 * MB,
			.dpa_len = 64 * MB };

		assert_int_equal(weft_gfam_set_gdt(t, h, h, 0, &d, 1), 0);
		assert_int_equal(weft_gfam_set_sat(t, h, UINT64_C(1) << n % 64), 0);
	}
}

static void *
reads(void *arg)
{
	struct reader *r = arg;
	const struct weft_gfam *was = NULL;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		const struct weft_gfam *t = weft_gfam_current(&ref);
		uint64_t first = 0;

		r->sets_seen += t != was;
		was = t;
		for (uint16_t h = 0; h < HOSTS; h++) {
			struct weft_gfam_decision d;
			uint64_t n;

			weft_gfam_decide(t, h, PB + 64, true, &d);
			n = (d.dpa / (64 * MB) + 1024 - h) % 1024;
			first = h == 0 ? n : first;
			r->torn += d.result != WEFT_GFAM_ALLOWED || n != first || d.group != n % 64;
			r->lookups++;
		}
		__atomic_store_n(&r->at, r->at + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Every reader has ended a burst that it began before now, and so has let go of what it held. */
static void
wait_for_readers(void)
{
	for (unsigned int i = 0; i < READERS; i++) {
		const uint64_t seen = __atomic_load_n(&reader[i].at, __ATOMIC_ACQUIRE);

		while (__atomic_load_n(&reader[i].at, __ATOMIC_ACQUIRE) == seen)
			sched_yield();
	}
}

WEFT_TEST(readers_never_see_half_a_change)
{
	struct weft_gfam *set[BUFFERS];
	uint64_t lookups = 0, best_ns = UINT64_MAX;

	for (unsigned int i = 0; i < BUFFERS; i++)
		set[i] = aligned_alloc(WEFT_CACHE_LINE, weft_gfam_size(&cfg));
	weft_gfam_init(set[0], &cfg);
	assert_int_equal(weft_gfam_set_dmp(set[0], 0, 0, 64 * GB, 64 * MB), 0);
	fill(set[0], 0);
	weft_gfam_publish(&ref, set[0]);
	for (unsigned int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&reader[i].thread, NULL, reads, &reader[i]), 0);
	for (unsigned int n = 1; n < SETS; n++) {
		struct timespec a, b;
		struct weft_gfam *t;
		uint64_t ns;

		clock_gettime(CLOCK_MONOTONIC, &a);
		t = weft_gfam_copy(set[n % BUFFERS], set[(n - 1) % BUFFERS]);
		clock_gettime(CLOCK_MONOTONIC, &b);
		ns = (uint64_t)((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec);
		best_ns = ns < best_ns ? ns : best_ns;
		fill(t, n);
		weft_gfam_publish(&ref, t);
		wait_for_readers();
		/* Nobody holds the one before: whoever does would now be wrong at once. */
		memset(set[(n - 1 + BUFFERS - 1) % BUFFERS], 0xA5, weft_gfam_size(&cfg));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < READERS; i++) {
		pthread_join(reader[i].thread, NULL);
		assert_int_equal(reader[i].torn, 0);
		assert_true(reader[i].sets_seen > SETS / 2);
		lookups += reader[i].lookups;
	}
	printf("%u sets of %zu bytes, %llu decisions, a copy takes %llu ns at best\n", SETS,
		weft_gfam_size(&cfg), (unsigned long long)lookups, (unsigned long long)best_ns);
	for (unsigned int i = 0; i < BUFFERS; i++)
		free(set[i]);
}
