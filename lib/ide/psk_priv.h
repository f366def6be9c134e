/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The text of a key file, apart from the file. */
#ifndef PSK_PRIV_H
#define PSK_PRIV_H

#include "weft_secret.h"

/* False: not 64 hex digits and nothing else beside comments and white space. Keeps no copy. */
bool psk_decode(const char *text, size_t len, uint8_t key[WEFT_PSK_LEN]);

#endif /* PSK_PRIV_H */
