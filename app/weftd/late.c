/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Late poison that operators ask for: lines marked by telemetry, and what is injected. */

#include "gfd.h"
#include "inject.h"

#include "weft_line.h"
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <rte_telemetry.h>

/* Telemetry and the control thread: the node takes marks of one at a time. */
static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;

int
late_inject(const struct node *n, struct weft_node_late *l, bool ends)
{
	int rc;

	pthread_mutex_lock(&late_lock);
	rc = ends ? weft_node_late_end(n->node, l) : weft_node_late_begin(n->node, l);
	pthread_mutex_unlock(&late_lock);
	return rc;
}

int
late_mark_command(struct daemon *d, const char *params, struct rte_tel_data *data)
{
	char name[WEFT_TOPO_NAME_ROOM], text[160];
	struct words_lines l;
	struct node *n;
	int rc;

	if (!words_lines(params, &l) || l.len >= sizeof(name))
		return rte_tel_data_string(data,
			"error: expected GFD,OFFSET or GFD,OFFSET,LINES, such as g0,0x1000,16");
	memcpy(name, l.name, l.len);
	name[l.len] = '\0';
	n = node_find(d, name);
	if (n == NULL || n->topo->kind != WEFT_TOPO_GFD) {
		snprintf(text, sizeof(text), "error: no GFD %.40s runs here", name);
		return rte_tel_data_string(data, text);
	}
	pthread_mutex_lock(&late_lock);
	rc = weft_node_mark_late(n->node, l.offset, l.n);
	pthread_mutex_unlock(&late_lock);
	if (rc == -ERANGE)
		snprintf(text, sizeof(text),
			"error: expected lines within the memory of %s, %zu bytes, got offset "
			"0x%" PRIx64 ", %" PRIu64 " lines",
			name, (size_t)n->topo->memory, l.offset, l.n);
	else if (rc != 0)
		snprintf(text, sizeof(text), "error: %d marks of %s wait: try again",
			WEFT_NODE_MARKS, name);
	else
		snprintf(text, sizeof(text), "marked %" PRIu64 " lines of %s from 0x%" PRIx64, l.n,
			name, l.offset & ~(uint64_t)(WEFT_LINE_LEN - 1));
	return rte_tel_data_string(data, text);
}
