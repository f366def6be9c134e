/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Decisions of an edge port: vectors of fabric.md part (c), every interleave, the order of
 * decoders, prefixes, completions, and each way to be denied, for every PID. The run of addresses
 * is held against the decision one at a time, and both against a search that knows no entry
 * numbers.
 */

#include "weft_test.h"

#include "weft_edge.h"

#define GB (UINT64_C(1) << 30)
#define PB (UINT64_C(1) << 50)
#define MY_PID 0x011

static struct weft_edge edge;
static struct weft_edge_decision d;

static int
setup(void **state)
{
	const struct weft_edge_cfg cfg = { .pid = MY_PID,
		.fast_depth_log2 = 12,
		.fast_idt = 4096,
		.ldst_depth_log2 = 4,
		.ldst_idt = 64,
		.rerouter_rows = 8,
		.gim = true,
		.vp = WEFT_VP_EGRESS | WEFT_VP_INGRESS };

	(void)state;
	assert_int_equal(weft_edge_init(&edge, &cfg), 0);
	return 0;
}

WEFT_TEST_EACH(setup, NULL)

static void
allow(enum weft_edge_vector v, uint16_t pid)
{
	assert_int_equal(weft_edge_allow(&edge, v, pid, true), 0);
}

static void
entry_set(struct weft_seg *s, unsigned int i, uint8_t flags, uint8_t intlv, uint8_t gran,
	uint16_t dpid)
{
	const struct weft_fast_entry e = {
		.flags = flags, .intlv = intlv, .gran = gran, .dpid = dpid
	};

	assert_int_equal(weft_seg_set_entries(s, i, &e, 1), 0);
}

static void
request(enum weft_edge_kind kind, uint64_t hpa, int prefix)
{
	memset(&d, 0xFF, sizeof(d));
	weft_edge_request(&edge, kind, hpa, prefix, &d);
	assert_int_equal(d.spid, MY_PID);
}

static void
assert_to(unsigned int dpid, bool pif, enum weft_edge_decoder by)
{
	assert_int_equal(d.reason, WEFT_EDGE_OK);
	assert_int_equal(d.dpid, dpid);
	assert_int_equal(d.pif, pif);
	assert_int_equal(d.decoder, by);
}

static void
assert_no(enum weft_edge_reason why, enum weft_edge_decoder by)
{
	assert_int_equal(d.reason, why);
	assert_int_equal(d.decoder, by);
	assert_int_equal(d.dpid, WEFT_PID_RESERVED);
}

static void
both_prefixes_on(void)
{
	assert_int_equal(weft_edge_set_vp_vcs(&edge, 3), 0);
	assert_int_equal(weft_edge_set_vp_host(&edge, 3), 0);
}

/* Part (c): way. */
WEFT_TEST(ways_are_those_of_the_vectors)
{
	assert_int_equal(weft_target_index(0x123456789ABC, 1, 0), 0);
	assert_int_equal(weft_target_index(0x123456789ABC, 8, 0), 0x9A);
	assert_int_equal(weft_target_index(0x123456789ABC, 3, 4), 1);
	assert_int_equal(weft_target_index(0x123456789ABC, 8, 6), 0xE2);
	assert_int_equal(weft_target_index(0x1000003FC0, 4, 0), 0xF);
}

/* Part (c): a 4-way 1 KB set at 1 PB. */
WEFT_TEST(four_way_set_is_that_of_the_vectors)
{
	static const struct {
		uint64_t off;
		uint16_t dpid;
	} v[] = { { 0, 0x201 }, { 0x400, 0x202 }, { 0xFC0, 0x204 }, { 0x12345C0, 0x202 },
		{ 16 * GB, 0x201 } };
	static const uint16_t idt[] = { 0x201, 0x202, 0x203, 0x204 };

	for (unsigned int i = 0; i < 4; i++)
		allow(WEFT_GMV, idt[i]);
	assert_int_equal(weft_seg_set_range(&edge.fast, 39, 1 * PB, 3 * PB), 0);
	assert_int_equal(weft_seg_set_idt(&edge.fast, 16, idt, 4), 0);
	entry_set(&edge.fast, 0, WEFT_SEG_VALID, 2, 2, 16);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(v); i++) {
		request(WEFT_EDGE_MEM, PB + v[i].off, WEFT_EDGE_ABSENT);
		assert_to(v[i].dpid, false, WEFT_EDGE_BY_FAST);
	}
}

/* Part (c): 512 GB x 4096 from 1 PB; command index 0 is entry 2048, index 2048 is entry 0 (Q1). */
WEFT_TEST(command_index_counts_from_the_base)
{
	static const struct {
		uint64_t hpa;
		unsigned int entry, index;
	} v[] = {
		{ 0x4000000000000, 2048, 0 },
		{ 0x7FFFFFFFFFFFF, 4095, 2047 },
		{ 0x8000000000000, 0, 2048 },
		{ 0xBFFFFFFFFFFFF, 2047, 4095 },
	};

	assert_int_equal(weft_seg_set_range(&edge.fast, 39, 1 * PB, 3 * PB), 0);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(v); i++) {
		allow(WEFT_GMV, (uint16_t)(0x300 + i));
		entry_set(&edge.fast, v[i].index, WEFT_SEG_VALID, 0, 0, (uint16_t)(0x300 + i));
		assert_int_equal(edge.fast.entry[v[i].entry].dpid, 0x300 + i);
		assert_int_equal(weft_seg_entry(&edge.fast, v[i].index)->dpid, 0x300 + i);
		request(WEFT_EDGE_MEM, v[i].hpa, WEFT_EDGE_ABSENT);
		assert_to((unsigned int)(0x300 + i), false, WEFT_EDGE_BY_FAST);
	}
}

/* The table has room for more segments than the range: the ones behind it are no hit. */
WEFT_TEST(range_ends_are_exact)
{
	const uint64_t hpa[] = { 64 * GB - 1, 64 * GB, 128 * GB - 1, 128 * GB, UINT64_MAX, 0 };
	int16_t dpid[WEFT_ARRAY_SIZE(hpa)];

	allow(WEFT_GMV, 0x201);
	assert_int_equal(weft_seg_set_range(&edge.fast, 36, 64 * GB, 128 * GB), 0);
	for (unsigned int i = 0; i < 4096; i++)
		entry_set(&edge.fast, i, WEFT_SEG_VALID, 0, 0, 0x201);
	for (unsigned int off = 0; off < 2; off++) {
		weft_edge_mem_run(&edge, hpa, dpid, WEFT_ARRAY_SIZE(hpa));
		for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(hpa); i++) {
			const bool in = off == 0 && (i == 1 || i == 2);

			request(WEFT_EDGE_MEM, hpa[i], WEFT_EDGE_ABSENT);
			assert_int_equal(d.reason, in ? WEFT_EDGE_OK : WEFT_EDGE_NO_DECODE);
			assert_int_equal(dpid[i], in ? 0x201 : -1);
		}
		/* Limit 0: off, and the entries stay. */
		assert_int_equal(weft_seg_set_range(&edge.fast, 36, 64 * GB, 0), 0);
	}
}

/*
 * Every ways x granularity: walking a whole stretch block by block, targets come in turn, each
 * block of one granule has one target, each target gets the same share.
 */
WEFT_TEST(all_pairs_deal_granules_out_in_turn)
{
	uint64_t hpa[64];
	int16_t dpid[64];
	uint16_t idt[256];

	for (uint16_t i = 0; i < 256; i++) {
		idt[i] = 0x400 + i;
		allow(WEFT_GMV, idt[i]);
	}
	assert_int_equal(weft_seg_set_range(&edge.fast, 36, 64 * GB, 128 * GB), 0);
	assert_int_equal(weft_seg_set_idt(&edge.fast, 100, idt, 256), 0);
	for (uint8_t intlv = 0; intlv <= WEFT_INTLV_MAX; intlv++)
		for (uint8_t gran = 0; gran <= WEFT_GRAN_MAX; gran++) {
			const uint64_t granule = UINT64_C(256) << gran;
			const unsigned int ways = 1u << intlv;
			uint64_t at = 64 * GB;
			unsigned int seen[256] = { 0 };

			entry_set(&edge.fast, 0, WEFT_SEG_VALID, intlv, gran,
				intlv == 0 ? idt[0] : 100);
			for (unsigned int block = 0; block < 2 * ways; block++)
				for (unsigned int k = 0; k < granule / 64; k += 64) {
					const unsigned int n =
						granule / 64 < 64 ? (unsigned int)granule / 64 : 64;

					for (unsigned int i = 0; i < n; i++, at += 64)
						hpa[i] = at;
					assert_int_equal(weft_edge_mem_run(&edge, hpa, dpid, n), n);
					for (unsigned int i = 0; i < n; i++)
						assert_int_equal(dpid[i], idt[block % ways]);
					seen[block % ways] += n;
				}
			assert_int_equal(at - 64 * GB, 2 * ways * granule);
			for (unsigned int w = 0; w < ways; w++)
				assert_int_equal(seen[w], 2 * granule / 64);
		}
}

/* The first decoder that has the address decides: take them away one by one. */
WEFT_TEST(decoders_come_in_order)
{
	const struct weft_hdm hdm = { 64 * GB, 64 * GB, 0x503 };

	allow(WEFT_GMV, 0x501);
	allow(WEFT_LAV, 0x502);
	allow(WEFT_VTV, 0x505);
	both_prefixes_on();
	assert_int_equal(weft_edge_set_hdm(&edge, 3, &hdm), 0);
	assert_int_equal(weft_edge_set_pcie(&edge, 0x504), 0);
	assert_int_equal(weft_seg_set_range(&edge.fast, 36, 64 * GB, 128 * GB), 0);
	assert_int_equal(weft_seg_set_range(&edge.ldst, 36, 64 * GB, 128 * GB), 0);
	entry_set(&edge.fast, 0, WEFT_SEG_VALID, 0, 0, 0x501);
	entry_set(&edge.ldst, 0, WEFT_SEG_VALID | WEFT_SEG_SEGMENT, 0, 0, 0x502);

	request(WEFT_EDGE_UIO, 64 * GB, 0x505);
	assert_to(0x505, true, WEFT_EDGE_BY_PREFIX);
	request(WEFT_EDGE_UIO, 64 * GB, WEFT_EDGE_ABSENT);
	assert_to(0x501, true, WEFT_EDGE_BY_FAST);
	request(WEFT_EDGE_MEM, 64 * GB, WEFT_EDGE_ABSENT);
	assert_to(0x501, false, WEFT_EDGE_BY_FAST);
	assert_false(d.segment);
	request(WEFT_EDGE_IO, 64 * GB, WEFT_EDGE_ABSENT);
	assert_to(0x504, false, WEFT_EDGE_BY_PCIE);

	entry_set(&edge.fast, 0, 0, 0, 0, 0x501);
	request(WEFT_EDGE_UIO, 64 * GB, WEFT_EDGE_ABSENT);
	assert_to(0x502, false, WEFT_EDGE_BY_LDST);
	assert_true(d.segment);
	request(WEFT_EDGE_MEM, 64 * GB, WEFT_EDGE_ABSENT);
	assert_to(0x502, false, WEFT_EDGE_BY_LDST);

	assert_int_equal(weft_seg_set_range(&edge.ldst, 36, 0, 0), 0);
	request(WEFT_EDGE_MEM, 128 * GB - 1, WEFT_EDGE_ABSENT);
	assert_to(0x503, false, WEFT_EDGE_BY_HDM);
	request(WEFT_EDGE_UIO, 64 * GB, WEFT_EDGE_ABSENT);
	assert_to(0x503, false, WEFT_EDGE_BY_HDM);

	request(WEFT_EDGE_UIO, 128 * GB, WEFT_EDGE_ABSENT);
	assert_to(0x504, false, WEFT_EDGE_BY_PCIE);
	request(WEFT_EDGE_MEM, 128 * GB, WEFT_EDGE_ABSENT);
	assert_no(WEFT_EDGE_NO_DECODE, WEFT_EDGE_BY_NONE);
	assert_int_equal(weft_edge_set_pcie(&edge, WEFT_PID_RESERVED), 0);
	request(WEFT_EDGE_IO, 64 * GB, WEFT_EDGE_ABSENT);
	assert_no(WEFT_EDGE_NO_DECODE, WEFT_EDGE_BY_NONE);
}

/*
 * A bit taken away stops requests at once, for each PID; given back, the entry still stands (Q13).
 */
WEFT_TEST(every_pid_is_denied_without_its_bit)
{
	static const struct {
		enum weft_edge_vector v;
		uint8_t flags;
		enum weft_edge_decoder by;
	} c[] = { { WEFT_GMV, WEFT_SEG_VALID, WEFT_EDGE_BY_FAST },
		{ WEFT_VTV, WEFT_SEG_VALID | WEFT_SEG_GIM, WEFT_EDGE_BY_FAST },
		{ WEFT_LAV, WEFT_SEG_VALID, WEFT_EDGE_BY_LDST } };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(c); i++) {
		struct weft_seg *s = c[i].v == WEFT_LAV ? &edge.ldst : &edge.fast;

		setup(NULL);
		assert_int_equal(weft_seg_set_range(s, 36, 64 * GB, 192 * GB), 0);
		for (uint16_t pid = 0; pid < WEFT_PID_RESERVED; pid++) {
			allow(c[i].v, pid);
			assert_int_equal(weft_seg_set_idt(s, 8, &pid, 1), 0);
			assert_int_equal(weft_seg_set_idt(s, 9, &pid, 1), 0);
			entry_set(s, 0, c[i].flags, 0, 0, pid);
			entry_set(s, 1, c[i].flags, 1, 0, 8);
			for (unsigned int k = 0; k < 4; k++) {
				const uint64_t hpa = (64 + (k & 1) * 64) * GB + (k & 2) * 128;

				weft_edge_allow(&edge, c[i].v, pid, true);
				request(WEFT_EDGE_UIO, hpa, WEFT_EDGE_ABSENT);
				assert_to(pid, c[i].v != WEFT_LAV, c[i].by);
				weft_edge_allow(&edge, c[i].v, pid, false);
				request(WEFT_EDGE_UIO, hpa, WEFT_EDGE_ABSENT);
				assert_no(WEFT_EDGE_NOT_ALLOWED, c[i].by);
			}
			/* The bit of another vector, or of another PID, is no help. */
			weft_edge_allow(&edge, c[i].v == WEFT_GMV ? WEFT_VTV : WEFT_GMV, pid, true);
			weft_edge_allow(&edge, c[i].v, (uint16_t)((pid + 1) % 0xFFF), true);
			request(WEFT_EDGE_UIO, 64 * GB, WEFT_EDGE_ABSENT);
			assert_no(WEFT_EDGE_NOT_ALLOWED, c[i].by);
		}
	}
}

WEFT_TEST(gim_segment_takes_uio_only)
{
	uint64_t hpa = 64 * GB;
	int16_t dpid;

	allow(WEFT_VTV, 0x601);
	allow(WEFT_GMV, 0x601);
	assert_int_equal(weft_seg_set_range(&edge.fast, 36, 64 * GB, 128 * GB), 0);
	entry_set(&edge.fast, 0, WEFT_SEG_VALID | WEFT_SEG_GIM, 0, 0, 0x601);
	request(WEFT_EDGE_UIO, hpa, WEFT_EDGE_ABSENT);
	assert_to(0x601, true, WEFT_EDGE_BY_FAST);
	request(WEFT_EDGE_MEM, hpa, WEFT_EDGE_ABSENT);
	assert_no(WEFT_EDGE_GIM_UIO_ONLY, WEFT_EDGE_BY_FAST);
	assert_int_equal(weft_edge_mem_run(&edge, &hpa, &dpid, 1), 0);
	assert_int_equal(dpid, -1);
}

/* Switch, FM and host must all agree; and the PID must be in VTV, whichever PID it is. */
WEFT_TEST(prefixes_need_all_three_switches_and_vtv)
{
	for (unsigned int have = 0; have < 4; have++)
		for (unsigned int vcs = 0; vcs < 4; vcs++)
			for (unsigned int host = 0; host < 4; host++) {
				const unsigned int vp = have & vcs & host;
				enum weft_edge_egress out;

				setup(NULL);
				edge.cfg.vp = (uint8_t)have;
				allow(WEFT_VTV, 0x701);
				assert_int_equal(weft_edge_set_vp_vcs(&edge, vcs),
					(vcs & ~have) != 0 ? -EINVAL : 0);
				assert_int_equal(weft_edge_set_vp_host(&edge, host), 0);
				request(WEFT_EDGE_UIO, 0, 0x701);
				if ((vp & WEFT_VP_INGRESS) != 0 && (vcs & ~have) == 0)
					assert_to(0x701, true, WEFT_EDGE_BY_PREFIX);
				else
					assert_no(WEFT_EDGE_BAD_PREFIX, WEFT_EDGE_BY_PREFIX);
				out = weft_edge_egress(&edge, WEFT_EDGE_UIO, true);
				assert_int_equal(
					out, (vp & WEFT_VP_EGRESS) != 0 && (vcs & ~have) == 0
						     ? WEFT_EGRESS_PREFIX
						     : WEFT_EGRESS_UR);
				/* In the other order it comes to the same. */
				weft_edge_set_vp_vcs(&edge, 0);
				assert_int_equal(edge.vp, 0);
				weft_edge_set_vp_vcs(&edge, vcs);
				assert_int_equal(edge.vp, (vcs & ~have) == 0 ? vp : 0);
			}
	setup(NULL);
	both_prefixes_on();
	allow(WEFT_VTV, 0x701);
	for (int pid = 0; pid < 0x2000; pid++) {
		request(WEFT_EDGE_UIO, 0, pid);
		if (pid == 0x701)
			assert_to(0x701, true, WEFT_EDGE_BY_PREFIX);
		else
			assert_no(WEFT_EDGE_BAD_PREFIX, WEFT_EDGE_BY_PREFIX);
		request(WEFT_EDGE_IO, 0, pid);
		assert_no(WEFT_EDGE_BAD_PREFIX, WEFT_EDGE_BY_PREFIX);
	}
}

WEFT_TEST(egress_rules)
{
	both_prefixes_on();
	for (unsigned int kind = 0; kind <= WEFT_EDGE_CPL; kind++) {
		const enum weft_edge_kind k = (enum weft_edge_kind)kind;

		edge.cfg.pbr_link = false;
		assert_int_equal(weft_edge_egress(&edge, k, false), WEFT_EGRESS_PASS);
		assert_int_equal(weft_edge_egress(&edge, k, true),
			k == WEFT_EDGE_UIO ? WEFT_EGRESS_PREFIX : WEFT_EGRESS_PASS);
		edge.cfg.pbr_link = true;
		assert_int_equal(weft_edge_egress(&edge, k, true), WEFT_EGRESS_PASS);
		edge.link_up = false;
		assert_int_equal(weft_edge_egress(&edge, k, true), WEFT_EGRESS_DROP);
		edge.link_up = true;
	}
}

static void
complete(uint16_t bdf, int segment, bool local, int prefix)
{
	memset(&d, 0xFF, sizeof(d));
	weft_edge_completion(&edge, bdf, segment, local, prefix, &d);
	assert_int_equal(d.spid, MY_PID);
}

WEFT_TEST(completions_find_their_way)
{
	static const struct weft_reroute rows[] = {
		{ .pid = 0x801, .segment_valid = true, .segment = 2, .bus = 3, .devfn = 0x21 },
		{ .pid = 0x802, .bus = 3, .devfn = 0x21 },
		{ .pid = 0x803, .bus = 3, .devfn = 0x21 }, /* never reached: the lowest wins */
	};

	for (uint16_t p = 0x801; p <= 0x803; p++)
		allow(WEFT_LAV, p);
	assert_int_equal(weft_edge_set_rerouter(&edge, 2, rows, 3), 0);
	complete(0x321, 2, false, WEFT_EDGE_ABSENT);
	assert_to(0x801, false, WEFT_EDGE_BY_REROUTER);
	complete(0x321, 1, false, WEFT_EDGE_ABSENT);
	assert_to(0x802, false, WEFT_EDGE_BY_REROUTER);
	complete(0x321, WEFT_EDGE_ABSENT, true, WEFT_EDGE_ABSENT);
	assert_to(0x802, false, WEFT_EDGE_BY_REROUTER);
	complete(0x320, 2, true, WEFT_EDGE_ABSENT);
	assert_to(WEFT_PID_RESERVED, false, WEFT_EDGE_BY_UPSTREAM);
	complete(0x320, 2, false, WEFT_EDGE_ABSENT);
	assert_no(WEFT_EDGE_UNEXPECTED, WEFT_EDGE_BY_NONE);
	weft_edge_allow(&edge, WEFT_LAV, 0x801, false);
	complete(0x321, 2, true, WEFT_EDGE_ABSENT);
	assert_no(WEFT_EDGE_NOT_ALLOWED, WEFT_EDGE_BY_REROUTER);

	allow(WEFT_VTV, 0x804);
	complete(0x321, 2, true, 0x804);
	assert_no(WEFT_EDGE_UNEXPECTED, WEFT_EDGE_BY_PREFIX);
	both_prefixes_on();
	/*
	 * It answers what went out with a prefix: that bit counts, not the one for what comes in.
	 */
	for (unsigned int vp = 0; vp < 4; vp++) {
		assert_int_equal(weft_edge_set_vp_host(&edge, vp), 0);
		complete(0x321, 2, true, 0x804);
		assert_int_equal(
			d.reason, (vp & WEFT_VP_EGRESS) != 0 ? WEFT_EDGE_OK : WEFT_EDGE_UNEXPECTED);
	}
	complete(0x321, 2, true, 0x10804);
	assert_no(WEFT_EDGE_UNEXPECTED, WEFT_EDGE_BY_PREFIX);
	for (int pid = 0; pid < 0x1100; pid++) {
		complete(0x321, 2, true, pid);
		if (pid == 0x804)
			assert_to(0x804, true, WEFT_EDGE_BY_PREFIX);
		else
			assert_no(WEFT_EDGE_UNEXPECTED, WEFT_EDGE_BY_PREFIX);
	}
}

/* A segment as it was meant, for a search without entry numbers, masks or lanes. */
struct meant {
	uint64_t start;
	uint8_t flags, intlv, gran;
	uint16_t dpid;
};

static int
search(const struct meant *m, unsigned int n, uint64_t size, const uint16_t *idt,
	const bool *allowed, uint64_t hpa)
{
	for (unsigned int i = 0; i < n; i++) {
		uint16_t pid = m[i].dpid;

		if (hpa < m[i].start || hpa - m[i].start >= size)
			continue;
		if (m[i].intlv != 0)
			pid = idt[m[i].dpid + hpa / (256u << m[i].gran) % (1u << m[i].intlv)];
		return m[i].flags == WEFT_SEG_VALID && allowed[pid] ? pid : -1;
	}
	return -1;
}

WEFT_TEST(random_tables_equal_a_search)
{
	static struct meant m[256];
	static uint16_t idt[4096];
	static bool allowed[WEFT_PIDS];
	struct weft_rand r;
	uint64_t hpa[64];
	int16_t dpid[64];

	weft_test_seed(&r, "edge");
	for (unsigned int round = 0; round < 60; round++) {
		const unsigned int segment_log2 = 36 + (unsigned int)weft_rand_below(&r, 8);
		const uint64_t size = UINT64_C(1) << segment_log2;
		const uint8_t depth_log2 = (uint8_t)weft_rand_below(&r, 9);
		const unsigned int n = 1 + (unsigned int)weft_rand_below(&r, 1u << depth_log2);
		const uint64_t base = (1 + weft_rand_below(&r, 1000)) * size;
		const struct weft_edge_cfg cfg = {
			.pid = MY_PID, .fast_depth_log2 = depth_log2, .fast_idt = 4096
		};

		assert_int_equal(weft_edge_init(&edge, &cfg), 0);
		for (uint16_t p = 0; p < WEFT_PID_RESERVED; p++)
			allow(WEFT_GMV, p);
		for (unsigned int i = 0; i < 4096; i++)
			idt[i] = (uint16_t)weft_rand_below(&r, WEFT_PID_RESERVED);
		assert_int_equal(weft_seg_set_idt(&edge.fast, 0, idt, 4096), 0);
		assert_int_equal(
			weft_seg_set_range(&edge.fast, segment_log2, base, base + n * size), 0);
		for (unsigned int i = 0; i < n; i++) {
			m[i] = (struct meant){ .start = base + i * size,
				.flags = weft_rand_below(&r, 8) != 0,
				.intlv = (uint8_t)weft_rand_below(&r, 9),
				.gran = (uint8_t)weft_rand_below(&r, 7),
				.dpid = (uint16_t)weft_rand_below(&r, 4096 - 256) };
			entry_set(&edge.fast, i, m[i].flags, m[i].intlv, m[i].gran, m[i].dpid);
		}
		for (uint16_t p = 0; p < WEFT_PID_RESERVED; p++) {
			allowed[p] = weft_rand_below(&r, 8) != 0;
			weft_edge_allow(&edge, WEFT_GMV, p, allowed[p]);
		}
		for (unsigned int burst = 0; burst < 50; burst++) {
			const unsigned int len = (unsigned int)weft_rand_below(&r, 65);

			const unsigned int near_log2 = (unsigned int)weft_rand_below(&r, 40);

			/* Runs of addresses that differ in few bits, low or high, and jumps. */
			for (unsigned int i = 0; i < len; i++)
				if (i != 0 && weft_rand_below(&r, 24) != 0)
					hpa[i] =
						hpa[i - 1] ^ (weft_rand_below(&r, 64) << near_log2);
				else
					hpa[i] = base - size + weft_rand_below(&r, (n + 2) * size);
			weft_edge_mem_run(&edge, hpa, dpid, len);
			for (unsigned int i = 0; i < len; i++) {
				assert_int_equal(dpid[i], search(m, n, size, idt, allowed, hpa[i]));
				request(WEFT_EDGE_MEM, hpa[i], WEFT_EDGE_ABSENT);
				assert_int_equal(d.reason == WEFT_EDGE_OK ? d.dpid : -1, dpid[i]);
			}
		}
	}
}

/* Tables of one description are compared by bytes: nothing of the caller's stack may be in them. */
WEFT_TEST(ports_of_one_description_have_the_same_bytes)
{
	static struct weft_edge e[2];
	struct weft_edge_cfg cfg;

	for (unsigned int i = 0; i < 2; i++) {
		memset(&e[i], i == 0 ? 0x00 : 0xFF, sizeof(e[i]));
		memset(&cfg, i == 0 ? 0x00 : 0xFF, sizeof(cfg));
		cfg.pid = MY_PID;
		cfg.fast_depth_log2 = 12;
		cfg.fast_idt = 4096;
		cfg.ldst_depth_log2 = 4;
		cfg.ldst_idt = 16;
		cfg.rerouter_rows = 2;
		cfg.gim = true;
		cfg.vp = WEFT_VP_EGRESS;
		cfg.pbr_link = false;
		assert_int_equal(weft_edge_init(&e[i], &cfg), 0);
	}
	assert_memory_equal(&e[0], &e[1], sizeof(e[0]));
}
