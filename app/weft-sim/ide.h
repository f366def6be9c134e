/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* IDE in the simulator: keys, the attacker, and the monitor at the senders' wires. */
#ifndef SIM_IDE_H
#define SIM_IDE_H

#include "sim.h"

#include "weft_derive.h"

#define MONITOR_FLITS 512 /* that may be sent again: a window */

/* A forged flit that was taken: the stream has to fail by the MAC of its epoch. */
struct sim_blame {
	uint32_t session; /* 0: none */
	bool is_held; /* by the retry layer: perhaps not in turn yet */
	/* a cxl retry layer may forget what it holds, one of rxl with its gap alone */
	bool is_sure;
	uint64_t delivered; /* flits in turn when it was held */
	uint64_t given_up; /* gaps, then */
	uint64_t epochs; /* with a good MAC when it was in turn */
};

struct sim_ide {
	struct weft_link_ide end;
	struct weft_session_keys session;
	struct weft_control_keys control; /* of the session that began last */
	uint64_t failures; /* of the end's streams, since it was started */
	struct sim_blame blame;
	uint64_t number; /* of the last control frame of its session that showed the key */
	uint32_t failed; /* session that its stream's failure has ended */
	/* The monitor: what this end has sent in its session. */
	uint64_t n_sent;
	uint64_t body[MONITOR_FLITS]; /* hashes of all that is not header, CRC and FEC */
	uint64_t spoilt; /* hash of a flit that went out with a spoilt CRC; 0: none */
	unsigned int flits; /* of the epoch */
	bool mac_due;
};

/* ide.c */
/** Keys of all fabrics of a run, nobody's secret. False with errno: no memory could be locked. */
bool ide_make_keys(struct sim_opt *opt);
void ide_free_keys(struct sim_opt *opt);
/** All that the seed decides about IDE; last of the scenario. @p file as of scenario_draw() */
void ide_draw(struct scenario *sc, const struct sim_opt *opt, uint64_t seed,
	const struct weft_topo *file);
void ide_end_make(struct sim_end *e);
/** The end is new. */
void ide_end_start(struct sim_end *e);
/** Change a flit of the frame and make its CRC right. False: it has none that would do. */
bool ide_forge(struct sim *s, struct sim_frame *f);
/** A switch takes flits out of a frame. */
void ide_forged_moves(struct sim_frame *f, uint64_t gone);

/* monitor.c: what goes out of an end with IDE, and what it makes of what comes */
/** An end is going to send with this key; @p first of a session. */
void monitor_key(struct sim_end *e, uint64_t id, bool first);
/** What the retry layer has counted before it filled a frame. */
struct monitor_mark {
	uint64_t sent, resent;
};
struct monitor_mark monitor_mark(const struct sim_end *e);
/** The flits of a frame that leaves the end. */
void monitor_frame(struct sim_end *e, const struct sim_frame *f, const struct weft_llr_tx_info *out,
	struct monitor_mark before);
/** The end has taken a frame's flits: did its stream fail, and was there a reason? */
void monitor_came(
	struct sim_end *e, const struct sim_frame *f, const struct weft_llr_rx_result *in);
/** True if it has taken a forged flit and does not know yet. */
bool monitor_waits(const struct sim_end *e);
void monitor_free(struct sim *s);

#endif /* SIM_IDE_H */
