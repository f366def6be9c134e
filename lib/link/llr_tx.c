/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tx of the retry layer, what both modes share: the replay buffer, what Acks and Naks do to it,
 * pending Acks; selective and go-back replay, new flits, NOPs; and its deadlines.
 */

#include "llr_priv.h"

#include <errno.h>

#define REFUTED_ENOUGH 4 /* Acks and Naks of one number out of window before it is evidence */

void
llr_tx_start(struct llr_tx *tx, uint64_t now_ns)
{
	const struct weft_llr_cfg *c = tx->cfg;
	const uint16_t half = (uint16_t)((c->window + 1) / 2);

	memset(&tx->n_selective, 0,
		offsetof(struct llr_tx, count) - offsetof(struct llr_tx, n_selective));
	memset(tx->state, 0, tx->ops->state_size);
	memset(tx->slot, 0, (tx->mask + 1) * sizeof(tx->slot[0]));
	tx->ack.number = tx->ops->number(UINT64_MAX); /* the one before the first */
	tx->ack.every = c->ack_every < half ? c->ack_every : half;
	tx->timer_ns = tx->since_ns = now_ns;
	weft_rtt_init(&tx->rtt, c->timeout_min_ns, c->timeout_first_ns, c->timeout_max_ns);
	if (tx->ops->start != NULL)
		tx->ops->start(tx, now_ns);
}

/* --- the receiver on another lcore --- */

/* Of measures only the newest counts, so they leave room. */
static bool
llr_tx_send(struct llr_tx *tx, struct llr_record r)
{
	struct llr_apart *a = tx->apart;
	const uint32_t room = llr_queue_room(a->out);

	if (room == 0 || (r.type == LLR_ROUND_TRIP && room < LLR_QUEUE / 2))
		return false;
	r.generation = a->generation;
	llr_queue_push(a->out, &r);
	return true;
}

bool
llr_tell_rx(struct llr_tx *tx, const struct llr_record *r)
{
	if (tx->apart != NULL)
		return llr_tx_send(tx, *r);
	llr_rx_hear(tx->rx, r);
	return true;
}

void
llr_tx_hear(struct llr_tx *tx, const struct llr_record *r)
{
	switch (r->type) {
	case LLR_TOOK: llr_tx_note_taken(tx, r->number, r->flits, r->is_due, r->ns); break;
	case LLR_FIELD: tx->ops->field(tx, r->cmd, r->number, r->ns); break;
	case LLR_OVERHEARD: llr_overheard(tx, r->number, r->ns); break;
	case LLR_CONFLICT: tx->doubt.signs |= WEFT_LLR_DOUBT_CONFLICT; break;
	default: tx->ops->heard(tx, r->is_number, r->is_second, r->ns); break;
	}
}

static void
llr_tell_session(struct llr_tx *tx)
{
	const struct llr_record r = { .type = LLR_SESSION, .flits = tx->apart->session };

	tx->apart->is_untold = !llr_tx_send(tx, r);
}

void
llr_tx_session(struct llr_tx *tx, uint32_t session, bool is_new)
{
	struct llr_apart *a = tx->apart;

	a->session = session;
	a->generation = (uint16_t)(a->generation + is_new);
	a->nak_head = a->n_naks = 0;
	a->nak_stands = false;
	llr_tell_session(tx);
}

/* What is asked for may have come meanwhile. */
static bool
llr_pop_nak(struct llr_tx *tx, struct llr_nak *nak)
{
	struct llr_apart *a = tx->apart;

	while (a->n_naks != 0) {
		*nak = a->nak[a->nak_head];
		a->nak_head = (uint8_t)((a->nak_head + 1) % LLR_NAKS);
		a->n_naks--;
		if (nak->acks)
			nak->number = tx->ack.number;
		if (nak->number == tx->ack.number)
			return true;
		if ((uint16_t)(nak->number - tx->ack.number) % tx->ops->numbers <
			tx->ops->numbers / 2)
			return true;
	}
	*nak = (struct llr_nak){ WEFT_REPLAY_NAK_STANDARD, tx->ack.number, true, true };
	return a->nak_stands;
}

static void
llr_note_nak(struct llr_tx *tx, const struct llr_record *r)
{
	struct llr_apart *a = tx->apart;

	if (a->n_naks < LLR_NAKS)
		a->nak[(a->nak_head + a->n_naks++) % LLR_NAKS] = (struct llr_nak){
			.cmd = r->cmd, .number = r->number, .acks = r->is_due, .more = true
		};
}

/*
 * Of the session before nothing counts. Times are this lcore's: the other's may be a little older.
 */
bool
weft_llr_hear(struct weft_llr *l, uint64_t now_ns, uint32_t *session)
{
	struct llr_tx *tx = &l->tx;
	struct llr_record r;

	if (tx->apart->is_untold)
		llr_tell_session(tx);
	if (!llr_queue_pop(tx->apart->in, &r))
		return false;
	*session = 0;
	r.ns = now_ns;
	if (r.type == LLR_STRANGER) {
		*session = r.flits;
	} else if (r.generation == tx->apart->generation && tx->apart->session != 0) {
		if (r.type == LLR_TOOK)
			*session = tx->apart->session;
		if (r.type == LLR_TOOK || r.type == LLR_NAK)
			tx->apart->nak_stands = r.stands;
		if (r.type == LLR_NAK)
			llr_note_nak(tx, &r);
		else
			llr_tx_hear(tx, &r);
	}
	return true;
}

/* --- the replay buffer --- */

static unsigned int
llr_room(const struct llr_tx *tx)
{
	/* RETRY-2 */
	return tx->cfg->window - (unsigned int)(tx->next - tx->acked);
}

unsigned int
weft_llr_room(const struct weft_llr *l)
{
	return llr_room(&l->tx);
}

uint8_t *
weft_llr_reserve(struct weft_llr *l)
{
	struct llr_tx *tx = &l->tx;

	if (llr_room(tx) == 0)
		return NULL;
	tx->reserved = true;
	return llr_tx_flit(tx, tx->next);
}

void
weft_llr_commit(struct weft_llr *l)
{
	struct llr_tx *tx = &l->tx;

	assert(tx->reserved);
	tx->reserved = false;
	*llr_slot(tx, tx->next) = (struct llr_slot){ 0 };
	tx->next++;
}

/* RETRY-11 */
int
weft_llr_commit_poisoned(struct weft_llr *l, uint8_t message)
{
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };
	uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN] = { message & 7 };
	struct llr_tx *tx = &l->tx;
	uint64_t pos = tx->next;
	uint8_t *poison = llr_tx_flit(tx, pos);

	assert(tx->reserved);
	if (llr_room(tx) < 2)
		return -EAGAIN;
	memcpy(llr_tx_flit(tx, pos + 1), poison, WEFT_FLIT_LEN);
	memset(poison, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(poison, &h);
	weft_llctrl_put(poison, WEFT_LLCTRL_POISON, payload);
	weft_llr_commit(l);
	tx->reserved = true;
	weft_llr_commit(l);
	llr_slot(tx, pos)->send_inverted_first = true;
	/*
	 * In cxl a CRC-inverted flit may count as one with a number; a second one causes a replay.
	 */
	llr_slot(tx, pos)->invert_crc = tx->cfg->mode == WEFT_MODE_CXL;
	return 0;
}

/* --- received Acks and Naks --- */

/* RETRY-5 */
bool
llr_position(const struct llr_tx *tx, uint16_t n, uint64_t *pos)
{
	/* Counted from the newest that is acknowledged; before the first one stands that of -1. */
	uint16_t newest = tx->ops->number(tx->acked - 1);
	unsigned int ahead = (unsigned int)(n + tx->ops->numbers - newest) % tx->ops->numbers;

	if (n >= WEFT_ISN_NUMBERS || ahead > tx->first_unsent - tx->acked)
		return false;
	*pos = tx->acked + ahead;
	return true;
}

/* RETRY-25 */
bool
llr_revoke(struct llr_tx *tx, uint16_t n, uint64_t *pos, uint64_t now_ns)
{
	const uint16_t newest = tx->ops->number(tx->acked - 1);
	const unsigned int back = (unsigned int)(newest + tx->ops->numbers - n) % tx->ops->numbers;
	const uint64_t from = tx->acked - back;

	/*
	 * A window has this many places, and the next flit to be committed may be in one already.
	 */
	if (n >= WEFT_ISN_NUMBERS || back > tx->acked || tx->next - from >= tx->cfg->window)
		return false;
	for (uint64_t p = from; p < tx->acked; p++) {
		llr_slot(tx, p)->resent = true; /* no round-trip sample from its Ack */
		llr_slot(tx, p)->selective = false;
	}
	if (tx->acked == tx->first_unsent)
		tx->timer_ns = tx->since_ns = now_ns;
	tx->acked = from;
	tx->count[WEFT_LLR_N_REVOKED]++;
	*pos = from;
	return true;
}

/* RETRY-27 */
void
llr_refuted(struct llr_tx *tx, uint16_t n, uint64_t now_ns)
{
	const uint64_t while_ns = tx->cfg->timeout_max_ns / 2;

	if (tx->acked == tx->first_unsent)
		return;
	if (tx->doubt.times == 0 ||
		(n != tx->doubt.number && now_ns >= tx->doubt.last_ns + while_ns)) {
		tx->doubt.times = 0;
		tx->doubt.number = n;
		tx->doubt.since_ns = now_ns;
	}
	if (n != tx->doubt.number)
		return;
	tx->doubt.last_ns = now_ns;
	if (tx->doubt.times < REFUTED_ENOUGH)
		tx->doubt.times++;
	if (tx->doubt.times == REFUTED_ENOUGH && now_ns >= tx->doubt.since_ns + while_ns)
		tx->doubt.signs |= WEFT_LLR_DOUBT_ACKS;
}

void
llr_overheard(struct llr_tx *tx, uint16_t n, uint64_t now_ns)
{
	uint64_t pos;

	if (!llr_position(tx, n, &pos))
		llr_refuted(tx, n, now_ns);
}

static void
llr_sample(struct llr_tx *tx, uint64_t ns)
{
	struct llr_record r = { .type = LLR_ROUND_TRIP };

	weft_rtt_sample(&tx->rtt, ns);
	r.ns = tx->rtt.mean_ns;
	r.deviation_ns = tx->rtt.deviation_ns;
	llr_tell_rx(tx, &r);
}

void
llr_acked(struct llr_tx *tx, uint64_t pos, uint64_t now_ns)
{
	const struct llr_slot *newest = llr_slot(tx, pos - 1);

	if (pos == tx->acked)
		return;
	if (!newest->resent && now_ns > newest->sent_ns)
		llr_sample(tx, now_ns - newest->sent_ns);
	for (; tx->acked < pos; tx->acked++)
		if (llr_slot(tx, tx->acked)->selective)
			tx->n_selective--;
	if (tx->tx_next < pos)
		tx->tx_next = pos;
	weft_rtt_progress(&tx->rtt);
	tx->timer_ns = tx->since_ns = now_ns;
	tx->replays = 0;
	if (tx->shown == WEFT_LLR_STUCK)
		tx->shown = WEFT_LLR_RUNNING;
	tx->count[WEFT_LLR_N_ACKS]++;
}

void
llr_go_back(struct llr_tx *tx, uint64_t now_ns)
{
	/*
	 * Rewound between a CRC-inverted flit and its Poison: they must be adjacent, so send it
	 * again.
	 */
	if (tx->atomic_until == tx->tx_next + 2 && tx->tx_next == tx->first_unsent)
		llr_slot(tx, tx->tx_next)->send_inverted_first = true;
	tx->tx_next = tx->acked;
	tx->timer_ns = now_ns;
	for (uint64_t p = tx->acked; tx->n_selective != 0 && p < tx->first_unsent; p++) {
		if (!llr_slot(tx, p)->selective)
			continue;
		llr_slot(tx, p)->selective = false;
		tx->n_selective--;
	}
	tx->count[WEFT_LLR_N_REPLAYS]++;
}

/* RETRY-8 */
bool
llr_rewind(struct llr_tx *tx, uint64_t now_ns)
{
	const struct llr_slot *oldest = llr_slot(tx, tx->acked);
	uint64_t patience_ns = weft_rtt_guess(&tx->rtt) / 2;

	/*
	 * Without gap decoding every flit repeats the Nak until the replay arrives; honouring each
	 * would start replays that themselves look corrupt, forever. Wait longer.
	 */
	if (tx->cfg->mode == WEFT_MODE_RXL && !tx->cfg->gap_decoding)
		patience_ns = patience_ns * 2 + 4 * tx->rtt.deviation_ns;

	if (tx->acked == tx->first_unsent)
		return false;
	/* That replay is under way, or began less than a round trip ago. */
	if (tx->tx_next == tx->acked)
		return false;
	if (patience_ns > tx->cfg->timeout_max_ns)
		patience_ns = tx->cfg->timeout_max_ns;
	if (oldest->resent && now_ns - oldest->sent_ns < patience_ns)
		return false;
	llr_go_back(tx, now_ns);
	return true;
}

/* RETRY-8 */
bool
llr_resend(struct llr_tx *tx, uint64_t pos, uint64_t now_ns)
{
	struct llr_slot *s = llr_slot(tx, pos);

	if (pos < tx->acked || pos >= tx->first_unsent || pos >= tx->tx_next)
		return false;
	if (s->selective ||
		(s->resent && now_ns - s->sent_ns < llr_half_trip_ns(tx->cfg, &tx->rtt)))
		return false;
	s->selective = true;
	tx->n_selective++;
	tx->count[WEFT_LLR_N_SINGLES]++;
	return true;
}

/* --- pending Acks --- */

uint64_t
llr_ack_delay(const struct llr_tx *tx, uint64_t flits)
{
	if (tx->cfg->ack_delay_ns != 0)
		return tx->cfg->ack_delay_ns;
	/* Of little traffic the next flit this way is far off, and the window is nearly empty. */
	return weft_rtt_guess(&tx->rtt) / (flits == 1 || flits == 2 ? 2 : 4);
}

/* RETRY-4 */
bool
llr_ack_is_due(const struct llr_tx *tx, uint64_t now_ns)
{
	return tx->ack.pending &&
	       (tx->ack.flits >= tx->ack.every ||
		       now_ns >= tx->ack.since_ns + llr_ack_delay(tx, tx->ack.flits));
}

void
llr_ack_sent(struct llr_tx *tx)
{
	tx->ack.pending = false;
	tx->ack.flits = 0;
}

bool
llr_fetch_nak(struct llr_tx *tx, uint64_t now_ns, struct llr_nak *nak)
{
	if (tx->apart != NULL ? !llr_pop_nak(tx, nak) : !tx->rx->ops->nak(tx->rx, now_ns, nak))
		return false;
	if (!nak->more)
		tx->naks = LLR_NAKS_NONE;
	if (nak->acks)
		llr_ack_sent(tx);
	tx->count[WEFT_LLR_N_NAKS_SENT]++;
	return true;
}

/* --- sending --- */

static bool
llr_may_send(const struct llr_tx *tx)
{
	return tx->ops->may_send == NULL || tx->ops->may_send(tx);
}

/*
 * When the tail of what was sent should have been acknowledged: a NOP shows what is missing
 * (RETRY-13).
 */
static uint64_t
llr_probe_ns(const struct llr_tx *tx)
{
	if (tx->probed || tx->first_unsent == 0 || tx->tx_next != tx->next)
		return WEFT_LLR_NEVER;
	/* Acknowledged. If the Ack was forged, a later Nak of the true peer will show it. */
	if (tx->acked == tx->first_unsent)
		return tx->sent_ns + tx->cfg->timeout_max_ns;
	return tx->sent_ns + weft_rtt_guess(&tx->rtt) * 3 / 2 +
	       llr_ack_delay(tx, tx->first_unsent - tx->acked);
}

/* rxl: any NOP carries the next number; cxl: only one with an explicit number does. */
static void
llr_show_tail(struct llr_tx *tx)
{
	if (tx->ops->show_last != NULL &&
		(tx->acked == tx->first_unsent || (tx->cfg->show_first && llr_may_send(tx))))
		tx->ops->show_last(tx);
	else
		tx->nop_pending = true;
}

/* RETRY-9, RETRY-10 */
static void
llr_tick(struct llr_tx *tx, uint64_t now_ns)
{
	if (now_ns >= llr_probe_ns(tx)) {
		tx->probed = true;
		llr_show_tail(tx);
	}
	if (tx->acked == tx->first_unsent)
		return;
	if (now_ns < tx->timer_ns + weft_rtt_timeout(&tx->rtt))
		return;
	tx->timer_ns = now_ns;
	weft_rtt_timed_out(&tx->rtt);
	if (now_ns < tx->since_ns + tx->cfg->resend_after_ns) {
		llr_show_tail(tx);
		return;
	}
	tx->count[WEFT_LLR_N_TIMEOUTS]++;
	if (tx->replays < tx->cfg->replays_max)
		tx->replays++;
	if (tx->replays == tx->cfg->replays_max && tx->shown == WEFT_LLR_RUNNING)
		tx->shown = WEFT_LLR_STUCK;
	tx->ops->timed_out(tx, now_ns);
}

/* RETRY-1 */
static void
llr_put_flit(struct llr_tx *tx, uint8_t *out, uint64_t pos, uint64_t now_ns)
{
	struct llr_slot *s = llr_slot(tx, pos);

	memcpy(out, llr_tx_flit(tx, pos), WEFT_FLIT_LEN);
	tx->ops->header(tx, out, false, pos, now_ns);
	tx->prior_payload = true;
	if (pos >= tx->first_unsent) {
		if (tx->acked == tx->first_unsent)
			tx->timer_ns = tx->since_ns = now_ns;
		tx->first_unsent = pos + 1;
		tx->count[WEFT_LLR_N_SENT]++;
	} else {
		s->resent = true;
		tx->count[WEFT_LLR_N_RESENT]++;
	}
	s->sent_ns = now_ns;
	tx->sent_ns = now_ns;
	tx->probed = false;
}

/* Flits requested by selective Naks: a run of neighbours. */
static unsigned int
llr_fill_again(struct llr_tx *tx, uint8_t *flits, unsigned int max, uint64_t now_ns,
	struct weft_llr_tx_info *out)
{
	uint64_t pos = tx->acked;
	unsigned int n = 0;

	while (!llr_slot(tx, pos)->selective)
		pos++;
	out->first = tx->ops->number(pos);
	for (; n < max && pos < tx->first_unsent && llr_slot(tx, pos)->selective; pos++, n++) {
		llr_slot(tx, pos)->selective = false;
		tx->n_selective--;
		llr_put_flit(tx, flits + (size_t)n * WEFT_FLIT_LEN, pos, now_ns);
	}
	return n;
}

/* From tx_next on: a replay, or new flits. */
static unsigned int
llr_fill_next(struct llr_tx *tx, uint8_t *flits, unsigned int max, uint64_t now_ns,
	struct weft_llr_tx_info *out)
{
	struct llr_slot *s = llr_slot(tx, tx->tx_next);
	uint64_t begin = tx->tx_next;
	unsigned int n = 0;

	out->first = tx->ops->number(begin);
	if (s->send_inverted_first) {
		/* A CRC-inverted flit ends the run before it: its own number does not matter. */
		s->send_inverted_first = false;
		memcpy(flits, llr_tx_flit(tx, begin + 1), WEFT_FLIT_LEN);
		tx->ops->header(tx, flits, false, begin, now_ns);
		tx->prior_payload = true;
		tx->opens = true; /* the number of this one cannot be read */
		tx->atomic_until = begin + 2;
		out->first = tx->ops->number(begin - 1);
		out->invert_crc = 1;
		n = 1;
	}
	for (; n < max && tx->tx_next < tx->next; tx->tx_next++, n++) {
		s = llr_slot(tx, tx->tx_next);
		if (s->send_inverted_first)
			break;
		if (s->invert_crc) {
			s->invert_crc = false;
			out->invert_crc |= WEFT_BIT64(n);
		}
		llr_put_flit(tx, flits + (size_t)n * WEFT_FLIT_LEN, tx->tx_next, now_ns);
		tx->opens |= (out->invert_crc & WEFT_BIT64(n)) != 0;
	}
	return n;
}

static void
llr_put_nop(struct llr_tx *tx, uint8_t *flit, uint64_t now_ns)
{
	memset(flit, 0, WEFT_FLIT_LEN);
	tx->ops->header(tx, flit, true, tx->next, now_ns);
	tx->prior_payload = false;
	tx->nop_pending = false;
	tx->count[WEFT_LLR_N_NOPS_SENT]++;
}

/*
 * An Ack or a Nak that found no flit to ride on, as those that were sent show their numbers
 * (RETRY-52).
 */
static bool
llr_is_unsaid(const struct llr_tx *tx, uint64_t now_ns)
{
	return tx->cfg->show_first && (tx->naks != LLR_NAKS_NONE || llr_ack_is_due(tx, now_ns));
}

/* Whether a NOP must go out for what a header has to say. */
static bool
llr_is_urgent(struct llr_tx *tx, uint64_t now_ns)
{
	const bool has_run = tx->ops->tick != NULL && tx->ops->tick(tx, now_ns);

	if (tx->apart != NULL)
		tx->naks = tx->apart->n_naks != 0  ? LLR_NAKS_DUE
		           : tx->apart->nak_stands ? LLR_NAKS_RIDE
		                                   : LLR_NAKS_NONE;
	else
		tx->naks = (uint8_t)tx->rx->ops->tick(tx->rx, now_ns);
	return has_run || tx->naks == LLR_NAKS_DUE;
}

unsigned int
weft_llr_tx(struct weft_llr *l, uint8_t *flits, unsigned int max, uint64_t now_ns,
	struct weft_llr_tx_info *out)
{
	struct llr_tx *tx = &l->tx;
	const uint64_t resent = tx->count[WEFT_LLR_N_RESENT];
	bool urgent;

	assert(max >= 1 && max <= WEFT_WIRE_FLITS_MAX);
	*out = (struct weft_llr_tx_info){ 0 };
	llr_tick(tx, now_ns);
	urgent = llr_is_urgent(tx, now_ns);
	tx->opens = true;
	/* With one flit a frame they alternate. */
	if (llr_may_send(tx) &&
		(max > 1 || tx->tx_next < tx->atomic_until || !llr_is_unsaid(tx, now_ns))) {
		if (tx->n_selective != 0 && tx->tx_next >= tx->atomic_until)
			out->n = (uint16_t)llr_fill_again(tx, flits, max, now_ns, out);
		else if (tx->tx_next < tx->next)
			out->n = (uint16_t)llr_fill_next(tx, flits, max, now_ns, out);
		out->resent = (uint16_t)(tx->count[WEFT_LLR_N_RESENT] - resent);
		if (out->n != 0 && out->n < max && llr_is_unsaid(tx, now_ns)) {
			llr_put_nop(tx, flits + (size_t)out->n * WEFT_FLIT_LEN, now_ns);
			out->n++;
			out->nops++;
		}
		if (out->n != 0)
			return out->n;
	}
	/*
	 * A NOP carries the next sequence number; sent while committed flits wait it would announce
	 * a number not yet used.
	 */
	if (!urgent && !tx->nop_pending && !llr_ack_is_due(tx, now_ns))
		return 0;
	out->first = tx->ops->number(tx->first_unsent);
	do {
		llr_put_nop(tx, flits + (size_t)out->n * WEFT_FLIT_LEN, now_ns);
		out->n++;
		out->nops++;
	} while (out->n < max && llr_is_urgent(tx, now_ns));
	return out->n;
}

uint64_t
weft_llr_deadline(const struct weft_llr *l)
{
	const struct llr_tx *tx = &l->tx;
	uint64_t at = tx->apart == NULL ? l->rx.ops->deadline(&l->rx) : WEFT_LLR_NEVER;
	uint64_t t;

	if (tx->apart != NULL && tx->apart->n_naks != 0)
		return 0;
	if (tx->ops->deadline != NULL && (t = tx->ops->deadline(tx)) < at)
		at = t;
	if (at == 0 || tx->nop_pending || (tx->ack.pending && tx->ack.flits >= tx->ack.every))
		return 0;
	if (llr_may_send(tx) && (tx->n_selective != 0 || tx->tx_next < tx->next))
		return 0;
	if (tx->ack.pending && (t = tx->ack.since_ns + llr_ack_delay(tx, tx->ack.flits)) < at)
		at = t;
	if ((t = llr_probe_ns(tx)) < at)
		at = t;
	if (tx->acked != tx->first_unsent && (t = tx->timer_ns + weft_rtt_timeout(&tx->rtt)) < at)
		at = t;
	return at;
}

void
weft_llr_request_nop(struct weft_llr *l)
{
	l->tx.nop_pending = true;
}
