/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a replay found, for people and for programs. */
#ifndef REPORT_H
#define REPORT_H

#include "receiver.h"

/** Write the report as one JSON object to @p path ("-": standard output). 0, or -errno. */
int report_json(const struct receiver *r, bool truncated, double seconds, const char *path);

/** Print it as text on standard output. */
void report_text(const struct receiver *r, bool truncated, double seconds);

#endif /* REPORT_H */
