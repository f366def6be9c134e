/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The RXL paper's evaluation (section 7) through the encoder, the decoder and the retry code, and
 * what it leaves out: options, order of the parts, output.
 */

#include "experiment.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "exp.h"
#include "json.h"
#include "weft_file.h"

struct options {
	const char *json, *csv;
	uint64_t seed;
	unsigned int threads;
	bool quick;
	bool brief;
	uint8_t name; /* of experiment_words */
};

struct part {
	const char *what;
	void (*run)(struct exp *x);
};

static const struct part parts_rxl[] = {
	{ "FEC shares of bursts", exp_shares },
	{ "flit errors", exp_flit_errors },
	{ "CRC slope", exp_crc_slope },
	{ "order failures", exp_order },
	{ "bandwidth", exp_bandwidth },
	{ "figures 5 and section 6.2", exp_figures },
	{ "what follows from these", exp_arithmetic },
	{ "beyond the paper", exp_beyond },
	{ NULL, NULL },
};
static const struct part parts_llr[] = { { "what lost frames cost", exp_llr }, { NULL, NULL } };

const char *const experiment_words[] = { "rxl", "llr", NULL };
static const struct part *const experiment_parts[] = { parts_rxl, parts_llr };

#define CLI_INTO struct options
static const struct cli_option options[] = {
	{ CLI_SECTION("Options") },
	{ "experiment", NULL, NULL, "which one", CLI_WORD(name, experiment_words) },
	{ "seed", "S", "1", "seed of the sample", CLI_NUMBER(seed, 0, UINT64_MAX) },
	{ "quick", NULL, NULL, "a twentieth of the sample, a fifth of what is rare",
		CLI_FLAG(quick) },
	{ "brief", NULL, NULL, "a thousandth, which shows that all of it runs, and little more",
		CLI_FLAG(brief) },
	{ "threads", "N", NULL, "threads to work on (CPUs, 2 at most); results do not depend on it",
		CLI_NUMBER(threads, 1, 1024) },
	{ "json", "FILE|-", NULL, "write rows and plots' data as JSON", CLI_OUTPUT(json) },
	{ "csv", "FILE|-", NULL, "write the rows as CSV", CLI_OUTPUT(csv) },
};

const struct cli_program experiment_program = {
	.name = "weft-sim",
	.synopsis = "--experiment rxl|llr [options]",
	.does = "rxl: measure what the RXL paper calculates, and hold it against the paper and "
		"arithmetic. llr: measure what lost frames cost a link that retries.",
	.status = "a result is not what arithmetic says, or could not be written",
	CLI_OPTIONS(options),
};

static void
experiment_parse(struct options *o, int argc, char **argv)
{
	*o = (struct options){ .threads = sysconf(_SC_NPROCESSORS_ONLN) < 2 ? 1 : 2 };
	cli_parse(&experiment_program, o, argc, argv);
	if (optind < argc)
		cli_usage("unexpected argument \"%s\"", argv[optind]);
	cli_two_files("--json", o->json, "--csv", o->csv);
}

/* --- output --- */

static void
experiment_print_number(FILE *f, double v, const char *none, int digits)
{
	if (isnan(v))
		fputs(none, f);
	else
		fprintf(f, "%.*g", digits, v);
}

static void
experiment_print_table(const struct exp *x)
{
	printf("%-22s %11s %11s %11s %11s %11s  %s\n", "id", "paper", "exact", "measured", "low",
		"high", "verdict");
	for (unsigned int i = 0; i < x->n_rows; i++) {
		const struct exp_row *r = &x->row[i];
		double v[] = { r->paper, r->exact, r->measured, r->shown.low, r->shown.high };

		printf("%-22s", r->id);
		for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(v); k++)
			if (isnan(v[k]))
				printf(" %11s", "-");
			else
				printf(" %11.6g", v[k]);
		printf("  %s\n", exp_verdict(r));
	}
}

static int
experiment_write_csv(const char *path, const struct exp *x)
{
	FILE *f = strcmp(path, "-") == 0 ? stdout : weft_file_stream(path);
	bool failed;

	if (f == NULL)
		return -errno;
	fputs("id,paper,exact,measured,low,high,events,sample,verdict,what,note\n", f);
	for (unsigned int i = 0; i < x->n_rows; i++) {
		const struct exp_row *r = &x->row[i];
		double v[] = { r->paper, r->exact, r->measured, r->shown.low, r->shown.high };

		fputs(r->id, f);
		for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(v); k++) {
			fputc(',', f);
			experiment_print_number(f, v[k], "", 9);
		}
		fprintf(f, ",%llu,%llu,%s,\"%s\",\"%s\"\n", (unsigned long long)r->events,
			(unsigned long long)r->sample, exp_verdict(r), r->what,
			r->note == NULL ? "" : r->note);
	}
	if (f != stdout)
		return weft_file_close(f, path, 0);
	failed = ferror(f) != 0;
	if (fflush(f) != 0)
		return -errno;
	return failed ? -EIO : 0;
}

static json_t *
experiment_report(const struct exp *x, const char *name)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < x->n_rows; i++)
		json_array_append_new(rows, exp_row_json(&x->row[i]));
	return json_pack("{s:s, s:s, s:I, s:b, s:o, s:O, s:O, s:O}", "experiment", name, "version",
		WEFT_VERSION, "seed", (json_int_t)x->seed, "quick", x->quick, "rows", rows, "crc",
		x->crc, "fit", x->fit, "beyond", x->beyond);
}

static void
experiment_choose_kernels(struct exp *x)
{
	uint32_t features = cli_cpu_features();

	x->codec.fec = weft_fec_kernel_find(NULL, features);
	x->codec.crc = weft_crc_kernel_find(NULL, features);
	if (x->codec.fec == NULL || x->codec.crc == NULL)
		cli_fail("no FEC or CRC kernel works on this CPU");
	cli_report_kernels();
}

static double
experiment_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
experiment_main(int argc, char **argv)
{
	static struct exp x;
	struct options o;
	json_t *all;
	int rc = EXIT_SUCCESS;
	int err;

	experiment_parse(&o, argc, argv);
	json_check(o.json);
	json_check_option("--csv", o.csv);
	x.seed = o.seed;
	x.quick = o.quick;
	x.brief = o.brief;
	x.threads = o.threads;
	x.crc = json_array();
	x.fit = json_array();
	x.beyond = json_array();
	experiment_choose_kernels(&x);
	for (const struct part *p = experiment_parts[o.name]; p->run != NULL; p++) {
		double start = experiment_seconds();

		p->run(&x);
		fprintf(stderr, "%s: %.1f s\n", p->what, experiment_seconds() - start);
	}
	for (unsigned int i = 0; i < x.n_rows; i++)
		if (strcmp(exp_verdict(&x.row[i]), "disagrees") == 0)
			rc = EXIT_FAILURE;
	if ((o.json == NULL || strcmp(o.json, "-") != 0) &&
		(o.csv == NULL || strcmp(o.csv, "-") != 0))
		experiment_print_table(&x);
	all = experiment_report(&x, experiment_words[o.name]);
	if (o.json != NULL && (err = json_write(o.json, all)) != 0)
		cli_fail("--json %s: %s", o.json, weft_file_error(err));
	if (o.csv != NULL && (err = experiment_write_csv(o.csv, &x)) != 0)
		cli_fail("--csv %s: %s", o.csv, weft_file_error(err));
	json_decref(all);
	json_decref(x.crc);
	json_decref(x.fit);
	json_decref(x.beyond);
	return rc;
}
