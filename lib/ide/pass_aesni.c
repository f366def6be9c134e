/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: an epoch in one pass on 128 bits, for CPUs without VAES. A flit is 16 lanes of a block, as
 * for the pass with 512 bits, and they go through AES in two halves of eight: so many hide the
 * latency of a round. Between the rounds the flit before is hashed, whose products are of another
 * unit, and PCRC is taken on the integer units.
 */

#include "pass_block_priv.h"

#define LANES 16
#define HALF 8
#define FLIT_LEN ((size_t)256)
#define PIECES 30 /* of eight bytes of P in a flit */

/* The flit before: what of its work is left for the rounds of the next one. */
struct late {
	/* To be hashed, bytes reversed; the hash before is in the first. */
	__m128i ct[IDE_PASS_SHARE];
	struct ide_pass *pass; /* NULL: there was none */
	const uint8_t *flit;
	bool is_mac;
};

/* Bits of slot 0 that are sent as ciphertext, and those that are not but are hashed. */
static inline __m128i
aesni_sent(bool is_mac)
{
	return is_mac ? _mm_setzero_si128() : _mm_set_epi64x(-1, -0x100000);
}

static inline __m128i
aesni_pad(bool is_mac)
{
	return is_mac ? _mm_setzero_si128() : _mm_cvtsi32_si128(0xFFFFF);
}

/* Eight bytes of P, of which the pad is zeros. */
static inline uint64_t
aesni_piece(const uint8_t *flit, unsigned int i)
{
	uint64_t w;

	memcpy(&w, flit + i * 8, sizeof(w));
	return i == 0 ? w & ~UINT64_C(0xFFFFF) : w;
}

/* Pieces @p from to @p to; slot 0 with IDE.MAC is not in P. */
static inline uint64_t
aesni_crc(uint64_t crc, const uint8_t *flit, unsigned int from, unsigned int to, bool is_mac)
{
#pragma GCC unroll 2
	for (unsigned int i = from; i < to && i < PIECES; i++)
		if (i >= 2 || !is_mac)
			crc = _mm_crc32_u64(crc, aesni_piece(flit, i));
	return crc;
}

/* Lane @p l times its power: of the 15 blocks of a flit, by Karatsuba. */
static inline void
aesni_hash_lane(const struct ide_pass_key *key, struct sum128 *s, __m128i c, unsigned int l)
{
	const __m128i p =
		_mm_load_si128((const __m128i *)key->power[IDE_PASS_POWER(IDE_PASS_SHARE) + l]);
	const __m128i m = _mm_load_si128((const __m128i *)key->mid[l]);

	s->lo = _mm_xor_si128(s->lo, _mm_clmulepi64_si128(c, p, 0x00));
	s->hi = _mm_xor_si128(s->hi, _mm_clmulepi64_si128(c, p, 0x11));
	s->mid = _mm_xor_si128(s->mid,
		_mm_clmulepi64_si128(_mm_xor_si128(c, _mm_shuffle_epi32(c, 0x4E)), m, 0x00));
}

static inline void
aesni_hash_end(struct sum128 *s, struct ide_pass *pass)
{
	s->mid = _mm_xor_si128(s->mid, _mm_xor_si128(s->lo, s->hi));
	_mm_store_si128((__m128i *)pass->hash, pass_block_reduce(s));
}

/* Key stream of the lanes of a half, with other work between its rounds. */
static inline __attribute__((always_inline)) void
aesni_half(const struct ide_pass_key *key, __m128i base, unsigned int half, __m128i *ks,
	const struct late *late, struct sum128 *sum, const uint8_t *of_crc, bool is_mac,
	uint64_t *crc)
{
	const __m128i rev = pass_load(reverse);
	__m128i k = _mm_load_si128((const __m128i *)key->round[0]);

#pragma GCC unroll 8
	for (unsigned int j = 0; j < HALF; j++)
		ks[j] = _mm_xor_si128(
			k, _mm_shuffle_epi8(
				   _mm_add_epi32(base, _mm_cvtsi32_si128((int)(half * HALF + j))),
				   rev));
#pragma GCC unroll 16
	for (unsigned int r = 1; r <= IDE_PASS_ROUNDS; r++) {
		const unsigned int l = half * HALF + r - 1;

		k = _mm_load_si128((const __m128i *)key->round[r]);
#pragma GCC unroll 8
		for (unsigned int j = 0; j < HALF; j++)
			ks[j] = r == IDE_PASS_ROUNDS ? _mm_aesenclast_si128(ks[j], k)
			                             : _mm_aesenc_si128(ks[j], k);
		if (r > HALF)
			continue;
		if (late->pass != NULL && l < IDE_PASS_SHARE)
			aesni_hash_lane(key, sum, late->ct[l], l);
		if (of_crc != NULL)
			*crc = aesni_crc(*crc, of_crc, 2 * l, 2 * l + 2, is_mac);
	}
}

/* Write a lane of P. @return what GHASH takes of it */
static inline __m128i
aesni_put(uint8_t *flit, unsigned int l, bool is_mac, bool is_open, __m128i ks)
{
	__m128i *const at = (__m128i *)(void *)(flit + l * 16);
	const __m128i old = _mm_loadu_si128(at);
	const __m128i sent = aesni_sent(is_mac);
	__m128i ct, new = _mm_xor_si128(old, l == 0 ? _mm_and_si128(ks, sent) : ks);

	_mm_storeu_si128(at, new);
	ct = is_open ? old : new;
	if (l == 0) /* the pad's ciphertext is its key stream */
		ct = _mm_or_si128(_mm_and_si128(ct, sent), _mm_and_si128(ks, aesni_pad(is_mac)));
	return _mm_shuffle_epi8(ct, pass_load(reverse));
}

/* One flit; and what the one before, of this epoch or another, left to be done. */
static inline __attribute__((always_inline)) void
aesni_step(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit, bool is_mac,
	bool is_open, bool pcrc, struct late *late)
{
	const __m128i base = pass_counter_block(pass->counter, pass->blocks + (is_mac ? 1 : 2));
	/* What is sealed is plaintext before it is written, what is opened is behind that. */
	struct ide_pass *const of = is_open ? late->pass : pass;
	const uint8_t *of_crc = !pcrc || of == NULL ? NULL : is_open ? late->flit : flit;
	struct sum128 sum = { _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128() };
	uint64_t crc = of == NULL ? 0 : of->crc;
	const unsigned int first = is_mac ? 1 : 0;
	__m128i ks[HALF];

	for (unsigned int half = 0; half < 2; half++) {
		aesni_half(key, base, half, ks, late, &sum, of_crc, is_open ? late->is_mac : is_mac,
			&crc);
		if (half == 0 && is_mac && pass->blocks == 0) {
			_mm_store_si128((__m128i *)pass->mask, ks[0]);
			pass->has_mask = true;
		}
#pragma GCC unroll 8
		for (unsigned int j = 0; j < HALF; j++) {
			const unsigned int l = half * HALF + j;

			if (l < IDE_PASS_SHARE)
				late->ct[l] = aesni_put(flit, l, is_mac, is_open, ks[j]);
			else
				_mm_store_si128((__m128i *)pass->next, ks[j]);
		}
	}
	if (of_crc != NULL)
		of->crc = (uint32_t)crc;
	if (late->pass != NULL)
		aesni_hash_end(&sum, late->pass);
	late->ct[first] =
		_mm_xor_si128(late->ct[first], _mm_load_si128((const __m128i *)pass->hash));
	late->pass = pass;
	late->flit = flit;
	late->is_mac = is_mac;
	pass->blocks += IDE_PASS_SHARE - first;
}

/* No flit follows. */
static inline __attribute__((always_inline)) void
aesni_end(const struct ide_pass_key *key, bool is_open, bool pcrc, struct late *late)
{
	struct sum128 sum = { _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128() };

	for (unsigned int l = 0; l < IDE_PASS_SHARE; l++)
		aesni_hash_lane(key, &sum, late->ct[l], l);
	aesni_hash_end(&sum, late->pass);
	if (is_open && pcrc)
		late->pass->crc =
			(uint32_t)aesni_crc(late->pass->crc, late->flit, 0, PIECES, late->is_mac);
}

/* @p n flits of one epoch, or epochs of two with a pass each. */
static inline __attribute__((always_inline)) void
aesni_run(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit, unsigned int n,
	bool is_mac, bool are_pairs, bool is_open, bool pcrc)
{
	struct late late __attribute__((uninitialized));

	late.pass = NULL;
	late.flit = flit;
	late.is_mac = false;
	for (unsigned int i = 0; i < n; i++) {
		const bool mac = are_pairs ? i % 2 == 0 : is_mac && i == 0;

		aesni_step(key, are_pairs ? &pass[i / 2] : pass, flit + i * FLIT_LEN, mac, is_open,
			pcrc, &late);
	}
	aesni_end(key, is_open, pcrc, &late);
}

static void
aesni_way(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit, unsigned int n,
	unsigned int way, bool are_pairs)
{
	const bool is_mac = (way & IDE_PASS_MAC) != 0;

	switch (way & (IDE_PASS_OPEN | IDE_PASS_PCRC)) {
	case 0: aesni_run(key, pass, flit, n, is_mac, are_pairs, false, false); break;
	case IDE_PASS_PCRC: aesni_run(key, pass, flit, n, is_mac, are_pairs, false, true); break;
	case IDE_PASS_OPEN: aesni_run(key, pass, flit, n, is_mac, are_pairs, true, false); break;
	default: aesni_run(key, pass, flit, n, is_mac, are_pairs, true, true); break;
	}
}

void
ide_pass_flits_aesni(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way)
{
	aesni_way(key, pass, flit, n, way, false);
}

void
ide_pass_pairs_aesni(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way)
{
	aesni_way(key, pass, flit, 2 * n, way, true);
}

/* --- an epoch's end --- */

/* A block of AAD of which @p len bytes, 1 or more, are there. */
static inline __m128i
aesni_aad_block(const uint8_t *aad, unsigned int len)
{
	uint8_t part[16] = { 0 };

	if (len < sizeof(part)) {
		memcpy(part, aad, len);
		aad = part;
	}
	return _mm_shuffle_epi8(pass_load(aad), pass_load(reverse));
}

/*
 * AAD of any number of words as one block that takes their place, with the block after the last as
 * its end.
 */
static __m128i
aesni_fold_aad(const struct ide_pass_key *key, const uint8_t *aad, unsigned int len)
{
	__m128i head = _mm_setzero_si128();

	while (len > 0) {
		const unsigned int n = len < 4 * IDE_PASS_AAD_WORDS ? len : 4 * IDE_PASS_AAD_WORDS;
		const unsigned int blocks = (n + 15) / 16;
		struct sum128 sum = { _mm_setzero_si128(), _mm_setzero_si128(),
			_mm_setzero_si128() };

		for (unsigned int b = 0; b < blocks; b++)
			pass_block_add(&sum,
				_mm_xor_si128(aesni_aad_block(aad + 16 * b, n - 16 * b),
					b == 0 ? head : _mm_setzero_si128()),
				pass_load(key->power[IDE_PASS_POWER(blocks - b)]));
		head = pass_block_reduce(&sum);
		aad += n;
		len -= n;
	}
	return head;
}

void
ide_pass_tag_aesni(struct ide_pass_key *key, const struct ide_pass *pass, const uint8_t *aad,
	unsigned int aad_len, bool pcrc, uint8_t *tag)
{
	const __m128i rev = pass_load(reverse);
	const __m128i h = pass_load(key->power[IDE_PASS_POWER(1)]);
	const unsigned int words = aad_len / 4;
	const uint32_t blocks = pass->blocks + pcrc;
	const __m128i lengths = pass_lengths(pass, aad_len, pcrc);
	const __m128i mask = pass_tag_mask(key, pass);
	struct sum128 sum = { _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128() };
	__m128i text = pass_load(pass->hash);

	pass_block_add(&sum,
		words <= AAD_WORDS_DIRECT ? aesni_aad_block(aad, aad_len)
					  : aesni_fold_aad(key, aad, aad_len),
		pass_far_power(key, pass_far_exponent(blocks, words)));
	if (pcrc) {
		text = _mm_xor_si128(text, pass_pcrc_block(pass));
		pass_block_add(&sum, lengths, h);
		pass_block_add(&sum, text, pass_load(key->power[IDE_PASS_POWER(2)]));
	} else {
		pass_block_add(&sum, _mm_xor_si128(text, lengths), h);
	}
	_mm_storeu_si128((__m128i *)tag,
		_mm_xor_si128(mask, _mm_shuffle_epi8(pass_block_reduce(&sum), rev)));
}

void
ide_pass_key_aesni(struct ide_pass_key *key, const uint8_t *schedule, unsigned int flits, bool pcrc)
{
	const uint32_t blocks = flits * IDE_PASS_SHARE + pcrc;
	__m128i h, p;

	memset(key, 0, sizeof(*key));
	memcpy(key->round, schedule, sizeof(key->round));
	p = h = pass_hash_key(key);
	for (unsigned int n = 1; n <= IDE_PASS_SHARE; n++) {
		_mm_store_si128((__m128i *)key->power[IDE_PASS_POWER(n)], p);
		_mm_store_si128((__m128i *)key->mid[IDE_PASS_SHARE - n],
			_mm_xor_si128(p, _mm_shuffle_epi32(p, 0x4E)));
		p = pass_multiply(p, h);
	}
	pass_far_power(key, pass_far_exponent(blocks, flits));
	pass_far_power(key, pass_far_exponent(blocks - 1, flits));
}
