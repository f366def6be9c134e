/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Command line helpers. */

#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_cpu.h"
#include "weft_words.h"
#include "words.h"

static volatile sig_atomic_t stopped;

static void
cli_print(const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void
cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print(fmt, ap);
	va_end(ap);
	exit(EXIT_FAILURE);
}

void
cli_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print(fmt, ap);
	va_end(ap);
	exit(CLI_USAGE);
}

void
cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print(fmt, ap);
	va_end(ap);
}

uint64_t
cli_number(const char *option, const char *text, uint64_t least, uint64_t most)
{
	uint64_t v;

	if (!words_number(text, least, most, &v))
		cli_usage("%s: expected a number of %" PRIu64 " to %" PRIu64 ", got \"%s\"", option,
			least, most, text);
	return v;
}

unsigned int
cli_word(const char *option, const char *text, const char *const *words)
{
	const int found = weft_words_find(words, text);
	char list[256] = "";
	size_t used = 0;

	if (found >= 0)
		return (unsigned int)found;
	for (unsigned int i = 0; words[i] != NULL && used < sizeof(list); i++)
		used += (size_t)snprintf(
			list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : ", ", words[i]);
	cli_usage("%s: expected one of %s, got \"%s\"", option, list, text);
}

void
cli_no_effect(const struct option *options, uint64_t given, uint64_t idle, const char *why)
{
	char list[256] = "";
	size_t used = 0;

	for (const struct option *o = options; o->name != NULL; o++)
		if (o->val >= 256 && (given & idle & CLI_BIT(o->val)) != 0 && used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s--%s",
				used == 0 ? "" : ", ", o->name);
	if (used != 0)
		cli_warn("%s: no effect %s", list, why);
}

static bool
cli_stat(const char *path, struct stat *st)
{
	return (strcmp(path, "-") == 0 ? fstat(STDOUT_FILENO, st) : stat(path, st)) == 0;
}

/* Where the last word of a path begins; @p st is of the folder it is in. NULL: no such folder. */
static const char *
cli_split_path(const char *path, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";

	if (slash != NULL && snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1,
				     path) >= (int)sizeof(folder))
		return NULL;
	if (stat(folder, st) != 0)
		return NULL;
	return slash == NULL ? path : slash + 1;
}

/* Whether two paths of files that are not there name one file of one folder. */
static bool
cli_is_one_name(const char *a, const char *b)
{
	struct stat x, y;
	const char *a_name = cli_split_path(a, &x), *b_name = cli_split_path(b, &y);

	return a_name != NULL && b_name != NULL && strcmp(a_name, b_name) == 0 &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool
cli_is_one_file(const char *a, const char *b)
{
	struct stat x, y;
	const bool a_is_there = cli_stat(a, &x), b_is_there = cli_stat(b, &y);

	if (strcmp(a, b) == 0 && (strcmp(a, "-") == 0 || !a_is_there))
		return true;
	if (!a_is_there && !b_is_there)
		return cli_is_one_name(a, b);
	return a_is_there && b_is_there && !S_ISCHR(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

void
cli_two_files(const char *a_option, const char *a, const char *b_option, const char *b)
{
	if (a != NULL && b != NULL && cli_is_one_file(a, b))
		cli_usage("%s and %s: expected two files, got \"%s\" and \"%s\"", a_option,
			b_option, a, b);
}

static void
cli_on_stop(int sig)
{
	(void)sig;
	stopped = 1;
}

void
cli_catch_stop(void)
{
	struct sigaction stop = { .sa_handler = cli_on_stop, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
}

bool
cli_is_stopped(void)
{
	return stopped != 0;
}

int
cli_output_end(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	const int e = fflush(stdout) != 0 ? errno : 0;

	if (e == 0 && !ferror(stdout))
		return 0;
	/* Of what failed while it was printed the reason is not kept. */
	if (poll(&out, 1, 0) != 1 || (out.revents & POLLERR) == 0)
		cli_warn("standard output could not be written whole%s%s", e != 0 ? ": " : "",
			e != 0 ? strerror(e) : "");
	return -EIO;
}

void
cli_exit(int status)
{
	exit(cli_output_end() != 0 ? EXIT_FAILURE : status);
}

int
cli_split_eal(int argc, char **argv, int *eal_argc, char *const **eal_argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			*eal_argc = argc - i - 1;
			*eal_argv = argv + i + 1;
			return i;
		}
	}
	*eal_argc = 0;
	*eal_argv = NULL;
	return argc;
}

uint32_t
cli_cpu_features(void)
{
	const char *words = getenv("WEFT_CPU"), *bad;
	uint32_t mask;

	if (weft_cpu_parse(words, &mask, &bad) != 0)
		cli_usage("WEFT_CPU=%s: expected a comma-separated list of %s, got \"%s\"", words,
			weft_cpu_words(), bad);
	return weft_cpu_detect() & mask;
}

void
cli_report_kernels(void)
{
	const struct weft_kernel_failure *f;

	for (unsigned int i = 0; (f = weft_kernel_failure(i)) != NULL; i++)
		cli_warn("%s kernel %s failed its self-test on this CPU; the next best one runs",
			f->family, f->kernel);
}
