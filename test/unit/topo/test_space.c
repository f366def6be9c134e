/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where addresses lead and who may go there, against arithmetic by division and groups looked up
 * byte by byte.
 */

#include <errno.h>

#include "topo_test.h"

#include "weft_pbr.h"
#include "weft_resolve.h"

static struct weft_topo *
parse(const char *yaml)
{
	struct weft_topo_error err;
	struct weft_topo *t;

	if (weft_topo_parse(&t, "space", yaml, strlen(yaml), &err) != 0)
		fail_msg("%s\n%s", err.text, yaml);
	return t;
}

WEFT_TEST(plain_files_have_a_segment_for_each_gfd)
{
	struct weft_topo *t = topo_test_load(TOPO_FORMS);

	assert_true(t->map.is_default);
	assert_int_equal(t->map.n_segments, t->n_gfds);
	assert_int_equal(t->access.n_groups, 1);
	assert_string_equal(t->access.group[0].name, "all");
	for (uint16_t g = 0; g < t->n_gfds; g++) {
		const struct weft_topo_node *gfd = &t->node[t->gfd[g]];

		assert_int_equal(t->map.segment[g].base, weft_topo_hpa(t, g));
		assert_int_equal(t->map.segment[g].size, gfd->memory);
		assert_int_equal(t->map.segment[g].ways_log2, 0);
		assert_int_equal(t->map.target[t->map.segment[g].first_target].node, t->gfd[g]);
	}
	for (uint16_t h = 0; h < t->n_hosts; h++)
		assert_int_equal(t->node[t->host[h]].access, 1);
	weft_topo_free(t);
}

/* @ways GFDs of 1 MiB behind one switch, all in one set behind a segment of the last one's. */
static struct weft_topo *
interleaved(unsigned int ways, unsigned int granularity, uint64_t size)
{
	struct weft_topo *t;
	char *yaml;
	size_t len;
	FILE *out = open_memstream(&yaml, &len);

	assert_non_null(out);
	fprintf(out,
		"fabric: x\nsegment_size: 128G\nsegments:\n"
		"  - {target: g%u, size: 64K}\n"
		"  - {interleave: {ways: %u, granularity: %u, targets: [",
		ways - 1, ways, granularity);
	for (unsigned int i = 0; i < ways; i++)
		fprintf(out, "%sg%u", i == 0 ? "" : ", ", i);
	fprintf(out,
		"]}, size: %llu}\nnodes:\n  - {name: h, kind: host, pid: 1}\n"
		"  - {name: s, kind: switch, pid: 2}\n  - {name: s2, kind: switch, pid: 3}\n",
		(unsigned long long)size);
	for (unsigned int i = 0; i < ways; i++)
		fprintf(out, "  - {name: g%u, kind: gfd, pid: %u, memory: 1M}\n", i, 256 + i);
	fprintf(out, "links:\n  - {a: h, b: s}\n  - {a: s, b: s2}\n");
	for (unsigned int i = 0; i < ways; i++)
		fprintf(out, "  - {a: s%s, b: g%u}\n", i % 2 == 0 ? "" : "2", i);
	fclose(out);
	t = parse(yaml);
	free(yaml);
	return t;
}

WEFT_TEST(interleave_takes_turns)
{
	static struct weft_resolve_hop hop[300];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int n = 1; n <= 8; n++) {
		for (unsigned int gran = 0; gran <= 6; gran++) {
			const uint64_t ways = 1u << n, bytes = UINT64_C(256) << gran;
			const uint64_t size = ways * (512 << 10);
			struct weft_topo *t =
				interleaved((unsigned int)ways, (unsigned int)bytes, size);
			const uint64_t base = t->map.segment[1].base;

			assert_int_equal(base, (UINT64_C(1) << 40) + (UINT64_C(1) << 37));
			for (unsigned int i = 0; i < 500; i++) {
				uint64_t off =
					i < 3 ? size - 1 + i : weft_rand_below(&r, size + size / 8);
				uint64_t turn = off / bytes, way = turn % ways;
				uint64_t dpa = turn / ways * bytes + off % bytes;
				struct weft_resolve a;

				dpa += way == ways - 1 ? 64 << 10 : 0;
				assert_int_equal(weft_resolve(t, 0, base + off, false, &a, hop), 0);
				assert_int_equal(a.segment, 1);
				assert_int_equal(a.way, way);
				assert_int_equal(a.dpid, 256 + way);
				assert_int_equal(a.rule,
					off < size ? WEFT_RESOLVE_ALLOWED : WEFT_RESOLVE_NO_HIT);
				assert_int_equal(a.n_hops, way % 2 == 0 ? 3 : 4);
				if (off >= size)
					continue;
				assert_int_equal(a.dpa, dpa);
				assert_int_equal(a.decoder, way == ways - 1 ? 1 : 0);
			}
			weft_topo_free(t);
		}
	}
}

static const char rights_yaml[] =
	"fabric: x\n"
	"segments:\n"
	"  - {target: g0}\n"
	"  - {target: g1, size: 32K}\n"
	"  - {gim: h1}\n"
	"  - {target: g1}\n"
	"groups:\n"
	"  - {name: a, ranges: [{gfd: g0, size: 16K}, {gfd: g1, base: 48K, size: 8K}]}\n"
	"  - {name: b, ranges: [{gfd: g0, base: 20K, size: 12K}]}\n"
	"  - {name: c, ranges: [{gfd: g0, base: 32K}]}\n"
	"nodes:\n"
	"  - {name: h0, kind: host, pid: 10, access: [b]}\n"
	"  - {name: h1, kind: host, pid: 11}\n"
	"  - {name: h2, kind: host, pid: 12, access: []}\n"
	"  - {name: h3, kind: host, pid: 13, access: [c, a]}\n"
	"  - {name: s, kind: switch, pid: 1}\n"
	"  - {name: g0, kind: gfd, pid: 20, memory: 64K}\n"
	"  - {name: g1, kind: gfd, pid: 21, memory: 64K}\n"
	"links: [{a: h0, b: s}, {a: h1, b: s}, {a: h2, b: s}, {a: h3, b: s}, {a: s, b: g0}, {a: s, "
	"b: g1}]\n";

/* Group of each KiB of g0 and g1: - none. */
static const char groups_of[2][65] = {
	"aaaaaaaaaaaaaaaa----bbbbbbbbbbbbcccccccccccccccccccccccccccccccc",
	"------------------------------------------------aaaaaaaa--------",
};

WEFT_TEST(rights_hold_for_every_block)
{
	static const char *const may[] = { "b", "abc", "", "ac" };
	static const bool at_edge[4][2] = { { true, false }, { true, true }, { false, false },
		{ true, true } };
	struct weft_topo *t = parse(rights_yaml);
	struct weft_resolve_hop hop[16];

	assert_false(t->map.is_default);
	assert_int_equal(t->node[0].access, 2);
	assert_int_equal(t->node[1].access, 7);
	assert_int_equal(t->node[2].access, 0);
	for (unsigned int h = 0; h < 4; h++) {
		for (unsigned int k = 0; k < 128; k++) {
			const unsigned int gfd = k / 64, dpa = k % 64 * 1024;
			const unsigned int segment = gfd == 0 ? 0 : dpa < 32768 ? 1 : 3;
			const uint64_t hpa =
				t->map.segment[segment].base + (segment == 3 ? dpa - 32768u : dpa);
			const char group = groups_of[gfd][k % 64];
			struct weft_resolve r;
			unsigned int want = !at_edge[h][gfd]                ? WEFT_RESOLVE_VECTOR
			                    : group == '-'                  ? WEFT_RESOLVE_NO_GROUP
			                    : strchr(may[h], group) != NULL ? WEFT_RESOLVE_ALLOWED
			                                                    : WEFT_RESOLVE_DENIED;

			assert_int_equal(weft_resolve(t, h, hpa, k % 2 == 0, &r, hop), 0);
			assert_int_equal(r.rule, want);
			assert_int_equal(r.spid, 10 + h);
			assert_int_equal(r.dpid, 20 + gfd);
			if (want == WEFT_RESOLVE_VECTOR) {
				assert_int_equal(r.n_hops, 0);
				continue;
			}
			assert_int_equal(r.dpa, dpa);
			assert_int_equal(r.decoder, segment == 3);
			assert_int_equal(r.group,
				group == '-' ? WEFT_RESOLVE_NONE : (unsigned int)(group - 'a'));
		}
	}
	weft_topo_free(t);
}

WEFT_TEST(memory_of_hosts_is_for_uio)
{
	struct weft_topo *t = parse(rights_yaml);
	const uint64_t hpa = t->map.segment[2].base + 5;
	struct weft_resolve_hop hop[16];
	struct weft_resolve r;

	assert_int_equal(weft_resolve(t, 2, hpa, false, &r, hop), 0);
	assert_int_equal(r.rule, WEFT_RESOLVE_GIM_UIO_ONLY);
	assert_int_equal(weft_resolve(t, 2, hpa, true, &r, hop), 0);
	assert_int_equal(r.rule, WEFT_RESOLVE_GIM);
	assert_int_equal(r.dpid, 11);
	assert_int_equal(r.n_hops, 3);
	assert_int_equal(hop[0].node, 2);
	assert_int_equal(hop[0].in, -1);
	assert_int_equal(hop[0].out, 0);
	assert_int_equal(hop[1].node, 4);
	assert_int_equal(hop[1].in, 2);
	assert_int_equal(hop[1].out, 1);
	assert_int_equal(hop[2].node, 1);
	assert_int_equal(hop[2].out, -1);
	assert_int_equal(weft_resolve(t, 1, hpa, true, &r, hop), 0);
	assert_int_equal(r.rule, WEFT_RESOLVE_GIM_SELF);
	assert_int_equal(weft_resolve(t, 4, hpa, true, &r, hop), -EINVAL);
	assert_int_equal(weft_resolve(t, t->n_nodes, hpa, true, &r, hop), -EINVAL);
	weft_topo_free(t);
}

WEFT_TEST(bindings_and_roles_are_found)
{
	static const struct {
		const char *node;
		uint8_t number, role, peer_role;
	} rows[] = {
		{ "s0", 0, WEFT_TOPO_ROLE_PBR_USP, WEFT_TOPO_ROLE_ROOT },
		{ "s0", 2, WEFT_TOPO_ROLE_FPORT, WEFT_TOPO_ROLE_FPORT },
		{ "s0", 3, WEFT_TOPO_ROLE_PBR_DSP, WEFT_TOPO_ROLE_GFD },
		{ "s0", 4, WEFT_TOPO_ROLE_PBR_DSP, WEFT_TOPO_ROLE_DEVICE },
		{ "s1", 4, WEFT_TOPO_ROLE_PBR_DSP, WEFT_TOPO_ROLE_HBR_USP },
		{ "b0", 1, WEFT_TOPO_ROLE_HBR_DSP, WEFT_TOPO_ROLE_DEVICE },
	};
	struct weft_topo *t = topo_test_load(TOPO_POOL);
	struct weft_drt drt;
	int s0 = weft_topo_find(t, "s0"), s1 = weft_topo_find(t, "s1");

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		const struct weft_topo_node *n = &t->node[weft_topo_find(t, rows[i].node)];
		const struct weft_topo_port *p = &t->port[n->first_port + rows[i].number];

		assert_int_equal(p->role, rows[i].role);
		assert_int_equal(t->port[p->peer].role, rows[i].peer_role);
	}
	assert_int_equal(t->n_bindings, 3);
	assert_int_equal(t->binding[0].host_switch, s0);
	assert_int_equal(t->binding[0].device_switch, s1);
	assert_int_equal(t->binding[0].pid, 0xC00);
	assert_int_equal(t->binding[1].device, weft_topo_find(t, "d0"));
	assert_int_equal(t->binding[2].device_switch, s0);
	assert_int_equal(t->binding[2].pid, WEFT_TOPO_NO_PID);
	/* The PID of the FPort above the vUSP leads to its switch. */
	assert_int_equal(weft_topo_routes(t, (unsigned int)s0, &drt), 0);
	assert_int_equal(weft_drt_port(&drt, 0xC00), 2);
	assert_int_equal(weft_drt_port(&drt, 0x603), 2);
	assert_int_equal(weft_topo_routes(t, (unsigned int)s1, &drt), 0);
	assert_int_equal(weft_drt_port(&drt, 0xC00), -1);
	assert_int_equal(weft_drt_port(&drt, 0x603), 4); /* by the HBR switch */
	weft_topo_free(t);
}

/* As if the file said nothing. */
WEFT_TEST(auto_is_the_usual_role)
{
	struct weft_topo *t = parse("fabric: x\nnodes:\n"
				    "  - {name: h, kind: host, pid: 1}\n"
				    "  - {name: s, kind: switch, pid: 2}\n"
				    "  - {name: b, kind: hbr, pid: 3}\n"
				    "  - {name: d, kind: device, pid: 4}\n"
				    "links:\n"
				    "  - {a: h, b: s, b_port: {role: auto}}\n"
				    "  - {a: s, b: b, a_port: {role: auto}, b_port: {role: auto}}\n"
				    "  - {a: b, b: d, a_port: {role: auto}}\n");
	static const uint8_t roles[][2] = {
		{ WEFT_TOPO_ROLE_ROOT, WEFT_TOPO_ROLE_PBR_USP },
		{ WEFT_TOPO_ROLE_PBR_DSP, WEFT_TOPO_ROLE_HBR_USP },
		{ WEFT_TOPO_ROLE_HBR_DSP, WEFT_TOPO_ROLE_DEVICE },
	};

	for (unsigned int i = 0; i < t->n_links; i++) {
		assert_int_equal(t->port[t->link[i].a].role, roles[i][0]);
		assert_int_equal(t->port[t->link[i].b].role, roles[i][1]);
	}
	weft_topo_free(t);
}

WEFT_TEST(nothing_is_outside_the_segments)
{
	struct weft_topo *t = parse(rights_yaml);
	const uint64_t end = t->map.segment[3].base + (UINT64_C(1) << 36);
	const uint64_t outside[] = { 0, t->map.segment[0].base - 1, end, UINT64_MAX };
	struct weft_resolve_hop hop[16];
	struct weft_resolve r;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(outside); i++) {
		assert_int_equal(weft_resolve(t, 1, outside[i], false, &r, hop), 0);
		assert_int_equal(r.rule, WEFT_RESOLVE_NO_DECODE);
		assert_int_equal(r.segment, WEFT_RESOLVE_NONE);
		assert_int_equal(r.n_hops, 0);
	}
	assert_int_equal(weft_resolve(t, 1, end - 1, false, &r, hop), 0);
	assert_int_equal(r.rule, WEFT_RESOLVE_NO_HIT);
	weft_topo_free(t);
}

/* Where a manager gives out memory, it is nobody's in the file, and a copy is another topology. */
WEFT_TEST(memory_is_nobodys_until_a_manager_gives_it)
{
	struct weft_topo *t =
		parse("fabric: x\nmanagement: fm\nnodes:\n"
		      "  - {name: h0, kind: host, pid: 1}\n  - {name: h1, kind: host, pid: 2}\n"
		      "  - {name: s, kind: switch, pid: 3}\n"
		      "  - {name: g, kind: gfd, pid: 4, memory: 1M}\n"
		      "links:\n  - {a: h0, b: s}\n  - {a: h1, b: s}\n"
		      "  - {a: s, b: g}\n");
	const struct weft_topo_grant grant[] = {
		{ .host = 0, .gfd = 3, .group = 2, .base = 4096, .size = 8192 },
		{ .host = 1, .gfd = 3, .group = 2, .base = 4096, .size = 8192 },
		{ .host = 1, .gfd = 3, .group = 30, .base = 65536, .size = 4096 },
	};
	struct weft_topo_grant bad = grant[0];
	struct weft_resolve_hop hop[4];
	struct weft_resolve r;
	struct weft_topo *copy;

	assert_false(t->map.is_default);
	assert_int_equal(weft_resolve(t, 0, weft_topo_fast_base(t), false, &r, hop), 0);
	assert_int_equal(r.rule, WEFT_RESOLVE_NO_GROUP);
	assert_int_equal(weft_topo_copy(&copy, t), 0);
	assert_int_equal(weft_topo_set_memory(copy, grant, 3), 0);
	assert_int_equal(copy->access.n_ranges, 2);
	for (uint64_t at = 0; at < 1 << 20; at += 4096)
		for (unsigned int h = 0; h < 2; h++) {
			const unsigned int k = at == 4096 || at == 8192 ? 2 : at == 65536 ? 30 : 64;
			const bool is_open = k == 2 || (k == 30 && h == 1);

			assert_int_equal(
				weft_resolve(copy, h, weft_topo_fast_base(t) + at, false, &r, hop),
				0);
			assert_int_equal(r.rule == WEFT_RESOLVE_ALLOWED, is_open);
		}
	assert_int_equal(weft_resolve(t, 0, weft_topo_fast_base(t) + 4096, false, &r, hop), 0);
	assert_int_equal(r.rule, WEFT_RESOLVE_NO_GROUP);
	bad.group = WEFT_TOPO_FM_GROUPS;
	assert_int_equal(weft_topo_set_memory(copy, &bad, 1), -EINVAL);
	bad = grant[0];
	bad.gfd = 2;
	assert_int_equal(weft_topo_set_memory(copy, &bad, 1), -EINVAL);
	bad = grant[0];
	bad.base = (1 << 20) - 4096;
	assert_int_equal(weft_topo_set_memory(copy, &bad, 1), -EINVAL);
	bad.base = UINT64_MAX - 4095;
	assert_int_equal(weft_topo_set_memory(copy, &bad, 1), -EINVAL);
	assert_int_equal(copy->access.n_ranges, 2);
	weft_topo_free(t);
	assert_int_equal(weft_topo_set_memory(copy, NULL, 0), 0);
	assert_int_equal(copy->access.n_ranges, 0);
	weft_topo_free(copy);
}

WEFT_TEST(every_rule_has_its_words)
{
	for (unsigned int i = 0; i < WEFT_RESOLVE_RULES; i++) {
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(weft_resolve_word(i), weft_resolve_word(j));
		assert_string_not_equal(weft_resolve_text(i), "unknown");
		assert_string_not_equal(weft_resolve_answer(i, i % 2 == 0, i % 3 == 0), "unknown");
	}
	assert_string_equal(weft_resolve_word(WEFT_RESOLVE_RULES), "unknown");
	assert_string_equal(weft_resolve_text(WEFT_RESOLVE_RULES), "unknown");
	assert_string_equal(weft_resolve_answer(WEFT_RESOLVE_RULES, true, true), "unknown");
}
