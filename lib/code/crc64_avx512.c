/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CRC64_XP10 with VPCLMULQDQ, registers of 64 bytes: crc64_fold_priv.h says how. Four registers at
 * a time from 256 bytes on, one below. Hot path.
 */

#include "crc64_fold_priv.h"

typedef __m512i reg;

#define REG sizeof(reg)

static inline reg
crc64_load(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

/* The factors of a fold over @p d * 16 bytes, for each 16 bytes of a register. */
static inline reg
crc64_load_factors(unsigned int d)
{
	return _mm512_broadcast_i32x4(crc64_factors(d));
}

static inline reg
crc64_fold(reg x, reg k, reg next)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, k, 0x00),
		_mm512_clmulepi64_epi128(x, k, 0x11), next, 0x96);
}

/* Byte i of the result is byte (i + n) mod 64 of @p x. */
static inline reg
crc64_turn(reg x, size_t n)
{
	const reg at = _mm512_set_epi64(0x3F3E3D3C3B3A3938, 0x3736353433323130, 0x2F2E2D2C2B2A2928,
		0x2726252423222120, 0x1F1E1D1C1B1A1918, 0x1716151413121110, 0x0F0E0D0C0B0A0908,
		0x0706050403020100);

	return _mm512_permutexvar_epi8(_mm512_add_epi8(at, _mm512_set1_epi8((char)n)), x);
}

/* A message of 8 to 63 bytes, at the end of a register that begins with zeros. */
static inline reg
crc64_short_message(reg begin, const uint8_t *p, size_t len)
{
	const __mmask64 bytes = (UINT64_C(1) << len) - 1;

	return crc64_turn(_mm512_xor_si512(_mm512_maskz_loadu_epi8(bytes, p), begin), len);
}

/* Fold over the last @p rest bytes of a message, 1 to 63, that end at @p end. */
static inline reg
crc64_fold_rest(reg x, const uint8_t *end, size_t rest)
{
	const __mmask64 stays = (UINT64_C(1) << (REG - rest)) - 1;
	const reg turned = crc64_turn(x, rest);

	return crc64_fold(_mm512_maskz_mov_epi8(~stays, turned), crc64_load_factors(4),
		_mm512_mask_mov_epi8(crc64_load(end - REG), stays, turned));
}

/* The first @p len bytes, a multiple of 256, as one register. */
static inline reg
crc64_fold_blocks(reg begin, const uint8_t *p, size_t len)
{
	const reg k = crc64_load_factors(16);
	reg x0 = _mm512_xor_si512(crc64_load(p), begin), x1 = crc64_load(p + REG);
	reg x2 = crc64_load(p + 2 * REG), x3 = crc64_load(p + 3 * REG);

	for (const uint8_t *end = p + len; (p += 4 * REG) != end;) {
		x0 = crc64_fold(x0, k, crc64_load(p));
		x1 = crc64_fold(x1, k, crc64_load(p + REG));
		x2 = crc64_fold(x2, k, crc64_load(p + 2 * REG));
		x3 = crc64_fold(x3, k, crc64_load(p + 3 * REG));
	}
	x2 = crc64_fold(x0, crc64_load_factors(8), x2);
	x3 = crc64_fold(x1, crc64_load_factors(8), x3);
	return crc64_fold(x2, crc64_load_factors(4), x3);
}

/* The four parts of a register added up where the last of them stands. */
static inline __m128i
crc64_join_lanes(reg x)
{
	const reg moved =
		crc64_fold(x, _mm512_loadu_si512(weft_crc64_lanes), _mm512_setzero_si512());
	const __m256i half = _mm256_xor_si256(
		_mm512_castsi512_si256(moved), _mm512_extracti64x4_epi64(moved, 1));

	return _mm_xor_si128(_mm512_extracti64x2_epi64(x, 3),
		_mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

uint64_t
weft_crc64_avx512(uint64_t crc, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	const size_t blocks = len & ~(4 * REG - 1);
	const reg begin = _mm512_zextsi128_si512(crc64_begin(crc));
	reg x;

	if (len < sizeof(crc))
		return weft_crc64_scalar(crc, buf, len);
	if (len < REG)
		return crc64_end(crc64_join_lanes(crc64_short_message(begin, p, len)));
	if (blocks != 0) {
		x = crc64_fold_blocks(begin, p, blocks);
		p += blocks;
		len -= blocks;
	} else {
		x = _mm512_xor_si512(crc64_load(p), begin);
		p += REG;
		len -= REG;
	}
	for (; len >= REG; p += REG, len -= REG)
		x = crc64_fold(x, crc64_load_factors(4), crc64_load(p));
	if (len > 0)
		x = crc64_fold_rest(x, p + len, len);
	return crc64_end(crc64_join_lanes(x));
}
