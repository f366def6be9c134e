/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Everything of CCI that takes bytes from outside. What is taken is what the writer makes: a
 * payload, but for its reserved bytes; a message, of the packets that led to it; a packet, of its
 * serial frame; a VDM header; a text. A CDAT that is taken can be walked from end to end.
 *
 *   byte 0  what it is: part[]
 *   then    what it needs
 */

#include "weft_fuzz.h"

#include "weft_cci.h"
#include "weft_cci_cdat.h"
#include "weft_cci_layout.h"
#include "weft_cci_mctp.h"
#include "weft_cci_text.h"
#include "weft_cci_vdm.h"

#define PACKETS 64
#define PACKET 256

union payload {
	uint64_t align;
	uint8_t bytes[WEFT_CCI_STRUCT_MAX];
};

/* The layout that two bytes choose. */
static const struct weft_cci_layout *
layout_in(struct fuzz_in *in)
{
	const unsigned int low = fuzz_u8(in), i = low | (unsigned int)fuzz_u8(in) << 8;
	const struct weft_cci_command_layout *c =
		&weft_cci_commands[(i >> 1) % weft_cci_n_commands];

	return (i & 1) != 0 ? c->rsp : c->req;
}

static void
fuzz_payload(struct fuzz_in *in)
{
	const struct weft_cci_layout *layout = layout_in(in);
	uint8_t *b = fuzz_copy(in->p, in->n), *put, *again;
	char *text = fuzz_alloc(16 * in->n + WEFT_CCI_TEXT_MAX);
	union payload p, q;
	int rc;

	FUZZ_CHECK(layout != NULL ||
		   weft_cci_print_payload(text, 1, NULL, b, in->n) == (in->n == 0 ? 0 : -EMSGSIZE));
	rc = layout != NULL ? layout->get(&p, b, in->n) : -EMSGSIZE;
	FUZZ_CHECK(rc == 0 || rc == -EMSGSIZE || rc == -EINVAL);
	if (rc == 0) {
		const size_t len = in->n < layout->len ? layout->len : in->n;

		FUZZ_CHECK(in->n >= layout->min);
		put = fuzz_alloc(len);
		again = fuzz_alloc(len);
		FUZZ_CHECK(layout->put(put, len, &p) == (int)len);
		FUZZ_CHECK(len == 0 || layout->put(again, len - 1, &p) == -ENOBUFS);
		/* Each byte is as it was, or reserved. */
		for (size_t i = 0; i < in->n; i++)
			FUZZ_CHECK(put[i] == b[i] || put[i] == 0);
		FUZZ_CHECK(layout->get(&q, put, len) == 0);
		FUZZ_CHECK(layout->put(again, len, &q) == (int)len);
		FUZZ_CHECK(len == 0 || memcmp(put, again, len) == 0);
		FUZZ_CHECK(weft_cci_print_payload(
				   text, 16 * in->n + WEFT_CCI_TEXT_MAX, layout, b, in->n) == 0);
		if (len <= WEFT_CCI_MAX_PAYLOAD) {
			FUZZ_CHECK(weft_cci_parse_payload(again, len, layout, text) == (int)len);
			/* A list was copied with the reserved bytes of its entries. */
			for (size_t i = 0; i < len; i++)
				FUZZ_CHECK(again[i] == put[i] || again[i] == 0);
		}
		free(put);
		free(again);
	}
	free(text);
	free(b);
}

static void
fuzz_header(struct fuzz_in *in)
{
	uint8_t *b = fuzz_copy(in->p, in->n), put[WEFT_CCI_HDR];
	struct weft_cci_hdr h;
	const int rc = weft_cci_get_hdr(&h, b, in->n);

	FUZZ_CHECK((rc == -EMSGSIZE) == (in->n < WEFT_CCI_HDR));
	if (rc == 0 || rc == -EBADMSG) {
		FUZZ_CHECK((rc == 0) == (h.len == in->n - WEFT_CCI_HDR));
		weft_cci_put_hdr(put, &h);
		b[0] &= 0x0F;
		b[2] = 0;
		b[7] &= 0x9F;
		FUZZ_CHECK(memcmp(put, b, sizeof(put)) == 0);
		FUZZ_CHECK(weft_cci_rc_name(h.rc)[0] != '\0');
	}
	free(b);
}

/* Packets, each with a byte of length before it. */
static void
fuzz_packets(struct fuzz_in *in)
{
	struct weft_cci_mctp_rx *rx = fuzz_alloc(sizeof(*rx));
	struct {
		uint8_t b[PACKET];
		size_t len;
	} taken[PACKETS], packet;
	unsigned int n = 0;

	memset(rx, 0, sizeof(*rx));
	while (in->n > 0 && n < PACKETS) {
		struct weft_cci_mctp_hdr first;
		uint8_t *own;
		int rc;

		packet.len = fuzz_u8(in);
		fuzz_take(in, packet.b, packet.len);
		own = fuzz_copy(packet.b, packet.len);
		rc = weft_cci_mctp_rx(rx, own, packet.len);
		free(own);
		FUZZ_CHECK(rx->len <= sizeof(rx->message));
		if (rc < 0) {
			FUZZ_CHECK(rc == -EMSGSIZE || rc == -EINVAL || rc == -EPROTO);
			continue;
		}
		FUZZ_CHECK(rx->is_open == (rc == 0));
		if ((packet.b[3] & 0x80) != 0)
			n = 0;
		packet.b[0] &= 0x0F;
		taken[n++] = packet;
		if (rc == 0)
			continue;
		FUZZ_CHECK(weft_cci_mctp_get_hdr(&first, taken[0].b, taken[0].len) == 0);
		FUZZ_CHECK(weft_cci_mctp_packets(rx->len, rx->unit) == n);
		for (unsigned int i = 0; i < n; i++) {
			FUZZ_CHECK(weft_cci_mctp_put_packet(packet.b, sizeof(packet.b), &first,
					   rx->message, rx->len, rx->unit, i) == (int)taken[i].len);
			FUZZ_CHECK(memcmp(packet.b, taken[i].b, taken[i].len) == 0);
		}
		n = 0;
	}
	free(rx);
}

static void
fuzz_serial(struct fuzz_in *in)
{
	uint8_t frame[WEFT_CCI_SERIAL_FRAME_MAX];
	struct weft_cci_serial_rx rx = { 0 };

	for (size_t i = 0; i < in->n; i++) {
		const int rc = weft_cci_serial_rx(&rx, in->p[i]);
		int len;

		FUZZ_CHECK(rc >= -EBADMSG && rc <= WEFT_CCI_SERIAL_PACKET_MAX);
		if (rc <= 0)
			continue;
		len = weft_cci_serial_put(frame, sizeof(frame), rx.packet, (size_t)rc);
		FUZZ_CHECK(len > 0 && (size_t)len <= i + 1);
		FUZZ_CHECK(memcmp(frame, in->p + i + 1 - len, (size_t)len) == 0);
	}
}

static void
fuzz_cdat(struct fuzz_in *in)
{
	uint8_t *b = fuzz_copy(in->p, in->n), sum = 0;
	size_t at = 16;

	/* Sums and lengths are rarely right by themselves. */
	if (in->n >= 16 && (b[4] & 0x80) != 0)
		weft_cci_cdat_finish(b, (uint32_t)in->n, 1);
	if (weft_cci_cdat_check(b, in->n) == 0) {
		for (const uint8_t *p = NULL; (p = weft_cci_cdat_next(b, in->n, p)) != NULL;) {
			FUZZ_CHECK(p == b + at);
			at += weft_get_le16(p + 2);
		}
		FUZZ_CHECK(at == in->n);
		for (size_t i = 0; i < in->n; i++)
			sum = (uint8_t)(sum + b[i]);
		FUZZ_CHECK(sum == 0);
	}
	free(b);
}

static void
fuzz_vdm(struct fuzz_in *in)
{
	uint8_t *b = fuzz_copy(in->p, in->n), put[WEFT_CCI_VDM_HDR];
	struct weft_cci_vdm v, again;

	if (weft_cci_vdm_get(&v, b, in->n) == 0) {
		FUZZ_CHECK(weft_cci_vdm_put(put, &v) == 0);
		FUZZ_CHECK(put[0] == b[0] && put[13] == b[13] && put[15] == b[15]);
		FUZZ_CHECK(v.dwords == 0 || put[3] == b[3]); /* else it is reserved */
		FUZZ_CHECK(((put[14] ^ b[14]) & 0x7F) == 0 && put[12] == (b[12] & 7));
		memcpy(b, put, sizeof(put));
		FUZZ_CHECK(weft_cci_vdm_get(&again, b, in->n) == 0);
		FUZZ_CHECK(weft_cci_vdm_put(put, &again) == 0);
		FUZZ_CHECK(memcmp(put, b, sizeof(put)) == 0);
	}
	free(b);
}

static void
fuzz_words(struct fuzz_in *in)
{
	const struct weft_cci_layout *layout = layout_in(in);
	char *text = fuzz_text(in->p, in->n), printed[WEFT_CCI_TEXT_MAX];
	uint8_t b[WEFT_CCI_MAX_PAYLOAD], again[WEFT_CCI_MAX_PAYLOAD];
	const int len = weft_cci_parse_payload(b, sizeof(b), layout, text);

	FUZZ_CHECK(len >= 0 || len == -EINVAL || len == -ENOBUFS);
	if (len >= 0) {
		FUZZ_CHECK(weft_cci_print_payload(
				   printed, sizeof(printed), layout, b, (size_t)len) == 0);
		FUZZ_CHECK(weft_cci_parse_payload(again, sizeof(again), layout, printed) == len);
		FUZZ_CHECK(memcmp(b, again, (size_t)len) == 0);
	}
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static void (*const part[])(struct fuzz_in *) = { fuzz_payload, fuzz_header, fuzz_packets,
		fuzz_serial, fuzz_cdat, fuzz_vdm, fuzz_words };
	struct fuzz_in in = { data, len };

	part[fuzz_u8(&in) % WEFT_ARRAY_SIZE(part)](&in);
	return 0;
}
