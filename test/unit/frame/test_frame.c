/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames against encapsulation.md section 2: bytes written out by hand, the order of the checks,
 * every length, every single-bit error, and flits taken out against a plain copy. A frame to be
 * parsed lies in a heap block of its own length, so that a sanitizer sees a read past it.
 */

#include "weft_test.h"

#include "weft_wire.h"

#define FRAME_MAX WEFT_WIRE_FRAME_LEN(WEFT_WIRE_FLITS_MAX)

/* MAC addresses, EtherType, then an rxl frame of one flit and a cxl control frame. */
static const char rxl_bytes[] = "02000000000202000000000188b5"
				"1001010301230456deadbeef000f4240"
				"30e8";
static const char control_bytes[] = "02000000000202000000000188b5"
				    "110000000fff0fff0000000100000000"
				    "4e29";

static const struct weft_wire_hdr rxl_one = {
	.kind = WEFT_WIRE_FLITS,
	.mode = WEFT_MODE_RXL,
	.n_flits = 1,
	.vc = 3,
	.spid = 0x123,
	.dpid = 0x456,
	.session = 0xDEADBEEF,
	.clock = 1000000,
};

static const struct weft_wire_hdr cxl_control = {
	.kind = WEFT_WIRE_CONTROL,
	.mode = WEFT_MODE_CXL,
	.spid = WEFT_PID_NONE,
	.dpid = WEFT_PID_NONE,
	.session = 1,
};

/* CRC-16/T10-DIF by its definition, a bit at a time. */
static uint16_t
check_by_definition(const uint8_t *p, size_t len)
{
	unsigned int crc = 0;

	for (size_t i = 0; i < 8 * len; i++) {
		const unsigned int bit = (unsigned int)p[i / 8] >> (7 - i % 8) & 1;
		const unsigned int out = crc >> 15 & 1;

		crc = (crc << 1 & 0xFFFF) ^ (out != bit ? 0x8BB7u : 0);
	}
	return (uint16_t)crc;
}

static void
make_check_right(uint8_t *frame)
{
	weft_put_be16(frame + 30, check_by_definition(frame + WEFT_ETH_LEN, 16));
}

/* Parse a copy of exactly @p len bytes. */
static enum weft_verdict
parse(const uint8_t *frame, size_t len, struct weft_wire_hdr *h)
{
	uint8_t *exact = malloc(len != 0 ? len : 1);
	enum weft_verdict v;

	assert_non_null(exact);
	memcpy(exact, frame, len);
	v = weft_wire_parse(exact, len, h);
	free(exact);
	return v;
}

static void
assert_same_header(const struct weft_wire_hdr *a, const struct weft_wire_hdr *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->form, b->form);
	assert_int_equal(a->n_flits, b->n_flits);
	assert_int_equal(a->vc, b->vc);
	assert_int_equal(a->spid, b->spid);
	assert_int_equal(a->dpid, b->dpid);
	assert_int_equal(a->session, b->session);
	assert_int_equal(a->clock, b->clock);
}

static struct weft_wire_hdr
random_header(struct weft_rand *r)
{
	struct weft_wire_hdr h = {
		.kind = (uint8_t)weft_rand_below(r, 2),
		.mode = (uint8_t)weft_rand_below(r, 2),
		.vc = (uint8_t)weft_rand_below(r, 8),
		.spid = WEFT_PID_NONE,
		.dpid = WEFT_PID_NONE,
		.session = (uint32_t)weft_rand_u64(r),
		.clock = (uint32_t)weft_rand_u64(r),
	};

	if (h.kind == WEFT_WIRE_FLITS)
		h.n_flits = (uint8_t)(1 + weft_rand_below(r, WEFT_WIRE_FLITS_MAX));
	if (h.mode == WEFT_MODE_CXL)
		h.form = (uint8_t)weft_rand_below(r, 2);
	if (h.mode == WEFT_MODE_RXL) {
		h.spid = (uint16_t)weft_rand_below(r, 0x1000);
		h.dpid = (uint16_t)weft_rand_below(r, 0x1000);
	}
	return h;
}

/* FRAME-1 to FRAME-7 */
WEFT_TEST(headers_are_the_bytes_of_the_specification)
{
	uint8_t want[WEFT_WIRE_FLITS_OFF], frame[WEFT_WIRE_FLITS_OFF];
	uint8_t whole[WEFT_WIRE_FRAME_LEN(1)] = { 0 };
	struct weft_wire_hdr h;

	assert_int_equal(check_by_definition((const uint8_t *)"123456789", 9), 0xD0DB);

	assert_int_equal(weft_test_unhex(rxl_bytes, want, sizeof(want)), sizeof(want));
	memcpy(frame, want, WEFT_ETH_LEN);
	memset(frame + 12, 0xEE, sizeof(frame) - 12);
	weft_wire_build(frame, &rxl_one);
	assert_memory_equal(frame, want, sizeof(want));
	memcpy(whole, want, sizeof(want));
	assert_int_equal(parse(whole, sizeof(whole), &h), WEFT_OK);
	assert_same_header(&h, &rxl_one);

	assert_int_equal(weft_test_unhex(control_bytes, want, sizeof(want)), sizeof(want));
	memset(frame + 12, 0xEE, sizeof(frame) - 12);
	weft_wire_build(frame, &cxl_control);
	assert_memory_equal(frame, want, sizeof(want));
	assert_int_equal(parse(want, sizeof(want), &h), WEFT_OK);
	assert_same_header(&h, &cxl_control);
}

WEFT_TEST(what_was_built_parses_to_the_same)
{
	uint8_t *frame = calloc(1, FRAME_MAX);
	struct weft_rand r;

	assert_non_null(frame);
	weft_test_seed(&r, __func__);
	for (int round = 0; round < 2000; round++) {
		const struct weft_wire_hdr h = random_header(&r);
		struct weft_wire_hdr got;

		weft_wire_build(frame, &h);
		assert_int_equal(
			weft_get_be16(frame + 30), check_by_definition(frame + WEFT_ETH_LEN, 16));
		assert_int_equal(parse(frame, WEFT_WIRE_FRAME_LEN(h.n_flits), &got), WEFT_OK);
		assert_same_header(&got, &h);
	}
	free(frame);
}

/* FRAME-4 */
WEFT_TEST(every_single_bit_error_is_refused)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 20; round++) {
		struct weft_wire_hdr h = random_header(&r), got;
		uint8_t frame[WEFT_WIRE_FRAME_LEN(1)] = { 0 };

		h.n_flits = h.kind == WEFT_WIRE_FLITS;
		weft_wire_build(frame, &h);
		for (unsigned int bit = 12 * 8; bit < WEFT_WIRE_FLITS_OFF * 8; bit++) {
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (parse(frame, WEFT_WIRE_FRAME_LEN(h.n_flits), &got) == WEFT_OK)
				fail_msg("bit %u of byte %u", bit % 8, bit / 8);
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		for (unsigned int byte = 0; byte < 12; byte++)
			frame[byte] ^= 0xFF; /* the addresses are not ours to check */
		assert_int_equal(parse(frame, WEFT_WIRE_FRAME_LEN(h.n_flits), &got), WEFT_OK);
	}
}

/*
 * Each row breaks one thing in a good rxl frame of one flit, whose check is then made right
 * (FRAME-2, FRAME-3, FRAME-5, FRAME-6).
 */
WEFT_TEST(each_fault_has_its_verdict)
{
	static const struct {
		uint8_t at, value;
		enum weft_verdict verdict;
	} faults[] = {
		{ 12, 0x08, WEFT_DROP_ETHERTYPE }, { 13, 0xB6, WEFT_DROP_ETHERTYPE },
		{ 14, 0x00, WEFT_DROP_VERSION }, { 14, 0x20, WEFT_DROP_VERSION },
		{ 14, 0x12, WEFT_DROP_KIND }, { 14, 0x1F, WEFT_DROP_KIND },
		{ 15, 0x03, WEFT_DROP_FLAGS }, { 15, 0x81, WEFT_DROP_FLAGS },
		{ 16, 0, WEFT_DROP_COUNT }, { 16, 65, WEFT_DROP_COUNT },
		{ 16, 255, WEFT_DROP_COUNT }, { 17, 0x08, WEFT_DROP_VC },
		{ 17, 0x83, WEFT_DROP_VC }, { 18, 0x11, WEFT_DROP_ID }, { 18, 0x81, WEFT_DROP_ID },
		{ 20, 0x14, WEFT_DROP_ID }, { 20, 0x84, WEFT_DROP_ID },
		{ 15, 0x00, WEFT_DROP_ID }, /* cxl, which has no ids */
		{ 15, 0x02, WEFT_DROP_ID }, /* the same in PBR form */
		{ 15, 0x04, WEFT_DROP_FLAGS }, { 16, 2, WEFT_DROP_LENGTH },
		{ 16, 64, WEFT_DROP_LENGTH },
		{ 14, 0x11, WEFT_DROP_COUNT }, /* control, which has no flits */
	};
	struct weft_wire_hdr h;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(faults); i++) {
		uint8_t frame[WEFT_WIRE_FRAME_LEN(1)] = { 0 };

		weft_wire_build(frame, &rxl_one);
		frame[faults[i].at] = faults[i].value;
		make_check_right(frame);
		if (parse(frame, sizeof(frame), &h) != faults[i].verdict)
			fail_msg("byte %u = %02x", faults[i].at, faults[i].value);
	}
}

/* All faults at once; as each is put right, the next shows (FRAME-10). */
WEFT_TEST(faults_show_in_the_order_of_the_checks)
{
	static const struct {
		uint8_t at, value;
		enum weft_verdict verdict; /* before it is put right */
	} steps[] = {
		{ 12, 0x88, WEFT_DROP_ETHERTYPE },
		{ 14, 0x1F, WEFT_DROP_VERSION },
		{ 14, 0x10, WEFT_DROP_KIND },
		{ 15, 0x01, WEFT_DROP_FLAGS },
		{ 0, 0, WEFT_DROP_HEADER_CHECK },
		{ 16, 2, WEFT_DROP_COUNT },
		{ 17, 0x03, WEFT_DROP_VC },
		{ 18, 0x01, WEFT_DROP_ID },
		{ 20, 0x04, WEFT_DROP_ID },
		{ 16, 1, WEFT_DROP_LENGTH },
	};
	uint8_t frame[WEFT_WIRE_FRAME_LEN(1)] = { 0 };
	struct weft_wire_hdr h;
	bool check_is_right = false;

	weft_wire_build(frame, &rxl_one);
	frame[12] = 0x08;
	frame[14] = 0x2F;
	frame[15] = 0x41;
	frame[16] = 65;
	frame[17] = 0x13;
	frame[18] = 0x81;
	frame[20] = 0x84;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(steps); i++) {
		assert_int_equal(parse(frame, sizeof(frame), &h), steps[i].verdict);
		if (steps[i].verdict == WEFT_DROP_HEADER_CHECK)
			check_is_right = true;
		else
			frame[steps[i].at] = steps[i].value;
		if (check_is_right)
			make_check_right(frame);
	}
	assert_int_equal(parse(frame, sizeof(frame), &h), WEFT_OK);
}

/* FRAME-6 */
WEFT_TEST(cxl_frames_have_no_ids)
{
	struct weft_wire_hdr h = cxl_control, got;
	uint8_t frame[WEFT_WIRE_FRAME_LEN(1)] = { 0 };

	h.kind = WEFT_WIRE_FLITS;
	h.n_flits = 1;
	weft_wire_build(frame, &h);
	assert_int_equal(parse(frame, sizeof(frame), &got), WEFT_OK);
	for (unsigned int at = 18; at < 22; at++) {
		frame[at] ^= 0x01;
		make_check_right(frame);
		assert_int_equal(parse(frame, sizeof(frame), &got), WEFT_DROP_ID);
		frame[at] ^= 0x01;
	}
}

/*
 * What any length is, given a header that is good for one or two flits, or for control
 * (FRAME-7).
 */
WEFT_TEST(only_the_announced_length_is_taken)
{
	uint8_t frame[WEFT_WIRE_FRAME_LEN(3)] = { 0 };
	struct weft_wire_hdr h = rxl_one, got;

	for (h.n_flits = 1; h.n_flits <= 2; h.n_flits++) {
		weft_wire_build(frame, &h);
		for (size_t len = 0; len <= 600; len++) {
			const enum weft_verdict v = parse(frame, len, &got);

			if (len < 32)
				assert_int_equal(v, WEFT_DROP_RUNT);
			else if (len == 32 + 256u * h.n_flits)
				assert_int_equal(v, WEFT_OK);
			else
				assert_int_equal(v, WEFT_DROP_LENGTH);
		}
	}
	weft_wire_build(frame, &cxl_control);
	for (size_t len = 0; len <= 600; len++)
		assert_int_equal(parse(frame, len, &got), len < 32 ? WEFT_DROP_RUNT : WEFT_OK);
}

/* FRAME-1 */
WEFT_TEST(short_packet_of_another_protocol_is_ethertype)
{
	uint8_t frame[WEFT_WIRE_FLITS_OFF] = { 0 };
	struct weft_wire_hdr h;

	weft_put_be16(frame + 12, 0x0800);
	for (size_t len = 0; len <= sizeof(frame); len++)
		assert_int_equal(
			parse(frame, len, &h), len < 14 ? WEFT_DROP_RUNT : WEFT_DROP_ETHERTYPE);
}

WEFT_TEST(every_count_of_flits_has_its_length)
{
	uint8_t *frame = calloc(1, FRAME_MAX + 256);
	struct weft_wire_hdr h = rxl_one, got;

	assert_non_null(frame);
	for (unsigned int n = 1; n <= WEFT_WIRE_FLITS_MAX; n++) {
		h.n_flits = (uint8_t)n;
		weft_wire_build(frame, &h);
		assert_int_equal(parse(frame, 32 + 256 * n, &got), WEFT_OK);
		assert_int_equal(got.n_flits, n);
		assert_int_equal(parse(frame, 31 + 256 * n, &got), WEFT_DROP_LENGTH);
		assert_int_equal(parse(frame, 33 + 256 * n, &got), WEFT_DROP_LENGTH);
		assert_int_equal(parse(frame, 32 + 256 * (n - 1), &got), WEFT_DROP_LENGTH);
		assert_int_equal(parse(frame, 32 + 256 * (n + 1), &got), WEFT_DROP_LENGTH);
	}
	free(frame);
}

WEFT_TEST(mtu_gives_the_number_of_flits)
{
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(1500), 5);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(9000), 35);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(0), 0);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(17), 0);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(18 + 255), 0);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(18 + 256), 1);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(18 + 64 * 256), 64);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(18 + 65 * 256), 64);
	assert_int_equal(WEFT_WIRE_FLITS_FOR_MTU(65535u), 64);
}

/* Remove @p gone from a random frame of @p n and compare with the flits kept, one by one. */
static void
remove_and_compare(struct weft_rand *r, unsigned int n, uint64_t gone)
{
	const size_t len = WEFT_WIRE_FRAME_LEN(n);
	uint8_t *frame = malloc(len), *before = malloc(len);
	struct weft_wire_hdr h = rxl_one, after;
	unsigned int kept = 0;
	size_t got;

	assert_non_null(frame);
	assert_non_null(before);
	weft_rand_fill(r, frame, len);
	h.n_flits = (uint8_t)n;
	h.session = (uint32_t)weft_rand_u64(r);
	weft_wire_build(frame, &h);
	memcpy(before, frame, len);
	got = weft_wire_remove(frame, &h, gone);
	for (unsigned int i = 0; i < n; i++) {
		if (gone >> i & 1)
			continue;
		assert_memory_equal(frame + 32 + 256 * kept, before + 32 + 256 * i, 256);
		kept++;
	}
	assert_int_equal(h.n_flits, kept);
	assert_int_equal(got, kept != 0 ? 32 + 256 * kept : 0);
	if (kept != 0) {
		assert_memory_equal(frame, before, 12);
		assert_int_equal(parse(frame, got, &after), WEFT_OK);
		assert_same_header(&after, &h);
	}
	free(before);
	free(frame);
}

/* FRAME-11 */
WEFT_TEST(removing_keeps_the_others_in_order)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int n = 1; n <= 6; n++)
		for (uint64_t gone = 0; gone < WEFT_BIT64(n); gone++)
			remove_and_compare(&r, n, gone);
	for (int round = 0; round < 300; round++)
		remove_and_compare(
			&r, 1 + (unsigned int)weft_rand_below(&r, 64), weft_rand_u64(&r));
	remove_and_compare(&r, 64, UINT64_MAX);
	remove_and_compare(&r, 64, WEFT_BIT64(63));
	remove_and_compare(&r, 64, ~WEFT_BIT64(63));
	remove_and_compare(&r, 3, ~UINT64_C(7)); /* bits beyond the count mean nothing */
}

/* FRAME-12 */
WEFT_TEST(one_bit_anywhere_makes_a_flit_not_zero)
{
	uint8_t *flits = calloc(3, 256);

	assert_non_null(flits);
	assert_int_equal(weft_wire_all_zero(flits, 0), 0);
	assert_int_equal(weft_wire_all_zero(flits, 3), 7);
	for (unsigned int bit = 0; bit < 2048; bit++) {
		flits[256 + bit / 8] = (uint8_t)(1u << bit % 8);
		assert_int_equal(weft_wire_all_zero(flits, 3), 5);
		flits[256 + bit / 8] = 0;
	}
	free(flits);
}

WEFT_TEST(all_64_flits_are_looked_at_at_any_alignment)
{
	const size_t len = 64 * 256;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int shift = 0; shift < 16; shift++) {
		const uint64_t zero = weft_rand_u64(&r);
		uint8_t *block = calloc(1, len + shift);

		assert_non_null(block);
		for (unsigned int i = 0; i < 64; i++)
			if (!(zero >> i & 1))
				block[shift + 256 * i + weft_rand_below(&r, 256)] = 1;
		assert_int_equal(weft_wire_all_zero(block + shift, 64), zero);
		free(block);
	}
}
