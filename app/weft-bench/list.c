/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What weft-bench measures, and where the same stages run live: a figure of a stage that no live
 * layout has would say nothing of a fabric.
 */

#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "options.h"
#include "weft_pipe.h"

/* What weftd runs by default, and by an option. */
static const struct {
	const char *option;
	const char *layout;
} live[] = {
	{ "--rx-layout", WEFT_LAYOUT_RX_LIVE },
	{ "--rx-layout", WEFT_LAYOUT_RX_LIVE_CRC_FIRST },
	{ "--tx-layout", WEFT_LAYOUT_TX_LIVE },
	{ "--switch-layout", WEFT_LAYOUT_SWITCH },
};

static const char *
list_on(const struct bench *b)
{
	return b->layouts == (1 << BENCH_RTC)    ? "rtc"
	       : b->layouts == (1 << BENCH_RING) ? "ring"
	                                         : "rtc,ring";
}

static void
list_parse(const char *text, struct weft_layout *l)
{
	char err[256];

	if (weft_layout_parse(text, l, err, sizeof(err)) != 0)
		cli_fail("%s", err);
}

static bool
list_has(const char *text, const char *stage)
{
	struct weft_layout l;

	list_parse(text, &l);
	for (unsigned int i = 0; i < l.n_stages; i++)
		if (strcmp(l.stage[i]->name, stage) == 0)
			return true;
	return false;
}

/* The live layouts that have a stage: {option, layout}. */
static json_t *
list_live(const char *stage)
{
	json_t *found = json_array();

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(live); i++)
		if (list_has(live[i].layout, stage))
			json_array_append_new(
				found, json_pack("{s:s, s:s}", "option", live[i].option, "layout",
					       live[i].layout));
	return found;
}

/* NULL: it is of a kernel. */
static const char *
list_layout(const struct bench *b)
{
	const char *text = bench_pipe_layout(b);

	return text != NULL ? text : bench_link_layout(b);
}

/* Names of the stages of a benchmark's pipeline; of a kernel's an empty list. */
static json_t *
list_stages(const struct bench *b)
{
	const char *text = list_layout(b);
	json_t *names = json_array();
	struct weft_layout l;

	if (text == NULL)
		return names;
	list_parse(text, &l);
	for (unsigned int i = 0; i < l.n_stages; i++)
		json_array_append_new(names, json_string(l.stage[i]->name));
	return names;
}

static bool
list_times(const char *stage)
{
	const struct bench *b;

	for (unsigned int i = 0; (b = bench_at(i)) != NULL; i++)
		if (list_layout(b) != NULL && list_has(list_layout(b), stage))
			return true;
	return false;
}

static int
list_json(const struct options *o)
{
	json_t *benchmarks = json_array(), *stages = json_array(), *all;
	const struct weft_stage *s;
	const struct bench *b;
	int rc;

	for (unsigned int i = 0; (b = bench_at(i)) != NULL; i++)
		if (bench_is_sig(b) == o->sig)
			json_array_append_new(benchmarks,
				json_pack("{s:s, s:s, s:s, s:o}", "stage", b->name, "on",
					list_on(b), "help", b->help, "stages", list_stages(b)));
	for (unsigned int i = 0; (s = weft_stage_at(i)) != NULL; i++)
		json_array_append_new(
			stages, json_pack("{s:s, s:s, s:b, s:o}", "stage", s->name, "help", s->help,
					"timed", list_times(s->name), "live", list_live(s->name)));
	all = json_pack("{s:s, s:o, s:o}", "version", WEFT_VERSION, "benchmarks", benchmarks,
		"stages", stages);
	rc = json_write(o->json, all);
	json_decref(all);
	return rc;
}

int
bench_print_list(const struct options *o)
{
	const struct bench *b;

	if (o->json != NULL)
		return list_json(o);
	for (unsigned int i = 0; (b = bench_at(i)) != NULL; i++)
		if (bench_is_sig(b) == o->sig)
			printf("%-28s %-8s %s\n", b->name, list_on(b), b->help);
	return 0;
}
