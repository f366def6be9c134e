/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Nodes in a world of one thread that hands their frames over by itself: sessions come up, requests are
 * answered and checked, a session that ends takes requests with it, and memory that is new is met.
 */

#include "weft_test.h"

#include "toy.h"
#include "weft_requester.h"

static void
every_kind_of_a_file_is_one_row(void **state)
{
	static const uint8_t kinds[] = { WEFT_TOPO_HOST, WEFT_TOPO_SWITCH, WEFT_TOPO_GFD,
		WEFT_TOPO_DEVICE };
	unsigned int found = 0;

	(void)state;
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

static void
a_host_is_answered_by_a_gfd(void **state)
{
	(void)state;
	check_answers(rxl);
}

static void
a_switch_that_ends_links_forwards(void **state)
{
	(void)state;
	check_answers(cxl);
}

/* However late the others are. */
static void
nothing_is_sent_before_links_are_up(void **state)
{
	static const char *const yaml[] = { rxl, cxl, uio };
	struct weft_node_requests r;
	struct toy w;

	(void)state;
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

static void
uio_is_a_service_of_both(void **state)
{
	struct weft_node *h;
	struct toy w;

	(void)state;
	toy_init(&w, uio);
	h = toy_node(&w, "h0");
	toy_run(&w, h);
	assert_true(weft_node_is_good(h));
	assert_true(toy_count(h, "uio", "traffic", "verified") > 100);
	assert_true(toy_count(toy_node(&w, "g0"), "uio", "memory", "reads") > 100);
	toy_fini(&w);
}

static void
a_session_that_ends_takes_its_requests(void **state)
{
	struct weft_node_requests r;
	struct weft_node *h;
	uint64_t lost, reads;
	struct toy w;

	(void)state;
	toy_init(&w, on);
	h = toy_node(&w, "h0");
	toy_steps(&w, 2000);
	assert_int_equal(h->link[0].state, WEFT_NODE_UP);
	/* Stalled, they do not grow older; then it is over, and they with it. */
	w.is_cut = true;
	toy_steps(&w, 100000);
	assert_true(weft_node_mem(h, &r) && weft_requester_outstanding(r.requester) != 0);
	assert_int_equal(toy_count(h, NULL, "traffic", "lost"), 0);
	toy_steps(&w, 450000);
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

static void
what_stood_in_memory_that_is_new_is_forgotten(void **state)
{
	const uint16_t gfd = 2;
	struct weft_node *h;
	uint64_t verified;
	struct toy w;

	(void)state;
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

static void
a_port_that_takes_nothing_holds_back_requests(void **state)
{
	struct weft_node *h;
	uint64_t sent;
	struct toy w;

	(void)state;
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_a_file_is_one_row),
		cmocka_unit_test(a_host_is_answered_by_a_gfd),
		cmocka_unit_test(a_switch_that_ends_links_forwards),
		cmocka_unit_test(nothing_is_sent_before_links_are_up),
		cmocka_unit_test(uio_is_a_service_of_both),
		cmocka_unit_test(a_session_that_ends_takes_its_requests),
		cmocka_unit_test(what_stood_in_memory_that_is_new_is_forgotten),
		cmocka_unit_test(a_port_that_takes_nothing_holds_back_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
