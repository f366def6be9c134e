/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Records of link control frames. One row a record: which messages carry it, its length, its range
 * and the field it fills, so that parser and builder cannot disagree.
 */

#include "weft_control.h"

#include "weft_data_crc.h"
#include "weft_flit.h"
#include "weft_isn.h"
#include "weft_wire.h"
#include "weft_words.h"

/* When a message has its record. */
enum { ALWAYS, WITH_IDE, IF_PROVEN, IF_NUMBERED, IF_MEMORY, IF_KNOWN };

struct record {
	uint8_t type;
	uint8_t len; /* bytes of the value; more than eight are no number */
	uint8_t when;
	uint8_t off; /* of the field in struct weft_control */
	uint16_t messages; /* bit t: message t has it, once; others may not */
	uint64_t least; /* of the number */
	uint64_t most;
};

#define RECORD_WHEN(when, type, len, messages, least, most, field)                                 \
	{                                                                                          \
		type, len, when, offsetof(struct weft_control, field), messages, least, most       \
	}
#define RECORD(type, len, messages, least, most, field)                                            \
	RECORD_WHEN(ALWAYS, type, len, messages, least, most, field)
#define IN(message) (1u << WEFT_CONTROL_##message)

enum {
	RECORD_CHECK = 16, /* over the records before it; the last */
	RECORD_MAC = 23,
	CHECK_LEN = 2,
	IN_ALL = (1u << WEFT_CONTROL_TYPES) - 1,
	IN_TALKS = IN(HELLO) | IN(WELCOME) | IN(REFUSE),
	IN_NUMBERED = IN(KEEPALIVE) | IN(GOODBYE),
};

static const struct record records[] = {
	RECORD(1, 1, IN_ALL, WEFT_CONTROL_HELLO, WEFT_CONTROL_TYPES - 1, type),
	RECORD(2, 1, IN_TALKS, 0, UINT8_MAX, version),
	RECORD(3, 1, IN_TALKS, WEFT_MODE_CXL, WEFT_MODE_RXL, mode),
	RECORD(4, 1, IN_TALKS, 1, WEFT_WIRE_FLITS_MAX, max_flits),
	RECORD(5, 1, IN_TALKS, 0, 1, crc_order),
	RECORD(6, 1, IN_TALKS, 0, 2, isn_form),
	RECORD(7, 1, IN_TALKS, 0, 2, ide_mode),
	RECORD(8, 2, IN_TALKS | IN(LOSS), 0, UINT16_MAX, port),
	RECORD(9, WEFT_NODE_ID_LEN, IN_TALKS | IN(LOSS), 0, 0, node),
	RECORD(10, 2, IN_TALKS, 0, UINT16_MAX, credits),
	RECORD(11, 1, IN(REFUSE), WEFT_PARAM_NONE + 1, WEFT_PARAM_COUNT - 1, differs),
	RECORD(12, 1, IN(KEEPALIVE), 0, WEFT_CONTROL_RDI, flags),
	RECORD(13, 4, IN(WELCOME), 1, UINT32_MAX, session),
	RECORD(14, 4, IN(LOSS), 1, UINT32_MAX, count),
	RECORD(15, 1, IN(HELLO) | IN(WELCOME) | IN(MANAGEMENT), 0, WEFT_WIRE_FLITS_MAX, padded),
	RECORD_WHEN(WITH_IDE, 17, 2, IN_TALKS, 0, UINT16_MAX, ide_bits),
	RECORD_WHEN(WITH_IDE, 18, WEFT_RANDOM_LEN, IN(HELLO) | IN(WELCOME), 0, 0, random),
	RECORD_WHEN(WITH_IDE, 19, WEFT_PROOF_LEN, IN(WELCOME), 0, 0, proof),
	RECORD_WHEN(
		IF_PROVEN, 20, WEFT_PROOF_LEN, IN(READY) | IN(GONE) | IN(ANNOUNCE), 0, 0, proof),
	RECORD(21, 8, IN(CHALLENGE) | IN(GONE), 1, UINT64_MAX, challenge),
	RECORD_WHEN(IF_NUMBERED, 22, 8, IN_NUMBERED, 1, UINT64_MAX, number),
	RECORD_WHEN(IF_NUMBERED, RECORD_MAC, WEFT_CONTROL_MAC_LEN, IN_NUMBERED, 0, 0, mac),
	RECORD_WHEN(IF_MEMORY, 24, 8, IN(HELLO) | IN(WELCOME), 1, UINT64_MAX, memory),
	RECORD_WHEN(IF_KNOWN, 25, 8, IN(HELLO) | IN(WELCOME), 1, UINT64_MAX, known),
	RECORD(26, WEFT_CONTROL_NAME_LEN, IN(ANNOUNCE), 0, 0, fabric),
	RECORD(27, WEFT_CONTROL_NAME_LEN, IN(ANNOUNCE), 0, 0, name),
	RECORD(28, 8, IN(ANNOUNCE), 1, UINT64_MAX, instance),
	RECORD(29, 8, IN(ANNOUNCE), 0, UINT64_MAX, heard),
	RECORD(30, 4, IN(ANNOUNCE), 0, UINT32_MAX, runs_ms),
};

static int
control_find_record(uint8_t type)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(records); i++)
		if (records[i].type == type)
			return (int)i;
	return -1;
}

static uint64_t
control_be_get(const uint8_t *value, unsigned int len)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < len; i++)
		number = number << 8 | value[i];
	return number;
}

/* A number, from the wire to a field of its size or back. */
static uint64_t
control_field_get(const uint8_t *field, unsigned int len)
{
	uint64_t number;
	uint32_t word;
	uint16_t half;

	switch (len) {
	case 1: return *field;
	case 2: memcpy(&half, field, sizeof(half)); return half;
	case 4: memcpy(&word, field, sizeof(word)); return word;
	default: memcpy(&number, field, sizeof(number)); return number;
	}
}

static void
control_field_put(uint8_t *field, unsigned int len, uint64_t number)
{
	const uint32_t word = (uint32_t)number;
	const uint16_t half = (uint16_t)number;

	switch (len) {
	case 1: *field = (uint8_t)number; break;
	case 2: memcpy(field, &half, sizeof(half)); break;
	case 4: memcpy(field, &word, sizeof(word)); break;
	default: memcpy(field, &number, sizeof(number)); break;
	}
}

static bool
control_get_record(const struct record *r, const uint8_t *value, struct weft_control *c)
{
	uint8_t *field = (uint8_t *)c + r->off;
	uint64_t number;

	if (r->len > sizeof(number)) {
		memcpy(field, value, r->len);
		return true;
	}
	number = control_be_get(value, r->len);
	control_field_put(field, r->len, number);
	return number >= r->least && number <= r->most;
}

static void
control_put_record(const struct record *r, uint8_t *value, const struct weft_control *c)
{
	const uint8_t *field = (const uint8_t *)c + r->off;
	uint64_t number;

	if (r->len > sizeof(number)) {
		memcpy(value, field, r->len);
		return;
	}
	number = control_field_get(field, r->len);
	assert(number >= r->least && number <= r->most);
	for (unsigned int i = r->len; i > 0; i--, number >>= 8)
		value[i - 1] = (uint8_t)number;
}

static bool
control_is_proof_given(const struct weft_control *c)
{
	uint8_t any = 0;

	for (unsigned int i = 0; i < WEFT_PROOF_LEN; i++)
		any |= c->proof[i];
	return any != 0;
}

static bool
control_record_is_due(uint8_t when, const struct weft_control *c)
{
	switch (when) {
	case WITH_IDE: return c->ide_mode != 0;
	case IF_PROVEN: return control_is_proof_given(c);
	case IF_NUMBERED: return c->number != 0;
	case IF_MEMORY: return c->memory != 0;
	case IF_KNOWN: return c->known != 0;
	default: return true;
	}
}

/* Rows of the records that a message has, one bit each. */
static unsigned int
control_records(const struct weft_control *c)
{
	unsigned int rows = 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(records); i++)
		if ((records[i].messages & 1u << c->type) &&
			control_record_is_due(records[i].when, c))
			rows |= 1u << i;
	return rows;
}

static bool
control_padding_is_good(const uint8_t *rec, size_t at, size_t len, uint8_t padded)
{
	if (padded != 0)
		return len >= (size_t)padded * WEFT_WIRE_FLIT_LEN;
	while (at < len)
		if (rec[at++] != 0)
			return false;
	return true;
}

enum weft_verdict
weft_control_parse(const uint8_t *rec, size_t len, struct weft_control *c)
{
	unsigned int seen = 0;
	size_t at = 0;

	memset(c, 0, sizeof(*c));
	while (len - at >= 2 && len - at - 2 >= rec[at + 1]) {
		const uint8_t *value = rec + at + 2;
		const size_t value_len = rec[at + 1];
		const int i = control_find_record(rec[at]);

		if (rec[at] == RECORD_CHECK) {
			if (value_len == CHECK_LEN && seen == control_records(c) &&
				weft_crc16_t10dif(0, rec, at) == weft_get_be16(value) &&
				control_padding_is_good(rec, at + 2 + value_len, len, c->padded))
				return WEFT_OK;
			return WEFT_DROP_BAD_CONTROL;
		}
		if (i >= 0) {
			if ((seen & 1u << i) || value_len != records[i].len ||
				!control_get_record(&records[i], value, c))
				return WEFT_DROP_BAD_CONTROL;
			seen |= 1u << i;
		}
		at += 2 + value_len;
	}
	return WEFT_DROP_BAD_CONTROL;
}

/* All records but @p without and the check; 0 is no record. */
static size_t
control_put_records(uint8_t *rec, const struct weft_control *c, uint8_t without)
{
	const unsigned int rows = control_records(c);
	size_t at = 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(records); i++) {
		if (!(rows & 1u << i) || records[i].type == without)
			continue;
		rec[at] = records[i].type;
		rec[at + 1] = records[i].len;
		control_put_record(&records[i], rec + at + 2, c);
		at += 2 + (size_t)records[i].len;
	}
	return at;
}

size_t
weft_control_image(uint8_t *rec, const struct weft_control *c)
{
	return control_put_records(rec, c, RECORD_MAC);
}

size_t
weft_control_build(uint8_t *rec, const struct weft_control *c)
{
	const bool may_pad = c->type == WEFT_CONTROL_HELLO || c->type == WEFT_CONTROL_WELCOME ||
	                     c->type == WEFT_CONTROL_MANAGEMENT;
	size_t at = control_put_records(rec, c, 0), padded;

	rec[at] = RECORD_CHECK;
	rec[at + 1] = CHECK_LEN;
	weft_put_be16(rec + at + 2, weft_crc16_t10dif(0, rec, at));
	at += 2 + CHECK_LEN;
	assert(at <= WEFT_CONTROL_MAX);
	if (!may_pad || c->padded == 0)
		return at;
	padded = (size_t)c->padded * WEFT_WIRE_FLIT_LEN;
	memset(rec + at, 0, padded - at);
	return padded;
}

bool
weft_control_is_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t differs = 0;

	for (size_t i = 0; i < len; i++)
		differs |= a[i] ^ b[i];
	return differs == 0;
}

static const struct {
	uint8_t param;
	uint8_t bit;
} ide_params[] = {
	{ WEFT_PARAM_IDE_PCRC, WEFT_CONTROL_IDE_NO_PCRC },
	{ WEFT_PARAM_IDE_STOP, WEFT_CONTROL_IDE_STOP },
	{ WEFT_PARAM_IDE_POISON, WEFT_CONTROL_IDE_POISON },
};

/* Both say so, and both can. */
static enum weft_control_param
control_compare_ide(const struct weft_control *ours, const struct weft_control *theirs)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(ide_params); i++) {
		const unsigned int bit = ide_params[i].bit;
		const unsigned int can =
			bit == WEFT_CONTROL_IDE_NO_PCRC
				? bit
				: ours->ide_bits & theirs->ide_bits & WEFT_CONTROL_IDE_CAN(bit);

		if (((ours->ide_bits ^ theirs->ide_bits) & bit) != 0 ||
			((ours->ide_bits & bit) != 0 && can == 0))
			return (enum weft_control_param)ide_params[i].param;
	}
	return WEFT_PARAM_NONE;
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
	if (ours->form != theirs->form)
		return WEFT_PARAM_FORM;
	if (ours->ide_mode != theirs->ide_mode)
		return WEFT_PARAM_IDE_MODE;
	return ours->ide_mode == 0 ? WEFT_PARAM_NONE : control_compare_ide(ours, theirs);
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
		[WEFT_PARAM_FRAME_SIZE] = "flits that pass in a frame",
		[WEFT_PARAM_IDE_PCRC] = "IDE PCRC",
		[WEFT_PARAM_IDE_STOP] = "IDE.Stop",
		[WEFT_PARAM_IDE_POISON] = "IDE protection of poison",
		[WEFT_PARAM_IDE_KEY] = "pre-shared key",
		[WEFT_PARAM_PID] = "PID",
		[WEFT_PARAM_FORM] = "link form",
	};

	return (unsigned int)p < WEFT_ARRAY_SIZE(names) ? names[p] : "unknown";
}

static const char *
control_ide_word(const struct weft_control *c, unsigned int bit)
{
	if ((c->ide_bits & bit) != 0)
		return (c->ide_bits & WEFT_CONTROL_IDE_CAN(bit)) != 0 ? "on"
		                                                      : "on without being able to";
	return (c->ide_bits & WEFT_CONTROL_IDE_CAN(bit)) != 0 ? "off" : "not possible";
}

const char *
weft_control_param_value(const struct weft_control *c, enum weft_control_param p)
{
	static const char *const numbers[] = { "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
		"10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23",
		"24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37",
		"38", "39", "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51",
		"52", "53", "54", "55", "56", "57", "58", "59", "60", "61", "62", "63", "64",
		NULL };
	static const char *const orders[] = { "r0 first", "r7 first", NULL };
	static const char *const ide[] = { "off", "containment", "skid", NULL };

	switch (p) {
	case WEFT_PARAM_VERSION: return weft_words_name(numbers, c->version);
	case WEFT_PARAM_MODE: return weft_words_name(weft_mode_words, c->mode);
	case WEFT_PARAM_CRC_ORDER: return weft_words_name(orders, c->crc_order);
	case WEFT_PARAM_ISN_FORM: return weft_words_name(weft_isn_words, c->isn_form);
	case WEFT_PARAM_IDE_MODE: return weft_words_name(ide, c->ide_mode);
	case WEFT_PARAM_FRAME_SIZE: return weft_words_name(numbers, c->max_flits);
	case WEFT_PARAM_IDE_PCRC:
		return (c->ide_bits & WEFT_CONTROL_IDE_NO_PCRC) != 0 ? "off" : "on";
	case WEFT_PARAM_IDE_STOP: return control_ide_word(c, WEFT_CONTROL_IDE_STOP);
	case WEFT_PARAM_IDE_POISON: return control_ide_word(c, WEFT_CONTROL_IDE_POISON);
	case WEFT_PARAM_IDE_KEY: return "one";
	case WEFT_PARAM_FORM: return weft_words_name(weft_form_words, c->form);
	default: return "unknown";
	}
}
