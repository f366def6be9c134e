/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Packet buffers. The layout of one (all offsets from a cache line): 128 bytes of struct rte_mbuf,
 * a private area of 32 modulo 64, 128 of headroom, 32 of Ethernet and frame header, flits. So
 * flits, which begin at byte 32 of a frame, lie on cache lines (encapsulation.md section 2).
 */

#include "weft_eal.h"

#include <rte_errno.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>

#include "weft_wire.h"

/*
 * Beyond the frame: AF_XDP keeps 256 bytes in front of a frame and needs the whole buffer in one
 * 4 KB page, which 13 flits, the most its MTU allows, just do; af_packet rounds up by less.
 */
#define POOL_SPARE 256
#define POOL_PAGE 4096
#define POOL_ROOM_MIN 2048 /* many NICs refuse less */

static_assert(RTE_PKTMBUF_HEADROOM % 64 == 0, "headroom must keep the private area's alignment");
static_assert(sizeof(struct rte_mbuf) % 64 == 0, "the mbuf must keep cache line alignment");

uint16_t
weft_pool_room(unsigned int max_flits)
{
	unsigned int room = (unsigned int)WEFT_WIRE_FRAME_LEN(max_flits) + POOL_SPARE;

	return (uint16_t)(RTE_PKTMBUF_HEADROOM + (room < POOL_ROOM_MIN ? POOL_ROOM_MIN : room));
}

unsigned int
weft_pool_mb(const struct weft_pool_cfg *cfg)
{
	uint32_t element =
		(uint32_t)sizeof(struct rte_mbuf) + cfg->priv_size + weft_pool_room(cfg->max_flits);
	uint64_t object = rte_mempool_calc_obj_size(element, 0, NULL);
	/* Ordinary pages are the worst case: a buffer starts a page or lies within one. */
	uint64_t pages = object > POOL_PAGE ? (object + POOL_PAGE - 1) / POOL_PAGE * cfg->n_mbufs
	                                    : cfg->n_mbufs / (POOL_PAGE / object) + 1;
	/* The ring of free buffers has a power of two of pointers; 1 MB for the rest. */
	uint64_t bytes = pages * POOL_PAGE + cfg->n_mbufs * 2 * sizeof(void *) + (1u << 20);

	return (unsigned int)((bytes + (1u << 20) - 1) >> 20);
}

static bool
pool_has_ops(const char *name)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++)
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return true;
	return false;
}

/* The first thing wrong with a configuration, or NULL. */
static const char *
pool_cfg_fault(const struct weft_pool_cfg *cfg, const char *ops)
{
	if (cfg->name == NULL || cfg->name[0] == '\0' || strlen(cfg->name) > 25)
		return "its name must have 1 to 25 characters";
	if (cfg->n_mbufs == 0)
		return "it needs at least one buffer";
	if (cfg->max_flits == 0 || cfg->max_flits > WEFT_WIRE_FLITS_MAX)
		return "flits per frame must be 1 to 64";
	if (cfg->priv_size % 64 != 32 || cfg->priv_size > UINT16_MAX)
		return "the private area must be 32 bytes modulo 64";
	if (cfg->cache > RTE_MEMPOOL_CACHE_MAX_SIZE || cfg->cache * 3 / 2 > cfg->n_mbufs)
		return "the cache is too large for it";
	if (!pool_has_ops(ops))
		return "the mempool driver is not loaded (are DPDK's plug-ins installed?)";
	return NULL;
}

struct rte_mempool *
weft_pool_create(const struct weft_pool_cfg *cfg, char *err, size_t errlen)
{
	const char *ops = cfg->ops != NULL ? cfg->ops : "ring_mp_mc";
	const char *fault = pool_cfg_fault(cfg, ops);
	struct rte_mempool *pool;

	if (fault != NULL) {
		snprintf(err, errlen, "packet buffers \"%s\": %s",
			cfg->name != NULL ? cfg->name : "", fault);
		rte_errno = EINVAL;
		return NULL;
	}
	pool = rte_pktmbuf_pool_create_by_ops(cfg->name, cfg->n_mbufs, cfg->cache,
		(uint16_t)cfg->priv_size, weft_pool_room(cfg->max_flits), cfg->socket, ops);
	if (pool != NULL)
		return pool;
	if (rte_errno == ENOMEM)
		snprintf(err, errlen,
			"packet buffers \"%s\": too little memory: %u buffers need about %u MB; "
			"start with more, or use fewer buffers or fewer flits per frame",
			cfg->name, cfg->n_mbufs, weft_pool_mb(cfg));
	else
		snprintf(err, errlen, "packet buffers \"%s\": %s", cfg->name,
			rte_strerror(rte_errno));
	return NULL;
}
