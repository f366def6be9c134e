/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What may change in a fabric that runs, and routes of which some nodes have the old and some the
 * new.
 */

#include "topo_test.h"

static const char lab[] = "fabric: lab\n"
			  "mode: rxl\n"
			  "routing: updown\n"
			  "defaults: {mtu: 9000, flits_per_frame: 4, retry: {window: 64}}\n"
			  "segments:\n"
			  "  - {interleave: {ways: 2, targets: [g0, g1]}, size: 1M}\n"
			  "  - {target: g0, size: 1M}\n"
			  "groups:\n"
			  "  - {name: low, ranges: [{gfd: g0, size: 2M}, {gfd: g1}]}\n"
			  "  - {name: high, ranges: [{gfd: g0, base: 2M}]}\n"
			  "nodes:\n"
			  "  - {name: h0, kind: host, pid: 1, access: [low], server: one}\n"
			  "  - {name: h1, kind: host, pid: 2, server: one}\n"
			  "  - {name: s0, kind: switch, pid: 3, lcores: \"1\", server: one}\n"
			  "  - {name: s1, kind: switch, pid: 4, server: one}\n"
			  "  - {name: s2, kind: switch, pid: 5, server: one}\n"
			  "  - {name: g0, kind: gfd, pid: 6, memory: 16M, server: one}\n"
			  "  - {name: g1, kind: gfd, pid: 7, memory: 16M, socket: 0, server: one}\n"
			  "links:\n"
			  "  - {a: h0, b: s0}\n"
			  "  - {a: h1, b: s1}\n"
			  "  - {a: s0, b: s1, wire: {drop: 0.1}}\n"
			  "  - {a: s1, b: s2, a_port: {netif: veth0}, b_port: {netif: veth1}}\n"
			  "  - {a: s2, b: s0, driver: memif, a_port: {socket: /x}}\n"
			  "  - {a: g0, b: s2}\n"
			  "  - {a: g1, b: s2}\n";

/* The lab with @was as @is; both end with a zero, and @was stands in it once. */
static struct weft_topo *
with(const char *was, const char *is)
{
	const char *at = strstr(lab, was);
	struct weft_topo_error err;
	struct weft_topo *t;
	char text[4096];
	int n;

	assert_non_null(at);
	assert_null(strstr(at + 1, was));
	n = snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - lab), lab, is, at + strlen(was));
	if (weft_topo_parse(&t, "lab", text, (size_t)n, &err) != 0)
		fail_msg("%s", err.text);
	return t;
}

WEFT_TEST(routes_rights_and_new_segments_may_change)
{
	static const char *const change[][2] = {
		{ "lab\n", "lab\n" },
		{ "updown", "shortest" },
		{ "access: [low]", "access: []" },
		{ "access: [low]", "access: [high, low]" },
		{ ", access: [low]", "" },
		{ "{gfd: g0, size: 2M}, ", "" },
		{ "{name: high, ", "{name: other, " },
		{ "groups:\n", "  - {target: g1, size: 4K}\n  - {gim: h0}\ngroups:\n" },
		{ "pid: 4, ", "pid: 4,   " },
		{ "groups:\n", "regions: [{name: x, gfd: g0, offset: 1M}]\ngroups:\n" },
		{ "pid: 2, ", "pid: 2, clients: [{uid: 7}], " },
	};
	struct weft_topo *now = with("lab\n", "lab\n");

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(change); i++) {
		struct weft_topo *next = with(change[i][0], change[i][1]);
		struct weft_topo_error err;

		if (weft_topo_check_change(now, next, "lab", &err) != 0)
			fail_msg("%s: %s", change[i][1], err.text);
		assert_int_equal(weft_topo_check_change(now, next, "lab", NULL), 0);
		assert_int_equal(weft_topo_check_mixed_routes(now, next, "lab", &err), 0);
		weft_topo_free(next);
	}
	weft_topo_free(now);
}

WEFT_TEST(all_else_is_refused_by_name)
{
	static const char *const change[][3] = {
		{ "lab\n", "other\n", "lab: fabric cannot change" },
		{ "rxl", "cxl", "mode cannot" },
		{ "mtu: 9000", "mtu: 8000", "port h0.0: mtu cannot" },
		{ "frame: 4", "frame: 4, cxl_io: 9", "defaults.cxl_io cannot" },
		{ "frame: 4", "frame: 5", "defaults.flits_per_frame cannot" },
		{ "window: 64", "window: 65", "defaults.retry.window cannot" },
		{ "mode: rxl\n", "mode: rxl\nide: {mode: skid, key_file: /k}\n",
			"ide.mode cannot" },
		{ "pid: 3", "pid: 9", "node s0: pid cannot" },
		{ "\"1\"", "\"1,2\"", "node s0: lcores cannot" },
		{ "16M, server", "32M, server", "node g0: memory cannot" },
		{ "socket: 0", "socket: 1", "node g1: socket cannot" },
		{ "a: h0, b: s0", "a: h0, b: s2", "port h0.0: other end cannot" },
		{ "drop: 0.1", "drop: 0.2", "port s0.1: wire cannot" },
		{ "netif: veth0", "netif: veth9", "port s1.2: device cannot" },
		{ "socket: /x", "socket: /y", "port s0.2: socket cannot" },
		{ "driver: memif, ", "", NULL },
		{ "nodes:\n", "nodes:\n  - {name: s3, kind: switch, pid: 99, server: one}\n",
			"nodes cannot" },
		{ "links:\n", "links:\n  - {a: s0, b: s1}\n", "links cannot" },
	};
	struct weft_topo *now = with("lab\n", "lab\n");

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(change); i++) {
		struct weft_topo *next = with(change[i][0], change[i][1]);
		struct weft_topo_error err = { .line = 7 };
		const int rc = weft_topo_check_change(now, next, "lab", &err);

		if (change[i][2] == NULL) { /* the same in other words */
			assert_int_equal(rc, 0);
		} else if (rc != -EINVAL || strstr(err.text, change[i][2]) == NULL) {
			fail_msg("%s: expected \"%s\", got %d, \"%s\"", change[i][1], change[i][2],
				rc, err.text);
		}
		weft_topo_free(next);
	}
	weft_topo_free(now);
}

/* A fabric of two devices with memory, and a host. */
static struct weft_topo *
devices(const char *packets, const char *of_h0, const char *of_d0)
{
	struct weft_topo_error err;
	struct weft_topo *t;
	char text[1024];
	const int n = snprintf(text, sizeof(text),
		"fabric: uio\n%s"
		"segments: [{target: d0}, {target: d1}]\n"
		"nodes:\n"
		"  - {name: h0, kind: host, pid: 1%s}\n"
		"  - {name: d0, kind: device, pid: 2, memory: 1M%s}\n"
		"  - {name: d1, kind: device, pid: 3, memory: 1M}\n"
		"  - {name: d2, kind: device, pid: 4}\n"
		"  - {name: s0, kind: switch, pid: 5}\n"
		"links: [{a: h0, b: s0}, {a: d0, b: s0}, {a: d1, b: s0}, {a: d2, b: s0}]\n",
		packets, of_h0, of_d0);

	if (weft_topo_parse(&t, "uio", text, (size_t)n, &err) != 0)
		fail_msg("%s", err.text);
	return t;
}

/* Where packets go, vectors are in what nodes made at the start. */
WEFT_TEST(vectors_of_ports_stay_where_there_is_uio)
{
	static const char io[] = "defaults: {cxl_io: 64}\n";
	static const struct {
		const char *vtv[2], *lav[2], *says;
	} cases[] = {
		{ { "", "" }, { "", "" }, NULL },
		{ { "", ", vtv: [d0]" }, { "", "" }, "node h0: vtv cannot change" },
		{ { ", vtv: []", "" }, { "", "" }, "node h0: vtv cannot change" },
		{ { ", vtv: [d0, d1]", ", vtv: [d1, d0]" }, { "", "" }, NULL },
		{ { ", vtv: [d0]", ", vtv: [d1]" }, { "", "" }, "node h0: vtv cannot change" },
		{ { "", "" }, { "", ", lav: []" }, "node d0: lav cannot change" },
		{ { "", "" }, { ", lav: [d1]", ", lav: [d1]" }, NULL },
		{ { "", "" }, { ", lav: [d1]", ", lav: [d2, d1]" }, "node d0: lav cannot change" },
		{ { "", "" }, { ", lav: [d2, d1]", ", lav: [d2]" }, "node d0: lav cannot change" },
	};

	for (size_t i = 0; i < 2 * WEFT_ARRAY_SIZE(cases); i++) {
		const bool has_uio = i % 2 == 0;
		struct weft_topo *t[2];
		struct weft_topo_error err = { .line = 7 };
		int rc;

		for (unsigned int v = 0; v < 2; v++)
			t[v] = devices(has_uio ? io : "", cases[i / 2].vtv[v], cases[i / 2].lav[v]);
		rc = weft_topo_check_change(t[0], t[1], "uio", &err);
		if (!has_uio || cases[i / 2].says == NULL)
			assert_int_equal(rc, 0);
		else if (rc != -EINVAL || strstr(err.text, cases[i / 2].says) == NULL)
			fail_msg("%s: got %d, \"%s\"", cases[i / 2].says, rc, err.text);
		for (unsigned int v = 0; v < 2; v++)
			weft_topo_free(t[v]);
	}
}

/* Of cxl mode, as one of rxl has none. */
WEFT_TEST(form_of_a_link_stays)
{
	struct weft_topo *now = with("mode: rxl\n", "mode: cxl\n");
	struct weft_topo *next = with("mode: rxl\nrouting: updown\ndefaults: {",
		"mode: cxl\nrouting: updown\ndefaults: {link_form: pbr, ");
	struct weft_topo_error err;

	assert_int_equal(weft_topo_check_change(now, next, "lab", &err), -EINVAL);
	assert_non_null(strstr(err.text, "port h0.0: link_form cannot"));
	weft_topo_free(next);
	weft_topo_free(now);
}

WEFT_TEST(fabric_without_rights_gets_none)
{
	static const char plain[] = "nodes:\n"
				    "  - {name: h, kind: host, pid: 1%s}\n"
				    "  - {name: g, kind: gfd, pid: 2}\n"
				    "links:\n  - {a: h, b: g}\n";
	struct weft_topo *t[2];
	struct weft_topo_error err;
	char text[256];

	for (unsigned int i = 0; i < 2; i++) {
		int n = snprintf(text, sizeof(text), "fabric: f\n%s",
			i == 0 ? "" : "groups:\n  - {name: all, ranges: [{gfd: g}]}\n");

		n += snprintf(text + n, sizeof(text) - (size_t)n, plain, "");
		assert_int_equal(weft_topo_parse(&t[i], "f", text, (size_t)n, &err), 0);
	}
	assert_int_equal(weft_topo_check_change(t[0], t[1], "f", &err), -EINVAL);
	assert_non_null(strstr(err.text, "cannot come while the fabric runs"));
	assert_int_equal(weft_topo_check_change(t[1], t[0], "f", &err), 0);
	weft_topo_free(t[0]);
	weft_topo_free(t[1]);
}

/* A grid of 3 x 3 with an end at each switch; by which coordinate messages go first. */
static struct weft_topo *
grid(const char *routing, bool columns_first)
{
	struct weft_topo_error err;
	struct weft_topo *t;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	fprintf(f, "fabric: grid\nrouting: %s\nnodes:\n", routing);
	for (unsigned int i = 0; i < 9; i++) {
		fprintf(f, "  - {name: s%u, kind: switch, pid: %u, at: [%u, %u]}\n", i, i,
			columns_first ? i % 3 : i / 3, columns_first ? i / 3 : i % 3);
		fprintf(f, "  - {name: e%u, kind: %s, pid: %u}\n", i, i % 2 == 0 ? "host" : "gfd",
			100 + i);
	}
	fprintf(f, "links:\n");
	for (unsigned int i = 0; i < 9; i++) {
		fprintf(f, "  - {a: e%u, b: s%u}\n", i, i);
		if (i % 3 != 2)
			fprintf(f, "  - {a: s%u, b: s%u}\n", i, i + 1);
		if (i < 6)
			fprintf(f, "  - {a: s%u, b: s%u}\n", i, i + 3);
	}
	fclose(f);
	if (weft_topo_parse(&t, "grid", text, len, &err) != 0)
		fail_msg("%s", err.text);
	free(text);
	return t;
}

/* Routes that are good by themselves are good with themselves. */
WEFT_TEST(rows_then_columns_do_not_mix_with_columns_then_rows)
{
	struct weft_topo *t[] = { grid("dimension", false), grid("dimension", true),
		grid("updown", false) };
	struct weft_topo_error err;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(t); i++)
		assert_int_equal(weft_topo_check_mixed_routes(t[i], t[i], "grid", &err), 0);
	assert_int_equal(weft_topo_check_mixed_routes(t[0], t[1], "grid", &err), -EINVAL);
	assert_non_null(strstr(err.text, "grid: routing: dimension cannot become dimension"));
	assert_non_null(strstr(err.text, "wait in a circle, as that from s"));
	assert_int_equal(weft_topo_check_mixed_routes(t[1], t[0], "grid", NULL), -EINVAL);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(t); i++)
		weft_topo_free(t[i]);
}

struct mix {
	const struct weft_topo *now, *next;
	unsigned int nodes; /* bit i: switch i has the new routes */
};

static int
mixed_port(const void *arg, unsigned int node, int in, uint16_t dpid)
{
	const struct mix *m = arg;

	(void)in;
	return weft_topo_next_port(
		node % 2 == 0 && (m->nodes >> node / 2 & 1) != 0 ? m->next : m->now, node, dpid);
}

/* Whatever pair of routes is let pass: each of the 512 mixtures of a moment is free of circles. */
WEFT_TEST(mixtures_of_routes_that_may_follow_each_other_have_no_circle)
{
	struct weft_topo *t[] = { grid("dimension", false), grid("dimension", true),
		grid("updown", false), grid("auto", true) };
	unsigned int circles = 0, passed = 0;
	struct weft_topo_fault f;

	for (size_t a = 0; a < WEFT_ARRAY_SIZE(t); a++) {
		for (size_t b = 0; b < WEFT_ARRAY_SIZE(t); b++) {
			struct mix m = { t[a], t[b], 0 };
			const int rc = weft_topo_check_mixed_routes(t[a], t[b], "grid", NULL);

			passed += rc == 0;
			for (m.nodes = 0; m.nodes < 512; m.nodes++) {
				const bool is_circle =
					weft_topo_check_routes(t[a], mixed_port, &m, &f) != 0 &&
					f.kind == WEFT_TOPO_FAULT_DEADLOCK_CYCLE;

				circles += is_circle;
				assert_false(is_circle && rc == 0);
			}
		}
	}
	assert_true(circles > 0 && passed >= WEFT_ARRAY_SIZE(t));
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(t); i++)
		weft_topo_free(t[i]);
}
