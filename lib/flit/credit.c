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

static bool
credit_field(
	unsigned int code, unsigned int class, uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES])
{
	if (code == 0 || (code == CODE_EMPTY_FLIT && class == 0))
		return true;
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++) {
		if (code >= first_code[s] && code < first_code[s] + WEFT_ARRAY_SIZE(amounts)) {
			got[s][class] += amounts[code - first_code[s]];
			return true;
		}
	}
	return false;
}

bool
weft_credit_decode(uint16_t crd, uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES])
{
	bool good = true;

	for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++)
		good &= credit_field((unsigned int)crd >> (FIELD_BITS * c) & FIELD_MASK, c, got);
	return good;
}
