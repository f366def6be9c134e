/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frame headers: checks and builds the 18 bytes after the Ethernet header, and takes flits out of
 * a frame (encapsulation.md section 2). Hot: runs per frame.
 */

#include "weft_wire.h"

#include "weft_data_crc.h"

/* Offsets from the first byte of the Ethernet header. */
enum {
	OFF_ETHERTYPE = 12,
	OFF_VERSION_KIND = 14,
	OFF_FLAGS = 15,
	OFF_COUNT = 16,
	OFF_VC = 17,
	OFF_SPID = 18,
	OFF_DPID = 20,
	OFF_SESSION = 22,
	OFF_CLOCK = 26,
	OFF_CHECK = 30,
};

static_assert(OFF_CHECK + 2 == WEFT_WIRE_FLITS_OFF, "the check ends the header");

#define FLAG_MODE 0x01
#define FLAG_FORM 0x02 /* in cxl mode; reserved in the other */
#define VC_MASK 0x07
#define PID_MASK 0x0FFF
#define CHECK_COVERED (OFF_CHECK - WEFT_ETH_LEN)

const char *const weft_mode_words[] = { [WEFT_MODE_CXL] = "cxl", [WEFT_MODE_RXL] = "rxl", NULL };

static bool
wire_ids_are_good(const struct weft_wire_hdr *h)
{
	if ((h->spid | h->dpid) & ~PID_MASK)
		return false;
	return h->mode == WEFT_MODE_RXL || (h->spid == WEFT_PID_NONE && h->dpid == WEFT_PID_NONE);
}

static bool
wire_count_is_good(const struct weft_wire_hdr *h)
{
	if (h->kind == WEFT_WIRE_CONTROL)
		return h->n_flits == 0;
	return h->n_flits >= 1 && h->n_flits <= WEFT_WIRE_FLITS_MAX;
}

/* FRAME-1 to FRAME-7, in the order of FRAME-10 */
enum weft_verdict
weft_wire_parse(const uint8_t *frame, size_t len, struct weft_wire_hdr *h)
{
	if (len < WEFT_ETH_LEN)
		return WEFT_DROP_RUNT;
	if (weft_get_be16(frame + OFF_ETHERTYPE) != WEFT_ETHERTYPE)
		return WEFT_DROP_ETHERTYPE;
	if (len < WEFT_WIRE_FLITS_OFF)
		return WEFT_DROP_RUNT;
	if (frame[OFF_VERSION_KIND] >> 4 != WEFT_WIRE_VERSION)
		return WEFT_DROP_VERSION;
	h->kind = frame[OFF_VERSION_KIND] & 0xF;
	if (h->kind > WEFT_WIRE_CONTROL)
		return WEFT_DROP_KIND;
	if (frame[OFF_FLAGS] > FLAG_FORM)
		return WEFT_DROP_FLAGS;
	if (weft_crc16_t10dif(0, frame + WEFT_ETH_LEN, CHECK_COVERED) !=
		weft_get_be16(frame + OFF_CHECK))
		return WEFT_DROP_HEADER_CHECK;
	h->mode = frame[OFF_FLAGS] & FLAG_MODE;
	h->form = frame[OFF_FLAGS] >> 1;
	h->n_flits = frame[OFF_COUNT];
	h->vc = frame[OFF_VC];
	h->spid = weft_get_be16(frame + OFF_SPID);
	h->dpid = weft_get_be16(frame + OFF_DPID);
	h->session = weft_get_be32(frame + OFF_SESSION);
	h->clock = weft_get_be32(frame + OFF_CLOCK);
	if (!wire_count_is_good(h))
		return WEFT_DROP_COUNT;
	if (h->vc & ~VC_MASK)
		return WEFT_DROP_VC;
	if (!wire_ids_are_good(h))
		return WEFT_DROP_ID;
	if (h->kind == WEFT_WIRE_FLITS && len != WEFT_WIRE_FRAME_LEN(h->n_flits))
		return WEFT_DROP_LENGTH;
	return WEFT_OK;
}

void
weft_wire_build(uint8_t *frame, const struct weft_wire_hdr *h)
{
	assert(h->kind <= WEFT_WIRE_CONTROL && h->mode <= WEFT_MODE_RXL);
	assert(h->form <= (h->mode == WEFT_MODE_CXL));
	assert(wire_count_is_good(h) && h->vc <= VC_MASK && wire_ids_are_good(h));
	weft_put_be16(frame + OFF_ETHERTYPE, WEFT_ETHERTYPE);
	frame[OFF_VERSION_KIND] = (uint8_t)(WEFT_WIRE_VERSION << 4 | h->kind);
	frame[OFF_FLAGS] = (uint8_t)(h->mode | h->form << 1);
	frame[OFF_COUNT] = h->n_flits;
	frame[OFF_VC] = h->vc;
	weft_put_be16(frame + OFF_SPID, h->spid);
	weft_put_be16(frame + OFF_DPID, h->dpid);
	weft_put_be32(frame + OFF_SESSION, h->session);
	weft_put_be32(frame + OFF_CLOCK, h->clock);
	weft_put_be16(frame + OFF_CHECK, weft_crc16_t10dif(0, frame + WEFT_ETH_LEN, CHECK_COVERED));
}

/* FRAME-11 */
size_t
weft_wire_remove(uint8_t *frame, struct weft_wire_hdr *h, uint64_t gone)
{
	uint8_t *flits = frame + WEFT_WIRE_FLITS_OFF;
	uint8_t kept = 0;

	for (unsigned int i = 0; i < h->n_flits; i++) {
		if (gone & WEFT_BIT64(i))
			continue;
		if (kept != i)
			memcpy(flits + kept * (size_t)WEFT_WIRE_FLIT_LEN,
				flits + i * (size_t)WEFT_WIRE_FLIT_LEN, WEFT_WIRE_FLIT_LEN);
		kept++;
	}
	if (kept == h->n_flits)
		return WEFT_WIRE_FRAME_LEN(kept);
	h->n_flits = kept;
	if (kept == 0)
		return 0;
	weft_wire_build(frame, h);
	return WEFT_WIRE_FRAME_LEN(kept);
}

static bool
wire_is_zero(const uint8_t *flit)
{
	/* The first 8 bytes hold header and slot 0: almost every flit is told apart there. */
	uint64_t any = weft_get_le64(flit);

	for (unsigned int i = 8; any == 0 && i < WEFT_WIRE_FLIT_LEN; i += 8)
		any |= weft_get_le64(flit + i);
	return any == 0;
}

/* FRAME-12 */
uint64_t
weft_wire_all_zero(const uint8_t *flits, unsigned int n)
{
	uint64_t zero = 0;

	for (unsigned int i = 0; i < n; i++)
		if (wire_is_zero(flits + i * (size_t)WEFT_WIRE_FLIT_LEN))
			zero |= WEFT_BIT64(i);
	return zero;
}
