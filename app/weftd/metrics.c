/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Metrics by Prometheus' rules: a family stands in one piece, counters end in _total, times are in
 * seconds. A family is a row of a list of counters: whoever adds a counter adds a metric.
 */

#include "metrics.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "event.h"
#include "inject.h"

#define METRICS_LEAST_LOG2 10 /* first edge of a histogram of times: 2^10 ns, about 1 us */
#define METRICS_MOST_LOG2 34 /* last: about 17 s */

struct metrics {
	FILE *to;
	const struct daemon *d;
	double seconds;
	bool is_open;
};

/* A value of a label: a name of ours has neither quotes nor ends of lines, but a path may. */
static void
metrics_put_value(const struct metrics *m, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n') {
			fputs("\\n", m->to);
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', m->to);
		fputc(*text, m->to);
	}
}

static void
metrics_family(const struct metrics *m, const char *name, const char *type, const char *help)
{
	const bool is_total = !m->is_open && strcmp(type, "counter") == 0;

	fprintf(m->to, "# TYPE weft_%s%s %s\n", name, is_total ? "_total" : "", type);
	fprintf(m->to, "# HELP weft_%s%s %s\n", name, is_total ? "_total" : "", help);
}

/* What comes before the value: the name and one label or two. */
static void
metrics_sample(const struct metrics *m, const char *name, const char *suffix, const char *node,
	const char *label, const char *value)
{
	fprintf(m->to, "weft_%s%s{node=\"", name, suffix);
	metrics_put_value(m, node);
	if (label != NULL) {
		fprintf(m->to, "\",%s=\"", label);
		metrics_put_value(m, value);
	}
	fputs("\"} ", m->to);
}

static void
metrics_count(const struct metrics *m, const char *name, const char *node, const char *label,
	const char *value, uint64_t count)
{
	metrics_sample(m, name, "_total", node, label, value);
	fprintf(m->to, "%" PRIu64 "\n", count);
}

/* --- counters of nodes --- */

/* The set of a node with that list and that part; NULL: it has none. */
static const struct weft_node_set *
metrics_find_set(const struct weft_node_set *set, unsigned int n, const struct weft_node_set *like)
{
	for (unsigned int i = 0; i < n; i++)
		if (set[i].rows == like->rows && strcmp(set[i].prefix, like->prefix) == 0)
			return &set[i];
	return NULL;
}

static void
metrics_row(const struct metrics *m, const struct weft_node_set *like, unsigned int row,
	unsigned int from)
{
	char name[128];

	snprintf(name, sizeof(name), "%s_%s", like->prefix, like->rows[row].name);
	metrics_family(m, name, "counter", like->rows[row].help);
	for (unsigned int i = from; i < m->d->n_nodes; i++) {
		struct weft_node_set set[WEFT_NODE_SETS];
		const struct node *n = &m->d->node[i];
		const unsigned int sets = weft_node_counters(n->node, set);
		const struct weft_node_set *s = metrics_find_set(set, sets, like);

		if (s != NULL)
			metrics_count(m, name, n->topo->name, NULL, NULL,
				__atomic_load_n(&s->values[row], __ATOMIC_RELAXED));
	}
}

/* Whether a node before this one has shown the set. */
static bool
metrics_is_shown(const struct metrics *m, const struct weft_node_set *like, unsigned int before)
{
	for (unsigned int i = 0; i < before; i++) {
		struct weft_node_set set[WEFT_NODE_SETS];
		const unsigned int sets = weft_node_counters(m->d->node[i].node, set);

		if (metrics_find_set(set, sets, like) != NULL)
			return true;
	}
	return false;
}

static void
metrics_sets(const struct metrics *m)
{
	for (unsigned int i = 0; i < m->d->n_nodes; i++) {
		struct weft_node_set set[WEFT_NODE_SETS];
		const unsigned int sets = weft_node_counters(m->d->node[i].node, set);

		for (unsigned int s = 0; s < sets; s++) {
			if (metrics_is_shown(m, &set[s], i))
				continue;
			for (unsigned int row = 0; row < set[s].n; row++)
				metrics_row(m, &set[s], row, i);
		}
	}
}

/* --- what stands in lists of a node --- */

/* Values of one part of a node, of which there are several: its name, and its counters. */
struct metrics_part {
	char name[WEFT_PORT_NAME_MAX];
	const uint64_t *values;
	uint64_t own[WEFT_LLR_N_COUNTERS + WEFT_LINK_N_COUNTERS + WEFT_SESSION_N_COUNTERS];
};

/* The i-th part of a node; false: there are no more. */
typedef bool (*metrics_part_fn)(const struct node *n, unsigned int i, struct metrics_part *p);

static bool
metrics_port(const struct node *n, unsigned int i, struct metrics_part *p)
{
	struct weft_port_stats st;

	if (i >= n->n_ports)
		return false;
	weft_port_stats(n->port[i], &st);
	static_assert(sizeof(st) <= sizeof(p->own), "room for the counters of a port");
	memcpy(p->own, &st, sizeof(st));
	p->values = p->own;
	snprintf(p->name, sizeof(p->name), "%s", weft_port_name(n->port[i]));
	return true;
}

static bool
metrics_conn(const struct node *n, unsigned int i, struct metrics_part *p)
{
	if (n->conns == NULL || i >= n->node->n_links)
		return false;
	memset(p->own, 0, sizeof(p->own));
	p->values = p->own;
	snprintf(p->name, sizeof(p->name), "%s", weft_node_link_name(&n->node->link[i]));
	return true;
}

static bool
metrics_retry(const struct node *n, unsigned int i, struct metrics_part *p)
{
	if (!metrics_conn(n, i, p))
		return false;
	weft_llr_counts_add(weft_link_llr(n->node->link[i].end), p->own);
	return true;
}

static bool
metrics_end(const struct node *n, unsigned int i, struct metrics_part *p)
{
	if (!metrics_conn(n, i, p))
		return false;
	weft_link_counts_add(n->node->link[i].end, p->own);
	return true;
}

static bool
metrics_session(const struct node *n, unsigned int i, struct metrics_part *p)
{
	if (!metrics_conn(n, i, p))
		return false;
	p->values = weft_link_session(n->node->link[i].end)->count;
	return true;
}

static const struct metrics_list {
	const char *prefix, *label;
	const struct weft_counter *rows;
	unsigned int n;
	metrics_part_fn part;
} lists[] = {
	{ "port", "port", weft_port_counters, WEFT_PORT_COUNTERS, metrics_port },
	{ "session", "peer", weft_session_counters, WEFT_SESSION_N_COUNTERS, metrics_session },
	{ "retry", "peer", weft_llr_counters, WEFT_LLR_N_COUNTERS, metrics_retry },
	{ "link", "peer", weft_link_counters, WEFT_LINK_N_COUNTERS, metrics_end },
};

static void
metrics_list(const struct metrics *m, const struct metrics_list *l, unsigned int row)
{
	struct metrics_part p;
	char name[128];

	snprintf(name, sizeof(name), "%s_%s", l->prefix, l->rows[row].name);
	metrics_family(m, name, "counter", l->rows[row].help);
	for (unsigned int i = 0; i < m->d->n_nodes; i++)
		for (unsigned int k = 0; l->part(&m->d->node[i], k, &p); k++)
			metrics_count(
				m, name, m->d->node[i].topo->name, l->label, p.name, p.values[row]);
}

/* The same of stages, whose lists of counters are their own. */
static void
metrics_stages(const struct metrics *m, const char *name, const char *help,
	uint64_t (*value)(const struct weft_stage_stats *st))
{
	metrics_family(m, name, "counter", help);
	for (unsigned int i = 0; i < m->d->n_nodes; i++) {
		const struct node *n = &m->d->node[i];
		const struct weft_pipe *pipe[] = { n->rx, n->tx };

		for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(pipe); k++)
			for (unsigned int s = 0; pipe[k] != NULL && s < weft_pipe_n_stages(pipe[k]);
				s++) {
				struct weft_stage_stats st;

				if (weft_pipe_sum(pipe[k], s, &st))
					metrics_count(m, name, n->topo->name, "stage",
						weft_pipe_stage(pipe[k], s)->name, value(&st));
			}
	}
}

static uint64_t
metrics_bursts(const struct weft_stage_stats *st)
{
	return st->bursts;
}

static uint64_t
metrics_frames(const struct weft_stage_stats *st)
{
	return st->frames;
}

static uint64_t
metrics_flits(const struct weft_stage_stats *st)
{
	return st->flits;
}

static uint64_t
metrics_cycles(const struct weft_stage_stats *st)
{
	return st->cycles;
}

static void
metrics_drops(const struct metrics *m)
{
	metrics_family(m, "dropped", "counter", "Frames, flits and messages dropped, by reason");
	for (unsigned int i = 0; i < m->d->n_nodes; i++)
		for (unsigned int v = WEFT_OK + 1; v < WEFT_VERDICT_COUNT; v++)
			metrics_count(m, "dropped", m->d->node[i].topo->name, "reason",
				weft_verdict_name((enum weft_verdict)v),
				report_drops(&m->d->node[i], (enum weft_verdict)v));
}

/* --- times --- */

/* Upper edges of buckets are powers of two; a row of the histogram lies within one. */
static void
metrics_latency(
	const struct metrics *m, const char *node, const char *kind, const struct weft_latency *l)
{
	struct weft_latency_row row;
	unsigned int at = 0;
	uint64_t n = 0;
	bool has_row = weft_latency_walk(l, &at, &row);

	for (unsigned int e = METRICS_LEAST_LOG2; e <= METRICS_MOST_LOG2; e++) {
		for (; has_row && row.most_ns < UINT64_C(1) << e;
			has_row = weft_latency_walk(l, &at, &row))
			n += row.n;
		fprintf(m->to,
			"weft_request_duration_seconds_bucket{node=\"%s\",kind=\"%s\",le=\"%.9g\"} "
			"%" PRIu64 "\n",
			node, kind, (double)(UINT64_C(1) << e) / 1e9, n);
	}
	for (; has_row; has_row = weft_latency_walk(l, &at, &row))
		n += row.n;
	fprintf(m->to,
		"weft_request_duration_seconds_bucket{node=\"%s\",kind=\"%s\",le=\"+Inf\"} %" PRIu64
		"\n"
		"weft_request_duration_seconds_sum{node=\"%s\",kind=\"%s\"} %.9g\n"
		"weft_request_duration_seconds_count{node=\"%s\",kind=\"%s\"} %" PRIu64 "\n",
		node, kind, n, node, kind, weft_latency_mean(l) * (double)n / 1e9, node, kind, n);
}

static void
metrics_latencies(const struct metrics *m)
{
	metrics_family(m, "request_duration_seconds", "histogram",
		"Time from a request to its answer, of the load of hosts and devices");
	for (unsigned int i = 0; i < m->d->n_nodes; i++) {
		const struct node *n = &m->d->node[i];
		struct weft_node_requests r;

		if (weft_node_mem(n->node, &r) && r.requester != NULL)
			metrics_latency(
				m, n->topo->name, "mem", weft_requester_latency(r.requester));
		if (weft_node_uio(n->node, &r) && r.requester != NULL)
			metrics_latency(
				m, n->topo->name, "uio", weft_requester_latency(r.requester));
	}
}

/* --- what is now --- */

static void
metrics_state(const struct metrics *m)
{
	metrics_family(m, "build_info", "gauge", "What runs; the value is 1");
	fprintf(m->to, "weft_build_info{version=\"" WEFT_VERSION "\",fabric=\"");
	metrics_put_value(m, m->d->topo->fabric);
	fputs("\"} 1\n", m->to);
	metrics_family(m, "uptime_seconds", "gauge", "Since the nodes began");
	fprintf(m->to, "weft_uptime_seconds %.3f\n", m->seconds);
	metrics_family(m, "good", "gauge", "1: no host or device met wrong data or lost a request");
	fprintf(m->to, "weft_good %d\n", report_is_good(m->d));
	metrics_family(m, "connection_up", "gauge", "1: the session with the peer is up");
	for (unsigned int i = 0; i < m->d->n_nodes; i++) {
		const struct node *n = &m->d->node[i];

		for (uint16_t k = 0; n->conns != NULL && k < n->node->n_links; k++) {
			const struct weft_node_link *l = &n->node->link[k];

			metrics_sample(m, "connection_up", "", n->topo->name, "peer",
				weft_node_link_name(l));
			fprintf(m->to, "%d\n",
				__atomic_load_n(&l->state, __ATOMIC_RELAXED) == WEFT_NODE_UP);
		}
	}
}

static void
metrics_events(const struct metrics *m)
{
	metrics_family(m, "events", "counter", "Events that operators hear of, by kind");
	for (unsigned int k = 0; k < EVENT_KINDS; k++)
		fprintf(m->to, "weft_events_total{kind=\"%s\"} %" PRIu64 "\n",
			event_word((enum event_kind)k), event_count((enum event_kind)k));
}

static void
metrics_put_injected(void *to, const char *what, uint64_t n)
{
	fprintf(to, "weft_injected_total{what=\"%s\"} %" PRIu64 "\n", what, n);
}

static void
metrics_injections(const struct metrics *m)
{
	json_t *list = injects_list_json(0, m->seconds);

	metrics_family(m, "injections", "gauge", "Faults that operators inject now");
	fprintf(m->to, "weft_injections %zu\n", json_array_size(list));
	json_decref(list);
	metrics_family(m, "injected", "counter",
		"Frames, flits, lines, reads and pauses that injected faults hit");
	injects_each(metrics_put_injected, m->to);
}

char *
metrics_text(const struct daemon *d, double seconds, bool is_open, size_t *len)
{
	char *text = NULL;
	struct metrics m = { .d = d, .seconds = seconds, .is_open = is_open };

	m.to = open_memstream(&text, len);
	if (m.to == NULL)
		return NULL;
	metrics_state(&m);
	metrics_events(&m);
	metrics_injections(&m);
	metrics_drops(&m);
	metrics_stages(&m, "stage_bursts", "Bursts that a stage took", metrics_bursts);
	metrics_stages(&m, "stage_frames", "Frames that a stage took", metrics_frames);
	metrics_stages(&m, "stage_flits", "Flits that a stage worked on", metrics_flits);
	metrics_stages(&m, "stage_cycles", "Cycles of the CPU's time-stamp counter in a stage",
		metrics_cycles);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(lists); i++)
		for (unsigned int row = 0; row < lists[i].n; row++)
			metrics_list(&m, &lists[i], row);
	metrics_sets(&m);
	metrics_latencies(&m);
	if (is_open)
		fputs("# EOF\n", m.to);
	if (fclose(m.to) == 0)
		return text;
	free(text);
	return NULL;
}
