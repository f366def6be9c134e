/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The mathematics of the implicit sequence number: vectors and properties 1 to 3 of
 * encapsulation.md section 3, and the XOR form's vectors and known weakness.
 */

#include "weft_test.h"

#include "weft_flit_vectors.h"
#include "weft_isn.h"

/* Message by its definition: five implicit symbols, then the 242 bytes, bit by bit. */
static uint64_t
crc_by_definition(unsigned int spid, unsigned int dpid, unsigned int vc, unsigned int number,
	const uint8_t *flit)
{
	const uint8_t implicit[5] = {
		(uint8_t)(spid >> 4),
		(uint8_t)(spid << 4 | dpid >> 8),
		(uint8_t)dpid,
		(uint8_t)(vc << 2 | number >> 8),
		(uint8_t)number,
	};

	return weft_crc_update_ref(
		weft_crc_update_ref(0, implicit, sizeof(implicit)), flit, WEFT_CRC_COVERED);
}

WEFT_TEST(pseudo_header_vectors_hold)
{
	static const struct {
		void (*message)(uint8_t *flit);
		uint16_t spid, dpid;
		uint8_t vc;
		uint16_t number;
		uint64_t crc;
	} vectors[] = {
		{ weft_message_count, 0x000, 0x000, 0, 0, UINT64_C(0x5650ba1b432ce5bc) },
		{ weft_message_count, 0x000, 0x000, 0, 1, UINT64_C(0x9fa80a7136a38082) },
		{ weft_message_count, 0x000, 0x000, 0, 1023, UINT64_C(0x079cd1beda8e410a) },
		{ weft_message_count, 0x123, 0x456, 0, 1, UINT64_C(0x2fe077b2ca51ab39) },
		{ weft_message_count, 0x456, 0x123, 0, 1, UINT64_C(0xa945238e31298cdf) },
		{ weft_message_count, 0x123, 0x456, 3, 1, UINT64_C(0xa76e309c29b4dfcd) },
		{ weft_message_zero, 0x123, 0x456, 0, 0, UINT64_C(0xb0487dc3fcf22bbb) },
		{ weft_message_zero, 0xFFE, 0x001, 0, 511, UINT64_C(0x01fd2a40e5cc13ae) },
	};
	const struct weft_crc_kernel *kernel = weft_crc_kernel_find("scalar", 0);

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(vectors); i++) {
		const uint16_t spid = vectors[i].spid, dpid = vectors[i].dpid;
		const uint8_t vc = vectors[i].vc;
		const uint16_t number = vectors[i].number;
		_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
		struct weft_isn s;

		vectors[i].message(flit);
		assert_int_equal(crc_by_definition(spid, dpid, vc, number, flit), vectors[i].crc);
		for (int order = WEFT_CRC_R0_FIRST; order <= WEFT_CRC_R7_FIRST; order++) {
			assert_int_equal(
				weft_isn_init(&s, WEFT_ISN_PSEUDO, (enum weft_crc_order)order, spid,
					dpid, vc, number),
				0);
			weft_isn_protect(&s, kernel, flit, 1);
			assert_int_equal(
				weft_crc_load(flit, (enum weft_crc_order)order), vectors[i].crc);
		}
	}
}

WEFT_TEST(published_deltas_hold)
{
	assert_int_equal(weft_isn_number(0), 0);
	assert_int_equal(weft_isn_number(1), UINT64_C(0xc9f8b06a758f653e));
	assert_int_equal(weft_isn_number(2), UINT64_C(0xb9db4bd4ea35ca7c));
	assert_int_equal(weft_isn_number(256), UINT64_C(0x1e8bd0932ebb0bf2));
	assert_int_equal(weft_isn_number(512), UINT64_C(0x3c3d8b0d5c5d16cf));
	assert_int_equal(weft_isn_xor_number(0), 0);
	assert_int_equal(weft_isn_xor_number(1), UINT64_C(0x1fe2371454ac11a3));
	assert_int_equal(weft_isn_xor_number(512), UINT64_C(0x3d57bff24133acca));
}

/* Property 1 for all pairs, anchored at the definition by the ten single bits. */
WEFT_TEST(numbers_add_up_in_both_forms)
{
	static const uint8_t zero[WEFT_CRC_COVERED];

	for (unsigned int bit = 0; bit < 10; bit++) {
		uint8_t flit[WEFT_CRC_COVERED] = { 0 };

		assert_int_equal(
			weft_isn_number(1u << bit), crc_by_definition(0, 0, 0, 1u << bit, zero));
		flit[2 + bit / 8] = (uint8_t)(1u << bit % 8);
		assert_int_equal(
			weft_isn_xor_number(1u << bit), weft_crc_update_ref(0, flit, sizeof(flit)));
	}
	for (unsigned int a = 0; a < WEFT_ISN_NUMBERS; a++) {
		for (unsigned int b = 0; b < a; b++) {
			if ((weft_isn_number(a) ^ weft_isn_number(b)) != weft_isn_number(a ^ b))
				fail_msg("L(%u) ^ L(%u)", a, b);
			if ((weft_isn_xor_number(a) ^ weft_isn_xor_number(b)) !=
				weft_isn_xor_number(a ^ b))
				fail_msg("xor form: L(%u) ^ L(%u)", a, b);
		}
	}
}

/* ISN-3 */
WEFT_TEST(every_part_of_the_crc_is_one_xor)
{
	struct weft_rand r;
	uint8_t flit[WEFT_CRC_COVERED];

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 300; round++) {
		const uint16_t spid = (uint16_t)weft_rand_below(&r, 0x1000);
		const uint16_t dpid = (uint16_t)weft_rand_below(&r, 0x1000);
		const uint8_t vc = (uint8_t)weft_rand_below(&r, 8);
		const unsigned int number = (unsigned int)weft_rand_below(&r, WEFT_ISN_NUMBERS);

		weft_rand_fill(&r, flit, sizeof(flit));
		assert_int_equal(crc_by_definition(spid, dpid, vc, number, flit),
			weft_crc_update(0, flit, sizeof(flit)) ^ weft_isn_number(number) ^
				weft_isn_address(spid, dpid, vc));
	}
}

/* ISN-5 */
WEFT_TEST(decode_inverts_every_number)
{
	for (int d = 0; d < WEFT_ISN_NUMBERS; d++)
		assert_int_equal(weft_isn_decode(weft_isn_number((unsigned int)d)), d);
}

/* Next to each number's syndrome lies none of another: one wrong bit is enough to refuse it. */
WEFT_TEST(decode_refuses_what_is_one_bit_off)
{
	for (unsigned int d = 0; d < WEFT_ISN_NUMBERS; d++)
		for (unsigned int bit = 0; bit < 64; bit++)
			if (weft_isn_decode(weft_isn_number(d) ^ WEFT_BIT64(bit)) != -1)
				fail_msg("number %u, bit %u", d, bit);
}

/* Property 3. With the number's two symbols at most 8 are wrong, and the distance is 9 (ISN-7). */
WEFT_TEST(six_wrong_symbols_never_look_like_a_gap)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 200000; round++) {
		const unsigned int symbols = 1 + (unsigned int)weft_rand_below(&r, 6);
		const unsigned int d = (unsigned int)weft_rand_below(&r, WEFT_ISN_NUMBERS);
		uint8_t error[256] = { 0 };
		uint64_t syndrome;

		for (unsigned int i = 0; i < symbols; i++)
			error[weft_rand_below(&r, 250)] = (uint8_t)(1 + weft_rand_below(&r, 255));
		syndrome = weft_crc_update(0, error, WEFT_CRC_COVERED) ^ weft_isn_number(d);
		assert_int_equal(
			weft_isn_decode(syndrome ^ weft_crc_load(error, WEFT_CRC_R0_FIRST)), -1);
		assert_int_equal(
			weft_isn_decode(syndrome ^ weft_crc_load(error, WEFT_CRC_R7_FIRST)), -1);
	}
}

/* Property 2, also when the number differs as well (ISN-3). */
WEFT_TEST(other_receiver_never_looks_like_a_gap)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int d = 0; d < WEFT_ISN_NUMBERS; d++) {
		const uint64_t number = weft_isn_number(d);

		for (unsigned int bit = 0; bit < 12; bit++) {
			const uint16_t id = (uint16_t)(1u << bit);

			assert_int_equal(weft_isn_decode(number ^ weft_isn_address(id, 0, 0)), -1);
			assert_int_equal(weft_isn_decode(number ^ weft_isn_address(0, id, 0)), -1);
		}
		for (uint8_t vc = 1; vc < 8; vc++)
			assert_int_equal(weft_isn_decode(number ^ weft_isn_address(0, 0, vc)), -1);
	}
	for (int round = 0; round < 100000; round++) {
		const uint64_t draw = 1 + weft_rand_below(&r, WEFT_BIT64(27) - 1);
		const uint64_t address = weft_isn_address((uint16_t)(draw & 0xFFF),
			(uint16_t)(draw >> 12 & 0xFFF), (uint8_t)(draw >> 24));
		const unsigned int d = (unsigned int)weft_rand_below(&r, WEFT_ISN_NUMBERS);

		assert_int_equal(weft_isn_decode(address ^ weft_isn_number(d)), -1);
	}
}

WEFT_TEST(xor_form_vectors_hold)
{
	static const struct {
		uint16_t number;
		uint64_t crc;
	} vectors[] = {
		{ 0, UINT64_C(0x5650ba1b432ce5bc) },
		{ 1, UINT64_C(0x49b28d0f1780f41f) },
		{ 5, UINT64_C(0x3547515f6c66b0c5) },
		{ 0x3FF, UINT64_C(0x306d92430759b25b) },
	};
	const struct weft_crc_kernel *kernel = weft_crc_kernel_find("scalar", 0);
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

	weft_message_count(flit);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(vectors); i++) {
		struct weft_isn s;

		assert_int_equal(weft_isn_init(&s, WEFT_ISN_XOR, WEFT_CRC_R0_FIRST, 0x123, 0x456, 3,
					 vectors[i].number),
			0);
		weft_isn_protect(&s, kernel, flit, 1);
		assert_int_equal(weft_crc_load(flit, WEFT_CRC_R0_FIRST), vectors[i].crc);
		assert_int_equal(flit[2], 2); /* the number is never written */
		assert_int_equal(flit[3], 3);
	}
}

/* wire-formats.md 2.3: why the XOR form is for reproduction only. */
WEFT_TEST(xor_form_takes_a_matching_bit_error_for_good)
{
	const struct weft_crc_kernel *kernel = weft_crc_kernel_find("scalar", 0);
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

	for (int form = WEFT_ISN_PSEUDO; form <= WEFT_ISN_XOR; form++) {
		struct weft_isn tx, rx;
		struct weft_isn_result got;

		weft_isn_init(
			&tx, (enum weft_isn_form)form, WEFT_CRC_R0_FIRST, 0x123, 0x456, 0, 0x2A5);
		weft_isn_init(
			&rx, (enum weft_isn_form)form, WEFT_CRC_R0_FIRST, 0x123, 0x456, 0, 0x1A7);
		weft_message_count(flit);
		weft_isn_protect(&tx, kernel, flit, 1);
		flit[2] ^= 0xA5 ^ 0xA7;
		flit[3] ^= 0x02 ^ 0x01;
		weft_isn_check(&rx, kernel, flit, 1, 0, &got);
		assert_int_equal(got.in_turn, form == WEFT_ISN_XOR);
		assert_int_equal(got.bad, form == WEFT_ISN_PSEUDO);
	}
}
