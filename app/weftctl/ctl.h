/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the verbs of weftctl share. A verb is a row of the table in main.c and a function that is
 * declared here; it returns the exit status, or ends the program by itself.
 */
#ifndef CTL_H
#define CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft.h"

struct json_t;

/** Tags of options: those that not every verb takes. */
enum {
	CTL_OUT = 1,
	CTL_INPUT = 2,
	CTL_BENCH = 4,
	CTL_JSON = 8,
	CTL_DAEMONS = 16,
	CTL_WATCH = 32,
	CTL_FOLLOW = 64,
	CTL_LIMIT = 128,
	CTL_PLAN = 256,
	CTL_CCI = 512,
	CTL_DOCTOR = 1024,
	CTL_FM_MEM = 2048,
	CTL_TRACE = 4096,
	CTL_DRAIN = 8192,
	CTL_INJECT = 16384,
	CTL_WIRE = 32768,
	CTL_SEED = 65536,
	CTL_POISON = 131072,
	CTL_NOT_WAYS = 262144, /* of mem bench, and nothing that --ways heeds */
};

enum ctl_bench_op { CTL_BENCH_READ, CTL_BENCH_WRITE };

/** `pid` where none was given. */
#define CTL_NO_PID 0x1000

struct ctl_drain_options {
	double wait_s;
	bool wait_is_given;
	bool is_undone;
};

struct ctl_inject_options {
	const char *seed; /* NULL: the daemon draws one */
	const char *loss, *duplicate, *reorder, *corrupt; /* probabilities; NULL: none */
	double share; /* of reads; 0: none */
};

struct ctl_bench_options {
	uint32_t depth;
	enum ctl_bench_op op;
	bool is_ways;
	bool is_uio;
};

struct ctl_fm_options {
	const char *hosts; /* names; NULL: none */
	const char *gfd; /* NULL: none */
	uint32_t interleave; /* 0: not given */
};

struct ctl_options {
	const char *node;
	const char *socket;
	const char *out; /* NULL: hexdump */
	const char *file; /* NULL: standard input, unless there is `hex` */
	const char *hex;
	uint64_t size; /* bytes of an operation, or of memory */
	const char *size_text; /* as it was given; NULL: it was not */
	double seconds; /* 0: not given */
	struct ctl_bench_options bench;
	uint32_t daemon; /* number of its process; 0: all */
	uint32_t cci_claim; /* PID; 0: no */
	const char *host; /* PID, or its name; NULL: none */
	struct ctl_fm_options fm;
	double watch_s; /* 0: once */
	uint64_t limit; /* bytes of a capture; 0: none */
	uint32_t pid; /* of frames; CTL_NO_PID: any */
	const char *kind; /* of frames, flits or messages; NULL: any */
	uint32_t count; /* frames */
	struct ctl_drain_options drain;
	struct ctl_inject_options inject;
	const char *server;
	const char *topology; /* NULL: none */
	const char *root; /* NULL: "/" */
	bool follows;
	bool is_json;
	bool is_forced;
	bool is_plan;
};

struct ctl {
	struct ctl_options opt;
	const char *verb; /* such as "mem read", for errors and progress */
	char *const *operand; /* as many as the verb has */
	int failure; /* exit status of what cannot be done */
	struct weft *w; /* NULL until ctl_open() or ctl_attach() */
	void (*leave)(void); /* what gives the terminal back before a last line; NULL: nothing */
};

/** A verb: what the first words of a command are. */
struct ctl_verb {
	const char *subject, *name; /* name "": the subject is all */
	const char *operands; /* a word each; those that may be left out in brackets, last */
	const char *does;
	uint32_t tags; /* of the options that it takes, beside those that all do */
	int failure; /* exit status of what cannot be done; 0: EXIT_FAILURE */
	int (*run)(struct ctl *c);
};

extern const struct ctl_verb ctl_verbs[];
extern const unsigned int ctl_n_verbs;

struct cli_program;
extern const struct cli_program ctl_program;

/** Run one command, and end the program. */
void ctl_command(int argc, char **argv) __attribute__((noreturn));

/** The forms of verbs, and options of those whose first words these are. False: there are none. */
bool ctl_help(int n_words, char *const *words);

/** A region that is open. */
struct ctl_region {
	struct weft_region *r;
	const char *name; /* as it was asked for */
	uint64_t size;
};

/** Print one line on stderr and end with the verb's status for what cannot be done. */
void ctl_fail(const struct ctl *c, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/** The same for an operation that is done: what went wrong at an offset of a region. */
void ctl_fail_at(const struct ctl *c, const struct ctl_region *r, uint64_t off, int rc)
	__attribute__((noreturn));

/** The same for a call of the library, which has words for it. */
void ctl_fail_call(const struct ctl *c, const struct ctl_region *r) __attribute__((noreturn));

/** End the program if a signal asked for it. */
void ctl_judge_stop(const struct ctl *c, const struct ctl_region *r, uint64_t off);

/** Attach to the host that the options name. @p opts may be NULL. */
void ctl_attach(struct ctl *c, const struct weft_attach_opts *opts);

/** Open a region for WEFT_READ or WEFT_WRITE. */
void ctl_open(struct ctl *c, const char *name, int flags, struct ctl_region *r);

/** Bytes of an operand; cli_usage() if it is no such number. */
uint64_t ctl_bytes(const char *what, const char *text);

/** How long a benchmark is to take. */
double ctl_bench_seconds(const struct ctl *c);

/** cli_usage() unless so many bytes from that offset are within the region. */
void ctl_judge_range(const struct ctl *c, const struct ctl_region *r, uint64_t off, uint64_t size);

/** A new string of JSON; cli_usage() if an operand or option is no UTF-8, as JSON has to be. */
struct json_t *ctl_json_text(const struct ctl *c, const char *what, const char *text);

/** A new number of JSON; cli_usage() if it is more than JSON has here. */
struct json_t *ctl_json_bytes(const char *what, uint64_t v);

/** Print an object as JSON and forget it. */
void ctl_print_json(const struct ctl *c, struct json_t *o);

int mem_list(struct ctl *c);
int mem_read(struct ctl *c);
int mem_write(struct ctl *c);
int mem_fill(struct ctl *c);
int mem_cmp(struct ctl *c);
int mem_dump(struct ctl *c);
int mem_load(struct ctl *c);
int mem_bench(struct ctl *c);

/* mem bench --ways. */
int mem_ways(struct ctl *c);

/* Daemons of this user. */
int show_run(struct ctl *c);
int top_run(struct ctl *c);
int operate_events(struct ctl *c);
int operate_reload(struct ctl *c);
int operate_log(struct ctl *c);
int operate_capture_start(struct ctl *c);
int operate_capture_stop(struct ctl *c);
int trace_run(struct ctl *c);
int drain_run(struct ctl *c);
int inject_wire(struct ctl *c);
int inject_poison(struct ctl *c);
int inject_pause(struct ctl *c);
int inject_list(struct ctl *c);
int inject_stop(struct ctl *c);

/* This machine. */
int doctor_see(struct ctl *c);

/* The fabric manager. */
int fm_show(struct ctl *c);
int fm_path(struct ctl *c);
int fm_history(struct ctl *c);
int fm_drain(struct ctl *c);
int fm_undrain(struct ctl *c);
int fm_mem(struct ctl *c);

/* Option --hosts, which is to come once. */
void fm_read_hosts(const char *option, char *text, void *to);

/** What fm show takes; ends with NULL. */
const char *const *fm_words(void);

/** What `fm mem` does: "create" and so on, and NULL. */
const char *const *fm_mem_op_words(void);

/* A component of this user's daemons. */
int cci_run(struct ctl *c);

/**
 * Run the same command on another machine, by ssh, without its --server. Returns only to end the
 * program with a line where ssh is not there.
 */
void ctl_run_there(const char *server, char *const *argv) __attribute__((noreturn));

#endif /* CTL_H */
