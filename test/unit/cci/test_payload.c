/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Codecs of CCI payloads, all of them by their rows: drawn values come back, no length but the
 * right one is taken, reserved bytes are sent 0 and not looked at, no byte outside is read or
 * written.
 */

#include "cci_draw.h"

#define CUT_MAX (WEFT_CCI_MAX_PAYLOAD + 8)

/* Bytes of a layout that no field is in: those that are 0 if every bit of the struct is set. */
static void
find_reserved(const struct weft_cci_layout *l, unsigned int n, bool *is_reserved)
{
	const struct weft_cci_field *list = cci_list_of(l);
	static uint8_t ones[WEFT_CCI_MAX_PAYLOAD], b[WEFT_CCI_MAX_PAYLOAD];
	struct cci_drawn d;
	size_t fields = 0, zero = 0;
	int len;

	memset(ones, 0xFF, sizeof(ones));
	memset(&d, 0xFF, sizeof(d));
	if (list != NULL) {
		const uint8_t *at = ones;

		memcpy(d.p + list->at, &at, sizeof(at));
		cci_set_member(d.p, list->count_at, list->count_width, n);
	}
	len = l->put(b, sizeof(b), d.p);
	assert_int_equal(len, l->len + (list != NULL ? n * list->size : 0));
	for (unsigned int i = 0; i < l->n_fields; i++)
		fields += (size_t)l->fields[i].size * l->fields[i].n;
	for (int i = 0; i < len; i++) {
		is_reserved[i] = b[i] == 0;
		zero += b[i] == 0;
	}
	/* A count of n is not all ones: its bytes that are 0 are no reserved ones. */
	if (list == NULL)
		assert_int_equal(zero, (size_t)len - fields);
}

static void
come_back(struct weft_rand *r, const struct weft_cci_layout *l)
{
	uint8_t b[WEFT_CCI_MAX_PAYLOAD], again[WEFT_CCI_MAX_PAYLOAD];
	struct cci_drawn d, e;
	int len;

	for (unsigned int turn = 0; turn < 20; turn++) {
		cci_draw(r, &d, l);
		memset(b, 0xA5, sizeof(b));
		len = l->put(b, sizeof(b), d.p);
		assert_in_range(len, l->len, WEFT_CCI_MAX_PAYLOAD);
		memset(&e, 0x5A, sizeof(e));
		assert_int_equal(l->get(e.p, b, (size_t)len), 0);
		cci_same(l, d.p, e.p);
		assert_int_equal(l->put(again, sizeof(again), e.p), len);
		assert_memory_equal(b, again, (size_t)len);
		/* Its list is where it is to be. */
		assert_int_equal(l->put(b, sizeof(b), e.p), len);
		assert_memory_equal(b, again, (size_t)len);
	}
}

WEFT_TEST(drawn_values_come_back)
{
	struct weft_rand r;

	weft_test_seed(&r, "come_back");
	cci_each(come_back, &r);
}

/* What get says of len bytes, on a block that has no more. */
static int
get_cut(const struct weft_cci_layout *l, const uint8_t *b, size_t len)
{
	uint8_t *block = malloc(len);
	struct cci_drawn d;
	int rc;

	if (len > 0)
		memcpy(block, b, len);
	rc = l->get(d.p, block, len);
	free(block);
	return rc;
}

static void
cut(struct weft_rand *r, const struct weft_cci_layout *l)
{
	const struct weft_cci_field *list = cci_list_of(l);
	uint8_t b[CUT_MAX];
	struct cci_drawn d;
	int len;

	cci_draw(r, &d, l);
	memset(b, 0, sizeof(b));
	len = l->put(b, sizeof(b), d.p);
	for (size_t n = 0; n <= CUT_MAX; n++) {
		int want = 0;

		if (n < l->min || (list == NULL && n > l->len))
			want = -EMSGSIZE;
		else if (list != NULL && list->is_counted && n != (size_t)len)
			want = -EINVAL;
		else if (list != NULL && (n - l->len) % list->size != 0)
			want = -EINVAL;
		assert_int_equal(get_cut(l, b, n), want);
	}
}

WEFT_TEST(no_length_but_the_right_one_is_taken)
{
	struct weft_rand r;

	weft_test_seed(&r, "cut");
	for (unsigned int i = 0; i < 3; i++)
		cci_each(cut, &r);
}

static void
room(struct weft_rand *r, const struct weft_cci_layout *l)
{
	const struct weft_cci_field *list = cci_list_of(l);
	struct cci_drawn d;
	uint8_t *block;
	int len;

	cci_draw(r, &d, l);
	block = malloc(WEFT_CCI_MAX_PAYLOAD);
	len = l->put(block, WEFT_CCI_MAX_PAYLOAD, d.p);
	free(block);
	for (int n = 0; n <= len; n++) {
		block = malloc((size_t)n);
		assert_int_equal(l->put(block, (size_t)n, d.p), n < len ? -ENOBUFS : len);
		free(block);
	}
	if (list == NULL || list->size == 1)
		return;
	/* A count that no list can have: nothing of it is read. */
	cci_set_member(d.p, list->count_at, list->count_width, UINT64_MAX);
	block = malloc(WEFT_CCI_MAX_PAYLOAD);
	if (weft_mask64(8u * list->count_width) * list->size > WEFT_CCI_MAX_PAYLOAD)
		assert_int_equal(l->put(block, WEFT_CCI_MAX_PAYLOAD, d.p), -ENOBUFS);
	free(block);
}

WEFT_TEST(nothing_is_written_past_the_room)
{
	struct weft_rand r;

	weft_test_seed(&r, "room");
	cci_each(room, &r);
}

/* A count of 2^63 elements of 2 bytes would be none at all, if lengths wrapped. */
WEFT_TEST(counts_do_not_wrap)
{
	uint8_t b[WEFT_CCI_MAX_PAYLOAD] = { 0 };
	struct cci_drawn d;

	for (unsigned int i = 0; i < weft_cci_n_commands; i++) {
		const struct weft_cci_layout *l = weft_cci_commands[i].rsp;
		const struct weft_cci_field *list = l != NULL ? cci_list_of(l) : NULL;

		if (list == NULL)
			continue;
		memset(&d, 0, sizeof(d));
		for (unsigned int bit = 11; bit < 8u * list->count_width; bit++) {
			cci_set_member(d.p, list->count_at, list->count_width, WEFT_BIT64(bit));
			assert_int_equal(l->put(b, sizeof(b), d.p), -ENOBUFS);
			if (bit > 20)
				assert_int_equal(l->put(b, SIZE_MAX, d.p), -ENOBUFS);
		}
	}
}

static void
reserved(struct weft_rand *r, const struct weft_cci_layout *l)
{
	const struct weft_cci_field *list = cci_list_of(l);
	bool is_reserved[WEFT_CCI_MAX_PAYLOAD];
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];
	struct cci_drawn d, e;
	unsigned int n = 0;
	int len;

	cci_draw(r, &d, l);
	/* As many as fill the lowest byte of the count; the others hold 0 and are left alone. */
	if (list != NULL) {
		n = cci_most(l, list) < 255 ? cci_most(l, list) : 255;
		cci_draw_list(r, &d, list, n);
	}
	find_reserved(l, n, is_reserved);
	memset(b, 0xFF, sizeof(b));
	len = l->put(b, sizeof(b), d.p);
	for (int i = 0; i < len; i++) {
		if (!is_reserved[i])
			continue;
		assert_int_equal(b[i], 0);
		b[i] = (uint8_t)weft_rand_u64(r);
		if (l->get(e.p, b, (size_t)len) == 0)
			cci_same(l, d.p, e.p);
		else /* a higher byte of the count */
			assert_true(list != NULL && list->count_width > 1);
		b[i] = 0;
	}
}

WEFT_TEST(reserved_bytes_are_sent_0_and_not_looked_at)
{
	struct weft_rand r;

	weft_test_seed(&r, "reserved");
	for (unsigned int i = 0; i < 5; i++)
		cci_each(reserved, &r);
}
