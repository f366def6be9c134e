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
	llr_tell_tx(rx, &r);
}

void
llr_rx_start(struct llr_rx *rx, uint64_t now_ns)
{
	const struct weft_llr_cfg *c = rx->cfg;

	memset(rx->state, 0, rx->ops->state_size);
	if (c->rx_flits != 0)
		memset(rx->have, 0, (rx->mask + 64) / 64 * sizeof(rx->have[0]));
	rx->held = rx->ready = rx->rx_since_ack = 0;
	rx->ack_due = false;
	rx->head = 0;
	weft_rtt_init(&rx->rtt, c->timeout_min_ns, c->timeout_first_ns, c->timeout_max_ns);
	if (rx->ops->start != NULL)
		rx->ops->start(rx, now_ns);
}

/* --- the transmitter on another lcore --- */

static bool
llr_rx_send(struct llr_rx *rx, struct llr_record r)
{
	struct llr_apart *a = rx->apart;

	if (llr_queue_room(a->out) == 0)
		return false;
	r.generation = a->generation;
	llr_queue_push(a->out, &r);
	return true;
}

bool
llr_tell_tx(struct llr_rx *rx, const struct llr_record *r)
{
	if (rx->apart != NULL)
		return llr_rx_send(rx, *r);
	llr_tx_hear(rx->tx, r);
	return true;
}

void
llr_field(
	struct llr_rx *rx, enum llr_record_type type, uint8_t cmd, uint16_t number, uint64_t now_ns)
{
	struct llr_record r;

	if (rx->apart == NULL && type == LLR_FIELD) { /* by far the most */
		rx->tx->ops->field(rx->tx, cmd, number, now_ns);
		return;
	}
	r = (struct llr_record){
		.type = (uint8_t)type, .cmd = cmd, .number = number, .ns = now_ns
	};
	llr_tell_tx(rx, &r);
}

void
llr_heard(struct llr_rx *rx, bool is_number, bool is_second, uint64_t now_ns)
{
	const struct llr_record r = {
		.type = LLR_HEARD, .is_number = is_number, .is_second = is_second, .ns = now_ns
	};

	llr_tell_tx(rx, &r);
}

/* Naks that are due go to the transmitter; those that it has no room for are due again later. */
static void
llr_rx_pump(struct llr_rx *rx, uint64_t now_ns)
{
	struct llr_nak nak;

	while (rx->ops->tick(rx, now_ns) == LLR_NAKS_DUE && llr_queue_room(rx->apart->out) != 0 &&
		rx->ops->nak(rx, now_ns, &nak))
		llr_rx_send(rx, (struct llr_record){ .type = LLR_NAK,
					.cmd = nak.cmd,
					.number = nak.number,
					.is_due = nak.acks,
					.stands = !rx->cfg->gap_decoding });
}

/* What finds no room goes with the next. */
void
llr_took_apart(struct llr_rx *rx, uint16_t number, uint64_t now_ns)
{
	const bool asks = rx->ops->tick(rx, now_ns) != LLR_NAKS_NONE;
	const struct llr_record r = { .type = LLR_TOOK,
		.is_due = rx->ack_due,
		.stands = asks && !rx->cfg->gap_decoding,
		.number = number,
		.flits = rx->rx_since_ack,
		.ns = now_ns };

	if (llr_rx_send(rx, r)) {
		rx->rx_since_ack = 0;
		rx->ack_due = false;
	}
	llr_rx_pump(rx, now_ns);
}

void
llr_rx_hear(struct llr_rx *rx, const struct llr_record *r)
{
	switch (r->type) {
	case LLR_ROUND_TRIP:
		rx->rtt.mean_ns = r->ns;
		rx->rtt.deviation_ns = r->deviation_ns;
		break;
	case LLR_HANDSHAKE: rx->ops->handshake(rx, r->is_due); break;
	default: rx->ops->retrain(rx); break;
	}
}

/* @return whether there was anything */
static bool
llr_rx_listen(struct llr_rx *rx, uint64_t now_ns)
{
	struct llr_apart *a = rx->apart;
	struct llr_record r;
	bool any = false;

	for (; llr_queue_pop(a->in, &r); any = true) {
		if (r.type == LLR_SESSION) {
			if (r.generation != a->generation)
				llr_rx_start(rx, now_ns);
			a->generation = r.generation;
			a->session = r.flits;
		} else if (r.generation == a->generation) {
			llr_rx_hear(rx, &r);
		}
	}
	return any;
}

bool
weft_llr_rx_poll(struct weft_llr *l, uint64_t now_ns)
{
	const bool heard = llr_rx_listen(&l->rx, now_ns);
	const uint32_t tail = l->rx.apart->out->tail;

	if (l->rx.apart->session != 0)
		llr_rx_pump(&l->rx, now_ns);
	return heard || l->rx.apart->out->tail != tail;
}

bool
weft_llr_rx_session(struct weft_llr *l, uint32_t session, uint64_t now_ns)
{
	struct llr_rx *rx = &l->rx;

	llr_rx_listen(rx, now_ns);
	if (session != 0 && session == rx->apart->session)
		return true;
	llr_rx_send(rx, (struct llr_record){ .type = LLR_STRANGER, .flits = session });
	return false;
}

uint32_t
weft_llr_rx_live(const struct weft_llr *l)
{
	return l->rx.apart->session;
}

bool
weft_llr_is_apart(const struct weft_llr *l)
{
	return l->rx.apart != NULL;
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
