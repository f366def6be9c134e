/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* CRC64_XP10 with PCLMULQDQ, four registers of 16 bytes: crc64_fold_priv.h says how. Hot path. */

#include "crc64_fold_priv.h"

typedef __m128i reg;

#define REG sizeof(reg)

static inline reg
crc64_load(const uint8_t *p)
{
	return _mm_loadu_si128((const reg *)p);
}

static inline reg
crc64_fold(reg x, reg k, reg next)
{
	return _mm_xor_si128(crc64_moved(x, k), next);
}

/* Fold over the last @p rest bytes of a message, 1 to 15, that end at @p end. */
static inline reg
crc64_fold_rest(reg x, const uint8_t *end, size_t rest)
{
	const reg at = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	const reg index = _mm_and_si128(
		_mm_add_epi8(at, _mm_set1_epi8((char)rest)), _mm_set1_epi8((char)(REG - 1)));
	const reg stays = _mm_cmplt_epi8(at, _mm_set1_epi8((char)(REG - rest)));
	const reg turned = _mm_shuffle_epi8(x, index);
	const reg next = _mm_or_si128(
		_mm_and_si128(stays, turned), _mm_andnot_si128(stays, crc64_load(end - REG)));

	return crc64_fold(_mm_andnot_si128(stays, turned), crc64_factors(1), next);
}

/* The first @p len bytes, a multiple of 64, as one register. */
static inline reg
crc64_fold_blocks(reg begin, const uint8_t *p, size_t len)
{
	const reg k = crc64_factors(4);
	reg x0 = _mm_xor_si128(crc64_load(p), begin), x1 = crc64_load(p + REG);
	reg x2 = crc64_load(p + 2 * REG), x3 = crc64_load(p + 3 * REG);

	for (const uint8_t *end = p + len; (p += 4 * REG) != end;) {
		x0 = crc64_fold(x0, k, crc64_load(p));
		x1 = crc64_fold(x1, k, crc64_load(p + REG));
		x2 = crc64_fold(x2, k, crc64_load(p + 2 * REG));
		x3 = crc64_fold(x3, k, crc64_load(p + 3 * REG));
	}
	x2 = crc64_fold(x0, crc64_factors(2), x2);
	x3 = crc64_fold(x1, crc64_factors(2), x3);
	return crc64_fold(x2, crc64_factors(1), x3);
}

uint64_t
weft_crc64_pclmul(uint64_t crc, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	const size_t blocks = len & ~(4 * REG - 1);
	reg x;

	if (len < REG)
		return weft_crc64_scalar(crc, buf, len);
	if (blocks != 0) {
		x = crc64_fold_blocks(crc64_begin(crc), p, blocks);
		p += blocks;
		len -= blocks;
	} else {
		x = _mm_xor_si128(crc64_load(p), crc64_begin(crc));
		p += REG;
		len -= REG;
	}
	for (; len >= REG; p += REG, len -= REG)
		x = crc64_fold(x, crc64_factors(1), crc64_load(p));
	if (len > 0)
		x = crc64_fold_rest(x, p + len, len);
	return crc64_end(x);
}
