/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Records of link control frames: the bytes of doc/wire.md, build and parse against each other,
 * every truncation, repetition and omission, values out of range, and noise. Records to be parsed
 * end at an unmapped page, so that a read past them dies in any build.
 */

#include "weft_test.h"

#include "weft_control.h"
#include "weft_guard.h"
#include "weft_wire.h"

#define RECORDS 11
#define BUILT_LEN 50 /* of all records, as doc/wire.md adds them up */

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
};

static const uint8_t example_records[BUILT_LEN] = { 1, 1, 3, 2, 1, 1, 3, 1, 1, 4, 1, 35, 5, 1, 1, 6,
	1, 2, 7, 1, 1, 8, 2, 0x12, 0x34, 9, 16, 'g', 'f', 'd', '-', '7', 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 10, 2, 0x01, 0x02, 11, 1, 4 };

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
}

/* Offset and length of record @p i in a run of records. */
static size_t
record_at(const uint8_t *rec, unsigned int i, size_t *len)
{
	size_t at = 0;

	while (i-- != 0)
		at += 2u + rec[at + 1];
	*len = 2u + rec[at + 1];
	return at;
}

static void
records_are_the_bytes_of_the_page(void **state)
{
	uint8_t rec[WEFT_CONTROL_MAX];
	struct weft_control c;

	(void)state;
	assert_int_equal(weft_control_build(rec, &example), BUILT_LEN);
	assert_memory_equal(rec, example_records, BUILT_LEN);
	assert_int_equal(parse(example_records, BUILT_LEN, &c), WEFT_OK);
	assert_same(&c, &example);
}

static void
what_was_built_parses_to_the_same(void **state)
{
	struct weft_rand r;

	(void)state;
	weft_test_seed(&r, __func__);
	for (int round = 0; round < 2000; round++) {
		struct weft_control c = {
			.type = (uint8_t)(1 + weft_rand_below(&r, 4)),
			.version = (uint8_t)weft_rand_below(&r, 256),
			.mode = (uint8_t)weft_rand_below(&r, 2),
			.max_flits = (uint8_t)(1 + weft_rand_below(&r, 64)),
			.crc_order = (uint8_t)weft_rand_below(&r, 2),
			.isn_form = (uint8_t)weft_rand_below(&r, 3),
			.ide_mode = (uint8_t)weft_rand_below(&r, 3),
			.differs = (uint8_t)weft_rand_below(&r, WEFT_PARAM_COUNT),
			.port = (uint16_t)weft_rand_below(&r, 65536),
			.credits = (uint16_t)weft_rand_below(&r, 65536),
		};
		const size_t pad = (size_t)weft_rand_below(&r, 64);
		uint8_t rec[WEFT_CONTROL_MAX + 64] = { 0 };
		struct weft_control got;

		weft_rand_fill(&r, c.node, sizeof(c.node));
		assert_int_equal(weft_control_build(rec, &c), BUILT_LEN);
		assert_int_equal(parse(rec, BUILT_LEN + pad, &got), WEFT_OK);
		assert_same(&got, &c);
	}
}

/* Each end of each range, and the value one beyond it. */
static void
values_out_of_range_are_refused(void **state)
{
	static const struct {
		uint8_t record, least, most;
	} ranges[] = {
		{ 0, 1, 4 },
		{ 1, 0, 255 },
		{ 2, 0, 1 },
		{ 3, 1, 64 },
		{ 4, 0, 1 },
		{ 5, 0, 2 },
		{ 6, 0, 2 },
		{ 10, 0, 5 },
	};
	struct weft_control c;

	(void)state;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(ranges); i++) {
		uint8_t rec[BUILT_LEN];
		size_t at, len;

		memcpy(rec, example_records, sizeof(rec));
		at = record_at(rec, ranges[i].record, &len);
		for (unsigned int v = 0; v < 256; v++) {
			const bool good = v >= ranges[i].least && v <= ranges[i].most;

			rec[at + 2] = (uint8_t)v;
			if (parse(rec, sizeof(rec), &c) != (good ? WEFT_OK : WEFT_DROP_BAD_CONTROL))
				fail_msg("record %u, value %u", ranges[i].record + 1, v);
		}
	}
}

static void
every_truncation_is_refused(void **state)
{
	uint8_t padded[BUILT_LEN] = { 0 };
	struct weft_control c;

	(void)state;
	for (size_t len = 0; len < BUILT_LEN; len++) {
		assert_int_equal(parse(example_records, len, &c), WEFT_DROP_BAD_CONTROL);
		/* Cut short and padded again: a record is missing or has another value. */
		memset(padded, 0, sizeof(padded));
		memcpy(padded, example_records, len);
		if (parse(padded, sizeof(padded), &c) == WEFT_OK) {
			assert_int_equal(len, BUILT_LEN - 1); /* cut in the last value, now 0 */
			assert_int_equal(c.differs, WEFT_PARAM_NONE);
		}
	}
}

static void
missing_and_repeated_records_are_refused(void **state)
{
	struct weft_control c;

	(void)state;
	for (unsigned int i = 0; i < RECORDS; i++) {
		uint8_t rec[2 * BUILT_LEN];
		size_t len, at = record_at(example_records, i, &len);

		memcpy(rec, example_records, at);
		memcpy(rec + at, example_records + at + len, BUILT_LEN - at - len);
		assert_int_equal(parse(rec, BUILT_LEN - len, &c), WEFT_DROP_BAD_CONTROL);

		memcpy(rec, example_records, BUILT_LEN);
		memcpy(rec + BUILT_LEN, example_records + at, len);
		assert_int_equal(parse(rec, BUILT_LEN + len, &c), WEFT_DROP_BAD_CONTROL);
	}
}

static void
wrong_lengths_are_refused(void **state)
{
	struct weft_control c;

	(void)state;
	for (unsigned int i = 0; i < RECORDS; i++) {
		uint8_t rec[BUILT_LEN + 256];
		size_t len, at = record_at(example_records, i, &len);

		/* The record made every other length; those behind it follow in their place. */
		for (unsigned int value_len = 0; value_len < 256; value_len++) {
			memcpy(rec, example_records, at + 2);
			rec[at + 1] = (uint8_t)value_len;
			memset(rec + at + 2, 1, value_len);
			memcpy(rec + at + 2 + value_len, example_records + at + len,
				BUILT_LEN - at - len);
			assert_int_equal(parse(rec, BUILT_LEN - len + 2 + value_len, &c),
				value_len + 2 == len ? WEFT_OK : WEFT_DROP_BAD_CONTROL);
		}
	}
}

static void
records_come_in_any_order(void **state)
{
	uint8_t rec[BUILT_LEN];
	struct weft_control c;
	size_t to = 0;

	(void)state;
	for (unsigned int i = RECORDS; i-- != 0;) {
		size_t len, at = record_at(example_records, i, &len);

		memcpy(rec + to, example_records + at, len);
		to += len;
	}
	assert_int_equal(parse(rec, to, &c), WEFT_OK);
	assert_same(&c, &example);
}

static void
unknown_records_are_passed_over(void **state)
{
	struct weft_control c;

	(void)state;
	for (unsigned int type = RECORDS + 1; type < 256; type++) {
		uint8_t rec[BUILT_LEN + 2 + 255];
		const size_t value_len = (type * 7) % 256;

		rec[0] = (uint8_t)type;
		rec[1] = (uint8_t)value_len;
		memset(rec + 2, 0xFF, value_len);
		memcpy(rec + 2 + value_len, example_records, BUILT_LEN);
		assert_int_equal(parse(rec, 2 + value_len + BUILT_LEN, &c), WEFT_OK);
		assert_same(&c, &example);
	}
}

static void
padding_holds_zeros_only(void **state)
{
	uint8_t rec[BUILT_LEN + 20] = { 0 };
	struct weft_control c;

	(void)state;
	memcpy(rec, example_records, BUILT_LEN);
	assert_int_equal(parse(rec, sizeof(rec), &c), WEFT_OK);
	for (size_t at = BUILT_LEN + 1; at < sizeof(rec); at++) {
		rec[at] = 1;
		assert_int_equal(parse(rec, sizeof(rec), &c), WEFT_DROP_BAD_CONTROL);
		rec[at] = 0;
	}
}

/* Half of it pure noise, half a good run of records with a few bytes changed. */
static void
noise_never_yields_a_value_out_of_range(void **state)
{
	struct weft_rand r;
	unsigned int good = 0;

	(void)state;
	weft_test_seed(&r, __func__);
	for (int round = 0; round < 100000; round++) {
		uint8_t rec[BUILT_LEN + 8] = { 0 };
		size_t len = (size_t)weft_rand_below(&r, sizeof(rec) + 1);
		struct weft_control c;

		if (round % 2 == 0) {
			weft_rand_fill(&r, rec, len);
		} else {
			len = sizeof(rec);
			memcpy(rec, example_records, BUILT_LEN);
			for (unsigned int i = 0; i < 1 + weft_rand_below(&r, 3); i++)
				rec[weft_rand_below(&r, len)] = (uint8_t)weft_rand_below(&r, 256);
		}
		if (parse(rec, len, &c) != WEFT_OK)
			continue;
		good++;
		assert_in_range(c.type, WEFT_CONTROL_HELLO, WEFT_CONTROL_GOODBYE);
		assert_in_range(c.mode, WEFT_MODE_CXL, WEFT_MODE_RXL);
		assert_in_range(c.max_flits, 1, WEFT_WIRE_FLITS_MAX);
		assert_in_range(c.crc_order, 0, 1);
		assert_in_range(c.isn_form, 0, 2);
		assert_in_range(c.ide_mode, 0, 2);
		assert_in_range(c.differs, WEFT_PARAM_NONE, WEFT_PARAM_COUNT - 1);
	}
	assert_in_range(good, 1000, 49000); /* both outcomes were met */
}

static void
first_difference_is_named(void **state)
{
	struct weft_control theirs = example;

	(void)state;
	/* What each end has for itself need not agree. */
	theirs.type = WEFT_CONTROL_HELLO;
	theirs.max_flits = 1;
	theirs.port++;
	theirs.credits++;
	theirs.node[0]++;
	theirs.differs = WEFT_PARAM_NONE;
	assert_int_equal(weft_control_compare(&example, &theirs), WEFT_PARAM_NONE);
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

static void
parameters_have_words(void **state)
{
	struct weft_control odd = {
		.version = 200, .mode = 2, .crc_order = 2, .isn_form = 3, .ide_mode = 3
	};

	(void)state;
	assert_string_equal(weft_control_param_name(WEFT_PARAM_NONE), "nothing");
	assert_string_equal(weft_control_param_name(WEFT_PARAM_CRC_ORDER), "CRC order");
	assert_string_equal(weft_control_param_name(WEFT_PARAM_COUNT), "unknown");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_VERSION), "1");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_MODE), "rxl");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_CRC_ORDER), "r7 first");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_ISN_FORM), "none");
	assert_string_equal(weft_control_param_value(&example, WEFT_PARAM_IDE_MODE), "containment");
	for (int p = WEFT_PARAM_NONE; p <= WEFT_PARAM_COUNT; p++)
		assert_string_equal(
			weft_control_param_value(&odd, (enum weft_control_param)p), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_the_bytes_of_the_page),
		cmocka_unit_test(what_was_built_parses_to_the_same),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(missing_and_repeated_records_are_refused),
		cmocka_unit_test(wrong_lengths_are_refused),
		cmocka_unit_test(records_come_in_any_order),
		cmocka_unit_test(unknown_records_are_passed_over),
		cmocka_unit_test(padding_holds_zeros_only),
		cmocka_unit_test(noise_never_yields_a_value_out_of_range),
		cmocka_unit_test(first_difference_is_named),
		cmocka_unit_test(parameters_have_words),
	};

	return cmocka_run_group_tests(tests, open_guard, close_guard);
}
