/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Whole pipelines over bursts of 32 frames, on one lcore or split over two by a ring. The frames a
 * receiver works on were made by the transmit pipeline, and what a receiver makes of them must be
 * what went in: each side checks the other, and the definition checks both.
 */

#include "bench_pipe.h"

#include <sched.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "cli.h"
#include "weft_ide_pace.h"
#include "weft_msg.h"

#define SPID 0x101
#define DPID 0x200
#define PORT 7
#define ELSEWHERE (4u << 20) /* more than an L2 holds */
#define FAST_BASE (UINT64_C(1) << 40)
#define SEGMENT_LOG2 36
#define PAGES 64
#define PAGE_LOG2 12

static const uint8_t key[WEFT_IDE_KEY_LEN] = { 9, 8, 7, 6 };

static const char *const layouts[][BENCH_LAYOUTS] = {
	[PIPE_RX] = { WEFT_LAYOUT_RX, "deframe,fec_check,link_rx|route" },
	[PIPE_RX_CRC_FIRST] = { WEFT_LAYOUT_RX_CRC_FIRST, "deframe,crc_first,link_rx|route" },
	[PIPE_RX_IDE] = { WEFT_LAYOUT_RX_IDE, "deframe,fec_check,link_rx|ide_open,route" },
	[PIPE_TX] = { WEFT_LAYOUT_TX, "crc_protect|fec_encode,enframe" },
	[PIPE_TX_IDE] = { WEFT_LAYOUT_TX_IDE, "ide_seal|crc_protect,fec_encode,enframe" },
	[PIPE_SWITCH] = { WEFT_LAYOUT_SWITCH, "deframe|fec_relay,route" },
	[PIPE_ROUTE] = { "route", "route" },
	[PIPE_ROUTE_WAIT] = { "route", "route" },
	[PIPE_RX_NO_ROUTE] = { "deframe,fec_check,link_rx", "deframe,fec_check|link_rx" },
	[PIPE_WORKERS] = { "deframe,fec_check,link_rx", "deframe|2*fec_check,link_rx" },
	[PIPE_WORKERS_IDE] = { "deframe,fec_check,link_rx,ide_open",
		"deframe|2*fec_check,link_rx,ide_open" },
};

const char *
bench_pipe_layout(const struct bench *b)
{
	return b >= bench_pipe && b < bench_pipe + bench_n_pipe ? layouts[b->kind][BENCH_RTC]
	                                                        : NULL;
}

static void
pipe_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct pipe *c = arg;
	uint64_t ports = 0;

	for (uint16_t i = 0; i < n; i++)
		ports += weft_frame(pkt[i])->out_port == PORT;
	c->right_port += ports;
	__atomic_store_n(&c->sunk, c->sunk + n, __ATOMIC_RELEASE);
}

/* Of several lcores. */
static void
pipe_sink_of_ways(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct pipe *c = arg;

	(void)pkt;
	__atomic_fetch_add(&c->sunk, n, __ATOMIC_RELEASE);
}

static bool
pipe_is_workers(const struct pipe *c)
{
	return c->kind == PIPE_WORKERS || c->kind == PIPE_WORKERS_IDE;
}

static bool
pipe_opens(const struct pipe *c)
{
	return c->kind == PIPE_RX_IDE || c->kind == PIPE_WORKERS_IDE;
}

static bool
pipe_has_ide(const struct pipe *c)
{
	return pipe_opens(c) || c->kind == PIPE_TX_IDE;
}

static uint16_t
pipe_spid(const struct pipe *c, unsigned int frame)
{
	return (uint16_t)(SPID + frame % c->n_conns);
}

static bool
pipe_is_tx(const struct pipe *c)
{
	return c->kind == PIPE_TX || c->kind == PIPE_TX_IDE;
}

/* The frames leave the L2 of this lcore for the L3, where a NIC puts those that come in. */
static void
pipe_push_out(struct pipe *c)
{
	for (unsigned int i = 0; i < ELSEWHERE; i += WEFT_CACHE_LINE)
		c->elsewhere[i]++;
}

/* Make frame @p i what it is before a run: plain flits to send, or a frame off the wire. */
static void
pipe_restore_frame(struct pipe *c, unsigned int i, const uint8_t *bytes, struct weft_conn_dir *conn)
{
	struct rte_mbuf *m = c->frame[i];
	struct weft_frame *f = weft_frame(m);

	rte_pktmbuf_reset(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)c->frame_len), bytes + i * c->frame_len,
		c->frame_len);
	memset(f, 0, sizeof(*f));
	f->conn = conn;
	f->hdr = (struct weft_wire_hdr){ .mode = WEFT_MODE_RXL,
		.n_flits = (uint8_t)c->p->frame_flits,
		.spid = pipe_spid(c, i),
		.dpid = DPID,
		.session = 1 };
}

static void
pipe_restore_conns(struct pipe *c)
{
	for (unsigned int k = 0; k < c->n_conns; k++) {
		struct weft_conn_dir *conn = c->of[k];

		conn->isn.next = WEFT_ISN_FIRST;
		if (conn->stream != NULL)
			weft_ide_stream_init(
				conn->stream, c->p->ide, WEFT_IDE_CONTAINMENT, key, 1, true);
	}
}

static void
pipe_prepare(void *ctx)
{
	struct pipe *c = ctx;
	bool tx = pipe_is_tx(c);

	weft_pipe_drain(c->pipe); /* a frame that waits for the next epoch's MAC */
	c->expect += c->n_frames;
	pipe_restore_conns(c);
	for (unsigned int i = 0; i < c->n_frames; i++)
		pipe_restore_frame(c, i, tx ? c->plain : c->wire,
			c->kind == PIPE_ROUTE_WAIT    ? c->one_of[i % PIPE_WAIT_CONNS]
			: tx || c->kind == PIPE_ROUTE ? c->conn
						      : NULL);
	/* One connection of eight misses in each burst: the page of its first request is taken. */
	if (c->kind == PIPE_ROUTE_WAIT)
		bench_agent_take(&c->agent, c->conn->index, FAST_BASE);
	if (c->elsewhere != NULL)
		pipe_push_out(c);
}

/* Whether all of a run has come as far as it will: to the sink, or into ide_open and no further. */
static bool
pipe_is_through(const struct pipe *c)
{
	uint64_t opened = 0;

	if (__atomic_load_n(&c->sunk, __ATOMIC_ACQUIRE) < c->expect - c->n_kept)
		return false;
	for (unsigned int i = 0; c->n_kept != 0 && i < weft_pipe_n_stages(c->pipe); i++)
		if (weft_pipe_stage(c->pipe, i)->order == WEFT_STAGE_IDE_OPEN)
			opened += __atomic_load_n(
				&weft_pipe_stats(c->pipe, i)->frames, __ATOMIC_ACQUIRE);
	return c->n_kept == 0 || opened >= c->expect;
}

static void
pipe_wait_for_sink(struct pipe *c)
{
	while (!pipe_is_through(c)) {
		if (pipe_is_workers(c) && weft_pipe_poll(c->pipe, 2) != 0)
			continue;
		if (c->p->share_cpu)
			sched_yield();
		else
			rte_pause();
	}
}

static uint64_t
pipe_run(void *ctx)
{
	struct pipe *c = ctx;

	for (unsigned int i = 0; i < c->n_frames; i += WEFT_BURST_MAX)
		while (weft_pipe_push(c->pipe, c->frame + i, WEFT_BURST_MAX) == 0)
			if (!pipe_is_workers(c) || weft_pipe_poll(c->pipe, 2) == 0)
				rte_pause();
	if (c->p->layout == BENCH_RING)
		pipe_wait_for_sink(c);
	while (c->kind == PIPE_ROUTE_WAIT && c->sunk < c->expect) {
		bench_agent_talk(&c->agent);
		weft_pipe_poll(c->pipe, 0);
	}
	return (uint64_t)c->n_frames * c->p->frame_flits;
}

static int
pipe_worker(void *arg)
{
	struct pipe *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		if (weft_pipe_poll(c->pipe, 1) != 0)
			continue;
		if (c->p->share_cpu)
			sched_yield();
		else
			rte_pause();
	}
	return 0;
}

/* Requests whose address goes through ATC and FAST; the rest of each flit is noise. */
static void
pipe_fill_plain(struct pipe *c)
{
	unsigned int n = c->n_frames * c->p->frame_flits;
	uint8_t *flits = bench_alloc(n * (size_t)WEFT_FLIT_LEN);
	static const uint8_t no_mac[WEFT_LLCTRL_PAYLOAD_LEN];
	struct weft_ide_pace pace_of[PIPE_WORKERS_CONNS];

	bench_fill(flits, n);
	for (unsigned int k = 0; k < c->n_conns; k++)
		weft_ide_pace_init(
			&pace_of[k], pipe_has_ide(c) ? WEFT_IDE_CONTAINMENT : WEFT_IDE_OFF);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		const unsigned int frame = i / c->p->frame_flits;
		struct weft_ide_pace *pace = &pace_of[frame % c->n_conns];
		struct weft_msg m = {
			.kind = WEFT_MSG_M2S_REQ,
			.op = WEFT_M2S_REQ_MEMRD,
			.meta_field = WEFT_META_FIELD_NOOP,
			.spid = pipe_spid(c, frame),
			.dpid = DPID,
			.tag = (uint16_t)i,
			.addr = FAST_BASE + ((uint64_t)(i % PAGES) << PAGE_LOG2),
		};

		weft_slot_encode(weft_flit_slot(flit, 0), true, WEFT_FORM_PBR, &m, 1);
		if (pace->mac_due)
			weft_llctrl_put(flit, WEFT_LLCTRL_IDE_MAC, no_mac);
		weft_ide_pace_flit(pace);
		memcpy(c->plain + frame * c->frame_len + WEFT_WIRE_FRAME_LEN(i % c->p->frame_flits),
			flit, WEFT_FLIT_LEN);
	}
	free(flits);
}

/* Every flit on the wire has the CRC of the definition and is a codeword; headers parse. */
static bool
pipe_wire_is_right(const struct pipe *c)
{
	for (unsigned int i = 0; i < c->n_frames; i++) {
		const uint8_t *frame = c->wire + i * c->frame_len;
		const unsigned int turn = i / c->n_conns;
		struct weft_wire_hdr h;

		if (weft_wire_parse(frame, c->frame_len, &h) != WEFT_OK ||
			h.spid != pipe_spid(c, i))
			return false;
		for (unsigned int k = 0; k < c->p->frame_flits; k++) {
			unsigned int number = turn * c->p->frame_flits + k + WEFT_ISN_FIRST;
			uint8_t flit[WEFT_FLIT_LEN];

			memcpy(flit, frame + WEFT_WIRE_FRAME_LEN(k), sizeof(flit));
			if (weft_fec_decode_flit(flit, NULL) != WEFT_FEC_CLEAN ||
				weft_crc_load(flit, WEFT_CRC_R0_FIRST) !=
					bench_crc_ref(
						flit, h.spid, DPID, 0, number % WEFT_ISN_NUMBERS))
				return false;
		}
	}
	return true;
}

/* Slots 1 to 14 of every flit are the plain ones: what a receiver is to make of the wire. */
static bool
pipe_slots_are_plain(const struct pipe *c)
{
	for (unsigned int i = 0; i < c->n_frames; i++) {
		const uint8_t *frame = rte_pktmbuf_mtod(c->frame[i], const uint8_t *);

		for (unsigned int k = 0; k < c->p->frame_flits; k++)
			if (memcmp(frame + WEFT_WIRE_FRAME_LEN(k) + WEFT_FLIT_SLOT_LEN,
				    c->plain + i * c->frame_len + WEFT_WIRE_FRAME_LEN(k) +
					    WEFT_FLIT_SLOT_LEN,
				    WEFT_FLIT_CRD_OFF - WEFT_FLIT_SLOT_LEN) != 0)
				return false;
	}
	return true;
}

static bool
pipe_bytes_are(const struct pipe *c, const uint8_t *bytes)
{
	for (unsigned int i = 0; i < c->n_frames; i++)
		if (memcmp(rte_pktmbuf_mtod(c->frame[i], const uint8_t *), bytes + i * c->frame_len,
			    c->frame_len) != 0)
			return false;
	return true;
}

/* The other lcore may still poll: let it finish what it has before we look. */
static void
pipe_stop(struct pipe *c)
{
	if (c->p->layout != BENCH_RING || c->pipe == NULL)
		return;
	__atomic_store_n(&c->stop, true, __ATOMIC_RELAXED);
	rte_eal_wait_lcore(c->p->worker);
}

/* The last run's frames, and every counter since the start. */
static bool
pipe_is_right(void *ctx)
{
	struct pipe *c = ctx;

	pipe_stop(c);
	weft_pipe_drain(c->pipe);
	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++)
		if (weft_pipe_drops(c->pipe, (enum weft_verdict)v) != 0)
			return false;
	if (c->sunk != c->expect || (strstr(layouts[c->kind][BENCH_RTC], "route") != NULL &&
					    c->right_port != c->expect))
		return false;
	if (weft_pipe_count(c->pipe, "link_rx", "gaps") != 0 ||
		weft_pipe_count(c->pipe, "crc_first", "corrected") != 0 ||
		weft_pipe_count(c->pipe, "fec_check", "corrected") != 0 ||
		weft_pipe_count(c->pipe, "fec_relay", "corrected") != 0)
		return false;
	if (pipe_opens(c))
		return pipe_slots_are_plain(c);
	return pipe_bytes_are(c, c->wire);
}

static struct weft_pipe *
pipe_make(struct pipe *c, const char *name, const char *layout)
{
	char err[256];
	struct weft_pipe_cfg cfg = { .name = name,
		.layout = layout,
		.env = &c->env,
		.sink = pipe_is_workers(c) ? pipe_sink_of_ways : pipe_sink,
		.sink_arg = c,
		.socket = SOCKET_ID_ANY };

	struct weft_pipe *pipe = weft_pipe_create(&cfg, err, sizeof(err));

	if (pipe == NULL)
		cli_warn("%s", err);
	return pipe;
}

static bool
pipe_make_senders(struct pipe *c)
{
	struct weft_conn_key k = {
		.mode = WEFT_MODE_RXL, .spid = SPID, .dpid = DPID, .session = 1
	};
	struct weft_conn_cfg cfg = {
		.isn = WEFT_ISN_PSEUDO,
		.first = WEFT_ISN_FIRST,
		.ide = pipe_has_ide(c) ? WEFT_IDE_CONTAINMENT : WEFT_IDE_OFF,
		.ide_key = key,
		.pcrc = true,
	};

	c->conns = weft_conns_create("bench", PIPE_WORKERS_CONNS, c->p->ide, SOCKET_ID_ANY);
	for (unsigned int i = 0; c->conns != NULL && i < c->n_conns; i++) {
		k.spid = pipe_spid(c, i);
		c->of[i] = weft_conns_add(c->conns, &k, &cfg);
		if (c->of[i] == NULL)
			return false;
	}
	c->conn = c->of[0];
	return c->conns != NULL;
}

/* One segment, one port; a switch decodes no addresses. */
static void
pipe_make_tables(struct pipe *c)
{
	static const struct weft_edge_cfg edge = { .pid = SPID, .fast_idt = 1 };
	const struct weft_tables_cfg cfg = {
		.n_edges = c->kind != PIPE_SWITCH, .edge = &edge, .n_routes = 1
	};
	const struct weft_fast_entry segment = { .flags = WEFT_SEG_VALID, .dpid = DPID };
	const uint8_t row[1][2] = { { WEFT_DRT_PORT, PORT } };
	struct weft_edge *e;

	c->tables = bench_alloc(weft_tables_size(&cfg));
	weft_tables_init(c->tables, &cfg);
	weft_route_set_drt(weft_tables_route_rw(c->tables, 0), DPID, row, 1);
	if (cfg.n_edges != 0) {
		e = weft_tables_edge_rw(c->tables, 0);
		weft_edge_allow(e, WEFT_GMV, DPID, true);
		weft_seg_set_range(&e->fast, SEGMENT_LOG2, FAST_BASE,
			FAST_BASE + (UINT64_C(1) << SEGMENT_LOG2));
		weft_seg_set_entries(&e->fast, 0, &segment, 1);
	}
	weft_tables_publish(&c->slot, c->tables);
}

/* PIPE_ROUTE_WAIT: the other connections. */
static bool
pipe_make_conns(struct pipe *c)
{
	const struct weft_conn_cfg conn = { .isn = WEFT_ISN_PSEUDO, .first = WEFT_ISN_FIRST };

	c->one_of[0] = c->conn;
	for (unsigned int i = 1; i < PIPE_WAIT_CONNS; i++) {
		struct weft_conn_key k = c->conn->key;

		k.session += i;
		c->one_of[i] = weft_conns_add(c->conns, &k, &conn);
		if (c->one_of[i] == NULL)
			return false;
	}
	return true;
}

/* What is looked up is there, of every connection. */
static bool
pipe_make_agent(struct pipe *c)
{
	const unsigned int contexts = c->kind == PIPE_ROUTE_WAIT ? PIPE_WAIT_CONNS : 1;

	if (!bench_agent_init(
		    &c->agent, contexts * 8 * PAGES, (uint16_t)contexts, WEFT_BURST_MAX, c->p->atc))
		return false;
	for (unsigned int i = 0; i < contexts * PAGES; i++)
		bench_agent_give(&c->agent, (uint16_t)(i / PAGES),
			FAST_BASE + ((uint64_t)(i % PAGES) << PAGE_LOG2));
	return contexts == 1 || pipe_make_conns(c);
}

static bool
pipe_make_env(struct pipe *c)
{
	pipe_make_tables(c);
	c->env = (struct weft_env){
		.only_mode = WEFT_MODE_RXL,
		.pid = WEFT_PID_ANY,
		.fec = c->p->fec,
		.crc = c->p->crc,
		.conns = c->kind == PIPE_SWITCH ? NULL : c->conns,
		.tables = &c->slot,
		.req_scan = c->p->req_scan,
	};
	if (c->kind == PIPE_SWITCH)
		return true;
	c->env.now_ns = &c->agent.now_ns;
	c->env.xlate = pipe_make_agent(c) ? c->agent.unit : NULL;
	return c->env.xlate != NULL;
}

/* The frames of the wire come from the transmit pipeline. */
static bool
pipe_make_wire(struct pipe *c)
{
	struct weft_pipe *tx =
		pipe_make(c, "bench-tx", pipe_has_ide(c) ? WEFT_LAYOUT_TX_IDE : WEFT_LAYOUT_TX);

	if (tx == NULL)
		return false;
	pipe_restore_conns(c);
	for (unsigned int i = 0; i < c->n_frames; i++) {
		pipe_restore_frame(c, i, c->plain, c->of[i % c->n_conns]);
		weft_pipe_push(tx, &c->frame[i], 1);
		memcpy(c->wire + i * c->frame_len, rte_pktmbuf_mtod(c->frame[i], void *),
			c->frame_len);
	}
	weft_pipe_free(tx);
	if (!pipe_wire_is_right(c)) {
		cli_warn("the transmit pipeline's frames are wrong");
		return false;
	}
	return true;
}

/* Frames that a run does not see out, as the MAC of their epoch is not in it: by one lcore. */
static bool
pipe_count_kept(struct pipe *c)
{
	c->pipe = pipe_make(c, "bench-kept", layouts[c->kind][BENCH_RTC]);
	if (c->pipe == NULL)
		return false;
	pipe_prepare(c);
	for (unsigned int i = 0; i < c->n_frames; i += WEFT_BURST_MAX)
		weft_pipe_push(c->pipe, c->frame + i, WEFT_BURST_MAX);
	c->n_kept = c->n_frames - (unsigned int)c->sunk;
	weft_pipe_drain(c->pipe);
	weft_pipe_free(c->pipe);
	c->pipe = NULL;
	c->expect = c->sunk = c->right_port = 0;
	return true;
}

static void
pipe_free(void *ctx)
{
	struct pipe *c = ctx;

	pipe_stop(c);
	weft_pipe_free(c->pipe);
	weft_conns_free(c->conns);
	rte_pktmbuf_free_bulk(c->frame, c->n_frames);
	bench_agent_fini(&c->agent);
	free(c->tables);
	free(c->elsewhere);
	free(c->plain);
	free(c->wire);
	free(c);
}

static void *
pipe_setup(const struct bench *b, const struct bench_params *p)
{
	struct pipe *c = bench_alloc(sizeof(*c));

	c->p = p;
	c->kind = (enum pipe_kind)b->kind;
	c->n_frames =
		p->layout == BENCH_RING || pipe_is_workers(c) ? PIPE_FRAMES_MAX : WEFT_BURST_MAX;
	c->n_conns = pipe_is_workers(c) ? PIPE_WORKERS_CONNS : 1;
	c->elsewhere = pipe_is_workers(c) ? bench_alloc(ELSEWHERE) : NULL;
	c->frame_len = WEFT_WIRE_FRAME_LEN(p->frame_flits);
	c->plain = bench_alloc(c->n_frames * c->frame_len);
	c->wire = bench_alloc(c->n_frames * c->frame_len);
	if (rte_pktmbuf_alloc_bulk(p->pool, c->frame, c->n_frames) != 0) {
		cli_warn("%s: out of packet buffers", b->name);
		c->n_frames = 0;
		goto fail;
	}
	if (!pipe_make_senders(c)) {
		cli_warn("%s: connection: %s", b->name, rte_strerror(rte_errno));
		goto fail;
	}
	if (!pipe_make_env(c)) {
		cli_warn("%s: no translations", b->name);
		goto fail;
	}
	pipe_fill_plain(c);
	if (!pipe_make_wire(c))
		goto fail;
	c->sunk = 0;
	c->right_port = 0;
	if (p->layout == BENCH_RING && pipe_opens(c) && !pipe_count_kept(c))
		goto fail;
	c->pipe = pipe_make(c, b->name, layouts[c->kind][p->layout]);
	if (c->pipe == NULL)
		goto fail;
	if (p->layout == BENCH_RING)
		rte_eal_remote_launch(pipe_worker, c, p->worker);
	pipe_prepare(c);
	pipe_run(c);
	return c;
fail:
	pipe_free(c);
	return NULL;
}

#define BOTH (1 << BENCH_RTC | 1 << BENCH_RING)
#define RTC (1 << BENCH_RTC)

static const struct bench_ops pipe_ops = { pipe_setup, pipe_prepare, pipe_run, pipe_is_right,
	pipe_free };

const struct bench bench_pipe[] = {
	{ "route", "ATC, FAST and DRT for 32 frames of requests", BENCH_ATC, RTC, PIPE_ROUTE,
		&pipe_ops },
	{ "route-wait", "the same, where one connection of 8 waits for a translation", BENCH_ATC,
		RTC, PIPE_ROUTE_WAIT, &pipe_ops },
	{ "ring-hop", "frames from one lcore to another by a ring", BENCH_PLAIN, 1 << BENCH_RING, 0,
		&ring_ops },
	{ "rx-pipeline", "receive: deframe, FEC, CRC/ISN, route", BENCH_CODEC, BOTH, PIPE_RX,
		&pipe_ops },
	{ "rx-pipeline-no-route", "receive without route: what it adds is the difference",
		BENCH_CODEC, RTC, PIPE_RX_NO_ROUTE, &pipe_ops },
	{ "rx-pipeline-crc-first", "receive where a good CRC spares the FEC", BENCH_CODEC, BOTH,
		PIPE_RX_CRC_FIRST, &pipe_ops },
	{ "rx-pipeline-ide", "receive with IDE containment", BENCH_CODEC, BOTH, PIPE_RX_IDE,
		&pipe_ops },
	{ "rx-workers", "receive of 64 senders, from the L3: workers by sender", BENCH_CODEC, BOTH,
		PIPE_WORKERS, &pipe_ops },
	{ "rx-workers-ide", "the same with IDE containment", BENCH_CODEC, BOTH, PIPE_WORKERS_IDE,
		&pipe_ops },
	{ "tx-pipeline", "transmit: CRC/ISN, FEC, frame", BENCH_CODEC, BOTH, PIPE_TX, &pipe_ops },
	{ "tx-pipeline-ide", "transmit with IDE containment", BENCH_CODEC, BOTH, PIPE_TX_IDE,
		&pipe_ops },
	{ "switch-rxl", "switch: deframe, FEC, route", BENCH_CODEC, BOTH, PIPE_SWITCH, &pipe_ops },
};

const unsigned int bench_n_pipe = sizeof(bench_pipe) / sizeof(bench_pipe[0]);
