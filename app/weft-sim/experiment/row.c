/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Rows of the table and what they say. */

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exp.h"

/* A paper value this near to the exact one is a rounding, further away it is something else. */
#define ROUNDING 0.02

struct exp_row *
exp_row(struct exp *x, const char *what, const char *id, ...)
{
	struct exp_row *r = &x->row[x->n_rows++];
	va_list ap;

	assert(x->n_rows <= EXP_ROWS_MAX);
	*r = (struct exp_row){ .what = what,
		.paper = EXP_NONE,
		.exact = EXP_NONE,
		.measured = EXP_NONE,
		.shown = { EXP_NONE, EXP_NONE },
		.far = { EXP_NONE, EXP_NONE } };
	va_start(ap, id);
	vsnprintf(r->id, sizeof(r->id), id, ap);
	va_end(ap);
	return r;
}

const struct exp_row *
exp_row_find(const struct exp *x, const char *id)
{
	unsigned int i = 0;

	while (strcmp(x->row[i].id, id) != 0) {
		i++;
		assert(i < x->n_rows);
	}
	return &x->row[i];
}

static struct stats_range
row_scaled(struct stats_range r, double by)
{
	return (struct stats_range){ r.low * by, r.high * by };
}

void
exp_row_share(struct exp_row *r, uint64_t events, uint64_t n, double scale)
{
	r->events = events;
	r->sample = n;
	r->measured = (double)events / (double)n * scale;
	r->shown = row_scaled(stats_share(events, n, STATS_CONFIDENCE), scale);
	r->far = row_scaled(stats_share(events, n, STATS_FAR), scale);
}

void
exp_row_rate(struct exp_row *r, uint64_t events, uint64_t n, double scale)
{
	r->events = events;
	r->sample = n;
	r->measured = (double)events / (double)n * scale;
	r->shown = row_scaled(stats_count(events, STATS_CONFIDENCE), scale / (double)n);
	r->far = row_scaled(stats_count(events, STATS_FAR), scale / (double)n);
}

const char *
exp_verdict(const struct exp_row *r)
{
	double truth = isnan(r->exact) ? r->paper : r->exact;
	double off = fabs(r->paper - r->exact);

	if (isnan(truth))
		return "measured";
	if (truth < r->far.low || truth > r->far.high)
		return "disagrees";
	if (r->measured == 0)
		return "bound";
	if (isnan(r->paper) || isnan(r->exact) || off <= r->paper_half)
		return "agrees";
	return off <= ROUNDING * fabs(r->exact) ? "paper rounds" : "paper disagrees";
}

json_t *
exp_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *
exp_row_json(const struct exp_row *r)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:s, s:s*}", "id",
		r->id, "what", r->what, "paper", exp_number(r->paper), "exact",
		exp_number(r->exact), "measured", exp_number(r->measured), "low",
		exp_number(r->shown.low), "high", exp_number(r->shown.high), "low_4_sigma",
		exp_number(r->far.low), "high_4_sigma", exp_number(r->far.high), "events",
		(json_int_t)r->events, "sample", (json_int_t)r->sample, "verdict", exp_verdict(r),
		"note", r->note);
}
