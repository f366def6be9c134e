/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Flit numbers of cxl mode, explicit and implicit (wire-formats.md section 3). */

#include "weft_fsn.h"

#include <errno.h>

#include "weft_flit.h"

int
weft_fsn_init(struct weft_fsn *s, uint16_t first)
{
	if (first < 1 || first > WEFT_FSN_NUMBERS)
		return -EINVAL;
	s->next = first;
	return 0;
}

/* The number @p by places after @p n, over 1..1023. */
static uint16_t
fsn_after(unsigned int n, unsigned int by)
{
	return (uint16_t)((n - 1 + by) % WEFT_FSN_NUMBERS + 1);
}

enum weft_fsn_verdict
weft_fsn_account(struct weft_fsn *s, const uint8_t *flit, int intact, uint16_t *lost)
{
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	unsigned int ahead;

	if (lost != NULL)
		*lost = 0;
	if (!intact) {
		s->next = fsn_after(s->next, 1);
		return WEFT_FSN_IN_TURN;
	}
	if (h.type == WEFT_FLIT_IDLE_NOP)
		return WEFT_FSN_NO_NUMBER;
	if (h.replay_cmd != WEFT_REPLAY_EXPLICIT || h.seq == 0) {
		s->next = fsn_after(s->next, 1);
		return WEFT_FSN_IN_TURN;
	}
	ahead = ((unsigned int)h.seq + WEFT_FSN_NUMBERS - s->next) % WEFT_FSN_NUMBERS;
	if (ahead > WEFT_FSN_WINDOW)
		return WEFT_FSN_DUPLICATE;
	s->next = fsn_after(h.seq, 1);
	if (ahead == 0)
		return WEFT_FSN_IN_TURN;
	if (lost != NULL)
		*lost = (uint16_t)ahead;
	return WEFT_FSN_AFTER_GAP;
}
