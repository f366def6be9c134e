/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Late poison of a GFD: a share of its reads by `late_poison` of the topology, and lines that an
 * operator marks by telemetry. Marks are handed to the thread that serves the GFD through a small
 * queue: one writer at a time (telemetry takes one command at a time), one reader.
 */

#include "daemon.h"

#include "weft_line.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#define MARKS 64 /* that may wait; a power of two */

struct mark {
	uint64_t offset;
	uint64_t lines;
};

struct late {
	_Atomic uint32_t put, taken;
	struct mark mark[MARKS];
	uint64_t *line; /* the GFD's map of marked lines */
};

int
late_init(struct node *n)
{
	n->late = calloc(1, sizeof(*n->late));
	if (n->late == NULL)
		return -ENOMEM;
	n->late->line = calloc(1, weft_gfd_poison_size(n->memory_len));
	if (n->late->line == NULL)
		return -ENOMEM;
	return weft_gfd_set_late(
		&n->gfd, n->topo->late_poison, n->topo->late_poison_seed, n->late->line);
}

void
late_fini(struct node *n)
{
	if (n->late != NULL)
		free(n->late->line);
	free(n->late);
	n->late = NULL;
}

void
late_poll(struct node *n)
{
	struct late *l = n->late;
	uint32_t taken = atomic_load_explicit(&l->taken, memory_order_relaxed);

	if (taken == atomic_load_explicit(&l->put, memory_order_acquire))
		return;
	/* One a turn: marking many lines takes its time. It was checked before it was put here. */
	weft_gfd_mark_late(&n->gfd, l->mark[taken % MARKS].offset, l->mark[taken % MARKS].lines);
	atomic_store_explicit(&l->taken, taken + 1, memory_order_release);
}

static int
late_mark(struct node *n, uint64_t offset, uint64_t lines)
{
	struct late *l = n->late;
	const uint32_t put = atomic_load_explicit(&l->put, memory_order_relaxed);

	if (lines == 0 || offset >= n->memory_len ||
		lines > n->memory_len / WEFT_LINE_LEN - offset / WEFT_LINE_LEN)
		return -ERANGE;
	if (put - atomic_load_explicit(&l->taken, memory_order_acquire) == MARKS)
		return -EAGAIN;
	l->mark[put % MARKS] = (struct mark){ offset, lines };
	atomic_store_explicit(&l->put, put + 1, memory_order_release);
	return 0;
}

int
late_tell(struct daemon *d, const char *params, struct rte_tel_data *data)
{
	char name[WEFT_TOPO_NAME_ROOM], text[160];
	struct words_lines l;
	struct node *n = NULL;
	int rc;

	if (!words_lines(params, &l) || l.len >= sizeof(name))
		return rte_tel_data_string(data,
			"error: expected GFD,OFFSET or GFD,OFFSET,LINES, such as g0,0x1000,16");
	memcpy(name, l.name, l.len);
	name[l.len] = '\0';
	for (uint16_t i = 0; i < d->n_nodes; i++)
		if (d->node[i].late != NULL && strcmp(d->node[i].topo->name, name) == 0)
			n = &d->node[i];
	if (n == NULL) {
		snprintf(text, sizeof(text), "error: no GFD %.40s runs here", name);
		return rte_tel_data_string(data, text);
	}
	rc = late_mark(n, l.offset, l.n);
	if (rc == -ERANGE)
		snprintf(text, sizeof(text),
			"error: expected lines within the memory of %s, %zu bytes, got offset "
			"0x%" PRIx64 ", %" PRIu64 " lines",
			name, n->memory_len, l.offset, l.n);
	else if (rc != 0)
		snprintf(text, sizeof(text), "error: %d marks of %s wait: try again", MARKS, name);
	else
		snprintf(text, sizeof(text), "marked %" PRIu64 " lines of %s from 0x%" PRIx64, l.n,
			name, l.offset & ~(uint64_t)(WEFT_LINE_LEN - 1));
	return rte_tel_data_string(data, text);
}
