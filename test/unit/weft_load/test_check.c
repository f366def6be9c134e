/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What --verify lets begin together, and what it takes for right; an array is the memory. */

#include "weft_test.h"

#include "check.h"

#define BASE 4096 /* of the part */
#define LINES 2 /* of a block */
#define SIZE (LINES * CHECK_LINE)
#define BLOCKS 8
#define WRITER 2
#define SECOND UINT64_C(1000000000)

static struct check *k;
static uint8_t memory[BLOCKS * SIZE];

static int
begin(void **state)
{
	(void)state;
	check_name("g0");
	k = check_make(77, WRITER, BASE, SIZE, BLOCKS);
	assert_non_null(k);
	check_fill(k, 0, BLOCKS * LINES, memory);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	check_free(k);
	return 0;
}

WEFT_TEST_EACH(begin, end)

static uint8_t *
at(uint64_t block)
{
	return memory + block * SIZE;
}

/* A write of which the memory has the first lines. */
static void
write_block(uint64_t block, int rc, unsigned int lines, uint64_t now_ns)
{
	uint8_t data[SIZE];

	check_begin(k, block, true, data);
	memcpy(at(block), data, lines * CHECK_LINE);
	check_end_write(k, block, rc, now_ns);
}

static void
read_block(uint64_t block)
{
	check_begin(k, block, false, NULL);
	check_end_read(k, block, 0, at(block));
}

static void
expect(uint64_t verified, uint64_t mismatches)
{
	assert_int_equal(check_counts(k)->verified, verified);
	assert_int_equal(check_counts(k)->mismatches, mismatches);
}

/* @return the block that is chosen, +100 for a write; -1: none */
static int
choose(uint64_t block, bool is_write, uint64_t now_ns)
{
	if (!check_choose(k, now_ns, &block, &is_write))
		return -1;
	return (int)block + (is_write ? 100 : 0);
}

WEFT_TEST(what_was_filled_and_written_is_right)
{
	check_lines(k, 0, BLOCKS * LINES, memory);
	expect(BLOCKS * LINES, 0);
	for (unsigned int i = 0; i < 100; i++)
		write_block(i % BLOCKS, 0, LINES, 1);
	for (uint64_t b = 0; b < BLOCKS; b++)
		read_block(b);
	expect(2 * BLOCKS * LINES, 0);
}

WEFT_TEST(filling_again_changes_nothing)
{
	uint8_t again[BLOCKS * SIZE];

	check_fill(k, 0, BLOCKS * LINES, again);
	assert_memory_equal(again, memory, sizeof(again));
}

WEFT_TEST(reads_go_together_and_a_write_alone)
{
	uint8_t data[SIZE];

	check_begin(k, 3, false, NULL);
	assert_int_equal(choose(3, false, 1), 3);
	assert_int_equal(choose(3, true, 1), 104);
	check_begin(k, 3, false, NULL);
	check_end_read(k, 3, 0, at(3));
	assert_int_equal(choose(3, true, 1), 104);
	check_end_read(k, 3, 0, at(3));
	assert_int_equal(choose(3, true, 1), 103);
	check_begin(k, 3, true, data);
	assert_int_equal(choose(3, false, 1), 4);
	assert_int_equal(choose(3, true, 1), 104);
	memcpy(at(3), data, SIZE);
	check_end_write(k, 3, 0, 1);
	assert_int_equal(choose(3, true, 1), 103);
}

/* Behind the last block comes the first, and then there is none. */
WEFT_TEST(the_next_block_is_looked_for_all_around)
{
	uint8_t data[SIZE];

	for (uint64_t b = 1; b < BLOCKS; b++)
		check_begin(k, b, true, data);
	assert_int_equal(choose(1, true, 1), 100);
	assert_int_equal(choose(BLOCKS - 1, false, 1), 0);
	check_begin(k, 0, true, data);
	for (uint64_t b = 0; b < BLOCKS; b++)
		assert_int_equal(choose(b, b % 2 == 0, 1), -1);
}

WEFT_TEST(a_lost_write_may_be_there_or_not_line_by_line)
{
	for (unsigned int lines = 0; lines <= LINES; lines++) {
		write_block(lines, -ETIMEDOUT, lines, 5 * SECOND);
		read_block(lines);
	}
	expect((LINES + 1) * LINES, 0);
	/* What was seen of it stays. */
	end(NULL);
	begin(NULL);
	write_block(1, 0, LINES, 1);
	write_block(1, -ETIMEDOUT, LINES, 5 * SECOND);
	read_block(1);
	expect(LINES, 0);
}

WEFT_TEST(what_a_lost_write_may_not_have_left_is_wrong)
{
	uint8_t old[SIZE];

	memcpy(old, at(1), SIZE);
	write_block(1, 0, LINES, 1);
	write_block(1, -ETIMEDOUT, LINES, 5 * SECOND);
	/* Neither the one before it nor itself. */
	check_begin(k, 1, false, NULL);
	check_end_read(k, 1, 0, old);
	expect(0, LINES);
}

WEFT_TEST(after_a_lost_write_a_block_is_read_for_a_while)
{
	write_block(2, -ETIMEDOUT, 0, 5 * SECOND);
	assert_int_equal(choose(2, true, 5 * SECOND), 2);
	assert_int_equal(choose(2, true, 5 * SECOND + CHECK_QUARANTINE_NS - 1), 2);
	assert_int_equal(choose(2, true, 5 * SECOND + CHECK_QUARANTINE_NS), 102);
	assert_int_equal(choose(1, true, 5 * SECOND), 101);
	/* A second loss counts from its own time. */
	write_block(1, -ETIMEDOUT, 0, 9 * SECOND);
	assert_int_equal(choose(1, true, 9 * SECOND + CHECK_QUARANTINE_NS - 1), 1);
	assert_int_equal(choose(1, true, 9 * SECOND + CHECK_QUARANTINE_NS), 101);
}

WEFT_TEST(a_read_that_failed_says_nothing)
{
	memset(at(0), 0xFF, SIZE);
	check_begin(k, 0, false, NULL);
	check_end_read(k, 0, -EIO, at(0));
	expect(0, 0);
	assert_int_equal(choose(0, true, 1), 100);
}

/* The last, as what is told stays: each kind of wrong line, and where its first wrong byte is. */
WEFT_TEST(mismatches_say_where_and_what)
{
	static const char *const why[] = { "nothing that this run wrote",
		"write 1 of the line, after write 2 was acknowledged",
		"zeros, where write 1 was acknowledged", "the line of 0x1000, by client 2" };
	const struct check_mismatch *m;
	uint8_t old[SIZE], was;
	const unsigned int before = check_said(&m);

	was = at(1)[CHECK_LINE + 61];
	at(1)[CHECK_LINE + 61] ^= 0x80;
	read_block(1);
	memcpy(old, at(2), SIZE);
	write_block(2, 0, LINES, 1);
	memcpy(at(2), old, CHECK_LINE);
	read_block(2);
	memset(at(3), 0, CHECK_LINE);
	read_block(3);
	memcpy(at(4), at(0), CHECK_LINE);
	read_block(4);
	/* Of a line that is read again the second is counted only. */
	read_block(4);
	expect(5, 5);
	assert_int_equal(check_said(&m), before + WEFT_ARRAY_SIZE(why));
	m += before;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(why); i++)
		assert_string_equal(m[i].why, why[i]);
	assert_int_equal(m[0].offset, BASE + SIZE + CHECK_LINE + 61);
	assert_int_equal(m[0].n_bytes, 3);
	assert_int_equal(m[0].expected[0], was);
	assert_int_equal(m[0].got[0], was ^ 0x80);
	/* The version is at byte 8 of a line, the address at byte 0. */
	assert_int_equal(m[1].offset, BASE + 2 * SIZE + 8);
	assert_int_equal(m[2].offset, BASE + 3 * SIZE);
	assert_int_equal(m[2].n_bytes, CHECK_BYTES);
	assert_int_equal(m[3].offset, BASE + 4 * SIZE + 1);
}
