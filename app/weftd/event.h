/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What an operator hears of while weftd runs: one line per event on standard error, first at once
 * and then at most one in EVENT_INTERVAL_S seconds for each kind, node and peer, with how many more
 * there were. A new kind is one line in event.def.
 *
 * Never from the hot path: lcores count, or set a flag; the control loop looks and calls. Any
 * thread that does not poll may call these.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define EVENT_INTERVAL_S 10
#define EVENTS_KEPT 64 /* newest ones, for reports and telemetry */

enum event_kind {
#define WEFTD_EVENT(id, word, level, advice) EVENT_##id,
#include "event.def"
#undef WEFTD_EVENT
	EVENT_KINDS
};

enum event_level { EVENT_ERROR, EVENT_WARNING, EVENT_INFO, EVENT_DETAIL };

/** Before the first event. @p most: the last level that is said. 0, or -ENOMEM. */
int events_init(enum event_level most);

/** Say what is held back, and forget everything. */
void events_fini(void);

/**
 * Something happened.
 *
 * @param node  name of the node here that saw it
 * @param peer  name of the other end or of the port, which tells one source from another; or NULL.
 *              It is not printed by itself
 * @param n     how often since the call before, 1 or more
 * @param fmt   the line behind "weftd: node NODE: ": what, with whom, since when, how many in all,
 *              but not what to do, which the kind adds. No full stop, no end of line
 */
void event_put(enum event_kind kind, const char *node, const char *peer, uint64_t n,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** Say what was held back and is due: from the control loop, in every round. */
void events_maintain(void);

/**
 * Into @p text: "since 14:02:07, 3.1 s ago" of something that began @p ago_ns ago. Returns @p text.
 */
const char *event_since(char *text, size_t len, uint64_t ago_ns);

/** Happenings of a kind so far. */
uint64_t event_count(enum event_kind kind);

/** "session_stalled". */
const char *event_word(enum event_kind kind);

/**
 * Counts of the kinds that came, {kind: n}, and the newest events, oldest first: [{time, kind,
 * level, node, peer, text, n}], time in seconds since 1970; of those that were said together one.
 */
json_t *events_counts_json(void);
json_t *events_list_json(void);

/** Number of the next event to be kept, of all that are. */
uint64_t events_end(void);

/**
 * Kept events from number *@p from on, as events_list_json() has them, each with its number
 * ("seq"): a gap in the numbers are events that were forgotten. *@p from is then events_end().
 */
json_t *events_from_json(uint64_t *from);

/** Words of levels, most urgent first, and a NULL. */
extern const char *const event_level_words[];

/** Say events up to @p most from now on; the level that it was until then. */
enum event_level events_set_level(enum event_level most);

/** Text of the newest kept event of @p node about @p peer, or null. */
json_t *event_last_json(const char *node, const char *peer);

/** The @p back-th newest event as one line, 0 the newest. @return 0, or -ENOENT */
int event_line(unsigned int back, char *text, size_t len);

#endif /* EVENT_H */
