/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A replay onto a wire and its report. The keys of its JSON are a contract: doc/replay.md. */

#include "live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "json.h"
#include "start.h"

#define POOL_WORK 1023u /* buffers that no port has */

static void
live_load(const struct live_cfg *cfg, const char *path, struct trace *t, struct frames *f)
{
	char err[512];

	if (frames_load(f, path, t, cfg->receiver, err, sizeof(err)) != 0)
		cli_fail("%s", err);
	if (f->is_truncated)
		cli_warn("%s; taken up to there", trace_why(t));
}

static void
live_load_expect(const struct live_cfg *cfg, struct frames *f)
{
	const char *path = cfg->options->expect;
	struct trace *t;
	char err[512];

	if (path == NULL)
		return;
	t = trace_open(path, err, sizeof(err));
	if (t == NULL)
		cli_fail("--expect: %s", err);
	live_load(cfg, path, t, f);
	if (f->n > EXPECT_FRAMES_MAX / cfg->loops)
		cli_fail("--loop %llu: expected at most %llu loops of the %zu frames of --expect",
			(unsigned long long)cfg->loops,
			(unsigned long long)(EXPECT_FRAMES_MAX / f->n), f->n);
	trace_close(t);
}

void
live_read_ports(const struct live_options *o, struct wire *w)
{
	static const char *const names[WIRE_PORTS] = { "to", "back" };

	wire_read(w, "--to", o->to, names, 1);
	if (o->back != NULL)
		wire_read(w, "--back", o->back, names, WIRE_PORTS);
}

static double
live_per_second(uint64_t n, double seconds)
{
	return seconds > 0 ? (double)n / seconds : 0;
}

static json_t *
live_sent(const struct send *s, const struct send_port *p)
{
	const double seconds = (double)(p->last - p->first) / s->hz;
	const bool is_timed = !isinf(s->cfg.rate);

	return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o}", "frames",
		(json_int_t)p->frames, "flits", (json_int_t)p->flits, "bytes", (json_int_t)p->bytes,
		"seconds", seconds, "frames_per_s", live_per_second(p->frames, seconds),
		"mflits_per_s", live_per_second(p->flits, seconds) / 1e6, "gbps",
		live_per_second(p->bytes, seconds) * 8 / 1e9, "late_max_us",
		is_timed ? json_real((double)p->latest / s->hz * 1e6) : json_null());
}

static json_t *
live_received(const struct send *s, const struct send_port *p)
{
	const double seconds = (double)(p->rx_last - p->rx_first) / s->hz;

	return json_pack("{s:I, s:I, s:f}", "frames", (json_int_t)p->rx_frames, "bytes",
		(json_int_t)p->rx_bytes, "seconds", seconds);
}

static json_t *
live_compared(const struct expect *e)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:s?}", "frames", (json_int_t)e->total,
		"equal", (json_int_t)e->equal, "reordered", (json_int_t)e->reordered, "missing",
		(json_int_t)expect_missing(e), "unexpected", (json_int_t)e->unexpected, "foreign",
		(json_int_t)e->foreign, "first", e->first[0] != '\0' ? e->first : NULL);
}

static json_t *
live_skipped(const struct frames *f)
{
	json_t *o = json_object();

	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++)
		if (f->skipped[v] != 0)
			json_object_set_new(o, weft_verdict_name((enum weft_verdict)v),
				json_integer((json_int_t)f->skipped[v]));
	return o;
}

static int
live_json(const struct send *s, const struct wire *w, bool is_equal, const char *path)
{
	const bool compares = s->cfg.expect != NULL;
	json_t *ports = json_array(), *o;
	int rc;

	for (unsigned int i = 0; i < s->n_ports; i++) {
		const struct send_port *p = &s->port[i];

		json_array_append_new(ports,
			json_pack("{s:s, s:s, s:o, s:o, s:o}", "port", weft_port_name(w->port[i]),
				"line", weft_port_line(w->port[i]), "sent", live_sent(s, p),
				"received", live_received(s, p), "compared",
				compares ? live_compared(&p->expect) : json_null()));
	}
	o = json_pack("{s:o, s:o, s:I, s:b, s:o}", "ports", ports, "skipped",
		live_skipped(s->cfg.trace), "not_sent", (json_int_t)s->not_sent, "stopped",
		s->is_stopped, "equal", compares ? json_boolean(is_equal) : json_null());
	rc = json_write(path, o);
	json_decref(o);
	return rc;
}

static void
live_text_sent(const struct send *s, const struct send_port *p)
{
	const double seconds = (double)(p->last - p->first) / s->hz;

	printf("%-4s sent      %llu frames, %llu flits in %.3f s: %.0f frames/s, %.3f Mflit/s, "
	       "%.3f Gb/s",
		weft_port_name(p->port), (unsigned long long)p->frames,
		(unsigned long long)p->flits, seconds, live_per_second(p->frames, seconds),
		live_per_second(p->flits, seconds) / 1e6,
		live_per_second(p->bytes, seconds) * 8 / 1e9);
	if (!isinf(s->cfg.rate))
		printf(", at most %.0f us late", (double)p->latest / s->hz * 1e6);
	putchar('\n');
}

/* What a port has no part in is not said of it. */
static void
live_text_port(const struct send *s, const struct send_port *p)
{
	const struct expect *e = &p->expect;
	const char *name = weft_port_name(p->port);

	if (p->n != 0)
		live_text_sent(s, p);
	if (p->rx_frames != 0)
		printf("%-4s received  %llu frames\n", name, (unsigned long long)p->rx_frames);
	if (e->total != 0 || e->unexpected != 0)
		printf("%-4s compared  %llu equal, %llu reordered, %llu missing, %llu unexpected, "
		       "%llu foreign\n",
			name, (unsigned long long)e->equal, (unsigned long long)e->reordered,
			(unsigned long long)expect_missing(e), (unsigned long long)e->unexpected,
			(unsigned long long)e->foreign);
}

/* Packets that were left out, and what came first that should not. */
static void
live_text_end(const struct send *s)
{
	json_t *skipped = live_skipped(s->cfg.trace), *n;
	const char *reason;

	json_object_foreach(skipped, reason, n)
		printf("skipped   %s %" JSON_INTEGER_FORMAT "\n", reason, json_integer_value(n));
	json_decref(skipped);
	if (s->not_sent != 0)
		printf("not sent  %llu frames of the other direction\n",
			(unsigned long long)s->not_sent);
	for (unsigned int i = 0; i < s->n_ports && s->cfg.expect != NULL; i++)
		if (s->port[i].expect.first[0] != '\0')
			printf("differs   port %s: %s\n", weft_port_name(s->port[i].port),
				s->port[i].expect.first);
}

static int
live_error(const struct send_cfg *cfg)
{
	return cfg->expect != NULL ? LIVE_ERROR : EXIT_FAILURE;
}

static int
live_report(struct send *s, const struct wire *w, const char *json)
{
	bool is_equal = true;
	int rc = 0;

	for (unsigned int i = 0; i < s->n_ports && s->cfg.expect != NULL; i++)
		is_equal &= expect_end(&s->port[i].expect);
	for (unsigned int i = 0; i < s->n_ports && !json_is_output(json); i++)
		live_text_port(s, &s->port[i]);
	if (!json_is_output(json))
		live_text_end(s);
	if (json != NULL)
		rc = live_json(s, w, is_equal, json);
	if (rc != 0)
		cli_warn("--json %s: %s", json, weft_file_error(rc));
	if (s->is_stopped)
		cli_warn("stopped by a signal: the report ends after %llu frames",
			(unsigned long long)(s->port[0].frames + s->port[1].frames));
	if (rc != 0 || s->is_stopped)
		return live_error(&s->cfg);
	return is_equal ? LIVE_EQUAL : LIVE_DIFFERS;
}

static struct rte_mempool *
live_start(struct wire *w, struct weft_eal_cfg *eal, unsigned int max_flits)
{
	struct weft_pool_cfg pool = {
		.name = "replay",
		.n_mbufs = wire_frames(w) + POOL_WORK,
		.max_flits = max_flits,
		.cache = 256,
	};

	wire_eal(w, eal);
	return start_dpdk(eal, &pool);
}

int
live_run(struct live_cfg *cfg, struct wire *w, struct weft_eal_cfg *eal)
{
	struct frames trace, expect = { 0 };
	struct send_cfg send = {
		.trace = &trace,
		.expect = cfg->options->expect != NULL ? &expect : NULL,
		.way = cfg->options->way,
		.rate = cfg->options->rate,
		.speed = cfg->speed,
		.loops = cfg->loops,
		.wait_s = cfg->options->wait_s,
	};
	static struct send s;
	unsigned int max_flits;
	int rc, status;
	char err[512];

	cli_catch_stop();
	live_load(cfg, cfg->in, cfg->trace, &trace);
	cfg->has_raw = trace.has_raw;
	live_load_expect(cfg, &expect);
	max_flits = RTE_MAX(frames_max_flits(&trace), frames_max_flits(&expect));
	send.pool = live_start(w, eal, max_flits);
	if (send_init(&s, &send, w->n, err, sizeof(err)) != 0 ||
		wire_open(w, send.pool, max_flits, send.wait_s, err, sizeof(err)) != 0)
		cli_fail("%s", err);
	for (unsigned int i = 0; i < w->n && !json_is_output(cfg->json); i++)
		puts(weft_port_line(w->port[i]));
	fflush(stdout); /* who waits for them is to see that it has begun */
	rc = send_run(&s, w, err, sizeof(err));
	if (rc != 0)
		cli_warn("%s", err);
	status = live_report(&s, w, cfg->json);
	if (wire_has_lost_link(w) && status == LIVE_EQUAL)
		status = live_error(&send);
	send_fini(&s);
	wire_close(w);
	frames_free(&trace);
	frames_free(&expect);
	return rc != 0 ? live_error(&send) : status;
}
