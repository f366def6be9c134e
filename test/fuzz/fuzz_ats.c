/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * ATS packets. What is read is in range and is the same after it was written and read again; so are
 * the translations of a completion.
 *
 *   byte 0  bit 0: read completion boundary 64 or 128
 *   then    the packet
 */

#include "weft_fuzz.h"

#include "weft_ats_wire.h"

#define ROOM (WEFT_ATS_HEADER_MAX + 4 * WEFT_ATS_DWS_MAX)

static void
check_ranges(const struct weft_ats_packet *p, const uint8_t *bytes, size_t len)
{
	FUZZ_CHECK(p->kind < WEFT_ATS_KINDS && p->tc < WEFT_ATS_TCS && p->attr < 4);
	FUZZ_CHECK(p->length <= WEFT_ATS_DWS_MAX && p->byte_count < 4096 + 1);
	FUZZ_CHECK(p->itag < WEFT_ATS_ITAGS && p->count <= 8 && p->group < 512 && p->code < 16);
	FUZZ_CHECK(p->lower_addr < 128 && p->page_bits < 8 && p->pasid < 1u << 20);
	FUZZ_CHECK(p->has_pasid || p->pasid == 0);
	if (p->kind == WEFT_ATS_INVALIDATE)
		FUZZ_CHECK(p->log2 >= WEFT_ATS_PAGE_LOG2 && p->log2 <= 64);
	if (p->kind == WEFT_ATS_INVALIDATED)
		FUZZ_CHECK(p->count >= 1);
	if (p->data != NULL)
		FUZZ_CHECK(p->data >= bytes && p->data + 4u * p->length <= bytes + len);
}

/* Fields one by one: the struct has holes. */
static bool
same(const struct weft_ats_packet *a, const struct weft_ats_packet *b)
{
	const bool head = a->kind == b->kind && a->tc == b->tc && a->attr == b->attr &&
	                  a->at == b->at && a->tag == b->tag && a->enables == b->enables &&
	                  a->status == b->status && a->lower_addr == b->lower_addr;
	const bool body = a->addr == b->addr && a->itags == b->itags && a->pasid == b->pasid &&
	                  a->length == b->length && a->byte_count == b->byte_count &&
	                  a->requester == b->requester && a->target == b->target &&
	                  a->group == b->group && a->itag == b->itag && a->log2 == b->log2 &&
	                  a->count == b->count && a->page_bits == b->page_bits &&
	                  a->code == b->code;
	const bool bits = a->poisoned == b->poisoned && a->no_write == b->no_write &&
	                  a->global == b->global && a->has_pasid == b->has_pasid &&
	                  a->exec == b->exec && a->priv == b->priv;

	return head && body && bits && (a->data == NULL) == (b->data == NULL) &&
	       (a->data == NULL || memcmp(a->data, b->data, 4u * a->length) == 0);
}

static void
check_again(const struct weft_ats_packet *p, unsigned int rcb)
{
	uint8_t *room = fuzz_alloc(ROOM), *exact;
	const size_t len = weft_ats_encode(p, room, ROOM);
	struct weft_ats_packet again;

	FUZZ_CHECK(len != 0);
	exact = fuzz_alloc(len);
	FUZZ_CHECK(weft_ats_encode(p, exact, len) == len && memcmp(exact, room, len) == 0);
	FUZZ_CHECK(weft_ats_encode(p, exact, len - 1) == 0);
	FUZZ_CHECK(weft_ats_encode(p, exact, len) == len);
	FUZZ_CHECK(weft_ats_decode(exact, len, rcb, &again) == WEFT_OK);
	FUZZ_CHECK(same(p, &again));
	free(exact);
	free(room);
}

static void
check_xlats(const struct weft_ats_packet *p, unsigned int rcb)
{
	struct weft_ats_xlat x[WEFT_ATS_XLATS];
	enum weft_ats_part part;
	unsigned int n = 0;

	if (weft_ats_xlats_get(p, rcb, &part, x, &n) != WEFT_OK)
		return;
	FUZZ_CHECK(n >= 1 && n <= rcb / WEFT_ATS_XLAT_LEN && part <= WEFT_ATS_SECOND);
	for (unsigned int i = 0; i < n; i++) {
		if ((x[i].bits & (WEFT_ATS_R | WEFT_ATS_W)) == 0)
			continue;
		FUZZ_CHECK(x[i].log2 >= WEFT_ATS_PAGE_LOG2 && x[i].log2 <= 64);
		FUZZ_CHECK(
			x[i].log2 == 64 ? x[i].pa == 0 : (x[i].pa & weft_mask64(x[i].log2)) == 0);
		FUZZ_CHECK((x[i].bits & ~WEFT_ATS_BITS) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const unsigned int rcb = fuzz_u8(&in) & 1 ? 128 : 64;
	uint8_t *bytes = fuzz_copy(in.p, in.n);
	struct weft_ats_packet p;
	enum weft_verdict v = weft_ats_decode(bytes, in.n, rcb, &p);

	FUZZ_CHECK((unsigned int)v < WEFT_VERDICT_COUNT);
	if (v == WEFT_OK) {
		check_ranges(&p, bytes, in.n);
		check_again(&p, rcb);
		if (p.kind == WEFT_ATS_CPLD)
			check_xlats(&p, rcb);
	}
	free(bytes);
	return 0;
}
