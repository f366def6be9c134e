/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CCI payloads as text and back, by the rows of their layouts. Bytes pass through the codecs both
 * ways: here is only what a member of a struct looks like.
 */

#include "text_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft_cci.h"

/* Byte arrays of fewer bytes are printed as numbers. */
#define TEXT_HEX_MIN 16

/* Any struct of weft_cci_payload.h. */
union text_struct {
	uint64_t align;
	uint8_t bytes[WEFT_CCI_STRUCT_MAX];
};

void
text_add(struct text_out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->text + o->len, o->room - o->len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= o->room - o->len) {
		o->is_full = true;
		o->len = o->room - 1;
		return;
	}
	o->len += (size_t)n;
}

static void
text_add_hex(struct text_out *o, const uint8_t *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		text_add(o, "%02x", b[i]);
}

static uint64_t
text_load(const void *member, unsigned int width)
{
	switch (width) {
	case 1: return *(const uint8_t *)member;
	case 2: return *(const uint16_t *)member;
	case 4: return *(const uint32_t *)member;
	default: return *(const uint64_t *)member;
	}
}

static void
text_store(void *member, unsigned int width, uint64_t v)
{
	switch (width) {
	case 1: *(uint8_t *)member = (uint8_t)v; break;
	case 2: *(uint16_t *)member = (uint16_t)v; break;
	case 4: *(uint32_t *)member = (uint32_t)v; break;
	default: *(uint64_t *)member = v; break;
	}
}

/* Of 1 to 8 bytes. */
static uint64_t
text_get_le(const uint8_t *b, unsigned int size)
{
	uint64_t v = 0;

	for (unsigned int i = size; i-- > 0;)
		v = v << 8 | b[i];
	return v;
}

static void
text_put_le(uint8_t *b, unsigned int size, uint64_t v)
{
	for (unsigned int i = 0; i < size; i++)
		b[i] = (uint8_t)(v >> 8 * i);
}

static size_t
text_count(const struct weft_cci_field *f, const uint8_t *p)
{
	return (size_t)text_load(p + f->count_at, f->count_width);
}

static void text_print_list(struct text_out *o, const struct weft_cci_field *f, const uint8_t *p);

/* The value of a member of the struct at p. */
static void
text_print_value(struct text_out *o, const struct weft_cci_field *f, const uint8_t *p)
{
	const uint8_t *m = p + f->at;
	uint8_t wire[8];

	switch (f->kind) {
	case WEFT_CCI_FIELD_NUMBER:
		text_add(o, "%llu", (unsigned long long)text_load(m, f->width));
		break;
	case WEFT_CCI_FIELD_BYTES:
		if (f->size < TEXT_HEX_MIN)
			text_add(o, "%llu", (unsigned long long)text_get_le(m, f->size));
		else
			text_add_hex(o, m, f->size);
		break;
	case WEFT_CCI_FIELD_WORDS:
		for (unsigned int i = 0; i < f->n; i++) {
			text_put_le(wire, f->size, text_load(m + i * f->width, f->width));
			text_add_hex(o, wire, f->size);
		}
		break;
	default: text_print_list(o, f, p); break;
	}
}

static void
text_print_list(struct text_out *o, const struct weft_cci_field *f, const uint8_t *p)
{
	const size_t n = text_count(f, p);
	const uint8_t *list;

	memcpy(&list, p + f->at, sizeof(list));
	if (f->kind == WEFT_CCI_FIELD_DATA) {
		text_add_hex(o, list, n);
		return;
	}
	text_add(o, "[");
	for (size_t i = 0; i < n; i++) {
		union text_struct e;

		text_add(o, i == 0 ? "" : ",");
		if (f->entry == NULL) {
			text_add(o, "%llu",
				(unsigned long long)text_get_le(list + i * f->size, f->size));
			continue;
		}
		f->entry->get(&e, list + i * f->size, f->size);
		for (unsigned int k = 0; k < f->entry->n_fields; k++) {
			text_add(o, k == 0 ? "" : ":");
			text_print_value(o, &f->entry->fields[k], e.bytes);
		}
	}
	text_add(o, "]");
}

int
weft_cci_print_payload(
	char *text, size_t room, const struct weft_cci_layout *layout, const uint8_t *b, size_t len)
{
	struct text_out o = { text, room, 0, false };
	union text_struct p;
	int rc;

	text[0] = '\0';
	if (layout == NULL)
		return len == 0 ? 0 : -EMSGSIZE;
	rc = layout->get(&p, b, len);
	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < layout->n_fields; i++) {
		text_add(&o, "%s%s=", i == 0 ? "" : " ", layout->fields[i].name);
		text_print_value(&o, &layout->fields[i], p.bytes);
	}
	return o.is_full ? -ENOBUFS : 0;
}

/* --- back --- */

/* What is read, and where elements of a list stand meanwhile. */
struct text_in {
	const char *at;
	union text_struct p;
	uint8_t list[WEFT_CCI_MAX_PAYLOAD];
	uint64_t seen; /* fields, by their numbers */
};

/* The number at the front, which is to fit in so many bytes. */
static bool
text_number(const char **at, unsigned int size, uint64_t *v)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*v = strtoull(*at, &end, (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x' ? 16 : 10);
	if (errno != 0 || (size < 8 && *v >> 8 * size != 0))
		return false;
	*at = end;
	return true;
}

static int
text_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of hex digits at the front, up to what is none; -1: half a byte, or more than room. */
static int
text_bytes(const char **at, uint8_t *b, size_t room)
{
	size_t n = 0;

	for (; text_digit((*at)[0]) >= 0; *at += 2) {
		if (n == room || text_digit((*at)[1]) < 0)
			return -1;
		b[n++] = (uint8_t)(text_digit((*at)[0]) << 4 | text_digit((*at)[1]));
	}
	return (int)n;
}

/* The value of a member that is no list, into the struct at p. */
static bool
text_parse_value(const char **at, const struct weft_cci_field *f, uint8_t *p)
{
	uint8_t *m = p + f->at, wire[8 * 8];
	uint64_t v;

	switch (f->kind) {
	case WEFT_CCI_FIELD_NUMBER:
		if (!text_number(at, f->size, &v))
			return false;
		text_store(m, f->width, v);
		return true;
	case WEFT_CCI_FIELD_BYTES:
		if (f->size >= TEXT_HEX_MIN)
			return text_bytes(at, m, f->size) == f->size;
		if (!text_number(at, f->size, &v))
			return false;
		text_put_le(m, f->size, v);
		return true;
	default: /* words */
		if ((size_t)f->size * f->n > sizeof(wire) ||
			text_bytes(at, wire, sizeof(wire)) != f->size * f->n)
			return false;
		for (unsigned int i = 0; i < f->n; i++)
			text_store(m + i * f->width, f->width,
				text_get_le(wire + i * f->size, f->size));
		return true;
	}
}

/* An element of a list, to b. */
static int
text_parse_element(const char **at, const struct weft_cci_field *f, uint8_t *b, size_t room)
{
	union text_struct e;
	uint64_t v;

	if (room < f->size)
		return -ENOBUFS;
	if (f->entry == NULL) {
		if (!text_number(at, f->size, &v))
			return -EINVAL;
		text_put_le(b, f->size, v);
		return 0;
	}
	for (unsigned int k = 0; k < f->entry->n_fields; k++) {
		if (k > 0 && *(*at)++ != ':')
			return -EINVAL;
		if (!text_parse_value(at, &f->entry->fields[k], e.bytes))
			return -EINVAL;
	}
	return f->entry->put(b, room, &e) < 0 ? -EINVAL : 0;
}

/* A list, into in->list. @return elements or -errno */
static int
text_parse_list(struct text_in *in, const struct weft_cci_field *f)
{
	size_t n = 0;
	int rc;

	if (f->kind == WEFT_CCI_FIELD_DATA) {
		rc = text_bytes(&in->at, in->list, sizeof(in->list));
		return rc < 0 ? -EINVAL : rc;
	}
	if (*in->at++ != '[')
		return -EINVAL;
	while (*in->at != ']') {
		if (n > 0 && *in->at++ != ',')
			return -EINVAL;
		rc = text_parse_element(
			&in->at, f, in->list + n * f->size, sizeof(in->list) - n * f->size);
		if (rc != 0)
			return rc;
		n++;
	}
	in->at++;
	return (int)n;
}

/* The count of a list is its length, whether it was named before, after or not at all. */
static int
text_settle(struct text_in *in, const struct weft_cci_layout *layout, int n)
{
	const struct weft_cci_field *list = NULL, *f;
	const uint8_t *at = in->list;

	for (unsigned int i = 0; i < layout->n_fields; i++)
		if (layout->fields[i].kind >= WEFT_CCI_FIELD_LIST)
			list = &layout->fields[i];
	if (list == NULL)
		return 0;
	memcpy(in->p.bytes + list->at, &at, sizeof(at));
	for (unsigned int i = 0; i < layout->n_fields; i++) {
		f = &layout->fields[i];
		if (list->is_counted && f->at == list->count_at && (in->seen >> i & 1) != 0)
			return text_count(list, in->p.bytes) == (size_t)n ? 0 : -EINVAL;
	}
	text_store(in->p.bytes + list->count_at, list->count_width, (uint64_t)n);
	return text_count(list, in->p.bytes) == (size_t)n ? 0 : -EINVAL;
}

/* One name=value. @return elements of a list, 0 for another field, or -errno */
static int
text_parse_field(struct text_in *in, const struct weft_cci_layout *layout)
{
	const size_t len = strcspn(in->at, "=");

	for (unsigned int i = 0; in->at[len] == '=' && i < layout->n_fields; i++) {
		const struct weft_cci_field *f = &layout->fields[i];

		if (strlen(f->name) != len || memcmp(f->name, in->at, len) != 0)
			continue;
		if ((in->seen >> i & 1) != 0)
			return -EINVAL;
		in->seen |= WEFT_BIT64(i);
		in->at += len + 1;
		if (f->kind >= WEFT_CCI_FIELD_LIST)
			return text_parse_list(in, f);
		return text_parse_value(&in->at, f, in->p.bytes) ? 0 : -EINVAL;
	}
	return -EINVAL;
}

int
weft_cci_parse_payload(
	uint8_t *b, size_t room, const struct weft_cci_layout *layout, const char *text)
{
	struct text_in in;
	int n = 0, rc;

	memset(&in, 0, sizeof(in));
	in.at = text;
	for (;;) {
		in.at += strspn(in.at, " ");
		if (*in.at == '\0')
			break;
		if (layout == NULL)
			return -EINVAL;
		rc = text_parse_field(&in, layout);
		if (rc < 0)
			return rc;
		n = rc > 0 ? rc : n;
		if (*in.at != ' ' && *in.at != '\0')
			return -EINVAL;
	}
	if (layout == NULL)
		return 0;
	rc = text_settle(&in, layout, n);
	if (rc != 0)
		return rc;
	return layout->put(b, room < WEFT_CCI_MAX_PAYLOAD ? room : WEFT_CCI_MAX_PAYLOAD, &in.p);
}

static bool
text_names(const char *text, const char *name)
{
	const size_t len = strlen(name);

	for (; *text != '\0'; text += strcspn(text, " ")) {
		text += strspn(text, " ");
		if (strncmp(text, name, len) == 0 && text[len] == '=')
			return true;
	}
	return false;
}

const struct weft_cci_field *
weft_cci_missing_field(const struct weft_cci_layout *layout, const char *text)
{
	for (unsigned int i = 0; layout != NULL && i < layout->n_fields; i++)
		if (layout->fields[i].must != NULL && !text_names(text, layout->fields[i].name))
			return &layout->fields[i];
	return NULL;
}
