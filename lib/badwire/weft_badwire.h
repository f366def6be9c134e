/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One direction of a bad wire with its frames: lib/impair decides, and here are the frames it
 * decides on, those that are late and those kept for replay. The flitwire driver has one a
 * direction, and a port one while faults are injected there (weft_port_badwire.h).
 *
 * Bounded: a wire that is not emptied takes no more frames, and a frame that would be late among
 * too many is dropped and counted. Whoever sends, and whoever lets late frames out while nothing is
 * sent, comes to it under its lock.
 */
#ifndef WEFT_BADWIRE_H
#define WEFT_BADWIRE_H

#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "weft_base.h"
#include "weft_impair.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

#define WEFT_BADWIRE_LATE_MAX 4096 /**< frames that are late at a time */
#define WEFT_BADWIRE_READY_MAX 1024 /**< frames that were not taken yet; a power of two */
#define WEFT_BADWIRE_PER_FRAME 3 /**< a frame, its duplicate, and a replay */
#define WEFT_BADWIRE_BURST 64

enum weft_badwire_counter {
	WEFT_BADWIRE_N_LATE_FULL,
	WEFT_BADWIRE_N_NO_BUFFER,
	WEFT_BADWIRE_N_COUNTERS
};

/** A frame that is late. Private. */
struct weft_badwire_late {
	uint64_t due; /* TSC */
	uint64_t order; /* of frames due at once */
	struct rte_mbuf *m;
};

/**
 * One direction. Frames that were accepted stand in `late` (a heap by due time) or in `ready`, in
 * the order in which they leave. Everything under the lock.
 */
struct weft_badwire {
	rte_spinlock_t lock;
	bool is_on; /**< false: frames pass as they are */
	double cycles_per_ns;
	struct weft_impair impair;
	uint64_t count[WEFT_BADWIRE_N_COUNTERS];
	unsigned int late_max; /**< 1..WEFT_BADWIRE_LATE_MAX */
	unsigned int n_late;
	unsigned int first_ready; /* counts up, modulo WEFT_BADWIRE_READY_MAX */
	unsigned int n_ready;
	unsigned int kept; /* counts up, modulo WEFT_IMPAIR_HISTORY_MAX */
	uint64_t order;
	struct rte_mbuf *ready[WEFT_BADWIRE_READY_MAX];
	struct rte_mbuf *history[WEFT_IMPAIR_HISTORY_MAX]; /* copies; some may be NULL */
	struct weft_badwire_late late[WEFT_BADWIRE_LATE_MAX];
};

/** Rows of weft_badwire.count. */
extern const struct weft_counter weft_badwire_counters[WEFT_BADWIRE_N_COUNTERS];

/** Start one whose memory is zeros. @p on: damage. The settings are checked. */
void weft_badwire_init(struct weft_badwire *l, const struct weft_impair_cfg *cfg, bool on);

/** Change the settings, which are checked. Takes the lock. */
void weft_badwire_set(struct weft_badwire *l, const struct weft_impair_cfg *cfg);

/** Free all frames. Takes the lock. */
void weft_badwire_empty(struct weft_badwire *l);

/* The following under the lock. */

/**
 * Take frames over, as many as there is room for.
 *
 * @param now    TSC
 * @param bytes  their bytes are added
 * @return how many; the others stay the caller's
 */
uint16_t weft_badwire_put(
	struct weft_badwire *l, struct rte_mbuf **mbufs, uint16_t n, uint64_t now, uint64_t *bytes);

/** Let frames that are due by @p now out to the ready ones. */
void weft_badwire_release(struct weft_badwire *l, uint64_t now);

/** Up to @p n ready frames, in order, without taking them; weft_badwire_took() takes them. */
uint16_t weft_badwire_peek(const struct weft_badwire *l, struct rte_mbuf **mbufs, uint16_t n);
void weft_badwire_took(struct weft_badwire *l, uint16_t n);

/** Whether anything is under way. May be asked without the lock. */
static inline bool
weft_badwire_is_busy(const struct weft_badwire *l)
{
	return __atomic_load_n(&l->n_late, __ATOMIC_RELAXED) != 0 ||
	       __atomic_load_n(&l->n_ready, __ATOMIC_RELAXED) != 0;
}

WEFT_END_DECLS

#endif /* WEFT_BADWIRE_H */
