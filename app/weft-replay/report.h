/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Report of a replay, for people and for programs. */
#ifndef REPORT_H
#define REPORT_H

#include "receiver.h"

/* How the reading of the trace ended, and how long it took. */
struct report_end {
	bool is_truncated; /* the file ends inside a record */
	bool is_broken; /* it turned to something that is no record */
	bool is_stopped; /* a signal came before its end, or before that of the last loop */
	double seconds;
};

/** Write the report as one JSON object to @p path ("-": standard output). 0, or -errno. */
int report_json(const struct receiver *r, const struct report_end *end, const char *path);

/** Print it as text on standard output. */
void report_text(const struct receiver *r, const struct report_end *end);

#endif /* REPORT_H */
