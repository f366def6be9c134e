/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* weftctl trace: frames of a port as they come, flit by flit, and the stages that they passed. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"
#include "ctl.h"
#include "daemons.h"
#include "reach.h"
#include "weft_base.h"

#define TRACE_WAIT_MS 500

static const char *
trace_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text == NULL ? "-" : text;
}

static json_int_t
trace_number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void
trace_print_message(const json_t *m)
{
	const json_t *ld = json_object_get(m, "ld_id"), *spid = json_object_get(m, "spid");

	printf("      %-9s %-12s", trace_text(m, "kind"), trace_text(m, "op"));
	if (json_object_get(m, "tag") != NULL)
		printf(" tag 0x%x", (unsigned int)trace_number(m, "tag"));
	if (json_object_get(m, "addr") != NULL)
		printf(" addr %s", trace_text(m, "addr"));
	if (ld != NULL)
		printf(" LD-ID %" JSON_INTEGER_FORMAT, json_integer_value(ld));
	if (spid != NULL)
		printf(" from 0x%03x", (unsigned int)json_integer_value(spid));
	if (json_object_get(m, "dpid") != NULL)
		printf(" to 0x%03x", (unsigned int)trace_number(m, "dpid"));
	puts(json_is_true(json_object_get(m, "poison")) ? ", poison" : "");
}

static void
trace_print_flit(size_t i, const json_t *f)
{
	const bool is_empty = json_is_true(json_object_get(f, "empty"));
	const json_t *m;
	size_t k;

	printf("    flit %zu: %s%s, %s %" JSON_INTEGER_FORMAT ", credits 0x%04x%s%s%s\n", i,
		is_empty ? "empty " : "", trace_text(f, "type"), trace_text(f, "replay"),
		trace_number(f, "number"), (unsigned int)trace_number(f, "credits"),
		json_is_true(json_object_get(f, "sealed")) ? ", encrypted" : "",
		json_is_true(json_object_get(f, "corrected")) ? ", corrected by FEC" : "",
		json_is_true(json_object_get(f, "discarded")) ? ", discarded" : "");
	json_array_foreach(json_object_get(f, "messages"), k, m) trace_print_message(m);
}

static void
trace_print_stages(const json_t *t)
{
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(t, "stages"), i, s)
	{
		const json_int_t flits = trace_number(s, "flits");
		const json_int_t frames = trace_number(s, "frames");
		const json_int_t n = flits != 0 ? flits : frames; /* control frames have none */
		const double cycles = (double)trace_number(s, "cycles");

		printf("    %-12s %10.0f cycles, %5.0f a %s, in a burst of %" JSON_INTEGER_FORMAT
		       " frames, %" JSON_INTEGER_FORMAT " flits\n",
			trace_text(s, "stage"), cycles, n == 0 ? 0 : cycles / (double)n,
			flits != 0 ? "flit" : "frame", frames, flits);
	}
}

static void
trace_print_head(const json_t *t)
{
	const double time = json_number_value(json_object_get(t, "time"));
	const json_t *reason = json_object_get(t, "reason");
	const time_t at = (time_t)time;
	struct tm tm;
	char clock[32];

	localtime_r(&at, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	printf("%s.%06d %s %s: ", clock, (int)((time - (double)at) * 1e6), trace_text(t, "port"),
		trace_text(t, "direction"));
	if (json_is_string(json_object_get(t, "kind")))
		printf("%s, %s, 0x%03x to 0x%03x, VC %" JSON_INTEGER_FORMAT ", session 0x%08x, ",
			trace_text(t, "kind"), trace_text(t, "mode"),
			(unsigned int)trace_number(t, "spid"),
			(unsigned int)trace_number(t, "dpid"), trace_number(t, "vc"),
			(unsigned int)trace_number(t, "session"));
	else
		printf("no frame of ours (%s), ", trace_text(t, "refused"));
	printf("%" JSON_INTEGER_FORMAT " bytes, %s%s%s\n", trace_number(t, "bytes"),
		trace_text(t, "end"), json_is_string(reason) ? ": " : "",
		json_is_string(reason) ? json_string_value(reason) : "");
}

static void
trace_print(const struct ctl *c, const json_t *t)
{
	const json_t *control = json_object_get(t, "control"), *f;
	size_t i;

	if (c->opt.is_json) {
		json_dumpf(t, stdout, JSON_COMPACT);
		putchar('\n');
		return;
	}
	trace_print_head(t);
	trace_print_stages(t);
	if (control != NULL)
		printf("    %s\n", trace_text(control, "message"));
	if (json_is_false(json_object_get(t, "messages_known")))
		puts("    messages are not sure: data that earlier flits announced may stand in "
		     "their place");
	json_array_foreach(json_object_get(t, "flits"), i, f) trace_print_flit(i, f);
}

static json_t *
trace_request(const struct ctl *c)
{
	json_t *request = daemons_request("trace_start");

	json_object_set_new(request, "port", ctl_json_text(c, "PORT", c->operand[0]));
	json_object_set_new(request, "count", json_integer(c->opt.count));
	if (c->opt.kind != NULL)
		json_object_set_new(request, "kind", ctl_json_text(c, "--kind", c->opt.kind));
	if (c->opt.pid != CTL_NO_PID)
		json_object_set_new(request, "pid", json_integer(c->opt.pid));
	return request;
}

/* What came of a trace so far. */
struct trace_came {
	unsigned int n; /* frames */
	json_int_t missed;
	bool is_over;
};

/* Frames, until all have come, or the time is over, or a signal or the end of the daemon came. */
static void
trace_follow(
	const struct ctl *c, struct daemons *d, const struct daemons_one *one, struct trace_came *t)
{
	const uint64_t limit = (uint64_t)(c->opt.seconds * 1e9), from_ns = reach_now_ns();
	uint64_t ns = 0;
	unsigned int from;

	while (!t->is_over && !one->has_ended && !cli_is_stopped() && !ferror(stdout) &&
		(limit == 0 || ns < limit)) {
		const uint64_t left_ms = limit == 0 ? TRACE_WAIT_MS : (limit - ns) / 1000000 + 1;
		json_t *line = daemons_next(
			d, left_ms < TRACE_WAIT_MS ? (int)left_ms : TRACE_WAIT_MS, &from);

		if (json_object_get(line, "trace") != NULL) {
			trace_print(c, json_object_get(line, "trace"));
			t->n++;
		}
		t->is_over = json_object_get(line, "trace_end") != NULL;
		t->missed = trace_number(json_object_get(line, "trace_end"), "missed");
		fflush(stdout);
		json_decref(line);
		ns = reach_now_ns() - from_ns;
	}
}

int
trace_run(struct ctl *c)
{
	struct daemons d;
	struct daemons_one *one;
	struct trace_came t = { 0 };
	char err[512];
	json_t *answer;

	daemons_open(c, &d);
	one = &d.one[daemons_of_port(c, &d, c->operand[0])];
	cli_catch_stop();
	answer = daemons_ask(one, trace_request(c), err, sizeof(err));
	if (answer == NULL)
		ctl_fail(c, "%s", err);
	json_decref(answer);
	trace_follow(c, &d, one, &t);
	if (one->has_ended)
		ctl_fail(c, "%s %s: weftd %d ended", c->verb, c->operand[0], one->pid);
	daemons_close(&d);
	if (!t.is_over && !ferror(stdout))
		ctl_fail(c, "%s %s: expected %u frames, got %u before %s", c->verb, c->operand[0],
			c->opt.count, t.n,
			cli_is_stopped() ? "a signal came" : "the time of --seconds was over");
	if (t.missed != 0)
		cli_warn("%s: %" JSON_INTEGER_FORMAT " other frames came too fast to be traced",
			c->operand[0], t.missed);
	return EXIT_SUCCESS;
}
