/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The FEC's kernels and how one is chosen (doc/architecture.md, Kernels). A kernel is believed only
 * after it has agreed with the sums of wire-formats.md section 2.2, taken term by term, on groups
 * of every size, out of order in memory.
 */

#include "fec_priv.h"

const struct weft_fec_kernel weft_fec_kernels[] = {
#if defined(__x86_64__)
	{ { "avx512-gfni", WEFT_CPU_AVX512 | WEFT_CPU_GFNI }, weft_fec_group_avx512 },
	{ { "avx2-gfni", WEFT_CPU_AVX2 | WEFT_CPU_GFNI }, weft_fec_group_gfni },
	{ { "avx512", WEFT_CPU_AVX512BW }, weft_fec_group_avx512bw },
	{ { "avx2", WEFT_CPU_AVX2 }, weft_fec_group_avx2 },
#endif
	{ { "scalar", 0 }, weft_fec_group_scalar },
};

/* value * alpha^power */
static uint8_t
fec_scale(uint8_t value, unsigned int power)
{
	unsigned int v = value;

	while (power-- > 0)
		v = v << 1 ^ ((v & 0x80) != 0 ? 0x11D : 0);
	return (uint8_t)v;
}

static void
fec_encode_by_definition(uint8_t *flit)
{
	/* Groups in the order of their FEC bytes. */
	static const uint8_t place[FEC_GROUPS] = { 2, 0, 1 };

	memset(flit + WEFT_FEC_OFF, 0, WEFT_FEC_LEN);
	for (unsigned int i = 0; i < WEFT_FEC_COVERED; i++) {
		const unsigned int p = place[i % FEC_GROUPS];

		flit[FEC_CHECK_OFF + p] ^= fec_scale(flit[i], FEC_ROWS - i / FEC_GROUPS);
		flit[FEC_PARITY_OFF + p] ^= flit[i];
	}
}

static bool
fec_group_agrees(weft_fec_group_fn group, const uint8_t *const *flit, unsigned int n)
{
	const uint64_t untouched = UINT64_C(0xA5A5A5A5A5A5A5A5);
	uint64_t fec[FEC_GROUP_FLITS + 1];

	fec[n] = untouched;
	group(flit, n, fec);
	return weft_fec_compare(flit, n, fec) == 0 && fec[n] == untouched;
}

static bool
fec_kernel_passes(const struct weft_kernel *row)
{
	const struct weft_fec_kernel *kernel = (const struct weft_fec_kernel *)(const void *)row;
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[FEC_GROUP_FLITS][FEC_FLIT_LEN];
	const uint8_t *flit[FEC_GROUP_FLITS];
	uint32_t x = 1;

	for (unsigned int i = 0; i < FEC_GROUP_FLITS; i++) {
		for (unsigned int k = 0; k < WEFT_FEC_COVERED; k++) {
			x = x * 1664525u + 1013904223u;
			flits[i][k] = (uint8_t)(x >> 24);
		}
		fec_encode_by_definition(flits[i]);
		flit[FEC_GROUP_FLITS - 1 - i] = flits[i];
	}
	for (unsigned int n = 1; n <= FEC_GROUP_FLITS; n++)
		if (!fec_group_agrees(kernel->group, flit, n))
			return false;
	return true;
}

WEFT_KERNELS_DEFINE(fec, "fec", fec_kernel_passes)

void
weft_fec_encode(const struct weft_fec_kernel *kernel, uint8_t *flits, unsigned int n)
{
	const uint8_t *flit[FEC_GROUP_FLITS];
	uint64_t fec[FEC_GROUP_FLITS];

	for (unsigned int i = 0; i < n; i += FEC_GROUP_FLITS) {
		const unsigned int m = weft_kernel_group(flits, FEC_FLIT_LEN, n, i, flit);

		kernel->group(flit, m, fec);
		for (unsigned int k = 0; k < m; k++)
			weft_fec_store(flits + (i + k) * (size_t)FEC_FLIT_LEN, fec[k]);
	}
}

uint64_t
weft_fec_check(const struct weft_fec_kernel *kernel, const uint8_t *flits, unsigned int n)
{
	const uint8_t *flit[FEC_GROUP_FLITS];
	uint64_t fec[FEC_GROUP_FLITS], not_clean = 0;

	assert(n <= WEFT_FEC_RUN_MAX);
	for (unsigned int i = 0; i < n; i += FEC_GROUP_FLITS) {
		const unsigned int m = weft_kernel_group(flits, FEC_FLIT_LEN, n, i, flit);

		kernel->group(flit, m, fec);
		not_clean |= weft_fec_compare(flit, m, fec) << i;
	}
	return not_clean;
}
