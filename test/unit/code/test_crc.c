/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The remainder: published vectors, table against definition, both byte orders of the field. */

#include "weft_test.h"

#include "weft_crc.h"
#include "weft_flit_vectors.h"

WEFT_TEST(vectors_hold_by_table_and_by_definition)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(weft_flit_vectors); i++) {
		const struct weft_flit_vector *v = &weft_flit_vectors[i];
		uint8_t flit[256] = { 0 };

		print_message("  %s\n", v->name);
		v->message(flit);
		assert_int_equal(weft_crc_update(0, flit, WEFT_CRC_COVERED), v->crc);
		assert_int_equal(weft_crc_update_ref(0, flit, WEFT_CRC_COVERED), v->crc);
	}
}

WEFT_TEST(generator_polynomial_leaves_no_remainder)
{
	static const uint8_t g8[] = { 0x01, 0xD5, 0x68, 0xFE, 0xD5, 0x33, 0x41, 0x4D, 0x69 };

	assert_int_equal(weft_crc_update(0, g8, sizeof(g8)), 0);
	assert_int_equal(weft_crc_update_ref(0, g8, sizeof(g8)), 0);
}

WEFT_TEST(table_agrees_with_definition_at_every_length_and_start)
{
	struct weft_rand r;
	uint8_t buf[300];

	weft_test_seed(&r, __func__);
	weft_rand_fill(&r, buf, sizeof(buf));
	for (size_t len = 0; len <= 256; len++) {
		const uint64_t start = weft_rand_u64(&r);
		const uint8_t *msg = buf + len % 9;

		assert_int_equal(
			weft_crc_update(start, msg, len), weft_crc_update_ref(start, msg, len));
	}
}

WEFT_TEST(split_update_equals_whole)
{
	struct weft_rand r;
	uint8_t msg[WEFT_CRC_COVERED];
	uint64_t whole;

	weft_test_seed(&r, __func__);
	weft_rand_fill(&r, msg, sizeof(msg));
	whole = weft_crc_update(0, msg, sizeof(msg));
	for (size_t cut = 0; cut <= sizeof(msg); cut++) {
		const uint64_t head = weft_crc_update(0, msg, cut);

		assert_int_equal(weft_crc_update(head, msg + cut, sizeof(msg) - cut), whole);
	}
}

WEFT_TEST(remainder_of_a_sum_is_the_sum_of_remainders)
{
	struct weft_rand r;
	uint8_t a[WEFT_CRC_COVERED], b[WEFT_CRC_COVERED], sum[WEFT_CRC_COVERED];

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 1000; round++) {
		weft_rand_fill(&r, a, sizeof(a));
		weft_rand_fill(&r, b, sizeof(b));
		for (size_t i = 0; i < sizeof(sum); i++)
			sum[i] = a[i] ^ b[i];
		assert_int_equal(weft_crc_update(0, sum, sizeof(sum)),
			weft_crc_update(0, a, sizeof(a)) ^ weft_crc_update(0, b, sizeof(b)));
	}
}

WEFT_TEST(field_bytes_follow_the_order)
{
	static const uint8_t r0_first[] = { 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01 };
	static const uint8_t r7_first[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08 };
	const uint64_t crc = UINT64_C(0x0102030405060708);
	uint8_t flit[256], want[256];

	memset(flit, 0xEE, sizeof(flit));
	memcpy(want, flit, sizeof(want));
	weft_crc_store(flit, crc, WEFT_CRC_R0_FIRST);
	memcpy(want + 242, r0_first, 8);
	assert_memory_equal(flit, want, sizeof(flit));
	assert_int_equal(weft_crc_load(flit, WEFT_CRC_R0_FIRST), crc);

	weft_crc_store(flit, crc, WEFT_CRC_R7_FIRST);
	memcpy(want + 242, r7_first, 8);
	assert_memory_equal(flit, want, sizeof(flit));
	assert_int_equal(weft_crc_load(flit, WEFT_CRC_R7_FIRST), crc);
}

WEFT_TEST(r7_first_makes_250_bytes_a_codeword)
{
	for (size_t i = 1; i < WEFT_ARRAY_SIZE(weft_flit_vectors); i++) {
		uint8_t flit[256] = { 0 };

		weft_flit_vectors[i].message(flit);
		weft_crc_store(flit, weft_flit_vectors[i].crc, WEFT_CRC_R7_FIRST);
		assert_int_equal(weft_crc_update(0, flit, 250), 0);
		weft_crc_store(flit, weft_flit_vectors[i].crc, WEFT_CRC_R0_FIRST);
		assert_int_not_equal(weft_crc_update(0, flit, 250), 0);
	}
}

/* Distance 9: any 1..8 wrong symbols leave a syndrome. */
WEFT_TEST(up_to_eight_wrong_bytes_are_found)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 100000; round++) {
		const unsigned int symbols = 1 + (unsigned int)weft_rand_below(&r, 8);
		uint8_t error[250] = { 0 };

		for (unsigned int i = 0; i < symbols; i++)
			error[weft_rand_below(&r, 250)] = (uint8_t)(1 + weft_rand_below(&r, 255));
		assert_int_not_equal(weft_crc_update(0, error, sizeof(error)), 0);
	}
}
