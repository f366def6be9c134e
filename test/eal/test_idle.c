/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The table of doc/runtime.md: facts about an lcore and its CPU, and what it does when idle. */

#include "weft_test.h"

#include <fcntl.h>
#include <unistd.h>

#include "eal_priv.h"

#include "weft_words.h"

static const struct {
	struct weft_idle_facts facts;
	enum weft_idle idle;
	const char *why;
} rows[] = {
	/* wanted, loops on the CPU, CPUs, isolated, wait per mille */
	{ { WEFT_IDLE_AUTO, 1, 1, false, 0 }, WEFT_IDLE_SPIN, "owns its CPU" },
	{ { WEFT_IDLE_AUTO, 1, 1, false, 20 }, WEFT_IDLE_SPIN, "owns its CPU" },
	{ { WEFT_IDLE_AUTO, 1, 1, false, 21 }, WEFT_IDLE_YIELD, "shares its CPU" },
	{ { WEFT_IDLE_AUTO, 1, 1, false, 1000 }, WEFT_IDLE_YIELD, "shares its CPU" },
	{ { WEFT_IDLE_AUTO, 1, 1, false, -1 }, WEFT_IDLE_YIELD,
		"the kernel does not tell whether it shares its CPU" },
	{ { WEFT_IDLE_AUTO, 1, 1, true, 0 }, WEFT_IDLE_SPIN, "owns its CPU, which is isolated" },
	{ { WEFT_IDLE_AUTO, 1, 1, true, -1 }, WEFT_IDLE_SPIN, "owns its CPU, which is isolated" },
	{ { WEFT_IDLE_AUTO, 1, 1, true, 500 }, WEFT_IDLE_YIELD, "shares its CPU" },
	{ { WEFT_IDLE_AUTO, 2, 1, false, 0 }, WEFT_IDLE_YIELD,
		"shares its CPU with another lcore of this process" },
	{ { WEFT_IDLE_AUTO, 2, 1, true, 0 }, WEFT_IDLE_YIELD,
		"shares its CPU with another lcore of this process" },
	{ { WEFT_IDLE_AUTO, 1, 2, false, 0 }, WEFT_IDLE_YIELD, "not pinned to one CPU" },
	{ { WEFT_IDLE_SPIN, 2, 2, false, 1000 }, WEFT_IDLE_SPIN, "as configured" },
	{ { WEFT_IDLE_YIELD, 1, 1, true, 0 }, WEFT_IDLE_YIELD, "as configured" },
};

WEFT_TEST(facts_decide)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		const char *why = NULL;

		assert_int_equal(weft_idle_decide(&rows[i].facts, &why), rows[i].idle);
		assert_string_equal(why, rows[i].why);
		assert_int_equal(weft_idle_decide(&rows[i].facts, NULL), rows[i].idle);
	}
}

WEFT_TEST(words_are_read_back)
{
	for (int i = WEFT_IDLE_AUTO; i <= WEFT_IDLE_YIELD; i++)
		assert_int_equal(weft_words_find(weft_idle_words,
					 weft_words_name(weft_idle_words, (unsigned int)i)),
			i);
	assert_int_equal(weft_words_find(weft_idle_words, "sleep"), -1);
}

static uint64_t
delay_of(const char *text)
{
	char path[] = "/tmp/weft-schedstat-XXXXXX";
	int fd = mkstemp(path);
	uint64_t delay;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	delay = eal_run_delay_ns(fd);
	close(fd);
	return delay;
}

WEFT_TEST(schedstat_is_believed_only_when_it_counts)
{
	assert_int_equal(delay_of("123456 789 12\n"), 789);
	assert_int_equal(delay_of("0 0 0\n"), UINT64_MAX);
	assert_int_equal(delay_of("garbage"), UINT64_MAX);
	assert_int_equal(delay_of(""), UINT64_MAX);
	assert_int_equal(eal_run_delay_ns(-1), UINT64_MAX);
}
