/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

#include "keys.h"

#include "cli.h"

struct weft_keys *
keys_read(const char *path)
{
	char err[512];
	struct weft_keys *keys = weft_keys_load(path, err, sizeof(err));

	if (keys == NULL)
		cli_fail("%s", err);
	if (weft_keys_is_exposed(keys))
		cli_warn("key file %s: others may read it; chmod 600 keeps it secret", path);
	return keys;
}
