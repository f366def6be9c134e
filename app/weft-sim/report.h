/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Totals of all seeds of a run, as text and as JSON. */
#ifndef REPORT_H
#define REPORT_H

#include "capture.h"
#include "sim.h"

#define REPORT_FAILURES 10 /* described; all are counted */

struct failure {
	uint64_t seed;
	struct violation first;
	char fabric[64];
	char pcap[256]; /* "" if none was written */
};

struct report {
	uint64_t seeds;
	uint64_t digest;
	uint64_t steps;
	double seconds; /* of the CPU; text only */
	struct sim_totals total;
	struct capture_counts capture;
	struct weft_llr_cfg captured; /* how its flits were made */
	uint8_t crc_order; /* and their CRCs, enum weft_crc_order */
	bool has_capture;
	struct failure failure[REPORT_FAILURES];
	unsigned int n_failures;
};

/** Add a seed that is over. */
void report_add(struct report *r, const struct sim *s);

/** Keep what went wrong with a seed, and say it on stderr. */
struct failure *report_failure(struct report *r, const struct sim *s);

void report_text(const struct report *r);

/** 0 or -errno. */
int report_json(const struct report *r, const char *path);

#endif /* REPORT_H */
