/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-bench: Mflit/s and cycles per flit of each stage and of whole pipelines. Every result has
 * its output checked before it is timed and again behind it. doc/bench.md is its manual.
 */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_lcore.h>

#include "cli.h"
#include "json.h"
#include "live.h"
#include "options.h"
#include "result.h"
#include "start.h"
#include "weft_wire.h"

#define POOL_FRAMES 1023

static bool
bench_is_wanted(const struct options *o, const struct bench *b)
{
	for (unsigned int i = 0; i < o->n_stages; i++)
		if (strcmp(o->stage[i], b->name) == 0)
			return true;
	return o->n_stages == 0 && o->sig == bench_is_sig(b);
}

/* The rows of the name asked for; where a family has none of it, its best. */
static void
bench_choose_kernels(struct bench_params *p, const char *name, uint32_t features)
{
	p->fec = weft_fec_kernel_find(name, features);
	if (p->fec == NULL)
		p->fec = weft_fec_kernel_find(NULL, features);
	p->crc = weft_crc_kernel_find(name, features);
	if (p->crc == NULL)
		p->crc = weft_crc_kernel_find(NULL, features);
	p->atc = weft_atc_kernel_find(name, features);
	if (p->atc == NULL)
		p->atc = weft_atc_kernel_find(NULL, features);
	p->req_scan = weft_req_scan_kernel_find(name, features);
	if (p->req_scan == NULL)
		p->req_scan = weft_req_scan_kernel_find(NULL, features);
	p->crc64 = weft_crc64_kernel_find(name, features);
	if (p->crc64 == NULL)
		p->crc64 = weft_crc64_kernel_find(NULL, features);
	p->sig = weft_sig_kernel_find(name, features);
	if (p->sig == NULL)
		p->sig = weft_sig_kernel_find(NULL, features);
}

/* Runs of flits go by the kernel of one pass where there is one, else flit by flit. */
static const char *
bench_ide_kernel(const struct weft_ide_lib *lib)
{
	const char *pass = weft_ide_lib_run_kernel(lib);

	return strcmp(pass, "none") == 0 ? weft_ide_lib_kernel(lib) : pass;
}

/* Name of the kernel that a benchmark runs; NULL if it is not the one asked for. */
static const char *
bench_kernel_name(const struct options *o, const struct bench *b, const struct bench_params *p)
{
	static char both[64];
	const char *name;

	switch (b->family) {
	case BENCH_FEC: name = p->fec->k.name; break;
	case BENCH_CRC: name = p->crc->k.name; break;
	case BENCH_ATC: name = p->atc->k.name; break;
	case BENCH_CRC64: name = p->crc64->k.name; break;
	case BENCH_SIG: name = p->sig->k.name; break;
	case BENCH_ISAL: name = "isa-l"; break;
	case BENCH_CODEC:
		name = p->fec->k.name;
		if (strcmp(name, p->crc->k.name) != 0) {
			snprintf(both, sizeof(both), "%s+%s", name, p->crc->k.name);
			name = both;
		}
		break;
	case BENCH_IDE: name = bench_ide_kernel(p->ide); break;
	case BENCH_GCM: name = weft_ide_lib_kernel(p->ide); break;
	default: name = "scalar"; break;
	}
	/* The path of the library beside a kernel for runs is a name of such a row too. */
	return o->kernel == NULL || strcmp(o->kernel, name) == 0 ||
	                       (b->family == BENCH_IDE &&
				       strcmp(o->kernel, weft_ide_lib_kernel(p->ide)) == 0)
	               ? name
	               : NULL;
}

/* One result; false if the answer was wrong. */
static bool
bench_run_one(const struct bench_params *p, const struct options *o, struct result *r)
{
	const struct bench *b = r->b;
	void *ctx = b->ops->setup(b, p);

	if (ctx == NULL)
		return false;
	/* What two lcores work on is looked at when both have stopped. */
	if (p->layout != BENCH_RING && !b->ops->is_right(ctx)) {
		cli_warn("%s: wrong answer", b->name);
		b->ops->free(ctx);
		return false;
	}
	measure(b, ctx, o->seconds, o->iterations, r);
	if (o->count)
		count_instructions(b, ctx, r);
	r->checked = b->ops->is_right(ctx);
	b->ops->free(ctx);
	if (!r->checked)
		cli_warn("%s (%s): wrong answer behind the timing", b->name,
			bench_layout_words[p->layout]);
	return r->checked;
}

/* Whether the length of frames is anything to a benchmark. */
static bool
bench_uses_frames(const struct bench *b)
{
	return b >= bench_pipe && b < bench_pipe + bench_n_pipe;
}

/* What is measured, and what has come of it so far. */
struct session {
	const struct options *o;
	struct bench_params *p;
	json_t *results;
	bool text; /* standard output is for people */
	bool good;
};

static void
bench_run_layouts(struct session *s, const struct bench *b, const char *kernel)
{
	for (int l = 0; l < BENCH_LAYOUTS; l++) {
		struct result r = { .b = b,
			.layout = (enum bench_layout)l,
			.frame_flits = s->p->frame_flits,
			.kernel = kernel };

		if (!(b->layouts & 1 << l) || (s->o->layout >= 0 && s->o->layout != l) ||
			cli_is_stopped())
			continue;
		s->p->layout = r.layout;
		s->good &= bench_run_one(s->p, s->o, &r);
		if (s->text)
			result_print(&r);
		json_array_append_new(s->results, result_json(&r));
	}
}

static void
bench_run_all(struct session *s)
{
	const struct options *o = s->o;
	const struct bench *b;

	if (s->text)
		result_print_head();
	for (unsigned int i = 0; (b = bench_at(i)) != NULL; i++) {
		const char *kernel = bench_kernel_name(o, b, s->p);
		const unsigned int n = bench_uses_frames(b) ? o->n_frame_flits : 1;

		if (!bench_is_wanted(o, b))
			continue;
		if (kernel == NULL && o->n_stages != 0)
			cli_usage("--kernel %s: stage %s has no such kernel here", o->kernel,
				b->name);
		for (unsigned int k = 0; kernel != NULL && k < n; k++) {
			s->p->frame_flits = o->frame_flits[k];
			bench_run_layouts(s, b, kernel);
		}
	}
	if (cli_is_stopped()) {
		cli_warn("stopped by a signal: results are missing");
		s->good = false;
		return;
	}
	if (json_array_size(s->results) != 0)
		return;
	if (o->kernel != NULL)
		cli_usage("--kernel %s: no stage has a kernel of that name here", o->kernel);
	cli_fail("nothing to measure: the stages asked for do not have this layout");
}

/* Whether the two lcores have to share one CPU. */
static bool
bench_share_cpu(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 2 &&
	       rte_lcore_to_cpu_id((int)rte_get_main_lcore()) ==
	               rte_lcore_to_cpu_id((int)rte_get_next_lcore(rte_get_main_lcore(), 1, 1));
}

/* Ports, and what EAL and the pool have to have for them. */
static void
bench_read_live(const struct options *o, struct wire *w, struct weft_eal_cfg *eal,
	struct weft_pool_cfg *pool)
{
	static const char *const names[WIRE_PORTS] = { "a", "b" };

	for (unsigned int i = 0; i < WIRE_PORTS && o->live[i] != NULL; i++)
		wire_read(w, "--live", o->live[i], names, WIRE_PORTS);
	if (w->n != WIRE_PORTS)
		cli_usage("--live: expected two ports with a comma between them, or ring, got one");
	wire_eal(w, eal);
	pool->n_mbufs += wire_frames(w);
	pool->max_flits = 1;
	for (unsigned int i = 0; i < o->n_frame_flits; i++)
		pool->max_flits = RTE_MAX(pool->max_flits, o->frame_flits[i]);
}

/* What needs no DPDK. Does not return if that was all. */
static void
bench_run_without_dpdk(const struct options *o, int eal_argc)
{
	int rc;

	if (eal_argc != 0 && (o->list || o->atc.workloads != 0))
		cli_warn("EAL arguments: no effect with %s, which does not start DPDK",
			o->list ? "--list" : "--atc-workload");
	if (!o->list)
		json_check(o->json);
	if (!o->list && o->atc.workloads == 0)
		return;
	rc = o->list ? bench_print_list(o) : atc_sim_run(&o->atc, o->json);
	if (rc != 0)
		cli_warn("--json %s: %s", o->json, weft_file_error(rc));
	cli_exit(rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Stages and pipelines. */
static bool
bench_run_here(struct session *s)
{
	int rc = 0;

	s->results = json_array();
	bench_run_all(s);
	if (s->o->json != NULL)
		rc = results_write(s->o->json, s->results);
	if (rc != 0)
		cli_warn("--json %s: %s", s->o->json, weft_file_error(rc));
	json_decref(s->results);
	return s->good && rc == 0;
}

int
main(int argc, char **argv)
{
	static struct wire wire;
	struct weft_eal_cfg eal = { .memory_mb = 64, .n_lcores = 2 };
	struct weft_pool_cfg pool = { .name = "bench",
		.n_mbufs = POOL_FRAMES,
		.max_flits = WEFT_WIRE_FLITS_MAX,
		.cache = 64 };
	struct bench_params p = { 0 };
	struct options o;
	uint32_t features;
	struct session s = { .o = &o, .p = &p, .good = true };
	bool good;

	argc = cli_split_eal(argc, argv, &eal.user_argc, &eal.user_argv);
	options_parse(&o, argc, argv);
	bench_run_without_dpdk(&o, eal.user_argc);
	if (o.live[0] != NULL)
		bench_read_live(&o, &wire, &eal, &pool);
	features = cli_cpu_features();
	s.text = !json_is_output(o.json);
	p.pool = start_dpdk(&eal, &pool);
	if (rte_lcore_count() < 2)
		cli_fail("expected two lcores, got one; leave out -l and --lcores, or name two");
	p.worker = rte_get_next_lcore(rte_get_main_lcore(), 1, 1);
	p.share_cpu = bench_share_cpu();
	if (p.share_cpu && s.text)
		puts("note: one CPU for two lcores: rings are slow here");
	bench_choose_kernels(&p, o.kernel, features);
	cli_report_kernels();
	p.ide = weft_ide_lib_open(features);
	if (p.ide == NULL)
		cli_fail("intel-ipsec-mb does not run on this CPU");
	cli_catch_stop();
	good = o.live[0] != NULL ? live_run(&o, &wire, &p) : bench_run_here(&s);
	weft_ide_lib_close(p.ide);
	weft_eal_stop();
	cli_exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}
