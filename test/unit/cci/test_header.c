/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Headers of CCI messages, names, and the vectors of fabric.md part (c). */

#include "weft_test.h"

#include "weft_cci.h"
#include "weft_cci_layout.h"
#include "weft_cci_payload.h"

WEFT_TEST(vector_identify_request)
{
	static const uint8_t want[] = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
	const struct weft_cci_hdr h = { .opcode = WEFT_CCI_IDENTIFY };
	uint8_t b[WEFT_CCI_HDR];

	memset(b, 0xFF, sizeof(b));
	weft_cci_put_hdr(b, &h);
	assert_memory_equal(b, want, sizeof(want));
}

WEFT_TEST(vector_set_drt_request)
{
	static const uint8_t want[] = { 0x00, 0x03, 0x00, 0x09, 0x57, 0x08, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x7E, 0x00, 0x01, 0x7D };
	static const uint8_t entry[] = { 0x01, 0x7D };
	const struct weft_cci_set_drt_req req = { .n = 1, .start = 0x07E, .entry = entry };
	const struct weft_cci_hdr h = { .opcode = WEFT_CCI_SET_DRT, .tag = 3, .len = 8 };
	struct weft_cci_set_drt_req got;
	struct weft_cci_hdr got_hdr;
	uint8_t b[64];

	weft_cci_put_hdr(b, &h);
	assert_int_equal(
		weft_cci_put_set_drt_req(b + WEFT_CCI_HDR, sizeof(b) - WEFT_CCI_HDR, &req), 8);
	assert_memory_equal(b, want, sizeof(want));
	assert_int_equal(weft_cci_get_hdr(&got_hdr, b, sizeof(want)), 0);
	assert_int_equal(got_hdr.opcode, 0x5709);
	assert_int_equal(got_hdr.tag, 3);
	assert_int_equal(weft_cci_get_set_drt_req(&got, b + WEFT_CCI_HDR, got_hdr.len), 0);
	assert_int_equal(got.start, 0x07E);
	assert_int_equal(got.n, 1);
	assert_memory_equal(got.entry, entry, 2);
}

WEFT_TEST(drawn_headers_come_back)
{
	static uint8_t b[WEFT_CCI_HDR];
	struct weft_rand r;

	weft_test_seed(&r, "header");
	for (unsigned int i = 0; i < 20000; i++) {
		const uint64_t v = weft_rand_u64(&r);
		const struct weft_cci_hdr h = { .is_response = v & 1,
			.is_background = (v & 2) != 0,
			.tag = (uint8_t)(v >> 8),
			.opcode = (uint16_t)(v >> 16),
			.len = (uint32_t)weft_rand_below(&r, 1u << 21),
			.rc = (uint16_t)(v >> 32),
			.ext = (uint16_t)(v >> 48) };
		struct weft_cci_hdr got;

		weft_cci_put_hdr(b, &h);
		assert_int_equal(b[2], 0);
		assert_int_equal(b[7] & 0x60, 0);
		b[2] = (uint8_t)weft_rand_u64(&r);
		b[0] |= (uint8_t)weft_rand_u64(&r) & 0xF0;
		b[7] |= (uint8_t)weft_rand_u64(&r) & 0x60;
		assert_int_equal(weft_cci_get_hdr(&got, b, WEFT_CCI_HDR + h.len), 0);
		assert_int_equal(got.is_response, h.is_response);
		assert_int_equal(got.is_background, h.is_background);
		assert_int_equal(got.tag, h.tag);
		assert_int_equal(got.opcode, h.opcode);
		assert_int_equal(got.len, h.len);
		assert_int_equal(got.rc, h.rc);
		assert_int_equal(got.ext, h.ext);
	}
}

WEFT_TEST(lengths_of_messages_are_checked)
{
	struct weft_cci_hdr h = { .opcode = 0x0102 };
	uint8_t b[WEFT_CCI_HDR + 4] = { 0, 7, 0, 1, 0, 3 };

	for (size_t n = 0; n < WEFT_CCI_HDR; n++)
		assert_int_equal(weft_cci_get_hdr(&h, b, n), -EMSGSIZE);
	assert_int_equal(h.opcode, 0x0102);
	for (size_t n = WEFT_CCI_HDR; n <= sizeof(b); n++)
		assert_int_equal(weft_cci_get_hdr(&h, b, n), n == WEFT_CCI_HDR + 3 ? 0 : -EBADMSG);
	assert_int_equal(h.tag, 7);
	for (unsigned int category = 0; category < 16; category++) {
		b[0] = (uint8_t)category;
		assert_int_equal(
			weft_cci_get_hdr(&h, b, WEFT_CCI_HDR + 3), category < 2 ? 0 : -EINVAL);
	}
}

WEFT_TEST(rows_are_found_by_their_opcodes)
{
	unsigned int found = 0;

	for (unsigned int op = 0; op <= UINT16_MAX; op++) {
		const struct weft_cci_command_layout *c = weft_cci_find_command((uint16_t)op);

		if (c == NULL) {
			assert_string_equal(weft_cci_opcode_name((uint16_t)op), "unknown command");
			continue;
		}
		assert_int_equal(c->opcode, op);
		assert_string_equal(weft_cci_opcode_name((uint16_t)op), c->name);
		found++;
	}
	assert_int_equal(found, weft_cci_n_commands);
	assert_string_equal(weft_cci_opcode_name(0x5709), "Set DRT");
	assert_string_equal(weft_cci_opcode_name(0x0001), "Identify");
}

WEFT_TEST(return_codes_have_the_numbers_of_the_specification)
{
	assert_int_equal(WEFT_CCI_BUSY, 0x06);
	assert_int_equal(WEFT_CCI_INVALID_HANDLE, 0x0E);
	assert_int_equal(WEFT_CCI_ABORTED, 0x12);
	assert_int_equal(WEFT_CCI_INVALID_PAYLOAD_LENGTH, 0x16);
	assert_int_equal(WEFT_CCI_INVALID_LOG, 0x17);
	assert_int_equal(WEFT_CCI_RESOURCES_EXHAUSTED, 0x1D);
	assert_int_equal(WEFT_CCI_INVALID_EXTENT_LIST, 0x1E);
	assert_int_equal(WEFT_CCI_ABORT_UNSUPPORTED, 0x20);
	assert_string_equal(weft_cci_rc_name(0x02), "Invalid Input");
	assert_string_equal(
		weft_cci_rc_name(0x20), "Request Abort Background Operation Not Supported");
	assert_string_equal(weft_cci_rc_name(0x21), "unknown return code");
	assert_string_equal(weft_cci_rc_name(UINT16_MAX), "unknown return code");
}
