/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A slow second opinion: the sums term by term, and a decoder that knows no logarithm and simply
 * tries every value of every byte of a group (wire-formats.md section 2.2).
 */
#ifndef FEC_ORACLE_H
#define FEC_ORACLE_H

#include "weft_test.h"

#include "weft_fec.h"

/* What one wrong byte does to its group: check in the high byte, parity in the low. */
struct fec_oracle {
	uint16_t effect[256][256]; /* [flit byte][error] */
};

static inline uint8_t
oracle_mul(unsigned int a, unsigned int b)
{
	unsigned int product = 0;

	for (unsigned int bit = 0; bit < 8; bit++)
		if ((b >> bit & 1) != 0)
			product ^= a << bit;
	for (unsigned int bit = 14; bit >= 8; bit--)
		if ((product >> bit & 1) != 0)
			product ^= 0x11Du << (bit - 8);
	return (uint8_t)product;
}

static inline void
fec_oracle_init(struct fec_oracle *o)
{
	unsigned int weight = 1;

	memset(o, 0, sizeof(*o));
	for (unsigned int k = 84; k-- > 0;) {
		weight = oracle_mul(weight, 2);
		for (unsigned int i = 3 * k; i < 3 * k + 3 && i < 250; i++)
			for (unsigned int e = 0; e < 256; e++)
				o->effect[i][e] =
					(uint16_t)((unsigned int)oracle_mul(e, weight) << 8 | e);
	}
	for (unsigned int e = 0; e < 256; e++) {
		for (unsigned int i = 250; i < 253; i++)
			o->effect[i][e] = (uint16_t)(e << 8);
		for (unsigned int i = 253; i < 256; i++)
			o->effect[i][e] = (uint16_t)e;
	}
}

/* Sum of all effects in a group; 0 means a codeword. */
static inline uint16_t
fec_oracle_syndrome(const struct fec_oracle *o, const uint8_t *flit, unsigned int group)
{
	uint16_t sum = 0;

	for (unsigned int i = group; i < 256; i += 3)
		sum ^= o->effect[i][flit[i]];
	return sum;
}

static inline bool
fec_oracle_find(const struct fec_oracle *o, uint16_t syndrome, unsigned int group,
	unsigned int *off, unsigned int *error)
{
	for (*off = group; *off < 256; *off += 3)
		for (*error = 1; *error < 256; ++*error)
			if (o->effect[*off][*error] == syndrome)
				return true;
	return false;
}

static inline enum weft_fec_status
fec_oracle_decode(const struct fec_oracle *o, uint8_t *flit, unsigned int *n_bytes)
{
	unsigned int off[3], error[3];
	unsigned int n = 0;

	*n_bytes = 0;
	for (unsigned int g = 0; g < 3; g++) {
		const uint16_t syndrome = fec_oracle_syndrome(o, flit, g);

		if (syndrome == 0)
			continue;
		if (!fec_oracle_find(o, syndrome, g, &off[n], &error[n]))
			return WEFT_FEC_UNCORRECTABLE;
		n++;
	}
	for (unsigned int i = 0; i < n; i++)
		flit[off[i]] ^= (uint8_t)error[i];
	*n_bytes = n;
	return n == 0 ? WEFT_FEC_CLEAN : WEFT_FEC_CORRECTED;
}

#endif /* FEC_ORACLE_H */
