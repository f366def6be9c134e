/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Decoding: each group's two syndromes name the wrong byte and what is wrong with it. All three
 * groups are judged before any byte changes, so that an uncorrectable flit stays as it came
 * (wire-formats.md section 2.2). Off the hot path: only flits that are not clean get here.
 */

#include "weft_fec.h"

#include "fec_priv.h"

/* Correction of one group. */
struct fec_fix {
	uint8_t off; /* byte of the flit */
	uint8_t error; /* XORed into it; 0 if the group is clean */
};

/* Where in the flit the FEC byte of group g stands, in the three bytes from off. */
static uint8_t
fec_own_byte(unsigned int off, unsigned int g)
{
	return (uint8_t)(off + (FEC_GROUPS + g - off % FEC_GROUPS) % FEC_GROUPS);
}

/* False if the syndromes point at a place that the shortened code does not have. */
static bool
fec_locate(unsigned int g, uint8_t check, uint8_t parity, struct fec_fix *fix)
{
	unsigned int power, off;

	if (check == 0) {
		*fix = (struct fec_fix){ fec_own_byte(FEC_PARITY_OFF, g), parity };
		return true;
	}
	if (parity == 0) {
		*fix = (struct fec_fix){ fec_own_byte(FEC_CHECK_OFF, g), check };
		return true;
	}
	power = (255u + weft_fec_log[check] - weft_fec_log[parity]) % 255;
	if (power > FEC_ROWS)
		return false;
	off = (FEC_ROWS - power) * FEC_GROUPS + g;
	if (off >= WEFT_FEC_COVERED)
		return false;
	*fix = (struct fec_fix){ (uint8_t)off, parity };
	return true;
}

enum weft_fec_status
weft_fec_decode_flit(uint8_t *flit, unsigned int *n_bytes)
{
	const struct fec_sums sums = weft_fec_sum_flit(flit);
	struct fec_fix fix[FEC_GROUPS];
	unsigned int changed = 0;

	if (n_bytes != NULL)
		*n_bytes = 0;
	for (unsigned int g = 0; g < FEC_GROUPS; g++) {
		const uint8_t check =
			fec_lane(sums.check, g) ^ flit[fec_own_byte(FEC_CHECK_OFF, g)];
		const uint8_t parity =
			fec_lane(sums.parity, g) ^ flit[fec_own_byte(FEC_PARITY_OFF, g)];

		if (!fec_locate(g, check, parity, &fix[g]))
			return WEFT_FEC_UNCORRECTABLE;
	}
	for (unsigned int g = 0; g < FEC_GROUPS; g++) {
		flit[fix[g].off] ^= fix[g].error;
		changed += fix[g].error != 0;
	}
	if (n_bytes != NULL)
		*n_bytes = changed;
	return changed == 0 ? WEFT_FEC_CLEAN : WEFT_FEC_CORRECTED;
}

void
weft_fec_decode(const struct weft_fec_kernel *kernel, uint8_t *flits, unsigned int n,
	struct weft_fec_result *r)
{
	uint64_t left;

	assert(n <= WEFT_FEC_RUN_MAX);
	*r = (struct weft_fec_result){ 0 };
	for (left = weft_fec_check(kernel, flits, n); left != 0; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(left);
		unsigned int n_bytes;

		if (weft_fec_decode_flit(flits + (size_t)i * FEC_FLIT_LEN, &n_bytes) ==
			WEFT_FEC_UNCORRECTABLE)
			r->uncorrectable |= WEFT_BIT64(i);
		else
			r->corrected |= WEFT_BIT64(i);
		r->corrected_bytes += n_bytes;
	}
}
