/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The daemons of this user on this machine, by their sockets for operators (doc/control.md). */
#ifndef DAEMONS_H
#define DAEMONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctl.h"

#define DAEMONS_MAX 256

struct daemons_one {
	int fd;
	int pid;
	char *in; /* bytes that came and were not read as a line yet */
	size_t n_in, room;
	bool has_ended;
	/* Of daemons_states_within(). */
	bool is_asked; /* its answer has not come yet */
	bool is_silent; /* ... nor when the call before ended */
	json_t *state; /* the newest; NULL: none yet */
};

struct daemons {
	struct daemons_one one[DAEMONS_MAX];
	unsigned int n;
};

/**
 * Connect to all daemons of this user, or with --daemon to that one, in the order of their numbers.
 * Ends the program with a line where there is none.
 */
void daemons_open(const struct ctl *c, struct daemons *d);

void daemons_close(struct daemons *d);

/**
 * Send a request, an object that is taken over, and wait for its answer.
 *
 * @return its result, a new reference; NULL with a line in @p err: refused, or the daemon has gone
 */
json_t *daemons_ask(struct daemons_one *one, json_t *request, char *err, size_t err_len);

/** A request without further keys. */
json_t *daemons_request(const char *cmd);

/**
 * The next line that has come from any of them, within @p timeout_ms; NULL: none, and perhaps some
 * have ended.
 *
 * @param from  receives whose it is
 */
json_t *daemons_next(struct daemons *d, int timeout_ms, unsigned int *from);

/**
 * The state of each daemon, a list of objects: those that ended meanwhile are left out. Ends the
 * program where one refuses.
 */
json_t *daemons_states(const struct ctl *c, struct daemons *d);

/**
 * The same without waiting for those that do not answer: for one that answered the last time at
 * most @p timeout_ms. Of such a daemon it is the last state that came, or at least its "pid" and an
 * empty list of "nodes", with "silent": true.
 */
json_t *daemons_states_within(const struct ctl *c, struct daemons *d, int timeout_ms);

/** End the program, with the names there are, if --node is none of these states. */
void daemons_judge_node(const struct ctl *c, const json_t *states);

/** Index of the daemon that runs a node; ends the program if none does. */
unsigned int daemons_of_node(const struct ctl *c, struct daemons *d, const char *node);

/** The same, or the number of daemons where none runs it and all have answered. */
unsigned int daemons_find_node(const struct ctl *c, struct daemons *d, const char *node);

/**
 * Index of the daemon with the node of a port such as "s0.0". Ends the program with a line if none
 * has it; where one did not answer, that is the line, as it may be the one.
 */
unsigned int daemons_of_port(const struct ctl *c, struct daemons *d, const char *port);

#endif /* DAEMONS_H */
