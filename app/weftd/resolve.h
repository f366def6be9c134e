/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Where an address goes, of a fabric that runs: --resolve for those who ask a daemon. */
#ifndef RESOLVE_H
#define RESOLVE_H

#include <stddef.h>

#include <jansson.h>

#include "weft_topo.h"

/**
 * What --resolve writes as JSON, of a topology in force; "text": the rule in words; "note" where
 * a fabric manager may have decided otherwise. What comes from outside (a node, an address, mem or
 * uio) may be NULL. Control side.
 *
 * @return to be released by the caller; NULL with a line in @p err, which repeats none of it
 */
json_t *resolve_json(const struct weft_topo *t, const char *from, const char *hpa, const char *kind,
	char *err, size_t err_len);

struct run_options;

/** Answer --resolve, as text or, with @p json, as JSON. Ends the program if it cannot. */
void resolve_print(const struct run_options *run, const char *json);

#endif /* RESOLVE_H */
