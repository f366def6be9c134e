/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What became of a packet: WEFT_OK, or the reason it was dropped. A bad packet is a verdict, never
 * an errno. Adding a reason is one line in verdict.def.
 */
#ifndef WEFT_VERDICT_H
#define WEFT_VERDICT_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

enum weft_verdict {
	WEFT_OK,
#define WEFT_VERDICT(id, name, help) WEFT_DROP_##id,
#include "verdict.def"
#undef WEFT_VERDICT
	WEFT_VERDICT_COUNT
};

/**
 * Counter name of a verdict, such as "header_check"; "ok" for WEFT_OK, "unknown" out of range.
 * The string is constant. Any thread.
 */
const char *weft_verdict_name(enum weft_verdict v);

/** The same by a table, for who knows that the verdict is one. */
extern const char *const weft_verdict_names[WEFT_VERDICT_COUNT];

/** One line for people on what the verdict means. The string is constant. Any thread. */
const char *weft_verdict_help(enum weft_verdict v);

WEFT_END_DECLS

#endif /* WEFT_VERDICT_H */
