/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The FEC by Horner's rule, three groups at a time in the byte lanes of one word: a row of the
 * code is three adjacent bytes (wire-formats.md section 2.2). No table, so no cache is touched but
 * the flit's. Hot path.
 */

#include "fec_priv.h"

#include "weft_base.h"

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

/* The six FEC bytes of a flit, as they go on the wire. */
static void
fec_bytes(const uint8_t *flit, uint8_t *out)
{
	const struct fec_sums s = weft_fec_sum_flit(flit);

	for (unsigned int i = 0; i < FEC_GROUPS; i++) {
		out[i] = fec_lane(s.check, (FEC_CHECK_OFF + i) % FEC_GROUPS);
		out[FEC_GROUPS + i] = fec_lane(s.parity, (FEC_PARITY_OFF + i) % FEC_GROUPS);
	}
}

void
weft_fec_encode_scalar(uint8_t *flits, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *flit = flits + (size_t)i * FEC_FLIT_LEN;

		fec_bytes(flit, flit + WEFT_FEC_OFF);
	}
}

uint64_t
weft_fec_check_scalar(const uint8_t *flits, unsigned int n)
{
	uint64_t not_clean = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *flit = flits + (size_t)i * FEC_FLIT_LEN;
		uint8_t want[WEFT_FEC_LEN];

		fec_bytes(flit, want);
		if (memcmp(want, flit + WEFT_FEC_OFF, WEFT_FEC_LEN) != 0)
			not_clean |= WEFT_BIT64(i);
	}
	return not_clean;
}
