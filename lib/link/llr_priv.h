/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside the retry layer. Flits that were committed are counted by 64-bit positions 0, 1, 2 ... that
 * never wrap; the number on the wire follows from the position by the mode. So the sender's window
 * is plain arithmetic, and modulo stands in one place a mode.
 */
#ifndef LLR_PRIV_H
#define LLR_PRIV_H

#include "weft_base.h"
#include "weft_flit.h"
#include "weft_llr.h"

/* What is known of a committed flit. */
struct llr_slot {
	uint64_t sent_ns; /* last sending */
	bool resent; /* its Ack says nothing about the round trip */
	bool selective; /* asked for by itself */
	bool send_inverted_first; /* late poison: before it goes the next flit with its CRC inverted */
	bool invert_crc; /* late poison: its first sending has the CRC inverted */
};

/* What differs between the modes. */
struct llr_ops {
	size_t state_size;
	void (*start)(struct weft_llr *l, uint64_t now_ns);
	/* Number on the wire of a position of the sender. */
	uint16_t (*number)(uint64_t pos);
	uint16_t numbers; /* modulus of Ack and Nak arithmetic */
	/* Header bytes for this sending; a NOP has pos = weft_llr.next. */
	void (*header)(struct weft_llr *l, uint8_t *flit, bool nop, uint64_t pos, uint64_t now_ns);
	void (*take)(struct weft_llr *l, const uint8_t *flits, const uint64_t *syndrome,
		unsigned int n, uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in);
	/* Number that the next flit should have. NULL: the CRC has none. */
	uint16_t (*expected)(const struct weft_llr *l);
	/* Looks at the receiver's timers; true: a Nak (or handshake) must go out now. */
	bool (*tick)(struct weft_llr *l, uint64_t now_ns);
	/* When tick would say so, 0: now. */
	uint64_t (*deadline)(const struct weft_llr *l);
	/* The retry time-out passed without an Ack. */
	void (*timed_out)(struct weft_llr *l, uint64_t now_ns);
	/* Whether flits with numbers may be sent now. NULL: always. */
	bool (*may_send)(const struct weft_llr *l);
	/* Whether a Nak is due. Asked only with show_first. */
	bool (*nak_is_due)(const struct weft_llr *l);
	/* Have the number sent last shown. NULL: any NOP shows it. */
	void (*show_last)(struct weft_llr *l);
};

struct weft_llr {
	struct weft_llr_cfg cfg;
	const struct llr_ops *ops;
	void *state; /* the mode's own */
	uint64_t count[WEFT_LLR_N_COUNTERS];
	struct weft_rtt rtt;
	uint8_t shown; /* enum weft_llr_state */

	/* Sender, positions: acked <= tx_next <= next, acked <= first_unsent <= next. */
	uint64_t acked; /* everything before is acknowledged */
	uint64_t tx_next; /* next to be sent */
	uint64_t first_unsent; /* tx_next below it: a replay is under way */
	uint64_t next; /* next to be committed */
	uint64_t atomic_until; /* flits before it follow each other with nothing in between */
	uint32_t n_selective;
	uint32_t tx_mask; /* ring of slots and flits, by position */
	uint64_t timer_ns; /* the retry time-out counts from here */
	uint64_t since_ns; /* last progress, or the first flit after all had been acknowledged */
	uint64_t sent_ns; /* last flit with a number */
	uint64_t refuted_ns; /* since when Acks and Naks name a number that is none of those out */
	uint64_t refuted_last_ns;
	uint16_t refuted_n; /* that number */
	uint8_t refuted; /* how many did, with none between that fits */
	uint8_t doubt; /* enum weft_llr_doubt, or-ed */
	uint8_t replays; /* time-outs in a row without progress */
	bool reserved;
	bool nop_pending; /* a NOP shall go out */
	bool probed; /* one went out for the tail since the last flit with a number */
	bool prior_payload; /* the flit sent last had a number */
	bool opens; /* no flit of this frame has shown its number to whoever gets it */

	/* Receiver: what it owes. */
	bool ack_pending; /* taken since the last Ack, or the other end seems not to know */
	uint16_t ack_every; /* as configured, but not more than half a window */
	uint32_t rx_since_ack; /* flits since the last Ack */
	uint64_t ack_pending_since_ns; /* since when */

	/* Receiver: flits that came too early, and flits in turn that wait behind such. */
	uint32_t rx_mask; /* ring, by number (rxl) or position (cxl) */
	uint32_t held; /* flits in it, ready ones included */
	uint32_t ready; /* in turn, to be fetched: from rx_head on */
	uint64_t rx_head;

	struct llr_slot *slot;
	uint8_t *tx_flit;
	uint8_t *rx_flit;
	uint64_t *rx_have; /* one bit a place of the ring, not for ready ones */
};

extern const struct llr_ops llr_rxl_ops;
extern const struct llr_ops llr_cxl_ops;

/* --- llr_rx.c and llr_tx.c, for the modes --- */

/**
 * How long to wait for what was asked for: the sender's own measure of the round trip, doubled
 * @p doubled (0..255) times, as a time-out is.
 */
uint64_t llr_nak_timeout_ns(const struct weft_llr *l, unsigned int doubled);

/** A Nak is obeyed once in such a time: as long as what answers the one before is on its way. */
uint64_t llr_half_trip_ns(const struct weft_llr *l);

/** Acks may wait so long. */
uint64_t llr_ack_delay(const struct weft_llr *l);

/** A flit was taken in turn: an Ack is owed. */
void llr_owe(struct weft_llr *l, unsigned int flits, uint64_t now_ns);

/** Whether the next header should carry an Ack. */
bool llr_ack_is_due(const struct weft_llr *l, uint64_t now_ns);

/** An Ack (or a Nak that implies one) goes out. */
void llr_ack_sent(struct weft_llr *l);

/** Position that number @p n names among those sent and not acknowledged, and the one before them;
 * false: it names none. */
bool llr_position(const struct weft_llr *l, uint16_t n, uint64_t *pos);

/**
 * A Nak that asks from number @p n + 1 on, which an Ack freed: that Ack was not the other end's, or
 * this Nak is late. What is still in the buffer counts as not acknowledged from there on.
 *
 * @param pos  receives where it asks from; false: that is not there any more
 */
bool llr_revoke(struct weft_llr *l, uint16_t n, uint64_t *pos, uint64_t now_ns);

/**
 * An Ack or Nak named @p n, which is none of those out, while some are. A few come late, and forged
 * ones name any number; when the same comes again and again and none that fits, the other end has
 * not had what it seems to have acknowledged, or had what was never sent.
 */
void llr_refuted(struct weft_llr *l, uint16_t n, uint64_t now_ns);

/**
 * Whether @p flit is the one of which the header @p hdr that it came with and its CRC @p crc as it
 * stood are known. Sent twice, a flit differs in its header alone: the CRC is linear, so it tells.
 */
bool llr_is_sent_again(uint16_t hdr, uint64_t crc, const uint8_t *flit);

/**
 * A number came with two contents: one of the two is not the other end's. It was forged, or recorded
 * when the number stood for something else, and nobody knows which one was taken.
 */
void llr_conflict(struct weft_llr *l);

/** Ack of everything before @p pos. */
void llr_acked(struct weft_llr *l, uint64_t pos, uint64_t now_ns);

/** Go back to the oldest unacknowledged flit, unasked. */
void llr_go_back(struct weft_llr *l, uint64_t now_ns);

/** Go back because of a Nak or time. False: it was done just now, or none is out. */
bool llr_rewind(struct weft_llr *l, uint64_t now_ns);

/** Send one flit again by itself. False: none such is out, or it was resent just now. */
bool llr_resend(struct weft_llr *l, uint64_t pos, uint64_t now_ns);

/** Keep a copy of a flit in the Rx buffer at place @p at (masked, as everywhere). */
void llr_hold(struct weft_llr *l, uint64_t at, const uint8_t *flit);

/** The flit at @p at is in turn now: it is to be fetched behind those that are already. */
void llr_ready(struct weft_llr *l, uint64_t at);

/** Forget flits that came too early; those in turn stay. */
void llr_forget(struct weft_llr *l);

static inline bool
llr_has(const struct weft_llr *l, uint64_t at)
{
	at &= l->rx_mask;
	return (l->rx_have[at / 64] & WEFT_BIT64(at % 64)) != 0;
}

static inline struct llr_slot *
llr_slot(const struct weft_llr *l, uint64_t pos)
{
	return &l->slot[pos & l->tx_mask];
}

static inline uint8_t *
llr_tx_flit(const struct weft_llr *l, uint64_t pos)
{
	return l->tx_flit + (pos & l->tx_mask) * WEFT_FLIT_LEN;
}

#endif /* LLR_PRIV_H */
