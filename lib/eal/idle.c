/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Does an lcore own its CPU? Facts in, policy out; and where the facts come from. A wrong "yield"
 * costs twice the latency, a wrong "spin" a hundred times the throughput: in doubt, yield.
 */

#include "eal_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define IDLE_WAIT_PERMILLE_MAX 20

const char *const weft_idle_words[] = {
	[WEFT_IDLE_AUTO] = "auto",
	[WEFT_IDLE_SPIN] = "spin",
	[WEFT_IDLE_YIELD] = "yield",
	NULL,
};

static enum weft_idle
idle_judge(const struct weft_idle_facts *f, const char **why)
{
	if (f->wanted != WEFT_IDLE_AUTO) {
		*why = "as configured";
		return f->wanted;
	}
	if (f->loops_on_cpu > 1) {
		*why = "shares its CPU with another lcore of this process";
		return WEFT_IDLE_YIELD;
	}
	if (f->cpus != 1) {
		*why = "not pinned to one CPU";
		return WEFT_IDLE_YIELD;
	}
	/* What was measured beats what was declared. */
	if (f->wait_permille > IDLE_WAIT_PERMILLE_MAX) {
		*why = "shares its CPU";
		return WEFT_IDLE_YIELD;
	}
	if (f->isolated) {
		*why = "owns its CPU, which is isolated";
		return WEFT_IDLE_SPIN;
	}
	if (f->wait_permille < 0) {
		*why = "the kernel does not tell whether it shares its CPU";
		return WEFT_IDLE_YIELD;
	}
	*why = "owns its CPU";
	return WEFT_IDLE_SPIN;
}

enum weft_idle
weft_idle_decide(const struct weft_idle_facts *facts, const char **why)
{
	const char *phrase;
	enum weft_idle idle = idle_judge(facts, &phrase);

	if (why != NULL)
		*why = phrase;
	return idle;
}

uint64_t
eal_run_delay_ns(int schedstat_fd)
{
	char text[96];
	uint64_t ran, waited;
	ssize_t n = pread(schedstat_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return UINT64_MAX;
	text[n] = '\0';
	/*
	 * Without scheduler statistics the kernel prints "0 0 0", for a thread that certainly ran.
	 */
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2 || ran == 0)
		return UINT64_MAX;
	return waited;
}

bool
eal_cpu_isolated(const cpu_set_t *set)
{
	cpu_set_t isolated, both;

	weft_cpuset_read("/sys/devices/system/cpu/isolated", &isolated);
	CPU_AND(&both, set, &isolated);
	return CPU_COUNT(set) == 1 && CPU_EQUAL(&both, set);
}
