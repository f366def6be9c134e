/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The command line of weft-bench, and the list of benchmarks that it names. */

#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "result.h"
#include "weft_wire.h"
#include "words.h"

#define FRAME_FLITS_DEFAULT 8

const char *const bench_layout_words[] = { "rtc", "ring", NULL };

static const char usage_text[] =
	"usage: weft-bench [options] [-- EAL arguments]\n"
	"\n"
	"Measure Mflit/s and cycles per flit of each stage and of whole pipelines.\n"
	"\n"
	"  --list                the stages, and end\n"
	"  --stage NAME[,NAME]   only these; may be given again (all)\n"
	"  --sig                 block signatures, every type and block size, instead of all else\n"
	"  --kernel NAME         this kernel or none (the best that this CPU and WEFT_CPU allow)\n"
	"  --layout rtc|ring     run to completion on one lcore, or split over two by a ring\n"
	"                        (rtc, and for pipelines both)\n"
	"  --frame-flits N[,N]   flits a frame in pipelines and rings, 1 to 64 (8)\n"
	"  --seconds S           time for each result, 0.01 to 60 (0.5)\n"
	"  --iterations N        exactly N timed runs for each result instead, 1 to 100000\n"
	"  --count               count instructions a flit too (counters, else single steps)\n"
	"  --atc-workload NAME[,NAME]|all  hit ratios of the translation cache instead of speed:\n"
	"                        streams, uniform, zipf, nvme, nic, kv\n"
	"  --atc-entries N[,N]   entries of the cache (64,256,1024,4096,16384,65536)\n"
	"  --atc-page SIZE[,SIZE]  4K, 64K, 2M, 1G (4K)\n"
	"  --atc-prefetch N[,N]  translations a request at most, 1 to 15 (1)\n"
	"  --atc-accesses N      of 256 B, the first quarter being warm-up (4000000)\n"
	"  --json FILE|-         write the results as JSON\n"
	"  --version, -h, --help\n";

enum {
	OPT_LIST = 256,
	OPT_STAGE,
	OPT_SIG,
	OPT_KERNEL,
	OPT_LAYOUT,
	OPT_FRAME_FLITS,
	OPT_SECONDS,
	OPT_ITERATIONS,
	OPT_COUNT,
	OPT_ATC_WORKLOAD,
	OPT_ATC_ENTRIES,
	OPT_ATC_PAGE,
	OPT_ATC_PREFETCH,
	OPT_ATC_ACCESSES,
	OPT_JSON,
	OPT_VERSION,
};

/* What only measuring the speed looks at, and only the translation cache. */
#define OPTS_SPEED                                                                                 \
	(CLI_BIT(OPT_STAGE) | CLI_BIT(OPT_KERNEL) | CLI_BIT(OPT_LAYOUT) |                          \
		CLI_BIT(OPT_FRAME_FLITS) | CLI_BIT(OPT_SECONDS) | CLI_BIT(OPT_ITERATIONS) |        \
		CLI_BIT(OPT_COUNT))
#define OPTS_ATC                                                                                   \
	(CLI_BIT(OPT_ATC_ENTRIES) | CLI_BIT(OPT_ATC_PAGE) | CLI_BIT(OPT_ATC_PREFETCH) |            \
		CLI_BIT(OPT_ATC_ACCESSES))

static const struct option long_options[] = {
	{ "list", no_argument, NULL, OPT_LIST },
	{ "stage", required_argument, NULL, OPT_STAGE },
	{ "sig", no_argument, NULL, OPT_SIG },
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "frame-flits", required_argument, NULL, OPT_FRAME_FLITS },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "iterations", required_argument, NULL, OPT_ITERATIONS },
	{ "count", no_argument, NULL, OPT_COUNT },
	{ "atc-workload", required_argument, NULL, OPT_ATC_WORKLOAD },
	{ "atc-entries", required_argument, NULL, OPT_ATC_ENTRIES },
	{ "atc-page", required_argument, NULL, OPT_ATC_PAGE },
	{ "atc-prefetch", required_argument, NULL, OPT_ATC_PREFETCH },
	{ "atc-accesses", required_argument, NULL, OPT_ATC_ACCESSES },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

const struct bench *
bench_at(unsigned int i)
{
	const struct {
		const struct bench *b;
		unsigned int n;
	} all[] = {
		{ bench_codec, bench_n_codec },
		{ bench_data, bench_n_data },
		{ bench_ide, bench_n_ide },
		{ bench_route, bench_n_route },
		{ bench_mail, bench_n_mail },
		{ bench_pbr, bench_n_pbr },
		{ bench_gfam, bench_n_gfam },
		{ bench_pipe, bench_n_pipe },
		{ bench_sig, bench_n_sig },
	};

	for (size_t f = 0; f < sizeof(all) / sizeof(all[0]); f++) {
		if (i < all[f].n)
			return &all[f].b[i];
		i -= all[f].n;
	}
	return NULL;
}

static void
add_stages(struct options *o, char *list)
{
	for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
		const struct bench *b;
		unsigned int i = 0;

		while ((b = bench_at(i)) != NULL && strcmp(b->name, name) != 0)
			i++;
		if (b == NULL)
			cli_usage("--stage: no stage is called \"%s\"; --list shows them", name);
		if (o->n_stages == STAGES_MAX)
			cli_usage("--stage: more than %d stages", STAGES_MAX);
		o->stage[o->n_stages++] = b->name;
	}
}

static double
parse_seconds(const char *text)
{
	double v;

	if (!words_real(text, 0.01, 60, &v))
		cli_usage("--seconds: expected 0.01 to 60, got \"%s\"", text);
	return v;
}

static void
parse_frame_flits(struct options *o, char *list)
{
	o->n_frame_flits = 0;
	for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ",")) {
		if (o->n_frame_flits == FRAME_FLITS_LIST_MAX)
			cli_usage("--frame-flits: more than %d numbers", FRAME_FLITS_LIST_MAX);
		o->frame_flits[o->n_frame_flits++] =
			(unsigned int)cli_number("--frame-flits", word, 1, WEFT_WIRE_FLITS_MAX);
	}
	if (o->n_frame_flits == 0)
		cli_usage("--frame-flits: expected numbers such as 1,8,35, got nothing");
}

static void
parse_option(struct options *o, int opt)
{
	switch (opt) {
	case OPT_LIST: o->list = true; break;
	case OPT_STAGE: add_stages(o, optarg); break;
	case OPT_SIG: o->sig = true; break;
	case OPT_KERNEL: o->kernel = optarg; break;
	case OPT_LAYOUT: o->layout = (int)cli_word("--layout", optarg, bench_layout_words); break;
	case OPT_FRAME_FLITS: parse_frame_flits(o, optarg); break;
	case OPT_SECONDS: o->seconds = parse_seconds(optarg); break;
	case OPT_ITERATIONS:
		o->iterations = (unsigned int)cli_number("--iterations", optarg, 1, SLICES_MAX);
		break;
	case OPT_COUNT: o->count = true; break;
	case OPT_ATC_WORKLOAD: atc_sim_workload(&o->atc, optarg); break;
	case OPT_ATC_ENTRIES: atc_sim_entries(&o->atc, optarg); break;
	case OPT_ATC_PAGE: atc_sim_page(&o->atc, optarg); break;
	case OPT_ATC_PREFETCH: atc_sim_prefetch(&o->atc, optarg); break;
	case OPT_ATC_ACCESSES: atc_sim_accesses(&o->atc, optarg); break;
	case OPT_JSON: o->json = optarg; break;
	case OPT_VERSION: puts("weft-bench " WEFT_VERSION); cli_exit(EXIT_SUCCESS);
	case 'h': fputs(usage_text, stdout); cli_exit(EXIT_SUCCESS);
	default: exit(CLI_USAGE); /* getopt said why */
	}
}

/* Options that contradict each other, and those that do nothing beside others. */
static void
judge_options(const struct options *o, uint64_t given)
{
	if (o->list) {
		if (o->json != NULL)
			cli_usage("--json: --list writes no JSON, expected one of them");
		cli_no_effect(long_options, given,
			OPTS_SPEED | OPTS_ATC | CLI_BIT(OPT_ATC_WORKLOAD), "with --list");
		return;
	}
	if (o->atc.workloads != 0) {
		cli_no_effect(
			long_options, given, OPTS_SPEED | CLI_BIT(OPT_SIG), "with --atc-workload");
		return;
	}
	if ((given & OPTS_ATC) != 0)
		cli_usage("--atc-entries, --atc-page, --atc-prefetch and --atc-accesses: expected "
			  "--atc-workload with them");
	if (o->n_stages != 0)
		cli_no_effect(long_options, given, CLI_BIT(OPT_SIG), "with --stage");
	if (o->iterations != 0)
		cli_no_effect(long_options, given, CLI_BIT(OPT_SECONDS), "with --iterations");
}

void
options_parse(struct options *o, int argc, char **argv)
{
	uint64_t given = 0;
	int opt;

	*o = (struct options){ .layout = -1,
		.frame_flits = { FRAME_FLITS_DEFAULT },
		.n_frame_flits = 1,
		.seconds = 0.5 };
	atc_sim_defaults(&o->atc);
	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		parse_option(o, opt);
		given |= opt >= OPT_LIST ? CLI_BIT(opt) : 0;
	}
	if (optind < argc)
		cli_usage("expected options only, got \"%s\"; EAL arguments go behind --",
			argv[optind]);
	judge_options(o, given);
}

bool
bench_is_sig(const struct bench *b)
{
	return b >= bench_sig && b < bench_sig + bench_n_sig;
}

void
bench_print_list(const struct options *o)
{
	const struct bench *b;

	for (unsigned int i = 0; (b = bench_at(i)) != NULL; i++) {
		if (bench_is_sig(b) != o->sig)
			continue;
		printf("%-28s %-8s %s\n", b->name,
			b->layouts == (1 << BENCH_RTC)    ? "rtc"
			: b->layouts == (1 << BENCH_RING) ? "ring"
							  : "rtc,ring",
			b->help);
	}
}
