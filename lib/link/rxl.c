/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Retry of rxl mode, receiver; rxl_tx.c transmits. The sequence number of a flit is in its CRC
 * only. With gap decoding every intact flit yields its number, so the receiver knows which are
 * missing and Naks just those; without, a flit out of sequence looks corrupt, as in the paper. Only
 * flits in sequence are accepted.
 *
 * Header field: Ack N, or standard Nak N: everything up to N was received; the Nak requests all
 * from N + 1. Selective Nak N requests flit N + 1 alone and acknowledges nothing, so several
 * missing flits can be requested at once (doc/decisions.md).
 */

#include "llr_priv.h"

#include "weft_crc.h"

#define NUMBERS WEFT_ISN_NUMBERS
#define HALF (NUMBERS / 2)
#define SINGLES_MAX 64 /* with more missing, a go-back costs less than selective Naks */
#define NAKS_MAX 512 /* selective Naks per timeout: a forged number must not trigger more */
#define IN_VAIN_STEADY 2u /* asked for again so often in vain: from now on each pause is doubled */
#define IN_VAIN_MAX 6
#define KNOWN (NUMBERS / 2) /* numbers before the expected one whose flits are remembered by CRC */

struct rxl {
	uint16_t expected; /* number of the next flit in turn */
	uint16_t highest_seen; /* one past the newest number known to be sent */
	uint16_t missing; /* numbers from expected to highest_seen that are not held */
	uint16_t ask, ask_to; /* selective Naks still to send: the missing ones of this range */
	bool asking; /* a Nak is outstanding */
	bool go_back; /* a standard Nak is due */
	bool overflowed; /* the open gap is larger than the Rx buffer */
	uint16_t last; /* number of the flit received last */
	bool nak_sent_this_pass; /* a standard Nak was sent for the replay that is being received */
	uint16_t bad_since_nak; /* bad flits since the last Nak */
	uint16_t naks; /* selective Naks sent since naks_ns */
	uint64_t naks_ns;
	uint64_t asked_ns;
	uint64_t took_ns; /* a missing flit arrived, or the gap was detected */
	uint8_t in_vain; /* times since then that all was asked for again */
	uint32_t in_turn; /* flits accepted in sequence, up to KNOWN */
	/* By number, of accepted and held flits: header and CRC as received. */
	uint16_t hdr[NUMBERS];
	uint64_t crc[NUMBERS];
};

static struct rxl *
rxl_of(const struct llr_rx *rx)
{
	return rx->state;
}

static uint16_t
rxl_ahead(uint16_t number, uint16_t of)
{
	return (uint16_t)((number - of) & (NUMBERS - 1));
}

static uint16_t
rxl_plus(uint16_t number, unsigned int n)
{
	return (uint16_t)((number + n) & (NUMBERS - 1));
}

static void
rxl_took(struct rxl *r, uint64_t now_ns)
{
	r->took_ns = now_ns;
	r->in_vain = 0;
}

static void
rxl_start(struct llr_rx *rx, uint64_t now_ns)
{
	struct rxl *r = rxl_of(rx);

	r->expected = WEFT_ISN_FIRST;
	r->highest_seen = WEFT_ISN_FIRST;
	r->ask = WEFT_ISN_FIRST;
	r->ask_to = WEFT_ISN_FIRST;
	r->asked_ns = now_ns;
	r->naks_ns = now_ns;
	r->took_ns = now_ns;
}

static void
rxl_know(struct rxl *r, uint16_t number, const uint8_t *flit)
{
	r->hdr[number] = weft_get_be16(flit);
	r->crc[number] = weft_get_le64(flit + WEFT_CRC_OFF);
}

/* RETRY-26 */
static void
rxl_compare(struct llr_rx *rx, struct rxl *r, uint16_t number, const uint8_t *flit)
{
	if (!llr_is_sent_again(r->hdr[number], r->crc[number], flit))
		llr_conflict(rx);
}

/* --- receiver: Naks --- */

/* False: another number occupies its place in the Rx buffer. */
static bool
rxl_has_room(const struct llr_rx *rx, const struct rxl *r, uint16_t number)
{
	return rx->ready + rxl_ahead(number, r->expected) <= rx->cfg->rx_flits;
}

/*
 * Next number for a selective Nak; false: none. A flit without room in the Rx buffer is requested
 * when there is room: earlier it would be refused, and the Nak would count as a sign that the
 * session is sound (RETRY-27).
 */
static bool
rxl_next_missing(const struct llr_rx *rx, struct rxl *r)
{
	if (rxl_ahead(r->ask_to, r->expected) >= HALF)
		r->ask_to = r->expected;
	if (rxl_ahead(r->ask, r->expected) >= HALF)
		r->ask = r->expected;
	if (rxl_ahead(r->ask_to, r->ask) >= HALF)
		r->ask = r->ask_to;
	while (r->ask != r->ask_to && llr_has(rx, r->ask))
		r->ask = rxl_plus(r->ask, 1);
	return r->ask != r->ask_to && r->naks < NAKS_MAX && rxl_has_room(rx, r, r->ask);
}

static bool
rxl_gap_is_open(const struct rxl *r)
{
	return r->expected != r->highest_seen;
}

static void
rxl_gap_closed(struct rxl *r)
{
	r->asking = false;
	r->overflowed = false;
	r->nak_sent_this_pass = false;
	r->bad_since_nak = 0;
}

/* RETRY-22 */
static void
rxl_ask(struct llr_rx *rx, struct rxl *r, uint16_t from, uint16_t to)
{
	r->bad_since_nak = 0;
	if (!rx->cfg->selective || r->missing > SINGLES_MAX) {
		r->go_back = true;
		return;
	}
	r->ask = from;
	r->ask_to = to;
	r->asking = true;
}

static void
rxl_ask_again(struct llr_rx *rx, struct rxl *r, uint16_t to)
{
	rx->count[WEFT_LLR_N_NAKS_REPEATED]++;
	rxl_ask(rx, r, r->expected, to);
}

/*
 * What is asked for does not come, so perhaps it was never sent, and somebody made the gap up.
 * Flits behind it are given up: what there is of them the other end sends again, at its time-out
 * (RETRY-28).
 */
static void
rxl_asked_in_vain(struct llr_rx *rx, struct rxl *r)
{
	llr_forget(rx);
	r->highest_seen = r->expected;
	r->missing = 0;
	r->ask = r->ask_to = r->expected;
	rxl_gap_closed(r);
	rx->count[WEFT_LLR_N_GIVEN_UP]++;
}

/*
 * When all is asked for again. An honest gap is closed by the first Naks; one that somebody made up
 * must not be paid for with a window of them in each round trip (RETRY-28).
 */
static uint64_t
rxl_again_ns(const struct llr_rx *rx, const struct rxl *r)
{
	unsigned int doubled = 0;

	if (rxl_gap_is_open(r) && r->in_vain > IN_VAIN_STEADY)
		doubled = r->in_vain - IN_VAIN_STEADY;
	return r->asked_ns + llr_nak_timeout_ns(&rx->rtt, doubled);
}

/* Ask again when flits came that do not help, or none did (RETRY-7). */
static enum llr_naks
rxl_tick(struct llr_rx *rx, uint64_t now_ns)
{
	struct rxl *r = rxl_of(rx);

	if (now_ns >= r->naks_ns + llr_nak_timeout_ns(&rx->rtt, 0)) {
		r->naks_ns = now_ns;
		r->naks = 0;
	}
	if (r->go_back || (r->asking && rxl_next_missing(rx, r)))
		return LLR_NAKS_DUE;
	if (!r->asking)
		return LLR_NAKS_NONE;
	if (now_ns < rxl_again_ns(rx, r))
		return LLR_NAKS_RIDE;
	if (rxl_gap_is_open(r) && r->in_vain >= IN_VAIN_MAX &&
		now_ns >= r->took_ns + rx->cfg->timeout_max_ns) {
		rxl_asked_in_vain(rx, r);
		return LLR_NAKS_NONE;
	}
	if (r->in_vain < UINT8_MAX)
		r->in_vain++;
	r->asked_ns = now_ns;
	/* The gap is unknown: no selective Nak is possible. */
	r->go_back = !rxl_gap_is_open(r);
	rxl_ask_again(rx, r, r->highest_seen);
	return r->go_back || rxl_next_missing(rx, r) ? LLR_NAKS_DUE : LLR_NAKS_RIDE;
}

static uint64_t
rxl_deadline(const struct llr_rx *rx)
{
	struct rxl *r = rxl_of(rx);

	if (r->go_back || (r->asking && rxl_next_missing(rx, r)))
		return 0;
	return r->asking ? rxl_again_ns(rx, r) : WEFT_LLR_NEVER;
}

/* RETRY-20, RETRY-21, RETRY-29 */
static bool
rxl_nak(struct llr_rx *rx, uint64_t now_ns, struct llr_nak *nak)
{
	struct rxl *r = rxl_of(rx);

	*nak = (struct llr_nak){ .more = true };
	/*
	 * Without gap decoding the other end reads only what is in turn for it, so a Nak in one
	 * flit of a replay may stand where it cannot be read: it stands in all of them.
	 */
	if (r->go_back || (r->asking && !rx->cfg->gap_decoding)) {
		nak->cmd = WEFT_REPLAY_NAK_STANDARD;
		nak->number = rxl_plus(r->expected, NUMBERS - 1);
		nak->acks = true;
		if (r->go_back)
			r->asked_ns = now_ns;
		r->go_back = false;
		r->asking = true;
		r->ask = r->ask_to = r->highest_seen;
		return true;
	}
	if (!r->asking || !rxl_next_missing(rx, r))
		return false;
	nak->cmd = WEFT_REPLAY_NAK_SELECTIVE;
	nak->number = rxl_plus(r->ask, NUMBERS - 1);
	r->ask = rxl_plus(r->ask, 1);
	r->naks++;
	r->asked_ns = now_ns;
	return true;
}

/* --- receiver --- */

static inline __attribute__((always_inline)) void
rxl_field(struct llr_rx *rx, enum llr_record_type type, const uint8_t *flit, uint64_t now_ns)
{
	const struct weft_flit_hdr h = weft_flit_hdr_get(flit);

	if (h.replay_cmd != WEFT_REPLAY_EXPLICIT)
		llr_field(rx, type, h.replay_cmd, h.seq, now_ns);
	else if (h.seq != 0 && type == LLR_FIELD)
		rx->count[WEFT_LLR_N_OUT_OF_WINDOW]++;
}

/* Advance the expected number by one. */
static void
rxl_step(struct rxl *r)
{
	if (r->highest_seen == r->expected)
		r->highest_seen = rxl_plus(r->highest_seen, 1);
	r->expected = rxl_plus(r->expected, 1);
	r->bad_since_nak = 0;
}

/* RETRY-3 */
static void
rxl_in_turn(struct llr_rx *rx, const uint8_t *flit, uint64_t bit, uint64_t now_ns,
	struct weft_llr_rx_result *in)
{
	struct rxl *r = rxl_of(rx);

	if (rx->ready != 0) {
		/* Earlier flits wait to be fetched: queue this one after them, if there is room. */
		if (rx->ready >= rx->cfg->rx_flits) {
			rx->count[WEFT_LLR_N_OVERFLOWS]++;
			in->refused |= bit;
			return;
		}
		if (!llr_has(rx, r->expected))
			llr_hold(rx, r->expected, flit);
		llr_ready(rx, r->expected);
		in->held |= bit;
	} else {
		in->deliver |= bit;
		rx->count[WEFT_LLR_N_DELIVERED]++;
	}
	rxl_know(r, r->expected, flit);
	r->in_turn += r->in_turn < KNOWN;
	rxl_took(r, now_ns);
	if (rxl_ahead(r->expected, r->last) >= HALF)
		r->nak_sent_this_pass = false; /* another replay begins */
	if (rxl_gap_is_open(r))
		r->missing--;
	rxl_step(r);
	llr_ack_due(rx, 1);
	while (rxl_gap_is_open(r) && rx->cfg->rx_flits != 0 && llr_has(rx, r->expected)) {
		llr_ready(rx, r->expected);
		rxl_step(r);
		r->in_turn += r->in_turn < KNOWN;
		llr_ack_due(rx, 1);
	}
	if (!rxl_gap_is_open(r))
		rxl_gap_closed(r);
}

/* All numbers before @p number were sent, so those not seen yet are missing. */
static void
rxl_gap(struct llr_rx *rx, uint16_t number, uint64_t now_ns)
{
	struct rxl *r = rxl_of(rx);
	uint16_t from = r->highest_seen;
	uint16_t more = rxl_ahead(number, from);

	if (more == 0 || more >= HALF)
		return;
	if (!rxl_gap_is_open(r))
		rxl_took(r, now_ns);
	r->highest_seen = number;
	r->missing = (uint16_t)(r->missing + more);
	rx->count[WEFT_LLR_N_LOST] += more;
	rx->count[WEFT_LLR_N_GAPS]++;
	if (r->go_back || (r->asking && !rx->cfg->selective))
		return; /* the replay covers them */
	if (rxl_next_missing(rx, r))
		from = r->ask;
	r->asked_ns = now_ns;
	rxl_ask(rx, r, from, number);
}

/*
 * Retransmission of a number we have seen announced. The sender replays in ascending order, so
 * missing numbers between its last flit and this one were lost again: Nak them.
 */
static void
rxl_sent_again(struct llr_rx *rx, uint16_t number)
{
	struct rxl *r = rxl_of(rx);
	bool new_pass = rxl_ahead(number, r->last) >= HALF || number == r->last;
	uint16_t from = new_pass ? r->expected : rxl_plus(r->last, 1);

	if (rxl_ahead(from, r->expected) >= HALF)
		from = r->expected;
	if (!rx->cfg->selective) {
		if (!new_pass && r->nak_sent_this_pass)
			return;
		r->nak_sent_this_pass = true;
	}
	while (from != number && rx->cfg->selective && llr_has(rx, from))
		from = rxl_plus(from, 1);
	if (from == number || r->go_back)
		return;
	rx->count[WEFT_LLR_N_NAKS_REPEATED]++;
	if (rxl_next_missing(rx, r)) {
		if (rxl_ahead(from, r->ask) >= HALF)
			r->ask = from;
		return;
	}
	rxl_ask(rx, r, from, number);
}

static void
rxl_too_early(struct llr_rx *rx, const uint8_t *flit, uint16_t number, uint64_t bit,
	uint64_t now_ns, struct weft_llr_rx_result *in)
{
	struct rxl *r = rxl_of(rx);
	const bool has_room = rxl_has_room(rx, r, number);
	bool newest;

	rxl_gap(rx, number, now_ns);
	newest = r->highest_seen == number;
	if (newest)
		r->highest_seen = rxl_plus(number, 1);
	else if (rx->cfg->selective && llr_has(rx, number)) {
		if (has_room)
			rxl_compare(rx, r, number, flit);
		in->duplicate |= bit;
		rx->count[WEFT_LLR_N_DUPLICATES]++;
		return;
	} else {
		rxl_sent_again(rx, number);
	}
	if (rx->cfg->selective && has_room) {
		llr_hold(rx, number, flit);
		rxl_know(r, number, flit);
		rxl_took(r, now_ns);
		in->held |= bit;
		rx->count[WEFT_LLR_N_HELD]++;
		r->missing = (uint16_t)(r->missing - !newest);
		return;
	}
	in->refused |= bit;
	r->missing = (uint16_t)(r->missing + newest);
	if (!rx->cfg->selective)
		return;
	rx->count[WEFT_LLR_N_OVERFLOWS]++;
	r->go_back |= !r->overflowed;
	r->overflowed = true;
}

/* ISN-7 */
static void
rxl_bad(struct llr_rx *rx, uint64_t bit, uint64_t now_ns, struct weft_llr_rx_result *in)
{
	struct rxl *r = rxl_of(rx);

	in->bad |= bit;
	rx->count[WEFT_LLR_N_BAD]++;
	if (r->bad_since_nak < UINT16_MAX)
		r->bad_since_nak++;
	if (!rx->cfg->gap_decoding && !r->asking && !r->go_back) {
		r->go_back = true;
		r->bad_since_nak = 0;
	} else if (r->bad_since_nak >= rx->cfg->nak_repeat &&
		   (!rx->cfg->gap_decoding || now_ns >= r->asked_ns + weft_rtt_guess(&rx->rtt))) {
		/* The retransmission was lost, or no flit is intact enough to yield its number. */
		if (r->asking && rxl_gap_is_open(r))
			rxl_ask_again(rx, r, r->highest_seen);
		else
			r->go_back = true;
		r->bad_since_nak = 0;
	}
}

/* Number of a flit by its syndrome, or -1 (ISN-5). */
static int
rxl_read_number(const struct llr_rx *rx, uint64_t syndrome)
{
	const struct rxl *r = rxl_of(rx);
	uint64_t in_turn = rx->cfg->isn == WEFT_ISN_PSEUDO ? weft_isn_number(r->expected)
	                                                   : weft_isn_xor_number(r->expected);

	if (syndrome == in_turn)
		return r->expected;
	return rx->cfg->gap_decoding ? weft_isn_decode(syndrome) : -1;
}

/*
 * Without gap decoding a flit out of sequence has no consequence for retry, but it can show that an
 * intruder sends. In form XOR it looks like a flit with ten damaged bits: no evidence of anything.
 */
static void
rxl_out_of_turn(struct llr_rx *rx, const uint8_t *flit, uint64_t syndrome, uint64_t now_ns)
{
	const bool nop = flit[0] >> 6 == WEFT_FLIT_IDLE_NOP;
	struct rxl *r = rxl_of(rx);
	int number;

	if (rx->cfg->gap_decoding || rx->cfg->isn != WEFT_ISN_PSEUDO)
		return;
	number = weft_isn_decode(syndrome);
	if (number < 0)
		return;
	rxl_field(rx, LLR_OVERHEARD, flit, now_ns);
	if (!nop && rxl_ahead(r->expected, (uint16_t)number) <= r->in_turn)
		rxl_compare(rx, r, (uint16_t)number, flit);
}

/* ISN-2, ISN-4, ISN-6; RETRY-6, RETRY-23 */
static void
rxl_flit(struct llr_rx *rx, const uint8_t *flit, uint64_t syndrome, uint64_t bit, uint64_t now_ns,
	struct weft_llr_rx_result *in)
{
	struct rxl *r = rxl_of(rx);
	bool nop = flit[0] >> 6 == WEFT_FLIT_IDLE_NOP;
	int number = rxl_read_number(rx, syndrome);
	uint16_t by;

	if (number < 0) {
		rxl_out_of_turn(rx, flit, syndrome, now_ns);
		rxl_bad(rx, bit, now_ns, in);
		return;
	}
	rxl_field(rx, LLR_FIELD, flit, now_ns);
	by = rxl_ahead((uint16_t)number, r->expected);
	if (nop) {
		in->nop |= bit;
		rx->count[WEFT_LLR_N_NOPS]++;
		if (by != 0 && by < HALF)
			rxl_gap(rx, (uint16_t)number, now_ns);
		else if (by == 0 && !rxl_gap_is_open(r))
			rxl_gap_closed(r);
	} else if (by == 0) {
		rxl_in_turn(rx, flit, bit, now_ns, in);
		r->last = (uint16_t)number;
	} else if (by < WEFT_LLR_WINDOW_MAX) {
		rxl_too_early(rx, flit, (uint16_t)number, bit, now_ns, in);
		r->last = (uint16_t)number;
	} else if (by < HALF) {
		in->refused |= bit;
		rx->count[WEFT_LLR_N_OUT_OF_WINDOW]++;
	} else {
		/* A replay: the sender may not have received the Ack. */
		if ((unsigned int)NUMBERS - by <= r->in_turn)
			rxl_compare(rx, r, (uint16_t)number, flit);
		in->duplicate |= bit;
		rx->count[WEFT_LLR_N_DUPLICATES]++;
		llr_ack_due(rx, 0);
	}
}

static void
rxl_take(struct llr_rx *rx, const uint8_t *flits, const uint64_t *syndrome, unsigned int n,
	uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in)
{
	for (unsigned int i = 0; i < n; i++)
		if ((skip & WEFT_BIT64(i)) == 0)
			rxl_flit(rx, flits + (size_t)i * WEFT_FLIT_LEN, syndrome[i], WEFT_BIT64(i),
				now_ns, in);
	if (rx->ack_due || rx->apart != NULL)
		llr_took(rx, rxl_plus(rxl_of(rx)->expected, NUMBERS - 1), now_ns);
}

static uint16_t
rxl_expected(const struct llr_rx *rx)
{
	return rxl_of(rx)->expected;
}

const struct llr_rx_ops llr_rxl_rx_ops = {
	.state_size = sizeof(struct rxl),
	.start = rxl_start,
	.take = rxl_take,
	.expected = rxl_expected,
	.tick = rxl_tick,
	.deadline = rxl_deadline,
	.nak = rxl_nak,
};
