/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Starting DPDK with memory for one pool of frames. */

#include "start.h"

#include <errno.h>
#include <rte_errno.h>
#include <signal.h>

#include "cli.h"
#include "weft_frame.h"

struct rte_mempool *
start_dpdk(struct weft_eal_cfg *eal, struct weft_pool_cfg *pool)
{
	struct rte_mempool *p;
	char err[512];
	int rc;

	/*
	 * Who reads our output may go first: that is an error of a write, and DPDK's folder is
	 * cleared.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* likewise, as on a full disk */
	pool->priv_size = WEFT_FRAME_PRIV;
	pool->socket = SOCKET_ID_ANY;
	eal->program = program_invocation_short_name;
	eal->memory_mb += weft_pool_mb(pool);
	rc = weft_eal_start(eal, err, sizeof(err));
	/* The arguments of the user are all that can be invalid but for those that a file gave. */
	if (rc == -EINVAL && eal->user_argc > 0)
		cli_usage("%s", err);
	if (rc != 0)
		cli_fail("%s", err);
	p = weft_pool_create(pool, err, sizeof(err));
	if (p == NULL && rte_errno == ENOMEM)
		cli_no_memory("%s", err);
	if (p == NULL)
		cli_fail("%s", err);
	return p;
}
