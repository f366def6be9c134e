/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where keys live (reliability.md S11): memory that is never swapped, never in a core dump, and
 * wiped when it is given back; and the pre-shared key, which is read into such memory. Control
 * side.
 */
#ifndef WEFT_SECRET_H
#define WEFT_SECRET_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_PSK_LEN 32

/** What to do where weft_secret_alloc() gives nothing: the end of a line for people. */
#define WEFT_SECRET_ADVICE "raise the limit of locked memory (ulimit -l)"

/**
 * Memory for keys: zeroed, whole pages, locked, left out of core dumps and of forked children.
 *
 * @param len  bytes, 1 or more
 * @return NULL with errno: EAGAIN or ENOMEM past the limit of locked memory (`ulimit -l`), or
 *         EINVAL
 */
void *weft_secret_alloc(size_t len);

/** Wipe and give back. @p len as it was asked for; NULL is allowed. */
void weft_secret_free(void *mem, size_t len);

/**
 * Make this process one that nobody may dump or trace but root. Call once, before a key is read.
 *
 * @return 0 or -errno
 */
int weft_secret_process(void);

/**
 * Fresh random bytes from the kernel; for struct weft_session_keys. Waits on a machine that has
 * just booted until there are some.
 *
 * @param arg  not used
 * @return false: there are none, and @p out is zeroed
 */
bool weft_secret_random(void *arg, uint8_t *out, size_t len);

/** A pre-shared key, the same at all ends of a fabric. Constant: any thread may use it. */
struct weft_psk;

/**
 * Read a key file: text, '#' starts a comment, and 64 hex digits once, not all of them zeros. It
 * must be a plain file (no symbolic link) of the user's own or root's that nobody else may read or
 * write.
 *
 * @param err  receives one line that says what was expected; never a key
 * @return the key; NULL with errno: EACCES (kind of file, owner or mode), EINVAL (content), or the
 *         error of opening it or of locking memory
 */
struct weft_psk *weft_psk_load(const char *path, char *err, size_t err_len);

/**
 * Judge what an open file holds as weft_psk_load() does, without keeping it. Kind, owner and mode
 * are the caller's concern.
 *
 * @param why  receives what was expected, if it is not that; never a key
 * @return 0; -EINVAL: content; or the error of reading or of locking memory
 */
int weft_psk_judge(int fd, char *why, size_t why_len);

/**
 * The key of these bytes, for who has no file, as a simulator has none; the caller wipes them.
 *
 * @return the key; NULL with errno: the error of locking memory
 */
struct weft_psk *weft_psk_of(const uint8_t key[WEFT_PSK_LEN]);

/** Wipe and free. NULL is allowed. */
void weft_psk_free(struct weft_psk *psk);

/** The key's WEFT_PSK_LEN bytes, valid as long as @p psk. For derivation only. */
const uint8_t *weft_psk_bytes(const struct weft_psk *psk);

WEFT_END_DECLS

#endif /* WEFT_SECRET_H */
