/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Command lines: what is read, and how a program ends. */

#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_cpu.h"
#include "weft_words.h"
#include "words.h"

/* Not of what is compiled without a program. */
#if __has_include("commit.h")
#include "commit.h"
#else
#define WEFT_COMMIT ""
#endif

static volatile sig_atomic_t stopped;
static int fail_status = EXIT_FAILURE;

#define CLI_LINE 2000 /* bytes of a line, of which the first and the last are shown */
#define CLI_HEAD 1400
#define CLI_TAIL 500

/* Bytes of the character at @p s, if it can be printed; else 0. */
static size_t
cli_character(const unsigned char *s)
{
	const size_t n = s[0] < 0x80 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;

	if (s[0] < ' ' || s[0] == 0x7F || (s[0] >= 0x80 && s[0] < 0xC2) || s[0] > 0xF4 ||
		(s[0] == 0xC2 && s[1] < 0xA0) || (s[0] == 0xE0 && s[1] < 0xA0) ||
		(s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF0 && s[1] < 0x90) ||
		(s[0] == 0xF4 && s[1] >= 0x90))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

char *
cli_printable(char *to, size_t room, const char *text)
{
	static const char more[] = "...";
	size_t used = 0, cut = 0;

	while (*text != '\0') {
		const size_t n = cli_character((const unsigned char *)text);
		char hex[5];

		snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)*text);
		if (used + sizeof(more) <= room)
			cut = used;
		if (used + (n == 0 ? 4 : n) >= room) {
			strcpy(to + cut, more);
			return to;
		}
		memcpy(to + used, n == 0 ? hex : text, n == 0 ? 4 : n);
		used += n == 0 ? 4 : n;
		text += n == 0 ? 1 : n;
	}
	to[used] = '\0';
	return to;
}

/* Where a character begins, at @p at or before. */
static size_t
cli_boundary(const char *text, size_t at)
{
	for (unsigned int i = 0; i < 3 && at > 0 && (text[at] & 0xC0) == 0x80; i++)
		at--;
	return at;
}

/* One write: lines of several programs on one terminal stay whole. */
static void
cli_print(const char *fmt, va_list ap, const char *more)
{
	char line[4 * CLI_LINE + 1], tail[4 * CLI_LINE + 1], *text;
	size_t len, from;
	int n = vasprintf(&text, fmt, ap);

	if (n < 0) {
		fprintf(stderr, "%s: out of memory%s\n", program_invocation_short_name, more);
		return;
	}
	len = (size_t)n;
	tail[0] = '\0';
	if (len > CLI_LINE) {
		from = cli_boundary(text, len - CLI_TAIL);
		cli_printable(tail, sizeof(tail), text + from);
		text[cli_boundary(text, CLI_HEAD)] = '\0';
	}
	cli_printable(line, sizeof(line), text);
	fprintf(stderr, "%s: %s%s%s%s\n", program_invocation_short_name, line,
		len > CLI_LINE ? " ... " : "", tail, more);
	free(text);
}

void
cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print(fmt, ap, "");
	va_end(ap);
	exit(fail_status);
}

void
cli_no_memory(const char *fmt, ...)
{
	char more[128] = "";
	struct rlimit space;
	va_list ap;

	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		snprintf(more, sizeof(more),
			": address space is limited to %" PRIu64
			" KiB (ulimit -v): raise the limit or remove it",
			(uint64_t)space.rlim_cur >> 10);
	va_start(ap, fmt);
	cli_print(fmt, ap, more);
	va_end(ap);
	exit(fail_status);
}

void
cli_fail_with(int status)
{
	fail_status = status;
}

void
cli_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print(fmt, ap, "");
	va_end(ap);
	exit(CLI_USAGE);
}

void
cli_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cli_print(fmt, ap, "");
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

static void
cli_store(void *at, size_t size, uint64_t v)
{
	switch (size) {
	case 1: *(uint8_t *)at = (uint8_t)v; break;
	case 2: *(uint16_t *)at = (uint16_t)v; break;
	case 4: *(uint32_t *)at = (uint32_t)v; break;
	default: *(uint64_t *)at = v;
	}
}

static void
cli_read(const struct cli_option *o, char *text, void *to)
{
	void *at = (char *)to + o->offset;
	char option[64];
	bool is_good = true;

	snprintf(option, sizeof(option), "--%s", o->name);
	switch (o->kind) {
	case CLI_KIND_FLAG: *(bool *)at = true; break;
	case CLI_KIND_OUTPUT:
		if (text[0] == '\0')
			cli_usage("%s: expected a file, or - for standard output, got nothing",
				option);
		*(const char **)at = text;
		break;
	case CLI_KIND_TEXT: *(const char **)at = text; break;
	case CLI_KIND_NUMBER:
		cli_store(at, o->size, cli_number(option, text, o->least, o->most));
		break;
	case CLI_KIND_REAL: is_good = words_real(text, o->least_real, o->most_real, at); break;
	case CLI_KIND_SIZE: is_good = words_size(text, o->least, at); break;
	case CLI_KIND_WORD: cli_store(at, o->size, cli_word(option, text, o->words)); break;
	case CLI_KIND_OWN: o->read(option, text, to); break;
	default: break;
	}
	if (!is_good)
		cli_usage("%s: expected %s, got \"%s\"", option, o->expected, text);
}

static void
cli_read_preset(const struct cli_option *o, void *to)
{
	char text[128]; /* readers may change it */

	if (o->preset == NULL)
		return;
	if (o->kind == CLI_KIND_TEXT) {
		*(const char **)((char *)to + o->offset) = o->preset;
		return;
	}
	assert(strlen(o->preset) < sizeof(text));
	strcpy(text, o->preset);
	cli_read(o, text, to);
}

/* Values of long options: ROW_FIRST + row, and two more. In the string of short options a letter is
 * followed by no colon, one or two: the values of no_, required_ and optional_argument. */
enum { ROW_VERSION = 256, ROW_HELP, ROW_FIRST };

static void
cli_getopt_tables(const struct cli_program *p, struct option *l, char *s)
{
	for (unsigned int i = 0; i < p->n_options; i++) {
		const struct cli_option *o = &p->option[i];
		const int arg = o->kind == CLI_KIND_FLAG             ? no_argument
		                : o->arg != NULL && o->arg[0] == '[' ? optional_argument
		                                                     : required_argument;

		if (o->kind > CLI_KIND_ELSEWHERE)
			*l++ = (struct option){ o->name, arg, NULL, ROW_FIRST + (int)i };
		if (o->letter != 0)
			s += sprintf(s, "%c%.*s", o->letter, arg, "::");
	}
	*l++ = (struct option){ "version", no_argument, NULL, ROW_VERSION };
	*l++ = (struct option){ "help", optional_argument, NULL, ROW_HELP };
	*l = (struct option){ 0 };
	strcpy(s, "h");
}

/* An optional value may be the next word; without one, standard output. */
static char *
cli_next_word(int argc, char **argv)
{
	static char output[] = "-";

	if (optind < argc && (argv[optind][0] != '-' || argv[optind][1] == '\0'))
		return argv[optind++];
	return output;
}

/*
 * A program that is started with one of them closed would get its number for the next file or
 * socket, and what is printed would go there. What stands in its place can be neither read nor
 * written.
 */
static void
cli_fill_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* What getopt says of a command line, in our form. */
static void __attribute__((noreturn)) cli_refuse_option(char **argv, const char *said)
{
	const size_t name = strlen(argv[0]);
	const char *word = argv[optind] != NULL ? argv[optind] : "";

	/* A word of several letters is not over with the first. */
	if (word[0] != '-' || word[1] != optopt)
		word = argv[optind - 1];
	if (word[0] == '-' && (isdigit((unsigned char)word[1]) || word[1] == '.'))
		cli_usage("expected an option, or a value that is not negative, got \"%s\"", word);
	if (strncmp(said, argv[0], name) == 0 && strncmp(said + name, ": ", 2) == 0)
		said += name + 2;
	cli_usage("%.*s", (int)strcspn(said, "\n"), said);
}

/* The next option, as getopt_long(); it does not come back from one that is none. */
static int
cli_getopt(int argc, char **argv, const char *letters, const struct option *longs)
{
	FILE *const real = stderr;
	char *said = NULL;
	size_t len = 0;
	FILE *const to = open_memstream(&said, &len);
	int opt;

	if (to != NULL)
		stderr = to;
	opt = getopt_long(argc, argv, letters, longs, NULL);
	stderr = real;
	if (to != NULL && fclose(to) != 0)
		said = NULL;
	if (opt == '?')
		cli_refuse_option(argv, said == NULL ? "expected options that --help lists" : said);
	free(said);
	return opt;
}

uint64_t
cli_parse(const struct cli_program *p, void *to, int argc, char **argv)
{
	struct option longs[CLI_ROWS + 3];
	char letters[3 * CLI_ROWS + 2];
	uint64_t given = 0;
	unsigned int row;
	int opt;

	assert(p->n_options <= CLI_ROWS);
	cli_fill_standard_files();
	cli_getopt_tables(p, longs, letters);
	for (row = 0; row < p->n_options; row++)
		cli_read_preset(&p->option[row], to);
	while ((opt = cli_getopt(argc, argv, letters, longs)) != -1) {
		if (opt == ROW_VERSION) {
			printf("%s " WEFT_VERSION WEFT_COMMIT "\n", p->name);
			cli_exit(EXIT_SUCCESS);
		}
		if (opt == ROW_HELP || opt == 'h') {
			if (optarg != NULL)
				cli_word("--help", optarg, cli_help_words);
			(optarg != NULL ? cli_help_table : cli_help)(p);
			cli_exit(EXIT_SUCCESS);
		}
		row = 0;
		while (opt != ROW_FIRST + (int)row && opt != p->option[row].letter)
			row++;
		if (optarg == NULL && p->option[row].kind != CLI_KIND_FLAG)
			optarg = cli_next_word(argc, argv);
		cli_read(&p->option[row], optarg, to);
		given |= WEFT_BIT64(row);
	}
	return given;
}

void
cli_options_only(int argc, char **argv)
{
	if (optind < argc)
		cli_usage("expected options only, got \"%s\"; EAL arguments go behind --",
			argv[optind]);
}

bool
cli_given(const struct cli_program *p, uint64_t given, uint32_t tags)
{
	for (unsigned int i = 0; i < p->n_options; i++)
		if ((given & WEFT_BIT64(i)) != 0 && (p->option[i].tags & tags) != 0)
			return true;
	return false;
}

void
cli_no_effect(const struct cli_program *p, uint64_t given, uint32_t tags, const char *why)
{
	char list[256] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < p->n_options && used < sizeof(list); i++)
		if (cli_given(p, given & WEFT_BIT64(i), tags))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s--%s",
				used == 0 ? "" : ", ", p->option[i].name);
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

bool
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
	struct sigaction old;

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	/* nohup(1) has it ignored. A terminal that goes says so itself, and its shell once more. */
	stop.sa_flags = 0;
	if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &stop, NULL);
}

bool
cli_is_stopped(void)
{
	return stopped != 0;
}

static int output_errno; /* why a flush failed, the first that did */

void
cli_flush(void)
{
	if (fflush(stdout) != 0 && output_errno == 0)
		output_errno = errno;
}

/* 0, or -EIO if not all that was printed went out. */
static int
cli_output_end(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	int e;

	cli_flush();
	e = output_errno;
	if (e == 0 && !ferror(stdout))
		return 0;
	/* Of what failed for want of room in stdio's buffer the reason is not kept. */
	if (poll(&out, 1, 0) != 1 || (out.revents & POLLERR) == 0)
		cli_warn("standard output could not be written whole%s%s", e != 0 ? ": " : "",
			e != 0 ? strerror(e) : "");
	return -EIO;
}

void
cli_exit(int status)
{
	exit(cli_output_end() != 0 ? fail_status : status);
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
