/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A bad wire: seeded damage to flits and a seeded fate for frames, for the simulator, the flitwire
 * driver and the trace generator alike (reliability.md sections 3.1, 3.2 and 5; doc/impair.md).
 *
 * Words of bad wires:
 *
 *   1. An injector is one kind of damage with its probability; a wire has any number of them.
 *   2. Damage of flits changes bits: single bits, bursts, those of a channel, or a flit that no FEC
 *      corrects. It is applied to flits as they are on the wire, after FEC was made.
 *   3. The fate of a frame is to be lost, to come twice, late or in another order, or to have a
 *      copy of an earlier one after it. Loss wins.
 *   4. A wire has one direction. The same seed and stream give the same damage.
 *
 * Every injector draws the distance to its next event from a generator of its own. So clean flits
 * cost a comparison a run, the same seed over the same stream does the same damage however the
 * stream is cut into runs, and one injector's settings do not move another's events.
 *
 * Nothing is allocated; there is no clock. One thread at a time per struct weft_impair.
 */
#ifndef WEFT_IMPAIR_H
#define WEFT_IMPAIR_H

#include "weft_base.h"
#include "weft_rand.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

#define WEFT_IMPAIR_RUN_MAX 64 /**< flits in a run: one bit each in a mask */
#define WEFT_IMPAIR_BITS_MAX 64
#define WEFT_IMPAIR_BURST_MAX 256
#define WEFT_IMPAIR_HISTORY_MAX 1024
#define WEFT_IMPAIR_DELAY_MAX_NS UINT64_C(10000000000)
#define WEFT_IMPAIR_CHANNEL_A 0.811 /**< a burst of the channel goes on by one more bit */

/** Impairments of flits and frames. Probabilities are 0..1, 0 is off. All injectors combine. */
struct weft_impair_cfg {
	uint64_t seed;

	double ber; /**< of each of a flit's 2048 bits to be wrong, independently */
	double bits_p; /**< of a flit to get exactly `bits` wrong bits, anywhere */
	unsigned int bits; /**< 1..WEFT_IMPAIR_BITS_MAX; may be 0 while bits_p is */
	double burst_p; /**< of a flit to get `burst` wrong symbols in a row, anywhere they fit */
	unsigned int burst; /**< 1..WEFT_IMPAIR_BURST_MAX; may be 0 while burst_p is */
	/**
	 * Of a burst of bits to start in a flit, at any bit: first and last wrong, inner ones half
	 * the time, length geometric by WEFT_IMPAIR_CHANNEL_A, cut at the end of the flit.
	 */
	double channel;
	double uncorrectable; /**< of a flit to be made one that weft_fec_decode() gives up on */

	double drop; /**< of a frame to be lost; wins over dup, reorder and delay */
	double dup; /**< of a frame to come twice */
	double reorder; /**< of a frame to be held back by reorder_ns */
	uint64_t reorder_ns; /**< 1..WEFT_IMPAIR_DELAY_MAX_NS; may be 0 while reorder is */
	double replay; /**< after a frame, of one of the last `history` to be sent once more */
	unsigned int history; /**< 1..WEFT_IMPAIR_HISTORY_MAX frames; may be 0 while replay is */
	double delay_p; /**< of a frame to be late by delay_ns and 0..jitter_ns more */
	uint64_t delay_ns; /**< 0..WEFT_IMPAIR_DELAY_MAX_NS */
	uint64_t jitter_ns; /**< 0..WEFT_IMPAIR_DELAY_MAX_NS; frames may overtake each other */
};

/** Everything off; seed 1, reorder_ns 100 us, history 64. */
void weft_impair_defaults(struct weft_impair_cfg *cfg);

/**
 * Check the ranges above.
 *
 * @param err  receives one line that names the field, without a newline; may be NULL if @p len is 0
 * @return 0, or -EINVAL
 */
int weft_impair_check(const struct weft_impair_cfg *cfg, char *err, size_t len);

/** A setting in text: `key` as weft_impair_parse() takes it. */
struct weft_impair_key {
	const char *name;
	const char *help; /**< one line: value and meaning */
	unsigned char kind; /**< private */
	unsigned short off; /**< private */
	unsigned short p_off; /**< private */
};

extern const struct weft_impair_key weft_impair_keys[];
extern const unsigned int weft_impair_n_keys;

/**
 * Set one field from text: seed, ber, bits, bits_p, burst, burst_p, channel, uncorrectable, drop,
 * dup, reorder, reorder_us, replay, history, delay_us, jitter_us, delay_p. Times are in
 * microseconds and may have a fraction. `bits`, `burst`, `delay_us` and `jitter_us` take N or N\@P:
 * the second also sets the probability; the first sets it to 1 if it was 0 and N is not.
 *
 * @param err  receives one line, without a newline; may be NULL if @p len is 0
 * @return 0; -ENOENT for an unknown key, -EINVAL for a bad value. @p cfg is then as it was.
 *         Fields that need each other are left to weft_impair_check()
 */
int weft_impair_parse(
	struct weft_impair_cfg *cfg, const char *key, const char *value, char *err, size_t len);

/**
 * Set fields from "key=value,key=value", of the same key the last counts; otherwise
 * like weft_impair_parse(). "" sets none.
 */
int weft_impair_parse_list(struct weft_impair_cfg *cfg, const char *text, char *err, size_t len);

/** Write the value of row @p key (0..weft_impair_n_keys - 1) as weft_impair_parse() takes it. */
void weft_impair_print(const struct weft_impair_cfg *cfg, unsigned int key, char *text, size_t len);

#define WEFT_IMPAIR_TEXT_MAX 640 /**< every key at its longest, and the 0 */

/**
 * Write all settings that are not the usual ones, and the seed, as weft_impair_parse_list() takes
 * them.
 */
void weft_impair_write(const struct weft_impair_cfg *cfg, char *text, size_t len);

enum weft_impair_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_IMPAIR_N_##id,
#include "weft_impair_counters.def"
#undef WEFT_COUNTER
	WEFT_IMPAIR_N_COUNTERS
};

/** WEFT_IMPAIR_N_COUNTERS rows. */
extern const struct weft_counter weft_impair_counters[];

enum { WEFT_IMPAIR_INJECTORS = 10 };

/** When an injector strikes next. Private. */
struct weft_impair_event {
	struct weft_rand rand;
	double p;
	uint64_t at; /**< number of the flit, bit or frame; UINT64_MAX: never */
};

/** One direction of one wire. Fields but `count` are private. */
struct weft_impair {
	struct weft_impair_cfg cfg;
	uint64_t flit; /**< number of the next flit */
	uint64_t flit_event; /**< no flit before this one is touched */
	uint64_t frame;
	uint64_t frame_event;
	uint64_t sent; /**< frames not dropped since replay was switched on */
	struct weft_impair_event event[WEFT_IMPAIR_INJECTORS];
	uint64_t count[WEFT_IMPAIR_N_COUNTERS]; /**< values of weft_impair_counters */
};

/** Start a wire. @return 0, or -EINVAL if weft_impair_check() says so */
int weft_impair_init(struct weft_impair *w, const struct weft_impair_cfg *cfg);

/**
 * Change the settings from the next flit and frame on. Injectors whose probability stays keep their
 * next event; the others draw a new one. Another seed starts all over. Counters go on.
 *
 * @return 0, or -EINVAL if weft_impair_check() says so; nothing is changed then
 */
int weft_impair_set(struct weft_impair *w, const struct weft_impair_cfg *cfg);

/**
 * Damage the next flits of the stream in place. Hot.
 *
 * @param flits  @p n (0..WEFT_IMPAIR_RUN_MAX) flits of 256 bytes back to back, any alignment
 * @return bit i set: flit i was touched. Two injectors that meet on a bit undo each other
 */
uint64_t weft_impair_flits(struct weft_impair *w, uint8_t *flits, unsigned int n);

/** Fate of a frame. Times count from when the frame would have been sent. */
struct weft_impair_fate {
	bool drop;
	unsigned int copies; /**< 0 if dropped, 1, or 2 if duplicated */
	uint64_t delay_ns[2]; /**< of each copy; 0: send at once */
	/**
	 * 0, or: after this frame send once more, undelayed, the one sent that many frames before
	 * it: 1..history, among frames that were not dropped, as they went out, replays not
	 * counted. Never more than there have been since replay was switched on.
	 */
	unsigned int replay_back;
};

/** Decide on the next frame of the stream. The caller owns the frames, queues and history. Hot. */
void weft_impair_frame(struct weft_impair *w, struct weft_impair_fate *fate);

WEFT_END_DECLS

#endif /* WEFT_IMPAIR_H */
