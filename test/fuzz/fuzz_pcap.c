/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Capture files. Reading ends, each record lies in the bytes given, and who gives a file piece by
 * piece (byte 0: how many bytes more than were asked for) reads what one who gives all of it reads.
 */

#include "weft_fuzz.h"

#include "weft_pcap.h"

static bool
same(const struct weft_pcap_record *a, const struct weft_pcap_record *b, enum weft_pcap_status s)
{
	if (s == WEFT_PCAP_BROKEN)
		return a->offset == b->offset && a->what == b->what && a->got == b->got;
	return a->used == b->used &&
	       (s != WEFT_PCAP_PACKET ||
		       (a->packet.time_ns == b->packet.time_ns &&
			       a->packet.link == b->packet.link && a->packet.len == b->packet.len &&
			       a->packet.wire_len == b->packet.wire_len));
}

/* The next record with no more bytes than it asks for, and @p slack. */
static enum weft_pcap_status
next_by_pieces(struct weft_pcap *p, const uint8_t *file, size_t len, uint8_t slack,
	struct weft_pcap_record *r)
{
	size_t have = slack;

	for (;;) {
		const size_t left = len - (size_t)p->offset;
		const uint64_t offset = p->offset;
		enum weft_pcap_status s;
		uint8_t *piece;

		have = have < left ? have : left;
		piece = fuzz_copy(file + p->offset, have);
		s = weft_pcap_next(p, piece, have, r);
		if (s == WEFT_PCAP_PACKET)
			FUZZ_CHECK(r->packet.data >= piece &&
				   r->packet.data + r->packet.len <= piece + have);
		free(piece);
		if (s == WEFT_PCAP_MORE)
			FUZZ_CHECK(r->needed > have && r->needed <= WEFT_PCAP_RECORD_MAX + 64);
		if (s == WEFT_PCAP_MORE || s == WEFT_PCAP_BROKEN)
			FUZZ_CHECK(p->offset == offset);
		if (s != WEFT_PCAP_MORE || have == left)
			return s;
		have = r->needed;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t slack = fuzz_u8(&in);
	struct weft_pcap *whole = fuzz_alloc(sizeof(*whole)), *pieces = fuzz_alloc(sizeof(*pieces));
	uint8_t *file = fuzz_copy(in.p, in.n);
	enum weft_pcap_status s;

	weft_pcap_begin(whole);
	weft_pcap_begin(pieces);
	do {
		const size_t at = (size_t)whole->offset;
		struct weft_pcap_record a, b;

		s = weft_pcap_next(whole, file + at, in.n - at, &a);
		FUZZ_CHECK(next_by_pieces(pieces, file, in.n, slack, &b) == s);
		if (s != WEFT_PCAP_MORE)
			FUZZ_CHECK(same(&a, &b, s));
		if (s == WEFT_PCAP_PACKET || s == WEFT_PCAP_OTHER)
			FUZZ_CHECK(
				a.used > 0 && a.used <= in.n - at && whole->offset == at + a.used);
		FUZZ_CHECK(whole->n_ifs <= WEFT_PCAP_INTERFACES_MAX);
	} while (s == WEFT_PCAP_PACKET || s == WEFT_PCAP_OTHER);
	(void)weft_pcap_has_link(whole, 1);
	free(file);
	free(pieces);
	free(whole);
	return 0;
}
