/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Makes a fabric from a topology, its load and a scenario: nodes with their tables, links, and an
 * end on both sides of every connection that is to carry traffic.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fabric.h"
#include "ide.h"
#include "judge.h"
#include "program.h"
#include "replay.h"
#include "update.h"

static void *
sim_alloc(struct sim *s, size_t len)
{
	return arena_alloc(&s->memory.arena, len);
}

/* Flits of a frame, no more than a file's links take. */
static uint8_t
build_flits_of(const struct sim *s, const struct sim_end *e, const struct sim_node *peer)
{
	const struct weft_topo *t = s->topo;
	unsigned int fits = s->sc.max_flits;

	if (!s->is_drawn && s->sc.mode == WEFT_MODE_RXL)
		fits = weft_topo_path_flits(t, e->node->index, peer->index);
	else if (!s->is_drawn)
		fits = weft_topo_port_flits(t, e->link_dir);
	return fits < s->sc.max_flits ? (uint8_t)fits : s->sc.max_flits;
}

static void
build_end(struct sim *s, struct sim_end *e, struct sim_node *n, struct sim_node *peer,
	uint32_t link_dir)
{
	const enum weft_isn_form form = (enum weft_isn_form)s->sc.llr.isn;

	e->node = n;
	e->peer_pid = peer->pid;
	e->link_dir = link_dir;
	e->max_flits = build_flits_of(s, e, peer);
	e->form = s->topo->port[link_dir].form;
	weft_isn_init(&e->isn, form, (enum weft_crc_order)s->sc.crc_order, n->pid, peer->pid, 0, 0);
	e->address_in = form == WEFT_ISN_PSEUDO ? weft_isn_address(peer->pid, n->pid, 0) : 0;
	ide_end_make(e);
	replay_end_make(e);
	for (unsigned int i = 0; i < ORDER_LIVES; i++)
		e->order.life[i].hash =
			sim_alloc(s, ORDER_KINDS * s->sc.rules.credits * sizeof(uint64_t));
}

static void
build_index_end(struct sim_node *n, uint32_t at)
{
	uint32_t i = n->end[at].peer_pid;

	while (n->slot[i & n->slot_mask] != UINT16_MAX)
		i++;
	n->slot[i & n->slot_mask] = (uint16_t)at;
}

/* rxl: an end for each that the node speaks with. */
static void
build_connections(struct sim *s, struct sim_node *n)
{
	const struct weft_node_cfg *c = &n->node.cfg;
	uint32_t slots = 1;

	if (n->kind == WEFT_TOPO_SWITCH)
		return;
	while (slots < 2u * c->n_peers + 1)
		slots *= 2;
	n->slot = sim_alloc(s, slots * sizeof(*n->slot));
	memset(n->slot, 0xff, slots * sizeof(*n->slot));
	n->slot_mask = slots - 1;
	n->n_ends = c->n_peers;
	for (uint16_t i = 0; i < c->n_peers; i++) {
		build_end(s, &n->end[i], n, &s->node[c->peer[i].node], n->first_link_dir);
		build_index_end(n, i);
	}
}

static void
build_peers(struct sim *s)
{
	const struct weft_topo *t = s->topo;

	for (uint32_t i = 0; i < s->n_ends; i++) {
		struct sim_end *e = &s->end[i];

		e->peer = s->sc.mode == WEFT_MODE_CXL
		                  ? &s->end[t->port[e->link_dir].peer]
		                  : node_end_of(s->by_pid[e->peer_pid], e->node->pid);
	}
}

/*
 * Of the connections of all nodes, or, in cxl mode, both of every link in the order of the ports.
 */
static void
build_ends(struct sim *s)
{
	const struct weft_topo *t = s->topo;
	const bool is_cxl = s->sc.mode == WEFT_MODE_CXL;

	s->n_ends = is_cxl ? t->n_ports : 0;
	for (uint16_t i = 0; i < t->n_nodes && !is_cxl; i++)
		s->n_ends += s->node[i].node.cfg.n_peers;
	s->end = sim_alloc(s, (s->n_ends + 1) * sizeof(*s->end));
	for (uint32_t i = 0, at = 0; i < t->n_nodes; i++) {
		struct sim_node *n = &s->node[i];

		n->end = &s->end[is_cxl ? n->first_link_dir : at];
		if (is_cxl)
			n->n_ends = n->n_ports;
		else
			build_connections(s, n);
		at += n->n_ends;
	}
	for (uint16_t i = 0; i < t->n_ports && is_cxl; i++)
		build_end(s, &s->end[i], &s->node[t->port[i].node],
			&s->node[t->port[t->port[i].peer].node], i);
	build_peers(s);
}

/* --- nodes and their tables, as weftd makes them --- */

static void
build_nodes(struct sim *s, struct weft_rand *r)
{
	const struct weft_topo *t = s->topo;

	s->node = sim_alloc(s, t->n_nodes * sizeof(*s->node));
	s->ingress.port = sim_alloc(s, t->n_ports * sizeof(*s->ingress.port));
	s->ingress.drops = sim_alloc(s, t->n_ports * sizeof(*s->ingress.drops));
	for (uint16_t i = 0; i < t->n_ports; i++)
		s->ingress.port[i].spid = weft_topo_port_spid(t, i);
	for (uint16_t i = 0; i < t->n_nodes; i++) {
		struct sim_node *n = &s->node[i];
		const int64_t ppm = (int64_t)weft_rand_below(r, 2 * (uint64_t)s->sc.skew_ppm + 1) -
		                    s->sc.skew_ppm;

		n->sim = s;
		n->index = i;
		n->pid = t->node[i].pid;
		n->kind = t->node[i].kind;
		n->first_link_dir = t->node[i].first_port;
		n->n_ports = t->node[i].n_ports;
		n->wait_end = &n->wait;
		n->clock.local_ns = 1 + weft_rand_below(r, UINT64_C(1) << 40);
		n->clock.rate = (int32_t)((ppm << 20) / 1000000);
		s->by_pid[n->pid] = n;
		if (n->kind == WEFT_TOPO_GFD)
			node_draw_generation(n);
		n->node.cfg = (struct weft_node_cfg){
			.world = &sim_world,
			.world_arg = n,
			.topo = t,
			.load = s->load,
			.index = i,
			.tables = &n->tables,
			.ingress = &s->ingress.port[n->first_link_dir],
			.ingress_drops = &s->ingress.drops[n->first_link_dir],
			.atc = s->opt->atc,
			.sig = s->opt->sig,
			.watch = &sim_watch,
			.rules = &s->sc.rules,
		};
	}
}

static void
build_fail(const struct sim *s, const char *what, const struct sim_node *n, int rc)
{
	cli_fail("seed %llu: %s of node %u: %s", (unsigned long long)s->seed, what, n->pid,
		strerror(-rc));
}

static void
build_node_tables(struct sim *s, struct sim_node *n)
{
	struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS];
	const struct weft_tables_cfg cfg = weft_node_tables_cfg(&n->node.cfg, edge);
	struct weft_tables *t = sim_alloc(s, weft_tables_size(&cfg));
	const int rc = weft_tables_init(t, &cfg);
	char err[256];

	if (rc != 0)
		build_fail(s, "tables", n, rc);
	if (weft_node_set_tables(t, &n->node.cfg, s->topo, err, sizeof(err)) != 0)
		cli_fail("seed %llu: %s", (unsigned long long)s->seed, err);
	weft_tables_publish(&n->tables, t);
	if (n->kind == WEFT_TOPO_SWITCH)
		n->way = weft_tables_route(t, 0)->first;
}

static void
build_access(struct sim *s, struct sim_node *n)
{
	char err[256];

	if (!weft_node_has_access(&n->node.cfg))
		return;
	if (weft_node_make_access(&n->node.cfg, s->topo, NULL, &n->access, err, sizeof(err)) != 0)
		cli_fail("seed %llu: %s", (unsigned long long)s->seed, err);
	weft_gfam_publish(&n->access_now, n->access);
	n->log = sim_alloc(s, sizeof(*n->log));
	weft_gfam_log_init(n->log);
	n->guard = (struct weft_gfam_checker){ .tables = &n->access_now, .log = n->log };
	n->node.cfg.guard = &n->guard;
}

/* Where all memory is open to all, hosts decode alike, and a GFD's table is not looked at. */
static void
build_tables(struct sim *s)
{
	const struct sim_node *first = NULL;

	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		struct sim_node *n = &s->node[i];
		const bool is_alike = s->topo->map.is_default && n->kind != WEFT_TOPO_SWITCH;

		if (is_alike && first != NULL)
			n->tables = first->tables;
		else
			build_node_tables(s, n);
		if (n->kind == WEFT_TOPO_HOST && is_alike)
			first = n;
		build_access(s, n);
	}
}

static void
build_start(struct sim *s)
{
	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		struct sim_node *n = &s->node[i];

		node_start(n);
		n->is_source = !weft_node_is_done(&n->node);
		n->has_services =
			n->is_source && (n->host.requester == NULL || !s->topo->map.is_default ||
						n->node.load->n_transfers != 0);
		n->has_services |= n->node.topo->n_translations != 0;
		s->progress.n_sources += n->is_source;
	}
}

/* --- links --- */

static void
build_impair_link_dir(struct sim *s, struct sim_link_dir *w, struct weft_rand *r)
{
	struct weft_impair_cfg c = s->sc.impair;

	c.seed ^= weft_rand_u64(r);
	w->impair = sim_alloc(s, sizeof(*w->impair));
	if (weft_impair_init(w->impair, &c) != 0)
		cli_fail("seed %llu: injectors out of range", (unsigned long long)s->seed);
	if (c.replay != 0)
		w->history = sim_alloc(s, (c.history + 1) * sizeof(struct sim_frame *));
}

static void
build_link_dirs(struct sim *s, struct weft_rand *r)
{
	const struct weft_topo *t = s->topo;
	uint32_t weights = 0;

	s->link_dir = sim_alloc(s, t->n_ports * sizeof(*s->link_dir));
	for (uint16_t i = 0; i < t->n_ports; i++) {
		const uint16_t peer = t->port[i].peer;

		s->link_dir[i].to = t->port[peer].node;
		s->link_dir[i].ingress = s->ingress.port[peer];
		s->link_dir[i].to_port = (uint16_t)(peer - t->node[s->link_dir[i].to].first_port);
	}
	for (unsigned int i = 0; i < 4; i++)
		weights += s->sc.link_weight[i];
	for (uint16_t i = 0; i < t->n_links && s->sc.has_impair; i++) {
		uint64_t at = weft_rand_below(r, weights);
		unsigned int bad = 0; /* bit 0: one way, bit 1: the other */

		while (at >= s->sc.link_weight[bad])
			at -= s->sc.link_weight[bad++];
		if ((bad & 1) != 0)
			build_impair_link_dir(s, &s->link_dir[t->link[i].a], r);
		if ((bad & 2) != 0)
			build_impair_link_dir(s, &s->link_dir[t->link[i].b], r);
	}
}

/* --- all of it --- */

/* What mode and form say of links, where a file does not. */
static void
build_forms(struct sim *s, uint8_t edge_form)
{
	struct weft_topo *t = s->topo;

	t->mode = s->sc.mode;
	for (uint16_t i = 0; i < t->n_ports; i++) {
		const uint8_t a = t->node[t->port[i].node].kind;
		const uint8_t b = t->node[t->neighbour[i]].kind;
		const bool at_edge = (a == WEFT_TOPO_HOST && b == WEFT_TOPO_SWITCH) ||
		                     (a == WEFT_TOPO_SWITCH && b == WEFT_TOPO_HOST);

		t->port[i].form = t->mode == WEFT_MODE_CXL && at_edge ? edge_form : WEFT_FORM_PBR;
	}
}

static bool
build_has_load(const struct weft_load *l)
{
	for (uint16_t i = 0; i < l->n_nodes; i++)
		if (l->node[i].has_mem || l->node[i].has_uio || l->node[i].n_transfers != 0)
			return true;
	return false;
}

static int
build_open(struct sim *s, const struct weft_load_files *files, char *err, size_t err_len)
{
	const struct sim_opt *o = s->opt;
	struct weft_topo_error why;

	if (weft_load_open(&s->topo, &s->load, files, &why) != 0)
		return weft_errorf(err, err_len, -1, "%s", why.text);
	if (!build_has_load(s->load))
		return weft_errorf(
			err, err_len, -1, "%s: expected a workload, got none", o->topology);
	if (!weft_node_runs(s->topo) || !weft_node_runs_transfers(s->topo, s->load))
		return weft_errorf(err, err_len, -1,
			"%s: expected no HBR switches or bindings, and transfers only where "
			"segments are each all memory of a GFD",
			o->topology);
	if (o->mode < 0 && s->topo->mode == WEFT_MODE_CXL && bad_wire_needs_rxl(o))
		return weft_errorf(err, err_len, -1,
			"--impair: drop, dup, reorder, replay and delay need rxl, but %s "
			"says mode: cxl; give --mode rxl",
			o->topology);
	if (o->mode >= 0 && o->mode != s->topo->mode && !s->topo->map.is_default)
		return weft_errorf(err, err_len, -1,
			"--mode: expected that of %s, which has more than hosts, GFDs and load by "
			"CXL.mem",
			o->topology);
	return 0;
}

/* Of a file with more than hosts that all may reach all memory. */
static void
build_leave_out(struct sim *s)
{
	/* Who may not reach a line expects the answer of the port, and that alone. */
	s->sc.poison_one_in = 0;
}

static int
build_topology(struct sim *s, char *err, size_t err_len)
{
	const struct sim_opt *o = s->opt;
	struct weft_load_files files = { .topology = o->topology };
	char *text = drawn_text(o, s->seed, &files.len);
	int rc = 0;

	if (text != NULL) {
		files.topology = "drawn";
		files.yaml = text;
	}
	if (files.topology != NULL)
		rc = build_open(s, &files, err, err_len);
	free(text);
	if (rc != 0)
		return -1;
	scenario_draw(&s->sc, o, s->seed, s->topo);
	s->is_drawn = s->topo == NULL;
	if (!s->is_drawn && !s->topo->map.is_default) {
		build_leave_out(s);
		forge_uio_draw(s);
		if (update_open(s, err, err_len) != 0)
			return -1;
	}
	if (!s->is_drawn)
		programs_choose(s);
	if (s->is_drawn)
		s->topo = fabric_make(s->sc.fabric, s->sc.mode, 65535, err, err_len);
	if (s->topo == NULL)
		return -1;
	if (s->is_drawn)
		build_forms(s, s->sc.form);
	else if (s->topo->mode != s->sc.mode)
		build_forms(s, WEFT_FORM_HBR);
	return 0;
}

int
sim_build(struct sim *s, const struct sim_opt *opt, uint64_t seed, char *err, size_t err_len)
{
	struct weft_rand r;

	memset(s, 0, sizeof(*s));
	s->opt = opt;
	s->seed = seed;
	weft_rand_seed(&r, seed ^ UINT64_C(0x5eed));
	weft_rand_seed(&s->rand.node, weft_rand_u64(&r));
	weft_rand_seed(&s->faults.rand, weft_rand_u64(&r));
	weft_rand_seed(&s->rand.memory, seed ^ UINT64_C(0x6E4));
	if (build_topology(s, err, err_len) != 0)
		return -1;
	scale_faults(s);
	s->frames.room = (uint32_t)WEFT_WIRE_FRAME_LEN(s->sc.max_flits);
	if (s->frames.room < WEFT_WIRE_FLITS_OFF + WEFT_CONTROL_MAX)
		s->frames.room = WEFT_WIRE_FLITS_OFF + WEFT_CONTROL_MAX;
	s->frames.small = (uint32_t)WEFT_WIRE_FRAME_LEN(1);
	load_make(s);
	build_nodes(s, &r);
	if (s->sc.has_impair)
		bad_wire_read_back(&s->sc.impair);
	build_link_dirs(s, &r);
	replay_make(s);
	build_tables(s);
	update_make(s);
	programs_draw(s);
	load_plan(s, &r);
	build_ends(s);
	equal_make(s);
	build_start(s);
	programs_make(s);
	return 0;
}

void
sim_free(struct sim *s)
{
	programs_free(s);
	monitor_free(s);
	update_free(s);
	arena_free(&s->memory.arena);
	heap_free(&s->heap);
	weft_topo_free(s->topo);
	if (!s->is_drawn)
		weft_load_free(s->load);
}
