/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-gen: writes a trace of flits as a sender would put them on the wire, with seeded faults, so
 * that anyone can make input for weft-replay. Flits go through the transmit pipeline; faults hit
 * them behind it. doc/replay.md is its manual.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include <rte_errno.h>

#include "cli.h"
#include "faults.h"
#include "json.h"
#include "keys.h"
#include "source.h"
#include "start.h"
#include "trace.h"
#include "weft_pipe.h"
#include "weft_words.h"

#define POOL_FRAMES 255
#define NOISE_MAX 1500
#define START_NS UINT64_C(1700000000000000000) /* the same in every trace: traces are comparable */
#define SPAN_NS 2.5e18 /* seconds of a pcap have 32 bits */

struct options {
	const char *out;
	const char *json;
	const char *key_file;
	uint64_t flits;
	uint64_t seed;
	double mflits_per_s;
	bool is_raw;
	unsigned int frame_flits;
	struct weft_conn_key key;
	struct weft_conn_cfg conn;
	struct source_ide ide;
	struct faults faults;
};

struct gen {
	struct options opt;
	struct weft_rand traffic; /* two generators: faults do not change the traffic */
	struct weft_rand chance;
	struct source source;
	struct weft_env env;
	struct weft_ide_lib *ide; /* NULL: no encryption */
	struct weft_conns *conns;
	struct weft_conn_dir *conn;
	struct weft_pipe *pipe;
	struct rte_mempool *pool;
	struct trace_writer *out;
	struct weft_impair wire;
	struct fault_counts done;
	uint64_t frames;
	uint64_t flits_out;
	/* The frame being filled behind the faults, and a flit that is to change places. */
	uint8_t frame[WEFT_WIRE_FRAME_LEN(WEFT_WIRE_FLITS_MAX)];
	unsigned int n;
	bool has_late;
	uint8_t late[WEFT_FLIT_LEN];
};

static void
gen_read_errors(const char *option, char *text, void *to)
{
	char err[512];

	if (faults_parse(text, &((struct options *)to)->faults, err, sizeof(err)) != 0)
		cli_usage("%s: %s", option, err);
}

/* What some options are for. */
enum { FOR_IDE = 1, FOR_RXL = 2, SPID = 4, DPID = 8, SESSION = 16 };

#define PROBABILITY(member) CLI_REAL(member, 0, 1, "a probability of 0 to 1")
#define CLI_INTO struct options
static const struct cli_option options[] = {
	{ CLI_SECTION("Trace") },
	{ "flits", "N", NULL, "flits to make, faults not counted",
		CLI_NUMBER(flits, 1, UINT64_C(1) << 40) },
	{ "out", "FILE", NULL, "trace to write (pcap, nanoseconds)", CLI_OUTPUT(out) },
	{ "mode", NULL, "rxl", "reliability mode", CLI_WORD(key.mode, weft_mode_words) },
	{ "frame-flits", "N", "5", "flits a frame, 1 to 64; as many as an MTU of 1500 carries",
		CLI_NUMBER(frame_flits, 1, WEFT_WIRE_FLITS_MAX) },
	{ "raw", NULL, NULL, "raw flits (link type 147) instead of Ethernet frames",
		CLI_FLAG(is_raw) },
	{ "spid", "X", "0x101", "source in rxl mode; of raw flits 0 unless given",
		CLI_NUMBER(key.spid, 0, 0xFFF), .tags = FOR_RXL | SPID },
	{ "dpid", "Y", "0x200", "destination in rxl mode; of raw flits 0 unless given",
		CLI_NUMBER(key.dpid, 0, 0xFFF), .tags = FOR_RXL | DPID },
	{ "vc", "V", "0", "virtual channel in rxl mode, 0 to 7; raw flits have none",
		CLI_NUMBER(key.vc, 0, 7), .tags = FOR_RXL },
	{ "session", "S", "1", "session in rxl mode; raw flits have none",
		CLI_NUMBER(key.session, 0, UINT32_MAX), .tags = FOR_RXL | SESSION },
	{ "isn", NULL, "pseudo", "how numbers enter the CRC in rxl mode",
		CLI_WORD(conn.isn, weft_isn_words), .tags = FOR_RXL },
	{ "crc-order", NULL, "r0", "CRC coefficient at byte 242",
		CLI_WORD(conn.order, weft_crc_order_words) },
	{ "first-seq", "N", "1", "number of the first flit",
		CLI_NUMBER(conn.first, 0, WEFT_ISN_NUMBERS - 1) },
	{ CLI_SECTION("Encryption") },
	{ "ide", NULL, "off", "encrypt; needs --key-file with a key for the stream",
		CLI_WORD(conn.ide, weft_ide_mode_words) },
	{ "key-file", "FILE", NULL, "keys, as in weft-replay", CLI_TEXT(key_file),
		.tags = FOR_IDE },
	{ "pcrc", NULL, "on", "plaintext CRC in MAC epochs", CLI_WORD(conn.pcrc, weft_switch_words),
		.tags = FOR_IDE },
	{ "poison", NULL, "open", "whether MACs cover Poison in H-slots",
		CLI_WORD(conn.poison, weft_ide_poison_words), .tags = FOR_IDE },
	{ "late-poison", "P", "0", "Poison in front of a flit, with probability P",
		PROBABILITY(ide.poison) },
	{ "truncate", "P", "0", "IDE.TMAC in front of a flit, where it may stand",
		PROBABILITY(ide.truncate) },
	{ "refresh", "N", NULL, "the stream's next key after N flits, while the file has one",
		CLI_NUMBER(ide.refresh, 1, UINT64_C(1) << 40) },
	{ CLI_SECTION("Faults and time") },
	{ "errors", "SPEC", "none",
		"faults behind the sender: ber=P,burst=SYMBOLS:P,drop=P,dup=P,reorder=P,garbage=P",
		CLI_OWN(gen_read_errors) },
	{ "seed", "S", "1", "of traffic and faults", CLI_NUMBER(seed, 0, UINT64_MAX) },
	{ "rate", "R", "1", "time stamps for R Mflit/s",
		CLI_REAL(mflits_per_s, 1e-6, 1e6, "Mflit/s of 0.000001 to 1000000") },
	{ CLI_SECTION("Output") },
	{ "json", "FILE|-", NULL, "write what was made as JSON", CLI_OUTPUT(json) },
};

static const struct cli_program program = {
	.name = "weft-gen",
	.synopsis = "--flits N --out FILE [options] [-- EAL arguments]",
	.does = "Write a pcap trace of flits that carry random CXL.mem traffic.",
	.status = "it could not run or write, or a signal ended it",
	.examples = "  weft-gen --flits 100000 --out trace.pcap --errors ber=1e-6,drop=0.001\n"
		    "  weft-gen --flits 1000 --out raw.pcap --raw --mode cxl --seed 7\n",
	CLI_OPTIONS(options),
};

/* Raw flits have no header: who reads them is told SPID and DPID, and 0 if not. */
static void
gen_raw_key(struct options *o, uint64_t given)
{
	if (o->key.vc != 0 || (cli_given(&program, given, SESSION) && o->key.session != 0))
		cli_usage("%s: raw flits have no header to hold it; leave it out, or --raw",
			o->key.vc != 0 ? "--vc" : "--session");
	o->key.session = 0;
	if (!cli_given(&program, given, SPID))
		o->key.spid = 0;
	if (!cli_given(&program, given, DPID))
		o->key.dpid = 0;
}

/* Addresses that the kind of trace does not have. */
static void
gen_normalise_key(struct options *o, uint64_t given)
{
	static const uint8_t src[6] = { 0x02, 0, 0, 0, 0, 0x01 };

	if (o->is_raw)
		gen_raw_key(o, given);

	if (o->key.mode == WEFT_MODE_CXL) {
		o->key.spid = WEFT_PID_NONE;
		o->key.dpid = WEFT_PID_NONE;
		o->key.vc = 0;
		o->key.session = 0;
		if (!o->is_raw)
			memcpy(o->key.mac, src, sizeof(src));
	}
}

static void
gen_parse_options(struct options *o, int argc, char **argv)
{
	const uint64_t given = cli_parse(&program, o, argc, argv);

	cli_options_only(argc, argv);
	if (o->flits == 0 || o->out == NULL)
		cli_usage("%s is missing; --help lists the options",
			o->flits == 0 ? "--flits N" : "--out FILE");
	if (o->conn.ide != WEFT_IDE_OFF && o->key_file == NULL)
		cli_usage("--ide needs --key-file");
	if (o->conn.ide == WEFT_IDE_OFF &&
		(o->ide.poison > 0 || o->ide.truncate > 0 || o->ide.refresh > 0))
		cli_usage("--late-poison, --truncate and --refresh need --ide");
	if (o->key.mode == WEFT_MODE_CXL && o->conn.first == 0)
		cli_usage("--first-seq: numbers of cxl mode begin at 1");
	cli_two_files("--out", o->out, "--json", o->json);
	cli_two_files("--key-file", o->key_file, "--out", o->out);
	cli_two_files("--key-file", o->key_file, "--json", o->json);
	if (o->conn.ide == WEFT_IDE_OFF)
		cli_no_effect(&program, given, FOR_IDE, "without --ide");
	if (o->key.mode == WEFT_MODE_CXL)
		cli_no_effect(&program, given, FOR_RXL, "with --mode cxl");
	gen_normalise_key(o, given);
}

/* Of the next frame: by all flits before it, as the parts of a nanosecond of each would be lost. */
static uint64_t
gen_time_ns(const struct gen *g)
{
	const double ns = (double)(g->flits_out - g->n) * 1e3 / g->opt.mflits_per_s;

	return START_NS + (uint64_t)(ns < SPAN_NS ? ns : SPAN_NS);
}

static void
gen_write_frame(struct gen *g)
{
	struct weft_wire_hdr h = {
		.kind = WEFT_WIRE_FLITS,
		.mode = g->opt.key.mode,
		.n_flits = (uint8_t)g->n,
		.vc = g->opt.key.vc,
		.spid = g->opt.key.spid,
		.dpid = g->opt.key.dpid,
		.session = g->opt.key.session,
	};
	size_t skip = g->opt.is_raw ? WEFT_WIRE_FLITS_OFF : 0;

	if (g->n == 0)
		return;
	if (!g->opt.is_raw) {
		memset(g->frame, 0xFF, 6);
		memcpy(g->frame + 6, g->env.src_mac, 6);
		weft_wire_build(g->frame, &h);
	}
	trace_write(g->out, gen_time_ns(g), g->frame + skip,
		(uint32_t)(WEFT_WIRE_FRAME_LEN(g->n) - skip));
	g->frames++;
	g->n = 0;
}

/* A packet that is no frame of ours, of any length. */
static void
gen_write_noise(struct gen *g)
{
	uint8_t noise[NOISE_MAX];
	size_t len = weft_rand_below(&g->chance, NOISE_MAX) + 1;

	weft_rand_fill(&g->chance, noise, len);
	if (g->opt.is_raw && len % WEFT_FLIT_LEN == 0)
		len--; /* whole flits would be taken for flits */
	trace_write(g->out, gen_time_ns(g), noise, (uint32_t)len);
	g->done.garbage++;
}

static void
gen_put_flit(struct gen *g, const uint8_t *flit)
{
	if (g->n == 0 && faults_draw(&g->chance, g->opt.faults.garbage))
		gen_write_noise(g);
	memcpy(g->frame + WEFT_WIRE_FRAME_LEN(g->n), flit, WEFT_FLIT_LEN);
	g->flits_out++;
	if (++g->n == g->opt.frame_flits)
		gen_write_frame(g);
}

static void
gen_put_late(struct gen *g)
{
	if (g->has_late)
		gen_put_flit(g, g->late);
	g->has_late = false;
}

static void
gen_send_flit(struct gen *g, uint8_t *flit)
{
	const struct faults *f = &g->opt.faults;

	if (faults_draw(&g->chance, f->drop)) {
		g->done.dropped++;
		return;
	}
	weft_impair_flits(&g->wire, flit, 1);
	if (!g->has_late && faults_draw(&g->chance, f->reorder)) {
		memcpy(g->late, flit, WEFT_FLIT_LEN);
		g->has_late = true;
		g->done.reordered++;
		return;
	}
	gen_put_flit(g, flit);
	if (faults_draw(&g->chance, f->dup)) {
		gen_put_flit(g, flit);
		g->done.duplicated++;
	}
	gen_put_late(g);
}

static void
gen_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		unsigned int flits = weft_frame(pkt[i])->hdr.n_flits;

		for (unsigned int k = 0; k < flits; k++)
			gen_send_flit(arg, weft_frame_flits(pkt[i]) + k * (size_t)WEFT_FLIT_LEN);
	}
	rte_pktmbuf_free_bulk(pkt, n);
}

static void
gen_make_frame(struct gen *g, unsigned int flits, uint64_t left)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(g->pool);
	struct weft_frame *f;

	if (m == NULL)
		cli_fail("packet buffers exhausted");
	rte_pktmbuf_append(m, (uint16_t)WEFT_WIRE_FRAME_LEN(flits));
	f = weft_frame(m);
	memset(f, 0, sizeof(*f));
	f->conn = g->conn;
	f->hdr.mode = g->opt.key.mode;
	f->hdr.n_flits = (uint8_t)flits;
	for (unsigned int i = 0; i < flits; i++)
		source_flit(&g->source, weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN, left - i);
	if (weft_pipe_push(g->pipe, &m, 1) != 1)
		cli_fail("the transmit pipeline did not take a frame");
}

static void
gen_run(struct gen *g)
{
	uint64_t left = g->opt.flits;

	while (left > 0 && !cli_is_stopped() && trace_is_writable(g->out)) {
		unsigned int flits =
			left < g->opt.frame_flits ? (unsigned int)left : g->opt.frame_flits;

		gen_make_frame(g, flits, left);
		left -= flits;
	}
	g->opt.flits -= left; /* what was made, for the report */
	gen_put_late(g);
	gen_write_frame(g);
}

static json_t *
gen_report_ide(const struct source *s)
{
	const bool is_on = s->ide.mode != WEFT_IDE_OFF;

	return json_pack("{s:I, s:I, s:I, s:I}", "epochs", (json_int_t)s->made.epochs, "flits",
		(json_int_t)(is_on ? s->made.protocol : 0), "poison", (json_int_t)s->made.poison,
		"key_changes", (json_int_t)s->made.key_changes);
}

static int
gen_report(const struct gen *g)
{
	json_t *messages = json_object(), *o;
	int rc;

	for (unsigned int k = 0; k < WEFT_MSG_KINDS; k++)
		if (g->source.messages[k] != 0)
			json_object_set_new(messages, weft_msg_kind_name((enum weft_msg_kind)k),
				json_integer((json_int_t)g->source.messages[k]));
	o = json_pack("{s:I, s:I, s:I, s:o, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}}",
		"flits_made", (json_int_t)g->opt.flits, "flits", (json_int_t)g->flits_out, "frames",
		(json_int_t)g->frames, "messages", messages, "ide", gen_report_ide(&g->source),
		"faults", "flipped_bits", (json_int_t)g->wire.count[WEFT_IMPAIR_N_FLIPPED],
		"hit_flits", (json_int_t)g->wire.count[WEFT_IMPAIR_N_TOUCHED], "bursts",
		(json_int_t)g->wire.count[WEFT_IMPAIR_N_BURST], "dropped",
		(json_int_t)g->done.dropped, "duplicated", (json_int_t)g->done.duplicated,
		"reordered", (json_int_t)g->done.reordered, "garbage", (json_int_t)g->done.garbage);
	rc = json_write(g->opt.json, o);
	json_decref(o);
	return rc;
}

static void __attribute__((noreturn)) no_key(const struct options *o)
{
	const struct weft_conn_key *k = &o->key;
	char stream[64];

	if (k->mode == WEFT_MODE_CXL)
		snprintf(stream, sizeof(stream), "cxl %02x:%02x:%02x:%02x:%02x:%02x", k->mac[0],
			k->mac[1], k->mac[2], k->mac[3], k->mac[4], k->mac[5]);
	else
		snprintf(stream, sizeof(stream), "rxl %x %x %x %x", k->spid, k->dpid, k->vc,
			k->session);
	cli_fail("%s: no key for this stream: expected a line that begins with \"%s\"", o->key_file,
		stream);
}

static void
gen_start(struct gen *g, const struct weft_keys *keys, uint32_t features)
{
	struct weft_pipe_cfg pipe = {
		.name = "gen",
		.layout = "ide_seal,crc_protect,fec_encode",
		.env = &g->env,
		.sink = gen_sink,
		.sink_arg = g,
		.socket = SOCKET_ID_ANY,
	};
	char err[512];

	if (g->opt.conn.ide != WEFT_IDE_OFF) {
		g->opt.conn.ide_key = weft_keys_find(keys, &g->opt.key, 0);
		if (g->opt.conn.ide_key == NULL)
			no_key(&g->opt);
		while (weft_keys_find(keys, &g->opt.key, g->opt.ide.later_keys + 1) != NULL)
			g->opt.ide.later_keys++;
		if (g->opt.ide.refresh > 0 && g->opt.ide.later_keys == 0)
			cli_fail("%s: --refresh needs a second key for this stream",
				g->opt.key_file);
		g->opt.conn.later_keys = keys;
		g->opt.ide.mode = g->opt.conn.ide;
		g->opt.ide.seed = g->opt.seed ^ UINT64_C(0x1DE);
		g->ide = weft_ide_lib_open(features);
		if (g->ide == NULL)
			cli_fail("intel-ipsec-mb does not run on this CPU");
	}
	g->conns = weft_conns_create("gen", 1, g->ide, SOCKET_ID_ANY);
	g->conn = g->conns == NULL ? NULL : weft_conns_add(g->conns, &g->opt.key, &g->opt.conn);
	if (g->conn == NULL)
		cli_fail("connection: %s", rte_strerror(rte_errno));
	g->env.conns = g->conns;
	g->env.fec = weft_fec_kernel_find(NULL, features);
	g->env.crc = weft_crc_kernel_find(NULL, features);
	memcpy(g->env.src_mac,
		g->opt.key.mode == WEFT_MODE_CXL ? g->opt.key.mac : (const uint8_t *)"\2\0\0\0\0\1",
		6);
	g->pipe = weft_pipe_create(&pipe, err, sizeof(err));
	if (g->pipe == NULL)
		cli_fail("%s", err);
	weft_rand_seed(&g->traffic, g->opt.seed);
	weft_rand_seed(&g->chance, ~g->opt.seed);
	faults_wire(&g->opt.faults, g->opt.seed, &g->wire);
	source_init(&g->source, &g->traffic,
		g->opt.key.mode == WEFT_MODE_CXL ? WEFT_FORM_HBR : WEFT_FORM_PBR, g->opt.key.spid,
		g->opt.key.dpid, &g->opt.ide);
}

int
main(int argc, char **argv)
{
	static struct gen g;
	struct weft_keys *keys = NULL;
	struct weft_eal_cfg eal = { .memory_mb = 32 };
	struct weft_pool_cfg pool = {
		.name = "gen",
		.n_mbufs = POOL_FRAMES,
		.max_flits = WEFT_WIRE_FLITS_MAX,
		.cache = 32,
	};
	int rc = EXIT_SUCCESS, e;
	char err[512];
	uint32_t features;

	argc = cli_split_eal(argc, argv, &eal.user_argc, &eal.user_argv);
	gen_parse_options(&g.opt, argc, argv);
	json_check_option("--out", g.opt.out);
	json_check(g.opt.json);
	features = cli_cpu_features();
	if (g.opt.key_file != NULL)
		keys = keys_read(g.opt.key_file);
	g.pool = start_dpdk(&eal, &pool);
	gen_start(&g, keys, features);
	/* Last of all that may fail: until then a file of that name stays as it is. */
	g.out = trace_create(g.opt.out, g.opt.is_raw ? TRACE_LINK_RAW_FLITS : TRACE_LINK_ETHERNET,
		err, sizeof(err));
	if (g.out == NULL)
		cli_fail("--out: %s", err);
	cli_catch_stop();
	gen_run(&g);
	if (cli_is_stopped()) {
		cli_warn(
			"stopped by a signal: the trace ends after %" PRIu64 " flits", g.flits_out);
		rc = EXIT_FAILURE;
	}
	e = trace_finish(g.out);
	if (e != 0) {
		cli_warn("--out %s: could not be written whole: %s", g.opt.out, strerror(-e));
		rc = EXIT_FAILURE;
	}
	e = g.opt.json == NULL ? 0 : gen_report(&g);
	if (e != 0) {
		cli_warn("--json %s: %s", g.opt.json, weft_file_error(e));
		rc = EXIT_FAILURE;
	}
	weft_pipe_free(g.pipe);
	weft_conns_free(g.conns);
	if (g.ide != NULL)
		weft_ide_lib_close(g.ide);
	weft_keys_free(keys);
	weft_eal_stop();
	cli_exit(rc);
}
