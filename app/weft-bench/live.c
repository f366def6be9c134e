/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Trials over a pair of ports: one lcore sends, the other receives and holds each frame against
 * what was sent. Frames are whole ones of rxl mode, with good CRCs and FEC, that a switch would
 * forward; their session is the number of the trial, so that what comes late counts for none.
 */

#include "live.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "cli.h"
#include "json.h"
#include "weft_isn.h"
#include "weft_wire.h"

#define BURST 32u
#define BEHIND_MAX 256.0 /* frames that are made up for when this lcore was not running */
#define WAIT_S 10.0 /* for links */
#define SETTLE_S 0.02 /* nothing came for so long: what is missing is lost */
#define SETTLE_MAX_S 1.0
#define SPINS 64u /* looks in vain before the CPU is given to others */
#define LIVE_SPID 0x101
#define LIVE_DPID 0x200
#define MAC_LEN 12u

struct live {
	const struct options *o;
	struct bench_params *p;
	struct wire *w;
	double hz;
	unsigned int frame_flits;
	uint32_t len; /* of a frame */
	uint8_t frame[WEFT_WIRE_FRAME_LEN(WEFT_WIRE_FLITS_MAX)]; /* of this trial */
	uint32_t session; /* trials so far */
	bool stop;
	alignas(WEFT_CACHE_LINE) uint64_t received; /* the other lcore's */
	uint64_t changed;
	uint64_t looks; /* in vain */
};

/* The frame of a length; its session is put in later. */
static void
live_make(struct live *l, unsigned int n_flits)
{
	uint8_t *flits = l->frame + WEFT_WIRE_FLITS_OFF;
	struct weft_isn isn;

	l->frame_flits = n_flits;
	l->len = (uint32_t)WEFT_WIRE_FRAME_LEN(n_flits);
	memset(l->frame, 0, MAC_LEN);
	l->frame[0] = 2; /* locally administered, to nobody */
	l->frame[5] = 2;
	l->frame[6] = 2;
	l->frame[11] = 1;
	bench_fill(flits, n_flits);
	weft_isn_init(&isn, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, LIVE_SPID, LIVE_DPID, 0, 1);
	weft_isn_protect(&isn, l->p->crc, flits, n_flits);
	weft_fec_encode(l->p->fec, flits, n_flits);
}

static void
live_make_session(struct live *l)
{
	const struct weft_wire_hdr h = {
		.kind = WEFT_WIRE_FLITS,
		.mode = WEFT_MODE_RXL,
		.n_flits = (uint8_t)l->frame_flits,
		.spid = LIVE_SPID,
		.dpid = LIVE_DPID,
		.session = ++l->session,
	};

	weft_wire_build(l->frame, &h);
}

/* Whether a frame is of this trial; MAC addresses are whose wire it is. */
static bool
live_is_mine(const struct live *l, const uint8_t *frame, uint32_t len)
{
	struct weft_wire_hdr h;

	return weft_wire_parse(frame, len, &h) == WEFT_OK && h.session == l->session &&
	       h.spid == LIVE_SPID && h.dpid == LIVE_DPID && h.kind == WEFT_WIRE_FLITS;
}

/* The CPU given away costs a slice of time where others want it; kept, if we wait for them. */
static void
live_rest(const struct live *l, unsigned int *looks)
{
	if (++*looks < SPINS && !l->p->share_cpu) {
		rte_pause();
		return;
	}
	*looks = 0;
	sched_yield();
}

static int
live_receive(void *arg)
{
	struct live *l = arg;
	struct rte_mbuf *pkt[BURST];
	unsigned int looks = 0;

	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
		const uint16_t n = weft_port_rx(l->w->port[1], pkt, BURST);
		uint64_t mine = 0;

		for (uint16_t i = 0; i < n; i++) {
			const uint8_t *frame = rte_pktmbuf_mtod(pkt[i], const uint8_t *);
			const uint32_t len = rte_pktmbuf_data_len(pkt[i]);

			if (!live_is_mine(l, frame, len))
				continue;
			mine++;
			l->changed += len != l->len || memcmp(frame + MAC_LEN, l->frame + MAC_LEN,
							       len - MAC_LEN) != 0;
		}
		rte_pktmbuf_free_bulk(pkt, n);
		weft_port_count(mine != 0 ? &l->received : &l->looks, mine != 0 ? mine : 1);
		if (n == 0)
			live_rest(l, &looks);
	}
	return 0;
}

/* Frames to be sent of those waiting. */
struct live_queue {
	struct rte_mbuf *pkt[BURST];
	uint16_t n;
};

/* Have @p n frames waiting, if there are buffers. */
static void
live_fill(const struct live *l, struct live_queue *q, uint16_t n)
{
	for (; q->n < n; q->n++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(l->p->pool);

		if (m == NULL)
			return;
		memcpy(rte_pktmbuf_append(m, (uint16_t)l->len), l->frame, l->len);
		q->pkt[q->n] = m;
	}
}

/* Send for the time of a trial. What the port does not take is not sent, and offered again. */
static void
live_send(struct live *l, double intended, struct live_trial *t)
{
	const uint64_t start = rte_get_tsc_cycles();
	const uint64_t end = start + (uint64_t)(l->o->seconds * l->hz);
	struct live_queue q = { .n = 0 };
	unsigned int looks = 0;
	double given_up = 0; /* frames that should have left while this lcore did not run */
	uint64_t now;

	/* Once more when the time is over: this lcore may have had no CPU for all of it. */
	do {
		double due = BURST;
		uint16_t sent;

		now = rte_get_tsc_cycles();
		if (!isinf(intended)) {
			due = (double)(now - start) * intended / l->hz - given_up - (double)t->sent;
			if (due > BEHIND_MAX) {
				given_up += due - BEHIND_MAX;
				due = BEHIND_MAX;
			}
		}
		live_fill(l, &q, (uint16_t)RTE_MIN(due, (double)BURST));
		sent = weft_port_tx(l->w->port[0], q.pkt, q.n);
		t->sent += sent;
		q.n = (uint16_t)(q.n - sent);
		memmove(q.pkt, q.pkt + sent, q.n * sizeof(q.pkt[0]));
		if (sent == 0)
			live_rest(l, &looks);
	} while (now < end && !cli_is_stopped());
	t->seconds = (double)(rte_get_tsc_cycles() - start) / l->hz;
	rte_pktmbuf_free_bulk(q.pkt, q.n);
}

/*
 * Until all is there, or nothing came for a while and the other lcore has looked since: it may not
 * have had a CPU for so long.
 */
static void
live_settle(struct live *l, uint64_t sent)
{
	const uint64_t start = rte_get_tsc_cycles();
	uint64_t now = start, last = start, before = 0, looks = 0, got;

	while ((got = __atomic_load_n(&l->received, __ATOMIC_RELAXED)) < sent &&
		now - start < (uint64_t)(SETTLE_MAX_S * l->hz)) {
		const uint64_t looked = __atomic_load_n(&l->looks, __ATOMIC_RELAXED);

		last = got != before ? now : last;
		before = got;
		if (now - last < (uint64_t)(SETTLE_S * l->hz))
			looks = looked;
		else if (looked != looks)
			break;
		rte_delay_us_sleep(1000);
		now = rte_get_tsc_cycles();
	}
}

static void
live_trial(void *arg, double intended, struct live_trial *t)
{
	struct live *l = arg;

	live_make_session(l);
	l->received = 0;
	l->changed = 0;
	l->looks = 0;
	l->stop = false;
	if (rte_eal_remote_launch(live_receive, l, l->p->worker) != 0)
		cli_fail("expected a second lcore that is idle, got none");
	live_send(l, intended, t);
	live_settle(l, t->sent);
	__atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(l->p->worker);
	t->received = l->received;
	t->changed = l->changed;
}

static json_t *
live_rate_json(const struct live *l, const struct live_trial *t, double rate)
{
	if (t == NULL)
		return json_null();
	return json_pack("{s:f, s:f, s:f, s:f}", "frames_per_s", rate, "mflits_per_s",
		rate * l->frame_flits / 1e6, "gbps", rate * l->len * 8 / 1e9, "loss", live_loss(t));
}

static json_t *
live_json(const struct live *l, const struct live_search *s, const struct live_bound bound[2],
	const struct live_trial *mrr)
{
	json_t *trials = json_array(), *rates[2];

	for (unsigned int i = 0; i < s->n; i++) {
		const struct live_trial *t = &s->trial[i];

		json_array_append_new(
			trials, json_pack("{s:o, s:I, s:I, s:I, s:f, s:f}", "intended_frames_per_s",
					isinf(t->intended) ? json_null() : json_real(t->intended),
					"sent", (json_int_t)t->sent, "received",
					(json_int_t)t->received, "changed", (json_int_t)t->changed,
					"loss", live_loss(t), "seconds", t->seconds));
	}
	for (unsigned int b = 0; b < 2; b++)
		rates[b] = live_rate_json(l, bound[b].best,
			bound[b].best != NULL ? live_sent_rate(bound[b].best) : 0);
	return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o}", "frame_flits", (int)l->frame_flits,
		"frame_bytes", (int)l->len, "mrr", live_rate_json(l, mrr, live_received_rate(mrr)),
		"ndr", rates[0], "pdr", rates[1], "trials", trials);
}

static void
live_print(const struct live *l, const char *name, const struct live_trial *t, double rate)
{
	if (t == NULL) {
		printf("%5u %6u  %-4s %12s\n", l->frame_flits, l->len, name, "none found");
		return;
	}
	printf("%5u %6u  %-4s %12.0f %10.3f %8.3f %8.4f %%\n", l->frame_flits, l->len, name, rate,
		rate * l->frame_flits / 1e6, rate * l->len * 8 / 1e9, live_loss(t) * 100);
}

/* One length of frames. @return whether anything came, and nothing that was not sent. */
static bool
live_measure(struct live *l, unsigned int n_flits, bool text, json_t *all)
{
	static struct live_search s;
	struct live_bound bound[2];
	const struct live_trial *mrr;
	unsigned int median;
	bool good = false;

	live_make(l, n_flits);
	live_find(&s, bound, &median, live_trial, cli_is_stopped, l);
	if (s.n == 0)
		return false;
	mrr = &s.trial[median];
	json_array_append_new(all, live_json(l, &s, bound, mrr));
	for (unsigned int i = 0; i < s.n; i++) {
		good |= s.trial[i].received != 0;
		if (s.trial[i].changed != 0) {
			cli_warn("%llu frames came back changed",
				(unsigned long long)s.trial[i].changed);
			return false;
		}
	}
	if (!good)
		cli_warn("of %llu frames that port %s took none came to port %s",
			(unsigned long long)mrr->sent, weft_port_name(l->w->port[0]),
			weft_port_name(l->w->port[1]));
	if (!text)
		return good;
	live_print(l, "MRR", mrr, live_received_rate(mrr));
	live_print(l, "NDR", bound[0].best, bound[0].best ? live_sent_rate(bound[0].best) : 0);
	live_print(l, "PDR", bound[1].best, bound[1].best ? live_sent_rate(bound[1].best) : 0);
	fflush(stdout);
	return good;
}

static int
live_write(const struct live *l, json_t *all)
{
	json_t *o = json_pack("{s:s, s:[s, s], s:f, s:O}", "version", WEFT_VERSION, "ports",
		weft_port_line(l->w->port[0]), weft_port_line(l->w->port[1]), "seconds",
		l->o->seconds, "live", all);
	const int rc = json_write(l->o->json, o);

	json_decref(o);
	if (rc != 0)
		cli_warn("--json %s: %s", l->o->json, weft_file_error(rc));
	return rc;
}

bool
live_run(const struct options *o, struct wire *w, struct bench_params *p)
{
	static struct live l;
	const bool text = !json_is_output(o->json);
	json_t *all = json_array();
	unsigned int max_flits = 1;
	bool good = true;
	char err[512];

	l.o = o;
	l.p = p;
	l.w = w;
	l.hz = (double)rte_get_tsc_hz();
	for (unsigned int i = 0; i < o->n_frame_flits; i++)
		max_flits = RTE_MAX(max_flits, o->frame_flits[i]);
	if (wire_open(w, p->pool, max_flits, WAIT_S, err, sizeof(err)) != 0)
		cli_fail("%s", err);
	for (unsigned int i = 0; i < WIRE_PORTS && text; i++)
		puts(weft_port_line(w->port[i]));
	if (text)
		printf("%5s %6s  %-4s %12s %10s %8s %10s\n", "flits", "bytes", "", "frames/s",
			"Mflit/s", "Gb/s", "lost");
	fflush(stdout);
	for (unsigned int i = 0; i < o->n_frame_flits && !cli_is_stopped(); i++)
		good &= live_measure(&l, o->frame_flits[i], text, all);
	if (o->json != NULL)
		good &= live_write(&l, all) == 0;
	if (cli_is_stopped())
		cli_warn("stopped by a signal: results are missing");
	good &= !wire_has_lost_link(w);
	json_decref(all);
	wire_close(w);
	return good && !cli_is_stopped();
}
