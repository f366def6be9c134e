/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every frame that a node takes from a link, written to a pcap as it comes, and how many a reader
 * of that file has to find.
 */

#include "capture.h"

#include <stdlib.h>

#include "cli.h"
#include "trace.h"
#include "weft_wire.h"

struct capture {
	struct trace_writer *out;
	struct capture_counts count;
};

struct capture *
capture_open(const char *path, char *err, size_t err_len)
{
	struct capture *c = calloc(1, sizeof(*c));

	if (c == NULL)
		cli_fail("out of memory");
	c->out = trace_create(path, TRACE_LINK_ETHERNET, err, err_len);
	if (c->out != NULL)
		return c;
	free(c);
	return NULL;
}

void
capture_add(struct capture *c, uint64_t time_ns, const uint8_t *frame, uint32_t len)
{
	struct weft_wire_hdr h;

	trace_write(c->out, time_ns, frame, len);
	if (weft_wire_parse(frame, len, &h) != WEFT_OK) {
		c->count.refused++;
	} else if (h.kind == WEFT_WIRE_CONTROL) {
		c->count.control++;
	} else {
		c->count.frames++;
		c->count.flits += h.n_flits;
	}
}

int
capture_close(struct capture *c, struct capture_counts *count)
{
	const int rc = trace_finish(c->out);

	*count = c->count;
	free(c);
	return rc;
}
