/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Domains as words of a command line, such as crc32c:512 or dif:4096,guard=crc,bg=ffff,app=1,ref=0. */
#ifndef SPEC_H
#define SPEC_H

#include "weft_sig.h"

/* A domain and what it points to. */
struct spec {
	struct weft_sig_domain domain;
	struct weft_sig_crc crc;
	struct weft_sig_t10dif dif;
};

/** Print "weft-sig: ..." on stderr, end of line included, and exit with 2: a bad argument. */
void bad_argument(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** Hex number of at most @p most, with or without 0x; bad_argument() otherwise. */
uint64_t spec_hex(const char *option, const char *text, uint64_t most);

/** Read @p text, which is changed. @return &s->domain, or NULL for "none" */
const struct weft_sig_domain *spec_parse(const char *option, char *text, struct spec *s);

#endif /* SPEC_H */
