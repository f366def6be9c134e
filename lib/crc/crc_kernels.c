/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The flit CRC's kernels and how one is chosen (doc/architecture.md, Kernels). A kernel is believed
 * only after it has agreed with the definition on runs shorter and longer than a vector register
 * has lanes.
 */

#include <string.h>

#include "crc_priv.h"

#include "weft_base.h"

const struct weft_crc_kernel weft_crc_kernels[] = {
	{ { "scalar", 0 }, weft_crc_run_scalar },
};
const unsigned int weft_crc_n_kernels = WEFT_ARRAY_SIZE(weft_crc_kernels);

#define CRC_TEST_FLITS 19 /* more than 16 lanes, and an odd rest */
#define CRC_TEST_UNTOUCHED UINT64_C(0xA5A5A5A5A5A5A5A5)

static bool
crc_run_agrees(weft_crc_run_fn run, const uint8_t *flits, unsigned int n)
{
	uint64_t crc[CRC_TEST_FLITS + 1];

	crc[n] = CRC_TEST_UNTOUCHED;
	run(flits, n, crc);
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *flit = flits + (size_t)i * CRC_FLIT_LEN;

		if (crc[i] != weft_crc_update_ref(0, flit, WEFT_CRC_COVERED))
			return false;
	}
	return crc[n] == CRC_TEST_UNTOUCHED;
}

static bool
crc_kernel_passes(const struct weft_crc_kernel *kernel)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[CRC_TEST_FLITS * CRC_FLIT_LEN];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(flits); i++) {
		x = x * 1664525u + 1013904223u;
		flits[i] = (uint8_t)(x >> 24);
	}
	return crc_run_agrees(kernel->run, flits, 1) &&
	       crc_run_agrees(kernel->run, flits, CRC_TEST_FLITS);
}

const struct weft_crc_kernel *
weft_crc_kernel_find(const char *name, uint32_t features)
{
	for (unsigned int i = 0; i < weft_crc_n_kernels; i++) {
		const struct weft_crc_kernel *row = &weft_crc_kernels[i];

		if (name != NULL && strcmp(name, row->k.name) != 0)
			continue;
		if (weft_kernel_usable(&row->k, features) && crc_kernel_passes(row))
			return row;
	}
	return NULL;
}
