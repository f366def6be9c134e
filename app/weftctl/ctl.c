/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the verbs share: the way to the host and its regions, and how what fails is said. */

#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli.h"
#include "json.h"
#include "progress.h"
#include "reach.h"
#include "words.h"

#define CTL_BENCH_SECONDS 2.0

void
ctl_fail(const struct ctl *c, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	progress_clear();
	if (c->leave != NULL)
		c->leave();
	cli_warn("%s", line);
	exit(c->failure);
}

void
ctl_fail_at(const struct ctl *c, const struct ctl_region *r, uint64_t off, int rc)
{
	ctl_fail(c, "%s %s at 0x%" PRIx64 ": %s", c->verb, r->name, off, reach_words(rc));
}

void
ctl_fail_call(const struct ctl *c, const struct ctl_region *r)
{
	ctl_fail(c, "%s %s: %s", c->verb, r->name, weft_error(c->w));
}

void
ctl_judge_stop(const struct ctl *c, const struct ctl_region *r, uint64_t off)
{
	if (cli_is_stopped())
		ctl_fail(c, "%s %s at 0x%" PRIx64 ": stopped by a signal before it was done",
			c->verb, r->name, off);
}

void
ctl_attach(struct ctl *c, const struct weft_attach_opts *opts)
{
	if (reach_attach(c->opt.node, c->opt.socket, opts, &c->w) != 0)
		ctl_fail(c, "%s", weft_error(NULL));
	/* Nothing is begun before: until then a signal ends the program by itself. */
	cli_catch_stop();
}

void
ctl_open(struct ctl *c, const char *name, int flags, struct ctl_region *r)
{
	struct weft_region_info info;
	int rc;

	if (c->w == NULL)
		ctl_attach(c, NULL);
	rc = weft_open(c->w, name, flags, &r->r);
	if (rc == -ENOENT || rc == -EINVAL || rc == -ERANGE)
		cli_usage("%s", weft_error(c->w));
	if (rc != 0 || weft_info(r->r, &info) != 0)
		ctl_fail(c, "%s", weft_error(c->w));
	r->name = name;
	r->size = info.size;
}

uint64_t
ctl_bytes(const char *what, const char *text)
{
	uint64_t v;

	if (!words_bytes(text, &v))
		cli_usage("%s: expected bytes such as 4096, 0x1000, 64K, 1M, 2G or 1T, got \"%s\"",
			what, text);
	return v;
}

double
ctl_bench_seconds(const struct ctl *c)
{
	return c->opt.seconds > 0 ? c->opt.seconds : CTL_BENCH_SECONDS;
}

void
ctl_judge_range(const struct ctl *c, const struct ctl_region *r, uint64_t off, uint64_t size)
{
	if (off > r->size || size > r->size - off)
		cli_usage("%s %s: expected bytes within its %" PRIu64 ", got %" PRIu64
			  " from offset %" PRIu64 " on",
			c->verb, r->name, r->size, size, off);
}

struct json_t *
ctl_json_text(const struct ctl *c, const char *what, const char *text)
{
	json_t *o = json_string(text);
	char plain[80];
	size_t n = 0;

	if (o != NULL)
		return o;
	for (; n + 1 < sizeof(plain) && text[n] != '\0'; n++)
		plain[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	plain[n] = '\0';
	cli_usage("%s: %s: expected text in UTF-8, got \"%s\"", c->verb, what, plain);
}

struct json_t *
ctl_json_bytes(const char *what, uint64_t v)
{
	if (v > INT64_MAX)
		cli_usage("%s: expected bytes up to %" PRId64 ", got %" PRIu64, what, INT64_MAX, v);
	return json_integer((json_int_t)v);
}

void
ctl_print_json(const struct ctl *c, struct json_t *o)
{
	const int rc = json_write("-", o);

	json_decref(o);
	if (rc != 0)
		ctl_fail(c, "%s --json: standard output: %s", c->verb, strerror(-rc));
}
