/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Retry time-outs: how long they are, and what goes out when they pass in rxl mode. */

#include "llr_rig.h"

#include "weft_rtt.h"

/* Mean and four mean deviations, doubled with each in a row, within the bounds (RETRY-9). */
WEFT_TEST(a_timeout_follows_what_was_measured)
{
	struct weft_rtt r;

	weft_rtt_init(&r, 1000, 50000, 1000000);
	assert_int_equal(weft_rtt_timeout(&r), 50000);
	for (unsigned int i = 0; i < 200; i++)
		weft_rtt_sample(&r, i % 2 == 0 ? 8000 : 12000);
	assert_in_range(r.mean_ns, 9000, 11000);
	assert_in_range(r.deviation_ns, 1500, 2500);
	assert_int_equal(weft_rtt_timeout(&r), r.mean_ns + 4 * r.deviation_ns);
	for (uint64_t want = 2 * weft_rtt_timeout(&r); want < 1000000; want *= 2) {
		weft_rtt_timed_out(&r);
		assert_int_equal(weft_rtt_timeout(&r), want);
	}
	for (unsigned int i = 0; i < 1000; i++)
		weft_rtt_timed_out(&r);
	assert_int_equal(weft_rtt_timeout(&r), 1000000);
	weft_rtt_progress(&r);
	assert_int_equal(weft_rtt_timeout(&r), r.mean_ns + 4 * r.deviation_ns);
	for (unsigned int i = 0; i < 1000; i++)
		weft_rtt_sample(&r, 1);
	assert_int_equal(weft_rtt_timeout(&r), 1000);
}

/* Sends of end 0 until @p timeouts have passed, all lost. Returns the NOPs that went out since. */
static unsigned int
lose_until(struct rig *r, unsigned int timeouts)
{
	uint64_t nops = rig_count(r, 0, WEFT_LLR_N_NOPS_SENT);

	while (rig_count(r, 0, WEFT_LLR_N_TIMEOUTS) < timeouts) {
		const uint64_t at = weft_llr_deadline(r->end[0].llr);

		nops = rig_count(r, 0, WEFT_LLR_N_NOPS_SENT);
		r->now_ns = at > r->free_ns[0] ? at : r->free_ns[0];
		rig_send(r, 0);
	}
	do
		r->now_ns = r->free_ns[0];
	while (rig_send(r, 0));
	r->end[1].n_frames = 0;
	return (unsigned int)(rig_count(r, 0, WEFT_LLR_N_NOPS_SENT) - nops);
}

/*
 * With gap decoding the receiver can say what it lacks: it is shown the oldest and the newest
 * (RETRY-24).
 */
WEFT_TEST(at_first_the_oldest_flit_and_a_nop_go_out)
{
	for (unsigned int gap_decoding = 0; gap_decoding < 2; gap_decoding++) {
		const unsigned int first = gap_decoding != 0 ? 1 : 5;
		struct weft_llr_cfg cfg;
		struct rig r;

		weft_llr_defaults(&cfg, WEFT_MODE_RXL);
		cfg.gap_decoding = cfg.selective = gap_decoding != 0;
		cfg.rx_flits = gap_decoding != 0 ? cfg.rx_flits : 0;
		rig_init(&r, &cfg, 1);
		r.end[0].to_send = 5;
		assert_true(rig_send(&r, 0));
		assert_int_equal(lose_until(&r, 1), gap_decoding);
		assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), first);
		lose_until(&r, 2);
		assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), first + 5);
		assert_true(rig_run(&r, 10000000000));
		assert_int_equal(r.end[1].wrong, 0);
		rig_free(&r);
	}
}
