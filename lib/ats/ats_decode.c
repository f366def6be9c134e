/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATS packets: bytes to fields. The length is judged first; then no field can lie outside. */

#include "ats_wire_priv.h"
#include "weft_ats_wire.h"

/* Bytes 0..7, which all kinds share. */
struct header {
	const uint8_t *p;
	size_t len; /* of header and payload */
	unsigned int length; /* field Length */
	unsigned int flags; /* bytes 2 and 3 */
};

static enum weft_verdict
decode_memory(const struct header *h, bool write, unsigned int rcb, struct weft_ats_packet *out)
{
	const unsigned int at = h->flags >> ATS_AT_SHIFT & 3;
	const unsigned int dws = h->length == 0 ? WEFT_ATS_DWS_MAX : h->length;

	if (at == 3 || (at == WEFT_ATS_AT_REQUEST && write))
		return WEFT_DROP_ATS_TYPE;
	if (h->len != ATS_HEADER_LEN + (write ? (size_t)dws * 4 : 0))
		return WEFT_DROP_ATS_LENGTH;
	out->kind = write ? WEFT_ATS_WRITE : WEFT_ATS_READ;
	out->length = (uint16_t)dws;
	out->tag = h->p[6];
	out->addr = weft_get_be64(h->p + 8) & ~UINT64_C(3);
	if (at == WEFT_ATS_AT_REQUEST) {
		out->kind = WEFT_ATS_REQUEST;
		out->no_write = h->p[15] & 1;
		return h->length == 0 || h->length % 2 != 0 || h->length * 4 > rcb ||
		                       h->p[7] != ATS_FULL_ENABLES
		               ? WEFT_DROP_ATS_FIELD
		               : WEFT_OK;
	}
	out->at = (uint8_t)at;
	out->attr = h->flags >> ATS_ATTR_SHIFT & 3;
	out->enables = h->p[7];
	if (write)
		out->data = h->p + ATS_HEADER_LEN;
	return WEFT_OK;
}

static enum weft_verdict
decode_completion(const struct header *h, bool has_data, struct weft_ats_packet *out)
{
	const unsigned int dws = h->length == 0 ? WEFT_ATS_DWS_MAX : h->length;

	if (h->len != ATS_CPL_HEADER_LEN + (has_data ? (size_t)dws * 4 : 0))
		return WEFT_DROP_ATS_LENGTH;
	out->kind = has_data ? WEFT_ATS_CPLD : WEFT_ATS_CPL;
	out->target = out->requester; /* bytes 4 and 5 are the completer here */
	out->status = h->p[6] >> 5;
	out->byte_count = weft_get_be16(h->p + 6) & 0xFFF;
	out->requester = weft_get_be16(h->p + 8);
	out->tag = h->p[10];
	out->lower_addr = h->p[11] & 0x7F;
	if (has_data) {
		out->length = (uint16_t)dws;
		out->data = h->p + ATS_CPL_HEADER_LEN;
		return out->status == WEFT_ATS_SUCCESS ? WEFT_OK : WEFT_DROP_ATS_FIELD;
	}
	if (h->length != 0 || (out->status != WEFT_ATS_SUCCESS && out->status != WEFT_ATS_UR &&
				      out->status != WEFT_ATS_CA))
		return WEFT_DROP_ATS_FIELD;
	return WEFT_OK;
}

static enum weft_verdict
decode_invalidate(const struct header *h, struct weft_ats_packet *out)
{
	uint64_t word;
	int log2;

	if (h->len != ATS_HEADER_LEN + 8)
		return WEFT_DROP_ATS_LENGTH;
	/* 2 DW: the 1 in the deck's diagram contradicts its text (section 2.6). */
	if (h->length != 2)
		return WEFT_DROP_ATS_FIELD;
	out->kind = WEFT_ATS_INVALIDATE;
	out->itag = h->p[6] & 0x1F;
	out->target = weft_get_be16(h->p + 8);
	word = weft_get_be64(h->p + ATS_HEADER_LEN);
	log2 = weft_ats_range_get(word, &out->addr);
	if (log2 < 0)
		return WEFT_DROP_ATS_RANGE;
	out->log2 = (uint8_t)log2;
	out->global = word & 1;
	return WEFT_OK;
}

/* Messages without data. */
static enum weft_verdict
decode_message(const struct header *h, bool to_root, struct weft_ats_packet *out)
{
	if (h->len != ATS_HEADER_LEN)
		return WEFT_DROP_ATS_LENGTH;
	if (to_root && h->p[7] == ATS_CODE_PAGE) {
		const uint64_t word = weft_get_be64(h->p + 8);

		out->kind = WEFT_ATS_PAGE;
		out->addr = word & ~weft_mask64(WEFT_ATS_PAGE_LOG2);
		out->group = word >> ATS_GROUP_SHIFT & ATS_GROUP_MASK;
		out->page_bits = word & 7;
	} else if (!to_root && h->p[7] == ATS_CODE_PAGE_GROUP) {
		out->kind = WEFT_ATS_PAGE_GROUP;
		out->target = weft_get_be16(h->p + 8);
		out->code = h->p[10] >> 4;
		out->group = weft_get_be16(h->p + 10) & ATS_GROUP_MASK;
	} else if (!to_root && h->p[7] == ATS_CODE_INVALIDATED) {
		out->kind = WEFT_ATS_INVALIDATED;
		out->target = weft_get_be16(h->p + 8);
		out->count = h->p[11] & 7;
		out->count = out->count == 0 ? 8 : out->count;
		out->itags = weft_get_be32(h->p + 12);
	} else {
		return WEFT_DROP_ATS_TYPE;
	}
	return h->length == 0 ? WEFT_OK : WEFT_DROP_ATS_FIELD;
}

static enum weft_verdict
decode_kind(const struct header *h, unsigned int rcb, struct weft_ats_packet *out)
{
	switch (h->p[0] & ATS_BYTE0_MASK) {
	case ATS_TYPE_MEM | ATS_FMT_4DW: return decode_memory(h, false, rcb, out);
	case ATS_TYPE_MEM | ATS_FMT_4DW | ATS_FMT_DATA: return decode_memory(h, true, rcb, out);
	case ATS_TYPE_CPL: return decode_completion(h, false, out);
	case ATS_TYPE_CPL | ATS_FMT_DATA: return decode_completion(h, true, out);
	case ATS_TYPE_MSG_ID | ATS_FMT_4DW | ATS_FMT_DATA:
		return h->len >= ATS_HEADER_LEN && h->p[7] == ATS_CODE_INVALIDATE
		               ? decode_invalidate(h, out)
		               : WEFT_DROP_ATS_TYPE;
	case ATS_TYPE_MSG_ID | ATS_FMT_4DW: return decode_message(h, false, out);
	case ATS_TYPE_MSG_ROOT | ATS_FMT_4DW: return decode_message(h, true, out);
	default: return WEFT_DROP_ATS_TYPE;
	}
}

static void
decode_prefix(uint32_t prefix, struct weft_ats_packet *out)
{
	out->has_pasid = true;
	out->priv = (prefix & ATS_PREFIX_PRIV) != 0;
	out->exec = (prefix & ATS_PREFIX_EXEC) != 0;
	out->pasid = prefix & ATS_PASID_MASK;
}

enum weft_verdict
weft_ats_decode(const uint8_t *p, size_t len, unsigned int rcb, struct weft_ats_packet *out)
{
	struct header h = { .p = p, .len = len };

	assert(rcb == 64 || rcb == 128);
	memset(out, 0, sizeof(*out));
	if (len >= WEFT_ATS_PREFIX_LEN && p[0] == ATS_BYTE0_PREFIX) {
		decode_prefix(weft_get_be32(p), out);
		h.p += WEFT_ATS_PREFIX_LEN;
		h.len -= WEFT_ATS_PREFIX_LEN;
	}
	if (h.len < ATS_CPL_HEADER_LEN)
		return WEFT_DROP_ATS_LENGTH;
	h.flags = weft_get_be16(h.p + 2);
	h.length = h.flags & ATS_LENGTH_MASK;
	if ((h.flags & ATS_TD) != 0)
		h.len -= 4;
	out->tc = h.p[1] >> 4 & 7;
	out->poisoned = (h.flags & ATS_EP) != 0;
	out->requester = weft_get_be16(h.p + 4);
	return decode_kind(&h, rcb, out);
}
