/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The yardstick of ide's benchmarks: intel-ipsec-mb's direct AES-256-GCM call on messages that lie
 * contiguous, without flits. No part of IDE uses it.
 */
#ifndef WEFT_IDE_DIRECT_H
#define WEFT_IDE_DIRECT_H

#include "weft_base.h"
#include "weft_ide.h"

WEFT_BEGIN_DECLS

/** A key, and what the call wants besides. One thread. */
struct weft_ide_direct;

/** Bytes of a struct weft_ide_direct; 64-byte aligned. */
size_t weft_ide_direct_size(void);

/** @param key  32 bytes; not kept in this form, but @p d holds key material from now on */
void weft_ide_direct_init(
	struct weft_ide_direct *d, const struct weft_ide_lib *lib, const uint8_t *key);

/** Messages back to back. */
struct weft_ide_messages {
	uint8_t *text; /**< n * len bytes, worked on in place */
	unsigned int n;
	size_t len;
	const uint8_t *aad; /**< the same for each message */
	size_t aad_len;
	/**
	 * n IVs of 12 bytes, written by weft_ide_direct_ivs() well before: one put together right
	 * before its call is still on its way to the cache when the call loads it, and waits.
	 */
	uint8_t (*iv)[16];
	uint8_t (*tag)[16]; /**< n tags, written */
};

/** Write the IVs of counters 1 to n. */
void weft_ide_direct_ivs(const struct weft_ide_messages *m);

/** Encrypt or decrypt; a call of the library for each message. */
void weft_ide_direct_seal(struct weft_ide_direct *d, const struct weft_ide_messages *m);
void weft_ide_direct_open(struct weft_ide_direct *d, const struct weft_ide_messages *m);

WEFT_END_DECLS

#endif /* WEFT_IDE_DIRECT_H */
