/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* MCTP packets (fabric.md 4.2): messages cut and put together again. */

#include "weft_cci_mctp.h"

#include <errno.h>

#define MCTP_VERSION 0x01
#define MCTP_FIRST 0x80
#define MCTP_LAST 0x40
#define MCTP_OWNER 0x08
#define MCTP_CHECKED 0x80 /* of the type: an integrity check follows the message */

uint8_t
weft_cci_mctp_type(uint16_t opcode)
{
	return opcode >= 0x5100 && opcode < 0x5A00 ? WEFT_CCI_MCTP_FM_API : WEFT_CCI_MCTP_CCI;
}

struct weft_cci_mctp_hdr
weft_cci_mctp_answer(const struct weft_cci_mctp_hdr *h)
{
	return (struct weft_cci_mctp_hdr){ .dest = h->src, .src = h->dest, .tag = h->tag };
}

void
weft_cci_mctp_put_hdr(uint8_t b[WEFT_CCI_MCTP_HDR], const struct weft_cci_mctp_hdr *h)
{
	b[0] = MCTP_VERSION;
	b[1] = h->dest;
	b[2] = h->src;
	b[3] = (uint8_t)((h->is_first ? MCTP_FIRST : 0) | (h->is_last ? MCTP_LAST : 0) |
			 (h->seq & 3) << 4 | (h->is_owner ? MCTP_OWNER : 0) | (h->tag & 7));
}

int
weft_cci_mctp_get_hdr(struct weft_cci_mctp_hdr *h, const uint8_t *b, size_t len)
{
	if (len < WEFT_CCI_MCTP_HDR)
		return -EMSGSIZE;
	if ((b[0] & 0x0F) != MCTP_VERSION)
		return -EINVAL;
	*h = (struct weft_cci_mctp_hdr){ .dest = b[1],
		.src = b[2],
		.is_first = (b[3] & MCTP_FIRST) != 0,
		.is_last = (b[3] & MCTP_LAST) != 0,
		.seq = b[3] >> 4 & 3,
		.is_owner = (b[3] & MCTP_OWNER) != 0,
		.tag = b[3] & 7 };
	return 0;
}

unsigned int
weft_cci_mctp_packets(size_t len, size_t mtu)
{
	return (unsigned int)((len + mtu - 1) / mtu);
}

int
weft_cci_mctp_put_packet(uint8_t *b, size_t room, const struct weft_cci_mctp_hdr *h,
	const uint8_t *msg, size_t len, size_t mtu, unsigned int i)
{
	const unsigned int n = weft_cci_mctp_packets(len, mtu);
	struct weft_cci_mctp_hdr own = *h;
	size_t part;

	if (i >= n)
		return -ERANGE;
	part = i + 1 < n ? mtu : len - i * mtu;
	if (room < WEFT_CCI_MCTP_HDR + part)
		return -ENOBUFS;
	own.is_first = i == 0;
	own.is_last = i + 1 == n;
	own.seq = (h->seq + i) & 3;
	weft_cci_mctp_put_hdr(b, &own);
	memcpy(b + WEFT_CCI_MCTP_HDR, msg + i * mtu, part);
	return (int)(WEFT_CCI_MCTP_HDR + part);
}

/* The packet is of the message that is open. */
static bool
mctp_is_same(const struct weft_cci_mctp_hdr *a, const struct weft_cci_mctp_hdr *b)
{
	return a->dest == b->dest && a->src == b->src && a->is_owner == b->is_owner &&
	       a->tag == b->tag;
}

int
weft_cci_mctp_rx(struct weft_cci_mctp_rx *rx, const uint8_t *b, size_t len)
{
	struct weft_cci_mctp_hdr h;
	const int rc = weft_cci_mctp_get_hdr(&h, b, len);
	bool follows;

	if (rc != 0) {
		rx->is_open = false;
		return rc;
	}
	if (!h.is_first && rx->is_open && !mctp_is_same(&h, &rx->hdr))
		return -EPROTO;
	follows = rx->is_open && h.seq == ((rx->hdr.seq + 1) & 3);
	rx->is_open = false;
	if (!h.is_first && !follows)
		return -EPROTO;
	b += WEFT_CCI_MCTP_HDR;
	len -= WEFT_CCI_MCTP_HDR;
	if (h.is_first) {
		rx->len = 0;
		rx->unit = len;
	}
	if (len == 0 || len > rx->unit || (len < rx->unit && !h.is_last) ||
		len > sizeof(rx->message) - rx->len)
		return -EMSGSIZE;
	if (h.is_first && (b[0] & MCTP_CHECKED) != 0)
		return -EINVAL;
	memcpy(rx->message + rx->len, b, len);
	rx->len += len;
	rx->hdr = h;
	rx->is_open = !h.is_last;
	return h.is_last;
}
