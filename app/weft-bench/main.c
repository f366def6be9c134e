/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-bench: Mflit/s and cycles per flit of each stage and of whole pipelines. Every result has its
 * output checked before it is timed and again behind it. doc/bench.md is its manual.
 */

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jansson.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#include "bench.h"
#include "cli.h"
#include "start.h"
#include "weft_wire.h"

#define POOL_FRAMES 1023
#define SLICES_MIN 20
#define SLICES_MAX 100000
#define SLICE_CYCLES 20000 /* at least: a reading of the TSC is then nothing */
#define STAGES_MAX 32

struct options {
	const char *stage[STAGES_MAX];
	unsigned int n_stages;
	const char *kernel;
	const char *json;
	int layout; /* enum bench_layout, or -1: what each stage has */
	unsigned int frame_flits;
	double seconds;
	bool list;
};

struct result {
	const struct bench *b;
	enum bench_layout layout;
	const char *kernel;
	double cycles_per_flit; /* median of the slices */
	double least;
	double most;
	double cpu_share;
	bool checked;
};

static const char *const layout_words[] = { "rtc", "ring", NULL };

static const char usage_text[] =
	"usage: weft-bench [options] [-- EAL arguments]\n"
	"\n"
	"Measure Mflit/s and cycles per flit of each stage and of whole pipelines.\n"
	"\n"
	"  --list                the stages, and end\n"
	"  --stage NAME[,NAME]   only these; may be given again (all)\n"
	"  --kernel NAME         this kernel or none (the best that this CPU and WEFT_CPU allow)\n"
	"  --layout rtc|ring     run to completion on one lcore, or split over two by a ring\n"
	"                        (rtc, and for pipelines both)\n"
	"  --frame-flits N       flits a frame in pipelines and rings, 1 to 64 (8)\n"
	"  --seconds S           time for each result, 0.01 to 60 (0.5)\n"
	"  --json FILE|-         write the results as JSON\n"
	"  --version, --help\n";

enum {
	OPT_LIST = 256,
	OPT_STAGE,
	OPT_KERNEL,
	OPT_LAYOUT,
	OPT_FRAME_FLITS,
	OPT_SECONDS,
	OPT_JSON,
	OPT_VERSION,
	OPT_HELP,
};

static const struct option long_options[] = {
	{ "list", no_argument, NULL, OPT_LIST },
	{ "stage", required_argument, NULL, OPT_STAGE },
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "frame-flits", required_argument, NULL, OPT_FRAME_FLITS },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

/* The @p i-th benchmark of all files, in the order in which they are shown; NULL behind the last. */
static const struct bench *
bench_at(unsigned int i)
{
	const struct {
		const struct bench *b;
		unsigned int n;
	} all[] = {
		{ bench_codec, bench_n_codec },
		{ bench_ide, bench_n_ide },
		{ bench_route, bench_n_route },
		{ bench_pipe, bench_n_pipe },
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
			cli_fail("--stage: no stage is called \"%s\"; --list shows them", name);
		if (o->n_stages == STAGES_MAX)
			cli_fail("--stage: more than %d stages", STAGES_MAX);
		o->stage[o->n_stages++] = b->name;
	}
}

static double
parse_seconds(const char *text)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end != '\0' || !(v >= 0.01 && v <= 60))
		cli_fail("--seconds: expected 0.01 to 60, got \"%s\"", text);
	return v;
}

static void
parse_option(struct options *o, int opt)
{
	switch (opt) {
	case OPT_LIST: o->list = true; break;
	case OPT_STAGE: add_stages(o, optarg); break;
	case OPT_KERNEL: o->kernel = optarg; break;
	case OPT_LAYOUT: o->layout = (int)cli_word("--layout", optarg, layout_words); break;
	case OPT_FRAME_FLITS:
		o->frame_flits =
			(unsigned int)cli_number("--frame-flits", optarg, 1, WEFT_WIRE_FLITS_MAX);
		break;
	case OPT_SECONDS: o->seconds = parse_seconds(optarg); break;
	case OPT_JSON: o->json = optarg; break;
	case OPT_VERSION: puts("weft-bench " WEFT_VERSION); exit(EXIT_SUCCESS);
	case OPT_HELP: fputs(usage_text, stdout); exit(EXIT_SUCCESS);
	default: exit(EXIT_FAILURE); /* getopt said why */
	}
}

static void
parse_options(struct options *o, int argc, char **argv)
{
	int opt;

	*o = (struct options){ .layout = -1, .frame_flits = 8, .seconds = 0.5 };
	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		parse_option(o, opt);
	if (optind < argc)
		cli_fail("expected options only, got \"%s\"; EAL arguments go behind --",
			argv[optind]);
}

static void
print_list(void)
{
	const struct bench *b;

	for (unsigned int i = 0; (b = bench_at(i)) != NULL; i++)
		printf("%-22s %-8s %s\n", b->name,
			b->layouts == (1 << BENCH_RTC)    ? "rtc"
			: b->layouts == (1 << BENCH_RING) ? "ring"
							  : "rtc,ring",
			b->help);
}

static bool
is_wanted(const struct options *o, const struct bench *b)
{
	for (unsigned int i = 0; i < o->n_stages; i++)
		if (strcmp(o->stage[i], b->name) == 0)
			return true;
	return o->n_stages == 0;
}

/* The rows of the name asked for; where a family has none of it, its best. */
static void
choose_kernels(struct bench_params *p, const char *name, uint32_t features)
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
}

/* Name of the kernel that a benchmark runs; NULL if it is not the one asked for. */
static const char *
kernel_name(const struct options *o, const struct bench *b, const struct bench_params *p)
{
	static char both[64];
	const char *name;

	switch (b->family) {
	case BENCH_FEC: name = p->fec->k.name; break;
	case BENCH_CRC: name = p->crc->k.name; break;
	case BENCH_ATC: name = p->atc->k.name; break;
	case BENCH_CODEC:
		name = p->fec->k.name;
		if (strcmp(name, p->crc->k.name) != 0) {
			snprintf(both, sizeof(both), "%s+%s", name, p->crc->k.name);
			name = both;
		}
		break;
	case BENCH_IDE: name = weft_ide_lib_kernel(p->ide); break;
	default: name = "scalar"; break;
	}
	return o->kernel == NULL || strcmp(o->kernel, name) == 0 ? name : NULL;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
cpu_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Slices of runs until the time is up; the median stands for all. */
static void
measure(const struct bench *b, void *ctx, double seconds, struct result *r)
{
	static double slice[SLICES_MAX];
	double wall = cpu_seconds(CLOCK_MONOTONIC), cpu = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	unsigned int n = 0;

	while (n < SLICES_MAX &&
		(n < SLICES_MIN || cpu_seconds(CLOCK_MONOTONIC) - wall < seconds)) {
		uint64_t cycles = 0, flits = 0;

		while (cycles < SLICE_CYCLES) {
			uint64_t t;

			if (b->prepare != NULL)
				b->prepare(ctx);
			t = rte_rdtsc_precise();
			flits += b->run(ctx);
			cycles += rte_rdtsc_precise() - t;
		}
		slice[n++] = (double)cycles / (double)flits;
	}
	wall = cpu_seconds(CLOCK_MONOTONIC) - wall;
	r->cpu_share = (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / wall;
	qsort(slice, n, sizeof(slice[0]), compare);
	r->cycles_per_flit = slice[n / 2];
	r->least = slice[0];
	r->most = slice[n - 1];
}

static double
mflits_per_s(const struct result *r)
{
	return r->cycles_per_flit > 0 ? (double)rte_get_tsc_hz() / r->cycles_per_flit / 1e6 : 0;
}

/* One result; false if the answer was wrong. */
static bool
run_one(const struct bench *b, const struct bench_params *p, const struct options *o,
	struct result *r)
{
	char err[256];
	void *ctx = b->setup(b, p, err, sizeof(err));

	if (ctx == NULL) {
		cli_warn("%s", err);
		return false;
	}
	measure(b, ctx, o->seconds, r);
	r->checked = b->teardown(ctx);
	if (!r->checked)
		cli_warn("%s (%s): wrong answer behind the timing", b->name,
			layout_words[p->layout]);
	return r->checked;
}

static void
print_result(const struct result *r, unsigned int frame_flits)
{
	printf("%-22s %-12s %-5s %5u %10.2f %12.1f   %5.1f..%.1f  %3.0f %%  %s\n", r->b->name,
		r->kernel, layout_words[r->layout], frame_flits, mflits_per_s(r),
		r->cycles_per_flit, r->least, r->most, r->cpu_share * 100,
		r->checked ? "yes" : "NO");
	fflush(stdout);
}

static json_t *
result_json(const struct result *r, unsigned int frame_flits)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:b}", "stage", r->b->name,
		"kernel", r->kernel, "layout", layout_words[r->layout], "frame_flits",
		(int)frame_flits, "mflits_per_s", mflits_per_s(r), "cycles_per_flit",
		r->cycles_per_flit, "cycles_min", r->least, "cycles_max", r->most, "cpu_share",
		r->cpu_share, "checked", r->checked);
}

/* Runs what was asked for. Returns the results, and whether every one was right. */
static json_t *
run_all(const struct options *o, struct bench_params *p, bool *good)
{
	bool text = o->json == NULL || strcmp(o->json, "-") != 0, any = false;
	json_t *list = json_array();
	const struct bench *b;

	if (text)
		printf("%-22s %-12s %-5s %5s %10s %12s   %s\n", "stage", "kernel", "on", "flits",
			"Mflit/s", "cycles/flit", "least..most  CPU  checked");
	for (unsigned int i = 0; (b = bench_at(i)) != NULL; i++) {
		const char *kernel = kernel_name(o, b, p);

		if (!is_wanted(o, b))
			continue;
		if (kernel == NULL && o->n_stages != 0)
			cli_fail("--kernel %s: stage %s has no such kernel here", o->kernel,
				b->name);
		for (int l = 0; kernel != NULL && l < BENCH_LAYOUTS; l++) {
			struct result r = {
				.b = b, .layout = (enum bench_layout)l, .kernel = kernel
			};

			if (!(b->layouts & 1 << l) || (o->layout >= 0 && o->layout != l))
				continue;
			any = true;
			p->layout = r.layout;
			*good &= run_one(b, p, o, &r);
			if (text)
				print_result(&r, p->frame_flits);
			json_array_append_new(list, result_json(&r, p->frame_flits));
		}
	}
	if (!any)
		cli_fail("nothing to measure: %s",
			o->kernel != NULL ? "no stage has a kernel of that name here"
					  : "the stages asked for do not have this layout");
	return list;
}

static void
cpu_model(char *model, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(model, len, "unknown");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || value == NULL)
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(model, len, "%s", value);
		break;
	}
	if (f != NULL)
		fclose(f);
}

static int
write_json(const char *path, json_t *results)
{
	char model[256];
	json_t *o;
	FILE *f;
	int rc;

	cpu_model(model, sizeof(model));
	o = json_pack("{s:s, s:I, s:s, s:O}", "cpu", model, "tsc_hz", (json_int_t)rte_get_tsc_hz(),
		"version", WEFT_VERSION, "results", results);
	f = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	if (f == NULL) {
		rc = -errno;
	} else {
		rc = json_dumpf(o, f, JSON_INDENT(2)) == 0 && fputc('\n', f) != EOF ? 0 : -EIO;
		if ((f == stdout ? fflush(f) : fclose(f)) != 0)
			rc = -errno;
	}
	json_decref(o);
	return rc;
}

/* Whether the two lcores have to share one CPU. */
static bool
share_cpu(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 2 &&
	       rte_lcore_to_cpu_id((int)rte_get_main_lcore()) ==
	               rte_lcore_to_cpu_id((int)rte_get_next_lcore(rte_get_main_lcore(), 1, 1));
}

int
main(int argc, char **argv)
{
	struct weft_eal_cfg eal = { .memory_mb = 64, .n_lcores = 2 };
	struct weft_pool_cfg pool = { .name = "bench",
		.n_mbufs = POOL_FRAMES,
		.max_flits = WEFT_WIRE_FLITS_MAX,
		.cache = 64 };
	struct bench_params p = { 0 };
	struct options o;
	uint32_t features;
	bool good = true;
	json_t *results;
	int rc = 0;

	argc = cli_split_eal(argc, argv, &eal.user_argc, &eal.user_argv);
	parse_options(&o, argc, argv);
	if (o.list) {
		print_list();
		return EXIT_SUCCESS;
	}
	features = cli_cpu_features();
	p.frame_flits = o.frame_flits;
	pool.max_flits = o.frame_flits;
	p.pool = start_dpdk(&eal, &pool);
	if (rte_lcore_count() < 2)
		cli_fail("expected two lcores, got one; leave out -l and --lcores, or name two");
	p.worker = rte_get_next_lcore(rte_get_main_lcore(), 1, 1);
	p.share_cpu = share_cpu();
	if (p.share_cpu && (o.json == NULL || strcmp(o.json, "-") != 0))
		puts("note: one CPU for two lcores: rings are slow here");
	choose_kernels(&p, o.kernel, features);
	p.ide = weft_ide_lib_open(features);
	if (p.ide == NULL)
		cli_fail("intel-ipsec-mb does not run on this CPU");
	results = run_all(&o, &p, &good);
	if (o.json != NULL)
		rc = write_json(o.json, results);
	if (rc != 0)
		cli_warn("--json %s: %s", o.json, strerror(-rc));
	json_decref(results);
	weft_ide_lib_close(p.ide);
	weft_eal_stop();
	return good && rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
