/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Three hosts and two GFDs joined by a channel that delays each message at random, and loses,
 * doubles and holds back some. Every message passes through a flit on its way. Every request must
 * end exactly once and every line must hold what was written; if the GFDs cheat, it must show.
 *
 * What the channel does not do, because no connection does: let a request's double arrive behind a
 * later request for the same line.
 */

#include "weft_test.h"

#include "weft_gfd.h"
#include "weft_mem_requester.h"
#include "weft_traffic.h"

#define HOSTS 3
#define GFDS 2
#define GFD_PID 0x100
#define LINES 24
#define REQUESTS 34000 /* a host */
#define TAGS 16
#define TIMEOUT 1000
#define QUARANTINE 200
#define DELAY 100 /* most, each way */
/*
 * A response is held back 3 timeouts at most. An entry's tag comes round after 65536 / TAGS uses of
 * at least two steps of time, which is more, so that no response can meet its tag's next owner.
 */
#define HOLD_BACK (3 * TIMEOUT)
/* An overdue request arrives this long after its timeout at most, a DELAY not counted. */
#define OVERDUE (2 * TIMEOUT)
#define EVENTS 1024

static_assert(65536 / TAGS * 2 > DELAY + TIMEOUT + OVERDUE + HOLD_BACK,
	"a tag must not come round that fast");

struct faults {
	unsigned int lose, twice, late; /* in 1000 messages */
	unsigned int forget; /* in 1000 writes: completed and not executed */
	unsigned int overdue; /* in 1000 requests: arrive after their timeout */
	uint64_t rest; /* what the traffic allows for that, in steps of time */
};

struct event {
	uint64_t at;
	uint64_t order; /* among those of the same time */
	struct weft_msg msg;
};

struct host {
	struct weft_requester *host;
	struct weft_traffic *traffic;
	bool open[GFDS * LINES]; /* ledger by cookie, kept apart from the library's own */
	uint64_t begun, ended;
};

static struct {
	struct faults faults;
	struct weft_rand rand;
	uint64_t now, order;
	unsigned int n_events, most_events;
	struct event event[EVENTS];
	struct host host[HOSTS];
	struct weft_gfd gfd[GFDS];
	uint8_t mem[GFDS][HOSTS * LINES * 64];
	uint64_t poison[GFDS][HOSTS];
} lab;

static bool
one_in_1000(unsigned int share)
{
	return weft_rand_below(&lab.rand, 1000) < share;
}

static void
schedule(const struct weft_msg *m, uint64_t at)
{
	struct event *e = &lab.event[lab.n_events++];

	assert_true(lab.n_events < EVENTS);
	e->at = at;
	e->order = lab.order++;
	e->msg = *m;
}

static uint64_t
arrival(void)
{
	return lab.now + 1 + weft_rand_below(&lab.rand, DELAY);
}

static void
send_request(const struct weft_msg *m)
{
	uint64_t at = arrival();

	if (one_in_1000(lab.faults.lose))
		return;
	if (one_in_1000(lab.faults.overdue))
		at += TIMEOUT + weft_rand_below(&lab.rand, OVERDUE);
	schedule(m, at);
	if (one_in_1000(lab.faults.twice))
		schedule(m, at);
}

static void
send_response(const struct weft_msg *m)
{
	if (one_in_1000(lab.faults.lose))
		return;
	schedule(m, one_in_1000(lab.faults.late)
			    ? lab.now + 1 + weft_rand_below(&lab.rand, HOLD_BACK)
			    : arrival());
	if (one_in_1000(lab.faults.twice))
		schedule(m, lab.now + 1 + weft_rand_below(&lab.rand, HOLD_BACK));
}

static void
keep_msg(void *arg, const struct weft_msg *m)
{
	struct weft_msg *out = arg;

	assert_int_equal(out->dpid, 0); /* one message in, one out */
	*out = *m;
}

static struct weft_msg
through_a_flit(const struct weft_msg *m)
{
	static struct weft_packer p;
	static struct weft_unpacker u;
	uint8_t flit[256];
	struct weft_msg out = { 0 };

	weft_pack_init(&p, WEFT_FORM_PBR);
	weft_unpack_init(&u, WEFT_FORM_PBR, NULL);
	weft_pack_begin(&p, flit, false);
	assert_int_equal(weft_pack_msg(&p, m), 0);
	assert_false(weft_pack_end(&p));
	assert_int_equal(weft_unpack_flit(&u, flit, keep_msg, &out), WEFT_OK);
	assert_int_equal(out.dpid, m->dpid);
	return out;
}

static void
note_end(struct host *h, const struct weft_completion *c)
{
	assert_true(h->open[c->cookie]);
	h->open[c->cookie] = false;
	h->ended++;
	weft_traffic_complete(h->traffic, c);
}

static void
on_lost(void *arg, const struct weft_completion *c)
{
	note_end(arg, c);
}

static void
deliver(const struct weft_msg *sent)
{
	const struct weft_msg m = through_a_flit(sent);
	struct weft_completion c;
	struct weft_msg reply, dropped = m;
	struct host *h;

	if (m.kind == WEFT_MSG_M2S_REQ || m.kind == WEFT_MSG_M2S_RWD) {
		if (m.kind == WEFT_MSG_M2S_RWD && one_in_1000(lab.faults.forget))
			dropped.addr = 0; /* in no GFD: completed all the same */
		assert_int_equal(
			weft_gfd_request(&lab.gfd[m.dpid - GFD_PID], &dropped, &reply), WEFT_OK);
		send_response(&reply);
		return;
	}
	h = &lab.host[m.dpid];
	if (weft_mem_response(h->host, &m, lab.now, &c) == WEFT_OK)
		note_end(h, &c);
}

/* Deliver the next message, or let time pass if there is none. */
static void
advance(void)
{
	unsigned int next = 0;
	struct event e;

	if (lab.n_events > lab.most_events)
		lab.most_events = lab.n_events;
	if (lab.n_events == 0) {
		lab.now += DELAY;
		return;
	}
	for (unsigned int i = 1; i < lab.n_events; i++) {
		const struct event *a = &lab.event[i], *b = &lab.event[next];

		if (a->at < b->at || (a->at == b->at && a->order < b->order))
			next = i;
	}
	e = lab.event[next];
	lab.event[next] = lab.event[--lab.n_events];
	lab.now = e.at;
	deliver(&e.msg);
}

/* The cookie is the source's own; an open line tells which request is meant. */
static void
note_begin(struct host *h, const struct weft_msg *m)
{
	const unsigned int gfd = m->dpid - GFD_PID;
	const uint64_t line = (m->addr - lab.gfd[gfd].hpa_base) / 64 % LINES;

	assert_false(h->open[gfd * LINES + line]);
	h->open[gfd * LINES + line] = true;
	h->begun++;
}

static bool
all_done(void)
{
	bool done = true;

	for (unsigned int i = 0; i < HOSTS; i++) {
		struct host *h = &lab.host[i];
		struct weft_request rq;
		struct weft_msg m;

		(void)weft_requester_expire(h->host, lab.now, on_lost, h, 4);
		while (weft_traffic_next(h->traffic, lab.now, &rq) == 0) {
			weft_mem_request(h->host, &rq, &m);
			note_begin(h, &m);
			send_request(&m);
		}
		done &= weft_traffic_done(h->traffic);
	}
	return done;
}

static void
lab_new(const char *what, const struct faults *faults)
{
	const struct weft_requester_cfg host_cfg = { TIMEOUT, QUARANTINE, TAGS, 0, NULL, 0, 0 };
	struct weft_traffic_target targets[GFDS];
	struct weft_traffic_cfg cfg = {
		.requests = REQUESTS,
		.targets = targets,
		.n_targets = GFDS,
		.lines = LINES,
		.unit_lines = 1,
		.request_lines = 1,
		.outstanding = TAGS,
		.write_percent = 40,
		.write_quarantine_ns = faults->rest,
	};

	memset(&lab, 0, sizeof(lab));
	lab.faults = *faults;
	weft_test_seed(&lab.rand, what);
	cfg.seed = weft_rand_u64(&lab.rand);
	for (unsigned int i = 0; i < GFDS; i++) {
		targets[i] = (struct weft_traffic_target){
			.hpa_base = (UINT64_C(1) + i) << 36,
			.len_bytes = sizeof(lab.mem[i]),
			.dpid = (uint16_t)(GFD_PID + i),
		};
		assert_int_equal(weft_gfd_init(&lab.gfd[i], targets[i].dpid, targets[i].hpa_base,
					 lab.mem[i], sizeof(lab.mem[i]), lab.poison[i]),
			0);
	}
	for (uint16_t i = 0; i < HOSTS; i++) {
		struct host *h = &lab.host[i];
		struct weft_requester_cfg c = host_cfg;

		c.id = i;
		cfg.writer = i;
		cfg.first_line = i * cfg.lines;
		h->host = weft_requester_init(aligned_alloc(64, weft_requester_size(&c)), &c);
		/* Fewer than the tags together, so that tags and credits both run out. */
		for (unsigned int k = 0; k < GFDS; k++)
			assert_int_equal(weft_requester_grant(h->host, targets[k].dpid, 6, 4), 0);
		h->traffic = weft_traffic_init(
			aligned_alloc(64, weft_traffic_size(&cfg)), &cfg, h->host);
		assert_non_null(h->traffic);
	}
}

static void
run(void)
{
	while (!all_done())
		advance();
	while (lab.n_events > 0) /* stragglers after the end must end nothing */
		advance();
}

static uint64_t
host_sum(enum weft_mem_counter i)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < HOSTS; k++)
		sum += weft_requester_counts(lab.host[k].host)[i];
	return sum;
}

static uint64_t
traffic_sum(enum weft_traffic_counter i)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < HOSTS; k++)
		sum += weft_traffic_counts(lab.host[k].traffic)[i];
	return sum;
}

/* True of every run, whatever the channel did. */
static void
expect_ledger_balanced(void)
{
	const uint64_t lost = host_sum(WEFT_MEM_N_READS_LOST) + host_sum(WEFT_MEM_N_WRITES_LOST);

	for (unsigned int i = 0; i < HOSTS; i++) {
		const struct host *h = &lab.host[i];

		assert_int_equal(h->begun, h->ended);
		assert_true(h->begun > REQUESTS);
		assert_int_equal(weft_requester_outstanding(h->host), 0);
		for (unsigned int k = 0; k < GFDS * LINES; k++)
			assert_false(h->open[k]);
	}
	assert_int_equal(host_sum(WEFT_MEM_N_READS) + host_sum(WEFT_MEM_N_WRITES),
		host_sum(WEFT_MEM_N_READS_DONE) + host_sum(WEFT_MEM_N_WRITES_DONE) + lost);
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_LOST), lost);
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_UNCERTAIN), host_sum(WEFT_MEM_N_WRITES_LOST));
	assert_int_equal(host_sum(WEFT_MEM_N_READS_DONE),
		traffic_sum(WEFT_TRAFFIC_N_VERIFIED) + traffic_sum(WEFT_TRAFFIC_N_MISMATCHES));
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_FAILED), 0);
	assert_int_equal(host_sum(WEFT_MEM_N_NOT_MINE), 0);
	assert_int_equal(host_sum(WEFT_MEM_N_BAD_OPCODE), 0);
	assert_int_equal(host_sum(WEFT_MEM_N_WRONG_CLASS), 0);
	assert_true(host_sum(WEFT_MEM_N_NO_CREDIT) > 0);
}

static void
lab_free(void)
{
	for (unsigned int i = 0; i < HOSTS; i++) {
		free(lab.host[i].traffic);
		free(lab.host[i].host);
	}
}

WEFT_TEST(reordering_channel_loses_nothing)
{
	const struct faults none = { 0 };

	lab_new("reordering", &none);
	run();
	expect_ledger_balanced();
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_LOST), 0);
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_MISMATCHES), 0);
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_SWEPT), HOSTS * GFDS * LINES);
	assert_int_equal(host_sum(WEFT_MEM_N_LATE) + host_sum(WEFT_MEM_N_UNMATCHED), 0);
	assert_true(lab.most_events > HOSTS * TAGS / 2); /* many were open at once */
	lab_free();
}

WEFT_TEST(bad_channel_ends_every_request_once_and_corrupts_none)
{
	const struct faults faults = { .lose = 5, .twice = 20, .late = 20 };

	lab_new("lossy", &faults);
	run();
	expect_ledger_balanced();
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_MISMATCHES), 0);
	assert_true(host_sum(WEFT_MEM_N_READS_LOST) > 100);
	assert_true(host_sum(WEFT_MEM_N_WRITES_LOST) > 100);
	/* About 135 with a deviation of 11: the bound is 6 of them away. */
	assert_true(host_sum(WEFT_MEM_N_LATE) > 66);
	assert_true(host_sum(WEFT_MEM_N_UNMATCHED) > 100);
	lab_free();
}

WEFT_TEST(overdue_writes_undo_nothing_while_lines_rest)
{
	const struct faults faults = {
		.lose = 2, .twice = 20, .late = 20, .overdue = 20, .rest = OVERDUE + DELAY
	};

	lab_new("overdue", &faults);
	run();
	expect_ledger_balanced();
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_MISMATCHES), 0);
	assert_true(host_sum(WEFT_MEM_N_WRITES_LOST) > 500);
	lab_free();
}

/* The same channel without the rest, so that the case above is known to try something. */
WEFT_TEST(overdue_writes_undo_later_ones_without_a_rest)
{
	const struct faults faults = { .overdue = 20 };

	lab_new("overdue, no rest", &faults);
	run();
	expect_ledger_balanced();
	assert_true(traffic_sum(WEFT_TRAFFIC_N_STALE) > 0);
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_STALE), traffic_sum(WEFT_TRAFFIC_N_MISMATCHES));
	lab_free();
}

WEFT_TEST(gfd_that_forgets_writes_is_found_out)
{
	const struct faults faults = { .lose = 2, .forget = 5 };

	lab_new("forgetful", &faults);
	run();
	expect_ledger_balanced();
	assert_true(traffic_sum(WEFT_TRAFFIC_N_STALE) > 50);
	assert_int_equal(traffic_sum(WEFT_TRAFFIC_N_STALE), traffic_sum(WEFT_TRAFFIC_N_MISMATCHES));
	lab_free();
}
