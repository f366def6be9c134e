/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Snapshots: one block of memory without pointers in it, so that a copy is a memcpy(). */

#include "weft_tables.h"

#include <errno.h>

#define TABLES_MAX 256
#define RUN 64

static size_t
tables_edges_at(void)
{
	return weft_line_up(sizeof(struct weft_tables));
}

static size_t
tables_routes_at(unsigned int n_edges)
{
	return tables_edges_at() + n_edges * weft_line_up(sizeof(struct weft_edge));
}

size_t
weft_tables_size(const struct weft_tables_cfg *cfg)
{
	return tables_routes_at(cfg->n_edges) +
	       cfg->n_routes * weft_line_up(sizeof(struct weft_route));
}

static bool
tables_cfg_is_good(const struct weft_tables_cfg *cfg)
{
	if (cfg->n_edges > TABLES_MAX || cfg->n_routes == 0 || cfg->n_routes > TABLES_MAX)
		return false;
	for (unsigned int p = 0; p < WEFT_SWITCH_PORTS; p++)
		if (cfg->route_of_port[p] >= cfg->n_routes)
			return false;
	return true;
}

int
weft_tables_init(struct weft_tables *t, const struct weft_tables_cfg *cfg)
{
	if (!tables_cfg_is_good(cfg))
		return -EINVAL;
	memset(t, 0, sizeof(*t));
	t->size = weft_tables_size(cfg);
	t->n_edges = cfg->n_edges;
	t->n_routes = cfg->n_routes;
	memcpy(t->route_of_port, cfg->route_of_port, sizeof(t->route_of_port));
	for (unsigned int i = 0; i < cfg->n_edges; i++)
		if (weft_edge_init(weft_tables_edge_rw(t, i), &cfg->edge[i]) != 0)
			return -EINVAL;
	for (unsigned int i = 0; i < cfg->n_routes; i++)
		if (weft_route_init(weft_tables_route_rw(t, i), cfg->n_rgt) != 0)
			return -EINVAL;
	return 0;
}

void
weft_tables_copy(struct weft_tables *to, const struct weft_tables *from)
{
	memcpy(to, from, from->size);
}

const struct weft_edge *
weft_tables_edge(const struct weft_tables *t, unsigned int i)
{
	return (const void *)((const uint8_t *)t + tables_edges_at() +
			      i * weft_line_up(sizeof(struct weft_edge)));
}

struct weft_edge *
weft_tables_edge_rw(struct weft_tables *t, unsigned int i)
{
	return (void *)((uint8_t *)t + tables_edges_at() +
			i * weft_line_up(sizeof(struct weft_edge)));
}

const struct weft_route *
weft_tables_route(const struct weft_tables *t, unsigned int i)
{
	return (const void *)((const uint8_t *)t + tables_routes_at(t->n_edges) +
			      i * weft_line_up(sizeof(struct weft_route)));
}

struct weft_route *
weft_tables_route_rw(struct weft_tables *t, unsigned int i)
{
	return (void *)((uint8_t *)t + tables_routes_at(t->n_edges) +
			i * weft_line_up(sizeof(struct weft_route)));
}

const struct weft_tables *
weft_tables_publish(struct weft_tables_slot *slot, const struct weft_tables *t)
{
	return __atomic_exchange_n(&slot->now, t, __ATOMIC_ACQ_REL);
}

void
weft_hpa_port_run(const struct weft_edge *e, const struct weft_route *r, const uint64_t *hpa,
	int16_t *port, unsigned int n)
{
	int16_t dpid[RUN];

	for (unsigned int i = 0; i < n; i += RUN) {
		const unsigned int part = n - i < RUN ? n - i : RUN;

		weft_edge_mem_run(e, hpa + i, dpid, part);
		/* A miss is 0xFFFF there, which is no DPID. */
		weft_route_run(r, (const uint16_t *)dpid, port + i, part);
	}
}
