/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftctl: the memory of a fabric at a command line, through a host of a daemon on this machine. A
 * verb is a row of the table below and a function. doc/weftctl.md is its manual.
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
#include "weft_base.h"

struct ctl_verb {
	const char *subject, *name;
	const char *operands; /* a word each */
	const char *does;
	uint32_t tags; /* of the options that it takes, beside those that all do */
	int failure; /* exit status of what cannot be done; 0: EXIT_FAILURE */
	int (*run)(struct ctl *c);
};

static const struct ctl_verb verbs[] = {
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
};

static void
main_read_size(const char *option, char *text, void *to)
{
	const uint64_t v = ctl_bytes(option, text);

	if (v < 1 || v > UINT64_C(1) << 20)
		cli_usage("%s: expected 1 to 1M, got \"%s\"", option, text);
	((struct ctl_options *)to)->bench_size = v;
}

static const char *const bench_ops[] = { "read", "write", NULL };

#define CLI_INTO struct ctl_options
static const struct cli_option options[] = {
	REACH_OPTIONS,
	{ CLI_SECTION("mem read") },
	{ "out", "FILE", NULL,
		"write the bytes to a file, which is there when it is whole; - is standard output",
		CLI_TEXT(out), .tags = CTL_OUT },
	{ CLI_SECTION("mem write") },
	{ "file", "FILE", NULL,
		"write what is in a file; -, or neither this nor --hex, is standard input",
		CLI_TEXT(file), .tags = CTL_INPUT },
	{ "hex", "BYTES", NULL, "write these: pairs of digits, blanks between them or not",
		CLI_TEXT(hex), .tags = CTL_INPUT },
	{ CLI_SECTION("mem bench") },
	{ "op", NULL, "read", "what to measure; write overwrites the region",
		CLI_WORD(bench_op, bench_ops), .tags = CTL_BENCH },
	{ "size", "SIZE", "64", "bytes of an operation, up to 1M", CLI_OWN(main_read_size),
		.tags = CTL_BENCH },
	{ "depth", "N", "32", "operations under way at a time, 1 to 4096",
		CLI_NUMBER(bench_depth, 1, 4096), .tags = CTL_BENCH },
	{ "seconds", "S", "2", "how long, 0.01 to 3600",
		CLI_REAL(bench_seconds, 0.01, 3600, "seconds of 0.01 to 3600"), .tags = CTL_BENCH },
	{ "ways", NULL, NULL,
		"reads by each way in, beside pipes, TCP and memcpy of this machine, in place of "
		"--op, --size and --depth",
		CLI_FLAG(is_ways), .tags = CTL_BENCH },
	{ "force", NULL, NULL, "--op write may overwrite the region", CLI_FLAG(is_forced),
		.tags = CTL_BENCH },
	{ CLI_SECTION("Output") },
	{ "json", NULL, NULL, "print JSON: mem list, read, cmp and bench", CLI_FLAG(is_json),
		.tags = CTL_JSON },
};

static char verb_lines[2048];
static const char *verb_words[2 * WEFT_ARRAY_SIZE(verbs) + 1];

static const struct cli_program program = {
	.name = "weftctl",
	.synopsis = "[--node NAME | --socket PATH] mem VERB [operands] [options]",
	.does = "Look at the memory of a fabric, change and measure it, through a host of a daemon "
		"on this machine.",
	.details = verb_lines,
	.status = "the fabric, the daemon or an output refuses, or if mem cmp finds a difference "
		  "(which ends with 2 if it cannot compare)",
	.examples = "  weftctl mem list\n"
		    "  weftctl --node h0 mem read g0 0x1000 256\n"
		    "  weftctl mem fill g0 0 64M 0xff\n"
		    "  weftctl mem dump g0 g0.bin\n",
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

/* What --help and completion say of verbs comes from their rows. */
static void
main_describe_verbs(void)
{
	size_t used = 0, n = 0;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(verbs); i++) {
		const struct ctl_verb *v = &verbs[i];
		char form[64];

		snprintf(form, sizeof(form), "%s %s %s", v->subject, v->name, v->operands);
		used += (size_t)snprintf(
			verb_lines + used, sizeof(verb_lines) - used, "  %-34s%s\n", form, v->does);
		if (!main_has_word(v->subject, n))
			verb_words[n++] = v->subject;
		if (!main_has_word(v->name, n))
			verb_words[n++] = v->name;
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
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(verbs); i++) {
		const struct ctl_verb *v = &verbs[i];

		if (name != NULL && strcmp(v->subject, subject) == 0 && strcmp(v->name, name) == 0)
			return v;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s %s",
			i == 0 ? "" : ", ", v->subject, v->name);
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
	if (n_operands != main_count_words(v->operands))
		cli_usage("%s: expected %s, got %d operands", c->verb,
			v->operands[0] != '\0' ? v->operands : "no operands", n_operands);
	for (unsigned int i = 0; i < program.n_options; i++)
		if ((given & WEFT_BIT64(i)) != 0 && options[i].tags != 0 &&
			(options[i].tags & v->tags) == 0)
			cli_usage("--%s: expected an option of %s, got one of others; --help says "
				  "of which",
				options[i].name, c->verb);
	reach_judge(c->opt.node, c->opt.socket);
}

int
main(int argc, char **argv)
{
	static struct ctl c;
	const struct ctl_verb *v;
	char verb[64];
	uint64_t given;
	int status;

	/* That a reader of ours has gone is an error of a write. */
	signal(SIGPIPE, SIG_IGN);
	main_describe_verbs();
	given = cli_parse(&program, &c.opt, argc, argv);
	v = main_find_verb(argc, argv);
	snprintf(verb, sizeof(verb), "%s %s", v->subject, v->name);
	c.verb = verb;
	c.operand = argv + optind + 2;
	c.failure = v->failure != 0 ? v->failure : EXIT_FAILURE;
	main_judge_command(v, &c, given, argc - optind - 2);
	status = v->run(&c);
	weft_detach(c.w);
	cli_exit(status);
}
