/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-bench --live: how many frames a second go from one port to another, as RFC 2544 looks for
 * it: MRR, what comes when all is sent that the port takes; NDR and PDR, the most that can be sent
 * while nothing, or no more than 0.5 %, is lost.
 */
#ifndef LIVE_H
#define LIVE_H

#include "live_find.h"
#include "options.h"
#include "wire.h"

/**
 * Open the ports, measure each length of frames of the options, report. DPDK is started.
 *
 * @return whether frames came, as they were sent, and all was reported
 */
bool live_run(const struct options *o, struct wire *w, struct bench_params *p);

#endif /* LIVE_H */
