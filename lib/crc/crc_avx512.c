/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit CRCs of eight flits at a time with AVX-512 and GFNI: crc_gfni_priv.h says how. Hot path.
 */

#include <immintrin.h>

#include "crc_gfni_priv.h"
#include "crc_priv.h"

#include "weft_base.h"

typedef __m512i reg;

static inline reg
multiply(reg bytes, const uint64_t *matrices)
{
	return _mm512_gf2p8affine_epi64_epi8(bytes, _mm512_load_si512(matrices), 0);
}

static inline reg
add3(reg a, reg b, reg c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

static inline reg
word_at(const uint8_t *p)
{
	return _mm512_set1_epi64((long long)weft_get_le64(p));
}

/*
 * Step 1 for the @p len bytes from @p off on. The last word may reach over the end of the message,
 * not of the flit.
 */
static inline __attribute__((always_inline)) void
sum_words(const uint64_t (*word)[8], const uint8_t *const *flit, unsigned int off, unsigned int len,
	reg *sum)
{
	const unsigned int n = len / 8 & ~1u, rest = len - n * 8;

#pragma GCC unroll 8
	for (unsigned int k = 0; k < CRC_GROUP; k++)
		sum[k] = _mm512_setzero_si512();
#pragma GCC unroll 1
	for (unsigned int w = 0; w < n; w += 2)
#pragma GCC unroll 8
		for (unsigned int k = 0; k < CRC_GROUP; k++)
			sum[k] = add3(sum[k], multiply(word_at(flit[k] + off + 8 * w), word[w]),
				multiply(word_at(flit[k] + off + 8 * w + 8), word[w + 1]));
#pragma GCC unroll 8
	for (unsigned int k = 0; k < CRC_GROUP; k++) {
		const uint8_t *p = flit[k] + off + 8 * n;
		reg last;

		if (rest >= 8) {
			sum[k] = _mm512_xor_si512(sum[k], multiply(word_at(p), word[n]));
			p += 8;
		}
		last = _mm512_set1_epi64((long long)(weft_get_le64(p) & weft_mask64(rest % 8 * 8)));
		sum[k] = _mm512_xor_si512(sum[k], multiply(last, word[n + (rest >= 8)]));
	}
}

/*
 * Step 2: transpose bytes of eight registers, so that a 64-bit word holds one byte of each flit,
 * weigh, add. Result: root j-1 in word j-1, one byte a flit.
 */
static inline __attribute__((always_inline)) reg
sum_bytes(const struct crc_gfni *m, const reg *sum)
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

		r[i] = add3(multiply(_mm512_unpacklo_epi32(lo0, lo1), m->byte[i][0]),
			multiply(_mm512_unpackhi_epi32(lo0, lo1), m->byte[i][1]),
			multiply(_mm512_unpacklo_epi32(hi0, hi1), m->byte[i][2]));
		r[i] = _mm512_xor_si512(
			r[i], multiply(_mm512_unpackhi_epi32(hi0, hi1), m->byte[i][3]));
	}
	return _mm512_xor_si512(
		_mm512_unpacklo_epi64(r[0], r[1]), _mm512_unpackhi_epi64(r[0], r[1]));
}

static inline reg
one_root(const struct crc_gfni *m, reg values, unsigned int j)
{
	return multiply(
		_mm512_permutexvar_epi64(_mm512_set1_epi64((long long)j), values), m->symbol[j]);
}

/* Step 3. Result: a remainder a flit. */
static inline __attribute__((always_inline)) reg
symbols(const struct crc_gfni *m, reg values)
{
	/* Byte 8f + k of the result is byte 8k + f: symbol k of flit f. */
	const reg by_flit = _mm512_set_epi64(0x3F372F271F170F07, 0x3E362E261E160E06,
		0x3D352D251D150D05, 0x3C342C241C140C04, 0x3B332B231B130B03, 0x3A322A221A120A02,
		0x3931292119110901, 0x3830282018100800);
	const reg a = add3(one_root(m, values, 0), one_root(m, values, 1), one_root(m, values, 2));
	const reg b = add3(one_root(m, values, 3), one_root(m, values, 4), one_root(m, values, 5));

	return _mm512_permutexvar_epi8(by_flit,
		add3(a, b, _mm512_xor_si512(one_root(m, values, 6), one_root(m, values, 7))));
}

/* Remainders of @p n flits' bytes from @p off on. */
static inline __attribute__((always_inline)) void
remainders(const struct crc_gfni *m, const uint8_t *const *flit, unsigned int n, unsigned int off,
	unsigned int len, uint64_t *crc)
{
	const uint8_t *p[CRC_GROUP];
	reg sum[CRC_GROUP];

	/* Lanes without a flit repeat the first: that costs no branch, and no other memory is read. */
	for (unsigned int k = 0; k < CRC_GROUP; k++)
		p[k] = flit[k < n ? k : 0];
	sum_words(m->word, p, off, len, sum);
	_mm512_mask_storeu_epi64(crc, (__mmask8)weft_mask64(n), symbols(m, sum_bytes(m, sum)));
}

void
weft_crc_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	remainders(&weft_crc_gfni, flit, n, 0, WEFT_CRC_COVERED, crc);
}

void
weft_crc6_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd)
{
	remainders(&weft_crc6_gfni, flit, n, 0, WEFT_CRC6_EVEN_COVERED, even);
	remainders(&weft_crc6_gfni, flit, n, WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED, odd);
}
