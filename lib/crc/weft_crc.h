/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The 8-byte flit CRC: remainder modulo g8 over GF(2^8) with polynomial 0x12B, byte 0 of the
 * message at the highest power (wire-formats.md section 2.1). A remainder is one uint64_t with r7
 * in the top byte. Everything is linear: a CRC is compared by XOR, and what XOR leaves, the
 * *syndrome*, says more than equal or not (see weft_isn.h).
 */
#ifndef WEFT_CRC_H
#define WEFT_CRC_H

#include <stddef.h>
#include <stdint.h>

#include "weft_cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_CRC_COVERED 242 /**< bytes 0..241 of a flit: header, slots, CRD */
#define WEFT_CRC_OFF 242 /**< first CRC byte in the flit */
#define WEFT_CRC_LEN 8

/** Which coefficient stands at byte 242. Both ends of a link must agree. */
enum weft_crc_order {
	WEFT_CRC_R0_FIRST, /**< r0 at 242 ... r7 at 249 */
	WEFT_CRC_R7_FIRST /**< r7 at 242 ... r0 at 249: the flit is a plain codeword */
};

/**
 * Remainder of @p len message bytes continued from @p crc (0 to start), by a table.
 * Any length, any alignment. Any thread.
 */
uint64_t weft_crc_update(uint64_t crc, const void *msg, size_t len);

/** The same by the definition, bit by bit: the reference that tests compare with. */
uint64_t weft_crc_update_ref(uint64_t crc, const void *msg, size_t len);

/** CRC field of a flit as a remainder. @p flit is 256 bytes. */
uint64_t weft_crc_load(const uint8_t *flit, enum weft_crc_order order);

/** Write remainder @p crc into the CRC field of a flit. */
void weft_crc_store(uint8_t *flit, uint64_t crc, enum weft_crc_order order);

/**
 * A kernel computes, for a run of @p n flits back to back at @p flits (64-byte aligned), the
 * remainder of each flit's bytes 0..241 into @p crc[0..n-1]. The result depends on no other byte,
 * and nothing outside the n flits is read.
 */
typedef void (*weft_crc_run_fn)(const uint8_t *flits, unsigned int n, uint64_t *crc);

/** One row a kernel, best first, scalar last. */
struct weft_crc_kernel {
	struct weft_kernel k;
	weft_crc_run_fn run;
};

extern const struct weft_crc_kernel weft_crc_kernels[];
extern const unsigned int weft_crc_n_kernels;

/**
 * Choose a kernel.
 *
 * @param name      row asked for, or NULL for the first that @p features allow and whose
 *                  self-test passes
 * @param features  weft_cpu_feature bits that may be used
 * @return the row; NULL if @p name is unknown, needs a feature not allowed, or fails its self-test
 */
const struct weft_crc_kernel *weft_crc_kernel_find(const char *name, uint32_t features);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CRC_H */
