/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * UIO packets. What is read is in the ranges of weft_uio.h and is the same after it was written and
 * read again; a request, and nothing else, can be refused, by a packet that is well-formed.
 *
 *   byte 0  status of the refusal
 *   then    the packet, as long as its header says if there is so much
 */

#include "weft_fuzz.h"

#include "weft_uio.h"

static void
check_ranges(const struct weft_uio *u, const struct weft_io_tlp *t)
{
	const bool has_data = u->kind == WEFT_UIO_WRITE || u->kind == WEFT_UIO_CPLD;

	FUZZ_CHECK(u->kind <= WEFT_UIO_CPLD && u->tag < WEFT_UIO_TAGS);
	FUZZ_CHECK(u->len <= WEFT_UIO_BYTES_MAX && u->len % 4 == 0 && u->addr % 4 == 0);
	FUZZ_CHECK(u->left <= WEFT_UIO_BYTES_MAX && u->lower < 128 && u->lower % 4 == 0);
	FUZZ_CHECK((u->data != NULL) == has_data);
	if (has_data)
		FUZZ_CHECK(u->len > 0 && u->data >= t->tlp && u->data + u->len <= t->tlp + t->len);
	if (u->kind <= WEFT_UIO_WRITE)
		FUZZ_CHECK(u->len > 0 && u->addr % WEFT_UIO_PAGE + u->len <= WEFT_UIO_PAGE);
	if (u->kind == WEFT_UIO_CPLD)
		FUZZ_CHECK(u->status == WEFT_UIO_SC);
}

static bool
same(const struct weft_uio *a, const struct weft_uio *b)
{
	return a->kind == b->kind && a->status == b->status && a->poison == b->poison &&
	       a->requester == b->requester && a->tag == b->tag && a->len == b->len &&
	       a->addr == b->addr && a->completer == b->completer && a->left == b->left &&
	       a->lower == b->lower && (a->data == NULL || memcmp(a->data, b->data, a->len) == 0);
}

static void
check_refusal(const struct weft_io_tlp *t, const struct weft_uio *u, uint8_t status)
{
	static const enum weft_uio_cpl given[] = { WEFT_UIO_UR, WEFT_UIO_CA };
	const enum weft_uio_cpl s = given[status % 2];
	struct weft_io_tlp cpl;
	struct weft_uio said;
	const int rc = weft_uio_refuse(t, s, 0x1234, &cpl);

	FUZZ_CHECK((rc == 0) == (u != NULL && u->kind <= WEFT_UIO_WRITE));
	if (rc != 0)
		return;
	FUZZ_CHECK(weft_io_is_valid(&cpl) && weft_uio_decode(&cpl, &said) == 0);
	FUZZ_CHECK(said.kind == WEFT_UIO_CPL && said.status == s);
	FUZZ_CHECK(said.tag == u->tag && said.requester == u->requester);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t status = fuzz_u8(&in);
	const size_t want = weft_io_tlp_len(in.p, in.n);
	struct weft_io_tlp *t = fuzz_alloc(sizeof(*t)), *again = fuzz_alloc(sizeof(*again));
	struct weft_uio u, u2;

	memset(t, 0, sizeof(*t));
	t->len = (uint16_t)(want != 0 ? want : in.n % (WEFT_IO_TLP_MAX + 1));
	fuzz_take(&in, t->tlp, t->len);
	if (weft_uio_decode(t, &u) == 0) {
		check_ranges(&u, t);
		FUZZ_CHECK(weft_uio_encode(again, &u) == 0 && weft_io_is_valid(again));
		FUZZ_CHECK(weft_uio_decode(again, &u2) == 0 && same(&u, &u2));
		check_refusal(t, &u, status);
	} else {
		check_refusal(t, NULL, status);
	}
	free(again);
	free(t);
	return 0;
}
