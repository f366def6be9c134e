/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Shared by both formats. */
#ifndef PCAP_PRIV_H
#define PCAP_PRIV_H

#include "weft_pcap.h"

/* NONE: nothing read yet. */
enum pcap_format { PCAP_NONE, PCAP_MICRO, PCAP_NANO, PCAP_NG };

#define NG_SECTION 0x0A0D0D0Au /* the same in both byte orders */
#define NS_PER_S UINT64_C(1000000000)

static inline uint16_t
pcap_u16(const struct weft_pcap *p, const uint8_t *at)
{
	return p->is_big_endian ? weft_get_be16(at) : weft_get_le16(at);
}

static inline uint32_t
pcap_u32(const struct weft_pcap *p, const uint8_t *at)
{
	return p->is_big_endian ? weft_get_be32(at) : weft_get_le32(at);
}

static inline uint64_t
pcap_u64(const struct weft_pcap *p, const uint8_t *at)
{
	return p->is_big_endian ? weft_get_be64(at) : weft_get_le64(at);
}

static inline enum weft_pcap_status
pcap_more(struct weft_pcap_record *r, size_t needed)
{
	r->needed = needed;
	return WEFT_PCAP_MORE;
}

/** @param at  of the wrong field, from the begin of the record */
static inline enum weft_pcap_status
pcap_broken(const struct weft_pcap *p, struct weft_pcap_record *r, size_t at, const char *what,
	const char *expected, uint64_t got)
{
	r->offset = p->offset + at;
	r->what = what;
	r->expected = expected;
	r->got = got;
	return WEFT_PCAP_BROKEN;
}

static inline enum weft_pcap_status
pcap_broken_hex(const struct weft_pcap *p, struct weft_pcap_record *r, size_t at, const char *what,
	const char *expected, uint64_t got)
{
	r->is_hex = true;
	return pcap_broken(p, r, at, what, expected, got);
}

/** The next block of a pcapng file, of the first 12 bytes on of its first block. */
enum weft_pcap_status pcap_ng_next(
	struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r);

#endif /* PCAP_PRIV_H */
