/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What every library may use: array sizes, byte order, single bits and bit fields of wire formats.
 * Everything here is a pure inline function.
 */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define WEFT_BIT64(n) (UINT64_C(1) << (n))
#define WEFT_CACHE_LINE 64

/** The low @p n bits set; @p n is 0..64. */
static inline uint64_t
weft_mask64(unsigned int n)
{
	return n >= 64 ? UINT64_MAX : WEFT_BIT64(n) - 1;
}

static inline uint16_t
weft_get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
weft_get_be32(const uint8_t *p)
{
	return (uint32_t)weft_get_be16(p) << 16 | weft_get_be16(p + 2);
}

static inline uint64_t
weft_get_be64(const uint8_t *p)
{
	return (uint64_t)weft_get_be32(p) << 32 | weft_get_be32(p + 4);
}

static inline void
weft_put_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void
weft_put_be32(uint8_t *p, uint32_t v)
{
	weft_put_be16(p, (uint16_t)(v >> 16));
	weft_put_be16(p + 2, (uint16_t)v);
}

static inline void
weft_put_be64(uint8_t *p, uint64_t v)
{
	weft_put_be32(p, (uint32_t)(v >> 32));
	weft_put_be32(p + 4, (uint32_t)v);
}

static inline uint16_t
weft_get_le16(const uint8_t *p)
{
	return (uint16_t)(p[1] << 8 | p[0]);
}

static inline uint32_t
weft_get_le32(const uint8_t *p)
{
	return (uint32_t)weft_get_le16(p + 2) << 16 | weft_get_le16(p);
}

static inline uint64_t
weft_get_le64(const uint8_t *p)
{
	return (uint64_t)weft_get_le32(p + 4) << 32 | weft_get_le32(p);
}

static inline void
weft_put_le16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void
weft_put_le32(uint8_t *p, uint32_t v)
{
	weft_put_le16(p, (uint16_t)v);
	weft_put_le16(p + 2, (uint16_t)(v >> 16));
}

static inline void
weft_put_le64(uint8_t *p, uint64_t v)
{
	weft_put_le32(p, (uint32_t)v);
	weft_put_le32(p + 4, (uint32_t)(v >> 32));
}

#ifdef __cplusplus
}
#endif

#endif /* WEFT_BASE_H */
