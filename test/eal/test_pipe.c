/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Pipelines and layouts: every split gives what one lcore gives, and a full ring loses nothing. */

#include "pipe_rig.h"
#include "weft_trace.h"

static struct weft_rand r;

WEFT_TEST(layouts_are_read_or_refused)
{
	static const struct rig_layout cases[] = {
		{ "deframe", NULL, 1, 1 },
		{ WEFT_LAYOUT_RX_IDE, NULL, 5, 1 },
		{ " deframe , fec_check|\tlink_rx ", NULL, 3, 2 },
		{ "deframe|fec_check|link_rx|ide_open|route", NULL, 5, 5 },
		{ "", "character 1: expected a stage name, got nothing", 0, 0 },
		{ "deframe,", "character 9: expected a stage name", 0, 0 },
		{ "deframe||route", "character 9: expected a stage name", 0, 0 },
		{ "|deframe", "character 1: expected a stage name", 0, 0 },
		{ "deframe,nonesuch", "character 9: no stage is called \"nonesuch\"", 0, 0 },
		{ "deframe route", "character 9: expected \",\" or \"|\"", 0, 0 },
		{ "deframe,route,deframe", "stage \"deframe\" stands twice", 0, 0 },
		{ "fec_check,deframe", "stage \"deframe\" cannot come after \"fec_check\"", 0, 0 },
		{ "deframe|crc_first,fec_check",
			"stage \"fec_check\" is in the place of \"crc_first\"", 0, 0 },
		{ "deframe,link_rx,enframe", "\"enframe\" is for what is sent, \"link_rx\" is not",
			0, 0 },
		{ "pack,route", "\"route\" is for what is received, \"pack\" is not", 0, 0 },
		{ "deframe,crc_check", "no stage crc_check any more: use link_rx", 0, 0 },
		{ "deframe,retry", "no stage retry any more: use link_rx", 0, 0 },
		{ "@/nonesuch", "layout file /nonesuch: No such file", 0, 0 },
		{ "a_name_that_is_much_longer_than_any_stage_has", "no stage is called", 0, 0 },
	};

	rig_check_layouts(cases, WEFT_ARRAY_SIZE(cases));
}

/* What of a layout must stay together, and what may run anywhere, or with halves of links. */
WEFT_TEST(segments_say_whether_they_work_on_ends)
{
	static const struct {
		const char *text;
		bool at_ends[3];
		const char *words; /* of the last */
		bool halves[3], ide[3]; /* may part: with halves of retry layers, or of IDE alone */
	} cases[] = {
		{ "deframe,fec_check|link_rx,ide_open|route,deliver", { false, true, true },
			"route,deliver", { false, true, false }, { false, false, false } },
		{ "deframe,fec_check|link_rx|route,deliver", { false, true, true }, "route,deliver",
			{ false, true, false }, { false, false, false } },
		{ "deframe,link_rx|ide_open,route|deliver", { true, true, true }, "deliver",
			{ true, true, false }, { false, true, false } },
		{ "deframe,crc_first,link_rx|ide_open|deliver", { true, true, true }, "deliver",
			{ true, true, false }, { false, true, false } },
		{ "deframe,crc_first|link_rx,ide_open|deliver", { true, true, true }, "deliver",
			{ false, false, false }, { false, false, false } },
		{ "deframe|crc_first|route", { false, true, false }, "route",
			{ false, true, false }, { false, false, false } },
		{ "deframe|link_rx|ide_open,deliver", { false, true, true }, "ide_open,deliver",
			{ false, true, false }, { false, false, false } },
		{ "pack,ide_seal|link_tx|crc_protect, fec_encode,enframe", { true, true, false },
			"crc_protect,fec_encode,enframe", { false, false, false },
			{ false, false, false } },
		{ "deframe|fec_relay|route", { false, false, false }, "route",
			{ false, false, false }, { false, false, false } },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		struct weft_layout l;
		char text[64];

		assert_int_equal(weft_layout_parse(cases[i].text, &l, text, sizeof(text)), 0);
		assert_int_equal(l.n_segments, 3);
		assert_memory_equal(l.way, "\0\0\0", 3);
		assert_memory_equal(l.ways, "\1\1\1", 3);
		for (unsigned int s = 0; s < 3; s++) {
			assert_int_equal(weft_layout_at_ends(&l, s), cases[i].at_ends[s]);
			assert_int_equal(weft_layout_may_part(&l, s, true), cases[i].halves[s]);
			assert_int_equal(weft_layout_may_part(&l, s, false), cases[i].ide[s]);
		}
		assert_int_equal(weft_layout_has(&l, 2, WEFT_ENDS_NODE),
			strstr(cases[i].words, "deliver") != NULL);
		assert_string_equal(weft_layout_words(&l, 2, text, sizeof(text)), cases[i].words);
		assert_string_equal(
			weft_layout_words(&l, 0, text, 4), cases[i].text[0] == 'd' ? "def" : "pac");
	}
}

/* Of ways that part each has its share of the connections. */
WEFT_TEST(ways_part_as_one_segment_does)
{
	static const char text[] = "deframe|3*fec_check,link_rx,ide_open|route,deliver";
	struct weft_layout l;
	char words[64];

	assert_int_equal(weft_layout_parse(text, &l, words, sizeof(words)), 0);
	assert_int_equal(l.n_segments, 5);
	for (unsigned int s = 1; s < 4; s++) {
		assert_int_equal(l.way[s], s - 1);
		assert_int_equal(l.ways[s], 3);
		assert_int_equal(l.first[s], 1 + 3 * (s - 1));
		assert_true(weft_layout_may_part(&l, s, true));
		assert_false(weft_layout_may_part(&l, s, false));
		assert_true(weft_layout_has(&l, s, WEFT_ENDS_IDE_RX));
		assert_string_equal(weft_layout_words(&l, s, words, sizeof(words)),
			"fec_check,link_rx,ide_open");
	}
	assert_int_equal(l.first[4], 10);
	assert_false(weft_layout_may_part(&l, 4, true));
}

WEFT_TEST(a_stage_without_its_tables_is_refused)
{
	const struct weft_env empty = { .only_mode = -1 };
	struct weft_pipe_cfg cfg = { .name = "p",
		.layout = "route",
		.env = &empty,
		.sink = rig_sink,
		.socket = SOCKET_ID_ANY };
	char err[256];

	assert_null(weft_pipe_create(&cfg, err, sizeof(err)));
	assert_string_equal(err, "pipeline p: stage route needs a DRT");
	cfg.layout = "deframe";
	cfg.ring_frames = 100;
	assert_null(weft_pipe_create(&cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "ring of 100 frames"));
	cfg.ring_frames = 0;
	cfg.name = "a-name-of-more-than-thirty-nine-letters!";
	assert_null(weft_pipe_create(&cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "expected 1 to 39 characters"));
}

/* Each by name; what only live connections need is asked for with them alone. */
WEFT_TEST(a_stage_says_what_it_needs)
{
	static const struct {
		const char *stage, *traces, *live;
	} cases[] = {
		{ "deframe", NULL, NULL },
		{ "fec_check", "a FEC kernel", "a FEC kernel" },
		{ "crc_first", "a CRC kernel", "a CRC kernel" },
		{ "ide_open", "connections", "connections" },
		{ "ide_seal", NULL, "the time" },
		{ "link_tx", "the time", "the time" },
	};
	char err[256], want[128];

	for (size_t i = 0; i < 2 * WEFT_ARRAY_SIZE(cases); i++) {
		const struct weft_env env = { .only_mode = -1, .ends.know_session = i % 2 };
		const struct weft_pipe_cfg cfg = { .name = "p",
			.layout = cases[i / 2].stage,
			.env = &env,
			.sink = rig_sink,
			.socket = SOCKET_ID_ANY };
		const char *missing = i % 2 ? cases[i / 2].live : cases[i / 2].traces;
		struct weft_pipe *p = weft_pipe_create(&cfg, err, sizeof(err));

		assert_int_equal(p == NULL, missing != NULL);
		weft_pipe_free(p);
		if (missing == NULL)
			continue;
		snprintf(want, sizeof(want), "pipeline p: stage %s needs %s", cfg.layout, missing);
		assert_string_equal(err, want);
	}
}

/* Names of pipelines are keys in telemetry. */
WEFT_TEST(a_name_is_taken_once)
{
	const struct weft_env env = { .only_mode = -1 };
	const struct weft_pipe_cfg cfg = { .name = "once",
		.layout = "deframe",
		.env = &env,
		.sink = rig_sink,
		.socket = SOCKET_ID_ANY };
	struct weft_pipe *p;
	char err[256];

	p = weft_pipe_create(&cfg, err, sizeof(err));
	assert_non_null(p);
	assert_null(weft_pipe_create(&cfg, err, sizeof(err)));
	assert_non_null(strstr(err, "a pipeline of this name exists"));
	weft_pipe_free(p);
	p = weft_pipe_create(&cfg, err, sizeof(err));
	assert_non_null(p);
	weft_pipe_free(p);
}

struct outcome {
	uint64_t counts[WEFT_PIPE_STAGES_MAX][WEFT_STAGE_COUNTERS_MAX];
	uint64_t drops[WEFT_VERDICT_COUNT];
	uint64_t digest;
};

/* What came out, as one number: order, masks and bytes of every frame. */
static uint64_t
digest_frames(void)
{
	uint64_t d = 0;

	for (unsigned int i = 0; i < rig.n; i++)
		d = rig_digest(d, rig.frame[i]);
	return d;
}

static void
push_all(struct rte_mbuf **m, unsigned int *n)
{
	if (*n != 0)
		assert_int_equal(weft_pipe_push(rig.rx, m, (uint16_t)*n), *n);
	*n = 0;
}

/* The same damaged traffic, from the same seed, through a layout, in bursts of up to @p burst. */
static void
run_layout(const char *layout, uint64_t seed, enum weft_ide_mode ide, unsigned int burst,
	struct outcome *o)
{
	struct rte_mbuf *pending[WEFT_BURST_MAX];
	struct weft_rand local;
	unsigned int n = 0;

	memset(o, 0, sizeof(*o));
	weft_rand_seed(&local, seed);
	rig_start(ide, layout);
	for (unsigned int i = 0; i < 200; i++) {
		unsigned int flits =
			1 + (unsigned int)weft_rand_below(&local, i % 16 == 0 ? 64 : 9);
		struct rte_mbuf *m = rig_frame(&local, flits);
		uint64_t fate = weft_rand_below(&local, 20);

		if (fate == 0 && ide == WEFT_IDE_OFF) {
			rte_pktmbuf_free(m);
			continue;
		}
		if (fate < 5)
			weft_frame_flits(m)[weft_rand_below(&local, 240)] ^= 0x10;
		if (fate == 5 && ide == WEFT_IDE_OFF)
			memset(weft_frame_flits(m), 0, WEFT_FLIT_LEN);
		pending[n++] = m;
		if (n >= burst || n > i % WEFT_BURST_MAX) {
			push_all(pending, &n);
			rig_settle();
		}
	}
	push_all(pending, &n);
	rig_settle();
	weft_pipe_drain(rig.rx);
	for (unsigned int s = 0; s < weft_pipe_n_stages(rig.rx); s++)
		memcpy(o->counts[s], weft_pipe_stats(rig.rx, s)->counts, sizeof(o->counts[s]));
	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++)
		o->drops[v] = weft_pipe_drops(rig.rx, (enum weft_verdict)v);
	o->digest = digest_frames();
	rig_stop();
}

WEFT_TEST(every_split_gives_the_same)
{
	static const enum weft_ide_mode modes[] = { WEFT_IDE_OFF, WEFT_IDE_CONTAINMENT,
		WEFT_IDE_SKID };
	uint64_t seed = weft_rand_u64(&r);

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(modes); k++) {
		struct outcome whole, split;

		run_layout(WEFT_LAYOUT_RX_IDE, seed, modes[k], WEFT_BURST_MAX, &whole);
		run_layout(WEFT_LAYOUT_RX_IDE, seed, modes[k], 1, &split);
		assert_memory_equal(&split, &whole, sizeof(whole));
		/* A bit of the number says whether a ring stands behind that stage. */
		for (unsigned int rings = 1; rings < 16; rings++) {
			char layout[] = WEFT_LAYOUT_RX_IDE;
			unsigned int comma = 0;

			for (char *p = layout; *p != '\0'; p++)
				if (*p == ',' && (rings >> comma++ & 1))
					*p = '|';
			run_layout(layout, seed, modes[k], WEFT_BURST_MAX, &split);
			assert_memory_equal(&split, &whole, sizeof(whole));
		}
	}
}

/* crc_first in the place of fec_check: what goes on is the same, and so are the counts. */
WEFT_TEST(crc_first_gives_the_same)
{
	uint64_t seed = weft_rand_u64(&r);
	struct outcome both, first;

	run_layout(WEFT_LAYOUT_RX, seed, WEFT_IDE_OFF, WEFT_BURST_MAX, &both);
	run_layout(WEFT_LAYOUT_RX_CRC_FIRST, seed, WEFT_IDE_OFF, WEFT_BURST_MAX, &first);
	assert_int_equal(first.digest, both.digest);
	assert_memory_equal(first.drops, both.drops, sizeof(first.drops));
	for (unsigned int i = 0; i < 6; i++) /* good, bad, gaps, lost, duplicates, delivered */
		assert_int_equal(first.counts[2][i], both.counts[2][i]);
	assert_true(first.counts[2][0] > 0 && first.counts[2][2] > 0);
	/* The damage is never in a FEC byte alone: corrected, corrected bytes. */
	assert_int_equal(first.counts[1][0], both.counts[1][1]);
	assert_int_equal(first.counts[1][1], both.counts[1][2]);
}

/* crc_protect hands on to fec_encode, or does not because a ring stands between. */
WEFT_TEST(every_split_sends_the_same)
{
	static const char *const layouts[] = { "crc_protect,fec_encode,enframe",
		"crc_protect|fec_encode,enframe" };
	uint64_t seed = weft_rand_u64(&r), want = 0;

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(layouts); k++) {
		struct rte_mbuf *m[WEFT_BURST_MAX];
		struct weft_rand local;
		struct weft_pipe *p;
		uint64_t digest;

		weft_rand_seed(&local, seed);
		rig_start(WEFT_IDE_OFF, "deframe");
		p = rig_pipe("send", layouts[k], &rig.tx_env);
		for (unsigned int i = 0; i < WEFT_BURST_MAX; i++)
			m[i] = rig_frame(&local, 1 + (unsigned int)weft_rand_below(&local, 40));
		rig.tx_conn->isn.next = 1000; /* wraps on the way */
		assert_int_equal(weft_pipe_push(p, m, WEFT_BURST_MAX), WEFT_BURST_MAX);
		while (weft_pipe_segments(p) > 1 && weft_pipe_poll(p, 1) != 0) {
		}
		assert_int_equal(rig.n, WEFT_BURST_MAX);
		digest = digest_frames();
		assert_true(k == 0 || digest == want);
		want = digest;
		weft_pipe_free(p);
		rig_stop();
	}
}

WEFT_TEST(a_full_ring_holds_back_and_loses_nothing)
{
	unsigned int taken = 0;
	struct rte_mbuf *m;

	rig_start(WEFT_IDE_OFF, "deframe|fec_check,link_rx");
	for (;;) {
		m = rig_frame(&r, 1);
		if (weft_pipe_push(rig.rx, &m, 1) == 0)
			break;
		taken++;
	}
	assert_in_range(taken, 100, 1024);
	assert_false(weft_pipe_has_room(rig.rx));
	assert_int_equal(weft_pipe_passed(rig.rx, 0), taken);
	assert_int_equal(weft_pipe_passed(rig.rx, 1), 0);
	assert_int_equal(weft_pipe_poll(rig.rx, 1), WEFT_BURST_MAX);
	rig_free_frames();
	assert_int_equal(weft_pipe_passed(rig.rx, 1), WEFT_BURST_MAX);
	assert_true(weft_pipe_has_room(rig.rx));
	rig_receive(m); /* the one that was refused is still ours */
	while (weft_pipe_poll(rig.rx, 1) != 0)
		rig_free_frames();
	assert_int_equal(rig_count("link_rx", "good"), taken + 1);
	assert_int_equal(rig_count("link_rx", "gaps"), 0);
	rig_stop();
}

WEFT_TEST(frames_in_a_ring_come_back_with_the_pipeline)
{
	rig_start(WEFT_IDE_OFF, "deframe|fec_check");
	for (unsigned int i = 0; i < 10; i++)
		rig_receive(rig_frame(&r, 2));
	rig_stop(); /* looks at the pool */
}

static struct weft_trace *
trace_on(const char *layout, struct weft_trace_cfg cfg)
{
	struct weft_trace *t = weft_trace_new(&cfg);

	assert_non_null(t);
	rig_start(WEFT_IDE_OFF, layout);
	weft_pipe_trace(rig.rx, t);
	assert_true(weft_pipe_is_traced(rig.rx));
	return t;
}

static void
trace_off(struct weft_trace *t)
{
	weft_pipe_trace(rig.rx, NULL);
	rig_stop();
	weft_trace_free(t);
}

static const struct weft_trace_cfg trace_all = { .in_port = 0,
	.out_port = -1,
	.pid = WEFT_TRACE_ANY,
	.frame_kind = WEFT_TRACE_ANY,
	.flit_type = WEFT_TRACE_ANY,
	.message = WEFT_TRACE_ANY };

/* Of each split: bytes as they came, every stage once and in order, and why one was dropped. */
WEFT_TEST(a_trace_says_what_a_frame_passed)
{
	static const char *const layouts[] = { "deframe,fec_check,link_rx,route",
		"deframe|fec_check,link_rx|route" };
	static const char *const names[] = { "deframe", "fec_check", "link_rx", "route" };

	for (size_t l = 0; l < WEFT_ARRAY_SIZE(layouts); l++) {
		struct weft_trace *t = trace_on(layouts[l], trace_all);
		struct rte_mbuf *m = rig_frame(&r, 3), *bad = rig_frame(&r, 2);
		uint8_t came[WEFT_WIRE_FRAME_LEN(3)];
		const struct weft_trace_frame *f;

		weft_frame_flits(m)[7] ^= 1; /* FEC mends it in the buffer */
		memcpy(came, rte_pktmbuf_mtod(m, const uint8_t *), sizeof(came));
		rte_pktmbuf_mtod(bad, uint8_t *)[20] ^= 1;
		rig_receive(m);
		rig_receive(bad);
		rig_settle();
		assert_int_equal(rig.n, 1);
		f = weft_trace_next(t);
		assert_non_null(f);
		assert_int_equal(f->end, WEFT_TRACE_PASSED);
		assert_int_equal(f->len, sizeof(came));
		assert_memory_equal(f->bytes, came, sizeof(came));
		assert_int_equal(f->corrected, 1);
		assert_int_equal(f->data_slots, WEFT_TRACE_UNKNOWN);
		assert_int_equal(f->n_steps, WEFT_ARRAY_SIZE(names));
		for (size_t s = 0; s < WEFT_ARRAY_SIZE(names); s++) {
			assert_string_equal(f->step[s].stage->name, names[s]);
			assert_int_equal(f->step[s].frames, 1);
			assert_int_equal(f->step[s].flits, 3);
			assert_true(f->step[s].cycles > 0);
		}
		weft_trace_took(t, f);
		f = weft_trace_next(t);
		assert_non_null(f);
		assert_int_equal(f->end, WEFT_TRACE_DROPPED);
		assert_int_equal(f->verdict, WEFT_DROP_HEADER_CHECK);
		assert_int_equal(f->n_steps, 1);
		weft_trace_took(t, f);
		assert_null(weft_trace_next(t));
		trace_off(t);
	}
}

/* Who does not read loses no frame of the pipeline, and what is not meant takes no room. */
WEFT_TEST(a_trace_takes_what_it_is_meant_to_while_it_has_room)
{
	static const struct {
		struct weft_trace_cfg cfg;
		unsigned int want, missed;
	} cases[] = {
		{ { 0, -1, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_TRACE_ANY },
			WEFT_TRACE_SLOTS, 100 - WEFT_TRACE_SLOTS },
		{ { 0, -1, RIG_SPID, WEFT_WIRE_FLITS, WEFT_FLIT_CACHEMEM, WEFT_TRACE_ANY },
			WEFT_TRACE_SLOTS, 100 - WEFT_TRACE_SLOTS },
		{ { 1, -1, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_TRACE_ANY }, 0, 0 },
		{ { 0, -1, 0x333, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_TRACE_ANY }, 0, 0 },
		{ { 0, -1, WEFT_TRACE_ANY, WEFT_WIRE_CONTROL, WEFT_TRACE_ANY, WEFT_TRACE_ANY }, 0,
			0 },
		{ { 0, -1, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_FLIT_ALMP, WEFT_TRACE_ANY }, 0, 0 },
		{ { -1, 900, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_TRACE_ANY, WEFT_TRACE_ANY }, 0,
			0 },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		struct weft_trace *t = trace_on("deframe,fec_check,link_rx,route", cases[i].cfg);
		const struct weft_trace_frame *f;
		unsigned int got = 0;

		for (unsigned int k = 0; k < 100; k++)
			rig_receive(rig_frame(&r, 1));
		assert_int_equal(rig.n, 100);
		for (; (f = weft_trace_next(t)) != NULL; got++)
			weft_trace_took(t, f);
		assert_int_equal(got, cases[i].want);
		assert_int_equal(weft_trace_missed(t), cases[i].missed);
		trace_off(t);
	}
}

int
main(void)
{
	rig_open();
	weft_test_seed(&r, "pipe");
	return weft_test_run();
}
