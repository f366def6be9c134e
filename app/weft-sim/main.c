/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-sim: whole fabrics in one thread and simulated time, with every fault there is, and a judge.
 * doc/sim.md is its manual.
 */

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture.h"
#include "cli.h"
#include "json.h"
#include "experiment/experiment.h"
#include "report.h"
#include "weft_fec.h"

#define PROGRESS_S 60
#define MINUTE_S 60
#define HOUR_S 3600
#define PACE_HOPS 3000000

static volatile sig_atomic_t stopped;

static const char usage_text[] =
	"usage: weft-sim [options]\n"
	"\n"
	"Run fabrics in simulated time under drawn faults, and judge what comes of it.\n"
	"\n"
	"  --seed X              first seed (1); the same seed is the same run\n"
	"  --seeds N             so many seeds, one after another (1)\n"
	"  --minutes M, --hours H  seeds for so long, with a line of totals each minute\n"
	"  --topology FILE       fabric and wire format of a topology file, not the seed's\n"
	"  --mode cxl|rxl        not the seed's, nor the file's\n"
	"  --ide off|containment|skid  not the seed's, nor the file's\n"
	"  --fabric SHAPE        pair | star:H,G | chain:N | tree:L,F[,N] | mesh:W,H | fat:K\n"
	"  --hops N              flit-hops of a seed before everything is healed (60000, or\n"
	"                        1500 for each node if those are more)\n"
	"  --calm                no faults, clean wires\n"
	"  --impair KEY=VALUE,...  this bad wire on every link (doc/impair.md), not the seed's\n"
	"  --faults N            only the first N faults of links and nodes\n"
	"  --without KIND        no faults of this kind (doc/sim.md); once for each kind\n"
	"  --stop-at STEP        stop there\n"
	"  --pace                no faults, larger buffers, one long run: how fast it goes\n"
	"  --until-failure       no more seeds after one that fails\n"
	"  --pcap PREFIX         last frames of a seed that fails: PREFIX-SEED.pcap (weft-sim)\n"
	"  --capture FILE        every frame that a node takes from a link, as pcap; one seed\n"
	"  --json FILE|-         write the report as JSON\n"
	"  --verbose             a line for each seed\n"
	"  --experiment rxl      instead: measure what the RXL paper calculates; see there --help\n"
	"  --version, -h, --help\n";

enum {
	OPT_SEED = 256,
	OPT_SEEDS,
	OPT_MINUTES,
	OPT_HOURS,
	OPT_TOPOLOGY,
	OPT_MODE,
	OPT_IDE,
	OPT_FABRIC,
	OPT_HOPS,
	OPT_CALM,
	OPT_IMPAIR,
	OPT_FAULTS,
	OPT_WITHOUT,
	OPT_STOP_AT,
	OPT_PACE,
	OPT_UNTIL_FAILURE,
	OPT_PCAP,
	OPT_CAPTURE,
	OPT_JSON,
	OPT_VERBOSE,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "seeds", required_argument, NULL, OPT_SEEDS },
	{ "minutes", required_argument, NULL, OPT_MINUTES },
	{ "hours", required_argument, NULL, OPT_HOURS },
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "ide", required_argument, NULL, OPT_IDE },
	{ "fabric", required_argument, NULL, OPT_FABRIC },
	{ "hops", required_argument, NULL, OPT_HOPS },
	{ "calm", no_argument, NULL, OPT_CALM },
	{ "impair", required_argument, NULL, OPT_IMPAIR },
	{ "faults", required_argument, NULL, OPT_FAULTS },
	{ "without", required_argument, NULL, OPT_WITHOUT },
	{ "stop-at", required_argument, NULL, OPT_STOP_AT },
	{ "pace", no_argument, NULL, OPT_PACE },
	{ "until-failure", no_argument, NULL, OPT_UNTIL_FAILURE },
	{ "pcap", required_argument, NULL, OPT_PCAP },
	{ "capture", required_argument, NULL, OPT_CAPTURE },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void
sim_take_option(struct sim_opt *o, int c)
{
	switch (c) {
	case OPT_SEED: o->seed = cli_number("--seed", optarg, 0, INT64_MAX); break;
	case OPT_SEEDS: o->seeds = cli_number("--seeds", optarg, 1, INT64_MAX); break;
	case OPT_MINUTES:
		o->seconds = MINUTE_S * cli_number("--minutes", optarg, 1, 1000000);
		break;
	case OPT_HOURS: o->seconds = HOUR_S * cli_number("--hours", optarg, 1, 10000); break;
	case OPT_TOPOLOGY: o->topology = optarg; break;
	case OPT_MODE: o->mode = (int)cli_word("--mode", optarg, weft_mode_words); break;
	case OPT_IDE: o->ide = (int)cli_word("--ide", optarg, weft_ide_mode_words); break;
	case OPT_FABRIC: o->fabric = optarg; break;
	case OPT_HOPS: o->hops = cli_number("--hops", optarg, 1, INT64_MAX); break;
	case OPT_CALM: o->calm = true; break;
	case OPT_IMPAIR:
		bad_wire_read(&o->impair, optarg);
		o->has_impair = true;
		break;
	case OPT_FAULTS: o->faults = cli_number("--faults", optarg, 0, INT64_MAX); break;
	case OPT_WITHOUT:
		o->without |= WEFT_BIT64(cli_word("--without", optarg, fault_word));
		break;
	case OPT_STOP_AT: o->stop_at = cli_number("--stop-at", optarg, 1, INT64_MAX); break;
	case OPT_PACE: o->pace = true; break;
	case OPT_UNTIL_FAILURE: o->until_failure = true; break;
	case OPT_PCAP: o->pcap = optarg; break;
	case OPT_CAPTURE: o->capture = optarg; break;
	case OPT_JSON: o->json = optarg; break;
	case OPT_VERBOSE: o->verbose = true; break;
	case OPT_VERSION: puts("weft-sim " WEFT_VERSION); cli_exit(EXIT_SUCCESS);
	case 'h': fputs(usage_text, stdout); cli_exit(EXIT_SUCCESS);
	default: exit(CLI_USAGE); /* getopt has said why */
	}
}

static void
sim_parse_options(struct sim_opt *o, int argc, char **argv)
{
	uint64_t given = 0;
	int c;

	*o = (struct sim_opt){ .seed = 1,
		.seeds = 1,
		.faults = UINT64_MAX,
		.pcap = "weft-sim",
		.stopped = &stopped,
		.mode = -1,
		.ide = -1 };
	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		sim_take_option(o, c);
		given |= c >= OPT_SEED ? CLI_BIT(c) : 0;
	}
	if (optind < argc)
		cli_usage("unexpected argument \"%s\"", argv[optind]);
	if (o->topology != NULL && o->fabric != NULL)
		cli_usage("--topology and --fabric exclude each other");
	if ((given & CLI_BIT(OPT_MINUTES)) != 0 && (given & CLI_BIT(OPT_HOURS)) != 0)
		cli_usage("--minutes and --hours: expected one of them");
	if (o->seconds != 0 && (given & CLI_BIT(OPT_SEEDS)) != 0)
		cli_usage("--seeds and --%s: expected one of them",
			(given & CLI_BIT(OPT_HOURS)) != 0 ? "hours" : "minutes");
	if (o->calm || o->pace)
		cli_no_effect(long_options, given, CLI_BIT(OPT_FAULTS) | CLI_BIT(OPT_WITHOUT),
			o->calm ? "with --calm, which has no faults"
				: "with --pace, which has no faults");
	if (o->capture != NULL && (o->seeds != 1 || o->seconds != 0))
		cli_usage("--capture takes one seed, not --seeds, --minutes or --hours");
	cli_two_files("--capture", o->capture, "--json", o->json);
	cli_two_files("--topology", o->topology, "--capture", o->capture);
	cli_two_files("--topology", o->topology, "--json", o->json);
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

/* What the counters of ends and wires say goes into the totals. */
static void
sim_collect(struct sim *s)
{
	for (uint32_t i = 0; i < s->n_ends; i++)
		weft_counters_add(s->total.llr, weft_llr_counts(weft_end_llr(s->end[i].end)),
			WEFT_LLR_N_COUNTERS);
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
	s.recorder = recorder_new();
	sim_run(&s);
	if (recorder_write(s.recorder, f->pcap, err, sizeof(err)) != 0) {
		cli_warn("--pcap: %s", err);
		f->pcap[0] = '\0';
	}
	recorder_free(s.recorder);
	sim_free(&s);
}

static void
sim_capture_begin(struct sim *s, const char *path)
{
	char err[400];

	s->capture = capture_open(path, err, sizeof(err));
	if (s->capture == NULL)
		cli_fail("--capture: %s", err);
}

static void
sim_capture_end(struct sim *s, const char *path, struct report *r)
{
	const int rc = capture_close(s->capture, &r->capture);

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

	sim_build_or_exit(&s, o, seed);
	if (o->capture != NULL)
		sim_capture_begin(&s, o->capture);
	start = sim_now_s(CLOCK_PROCESS_CPUTIME_ID);
	sim_run(&s);
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
			s.n_faults, s.digest);
	if (s.total.violations != 0)
		f = report_failure(r, &s);
	sim_free(&s);
	if (f != NULL)
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

	if (sim_is_experiment(argc, argv))
		cli_exit(experiment_main(argc, argv));
	sim_parse_options(&o, argc, argv);
	json_check(o.json);
	features = cli_cpu_features();
	o.codec.fec = weft_fec_kernel_find(NULL, features);
	o.codec.crc = weft_crc_kernel_find(NULL, features);
	cli_report_kernels();
	o.ide_lib = weft_ide_lib_open(features);
	if (o.ide_lib == NULL)
		cli_fail("intel-ipsec-mb does not run here");
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sim_run_seeds(&o, &r);
	weft_ide_lib_close(o.ide_lib);
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
