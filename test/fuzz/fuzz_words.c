/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Words of command lines and of telemetry, and maps of lcores: what is taken is what the grammar,
 * written out here once more, takes, and is read as it reads it. A list of CPUs is the same after
 * it was written and read.
 *
 *   byte 0  which of them
 *   then    the text
 */

#include "weft_fuzz.h"

#include "weft_cpuset.h"
#include "words.h"

/* --- the grammar: each moves on behind what it is for --- */

static int
digit(char c, unsigned int base)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);

	return at != NULL && at - digits < (int)base ? (int)(at - digits) : -1;
}

/* One digit or more, up to @p most. */
static bool
digits(const char **s, unsigned int base, uint64_t most, uint64_t *v)
{
	unsigned __int128 sum = 0;
	const char *from = *s;

	for (; digit(**s, base) >= 0; (*s)++) {
		sum = sum * base + (unsigned int)digit(**s, base);
		sum = sum <= UINT64_MAX ? sum : (unsigned __int128)1 << 64; /* it stays too large */
	}
	*v = (uint64_t)sum;
	return *s != from && sum <= most;
}

static bool
number(const char **s, uint64_t *v)
{
	const bool is_hex = (*s)[0] == '0' && ((*s)[1] == 'x' || (*s)[1] == 'X');

	*s += is_hex ? 2 : 0;
	return digits(s, is_hex ? 16 : 10, UINT64_MAX, v);
}

static bool
size(const char *s, uint64_t *v)
{
	unsigned int shift = 0;

	if (!digits(&s, 10, UINT64_C(1) << 44, v))
		return false;
	if (*s == 'K' || *s == 'M' || *s == 'G')
		shift = *s == 'K' ? 10 : *s == 'M' ? 20 : 30;
	s += shift != 0;
	if (*s != '\0' || *v > UINT64_C(1) << 44 >> shift)
		return false;
	*v <<= shift;
	return true;
}

/* A number or a range. */
static bool
range(const char **s, cpu_set_t *set, bool *is_range)
{
	uint64_t first, last;

	if (!digits(s, 10, CPU_SETSIZE - 1, &first))
		return false;
	last = first;
	*is_range = **s == '-';
	if (*is_range) {
		(*s)++;
		if (!digits(s, 10, CPU_SETSIZE - 1, &last))
			return false;
	}
	for (uint64_t cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, set);
	return first <= last;
}

static bool
ranges(const char **s, cpu_set_t *set)
{
	bool is_range;

	for (;; (*s)++) {
		if (!range(s, set, &is_range))
			return false;
		if (**s != ',')
			return true;
	}
}

/* A number, a range, or ranges in brackets. */
static bool
group(const char **s, cpu_set_t *set, bool *is_range)
{
	CPU_ZERO(set);
	*is_range = false;
	if (**s != '(')
		return range(s, set, is_range);
	(*s)++;
	return ranges(s, set) && *(*s)++ == ')';
}

static bool
lcores(const char *s, cpu_set_t *cpus)
{
	bool is_range;

	CPU_ZERO(cpus);
	for (;; s++) {
		cpu_set_t set;

		if (!group(&s, &set, &is_range))
			return false;
		if (*s == '@' && !is_range) {
			s++;
			if (!group(&s, &set, &is_range) || is_range)
				return false;
		}
		CPU_OR(cpus, cpus, &set);
		if (*s != ',')
			return *s == '\0';
	}
}

/* --- against it --- */

static void
check_number(const char *text)
{
	const char *s = text;
	uint64_t got = 0, want;
	const bool is_one = number(&s, &want) && *s == '\0';

	FUZZ_CHECK(words_number(text, 0, UINT64_MAX, &got) == is_one);
	FUZZ_CHECK(!is_one || got == want);
	FUZZ_CHECK(
		!is_one || !words_number(text, want + 1, UINT64_MAX, &got) || want == UINT64_MAX);
	FUZZ_CHECK(!is_one || want == 0 || !words_number(text, 0, want - 1, &got));
}

static void
check_real(const char *text)
{
	char again[64];
	double v, w;

	if (!words_real(text, 0, 1e9, &v))
		return;
	FUZZ_CHECK(v >= 0 && v <= 1e9 && (text[0] == '.' || digit(text[0], 10) >= 0));
	snprintf(again, sizeof(again), "%.17g", v);
	FUZZ_CHECK(words_real(again, 0, 1e9, &w) && v == w);
}

static void
check_size(const char *text)
{
	uint64_t got = 0, want;
	const bool is_one = size(text, &want) && want >= 4096;

	FUZZ_CHECK(words_size(text, 4096, &got) == is_one);
	FUZZ_CHECK(!is_one || got == want);
}

static void
check_lines(const char *text)
{
	const char *s = strchr(text, ',');
	struct words_lines l;
	uint64_t offset, n = 1;
	bool is_one = s != NULL && s != text;

	if (is_one) {
		s++;
		is_one = number(&s, &offset);
	}
	if (is_one && *s == ',') {
		s++;
		is_one = number(&s, &n);
	}
	is_one = is_one && *s == '\0';
	FUZZ_CHECK(words_lines(text, &l) == is_one);
	if (is_one)
		FUZZ_CHECK(l.name == text && l.len == strcspn(text, ",") && l.offset == offset &&
			   l.n == n);
	FUZZ_CHECK(!words_lines(NULL, &l));
}

static void
check_cpus(const char *text)
{
	char list[4 * CPU_SETSIZE], short_list[16];
	cpu_set_t got, want, again;
	const char *s = text;
	bool is_one;

	CPU_ZERO(&want);
	is_one = *s == '\0' || *s == '\n' || (ranges(&s, &want) && (*s == '\0' || *s == '\n'));
	FUZZ_CHECK(weft_cpuset_parse(text, &got) == is_one);
	if (is_one) {
		FUZZ_CHECK(CPU_EQUAL(&got, &want));
		weft_cpuset_format(&got, list, sizeof(list));
		FUZZ_CHECK(weft_cpuset_parse(list, &again) && CPU_EQUAL(&got, &again));
		weft_cpuset_format(&got, short_list, sizeof(short_list));
		FUZZ_CHECK(strlen(short_list) < sizeof(short_list));
		FUZZ_CHECK(strncmp(short_list, list, sizeof(short_list) - 2) == 0);
	}
	is_one = lcores(text, &want);
	FUZZ_CHECK(weft_lcores_parse(text, &got) == is_one || strlen(text) >= 1024);
	if (is_one && strlen(text) < 1024) {
		char err[256] = "";

		FUZZ_CHECK(CPU_EQUAL(&got, &want));
		FUZZ_CHECK(weft_lcores_check(text, &want, err, sizeof(err)) == 0 && err[0] == '\0');
		CPU_ZERO(&again);
		FUZZ_CHECK(weft_lcores_check(text, &again, err, sizeof(err)) == -EINVAL && err[0]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t how = fuzz_u8(&in);
	char *text = fuzz_text(in.p, in.n);

	switch (how % 5) {
	case 0: check_number(text); break;
	case 1: check_real(text); break;
	case 2: check_size(text); break;
	case 3: check_lines(text); break;
	default: check_cpus(text); break;
	}
	free(text);
	return 0;
}
