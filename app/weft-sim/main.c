/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-sim: whole fabrics in one thread and simulated time, with every fault there is, and a judge.
 * doc/sim.md is its manual.
 */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "cli.h"
#include "draw.h"
#include "ide.h"
#include "json.h"
#include "experiment/experiment.h"
#include "manager/manager.h"
#include "report.h"
#include "weft_atc.h"
#include "weft_fec.h"
#include "weft_sig.h"

#define PROGRESS_S 60
#define MINUTE_S 60
#define HOUR_S 3600
#define PACE_HOPS 3000000

static volatile sig_atomic_t stopped;

static void
sim_read_without(const char *option, char *text, void *to)
{
	struct sim_opt *o = to;

	o->without |= WEFT_BIT64(cli_word(option, text, fault_word));
}

static void
sim_read_impair(const char *option, char *text, void *to)
{
	struct sim_opt *o = to;

	(void)option;
	bad_wire_read(&o->impair, text);
	o->has_impair = true;
}

/* Options that do not go with some, or do nothing beside them. */
enum { SEEDS = 1, FAULTS = 2, PCAP = 4 };

#define CLI_INTO struct sim_opt
static const struct cli_option options[] = {
	{ CLI_SECTION("Seeds") },
	{ "seed", "X", "1", "first seed; the same seed is the same run",
		CLI_NUMBER(seed, 0, INT64_MAX) },
	{ "seeds", "N", "1", "so many seeds, one after another", CLI_NUMBER(seeds, 1, INT64_MAX),
		.tags = SEEDS },
	{ "minutes", "M", NULL, "seeds for so long, with a line of totals each minute",
		CLI_NUMBER(minutes, 1, 1000000) },
	{ "hours", "H", NULL, "the same in hours", CLI_NUMBER(hours, 1, 10000) },
	{ "until-failure", NULL, NULL, "no more seeds after one that fails",
		CLI_FLAG(until_failure) },
	{ "hops", "N", NULL,
		"flit-hops of a seed before everything is healed (60000, or 1500 for each node if "
		"those are more)",
		CLI_NUMBER(hops, 1, INT64_MAX) },
	{ "stop-at", "STEP", NULL, "stop there", CLI_NUMBER(stop_at, 1, INT64_MAX) },
	{ "pace", NULL, NULL, "no faults, larger buffers, one long run: how fast it goes",
		CLI_FLAG(pace) },
	{ CLI_SECTION("Fabric, in place of what a seed draws") },
	{ "topology", "FILE", NULL, "fabric and wire format of a topology file",
		CLI_TEXT(topology) },
	{ "fabric", "SHAPE", NULL, "pair | star:H,G | chain:N | tree:L,F[,N] | mesh:W,H | fat:K",
		CLI_TEXT(fabric) },
	{ "mode", NULL, NULL, "mode, not the file's either", CLI_WORD(mode, weft_mode_words) },
	{ "drawn", NULL, "some",
		"which seeds have a fabric that comes with its load (doc/drawn.md)",
		CLI_WORD(drawn, drawn_words) },
	{ "manager", NULL, "some",
		"which seeds have a fabric of empty tables with a manager, too, or alone",
		CLI_WORD(manager.which, manager_words) },
	{ "manager-nodes", "N", NULL, "nodes of that, a tree, not what a seed draws",
		CLI_NUMBER(manager.nodes, 32, 4000) },
	{ "ide", NULL, NULL, "encryption, not the file's either",
		CLI_WORD(ide, weft_ide_mode_words) },
	{ "print-topology", NULL, NULL,
		"instead: print a topology file, of a fabric that the seed draws with its load",
		CLI_FLAG(print.topology) },
	{ "print-change", NULL, NULL,
		"instead: print the same file with other rights, for a SIGHUP (doc/drawn.md)",
		CLI_FLAG(print.change) },
	{ CLI_SECTION("Faults") },
	{ "calm", NULL, NULL, "no faults, clean wires", CLI_FLAG(calm) },
	{ "impair", "KEY=VALUE,...", NULL,
		"this bad wire on every link (doc/impair.md), not the seed's",
		CLI_OWN(sim_read_impair) },
	{ "faults", "N", NULL, "only the first N faults of links and nodes",
		CLI_NUMBER(faults, 0, INT64_MAX), .tags = FAULTS },
	{ "without", "KIND", NULL, "no faults of this kind (doc/sim.md); once for each kind",
		CLI_OWN(sim_read_without), .tags = FAULTS, .words = fault_word },
	{ CLI_SECTION("Output") },
	{ "json", "FILE|-", NULL, "write the report as JSON", CLI_OUTPUT(json) },
	{ "pcap", "PREFIX", "weft-sim", "last frames of a seed that fails: PREFIX-SEED.pcap",
		CLI_TEXT(pcap), .tags = PCAP },
	{ "capture", "FILE", NULL, "every frame that a node takes from a link, as pcap; one seed",
		CLI_OUTPUT(capture) },
	{ "verbose", NULL, NULL, "a line for each seed", CLI_FLAG(verbose) },
	{ "experiment", NULL, NULL,
		"instead: what the RXL paper calculates, or what lost frames cost; see there "
		"--help",
		.kind = CLI_KIND_ELSEWHERE, .words = experiment_words },
};

static const struct cli_program program = {
	.name = "weft-sim",
	.synopsis = "[options]",
	.does = "Run fabrics in simulated time under drawn faults, and judge what comes of it.",
	.status = "a seed broke a rule, or it could not run or write its report",
	.examples = "  weft-sim --minutes 10 --until-failure\n"
		    "  weft-sim --seed 4711 --fabric mesh:4,4 --mode rxl --json -\n",
	CLI_OPTIONS(options),
	.other = &experiment_program,
};

/* What a failing seed is recorded into is seen to before hours of seeds, not after. */
static void
sim_check_pcap(const char *prefix)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s", prefix);
	if (access(dirname(folder), W_OK | X_OK) != 0)
		cli_fail("--pcap %s: %s: %s", prefix, folder, strerror(errno));
}

static void
sim_parse_options(struct sim_opt *o, int argc, char **argv)
{
	uint64_t given;

	*o = (struct sim_opt){ .faults = UINT64_MAX, .stopped = &stopped, .mode = -1, .ide = -1 };
	given = cli_parse(&program, o, argc, argv);
	o->seconds = MINUTE_S * o->minutes + HOUR_S * o->hours;
	if (optind < argc)
		cli_usage("unexpected argument \"%s\"", argv[optind]);
	if (o->topology != NULL && o->fabric != NULL)
		cli_usage("--topology and --fabric exclude each other");
	if (o->minutes != 0 && o->hours != 0)
		cli_usage("--minutes and --hours: expected one of them");
	if (o->seconds != 0 && cli_given(&program, given, SEEDS))
		cli_usage("--seeds and --%s: expected one of them",
			o->hours != 0 ? "hours" : "minutes");
	if (o->manager.nodes != 0 && manager_is_off(o))
		cli_usage("--manager-nodes: expected fabrics with a manager, got --manager never");
	if (o->calm || o->pace)
		cli_no_effect(&program, given, FAULTS,
			o->calm ? "with --calm, which has no faults"
				: "with --pace, which has no faults");
	if (o->print.topology && o->print.change)
		cli_usage("--print-topology and --print-change exclude each other");
	if (o->print.topology || o->print.change)
		cli_no_effect(&program, given, SEEDS | FAULTS,
			o->print.change ? "with --print-change" : "with --print-topology");
	if (o->capture != NULL && (o->seeds != 1 || o->seconds != 0))
		cli_usage("--capture takes one seed, not --seeds, --minutes or --hours");
	cli_two_files("--capture", o->capture, "--json", o->json);
	cli_two_files("--topology", o->topology, "--capture", o->capture);
	cli_two_files("--topology", o->topology, "--json", o->json);
	if (cli_given(&program, given, PCAP))
		sim_check_pcap(o->pcap);
	bad_wire_check(o);
	if (o->hops == 0 && o->pace)
		o->hops = PACE_HOPS;
}

static double
sim_now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
sim_build_or_exit(struct sim *s, const struct sim_opt *o, uint64_t seed)
{
	char err[600];

	if (sim_build(s, o, seed, err, sizeof(err)) == 0)
		return;
	if (o->topology != NULL)
		cli_fail("%s", err);
	cli_usage("--fabric: %s", err);
}

/* Add the counters of ends and link directions to the totals. */
static void
sim_collect(struct sim *s)
{
	for (uint32_t i = 0; i < s->n_ends; i++)
		weft_llr_counts_add(weft_link_llr(s->end[i].end), s->total.llr);
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		drawn_add(&s->node[i]);
	for (uint32_t i = 0; i < s->topo->n_ports; i++)
		if (s->link_dir[i].impair != NULL)
			weft_counters_add(s->total.impair, s->link_dir[i].impair->count,
				WEFT_IMPAIR_N_COUNTERS);
}

/* The seed once more, with the frames before the violation kept. */
static void
sim_record(const struct sim_opt *o, uint64_t seed, struct failure *f)
{
	static struct sim s;
	char err[400];

	snprintf(f->pcap, sizeof(f->pcap), "%s-%" PRIu64 ".pcap", o->pcap, seed);
	sim_build_or_exit(&s, o, seed);
	s.to.recorder = recorder_new();
	sim_run(&s);
	if (recorder_write(s.to.recorder, f->pcap, err, sizeof(err)) != 0) {
		cli_warn("--pcap: %s", err);
		f->pcap[0] = '\0';
	}
	recorder_free(s.to.recorder);
	sim_free(&s);
}

static void
sim_capture_begin(struct sim *s, const char *path)
{
	char err[400];

	s->to.capture = capture_open(path, err, sizeof(err));
	if (s->to.capture == NULL)
		cli_fail("--capture: %s", err);
}

static void
sim_capture_end(struct sim *s, const char *path, struct report *r)
{
	const int rc = capture_close(s->to.capture, &r->capture);

	r->has_capture = true;
	r->captured = s->sc.llr;
	r->crc_order = s->sc.crc_order;
	if (rc != 0)
		cli_fail("--capture %s: %s", path, strerror(-rc));
}

static void
sim_run_seed(const struct sim_opt *o, uint64_t seed, struct report *r)
{
	static struct sim s;
	double start;
	struct failure *f = NULL;
	bool has_frames;

	sim_build_or_exit(&s, o, seed);
	if (o->capture != NULL)
		sim_capture_begin(&s, o->capture);
	start = sim_now_s(CLOCK_PROCESS_CPUTIME_ID);
	if (!manager_is_alone(o))
		sim_run(&s);
	has_frames = s.total.violations != 0;
	if (s.total.violations == 0 && !stopped && (o->stop_at == 0 || s.step < o->stop_at) &&
		manager_is_wanted(o, seed))
		manager_run(&s);
	r->seconds += sim_now_s(CLOCK_PROCESS_CPUTIME_ID) - start;
	if (o->capture != NULL)
		sim_capture_end(&s, o->capture, r);
	sim_collect(&s);
	report_add(r, &s);
	if (o->verbose)
		fprintf(json_is_output(o->json) ? stderr : stdout,
			"seed %" PRIu64 " (%s): %" PRIu64 " steps, %.3f ms, %" PRIu64
			" hops, %" PRIu64 " requests, %" PRIu64 " lost, %" PRIu64
			" faults, digest %016" PRIx64 "\n",
			seed, o->topology == NULL ? s.sc.fabric : o->topology, s.step,
			(double)s.now_ns / 1e6, s.total.hops, s.total.requests, s.total.lost,
			s.faults.n, s.digest);
	if (s.total.violations != 0)
		f = report_failure(r, &s);
	sim_free(&s);
	if (f != NULL && has_frames)
		sim_record(o, seed, f);
}

static void
sim_run_seeds(const struct sim_opt *o, struct report *r)
{
	const double start = sim_now_s(CLOCK_MONOTONIC);
	double progress = PROGRESS_S;

	for (uint64_t i = 0; !stopped && (o->seconds != 0 || i < o->seeds); i++) {
		const double passed = sim_now_s(CLOCK_MONOTONIC) - start;

		if (o->seconds != 0 && passed >= (double)o->seconds)
			break;
		if (o->seconds != 0 && passed >= progress) {
			progress += PROGRESS_S;
			fprintf(stderr,
				"%.0f min: %" PRIu64 " seeds, %" PRIu64 " hops, %" PRIu64
				" requests, violations %" PRIu64 "\n",
				passed / MINUTE_S, r->seeds, r->total.hops, r->total.requests,
				r->total.violations);
		}
		sim_run_seed(o, o->seed + i, r);
		if (o->until_failure && r->total.violations != 0)
			break;
	}
}

static void
sim_on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

static void
sim_print_topology(const struct sim_opt *o)
{
	uint32_t has;
	char *text = draw_fabric(o->seed, o->mode, &has, NULL);

	if (o->print.change) {
		free(text);
		if (!draw_may_change(has))
			cli_fail("seed %" PRIu64 ": rights change where there are groups, and "
				 "neither memory of hosts nor translations",
				o->seed);
		text = draw_change(o->seed, o->mode, NULL);
	}
	if (text == NULL)
		cli_fail("out of memory");
	fputs(text, stdout);
	free(text);
}

/* An experiment has options of its own. */
static bool
sim_is_experiment(int argc, char **argv)
{
	static const char option[] = "--experiment";
	const size_t len = sizeof(option) - 1;

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], option, len) == 0 &&
			(argv[i][len] == '\0' || argv[i][len] == '='))
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	struct sigaction stop = { .sa_handler = sim_on_signal };
	static struct report r;
	struct sim_opt o;
	uint32_t features;
	int rc = EXIT_SUCCESS;

	signal(SIGXFSZ, SIG_IGN); /* an error of a write, as a full disk is */
	if (sim_is_experiment(argc, argv))
		cli_exit(experiment_main(argc, argv));
	sim_parse_options(&o, argc, argv);
	if (o.print.topology || o.print.change) {
		sim_print_topology(&o);
		cli_exit(EXIT_SUCCESS);
	}
	json_check(o.json);
	json_check_option("--capture", o.capture);
	features = cli_cpu_features();
	o.codec.fec = weft_fec_kernel_find(NULL, features);
	o.codec.crc = weft_crc_kernel_find(NULL, features);
	o.atc = weft_atc_kernel_find(NULL, features);
	o.sig = weft_sig_kernel_find(NULL, features);
	cli_report_kernels();
	o.crypto.lib = weft_ide_lib_open(features);
	if (o.crypto.lib == NULL)
		cli_fail("intel-ipsec-mb does not run here");
	if (!ide_make_keys(&o))
		cli_fail("no memory could be locked for a key: %s: " WEFT_SECRET_ADVICE,
			strerror(errno));
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sim_run_seeds(&o, &r);
	ide_free_keys(&o);
	weft_ide_lib_close(o.crypto.lib);
	if (!json_is_output(o.json))
		report_text(&r);
	if (o.json != NULL) {
		const int e = report_json(&r, o.json);

		if (e != 0) {
			cli_warn("--json %s: %s", o.json, weft_file_error(e));
			rc = EXIT_FAILURE;
		}
	}
	cli_exit(r.total.violations != 0 ? EXIT_FAILURE : rc);
}
