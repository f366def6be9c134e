/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Retry of rxl mode, transmitter: rxl.c says what its header fields mean. */

#include "llr_priv.h"

#define NUMBERS WEFT_ISN_NUMBERS

static uint16_t
rxl_number(uint64_t pos)
{
	return (uint16_t)((pos + WEFT_ISN_FIRST) & (NUMBERS - 1));
}

/* RETRY-20, RETRY-21 */
static void
rxl_header(struct llr_tx *tx, uint8_t *flit, bool nop, uint64_t pos, uint64_t now_ns)
{
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	struct llr_nak nak;

	(void)pos;
	h.prior_payload = tx->prior_payload;
	h.replay_cmd = WEFT_REPLAY_EXPLICIT;
	h.seq = 0;
	if (llr_next_nak(tx, now_ns, &nak)) {
		h.replay_cmd = nak.cmd;
		h.seq = nak.number;
	} else if (nop || llr_ack_is_due(tx, now_ns)) {
		h.replay_cmd = WEFT_REPLAY_ACK;
		h.seq = tx->ack.number;
		tx->count[WEFT_LLR_N_ACKS_SENT]++;
		llr_ack_sent(tx);
	}
	weft_flit_hdr_put(flit, &h);
}

/* RETRY-20, RETRY-21 */
static void
rxl_obey(struct llr_tx *tx, uint8_t cmd, uint16_t number, uint64_t now_ns)
{
	uint64_t pos;

	if (!llr_named(tx, cmd, number, &pos, now_ns))
		return;
	switch (cmd) {
	case WEFT_REPLAY_ACK: llr_acked(tx, pos, now_ns); break;
	case WEFT_REPLAY_NAK_STANDARD:
		llr_acked(tx, pos, now_ns);
		tx->count[llr_rewind(tx, now_ns) ? WEFT_LLR_N_NAKS : WEFT_LLR_N_NAKS_IGNORED]++;
		/* Nothing is outstanding: the number of a NOP says so. */
		tx->nop_pending |= tx->acked == tx->first_unsent;
		break;
	default:
		tx->count[llr_resend(tx, pos, now_ns) ? WEFT_LLR_N_NAKS
						      : WEFT_LLR_N_NAKS_IGNORED]++;
		break;
	}
}

/*
 * Retry time-out. With gap decoding the oldest flit and a NOP suffice at first: the receiver Naks
 * what is missing. On the next time-out, and without gap decoding at once, everything is replayed
 * (RETRY-24).
 */
static void
rxl_timed_out(struct llr_tx *tx, uint64_t now_ns)
{
	if (tx->cfg->gap_decoding && tx->replays == 1) {
		llr_resend(tx, tx->acked, now_ns);
		tx->nop_pending = true;
	} else {
		llr_rewind(tx, now_ns);
	}
}

const struct llr_tx_ops llr_rxl_tx_ops = {
	.number = rxl_number,
	.numbers = NUMBERS,
	.header = rxl_header,
	.field = rxl_obey,
	.timed_out = rxl_timed_out,
};
