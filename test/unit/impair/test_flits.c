/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What each injector does to a flit. Zero flits stand for all: damage is an XOR. */

#include "impair_test.h"

#include "weft_fec.h"
#include "weft_guard.h"

#define FLITS 20000

static const struct weft_impair_cfg everything = { .seed = 7,
	.ber = 1e-5,
	.bits_p = 0.01,
	.bits = 3,
	.burst_p = 0.02,
	.burst = 5,
	.channel = 0.03,
	.uncorrectable = 0.005 };

/* Pass all flits in runs of 1..max; returns how many were said to be touched. */
static unsigned int
damage_all(struct weft_impair *w, uint8_t *flits, unsigned int max, struct weft_rand *r)
{
	unsigned int touched = 0;

	memset(flits, 0, (size_t)FLITS * FLIT);
	for (unsigned int i = 0, n; i < FLITS; i += n) {
		uint64_t mask;

		n = r == NULL ? max : (unsigned int)weft_rand_below(r, max + 1);
		n = n < FLITS - i ? n : FLITS - i;
		mask = weft_impair_flits(w, flits + (size_t)i * FLIT, n);
		touched += (unsigned int)__builtin_popcountll(mask);
		for (unsigned int k = 0; k < n; k++)
			if (!(mask >> k & 1))
				assert_int_equal(
					test_wrong_bits(flits + (i + k) * (size_t)FLIT), 0);
	}
	return touched;
}

WEFT_TEST(damage_depends_on_the_seed_only_and_not_on_the_cut)
{
	uint8_t *a = malloc((size_t)FLITS * FLIT), *b = malloc((size_t)FLITS * FLIT);
	struct weft_impair_cfg other = everything;
	struct weft_impair w, v;
	struct weft_rand r;
	unsigned int touched;

	weft_test_seed(&r, "cut");
	test_wire(&w, &everything);
	touched = damage_all(&w, a, RUN, NULL);
	assert_in_range(touched, FLITS / 20, FLITS / 5);
	assert_int_equal(w.count[WEFT_IMPAIR_N_FLITS], FLITS);
	assert_int_equal(w.count[WEFT_IMPAIR_N_TOUCHED], touched);

	test_wire(&v, &everything);
	assert_int_equal(damage_all(&v, b, 1, NULL), touched);
	assert_memory_equal(a, b, (size_t)FLITS * FLIT);
	assert_memory_equal(w.count, v.count, sizeof(w.count));

	test_wire(&v, &everything);
	assert_int_equal(damage_all(&v, b, RUN, &r), touched);
	assert_memory_equal(a, b, (size_t)FLITS * FLIT);

	other.seed++;
	test_wire(&v, &other);
	damage_all(&v, b, RUN, NULL);
	assert_memory_not_equal(a, b, (size_t)FLITS * FLIT);
	free(a);
	free(b);
}

WEFT_TEST(exactly_k_bits_are_wrong)
{
	struct weft_guard g;
	uint8_t seen[FLIT] = { 0 }, *flits;

	weft_guard_open(&g, (size_t)RUN * FLIT);
	flits = weft_guard_last(&g, (size_t)RUN * FLIT);
	for (unsigned int k = 1; k <= WEFT_IMPAIR_BITS_MAX; k++) {
		const struct weft_impair_cfg cfg = { .seed = k, .bits_p = 1, .bits = k };
		struct weft_impair w;

		test_wire(&w, &cfg);
		memset(flits, 0, (size_t)RUN * FLIT);
		assert_true(weft_impair_flits(&w, flits, RUN) == UINT64_MAX);
		for (unsigned int i = 0; i < RUN; i++) {
			assert_int_equal(test_wrong_bits(flits + i * (size_t)FLIT), k);
			for (unsigned int b = 0; b < FLIT; b++)
				seen[b] |= flits[i * (size_t)FLIT + b];
		}
		assert_int_equal(w.count[WEFT_IMPAIR_N_FLIPPED], k * RUN);
		assert_int_equal(w.count[WEFT_IMPAIR_N_BITS], RUN);
	}
	/* 133,120 draws leave no bit of 2048 out, but by a chance of e^-57. */
	for (unsigned int b = 0; b < FLIT; b++)
		assert_int_equal(seen[b], 0xFF);
	weft_guard_close(&g);
}

WEFT_TEST(burst_symbols_are_all_wrong_and_contiguous)
{
	static const unsigned int lengths[] = { 1, 2, 3, 4, 100, 250, 255, 256 };
	struct weft_guard g;
	uint8_t *flit;

	weft_guard_open(&g, FLIT);
	flit = weft_guard_last(&g, FLIT);
	for (size_t l = 0; l < WEFT_ARRAY_SIZE(lengths); l++) {
		const unsigned int len = lengths[l], starts = FLIT - len + 1;
		const struct weft_impair_cfg cfg = { .seed = len, .burst_p = 1, .burst = len };
		const unsigned int rounds = starts * 20 + 100;
		bool start_seen[FLIT] = { 0 };
		struct weft_impair w;

		test_wire(&w, &cfg);
		for (unsigned int round = 0; round < rounds; round++) {
			unsigned int first = 0;

			memset(flit, 0, FLIT);
			assert_int_equal(weft_impair_flits(&w, flit, 1), 1);
			while (flit[first] == 0)
				first++;
			start_seen[first] = true;
			for (unsigned int i = 0; i < FLIT; i++)
				assert_int_equal(flit[i] != 0, i >= first && i < first + len);
		}
		/* Both ends are places like any other. */
		assert_true(start_seen[0] && start_seen[starts - 1]);
		assert_int_equal(w.count[WEFT_IMPAIR_N_SYMBOLS], len * rounds);
	}
	weft_guard_close(&g);
}

WEFT_TEST(channel_bursts_begin_and_end_with_a_wrong_bit)
{
	const struct weft_impair_cfg cfg = { .seed = 3, .channel = 1 };
	uint8_t flit[FLIT];
	struct weft_impair w;
	uint64_t single = 0;

	test_wire(&w, &cfg);
	for (unsigned int round = 0; round < 100000; round++) {
		memset(flit, 0, FLIT);
		assert_int_equal(weft_impair_flits(&w, flit, 1), 1);
		assert_int_not_equal(test_wrong_bits(flit), 0);
		single += test_wrong_bits(flit) == 1;
	}
	/* One wrong bit: length 1, for longer ones end in another. */
	test_rate("bursts of one bit", single, 100000,
		1 - WEFT_IMPAIR_CHANNEL_A * (1 - 1.0 / (FLIT * 8)));
}

/* Valid flits, and ones that other injectors have hit before. */
WEFT_TEST(uncorrectable_is_so_for_every_kernel)
{
	static const struct weft_impair_cfg wires[] = {
		{ .seed = 1, .uncorrectable = 1 },
		{ .seed = 2, .uncorrectable = 1, .ber = 1e-3, .channel = 0.5 },
		{ .seed = 3, .uncorrectable = 1, .burst_p = 0.5, .burst = 3 },
	};
	const struct weft_fec_kernel *scalar = weft_fec_kernel_find("scalar", 0);
	uint8_t flits[RUN][FLIT], copy[RUN][FLIT];
	struct weft_rand r;

	weft_test_seed(&r, "uncorrectable");
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(wires); i++) {
		struct weft_impair w;

		test_wire(&w, &wires[i]);
		for (unsigned int round = 0; round < 200; round++) {
			weft_rand_fill(&r, flits, sizeof(flits));
			weft_fec_encode(scalar, flits[0], RUN);
			assert_true(weft_impair_flits(&w, flits[0], RUN) == UINT64_MAX);
			for (unsigned int k = 0; k < weft_fec_n_kernels; k++) {
				const struct weft_fec_kernel *kernel = &weft_fec_kernels[k];
				struct weft_fec_result result;

				if ((kernel->k.needs & ~weft_cpu_detect()) != 0)
					continue;
				memcpy(copy, flits, sizeof(copy));
				weft_fec_decode(kernel, copy[0], RUN, &result);
				assert_true(result.uncorrectable == UINT64_MAX);
			}
		}
		assert_int_equal(w.count[WEFT_IMPAIR_N_UNCORRECTABLE], 200 * RUN);
	}
}

WEFT_TEST(certain_bit_errors_turn_every_bit)
{
	const struct weft_impair_cfg cfg = { .ber = 1 };
	uint8_t flits[RUN][FLIT] = { { 0 } };
	struct weft_impair w;

	test_wire(&w, &cfg);
	assert_true(weft_impair_flits(&w, flits[0], RUN) == UINT64_MAX);
	for (unsigned int i = 0; i < RUN; i++)
		assert_int_equal(test_wrong_bits(flits[i]), FLIT * 8);
}

WEFT_TEST(settings_change_at_run_time)
{
	struct weft_impair_cfg cfg = { .seed = 1, .drop = 0.5 }, bad;
	uint8_t flits[RUN][FLIT] = { { 0 } };
	struct weft_impair w, v;

	test_wire(&w, &cfg);
	assert_int_equal(weft_impair_flits(&w, flits[0], RUN), 0);
	cfg.bits_p = 1;
	cfg.bits = 9;
	assert_int_equal(weft_impair_set(&w, &cfg), 0);
	assert_true(weft_impair_flits(&w, flits[0], RUN) == UINT64_MAX);
	bad = cfg;
	bad.bits = 65;
	assert_int_equal(weft_impair_set(&w, &bad), -EINVAL);
	memset(flits, 0, sizeof(flits));
	weft_impair_flits(&w, flits[0], 1);
	assert_int_equal(test_wrong_bits(flits[0]), 9);
	cfg.bits_p = 0;
	assert_int_equal(weft_impair_set(&w, &cfg), 0);
	assert_int_equal(weft_impair_flits(&w, flits[0], RUN), 0);

	/* The frames never noticed: same fate as on a wire left alone. */
	cfg = (struct weft_impair_cfg){ .seed = 1, .drop = 0.5 };
	test_wire(&v, &cfg);
	test_same_drops(&w, &v, 500);
	cfg.ber = 1e-3;
	assert_int_equal(weft_impair_set(&w, &cfg), 0);
	test_same_drops(&w, &v, 500);

	/* Another seed: as if begun with it. */
	cfg.seed = 99;
	assert_int_equal(weft_impair_set(&w, &cfg), 0);
	test_wire(&v, &cfg);
	test_same_drops(&w, &v, 1000);
}
