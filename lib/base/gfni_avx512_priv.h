/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the AVX-512 kernels of FEC and CRC have in common: sums over GF(2^8), of whatever
 * polynomial, for eight flits at once. For kernel files only, which are built with AVX-512 and
 * GFNI. Hot path.
 */
#ifndef WEFT_GFNI_AVX512_PRIV_H
#define WEFT_GFNI_AVX512_PRIV_H

#include <immintrin.h>
#include <stdint.h>

typedef __m512i reg;

/* Each 64-bit word of bytes by the constant that its 8x8 bit matrix stands for. */
static inline reg
gfni_multiply(reg bytes, const uint64_t *matrices)
{
	return _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_load_si512(matrices), 0);
}

static inline reg
gfni_add(reg a, reg b)
{
	return _mm512_xor_si512(a, b);
}

static inline reg
gfni_add3(reg a, reg b, reg c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/*
 * Weigh and add up the eight bytes of each word of eight flits' registers: bytes are transposed, so
 * that a word holds one byte of each flit. With @p byte [odd][pair][word] the matrix of bytes b =
 * 2 * pair + word % 2 of word 2 * (word / 2) + odd. Result: word i of all, one byte a flit.
 */
static inline __attribute__((always_inline)) reg
gfni_sum_bytes(const uint64_t (*byte)[4][8], const reg *sum)
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

		r[i] = gfni_add3(gfni_multiply(_mm512_unpacklo_epi32(lo0, lo1), byte[i][0]),
			gfni_multiply(_mm512_unpackhi_epi32(lo0, lo1), byte[i][1]),
			gfni_multiply(_mm512_unpacklo_epi32(hi0, hi1), byte[i][2]));
		r[i] = gfni_add(r[i], gfni_multiply(_mm512_unpackhi_epi32(hi0, hi1), byte[i][3]));
	}
	return gfni_add(_mm512_unpacklo_epi64(r[0], r[1]), _mm512_unpackhi_epi64(r[0], r[1]));
}

/* From a word a symbol, a byte a flit, to a word a flit: byte 8f + k is byte 8k + f. */
static inline reg
gfni_by_flit(reg by_symbol)
{
	const reg from = _mm512_set_epi64(0x3F372F271F170F07, 0x3E362E261E160E06,
		0x3D352D251D150D05, 0x3C342C241C140C04, 0x3B332B231B130B03, 0x3A322A221A120A02,
		0x3931292119110901, 0x3830282018100800);

	return _mm512_permutexvar_epi8(from, by_symbol);
}

#endif /* WEFT_GFNI_AVX512_PRIV_H */
