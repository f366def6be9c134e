/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-replay: reads a trace of flits, runs the receive pipeline over it and reports what it found.
 * doc/replay.md is its manual.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "keys.h"
#include "live.h"
#include "receiver.h"
#include "report.h"
#include "start.h"
#include "weft_file.h"
#include "weft_words.h"
#include "words.h"

#define POOL_FRAMES 4095
#define SECOND_NS UINT64_C(1000000000)
#define AFTER_MAX_NS 4e18 /* a century: no trace is slower */

struct options {
	const char *in;
	const char *out;
	const char *json;
	const char *key_file;
	double speed; /* 0: as fast as it goes */
	uint64_t loops;
	uint64_t given; /* of cli_parse() */
	struct receiver_cfg rx;
	struct live_options live;
};

struct replay {
	struct options opt;
	struct trace *trace;
	struct receiver rx;
	struct trace_packet next;
	bool has_next;
	bool ended;
	struct report_end end;
	bool is_first; /* of this loop */
	uint64_t first_time_ns;
	uint64_t start_ns;
	uint64_t progress_ns; /* when to say how far we are */
};

static void
replay_read_speed(const char *option, char *text, void *to)
{
	struct options *o = to;

	o->speed = 0;
	if (strcmp(text, "max") != 0 && !words_real(text, 1e-6, 1e6, &o->speed))
		cli_usage("%s: expected max or a factor of 0.000001 to 1000000, got \"%s\"", option,
			text);
}

static void
replay_read_rate(const char *option, char *text, void *to)
{
	struct options *o = to;

	o->live.rate = INFINITY;
	if (strcmp(text, "max") != 0 && !words_real(text, 1e-3, 1e9, &o->live.rate))
		cli_usage("%s: expected max or frames/s of 0.001 to 1e9, got \"%s\"", option, text);
}

static void
replay_read_port(const char *option, char *text, char **port)
{
	if (*port != NULL)
		cli_usage("%s: expected it once, got \"%s\" and \"%s\"; a second port is --back",
			option, *port, text);
	*port = text;
}

static void
replay_read_to(const char *option, char *text, void *to)
{
	replay_read_port(option, text, &((struct options *)to)->live.to);
}

static void
replay_read_back(const char *option, char *text, void *to)
{
	replay_read_port(option, text, &((struct options *)to)->live.back);
}

/* What some options are for. */
enum {
	FOR_IDE = 1,
	IDE = 2,
	FOR_RXL = 4,
	FOR_CXL = 8,
	FOR_RAW = 16,
	PIPELINE = 32, /* what is done to flits here */
	HEADER = 64, /* of raw flits, and a filter of frames for the pipeline */
	WIRE = 128,
	SPEED = 256,
	RATE = 512,
};

#define CLI_INTO struct options
static const struct cli_option options[] = {
	{ CLI_SECTION("Trace") },
	{ "in", "FILE", NULL, "trace: Ethernet, or raw flits (link type 147); - is stdin",
		CLI_TEXT(in) },
	{ "mode", NULL, NULL, "only frames of this mode; of raw flits, their mode (rxl)",
		CLI_WORD(rx.mode, weft_mode_words), .tags = HEADER },
	{ "cxl-form", NULL, "hbr", "what raw flits of cxl mode carry",
		CLI_WORD(rx.cxl_form, weft_form_words), .tags = FOR_CXL },
	{ "isn", NULL, "pseudo", "how numbers enter the CRC in rxl mode",
		CLI_WORD(rx.isn, weft_isn_words), .tags = FOR_RXL | PIPELINE },
	{ "crc-order", NULL, "r0", "CRC coefficient at byte 242",
		CLI_WORD(rx.order, weft_crc_order_words), .tags = PIPELINE },
	{ "spid", "X", "0", "source of raw flits", CLI_NUMBER(rx.spid, 0, 0xFFF),
		.tags = FOR_RXL | FOR_RAW },
	{ "dpid", "Y", "0", "destination of raw flits", CLI_NUMBER(rx.dpid, 0, 0xFFF),
		.tags = FOR_RXL | FOR_RAW },
	{ "first-seq", "N", "1", "number of each connection's first flit",
		CLI_NUMBER(rx.first, 0, WEFT_ISN_NUMBERS - 1), .tags = PIPELINE },
	{ CLI_SECTION("Encryption") },
	{ "ide", NULL, "off", "decrypt; needs --key-file", CLI_WORD(rx.ide, weft_ide_mode_words),
		.tags = IDE | PIPELINE },
	{ "key-file", "FILE", NULL,
		"keys: rxl SPID DPID VC SESSION KEY | cxl MAC KEY; further lines of a stream: its "
		"keys from each IDE.Start on",
		CLI_TEXT(key_file), .tags = FOR_IDE | PIPELINE },
	{ "pcrc", NULL, "on", "plaintext CRC in MAC epochs", CLI_WORD(rx.pcrc, weft_switch_words),
		.tags = FOR_IDE | PIPELINE },
	{ "poison", NULL, "open", "whether MACs cover Poison in H-slots",
		CLI_WORD(rx.poison, weft_ide_poison_words), .tags = FOR_IDE | PIPELINE },
	{ "stop", NULL, "off", "whether IDE.Stop ends decryption",
		CLI_WORD(rx.stop, weft_switch_words), .tags = FOR_IDE | PIPELINE },
	{ CLI_SECTION("Run") },
	{ "speed", "max|FACTOR", "max",
		"as fast as possible, or FACTOR times as fast as recorded (with --to: 1)",
		CLI_OWN(replay_read_speed), .tags = SPEED },
	{ "loop", "N", "1", "replay N times, each with fresh receivers",
		CLI_NUMBER(loops, 1, 1000000000) },
	{ "layout", "LAYOUT", WEFT_LAYOUT_RX_LIVE, "stages and rings, or @FILE",
		CLI_TEXT(rx.layout), .tags = PIPELINE },
	{ CLI_SECTION("Wire") },
	{ "to", "PORT", NULL,
		"send the frames instead: INTERFACE, socket=PATH (memif), pci=ADDRESS, "
		"vdev=ARGUMENTS, ring",
		CLI_OWN(replay_read_to) },
	{ "back", "PORT", NULL, "a second port, which sends the other direction of the trace",
		CLI_OWN(replay_read_back), .tags = WIRE },
	{ "direction", NULL, "in",
		"frames for --to, of a trace that says which way they went by its port",
		CLI_WORD(live.way, send_way_words), .tags = WIRE },
	{ "rate", "max|NUMBER", NULL, "frames/s a port, or all it takes, instead of --speed",
		CLI_OWN(replay_read_rate), .tags = WIRE | RATE },
	{ "expect", "FILE", NULL, "compare what comes back with this trace; status 0, 1, 2",
		CLI_TEXT(live.expect), .tags = WIRE },
	{ "wait", "S", "2",
		"seconds for a link, for a port that takes nothing, for the last frames",
		CLI_REAL(live.wait_s, 0.01, 3600, "seconds of 0.01 to 3600"), .tags = WIRE },
	{ CLI_SECTION("Output") },
	{ "out", "FILE", NULL, "write the flits that were good, as pcap", CLI_OUTPUT(out),
		.tags = PIPELINE },
	{ "json", "FILE|-", NULL, "write the report as JSON", CLI_OUTPUT(json) },
};

static const struct cli_program program = {
	.name = "weft-replay",
	.synopsis = "--in FILE [options] [-- EAL arguments]",
	.does = "Run the receive pipeline over a pcap or pcapng trace and report what it finds, or "
		"send it to a wire.",
	.details = "With --expect the status is that of cmp: 0 what came back is equal, 1 it "
		   "differs, 2 an error.",
	.status = "it could not run or write, a signal ended it, or the trace is broken or holds "
		  "nothing to replay",
	.examples = "  weft-replay --in trace.pcap\n"
		    "  weft-gen --flits 1000 --out t.pcap && weft-replay --in t.pcap --json -\n"
		    "  weft-replay --in capture.pcapng --to veth0 --expect capture.pcapng\n"
		    "  weft-replay --in t.pcap --to socket=/run/lab/s --rate max --loop 100\n",
	CLI_OPTIONS(options),
};

static bool
replay_has_stage(const char *layout, const char *name)
{
	struct weft_layout l;
	char err[512];

	if (weft_layout_parse(layout, &l, err, sizeof(err)) != 0)
		return false;
	for (unsigned int i = 0; i < l.n_stages; i++)
		if (strcmp(l.stage[i]->name, name) == 0)
			return true;
	return false;
}

/* Of options that do nothing beside others. */
static void
replay_warn_idle(const struct options *o)
{
	if (o->rx.ide == WEFT_IDE_OFF)
		cli_no_effect(&program, o->given, FOR_IDE, "without --ide");
	else if (!replay_has_stage(o->rx.layout, "ide_open"))
		cli_no_effect(&program, o->given, FOR_IDE | IDE,
			"with a --layout without the stage ide_open");
	if (o->rx.mode == WEFT_MODE_RXL)
		cli_no_effect(&program, o->given, FOR_CXL, "with --mode rxl");
	if (o->rx.mode == WEFT_MODE_CXL)
		cli_no_effect(&program, o->given, FOR_RXL, "with --mode cxl");
}

/* A wire wants the frames as they are. */
static void
replay_judge_wire(struct options *o)
{
	if (o->live.to == NULL) {
		cli_no_effect(&program, o->given, WIRE, "without --to");
		return;
	}
	if (cli_given(&program, o->given, RATE) && cli_given(&program, o->given, SPEED))
		cli_usage("--rate and --speed: expected one of them");
	if (!cli_given(&program, o->given, RATE) && !cli_given(&program, o->given, SPEED))
		o->speed = 1;
	else if (cli_given(&program, o->given, SPEED) && o->speed == 0)
		o->live.rate = INFINITY;
	if (o->live.expect != NULL && strcmp(o->live.expect, "-") == 0 && strcmp(o->in, "-") == 0)
		cli_usage("--in and --expect: expected one of them to be standard input at most");
	if (o->live.expect != NULL)
		cli_two_files("--expect", o->live.expect, "--json", o->json);
	cli_no_effect(&program, o->given, PIPELINE, "with --to");
}

static void
replay_parse_options(struct options *o, int argc, char **argv)
{
	char err[512];

	o->rx.mode = -1;
	o->given = cli_parse(&program, o, argc, argv);
	cli_options_only(argc, argv);
	if (o->in == NULL)
		cli_usage("--in FILE is missing; --help lists the options");
	replay_judge_wire(o);
	if (o->live.to != NULL)
		return;
	if (o->rx.ide != WEFT_IDE_OFF && o->key_file == NULL)
		cli_usage("--ide needs --key-file");
	if (o->rx.first == 0 && o->rx.mode != WEFT_MODE_RXL)
		cli_usage("--first-seq 0 exists in rxl mode only: add --mode rxl");
	cli_two_files("--out", o->out, "--json", o->json);
	cli_two_files("--key-file", o->key_file, "--out", o->out);
	cli_two_files("--key-file", o->key_file, "--json", o->json);
	if (receiver_check_layout(o->rx.layout, err, sizeof(err)) != 0)
		cli_usage("%s", err);
	replay_warn_idle(o);
}

static uint64_t
replay_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* When the next packet is due, on the monotonic clock. */
static uint64_t
replay_due_ns(struct replay *r)
{
	double after;

	if (!r->next.has_time)
		return 0;
	if (r->is_first) {
		r->is_first = false;
		r->first_time_ns = r->next.time_ns;
		r->start_ns = replay_now_ns();
	}
	/* A time stamp before the first one is due at once. */
	if (r->next.time_ns <= r->first_time_ns)
		return r->start_ns;
	after = (double)(r->next.time_ns - r->first_time_ns) / r->opt.speed;
	return r->start_ns + (uint64_t)(after < AFTER_MAX_NS ? after : AFTER_MAX_NS);
}

static void
replay_sleep_until(uint64_t when)
{
	struct timespec t = { .tv_sec = (time_t)(when / SECOND_NS),
		.tv_nsec = (long)(when % SECOND_NS) };

	/* A signal ends the wait, and the run. */
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static bool
replay_read_next(struct replay *r)
{
	enum trace_read got;

	if (r->has_next || r->ended)
		return r->has_next;
	got = trace_next(r->trace, &r->next);
	r->has_next = got == TRACE_PACKET;
	r->ended = !r->has_next;
	r->end.is_truncated |= got == TRACE_TRUNCATED;
	r->end.is_broken |= got == TRACE_BROKEN;
	return r->has_next;
}

static uint16_t
replay_source(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct replay *r = arg;
	uint16_t got = 0;

	while (got < n && !cli_is_stopped() && replay_read_next(r)) {
		if (r->opt.speed > 0) {
			uint64_t due = replay_due_ns(r);

			if (due > replay_now_ns()) {
				if (got != 0)
					break;
				replay_sleep_until(due);
				if (cli_is_stopped())
					break; /* it was not due */
			}
		}
		pkt[got] = receiver_frame(&r->rx, &r->next);
		got = (uint16_t)(got + (pkt[got] != NULL));
		r->has_next = false;
	}
	return got;
}

/* A bar on a terminal, now and then a line elsewhere. */
static void
replay_progress(struct replay *r, bool is_terminal)
{
	uint64_t now = replay_now_ns();
	int percent;

	if (now < r->progress_ns)
		return;
	r->progress_ns = now + (is_terminal ? SECOND_NS / 5 : 5 * SECOND_NS);
	percent = trace_percent(r->trace);
	if (percent < 0)
		fprintf(stderr, "%s%lu packets%s", is_terminal ? "\r" : "",
			(unsigned long)r->rx.packets, is_terminal ? "" : "\n");
	else if (is_terminal)
		fprintf(stderr, "\r[%-50.*s] %3d %%", percent / 2,
			"##################################################", percent);
	else
		fprintf(stderr, "%d %%, %lu packets\n", percent, (unsigned long)r->rx.packets);
}

static void
replay_run_once(struct replay *r, bool is_terminal)
{
	unsigned int worked;

	r->ended = false;
	r->has_next = false;
	r->is_first = true;
	do {
		worked = 0;
		for (unsigned int s = 0; s < weft_pipe_segments(r->rx.pipe); s++)
			worked += weft_pipe_poll(r->rx.pipe, s);
		replay_progress(r, is_terminal);
	} while (worked != 0 || (!r->ended && !cli_is_stopped()));
	weft_pipe_drain(r->rx.pipe);
}

static void
replay_run(struct replay *r)
{
	bool is_terminal = isatty(STDERR_FILENO) == 1;
	char err[512];
	uint64_t i;

	/* Short traces say nothing. */
	r->progress_ns = replay_now_ns() + (is_terminal ? SECOND_NS : 5 * SECOND_NS);
	for (i = 0; i < r->opt.loops && !cli_is_stopped(); i++) {
		if (i > 0) {
			receiver_restart(&r->rx);
			if (trace_rewind(r->trace, err, sizeof(err)) != 0)
				cli_fail("%s", err);
		}
		replay_run_once(r, is_terminal);
	}
	r->end.is_stopped = i < r->opt.loops || !r->ended;
	if (is_terminal && replay_now_ns() > r->progress_ns - SECOND_NS / 5 && r->rx.packets > 0)
		fputs("\r\033[K", stderr);
}

static void
replay_judge_loop(const struct replay *r)
{
	if (r->opt.loops > 1 && r->opt.live.to == NULL && !trace_can_rewind(r->trace))
		cli_fail("--loop: expected a regular file, got %s, which cannot be read twice",
			r->opt.in);
}

/* Writing over the trace would empty it before it is read. */
static void
replay_keep_trace(const struct replay *r, const char *option, const char *path)
{
	if (path != NULL && trace_is_file(r->trace, path))
		cli_fail("%s: expected another file than --in, got \"%s\"", option, path);
}

/* Last of all that may fail: until then a file of that name stays as it is. */
static void
replay_open_out(struct replay *r)
{
	char err[512];

	r->rx.cfg.out = trace_create(r->opt.out, r->opt.rx.out_link, err, sizeof(err));
	if (r->rx.cfg.out == NULL)
		cli_fail("--out: %s", err);
}

/* True if there was nothing to replay; then it says why, by the kind of all packets. */
static bool
replay_says_nothing(const struct replay *r)
{
	const int mode = r->opt.rx.mode;
	const uint64_t others = weft_pipe_drops(r->rx.pipe, WEFT_DROP_MODE);
	const uint64_t strange = r->rx.skipped[WEFT_DROP_LINK_TYPE];

	if (r->rx.n_conns != 0)
		return false;
	if (others != 0)
		cli_warn("--mode %s: %s has %" PRIu64 " frames of %s and none of %s: use --mode %s",
			weft_mode_words[mode], r->opt.in, others, weft_mode_words[!mode],
			weft_mode_words[mode], weft_mode_words[!mode]);
	else if (strange != 0 && strange == r->rx.packets)
		cli_warn("%s: expected packets of link type 1 (Ethernet) or 147 (raw flits), got "
			 "%" PRIu64 " of others",
			r->opt.in, strange);
	return others != 0 || (strange != 0 && strange == r->rx.packets);
}

/* Report, close, and say whether all that was asked for was written. */
static int
replay_finish(struct replay *r)
{
	int rc = r->end.is_broken || r->end.is_stopped ? EXIT_FAILURE : EXIT_SUCCESS, e;

	/* Text would spoil what else goes there. */
	if (!json_is_output(r->opt.json) && !json_is_output(r->opt.out))
		report_text(&r->rx, &r->end);
	if (r->opt.json != NULL) {
		e = report_json(&r->rx, &r->end, r->opt.json);

		if (e != 0) {
			cli_warn("--json %s: %s", r->opt.json, weft_file_error(e));
			rc = EXIT_FAILURE;
		}
	}
	if (r->end.is_truncated || r->end.is_broken)
		cli_warn("%s; replayed up to there", trace_why(r->trace));
	if (r->end.is_stopped)
		cli_warn("stopped by a signal: the report ends after %" PRIu64 " packets",
			r->rx.packets);
	if (!r->end.is_stopped && replay_says_nothing(r))
		rc = EXIT_FAILURE;
	/* Who gave keys has heard that they have no effect without --ide. */
	if (r->rx.macs_unread != 0 && r->opt.rx.keys == NULL)
		cli_warn("%s: %" PRIu64 " MACs of IDE in flits that are not decrypted: what is "
			 "counted as messages is ciphertext; give --ide and --key-file",
			r->opt.in, r->rx.macs_unread);
	if (r->opt.rx.mode != WEFT_MODE_CXL && !r->rx.has_raw && r->rx.packets != 0)
		cli_no_effect(&program, r->opt.given, FOR_RAW, "on frames, which have addresses");
	receiver_fini(&r->rx);
	e = r->rx.cfg.out != NULL ? trace_finish(r->rx.cfg.out) : 0;
	if (e != 0) {
		cli_warn("--out %s: could not be written whole: %s", r->opt.out, strerror(-e));
		rc = EXIT_FAILURE;
	}
	trace_close(r->trace);
	return rc;
}

static void
replay_find_link(struct replay *r)
{
	char err[512];

	r->opt.rx.out_link = trace_link(r->trace, err, sizeof(err));
	if (r->opt.rx.out_link < 0)
		cli_fail("%s", err);
}

/* A wire instead of the pipeline. Does not return. */
static void
replay_to_wire(struct replay *r, struct weft_eal_cfg *eal)
{
	static struct wire wire;
	struct live_cfg cfg = {
		.options = &r->opt.live,
		.in = r->opt.in,
		.trace = r->trace,
		.receiver = &r->opt.rx,
		.speed = r->opt.speed,
		.loops = r->opt.loops,
		.json = r->opt.json,
	};
	int rc;

	live_read_ports(&r->opt.live, &wire);
	rc = live_run(&cfg, &wire, eal);
	if (!cfg.has_raw)
		cli_no_effect(&program, r->opt.given, HEADER | FOR_CXL | FOR_RAW,
			"with --to on frames, which have headers");
	trace_close(r->trace);
	weft_eal_stop();
	cli_exit(rc);
}

/* The pipeline, and its report: exit status. */
static int
replay_here(struct replay *r, struct weft_eal_cfg *eal)
{
	struct weft_pool_cfg pool = {
		.name = "replay",
		.n_mbufs = POOL_FRAMES,
		.max_flits = WEFT_WIRE_FLITS_MAX,
		.cache = 256,
	};
	char err[512];
	uint64_t start;

	if (r->opt.out != NULL)
		replay_find_link(r);
	r->opt.rx.pool = start_dpdk(eal, &pool);
	if (receiver_init(&r->rx, &r->opt.rx, replay_source, r, err, sizeof(err)) != 0)
		cli_fail("%s", err);
	if (r->opt.out != NULL)
		replay_open_out(r);
	cli_catch_stop();
	start = replay_now_ns();
	replay_run(r);
	r->end.seconds = (double)(replay_now_ns() - start) / 1e9;
	return replay_finish(r);
}

static void
replay_load_keys(struct options *o, struct weft_keys **keys)
{
	if (o->key_file == NULL)
		return;
	*keys = keys_read(o->key_file);
	o->rx.keys = *keys;
}

int
main(int argc, char **argv)
{
	static struct replay r;
	struct weft_keys *keys = NULL;
	struct weft_eal_cfg eal = { .memory_mb = 64 };
	char err[512];
	int rc;

	argc = cli_split_eal(argc, argv, &eal.user_argc, &eal.user_argv);
	replay_parse_options(&r.opt, argc, argv);
	if (r.opt.live.to != NULL && r.opt.live.expect != NULL)
		cli_fail_with(LIVE_ERROR);
	if (r.opt.live.to == NULL)
		json_check_option("--out", r.opt.out);
	json_check(r.opt.json);
	r.opt.rx.features = cli_cpu_features();
	if (r.opt.live.to == NULL)
		replay_load_keys(&r.opt, &keys);
	r.trace = trace_open(r.opt.in, err, sizeof(err));
	if (r.trace == NULL)
		cli_fail("%s", err);
	replay_judge_loop(&r);
	replay_keep_trace(&r, "--out", r.opt.out);
	replay_keep_trace(&r, "--json", r.opt.json);
	if (r.opt.live.to != NULL)
		replay_to_wire(&r, &eal);
	rc = replay_here(&r, &eal);
	weft_keys_free(keys);
	weft_eal_stop();
	cli_exit(rc);
}
