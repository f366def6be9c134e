/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Words of command lines and of telemetry. */

#include "words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST (UINT64_C(1) << 44)

/* Digits of @p base from @p text on. What is behind them, or NULL. */
static const char *
words_read_digits(const char *text, int base, uint64_t *v)
{
	char *end;

	/* strtoull takes signs and blanks, and of hex a second 0x. */
	if (base == 10 ? !isdigit((unsigned char)text[0])
		       : !isxdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
		return NULL;
	errno = 0;
	*v = strtoull(text, &end, base);
	return errno == 0 ? end : NULL;
}

static const char *
words_read_number(const char *text, uint64_t *v)
{
	const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	return words_read_digits(text + (is_hex ? 2 : 0), is_hex ? 16 : 10, v);
}

bool
words_number(const char *text, uint64_t least, uint64_t most, uint64_t *v)
{
	const char *end = words_read_number(text, v);

	return end != NULL && *end == '\0' && *v >= least && *v <= most;
}

bool
words_real(const char *text, double least, double most, double *v)
{
	char *end;

	/* Not hex, infinite or no number, which strtod takes as well. */
	if ((!isdigit((unsigned char)text[0]) && text[0] != '.') ||
		text[strspn(text, "0123456789.eE+-")] != '\0')
		return false;
	*v = strtod(text, &end);
	return end != text && *end == '\0' && *v >= least && *v <= most;
}

/* What is behind the digits: one of @p units, or nothing. */
static bool
words_scale(const char *end, const char *units, uint64_t most, uint64_t *v)
{
	const char *unit;
	unsigned int shift = 0;

	if (end == NULL)
		return false;
	unit = *end == '\0' ? NULL : strchr(units, *end);
	if (unit != NULL) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (*end != '\0' || *v > most >> shift)
		return false;
	*v <<= shift;
	return true;
}

bool
words_size(const char *text, uint64_t least, uint64_t *v)
{
	return words_scale(words_read_digits(text, 10, v), "KMG", SIZE_MOST, v) && *v >= least;
}

bool
words_bytes(const char *text, uint64_t *v)
{
	return words_scale(words_read_number(text, v), "KMGT", UINT64_MAX, v);
}

const char *
words_first(const char *text, char mark, size_t *len)
{
	const char *at = text == NULL ? NULL : strchr(text, mark);

	*len = at != NULL ? (size_t)(at - text) : text != NULL ? strlen(text) : 0;
	return at == NULL ? NULL : at + 1;
}

bool
words_lines(const char *text, struct words_lines *l)
{
	const char *at = words_first(text, ',', &l->len);

	l->name = text;
	l->n = 1;
	if (at == NULL || l->len == 0)
		return false;
	at = words_read_number(at, &l->offset);
	if (at != NULL && *at == ',')
		at = words_read_number(at + 1, &l->n);
	return at != NULL && *at == '\0';
}
