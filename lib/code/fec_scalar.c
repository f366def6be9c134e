/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The FEC by Horner's rule, three groups at a time in the byte lanes of one word: a row of the
 * code is three adjacent bytes (wire-formats.md section 2.2). No table, so no cache is touched but
 * the flit's. Hot path.
 */

#include "fec_priv.h"

/* Each byte lane times alpha: a bit leaving a lane comes back as alpha^8 = 0x1D. */
static uint32_t
fec_times_alpha(uint32_t lanes)
{
	const uint32_t leaving = lanes >> 7 & 0x01010101;

	return (lanes & 0x7F7F7F7F) << 1 ^ leaving * 0x1D;
}

struct fec_sums
weft_fec_sum_flit(const uint8_t *flit)
{
	struct fec_sums s = { 0, 0 };

	/* Lane 3 holds the first byte of the next row: lanes never mix, so it does no harm. */
	for (unsigned int row = 0; row < FEC_ROWS - 1; row++) {
		const uint32_t lanes = weft_get_le32(flit + row * FEC_GROUPS);

		s.check = fec_times_alpha(s.check ^ lanes);
		s.parity ^= lanes;
	}
	s.check = fec_times_alpha(s.check ^ flit[WEFT_FEC_COVERED - 1]);
	s.parity ^= flit[WEFT_FEC_COVERED - 1];
	return s;
}

void
weft_fec_group_scalar(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	for (unsigned int k = 0; k < n; k++) {
		const struct fec_sums s = weft_fec_sum_flit(flit[k]);
		uint8_t bytes[8] = { 0 };

		for (unsigned int i = 0; i < FEC_GROUPS; i++) {
			bytes[2 + i] = fec_lane(s.check, (FEC_CHECK_OFF + i) % FEC_GROUPS);
			bytes[5 + i] = fec_lane(s.parity, (FEC_PARITY_OFF + i) % FEC_GROUPS);
		}
		fec[k] = weft_get_le64(bytes);
	}
}
