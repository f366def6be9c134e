/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Keys of --key-file. */
#ifndef KEYS_H
#define KEYS_H

#include "weft_keys.h"

/**
 * Read a file of keys, with a warning if others may read it as well; cli_fail() if that does not
 * work.
 *
 * @return the caller's, for weft_keys_free()
 */
struct weft_keys *keys_read(const char *path);

#endif /* KEYS_H */
