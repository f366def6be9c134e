/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The CRC field of a flit in both byte orders, and the CRC by its definition: long division by g8,
 * products bit by bit (wire-formats.md section 2.1). Slow on purpose; every kernel is judged by it.
 */

#include "weft_crc.h"

#include "weft_base.h"

#define CRC_FIELD 0x12B

/* Coefficients of g8 = product of (x + alpha^i), i = 1..8: x^7 first, the leading 1 left out. */
static const uint8_t crc_g8[WEFT_CRC_LEN] = { 0xD5, 0x68, 0xFE, 0xD5, 0x33, 0x41, 0x4D, 0x69 };

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

uint64_t
weft_crc_update_ref(uint64_t crc, const void *msg, size_t len)
{
	const uint8_t *p = msg;

	for (size_t i = 0; i < len; i++) {
		const uint8_t quotient = (uint8_t)(crc >> 56) ^ p[i];

		crc <<= 8;
		for (unsigned int k = 0; k < WEFT_CRC_LEN; k++)
			crc ^= (uint64_t)crc_gf_mul(quotient, crc_g8[k]) << (56 - 8 * k);
	}
	return crc;
}

uint64_t
weft_crc_load(const uint8_t *flit, enum weft_crc_order order)
{
	const uint8_t *field = flit + WEFT_CRC_OFF;

	return order == WEFT_CRC_R0_FIRST ? weft_get_le64(field) : weft_get_be64(field);
}

void
weft_crc_store(uint8_t *flit, uint64_t crc, enum weft_crc_order order)
{
	uint8_t *field = flit + WEFT_CRC_OFF;

	if (order == WEFT_CRC_R0_FIRST)
		weft_put_le64(field, crc);
	else
		weft_put_be64(field, crc);
}
