/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * An epoch in one pass: each flit is encrypted or decrypted where it lies, and hashed, and its
 * plaintext taken into the PCRC, with one look at its bytes. A kernel does what a library of
 * contiguous messages cannot: it knows which bits of a flit are not ciphertext.
 *
 * GHASH is linear, so what the standard puts in front of the text is added at the end: the AAD
 * words, known one by one, times the power of H that their place has in the whole.
 */
#ifndef WEFT_IDE_PASS_PRIV_H
#define WEFT_IDE_PASS_PRIV_H

#include <stdalign.h>

#include "weft_base.h"
#include "weft_cpu.h"

#define IDE_PASS_ROUNDS 14 /* of AES-256 */
#define IDE_PASS_SHARE 15 /* blocks of P in a flit, slot 0 included */
#define IDE_PASS_POWERS (2 * 16 + 8) /* so that 16 can be read from H^15 on, or any lower */
#define IDE_PASS_AAD_WORDS 60 /* folded at a time: 15 blocks, as many powers as lie in a row */

/* Where H^n, 1..30, is: in the lanes of two flits. */
#define IDE_PASS_POWER(n) (31 - (n) - ((n) > IDE_PASS_SHARE))

/* Constant from epoch to epoch. Key material. */
struct ide_pass_key {
	alignas(WEFT_CACHE_LINE) uint8_t round[IDE_PASS_ROUNDS + 1][16];
	/*
	 * For each lane of two flits the power of H that a block there is multiplied with: H^30 to
	 * H^16, zero, H^15 to H^1, zeros. In the kernel's own form.
	 */
	alignas(WEFT_CACHE_LINE) uint8_t power[IDE_PASS_POWERS][16];
	/* Sums of halves of powers, for the kernel. */
	alignas(WEFT_CACHE_LINE) uint8_t mid[24][16];
	/*
	 * Powers that AAD needed before. Epochs of one number of flits need two, one for those
	 * that have an IDE.MAC flit: one is even, one is odd, and that is their index.
	 */
	uint8_t far[2][16];
	uint32_t far_exponent[2];
};

/* An epoch under way. */
struct ide_pass {
	alignas(WEFT_CACHE_LINE)
		uint8_t hash[16]; /* of the text so far; in the kernel's own form */
	uint8_t next[16]; /* key stream after the text so far */
	uint8_t mask[16]; /* key stream of the tag; valid if has_mask */
	uint64_t counter;
	uint32_t crc; /* remainder of P so far */
	uint32_t blocks; /* of text so far */
	bool has_mask;
};

static inline void
ide_pass_begin(struct ide_pass *pass, uint64_t counter)
{
	memset(pass->hash, 0, sizeof(pass->hash));
	pass->crc = UINT32_MAX;
	pass->counter = counter;
	pass->blocks = 0;
	pass->has_mask = false;
}

/* How flits go through. */
enum ide_pass_way {
	IDE_PASS_MAC = 1 << 0, /* slot 0 of the first is IDE.MAC: not in P */
	IDE_PASS_OPEN = 1 << 1, /* decrypt */
	IDE_PASS_PCRC = 1 << 2 /* the epoch has a PCRC */
};

#define IDE_PASS_PAIRS 8 /* epochs at a time */

struct ide_pass_kernel {
	struct weft_kernel k;
	bool needs_vaes;
	/*
	 * Make a key from the AES-256 key schedule: 15 round keys, of 16 bytes each. Full epochs
	 * will have @p flits flits.
	 */
	void (*key)(
		struct ide_pass_key *key, const uint8_t *schedule, unsigned int flits, bool pcrc);
	/*
	 * The next 1 to 32 flits, back to back, in place; none but the first may be an IDE.MAC
	 * flit. @p way is a set of ide_pass_way. Flit header, CRD, CRC, FEC stay.
	 */
	void (*flits)(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
		unsigned int n, unsigned int way);
	/*
	 * 1 to IDE_PASS_PAIRS epochs that have begun, of two flits each, all back to back, the
	 * first of each with IDE.MAC: as flits() for each, but one epoch's hash runs beside the
	 * next one's AES.
	 */
	void (*pairs)(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
		unsigned int n, unsigned int way);
	/*
	 * The epoch's tag, 16 bytes. @p aad is @p aad_len bytes, a multiple of 4, 4 or more.
	 */
	void (*tag)(struct ide_pass_key *key, const struct ide_pass *pass, const uint8_t *aad,
		unsigned int aad_len, bool pcrc, uint8_t *tag);
};

/* Best first. There is no scalar row: without a kernel, epochs take the reference path. */
extern const struct ide_pass_kernel ide_pass_kernels[];
extern const unsigned int ide_pass_n_kernels;

void ide_pass_key_vaes512(
	struct ide_pass_key *key, const uint8_t *schedule, unsigned int flits, bool pcrc);
void ide_pass_flits_vaes512(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way);
void ide_pass_pairs_vaes512(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way);
void ide_pass_tag_vaes512(struct ide_pass_key *key, const struct ide_pass *pass, const uint8_t *aad,
	unsigned int aad_len, bool pcrc, uint8_t *tag);

void ide_pass_key_aesni(
	struct ide_pass_key *key, const uint8_t *schedule, unsigned int flits, bool pcrc);
void ide_pass_flits_aesni(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way);
void ide_pass_pairs_aesni(const struct ide_pass_key *key, struct ide_pass *pass, uint8_t *flit,
	unsigned int n, unsigned int way);
void ide_pass_tag_aesni(struct ide_pass_key *key, const struct ide_pass *pass, const uint8_t *aad,
	unsigned int aad_len, bool pcrc, uint8_t *tag);

#endif /* WEFT_IDE_PASS_PRIV_H */
