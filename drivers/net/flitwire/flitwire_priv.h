/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Shared by the files of the flitwire driver: a line (one direction) and the device. */
#ifndef FLITWIRE_PRIV_H
#define FLITWIRE_PRIV_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "weft_impair.h"

#define LINE_LATE_MAX 4096 /* frames that are late at a time */
#define LINE_READY_MAX 1024 /* frames that the lower port has not taken; a power of two */
#define LINE_PER_FRAME 3 /* a frame, its duplicate, and a replay */
#define LINE_BURST 64

enum line_counter { LINE_N_LATE_FULL, LINE_N_NO_BUFFER, LINE_N_COUNTERS };

struct line_late {
	uint64_t due; /* TSC */
	uint64_t order; /* of frames due at once */
	struct rte_mbuf *m;
};

/*
 * One direction. Frames that were accepted stand in `late` (a heap by due time) or in `ready`, in
 * the order in which they leave. Everything under the lock: sender, receiver (which lets late
 * frames out when nothing is sent) and telemetry come to it.
 */
struct line {
	rte_spinlock_t lock;
	bool is_on;
	double cycles_per_ns;
	struct weft_impair impair;
	uint64_t count[LINE_N_COUNTERS];
	unsigned int n_late;
	unsigned int first_ready; /* counts up, modulo LINE_READY_MAX */
	unsigned int n_ready;
	unsigned int kept; /* counts up, modulo WEFT_IMPAIR_HISTORY_MAX */
	uint64_t order;
	struct rte_mbuf *ready[LINE_READY_MAX];
	struct rte_mbuf *history[WEFT_IMPAIR_HISTORY_MAX]; /* copies; some may be NULL */
	struct line_late late[LINE_LATE_MAX];
};

/* Rows of line.count. */
extern const struct weft_counter line_counters[LINE_N_COUNTERS];

/* @on: damage; else frames pass as they are. The settings are checked. */
void line_init(struct line *l, const struct weft_impair_cfg *cfg, bool on);

/* Change the settings, which are checked. Takes the lock. */
void line_set(struct line *l, const struct weft_impair_cfg *cfg);

/* Free all frames. */
void line_empty(struct line *l);

/* The following under the lock. */

/* Take frames over, as many as there is room for; returns how many, and adds their bytes. */
uint16_t line_put(
	struct line *l, struct rte_mbuf **mbufs, uint16_t n, uint64_t now, uint64_t *bytes);

/* Let frames that are due out to the ready ones. */
void line_release(struct line *l, uint64_t now);

/* Up to n ready frames, in order, without taking them; line_took() takes them. */
uint16_t line_peek(const struct line *l, struct rte_mbuf **mbufs, uint16_t n);
void line_took(struct line *l, uint16_t n);

/* Is anything under way? May be asked without the lock. */
static inline bool
flitwire_line_is_busy(const struct line *l)
{
	return __atomic_load_n(&l->n_late, __ATOMIC_RELAXED) != 0 ||
	       __atomic_load_n(&l->n_ready, __ATOMIC_RELAXED) != 0;
}

enum flitwire_dir { FLITWIRE_TX, FLITWIRE_RX, FLITWIRE_DIRS };

struct flitwire {
	struct flitwire *next; /* list of devices, under its lock */
	char name[RTE_ETH_NAME_MAX_LEN];
	char lower_name[RTE_ETH_NAME_MAX_LEN];
	uint16_t lower; /* RTE_MAX_ETHPORTS until it is found */
	uint64_t owner;
	struct rte_ether_addr mac;
	struct weft_impair_cfg cfg;
	uint64_t frames[FLITWIRE_DIRS], bytes[FLITWIRE_DIRS];
	struct line line[FLITWIRE_DIRS];
};

/* control.c: devargs, telemetry, counters. */

/* Read "port=...,dir=...,key=value,...". 0, or -EINVAL with a line in @err. */
int flitwire_parse(struct flitwire *f, const char *args, char *err, size_t len);

/* /weft/flitwire answers for this device from now on. */
void flitwire_enlist(struct flitwire *f);
void flitwire_delist(struct flitwire *f);

/* Counters of both directions in one row of numbers. */
#define FLITWIRE_XSTATS (FLITWIRE_DIRS * (WEFT_IMPAIR_N_COUNTERS + LINE_N_COUNTERS))
void flitwire_xstat_name(unsigned int i, char *name, size_t len);
uint64_t flitwire_xstat(struct flitwire *f, unsigned int i);
void flitwire_xstats_reset(struct flitwire *f);

#endif /* FLITWIRE_PRIV_H */
