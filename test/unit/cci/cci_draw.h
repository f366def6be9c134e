/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Drawn structs of CCI payloads, by the rows of their layouts, and what must be equal of two. */
#ifndef CCI_DRAW_H
#define CCI_DRAW_H

#include "weft_test.h"

#include "weft_cci.h"
#include "weft_cci_layout.h"

/* Any struct of weft_cci_payload.h, and what its list points to. */
struct cci_drawn {
	union {
		uint64_t align;
		uint8_t p[WEFT_CCI_STRUCT_MAX];
	};
	uint8_t list[WEFT_CCI_MAX_PAYLOAD];
};

static inline const struct weft_cci_field *
cci_list_of(const struct weft_cci_layout *l)
{
	for (unsigned int i = 0; i < l->n_fields; i++)
		if (l->fields[i].kind >= WEFT_CCI_FIELD_LIST)
			return &l->fields[i];
	return NULL;
}

/* The lowest bytes of a member first, as on this machine. */
static inline uint64_t
cci_member(const void *p, size_t at, unsigned int width)
{
	uint64_t v = 0;

	memcpy(&v, (const uint8_t *)p + at, width);
	return le64toh(v);
}

static inline void
cci_set_member(void *p, size_t at, unsigned int width, uint64_t v)
{
	v = htole64(v);
	memcpy((uint8_t *)p + at, &v, width);
}

/* Number of a field of so many bytes: often one at the edge. */
static inline uint64_t
cci_draw_number(struct weft_rand *r, unsigned int size)
{
	const uint64_t mask = weft_mask64(8 * size);

	switch (weft_rand_below(r, 4)) {
	case 0: return weft_rand_below(r, 2) != 0 ? mask : 0;
	case 1: return WEFT_BIT64(weft_rand_below(r, 8 * size));
	default: return weft_rand_u64(r) & mask;
	}
}

static inline void
cci_draw_bytes(struct weft_rand *r, void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)p)[i] = (uint8_t)weft_rand_u64(r);
}

/* Give the struct a list of n elements, which are drawn. */
static inline void
cci_draw_list(
	struct weft_rand *r, struct cci_drawn *d, const struct weft_cci_field *f, unsigned int n)
{
	const uint8_t *list = d->list;

	if (f->entry == NULL)
		cci_draw_bytes(r, d->list, (size_t)n * f->size);
	for (unsigned int i = 0; f->entry != NULL && i < n; i++) {
		struct cci_drawn e;

		memset(&e, 0, sizeof(e));
		for (unsigned int k = 0; k < f->entry->n_fields; k++) {
			const struct weft_cci_field *g = &f->entry->fields[k];

			if (g->kind == WEFT_CCI_FIELD_NUMBER)
				cci_set_member(e.p, g->at, g->width, cci_draw_number(r, g->size));
			else
				cci_draw_bytes(r, e.p + g->at, g->size);
		}
		assert_int_equal(
			f->entry->put(d->list + (size_t)i * f->size, f->size, e.p), f->size);
	}
	memcpy(d->p + f->at, &list, sizeof(list));
	cci_set_member(d->p, f->count_at, f->count_width, n);
}

/* Most elements of the list of a layout, as the room of a message and the width of the count go. */
static inline unsigned int
cci_most(const struct weft_cci_layout *l, const struct weft_cci_field *f)
{
	const unsigned int most = (unsigned int)(WEFT_CCI_MAX_PAYLOAD - l->len) / f->size;

	return most > weft_mask64(8u * f->count_width)
	               ? (unsigned int)weft_mask64(8u * f->count_width)
	               : most;
}

static inline void
cci_draw(struct weft_rand *r, struct cci_drawn *d, const struct weft_cci_layout *l)
{
	const struct weft_cci_field *list = cci_list_of(l);

	memset(d, 0, sizeof(*d));
	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct weft_cci_field *f = &l->fields[i];

		if (f->kind == WEFT_CCI_FIELD_NUMBER)
			cci_set_member(d->p, f->at, f->width, cci_draw_number(r, f->size));
		else if (f->kind == WEFT_CCI_FIELD_BYTES)
			cci_draw_bytes(r, d->p + f->at, f->size);
		else if (f->kind == WEFT_CCI_FIELD_WORDS)
			cci_draw_bytes(r, d->p + f->at, (size_t)f->n * f->width);
	}
	if (list != NULL) {
		const unsigned int most = cci_most(l, list);

		cci_draw_list(r, d, list,
			weft_rand_below(r, 3) == 0 ? most
						   : (unsigned int)weft_rand_below(r, most + 1));
	}
}

/* Two structs say the same. */
static inline void
cci_same(const struct weft_cci_layout *l, const void *a, const void *b)
{
	const uint8_t *la, *lb;

	for (unsigned int i = 0; i < l->n_fields; i++) {
		const struct weft_cci_field *f = &l->fields[i];
		const uint8_t *x = (const uint8_t *)a + f->at, *y = (const uint8_t *)b + f->at;

		switch (f->kind) {
		case WEFT_CCI_FIELD_NUMBER: assert_memory_equal(x, y, f->width); break;
		case WEFT_CCI_FIELD_BYTES: assert_memory_equal(x, y, f->size); break;
		case WEFT_CCI_FIELD_WORDS:
			assert_memory_equal(x, y, (size_t)f->n * f->width);
			break;
		default:
			memcpy(&la, x, sizeof(la));
			memcpy(&lb, y, sizeof(lb));
			assert_memory_equal((const uint8_t *)a + f->count_at,
				(const uint8_t *)b + f->count_at, f->count_width);
			assert_memory_equal(
				la, lb, cci_member(a, f->count_at, f->count_width) * f->size);
			break;
		}
	}
}

/* Call for each payload of each command and for each entry. */
static inline void
cci_each(void (*run)(struct weft_rand *r, const struct weft_cci_layout *l), struct weft_rand *r)
{
	for (unsigned int i = 0; i < weft_cci_n_commands; i++) {
		if (weft_cci_commands[i].req != NULL)
			run(r, weft_cci_commands[i].req);
		if (weft_cci_commands[i].rsp != NULL)
			run(r, weft_cci_commands[i].rsp);
	}
	for (unsigned int i = 0; i < weft_cci_n_entries; i++)
		run(r, weft_cci_entries[i]);
}

#endif /* CCI_DRAW_H */
