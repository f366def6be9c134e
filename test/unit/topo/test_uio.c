/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * UIO in a topology: what decides about memory of hosts and devices, told by a table written by
 * hand, and files that must be refused, each with its rule.
 */

#include "topo_test.h"

#include "weft_resolve.h"

static const char good_yaml[] =
	"fabric: x\n"
	"segments:\n"
	"  - {target: g0}\n"
	"  - {gim: h0, size: 64K}\n"
	"  - {gim: h1}\n"
	"  - {target: d1}\n"
	"  - {gim: h2}\n"
	"groups: [{name: a, ranges: [{gfd: g0}]}]\n"
	"nodes:\n"
	"  - {name: h0, kind: host, pid: 10, gim: 128K, egress_prefix: true,\n"
	"     windows: [{nodes: [h1, d0], size: 16K}, {nodes: [h1], base: 32K, size: 8K}]}\n"
	"  - {name: h1, kind: host, pid: 11, gim: 64K, vtv: [h0], windows: [{nodes: [h0]}]}\n"
	"  - {name: h2, kind: host, pid: 12, gim: 64K, egress_prefix: true, vtv: [h1],\n"
	"     windows: [{nodes: [h0]}]}\n"
	"  - {name: d0, kind: device, pid: 20, access: []}\n"
	"  - {name: d1, kind: device, pid: 21, memory: 32K, lav: []}\n"
	"  - {name: d2, kind: device, pid: 22, lav: [], vtv: [h1]}\n"
	"  - {name: s, kind: switch, pid: 1}\n"
	"  - {name: g0, kind: gfd, pid: 30, memory: 64K}\n"
	"links: [{a: h0, b: s}, {a: h1, b: s}, {a: h2, b: s}, {a: d0, b: s}, {a: d1, b: s},\n"
	"  {a: d2, b: s}, {a: g0, b: s}]\n";

static struct weft_topo *
parse(const char *yaml)
{
	struct weft_topo_error err;
	struct weft_topo *t;

	if (weft_topo_parse(&t, "uio", yaml, strlen(yaml), &err) != 0)
		fail_msg("%s\n%s", err.text, yaml);
	return t;
}

/* From whom, into which segment, at which KiB of it, by UIO; the rule that decides. */
static const struct {
	const char *from;
	unsigned int segment, kib;
	bool uio;
	enum weft_resolve_rule rule;
	bool is_unanswered;
} answers[] = {
	{ "h0", 0, 0, true, WEFT_RESOLVE_ALLOWED, false },
	{ "h0", 0, 64, true, WEFT_RESOLVE_NO_HIT, false },
	{ "d0", 0, 0, true, WEFT_RESOLVE_VECTOR, false },
	{ "d1", 0, 0, true, WEFT_RESOLVE_ALLOWED, false },
	{ "h1", 1, 0, true, WEFT_RESOLVE_ALLOWED, false },
	{ "h1", 1, 15, true, WEFT_RESOLVE_ALLOWED, false },
	{ "h1", 1, 16, true, WEFT_RESOLVE_NO_WINDOW, false },
	{ "h1", 1, 32, true, WEFT_RESOLVE_ALLOWED, false },
	{ "h1", 1, 40, true, WEFT_RESOLVE_NO_WINDOW, false },
	{ "h1", 1, 64, true, WEFT_RESOLVE_NO_HIT, false },
	{ "h1", 1, 0, false, WEFT_RESOLVE_GIM_UIO_ONLY, false },
	{ "h0", 1, 0, true, WEFT_RESOLVE_GIM_SELF, false },
	{ "h2", 1, 0, true, WEFT_RESOLVE_VTV, false },
	{ "d0", 1, 0, true, WEFT_RESOLVE_ALLOWED, false },
	{ "d0", 1, 32, true, WEFT_RESOLVE_WINDOW, false },
	{ "d1", 1, 0, true, WEFT_RESOLVE_WINDOW, false },
	{ "d2", 1, 0, true, WEFT_RESOLVE_VTV, false },
	{ "h0", 2, 0, true, WEFT_RESOLVE_EGRESS, false },
	{ "d2", 2, 0, true, WEFT_RESOLVE_EGRESS, false },
	{ "h0", 4, 0, true, WEFT_RESOLVE_ANSWER, true },
	{ "h0", 4, 64, true, WEFT_RESOLVE_NO_HIT, true },
	{ "d1", 4, 0, true, WEFT_RESOLVE_WINDOW, true },
	{ "d0", 3, 0, true, WEFT_RESOLVE_ALLOWED, false },
	{ "d0", 3, 32, true, WEFT_RESOLVE_NO_HIT, false },
	{ "d0", 3, 0, false, WEFT_RESOLVE_GIM_UIO_ONLY, false },
	{ "d2", 3, 0, true, WEFT_RESOLVE_LAV, false },
	{ "h0", 3, 0, true, WEFT_RESOLVE_NO_DECODE, false },
	{ "h0", 3, 0, false, WEFT_RESOLVE_NO_DECODE, false },
	{ "d0", 5, 0, true, WEFT_RESOLVE_NO_DECODE, false },
};

WEFT_TEST(every_answer_has_its_rule)
{
	struct weft_topo *t = parse(good_yaml);
	struct weft_resolve_hop hop[16];

	assert_false(t->map.is_default);
	assert_int_equal(t->map.segment[1].size, 64 << 10);
	assert_int_equal(t->map.segment[2].size, 64 << 10);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(answers); i++) {
		const uint64_t hpa = t->map.segment[0].base +
		                     ((uint64_t)answers[i].segment << t->map.segment_log2) +
		                     ((uint64_t)answers[i].kib << 10);
		const int from = weft_topo_find(t, answers[i].from);
		struct weft_resolve r;

		assert_int_equal(
			weft_resolve(t, (unsigned int)from, hpa, answers[i].uio, &r, hop), 0);
		if (r.rule != answers[i].rule)
			fail_msg("row %u: %s, not %s", i, weft_resolve_word(r.rule),
				weft_resolve_word(answers[i].rule));
		assert_int_equal(r.is_unanswered, answers[i].is_unanswered);
		/* No table of the port has it: nothing is named. */
		if (r.rule == WEFT_RESOLVE_NO_DECODE) {
			assert_int_equal(r.segment, WEFT_RESOLVE_NONE);
			assert_int_equal(r.target, WEFT_RESOLVE_NONE);
			assert_int_equal(r.dpid, WEFT_RESOLVE_NONE);
			assert_int_equal(r.n_hops, 0);
		}
		assert_int_equal(weft_resolve_is_allowed(r.rule),
			r.rule == WEFT_RESOLVE_ALLOWED || r.rule == WEFT_RESOLVE_ANSWER);
		if (weft_resolve_is_allowed(r.rule))
			assert_int_equal(r.dpa, answers[i].kib << 10);
		if (r.rule == WEFT_RESOLVE_WINDOW)
			assert_int_equal(r.window, answers[i].kib == 32);
	}
	weft_topo_free(t);
}

WEFT_TEST(vectors_are_those_of_the_file_or_all)
{
	struct weft_topo *t = parse(good_yaml);
	/* h0 h1 h2 d0 d1 d2 s g0: bit k of row n, other k of node n */
	static const uint8_t vtv[8] = { 0x3E, 0x01, 0x02, 0x07, 0x07, 0x02, 0, 0 };
	static const uint8_t lav[8] = { 0, 0, 0, 0x10, 0x08, 0, 0, 0 };
	static const uint8_t ask[8] = { 0x86, 0x85, 0x83, 0x97, 0x87, 0x97, 0, 0 };

	for (unsigned int n = 0; n < 8; n++)
		for (unsigned int k = 0; k < 8; k++) {
			assert_int_equal(weft_topo_in_vtv(t, n, k), vtv[n] >> k & 1);
			assert_int_equal(weft_topo_in_lav(t, n, k), lav[n] >> k & 1);
			assert_int_equal(weft_topo_may_ask(t, n, k), ask[n] >> k & 1);
		}
	weft_topo_free(t);
}

/* The good file with a text in it replaced, and what is said then; NULL: it stays good. */
static const struct {
	const char *from, *to, *text;
} changes[] = {
	{ "{gim: h1}", "{gim: h1, size: 128K}",
		"segments[2].size: more than host h1 has left, expected at most 65536" },
	{ "{target: d1}", "{target: d0}", "device without memory" },
	{ "{target: d1}", "{interleave: {ways: 2, targets: [d1, g0]}}", "bad target" },
	{ "base: 32K, size: 8K", "base: 8K, size: 64K",
		"nodes[0].windows[1]: windows overlap, expected one for a block" },
	{ "base: 32K, size: 8K", "base: 32K, size: 128K",
		"windows[1]: bad window, expected multiples of 4096 in the 131072 bytes" },
	{ "base: 32K, size: 8K", "base: 128K", "bad window" },
	{ "[h1, d0]", "[h1, g0]", "bad name, expected that of a host or device, got \"g0\"" },
	{ "lav: [], vtv", "lav: [h0], vtv", "nodes[5].lav: bad name, expected that of a device" },
	{ "vtv: [h0]", "vtv: [s]", "nodes[1].vtv: bad name, expected that of a host or device" },
	{ "gim: 128K", "gim: 130K",
		"nodes[0].gim: bad size, expected 4096..68719476736 bytes, a multiple of 4096" },
	{ "kind: device, pid: 20", "kind: device, pid: 20, gim: 4K",
		"key of another kind, expected it in a host only, got it in a device" },
	{ "pid: 10, gim", "pid: 10, forward: true, gim",
		"nodes[0].forward: a host that answers GIM must not forward UIO to GIM (fabric.md "
		"3.5): expected forward false, no such host in its vtv, or override: gim-forward, "
		"got h1 in the vtv of h0" },
	{ "pid: 10, gim", "pid: 10, forward: true, override: gim-forward, gim", NULL },
	{ "pid: 10, gim", "pid: 10, forward: true, vtv: [d0], gim", NULL },
	{ "pid: 10, gim", "pid: 10, forward: yes, gim", "nodes[0].forward: bad" },
};

WEFT_TEST(what_cannot_be_is_refused_with_its_rule)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(changes); i++) {
		const char *at = strstr(good_yaml, changes[i].from);
		char yaml[2 * sizeof(good_yaml)];
		struct weft_topo_error err = { 0 };
		struct weft_topo *t;
		int rc;

		assert_non_null(at);
		snprintf(yaml, sizeof(yaml), "%.*s%s%s", (int)(at - good_yaml), good_yaml,
			changes[i].to, at + strlen(changes[i].from));
		rc = weft_topo_parse(&t, "uio", yaml, strlen(yaml), &err);
		if (changes[i].text == NULL
				? rc != 0
				: rc != -EINVAL || strstr(err.text, changes[i].text) == NULL)
			fail_msg("row %u: %d, \"%s\"", i, rc, err.text);
		weft_topo_free(t);
	}
}
