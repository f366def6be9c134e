/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The CRC fields of a flit in both byte orders, and the CRCs by their definition: long division,
 * products bit by bit (wire-formats.md section 2.1). Slow on purpose; every kernel is judged by it.
 */

#include "crc_priv.h"

#define CRC_FIELD 0x12B

const char *const weft_crc_order_words[] = {
	[WEFT_CRC_R0_FIRST] = "r0", [WEFT_CRC_R7_FIRST] = "r7", NULL
};

/* Coefficients of g8 = product of (x + alpha^i), i = 1..8: x^7 first, the leading 1 left out. */
static const uint8_t crc_g8[WEFT_CRC_LEN] = { 0xD5, 0x68, 0xFE, 0xD5, 0x33, 0x41, 0x4D, 0x69 };
/* The same with i = 1..6. */
static const uint8_t crc_g6[WEFT_CRC6_LEN] = { 0x7E, 0x47, 0xAB, 0x1A, 0xA8, 0x32 };

static uint8_t
crc_gf_mul(uint8_t a, uint8_t b)
{
	unsigned int product = 0;

	for (unsigned int bit = 0x80; bit != 0; bit >>= 1) {
		product = product << 1 ^ ((product & 0x80) != 0 ? CRC_FIELD : 0);
		if ((b & bit) != 0)
			product ^= a;
	}
	return (uint8_t)product;
}

/* One step of the division by @p g, a generator of @p degree; the remainder is degree bytes. */
static uint64_t
crc_divide(uint64_t crc, uint8_t symbol, const uint8_t *g, unsigned int degree)
{
	const unsigned int top = 8 * (degree - 1);
	const uint8_t quotient = (uint8_t)(crc >> top) ^ symbol;

	crc = crc << 8 & weft_mask64(8 * degree);
	for (unsigned int k = 0; k < degree; k++)
		crc ^= (uint64_t)crc_gf_mul(quotient, g[k]) << (top - 8 * k);
	return crc;
}

uint64_t
weft_crc_update_ref(uint64_t crc, const void *msg, size_t len)
{
	const uint8_t *p = msg;

	for (size_t i = 0; i < len; i++)
		crc = crc_divide(crc, p[i], crc_g8, WEFT_CRC_LEN);
	return crc;
}

uint64_t
weft_crc6_half_ref(const void *half, size_t len)
{
	const uint8_t *p = half;
	uint64_t crc = 0;

	assert(len <= CRC6_MESSAGE);
	for (size_t i = 0; i < CRC6_MESSAGE; i++)
		crc = crc_divide(crc, i < len ? p[i] : 0, crc_g6, WEFT_CRC6_LEN);
	return crc;
}

uint64_t
weft_crc6_load(const uint8_t *field, enum weft_crc_order order)
{
	uint8_t wide[8] = { 0 };

	if (order == WEFT_CRC_R0_FIRST) {
		memcpy(wide, field, WEFT_CRC6_LEN);
		return weft_get_le64(wide);
	}
	memcpy(wide + 2, field, WEFT_CRC6_LEN);
	return weft_get_be64(wide);
}

void
weft_crc6_store(uint8_t *field, uint64_t crc, enum weft_crc_order order)
{
	uint8_t wide[8];

	if (order == WEFT_CRC_R0_FIRST) {
		weft_put_le64(wide, crc);
		memcpy(field, wide, WEFT_CRC6_LEN);
	} else {
		weft_put_be64(wide, crc);
		memcpy(field, wide + 2, WEFT_CRC6_LEN);
	}
}
