/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Every row of the kernel table against the oracle, with a guard page behind the flits. */

#include "weft_test.h"

#include "fec_oracle.h"
#include "weft_guard.h"
#include "weft_kernel_table.h"

#define RUN_MAX WEFT_FEC_RUN_MAX

static struct fec_oracle oracle;

static bool
is_codeword(const uint8_t *flit)
{
	for (unsigned int g = 0; g < 3; g++)
		if (fec_oracle_syndrome(&oracle, flit, g) != 0)
			return false;
	return true;
}

static void
row_encodes_codewords_and_touches_only_its_six_bytes(void **state)
{
	const struct weft_fec_kernel *row = *state;
	uint8_t before[RUN_MAX * 256];
	struct weft_guard guard;
	struct weft_rand r;

	weft_kernel_need(&row->k);
	weft_test_seed(&r, row->k.name);
	weft_guard_open(&guard, sizeof(before));
	for (unsigned int n = 0; n <= RUN_MAX; n++) {
		uint8_t *flits = weft_guard_last(&guard, (size_t)n * 256);

		weft_rand_fill(&r, flits, (size_t)n * 256);
		memcpy(before, flits, (size_t)n * 256);
		weft_fec_encode(row, flits, n);
		for (unsigned int i = 0; i < n; i++) {
			const uint8_t *flit = flits + (size_t)i * 256;

			assert_true(is_codeword(flit));
			assert_memory_equal(flit, before + (size_t)i * 256, WEFT_FEC_COVERED);
		}
		assert_int_equal(weft_fec_check(row, flits, n), 0);
	}
	weft_guard_close(&guard);
}

/* Flits of a group anywhere in memory, at every alignment; guard pages before and behind. */
static void
row_takes_flits_at_every_alignment(void **state)
{
	const struct weft_fec_kernel *row = *state;
	uint64_t fec[WEFT_FEC_KERNEL_FLITS];
	struct weft_guard guard;
	struct weft_rand r;

	weft_kernel_need(&row->k);
	weft_test_seed(&r, row->k.name);
	weft_guard_open(&guard, 4096);
	weft_rand_fill(&r, weft_guard_last(&guard, 4096), 4096);
	for (unsigned int back = 0; back <= 128; back++) {
		const unsigned int n = 1 + back % WEFT_FEC_KERNEL_FLITS;
		const uint8_t *flit[WEFT_FEC_KERNEL_FLITS];

		for (unsigned int i = 0; i < n; i++)
			flit[i] = weft_guard_last(&guard, 256 + weft_rand_below(&r, 3841));
		flit[0] = weft_guard_last(&guard, 256 + back);
		if (n > 1)
			flit[n - 1] = weft_guard_last(&guard, 4096 - back);
		row->group(flit, n, fec);
		for (unsigned int i = 0; i < n; i++) {
			uint8_t copy[256];

			memcpy(copy, flit[i], sizeof(copy));
			weft_fec_store(copy, fec[i]);
			assert_true(is_codeword(copy));
			assert_memory_equal(copy, flit[i], WEFT_FEC_COVERED);
		}
	}
	weft_guard_close(&guard);
}

static void
row_flags_exactly_the_broken_flits(void **state)
{
	const struct weft_fec_kernel *row = *state;
	uint8_t before[RUN_MAX * 256];
	struct weft_guard guard;
	struct weft_rand r;

	weft_kernel_need(&row->k);
	weft_test_seed(&r, row->k.name);
	weft_guard_open(&guard, sizeof(before));
	for (int round = 0; round < 2000; round++) {
		const unsigned int n = (unsigned int)weft_rand_below(&r, RUN_MAX + 1);
		const uint64_t broken = weft_rand_u64(&r) & weft_mask64(n);
		uint8_t *flits = weft_guard_last(&guard, (size_t)n * 256);

		weft_rand_fill(&r, flits, (size_t)n * 256);
		weft_fec_encode(row, flits, n);
		for (unsigned int i = 0; i < n; i++)
			if ((broken >> i & 1) != 0)
				flits[(size_t)i * 256 + weft_rand_below(&r, 256)] ^=
					(uint8_t)(1u << weft_rand_below(&r, 8));
		memcpy(before, flits, (size_t)n * 256);
		assert_int_equal(weft_fec_check(row, flits, n), broken);
		assert_memory_equal(flits, before, (size_t)n * 256);
	}
	weft_guard_close(&guard);
}

static void
row_notices_every_bit_of_a_flit(void **state)
{
	const struct weft_fec_kernel *row = *state;
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

	weft_kernel_need(&row->k);
	for (unsigned int bit = 0; bit < 2048; bit++) {
		flit[bit / 8] = (uint8_t)(1u << bit % 8);
		assert_int_equal(weft_fec_check(row, flit, 1), 1);
		flit[bit / 8] = 0;
	}
	assert_int_equal(weft_fec_check(row, flit, 1), 0);
}

static const struct weft_kernel *
find(const char *name, uint32_t features)
{
	return (const struct weft_kernel *)(const void *)weft_fec_kernel_find(name, features);
}

/* Servers before Ice Lake: AVX-512, but neither GFNI nor VBMI. */
static void
without_gfni_avx512_is_before_avx2(void **state)
{
	(void)state;
	if ((weft_cpu_detect() & WEFT_CPU_AVX512BW) == 0)
		skip();
	assert_string_equal(find(NULL, WEFT_CPU_AVX512BW | WEFT_CPU_AVX2)->name, "avx512");
	assert_string_equal(find(NULL, WEFT_CPU_AVX2)->name, "avx2");
}

static int
run_row(const struct weft_fec_kernel *row)
{
	void *state = (void *)(uintptr_t)row;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(
			row_encodes_codewords_and_touches_only_its_six_bytes, state),
		cmocka_unit_test_prestate(row_takes_flits_at_every_alignment, state),
		cmocka_unit_test_prestate(row_flags_exactly_the_broken_flits, state),
		cmocka_unit_test_prestate(row_notices_every_bit_of_a_flit, state),
	};

	return cmocka_run_group_tests_name(row->k.name, tests, NULL, NULL);
}

int
main(void)
{
	struct weft_kernel_table table = { weft_fec_kernels, sizeof(weft_fec_kernels[0]),
		weft_fec_n_kernels, find };
	const struct CMUnitTest tests[] = {
		WEFT_KERNEL_TABLE_TESTS(&table),
		cmocka_unit_test(without_gfni_avx512_is_before_avx2),
	};
	int failed;

	fec_oracle_init(&oracle);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (unsigned int i = 0; i < weft_fec_n_kernels; i++)
		failed += run_row(&weft_fec_kernels[i]);
	return failed;
}
