/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes of eight flits at a time with AVX-512 and GFNI (doc/performance.md, FEC). Hot path.
 *
 * Bytes 0..249 are four rows of 63 = 21 * 3 bytes, so a register lane holds the same group in each.
 *   1. The parity is the sum of the rows; the check Horner's rule over them.
 *   2. Each 63 bytes are folded to 24: three registers words, eight bytes of each group.
 *   3. Bytes are put in the order of the FEC bytes, then summed up for eight flits at once.
 */

#include <immintrin.h>

#include "fec_priv.h"

#include "weft_base.h"

#define ROW 63
#define ROW_MASK UINT64_C(0x7FFFFFFFFFFFFFFF)
#define LAST_ROW_MASK (ROW_MASK >> (4 * ROW - WEFT_FEC_COVERED))
#define CHECK_WORDS 0x38 /* where step 2 leaves the check: words 3..5 */

typedef __m512i reg;

static inline reg
multiply(reg bytes, const uint64_t *matrices)
{
	return _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_load_si512(matrices), 0);
}

static inline reg
add(reg a, reg b)
{
	return _mm512_xor_si512(a, b);
}

static inline reg
add3(reg a, reg b, reg c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/* Steps 1 and 2: eight bytes to be summed up for each FEC byte, in the order of bytes 248..255. */
static inline __attribute__((always_inline)) reg
fold(const struct fec_avx512 *t, const uint8_t *flit)
{
	const reg zero = _mm512_setzero_si512();
	const reg r0 = _mm512_maskz_loadu_epi8(ROW_MASK, flit);
	const reg r1 = _mm512_maskz_loadu_epi8(ROW_MASK, flit + ROW);
	const reg r2 = _mm512_maskz_loadu_epi8(ROW_MASK, flit + 2 * ROW);
	const reg r3 = _mm512_maskz_loadu_epi8(LAST_ROW_MASK, flit + 3 * ROW);
	reg parity = add(add3(r0, r1, r2), r3);
	reg check = add(multiply(r0, t->row), r1);

	check = add(multiply(check, t->row), r2);
	check = add(multiply(check, t->row), r3);
	check = multiply(check, t->block);
	parity = add3(
		parity, _mm512_alignr_epi64(zero, parity, 3), _mm512_alignr_epi64(zero, parity, 6));
	check = add3(
		check, _mm512_alignr_epi64(check, check, 5), _mm512_alignr_epi64(zero, check, 3));
	return _mm512_permutexvar_epi8(
		_mm512_load_si512(t->order), _mm512_mask_blend_epi64(CHECK_WORDS, parity, check));
}

/*
 * Step 3: transpose bytes of eight registers, so that a 64-bit word holds one byte of each flit,
 * weigh, add. Result: one FEC byte a word, one byte of it a flit.
 */
static inline __attribute__((always_inline)) reg
sum_bytes(const struct fec_avx512 *t, const reg *sum)
{
	reg even[4], odd[4], r[2];

#pragma GCC unroll 4
	for (unsigned int i = 0; i < 4; i++) {
		even[i] = _mm512_unpacklo_epi8(sum[2 * i], sum[2 * i + 1]);
		odd[i] = _mm512_unpackhi_epi8(sum[2 * i], sum[2 * i + 1]);
	}
#pragma GCC unroll 2
	for (unsigned int i = 0; i < 2; i++) {
		const reg *s = i == 0 ? even : odd;
		const reg lo0 = _mm512_unpacklo_epi16(s[0], s[1]);
		const reg lo1 = _mm512_unpacklo_epi16(s[2], s[3]);
		const reg hi0 = _mm512_unpackhi_epi16(s[0], s[1]);
		const reg hi1 = _mm512_unpackhi_epi16(s[2], s[3]);

		r[i] = add3(multiply(_mm512_unpacklo_epi32(lo0, lo1), t->byte[i][0]),
			multiply(_mm512_unpackhi_epi32(lo0, lo1), t->byte[i][1]),
			multiply(_mm512_unpacklo_epi32(hi0, hi1), t->byte[i][2]));
		r[i] = add(r[i], multiply(_mm512_unpackhi_epi32(hi0, hi1), t->byte[i][3]));
	}
	return add(_mm512_unpacklo_epi64(r[0], r[1]), _mm512_unpackhi_epi64(r[0], r[1]));
}

void
weft_fec_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	/* Byte 8f + k of the result is byte 8k + f: FEC byte k of flit f. */
	const reg by_flit = _mm512_set_epi64(0x3F372F271F170F07, 0x3E362E261E160E06,
		0x3D352D251D150D05, 0x3C342C241C140C04, 0x3B332B231B130B03, 0x3A322A221A120A02,
		0x3931292119110901, 0x3830282018100800);
	reg sum[FEC_GROUP_FLITS];

	/* Lanes without a flit repeat the first: no branch, and no other memory is read. */
#pragma GCC unroll 8
	for (unsigned int k = 0; k < FEC_GROUP_FLITS; k++)
		sum[k] = fold(&weft_fec_avx512, flit[k < n ? k : 0]);
	_mm512_mask_storeu_epi64(fec, (__mmask8)weft_mask64(n),
		_mm512_permutexvar_epi8(by_flit, sum_bytes(&weft_fec_avx512, sum)));
}
