/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Records of link control frames: the bytes of doc/wire.md, build and parse against each other,
 * every truncation, repetition and omission, records of other messages, values out of range, bit
 * errors and noise. Records to be parsed end at an unmapped page, so that a read past them dies in
 * any build.
 */

#include "weft_test.h"

#include "weft_control.h"
#include "weft_guard.h"
#include "weft_wire.h"

#define ROOM 512
#define CHECK_LEN 4 /* of the record */

static const struct weft_control example = {
	.type = WEFT_CONTROL_REFUSE,
	.version = 1,
	.mode = WEFT_MODE_RXL,
	.max_flits = 35,
	.crc_order = 1,
	.isn_form = 2,
	.ide_mode = 1,
	.differs = WEFT_PARAM_ISN_FORM,
	.port = 0x1234,
	.credits = 0x0102,
	.node = "gfd-7",
	.flags = WEFT_CONTROL_RDI,
	.padded = 2,
	.session = 0xC0FFEE05,
	.count = 0x01020304,
	.ide_bits = 0x0605,
	.random = "thirty-two bytes of randomness..",
	.proof = "a proof of 16 B.",
	.challenge = 0x0102030405060708,
	.number = 0x1112131415161718,
	.mac = "the MAC, 16 byte",
	.memory = 0x2122232425262728,
	.known = 0x3132333435363738,
	.fabric = "a fabric's name of 32 characters",
	.name = "g0",
	.instance = 0x4142434445464748,
	.heard = 0x5152535455565758,
	.runs_ms = 0x61626364,
};

/* One record each, as doc/wire.md says them: type, length, value. In the order of building. */
static const struct {
	uint8_t len;
	uint8_t bytes[34];
	const char *messages; /* that have it, by their numbers; ':' is 10, ';' 11, '<' 12 */
} example_records[] = {
	{ 3, { 1, 1, 3 }, "123456789:;<" },
	{ 3, { 2, 1, 1 }, "123" },
	{ 3, { 3, 1, 1 }, "123" },
	{ 3, { 4, 1, 35 }, "123" },
	{ 3, { 5, 1, 1 }, "123" },
	{ 3, { 6, 1, 2 }, "123" },
	{ 3, { 7, 1, 1 }, "123" },
	{ 4, { 8, 2, 0x12, 0x34 }, "1238" },
	{ 18, { 9, 16, 'g', 'f', 'd', '-', '7' }, "1238" },
	{ 4, { 10, 2, 0x01, 0x02 }, "123" },
	{ 3, { 11, 1, 4 }, "3" },
	{ 3, { 12, 1, 1 }, "6" },
	{ 6, { 13, 4, 0xC0, 0xFF, 0xEE, 0x05 }, "2" },
	{ 6, { 14, 4, 1, 2, 3, 4 }, "8" },
	{ 3, { 15, 1, 2 }, "12<" },
	{ 4, { 17, 2, 0x06, 0x05 }, "123" },
	{ 34, "\x12\x20thirty-two bytes of randomness..", "12" },
	{ 18, "\x13\x10\x61 proof of 16 B.", "2" },
	{ 18, "\x14\x10\x61 proof of 16 B.", "5:;" },
	{ 10, { 21, 8, 1, 2, 3, 4, 5, 6, 7, 8 }, "9:" },
	{ 10, { 22, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18 }, "46" },
	{ 18, "\x17\x10the MAC, 16 byte", "46" },
	{ 10, { 24, 8, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28 }, "12" },
	{ 10, { 25, 8, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38 }, "12" },
	{ 34, "\x1A\x20\x61 fabric's name of 32 characters", ";" },
	{ 34, { 27, 32, 'g', '0' }, ";" },
	{ 10, { 28, 8, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48 }, ";" },
	{ 10, { 29, 8, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58 }, ";" },
	{ 6, { 30, 4, 0x61, 0x62, 0x63, 0x64 }, ";" },
};

#define RECORDS WEFT_ARRAY_SIZE(example_records)

/* The check by its definition: CRC-16/T10-DIF, a bit at a time. */
static size_t
seal(uint8_t *rec, size_t len)
{
	uint16_t reg = 0;

	for (size_t bit = 0; bit < 8 * len; bit++) {
		const bool one = ((rec[bit / 8] >> (7 - bit % 8)) & 1) != reg >> 15;

		reg = (uint16_t)((uint16_t)(reg << 1) ^ (one ? 0x8BB7 : 0));
	}
	rec[len] = 16;
	rec[len + 1] = 2;
	rec[len + 2] = (uint8_t)(reg >> 8);
	rec[len + 3] = (uint8_t)reg;
	return len + CHECK_LEN;
}

static bool
message_has(unsigned int message, unsigned int record)
{
	return strchr(example_records[record].messages, '0' + (int)message) != NULL;
}

static size_t
put_record(uint8_t *rec, size_t at, unsigned int message, unsigned int record)
{
	memcpy(rec + at, example_records[record].bytes, example_records[record].len);
	if (record == 0)
		rec[at + 2] = (uint8_t)message;
	return at + example_records[record].len;
}

/* Records of a message without check; returns their bytes. */
static size_t
put_message(uint8_t *rec, unsigned int message)
{
	size_t at = 0;

	for (unsigned int i = 0; i < RECORDS; i++)
		if (message_has(message, i))
			at = put_record(rec, at, message, i);
	return at;
}

/* What the parser should give for the example as another message. */
static struct weft_control
example_as(unsigned int message)
{
	struct weft_control c = example;

	c.type = (uint8_t)message;
	if (!message_has(message, 1)) {
		c.version = c.mode = c.max_flits = c.crc_order = c.isn_form = c.ide_mode = 0;
		c.credits = c.ide_bits = 0;
	}
	if (!message_has(message, 7)) {
		c.port = 0;
		memset(c.node, 0, sizeof(c.node));
	}
	c.differs = message_has(message, 10) ? c.differs : 0;
	c.flags = message_has(message, 11) ? c.flags : 0;
	c.session = message_has(message, 12) ? c.session : 0;
	c.count = message_has(message, 13) ? c.count : 0;
	c.padded = message_has(message, 14) ? c.padded : 0;
	if (!message_has(message, 16))
		memset(c.random, 0, sizeof(c.random));
	if (!message_has(message, 17) && !message_has(message, 18))
		memset(c.proof, 0, sizeof(c.proof));
	c.challenge = message_has(message, 19) ? c.challenge : 0;
	c.number = message_has(message, 20) ? c.number : 0;
	if (!message_has(message, 21))
		memset(c.mac, 0, sizeof(c.mac));
	c.memory = message_has(message, 22) ? c.memory : 0;
	c.known = message_has(message, 23) ? c.known : 0;
	if (!message_has(message, 24)) {
		memset(c.fabric, 0, sizeof(c.fabric));
		memset(c.name, 0, sizeof(c.name));
		c.instance = c.heard = c.runs_ms = 0;
	}
	return c;
}

static struct weft_guard guard;

static int
open_guard(void **state)
{
	(void)state;
	weft_guard_open(&guard, 4096);
	return 0;
}

static int
close_guard(void **state)
{
	(void)state;
	weft_guard_close(&guard);
	return 0;
}

WEFT_TEST_AROUND(open_guard, close_guard)

/* Parse a copy that ends where memory does. */
static enum weft_verdict
parse(const uint8_t *rec, size_t len, struct weft_control *c)
{
	uint8_t *last = weft_guard_last(&guard, len);

	memcpy(last, rec, len);
	return weft_control_parse(last, len, c);
}

static void
assert_same(const struct weft_control *a, const struct weft_control *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->max_flits, b->max_flits);
	assert_int_equal(a->crc_order, b->crc_order);
	assert_int_equal(a->isn_form, b->isn_form);
	assert_int_equal(a->ide_mode, b->ide_mode);
	assert_int_equal(a->differs, b->differs);
	assert_int_equal(a->port, b->port);
	assert_int_equal(a->credits, b->credits);
	assert_memory_equal(a->node, b->node, WEFT_NODE_ID_LEN);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->padded, b->padded);
	assert_int_equal(a->session, b->session);
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->ide_bits, b->ide_bits);
	assert_memory_equal(a->random, b->random, WEFT_RANDOM_LEN);
	assert_memory_equal(a->proof, b->proof, WEFT_PROOF_LEN);
	assert_true(a->challenge == b->challenge && a->number == b->number);
	assert_true(a->memory == b->memory && a->known == b->known);
	assert_memory_equal(a->mac, b->mac, WEFT_CONTROL_MAC_LEN);
	assert_memory_equal(a->fabric, b->fabric, WEFT_CONTROL_NAME_LEN);
	assert_memory_equal(a->name, b->name, WEFT_CONTROL_NAME_LEN);
	assert_true(a->instance == b->instance && a->heard == b->heard);
	assert_int_equal(a->runs_ms, b->runs_ms);
}

WEFT_TEST(records_are_the_bytes_of_the_page)
{
	for (unsigned int message = 1; message < WEFT_CONTROL_TYPES; message++) {
		uint8_t want[ROOM + WEFT_WIRE_FLIT_LEN] = { 0 }, rec[sizeof(want)];
		const struct weft_control as = example_as(message);
		struct weft_control all = example, c;
		size_t len = seal(want, put_message(want, message));

		assert_true(len <= WEFT_CONTROL_MAX);
		if (as.padded != 0)
			len = (size_t)as.padded * WEFT_WIRE_FLIT_LEN;
		all.type = (uint8_t)message; /* what it does not carry is not looked at */
		memset(rec, 0xEE, sizeof(rec));
		assert_int_equal(weft_control_build(rec, &all), len);
		assert_memory_equal(rec, want, len);
		assert_int_equal(rec[len], 0xEE);
		assert_int_equal(parse(want, len, &c), WEFT_OK);
		assert_same(&c, &as);
	}
}

static struct weft_control
draw_record(struct weft_rand *r)
{
	struct weft_control c = { .type = WEFT_CONTROL_HELLO };

	c.type += (uint8_t)weft_rand_below(r, WEFT_CONTROL_TYPES - 1);
	if (c.type <= WEFT_CONTROL_REFUSE) {
		c.version = (uint8_t)weft_rand_below(r, 256);
		c.mode = (uint8_t)weft_rand_below(r, 2);
		c.max_flits = (uint8_t)(1 + weft_rand_below(r, 64));
		c.crc_order = (uint8_t)weft_rand_below(r, 2);
		c.isn_form = (uint8_t)weft_rand_below(r, 3);
		c.ide_mode = (uint8_t)weft_rand_below(r, 3);
		c.credits = (uint16_t)weft_rand_below(r, 65536);
		c.ide_bits = c.ide_mode == 0 ? 0 : (uint16_t)weft_rand_below(r, 65536);
		if (c.ide_mode != 0 && c.type != WEFT_CONTROL_REFUSE)
			weft_rand_fill(r, c.random, sizeof(c.random));
		if (c.ide_mode != 0 && c.type == WEFT_CONTROL_WELCOME)
			weft_rand_fill(r, c.proof, sizeof(c.proof));
	}
	if ((c.type == WEFT_CONTROL_READY || c.type == WEFT_CONTROL_GONE ||
		    c.type == WEFT_CONTROL_ANNOUNCE) &&
		weft_rand_below(r, 2) == 0)
		weft_rand_fill(r, c.proof, sizeof(c.proof));
	if (c.type == WEFT_CONTROL_CHALLENGE || c.type == WEFT_CONTROL_GONE)
		c.challenge = weft_rand_u64(r) | 1;
	if ((c.type == WEFT_CONTROL_KEEPALIVE || c.type == WEFT_CONTROL_GOODBYE) &&
		weft_rand_below(r, 2) == 0) {
		c.number = weft_rand_u64(r) | 1;
		weft_rand_fill(r, c.mac, sizeof(c.mac));
	}
	if (c.type <= WEFT_CONTROL_REFUSE || c.type == WEFT_CONTROL_LOSS) {
		c.port = (uint16_t)weft_rand_below(r, 65536);
		weft_rand_fill(r, c.node, sizeof(c.node));
	}
	if (c.type <= WEFT_CONTROL_WELCOME && weft_rand_below(r, 2) == 0)
		c.memory = weft_rand_u64(r) | 1;
	if (c.type <= WEFT_CONTROL_WELCOME && weft_rand_below(r, 2) == 0)
		c.known = weft_rand_u64(r) | 1;
	if (c.type == WEFT_CONTROL_REFUSE)
		c.differs = (uint8_t)(1 + weft_rand_below(r, WEFT_PARAM_COUNT - 1));
	if (c.type == WEFT_CONTROL_WELCOME)
		c.session = 1 + (uint32_t)weft_rand_below(r, UINT32_MAX);
	if (c.type == WEFT_CONTROL_KEEPALIVE)
		c.flags = (uint8_t)weft_rand_below(r, 2);
	if (c.type == WEFT_CONTROL_ANNOUNCE) {
		weft_rand_fill(r, c.fabric, sizeof(c.fabric));
		weft_rand_fill(r, c.name, sizeof(c.name));
		c.instance = weft_rand_u64(r) | 1;
		c.heard = weft_rand_below(r, 2) == 0 ? 0 : weft_rand_u64(r);
		c.runs_ms = (uint32_t)weft_rand_u64(r);
	}
	if (c.type == WEFT_CONTROL_LOSS)
		c.count = 1 + (uint32_t)weft_rand_below(r, UINT32_MAX);
	return c;
}

WEFT_TEST(what_was_built_parses_to_the_same)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 2000; round++) {
		const size_t pad = (size_t)weft_rand_below(&r, 64);
		const struct weft_control c = draw_record(&r);
		uint8_t rec[WEFT_CONTROL_MAX + 64] = { 0 };
		struct weft_control got;
		size_t len;

		len = weft_control_build(rec, &c);
		assert_int_equal(parse(rec, len + pad, &got), WEFT_OK);
		assert_same(&got, &c);
	}
}

/* Each end of each range, and the values beyond it; those of four bytes at their ends only. */
WEFT_TEST(values_out_of_range_are_refused)
{
	static const struct {
		uint8_t record, message, least, most;
	} ranges[] = {
		{ 1, 3, 0, 255 }, { 2, 3, 0, 1 }, { 3, 3, 1, 64 }, { 4, 3, 0, 1 }, { 5, 3, 0, 2 },
		{ 6, 3, 1, 2 }, { 10, 3, 1, 12 }, { 11, 6, 0, 1 },
		{ 14, 1, 0, 2 }, /* two flits long, so it may say no more than that */
	};
	uint8_t rec[ROOM] = { 0 };
	struct weft_control c;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(ranges); i++) {
		size_t at = 0;

		for (unsigned int k = 0; k < ranges[i].record; k++)
			if (message_has(ranges[i].message, k))
				at += example_records[k].len;
		for (unsigned int v = 0; v < 256; v++) {
			const bool good = v >= ranges[i].least && v <= ranges[i].most;
			size_t len;

			memset(rec, 0, sizeof(rec));
			len = put_message(rec, ranges[i].message);
			rec[at + 2] = (uint8_t)v;
			seal(rec, len);
			if (parse(rec, ROOM, &c) != (good ? WEFT_OK : WEFT_DROP_BAD_CONTROL))
				fail_msg("record %u, value %u", ranges[i].record + 1, v);
		}
	}
	for (unsigned int record = 12; record <= 13; record++) {
		const unsigned int message = record == 12 ? 2 : 8;
		size_t len = put_message(rec, message);

		/*
		 * Session and count, from the end; behind a session stand records 15, 17 to 19, 24,
		 * 25.
		 */
		memset(rec + len - (record == 12 ? 83 : 4), 0, 4);
		seal(rec, len);
		assert_int_equal(parse(rec, ROOM, &c), WEFT_DROP_BAD_CONTROL);
		memset(rec + len - (record == 12 ? 83 : 4), 0xFF, 4);
		seal(rec, len);
		memset(rec + len + CHECK_LEN, 0, ROOM - len - CHECK_LEN);
		assert_int_equal(parse(rec, ROOM, &c), WEFT_OK);
		assert_int_equal(record == 12 ? c.session : c.count, UINT32_MAX);
	}
	/* The message itself. */
	for (unsigned int v = 0; v < 256; v++) {
		size_t len = put_message(rec, v < WEFT_CONTROL_TYPES ? v : 4);

		rec[2] = (uint8_t)v;
		len = seal(rec, len);
		assert_int_equal(parse(rec, v == 1 || v == 2 || v == 12 ? ROOM : len, &c),
			v >= 1 && v < WEFT_CONTROL_TYPES ? WEFT_OK : WEFT_DROP_BAD_CONTROL);
	}
}

/* Challenge and number, and a message without number and MAC. */
WEFT_TEST(long_numbers_are_never_zero)
{
	static const uint8_t plain[] = { 1, 1, WEFT_CONTROL_GOODBYE };
	uint8_t rec[ROOM] = { 0 };
	struct weft_control c;

	for (unsigned int i = 0; i < 2; i++) {
		const unsigned int record = 19 + i, message = i == 0 ? 9 : 4;
		size_t len = put_message(rec, message);

		for (unsigned int bit = 0; bit <= 64; bit++) {
			/* Behind the message, which is the first record; a MAC stands behind it. */
			memset(rec + 5, 0, 8);
			if (bit < 64)
				rec[5 + bit / 8] = (uint8_t)(1 << bit % 8);
			seal(rec, len);
			assert_int_equal(rec[3], example_records[record].bytes[0]);
			assert_int_equal(parse(rec, len + CHECK_LEN, &c),
				bit < 64 ? WEFT_OK : WEFT_DROP_BAD_CONTROL);
		}
	}
	memcpy(rec, plain, sizeof(plain));
	assert_int_equal(parse(rec, seal(rec, sizeof(plain)), &c), WEFT_OK);
	assert_true(c.number == 0);
}

/* The number of a process is not 0; that which it answers may be: it asks. */
WEFT_TEST(an_announcement_names_its_sender_and_may_answer_nobody)
{
	struct weft_control c = { .type = WEFT_CONTROL_ANNOUNCE, .instance = 1 }, got;
	uint8_t rec[ROOM];
	size_t len = weft_control_build(rec, &c), at = len - CHECK_LEN - 6 - 10 - 10;

	assert_int_equal(parse(rec, len, &got), WEFT_OK);
	assert_true(got.heard == 0 && got.runs_ms == 0);
	assert_int_equal(rec[at], 28);
	memset(rec + at + 2, 0, 8);
	seal(rec, len - CHECK_LEN);
	assert_int_equal(parse(rec, len, &got), WEFT_DROP_BAD_CONTROL);
}

/* What the MAC is made of changes with all that has a meaning, and not with the MAC. */
WEFT_TEST(the_image_holds_all_records_but_mac_and_check)
{
	uint8_t want[ROOM], got[ROOM];

	for (unsigned int message = 1; message < WEFT_CONTROL_TYPES; message++) {
		struct weft_control c = example;
		size_t len = 0;

		c.type = (uint8_t)message;
		for (unsigned int i = 0; i < RECORDS; i++)
			if (message_has(message, i) && i != 21)
				len = put_record(want, len, message, i);
		memset(c.mac, 0xA5, sizeof(c.mac));
		assert_int_equal(weft_control_image(got, &c), len);
		assert_memory_equal(got, want, len);
	}
}

WEFT_TEST(every_truncation_is_refused)
{
	for (unsigned int message = 1; message < WEFT_CONTROL_TYPES; message++) {
		uint8_t rec[ROOM] = { 0 }, cut[ROOM];
		size_t full = seal(rec, put_message(rec, message));
		struct weft_control c;

		if (message_has(message, 14))
			full = ROOM; /* it says so itself */
		for (size_t len = 0; len < full; len++) {
			assert_int_equal(parse(rec, len, &c), WEFT_DROP_BAD_CONTROL);
			/* Cut short and padded again; a zero at the end cannot be told. */
			memset(cut, 0, sizeof(cut));
			memcpy(cut, rec, len);
			if (memcmp(cut, rec, sizeof(cut)) != 0)
				assert_int_equal(
					parse(cut, sizeof(cut), &c), WEFT_DROP_BAD_CONTROL);
		}
	}
}

WEFT_TEST(missing_repeated_and_strange_records_are_refused)
{
	for (unsigned int message = 1; message < WEFT_CONTROL_TYPES; message++)
		for (unsigned int i = 0; i < RECORDS; i++) {
			uint8_t rec[ROOM] = { 0 };
			struct weft_control c;
			size_t len = 0;

			/* Without it, if the message has it. */
			for (unsigned int k = 0; k < RECORDS; k++)
				if (message_has(message, k) && k != i)
					len = put_record(rec, len, message, k);
			seal(rec, len);
			/*
			 * READY, GONE and ANNOUNCE may go without a proof, who has no memory says
			 * none.
			 */
			assert_int_equal(parse(rec, ROOM, &c),
				message_has(message, i) && i != 18 && i != 22 && i != 23
					? WEFT_DROP_BAD_CONTROL
					: WEFT_OK);

			/* Twice, or once where it does not belong. */
			memset(rec, 0, sizeof(rec));
			len = put_message(rec, message);
			len = put_record(rec, len, message, i);
			seal(rec, len);
			assert_int_equal(parse(rec, ROOM, &c), WEFT_DROP_BAD_CONTROL);
		}
}

WEFT_TEST(wrong_lengths_are_refused)
{
	struct weft_control c;

	/* Each record made every other length; those behind it follow in their place. */
	for (unsigned int message = 1; message < WEFT_CONTROL_TYPES; message++)
		for (unsigned int i = 0; i < RECORDS; i++)
			for (unsigned int value_len = 0; message_has(message, i) && value_len < 256;
				value_len++) {
				uint8_t rec[ROOM] = { 0 };
				size_t len = 0;

				for (unsigned int k = 0; k < RECORDS; k++) {
					const size_t from = len;

					if (!message_has(message, k))
						continue;
					len = put_record(rec, len, message, k);
					if (k != i)
						continue;
					rec[from + 1] = (uint8_t)value_len;
					for (len = from + example_records[k].len;
						len < from + 2 + value_len; len++)
						rec[len] = 1;
					len = from + 2 + value_len;
				}
				seal(rec, len);
				assert_int_equal(parse(rec, ROOM, &c),
					value_len + 2 == example_records[i].len
						? WEFT_OK
						: WEFT_DROP_BAD_CONTROL);
			}
}

WEFT_TEST(records_come_in_any_order)
{
	for (unsigned int message = 1; message < WEFT_CONTROL_TYPES; message++) {
		const struct weft_control as = example_as(message);
		uint8_t rec[ROOM] = { 0 };
		struct weft_control c;
		size_t len = 0;

		for (unsigned int i = RECORDS; i-- != 0;)
			if (message_has(message, i))
				len = put_record(rec, len, message, i);
		seal(rec, len);
		assert_int_equal(parse(rec, ROOM, &c), WEFT_OK);
		assert_same(&c, &as);
	}
}

WEFT_TEST(unknown_records_are_passed_over)
{
	const struct weft_control as = example_as(WEFT_CONTROL_REFUSE);
	struct weft_control c;

	for (unsigned int type = RECORDS + 2; type < 256; type++) {
		uint8_t rec[ROOM];
		const size_t value_len = (type * 7) % 256;
		size_t len = 2 + value_len;

		rec[0] = (uint8_t)type;
		rec[1] = (uint8_t)value_len;
		memset(rec + 2, 0xFF, value_len);
		len += put_message(rec + len, WEFT_CONTROL_REFUSE);
		len = seal(rec, len);
		assert_int_equal(parse(rec, len, &c), WEFT_OK);
		assert_same(&c, &as);
	}
}

WEFT_TEST(padding_holds_zeros_unless_it_was_announced)
{
	uint8_t rec[ROOM] = { 0 };
	struct weft_control c;
	size_t len = seal(rec, put_message(rec, WEFT_CONTROL_REFUSE));

	assert_int_equal(parse(rec, len + 20, &c), WEFT_OK);
	for (size_t at = len; at < len + 20; at++) {
		rec[at] = 1;
		assert_int_equal(parse(rec, len + 20, &c), WEFT_DROP_BAD_CONTROL);
		rec[at] = 0;
	}
	/* A bit error in kilobytes of padding must not cost a bring-up. */
	len = seal(rec, put_message(rec, WEFT_CONTROL_HELLO));
	memset(rec + len, 0xA5, ROOM - len);
	assert_int_equal(parse(rec, ROOM, &c), WEFT_OK);
	assert_int_equal(parse(rec, ROOM - 1, &c), WEFT_DROP_BAD_CONTROL);
}

/*
 * One or two wrong bits anywhere in the records never get through: RESET is a bit from KEEPALIVE.
 */
WEFT_TEST(bit_errors_are_refused)
{
	for (unsigned int message = 1; message < WEFT_CONTROL_TYPES; message++) {
		uint8_t rec[ROOM] = { 0 };
		const size_t len = seal(rec, put_message(rec, message));
		struct weft_control c;

		for (size_t a = 0; a < 8 * len; a++)
			for (size_t b = a; b < 8 * len; b++) {
				rec[a / 8] ^= (uint8_t)(1u << a % 8);
				if (b != a)
					rec[b / 8] ^= (uint8_t)(1u << b % 8);
				if (parse(rec, ROOM, &c) == WEFT_OK)
					fail_msg("message %u, bits %zu and %zu", message, a, b);
				rec[a / 8] ^= (uint8_t)(1u << a % 8);
				if (b != a)
					rec[b / 8] ^= (uint8_t)(1u << b % 8);
			}
	}
}

WEFT_TEST(first_difference_is_named)
{
	struct weft_control theirs = example;

	/* What each end has for itself need not agree. */
	theirs.type = WEFT_CONTROL_HELLO;
	theirs.max_flits = 1;
	theirs.port++;
	theirs.credits++;
	theirs.node[0]++;
	theirs.differs = WEFT_PARAM_NONE;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_NONE);
	memset(theirs.random, 0, sizeof(theirs.random));
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_NONE);
	theirs.ide_bits = 0x0205; /* protects poison, as told, and cannot */
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_IDE_POISON);
	theirs.ide_bits = 0x0601;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_IDE_POISON);
	theirs.ide_bits = 0x0007;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_IDE_STOP);
	theirs.ide_bits = 0x0604;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_IDE_PCRC);
	theirs.ide_mode = 2;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_IDE_MODE);
	theirs.isn_form = 0;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_ISN_FORM);
	theirs.crc_order = 0;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_CRC_ORDER);
	theirs.mode = WEFT_MODE_CXL;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_MODE);
	theirs.version = 2;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_VERSION);
}

WEFT_TEST(parameters_have_words)
{
	struct weft_control odd = {
		.version = 200, .mode = 2, .crc_order = 2, .isn_form = 3, .ide_mode = 3
	};

	assert_string_equal(weft_control_param_name(WEFT_PARAM_NONE), "nothing");
	assert_string_equal(weft_control_param_name(WEFT_PARAM_CRC_ORDER), "CRC order");
	assert_string_equal(weft_control_param_name(WEFT_PARAM_COUNT), "unknown");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_VERSION), "1");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_MODE), "rxl");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_CRC_ORDER), "r7 first");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_ISN_FORM), "none");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_IDE_MODE), "containment");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_FRAME_SIZE), "35");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_IDE_PCRC), "off");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_IDE_STOP), "off");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_IDE_POISON), "on");
	assert_string_equal(
		weft_control_param_name(WEFT_PARAM_IDE_POISON), "IDE protection of poison");
	odd.max_flits = 65;
	for (int p = WEFT_PARAM_NONE; p <= WEFT_PARAM_FRAME_SIZE; p++)
		assert_string_equal(
			weft_control_param_value(&odd, (enum weft_control_param)p), "unknown");
}
