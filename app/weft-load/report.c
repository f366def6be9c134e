/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is told of a run: text and JSON. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "load.h"

#define MIB 1048576.0

static const char *const report_kinds[] = { "mem", "uio", "transfer", "move" };
static const char *const report_ops[] = { "read", "write", "mix" };

static void
report_add_count(struct load_count *sum, const struct load_count *of)
{
	sum->ops += of->ops;
	weft_latency_merge(&sum->latency, &of->latency);
}

static void
report_add_client(struct load_report *r, const struct load_client *c)
{
	report_add_count(&r->read, &c->read);
	report_add_count(&r->write, &c->write);
	r->bad.lost += c->bad.lost;
	r->bad.failed_at = r->bad.failed == 0 ? c->bad.failed_at : r->bad.failed_at;
	r->bad.failed += c->bad.failed;
	r->bad.not_begun += c->bad.not_begun;
	r->is_swept = r->is_swept && c->is_swept;
	if (c->check != NULL) {
		r->check.verified += check_counts(c->check)->verified;
		r->check.mismatches += check_counts(c->check)->mismatches;
		r->check.injected += check_counts(c->check)->injected;
		r->check.found += check_counts(c->check)->found;
	}
	if (r->error == NULL && c->error[0] != '\0')
		r->error = c->error;
}

void
report_make(struct load_report *r, const struct load *l, bool is_stopped)
{
	uint64_t first = UINT64_MAX, end = 0;

	*r = (struct load_report){ .load = l, .is_swept = true, .is_stopped = is_stopped };
	for (uint32_t i = 0; i < l->opt.clients; i++) {
		const struct load_client *c = &l->client[i];

		report_add_client(r, c);
		first = c->first_ns < first ? c->first_ns : first;
		end = c->end_ns > end ? c->end_ns : end;
	}
	r->ops = r->read.ops + r->write.ops;
	weft_latency_merge(&r->latency, &r->read.latency);
	weft_latency_merge(&r->latency, &r->write.latency);
	r->seconds = end > first ? (double)(end - first) / 1e9 : 0;
}

static double
report_rate(const struct load_report *r, uint64_t ops)
{
	return r->seconds > 0 ? (double)ops / r->seconds : 0;
}

/* --- text --- */

static void
report_print_latency(const struct weft_latency *l)
{
	struct weft_latency_row least = { 0 };
	unsigned int at = 0;

	weft_latency_walk(l, &at, &least);
	printf("    latency us  min %.1f, mean %.1f, p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max "
	       "%.1f\n",
		(double)least.least_ns / 1e3, weft_latency_mean(l) / 1e3,
		(double)weft_latency_quantile(l, 5000) / 1e3,
		(double)weft_latency_quantile(l, 9000) / 1e3,
		(double)weft_latency_quantile(l, 9900) / 1e3,
		(double)weft_latency_quantile(l, 9990) / 1e3, (double)l->max_ns / 1e3);
}

static void
report_print_count(const struct load_report *r, const char *name, uint64_t ops,
	const struct weft_latency *latency)
{
	const double rate = report_rate(r, ops);

	printf("  %-7s %" PRIu64 " operations, %.0f/s, %.1f MiB/s\n", name, ops, rate,
		rate * (double)r->load->opt.size / MIB);
	if (ops != 0)
		report_print_latency(latency);
}

static void
report_print_verify(const struct load_report *r)
{
	if (r->load->opt.kind == LOAD_TRANSFER) {
		printf("  verify  %" PRIu64 " blocks of %s were right, %" PRIu64
		       " were not; %" PRIu64 " writes spoiled, %" PRIu64 " reads found one%s\n",
			r->check.verified, r->load->opt.block_text, r->check.mismatches,
			r->check.injected, r->check.found,
			r->is_swept ? "" : "; it ended before all was read back");
		return;
	}
	printf("  verify  %" PRIu64 " lines held what they must, %" PRIu64 " did not%s\n",
		r->check.verified, r->check.mismatches,
		r->is_swept ? "" : "; it ended before all was read back");
}

void
report_print(const struct load_report *r)
{
	const struct load_options *o = &r->load->opt;

	printf("%s%s%s of %s by %s: %" PRIu64 " bytes, %s, %" PRIu32 " client%s of depth %" PRIu32
	       ", seed %" PRIu64 ", %.2f s\n",
		report_kinds[o->kind], o->kind == LOAD_MOVE ? "" : " ",
		o->kind == LOAD_MOVE ? "" : report_ops[o->op], o->region, r->load->node, o->size,
		o->pattern_text, o->clients, o->clients == 1 ? "" : "s", o->depth, o->seed,
		r->seconds);
	if (o->op != LOAD_WRITE)
		report_print_count(r, "read", r->read.ops, &r->read.latency);
	if (o->op != LOAD_READ)
		report_print_count(r, o->kind == LOAD_MOVE ? "move" : "write", r->write.ops,
			&r->write.latency);
	if (o->op == LOAD_MIX)
		report_print_count(r, "both", r->ops, &r->latency);
	if (o->rate != 0)
		printf("  rate    %" PRIu64 "/s asked for; %" PRIu64
		       " operations were due and did not begin\n",
			o->rate, r->bad.not_begun);
	if (o->is_checked)
		report_print_verify(r);
	if (r->bad.lost != 0 || r->bad.failed != 0)
		printf("  failed  %" PRIu64 " operations were lost (ETIMEDOUT), %" PRIu64
		       " met poison (EIO)\n",
			r->bad.lost, r->bad.failed);
	if (r->is_stopped)
		printf("  stopped by a signal\n");
}

/* --- JSON --- */

static json_t *
report_json_latency(const struct weft_latency *l)
{
	struct weft_latency_row least = { 0 };
	unsigned int at = 0;

	weft_latency_walk(l, &at, &least);
	return json_pack("{s:I, s:f, s:I, s:I, s:I, s:I, s:I}", "min", (json_int_t)least.least_ns,
		"mean", weft_latency_mean(l), "p50", (json_int_t)weft_latency_quantile(l, 5000),
		"p90", (json_int_t)weft_latency_quantile(l, 9000), "p99",
		(json_int_t)weft_latency_quantile(l, 9900), "p99_9",
		(json_int_t)weft_latency_quantile(l, 9990), "max", (json_int_t)l->max_ns);
}

static json_t *
report_json_count(const struct load_report *r, uint64_t ops, const struct weft_latency *latency)
{
	const double rate = report_rate(r, ops);

	return json_pack("{s:I, s:f, s:f, s:o}", "ops", (json_int_t)ops, "ops_per_s", rate,
		"bytes_per_s", rate * (double)r->load->opt.size, "latency_ns",
		report_json_latency(latency));
}

static json_t *
report_json_mismatches(void)
{
	const struct check_mismatch *m;
	const unsigned int n = check_said(&m);
	json_t *list = json_array();

	for (unsigned int i = 0; i < n; i++) {
		char expected[2 * CHECK_BYTES + 1] = "", got[2 * CHECK_BYTES + 1] = "";

		for (unsigned int b = 0; b < m[i].n_bytes; b++) {
			sprintf(expected + 2 * (size_t)b, "%02x", m[i].expected[b]);
			sprintf(got + 2 * (size_t)b, "%02x", m[i].got[b]);
		}
		json_array_append_new(
			list, json_pack("{s:I, s:s, s:s, s:s}", "offset", (json_int_t)m[i].offset,
				      "expected", expected, "got", got, "why", m[i].why));
	}
	return list;
}

static json_t *
report_json_clients(const struct load_report *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < r->load->opt.clients; i++) {
		const struct load_client *c = &r->load->client[i];
		const uint64_t ops = c->read.ops + c->write.ops;

		json_array_append_new(
			list, json_pack("{s:I, s:I, s:I, s:f}", "offset", (json_int_t)c->base,
				      "size", (json_int_t)(c->blocks * r->load->opt.bytes), "ops",
				      (json_int_t)ops, "ops_per_s", report_rate(r, ops)));
	}
	return list;
}

static void
report_json_asked(json_t *o, const struct load_options *opt)
{
	json_object_update_new(
		o, json_pack("{s:s, s:s, s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:b}",
			   "region", opt->region, "kind", report_kinds[opt->kind], "op",
			   report_ops[opt->op], "mix",
			   opt->op == LOAD_MIX    ? opt->write_percent
			   : opt->op == LOAD_READ ? 0
						  : 100,
			   "pattern", opt->pattern_text, "size", (json_int_t)opt->size, "depth",
			   (json_int_t)opt->depth, "clients", (json_int_t)opt->clients, "seed",
			   (json_int_t)opt->seed, "rate", (json_int_t)opt->rate, "warmup",
			   opt->warmup, "verify", opt->is_verifying));
}

json_t *
report_json(const struct load_report *r)
{
	const char *ended = r->error != NULL ? "error" : r->is_stopped ? "signal" : "done";
	json_t *o = json_pack("{s:s}", "node", r->load->node);

	report_json_asked(o, &r->load->opt);
	json_object_update_new(o, report_json_count(r, r->ops, &r->latency));
	json_object_update_new(o,
		json_pack("{s:f, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:s?}", "seconds",
			r->seconds, "read", report_json_count(r, r->read.ops, &r->read.latency),
			"write", report_json_count(r, r->write.ops, &r->write.latency), "verified",
			(json_int_t)r->check.verified, "mismatches",
			(json_int_t)r->check.mismatches, "lost", (json_int_t)r->bad.lost, "failed",
			(json_int_t)r->bad.failed, "not_begun", (json_int_t)r->bad.not_begun,
			"read_back", r->is_swept && r->load->opt.is_checked, "ended", ended,
			"error", r->error));
	json_object_update_new(
		o, json_pack("{s:s?, s:I, s:I}", "block", r->load->opt.block_text, "injected",
			   (json_int_t)r->check.injected, "found", (json_int_t)r->check.found));
	json_object_set_new(o, "first_mismatches", report_json_mismatches());
	json_object_set_new(o, "per_client", report_json_clients(r));
	return o;
}
