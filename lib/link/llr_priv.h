/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside the retry layer. It is two halves: one sends, one receives, and neither touches a line of
 * the other. What they have for each other is records, and the Naks that the transmitter fetches.
 *
 * Flits that were committed are counted by 64-bit positions 0, 1, 2 ... that never wrap; the number
 * on the wire follows from the position by the mode. So the sender's window is plain arithmetic,
 * and modulo stands in one place a mode.
 */
#ifndef LLR_PRIV_H
#define LLR_PRIV_H

#include "weft_base.h"
#include "weft_flit.h"
#include "weft_llr.h"

/* --- what the halves tell each other --- */

enum llr_record_type {
	/* to the transmitter */
	LLR_TOOK, /* number: of the newest flit in turn; flits since the last such record; is_due */
	LLR_FIELD, /* cmd, number: an Ack or a Nak came */
	LLR_OVERHEARD, /* the same, in a flit that only shows what the other end believes */
	LLR_CONFLICT, /* a number came with two contents */
	LLR_HEARD, /* cxl: an intact flit; is_number: a NOP with its number, is_second: another */
	/* to the receiver */
	LLR_ROUND_TRIP, /* ns, deviation_ns: as measured */
	LLR_HANDSHAKE, /* cxl: is_due: under way, payload waits; else over */
	LLR_RETRAIN, /* cxl: forget what is asked for and how far flits are counted */
	/* between lcores only */
	LLR_NAK, /* to the transmitter: cmd, number; is_due: it acknowledges */
	LLR_STRANGER, /* to the transmitter: a frame of another session */
	LLR_SESSION /* to the receiver: a session of a new generation, or the end of this one */
};

struct llr_record {
	uint8_t type; /* enum llr_record_type */
	uint8_t cmd; /* enum weft_replay_cmd */
	bool is_due; /* LLR_TOOK: an Ack of it is */
	bool is_number, is_second;
	bool stands; /* LLR_TOOK, LLR_NAK, between lcores: a Nak is in every header from now on */
	uint16_t number;
	uint16_t generation; /* between lcores: of the session that it is of */
	uint32_t flits; /* LLR_STRANGER, LLR_SESSION: the session */
	uint64_t ns; /* LLR_ROUND_TRIP: the mean; else when it was */
	uint64_t deviation_ns;
};

#define LLR_QUEUE 256 /* records; a power of two */

/* Records on their way to another lcore: one writes, one reads. */
struct llr_queue {
	/* the reader's */
	uint32_t head __attribute__((aligned(WEFT_CACHE_LINE)));
	uint32_t seen_tail;
	/* the writer's */
	uint32_t tail __attribute__((aligned(WEFT_CACHE_LINE)));
	uint32_t seen_head;
	struct llr_record record[LLR_QUEUE] __attribute__((aligned(WEFT_CACHE_LINE)));
};

/* Records for which there is room. */
static inline uint32_t
llr_queue_room(struct llr_queue *q)
{
	if (q->tail - q->seen_head == LLR_QUEUE)
		q->seen_head = __atomic_load_n(&q->head, __ATOMIC_ACQUIRE);
	return LLR_QUEUE - (q->tail - q->seen_head);
}

/* There is room. */
static inline void
llr_queue_push(struct llr_queue *q, const struct llr_record *r)
{
	q->record[q->tail % LLR_QUEUE] = *r;
	__atomic_store_n(&q->tail, q->tail + 1, __ATOMIC_RELEASE);
}

/* False: there is none. */
static inline bool
llr_queue_pop(struct llr_queue *q, struct llr_record *r)
{
	if (q->head == q->seen_tail)
		q->seen_tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);
	if (q->head == q->seen_tail)
		return false;
	*r = q->record[q->head % LLR_QUEUE];
	__atomic_store_n(&q->head, q->head + 1, __ATOMIC_RELEASE);
	return true;
}

/* What the receiver has for the headers that are made next. */
enum llr_naks {
	LLR_NAKS_NONE,
	LLR_NAKS_RIDE, /* where a flit goes out anyway */
	LLR_NAKS_DUE /* now */
};

struct llr_nak {
	uint8_t cmd; /* enum weft_replay_cmd */
	uint16_t number;
	bool acks; /* it acknowledges everything up to its number */
	bool more; /* there may be another */
};

#define LLR_NAKS 64

/* Of a half whose other half is on another lcore. */
struct llr_apart {
	struct llr_queue *in, *out;
	uint32_t session; /* 0: none */
	uint16_t generation; /* of it */
	bool is_untold; /* transmitter: the receiver does not know of it: the queue was full */
	/* transmitter: Naks that are to go out, and whether one stands in every header */
	bool nak_stands;
	uint8_t nak_head, n_naks;
	struct llr_nak nak[LLR_NAKS];
};

/* --- the transmitter --- */

struct llr_tx;
struct llr_rx;

/* What is known of a committed flit. */
struct llr_slot {
	uint64_t sent_ns; /* last sending */
	bool resent; /* its Ack says nothing about the round trip */
	bool selective; /* asked for by itself */
	/* late poison: before it goes the next flit with its CRC inverted */
	bool send_inverted_first;
	bool invert_crc; /* late poison: its first sending has the CRC inverted */
};

/* What differs between the modes. */
struct llr_tx_ops {
	size_t state_size;
	void (*start)(struct llr_tx *tx, uint64_t now_ns); /* may be NULL */
	/* Number on the wire of a position of the sender. */
	uint16_t (*number)(uint64_t pos);
	uint16_t numbers; /* modulus of Ack and Nak arithmetic */
	/* Header bytes for this sending; a NOP has pos = llr_tx.next. */
	void (*header)(struct llr_tx *tx, uint8_t *flit, bool nop, uint64_t pos, uint64_t now_ns);
	/* An Ack or Nak came: enum weft_replay_cmd. */
	void (*field)(struct llr_tx *tx, uint8_t cmd, uint16_t number, uint64_t now_ns);
	/* The retry time-out passed without an Ack. */
	void (*timed_out)(struct llr_tx *tx, uint64_t now_ns);
	/* The handshake; all NULL: there is none. tick: true: a NOP of it must go out now. */
	void (*heard)(struct llr_tx *tx, bool is_number, bool is_second, uint64_t now_ns);
	bool (*tick)(struct llr_tx *tx, uint64_t now_ns);
	/* When tick would say so, 0: now. */
	uint64_t (*deadline)(const struct llr_tx *tx);
	/* Whether flits with numbers may be sent now. */
	bool (*may_send)(const struct llr_tx *tx);
	/* Have the number sent last shown. NULL: any NOP shows it. */
	void (*show_last)(struct llr_tx *tx);
};

/* What is to be acknowledged. */
struct llr_ack {
	bool pending; /* taken since the last Ack, or the other end seems not to know */
	uint16_t number; /* of the newest flit taken */
	uint16_t every; /* as configured, but not more than half a window */
	uint32_t flits; /* taken since the last Ack */
	uint64_t since_ns; /* pending */
};

/*
 * Signs that somebody else sends too; Acks and Naks that name a number which is none of those out.
 */
struct llr_doubt {
	uint8_t signs; /* enum weft_llr_doubt, or-ed */
	uint64_t since_ns, last_ns;
	uint16_t number;
	uint8_t times; /* with none between that fits */
};

struct llr_tx {
	const struct weft_llr_cfg *cfg;
	const struct llr_tx_ops *ops;
	void *state; /* the mode's own */
	struct llr_rx *rx; /* the other half: to fetch Naks, and for records */
	struct llr_apart *apart; /* NULL: both halves are on one lcore */
	struct llr_slot *slot;
	uint8_t *flit;
	uint32_t mask; /* ring of slots and flits, by position */
	uint32_t n_selective;

	/* Positions: acked <= tx_next <= next, acked <= first_unsent <= next. */
	uint64_t acked; /* everything before is acknowledged */
	uint64_t tx_next; /* next to be sent */
	uint64_t first_unsent; /* tx_next below it: a replay is under way */
	uint64_t next; /* next to be committed */
	uint64_t atomic_until; /* flits before it follow each other with nothing in between */
	uint64_t timer_ns; /* the retry time-out counts from here */
	uint64_t since_ns; /* last progress, or the first flit after all had been acknowledged */
	uint64_t sent_ns; /* last flit with a number */
	struct llr_ack ack;
	uint8_t shown; /* enum weft_llr_state */
	uint8_t naks; /* enum llr_naks: what the headers of this frame may have */
	uint8_t replays; /* time-outs in a row without progress */
	bool reserved;
	bool nop_pending; /* a NOP shall go out */
	bool probed; /* one went out for the tail since the last flit with a number */
	bool prior_payload; /* the flit sent last had a number */
	bool opens; /* no flit of this frame has shown its number to whoever gets it */
	struct weft_rtt rtt;
	struct llr_doubt doubt;
	uint64_t count[WEFT_LLR_N_COUNTERS];
};

/* --- the receiver --- */

struct llr_rx_ops {
	size_t state_size;
	void (*start)(struct llr_rx *rx, uint64_t now_ns); /* may be NULL */
	void (*take)(struct llr_rx *rx, const uint8_t *flits, const uint64_t *syndrome,
		unsigned int n, uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in);
	/* Number that the next flit should have. NULL: the CRC has none. */
	uint16_t (*expected)(const struct llr_rx *rx);
	/* Looks at timers, and says whether nak has one. */
	enum llr_naks (*tick)(struct llr_rx *rx, uint64_t now_ns);
	/* When tick would say that one is due, 0: now. */
	uint64_t (*deadline)(const struct llr_rx *rx);
	/* The next Nak: it goes out. False: none now. */
	bool (*nak)(struct llr_rx *rx, uint64_t now_ns, struct llr_nak *nak);
	/* The handshake is under way, or over; the link is retrained. NULL: it never is. */
	void (*handshake)(struct llr_rx *rx, bool under_way);
	void (*retrain)(struct llr_rx *rx);
};

struct llr_rx {
	const struct weft_llr_cfg *cfg;
	const struct llr_rx_ops *ops;
	void *state; /* the mode's own */
	struct llr_tx *tx; /* the other half: for records */
	struct llr_apart *apart; /* NULL: both halves are on one lcore */
	/* Flits that came too early, and flits in turn that wait behind such. */
	uint8_t *flit;
	uint64_t *have; /* one bit a place of the ring, not for ready ones */
	uint32_t mask; /* ring, by number (rxl) or position (cxl) */
	uint32_t held; /* flits in it, ready ones included */
	uint32_t ready; /* in turn, to be fetched: from head on */
	uint32_t rx_since_ack; /* flits taken that the transmitter has not been told of */
	bool ack_due; /* it is to be told that an Ack is due */
	uint64_t head;
	struct weft_rtt rtt; /* as the transmitter measured it */
	uint64_t count[WEFT_LLR_N_COUNTERS];
};

struct weft_llr {
	struct weft_llr_cfg cfg;
	struct llr_rx rx __attribute__((aligned(WEFT_CACHE_LINE)));
	struct llr_tx tx __attribute__((aligned(WEFT_CACHE_LINE)));
};

extern const struct llr_tx_ops llr_rxl_tx_ops, llr_cxl_tx_ops;
extern const struct llr_rx_ops llr_rxl_rx_ops, llr_cxl_rx_ops;

/* --- llr_tx.c --- */

/* Begin a session; counts go on. */
void llr_tx_start(struct llr_tx *tx, uint64_t now_ns);

/* With the receiver on another lcore: a session of a new generation, or none any more. */
void llr_tx_session(struct llr_tx *tx, uint32_t session, bool is_new);

/** An Ack of so many flits may wait so long. */
uint64_t llr_ack_delay(const struct llr_tx *tx, uint64_t flits);

/** Whether the next header should carry an Ack. */
bool llr_ack_is_due(const struct llr_tx *tx, uint64_t now_ns);

/** An Ack (or a Nak that implies one) goes out. */
void llr_ack_sent(struct llr_tx *tx);

/** Fetch the Nak that the next header is to carry. False: none. */
bool llr_fetch_nak(struct llr_tx *tx, uint64_t now_ns, struct llr_nak *nak);

static inline bool
llr_next_nak(struct llr_tx *tx, uint64_t now_ns, struct llr_nak *nak)
{
	return tx->naks != LLR_NAKS_NONE && llr_fetch_nak(tx, now_ns, nak);
}

/** Position that number @p n names among those sent and not acknowledged, and the one before them;
 * false: it names none. */
bool llr_position(const struct llr_tx *tx, uint16_t n, uint64_t *pos);

/**
 * A Nak that asks from number @p n + 1 on, which an Ack freed: that Ack was not the other end's, or
 * this Nak is late. What is still in the buffer counts as not acknowledged from there on.
 *
 * @param pos  receives where it asks from; false: that is not there any more
 */
bool llr_revoke(struct llr_tx *tx, uint16_t n, uint64_t *pos, uint64_t now_ns);

/**
 * An Ack or Nak named @p n, which is none of those out, while some are. A few come late, and forged
 * ones name any number; when the same comes again and again and none that fits, the other end has
 * not had what it seems to have acknowledged, or had what was never sent.
 */
void llr_refuted(struct llr_tx *tx, uint16_t n, uint64_t now_ns);

/** Position that an Ack or Nak names, of those out or freed; false: none, which is counted. */
static inline bool
llr_named(struct llr_tx *tx, uint8_t cmd, uint16_t n, uint64_t *pos, uint64_t now_ns)
{
	if (!llr_position(tx, n, pos) &&
		(cmd == WEFT_REPLAY_ACK || !llr_revoke(tx, n, pos, now_ns))) {
		tx->count[WEFT_LLR_N_OUT_OF_WINDOW]++;
		llr_refuted(tx, n, now_ns);
		return false;
	}
	tx->doubt.times = 0;
	return true;
}

/** An Ack or Nak in a flit that is not obeyed: it shows only what the other end believes. */
void llr_overheard(struct llr_tx *tx, uint16_t n, uint64_t now_ns);

/** Ack of everything before @p pos. */
void llr_acked(struct llr_tx *tx, uint64_t pos, uint64_t now_ns);

/** Go back to the oldest unacknowledged flit, unasked. */
void llr_go_back(struct llr_tx *tx, uint64_t now_ns);

/** Go back because of a Nak or time. False: it was done just now, or none is out. */
bool llr_rewind(struct llr_tx *tx, uint64_t now_ns);

/** Send one flit again by itself. False: none such is out, or it was resent just now. */
bool llr_resend(struct llr_tx *tx, uint64_t pos, uint64_t now_ns);

static inline struct llr_slot *
llr_slot(const struct llr_tx *tx, uint64_t pos)
{
	return &tx->slot[pos & tx->mask];
}

static inline uint8_t *
llr_tx_flit(const struct llr_tx *tx, uint64_t pos)
{
	return tx->flit + (pos & tx->mask) * WEFT_FLIT_LEN;
}

/* --- llr_rx.c --- */

/* Begin a session; counts go on. */
void llr_rx_start(struct llr_rx *rx, uint64_t now_ns);

/* Flits were taken in turn, or are known already: an Ack is due. */
static inline void
llr_ack_due(struct llr_rx *rx, unsigned int flits)
{
	rx->rx_since_ack += flits;
	rx->ack_due = true;
}

/**
 * Whether @p flit is the one of which the header @p hdr that it came with and its CRC @p crc as it
 * stood are known. Sent twice, a flit differs in its header alone: the CRC is linear, so it tells.
 */
bool llr_is_sent_again(uint16_t hdr, uint64_t crc, const uint8_t *flit);

/**
 * A number came with two contents: one of the two is not the other end's. It was forged, or
 * recorded when the number stood for something else, and nobody knows which one was taken.
 */
void llr_conflict(struct llr_rx *rx);

/** Keep a copy of a flit in the Rx buffer at place @p at (masked, as everywhere). */
void llr_hold(struct llr_rx *rx, uint64_t at, const uint8_t *flit);

/** The flit at @p at is in turn now: it is to be fetched behind those that are already. */
void llr_ready(struct llr_rx *rx, uint64_t at);

/** Forget flits that came too early; those in turn stay. */
void llr_forget(struct llr_rx *rx);

static inline bool
llr_has(const struct llr_rx *rx, uint64_t at)
{
	at &= rx->mask;
	return (rx->have[at / 64] & WEFT_BIT64(at % 64)) != 0;
}

/* --- both --- */

/**
 * How long to wait for what was asked for: the sender's own measure of the round trip, doubled
 * @p doubled (0..255) times, as a time-out is.
 */
static inline uint64_t
llr_nak_timeout_ns(const struct weft_rtt *measured, unsigned int doubled)
{
	struct weft_rtt rtt = *measured;

	rtt.backoff = (uint8_t)doubled;
	return weft_rtt_timeout(&rtt);
}

/** A Nak is obeyed once in such a time: as long as what answers the one before is on its way. */
static inline uint64_t
llr_half_trip_ns(const struct weft_llr_cfg *cfg, const struct weft_rtt *rtt)
{
	const uint64_t half = weft_rtt_guess(rtt) / 2;

	/* A sample may contain a pause of this process: the time-out must not add it again. */
	return half < cfg->timeout_max_ns ? half : cfg->timeout_max_ns;
}

/* Flits up to @p number were taken in turn; whether an Ack of it is due. */
static inline void
llr_tx_note_taken(struct llr_tx *tx, uint16_t number, uint32_t flits, bool is_due, uint64_t now_ns)
{
	tx->ack.number = number;
	tx->ack.flits += flits;
	if (!is_due || tx->ack.pending)
		return;
	tx->ack.pending = true;
	tx->ack.since_ns = now_ns;
}

/* A record of the other half comes. */
void llr_tx_hear(struct llr_tx *tx, const struct llr_record *r);
void llr_rx_hear(struct llr_rx *rx, const struct llr_record *r);

/*
 * Tell the other half. False: on another lcore its queue is full; a record that is lost so is as
 * one of a frame that is.
 */
bool llr_tell_tx(struct llr_rx *rx, const struct llr_record *r);
bool llr_tell_rx(struct llr_tx *tx, const struct llr_record *r);

/*
 * The same of an Ack or Nak that came, LLR_FIELD or LLR_OVERHEARD, and of an intact flit,
 * LLR_HEARD.
 */
void llr_field(struct llr_rx *rx, enum llr_record_type type, uint8_t cmd, uint16_t number,
	uint64_t now_ns);
void llr_heard(struct llr_rx *rx, bool is_number, bool is_second, uint64_t now_ns);

/* As llr_took(), to another lcore. */
void llr_took_apart(struct llr_rx *rx, uint16_t number, uint64_t now_ns);

/* At the end of a run: @p number is that of the newest flit in turn. */
static inline void
llr_took(struct llr_rx *rx, uint16_t number, uint64_t now_ns)
{
	if (__builtin_expect(rx->apart != NULL, 0)) {
		llr_took_apart(rx, number, now_ns);
		return;
	}
	llr_tx_note_taken(rx->tx, number, rx->rx_since_ack, rx->ack_due, now_ns);
	rx->rx_since_ack = 0;
	rx->ack_due = false;
}

#endif /* LLR_PRIV_H */
