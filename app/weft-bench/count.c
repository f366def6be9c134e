/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Instructions a flit. Virtual machines mostly have no performance counters; there the trap flag
 * makes the CPU stop behind every instruction, and a signal handler counts. That is slow, but exact
 * and the same every time.
 */

#include "result.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define COUNTED_RUNS 32
#define STEPPED_RUNS 2
#define TRAP_FLAG 0x100ull

static int
count_open(uint64_t what, int group)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = what,
		.disabled = group < 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_GROUP,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);
}

/* False if the CPU, the hypervisor or the kernel does not let us. */
static bool
count_by_counters(const struct bench *b, void *ctx, struct result *r)
{
	const int leader = count_open(PERF_COUNT_HW_INSTRUCTIONS, -1);
	const int cycles = leader < 0 ? -1 : count_open(PERF_COUNT_HW_CPU_CYCLES, leader);
	struct {
		uint64_t n, instructions, cycles;
	} v = { 0 };
	uint64_t flits = 0;

	for (unsigned int i = 0; cycles >= 0 && i < COUNTED_RUNS; i++) {
		if (b->ops->prepare != NULL)
			b->ops->prepare(ctx);
		ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		flits += timed_run(b, ctx);
		ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	}
	if (cycles >= 0 && read(leader, &v, sizeof(v)) == sizeof(v) && v.instructions != 0) {
		r->counted_by = "counters";
		r->instructions_per_flit = (double)v.instructions / (double)flits;
		r->core_cycles_per_flit = (double)v.cycles / (double)flits;
	}
	if (cycles >= 0)
		close(cycles);
	if (leader >= 0)
		close(leader);
	return r->counted_by != NULL;
}

#if defined(__x86_64__)

static volatile uint64_t steps;

static void
count_on_step(int sig)
{
	(void)sig;
	steps++;
}

static void
count_by_steps(const struct bench *b, void *ctx, struct result *r)
{
	const struct sigaction trap = { .sa_handler = count_on_step };
	struct sigaction before;
	uint64_t flits = 0;

	if (sigaction(SIGTRAP, &trap, &before) != 0)
		return;
	steps = 0;
	for (unsigned int i = 0; i < STEPPED_RUNS; i++) {
		if (b->ops->prepare != NULL)
			b->ops->prepare(ctx);
		__writeeflags(__readeflags() | TRAP_FLAG);
		flits += timed_run(b, ctx);
		__writeeflags(__readeflags() & ~TRAP_FLAG);
	}
	sigaction(SIGTRAP, &before, NULL);
	r->counted_by = "steps";
	r->instructions_per_flit = (double)steps / (double)flits;
}

#else

static void
count_by_steps(const struct bench *b, void *ctx, struct result *r)
{
	(void)b;
	(void)ctx;
	(void)r;
}

#endif

void
count_instructions(const struct bench *b, void *ctx, struct result *r)
{
	/* Another lcore's share of the work would be missing. */
	if (r->layout == BENCH_RTC && !count_by_counters(b, ctx, r))
		count_by_steps(b, ctx, r);
}
