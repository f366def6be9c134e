/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How often the translation cache knows the answer: --atc-workload of weft-bench. */
#ifndef ATC_SIM_H
#define ATC_SIM_H

#include "weft_atc.h"

#define ATC_SIM_LIST_MAX 16

/* What to run: every workload with every page size, number of entries and depth. */
struct atc_sim_cfg {
	uint32_t workloads; /* bit per atc_workloads[]; 0: no simulation */
	uint8_t pages; /* bit per enum weft_atc_class */
	unsigned int entries[ATC_SIM_LIST_MAX]; /* powers of two, 8 or more */
	unsigned int n_entries;
	unsigned int prefetch[ATC_SIM_LIST_MAX]; /* translations a request at most */
	unsigned int n_prefetch;
	uint64_t accesses; /* the first quarter is not counted */
};

/* Simulate, print, and write JSON to @p json if it is not NULL. @return 0 or -errno of the file. */
int atc_sim_run(const struct atc_sim_cfg *cfg, const char *json);

#endif /* ATC_SIM_H */
