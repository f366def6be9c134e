/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Programs that reach the fabric through a host of a daemon on this machine, by libweft. */
#ifndef REACH_H
#define REACH_H

#include <stdint.h>

#include "weft.h"

/** Rows of options that name the host. CLI_INTO has text for them: `node` and `socket`. */
#define REACH_OPTIONS                                                                              \
	{ CLI_SECTION("Host") },                                                                   \
		{ "node", "NAME", NULL,                                                            \
			"name of the host ($WEFT_SOCKET; else the only one that a daemon of this " \
			"user serves)",                                                            \
			CLI_TEXT(node) },                                                          \
	{                                                                                          \
		"socket", "PATH", NULL, "the host's socket, in place of its name",                 \
			CLI_TEXT(socket)                                                           \
	}

/** cli_usage() if both are given, or if the name is none. Either may be NULL. */
void reach_judge(const char *node, const char *socket);

/**
 * Attach to the host that --node or --socket name, either of which may be NULL.
 *
 * @return as weft_attach(), with weft_error(NULL) for a person
 */
int reach_attach(
	const char *node, const char *socket, const struct weft_attach_opts *opts, struct weft **w);

/**
 * Room for operations that are open together. cli_usage() if a daemon shares less.
 *
 * @param depth  operations, 1 to 4096
 * @param size   bytes of each, 1 or more
 */
struct weft_attach_opts reach_room(uint32_t depth, uint64_t size);

/** What an error of an operation means, and what to do. */
const char *reach_words(int rc);

/** Nanoseconds of a clock that never goes back. */
uint64_t reach_now_ns(void);

#endif /* REACH_H */
