/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What DPDK is to start with, by the nodes that run here: buffers, memory, lcores, devices. */

#include "launch.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>

#include "cli.h"
#include "ports.h"
#include "start.h"

#define BASE_POOL 4096 /* buffers of a process */
#define RING_POOL 96 /* buffers for a port that is a ring: what waits in it, beside BASE_POOL */
#define HELD_POOL 4 /* for a peer: frames whose MAC is still to come */
#define LCORE_POOL 512 /* for an lcore of a node that has several: in rings between them */
#define DEVICE_POOL 6144 /* for any other: descriptors both ways, and what a driver keeps */

/* Largest frame over any port here, and buffers for all of them. */
static void
launch_size_pool(const struct daemon *d, struct weft_pool_cfg *pool)
{
	pool->n_mbufs = BASE_POOL;
	pool->max_flits = 1;
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct weft_topo_node *n = d->node[i].topo;

		if (d->topo->ide.mode == WEFT_IDE_CONTAINMENT)
			pool->n_mbufs += HELD_POOL * d->topo->n_nodes;
		pool->n_mbufs += LCORE_POOL * n->n_lcores;
		for (uint16_t p = 0; p < n->n_ports; p++) {
			unsigned int index = n->first_port + p;
			unsigned int flits = weft_topo_port_flits(d->topo, index);
			const struct weft_topo_port *tp = &d->topo->port[index];

			if (flits > pool->max_flits)
				pool->max_flits = flits;
			pool->n_mbufs += tp->device_kind == WEFT_TOPO_NO_DEVICE &&
			                                 tp->driver != WEFT_TOPO_MEMIF
			                         ? RING_POOL
			                         : DEVICE_POOL;
		}
	}
}

/* "0,2" and so on: each CPU that a node here names; an empty string if none names any. */
static void
launch_lcore_list(const struct daemon *d, char *list, size_t len)
{
	size_t used = 0;
	cpu_set_t named;

	CPU_ZERO(&named);
	for (uint16_t i = 0; i < d->n_nodes; i++)
		for (uint16_t c = 0; c < d->node[i].topo->n_lcores; c++)
			CPU_SET(d->node[i].topo->lcore[c], &named);
	list[0] = '\0';
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && used < len; cpu++)
		if (CPU_ISSET(cpu, &named))
			used += (size_t)snprintf(
				list + used, len - used, "%s%u", used == 0 ? "" : ",", cpu);
	if (used >= len)
		cli_fail("lcores: more CPUs than a command line holds");
}

static size_t
launch_joined(const struct daemon *d, unsigned int node)
{
	size_t n = 0;
	bool asks;

	for (unsigned int i = 0; i < d->topo->n_nodes; i++)
		n += weft_node_is_joined(d->topo, d->load, node, i, &asks);
	return n;
}

/* Megabytes for the connections or links of the nodes here, and for tables of edge ports. */
static unsigned int
launch_ends_mb(const struct daemon *d)
{
	size_t ends = 0, edges = 0;

	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct weft_topo_node *n = d->node[i].topo;

		if (daemon_is_cxl(d) && n->kind == WEFT_TOPO_SWITCH)
			edges += n->n_ports;
		if (daemon_is_cxl(d))
			ends += n->n_ports;
		else
			ends += launch_joined(d, d->node[i].index);
	}
	/* Of tables there are two, the one in force and the next. */
	return (unsigned int)((ends * weft_node_link_memory(d->topo) +
				      edges * 2 * sizeof(struct weft_edge)) >>
			      20);
}

/* What devices of the ports here ask of EAL; @p pci has room for the address of each. */
static void
launch_devices(const struct daemon *d, const char **pci, struct weft_eal_cfg *eal)
{
	eal->pci = pci;
	for (uint16_t i = 0; i < d->n_nodes; i++)
		for (uint16_t p = 0; p < d->node[i].n_ports; p++) {
			const struct weft_topo_port *tp =
				&d->topo->port[d->node[i].topo->first_port + p];

			if (tp->device_kind == WEFT_TOPO_PCI)
				pci[eal->n_pci++] = tp->device;
			/* It may be one that gives the pool's memory to another process. */
			eal->lends_memory |= tp->device_kind == WEFT_TOPO_DEVARGS;
			eal->any_driver |= tp->device_kind == WEFT_TOPO_DEVARGS;
		}
}

void
launch_dpdk(struct daemon *d)
{
	struct weft_pool_cfg pool = { .name = "frames", .cache = 256 };
	struct weft_eal_cfg eal = {
		.memory_mb = 64 + 24u * d->n_nodes + launch_ends_mb(d),
		.user_argc = d->cfg.eal_argc,
		.user_argv = d->cfg.eal_argv,
	};
	struct rte_mempool *p;
	char lcores[1024];
	const char **pci = calloc(d->topo->n_ports + 1u, sizeof(*pci));

	if (pci == NULL)
		cli_fail("out of memory");
	eal.n_files = ports_files(d);
	launch_size_pool(d, &pool);
	launch_lcore_list(d, lcores, sizeof(lcores));
	eal.lcores = lcores[0] == '\0' ? NULL : lcores;
	launch_devices(d, pci, &eal);
	p = start_dpdk(&eal, &pool);
	free(pci);
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		d->node[i].pool = p;
		d->node[i].lcore = d->node[i].topo->n_lcores == 0 ? rte_get_main_lcore()
		                                                  : d->node[i].topo->lcore[0];
	}
	if (d->cfg.no_text)
		return;
	puts(weft_eal_memory_line());
	if (weft_eal_share_line()[0] != '\0')
		puts(weft_eal_share_line());
}
