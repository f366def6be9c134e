/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a run did, for people and for programs. */
#ifndef REPORT_H
#define REPORT_H

#include "daemon.h"

/* --- rate.c: flits a second --- */

struct rate {
	double in, out; /* over the whole run */
	double last_in, last_out; /* over the last interval: --stats-interval, or 1 s */
};

/** Before the nodes run. 0, or -ENOMEM. */
int rates_init(struct daemon *d);

/**
 * Control thread, every round: end an interval when it is over, and print it if that was asked for.
 */
void rates_maintain(struct daemon *d);

/** Add what port @p p of a node did in @p seconds of run to @p r; 0: only the last interval. */
void rate_add(const struct node *n, unsigned int p, double seconds, struct rate *r);

/** The same of all ports of a node, and of all nodes of an lcore. False: it has no node. */
void rate_node(const struct node *n, double seconds, struct rate *r);
bool rate_lcore(const struct daemon *d, unsigned int lcore, double seconds, struct rate *r);

/** {in, out, last_in, last_out} in Mflit/s. */
json_t *rate_json(const struct rate *r);

/** A line: the node, and its links by who is at the other end if it has more than one. */
void rate_text(const struct node *n, double seconds);

/* --- report.c --- */

int report_json(const struct daemon *d, double seconds, const char *path);

/** What report_json() writes, a new object. Control side. */
json_t *report_make(const struct daemon *d, double seconds);

/** That, and what operators ask for besides: the process, the topology, routes, programs. */
json_t *report_state(const struct daemon *d, double seconds);

void report_text(const struct daemon *d, double seconds);

/** Counters by name. */
json_t *report_counters(const struct weft_counter *rows, const uint64_t *values, unsigned int n);

/** Every request ended, every read was right, nothing was lost. */
bool report_is_good(const struct daemon *d);

/** What was not, a line each on standard error: for a run that prints no text. */
void report_faults(const struct daemon *d);

/** Drops of a node from every place that can drop, by reason. */
uint64_t report_drops(const struct node *n, enum weft_verdict v);

/**
 * Telemetry of weftd, in three steps, all on the thread that starts it: before DPDK starts,
 * commands that wait; when the nodes are ready, answers; before they go, no more of them.
 */
void report_telemetry_soon(void);
void report_telemetry(struct daemon *d);
void report_telemetry_end(void);

#endif /* REPORT_H */
