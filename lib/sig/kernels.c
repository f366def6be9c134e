/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The kernels, and how one is chosen (doc/architecture.md, Kernels). The last row is believed; one
 * above it only after it has agreed with it at every length up to where its longest loop has gone
 * round twice, from a place that is not aligned.
 */

#include "folds_priv.h"

#include <stdatomic.h>

const struct weft_sig_kernel weft_sig_kernels[] = {
#if defined(__x86_64__)
	{ { "avx512-vpclmul",
		  WEFT_CPU_AVX512 | WEFT_CPU_VPCLMUL | WEFT_CPU_PCLMUL | WEFT_CPU_GFNI },
		sig_avx512_sum, sig_avx512_copy },
#endif
	{ { "scalar", 0 }, sig_scalar_sum, sig_scalar_copy },
};

#define TEST_LEN 640
#define TEST_AT 3

static bool
kernel_sum_agrees(
	const struct weft_sig_kernel *k, unsigned int kind, const uint8_t *src, size_t len)
{
	const uint64_t begin = weft_sig_sum_begin((enum weft_sig_sum_kind)kind, UINT64_MAX);
	const uint64_t want = sig_scalar_sum[kind](begin, src, len);
	uint8_t copy[TEST_LEN + 1];

	copy[len] = 0x5A;
	return k->sum[kind](begin, src, len) == want &&
	       k->copy[kind](begin, copy, src, len) == want && memcmp(copy, src, len) == 0 &&
	       copy[len] == 0x5A;
}

static bool
kernel_passes(const struct weft_kernel *row)
{
	const struct weft_sig_kernel *k = (const struct weft_sig_kernel *)(const void *)row;
	uint8_t buf[TEST_AT + TEST_LEN];
	uint32_t x = 1;

	if (k->sum == sig_scalar_sum)
		return true;
	for (size_t i = 0; i < sizeof(buf); i++) {
		x = x * 1664525u + 1013904223u;
		buf[i] = (uint8_t)(x >> 24);
	}
	for (unsigned int kind = 0; kind < WEFT_SIG_SUMS; kind++)
		for (size_t len = 0; len <= TEST_LEN; len++)
			if (!kernel_sum_agrees(k, kind, buf + TEST_AT, len))
				return false;
	return true;
}

WEFT_KERNELS_DEFINE(sig, "sig", kernel_passes)

/* Written once; threads that come first together all find the same row. */
static _Atomic(const struct weft_sig_kernel *) best;

const struct weft_sig_kernel *
weft_sig_kernel_best(void)
{
	const struct weft_sig_kernel *k = atomic_load_explicit(&best, memory_order_relaxed);

	if (k == NULL) {
		k = weft_sig_kernel_find(NULL, weft_cpu_detect());
		atomic_store_explicit(&best, k, memory_order_relaxed);
	}
	return k;
}
