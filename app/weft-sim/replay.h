/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Frames that somebody has recorded and plays back: replay.c. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "sim.h"

/** Draw it by the seed. */
void replay_draw(struct scenario *sc, uint64_t seed);
/** Which links are listened to; before ends are made. */
void replay_make(struct sim *s);
void replay_end_make(struct sim_end *e);
/** The end is new. */
void replay_end_start(struct sim_end *e);
/** A frame goes by where somebody listens. */
void replay_record(struct sim *s, uint32_t link_dir, const struct sim_frame *f);
/** Some of what was recorded comes again, as @p flits and where @p where says. */
void replay_play(struct sim *s, uint64_t where, uint64_t flits);
/** Flits leave an end of which somebody may have a copy. */
void replay_sent(struct sim_end *e, const struct sim_frame *f, const struct weft_llr_tx_info *out);

/** State before an end took a frame's flits. */
struct replay_mark {
	bool is_live; /* the frame is of its session */
	uint64_t old; /* flits */
	uint64_t acks; /* counted by the retry layer, those that fit nothing too */
	uint64_t conflicts;
	uint32_t fooled;
};

/** True if anything is to be seen in this frame. */
bool replay_watches(const struct sim_end *e, const struct sim_frame *f);

struct replay_mark replay_mark(struct sim_end *e, struct sim_frame *f, const uint64_t *syndrome);
/** It has taken them. */
void replay_came(struct sim_end *e, const struct sim_frame *f, const uint64_t *syndrome,
	const struct weft_llr_rx_result *in, const struct replay_mark *m);

/** True if either end of this session has taken an old flit. */
bool replay_fooled(const struct sim_end *e);
/** True if what comes of it, messages that nobody sent, is to be excused. */
bool replay_excuses(const struct sim_end *e);
/**
 * The session of the end is over. Has it given it up for doubt, and had somebody given it reason?
 */
bool replay_was_doubted(struct sim_end *e);
/** True if the end knows that it was fooled, and has to give the session up. */
bool replay_is_known(const struct sim_end *e);
/** Now and then: does all go on? */
void replay_look(struct sim *s);

#endif /* SIM_REPLAY_H */
