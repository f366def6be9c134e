/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* CDAT tables, event records, and headers of VDMs. */

#include "weft_test.h"

#include "weft_cci_cdat.h"
#include "weft_cci_event.h"
#include "weft_cci_payload.h"
#include "weft_cci_vdm.h"

#define CDAT_LEN 148

/* A structure of each type, SSLBIS of two ports; typed in from fabric.md 5.1. */
static void
make_cdat(uint8_t *b)
{
	const struct weft_cci_dsmas memory = {
		.type = 0, .length = 24, .handle = 1, .flags = 4, .base = 0x1000, .len = 0x2000
	};
	const struct weft_cci_dslbis latency = { .type = 1,
		.length = 24,
		.handle = 1,
		.kind = WEFT_CCI_HMAT_READ_LATENCY,
		.unit = 1000,
		.entry0 = 150 };
	const struct weft_cci_dsmscis cache = { .type = 2, .length = 20, .handle = 1, .size = 64 };
	const struct weft_cci_dsis initiator = { .type = 3, .length = 8, .flags = 1, .handle = 1 };
	const struct weft_cci_dsemts efi = { .type = 4, .length = 24, .handle = 1, .kind = 2 };
	const struct weft_cci_sslbis way = { .type = 5, .length = 32, .kind = 3, .unit = 1 };
	const struct weft_cci_sslbis_port port[2] = {
		{ .x = WEFT_CCI_CDAT_USP, .y = 7, .value = 100 },
		{ .x = 7, .y = WEFT_CCI_CDAT_ANY, .value = 200 },
	};

	memset(b, 0, CDAT_LEN);
	weft_cci_put_dsmas(b + 16, 0, &memory);
	weft_cci_put_dslbis(b + 40, 0, &latency);
	weft_cci_put_dsmscis(b + 64, 0, &cache);
	weft_cci_put_dsis(b + 84, 0, &initiator);
	weft_cci_put_dsemts(b + 92, 0, &efi);
	weft_cci_put_sslbis(b + 116, 0, &way);
	weft_cci_put_sslbis_port(b + 132, 0, &port[0]);
	weft_cci_put_sslbis_port(b + 132, 1, &port[1]);
	weft_cci_cdat_finish(b, CDAT_LEN, 3);
}

WEFT_TEST(bytes_of_a_cdat_add_up_to_0)
{
	uint8_t b[CDAT_LEN], sum = 0;
	const uint8_t *p = NULL;

	make_cdat(b);
	for (unsigned int i = 0; i < sizeof(b); i++)
		sum = (uint8_t)(sum + b[i]);
	assert_int_equal(sum, 0);
	assert_int_equal(weft_get_le32(b), sizeof(b));
	assert_int_equal(b[4], 1);
	assert_int_equal(weft_get_le32(b + 12), 3);
	assert_int_equal(weft_get_le64(b + 16 + 8), 0x1000);
	assert_int_equal(b[16 + 5], 4);
	assert_int_equal(weft_get_le16(b + 132), 0x100);
	assert_int_equal(weft_cci_cdat_check(b, sizeof(b)), 0);
	for (unsigned int type = 0; type <= WEFT_CCI_SSLBIS; type++) {
		p = weft_cci_cdat_next(b, sizeof(b), p);
		assert_non_null(p);
		assert_int_equal(p[0], type);
	}
	assert_null(weft_cci_cdat_next(b, sizeof(b), p));
}

WEFT_TEST(damaged_cdats_are_refused)
{
	uint8_t b[CDAT_LEN];

	make_cdat(b);
	for (size_t len = 0; len < sizeof(b); len++)
		assert_int_equal(weft_cci_cdat_check(b, len), -EMSGSIZE);
	for (unsigned int bit = 0; bit < 8 * sizeof(b); bit++) {
		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(
			weft_cci_cdat_check(b, sizeof(b)), bit < 32 ? -EMSGSIZE : -EBADMSG);
		b[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* Right sums, wrong lengths. */
WEFT_TEST(structures_of_wrong_lengths_are_refused)
{
	static const unsigned int at[] = { 16, 40, 64, 84, 92, 116 };
	uint8_t b[CDAT_LEN];

	make_cdat(b);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(at); i++) {
		const uint16_t right = weft_get_le16(b + at[i] + 2);

		for (unsigned int len = 0; len < 200; len++) {
			weft_put_le16(b + at[i] + 2, (uint16_t)len);
			weft_cci_cdat_finish(b, sizeof(b), 3);
			/* The last may be shorter; what follows then is no structure. */
			assert_int_equal(
				weft_cci_cdat_check(b, sizeof(b)), len == right ? 0 : -EINVAL);
		}
		weft_put_le16(b + at[i] + 2, right);
	}
}

WEFT_TEST(unknown_structures_are_passed_by)
{
	uint8_t b[16 + 8 + 8] = { 0 };
	const struct weft_cci_dsis initiator = { .type = WEFT_CCI_DSIS, .length = 8 };
	const uint8_t *p;

	b[16] = 200;
	weft_put_le16(b + 18, 8);
	weft_cci_put_dsis(b + 24, 0, &initiator);
	weft_cci_cdat_finish(b, sizeof(b), 0);
	assert_int_equal(weft_cci_cdat_check(b, sizeof(b)), 0);
	p = weft_cci_cdat_next(b, sizeof(b), NULL);
	assert_int_equal(p[0], 200);
	assert_int_equal(weft_cci_cdat_next(b, sizeof(b), p)[0], WEFT_CCI_DSIS);
	weft_cci_cdat_finish(b, 16, 0);
	assert_int_equal(weft_cci_cdat_check(b, 16), 0);
	assert_null(weft_cci_cdat_next(b, 16, NULL));
}

WEFT_TEST(port_events_have_the_places_of_the_specification)
{
	const struct weft_cci_port_block block = {
		.port = 5, .state = 3, .mode = 4, .type = 6, .ltssm = 0x11, .flags = 0x2233, .ld = 9
	};
	struct weft_cci_record r;
	uint8_t b[WEFT_CCI_RECORD_LEN];

	weft_cci_port_event(&r, &block, WEFT_CCI_PORT_SLOT, 0x0102030405060708);
	weft_cci_put_record(b, 0, &r);
	assert_int_equal(b[0], 0x77);
	assert_int_equal(b[15], 0x97);
	assert_int_equal(b[16], 128);
	assert_int_equal(weft_get_le64(b + 0x18), 0x0102030405060708);
	assert_int_equal(b[0x30], 5);
	assert_int_equal(b[0x31], WEFT_CCI_PORT_SLOT);
	assert_int_equal(b[0x38], 6);
	assert_int_equal(b[0x3F], 0x11);
	assert_int_equal(weft_get_le16(b + 0x41), 0x2233);
}

WEFT_TEST(records_are_known_by_their_uuids)
{
	struct weft_cci_record r;

	for (unsigned int kind = 0; kind < WEFT_CCI_EVENT_END; kind++) {
		memset(&r, 0, sizeof(r));
		memcpy(r.uuid, weft_cci_event_uuid[kind], sizeof(r.uuid));
		assert_int_equal(weft_cci_event_kind(&r), kind);
		for (unsigned int bit = 0; bit < 128; bit++) {
			r.uuid[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(weft_cci_event_kind(&r), WEFT_CCI_EVENT_END);
			r.uuid[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
	assert_int_equal(weft_cci_cel_uuid[0], 0x0D);
	assert_int_equal(weft_cci_cel_uuid[15], 0x17);
}

WEFT_TEST(vdm_headers_have_their_bytes)
{
	static const uint8_t gam[WEFT_CCI_VDM_HDR] = { 0x74, 0, 0, 8, 0, 0, 0, 0x7E, 0, 0, 0x1E,
		0x98, 5, 8, 0x27, 0xA1 };
	static const uint8_t ack[WEFT_CCI_VDM_HDR] = { 0x34, 0, 0, 0, 0, 0, 0, 0x7E, 0, 0, 0x1E,
		0x98, 0, 0, 0x82, 0xA1 };
	const struct weft_cci_vdm v = { 8, 0xA1, WEFT_CCI_VDM_GAM, 5, 8, 2 };
	const struct weft_cci_vdm w = { .code = 0xA1, .opcode = WEFT_CCI_VDM_RT_UPDATE_ACK };
	uint8_t b[WEFT_CCI_VDM_HDR];

	assert_int_equal(weft_cci_vdm_put(b, &v), 0);
	assert_memory_equal(b, gam, sizeof(gam));
	assert_int_equal(weft_cci_vdm_put(b, &w), 0);
	assert_memory_equal(b, ack, sizeof(ack));
}

/* Codes, opcodes and most data, from the table of fabric.md 2.3. */
static bool
is_vdm(unsigned int code, unsigned int opcode, unsigned int dwords)
{
	switch (code << 8 | opcode) {
	case 0x8000:
	case 0x8001:
	case 0x8003:
	case 0x8004:
	case 0xA000:
	case 0xA008:
	case 0xA101:
	case 0xA106:
	case 0xA112:
	case 0xA113: return dwords == 0;
	case 0x9000: return dwords == 16;
	case 0xA002:
	case 0xA104: return dwords == 32;
	case 0xA003:
	case 0xA105: return dwords >= 1 && dwords <= 32;
	case 0xA107: return dwords == 8;
	case 0xA110: return dwords >= 1 && dwords <= 8;
	default: return false;
	}
}

static void
vdm_same(const struct weft_cci_vdm *a, const struct weft_cci_vdm *b)
{
	assert_int_equal(a->dwords, b->dwords);
	assert_int_equal(a->code, b->code);
	assert_int_equal(a->opcode, b->opcode);
	assert_int_equal(a->cmd_seq, b->cmd_seq);
	assert_int_equal(a->seq_len, b->seq_len);
	assert_int_equal(a->seq_num, b->seq_num);
}

WEFT_TEST(vdms_of_the_table_come_back_and_no_others)
{
	uint8_t b[WEFT_CCI_VDM_HDR + 4 * 256];
	struct weft_cci_vdm got;
	unsigned int taken = 0;

	memset(b, 0, sizeof(b));
	for (unsigned int code = 0; code < 256; code++)
		for (unsigned int opcode = 0; opcode < 256; opcode++)
			for (unsigned int dwords = 0; dwords < 34; dwords++) {
				const struct weft_cci_vdm v = { (uint8_t)dwords, (uint8_t)code,
					(uint8_t)opcode, code & 7, (uint16_t)(opcode + 1),
					(uint8_t)(dwords & 7) };
				const size_t len = WEFT_CCI_VDM_HDR + 4 * dwords;

				if (!is_vdm(code, opcode, dwords)) {
					assert_int_equal(weft_cci_vdm_put(b, &v), -EINVAL);
					continue;
				}
				taken++;
				assert_int_equal(weft_cci_vdm_put(b, &v), 0);
				assert_int_equal(weft_cci_vdm_get(&got, b, len), 0);
				vdm_same(&got, &v);
				b[14] &= 0x7F; /* a sender without our bit */
				assert_int_equal(weft_cci_vdm_get(&got, b, len), 0);
				assert_int_equal(got.opcode, opcode);
				assert_int_equal(weft_cci_vdm_get(&got, b, len + 4), -EMSGSIZE);
				assert_int_equal(weft_cci_vdm_get(&got, b, len - 1), -EMSGSIZE);
			}
	assert_int_equal(taken, 10 + 1 + 2 + 2 * 32 + 1 + 8);
}

WEFT_TEST(other_messages_are_no_vdms)
{
	const struct weft_cci_vdm v = { .code = 0x80, .opcode = WEFT_CCI_VDM_LINK_UP };
	struct weft_cci_vdm got;
	uint8_t b[WEFT_CCI_VDM_HDR];

	for (unsigned int bit = 0; bit < 8 * WEFT_CCI_VDM_HDR; bit++) {
		const unsigned int at = bit / 8;

		assert_int_equal(weft_cci_vdm_put(b, &v), 0);
		b[at] ^= (uint8_t)(1 << bit % 8);
		if (at == 0 && bit == 6) /* with data of which there is none */
			assert_int_equal(weft_cci_vdm_get(&got, b, sizeof(b)), -EINVAL);
		else if (at == 0 || at == 7 || at == 10 || at == 11)
			assert_int_equal(weft_cci_vdm_get(&got, b, sizeof(b)), -ENOENT);
		else if (at < 12) /* reserved, as the length is of what has no data */
			assert_int_equal(weft_cci_vdm_get(&got, b, sizeof(b)), 0);
	}
	for (size_t len = 0; len < WEFT_CCI_VDM_HDR; len++)
		assert_int_equal(weft_cci_vdm_get(&got, b, len), -EMSGSIZE);
	assert_int_equal(
		weft_cci_vdm_put(b, &(struct weft_cci_vdm){ .code = 0x80, .cmd_seq = 8 }), -EINVAL);
	assert_int_equal(
		weft_cci_vdm_put(b, &(struct weft_cci_vdm){ .code = 0x80, .seq_num = 8 }), -EINVAL);
	assert_int_equal(
		weft_cci_vdm_put(b, &(struct weft_cci_vdm){ .code = 0x80, .seq_len = 257 }),
		-EINVAL);
}
