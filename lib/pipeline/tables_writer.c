/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Control side of routing snapshots: RCU with two copies. */

#include "weft_tables_writer.h"

#include <rte_malloc.h>

#include <errno.h>

#include "weft_loop.h"

int
weft_tables_writer_init(struct weft_tables_writer *w, const struct weft_tables_cfg *cfg, int socket)
{
	const size_t size = weft_tables_size(cfg);
	int rc;

	*w = (struct weft_tables_writer){
		.live = rte_malloc_socket("weft_tables", size, WEFT_CACHE_LINE, socket),
		.spare = rte_malloc_socket("weft_tables", size, WEFT_CACHE_LINE, socket),
	};
	rc = w->live == NULL || w->spare == NULL ? -ENOMEM : weft_tables_init(w->live, cfg);
	if (rc != 0) {
		rte_free(w->live);
		rte_free(w->spare);
		return rc;
	}
	weft_tables_publish(&w->slot, w->live);
	return 0;
}

void
weft_tables_writer_fini(struct weft_tables_writer *w)
{
	weft_tables_publish(&w->slot, NULL);
	weft_loop_quiesce();
	rte_free(w->live);
	rte_free(w->spare);
}

struct weft_tables *
weft_tables_begin(struct weft_tables_writer *w)
{
	weft_loop_quiesce();
	weft_tables_copy(w->spare, w->live);
	w->spare->generation++;
	return w->spare;
}

void
weft_tables_commit(struct weft_tables_writer *w)
{
	struct weft_tables *old = w->live;

	weft_tables_publish(&w->slot, w->spare);
	w->live = w->spare;
	w->spare = old;
}
