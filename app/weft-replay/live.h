/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* weft-replay --to: a trace onto a wire, from its file to the report. */
#ifndef LIVE_H
#define LIVE_H

#include "send.h"

/** Exit status with --expect, as of cmp(1). */
enum { LIVE_EQUAL = 0, LIVE_DIFFERS = 1, LIVE_ERROR = 2 };

struct live_options {
	char *to; /* NULL: no wire */
	char *back; /* NULL: one port */
	const char *expect; /* NULL: nothing is compared */
	enum send_way way;
	double rate; /* as of struct send_cfg */
	double wait_s;
};

/** What the rest of the command line says. */
struct live_cfg {
	const struct live_options *options;
	const char *in;
	struct trace *trace; /* of it */
	const struct receiver_cfg *receiver; /* header of raw flits */
	double speed;
	uint64_t loops;
	const char *json;
	bool has_raw; /* set: there were raw flits */
};

/** cli_usage() if what ports say of themselves makes no sense. @p w receives them. */
void live_read_ports(const struct live_options *o, struct wire *w);

/**
 * Read the files, start DPDK, send, compare, report. What cannot be done ends the program by
 * cli_fail().
 *
 * @return the exit status
 */
int live_run(struct live_cfg *cfg, struct wire *w, struct weft_eal_cfg *eal);

#endif /* LIVE_H */
