/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Nodes in a world of one thread that hands their frames over by itself: sessions come up, requests
 * are answered and checked, a session that ends takes requests with it, and memory that is new is
 * met.
 */

#include "weft_test.h"

#include "toy.h"
#include "weft_requester.h"
#include "weft_uio.h"

WEFT_TEST(every_kind_of_a_file_is_one_row)
{
	static const uint8_t kinds[] = { WEFT_TOPO_HOST, WEFT_TOPO_SWITCH, WEFT_TOPO_GFD,
		WEFT_TOPO_DEVICE };
	unsigned int found = 0;

	for (unsigned int mode = 0; mode < 2; mode++)
		for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(kinds); k++) {
			struct weft_topo_node node = { .kind = kinds[k] };
			const struct weft_topo t = { .node = &node, .mode = (uint8_t)mode };

			found = 0;
			assert_non_null(weft_node_kind_of(&t, 0));
			for (unsigned int i = 0; i < weft_node_n_kinds; i++)
				found += weft_node_kinds[i]->topo_kind == kinds[k] &&
				         (weft_node_kinds[i]->modes >> mode & 1) != 0;
			assert_int_equal(found, 1);
		}
	for (unsigned int i = 0; i < weft_node_n_kinds; i++) {
		const struct weft_node_kind *k = weft_node_kinds[i];

		assert_true(k->name != NULL && k->poll != NULL);
		assert_int_equal(k->has_links, k->message != NULL);
		assert_int_equal(k->has_links, k->packet != NULL);
		assert_int_equal(k->has_links, k->link != NULL);
	}
	for (unsigned int i = 0; i < weft_node_n_services; i++) {
		const struct weft_node_service *s = weft_node_services[i];

		assert_true(s->name != NULL && s->init != NULL && s->fini != NULL);
		/* Who sends by CXL.mem has tags and hears the end of each. */
		assert_true(s->next == NULL || (s->tags != NULL && s->complete != NULL));
	}
}

#define NODES_YAML                                                                                 \
	"defaults: {mtu: 1042}\n"                                                                  \
	"nodes:\n"                                                                                 \
	"  - {name: h0, kind: host, pid: 0x101}\n"                                                 \
	"  - {name: s0, kind: switch, pid: 0x010}\n"                                               \
	"  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}\n"                                      \
	"links:\n"                                                                                 \
	"  - {a: h0, b: s0}\n"                                                                     \
	"  - {a: s0, b: g0}\n"

static const char rxl[] = "fabric: toy\n" NODES_YAML
			  "workloads: [{on: h0, kind: mem, seed: 1, requests: 3000, lines: 64}]\n";
static const char cxl[] = "fabric: toy\nmode: cxl\n" NODES_YAML
			  "workloads: [{on: h0, kind: mem, seed: 1, requests: 3000, lines: 64}]\n";
static const char uio[] = "fabric: toy\n" NODES_YAML
			  "workloads: [{on: h0, kind: uio, seed: 1, requests: 1000, lines: 64}]\n";
static const char on[] =
	"fabric: toy\n" NODES_YAML
	"workloads: [{on: h0, kind: mem, seed: 1, requests: 0, lines: 64, outstanding: 8}]\n";

static void
check_answers(const char *yaml)
{
	struct weft_node *h, *g;
	struct toy w;

	toy_init(&w, yaml);
	h = toy_node(&w, "h0");
	g = toy_node(&w, "g0");
	assert_false(weft_node_is_up(h));
	toy_run(&w, h);
	assert_true(weft_node_is_up(h));
	assert_true(weft_node_is_good(h));
	assert_true(toy_count(h, NULL, "traffic", "verified") > 500);
	/* Each was executed once. */
	assert_int_equal(
		toy_count(g, NULL, "memory", "reads") + toy_count(g, NULL, "memory", "writes"),
		toy_count(h, NULL, "traffic", "reads") + toy_count(h, NULL, "traffic", "writes"));
	toy_fini(&w);
}

WEFT_TEST(a_host_is_answered_by_a_gfd)
{
	check_answers(rxl);
}

WEFT_TEST(a_switch_that_ends_links_forwards)
{
	check_answers(cxl);
}

/* However late the others are. */
WEFT_TEST(nothing_is_sent_before_links_are_up)
{
	static const char *const yaml[] = { rxl, cxl, uio };
	struct weft_node_requests r;
	struct toy w;

	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(yaml); k++) {
		struct weft_node *h;

		toy_init(&w, yaml[k]);
		h = toy_node(&w, "h0");
		w.is_cut = true;
		toy_steps(&w, 1000);
		assert_true(weft_node_mem(h, &r) || weft_node_uio(h, &r));
		assert_int_equal(weft_requester_outstanding(r.requester), 0);
		toy_fini(&w);
	}
}

/* But for a while at most: one that never comes holds up none of the others. */
WEFT_TEST(a_host_does_without_a_gfd_that_never_comes)
{
	static const char two[] =
		"fabric: toy\n"
		"nodes:\n"
		"  - {name: h0, kind: host, pid: 0x101}\n"
		"  - {name: s0, kind: switch, pid: 0x010}\n"
		"  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}\n"
		"  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}\n"
		"links:\n  - {a: h0, b: s0}\n  - {a: s0, b: g0}\n  - {a: s0, b: g1}\n"
		"workloads: [{on: h0, kind: mem, seed: 1, requests: 0, lines: 64}]\n";
	const unsigned int second = 1000000000 / TOY_STEP_NS;
	struct weft_node *h, *g;
	struct toy w;

	toy_init(&w, two);
	h = toy_node(&w, "h0");
	g = toy_node(&w, "g0");
	w.away = toy_node(&w, "g1");
	toy_steps(&w, second / 2);
	assert_int_equal(h->link[0].state, WEFT_NODE_UP);
	assert_int_equal(toy_count(h, NULL, "traffic", "reads"), 0);
	toy_steps(&w, second);
	assert_true(toy_count(g, NULL, "memory", "reads") > 1000);
	assert_false(weft_node_has_met(h));
	w.away = NULL;
	toy_steps(&w, second / 2);
	assert_true(weft_node_has_met(h));
	assert_true(toy_count(toy_node(&w, "g1"), NULL, "memory", "reads") > 1000);
	assert_int_equal(toy_count(h, NULL, "traffic", "lost"), 0);
	toy_fini(&w);
}

WEFT_TEST(uio_is_a_service_of_both)
{
	struct weft_node *h;
	struct toy w;

	toy_init(&w, uio);
	h = toy_node(&w, "h0");
	toy_run(&w, h);
	assert_true(weft_node_is_good(h));
	assert_true(toy_count(h, "uio", "traffic", "verified") > 100);
	assert_true(toy_count(toy_node(&w, "g0"), "uio", "memory", "reads") > 100);
	toy_fini(&w);
}

/*
 * With one credit most of an answer waits, which of a host's memory has two packets; then whoever
 * asked for it starts again, with the same tags.
 */
WEFT_TEST(an_answer_by_uio_goes_with_its_session)
{
	static const char yaml[] =
		"fabric: toy\n"
		"defaults: {cxl_io: 1, mtu: 1042}\n"
		"segments: [{gim: h1, size: 1M}]\n"
		"nodes:\n"
		"  - {name: h0, kind: host, pid: 1}\n"
		"  - {name: h1, kind: host, pid: 2, gim: 1M, egress_prefix: true,\n"
		"     windows: [{nodes: [h0]}]}\n"
		"  - {name: s0, kind: switch, pid: 0x10}\n"
		"links: [{a: h0, b: s0}, {a: h1, b: s0}]\n"
		"workloads: [{on: h0, kind: uio, seed: 1, requests: 0, lines: 4096, bytes: 256}]\n";
	struct toy w;

	toy_init(&w, yaml);
	for (unsigned int i = 0; i < 8; i++) {
		toy_steps(&w, 2000 + i);
		assert_int_equal(w.at[0].node.drops[WEFT_DROP_NO_TAG], 0);
		assert_int_not_equal(toy_count(&w.at[0].node, "uio", "traffic", "reads"), 0);
		toy_end(&w.at[0]);
		toy_begin(&w, 0);
	}
	toy_fini(&w);
}

WEFT_TEST(a_session_that_ends_takes_its_requests)
{
	struct weft_node_requests r;
	struct weft_node *h;
	uint64_t lost, reads;
	struct toy w;

	toy_init(&w, on);
	h = toy_node(&w, "h0");
	toy_steps(&w, 2000);
	assert_int_equal(h->link[0].state, WEFT_NODE_UP);
	/* Stalled, they do not grow older; then it is over, and they with it. */
	w.is_cut = true;
	toy_steps(&w, 100000);
	assert_true(weft_node_mem(h, &r) && weft_requester_outstanding(r.requester) != 0);
	assert_int_equal(toy_count(h, NULL, "traffic", "lost"), 0);
	toy_idle(&w, UINT64_C(9000000000));
	assert_int_not_equal(h->link[0].state, WEFT_NODE_UP);
	assert_int_equal(weft_requester_outstanding(r.requester), 0);
	lost = toy_count(h, NULL, "traffic", "lost");
	assert_true(lost != 0);
	reads = toy_count(h, NULL, "traffic", "reads");
	/* And it goes on. */
	w.is_cut = false;
	toy_steps(&w, 20000);
	assert_int_equal(h->link[0].state, WEFT_NODE_UP);
	assert_true(toy_count(h, NULL, "traffic", "reads") > reads + 100);
	assert_int_equal(toy_count(h, NULL, "traffic", "lost"), lost);
	assert_int_equal(toy_count(h, NULL, "traffic", "mismatches"), 0);
	assert_int_equal(weft_node_replacements(h), 0);
	toy_fini(&w);
}

static bool
is_live(const struct weft_node_link *l)
{
	return weft_session_is_live(weft_link_session(l->end));
}

/* A node whose end is in a session that it has not looked at yet. */
static struct weft_node *
unaware(struct toy *w)
{
	for (unsigned int step = 0; step < 1000; step++) {
		toy_step(w);
		for (uint16_t i = 0; i < w->topo->n_nodes; i++) {
			struct weft_node *n = &w->at[i].node;

			if (n->n_links != 0 && is_live(&n->link[0]) &&
				n->link[0].state != WEFT_NODE_UP)
				return n;
		}
	}
	fail_msg("no session begins");
	return NULL;
}

static bool
never(void)
{
	return false;
}

/* Its lines are in the segments of the start; a sanitizer sees who looks behind them. */
WEFT_TEST(segments_that_come_are_no_change_to_a_source)
{
#define GROWING(more)                                                                              \
	"fabric: toy\nsegments: [{target: g0, size: 4K}" more "]\n" NODES_YAML                     \
	"workloads:\n  - {on: h0, kind: mem, requests: 0, lines: 1}\n"                             \
	"  - {on: h0, kind: uio, requests: 0, lines: 4}\n"
#define ONE_MORE ", {target: g0, size: 4K}"
	static const char yaml[] =
		GROWING(ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE);
	const struct weft_load_files files = {
		.topology = "toy", .yaml = yaml, .len = strlen(yaml)
	};
	struct weft_node_change *change;
	struct weft_topo_error err;
	struct weft_topo *next;
	struct weft_load *load;
	struct toy w;

	toy_init(&w, GROWING(""));
	assert_int_equal(weft_load_open(&next, &load, &files, &err), 0);
	assert_int_equal(weft_node_prepare(toy_node(&w, "h0"), w.topo, next, never, &change), 0);
	assert_null(change);
	weft_topo_free(next);
	weft_load_free(load);
	toy_fini(&w);
#undef ONE_MORE
#undef GROWING
}

WEFT_TEST(goodbye_is_said_in_a_session_that_has_just_begun)
{
	struct weft_node *n;
	struct toy w;

	toy_init(&w, on);
	n = unaware(&w);
	weft_node_close(n);
	toy_steps(&w, 1000);
	for (uint16_t i = 0; i < w.topo->n_nodes; i++)
		for (uint16_t k = 0; k < w.at[i].node.n_links; k++)
			assert_false(is_live(&w.at[i].node.link[k]));
	assert_false(weft_session_is_parting(weft_link_session(n->link[0].end)));
	toy_fini(&w);
}

WEFT_TEST(what_stood_in_memory_that_is_new_is_forgotten)
{
	const uint16_t gfd = 2;
	struct weft_node *h;
	uint64_t verified;
	struct toy w;

	toy_init(&w, on);
	h = toy_node(&w, "h0");
	toy_steps(&w, 4000);
	assert_string_equal(w.topo->node[gfd].name, "g0");
	toy_end(&w.at[gfd]);
	toy_begin(&w, gfd);
	toy_steps(&w, 20000);
	assert_int_equal(weft_node_replacements(h), 1);
	assert_true(h->link[0].memory.forgotten != 0);
	assert_int_equal(h->link[0].memory.generation, toy_node(&w, "g0")->generation);
	verified = toy_count(h, NULL, "traffic", "verified");
	toy_steps(&w, 4000);
	assert_true(toy_count(h, NULL, "traffic", "verified") > verified + 100);
	assert_int_equal(toy_count(h, NULL, "traffic", "mismatches"), 0);
	toy_fini(&w);
}

/* SESS-32: it has heard nothing in the session that its switch has met it in. */
WEFT_TEST(memory_that_is_new_is_told_of_the_one_before_until_it_has_heard)
{
	static const char yaml[] =
		"fabric: toy\nmode: cxl\nnodes:\n"
		"  - {name: h0, kind: host, pid: 0x101}\n"
		"  - {name: s0, kind: switch, pid: 0x010}\n"
		"  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}\n"
		"links:\n  - {a: h0, b: s0}\n  - {a: g0, b: s0}\n"
		"workloads: [{on: h0, kind: mem, seed: 1, requests: 0, lines: 64}]\n";
	const struct weft_session *s;
	struct weft_node_link *l;
	struct toy w;
	uint64_t begun;

	toy_init(&w, yaml);
	l = &toy_node(&w, "s0")->link[1];
	toy_steps(&w, 4000);
	s = weft_link_session(l->end);
	begun = s->count[WEFT_SESSION_N_BEGUN];
	assert_int_equal(s->cfg.params.known, toy_node(&w, "g0")->generation);
	toy_end(&w.at[2]);
	toy_begin(&w, 2);
	for (unsigned int i = 0; i < 100000 && s->count[WEFT_SESSION_N_BEGUN] == begun; i++)
		toy_step(&w);
	assert_int_not_equal(s->count[WEFT_SESSION_N_BEGUN], begun);
	assert_false(weft_session_is_live(weft_link_session(toy_node(&w, "g0")->link[0].end)));
	w.is_cut = true;
	toy_steps(&w, 600000);
	assert_int_equal(l->memory.generation, toy_node(&w, "g0")->generation);
	assert_int_equal(toy_node(&w, "g0")->link[0].memory.poisoned, 0);
	w.is_cut = false;
	toy_steps(&w, 20000);
	assert_int_equal(toy_node(&w, "g0")->link[0].memory.poisoned, 1);
	toy_fini(&w);
}

WEFT_TEST(a_port_that_takes_nothing_holds_back_requests)
{
	struct weft_node *h;
	uint64_t sent;
	struct toy w;

	toy_init(&w, on);
	h = toy_node(&w, "h0");
	toy_steps(&w, 4000);
	sent = toy_count(h, NULL, "traffic", "reads");
	for (unsigned int i = 0; i < 1000; i++) {
		w.now_ns += TOY_STEP_NS;
		weft_node_time(h, w.now_ns);
		weft_node_poll(h, false);
	}
	assert_int_equal(toy_count(h, NULL, "traffic", "reads"), sent);
	toy_fini(&w);
}

/* --- a world that decides, and watches --- */

static const struct weft_node_rules few = { .credits = 2 };

/* The node as it would be if that had been its cfg. */
static void
toy_again(struct toy *w, uint16_t i, const struct weft_node_cfg *cfg)
{
	char err[256];

	weft_node_fini(&w->at[i].node);
	w->at[i].node = (struct weft_node){ .cfg = *cfg };
	assert_int_equal(weft_node_init(&w->at[i].node, err, sizeof(err)), 0);
}

static struct {
	uint64_t begun, ended, executed, sent, dropped, ups;
} seen;

static void
see_came(void *world, struct weft_node_link *l, const struct weft_msg *m)
{
	(void)world;
	assert_ptr_equal(m, weft_link_peek(l->end, (enum weft_msg_kind)m->kind));
}

static void
see_sent(void *world, struct weft_node_link *l, const struct weft_msg *m, bool late)
{
	(void)world;
	(void)l;
	(void)m;
	assert_false(late);
	seen.sent++;
}

static void
see_begun(void *world, const struct weft_node *n, const struct weft_request *rq)
{
	(void)world;
	assert_int_equal(rq->dpid, 0x201); /* the one that it was joined to */
	assert_string_equal(n->topo->name, "h0");
	seen.begun++;
}

static void
see_ended(void *world, const struct weft_node *n, const struct weft_completion *c)
{
	(void)world;
	(void)n;
	assert_int_equal(c->status, WEFT_REQUEST_DONE);
	seen.ended++;
}

static void
see_executed(void *world, struct weft_node_link *l, const struct weft_msg *m)
{
	(void)world;
	(void)m;
	assert_string_equal(l->node->topo->name, "g1");
	seen.executed++;
}

static void
see_dropped(void *world, const struct weft_node *n, enum weft_verdict why)
{
	(void)world;
	(void)n;
	(void)why;
	seen.dropped++;
}

static void
see_session(void *world, struct weft_node_link *l, bool ended, bool began)
{
	(void)world;
	assert_int_equal(l->state, WEFT_NODE_UP);
	assert_false(ended);
	seen.ups += began;
}

WEFT_TEST(a_world_decides_and_watches)
{
	static const char yaml[] =
		"fabric: toy\nnodes:\n"
		"  - {name: h0, kind: host, pid: 0x101}\n"
		"  - {name: s0, kind: switch, pid: 0x010}\n"
		"  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}\n"
		"  - {name: g1, kind: gfd, pid: 0x201, memory: 1M}\n"
		"links:\n  - {a: h0, b: s0}\n  - {a: s0, b: g0}\n  - {a: s0, b: g1}\n"
		"workloads: [{on: h0, kind: mem, seed: 1, requests: 3000, lines: 64}]\n";
	static const struct weft_node_watch watch = { see_came, see_sent, see_begun, see_ended,
		see_executed, see_dropped, see_session };
	const struct weft_node_peer to = { 3, 1, true }, from = { 0, 1, false };
	struct weft_node *h, *g;
	struct toy w;

	memset(&seen, 0, sizeof(seen));
	toy_init(&w, yaml);
	for (uint16_t i = 0; i < w.topo->n_nodes; i++) {
		struct weft_node_cfg cfg = w.at[i].node.cfg;

		cfg.watch = &watch;
		cfg.rules = &few;
		cfg.peer = i == 0 ? &to : &from;
		cfg.n_peers = i == 0 || i == 3;
		toy_again(&w, i, &cfg);
	}
	h = toy_node(&w, "h0");
	g = toy_node(&w, "g1");
	assert_int_equal(h->n_links, 1);
	assert_int_equal(toy_node(&w, "g0")->n_links, 0);
	toy_run(&w, h);
	assert_true(weft_node_is_good(h));
	assert_int_equal(weft_link_session(h->link[0].end)->peer.credits, 2);
	assert_true(seen.begun >= 3000);
	assert_int_equal(seen.ended, seen.begun);
	assert_int_equal(seen.executed, seen.begun);
	assert_int_equal(seen.sent, 2 * seen.begun);
	assert_int_equal(seen.ups, 2);
	assert_int_equal(seen.dropped, 0);
	assert_non_null(weft_node_gfd(g));
	assert_null(weft_node_gfd(h));
	toy_fini(&w);
}

static const char translated[] =
	"fabric: toy\n"
	"nodes:\n"
	"  - {name: h0, kind: host, pid: 0x101, ats: {agent: a0, entries: 256}}\n"
	"  - {name: a0, kind: host, pid: 0x102, translations: ["
	"{host: h0, va: 0, pa: 0x10000000000, size: 1M, page: 1M, rights: rw}]}\n"
	"  - {name: s0, kind: switch, pid: 0x010}\n"
	"  - {name: g0, kind: gfd, pid: 0x200, memory: 1M}\n"
	"links:\n  - {a: h0, b: s0}\n  - {a: a0, b: s0}\n  - {a: s0, b: g0}\n"
	"workloads: [{on: h0, kind: mem, seed: 1, requests: 20000, lines: 4096,"
	" outstanding: 256}]\n";

/*
 * While it counts them it does not know where they go: all may be for one GFD, which is not there.
 */
WEFT_TEST(a_host_that_translates_keeps_what_cannot_go)
{
	struct weft_node_requests r;
	struct weft_node *h;
	struct toy w;

	toy_init(&w, translated);
	for (uint16_t i = 0; i < w.topo->n_nodes; i++) {
		struct weft_node_cfg cfg = w.at[i].node.cfg;

		cfg.rules = &few;
		toy_again(&w, i, &cfg);
	}
	h = toy_node(&w, "h0");
	for (unsigned int i = 0; i < 10000 && !h->was_up; i++)
		toy_step(&w);
	toy_steps(&w, 20);
	w.is_cut = true;
	toy_steps(&w, 200);
	assert_true(weft_node_mem(h, &r));
	assert_int_equal(weft_requester_outstanding(r.requester), 256);
	w.is_cut = false;
	toy_run(&w, h);
	assert_int_equal(h->drops[WEFT_DROP_TX_FULL], 0);
	assert_true(weft_node_is_good(h));
	toy_fini(&w);
}

/* Long before their time is up: a session lives for 10 s, a request for 15. */
WEFT_TEST(what_was_translated_ends_with_the_session_that_it_went_by)
{
	struct weft_node *h;
	struct toy w;

	toy_init(&w, translated);
	h = toy_node(&w, "h0");
	for (unsigned int i = 0; i < 10000 && toy_count(h, NULL, "traffic", "verified") == 0; i++)
		toy_step(&w);
	w.is_cut = true;
	toy_idle(&w, UINT64_C(9000000000));
	assert_int_equal(toy_count(h, NULL, "traffic", "lost"), 0);
	toy_idle(&w, UINT64_C(3000000000));
	assert_int_not_equal(toy_count(h, NULL, "traffic", "lost"), 0);
	w.is_cut = false;
	toy_run(&w, h);
	assert_int_equal(toy_count(h, NULL, "traffic", "mismatches"), 0);
	assert_int_equal(toy_total(&w, NULL, "requests", "unmatched"), 0);
	toy_fini(&w);
}

/*
 * Polled whenever there is something to do it has seen all of a second; else of a pause the least.
 */
WEFT_TEST(time_between_polls_is_a_pause_or_not)
{
	const uint64_t second_ns = UINT64_C(1000000000);
	struct weft_node *h;
	uint64_t ends_ns;
	struct toy w;

	toy_init(&w, rxl);
	h = toy_node(&w, "h0");
	ends_ns = h->ends_ns;
	weft_node_time_busy(h, h->now_ns + second_ns);
	assert_int_equal(h->ends_ns, ends_ns + second_ns);
	weft_node_time(h, h->now_ns + WEFT_NODE_PAUSE_NS);
	assert_int_equal(h->ends_ns, ends_ns + second_ns + WEFT_NODE_PAUSE_NS);
	weft_node_time(h, h->now_ns + second_ns);
	assert_int_equal(h->ends_ns, ends_ns + second_ns + 2 * WEFT_NODE_PAUSE_NS);
	toy_fini(&w);
}
