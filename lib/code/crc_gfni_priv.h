/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * How the GFNI kernels compute a CRC over GF(2^8) (doc/performance.md, Flit CRC). Everything is a
 * multiplication of bytes by constants, which GF2P8AFFINEQB does with one 8x8 bit matrix for each
 * 64-bit word of a register, in any field.
 *
 * With a root alpha^j of the generator in word j-1, one flit after the other:
 *   1. sum over the words of the message: word w, broadcast, times alpha^(j * its power);
 *   2. the eight bytes b of each word of that sum are added up, times alpha^(j * (7 - b)), for
 *      eight flits at once: what the message is at the root;
 *   3. a matrix turns the values at the roots into the symbols of the remainder.
 */
#ifndef WEFT_CRC_GFNI_PRIV_H
#define WEFT_CRC_GFNI_PRIV_H

#include <stdint.h>

/** Matrices of one code, as gen_tables.py lays them out. Unused lanes are zero. */
struct crc_gfni {
	_Alignas(64) uint64_t word[31][8]; /* step 1: message word, root */
	uint64_t byte[2][4][8]; /* step 2: odd root, pair of bytes, 64-bit word */
	uint64_t symbol[8][8]; /* step 3: root, symbol */
};

extern const struct crc_gfni weft_crc_gfni;
extern const struct crc_gfni weft_crc6_gfni;

#endif /* WEFT_CRC_GFNI_PRIV_H */
