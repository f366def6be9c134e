/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Retry of cxl mode (wire-formats.md section 3; doc/llr.md). One header field holds the number of
 * the flit or an Ack or a Nak, so the receiver counts flits without an explicit number. The loss of
 * a flit before such a one goes unnoticed: the weakness that rxl mode removes. With show_first it
 * remains within a frame only, where nothing but a switch could drop a flit.
 * Flits of an intruder are noticed by the numbers of the peer's own flits: doc/llr.md.
 */

#include "llr_priv.h"

#include "weft_crc.h"

#define NUMBERS 1023
#define RUN 3 /* flits in a row with explicit numbers */
#define KNOWN 1024 /* a power of two: a window before the expected position and one after it */

enum cxl_phase {
	CXL_NORMAL,
	CXL_ASKING, /* no explicit number received yet */
	CXL_ANSWERING /* received; now an Ack or payload must show that ours arrived */
};

/* Knowledge of the number of a flit without an explicit one. */
enum cxl_count {
	CXL_LOST, /* nothing */
	CXL_MISLED, /* an explicit number that does not fit: forged, or the sender went back */
	CXL_SURE
};

enum cxl_nak { CXL_NAK_NONE, CXL_NAK_STANDARD, CXL_NAK_SELECTIVE };

struct cxl {
	/* sender */
	uint64_t follows; /* position that would follow the one sent last */
	uint8_t explicit_left; /* flits that must carry an explicit number */
	/* sequence handshake */
	uint8_t phase;
	uint8_t run_left; /* NOPs of the run under way */
	bool heard; /* ANSWERING: the peer has received ours */
	bool stuck; /* the retrain before this one did not help */
	uint64_t retrain_acked; /* weft_llr.acked at this end's last retrain */
	bool after_number; /* the flit before was a NOP with an explicit number */
	uint64_t run_ns; /* when the last run began */
	/* receiver: positions of the peer's sender; may be before its first */
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
cxl_of(const struct weft_llr *l)
{
	return l->state;
}

/* The position before the first has the number 1023 (RETRY-40). */
static uint16_t
cxl_number(uint64_t pos)
{
	uint16_t n = (uint16_t)((pos + 1) % NUMBERS);

	return n == 0 ? NUMBERS : n;
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
cxl_duplicate(struct weft_llr *l, uint64_t bit, struct weft_llr_rx_result *in)
{
	in->duplicate |= bit;
	l->count[WEFT_LLR_N_DUPLICATES]++;
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
cxl_ask_all(struct weft_llr *l, struct cxl *c)
{
	c->doubt = false;
	if (c->nak == CXL_NAK_STANDARD)
		return;
	llr_forget(l);
	cxl_ask(c, CXL_NAK_STANDARD);
}

static void
cxl_ask_again(struct weft_llr *l, struct cxl *c)
{
	c->nak_due = true;
	c->useless = 0;
	l->count[WEFT_LLR_N_NAKS_REPEATED]++;
}

/* A replay that began elsewhere. The sender would not honour another Nak sooner than this. */
static void
cxl_asked_in_vain(struct weft_llr *l, struct cxl *c, uint64_t now_ns)
{
	if (!c->nak_due && now_ns >= c->asked_ns + llr_half_trip_ns(l))
		cxl_ask_again(l, c);
}

/* Numbers are missing from the expected one on (RETRY-44). */
static void
cxl_gap(struct weft_llr *l, struct cxl *c, int64_t missing)
{
	l->count[WEFT_LLR_N_GAPS]++;
	l->count[WEFT_LLR_N_LOST] += (uint64_t)missing;
	if (l->cfg.selective && missing == 1)
		cxl_ask(c, CXL_NAK_SELECTIVE);
	else
		cxl_ask_all(l, c);
}

static void
cxl_useless(struct weft_llr *l, struct cxl *c)
{
	if (c->nak == CXL_NAK_STANDARD && ++c->useless >= l->cfg.nak_repeat)
		cxl_ask_again(l, c);
}

/* --- sequence handshake --- */

static void
cxl_run(struct cxl *c, uint64_t now_ns)
{
	c->run_left = c->phase == CXL_ASKING ? RUN : 2 * RUN;
	c->run_ns = now_ns;
}

static void
cxl_handshake(struct weft_llr *l, enum cxl_phase phase, uint64_t now_ns)
{
	struct cxl *c = cxl_of(l);

	c->phase = (uint8_t)phase;
	c->heard = false;
	l->shown = WEFT_LLR_RETRAINING;
	cxl_run(c, now_ns);
}

/* Both ends keep their replay buffers; flits that arrived early are sent again. */
static void
cxl_retrain(struct weft_llr *l, enum cxl_phase phase, uint64_t now_ns)
{
	struct cxl *c = cxl_of(l);

	l->count[WEFT_LLR_N_RETRAINS]++;
	llr_forget(l);
	c->nak = CXL_NAK_NONE;
	c->nak_due = false;
	c->doubt = false;
	c->count = CXL_LOST;
	cxl_handshake(l, phase, now_ns);
}

static void
cxl_handshake_done(struct weft_llr *l, struct cxl *c, uint64_t now_ns)
{
	if (c->phase != CXL_ANSWERING || !c->heard || c->run_left != 0)
		return;
	c->phase = CXL_NORMAL;
	c->explicit_left = RUN;
	l->shown = c->stuck && l->acked == c->retrain_acked ? WEFT_LLR_STUCK : WEFT_LLR_RUNNING;
	c->stuck = false;
	l->replays = 0;
	if (l->acked != l->first_unsent)
		llr_go_back(l, now_ns);
}

/*
 * An intact flit came: what it says of the handshake. Two NOPs with explicit numbers in a row are
 * sent only by an end that has heard nothing; one that answers puts an Ack between. So answers
 * never call for answers.
 */
static void
cxl_hear(struct weft_llr *l, struct cxl *c, bool number_nop, uint64_t now_ns)
{
	bool asks = number_nop && c->after_number;

	c->after_number = number_nop;
	switch (c->phase) {
	case CXL_NORMAL:
		if (asks)
			cxl_retrain(l, CXL_ANSWERING, now_ns);
		else if (number_nop)
			l->nop_pending =
				true; /* the NOP has an Ack, all that it can still wait for */
		break;
	case CXL_ASKING:
		if (number_nop)
			cxl_handshake(l, CXL_ANSWERING, now_ns);
		break;
	default:
		if (asks && c->run_left == 0)
			cxl_run(c, now_ns); /* it has not received the answer */
		c->heard |= !number_nop;
		cxl_handshake_done(l, c, now_ns);
		break;
	}
}

/* RETRY-46 */
static void
cxl_start(struct weft_llr *l, uint64_t now_ns)
{
	cxl_of(l)->retrain_acked = UINT64_MAX;
	cxl_handshake(l, CXL_ASKING, now_ns);
}

static bool
cxl_may_send(const struct weft_llr *l)
{
	return cxl_of(l)->phase == CXL_NORMAL;
}

/* A NOP with the number, followed by an Ack, so that it is no handshake request. */
static void
cxl_show_last(struct weft_llr *l)
{
	struct cxl *c = cxl_of(l);

	if (c->run_left == 0)
		c->run_left = 2;
}

/* --- sending --- */

/* RETRY-7 */
static bool
cxl_tick(struct weft_llr *l, uint64_t now_ns)
{
	struct cxl *c = cxl_of(l);

	if (c->phase != CXL_NORMAL && c->run_left == 0 &&
		now_ns >= c->run_ns + llr_nak_timeout_ns(l, 0))
		cxl_run(c, now_ns);
	if (c->nak != CXL_NAK_NONE && !c->nak_due &&
		now_ns >= c->asked_ns + llr_nak_timeout_ns(l, 0))
		cxl_ask_again(l, c);
	return c->run_left != 0 || c->nak_due;
}

static uint64_t
cxl_deadline(const struct weft_llr *l)
{
	struct cxl *c = cxl_of(l);
	uint64_t at = WEFT_LLR_NEVER;

	if (c->run_left != 0 || c->nak_due)
		return 0;
	if (c->phase != CXL_NORMAL)
		at = c->run_ns + llr_nak_timeout_ns(l, 0);
	if (c->nak != CXL_NAK_NONE && c->asked_ns + llr_nak_timeout_ns(l, 0) < at)
		at = c->asked_ns + llr_nak_timeout_ns(l, 0);
	return at;
}

static bool
cxl_nak_is_due(const struct weft_llr *l)
{
	return cxl_of(l)->nak_due;
}

/* True: this flit must carry an explicit number (RETRY-41, RETRY-52). */
static bool
cxl_must_show(struct weft_llr *l, bool nop, uint64_t pos)
{
	struct cxl *c = cxl_of(l);

	if (nop) {
		if (c->run_left == 0)
			return false;
		c->run_left--;
		return c->phase == CXL_ASKING || c->run_left % 2 != 0;
	}
	if (pos != c->follows)
		c->explicit_left = RUN;
	c->follows = pos + 1;
	if (l->cfg.show_first && l->opens) {
		l->opens = false;
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
cxl_header(struct weft_llr *l, uint8_t *flit, bool nop, uint64_t pos, uint64_t now_ns)
{
	struct cxl *c = cxl_of(l);
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	uint64_t number = nop ? l->first_unsent - 1 : pos;
	bool must_show = cxl_must_show(l, nop, pos);

	h.prior_payload = l->prior_payload;
	h.replay_cmd = WEFT_REPLAY_EXPLICIT;
	if (!must_show && (c->nak_due || nop || llr_ack_is_due(l, now_ns))) {
		number = (uint64_t)(c->expected - 1);
		llr_ack_sent(l);
		if (c->nak_due) {
			h.replay_cmd = c->nak == CXL_NAK_STANDARD ? WEFT_REPLAY_NAK_STANDARD
			                                          : WEFT_REPLAY_NAK_SELECTIVE;
			c->nak_due = false;
			c->asked_ns = now_ns;
			l->count[WEFT_LLR_N_NAKS_SENT]++;
		} else {
			h.replay_cmd = WEFT_REPLAY_ACK;
			l->count[WEFT_LLR_N_ACKS_SENT]++;
		}
	}
	h.seq = cxl_number(number);
	weft_flit_hdr_put(flit, &h);
	if (nop)
		cxl_handshake_done(l, c, now_ns);
}

/* Too many replays in vain: retrain (RETRY-47). */
static void
cxl_no_progress(struct weft_llr *l, uint64_t now_ns)
{
	struct cxl *c = cxl_of(l);

	if (l->replays < l->cfg.replays_max)
		return;
	l->replays = 0;
	c->stuck = c->retrain_acked == l->acked;
	c->retrain_acked = l->acked;
	cxl_retrain(l, CXL_ASKING, now_ns);
}

static void
cxl_timed_out(struct weft_llr *l, uint64_t now_ns)
{
	if (!cxl_may_send(l)) {
		l->replays = 0;
		return;
	}
	llr_rewind(l, now_ns);
	cxl_no_progress(l, now_ns);
}

/* --- receiver --- */

/* RETRY-45 */
static void
cxl_field(struct weft_llr *l, const struct weft_flit_hdr *h, uint64_t now_ns)
{
	struct cxl *c = cxl_of(l);
	bool done;
	uint64_t pos;

	if (h->seq == 0)
		return;
	if (!llr_position(l, h->seq, &pos) &&
		(h->replay_cmd == WEFT_REPLAY_ACK || !llr_revoke(l, h->seq, &pos, now_ns))) {
		l->count[WEFT_LLR_N_OUT_OF_WINDOW]++;
		llr_refuted(l, h->seq, now_ns);
		return;
	}
	l->refuted = 0;
	llr_acked(l, pos, now_ns);
	if (h->replay_cmd == WEFT_REPLAY_ACK)
		return;
	if (l->acked == l->first_unsent) {
		/* Nothing is outstanding: say so. */
		c->explicit_left = RUN;
		cxl_show_last(l);
		l->count[WEFT_LLR_N_NAKS_IGNORED]++;
		return;
	}
	if (h->replay_cmd == WEFT_REPLAY_NAK_SELECTIVE)
		done = llr_resend(l, pos, now_ns);
	else
		done = cxl_may_send(l) && llr_rewind(l, now_ns);
	l->count[done ? WEFT_LLR_N_NAKS : WEFT_LLR_N_NAKS_IGNORED]++;
	if (done && h->replay_cmd == WEFT_REPLAY_NAK_STANDARD) {
		l->replays++;
		cxl_no_progress(l, now_ns);
	}
}

/* Position of an explicit number; false: out of window (RETRY-48). */
static bool
cxl_position(const struct cxl *c, uint16_t number, int64_t *pos)
{
	unsigned int ahead =
		(unsigned int)(number + NUMBERS - cxl_number((uint64_t)c->expected)) % NUMBERS;

	if (number == 0 || ahead == WEFT_LLR_WINDOW_MAX)
		return false;
	*pos = c->expected + ahead;
	if (ahead > WEFT_LLR_WINDOW_MAX)
		*pos -= NUMBERS;
	return true;
}

static void
cxl_refuse(struct weft_llr *l, struct cxl *c, uint64_t bit, struct weft_llr_rx_result *in)
{
	in->refused |= bit;
	cxl_useless(l, c);
}

/* RETRY-3, RETRY-50 */
static void
cxl_in_turn(struct weft_llr *l, const uint8_t *flit, uint64_t bit, uint64_t now_ns,
	struct weft_llr_rx_result *in)
{
	struct cxl *c = cxl_of(l);
	bool misjudged = false;

	if (c->nak == CXL_NAK_SELECTIVE && llr_has(l, (uint64_t)c->expected + 1) &&
		cxl_is_known(c, c->expected + 1, flit)) {
		/* Held already: the bad flit before it was forged and used no number. */
		misjudged = true;
		llr_forget(l);
	}
	if (l->ready != 0) {
		/* Earlier flits wait to be fetched: queue this one after them, if there is room. */
		if (l->ready >= l->cfg.rx_flits) {
			l->count[WEFT_LLR_N_OVERFLOWS]++;
			cxl_ask_all(l, c);
			cxl_refuse(l, c, bit, in);
			return;
		}
		llr_hold(l, (uint64_t)c->expected, flit);
		llr_ready(l, (uint64_t)c->expected);
		in->held |= bit;
	} else {
		in->deliver |= bit;
		l->count[WEFT_LLR_N_DELIVERED]++;
	}
	cxl_know(c, c->expected++, flit);
	llr_owe(l, 1, now_ns);
	while (c->nak == CXL_NAK_SELECTIVE && llr_has(l, (uint64_t)c->expected)) {
		llr_ready(l, (uint64_t)c->expected++);
		llr_owe(l, 1, now_ns);
	}
	c->nak = CXL_NAK_NONE;
	c->nak_due = false;
	if (misjudged)
		cxl_ask_all(l, c);
}

/*
 * While a selective Nak is outstanding, buffer consecutive later flits. False: a gap, or no room in
 * the Rx buffer; the caller refuses the flit (RETRY-44, RETRY-50).
 */
static bool
cxl_keep(struct weft_llr *l, struct cxl *c, const uint8_t *flit, int64_t pos, uint64_t bit,
	struct weft_llr_rx_result *in)
{
	int64_t next = c->expected + 1 + (l->held - l->ready);

	if (pos < next && cxl_is_known(c, pos, flit)) {
		cxl_duplicate(l, bit, in);
		return true;
	}
	if (pos < next) {
		/* Discard held flits: the guess of their numbers was wrong, none was delivered. */
	} else if (pos > next) {
		l->count[WEFT_LLR_N_LOST] += (uint64_t)(pos - next);
		l->count[WEFT_LLR_N_GAPS]++;
	} else if (l->ready + (pos - c->expected) > l->cfg.rx_flits) {
		l->count[WEFT_LLR_N_OVERFLOWS]++;
	} else {
		llr_hold(l, (uint64_t)pos, flit);
		cxl_know(c, pos, flit);
		in->held |= bit;
		l->count[WEFT_LLR_N_HELD]++;
		return true;
	}
	cxl_ask_all(l, c);
	return false;
}

/* RETRY-42; RETRY-6 */
static void
cxl_payload(struct weft_llr *l, const uint8_t *flit, int64_t pos, uint64_t bit, uint64_t now_ns,
	struct weft_llr_rx_result *in)
{
	struct cxl *c = cxl_of(l);
	bool sent_before = pos < c->counted;

	c->counted = pos + 1;
	if (pos == c->expected) {
		cxl_in_turn(l, flit, bit, now_ns, in);
		return;
	}
	if (pos < c->expected) {
		/* A replay: the sender may not have received the Ack. */
		if (!cxl_is_known(c, pos, flit))
			llr_conflict(l);
		cxl_duplicate(l, bit, in);
		llr_owe(l, 0, now_ns);
		return;
	}
	if (c->nak == CXL_NAK_NONE)
		cxl_gap(l, c, pos - c->expected);
	else if (c->nak == CXL_NAK_STANDARD && sent_before)
		cxl_asked_in_vain(l, c, now_ns); /* a replay whose first flit was lost */
	if (c->nak != CXL_NAK_SELECTIVE || !cxl_keep(l, c, flit, pos, bit, in))
		cxl_refuse(l, c, bit, in);
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
cxl_newest(struct weft_llr *l, struct cxl *c, int64_t pos)
{
	const bool said_before = c->counted == pos + 1;

	c->counted = pos + 1;
	if (c->counted == c->expected || (c->counted < c->expected && said_before)) {
		/*
		 * More was accepted than was sent: forged flits, or duplicates were counted.
		 * Without this no Ack would ever be in window again.
		 */
		if (c->phase != CXL_NORMAL && c->counted < c->expected) {
			l->doubt |= WEFT_LLR_DOUBT_CONFLICT;
			c->expected = c->counted;
		}
		c->nak = CXL_NAK_NONE;
		c->nak_due = false;
	} else if (c->counted > c->expected && c->phase == CXL_NORMAL && c->nak == CXL_NAK_NONE) {
		cxl_gap(l, c, c->counted - c->expected);
	}
}

/* RETRY-43 */
static void
cxl_bad(struct weft_llr *l, struct cxl *c, uint64_t bit, struct weft_llr_rx_result *in)
{
	in->bad |= bit;
	l->count[WEFT_LLR_N_BAD]++;
	c->after_number = false;
	if (c->nak == CXL_NAK_NONE && !c->doubt) {
		c->doubt = true;
		return;
	}
	/* Several bad flits: how many used a number is unknown until the next explicit one. */
	c->count = CXL_LOST;
	cxl_ask_all(l, c);
	cxl_useless(l, c);
}

/* The bad flit used a number, and the one after it carries none. */
static void
cxl_lost_one(struct weft_llr *l, struct cxl *c)
{
	bool is_next = c->count == CXL_SURE && c->counted == c->expected;

	c->counted++;
	if (is_next)
		cxl_gap(l, c, 1);
	if (c->nak == CXL_NAK_SELECTIVE)
		return;
	c->count = CXL_LOST;
	cxl_ask_all(l, c);
}

static void
cxl_flit(struct weft_llr *l, const uint8_t *flit, uint64_t syndrome, uint64_t bit, uint64_t now_ns,
	struct weft_llr_rx_result *in)
{
	struct cxl *c = cxl_of(l);
	struct weft_flit_hdr h = weft_flit_hdr_get(flit);
	bool nop = h.type == WEFT_FLIT_IDLE_NOP;
	bool shown = h.replay_cmd == WEFT_REPLAY_EXPLICIT;
	int64_t pos = c->counted;
	bool doubt = c->doubt;

	if (syndrome != 0) {
		cxl_bad(l, c, bit, in);
		return;
	}
	if (nop) {
		in->nop |= bit;
		l->count[WEFT_LLR_N_NOPS]++;
		if (shown && h.seq == 0)
			return; /* IDLE: its other bits say nothing */
	}
	c->doubt = false;
	if (!shown)
		cxl_field(l, &h, now_ns);
	cxl_hear(l, c, nop && shown, now_ns);
	if (shown && !cxl_position(c, h.seq, &pos)) {
		l->count[WEFT_LLR_N_OUT_OF_WINDOW]++;
		cxl_ask_all(l, c);
		if (!nop)
			cxl_refuse(l, c, bit, in);
		return;
	}
	if (shown)
		cxl_shown(c, pos + nop);
	if (!shown && doubt && h.prior_payload) {
		cxl_lost_one(l, c);
		pos = c->counted;
	}
	if (nop && shown) {
		cxl_newest(l, c, pos);
	} else if (!nop && (shown || c->count == CXL_SURE)) {
		cxl_payload(l, flit, pos, bit, now_ns, in);
	} else if (!nop) {
		cxl_ask_all(l, c);
		cxl_refuse(l, c, bit, in);
	}
}

static void
cxl_take(struct weft_llr *l, const uint8_t *flits, const uint64_t *syndrome, unsigned int n,
	uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in)
{
	/* Frames may be missing before this one (RETRY-52). */
	if (l->cfg.show_first)
		cxl_of(l)->count = CXL_LOST;
	for (unsigned int i = 0; i < n; i++)
		if ((skip & WEFT_BIT64(i)) == 0)
			cxl_flit(l, flits + (size_t)i * WEFT_FLIT_LEN, syndrome[i], WEFT_BIT64(i),
				now_ns, in);
}

const struct llr_ops llr_cxl_ops = {
	.state_size = sizeof(struct cxl),
	.numbers = NUMBERS,
	.start = cxl_start,
	.number = cxl_number,
	.header = cxl_header,
	.take = cxl_take,
	.tick = cxl_tick,
	.deadline = cxl_deadline,
	.timed_out = cxl_timed_out,
	.may_send = cxl_may_send,
	.nak_is_due = cxl_nak_is_due,
	.show_last = cxl_show_last,
};
