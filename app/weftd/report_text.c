/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the nodes counted, as text. */

#include "report.h"
#include "transfer.h"

#include <stdio.h>

static void
text_host(const struct node *n, const struct weft_node_requests *r, double seconds)
{
	const uint64_t *c = weft_traffic_counts(r->traffic);
	const struct weft_latency *l = weft_requester_latency(r->requester);
	const struct weft_traffic_mismatch *bad;
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
	if (c[WEFT_TRAFFIC_N_REFUSED] != 0)
		printf("  %lu requests refused: memory that is closed to it\n",
			(unsigned long)c[WEFT_TRAFFIC_N_REFUSED]);
	bad = weft_traffic_first_mismatch(r->traffic);
	if (bad != NULL)
		printf("  first mismatch: address %#lx of PID %#x\n", (unsigned long)bad->hpa,
			bad->dpid);
}

static void
text_uio(const struct weft_node_requests *r)
{
	const uint64_t *c = weft_traffic_counts(r->traffic);
	const struct weft_latency *l = weft_requester_latency(r->requester);
	const struct weft_traffic_mismatch *bad = weft_traffic_first_mismatch(r->traffic);

	printf("  uio: %lu writes, %lu reads, %lu lines verified, %lu mismatches, %lu refused, %lu "
	       "lost; latency p50 %.1f us p99 %.1f us\n",
		(unsigned long)c[WEFT_TRAFFIC_N_WRITES], (unsigned long)c[WEFT_TRAFFIC_N_READS],
		(unsigned long)c[WEFT_TRAFFIC_N_VERIFIED],
		(unsigned long)c[WEFT_TRAFFIC_N_MISMATCHES],
		(unsigned long)c[WEFT_TRAFFIC_N_REFUSED], (unsigned long)c[WEFT_TRAFFIC_N_LOST],
		(double)weft_latency_quantile(l, 5000) / 1e3,
		(double)weft_latency_quantile(l, 9900) / 1e3);
	if (bad != NULL)
		printf("  first mismatch by UIO: address %#lx, %s\n", (unsigned long)bad->hpa,
			weft_traffic_uio_counters[bad->why].name);
}

static void
text_node(const struct node *n)
{
	const struct weft_stage_stats *st = weft_pipe_stats(n->rx, 0);

	printf("%s %-8s %10lu frames %10lu flits in", weft_topo_kind_words[n->topo->kind],
		n->topo->name, (unsigned long)st->frames, (unsigned long)st->flits);
	for (unsigned int i = 0; i < weft_pipe_n_stages(n->rx); i++) {
		struct weft_stage_stats s;

		if (weft_pipe_sum(n->rx, i, &s))
			printf("  %s %.0f", weft_pipe_stage(n->rx, i)->name,
				s.flits == 0 ? 0 : (double)s.cycles / (double)s.flits);
	}
	printf(" cycles/flit\n");
	for (unsigned int v = WEFT_OK + 1; v < WEFT_VERDICT_COUNT; v++) {
		uint64_t sum = report_drops(n, (enum weft_verdict)v);

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

	for (uint16_t i = 0; i < n->node->n_links; i++) {
		weft_llr_counts_add(weft_link_llr(n->node->link[i].end), sum);
		losses += weft_link_session(n->node->link[i].end)->count[WEFT_SESSION_N_LOSSES];
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
		struct weft_node_requests r;

		text_node(n);
		rate_text(n, seconds);
		text_retry(n);
		if (weft_node_uio(n->node, &r) && r.traffic != NULL)
			text_uio(&r);
		if (weft_node_transfers(n->node) != NULL)
			transfers_text(n);
		if (weft_node_mem(n->node, &r) && r.traffic != NULL)
			text_host(n, &r, seconds);
	}
	for (unsigned int lcore = 0; lcore < RTE_MAX_LCORE; lcore++)
		if (rate_lcore(d, lcore, seconds, &rate))
			printf("lcore %u  %.3f Mflit/s in, %.3f out\n", lcore, rate.in / 1e6,
				rate.out / 1e6);
}
