/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Every row of the kernel table against the oracle, with a guard page behind the flits. */

#include "weft_test.h"

#include "fec_oracle.h"
#include "weft_guard.h"

#define RUN_MAX WEFT_FEC_RUN_MAX

static struct fec_oracle oracle;

static void
skip_if_the_cpu_lacks(const struct weft_fec_kernel *row)
{
	if (weft_kernel_usable(&row->k, weft_cpu_detect()))
		return;
	print_message("  skipped: this CPU lacks what %s needs\n", row->k.name);
	skip();
}

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

	skip_if_the_cpu_lacks(row);
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

	skip_if_the_cpu_lacks(row);
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

	skip_if_the_cpu_lacks(row);
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

	skip_if_the_cpu_lacks(row);
	for (unsigned int bit = 0; bit < 2048; bit++) {
		flit[bit / 8] = (uint8_t)(1u << bit % 8);
		assert_int_equal(weft_fec_check(row, flit, 1), 1);
		flit[bit / 8] = 0;
	}
	assert_int_equal(weft_fec_check(row, flit, 1), 0);
}

static void
table_ends_with_a_scalar_row(void **state)
{
	const struct weft_fec_kernel *last = &weft_fec_kernels[weft_fec_n_kernels - 1];

	(void)state;
	assert_string_equal(last->k.name, "scalar");
	assert_int_equal(last->k.needs, 0);
}

static void
each_row_is_found_by_name(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < weft_fec_n_kernels; i++) {
		const struct weft_fec_kernel *row = &weft_fec_kernels[i];

		if (weft_kernel_usable(&row->k, weft_cpu_detect()))
			assert_ptr_equal(weft_fec_kernel_find(row->k.name, weft_cpu_detect()), row);
		if (row->k.needs != 0)
			assert_null(weft_fec_kernel_find(row->k.name, 0));
	}
}

static void
unknown_name_finds_nothing(void **state)
{
	(void)state;
	assert_null(weft_fec_kernel_find("", UINT32_MAX));
	assert_null(weft_fec_kernel_find("scalarx", UINT32_MAX));
	assert_null(weft_fec_kernel_find("Scalar", UINT32_MAX));
}

static void
no_name_finds_the_best_allowed(void **state)
{
	const uint32_t features = weft_cpu_detect();
	unsigned int best = 0;

	(void)state;
	while (!weft_kernel_usable(&weft_fec_kernels[best].k, features))
		best++;
	assert_ptr_equal(weft_fec_kernel_find(NULL, features), &weft_fec_kernels[best]);
	assert_string_equal(weft_fec_kernel_find(NULL, 0)->k.name, "scalar");
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_ends_with_a_scalar_row),
		cmocka_unit_test(each_row_is_found_by_name),
		cmocka_unit_test(unknown_name_finds_nothing),
		cmocka_unit_test(no_name_finds_the_best_allowed),
	};
	int failed;

	fec_oracle_init(&oracle);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (unsigned int i = 0; i < weft_fec_n_kernels; i++)
		failed += run_row(&weft_fec_kernels[i]);
	return failed;
}
