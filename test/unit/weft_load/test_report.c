/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What JSON says of blocks that are not what their signatures say; an array is the memory. */

#include "weft_test.h"

#include <inttypes.h>

#include <jansson.h>

#include "load.h"
#include "sign.h"
#include "weft_sig_text.h"

#define SIZE 512
#define LEN 576 /* with its signature, in whole lines */
#define BLOCKS 2

static uint8_t memory[BLOCKS * LEN];

/* Every write is spoiled; the first bit of block 0 is, by the first of all. */
static struct check *
make_check(void)
{
	static struct weft_sig_text room;
	const struct weft_sig_domain *d;
	struct check *k;
	char err[200];

	assert_int_equal(weft_sig_text_parse(&room, "crc32c:512", &d, err, sizeof(err)), 0);
	check_name("g0");
	k = check_make_signed(sign_make(d, SIZE, 5), 0, LEN, BLOCKS, 1);
	assert_non_null(k);
	check_fill(k, 0, BLOCKS * LEN / CHECK_LINE, memory);
	return k;
}

static void
read_block(struct check *k, uint64_t block)
{
	check_begin(k, block, false, NULL);
	check_end_read(k, block, 0, memory + block * LEN);
}

/* The signature that stands behind a block, as people write it. */
static uint64_t
stored(uint64_t block)
{
	return weft_get_le32(memory + block * LEN + SIZE);
}

WEFT_TEST(digits_are_those_of_the_line_and_none_where_there_is_nothing_to_compare)
{
	static struct load load = { .opt = { .region = "g0", .pattern_text = "random" },
		.node = "h0" };
	static struct load_report r = { .load = &load };
	struct check *k = make_check();
	const char *expected, *got;
	json_t *o, *list, *row;
	uint64_t was;

	/* One that another has written to, and one whose error is not there. */
	was = stored(0);
	memory[SIZE] ^= 0x80;
	read_block(k, 0);
	check_begin(k, 1, true, memory + LEN);
	check_end_write(k, 1, 0, 1);
	memory[LEN] ^= 1;
	read_block(k, 1);
	assert_int_equal(check_counts(k)->mismatches, 2);
	o = report_json(&r);
	list = json_object_get(o, "first_mismatches");
	assert_int_equal(json_array_size(list), 2);
	row = json_array_get(list, 0);
	assert_int_equal(json_unpack(row, "{s:s, s:s}", "expected", &expected, "got", &got), 0);
	assert_int_equal(strlen(expected), 16);
	assert_int_equal(strtoull(expected, NULL, 16), was);
	assert_int_equal(strtoull(got, NULL, 16), stored(0));
	row = json_array_get(list, 1);
	assert_int_equal(json_unpack(row, "{s:s, s:s}", "expected", &expected, "got", &got), 0);
	assert_string_equal(expected, "");
	assert_string_equal(got, "");
	json_decref(o);
	check_free(k);
}
