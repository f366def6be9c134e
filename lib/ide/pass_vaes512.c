/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: an epoch in one pass with VAES and VPCLMULQDQ on 512 bits. A flit is four vectors as it
 * lies, 16 lanes of a block: lane 0 is slot 0, lane 15 is CRD, CRC and FEC. Lanes that are not in
 * P yield key stream all the same, and it is put to use: in lane 15 that of the next block, so of
 * the PCRC; in lane 0 of an epoch that begins with IDE.MAC, that of the tag.
 *
 * GHASH works on blocks with their bytes reversed and on powers of H times 1/x, so that a
 * carry-less product needs no shift (Gueron and Kounavis).
 */

#include "pass_vaes512_priv.h"

/* --- a step: AES of one or two flits, and meanwhile other work. No CPU looks so far ahead that it
 * would find that by itself. --- */

/* The key stream before and after the text. */
static inline void
pass_keep_spare_lanes(struct ide_pass *pass, const __m512i *ks, unsigned int first, bool is_mac)
{
	if (is_mac && pass->blocks == 0) {
		_mm_store_si128((__m128i *)pass->mask, _mm512_castsi512_si128(ks[first]));
		pass->has_mask = true;
	}
	_mm_store_si128((__m128i *)pass->next, _mm512_extracti64x2_epi64(ks[VECTORS - 1], 3));
}

/* Write vector @p v. @return what GHASH takes of it, if it is sealed */
static inline __m512i
pass_put_vector(
	uint8_t *flit, unsigned int v, unsigned int first, const struct slot0 *s, __m512i ks)
{
	__m512i *const at = pass_vector(flit, v, first);
	const __m512i old = _mm512_loadu_si512(at);
	__m512i new;

	if (v % 4 == 0)
		new = _mm512_ternarylogic_epi64(old, ks, s->sent, 0x78); /* a ^ (b & c) */
	else
		new = _mm512_mask_xor_epi64(old, v % 4 == 3 ? 0x3F : 0xFF, old, ks);
	_mm512_storeu_si512(at, new);
	return new;
}

/* The pad's ciphertext is its key stream. */
static inline __m512i
pass_with_pad(__m512i ct, const struct slot0 *s, __m512i ks)
{
	return _mm512_ternarylogic_epi64(
		_mm512_and_si512(ks, s->pad), ct, s->sent, 0xF8); /* a | (b & c) */
}

/*
 * Seal; @p ct is the ciphertext of the two flits before, if any, to be hashed, then of these. They
 * were an epoch of their own if it, @p prev, is not NULL.
 */
static inline __attribute__((always_inline)) void
pass_seal_step(const struct ide_pass_key *key, struct ide_pass *pass, struct ide_pass *prev,
	uint8_t *flit, unsigned int first, bool is_mac, bool pcrc, bool is_hash_late, __m512i *ct)
{
	const __m512i rev = pass_load_everywhere(reverse);
	const unsigned int flits = 2 - first / 4;
	struct chains chains = { { 0, 0, 0 } };
	struct sum512 sum = pass_sum_zero();
	__m128i hash = pass_load(pass->hash);
	__m512i ks[VECTORS];

	pass_start_lanes(key, pass->counter, pass->blocks + (is_mac ? 1 : 2), first, ks);
#pragma GCC unroll 16
	for (unsigned int r = 1; r <= IDE_PASS_ROUNDS; r++) {
		const unsigned int g = r / 3;

		pass_round_lanes(key, r, first, ks);
		if (is_hash_late && r % 3 == 0 && g < GROUPS)
			pass_hash_group(key, &sum, g, ct[group[g][0]], ct[group[g][1]]);
		if (pcrc)
			pass_crc_pieces(&chains, flit, flits, (r - 1) * 2, r * 2, is_mac);
	}
	if (pcrc)
		pass->crc = pass_crc_join(&chains, flit, flits, is_mac, pass->crc);
	if (is_hash_late) {
		pass_hash_group(key, &sum, 0, ct[group[0][0]], ct[group[0][1]]);
		if (prev == NULL)
			hash = pass_hash_end(&sum);
		else
			_mm_store_si128((__m128i *)prev->hash, pass_hash_end(&sum));
	}
	pass_keep_spare_lanes(pass, ks, first, is_mac);
#pragma GCC unroll 8
	for (unsigned int v = first; v < VECTORS; v++) {
		const struct slot0 s = pass_slot0(v == first && is_mac);

		ct[v] = pass_put_vector(flit, v, first, &s, ks[v]);
		if (v % 4 == 0)
			ct[v] = pass_with_pad(ct[v], &s, ks[v]);
		ct[v] = _mm512_shuffle_epi8(ct[v], rev);
	}
	ct[first] = pass_add_to_first(ct[first], hash, is_mac);
	pass->blocks += flits * IDE_PASS_SHARE - is_mac;
}

static inline __attribute__((always_inline)) void
pass_seal_end(const struct ide_pass_key *key, struct ide_pass *pass, unsigned int first,
	const __m512i *ct)
{
	const unsigned int from = first == 0 ? 0 : GROUP_OF_ONE;
	const unsigned int to = first == 0 ? GROUPS : ALL_GROUPS;
	struct sum512 sum = pass_sum_zero();

#pragma GCC unroll 4
	for (unsigned int g = from; g < to; g++)
		pass_hash_group(key, &sum, g, ct[group[g][0]], ct[group[g][1]]);
	_mm_store_si128((__m128i *)pass->hash, pass_hash_end(&sum));
}

/* What one or two opened flits leave to be done: the last group of their hash, and their PCRC. */
struct rest {
	struct sum512 sum;
	__m512i a, b; /* the last group */
	__m512i p
		[VECTORS]; /* what was written; read from the flits again if there is a next step */
	uint8_t *flit;
	bool is_mac;
};

/*
 * Open, and finish the hash of the two flits before, and their PCRC, if @p is_late. They were an
 * epoch of their own if it, @p prev, is not NULL.
 */
static inline __attribute__((always_inline)) void
pass_open_step(const struct ide_pass_key *key, struct ide_pass *pass, struct ide_pass *prev,
	uint8_t *flit, unsigned int first, bool is_mac, bool pcrc, bool is_late, struct rest *rest,
	__m128i *crc)
{
	const __m512i rev = pass_load_everywhere(reverse);
	const unsigned int flits = 2 - first / 4;
	const unsigned int g0 = first == 0 ? 0 : GROUP_OF_ONE, last = first == 0 ? 3 : 5;
	const struct slot0 s0 = pass_slot0(is_mac), s4 = pass_slot0(false);
	__m128i hash = pass_load(pass->hash);
	struct sum512 sum = pass_sum_zero();
	__m512i ks[VECTORS], fold = _mm512_setzero_si512(), a, b;

	pass_start_lanes(key, pass->counter, pass->blocks + (is_mac ? 1 : 2), first, ks);
#pragma GCC unroll 16
	for (unsigned int r = 1; r <= IDE_PASS_ROUNDS; r++) {
		pass_round_lanes(key, r, first, ks);
		if (is_late && r == 1) {
			pass_hash_group(key, &rest->sum, 3, rest->a, rest->b);
			if (prev == NULL)
				hash = pass_hash_end(&rest->sum);
			else
				_mm_store_si128((__m128i *)prev->hash, pass_hash_end(&rest->sum));
		}
		if (r % 4 == 1 && g0 + r / 4 < last) {
			const unsigned int g = g0 + r / 4;

			a = _mm512_loadu_si512(pass_vector(flit, group[g][0], first));
			b = _mm512_loadu_si512(pass_vector(flit, group[g][1], first));
			pass_hash_group(key, &sum, g, _mm512_shuffle_epi8(a, rev),
				_mm512_shuffle_epi8(b, rev));
		}
		if (pcrc && is_late && r > 2 && r <= 2 + VECTORS)
			fold = pass_crc_fold_vector(fold,
				_mm512_loadu_si512(pass_vector(rest->flit, r - 3, 0)), r - 3, 0,
				rest->is_mac, *crc);
	}
	if (pcrc && is_late) {
		*crc = pass_across_lanes(fold);
		if (prev != NULL) {
			prev->crc = pass_crc_unfold(*crc);
			*crc = _mm_cvtsi32_si128((int)pass->crc);
		}
	}
	pass_keep_spare_lanes(pass, ks, first, is_mac);
	a = pass_with_pad(_mm512_loadu_si512(pass_vector(flit, first, first)), &s0, ks[first]);
	b = _mm512_loadu_si512(pass_vector(flit, group[last][1], first));
	if (first == 0)
		b = pass_with_pad(b, &s4, ks[4]);
#pragma GCC unroll 8
	for (unsigned int v = first; v < VECTORS; v++)
		rest->p[v] = pass_put_vector(flit, v, first, v == first ? &s0 : &s4, ks[v]);
	rest->sum = sum;
	rest->a = pass_add_to_first(_mm512_shuffle_epi8(a, rev), hash, is_mac);
	rest->b = _mm512_shuffle_epi8(b, rev);
	rest->flit = flit;
	rest->is_mac = is_mac;
	pass->blocks += flits * IDE_PASS_SHARE - is_mac;
}

/* Nothing follows. */
static inline __attribute__((always_inline)) void
pass_open_end(const struct ide_pass_key *key, struct ide_pass *pass, unsigned int first, bool pcrc,
	struct rest *rest, __m128i *crc)
{
	__m512i fold = _mm512_setzero_si512();

	pass_hash_group(key, &rest->sum, first == 0 ? 3 : 5, rest->a, rest->b);
	_mm_store_si128((__m128i *)pass->hash, pass_hash_end(&rest->sum));
	if (!pcrc)
		return;
#pragma GCC unroll 8
	for (unsigned int v = first; v < VECTORS; v++)
		fold = pass_crc_fold_vector(fold, rest->p[v], v, first, rest->is_mac, *crc);
	*crc = pass_across_lanes(fold);
}

static inline __attribute__((always_inline)) void
pass_seal_flits(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, bool is_mac, bool pcrc)
{
	__m512i ct[VECTORS];

	if (n % 2 != 0) {
		pass_seal_step(key, pass, NULL, flit, 4, is_mac, pcrc, false, ct);
		pass_seal_end(key, pass, 4, ct);
		is_mac = false;
		flit += FLIT_LEN;
		n--;
	}
	if (n > 0) {
		pass_seal_step(key, pass, NULL, flit, 0, is_mac, pcrc, false, ct);
		for (unsigned int i = 2; i < n; i += 2)
			pass_seal_step(
				key, pass, NULL, flit + i * FLIT_LEN, 0, false, pcrc, true, ct);
		pass_seal_end(key, pass, 0, ct);
	}
}

static inline __attribute__((always_inline)) void
pass_open_flits(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, bool is_mac, bool pcrc)
{
	__m128i crc = _mm_cvtsi32_si128((int)pass->crc);
	struct rest rest;

	if (n % 2 != 0) {
		pass_open_step(key, pass, NULL, flit, 4, is_mac, pcrc, false, &rest, &crc);
		pass_open_end(key, pass, 4, pcrc, &rest, &crc);
		is_mac = false;
		flit += FLIT_LEN;
		n--;
	}
	if (n > 0) {
		pass_open_step(key, pass, NULL, flit, 0, is_mac, pcrc, false, &rest, &crc);
		for (unsigned int i = 2; i < n; i += 2)
			pass_open_step(key, pass, NULL, flit + i * FLIT_LEN, 0, false, pcrc, true,
				&rest, &crc);
		pass_open_end(key, pass, 0, pcrc, &rest, &crc);
	}
	if (pcrc)
		pass->crc = pass_crc_unfold(crc);
}

static inline __attribute__((always_inline)) void
pass_seal_pairs(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, bool pcrc)
{
	__m512i ct[VECTORS];

	pass_seal_step(key, &pass[0], NULL, flit, 0, true, pcrc, false, ct);
	for (unsigned int i = 1; i < n; i++)
		pass_seal_step(key, &pass[i], &pass[i - 1], flit + 2 * i * FLIT_LEN, 0, true, pcrc,
			true, ct);
	pass_seal_end(key, &pass[n - 1], 0, ct);
}

static inline __attribute__((always_inline)) void
pass_open_pairs(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, bool pcrc)
{
	__m128i crc = _mm_cvtsi32_si128((int)pass[0].crc);
	struct rest rest;

	pass_open_step(key, &pass[0], NULL, flit, 0, true, pcrc, false, &rest, &crc);
	for (unsigned int i = 1; i < n; i++)
		pass_open_step(key, &pass[i], &pass[i - 1], flit + 2 * i * FLIT_LEN, 0, true, pcrc,
			true, &rest, &crc);
	pass_open_end(key, &pass[n - 1], 0, pcrc, &rest, &crc);
	if (pcrc)
		pass[n - 1].crc = pass_crc_unfold(crc);
}

void
ide_pass_pairs_vaes512(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way)
{
	switch (way & (IDE_PASS_OPEN | IDE_PASS_PCRC)) {
	case 0: pass_seal_pairs(key, pass, flit, n, false); break;
	case IDE_PASS_PCRC: pass_seal_pairs(key, pass, flit, n, true); break;
	case IDE_PASS_OPEN: pass_open_pairs(key, pass, flit, n, false); break;
	default: pass_open_pairs(key, pass, flit, n, true); break;
	}
}

void
ide_pass_flits_vaes512(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way)
{
	const bool is_mac = (way & IDE_PASS_MAC) != 0;

	switch (way & (IDE_PASS_OPEN | IDE_PASS_PCRC)) {
	case 0: pass_seal_flits(key, pass, flit, n, is_mac, false); break;
	case IDE_PASS_PCRC: pass_seal_flits(key, pass, flit, n, is_mac, true); break;
	case IDE_PASS_OPEN: pass_open_flits(key, pass, flit, n, is_mac, false); break;
	default: pass_open_flits(key, pass, flit, n, is_mac, true); break;
	}
}

/* --- an epoch's end --- */

/* 16 words of AAD from 16 * @p v on, those within @p mask, times their powers of H. */
static inline void
pass_sum_add_aad(struct sum512 *sum, const struct ide_pass_key *key, const uint8_t *aad,
	unsigned int blocks, uint64_t mask, unsigned int v)
{
	pass_sum_add(sum,
		_mm512_shuffle_epi8(
			_mm512_maskz_loadu_epi32((__mmask16)(mask >> 16 * v), aad + 64 * v),
			pass_load_everywhere(reverse)),
		_mm512_loadu_si512(key->power[IDE_PASS_POWER(blocks) + 4 * v]));
}

/*
 * Up to 15 blocks of AAD as one that takes their place, with the block after the last as its end.
 */
static inline __m128i
pass_fold_aad(const struct ide_pass_key *key, const uint8_t *aad, unsigned int words)
{
	const unsigned int blocks = (words + 3) / 4;
	const uint64_t mask = (UINT64_C(1) << words) - 1;
	struct sum512 sum = { _mm512_setzero_si512(), _mm512_setzero_si512(),
		_mm512_setzero_si512() };

	for (unsigned int v = 0; v < 2; v++)
		pass_sum_add_aad(&sum, key, aad, blocks, mask, v);
	if (words > 32) /* there was Poison */
		for (unsigned int v = 2; v < 4; v++)
			pass_sum_add_aad(&sum, key, aad, blocks, mask, v);
	return pass_sum_reduce(&sum);
}

/* The same for any number: only an epoch with much Poison has more. */
static __attribute__((noinline)) __m128i
pass_fold_long_aad(const struct ide_pass_key *key, const uint8_t *aad, unsigned int words)
{
	__m128i head = _mm_setzero_si128();

	for (unsigned int at = 0; at < words; at += IDE_PASS_AAD_WORDS) {
		const unsigned int left = words - at;
		const unsigned int n = left < IDE_PASS_AAD_WORDS ? left : IDE_PASS_AAD_WORDS;

		head = pass_multiply(head, pass_load(key->power[IDE_PASS_POWER((n + 3) / 4)]));
		head = _mm_xor_si128(head, pass_fold_aad(key, aad + 4 * at, n));
	}
	return head;
}

void
ide_pass_tag_vaes512(struct ide_pass_key *key, const struct ide_pass *pass, const uint8_t *aad,
	unsigned int aad_len, bool pcrc, uint8_t *tag)
{
	const __m128i rev = pass_load(reverse);
	const __m128i h = pass_load(key->power[IDE_PASS_POWER(1)]);
	const unsigned int words = aad_len / 4;
	const uint32_t blocks = pass->blocks + pcrc;
	const __m128i lengths = pass_lengths(pass, aad_len, pcrc);
	const __m128i mask = pass_tag_mask(key, pass);
	struct sum512 sum = { _mm512_setzero_si512(), _mm512_setzero_si512(),
		_mm512_setzero_si512() };
	__m128i text = pass_load(pass->hash), head;
	int word[2] = { 0, 0 };

	if (words <= AAD_WORDS_DIRECT) { /* each word as it was stored: a load of both would wait */
		memcpy(&word[0], aad, 4);
		if (words == 2)
			memcpy(&word[1], aad + 4, 4);
		head = _mm_shuffle_epi8(_mm_set_epi32(0, 0, word[1], word[0]), rev);
	} else if (words <= IDE_PASS_AAD_WORDS) {
		head = pass_fold_aad(key, aad, words);
	} else {
		head = pass_fold_long_aad(key, aad, words);
	}
	pass_sum_add(&sum, _mm512_zextsi128_si512(head),
		_mm512_zextsi128_si512(pass_far_power(key, pass_far_exponent(blocks, words))));
	if (pcrc) {
		text = _mm_xor_si128(text, pass_pcrc_block(pass));
		pass_sum_add(&sum, _mm512_zextsi128_si512(lengths), _mm512_zextsi128_si512(h));
		pass_sum_add(&sum, _mm512_zextsi128_si512(text),
			_mm512_zextsi128_si512(pass_load(key->power[IDE_PASS_POWER(2)])));
	} else {
		text = _mm_xor_si128(text, lengths);
		pass_sum_add(&sum, _mm512_zextsi128_si512(text), _mm512_zextsi128_si512(h));
	}
	_mm_storeu_si128(
		(__m128i *)tag, _mm_xor_si128(mask, _mm_shuffle_epi8(pass_sum_reduce(&sum), rev)));
}

void
ide_pass_key_vaes512(
	struct ide_pass_key *key, const uint8_t *schedule, unsigned int flits, bool pcrc)
{
	const uint32_t blocks = flits * IDE_PASS_SHARE + pcrc;
	__m128i h, p;

	memset(key, 0, sizeof(*key));
	memcpy(key->round, schedule, sizeof(key->round));
	p = h = pass_hash_key(key);
	for (unsigned int n = 1; n <= 2 * IDE_PASS_SHARE; n++) {
		_mm_store_si128((__m128i *)key->power[IDE_PASS_POWER(n)], p);
		p = pass_multiply(p, h);
	}
	for (unsigned int g = 0; g < ALL_GROUPS; g++)
		_mm512_store_si512(key->mid[4 * g],
			pass_sum_of_halves(_mm512_load_si512(key->power[4 * group[g][0]]),
				_mm512_load_si512(key->power[4 * group[g][1]])));
	pass_far_power(key, pass_far_exponent(blocks, flits));
	pass_far_power(key, pass_far_exponent(blocks - 1, flits));
}
