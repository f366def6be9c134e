/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CCI payloads as a line of text: name=value with a space between, in the order of the layout.
 * Numbers are decimal, and read in hexadecimal too (0x); 16 bytes and more, and lists of bytes,
 * are hex digits; a list is [1,2,...] of numbers or [a:b:c,...] of entries, by the order of their
 * fields. Reserved bytes have no name. Pure functions, any thread.
 */
#ifndef WEFT_CCI_TEXT_H
#define WEFT_CCI_TEXT_H

#include "weft_base.h"

#include "weft_cci_layout.h"

WEFT_BEGIN_DECLS

/** Room for the text of any payload of WEFT_CCI_MAX_PAYLOAD bytes. */
#define WEFT_CCI_TEXT_MAX 8192

/**
 * Text of the @p len bytes at @p b, whose layout is @p layout, NULL for a side without payload.
 * @return 0; -EMSGSIZE, -EINVAL: as the codecs; -ENOBUFS: @p room bytes are too few. @p text ends
 * with a NUL in any case, @p room being at least 1
 */
int weft_cci_print_payload(char *text, size_t room, const struct weft_cci_layout *layout,
	const uint8_t *b, size_t len);

/**
 * Payload of @p text, at @p b. What is not named is 0, the count of a list that is named its
 * length.
 * @return bytes; -EINVAL: a name or value is not understood or too large, or comes twice, or a
 * count is not that of its list; -ENOBUFS: they are more than @p room or WEFT_CCI_MAX_PAYLOAD
 */
int weft_cci_parse_payload(
	uint8_t *b, size_t room, const struct weft_cci_layout *layout, const char *text);

/**
 * The first field that a request must name and @p text does not, NULL if there is none: left out it
 * would be 0, which is an action or an object. For people: weft_cci_parse_payload() takes such a
 * text.
 */
const struct weft_cci_field *weft_cci_missing_field(
	const struct weft_cci_layout *layout, const char *text);

/**
 * Fields of @p layout for people, "drt=N start=N* entry=[N,...]": those with * must be named,
 * others are 0 if they are not. What counts a list is left out.
 */
void weft_cci_print_fields(char *text, size_t room, const struct weft_cci_layout *layout);

/**
 * Why weft_cci_parse_payload() refuses @p text, in @p why: its first field that is wrong, what it
 * may be and what it is.
 * @param layout  NULL: the command takes no fields
 */
void weft_cci_explain_payload(
	char *why, size_t room, const struct weft_cci_layout *layout, const char *text);

WEFT_END_DECLS

#endif /* WEFT_CCI_TEXT_H */
