/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Injectors and their events. */
#ifndef IMPAIR_PRIV_H
#define IMPAIR_PRIV_H

#include "weft_impair.h"

#define IMPAIR_NEVER UINT64_MAX

/* Order is part of what a seed means: each injector has its own generator. */
enum impair_injector {
	IMPAIR_BER,
	IMPAIR_BITS,
	IMPAIR_BURST,
	IMPAIR_CHANNEL,
	IMPAIR_UNCORRECTABLE,
	IMPAIR_FLIT_INJECTORS,
	IMPAIR_DROP = IMPAIR_FLIT_INJECTORS,
	IMPAIR_DUP,
	IMPAIR_REORDER,
	IMPAIR_DELAY,
	IMPAIR_REPLAY,
	IMPAIR_INJECTORS
};

/* Draw the next event at `from` or later. */
void weft_impair_schedule(struct weft_impair_event *e, uint64_t from);

/* Recompute w->flit_event. */
void weft_impair_next_flit(struct weft_impair *w);

#endif /* IMPAIR_PRIV_H */
