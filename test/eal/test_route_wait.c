/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The stage route with a translation unit. The table of pages is the test's own, and so is the
 * agent that answers: in any order, late, and overtaken by invalidations. What comes out is judged
 * by the table: no request passes that it forbids now, none is dropped that it never forbade, every
 * connection's frames come in order, each once.
 */

#include "eal_test.h"
#include "route_tables.h"

#include "weft_ats_atc.h"
#include "weft_pipe.h"
#include "xlate_agent.h"

#define CONNS 6
#define PAGES 40
#define QUESTIONS 32 /* that a unit has under way */
#define PLACES_MAX (WEFT_BURST_CAP - WEFT_BURST_MAX)
#define FLITS_MAX 64
#define BASE (UINT64_C(1) << 40)
#define SEGMENT_LOG2 36
#define PORT 5
#define FIRST_DPID 0x200
#define LIFE (UINT64_C(1) << 40)
#define STEPS 1500

enum page_kind { GOOD, READ_ONLY, NO_PAGE, ELSEWHERE, AS_IT_IS, READ_AS_IT_IS, PAGE_KINDS };

struct question {
	bool used;
	struct weft_ats_packet packet;
	struct agent_page found; /* when it was asked */
};

/* What a frame carries of the test's, in the second slot of its first flit. */
struct label {
	uint32_t seq;
	uint32_t born;
};

static struct world {
	struct weft_rand r;
	struct rte_mempool *pool;
	struct weft_conns *conns;
	struct weft_conn_dir *conn[CONNS];
	struct weft_env env;
	struct weft_tables *tables; /* a segment for each connection */
	struct weft_tables_slot slot;
	struct weft_pipe *pipe;
	struct weft_xlate *x; /* NULL: addresses are as they are */
	uint64_t clock;
	uint32_t completed; /* ITags of invalidations */

	enum page_kind kind[CONNS][PAGES];
	uint32_t forbidden[CONNS][PAGES][2]; /* when last, by what is wanted */
	uint32_t now;
	bool exact; /* nothing waits: what comes out is what the table says */

	struct question question[QUESTIONS]; /* by tag */
	unsigned int asked;

	uint32_t sent[CONNS], seen[CONNS]; /* sequence numbers */
	uint64_t in, out;
	uint32_t order[512]; /* connection and number of what came out, for tests that look */
} w;

static uint64_t
page_va(unsigned int page)
{
	return BASE + ((uint64_t)page << 12);
}

static struct agent_page
page_now(uint16_t ctx, unsigned int page)
{
	static const uint8_t flags[PAGE_KINDS] = { WEFT_ATC_R | WEFT_ATC_W, WEFT_ATC_R, 0,
		WEFT_ATC_R | WEFT_ATC_W, WEFT_ATC_R | WEFT_ATC_W | WEFT_ATC_U,
		WEFT_ATC_R | WEFT_ATC_U };
	const enum page_kind k = w.kind[ctx][page];
	const uint64_t segment = k == ELSEWHERE ? (ctx + 1u) % CONNS : ctx;

	return (struct agent_page){
		.pa = BASE + (segment << SEGMENT_LOG2) + ((uint64_t)(page * 7 % 64) << 12),
		.flags = flags[k],
	};
}

static bool
permits(uint16_t ctx, unsigned int page, bool write)
{
	switch (w.kind[ctx][page]) {
	case GOOD: return true;
	case READ_ONLY: return !write;
	case AS_IT_IS: return ctx == 0; /* whose segment holds the addresses as they are */
	case READ_AS_IT_IS: return ctx == 0 && !write;
	default: return false;
	}
}

static void
note_what_is_forbidden(uint16_t ctx, unsigned int page)
{
	for (unsigned int write = 0; write < 2; write++)
		if (!permits(ctx, page, write != 0))
			w.forbidden[ctx][page][write] = w.now;
}

static void
page_set(uint16_t ctx, unsigned int page, enum page_kind k)
{
	note_what_is_forbidden(ctx, page);
	w.kind[ctx][page] = k;
	note_what_is_forbidden(ctx, page);
}

/* The agent. */

/* A page that is not there, or not with the rights wanted, is not given. */
static bool
gives(uint16_t ctx, uint64_t va, bool write)
{
	const unsigned int flags = page_now(ctx, (unsigned int)((va - BASE) >> 12)).flags;

	return (flags & (write ? WEFT_ATC_W : WEFT_ATC_R)) != 0;
}

/* What the unit has to say. */
static void
hear(void)
{
	struct weft_ats_packet p;

	while (agent_hear(w.x, &p)) {
		struct question *q = &w.question[p.tag];

		assert_true(p.tag < QUESTIONS && !q->used);
		assert_true(p.addr >= BASE && p.addr < page_va(PAGES));
		*q = (struct question){ .used = true,
			.packet = p,
			.found = page_now(
				agent_context(&p), (unsigned int)((p.addr - BASE) >> 12)) };
		w.asked++;
	}
	w.completed |= agent_hear_posted(w.x, gives);
}

/* Let a question that is under way be answered by what was found then. False: there is none. */
static bool
answer_one(unsigned int from)
{
	hear();
	for (unsigned int k = 0; k < QUESTIONS; k++) {
		struct question *q = &w.question[(from + k) % QUESTIONS];

		if (!q->used)
			continue;
		q->used = false;
		agent_answer(w.x, &q->packet, q->found);
		hear();
		return true;
	}
	return false;
}

/* What comes out. */

static void
judge_flit(const struct rte_mbuf *m, const struct weft_frame *f, unsigned int i, uint32_t born)
{
	const uint8_t *slot = weft_frame_flits((struct rte_mbuf *)(uintptr_t)m) +
	                      i * (size_t)WEFT_FLIT_LEN + WEFT_FLIT_H_OFF;
	const unsigned int page = (unsigned int)((weft_get_le64(slot + 4) << 6) - BASE) >> 12;
	const bool dropped = (f->discard >> i & 1) != 0, write = slot[0] == 0x1E;
	const uint16_t ctx = f->conn->index;

	if (slot[0] == 0) {
		assert_false(dropped);
		return;
	}
	note_what_is_forbidden(ctx, page);
	if (!dropped)
		assert_true(permits(ctx, page, write));
	else if (w.exact)
		assert_false(permits(ctx, page, write));
	else
		assert_true(w.forbidden[ctx][page][write] >= born);
}

static void
sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	(void)arg;
	for (uint16_t k = 0; k < n; k++) {
		const struct weft_frame *f = weft_frame(pkt[k]);
		struct label l;

		memcpy(&l, weft_frame_flits(pkt[k]) + WEFT_FLIT_SLOT_LEN, sizeof(l));
		assert_int_equal(f->out_port, PORT);
		assert_true(l.seq > w.seen[f->conn->index]);
		w.seen[f->conn->index] = l.seq;
		for (unsigned int i = 0; i < f->hdr.n_flits; i++)
			judge_flit(pkt[k], f, i, l.born);
		if (w.out < WEFT_ARRAY_SIZE(w.order))
			w.order[w.out] = f->conn->index * 1000u + l.seq;
		w.out++;
	}
	rte_pktmbuf_free_bulk(pkt, n);
}

/* A frame of flits without requests. */
static struct rte_mbuf *
frame_of(uint16_t conn, unsigned int flits)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w.pool);
	const struct label l = { ++w.sent[conn], w.now };
	struct weft_frame *f;

	assert_non_null(m);
	f = weft_frame(m);
	rte_pktmbuf_append(m, (uint16_t)WEFT_WIRE_FRAME_LEN(flits));
	memset(f, 0, sizeof(*f));
	f->conn = w.conn[conn];
	f->hdr = (struct weft_wire_hdr){
		.mode = WEFT_MODE_RXL, .n_flits = (uint8_t)flits, .dpid = w.conn[conn]->key.dpid
	};
	for (unsigned int i = 0; i < flits; i++) {
		uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;

		weft_rand_fill(&w.r, flit, WEFT_FLIT_LEN);
		flit[0] = (uint8_t)(WEFT_FLIT_CACHEMEM << 6);
		memset(flit + WEFT_FLIT_H_OFF, 0, WEFT_FLIT_H_LEN);
	}
	memcpy(weft_frame_flits(m) + WEFT_FLIT_SLOT_LEN, &l, sizeof(l));
	return m;
}

static void
request(struct rte_mbuf *m, unsigned int flit, unsigned int page, bool write)
{
	uint8_t *slot = weft_frame_flits(m) + flit * (size_t)WEFT_FLIT_LEN + WEFT_FLIT_H_OFF;
	const uint64_t va = BASE + ((uint64_t)page << 12) + 64 * weft_rand_below(&w.r, 64);

	slot[0] = write ? 0x1E : 0x14;
	weft_put_le64(slot + 4, va >> 6);
}

/* A frame of one request. */
static struct rte_mbuf *
frame_for(uint16_t conn, unsigned int page)
{
	struct rte_mbuf *m = frame_of(conn, 1);

	request(m, 0, page, false);
	return m;
}

static void
push(struct rte_mbuf **m, uint16_t n)
{
	w.in += n;
	assert_int_equal(weft_pipe_push(w.pipe, m, n), n);
}

static void
idle(void)
{
	weft_pipe_poll(w.pipe, 0);
}

static uint64_t
count(const char *name)
{
	return weft_pipe_count(w.pipe, "route", name);
}

struct setup {
	const struct weft_req_scan_kernel *req_scan;
	const struct weft_atc_kernel *atc;
	uint32_t entries;
	uint16_t places, share;
	bool exact; /* everything is answered before anything else happens */
};

static void
start(const struct setup *s)
{
	const struct weft_xlate_cfg cfg = {
		.answer_ns = LIFE,
		.life_ns = LIFE,
		.entries = s->entries,
		.places = s->places,
		.share = s->share,
		.contexts = CONNS,
		.id = 1,
		.prefetch_degree = 1,
		.is_ordered = true,
		.kernel = s->atc,
	};
	const struct weft_pipe_cfg pipe = { .name = "wait",
		.layout = "route",
		.env = &w.env,
		.sink = sink,
		.socket = SOCKET_ID_ANY };
	const struct weft_rand r = w.r;
	struct rte_mempool *pool = w.pool;
	char err[256] = "";

	memset(&w, 0, sizeof(w));
	w.r = r;
	w.pool = pool;
	w.exact = s->exact;
	w.clock = AGENT_NOW;
	w.conns = weft_conns_create("wait", CONNS, NULL, SOCKET_ID_ANY);
	w.tables = route_tables_new(FIRST_DPID, CONNS, PORT, BASE, SEGMENT_LOG2);
	weft_tables_publish(&w.slot, w.tables);
	for (uint16_t i = 0; i < CONNS; i++) {
		const struct weft_conn_key key = { .mode = WEFT_MODE_RXL,
			.spid = 1,
			.dpid = (uint16_t)(FIRST_DPID + i),
			.session = 1 };
		const struct weft_conn_cfg conn = { .first = WEFT_ISN_FIRST };

		w.conn[i] = weft_conns_add(w.conns, &key, &conn);
		assert_non_null(w.conn[i]);
		assert_int_equal(w.conn[i]->index, i);
	}
	w.x = weft_xlate_init(aligned_alloc(64, weft_xlate_size(&cfg)), &cfg);
	assert_non_null(w.x);
	weft_xlate_enable(w.x);
	w.env = (struct weft_env){
		.tables = &w.slot, .xlate = w.x, .now_ns = &w.clock, .req_scan = s->req_scan
	};
	w.pipe = weft_pipe_create(&pipe, err, sizeof(err));
	if (w.pipe == NULL)
		fail_msg("%s", err);
}

static void
stop(void)
{
	weft_pipe_drain(w.pipe); /* the unit has no frame when it goes */
	assert_int_equal(w.in, w.out + count("refused"));
	weft_pipe_free(w.pipe);
	weft_conns_free(w.conns);
	free(w.tables);
	free(w.x);
	test_pool_is_whole(w.pool);
}

WEFT_TEST(others_pass_a_frame_that_waits)
{
	static const struct setup s = { .entries = 512, .places = 16, .share = 16 };
	static const uint32_t order[] = { 1001, 2001, 1002, 0001, 0002, 0003 };
	struct rte_mbuf *m[5];

	start(&s);
	page_set(0, 1, GOOD);
	page_set(1, 1, GOOD);
	page_set(2, 1, GOOD);
	for (uint16_t c = 1; c < 3; c++)
		weft_xlate_ask(w.x, c, page_va(1));
	while (answer_one(0))
		;
	w.asked = 0;
	m[0] = frame_for(0, 1);
	m[1] = frame_for(1, 1);
	m[2] = frame_of(0, 3); /* without a request: it waits behind the first all the same */
	m[3] = frame_for(2, 1);
	push(m, 4);
	assert_int_equal(w.out, 2);
	for (unsigned int burst = 0; burst < 10; burst++)
		idle();
	m[0] = frame_for(1, 1);
	m[1] = frame_for(0, 1);
	push(m, 2);
	assert_int_equal(w.out, 3); /* in the same call: its own burst only */
	assert_int_equal(weft_xlate_waiting(w.x), 3);
	assert_true(answer_one(0));
	assert_int_equal(w.asked, 1);
	idle();
	assert_int_equal(w.out, 6);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(w.order[i], order[i]);
	assert_int_equal(count("parked"), 3);
	assert_int_equal(count("released"), 3);
	assert_int_equal(count("refused"), 0);
	assert_int_equal(weft_xlate_most(w.x), 3);
	stop();
}

WEFT_TEST(room_to_wait_is_bounded_and_shared)
{
	static const struct setup s = { .entries = 512, .places = 6, .share = 4 };
	struct rte_mbuf *m[12];

	start(&s);
	for (unsigned int i = 0; i < 7; i++)
		m[i] = frame_for(0, 1); /* 4 wait, 3 are refused */
	for (unsigned int i = 7; i < 10; i++)
		m[i] = frame_for(1, 1); /* 2 wait */
	m[10] = frame_of(2, 1);
	push(m, 11);
	assert_int_equal(w.out, 1);
	assert_int_equal(count("parked"), 6);
	assert_int_equal(count("refused"), 4);
	assert_int_equal(weft_pipe_drops(w.pipe, WEFT_DROP_ATC_FULL), 4);
	while (answer_one(0))
		idle();
	assert_int_equal(w.out, 7);
	assert_int_equal(weft_xlate_waiting(w.x), 0);
	m[0] = frame_for(0, 1);
	push(m, 1);
	assert_int_equal(w.out, 8);
	stop();
}

/* More questions than can be under way: each context has its turn. */
WEFT_TEST(who_finds_no_slot_asks_later)
{
	static const struct setup s = { .entries = 512, .places = 32, .share = 8 };
	struct rte_mbuf *m[CONNS];
	unsigned int answers = 0;

	start(&s);
	for (uint16_t c = 0; c < CONNS; c++) {
		m[c] = frame_of(c, 8);
		for (unsigned int i = 0; i < 8; i++)
			request(m[c], i, 1 + i, false);
	}
	push(m, CONNS);
	hear();
	assert_int_equal(w.asked, QUESTIONS);
	assert_int_equal(w.out, 0);
	for (; answer_one(answers); answers++)
		idle();
	assert_int_equal(w.out, CONNS);
	assert_int_equal(answers, CONNS * 8);
	stop();
}

/* Answers that come together move all of a context from slot to slot, in one call. */
WEFT_TEST(many_wait_through_answers_that_come_together)
{
	static const struct setup s = { .entries = 512, .places = PLACES_MAX, .share = PLACES_MAX };
	struct rte_mbuf *m[WEFT_BURST_MAX];

	start(&s);
	m[0] = frame_of(0, 5);
	for (unsigned int i = 0; i < 5; i++)
		request(m[0], i, 1 + i, false);
	push(m, 1);
	for (unsigned int i = 0; i < PLACES_MAX / WEFT_BURST_MAX - 1; i++) {
		for (unsigned int k = 0; k < WEFT_BURST_MAX; k++)
			m[k] = frame_of(0, 1);
		push(m, WEFT_BURST_MAX);
	}
	assert_int_equal(w.out, 0);
	while (answer_one(0))
		;
	assert_int_equal(w.asked, 5);
	idle();
	assert_int_equal(w.out, w.in);
	stop();
}

WEFT_TEST(no_translation_drops_the_request_alone)
{
	static const struct setup s = { .entries = 512, .places = 8, .share = 8 };
	struct rte_mbuf *m;

	start(&s);
	page_set(0, 2, NO_PAGE);
	page_set(0, 4, NO_PAGE);
	m = frame_of(0, 5);
	for (unsigned int i = 0; i < 5; i++)
		request(m, i, 1 + i, false);
	push(&m, 1);
	assert_int_equal(w.out, 0);
	while (answer_one(2))
		idle();
	assert_int_equal(w.out, 1);
	assert_int_equal(weft_pipe_drops(w.pipe, WEFT_DROP_ATC_DENY), 2);
	assert_int_equal(count("decoded"), 5);
	assert_int_equal(weft_xlate_waiting(w.x), 0);
	stop();
}

static void
invalidate(uint16_t ctx, unsigned int page, uint8_t itag)
{
	agent_invalidate(w.x, 1, ctx, page_va(page), itag);
}

WEFT_TEST(an_invalidation_is_done_behind_what_left)
{
	static const struct setup s = { .entries = 512, .places = 8, .share = 8 };
	struct rte_mbuf *m[2];

	start(&s);
	m[0] = frame_for(0, 1);
	push(m, 1);
	hear();
	assert_int_equal(w.asked, 1);
	/* The answer is on its way as the page changes. Nothing left: nothing is waited for. */
	page_set(0, 1, NO_PAGE);
	invalidate(0, 1, 3);
	hear();
	assert_int_equal(w.completed, 1u << 3);
	assert_true(answer_one(0));
	idle(); /* no traffic: the page is asked for again all the same */
	assert_int_equal(w.out, 0);
	assert_true(answer_one(0)); /* there is none, and it is not given */
	assert_int_equal(w.asked, 2);
	idle();
	assert_int_equal(w.out, 1);
	assert_int_equal(weft_pipe_drops(w.pipe, WEFT_DROP_ATC_DENY), 1);
	/* Known before the invalidation, and asked for again because the frame still waits. */
	m[0] = frame_of(1, 2);
	request(m[0], 0, 1, false);
	request(m[0], 1, 2, false);
	push(m, 1);
	assert_true(answer_one(0));
	idle();
	page_set(1, 1, ELSEWHERE);
	invalidate(1, 1, 4);
	hear();
	assert_int_equal(
		w.completed & 1u << 4, 0); /* a frame left that is not in its channel yet */
	weft_xlate_passed(w.x, weft_xlate_left(w.x));
	hear();
	assert_int_equal(w.completed & 1u << 4, 1u << 4);
	while (answer_one(0))
		idle();
	assert_int_equal(w.out, 2);
	assert_int_equal(weft_pipe_drops(w.pipe, WEFT_DROP_NO_DECODE), 1);
	stop();
}

/* No answer: the frame goes on without its requests, and what was behind it with its own. */
WEFT_TEST(a_frame_does_not_wait_for_good)
{
	static const struct setup s = { .entries = 512, .places = 8, .share = 8 };
	struct rte_mbuf *m[2];

	start(&s);
	weft_xlate_ask(w.x, 0, page_va(2));
	assert_true(answer_one(0));
	for (unsigned int p = 0; p < 2; p++)
		page_set(0, p, NO_PAGE);
	m[0] = frame_of(0, 3);
	request(m[0], 0, 0, false);
	request(m[0], 1, 1, true);
	request(m[0], 2, 2, false);
	m[1] = frame_for(0, 2);
	push(m, 2);
	assert_int_equal(w.out, 0);
	hear();
	w.clock += LIFE;
	weft_xlate_time(w.x, w.clock);
	idle();
	assert_int_equal(w.out, 2);
	assert_int_equal(weft_pipe_drops(w.pipe, WEFT_DROP_ATC_DENY), 2);
	assert_int_equal(weft_xlate_counts(w.x)[WEFT_XLATE_N_EXPIRED], 2);
	stop();
}

WEFT_TEST(a_drain_gives_up_what_waits)
{
	static const struct setup s = { .entries = 512, .places = 40, .share = 40 };
	struct rte_mbuf *m[4];

	start(&s);
	for (uint16_t c = 0; c < 2; c++)
		for (unsigned int p = 0; p < PAGES; p++)
			page_set(c, p, NO_PAGE);
	for (unsigned int i = 0; i < 10; i++) {
		m[0] = frame_for(0, i);
		m[1] = frame_of(0, 2);
		m[2] = frame_for(1, i);
		m[3] = frame_of(1, 3);
		push(m, 4);
	}
	assert_int_equal(w.out, 0);
	weft_pipe_drain(w.pipe);
	assert_int_equal(w.out, 40);
	assert_int_equal(weft_xlate_waiting(w.x), 0);
	stop();
}

/* A unit needs to know how long things wait. */
WEFT_TEST(translation_needs_the_time)
{
	static const struct setup s = { .entries = 512, .places = 8, .share = 8 };
	struct weft_pipe_cfg pipe = {
		.name = "timeless", .layout = "route", .sink = sink, .socket = SOCKET_ID_ANY
	};
	char err[256] = "";
	struct weft_env env;

	start(&s);
	env = w.env;
	env.now_ns = NULL;
	pipe.env = &env;
	assert_null(weft_pipe_create(&pipe, err, sizeof(err)));
	assert_non_null(strstr(err, "the time"));
	stop();
}

static void
random_burst(void)
{
	const uint16_t n = (uint16_t)(1 + weft_rand_below(&w.r, WEFT_BURST_MAX));
	struct rte_mbuf *m[WEFT_BURST_MAX];

	for (uint16_t k = 0; k < n; k++) {
		const uint64_t size = weft_rand_below(&w.r, 16);
		const unsigned int flits =
			1 + (unsigned int)weft_rand_below(&w.r, size == 0  ? FLITS_MAX
								: size < 8 ? 8
									   : 3);
		const unsigned int requests = (unsigned int)weft_rand_below(&w.r, 5);
		/* Some frames stay in a page, as a stream does. */
		const unsigned int page = (unsigned int)weft_rand_below(&w.r, 2 * PAGES);

		m[k] = frame_of((uint16_t)weft_rand_below(&w.r, CONNS), flits);
		for (unsigned int i = 0; i < flits; i++)
			if (weft_rand_below(&w.r, 4) < requests)
				request(m[k], i,
					page < PAGES ? page
						     : (unsigned int)weft_rand_below(&w.r, PAGES),
					weft_rand_below(&w.r, 4) == 0);
	}
	push(m, n);
}

static void
random_step(void)
{
	const uint16_t ctx = (uint16_t)weft_rand_below(&w.r, CONNS);
	const unsigned int page = (unsigned int)weft_rand_below(&w.r, PAGES);

	w.now++;
	switch (weft_rand_below(&w.r, 10)) {
	case 0:
	case 1:
	case 2: random_burst(); break;
	case 3:
	case 4:
	case 5:
	case 6: answer_one((unsigned int)weft_rand_below(&w.r, QUESTIONS)); break;
	case 7:
		page_set(ctx, page,
			weft_rand_below(&w.r, 3) != 0
				? GOOD
				: (enum page_kind)weft_rand_below(&w.r, PAGE_KINDS));
		w.completed &= ~1u;
		invalidate(ctx, page, 0);
		break;
	default: idle(); break;
	}
	/* One invalidation at a time: it is completed when all that left before has passed. */
	weft_xlate_passed(w.x, weft_xlate_left(w.x));
	hear();
	assert_true((w.completed & 1) != 0);
	for (unsigned int i = 0; w.exact && w.in != w.out + count("refused") && i < 100000; i++) {
		answer_one((unsigned int)weft_rand_below(&w.r, QUESTIONS));
		idle();
	}
}

static void
run_script(const struct setup *s)
{
	start(s);
	w.completed = 1;
	for (unsigned int i = 0; i < STEPS; i++)
		random_step();
	assert_true(count("parked") > 100);
	for (unsigned int i = 0; i < 100000 && w.in != w.out + count("refused"); i++) {
		answer_one((unsigned int)weft_rand_below(&w.r, QUESTIONS));
		idle();
	}
	assert_int_equal(w.in, w.out + count("refused"));
	assert_int_equal(count("parked"), count("released"));
	assert_int_equal(weft_xlate_waiting(w.x) + weft_xlate_ready(w.x), 0);
	assert_true(weft_xlate_most(w.x) <= s->places);
	stop();
}

WEFT_TEST(nothing_is_lost_or_let_through)
{
	static const struct {
		uint32_t entries;
		uint16_t places, share;
		bool exact;
	} sizes[] = { { 512, 300, 50, true }, { 8, 300, 50, true }, { 512, 300, 50, false },
		{ 8, 300, 50, false }, { 512, 9, 3, false },
		{ 16, PLACES_MAX, PLACES_MAX, false } };

	for (unsigned int h = 0; h < weft_req_scan_n_kernels; h++)
		for (unsigned int a = 0; a < weft_atc_n_kernels; a++) {
			if (!weft_kernel_usable(&weft_req_scan_kernels[h].k, weft_cpu_detect()) ||
				!weft_kernel_usable(&weft_atc_kernels[a].k, weft_cpu_detect()))
				continue;
			for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(sizes); i++) {
				const struct setup s = { &weft_req_scan_kernels[h],
					&weft_atc_kernels[a], sizes[i].entries, sizes[i].places,
					sizes[i].share, sizes[i].exact };

				run_script(&s);
			}
		}
}

int
main(void)
{
	test_eal_start(NULL);
	w.pool = test_pool("wait", 2047, FLITS_MAX);
	weft_test_seed(&w.r, "route_wait");
	return weft_test_run();
}
