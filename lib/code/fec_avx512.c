/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes of eight flits at a time with AVX-512 and GFNI (doc/performance.md, FEC). Hot path.
 *
 * Bytes 0..249 are four rows of 63 = 21 * 3 bytes, so a register lane holds the same group in each.
 *   1. The parity is the sum of the rows; the check Horner's rule over them.
 *   2. Each 63 bytes are folded to 24: three registers words, eight bytes of each group.
 *   3. Bytes are put in the order of the FEC bytes, then summed up for eight flits at once
 *      (gfni_sum_bytes()).
 */

#include "fec_priv.h"

#include "gfni_avx512_priv.h"

#define ROW 63
#define ROW_MASK UINT64_C(0x7FFFFFFFFFFFFFFF)
#define LAST_ROW_MASK (ROW_MASK >> (4 * ROW - WEFT_FEC_COVERED))
#define CHECK_WORDS 0x38 /* where step 2 leaves the check: words 3..5 */

/* Steps 1 and 2: eight bytes to be summed up for each FEC byte, in the order of bytes 248..255. */
static inline __attribute__((always_inline)) reg
fec_fold(const struct fec_avx512 *t, const uint8_t *flit)
{
	const reg zero = _mm512_setzero_si512();
	const reg r0 = _mm512_maskz_loadu_epi8(ROW_MASK, flit);
	const reg r1 = _mm512_maskz_loadu_epi8(ROW_MASK, flit + ROW);
	const reg r2 = _mm512_maskz_loadu_epi8(ROW_MASK, flit + 2 * ROW);
	const reg r3 = _mm512_maskz_loadu_epi8(LAST_ROW_MASK, flit + 3 * ROW);
	reg parity = gfni_add(gfni_add3(r0, r1, r2), r3);
	reg check = gfni_add(gfni_multiply(r0, t->row), r1);

	check = gfni_add(gfni_multiply(check, t->row), r2);
	check = gfni_add(gfni_multiply(check, t->row), r3);
	check = gfni_multiply(check, t->block);
	parity = gfni_add3(
		parity, _mm512_alignr_epi64(zero, parity, 3), _mm512_alignr_epi64(zero, parity, 6));
	check = gfni_add3(
		check, _mm512_alignr_epi64(check, check, 5), _mm512_alignr_epi64(zero, check, 3));
	return _mm512_permutexvar_epi8(
		_mm512_load_si512(t->order), _mm512_mask_blend_epi64(CHECK_WORDS, parity, check));
}

void
weft_fec_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	reg sum[FEC_GROUP_FLITS];

	/* Lanes without a flit repeat the first: no branch, and no other memory is read. */
#pragma GCC unroll 8
	for (unsigned int k = 0; k < FEC_GROUP_FLITS; k++)
		sum[k] = fec_fold(&weft_fec_avx512, flit[k < n ? k : 0]);
	_mm512_mask_storeu_epi64(fec, (__mmask8)weft_mask64(n),
		gfni_by_flit(gfni_sum_bytes(weft_fec_avx512.byte, sum)));
}
