/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Groups of eight through both kernels. Hot path. A sender's FEC covers the CRC bytes just written,
 * and a wide load of bytes that are still on their way to the cache waits for them: so the FEC
 * runs one group behind.
 */

#include "weft_codec.h"

#define GROUP WEFT_KERNEL_GROUP

static unsigned int
codec_group_len(unsigned int n, unsigned int i)
{
	return n - i < GROUP ? n - i : GROUP;
}

uint64_t
weft_codec_check(const struct weft_codec *c, const uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, uint64_t *syndrome)
{
	uint64_t fec[GROUP], not_clean = 0;

	assert(n <= WEFT_CODEC_MAX);
	for (unsigned int i = 0; i < n; i += GROUP) {
		const unsigned int m = codec_group_len(n, i);

		c->crc->group(flit + i, m, syndrome + i);
		c->fec->group(flit + i, m, fec);
		for (unsigned int k = 0; k < m; k++)
			syndrome[i + k] ^= weft_crc_load(flit[i + k], order);
		not_clean |= weft_fec_compare(flit + i, m, fec) << i;
	}
	return not_clean;
}

void
weft_codec_syndromes(const struct weft_codec *c, const uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, uint64_t *syndrome)
{
	assert(n <= WEFT_CODEC_MAX);
	for (unsigned int i = 0; i < n; i += GROUP)
		c->crc->group(flit + i, codec_group_len(n, i), syndrome + i);
	for (unsigned int i = 0; i < n; i++)
		syndrome[i] ^= weft_crc_load(flit[i], order);
}

uint64_t
weft_codec_fec_check(const struct weft_codec *c, const uint8_t *const *flit, unsigned int n)
{
	uint64_t fec[GROUP], not_clean = 0;

	assert(n <= WEFT_CODEC_MAX);
	for (unsigned int i = 0; i < n; i += GROUP) {
		const unsigned int m = codec_group_len(n, i);

		c->fec->group(flit + i, m, fec);
		not_clean |= weft_fec_compare(flit + i, m, fec) << i;
	}
	return not_clean;
}

uint64_t
weft_codec_syndrome(const struct weft_codec *c, const uint8_t *flit, enum weft_crc_order order)
{
	uint64_t crc;

	c->crc->group(&flit, 1, &crc);
	return crc ^ weft_crc_load(flit, order);
}

static void
codec_crc_group(const struct weft_codec *c, uint8_t *const *flit, unsigned int m,
	enum weft_crc_order order, const uint64_t *implicit)
{
	uint64_t crc[GROUP];

	c->crc->group((const uint8_t *const *)flit, m, crc);
	for (unsigned int k = 0; k < m; k++)
		weft_crc_store(flit[k], crc[k] ^ implicit[k], order);
}

static void
codec_fec_group(const struct weft_codec *c, uint8_t *const *flit, unsigned int m)
{
	uint64_t fec[GROUP];

	c->fec->group((const uint8_t *const *)flit, m, fec);
	for (unsigned int k = 0; k < m; k++)
		weft_fec_store(flit[k], fec[k]);
}

void
weft_codec_protect(const struct weft_codec *c, uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, const uint64_t *implicit)
{
	const unsigned int last = n == 0 ? 0 : (n - 1) / GROUP * GROUP;

	assert(n <= WEFT_CODEC_MAX);
	for (unsigned int i = 0; i < n; i += GROUP) {
		codec_crc_group(c, flit + i, codec_group_len(n, i), order, implicit + i);
		if (i != 0)
			codec_fec_group(c, flit + i - GROUP, GROUP);
	}
	if (n != 0)
		codec_fec_group(c, flit + last, n - last);
}

void
weft_codec_crc_protect(const struct weft_codec *c, uint8_t *const *flit, unsigned int n,
	enum weft_crc_order order, const uint64_t *implicit)
{
	assert(n <= WEFT_CODEC_MAX);
	for (unsigned int i = 0; i < n; i += GROUP)
		codec_crc_group(c, flit + i, codec_group_len(n, i), order, implicit + i);
}

void
weft_codec_fec_encode(const struct weft_codec *c, uint8_t *const *flit, unsigned int n)
{
	assert(n <= WEFT_CODEC_MAX);
	for (unsigned int i = 0; i < n; i += GROUP)
		codec_fec_group(c, flit + i, codec_group_len(n, i));
}
