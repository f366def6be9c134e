/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lists of JSON objects as tables for people. */
#ifndef TABLE_H
#define TABLE_H

#include <jansson.h>

/** How a value stands in its column. */
enum table_form {
	TABLE_TEXT, /* to the left; all others to the right */
	TABLE_NUMBER, /* whole */
	TABLE_HEX, /* of a PID: 0x101 */
	TABLE_REAL, /* two digits after the point */
	TABLE_SHARE, /* 0 to 1, in percent */
	TABLE_COUNT, /* of a list */
};

struct table_column {
	const char *title;
	const char *key; /* in the object; "a.b": of an object in it */
	enum table_form form;
};

/** Print @p rows with a line of titles; a key that is missing, or null, is a dash. */
void table_print(const struct table_column *column, unsigned int n, const json_t *rows);

#endif /* TABLE_H */
