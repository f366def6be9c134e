/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Of every kernel of the pass: single blocks, which are few. Products of GHASH, AES of one block,
 * what a tag is made of besides the text.
 *
 * GHASH works on blocks with their bytes reversed and on powers of H times 1/x, so that a
 * carry-less product needs no shift (Gueron and Kounavis).
 */
#ifndef PASS_BLOCK_PRIV_H
#define PASS_BLOCK_PRIV_H

#include "pass_priv.h"

#include <immintrin.h>

static const uint8_t reverse[16] = { 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };

static inline __m128i
pass_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* Sums of products, not reduced: three parts that overlap by half. */
struct sum128 {
	__m128i lo, mid, hi;
};

static inline void
pass_block_add(struct sum128 *s, __m128i a, __m128i b)
{
	s->lo = _mm_xor_si128(s->lo, _mm_clmulepi64_si128(a, b, 0x00));
	s->hi = _mm_xor_si128(s->hi, _mm_clmulepi64_si128(a, b, 0x11));
	s->mid = _mm_xor_si128(s->mid, _mm_clmulepi64_si128(a, b, 0x01));
	s->mid = _mm_xor_si128(s->mid, _mm_clmulepi64_si128(a, b, 0x10));
}

static inline __m128i
pass_block_reduce(const struct sum128 *s)
{
	const __m128i poly = _mm_set1_epi64x((long long)0xC200000000000000);
	__m128i mid = _mm_xor_si128(s->mid, _mm_shuffle_epi32(s->lo, 0x4E));

	mid = _mm_xor_si128(mid, _mm_clmulepi64_si128(s->lo, poly, 0x00));
	return _mm_xor_si128(_mm_xor_si128(s->hi, _mm_shuffle_epi32(mid, 0x4E)),
		_mm_clmulepi64_si128(mid, poly, 0x00));
}

static inline __m128i
pass_multiply(__m128i a, __m128i b)
{
	struct sum128 s = { _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128() };

	pass_block_add(&s, a, b);
	return pass_block_reduce(&s);
}

static inline __m128i
pass_encrypt_block(const struct ide_pass_key *key, __m128i b)
{
	b = _mm_xor_si128(b, pass_load(key->round[0]));
	for (unsigned int r = 1; r < IDE_PASS_ROUNDS; r++)
		b = _mm_aesenc_si128(b, pass_load(key->round[r]));
	return _mm_aesenclast_si128(b, pass_load(key->round[IDE_PASS_ROUNDS]));
}

/* Counter block @p n of the epoch, bytes reversed: IV (wire-formats.md section 5), then n. */
static inline __m128i
pass_counter_block(uint64_t counter, uint32_t n)
{
	return _mm_set_epi64x(
		(long long)(UINT64_C(1) << 63 | counter >> 32), (long long)(counter << 32 | n));
}

/* Ciphertext of the PCRC, as a block with its bytes reversed. */
static inline __m128i
pass_pcrc_block(const struct ide_pass *pass)
{
	uint32_t next;

	memcpy(&next, pass->next, sizeof(next));
	next ^= ~pass->crc;
	return _mm_set_epi64x((long long)((uint64_t)__builtin_bswap32(next) << 32), 0);
}

/* GHASH's last block: bits of AAD and of text. */
static inline __m128i
pass_lengths(const struct ide_pass *pass, unsigned int aad_len, bool pcrc)
{
	return _mm_set_epi64x((long long)aad_len * 8,
		(long long)((uint64_t)pass->blocks * 128 + (pcrc ? 32 : 0)));
}

/* What the hash is made a tag with: of the pass, if a lane had it to spare. */
static inline __m128i
pass_tag_mask(const struct ide_pass_key *key, const struct ide_pass *pass)
{
	if (pass->has_mask)
		return pass_load(pass->mask);
	return pass_encrypt_block(
		key, _mm_shuffle_epi8(pass_counter_block(pass->counter, 1), pass_load(reverse)));
}

/* AAD of up to two words is taken as it is, more is folded before. */
#define AAD_WORDS_DIRECT 2

/* The power of H that the AAD is multiplied with, before @p blocks of text and one of lengths. */
static inline uint32_t
pass_far_exponent(uint32_t blocks, unsigned int aad_words)
{
	return blocks + (aad_words <= AAD_WORDS_DIRECT ? 2 : 1);
}

static inline __m128i
pass_far_power(struct ide_pass_key *key, uint32_t exponent)
{
	const __m128i h = pass_load(key->power[IDE_PASS_POWER(1)]);
	__m128i p = h;

	if (key->far_exponent[exponent % 2] == exponent)
		return pass_load(key->far[exponent % 2]);
	for (int bit = 30 - __builtin_clz(exponent); bit >= 0; bit--) {
		p = pass_multiply(p, p);
		if ((exponent >> bit & 1) != 0)
			p = pass_multiply(p, h);
	}
	_mm_store_si128((__m128i *)key->far[exponent % 2], p);
	key->far_exponent[exponent % 2] = exponent;
	return p;
}

/* H times 1/x: a shift, and the polynomial for the bit that falls out. */
static __m128i
pass_hash_key(const struct ide_pass_key *key)
{
	const __m128i h =
		_mm_shuffle_epi8(pass_encrypt_block(key, _mm_setzero_si128()), pass_load(reverse));
	const uint64_t lo = (uint64_t)_mm_cvtsi128_si64(h);
	const uint64_t hi = (uint64_t)_mm_extract_epi64(h, 1);
	const uint64_t out = -(hi >> 63);

	return _mm_set_epi64x(
		(long long)((hi << 1 | lo >> 63) ^ (out & UINT64_C(0xC200000000000000))),
		(long long)(lo << 1 ^ (out & 1)));
}

#endif /* PASS_BLOCK_PRIV_H */
