/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The report of a replay. Both forms are made from one JSON object, so they cannot disagree. Its
 * keys are a contract: doc/replay.md.
 */

#include "report.h"

#include "json.h"

#include <stdio.h>

#include <jansson.h>

#include <rte_cycles.h>

static void
report_put(json_t *object, const char *key, uint64_t v)
{
	json_object_set_new(object, key, json_integer((json_int_t)v));
}

/* Verdicts that the report gives under a heading of their own. */
static bool
report_is_reported_elsewhere(enum weft_verdict v)
{
	return v == WEFT_OK || v == WEFT_DROP_CRC || v == WEFT_DROP_DUPLICATE ||
	       v == WEFT_DROP_IDE_MAC;
}

static json_t *
report_skipped(const struct receiver *r)
{
	json_t *o = json_object();

	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++) {
		uint64_t n = r->skipped[v] + weft_pipe_drops(r->pipe, (enum weft_verdict)v);

		if (n != 0 && !report_is_reported_elsewhere((enum weft_verdict)v))
			report_put(o, weft_verdict_name((enum weft_verdict)v), n);
	}
	return o;
}

/* Every counter of @p names of one stage, or of crc_first in the place of fec_check. */
static json_t *
report_counters(const struct receiver *r, const char *stage, const char *const *names)
{
	json_t *o = json_object();

	for (; *names != NULL; names++)
		report_put(o, *names,
			weft_pipe_count(r->pipe, stage, *names) +
				weft_pipe_count(r->pipe, "crc_first", *names));
	return o;
}

static json_t *
report_messages(const struct receiver *r)
{
	json_t *o = json_object();

	for (unsigned int k = 0; k < WEFT_MSG_KINDS; k++)
		if (r->messages[k] != 0)
			report_put(o, weft_msg_kind_name((enum weft_msg_kind)k), r->messages[k]);
	return o;
}

static json_t *
report_io(const struct receiver *r)
{
	static const char *const names[WEFT_IO_CLASSES] = { [WEFT_IO_POSTED] = "posted",
		[WEFT_IO_REQUEST] = "requests",
		[WEFT_IO_COMPLETION] = "completions" };
	json_t *o = json_object();

	for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++)
		if (r->packets_io[c] != 0)
			report_put(o, names[c], r->packets_io[c]);
	return o;
}

static json_t *
report_stages(const struct receiver *r)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weft_pipe_n_stages(r->pipe); i++) {
		struct weft_stage_stats st;
		json_t *o;

		if (!weft_pipe_sum(r->pipe, i, &st))
			continue;
		o = json_object();
		json_object_set_new(o, "stage", json_string(weft_pipe_stage(r->pipe, i)->name));
		report_put(o, "bursts", st.bursts);
		report_put(o, "frames", st.frames);
		report_put(o, "flits", st.flits);
		report_put(o, "cycles", st.cycles);
		json_object_set_new(o, "cycles_per_flit",
			json_real(st.flits == 0 ? 0 : (double)st.cycles / (double)st.flits));
		json_array_append_new(list, o);
	}
	return list;
}

/* Frames that the deframe stage believed, and their flits. */
static void
report_accepted(const struct receiver *r, uint64_t *frames, uint64_t *flits)
{
	const struct weft_stage_stats *st = weft_pipe_stats(r->pipe, 0);

	*frames = st->frames;
	*flits = st->flits;
	for (unsigned int v = 0; v < WEFT_VERDICT_COUNT; v++)
		*frames -= st->drops[v];
}

static json_t *
report_object(const struct receiver *r, const struct report_end *end)
{
	static const char *const fec[] = { "clean", "corrected", "corrected_bytes", "uncorrectable",
		NULL };
	static const char *const crc[] = { "good", "bad", NULL };
	static const char *const isn[] = { "gaps", "lost_flits", "duplicates", NULL };
	static const char *const ide[] = { "epochs_good", "epochs_bad", "flits_released", "poison",
		NULL };
	json_t *o = json_object();
	uint64_t frames, flits;

	report_accepted(r, &frames, &flits);
	report_put(o, "packets", r->packets);
	report_put(o, "frames", frames);
	report_put(o, "flits", flits);
	report_put(o, "bytes", flits * WEFT_FLIT_LEN);
	report_put(o, "connections", r->n_conns);
	json_object_set_new(o, "skipped", report_skipped(r));
	report_put(o, "truncated", end->is_truncated);
	report_put(o, "broken", end->is_broken);
	report_put(o, "stopped", end->is_stopped);
	json_object_set_new(o, "fec", report_counters(r, "fec_check", fec));
	json_object_set_new(o, "crc", report_counters(r, "link_rx", crc));
	json_object_set_new(o, "isn", report_counters(r, "link_rx", isn));
	json_object_set_new(o, "ide", report_counters(r, "ide_open", ide));
	json_object_set_new(o, "messages", report_messages(r));
	json_object_set_new(o, "io", report_io(r));
	if (json_object_size(json_object_get(o, "io")) == 0)
		json_object_del(o, "io");
	json_object_set_new(o, "seconds", json_real(end->seconds));
	json_object_set_new(o, "mflits_per_s",
		json_real(end->seconds > 0 ? (double)flits / end->seconds / 1e6 : 0));
	json_object_set_new(o, "kernels",
		json_pack("{s:s, s:s}", "fec", r->env.fec->k.name, "crc", r->env.crc->k.name));
	json_object_set_new(o, "stages", report_stages(r));
	return o;
}

int
report_json(const struct receiver *r, const struct report_end *end, const char *path)
{
	json_t *o = report_object(r, end);
	int rc = json_write(path, o);

	json_decref(o);
	return rc;
}

static void
report_text_counts(json_t *o, const char *title)
{
	const char *key;
	json_t *v;

	if (json_object_size(o) == 0)
		return;
	printf("%-10s", title);
	json_object_foreach(o, key, v)
		printf(" %s %" JSON_INTEGER_FORMAT, key, json_integer_value(v));
	putchar('\n');
}

static void
report_text_stages(json_t *list, uint64_t hz)
{
	size_t i;
	json_t *s;

	printf("\n%-12s %12s %12s %12s %12s\n", "stage", "bursts", "flits", "cycles/flit",
		"Mflit/s");
	json_array_foreach(list, i, s)
	{
		double per_flit = json_real_value(json_object_get(s, "cycles_per_flit"));

		printf("%-12s %12" JSON_INTEGER_FORMAT " %12" JSON_INTEGER_FORMAT
		       " %12.1f %12.2f\n",
			json_string_value(json_object_get(s, "stage")),
			json_integer_value(json_object_get(s, "bursts")),
			json_integer_value(json_object_get(s, "flits")), per_flit,
			per_flit > 0 ? (double)hz / per_flit / 1e6 : 0);
	}
}

void
report_text(const struct receiver *r, const struct report_end *end)
{
	static const char *const groups[] = { "skipped", "fec", "crc", "isn", "ide", "messages",
		"io" };
	json_t *o = report_object(r, end);

	printf("%-10s %" JSON_INTEGER_FORMAT " packets, %" JSON_INTEGER_FORMAT
	       " frames, %" JSON_INTEGER_FORMAT " flits, %" JSON_INTEGER_FORMAT " connections\n",
		"trace", json_integer_value(json_object_get(o, "packets")),
		json_integer_value(json_object_get(o, "frames")),
		json_integer_value(json_object_get(o, "flits")),
		json_integer_value(json_object_get(o, "connections")));
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(groups); i++)
		report_text_counts(json_object_get(o, groups[i]), groups[i]);
	if (end->is_truncated)
		printf("%-10s the file ends inside a packet: replayed up to there\n", "truncated");
	if (end->is_broken)
		printf("%-10s the file cannot be read to its end: replayed up to there\n",
			"broken");
	if (end->is_stopped)
		printf("%-10s a signal came: replayed up to there\n", "stopped");
	printf("%-10s %.3f s, %.3f Mflit/s\n", "time", end->seconds,
		json_real_value(json_object_get(o, "mflits_per_s")));
	report_text_stages(json_object_get(o, "stages"), rte_get_tsc_hz());
	json_decref(o);
}
