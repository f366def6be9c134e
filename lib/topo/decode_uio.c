/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The keys of UIO, and of windows to the memory that hosts offer; uio.c checks what they say. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo_keys.h"
#include "weft_words.h"

#define MAX_MEMORY (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2)
#define MAX_LINES (1u << 24)
#define MAX_REQUESTS (UINT64_C(1) << 48)
#define MAX_OUTSTANDING 1024 /* tags of a requester */

static const struct topo_key uio_keys[UIO_KEYS] = {
	[UIO_REQUESTS] = NUMBER(
		"requests", OPTIONAL, struct topo_node_src, out.uio.requests, 0, MAX_REQUESTS),
	[UIO_OUTSTANDING] = NUMBER("outstanding", OPTIONAL, struct topo_node_src,
		out.uio.outstanding, 1, MAX_OUTSTANDING),
	[UIO_WRITE_PERCENT] = NUMBER(
		"write_percent", OPTIONAL, struct topo_node_src, out.uio.write_percent, 0, 100),
	[UIO_LINES] = NUMBER("lines", OPTIONAL, struct topo_node_src, out.uio.lines, 4, MAX_LINES),
	[UIO_BYTES] = NUMBER(
		"bytes", OPTIONAL, struct topo_node_src, out.uio.bytes, 64, WEFT_TOPO_UIO_UNIT),
	[UIO_PREFIX] =
		WORD("prefix", OPTIONAL, struct topo_node_src, out.uio.prefix, weft_bool_words),
	[UIO_SEED] = NUMBER("seed", OPTIONAL, struct topo_node_src, out.uio.seed, 0, UINT64_MAX),
	[UIO_TIMEOUT_MS] =
		NUMBER("timeout_ms", OPTIONAL, struct topo_node_src, out.uio.timeout_ms, 1, 60000),
	[UIO_RATE] =
		NUMBER("rate", OPTIONAL, struct topo_node_src, out.uio.rate, 0, WEFT_TOPO_RATE_MAX),
};

int
topo_read_uio(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_node_src *src = base;

	(void)k;
	src->out.has_uio = true;
	src->out.uio = (struct weft_topo_uio){
		.requests = 100000,
		.seed = 1,
		.lines = 4096,
		.outstanding = 64,
		.timeout_ms = WEFT_TOPO_TIMEOUT_MS,
		.bytes = WEFT_TOPO_UIO_UNIT,
		.write_percent = 50,
	};
	return topo_decode_map(l, v, uio_keys, UIO_KEYS, src, src->uio_at);
}

static const struct topo_key window_keys[WINDOW_KEYS] = {
	[WINDOW_NODES] =
		NAMES("nodes", REQUIRED, struct topo_window_src, nodes, 0, WEFT_TOPO_NODES),
	[WINDOW_BASE] = SIZE("base", OPTIONAL, struct topo_window_src, out.base, 0, MAX_MEMORY),
	[WINDOW_SIZE] = SIZE(
		"size", OPTIONAL, struct topo_window_src, out.size, WEFT_TOPO_BLOCK, MAX_MEMORY),
};

static int
read_window(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_window_src *src = &l->window[l->t.n_windows++];

	(void)index;
	src->line = v->line;
	return topo_decode_map(l, v, window_keys, WINDOW_KEYS, src, src->at);
}

int
topo_read_windows(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_node_src *src = base;
	int rc = topo_check_list(l, v, WEFT_TOPO_WINDOWS);
	struct topo_window_src *more;

	(void)k;
	if (rc < 0)
		return rc;
	more = realloc(l->window, ((size_t)l->t.n_windows + v->count) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	memset(more + l->t.n_windows, 0, v->count * sizeof(*more));
	l->window = more;
	src->out.first_window = l->t.n_windows;
	src->out.n_windows = (uint16_t)v->count;
	return topo_decode_list(l, v, read_window);
}
