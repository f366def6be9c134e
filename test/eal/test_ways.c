/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Ways of a pipeline: senders are dealt to them, and of each sender comes what one lcore gives. */

#include "pipe_rig.h"

#define SENDERS 5

static struct weft_rand r;

struct outcome {
	uint64_t counts[WEFT_PIPE_STAGES_MAX][WEFT_STAGE_COUNTERS_MAX];
	uint64_t frames[WEFT_PIPE_STAGES_MAX];
	uint64_t drops[WEFT_VERDICT_COUNT];
	uint64_t digest[SENDERS]; /* order, masks and bytes of the frames of each */
};

static struct weft_conn_dir *sender[SENDERS];

/* Not next to each other: it is not the number that deals them. */
static uint16_t
spid_of(unsigned int k)
{
	return (uint16_t)(RIG_SPID + 16 * k);
}

static void
digest_frames(struct outcome *o)
{
	for (unsigned int i = 0; i < rig.n; i++) {
		const unsigned int spid = weft_frame(rig.frame[i])->hdr.spid;
		uint64_t *d = &o->digest[(spid - RIG_SPID) / 16];

		*d = rig_digest(*d, rig.frame[i]);
	}
}

static void
take_counts(struct outcome *o)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < weft_pipe_n_stages(rig.rx); i++) {
		struct weft_stage_stats sum;

		if (!weft_pipe_sum(rig.rx, i, &sum))
			continue;
		memcpy(o->counts[at], sum.counts, sizeof(sum.counts));
		o->frames[at++] = sum.frames;
	}
	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++)
		o->drops[v] = weft_pipe_drops(rig.rx, (enum weft_verdict)v);
}

/* A frame of one of the senders, perhaps damaged; NULL: it was lost. */
static struct rte_mbuf *
random_frame(struct weft_rand *local, enum weft_ide_mode ide, struct weft_ide_pace *pace)
{
	const unsigned int who = (unsigned int)weft_rand_below(local, SENDERS);
	const uint64_t fate = weft_rand_below(local, 20);
	struct rte_mbuf *m;

	rig.tx_conn = sender[who];
	rig.pace = pace[who];
	m = rig_frame(local, 1 + (unsigned int)weft_rand_below(local, 9));
	pace[who] = rig.pace;
	if (fate == 0 && ide == WEFT_IDE_OFF) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	if (fate < 5)
		weft_frame_flits(m)[weft_rand_below(local, 240)] ^= 0x10;
	return m;
}

/* The same traffic, from the same seed; segments are polled as @p order has it. */
static void
run_layout(const char *layout, uint64_t seed, enum weft_ide_mode ide, struct weft_rand *order,
	struct outcome *o)
{
	struct weft_ide_pace pace[SENDERS];
	struct weft_rand local;

	memset(o, 0, sizeof(*o));
	weft_rand_seed(&local, seed);
	rig_start(ide, layout);
	for (unsigned int k = 0; k < SENDERS; k++) {
		sender[k] = k == 0 ? rig.tx_conn : rig_conn(rig.tx_conns, ide, spid_of(k));
		weft_ide_pace_init(&pace[k], ide);
		if (k != 0) /* the first is dealt with the pipeline, these as they come */
			rig_conn(rig.rx_conns, ide, spid_of(k));
	}
	for (unsigned int i = 0; i < 300; i++) {
		struct rte_mbuf *m = random_frame(&local, ide, pace);

		if (m != NULL)
			rig_receive(m);
		for (unsigned int k = (unsigned int)weft_rand_below(order, 3); k != 0; k--)
			weft_pipe_poll(rig.rx, 1 + (unsigned int)weft_rand_below(
							   order, weft_pipe_segments(rig.rx) - 1));
	}
	rig_settle();
	weft_pipe_drain(rig.rx);
	take_counts(o);
	digest_frames(o);
}

/* Each way had its senders' frames, and no others. */
static void
check_shares(unsigned int ways)
{
	uint64_t passed[WEFT_PIPE_SEGMENTS_MAX] = { 0 }, want[WEFT_PIPE_SEGMENTS_MAX] = { 0 };

	for (unsigned int i = 0; i < rig.n; i++)
		want[(unsigned int)(weft_frame(rig.frame[i])->hdr.spid - RIG_SPID) / 16 % ways]++;
	for (unsigned int w = 0; w < ways; w++) {
		passed[w] = weft_pipe_passed(rig.rx, 1 + w);
		assert_true(want[w] > 20);
		assert_int_equal(passed[w], want[w]);
	}
}

WEFT_TEST(ways_are_read_or_refused)
{
	static const struct rig_layout cases[] = {
		{ "deframe|2*fec_check,link_rx|route", NULL, 6, 4 },
		{ "deframe| 3 * link_rx", "character 10: expected 1 to 7 ways", 0, 0 },
		{ "deframe|3*fec_check|3* crc_first", "is in the place of", 0, 0 },
		{ "deframe|2*fec_check|2*link_rx,ide_open|route", NULL, 8, 6 },
		{ "1*deframe|7*link_rx", NULL, 8, 8 },
		{ "2*deframe,link_rx", "character 1: expected a segment before 2 ways", 0, 0 },
		{ "deframe|0*link_rx",
			"character 9: expected 1 to 7 ways, a plain number right before *, got "
			"\"0\"",
			0, 0 },
		{ "deframe|8*link_rx", "character 9: expected 1 to 7 ways, a plain", 0, 0 },
		{ "deframe|99999999999999999999*link_rx", "expected 1 to 7 ways", 0, 0 },
		{ "deframe|-2*link_rx", "expected 1 to 7 ways", 0, 0 },
		{ "deframe|0x2*link_rx", "expected 1 to 7 ways", 0, 0 },
		{ "deframe|02*link_rx", "got \"02\"", 0, 0 },
		{ "deframe|*link_rx", "got \"\"", 0, 0 },
		{ "deframe|2*", "character 11: expected a stage name, got nothing", 0, 0 },
		{ "deframe|link_rx,2*ide_open", "character 17: expected N* at the beginning", 0,
			0 },
		{ "deframe|4*fec_check|4*link_rx", "more than 8 segments", 0, 0 },
		{ "deframe|7*link_rx|route", "more than 8 segments", 0, 0 },
		{ "deframe|2*link_rx,route", "\"route\" has one way", 0, 0 },
		{ "deframe|2*fec_check|3*link_rx", "one number of ways, got 2* and 3*", 0, 0 },
		{ "deframe|2*fec_check|link_rx", "\"link_rx\" works on connections", 0, 0 },
		{ "deframe|2*link_rx|ide_open", "expected it in a segment with 2*", 0, 0 },
	};

	rig_check_layouts(cases, WEFT_ARRAY_SIZE(cases));
}

WEFT_TEST(every_way_gives_what_one_lcore_gives)
{
	static const enum weft_ide_mode modes[] = { WEFT_IDE_OFF, WEFT_IDE_CONTAINMENT,
		WEFT_IDE_SKID };
	static const struct {
		const char *text;
		unsigned int ways;
	} layouts[] = {
		{ "deframe|2*fec_check,link_rx,ide_open|route", 2 },
		{ "deframe,fec_check|3*link_rx,ide_open|route", 3 },
		{ "deframe|2*fec_check|2*link_rx|2*ide_open|route", 2 },
		{ "deframe|5*fec_check,link_rx,ide_open|route", 5 },
	};
	const uint64_t seed = weft_rand_u64(&r);

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(modes); k++) {
		struct outcome whole, ways;

		run_layout("deframe,fec_check,link_rx,ide_open|route", seed, modes[k], &r, &whole);
		rig_stop();
		for (size_t i = 0; i < WEFT_ARRAY_SIZE(layouts); i++) {
			run_layout(layouts[i].text, seed, modes[k], &r, &ways);
			assert_memory_equal(&ways, &whole, sizeof(whole));
			if (modes[k] != WEFT_IDE_CONTAINMENT) /* else the end gave some up */
				check_shares(layouts[i].ways);
			rig_stop();
		}
	}
}

/* The last segment has ways: the sink hears of all of them. */
WEFT_TEST(a_sink_may_be_behind_ways)
{
	const uint64_t seed = weft_rand_u64(&r);
	struct outcome whole, ways;

	run_layout("deframe|fec_check,link_rx", seed, WEFT_IDE_OFF, &r, &whole);
	rig_stop();
	run_layout("deframe|4*fec_check,link_rx", seed, WEFT_IDE_OFF, &r, &ways);
	assert_memory_equal(&ways, &whole, sizeof(whole));
	rig_stop();
}

/* Without connections nothing is dealt: it is refused, whatever the stages. */
WEFT_TEST(ways_want_connections)
{
	struct weft_env env = rig_env_of_codecs();
	const struct weft_pipe_cfg cfg = { .name = "none",
		.layout = "deframe|2*fec_check",
		.env = &env,
		.sink = rig_sink,
		.socket = SOCKET_ID_ANY };
	char err[512] = "";

	assert_null(weft_pipe_create(&cfg, err, sizeof(err)));
	assert_int_equal(rte_errno, EINVAL);
	assert_non_null(strstr(err, "pipeline none: ways need connections"));
}

/* One way that nobody polls holds up what comes, and nothing is lost. */
WEFT_TEST(a_way_that_is_full_holds_back)
{
	unsigned int taken = 0;
	struct rte_mbuf *m;

	rig_start(WEFT_IDE_OFF, "deframe|2*fec_check,link_rx");
	for (;;) {
		m = rig_frame(&r, 1);
		if (weft_pipe_push(rig.rx, &m, 1) == 0)
			break;
		taken++;
		assert_int_equal(weft_pipe_poll(rig.rx, 2), 0); /* the other way has nothing */
	}
	assert_in_range(taken, 100, 1024);
	assert_false(weft_pipe_has_room(rig.rx));
	assert_int_equal(weft_pipe_poll(rig.rx, 1), WEFT_BURST_MAX);
	rig_free_frames();
	assert_true(weft_pipe_has_room(rig.rx));
	rig_receive(m);
	while (weft_pipe_poll(rig.rx, 1) != 0)
		rig_free_frames();
	assert_int_equal(rig_count("link_rx", "good"), taken + 1);
	assert_int_equal(rig_count("link_rx", "gaps"), 0);
	rig_stop();
}

/* Nobody's frames, of a sender that no connection has, go the first way. */
WEFT_TEST(a_stranger_goes_the_first_way)
{
	const uint8_t *way;

	rig_start(WEFT_IDE_OFF, "deframe|2*fec_check,link_rx");
	rig_conn(rig.rx_conns, WEFT_IDE_OFF, RIG_DPID); /* as a sender: takes no turn */
	rig_conn(rig.rx_conns, WEFT_IDE_OFF, 0x777);
	rig_conn(rig.rx_conns, WEFT_IDE_OFF, 0x778);
	way = weft_conns_ways(rig.rx_conns);
	assert_int_equal(way[RIG_SPID], 0);
	assert_int_equal(way[RIG_DPID], 0);
	assert_int_equal(way[0x777], 1);
	assert_int_equal(way[0x778], 0);
	assert_int_equal(way[0x779], 0);
	rig_stop();
}

/* Each way goes round its own connections, and does not wait for one where it has none. */
WEFT_TEST(a_turn_is_of_a_way)
{
	const struct weft_conn_dir *own;

	rig_start(WEFT_IDE_OFF, "deframe|3*link_rx");
	rig_conn(rig.rx_conns, WEFT_IDE_OFF, RIG_DPID); /* nobody's: its end is another's too */
	own = rig_conn(rig.rx_conns, WEFT_IDE_OFF, 0x777);
	for (unsigned int i = 0; i < 4; i++) {
		assert_ptr_equal(weft_conns_turn(rig.rx_conns, WEFT_TURN_LINK_RX, 0), rig.rx_conn);
		assert_ptr_equal(weft_conns_turn(rig.rx_conns, WEFT_TURN_LINK_RX, 1), own);
		assert_null(weft_conns_turn(rig.rx_conns, WEFT_TURN_LINK_RX, 2));
	}
	rig_stop();
}

int
main(void)
{
	rig_open();
	weft_test_seed(&r, "ways");
	return weft_test_run();
}
