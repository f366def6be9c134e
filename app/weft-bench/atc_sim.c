/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The translation cache under the workloads of ats.md section 8. It is the cache of lib/ats that
 * runs, with its streams; only time is missing: what is asked for is there at once.
 */

#include "atc_sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "atc_load.h"
#include "bench.h"
#include "json.h"
#include "weft_atc_prefetcher.h"

#define ACCESS_BYTES 256
#define LINE_GBPS 100.0
#define REQUESTS_UNDER_WAY 32

static const unsigned int rtt_us[] = { 2, 5, 10 };

struct sim_row {
	const char *workload;
	enum weft_atc_class page;
	unsigned int entries;
	unsigned int prefetch;
	/* behind the warm-up */
	uint64_t accesses;
	uint64_t hits;
	uint64_t visits; /* accesses that begin another page of their stream */
	uint64_t visit_hits;
	uint64_t requests;
	uint64_t translations; /* fetched by them */
};

struct sim {
	struct weft_atc *cache;
	struct weft_atc_prefetcher *prefetcher;
	struct atc_load load;
	uint64_t page[ATC_LOAD_STREAMS]; /* of each stream's access before; none at first */
};

/* Ask for what is missing. The agent maps every page to itself. */
static void
sim_fetch(struct sim *s, const struct atc_access *a, unsigned int log2, struct sim_row *row)
{
	const unsigned int n = weft_atc_prefetcher_miss(s->prefetcher, a->ctx, a->va, log2);
	uint64_t va = a->va & ~weft_mask64(log2);
	unsigned int flags = WEFT_ATC_R | WEFT_ATC_W;

	for (unsigned int i = 0; i < n; i++) {
		weft_atc_install(s->cache, a->ctx, va, va, log2, flags);
		va += WEFT_BIT64(log2);
		flags |= WEFT_ATC_PREFETCHED;
	}
	row->requests++;
	row->translations += n;
}

static void
sim_step(struct sim *s, const struct atc_workload *w, unsigned int log2, struct sim_row *row)
{
	struct atc_access a = { 0 };
	uint64_t pa;
	bool hit, visit;

	w->next(&s->load, &a);
	s->load.i++;
	hit = weft_atc_lookup(s->cache, a.ctx, a.va, WEFT_ATC_R, &pa) == WEFT_ATC_HIT;
	visit = s->page[a.stream] != a.va >> log2;
	s->page[a.stream] = a.va >> log2;
	row->accesses++;
	row->hits += hit;
	row->visits += visit;
	row->visit_hits += visit && hit;
	if (!hit)
		sim_fetch(s, &a, log2, row);
}

static void
sim_run(const struct atc_workload *w, uint64_t accesses, struct sim_row *row)
{
	struct weft_atc_cfg cfg = { .contexts = ATC_LOAD_CONTEXTS };
	const unsigned int log2 = weft_atc_class_log2(row->page);
	const struct sim_row empty = *row;
	struct sim *s = bench_alloc(sizeof(*s));
	void *cache_mem, *prefetcher_mem;

	cfg.sets[row->page] = row->entries / WEFT_ATC_WAYS;
	cache_mem = bench_alloc(weft_atc_size(&cfg));
	s->cache = weft_atc_init(cache_mem, &cfg);
	prefetcher_mem = bench_alloc(weft_atc_prefetcher_size(4 * ATC_LOAD_STREAMS));
	s->prefetcher =
		weft_atc_prefetcher_init(prefetcher_mem, 4 * ATC_LOAD_STREAMS, row->prefetch);
	atc_load_init(&s->load);
	memset(s->page, 0xFF, sizeof(s->page));
	for (uint64_t i = 0; i < accesses; i++) {
		if (i == accesses / 4)
			*row = empty;
		sim_step(s, w, log2, row);
	}
	free(prefetcher_mem);
	free(cache_mem);
	free(s);
}

static double
sim_ratio(uint64_t part, uint64_t all)
{
	return all == 0 ? 1 : (double)part / (double)all;
}

/* Requests that fit the round trip, or the line, whichever is less. */
static double
sim_gbps_at(const struct sim_row *row, unsigned int rtt)
{
	const double per_access = sim_ratio(row->requests, row->accesses);
	const double bits = 8 * ACCESS_BYTES * REQUESTS_UNDER_WAY;
	const double waiting = per_access * rtt * 1000;

	return waiting == 0 || bits / waiting > LINE_GBPS ? LINE_GBPS : bits / waiting;
}

static double
sim_requests_per_gib(const struct sim_row *row)
{
	return sim_ratio(row->requests, row->accesses) * (double)(UINT64_C(1) << 30) / ACCESS_BYTES;
}

static void
sim_print_head(void)
{
	printf("%-9s %4s %8s %8s %8s %9s %13s %12s   %s\n", "workload", "page", "entries",
		"prefetch", "of flits", "of visits", "requests/GiB", "translations",
		"Gb/s at 2, 5, 10 us");
}

static void
sim_print_row(const struct sim_row *row)
{
	printf("%-9s %4s %8u %8u %8.4f %9.4f %13.0f %12.2f   %.1f %.1f %.1f\n", row->workload,
		weft_atc_class_words[row->page], row->entries, row->prefetch,
		sim_ratio(row->hits, row->accesses), sim_ratio(row->visit_hits, row->visits),
		sim_requests_per_gib(row), sim_ratio(row->translations, row->requests),
		sim_gbps_at(row, rtt_us[0]), sim_gbps_at(row, rtt_us[1]),
		sim_gbps_at(row, rtt_us[2]));
	fflush(stdout);
}

static json_t *
sim_row_json(const struct sim_row *row)
{
	return json_pack("{s:s, s:s, s:i, s:i, s:I, s:f, s:f, s:f, s:f, s:[f, f, f]}", "workload",
		row->workload, "page", weft_atc_class_words[row->page], "entries",
		(int)row->entries, "prefetch", (int)row->prefetch, "accesses",
		(json_int_t)row->accesses, "hit_ratio", sim_ratio(row->hits, row->accesses),
		"visit_hit_ratio", sim_ratio(row->visit_hits, row->visits), "requests_per_gib",
		sim_requests_per_gib(row), "translations_per_request",
		sim_ratio(row->translations, row->requests), "gbps_at_rtt_2_5_10_us",
		sim_gbps_at(row, rtt_us[0]), sim_gbps_at(row, rtt_us[1]),
		sim_gbps_at(row, rtt_us[2]));
}

/* Every combination of one workload. */
static void
sim_run_workload(
	const struct atc_sim_cfg *cfg, const struct atc_workload *w, bool text, json_t *rows)
{
	const unsigned int sizes = cfg->n_entries * cfg->n_prefetch;

	for (unsigned int i = 0; i < WEFT_ATC_CLASSES * sizes; i++) {
		struct sim_row row = {
			.workload = w->name,
			.page = (enum weft_atc_class)(i / sizes),
			.prefetch = cfg->prefetch[i % sizes / cfg->n_entries],
			.entries = cfg->entries[i % cfg->n_entries],
		};

		if ((cfg->pages & 1u << row.page) == 0)
			continue;
		sim_run(w, cfg->accesses, &row);
		if (text)
			sim_print_row(&row);
		json_array_append_new(rows, sim_row_json(&row));
	}
}

int
atc_sim_run(const struct atc_sim_cfg *cfg, const char *json)
{
	const bool text = !json_is_output(json);
	json_t *rows = json_array();
	json_t *o;
	int rc = 0;

	if (text)
		sim_print_head();
	for (unsigned int i = 0; i < atc_n_workloads; i++)
		if ((cfg->workloads & 1u << i) != 0)
			sim_run_workload(cfg, &atc_workloads[i], text, rows);
	o = json_pack("{s:s, s:o}", "version", WEFT_VERSION, "atc", rows);
	if (json != NULL)
		rc = json_write(json, o);
	json_decref(o);
	return rc;
}
