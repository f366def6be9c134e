/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-replay: reads a trace of flits, runs the receive pipeline over it and reports what it found.
 * doc/replay.md is its manual.
 */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "receiver.h"
#include "report.h"
#include "start.h"
#include "weft_file.h"
#include "weft_words.h"
#include "words.h"

#define POOL_FRAMES 4095
#define SECOND_NS UINT64_C(1000000000)
#define AFTER_MAX_NS 4e18 /* a century: no trace is slower */
#define LAYOUT WEFT_LAYOUT_RX_IDE

struct options {
	const char *in;
	const char *out;
	const char *json;
	const char *key_file;
	double speed; /* 0: as fast as it goes */
	uint64_t loops;
	uint64_t given; /* CLI_BIT() of options */
	struct receiver_cfg rx;
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

static volatile sig_atomic_t stopped;

static const char usage_text[] =
	"usage: weft-replay --in FILE [options] [-- EAL arguments]\n"
	"\n"
	"Run the receive pipeline over a pcap or pcapng trace and report what it finds.\n"
	"\n"
	"  --in FILE             trace: Ethernet, or raw flits (link type 147); - is stdin\n"
	"  --mode cxl|rxl        only frames of this mode; of raw flits, their mode (rxl)\n"
	"  --cxl-form hbr|pbr    messages of cxl mode; those of weftd are pbr (hbr)\n"
	"  --isn pseudo|xor|none how numbers enter the CRC in rxl mode (pseudo)\n"
	"  --crc-order r0|r7     CRC coefficient at byte 242 (r0)\n"
	"  --spid X --dpid Y     addresses of raw flits (0)\n"
	"  --first-seq N         number of each connection's first flit (1)\n"
	"  --ide containment|skid|off   decrypt (off); needs --key-file\n"
	"  --key-file FILE       keys: rxl SPID DPID VC SESSION KEY | cxl MAC KEY;\n"
	"                        further lines of a stream: its keys from each IDE.Start on\n"
	"  --pcrc on|off         plaintext CRC in MAC epochs (on)\n"
	"  --poison protected|open   whether MACs cover Poison in H-slots (open)\n"
	"  --stop on|off         whether IDE.Stop ends decryption (off)\n"
	"  --speed max|FACTOR    as fast as possible (max), or FACTOR times as fast as recorded\n"
	"  --loop N              replay N times, each with fresh receivers (1)\n"
	"  --layout LAYOUT       stages and rings, or @FILE\n"
	"                        (" LAYOUT ")\n"
	"  --out FILE            write the flits that were good, as pcap\n"
	"  --json FILE|-         write the report as JSON\n"
	"  --version, -h, --help\n";

static double
replay_parse_speed(const char *text)
{
	double v;

	if (strcmp(text, "max") == 0)
		return 0;
	if (!words_real(text, 1e-6, 1e6, &v))
		cli_usage("--speed: expected max or a factor of 0.000001 to 1000000, got \"%s\"",
			text);
	return v;
}

enum {
	OPT_IN = 256,
	OPT_MODE,
	OPT_CXL_FORM,
	OPT_ISN,
	OPT_CRC_ORDER,
	OPT_SPID,
	OPT_DPID,
	OPT_FIRST_SEQ,
	OPT_IDE,
	OPT_KEY_FILE,
	OPT_PCRC,
	OPT_POISON,
	OPT_STOP,
	OPT_SPEED,
	OPT_LOOP,
	OPT_LAYOUT,
	OPT_OUT,
	OPT_JSON,
	OPT_VERSION,
};

/* What only a receiver that decrypts looks at. */
#define OPTS_IDE                                                                                   \
	(CLI_BIT(OPT_KEY_FILE) | CLI_BIT(OPT_PCRC) | CLI_BIT(OPT_POISON) | CLI_BIT(OPT_STOP))

static const struct option long_options[] = {
	{ "in", required_argument, NULL, OPT_IN },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "cxl-form", required_argument, NULL, OPT_CXL_FORM },
	{ "isn", required_argument, NULL, OPT_ISN },
	{ "crc-order", required_argument, NULL, OPT_CRC_ORDER },
	{ "spid", required_argument, NULL, OPT_SPID },
	{ "dpid", required_argument, NULL, OPT_DPID },
	{ "first-seq", required_argument, NULL, OPT_FIRST_SEQ },
	{ "ide", required_argument, NULL, OPT_IDE },
	{ "key-file", required_argument, NULL, OPT_KEY_FILE },
	{ "pcrc", required_argument, NULL, OPT_PCRC },
	{ "poison", required_argument, NULL, OPT_POISON },
	{ "stop", required_argument, NULL, OPT_STOP },
	{ "speed", required_argument, NULL, OPT_SPEED },
	{ "loop", required_argument, NULL, OPT_LOOP },
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void
replay_parse_option(struct options *o, int opt)
{
	switch (opt) {
	case OPT_IN: o->in = optarg; break;
	case OPT_MODE: o->rx.mode = (int)cli_word("--mode", optarg, weft_mode_words); break;
	case OPT_ISN: o->rx.isn = cli_word("--isn", optarg, weft_isn_words); break;
	case OPT_CXL_FORM: o->rx.cxl_form = cli_word("--cxl-form", optarg, weft_form_words); break;
	case OPT_CRC_ORDER:
		o->rx.order = cli_word("--crc-order", optarg, weft_crc_order_words);
		break;
	case OPT_SPID: o->rx.spid = (uint16_t)cli_number("--spid", optarg, 0, 0xFFF); break;
	case OPT_DPID: o->rx.dpid = (uint16_t)cli_number("--dpid", optarg, 0, 0xFFF); break;
	case OPT_FIRST_SEQ:
		o->rx.first = (uint16_t)cli_number("--first-seq", optarg, 0, WEFT_ISN_NUMBERS - 1);
		break;
	case OPT_IDE: o->rx.ide = cli_word("--ide", optarg, weft_ide_mode_words); break;
	case OPT_KEY_FILE: o->key_file = optarg; break;
	case OPT_PCRC: o->rx.pcrc = cli_word("--pcrc", optarg, weft_switch_words) == 1; break;
	case OPT_POISON:
		o->rx.poison = cli_word("--poison", optarg, weft_ide_poison_words) == 1;
		break;
	case OPT_STOP: o->rx.stop = cli_word("--stop", optarg, weft_switch_words) == 1; break;
	case OPT_SPEED: o->speed = replay_parse_speed(optarg); break;
	case OPT_LOOP: o->loops = cli_number("--loop", optarg, 1, 1000000000); break;
	case OPT_LAYOUT: o->rx.layout = optarg; break;
	case OPT_OUT: o->out = optarg; break;
	case OPT_JSON: o->json = optarg; break;
	case OPT_VERSION: puts("weft-replay " WEFT_VERSION); cli_exit(EXIT_SUCCESS);
	case 'h': fputs(usage_text, stdout); cli_exit(EXIT_SUCCESS);
	default: exit(CLI_USAGE); /* getopt said why */
	}
}

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
		cli_no_effect(long_options, o->given, OPTS_IDE, "without --ide");
	else if (!replay_has_stage(o->rx.layout, "ide_open"))
		cli_no_effect(long_options, o->given, OPTS_IDE | CLI_BIT(OPT_IDE),
			"with a --layout without the stage ide_open");
	if (o->rx.mode == WEFT_MODE_RXL)
		cli_no_effect(long_options, o->given, CLI_BIT(OPT_CXL_FORM), "with --mode rxl");
	if (o->rx.mode == WEFT_MODE_CXL)
		cli_no_effect(long_options, o->given,
			CLI_BIT(OPT_ISN) | CLI_BIT(OPT_SPID) | CLI_BIT(OPT_DPID),
			"with --mode cxl");
}

static void
replay_parse_options(struct options *o, int argc, char **argv)
{
	char err[512];
	int opt;

	*o = (struct options){
		.loops = 1,
		.rx = { .mode = -1, .first = WEFT_ISN_FIRST, .pcrc = true, .layout = LAYOUT },
	};
	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		replay_parse_option(o, opt);
		o->given |= opt >= OPT_IN ? CLI_BIT(opt) : 0;
	}
	if (optind < argc)
		cli_usage("expected options only, got \"%s\"; EAL arguments go behind --",
			argv[optind]);
	if (o->in == NULL)
		cli_usage("--in FILE is missing; --help lists the options");
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

	while (got < n && !stopped && replay_read_next(r)) {
		if (r->opt.speed > 0) {
			uint64_t due = replay_due_ns(r);

			if (due > replay_now_ns()) {
				if (got != 0)
					break;
				replay_sleep_until(due);
				if (stopped)
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
	} while (worked != 0 || (!r->ended && !stopped));
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
	for (i = 0; i < r->opt.loops && !stopped; i++) {
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
replay_on_signal(int sig)
{
	(void)sig;
	stopped = 1;
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

/* Whether there was nothing to replay, and why: of what kind all packets were. */
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
	if (r->opt.rx.mode != WEFT_MODE_CXL && !r->rx.has_raw && r->rx.packets != 0)
		cli_no_effect(long_options, r->opt.given, CLI_BIT(OPT_SPID) | CLI_BIT(OPT_DPID),
			"on frames, which have addresses");
	receiver_fini(&r->rx);
	e = r->rx.cfg.out != NULL ? trace_finish(r->rx.cfg.out) : 0;
	if (e != 0) {
		cli_warn("--out %s: could not be written whole: %s", r->opt.out, strerror(-e));
		rc = EXIT_FAILURE;
	}
	trace_close(r->trace);
	return rc;
}

int
main(int argc, char **argv)
{
	struct sigaction stop = { .sa_handler = replay_on_signal };
	static struct replay r;
	struct weft_keys *keys = NULL;
	struct weft_eal_cfg eal = { .memory_mb = 64 };
	struct weft_pool_cfg pool = {
		.name = "replay",
		.n_mbufs = POOL_FRAMES,
		.max_flits = WEFT_WIRE_FLITS_MAX,
		.cache = 256,
	};
	char err[512];
	int rc;
	uint64_t start;

	argc = cli_split_eal(argc, argv, &eal.user_argc, &eal.user_argv);
	replay_parse_options(&r.opt, argc, argv);
	r.opt.rx.features = cli_cpu_features();
	if (r.opt.key_file != NULL) {
		keys = weft_keys_load(r.opt.key_file, err, sizeof(err));
		if (keys == NULL)
			cli_fail("%s", err);
		if (weft_keys_is_exposed(keys))
			cli_warn("key file %s: others may read it; chmod 600 keeps it secret",
				r.opt.key_file);
		r.opt.rx.keys = keys;
	}
	r.trace = trace_open(r.opt.in, err, sizeof(err));
	if (r.trace == NULL)
		cli_fail("%s", err);
	replay_keep_trace(&r, "--out", r.opt.out);
	replay_keep_trace(&r, "--json", r.opt.json);
	json_check(r.opt.json);
	r.opt.rx.out_link = trace_link(r.trace);
	r.opt.rx.pool = start_dpdk(&eal, &pool);
	if (receiver_init(&r.rx, &r.opt.rx, replay_source, &r, err, sizeof(err)) != 0)
		cli_fail("%s", err);
	if (r.opt.out != NULL)
		replay_open_out(&r);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	start = replay_now_ns();
	replay_run(&r);
	r.end.seconds = (double)(replay_now_ns() - start) / 1e9;
	rc = replay_finish(&r);
	weft_keys_free(keys);
	weft_eal_stop();
	cli_exit(rc);
}
