/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What both modes share: replay buffer, retry time-out, pending Acks, Rx buffer.
 */

#include "llr_priv.h"

#include <errno.h>

#include "weft_carve.h"
#include "weft_crc.h"
#include "weft_telem.h"

#define REFUTED_ENOUGH 4 /* Acks and Naks of one number out of window before it is evidence */
#define RESEND_AFTER_MAX_NS UINT64_C(10000000000)

static const struct weft_counter rows[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_llr_counters.def"
#undef WEFT_COUNTER
};

void
weft_llr_defaults(struct weft_llr_cfg *c, enum weft_mode mode)
{
	*c = (struct weft_llr_cfg){
		.mode = (uint8_t)mode,
		.isn = mode == WEFT_MODE_RXL ? WEFT_ISN_PSEUDO : WEFT_ISN_NONE,
		.gap_decoding = mode == WEFT_MODE_RXL,
		.selective = true,
		.show_first = mode == WEFT_MODE_CXL,
		.window = WEFT_LLR_WINDOW_MAX,
		.rx_flits = WEFT_LLR_WINDOW_MAX,
		.ack_every = WEFT_LLR_ACK_EVERY,
		.nak_repeat = 64,
		.timeout_min_ns = 1000,
		.timeout_first_ns = 10000000,
		.timeout_max_ns = 200000000,
		.replays_max = 7,
	};
}

static bool
llr_cfg_is_valid(const struct weft_llr_cfg *c)
{
	bool rxl = c->mode == WEFT_MODE_RXL;

	if (c->mode > WEFT_MODE_RXL || c->window < 1 || c->window > WEFT_LLR_WINDOW_MAX)
		return false;
	if (rxl ? c->isn != WEFT_ISN_PSEUDO && c->isn != WEFT_ISN_XOR : c->isn != WEFT_ISN_NONE)
		return false;
	if (c->gap_decoding && c->isn != WEFT_ISN_PSEUDO)
		return false;
	if (c->selective && rxl && !c->gap_decoding)
		return false;
	if (c->show_first && rxl)
		return false;
	if (c->selective ? c->rx_flits < 1 || c->rx_flits > WEFT_LLR_WINDOW_MAX : c->rx_flits != 0)
		return false;
	return c->ack_every >= 1 && c->ack_every <= 255 && c->nak_repeat >= 1 &&
	       c->nak_repeat <= 1023 && c->timeout_min_ns >= 1 &&
	       c->timeout_min_ns <= c->timeout_first_ns &&
	       c->timeout_first_ns <= c->timeout_max_ns &&
	       c->resend_after_ns <= RESEND_AFTER_MAX_NS && c->replays_max >= 1;
}

static uint32_t
llr_ring_size(uint32_t flits)
{
	uint32_t n = 1;

	while (n < flits)
		n *= 2;
	return n;
}

/* Everything is zeroed but the flits: they are written before they are read. */
static struct weft_llr *
llr_carve(struct weft_carver *c, const struct weft_llr_cfg *cfg)
{
	const struct llr_ops *ops = cfg->mode == WEFT_MODE_RXL ? &llr_rxl_ops : &llr_cxl_ops;
	const uint32_t tx_slots = llr_ring_size(cfg->window);
	const uint32_t rx_slots = cfg->rx_flits == 0 ? 0 : llr_ring_size(cfg->rx_flits + 1u);
	struct weft_llr *l = weft_carve(c, sizeof(*l));
	void *state = weft_carve(c, ops->state_size);
	struct llr_slot *slot = weft_carve(c, tx_slots * sizeof(*slot));
	uint64_t *have = weft_carve(c, (rx_slots + 63) / 64 * sizeof(*have));
	const size_t zero = c->len;
	uint8_t *tx = weft_carve(c, (size_t)tx_slots * WEFT_FLIT_LEN);
	uint8_t *rx = weft_carve(c, (size_t)rx_slots * WEFT_FLIT_LEN);

	if (l == NULL)
		return NULL;
	memset(l, 0, zero);
	l->ops = ops;
	l->state = state;
	l->slot = slot;
	l->rx_have = have;
	l->tx_flit = tx;
	l->rx_flit = rx;
	l->tx_mask = tx_slots - 1;
	l->rx_mask = rx_slots == 0 ? 0 : rx_slots - 1;
	return l;
}

size_t
weft_llr_size(const struct weft_llr_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!llr_cfg_is_valid(cfg))
		return 0;
	llr_carve(&c, cfg);
	return c.len;
}

struct weft_llr *
weft_llr_init(void *mem, const struct weft_llr_cfg *cfg, uint64_t now_ns)
{
	struct weft_llr_cfg own = *cfg; /* may be the one inside mem: weft_llr_restart() */
	struct weft_carver c = { .block = mem };
	struct weft_llr *l;

	if (!llr_cfg_is_valid(&own) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	l = llr_carve(&c, &own);
	l->cfg = own;
	l->ack_every = own.ack_every;
	if (l->ack_every > (own.window + 1) / 2)
		l->ack_every = (uint16_t)((own.window + 1) / 2);
	l->timer_ns = l->since_ns = now_ns;
	weft_rtt_init(&l->rtt, own.timeout_min_ns, own.timeout_first_ns, own.timeout_max_ns);
	l->ops->start(l, now_ns);
	return l;
}

void
weft_llr_restart(struct weft_llr *l, uint64_t now_ns)
{
	uint64_t count[WEFT_LLR_N_COUNTERS];

	memcpy(count, l->count, sizeof(count));
	weft_llr_init(l, &l->cfg, now_ns);
	memcpy(l->count, count, sizeof(count));
}

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
llr_conflict(struct weft_llr *l)
{
	l->count[WEFT_LLR_N_CONFLICTS]++;
	l->doubt |= WEFT_LLR_DOUBT_CONFLICT;
}

/* --- pending Acks, repeated Naks --- */

uint64_t
llr_nak_timeout_ns(const struct weft_llr *l, unsigned int doubled)
{
	struct weft_rtt rtt = l->rtt;

	rtt.backoff = (uint8_t)doubled;
	return weft_rtt_timeout(&rtt);
}

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

/* --- the Rx buffer --- */

void
llr_hold(struct weft_llr *l, uint64_t at, const uint8_t *flit)
{
	at &= l->rx_mask;
	memcpy(l->rx_flit + at * WEFT_FLIT_LEN, flit, WEFT_FLIT_LEN);
	l->rx_have[at / 64] |= WEFT_BIT64(at % 64);
	l->held++;
}

void
llr_ready(struct weft_llr *l, uint64_t at)
{
	at &= l->rx_mask;
	l->rx_have[at / 64] &= ~WEFT_BIT64(at % 64);
	if (l->ready == 0)
		l->rx_head = at;
	l->ready++;
}

void
llr_forget(struct weft_llr *l)
{
	if (l->cfg.rx_flits == 0)
		return;
	memset(l->rx_have, 0, (l->rx_mask + 64) / 64 * sizeof(l->rx_have[0]));
	l->held = l->ready;
}

const uint8_t *
weft_llr_rx_next(struct weft_llr *l)
{
	const uint8_t *flit;

	if (l->ready == 0)
		return NULL;
	flit = l->rx_flit + (l->rx_head & l->rx_mask) * WEFT_FLIT_LEN;
	l->rx_head++;
	l->ready--;
	l->held--;
	l->count[WEFT_LLR_N_DELIVERED]++;
	return flit;
}

void
weft_llr_rx(struct weft_llr *l, const uint8_t *flits, const uint64_t *syndrome, unsigned int n,
	uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in)
{
	assert(n <= WEFT_WIRE_FLITS_MAX);
	*in = (struct weft_llr_rx_result){ 0 };
	l->ops->take(l, flits, syndrome, n, skip, now_ns, in);
}

/* --- looking at it --- */

enum weft_llr_state
weft_llr_state(const struct weft_llr *l)
{
	return (enum weft_llr_state)l->shown;
}

unsigned int
weft_llr_doubt(const struct weft_llr *l)
{
	return l->doubt;
}

unsigned int
weft_llr_unacked(const struct weft_llr *l)
{
	return (unsigned int)(l->next - l->acked);
}

unsigned int
weft_llr_held_count(const struct weft_llr *l)
{
	return l->held;
}

unsigned int
weft_llr_ready_count(const struct weft_llr *l)
{
	return l->ready;
}

unsigned int
weft_llr_unsent(const struct weft_llr *l)
{
	return (unsigned int)(l->next - l->tx_next) + l->n_selective;
}

uint16_t
weft_llr_expected(const struct weft_llr *l)
{
	return l->ops->expected == NULL ? 0 : l->ops->expected(l);
}

const struct weft_rtt *
weft_llr_rtt(const struct weft_llr *l)
{
	return &l->rtt;
}

const struct weft_counter *
weft_llr_counters(void)
{
	return rows;
}

const uint64_t *
weft_llr_counts(const struct weft_llr *l)
{
	return l->count;
}
