/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sums of pieces, in any order. To join two CRCs, the first is moved over the bytes of the second:
 * multiplied by x^(8 n) modulo the polynomial, by squaring.
 */

#include "sig_priv.h"

#define SUM16 UINT64_C(0xFFFF)
#define IS_ODD UINT64_C(0x10000)

/* Polynomials without their highest term (signature.md section 3.1). */
static const struct {
	unsigned int width;
	uint64_t poly;
	bool is_reflected;
} crcs[WEFT_SIG_SUMS] = {
	[WEFT_SIG_SUM_T10DIF] = { 16, 0x8BB7, false },
	[WEFT_SIG_SUM_CRC32] = { 32, 0x04C11DB7, true },
	[WEFT_SIG_SUM_CRC32C] = { 32, 0x1EDC6F41, true },
	[WEFT_SIG_SUM_CRC64] = { 64, UINT64_C(0xAD93D23594C93659), true },
};

static uint64_t
sum_swap16(uint64_t sum)
{
	return (sum & 0xFF) << 8 | (sum >> 8 & 0xFF);
}

/* The low 16 bits of both, with the carry brought round. */
static uint64_t
sum_add16(uint64_t a, uint64_t b)
{
	const uint64_t s = (a & SUM16) + (b & SUM16);

	return (s & SUM16) + (s >> 16);
}

/*
 * Part B stands at an odd offset if A's length is odd: its bytes are then the others of each word.
 */
static uint64_t
sum_join_csum(uint64_t a, uint64_t b)
{
	return sum_add16(a, (a & IS_ODD) != 0 ? sum_swap16(b) : b) | ((a ^ b) & IS_ODD);
}

uint64_t
weft_sig_sum_begin(enum weft_sig_sum_kind kind, uint64_t seed)
{
	/* The reflected ones invert: their register of seed is the finished CRC ~seed. */
	return crcs[kind].is_reflected ? ~seed & weft_mask64(crcs[kind].width) : seed & SUM16;
}

uint64_t
weft_sig_sum(const struct weft_sig_kernel *k, enum weft_sig_sum_kind kind, uint64_t sum,
	const void *buf, size_t len)
{
	if (k == NULL)
		k = weft_sig_kernel_best();
	if (kind != WEFT_SIG_SUM_CSUM)
		return k->sum[kind](sum, buf, len);
	return sum_join_csum(sum, k->sum[kind](0, buf, len) | ((len & 1) != 0 ? IS_ODD : 0));
}

uint64_t
weft_sig_sum_end(enum weft_sig_sum_kind kind, uint64_t sum)
{
	return kind == WEFT_SIG_SUM_CSUM ? ~sum & SUM16 : sum;
}

static uint64_t
sum_reversed(uint64_t v, unsigned int width)
{
	uint64_t r = 0;

	for (unsigned int i = 0; i < width; i++)
		r |= (v >> i & 1) << (width - 1 - i);
	return r;
}

/* a b modulo the polynomial of @p kind; x^0 in bit 0. */
static uint64_t
sum_multiply(enum weft_sig_sum_kind kind, uint64_t a, uint64_t b)
{
	const unsigned int top = crcs[kind].width - 1;
	const uint64_t mask = weft_mask64(crcs[kind].width);
	uint64_t r = 0;

	for (unsigned int i = crcs[kind].width; i-- > 0;) {
		r = (r << 1 ^ ((r >> top & 1) != 0 ? crcs[kind].poly : 0)) & mask;
		if ((b >> i & 1) != 0)
			r ^= a;
	}
	return r;
}

/* @p v times x^(8 n). */
static uint64_t
sum_moved(enum weft_sig_sum_kind kind, uint64_t v, uint64_t n)
{
	uint64_t power = UINT64_C(1) << 8;

	for (; n != 0; n >>= 1) {
		if ((n & 1) != 0)
			v = sum_multiply(kind, v, power);
		power = sum_multiply(kind, power, power);
	}
	return v;
}

uint64_t
weft_sig_sum_join(enum weft_sig_sum_kind kind, uint64_t a, uint64_t b, uint64_t len_b)
{
	const unsigned int width = crcs[kind].width;

	if (kind == WEFT_SIG_SUM_CSUM)
		return sum_join_csum(a, b);
	if (!crcs[kind].is_reflected)
		return sum_moved(kind, a, len_b) ^ b;
	return sum_reversed(sum_moved(kind, sum_reversed(a, width), len_b), width) ^ b;
}
