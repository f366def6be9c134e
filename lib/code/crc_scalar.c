/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The flit CRC by slicing: eight message bytes meet eight tables, so that one step costs one trip
 * through memory instead of eight (wire-formats.md section 2.1). Hot path.
 */

#include "crc_priv.h"

static uint64_t
crc_step8(uint64_t crc, const uint8_t *msg)
{
	const uint64_t v = crc ^ weft_get_be64(msg);

	return weft_crc_slice[7][v >> 56] ^ weft_crc_slice[6][v >> 48 & 0xFF] ^
	       weft_crc_slice[5][v >> 40 & 0xFF] ^ weft_crc_slice[4][v >> 32 & 0xFF] ^
	       weft_crc_slice[3][v >> 24 & 0xFF] ^ weft_crc_slice[2][v >> 16 & 0xFF] ^
	       weft_crc_slice[1][v >> 8 & 0xFF] ^ weft_crc_slice[0][v & 0xFF];
}

uint64_t
weft_crc_update(uint64_t crc, const void *msg, size_t len)
{
	const uint8_t *p = msg;

	for (; len >= 8; p += 8, len -= 8)
		crc = crc_step8(crc, p);
	for (; len > 0; p++, len--)
		crc = crc << 8 ^ weft_crc_slice[0][crc >> 56 ^ *p];
	return crc;
}

static uint64_t
crc_half_step(uint64_t crc, unsigned int symbol)
{
	return (crc << 8 & weft_mask64(48)) ^ weft_crc6_step[(crc >> 40 ^ symbol) & 0xFF];
}

uint64_t
weft_crc6_half(const void *half, size_t len)
{
	const uint8_t *p = half;
	uint64_t crc = 0;

	for (size_t i = 0; i < CRC6_MESSAGE; i++)
		crc = crc_half_step(crc, i < len ? p[i] : 0);
	return crc;
}

void
weft_crc_group_scalar(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	for (unsigned int i = 0; i < n; i++)
		crc[i] = weft_crc_update(0, flit[i], WEFT_CRC_COVERED);
}

/* A step waits for the one before: so both halves of two flits in turn. */
static void
crc_halves_of_two(const uint8_t *const *flit, uint64_t *even, uint64_t *odd)
{
	const uint8_t *a = flit[0], *b = flit[1];
	uint64_t e0 = 0, e1 = 0, o0 = 0, o1 = 0;

	static_assert(WEFT_CRC6_ODD_COVERED < WEFT_CRC6_EVEN_COVERED, "odd halves end first");
	for (size_t i = 0; i < WEFT_CRC6_ODD_COVERED; i++) {
		e0 = crc_half_step(e0, a[i]);
		e1 = crc_half_step(e1, b[i]);
		o0 = crc_half_step(o0, a[WEFT_CRC6_ODD_OFF + i]);
		o1 = crc_half_step(o1, b[WEFT_CRC6_ODD_OFF + i]);
	}
	for (size_t i = WEFT_CRC6_ODD_COVERED; i < CRC6_MESSAGE; i++) {
		const bool is_covered = i < WEFT_CRC6_EVEN_COVERED;

		e0 = crc_half_step(e0, is_covered ? a[i] : 0);
		e1 = crc_half_step(e1, is_covered ? b[i] : 0);
		o0 = crc_half_step(o0, 0);
		o1 = crc_half_step(o1, 0);
	}
	even[0] = e0;
	even[1] = e1;
	odd[0] = o0;
	odd[1] = o1;
}

void
weft_crc6_group_scalar(const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd)
{
	unsigned int i = 0;

	for (; i + 1 < n; i += 2)
		crc_halves_of_two(flit + i, even + i, odd + i);
	if (i < n) {
		even[i] = weft_crc6_half(flit[i], WEFT_CRC6_EVEN_COVERED);
		odd[i] = weft_crc6_half(flit[i] + WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED);
	}
}
