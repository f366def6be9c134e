/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Columns are as wide as what stands in them, up to a bound; the last, of text, has none. */

#include "table.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TABLE_CELL 96
#define TABLE_COLUMNS 16

static const json_t *
table_value(const json_t *row, const char *key)
{
	const char *dot = strchr(key, '.');
	char first[32];

	if (dot == NULL)
		return json_object_get(row, key);
	snprintf(first, sizeof(first), "%.*s", (int)(dot - key), key);
	return table_value(json_object_get(row, first), dot + 1);
}

/* Bytes of a cell that a terminal might take for commands are shown as a question mark. */
static char
table_char(char c)
{
	return (unsigned char)c < ' ' || c == 0x7F ? '?' : c;
}

/* What is too long ends with dots, behind a whole character. */
static void
table_text(char *cell, const char *text)
{
	static const char more[] = "...";
	size_t n = strlen(text);
	const bool is_whole = n < TABLE_CELL;

	if (!is_whole)
		n = TABLE_CELL - sizeof(more);
	while (!is_whole && n > 0 && (text[n] & 0xC0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		cell[i] = table_char(text[i]);
	strcpy(cell + n, is_whole ? "" : more);
}

static void
table_cell(char cell[TABLE_CELL], const json_t *v, enum table_form form)
{
	if (v == NULL || json_is_null(v))
		snprintf(cell, TABLE_CELL, "-");
	else if (json_is_string(v))
		table_text(cell, json_string_value(v));
	else if (json_is_boolean(v))
		snprintf(cell, TABLE_CELL, "%s", json_is_true(v) ? "yes" : "no");
	else if (form == TABLE_COUNT)
		snprintf(cell, TABLE_CELL, "%zu", json_array_size(v));
	else if (form == TABLE_HEX)
		snprintf(cell, TABLE_CELL, "0x%03" PRIx64, (uint64_t)json_integer_value(v));
	else if (form == TABLE_SHARE)
		snprintf(cell, TABLE_CELL, "%.1f%%", 100 * json_number_value(v));
	else if (form == TABLE_REAL)
		snprintf(cell, TABLE_CELL, "%.2f", json_number_value(v));
	else
		snprintf(cell, TABLE_CELL, "%.0f", json_number_value(v));
}

/* However long it is. */
static void
table_put(const char *text)
{
	for (; *text != '\0'; text++)
		putchar(table_char(*text));
}

static void
table_line(const struct table_column *column, unsigned int n, const int *width, const json_t *row)
{
	char cell[TABLE_CELL];

	for (unsigned int i = 0; i < n; i++) {
		const json_t *v = row == NULL ? NULL : table_value(row, column[i].key);
		const bool is_text = column[i].form == TABLE_TEXT;

		if (row == NULL)
			table_text(cell, column[i].title);
		else
			table_cell(cell, v, column[i].form);
		fputs(i == 0 ? "" : "  ", stdout);
		if (!is_text || i != n - 1)
			printf("%*s", is_text ? -width[i] : width[i], cell);
		else if (json_is_string(v))
			table_put(json_string_value(v));
		else
			fputs(cell, stdout);
	}
	putchar('\n');
}

void
table_print(const struct table_column *column, unsigned int n, const json_t *rows)
{
	int width[TABLE_COLUMNS];
	char cell[TABLE_CELL];
	const json_t *row;
	size_t r;

	for (unsigned int i = 0; i < n; i++) {
		width[i] = (int)strlen(column[i].title);
		json_array_foreach(rows, r, row)
		{
			int w;

			table_cell(cell, table_value(row, column[i].key), column[i].form);
			w = (int)strlen(cell);
			width[i] = w > width[i] ? w : width[i];
		}
	}
	table_line(column, n, width, NULL);
	json_array_foreach(rows, r, row) table_line(column, n, width, row);
}
