/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Routes of a graph that no file describes, as of a fabric that was found (fabric.md section 6.3):
 * the engines and the checker of weft_topo.h. A graph is a topology that has nodes, ports, links
 * and routes only: functions of weft_topo.h that go by these take it, and weft_topo_free() ends it.
 */
#ifndef WEFT_TOPO_GRAPH_H
#define WEFT_TOPO_GRAPH_H

#include "weft_route.h"
#include "weft_topo.h"

WEFT_BEGIN_DECLS

struct weft_topo_graph_node {
	uint8_t kind; /**< enum weft_topo_kind: a switch, or an end, which has one link */
	uint16_t pid; /**< each has another; 0..0xFFE */
	uint8_t n_at; /**< coordinates of a switch in a mesh, 1..4; 0: it has none */
	uint16_t at[WEFT_TOPO_DIMENSIONS];
	char name[WEFT_TOPO_NAME_ROOM]; /**< for messages */
};

struct weft_topo_graph_link {
	uint16_t a, b; /**< nodes */
};

/**
 * Make a graph. Port k of a node belongs to the k-th link that names it; link i of the topology is
 * @p link[i]. Of nodes of a kind the order here is the order by which engines prefer.
 *
 * @param out  receives the graph, the caller's to free; its routes are those of no engine
 * @return 0; -EINVAL for a link that joins a node to itself or to none, an end that has not one
 *         link, or a switch with more than WEFT_TOPO_SWITCH_PORTS; -EFBIG for more than
 *         WEFT_TOPO_NODES or WEFT_TOPO_LINKS; -ENOMEM
 */
int weft_topo_graph_new(struct weft_topo **out, const struct weft_topo_graph_node *node,
	unsigned int n_nodes, const struct weft_topo_graph_link *link, unsigned int n_links);

/** Whether routes that stand the check will do. */
typedef bool (*weft_topo_accept_fn)(void *arg, const struct weft_topo *t);

/**
 * Compute and prove the routes of a topology that nobody else reads yet.
 *
 * @param asked   enum weft_topo_routing. AUTO: the first engine that will do, in the order of
 *                doc/topology.md
 * @param accept  asked of each set of routes that stands the check; NULL: any will do
 * @param f       filled on -EINVAL: what was wrong with the last that was tried
 * @return 0 with t->routing the engine taken; -EINVAL if none will do; -ENOMEM
 */
int weft_topo_route(struct weft_topo *t, enum weft_topo_routing asked, weft_topo_accept_fn accept,
	void *arg, struct weft_topo_fault *f);

/**
 * Ports of a switch that are as good as one of them for every destination: their links, of one
 * MTU, lead to the same switch. weft_topo_route() proves routes with all of them taken for one.
 *
 * @param number  0..n_ports - 1
 * @param equal   receives @p number and then the others, at most WEFT_RGT_PORTS
 * @return how many, 1 or more
 */
unsigned int weft_topo_equal_ports(const struct weft_topo *t, unsigned int node,
	unsigned int number, uint8_t equal[WEFT_RGT_PORTS]);

/**
 * Let a switch spread what may be spread over equal links (fabric.md section 1.10). RGT row p is
 * port p with its equals, so what stays on one path goes on by the port that it had.
 *
 * @param drt  of weft_topo_routes(); rows of ports that have equals become rows of groups
 * @param rgt  written whole; rows that nothing names are zero
 * @return RGT rows that are not
 */
unsigned int weft_topo_groups(const struct weft_topo *t, unsigned int node, struct weft_drt *drt,
	struct weft_rgt_entry rgt[WEFT_RGT_ROWS]);

WEFT_END_DECLS

#endif /* WEFT_TOPO_GRAPH_H */
