/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The three 5-bit fields of CRD: each a run of codes for 1, 4, 8, 12, 16 credits of one class. */

#include "weft_credit.h"

#define FIELD_BITS 5
#define FIELD_MASK 0x1Fu
#define MOST 16 /* credits of a field */
#define CODE_EMPTY_FLIT 0x01 /* in the first field only */

static const uint8_t first_code[WEFT_CREDIT_SETS] = {
	[WEFT_CREDIT_CACHE_DN] = 0x04,
	[WEFT_CREDIT_CACHE_UP] = 0x09,
	[WEFT_CREDIT_MEM_DN] = 0x14,
	[WEFT_CREDIT_MEM_UP] = 0x19,
};

static const uint8_t amounts[] = { 1, 4, 8, 12, 16 };

/* What a code returns; reserved ones and those that return nothing have amount 0. */
#define CODES(first, set)                                                                          \
	[first] = { set, 1 }, [(first) + 1] = { set, 4 }, [(first) + 2] = { set, 8 },              \
	[(first) + 3] = { set, 12 }, [(first) + 4] = { set, 16 }
static const struct {
	uint8_t set;
	uint8_t amount;
} codes[1 << FIELD_BITS] = {
	CODES(0x04, WEFT_CREDIT_CACHE_DN),
	CODES(0x09, WEFT_CREDIT_CACHE_UP),
	CODES(0x14, WEFT_CREDIT_MEM_DN),
	CODES(0x19, WEFT_CREDIT_MEM_UP),
};

uint16_t
weft_credit_encode(enum weft_credit_set set, uint32_t owed[WEFT_CREDIT_CLASSES])
{
	unsigned int crd = 0;

	for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
		/* 1 to 3 give 1, 4 to 7 give 4, and so on. */
		const unsigned int a = owed[c] < MOST ? owed[c] / 4 : MOST / 4;

		if (owed[c] == 0)
			continue;
		owed[c] -= amounts[a];
		crd |= (first_code[set] + a) << (FIELD_BITS * c);
	}
	return (uint16_t)crd;
}

bool
weft_credit_decode(uint16_t crd, uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES])
{
	bool good = true;

	for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
		const unsigned int code = (unsigned int)crd >> (FIELD_BITS * c) & FIELD_MASK;

		got[codes[code].set][c] += codes[code].amount;
		good &= codes[code].amount != 0 || code == 0 || (code == CODE_EMPTY_FLIT && c == 0);
	}
	return good;
}
