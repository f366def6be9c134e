/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The command line of weft-bench, and the list of benchmarks that it names. */

#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#include "atc_load.h"
#include "cli.h"
#include "result.h"
#include "weft_atc_prefetcher.h"
#include "weft_wire.h"
#include "weft_words.h"

#define ENTRIES_MAX (1u << 23)
#define ACCESSES_MAX UINT64_C(1000000000)

const char *const bench_layout_words[] = { "rtc", "ring", NULL };

/* Values of --stage and --atc-workload: the index is that of bench_at() and atc_workloads[]. */
static const char *stage_words[STAGES_MAX + 1], *workload_words[33];

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
		{ bench_invalidate, bench_n_invalidate },
		{ bench_pbr, bench_n_pbr },
		{ bench_gfam, bench_n_gfam },
		{ bench_link, bench_n_link },
		{ bench_checker, bench_n_checker },
		{ bench_fabric, bench_n_fabric },
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
options_init_words(void)
{
	for (unsigned int i = 0; i + 1 < WEFT_ARRAY_SIZE(stage_words) && bench_at(i) != NULL; i++)
		stage_words[i] = bench_at(i)->name;
	for (unsigned int i = 0; i < atc_n_workloads; i++)
		workload_words[i] = atc_workloads[i].name;
	workload_words[atc_n_workloads] = "all";
}

/* strtok() passes over a comma too many, which may stand for a forgotten word. */
static void
options_judge_commas(const char *option, const char *text)
{
	const size_t len = strlen(text);

	if (len == 0 || text[0] == ',' || text[len - 1] == ',' || strstr(text, ",,") != NULL)
		cli_usage("%s: expected a list with one comma between, such as A,B, got \"%s\"",
			option, text);
}

static bool
options_has_stage(const struct options *o, const char *name)
{
	for (unsigned int i = 0; i < o->n_stages; i++)
		if (strcmp(o->stage[i], name) == 0)
			return true;
	return false;
}

static void
options_read_stages(const char *option, char *text, void *to)
{
	struct options *o = to;

	options_judge_commas(option, text);
	for (char *name = strtok(text, ","); name != NULL; name = strtok(NULL, ",")) {
		const int i = weft_words_find(stage_words, name);

		if (i < 0)
			cli_usage("%s: no stage is called \"%s\"; --list shows them", option, name);
		if (!options_has_stage(o, name))
			o->stage[o->n_stages++] = stage_words[i];
	}
}

static unsigned int
options_read_list(const char *option, char *text, unsigned int list[LIST_MAX], unsigned int most)
{
	unsigned int n = 0;

	options_judge_commas(option, text);
	for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
		if (n == LIST_MAX)
			cli_usage("%s: more than %d numbers", option, LIST_MAX);
		list[n++] = (unsigned int)cli_number(option, word, 1, most);
	}
	return n;
}

static void
options_read_frame_flits(const char *option, char *text, void *to)
{
	struct options *o = to;

	o->n_frame_flits = options_read_list(option, text, o->frame_flits, WEFT_WIRE_FLITS_MAX);
}

static void
options_read_entries(const char *option, char *text, void *to)
{
	struct atc_sim_cfg *cfg = &((struct options *)to)->atc;

	cfg->n_entries = options_read_list(option, text, cfg->entries, ENTRIES_MAX);
	for (unsigned int i = 0; i < cfg->n_entries; i++) {
		const unsigned int n = cfg->entries[i];

		if (n < WEFT_ATC_WAYS || (n & (n - 1)) != 0)
			cli_usage("%s: expected powers of two from %d on, got %u", option,
				WEFT_ATC_WAYS, n);
	}
}

static void
options_read_prefetch(const char *option, char *text, void *to)
{
	struct atc_sim_cfg *cfg = &((struct options *)to)->atc;

	cfg->n_prefetch = options_read_list(option, text, cfg->prefetch, WEFT_ATC_PREFETCH_MAX);
}

/* Bits of the words of a list. */
static uint32_t
options_read_words(const char *option, char *text, const char *const *words, const char *what)
{
	uint32_t bits = 0;

	for (char *word = strtok(text, ","); word != NULL; word = strtok(NULL, ","))
		bits |= 1u << cli_word(option, word, words);
	if (bits == 0)
		cli_usage("%s: expected a %s, got nothing", option, what);
	return bits;
}

static void
options_read_workloads(const char *option, char *text, void *to)
{
	const uint32_t all = 1u << atc_n_workloads;
	const uint32_t bits = options_read_words(option, text, workload_words, "name");

	((struct options *)to)->atc.workloads |= (bits & all) != 0 ? all - 1 : bits;
}

static void
options_read_pages(const char *option, char *text, void *to)
{
	((struct options *)to)->atc.pages =
		(uint8_t)options_read_words(option, text, weft_atc_class_words, "page size");
}

static void
options_read_live(const char *option, char *text, void *to)
{
	struct options *o = to;

	if (o->live[1] != NULL)
		cli_usage("%s: expected two ports, got one more, \"%s\"", option, text);
	o->live[o->live[0] != NULL] = text;
}

/* What some options are for. */
enum { SPEED = 1, ATC = 2, WORKLOAD = 4, SIG = 8, SECONDS = 16, STAGES = 32, LIVE = 64 };

#define CLI_INTO struct options
static const struct cli_option options[] = {
	{ CLI_SECTION("Speed") },
	{ "list", NULL, NULL, "the stages, and end; with --json where they run live",
		CLI_FLAG(list) },
	{ "stage", "NAME[,NAME]", NULL, "only these; may be given again (all)",
		CLI_OWN(options_read_stages), .tags = SPEED | STAGES, .words = stage_words },
	{ "sig", NULL, NULL, "block signatures, every type and block size, instead of all else",
		CLI_FLAG(sig), .tags = SIG },
	{ "kernel", "NAME", NULL, "this kernel or none (the best that this CPU and WEFT_CPU allow)",
		CLI_TEXT(kernel), .tags = SPEED | STAGES },
	{ "layout", NULL, NULL,
		"run to completion on one lcore, or split over two by a ring (rtc, and for "
		"pipelines both)",
		CLI_WORD(layout, bench_layout_words), .tags = SPEED | STAGES },
	{ "frame-flits", "N[,N]", "8", "flits a frame in pipelines, rings and on a wire, 1 to 64",
		CLI_OWN(options_read_frame_flits), .tags = SPEED },
	{ "seconds", "S", "0.5", "time for each result, or trial of --live, 0.01 to 60",
		CLI_REAL(seconds, 0.01, 60, "0.01 to 60"), .tags = SPEED | SECONDS },
	{ "iterations", "N", NULL, "exactly N timed runs for each result instead, 1 to 100000",
		CLI_NUMBER(iterations, 1, SLICES_MAX), .tags = SPEED | STAGES },
	{ "count", NULL, NULL, "count instructions a flit too (counters, else single steps)",
		CLI_FLAG(count), .tags = SPEED | STAGES },
	{ CLI_SECTION("Wire") },
	{ "live", "PORT,PORT", NULL,
		"frames/s from one port to the other instead: MRR, NDR, PDR; ports as of "
		"weft-replay --to, or ring",
		CLI_OWN(options_read_live), .tags = LIVE },
	{ CLI_SECTION("Translation cache") },
	{ "atc-workload", "NAME[,NAME]|all", NULL,
		"hit ratios of the translation cache instead of speed: streams, uniform, zipf, "
		"nvme, nic, kv",
		CLI_OWN(options_read_workloads), .tags = WORKLOAD, .words = workload_words },
	{ "atc-entries", "N[,N]", "64,256,1024,4096,16384,65536", "entries of the cache",
		CLI_OWN(options_read_entries), .tags = ATC },
	{ "atc-page", "SIZE[,SIZE]", "4K", "4K, 64K, 2M, 1G", CLI_OWN(options_read_pages),
		.tags = ATC, .words = weft_atc_class_words },
	{ "atc-prefetch", "N[,N]", "1", "translations a request at most, 1 to 15",
		CLI_OWN(options_read_prefetch), .tags = ATC },
	{ "atc-accesses", "N", "4000000", "of 256 B, the first quarter being warm-up",
		CLI_NUMBER(atc.accesses, 1000, ACCESSES_MAX), .tags = ATC },
	{ CLI_SECTION("Output") },
	{ "json", "FILE|-", NULL, "write the results as JSON", CLI_OUTPUT(json) },
};

static const struct cli_program program = {
	.name = "weft-bench",
	.synopsis = "[options] [-- EAL arguments]",
	.does = "Measure Mflit/s and cycles per flit of each stage and of whole pipelines, or "
		"frames/s of a wire.",
	.status = "it could not measure or write, a signal ended it, or an answer was wrong",
	.examples = "  weft-bench --stage route,ring-hop --frame-flits 1,8,35\n"
		    "  weft-bench --json results.json -- -l 2-3\n"
		    "  weft-bench --live veth0,veth1 --frame-flits 1,8,34\n",
	CLI_OPTIONS(options),
};

/* Options that contradict each other, and those that do nothing beside others. */
static void
options_judge(const struct options *o, uint64_t given)
{
	if (o->list) {
		cli_no_effect(&program, given, SPEED | ATC | WORKLOAD | LIVE, "with --list");
		return;
	}
	if (o->atc.workloads != 0) {
		cli_no_effect(&program, given, SPEED | SIG | LIVE, "with --atc-workload");
		return;
	}
	if (cli_given(&program, given, ATC))
		cli_usage("--atc-entries, --atc-page, --atc-prefetch and --atc-accesses: expected "
			  "--atc-workload with them");
	if (o->live[0] != NULL) {
		cli_no_effect(&program, given, STAGES | SIG, "with --live");
		return;
	}
	if (o->n_stages != 0)
		cli_no_effect(&program, given, SIG, "with --stage");
	if (o->iterations != 0)
		cli_no_effect(&program, given, SECONDS, "with --iterations");
}

void
options_parse(struct options *o, int argc, char **argv)
{
	uint64_t given;

	*o = (struct options){ .layout = -1 };
	options_init_words();
	given = cli_parse(&program, o, argc, argv);
	cli_options_only(argc, argv);
	options_judge(o, given);
}

bool
bench_is_sig(const struct bench *b)
{
	return b >= bench_sig && b < bench_sig + bench_n_sig;
}
