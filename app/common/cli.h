/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The command lines of all programs. A program has a table of its options, from which they are read
 * and --help, the manual page and completion in bash are made. Numbers are read whole or not at
 * all. Exit status 2 means: the command line (or WEFT_CPU) makes no sense; 1: what it asks for
 * cannot be done here. Either comes with one line on stderr.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Exit status for a command line that makes no sense. */
#define CLI_USAGE 2

/*
 * What is printed on stderr is one line: words of others may hold anything. Controls and bytes that
 * are no UTF-8 are shown as \xNN, and of a line that is very long the middle is left out.
 */

/** Print "PROGRAM: ..." on stderr, end of line included, and exit with 1 or cli_fail_with(). */
void cli_fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/**
 * As cli_fail(), for memory or a thread that could not be had: where address space is limited
 * (`ulimit -v`), the line says so.
 */
void cli_no_memory(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** From now on what cannot be done ends the program with @p status, also in cli_exit(). */
void cli_fail_with(int status);

/** As cli_fail(), for what is wrong with the arguments themselves: exit with CLI_USAGE. */
void cli_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** @p text in that form, cut to @p room bytes with its 0, which are 16 at least. @return @p to */
char *cli_printable(char *to, size_t room, const char *text);

/** Print "PROGRAM: ..." on stderr, end of line included. */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Number of an option, decimal or 0x hex, in @p least..@p most; cli_usage() otherwise. */
uint64_t cli_number(const char *option, const char *text, uint64_t least, uint64_t most);

#define CLI_ROWS 64 /* most rows of a table: a bit of uint64_t each */

enum cli_kind {
	CLI_KIND_SECTION, /* no option: `help` is the title of those that follow */
	CLI_KIND_ELSEWHERE, /* listed, not parsed: main() looks for it first */
	CLI_KIND_FLAG, /* bool */
	CLI_KIND_TEXT, /* const char *; what stands in argv */
	CLI_KIND_OUTPUT, /* likewise: a file to write, or - for standard output; not "" */
	CLI_KIND_NUMBER, /* any unsigned integer */
	CLI_KIND_REAL, /* double */
	CLI_KIND_SIZE, /* uint64_t */
	CLI_KIND_WORD, /* any integer: index of the word */
	CLI_KIND_OWN, /* parsed by `read` */
};

/** An option: a row of a table. Write it as { name, arg, preset, help, CLI_...(member, ...) }. */
struct cli_option {
	const char *name; /* long, without dashes */
	const char *arg; /* name of its value, "[...]" if optional; NULL: its words, or none */
	const char *preset; /* default, parsed like a value and shown by --help; may be NULL */
	const char *help; /* one sentence; --help wraps it */
	enum cli_kind kind;
	char letter; /* or 0 */
	uint8_t size; /* of the member */
	uint16_t offset;
	uint32_t tags; /* the program's sets of options, for cli_given() and cli_no_effect() */
	const char *const *words; /* values; of CLI_KIND_OWN for completion only */
	const char *expected; /* of CLI_KIND_REAL and _SIZE: for the error line */
	union {
		uint64_t least;
		double least_real;
	};
	union {
		uint64_t most;
		double most_real;
	};
	/* Parse @p text into the program's struct @p to; cli_usage() if it is invalid. */
	void (*read)(const char *option, char *text, void *to);
};

/* A file with a table defines CLI_INTO first: the struct whose members the options set. */
#define CLI_AT(member)                                                                             \
	.offset = offsetof(CLI_INTO, member), .size = sizeof(((CLI_INTO *)NULL)->member)
#define CLI_SECTION(title) .help = title, .kind = CLI_KIND_SECTION
#define CLI_FLAG(member) .kind = CLI_KIND_FLAG, CLI_AT(member)
#define CLI_TEXT(member) .kind = CLI_KIND_TEXT, CLI_AT(member)
#define CLI_OUTPUT(member) .kind = CLI_KIND_OUTPUT, CLI_AT(member)
#define CLI_NUMBER(member, low, high)                                                              \
	.kind = CLI_KIND_NUMBER, CLI_AT(member), .least = low, .most = high
#define CLI_REAL(member, low, high, what)                                                          \
	.kind = CLI_KIND_REAL, CLI_AT(member), .least_real = low, .most_real = high,               \
	.expected = what
#define CLI_SIZE(member, low, what)                                                                \
	.kind = CLI_KIND_SIZE, CLI_AT(member), .least = low, .expected = what
#define CLI_WORD(member, list) .kind = CLI_KIND_WORD, CLI_AT(member), .words = list
#define CLI_OWN(reader) .kind = CLI_KIND_OWN, .read = reader

#define CLI_OPTIONS(array) .option = array, .n_options = sizeof(array) / sizeof((array)[0])

/** A program: what --help and the manual page say of it. */
struct cli_program {
	const char *name;
	const char *synopsis; /* after the name */
	const char *does; /* one sentence */
	const char *details; /* preformatted lines, or NULL */
	const char *status; /* when it exits with 1, after "1 if" */
	const char *examples; /* commands, a line each; or NULL */
	const struct cli_option *option; /* CLI_OPTIONS(array) */
	unsigned int n_options; /* up to CLI_ROWS */
	const char *const *operands; /* words that completion offers beside options; or NULL */
	const struct cli_program *other; /* its other command line, for the manual; or NULL */
};

/** Print --help; or the same for scripts, tab-separated fields a line. */
void cli_help(const struct cli_program *p);
void cli_help_table(const struct cli_program *p);

/** Of --help the lines of options with one of @p tags, and of those without any. */
void cli_help_options(const struct cli_program *p, uint32_t tags);

/** What --help may be asked for: "table". */
extern const char *const cli_help_words[];

/**
 * Set @p to to the presets, then to what the command line says. --version, --help and errors end
 * the program. The first operand is argv[optind].
 *
 * @return bit i: row i was given, for cli_given() and cli_no_effect()
 */
uint64_t cli_parse(const struct cli_program *p, void *to, int argc, char **argv);

/** cli_usage() if there are operands, in a program whose EAL arguments follow "--". */
void cli_options_only(int argc, char **argv);

/** Whether an option with one of @p tags was given. */
bool cli_given(const struct cli_program *p, uint64_t given, uint32_t tags);

/** Warn, in one line, that those given with one of @p tags have no effect: "no effect WHY". */
void cli_no_effect(const struct cli_program *p, uint64_t given, uint32_t tags, const char *why);

/**
 * cli_usage() if two options name one file, of which writing one would destroy the other: by name,
 * however it is spelt, or by a link. "-" is standard output. Terminals, /dev/null and the like may
 * be named twice.
 *
 * @param a, b  NULL: the option is not there
 */
void cli_two_files(const char *a_option, const char *a, const char *b_option, const char *b);

/** Whether they do; what cli_two_files() refuses. */
bool cli_is_one_file(const char *a, const char *b);

/**
 * Index of @p text in @p words, which ends with NULL; cli_usage() with the list otherwise.
 */
unsigned int cli_word(const char *option, const char *text, const char *const *words);

/**
 * From now on the first SIGINT or SIGTERM only sets what cli_is_stopped() says, so that the program
 * can end as usual and DPDK take its folder away; the second ends it at once. Each SIGHUP does what
 * the first of them does, unless it is ignored.
 */
void cli_catch_stop(void);

/** Whether a signal came since cli_catch_stop(). Any thread. */
bool cli_is_stopped(void);

/** Flush standard output. Of the first that fails cli_exit() gives the reason. */
void cli_flush(void);

/**
 * End a program that has printed: with @p status, or with 1 if not all of it went out. A line says
 * so, unless it was a pipe whose reader has gone.
 */
void cli_exit(int status) __attribute__((noreturn));

/** How many of @p argv belong to the program: up to "--". What follows is for EAL. */
int cli_split_eal(int argc, char **argv, int *eal_argc, char *const **eal_argv);

/**
 * Features that kernels may use: those of the CPU, less what WEFT_CPU masks; cli_usage() if bad.
 */
uint32_t cli_cpu_features(void);

/** Warn of every kernel that failed its self-test so far; what runs instead is in the reports. */
void cli_report_kernels(void);

#endif /* CLI_H */
