/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Text that grows in a room, shared by what prints payloads and what explains them. */
#ifndef TEXT_PRIV_H
#define TEXT_PRIV_H

#include "weft_cci_text.h"

struct text_out {
	char *text;
	size_t room, len;
	bool is_full; /* something did not fit; the text ends where the room does */
};

__attribute__((format(printf, 2, 3))) void text_add(struct text_out *o, const char *fmt, ...);

#endif /* TEXT_PRIV_H */
