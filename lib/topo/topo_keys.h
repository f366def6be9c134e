/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How rows of the tables of keys are written, in decode.c and decode_space.c. */
#ifndef TOPO_KEYS_H
#define TOPO_KEYS_H

#include "topo_priv.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define NAME_CHARS LOWER DIGITS "_-"
#define HOST_CHARS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "._-"
#define SOCKET_CHARS HOST_CHARS "/@+:~" /* no comma: the path goes into device arguments */

/* One key of a table: word in the file, whether it must be there, and where the value goes. */
#define FIELD(word, need, fn, type, member)                                                        \
	.name = word, .required = need, .read = fn, .offset = offsetof(type, member)
#define WIDTH(type, member) sizeof(((type *)NULL)->member)
#define NUMBER(word, need, type, member, low, high)                                                \
	{                                                                                          \
		FIELD(word, need, topo_read_number, type, member), .width = WIDTH(type, member),   \
								   .min = low, .max = high         \
	}
#define SIZE(word, need, type, member, low, high)                                                  \
	{                                                                                          \
		FIELD(word, need, topo_read_size, type, member), .width = WIDTH(type, member),     \
								 .min = low, .max = high           \
	}
#define WORD(word, need, type, member, list)                                                       \
	{                                                                                          \
		FIELD(word, need, topo_read_word, type, member), .width = WIDTH(type, member),     \
								 .words = list                     \
	}
/* The words up to that of the value @last. */
#define WORD_TO(word, need, type, member, list, last)                                              \
	{                                                                                          \
		FIELD(word, need, topo_read_word, type, member), .width = WIDTH(type, member),     \
								 .words = list, .max = last        \
	}
#define TEXT(word, need, type, member, chars)                                                      \
	{                                                                                          \
		FIELD(word, need, topo_read_text, type, member),                                   \
			.min = 1, .max = WIDTH(type, member) - 1, .allowed = chars                 \
	}
#define OTHER(word, need, fn)                                                                      \
	{                                                                                          \
		.name = word, .required = need, .read = fn                                         \
	}
#define OTHER_AT(word, need, fn, type, member)                                                     \
	{                                                                                          \
		FIELD(word, need, fn, type, member)                                                \
	}
#define NAMES(word, need, type, member, low, high)                                                 \
	{                                                                                          \
		FIELD(word, need, topo_read_names, type, member), .min = low, .max = high          \
	}
#define REQUIRED true
#define OPTIONAL false

#endif /* TOPO_KEYS_H */
