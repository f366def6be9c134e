/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * pcap: a header of 24 bytes, then packets, each after a header of 16. The first four bytes say
 * the byte order and the resolution, or that the file is pcapng.
 */

#include "pcap_priv.h"

#define MAGIC_MICRO 0xA1B2C3D4u
#define MAGIC_NANO 0xA1B23C4Du
#define LINK_MASK 0x03FFFFFFu /* above: length of a frame check sequence */

void
weft_pcap_begin(struct weft_pcap *p)
{
	memset(p, 0, sizeof(*p));
}

bool
weft_pcap_has_link(const struct weft_pcap *p, uint16_t link)
{
	for (uint32_t i = 0; i < p->n_ifs; i++)
		if (p->ifs[i].link == link)
			return true;
	return false;
}

bool
weft_pcap_is_ng(const struct weft_pcap *p)
{
	return p->format == PCAP_NG;
}

/* True if @p magic, read in one byte order, is that of pcap. */
static bool
pcap_take_magic(struct weft_pcap *p, uint32_t magic, bool is_big_endian)
{
	if (magic != MAGIC_MICRO && magic != MAGIC_NANO)
		return false;
	p->format = magic == MAGIC_NANO ? PCAP_NANO : PCAP_MICRO;
	p->is_big_endian = is_big_endian;
	return true;
}

static enum weft_pcap_status
pcap_file_header(struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r)
{
	struct weft_pcap q = { .n_ifs = 1 };
	uint32_t link;

	if (!pcap_take_magic(&q, weft_get_be32(bytes), true) &&
		!pcap_take_magic(&q, weft_get_le32(bytes), false))
		return pcap_broken_hex(p, r, 0, "first four bytes",
			"those of a pcap or pcapng file", weft_get_be32(bytes));
	if (len < WEFT_PCAP_FILE_HEADER_LEN)
		return pcap_more(r, WEFT_PCAP_FILE_HEADER_LEN);
	if (pcap_u16(&q, bytes + 4) != 2)
		return pcap_broken(p, r, 4, "major version of pcap", "2", pcap_u16(&q, bytes + 4));
	if (pcap_u16(&q, bytes + 6) != 4)
		return pcap_broken(p, r, 6, "minor version of pcap", "4", pcap_u16(&q, bytes + 6));
	link = pcap_u32(&q, bytes + 20) & LINK_MASK;
	if (link > UINT16_MAX)
		return pcap_broken(p, r, 20, "link type", "0 to 65535", link);
	p->format = q.format;
	p->is_big_endian = q.is_big_endian;
	p->n_ifs = 1;
	p->ifs[0] = (struct weft_pcap_if){ .link = (uint16_t)link };
	r->used = WEFT_PCAP_FILE_HEADER_LEN;
	return WEFT_PCAP_OTHER;
}

static enum weft_pcap_status
pcap_packet(struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r)
{
	uint64_t fraction;
	uint32_t caplen;

	if (len < WEFT_PCAP_PACKET_HEADER_LEN)
		return pcap_more(r, WEFT_PCAP_PACKET_HEADER_LEN);
	caplen = pcap_u32(p, bytes + 8);
	if (caplen > WEFT_PCAP_RECORD_MAX - WEFT_PCAP_PACKET_HEADER_LEN)
		return pcap_broken(p, r, 8, "length of a packet", "at most 16777200", caplen);
	if (len < WEFT_PCAP_PACKET_HEADER_LEN + caplen)
		return pcap_more(r, WEFT_PCAP_PACKET_HEADER_LEN + caplen);
	fraction = pcap_u32(p, bytes + 4);
	p->time_ns = pcap_u32(p, bytes) * NS_PER_S +
	             (p->format == PCAP_NANO ? fraction : fraction * 1000);
	r->packet = (struct weft_pcap_packet){
		.time_ns = p->time_ns,
		.has_time = true,
		.link = p->ifs[0].link,
		.len = caplen,
		.wire_len = pcap_u32(p, bytes + 12),
		.data = bytes + WEFT_PCAP_PACKET_HEADER_LEN,
	};
	r->used = WEFT_PCAP_PACKET_HEADER_LEN + caplen;
	return WEFT_PCAP_PACKET;
}

static enum weft_pcap_status
pcap_record(struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r)
{
	switch (p->format) {
	case PCAP_MICRO:
	case PCAP_NANO: return pcap_packet(p, bytes, len, r);
	case PCAP_NG: return pcap_ng_next(p, bytes, len, r);
	default: break;
	}
	if (len < 4)
		return pcap_more(r, 4);
	if (weft_get_be32(bytes) == NG_SECTION)
		return pcap_ng_next(p, bytes, len, r);
	return pcap_file_header(p, bytes, len, r);
}

enum weft_pcap_status
weft_pcap_next(struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r)
{
	enum weft_pcap_status s;

	memset(r, 0, sizeof(*r));
	s = pcap_record(p, bytes, len, r);
	p->offset += r->used;
	return s;
}

static void
pcap_put_u32(uint8_t *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
}

void
weft_pcap_put_file_header(uint8_t out[WEFT_PCAP_FILE_HEADER_LEN], uint16_t link, uint32_t snaplen)
{
	static const uint16_t version[2] = { 2, 4 };

	memset(out, 0, WEFT_PCAP_FILE_HEADER_LEN);
	pcap_put_u32(out, MAGIC_NANO);
	memcpy(out + 4, version, sizeof(version));
	pcap_put_u32(out + 16, snaplen);
	pcap_put_u32(out + 20, link);
}

void
weft_pcap_put_packet_header(
	uint8_t out[WEFT_PCAP_PACKET_HEADER_LEN], uint64_t time_ns, uint32_t len)
{
	pcap_put_u32(out, (uint32_t)(time_ns / NS_PER_S));
	pcap_put_u32(out + 4, (uint32_t)(time_ns % NS_PER_S));
	pcap_put_u32(out + 8, len);
	pcap_put_u32(out + 12, len);
}
