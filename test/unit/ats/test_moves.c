/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two clients and their agent over a fabric in which anything may overtake anything but a packet of
 * its own class: pages move and their old places are wiped while the clients read and write them,
 * sessions end and begin, packets get lost with them. Every read is compared with what was written
 * last. With the fence taken away the same run must go wrong, or the test could not see it.
 */

#include "weft_test.h"

#include "weft_ats_agent.h"
#include "weft_xlate.h"
#include "weft_ats_ta.h"
#include "weft_ats_wire.h"

#define CLIENTS 2
#define TAGS 16
#define PAGES 8 /* that move; behind them one that may only be read, and one given on demand */
#define LINES ((PAGES + 2) * 64)
#define VA UINT64_C(0x40000)
#define PA UINT64_C(0x10000000000)
#define SECOND UINT64_C(0x80000)
#define MEMORY 0x100000
#define LINE 64
#define LATEST 3000 /* ns that a request is on its way to memory, at most */
#define FENCE 4000
#define QUEUE 4096
#define AGENT_ID 0x100
#define STEPS 300000

enum { TO_AGENT, TO_CLIENT };

struct packet {
	size_t len;
	uint8_t bytes[WEFT_ATS_PACKET_MAX];
};

struct queue {
	uint32_t head, tail;
	struct packet packet[QUEUE];
};

/* A request of CXL.mem on its way; op: of the agent's copy. */
struct flight {
	struct weft_msg msg;
	struct weft_ats_agent_op op;
	uint64_t until_ns;
	int client; /* -1: the agent */
	bool used;
};

struct line {
	uint64_t version;
	bool busy;
};

static struct {
	struct weft_rand rand;
	uint8_t *memory;
	struct weft_xlate *client[CLIENTS];
	struct weft_ats_agent *agent;
	struct queue request[CLIENTS], posted[CLIENTS][2], completion[CLIENTS];
	struct flight flight[CLIENTS * TAGS + 64];
	struct line line[CLIENTS][LINES];
	int tag[CLIENTS][TAGS]; /* line of an open request, or -1 */
	bool is_write[CLIENTS][TAGS];
	bool up[CLIENTS];
	uint64_t now_ns, seed;
	uint64_t wrong, verified, refused, losses, put_back;
	uint64_t period_ns; /* 0: 2000 */
	bool is_still; /* only the page given on demand moves, one of each client */
} w;

static unsigned int
below(unsigned int n)
{
	return (unsigned int)weft_rand_below(&w.rand, n);
}

static uint8_t *
at(uint64_t pa)
{
	assert_true(pa >= PA && pa - PA <= MEMORY - LINE);
	return w.memory + (pa - PA);
}

static void
fill(uint8_t *data, unsigned int client, unsigned int line, uint64_t version)
{
	const uint64_t word[3] = { client, line, version };

	memset(data, 0, LINE);
	if (version != 0)
		memcpy(data, word, sizeof(word));
}

/* --- packets --- */

static void
push(struct queue *q, const uint8_t *bytes, size_t len)
{
	struct packet *p = &q->packet[q->tail++ % QUEUE];

	assert_true(q->tail - q->head <= QUEUE);
	p->len = len;
	memcpy(p->bytes, bytes, len);
}

static const struct packet *
pop(struct queue *q)
{
	return q->head == q->tail ? NULL : &q->packet[q->head++ % QUEUE];
}

static void
collect(void)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	uint16_t to;
	size_t len;

	for (unsigned int c = 0; c < CLIENTS; c++) {
		if (!w.up[c])
			continue;
		while ((len = weft_xlate_send_request(w.client[c], buf, sizeof(buf), w.now_ns)) !=
			0)
			push(&w.request[c], buf, len);
		while ((len = weft_xlate_send_posted(w.client[c], buf, sizeof(buf))) != 0)
			push(&w.posted[c][TO_AGENT], buf, len);
		while ((len = weft_ats_agent_send_posted(w.agent, c, buf, sizeof(buf), w.now_ns)) !=
			0)
			push(&w.posted[c][TO_CLIENT], buf, len);
	}
	while ((len = weft_ats_agent_send_answer(w.agent, buf, sizeof(buf), &to)) != 0)
		if (w.up[to])
			push(&w.completion[to], buf, len);
}

static void
deliver(void)
{
	const unsigned int c = below(CLIENTS), what = below(4);
	const struct packet *p = pop(what == 0   ? &w.request[c]
				     : what == 1 ? &w.completion[c]
						 : &w.posted[c][what & 1]);

	if (p == NULL)
		return;
	if (what == 0 || what == 2)
		assert_int_equal(
			weft_ats_agent_receive(w.agent, (uint16_t)c, p->bytes, p->len), WEFT_OK);
	else /* the answer to what was given up is nobody's */
		weft_xlate_receive(w.client[c], p->bytes, p->len, w.now_ns);
}

/* --- memory --- */

static struct flight *
take_off(int client)
{
	struct flight *f = w.flight;

	while (f->used)
		f++;
	assert_true(f < w.flight + WEFT_ARRAY_SIZE(w.flight));
	f->used = true;
	f->client = client;
	f->until_ns = w.now_ns + LATEST;
	return f;
}

static void
complete(unsigned int c, const struct weft_msg *m, const uint8_t *data)
{
	const unsigned int tag = m->tag % TAGS;
	const int i = w.tag[c][tag];
	uint8_t want[LINE];

	assert_true(i >= 0);
	fill(want, c, (unsigned int)i, w.line[c][i].version);
	if (!w.is_write[c][tag] && memcmp(want, data, LINE) != 0)
		w.wrong++;
	else
		w.verified++;
	w.line[c][i].busy = false;
	w.tag[c][tag] = -1;
}

static void
land(struct flight *f)
{
	struct weft_msg reply = { .kind = WEFT_MSG_S2M_DRS, .tag = f->msg.tag };

	f->used = false;
	if (f->client < 0) {
		uint8_t data[LINE];

		memcpy(data, at(f->op.hpa), LINE);
		if (f->op.data != NULL)
			memcpy(at(f->op.hpa), f->op.data, LINE);
		weft_ats_agent_op_done(
			w.agent, f->op.cookie, WEFT_ATS_AGENT_OP_DONE, data, w.now_ns);
		return;
	}
	memcpy(reply.data, at(f->msg.addr), LINE);
	if (f->msg.kind == WEFT_MSG_M2S_RWD) {
		memcpy(at(f->msg.addr), f->msg.data, LINE);
		reply.kind = WEFT_MSG_S2M_NDR;
	}
	if (weft_xlate_response(w.client[f->client], &reply))
		complete((unsigned int)f->client, &reply, reply.data);
}

static void
memory(void)
{
	struct flight *f = &w.flight[below(WEFT_ARRAY_SIZE(w.flight))];
	struct weft_ats_agent_op op;

	if (f->used)
		land(f);
	for (f = w.flight; f < w.flight + WEFT_ARRAY_SIZE(w.flight); f++)
		if (f->used && w.now_ns >= f->until_ns)
			land(f);
	if (weft_ats_agent_op(w.agent, w.now_ns, &op)) {
		weft_ats_agent_op_begun(w.agent, op.cookie);
		take_off(-1)->op = op;
	}
}

/* --- requests --- */

static void
begin(unsigned int c)
{
	const unsigned int tag = below(TAGS), line = below(LINES);
	struct weft_msg m = { .kind = WEFT_MSG_M2S_REQ, .tag = (uint16_t)tag };
	const bool is_closed = line / 64 == PAGES;

	if (w.tag[c][tag] >= 0 || w.line[c][line].busy)
		return;
	w.is_write[c][tag] = below(2) == 0;
	w.tag[c][tag] = (int)line;
	w.line[c][line].busy = true;
	m.addr = VA + line * LINE;
	if (w.is_write[c][tag]) {
		m.kind = WEFT_MSG_M2S_RWD;
		fill(m.data, c, line, w.line[c][line].version + 1);
		/* What is refused must not arrive. */
		w.line[c][line].version += !is_closed;
	}
	assert_int_equal(weft_xlate_submit(w.client[c], &m, w.now_ns), 0);
}

/* What was refused is answered. */
static void
refuse(unsigned int c, struct weft_msg *m)
{
	assert_true(m->kind == WEFT_MSG_M2S_RWD);
	assert_int_equal((m->addr - VA) / 4096, PAGES);
	w.refused++;
	m->kind = WEFT_MSG_S2M_NDR;
	assert_true(weft_xlate_response(w.client[c], m));
	complete(c, m, NULL);
}

/* A burst of any size; some of it cannot be sent after all. */
static void
send(unsigned int c)
{
	const unsigned int kinds = below(4);
	struct weft_xlate_out out[TAGS];
	unsigned int n;

	while ((n = weft_xlate_next(w.client[c], kinds, w.now_ns, out, 1 + below(TAGS))) != 0)
		for (unsigned int i = 0; i < n; i++) {
			if (out[i].is_refused) {
				refuse(c, &out[i].msg);
			} else if (below(8) == 0) {
				weft_xlate_put_back(w.client[c], out[i].msg.tag);
				w.put_back++;
			} else {
				weft_xlate_sent(w.client[c], out[i].msg.tag, 1);
				take_off((int)c)->msg = out[i].msg;
			}
		}
}

/* --- sessions --- */

static void
session(unsigned int c)
{
	w.up[c] = !w.up[c];
	if (w.up[c]) {
		weft_xlate_enable(w.client[c]);
		weft_ats_agent_up(w.agent, c);
		return;
	}
	w.losses++;
	for (unsigned int d = 0; d < 2; d++)
		w.posted[c][d].head = w.posted[c][d].tail;
	w.request[c].head = w.request[c].tail;
	w.completion[c].head = w.completion[c].tail;
	weft_xlate_reset(w.client[c], w.now_ns);
	weft_ats_agent_down(w.agent, c, w.now_ns);
}

static void *
room(size_t size)
{
	void *mem = NULL;

	assert_int_not_equal(size, 0);
	assert_int_equal(posix_memalign(&mem, 64, size), 0);
	return mem;
}

static void
world_begin(uint64_t fence_ns)
{
	static struct weft_ats_agent_map map[CLIENTS * 3];
	static const struct weft_ats_agent_client client[CLIENTS] = { { 0, 0 }, { 1, 0 } };
	struct weft_ats_agent_cfg cfg = {
		.timeout_ns = UINT64_C(1) << 40,
		.fence_ns = fence_ns,
		.period_ns = w.period_ns == 0 ? 2000 : w.period_ns,
		.map = map,
		.client = client,
		.n_maps = CLIENTS * 3,
		.n_clients = CLIENTS,
		.id = AGENT_ID,
		.max_concurrent = 4,
	};

	for (uint16_t c = 0; c < CLIENTS; c++) {
		const uint64_t pa = PA + c * UINT64_C(0x10000);
		const struct weft_xlate_cfg cc = {
			.answer_ns = 200000,
			.life_ns = UINT64_C(1) << 50,
			.entries = 8,
			.tags = TAGS,
			.id = c,
			.prefetch_degree = 4,
		};

		map[3 * c] = (struct weft_ats_agent_map){ VA, pa, PAGES * 4096,
			w.is_still ? 0 : pa + SECOND, c, 12, WEFT_ATS_R | WEFT_ATS_W, false };
		map[3 * c + 1] = (struct weft_ats_agent_map){ VA + PAGES * 4096, pa + PAGES * 4096,
			4096, 0, c, 12, WEFT_ATS_R, false };
		map[3 * c + 2] = (struct weft_ats_agent_map){ VA + (PAGES + 1) * 4096,
			pa + (PAGES + 1) * 4096, 4096, pa + SECOND + (PAGES + 1) * 4096, c, 12,
			WEFT_ATS_R | WEFT_ATS_W, true };
		w.client[c] = weft_xlate_init(room(weft_xlate_size(&cc)), &cc);
		assert_non_null(w.client[c]);
	}
	w.agent = weft_ats_agent_init(room(weft_ats_agent_size(&cfg)), &cfg);
	assert_non_null(w.agent);
	w.memory = calloc(1, MEMORY);
	memset(w.tag, 0xFF, sizeof(w.tag));
	for (unsigned int c = 0; c < CLIENTS; c++)
		session(c);
}

static void
world_end(void)
{
	for (unsigned int c = 0; c < CLIENTS; c++)
		free(w.client[c]);
	free(w.agent);
	free(w.memory);
}

static bool
is_quiet(void)
{
	for (unsigned int c = 0; c < CLIENTS; c++)
		for (unsigned int t = 0; t < TAGS; t++)
			if (w.tag[c][t] >= 0)
				return false;
	return true;
}

static void
step(bool is_over)
{
	for (unsigned int c = 0; c < CLIENTS; c++) {
		if (!is_over || !w.up[c])
			if ((is_over && !w.up[c]) || below(w.up[c] ? 3000 : 100) == 0)
				session(c);
		if (!is_over)
			begin(c);
		weft_xlate_time(w.client[c], w.now_ns);
		send(c);
	}
	weft_ats_agent_time(w.agent, w.now_ns);
	collect();
	for (unsigned int i = 0; i < 6; i++)
		deliver();
	for (unsigned int i = 0; i < 8; i++)
		memory();
	w.now_ns += below(100);
}

static void
run(uint64_t fence_ns, unsigned int steps)
{
	unsigned int left = 4000000;

	world_begin(fence_ns);
	for (unsigned int i = 0; i < steps && w.wrong == 0; i++)
		step(false);
	while (!is_quiet() && left-- != 0)
		step(true);
	assert_int_not_equal(left, UINT32_MAX);
}

/* No read is stale, nothing is lost, and all of it happened. */
WEFT_TEST(moving_pages_keep_their_data)
{
	const uint64_t *n;

	memset(&w, 0, sizeof(w));
	weft_test_seed(&w.rand, "moves");
	run(FENCE, weft_test_cases(STEPS));
	n = weft_ats_agent_counts(w.agent);
	printf("%llu requests, %llu moves, %llu sessions lost, %llu refused, %llu fenced, %llu "
	       "waited, %llu again\n",
		(unsigned long long)w.verified, (unsigned long long)n[WEFT_ATS_AGENT_N_MOVED],
		(unsigned long long)w.losses, (unsigned long long)w.refused,
		(unsigned long long)n[WEFT_ATS_AGENT_N_FENCED],
		(unsigned long long)n[WEFT_ATS_AGENT_N_WAITED],
		(unsigned long long)weft_xlate_counts(w.client[0])[WEFT_XLATE_N_AGAIN]);
	assert_int_equal(w.wrong, 0);
	if (!weft_test_is_again()) {
		assert_true(
			w.verified > 10000 && w.losses > 10 && w.refused > 10 && w.put_back > 100);
		assert_true(n[WEFT_ATS_AGENT_N_MOVED] > 100 && n[WEFT_ATS_AGENT_N_FENCED] > 0);
	}
	assert_int_equal(n[WEFT_ATS_AGENT_N_MOVED] + weft_ats_agent_moving(w.agent),
		n[WEFT_ATS_AGENT_N_MOVES]);
	assert_int_equal(n[WEFT_ATS_AGENT_N_PAGES], CLIENTS);
	assert_int_equal(n[WEFT_ATS_AGENT_N_HELD], 0);
	world_end();
}

/*
 * Two pages that are to move all the time, as often as can be: their users have them for three
 * quarters of it, but for what a move takes that no page waits for.
 */
WEFT_TEST(a_page_is_with_its_users_most_of_the_time)
{
	uint64_t moving_ns = 0;

	memset(&w, 0, sizeof(w));
	weft_test_seed(&w.rand, __func__);
	w.period_ns = 1;
	w.is_still = true;
	world_begin(FENCE);
	for (unsigned int i = 0; i < weft_test_cases(STEPS); i++) {
		const unsigned int moving = weft_ats_agent_moving(w.agent);
		const uint64_t before_ns = w.now_ns;

		step(false);
		moving_ns += moving * (w.now_ns - before_ns);
	}
	printf("%llu moves, away for %.1f %% of the time\n",
		(unsigned long long)weft_ats_agent_counts(w.agent)[WEFT_ATS_AGENT_N_MOVED],
		100 * (double)moving_ns / (double)(CLIENTS * w.now_ns));
	assert_int_equal(w.wrong, 0);
	assert_true(weft_test_is_again() ||
		    weft_ats_agent_counts(w.agent)[WEFT_ATS_AGENT_N_MOVED] > 20);
	assert_true(weft_test_is_again() || moving_ns * 100 <= 27 * CLIENTS * w.now_ns);
	world_end();
}

/* Where an old session's writes are not waited for, they land in a page that has moved. */
WEFT_TEST(without_a_fence_it_goes_wrong)
{
	uint64_t wrong = 0;

	/* Seeds below 3 do not show it, which takes seconds. */
	for (unsigned int i = 3; i < 20 && wrong == 0; i++) {
		memset(&w, 0, sizeof(w));
		weft_rand_seed(&w.rand, i);
		run(0, STEPS);
		wrong = w.wrong;
		world_end();
	}
	assert_true(wrong != 0);
}

/*
 * Of a page's first lines every other one is poison where it was: it is nowhere clean afterwards.
 */
static void
poison_is_copied_as_poison(struct weft_ats_agent *a, struct weft_ats_agent_op *op)
{
	static const uint8_t data[LINE] = { 7 };
	uint64_t at_ns = 2000000, done = 0;

	do {
		const unsigned int line = (unsigned int)(op->hpa % 4096 / LINE);
		const bool is_copy = op->data != NULL && op->hpa >= PA + SECOND;

		assert_int_equal(op->is_poison, is_copy && line % 2 == 0);
		weft_ats_agent_op_begun(a, op->cookie);
		weft_ats_agent_op_done(a, op->cookie,
			op->data == NULL && line % 2 == 0 ? WEFT_ATS_AGENT_OP_POISON
							  : WEFT_ATS_AGENT_OP_DONE,
			data, at_ns);
		done++;
	} while (weft_ats_agent_op(a, at_ns++, op));
	assert_int_equal(done, 3 * 4096 / LINE);
}

/* A client that does not complete: its page is not reused until its session has ended. */
WEFT_TEST(silent_client_holds_its_page)
{
	static const struct weft_ats_agent_client client = { 7, 0 };
	static const struct weft_ats_agent_map map = { VA, PA, 8192, PA + SECOND, 0, 12,
		WEFT_ATS_R | WEFT_ATS_W, false };
	const struct weft_ats_agent_cfg cfg = { .timeout_ns = 1000,
		.fence_ns = 500,
		.period_ns = 100,
		.map = &map,
		.client = &client,
		.n_maps = 1,
		.n_clients = 1,
		.id = AGENT_ID,
		.max_concurrent = 1 };
	struct weft_ats_agent *a = weft_ats_agent_init(room(weft_ats_agent_size(&cfg)), &cfg);
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	struct weft_ats_agent_op op;

	weft_ats_agent_up(a, 0);
	weft_ats_agent_time(a, 100);
	assert_int_not_equal(weft_ats_agent_send_posted(a, 0, buf, sizeof(buf), 100), 0);
	weft_ats_agent_time(a, 1099);
	assert_int_equal(weft_ats_agent_stuck(a), 0);
	weft_ats_agent_time(a, 1100);
	assert_int_equal(weft_ats_agent_stuck(a), 1);
	assert_int_equal(weft_ats_agent_isolated(a), 1);
	assert_int_equal(weft_ats_agent_isolated(a), 0);
	weft_ats_agent_time(a, 1000000);
	assert_false(weft_ats_agent_op(a, 1000000, &op));
	weft_ats_agent_down(a, 0, 1000000);
	weft_ats_agent_time(a, 1000499);
	assert_int_equal(weft_ats_agent_stuck(a), 0);
	assert_false(weft_ats_agent_op(a, 1000499, &op));
	weft_ats_agent_time(a, 1000500);
	assert_true(weft_ats_agent_op(a, 1000500, &op));
	assert_int_equal(op.hpa, PA);
	assert_null(op.data);
	poison_is_copied_as_poison(a, &op);
	free(a);
}

static size_t
pass(size_t len)
{
	assert_int_not_equal(len, 0);
	return len;
}

/* A client that completes late is isolated until then, and no longer. */
WEFT_TEST(late_client_comes_back)
{
	static const struct weft_ats_agent_client client = { 7, 0 };
	static const struct weft_ats_agent_map map = { VA, PA, 4096, PA + SECOND, 0, 12,
		WEFT_ATS_R | WEFT_ATS_W, false };
	const struct weft_ats_agent_cfg cfg = { .timeout_ns = 1000,
		.fence_ns = 500,
		.period_ns = 100000,
		.map = &map,
		.client = &client,
		.n_maps = 1,
		.n_clients = 1,
		.id = AGENT_ID,
		.max_concurrent = 1 };
	const struct weft_xlate_cfg cc = { .answer_ns = 2000,
		.life_ns = 1u << 30,
		.entries = 8,
		.tags = 4,
		.id = 7,
		.prefetch_degree = 1 };
	struct weft_ats_agent *a = weft_ats_agent_init(room(weft_ats_agent_size(&cfg)), &cfg);
	struct weft_xlate *c = weft_xlate_init(room(weft_xlate_size(&cc)), &cc);
	uint8_t late[WEFT_ATS_PACKET_MAX], buf[WEFT_ATS_PACKET_MAX];
	const struct weft_msg m = { .kind = WEFT_MSG_M2S_REQ, .addr = VA };
	struct weft_ats_agent_op op;
	struct weft_xlate_out out;
	size_t late_len, len;
	uint16_t to;

	weft_ats_agent_up(a, 0);
	weft_xlate_enable(c);
	weft_ats_agent_time(a, 1);
	late_len = pass(weft_ats_agent_send_posted(a, 0, late, sizeof(late), 1));
	weft_ats_agent_time(a, 1001);
	assert_int_equal(weft_ats_agent_stuck(a), 1);
	assert_int_equal(weft_xlate_submit(c, &m, 1001), 0);
	assert_int_equal(weft_xlate_next(c, 3, 1001, &out, 1), 0);
	len = pass(weft_xlate_send_request(c, buf, sizeof(buf), 1001));
	assert_int_equal(weft_ats_agent_receive(a, 7, buf, len), WEFT_OK);
	len = pass(weft_ats_agent_send_answer(a, buf, sizeof(buf), &to));
	assert_int_equal(weft_xlate_receive(c, buf, len, 1001), WEFT_OK);
	weft_xlate_time(c, 1002);
	assert_int_equal(weft_xlate_counts(c)[WEFT_XLATE_N_ISOLATED], 1);
	assert_int_equal(weft_xlate_next(c, 3, 1002, &out, 1), 0);
	assert_int_equal(weft_xlate_send_request(c, buf, sizeof(buf), 1002), 0);
	/* Now the Invalidate Request. */
	assert_int_equal(weft_xlate_receive(c, late, late_len, 1002), WEFT_OK);
	len = pass(weft_xlate_send_posted(c, buf, sizeof(buf)));
	assert_int_equal(weft_ats_agent_receive(a, 7, buf, len), WEFT_OK);
	weft_ats_agent_time(a, 1003);
	assert_int_equal(weft_ats_agent_stuck(a), 0);
	assert_true(weft_ats_agent_op(a, 1003, &op));
	weft_xlate_time(c, 3002);
	assert_int_equal(weft_xlate_next(c, 3, 3002, &out, 1), 0);
	pass(weft_xlate_send_request(c, buf, sizeof(buf), 3002));
	free(a);
	free(c);
}
