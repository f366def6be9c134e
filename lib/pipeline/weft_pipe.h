/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A pipeline: stages in the order of a layout string, on one lcore or split over several. Stages of
 * one *segment* call each other directly; between segments stands a single-producer single-consumer
 * ring. A layout is
 *
 *	[N*]stage[,stage]...[|[N*]stage[,stage]...]...    such as   deframe,fec_check|link_rx,route
 *
 * or, behind an @, the name of a file that holds one ('#' starts a comment, line ends are spaces).
 *
 * N* makes N segments of the same stages, its *ways*: deframe|2*fec_check,link_rx|route. Each frame
 * goes one of them, all frames of a sender the same, in order. So stages of connections run on
 * several lcores, and the first to read a flit is the lcore that has its connection.
 */
#ifndef WEFT_PIPE_H
#define WEFT_PIPE_H

#include "weft_base.h"
#include "weft_stage.h"

WEFT_BEGIN_DECLS

#define WEFT_PIPE_STAGES_MAX 32 /**< those of each way counted */
#define WEFT_PIPE_SEGMENTS_MAX 8
#define WEFT_PIPE_NAME_MAX 40 /**< with its 0 */

/** Layouts that most users want. */
#define WEFT_LAYOUT_RX "deframe,fec_check,link_rx,route"
#define WEFT_LAYOUT_RX_CRC_FIRST "deframe,crc_first,link_rx,route"
#define WEFT_LAYOUT_RX_IDE "deframe,fec_check,link_rx,ide_open,route"
#define WEFT_LAYOUT_RX_LIVE WEFT_LAYOUT_RX_IDE ",deliver"
#define WEFT_LAYOUT_RX_LIVE_CRC_FIRST "deframe,crc_first,link_rx,ide_open,route,deliver"
#define WEFT_LAYOUT_TX "crc_protect,fec_encode,enframe"
#define WEFT_LAYOUT_TX_LIVE "pack,ide_seal,link_tx," WEFT_LAYOUT_TX
#define WEFT_LAYOUT_TX_IDE "ide_seal,crc_protect,fec_encode,enframe"
#define WEFT_LAYOUT_SWITCH "deframe,fec_relay,route"

/** A parsed layout. */
struct weft_layout {
	uint8_t n_stages;
	uint8_t n_segments;
	uint8_t first[WEFT_PIPE_SEGMENTS_MAX + 1]; /* first stage of each segment; then n_stages */
	/* Segment s is the way way[s] of ways[s], which follow each other; mostly 0 of 1. */
	uint8_t way[WEFT_PIPE_SEGMENTS_MAX];
	uint8_t ways[WEFT_PIPE_SEGMENTS_MAX];
	const struct weft_stage *stage[WEFT_PIPE_STAGES_MAX];
};

/**
 * Read a layout.
 *
 * @param text  layout string, or \@FILE
 * @param l     receives it; unchanged on error
 * @param err   receives one line on what is wrong and where
 * @return 0; -EINVAL for text that is no layout; -errno if the file cannot be read
 */
int weft_layout_parse(const char *text, struct weft_layout *l, char *err, size_t err_len);

/**
 * What is wrong with a layout that parses, in a line that names it as weft_layout_parse() does.
 *
 * @return -EINVAL
 */
int weft_layout_error(const char *text, char *err, size_t err_len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** Whether a segment has a stage that works on ends (struct weft_stage). */
bool weft_layout_at_ends(const struct weft_layout *l, unsigned int segment);

/** Whether it has one that works on @p ends. */
bool weft_layout_has(const struct weft_layout *l, unsigned int segment, enum weft_stage_ends ends);

/**
 * Whether a segment with such stages may run on another lcore than the node's, with halves of
 * links: of IDE, or of IDE and, if @p halves, of retry layers, or of these alone.
 */
bool weft_layout_may_part(const struct weft_layout *l, unsigned int segment, bool halves);

/** Names of a segment's stages with commas between them, as in the layout; @return @p text */
const char *weft_layout_words(
	const struct weft_layout *l, unsigned int segment, char *text, size_t len);

/**
 * Gives the first segment up to @p n frames (at most WEFT_BURST_MAX); they are the pipeline's then.
 * in_port of each frame must be set.
 */
typedef uint16_t (*weft_source_fn)(void *arg, struct rte_mbuf **pkt, uint16_t n);

/**
 * Takes every frame that came through, in order; they are the sink's. Called on the lcores of the
 * last segments, where these are ways.
 */
typedef void (*weft_sink_fn)(void *arg, struct rte_mbuf **pkt, uint16_t n);

struct weft_pipe_cfg {
	const char *name; /* unique in the process, shorter than WEFT_PIPE_NAME_MAX */
	const char *layout; /* see above */
	const struct weft_env *env;
	weft_source_fn source; /* NULL: frames come by weft_pipe_push() */
	void *source_arg;
	weft_sink_fn sink;
	void *sink_arg;
	uint32_t ring_frames; /* between segments; 0: 2048; a power of two above WEFT_BURST_CAP */
	int socket; /* NUMA node of rings and state, or SOCKET_ID_ANY */
};

struct weft_pipe;

/**
 * Make a pipeline. It shows in telemetry as /weft/stages,NAME.
 *
 * @param err  receives one line on what is wrong
 * @return the pipeline; NULL with rte_errno: EINVAL (configuration), EEXIST, ENOMEM
 */
struct weft_pipe *weft_pipe_create(const struct weft_pipe_cfg *cfg, char *err, size_t err_len);

/** Free it with every frame still inside. No segment may be polled any more. NULL is allowed. */
void weft_pipe_free(struct weft_pipe *p);

unsigned int weft_pipe_segments(const struct weft_pipe *p);

/** What it was made of. */
const struct weft_layout *weft_pipe_layout(const struct weft_pipe *p);

/**
 * Run one burst through a segment. Each segment belongs to one lcore at a time.
 *
 * @return frames taken in, or that went on after they had waited inside; 0: nothing to do, or the
 *         ring behind is full (nothing is lost: frames stay where they are)
 */
unsigned int weft_pipe_poll(struct weft_pipe *p, unsigned int segment);

/**
 * Run a burst through the first segment now, on the lcore that owns it.
 *
 * @param n  at most WEFT_BURST_MAX
 * @return frames taken, all or none: 0 if the ring behind is full, and they stay the caller's
 */
uint16_t weft_pipe_push(struct weft_pipe *p, struct rte_mbuf **pkt, uint16_t n);

/** Whether weft_pipe_push() would take a burst now. The lcore that owns the first segment. */
bool weft_pipe_has_room(const struct weft_pipe *p);

/** Frames that a segment has handed on, to its ring or the sink. The lcore that owns it. */
uint64_t weft_pipe_passed(const struct weft_pipe *p, unsigned int segment);

/**
 * Traffic has ended: let stages give up the frames they hold back, through the stages behind them
 * to the sink. No segment may be polled meanwhile, and no ring inside holds frames.
 */
void weft_pipe_drain(struct weft_pipe *p);

unsigned int weft_pipe_n_stages(const struct weft_pipe *p);

/** The @p i-th stage and its counts, which the stage's lcore goes on writing. */
const struct weft_stage *weft_pipe_stage(const struct weft_pipe *p, unsigned int i);
const struct weft_stage_stats *weft_pipe_stats(const struct weft_pipe *p, unsigned int i);

/**
 * Flits that stage @p i worked on: those of the frames that came to it. Where frames of live ends
 * come empty (weft_stage_takes_empty()), those that left by the last stage.
 */
uint64_t weft_pipe_flits(const struct weft_pipe *p, unsigned int i);

/**
 * The counts of stage @p i with those of its other ways, flits as weft_pipe_flits() has them;
 * @return false if it is not the first way, whose sum has it.
 */
bool weft_pipe_sum(const struct weft_pipe *p, unsigned int i, struct weft_stage_stats *sum);

/**
 * Sum of the stage counter @p counter of stage @p stage, such as ("link_rx", "gaps"); 0 if the
 * pipeline has no such stage.
 */
uint64_t weft_pipe_count(const struct weft_pipe *p, const char *stage, const char *counter);

/** Drops of one reason over all stages. */
uint64_t weft_pipe_drops(const struct weft_pipe *p, enum weft_verdict v);

WEFT_END_DECLS

#endif /* WEFT_PIPE_H */
