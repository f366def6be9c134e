/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every kernel against a reading of the H-slot bit by bit, over flits of noise that are requests
 * often, with guard pages around flits and arrays; and against the encoder of messages.
 */

#include "weft_test.h"

#include "weft_flit.h"
#include "weft_guard.h"
#include "weft_req_scan.h"
#include "weft_msg.h"

#define ROUNDS 3000

static unsigned int
bits(const uint8_t *p, unsigned int first, unsigned int n)
{
	unsigned int v = 0;

	for (unsigned int i = 0; i < n; i++)
		v |= (unsigned int)(p[(first + i) / 8] >> (first + i) % 8 & 1) << i;
	return v;
}

/* 0: no request. */
static unsigned int
plain(const uint8_t *flit, uint64_t *addr)
{
	const uint8_t *slot = flit + 2;
	const unsigned int fmt = bits(slot, 0, 4);

	if (bits(flit, 6, 2) != 2 || bits(slot, 4, 1) != 1 || (fmt != 4 && fmt != 14))
		return 0;
	*addr = ((uint64_t)bits(slot, 32, 23) | (uint64_t)bits(slot, 55, 23) << 23) << 6;
	return fmt == 4 ? WEFT_REQ_READ : WEFT_REQ_WRITE;
}

static void
one_call(const struct weft_req_scan_kernel *k, struct weft_rand *r, struct weft_guard *g)
{
	const unsigned int n = (unsigned int)weft_rand_below(r, WEFT_REQ_SCAN_MAX + 1);
	const unsigned int room =
		(n + WEFT_REQ_SCAN_STEP - 1) / WEFT_REQ_SCAN_STEP * WEFT_REQ_SCAN_STEP;
	const uint64_t live = weft_rand_u64(r) | (weft_rand_below(r, 2) != 0 ? UINT64_MAX : 0);
	uint8_t *flits = weft_guard_last(&g[0], n * (size_t)WEFT_FLIT_LEN);
	uint64_t *addr = (void *)weft_guard_last(&g[1], room * sizeof(*addr));
	uint8_t *kind = weft_guard_last(&g[2], room);
	uint64_t found = 0, got;
	unsigned int at = 0;

	weft_rand_fill(r, flits, n * (size_t)WEFT_FLIT_LEN);
	for (unsigned int i = 0; i < n; i++) {
		static const uint8_t often[] = { 0x14, 0x1E, 0x14, 0x1E, 0x04, 0x1C };
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;

		if (weft_rand_below(r, 8) == 0)
			continue;
		flit[0] = (uint8_t)((flit[0] & 0x3F) | WEFT_FLIT_CACHEMEM << 6);
		flit[WEFT_FLIT_H_OFF] = (uint8_t)((flit[WEFT_FLIT_H_OFF] & 0xE0) |
						  often[weft_rand_below(r, sizeof(often))]);
	}
	got = k->run(flits, n, live, addr, kind);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t a = 0;
		const unsigned int is = plain(flits + i * (size_t)WEFT_FLIT_LEN, &a);

		if (is == 0 || (live >> i & 1) == 0)
			continue;
		found |= WEFT_BIT64(i);
		assert_int_equal(addr[at], a);
		assert_int_equal(kind[at], is);
		at++;
	}
	assert_int_equal(got, found);
}

/* What the encoder makes of a request is found, in both forms. */
static void
encoded(const struct weft_req_scan_kernel *k, struct weft_rand *r)
{
	static const uint8_t kinds[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD };

	for (unsigned int i = 0; i < 64; i++) {
		const struct weft_msg m = { .kind = kinds[i % 2],
			.op = i % 2 == 0 ? WEFT_M2S_REQ_MEMRD : WEFT_M2S_RWD_MEMWR,
			.meta_field = WEFT_META_FIELD_NOOP,
			.addr = weft_rand_u64(r) & weft_mask64(46) << 6 };
		uint8_t flit[WEFT_FLIT_LEN] = { WEFT_FLIT_CACHEMEM << 6 };
		uint64_t addr[WEFT_REQ_SCAN_STEP];
		uint8_t kind[WEFT_REQ_SCAN_STEP];

		assert_int_equal(weft_slot_encode(weft_flit_slot(flit, 0), true,
					 i & 2 ? WEFT_FORM_PBR : WEFT_FORM_HBR, &m, 1),
			0);
		assert_int_equal(k->run(flit, 1, UINT64_MAX, addr, kind), 1);
		assert_int_equal(addr[0], m.addr);
		assert_int_equal(kind[0], i % 2 == 0 ? WEFT_REQ_READ : WEFT_REQ_WRITE);
	}
}

WEFT_TEST(kernels_find_what_is_there)
{
	for (unsigned int i = 0; i < weft_req_scan_n_kernels; i++) {
		const struct weft_req_scan_kernel *k = &weft_req_scan_kernels[i];
		struct weft_guard g[3];
		struct weft_rand r;

		if (!weft_kernel_usable(&k->k, weft_cpu_detect())) {
			print_message("  left out: this CPU lacks what %s needs\n", k->k.name);
			continue;
		}
		assert_ptr_equal(weft_req_scan_kernel_find(k->k.name, weft_cpu_detect()), k);
		weft_test_seed(&r, k->k.name);
		weft_guard_open(&g[0], WEFT_REQ_SCAN_MAX * (size_t)WEFT_FLIT_LEN);
		weft_guard_open(&g[1], WEFT_REQ_SCAN_MAX * sizeof(uint64_t));
		weft_guard_open(&g[2], WEFT_REQ_SCAN_MAX);
		for (unsigned int round = 0; round < ROUNDS; round++)
			one_call(k, &r, g);
		for (unsigned int j = 0; j < 3; j++)
			weft_guard_close(&g[j]);
		encoded(k, &r);
	}
}
