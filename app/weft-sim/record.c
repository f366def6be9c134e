/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The last frames before a violation, as a pcap: a ring of copies. Kept only when a seed is run
 * again because something was wrong with it.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "sim.h"
#include "trace.h"

#define RECORDS 1024

struct record {
	uint64_t time_ns;
	uint32_t len;
	uint8_t *data;
};

struct recorder {
	struct record record[RECORDS];
	uint64_t n;
};

struct recorder *
recorder_new(void)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (r == NULL)
		cli_fail("out of memory");
	return r;
}

void
recorder_add(struct recorder *r, uint64_t time_ns, const struct sim_frame *f)
{
	struct record *at = &r->record[r->n++ % RECORDS];
	uint8_t *data = realloc(at->data, f->len);

	if (data == NULL)
		cli_fail("out of memory");
	memcpy(data, f->data, f->len);
	*at = (struct record){ time_ns, f->len, data };
}

int
recorder_write(struct recorder *r, const char *path, char *err, size_t err_len)
{
	struct trace_writer *w = trace_create(path, TRACE_LINK_ETHERNET, err, err_len);
	uint64_t i = r->n > RECORDS ? r->n - RECORDS : 0;
	int rc;

	if (w == NULL)
		return -EIO;
	for (; i < r->n; i++) {
		const struct record *at = &r->record[i % RECORDS];

		trace_write(w, at->time_ns, at->data, at->len);
	}
	rc = trace_finish(w);
	if (rc != 0)
		snprintf(err, err_len, "%s: could not be written whole: %s", path, strerror(-rc));
	return rc;
}

void
recorder_free(struct recorder *r)
{
	for (unsigned int i = 0; i < RECORDS; i++)
		free(r->record[i].data);
	free(r);
}
