/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Factors of carry-less folds for each CRC, written by gen_folds.py at build time. Words are
 * reversed, x^63 in bit 0; a CRC of fewer than 64 bits is one of 64 with its remainder in the low
 * bits.
 */
#ifndef WEFT_SIG_FOLDS_PRIV_H
#define WEFT_SIG_FOLDS_PRIV_H

#include "sig_priv.h"

#define SIG_FOLDS 17

struct sig_folds {
	uint64_t fold[SIG_FOLDS][2]; /* [d]: what moves 16 bytes over d * 16; [0] is not used */
	uint64_t lanes[4][2]; /* moves each 16 bytes of 64 over those after them; the last get 0 */
	uint64_t barrett[2]; /* quotient of x^127; polynomial without x^64 and x^0 */
	uint64_t constant; /* all ones if the polynomial has x^0 */
};

extern const struct sig_folds sig_folds[WEFT_SIG_SUMS];

extern const weft_sig_sum_fn sig_avx512_sum[WEFT_SIG_SUMS];
extern const weft_sig_copy_fn sig_avx512_copy[WEFT_SIG_SUMS];

#endif /* WEFT_SIG_FOLDS_PRIV_H */
