/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Records of link control frames. One row a record: its length, its range and the field it fills,
 * so that parser and builder cannot disagree.
 */

#include "weft_control.h"

#include "weft_base.h"
#include "weft_wire.h"

struct record {
	uint8_t type;
	uint8_t len; /* bytes of the value */
	uint16_t least; /* of the number; not for the node id */
	uint16_t most;
	uint8_t off; /* of the field in struct weft_control */
};

#define RECORD(type, len, least, most, field)                                                      \
	{                                                                                          \
		type, len, least, most, offsetof(struct weft_control, field)                       \
	}

enum { RECORD_NODE = 9 };

static const struct record records[] = {
	RECORD(1, 1, WEFT_CONTROL_HELLO, WEFT_CONTROL_GOODBYE, type),
	RECORD(2, 1, 0, 255, version),
	RECORD(3, 1, WEFT_MODE_CXL, WEFT_MODE_RXL, mode),
	RECORD(4, 1, 1, WEFT_WIRE_FLITS_MAX, max_flits),
	RECORD(5, 1, 0, 1, crc_order),
	RECORD(6, 1, 0, 2, isn_form),
	RECORD(7, 1, 0, 2, ide_mode),
	RECORD(8, 2, 0, UINT16_MAX, port),
	RECORD(RECORD_NODE, WEFT_NODE_ID_LEN, 0, 0, node),
	RECORD(10, 2, 0, UINT16_MAX, credits),
	RECORD(11, 1, WEFT_PARAM_NONE, WEFT_PARAM_COUNT - 1, differs),
};

#define ALL_RECORDS ((1u << WEFT_ARRAY_SIZE(records)) - 1)

static int
record_find(uint8_t type)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(records); i++)
		if (records[i].type == type)
			return (int)i;
	return -1;
}

static bool
record_get(const struct record *r, const uint8_t *value, struct weft_control *c)
{
	uint8_t *field = (uint8_t *)c + r->off;
	uint16_t number;

	if (r->type == RECORD_NODE) {
		memcpy(field, value, WEFT_NODE_ID_LEN);
		return true;
	}
	number = r->len == 1 ? value[0] : weft_get_be16(value);
	if (number < r->least || number > r->most)
		return false;
	if (r->len == 1)
		*field = (uint8_t)number;
	else
		memcpy(field, &number, sizeof(number));
	return true;
}

enum weft_verdict
weft_control_parse(const uint8_t *rec, size_t len, struct weft_control *c)
{
	unsigned int seen = 0;
	size_t at = 0;

	memset(c, 0, sizeof(*c));
	/* Type 0 is the padding behind the last record. */
	while (at < len && rec[at] != 0) {
		size_t value_len;
		int i;

		if (len - at < 2)
			return WEFT_DROP_BAD_CONTROL;
		value_len = rec[at + 1];
		if (len - at - 2 < value_len)
			return WEFT_DROP_BAD_CONTROL;
		i = record_find(rec[at]);
		if (i >= 0) {
			if ((seen & 1u << i) || value_len != records[i].len ||
				!record_get(&records[i], rec + at + 2, c))
				return WEFT_DROP_BAD_CONTROL;
			seen |= 1u << i;
		}
		at += 2 + value_len;
	}
	for (; at < len; at++)
		if (rec[at] != 0)
			return WEFT_DROP_BAD_CONTROL;
	return seen == ALL_RECORDS ? WEFT_OK : WEFT_DROP_BAD_CONTROL;
}

size_t
weft_control_build(uint8_t *rec, const struct weft_control *c)
{
	size_t at = 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(records); i++) {
		const struct record *r = &records[i];
		const uint8_t *field = (const uint8_t *)c + r->off;
		uint16_t number = 0;

		rec[at] = r->type;
		rec[at + 1] = r->len;
		if (r->type == RECORD_NODE) {
			memcpy(rec + at + 2, field, WEFT_NODE_ID_LEN);
		} else if (r->len == 1) {
			number = *field;
			rec[at + 2] = *field;
		} else {
			memcpy(&number, field, sizeof(number));
			weft_put_be16(rec + at + 2, number);
		}
		assert(number >= r->least && (number <= r->most || r->type == RECORD_NODE));
		at += 2 + (size_t)r->len;
	}
	assert(at <= WEFT_CONTROL_MAX);
	return at;
}

enum weft_control_param
weft_control_compare(const struct weft_control *ours, const struct weft_control *theirs)
{
	if (ours->version != theirs->version)
		return WEFT_PARAM_VERSION;
	if (ours->mode != theirs->mode)
		return WEFT_PARAM_MODE;
	if (ours->crc_order != theirs->crc_order)
		return WEFT_PARAM_CRC_ORDER;
	if (ours->isn_form != theirs->isn_form)
		return WEFT_PARAM_ISN_FORM;
	if (ours->ide_mode != theirs->ide_mode)
		return WEFT_PARAM_IDE_MODE;
	return WEFT_PARAM_NONE;
}

const char *
weft_control_param_name(enum weft_control_param p)
{
	static const char *const names[] = {
		[WEFT_PARAM_NONE] = "nothing",
		[WEFT_PARAM_VERSION] = "frame version",
		[WEFT_PARAM_MODE] = "mode",
		[WEFT_PARAM_CRC_ORDER] = "CRC order",
		[WEFT_PARAM_ISN_FORM] = "ISN form",
		[WEFT_PARAM_IDE_MODE] = "IDE mode",
	};

	return (unsigned int)p < WEFT_ARRAY_SIZE(names) ? names[p] : "unknown";
}

static const char *
control_word(const char *const *words, unsigned int n, unsigned int value)
{
	return value < n ? words[value] : "unknown";
}

const char *
weft_control_param_value(const struct weft_control *c, enum weft_control_param p)
{
	static const char *const versions[] = { "0", "1", "2", "3" };
	static const char *const modes[] = { "cxl", "rxl" };
	static const char *const orders[] = { "r0 first", "r7 first" };
	static const char *const forms[] = { "pseudo", "xor", "none" };
	static const char *const ide[] = { "off", "containment", "skid" };

	switch (p) {
	case WEFT_PARAM_VERSION:
		return control_word(versions, WEFT_ARRAY_SIZE(versions), c->version);
	case WEFT_PARAM_MODE: return control_word(modes, WEFT_ARRAY_SIZE(modes), c->mode);
	case WEFT_PARAM_CRC_ORDER:
		return control_word(orders, WEFT_ARRAY_SIZE(orders), c->crc_order);
	case WEFT_PARAM_ISN_FORM: return control_word(forms, WEFT_ARRAY_SIZE(forms), c->isn_form);
	case WEFT_PARAM_IDE_MODE: return control_word(ide, WEFT_ARRAY_SIZE(ide), c->ide_mode);
	default: return "unknown";
	}
}
