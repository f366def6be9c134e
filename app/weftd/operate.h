/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The daemon's socket for operators: weftd-PID.ctl in the run folder, mode 0600, lines of JSON both
 * ways (doc/control.md). Served by the control thread between its other work, never by an lcore:
 * nobody who is connected can make it wait.
 */
#ifndef OPERATE_H
#define OPERATE_H

#include "daemon.h"
#include "traces.h"

#define OPERATE_VERSION 1 /* of the protocol */
#define OPERATE_SUFFIX ".ctl"

/**
 * Open the socket. Where that cannot be, weftd says so in one line and runs without. Control side.
 */
void operate_init(struct daemon *d);

/** Answer what has come, send what has room. Control thread; @p seconds since the start. */
void operate_maintain(struct daemon *d, double seconds);

/** Tell all who are connected that the run ends, and take the socket away. */
void operate_fini(const struct daemon *d);

/** Whose a connection is, and what it is sent without a request for each line. */
struct operate_streams {
	int pid; /* of its process; 0: not of this machine's, or not known */
	bool follows; /* events */
	struct trace_run *trace; /* NULL: none */
	uint64_t reload; /* that it waits for (update_ask_reload()); 0: none */
	json_t *reload_id; /* of its request; NULL: it has none */
};

/**
 * Execute one request. Control thread.
 *
 * @param streams  of the connection; what the request begins or ends
 * @return the answer, a new object; NULL: it comes by operate_reloaded()
 */
json_t *operate_answer(struct daemon *d, double seconds, const char *line, size_t len,
	struct operate_streams *streams);

/** The answer to a connection that waits for a reload, a new object; NULL: it is not over. */
json_t *operate_reloaded(const struct daemon *d, struct operate_streams *streams);

/** The line of a request whose key has a wrong value, or lacks. */
void operate_refuse_key(
	const json_t *request, const char *key, const char *expected, char *err, size_t err_len);

#endif /* OPERATE_H */
