/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage link_rx: CRC and number of every flit (encapsulation.md section 3), by the end that its
 * connection has.
 *
 * Active, with an end: the retry layer judges; what goes on is in order and comes once
 * (doc/llr.md). Flits that had come too early leave in frames of their own after the frame that
 * made them due. For want of a buffer they stay in the retry layer with what follows them, and
 * leave when there is one. Runs on the lcore that owns the ends, or, with the receiving halves of
 * their retry layers, on one of its own.
 *
 * Passive, without one, as for a trace: nobody sends again. Corrupt flits, duplicates and all-zero
 * flits are marked as dropped, and the frame goes on with what is left in it. A decoded gap is
 * taken as loss, and the receiver goes on from the number it decoded.
 *
 * Next after fec_check or crc_first the CRCs are there already. Hot: runs per burst.
 */

#include "flit_batch.h"

#define LINKS_A_POLL 16

enum {
	COUNT_GOOD,
	COUNT_BAD,
	COUNT_GAPS,
	COUNT_LOST,
	COUNT_DUPLICATES,
	COUNT_DELIVERED,
	COUNT_HELD,
	COUNT_RELEASED,
	COUNT_NOPS,
	COUNT_REFUSED,
	COUNTERS
};

static const struct weft_counter link_rx_counters[] = {
	[COUNT_GOOD] = { "good", "flits",
		"intact flits, duplicates and those after a gap included" },
	[COUNT_BAD] = { "bad", "flits", "corrupt flits, or made for another receiver" },
	[COUNT_GAPS] = { "gaps", "events", "passive: places where numbers were skipped" },
	[COUNT_LOST] = { "lost_flits", "flits", "passive: numbers skipped" },
	[COUNT_DUPLICATES] = { "duplicates", "flits", "intact flits that had come before" },
	[COUNT_DELIVERED] = { "delivered", "flits", "flits handed on as they came" },
	[COUNT_HELD] = { "held", "flits", "active: flits that came too early and are kept" },
	[COUNT_RELEASED] = { "released", "flits", "active: flits handed on that had been kept" },
	[COUNT_NOPS] = { "nops", "flits", "active: flits without a number" },
	[COUNT_REFUSED] = { "refused", "flits",
		"active: intact flits out of turn that are not kept" },
};

/* Of a burst. */
struct link_rx_counts {
	uint64_t row[COUNTERS];
	uint64_t zeros;
	const struct weft_conn_dir *said; /* it said something to the other lcore, unless NULL */
};

static inline unsigned int
link_rx_popcount(uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

static inline void
link_rx_tell_bad(const struct weft_env *env, const struct weft_frame *f, uint64_t bad)
{
	if (bad != 0)
		weft_probe_crc_bad(env->node, f->hdr.spid, f->in_port, link_rx_popcount(bad));
}

/* --- passive --- */

/* All-zero flits of a frame. Their syndrome is 0, and in rxl mode hardly any other's is. */
static inline uint64_t
link_rx_all_zero(const uint8_t *flits, const uint64_t *syndrome, unsigned int n)
{
	unsigned int suspects = 0;

	for (unsigned int i = 0; i < n; i++)
		suspects += syndrome[i] == 0;
	return suspects == 0 ? 0 : weft_wire_all_zero(flits, n);
}

/* Flits that use no number: NOP, IDLE. */
static inline uint64_t
link_rx_nops(const uint8_t *flits, unsigned int n)
{
	uint64_t nops = 0;

	for (unsigned int i = 0; i < n; i++)
		nops |= (uint64_t)(flits[i * (size_t)WEFT_FLIT_LEN] >> 6 == WEFT_FLIT_IDLE_NOP)
		        << i;
	return nops;
}

/* cxl mode: the number is in the header or counted along; turn that into the masks of rxl mode. */
static inline void
link_rx_judge_cxl(struct weft_conn_dir *c, const uint8_t *flits, const uint64_t *syndrome,
	unsigned int n, uint64_t skip, struct weft_isn_result *r)
{
	struct weft_isn_result crc;

	weft_isn_judge(&c->isn, syndrome, n, skip, 0, &crc);
	*r = (struct weft_isn_result){ .bad = crc.bad };
	for (unsigned int i = 0; i < n; i++) {
		uint64_t bit = WEFT_BIT64(i);
		uint16_t lost = 0;
		enum weft_fsn_verdict v;

		if (skip & bit)
			continue;
		v = weft_fsn_account(
			&c->fsn, flits + i * (size_t)WEFT_FLIT_LEN, (crc.bad & bit) == 0, &lost);
		if (crc.bad & bit)
			continue;
		if (v == WEFT_FSN_DUPLICATE)
			r->duplicate |= bit;
		else if (v == WEFT_FSN_AFTER_GAP)
			r->after_gap |= bit;
		else
			r->in_turn |= bit;
		r->lost += lost;
	}
}

/* Judge the flits of a frame by their syndromes, in order, and mark what may not be used. */
static inline void
link_rx_passive(const struct weft_env *env, struct rte_mbuf *m, const uint64_t *syndrome,
	struct link_rx_counts *counts)
{
	struct weft_frame *f = weft_frame(m);
	const uint8_t *flits = weft_frame_flits(m);
	const unsigned int n = f->hdr.n_flits;
	const uint64_t zero = link_rx_all_zero(flits, syndrome, n);
	struct weft_isn_result r;

	if (f->hdr.mode == WEFT_MODE_RXL)
		weft_isn_judge(&f->conn->isn, syndrome, n, zero, link_rx_nops(flits, n), &r);
	else
		link_rx_judge_cxl(f->conn, flits, syndrome, n, zero, &r);
	f->seq_gap = r.bad | r.after_gap;
	f->discard |= zero | r.bad | r.duplicate;
	if (__builtin_expect((zero | f->seq_gap | r.duplicate) == 0, 1)) {
		counts->row[COUNT_GOOD] += n;
		counts->row[COUNT_DELIVERED] += n;
		return;
	}
	counts->zeros += link_rx_popcount(zero);
	counts->row[COUNT_GOOD] += link_rx_popcount(r.in_turn | r.after_gap | r.duplicate | r.nop);
	counts->row[COUNT_DELIVERED] += link_rx_popcount(r.in_turn | r.after_gap | r.nop);
	counts->row[COUNT_BAD] += link_rx_popcount(r.bad);
	link_rx_tell_bad(env, f, r.bad);
	counts->row[COUNT_GAPS] += link_rx_popcount(r.after_gap);
	counts->row[COUNT_DUPLICATES] += link_rx_popcount(r.duplicate);
	counts->row[COUNT_LOST] += r.lost;
}

/* --- active --- */

/* Of the other lcore's poll, where that has the rest of the link. */
static inline uint64_t
link_rx_now(const struct weft_env *env)
{
	return __atomic_load_n(env->now_ns, __ATOMIC_RELAXED);
}

/* The session that there is, or 0. */
static inline uint32_t
link_rx_session(const struct weft_conn_dir *c)
{
	const struct weft_llr *l = weft_link_llr(c->end);

	return weft_llr_is_apart(l) ? weft_llr_rx_live(l) : weft_link_session(c->end)->id;
}

/* A frame came. Of a link whose other half is elsewhere the session is told of it there. */
static inline enum weft_verdict
link_rx_frame(struct weft_conn_dir *c, uint32_t session, uint64_t now_ns)
{
	struct weft_llr *l = weft_link_llr(c->end);
	enum weft_session_event ev;

	if (weft_llr_is_apart(l))
		return weft_llr_rx_session(l, session, now_ns) ? WEFT_OK : WEFT_DROP_SESSION;
	return weft_link_frame(c->end, session, now_ns, &ev);
}

/* A frame of the connection without a flit yet, or NULL. */
static struct rte_mbuf *
link_rx_blank(const struct weft_env *env, struct weft_conn_dir *c)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(env->ends.pool);
	struct weft_frame *f;

	if (m == NULL)
		return NULL;
	f = weft_frame(m);
	memset(f, 0, sizeof(*f));
	f->conn = c;
	f->hdr.kind = WEFT_WIRE_FLITS;
	f->hdr.mode = c->key.mode;
	f->hdr.vc = c->key.vc;
	f->hdr.spid = c->key.spid;
	f->hdr.dpid = c->key.dpid;
	f->hdr.session = link_rx_session(c);
	f->in_port = c->in_port;
	rte_pktmbuf_append(m, WEFT_WIRE_FLITS_OFF);
	return m;
}

/*
 * Out of line: flits that had come too early, in frames of their own, until the burst has @p max.
 */
static __attribute__((noinline)) void
link_rx_release(const struct weft_env *env, struct weft_burst *b, struct weft_conn_dir *c,
	unsigned int max, uint64_t *released)
{
	struct weft_llr *l = weft_link_llr(c->end);

	/* What a session that is over left is nobody's; the next begins without it. */
	if (link_rx_session(c) == 0) {
		weft_conns_stuck(env->conns, c, false);
		return;
	}
	while (b->n < max && weft_llr_ready_count(l) != 0) {
		struct rte_mbuf *m = link_rx_blank(env, c);
		struct weft_frame *f;

		if (m == NULL)
			break; /* nothing is lost: they stay where they are */
		f = weft_frame(m);
		while (rte_pktmbuf_tailroom(m) >= WEFT_FLIT_LEN &&
			f->hdr.n_flits < WEFT_WIRE_FLITS_MAX && weft_llr_ready_count(l) != 0) {
			memcpy(rte_pktmbuf_append(m, WEFT_FLIT_LEN), weft_llr_rx_next(l),
				WEFT_FLIT_LEN);
			f->hdr.n_flits++;
		}
		f->in_order = weft_mask64(f->hdr.n_flits);
		*released += f->hdr.n_flits;
		b->pkt[b->n++] = m;
	}
	weft_conns_stuck(env->conns, c, weft_llr_ready_count(l) != 0);
}

/* Out of line: what found no buffer before. */
static __attribute__((noinline)) void
link_rx_unstick(const struct weft_env *env, struct weft_burst *b, unsigned int max,
	struct weft_stage_stats *st)
{
	unsigned int pos = 0;
	struct weft_conn_dir *c;

	while (b->n < max && (c = weft_conns_next(env->conns, &pos)) != NULL)
		if (c->way == b->way && c->is_stuck)
			link_rx_release(env, b, c, max, &st->counts[COUNT_RELEASED]);
}

/* One bell for frames of a connection that follow each other, behind the last of them. */
static inline void
link_rx_said(
	const struct weft_env *env, struct link_rx_counts *counts, const struct weft_conn_dir *c)
{
	if (counts->said != NULL && counts->said != c)
		weft_conns_ring(env->conns, counts->said);
	counts->said = c;
}

/* @return whether the frame still has anything to hand on */
static bool
link_rx_active(const struct weft_env *env, struct rte_mbuf *m, uint64_t *syndrome,
	struct link_rx_counts *counts, struct weft_stage_stats *st)
{
	struct weft_frame *f = weft_frame(m);
	const unsigned int n = f->hdr.n_flits;
	const uint8_t *flits = weft_frame_flits(m);
	const uint64_t now_ns = link_rx_now(env);
	struct weft_llr_rx_result in;
	uint64_t zero = 0;
	enum weft_verdict v;

	v = link_rx_frame(f->conn, f->hdr.session, now_ns);
	if (v != WEFT_OK) {
		if (!env->ends.are_parting)
			weft_stage_drop(env, st, v, n);
		return false;
	}
	for (unsigned int i = 0; i < n; i++) {
		zero |= (uint64_t)(syndrome[i] == 0) << i;
		syndrome[i] ^= f->conn->isn.address;
	}
	if (__builtin_expect(zero != 0, 0)) {
		zero = weft_wire_all_zero(flits, n);
		counts->zeros += link_rx_popcount(zero);
	}
	weft_llr_rx(weft_link_llr(f->conn->end), flits, syndrome, n, zero, now_ns, &in);
	f->seq_gap = 0;
	f->in_order = in.deliver;
	f->discard |= ~in.deliver;
	counts->row[COUNT_DELIVERED] += link_rx_popcount(in.deliver);
	counts->row[COUNT_GOOD] += n - link_rx_popcount(in.bad | zero);
	if (__builtin_expect(in.deliver != weft_mask64(n), 0)) {
		counts->row[COUNT_HELD] += link_rx_popcount(in.held);
		counts->row[COUNT_NOPS] += link_rx_popcount(in.nop);
		counts->row[COUNT_REFUSED] += link_rx_popcount(in.refused);
		counts->row[COUNT_BAD] += link_rx_popcount(in.bad);
		link_rx_tell_bad(env, f, in.bad);
		counts->row[COUNT_DUPLICATES] += link_rx_popcount(in.duplicate);
	}
	return in.deliver != 0;
}

/* --- both --- */

/* Those of the burst, where the stage before did not hand them on. */
static void
link_rx_syndromes(const struct weft_env *env, struct weft_burst *b)
{
	const struct weft_codec codec = flit_batch_codec(env);
	uint64_t *syndrome = b->syndrome;
	struct flit_batch c;

	for (uint16_t i = 0; i < b->n; i = c.end) {
		flit_batch_fill(&c, b, i);
		weft_codec_syndromes(&codec, flit_batch_flits(&c), c.n, c.order, syndrome);
		syndrome += c.n;
	}
}

/* Out of line: a frame of a live connection, with @p more to come in the burst. */
static __attribute__((noinline)) void
link_rx_live(const struct weft_env *env, struct weft_burst *b, struct rte_mbuf *m,
	unsigned int more, uint64_t *syndrome, struct link_rx_counts *counts,
	struct weft_stage_stats *st)
{
	struct weft_conn_dir *c = weft_frame(m)->conn;

	if (env->ends.rx_apart)
		link_rx_said(env, counts, c);
	if (c->in_port != weft_frame(m)->in_port) /* its line is read by lcores of other stages */
		c->in_port = weft_frame(m)->in_port;
	if (link_rx_active(env, m, syndrome, counts, st))
		b->pkt[b->n++] = m;
	else
		weft_burst_drop(b, m);
	/* A later stage takes no more frames than a source gives: the rest waits. */
	if (weft_llr_ready_count(weft_link_llr(c->end)) != 0)
		link_rx_release(env, b, c, WEFT_BURST_MAX - more, &counts->row[COUNT_RELEASED]);
}

/*
 * Links whose other half is elsewhere, some in turn, so that with many of them a burst does not pay
 * for all: what is asked for is asked for again by time.
 */
static void
link_rx_pass_time(const struct weft_env *env, unsigned int way, unsigned int most)
{
	struct weft_conn_dir *c;

	while (most-- != 0 && (c = weft_conns_turn(env->conns, WEFT_TURN_LINK_RX, way)) != NULL)
		if (c->end != NULL && weft_llr_is_apart(weft_link_llr(c->end)) &&
			weft_llr_rx_poll(weft_link_llr(c->end), link_rx_now(env)))
			weft_conns_ring(env->conns, c);
}

/* Out of line: flits of the burst that are not handed on. */
static __attribute__((noinline)) void
link_rx_drop(const struct weft_env *env, const struct link_rx_counts *counts,
	struct weft_stage_stats *st)
{
	const struct {
		enum weft_verdict why;
		uint64_t n;
	} rows[] = {
		{ WEFT_DROP_CRC, counts->row[COUNT_BAD] },
		{ WEFT_DROP_DUPLICATE, counts->row[COUNT_DUPLICATES] },
		{ WEFT_DROP_ALL_ZERO, counts->zeros },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++)
		if (rows[i].n != 0)
			weft_stage_drop(env, st, rows[i].why, rows[i].n);
}

static void
link_rx_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	struct link_rx_counts counts = { 0 };
	struct rte_mbuf *in[WEFT_BURST_MAX];
	uint64_t *syndrome = b->syndrome;
	const uint16_t n = b->n;

	assert(n <= WEFT_BURST_MAX);
	if (env->ends.rx_apart)
		link_rx_pass_time(env, b->way, 1);
	if (!b->fused)
		link_rx_syndromes(env, b);
	memcpy(in, b->pkt, n * sizeof(in[0]));
	b->n = 0;
	if (weft_conns_n_stuck(env->conns, b->way) != 0)
		link_rx_unstick(env, b, WEFT_BURST_MAX - n, st);
	for (uint16_t i = 0; i < n; i++) {
		const struct weft_frame *f = weft_frame(in[i]);
		const unsigned int flits = f->hdr.n_flits;

		if (f->conn != NULL && f->conn->end != NULL) {
			link_rx_live(env, b, in[i], n - i - 1u, syndrome, &counts, st);
		} else {
			if (f->conn != NULL) /* else link control, or nobody's */
				link_rx_passive(env, in[i], syndrome, &counts);
			b->pkt[b->n++] = in[i];
		}
		syndrome += flits;
	}
	link_rx_said(env, &counts, NULL);
	for (unsigned int k = 0; k < COUNTERS; k++)
		st->counts[k] += counts.row[k];
	if (__builtin_expect(
		    counts.row[COUNT_BAD] + counts.row[COUNT_DUPLICATES] + counts.zeros != 0, 0))
		link_rx_drop(env, &counts, st);
}

/* Nothing came in: buffers may be there now. */
static void
link_rx_poll(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	if (env->ends.rx_apart)
		link_rx_pass_time(env, b->way, LINKS_A_POLL);
	if (weft_conns_n_stuck(env->conns, b->way) != 0)
		link_rx_unstick(env, b, WEFT_BURST_MAX, st);
}

static const struct weft_stage link_rx = {
	.name = "link_rx",
	.help = "CRC and number of every flit; retry where links are live",
	.order = WEFT_STAGE_LINK_RX,
	.ends = WEFT_ENDS_LLR_RX,
	.has_ways = true,
	.needs = WEFT_NEEDS_CRC | WEFT_NEEDS_CONNS | WEFT_NEEDS_LIVE_POOL | WEFT_NEEDS_LIVE_TIME,
	.run = link_rx_run,
	.poll = link_rx_poll,
	.counters = link_rx_counters,
	.n_counters = WEFT_ARRAY_SIZE(link_rx_counters),
};

WEFT_STAGE(link_rx)
