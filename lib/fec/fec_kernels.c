/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The FEC's kernels and how one is chosen (doc/architecture.md, Kernels). A kernel is believed only
 * after it has agreed with the sums of wire-formats.md section 2.2, taken term by term, on runs
 * shorter and longer than a vector register has lanes.
 */

#include <string.h>

#include "fec_priv.h"

#include "weft_base.h"

const struct weft_fec_kernel weft_fec_kernels[] = {
	{ { "scalar", 0 }, weft_fec_encode_scalar, weft_fec_check_scalar },
};
const unsigned int weft_fec_n_kernels = WEFT_ARRAY_SIZE(weft_fec_kernels);

#define FEC_TEST_FLITS 19 /* more than 16 lanes, and an odd rest */
#define FEC_TEST_BYTES ((size_t)FEC_TEST_FLITS * FEC_FLIT_LEN)

/* value * alpha^power */
static uint8_t
fec_scale(uint8_t value, unsigned int power)
{
	unsigned int v = value;

	while (power-- > 0)
		v = v << 1 ^ ((v & 0x80) != 0 ? 0x11D : 0);
	return (uint8_t)v;
}

static void
fec_encode_by_definition(uint8_t *flit)
{
	/* Groups in the order of their FEC bytes. */
	static const uint8_t place[FEC_GROUPS] = { 2, 0, 1 };

	memset(flit + WEFT_FEC_OFF, 0, WEFT_FEC_LEN);
	for (unsigned int i = 0; i < WEFT_FEC_COVERED; i++) {
		const unsigned int p = place[i % FEC_GROUPS];

		flit[FEC_CHECK_OFF + p] ^= fec_scale(flit[i], FEC_ROWS - i / FEC_GROUPS);
		flit[FEC_PARITY_OFF + p] ^= flit[i];
	}
}

static bool
fec_encode_agrees(weft_fec_encode_fn encode, const uint8_t *want, unsigned int n)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t got[FEC_TEST_BYTES];

	memcpy(got, want, sizeof(got));
	for (unsigned int i = 0; i < n; i++)
		memset(got + (size_t)i * FEC_FLIT_LEN + WEFT_FEC_OFF, 0x55, WEFT_FEC_LEN);
	encode(got, n);
	return memcmp(got, want, sizeof(got)) == 0;
}

/* One wrong byte in every other flit, elsewhere in each: all groups and FEC bytes get their turn. */
static bool
fec_check_agrees(weft_fec_check_fn check, uint8_t *flits)
{
	uint64_t broken = 0;

	if (check(flits, FEC_TEST_FLITS) != 0)
		return false;
	for (unsigned int i = 0; i < FEC_TEST_FLITS; i += 2) {
		flits[(size_t)i * FEC_FLIT_LEN + 255 - 14 * i] ^= 0x10;
		broken |= WEFT_BIT64(i);
	}
	return check(flits, FEC_TEST_FLITS) == broken && check(flits, 1) == 1;
}

static bool
fec_kernel_passes(const struct weft_fec_kernel *kernel)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[FEC_TEST_BYTES];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(flits); i++) {
		x = x * 1664525u + 1013904223u;
		flits[i] = (uint8_t)(x >> 24);
	}
	for (unsigned int i = 0; i < FEC_TEST_FLITS; i++)
		fec_encode_by_definition(flits + (size_t)i * FEC_FLIT_LEN);
	return fec_encode_agrees(kernel->encode, flits, 1) &&
	       fec_encode_agrees(kernel->encode, flits, FEC_TEST_FLITS) &&
	       fec_check_agrees(kernel->check, flits);
}

const struct weft_fec_kernel *
weft_fec_kernel_find(const char *name, uint32_t features)
{
	for (unsigned int i = 0; i < weft_fec_n_kernels; i++) {
		const struct weft_fec_kernel *row = &weft_fec_kernels[i];

		if (name != NULL && strcmp(name, row->k.name) != 0)
			continue;
		if (weft_kernel_usable(&row->k, features) && fec_kernel_passes(row))
			return row;
	}
	return NULL;
}
