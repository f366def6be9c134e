/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How every program of ours that handles frames starts DPDK. */
#ifndef START_H
#define START_H

#include "weft_eal.h"

/**
 * Start DPDK and make the one pool of frames; cli_fail() if that does not work. From then on a
 * closed pipe is an error of who writes to it (EPIPE), and cli_output_end() tells of it.
 *
 * @param eal   memory_mb is what is wanted beside the pool
 * @param pool  private area and NUMA node are set here
 */
struct rte_mempool *start_dpdk(struct weft_eal_cfg *eal, struct weft_pool_cfg *pool);

#endif /* START_H */
