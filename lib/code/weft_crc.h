/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The flit CRCs: remainders modulo g8 (g6 for each half of an LOpt flit) over GF(2^8) with
 * polynomial 0x12B, byte 0 of the message at the highest power (wire-formats.md section 2.1). A
 * remainder is one uint64_t with r7 in the top byte. Everything is linear: a CRC is compared by
 * XOR, and what XOR leaves, the *syndrome*, says more than equal or not (see weft_isn.h).
 */
#ifndef WEFT_CRC_H
#define WEFT_CRC_H

#include "weft_base.h"
#include "weft_cpu.h"

WEFT_BEGIN_DECLS

#define WEFT_CRC_COVERED 242 /**< bytes 0..241 of a flit: header, slots, CRD */
#define WEFT_CRC_OFF 242 /**< first CRC byte in the flit */
#define WEFT_CRC_LEN 8

/** Which coefficient stands at byte 242. Both ends of a link must agree. */
enum weft_crc_order {
	WEFT_CRC_R0_FIRST, /**< r0 at 242 ... r7 at 249 */
	WEFT_CRC_R7_FIRST /**< r7 at 242 ... r0 at 249: the flit is a plain codeword */
};

/** "r0", "r7". */
extern const char *const weft_crc_order_words[];

/**
 * Remainder of @p len message bytes continued from @p crc (0 to start), by a table.
 * Any length, any alignment. Any thread.
 */
uint64_t weft_crc_update(uint64_t crc, const void *msg, size_t len);

/** The same by the definition, bit by bit: the reference that tests compare with. */
uint64_t weft_crc_update_ref(uint64_t crc, const void *msg, size_t len);

/** CRC field of a flit as a remainder. @p flit is 256 bytes. */
static inline uint64_t
weft_crc_load(const uint8_t *flit, enum weft_crc_order order)
{
	const uint8_t *field = flit + WEFT_CRC_OFF;

	return order == WEFT_CRC_R0_FIRST ? weft_get_le64(field) : weft_get_be64(field);
}

/** Write remainder @p crc into the CRC field of a flit. */
static inline void
weft_crc_store(uint8_t *flit, uint64_t crc, enum weft_crc_order order)
{
	uint8_t *field = flit + WEFT_CRC_OFF;

	if (order == WEFT_CRC_R0_FIRST)
		weft_put_le64(field, crc);
	else
		weft_put_be64(field, crc);
}

#define WEFT_CRC_GROUP WEFT_KERNEL_GROUP /**< flits that a kernel takes at a time */

/**
 * A kernel computes, for @p n (1..WEFT_CRC_GROUP) flits of 256 bytes wherever they stand, the
 * remainder of each one's bytes 0..241 into @p crc[0..n-1]. The result depends on no other byte,
 * and nothing outside the flits is read. A flit on a 64-byte line is read fastest.
 */
typedef void (*weft_crc_group_fn)(const uint8_t *const *flit, unsigned int n, uint64_t *crc);

/** The same for both halves of latency-optimised flits: see weft_crc6_run(). */
typedef void (*weft_crc6_group_fn)(
	const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd);

/** One row a kernel, best first, scalar last. */
struct weft_crc_kernel {
	struct weft_kernel k;
	weft_crc_group_fn group;
	weft_crc6_group_fn group6;
};

WEFT_KERNELS_DECLARE(crc);

/** Remainders of @p n flits back to back at @p flits into @p crc[0..n-1]. Any thread. */
void weft_crc_run(
	const struct weft_crc_kernel *kernel, const uint8_t *flits, unsigned int n, uint64_t *crc);

/*
 * Latency-optimised (LOpt) flits have a 6-byte CRC for each half, remainders modulo g6. One is a
 * uint64_t with r5 in bits 47:40 and r0 in bits 7:0.
 */
#define WEFT_CRC6_EVEN_COVERED 122 /**< bytes 0..121 of a flit */
#define WEFT_CRC6_EVEN_OFF 122 /**< first CRC byte of the even half */
#define WEFT_CRC6_ODD_OFF 128 /**< the odd half: bytes 128..243 ... */
#define WEFT_CRC6_ODD_COVERED 116
#define WEFT_CRC6_ODD_CRC_OFF 250 /**< ... and its first CRC byte */
#define WEFT_CRC6_LEN 6

/**
 * Remainder of @p len bytes of a half, as if zeros followed up to the 130 bytes of the code
 * (wire-formats.md section 2.1). By a table; @p len 0..130, any alignment. Any thread.
 */
uint64_t weft_crc6_half(const void *half, size_t len);

/** The same by the definition, bit by bit. */
uint64_t weft_crc6_half_ref(const void *half, size_t len);

/** Remainders of the halves of @p n LOpt flits back to back at @p flits. Any thread. */
void weft_crc6_run(const struct weft_crc_kernel *kernel, const uint8_t *flits, unsigned int n,
	uint64_t *even, uint64_t *odd);

/** Read and write the 6-byte CRC field at @p field. */
uint64_t weft_crc6_load(const uint8_t *field, enum weft_crc_order order);
void weft_crc6_store(uint8_t *field, uint64_t crc, enum weft_crc_order order);

WEFT_END_DECLS

#endif /* WEFT_CRC_H */
