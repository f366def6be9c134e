/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Every row of the kernel table against the definition, with a guard page behind the flits. */

#include "weft_test.h"

#include "weft_crc.h"
#include "weft_guard.h"
#include "weft_kernel_table.h"

#define RUN_MAX 64
#define UNTOUCHED UINT64_C(0x5555AAAA5555AAAA)

static void
row_agrees_with_definition(void **state)
{
	const struct weft_crc_kernel *row = *state;
	uint64_t want[RUN_MAX], got[RUN_MAX + 1];
	struct weft_guard guard;
	struct weft_rand r;

	weft_kernel_need(&row->k);
	weft_test_seed(&r, row->k.name);
	weft_guard_open(&guard, RUN_MAX * 256);
	for (unsigned int n = 0; n <= RUN_MAX; n++) {
		uint8_t *flits = weft_guard_last(&guard, (size_t)n * 256);

		weft_rand_fill(&r, flits, (size_t)n * 256);
		for (unsigned int i = 0; i < n; i++)
			want[i] = weft_crc_update_ref(0, flits + (size_t)i * 256, WEFT_CRC_COVERED);
		for (unsigned int i = 0; i <= n; i++)
			got[i] = UNTOUCHED;
		weft_crc_run(row, flits, n, got);
		assert_memory_equal(got, want, n * sizeof(want[0]));
		assert_int_equal(got[n], UNTOUCHED);
	}
	weft_guard_close(&guard);
}

/* Flits of a group anywhere in memory, at every alignment; guard pages before and behind. */
static void
row_takes_flits_at_every_alignment(void **state)
{
	const struct weft_crc_kernel *row = *state;
	uint64_t crc[WEFT_CRC_GROUP], even[WEFT_CRC_GROUP], odd[WEFT_CRC_GROUP];
	struct weft_guard guard;
	struct weft_rand r;

	weft_kernel_need(&row->k);
	weft_test_seed(&r, row->k.name);
	weft_guard_open(&guard, 4096);
	weft_rand_fill(&r, weft_guard_last(&guard, 4096), 4096);
	for (unsigned int back = 0; back <= 128; back++) {
		const unsigned int n = 1 + back % WEFT_CRC_GROUP;
		const uint8_t *flit[WEFT_CRC_GROUP];

		for (unsigned int i = 0; i < n; i++)
			flit[i] = weft_guard_last(&guard, 256 + weft_rand_below(&r, 3841));
		flit[0] = weft_guard_last(&guard, 256 + back);
		if (n > 1)
			flit[n - 1] = weft_guard_last(&guard, 4096 - back);
		row->group(flit, n, crc);
		row->group6(flit, n, even, odd);
		for (unsigned int i = 0; i < n; i++) {
			assert_int_equal(crc[i], weft_crc_update_ref(0, flit[i], WEFT_CRC_COVERED));
			assert_int_equal(
				even[i], weft_crc6_half_ref(flit[i], WEFT_CRC6_EVEN_COVERED));
			assert_int_equal(odd[i], weft_crc6_half_ref(flit[i] + WEFT_CRC6_ODD_OFF,
							 WEFT_CRC6_ODD_COVERED));
		}
	}
	weft_guard_close(&guard);
}

/* Each of the 242 bytes counts, none of the other 14 does; the same of the two halves. */
static void
row_covers_exactly_its_bytes(void **state)
{
	const struct weft_crc_kernel *row = *state;
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

	weft_kernel_need(&row->k);
	for (unsigned int i = 0; i < sizeof(flit); i++) {
		uint64_t crc, even, odd;

		flit[i] = 0x80;
		weft_crc_run(row, flit, 1, &crc);
		weft_crc6_run(row, flit, 1, &even, &odd);
		flit[i] = 0;
		assert_int_equal(crc != 0, i < WEFT_CRC_COVERED);
		assert_int_equal(even != 0, i < WEFT_CRC6_EVEN_COVERED);
		assert_int_equal(odd != 0,
			i >= WEFT_CRC6_ODD_OFF && i < WEFT_CRC6_ODD_OFF + WEFT_CRC6_ODD_COVERED);
	}
}

static const struct weft_kernel *
find(const char *name, uint32_t features)
{
	return (const struct weft_kernel *)(const void *)weft_crc_kernel_find(name, features);
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
run_row(const struct weft_crc_kernel *row)
{
	void *state = (void *)(uintptr_t)row;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(row_agrees_with_definition, state),
		cmocka_unit_test_prestate(row_covers_exactly_its_bytes, state),
		cmocka_unit_test_prestate(row_takes_flits_at_every_alignment, state),
	};

	return cmocka_run_group_tests_name(row->k.name, tests, NULL, NULL);
}

int
main(void)
{
	struct weft_kernel_table table = { weft_crc_kernels, sizeof(weft_crc_kernels[0]),
		weft_crc_n_kernels, find };
	const struct CMUnitTest tests[] = {
		WEFT_KERNEL_TABLE_TESTS(&table),
		cmocka_unit_test(without_gfni_avx512_is_before_avx2),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	for (unsigned int i = 0; i < weft_crc_n_kernels; i++)
		failed += run_row(&weft_crc_kernels[i]);
	return failed;
}
