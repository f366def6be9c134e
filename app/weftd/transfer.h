/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Signed transfers of a host. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "daemon.h"

/** Fill memory of a transfer (struct weft_node_world). */
int transfer_read_file(
	void *node, const char *path, void *to, size_t len, char *err, size_t err_len);

/** Write the files of those that read. 0, or -errno. */
int transfers_save(const struct node *n, char *err, size_t err_len);

json_t *transfers_json(const struct node *n);
void transfers_text(const struct node *n);

/** Those that ended other than their `expect` says, a line each on standard error. */
void transfers_say_faults(const struct node *n);

#endif /* TRANSFER_H */
