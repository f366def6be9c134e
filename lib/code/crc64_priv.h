/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CRC64_XP10: tables that gen_crc64.py derives from the polynomial at build time, and the kernels.
 *
 * Bits stand least significant first: bit 0 of byte 0 of a message is its highest power, and a
 * remainder has x^63 in bit 0 (signature.md section 4.2).
 */
#ifndef WEFT_CRC64_PRIV_H
#define WEFT_CRC64_PRIV_H

#include <stddef.h>
#include <stdint.h>

/** [k][b]: remainder of byte b when k more bytes follow it. */
extern const uint64_t weft_crc64_slice[8][256];

/**
 * [d]: what moves 16 bytes over the d * 16 bytes after them: the factor of bytes 0..7, then that
 * of bytes 8..15. [0] is not used.
 */
#define CRC64_FOLDS 17
extern const uint64_t weft_crc64_fold[CRC64_FOLDS][2];

/** Moves each 16 bytes of 64 over those after them in the 64; the last get 0. */
extern const uint64_t weft_crc64_lanes[4][2];

/** Quotient of x^127, and the polynomial without its two outer terms, for the last reduction. */
extern const uint64_t weft_crc64_barrett[2];

/* The kernels: weft_crc64_fn. */
uint64_t weft_crc64_scalar(uint64_t crc, const void *buf, size_t len);
uint64_t weft_crc64_pclmul(uint64_t crc, const void *buf, size_t len);
uint64_t weft_crc64_avx512(uint64_t crc, const void *buf, size_t len);

#endif /* WEFT_CRC64_PRIV_H */
