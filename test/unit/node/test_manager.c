/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The manager that is built in: for fabrics that are drawn, the tables that its commands make are
 * those that the setters make of the topology, from nothing and from the tables of another fabric,
 * and a command that is refused is said in one line.
 */

#include "weft_test.h"

#include <errno.h>
#include <stdio.h>

#include "weft_load.h"
#include "weft_manager.h"
#include "weft_topo_graph.h"

#define FABRICS 200
#define SWITCHES 6
#define TEXT 16384
#define GROUPS 40 /* some of them beyond those that commands can name */
#define BLOCK 4096

struct fabric {
	struct weft_topo *topo;
	struct weft_load *load;
};

static void
fabric_put(char *text, const char *fmt, ...)
{
	const size_t len = strlen(text);
	va_list args;

	va_start(args, fmt);
	assert_true((size_t)vsnprintf(text + len, TEXT - len, fmt, args) < TEXT - len);
	va_end(args);
}

/* A tree of switches with links beside it, some of them equal, and one or two hosts at each. */
static void
fabric_draw(struct fabric *f, unsigned int switches, struct weft_rand *r)
{
	static char text[TEXT];
	struct weft_load_files files = { .topology = "drawn", .yaml = text };
	struct weft_topo_error why;
	unsigned int edges = 0;

	text[0] = '\0';
	fabric_put(text, "fabric: f\nmode: %s\nrouting: updown\nnodes:\n",
		weft_rand_below(r, 2) == 0 ? "rxl" : "cxl");
	for (unsigned int s = 0; s < switches; s++)
		fabric_put(text, "  - {name: s%u, kind: switch, pid: %u}\n", s,
			1 + 7 * (s ^ (unsigned int)weft_rand_below(r, 2)) + s);
	for (unsigned int e = 0; e < 2 * switches; e++)
		fabric_put(text, "  - {name: e%u, kind: %s, pid: %u}\n", e,
			e % 2 == 0 ? "host" : "gfd, memory: 1M", 200 + 600 * e / 2 + e);
	fabric_put(text, "links:\n");
	for (unsigned int s = 1; s < switches; s++)
		for (unsigned int k = 1 + (unsigned int)weft_rand_below(r, 3); k != 0; k--)
			fabric_put(text, "  - {a: s%u, b: s%u}\n",
				(unsigned int)weft_rand_below(r, s), s);
	for (; edges < 2 * switches; edges++)
		fabric_put(text, "  - {a: e%u, b: s%u}\n", edges,
			(unsigned int)weft_rand_below(r, switches));
	files.len = strlen(text);
	if (weft_load_open(&f->topo, &f->load, &files, &why) != 0)
		fail_msg("%s\n%s", why.text, text);
}

static void
fabric_free(struct fabric *f)
{
	weft_load_free(f->load);
	weft_topo_free(f->topo);
}

static void *
fabric_alloc(void *world, size_t len)
{
	void *mem = aligned_alloc(WEFT_CACHE_LINE, weft_line_up(len));

	(void)world;
	assert_non_null(mem);
	return memset(mem, 0, weft_line_up(len));
}

static void
fabric_dealloc(void *world, void *mem)
{
	(void)world;
	free(mem);
}

static const struct weft_node_world fabric_world = { .alloc = fabric_alloc,
	.free = fabric_dealloc };

static struct weft_node_cfg
fabric_node(const struct fabric *f, uint16_t i)
{
	return (struct weft_node_cfg){
		.world = &fabric_world, .topo = f->topo, .load = f->load, .index = i
	};
}

static struct weft_tables *
empty_tables(const struct weft_node_cfg *c, unsigned int n_rgt)
{
	struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS];
	struct weft_tables_cfg cfg = weft_node_tables_cfg(c, edge);
	struct weft_tables *t;

	cfg.n_rgt = n_rgt < cfg.n_rgt ? (uint16_t)n_rgt : cfg.n_rgt;
	t = aligned_alloc(WEFT_CACHE_LINE, weft_tables_size(&cfg));
	assert_non_null(t);
	memset(t, 0, weft_tables_size(&cfg)); /* what lies between is compared, too */
	assert_int_equal(weft_tables_init(t, &cfg), 0);
	return t;
}

/* What the topology says, by the setters: whether there are groups of links. */
static bool
expect_routes(struct weft_tables *tables, const struct weft_node_cfg *c)
{
	struct weft_route *r = weft_tables_route_rw(tables, 0);
	const struct weft_topo_node *own = &c->topo->node[c->index];
	struct weft_rgt_entry rgt[WEFT_RGT_ROWS];
	struct weft_drt drt;
	bool has_groups = false;

	assert_int_equal(weft_topo_routes(c->topo, c->index, &drt), 0);
	if (own->kind == WEFT_TOPO_SWITCH)
		has_groups = weft_topo_groups(c->topo, c->index, &drt, rgt) != 0;
	else if (c->topo->mode == WEFT_MODE_RXL)
		assert_int_equal(weft_drt_set(&drt, own->pid, 0), 0);
	if (has_groups)
		assert_int_equal(weft_route_set_rgt(r, 0, rgt, WEFT_RGT_ROWS), 0);
	assert_int_equal(weft_route_set_drt(r, 0, drt.entry, WEFT_PID_RESERVED), 0);
	return has_groups;
}

static void
set_routes(struct weft_tables *tables, const struct weft_node_cfg *c)
{
	char err[256] = "";

	if (weft_manager_set_routes(tables, c, c->topo, err, sizeof(err)) != 0)
		fail_msg("%s", err);
}

/* Node @p i of a fabric, by its commands and by those of @p before as well. */
static bool
check_node(const struct fabric *f, const struct fabric *before, uint16_t i)
{
	const struct weft_node_cfg c = fabric_node(f, i), old = fabric_node(before, i);
	struct weft_tables *want = empty_tables(&c, WEFT_RGT_ROWS);
	struct weft_tables *have = empty_tables(&c, WEFT_RGT_ROWS);
	const bool has_groups = expect_routes(want, &c);

	set_routes(have, &c);
	assert_memory_equal(have, want, want->size);
	if (before->topo->node[i].kind == f->topo->node[i].kind) {
		set_routes(have, &old);
		set_routes(have, &c);
		assert_memory_equal(have, want, want->size);
	}
	set_routes(have, &c);
	assert_memory_equal(have, want, want->size);
	free(want);
	free(have);
	return has_groups;
}

WEFT_TEST(commands_make_the_tables_of_the_topology)
{
	unsigned int groups = 0;
	struct weft_rand r;

	weft_test_seed(&r, "fabrics");
	for (unsigned int k = 0; k < weft_test_cases(FABRICS); k++) {
		const unsigned int switches = 1 + (unsigned int)weft_rand_below(&r, SWITCHES);
		struct fabric f, before;

		fabric_draw(&before, switches, &r);
		fabric_draw(&f, switches, &r);
		for (uint16_t i = 0; i < f.topo->n_nodes; i++)
			groups += check_node(&f, &before, i);
		fabric_free(&f);
		fabric_free(&before);
	}
	assert_true(groups != 0 || weft_test_cases(FABRICS) < FABRICS);
}

static bool
may_have_pid(void *world, unsigned int port, uint16_t pid)
{
	(void)port;
	return pid != *(const uint16_t *)world;
}

static const struct weft_cci_switch_world pid_world = { .may_have_pid = may_have_pid };

/* The first switch, and each of its ports that leads to none. */
WEFT_TEST(ports_have_the_pids_behind_them)
{
	uint16_t forbidden = 0;
	struct weft_cci_switch s;
	struct fabric f;
	struct weft_node_cfg c;
	struct weft_rand r;
	char err[256] = "";

	weft_test_seed(&r, "pids");
	fabric_draw(&f, SWITCHES, &r);
	for (uint16_t i = 0; i < SWITCHES; i++) {
		const struct weft_topo_node *own = &f.topo->node[i];

		c = fabric_node(&f, i);
		assert_int_equal(weft_cci_switch_init(&s, &pid_world, &forbidden, own->n_ports), 0);
		assert_int_equal(weft_manager_set_pids(&s, &c, f.topo, err, sizeof(err)), 0);
		for (uint16_t p = 0; p < own->n_ports; p++) {
			const struct weft_topo_node *far =
				&f.topo->node[f.topo->neighbour[own->first_port + p]];

			assert_int_equal(s.pid[p],
				far->kind == WEFT_TOPO_SWITCH ? WEFT_CCI_NO_PID : far->pid);
			if (far->kind != WEFT_TOPO_SWITCH)
				forbidden = far->pid;
		}
		if (forbidden == 0)
			continue;
		assert_int_equal(weft_cci_switch_init(&s, &pid_world, &forbidden, own->n_ports), 0);
		assert_int_equal(weft_manager_set_pids(&s, &c, f.topo, err, sizeof(err)), -EPROTO);
		assert_non_null(strstr(err, ": Configure PID Assignment (5704h): Invalid Input"));
		forbidden = 0;
	}
	fabric_free(&f);
}

/* A switch whose tables have no groups for the links that it has twice. */
WEFT_TEST(a_refusal_names_node_command_and_code)
{
	static const char text[] = "fabric: f\nmode: cxl\nnodes:\n"
				   "  - {name: s0, kind: switch, pid: 1}\n"
				   "  - {name: s1, kind: switch, pid: 2}\n"
				   "  - {name: h0, kind: host, pid: 3}\n"
				   "  - {name: g0, kind: gfd, pid: 4, memory: 1M}\n"
				   "links:\n  - {a: s0, b: s1}\n  - {a: s0, b: s1}\n"
				   "  - {a: h0, b: s0}\n  - {a: g0, b: s1}\n";
	const struct weft_load_files files = { .topology = "f", .yaml = text, .len = strlen(text) };
	struct weft_topo_error why;
	struct weft_tables *tables;
	struct weft_node_cfg c;
	struct fabric f;
	char err[256] = "";

	assert_int_equal(weft_load_open(&f.topo, &f.load, &files, &why), 0);
	c = fabric_node(&f, 0);
	tables = empty_tables(&c, 0);
	assert_int_equal(weft_manager_set_routes(tables, &c, f.topo, err, sizeof(err)), -EPROTO);
	assert_string_equal(err, "node s0: Set RGT (570Bh): Invalid Input");
	free(tables);
	fabric_free(&f);
}

/* Two GFDs, whose memory groups have in turn, with a gap now and then; three hosts. */
static void
memory_draw(struct fabric *f, struct weft_rand *r)
{
	static char text[TEXT];
	struct weft_load_files files = { .topology = "drawn", .yaml = text };
	const unsigned int groups = 1 + (unsigned int)weft_rand_below(r, GROUPS);
	unsigned int at[2] = { 0, 0 };
	struct weft_topo_error why;

	text[0] = '\0';
	fabric_put(text, "fabric: f\nnodes:\n  - {name: s0, kind: switch, pid: 1}\n");
	for (unsigned int i = 0; i < 3; i++) {
		fabric_put(
			text, "  - {name: h%u, kind: host, pid: %u, access: [m0", i, 9 + 700 * i);
		for (unsigned int k = 1; k < groups; k++)
			if (weft_rand_below(r, 2) == 0)
				fabric_put(text, ", m%u", k);
		fabric_put(text, "]}\n");
	}
	for (unsigned int i = 0; i < 2; i++)
		fabric_put(text, "  - {name: g%u, kind: gfd, pid: %u, memory: 1M}\n", i, 100 + i);
	fabric_put(text, "groups:\n");
	for (unsigned int k = 0; k < groups; k++) {
		const unsigned int g = (unsigned int)weft_rand_below(r, 2);
		const unsigned int n = 1 + (unsigned int)weft_rand_below(r, 3);

		fabric_put(text, "  - {name: m%u, ranges: [{gfd: g%u, base: %u, size: %u}]}\n", k,
			g, at[g] * BLOCK, n * BLOCK);
		at[g] += n + (unsigned int)weft_rand_below(r, 2);
	}
	fabric_put(text, "links:\n");
	for (unsigned int i = 0; i < 3; i++)
		fabric_put(text, "  - {a: h%u, b: s0}\n", i);
	fabric_put(text, "  - {a: g0, b: s0}\n  - {a: g1, b: s0}\n");
	files.len = strlen(text);
	if (weft_load_open(&f->topo, &f->load, &files, &why) != 0)
		fail_msg("%s\n%s", why.text, text);
}

static struct weft_gfam_dc *
empty_lists(void)
{
	const struct weft_gfam_dc_cfg cfg = { .extents = 100, .tags = 1 };

	return weft_gfam_dc_init(fabric_alloc(NULL, weft_gfam_dc_size(&cfg)), &cfg);
}

/* What the topology says, by the setters, in tables of the same sizes. */
static struct weft_gfam *
memory_by_setters(
	struct weft_gfam_dc *dc, const struct weft_gfam_cfg *cfg, const struct weft_node_cfg *c)
{
	struct weft_gfam *g = weft_gfam_init(fabric_alloc(NULL, weft_gfam_size(cfg)), cfg);
	const struct weft_gfam_region region = {
		.decode_len = 256u << 20, .len = 1u << 20, .block = BLOCK
	};
	const struct weft_topo *t = c->topo;
	struct weft_gfam_dc_done done;

	assert_non_null(g);
	assert_int_equal(weft_gfam_set_dmp(g, 0, 0, 256u << 20, BLOCK), 0);
	assert_int_equal(weft_gfam_dc_set_region(dc, g, 0, &region), 0);
	for (unsigned int i = 0; i < t->access.n_ranges; i++) {
		const struct weft_topo_range *r = &t->access.range[i];
		const struct weft_gfam_range range = { r->base, r->size };
		const struct weft_gfam_add a = { .group = r->group,
			.policy = WEFT_GFAM_PRESCRIPTIVE,
			.len = r->size,
			.range = &range,
			.n = 1 };

		if (r->gfd == c->index)
			assert_int_equal(weft_gfam_dc_add(dc, g, &a, &done), 0);
	}
	for (unsigned int i = 0; i < t->n_nodes; i++)
		if (t->node[i].kind == WEFT_TOPO_HOST)
			assert_int_equal(
				weft_gfam_set_sat(g, t->node[i].pid, t->node[i].access), 0);
	assert_int_equal(weft_node_set_decoders(g, c, t), 0);
	return g;
}

static void
compare_lists(const struct weft_gfam_dc *a, const struct weft_gfam_dc *b, const struct weft_gfam *t)
{
	for (uint16_t group = 0; group < weft_gfam_cfg(t)->groups; group++) {
		struct weft_gfam_extent x[2][4] = { 0 };
		struct weft_gfam_dc_list list[2];

		assert_int_equal(weft_gfam_dc_extents(a, t, group, 0, x[0], 4, &list[0]), 0);
		assert_int_equal(weft_gfam_dc_extents(b, t, group, 0, x[1], 4, &list[1]), 0);
		assert_memory_equal(&list[0], &list[1], sizeof(list[0]));
		assert_memory_equal(x[0], x[1], sizeof(x[0]));
	}
}

static void
check_memory(const struct weft_node_cfg *c, bool has_lists)
{
	struct weft_gfam_dc *have_lists = empty_lists(), *want_lists = empty_lists();
	struct weft_gfam *have, *want;
	char err[256] = "";

	if (weft_node_make_access(
		    c, c->topo, has_lists ? have_lists : NULL, &have, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	want = memory_by_setters(want_lists, weft_gfam_cfg(have), c);
	assert_false(weft_gfam_differs(have, want));
	if (has_lists)
		compare_lists(have_lists, want_lists, have);
	free(have);
	free(want);
	free(have_lists);
	free(want_lists);
}

WEFT_TEST(commands_give_memory_as_the_topology_does)
{
	struct weft_rand r;

	weft_test_seed(&r, "memory");
	for (unsigned int k = 0; k < weft_test_cases(FABRICS); k++) {
		struct fabric f;

		memory_draw(&f, &r);
		for (uint16_t i = 0; i < f.topo->n_nodes; i++) {
			const struct weft_node_cfg c = fabric_node(&f, i);

			if (f.topo->node[i].kind == WEFT_TOPO_GFD) {
				check_memory(&c, true);
				check_memory(&c, false);
			}
		}
		fabric_free(&f);
	}
}

/* Lists that are too short for what the file gives. */
WEFT_TEST(memory_that_does_not_fit_is_refused)
{
	const struct weft_gfam_dc_cfg cfg = { .extents = 1, .tags = 1 };
	unsigned int refused = 0;
	struct weft_rand r;

	weft_test_seed(&r, "short lists");
	for (unsigned int k = 0; k < 20; k++) {
		struct weft_gfam_dc *dc =
			weft_gfam_dc_init(fabric_alloc(NULL, weft_gfam_dc_size(&cfg)), &cfg);
		struct weft_gfam *g = NULL;
		struct weft_node_cfg c;
		struct fabric f;
		char err[256] = "";

		memory_draw(&f, &r);
		c = fabric_node(&f, f.topo->gfd[0]);
		if (weft_node_make_access(&c, f.topo, dc, &g, err, sizeof(err)) == -EPROTO) {
			assert_string_equal(err, "node g0: GFD Dynamic Capacity Add (4907h): "
						 "Resources Exhausted");
			assert_null(g);
			refused++;
		}
		free(g);
		free(dc);
		fabric_free(&f);
	}
	assert_true(refused != 0);
}
