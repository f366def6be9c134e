/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The words of WEFT_CPU: each is known, an unknown one is named, "scalar" masks all the rest. */

#include "weft_test.h"

#include "weft_cpu.h"

WEFT_TEST(nothing_said_allows_everything)
{
	uint32_t mask = 0;

	assert_int_equal(weft_cpu_parse(NULL, &mask, NULL), 0);
	assert_int_equal(mask, UINT32_MAX);
	mask = 0;
	assert_int_equal(weft_cpu_parse("", &mask, NULL), 0);
	assert_int_equal(mask, UINT32_MAX);
}

WEFT_TEST(scalar_alone_masks_every_feature)
{
	uint32_t mask = UINT32_MAX;

	assert_int_equal(weft_cpu_parse("scalar", &mask, NULL), 0);
	assert_int_equal(mask, 0);
}

WEFT_TEST(words_add_up)
{
	uint32_t mask;

	assert_int_equal(weft_cpu_parse("scalar,avx2,gfni", &mask, NULL), 0);
	assert_int_equal(mask, WEFT_CPU_AVX2 | WEFT_CPU_GFNI);
}

/* Servers before Ice Lake have the one without the other. */
WEFT_TEST(avx512_holds_avx512bw)
{
	uint32_t mask;

	assert_int_equal(weft_cpu_parse("avx512", &mask, NULL), 0);
	assert_int_equal(mask, WEFT_CPU_AVX512 | WEFT_CPU_AVX512BW);
	assert_int_equal(weft_cpu_parse("avx512bw", &mask, NULL), 0);
	assert_int_equal(mask, WEFT_CPU_AVX512BW);
	if ((weft_cpu_detect() & WEFT_CPU_AVX512) != 0)
		assert_int_not_equal(weft_cpu_detect() & WEFT_CPU_AVX512BW, 0);
}

WEFT_TEST(unknown_word_is_named)
{
	static const char *const bad_lists[] = { "avx3", "avx2,", "avx2,sse9", ",", "avx2 gfni" };
	uint32_t mask = 5;
	const char *bad;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad_lists); i++) {
		assert_int_equal(weft_cpu_parse(bad_lists[i], &mask, &bad), -EINVAL);
		assert_int_equal(mask, 5);
		assert_true(bad >= bad_lists[i] && bad <= bad_lists[i] + strlen(bad_lists[i]));
	}
	assert_int_equal(weft_cpu_parse("avx2,sse9", &mask, &bad), -EINVAL);
	assert_string_equal(bad, "sse9");
}

WEFT_TEST(row_needs_all_its_features)
{
	const struct weft_kernel k = { "x", WEFT_CPU_AVX2 | WEFT_CPU_GFNI };

	assert_true(weft_kernel_usable(&k, WEFT_CPU_AVX2 | WEFT_CPU_GFNI | WEFT_CPU_SSSE3));
	assert_false(weft_kernel_usable(&k, WEFT_CPU_AVX2));
}
