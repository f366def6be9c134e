/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two ends and FEC-only switches between them, in time of slots: one flit a slot and direction. The
 * ends are the retry layer; every flit is encoded, damaged on each link, decoded by each switch and
 * by the other end. The way there is damaged, the way back only with `both_ways`. Its own check of
 * order stands outside the retry layer: flits carry the count of their making.
 */
#ifndef RIG_H
#define RIG_H

#include "exp.h"
#include "weft_llr.h"

struct rig_cfg {
	enum weft_mode mode;
	bool gap_decoding, selective; /* as for the retry layer */
	bool one_way; /* nothing to send on the way back: Acks and Naks travel in NOPs */
	unsigned int levels; /* switches: they drop what they cannot put right and tell nobody */
	double uncorrectable; /* share of flits, on every link of the way there */
	unsigned int frame_flits; /* 1..64: a frame's flits leave and arrive together */
	double frame_drop; /* share of frames lost whole on the way there */
	bool both_ways; /* the way back is damaged like the way there */
	uint64_t cut_from; /* step from which on `cut_steps` in a row lose their frame */
	unsigned int cut_steps; /* on the way there; 0: none */
	unsigned int there, back; /* slots on the way, multiples of frame_flits */
	double load; /* flits made a slot; 1: as many as can be sent */
	uint64_t slots;
	uint16_t ack_every; /* flits for an Ack; 0: as the retry layer has it */
	/**
	 * enum weft_msg_kind of M2S_REQ or S2M_DRS: each flit on the way there has one, see `twice`
	 */
	bool has_messages;
	uint8_t kind;
	/**
	 * rxl: the header's 12 bits of FSN and ReplayCmd are not sent; Acks and Naks are messages
	 */
	bool no_fsn;
};

/** The paper's link: one flit a frame, as many as can be sent, @p slots with a share lost. */
static inline struct rig_cfg
rig_paper(enum weft_mode mode, unsigned int levels, double uncorrectable, uint64_t slots)
{
	return (struct rig_cfg){ .mode = mode,
		.levels = levels,
		.uncorrectable = uncorrectable,
		.frame_flits = 1,
		.there = PAPER_ROUND_TRIP / 2,
		.back = PAPER_ROUND_TRIP / 2,
		.load = 1,
		.slots = slots };
}

#define RIG_LATENCY_MAX 4096 /* slots; later ones are counted as that */

struct rig_result {
	uint64_t slots;
	uint64_t useful; /* flits handed up as the next true one */
	uint64_t skips; /* order failures: flits handed up though one before is missing */
	uint64_t stale; /* flits handed up that had been before, or should have been */
	uint64_t sent, resent, acks; /* by the way there: flits, and of them with an Ack */
	uint64_t replays, singles, timeouts;
	uint64_t nops_back; /* on the way back */
	uint64_t made; /* flits made, at a load below 1 */
	uint64_t held_max; /* flits that waited in the Rx buffer at a time */
	/* Messages, with has_messages: handed up, before an earlier one, once more, at last. */
	uint64_t messages, early, twice, late;
	uint64_t ack_messages,
		ack_flits; /* with no_fsn, both ways: flits, and of them with an Ack */
};

/** Run; counts are added to @p r and, unless NULL, latencies in slots to @p latency. */
void rig_run(const struct exp *x, const struct rig_cfg *cfg, uint64_t seed, struct rig_result *r,
	uint64_t latency[RIG_LATENCY_MAX + 1]);

#endif /* RIG_H */
