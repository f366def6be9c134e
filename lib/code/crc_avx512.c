/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit CRCs of eight flits at a time with AVX-512 and GFNI: crc_gfni_priv.h says how. Hot path.
 */

#include "crc_gfni_priv.h"
#include "crc_priv.h"

#include "gfni_avx512_priv.h"

static inline reg
crc_word_at(const uint8_t *p)
{
	return _mm512_set1_epi64((long long)weft_get_le64(p));
}

/*
 * Step 1 for the @p len bytes from @p off on. The last word may reach over the end of the message,
 * not of the flit.
 */
static inline __attribute__((always_inline)) void
crc_sum_words(const uint64_t (*word)[8], const uint8_t *const *flit, unsigned int off,
	unsigned int len, reg *sum)
{
	const unsigned int n = len / 8 & ~1u, rest = len - n * 8;

#pragma GCC unroll 8
	for (unsigned int k = 0; k < CRC_GROUP; k++)
		sum[k] = _mm512_setzero_si512();
#pragma GCC unroll 1
	for (unsigned int w = 0; w < n; w += 2)
#pragma GCC unroll 8
		for (unsigned int k = 0; k < CRC_GROUP; k++)
			sum[k] = gfni_add3(sum[k],
				gfni_multiply(crc_word_at(flit[k] + off + 8 * w), word[w]),
				gfni_multiply(crc_word_at(flit[k] + off + 8 * w + 8), word[w + 1]));
#pragma GCC unroll 8
	for (unsigned int k = 0; k < CRC_GROUP; k++) {
		const uint8_t *p = flit[k] + off + 8 * n;
		reg last;

		if (rest >= 8) {
			sum[k] = gfni_add(sum[k], gfni_multiply(crc_word_at(p), word[n]));
			p += 8;
		}
		last = _mm512_set1_epi64((long long)(weft_get_le64(p) & weft_mask64(rest % 8 * 8)));
		sum[k] = gfni_add(sum[k], gfni_multiply(last, word[n + (rest >= 8)]));
	}
}

static inline reg
crc_one_root(const struct crc_gfni *m, reg values, unsigned int j)
{
	return gfni_multiply(
		_mm512_permutexvar_epi64(_mm512_set1_epi64((long long)j), values), m->symbol[j]);
}

/* Step 3, from the values at the roots (step 2 is gfni_sum_bytes()). Result: a remainder a flit. */
static inline __attribute__((always_inline)) reg
crc_symbols(const struct crc_gfni *m, reg values)
{
	const reg a = gfni_add3(
		crc_one_root(m, values, 0), crc_one_root(m, values, 1), crc_one_root(m, values, 2));
	const reg b = gfni_add3(
		crc_one_root(m, values, 3), crc_one_root(m, values, 4), crc_one_root(m, values, 5));

	return gfni_by_flit(
		gfni_add3(a, b, gfni_add(crc_one_root(m, values, 6), crc_one_root(m, values, 7))));
}

/* Remainders of @p n flits' bytes from @p off on. */
static inline __attribute__((always_inline)) void
crc_remainders(const struct crc_gfni *m, const uint8_t *const *flit, unsigned int n,
	unsigned int off, unsigned int len, uint64_t *crc)
{
	const uint8_t *p[CRC_GROUP];
	reg sum[CRC_GROUP];

	/*
	 * Lanes without a flit repeat the first: that costs no branch, and no other memory is read.
	 */
	for (unsigned int k = 0; k < CRC_GROUP; k++)
		p[k] = flit[k < n ? k : 0];
	crc_sum_words(m->word, p, off, len, sum);
	_mm512_mask_storeu_epi64(
		crc, (__mmask8)weft_mask64(n), crc_symbols(m, gfni_sum_bytes(m->byte, sum)));
}

void
weft_crc_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	crc_remainders(&weft_crc_gfni, flit, n, 0, WEFT_CRC_COVERED, crc);
}

void
weft_crc6_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd)
{
	crc_remainders(&weft_crc6_gfni, flit, n, 0, WEFT_CRC6_EVEN_COVERED, even);
	crc_remainders(&weft_crc6_gfni, flit, n, WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED, odd);
}
