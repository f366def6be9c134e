/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Routing tables that a fabric has against those that it is to have, and the way from the one to
 * the other while traffic runs (fabric.md section 6.3, "Route change without loops"; 3.3).
 *
 *   1. A row is written once the switch that it leads to has its own row for that DPID, so rows
 *      change from the destination to the sources. A message then never meets a switch that still
 *      points back: in every mixed state each way ends at the destination or at a missing row.
 *   2. Rows that go are removed when all others stand.
 *   3. Where links are as good as each other (weft_topo_equal_ports()), a row names a group of
 *      them, in row p of the RGT for port p. Groups are written before rows name them; as all
 *      links of one lead to the same switch, messages may meet either form of it.
 *   4. Old and new routes together, as far as rule 1 lets them meet, must make no circle of links
 *      that wait for each other. weft_fm_routes_new() looks for such routes first; where no engine
 *      has any, must_drain says that the old rows have to be removed, and their messages to be
 *      gone, before the new ones are written.
 *
 * What is to be done next follows from the two sets of tables alone: whoever begins again after a
 * crash goes on where the other ended.
 */
#ifndef WEFT_FM_ROUTES_H
#define WEFT_FM_ROUTES_H

#include "weft_pbr.h"
#include "weft_route.h"
#include "weft_topo_graph.h"

WEFT_BEGIN_DECLS

#define WEFT_FM_PORTS 256

/** A link of the fabric that was found. */
struct weft_fm_link {
	uint16_t node[2];
	uint8_t port[2]; /**< physical port numbers at the two nodes */
};

/** Tables of one switch as they were read: one or several, which the ports share among them. */
struct weft_fm_tables {
	struct weft_drt *drt; /**< NULL: the node has none */
	unsigned int n;
	struct weft_rgt_entry (*rgt)[WEFT_FM_PORTS]; /**< by table; NULL: no groups */
	unsigned int n_groups; /**< rows of each that are known; others are not used */
};

/** Routes of a fabric. One writer. */
struct weft_fm_routes {
	struct weft_topo *graph;
	struct weft_drt *want; /**< by node; rows in physical port numbers; of ends: not used */
	struct weft_rgt_entry (*group)[WEFT_FM_PORTS]; /**< by node: row p of port p; zero: none */
	uint8_t *physical; /**< by port of the graph */
	uint16_t *port_at; /**< [node][physical port]: port of the graph, or WEFT_FM_NO_PORT */
	uint16_t *n_groups; /**< by node: as they were found */
	uint8_t asked; /**< enum weft_topo_routing */
	bool must_drain; /**< rule 4 */
	bool is_first; /**< no engine was refused for what was found */
};

#define WEFT_FM_NO_PORT UINT16_MAX

/**
 * Compute and prove routes.
 *
 * @param node     as weft_topo_graph_new(); an end without a link may not be among them
 * @param found    by node: what its tables hold now; not kept
 * @param routing  as weft_topo_route()
 * @param r        filled on success; weft_fm_routes_free() ends it
 * @return 0; -EINVAL with @p f filled if no engine has routes; -EFBIG; -ENOMEM
 */
int weft_fm_routes_new(struct weft_fm_routes *r, const struct weft_topo_graph_node *node,
	unsigned int n_nodes, const struct weft_fm_link *link, unsigned int n_links,
	const struct weft_fm_tables *found, enum weft_topo_routing routing,
	struct weft_topo_fault *f);

/**
 * Whether weft_fm_routes_new() of these is sure to give @p r again. Only where nothing is left to
 * be written: before that it depends on what was found.
 */
bool weft_fm_routes_stay(const struct weft_fm_routes *r, const struct weft_topo_graph_node *node,
	unsigned int n_nodes, const struct weft_fm_link *link, unsigned int n_links,
	const struct weft_fm_tables *found, enum weft_topo_routing routing);

/** Free what @p r holds; one that is all zero is allowed. */
void weft_fm_routes_free(struct weft_fm_routes *r);

/**
 * Whether links may wait for each other in a circle on the way from @p found to r->want (rule 4).
 *
 * @return 0 none; -EINVAL there is one; -ENOMEM
 */
int weft_fm_routes_check_mixed(const struct weft_fm_routes *r, const struct weft_fm_tables *found);

enum weft_fm_way {
	WEFT_FM_WAY_NONE, /**< no route is to lead there */
	WEFT_FM_WAY_COMES, /**< one is, and does not yet */
	WEFT_FM_WAY_THERE
};

/**
 * Whether messages of an end go to another by r->want: by rule 1, its switch's row says so.
 *
 * @param from  an end, with one link to a switch
 * @param to    another
 */
enum weft_fm_way weft_fm_routes_way(const struct weft_fm_routes *r,
	const struct weft_fm_tables *found, unsigned int from, unsigned int to);

enum weft_fm_phase {
	WEFT_FM_PHASE_GROUPS, /**< rows of groups: weft_fm_routes_next_groups() */
	WEFT_FM_PHASE_WRITE, /**< rows that are new or that change */
	WEFT_FM_PHASE_REMOVE, /**< rows that go */
	WEFT_FM_PHASE_DRAIN, /**< must_drain: all rows that are not as they are to be are removed */
	WEFT_FM_PHASE_DONE
};

/** What is next for the fabric as a whole; r->must_drain is the caller's to clear when it has. */
enum weft_fm_phase weft_fm_routes_phase(
	const struct weft_fm_routes *r, const struct weft_fm_tables *found);

/**
 * The next run of rows of one table that may be written now.
 *
 * @param phase  of weft_fm_routes_phase()
 * @param node   a switch
 * @param table  0..found[node].n - 1
 * @param first  first DPID to look at; receives the first of the run
 * @param max    most rows of a run, 1..WEFT_PIDS
 * @param row    room for max rows of two bytes; receives them, as they are to be
 * @return rows of the run, 0 if there is none
 */
unsigned int weft_fm_routes_next(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	enum weft_fm_phase phase, unsigned int node, unsigned int table, uint16_t *first,
	unsigned int max, uint8_t (*row)[2]);

/**
 * The next run of rows of one table's groups that differ.
 *
 * @param first  first row to look at; receives the first of the run
 * @param max    most rows of a run
 * @param row    receives the first of them; the others stand behind it
 * @return rows of the run, 0 if there is none
 */
unsigned int weft_fm_routes_next_groups(const struct weft_fm_routes *r,
	const struct weft_fm_tables *found, unsigned int node, unsigned int table,
	unsigned int *first, unsigned int max, const struct weft_rgt_entry **row);

WEFT_END_DECLS

#endif /* WEFT_FM_ROUTES_H */
