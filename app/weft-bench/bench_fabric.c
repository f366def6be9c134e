/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A host and a GFD on one core: requests drawn, packed, protected; checked, executed, answered;
 * answers checked byte by byte. Requester, checker, ends, codec and memory are those of live nodes,
 * flits go from one to the other where they are. So this is what a request costs without frames,
 * rings and a switch, and `gfd` and `host` are the two parts of it. A request is counted as a flit.
 */

#include "bench.h"

#include <stdlib.h>

#include "cli.h"
#include "weft_codec.h"
#include "weft_gfd.h"
#include "weft_isn.h"
#include "weft_line.h"
#include "weft_link.h"
#include "weft_mem_requester.h"
#include "weft_traffic.h"

#define REQUESTS 256 /* a run; all are open at once */
#define NEAR_LINES ((UINT32_C(16) << 20) / WEFT_LINE_LEN)
#define FAR_LINES ((UINT32_C(256) << 20) / WEFT_LINE_LEN)
#define FRAME_FLITS 8
#define FRAMES 64 /* one way in a run, and room for Acks and credits */
#define HOST 0x101
#define GFD 0x200
#define BASE (UINT64_C(1) << 40)
#define STEP_NS 20000
#define STEPS_MAX 10000

enum fabric_timed { TIME_ALL, TIME_HOST, TIME_GFD };

static const struct {
	enum fabric_timed timed;
	uint32_t lines;
	uint8_t write_percent;
} shape[] = {
	{ TIME_GFD, NEAR_LINES, 0 },
	{ TIME_GFD, FAR_LINES, 0 },
	{ TIME_HOST, NEAR_LINES, 0 },
	{ TIME_ALL, NEAR_LINES, 0 },
	{ TIME_ALL, NEAR_LINES, 100 },
};

struct fabric_frame {
	struct weft_link_out out;
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[FRAME_FLITS * WEFT_FLIT_LEN];
};

/* One end, what protects what it sends, and the frames that it sent last. */
struct fabric_end {
	struct weft_link *link;
	struct weft_isn isn;
	unsigned int n_frames;
	struct fabric_frame frame[FRAMES];
};

struct fabric {
	struct fabric_end end[2]; /* the host's, the GFD's */
	struct weft_codec codec;
	struct weft_requester *requester;
	struct weft_traffic *traffic;
	struct weft_gfd gfd;
	enum fabric_timed timed;
	uint64_t now_ns, done, wrong;
	uint8_t *memory;
	uint64_t *poison;
};

static uint64_t
fabric_random(const struct fabric *c)
{
	return c->now_ns * UINT64_C(0x9E3779B97F4A7C15);
}

static void
fabric_protect(const struct fabric *c, const struct fabric_end *e, struct fabric_frame *f)
{
	const struct weft_llr_tx_info *info = &f->out.flits;
	uint64_t implicit[WEFT_CODEC_MAX];
	uint8_t *flit[FRAME_FLITS];

	weft_isn_given(&e->isn, info->first, info->n, info->nops, info->invert_crc, implicit);
	for (unsigned int i = 0; i < FRAME_FLITS; i++)
		flit[i] = f->flits + i * (size_t)WEFT_FLIT_LEN;
	weft_codec_protect(&c->codec, flit, info->n, WEFT_CRC_R0_FIRST, implicit);
}

/* All frames that an end has now. */
static void
fabric_send(struct fabric *c, struct fabric_end *e)
{
	e->n_frames = 0;
	weft_link_tick(e->link, c->now_ns);
	while (e->n_frames < FRAMES) {
		struct fabric_frame *f = &e->frame[e->n_frames];

		if (!weft_link_next(e->link, f->flits, c->now_ns, fabric_random(c), &f->out))
			return;
		if (f->out.hdr.kind == WEFT_WIRE_FLITS)
			fabric_protect(c, e, f);
		e->n_frames++;
	}
	c->wrong++; /* not all had room */
}

/* Flits to an end, in order all of them. */
static void
fabric_flits(struct fabric *c, struct fabric_end *at, const struct fabric_end *from,
	const struct fabric_frame *f, weft_link_msg_fn fn)
{
	const unsigned int n = f->out.flits.n;
	const uint8_t *flit[FRAME_FLITS];
	uint64_t syndrome[WEFT_CODEC_MAX];
	struct weft_llr_rx_result in = { 0 };
	enum weft_session_event ev;

	for (unsigned int i = 0; i < FRAME_FLITS; i++)
		flit[i] = f->flits + i * (size_t)WEFT_FLIT_LEN;
	c->wrong += weft_codec_check(&c->codec, flit, n, WEFT_CRC_R0_FIRST, syndrome);
	for (unsigned int i = 0; i < n; i++)
		syndrome[i] ^= from->isn.address;
	if (weft_link_frame(at->link, f->out.hdr.session, c->now_ns, &ev) != WEFT_OK)
		return;
	weft_llr_rx(weft_link_llr(at->link), f->flits, syndrome, n, 0, c->now_ns, &in);
	c->wrong += in.bad;
	weft_link_deliver(at->link, f->flits, in.deliver, 0, fn, c);
}

/* As stage deliver, at a GFD. */
static void
fabric_look_ahead(const struct weft_gfd *gfd, const struct fabric_end *from, unsigned int i)
{
	const struct fabric_frame *f = &from->frame[i];

	if (gfd == NULL || i >= from->n_frames || f->out.hdr.kind != WEFT_WIRE_FLITS)
		return;
	for (unsigned int k = 0; k < f->out.flits.n; k++)
		weft_gfd_look_ahead(gfd, f->flits + k * (size_t)WEFT_FLIT_LEN);
}

static void
fabric_receive(struct fabric *c, struct fabric_end *at, const struct fabric_end *from,
	const struct weft_gfd *gfd, weft_link_msg_fn fn)
{
	fabric_look_ahead(gfd, from, 0);
	for (unsigned int i = 0; i < from->n_frames; i++) {
		const struct fabric_frame *f = &from->frame[i];

		fabric_look_ahead(gfd, from, i + 1);
		if (f->out.hdr.kind == WEFT_WIRE_FLITS)
			fabric_flits(c, at, from, f, fn);
		else
			weft_link_control(at->link, &f->out.hdr, f->flits, f->out.len, c->now_ns,
				fabric_random(c));
	}
}

/* --- the GFD --- */

static bool
fabric_execute(void *arg, const struct weft_msg *m)
{
	struct fabric *c = arg;
	struct weft_msg reply;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	c->wrong += weft_gfd_request(&c->gfd, m, &reply) != WEFT_OK ||
	            weft_link_send(c->end[1].link, &reply) != 0;
	return true;
}

static void
fabric_gfd(struct fabric *c)
{
	fabric_receive(c, &c->end[1], &c->end[0], &c->gfd, fabric_execute);
	fabric_send(c, &c->end[1]);
}

/* --- the host --- */

static bool
fabric_answer(void *arg, const struct weft_msg *m)
{
	struct fabric *c = arg;
	struct weft_completion done;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	if (weft_mem_response(c->requester, m, c->now_ns, &done) == WEFT_OK) {
		weft_traffic_complete(c->traffic, &done);
		c->done++;
	} else {
		c->wrong++;
	}
	return true;
}

/* Answers of the run before, then as many requests. */
static void
fabric_host(struct fabric *c, unsigned int requests)
{
	struct weft_request rq;
	struct weft_msg m;

	fabric_receive(c, &c->end[0], &c->end[1], NULL, fabric_answer);
	for (unsigned int i = 0; i < requests; i++) {
		if (weft_traffic_next(c->traffic, c->now_ns, &rq) != 0) {
			c->wrong++;
			continue;
		}
		weft_mem_request(c->requester, &rq, &m);
		c->wrong += weft_link_send(c->end[0].link, &m) != 0;
	}
	fabric_send(c, &c->end[0]);
}

/* The part that is not timed. */
static void
fabric_prepare(void *ctx)
{
	struct fabric *c = ctx;

	c->now_ns += STEP_NS;
	if (c->timed == TIME_GFD)
		fabric_host(c, REQUESTS);
	else if (c->timed == TIME_HOST)
		fabric_gfd(c);
}

static uint64_t
fabric_run(void *ctx)
{
	struct fabric *c = ctx;

	if (c->timed != TIME_GFD)
		fabric_host(c, REQUESTS);
	if (c->timed != TIME_HOST)
		fabric_gfd(c);
	return REQUESTS;
}

/* But for those of the last run all were answered, and what was read was what had been written. */
static bool
fabric_is_right(void *ctx)
{
	const struct fabric *c = ctx;
	const uint64_t *n = weft_traffic_counts(c->traffic);

	return c->wrong == 0 && n[WEFT_TRAFFIC_N_MISMATCHES] == 0 &&
	       n[WEFT_TRAFFIC_N_FAILED] == 0 && n[WEFT_TRAFFIC_N_LOST] == 0 &&
	       n[WEFT_TRAFFIC_N_READS] + n[WEFT_TRAFFIC_N_WRITES] == c->done + REQUESTS;
}

static void
fabric_free(void *ctx)
{
	struct fabric *c = ctx;

	free(c->end[0].link);
	free(c->end[1].link);
	free(c->traffic);
	free(c->requester);
	free(c->memory);
	free(c->poison);
	free(c);
}

static void
fabric_make_end(struct fabric_end *e, bool is_host)
{
	struct weft_link_cfg cfg = { .form = WEFT_FORM_PBR, .max_flits = FRAME_FLITS };

	weft_session_defaults(&cfg.session);
	cfg.session.is_initiator = is_host;
	cfg.session.params = (struct weft_control){ .version = WEFT_WIRE_VERSION,
		.mode = WEFT_MODE_RXL,
		.max_flits = FRAME_FLITS,
		.credits = REQUESTS };
	weft_llr_defaults(&cfg.llr, WEFT_MODE_RXL);
	cfg.llr.window = 256;
	cfg.llr.rx_flits = 255;
	cfg.room[WEFT_MSG_M2S_REQ] = cfg.room[WEFT_MSG_M2S_RWD] = is_host ? 0 : 2 * REQUESTS;
	cfg.room[WEFT_MSG_S2M_DRS] = cfg.room[WEFT_MSG_S2M_NDR] = is_host ? 2 * REQUESTS : 0;
	e->link = weft_link_init(bench_alloc(weft_link_size(&cfg)), &cfg, 0);
	weft_isn_init(&e->isn, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, is_host ? HOST : GFD,
		is_host ? GFD : HOST, 0, WEFT_ISN_FIRST);
}

static void
fabric_make_load(struct fabric *c, uint32_t lines, uint8_t write_percent)
{
	const struct weft_traffic_target target = { BASE, (uint64_t)lines * WEFT_LINE_LEN, GFD };
	const struct weft_requester_cfg rc = {
		.tags = REQUESTS, .timeout_ns = UINT64_MAX, .id = HOST
	};
	const struct weft_traffic_cfg tc = { .seed = 1,
		.requests = UINT64_MAX,
		.targets = &target,
		.n_targets = 1,
		.lines = lines,
		.outstanding = REQUESTS,
		.write_percent = write_percent,
		.unit_lines = 1,
		.request_lines = 1 };

	c->requester = weft_requester_init(bench_alloc(weft_requester_size(&rc)), &rc);
	weft_requester_grant(c->requester, GFD, REQUESTS, REQUESTS);
	c->traffic = weft_traffic_init(bench_alloc(weft_traffic_size(&tc)), &tc, c->requester);
	c->memory = bench_alloc((size_t)target.len_bytes);
	c->poison = bench_alloc(weft_gfd_poison_size(target.len_bytes));
	c->wrong += weft_gfd_init(&c->gfd, GFD, BASE, c->memory, target.len_bytes, c->poison) != 0;
}

/* Until each end has the other's credits. */
static bool
fabric_begin(struct fabric *c)
{
	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		c->now_ns += STEP_NS;
		fabric_host(c, 0);
		fabric_gfd(c);
		if (weft_link_can_send(c->end[0].link, WEFT_MSG_M2S_REQ) &&
			c->end[0].n_frames + c->end[1].n_frames == 0)
			return true;
	}
	return false;
}

static void *
fabric_setup(const struct bench *b, const struct bench_params *p)
{
	struct fabric *c = bench_alloc(sizeof(*c));

	c->codec = (struct weft_codec){ p->fec, p->crc };
	c->timed = shape[b->kind].timed;
	fabric_make_end(&c->end[0], true);
	fabric_make_end(&c->end[1], false);
	fabric_make_load(c, shape[b->kind].lines, shape[b->kind].write_percent);
	if (!fabric_begin(c)) {
		cli_warn("%s: no session", b->name);
		fabric_free(c);
		return NULL;
	}
	/* The first run of a host has no answers to take. */
	if (c->timed == TIME_HOST)
		fabric_host(c, REQUESTS);
	fabric_prepare(c);
	fabric_run(c);
	return c;
}

static const struct bench_ops ops = { fabric_setup, fabric_prepare, fabric_run, fabric_is_right,
	fabric_free };

const struct bench bench_fabric[] = {
	{ "gfd", "a GFD's part of reads of random lines of 16 MiB, each counted as a flit",
		BENCH_CODEC, 1 << BENCH_RTC, 0, &ops },
	{ "gfd-far", "the same of 256 MiB", BENCH_CODEC, 1 << BENCH_RTC, 1, &ops },
	{ "host", "a host's part of these reads of 16 MiB, draw and check included", BENCH_CODEC,
		1 << BENCH_RTC, 2, &ops },
	{ "fabric-read", "host and GFD: reads from their draw to their check, without frames",
		BENCH_CODEC, 1 << BENCH_RTC, 3, &ops },
	{ "fabric-write", "the same of writes", BENCH_CODEC, 1 << BENCH_RTC, 4, &ops },
};

const unsigned int bench_n_fabric = sizeof(bench_fabric) / sizeof(bench_fabric[0]);
