/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A retry layer as its owner sees it: settings, memory, state. */

#include "llr_priv.h"

#include "weft_carve.h"

#define RESEND_AFTER_MAX_NS UINT64_C(10000000000)

const struct weft_counter weft_llr_counters[] = {
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
	if ((c->show_first && rxl) || (c->apart && !rxl))
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

static struct llr_apart *
llr_carve_apart(struct weft_carver *c, struct llr_queue *in, struct llr_queue *out)
{
	struct llr_apart *a = weft_carve(c, sizeof(*a));

	if (a != NULL)
		*a = (struct llr_apart){ .in = in, .out = out };
	return a;
}

/* Two queues, and what each half has of them. */
static void
llr_carve_queues(struct weft_carver *c, struct weft_llr *l)
{
	struct llr_queue *to_tx = weft_carve(c, sizeof(*to_tx));
	struct llr_queue *to_rx = weft_carve(c, sizeof(*to_rx));
	struct llr_apart *rx = llr_carve_apart(c, to_rx, to_tx);
	struct llr_apart *tx = llr_carve_apart(c, to_tx, to_rx);

	if (l == NULL)
		return;
	memset(to_tx, 0, sizeof(*to_tx));
	memset(to_rx, 0, sizeof(*to_rx));
	l->rx.apart = rx;
	l->tx.apart = tx;
}

/* What is of a session is the halves' to begin; flits are written before they are read. */
static struct weft_llr *
llr_carve(struct weft_carver *c, const struct weft_llr_cfg *cfg)
{
	const bool is_rxl = cfg->mode == WEFT_MODE_RXL;
	const struct llr_rx_ops *rx_ops = is_rxl ? &llr_rxl_rx_ops : &llr_cxl_rx_ops;
	const struct llr_tx_ops *tx_ops = is_rxl ? &llr_rxl_tx_ops : &llr_cxl_tx_ops;
	const uint32_t tx_slots = llr_ring_size(cfg->window);
	const uint32_t rx_slots = cfg->rx_flits == 0 ? 0 : llr_ring_size(cfg->rx_flits + 1u);
	struct weft_llr *l = weft_carve(c, sizeof(*l));
	void *rx_state = weft_carve(c, rx_ops->state_size);
	uint64_t *have = weft_carve(c, (rx_slots + 63) / 64 * sizeof(*have));
	void *tx_state = weft_carve(c, tx_ops->state_size);
	struct llr_slot *slot = weft_carve(c, tx_slots * sizeof(*slot));
	uint8_t *tx = weft_carve(c, (size_t)tx_slots * WEFT_FLIT_LEN);
	uint8_t *rx = weft_carve(c, (size_t)rx_slots * WEFT_FLIT_LEN);

	if (l != NULL) {
		l->rx = (struct llr_rx){ .cfg = &l->cfg,
			.ops = rx_ops,
			.state = rx_state,
			.tx = &l->tx,
			.flit = rx,
			.have = have,
			.mask = rx_slots == 0 ? 0 : rx_slots - 1 };
		l->tx = (struct llr_tx){ .cfg = &l->cfg,
			.ops = tx_ops,
			.state = tx_state,
			.rx = &l->rx,
			.slot = slot,
			.flit = tx,
			.mask = tx_slots - 1 };
	}
	if (cfg->apart)
		llr_carve_queues(c, l);
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

uint64_t
weft_llr_count(const struct weft_llr *l, enum weft_llr_counter row)
{
	return l->rx.count[row] + l->tx.count[row];
}

void
weft_llr_counts_add(const struct weft_llr *l, uint64_t *sum)
{
	for (unsigned int i = 0; i < WEFT_LLR_N_COUNTERS; i++)
		sum[i] += weft_llr_count(l, (enum weft_llr_counter)i);
}

struct weft_llr *
weft_llr_init(void *mem, const struct weft_llr_cfg *cfg, uint64_t now_ns)
{
	struct weft_carver c = { .block = mem };
	struct weft_llr *l;

	if (!llr_cfg_is_valid(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	l = llr_carve(&c, cfg);
	l->cfg = *cfg;
	llr_rx_start(&l->rx, now_ns);
	llr_tx_start(&l->tx, now_ns);
	return l;
}

void
weft_llr_restart(struct weft_llr *l, uint32_t session, uint64_t now_ns)
{
	if (l->tx.apart == NULL)
		llr_rx_start(&l->rx, now_ns);
	llr_tx_start(&l->tx, now_ns);
	if (l->tx.apart != NULL)
		llr_tx_session(&l->tx, session, true);
}

void
weft_llr_over(struct weft_llr *l)
{
	if (l->tx.apart != NULL)
		llr_tx_session(&l->tx, 0, false);
}

/* --- looking at it --- */

enum weft_llr_state
weft_llr_state(const struct weft_llr *l)
{
	return (enum weft_llr_state)l->tx.shown;
}

unsigned int
weft_llr_doubt(const struct weft_llr *l)
{
	return l->tx.doubt.signs;
}

unsigned int
weft_llr_unacked(const struct weft_llr *l)
{
	return (unsigned int)(l->tx.next - l->tx.acked);
}

unsigned int
weft_llr_unsent(const struct weft_llr *l)
{
	return (unsigned int)(l->tx.next - l->tx.tx_next) + l->tx.n_selective;
}

const struct weft_rtt *
weft_llr_rtt(const struct weft_llr *l)
{
	return &l->tx.rtt;
}
