/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * An edge port of HBR form, with slots as they are on the wire: what a host asks comes to the GFD
 * of its address as it was asked, and what a GFD answers comes back to the host; nothing that the
 * forms share is lost on the way. What may not pass does not (fabric.md 1.9, 1.11).
 */

#include "weft_test.h"

#include "weft_edge_link.h"
#include "weft_msg_gen.h"

#define PORT 0x123
#define ROUNDS 100000
#define SEGMENTS 8
#define BASE (UINT64_C(1) << 40)
#define DEVICE 0x700

static struct weft_edge edge;

static uint16_t
gfd_of(uint64_t addr)
{
	return (uint16_t)(0x200 + (addr - BASE) / (UINT64_C(1) << 36));
}

static void
edge_begin(void)
{
	const struct weft_edge_cfg cfg = { .pid = PORT,
		.fast_depth_log2 = 4,
		.fast_idt = 1,
		.ldst_depth_log2 = 4,
		.ldst_idt = 1,
		.rerouter_rows = 1,
		.gim = true,
		.vp = WEFT_VP_EGRESS | WEFT_VP_INGRESS };
	struct weft_fast_entry e = { .flags = WEFT_SEG_VALID };

	assert_int_equal(weft_edge_init(&edge, &cfg), 0);
	assert_int_equal(
		weft_seg_set_range(&edge.fast, 36, BASE, BASE + ((uint64_t)SEGMENTS << 36)), 0);
	for (unsigned int s = 0; s < SEGMENTS; s++) {
		e.dpid = (uint16_t)(0x200 + s);
		assert_int_equal(weft_edge_allow(&edge, WEFT_GMV, e.dpid, true), 0);
		assert_int_equal(weft_seg_set_entries(&edge.fast, s, &e, 1), 0);
	}
	assert_int_equal(weft_edge_set_vp_vcs(&edge, cfg.vp), 0);
	assert_int_equal(weft_edge_set_vp_host(&edge, cfg.vp), 0);
}

/* Through a slot of a form: what that form has no place for is gone. */
static struct weft_msg
over_link(enum weft_form form, const struct weft_msg *m)
{
	uint8_t slot[WEFT_FLIT_SLOT_LEN];
	struct weft_msg got[WEFT_MSG_PER_SLOT];
	unsigned int n;

	memset(got, 0, sizeof(got));
	assert_int_equal(weft_slot_encode(slot, false, form, m, 1), 0);
	assert_int_equal(weft_slot_decode(slot, false, form, got, &n), WEFT_OK);
	assert_int_equal(n, 1);
	return got[0];
}

static void
assert_same(const struct weft_msg *a, const struct weft_msg *b)
{
	assert_memory_equal(a, b, offsetof(struct weft_msg, data));
}

WEFT_TEST(requests_and_answers_come_through)
{
	static const uint8_t asks[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD };
	static const uint8_t answers[] = { WEFT_MSG_S2M_DRS, WEFT_MSG_S2M_NDR };
	struct weft_rand r;

	weft_test_seed(&r, "conversion");
	edge_begin();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct weft_msg asked = weft_gen_header(&r, asks[i % 2], WEFT_FORM_HBR), m, want;

		asked.addr = BASE + (weft_rand_below(&r, (uint64_t)SEGMENTS << 30) << 6);
		m = over_link(WEFT_FORM_HBR, &asked);
		assert_int_equal(weft_edge_msg_in(&edge, &m), WEFT_EDGE_OK);
		m = over_link(WEFT_FORM_PBR, &m);
		want = asked;
		want.ld_id = 0;
		want.spid = PORT;
		want.dpid = gfd_of(asked.addr);
		assert_same(&m, &want);

		want = weft_gen_header(&r, answers[i % 2], WEFT_FORM_PBR);
		want.dpid = m.spid;
		m = over_link(WEFT_FORM_PBR, &want);
		assert_true(weft_edge_msg_out(&m));
		m = over_link(WEFT_FORM_HBR, &m);
		want.dpid = 0;
		assert_same(&m, &want);
	}
}

/* Each kind, at addresses behind the range, and in a segment that the vector has closed. */
WEFT_TEST(what_may_not_pass_is_answered_or_dropped)
{
	struct weft_rand r;

	weft_test_seed(&r, "refused");
	edge_begin();
	assert_int_equal(weft_edge_allow(&edge, WEFT_GMV, 0x203, false), 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		const unsigned int kind = i % WEFT_MSG_LLCTRL;
		const bool asks = kind == WEFT_MSG_M2S_REQ || kind == WEFT_MSG_M2S_RWD;
		const bool closed = weft_rand_below(&r, 2) != 0;
		struct weft_msg was = weft_gen_header(&r, kind, WEFT_FORM_HBR), m = was;
		enum weft_edge_reason why;

		if (asks)
			m.addr = was.addr = closed ? BASE + (UINT64_C(3) << 36) + 64 : 4096;
		why = weft_edge_msg_in(&edge, &m);
		if (!asks) {
			assert_int_equal(why, WEFT_EDGE_UNEXPECTED);
			assert_same(&m, &was);
			continue;
		}
		assert_int_equal(why, closed ? WEFT_EDGE_NOT_ALLOWED : WEFT_EDGE_NO_DECODE);
		assert_int_equal(m.tag, was.tag);
		assert_int_equal(m.ld_id, was.ld_id);
		assert_int_equal(m.spid | m.dpid, 0);
		if (kind == WEFT_MSG_M2S_RWD || was.op == WEFT_M2S_REQ_MEMINV) {
			assert_int_equal(m.kind, WEFT_MSG_S2M_NDR);
			assert_int_equal(m.op, WEFT_S2M_NDR_CMP);
		} else {
			assert_int_equal(m.kind, WEFT_MSG_S2M_DRS);
			assert_int_equal(m.op, WEFT_S2M_DRS_MEMDATA_NXM);
			for (unsigned int k = 0; k < WEFT_MSG_DATA_LEN; k++)
				assert_int_equal(m.data[k], 0xFF);
		}
		over_link(WEFT_FORM_HBR, &m);
	}
	for (unsigned int kind = 0; kind < WEFT_MSG_LLCTRL; kind++) {
		struct weft_msg m = weft_gen_header(&r, kind, WEFT_FORM_PBR);

		assert_int_equal(weft_edge_msg_out(&m),
			kind == WEFT_MSG_S2M_NDR || kind == WEFT_MSG_S2M_DRS);
	}
}

static struct weft_io_tlp
tlp(uint8_t type, uint64_t addr, uint16_t requester)
{
	struct weft_io_tlp t = { .len = type == WEFT_IO_UIO_MRD ? 16 : 12 };

	t.tlp[0] = type;
	t.tlp[3] = 1;
	if (type == WEFT_IO_UIO_MRD)
		weft_put_be64(t.tlp + 8, addr);
	weft_put_be16(t.tlp + (type == WEFT_IO_UIO_MRD ? 4 : 8), requester);
	return t;
}

WEFT_TEST(packets_get_and_lose_a_pth)
{
	const struct weft_reroute row = { .pid = DEVICE, .bus = 7, .devfn = 0 };
	struct weft_edge_decision d;
	struct weft_io_tlp t, was;

	edge_begin();
	assert_int_equal(weft_edge_allow(&edge, WEFT_LAV, DEVICE, true), 0);
	assert_int_equal(weft_edge_allow(&edge, WEFT_VTV, 0x101, true), 0);
	assert_int_equal(weft_edge_set_rerouter(&edge, 0, &row, 1), 0);

	t = tlp(WEFT_IO_UIO_MRD, BASE + 4096, PORT);
	assert_int_equal(weft_edge_requester(&t), PORT);
	weft_edge_tlp_in(&edge, true, &t, &d);
	assert_int_equal(d.decoder, WEFT_EDGE_BY_FAST);
	assert_true(t.spid == PORT && t.dpid == 0x200 && t.pif && t.dsar && !t.hie);

	/* By a prefix, which ends here. */
	t = tlp(WEFT_IO_UIO_MRD, 0, PORT);
	t.has_prefix = true;
	t.prefix_pid = 0x101;
	weft_edge_tlp_in(&edge, false, &t, &d);
	assert_true(t.dpid == 0x101 && t.pif && !t.dsar && !t.has_prefix && t.prefix_pid == 0);

	/* An answer, by the re-router; one to nobody stays what it is. */
	t = tlp(WEFT_IO_UIO_CPL, 0, 0x700);
	weft_edge_tlp_in(&edge, false, &t, &d);
	assert_true(d.reason == WEFT_EDGE_OK && t.dpid == DEVICE && !t.pif);
	t = was = tlp(WEFT_IO_UIO_CPL, 0, 0x701);
	weft_edge_tlp_in(&edge, false, &t, &d);
	assert_int_equal(d.reason, WEFT_EDGE_UNEXPECTED);
	assert_memory_equal(&t, &was, sizeof(t));

	/* Towards the host: a request by PIF is given a prefix, an answer nothing. */
	t = tlp(WEFT_IO_UIO_MRD, 64, 0x101);
	t.spid = 0x101;
	t.dpid = PORT;
	t.pif = t.dsar = true;
	assert_int_equal(weft_edge_tlp_out(&edge, &t), WEFT_EGRESS_PREFIX);
	assert_true(t.has_prefix && t.prefix_pid == 0x101 && t.spid == 0 && t.dpid == 0 && !t.pif);
	t = tlp(WEFT_IO_UIO_CPL, 0, PORT);
	t.spid = 0x200;
	t.dpid = PORT;
	t.pif = true;
	assert_int_equal(weft_edge_tlp_out(&edge, &t), WEFT_EGRESS_PASS);
	assert_true(!t.has_prefix && t.spid == 0 && t.dpid == 0 && !t.pif);
	assert_int_equal(weft_edge_set_vp_host(&edge, 0), 0);
	t = was = tlp(WEFT_IO_UIO_MRD, 64, 0x101);
	t.pif = was.pif = true;
	assert_int_equal(weft_edge_tlp_out(&edge, &t), WEFT_EGRESS_UR);
	assert_memory_equal(&t, &was, sizeof(t));
}
