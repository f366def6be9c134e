/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Words of enums. */

#include "weft_words.h"

const char *const weft_bool_words[] = { "false", "true", NULL };
const char *const weft_switch_words[] = { "off", "on", NULL };

int
weft_words_find(const char *const *words, const char *text)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

const char *
weft_words_name(const char *const *words, unsigned int value)
{
	for (unsigned int i = 0; words[i] != NULL; i++)
		if (i == value)
			return words[i];
	return "unknown";
}
