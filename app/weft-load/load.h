/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the files of weft-load share. A run has clients, a thread each, that attach by themselves
 * and have a part of the region for their own: its blocks, of --size bytes. They go through a run
 * together: with --verify each fills its part, then all are measured, then each reads its part
 * back. What a client counts is its thread's until that has ended.
 */
#ifndef LOAD_H
#define LOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "weft.h"
#include "weft_choice.h"
#include "weft_latency.h"
#include "weft_rand.h"

#define LOAD_CLIENTS_MAX 256
#define LOAD_ROOM_TEXT 512 /* bytes of a line, with its end */

enum load_kind { LOAD_MEM, LOAD_UIO, LOAD_TRANSFER, LOAD_MOVE };
enum load_op { LOAD_READ, LOAD_WRITE, LOAD_MIX };

struct load_options {
	const char *node, *socket;
	const char *region;
	const char *json, *histogram; /* NULL: none */
	const char *pattern_text; /* as it was given */
	const char *block_text; /* --kind transfer: as it was given */
	uint64_t size; /* bytes of an operation: of its data */
	uint64_t bytes; /* and of its part of the region, signatures included */
	uint64_t inject; /* every so manieth write is spoiled; 0: none */
	uint64_t ops; /* of all clients, without the warm-up; 0: no limit */
	uint64_t rate; /* of all clients a second; 0: as fast as they end */
	uint64_t seed;
	double seconds; /* 0: no limit */
	double warmup;
	double theta;
	enum weft_choice_pattern pattern;
	enum load_kind kind;
	enum load_op op;
	uint32_t depth, clients;
	uint8_t write_percent;
	bool is_verifying;
	bool is_checked; /* it is: what is read has to be something */
};

/** Operations of one kind that ended well. */
struct load_count {
	uint64_t ops;
	struct weft_latency latency;
};

/** An operation, or room for one. */
struct load_slot {
	uint64_t begun_ns; /* when it began; with --rate, when it was due */
	uint64_t block;
	bool is_write; /* or a move */
};

/** Operations that did not end well. */
struct load_failures {
	uint64_t lost; /* -ETIMEDOUT */
	uint64_t failed; /* -EIO */
	uint64_t failed_at; /* the first of these: offset */
	uint64_t not_begun; /* --rate: they were due */
};

struct load;

struct load_client {
	struct load *load;
	uint32_t number;
	pthread_t thread;
	struct weft *w;
	struct weft_region *r;
	uint64_t base; /* of its part, in the region */
	uint64_t blocks;
	struct weft_rand rand;
	struct weft_choice choice;
	struct check *check; /* of opt.is_checked, else NULL */
	/* under way */
	struct load_slot *slot; /* `depth` */
	struct weft_op *ready; /* the first `n_ready` wait for room */
	uint32_t *free; /* the first `n_free` are slots that are not in use */
	uint8_t *data; /* of the slots */
	uint32_t n_ready, n_free, n_open;
	/* the measured part */
	uint64_t start_ns;
	uint64_t first_ns; /* what begins before is not counted */
	uint64_t stop_ns; /* none begins from then on */
	uint64_t end_ns; /* when the last one ended */
	double period_ns; /* --rate */
	uint64_t prepared; /* in all */
	uint64_t left; /* that may begin, without those of the warm-up */
	struct load_count read, write; /* --kind move: all are writes */
	struct load_failures bad;
	bool is_swept; /* --verify: its part was read back to the end */
	char error[LOAD_ROOM_TEXT]; /* why it ended, else "" */
};

/** A run. */
struct load {
	struct load_options opt;
	struct load_client *client; /* opt.clients */
	const char *node;
	pthread_barrier_t barrier;
	int has_failed; /* a client cannot go on, so all end; atomic */
};

/** Whether all clients are to end. Any thread. */
bool load_is_over(const struct load *l);

/** A client's thread. */
void *client_main(void *arg);

/** A client cannot go on: keep why, and have all end. */
void client_fail(struct load_client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** What is told of a run. */
struct load_report {
	const struct load *load;
	struct load_count read, write;
	struct weft_latency latency; /* of both */
	struct check_counts check;
	struct load_failures bad; /* failed_at: of the first client that has one */
	uint64_t ops;
	double seconds;
	bool is_swept;
	bool is_stopped; /* by a signal */
	const char *error; /* NULL: none */
};

void report_make(struct load_report *r, const struct load *l, bool is_stopped);
void report_print(const struct load_report *r);
struct json_t *report_json(const struct load_report *r);

#endif /* LOAD_H */
