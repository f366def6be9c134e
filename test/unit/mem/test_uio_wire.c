/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * UIO packets: bytes written by hand from the forms of ats.md section 2, decode after encode is the
 * identity, and no bytes whatever lead outside the packet.
 */

#include "uio_rig.h"

static const uint8_t form_data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static const struct {
	struct weft_uio u;
	const char *hex;
} forms[] = {
	{ { .kind = WEFT_UIO_READ,
		  .requester = 0x0102,
		  .tag = 0x155,
		  .len = 256,
		  .addr = UINT64_C(0x10000000100) },
		"22080040"
		"010255ff"
		"00000100"
		"00000100" },
	{ { .kind = WEFT_UIO_READ, .tag = 0x200, .len = 4, .addr = 0xFFC }, "22800001"
									    "0000000f"
									    "00000000"
									    "00000ffc" },
	{ { .kind = WEFT_UIO_WRITE,
		  .requester = 0xFFFF,
		  .tag = 0x3FF,
		  .len = 8,
		  .poison = true,
		  .addr = 0x40,
		  .data = form_data },
		"62884002"
		"ffffffff"
		"00000000"
		"00000040"
		"0102030405060708" },
	{ { .kind = WEFT_UIO_CPL,
		  .requester = 0x0102,
		  .tag = 7,
		  .status = WEFT_UIO_CA,
		  .left = 256 },
		"0f000000"
		"00008100"
		"01020700" },
	{ { .kind = WEFT_UIO_CPLD,
		  .requester = 0x0102,
		  .completer = 0x0304,
		  .tag = 0x107,
		  .len = 8,
		  .left = 72,
		  .lower = 0x78,
		  .data = form_data },
		"4f080002"
		"03040048"
		"01020778"
		"0102030405060708" },
};

WEFT_TEST(bytes_are_those_of_the_forms)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(forms); i++) {
		struct weft_io_tlp want, got;

		uio_rig_bytes(&want, forms[i].hex);
		memset(&got, 0, sizeof(got));
		assert_int_equal(weft_uio_encode(&got, &forms[i].u), 0);
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.tlp, want.tlp, want.len);
		assert_true(weft_io_is_valid(&got));
		assert_int_equal(weft_io_class(&got),
			forms[i].u.kind <= WEFT_UIO_WRITE ? WEFT_IO_REQUEST : WEFT_IO_COMPLETION);
	}
}

static struct weft_uio
draw(struct weft_rand *r, uint8_t *data)
{
	static const uint8_t status[] = { WEFT_UIO_SC, WEFT_UIO_UR, WEFT_UIO_CA };
	struct weft_uio u = { .kind = (uint8_t)weft_rand_below(r, 4) };

	for (unsigned int i = 0; i < WEFT_UIO_BYTES_MAX; i++)
		data[i] = (uint8_t)weft_rand_u64(r);
	u.requester = (uint16_t)weft_rand_u64(r);
	u.tag = (uint16_t)weft_rand_below(r, WEFT_UIO_TAGS);
	u.len = (uint16_t)(4 * (1 + weft_rand_below(r, 64)));
	if (u.kind <= WEFT_UIO_WRITE) {
		u.addr = (weft_rand_u64(r) & ~UINT64_C(4095)) +
		         4 * weft_rand_below(r, (4096u - u.len) / 4 + 1);
	} else {
		u.completer = (uint16_t)weft_rand_u64(r);
		u.left = (uint16_t)(u.len + weft_rand_below(r, 257u - u.len));
	}
	if (u.kind == WEFT_UIO_CPL) {
		u.status = status[weft_rand_below(r, 3)];
		u.len = 0;
	}
	if (u.kind == WEFT_UIO_CPLD)
		u.lower = (uint8_t)(4 * weft_rand_below(r, 32));
	if (u.kind == WEFT_UIO_WRITE || u.kind == WEFT_UIO_CPLD) {
		u.poison = weft_rand_below(r, 4) == 0;
		u.data = data;
	}
	return u;
}

WEFT_TEST(decode_after_encode_is_identity)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < 200000; i++) {
		uint8_t data[WEFT_UIO_BYTES_MAX];
		const struct weft_uio u = draw(&r, data);
		struct weft_uio back;
		struct weft_io_tlp t;

		assert_int_equal(weft_uio_encode(&t, &u), 0);
		assert_true(weft_io_is_valid(&t));
		assert_int_equal(weft_uio_decode(&t, &back), 0);
		if (u.data != NULL)
			assert_memory_equal(back.data, u.data, u.len);
		back.data = u.data;
		assert_int_equal(back.kind, u.kind);
		assert_int_equal(back.status, u.status);
		assert_int_equal(back.poison, u.poison);
		assert_int_equal(back.requester, u.requester);
		assert_int_equal(back.completer, u.completer);
		assert_int_equal(back.tag, u.tag);
		assert_int_equal(back.len, u.len);
		assert_true(back.addr == u.addr);
		assert_int_equal(back.left, u.left);
		assert_int_equal(back.lower, u.lower);
	}
}

WEFT_TEST(fields_out_of_range_are_refused)
{
	static const uint8_t data[WEFT_UIO_BYTES_MAX];
	static const struct weft_uio bad[] = {
		{ .kind = 4, .len = 4 },
		{ .kind = WEFT_UIO_READ, .len = 0 },
		{ .kind = WEFT_UIO_READ, .len = 260 },
		{ .kind = WEFT_UIO_READ, .len = 6 },
		{ .kind = WEFT_UIO_READ, .len = 4, .addr = 2 },
		{ .kind = WEFT_UIO_READ, .len = 8, .addr = 4092 },
		{ .kind = WEFT_UIO_READ, .len = 4, .tag = WEFT_UIO_TAGS },
		{ .kind = WEFT_UIO_CPL, .status = 2 },
		{ .kind = WEFT_UIO_CPL, .left = 260 },
		{ .kind = WEFT_UIO_CPLD, .len = 64, .left = 60, .data = data },
		{ .kind = WEFT_UIO_CPLD, .len = 64, .left = 64, .lower = 2, .data = data },
		{ .kind = WEFT_UIO_CPLD, .len = 64, .left = 64, .status = 1, .data = data },
		{ .kind = WEFT_UIO_CPLD, .len = 0, .left = 64, .data = data },
	};
	static const char *const malformed[] = {
		"22000000000000ff0000000000000000", /* 1024 DW */
		"22000041000000ff0000000000000000", /* more than 256 bytes */
		"22000040000000ff0000000000000f80", /* across 4 KiB */
		"220000020000000f0000000000000000", /* byte enables */
		"22000001000000ff0000000000000000",
		"22000402000000ff0000000000000000", /* AT 01 */
		"22000c02000000ff0000000000000000", /* AT 11 */
		"22008002000000ff000000000000000000000000", /* digest */
		"0f0000000000400000000000", /* status 2 */
		"62000002000000ff000000000000000001020304", /* less data than it says */
		"22000002000000ff00000000000000", /* cut */
		"0f00000000000000000000",
	};
	struct weft_io_tlp t;
	struct weft_uio u;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_int_equal(weft_uio_encode(&t, &bad[i]), -EINVAL);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(malformed); i++) {
		uio_rig_bytes(&t, malformed[i]);
		assert_int_equal(weft_uio_decode(&t, &u), -EINVAL);
	}
	/* A translated address is an address; ordinary .io is not of UIO. */
	uio_rig_bytes(&t, "22000802000000ff0000000000000000");
	assert_int_equal(weft_uio_decode(&t, &u), 0);
	t.len = WEFT_IO_TLP_MAX + 1;
	assert_int_equal(weft_uio_decode(&t, &u), -EINVAL);
	uio_rig_bytes(&t, "20000002000000ff0000000000000000");
	assert_int_equal(weft_uio_decode(&t, &u), -ENOENT);
	t.len = 0;
	assert_int_equal(weft_uio_decode(&t, &u), -ENOENT);
}

WEFT_TEST(refusals_name_the_request)
{
	struct weft_uio u = { .kind = WEFT_UIO_READ, .requester = 9, .tag = 77, .len = 128 };
	struct weft_io_tlp req, cpl;

	assert_int_equal(weft_uio_encode(&req, &u), 0);
	assert_int_equal(weft_uio_refuse(&req, WEFT_UIO_UR, 5, &cpl), 0);
	assert_int_equal(weft_uio_decode(&cpl, &u), 0);
	assert_int_equal(u.kind, WEFT_UIO_CPL);
	assert_int_equal(u.status, WEFT_UIO_UR);
	assert_int_equal(u.requester, 9);
	assert_int_equal(u.completer, 5);
	assert_int_equal(u.tag, 77);
	assert_int_equal(u.left, 128);
	assert_int_equal(weft_uio_refuse(&cpl, WEFT_UIO_UR, 5, &req), -EINVAL);
}
