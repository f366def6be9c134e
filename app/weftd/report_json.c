/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the nodes counted, as JSON. */

#include "report.h"
#include "captures.h"
#include "cci.h"
#include "conn.h"
#include "duplicate.h"
#include "ide.h"
#include "ingress.h"
#include "segments.h"
#include "transfer.h"
#include "watch.h"

#include "event.h"
#include "inject.h"
#include "json.h"

#include <inttypes.h>
#include <stdio.h>

#include <jansson.h>

static void
json_put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

json_t *
report_counters(const struct weft_counter *rows, const uint64_t *values, unsigned int n)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < n; i++)
		json_put(o, rows[i].name, values[i]);
	return o;
}

static json_t *
json_drops(const struct node *n)
{
	json_t *o = json_object();

	for (unsigned int v = WEFT_OK + 1; v < WEFT_VERDICT_COUNT; v++) {
		uint64_t sum = report_drops(n, (enum weft_verdict)v);

		if (sum != 0)
			json_put(o, weft_verdict_name((enum weft_verdict)v), sum);
	}
	return o;
}

static void
json_add_stages(json_t *list, const struct weft_pipe *p)
{
	for (unsigned int i = 0; p != NULL && i < weft_pipe_n_stages(p); i++) {
		const struct weft_stage *s = weft_pipe_stage(p, i);
		struct weft_stage_stats st;
		json_t *o;

		if (!weft_pipe_sum(p, i, &st))
			continue;
		o = report_counters(s->counters, st.counts, s->n_counters);
		json_object_set_new(o, "stage", json_string(s->name));
		json_put(o, "bursts", st.bursts);
		json_put(o, "frames", st.frames);
		json_put(o, "flits", st.flits);
		json_put(o, "cycles", st.cycles);
		json_array_append_new(list, o);
	}
}

/* WEFT_NODE_EDGE_REASONS counts of requests that an edge port answered, by why: those above 0. */
static json_t *
json_stopped(const uint64_t *stopped)
{
	json_t *o = json_object();

	for (unsigned int r = WEFT_EDGE_OK + 1; r < WEFT_NODE_EDGE_REASONS; r++)
		if (stopped[r] != 0)
			json_put(o, weft_edge_reason_word((enum weft_edge_reason)r), stopped[r]);
	return o;
}

/* What a port of HBR form did, or null. */
static json_t *
json_edge(const struct node *n, unsigned int port)
{
	const struct weft_node_edge *e = port < n->node->n_links ? n->node->link[port].edge : NULL;
	json_t *o;

	if (e == NULL)
		return json_null();
	o = json_object();
	json_object_set_new(o, "peer", json_string(weft_node_link_name(&n->node->link[port])));
	json_object_set_new(o, "stopped", json_stopped(e->stopped));
	json_object_set_new(o, "uio",
		report_counters(weft_node_edge_counters, e->count, WEFT_NODE_EDGE_N_COUNTERS));
	json_object_set_new(o, "uio_stopped", json_stopped(e->uio_stopped));
	return o;
}

static json_t *
json_ports(const struct node *n, double seconds)
{
	json_t *list = json_array();

	for (uint16_t p = 0; p < n->n_ports; p++) {
		struct weft_port_stats st;
		struct rate rate = { 0 };
		json_t *o;

		weft_port_stats(n->port[p], &st);
		o = report_counters(weft_port_counters, (const uint64_t *)&st, WEFT_PORT_COUNTERS);
		json_object_set_new(o, "port", json_string(weft_port_name(n->port[p])));
		json_object_set_new(o, "ingress", ingress_json(n, p));
		json_object_set_new(o, "edge", json_edge(n, p));
		json_object_set_new(o, "form",
			json_string(weft_form_words[n->daemon->topo->port[n->topo->first_port + p]
							    .form]));
		json_object_set_new(o, "announcements", duplicates_json(n, p));
		rate_add(n, p, seconds, &rate);
		json_object_set_new(o, "mflits", rate_json(&rate));
		json_object_set_new(o, "state", link_watch_json(n, p));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
json_messages(const struct node *n)
{
	json_t *o = json_object();

	for (unsigned int k = 0; k < WEFT_MSG_KINDS; k++)
		if (n->node->messages[k] != 0)
			json_put(
				o, weft_msg_kind_name((enum weft_msg_kind)k), n->node->messages[k]);
	return o;
}

/* The object of a part of a node's report, made if it is not there yet. */
static json_t *
json_part(json_t *o, const char *part)
{
	json_t *p = part == NULL ? o : json_object_get(o, part);

	if (p != NULL)
		return p;
	p = json_object();
	json_object_set_new(o, part, p);
	return p;
}

static void
json_sets(const struct node *n, json_t *o)
{
	struct weft_node_set set[WEFT_NODE_SETS];
	const unsigned int sets = weft_node_counters(n->node, set);

	for (unsigned int i = 0; i < sets; i++)
		json_object_set_new(json_part(o, set[i].part), set[i].name,
			report_counters(set[i].rows, set[i].values, set[i].n));
}

static json_t *
json_latency(const struct weft_latency *l)
{
	return json_pack("{s:I, s:I, s:I}", "p50", (json_int_t)weft_latency_quantile(l, 5000),
		"p99", (json_int_t)weft_latency_quantile(l, 9900), "max", (json_int_t)l->max_ns);
}

/* What a node sends by one protocol. */
static void
json_requests(const struct weft_node_requests *r, json_t *o)
{
	if (r->requester == NULL)
		return;
	json_put(o, "outstanding", weft_requester_outstanding(r->requester));
	json_put(o, "done", r->is_done);
	json_object_set_new(o, "latency_ns", json_latency(weft_requester_latency(r->requester)));
}

static void
json_host(const struct node *n, json_t *o)
{
	struct weft_node_requests r;

	if (!weft_node_mem(n->node, &r))
		return;
	if (weft_node_transfers(n->node) != NULL)
		json_object_set_new(o, "transfers", transfers_json(n));
	json_object_set_new(o, "edge", json_stopped(r.stopped));
	json_requests(&r, o);
	json_put(json_object_get(o, "latency_ns"), "p99_9",
		weft_latency_quantile(weft_requester_latency(r.requester), 9990));
}

static void
json_services(const struct node *n, json_t *o)
{
	struct weft_node_requests r;
	uint64_t waiting, moving, holding;

	if (weft_node_ats(n->node, &waiting, &moving, &holding)) {
		json_t *ats = json_part(o, "ats");

		json_put(ats, "waiting", waiting);
		json_put(ats, "moving", moving);
		json_put(ats, "holding", holding);
	}
	if (weft_node_uio(n->node, &r)) {
		json_requests(&r, json_part(o, "uio"));
		json_object_set_new(json_part(o, "uio"), "stopped", json_stopped(r.stopped));
	}
}

/* A text: numbers of JSON end at 2^63 here, and at 2^53 for some readers. */
static void
json_put_generation(json_t *o, uint64_t generation)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, generation);
	json_object_set_new(o, "memory_generation", json_string(text));
}

/*
 * Every connection of a host or GFD, or every link in cxl mode: what its session, retry layer and
 * end counted.
 */
static json_t *
json_connections(const struct node *n)
{
	json_t *list = json_array();

	for (uint16_t i = 0; i < n->node->n_links; i++) {
		const struct conn *c = &n->conn[i];
		const struct weft_llr *l = weft_link_llr(c->link->end);
		uint64_t retry[WEFT_LLR_N_COUNTERS] = { 0 };
		uint64_t end[WEFT_LINK_N_COUNTERS] = { 0 };
		json_t *o = json_object();

		json_object_set_new(
			o, "peer", json_string(n->daemon->topo->node[c->link->topo_node].name));
		json_put(o, "pid", c->link->pid);
		json_object_set_new(o, "state", json_string(session_word(c)));
		json_object_set_new(o, "since", json_real(c->watch.since));
		json_object_set_new(
			o, "last_event", event_last_json(n->topo->name, conn_peer_name(c)));
		json_object_set_new(o, "ide", json_string(ide_state(c)));
		json_put(o, "rx_lcore", segments_rx_lcore(n, c->link->pid));
		json_put(o, "memory_replaced", c->link->memory.replaced);
		if (c->link->memory.generation != 0)
			json_put_generation(o, c->link->memory.generation);
		weft_llr_counts_add(l, retry);
		weft_link_counts_add(c->link->end, end);
		json_put(o, "unacked", weft_llr_unacked(l));
		json_put(o, "round_trip_ns", weft_llr_rtt(l)->mean_ns);
		json_object_set_new(o, "session",
			report_counters(weft_session_counters,
				weft_link_session(c->link->end)->count, WEFT_SESSION_N_COUNTERS));
		json_object_set_new(
			o, "retry", report_counters(weft_llr_counters, retry, WEFT_LLR_N_COUNTERS));
		json_object_set_new(
			o, "end", report_counters(weft_link_counters, end, WEFT_LINK_N_COUNTERS));
		json_array_append_new(list, o);
	}
	return list;
}

static void
json_failed(json_t *o, const uint64_t *failed, uint64_t read_only)
{
	json_put(o, "decode", failed[WEFT_GFAM_T_DECODE]);
	json_put(o, "group", failed[WEFT_GFAM_T_GROUP]);
	json_put(o, "sat", failed[WEFT_GFAM_T_SAT]);
	json_put(o, "read_only", read_only);
}

/* What the tables of a node refused, in all and to each host and device. */
static json_t *
json_access(const struct node *n)
{
	const struct weft_topo *t = n->daemon->topo;
	json_t *o = json_object(), *hosts = json_array();

	json_failed(o, n->rights.log->failed, n->rights.log->read_only);
	for (uint16_t h = 0; h < t->n_nodes; h++) {
		const struct weft_topo_node *host = &t->node[h];
		const struct weft_gfam_counts *c = &n->rights.log->rpid[host->pid];
		json_t *one;

		if (host->kind != WEFT_TOPO_HOST && host->kind != WEFT_TOPO_DEVICE)
			continue;
		one = json_object();

		json_object_set_new(one, "host", json_string(host->name));
		json_put(one, "spid", host->pid);
		json_failed(one, c->failed, c->read_only);
		json_array_append_new(hosts, one);
	}
	json_object_set_new(o, "hosts", hosts);
	return o;
}

static json_t *
json_node(const struct node *n, double seconds)
{
	json_t *o = json_object(), *stages = json_array();
	struct rate rate;

	json_object_set_new(o, "name", json_string(n->topo->name));
	json_object_set_new(o, "kind", json_string(weft_topo_kind_words[n->topo->kind]));
	json_put(o, "pid", n->topo->pid);
	json_put(o, "lcore", n->lcore);
	if (n->node->generation != 0)
		json_put_generation(o, n->node->generation);
	rate_node(n, seconds, &rate);
	json_object_set_new(o, "mflits", rate_json(&rate));
	json_sets(n, o);
	json_host(n, o);
	json_services(n, o);
	if (n->rights.log != NULL)
		json_object_set_new(o, "access", json_access(n));
	if (n->conns != NULL) {
		json_object_set_new(o, "messages", json_messages(n));
		json_object_set_new(o, "connections", json_connections(n));
	} else {
		json_put(o, "losses_reported", weft_node_losses_reported(n->node));
	}
	json_object_set_new(o, "drops", json_drops(n));
	json_object_set_new(o, "ports", json_ports(n, seconds));
	json_add_stages(stages, n->rx);
	json_add_stages(stages, n->tx);
	json_object_set_new(o, "stages", stages);
	json_object_set_new(o, "lcores", segments_json(n));
	return o;
}

static json_t *
json_lcores(const struct daemon *d, double seconds)
{
	json_t *list = json_array();
	struct rate rate;

	for (unsigned int lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
		if (rate_lcore(d, lcore, seconds, &rate))
			json_array_append_new(list, json_pack("{s:i, s:o}", "lcore", (int)lcore,
							    "mflits", rate_json(&rate)));
	return list;
}

json_t *
report_make(const struct daemon *d, double seconds)
{
	json_t *nodes = json_array(), *o;

	for (uint16_t i = 0; i < d->n_nodes; i++)
		json_array_append_new(nodes, json_node(&d->node[i], seconds));
	o = json_pack("{s:s, s:f, s:b, s:{s:I, s:I}, s:o}", "fabric", d->topo->fabric, "seconds",
		seconds, "good", report_is_good(d), "updates", "done", (json_int_t)d->updates,
		"refused", (json_int_t)d->updates_refused, "nodes", nodes);
	json_object_set_new(o, "lcores", json_lcores(d, seconds));
	json_object_set_new(o, "captures", captures_json());
	json_object_set_new(o, "cci", cci_json(d));
	json_object_set_new(o, "injections", injects_json(seconds));
	json_object_set_new(o, "event_counts", events_counts_json());
	json_object_set_new(o, "events", events_list_json());
	return o;
}

int
report_json(const struct daemon *d, double seconds, const char *path)
{
	json_t *o = report_make(d, seconds);
	const int rc = json_write(path, o);

	json_decref(o);
	return rc;
}
