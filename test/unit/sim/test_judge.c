/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The simulator's judge: it remembers every forged flit of a frame, and blames neither an end nor
 * an attacker for what they have not done.
 */

#include "weft_test.h"

#include <signal.h>

#include "ide.h"
#include "judge.h"
#include "link_priv.h"

#define TURNS 5000

static volatile sig_atomic_t stopped;
static struct sim_opt opt;
static struct sim s;

/* Hosts and GFDs in sessions, without faults. */
static void
run_fabric(const char *fabric, const char *mode, int ide)
{
	char err[400];

	opt = (struct sim_opt){ .seed = 1,
		.hops = 3000,
		.faults = 0,
		.fabric = fabric,
		.mode = strcmp(mode, "cxl") == 0 ? WEFT_MODE_CXL : WEFT_MODE_RXL,
		.ide = ide,
		.calm = true,
		.stopped = &stopped };
	opt.codec.fec = weft_fec_kernel_find("scalar", 0);
	opt.codec.crc = weft_crc_kernel_find("scalar", 0);
	opt.crypto.lib = weft_ide_lib_open(0);
	assert_non_null(opt.crypto.lib);
	assert_true(ide_make_keys(&opt));
	assert_int_equal(sim_build(&s, &opt, 1, err, sizeof(err)), 0);
	sim_run(&s);
	assert_int_equal(s.total.violations, 0);
	assert_int_not_equal(s.end[0].session, 0);
	assert_int_equal(s.end[0].session, s.end[0].peer->session);
}

static void
run_pair(const char *mode, int ide)
{
	run_fabric("pair", mode, ide);
}

static void
end_pair(void)
{
	sim_free(&s);
	ide_free_keys(&opt);
	weft_ide_lib_close(opt.crypto.lib);
}

/* @return whether there was one since the last look */
static bool
violated(void)
{
	const bool was = s.total.violations != 0;

	s.total.violations = 0;
	return was;
}

/* --- what an attacker has changed --- */

WEFT_TEST(every_forged_flit_is_remembered)
{
	static union {
		struct sim_frame f;
		uint8_t room[sizeof(struct sim_frame) + WEFT_WIRE_FRAME_LEN(WEFT_WIRE_FLITS_MAX)];
	} at;
	uint8_t *flits = at.f.data + WEFT_WIRE_FLITS_OFF;
	struct sim_frame *f = &at.f;
	struct weft_rand r;

	run_pair("rxl", WEFT_IDE_CONTAINMENT);
	weft_test_seed(&r, __func__);
	for (unsigned int round = 0; round < 300; round++) {
		const unsigned int n = 1 + (unsigned int)weft_rand_below(&r, WEFT_WIRE_FLITS_MAX);
		const unsigned int times = (unsigned int)weft_rand_below(&r, n + 1);
		uint64_t gone = weft_rand_u64(&r) & weft_rand_u64(&r), seen = 0;
		unsigned int to = 0;

		memset(&at, 0, sizeof(at));
		for (unsigned int i = 0; i < n; i++)
			flits[i * WEFT_FLIT_LEN] = WEFT_FLIT_CACHEMEM << 6;
		f->hdr.n_flits = (uint8_t)n;
		for (unsigned int i = 0; i < times; i++)
			assert_true(ide_forge(&s, f));
		/* An intact flit has zeros in its slots here. */
		for (unsigned int i = 0; i < n; i++) {
			const uint8_t *flit = flits + i * WEFT_FLIT_LEN;

			for (unsigned int k = 1; k < WEFT_FLIT_CRD_OFF + 2; k++)
				seen |= flit[k] != 0 ? WEFT_BIT64(i) : 0;
		}
		assert_int_equal(f->forged, seen);
		assert_int_equal(__builtin_popcountll(seen), times);
		if (times == n)
			assert_false(ide_forge(&s, f));
		gone &= weft_mask64(n);
		ide_forged_moves(f, gone);
		for (unsigned int i = 0; i < n; i++)
			if ((gone >> i & 1) == 0)
				assert_int_equal(f->forged >> to++ & 1, seen >> i & 1);
		assert_int_equal(f->forged & ~weft_mask64(to), 0);
	}
	end_pair();
}

/* --- whose fault is a stream that fails --- */

static void
count(struct sim_end *e, enum weft_link_counter which, unsigned int n)
{
	e->end->count[which] += n;
}

/* A frame of the session comes, @p epochs good MACs in it, and perhaps a failure. */
static void
comes(struct sim_end *e, uint64_t forged, struct weft_llr_rx_result in, unsigned int epochs,
	bool fails)
{
	struct sim_frame f = { .forged = forged, .hdr.session = e->session, .hdr.n_flits = 4 };

	count(e, WEFT_LINK_N_IDE_EPOCHS, epochs);
	count(e, WEFT_LINK_N_IDE_FAILURES, fails);
	monitor_came(e, &f, &in);
}

WEFT_TEST(a_failure_has_a_forged_flit_in_its_epoch)
{
	const struct weft_llr_rx_result taken = { .deliver = 0xf },
					bad = { .deliver = 0xe, .bad = 1 };
	const struct weft_llr_rx_result held = { .deliver = 0xe, .held = 1 };
	struct sim_end *e;

	run_pair("rxl", WEFT_IDE_CONTAINMENT);
	e = &s.end[1];
	comes(e, 0, taken, 2, true);
	assert_true(violated()); /* nobody has */
	comes(e, 1, bad, 0, true);
	assert_true(violated()); /* its CRC did */
	e->ide->failed = 0;
	comes(e, 4, taken, 2, false);
	comes(e, 0, taken, 1, true); /* the epoch before was good */
	assert_false(violated());
	e->ide->failed = 0;
	e->ide->blame.session = 0;
	comes(e, 4, taken, 2, false);
	assert_true(monitor_waits(e));
	comes(e, 0, taken, 2, false);
	assert_true(violated()); /* its epoch was good */
	comes(e, 0, taken, 0, true);
	assert_true(violated()); /* too late to be its fault */
	e->ide->failed = 0;
	comes(e, 1, held, 2, false); /* nothing else is held: it is in turn at once */
	comes(e, 0, taken, 2, false);
	assert_true(violated());
	end_pair();
}

/* --- why a session ends --- */

/* The session of the first end ends, @p silent_ns after it has heard the other. */
static bool
may_end(uint64_t silent_ns)
{
	s.end[0].heard_ns = s.now_ns;
	s.now_ns += silent_ns;
	order_end(&s.end[0]);
	return !violated();
}

WEFT_TEST(a_jump_explains_no_more_than_it_adds)
{
	struct sim_end *e = &s.end[0];
	uint64_t session_timeout_ns, least_ns;

	run_pair("rxl", WEFT_IDE_OFF);
	e = &s.end[0];
	session_timeout_ns = s.sc.session.session_timeout_ns;
	least_ns = s.sc.session.rx_timeout_ns / 2;
	if (least_ns > WEFT_NODE_PAUSE_NS)
		least_ns = WEFT_NODE_PAUSE_NS;
	assert_false(may_end(session_timeout_ns - session_timeout_ns / 1000));
	assert_true(may_end(session_timeout_ns));
	order_clock_jumps(e->node, 100 * session_timeout_ns);
	s.now_ns += 1;
	assert_false(may_end(session_timeout_ns - least_ns)); /* it has been heard since */
	for (unsigned int k = 0; k < 2; k++) {
		/*
		 * Of a long jump half of rx_timeout_ns counts, but no more than a pause; of a short
		 * one all.
		 */
		const uint64_t jump_ns = k == 0 ? 100 * session_timeout_ns : least_ns / 2;
		const uint64_t counts_ns = k == 0 ? least_ns : least_ns / 2;

		e->heard_ns = s.now_ns;
		order_clock_jumps(e->node, jump_ns);
		order_clock_jumps(e->node, jump_ns);
		s.now_ns += session_timeout_ns - 2 * counts_ns - US;
		order_end(e);
		assert_true(violated());
		s.now_ns += 2 * US;
		order_end(e);
		assert_false(violated());
	}
	end_pair();
}

/* --- an end that wants to send and gives nothing --- */

WEFT_TEST(idle_turns_count_once_an_instant)
{
	struct sim_end *e;

	run_pair("cxl", WEFT_IDE_OFF);
	e = &s.end[0];
	s.now_ns += s.sc.session.rx_timeout_ns; /* it wants to be ticked, and is not */
	for (unsigned int i = 0; i < TURNS; i++)
		edge_pump(e);
	assert_true(weft_link_deadline(e->end) <= sim_node_now(e->node));
	assert_false(violated());
	for (unsigned int i = 0; i < TURNS; i++) {
		e->timer_ns = SIM_NEVER; /* as its event has come */
		s.now_ns++;
		edge_pump(e);
	}
	assert_true(violated());
	end_pair();
}

/* --- frames of an attacker --- */

/* Until all that was injected has come. */
static void
run_on(void)
{
	struct event e;

	while (heap_pop(&s.heap, &e)) {
		if (heap_event_kind(&e) != EV_ARRIVE)
			continue;
		s.now_ns = e.time_ns;
		node_arrive(&s, e.object);
	}
}

WEFT_TEST(forged_control_ends_no_session)
{
	for (int ide = WEFT_IDE_OFF; ide <= WEFT_IDE_SKID; ide++) {
		uint32_t session;

		run_pair("rxl", ide);
		run_on();
		session = s.end[0].session;
		for (unsigned int i = 0; i < TURNS; i++) {
			forge_control(&s, i);
			run_on();
		}
		assert_false(violated());
		assert_int_equal(s.end[0].session, session);
		assert_int_equal(s.end[1].session, session);
		end_pair();
	}
}

WEFT_TEST(a_stolen_spid_stays_out)
{
	run_fabric("star:2,1", "rxl", WEFT_IDE_OFF);
	run_on();
	for (unsigned int i = 0; i < TURNS; i++)
		forge_spid(&s, i);
	run_on();
	assert_int_equal(s.total.loss[LOSS_SPID], TURNS);
	assert_false(violated());
	for (unsigned int i = 0; i < s.topo->n_ports; i++)
		s.link_dir[i].ingress.spid = WEFT_SPID_ANY;
	for (unsigned int i = 0; i < TURNS; i++)
		forge_spid(&s, i);
	run_on();
	assert_int_equal(s.total.loss[LOSS_SPID], TURNS);
	assert_true(violated());
	end_pair();
}
