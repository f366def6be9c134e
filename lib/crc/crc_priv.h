/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Tables that gen_tables.py derives at build time, and the kernels that crc_kernels.c lists. */
#ifndef WEFT_CRC_PRIV_H
#define WEFT_CRC_PRIV_H

#include <stdint.h>

#include "weft_isn.h"

#define CRC_FLIT_LEN 256 /* the flits of a run stand this far apart */

/** [k][f] = f * x^(8+k) mod g8: what symbol f becomes when k more symbols follow it. */
extern const uint64_t weft_crc_slice[8][256];

/** L(number), and the same for the XOR form. */
extern const uint64_t weft_isn_pseudo_table[WEFT_ISN_NUMBERS];
extern const uint64_t weft_isn_xor_table[WEFT_ISN_NUMBERS];

/** Inverse of L: [s >> low & 1023] is the only number whose L can equal s. */
extern const unsigned int weft_isn_window_low;
extern const uint16_t weft_isn_window_table[WEFT_ISN_NUMBERS];

void weft_crc_run_scalar(const uint8_t *flits, unsigned int n, uint64_t *crc);

#endif /* WEFT_CRC_PRIV_H */
