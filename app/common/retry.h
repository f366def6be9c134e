/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a topology says of retry, for the programs that run retry layers. */
#ifndef RETRY_H
#define RETRY_H

#include "weft_llr.h"
#include "weft_topo.h"

/**
 * Let a topology's `retry` overrule @p c, which is valid and stays so. What the topology does not
 * give stays, but for an Rx buffer that would be larger than the window or has no use any more.
 */
void retry_from_topo(struct weft_llr_cfg *c, const struct weft_topo_retry *r);

#endif /* RETRY_H */
