/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Bytes in the form of hexdump -C: texts that hexdump of util-linux 2.38 printed. */

#include "weft_test.h"

#include "hexdump.h"

#define ROOM 8192

static const char zeros_and_text[] =
	"00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
	"*\n"
	"00000030  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|\n"
	"00000040  61 61 7e 7f 1f 20 ff 80  7c                       |aa~.. ..||\n"
	"00000049\n";

/* What is printed of @p data that comes in pieces of @p piece bytes. */
static void
dump(char *text, uint64_t at, const uint8_t *data, size_t n, size_t piece)
{
	FILE *f = fmemopen(text, ROOM, "w");
	struct hexdump h;

	assert_non_null(f);
	hexdump_begin(&h, f, at);
	for (size_t i = 0; i < n; i += piece)
		hexdump_push(&h, data + i, piece < n - i ? piece : n - i);
	hexdump_end(&h);
	assert_int_equal(fclose(f), 0);
}

WEFT_TEST(lines_are_those_of_hexdump_however_bytes_come)
{
	uint8_t data[73] = { 0 };
	char text[ROOM];

	memset(data + 48, 'a', 18);
	memcpy(data + 66, "\x7e\x7f\x1f\x20\xff\x80|", 7);
	for (size_t piece = 1; piece <= sizeof(data); piece++) {
		dump(text, 0, data, sizeof(data), piece);
		assert_string_equal(text, zeros_and_text);
	}
}

WEFT_TEST(nothing_has_no_last_line)
{
	char text[ROOM] = "";

	dump(text, 64, NULL, 0, 1);
	assert_string_equal(text, "");
}

WEFT_TEST(a_short_last_line_is_shown_though_it_repeats)
{
	const uint8_t data[33] = { 0 };
	char text[ROOM];

	dump(text, UINT64_C(0x123456789), data, sizeof(data), 33);
	assert_string_equal(text,
		"123456789  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
		"*\n"
		"1234567a9  00                                                |.|\n"
		"1234567aa\n");
}

/* One star a run, and a new one for the next. */
WEFT_TEST(each_run_of_lines_has_its_star)
{
	uint8_t data[128];
	char text[ROOM];

	memset(data, 'x', 48);
	memset(data + 48, 'y', 64);
	memset(data + 112, 'x', 16);
	dump(text, 0, data, sizeof(data), 7);
	assert_string_equal(text,
		"00000000  78 78 78 78 78 78 78 78  78 78 78 78 78 78 78 78  |xxxxxxxxxxxxxxxx|\n"
		"*\n"
		"00000030  79 79 79 79 79 79 79 79  79 79 79 79 79 79 79 79  |yyyyyyyyyyyyyyyy|\n"
		"*\n"
		"00000070  78 78 78 78 78 78 78 78  78 78 78 78 78 78 78 78  |xxxxxxxxxxxxxxxx|\n"
		"00000080\n");
}
