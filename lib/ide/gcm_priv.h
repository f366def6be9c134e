/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * AES-256-GCM as an epoch needs it: the key stream piece by piece while flits pass, the tag over
 * the whole epoch at its end. gcm.c implements it on intel-ipsec-mb.
 */
#ifndef WEFT_IDE_GCM_PRIV_H
#define WEFT_IDE_GCM_PRIV_H

#include "weft_ide.h"

#define IDE_IV_LEN 12
#define IDE_TAG_LEN 16

/* Expanded key and place in the key stream. Holds key material. 64-byte aligned. */
struct ide_gcm;

size_t ide_gcm_size(void);

void ide_gcm_init(struct ide_gcm *g, const struct weft_ide_lib *lib, const uint8_t *key);

/* The AES-256 key schedule: 15 round keys of 16 bytes, in the order of encryption. */
const uint8_t *ide_gcm_schedule(const struct ide_gcm *g);

/* The kernel for epochs in one pass, or NULL. */
struct ide_pass_kernel;
const struct ide_pass_kernel *ide_lib_pass(const struct weft_ide_lib *lib);

/* Go to the start of the key stream that @p iv gives. */
void ide_gcm_start(struct ide_gcm *g, const uint8_t *iv);

/* dst = src XOR the next @p len bytes of key stream. dst may be src. */
void ide_gcm_xor(struct ide_gcm *g, uint8_t *dst, const uint8_t *src, size_t len);

/*
 * Tag over @p aad and @p text, the plaintext, which is replaced by its ciphertext. Loses the place
 * in the key stream.
 */
void ide_gcm_tag(struct ide_gcm *g, const uint8_t *iv, const uint8_t *aad, size_t aad_len,
	uint8_t *text, size_t len, uint8_t *tag);

#endif /* WEFT_IDE_GCM_PRIV_H */
