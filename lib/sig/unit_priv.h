/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the stream asks of unit.c. */
#ifndef WEFT_SIG_UNIT_PRIV_H
#define WEFT_SIG_UNIT_PRIV_H

#include "sig_priv.h"

/** Bytes that come out for the next unit. */
uint32_t sig_unit_out_len(const struct weft_sig_stream *s);

/**
 * Move the unit at @p src to @p dst, which has room for sig_unit_out_len() bytes.
 *
 * @param marks        WEFT_SIG_PIECE_.. of any byte of it
 * @param is_poisoned  receives whether what came out must not be believed
 * @return false if the stream has to stop in front of it
 */
bool sig_unit_move(struct weft_sig_stream *s, const uint8_t *src, uint32_t marks, uint8_t *dst,
	bool *is_poisoned);

#endif /* WEFT_SIG_UNIT_PRIV_H */
