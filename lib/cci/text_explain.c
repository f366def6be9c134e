/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fields of CCI payloads for people: which there are, and what is wrong with those of a text that
 * weft_cci_parse_payload() refuses. The parser decides: here its parts are put to it one by one.
 */

#include "text_priv.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "weft_cci.h"

#define EXPLAIN_ELEMENT 256 /* room for an element of a list, in brackets */
#define EXPLAIN_SHOW 48 /* characters of a wrong word that are shown */
#define EXPLAIN_HEX_MIN 16 /* bytes from which on a field is hex digits */

static size_t
explain_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool
explain_is_number(const struct weft_cci_field *f)
{
	return f->kind == WEFT_CCI_FIELD_NUMBER ||
	       (f->kind == WEFT_CCI_FIELD_BYTES && f->size < EXPLAIN_HEX_MIN);
}

/* Of a number, or of the numbers of a list. */
static unsigned long long
explain_most(const struct weft_cci_field *f)
{
	return UINT64_MAX >> (64 - 8 * f->size);
}

/* The list that this field counts, NULL if it counts none. */
static const struct weft_cci_field *
explain_counted(const struct weft_cci_layout *layout, const struct weft_cci_field *f)
{
	for (unsigned int i = 0; i < layout->n_fields; i++) {
		const struct weft_cci_field *list = &layout->fields[i];

		if (list->kind >= WEFT_CCI_FIELD_LIST && list->is_counted && list != f &&
			list->count_at == f->at)
			return list;
	}
	return NULL;
}

static void
explain_form(struct text_out *o, const struct weft_cci_field *f)
{
	text_add(o, "%s=", f->name);
	if (f->kind == WEFT_CCI_FIELD_LIST && f->entry != NULL) {
		for (unsigned int k = 0; k < f->entry->n_fields; k++)
			text_add(o, "%c%s", k == 0 ? '[' : ':', f->entry->fields[k].name);
		text_add(o, ",...]");
	} else {
		text_add(o, "%s",
			f->kind == WEFT_CCI_FIELD_LIST ? "[N,...]"
			: explain_is_number(f)         ? "N"
						       : "HEX");
	}
	text_add(o, "%s", f->must != NULL ? "*" : "");
}

void
weft_cci_print_fields(char *text, size_t room, const struct weft_cci_layout *layout)
{
	struct text_out o = { .text = text, .room = room };

	text[0] = '\0';
	for (unsigned int i = 0; layout != NULL && i < layout->n_fields; i++) {
		if (explain_counted(layout, &layout->fields[i]) != NULL)
			continue;
		text_add(&o, "%s", o.len == 0 ? "" : " ");
		explain_form(&o, &layout->fields[i]);
	}
}

/* Letters to change, add or leave out until one name is the other. */
static size_t
explain_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[EXPLAIN_SHOW + 1], diagonal, above;

	if (a_len > EXPLAIN_SHOW || b_len > EXPLAIN_SHOW)
		return UINT16_MAX;
	for (size_t k = 0; k <= b_len; k++)
		row[k] = k;
	for (size_t i = 0; i < a_len; i++) {
		diagonal = row[0]++;
		for (size_t k = 0; k < b_len; k++) {
			above = row[k + 1];
			row[k + 1] = explain_min(diagonal + ((a[i] | 0x20) != (b[k] | 0x20)),
				1 + explain_min(above, row[k]));
			diagonal = above;
		}
	}
	return row[b_len];
}

static void
explain_unknown(
	struct text_out *o, const struct weft_cci_layout *layout, const char *word, size_t len)
{
	const char *nearest = NULL;
	size_t least = UINT16_MAX;

	for (unsigned int i = 0; i < layout->n_fields; i++) {
		const char *name = layout->fields[i].name;
		const size_t d = explain_distance(word, len, name, strlen(name));

		if (d < least && d <= 1 + len / 3 && d < strlen(name)) {
			least = d;
			nearest = name;
		}
	}
	text_add(o, "there is no field \"%.*s\"", (int)explain_min(len, EXPLAIN_SHOW), word);
	if (nearest != NULL)
		text_add(o, ", the nearest is %s", nearest);
}

static void explain_value(struct text_out *o, const struct weft_cci_layout *layout,
	const struct weft_cci_field *f, const char *value, size_t len);

/* Whether this value alone is one of the field. */
static bool
explain_is_good(const struct weft_cci_layout *layout, const struct weft_cci_field *f,
	const char *value, size_t len)
{
	char word[WEFT_CCI_TEXT_MAX];
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];

	if (snprintf(word, sizeof(word), "%s=%.*s", f->name, (int)len, value) >= (int)sizeof(word))
		return false;
	return weft_cci_parse_payload(b, sizeof(b), layout, word) >= 0;
}

/* An element of a list of entries: the first of its parts that is wrong. */
static void
explain_entry(struct text_out *o, const struct weft_cci_field *f, const char *at, size_t len)
{
	unsigned int k = 0;

	for (const char *end = at + len; k < f->entry->n_fields; k++) {
		const struct weft_cci_field *part = &f->entry->fields[k];
		const size_t n = explain_min(strcspn(at, ":"), (size_t)(end - at));

		if (!explain_is_good(f->entry, part, at, n)) {
			explain_value(o, f->entry, part, at, n);
			return;
		}
		if (at + n == end || k + 1 == f->entry->n_fields)
			break;
		at += n + 1;
	}
	text_add(o, "expected %u values with a colon between", f->entry->n_fields);
}

static void
explain_element(struct text_out *o, const struct weft_cci_field *f, const char *at, size_t len)
{
	if (f->entry != NULL)
		explain_entry(o, f, at, len);
	else
		text_add(o, "expected a number of 0 to 0x%llx, got \"%.*s\"", explain_most(f),
			(int)explain_min(len, EXPLAIN_SHOW), at);
}

/* A list: its first wrong element, or that it is too long. */
static void
explain_list(struct text_out *o, const struct weft_cci_layout *layout,
	const struct weft_cci_field *f, const char *value, size_t len)
{
	const char *at = value + 1, *end = value + len - 1;
	size_t n = 1, most = ((size_t)WEFT_CCI_MAX_PAYLOAD - layout->len) / f->size;
	char one[EXPLAIN_ELEMENT];

	if (f->count_width == 1)
		most = explain_min(most, UINT8_MAX);
	if (len < 2 || value[0] != '[' || *end != ']') {
		text_add(o, "expected a list in brackets, ");
		explain_form(o, f);
		text_add(o, ", got \"%.*s\"", (int)explain_min(len, EXPLAIN_SHOW), value);
		return;
	}
	for (;; n++) {
		const size_t part = explain_min(strcspn(at, ","), (size_t)(end - at));

		snprintf(one, sizeof(one), "[%.*s]", (int)part, at);
		if (part == 0 || !explain_is_good(layout, f, one, strlen(one))) {
			text_add(o, "element %zu: ", n);
			explain_element(o, f, at, part);
			return;
		}
		if (at + part == end)
			break;
		at += part + 1;
	}
	text_add(o, "it has %zu elements, and at most %zu fit", n, most);
}

static void
explain_value(struct text_out *o, const struct weft_cci_layout *layout,
	const struct weft_cci_field *f, const char *value, size_t len)
{
	const int show = (int)explain_min(len, EXPLAIN_SHOW);

	text_add(o, "%s: ", f->name);
	if (f->kind == WEFT_CCI_FIELD_LIST)
		explain_list(o, layout, f, value, len);
	else if (f->kind == WEFT_CCI_FIELD_DATA)
		text_add(o, "expected at most %u bytes, two hex digits each, got \"%.*s\"",
			WEFT_CCI_MAX_PAYLOAD - layout->len, show, value);
	else if (explain_is_number(f))
		text_add(o, "expected a number of 0 to 0x%llx, got \"%.*s\"", explain_most(f), show,
			value);
	else
		text_add(o, "expected %u hex digits, got %zu characters, \"%.*s\"",
			2u * f->size * (f->kind == WEFT_CCI_FIELD_WORDS ? f->n : 1u), len, show,
			value);
}

/* A word of the text. @return whether it is wrong, and said to be */
static bool
explain_word(struct text_out *o, const struct weft_cci_layout *layout, const char *word, size_t len,
	uint64_t *seen)
{
	const size_t name = explain_min(strcspn(word, "="), len);
	const struct weft_cci_field *f = NULL;

	if (name == len || name == 0) {
		text_add(o, "expected name=value, got \"%.*s\"",
			(int)explain_min(len, EXPLAIN_SHOW), word);
		return true;
	}
	for (unsigned int i = 0; i < layout->n_fields; i++) {
		if (strlen(layout->fields[i].name) != name ||
			memcmp(layout->fields[i].name, word, name) != 0)
			continue;
		f = &layout->fields[i];
		if ((*seen >> i & 1) != 0) {
			text_add(o, "%s: it stands there twice", f->name);
			return true;
		}
		*seen |= WEFT_BIT64(i);
	}
	if (f == NULL) {
		explain_unknown(o, layout, word, name);
		return true;
	}
	/* A count is judged with its list, when all else is good. */
	if ((explain_counted(layout, f) != NULL && strspn(word + name + 1, "0123456789") > 0) ||
		explain_is_good(layout, f, word + name + 1, len - name - 1))
		return false;
	explain_value(o, layout, f, word + name + 1, len - name - 1);
	return true;
}

void
weft_cci_explain_payload(
	char *why, size_t room, const struct weft_cci_layout *layout, const char *text)
{
	struct text_out o = { .text = why, .room = room };
	uint64_t seen = 0;

	why[0] = '\0';
	if (layout == NULL) {
		text_add(&o, "the command takes no fields");
		return;
	}
	for (const char *at = text + strspn(text, " "); *at != '\0'; at += strspn(at, " ")) {
		const size_t len = strcspn(at, " ");

		if (explain_word(&o, layout, at, len, &seen))
			return;
		at += len;
	}
	for (unsigned int i = 0; i < layout->n_fields; i++) {
		const struct weft_cci_field *list = explain_counted(layout, &layout->fields[i]);

		if (list == NULL || (seen >> i & 1) == 0)
			continue;
		text_add(&o, "%s: it is not the number of elements of %s=; left out, it is that",
			layout->fields[i].name, list->name);
		return;
	}
	text_add(&o, "they are more than %u bytes", WEFT_CCI_MAX_PAYLOAD);
}
