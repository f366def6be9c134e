/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-load: loads a region of a fabric through a host of a daemon on this machine, measures it,
 * and with --verify checks every byte that it reads. doc/weft-load.md is its manual.
 *
 * Exit status: 0; 1 if something was read that must not be there, an operation failed, or the run
 * could not go on; 2 for a command line that makes no sense; 130 if a signal ended it.
 */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli.h"
#include "histogram.h"
#include "json.h"
#include "load.h"
#include "reach.h"
#include "sign.h"
#include "weft_base.h"
#include "weft_sig_text.h"
#include "words.h"

#define STOPPED 130 /* exit status */
#define SECONDS 2 /* without --seconds and --ops */
#define SECONDS_MOST 1e7
#define VERIFY_MOST (UINT64_C(4) << 30)
#define THETA 0.99
#define BLOCK "crc32c:512"
#define TRANSFER_SIZE 4096
#define MOVE_SIZE 4096 /* of the smallest page */
#define UIO_ALIGN 4

enum { MAIN_MIX = 1, MAIN_SEED = 2, MAIN_BLOCK = 4, MAIN_SIZE = 8, MAIN_OP = 16 };

static struct weft_sig_text main_block_room;
static const struct weft_sig_domain *main_block; /* NULL: none */

static const char *const main_kinds[] = { "mem", "uio", "transfer", "move", NULL };
static const char *const main_ops[] = { "read", "write", "mix", NULL };
static const char *const main_patterns[] = { "random", "sequential", "zipf", NULL };

static void
main_read_size(const char *option, char *text, void *to)
{
	uint64_t v;

	if (!words_bytes(text, &v) || v < 1 || v > UINT64_C(1) << 20)
		cli_usage("%s: expected bytes, 1 to 1M, got \"%s\"", option, text);
	((struct load_options *)to)->size = v;
}

static void
main_read_pattern(const char *option, char *text, void *to)
{
	static char shown[64];
	struct load_options *o = to;
	char *theta = strchr(text, ':');

	if (theta != NULL)
		*theta++ = '\0';
	o->pattern = (enum weft_choice_pattern)cli_word(option, text, main_patterns);
	o->theta = THETA;
	if (theta != NULL &&
		(o->pattern != WEFT_CHOICE_ZIPF || !words_real(theta, WEFT_CHOICE_THETA_LEAST,
							   WEFT_CHOICE_THETA_MOST, &o->theta)))
		cli_usage("%s: expected random, sequential, zipf or zipf:THETA (%g to %g), got "
			  "\"%s:%s\"",
			option, WEFT_CHOICE_THETA_LEAST, WEFT_CHOICE_THETA_MOST, text, theta);
	if (o->pattern == WEFT_CHOICE_ZIPF)
		snprintf(shown, sizeof(shown), "zipf:%g", o->theta);
	o->pattern_text = o->pattern == WEFT_CHOICE_ZIPF ? shown : main_patterns[o->pattern];
}

#define CLI_INTO struct load_options
static const struct cli_option options[] = {
	REACH_OPTIONS,
	{ "region", "REGION", NULL,
		"what to read and write: a name of weftctl mem list, or NAME:OFFSET+SIZE, a part "
		"of it",
		CLI_TEXT(region) },
	{ CLI_SECTION("Load") },
	{ "kind", NULL, "mem",
		"reads and writes by CXL.mem (mem) or by UIO (uio); blocks with signatures "
		"(transfer), which overwrite the region; or have an agent move pages (move)",
		CLI_WORD(kind, main_kinds) },
	{ "block", "DOMAIN", NULL,
		"with --kind transfer: block and signature, such as dif:512 (crc32c:512)",
		CLI_TEXT(block_text), .tags = MAIN_BLOCK },
	{ "inject", "N", NULL, "with --kind transfer: spoil every N-th write behind its signature",
		CLI_NUMBER(inject, 1, UINT64_C(1) << 53), .tags = MAIN_BLOCK },
	{ "op", NULL, "read", "what to do; write and mix overwrite the region",
		CLI_WORD(op, main_ops), .tags = MAIN_OP },
	{ "mix", "PERCENT", "50", "with --op mix: share of writes",
		CLI_NUMBER(write_percent, 0, 100), .tags = MAIN_MIX },
	{ "size", "SIZE", "64",
		"bytes of an operation, up to 1M (4096 with --kind transfer and move)",
		CLI_OWN(main_read_size), .tags = MAIN_SIZE },
	{ "pattern", "random|sequential|zipf[:THETA]", "random",
		"which block is next; by Zipf's law with 0.99, or THETA", .words = main_patterns,
		CLI_OWN(main_read_pattern) },
	{ "depth", "N", "32", "operations of a client under way at a time, 1 to 4096",
		CLI_NUMBER(depth, 1, 4096) },
	{ "clients", "N", "1", "threads that attach, each with a part of the region, 1 to 256",
		CLI_NUMBER(clients, 1, LOAD_CLIENTS_MAX) },
	{ "rate", "OPS", NULL,
		"begin so many a second, of all clients, and count latency from when each was due",
		CLI_NUMBER(rate, 1, 1000000000) },
	{ "seed", "N", NULL, "of the choices (drawn, and shown)", CLI_NUMBER(seed, 0, INT64_MAX),
		.tags = MAIN_SEED },
	{ CLI_SECTION("Length") },
	{ "seconds", "S", NULL, "how long (2, unless --ops says how many)",
		CLI_REAL(seconds, 0.01, SECONDS_MOST, "seconds of 0.01 to 10000000") },
	{ "ops", "N", NULL, "end after so many operations, of all clients",
		CLI_NUMBER(ops, 1, UINT64_C(1) << 53) },
	{ "warmup", "S", NULL, "run so long before anything counts",
		CLI_REAL(warmup, 0, SECONDS_MOST, "seconds of 0 to 10000000") },
	{ CLI_SECTION("Check") },
	{ "verify", NULL, NULL,
		"fill the region first, then check every byte that is read, and read all back in "
		"the end; overwrites it",
		CLI_FLAG(is_verifying) },
	{ CLI_SECTION("Output") },
	{ "json", "[FILE|-]", NULL,
		"write the results as JSON; on standard output (-) in place of "
		"text",
		CLI_OUTPUT(json) },
	{ "histogram", "FILE|-", NULL, "write all latencies as HdrHistogram's text of percentiles",
		CLI_OUTPUT(histogram) },
};

static const struct cli_program program = {
	.name = "weft-load",
	.synopsis = "[--node NAME | --socket PATH] --region REGION [options]",
	.does = "Load a region of a fabric through a host of a daemon on this machine, measure it, "
		"and check what is read.",
	.status = "an operation failed, the run could not go on, or --verify read what must not be "
		  "there (130 if a signal ended it before)",
	.examples = "  weft-load --node h0 --region g0 --op read --seconds 5\n"
		    "  weft-load --node h0 --region g0:16M+16M --op mix --mix 30 --pattern zipf "
		    "--verify\n"
		    "  weft-load --region g0 --rate 100000 --clients 4 --histogram latency.txt\n",
	CLI_OPTIONS(options),
};

/* --- what makes no sense --- */

/* Pages are what others use, and check. */
static void
main_judge_move(const struct load_options *o, uint64_t given)
{
	if (o->kind != LOAD_MOVE)
		return;
	if (cli_given(&program, given, MAIN_OP | MAIN_MIX))
		cli_usage("--op and --mix: expected another --kind than move, which has no reads "
			  "and writes");
	if (o->is_verifying)
		cli_usage("--verify: expected --kind mem or uio, got --kind move: hosts whose "
			  "pages move check what they read, see workloads: in doc/topology.md");
}

static void
main_judge_options(const struct load_options *o, uint64_t given, int argc, char **argv)
{
	if (optind < argc)
		cli_usage("expected options only, got \"%s\"", argv[optind]);
	reach_judge(o->node, o->socket);
	if (o->kind != LOAD_TRANSFER && cli_given(&program, given, MAIN_BLOCK))
		cli_usage("--block and --inject: expected --kind transfer, got --kind %s",
			main_kinds[o->kind]);
	main_judge_move(o, given);
	if (o->region == NULL)
		cli_usage("--region: expected a name of weftctl mem list, got none");
	if (cli_given(&program, given, MAIN_MIX) && o->op != LOAD_MIX)
		cli_usage("--mix: expected --op mix, got --op %s", main_ops[o->op]);
	if (o->is_verifying && o->size % CHECK_LINE != 0)
		cli_usage("--size: expected whole lines of %d bytes with --verify, got %" PRIu64,
			CHECK_LINE, o->size);
	if (o->kind == LOAD_UIO && o->size % UIO_ALIGN != 0)
		cli_usage("--size: expected a multiple of %d bytes with --kind uio, got %" PRIu64,
			UIO_ALIGN, o->size);
	if (json_is_output(o->json) && json_is_output(o->histogram))
		cli_usage("--json and --histogram: expected one of them on standard output, got "
			  "both");
	cli_two_files("--json", o->json, "--histogram", o->histogram);
}

/* What its blocks are, and how much of the region an operation takes: whole lines. */
static void
main_judge_block(struct load_options *o)
{
	char err[200];

	if (o->kind != LOAD_TRANSFER)
		return;
	if (o->block_text == NULL)
		o->block_text = BLOCK;
	if (weft_sig_text_parse(&main_block_room, o->block_text, &main_block, err, sizeof(err)) !=
		0)
		cli_usage("--block %s: %s", o->block_text, err);
	if (main_block == NULL)
		cli_usage(
			"--block: expected a block and its signature, such as %s, got none", BLOCK);
	if (o->is_verifying)
		cli_usage(
			"--verify: expected --kind mem, got --kind transfer, whose signatures are "
			"always checked");
	if (weft_sig_domain_len(main_block, o->size, &o->bytes) != 0)
		cli_usage("--size: expected whole blocks of %" PRIu32 " bytes for --block %s, got "
			  "%" PRIu64,
			main_block->block_size, o->block_text, o->size);
	o->bytes = (o->bytes + CHECK_LINE - 1) / CHECK_LINE * CHECK_LINE;
}

static const char *
main_checked_by(const struct load_options *o)
{
	return o->kind == LOAD_TRANSFER ? "--kind transfer" : "--verify";
}

/* A part may begin anywhere, but lines of ours must be those of the memory, and so must DWs. */
static void
main_judge_start(const struct load_options *o, unsigned int align, const char *with)
{
	const char *part = strrchr(o->region, ':');
	char text[64];
	uint64_t off;

	if (part == NULL)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(part + 1, "+"), part + 1);
	if (words_bytes(text, &off) && off % align != 0)
		cli_usage("--region %s: expected it to begin at a multiple of %u bytes with %s, "
			  "got offset %" PRIu64,
			o->region, align, with, off);
}

static void
main_judge_size(const struct load_options *o, uint64_t size)
{
	const uint64_t least = o->bytes * o->clients;

	if (size < least)
		cli_usage("--region %s: expected %" PRIu64
			  " bytes or more, an operation for each client, got %" PRIu64,
			o->region, least, size);
	if (o->is_checked)
		main_judge_start(o, CHECK_LINE, main_checked_by(o));
	else if (o->kind == LOAD_UIO)
		main_judge_start(o, UIO_ALIGN, "--kind uio");
	if (!o->is_checked)
		return;
	if (size > VERIFY_MOST)
		cli_usage("--region %s: expected up to 4G with %s, got %" PRIu64
			  " bytes: name a part of it, such as %.32s:0+4G",
			o->region, main_checked_by(o), size, o->region);
}

/* --- a run --- */

static void
main_open(struct load *l, struct load_client *c, const struct weft_attach_opts *room)
{
	const struct load_options *o = &l->opt;
	const int rights = o->is_checked || o->op == LOAD_MIX ? WEFT_READ | WEFT_WRITE
	                   : o->op == LOAD_READ               ? WEFT_READ
	                                                      : WEFT_WRITE;
	const int flags = o->kind == LOAD_UIO ? rights | (int)WEFT_UIO : rights;
	struct weft_region_info info;
	int rc = reach_attach(o->node, o->socket, room, &c->w);

	if (rc != 0)
		cli_fail("%s", weft_error(NULL));
	rc = weft_open(c->w, o->region, flags, &c->r);
	if (rc == -ENOENT || rc == -EINVAL || rc == -ERANGE)
		cli_usage("%s", weft_error(c->w));
	if (rc != 0 || weft_info(c->r, &info) != 0)
		cli_fail("%s", weft_error(c->w));
	main_judge_size(o, info.size);
	c->blocks = info.size / o->bytes / o->clients;
	c->base = c->number * c->blocks * o->bytes;
}

static struct check *
main_make_check(const struct load_client *c, uint64_t data_seed)
{
	const struct load_options *o = &c->load->opt;
	struct sign *sign;

	if (o->kind != LOAD_TRANSFER)
		return check_make(data_seed, c->number + 1, c->base, o->size, c->blocks);
	sign = sign_make(main_block, o->size, data_seed + c->number);
	return sign == NULL ? NULL
	                    : check_make_signed(sign, c->base, o->bytes, c->blocks, o->inject);
}

/* @p data_seed: what an earlier run with the same seed has left is not taken for this one's. */
static void
main_prepare(struct load_client *c, uint64_t data_seed)
{
	const struct load_options *o = &c->load->opt;

	weft_rand_seed(&c->rand, o->seed + c->number);
	weft_choice_init(&c->choice, o->pattern, c->blocks, o->theta);
	c->slot = calloc(o->depth, sizeof(*c->slot));
	c->ready = calloc(o->depth, sizeof(*c->ready));
	c->free = calloc(o->depth, sizeof(*c->free));
	c->data = calloc(o->depth, o->bytes);
	if (o->is_checked)
		c->check = main_make_check(c, data_seed);
	if (c->slot == NULL || c->ready == NULL || c->free == NULL || c->data == NULL ||
		(o->is_checked && c->check == NULL))
		cli_fail("no memory for client %" PRIu32 " of %" PRIu32, c->number + 1, o->clients);
	for (uint32_t i = o->depth; i > 0; i--)
		c->free[c->n_free++] = i - 1;
	/* Nobody looks at it, but zeros would be something special. */
	weft_rand_fill(&c->rand, c->data, o->depth * o->bytes);
}

static void
main_free(struct load_client *c)
{
	weft_detach(c->w);
	check_free(c->check);
	free(c->slot);
	free(c->ready);
	free(c->free);
	free(c->data);
}

static uint64_t
main_draw(void)
{
	uint64_t v = 0;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = reach_now_ns();
	return v;
}

static void
main_make(struct load *l)
{
	const struct weft_attach_opts room = reach_room(l->opt.depth, l->opt.bytes);
	const uint64_t data_seed = main_draw();

	l->client = calloc(l->opt.clients, sizeof(*l->client));
	if (l->client == NULL)
		cli_fail("no memory for %" PRIu32 " clients", l->opt.clients);
	for (uint32_t i = 0; i < l->opt.clients; i++) {
		l->client[i].load = l;
		l->client[i].number = i;
		main_open(l, &l->client[i], &room);
		main_prepare(&l->client[i], data_seed);
	}
	l->node = weft_node(l->client[0].w);
	check_name(l->opt.region);
}

static void
main_run(struct load *l)
{
	uint32_t i;
	int rc = pthread_barrier_init(&l->barrier, NULL, l->opt.clients);

	for (i = 0; i < l->opt.clients && rc == 0; i++)
		rc = pthread_create(&l->client[i].thread, NULL, client_main, &l->client[i]);
	/* Those that run wait for those that do not: they end with the program. */
	if (rc != 0)
		cli_fail("client %" PRIu32 ": no thread: %s", i, strerror(rc));
	for (i = 0; i < l->opt.clients; i++)
		pthread_join(l->client[i].thread, NULL);
	pthread_barrier_destroy(&l->barrier);
}

/* --- results --- */

static void
main_write_histogram(const struct load_report *r, const char *path)
{
	FILE *f = json_is_output(path) ? stdout : weft_file_stream(path);
	int rc;

	if (f == NULL)
		cli_fail("--histogram %s: %s", path, weft_file_error(-errno));
	histogram_print(f, &r->latency);
	rc = f == stdout ? 0 : weft_file_close(f, path, 0);
	if (rc != 0)
		cli_fail("--histogram %s: %s", path, weft_file_error(rc));
}

static void
main_write_json(const struct load_report *r, const char *path)
{
	json_t *o = report_json(r);
	const int rc = json_write(path, o);

	json_decref(o);
	if (rc != 0)
		cli_fail("--json %s: %s", path, weft_file_error(rc));
}

static int
main_report(const struct load *l)
{
	static struct load_report r;
	const struct load_options *o = &l->opt;

	report_make(&r, l, cli_is_stopped());
	if (!json_is_output(o->json) && !json_is_output(o->histogram))
		report_print(&r);
	if (o->json != NULL)
		main_write_json(&r, o->json);
	if (o->histogram != NULL)
		main_write_histogram(&r, o->histogram);
	if (r.error != NULL)
		cli_warn("%s", r.error);
	if (r.bad.failed != 0)
		cli_warn("read %s at 0x%" PRIx64 ": %s", o->region, r.bad.failed_at,
			reach_words(-EIO));
	if (r.check.mismatches != 0 || r.bad.lost != 0 || r.bad.failed != 0 || r.error != NULL)
		return EXIT_FAILURE;
	return r.is_stopped ? STOPPED : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	static struct load l;
	uint64_t given;
	int status;

	/* That a reader of ours has gone is an error of a write. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* an error of a write, as a full disk is */
	given = cli_parse(&program, &l.opt, argc, argv);
	if (l.opt.kind == LOAD_TRANSFER && !cli_given(&program, given, MAIN_SIZE))
		l.opt.size = TRANSFER_SIZE;
	if (l.opt.kind == LOAD_MOVE && !cli_given(&program, given, MAIN_SIZE))
		l.opt.size = MOVE_SIZE;
	if (l.opt.kind == LOAD_MOVE)
		l.opt.op = LOAD_WRITE;
	l.opt.bytes = l.opt.size;
	l.opt.is_checked = l.opt.is_verifying || l.opt.kind == LOAD_TRANSFER;
	main_judge_options(&l.opt, given, argc, argv);
	main_judge_block(&l.opt);
	json_check(l.opt.json);
	json_check_option("--histogram", l.opt.histogram);
	if (!cli_given(&program, given, MAIN_SEED))
		l.opt.seed = main_draw() >> 32;
	if (l.opt.seconds == 0 && l.opt.ops == 0)
		l.opt.seconds = SECONDS;
	main_make(&l);
	cli_catch_stop(); /* before there is nothing to end well */
	main_run(&l);
	status = main_report(&l);
	for (uint32_t i = 0; i < l.opt.clients; i++)
		main_free(&l.client[i]);
	free(l.client);
	cli_exit(status);
}
