/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Engines against the checker on shapes up to 1,000 switches, and the checker against a slow one of
 * the definition: all walks, then the transitive closure of what waits for what.
 */

#include "topo_test.h"

#include "weft_pbr.h"
#include "weft_topo_graph.h"

/* A fabric in the making: switches s0.., links between them, and ends. */
struct shape {
	FILE *nodes, *links;
	char *node_text, *link_text;
	size_t node_len, link_len;
	unsigned int n_switches, n_ends, n_links;
	const char *routing;
};

static void
shape_open(struct shape *s, const char *routing)
{
	*s = (struct shape){ .routing = routing };
	s->nodes = open_memstream(&s->node_text, &s->node_len);
	s->links = open_memstream(&s->link_text, &s->link_len);
	assert_true(s->nodes != NULL && s->links != NULL);
}

static void
shape_switch(struct shape *s, const char *at)
{
	unsigned int i = s->n_switches++;

	fprintf(s->nodes, "  - {name: s%u, kind: switch, pid: %u%s%s}\n", i, i,
		at == NULL ? "" : ", at: ", at == NULL ? "" : at);
}

static void
shape_link(struct shape *s, unsigned int a, unsigned int b)
{
	fprintf(s->links, "  - {a: s%u, b: s%u}\n", a, b);
	s->n_links++;
}

/* A host or a GFD, in turns. */
static void
shape_end(struct shape *s, unsigned int at)
{
	unsigned int i = s->n_ends++;

	fprintf(s->nodes, "  - {name: e%u, kind: %s, pid: %u}\n", i, i % 2 == 0 ? "host" : "gfd",
		4094 - i);
	fprintf(s->links, "  - {a: e%u, b: s%u}\n", i, at);
}

static int
shape_load(struct shape *s, struct weft_topo **t, struct weft_topo_error *err)
{
	size_t len;
	char *yaml;
	FILE *out = open_memstream(&yaml, &len);
	int rc;

	assert_non_null(out);
	fclose(s->nodes);
	fclose(s->links);
	fprintf(out, "fabric: x\nrouting: %s\nnodes:\n%slinks:\n%s", s->routing, s->node_text,
		s->link_text);
	fclose(out);
	rc = weft_topo_parse(t, "shape", yaml, len, err);
	if (rc == -EINVAL && strstr(err->text, ": routing: ") == NULL)
		fail_msg("%s\n%.400s", err->text, yaml);
	free(yaml);
	free(s->node_text);
	free(s->link_text);
	return rc;
}

static struct weft_topo *
shape_good(struct shape *s)
{
	struct weft_topo_error err;
	struct weft_topo *t;

	if (shape_load(s, &t, &err) != 0)
		fail_msg("%s", err.text);
	return t;
}

static int
drt_port(const void *arg, unsigned int node, int in, uint16_t dpid)
{
	(void)in;
	return weft_drt_port((const struct weft_drt *)arg + node, dpid);
}

static struct weft_drt *
drts_of(const struct weft_topo *t)
{
	struct weft_drt *drt = calloc(t->n_nodes, sizeof(*drt));

	assert_non_null(drt);
	for (unsigned int i = 0; i < t->n_nodes; i++)
		assert_int_equal(weft_topo_routes(t, i, &drt[i]), 0);
	return drt;
}

static void
assert_proved(const struct weft_topo *t, uint8_t routing)
{
	struct weft_drt *drt = drts_of(t);
	struct weft_topo_fault f;

	if (weft_topo_check_routes(t, drt_port, drt, &f) != 0)
		fail_msg("%s", f.text);
	assert_int_equal(t->routing, routing);
	free(drt);
}

/* Hops of the longest way between two ends. */
static unsigned int
longest(const struct weft_topo *t)
{
	unsigned int most = 0;

	for (unsigned int from = 0; from < t->n_nodes; from++) {
		for (unsigned int to = 0; to < t->n_nodes; to++) {
			unsigned int hops = 0;

			if (from == to || weft_topo_is_transit(t, from) ||
				weft_topo_is_transit(t, to))
				continue;
			for (unsigned int at = from; at != to; hops++)
				at = (unsigned int)weft_topo_neighbour(t, at,
					(unsigned int)weft_topo_next_port(t, at, t->node[to].pid));
			most = hops > most ? hops : most;
		}
	}
	return most;
}

static void
ring(struct shape *s, unsigned int n, const char *routing)
{
	shape_open(s, routing);
	for (unsigned int i = 0; i < n; i++) {
		shape_switch(s, NULL);
		shape_link(s, i, (i + 1) % n);
	}
	for (unsigned int i = 0; i < n && i < 40; i++)
		shape_end(s, i * (n / (n < 40 ? n : 40)));
}

WEFT_TEST(rings_are_broken)
{
	static const unsigned int sizes[] = { 3, 4, 5, 6, 7, 12, 33, 1000 };
	struct weft_topo_error err;
	struct weft_topo *t;
	struct shape s;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(sizes) - weft_test_is_again(); i++) {
		ring(&s, sizes[i], "updown");
		t = shape_good(&s);
		assert_proved(t, WEFT_TOPO_ROUTING_UPDOWN);
		weft_topo_free(t);
		ring(&s, sizes[i], "auto");
		t = shape_good(&s);
		assert_proved(
			t, sizes[i] < 5 ? WEFT_TOPO_ROUTING_SHORTEST : WEFT_TOPO_ROUTING_UPDOWN);
		weft_topo_free(t);
	}
	ring(&s, 5, "shortest");
	assert_int_equal(shape_load(&s, &t, &err), -EINVAL);
	assert_null(t);
	assert_int_equal(err.line, 2);
	assert_string_equal(err.text, "shape:2: routing: shortest: expected routes without a "
				      "circle, got a circle of links that wait: "
				      "s0 > s1 > s2 > s3 > s4 > s0");
	ring(&s, 200, "shortest"); /* a circle too long to be named whole */
	assert_int_equal(shape_load(&s, &t, &err), -EINVAL);
	assert_non_null(strstr(err.text, "that wait: ... s"));
}

WEFT_TEST(trees_take_their_only_way)
{
	struct weft_rand r;
	struct shape s;

	weft_test_seed(&r, __func__);
	for (unsigned int run = 0; run < 20; run++) {
		const unsigned int n = run == 0 ? 1000 : 1 + (unsigned int)weft_rand_below(&r, 60);
		struct weft_topo *t;

		shape_open(&s, run % 2 == 0 ? "auto" : "updown");
		for (unsigned int i = 0; i < n; i++) {
			shape_switch(&s, NULL);
			if (i > 0)
				shape_link(&s, i, (unsigned int)weft_rand_below(&r, i));
		}
		for (unsigned int i = 0; i < 10; i++)
			shape_end(&s, (unsigned int)weft_rand_below(&r, n));
		t = shape_good(&s);
		assert_proved(
			t, run % 2 == 0 ? WEFT_TOPO_ROUTING_SHORTEST : WEFT_TOPO_ROUTING_UPDOWN);
		weft_topo_free(t);
	}
}

/* k-ary fat tree: k pods of k/2 and k/2 switches below (k/2)^2 roots. */
WEFT_TEST(fat_trees_use_all_roots)
{
	for (unsigned int k = 4; k <= (weft_test_is_again() ? 8 : 12); k += 4) {
		const unsigned int half = k / 2, roots = half * half;
		unsigned int used = 0;
		struct weft_topo *t;
		struct shape s;

		shape_open(&s, "updown");
		for (unsigned int i = 0; i < roots + k * k; i++)
			shape_switch(&s, NULL);
		for (unsigned int pod = 0; pod < k; pod++) {
			const unsigned int upper = roots + pod * k, lower = upper + half;

			for (unsigned int a = 0; a < half; a++) {
				for (unsigned int c = 0; c < half; c++) {
					shape_link(&s, upper + a, a * half + c);
					shape_link(&s, upper + a, lower + c);
				}
				for (unsigned int e = 0; e < half; e++)
					shape_end(&s, lower + a);
			}
		}
		t = shape_good(&s);
		assert_proved(t, WEFT_TOPO_ROUTING_UPDOWN);
		assert_int_equal(longest(t), 6); /* up three, down three */
		for (unsigned int root = 0; root < roots; root++) {
			bool is_used = false;

			for (unsigned int e = 0; e < t->n_nodes && !is_used; e++) {
				int port, upper;

				if (weft_topo_is_transit(t, e))
					continue;
				for (unsigned int p = 0; p < half * k && !is_used; p++) {
					upper = (int)(roots + p / half * k + p % half);
					port = weft_topo_next_port(
						t, (unsigned int)upper, t->node[e].pid);
					is_used = port >= 0 &&
					          weft_topo_neighbour(t, (unsigned int)upper,
							  (unsigned int)port) == (int)root;
				}
			}
			used += is_used;
		}
		assert_int_equal(used, roots);
		weft_topo_free(t);
	}
}

/* Grid, torus or HyperX of w x h x d. */
static void
mesh(struct shape *s, const unsigned int size[3], char form, const char *routing)
{
	const unsigned int step[3] = { 1, size[0], size[0] * size[1] };
	const unsigned int n = step[2] * size[2];

	shape_open(s, routing);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int at[3] = { i % size[0], i / size[0] % size[1], i / step[2] };
		char text[48];

		snprintf(text, sizeof(text), "[%u, %u, %u]", at[0], at[1], at[2]);
		shape_switch(s, text);
		for (unsigned int d = 0; d < 3; d++) {
			for (unsigned int far = at[d] + 1; far < size[d]; far++)
				if (form == 'x' || far == at[d] + 1 ||
					(form == 't' && at[d] == 0 && far == size[d] - 1))
					shape_link(s, i, i + (far - at[d]) * step[d]);
		}
	}
	for (unsigned int i = 0; i < n && i < 100; i++)
		shape_end(s, i * (n / (n < 100 ? n : 100)));
}

WEFT_TEST(meshes_go_by_dimension)
{
	static const struct {
		unsigned int size[3];
		char form;
		unsigned int hops; /* of the longest way, ends and all; 0: not asked */
	} rows[] = {
		{ { 5, 4, 1 }, 'g', 9 },
		{ { 1, 1, 6 }, 'g', 7 },
		{ { 3, 3, 3 }, 'g', 8 },
		{ { 6, 6, 1 }, 't', 0 },
		{ { 4, 4, 4 }, 't', 0 },
		{ { 5, 5, 4 }, 'x', 5 },
		{ { 2, 2, 2 }, 'x', 5 },
		{ { 40, 25, 1 }, 'g', 0 },
		{ { 10, 10, 10 }, 'g', 0 },
	};
	enum { LARGE = 2 }; /* rows at the end that take longer than all others */

	for (unsigned int i = 0; i < 2 * WEFT_ARRAY_SIZE(rows); i++) {
		struct weft_topo *t;
		struct shape s;

		if (weft_test_is_again() && i / 2 >= WEFT_ARRAY_SIZE(rows) - LARGE)
			break;
		mesh(&s, rows[i / 2].size, rows[i / 2].form, i % 2 == 0 ? "auto" : "dimension");
		t = shape_good(&s);
		assert_proved(t, WEFT_TOPO_ROUTING_DIMENSION);
		if (rows[i / 2].hops != 0)
			assert_int_equal(longest(t), rows[i / 2].hops);
		weft_topo_free(t);
	}
}

/* The first coordinate that differs is put right first. */
WEFT_TEST(dimensions_are_taken_in_order)
{
	struct weft_topo *t;
	struct shape s;

	mesh(&s, (const unsigned int[]){ 4, 4, 1 }, 'g', "dimension");
	t = shape_good(&s);
	for (unsigned int from = 0; from < 16; from++) {
		for (unsigned int to = 0; to < 16; to++) {
			unsigned int want = from % 4 < to % 4   ? from + 1
			                    : from % 4 > to % 4 ? from - 1
			                    : from < to         ? from + 4
			                                        : from - 4;
			int port = weft_topo_next_port(t,
				(unsigned int)weft_topo_find(t, t->node[from].name), (uint16_t)to);

			if (from != to)
				assert_int_equal(
					t->node[weft_topo_neighbour(t, from, (unsigned int)port)]
						.pid,
					want);
		}
	}
	weft_topo_free(t);
}

WEFT_TEST(hypercubes_have_no_circle)
{
	for (unsigned int d = 1; d <= 9; d++) {
		struct weft_topo *t;
		struct shape s;

		shape_open(&s, "auto");
		for (unsigned int i = 0; i < 1u << d; i++) {
			shape_switch(&s, NULL);
			for (unsigned int b = 0; b < d; b++)
				if ((i >> b & 1) != 0)
					shape_link(&s, i, i ^ 1u << b);
			if (i < 64)
				shape_end(&s, i);
		}
		t = shape_good(&s);
		assert_proved(t, t->routing);
		weft_topo_free(t);
	}
}

/* Full meshes, whole and without links. */
WEFT_TEST(rising_detours_join_pairs_without_a_link)
{
	unsigned int with_detour = 0;
	struct weft_topo_error err;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int run = 0; run < 100; run++) {
		const unsigned int n = 5 + (unsigned int)weft_rand_below(&r, 20);
		const unsigned int lost = run < 20 ? 0 : (unsigned int)weft_rand_below(&r, 3);
		unsigned int hops;
		struct weft_topo *t;
		struct shape s;

		shape_open(&s, "rising");
		for (unsigned int i = 0; i < n; i++) {
			shape_switch(&s, NULL);
			shape_end(&s, i);
			shape_end(&s, i);
			for (unsigned int j = 0; j < i; j++)
				if (!(i == n - 1 && j < lost))
					shape_link(&s, i, j);
		}
		if (shape_load(&s, &t, &err) != 0)
			continue; /* no detour that rises: said so */
		assert_proved(t, WEFT_TOPO_ROUTING_RISING);
		hops = longest(t);
		assert_int_equal(hops, lost == 0 ? 3 : 4);
		with_detour += lost != 0;
		weft_topo_free(t);
	}
	assert_in_range(with_detour, 5, 80);
}

static struct weft_topo *
random_graph(struct weft_rand *r, const char *routing, unsigned int max)
{
	const unsigned int n = 2 + (unsigned int)weft_rand_below(r, max - 1);
	const unsigned int more = (unsigned int)weft_rand_below(r, 2 * n);
	struct shape s;

	shape_open(&s, routing);
	for (unsigned int i = 0; i < n; i++) {
		shape_switch(&s, NULL);
		if (i > 0)
			shape_link(&s, i, (unsigned int)weft_rand_below(r, i));
	}
	for (unsigned int i = 0; i < more; i++) {
		unsigned int a = (unsigned int)weft_rand_below(r, n);
		unsigned int b = (unsigned int)weft_rand_below(r, n - 1);

		shape_link(&s, a, b == a ? n - 1 : b);
	}
	for (unsigned int i = 0; i < 8; i++)
		shape_end(&s, (unsigned int)weft_rand_below(r, n));
	return shape_good(&s);
}

WEFT_TEST(random_graphs_are_complete_and_free_of_circles)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int run = 0; run < weft_test_cases(300); run++) {
		const bool is_auto = run % 2 == 0;
		struct weft_topo *t = random_graph(&r, is_auto ? "auto" : "updown", 80);

		assert_proved(t, is_auto ? t->routing : (uint8_t)WEFT_TOPO_ROUTING_UPDOWN);
		weft_topo_free(t);
	}
	for (unsigned int run = 0; run < 2 && !weft_test_is_again(); run++) {
		struct weft_topo *t = random_graph(&r, "updown", 1000);

		assert_proved(t, WEFT_TOPO_ROUTING_UPDOWN);
		weft_topo_free(t);
	}
}

/* By the definition: follow every pair, then close what waits for what transitively. */
static bool
is_good_slowly(const struct weft_topo *t, const struct weft_drt *drt)
{
	const unsigned int n = t->n_ports;
	bool *waits = calloc((size_t)n * n, sizeof(*waits)), good = true;

	assert_non_null(waits);
	for (unsigned int i = 0; i < (unsigned int)t->n_nodes * t->n_nodes && good; i++) {
		const unsigned int end = i % t->n_nodes;
		unsigned int at = i / t->n_nodes, last = n, steps = 0;

		while (at != end && good) {
			int number = weft_drt_port(&drt[at], t->node[end].pid);
			unsigned int port = t->node[at].first_port + (unsigned int)number;

			if (number < 0 && last == n && weft_topo_is_transit(t, i / t->n_nodes) &&
				weft_topo_is_transit(t, end))
				break; /* between switches a way may be missing */
			good = number >= 0 && number < t->node[at].n_ports && steps++ < n &&
			       (last == n || t->node[at].kind == WEFT_TOPO_SWITCH);
			if (!good)
				break;
			if (last != n)
				waits[last * n + port] = true;
			last = port;
			at = (unsigned int)weft_topo_neighbour(t, at, (unsigned int)number);
		}
	}
	for (unsigned int k = 0; k < n; k++)
		for (unsigned int i = 0; i < n; i++)
			for (unsigned int j = 0; j < n && waits[i * n + k]; j++)
				waits[i * n + j] |= waits[k * n + j];
	for (unsigned int i = 0; i < n; i++)
		good &= !waits[i * n + i];
	free(waits);
	return good;
}

/* Send what is for some nodes round the ring in one direction. */
static void
turn_clockwise(struct weft_rand *r, const struct weft_topo *t, struct weft_drt *drt)
{
	for (unsigned int to = 0; to < t->n_nodes; to++) {
		if (weft_rand_below(r, 3) == 0)
			continue;
		for (unsigned int i = 0; i < t->n_switches; i++) {
			int ends = weft_topo_neighbour(t, to, 0);

			if (i != to && (to < t->n_switches || ends != (int)i))
				weft_drt_set(&drt[i], t->node[to].pid, i == 0 ? 0 : 1);
		}
	}
}

/* Good tables with rows changed at random. */
WEFT_TEST(checker_agrees_with_the_definition)
{
	unsigned int kinds[3] = { 0 }, good = 0;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int run = 0; run < weft_test_cases(3000); run++) {
		struct weft_topo_fault f;
		struct weft_drt *drt;
		struct weft_topo *t;
		struct shape s;
		bool want;

		if (run % 2 == 0) {
			t = random_graph(&r, "auto", 7);
		} else {
			ring(&s, 3 + (unsigned int)weft_rand_below(&r, 4), "auto");
			t = shape_good(&s);
		}
		drt = drts_of(t);
		if (run % 2 == 1)
			turn_clockwise(&r, t, drt);

		for (unsigned int n = (unsigned int)weft_rand_below(&r, 4); n > 0; n--) {
			unsigned int node = (unsigned int)weft_rand_below(&r, t->n_nodes);
			unsigned int to = (unsigned int)weft_rand_below(&r, t->n_nodes);

			int port = (int)weft_rand_below(&r, t->node[node].n_ports + 1u);

			weft_drt_set(&drt[node], t->node[to].pid, port - 1);
		}
		want = is_good_slowly(t, drt);
		if ((weft_topo_check_routes(t, drt_port, drt, &f) == 0) != want)
			fail_msg("run %u: expected %s: %s", run, want ? "good" : "bad", f.text);
		if (want)
			good++;
		else
			kinds[f.kind]++;
		free(drt);
		weft_topo_free(t);
	}
	if (weft_test_is_again())
		return; /* too few to say */
	assert_in_range(good, 100, 2900);
	for (unsigned int k = 0; k < 3; k++)
		assert_in_range(kinds[k], 10, 2900);
}

/*
 * Full mesh of s0, s1, s2: what begins at s0 goes to s2 by s1, what comes in to s0 does not.
 */
static int
by_ingress(const void *arg, unsigned int node, int in, uint16_t dpid)
{
	const struct weft_topo *t = arg;

	return node == 0 && in < 0 && dpid == 2 ? weft_topo_next_port(t, 0, 1)
	                                        : weft_topo_next_port(t, node, dpid);
}

WEFT_TEST(tables_may_differ_by_ingress_port)
{
	struct weft_topo_fault f;
	struct weft_topo *t;
	struct shape s;

	ring(&s, 3, "shortest");
	t = shape_good(&s);
	if (weft_topo_check_routes(t, by_ingress, t, &f) != 0)
		fail_msg("%s", f.text);
	weft_topo_free(t);
}

WEFT_TEST(engines_say_what_they_miss)
{
	struct weft_topo_error err;
	struct weft_topo *t;
	struct shape s;

	ring(&s, 4, "dimension");
	assert_int_equal(shape_load(&s, &t, &err), -EINVAL);
	assert_string_equal(err.text, "shape:2: routing: dimension: expected routes without a "
				      "circle, got no \"at\" for switch s0");
	ring(&s, 6, "rising");
	assert_int_equal(shape_load(&s, &t, &err), -EINVAL);
	assert_non_null(
		strstr(err.text, "rising: expected routes without a circle, got no route "));
	shape_open(&s, "dimension"); /* an L: no way by the first coordinate first */
	shape_switch(&s, "[0, 0]");
	shape_switch(&s, "[0, 1]");
	shape_switch(&s, "[1, 1]");
	shape_link(&s, 0, 1);
	shape_link(&s, 1, 2);
	shape_end(&s, 0);
	shape_end(&s, 2);
	assert_int_equal(shape_load(&s, &t, &err), -EINVAL);
	assert_non_null(strstr(err.text, "got no route from e0 to s2: none at s0"));
}

/*
 * Three links between two switches: destinations take turns, by whatever engine, and a group names
 * all of them, the port of the destination first. Nobody else gets one.
 */
WEFT_TEST(equal_links_share_destinations)
{
	static const char *const routing[] = { "shortest", "updown", "auto" };

	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(routing); k++) {
		struct weft_rgt_entry rgt[WEFT_RGT_ROWS];
		unsigned int n_groups = 0, on[3] = { 0 };
		struct weft_topo_error err;
		struct weft_topo *t;
		struct weft_drt drt;
		struct shape s;

		shape_open(&s, routing[k]);
		for (unsigned int i = 0; i < 3; i++)
			shape_switch(&s, NULL);
		for (unsigned int i = 0; i < 3; i++)
			shape_link(&s, 0, 1);
		shape_link(&s, 1, 2);
		for (unsigned int i = 0; i < 24; i++)
			shape_end(&s, i < 12 ? 0 : 1 + i % 2);
		assert_int_equal(shape_load(&s, &t, &err), 0);
		assert_int_equal(weft_topo_routes(t, 0, &drt), 0);
		assert_int_equal(weft_topo_groups(t, 0, &drt, rgt), 3);
		for (unsigned int d = 0; d < WEFT_PIDS; d++) {
			const struct weft_rgt_entry *e = &rgt[drt.entry[d][1]];

			if (drt.entry[d][0] != WEFT_DRT_RGT)
				continue;
			n_groups++;
			assert_in_range(drt.entry[d][1], 0, 2);
			on[drt.entry[d][1]] += d > 3;
			assert_int_equal(e->counts, 2 | 2 << 3);
			assert_int_equal(e->mode, 0);
			for (unsigned int i = 0; i < 3; i++)
				assert_int_equal(e->port[i], (drt.entry[d][1] + i) % 3);
		}
		assert_int_equal(n_groups, 12 + 2);
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(on[i], 4);
		assert_int_equal(weft_topo_routes(t, 2, &drt), 0);
		assert_int_equal(weft_topo_groups(t, 2, &drt, rgt), 0);
		weft_topo_free(t);
	}
}

WEFT_TEST(same_file_gives_same_routes)
{
	struct weft_topo *a, *b;
	struct shape s;

	ring(&s, 33, "auto");
	a = shape_good(&s);
	ring(&s, 33, "auto");
	b = shape_good(&s);
	assert_memory_equal(a->route, b->route, (size_t)a->n_nodes * a->n_nodes);
	weft_topo_free(a);
	weft_topo_free(b);
}
