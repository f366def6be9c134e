/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The six workloads of ats.md section 8 as sources of addresses, 256 B an access. */
#ifndef ATC_LOAD_H
#define ATC_LOAD_H

#include "weft_rand.h"

#define ATC_LOAD_CONTEXTS 1024
#define ATC_LOAD_STREAMS 1024 /* atc_access.stream is below it */

struct atc_access {
	uint64_t va;
	uint16_t ctx;
	uint16_t stream; /* who goes from page to page: what visits are counted by */
};

/* State of one source; what its workload does not use is 0. */
struct atc_load {
	struct weft_rand r;
	uint64_t i; /* accesses so far */
	uint64_t at[ATC_LOAD_STREAMS]; /* position of each stream */
	uint64_t base; /* page in hand */
	double zeta;
};

struct atc_workload {
	const char *name;
	const char *help;
	void (*next)(struct atc_load *l, struct atc_access *a);
};

extern const struct atc_workload atc_workloads[];
extern const unsigned int atc_n_workloads;

/* Begin at the beginning: the same addresses every time. */
void atc_load_init(struct atc_load *l);

#endif /* ATC_LOAD_H */
