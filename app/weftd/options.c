/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The command line of weftd. */

#include <float.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "cci.h"
#include "cli.h"

struct options {
	struct daemon_cfg cfg;
	struct run_options run;
	bool schema;
};

static void
options_read_capture(const char *option, char *text, void *to)
{
	struct daemon_cfg *c = &((struct options *)to)->cfg;

	if (c->n_captures == WEFT_ARRAY_SIZE(c->captures))
		cli_usage("%s: expected %zu captures at most, got more", option,
			WEFT_ARRAY_SIZE(c->captures));
	c->captures[c->n_captures++] = text;
}

static void
options_read_load(const char *option, char *text, void *to)
{
	struct daemon_cfg *c = &((struct options *)to)->cfg;

	if (c->n_loads == WEFT_ARRAY_SIZE(c->load))
		cli_usage("%s: expected %zu files at most, got more", option,
			WEFT_ARRAY_SIZE(c->load));
	c->load[c->n_loads++] = text;
}

/* What only a run looks at, and others that do nothing beside some. */
enum { RUN = 1, NODE = 2, SERVER = 4, UNTIL = 8, LOAD = 16, LAYOUT = 32, CCI = 64 };

#define SECONDS(member) CLI_REAL(member, DBL_TRUE_MIN, 1e9, "seconds above 0 up to 1000000000")
#define CLI_INTO struct options
static const struct cli_option options[] = {
	{ CLI_SECTION("Fabric") },
	{ "topology", "FILE", NULL,
		"the lab (without: a built-in fabric of 2 hosts, 2 switches, 2 GFDs)",
		CLI_TEXT(cfg.topology) },
	{ "load", "FILE", NULL, "a file with more workloads; may be given again",
		CLI_OWN(options_read_load), .tags = LOAD },
	{ "node", "NAME[,NAME]", NULL, "run these nodes, whatever server they name",
		CLI_TEXT(cfg.nodes), .tags = NODE },
	{ "server", "NAME", NULL, "this machine's name in the file (the host name)",
		CLI_TEXT(run.server), .tags = SERVER },
	{ CLI_SECTION("Instead of a run") },
	{ "check", "[FILE]", NULL,
		"read and check the topology, say what it holds, and end; with --server, on that "
		"server, its machine too",
		CLI_FLAG(run.check) },
	{ "resolve", "FILE", NULL,
		"say what would happen to an address, and end; with --from, --hpa",
		CLI_TEXT(run.resolve) },
	{ "from", "NODE", NULL, "who asks --resolve for it", CLI_TEXT(run.from) },
	{ "hpa", "ADDRESS", NULL, "what it asks for", CLI_TEXT(run.hpa) },
	{ "uio", NULL, NULL, "by UIO instead of CXL.mem", CLI_FLAG(run.uio) },
	{ "schema", NULL, NULL, "print the JSON Schema of topology files, for editors, and end",
		CLI_FLAG(schema) },
	{ CLI_SECTION("Run") },
	{ "seconds", "S", NULL, "end after S seconds (without: SIGINT or SIGTERM ends it)",
		SECONDS(cfg.seconds), .tags = RUN },
	{ "until-done", NULL, NULL,
		"end when every host and device here has done its requests and transfers",
		CLI_FLAG(cfg.until_done), .tags = RUN },
	{ "wait", "S", "30",
		"with --until-done: give up when a connection has no session for longer",
		SECONDS(cfg.wait_s), .tags = RUN | UNTIL },
	{ "idle", NULL, "auto", "what an lcore does that finds no work",
		CLI_WORD(cfg.idle, weft_idle_words), .tags = RUN },
	{ "rx-layout", "LAYOUT", WEFT_LAYOUT_RX_LIVE,
		"receive pipeline of hosts and GFDs; | is for another lcore, 2* for two",
		CLI_TEXT(cfg.rx_layout), .tags = LAYOUT },
	{ "tx-layout", "LAYOUT", WEFT_LAYOUT_TX_LIVE,
		"transmit pipeline of hosts and GFDs, likewise", CLI_TEXT(cfg.tx_layout),
		.tags = LAYOUT },
	{ "switch-layout", "LAYOUT", WEFT_LAYOUT_SWITCH, "pipeline of switches, likewise",
		CLI_TEXT(cfg.switch_layout), .tags = LAYOUT },
	{ "cci", NULL, "read-only", "what a fabric manager may do at switches and GFDs",
		CLI_WORD(cfg.cci, cci_mode_words), .tags = RUN | CCI },
	{ "cci-aliases", NULL, NULL,
		"answer sets 07h, 49h, 57h, 58h, 59h also as C7h, C9h, D7h, D8h, D9h",
		CLI_FLAG(cfg.cci_aliases), .tags = RUN },
	{ CLI_SECTION("Output") },
	{ "capture", "PORT=FILE", NULL,
		"write the frames of a port, such as s0.0, to a pcapng file",
		CLI_OWN(options_read_capture), .tags = RUN },
	{ "capture-limit", "SIZE", NULL, "such as 100M: a capture ends when its file has that size",
		CLI_SIZE(cfg.capture_limit, 4096, "a size of 4096 bytes or more, such as 100M"),
		.tags = RUN },
	{ "json", "[FILE|-]", NULL, "write the counts, or the answer of --resolve, as JSON",
		CLI_OUTPUT(cfg.json) },
	{ "stats-interval", "S", NULL, "print Mflit/s of every node here each S seconds",
		SECONDS(cfg.stats_s), .tags = RUN },
	{ "http", "[ADDRESS:]PORT", NULL,
		"serve metrics, state and a page, at 127.0.0.1 unless an address is given",
		CLI_TEXT(cfg.http), .tags = RUN },
	{ "http-users", NULL, NULL,
		"with --http at a loopback address: every user of this machine may look, not only "
		"this one and root",
		CLI_FLAG(cfg.http_users), .tags = RUN },
	{ "verbose", NULL, NULL, "say more: every session that comes up", CLI_FLAG(cfg.verbose),
		.letter = 'v' },
	{ "quiet", NULL, NULL, "no text but errors and what other options ask for",
		CLI_FLAG(cfg.quiet), .letter = 'q' },
};

static const struct cli_program program = {
	.name = "weftd",
	.synopsis = "[--topology FILE] [options] [-- EAL arguments]",
	.does = "Run the nodes of a fabric that are this machine's: hosts, switches, GFDs, "
		"devices.",
	.status = "it could not run, a host or device lost a request, read wrong data or got "
		  "another answer than it must, or a transfer ended other than expected",
	.examples = "  weftd --until-done\n"
		    "  weftd --check --topology lab.yaml --server lab1\n"
		    "  weftd --topology lab.yaml --seconds 60 --json counts.json -- -l 2-3\n",
	CLI_OPTIONS(options),
};

static void __attribute__((noreturn)) options_print_schema(uint64_t given, int eal_argc)
{
	char *text;

	if (__builtin_popcountll(given) != 1 || eal_argc != 0)
		cli_usage("--schema: expected no other option with it");
	text = weft_load_schema();
	if (text == NULL)
		cli_fail("out of memory");
	puts(text);
	free(text);
	cli_exit(EXIT_SUCCESS);
}

/* Options that contradict each other, and those that do nothing beside others. */
static void
options_judge(const struct daemon_cfg *c, const struct run_options *run, uint64_t given)
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
		cli_no_effect(&program, given, RUN, "with --check");
	else if (run->resolve != NULL)
		cli_no_effect(
			&program, given, RUN | LOAD | NODE | SERVER | LAYOUT, "with --resolve");
	else if (!c->until_done)
		cli_no_effect(&program, given, UNTIL, "without --until-done");
	if (c->nodes != NULL && run->resolve == NULL)
		cli_no_effect(
			&program, given, SERVER, "with --node, which runs nodes of any server");
	if ((run->check || run->resolve != NULL) && c->eal_argc != 0)
		cli_warn("EAL arguments: no effect with %s, which does not start DPDK",
			run->check ? "--check" : "--resolve");
}

void
options_parse(struct daemon_cfg *c, struct run_options *run, int argc, char **argv)
{
	struct options o = { .cfg = *c, .run = *run };
	const uint64_t given = cli_parse(&program, &o, argc, argv);

	*c = o.cfg;
	*run = o.run;
	if (run->check && optind < argc && c->topology == NULL)
		c->topology = argv[optind++];
	cli_options_only(argc, argv);
	if (o.schema)
		options_print_schema(given, c->eal_argc);
	options_judge(c, run, given);
	c->cci_is_given = cli_given(&program, given, CCI);
}
