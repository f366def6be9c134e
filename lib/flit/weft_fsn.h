/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit numbers of cxl mode as a passive receiver sees them: 1..1023 modulo 1023, explicit in the
 * header or counted along (wire-formats.md section 3). It only keeps account; the retry layer acts.
 */
#ifndef WEFT_FSN_H
#define WEFT_FSN_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_FSN_NUMBERS 1023
#define WEFT_FSN_WINDOW 511

/** One direction of a link. */
struct weft_fsn {
	uint16_t next; /* number expected, 1..1023 */
};

enum weft_fsn_verdict {
	WEFT_FSN_NO_NUMBER, /**< NOP or IDLE: uses none */
	WEFT_FSN_IN_TURN,
	WEFT_FSN_AFTER_GAP, /**< 1..511 numbers were skipped */
	WEFT_FSN_DUPLICATE /**< number in the past half: not to be used */
};

/** Start a direction. @return 0, or -EINVAL if @p first is not 1..1023. */
int weft_fsn_init(struct weft_fsn *s, uint16_t first);

/**
 * Account for one flit.
 *
 * @param flit    its 256 bytes (only the header is read)
 * @param intact  its CRC was good; a corrupt flit uses one number, on the guess that it was payload
 * @param lost    receives the numbers skipped (0 unless AFTER_GAP); may be NULL
 */
enum weft_fsn_verdict weft_fsn_account(
	struct weft_fsn *s, const uint8_t *flit, int intact, uint16_t *lost);

WEFT_END_DECLS

#endif /* WEFT_FSN_H */
