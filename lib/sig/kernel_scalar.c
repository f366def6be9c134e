/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sums by the functions of lib/code, in two passes where data is copied: memcpy and then the sum of
 * what is in the cache beats ISA-L's own copying CRC (signature.md section 4.3). Hot path.
 */

#include "sig_priv.h"
#include "weft_data_crc.h"

static uint64_t
scalar_t10dif(uint64_t sum, const void *src, size_t len)
{
	return weft_crc16_t10dif((uint16_t)sum, src, len);
}

static uint64_t
scalar_crc32(uint64_t sum, const void *src, size_t len)
{
	return weft_crc32((uint32_t)sum, src, len);
}

static uint64_t
scalar_crc32c(uint64_t sum, const void *src, size_t len)
{
	return weft_crc32c((uint32_t)sum, src, len);
}

/*
 * 2^16 is 1 in this arithmetic: words of 32 bits add up as well as words of 16, and in the order of
 * this machine as well as in that of the wire, but for the two bytes of the result (RFC 1071).
 */
static uint64_t
scalar_csum(uint64_t sum, const void *src, size_t len)
{
	const uint8_t *p = src;
	uint64_t s = (sum & 0xFF) << 8 | (sum >> 8 & 0xFF);

	for (; len >= 4; p += 4, len -= 4)
		s += weft_get_le32(p);
	for (unsigned int shift = 0; len > 0; p++, len--, shift += 8)
		s += (uint64_t)*p << shift;
	while (s > 0xFFFF)
		s = (s & 0xFFFF) + (s >> 16);
	return (s & 0xFF) << 8 | s >> 8;
}

#define COPY(name, sum_of)                                                                         \
	static uint64_t name(uint64_t sum, void *dst, const void *src, size_t len)                 \
	{                                                                                          \
		memcpy(dst, src, len);                                                             \
		return sum_of(sum, dst, len);                                                      \
	}

COPY(t10dif_copy, scalar_t10dif)
COPY(csum_copy, scalar_csum)
COPY(crc32_copy, scalar_crc32)
COPY(crc32c_copy, scalar_crc32c)
COPY(crc64_copy, weft_crc64_xp10)

const weft_sig_sum_fn sig_scalar_sum[WEFT_SIG_SUMS] = {
	[WEFT_SIG_SUM_T10DIF] = scalar_t10dif,
	[WEFT_SIG_SUM_CSUM] = scalar_csum,
	[WEFT_SIG_SUM_CRC32] = scalar_crc32,
	[WEFT_SIG_SUM_CRC32C] = scalar_crc32c,
	[WEFT_SIG_SUM_CRC64] = weft_crc64_xp10,
};

const weft_sig_copy_fn sig_scalar_copy[WEFT_SIG_SUMS] = {
	[WEFT_SIG_SUM_T10DIF] = t10dif_copy,
	[WEFT_SIG_SUM_CSUM] = csum_copy,
	[WEFT_SIG_SUM_CRC32] = crc32_copy,
	[WEFT_SIG_SUM_CRC32C] = crc32c_copy,
	[WEFT_SIG_SUM_CRC64] = crc64_copy,
};
