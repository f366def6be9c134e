/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The text of percentiles, read as its plotters read it, against the values that were added: what
 * each line says is counted anew.
 */

#include "weft_test.h"

#include <math.h>

#include "histogram.h"

#define ROOM 65536
#define VALUES 5000

static struct weft_latency hist;
static char text[ROOM];

static void
print(void)
{
	FILE *f = fmemopen(text, ROOM, "w");

	assert_non_null(f);
	histogram_print(f, &hist);
	assert_int_equal(fclose(f), 0);
}

/* Values of a line that are there; the last has three. */
static int
read_row(const char *line, double *value, double *share, uint64_t *count, double *inverse)
{
	unsigned long long n;
	const int got = sscanf(line, "%lf %lf %llu %lf", value, share, &n, inverse);

	*count = n;
	return got;
}

WEFT_TEST(no_values_have_no_lines)
{
	memset(&hist, 0, sizeof(hist));
	print();
	assert_string_equal(text, "       Value     Percentile TotalCount 1/(1-Percentile)\n"
				  "\n"
				  "#[Mean    =        0.000, StdDeviation   =        0.000]\n"
				  "#[Max     =        0.000, Total count    =            0]\n"
				  "#[Buckets =           60, SubBuckets     =           32]\n");
}

WEFT_TEST(few_values_have_these_lines)
{
	memset(&hist, 0, sizeof(hist));
	weft_latency_add(&hist, 10);
	weft_latency_add(&hist, 10);
	weft_latency_add(&hist, 30);
	weft_latency_add(&hist, 1000000);
	print();
	assert_string_equal(text, "       Value     Percentile TotalCount 1/(1-Percentile)\n"
				  "\n"
				  "       0.010 0.000000000000          2           1.00\n"
				  "       0.010 0.100000000000          2           1.11\n"
				  "       0.010 0.200000000000          2           1.25\n"
				  "       0.010 0.300000000000          2           1.43\n"
				  "       0.010 0.400000000000          2           1.67\n"
				  "       0.010 0.500000000000          2           2.00\n"
				  "       0.030 0.550000000000          3           2.22\n"
				  "       0.030 0.600000000000          3           2.50\n"
				  "       0.030 0.650000000000          3           2.86\n"
				  "       0.030 0.700000000000          3           3.33\n"
				  "       0.030 0.750000000000          3           4.00\n"
				  "    1000.000 0.775000000000          4           4.44\n"
				  "    1000.000 1.000000000000          4\n"
				  "#[Mean    =      249.940, StdDeviation   =      432.881]\n"
				  "#[Max     =     1000.000, Total count    =            4]\n"
				  "#[Buckets =           60, SubBuckets     =           32]\n");
}

/* How many values are at most that of a line, whose digits stand for less than a ns. */
static uint64_t
count_to(const uint64_t *value, double us)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < VALUES; i++)
		n += (double)value[i] <= us * 1e3 + 0.5;
	return n;
}

WEFT_TEST(lines_say_what_the_values_do)
{
	static uint64_t value[VALUES];
	double last_value = 0, last_share = -1, v, share = 0, inverse;
	unsigned int lines = 0;
	struct weft_rand r;
	uint64_t count = 0;
	char *line;
	int got = 0;

	memset(&hist, 0, sizeof(hist));
	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < VALUES; i++) {
		value[i] = weft_rand_u64(&r) >> (30 + weft_rand_below(&r, 24));
		weft_latency_add(&hist, value[i]);
	}
	print();
	line = strstr(text, "\n\n") + 2;
	for (; line[0] != '#'; line = strchr(line, '\n') + 1, lines++) {
		got = read_row(line, &v, &share, &count, &inverse);
		assert_true(v >= last_value && share > last_share);
		assert_true((double)count >= share * VALUES - 1e-6);
		assert_int_equal(count, count_to(value, v));
		if (got == 4)
			assert_true(fabs(inverse * (1 - share) - 1) < 0.01);
		last_value = v;
		last_share = share;
	}
	assert_int_equal(got, 3);
	assert_true(share == 1 && count == VALUES);
	/* Five while what is left halves, and some of 5000 are in the last bucket together. */
	assert_true(lines >= 40 && lines <= 66);
}
