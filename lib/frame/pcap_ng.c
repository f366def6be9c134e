/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * pcapng: blocks of type, length, body, length again. A section header says the byte order of what
 * follows; interface descriptions are numbered from 0 within their section; packets come in
 * enhanced, simple or (obsolete) packet blocks. All other blocks are passed over by their length.
 */

#include "pcap_priv.h"

#define BYTE_ORDER_MAGIC 0x1A2B3C4Du
#define NG_INTERFACE 1u
#define NG_OLD_PACKET 2u
#define NG_SIMPLE_PACKET 3u
#define NG_PACKET 6u
#define OPT_END 0u
#define OPT_PACKET_FLAGS 2u
#define OPT_IF_TSRESOL 9u
#define OPT_IF_TSOFFSET 14u
#define MICROSECONDS 6u /* resolution of an interface that does not say */
#define BLOCK_MIN 12u
#define BODY_OFF 8u

/* A block's body. */
struct ng_block {
	const uint8_t *body;
	size_t len;
};

/* Holds any time stamp in nanoseconds, and any offset. */
__extension__ typedef __int128 ng_wide;

/* Nanoseconds since 1970 of a time stamp in units of the interface, clamped. */
static uint64_t
ng_time(const struct weft_pcap_if *i, uint64_t ticks)
{
	const unsigned int exponent = i->resolution & 0x7F;
	ng_wide ns = ticks;

	if (i->resolution & 0x80) {
		ns = (ns * (ng_wide)NS_PER_S) >> exponent;
	} else {
		for (unsigned int e = exponent; e < 9; e++)
			ns *= 10;
		for (unsigned int e = 9; e < exponent && ns != 0; e++)
			ns /= 10;
	}
	ns += (ng_wide)i->offset_s * (ng_wide)NS_PER_S;
	if (ns < 0)
		return 0;
	return ns > (ng_wide)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Parse the options of an interface description at @p at. */
static enum weft_pcap_status
ng_if_options(const struct weft_pcap *p, const struct ng_block *b, size_t at,
	struct weft_pcap_if *i, struct weft_pcap_record *r)
{
	while (b->len - at >= 4) {
		const uint16_t code = pcap_u16(p, b->body + at);
		const uint16_t len = pcap_u16(p, b->body + at + 2);
		const uint8_t *value = b->body + at + 4;
		const size_t padded = (len + 3u) & ~(size_t)3;

		if (code == OPT_END)
			break;
		if (padded > b->len - at - 4)
			return pcap_broken(p, r, BODY_OFF + at + 2, "length of an option",
				"no more than its block has", len);
		if (code == OPT_IF_TSRESOL && len != 1)
			return pcap_broken(
				p, r, BODY_OFF + at + 2, "length of if_tsresol", "1", len);
		if (code == OPT_IF_TSOFFSET && len != 8)
			return pcap_broken(
				p, r, BODY_OFF + at + 2, "length of if_tsoffset", "8", len);
		if (code == OPT_IF_TSRESOL)
			i->resolution = value[0];
		if (code == OPT_IF_TSOFFSET)
			i->offset_s = (int64_t)pcap_u64(p, value);
		at += 4 + padded;
	}
	return WEFT_PCAP_OTHER;
}

static enum weft_pcap_status
ng_interface(struct weft_pcap *p, const struct ng_block *b, struct weft_pcap_record *r)
{
	struct weft_pcap_if i = { .resolution = MICROSECONDS };
	enum weft_pcap_status s;

	if (b->len < 8)
		return pcap_broken(
			p, r, 4, "length of an interface description", "at least 20", b->len + 12);
	if (p->n_ifs == WEFT_PCAP_INTERFACES_MAX)
		return pcap_broken(
			p, r, 0, "interfaces of a section", "at most 1024", (uint64_t)p->n_ifs + 1);
	i.link = pcap_u16(p, b->body);
	i.snaplen = pcap_u32(p, b->body + 4);
	s = ng_if_options(p, b, 8, &i, r);
	if (s == WEFT_PCAP_OTHER)
		p->ifs[p->n_ifs++] = i;
	return s;
}

/*
 * The direction that a packet's options at @p at give. Who cannot be read as options says nothing:
 * the packet stands in front of them, and is whole.
 */
static enum weft_pcap_direction
ng_direction(const struct weft_pcap *p, const struct ng_block *b, size_t at)
{
	while (at <= b->len && b->len - at >= 4) {
		const uint16_t code = pcap_u16(p, b->body + at);
		const uint16_t len = pcap_u16(p, b->body + at + 2);
		const size_t padded = (len + 3u) & ~(size_t)3;

		if (code == OPT_END || padded > b->len - at - 4)
			break;
		if (code == OPT_PACKET_FLAGS && len == 4) {
			const uint32_t way = pcap_u32(p, b->body + at + 4) & 3;

			return way == WEFT_PCAP_IN || way == WEFT_PCAP_OUT
			               ? (enum weft_pcap_direction)way
			               : WEFT_PCAP_UNKNOWN;
		}
		at += 4 + padded;
	}
	return WEFT_PCAP_UNKNOWN;
}

/* Enhanced and obsolete packet blocks: interface, time, lengths, data; options follow. */
static enum weft_pcap_status
ng_packet(struct weft_pcap *p, const struct ng_block *b, bool is_old, struct weft_pcap_record *r)
{
	const struct weft_pcap_if *i;
	uint32_t number, caplen;
	uint64_t ticks;

	if (b->len < 20)
		return pcap_broken(p, r, 4, "length of a packet block", "at least 32", b->len + 12);
	number = is_old ? pcap_u16(p, b->body) : pcap_u32(p, b->body);
	if (number >= p->n_ifs)
		return pcap_broken(p, r, BODY_OFF, "interface of a packet",
			"one that this section describes", number);
	caplen = pcap_u32(p, b->body + 12);
	if (caplen > b->len - 20)
		return pcap_broken(p, r, BODY_OFF + 12, "length of a packet",
			"no more than its block has", caplen);
	i = &p->ifs[number];
	ticks = (uint64_t)pcap_u32(p, b->body + 4) << 32 | pcap_u32(p, b->body + 8);
	p->time_ns = ng_time(i, ticks);
	r->packet = (struct weft_pcap_packet){
		.time_ns = p->time_ns,
		.has_time = true,
		.direction = (uint8_t)ng_direction(p, b, 20 + (((size_t)caplen + 3) & ~(size_t)3)),
		.link = i->link,
		.len = caplen,
		.wire_len = pcap_u32(p, b->body + 16),
		.data = b->body + 20,
	};
	return WEFT_PCAP_PACKET;
}

/* No interface (it is the first), no time, and the captured length follows from the others. */
static enum weft_pcap_status
ng_simple_packet(struct weft_pcap *p, const struct ng_block *b, struct weft_pcap_record *r)
{
	const struct weft_pcap_if *i = &p->ifs[0];
	uint32_t len, wire_len;

	if (b->len < 4)
		return pcap_broken(
			p, r, 4, "length of a simple packet block", "at least 16", b->len + 12);
	if (p->n_ifs == 0)
		return pcap_broken(
			p, r, 0, "interfaces in front of a simple packet block", "at least 1", 0);
	wire_len = pcap_u32(p, b->body);
	len = i->snaplen != 0 && wire_len > i->snaplen ? i->snaplen : wire_len;
	if (len > b->len - 4)
		return pcap_broken(
			p, r, BODY_OFF, "length of a packet", "no more than its block has", len);
	r->packet = (struct weft_pcap_packet){
		.time_ns = p->time_ns,
		.link = i->link,
		.len = len,
		.wire_len = wire_len,
		.data = b->body + 4,
	};
	return WEFT_PCAP_PACKET;
}

/* A section begins: the byte order may change, and its interfaces are numbered anew. */
static enum weft_pcap_status
ng_section(struct weft_pcap *p, const struct ng_block *b, struct weft_pcap_record *r)
{
	if (b->len < 16)
		return pcap_broken(
			p, r, 4, "length of a section header", "at least 28", b->len + 12);
	if (pcap_u16(p, b->body + 4) != 1)
		return pcap_broken(p, r, BODY_OFF + 4, "major version of pcapng", "1",
			pcap_u16(p, b->body + 4));
	p->format = PCAP_NG;
	p->n_ifs = 0;
	return WEFT_PCAP_OTHER;
}

static enum weft_pcap_status
ng_block_read(
	struct weft_pcap *p, uint32_t type, const struct ng_block *b, struct weft_pcap_record *r)
{
	switch (type) {
	case NG_SECTION: return ng_section(p, b, r);
	case NG_INTERFACE: return ng_interface(p, b, r);
	case NG_PACKET: return ng_packet(p, b, false, r);
	case NG_OLD_PACKET: return ng_packet(p, b, true, r);
	case NG_SIMPLE_PACKET: return ng_simple_packet(p, b, r);
	default: return WEFT_PCAP_OTHER;
	}
}

enum weft_pcap_status
pcap_ng_next(struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r)
{
	const bool was_big_endian = p->is_big_endian;
	enum weft_pcap_status s;
	struct ng_block b;
	uint32_t total;

	if (len < BLOCK_MIN)
		return pcap_more(r, BLOCK_MIN);
	if (weft_get_be32(bytes) == NG_SECTION) {
		const uint32_t magic = weft_get_be32(bytes + BODY_OFF);

		if (magic != BYTE_ORDER_MAGIC &&
			weft_get_le32(bytes + BODY_OFF) != BYTE_ORDER_MAGIC)
			return pcap_broken_hex(p, r, BODY_OFF, "byte order of a section",
				"1a2b3c4d in either order", magic);
		p->is_big_endian = magic == BYTE_ORDER_MAGIC;
	}
	total = pcap_u32(p, bytes + 4);
	b = (struct ng_block){ bytes + BODY_OFF, total - BLOCK_MIN };
	if (total < BLOCK_MIN || total % 4 != 0 || total > WEFT_PCAP_RECORD_MAX)
		s = pcap_broken(
			p, r, 4, "length of a block", "a multiple of 4, 12 to 16777216", total);
	else if (len < total)
		s = pcap_more(r, total);
	else if (pcap_u32(p, bytes + total - 4) != total)
		s = pcap_broken(p, r, total - 4, "second length of a block",
			"the same as its first", pcap_u32(p, bytes + total - 4));
	else
		s = ng_block_read(p, pcap_u32(p, bytes), &b, r);
	if (s == WEFT_PCAP_PACKET || s == WEFT_PCAP_OTHER)
		r->used = total;
	else
		p->is_big_endian = was_big_endian; /* the caller may come again */
	return s;
}
