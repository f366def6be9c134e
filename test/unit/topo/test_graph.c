/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Names, ports, shortest paths, frame sizes along them, addresses, and who runs what. */

#include "topo_test.h"

#include "weft_pbr.h"
#include "weft_topo_graph.h"

WEFT_TEST(ports_are_numbered_by_their_links)
{
	struct weft_topo *t = topo_test_load(TOPO_DIAMOND);

	assert_int_equal(weft_topo_find(t, "s3"), 5);
	assert_int_equal(weft_topo_find(t, "s4"), -ENOENT);
	assert_int_equal(t->node[5].n_ports, 4);
	assert_int_equal(weft_topo_neighbour(t, 5, 0), 4); /* s3: s2, s1, g0, h1 */
	assert_int_equal(weft_topo_neighbour(t, 5, 1), 3);
	assert_int_equal(weft_topo_neighbour(t, 5, 2), 0);
	assert_int_equal(weft_topo_neighbour(t, 5, 3), 6);
	assert_int_equal(weft_topo_neighbour(t, 5, 4), -ENOENT);
	assert_int_equal(weft_topo_neighbour(t, 7, 0), -ENOENT);
	for (unsigned int i = 0; i < t->n_ports; i++) {
		const struct weft_topo_port *p = &t->port[i];
		const struct weft_topo_node *n = &t->node[p->node];

		assert_in_range(i, n->first_port, n->first_port + n->n_ports - 1u);
		assert_int_equal(t->port[p->peer].peer, i);
		assert_int_equal(t->port[p->peer].link, p->link);
	}
	weft_topo_free(t);
}

WEFT_TEST(order_counts_each_kind)
{
	struct weft_topo *t = topo_test_load(TOPO_FORMS);

	for (uint16_t i = 0; i < t->n_hosts; i++) {
		assert_int_equal(t->node[t->host[i]].kind, WEFT_TOPO_HOST);
		assert_int_equal(t->node[t->host[i]].order, i);
	}
	for (uint16_t i = 0; i < t->n_gfds; i++) {
		assert_int_equal(t->node[t->gfd[i]].kind, WEFT_TOPO_GFD);
		assert_int_equal(t->node[t->gfd[i]].order, i);
	}
	assert_int_equal(t->node[3].order, 1);
	weft_topo_free(t);
}

WEFT_TEST(lowest_port_wins_among_shortest_paths)
{
	struct weft_topo *t = topo_test_load(TOPO_DIAMOND);

	assert_int_equal(weft_topo_next_port(t, 1, 0x200), 0);
	assert_int_equal(weft_topo_next_port(t, 2, 0x200), 0); /* s0: s1 before s2 */
	assert_int_equal(weft_topo_next_port(t, 5, 0x101), 0); /* s3: s2 before s1 */
	assert_int_equal(weft_topo_next_port(t, 5, 0x200), 2);
	assert_int_equal(weft_topo_next_port(t, 3, 0x012), 0); /* s1 to s2: by s0 or s3 */
	assert_int_equal(weft_topo_next_port(t, 5, 0x013), -1); /* itself */
	assert_int_equal(weft_topo_next_port(t, 5, 0x300), -1); /* nobody */
	assert_int_equal(weft_topo_next_port(t, 5, 0xFFF), -1);
	assert_int_equal(weft_topo_next_port(t, 7, 0x200), -1); /* no such node */
	weft_topo_free(t);
}

WEFT_TEST(routes_hold_every_node_and_no_more)
{
	struct weft_topo *t = topo_test_load(TOPO_DIAMOND);
	struct weft_drt drt;

	for (unsigned int n = 0; n < t->n_nodes; n++) {
		memset(&drt, 0xff, sizeof(drt));
		assert_int_equal(weft_topo_routes(t, n, &drt), 0);
		for (uint16_t pid = 0; pid < WEFT_PIDS; pid++)
			assert_int_equal(weft_drt_port(&drt, pid), weft_topo_next_port(t, n, pid));
	}
	assert_int_equal(weft_topo_routes(t, t->n_nodes, &drt), -EINVAL);
	for (unsigned int to = 0; to < t->n_nodes; to++) {
		int16_t port[WEFT_TOPO_NODES];

		assert_int_equal(weft_topo_routes_to(t, to, port), 0);
		for (unsigned int n = 0; n < t->n_nodes; n++)
			assert_int_equal(port[n], weft_topo_next_port(t, n, t->node[to].pid));
	}
	assert_int_equal(weft_topo_routes_to(t, t->n_nodes, NULL), -EINVAL);
	weft_topo_free(t);
}

WEFT_TEST(smallest_frame_of_both_ways_counts)
{
	struct weft_topo *t = topo_test_load(TOPO_DIAMOND);
	unsigned int wide = t->link[6].a;

	assert_int_equal(weft_topo_port_flits(t, t->link[0].a), 5); /* 1500 at one end */
	assert_int_equal(weft_topo_port_flits(t, t->link[0].b), 5);
	assert_int_equal(weft_topo_port_flits(t, t->link[1].a), 16); /* 4114 exactly */
	assert_int_equal(weft_topo_port_flits(t, t->link[2].a), 13);
	assert_int_equal(weft_topo_port_flits(t, t->link[3].a), 35);
	assert_int_equal(weft_topo_port_flits(t, wide), 64); /* the frame's own limit */
	assert_int_equal(weft_topo_link_flits(t, wide), 64);
	/* there by s1 (16 flits), back by s2 (5) */
	assert_int_equal(weft_topo_path_flits(t, 1, 0), 5);
	assert_int_equal(weft_topo_path_flits(t, 6, 0), 35);
	assert_int_equal(weft_topo_path_flits(t, 0, 0), 0);
	assert_int_equal(weft_topo_path_flits(t, 0, 7), 0);
	weft_topo_free(t);

	t = topo_test_load(TOPO_FORMS);
	assert_int_equal(weft_topo_path_flits(t, 0, 4), 5); /* set in the file */
	assert_int_equal(weft_topo_link_flits(t, 0), 5);
	weft_topo_free(t);
}

WEFT_TEST(each_gfd_begins_a_segment)
{
	struct weft_topo *t = topo_test_load(TOPO_FORMS);

	assert_int_equal(weft_topo_hpa(t, 0), UINT64_C(0x10000000000));
	assert_int_equal(weft_topo_hpa(t, 1), UINT64_C(0x11000000000));
	assert_int_equal(weft_topo_hpa(t, 2), UINT64_C(0x12000000000));
	assert_int_equal(weft_topo_hpa(t, 3), 0);
	weft_topo_free(t);
}

#define MAX_SWITCHES 12
#define FAR 1000

/* A random fabric: switches, then a host and a GFD on switch 0, linked at random. */
struct random_fabric {
	unsigned int switches;
	unsigned int distance[MAX_SWITCHES][MAX_SWITCHES];
};

static char *
random_yaml(struct weft_rand *r, struct random_fabric *f)
{
	size_t len;
	char *yaml;
	FILE *out = open_memstream(&yaml, &len);

	assert_non_null(out);
	f->switches = 2 + (unsigned int)weft_rand_below(r, MAX_SWITCHES - 1);
	fprintf(out, "fabric: x\nnodes:\n");
	for (unsigned int i = 0; i < f->switches; i++) {
		fprintf(out, "  - {name: s%u, kind: switch, pid: %u}\n", i, 100 + i);
		for (unsigned int j = 0; j < f->switches; j++)
			f->distance[i][j] = i == j ? 0 : FAR;
	}
	fprintf(out, "  - {name: h, kind: host, pid: 1}\n  - {name: g, kind: gfd, pid: 2}\n"
		     "links:\n  - {a: h, b: s0}\n  - {a: s0, b: g}\n");
	for (unsigned int n = 2 * f->switches; n > 0; n--) {
		unsigned int a = (unsigned int)weft_rand_below(r, f->switches);
		unsigned int b = (unsigned int)weft_rand_below(r, f->switches);

		if (a == b)
			continue;
		fprintf(out, "  - {a: s%u, b: s%u}\n", a, b);
		f->distance[a][b] = f->distance[b][a] = 1;
	}
	fclose(out);
	return yaml;
}

/* All distances by Floyd and Warshall, which shares nothing with a breadth-first search. */
static void
close_distances(struct random_fabric *f)
{
	for (unsigned int k = 0; k < f->switches; k++) {
		for (unsigned int i = 0; i < f->switches; i++) {
			for (unsigned int j = 0; j < f->switches; j++) {
				unsigned int by_k = f->distance[i][k] + f->distance[k][j];

				if (by_k < f->distance[i][j])
					f->distance[i][j] = by_k;
			}
		}
	}
}

/* Steps from switch to switch along next ports, FAR if they end anywhere else. */
static unsigned int
walk(const struct weft_topo *t, unsigned int from, unsigned int to)
{
	unsigned int steps = 0;

	while (from != to) {
		int port = weft_topo_next_port(t, from, t->node[to].pid);

		if (port < 0 || steps > MAX_SWITCHES)
			return FAR;
		from = (unsigned int)weft_topo_neighbour(t, from, (unsigned int)port);
		steps++;
	}
	return steps;
}

WEFT_TEST(following_next_ports_is_a_shortest_path)
{
	struct random_fabric f;
	struct weft_topo_error err;
	struct weft_topo *t;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int run = 0; run < 100; run++) {
		char *yaml = random_yaml(&r, &f);

		if (weft_topo_parse(&t, "random", yaml, strlen(yaml), &err) != 0)
			fail_msg("%s\n%s", err.text, yaml);
		close_distances(&f);
		for (unsigned int i = 0; i < f.switches; i++) {
			for (unsigned int j = 0; j < f.switches; j++) {
				unsigned int far = f.distance[i][j] < FAR ? f.distance[i][j] : FAR;

				/* where the shortest close a circle, others were taken */
				if (t->routing == WEFT_TOPO_ROUTING_SHORTEST &&
					walk(t, i, j) != far)
					fail_msg("s%u to s%u\n%s", i, j, yaml);
			}
		}
		weft_topo_free(t);
		free(yaml);
	}
}

WEFT_TEST(server_selects_its_nodes)
{
	struct weft_topo *t = topo_test_load(TOPO_FORMS);
	struct weft_topo_error err;
	uint16_t node[8];

	assert_int_equal(weft_topo_select(t, "box.example.org", NULL, node, &err), 7);
	assert_int_equal(weft_topo_select(t, "box", NULL, node, &err), 4);
	assert_int_equal(node[0], 1);
	assert_int_equal(node[3], 6);
	assert_int_equal(weft_topo_select(t, "box2", NULL, node, &err), -ENOENT);
	assert_string_equal(err.text, "node selection: nothing to run, expected a node with server "
				      "box2 in fabric forms-1_x, got none");
	assert_int_equal(weft_topo_select(t, NULL, NULL, node, NULL), -ENOENT);
	weft_topo_free(t);

	t = topo_test_load(TOPO_DIAMOND);
	assert_int_equal(weft_topo_select(t, "anything", NULL, node, &err), 7);
	assert_int_equal(weft_topo_select(t, NULL, NULL, node, &err), 7);
	weft_topo_free(t);
}

WEFT_TEST(names_win_over_the_server)
{
	struct weft_topo *t = topo_test_load(TOPO_FORMS);
	struct weft_topo_error err;
	uint16_t node[8];

	assert_int_equal(weft_topo_select(t, "box", "g0,h0,g0", node, &err), 2);
	assert_int_equal(node[0], 0);
	assert_int_equal(node[1], 4);
	assert_int_equal(weft_topo_select(t, "box", "g0,h", node, &err), -ENOENT);
	assert_int_equal(err.line, 0);
	assert_string_equal(err.text,
		"node selection: unknown node, expected one of fabric forms-1_x, got \"h\"");
	assert_int_equal(weft_topo_select(t, "box", "g0,", node, &err), -ENOENT);
	assert_int_equal(weft_topo_select(t, "box", "", node, &err), -ENOENT);
	weft_topo_free(t);
}

/* The graph that a topology is, as something else would find it. */
static struct weft_topo *
graph_of(const struct weft_topo *t)
{
	struct weft_topo_graph_node node[64];
	struct weft_topo_graph_link link[128];
	struct weft_topo *g;

	assert_in_range(t->n_nodes, 1, WEFT_ARRAY_SIZE(node));
	assert_in_range(t->n_links, 1, WEFT_ARRAY_SIZE(link));
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		node[i] = (struct weft_topo_graph_node){
			.kind = t->node[i].kind, .pid = t->node[i].pid, .n_at = t->node[i].n_at
		};
		memcpy(node[i].at, t->node[i].at, sizeof(node[i].at));
		memcpy(node[i].name, t->node[i].name, sizeof(node[i].name));
	}
	for (unsigned int i = 0; i < t->n_links; i++)
		link[i] = (struct weft_topo_graph_link){ t->port[t->link[i].a].node,
			t->port[t->link[i].b].node };
	assert_int_equal(weft_topo_graph_new(&g, node, t->n_nodes, link, t->n_links), 0);
	return g;
}

WEFT_TEST(a_found_graph_is_routed_as_its_file)
{
	const char *const file[] = { TOPO_DIAMOND, TOPO_FORMS, TOPO_POOL };

	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(file); k++) {
		struct weft_topo *t = topo_test_load(file[k]);
		struct weft_topo *g = graph_of(t);
		struct weft_topo_fault f;

		assert_int_equal(weft_topo_route(g, t->routing, NULL, NULL, &f), 0);
		assert_int_equal(g->routing, t->routing);
		assert_memory_equal(g->route, t->route, (size_t)t->n_nodes * t->n_nodes);
		assert_int_equal(weft_topo_route(g, WEFT_TOPO_ROUTING_UPDOWN, NULL, NULL, &f), 0);
		assert_int_equal(g->routing, WEFT_TOPO_ROUTING_UPDOWN);
		weft_topo_free(g);
		weft_topo_free(t);
	}
}

static bool
accept_updown(void *arg, const struct weft_topo *t)
{
	++*(unsigned int *)arg;
	return t->routing == WEFT_TOPO_ROUTING_UPDOWN;
}

static bool
accept_none(void *arg, const struct weft_topo *t)
{
	(void)arg;
	(void)t;
	return false;
}

WEFT_TEST(engines_are_tried_until_one_is_accepted)
{
	struct weft_topo *t = topo_test_load(TOPO_DIAMOND);
	struct weft_topo *g = graph_of(t);
	struct weft_topo_fault f;
	unsigned int n = 0;

	assert_int_equal(weft_topo_route(g, WEFT_TOPO_ROUTING_AUTO, accept_updown, &n, &f), 0);
	assert_int_equal(g->routing, WEFT_TOPO_ROUTING_UPDOWN);
	assert_true(n >= 1);
	assert_int_equal(
		weft_topo_route(g, WEFT_TOPO_ROUTING_AUTO, accept_none, NULL, &f), -EINVAL);
	weft_topo_free(g);
	weft_topo_free(t);
}

WEFT_TEST(graphs_that_are_none_are_refused)
{
	const struct weft_topo_graph_node node[] = {
		{ .kind = WEFT_TOPO_SWITCH, .pid = 1, .name = "s" },
		{ .kind = WEFT_TOPO_HOST, .pid = 2, .name = "h" },
		{ .kind = WEFT_TOPO_SWITCH, .pid = 3, .name = "t" },
	};
	const struct weft_topo_graph_node bad_pid = { .kind = WEFT_TOPO_SWITCH, .pid = 0xFFF };
	const struct weft_topo_graph_link self = { 0, 0 }, beyond = { 0, 3 };
	const struct weft_topo_graph_link two[] = { { 0, 1 }, { 1, 2 } };
	struct weft_topo *g;

	assert_int_equal(weft_topo_graph_new(&g, node, 3, &self, 1), -EINVAL);
	assert_int_equal(weft_topo_graph_new(&g, node, 3, &beyond, 1), -EINVAL);
	assert_int_equal(weft_topo_graph_new(&g, node, 3, two, 2), -EINVAL);
	assert_int_equal(weft_topo_graph_new(&g, node, 3, NULL, 0), -EINVAL);
	assert_int_equal(weft_topo_graph_new(&g, &bad_pid, 1, NULL, 0), -EINVAL);
	assert_int_equal(weft_topo_graph_new(&g, node, WEFT_TOPO_NODES + 1, NULL, 0), -EFBIG);
	assert_int_equal(weft_topo_graph_new(&g, node, 2, two, 1), 0);
	weft_topo_free(g);
	assert_int_equal(weft_topo_graph_new(&g, node, 1, NULL, 0), 0);
	weft_topo_free(g);
}
