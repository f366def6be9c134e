/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Makes a fabric from a topology and a scenario: nodes, links, and an end on both sides of every
 * connection that is to carry traffic. Connections stand only where a host talks to a GFD.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fabric.h"
#include "ide.h"
#include "replay.h"

#define FILE_PEERS_MAX 64 /* GFDs that a host of a topology file talks to */

static void *
sim_alloc(struct sim *s, size_t len)
{
	return arena_alloc(&s->arena, len);
}

static void
build_end_cfg(const struct sim_end *e, struct weft_link_cfg *c)
{
	const struct scenario *sc = &e->node->sim->sc;
	const bool links = sc->mode == WEFT_MODE_CXL;
	const bool takes_answers = links || e->node->kind == WEFT_TOPO_HOST;
	const bool takes_requests = links || e->node->kind == WEFT_TOPO_GFD;

	*c = (struct weft_link_cfg){
		.session = sc->session,
		.llr = sc->llr,
		.form = e->form,
		.max_flits = e->max_flits,
	};
	c->session.is_initiator = e->is_initiator;
	c->session.params.max_flits = e->max_flits;
	c->session.params.memory = e->node->gfd.generation;
	if (e->ide != NULL) {
		c->ide = &e->ide->end;
		c->session.keys = &e->ide->session;
	}
	c->room[WEFT_MSG_S2M_NDR] = takes_answers ? sc->room : 0;
	c->room[WEFT_MSG_S2M_DRS] = takes_answers ? sc->room : 0;
	c->room[WEFT_MSG_M2S_REQ] = takes_requests ? sc->room : 0;
	c->room[WEFT_MSG_M2S_RWD] = takes_requests ? sc->room : 0;
}

void
end_start(struct sim_end *e)
{
	struct weft_link_cfg c;

	build_end_cfg(e, &c);
	e->end = weft_link_init(e->end, &c, sim_node_now(e->node));
	if (e->end == NULL)
		cli_fail("seed %llu: no end can be made of its parameters",
			(unsigned long long)e->node->sim->seed);
	e->timer_ns = SIM_NEVER;
	ide_end_start(e);
	replay_end_start(e);
}

/* Flits of a frame, no more than a file's links take. */
static uint8_t
build_flits_of(const struct sim *s, const struct sim_end *e, const struct sim_node *peer)
{
	const struct weft_topo *t = s->topo;
	unsigned int fits = s->sc.max_flits;

	if (s->opt->topology != NULL && s->sc.mode == WEFT_MODE_RXL)
		fits = weft_topo_path_flits(t, e->node->index, peer->index);
	else if (s->opt->topology != NULL)
		fits = weft_topo_port_flits(t, e->link_dir);
	return fits < s->sc.max_flits ? (uint8_t)fits : s->sc.max_flits;
}

static void
build_end(struct sim *s, struct sim_end *e, struct sim_node *n, struct sim_node *peer,
	struct sim_end *other, uint32_t link_dir)
{
	const enum weft_isn_form form = (enum weft_isn_form)s->sc.llr.isn;
	struct weft_link_cfg c;

	e->node = n;
	e->peer = other;
	e->peer_pid = peer->pid;
	e->link_dir = link_dir;
	e->max_flits = build_flits_of(s, e, peer);
	e->form = (uint8_t)form_of(s, link_dir);
	e->is_initiator = e < other;
	weft_isn_init(&e->isn, form, (enum weft_crc_order)s->sc.crc_order, n->pid, peer->pid, 0, 0);
	e->address_in = form == WEFT_ISN_PSEUDO ? weft_isn_address(peer->pid, n->pid, 0) : 0;
	ide_end_make(e);
	replay_end_make(e);
	build_end_cfg(e, &c);
	if (weft_link_size(&c) == 0)
		cli_fail("seed %llu: parameters out of range", (unsigned long long)s->seed);
	e->end = sim_alloc(s, weft_link_size(&c));
	for (unsigned int i = 0; i < ORDER_LIVES; i++)
		e->order.life[i].hash = sim_alloc(s, ORDER_KINDS * s->sc.room * sizeof(uint64_t));
	end_start(e);
}

static void
build_index_end(struct sim_node *n, uint32_t at)
{
	uint32_t i = n->end[at].peer_pid;

	while (n->slot[i & n->slot_mask] != UINT16_MAX)
		i++;
	n->slot[i & n->slot_mask] = (uint16_t)at;
}

static void
build_give_ends(struct sim *s, struct sim_node *n, uint32_t n_ends)
{
	uint32_t slots = 1;

	while (slots < 2 * n_ends + 1)
		slots *= 2;
	n->slot = sim_alloc(s, slots * sizeof(*n->slot));
	memset(n->slot, 0xff, slots * sizeof(*n->slot));
	n->slot_mask = slots - 1;
	n->end = &s->end[s->n_ends];
	s->n_ends += n_ends;
}

/* --- who talks to whom --- */

struct plan {
	uint16_t *gfd; /* indexes into topo->gfd, sc.peers for each host */
	uint32_t *n_of_host;
	uint32_t *n_of_gfd;
};

static void
build_plan_host(struct sim *s, struct plan *p, uint16_t host, uint32_t want, struct weft_rand *r)
{
	uint16_t *mine = &p->gfd[(size_t)host * want];
	const uint32_t n_gfds = s->topo->n_gfds;
	uint32_t at = (uint32_t)weft_rand_below(r, n_gfds);

	/* Neighbours in a stride that meets every GFD before one twice. */
	for (uint32_t i = 0; i < want; i++) {
		mine[i] = (uint16_t)((at + i) % n_gfds);
		p->n_of_gfd[mine[i]]++;
	}
	p->n_of_host[host] = want;
}

static void
build_scale_sessions(struct sim *s, const struct plan *p, uint32_t want)
{
	uint32_t *load = sim_alloc(s, s->topo->n_ports * sizeof(*load));

	for (uint16_t h = 0; h < s->topo->n_hosts; h++)
		for (uint32_t i = 0; i < p->n_of_host[h]; i++)
			scale_count(s, load, &s->node[s->topo->host[h]],
				&s->node[s->topo->gfd[p->gfd[(size_t)h * want + i]]]);
	scale_links(s, load);
}

static void
build_connect(
	struct sim *s, struct sim_node *h, struct sim_node *g, struct sim_target *t, uint32_t at)
{
	struct sim_end *he = &h->end[at], *ge = &g->end[g->n_ends];

	h->n_ends++;
	g->n_ends++;
	build_end(s, he, h, g, ge, h->first_link_dir);
	build_end(s, ge, g, h, he, g->first_link_dir);
	build_index_end(h, (uint32_t)(he - h->end));
	build_index_end(g, (uint32_t)(ge - g->end));
	t->end = he;
}

static void
build_host(struct sim *s, struct sim_node *n, const struct weft_topo_node *tn, struct weft_rand *r)
{
	const struct scenario *sc = &s->sc;
	struct sim_host *h = &n->host;
	struct weft_traffic_target *target = calloc(h->n_targets, sizeof(*target));
	struct weft_requester_cfg hc = {
		.timeout_ns = UINT64_MAX / 4, /* a request ends by its answer or its session */
		.id = n->end[0].form == WEFT_FORM_HBR ? 0 : n->pid, /* HBR form has no ids */
	};
	struct weft_traffic_cfg tc = {
		.seed = weft_rand_u64(r),
		.requests = UINT64_MAX,
		.targets = target,
		.n_targets = h->n_targets,
		.lines = h->lines,
		.outstanding = sc->outstanding,
		.writer = tn->order,
		.unit_lines = 1,
		.request_lines = 1,
		.write_percent = sc->write_percent,
	};

	if (target == NULL)
		cli_fail("out of memory");
	if (s->opt->topology != NULL) {
		const struct weft_load_mem *mem = &s->load->node[n->index].mem;

		tc.outstanding = mem->outstanding;
		tc.rate = mem->rate;
		tc.write_percent = mem->write_percent;
		tc.requests = mem->requests == 0 ? UINT64_MAX : mem->requests;
	}
	for (h->tags = 1; h->tags < tc.outstanding;)
		h->tags *= 2;
	hc.tags = h->tags;
	for (uint32_t i = 0; i < h->n_targets; i++)
		target[i] = (struct weft_traffic_target){ .hpa_base = h->target[i].hpa_base,
			.len_bytes = (uint64_t)h->lines * WEFT_MSG_DATA_LEN,
			.dpid = h->target[i].dpid };
	h->line_of_tag = sim_alloc(s, h->tags * sizeof(*h->line_of_tag));
	h->host = weft_requester_init(sim_alloc(s, weft_requester_size(&hc)), &hc);
	h->traffic = weft_traffic_init(sim_alloc(s, weft_traffic_size(&tc)), &tc, h->host);
	free(target);
	if (h->host == NULL || h->traffic == NULL)
		cli_fail("host %u: no traffic can be made of its parameters", n->pid);
	s->n_sources++;
}

/* Each host has its lines at each of its GFDs, one host's behind the other's. */
static void
build_connect_host(struct sim *s, const struct plan *p, uint16_t host, uint32_t want,
	uint64_t *used, struct weft_rand *r)
{
	struct sim_node *n = &s->node[s->topo->host[host]];
	const struct weft_topo_node *tn = &s->topo->node[n->index];
	static const uint8_t zero[WEFT_MSG_DATA_LEN];

	n->host.lines = s->opt->topology == NULL ? s->sc.lines
	                                         : (uint32_t)s->load->node[n->index].mem.lines;
	n->host.n_targets = p->n_of_host[host];
	n->host.target = sim_alloc(s, (n->host.n_targets + 1) * sizeof(*n->host.target));
	for (uint32_t i = 0; i < n->host.n_targets; i++) {
		struct sim_target *t = &n->host.target[i];
		const uint16_t g = p->gfd[(size_t)host * want + i];
		struct sim_node *gfd = &s->node[s->topo->gfd[g]];

		t->dpid = gfd->pid;
		t->hpa_base = weft_topo_hpa(s->topo, g) + used[g];
		used[g] += (uint64_t)n->host.lines * WEFT_MSG_DATA_LEN;
		t->shadow = sim_alloc(s, n->host.lines * sizeof(*t->shadow));
		for (uint32_t l = 0; l < n->host.lines; l++)
			oracle_line_init(&t->shadow[l], zero);
		if (s->sc.mode == WEFT_MODE_RXL)
			build_connect(s, n, gfd, t, i);
		else
			t->end = n->end;
	}
	if (n->host.n_targets > 0)
		build_host(s, n, tn, r);
}

static void
build_gfd(struct sim *s, uint16_t g, uint64_t len)
{
	struct sim_node *n = &s->node[s->topo->gfd[g]];

	if (len == 0)
		return;
	if (weft_gfd_init(&n->gfd.gfd, n->pid, weft_topo_hpa(s->topo, g), sim_alloc(s, len), len,
		    sim_alloc(s, weft_gfd_poison_size(len))) != 0)
		cli_fail("gfd %u: no memory can be made of %llu bytes", n->pid,
			(unsigned long long)len);
}

/* cxl: both ends of every link, in the order of the ports. */
static void
build_link_ends(struct sim *s)
{
	const struct weft_topo *t = s->topo;

	s->n_ends = t->n_ports;
	s->end = sim_alloc(s, t->n_ports * sizeof(*s->end));
	for (uint16_t i = 0; i < t->n_nodes; i++) {
		s->node[i].end = &s->end[t->node[i].first_port];
		s->node[i].n_ends = t->node[i].n_ports;
	}
	for (uint16_t i = 0; i < t->n_ports; i++)
		build_end(s, &s->end[i], &s->node[t->port[i].node],
			&s->node[t->port[t->port[i].peer].node], &s->end[t->port[i].peer], i);
}

static void
build_ends(struct sim *s, struct weft_rand *r)
{
	const struct weft_topo *t = s->topo;
	const uint32_t most = s->opt->topology == NULL ? s->sc.peers : FILE_PEERS_MAX;
	const uint32_t want = most < t->n_gfds ? most : t->n_gfds;
	uint64_t *used = sim_alloc(s, t->n_gfds * sizeof(*used));
	struct plan p = {
		.gfd = sim_alloc(s, (size_t)t->n_hosts * want * sizeof(*p.gfd)),
		.n_of_host = sim_alloc(s, t->n_hosts * sizeof(uint32_t)),
		.n_of_gfd = sim_alloc(s, t->n_gfds * sizeof(uint32_t)),
	};

	for (uint16_t h = 0; h < t->n_hosts; h++)
		if (s->opt->topology == NULL || s->load->node[t->host[h]].has_mem)
			build_plan_host(s, &p, h, want, r);
	if (s->sc.mode == WEFT_MODE_RXL) {
		build_scale_sessions(s, &p, want);
		s->end = sim_alloc(s, 2 * (size_t)t->n_hosts * want * sizeof(*s->end));
		for (uint16_t h = 0; h < t->n_hosts; h++)
			build_give_ends(s, &s->node[t->host[h]], p.n_of_host[h]);
		for (uint16_t g = 0; g < t->n_gfds; g++)
			build_give_ends(s, &s->node[t->gfd[g]], p.n_of_gfd[g]);
	} else {
		build_link_ends(s);
	}
	for (uint16_t h = 0; h < t->n_hosts; h++)
		build_connect_host(s, &p, h, want, used, r);
	for (uint16_t g = 0; g < t->n_gfds; g++)
		build_gfd(s, g, used[g]);
}

/* --- nodes, links, routes --- */

static void
build_nodes(struct sim *s, struct weft_rand *r)
{
	const struct weft_topo *t = s->topo;

	s->node = sim_alloc(s, t->n_nodes * sizeof(*s->node));
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
		if (n->kind == WEFT_TOPO_SWITCH)
			n->drt = sim_alloc(s, sizeof(*n->drt));
		if (n->kind == WEFT_TOPO_GFD)
			gfd_draw_generation(n);
	}
}

static void
build_routes(struct sim *s)
{
	const struct weft_topo *t = s->topo;
	int16_t *port = sim_alloc(s, t->n_nodes * sizeof(*port));

	for (uint16_t to = 0; to < t->n_nodes; to++) {
		if (t->node[to].kind == WEFT_TOPO_SWITCH)
			continue;
		weft_topo_routes_to(t, to, port);
		for (uint16_t i = 0; i < t->n_nodes; i++)
			if (s->node[i].drt != NULL)
				weft_drt_set(s->node[i].drt, t->node[to].pid, port[i]);
	}
}

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

/* The one SPID that may come in from port @from; any from a switch, which sends for others. */
static uint16_t
build_ingress(const struct weft_topo *t, uint16_t from)
{
	const struct weft_topo_node *n = &t->node[t->port[from].node];

	return n->kind == WEFT_TOPO_SWITCH ? WEFT_SPID_ANY : n->pid;
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
		s->link_dir[i].ingress.spid = build_ingress(t, i);
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

static bool
build_has_traffic(const struct weft_load *l)
{
	for (uint16_t i = 0; i < l->n_nodes; i++)
		if (l->node[i].has_mem)
			return true;
	return false;
}

int
sim_build(struct sim *s, const struct sim_opt *opt, uint64_t seed, char *err, size_t err_len)
{
	struct weft_rand r;

	memset(s, 0, sizeof(*s));
	s->opt = opt;
	s->seed = seed;
	weft_rand_seed(&r, seed ^ UINT64_C(0x5eed));
	weft_rand_seed(&s->rand, weft_rand_u64(&r));
	weft_rand_seed(&s->fault_rand, weft_rand_u64(&r));
	weft_rand_seed(&s->memory_rand, seed ^ UINT64_C(0x6E4));
	if (opt->topology != NULL) {
		const struct weft_load_files files = { .topology = opt->topology };
		struct weft_topo_error why;

		if (weft_load_open(&s->topo, &s->load, &files, &why) != 0) {
			snprintf(err, err_len, "%s", why.text);
			return -1;
		}
		if (!s->topo->is_default_map) {
			snprintf(err, err_len,
				"%s: expected no devices, HBR switches, bindings, segments, "
				"groups, "
				"access or translations, which are not simulated",
				opt->topology);
			return -1;
		}
		if (!build_has_traffic(s->load)) {
			snprintf(err, err_len, "%s: expected a workload of kind mem, got %s",
				opt->topology,
				s->load->n_transfers != 0
					? "transfers only, which are not simulated"
					: "none");
			return -1;
		}
		if (opt->mode < 0 && s->topo->mode == WEFT_MODE_CXL && bad_wire_needs_rxl(opt)) {
			snprintf(err, err_len,
				"--impair: drop, dup, reorder, replay and delay need rxl, but %s "
				"says mode: cxl; give --mode rxl",
				opt->topology);
			return -1;
		}
	}
	scenario_draw(&s->sc, opt, seed, s->topo);
	if (s->topo == NULL) {
		s->topo = fabric_make(s->sc.fabric, s->sc.mode, 65535, err, err_len);
		if (s->topo == NULL)
			return -1;
	}
	scale_faults(s);
	s->frame_room = (uint32_t)WEFT_WIRE_FRAME_LEN(s->sc.max_flits);
	if (s->frame_room < WEFT_WIRE_FLITS_OFF + WEFT_CONTROL_MAX)
		s->frame_room = WEFT_WIRE_FLITS_OFF + WEFT_CONTROL_MAX;
	s->frame_small = (uint32_t)WEFT_WIRE_FRAME_LEN(1);
	build_nodes(s, &r);
	build_link_dirs(s, &r);
	replay_make(s);
	build_routes(s);
	form_build(s);
	build_ends(s, &r);
	return 0;
}

void
sim_free(struct sim *s)
{
	monitor_free(s);
	arena_free(&s->arena);
	heap_free(&s->heap);
	weft_topo_free(s->topo);
	weft_load_free(s->load);
}
