/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The 6-byte CRCs of latency-optimised flits: table against definition, and both against what the
 * 8-byte CRC says of the same half (wire-formats.md section 2.1), which shares no code with g6.
 */

#include "weft_test.h"

#include "weft_crc.h"

static uint8_t
mul(uint8_t a, uint8_t b)
{
	unsigned int product = 0, x = a;

	for (unsigned int bit = 0; bit < 8; bit++) {
		product ^= b >> bit & 1 ? x : 0;
		x = x << 1 ^ (x & 0x80 ? 0x12B : 0);
	}
	return (uint8_t)product;
}

static uint8_t
power(unsigned int exponent)
{
	uint8_t r = 1;

	while (exponent-- > 0)
		r = mul(r, 2);
	return r;
}

/* The half at inputs 114 on, zeros elsewhere, through g8; then r7 and r6 are folded away. */
static uint64_t
by_the_8_byte_crc(const uint8_t *half, size_t len)
{
	static const unsigned int a[] = { 147, 107, 250, 114, 161, 21 };
	static const unsigned int b[] = { 90, 202, 41, 63, 147, 168 };
	uint8_t message[WEFT_CRC_COVERED] = { 0 }, r[8];
	uint64_t crc;

	memcpy(message + 114, half, len);
	weft_put_be64(r, weft_crc_update_ref(0, message, sizeof(message)));
	crc = 0;
	for (unsigned int i = 0; i < 6; i++)
		crc = crc << 8 | (r[2 + i] ^ mul(power(a[i]), r[1]) ^ mul(power(b[i]), r[0]));
	return crc;
}

WEFT_TEST(three_ways_agree_on_both_halves)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 500; round++) {
		uint8_t flit[256];
		uint64_t even, odd;

		weft_rand_fill(&r, flit, sizeof(flit));
		even = weft_crc6_half_ref(flit, WEFT_CRC6_EVEN_COVERED);
		odd = weft_crc6_half_ref(flit + WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED);
		assert_int_equal(weft_crc6_half(flit, WEFT_CRC6_EVEN_COVERED), even);
		assert_int_equal(
			weft_crc6_half(flit + WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED), odd);
		assert_int_equal(by_the_8_byte_crc(flit, WEFT_CRC6_EVEN_COVERED), even);
		assert_int_equal(
			by_the_8_byte_crc(flit + WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED), odd);
	}
}

/* wire-formats.md (c): flit byte i = i. */
WEFT_TEST(published_vector_holds_in_every_kernel)
{
	uint8_t flit[256];

	for (unsigned int i = 0; i < sizeof(flit); i++)
		flit[i] = (uint8_t)i;
	for (unsigned int i = 0; i < weft_crc_n_kernels; i++) {
		uint64_t even, odd;

		if (!weft_kernel_usable(&weft_crc_kernels[i].k, weft_cpu_detect()))
			continue;
		weft_crc6_run(&weft_crc_kernels[i], flit, 1, &even, &odd);
		assert_int_equal(even, UINT64_C(0x40efa8525c60));
		assert_int_equal(odd, UINT64_C(0x90483f076c18));
	}
}

WEFT_TEST(table_agrees_with_definition_at_every_length)
{
	uint8_t half[130];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	weft_rand_fill(&r, half, sizeof(half));
	for (size_t len = 0; len <= sizeof(half); len++)
		assert_int_equal(weft_crc6_half(half, len), weft_crc6_half_ref(half, len));
	assert_int_equal(weft_crc6_half(half, 0), 0);
}

/* The last symbols of the code: what is left of x^0 and of x^6 itself. */
WEFT_TEST(remainder_of_the_last_symbol_is_the_generator)
{
	uint8_t half[130] = { 0 };

	half[129] = 1;
	assert_int_equal(weft_crc6_half(half, sizeof(half)), UINT64_C(0x7E47AB1AA832));
}

WEFT_TEST(field_bytes_follow_the_order)
{
	uint8_t field[8] = { 0xEE, 0, 0, 0, 0, 0, 0, 0xEE };

	weft_crc6_store(field + 1, UINT64_C(0x0605040302A1), WEFT_CRC_R0_FIRST);
	assert_memory_equal(field, "\xEE\xA1\x02\x03\x04\x05\x06\xEE", 8);
	assert_int_equal(weft_crc6_load(field + 1, WEFT_CRC_R0_FIRST), UINT64_C(0x0605040302A1));
	weft_crc6_store(field + 1, UINT64_C(0x0605040302A1), WEFT_CRC_R7_FIRST);
	assert_memory_equal(field, "\xEE\x06\x05\x04\x03\x02\xA1\xEE", 8);
	assert_int_equal(weft_crc6_load(field + 1, WEFT_CRC_R7_FIRST), UINT64_C(0x0605040302A1));
}
