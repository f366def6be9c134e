/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Faults that an operator injects into nodes that run: a bad wire behind a port, late poison in the
 * memory of a GFD, a node that is not polled for a while. Each has a number, ends by itself, and is
 * told of at both ends. Who may use the daemon's socket may do this: nobody but its user and root.
 * Control thread, but for node_is_paused().
 */
#ifndef INJECT_H
#define INJECT_H

#include "daemon.h"
#include "weft_impair.h"

#define INJECT_SECONDS 10.0 /* unless it is said */
#define INJECT_SECONDS_MIN 0.01
#define INJECT_SECONDS_MAX 86400.0
#define INJECTIONS 64 /* at work at a time */

enum inject_kind { INJECT_WIRE, INJECT_POISON, INJECT_PAUSE, INJECT_KINDS };

/** "wire", "poison", "pause". */
extern const char *const inject_words[INJECT_KINDS + 1];

/** What is to be injected, and where. */
struct inject_cfg {
	enum inject_kind kind;
	struct node *node;
	uint16_t port; /* wire */
	struct weft_impair_cfg wire; /* its seed is that below */
	uint64_t offset, lines; /* poison: these are bad; lines 0: a share of reads is */
	double share;
	uint64_t seed;
	double seconds;
};

/**
 * Begin one. @p now: seconds of the run.
 *
 * @param number  receives its number, from 1 on
 * @return 0; -EBUSY: the port, GFD or node has one; -ENOSPC, -ENOMEM, -EAGAIN, or -ERANGE
 *         (lines that are not in the memory); with a line
 */
int inject_begin(
	const struct inject_cfg *cfg, double now, unsigned int *number, char *err, size_t err_len);

/** End one, or with 0 all of them. @return how many; 0: there is none of that number */
unsigned int inject_stop(unsigned int number, double now);

/** Each round: end those whose time is over. */
void injects_maintain(double now);

/** No lcore runs any more: all end. */
void injects_end(double now);

/** Those at work [{injection, kind, node, ...}], or the one of a number (0: all). */
json_t *injects_list_json(unsigned int number, double now);

/** All of a run: {begun, ended, frames, flits, lines, reads, pauses, list}. */
json_t *injects_json(double now);

/** What was injected so far, by name: fn() for each. */
void injects_each(void (*fn)(void *arg, const char *what, uint64_t n), void *arg);

/* --- where faults are --- */

/** late.c: begin late poison of a GFD, or take it back. 0, or -EAGAIN, -ERANGE. */
int late_inject(const struct node *n, struct weft_node_late *l, bool ends);

/** node.c: whether a node whose own.paused_until_ns is not 0 is kept from polls now. Its lcores. */
bool node_is_paused(const struct node *n);

/* --- inject_answer.c: as operators ask for it; NULL with a line --- */

json_t *inject_answer(
	struct daemon *d, const json_t *request, double now, char *err, size_t err_len);
json_t *inject_stop_answer(const json_t *request, double now, char *err, size_t err_len);

#endif /* INJECT_H */
