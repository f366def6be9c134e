/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The message path of a live link: messages into full flits by one end, out of them by the other.
 * Both ends are those of a fabric, with session, retry and credits; what is between them, and what
 * makes room for the next run, is not timed. A message is counted as a flit.
 */

#include "bench.h"

#include <stdlib.h>

#include "cli.h"
#include "weft_isn.h"
#include "weft_link.h"

#define FRAME_FLITS 8
#define FLITS 64 /* a run */
#define MESSAGES_MAX (8 * FLITS)
#define STEP_NS 10000
#define STEPS_MAX 10000

static const struct {
	enum weft_msg_kind kind;
	unsigned int a_flit; /* messages that fill one */
	bool is_deliver;
} shape[] = {
	{ WEFT_MSG_M2S_REQ, 8, false },
	{ WEFT_MSG_S2M_DRS, 3, false },
	{ WEFT_MSG_M2S_REQ, 8, true },
	{ WEFT_MSG_S2M_DRS, 3, true },
};

struct link_frame {
	struct weft_link_out out;
	uint64_t in_order;
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[FRAME_FLITS * WEFT_FLIT_LEN];
};

struct link_pair {
	unsigned int kind, n; /* messages a run */
	struct weft_link *end[2]; /* 0 sends */
	uint64_t now_ns, came, tags, wrong, runs;
	struct weft_msg msg[MESSAGES_MAX];
	unsigned int n_frames;
	struct link_frame frame[FLITS];
};

const char *
bench_link_layout(const struct bench *b)
{
	if (b < bench_link || b >= bench_link + bench_n_link)
		return NULL;
	return shape[b->kind].is_deliver ? "deliver" : "pack";
}

static uint64_t
link_random(struct link_pair *c)
{
	return c->now_ns * UINT64_C(0x9E3779B97F4A7C15);
}

/* Messages come in the order in which they were sent. */
static bool
link_check(void *arg, const struct weft_msg *m)
{
	struct link_pair *c = arg;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	c->wrong +=
		memcmp(m, &c->msg[c->came++ % c->n],
			weft_msg_has_data(m) ? sizeof(*m) : offsetof(struct weft_msg, data)) != 0;
	return true;
}

static bool
link_count(void *arg, const struct weft_msg *m)
{
	struct link_pair *c = arg;

	c->came++;
	c->tags += m->tag;
	return true;
}

static bool
link_next(struct link_pair *c, unsigned int from, struct link_frame *f)
{
	return weft_link_next(c->end[from], f->flits, c->now_ns, link_random(c), &f->out);
}

/* As far as the retry layer: what is in order is left to weft_link_deliver(). */
static void
link_arrive(struct link_pair *c, unsigned int at, struct link_frame *f)
{
	enum weft_session_event ev;
	struct weft_llr_rx_result in;
	uint64_t syndrome[FRAME_FLITS];

	f->in_order = 0;
	if (f->out.hdr.kind == WEFT_WIRE_CONTROL) {
		weft_link_control(
			c->end[at], &f->out.hdr, f->flits, f->out.len, c->now_ns, link_random(c));
		return;
	}
	for (unsigned int i = 0; i < f->out.flits.n; i++) {
		const unsigned int numbered = f->out.flits.n - f->out.flits.nops;

		syndrome[i] = weft_isn_number(
			(f->out.flits.first + (i < numbered ? i : numbered)) % WEFT_ISN_NUMBERS);
	}
	in = (struct weft_llr_rx_result){ 0 };
	if (weft_link_frame(c->end[at], f->out.hdr.session, c->now_ns, &ev) == WEFT_OK)
		weft_llr_rx(weft_link_llr(c->end[at]), f->flits, syndrome, f->out.flits.n, 0,
			c->now_ns, &in);
	f->in_order = in.deliver;
}

/* Until all has arrived, is acknowledged, and its credits are back. */
static bool
link_settle(struct link_pair *c)
{
	unsigned int quiet = 0;

	for (unsigned int i = 0; i < STEPS_MAX && quiet < 2; i++) {
		quiet++;
		c->now_ns += STEP_NS;
		for (unsigned int from = 0; from < 2; from++) {
			weft_link_tick(c->end[from], c->now_ns);
			while (link_next(c, from, &c->frame[0])) {
				link_arrive(c, 1 - from, &c->frame[0]);
				weft_link_deliver(c->end[1 - from], c->frame[0].flits,
					c->frame[0].in_order, 0, link_check, c);
				quiet = 0;
			}
		}
		if (weft_llr_unacked(weft_link_llr(c->end[0])) != 0 ||
			weft_credits_pending(weft_link_credits(c->end[1])) ||
			!weft_link_can_send(c->end[0], shape[c->kind].kind))
			quiet = 0;
	}
	return quiet != 0;
}

/* Into FLITS flits: all are full. */
static bool
link_send(struct link_pair *c)
{
	int rc = 0;

	for (unsigned int i = 0; i < c->n; i++)
		rc |= weft_link_send(c->end[0], &c->msg[i]);
	weft_link_pack(c->end[0], c->now_ns);
	return rc == 0 && weft_llr_unacked(weft_link_llr(c->end[0])) == FLITS;
}

static void
link_prepare(void *ctx)
{
	struct link_pair *c = ctx;

	c->wrong += !link_settle(c);
	c->runs++;
	c->came = c->tags = 0;
	if (!shape[c->kind].is_deliver)
		return;
	c->wrong += !link_send(c);
	for (c->n_frames = 0; c->n_frames < FLITS && link_next(c, 0, &c->frame[c->n_frames]);
		c->n_frames++)
		link_arrive(c, 1, &c->frame[c->n_frames]);
}

static void
link_deliver(struct link_pair *c, weft_link_msg_fn fn)
{
	for (unsigned int i = 0; i < c->n_frames; i++)
		weft_link_deliver(c->end[1], c->frame[i].flits, c->frame[i].in_order, 0, fn, c);
}

static uint64_t
link_run(void *ctx)
{
	struct link_pair *c = ctx;

	if (shape[c->kind].is_deliver)
		link_deliver(c, link_count);
	else
		c->wrong += !link_send(c);
	return c->n;
}

/* Once more, with a look at every field and byte. */
static bool
link_is_right(void *ctx)
{
	struct link_pair *c = ctx;
	const bool was_right = !shape[c->kind].is_deliver ||
	                       (c->came == c->n && c->tags == (uint64_t)c->n * (c->n - 1) / 2);

	link_prepare(c);
	if (shape[c->kind].is_deliver)
		link_deliver(c, link_check);
	else
		c->wrong += !link_send(c) || !link_settle(c);
	return was_right && c->wrong == 0 && c->came == c->n;
}

static struct weft_link *
link_make(bool is_sender, enum weft_msg_kind kind)
{
	struct weft_link_cfg cfg = { .form = WEFT_FORM_PBR, .max_flits = FRAME_FLITS };

	weft_session_defaults(&cfg.session);
	cfg.session.is_initiator = is_sender;
	cfg.session.params = (struct weft_control){ .version = WEFT_WIRE_VERSION,
		.mode = WEFT_MODE_RXL,
		.max_flits = FRAME_FLITS,
		.credits = MESSAGES_MAX };
	weft_llr_defaults(&cfg.llr, WEFT_MODE_RXL);
	cfg.llr.window = 256;
	cfg.llr.rx_flits = 255;
	cfg.room[kind] = is_sender ? 0 : MESSAGES_MAX;
	return weft_link_init(bench_alloc(weft_link_size(&cfg)), &cfg, 0);
}

static void
link_free(void *ctx)
{
	struct link_pair *c = ctx;

	free(c->end[0]);
	free(c->end[1]);
	free(c);
}

static void *
link_setup(const struct bench *b, const struct bench_params *p)
{
	struct link_pair *c = bench_alloc(sizeof(*c));
	const enum weft_msg_kind kind = shape[b->kind].kind;

	(void)p;
	c->kind = b->kind;
	c->n = shape[b->kind].a_flit * FLITS;
	for (unsigned int i = 0; i < c->n; i++) {
		struct weft_msg *m = &c->msg[i];

		*m = (struct weft_msg){ .kind = (uint8_t)kind, .dpid = 0x200, .tag = (uint16_t)i };
		m->meta_field = WEFT_META_FIELD_NOOP;
		m->op = kind == WEFT_MSG_M2S_REQ ? WEFT_M2S_REQ_MEMRD : WEFT_S2M_DRS_MEMDATA;
		m->spid = kind == WEFT_MSG_M2S_REQ ? 0x101 : 0;
		m->addr = kind == WEFT_MSG_M2S_REQ ? UINT64_C(0x10000000000) + i * 64 : 0;
		for (unsigned int k = 0; k < WEFT_MSG_DATA_LEN && weft_msg_has_data(m); k++)
			m->data[k] = (uint8_t)(i + k);
	}
	c->end[0] = link_make(true, kind);
	c->end[1] = link_make(false, kind);
	if (!link_settle(c)) {
		cli_warn("%s: no session", b->name);
		link_free(c);
		return NULL;
	}
	link_prepare(c);
	link_run(c);
	return c;
}

static const struct bench_ops ops = { link_setup, link_prepare, link_run, link_is_right,
	link_free };

const struct bench bench_link[] = {
	{ "pack-reads", "requests to read into full flits, each counted as a flit", BENCH_PLAIN,
		1 << BENCH_RTC, 0, &ops },
	{ "pack-data", "the same of answers with 64 bytes of data", BENCH_PLAIN, 1 << BENCH_RTC, 1,
		&ops },
	{ "deliver-reads", "requests to read out of full flits, each counted as a flit",
		BENCH_PLAIN, 1 << BENCH_RTC, 2, &ops },
	{ "deliver-data", "the same of answers with 64 bytes of data", BENCH_PLAIN, 1 << BENCH_RTC,
		3, &ops },
};

const unsigned int bench_n_link = sizeof(bench_link) / sizeof(bench_link[0]);
