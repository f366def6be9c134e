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

#include "weft_base.h"
#include "weft_cpu.h"

WEFT_BEGIN_DECLS

#define WEFT_FEC_COVERED 250 /**< bytes 0..249: everything but the FEC bytes */
#define WEFT_FEC_OFF 250 /**< first FEC byte in the flit */
#define WEFT_FEC_LEN 6
#define WEFT_FEC_RUN_MAX 64 /**< flits in a run: one bit each in a mask */

enum weft_fec_status {
	WEFT_FEC_CLEAN,
	WEFT_FEC_CORRECTED, /**< 1..3 bytes were put right; the flit is a codeword again */
	/** at least one group points outside the code; nothing was changed */
	WEFT_FEC_UNCORRECTABLE
};

/** Result of a run of flits; bit i stands for flit i. */
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

#define WEFT_FEC_KERNEL_FLITS WEFT_KERNEL_GROUP /**< flits that a kernel takes at a time */

/**
 * A kernel computes the FEC bytes that bytes 0..249 of @p n (1..WEFT_FEC_KERNEL_FLITS) flits of 256
 * bytes call for, wherever the flits stand. Nothing outside them is read. A flit on a 64-byte line
 * is read fastest.
 *
 * @param fec  receives a word a flit: the bytes 250..255 in bits 63:16, as a little-endian word
 *             read from byte 248 has them. Bits 15:0 mean nothing
 */
typedef void (*weft_fec_group_fn)(const uint8_t *const *flit, unsigned int n, uint64_t *fec);

/** One row a kernel, best first, scalar last. */
struct weft_fec_kernel {
	struct weft_kernel k;
	weft_fec_group_fn group;
};

#define WEFT_FEC_WORD_OFF 248 /**< where such a word stands in the flit */
#define WEFT_FEC_WORD_SHIFT 16 /**< bits of it that are not FEC bytes */

/** Bit i set: the FEC bytes of flit i of @p n (1..64) are not those of a kernel's word i. */
static inline uint64_t
weft_fec_compare(const uint8_t *const *flit, unsigned int n, const uint64_t *fec)
{
	uint64_t any = 0, differ = 0;

	for (unsigned int i = 0; i < n; i++)
		any |= weft_get_le64(flit[i] + WEFT_FEC_WORD_OFF) ^ fec[i];
	if (__builtin_expect(any >> WEFT_FEC_WORD_SHIFT == 0, 1))
		return 0; /* clean flits cost no branch each */
	for (unsigned int i = 0; i < n; i++) {
		any = weft_get_le64(flit[i] + WEFT_FEC_WORD_OFF) ^ fec[i];
		differ |= (uint64_t)(any >> WEFT_FEC_WORD_SHIFT != 0) << i;
	}
	return differ;
}

/** Write a kernel's word into the flit. */
static inline void
weft_fec_store(uint8_t *flit, uint64_t fec)
{
	const uint64_t keep =
		weft_get_le64(flit + WEFT_FEC_WORD_OFF) & weft_mask64(WEFT_FEC_WORD_SHIFT);

	weft_put_le64(flit + WEFT_FEC_WORD_OFF, keep | (fec & ~weft_mask64(WEFT_FEC_WORD_SHIFT)));
}

WEFT_KERNELS_DECLARE(fec);

/**
 * Encode: write bytes 250..255 of @p n flits back to back at @p flits. Any thread.
 */
void weft_fec_encode(const struct weft_fec_kernel *kernel, uint8_t *flits, unsigned int n);

/**
 * Check: bit i of the result is set if flit i (of @p n, 0..64, back to back) is not a codeword.
 * Nothing is written. Any thread.
 */
uint64_t weft_fec_check(const struct weft_fec_kernel *kernel, const uint8_t *flits, unsigned int n);

/**
 * Decode a run in place: check by @p kernel, then correct, out of line, what is not clean.
 *
 * @param n  0..64 flits back to back
 * @param r  receives the result; may not be NULL
 */
void weft_fec_decode(const struct weft_fec_kernel *kernel, uint8_t *flits, unsigned int n,
	struct weft_fec_result *r);

WEFT_END_DECLS

#endif /* WEFT_FEC_H */
