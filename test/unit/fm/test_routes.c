/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * From old routes to new ones on drawn graphs that lose and gain links: rows are written one by one
 * in drawn order, and after each the tables are judged by walking them, as are all waits between
 * links that messages could have made on the way (fabric.md section (d) 5).
 */

#include "weft_fm_routes.h"
#include "weft_rand.h"
#include "weft_test.h"

#define SWITCHES 8
#define ENDS 8
#define NODES (SWITCHES + ENDS)
#define LINKS 48

static unsigned int n_groups; /* written */

/* A fabric in the making. */
struct world {
	struct weft_topo_graph_node node[NODES];
	struct weft_fm_link link[LINKS];
	bool is_up[LINKS];
	unsigned int n_switches, n_nodes, n_links;
	uint8_t n_ports[NODES];
	struct weft_drt *drt; /* by node: what the switches have */
	struct weft_rgt_entry (*rgt)[WEFT_FM_PORTS];
	struct weft_fm_tables found[NODES];
	/* [from][to]: a message on the one was to go on by the other. Channel: 2 * link + end. */
	bool waits[2 * LINKS][2 * LINKS];
	bool *used; /* [dpid][channel]: by a row in some state so far */
};

static void
world_join(struct world *w, unsigned int a, unsigned int b)
{
	struct weft_fm_link *l = &w->link[w->n_links];

	/* Physical ports are not dense. */
	*l = (struct weft_fm_link){ { (uint16_t)a, (uint16_t)b },
		{ (uint8_t)(3 + 5 * w->n_ports[a]++), (uint8_t)(3 + 5 * w->n_ports[b]++) } };
	w->is_up[w->n_links++] = true;
}

static void
world_draw(struct world *w, struct weft_rand *rand)
{
	memset(w, 0, sizeof(*w));
	w->n_switches = 2 + (unsigned int)weft_rand_below(rand, SWITCHES - 1);
	w->n_nodes = w->n_switches + 2 + (unsigned int)weft_rand_below(rand, ENDS - 1);
	for (unsigned int i = 0; i < w->n_nodes; i++) {
		w->node[i].kind = i < w->n_switches ? WEFT_TOPO_SWITCH
		                  : i % 2 == 0      ? WEFT_TOPO_HOST
		                                    : WEFT_TOPO_GFD;
		w->node[i].pid = (uint16_t)(0x10 + 37 * i);
		snprintf(w->node[i].name, sizeof(w->node[i].name), "n%u", i);
		if (i != 0)
			world_join(w, i,
				(unsigned int)weft_rand_below(
					rand, i < w->n_switches ? i : w->n_switches));
	}
	for (uint64_t k = weft_rand_below(rand, 10); k != 0 && w->n_switches > 2; k--) {
		unsigned int a = (unsigned int)weft_rand_below(rand, w->n_switches);
		unsigned int b = (unsigned int)weft_rand_below(rand, w->n_switches - 1);

		for (uint64_t more = weft_rand_below(rand, 3); more != 0 && w->n_links < LINKS;
			more--)
			world_join(w, a, b + (b >= a));
	}
	w->drt = calloc(NODES, sizeof(*w->drt));
	w->used = calloc(WEFT_PIDS, 2 * LINKS);
	w->rgt = calloc(NODES, sizeof(*w->rgt));
	assert_true(w->drt != NULL && w->used != NULL && w->rgt != NULL);
	for (unsigned int i = 0; i < w->n_switches; i++)
		w->found[i] = (struct weft_fm_tables){ &w->drt[i], 1, &w->rgt[i],
			i % 4 == 3 ? 0u : WEFT_FM_PORTS };
}

static void
world_free(struct world *w)
{
	free(w->drt);
	free(w->rgt);
	free(w->used);
}

/* Channel of a port, or -1. */
static int
world_channel_of(const struct world *w, unsigned int node, unsigned int port)
{
	for (unsigned int l = 0; l < w->n_links; l++)
		for (unsigned int e = 0; e < 2; e++)
			if (w->is_up[l] && w->link[l].node[e] == node && w->link[l].port[e] == port)
				return (int)(2 * l + e);
	return -1;
}

/* Channels by which a row leads on; all lead to one node. */
static unsigned int
world_channels(
	const struct world *w, unsigned int node, unsigned int dpid, int channel[WEFT_RGT_PORTS])
{
	const uint8_t *row = w->drt[node].entry[dpid];
	const struct weft_rgt_entry *e = &w->rgt[node][row[1]];
	unsigned int n = 0;

	if (node >= w->n_switches || row[0] == WEFT_DRT_INVALID)
		return 0;
	for (unsigned int i = 0; i <= (row[0] == WEFT_DRT_RGT ? e->counts & 7u : 0u); i++) {
		const int c =
			world_channel_of(w, node, row[0] == WEFT_DRT_RGT ? e->port[i] : row[1]);

		if (c < 0)
			continue;
		channel[n++] = c;
		assert_int_equal(w->link[c / 2].node[1 - c % 2],
			w->link[channel[0] / 2].node[1 - channel[0] % 2]);
	}
	return n;
}

static unsigned int
world_leads_to(const struct world *w, int channel)
{
	return w->link[channel / 2].node[1 - channel % 2];
}

/* Links that are up, and nodes that have one of them or are switches. */
static int
world_route(const struct world *w, struct weft_fm_routes *r)
{
	struct weft_fm_link link[LINKS];
	struct weft_topo_fault f;
	unsigned int n = 0;
	int rc;

	for (unsigned int l = 0; l < w->n_links; l++)
		if (w->is_up[l])
			link[n++] = w->link[l];
	rc = weft_fm_routes_new(
		r, w->node, w->n_nodes, link, n, w->found, WEFT_TOPO_ROUTING_AUTO, &f);
	if (rc != 0)
		fail_msg("%s", f.text);
	return rc;
}

static bool
world_stays(const struct world *w, const struct weft_fm_routes *r, unsigned int n_nodes,
	enum weft_topo_routing routing)
{
	return weft_fm_routes_stay(r, w->node, n_nodes, w->link, w->n_links, w->found, routing);
}

/* After a change of tables: no way goes round; note what could wait for what. */
static void
world_look(struct world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++) {
		const unsigned int dpid = w->node[i].pid;

		for (unsigned int from = 0; from < w->n_switches; from++) {
			unsigned int at = from, n_hops = 0;

			int c[WEFT_RGT_PORTS];

			while (at != i && world_channels(w, at, dpid, c) != 0) {
				at = world_leads_to(w, c[0]);
				assert_true(n_hops++ <= w->n_nodes);
			}
		}
		for (unsigned int s = 0; s < w->n_switches; s++) {
			int c[WEFT_RGT_PORTS];

			for (unsigned int k = s == i ? 0 : world_channels(w, s, dpid, c); k != 0;
				k--)
				w->used[dpid * 2 * LINKS + (unsigned int)c[k - 1]] = true;
		}
		/* Who was sent by an earlier row goes on by the row that is there now. */
		for (int c = 0; c < 2 * LINKS; c++) {
			int next[WEFT_RGT_PORTS];

			if (!w->used[dpid * 2 * LINKS + (unsigned int)c] || !w->is_up[c / 2] ||
				world_leads_to(w, c) == i)
				continue;
			for (unsigned int k = world_channels(w, world_leads_to(w, c), dpid, next);
				k != 0; k--)
				w->waits[c][next[k - 1]] = true;
		}
	}
}

static bool
world_has_circle(const struct world *w)
{
	static bool reach[2 * LINKS][2 * LINKS];

	memcpy(reach, w->waits, sizeof(reach));
	for (unsigned int k = 0; k < 2 * LINKS; k++)
		for (unsigned int i = 0; i < 2 * LINKS; i++)
			for (unsigned int j = 0; reach[i][k] && j < 2 * LINKS; j++)
				reach[i][j] |= reach[k][j];
	for (unsigned int i = 0; i < 2 * LINKS; i++)
		if (reach[i][i])
			return true;
	return false;
}

/* What was sent before is gone. */
static void
world_drained(struct world *w)
{
	memset(w->waits, 0, sizeof(w->waits));
	memset(w->used, 0, WEFT_PIDS * 2 * LINKS);
}

/* Write rows in drawn order until all are as they are to be; returns rows written. */
static unsigned int
world_change(struct world *w, struct weft_fm_routes *r, struct weft_rand *rand)
{
	enum weft_fm_phase phase;
	unsigned int n_written = 0;
	const bool must_drain = r->must_drain;

	world_drained(w);
	world_look(w);
	while ((phase = weft_fm_routes_phase(r, w->found)) != WEFT_FM_PHASE_DONE) {
		const unsigned int node = (unsigned int)weft_rand_below(rand, w->n_switches);
		uint16_t first = (uint16_t)weft_rand_below(rand, 2) *
		                 w->node[weft_rand_below(rand, w->n_nodes)].pid;
		uint8_t row[4][2];
		unsigned int n;

		if (r->must_drain && phase != WEFT_FM_PHASE_DRAIN) {
			r->must_drain = false;
			world_drained(w);
		}
		if (phase == WEFT_FM_PHASE_GROUPS) {
			const struct weft_rgt_entry *group;
			unsigned int p = 0;

			if (weft_fm_routes_next_groups(r, w->found, node, 0, &p, 1, &group) != 0) {
				w->rgt[node][p] = *group;
				n_groups++;
				world_look(w);
			}
			continue;
		}
		n = weft_fm_routes_next(r, w->found, phase, node, 0, &first,
			1 + (unsigned int)weft_rand_below(rand, 4), row);
		for (unsigned int i = 0; i < n; i++) {
			n_written += memcmp(w->drt[node].entry[first + i], row[i], 2) != 0;
			memcpy(w->drt[node].entry[first + i], row[i], 2);
			world_look(w);
		}
		assert_true(n_written < 100000);
	}
	assert_false(world_has_circle(w));
	for (unsigned int i = 0; i < w->n_switches; i++)
		assert_memory_equal(&w->drt[i], &r->want[i], sizeof(w->drt[i]));
	return must_drain ? 0 : n_written;
}

WEFT_TEST(no_mixed_state_has_a_loop_or_a_circle)
{
	unsigned int n_changes = 0, n_drains = 0;
	const unsigned int n = weft_test_cases(150);
	struct weft_rand rand;

	weft_test_seed(&rand, __func__);
	for (unsigned int k = 0; k < n; k++) {
		struct weft_fm_routes r;
		struct world w;

		world_draw(&w, &rand);
		world_route(&w, &r);
		assert_false(r.must_drain);
		world_change(&w, &r, &rand);
		weft_fm_routes_free(&r);
		for (unsigned int c = 0; c < 6; c++) {
			const unsigned int l = (unsigned int)weft_rand_below(&rand, w.n_links);

			/* Links of ends stay: an end without one is no part of the graph. */
			if (w.link[l].node[0] >= w.n_switches)
				continue;
			w.is_up[l] = !w.is_up[l];
			world_route(&w, &r);
			n_drains += r.must_drain;
			n_changes++;
			world_change(&w, &r, &rand);
			weft_fm_routes_free(&r);
		}
		world_free(&w);
	}
	print_message("%u changes, %u with a drain, %u groups\n", n_changes, n_drains, n_groups);
	/* Few cases say little. */
	assert_true(weft_test_is_again() || (n_groups > 100 && n_drains < n_changes / 4));
}

/* Four switches in a ring, each with an end. */
static void
world_ring(struct world *w)
{
	struct weft_rand rand;

	weft_rand_seed(&rand, 1);
	world_draw(w, &rand);
	w->n_switches = 4;
	w->n_nodes = 8;
	w->n_links = 0;
	memset(w->n_ports, 0, sizeof(w->n_ports));
	for (unsigned int i = 0; i < 8; i++) {
		w->node[i].kind = i < 4 ? WEFT_TOPO_SWITCH : WEFT_TOPO_HOST;
		w->node[i].pid = (uint16_t)(0x10 + i);
		w->found[i] = (struct weft_fm_tables){ i < 4 ? &w->drt[i] : NULL, i < 4, &w->rgt[i],
			i < 4 ? WEFT_FM_PORTS : 0 };
		world_join(w, i, i < 4 ? (i + 1) % 4 : i - 4);
	}
}

WEFT_TEST(routes_that_go_round_a_ring_are_drained_first)
{
	struct weft_fm_routes r;
	struct weft_rand rand;
	struct world w;

	/* All ways lead clockwise, as no engine would have it: links wait in a circle. */
	world_ring(&w);
	for (unsigned int s = 0; s < 4; s++)
		for (unsigned int d = 0; d < 8; d++)
			if (d != s)
				(void)weft_drt_set(&w.drt[s], w.node[d].pid,
					d == s + 4 ? w.link[d].port[1] : w.link[s].port[0]);
	world_route(&w, &r);
	assert_true(r.must_drain);
	assert_int_equal(weft_fm_routes_phase(&r, w.found), WEFT_FM_PHASE_DRAIN);
	weft_rand_seed(&rand, 2);
	/* Not world_change(): its first look would find the circle that is there. */
	for (unsigned int s = 0; s < 4; s++) {
		uint16_t first = 0;
		uint8_t row[64][2];
		unsigned int n = weft_fm_routes_next(
			&r, w.found, WEFT_FM_PHASE_DRAIN, s, 0, &first, 64, row);

		for (unsigned int i = 0; i < n; i++) {
			assert_true(row[i][0] == WEFT_DRT_INVALID ||
				    memcmp(row[i], r.want[s].entry[first + i], 2) == 0);
			memcpy(w.drt[s].entry[first + i], row[i], 2);
		}
	}
	assert_int_equal(weft_fm_routes_phase(&r, w.found), WEFT_FM_PHASE_WRITE);
	r.must_drain = false;
	assert_int_equal(weft_fm_routes_check_mixed(&r, w.found), 0);
	assert_true(world_change(&w, &r, &rand) > 0);
	assert_int_equal(weft_fm_routes_phase(&r, w.found), WEFT_FM_PHASE_DONE);
	/* With these tables another engine may do. */
	assert_false(world_stays(&w, &r, w.n_nodes, WEFT_TOPO_ROUTING_AUTO));
	weft_fm_routes_free(&r);
	world_free(&w);
}

WEFT_TEST(rows_of_nobody_are_removed_last)
{
	struct weft_fm_routes r;
	struct world w;
	uint16_t first = 0;
	uint8_t row[8][2];

	world_ring(&w);
	(void)weft_drt_set(&w.drt[2], 0x700, 9);
	world_route(&w, &r);
	assert_int_equal(weft_fm_routes_phase(&r, w.found), WEFT_FM_PHASE_WRITE);
	for (unsigned int s = 0; s < 4; s++) {
		const bool had = s == 2;

		memcpy(&w.drt[s], &r.want[s], sizeof(w.drt[s]));
		if (had)
			(void)weft_drt_set(&w.drt[s], 0x700, 9);
	}
	assert_int_equal(weft_fm_routes_phase(&r, w.found), WEFT_FM_PHASE_REMOVE);
	assert_int_equal(
		weft_fm_routes_next(&r, w.found, WEFT_FM_PHASE_REMOVE, 2, 0, &first, 8, row), 1);
	assert_int_equal(first, 0x700);
	assert_int_equal(row[0][0], WEFT_DRT_INVALID);
	(void)weft_drt_set(&w.drt[2], 0x700, -1);
	assert_int_equal(weft_fm_routes_phase(&r, w.found), WEFT_FM_PHASE_DONE);
	weft_fm_routes_free(&r);
	world_free(&w);
}

/* Another fabric, one thing at a time: none of them has the routes of @r for certain. */
static void
world_check_changes(struct world *w, const struct weft_fm_routes *r)
{
	const struct world was = *w;
	uint8_t *row = w->drt[0].entry[w->node[w->n_nodes - 1].pid];

	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_UPDOWN));
	assert_false(world_stays(w, r, w->n_nodes - 1, WEFT_TOPO_ROUTING_AUTO));
	w->node[1].pid++;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	*w = was;
	w->node[w->n_nodes - 1].kind ^= WEFT_TOPO_HOST ^ WEFT_TOPO_GFD;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	*w = was;
	w->node[0].n_at = 1;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	*w = was;
	w->n_links--;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	*w = was;
	w->link[w->n_links - 1].port[0]++;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	*w = was;
	w->link[w->n_links - 1].node[1] ^= 1;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	*w = was;
	w->found[0].n_groups--;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	*w = was;
	row[1] ^= 1;
	assert_false(world_stays(w, r, w->n_nodes, WEFT_TOPO_ROUTING_AUTO));
	row[1] ^= 1;
}

/* What is kept is what would be computed, and all that it follows from is looked at. */
WEFT_TEST(routes_stay_while_all_is_as_it_was)
{
	struct weft_rand rand;
	struct world w;

	weft_rand_seed(&rand, 5);
	for (unsigned int k = 0; k < weft_test_cases(40); k++) {
		struct weft_fm_routes r, again;

		world_draw(&w, &rand);
		assert_int_equal(world_route(&w, &r), 0);
		assert_false(world_stays(&w, &r, w.n_nodes, WEFT_TOPO_ROUTING_AUTO));
		memcpy(w.drt, r.want, w.n_switches * sizeof(*r.want));
		memcpy(w.rgt, r.group, w.n_switches * sizeof(*r.group));
		assert_true(world_stays(&w, &r, w.n_nodes, WEFT_TOPO_ROUTING_AUTO));
		assert_int_equal(world_route(&w, &again), 0);
		assert_memory_equal(again.want, r.want, w.n_switches * sizeof(*r.want));
		assert_memory_equal(again.group, r.group, w.n_switches * sizeof(*r.group));
		assert_int_equal(again.must_drain, r.must_drain);
		world_check_changes(&w, &r);
		assert_true(world_stays(&w, &r, w.n_nodes, WEFT_TOPO_ROUTING_AUTO));
		weft_fm_routes_free(&r);
		weft_fm_routes_free(&again);
		world_free(&w);
	}
}

WEFT_TEST(two_links_at_one_port_are_refused)
{
	const struct weft_topo_graph_node node[] = { { .kind = WEFT_TOPO_SWITCH, .pid = 1 },
		{ .kind = WEFT_TOPO_SWITCH, .pid = 2 } };
	const struct weft_fm_link link[] = { { { 0, 1 }, { 4, 4 } }, { { 1, 0 }, { 5, 4 } } };
	const struct weft_fm_tables none[2] = { 0 };
	struct weft_fm_routes r;
	struct weft_topo_fault f;

	assert_int_equal(weft_fm_routes_new(&r, node, 2, link, 2, none, WEFT_TOPO_ROUTING_AUTO, &f),
		-EINVAL);
	assert_int_equal(
		weft_fm_routes_new(&r, node, 2, link, 1, none, WEFT_TOPO_ROUTING_AUTO, &f), 0);
	weft_fm_routes_free(&r);
	weft_fm_routes_free(&r);
}
