/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Tables that gen_tables.py derives at build time, and the kernels that crc_kernels.c lists. */
#ifndef WEFT_CRC_PRIV_H
#define WEFT_CRC_PRIV_H

#include "weft_isn.h"

#define CRC_FLIT_LEN 256 /* the flits of a run stand this far apart */
#define CRC_GROUP WEFT_CRC_GROUP
#define CRC6_MESSAGE 130 /* symbols before the remainder in the code of a half */

/** [k][f] = f * x^(8+k) mod g8: what symbol f becomes when k more symbols follow it. */
extern const uint64_t weft_crc_slice[8][256];

/** [f] = f * x^6 mod g6. */
extern const uint64_t weft_crc6_step[256];

/** L(number), and the same for the XOR form, going round so that a run never wraps. */
#define ISN_RUN_MAX 64
extern const uint64_t weft_isn_pseudo_table[WEFT_ISN_NUMBERS + ISN_RUN_MAX];
extern const uint64_t weft_isn_xor_table[WEFT_ISN_NUMBERS + ISN_RUN_MAX];

/** Inverse of L: [s >> low & 1023] is the only number whose L can equal s. */
extern const unsigned int weft_isn_window_low;
extern const uint16_t weft_isn_window_table[WEFT_ISN_NUMBERS];

/* The kernels: weft_crc_group_fn and weft_crc6_group_fn. */
void weft_crc_group_scalar(const uint8_t *const *flit, unsigned int n, uint64_t *crc);
void weft_crc_group_avx2(const uint8_t *const *flit, unsigned int n, uint64_t *crc);
void weft_crc_group_avx512bw(const uint8_t *const *flit, unsigned int n, uint64_t *crc);
void weft_crc_group_gfni(const uint8_t *const *flit, unsigned int n, uint64_t *crc);
void weft_crc_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *crc);
void weft_crc6_group_scalar(
	const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd);
void weft_crc6_group_gfni(
	const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd);
void weft_crc6_group_avx512(
	const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd);

/** Of one flit. Kernels without GFNI take up to CRC_FEW so: a group takes them as long as three. */
#define CRC_FEW 2
uint64_t weft_crc_one_avx2(const uint8_t *flit);

/** Tables of crc_avx2.c, which says how they serve: products of the 16 low and high nibbles. */
struct crc_avx2_root {
	_Alignas(16) uint8_t part[10][2][16]; /* times alpha^(8 j (10 - part)) */
	uint8_t four[2][16]; /* times alpha^(4 j) */
};

/** Of two roots, one in each half. */
struct crc_avx2_pair {
	_Alignas(32) uint8_t two[2][32]; /* times alpha^(2 j) */
	uint8_t one[2][32]; /* times alpha^j */
};

struct crc_avx2 {
	struct crc_avx2_root root[8];
	struct crc_avx2_pair pair[4]; /* j = 1 and 4, 2 and 5, 3 and 6, 7 and 8 */
	uint8_t cube_root[2][16];
};

extern const struct crc_avx2 weft_crc_avx2;

/** [root][value]: what a value at a root adds to the remainder. */
extern const uint64_t weft_crc_avx2_remainder[8][256];

/** The same of crc_avx512bw.c. Roots are in the order 1 2 4 8 3 6 5 7. */
struct crc_avx512bw_root {
	_Alignas(16) uint8_t part[9][2][16]; /* times alpha^(4 j (1 + part)) */
};

struct crc_avx512bw {
	struct crc_avx512bw_root root[8];
	struct crc_avx2_pair pair[4]; /* j = 1 and 4, 2 and 8, 3 and 5, 6 and 7 */
};

extern const struct crc_avx512bw weft_crc_avx512bw;
extern const uint64_t weft_crc_avx512bw_remainder[8][256];

#endif /* WEFT_CRC_PRIV_H */
