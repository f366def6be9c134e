/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* By an edge port comes in one SPID of all that there are; by a fabric port any. */

#include "weft_test.h"

#include "weft_ingress.h"
#include "weft_pbr.h"

WEFT_TEST(an_edge_port_lets_one_spid_of_all_in)
{
	for (unsigned int own = 0; own < WEFT_PID_RESERVED; own++) {
		const struct weft_ingress in = { .spid = (uint16_t)own };
		unsigned int let_in = 0;

		for (unsigned int spid = 0; spid < WEFT_PIDS; spid++)
			let_in += weft_ingress_spid(&in, (uint16_t)spid);
		assert_int_equal(let_in, 1);
		assert_true(weft_ingress_spid(&in, (uint16_t)own));
	}
}

WEFT_TEST(a_fabric_port_lets_every_spid_in)
{
	const struct weft_ingress in = { .spid = WEFT_SPID_ANY };

	for (unsigned int spid = 0; spid < WEFT_PIDS; spid++)
		assert_true(weft_ingress_spid(&in, (uint16_t)spid));
}

WEFT_TEST(every_bit_of_a_source_address_matters)
{
	const struct weft_ingress in = { .mac = { 0x02, 'W', 'E', 1, 0x01, 0x02 } };
	uint8_t mac[6];

	assert_true(weft_ingress_mac(&in, in.mac));
	for (unsigned int bit = 0; bit < 8 * sizeof(mac); bit++) {
		memcpy(mac, in.mac, sizeof(mac));
		mac[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(weft_ingress_mac(&in, mac));
	}
}

WEFT_TEST(what_is_refused_is_counted_by_kind)
{
	struct weft_ingress_drops d = { 0 };

	weft_ingress_refused(&d, WEFT_INGRESS_CONTROL, 0x101);
	weft_ingress_refused(&d, WEFT_INGRESS_FLITS, 0x102);
	weft_ingress_refused(&d, WEFT_INGRESS_CONTROL, 0x103);
	assert_int_equal(d.count[WEFT_INGRESS_FLITS], 1);
	assert_int_equal(d.count[WEFT_INGRESS_CONTROL], 2);
	assert_int_equal(d.count[WEFT_INGRESS_MESSAGES], 0);
	assert_int_equal(d.spid, 0x103);
}
