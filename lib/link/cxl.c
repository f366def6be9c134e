/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Retry of cxl mode, receiver; cxl_tx.c transmits (wire-formats.md section 3; doc/llr.md). One
 * header field holds the number of the flit or an Ack or a Nak, so the receiver counts flits
 * without an explicit number. The loss of a flit before such a one goes unnoticed: the weakness
 * that rxl mode removes. With show_first it remains within a frame only, where nothing but a switch
 * could drop a flit. Flits of an intruder are noticed by the numbers of the peer's own flits:
 * doc/llr.md.
 */

#include "cxl_priv.h"

#include "weft_crc.h"

#define KNOWN 1024 /* a power of two: a window before the expected position and one after it */

/* Knowledge of the number of a flit without an explicit one. */
enum cxl_count {
	CXL_LOST, /* nothing */
	CXL_MISLED, /* an explicit number that does not fit: forged, or the sender went back */
	CXL_SURE
};

enum cxl_nak { CXL_NAK_NONE, CXL_NAK_STANDARD, CXL_NAK_SELECTIVE };

struct cxl {
	bool in_handshake; /* as the transmitter said */
	bool after_number; /* the flit before was a NOP with an explicit number */
	/* positions of the peer's sender; may be before its first */
	int64_t expected;
	int64_t counted; /* position of the next flit without an explicit number */
	uint8_t count; /* enum cxl_count: of counted */
	bool doubt; /* one bad flit: the next tells whether it used a number */
	uint8_t nak; /* enum cxl_nak: the outstanding one */
	bool nak_due; /* it must be sent (again) */
	uint16_t useless; /* flits since the last Nak that did not help */
	uint64_t asked_ns;
	/* By position, of accepted and held flits: header and CRC as received. */
	uint16_t hdr[KNOWN];
	uint64_t crc[KNOWN];
};

static struct cxl *
cxl_of(const struct llr_rx *rx)
{
	return rx->state;
}

static void
cxl_know(struct cxl *c, int64_t pos, const uint8_t *flit)
{
	c->hdr[pos & (KNOWN - 1)] = weft_get_be16(flit);
	c->crc[pos & (KNOWN - 1)] = weft_get_le64(flit + WEFT_CRC_OFF);
}

/* True: the same flit was accepted or is held for @p pos. */
static bool
cxl_is_known(const struct cxl *c, int64_t pos, const uint8_t *flit)
{
	/* Positions before the first are unknown. */
	return pos < 0 ||
	       llr_is_sent_again(c->hdr[pos & (KNOWN - 1)], c->crc[pos & (KNOWN - 1)], flit);
}

static void
cxl_duplicate(struct llr_rx *rx, uint64_t bit, struct weft_llr_rx_result *in)
{
	in->duplicate |= bit;
	rx->count[WEFT_LLR_N_DUPLICATES]++;
}

/* --- receiver: Naks --- */

static void
cxl_ask(struct cxl *c, enum cxl_nak nak)
{
	c->nak = (uint8_t)nak;
	c->nak_due = true;
	c->useless = 0;
}

/* Request a replay from the expected flit on. */
static void
cxl_ask_all(struct llr_rx *rx, struct cxl *c)
{
	c->doubt = false;
	if (c->nak == CXL_NAK_STANDARD)
		return;
	llr_forget(rx);
	cxl_ask(c, CXL_NAK_STANDARD);
}

static void
cxl_ask_again(struct llr_rx *rx, struct cxl *c)
{
	c->nak_due = true;
	c->useless = 0;
	rx->count[WEFT_LLR_N_NAKS_REPEATED]++;
}

/* A replay that began elsewhere. The sender would not honour another Nak sooner than this. */
static void
cxl_asked_in_vain(struct llr_rx *rx, struct cxl *c, uint64_t now_ns)
{
	if (!c->nak_due && now_ns >= c->asked_ns + llr_half_trip_ns(rx->cfg, &rx->rtt))
		cxl_ask_again(rx, c);
}

/* Numbers are missing from the expected one on (RETRY-44). */
static void
cxl_gap(struct llr_rx *rx, struct cxl *c, int64_t missing)
{
	rx->count[WEFT_LLR_N_GAPS]++;
	rx->count[WEFT_LLR_N_LOST] += (uint64_t)missing;
	if (rx->cfg->selective && missing == 1)
		cxl_ask(c, CXL_NAK_SELECTIVE);
	else
		cxl_ask_all(rx, c);
}

static void
cxl_useless(struct llr_rx *rx, struct cxl *c)
{
	if (c->nak == CXL_NAK_STANDARD && ++c->useless >= rx->cfg->nak_repeat)
		cxl_ask_again(rx, c);
}

/* RETRY-7 */
static enum llr_naks
cxl_tick(struct llr_rx *rx, uint64_t now_ns)
{
	struct cxl *c = cxl_of(rx);

	if (c->nak != CXL_NAK_NONE && !c->nak_due &&
		now_ns >= c->asked_ns + llr_nak_timeout_ns(&rx->rtt, 0))
		cxl_ask_again(rx, c);
	return c->nak_due ? LLR_NAKS_DUE : LLR_NAKS_NONE;
}

static uint64_t
cxl_deadline(const struct llr_rx *rx)
{
	const struct cxl *c = cxl_of(rx);

	if (c->nak_due)
		return 0;
	return c->nak == CXL_NAK_NONE ? WEFT_LLR_NEVER
	                              : c->asked_ns + llr_nak_timeout_ns(&rx->rtt, 0);
}

static uint16_t
cxl_newest_taken(const struct cxl *c)
{
	return cxl_number((uint64_t)(c->expected - 1));
}

/* RETRY-41 */
static bool
cxl_nak(struct llr_rx *rx, uint64_t now_ns, struct llr_nak *nak)
{
	struct cxl *c = cxl_of(rx);

	if (!c->nak_due)
		return false;
	*nak = (struct llr_nak){ .cmd = c->nak == CXL_NAK_STANDARD ? WEFT_REPLAY_NAK_STANDARD
		                                                   : WEFT_REPLAY_NAK_SELECTIVE,
		.number = cxl_newest_taken(c),
		.acks = true };
	c->nak_due = false;
	c->asked_ns = now_ns;
	return true;
}

static void
cxl_handshake(struct llr_rx *rx, bool under_way)
{
	cxl_of(rx)->in_handshake = under_way;
}

/* Both ends keep their replay buffers; flits that arrived early are sent again. */
static void
cxl_retrain(struct llr_rx *rx)
{
	struct cxl *c = cxl_of(rx);

	llr_forget(rx);
	c->nak = CXL_NAK_NONE;
	c->nak_due = false;
	c->doubt = false;
	c->count = CXL_LOST;
}

/* --- receiver --- */

/*
 * An intact flit came: what it says of the handshake. Two NOPs with explicit numbers in a row are
 * sent only by an end that has heard nothing; one that answers puts an Ack between. So answers
 * never call for answers.
 */
static void
cxl_heard(struct llr_rx *rx, struct cxl *c, bool number_nop, uint64_t now_ns)
{
	const bool is_second = number_nop && c->after_number;

	c->after_number = number_nop;
	if (number_nop || c->in_handshake)
		llr_heard(rx, number_nop, is_second, now_ns);
}

/* Position of an explicit number; false: out of window (RETRY-48). */
static bool
cxl_position(const struct cxl *c, uint16_t number, int64_t *pos)
{
	unsigned int ahead =
		(unsigned int)(number + CXL_NUMBERS - cxl_number((uint64_t)c->expected)) %
		CXL_NUMBERS;

	if (number == 0 || ahead == WEFT_LLR_WINDOW_MAX)
		return false;
	*pos = c->expected + ahead;
	if (ahead > WEFT_LLR_WINDOW_MAX)
		*pos -= CXL_NUMBERS;
	return true;
}

static void
cxl_refuse(struct llr_rx *rx, struct cxl *c, uint64_t bit, struct weft_llr_rx_result *in)
{
	in->refused |= bit;
	cxl_useless(rx, c);
}

/* RETRY-3, RETRY-50 */
static void
cxl_in_turn(struct llr_rx *rx, const uint8_t *flit, uint64_t bit, struct weft_llr_rx_result *in)
{
	struct cxl *c = cxl_of(rx);
	bool misjudged = false;

	if (c->nak == CXL_NAK_SELECTIVE && llr_has(rx, (uint64_t)c->expected + 1) &&
		cxl_is_known(c, c->expected + 1, flit)) {
		/* Held already: the bad flit before it was forged and used no number. */
		misjudged = true;
		llr_forget(rx);
	}
	if (rx->ready != 0) {
		/* Earlier flits wait to be fetched: queue this one after them, if there is room. */
		if (rx->ready >= rx->cfg->rx_flits) {
			rx->count[WEFT_LLR_N_OVERFLOWS]++;
			cxl_ask_all(rx, c);
			cxl_refuse(rx, c, bit, in);
			return;
		}
		llr_hold(rx, (uint64_t)c->expected, flit);
		llr_ready(rx, (uint64_t)c->expected);
		in->held |= bit;
	} else {
		in->deliver |= bit;
		rx->count[WEFT_LLR_N_DELIVERED]++;
	}
	cxl_know(c, c->expected++, flit);
	llr_ack_due(rx, 1);
	while (c->nak == CXL_NAK_SELECTIVE && llr_has(rx, (uint64_t)c->expected)) {
		llr_ready(rx, (uint64_t)c->expected++);
		llr_ack_due(rx, 1);
	}
	c->nak = CXL_NAK_NONE;
	c->nak_due = false;
	if (misjudged)
		cxl_ask_all(rx, c);
}

/*
 * While a selective Nak is outstanding, buffer consecutive later flits. False: a gap, or no room in
 * the Rx buffer; the caller refuses the flit (RETRY-44, RETRY-50).
 */
static bool
cxl_keep(struct llr_rx *rx, struct cxl *c, const uint8_t *flit, int64_t pos, uint64_t bit,
	struct weft_llr_rx_result *in)
{
	int64_t next = c->expected + 1 + (rx->held - rx->ready);

	if (pos < next && cxl_is_known(c, pos, flit)) {
		cxl_duplicate(rx, bit, in);
		return true;
	}
	if (pos < next) {
		/* Discard held flits: the guess of their numbers was wrong, none was delivered. */
	} else if (pos > next) {
		rx->count[WEFT_LLR_N_LOST] += (uint64_t)(pos - next);
		rx->count[WEFT_LLR_N_GAPS]++;
	} else if (rx->ready + (pos - c->expected) > rx->cfg->rx_flits) {
		rx->count[WEFT_LLR_N_OVERFLOWS]++;
	} else {
		llr_hold(rx, (uint64_t)pos, flit);
		cxl_know(c, pos, flit);
		in->held |= bit;
		rx->count[WEFT_LLR_N_HELD]++;
		return true;
	}
	cxl_ask_all(rx, c);
	return false;
}

/* RETRY-42; RETRY-6 */
static void
cxl_payload(struct llr_rx *rx, const uint8_t *flit, int64_t pos, uint64_t bit, uint64_t now_ns,
	struct weft_llr_rx_result *in)
{
	struct cxl *c = cxl_of(rx);
	bool sent_before = pos < c->counted;

	c->counted = pos + 1;
	if (pos == c->expected) {
		cxl_in_turn(rx, flit, bit, in);
		return;
	}
	if (pos < c->expected) {
		/* A replay: the sender may not have received the Ack. */
		if (!cxl_is_known(c, pos, flit))
			llr_conflict(rx);
		cxl_duplicate(rx, bit, in);
		llr_ack_due(rx, 0);
		return;
	}
	if (c->nak == CXL_NAK_NONE)
		cxl_gap(rx, c, pos - c->expected);
	else if (c->nak == CXL_NAK_STANDARD && sent_before)
		cxl_asked_in_vain(rx, c, now_ns); /* a replay whose first flit was lost */
	if (c->nak != CXL_NAK_SELECTIVE || !cxl_keep(rx, c, flit, pos, bit, in))
		cxl_refuse(rx, c, bit, in);
}

/*
 * An explicit number: decide whether later flits can be counted on from it (RETRY-49).
 */
static void
cxl_shown(struct cxl *c, int64_t next)
{
	const int64_t skipped = next - c->counted;

	/* A replay begins with three explicit numbers, so the second one confirms the first. */
	if (c->count == CXL_LOST || skipped == 0 || skipped == 1)
		c->count = CXL_SURE;
	else
		c->count = CXL_MISLED;
}

/*
 * A NOP carries the number of the newest flit sent. One below what was accepted must be repeated to
 * be believed (RETRY-51).
 */
static void
cxl_newest(struct llr_rx *rx, struct cxl *c, int64_t pos, uint64_t now_ns)
{
	const struct llr_record conflict = { .type = LLR_CONFLICT };
	const bool said_before = c->counted == pos + 1;

	c->counted = pos + 1;
	if (c->counted == c->expected || (c->counted < c->expected && said_before)) {
		/*
		 * More was accepted than was sent: forged flits, or duplicates were counted.
		 * Without this no Ack would ever be in window again.
		 */
		if (c->in_handshake && c->counted < c->expected) {
			llr_tell_tx(rx, &conflict);
			c->expected = c->counted;
			llr_took(rx, cxl_newest_taken(c), now_ns);
		}
		c->nak = CXL_NAK_NONE;
		c->nak_due = false;
	} else if (c->counted > c->expected && !c->in_handshake && c->nak == CXL_NAK_NONE) {
		cxl_gap(rx, c, c->counted - c->expected);
	}
}

/* RETRY-43 */
static void
cxl_bad(struct llr_rx *rx, struct cxl *c, uint64_t bit, struct weft_llr_rx_result *in)
{
	in->bad |= bit;
	rx->count[WEFT_LLR_N_BAD]++;
	c->after_number = false;
	if (c->nak == CXL_NAK_NONE && !c->doubt) {
		c->doubt = true;
		return;
	}
	/* Several bad flits: how many used a number is unknown until the next explicit one. */
	c->count = CXL_LOST;
	cxl_ask_all(rx, c);
	cxl_useless(rx, c);
}

/* The bad flit used a number, and the one after it carries none. */
static void
cxl_lost_one(struct llr_rx *rx, struct cxl *c)
{
	bool is_next = c->count == CXL_SURE && c->counted == c->expected;

	c->counted++;
	if (is_next)
		cxl_gap(rx, c, 1);
	if (c->nak == CXL_NAK_SELECTIVE)
		return;
	c->count = CXL_LOST;
	cxl_ask_all(rx, c);
}

static void
cxl_flit(struct llr_rx *rx, const uint8_t *flit, uint64_t syndrome, uint64_t bit, uint64_t now_ns,
	struct weft_llr_rx_result *in)
{
	struct cxl *c = cxl_of(rx);
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	bool nop = h.type == WEFT_FLIT_IDLE_NOP;
	bool shown = h.replay_cmd == WEFT_REPLAY_EXPLICIT;
	int64_t pos = c->counted;
	bool doubt = c->doubt;

	if (syndrome != 0) {
		cxl_bad(rx, c, bit, in);
		return;
	}
	if (nop) {
		in->nop |= bit;
		rx->count[WEFT_LLR_N_NOPS]++;
		if (shown && h.seq == 0)
			return; /* IDLE: its other bits say nothing */
	}
	c->doubt = false;
	if (!shown && h.seq != 0)
		llr_field(rx, LLR_FIELD, h.replay_cmd, h.seq, now_ns); /* RETRY-45 */
	cxl_heard(rx, c, nop && shown, now_ns);
	if (shown && !cxl_position(c, h.seq, &pos)) {
		rx->count[WEFT_LLR_N_OUT_OF_WINDOW]++;
		cxl_ask_all(rx, c);
		if (!nop)
			cxl_refuse(rx, c, bit, in);
		return;
	}
	if (shown)
		cxl_shown(c, pos + nop);
	if (!shown && doubt && h.prior_payload) {
		cxl_lost_one(rx, c);
		pos = c->counted;
	}
	if (nop && shown) {
		cxl_newest(rx, c, pos, now_ns);
	} else if (!nop && (shown || c->count == CXL_SURE)) {
		cxl_payload(rx, flit, pos, bit, now_ns, in);
	} else if (!nop) {
		cxl_ask_all(rx, c);
		cxl_refuse(rx, c, bit, in);
	}
}

static void
cxl_take(struct llr_rx *rx, const uint8_t *flits, const uint64_t *syndrome, unsigned int n,
	uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in)
{
	/* Frames may be missing before this one (RETRY-52). */
	if (rx->cfg->show_first)
		cxl_of(rx)->count = CXL_LOST;
	for (unsigned int i = 0; i < n; i++)
		if ((skip & WEFT_BIT64(i)) == 0)
			cxl_flit(rx, flits + (size_t)i * WEFT_FLIT_LEN, syndrome[i], WEFT_BIT64(i),
				now_ns, in);
	if (rx->ack_due)
		llr_took(rx, cxl_newest_taken(cxl_of(rx)), now_ns);
}

const struct llr_rx_ops llr_cxl_rx_ops = {
	.state_size = sizeof(struct cxl),
	.take = cxl_take,
	.tick = cxl_tick,
	.deadline = cxl_deadline,
	.nak = cxl_nak,
	.handshake = cxl_handshake,
	.retrain = cxl_retrain,
};
