/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Each stage by what it does to frames, masks and counters; every buffer comes back. */

#include "pipe_rig.h"
#include "xlate_agent.h"

static struct weft_rand r;

WEFT_TEST(the_list_of_stages_is_this)
{
	static const char *const names[] = { "crc_first", "crc_protect", "deframe", "deliver",
		"enframe", "fec_check", "fec_encode", "fec_relay", "ide_open", "ide_seal",
		"link_rx", "link_tx", "pack", "route" };
	unsigned int i;

	for (i = 0; i < WEFT_ARRAY_SIZE(names); i++) {
		assert_non_null(weft_stage_at(i));
		assert_string_equal(weft_stage_at(i)->name, names[i]);
		assert_ptr_equal(weft_stage_find(names[i]), weft_stage_at(i));
	}
	assert_null(weft_stage_at(i));
	assert_null(weft_stage_find("nonesuch"));
}

/* Damage a header so that only @p want can be said of it, and see it said. */
static void
deframe_drops(enum weft_verdict want, void (*damage)(struct rte_mbuf *m))
{
	struct rte_mbuf *m = rig_frame(&r, 3);
	uint64_t before = weft_pipe_drops(rig.rx, want);

	damage(m);
	rig_receive(m);
	assert_int_equal(weft_pipe_drops(rig.rx, want), before + 1);
	assert_int_equal(rig.n, 0);
}

/* Make the header anew after a change of a field, so that its check holds. */
static void
rebuild(struct rte_mbuf *m, struct weft_wire_hdr h)
{
	weft_wire_build(rte_pktmbuf_mtod(m, uint8_t *), &h);
}

#define DAMAGE(name, code)                                                                         \
	static void damage_##name(struct rte_mbuf *m)                                              \
	{                                                                                          \
		uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *);                                       \
		struct weft_wire_hdr h = weft_frame(m)->hdr;                                       \
                                                                                                   \
		(void)p;                                                                           \
		(void)h;                                                                           \
		code;                                                                              \
	}

DAMAGE(ethertype, p[12] = 0)
DAMAGE(version, p[14] = 0x20)
DAMAGE(kind, p[14] = 0x12)
DAMAGE(flags, p[15] |= 0x80)
DAMAGE(check, p[30] ^= 1)
DAMAGE(length, rte_pktmbuf_trim(m, 1))
DAMAGE(runt, rte_pktmbuf_trim(m, (uint16_t)(m->data_len - 20)))
DAMAGE(session, h.session = 10; rebuild(m, h))
DAMAGE(spid, h.spid = 0x999; rebuild(m, h))
DAMAGE(dpid, h.dpid = 0x999; rebuild(m, h))
DAMAGE(control, h.kind = WEFT_WIRE_CONTROL; h.n_flits = 0; rebuild(m, h))

/* FRAME-8, FRAME-9 */
WEFT_TEST(deframe_counts_every_reason)
{
	rig_start(WEFT_IDE_OFF, "deframe");
	deframe_drops(WEFT_DROP_ETHERTYPE, damage_ethertype);
	deframe_drops(WEFT_DROP_VERSION, damage_version);
	deframe_drops(WEFT_DROP_KIND, damage_kind);
	deframe_drops(WEFT_DROP_FLAGS, damage_flags);
	deframe_drops(WEFT_DROP_HEADER_CHECK, damage_check);
	deframe_drops(WEFT_DROP_LENGTH, damage_length);
	deframe_drops(WEFT_DROP_RUNT, damage_runt);
	deframe_drops(WEFT_DROP_SESSION, damage_session);
	deframe_drops(WEFT_DROP_NO_CONN, damage_spid);
	deframe_drops(WEFT_DROP_NOT_MINE, damage_dpid);
	deframe_drops(WEFT_DROP_CONTROL, damage_control);
	rig.rx_env.only_mode = WEFT_MODE_CXL;
	deframe_drops(WEFT_DROP_MODE, damage_control);
	rig_stop();
}

/* By every port and with every SPID: only what the port's rule has goes on. */
WEFT_TEST(deframe_lets_in_what_may_come_by_the_port)
{
	static const struct weft_ingress rule[] = { { .spid = WEFT_SPID_ANY }, { .spid = 0x102 },
		{ .spid = RIG_SPID } };
	struct weft_ingress_drops drops[3] = { 0 };
	struct weft_ingress_seen seen[3] = { 0 };
	unsigned int in = 0;

	rig_start(WEFT_IDE_OFF, "deframe");
	rig.rx_env.conns = NULL;
	rig.rx_env.take_control = true;
	rig.rx_env.ingress.rule = rule;
	rig.rx_env.ingress.drops = drops;
	rig.rx_env.ingress.seen = seen;
	for (uint16_t port = 0; port < 3; port++)
		for (unsigned int i = 0; i < 2 * WEFT_PIDS; i++) {
			struct rte_mbuf *m = rig_frame(&r, 1);
			struct weft_wire_hdr h = weft_frame(m)->hdr;

			h.spid = (uint16_t)(i / 2);
			h.kind = i % 2;
			h.n_flits = i % 2 == 0;
			rebuild(m, h);
			weft_frame(m)->in_port = port;
			rig_receive(m);
			in += rig.n;
			rig_free_frames();
		}
	assert_int_equal(in, 2 * WEFT_PIDS + 2 + 2);
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_SPID), 2 * 2 * (WEFT_PIDS - 1));
	assert_int_equal(
		drops[0].count[WEFT_INGRESS_FLITS] + drops[0].count[WEFT_INGRESS_CONTROL], 0);
	assert_int_equal(seen[0].frames, 2 * WEFT_PIDS);
	assert_int_equal(seen[0].flits, WEFT_PIDS);
	for (unsigned int port = 1; port < 3; port++) {
		assert_int_equal(seen[port].frames, 2);
		assert_int_equal(seen[port].flits, 1);
		assert_int_equal(drops[port].count[WEFT_INGRESS_FLITS], WEFT_PIDS - 1);
		assert_int_equal(drops[port].count[WEFT_INGRESS_CONTROL], WEFT_PIDS - 1);
	}
	rig_stop();
}

static bool
to_the_node(void *arg, struct rte_mbuf *m)
{
	unsigned int *asked = arg;

	++*asked;
	return weft_frame(m)->hdr.vc == 3; /* as if its records said so */
}

/*
 * Whatever they say of sender, addressee and mode. All others go on as if there were no such thing.
 */
WEFT_TEST(deframe_gives_the_node_what_neighbours_say)
{
	static const struct weft_ingress rule[] = { { .spid = 0x102 } };
	struct weft_ingress_drops drops[1] = { 0 };
	struct weft_ingress_seen seen[1] = { 0 };
	unsigned int asked = 0;

	rig_start(WEFT_IDE_OFF, "deframe");
	rig.rx_env.take_control = true;
	rig.rx_env.only_mode = WEFT_MODE_RXL;
	rig.rx_env.ingress.rule = rule;
	rig.rx_env.ingress.drops = drops;
	rig.rx_env.ingress.seen = seen;
	rig.rx_env.neighbour = to_the_node;
	rig.rx_env.neighbour_arg = &asked;
	for (unsigned int i = 0; i < 32; i++) {
		struct rte_mbuf *m = rig_frame(&r, 1);
		struct weft_wire_hdr h = weft_frame(m)->hdr;

		h.kind = i & 1 ? WEFT_WIRE_CONTROL : WEFT_WIRE_FLITS;
		h.n_flits = !(i & 1);
		h.session = i & 2 ? 0 : h.session;
		h.vc = i & 4 ? 3 : 0;
		h.mode = i & 8 ? WEFT_MODE_CXL : WEFT_MODE_RXL;
		h.spid = i & 8 ? WEFT_PID_NONE : i & 16 ? 0x102 : RIG_SPID;
		h.dpid = WEFT_PID_NONE;
		rebuild(m, h);
		weft_frame(m)->in_port = 0;
		rig_receive(m);
		assert_int_equal(rig.n, 0);
	}
	assert_int_equal(asked, 8);
	assert_int_equal(rig_count("deframe", "neighbours"), 4);
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_MODE), 14);
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_SPID), 7);
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_NOT_MINE), 7);
	rig_stop();
}

/* In cxl mode a frame says by its source address whose it is. */
WEFT_TEST(deframe_in_cxl_mode_goes_by_the_source_address)
{
	static const struct weft_ingress rule[] = { { .spid = 0x102,
		.mac = { 2, 'W', 'E', 1, 0, 16 } } };
	struct weft_ingress_drops drops[1] = { 0 };
	struct weft_ingress_seen seen[1] = { 0 };

	rig_start(WEFT_IDE_OFF, "deframe");
	rig.rx_env.conns = NULL;
	rig.rx_env.pid = WEFT_PID_ANY;
	rig.rx_env.ingress.rule = rule;
	rig.rx_env.ingress.drops = drops;
	rig.rx_env.ingress.seen = seen;
	for (unsigned int i = 0; i < 2; i++) {
		struct rte_mbuf *m = rig_frame(&r, 1);
		struct weft_wire_hdr h = weft_frame(m)->hdr;

		h.mode = WEFT_MODE_CXL;
		h.spid = h.dpid = WEFT_PID_NONE;
		rebuild(m, h);
		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, 6), rule[0].mac, 6);
		rte_pktmbuf_mtod(m, uint8_t *)[6 + 3] += (uint8_t)i; /* of another port */
		weft_frame(m)->in_port = 0;
		rig_receive(m);
		assert_int_equal(rig.n, 1);
		assert_int_equal(drops[0].count[WEFT_INGRESS_FLITS], i);
	}
	assert_int_equal(drops[0].spid, WEFT_PID_NONE);
	rig_stop();
}

WEFT_TEST(flits_lie_on_cache_lines)
{
	rig_start(WEFT_IDE_OFF, "deframe");
	for (unsigned int n = 1; n <= 64; n += 21) {
		rig_receive(rig_frame(&r, n));
		assert_int_equal((uintptr_t)weft_frame_flits(rig.frame[rig.n - 1]) % 64, 0);
	}
	rig_stop();
}

WEFT_TEST(link_rx_tells_loss_from_damage)
{
	struct rte_mbuf *a, *b, *c, *again;

	rig_start(WEFT_IDE_OFF, "deframe,fec_check,link_rx");
	a = rig_frame(&r, 4);
	again = rte_pktmbuf_copy(a, rig.pool, 0, UINT32_MAX);
	b = rig_frame(&r, 5); /* never arrives */
	c = rig_frame(&r, 6);
	rte_pktmbuf_free(b);
	weft_frame_flits(c)[2 * WEFT_FLIT_LEN + 100] ^= 1; /* FEC mends it */
	weft_frame_flits(c)[3 * WEFT_FLIT_LEN + 1] ^= 1; /* two in one group: */
	weft_frame_flits(c)[3 * WEFT_FLIT_LEN + 4] ^= 3; /* mended wrongly */
	rig_receive(a);
	rig_receive(c);
	rig_receive(again);
	assert_int_equal(rig_count("link_rx", "good"), 4 + 5 + 4);
	assert_int_equal(rig_count("link_rx", "bad"), 1);
	assert_int_equal(rig_count("link_rx", "gaps"), 1);
	assert_int_equal(rig_count("link_rx", "lost_flits"), 5);
	assert_int_equal(rig_count("link_rx", "duplicates"), 4);
	assert_int_equal(rig_count("fec_check", "corrected"), 2);
	assert_int_equal(weft_frame(rig.frame[0])->discard, 0);
	assert_int_equal(weft_frame(rig.frame[1])->discard, 1 << 3);
	assert_int_equal(weft_frame(rig.frame[1])->seq_gap, 1 << 0 | 1 << 3);
	assert_int_equal(weft_frame(rig.frame[2])->discard, 0xF);
	rig_stop();
}

/* The same verdicts as of fec_check and link_rx, but for damage that only the FEC bytes have. */
WEFT_TEST(crc_first_mends_what_the_crc_fails)
{
	struct rte_mbuf *a, *b, *c, *again;

	rig_start(WEFT_IDE_OFF, "deframe,crc_first,link_rx");
	a = rig_frame(&r, 4);
	again = rte_pktmbuf_copy(a, rig.pool, 0, UINT32_MAX);
	b = rig_frame(&r, 5); /* never arrives */
	c = rig_frame(&r, 8);
	rte_pktmbuf_free(b);
	weft_frame_flits(c)[2 * WEFT_FLIT_LEN + 100] ^= 1; /* FEC mends it */
	weft_frame_flits(c)[3 * WEFT_FLIT_LEN + 1] ^= 1; /* two in one group: */
	weft_frame_flits(c)[3 * WEFT_FLIT_LEN + 4] ^= 3; /* mended wrongly */
	weft_frame_flits(c)[4 * WEFT_FLIT_LEN + 245] ^= 8; /* a CRC byte: mended */
	weft_frame_flits(c)[5 * WEFT_FLIT_LEN + 252] ^= 1; /* a FEC byte: not looked at */
	weft_frame_flits(c)[6 * WEFT_FLIT_LEN + 0] ^= 1; /* two in one group: beyond the code */
	weft_frame_flits(c)[6 * WEFT_FLIT_LEN + 3] ^= 6;
	rig_receive(a);
	rig_receive(c);
	rig_receive(again);
	assert_int_equal(rig_count("link_rx", "good"), 4 + 6 + 4);
	assert_int_equal(rig_count("link_rx", "bad"), 2);
	assert_int_equal(rig_count("link_rx", "gaps"), 1);
	assert_int_equal(rig_count("link_rx", "lost_flits"), 5);
	assert_int_equal(rig_count("link_rx", "duplicates"), 4);
	assert_int_equal(rig_count("crc_first", "corrected"), 3);
	assert_int_equal(rig_count("crc_first", "corrected_bytes"), 3);
	assert_int_equal(rig_count("crc_first", "uncorrectable"), 1);
	assert_int_equal(weft_frame(rig.frame[0])->discard, 0);
	assert_int_equal(weft_frame(rig.frame[1])->corrected, 1 << 2 | 1 << 3 | 1 << 4);
	assert_int_equal(weft_frame(rig.frame[1])->uncorrectable, 1 << 6);
	assert_int_equal(weft_frame(rig.frame[1])->discard, 1 << 3 | 1 << 6);
	assert_int_equal(weft_frame(rig.frame[1])->seq_gap, 1 << 0 | 1 << 3 | 1 << 6);
	assert_int_equal(weft_frame(rig.frame[2])->discard, 0xF);
	rig_stop();
}

/* FRAME-12 */
WEFT_TEST(zero_flits_are_counted_and_use_no_number)
{
	struct rte_mbuf *m;

	rig_start(WEFT_IDE_OFF, "deframe,fec_check,link_rx");
	m = rig_frame(&r, 2);
	memset(weft_frame_flits(m) + WEFT_FLIT_LEN, 0, WEFT_FLIT_LEN);
	rig.tx_conn->isn.next = 2; /* what the second flit did not use */
	rig_receive(m);
	rig_receive(rig_frame(&r, 1));
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_ALL_ZERO), 1);
	assert_int_equal(rig_count("link_rx", "good"), 2);
	assert_int_equal(rig_count("link_rx", "gaps"), 0);
	rig_stop();
}

/* Two errors in group 1 that point at the pad: beyond correction for certain. */
static void
invert_crc(struct rte_mbuf *m, unsigned int flit)
{
	weft_frame_flits(m)[flit * WEFT_FLIT_LEN + 1] ^= 0x01;
	weft_frame_flits(m)[flit * WEFT_FLIT_LEN + 4] ^= 0x47;
}

/* A switch forwards the very buffer that came in, its flits untouched where they are. */
WEFT_TEST(a_switch_forwards_the_same_buffer)
{
	uint8_t before[5 * WEFT_FLIT_LEN];
	struct rte_mbuf *m;
	uint8_t *flits;

	rig_start(WEFT_IDE_OFF, WEFT_LAYOUT_SWITCH);
	m = rig_frame(&r, 5);
	flits = weft_frame_flits(m);
	memcpy(before, flits, sizeof(before));
	rig_receive(m);
	assert_int_equal(rig.n, 1);
	assert_ptr_equal(rig.frame[0], m);
	assert_ptr_equal(weft_frame_flits(rig.frame[0]), flits);
	assert_memory_equal(flits, before, sizeof(before));
	rig_stop();
}

/* FRAME-11 */
WEFT_TEST(fec_relay_takes_spoilt_flits_out)
{
	struct rte_mbuf *m;
	uint8_t last[WEFT_FLIT_LEN];
	struct weft_wire_hdr h;

	rig_start(WEFT_IDE_OFF, "deframe,fec_relay,route");
	m = rig_frame(&r, 3);
	memcpy(last, weft_frame_flits(m) + 2 * WEFT_FLIT_LEN, sizeof(last));
	invert_crc(m, 0);
	invert_crc(m, 1);
	rig_receive(m);
	assert_int_equal(rig.n, 1);
	m = rig.frame[0];
	assert_int_equal(weft_wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &h), WEFT_OK);
	assert_int_equal(h.n_flits, 1);
	assert_memory_equal(weft_frame_flits(m), last, sizeof(last));
	assert_int_equal(weft_frame(m)->out_port, 3);
	m = rig_frame(&r, 2);
	invert_crc(m, 0);
	invert_crc(m, 1);
	rig_receive(m);
	assert_int_equal(rig.n, 1);
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_FEC), 4);
	assert_int_equal(rig_count("fec_relay", "emptied"), 1);
	rig_stop();
}

WEFT_TEST(containment_holds_until_the_mac_is_good)
{
	rig_start(WEFT_IDE_CONTAINMENT, "deframe,fec_check,link_rx,ide_open");
	rig_receive(rig_frame(&r, 1));
	rig_receive(rig_frame(&r, 1));
	assert_int_equal(rig.n, 0);
	rig_receive(rig_frame(&r, 1)); /* brings the MAC of the first two */
	assert_int_equal(rig.n, 2);
	rig_receive(rig_frame(&r, 4)); /* its last flit opens an epoch: the frame waits whole */
	assert_int_equal(rig.n, 3);
	weft_pipe_drain(rig.rx);
	assert_int_equal(rig.n, 4);
	assert_int_equal(rig_count("ide_open", "epochs_good"), 3);
	assert_int_equal(rig_count("ide_open", "flits_released"), 6);
	assert_int_equal(weft_frame(rig.frame[3])->discard, 1 << 3);
	rig_stop();
}

WEFT_TEST(damage_under_a_good_crc_ends_the_stream)
{
	rig_start(WEFT_IDE_CONTAINMENT, "deframe,ide_open"); /* no CRC to catch it */
	for (unsigned int i = 0; i < 6; i++) {
		struct rte_mbuf *m = rig_frame(&r, 1);

		if (i == 2)
			weft_frame_flits(m)[100] ^= 1;
		rig_receive(m);
	}
	weft_pipe_drain(rig.rx);
	assert_int_equal(rig_count("ide_open", "epochs_good"), 1);
	assert_int_equal(rig_count("ide_open", "epochs_bad"), 1);
	assert_int_equal(rig_count("ide_open", "flits_released"), 2);
	assert_true(weft_pipe_drops(rig.rx, WEFT_DROP_IDE_INSECURE) > 0);
	assert_int_equal(rig.n, 6);
	for (unsigned int i = 2; i < 6; i++)
		assert_int_equal(weft_frame(rig.frame[i])->discard, 1);
	rig_stop();
}

/* A frame as @p like, but its one flit is a CXL.io flit that looks like Poison. */
static struct rte_mbuf *
other_frame(const uint8_t *like)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(rig.pool);
	uint8_t *flit;

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)WEFT_WIRE_FRAME_LEN(1)), like,
		WEFT_WIRE_FRAME_LEN(1));
	flit = weft_frame_flits(m);
	weft_ide_poison_put(flit, 1);
	weft_flit_hdr_put(flit, &(struct weft_flit_hdr){ .type = WEFT_FLIT_IO });
	return m;
}

WEFT_TEST(other_protocols_wait_for_no_mac)
{
	uint8_t like[WEFT_WIRE_FRAME_LEN(1)];
	struct rte_mbuf *m;

	rig_start(WEFT_IDE_CONTAINMENT, "deframe,ide_open");
	for (unsigned int i = 0; i < 2; i++) {
		m = rig_frame(&r, 1);
		memcpy(like, rte_pktmbuf_mtod(m, uint8_t *), sizeof(like));
		rig_receive(m);
	}
	/* More than there is room for held frames. */
	for (unsigned int i = 1; i <= 3 * WEFT_CONN_HELD; i++) {
		rig_receive(other_frame(like));
		assert_int_equal(rig.n, i);
	}
	rig_receive(rig_frame(&r, 1));
	assert_int_equal(rig.n, 3 * WEFT_CONN_HELD + 2);
	assert_int_equal(rig_count("ide_open", "poison"), 0);
	/* Behind a failure they are dropped too. */
	m = rig_frame(&r, 1);
	weft_frame_flits(m)[100] ^= 1;
	rig_receive(m);
	rig_receive(rig_frame(&r, 1));
	assert_int_equal(rig_count("ide_open", "epochs_bad"), 1);
	rig_receive(other_frame(like));
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_IDE_INSECURE), 1);
	assert_int_equal(weft_frame(rig.frame[rig.n - 1])->discard, 1);
	rig_stop();
}

/* The page of each address is where it is. */
static void
answer_by(struct weft_xlate *x, uint8_t flags)
{
	struct weft_ats_packet p;

	while (agent_hear(x, &p))
		agent_answer(x, &p, (struct agent_page){ p.addr, flags });
	agent_hear_posted(x, NULL);
}

/* Put a valid M2S Req for @p addr into the H-slot of flit 0; CRC and FEC are not looked at here. */
static void
put_request(struct rte_mbuf *m, uint64_t addr)
{
	uint8_t *slot = weft_frame_flits(m) + WEFT_FLIT_H_OFF;

	memset(slot, 0, WEFT_FLIT_H_LEN);
	slot[0] = 0x14;
	weft_put_le64(slot + 4, addr >> 6);
}

WEFT_TEST(route_decodes_addresses_and_denies)
{
	static const struct weft_xlate_cfg cfg = { .answer_ns = 1000,
		.life_ns = 1000,
		.entries = 64,
		.places = 8,
		.share = 8,
		.contexts = 4,
		.prefetch_degree = 1,
		.is_ordered = true };
	static const uint64_t now_ns = AGENT_NOW;
	const uint64_t base = UINT64_C(1) << 40;
	static const struct {
		uint64_t addr;
		uint8_t flags;
		enum weft_verdict want;
	} cases[] = {
		{ UINT64_C(1) << 40, WEFT_ATC_R, WEFT_OK },
		{ (UINT64_C(1) << 40) + 0x5000, WEFT_ATC_W, WEFT_DROP_ATC_DENY },
		{ (UINT64_C(1) << 40) + 0x6000, 0, WEFT_DROP_ATC_DENY },
		{ (UINT64_C(1) << 40) + 0x7000, WEFT_ATC_R | WEFT_ATC_U, WEFT_OK },
		{ UINT64_C(1) << 39, WEFT_ATC_R, WEFT_DROP_NO_DECODE },
	};
	struct weft_xlate *x = weft_xlate_init(aligned_alloc(64, weft_xlate_size(&cfg)), &cfg);
	struct rte_mbuf *m;

	rig_start(WEFT_IDE_OFF, "deframe,route");
	free(rig.tables);
	rig.tables = route_tables_new(RIG_DPID, 1, 3, base, 40);
	weft_tables_publish(&rig.slot, rig.tables);
	rig.rx_env.xlate = x;
	rig.rx_env.now_ns = &now_ns;
	weft_xlate_enable(x);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		uint64_t before = weft_pipe_drops(rig.rx, cases[i].want);

		m = rig_frame(&r, 1);
		put_request(m, cases[i].addr);
		rig_receive(m);
		assert_int_equal(rig.n, i);
		answer_by(x, cases[i].flags);
		weft_pipe_poll(rig.rx, 0);
		assert_int_equal(weft_pipe_drops(rig.rx, cases[i].want),
			before + (cases[i].want != WEFT_OK));
		assert_int_equal(weft_frame(rig.frame[i])->discard, cases[i].want != WEFT_OK);
	}
	route_tables_port(rig.tables, RIG_DPID, -1);
	rig_receive(rig_frame(&r, 1));
	assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_NO_ROUTE), 1);
	rig_stop();
	free(x);
}

/* The same by a snapshot: interleave, an access right taken away, the DRT of the ingress port. */
WEFT_TEST(route_follows_a_snapshot)
{
	static const struct weft_edge_cfg edge = { .pid = RIG_SPID, .fast_idt = 2 };
	struct weft_tables_cfg cfg = { .n_edges = 1, .edge = &edge, .n_routes = 2 };
	const struct weft_fast_entry two_ways = { .flags = WEFT_SEG_VALID, .intlv = 1 };
	const uint64_t base = UINT64_C(1) << 40;
	const uint8_t row[1][2] = { { WEFT_DRT_PORT, 6 } };
	const uint16_t idt[] = { RIG_DPID, RIG_DPID + 1 };
	struct weft_tables_slot slot = { NULL };
	struct weft_tables *t;
	struct weft_edge *e;

	cfg.route_of_port[9] = 1;
	t = aligned_alloc(WEFT_CACHE_LINE, weft_tables_size(&cfg));
	assert_non_null(t);
	assert_int_equal(weft_tables_init(t, &cfg), 0);
	assert_int_equal(weft_route_set_drt(weft_tables_route_rw(t, 1), RIG_DPID, row, 1), 0);
	e = weft_tables_edge_rw(t, 0);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(weft_edge_allow(e, WEFT_GMV, idt[i], true), 0);
	assert_int_equal(weft_seg_set_idt(&e->fast, 0, idt, 2), 0);
	assert_int_equal(weft_seg_set_range(&e->fast, 36, base, base + (UINT64_C(1) << 36)), 0);
	assert_int_equal(weft_seg_set_entries(&e->fast, 0, &two_ways, 1), 0);
	weft_tables_publish(&slot, t);

	rig_start(WEFT_IDE_OFF, "deframe,route");
	rig.rx_env.tables = &slot;
	for (unsigned int i = 0; i < 4; i++) {
		const uint64_t before = weft_pipe_drops(rig.rx, WEFT_DROP_NO_DECODE);
		const bool good = i == 0; /* the other way; beyond the segment; no right */
		struct rte_mbuf *m = rig_frame(&r, 1);

		weft_edge_allow(e, WEFT_GMV, RIG_DPID, i < 3);
		put_request(m, base + (i == 1 ? 0x100 : 0) + (i == 2 ? UINT64_C(1) << 36 : 0));
		weft_frame(m)->in_port = 9;
		rig_receive(m);
		assert_int_equal(weft_frame(rig.frame[i])->out_port, 6);
		assert_int_equal(weft_frame(rig.frame[i])->discard, !good);
		assert_int_equal(
			weft_pipe_drops(rig.rx, WEFT_DROP_NO_DECODE), before + (unsigned int)!good);
	}
	/* Another port's DRT does not know this DPID. */
	{
		struct rte_mbuf *m = rig_frame(&r, 1);

		weft_frame(m)->in_port = 8;
		rig_receive(m);
		assert_int_equal(weft_pipe_drops(rig.rx, WEFT_DROP_NO_ROUTE), 1);
	}
	rig_stop();
	free(t);
}

WEFT_TEST(nothing_leaves_in_the_clear)
{
	struct weft_ide_stream *stream;
	struct rte_mbuf *m = NULL;

	rig_start(WEFT_IDE_SKID, "deframe");
	stream = rig.tx_conn->stream;
	rig.tx_conn->stream = NULL; /* a connection with IDE on and no key */
	m = rte_pktmbuf_alloc(rig.pool);
	rte_pktmbuf_append(m, (uint16_t)WEFT_WIRE_FRAME_LEN(1));
	memset(weft_frame(m), 0, sizeof(struct weft_frame));
	weft_frame(m)->conn = rig.tx_conn;
	weft_frame(m)->hdr.n_flits = 1;
	assert_int_equal(weft_pipe_push(rig.tx, &m, 1), 1);
	assert_int_equal(rig.n, 0);
	assert_int_equal(weft_pipe_drops(rig.tx, WEFT_DROP_NO_KEY), 1);
	rig.tx_conn->stream = stream;
	rig_stop();
}

#define BELLS 130 /* more than two words of bits */

static void
bell_heard(void *arg, struct weft_conn_dir *c)
{
	unsigned int *heard = arg;

	heard[c->index]++;
}

/* However often it was rung: what it costs follows what was rung, not how many there are. */
WEFT_TEST(a_bell_is_answered_once)
{
	struct weft_conns *t = weft_conns_create("bells", BELLS, NULL, SOCKET_ID_ANY);
	const struct weft_conn_cfg cfg = { .first = WEFT_ISN_FIRST };
	struct weft_conn_dir *c[BELLS];
	unsigned int heard[BELLS] = { 0 };

	assert_non_null(t);
	for (unsigned int i = 0; i < BELLS; i++) {
		const struct weft_conn_key key = { .mode = WEFT_MODE_RXL, .spid = (uint16_t)i };

		c[i] = weft_conns_add(t, &key, &cfg);
		assert_non_null(c[i]);
	}
	assert_int_equal(weft_conns_answer(t, bell_heard, heard), 0);
	for (unsigned int turn = 1; turn <= 3; turn++) {
		for (unsigned int i = 0; i < 2; i++) {
			weft_conns_ring(t, c[0]);
			weft_conns_ring(t, c[63]);
			weft_conns_ring(t, c[129]);
		}
		assert_int_equal(weft_conns_answer(t, bell_heard, heard), 3);
		assert_int_equal(weft_conns_answer(t, bell_heard, heard), 0);
		for (unsigned int i = 0; i < BELLS; i++)
			assert_int_equal(heard[i], i == 0 || i == 63 || i == 129 ? turn : 0);
	}
	weft_conns_free(t);
}

int
main(void)
{
	rig_open();
	weft_test_seed(&r, "stages");
	return weft_test_run();
}
