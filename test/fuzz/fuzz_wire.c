/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frame headers. A frame that is taken is the one that weft_wire_build() makes of its header, and
 * what is left of it without some flits is a good frame too.
 *
 *   byte 0     bit 0: make the check right; bit 1: EtherType and version too
 *   bytes 1-8  flits to take out
 *   then       the frame
 */

#include "weft_fuzz.h"

#include "weft_data_crc.h"
#include "weft_wire.h"

enum { AT_ETHERTYPE = 12, AT_VERSION = 14, AT_CHECK = 30 };

static void
mend(uint8_t *frame, size_t len, uint8_t how)
{
	if (len < WEFT_WIRE_FLITS_OFF)
		return;
	if (how & 2) {
		weft_put_be16(frame + AT_ETHERTYPE, WEFT_ETHERTYPE);
		frame[AT_VERSION] = (uint8_t)(WEFT_WIRE_VERSION << 4 | (frame[AT_VERSION] & 0xF));
	}
	if (how & 1)
		weft_put_be16(frame + AT_CHECK,
			weft_crc16_t10dif(0, frame + WEFT_ETH_LEN, AT_CHECK - WEFT_ETH_LEN));
}

static void
check_header(const struct weft_wire_hdr *h, size_t len)
{
	FUZZ_CHECK(h->kind <= WEFT_WIRE_CONTROL && h->mode <= WEFT_MODE_RXL && h->vc <= 7);
	FUZZ_CHECK(h->spid <= 0xFFF && h->dpid <= 0xFFF);
	if (h->mode == WEFT_MODE_CXL)
		FUZZ_CHECK(h->spid == WEFT_PID_NONE && h->dpid == WEFT_PID_NONE);
	if (h->kind == WEFT_WIRE_CONTROL) {
		FUZZ_CHECK(h->n_flits == 0 && len >= WEFT_WIRE_FLITS_OFF);
		return;
	}
	FUZZ_CHECK(h->n_flits >= 1 && h->n_flits <= WEFT_WIRE_FLITS_MAX);
	FUZZ_CHECK(len == WEFT_WIRE_FRAME_LEN(h->n_flits));
}

/* The flits that are left, by one copy each of what was. */
static void
check_remove(uint8_t *frame, size_t len, struct weft_wire_hdr h, uint64_t gone)
{
	uint8_t *was = fuzz_copy(frame, len);
	const unsigned int n = h.n_flits;
	const size_t left = weft_wire_remove(frame, &h, gone);
	size_t at = WEFT_WIRE_FLITS_OFF;
	struct weft_wire_hdr again;

	for (unsigned int i = 0; i < n; i++)
		if (!(gone & WEFT_BIT64(i))) {
			FUZZ_CHECK(memcmp(frame + at, was + WEFT_WIRE_FRAME_LEN(i),
					   WEFT_WIRE_FLIT_LEN) == 0);
			at += WEFT_WIRE_FLIT_LEN;
		}
	FUZZ_CHECK(left == (at == WEFT_WIRE_FLITS_OFF ? 0 : at));
	if (left != 0) {
		FUZZ_CHECK(weft_wire_parse(frame, left, &again) == WEFT_OK);
		FUZZ_CHECK(again.session == h.session && again.n_flits == h.n_flits);
	}
	free(was);
}

static void
check_zero(const uint8_t *frame, unsigned int n)
{
	const uint64_t zero = weft_wire_all_zero(frame + WEFT_WIRE_FLITS_OFF, n);

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *flit = frame + WEFT_WIRE_FRAME_LEN(i);
		unsigned int any = 0;

		for (unsigned int k = 0; k < WEFT_WIRE_FLIT_LEN; k++)
			any |= flit[k];
		FUZZ_CHECK((any == 0) == ((zero >> i & 1) != 0));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t how = fuzz_u8(&in);
	const uint64_t gone = fuzz_u64(&in);
	uint8_t *frame = fuzz_copy(in.p, in.n), *built = fuzz_copy(in.p, in.n);
	struct weft_wire_hdr h;
	enum weft_verdict v;

	mend(frame, in.n, how);
	v = weft_wire_parse(frame, in.n, &h);
	FUZZ_CHECK((unsigned int)v < WEFT_VERDICT_COUNT);
	if (v == WEFT_OK) {
		check_header(&h, in.n);
		memset(built + AT_ETHERTYPE, 0xA5, WEFT_WIRE_FLITS_OFF - AT_ETHERTYPE);
		weft_wire_build(built, &h);
		FUZZ_CHECK(memcmp(built, frame, in.n) == 0);
		check_zero(frame, h.n_flits);
		if (h.kind == WEFT_WIRE_FLITS)
			check_remove(frame, in.n, h, gone);
	}
	free(built);
	free(frame);
	return 0;
}
