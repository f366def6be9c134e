/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The command line of weftd. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "daemon.h"
#include "words.h"

#define CAPTURE_LIMIT_MIN 4096u

static const char usage_text[] =
	"usage: weftd [--topology FILE] [options] [-- EAL arguments]\n"
	"\n"
	"Run the nodes of a fabric that are this machine's: hosts, switches, GFDs, devices.\n"
	"\n"
	"  --topology FILE       the lab (without: a built-in fabric of 2 hosts, 2 switches, 2 "
	"GFDs)\n"
	"  --node NAME[,NAME]    run these nodes, whatever server they name\n"
	"  --server NAME         this machine's name in the file (the host name)\n"
	"  --check [FILE]        read and check the topology, say what it holds, and end\n"
	"  --resolve FILE        say what would happen to an address, and end; with --from, --hpa\n"
	"  --from NODE, --hpa ADDRESS   who asks for what\n"
	"  --uio                 by UIO instead of CXL.mem\n"
	"  --seconds S           end after S seconds (without: SIGINT or SIGTERM ends it)\n"
	"  --until-done          end when every host and device here has done its requests and\n"
	"                        transfers\n"
	"  --wait S              with --until-done: give up if connections take longer (30)\n"
	"  --idle auto|spin|yield   what an lcore does that finds no work (auto)\n"
	"  --rx-layout LAYOUT    receive pipeline of hosts and GFDs (" WEFT_LAYOUT_RX_IDE ")\n"
	"  --switch-layout LAYOUT   pipeline of switches (" WEFT_LAYOUT_SWITCH ")\n"
	"  --capture PORT=FILE   write the frames of a port, such as s0.0, to a pcapng file\n"
	"  --capture-limit SIZE  such as 100M: a capture ends when its file has that size\n"
	"  --json [FILE|-]       write the counts, or the answer of --resolve, as JSON\n"
	"  --stats-interval S    print Mflit/s of every node here each S seconds\n"
	"  -v, --verbose         say more: every session that comes up\n"
	"  -q, --quiet           no text but errors\n"
	"  --version, -h, --help\n"
	"\n"
	"Exit status: 0; 1 if it could not run, a host or device lost a request, read wrong data "
	"or\n"
	"got another answer than it must, or a transfer ended other than expected; 2 for a "
	"command\n"
	"line that makes no sense.\n";

enum {
	OPT_TOPOLOGY = 256,
	OPT_NODE,
	OPT_SERVER,
	OPT_CHECK,
	OPT_RESOLVE,
	OPT_FROM,
	OPT_HPA,
	OPT_UIO,
	OPT_SECONDS,
	OPT_UNTIL_DONE,
	OPT_WAIT,
	OPT_IDLE,
	OPT_RX_LAYOUT,
	OPT_SWITCH_LAYOUT,
	OPT_CAPTURE,
	OPT_CAPTURE_LIMIT,
	OPT_JSON,
	OPT_STATS,
	OPT_VERSION,
};

/* What only a run looks at. */
#define OPTS_RUN                                                                                   \
	(CLI_BIT(OPT_SECONDS) | CLI_BIT(OPT_UNTIL_DONE) | CLI_BIT(OPT_WAIT) | CLI_BIT(OPT_IDLE) |  \
		CLI_BIT(OPT_RX_LAYOUT) | CLI_BIT(OPT_SWITCH_LAYOUT) | CLI_BIT(OPT_CAPTURE) |       \
		CLI_BIT(OPT_CAPTURE_LIMIT) | CLI_BIT(OPT_STATS))

static const struct option long_options[] = {
	{ "topology", required_argument, NULL, OPT_TOPOLOGY },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "server", required_argument, NULL, OPT_SERVER },
	{ "check", no_argument, NULL, OPT_CHECK },
	{ "resolve", required_argument, NULL, OPT_RESOLVE },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "hpa", required_argument, NULL, OPT_HPA },
	{ "uio", no_argument, NULL, OPT_UIO },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "until-done", no_argument, NULL, OPT_UNTIL_DONE },
	{ "wait", required_argument, NULL, OPT_WAIT },
	{ "idle", required_argument, NULL, OPT_IDLE },
	{ "rx-layout", required_argument, NULL, OPT_RX_LAYOUT },
	{ "switch-layout", required_argument, NULL, OPT_SWITCH_LAYOUT },
	{ "capture", required_argument, NULL, OPT_CAPTURE },
	{ "capture-limit", required_argument, NULL, OPT_CAPTURE_LIMIT },
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "stats-interval", required_argument, NULL, OPT_STATS },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static double
parse_seconds(const char *option, const char *text)
{
	double v;

	if (!words_real(text, 0, 1e9, &v) || v == 0)
		cli_usage(
			"%s: expected seconds above 0 up to 1000000000, got \"%s\"", option, text);
	return v;
}

static uint64_t
parse_size(const char *option, const char *text)
{
	uint64_t v;

	if (!words_size(text, CAPTURE_LIMIT_MIN, &v))
		cli_usage("%s: expected a size of %u bytes or more, such as 100M, got \"%s\"",
			option, CAPTURE_LIMIT_MIN, text);
	return v;
}

/* The word behind an option that may have one; without, standard output. */
static const char *
next_word(int argc, char **argv)
{
	if (optind < argc && (argv[optind][0] != '-' || argv[optind][1] == '\0'))
		return argv[optind++];
	return "-";
}

static void
parse_option(struct daemon_cfg *c, struct run_options *run, int opt, int argc, char **argv)
{
	switch (opt) {
	case OPT_TOPOLOGY: c->topology = optarg; break;
	case OPT_NODE: c->nodes = optarg; break;
	case OPT_SERVER: run->server = optarg; break;
	case OPT_CHECK: run->check = true; break;
	case OPT_RESOLVE: run->resolve = optarg; break;
	case OPT_FROM: run->from = optarg; break;
	case OPT_HPA: run->hpa = optarg; break;
	case OPT_UIO: run->uio = true; break;
	case OPT_SECONDS: c->seconds = parse_seconds("--seconds", optarg); break;
	case OPT_UNTIL_DONE: c->until_done = true; break;
	case OPT_WAIT: c->wait_s = parse_seconds("--wait", optarg); break;
	case OPT_IDLE: c->idle = (enum weft_idle)cli_word("--idle", optarg, weft_idle_words); break;
	case OPT_RX_LAYOUT: c->rx_layout = optarg; break;
	case OPT_SWITCH_LAYOUT: c->switch_layout = optarg; break;
	case OPT_CAPTURE:
		if (c->n_captures == sizeof(c->captures) / sizeof(c->captures[0]))
			cli_usage("--capture: more than %zu captures",
				sizeof(c->captures) / sizeof(c->captures[0]));
		c->captures[c->n_captures++] = optarg;
		break;
	case OPT_CAPTURE_LIMIT: c->capture_limit = parse_size("--capture-limit", optarg); break;
	case OPT_JSON: c->json = optarg != NULL ? optarg : next_word(argc, argv); break;
	case OPT_STATS: c->stats_s = parse_seconds("--stats-interval", optarg); break;
	case 'v': c->verbose = true; break;
	case 'q': c->quiet = true; break;
	case OPT_VERSION: puts("weftd " WEFT_VERSION); cli_exit(EXIT_SUCCESS);
	case 'h': fputs(usage_text, stdout); cli_exit(EXIT_SUCCESS);
	default: exit(CLI_USAGE); /* getopt said why */
	}
}

/* Options that contradict each other, and those that do nothing beside others. */
static void
judge_options(const struct daemon_cfg *c, const struct run_options *run, uint64_t given)
{
	if (c->quiet && c->verbose)
		cli_usage("--quiet and --verbose: expected one of them");
	if (run->resolve == NULL && (run->from != NULL || run->hpa != NULL || run->uio))
		cli_usage("--from, --hpa and --uio: expected --resolve FILE with them");
	if (run->check && run->resolve != NULL)
		cli_usage("--check and --resolve: expected one of them");
	if (run->resolve != NULL && c->topology != NULL)
		cli_usage("--topology and --resolve: expected one of them, --resolve FILE reads "
			  "that file");
	if (run->check && c->json != NULL)
		cli_usage("--json: --check writes no JSON, expected one of them");
	if (run->check)
		cli_no_effect(long_options, given, OPTS_RUN, "with --check");
	else if (run->resolve != NULL)
		cli_no_effect(long_options, given,
			OPTS_RUN | CLI_BIT(OPT_NODE) | CLI_BIT(OPT_SERVER), "with --resolve");
	else if (!c->until_done)
		cli_no_effect(long_options, given, CLI_BIT(OPT_WAIT), "without --until-done");
	if (c->nodes != NULL && run->resolve == NULL)
		cli_no_effect(long_options, given, CLI_BIT(OPT_SERVER),
			"with --node, which runs nodes of any server");
	if ((run->check || run->resolve != NULL) && c->eal_argc != 0)
		cli_warn("EAL arguments: no effect with %s, which does not start DPDK",
			run->check ? "--check" : "--resolve");
}

void
options_parse(struct daemon_cfg *c, struct run_options *run, int argc, char **argv)
{
	uint64_t given = 0;
	int opt;

	c->rx_layout = WEFT_LAYOUT_RX_IDE;
	c->switch_layout = WEFT_LAYOUT_SWITCH;
	c->wait_s = 30;
	while ((opt = getopt_long(argc, argv, "hvq", long_options, NULL)) != -1) {
		parse_option(c, run, opt, argc, argv);
		given |= opt >= OPT_TOPOLOGY ? CLI_BIT(opt) : 0;
	}
	if (run->check && optind < argc && c->topology == NULL)
		c->topology = argv[optind++];
	if (optind < argc)
		cli_usage("expected options only, got \"%s\"; EAL arguments go behind --",
			argv[optind]);
	judge_options(c, run, given);
}
