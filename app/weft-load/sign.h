/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * --kind transfer: data in blocks that carry signatures (weft_sig.h), made before it is written and
 * checked when it was read. One thread.
 */
#ifndef SIGN_H
#define SIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "weft_sig.h"

struct sign;

/**
 * @param d     of the blocks
 * @param size  bytes of data of an operation: whole blocks of @p d
 * @param seed  of the data
 * @return NULL: no memory
 */
struct sign *sign_make(const struct weft_sig_domain *d, uint64_t size, uint64_t seed);

void sign_free(struct sign *s);

/** New data of operation @p number with its signatures; tags count from there. */
void sign_put(struct sign *s, uint64_t number, uint8_t *data);

/**
 * Check what sign_put() made.
 *
 * @param e  receives the first block that is wrong; number and offset in the operation
 * @return whether all are right
 */
bool sign_check(struct sign *s, uint64_t number, const uint8_t *data, struct weft_sig_error *e);

/** Blocks of an operation. */
uint64_t sign_blocks(const struct sign *s);

/** For people: "guard". */
const char *sign_word(enum weft_sig_error_type type);

#endif /* SIGN_H */
