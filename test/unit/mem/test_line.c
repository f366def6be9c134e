/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lines tell what they are, no bit of one may turn, one of other parts is another throughout. */

#include "weft_test.h"

#include "weft_line.h"

#define ROUNDS 2000
#define FILL 24 /* bytes that tell; the others depend on them */

static struct weft_line_id
draw_id(struct weft_rand *r)
{
	return (struct weft_line_id){ weft_rand_u64(r) & ~UINT64_C(63), weft_rand_u64(r) | 1,
		(uint32_t)weft_rand_u64(r) };
}

WEFT_TEST(a_line_tells_what_it_is)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const struct weft_line_id id = draw_id(&r);
		const uint64_t seed = weft_rand_u64(&r);
		uint8_t line[WEFT_LINE_LEN];
		struct weft_line_id got;

		weft_line_fill(line, seed, &id);
		assert_true(weft_line_read(line, seed, &got));
		assert_true(got.hpa == id.hpa && got.version == id.version);
		assert_int_equal(got.writer, id.writer);
		assert_false(weft_line_is_zero(line));
		assert_false(weft_line_read(line, seed ^ WEFT_BIT64(i % 64), &got));
	}
}

WEFT_TEST(no_bit_of_a_line_may_turn)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < ROUNDS / 10; i++) {
		const struct weft_line_id id = draw_id(&r);
		uint8_t line[WEFT_LINE_LEN];
		struct weft_line_id got;

		weft_line_fill(line, i, &id);
		for (unsigned int bit = 0; bit < 8 * WEFT_LINE_LEN; bit++) {
			line[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(weft_line_read(line, i, &got));
			line[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		assert_true(weft_line_read(line, i, &got));
	}
	assert_false(weft_line_read(
		(const uint8_t[WEFT_LINE_LEN]){ 0 }, 0, &(struct weft_line_id){ 0 }));
}

/* Each bit of each part, and parts that change places: every word behind them is another. */
WEFT_TEST(lines_of_other_parts_have_nothing_in_common)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const struct weft_line_id id = draw_id(&r);
		struct weft_line_id other = id;
		uint8_t a[WEFT_LINE_LEN], b[WEFT_LINE_LEN];

		switch (i % 4) {
		case 0: other.hpa ^= WEFT_BIT64(i / 4 % 64); break;
		case 1: other.version ^= WEFT_BIT64(i / 4 % 64); break;
		case 2: other.writer ^= 1u << i / 4 % 32; break;
		default: other = (struct weft_line_id){ id.version, id.hpa, id.writer };
		}
		weft_line_fill(a, 1, &id);
		weft_line_fill(b, 1, &other);
		for (unsigned int k = FILL; k < WEFT_LINE_LEN; k += 8)
			assert_true(weft_get_le64(a + k) != weft_get_le64(b + k));
	}
}
