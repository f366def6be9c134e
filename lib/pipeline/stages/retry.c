/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage retry: CRC of every flit, then the retry layer of its connection: what comes out is in order
 * and comes once (encapsulation.md section 3; doc/llr.md). It takes the place of crc_check where
 * connections have an end. Flits that had come too early leave in frames of their own behind the
 * frame that made them due; for want of a buffer they stay in the retry layer, and so does what
 * follows them. Runs on the lcore that owns the ends. Hot: runs per burst.
 */

#include "chunk.h"

enum {
	COUNT_DELIVERED,
	COUNT_HELD,
	COUNT_RELEASED,
	COUNT_NOPS,
	COUNT_REFUSED,
	COUNT_BAD,
	COUNT_DUPLICATES,
	COUNTERS,
};

static const struct weft_counter retry_counters[] = {
	[COUNT_DELIVERED] = { "delivered", "flits", "flits in turn, handed on as they came" },
	[COUNT_HELD] = { "held", "flits", "flits that came too early and are kept" },
	[COUNT_RELEASED] = { "released", "flits", "flits handed on that had been kept" },
	[COUNT_NOPS] = { "nops", "flits", "flits without a number" },
	[COUNT_REFUSED] = { "refused", "flits", "intact flits out of turn that are not kept" },
	[COUNT_BAD] = { "bad", "flits", "corrupt flits, or made for another receiver" },
	[COUNT_DUPLICATES] = { "duplicates", "flits", "flits that had come before" },
};

static const char *
retry_check(const struct weft_env *env)
{
	if (env->crc == NULL)
		return "a CRC kernel";
	if (env->conns == NULL)
		return "connections";
	return env->now_ns == NULL ? "the time" : NULL;
}

static unsigned int
popcount(uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

/* Out of line: flits that had come too early, in new frames behind the n that there are. */
static __attribute__((noinline)) uint16_t
retry_release(struct rte_mbuf *after, struct rte_mbuf **out, uint16_t room, uint64_t *counts)
{
	const struct weft_frame *like = weft_frame(after);
	struct weft_llr *l = weft_end_llr(like->conn->end);
	const unsigned int max = rte_pktmbuf_tailroom(after) / WEFT_FLIT_LEN + like->hdr.n_flits;
	uint16_t n = 0;

	while (n < room && weft_llr_ready_count(l) != 0) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(after->pool);
		struct weft_frame *f;

		if (m == NULL)
			break; /* nothing is lost: they stay where they are */
		f = weft_frame(m);
		memset(f, 0, sizeof(*f));
		f->conn = like->conn;
		f->hdr = like->hdr;
		f->hdr.n_flits = 0;
		f->in_port = like->in_port;
		f->out_port = like->out_port;
		f->time_ns = like->time_ns;
		rte_pktmbuf_append(m, WEFT_WIRE_FLITS_OFF);
		while (f->hdr.n_flits < max && f->hdr.n_flits < WEFT_WIRE_FLITS_MAX &&
			weft_llr_ready_count(l) != 0) {
			memcpy(rte_pktmbuf_append(m, WEFT_FLIT_LEN), weft_llr_held(l),
				WEFT_FLIT_LEN);
			f->hdr.n_flits++;
		}
		f->taken = weft_mask64(f->hdr.n_flits);
		counts[COUNT_RELEASED] += f->hdr.n_flits;
		out[n++] = m;
	}
	return n;
}

/* @return whether the frame still has anything to hand on */
static bool
retry_frame(const struct weft_env *env, struct rte_mbuf *m, uint64_t *syndrome, uint64_t *counts,
	struct weft_stage_stats *st)
{
	struct weft_frame *f = weft_frame(m);
	const unsigned int n = f->hdr.n_flits;
	const uint8_t *flits = weft_frame_flits(m);
	enum weft_session_event ev;
	struct weft_llr_in in;
	uint64_t zero = 0;
	enum weft_verdict v;

	v = weft_end_frame(f->conn->end, f->hdr.session, *env->now_ns, &ev);
	if (v != WEFT_OK) {
		st->drops[v] += env->is_parting ? 0 : n;
		return false;
	}
	for (unsigned int i = 0; i < n; i++) {
		zero |= (uint64_t)(syndrome[i] == 0) << i;
		syndrome[i] ^= f->conn->isn.address;
	}
	if (__builtin_expect(zero != 0, 0)) {
		zero = weft_wire_all_zero(flits, n);
		st->drops[WEFT_DROP_ALL_ZERO] += popcount(zero);
	}
	weft_llr_take(weft_end_llr(f->conn->end), flits, syndrome, n, zero, *env->now_ns, &in);
	f->hole = 0;
	f->taken = in.deliver;
	f->dropped |= ~in.deliver;
	counts[COUNT_DELIVERED] += popcount(in.deliver);
	if (__builtin_expect(in.deliver != weft_mask64(n), 0)) {
		counts[COUNT_HELD] += popcount(in.held);
		counts[COUNT_NOPS] += popcount(in.nop);
		counts[COUNT_REFUSED] += popcount(in.refused);
		counts[COUNT_BAD] += popcount(in.bad);
		counts[COUNT_DUPLICATES] += popcount(in.duplicate);
	}
	return in.deliver != 0;
}

static void
retry_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_codec codec = chunk_codec(env);
	const bool handed = b->handed;
	struct rte_mbuf *in[WEFT_BURST_MAX];
	uint64_t counts[COUNTERS] = { 0 };
	uint64_t *syndrome = b->syndrome;
	uint16_t out = 0, n = b->n;
	struct chunk c;

	assert(n <= WEFT_BURST_MAX);
	if (!handed) {
		for (uint16_t i = 0; i < n; i = c.end) {
			chunk_fill(&c, b, i);
			weft_codec_syndromes(&codec, chunk_flits(&c), c.n, c.order, syndrome);
			syndrome += c.n;
		}
		syndrome = b->syndrome;
	}
	memcpy(in, b->pkt, n * sizeof(in[0]));
	for (uint16_t i = 0; i < n; i++) {
		struct weft_frame *f = weft_frame(in[i]);
		const unsigned int flits = f->hdr.n_flits;
		bool keep = f->conn == NULL; /* link control */

		if (f->conn != NULL && f->conn->end != NULL)
			keep = retry_frame(env, in[i], syndrome, counts, st);
		else if (f->conn != NULL)
			st->drops[WEFT_DROP_NO_CONN] += flits;
		syndrome += flits;
		if (keep)
			b->pkt[out++] = in[i];
		/* A later stage takes no more frames than a source gives: the rest waits. */
		if (f->conn != NULL && f->conn->end != NULL &&
			weft_llr_ready_count(weft_end_llr(f->conn->end)) != 0)
			out = (uint16_t)(out +
					 retry_release(in[i], b->pkt + out,
						 (uint16_t)(WEFT_BURST_MAX - (n - i - 1) - out),
						 counts));
		if (!keep)
			weft_burst_drop(b, in[i]);
	}
	b->n = out;
	for (unsigned int k = 0; k < COUNTERS; k++)
		st->counts[k] += counts[k];
	st->drops[WEFT_DROP_CRC] += counts[COUNT_BAD];
	st->drops[WEFT_DROP_DUPLICATE] += counts[COUNT_DUPLICATES];
}

static const struct weft_stage retry = {
	.name = "retry",
	.help = "CRC and retry layer: flits in order, once",
	.check = retry_check,
	.run = retry_run,
	.counters = retry_counters,
	.n_counters = WEFT_ARRAY_SIZE(retry_counters),
};

WEFT_STAGE(retry)
