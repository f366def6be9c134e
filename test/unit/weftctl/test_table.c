/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Tables for people: widths, and text that is longer than a cell. */

#include "weft_test.h"

#include "table.h"

static const struct table_column columns[] = {
	{ "NAME", "name", TABLE_TEXT },
	{ "N", "n", TABLE_NUMBER },
	{ "WHAT", "what", TABLE_TEXT },
};

/* What is printed of one row, which is taken; to be freed. */
static char *
print_row(json_t *row)
{
	FILE *const real = stdout;
	json_t *rows = json_pack("[o]", row);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	stdout = f;
	table_print(columns, WEFT_ARRAY_SIZE(columns), rows);
	stdout = real;
	assert_int_equal(fclose(f), 0);
	json_decref(rows);
	return text;
}

WEFT_TEST(columns_are_as_wide_as_what_stands_in_them)
{
	char *text =
		print_row(json_pack("{s:s, s:i, s:s}", "name", "s0.0", "n", 7, "what", "\x1b[2J"));

	assert_string_equal(text, "NAME  N  WHAT\ns0.0  7  ?[2J\n");
	free(text);
	text = print_row(json_pack("{s:n}", "name"));
	assert_string_equal(text, "NAME  N  WHAT\n-     -  -\n");
	free(text);
}

WEFT_TEST(text_that_is_cut_says_so_and_the_last_column_is_whole)
{
	char name[201], want[512], *text;

	/* Characters of two bytes: behind one of one byte, 92 bytes end in the midst of one. */
	for (int shift = 0; shift < 2; shift++) {
		memset(name, 'x', sizeof(name));
		for (int i = shift; i + 1 < 200; i += 2)
			memcpy(name + i, "\xc3\xa4", 2);
		name[200 - shift] = '\0';
		text = print_row(json_pack("{s:s, s:i, s:s}", "name", name, "n", 7, "what", name));
		snprintf(want, sizeof(want), "\n%.*s...  7  %s\n", 92 - shift, name, name);
		assert_non_null(strstr(text, want));
		free(text);
	}
}

WEFT_TEST(what_just_fits_is_whole)
{
	char name[96], want[256], *text;

	memset(name, 'x', sizeof(name));
	name[95] = '\0';
	text = print_row(json_pack("{s:s, s:i, s:n}", "name", name, "n", 7, "what"));
	snprintf(want, sizeof(want), "\n%s  7  -\n", name);
	assert_non_null(strstr(text, want));
	free(text);
}
