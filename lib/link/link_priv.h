/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside lib/link: an end, and what its three files have of each other. */
#ifndef LINK_PRIV_H
#define LINK_PRIV_H

#include "weft_link.h"

#include "link_ide_priv.h"
#include "link_io_priv.h"
#include "weft_base.h"
#include "weft_credit.h"
#include "weft_flit.h"

/* Messages of one kind that wait for the owner. */
struct rx_queue {
	struct weft_msg *msg;
	uint16_t head, n, room;
};

struct weft_link {
	struct weft_link_cfg cfg;
	struct weft_session session;
	struct weft_credits flow;
	struct weft_llr *llr;
	struct link_ide *ide; /* NULL: off */
	struct link_ide_hold *ide_hold; /* NULL: off, or the owner opens */
	struct link_io *io;
	uint64_t count[WEFT_LINK_N_COUNTERS];
	uint8_t max_flits; /* what both ends take */
	bool flit_open; /* the packer fills the flit reserved */
	bool more_data; /* data slots of the last message wait for the next flit */
	bool may_poison; /* the last message has data, and its header is in the flit that is open */
	uint8_t n_data; /* messages with data in that flit, one that runs over into it included */
	bool init_seen;
	bool credits_pending; /* credits, since pending_since_ns */
	uint64_t pending_since_ns;
	uint64_t doubt_ns; /* no session ends for doubt before */
	bool reset_wanted; /* set by any thread, cleared by the tick */
	struct weft_packer pack;
	struct weft_unpacker unpack;
	struct rx_queue rx_queue[WEFT_MSG_LLCTRL];
	/* weft_link_deliver(), during the call */
	weft_link_msg_fn fn;
	void *arg;
};

/* Which account a kind of message is booked to; the kinds stand in this order. */
struct link_account {
	uint8_t set, class;
};
extern const struct link_account link_account[WEFT_MSG_LLCTRL];

static inline enum weft_credit_set
link_set_of(enum weft_msg_kind k)
{
	return (enum weft_credit_set)link_account[k].set;
}

static inline enum weft_credit_class
link_class_of(enum weft_msg_kind k)
{
	return (enum weft_credit_class)link_account[k].class;
}

/* Only a new session goes on. */
static inline bool
link_is_broken(const struct weft_link *e)
{
	return e->io->is_broken || (e->ide != NULL && e->ide->is_broken);
}

/* Whether flits may go out now. */
static inline bool
link_may_transmit(const struct weft_link *e)
{
	return weft_session_takes_flits(&e->session) && !link_is_broken(e);
}

/* How long an epoch of IDE waits for more. */
static inline uint64_t
link_epoch_delay_ns(const struct weft_link *e)
{
	return weft_rtt_guess(weft_llr_rtt(e->llr)) / 4;
}

/*
 * When an idle sender has the other end compare what it took, by an epoch without messages. With
 * flits out there is no need, as their Acks come first.
 */
static inline uint64_t
link_check_ns(const struct weft_link *e)
{
	return e->flit_open || e->more_data || weft_llr_unacked(e->llr) != 0
	               ? UINT64_MAX
	               : link_ide_check_ns(e->ide, e->cfg.llr.timeout_max_ns);
}

/*
 * How long credits wait for a flit with messages to ride on. Nobody is held up by it: where they
 * are many they do not wait, and the other end has the rest of the room.
 */
static inline uint64_t
link_credit_delay_ns(const struct weft_link *e)
{
	return weft_rtt_guess(weft_llr_rtt(e->llr)) * 4;
}

/* --- link_tx.c --- */

/* INIT.Param is the first flit of a session: nothing is known of the other end's room yet. */
void link_send_init(struct weft_link *e);

#endif /* LINK_PRIV_H */
