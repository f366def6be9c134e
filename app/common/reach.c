/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The way to a host, and words for what fails there. */

#include "reach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"

#define BUFFER_MAX (UINT64_C(64) << 20) /* what a daemon shares */
#define BUFFER_LEAST (UINT64_C(1) << 20)
#define LINE 64 /* bytes of the buffer that each entry has for itself */
#define PAGE 4096 /* longer operations take pages of it */

void
reach_judge(const char *node, const char *socket)
{
	if (node != NULL && socket != NULL)
		cli_usage("expected --node or --socket, got both");
	if (node != NULL && strchr(node, '/') != NULL)
		cli_usage("--node: expected a name, got \"%s\"; --socket takes paths", node);
}

int
reach_attach(
	const char *node, const char *socket, const struct weft_attach_opts *opts, struct weft **w)
{
	const char *host = socket != NULL ? socket : node;
	char here[4096];

	/* To the library what has no slash is a name. */
	if (socket != NULL && strchr(socket, '/') == NULL) {
		snprintf(here, sizeof(here), "./%s", socket);
		host = here;
	}
	return weft_attach(host, opts, w);
}

struct weft_attach_opts
reach_room(uint32_t depth, uint64_t size)
{
	const uint64_t pages = size > LINE ? (size + PAGE - 1) / PAGE : 0;
	struct weft_attach_opts opts = { .size = sizeof(opts), .entries = 256 };

	while (opts.entries < depth)
		opts.entries *= 2;
	opts.buffer = opts.entries * (uint64_t)LINE + (pages * depth + 1) * PAGE;
	if (opts.buffer > BUFFER_MAX)
		cli_usage("--size and --depth: expected operations under way of at most 64M, got "
			  "%" PRIu64 " bytes",
			opts.buffer);
	if (opts.buffer < BUFFER_LEAST)
		opts.buffer = 0;
	return opts;
}

const char *
reach_words(int rc)
{
	switch (rc) {
	case -EIO: return "memory is poisoned (EIO): write these lines whole to mend them";
	case -ENXIO: return "no memory is there (ENXIO): see what the device has in the topology";
	case -EINVAL:
		return "by UIO it would have to begin at a multiple of 4 of the memory (EINVAL): "
		       "name another part of the region";
	case -EACCES:
		return "the fabric does not let this host do that, or not any more (EACCES): see "
		       "its rights in the topology, with management: fm in weftctl fm show memory";
	case -ETIMEDOUT:
		return "the way to the memory was lost (ETIMEDOUT), what was written may or may "
		       "not be there: see the daemon's links, and do it again";
	case -ESTALE:
		return "the memory is another than the one that was opened (ESTALE), its content "
		       "was lost: start again";
	case -ESHUTDOWN:
		return "the daemon left, or detached this client (ESHUTDOWN): start again when it "
		       "runs";
	default: return strerror(-rc);
	}
}

uint64_t
reach_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}
