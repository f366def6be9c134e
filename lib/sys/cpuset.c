/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Lists of CPUs and maps of lcores. EAL is asked after this, and answers a bad map with pages of
 * help.
 */

#include "weft_cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
weft_cpuset_format(const cpu_set_t *set, char *buf, size_t len)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t first = 0; first < CPU_SETSIZE && used + 1 < len; first++) {
		size_t last = first;
		int n;

		if (!CPU_ISSET(first, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		n = first == last ? snprintf(buf + used, len - used, ",%zu", first)
		                  : snprintf(buf + used, len - used, ",%zu-%zu", first, last);
		used += (size_t)n;
		first = last;
	}
	/* Each range was written with a comma in front. */
	if (buf[0] == ',')
		memmove(buf, buf + 1, strlen(buf));
}

/* A number of digits alone: strtoul takes signs and blanks, too. What is after it, or NULL. */
static const char *
cpuset_number(const char *s, unsigned long *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return NULL;
	*v = strtoul(s, &end, 10);
	return *v < CPU_SETSIZE ? end : NULL;
}

/* A number or a range. What is after it, or NULL. */
static const char *
cpuset_range(const char *s, cpu_set_t *set)
{
	unsigned long first, last;

	s = cpuset_number(s, &first);
	last = first;
	if (s != NULL && *s == '-')
		s = cpuset_number(s + 1, &last);
	if (s == NULL || first > last)
		return NULL;
	for (unsigned long cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, set);
	return s;
}

bool
weft_cpuset_parse(const char *list, cpu_set_t *set)
{
	CPU_ZERO(set);
	if (*list == '\0' || *list == '\n')
		return true;
	for (;; list++) {
		list = cpuset_range(list, set);
		if (list == NULL || *list != ',')
			return list != NULL && (*list == '\0' || *list == '\n');
	}
}

void
weft_cpuset_read(const char *path, cpu_set_t *set)
{
	char list[4096] = "";
	FILE *f = fopen(path, "re");

	CPU_ZERO(set);
	if (f == NULL)
		return;
	if (fgets(list, sizeof(list), f) == NULL || !weft_cpuset_parse(list, set))
		CPU_ZERO(set);
	fclose(f);
}

/*
 * Skip a number, a range, or a list in brackets and add what it names to @set. NULL if there is
 * none. A bare range cannot stand beside '@', so it is told apart.
 */
static const char *
cpuset_read_lcores(const char *s, cpu_set_t *set, bool *is_range)
{
	char list[1024];
	bool in_brackets = *s == '(';
	size_t len;

	*is_range = false;
	s += in_brackets;
	len = strspn(s, in_brackets ? "0123456789,-" : "0123456789-");
	if (len == 0 || len >= sizeof(list) || (in_brackets && s[len] != ')'))
		return NULL;
	memcpy(list, s, len);
	list[len] = '\0';
	*is_range = !in_brackets && strchr(list, '-') != NULL;
	return weft_cpuset_parse(list, set) ? s + len + in_brackets : NULL;
}

bool
weft_lcores_parse(const char *map, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	for (;;) {
		cpu_set_t set;
		bool is_range;

		map = cpuset_read_lcores(map, &set, &is_range);
		if (map != NULL && *map == '@' && !is_range) {
			map = cpuset_read_lcores(map + 1, &set, &is_range);
			if (is_range)
				return false;
		}
		if (map == NULL)
			return false;
		CPU_OR(cpus, cpus, &set);
		if (*map == '\0')
			return true;
		if (*map++ != ',')
			return false;
	}
}

int
weft_lcores_check(const char *map, const cpu_set_t *online, char *err, size_t errlen)
{
	cpu_set_t cpus;
	char list[128];

	if (!weft_lcores_parse(map, &cpus)) {
		snprintf(err, errlen,
			"lcores \"%s\" cannot be read: expected such as 2-3 or 0@0,(1-2)@1", map);
		return -EINVAL;
	}
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus) || CPU_ISSET(cpu, online))
			continue;
		weft_cpuset_format(online, list, sizeof(list));
		snprintf(err, errlen, "lcores \"%s\": there is no CPU %zu here, only %s", map, cpu,
			list);
		return -EINVAL;
	}
	return 0;
}
