/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Retry of cxl mode, transmitter: numbers shown, the sequence handshake. */

#include "cxl_priv.h"

#define RUN 3 /* flits in a row with explicit numbers */

enum cxl_phase {
	CXL_NORMAL,
	CXL_ASKING, /* no explicit number received yet */
	CXL_ANSWERING /* received; now an Ack or payload must show that ours arrived */
};

struct cxl_tx {
	uint64_t follows; /* position that would follow the one sent last */
	uint8_t explicit_left; /* flits that must carry an explicit number */
	/* sequence handshake */
	uint8_t phase;
	uint8_t run_left; /* NOPs of the run under way */
	bool heard; /* ANSWERING: the peer has received ours */
	bool stuck; /* the retrain before this one did not help */
	uint64_t retrain_acked; /* llr_tx.acked at this end's last retrain */
	uint64_t run_ns; /* when the last run began */
};

static struct cxl_tx *
cxl_tx_of(const struct llr_tx *tx)
{
	return tx->state;
}

/* --- sequence handshake --- */

static void
cxl_run(struct cxl_tx *c, uint64_t now_ns)
{
	c->run_left = c->phase == CXL_ASKING ? RUN : 2 * RUN;
	c->run_ns = now_ns;
}

static void
cxl_handshake(struct llr_tx *tx, enum cxl_phase phase, uint64_t now_ns)
{
	const struct llr_record r = { .type = LLR_HANDSHAKE, .is_due = true };
	struct cxl_tx *c = cxl_tx_of(tx);

	c->phase = (uint8_t)phase;
	c->heard = false;
	llr_tell_rx(tx, &r);
	tx->shown = WEFT_LLR_RETRAINING;
	cxl_run(c, now_ns);
}

static void
cxl_retrain(struct llr_tx *tx, enum cxl_phase phase, uint64_t now_ns)
{
	const struct llr_record r = { .type = LLR_RETRAIN };

	tx->count[WEFT_LLR_N_RETRAINS]++;
	llr_tell_rx(tx, &r);
	cxl_handshake(tx, phase, now_ns);
}

static void
cxl_handshake_done(struct llr_tx *tx, struct cxl_tx *c, uint64_t now_ns)
{
	const struct llr_record r = { .type = LLR_HANDSHAKE };

	if (c->phase != CXL_ANSWERING || !c->heard || c->run_left != 0)
		return;
	c->phase = CXL_NORMAL;
	llr_tell_rx(tx, &r);
	c->explicit_left = RUN;
	tx->shown = c->stuck && tx->acked == c->retrain_acked ? WEFT_LLR_STUCK : WEFT_LLR_RUNNING;
	c->stuck = false;
	tx->replays = 0;
	if (tx->acked != tx->first_unsent)
		llr_go_back(tx, now_ns);
}

/* An intact flit came: what it says of the handshake. */
static void
cxl_heard(struct llr_tx *tx, bool is_number, bool is_second, uint64_t now_ns)
{
	struct cxl_tx *c = cxl_tx_of(tx);

	switch (c->phase) {
	case CXL_NORMAL:
		if (is_second)
			cxl_retrain(tx, CXL_ANSWERING, now_ns);
		else if (is_number)
			tx->nop_pending = true; /* its Ack is all that it can still wait for */
		break;
	case CXL_ASKING:
		if (is_number)
			cxl_handshake(tx, CXL_ANSWERING, now_ns);
		break;
	default:
		if (is_second && c->run_left == 0)
			cxl_run(c, now_ns); /* it has not received the answer */
		c->heard |= !is_number;
		cxl_handshake_done(tx, c, now_ns);
		break;
	}
}

/* RETRY-46 */
static void
cxl_start(struct llr_tx *tx, uint64_t now_ns)
{
	cxl_tx_of(tx)->retrain_acked = UINT64_MAX;
	cxl_handshake(tx, CXL_ASKING, now_ns);
}

static bool
cxl_may_send(const struct llr_tx *tx)
{
	return cxl_tx_of(tx)->phase == CXL_NORMAL;
}

/* A NOP with the number, followed by an Ack, so that it is no handshake request. */
static void
cxl_show_last(struct llr_tx *tx)
{
	struct cxl_tx *c = cxl_tx_of(tx);

	if (c->run_left == 0)
		c->run_left = 2;
}

/* --- sending --- */

static bool
cxl_tick(struct llr_tx *tx, uint64_t now_ns)
{
	struct cxl_tx *c = cxl_tx_of(tx);

	if (c->phase != CXL_NORMAL && c->run_left == 0 &&
		now_ns >= c->run_ns + llr_nak_timeout_ns(&tx->rtt, 0))
		cxl_run(c, now_ns);
	return c->run_left != 0;
}

static uint64_t
cxl_deadline(const struct llr_tx *tx)
{
	const struct cxl_tx *c = cxl_tx_of(tx);

	if (c->run_left != 0)
		return 0;
	return c->phase == CXL_NORMAL ? WEFT_LLR_NEVER
	                              : c->run_ns + llr_nak_timeout_ns(&tx->rtt, 0);
}

/* True: this flit must carry an explicit number (RETRY-41, RETRY-52). */
static bool
cxl_must_show(struct llr_tx *tx, bool nop, uint64_t pos)
{
	struct cxl_tx *c = cxl_tx_of(tx);

	if (nop) {
		if (c->run_left == 0)
			return false;
		c->run_left--;
		return c->phase == CXL_ASKING || c->run_left % 2 != 0;
	}
	if (pos != c->follows)
		c->explicit_left = RUN;
	c->follows = pos + 1;
	if (tx->cfg->show_first && tx->opens) {
		tx->opens = false;
		c->run_left = 0; /* this flit replaces the NOP */
		if (c->explicit_left != 0)
			c->explicit_left--;
		return true;
	}
	if (c->explicit_left == 0)
		return false;
	c->explicit_left--;
	return true;
}

/* RETRY-41 */
static void
cxl_header(struct llr_tx *tx, uint8_t *flit, bool nop, uint64_t pos, uint64_t now_ns)
{
	struct cxl_tx *c = cxl_tx_of(tx);
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	struct llr_nak nak;

	h.prior_payload = tx->prior_payload;
	h.replay_cmd = WEFT_REPLAY_EXPLICIT;
	if (cxl_must_show(tx, nop, pos)) {
		h.seq = cxl_number(nop ? tx->first_unsent - 1 : pos);
	} else if (llr_next_nak(tx, now_ns, &nak)) {
		h.replay_cmd = nak.cmd;
		h.seq = nak.number;
	} else if (nop || llr_ack_is_due(tx, now_ns)) {
		h.replay_cmd = WEFT_REPLAY_ACK;
		h.seq = tx->ack.number;
		tx->count[WEFT_LLR_N_ACKS_SENT]++;
		llr_ack_sent(tx);
	} else {
		h.seq = cxl_number(pos);
	}
	weft_flit_hdr_put(flit, &h);
	if (nop)
		cxl_handshake_done(tx, c, now_ns);
}

/* Too many replays in vain: retrain (RETRY-47). */
static void
cxl_no_progress(struct llr_tx *tx, uint64_t now_ns)
{
	struct cxl_tx *c = cxl_tx_of(tx);

	if (tx->replays < tx->cfg->replays_max)
		return;
	tx->replays = 0;
	c->stuck = c->retrain_acked == tx->acked;
	c->retrain_acked = tx->acked;
	cxl_retrain(tx, CXL_ASKING, now_ns);
}

static void
cxl_timed_out(struct llr_tx *tx, uint64_t now_ns)
{
	if (!cxl_may_send(tx)) {
		tx->replays = 0;
		return;
	}
	llr_rewind(tx, now_ns);
	cxl_no_progress(tx, now_ns);
}

/* RETRY-45 */
static void
cxl_obey(struct llr_tx *tx, uint8_t cmd, uint16_t number, uint64_t now_ns)
{
	struct cxl_tx *c = cxl_tx_of(tx);
	bool done;
	uint64_t pos;

	if (!llr_named(tx, cmd, number, &pos, now_ns))
		return;
	llr_acked(tx, pos, now_ns);
	if (cmd == WEFT_REPLAY_ACK)
		return;
	if (tx->acked == tx->first_unsent) {
		/* Nothing is outstanding: say so. */
		c->explicit_left = RUN;
		cxl_show_last(tx);
		tx->count[WEFT_LLR_N_NAKS_IGNORED]++;
		return;
	}
	if (cmd == WEFT_REPLAY_NAK_SELECTIVE)
		done = llr_resend(tx, pos, now_ns);
	else
		done = cxl_may_send(tx) && llr_rewind(tx, now_ns);
	tx->count[done ? WEFT_LLR_N_NAKS : WEFT_LLR_N_NAKS_IGNORED]++;
	if (done && cmd == WEFT_REPLAY_NAK_STANDARD) {
		tx->replays++;
		cxl_no_progress(tx, now_ns);
	}
}

const struct llr_tx_ops llr_cxl_tx_ops = {
	.state_size = sizeof(struct cxl_tx),
	.numbers = CXL_NUMBERS,
	.start = cxl_start,
	.number = cxl_number,
	.header = cxl_header,
	.field = cxl_obey,
	.heard = cxl_heard,
	.tick = cxl_tick,
	.deadline = cxl_deadline,
	.timed_out = cxl_timed_out,
	.may_send = cxl_may_send,
	.show_last = cxl_show_last,
};
