/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot from send_poll() on: frames are copied from memory to buffers when they are due, since a port
 * or a bad wire in front of it may write to what it is given.
 */

#include "send.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>

#include "cli.h"
#include "weft_pcap.h"

#define BURST 32u
#define QUIET_S 0.02 /* all is back: so long for what nobody expects */
#define LINGER_S 0.1 /* for a memif's other end to take what it was given */
#define NAP_AFTER_S 0.001 /* nothing was due, and nothing came, for so long */
#define NAP_NS 50000
#define NEVER UINT64_MAX
#define CYCLES_MAX 4e18 /* decades: no trace is slower */

const char *const send_way_words[] = { "in", "out", "all", NULL };

/* What is sent at --back: the other direction. */
static bool
send_is_forth(enum send_way way, const struct frame *f)
{
	if (f->direction == WEFT_PCAP_UNKNOWN || way == SEND_ALL)
		return true;
	return f->direction == (way == SEND_IN ? WEFT_PCAP_IN : WEFT_PCAP_OUT);
}

/* What comes back: at --back what went forth, and at --to the rest. */
struct send_side {
	const struct send *send;
	unsigned int port;
	bool has_ways; /* the file says of some frame which way it went */
};

static bool
send_is_back(const struct frame *f, const void *arg)
{
	const struct send_side *side = arg;
	const bool is_forth = send_is_forth(side->send->cfg.way, f);

	if (side->send->n_ports == 1 && !side->has_ways)
		return true;
	return is_forth == (side->port == 1);
}

static bool
send_has_ways(const struct frames *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->frame[i].direction != WEFT_PCAP_UNKNOWN)
			return true;
	return false;
}

static int
send_init_expect(struct send *s, char *err, size_t err_len)
{
	uint64_t total = 0;

	for (unsigned int p = 0; p < s->n_ports; p++) {
		const struct send_side side = { s, p,
			s->cfg.way != SEND_ALL && send_has_ways(s->cfg.expect) };

		if (expect_init(&s->port[p].expect, s->cfg.expect, send_is_back, &side,
			    s->cfg.loops) != 0)
			return weft_errorf(err, err_len, -ENOMEM, "out of memory");
		total += s->port[p].expect.total;
	}
	if (total == 0 && s->cfg.expect->n != 0)
		return weft_errorf(err, err_len, -EINVAL,
			"--expect: expected frames that come back to --to, got none but those that "
			"it sends: --direction says which");
	return 0;
}

static int
send_init_ports(struct send *s, char *err, size_t err_len)
{
	const struct frames *t = s->cfg.trace;

	for (unsigned int p = 0; p < s->n_ports; p++) {
		s->port[p].index = calloc(t->n + 1, sizeof(*s->port[p].index));
		if (s->port[p].index == NULL)
			return weft_errorf(err, err_len, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < t->n; i++) {
		const unsigned int p = send_is_forth(s->cfg.way, &t->frame[i]) ? 0 : 1;

		if (p < s->n_ports)
			s->port[p].index[s->port[p].n++] = (uint32_t)i;
		else
			s->not_sent++;
	}
	return 0;
}

/* A loop takes as long as the trace, and its last frame as long as one does on average. */
static void
send_init_clock(struct send *s)
{
	const struct frames *t = s->cfg.trace;
	double span_ns;

	s->hz = (double)rte_get_tsc_hz();
	if (s->cfg.rate > 0) {
		s->cycles_per_frame = isinf(s->cfg.rate) ? 0 : s->hz / s->cfg.rate;
		return;
	}
	s->cycles_per_ns = s->hz / 1e9 / s->cfg.speed;
	span_ns = (double)t->frame[t->n - 1].at_ns;
	s->period = t->n < 2 ? 0 : span_ns * (double)t->n / (double)(t->n - 1) * s->cycles_per_ns;
}

int
send_init(
	struct send *s, const struct send_cfg *cfg, unsigned int n_ports, char *err, size_t err_len)
{
	const struct frames *t = cfg->trace;
	int rc;

	memset(s, 0, sizeof(*s));
	s->cfg = *cfg;
	s->n_ports = n_ports;
	rc = send_init_ports(s, err, err_len);
	if (rc == 0 && s->not_sent == t->n && t->n != 0)
		rc = weft_errorf(err, err_len, -EINVAL,
			"--in: expected frames that went \"%s\", got none: --direction says which "
			"are sent",
			send_way_words[cfg->way]);
	else if (rc == 0 && t->n == 0)
		rc = weft_errorf(err, err_len, -EINVAL, "--in: expected frames to send, got none");
	if (rc == 0 && cfg->expect != NULL)
		rc = send_init_expect(s, err, err_len);
	if (rc == 0)
		send_init_clock(s);
	return rc;
}

void
send_fini(struct send *s)
{
	for (unsigned int p = 0; p < WIRE_PORTS; p++) {
		rte_pktmbuf_free_bulk(s->port[p].pending, s->port[p].n_pending);
		free(s->port[p].index);
		expect_free(&s->port[p].expect);
	}
}

/* When the next frame of a port is to leave; NEVER: it was the last. */
static uint64_t
send_due(const struct send *s, const struct send_port *p)
{
	double after;

	if (p->loop == s->cfg.loops || p->n == 0)
		return NEVER;
	if (s->cfg.rate > 0)
		after = (double)p->prepared * s->cycles_per_frame;
	else
		after = (double)p->loop * s->period +
		        (double)s->cfg.trace->frame[p->index[p->turn]].at_ns * s->cycles_per_ns;
	return s->start + (uint64_t)(after < CYCLES_MAX ? after : CYCLES_MAX);
}

/* Copy what is due. What buffers there are none for is due still. */
static void
send_prepare(struct send *s, struct send_port *p, uint64_t now)
{
	while (p->n_pending < BURST && p->due <= now) {
		const struct frame *f = &s->cfg.trace->frame[p->index[p->turn]];
		struct rte_mbuf *m = rte_pktmbuf_alloc(s->cfg.pool);

		if (m == NULL)
			return;
		memcpy(rte_pktmbuf_append(m, f->len), frames_bytes(s->cfg.trace, f), f->len);
		p->pending[p->n_pending++] = m;
		p->latest = RTE_MAX(p->latest, now - p->due);
		p->prepared++;
		if (++p->turn == p->n) {
			p->turn = 0;
			p->loop++;
		}
		p->due = send_due(s, p);
	}
}

/* The oldest of those pending were taken. */
static void
send_count(struct send *s, struct send_port *p, uint16_t sent)
{
	for (uint16_t i = 0; i < sent; i++) {
		const struct frame *f = &s->cfg.trace->frame[p->index[p->oldest]];

		p->flits += f->n_flits;
		p->bytes += f->len;
		p->oldest = p->oldest + 1 == p->n ? 0 : p->oldest + 1;
	}
	p->frames += sent;
	p->n_pending = (uint16_t)(p->n_pending - sent);
	memmove(p->pending, p->pending + sent, p->n_pending * sizeof(p->pending[0]));
}

static uint16_t
send_burst(struct send *s, struct send_port *p, uint64_t now)
{
	uint16_t sent;

	send_prepare(s, p, now);
	sent = weft_port_tx(p->port, p->pending, p->n_pending);
	if (sent == 0)
		return 0;
	send_count(s, p, sent);
	p->first = p->first == 0 ? now : p->first;
	p->last = rte_get_tsc_cycles();
	return sent;
}

static uint16_t
send_receive(struct send *s, struct send_port *p, uint64_t now)
{
	struct rte_mbuf *pkt[BURST];
	const uint16_t n = weft_port_rx(p->port, pkt, BURST);

	for (uint16_t i = 0; i < n; i++) {
		const uint16_t len = rte_pktmbuf_data_len(pkt[i]);

		p->rx_bytes += len;
		if (s->cfg.expect != NULL && len >= WEFT_ETH_LEN)
			expect_frame(&p->expect, rte_pktmbuf_mtod(pkt[i], const uint8_t *), len);
	}
	if (n != 0) {
		rte_pktmbuf_free_bulk(pkt, n);
		p->rx_frames += n;
		p->rx_first = p->rx_first == 0 ? now : p->rx_first;
		p->rx_last = now;
	}
	return n;
}

/* One look at every port: how many frames left, and how many came. */
static void
send_poll(struct send *s, uint64_t now, unsigned int *sent, unsigned int *got)
{
	*sent = 0;
	*got = 0;
	for (unsigned int i = 0; i < s->n_ports; i++) {
		*sent += send_burst(s, &s->port[i], now);
		*got += send_receive(s, &s->port[i], now);
	}
}

static bool
send_is_done(const struct send *s)
{
	for (unsigned int i = 0; i < s->n_ports; i++)
		if (s->port[i].due != NEVER || s->port[i].n_pending != 0)
			return false;
	return true;
}

static bool
send_is_all_back(const struct send *s)
{
	for (unsigned int i = 0; i < s->n_ports; i++)
		if (expect_missing(&s->port[i].expect) != 0)
			return false;
	return true;
}

/* A port that has not taken all it was offered, or NULL. */
static const struct send_port *
send_stuck(const struct send *s)
{
	for (unsigned int i = 0; i < s->n_ports; i++)
		if (s->port[i].n_pending != 0)
			return &s->port[i];
	return NULL;
}

static uint64_t
send_next_due(const struct send *s)
{
	return s->n_ports == 1 ? s->port[0].due : RTE_MIN(s->port[0].due, s->port[1].due);
}

/*
 * The CPU is for others too: they may be the ones that we wait for. A nap ends long before the next
 * frame is due.
 */
static void
send_rest(const struct send *s, uint64_t now, uint64_t worked)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const uint64_t ms = (uint64_t)(s->hz * NAP_AFTER_S), due = send_next_due(s);

	if (now - worked > ms && send_stuck(s) == NULL && (due == NEVER || due > now + ms))
		nanosleep(&nap, NULL);
	else
		sched_yield();
}

/* Whether nothing more is to be waited for; @moved: when the last frame left. */
static bool
send_is_over(const struct send *s, uint64_t now, uint64_t worked, uint64_t moved)
{
	if (!send_is_done(s))
		return false;
	if (s->cfg.expect == NULL)
		return now - moved > (uint64_t)(s->hz * LINGER_S);
	return now - moved > (uint64_t)(s->hz * s->cfg.wait_s) ||
	       (send_is_all_back(s) && now - worked > (uint64_t)(s->hz * QUIET_S));
}

/* @moved: when a frame left, or had time. */
static int
send_loop(struct send *s, char *err, size_t err_len)
{
	const uint64_t wait = (uint64_t)(s->hz * s->cfg.wait_s);
	uint64_t now = s->start, worked = now, moved = now;

	while (!send_is_over(s, now, worked, moved) && !s->is_stopped) {
		const struct send_port *stuck;
		unsigned int sent, got;

		now = rte_get_tsc_cycles();
		send_poll(s, now, &sent, &got);
		stuck = send_stuck(s);
		if (sent + got != 0)
			worked = now;
		else
			send_rest(s, now, worked);
		if (sent != 0 || (stuck == NULL && !send_is_done(s)))
			moved = now;
		else if (stuck != NULL && now - moved > wait)
			return weft_errorf(err, err_len, -ETIMEDOUT,
				"port %s: took %llu frames and then none for %g s: is there "
				"somebody at its other end?",
				weft_port_name(stuck->port), (unsigned long long)stuck->frames,
				s->cfg.wait_s);
		s->is_stopped = cli_is_stopped();
	}
	return 0;
}

int
send_run(struct send *s, const struct wire *w, char *err, size_t err_len)
{
	s->start = rte_get_tsc_cycles();
	for (unsigned int i = 0; i < s->n_ports; i++) {
		s->port[i].port = w->port[i];
		s->port[i].due = send_due(s, &s->port[i]);
	}
	return send_loop(s, err, err_len);
}
