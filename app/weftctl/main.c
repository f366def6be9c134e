/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftctl: fabrics at a command line: memory, through a host of a daemon on this machine, and the
 * daemons themselves. A verb is a row of the table below and a function. doc/weftctl.md is its
 * manual.
 *
 * Exit status: 0; 1 if the fabric, the daemon or an output refuses, or if mem cmp finds a
 * difference, which ends with 2 for all else; 2 for bad arguments or input.
 */

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ctl.h"
#include "reach.h"
#include "shell.h"
#include "show.h"
#include "weft_base.h"
#include "words.h"

const struct ctl_verb ctl_verbs[] = {
	{ "mem", "list", "", "what this host may reach", CTL_JSON, .run = mem_list },
	{ "mem", "read", "REGION OFFSET SIZE", "show bytes, as hexdump -C does", CTL_OUT | CTL_JSON,
		.run = mem_read },
	{ "mem", "write", "REGION OFFSET", "write a file, --hex, or standard input", CTL_INPUT,
		.run = mem_write },
	{ "mem", "fill", "REGION OFFSET SIZE BYTE", "write the same byte", .run = mem_fill },
	{ "mem", "cmp", "REGION OFFSET FILE", "compare to the ends of both", CTL_JSON,
		.failure = CLI_USAGE, .run = mem_cmp },
	{ "mem", "dump", "REGION FILE", "the whole region to a file", .run = mem_dump },
	{ "mem", "load", "REGION FILE", "a file to the beginning of a region", .run = mem_load },
	{ "mem", "bench", "REGION", "rate and latency; --op write overwrites it",
		CTL_BENCH | CTL_JSON, .run = mem_bench },
	{ "show", "", "WHAT", "fabric, nodes, links and so on, as below",
		CTL_DAEMONS | CTL_WATCH | CTL_JSON, .run = show_run },
	{ "top", "", "", "a live page of nodes: load, latency, drops; q ends it",
		CTL_DAEMONS | CTL_WATCH, .run = top_run },
	{ "events", "", "", "what the daemons said last; --follow: and what comes",
		CTL_DAEMONS | CTL_FOLLOW | CTL_JSON, .run = operate_events },
	{ "reload", "", "", "have daemons read their topology files again", CTL_DAEMONS | CTL_JSON,
		.run = operate_reload },
	{ "log", "level", "LEVEL", "events that daemons print: error, warning, info, detail",
		CTL_DAEMONS | CTL_JSON, .run = operate_log },
	{ "capture", "start", "PORT FILE", "write the frames of a port to a pcapng file",
		CTL_DAEMONS | CTL_LIMIT | CTL_JSON, .run = operate_capture_start },
	{ "capture", "stop", "PORT", "end that", CTL_DAEMONS | CTL_JSON,
		.run = operate_capture_stop },
	{ "trace", "", "PORT", "frames of a port, flit by flit, and the stages that they passed",
		CTL_DAEMONS | CTL_TRACE | CTL_JSON, .run = trace_run },
	{ "drain", "", "NODE", "a node begins no new work and comes to rest; --undo: it goes on",
		CTL_DAEMONS | CTL_DRAIN | CTL_JSON, .run = drain_run },
	{ "inject", "wire", "PORT [KEY=VALUE,...]", "lose, double, mix or damage what a port sends",
		CTL_DAEMONS | CTL_INJECT | CTL_WIRE | CTL_SEED | CTL_JSON, .run = inject_wire },
	{ "inject", "poison", "TARGET [OFFSET [SIZE]]", "late poison in memory of a GFD",
		CTL_DAEMONS | CTL_INJECT | CTL_SEED | CTL_POISON | CTL_JSON, .run = inject_poison },
	{ "inject", "pause", "NODE", "do not poll a node", CTL_DAEMONS | CTL_INJECT | CTL_JSON,
		.run = inject_pause },
	{ "inject", "list", "", "injections at work, and what they did so far",
		CTL_DAEMONS | CTL_JSON, .run = inject_list },
	{ "inject", "stop", "[NUMBER]", "end one of that list, or all", CTL_DAEMONS | CTL_JSON,
		.run = inject_stop },
	{ "doctor", "", "", "what of this machine would be in the way, and what mends it",
		CTL_DOCTOR | CTL_JSON, .failure = CLI_USAGE, .run = doctor_see },
	{ "fm", "show", "WHAT", "fabric, switch, port, pid, route, gfd, extents, memory, events",
		CTL_JSON, .run = fm_show },
	{ "fm", "path", "FROM TO", "nodes on the way, by the switches' tables", CTL_JSON,
		.run = fm_path },
	{ "fm", "history", "", "changes: who, why, which component, which command", CTL_JSON,
		.run = fm_history },
	{ "fm", "drain", "NODE", "route around a node from now on", CTL_PLAN | CTL_JSON,
		.run = fm_drain },
	{ "fm", "undrain", "NODE", "no longer", CTL_PLAN | CTL_JSON, .run = fm_undrain },
	{ "fm", "mem", "OP [NAME]", "memory of hosts: create, grow, share, release",
		CTL_PLAN | CTL_FM_MEM | CTL_JSON, .run = fm_mem },
	{ "cci", "", "[NODE] [OPCODE] [PAYLOAD]",
		"send a CCI request to a switch or GFD; or list those", CTL_CCI | CTL_JSON,
		.run = cci_run },
};

const unsigned int ctl_n_verbs = WEFT_ARRAY_SIZE(ctl_verbs);

static void
main_read_size(const char *option, char *text, void *to)
{
	struct ctl_options *o = to;

	o->size = ctl_bytes(option, text);
	o->size_text = text;
}

static void
main_read_wait(const char *option, char *text, void *to)
{
	struct ctl_options *o = to;

	if (!words_real(text, 0, 86400, &o->drain.wait_s))
		cli_usage("%s: expected seconds of 0 to 86400, got \"%s\"", option, text);
	o->drain.wait_is_given = true;
}

static const char *const bench_ops[] = { "read", "write", NULL };

#define CLI_INTO struct ctl_options
static const struct cli_option options[] = {
	REACH_OPTIONS,
	{ CLI_SECTION("mem read") },
	{ "out", "FILE", NULL,
		"write the bytes to a file, which is there when it is whole; - is standard output",
		CLI_OUTPUT(out), .tags = CTL_OUT },
	{ CLI_SECTION("mem write") },
	{ "file", "FILE", NULL,
		"write what is in a file; -, or neither this nor --hex, is standard input",
		CLI_TEXT(file), .tags = CTL_INPUT },
	{ "hex", "BYTES", NULL, "write these: pairs of digits, blanks between them or not",
		CLI_TEXT(hex), .tags = CTL_INPUT },
	{ CLI_SECTION("mem bench") },
	{ "op", NULL, "read", "what to measure; write overwrites the region",
		CLI_WORD(bench.op, bench_ops), .tags = CTL_BENCH | CTL_NOT_WAYS },
	{ "size", "SIZE", NULL, "bytes of an operation, up to 1M (64); fm mem: of memory",
		CLI_OWN(main_read_size), .tags = CTL_BENCH | CTL_FM_MEM | CTL_NOT_WAYS },
	{ "depth", "N", "32", "operations under way at a time, 1 to 4096",
		CLI_NUMBER(bench.depth, 1, 4096), .tags = CTL_BENCH | CTL_NOT_WAYS },
	{ "seconds", "S", NULL,
		"how long, 0.01 to 3600 (2; inject: 10); trace: wait so long for its frames (for "
		"ever)",
		CLI_REAL(seconds, 0.01, 3600, "seconds of 0.01 to 3600"),
		.tags = CTL_BENCH | CTL_TRACE | CTL_INJECT },
	{ "ways", NULL, NULL,
		"reads by each way in, beside pipes, TCP and memcpy of this machine, in place of "
		"--op, --size and --depth",
		CLI_FLAG(bench.is_ways), .tags = CTL_BENCH },
	{ "uio", NULL, NULL, "by UIO in place of CXL.mem; --size is a multiple of 4 then",
		CLI_FLAG(bench.is_uio), .tags = CTL_BENCH },
	{ "force", NULL, NULL, "--op write may overwrite the region", CLI_FLAG(is_forced),
		.tags = CTL_BENCH | CTL_NOT_WAYS },
	{ CLI_SECTION("Daemons: show, top, events, reload, log, capture, trace, drain, inject") },
	{ "daemon", "PID", NULL, "that one, in place of all of this user",
		CLI_NUMBER(daemon, 1, INT32_MAX), .tags = CTL_DAEMONS },
	{ "watch", "S", NULL, "show, top: again each S seconds, 0.1 to 3600, until a signal",
		CLI_REAL(watch_s, 0.1, 3600, "seconds of 0.1 to 3600"), .tags = CTL_WATCH },
	{ "follow", NULL, NULL, "events: go on with those that come", CLI_FLAG(follows),
		.tags = CTL_FOLLOW },
	{ "limit", "SIZE", NULL, "capture start: the file ends at that size, such as 100M",
		CLI_SIZE(limit, 4096, "a size of 4096 bytes or more, such as 100M"),
		.tags = CTL_LIMIT },
	{ "pid", "PID", NULL, "trace: only frames from or to this PID", CLI_NUMBER(pid, 0, 0xFFF),
		.tags = CTL_TRACE },
	{ "kind", "K", NULL,
		"trace: only frames that are or hold it: control, flits, nop, io, cachemem, almp, "
		"or "
		"a kind of messages such as m2s_req",
		CLI_TEXT(kind), .tags = CTL_TRACE },
	{ "count", "N", "1", "trace: so many frames, 1 to 100000", CLI_NUMBER(count, 1, 100000),
		.tags = CTL_TRACE },
	{ "wait", "S", NULL, "drain: at most so long for what is outstanding (30), 0 to 86400",
		CLI_OWN(main_read_wait), .tags = CTL_DRAIN },
	{ "undo", NULL, NULL, "drain: the node goes on", CLI_FLAG(drain.is_undone),
		.tags = CTL_DRAIN },
	{ CLI_SECTION("inject") },
	{ "loss", "P", NULL, "wire: of a frame to be lost, 0 to 1; drop=P", CLI_TEXT(inject.loss),
		.tags = CTL_WIRE },
	{ "duplicate", "P", NULL, "wire: of a frame to come twice; dup=P",
		CLI_TEXT(inject.duplicate), .tags = CTL_WIRE },
	{ "reorder", "P", NULL, "wire: of a frame to come behind others; reorder=P",
		CLI_TEXT(inject.reorder), .tags = CTL_WIRE },
	{ "corrupt", "P", NULL, "wire: of a flit to be beyond the FEC; uncorrectable=P",
		CLI_TEXT(inject.corrupt), .tags = CTL_WIRE },
	{ "share", "P", NULL, "poison: of reads to meet it, in place of OFFSET",
		CLI_REAL(inject.share, 0x1p-53, 1, "a probability above 0 and up to 1"),
		.tags = CTL_POISON },
	{ "seed", "N", NULL, "wire, poison --share: of the draws; shown where it is drawn",
		CLI_TEXT(inject.seed), .tags = CTL_SEED },
	{ CLI_SECTION("doctor") },
	{ "topology", "FILE", NULL,
		"look only at what nodes of this machine (or --node) need by this file",
		CLI_TEXT(topology), .tags = CTL_DOCTOR },
	{ "root", "DIR", NULL, "look at the files of a machine that are below this folder",
		CLI_TEXT(root), .tags = CTL_DOCTOR },
	{ CLI_SECTION("fm mem create") },
	{ "gfd", "NAME", NULL, "where the memory is to be, or one of those that take turns",
		CLI_TEXT(fm.gfd), .tags = CTL_FM_MEM },
	{ "interleave", "N", NULL, "so many GFDs take turns, as in a segment of the file; 1 to 256",
		CLI_NUMBER(fm.interleave, 1, 256), .tags = CTL_FM_MEM },
	{ CLI_SECTION("fm mem, fm drain, fm undrain") },
	{ "plan", NULL, NULL, "only say which commands would be sent", CLI_FLAG(is_plan),
		.tags = CTL_PLAN },
	{ CLI_SECTION("cci") },
	{ "claim", "PID", NULL, "become the component's manager of this PID first",
		CLI_NUMBER(cci_claim, 1, 0xFFE), .tags = CTL_CCI },
	{ "host", "PID", NULL,
		"ask as the host of this PID, not as a manager; fm mem: name of a host",
		CLI_TEXT(host), .tags = CTL_CCI | CTL_FM_MEM },
	{ "hosts", "NAME,...", NULL, "fm mem: names of hosts", CLI_OWN(fm_read_hosts),
		.tags = CTL_FM_MEM },
	{ CLI_SECTION("Output") },
	{ "json", NULL, NULL,
		"print JSON: mem list, read, cmp and bench, doctor, and all of daemons and of fm; "
		"events: "
		"an object "
		"a line",
		CLI_FLAG(is_json), .tags = CTL_JSON },
	{ CLI_SECTION("Machine") },
	{ "server", "NAME", NULL, "run the same command on that machine, by ssh ($WEFT_SSH)",
		CLI_TEXT(server) },
};

static char verb_lines[8192];
static const char *verb_words[2 * WEFT_ARRAY_SIZE(ctl_verbs) + 16];

const struct cli_program ctl_program = {
	.name = "weftctl",
	.synopsis = "[VERB [operands] [options]]",
	.does = "Look at fabrics and their daemons, and at memory through a host of a daemon on "
		"this "
		"machine; change them, measure them. Without a verb: by a prompt with completion, "
		"or line by line from standard input.",
	.details = verb_lines,
	.status = "the fabric, the daemon or an output refuses, or if mem cmp finds a difference "
		  "(which ends with 2 if it cannot compare), or if "
		  "doctor finds something in the way (2 if it cannot look)",
	.examples = "  weftctl mem list\n"
		    "  weftctl --node h0 mem read g0 0x1000 256\n"
		    "  weftctl mem fill g0 0 64M 0xff\n"
		    "  weftctl mem dump g0 g0.bin\n"
		    "  weftctl show nodes --watch 1\n"
		    "  weftctl top\n"
		    "  weftctl events --follow\n"
		    "  weftctl inject wire s0.0 --loss 0.01 --seconds 60\n"
		    "  weftctl doctor --topology lab.yaml\n"
		    "  weftctl\n"
		    "  weftctl <commands\n",
	CLI_OPTIONS(options),
	.operands = verb_words,
};

static bool
main_has_word(const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(verb_words[i], word) == 0)
			return true;
	return false;
}

/* "mem read REGION OFFSET SIZE" */
static const char *
main_form(const struct ctl_verb *v, char *form, size_t len)
{
	snprintf(form, len, "%s%s%s %s", v->subject, v->name[0] != '\0' ? " " : "", v->name,
		v->operands);
	return form;
}

/* What --help and completion say of verbs comes from their rows. */
static void
main_describe_verbs(void)
{
	size_t used = 0, n = 0;

	for (size_t i = 0; i < ctl_n_verbs; i++) {
		const struct ctl_verb *v = &ctl_verbs[i];
		char form[64];

		used += (size_t)snprintf(verb_lines + used, sizeof(verb_lines) - used,
			"  %-33s %s\n", main_form(v, form, sizeof(form)), v->does);
		if (!main_has_word(v->subject, n))
			verb_words[n++] = v->subject;
		if (v->name[0] != '\0' && !main_has_word(v->name, n))
			verb_words[n++] = v->name;
	}
	used += (size_t)snprintf(verb_lines + used, sizeof(verb_lines) - used, "\nshow:\n\n");
	for (unsigned int i = 0; i < show_n_nouns; i++) {
		used += (size_t)snprintf(verb_lines + used, sizeof(verb_lines) - used,
			"  %-33s %s\n", show_nouns[i].word, show_nouns[i].does);
		verb_words[n++] = show_nouns[i].word;
	}
	snprintf(verb_lines + used, sizeof(verb_lines) - used,
		"\n"
		"  REGION: a name of mem list, or NAME:OFFSET+SIZE, a part of it\n"
		"  OFFSET, SIZE: bytes, decimal or 0x hex, with K, M, G or T behind (1024 each)\n"
		"  BYTE: 0 to 255, or 0x hex\n");
}

static const struct ctl_verb *
main_find_verb(int argc, char **argv)
{
	const char *subject = optind < argc ? argv[optind] : NULL;
	const char *name = optind + 1 < argc ? argv[optind + 1] : NULL;
	char list[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < ctl_n_verbs; i++) {
		const struct ctl_verb *v = &ctl_verbs[i];

		if (subject != NULL && strcmp(v->subject, subject) == 0 &&
			(v->name[0] == '\0' || (name != NULL && strcmp(v->name, name) == 0)))
			return v;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s%s%s",
			i == 0 ? "" : ", ", v->subject, v->name[0] != '\0' ? " " : "", v->name);
	}
	cli_usage("expected one of %s, got \"%s%s%s\"; --help lists them", list,
		subject != NULL ? subject : "", name != NULL ? " " : "", name != NULL ? name : "");
}

static int
main_count_words(const char *text)
{
	int n = 0;

	for (size_t len; text != NULL && *text != '\0'; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		n++;
	}
	return n;
}

static void
main_judge_command(const struct ctl_verb *v, const struct ctl *c, uint64_t given, int n_operands)
{
	const int most = main_count_words(v->operands);
	int least = most;

	for (const char *s = v->operands; *s != '\0'; s++)
		least -= *s == '['; /* the last ones, then */
	if (n_operands < least || n_operands > most)
		cli_usage("%s: expected %s, got %d operands", c->verb,
			v->operands[0] != '\0' ? v->operands : "no operands", n_operands);
	for (unsigned int i = 0; i < ctl_program.n_options; i++)
		if ((given & WEFT_BIT64(i)) != 0 && options[i].tags != 0 &&
			(options[i].tags & v->tags) == 0)
			cli_usage("--%s: %s takes no such option: --help says which it does",
				options[i].name, c->verb);
	for (unsigned int i = 0; c->opt.bench.is_ways && i < ctl_program.n_options; i++)
		if ((given & WEFT_BIT64(i)) != 0 && (options[i].tags & CTL_NOT_WAYS) != 0)
			cli_usage("%s --ways: it takes no --%s", c->verb, options[i].name);
	/* The manager serves the fabric, not a host. */
	if (strcmp(v->subject, "fm") == 0 && (c->opt.node != NULL || c->opt.socket != NULL))
		cli_usage("%s: it takes no --%s", c->verb, c->opt.node != NULL ? "node" : "socket");
	reach_judge(c->opt.node, c->opt.socket);
}

bool
ctl_help(int n_words, char *const *words)
{
	uint32_t tags = 0;
	bool is_any = false;

	for (size_t i = 0; i < ctl_n_verbs; i++) {
		const struct ctl_verb *v = &ctl_verbs[i];
		char form[64];

		if (strcmp(words[0], v->subject) != 0 ||
			(n_words > 1 && v->name[0] != '\0' && strcmp(words[1], v->name) != 0))
			continue;
		printf("  %-33s %s\n", main_form(v, form, sizeof(form)), v->does);
		tags |= v->tags;
		is_any = true;
	}
	if (is_any)
		cli_help_options(&ctl_program, tags);
	return is_any;
}

/* Parsing sorts argv, and another machine wants it as it was. */
static char **
main_copy(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));

	if (copy == NULL)
		cli_fail("out of memory");
	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	return copy;
}

void
ctl_command(int argc, char **argv)
{
	static struct ctl c;
	const struct ctl_verb *v;
	char verb[64], **words = main_copy(argc, argv);
	int n_words;
	uint64_t given;
	int status;

	c.opt.pid = CTL_NO_PID;
	given = cli_parse(&ctl_program, &c.opt, argc, argv);
	v = main_find_verb(argc, argv);
	n_words = v->name[0] != '\0' ? 2 : 1;
	snprintf(verb, sizeof(verb), "%s%s%s", v->subject, n_words == 2 ? " " : "", v->name);
	c.verb = verb;
	c.operand = argv + optind + n_words;
	c.failure = v->failure != 0 ? v->failure : EXIT_FAILURE;
	main_judge_command(v, &c, given, argc - optind - n_words);
	if (c.opt.server != NULL)
		ctl_run_there(c.opt.server, words);
	status = v->run(&c);
	weft_detach(c.w);
	cli_exit(status);
}

int
main(int argc, char **argv)
{
	/* That a reader of ours has gone is an error of a write. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* an error of a write, as a full disk is */
	main_describe_verbs();
	if (argc > 1)
		ctl_command(argc, argv);
	return shell_run();
}
