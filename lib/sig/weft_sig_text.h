/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Domains as words of command lines and files: none, crc32c:512,
 * dif:4096,guard=crc,bg=ffff,app=1,ref=0,remap (doc/signature.md). Any thread.
 */
#ifndef WEFT_SIG_TEXT_H
#define WEFT_SIG_TEXT_H

#include "weft_base.h"
#include "weft_sig.h"

WEFT_BEGIN_DECLS

#define WEFT_SIG_TEXT_ROOM 128 /**< the longest text of a domain, and its end */

/** A domain and what it points to; not to be copied. */
struct weft_sig_text {
	struct weft_sig_domain domain;
	struct weft_sig_crc crc;
	struct weft_sig_t10dif dif;
};

/**
 * Read a domain.
 *
 * @param text  not changed, not kept
 * @param d     receives &s->domain, or NULL for "none"
 * @param err   receives what was expected and what was found; written on error only
 * @return 0, or -EINVAL
 */
int weft_sig_text_parse(struct weft_sig_text *s, const char *text, const struct weft_sig_domain **d,
	char *err, size_t err_len);

/**
 * Read a hex number, with or without 0x; no sign, no blanks.
 *
 * @return 0, or -EINVAL if it is none or above @p most
 */
int weft_sig_text_hex(const char *text, uint64_t most, uint64_t *v);

/**
 * Bytes of @p data_len bytes of data in domain @p d, signatures included.
 *
 * @param d    NULL: no signature; else one that weft_sig_key_set_sig() would take
 * @param len  receives them
 * @return 0, or -EINVAL if the data is not whole blocks, or they are 2^64 or more
 */
int weft_sig_domain_len(const struct weft_sig_domain *d, uint64_t data_len, uint64_t *len);

WEFT_END_DECLS

#endif /* WEFT_SIG_TEXT_H */
