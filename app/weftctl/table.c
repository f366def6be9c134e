/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Columns are as wide as what stands in them. */

#include "table.h"

#include <inttypes.h>
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
static void
table_text(char *cell, const char *text)
{
	size_t n = 0;

	for (; text[n] != '\0' && n < TABLE_CELL - 1; n++)
		cell[n] = (unsigned char)text[n] < ' ' || text[n] == 0x7F ? '?' : text[n];
	cell[n] = '\0';
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

static void
table_line(const struct table_column *column, unsigned int n, const int *width, const json_t *row)
{
	char cell[TABLE_CELL];

	for (unsigned int i = 0; i < n; i++) {
		const char *gap = i == 0 ? "" : "  ";

		if (row == NULL)
			table_text(cell, column[i].title);
		else
			table_cell(cell, table_value(row, column[i].key), column[i].form);
		if (column[i].form == TABLE_TEXT && i == n - 1)
			printf("%s%s", gap, cell);
		else
			printf("%s%*s", gap, column[i].form == TABLE_TEXT ? -width[i] : width[i],
				cell);
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
