/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATS packets: fields to bytes. Every header is laid over zeros, so reserved bits are 0. */

#include "ats_wire_priv.h"
#include "weft_ats_wire.h"

/* By kind: byte 0, message code, header length. */
static const struct {
	uint8_t byte0;
	uint8_t code;
	uint8_t header_len;
} kinds[WEFT_ATS_KINDS] = {
	[WEFT_ATS_READ] = { ATS_TYPE_MEM | ATS_FMT_4DW, 0, ATS_HEADER_LEN },
	[WEFT_ATS_WRITE] = { ATS_TYPE_MEM | ATS_FMT_4DW | ATS_FMT_DATA, 0, ATS_HEADER_LEN },
	[WEFT_ATS_REQUEST] = { ATS_TYPE_MEM | ATS_FMT_4DW, 0, ATS_HEADER_LEN },
	[WEFT_ATS_CPL] = { ATS_TYPE_CPL, 0, ATS_CPL_HEADER_LEN },
	[WEFT_ATS_CPLD] = { ATS_TYPE_CPL | ATS_FMT_DATA, 0, ATS_CPL_HEADER_LEN },
	[WEFT_ATS_INVALIDATE] = { ATS_TYPE_MSG_ID | ATS_FMT_4DW | ATS_FMT_DATA, ATS_CODE_INVALIDATE,
		ATS_HEADER_LEN },
	[WEFT_ATS_INVALIDATED] = { ATS_TYPE_MSG_ID | ATS_FMT_4DW, ATS_CODE_INVALIDATED,
		ATS_HEADER_LEN },
	[WEFT_ATS_PAGE] = { ATS_TYPE_MSG_ROOT | ATS_FMT_4DW, ATS_CODE_PAGE, ATS_HEADER_LEN },
	[WEFT_ATS_PAGE_GROUP] = { ATS_TYPE_MSG_ID | ATS_FMT_4DW, ATS_CODE_PAGE_GROUP,
		ATS_HEADER_LEN },
};

static bool
ats_memory_is_good(const struct weft_ats_packet *in)
{
	if (in->length == 0 || in->length > WEFT_ATS_DWS_MAX || (in->addr & 3) != 0)
		return false;
	if (in->kind == WEFT_ATS_REQUEST)
		return in->length % 2 == 0 && in->length <= 2 * WEFT_ATS_XLATS;
	return in->attr <= 3 && (in->at == WEFT_ATS_UNTRANSLATED || in->at == WEFT_ATS_TRANSLATED);
}

static bool
ats_completion_is_good(const struct weft_ats_packet *in)
{
	if (in->byte_count > 0xFFF || in->lower_addr > 0x7F)
		return false;
	if (in->kind == WEFT_ATS_CPLD)
		return in->length != 0 && in->length <= WEFT_ATS_DWS_MAX &&
		       in->status == WEFT_ATS_SUCCESS;
	return in->status == WEFT_ATS_SUCCESS || in->status == WEFT_ATS_UR ||
	       in->status == WEFT_ATS_CA;
}

static bool
ats_kind_is_good(const struct weft_ats_packet *in)
{
	switch (in->kind) {
	case WEFT_ATS_READ:
	case WEFT_ATS_WRITE:
	case WEFT_ATS_REQUEST: return ats_memory_is_good(in);
	case WEFT_ATS_CPL:
	case WEFT_ATS_CPLD: return ats_completion_is_good(in);
	case WEFT_ATS_INVALIDATE:
		return in->itag < WEFT_ATS_ITAGS && in->log2 >= WEFT_ATS_PAGE_LOG2 &&
		       in->log2 <= 64 && (in->addr & weft_mask64(in->log2)) == 0;
	case WEFT_ATS_INVALIDATED: return in->count >= 1 && in->count <= WEFT_ATS_TCS;
	case WEFT_ATS_PAGE:
		return in->group <= ATS_GROUP_MASK && in->page_bits <= 7 &&
		       (in->addr & weft_mask64(WEFT_ATS_PAGE_LOG2)) == 0;
	case WEFT_ATS_PAGE_GROUP: return in->group <= ATS_GROUP_MASK && in->code <= 15;
	default: return false;
	}
}

static unsigned int
ats_payload_dws(const struct weft_ats_packet *in)
{
	if (in->kind == WEFT_ATS_WRITE || in->kind == WEFT_ATS_CPLD)
		return in->length;
	return in->kind == WEFT_ATS_INVALIDATE ? 2 : 0;
}

/* Bytes 2 and 3. */
static unsigned int
ats_flags_of(const struct weft_ats_packet *in)
{
	unsigned int f = in->poisoned ? ATS_EP : 0;

	if (in->kind == WEFT_ATS_READ || in->kind == WEFT_ATS_WRITE)
		f |= (unsigned int)in->attr << ATS_ATTR_SHIFT | (unsigned int)in->at
		                                                        << ATS_AT_SHIFT;
	if (in->kind == WEFT_ATS_REQUEST)
		f |= WEFT_ATS_AT_REQUEST << ATS_AT_SHIFT;
	if (in->kind == WEFT_ATS_READ || in->kind == WEFT_ATS_REQUEST)
		return f | (in->length & ATS_LENGTH_MASK);
	return f | (ats_payload_dws(in) & ATS_LENGTH_MASK);
}

static void
encode_memory(const struct weft_ats_packet *in, uint8_t *p)
{
	const bool is_request = in->kind == WEFT_ATS_REQUEST;

	p[6] = in->tag;
	p[7] = is_request ? ATS_FULL_ENABLES : in->enables;
	weft_put_be64(p + 8, in->addr | (is_request && in->no_write));
}

static void
encode_completion(const struct weft_ats_packet *in, uint8_t *p)
{
	weft_put_be16(p + 4, in->target);
	weft_put_be16(p + 6, (uint16_t)((unsigned int)in->status << 13 | in->byte_count));
	weft_put_be16(p + 8, in->requester);
	p[10] = in->tag;
	p[11] = in->lower_addr;
}

static void
encode_message(const struct weft_ats_packet *in, uint8_t *p)
{
	p[7] = kinds[in->kind].code;
	if (in->kind == WEFT_ATS_PAGE) {
		weft_put_be64(
			p + 8, in->addr | (uint64_t)in->group << ATS_GROUP_SHIFT | in->page_bits);
		return;
	}
	weft_put_be16(p + 8, in->target);
	if (in->kind == WEFT_ATS_PAGE_GROUP) {
		weft_put_be16(p + 10, (uint16_t)((unsigned int)in->code << 12 | in->group));
	} else if (in->kind == WEFT_ATS_INVALIDATED) {
		p[11] = in->count & 7;
		weft_put_be32(p + 12, in->itags);
	} else {
		p[6] = in->itag;
		weft_put_be64(
			p + ATS_HEADER_LEN, weft_ats_range_put(in->addr, in->log2) | in->global);
	}
}

static void
encode_header(const struct weft_ats_packet *in, uint8_t *p)
{
	memset(p, 0, kinds[in->kind].header_len);
	p[0] = kinds[in->kind].byte0;
	p[1] = (uint8_t)(in->tc << 4);
	weft_put_be16(p + 2, (uint16_t)ats_flags_of(in));
	weft_put_be16(p + 4, in->requester);
	if (in->kind <= WEFT_ATS_REQUEST)
		encode_memory(in, p);
	else if (in->kind <= WEFT_ATS_CPLD)
		encode_completion(in, p);
	else
		encode_message(in, p);
}

static uint32_t
ats_prefix_of(const struct weft_ats_packet *in)
{
	return (uint32_t)ATS_BYTE0_PREFIX << 24 | (in->priv ? ATS_PREFIX_PRIV : 0) |
	       (in->exec ? ATS_PREFIX_EXEC : 0) | in->pasid;
}

size_t
weft_ats_encode(const struct weft_ats_packet *in, uint8_t *p, size_t room)
{
	const size_t prefix = in->has_pasid ? WEFT_ATS_PREFIX_LEN : 0;
	size_t header, payload;

	if (in->kind >= WEFT_ATS_KINDS || in->tc >= WEFT_ATS_TCS || !ats_kind_is_good(in) ||
		(in->has_pasid && in->pasid > ATS_PASID_MASK))
		return 0;
	header = kinds[in->kind].header_len;
	payload = (size_t)ats_payload_dws(in) * 4;
	if (room < prefix + header + payload)
		return 0;
	if (in->has_pasid)
		weft_put_be32(p, ats_prefix_of(in));
	encode_header(in, p + prefix);
	if (in->kind == WEFT_ATS_WRITE || in->kind == WEFT_ATS_CPLD)
		memcpy(p + prefix + header, in->data, payload);
	return prefix + header + payload;
}
