/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the parts of lib/code share: the layout of the code, the sums of one flit, the generated
 * logarithms and the kernels that fec_kernels.c lists (wire-formats.md section 2.2).
 */
#ifndef WEFT_FEC_PRIV_H
#define WEFT_FEC_PRIV_H

#include "weft_fec.h"

#define FEC_FLIT_LEN 256 /* the flits of a run stand this far apart */
#define FEC_GROUP_FLITS WEFT_FEC_KERNEL_FLITS
#define FEC_GROUPS 3 /* flit byte i belongs to group i mod 3, FEC bytes included */
#define FEC_ROWS 84 /* rows of three bytes; groups 1 and 2 have a virtual zero in the last */
#define FEC_CHECK_OFF 250 /* check bytes of groups 1, 2, 0 */
#define FEC_PARITY_OFF 253 /* parity bytes of groups 1, 2, 0 */

/** Sums over bytes 0..249, group g in bits 8g+7:8g. Bits 31:24 mean nothing. */
struct fec_sums {
	uint32_t check; /* sum of d_k * alpha^(84-k) */
	uint32_t parity; /* sum of d_k */
};

struct fec_sums weft_fec_sum_flit(const uint8_t *flit);

/** Logarithm to base alpha of 1..255; [0] means nothing. */
extern const uint8_t weft_fec_log[256];

/* The kernels: weft_fec_group_fn. */
void weft_fec_group_scalar(const uint8_t *const *flit, unsigned int n, uint64_t *fec);
void weft_fec_group_avx2(const uint8_t *const *flit, unsigned int n, uint64_t *fec);
void weft_fec_group_gfni(const uint8_t *const *flit, unsigned int n, uint64_t *fec);
void weft_fec_group_avx512bw(const uint8_t *const *flit, unsigned int n, uint64_t *fec);
void weft_fec_group_avx512(const uint8_t *const *flit, unsigned int n, uint64_t *fec);

/** Matrices for GF2P8AFFINEQB as gen_tables.py lays them out; fec_avx512.c says how they serve. */
struct fec_avx512 {
	_Alignas(64) uint64_t row[8];
	uint64_t block[8];
	uint64_t byte[2][4][8]; /* odd FEC byte, pair of bytes, 64-bit word */
	uint8_t order[64];
};

extern const struct fec_avx512 weft_fec_avx512;

/** Matrices of fec_gfni.c. */
struct fec_gfni {
	uint64_t y; /* times alpha^5 */
	uint64_t y2; /* times alpha^10 */
};

extern const struct fec_gfni weft_fec_gfni;

/** Tables of fec_nibbles_priv.h: products of the 16 low and the 16 high nibbles. */
struct fec_avx2 {
	_Alignas(16) uint8_t y[2][16]; /* times alpha^5 */
	uint8_t y2[2][16]; /* times alpha^10 */
};

extern const struct fec_avx2 weft_fec_avx2;

/** Byte of group g out of a word of sums. */
static inline uint8_t
fec_lane(uint32_t sums, unsigned int g)
{
	return (uint8_t)(sums >> 8 * g);
}

#endif /* WEFT_FEC_PRIV_H */
