/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Runs bursts through stages. weft_pipe_poll() and below is the hot path: one reading of the TSC
 * between stages is its only clock, and a full ring is answered by not taking frames in, so nothing
 * is dropped for lack of room.
 */

#include "weft_pipe.h"

#include <errno.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "pipe_priv.h"
#include "trace_priv.h"

#define PIPE_RING_FRAMES 2048

/* What a stage needs and is not there, or NULL. */
static const char *
pipe_missing(const struct weft_stage *s, const struct weft_env *e)
{
	const bool is_live = e->ends.know_session, has_time = e->now_ns != NULL;
	const struct {
		enum weft_stage_needs need;
		bool is_there;
		const char *words;
	} rows[] = {
		{ WEFT_NEEDS_CRC, e->crc != NULL, "a CRC kernel" },
		{ WEFT_NEEDS_FEC, e->fec != NULL, "a FEC kernel" },
		{ WEFT_NEEDS_CONNS, e->conns != NULL, "connections" },
		{ WEFT_NEEDS_TABLES, e->tables != NULL, "a DRT" },
		{ WEFT_NEEDS_TIME, has_time, "the time" },
		{ WEFT_NEEDS_RANDOM, e->random != NULL, "random bits" },
		{ WEFT_NEEDS_LIVE_POOL, !is_live || e->ends.pool != NULL, "a pool of buffers" },
		{ WEFT_NEEDS_LIVE_TIME, !is_live || has_time, "the time" },
		{ WEFT_NEEDS_LIVE_MESSAGE, !is_live || e->deliver.message != NULL,
			"who takes messages" },
		{ WEFT_NEEDS_XLATE_TIME, e->xlate == NULL || has_time,
			"the time, with translations" },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++)
		if ((s->needs & rows[i].need) != 0 && !rows[i].is_there)
			return rows[i].words;
	return NULL;
}

static int
pipe_check(const struct weft_pipe_cfg *cfg, const struct weft_layout *l, char *err, size_t err_len)
{
	size_t len = strlen(cfg->name);
	uint32_t ring = cfg->ring_frames;

	if (len == 0 || len >= WEFT_PIPE_NAME_MAX)
		return weft_errorf(err, err_len, -EINVAL,
			"pipeline name \"%s\": expected 1 to %d characters", cfg->name,
			WEFT_PIPE_NAME_MAX - 1);
	if (ring != 0 && (ring <= WEFT_BURST_CAP || (ring & (ring - 1)) != 0))
		return weft_errorf(err, err_len, -EINVAL,
			"pipeline %s: ring of %u frames: expected a power of two above %d",
			cfg->name, ring, WEFT_BURST_CAP);
	for (unsigned int s = 0; s < l->n_segments; s++)
		if (l->ways[s] != 1 && cfg->env->conns == NULL)
			return weft_errorf(err, err_len, -EINVAL,
				"pipeline %s: ways need connections, whose senders are dealt to "
				"them",
				cfg->name);
	for (unsigned int i = 0; i < l->n_stages; i++) {
		const char *missing = pipe_missing(l->stage[i], cfg->env);

		if (missing != NULL)
			return weft_errorf(err, err_len, -EINVAL, "pipeline %s: stage %s needs %s",
				cfg->name, l->stage[i]->name, missing);
	}
	return 0;
}

static void
pipe_find_partners(struct weft_pipe *p)
{
	const struct weft_layout *l = &p->layout;

	for (unsigned int s = 0; s < l->n_segments; s++)
		for (unsigned int i = l->first[s]; i < l->first[s + 1]; i++)
			p->segment[s].polls |= l->stage[i]->poll != NULL;
	for (unsigned int s = 0; s < l->n_segments; s++)
		for (unsigned int i = l->first[s]; i + 1 < l->first[s + 1]; i++) {
			const char *next = l->stage[i + 1]->name;

			const char *fuses_with = l->stage[i]->fuses_with;

			p->may_fuse[i] = fuses_with != NULL && strcmp(fuses_with, next) == 0;
		}
}

/* The first way of the segment behind @p s, or n_segments. */
static unsigned int
pipe_next_segment(const struct weft_layout *l, unsigned int s)
{
	return s - l->way[s] + l->ways[s];
}

static int
pipe_make_ring(const struct weft_pipe_cfg *cfg, struct pipe_segment *from, struct pipe_segment *to)
{
	unsigned int size = cfg->ring_frames != 0 ? cfg->ring_frames : PIPE_RING_FRAMES;
	static unsigned int made; /* names of DPDK objects are short: a number tells ours apart */
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *r;

	snprintf(name, sizeof(name), "weft_%u", __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED));
	r = rte_ring_create(name, size, cfg->socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (r == NULL)
		return -rte_errno;
	from->out[from->n_out++] = r;
	to->in[to->n_in++] = r;
	return 0;
}

/* From one to each way, from each way to one, or from way to way. */
static int
pipe_make_rings(struct weft_pipe *p, const struct weft_pipe_cfg *cfg)
{
	const struct weft_layout *l = &p->layout;
	int rc = 0;

	for (unsigned int s = 0; s < l->n_segments; s++) {
		const unsigned int next = pipe_next_segment(l, s);

		for (unsigned int to = next; to < l->n_segments && to < next + l->ways[next]; to++)
			if (rc == 0 &&
				(l->ways[s] == 1 || l->ways[to] == 1 || l->way[s] == l->way[to]))
				rc = pipe_make_ring(cfg, &p->segment[s], &p->segment[to]);
	}
	return rc;
}

static_assert(WEFT_PIPE_SEGMENTS_MAX <= WEFT_CONNS_WAYS, "a layout has no more ways");

/* Whose connections each segment has. */
static void
pipe_deal_conns(struct weft_pipe *p)
{
	const struct weft_layout *l = &p->layout;
	unsigned int ways = 1;

	for (unsigned int s = 0; s < l->n_segments; s++) {
		p->segment[s].burst.way = l->way[s];
		ways = RTE_MAX(ways, l->ways[s]);
	}
	if (ways == 1)
		return;
	weft_conns_deal(p->env->conns, ways, p->env->pid);
	p->way_of = weft_conns_ways(p->env->conns);
}

struct weft_pipe *
weft_pipe_create(const struct weft_pipe_cfg *cfg, char *err, size_t err_len)
{
	struct weft_layout layout;
	struct weft_pipe *p;
	int rc;

	rc = weft_layout_parse(cfg->layout, &layout, err, err_len);
	if (rc == 0)
		rc = pipe_check(cfg, &layout, err, err_len);
	if (rc != 0) {
		rte_errno = -rc;
		return NULL;
	}
	p = rte_zmalloc_socket("weft_pipe", sizeof(*p), WEFT_CACHE_LINE, cfg->socket);
	if (p == NULL) {
		snprintf(err, err_len, "pipeline %s: out of memory (%zu bytes)", cfg->name,
			sizeof(*p));
		rte_errno = ENOMEM;
		return NULL;
	}
	snprintf(p->name, sizeof(p->name), "%s", cfg->name);
	p->layout = layout;
	pipe_find_partners(p);
	p->env = cfg->env;
	pipe_deal_conns(p);
	p->source = cfg->source;
	p->source_arg = cfg->source_arg;
	p->sink = cfg->sink;
	p->sink_arg = cfg->sink_arg;
	rc = pipe_make_rings(p, cfg);
	if (rc == 0)
		rc = pipe_telemetry_add(p);
	if (rc != 0) {
		snprintf(err, err_len, "pipeline %s: %s", p->name,
			rc == -EEXIST ? "a pipeline of this name exists" : strerror(-rc));
		weft_pipe_free(p);
		rte_errno = -rc;
		return NULL;
	}
	return p;
}

void
weft_pipe_free(struct weft_pipe *p)
{
	struct rte_mbuf *m;

	if (p == NULL)
		return;
	pipe_telemetry_remove(p);
	for (unsigned int s = 0; s < p->layout.n_segments; s++)
		for (unsigned int i = 0; i < p->segment[s].n_out; i++) {
			struct rte_ring *r = p->segment[s].out[i];

			while (rte_ring_sc_dequeue(r, (void **)&m) == 0)
				rte_pktmbuf_free(m);
			rte_ring_free(r);
		}
	rte_free(p);
}

static uint64_t
pipe_count_flits(struct rte_mbuf **pkt, uint16_t n)
{
	uint64_t flits = 0;

	for (uint16_t i = 0; i < n; i++)
		flits += weft_frame(pkt[i])->hdr.n_flits;
	return flits;
}

/* Run a burst through stage @p i. What it dropped is freed by pipe_end_stage(). */
static inline void
pipe_run_stage(struct weft_pipe *p, struct weft_burst *b, unsigned int i)
{
	struct weft_stage_stats *st = &p->stats[i];
	uint16_t frames = b->n;
	/* The first stage may be the one that learns the flit counts: ask it afterwards. */
	uint64_t flits = i == 0 ? 0 : pipe_count_flits(b->pkt, b->n);

	b->may_fuse = p->may_fuse[i];
	p->layout.stage[i]->run(p->env, b, st);
	b->fused &= b->may_fuse; /* used by the stage before, or not at all */
	if (i == 0)
		flits = pipe_count_flits(b->pkt, b->n) + pipe_count_flits(b->drop, b->n_drop);
	st->bursts++;
	st->frames += frames;
	st->flits += flits;
}

/* @return the time, @p since is that of its beginning */
static inline uint64_t
pipe_end_stage(struct weft_pipe *p, struct weft_burst *b, unsigned int i, uint64_t since)
{
	uint64_t now;

	if (b->n_drop != 0) {
		rte_pktmbuf_free_bulk(b->drop, b->n_drop);
		b->n_drop = 0;
	}
	now = rte_rdtsc();
	p->stats[i].cycles += now - since;
	return now;
}

/* Run a burst through the stages from @p first to the one before @p end. */
static void
pipe_run_stages(struct weft_pipe *p, struct weft_burst *b, unsigned int first, unsigned int end)
{
	uint64_t t = rte_rdtsc();

	for (unsigned int i = first; i < end; i++) {
		pipe_run_stage(p, b, i);
		t = pipe_end_stage(p, b, i, t);
	}
}

/* The reason of all drops since @p before, or WEFT_OK if there are several, or none. */
static enum weft_verdict
pipe_verdict(const uint64_t *before, const uint64_t *now)
{
	enum weft_verdict found = WEFT_OK;

	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++) {
		if (now[v] == before[v])
			continue;
		if (found != WEFT_OK)
			return WEFT_OK;
		found = (enum weft_verdict)v;
	}
	return found;
}

/* The same while frames are traced; what that takes is not in the stages' cycles. */
static __rte_noinline void
pipe_run_traced(struct weft_pipe *p, struct weft_trace *trace, struct pipe_segment *seg,
	unsigned int first, unsigned int end)
{
	struct weft_burst *b = &seg->burst;
	struct trace_burst w;

	trace_begin(trace, b, first, &w);
	for (unsigned int i = first; i < end; i++) {
		struct weft_stage_stats *st = &p->stats[i];
		const uint64_t flits = st->flits;
		struct weft_trace_step step = { .stage = p->layout.stage[i], .frames = b->n };
		uint64_t drops[WEFT_VERDICT_COUNT], t;

		memcpy(drops, st->drops, sizeof(drops));
		trace_before(b, step.stage, &w);
		t = rte_rdtsc();
		pipe_run_stage(p, b, i);
		step.cycles = rte_rdtsc() - t;
		step.flits = (uint32_t)(st->flits - flits);
		trace_after(trace, b, &step, pipe_verdict(drops, st->drops), &w);
		pipe_end_stage(p, b, i, rte_rdtsc() - step.cycles);
	}
	if (seg->n_out == 0)
		trace_end(trace, &w);
}

/* To each way what is its senders'. Before ways no stage gives more frames than it was given. */
static __rte_noinline void
pipe_deal(const struct weft_pipe *p, struct pipe_segment *seg)
{
	const struct weft_burst *b = &seg->burst;
	unsigned int n[WEFT_PIPE_SEGMENTS_MAX] = { 0 };

	assert(b->n <= WEFT_BURST_MAX);
	for (uint16_t i = 0; i < b->n; i++) {
		const unsigned int way = p->way_of[weft_frame(b->pkt[i])->hdr.spid % WEFT_PIDS];

		seg->dealt[way][n[way]++] = b->pkt[i];
	}
	for (unsigned int way = 0; way < seg->n_out; way++)
		if (n[way] != 0)
			rte_ring_sp_enqueue_bulk(
				seg->out[way], (void **)seg->dealt[way], n[way], NULL);
}

/* Run the burst of a segment through its stages, from @p first on, and hand it on. */
static void
pipe_run(struct weft_pipe *p, unsigned int segment, unsigned int first)
{
	struct pipe_segment *seg = &p->segment[segment];
	struct weft_burst *b = &seg->burst;

	struct weft_trace *trace = __atomic_load_n(&p->trace, __ATOMIC_ACQUIRE);

	if (likely(trace == NULL))
		pipe_run_stages(p, b, first, p->layout.first[segment + 1]);
	else
		pipe_run_traced(p, trace, seg, first, p->layout.first[segment + 1]);
	if (b->n == 0)
		return;
	seg->passed += b->n;
	if (seg->n_out == 0)
		p->sink(p->sink_arg, b->pkt, b->n);
	else if (seg->n_out == 1)
		rte_ring_sp_enqueue_bulk(seg->out[0], (void **)b->pkt, b->n, NULL);
	else
		pipe_deal(p, seg);
}

/* Let stages give up frames that they held back, though none came in. @return frames given up */
static unsigned int
pipe_poll_stages(struct weft_pipe *p, unsigned int segment)
{
	struct weft_burst *b = &p->segment[segment].burst;
	unsigned int given = 0;

	for (unsigned int i = p->layout.first[segment]; i < p->layout.first[segment + 1]; i++) {
		const struct weft_stage *s = p->layout.stage[i];

		if (s->poll == NULL)
			continue;
		b->n = 0;
		s->poll(p->env, b, &p->stats[i]);
		given += (unsigned int)b->n + b->n_drop;
		rte_pktmbuf_free_bulk(b->drop, b->n_drop);
		b->n_drop = 0;
		if (b->n != 0)
			pipe_run(p, segment, i + 1);
	}
	return given;
}

static bool
pipe_segment_has_room(const struct pipe_segment *seg)
{
	for (unsigned int i = 0; i < seg->n_out; i++)
		if (rte_ring_free_count(seg->out[i]) < WEFT_BURST_CAP)
			return false;
	return true;
}

/* A burst from the rings before it, in turn. */
static uint16_t
pipe_take(struct pipe_segment *seg)
{
	struct weft_burst *b = &seg->burst;
	uint16_t n = 0;

	for (unsigned int i = 0; i < seg->n_in && n < WEFT_BURST_MAX; i++) {
		n = (uint16_t)(n + rte_ring_sc_dequeue_burst(seg->in[seg->next_in],
					   (void **)(b->pkt + n), WEFT_BURST_MAX - n, NULL));
		seg->next_in = (uint8_t)(seg->next_in + 1u == seg->n_in ? 0 : seg->next_in + 1u);
	}
	for (uint16_t i = 0; i < n; i++) { /* they are in the cache of the lcore before */
		__builtin_prefetch(b->pkt[i]);
		__builtin_prefetch(weft_frame(b->pkt[i]));
	}
	return n;
}

unsigned int
weft_pipe_poll(struct weft_pipe *p, unsigned int segment)
{
	struct pipe_segment *seg = &p->segment[segment];
	struct weft_burst *b = &seg->burst;
	unsigned int taken;

	if (!pipe_segment_has_room(seg))
		return 0;
	if (seg->n_in != 0)
		b->n = pipe_take(seg);
	else if (p->source != NULL)
		b->n = p->source(p->source_arg, b->pkt, WEFT_BURST_MAX);
	else
		b->n = 0;
	taken = b->n;
	if (taken != 0)
		pipe_run(p, segment, p->layout.first[segment]);
	else if (seg->polls)
		taken = pipe_poll_stages(p, segment);
	return taken;
}

uint16_t
weft_pipe_push(struct weft_pipe *p, struct rte_mbuf **pkt, uint16_t n)
{
	struct pipe_segment *seg = &p->segment[0];

	assert(n <= WEFT_BURST_MAX);
	if (n == 0 || !pipe_segment_has_room(seg))
		return 0;
	memcpy(seg->burst.pkt, pkt, n * sizeof(pkt[0]));
	seg->burst.n = n;
	pipe_run(p, 0, 0);
	return n;
}

bool
weft_pipe_has_room(const struct weft_pipe *p)
{
	return pipe_segment_has_room(&p->segment[0]);
}

uint64_t
weft_pipe_passed(const struct weft_pipe *p, unsigned int segment)
{
	return p->segment[segment].passed;
}

/* Run a burst from stage @p i of segment @p s on, by the first of several ways. */
static void
pipe_run_rest(struct weft_pipe *p, struct weft_burst *b, unsigned int s, unsigned int i)
{
	const struct weft_layout *l = &p->layout;

	pipe_run_stages(p, b, i, l->first[s + 1]);
	while ((s = pipe_next_segment(l, s)) < l->n_segments)
		pipe_run_stages(p, b, l->first[s], l->first[s + 1]);
	p->sink(p->sink_arg, b->pkt, b->n);
}

/* What a stage gives up is of all connections, so the other ways have nothing left. */
void
weft_pipe_drain(struct weft_pipe *p)
{
	const struct weft_layout *l = &p->layout;
	struct weft_burst *b = &p->segment[0].burst;

	for (unsigned int seg = 0; seg < l->n_segments; seg = pipe_next_segment(l, seg))
		for (unsigned int i = l->first[seg]; i < l->first[seg + 1]; i++) {
			const struct weft_stage *s = l->stage[i];

			while (s->drain != NULL) {
				b->n = 0;
				s->drain(p->env, b);
				if (b->n == 0)
					break;
				pipe_run_rest(p, b, seg, i + 1);
			}
		}
}

void
weft_pipe_trace(struct weft_pipe *p, struct weft_trace *t)
{
	__atomic_store_n(&p->trace, t, __ATOMIC_RELEASE);
}

bool
weft_pipe_is_traced(const struct weft_pipe *p)
{
	return __atomic_load_n(&p->trace, __ATOMIC_RELAXED) != NULL;
}

unsigned int
weft_pipe_segments(const struct weft_pipe *p)
{
	return p->layout.n_segments;
}

const struct weft_layout *
weft_pipe_layout(const struct weft_pipe *p)
{
	return &p->layout;
}

unsigned int
weft_pipe_n_stages(const struct weft_pipe *p)
{
	return p->layout.n_stages;
}

const struct weft_stage *
weft_pipe_stage(const struct weft_pipe *p, unsigned int i)
{
	return i < p->layout.n_stages ? p->layout.stage[i] : NULL;
}

const struct weft_stage_stats *
weft_pipe_stats(const struct weft_pipe *p, unsigned int i)
{
	return i < p->layout.n_stages ? &p->stats[i] : NULL;
}

uint64_t
weft_pipe_flits(const struct weft_pipe *p, unsigned int i)
{
	const struct weft_layout *l = &p->layout;
	const struct weft_stage *last = l->stage[l->n_stages - 1];
	uint64_t left = 0;

	if (p->stats[i].flits != 0 || !weft_stage_takes_empty(l->stage[i]->order))
		return p->stats[i].flits;
	for (unsigned int k = i; k < l->n_stages; k++) /* in all its ways */
		left += l->stage[k] == last ? p->stats[k].flits : 0;
	return left;
}

bool
weft_pipe_sum(const struct weft_pipe *p, unsigned int i, struct weft_stage_stats *sum)
{
	const struct weft_layout *l = &p->layout;
	unsigned int s = 0, n;

	while (i >= l->first[s + 1])
		s++;
	if (l->way[s] != 0)
		return false;
	n = l->first[s + 1] - l->first[s];
	*sum = p->stats[i];
	sum->flits = weft_pipe_flits(p, i);
	for (unsigned int w = 1; w < l->ways[s]; w++) {
		const uint64_t *from = (const uint64_t *)&p->stats[i + w * n];

		for (size_t k = 0; k < sizeof(*sum) / sizeof(*from); k++)
			((uint64_t *)sum)[k] += from[k];
	}
	return true;
}

uint64_t
weft_pipe_count(const struct weft_pipe *p, const char *stage, const char *counter)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < p->layout.n_stages; i++) {
		const struct weft_stage *s = p->layout.stage[i];
		int row;

		if (strcmp(s->name, stage) != 0)
			continue;
		row = weft_counter_find(s->counters, s->n_counters, counter);
		sum += row < 0 ? 0 : p->stats[i].counts[row];
	}
	return sum;
}

uint64_t
weft_pipe_drops(const struct weft_pipe *p, enum weft_verdict v)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < p->layout.n_stages; i++)
		n += p->stats[i].drops[v];
	return n;
}
