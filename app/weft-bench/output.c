/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Results as lines for people and as JSON. */

#include "result.h"

#include <stdio.h>

#include <rte_cycles.h>

#include "json.h"
#include "options.h"

void
result_print_head(void)
{
	printf("%-28s %-14s %-5s %5s %10s %12s %9s   %s\n", "stage", "kernel", "on", "flits",
		"Mflit/s", "cycles/flit", "instr/fl", "least..most  CPU  checked");
}

void
result_print(const struct result *r)
{
	char instructions[16] = "-";

	if (r->counted_by != NULL)
		snprintf(instructions, sizeof(instructions), "%.1f", r->instructions_per_flit);
	printf("%-28s %-14s %-5s %5u %10.2f %12.1f %9s   %5.1f..%.1f  %3.0f %%  %s\n", r->b->name,
		r->kernel, bench_layout_words[r->layout], r->frame_flits, mflits_per_s(r),
		r->cycles_per_flit, instructions, r->least, r->most, r->cpu_share * 100,
		r->checked ? "yes" : "NO");
	fflush(stdout);
}

static json_t *
output_number_or_null(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

json_t *
result_json(const struct result *r)
{
	const bool counters = r->counted_by != NULL && r->core_cycles_per_flit > 0;

	return json_pack("{s:s, s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:b, s:s?, "
			 "s:o, s:o}",
		"stage", r->b->name, "kernel", r->kernel, "layout", bench_layout_words[r->layout],
		"frame_flits", (int)r->frame_flits, "mflits_per_s", mflits_per_s(r),
		"cycles_per_flit", r->cycles_per_flit, "cycles_min", r->least, "cycles_max",
		r->most, "cycles_mean", r->mean, "timed_flits", (json_int_t)r->timed_flits,
		"cpu_share", r->cpu_share, "checked", r->checked, "counted_by", r->counted_by,
		"instructions_per_flit",
		output_number_or_null(r->counted_by != NULL, r->instructions_per_flit),
		"core_cycles_per_flit", output_number_or_null(counters, r->core_cycles_per_flit));
}

static void
output_cpu_model(char *model, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(model, len, "unknown");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || value == NULL)
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(model, len, "%s", value);
		break;
	}
	if (f != NULL)
		fclose(f);
}

int
results_write(const char *path, json_t *results)
{
	char model[256];
	json_t *o;
	int rc;

	output_cpu_model(model, sizeof(model));
	o = json_pack("{s:s, s:I, s:s, s:O}", "cpu", model, "tsc_hz", (json_int_t)rte_get_tsc_hz(),
		"version", WEFT_VERSION, "results", results);
	rc = json_write(path, o);
	json_decref(o);
	return rc;
}
