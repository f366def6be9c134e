/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Agents and hosts that translate: what loads, what it answers, and each mistake in one line. */

#include "topo_test.h"

#define H0 "  - {name: h0, kind: host, pid: 0x101, ats: {agent: ta}}"
#define TRANSLATIONS(rest)                                                                         \
	"  - {name: ta, kind: host, pid: 0x100,\n"                                                 \
	"     translations: [{host: h0, va: 0x1000, pa: 0x10000100000, size: 64K,\n"               \
	"      move_to: 0x10000200000}" rest "]}"

#define LINKS                                                                                      \
	"links:\n  - {a: h0, b: s0}\n  - {a: h1, b: s0}\n  - {a: h2, b: s0}\n"                     \
	"  - {a: ta, b: s0}\n  - {a: s0, b: g0}"

static const char *const good[] = {
	"fabric: lab", /* 1 */
	"ide: {mode: off}", /* 2 */
	"nodes:", /* 3 */
	TRANSLATIONS(", {host: h1, va: 0x1000, pa: 0x10000300000, size: 1M, rights: r}"), /* 4-6 */
	H0, /* 7 */
	"  - {name: h1, kind: host, pid: 0x102, ats: {agent: ta, entries: 64, prefetch: 1}}",
	"  - {name: h2, kind: host, pid: 0x103}", /* 9 */
	"  - {name: s0, kind: switch, pid: 0x010}", /* 10 */
	"  - {name: g0, kind: gfd, pid: 0x200}", /* 11 */
	LINKS,
};

/* Of good[]. */
enum { IDE = 1, TA = 3, HOST0, HOST1, HOST2, SWITCH };

static struct weft_topo *
parse(unsigned int replaced, const char *by, struct weft_topo_error *e, int *rc)
{
	char text[4096] = "";
	struct weft_topo *t;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(good); i++) {
		strcat(text, i == replaced ? by : good[i]);
		strcat(text, "\n");
	}
	*rc = weft_topo_parse(&t, "lab.yaml", text, strlen(text), e);
	return t;
}

/* Memory of a device stands in a segment, but no host reads or writes it by CXL.mem. */
WEFT_TEST(memory_of_devices_is_none)
{
	static const char text[] =
		"fabric: lab\nsegments:\n  - {target: g0}\n  - {target: d0}\nnodes:\n"
		"  - {name: ta, kind: host, pid: 0x100,\n"
		"     translations: [{host: h0, va: 0, pa: 0x11000000000, size: 4K}]}\n"
		"  - {name: h0, kind: host, pid: 0x101, ats: {agent: ta}}\n"
		"  - {name: s0, kind: switch, pid: 0x010}\n"
		"  - {name: d0, kind: device, pid: 0x300, memory: 1M}\n"
		"  - {name: g0, kind: gfd, pid: 0x200}\n"
		"links:\n  - {a: h0, b: s0}\n  - {a: ta, b: s0}\n  - {a: d0, b: s0}\n"
		"  - {a: s0, b: g0}\n";
	struct weft_topo_error e;
	struct weft_topo *t;

	assert_int_equal(weft_topo_parse(&t, "lab.yaml", text, strlen(text), &e), -EINVAL);
	assert_string_equal(e.text,
		"lab.yaml:7: nodes[0].translations[0]: not in one segment, expected memory for "
		"4096 bytes, got 0x11000000000");
}

WEFT_TEST(loads_and_answers)
{
	struct weft_topo_error e;
	int rc;
	struct weft_topo *t = parse(UINT32_MAX, NULL, &e, &rc);
	const struct weft_topo_translation *x;
	const struct weft_topo_node *ta, *h1;
	uint64_t pa = 0;

	if (rc != 0)
		fail_msg("%s", e.text);
	ta = &t->node[weft_topo_find(t, "ta")];
	h1 = &t->node[weft_topo_find(t, "h1")];
	assert_int_equal(ta->n_translations, 2);
	assert_true(h1->translates && !ta->translates && !t->map.is_default);
	assert_int_equal(h1->ats.entries, 64);
	assert_int_equal(h1->ats.agent, weft_topo_find(t, "ta"));
	x = weft_topo_translate(t, (unsigned int)weft_topo_find(t, "h0"), 0x10fff, &pa);
	assert_non_null(x);
	assert_int_equal(pa, 0x1000010ffff);
	assert_int_equal(x->page_log2, 12);
	assert_int_equal(x->rights, WEFT_TOPO_R | WEFT_TOPO_W);
	assert_null(weft_topo_translate(t, (unsigned int)weft_topo_find(t, "h0"), 0x11000, &pa));
	assert_null(weft_topo_translate(t, (unsigned int)weft_topo_find(t, "h0"), 0xfff, &pa));
	/* The same address of another host is another's. */
	x = weft_topo_translate(t, (unsigned int)weft_topo_find(t, "h1"), 0x1000, &pa);
	assert_int_equal(pa, 0x10000300000);
	assert_string_equal(weft_topo_rights_word(x->rights), "r");
	weft_topo_free(t);
}

static const struct {
	unsigned int replaced;
	const char *by;
	unsigned int line;
	const char *text;
} rows[] = {
	{ IDE, "ide: {mode: skid, key_file: k}", 7,
		"nodes[1].ats: ats with ide, expected ide off as IDE does not cover CXL.io" },
	{ HOST0, "  - {name: h0, kind: host, pid: 0x101, ats: {entries: 64}}", 7,
		"nodes[1].ats: key missing, expected agent" },
	{ HOST0, "  - {name: h0, kind: host, pid: 0x101, ats: {agent: h2}}", 7,
		"nodes[1].ats: no agent, expected the name of a host with translations, got "
		"\"h2\"" },
	{ HOST0, "  - {name: h0, kind: host, pid: 0x101, ats: {agent: ta, entries: 100}}", 7,
		"nodes[1].ats.entries: bad number, expected 8..1048576, a power of 2, got "
		"\"100\"" },
	{ HOST0, "  - {name: h0, kind: host, pid: 0x101, ats: {agent: ta, prefetch: 16}}", 7,
		"nodes[1].ats.prefetch: bad number, expected 1..15" },
	{ HOST0,
		"  - {name: h0, kind: host, pid: 0x101, gim: 1M,\n"
		"     ats: {agent: ta}}",
		8, "nodes[1].ats: gim of a host that translates" },
	{ IDE, "defaults: {cxl_io: 0}", 7,
		"nodes[1].ats: ats without CXL.io packets, expected no defaults.cxl_io or one "
		"above 0, got 0" },
	{ SWITCH, "  - {name: s0, kind: switch, pid: 0x010, ats: {agent: ta}}", 10,
		"nodes[4].ats: key of another kind, expected it in a host only" },
	{ TA, TRANSLATIONS(", {host: h2, va: 0, pa: 0x10000300000, size: 4K}"), 6,
		"translations[1]: no client, expected a host with ats: {agent: ta}, got \"h2\"" },
	{ TA, TRANSLATIONS(", {host: h1, va: 0, pa: 0x10000300000, size: 4K, page: 5000}"), 6,
		"translations[1].page: bad size, expected 4096..1073741824 bytes, a power of 2, K, "
		"M or G may follow, got \"5000\"" },
	{ TA, TRANSLATIONS(", {host: h1, va: 4K, pa: 0x10000300000, size: 8K, page: 8K}"), 6,
		"translations[1]: not whole pages, expected va and size as multiples of 8192" },
	{ TA, TRANSLATIONS(", {host: h1, va: 0, pa: 0x10000300100, size: 4K}"), 6,
		"translations[1]: not aligned, expected a multiple of the page of 4096 bytes" },
	{ TA, TRANSLATIONS(", {host: h1, va: 0, pa: 0x10001000000, size: 4K}"), 6,
		"translations[1]: not in one segment, expected memory for 4096 bytes, got "
		"0x10001000000" },
	{ TA, TRANSLATIONS(", {host: h1, va: 0, pa: 0x1000, size: 4K}"), 6,
		"translations[1]: not in one segment" },
	{ TA, TRANSLATIONS(", {host: h0, va: 0x10000, pa: 0x10000300000, size: 4K}"), 6,
		"translations[1]: address translated twice, expected one translation of host h0, "
		"got that of line 5 again" },
	{ TA, TRANSLATIONS(", {host: h1, va: 0, pa: 0x1000020f000, size: 8K}"), 6,
		"translations[1]: memory of another translation, expected some of its own, got "
		"that of line 5" },
	{ TA,
		TRANSLATIONS(", {host: h1, va: 0, pa: 0x10000300000, size: 8K, move_to: "
			     "0x10000301000}"),
		6, "translations[1]: moves onto itself" },
	{ TA, TRANSLATIONS(", {host: h1, va: 0, pa: 0x10000300000, size: 4K, rights: x}"), 6,
		"translations[1].rights: bad word, expected none|r|w|rw, got \"x\"" },
	{ TA, TRANSLATIONS("], ats: {agent: ta}, access: ["), 5,
		"nodes[0]: an agent that translates, expected translations without ats" },
	{ TA, TRANSLATIONS("], gim: 1M, access: ["), 5, "nodes[0]: gim of an agent" },
};

WEFT_TEST(mistakes_are_refused)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		struct weft_topo_error e;
		char where[32];
		int rc;

		assert_null(parse(rows[i].replaced, rows[i].by, &e, &rc));
		assert_int_equal(rc, -EINVAL);
		snprintf(where, sizeof(where), "lab.yaml:%u: ", rows[i].line);
		if (strncmp(e.text, where, strlen(where)) != 0 ||
			strstr(e.text, rows[i].text) == NULL)
			fail_msg("row %u: expected \"%s...%s\", got \"%s\"", i, where, rows[i].text,
				e.text);
	}
}
