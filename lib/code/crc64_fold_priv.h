/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CRC64_XP10 by carry-less multiplication (signature.md section 4.2), what its kernels share.
 *
 * The register is wide: the last 16 or 64 bytes of a string of zeros that has the same remainder as
 * the message so far. To fold is to move the register over the bytes that come next: each of its
 * words times x^distance mod G, added to those bytes. The CRC so far is added to the first 8 bytes.
 */
#ifndef WEFT_CRC64_FOLD_PRIV_H
#define WEFT_CRC64_FOLD_PRIV_H

#include <immintrin.h>

#include "crc64_priv.h"

/** The factors of a fold over @p d * 16 bytes. */
static inline __m128i
crc64_factors(unsigned int d)
{
	return _mm_loadu_si128((const __m128i *)weft_crc64_fold[d]);
}

/** @p x moved by @p k. */
static inline __m128i
crc64_moved(__m128i x, __m128i k)
{
	return _mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11));
}

/** A CRC as 16 bytes to be added to the first of the message. */
static inline __m128i
crc64_begin(uint64_t crc)
{
	return _mm_cvtsi64_si128((long long)~crc);
}

/** The CRC that a register of 16 bytes stands for: 128 bits to 64 by a fold, then Barrett's way. */
static inline uint64_t
crc64_end(__m128i x)
{
	const __m128i c = _mm_loadu_si128((const __m128i *)weft_crc64_barrett);
	const __m128i b = _mm_xor_si128(
		_mm_clmulepi64_si128(x, crc64_factors(1), 0x10), _mm_srli_si128(x, 8));
	const __m128i q = _mm_clmulepi64_si128(b, c, 0x00);
	const __m128i product =
		_mm_xor_si128(_mm_clmulepi64_si128(q, c, 0x10), _mm_slli_si128(q, 8));

	return ~(uint64_t)_mm_cvtsi128_si64(_mm_srli_si128(_mm_xor_si128(b, product), 8));
}

#endif /* WEFT_CRC64_FOLD_PRIV_H */
