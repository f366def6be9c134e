/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the nodes count, over DPDK telemetry. */

#include "report.h"
#include "conn.h"
#include "gfd.h"
#include "ingress.h"
#include "segments.h"
#include "watch.h"

#include "event.h"
#include "words.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include <rte_telemetry.h>

#define TELEMETRY_EVENTS 16 /* lines that an answer surely holds */

/*
 * Telemetry has a thread of its own: it waits until the nodes are there, and they for it at the
 * end.
 */
static pthread_mutex_t telemetry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct daemon *telemetry_daemon; /* NULL: over */

static int
telemetry_nodes(const char *params, struct rte_tel_data *data)
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

/* Counters of a node: those of one part, or of all but that. */
static void
telemetry_sets(struct rte_tel_data *data, const struct node *n, const char *part, bool is_part)
{
	struct weft_node_set set[WEFT_NODE_SETS];
	const unsigned int sets = weft_node_counters(n->node, set);

	for (unsigned int i = 0; i < sets; i++)
		if ((set[i].part != NULL && strcmp(set[i].part, part) == 0) == is_part)
			telemetry_rows(data, set[i].prefix, set[i].rows, set[i].values, set[i].n);
}

static void
telemetry_row(void *data, const char *name, uint64_t value)
{
	rte_tel_data_add_dict_u64(data, name, value);
}

/* What each port of HBR form stopped, by why: those above 0. */
static void
telemetry_edges(const struct node *n, struct rte_tel_data *data)
{
	char name[64];

	for (uint16_t p = 0; p < n->node->n_links; p++) {
		const struct weft_node_edge *e = n->node->link[p].edge;

		for (unsigned int r = WEFT_EDGE_OK + 1; e != NULL && r < WEFT_NODE_EDGE_REASONS;
			r++) {
			snprintf(name, sizeof(name), "port_%u_stopped_%s", p,
				weft_edge_reason_word((enum weft_edge_reason)r));
			if (e->stopped[r] + e->uio_stopped[r] != 0)
				telemetry_row(data, name, e->stopped[r] + e->uio_stopped[r]);
		}
	}
}

/* The name of a node as that of an entry: DPDK takes letters, digits, _ and / there. */
static const char *
telemetry_key(const char *name, char *key, size_t len)
{
	size_t i;

	for (i = 0; name[i] != '\0' && i + 1 < len; i++)
		key[i] = isalnum((unsigned char)name[i]) ? name[i] : '_';
	key[i] = '\0';
	return key;
}

/* NODE or NODE,PEER: the node that runs here, or NULL; PEER, or NULL. */
static const struct node *
telemetry_node_and_peer(const char *params, const char **peer)
{
	size_t len;

	*peer = words_first(params, ',', &len);
	for (uint16_t i = 0; i < telemetry_daemon->n_nodes; i++) {
		const char *name = telemetry_daemon->node[i].topo->name;

		if (len != 0 && strlen(name) == len && memcmp(name, params, len) == 0)
			return &telemetry_daemon->node[i];
	}
	return NULL;
}

/* NODE alone. */
static const struct node *
telemetry_node_named(const char *params)
{
	const char *peer;
	const struct node *n = telemetry_node_and_peer(params, &peer);

	return peer == NULL ? n : NULL;
}

static int
telemetry_node(const char *params, struct rte_tel_data *data)
{
	const struct node *n = telemetry_node_named(params);

	if (n == NULL)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "kind", weft_topo_kind_words[n->topo->kind]);
	rte_tel_data_add_dict_u64(data, "pid", n->topo->pid);
	rte_tel_data_add_dict_u64(data, "memory_replaced", weft_node_replacements(n->node));
	/* Those of translation have an answer of their own: all would be too many for one. */
	telemetry_sets(data, n, "ats", false);
	ingress_rows(n, telemetry_row, data);
	telemetry_edges(n, data);
	for (unsigned int v = WEFT_OK + 1; v < WEFT_VERDICT_COUNT; v++) {
		char name[64];
		uint64_t sum = report_drops(n, (enum weft_verdict)v);

		snprintf(name, sizeof(name), "drop_%s", weft_verdict_name((enum weft_verdict)v));
		if (sum != 0)
			rte_tel_data_add_dict_u64(data, name, sum);
	}
	return 0;
}

static int
telemetry_ats(const char *params, struct rte_tel_data *data)
{
	const struct node *n = telemetry_node_named(params);
	uint64_t waiting, moving, holding;

	if (n == NULL || !weft_node_ats(n->node, &waiting, &moving, &holding))
		return -ENOENT;
	rte_tel_data_start_dict(data);
	telemetry_sets(data, n, "ats", true);
	rte_tel_data_add_dict_u64(data, "waiting", waiting);
	rte_tel_data_add_dict_u64(data, "moving", moving);
	rte_tel_data_add_dict_u64(data, "holding", holding);
	return 0;
}

/* Sums over the connections of a node, or one of them: NODE or NODE,PEER. */
static int
telemetry_retry(const char *params, struct rte_tel_data *data)
{
	uint64_t llr[WEFT_LLR_N_COUNTERS] = { 0 }, session[WEFT_SESSION_N_COUNTERS] = { 0 };
	uint64_t end[WEFT_LINK_N_COUNTERS] = { 0 };
	const char *peer;
	const struct node *n = telemetry_node_and_peer(params, &peer);
	unsigned int found = 0;

	if (n == NULL)
		return -ENOENT;
	for (uint16_t i = 0; i < n->node->n_links; i++) {
		const struct conn *c = &n->conn[i];

		if (peer != NULL &&
			strcmp(peer, n->daemon->topo->node[c->link->topo_node].name) != 0)
			continue;
		found++;
		weft_llr_counts_add(weft_link_llr(c->link->end), llr);
		weft_counters_add(
			session, weft_link_session(c->link->end)->count, WEFT_SESSION_N_COUNTERS);
		weft_link_counts_add(c->link->end, end);
	}
	if (peer != NULL && found == 0)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_u64(data, "connections", found);
	telemetry_rows(data, "session", weft_session_counters, session, WEFT_SESSION_N_COUNTERS);
	telemetry_rows(data, "retry", weft_llr_counters, llr, WEFT_LLR_N_COUNTERS);
	telemetry_rows(data, "end", weft_link_counters, end, WEFT_LINK_N_COUNTERS);
	return 0;
}

static void
telemetry_session(const struct conn *c, struct rte_tel_data *data)
{
	rte_tel_data_add_dict_string(data, "state", session_word(c));
	rte_tel_data_add_dict_u64(data, "since", (uint64_t)c->watch.since);
	telemetry_rows(data, "session", weft_session_counters,
		weft_link_session(c->link->end)->count, WEFT_SESSION_N_COUNTERS);
}

/* States of the sessions of a node by peer; of one peer, what is known of it. */
static int
telemetry_sessions(const char *params, struct rte_tel_data *data)
{
	const char *peer;
	const struct node *n = telemetry_node_and_peer(params, &peer);
	unsigned int found = 0;

	if (n == NULL)
		return -ENOENT;
	rte_tel_data_start_dict(data);
	for (uint16_t i = 0; i < n->node->n_links && found < RTE_TEL_MAX_DICT_ENTRIES; i++) {
		const struct conn *c = &n->conn[i];
		char key[64];

		if (peer == NULL)
			rte_tel_data_add_dict_string(data,
				telemetry_key(conn_peer_name(c), key, sizeof(key)),
				session_word(c));
		else if (strcmp(peer, conn_peer_name(c)) == 0)
			telemetry_session(c, data);
		else
			continue;
		found++;
	}
	return peer != NULL && found == 0 ? -ENOENT : 0;
}

static void
telemetry_rate(struct rte_tel_data *data, const char *what, const struct rate *r)
{
	char name[RTE_TEL_MAX_STRING_LEN];

	snprintf(name, sizeof(name), "%s_in", what);
	rte_tel_data_add_dict_u64(data, name, (uint64_t)r->last_in);
	snprintf(name, sizeof(name), "%s_out", what);
	rte_tel_data_add_dict_u64(data, name, (uint64_t)r->last_out);
}

/* Flits a second of the last interval: of nodes and lcores, or of the ports of a node. */
static int
telemetry_rates(const char *params, struct rte_tel_data *data)
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
			telemetry_rate(
				data, telemetry_key(n->topo->name, name, sizeof(name)), &rate);
		for (unsigned int p = 0;
			one && strcmp(n->topo->name, params) == 0 && p < n->n_ports; p++) {
			rate = (struct rate){ 0 };
			rate_add(n, p, 0, &rate);
			snprintf(name, sizeof(name), "port_%u", p);
			telemetry_rate(data, name, &rate);
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
telemetry_lcores(const char *params, struct rte_tel_data *data)
{
	const struct node *n = telemetry_node_named(params);

	return n == NULL ? -ENOENT : segments_tell(n, data);
}

static int
telemetry_kernels(const char *params, struct rte_tel_data *data)
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
telemetry_events(const char *params, struct rte_tel_data *data)
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
telemetry_event_counts(const char *params, struct rte_tel_data *data)
{
	(void)params;
	rte_tel_data_start_dict(data);
	for (unsigned int k = 0; k < EVENT_KINDS; k++)
		rte_tel_data_add_dict_u64(
			data, event_word((enum event_kind)k), event_count((enum event_kind)k));
	return 0;
}

static int
telemetry_late_poison(const char *params, struct rte_tel_data *data)
{
	return late_mark_command(telemetry_daemon, params, data);
}

static const struct {
	const char *cmd;
	int (*tell)(const char *params, struct rte_tel_data *data);
	const char *help;
} commands[] = {
	{ "/weft/nodes", telemetry_nodes, "Names of the nodes that run here. Takes no parameters" },
	{ "/weft/kernels", telemetry_kernels,
		"Kernels in use, and those that failed their self-test. Takes no parameters" },
	{ "/weft/ats", telemetry_ats,
		"Address translation of a host or an agent. Parameter: node name" },
	{ "/weft/lcores", telemetry_lcores,
		"Segments of a node's pipelines, their lcores and cycles. Parameter: node name" },
	{ "/weft/retry", telemetry_retry,
		"Sessions, retry and credits. Parameters: node name, or node name and peer's" },
	{ "/weft/events", telemetry_events,
		"The newest events as lines, oldest first. Takes no parameters" },
	{ "/weft/event_counts", telemetry_event_counts, "Events by kind. Takes no parameters" },
	{ "/weft/late_poison", telemetry_late_poison,
		"Mark lines of a GFD bad, found late. Parameters: GFD, offset, lines (1)" },
	{ "/weft/sessions", telemetry_sessions,
		"States of sessions. Parameters: node name, or node name and peer's" },
	{ "/weft/rates", telemetry_rates,
		"Flits a second of nodes and lcores. Parameter: none, or a node name, then of its "
		"ports" },
	{ "/weft/node", telemetry_node, "What a node counted. Parameter: node name" },
};

static int
telemetry_handle(const char *cmd, const char *params, struct rte_tel_data *data)
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
		rte_telemetry_register_cmd(commands[i].cmd, telemetry_handle, commands[i].help);
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
