/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Shared by the files of the flitwire driver: the device, and its two directions. */
#ifndef FLITWIRE_PRIV_H
#define FLITWIRE_PRIV_H

#include <rte_ethdev.h>

#include "weft_badwire.h"

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
	struct weft_badwire line[FLITWIRE_DIRS];
};

/* control.c: devargs, telemetry, counters. */

/* Read "port=...,dir=...,key=value,...". 0, or -EINVAL with a line in @err. */
int flitwire_parse(struct flitwire *f, const char *args, char *err, size_t len);

/* /weft/flitwire answers for this device from now on. */
void flitwire_enlist(struct flitwire *f);
void flitwire_delist(struct flitwire *f);

/* Counters of both directions in one row of numbers. */
#define FLITWIRE_XSTATS (FLITWIRE_DIRS * (WEFT_IMPAIR_N_COUNTERS + WEFT_BADWIRE_N_COUNTERS))
void flitwire_xstat_name(unsigned int i, char *name, size_t len);
uint64_t flitwire_xstat(struct flitwire *f, unsigned int i);
void flitwire_xstats_reset(struct flitwire *f);

#endif /* FLITWIRE_PRIV_H */
