/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: look-ups that need no vector instructions, and the choice of those that do. */

#include "atc_probe_priv.h"

const struct weft_atc_kernel weft_atc_kernels[] = {
#if defined(__x86_64__)
	{ { "avx512", WEFT_CPU_AVX512 }, weft_atc_run_avx512 },
	{ { "avx2", WEFT_CPU_AVX2 }, weft_atc_run_avx2 },
#endif
	{ { "scalar", 0 }, weft_atc_run_scalar },
};

enum weft_atc_result
weft_atc_lookup(struct weft_atc *c, uint16_t ctx, uint64_t va, unsigned int want, uint64_t *pa)
{
	uint64_t by_result[WEFT_ATC_UNTRANSLATED + 1] = { 0 };
	const enum weft_atc_result r = atc_finish(
		c, atc_begin(c, ctx, va), ctx, va, want & (WEFT_ATC_R | WEFT_ATC_W), pa, atc_match);

	by_result[r]++;
	atc_count(c, by_result);
	return r;
}

unsigned int
weft_atc_run_scalar(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n)
{
	return atc_run(c, q, n, atc_match, atc_stretch_of_one_class, atc_same_context);
}

unsigned int
weft_atc_lookup_run(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n)
{
	return c->kernel->run(c, q, n);
}

/* Two pages in one set, a refusal and a miss: what the kernel says of them. */
static bool
atc_kernel_passes(const struct weft_kernel *row)
{
	const struct weft_atc_kernel *kernel = (const struct weft_atc_kernel *)(const void *)row;
	const struct weft_atc_cfg cfg = { .sets = { 1 }, .contexts = 2, .kernel = kernel };
	_Alignas(WEFT_CACHE_LINE) uint8_t mem[1024];
	const uint16_t ctx[] = { 1, 1, 0, 1, 1, 2 };
	const uint64_t va[] = { 0x7008, 0x2FF8, 0x2000, 0x8000, 0x2000, 0x7000 };
	const uint8_t want[] = { WEFT_ATC_R, WEFT_ATC_R, WEFT_ATC_R, WEFT_ATC_R, WEFT_ATC_W,
		WEFT_ATC_R };
	static const uint8_t expected[] = { WEFT_ATC_HIT, WEFT_ATC_HIT, WEFT_ATC_MISS,
		WEFT_ATC_MISS, WEFT_ATC_DENY, WEFT_ATC_MISS };
	uint64_t pa[6] = { 0 };
	uint8_t result[6];
	const struct weft_atc_run q = { ctx, va, want, pa, result };
	struct weft_atc *c;

	if (weft_atc_size(&cfg) > sizeof(mem))
		return false;
	c = weft_atc_init(mem, &cfg);
	for (unsigned int page = 1; page < 8; page++)
		weft_atc_install(c, 1, page << 12, (page + 16) << 12, 12, WEFT_ATC_R);
	weft_atc_lookup_run(c, &q, 6);
	return memcmp(result, expected, sizeof(expected)) == 0 && pa[0] == 0x17008 &&
	       pa[1] == 0x12FF8;
}

WEFT_KERNELS_DEFINE(atc, "atc", atc_kernel_passes)
