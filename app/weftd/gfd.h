/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Memory of GFDs. */
#ifndef GFD_H
#define GFD_H

#include "daemon.h"

struct rte_tel_data;

/* --- memory.c --- */

/** Memory of a node (struct weft_node_world): of huge pages, and near its lcore, for a GFD. */
void *memory_map(void *node, size_t len);
void memory_unmap(void *node, void *mem, size_t len);

/* --- late.c: lines of a GFD that an operator marks as bad --- */

/** Telemetry: mark lines of a GFD that runs here. */
int late_mark_command(struct daemon *d, const char *params, struct rte_tel_data *data);

#endif /* GFD_H */
