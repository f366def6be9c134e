/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A stage is a function over a burst of frames, in a file of its own under stages/, registered by
 * WEFT_STAGE. Its file name without .c is its name in layouts, counters and benchmarks. Adding one
 * is that file and one word in stages/meson.build.
 *
 * Words of pipelines:
 *
 *   1. A layout names stages in their order; | ends a segment. A segment runs on one lcore, and a
 *      ring leads to the next one, or to each of its ways (weft_pipe.h).
 *   2. A burst goes through a segment by function calls. A stage changes masks and bytes of frames
 *      in place (weft_frame.h), or takes frames out with a verdict.
 *   3. A connection is all frames of one key, and has one state for each direction
 *      (weft_conn.h). Each field of it is written by one stage.
 *   4. Stages work with tables that are published by pointer and never change after that
 *      (weft_tables.h).
 *   5. A live end takes part in link_rx, ide_open, deliver, pack, ide_seal and link_tx. Without
 *      one these stages decode a trace: they answer nothing.
 *   6. A full ring stops the source before it. Nothing is dropped inside for lack of room.
 */
#ifndef WEFT_STAGE_H
#define WEFT_STAGE_H

#include "weft_base.h"
#include "weft_conn.h"
#include "weft_fec.h"
#include "weft_frame.h"
#include "weft_req_scan.h"
#include "weft_ingress.h"
#include "weft_probe.h"
#include "weft_tables.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

#define WEFT_BURST_MAX 32 /**< frames a source puts into a burst */
#define WEFT_BURST_CAP 1344 /**< room: ide_open may let go of frames it held for every connection */
#define WEFT_BURST_FLITS (WEFT_BURST_MAX * WEFT_WIRE_FLITS_MAX) /**< of a burst from a source */
#define WEFT_STAGE_COUNTERS_MAX 10
#define WEFT_PID_ANY 0xFFFF

static_assert(
	WEFT_BURST_CAP >= WEFT_BURST_MAX * (WEFT_CONN_HELD + 1), "every frame may free held ones");

/** Frames between two stages. A frame is in pkt[] or, taken out by a stage, in drop[]. */
struct weft_burst {
	uint16_t n;
	uint16_t n_drop;
	uint8_t way; /* whose connections these are: weft_conn_dir.way */
	struct rte_mbuf *pkt[WEFT_BURST_CAP];
	struct rte_mbuf *drop[WEFT_BURST_CAP]; /* freed behind the stage, in one go */

	/*
	 * Fusion of a stage with the one that runs directly after it on the same lcore. may_fuse:
	 * that one is there. fused: the stage did its costly part too, and what it found is below;
	 * the frames are the same.
	 */
	bool may_fuse;
	bool fused;
	uint64_t syndrome[WEFT_BURST_FLITS]; /* to link_rx: of every flit, in order */
};

struct weft_xlate;

/** What one stage of one pipeline counted. Written by its lcore only; others may read. */
struct weft_stage_stats {
	uint64_t bursts;
	uint64_t frames; /* in */
	uint64_t flits; /* in */
	uint64_t cycles; /* of the TSC, over all bursts */
	uint64_t counts[WEFT_STAGE_COUNTERS_MAX]; /* the stage's own rows */
	uint64_t drops[WEFT_VERDICT_COUNT]; /* frames or flits, by the verdict's nature */
} __rte_cache_aligned;

/**
 * Makes a connection for a key that is not in the table, or answers NULL (the frame is dropped as
 * WEFT_DROP_CONN_LIMIT). Called on the deframe stage's lcore.
 */
typedef struct weft_conn_dir *(*weft_new_conn_fn)(void *arg, const struct weft_conn_key *key);

/** Flits of a frame with header @p h are gone: FEC could not correct them. Called by fec_relay. */
typedef void (*weft_lost_fn)(void *arg, const struct weft_wire_hdr *h, unsigned int flits);

/**
 * Frame @p m is going to be dropped: it is of the other mode, for another node, or for one that
 * there is no way to. Only read; its header is in weft_frame(). Called by deframe and route.
 */
typedef void (*weft_misfit_fn)(void *arg, struct rte_mbuf *m, enum weft_verdict why);

/**
 * Link control frame @p m of session 0 came in by weft_frame()->in_port, whatever it says of its
 * sender, addressee and mode. Only read; its header is in weft_frame(). Called by deframe.
 *
 * @return whether it was a neighbour's word to the node itself, and is done with
 */
typedef bool (*weft_neighbour_fn)(void *arg, struct rte_mbuf *m);

/*
 * Who may send in, what was refused and what was taken, by in_port: a row for each. NULL, all
 * three: anybody may, and nothing is counted.
 */
struct weft_env_ingress {
	const struct weft_ingress *rule;
	struct weft_ingress_drops *drops;
	struct weft_ingress_seen *seen;
};

/* What the stages have to know of live ends. */
struct weft_env_ends {
	/*
	 * Connections have no session in their keys: the stage link_rx compares it, since a frame
	 * of a session that was offered may be what begins it.
	 */
	bool know_session;
	/* closed: what still comes of their sessions is not counted as dropped */
	bool are_parting;
	/* their halves run on two lcores (weft_llr_cfg.apart) */
	bool rx_apart;
	/* ide_open runs on another lcore than their sessions (weft_link_ide.apart) */
	bool ide_apart;
	/* makes frames for flits that had come too early */
	struct rte_mempool *pool;
};

/*
 * Live connections: `message` takes every message, with what conn->user is; before a frame's first,
 * `arriving` (or NULL) is called; `ahead` (or NULL) sees its flits some time before, while the
 * frame in front is executed, and may fetch what they are about. Traces: `packet` takes every
 * CXL.io packet.
 */
struct weft_env_deliver {
	weft_link_msg_fn message;
	void (*arriving)(void *user);
	void (*ahead)(void *user, const uint8_t *flits, unsigned int n);
	weft_io_fn packet;
};

/**
 * What the stages of a pipeline work with. It must outlive the pipeline; all but the tables marked
 * so is constant meanwhile.
 */
struct weft_env {
	const char *node; /* its name, for probes; may be NULL */
	weft_misfit_fn misfit; /* NULL: only counted */
	void *misfit_arg;
	/* deframe */
	weft_neighbour_fn neighbour; /* NULL: no such frames are known */
	void *neighbour_arg;
	int only_mode; /* enum weft_mode, or -1: both */
	uint16_t pid; /* DPID that is ours, or WEFT_PID_ANY */
	bool take_control; /* hand link control frames on; otherwise they are dropped */
	struct weft_env_ingress ingress;
	struct weft_conns *conns; /* NULL: frames belong to no connection (a switch) */
	weft_new_conn_fn new_conn; /* NULL: an unknown connection is refused */
	void *new_conn_arg;
	struct weft_env_ends ends;
	/*
	 * link_rx, pack, link_tx, route with xlate: time of this poll in nanoseconds, kept by the
	 * lcore that runs them
	 */
	const uint64_t *now_ns;
	/* codecs */
	const struct weft_fec_kernel *fec;
	const struct weft_crc_kernel *crc;
	/* fec_relay */
	weft_lost_fn lost; /* NULL: only counted */
	void *lost_arg;
	/*
	 * route: snapshots of all tables (weft_tables_writer.h), one in force from before the
	 * pipeline is made. Frames go by the DRT of their in_port, requests by edge port edge; by
	 * the DPID alone if there is none of that number.
	 */
	const struct weft_tables_slot *tables;
	uint16_t edge;
	/*
	 * Addresses are virtual: by connection, its index is the context. The unit is of the
	 * stage's lcore. Its owner carries its packets, lets its time pass, and says what of the
	 * frames is in the ordered channel (weft_xlate_passed()). NULL: addresses are as they are.
	 */
	struct weft_xlate *xlate;
	const struct weft_req_scan_kernel *req_scan; /* NULL: the scalar one */
	struct weft_env_deliver deliver;
	/* link_tx, with ends: fresh random bits for a control frame */
	uint64_t (*random)(void *arg);
	void *random_arg;
	/* enframe */
	uint8_t src_mac[6];
	uint8_t dst_mac[6];
};

/**
 * Where a stage may stand in a layout: after those before it here, in the place of those beside it.
 */
enum weft_stage_order {
	WEFT_STAGE_DEFRAME, /**< received */
	WEFT_STAGE_FEC_RX,
	WEFT_STAGE_LINK_RX,
	WEFT_STAGE_IDE_OPEN,
	WEFT_STAGE_ROUTE,
	WEFT_STAGE_DELIVER,
	WEFT_STAGE_PACK, /**< to be sent */
	WEFT_STAGE_IDE_SEAL,
	WEFT_STAGE_LINK_TX,
	WEFT_STAGE_CRC_PROTECT,
	WEFT_STAGE_FEC_ENCODE,
	WEFT_STAGE_ENFRAME
};

/** Whether a stage is of what is to be sent. */
static inline bool
weft_stage_sends(enum weft_stage_order o)
{
	return o >= WEFT_STAGE_PACK;
}

/** Whether frames of live ends come to a stage empty: what it works on is in them later. */
static inline bool
weft_stage_takes_empty(enum weft_stage_order o)
{
	return o >= WEFT_STAGE_PACK && o <= WEFT_STAGE_LINK_TX;
}

/** What a stage cannot do without; LIVE: where connections have ends. */
enum weft_stage_needs {
	WEFT_NEEDS_CRC = 1 << 0,
	WEFT_NEEDS_FEC = 1 << 1,
	WEFT_NEEDS_CONNS = 1 << 2,
	WEFT_NEEDS_TABLES = 1 << 3,
	WEFT_NEEDS_TIME = 1 << 4,
	WEFT_NEEDS_RANDOM = 1 << 5,
	WEFT_NEEDS_LIVE_POOL = 1 << 6,
	WEFT_NEEDS_LIVE_TIME = 1 << 7,
	WEFT_NEEDS_LIVE_MESSAGE = 1 << 8,
	WEFT_NEEDS_XLATE_TIME = 1 << 9 /**< where there is a translation unit */
};

/**
 * Which part of ends (weft_conn_dir.end) a stage works on. The parts of a link are on the node's
 * lcore, but for those that ends were made to have on another (weft_env.ends).
 */
enum weft_stage_ends {
	WEFT_ENDS_NONE, /**< keeps nothing of a connection that has an end: runs anywhere */
	WEFT_ENDS_NODE, /**< that which is the node's lcore's alone */
	WEFT_ENDS_LLR_RX, /**< receiving half of the retry layer: all such stages on one lcore */
	WEFT_ENDS_IDE_RX /**< opening half of IDE */
};

/** A stage. */
struct weft_stage {
	const char *name;
	const char *help; /* one line */
	unsigned int needs; /* enum weft_stage_needs, of env */
	/**
	 * Work on a burst: keep frames in b->pkt[0..n-1] in order, move others by
	 * weft_burst_drop(). The frames are the stage's during the call. Counters are added to @p
	 * st.
	 */
	void (*run)(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st);
	/**
	 * No burst came in: as run() with an empty one, for a stage that gives frames up or has
	 * other work without traffic. NULL for all else.
	 */
	void (*poll)(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st);
	/**
	 * Traffic has ended: give up frames that were held back, at most WEFT_BURST_MAX of them,
	 * into b->pkt[] from 0 on, with every flit that may not be used marked as dropped. Called
	 * until it gives none. NULL for a stage that holds nothing.
	 */
	void (*drain)(const struct weft_env *env, struct weft_burst *b);
	const char *fuses_with; /* the stage whose costly part it can do; NULL: none */
	enum weft_stage_order order;
	enum weft_stage_ends ends;
	bool has_ways; /* keeps nothing but of connections: several lcores may run it, by sender */
	const struct weft_counter *counters; /* rows of stats.counts; may be NULL */
	uint8_t n_counters;
};

/** Take a frame out of the pipeline; the caller counts the reason. */
static inline void
weft_burst_drop(struct weft_burst *b, struct rte_mbuf *m)
{
	b->drop[b->n_drop++] = m;
}

/** Count @p n frames or flits, 1 or more, that are dropped for the reason @p v. */
static inline void
weft_stage_drop(
	const struct weft_env *env, struct weft_stage_stats *st, enum weft_verdict v, uint64_t n)
{
	st->drops[v] += n;
	weft_probe_drop(env->node, weft_verdict_names[v], n);
}

/** Register a stage; used by WEFT_STAGE before main(). */
void weft_stage_register(const struct weft_stage *s);

#define WEFT_STAGE(var)                                                                            \
	static void __attribute__((constructor)) weft_stage_init_##var(void)                       \
	{                                                                                          \
		weft_stage_register(&(var));                                                       \
	}

/** The stage called @p name, or NULL. Any thread. */
const struct weft_stage *weft_stage_find(const char *name);

/** Stages in order of their names: the @p i-th, or NULL behind the last. */
const struct weft_stage *weft_stage_at(unsigned int i);

WEFT_END_DECLS

#endif /* WEFT_STAGE_H */
