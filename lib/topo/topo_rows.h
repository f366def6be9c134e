/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * How the rows of a keys.def become tables, for the one file of a library that includes it. That
 * file says which struct reads (TOPO_READER, begins with a struct topo_load), the name of its table
 * of mappings (TOPO_TABLE), and what kinds IN() means.
 */
#ifndef TOPO_ROWS_H
#define TOPO_ROWS_H

#include "topo_priv.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define NAME_CHARS LOWER DIGITS "_-"
#define HOST_CHARS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "._-"

/* clang-format off */
#define FIELD(s, fn, first, last) .read = (fn), .offset = offsetof(s##_struct, first), \
	.width = offsetof(s##_struct, last) + sizeof(((s##_struct *)NULL)->last) - \
		offsetof(s##_struct, first)
#define NUMBER_OF(s, member, low, high, steps) \
	FIELD(s, topo_read_number, member, member), .min = (low), .max = (high), .step = (steps)
#define NUMBER(s, member, low, high) NUMBER_OF(s, member, low, high, 1)
#define SIZE_OF(s, member, low, high, steps) \
	FIELD(s, topo_read_size, member, member), .min = (low), .max = (high), .step = (steps)
#define SIZE(s, member, low, high) SIZE_OF(s, member, low, high, 1)
#define WORD_TO(s, member, list, last) WORD(s, member, list), .max = (last)
#define WORD(s, member, list) FIELD(s, topo_read_word, member, member), .words = (list)
#define TEXT(s, member, chars) FIELD(s, topo_read_text, member, member), .min = 1, \
	.max = sizeof(((s##_struct *)NULL)->member) - 1, .allowed = (chars)
#define NAMES(s, member, low, high) \
	FIELD(s, topo_read_names, member, member), .min = (low), .max = (high)
#define OWN(s, fn, first, last) FIELD(s, fn, first, last)
#define MAP(s, sub) .read = topo_read_map, .section = &TOPO_TABLE[SECTION_##sub]
#define MAP_AT(s, member, sub) \
	FIELD(s, topo_read_map, member, member), .section = &TOPO_TABLE[SECTION_##sub]
#define LIST(s, member, sub, high) \
	FIELD(s, topo_read_list, member, member), .max = (high), \
	.section = &TOPO_TABLE[SECTION_##sub]

/* In the order of the enum, which has the mapping itself first. */
#define SECTION(s, type) typedef type s##_struct; \
	static const struct topo_key s##_keys[] = { { .name = NULL },
#define KEY(s, id, word, type, how, value, what, why) { .name = (word), type, \
	.flags = (how), .usual = (value), .form = (what), .help = (why) },
#define END(s) };
#define ROWS(s, title, lines) .name = (title), .key = s##_keys, .n = s##_KEYS, \
	.line_of = offsetof(s##_struct, lines)
#define ITEMS(s, where, in_all) .size = sizeof(s##_struct), \
	.items = offsetof(TOPO_READER, where), .most = (in_all), \
	.count = offsetof(TOPO_READER, n[SECTION_##s])
#define KINDS(s, member, list) .kind = offsetof(s##_struct, member), .kinds = (list)
/* clang-format on */

#endif /* TOPO_ROWS_H */
