/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flits a second: of each link, and summed of each node and each lcore, over the whole run and over
 * the last interval. Every flit that a port gave or was given counts, also one that is sent again.
 */

#include "report.h"
#include "backlog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define RATE_SECOND UINT64_C(1000000000)

/* A port at the end of the last interval. */
struct rate_port {
	uint64_t in, out; /* flits until then */
	uint64_t last_in, last_out; /* flits a second in it; telemetry reads them */
};

struct rates {
	uint64_t at_ns; /* end of the last interval; 0: none has begun */
	struct rate_port port[]; /* by port index of the topology */
};

int
rates_init(struct daemon *d)
{
	d->rates = calloc(1, sizeof(*d->rates) + d->topo->n_ports * sizeof(d->rates->port[0]));
	return d->rates == NULL ? -ENOMEM : 0;
}

/* Flits of a port so far. */
static void
rate_count(const struct node *n, unsigned int p, uint64_t *in, uint64_t *out)
{
	*in = __atomic_load_n(&n->ingress.seen[p].flits, __ATOMIC_RELAXED);
	*out = __atomic_load_n(&n->out[p].flits, __ATOMIC_RELAXED);
}

void
rate_add(const struct node *n, unsigned int p, double seconds, struct rate *r)
{
	const struct rate_port *rp = &n->daemon->rates->port[n->topo->first_port + p];
	uint64_t in, out;

	rate_count(n, p, &in, &out);
	if (seconds > 0) {
		r->in += (double)in / seconds;
		r->out += (double)out / seconds;
	}
	r->last_in += (double)__atomic_load_n(&rp->last_in, __ATOMIC_RELAXED);
	r->last_out += (double)__atomic_load_n(&rp->last_out, __ATOMIC_RELAXED);
}

void
rate_node(const struct node *n, double seconds, struct rate *r)
{
	*r = (struct rate){ 0 };
	for (unsigned int p = 0; p < n->n_ports; p++)
		rate_add(n, p, seconds, r);
}

bool
rate_lcore(const struct daemon *d, unsigned int lcore, double seconds, struct rate *r)
{
	bool is_used = false;

	*r = (struct rate){ 0 };
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		if (d->node[i].lcore != lcore)
			continue;
		is_used = true;
		for (unsigned int p = 0; p < d->node[i].n_ports; p++)
			rate_add(&d->node[i], p, seconds, r);
	}
	return is_used;
}

/* The interval is over: what came and went in it. */
static void
rate_take(struct daemon *d, uint64_t span_ns)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];

		for (unsigned int p = 0; p < n->n_ports; p++) {
			struct rate_port *rp = &d->rates->port[n->topo->first_port + p];
			const double s = (double)span_ns / 1e9;
			uint64_t in, out;

			rate_count(n, p, &in, &out);
			__atomic_store_n(&rp->last_in, (uint64_t)((double)(in - rp->in) / s),
				__ATOMIC_RELAXED);
			__atomic_store_n(&rp->last_out, (uint64_t)((double)(out - rp->out) / s),
				__ATOMIC_RELAXED);
			rp->in = in;
			rp->out = out;
		}
	}
}

static void
rate_print(const struct daemon *d)
{
	FILE *to = d->cfg.output_is_taken ? stderr : stdout;
	struct rate r;

	fprintf(to, "Mflit/s in, out:");
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		rate_node(&d->node[i], 0, &r);
		fprintf(to, "  %s %.3f, %.3f", d->node[i].topo->name, r.last_in / 1e6,
			r.last_out / 1e6);
	}
	fputc('\n', to);
}

void
rates_maintain(struct daemon *d)
{
	const double interval_s = d->cfg.stats_s > 0 ? d->cfg.stats_s : 1;
	const uint64_t now_ns = node_now_ns();
	const uint64_t span_ns = now_ns - d->rates->at_ns;

	if (d->rates->at_ns != 0 && (double)span_ns < interval_s * (double)RATE_SECOND)
		return;
	if (d->rates->at_ns != 0) {
		rate_take(d, span_ns);
		if (d->cfg.stats_s > 0)
			rate_print(d);
	}
	d->rates->at_ns = now_ns;
}

json_t *
rate_json(const struct rate *r)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "in", r->in / 1e6, "out", r->out / 1e6, "last_in",
		r->last_in / 1e6, "last_out", r->last_out / 1e6);
}

void
rate_text(const struct node *n, double seconds)
{
	const struct weft_topo *t = n->daemon->topo;
	struct rate r;

	rate_node(n, seconds, &r);
	printf("  %.3f Mflit/s in, %.3f out", r.in / 1e6, r.out / 1e6);
	for (unsigned int p = 0; p < n->n_ports && n->n_ports > 1; p++) {
		r = (struct rate){ 0 };
		rate_add(n, p, seconds, &r);
		printf("; %s %.3f, %.3f", t->node[t->neighbour[n->topo->first_port + p]].name,
			r.in / 1e6, r.out / 1e6);
	}
	putchar('\n');
}
