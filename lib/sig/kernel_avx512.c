/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * All sums with registers of 64 bytes, alone or with a store beside every load. CRCs fold with
 * VPCLMULQDQ as lib/code/crc64_avx512.c does: four registers at a time from 256 bytes on, one
 * below. T10-DIF has the most significant bit first: its bytes are reversed by GFNI after the load,
 * and from there it is like the others. Hot path.
 */

#include "folds_priv.h"

#include <immintrin.h>

typedef __m512i reg;

#define REG sizeof(reg)
#define ALWAYS static inline __attribute__((always_inline))

/* Parameters of a sum: constant wherever it is inlined. */
struct way {
	const struct sig_folds *f;
	bool reverses; /* the bits of each byte */
	bool copies;
};

ALWAYS reg
in_order(struct way w, reg x)
{
	/* The matrix of bit i to bit 7 - i. */
	return w.reverses ? _mm512_gf2p8affine_epi64_epi8(
				    x, _mm512_set1_epi64((long long)0x8040201008040201), 0)
	                  : x;
}

/* The register @p at bytes from the beginning, copied on the way. */
ALWAYS reg
take(struct way w, uint8_t *dst, const uint8_t *src, size_t at)
{
	const reg x = _mm512_loadu_si512(src + at);

	if (w.copies)
		_mm512_storeu_si512(dst + at, x);
	return in_order(w, x);
}

ALWAYS reg
factors(struct way w, unsigned int d)
{
	return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)w.f->fold[d]));
}

ALWAYS reg
fold(reg x, reg k, reg next)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(x, k, 0x00),
		_mm512_clmulepi64_epi128(x, k, 0x11), next, 0x96);
}

/* Byte i of the result is byte (i + n) mod 64 of @p x. */
ALWAYS reg
turn(reg x, size_t n)
{
	const reg at = _mm512_set_epi64(0x3F3E3D3C3B3A3938, 0x3736353433323130, 0x2F2E2D2C2B2A2928,
		0x2726252423222120, 0x1F1E1D1C1B1A1918, 0x1716151413121110, 0x0F0E0D0C0B0A0908,
		0x0706050403020100);

	return _mm512_permutexvar_epi8(_mm512_add_epi8(at, _mm512_set1_epi8((char)n)), x);
}

/* A message of 8 to 63 bytes, at the end of a register that begins with zeros. */
ALWAYS reg
short_message(struct way w, reg begin, uint8_t *dst, const uint8_t *src, size_t len)
{
	const __mmask64 bytes = (UINT64_C(1) << len) - 1;
	const reg x = _mm512_maskz_loadu_epi8(bytes, src);

	if (w.copies)
		_mm512_mask_storeu_epi8(dst, bytes, x);
	return turn(_mm512_xor_si512(in_order(w, x), begin), len);
}

/* Fold over the last @p rest bytes, 1 to 63, of a message of @p len, 64 or more. */
ALWAYS reg
fold_rest(struct way w, reg x, uint8_t *dst, const uint8_t *src, size_t len, size_t rest)
{
	const __mmask64 stays = (UINT64_C(1) << (REG - rest)) - 1;
	const reg turned = turn(x, rest);
	const reg last = take(w, dst, src, len - REG);

	return fold(_mm512_maskz_mov_epi8(~stays, turned), factors(w, 4),
		_mm512_mask_mov_epi8(last, stays, turned));
}

/* The first @p len bytes, a multiple of 256, as one register. */
ALWAYS reg
fold_blocks(struct way w, reg begin, uint8_t *dst, const uint8_t *src, size_t len)
{
	const reg k = factors(w, 16);
	reg x0 = _mm512_xor_si512(take(w, dst, src, 0), begin);
	reg x1 = take(w, dst, src, REG);
	reg x2 = take(w, dst, src, 2 * REG);
	reg x3 = take(w, dst, src, 3 * REG);

	for (size_t at = 4 * REG; at < len; at += 4 * REG) {
		x0 = fold(x0, k, take(w, dst, src, at));
		x1 = fold(x1, k, take(w, dst, src, at + REG));
		x2 = fold(x2, k, take(w, dst, src, at + 2 * REG));
		x3 = fold(x3, k, take(w, dst, src, at + 3 * REG));
	}
	x2 = fold(x0, factors(w, 8), x2);
	x3 = fold(x1, factors(w, 8), x3);
	return fold(x2, factors(w, 4), x3);
}

/* The four parts of a register added up where the last of them stands. */
ALWAYS __m128i
join_lanes(struct way w, reg x)
{
	const reg moved = fold(x, _mm512_loadu_si512(w.f->lanes), _mm512_setzero_si512());
	const __m256i half = _mm256_xor_si256(
		_mm512_castsi512_si256(moved), _mm512_extracti64x4_epi64(moved, 1));

	return _mm_xor_si128(_mm512_extracti64x2_epi64(x, 3),
		_mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

/* The remainder that a register stands for: 128 bits to 64 by a fold, then Barrett's way. */
ALWAYS uint64_t
remainder_of(struct way w, reg wide)
{
	const __m128i x = join_lanes(w, wide);
	const __m128i c = _mm_loadu_si128((const __m128i *)w.f->barrett);
	const __m128i k = _mm_loadu_si128((const __m128i *)w.f->fold[1]);
	const __m128i b = _mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x10), _mm_srli_si128(x, 8));
	const __m128i q = _mm_clmulepi64_si128(b, c, 0x00);
	const uint64_t by_constant = (uint64_t)_mm_cvtsi128_si64(q) & w.f->constant;
	const __m128i product = _mm_xor_si128(_mm_clmulepi64_si128(q, c, 0x10), b);

	return (uint64_t)_mm_extract_epi64(product, 1) ^ by_constant;
}

/*
 * @p begin and the result as they stand in a register: reversed, and not inverted. 8 bytes or more.
 */
ALWAYS uint64_t
message(struct way w, uint64_t begin, uint8_t *dst, const uint8_t *src, size_t len)
{
	const reg first = _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)begin));
	const size_t blocks = len & ~(4 * REG - 1);
	size_t at = REG;
	reg x;

	if (len < REG)
		return remainder_of(w, short_message(w, first, dst, src, len));
	if (blocks != 0) {
		x = fold_blocks(w, first, dst, src, blocks);
		at = blocks;
	} else {
		x = _mm512_xor_si512(take(w, dst, src, 0), first);
	}
	for (; len - at >= REG; at += REG)
		x = fold(x, factors(w, 4), take(w, dst, src, at));
	if (len > at)
		x = fold_rest(w, x, dst, src, len, len - at);
	return remainder_of(w, x);
}

static uint64_t
avx512_reversed16(uint64_t v)
{
	v = (v & 0x5555) << 1 | (v >> 1 & 0x5555);
	v = (v & 0x3333) << 2 | (v >> 2 & 0x3333);
	v = (v & 0x0F0F) << 4 | (v >> 4 & 0x0F0F);
	return (v & 0xFF) << 8 | v >> 8;
}

#define LEAST 8 /* bytes: fewer than a remainder has */

/* The two functions of a CRC that is inverted before and after. */
#define REFLECTED(name, kind, ones)                                                                \
	static uint64_t name(uint64_t sum, const void *src, size_t len)                            \
	{                                                                                          \
		const struct way w = { &sig_folds[kind], false, false };                           \
                                                                                                   \
		if (len < LEAST)                                                                   \
			return sig_scalar_sum[kind](sum, src, len);                                \
		return message(w, sum ^ (ones), NULL, src, len) ^ (ones);                          \
	}                                                                                          \
                                                                                                   \
	static uint64_t name##_copy(uint64_t sum, void *dst, const void *src, size_t len)          \
	{                                                                                          \
		const struct way w = { &sig_folds[kind], false, true };                            \
                                                                                                   \
		if (len < LEAST)                                                                   \
			return sig_scalar_copy[kind](sum, dst, src, len);                          \
		return message(w, sum ^ (ones), dst, src, len) ^ (ones);                           \
	}

REFLECTED(crc32, WEFT_SIG_SUM_CRC32, (uint64_t)UINT32_MAX)
REFLECTED(crc32c, WEFT_SIG_SUM_CRC32C, (uint64_t)UINT32_MAX)
REFLECTED(crc64, WEFT_SIG_SUM_CRC64, UINT64_MAX)

static uint64_t
avx512_t10dif(uint64_t sum, const void *src, size_t len)
{
	const struct way w = { &sig_folds[WEFT_SIG_SUM_T10DIF], true, false };

	if (len < LEAST)
		return sig_scalar_sum[WEFT_SIG_SUM_T10DIF](sum, src, len);
	return avx512_reversed16(message(w, avx512_reversed16(sum), NULL, src, len));
}

static uint64_t
avx512_t10dif_copy(uint64_t sum, void *dst, const void *src, size_t len)
{
	const struct way w = { &sig_folds[WEFT_SIG_SUM_T10DIF], true, true };

	if (len < LEAST)
		return sig_scalar_copy[WEFT_SIG_SUM_T10DIF](sum, dst, src, len);
	return avx512_reversed16(message(w, avx512_reversed16(sum), dst, src, len));
}

/* Both halves of each 64 bits of @p x added to @p sum: see avx512_csum() in kernel_scalar.c. */
ALWAYS reg
add_halves(reg sum, reg x)
{
	const reg low = _mm512_maskz_mov_epi32(0x5555, x);

	return _mm512_add_epi64(_mm512_add_epi64(sum, low), _mm512_srli_epi64(x, 32));
}

ALWAYS uint64_t
csum_message(bool copies, uint64_t sum, uint8_t *dst, const uint8_t *src, size_t len)
{
	const struct way w = { NULL, false, copies };
	const __mmask64 rest = (UINT64_C(1) << len % REG) - 1;
	reg s0 = _mm512_setzero_si512(), s1 = s0;
	size_t at = 0;
	uint64_t s;

	for (; len - at >= 2 * REG; at += 2 * REG) {
		s0 = add_halves(s0, take(w, dst, src, at));
		s1 = add_halves(s1, take(w, dst, src, at + REG));
	}
	if (len - at >= REG) {
		s0 = add_halves(s0, take(w, dst, src, at));
		at += REG;
	}
	if (rest != 0) {
		const reg x = _mm512_maskz_loadu_epi8(rest, src + at);

		if (copies)
			_mm512_mask_storeu_epi8(dst + at, rest, x);
		s1 = add_halves(s1, x);
	}
	s = (uint64_t)_mm512_reduce_add_epi64(_mm512_add_epi64(s0, s1));
	s += (sum & 0xFF) << 8 | (sum >> 8 & 0xFF);
	while (s > 0xFFFF)
		s = (s & 0xFFFF) + (s >> 16);
	return (s & 0xFF) << 8 | s >> 8;
}

static uint64_t
avx512_csum(uint64_t sum, const void *src, size_t len)
{
	return csum_message(false, sum, NULL, src, len);
}

static uint64_t
avx512_csum_copy(uint64_t sum, void *dst, const void *src, size_t len)
{
	return csum_message(true, sum, dst, src, len);
}

const weft_sig_sum_fn sig_avx512_sum[WEFT_SIG_SUMS] = {
	[WEFT_SIG_SUM_T10DIF] = avx512_t10dif,
	[WEFT_SIG_SUM_CSUM] = avx512_csum,
	[WEFT_SIG_SUM_CRC32] = crc32,
	[WEFT_SIG_SUM_CRC32C] = crc32c,
	[WEFT_SIG_SUM_CRC64] = crc64,
};

const weft_sig_copy_fn sig_avx512_copy[WEFT_SIG_SUMS] = {
	[WEFT_SIG_SUM_T10DIF] = avx512_t10dif_copy,
	[WEFT_SIG_SUM_CSUM] = avx512_csum_copy,
	[WEFT_SIG_SUM_CRC32] = crc32_copy,
	[WEFT_SIG_SUM_CRC32C] = crc32c_copy,
	[WEFT_SIG_SUM_CRC64] = crc64_copy,
};
