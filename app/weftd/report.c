/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the nodes counted: as JSON, as text, and over DPDK telemetry. Values are read while lcores
 * write them: each is whole, the set is not a snapshot.
 */

#include "daemon.h"

#include "event.h"
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <jansson.h>

#include <rte_cycles.h>
#include <rte_telemetry.h>

#define TELEMETRY_EVENTS 16 /* lines that an answer surely holds */

static const char *const kind_words[] = {
	[WEFT_TOPO_HOST] = "host",
	[WEFT_TOPO_SWITCH] = "switch",
	[WEFT_TOPO_GFD] = "gfd",
	[WEFT_TOPO_DEVICE] = "device",
};

/* Telemetry has a thread of its own: it waits until the nodes are there, and they for it at the end. */
static pthread_mutex_t telemetry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct daemon *telemetry_daemon; /* NULL: over */

static void
put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

json_t *
report_counters(const struct weft_counter *rows, const uint64_t *values, unsigned int n)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < n; i++)
		put(o, rows[i].name, values[i]);
	return o;
}

/* Drops of a node from every place that can drop, by reason. */
static uint64_t
node_drops(const struct node *n, enum weft_verdict v)
{
	uint64_t sum = n->drops[v] + weft_pipe_drops(n->rx, v);

	if (n->tx != NULL)
		sum += weft_pipe_drops(n->tx, v);
	if (v == WEFT_DROP_TX_FULL)
		for (uint16_t p = 0; p < n->n_ports; p++)
			sum += n->out[p].dropped;
	return sum;
}

static json_t *
drops_json(const struct node *n)
{
	json_t *o = json_object();

	for (unsigned int v = WEFT_OK + 1; v < WEFT_VERDICT_COUNT; v++) {
		uint64_t sum = node_drops(n, (enum weft_verdict)v);

		if (sum != 0)
			put(o, weft_verdict_name((enum weft_verdict)v), sum);
	}
	return o;
}

static void
stages_add(json_t *list, const struct weft_pipe *p)
{
	for (unsigned int i = 0; p != NULL && i < weft_pipe_n_stages(p); i++) {
		const struct weft_stage *s = weft_pipe_stage(p, i);
		const struct weft_stage_stats *st = weft_pipe_stats(p, i);
		json_t *o = report_counters(s->counters, st->counts, s->n_counters);

		json_object_set_new(o, "stage", json_string(s->name));
		put(o, "bursts", st->bursts);
		put(o, "frames", st->frames);
		put(o, "flits", st->flits);
		put(o, "cycles", st->cycles);
		json_array_append_new(list, o);
	}
}

static json_t *
ports_json(const struct node *n, double seconds)
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
		rate_add(n, p, seconds, &rate);
		json_object_set_new(o, "mflits", rate_json(&rate));
		json_object_set_new(o, "state", link_watch_json(n, p));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
messages_json(const struct node *n)
{
	json_t *o = json_object();

	for (unsigned int k = 0; k < WEFT_MSG_KINDS; k++)
		if (n->messages[k] != 0)
			put(o, weft_msg_kind_name((enum weft_msg_kind)k), n->messages[k]);
	return o;
}

json_t *
report_stopped(const uint64_t *stopped)
{
	json_t *o = json_object();

	for (unsigned int r = WEFT_EDGE_OK + 1; r < EDGE_REASONS; r++)
		if (stopped[r] != 0)
			put(o, weft_edge_reason_word((enum weft_edge_reason)r), stopped[r]);
	return o;
}

static json_t *
ats_json(const struct node *n)
{
	struct ats_row row[ATS_ROWS];
	const unsigned int parts = ats_rows(n, row);
	uint64_t waiting, moving, holding;
	json_t *o = json_object();

	for (unsigned int i = 0; i < parts; i++)
		json_object_set_new(
			o, row[i].part, report_counters(row[i].rows, row[i].values, row[i].n));
	ats_gauges(n, &waiting, &moving, &holding);
	put(o, "waiting", waiting);
	put(o, "moving", moving);
	put(o, "holding", holding);
	return o;
}

static void
host_json(const struct node *n, json_t *o)
{
	const struct weft_latency *l;

	if (n->host == NULL)
		return;
	l = weft_host_latency(n->host);
	json_object_set_new(o, "requests",
		report_counters(
			weft_host_counters(), weft_host_counts(n->host), WEFT_HOST_N_COUNTERS));
	if (n->traffic != NULL)
		json_object_set_new(o, "traffic",
			report_counters(weft_traffic_counters(), weft_traffic_counts(n->traffic),
				WEFT_TRAFFIC_N_COUNTERS));
	if (n->ats != NULL)
		json_object_set_new(o, "ats", ats_json(n));
	if (n->xfers != NULL)
		json_object_set_new(o, "transfers", transfers_json(n));
	json_object_set_new(o, "edge", report_stopped(n->stopped));
	put(o, "outstanding", weft_host_outstanding(n->host));
	put(o, "done", n->is_done);
	json_object_set_new(o, "latency_ns",
		json_pack("{s:I, s:I, s:I, s:I}", "p50", (json_int_t)weft_latency_quantile(l, 5000),
			"p99", (json_int_t)weft_latency_quantile(l, 9900), "p99_9",
			(json_int_t)weft_latency_quantile(l, 9990), "max", (json_int_t)l->max_ns));
}

/* A text: numbers of JSON end at 2^63 here, and at 2^53 for some readers. */
static void
put_generation(json_t *o, uint64_t generation)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, generation);
	json_object_set_new(o, "memory_generation", json_string(text));
}

/* Every connection of a host or GFD, or every link in cxl mode: what its session, retry layer and end counted. */
static json_t *
connections_json(const struct node *n)
{
	json_t *list = json_array();

	for (uint16_t i = 0; i < n->n_peers; i++) {
		const struct peer *p = &n->peer[i];
		const struct weft_llr *l = weft_end_llr(p->end);
		json_t *o = json_object();

		json_object_set_new(
			o, "peer", json_string(n->daemon->topo->node[p->topo_node].name));
		put(o, "pid", p->pid);
		json_object_set_new(o, "state", json_string(session_word(p)));
		json_object_set_new(o, "since", json_real(p->watch.since));
		json_object_set_new(o, "last_event", event_last_json(n->topo->name, peer_name(p)));
		json_object_set_new(o, "ide", json_string(ide_state(p)));
		put(o, "memory_replaced", p->memory.replaced);
		if (p->memory.generation != 0)
			put_generation(o, p->memory.generation);
		put(o, "unacked", weft_llr_unacked(l));
		put(o, "round_trip_ns", weft_llr_rtt(l)->mean_ns);
		json_object_set_new(o, "session",
			report_counters(weft_session_counters(), weft_end_session(p->end)->count,
				WEFT_SESSION_N_COUNTERS));
		json_object_set_new(o, "retry",
			report_counters(
				weft_llr_counters(), weft_llr_counts(l), WEFT_LLR_N_COUNTERS));
		json_object_set_new(o, "end",
			report_counters(
				weft_end_counters(), weft_end_counts(p->end), WEFT_END_N_COUNTERS));
		json_array_append_new(list, o);
	}
	return list;
}

static void
failed_json(json_t *o, const uint64_t *failed, uint64_t read_only)
{
	put(o, "decode", failed[WEFT_GFAM_T_DECODE]);
	put(o, "group", failed[WEFT_GFAM_T_GROUP]);
	put(o, "sat", failed[WEFT_GFAM_T_SAT]);
	put(o, "read_only", read_only);
}

/* What the tables of a node refused, in all and to each host and device. */
static json_t *
access_json(const struct node *n)
{
	const struct weft_topo *t = n->daemon->topo;
	json_t *o = json_object(), *hosts = json_array();

	failed_json(o, n->access_log->failed, n->access_log->read_only);
	for (uint16_t h = 0; h < t->n_nodes; h++) {
		const struct weft_topo_node *host = &t->node[h];
		const struct weft_gfam_counts *c = &n->access_log->rpid[host->pid];
		json_t *one;

		if (host->kind != WEFT_TOPO_HOST && host->kind != WEFT_TOPO_DEVICE)
			continue;
		one = json_object();

		json_object_set_new(one, "host", json_string(host->name));
		put(one, "spid", host->pid);
		failed_json(one, c->failed, c->read_only);
		json_array_append_new(hosts, one);
	}
	json_object_set_new(o, "hosts", hosts);
	return o;
}

static json_t *
node_json(const struct node *n, double seconds)
{
	json_t *o = json_object(), *stages = json_array();
	struct rate rate;

	json_object_set_new(o, "name", json_string(n->topo->name));
	json_object_set_new(o, "kind", json_string(kind_words[n->topo->kind]));
	put(o, "pid", n->topo->pid);
	put(o, "lcore", n->lcore);
	if (n->generation != 0)
		put_generation(o, n->generation);
	rate_node(n, seconds, &rate);
	json_object_set_new(o, "mflits", rate_json(&rate));
	if (n->topo->kind == WEFT_TOPO_HOST)
		host_json(n, o);
	if (n->topo->kind == WEFT_TOPO_GFD)
		json_object_set_new(o, "memory",
			report_counters(weft_gfd_counters(), n->gfd.count, WEFT_GFD_N_COUNTERS));
	if (n->uio != NULL)
		json_object_set_new(o, "uio", uio_json(n));
	if (n->access_log != NULL)
		json_object_set_new(o, "access", access_json(n));
	if (n->conns != NULL) {
		json_object_set_new(o, "messages", messages_json(n));
		json_object_set_new(o, "connections", connections_json(n));
	} else {
		put(o, "losses_reported", n->losses_reported);
	}
	json_object_set_new(o, "drops", drops_json(n));
	json_object_set_new(o, "ports", ports_json(n, seconds));
	stages_add(stages, n->rx);
	stages_add(stages, n->tx);
	json_object_set_new(o, "stages", stages);
	return o;
}

static json_t *
lcores_json(const struct daemon *d, double seconds)
{
	json_t *list = json_array();
	struct rate rate;

	for (unsigned int lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
		if (rate_lcore(d, lcore, seconds, &rate))
			json_array_append_new(list, json_pack("{s:i, s:o}", "lcore", (int)lcore,
							    "mflits", rate_json(&rate)));
	return list;
}

int
report_json(const struct daemon *d, double seconds, const char *path)
{
	json_t *nodes = json_array(), *o;
	int rc;

	for (uint16_t i = 0; i < d->n_nodes; i++)
		json_array_append_new(nodes, node_json(&d->node[i], seconds));
	o = json_pack("{s:s, s:f, s:b, s:{s:I, s:I}, s:o}", "fabric", d->topo->fabric, "seconds",
		seconds, "good", report_is_good(d), "updates", "done", (json_int_t)d->updates,
		"refused", (json_int_t)d->updates_refused, "nodes", nodes);
	json_object_set_new(o, "lcores", lcores_json(d, seconds));
	json_object_set_new(o, "captures", captures_json());
	json_object_set_new(o, "event_counts", events_counts_json());
	json_object_set_new(o, "events", events_list_json());
	rc = json_write(path, o);
	json_decref(o);
	return rc;
}

/* Poison is what a fabric whose GFDs have late poison promises; anywhere else it is a fault. */
static bool
poison_is_expected(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->topo->n_gfds; i++)
		if (d->topo->node[d->topo->gfd[i]].late_poison > 0)
			return true;
	return false;
}

bool
report_is_good(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];
		const uint64_t *c;
		uint64_t failed;

		if (!uio_is_good(n) || (n->xfers != NULL && !transfers_are_good(n)))
			return false;
		if (n->topo->kind != WEFT_TOPO_HOST || n->traffic == NULL)
			continue;
		c = weft_traffic_counts(n->traffic);
		failed = c[WEFT_TRAFFIC_N_FAILED];
		if (poison_is_expected(d))
			failed -= c[WEFT_TRAFFIC_N_POISONED];
		if (c[WEFT_TRAFFIC_N_MISMATCHES] != 0 || failed != 0 || c[WEFT_TRAFFIC_N_LOST] != 0)
			return false;
	}
	return true;
}

static void
text_host(const struct node *n, double seconds)
{
	const uint64_t *c = weft_traffic_counts(n->traffic);
	const struct weft_latency *l = weft_host_latency(n->host);
	uint64_t all = c[WEFT_TRAFFIC_N_READS] + c[WEFT_TRAFFIC_N_WRITES];

	printf("host %-8s %10lu writes %10lu reads %10lu verified %6lu mismatches %6lu lost  "
	       "%8.0f requests/s  latency p50 %.1f us p99 %.1f us\n",
		n->topo->name, (unsigned long)c[WEFT_TRAFFIC_N_WRITES],
		(unsigned long)c[WEFT_TRAFFIC_N_READS], (unsigned long)c[WEFT_TRAFFIC_N_VERIFIED],
		(unsigned long)c[WEFT_TRAFFIC_N_MISMATCHES], (unsigned long)c[WEFT_TRAFFIC_N_LOST],
		seconds > 0 ? (double)all / seconds : 0,
		(double)weft_latency_quantile(l, 5000) / 1e3,
		(double)weft_latency_quantile(l, 9900) / 1e3);
	if (c[WEFT_TRAFFIC_N_POISONED] != 0)
		printf("  %lu reads answered with poison: data not used\n",
			(unsigned long)c[WEFT_TRAFFIC_N_POISONED]);
}

static void
text_node(const struct node *n)
{
	const struct weft_stage_stats *st = weft_pipe_stats(n->rx, 0);

	printf("%s %-8s %10lu frames %10lu flits in", kind_words[n->topo->kind], n->topo->name,
		(unsigned long)st->frames, (unsigned long)st->flits);
	for (unsigned int i = 0; i < weft_pipe_n_stages(n->rx); i++) {
		const struct weft_stage_stats *s = weft_pipe_stats(n->rx, i);

		printf("  %s %.0f", weft_pipe_stage(n->rx, i)->name,
			s->flits == 0 ? 0 : (double)s->cycles / (double)s->flits);
	}
	printf(" cycles/flit\n");
	for (unsigned int v = WEFT_OK + 1; v < WEFT_VERDICT_COUNT; v++) {
		uint64_t sum = node_drops(n, (enum weft_verdict)v);

		/* What came before is not lost: it stands in the line of retry. */
		if (sum != 0 && v != WEFT_DROP_DUPLICATE)
			printf("  dropped %lu: %s\n", (unsigned long)sum,
				weft_verdict_help((enum weft_verdict)v));
	}
}

/* What retry had to do; nothing if it had nothing to do. */
static void
text_retry(const struct node *n)
{
	uint64_t sum[WEFT_LLR_N_COUNTERS] = { 0 };
	uint64_t losses = 0;

	for (uint16_t i = 0; i < n->n_peers; i++) {
		weft_counters_add(
			sum, weft_llr_counts(weft_end_llr(n->peer[i].end)), WEFT_LLR_N_COUNTERS);
		losses += weft_end_session(n->peer[i].end)->count[WEFT_SESSION_N_LOSSES];
	}
	if (sum[WEFT_LLR_N_RESENT] + sum[WEFT_LLR_N_BAD] + sum[WEFT_LLR_N_LOST] +
			sum[WEFT_LLR_N_DUPLICATES] ==
		0)
		return;
	printf("  retry: %lu bad, %lu missing, %lu duplicates in; %lu of %lu flits sent again, "
	       "%lu reported lost by switches\n",
		(unsigned long)sum[WEFT_LLR_N_BAD], (unsigned long)sum[WEFT_LLR_N_LOST],
		(unsigned long)sum[WEFT_LLR_N_DUPLICATES], (unsigned long)sum[WEFT_LLR_N_RESENT],
		(unsigned long)sum[WEFT_LLR_N_SENT], (unsigned long)losses);
}

void
report_text(const struct daemon *d, double seconds)
{
	struct rate rate;

	printf("\nfabric %s, %.2f s\n", d->topo->fabric, seconds);
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];
		const struct weft_traffic_mismatch *bad;

		text_node(n);
		rate_text(n, seconds);
		text_retry(n);
		uio_text(n);
		if (n->xfers != NULL)
			transfers_text(n);
		if (n->traffic == NULL)
			continue;
		text_host(n, seconds);
		bad = weft_traffic_first_mismatch(n->traffic);
		if (bad != NULL)
			printf("  first mismatch: address %#lx of PID %#x\n",
				(unsigned long)bad->hpa, bad->dpid);
	}
	for (unsigned int lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
		if (rate_lcore(d, lcore, seconds, &rate))
			printf("lcore %u  %.3f Mflit/s in, %.3f out\n", lcore, rate.in / 1e6,
				rate.out / 1e6);
}

static int
tell_nodes(const char *params, struct rte_tel_data *data)
{
	(void)params;
	rte_tel_data_start_array(data, RTE_TEL_STRING_VAL);
	for (uint16_t i = 0; i < telemetry_daemon->n_nodes; i++)
		rte_tel_data_add_array_string(data, telemetry_daemon->node[i].topo->name);
	return 0;
}

static void
telemetry_rows(struct rte_tel_data *data, const char *prefix, const struct weft_counter *rows,
	const uint64_t *values, unsigned int n)
{
	char name[64];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s_%s", prefix, rows[i].name);
		rte_tel_data_add_dict_u64(data, name, values[i]);
	}
}

static void
telemetry_uio(void *data, const char *prefix, const struct weft_counter *rows,
	const uint64_t *values, unsigned int n)
{
	telemetry_rows(data, prefix, rows, values, n);
}

static void
telemetry_row(void *data, const char *name, uint64_t value)
{
	rte_tel_data_add_dict_u64(data, name, value);
}

static int
tell_node(const char *params, struct rte_tel_data *data)
{
	const struct node *n = NULL;

	for (uint16_t i = 0; params != NULL && i < telemetry_daemon->n_nodes; i++)
		if (strcmp(telemetry_daemon->node[i].topo->name, params) == 0)
			n = &telemetry_daemon->node[i];
	if (n == NULL)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "kind", kind_words[n->topo->kind]);
	rte_tel_data_add_dict_u64(data, "pid", n->topo->pid);
	rte_tel_data_add_dict_u64(data, "memory_replaced", generation_replacements(n));
	if (n->host != NULL) {
		telemetry_rows(data, "host", weft_host_counters(), weft_host_counts(n->host),
			WEFT_HOST_N_COUNTERS);
	}
	if (n->traffic != NULL)
		telemetry_rows(data, "traffic", weft_traffic_counters(),
			weft_traffic_counts(n->traffic), WEFT_TRAFFIC_N_COUNTERS);
	if (n->topo->kind == WEFT_TOPO_GFD)
		telemetry_rows(data, "gfd", weft_gfd_counters(), n->gfd.count, WEFT_GFD_N_COUNTERS);
	if (n->uio != NULL)
		uio_rows(n, telemetry_uio, data);
	ingress_rows(n, telemetry_row, data);
	for (unsigned int v = WEFT_OK + 1; v < WEFT_VERDICT_COUNT; v++) {
		char name[64];
		uint64_t sum = node_drops(n, (enum weft_verdict)v);

		snprintf(name, sizeof(name), "drop_%s", weft_verdict_name((enum weft_verdict)v));
		if (sum != 0)
			rte_tel_data_add_dict_u64(data, name, sum);
	}
	return 0;
}

static int
tell_ats(const char *params, struct rte_tel_data *data)
{
	struct ats_row row[ATS_ROWS];
	const struct node *n = NULL;
	uint64_t waiting, moving, holding;
	unsigned int parts;

	for (uint16_t i = 0; params != NULL && i < telemetry_daemon->n_nodes; i++)
		if (strcmp(telemetry_daemon->node[i].topo->name, params) == 0)
			n = &telemetry_daemon->node[i];
	if (n == NULL || n->ats == NULL)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	parts = ats_rows(n, row);
	for (unsigned int i = 0; i < parts; i++)
		telemetry_rows(data, row[i].part, row[i].rows, row[i].values, row[i].n);
	ats_gauges(n, &waiting, &moving, &holding);
	rte_tel_data_add_dict_u64(data, "waiting", waiting);
	rte_tel_data_add_dict_u64(data, "moving", moving);
	rte_tel_data_add_dict_u64(data, "holding", holding);
	return 0;
}

/* NODE or NODE,PEER: the node that runs here, or NULL; ",PEER", or NULL. */
static const struct node *
node_and_peer(const char *params, const char **peer)
{
	size_t len;

	*peer = NULL;
	if (params == NULL)
		return NULL;
	*peer = strchr(params, ',');
	len = *peer == NULL ? strlen(params) : (size_t)(*peer - params);
	for (uint16_t i = 0; i < telemetry_daemon->n_nodes; i++) {
		const char *name = telemetry_daemon->node[i].topo->name;

		if (len != 0 && strlen(name) == len && memcmp(name, params, len) == 0)
			return &telemetry_daemon->node[i];
	}
	return NULL;
}

/* Sums over the connections of a node, or one of them: NODE or NODE,PEER. */
static int
tell_retry(const char *params, struct rte_tel_data *data)
{
	uint64_t llr[WEFT_LLR_N_COUNTERS] = { 0 }, session[WEFT_SESSION_N_COUNTERS] = { 0 };
	uint64_t end[WEFT_END_N_COUNTERS] = { 0 };
	const char *peer;
	const struct node *n = node_and_peer(params, &peer);
	unsigned int found = 0;

	if (n == NULL)
		return -ENOENT;
	for (uint16_t i = 0; i < n->n_peers; i++) {
		const struct peer *p = &n->peer[i];

		if (peer != NULL && strcmp(peer + 1, n->daemon->topo->node[p->topo_node].name) != 0)
			continue;
		found++;
		weft_counters_add(llr, weft_llr_counts(weft_end_llr(p->end)), WEFT_LLR_N_COUNTERS);
		weft_counters_add(
			session, weft_end_session(p->end)->count, WEFT_SESSION_N_COUNTERS);
		weft_counters_add(end, weft_end_counts(p->end), WEFT_END_N_COUNTERS);
	}
	if (peer != NULL && found == 0)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_u64(data, "connections", found);
	telemetry_rows(data, "session", weft_session_counters(), session, WEFT_SESSION_N_COUNTERS);
	telemetry_rows(data, "retry", weft_llr_counters(), llr, WEFT_LLR_N_COUNTERS);
	telemetry_rows(data, "end", weft_end_counters(), end, WEFT_END_N_COUNTERS);
	return 0;
}

static void
tell_session(const struct peer *p, struct rte_tel_data *data)
{
	rte_tel_data_add_dict_string(data, "state", session_word(p));
	rte_tel_data_add_dict_u64(data, "since", (uint64_t)p->watch.since);
	telemetry_rows(data, "session", weft_session_counters(), weft_end_session(p->end)->count,
		WEFT_SESSION_N_COUNTERS);
}

/* States of the sessions of a node by peer; of one peer, what is known of it. */
static int
tell_sessions(const char *params, struct rte_tel_data *data)
{
	const char *peer;
	const struct node *n = node_and_peer(params, &peer);
	unsigned int found = 0;

	if (n == NULL)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	for (uint16_t i = 0; i < n->n_peers && found < RTE_TEL_MAX_DICT_ENTRIES; i++) {
		const struct peer *p = &n->peer[i];

		if (peer == NULL)
			rte_tel_data_add_dict_string(data, peer_name(p), session_word(p));
		else if (strcmp(peer + 1, peer_name(p)) == 0)
			tell_session(p, data);
		else
			continue;
		found++;
	}
	return peer != NULL && found == 0 ? -ENOENT : 0;
}

static void
telemetry_rate(struct rte_tel_data *data, const char *what, const struct rate *r)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_in", what);
	rte_tel_data_add_dict_u64(data, name, (uint64_t)r->last_in);
	snprintf(name, sizeof(name), "%s_out", what);
	rte_tel_data_add_dict_u64(data, name, (uint64_t)r->last_out);
}

/* Flits a second of the last interval: of nodes and lcores, or of the ports of a node. */
static int
tell_rates(const char *params, struct rte_tel_data *data)
{
	const bool one = params != NULL && params[0] != '\0';
	unsigned int found = 0;
	struct rate rate;
	char name[64];

	rte_tel_data_start_dict(data);
	for (uint16_t i = 0; i < telemetry_daemon->n_nodes; i++) {
		const struct node *n = &telemetry_daemon->node[i];

		rate_node(n, 0, &rate);
		if (!one)
			telemetry_rate(data, n->topo->name, &rate);
		for (unsigned int p = 0;
			one && strcmp(n->topo->name, params) == 0 && p < n->n_ports; p++) {
			rate = (struct rate){ 0 };
			rate_add(n, p, 0, &rate);
			telemetry_rate(data, weft_port_name(n->port[p]), &rate);
			found++;
		}
	}
	for (unsigned int lcore = 0; !one && lcore < RTE_MAX_LCORE; lcore++) {
		snprintf(name, sizeof(name), "lcore_%u", lcore);
		if (rate_lcore(telemetry_daemon, lcore, 0, &rate))
			telemetry_rate(data, name, &rate);
	}
	return one && found == 0 ? -ENOENT : 0;
}

static int
tell_kernels(const char *params, struct rte_tel_data *data)
{
	const struct weft_kernel_failure *f;
	unsigned int n = 0;

	(void)params;
	while (weft_kernel_failure(n) != NULL)
		n++;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "fec", telemetry_daemon->fec->k.name);
	rte_tel_data_add_dict_string(data, "crc", telemetry_daemon->crc->k.name);
	rte_tel_data_add_dict_string(data, "sig", telemetry_daemon->sig->k.name);
	rte_tel_data_add_dict_string(data, "atc", telemetry_daemon->atc->k.name);
	rte_tel_data_add_dict_u64(data, "self_tests_failed", n);
	for (unsigned int i = 0; (f = weft_kernel_failure(i)) != NULL; i++) {
		char name[64];

		snprintf(name, sizeof(name), "failed_%u", i);
		rte_tel_data_add_dict_string(data, name, f->kernel);
	}
	return 0;
}

/* One string of lines: those of lists and dictionaries are cut at 128 characters. */
static int
tell_events(const char *params, struct rte_tel_data *data)
{
	char text[RTE_TEL_MAX_SINGLE_STRING_LEN] = "";
	size_t used = 0;

	(void)params;
	for (unsigned int back = TELEMETRY_EVENTS; back-- > 0;) {
		char line[sizeof(text) / TELEMETRY_EVENTS];

		if (event_line(back, line, sizeof(line)) == 0)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
				used == 0 ? "" : "\n", line);
	}
	return rte_tel_data_string(data, text);
}

static int
tell_event_counts(const char *params, struct rte_tel_data *data)
{
	(void)params;
	rte_tel_data_start_dict(data);
	for (unsigned int k = 0; k < EVENT_KINDS; k++)
		rte_tel_data_add_dict_u64(
			data, event_word((enum event_kind)k), event_count((enum event_kind)k));
	return 0;
}

static int
tell_late_poison(const char *params, struct rte_tel_data *data)
{
	return late_tell(telemetry_daemon, params, data);
}

static const struct {
	const char *cmd;
	int (*tell)(const char *params, struct rte_tel_data *data);
	const char *help;
} commands[] = {
	{ "/weft/nodes", tell_nodes, "Names of the nodes that run here. Takes no parameters" },
	{ "/weft/kernels", tell_kernels,
		"Kernels in use, and those that failed their self-test. Takes no parameters" },
	{ "/weft/ats", tell_ats,
		"Address translation of a host or an agent. Parameter: node name" },
	{ "/weft/retry", tell_retry,
		"Sessions, retry and credits. Parameters: node name, or node name and peer's" },
	{ "/weft/events", tell_events,
		"The newest events as lines, oldest first. Takes no parameters" },
	{ "/weft/event_counts", tell_event_counts, "Events by kind. Takes no parameters" },
	{ "/weft/late_poison", tell_late_poison,
		"Mark lines of a GFD bad, found late. Parameters: GFD, offset, lines (1)" },
	{ "/weft/sessions", tell_sessions,
		"States of sessions. Parameters: node name, or node name and peer's" },
	{ "/weft/rates", tell_rates,
		"Flits a second of nodes and lcores. Parameter: none, or a node name, then of its "
		"ports" },
	{ "/weft/node", tell_node, "What a node counted. Parameter: node name" },
};

static int
handle(const char *cmd, const char *params, struct rte_tel_data *data)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&telemetry_lock);
	for (unsigned int i = 0; telemetry_daemon != NULL && i < WEFT_ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].cmd, cmd) == 0)
			rc = commands[i].tell(params, data);
	pthread_mutex_unlock(&telemetry_lock);
	return rc;
}

void
report_telemetry_soon(void)
{
	pthread_mutex_lock(&telemetry_lock);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(commands); i++)
		rte_telemetry_register_cmd(commands[i].cmd, handle, commands[i].help);
}

void
report_telemetry(struct daemon *d)
{
	telemetry_daemon = d;
	pthread_mutex_unlock(&telemetry_lock);
}

void
report_telemetry_end(void)
{
	pthread_mutex_lock(&telemetry_lock);
	telemetry_daemon = NULL;
	pthread_mutex_unlock(&telemetry_lock);
}
