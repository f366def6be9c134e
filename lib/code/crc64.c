/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CRC64_XP10 by its definition, its kernels, and how one is chosen (doc/architecture.md, Kernels).
 * A kernel is believed only after it has agreed with the definition at every length up to where its
 * longest loop has gone round three times.
 */

#include <stdatomic.h>

#include "crc64_priv.h"
#include "weft_data_crc.h"

#define CRC64_REVERSED UINT64_C(0x9A6C9329AC4BC9B5) /* AD93D23594C93659, x^63 in bit 0 */

const struct weft_crc64_kernel weft_crc64_kernels[] = {
#if defined(__x86_64__)
	{ { "avx512-vpclmul", WEFT_CPU_AVX512 | WEFT_CPU_VPCLMUL | WEFT_CPU_PCLMUL },
		weft_crc64_avx512 },
	{ { "pclmul", WEFT_CPU_PCLMUL | WEFT_CPU_SSSE3 }, weft_crc64_pclmul },
#endif
	{ { "scalar", 0 }, weft_crc64_scalar },
};

uint64_t
weft_crc64_xp10_ref(uint64_t crc, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	uint64_t r = ~crc;

	for (size_t i = 0; i < len; i++) {
		r ^= p[i];
		for (unsigned int bit = 0; bit < 8; bit++)
			r = r >> 1 ^ ((r & 1) != 0 ? CRC64_REVERSED : 0);
	}
	return ~r;
}

#define CRC64_TEST_LEN 1024
#define CRC64_TEST_START UINT64_C(0x0123456789ABCDEF)

static bool
crc64_kernel_passes(const struct weft_kernel *row)
{
	const struct weft_crc64_kernel *kernel =
		(const struct weft_crc64_kernel *)(const void *)row;
	uint8_t buf[CRC64_TEST_LEN];
	uint64_t want = CRC64_TEST_START;
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(buf); i++) {
		x = x * 1664525u + 1013904223u;
		buf[i] = (uint8_t)(x >> 24);
	}
	for (size_t len = 0;; len++) {
		if (kernel->fn(CRC64_TEST_START, buf, len) != want)
			return false;
		if (len == sizeof(buf))
			return true;
		want = weft_crc64_xp10_ref(want, buf + len, 1);
	}
}

WEFT_KERNELS_DEFINE(crc64, "crc64", crc64_kernel_passes)

/* Written once; threads that come first together all find the same row. */
static _Atomic(weft_crc64_fn) crc64_best;

uint64_t
weft_crc64_xp10(uint64_t crc, const void *buf, size_t len)
{
	weft_crc64_fn fn = atomic_load_explicit(&crc64_best, memory_order_relaxed);

	if (fn == NULL) {
		fn = weft_crc64_kernel_find(NULL, weft_cpu_detect())->fn;
		atomic_store_explicit(&crc64_best, fn, memory_order_relaxed);
	}
	return fn(crc, buf, len);
}
