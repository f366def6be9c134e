/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The flit CRC's kernels and how one is chosen (doc/architecture.md, Kernels). A kernel is believed
 * only after it has agreed with the definition on groups of every size, out of order in memory.
 */

#include "crc_priv.h"

const struct weft_crc_kernel weft_crc_kernels[] = {
#if defined(__x86_64__)
	{ { "avx512-gfni", WEFT_CPU_AVX512 | WEFT_CPU_GFNI }, weft_crc_group_avx512,
		weft_crc6_group_avx512 },
	{ { "avx2-gfni", WEFT_CPU_AVX2 | WEFT_CPU_GFNI }, weft_crc_group_gfni,
		weft_crc6_group_gfni },
	/* The 6-byte CRC is a table's work there. */
	{ { "avx512", WEFT_CPU_AVX512BW }, weft_crc_group_avx512bw, weft_crc6_group_scalar },
	{ { "avx2", WEFT_CPU_AVX2 }, weft_crc_group_avx2, weft_crc6_group_scalar },
#endif
	{ { "scalar", 0 }, weft_crc_group_scalar, weft_crc6_group_scalar },
};

#define CRC_TEST_UNTOUCHED UINT64_C(0xA5A5A5A5A5A5A5A5)

static bool
crc_group_agrees(const struct weft_crc_kernel *kernel, const uint8_t *const *flit, unsigned int n)
{
	uint64_t crc[CRC_GROUP + 1], even[CRC_GROUP + 1], odd[CRC_GROUP + 1];

	crc[n] = even[n] = odd[n] = CRC_TEST_UNTOUCHED;
	kernel->group(flit, n, crc);
	kernel->group6(flit, n, even, odd);
	for (unsigned int i = 0; i < n; i++)
		if (crc[i] != weft_crc_update_ref(0, flit[i], WEFT_CRC_COVERED) ||
			even[i] != weft_crc6_half_ref(flit[i], WEFT_CRC6_EVEN_COVERED) ||
			odd[i] != weft_crc6_half_ref(
					  flit[i] + WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED))
			return false;
	return crc[n] == CRC_TEST_UNTOUCHED && even[n] == CRC_TEST_UNTOUCHED &&
	       odd[n] == CRC_TEST_UNTOUCHED;
}

static bool
crc_kernel_passes(const struct weft_kernel *row)
{
	const struct weft_crc_kernel *kernel = (const struct weft_crc_kernel *)(const void *)row;
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[CRC_GROUP * CRC_FLIT_LEN];
	const uint8_t *flit[CRC_GROUP];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(flits); i++) {
		x = x * 1664525u + 1013904223u;
		flits[i] = (uint8_t)(x >> 24);
	}
	for (unsigned int i = 0; i < CRC_GROUP; i++)
		flit[i] = flits + (CRC_GROUP - 1 - i) * (size_t)CRC_FLIT_LEN;
	for (unsigned int n = 1; n <= CRC_GROUP; n++)
		if (!crc_group_agrees(kernel, flit, n))
			return false;
	return true;
}

WEFT_KERNELS_DEFINE(crc, "crc", crc_kernel_passes)

void
weft_crc_run(
	const struct weft_crc_kernel *kernel, const uint8_t *flits, unsigned int n, uint64_t *crc)
{
	const uint8_t *flit[CRC_GROUP];

	for (unsigned int i = 0; i < n; i += CRC_GROUP)
		kernel->group(flit, weft_kernel_group(flits, CRC_FLIT_LEN, n, i, flit), crc + i);
}

void
weft_crc6_run(const struct weft_crc_kernel *kernel, const uint8_t *flits, unsigned int n,
	uint64_t *even, uint64_t *odd)
{
	const uint8_t *flit[CRC_GROUP];

	for (unsigned int i = 0; i < n; i += CRC_GROUP)
		kernel->group6(flit, weft_kernel_group(flits, CRC_FLIT_LEN, n, i, flit), even + i,
			odd + i);
}
