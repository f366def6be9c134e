/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Buffers that pass from lcore to lcore through DPDK's pool do so out of the thread sanitizer's
 * sight: DPDK is not built with it. This is the same pool driver, a ring, built with it: a plug-in
 * that is loaded before DPDK's own and has its name.
 */

#include <errno.h>

#include <rte_errno.h>
#include <rte_mempool.h>
#include <rte_ring.h>

static int
pool_alloc(struct rte_mempool *mp)
{
	mp->pool_data = rte_ring_create(mp->name, rte_align32pow2(mp->size + 1), mp->socket_id, 0);
	return mp->pool_data == NULL ? -rte_errno : 0;
}

static void
pool_free(struct rte_mempool *mp)
{
	rte_ring_free(mp->pool_data);
}

static int
pool_enqueue(struct rte_mempool *mp, void *const *objects, unsigned int n)
{
	return rte_ring_mp_enqueue_bulk(mp->pool_data, objects, n, NULL) == 0 ? -ENOBUFS : 0;
}

static int
pool_dequeue(struct rte_mempool *mp, void **objects, unsigned int n)
{
	return rte_ring_mc_dequeue_bulk(mp->pool_data, objects, n, NULL) == 0 ? -ENOBUFS : 0;
}

static unsigned int
pool_count(const struct rte_mempool *mp)
{
	return rte_ring_count(mp->pool_data);
}

static const struct rte_mempool_ops ring = {
	.name = "ring_mp_mc",
	.alloc = pool_alloc,
	.free = pool_free,
	.enqueue = pool_enqueue,
	.dequeue = pool_dequeue,
	.get_count = pool_count,
};

RTE_MEMPOOL_REGISTER_OPS(ring)
