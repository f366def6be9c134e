/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC and CRC in one pass against the two apart, over every pair of kernels, lists of every length
 * and flits scattered over memory.
 */

#include "weft_test.h"

#include "weft_codec.h"
#include "weft_guard.h"
#include "weft_isn.h"

#define FLITS WEFT_CODEC_MAX
#define BYTES (FLITS * 256)

/* Flit i of a list stands at place (i * 37) mod 64: out of order, each once. */
static void
scatter(uint8_t *base, uint8_t *flit[FLITS])
{
	for (unsigned int i = 0; i < FLITS; i++)
		flit[i] = base + i * 37 % FLITS * 256;
}

static void
protect_equals_crc_then_fec(const struct weft_codec *c, struct weft_rand *r, unsigned int n)
{
	const struct weft_fec_kernel *fec = weft_fec_kernel_find("scalar", 0);
	const enum weft_crc_order order =
		weft_rand_below(r, 2) ? WEFT_CRC_R7_FIRST : WEFT_CRC_R0_FIRST;
	uint64_t implicit[FLITS];
	uint8_t want[BYTES];
	uint8_t *flit[FLITS];
	struct weft_guard guard;
	uint8_t *got;

	weft_guard_open(&guard, BYTES);
	got = weft_guard_last(&guard, BYTES);
	weft_rand_fill(r, got, BYTES);
	memcpy(want, got, BYTES);
	scatter(want, flit);
	for (unsigned int i = 0; i < n; i++) {
		implicit[i] = weft_rand_u64(r);
		weft_crc_store(flit[i],
			weft_crc_update_ref(0, flit[i], WEFT_CRC_COVERED) ^ implicit[i], order);
		weft_fec_encode(fec, flit[i], 1);
	}
	scatter(got, flit);
	weft_codec_protect(c, flit, n, order, implicit);
	assert_memory_equal(got, want, BYTES);
	weft_guard_close(&guard);
}

static void
check_finds_what_the_two_find(const struct weft_codec *c, struct weft_rand *r, unsigned int n)
{
	const uint64_t hurt = weft_rand_u64(r) & weft_rand_u64(r);
	uint64_t implicit[FLITS] = { 0 }, syndrome[FLITS + 1], not_clean;
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[BYTES];
	uint8_t before[BYTES];
	uint8_t *flit[FLITS];

	weft_rand_fill(r, flits, BYTES);
	scatter(flits, flit);
	weft_codec_protect(c, flit, n, WEFT_CRC_R0_FIRST, implicit);
	for (unsigned int i = 0; i < n; i++)
		if (hurt >> i & 1)
			flit[i][weft_rand_below(r, 256)] ^= (uint8_t)(1 + weft_rand_below(r, 255));
	memcpy(before, flits, BYTES);
	syndrome[n] = 1;
	not_clean =
		weft_codec_check(c, (const uint8_t *const *)flit, n, WEFT_CRC_R0_FIRST, syndrome);
	assert_memory_equal(flits, before, BYTES);
	assert_int_equal(not_clean, hurt & weft_mask64(n));
	assert_int_equal(syndrome[n], 1);
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t want = weft_crc_update_ref(0, flit[i], WEFT_CRC_COVERED) ^
		                      weft_crc_load(flit[i], WEFT_CRC_R0_FIRST);

		assert_int_equal(syndrome[i], want);
		assert_int_equal(weft_codec_syndrome(c, flit[i], WEFT_CRC_R0_FIRST), want);
	}
}

WEFT_TEST(every_pair_of_kernels_at_every_length)
{
	const uint32_t features = weft_cpu_detect();
	unsigned int pairs = 0;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int f = 0; f < weft_fec_n_kernels; f++)
		for (unsigned int k = 0; k < weft_crc_n_kernels; k++) {
			const struct weft_codec c = { &weft_fec_kernels[f], &weft_crc_kernels[k] };

			if (!weft_kernel_usable(&c.fec->k, features) ||
				!weft_kernel_usable(&c.crc->k, features)) {
				print_message("  left out: this CPU lacks what %s with %s needs\n",
					c.fec->k.name, c.crc->k.name);
				continue;
			}
			pairs++;
			for (unsigned int n = 0; n <= FLITS; n++) {
				protect_equals_crc_then_fec(&c, &r, n);
				check_finds_what_the_two_find(&c, &r, n);
			}
		}
	assert_true(pairs > 0);
}
