/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Shared by the files of the signature library. */
#ifndef WEFT_SIG_PRIV_H
#define WEFT_SIG_PRIV_H

#include "weft_base.h"
#include "weft_sig.h"

#define SIG_ESCAPE_APP 0xFFFFu
#define SIG_ESCAPE_REF 0xFFFFFFFFu

/** Check attributes and make them ready. 0 or -EINVAL; @p c is touched only if 0. */
int sig_attr_resolve(struct weft_sig_config *c, const struct weft_sig_attr *attr);

/** Keep an error in a key that has none. */
void sig_key_latch(struct weft_sig_key *key, const struct weft_sig_error *err);

void sig_counters_add(struct weft_sig_counters *into, const struct weft_sig_counters *from);

/* The kernels, by enum weft_sig_sum_kind. */
extern const weft_sig_sum_fn sig_scalar_sum[WEFT_SIG_SUMS];
extern const weft_sig_copy_fn sig_scalar_copy[WEFT_SIG_SUMS];

#endif /* WEFT_SIG_PRIV_H */
