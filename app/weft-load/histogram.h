/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A histogram as the text of percentiles that HdrHistogram writes and its plotters read: a line for
 * each step of a percentile, which become finer towards the end, five while what is left halves.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdio.h>

#include "weft_latency.h"

/** Print; values are in microseconds, of ns three decimals. */
void histogram_print(FILE *f, const struct weft_latency *l);

#endif /* HISTOGRAM_H */
