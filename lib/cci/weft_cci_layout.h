/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Layouts of CCI payloads for programs that treat all alike: decoders, scripts, tests. Rows are
 * made of the same table as the codecs and lead to these. Constant, any thread.
 */
#ifndef WEFT_CCI_LAYOUT_H
#define WEFT_CCI_LAYOUT_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** Room for any struct of weft_cci_payload.h, to be aligned as uint64_t. */
#define WEFT_CCI_STRUCT_MAX 256

enum weft_cci_field_kind {
	WEFT_CCI_FIELD_NUMBER, /**< uint8_t to uint64_t */
	WEFT_CCI_FIELD_BYTES, /**< uint8_t[size] */
	WEFT_CCI_FIELD_WORDS, /**< n numbers */
	WEFT_CCI_FIELD_LIST, /**< const uint8_t *: elements of `size` bytes in wire form */
	WEFT_CCI_FIELD_DATA, /**< const uint8_t *: bytes */
};

struct weft_cci_layout;

/** A member of a struct and the field that it stands for. */
struct weft_cci_field {
	const char *name; /**< as in fabric.md 4.6 */
	enum weft_cci_field_kind kind;
	uint16_t size; /**< bytes on the wire: of all, or of a word or element */
	uint16_t n; /**< words */
	uint16_t at; /**< offset of the member */
	uint8_t width; /**< bytes of the member, of numbers and words */
	uint8_t count_width; /**< of the member that counts a list's elements */
	uint16_t count_at;
	bool is_counted; /**< the count is a field too; else it follows from the length */
	const struct weft_cci_layout *entry; /**< of a list; NULL: it is of numbers */
	/** What it may be, where 0 is an action or an object and no default; NULL: 0 will do */
	const char *must;
};

/** A payload or an entry of a list. */
struct weft_cci_layout {
	const char *name; /**< of the struct, without weft_cci_ */
	const struct weft_cci_field *fields; /**< in wire order, without reserved ones */
	unsigned int n_fields;
	uint16_t len; /**< bytes of all but the list */
	uint16_t min; /**< bytes of the shortest request that is taken, else len */
	int (*get)(void *p, const uint8_t *b, size_t len); /**< weft_cci_get_<name>() */
	int (*put)(uint8_t *b, size_t room, const void *p); /**< weft_cci_put_<name>() */
};

/** A command; a side without payload is NULL. */
struct weft_cci_command_layout {
	uint16_t opcode;
	const char *key; /**< as in enum weft_cci_opcode, in small letters */
	const char *name; /**< as in the specification */
	const struct weft_cci_layout *req, *rsp;
};

/** All commands, by rising opcode. */
extern const struct weft_cci_command_layout weft_cci_commands[];
extern const unsigned int weft_cci_n_commands;

/** What lists consist of, and what stands for itself (event record, Link Partner Info VDM). */
extern const struct weft_cci_layout *const weft_cci_entries[];
extern const unsigned int weft_cci_n_entries;

/** The row of an opcode, NULL if it has none. */
const struct weft_cci_command_layout *weft_cci_find_command(uint16_t opcode);

WEFT_END_DECLS

#endif /* WEFT_CCI_LAYOUT_H */
