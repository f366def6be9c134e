/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is said of a line that was read: by who wrote what, and where it comes from. */

#include "weft_test.h"

#include "weft_line.h"
#include "weft_line_check.h"

#define ADDR UINT64_C(0x40000040)

static const struct weft_line_owner owner = { .seed = 9, .writer = 3, .run = 0 };

/* A line as some write of somebody leaves it. */
static enum weft_line_verdict
judge(const struct weft_line_state *s, uint64_t addr, uint64_t version, uint32_t writer,
	uint64_t *got)
{
	const struct weft_line_id id = { addr, version, writer };
	uint8_t data[WEFT_LINE_LEN];

	weft_line_fill(data, owner.seed, &id);
	return weft_line_check(&owner, s, ADDR, data, got);
}

WEFT_TEST(the_next_write_is_what_a_read_then_wants)
{
	struct weft_line_state s;
	uint8_t data[WEFT_LINE_LEN];
	uint64_t version;

	weft_line_state_init(&s, owner.run);
	for (uint64_t i = 1; i <= 3; i++) {
		weft_line_check_next(&owner, &s, ADDR, data);
		/* It has not begun. */
		assert_int_equal(
			weft_line_check(&owner, &s, ADDR, data, &version), WEFT_LINE_STALE);
		weft_line_state_begin(&s, owner.run);
		weft_line_state_settle(&s);
		assert_int_equal(weft_line_check(&owner, &s, ADDR, data, &version), WEFT_LINE_GOOD);
		assert_int_equal(version, i);
	}
}

WEFT_TEST(what_is_wrong_with_a_line_is_told_apart)
{
	struct weft_line_state s = { .last = 5 };
	uint8_t data[WEFT_LINE_LEN] = { 0 };
	uint64_t version;

	assert_int_equal(judge(&s, ADDR, 5, owner.writer, &version), WEFT_LINE_GOOD);
	assert_int_equal(judge(&s, ADDR, 4, owner.writer, &version), WEFT_LINE_STALE);
	assert_int_equal(version, 4);
	assert_int_equal(judge(&s, ADDR, 6, owner.writer, &version), WEFT_LINE_STALE);
	assert_int_equal(judge(&s, ADDR + 64, 5, owner.writer, &version), WEFT_LINE_MISPLACED);
	assert_int_equal(judge(&s, ADDR, 5, owner.writer + 1, &version), WEFT_LINE_MISPLACED);
	assert_int_equal(weft_line_check(&owner, &s, ADDR, data, &version), WEFT_LINE_STALE);
	assert_int_equal(version, 0);
	data[17] = 1;
	assert_int_equal(weft_line_check(&owner, &s, ADDR, data, &version), WEFT_LINE_DAMAGED);
}

WEFT_TEST(a_lost_write_leaves_the_old_and_the_new)
{
	struct weft_line_state s = { .last = 5 };
	uint64_t version;

	weft_line_state_begin(&s, owner.run);
	weft_line_state_doubt(&s);
	assert_int_equal(judge(&s, ADDR, 4, owner.writer, &version), WEFT_LINE_STALE);
	assert_int_equal(judge(&s, ADDR, 5, owner.writer, &version), WEFT_LINE_GOOD);
	assert_int_equal(judge(&s, ADDR, 6, owner.writer, &version), WEFT_LINE_GOOD);
	weft_line_state_seen(&s, owner.run, 6);
	assert_int_equal(judge(&s, ADDR, 5, owner.writer, &version), WEFT_LINE_STALE);
}
