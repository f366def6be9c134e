/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Nodes in a world of one thread that hands their frames over by itself: sessions come up, requests are
 * answered and checked, a session that ends takes requests with it, and memory that is new is met.
 */

#include "weft_test.h"

#include <string.h>

#include "weft_crc.h"
#include "weft_gfam.h"
#include "weft_gfam_log.h"
#include "weft_isn.h"
#include "weft_node.h"
#include "weft_requester.h"
#include "weft_telem.h"
#include "weft_traffic.h"

#define NODES 8
#define STEP_NS 20000
#define STEPS 400000

struct toy_node {
	struct toy *toy;
	struct weft_node node;
	struct weft_tables_slot slot;
	struct weft_tables *tables;
	struct weft_ingress ingress[8];
	struct weft_ingress_drops drops[8];
	struct weft_gfam *access;
	struct weft_gfam_ref access_now;
	struct weft_gfam_log log;
	struct weft_gfam_checker guard;
};

struct toy {
	struct weft_topo *topo;
	struct weft_load *load;
	struct weft_rand rand;
	uint64_t now_ns;
	bool is_cut; /* no frame arrives */
	size_t blocks; /* of memory, that are not free */
	struct toy_node at[NODES];
};

static uint64_t
toy_random(void *world)
{
	return weft_rand_u64(&((struct toy_node *)world)->toy->rand);
}

static void *
toy_alloc(void *world, size_t len)
{
	const size_t size = (len + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
	void *mem = aligned_alloc(WEFT_CACHE_LINE, size);

	assert_non_null(mem);
	((struct toy_node *)world)->toy->blocks++;
	return memset(mem, 0, size);
}

static void
toy_free(void *world, void *mem)
{
	((struct toy_node *)world)->toy->blocks -= mem != NULL;
	free(mem);
}

static void
toy_unmap(void *world, void *mem, size_t len)
{
	(void)len;
	toy_free(world, mem);
}

static int
toy_protect(void *world, struct weft_node_link *l, struct weft_link_cfg *c)
{
	(void)world;
	(void)l;
	(void)c;
	return 0;
}

static bool
toy_send_control(
	void *world, uint16_t port, const struct weft_wire_hdr *h, const struct weft_control *c)
{
	(void)world;
	(void)port;
	(void)h;
	(void)c;
	return true;
}

static const struct weft_node_world toy_world = {
	.random = toy_random,
	.alloc = toy_alloc,
	.free = toy_free,
	.map = toy_alloc,
	.unmap = toy_unmap,
	.protect = toy_protect,
	.send_control = toy_send_control,
};

static void
toy_tables(struct toy_node *a)
{
	const struct weft_node_cfg *c = &a->node.cfg;
	struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS];
	const struct weft_tables_cfg cfg = weft_node_tables_cfg(c, edge);

	a->tables = aligned_alloc(WEFT_CACHE_LINE, weft_tables_size(&cfg));
	assert_non_null(a->tables);
	assert_int_equal(weft_tables_init(a->tables, &cfg), 0);
	assert_int_equal(weft_node_set_tables(a->tables, c, c->topo), 0);
	weft_tables_publish(&a->slot, a->tables);
	if (!weft_node_has_access(c))
		return;
	assert_int_equal(weft_node_make_access(c, c->topo, &a->access), 0);
	weft_gfam_publish(&a->access_now, a->access);
	weft_gfam_log_init(&a->log);
	a->guard = (struct weft_gfam_checker){ .tables = &a->access_now, .log = &a->log };
	a->node.cfg.guard = &a->guard;
}

static void
toy_begin(struct toy *w, uint16_t i)
{
	struct toy_node *a = &w->at[i];
	const struct weft_topo_node *n = &w->topo->node[i];
	char err[256];

	memset(a, 0, sizeof(*a));
	a->toy = w;
	a->node.cfg = (struct weft_node_cfg){ .world = &toy_world,
		.world_arg = a,
		.topo = w->topo,
		.load = w->load,
		.index = i,
		.tables = &a->slot,
		.ingress = a->ingress,
		.ingress_drops = a->drops,
		.run = 1 };
	for (uint16_t p = 0; p < n->n_ports; p++)
		a->ingress[p].spid = weft_topo_port_spid(w->topo, n->first_port + p);
	toy_tables(a);
	if (weft_node_init(&a->node, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	/* It was not there before. */
	weft_node_time(&a->node, w->now_ns);
}

static void
toy_end(struct toy_node *a)
{
	weft_node_fini(&a->node);
	toy_free(a, a->access);
	free(a->tables);
}

static void
toy_init(struct toy *w, const char *yaml)
{
	const struct weft_load_files files = {
		.topology = "toy", .yaml = yaml, .len = strlen(yaml)
	};
	struct weft_topo_error err;

	memset(w, 0, sizeof(*w));
	weft_rand_seed(&w->rand, 1);
	if (weft_load_open(&w->topo, &w->load, &files, &err) != 0)
		fail_msg("%s", err.text);
	assert_true(w->topo->n_nodes <= NODES);
	for (uint16_t i = 0; i < w->topo->n_nodes; i++)
		toy_begin(w, i);
}

static void
toy_fini(struct toy *w)
{
	for (uint16_t i = 0; i < w->topo->n_nodes; i++)
		toy_end(&w->at[i]);
	assert_int_equal(w->blocks, 0);
	weft_topo_free(w->topo);
	weft_load_free(w->load);
}

static struct weft_node *
toy_node(struct toy *w, const char *name)
{
	return &w->at[weft_topo_find(w->topo, name)].node;
}

/* The link at the other end: rxl, of the connection; cxl, of the port. */
static struct weft_node_link *
toy_other(struct toy *w, struct weft_node_link *l)
{
	const struct weft_topo *t = w->topo;
	struct weft_node *other = &w->at[l->topo_node].node;

	if (t->mode == WEFT_MODE_RXL)
		return weft_node_link_find(other, l->node->topo->pid);
	return &other->link[t->port[l->node->topo->first_port + l->port].peer -
			    other->topo->first_port];
}

/* What was received is known by its CRC; here numbers are all there is to see in it. */
static void
toy_deliver(struct weft_node_link *to, const struct weft_link_out *out, uint8_t *payload)
{
	struct weft_node *n = to->node;
	enum weft_session_event ev;
	uint64_t syndrome[WEFT_WIRE_FLITS_MAX];

	if (out->hdr.kind == WEFT_WIRE_CONTROL) {
		weft_node_control(to, &out->hdr, payload, out->len);
		return;
	}
	for (unsigned int k = 0; k < out->flits.n; k++) {
		const unsigned int numbered = out->flits.n - out->flits.nops;
		const unsigned int number = out->flits.first + (k < numbered ? k : numbered);
		uint8_t *flit = payload + k * (size_t)WEFT_FLIT_LEN;

		syndrome[k] = weft_node_is_cxl(n) ? 0 : weft_isn_number(number % WEFT_ISN_NUMBERS);
		if ((out->flits.invert_crc & WEFT_BIT64(k)) != 0)
			syndrome[k] ^= UINT64_MAX;
		weft_crc_store(flit, weft_crc_update(0, flit, WEFT_CRC_OFF), WEFT_CRC_R0_FIRST);
	}
	weft_node_arriving(to);
	weft_link_receive(to->end, &out->hdr, payload, syndrome, 0, n->ends_ns, &ev, NULL,
		n->kind->message, to);
	weft_node_arriving(to);
}

static void
toy_flush(struct toy *w, struct weft_node_link *l)
{
	static uint8_t payload[WEFT_WIRE_FLITS_MAX * WEFT_FLIT_LEN];
	struct weft_link_out out;

	if (l->node->ends_ns < l->due_ns)
		return;
	weft_link_tick(l->end, l->node->ends_ns);
	while (weft_link_next(l->end, payload, l->node->ends_ns, weft_rand_u64(&w->rand), &out))
		if (!w->is_cut)
			toy_deliver(toy_other(w, l), &out, payload);
	l->due_ns = weft_link_deadline(l->end);
}

static void
toy_step(struct toy *w)
{
	w->now_ns += STEP_NS;
	for (uint16_t i = 0; i < w->topo->n_nodes; i++) {
		struct weft_node *n = &w->at[i].node;

		weft_node_time(n, w->now_ns);
		weft_node_poll(n, true);
		for (uint16_t k = 0; k < n->n_links; k++)
			toy_flush(w, &n->link[k]);
	}
}

static void
toy_steps(struct toy *w, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		toy_step(w);
}

static void
toy_run(struct toy *w, const struct weft_node *until)
{
	for (unsigned int i = 0; i < STEPS && !weft_node_is_done(until); i++)
		toy_step(w);
	assert_true(weft_node_is_done(until));
}

static uint64_t
toy_count(const struct weft_node *n, const char *part, const char *name, const char *counter)
{
	struct weft_node_set set[WEFT_NODE_SETS];
	const unsigned int sets = weft_node_counters(n, set);

	for (unsigned int i = 0; i < sets; i++) {
		const bool is_part =
			part == NULL ? set[i].part == NULL
				     : set[i].part != NULL && strcmp(set[i].part, part) == 0;
		const int row = weft_counter_find(set[i].rows, set[i].n, counter);

		if (is_part && strcmp(set[i].name, name) == 0 && row >= 0)
			return set[i].values[row];
	}
	fail_msg("%s has no counter %s of %s", n->topo->name, counter, name);
	return 0;
}

/* --- tests --- */

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
		w.now_ns += STEP_NS;
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
