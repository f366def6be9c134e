/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every request that a walk finds in flits of the packer is guessed, in order; in flits without
 * data nothing else is. Of noise no more is taken than there are slots.
 */

#include "weft_test.h"

#include "weft_flit.h"
#include "weft_guard.h"
#include "weft_guess.h"
#include "weft_msg.h"

#define ROUNDS 2000
#define NOISE 20000

struct walk {
	uint64_t addr[WEFT_GUESS_REQUESTS];
	unsigned int n;
};

static void
walked(void *arg, const struct weft_msg *m)
{
	struct walk *w = arg;

	if (m->kind == WEFT_MSG_M2S_REQ || m->kind == WEFT_MSG_M2S_RWD)
		w->addr[w->n++] = m->addr;
}

static struct weft_msg
message(struct weft_rand *r, bool writes)
{
	static const uint8_t kinds[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_S2M_NDR, WEFT_MSG_M2S_RWD };
	struct weft_msg m = { .kind = kinds[weft_rand_below(r, writes ? 3 : 2)],
		.meta_field = WEFT_META_FIELD_NOOP };

	if (m.kind == WEFT_MSG_M2S_RWD)
		m.op = WEFT_M2S_RWD_MEMWR;
	else if (m.kind == WEFT_MSG_M2S_REQ)
		m.op = WEFT_M2S_REQ_MEMRD;
	if (m.kind != WEFT_MSG_S2M_NDR)
		m.addr = weft_rand_u64(r) & weft_mask64(46) << 6;
	weft_rand_fill(r, m.data, sizeof(m.data));
	return m;
}

static void
check(const uint8_t *flit, enum weft_form form, unsigned int *data_slots, bool writes)
{
	uint64_t addr[WEFT_GUESS_REQUESTS];
	const unsigned int n = weft_guess_requests(flit, addr);
	struct walk w = { .n = 0 };
	unsigned int at = 0;

	assert_int_equal(weft_flit_walk(flit, form, data_slots, walked, &w), WEFT_OK);
	if (!writes)
		assert_int_equal(n, w.n);
	for (unsigned int i = 0; i < w.n; i++, at++) {
		while (at < n && addr[at] != w.addr[i])
			at++;
		assert_true(at < n);
	}
}

static void
flits_of_the_packer(struct weft_rand *r, enum weft_form form, bool writes)
{
	unsigned int data_slots = 0, requests = 0;
	struct weft_packer p;

	weft_pack_init(&p, form);
	for (unsigned int round = 0; round < weft_test_cases(ROUNDS); round++) {
		uint8_t flit[WEFT_FLIT_LEN];
		struct weft_msg m = message(r, writes);

		weft_pack_begin(&p, flit, false);
		for (unsigned int i = 0; i < 20 && weft_pack_msg(&p, &m) == 0; i++) {
			requests += m.kind != WEFT_MSG_S2M_NDR;
			m = message(r, writes);
		}
		weft_pack_end(&p);
		check(flit, form, &data_slots, writes);
	}
	assert_in_range(requests, weft_test_cases(ROUNDS), UINT32_MAX);
}

WEFT_TEST(requests_are_guessed)
{
	struct weft_rand r;

	weft_test_seed(&r, "requests");
	for (unsigned int i = 0; i < 4; i++)
		flits_of_the_packer(&r, i % 2 == 0 ? WEFT_FORM_PBR : WEFT_FORM_HBR, i < 2);
}

WEFT_TEST(noise_is_guessed_at_too)
{
	struct weft_guard g[2];
	struct weft_rand r;

	weft_test_seed(&r, "noise");
	weft_guard_open(&g[0], WEFT_FLIT_LEN);
	weft_guard_open(&g[1], WEFT_GUESS_REQUESTS * sizeof(uint64_t));
	for (unsigned int i = 0; i < weft_test_cases(NOISE); i++) {
		uint8_t *flit = weft_guard_last(&g[0], WEFT_FLIT_LEN);
		uint64_t *addr =
			(void *)weft_guard_last(&g[1], WEFT_GUESS_REQUESTS * sizeof(uint64_t));
		unsigned int n;

		weft_rand_fill(&r, flit, WEFT_FLIT_LEN);
		n = weft_guess_requests(flit, addr);
		assert_in_range(n, 0, WEFT_GUESS_REQUESTS);
		if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
			assert_int_equal(n, 0);
		for (unsigned int k = 0; k < n; k++)
			assert_int_equal(addr[k] & ~(weft_mask64(46) << 6), 0);
	}
	for (unsigned int s = 0; s < WEFT_FLIT_SLOTS; s++) {
		uint8_t *flit = weft_guard_last(&g[0], WEFT_FLIT_LEN);
		uint64_t *addr =
			(void *)weft_guard_last(&g[1], WEFT_GUESS_REQUESTS * sizeof(uint64_t));

		memset(flit, 0xFF, WEFT_FLIT_LEN);
		flit[0] = WEFT_FLIT_CACHEMEM << 6;
		for (unsigned int k = 0; k < WEFT_FLIT_SLOTS; k++)
			weft_flit_slot(flit, k)[0] = k < s ? 0x1E : 0x1F;
		assert_int_equal(weft_guess_requests(flit, addr), s);
	}
	weft_guard_close(&g[0]);
	weft_guard_close(&g[1]);
}
