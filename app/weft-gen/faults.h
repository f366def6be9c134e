/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Seeded faults on a stream of protected flits, as --errors describes them. */
#ifndef FAULTS_H
#define FAULTS_H

#include "weft_impair.h"
#include "weft_rand.h"

#define FAULT_BURST_MAX 250 /* symbols */

/* Each field but the burst's length is a probability; of `ber` a bit's, else a flit's. */
struct faults {
	double ber;
	double burst;
	unsigned int burst_len;
	double drop;
	double dup;
	double reorder;
	double garbage; /* of a packet of noise in front of a frame */
};

/* What was done to whole flits; the rest is counted in the wire. */
struct fault_counts {
	uint64_t dropped;
	uint64_t duplicated;
	uint64_t reordered;
	uint64_t garbage;
};

/**
 * Read a list such as "ber=1e-6,burst=4:0.001,drop=0.01". "none" is no fault.
 *
 * @return 0, or -EINVAL with a line in @p err
 */
int faults_parse(const char *text, struct faults *f, char *err, size_t err_len);

/** Start the wire that damages flits as @p f, as faults_parse() left it, says. */
void faults_wire(const struct faults *f, uint64_t seed, struct weft_impair *w);

/** Draw an event of probability @p p. */
static inline bool
faults_draw(struct weft_rand *rand, double p)
{
	return p > 0 && weft_rand_unit(rand) < p;
}

#endif /* FAULTS_H */
