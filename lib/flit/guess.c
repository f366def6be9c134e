/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Guesses at what a flit holds, for prefetching (wire-formats.md sections 4.2 and 4.3). Hot. */

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
