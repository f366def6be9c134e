/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Credit return: all 65536 values against the table of wire-formats.md section 4.5, both ways. */

#include "weft_test.h"

#include "weft_credit.h"
#include "weft_flit.h"

/* The four columns of section 4.5; all three fields have the same codes. */
static const struct {
	enum weft_credit_set set;
	uint8_t first, last;
} columns[] = {
	{ WEFT_CREDIT_CACHE_DN, 0x04, 0x08 },
	{ WEFT_CREDIT_CACHE_UP, 0x09, 0x0D },
	{ WEFT_CREDIT_MEM_DN, 0x14, 0x18 },
	{ WEFT_CREDIT_MEM_UP, 0x19, 0x1D },
};

static const uint8_t amount_of_place[] = { 1, 4, 8, 12, 16 };

/* One field by the table: credits of a set, 0 for none, or -1 for a reserved code. */
static int
field_by_table(unsigned int code, unsigned int field, unsigned int set)
{
	if (code == 0 || (code == 1 && field == 0))
		return 0;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(columns); i++)
		if (code >= columns[i].first && code <= columns[i].last)
			return columns[i].set == set ? amount_of_place[code - columns[i].first] : 0;
	return -1;
}

WEFT_TEST(every_value_decodes_by_the_table)
{
	unsigned int bad = 0;

	for (unsigned int crd = 0; crd <= UINT16_MAX; crd++) {
		uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES];
		bool good = true;

		for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
			for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++)
				got[s][c] = 1000; /* decoding adds */
		const bool said = weft_credit_decode((uint16_t)crd, got);

		for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++) {
			for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
				const int want = field_by_table(crd >> (5 * c) & 0x1F, c, s);

				good &= want >= 0;
				if (got[s][c] != 1000u + (want > 0 ? (unsigned int)want : 0))
					fail_msg("CRD %04x, set %u, class %u", crd, s, c);
			}
		}
		if (said != good)
			fail_msg("CRD %04x", crd);
		bad += !said;
	}
	/* 11 of 32 codes are reserved, 10 in the first field, where 01 is Empty. */
	assert_int_equal(bad, 2 * (32 * 32 * 32 - 22 * 21 * 21));
}

/* One flit's return of every owed count up to 40 in every class. */
WEFT_TEST(encoding_returns_the_largest_amount_that_is_owed)
{
	for (int set = 0; set < WEFT_CREDIT_SETS; set++) {
		for (uint32_t n = 0; n < 40 * 40 * 40; n++) {
			const uint32_t before[] = { n % 40, n / 40 % 40, n / 1600 };
			uint32_t owed[] = { before[0], before[1], before[2] };
			uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES] = { { 0 } };
			const uint16_t crd = weft_credit_encode((enum weft_credit_set)set, owed);

			assert_true(weft_credit_decode(crd, got));
			assert_int_equal(crd >> 15, 0);
			assert_int_not_equal(crd & 0x1F, 1);
			for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++) {
				uint32_t most = 0;

				for (size_t a = 0; a < WEFT_ARRAY_SIZE(amount_of_place); a++)
					if (amount_of_place[a] <= before[c])
						most = amount_of_place[a];
				assert_int_equal(got[set][c], most);
				assert_int_equal(owed[c], before[c] - most);
			}
		}
	}
}

WEFT_TEST(large_debts_are_returned_in_the_end)
{
	uint32_t owed[] = { 1000003, 17, 0 };
	uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES] = { { 0 } };
	unsigned int flits = 0;

	for (; owed[0] + owed[1] + owed[2] != 0; flits++)
		assert_true(weft_credit_decode(weft_credit_encode(WEFT_CREDIT_MEM_UP, owed), got));
	assert_int_equal(got[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_REQ], 1000003);
	assert_int_equal(got[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_DATA], 17);
	assert_int_equal(got[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_RSP], 0);
	assert_int_equal(flits, 1000003 / 16 + 3); /* the last 3 as ones */
}

/* Where the fields lie, and that Empty is neither credit nor error. */
WEFT_TEST(fields_lie_where_the_specification_says)
{
	uint32_t owed[] = { 1, 8, 16 };
	uint32_t got[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES] = { { 0 } };
	uint8_t flit[WEFT_FLIT_LEN] = { WEFT_FLIT_CACHEMEM << 6 };

	assert_int_equal(
		weft_credit_encode(WEFT_CREDIT_MEM_DN, owed), 0x14 | 0x16 << 5 | 0x18 << 10);
	flit[240] = 0x01;
	assert_true(weft_flit_is_empty(flit));
	flit[240] = 0x81;
	flit[241] = 0x12; /* 4 data credits beside the Empty code */
	assert_true(weft_flit_is_empty(flit));
	assert_int_equal(weft_flit_crd(flit), 0x1281);
	assert_true(weft_credit_decode(0x01, got));
	flit[240] = 0x02;
	assert_false(weft_flit_is_empty(flit));
	flit[240] = 0x01;
	flit[0] = WEFT_FLIT_IO << 6;
	assert_false(weft_flit_is_empty(flit));
	for (unsigned int s = 0; s < WEFT_CREDIT_SETS; s++)
		for (unsigned int c = 0; c < WEFT_CREDIT_CLASSES; c++)
			assert_int_equal(got[s][c], 0);
}
