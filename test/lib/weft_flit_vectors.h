/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The flit CRC and FEC vectors of wire-formats.md (c), for the tests of both libraries. */
#ifndef WEFT_FLIT_VECTORS_H
#define WEFT_FLIT_VECTORS_H

#include <stdint.h>

#include "weft_test.h"

#define WEFT_VECTOR_MESSAGE 242

struct weft_flit_vector {
	const char *name;
	void (*message)(uint8_t *flit); /* fills bytes 0..241 of a zeroed flit */
	uint64_t crc; /* r7 on top */
	uint8_t fec_r0_first[6];
	uint8_t fec_r7_first[6];
};

static inline void
weft_message_zero(uint8_t *flit)
{
	memset(flit, 0, WEFT_VECTOR_MESSAGE);
}

static inline void
weft_message_last_01(uint8_t *flit)
{
	flit[241] = 0x01;
}

static inline void
weft_message_first_01(uint8_t *flit)
{
	flit[0] = 0x01;
}

static inline void
weft_message_first_80(uint8_t *flit)
{
	flit[0] = 0x80;
}

static inline void
weft_message_count(uint8_t *flit)
{
	for (unsigned int i = 0; i < WEFT_VECTOR_MESSAGE; i++)
		flit[i] = (uint8_t)i;
}

static inline void
weft_message_ff(uint8_t *flit)
{
	memset(flit, 0xFF, WEFT_VECTOR_MESSAGE);
}

static inline void
weft_message_5a(uint8_t *flit)
{
	memset(flit, 0x5A, WEFT_VECTOR_MESSAGE);
}

/** SHA256("wire0") .. SHA256("wire7") joined, cut to 242 bytes. */
static inline void
weft_message_sha(uint8_t *flit)
{
	static const char hex[] =
		"6bb3287daa295aa2507085444c4ac60ca1d0ef2cfde4d2debc7d7fa9ecf9d4627e99551c067d6a50"
		"9ce521894fb321ef434877dd97dac59e09dc2263fd34ce72e02da91e0674ff2fc60a595af40c85ee"
		"891b910c9e21193c7d0475d5a8efb65b873ccc293a5242f7d4f4942ee277e9b0211f63eae26db51f"
		"6ac2b36ed90402bc82e918d8c10cf07409a2a6f5b19fe27b4f3cb80e08a8494f6a7814b0559c53b1"
		"b40f1014a2016d6e0e56a5dbefefe0302715b6494547c126db56a8fa89de85dab4fd915f17fb8fba"
		"1ea43a0797b76f9fd064a998de9074024600293a88bd2a804040c4c373af827fb4318273d3f730a9"
		"d81e";

	assert_int_equal(weft_test_unhex(hex, flit, WEFT_VECTOR_MESSAGE), WEFT_VECTOR_MESSAGE);
}

static const struct weft_flit_vector weft_flit_vectors[] = {
	{ "all 00", weft_message_zero, 0, { 0 }, { 0 } },
	{ "byte 241 = 01", weft_message_last_01, UINT64_C(0xd568fed533414d69),
		{ 0xfd, 0xe6, 0x96, 0xbe, 0x32, 0x4d }, { 0xaa, 0x1e, 0x79, 0xbe, 0x4d, 0x32 } },
	{ "byte 0 = 01", weft_message_first_01, UINT64_C(0x61b9a7e91ac33b0b),
		{ 0xf0, 0xbe, 0xef, 0x64, 0xa8, 0xb2 }, { 0x7a, 0xa9, 0xb4, 0x64, 0xb3, 0xa9 } },
	{ "byte 0 = 80", weft_message_first_80, UINT64_C(0x815cfec8f4a99207),
		{ 0xfe, 0xee, 0x5f, 0x57, 0xaf, 0x5b }, { 0x3d, 0x84, 0x80, 0x57, 0xdb, 0x2f } },
	{ "byte i = i", weft_message_count, UINT64_C(0x5650ba1b432ce5bc),
		{ 0x15, 0xa0, 0x3d, 0xc7, 0xff, 0xa8 }, { 0xb3, 0xb2, 0x48, 0xc7, 0xf8, 0xaf } },
	{ "all FF", weft_message_ff, UINT64_C(0x8524fedd34c21351),
		{ 0x53, 0xcd, 0x0e, 0xc3, 0x41, 0xb4 }, { 0x5e, 0xcb, 0x9d, 0xc3, 0x4b, 0xbe } },
	{ "all 5A", weft_message_5a, UINT64_C(0x3acc9b46036aa74f),
		{ 0x96, 0xf5, 0x97, 0xab, 0x80, 0x81 }, { 0xae, 0x55, 0x0b, 0xab, 0xdb, 0xda } },
	{ "sha256", weft_message_sha, UINT64_C(0x0f40461310796275),
		{ 0xe4, 0xcd, 0xb6, 0x5b, 0x27, 0xab }, { 0xfd, 0xae, 0x43, 0x5b, 0x7c, 0xf0 } },
};

#endif /* WEFT_FLIT_VECTORS_H */
