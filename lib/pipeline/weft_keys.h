/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The key file of traces: text, '#' starts a comment, one key a line, numbers in hex without 0x:
 *
 * rxl SPID DPID VC SESSION KEY
 * cxl SOURCE-MAC KEY
 *
 * KEY is 64 hex digits. Each further line of the same stream is its next key, taken at an
 * IDE.Start. Keys are held in locked memory that is left out of core dumps.
 */
#ifndef WEFT_KEYS_H
#define WEFT_KEYS_H

#include "weft_base.h"
#include "weft_conn.h"

WEFT_BEGIN_DECLS

#define WEFT_KEYS_MAX 16384

struct weft_keys;

/**
 * Load a key file.
 *
 * @param err  receives one line: file, line, what was expected; never a key
 * @return the keys; NULL with errno: EINVAL (content, or past the limit of locked memory), ENOMEM,
 *         or the error of opening it
 */
struct weft_keys *weft_keys_load(const char *path, char *err, size_t err_len);

/** Wipe and free. NULL is allowed. */
void weft_keys_free(struct weft_keys *k);

/**
 * Key of a direction, WEFT_IDE_KEY_LEN bytes that live as long as @p k: its first (@p i 0), or one
 * that follows. NULL if there are not as many.
 */
const uint8_t *weft_keys_find(
	const struct weft_keys *k, const struct weft_conn_key *conn, unsigned int i);

/** Whether others than the file's owner may read it. */
bool weft_keys_is_exposed(const struct weft_keys *k);

WEFT_END_DECLS

#endif /* WEFT_KEYS_H */
