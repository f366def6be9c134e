/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The words of an enum: an array that stands beside it, in its order, NULL after the last. Options,
 * topology files and reports all take a word from there.
 */
#ifndef WEFT_WORDS_H
#define WEFT_WORDS_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** What stands for false and true in files, and as the value of an option. */
extern const char *const weft_bool_words[], *const weft_switch_words[];

/** Value of the word @p text; -1: it is none of them. Any thread. */
int weft_words_find(const char *const *words, const char *text);

/** The word of @p value; "unknown" if it has none. Any thread. */
const char *weft_words_name(const char *const *words, unsigned int value);

WEFT_END_DECLS

#endif /* WEFT_WORDS_H */
