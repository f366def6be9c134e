/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A word is found whole or not at all, and every value has something to be called. */

#include "weft_test.h"

#include "weft_words.h"

WEFT_TEST(words_and_values_lead_to_each_other)
{
	for (unsigned int v = 0; v < 2; v++) {
		assert_int_equal(
			weft_words_find(weft_bool_words, weft_words_name(weft_bool_words, v)), v);
		assert_int_equal(
			weft_words_find(weft_switch_words, weft_words_name(weft_switch_words, v)),
			v);
	}
	assert_string_equal(weft_words_name(weft_switch_words, 1), "on");
	assert_string_equal(weft_words_name(weft_bool_words, 1), "true");
}

WEFT_TEST(what_is_no_word_is_none_of_them)
{
	static const char *const bad[] = { "", "o", "onn", "On", " on", "true" };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_int_equal(weft_words_find(weft_switch_words, bad[i]), -1);
	assert_string_equal(weft_words_name(weft_switch_words, 2), "unknown");
	assert_string_equal(weft_words_name(weft_switch_words, 255), "unknown");
}
