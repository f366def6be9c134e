/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The three-way flit FEC over GF(2^8), polynomial 0x11D: bytes 0..249 in three interleaved groups,
 * one parity and one check byte each, at 250..255 (wire-formats.md section 2.2). One wrong byte a
 * group is corrected, so any burst of three bytes is; two wrong bytes in a group are flagged when
 * they point at a shortened position, and miscorrected otherwise: the CRC must catch those.
 */
#ifndef WEFT_FEC_H
#define WEFT_FEC_H

#include <stdint.h>

#include "weft_cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FEC_COVERED 250 /**< bytes 0..249: everything but the FEC bytes */
#define WEFT_FEC_OFF 250 /**< first FEC byte in the flit */
#define WEFT_FEC_LEN 6
#define WEFT_FEC_RUN_MAX 64 /**< flits in a run: one bit each in a mask */

enum weft_fec_status {
	WEFT_FEC_CLEAN,
	WEFT_FEC_CORRECTED, /**< 1..3 bytes were put right; the flit is a codeword again */
	WEFT_FEC_UNCORRECTABLE /**< at least one group points outside the code; nothing was changed */
};

/** What a run of flits turned out to be; bit i stands for flit i. */
struct weft_fec_result {
	uint64_t corrected;
	uint64_t uncorrectable;
	uint32_t corrected_bytes; /**< over the corrected flits of the run, FEC bytes included */
};

/**
 * Decode one flit in place. @p flit is 256 bytes, any alignment.
 *
 * @param n_bytes  receives the number of bytes changed (0..3); may be NULL
 */
enum weft_fec_status weft_fec_decode_flit(uint8_t *flit, unsigned int *n_bytes);

/**
 * Encode: write bytes 250..255 of @p n flits back to back at @p flits (64-byte aligned).
 */
typedef void (*weft_fec_encode_fn)(uint8_t *flits, unsigned int n);

/**
 * Check: bit i of the result is set if flit i (of @p n, 0..64) is not a codeword. Nothing is
 * written.
 */
typedef uint64_t (*weft_fec_check_fn)(const uint8_t *flits, unsigned int n);

/** One row a kernel, best first, scalar last. */
struct weft_fec_kernel {
	struct weft_kernel k;
	weft_fec_encode_fn encode;
	weft_fec_check_fn check;
};

extern const struct weft_fec_kernel weft_fec_kernels[];
extern const unsigned int weft_fec_n_kernels;

/**
 * Choose a kernel.
 *
 * @param name      row asked for, or NULL for the first that @p features allow and whose
 *                  self-test passes
 * @param features  weft_cpu_feature bits that may be used
 * @return the row; NULL if @p name is unknown, needs a feature not allowed, or fails its self-test
 */
const struct weft_fec_kernel *weft_fec_kernel_find(const char *name, uint32_t features);

/**
 * Decode a run in place: check by @p kernel, then correct, out of line, what is not clean.
 *
 * @param n  0..64 flits, 64-byte aligned, back to back
 * @param r  receives the result; may not be NULL
 */
void weft_fec_decode(const struct weft_fec_kernel *kernel, uint8_t *flits, unsigned int n,
	struct weft_fec_result *r);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_FEC_H */
