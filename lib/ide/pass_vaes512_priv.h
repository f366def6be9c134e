/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the pass with 512 bits is made of: sums of GHASH products, AES of lanes, the hash of vectors
 * that go together, PCRC on the integer units and folded.
 */
#ifndef PASS_VAES512_PRIV_H
#define PASS_VAES512_PRIV_H

#include "pass_block_priv.h"
#include "pass_crc.h"

/* --- GHASH --- */

/* Sums of products, not reduced: three parts that overlap by half. */
struct sum512 {
	__m512i lo, mid, hi;
};

static inline __m512i
pass_xor3(__m512i a, __m512i b, __m512i c)
{
	return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

static inline void
pass_sum_add(struct sum512 *s, __m512i a, __m512i b)
{
	s->lo = _mm512_xor_si512(s->lo, _mm512_clmulepi64_epi128(a, b, 0x00));
	s->hi = _mm512_xor_si512(s->hi, _mm512_clmulepi64_epi128(a, b, 0x11));
	s->mid = pass_xor3(
		s->mid, _mm512_clmulepi64_epi128(a, b, 0x01), _mm512_clmulepi64_epi128(a, b, 0x10));
}

static inline __m128i
pass_across_lanes(__m512i v)
{
	__m256i h = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));

	return _mm_xor_si128(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
}

static inline __m512i
pass_swap_halves(__m512i v)
{
	return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
}

static inline __m128i
pass_sum_reduce(const struct sum512 *s)
{
	const __m512i poly = _mm512_set1_epi64((long long)0xC200000000000000);
	const __m512i mid = pass_xor3(
		s->mid, pass_swap_halves(s->lo), _mm512_clmulepi64_epi128(s->lo, poly, 0x00));

	return pass_across_lanes(
		pass_xor3(s->hi, pass_swap_halves(mid), _mm512_clmulepi64_epi128(mid, poly, 0x00)));
}

/* --- AES --- */

static inline __m512i
pass_load_everywhere(const uint8_t *p)
{
	return _mm512_broadcast_i32x4(pass_load(p));
}

/*
 * --- One or two flits: vectors 0 to 7, or of one flit 4 to 7, which is where tables that count
 * from the end have it. @p first is 0 or 4, and a constant. ---
 */

#define VECTORS 8
#define FLIT_LEN ((size_t)256)

static inline __m512i *
pass_vector(uint8_t *flit, unsigned int v, unsigned int first)
{
	return (__m512i *)(void *)(flit + (v - first) * 64);
}

/* Counter blocks of each lane from @p n on, after the first round key. */
static inline void
pass_start_lanes(const struct ide_pass_key *key, uint64_t counter, uint32_t n, unsigned int first,
	__m512i *ks)
{
	const __m512i rev = pass_load_everywhere(reverse);
	const __m512i base = _mm512_broadcast_i32x4(pass_counter_block(counter, n));
	const __m512i k = pass_load_everywhere(key->round[0]);

#pragma GCC unroll 8
	for (unsigned int v = first; v < VECTORS; v++) {
		/* The last lane of the first of two flits is no block of P. */
		const int l = (int)(4 * (v - first) - (v - first) / 4);
		const __m512i lane = _mm512_set_epi64(0, l + 3, 0, l + 2, 0, l + 1, 0, l);

		ks[v] = _mm512_xor_si512(k, _mm512_shuffle_epi8(_mm512_add_epi32(base, lane), rev));
	}
}

static inline void
pass_round_lanes(const struct ide_pass_key *key, unsigned int r, unsigned int first, __m512i *ks)
{
	const __m512i k = pass_load_everywhere(key->round[r]);

#pragma GCC unroll 8
	for (unsigned int v = first; v < VECTORS; v++)
		ks[v] = r == IDE_PASS_ROUNDS ? _mm512_aesenclast_epi128(ks[v], k)
		                             : _mm512_aesenc_epi128(ks[v], k);
}

/* Of vectors 0 and 4: the bits of P that are sent, and those that are not but are hashed. */
struct slot0 {
	__m512i sent, pad;
};

static inline struct slot0
pass_slot0(bool is_mac)
{
	if (is_mac)
		return (struct slot0){ _mm512_set_epi64(-1, -1, -1, -1, -1, -1, 0, 0),
			_mm512_setzero_si512() };
	return (struct slot0){ _mm512_set_epi64(-1, -1, -1, -1, -1, -1, -1, -0x100000),
		_mm512_zextsi128_si512(_mm_cvtsi32_si128(0xFFFFF)) };
}

/*
 * What was before goes into the first block: of lane 0, or 1. Not by a masked load, which waits
 * until what was stored has left the core.
 */
static inline __m512i
pass_add_to_first(__m512i v, __m128i before, bool is_mac)
{
	const __m512i b = _mm512_zextsi128_si512(before);

	return _mm512_xor_si512(v, _mm512_maskz_shuffle_i64x2(is_mac ? 0x0C : 0x03, b, b, 0));
}

/*
 * --- the hash of whole flits: two vectors at once, by Karatsuba, three products each instead of
 * four ---
 */

/* Vectors that go together: of two flits, then of one. Those with a pad, known last, come last. */
enum { GROUPS = 4, GROUP_OF_ONE = 4, ALL_GROUPS = 6 };
static const uint8_t group[ALL_GROUPS][2] = { { 1, 2 }, { 3, 5 }, { 6, 7 }, { 0, 4 }, { 5, 6 },
	{ 4, 7 } };

static inline __m512i
pass_sum_of_halves(__m512i a, __m512i b)
{
	return _mm512_xor_si512(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* Lanes that are not in P meet zeros. */
static inline void
pass_hash_group(
	const struct ide_pass_key *key, struct sum512 *s, unsigned int g, __m512i a, __m512i b)
{
	const __m512i pa = _mm512_load_si512(key->power[4 * group[g][0]]);
	const __m512i pb = _mm512_load_si512(key->power[4 * group[g][1]]);
	const __m512i pm = _mm512_load_si512(key->mid[4 * g]);
	const __m512i m = pass_sum_of_halves(a, b);

	s->lo = pass_xor3(s->lo, _mm512_clmulepi64_epi128(a, pa, 0x00),
		_mm512_clmulepi64_epi128(b, pb, 0x00));
	s->hi = pass_xor3(s->hi, _mm512_clmulepi64_epi128(a, pa, 0x11),
		_mm512_clmulepi64_epi128(b, pb, 0x11));
	s->mid = pass_xor3(s->mid, _mm512_clmulepi64_epi128(m, pm, 0x00),
		_mm512_clmulepi64_epi128(m, pm, 0x11));
}

static inline __m128i
pass_hash_end(struct sum512 *s)
{
	s->mid = pass_xor3(s->mid, s->lo, s->hi);
	return pass_sum_reduce(s);
}

static inline struct sum512
pass_sum_zero(void)
{
	return (struct sum512){ _mm512_setzero_si512(), _mm512_setzero_si512(),
		_mm512_setzero_si512() };
}

/* --- PCRC of what is sealed: on the integer units, in three chains that are joined --- */

struct chains {
	uint64_t c[3];
};

/* Eight bytes of P: piece @p i, of 30 a flit. The pad and IDE.MAC are zeros. */
static inline uint64_t
pass_piece(uint8_t *flit, unsigned int i, bool is_mac)
{
	uint64_t w;

	memcpy(&w, flit + i / 30 * FLIT_LEN + i % 30 * 8, sizeof(w));
	if (i < 2 && is_mac)
		return 0;
	return i % 30 == 0 ? w & ~UINT64_C(0xFFFFF) : w;
}

/* Pieces @p from to @p to of each chain, but for the last of the last. */
static inline void
pass_crc_pieces(struct chains *s, uint8_t *flit, unsigned int flits, unsigned int from,
	unsigned int to, bool is_mac)
{
	const unsigned int len = flits * 10;

#pragma GCC unroll 20
	for (unsigned int i = from; i < to && i < len; i++)
#pragma GCC unroll 3
		for (unsigned int k = 0; k < 3; k++)
			if (k != 2 || i != len - 1)
				s->c[k] = _mm_crc32_u64(
					s->c[k], pass_piece(flit, k * len + i, is_mac));
}

static inline __m128i
pass_crc_shift(uint64_t crc, long long behind)
{
	return _mm_clmulepi64_si128(
		_mm_cvtsi64_si128((long long)crc), _mm_cvtsi64_si128(behind), 0x00);
}

/* The remainder @p before, and the chains' after it. */
static inline uint32_t
pass_crc_join(
	const struct chains *s, uint8_t *flit, unsigned int flits, bool is_mac, uint32_t before)
{
	const long long all = flits == 2 ? is_mac ? CRC_BEHIND_464 : CRC_BEHIND_480
	                      : is_mac   ? CRC_BEHIND_224
	                                 : CRC_BEHIND_240;
	__m128i q = pass_crc_shift(before, all);

	q = _mm_xor_si128(q, pass_crc_shift(s->c[0], flits == 2 ? CRC_BEHIND_320 : CRC_BEHIND_160));
	q = _mm_xor_si128(q, pass_crc_shift(s->c[1], flits == 2 ? CRC_BEHIND_160 : CRC_BEHIND_80));
	return (uint32_t)_mm_crc32_u64(
		s->c[2], pass_piece(flit, flits * 30 - 1, is_mac) ^ (uint64_t)_mm_cvtsi128_si64(q));
}

/*
 * --- their PCRC when opened: folded, because the plaintext, just stored, comes to the integer
 * units too late. What is folded stands for all before it, and goes into the next block. ---
 */

static inline __m512i
pass_crc_fold_vector(
	__m512i crc, __m512i p, unsigned int v, unsigned int first, bool is_mac, __m128i before)
{
	const __m512i c = _mm512_load_si512(crc_fold[4 * v]);

	if (v == first)
		p = pass_add_to_first(_mm512_and_si512(p, pass_slot0(is_mac).sent), before, is_mac);
	else if (v % 4 == 0)
		p = _mm512_and_si512(p, pass_slot0(false).sent);
	return pass_xor3(
		crc, _mm512_clmulepi64_epi128(p, c, 0x00), _mm512_clmulepi64_epi128(p, c, 0x11));
}

/* The remainder of all that was folded. */
static inline uint32_t
pass_crc_unfold(__m128i f)
{
	const uint64_t c = _mm_crc32_u64(_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(f)),
		(uint64_t)_mm_extract_epi64(f, 1));

	return (uint32_t)_mm_crc32_u64(
		0, (uint64_t)_mm_cvtsi128_si64(pass_crc_shift(c, CRC_FINISH)));
}

#endif /* PASS_VAES512_PRIV_H */
