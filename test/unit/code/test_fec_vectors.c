/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The FEC vectors of wire-formats.md (c) and encapsulation.md section 3, and the decode table. */

#include "weft_test.h"

#include "weft_fec.h"
#include "weft_flit_vectors.h"
#include "weft_isn.h"

static const struct weft_fec_kernel *fec;

WEFT_TEST(flit_vectors_hold_in_both_crc_orders)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(weft_flit_vectors); i++) {
		const struct weft_flit_vector *v = &weft_flit_vectors[i];
		_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

		print_message("  %s\n", v->name);
		v->message(flit);
		weft_crc_store(flit, v->crc, WEFT_CRC_R0_FIRST);
		weft_fec_encode(fec, flit, 1);
		assert_memory_equal(flit + WEFT_FEC_OFF, v->fec_r0_first, WEFT_FEC_LEN);
		weft_crc_store(flit, v->crc, WEFT_CRC_R7_FIRST);
		weft_fec_encode(fec, flit, 1);
		assert_memory_equal(flit + WEFT_FEC_OFF, v->fec_r7_first, WEFT_FEC_LEN);
	}
}

WEFT_TEST(sequence_number_vectors_hold)
{
	static const struct {
		void (*message)(uint8_t *flit);
		uint16_t spid, dpid, number;
		uint8_t vc;
		uint8_t fec[WEFT_FEC_LEN];
	} vectors[] = {
		{ weft_message_count, 0x000, 0x000, 0, 0, { 0x15, 0xa0, 0x3d, 0xc7, 0xff, 0xa8 } },
		{ weft_message_count, 0x000, 0x000, 1, 0, { 0xe3, 0x2f, 0x08, 0xf8, 0x4c, 0x6e } },
		{ weft_message_count, 0x000, 0x000, 1023, 0,
			{ 0xdd, 0xa4, 0x78, 0x0e, 0x1c, 0xf8 } },
		{ weft_message_count, 0x123, 0x456, 1, 0, { 0xc9, 0xde, 0x1b, 0x77, 0x43, 0x36 } },
		{ weft_message_count, 0x456, 0x123, 1, 0, { 0x63, 0x3d, 0xdf, 0x5b, 0xfb, 0xab } },
		{ weft_message_count, 0x123, 0x456, 1, 3, { 0xb3, 0x6c, 0x29, 0xd5, 0xda, 0xe4 } },
		{ weft_message_zero, 0x123, 0x456, 0, 0, { 0x2a, 0xf1, 0x13, 0x8f, 0x0f, 0x58 } },
		{ weft_message_zero, 0xFFE, 0x001, 511, 0, { 0x86, 0x9a, 0x87, 0xe6, 0xb6, 0x52 } },
	};
	const struct weft_crc_kernel *crc = weft_crc_kernel_find("scalar", 0);

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(vectors); i++) {
		_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
		struct weft_isn s;

		vectors[i].message(flit);
		assert_int_equal(
			weft_isn_init(&s, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, vectors[i].spid,
				vectors[i].dpid, vectors[i].vc, vectors[i].number),
			0);
		weft_isn_protect(&s, crc, flit, 1);
		weft_fec_encode(fec, flit, 1);
		assert_memory_equal(flit + WEFT_FEC_OFF, vectors[i].fec, WEFT_FEC_LEN);
	}
}

WEFT_TEST(single_byte_vectors_hold)
{
	static const struct {
		unsigned int off;
		uint8_t fec[WEFT_FEC_LEN];
	} vectors[] = {
		{ 0, { 0x00, 0x00, 0x6b, 0x00, 0x00, 0x01 } },
		{ 1, { 0x6b, 0x00, 0x00, 0x01, 0x00, 0x00 } },
		{ 248, { 0x00, 0x04, 0x00, 0x00, 0x01, 0x00 } },
		{ 249, { 0x00, 0x00, 0x02, 0x00, 0x00, 0x01 } },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(vectors); i++) {
		_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

		flit[vectors[i].off] = 0x01;
		weft_fec_encode(fec, flit, 1);
		assert_memory_equal(flit + WEFT_FEC_OFF, vectors[i].fec, WEFT_FEC_LEN);
	}
}

struct byte_error {
	uint8_t off, value;
};

/* wire-formats.md (c), "FEC decode", on the sha256 flit. */
WEFT_TEST(decode_table_holds)
{
	static const struct {
		struct byte_error sent[2];
		enum weft_fec_status status;
		struct byte_error fixed; /* what the decoder changes */
	} rows[] = {
		{ { { 100, 0x5A } }, WEFT_FEC_CORRECTED, { 100, 0x5A } },
		{ { { 1, 0x01 }, { 4, 0x47 } }, WEFT_FEC_UNCORRECTABLE, { 0, 0 } },
		{ { { 1, 0x01 }, { 4, 0x03 } }, WEFT_FEC_CORRECTED, { 7, 0x02 } },
		{ { { 0, 0x01 }, { 3, 0x01 } }, WEFT_FEC_CORRECTED, { 252, 0xD0 } },
		{ { { 0, 0x01 }, { 3, 0x02 } }, WEFT_FEC_CORRECTED, { 255, 0x03 } },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
		uint8_t want[256];
		unsigned int n_bytes = 9;

		weft_message_sha(flit);
		weft_crc_store(flit, UINT64_C(0x0f40461310796275), WEFT_CRC_R0_FIRST);
		weft_fec_encode(fec, flit, 1);
		for (unsigned int k = 0; k < 2; k++)
			flit[rows[i].sent[k].off] ^= rows[i].sent[k].value;
		memcpy(want, flit, sizeof(want));
		want[rows[i].fixed.off] ^= rows[i].fixed.value;
		assert_int_equal(weft_fec_decode_flit(flit, &n_bytes), rows[i].status);
		assert_int_equal(n_bytes, rows[i].status == WEFT_FEC_CORRECTED);
		assert_memory_equal(flit, want, sizeof(want));
		/* A miscorrection must not get past the CRC. */
		if (i >= 2)
			assert_int_not_equal(weft_crc_update(0, flit, WEFT_CRC_COVERED),
				weft_crc_load(flit, WEFT_CRC_R0_FIRST));
	}
}

int
main(void)
{
	fec = weft_fec_kernel_find(NULL, weft_cpu_detect());
	return weft_test_run();
}
