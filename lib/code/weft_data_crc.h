/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The CRCs that protect blocks of data: T10-DIF's guard, CRC-32, CRC-32C and CRC64_XP10, the last
 * also known as CRC-64/NVME and Rocksoft (signature.md section 3.1).
 *
 * One rule for all: what goes in and comes out is the finished CRC, as it is stored. Begin with 0,
 * and f(f(0, A), B) = f(0, A and B in one piece). To begin with another register than the catalogue
 * has, pass that register for T10-DIF, and its complement for the other three: a register of 0
 * there is begun by passing all ones.
 *
 * Every function takes any length and any alignment, reads nothing but the @p len bytes at @p buf
 * (which may be NULL if @p len is 0), and is safe in any thread.
 */
#ifndef WEFT_DATA_CRC_H
#define WEFT_DATA_CRC_H

#include "weft_base.h"
#include "weft_cpu.h"

WEFT_BEGIN_DECLS

/**
 * CRC-16/T10-DIF of @p len bytes continued from @p crc: polynomial 8BB7, most significant bit
 * first, register begun at 0, no inversion.
 */
uint16_t weft_crc16_t10dif(uint16_t crc, const void *buf, size_t len);

/**
 * CRC-32 of gzip, zlib and Ethernet (CRC-32/ISO-HDLC): polynomial 04C11DB7, least significant bit
 * first, inverted before and after.
 */
uint32_t weft_crc32(uint32_t crc, const void *buf, size_t len);

/** CRC-32C (CRC-32/ISCSI): polynomial 1EDC6F41, otherwise as weft_crc32(). */
uint32_t weft_crc32c(uint32_t crc, const void *buf, size_t len);

/**
 * CRC64_XP10 (CRC-64/NVME): polynomial AD93D23594C93659, least significant bit first, inverted
 * before and after. Runs the best kernel of this CPU, tested and chosen in the first call; who
 * masks features chooses with weft_crc64_kernel_find() instead.
 */
uint64_t weft_crc64_xp10(uint64_t crc, const void *buf, size_t len);

/** The same by the definition, bit by bit: the reference that kernels are judged by. */
uint64_t weft_crc64_xp10_ref(uint64_t crc, const void *buf, size_t len);

/** As weft_crc64_xp10(). */
typedef uint64_t (*weft_crc64_fn)(uint64_t crc, const void *buf, size_t len);

/** One row a kernel, best first, scalar last. */
struct weft_crc64_kernel {
	struct weft_kernel k;
	weft_crc64_fn fn;
};

WEFT_KERNELS_DECLARE(crc64);

WEFT_END_DECLS

#endif /* WEFT_DATA_CRC_H */
