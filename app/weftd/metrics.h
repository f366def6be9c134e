/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Everything that a daemon counts, as metrics for Prometheus. */
#ifndef METRICS_H
#define METRICS_H

#include "daemon.h"

/**
 * The metrics of now, in OpenMetrics' text form or, if not @p is_open, in Prometheus' own, which
 * differ in the names of families and the last line. Made from the lists of counters. Control side.
 *
 * @param len  receives its bytes
 * @return text to be freed, or NULL: out of memory
 */
char *metrics_text(const struct daemon *d, double seconds, bool is_open, size_t *len);

#endif /* METRICS_H */
