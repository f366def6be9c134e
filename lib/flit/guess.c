/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Guesses at what a flit holds, for prefetching (wire-formats.md sections 4.2 and 4.3). Hot. */

#include "weft_guess.h"

#include "slots.h"

/* Slot bits 77:32 are Addr[51:6] in M2S Req and RwD, in both forms; there is one in a slot. */
#define ADDR_OFF 4
#define ADDR_BITS 46
#define REQUEST_FMTS (1u << 0x4 | 1u << 0xE)

unsigned int
weft_guess_requests(const uint8_t *flit, uint64_t addr[WEFT_GUESS_REQUESTS])
{
	unsigned int n = 0;

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
		return 0;
	for (unsigned int s = 0; s < WEFT_FLIT_SLOTS; s++) {
		const uint8_t *slot = weft_flit_slot_const(flit, s);
		const unsigned int fmt = slot[0] & 0xF;

		addr[n] = (weft_get_le64(slot + ADDR_OFF) & weft_mask64(ADDR_BITS))
		          << SLOT_ADDR_SHIFT;
		n += REQUEST_FMTS >> fmt & slot[0] >> SLOT_FMT_BITS & 1;
	}
	return n;
}
