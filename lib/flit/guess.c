/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Guesses at what a flit holds, for prefetching (wire-formats.md sections 4.2, 4.3 and 6). Hot. */

#include "weft_guess.h"

#include "req_scan_priv.h"
#include "slots.h"

/* There is one in a slot. */
#define REQUEST_FMTS (1u << REQ_SCAN_FMT_REQ | 1u << REQ_SCAN_FMT_RWD)

unsigned int
weft_guess_requests(const uint8_t *flit, uint64_t addr[WEFT_GUESS_REQUESTS])
{
	unsigned int n = 0;

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
		return 0;
	for (unsigned int s = 0; s < WEFT_FLIT_SLOTS; s++) {
		const uint8_t *slot = weft_flit_slot_const(flit, s);
		const unsigned int fmt = slot[0] & 0xF;

		addr[n] = (weft_get_le64(slot + REQ_SCAN_SLOT_ADDR_OFF) &
				  weft_mask64(REQ_SCAN_ADDR_BITS))
		          << SLOT_ADDR_SHIFT;
		n += REQUEST_FMTS >> fmt & slot[0] >> SLOT_FMT_BITS & 1;
	}
	return n;
}

#define DW 4u
#define UIO_HEADER (4 * DW)
#define UIO_LENGTH_MASK 0x3FFu /* of bytes 2 and 3, in DWs */
#define UIO_STRANGERS 8u /* DWs in a row: the rest of a header from the flit before has 7 */

unsigned int
weft_guess_uio_reads(const uint8_t *flit, struct weft_guess_uio *read)
{
	unsigned int n = 0, strangers = 0, at = WEFT_IO_OFF;

	if (flit[0] >> 6 != WEFT_FLIT_IO)
		return 0;
	while (at + UIO_HEADER <= WEFT_IO_OFF + WEFT_IO_LEN && strangers < UIO_STRANGERS) {
		const uint8_t *h = flit + at;
		const uint16_t len = (uint16_t)((weft_get_be16(h + 2) & UIO_LENGTH_MASK) * DW);

		if (h[0] != WEFT_IO_UIO_MRD && h[0] != WEFT_IO_UIO_MWR) {
			at += DW;
			strangers++;
			continue;
		}
		at += UIO_HEADER + (h[0] == WEFT_IO_UIO_MWR ? len : 0);
		strangers = 0;
		if (h[0] == WEFT_IO_UIO_MRD)
			read[n++] =
				(struct weft_guess_uio){ weft_get_be64(h + 8) & ~(uint64_t)(DW - 1),
					len };
	}
	return n;
}
