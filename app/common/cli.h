/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the command lines of all programs share: one clear line for what is wrong, numbers read
 * whole or not at all. Exit status 2 means: the command line (or WEFT_CPU) makes no sense; 1: what it
 * asks for cannot be done here. Either comes with that line on stderr. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option;

/** Exit status for a command line that makes no sense. */
#define CLI_USAGE 2

/** Print "PROGRAM: ..." on stderr, end of line included, and exit with 1. */
void cli_fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** As cli_fail(), for what is wrong with the arguments themselves: exit with CLI_USAGE. */
void cli_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** Print "PROGRAM: ..." on stderr, end of line included. */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Number of an option, decimal or 0x hex, in @p least..@p most; cli_usage() otherwise. */
uint64_t cli_number(const char *option, const char *text, uint64_t least, uint64_t most);

/** The bit of a long option, whose value is 256 or more, in a set of options. */
#define CLI_BIT(value) (UINT64_C(1) << ((value)-256))

/**
 * Warn, in one line, of options that were given and have no effect.
 *
 * @param options  the program's, as getopt_long() takes them
 * @param given    bits of those that were
 * @param idle     bits of those that have no effect
 * @param why      behind "no effect", such as "with --check"
 */
void cli_no_effect(const struct option *options, uint64_t given, uint64_t idle, const char *why);

/**
 * cli_usage() if two options name one file, of which writing one would destroy the other: by name,
 * however it is spelt, or by a link. "-" is standard output. Terminals, /dev/null and the like may be named twice.
 *
 * @param a, b  NULL: the option is not there
 */
void cli_two_files(const char *a_option, const char *a, const char *b_option, const char *b);

/**
 * Index of @p text in @p words, which ends with NULL; cli_usage() with the list otherwise.
 */
unsigned int cli_word(const char *option, const char *text, const char *const *words);

/**
 * From now on the first SIGINT or SIGTERM only sets what cli_is_stopped() says, so that the program
 * can end as usual and DPDK take its folder away; the second ends it at once.
 */
void cli_catch_stop(void);

/** Whether a signal came since cli_catch_stop(). Any thread. */
bool cli_is_stopped(void);

/**
 * The end of what was printed. 0, or -EIO if not all of it went out: a line says so, unless it was a
 * pipe whose reader has gone.
 */
int cli_output_end(void);

/** End a program that has printed: with @p status, or with 1 if not all of it went out. */
void cli_exit(int status) __attribute__((noreturn));

/** How many of @p argv belong to the program: up to "--". The rest, behind it, is for EAL. */
int cli_split_eal(int argc, char **argv, int *eal_argc, char *const **eal_argv);

/** Features that kernels may use: those of the CPU, less what WEFT_CPU masks; cli_usage() if bad. */
uint32_t cli_cpu_features(void);

/** Warn of every kernel that failed its self-test so far; what runs instead is in the reports. */
void cli_report_kernels(void);

#endif /* CLI_H */
