/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Rx of the retry layer, what both modes share: repeated Naks, Rx buffer. */

#include "llr_priv.h"

#include "weft_crc.h"

/* --- one number with two contents --- */

/* CRC of a flit of zeros but for one bit of its header, bits 0..15 (byte 1 is the lower). */
static const uint64_t header_crc[16] = {
	UINT64_C(0x6943dbdfcb1f296b),
	UINT64_C(0xd2869d95bd3e52d6),
	UINT64_C(0x8f271101517ca487),
	UINT64_C(0x354e2202a2f86325),
	UINT64_C(0x6a9c44046fdbc64a),
	UINT64_C(0xd4138808de9da794),
	UINT64_C(0x83263b1097116503),
	UINT64_C(0x2d4c76200522ca06),
	UINT64_C(0x61b9a7e91ac33b0b),
	UINT64_C(0xc25965f934ad7616),
	UINT64_C(0xafb2cad96871ec2c),
	UINT64_C(0x754fbf99d0e2f358),
	UINT64_C(0xea9e55198befcdb0),
	UINT64_C(0xff17aa323df5b14b),
	UINT64_C(0xd52e7f647ac14996),
	UINT64_C(0x815cfec8f4a99207),
};

/* RETRY-26 */
bool
llr_is_sent_again(uint16_t hdr, uint64_t crc, const uint8_t *flit)
{
	uint64_t differs = crc ^ weft_get_le64(flit + WEFT_CRC_OFF);
	uint64_t may = 0;

	for (unsigned int h = hdr ^ weft_get_be16(flit); h != 0; h &= h - 1)
		may ^= header_crc[__builtin_ctz(h)];
	return differs == may || differs == __builtin_bswap64(may); /* either order of the CRC */
}

void
llr_conflict(struct llr_rx *rx)
{
	const struct llr_record r = { .type = LLR_CONFLICT };

	rx->count[WEFT_LLR_N_CONFLICTS]++;
	llr_tx_hear(rx->tx, &r);
}

/* --- the Rx buffer --- */

void
llr_hold(struct llr_rx *rx, uint64_t at, const uint8_t *flit)
{
	at &= rx->mask;
	memcpy(rx->flit + at * WEFT_FLIT_LEN, flit, WEFT_FLIT_LEN);
	rx->have[at / 64] |= WEFT_BIT64(at % 64);
	rx->held++;
}

void
llr_ready(struct llr_rx *rx, uint64_t at)
{
	at &= rx->mask;
	rx->have[at / 64] &= ~WEFT_BIT64(at % 64);
	if (rx->ready == 0)
		rx->head = at;
	rx->ready++;
}

void
llr_forget(struct llr_rx *rx)
{
	if (rx->cfg->rx_flits == 0)
		return;
	memset(rx->have, 0, (rx->mask + 64) / 64 * sizeof(rx->have[0]));
	rx->held = rx->ready;
}

const uint8_t *
weft_llr_rx_next(struct weft_llr *l)
{
	struct llr_rx *rx = &l->rx;
	const uint8_t *flit;

	if (rx->ready == 0)
		return NULL;
	flit = rx->flit + (rx->head & rx->mask) * WEFT_FLIT_LEN;
	rx->head++;
	rx->ready--;
	rx->held--;
	rx->count[WEFT_LLR_N_DELIVERED]++;
	return flit;
}

void
weft_llr_rx(struct weft_llr *l, const uint8_t *flits, const uint64_t *syndrome, unsigned int n,
	uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in)
{
	assert(n <= WEFT_WIRE_FLITS_MAX);
	*in = (struct weft_llr_rx_result){ 0 };
	l->rx.ops->take(&l->rx, flits, syndrome, n, skip, now_ns, in);
}

unsigned int
weft_llr_held_count(const struct weft_llr *l)
{
	return l->rx.held;
}

unsigned int
weft_llr_ready_count(const struct weft_llr *l)
{
	return l->rx.ready;
}

uint16_t
weft_llr_expected(const struct weft_llr *l)
{
	return l->rx.ops->expected == NULL ? 0 : l->rx.ops->expected(&l->rx);
}
