/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tx of the retry layer, what both modes share: the replay buffer, what Acks and Naks do to it, pending
 * Acks; selective and go-back replay, new flits, NOPs; and its deadlines.
 */

#include "llr_priv.h"

#include <errno.h>

#define REFUTED_ENOUGH 4 /* Acks and Naks of one number out of window before it is evidence */

/* --- the replay buffer --- */

/* RETRY-2 */
unsigned int
weft_llr_room(const struct weft_llr *l)
{
	return l->cfg.window - (unsigned int)(l->next - l->acked);
}

uint8_t *
weft_llr_reserve(struct weft_llr *l)
{
	if (weft_llr_room(l) == 0)
		return NULL;
	l->reserved = true;
	return llr_tx_flit(l, l->next);
}

void
weft_llr_commit(struct weft_llr *l)
{
	assert(l->reserved);
	l->reserved = false;
	*llr_slot(l, l->next) = (struct llr_slot){ 0 };
	l->next++;
}

/* RETRY-11 */
int
weft_llr_commit_poisoned(struct weft_llr *l, uint8_t message)
{
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };
	uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN] = { message & 7 };
	uint64_t pos = l->next;
	uint8_t *poison = llr_tx_flit(l, pos);

	assert(l->reserved);
	if (weft_llr_room(l) < 2)
		return -EAGAIN;
	memcpy(llr_tx_flit(l, pos + 1), poison, WEFT_FLIT_LEN);
	memset(poison, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(poison, &h);
	weft_llctrl_put(poison, WEFT_LLCTRL_POISON, payload);
	weft_llr_commit(l);
	l->reserved = true;
	weft_llr_commit(l);
	llr_slot(l, pos)->send_inverted_first = true;
	/*
	 * In cxl a CRC-inverted flit may count as one with a number; a second one causes a replay.
	 */
	llr_slot(l, pos)->invert_crc = l->cfg.mode == WEFT_MODE_CXL;
	return 0;
}

/* --- received Acks and Naks --- */

/* RETRY-5 */
bool
llr_position(const struct weft_llr *l, uint16_t n, uint64_t *pos)
{
	/* Counted from the newest that is acknowledged; before the first one stands that of -1. */
	uint16_t newest = l->ops->number(l->acked - 1);
	unsigned int ahead = (unsigned int)(n + l->ops->numbers - newest) % l->ops->numbers;

	if (n >= WEFT_ISN_NUMBERS || ahead > l->first_unsent - l->acked)
		return false;
	*pos = l->acked + ahead;
	return true;
}

/* RETRY-25 */
bool
llr_revoke(struct weft_llr *l, uint16_t n, uint64_t *pos, uint64_t now_ns)
{
	const uint16_t newest = l->ops->number(l->acked - 1);
	const unsigned int back = (unsigned int)(newest + l->ops->numbers - n) % l->ops->numbers;
	const uint64_t from = l->acked - back;

	/*
	 * A window has this many places, and the next flit to be committed may be in one already.
	 */
	if (n >= WEFT_ISN_NUMBERS || back > l->acked || l->next - from >= l->cfg.window)
		return false;
	for (uint64_t p = from; p < l->acked; p++) {
		llr_slot(l, p)->resent = true; /* no round-trip sample from its Ack */
		llr_slot(l, p)->selective = false;
	}
	if (l->acked == l->first_unsent)
		l->timer_ns = l->since_ns = now_ns;
	l->acked = from;
	l->count[WEFT_LLR_N_REVOKED]++;
	*pos = from;
	return true;
}

/* RETRY-27 */
void
llr_refuted(struct weft_llr *l, uint16_t n, uint64_t now_ns)
{
	const uint64_t while_ns = l->cfg.timeout_max_ns / 2;

	if (l->acked == l->first_unsent)
		return;
	if (l->refuted == 0 || (n != l->refuted_n && now_ns >= l->refuted_last_ns + while_ns)) {
		l->refuted = 0;
		l->refuted_n = n;
		l->refuted_ns = now_ns;
	}
	if (n != l->refuted_n)
		return;
	l->refuted_last_ns = now_ns;
	if (l->refuted < REFUTED_ENOUGH)
		l->refuted++;
	if (l->refuted == REFUTED_ENOUGH && now_ns >= l->refuted_ns + while_ns)
		l->doubt |= WEFT_LLR_DOUBT_ACKS;
}

void
llr_acked(struct weft_llr *l, uint64_t pos, uint64_t now_ns)
{
	const struct llr_slot *newest = llr_slot(l, pos - 1);

	if (pos == l->acked)
		return;
	if (!newest->resent && now_ns > newest->sent_ns)
		weft_rtt_sample(&l->rtt, now_ns - newest->sent_ns);
	for (; l->acked < pos; l->acked++)
		if (llr_slot(l, l->acked)->selective)
			l->n_selective--;
	if (l->tx_next < pos)
		l->tx_next = pos;
	weft_rtt_progress(&l->rtt);
	l->timer_ns = l->since_ns = now_ns;
	l->replays = 0;
	if (l->shown == WEFT_LLR_STUCK)
		l->shown = WEFT_LLR_RUNNING;
	l->count[WEFT_LLR_N_ACKS]++;
}

void
llr_go_back(struct weft_llr *l, uint64_t now_ns)
{
	/*
	 * Rewound between a CRC-inverted flit and its Poison: they must be adjacent, so send it
	 * again.
	 */
	if (l->atomic_until == l->tx_next + 2 && l->tx_next == l->first_unsent)
		llr_slot(l, l->tx_next)->send_inverted_first = true;
	l->tx_next = l->acked;
	l->timer_ns = now_ns;
	for (uint64_t p = l->acked; l->n_selective != 0 && p < l->first_unsent; p++) {
		if (!llr_slot(l, p)->selective)
			continue;
		llr_slot(l, p)->selective = false;
		l->n_selective--;
	}
	l->count[WEFT_LLR_N_REPLAYS]++;
}

/* A round-trip sample may contain a pause of this process: the time-out must not add it again. */
static uint64_t
llr_at_most_timeout(const struct weft_llr *l, uint64_t ns)
{
	return ns < l->cfg.timeout_max_ns ? ns : l->cfg.timeout_max_ns;
}

uint64_t
llr_half_trip_ns(const struct weft_llr *l)
{
	return llr_at_most_timeout(l, weft_rtt_guess(&l->rtt) / 2);
}

/* RETRY-8 */
bool
llr_rewind(struct weft_llr *l, uint64_t now_ns)
{
	const struct llr_slot *oldest = llr_slot(l, l->acked);
	uint64_t patience_ns = weft_rtt_guess(&l->rtt) / 2;

	/*
	 * Without gap decoding every flit repeats the Nak until the replay arrives; honouring each
	 * would start replays that themselves look corrupt, forever. Wait longer.
	 */
	if (l->cfg.mode == WEFT_MODE_RXL && !l->cfg.gap_decoding)
		patience_ns = patience_ns * 2 + 4 * l->rtt.deviation_ns;

	if (l->acked == l->first_unsent)
		return false;
	/* That replay is under way, or began less than a round trip ago. */
	if (l->tx_next == l->acked)
		return false;
	if (oldest->resent && now_ns - oldest->sent_ns < llr_at_most_timeout(l, patience_ns))
		return false;
	llr_go_back(l, now_ns);
	return true;
}

/* RETRY-8 */
bool
llr_resend(struct weft_llr *l, uint64_t pos, uint64_t now_ns)
{
	struct llr_slot *s = llr_slot(l, pos);

	if (pos < l->acked || pos >= l->first_unsent || pos >= l->tx_next)
		return false;
	if (s->selective || (s->resent && now_ns - s->sent_ns < llr_half_trip_ns(l)))
		return false;
	s->selective = true;
	l->n_selective++;
	l->count[WEFT_LLR_N_SINGLES]++;
	return true;
}

/* --- pending Acks --- */

uint64_t
llr_ack_delay(const struct weft_llr *l)
{
	return l->cfg.ack_delay_ns != 0 ? l->cfg.ack_delay_ns : weft_rtt_guess(&l->rtt) / 4;
}

void
llr_owe(struct weft_llr *l, unsigned int flits, uint64_t now_ns)
{
	l->rx_since_ack += flits;
	if (l->ack_pending)
		return;
	l->ack_pending = true;
	l->ack_pending_since_ns = now_ns;
}

/* RETRY-4 */
bool
llr_ack_is_due(const struct weft_llr *l, uint64_t now_ns)
{
	return l->ack_pending && (l->rx_since_ack >= l->ack_every ||
					 now_ns >= l->ack_pending_since_ns + llr_ack_delay(l));
}

void
llr_ack_sent(struct weft_llr *l)
{
	l->ack_pending = false;
	l->rx_since_ack = 0;
}

/* --- sending --- */

static bool
llr_may_send(const struct weft_llr *l)
{
	return l->ops->may_send == NULL || l->ops->may_send(l);
}

/*
 * When the tail of what was sent should have been acknowledged: a NOP shows what is missing
 * (RETRY-13).
 */
static uint64_t
llr_probe_ns(const struct weft_llr *l)
{
	if (l->probed || l->first_unsent == 0 || l->tx_next != l->next)
		return WEFT_LLR_NEVER;
	/* Acknowledged. If the Ack was forged, a later Nak of the true peer will show it. */
	if (l->acked == l->first_unsent)
		return l->sent_ns + l->cfg.timeout_max_ns;
	return l->sent_ns + weft_rtt_guess(&l->rtt) * 3 / 2 + llr_ack_delay(l);
}

/* rxl: any NOP carries the next number; cxl: only one with an explicit number does. */
static void
llr_show_tail(struct weft_llr *l)
{
	if (l->ops->show_last != NULL &&
		(l->acked == l->first_unsent || (l->cfg.show_first && llr_may_send(l))))
		l->ops->show_last(l);
	else
		l->nop_pending = true;
}

/* RETRY-9, RETRY-10 */
static void
llr_tick(struct weft_llr *l, uint64_t now_ns)
{
	if (now_ns >= llr_probe_ns(l)) {
		l->probed = true;
		llr_show_tail(l);
	}
	if (l->acked == l->first_unsent)
		return;
	if (now_ns < l->timer_ns + weft_rtt_timeout(&l->rtt))
		return;
	l->timer_ns = now_ns;
	weft_rtt_timed_out(&l->rtt);
	if (now_ns < l->since_ns + l->cfg.resend_after_ns) {
		llr_show_tail(l);
		return;
	}
	l->count[WEFT_LLR_N_TIMEOUTS]++;
	if (l->replays < l->cfg.replays_max)
		l->replays++;
	if (l->replays == l->cfg.replays_max && l->shown == WEFT_LLR_RUNNING)
		l->shown = WEFT_LLR_STUCK;
	l->ops->timed_out(l, now_ns);
}

/* RETRY-1 */
static void
llr_put_flit(struct weft_llr *l, uint8_t *out, uint64_t pos, uint64_t now_ns)
{
	struct llr_slot *s = llr_slot(l, pos);

	memcpy(out, llr_tx_flit(l, pos), WEFT_FLIT_LEN);
	l->ops->header(l, out, false, pos, now_ns);
	l->prior_payload = true;
	if (pos >= l->first_unsent) {
		if (l->acked == l->first_unsent)
			l->timer_ns = l->since_ns = now_ns;
		l->first_unsent = pos + 1;
		l->count[WEFT_LLR_N_SENT]++;
	} else {
		s->resent = true;
		l->count[WEFT_LLR_N_RESENT]++;
	}
	s->sent_ns = now_ns;
	l->sent_ns = now_ns;
	l->probed = false;
}

/* Flits requested by selective Naks: a run of neighbours. */
static unsigned int
llr_fill_again(struct weft_llr *l, uint8_t *flits, unsigned int max, uint64_t now_ns,
	struct weft_llr_tx_info *out)
{
	uint64_t pos = l->acked;
	unsigned int n = 0;

	while (!llr_slot(l, pos)->selective)
		pos++;
	out->first = l->ops->number(pos);
	for (; n < max && pos < l->first_unsent && llr_slot(l, pos)->selective; pos++, n++) {
		llr_slot(l, pos)->selective = false;
		l->n_selective--;
		llr_put_flit(l, flits + (size_t)n * WEFT_FLIT_LEN, pos, now_ns);
	}
	return n;
}

/* From tx_next on: a replay, or new flits. */
static unsigned int
llr_fill_next(struct weft_llr *l, uint8_t *flits, unsigned int max, uint64_t now_ns,
	struct weft_llr_tx_info *out)
{
	struct llr_slot *s = llr_slot(l, l->tx_next);
	uint64_t begin = l->tx_next;
	unsigned int n = 0;

	out->first = l->ops->number(begin);
	if (s->send_inverted_first) {
		/* A CRC-inverted flit ends the run before it: its own number does not matter. */
		s->send_inverted_first = false;
		memcpy(flits, llr_tx_flit(l, begin + 1), WEFT_FLIT_LEN);
		l->ops->header(l, flits, false, begin, now_ns);
		l->prior_payload = true;
		l->opens = true; /* the number of this one cannot be read */
		l->atomic_until = begin + 2;
		out->first = l->ops->number(begin - 1);
		out->invert_crc = 1;
		n = 1;
	}
	for (; n < max && l->tx_next < l->next; l->tx_next++, n++) {
		s = llr_slot(l, l->tx_next);
		if (s->send_inverted_first)
			break;
		if (s->invert_crc) {
			s->invert_crc = false;
			out->invert_crc |= WEFT_BIT64(n);
		}
		llr_put_flit(l, flits + (size_t)n * WEFT_FLIT_LEN, l->tx_next, now_ns);
		l->opens |= (out->invert_crc & WEFT_BIT64(n)) != 0;
	}
	return n;
}

static void
llr_put_nop(struct weft_llr *l, uint8_t *flit, uint64_t now_ns)
{
	memset(flit, 0, WEFT_FLIT_LEN);
	l->ops->header(l, flit, true, l->next, now_ns);
	l->prior_payload = false;
	l->nop_pending = false;
	l->count[WEFT_LLR_N_NOPS_SENT]++;
}

/*
 * An Ack or a Nak that found no flit to ride on, as those that were sent show their numbers
 * (RETRY-52).
 */
static bool
llr_is_unsaid(const struct weft_llr *l, uint64_t now_ns)
{
	return l->cfg.show_first && (l->ops->nak_is_due(l) || llr_ack_is_due(l, now_ns));
}

unsigned int
weft_llr_tx(struct weft_llr *l, uint8_t *flits, unsigned int max, uint64_t now_ns,
	struct weft_llr_tx_info *out)
{
	bool urgent;

	assert(max >= 1 && max <= WEFT_WIRE_FLITS_MAX);
	*out = (struct weft_llr_tx_info){ 0 };
	llr_tick(l, now_ns);
	urgent = l->ops->tick(l, now_ns);
	l->opens = true;
	/* With one flit a frame they alternate. */
	if (llr_may_send(l) &&
		(max > 1 || l->tx_next < l->atomic_until || !llr_is_unsaid(l, now_ns))) {
		if (l->n_selective != 0 && l->tx_next >= l->atomic_until)
			out->n = (uint16_t)llr_fill_again(l, flits, max, now_ns, out);
		else if (l->tx_next < l->next)
			out->n = (uint16_t)llr_fill_next(l, flits, max, now_ns, out);
		if (out->n != 0 && out->n < max && llr_is_unsaid(l, now_ns)) {
			llr_put_nop(l, flits + (size_t)out->n * WEFT_FLIT_LEN, now_ns);
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
	if (!urgent && !l->nop_pending && !llr_ack_is_due(l, now_ns))
		return 0;
	out->first = l->ops->number(l->first_unsent);
	do {
		llr_put_nop(l, flits + (size_t)out->n * WEFT_FLIT_LEN, now_ns);
		out->n++;
		out->nops++;
	} while (out->n < max && l->ops->tick(l, now_ns));
	return out->n;
}

uint64_t
weft_llr_deadline(const struct weft_llr *l)
{
	uint64_t at = l->ops->deadline(l);
	uint64_t t;

	if (at == 0 || l->nop_pending || (l->ack_pending && l->rx_since_ack >= l->ack_every))
		return 0;
	if (llr_may_send(l) && (l->n_selective != 0 || l->tx_next < l->next))
		return 0;
	if (l->ack_pending && (t = l->ack_pending_since_ns + llr_ack_delay(l)) < at)
		at = t;
	if ((t = llr_probe_ns(l)) < at)
		at = t;
	if (l->acked != l->first_unsent && (t = l->timer_ns + weft_rtt_timeout(&l->rtt)) < at)
		at = t;
	return at;
}

void
weft_llr_request_nop(struct weft_llr *l)
{
	l->nop_pending = true;
}
