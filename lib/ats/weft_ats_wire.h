/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Packets of Address Translation Services, byte for byte (ats.md sections 2, 3, 5.3 and 5.4).
 * Reserved bits are ignored on receipt and 0 on sending. Pure functions, any thread; a packet is
 * given whole, by its length in bytes, and nothing outside it is read.
 */
#ifndef WEFT_ATS_WIRE_H
#define WEFT_ATS_WIRE_H

#include "weft_base.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_ATS_PAGE_LOG2 12 /**< the smallest page */
#define WEFT_ATS_ITAGS 32
#define WEFT_ATS_TCS 8
#define WEFT_ATS_XLATS 16 /**< translations a request may ask for, at an RCB of 128 bytes */
#define WEFT_ATS_XLAT_LEN 8 /**< bytes of one translation */
#define WEFT_ATS_PREFIX_LEN 4 /**< PASID prefix */
#define WEFT_ATS_HEADER_MAX (WEFT_ATS_PREFIX_LEN + 16)
#define WEFT_ATS_PACKET_MAX (WEFT_ATS_HEADER_MAX + WEFT_ATS_XLATS * WEFT_ATS_XLAT_LEN)
#define WEFT_ATS_DWS_MAX 1024 /**< payload of a packet, in DW */
#define WEFT_ATS_SOURCE_CXL 8 /**< addr of a page-aligned Translation Request: asked for CXL */

enum weft_ats_kind {
	WEFT_ATS_READ, /**< memory read, 64-bit form, AT 00 or 10 (section 2.1) */
	WEFT_ATS_WRITE, /**< memory write, as above */
	WEFT_ATS_REQUEST, /**< Translation Request: read with AT 01 (section 2.2) */
	WEFT_ATS_CPL, /**< completion without data (section 2.3) */
	WEFT_ATS_CPLD, /**< completion with data (section 2.4) */
	WEFT_ATS_INVALIDATE, /**< Invalidate Request (section 2.6) */
	WEFT_ATS_INVALIDATED, /**< Invalidate Completion (section 2.7) */
	WEFT_ATS_PAGE, /**< Page Request, or Stop Marker (section 5.4) */
	WEFT_ATS_PAGE_GROUP, /**< PRG Response */
	WEFT_ATS_KINDS
};

enum weft_ats_at { WEFT_ATS_UNTRANSLATED, WEFT_ATS_AT_REQUEST, WEFT_ATS_TRANSLATED };

/** Completion status; every other value is malformed. */
enum weft_ats_status { WEFT_ATS_SUCCESS = 0, WEFT_ATS_UR = 1, WEFT_ATS_CA = 4 };

/** PRG Response codes; every other value acts as WEFT_ATS_PAGE_FAILURE. */
enum weft_ats_page_code {
	WEFT_ATS_PAGE_SUCCESS = 0,
	WEFT_ATS_PAGE_INVALID = 1,
	WEFT_ATS_PAGE_FAILURE = 15
};

/** Bits of a translation, where they are on the wire; the other low bits are ignored. */
enum weft_ats_bits {
	WEFT_ATS_R = 1 << 0,
	WEFT_ATS_W = 1 << 1,
	WEFT_ATS_U = 1 << 2, /**< untranslated access only */
	WEFT_ATS_EXE = 1 << 3,
	WEFT_ATS_PRIV = 1 << 4,
	WEFT_ATS_CXL_IO = 1 << 9, /**< not by CXL.cache (section 5.5) */
	WEFT_ATS_N = 1 << 10 /**< accesses must not set No-Snoop */
};
#define WEFT_ATS_BITS                                                                              \
	(WEFT_ATS_R | WEFT_ATS_W | WEFT_ATS_U | WEFT_ATS_EXE | WEFT_ATS_PRIV | WEFT_ATS_CXL_IO |   \
		WEFT_ATS_N)

/** Page Request bits: what is wanted, and the end of a group. */
enum weft_ats_page_bits {
	WEFT_ATS_PAGE_R = 1 << 0,
	WEFT_ATS_PAGE_W = 1 << 1,
	WEFT_ATS_PAGE_LAST = 1 << 2
};

/**
 * A packet in host order. In brackets the kinds that have the field: M memory, T Translation
 * Request, C completions, I and D invalidation request and completion ("done"), P and G Page
 * Request and PRG Response. Decoding leaves the others 0; encoding ignores them.
 */
struct weft_ats_packet {
	uint64_t addr; /**< [M T] bits 63:2; [I] start of the range; [P] bits 63:12 */
	const uint8_t *data; /**< [M C] payload, inside the decoded packet or the caller's */
	uint32_t itags; /**< [D] bit i: the request with ITag i is completed */
	uint32_t pasid; /**< 20 bits, if has_pasid */
	uint16_t length; /**< [M T C] payload, or what is wanted, in DW: 1..1024 */
	uint16_t byte_count; /**< [C] bytes to come with this packet, 12 bits */
	uint16_t requester; /**< all: requester of the access, or sender of the message */
	uint16_t target; /**< [C] completer; [I D G] receiver of the message */
	uint16_t group; /**< [P G] PRG index, 9 bits */
	uint8_t kind; /**< enum weft_ats_kind */
	uint8_t tc; /**< traffic class, 0..7 */
	uint8_t attr; /**< [M] 2 bits */
	uint8_t at; /**< [M] enum weft_ats_at, not WEFT_ATS_AT_REQUEST */
	uint8_t tag; /**< [M T C] */
	uint8_t enables; /**< [M] byte enables: last DW 7:4, first DW 3:0 */
	uint8_t status; /**< [C] enum weft_ats_status */
	uint8_t lower_addr; /**< [C] 7 bits */
	uint8_t itag; /**< [I] 0..31 */
	uint8_t log2; /**< [I] size of the range, 12..64 */
	uint8_t count; /**< [D] completions for each of these requests, 1..8 */
	uint8_t page_bits; /**< [P] enum weft_ats_page_bits */
	uint8_t code; /**< [G] enum weft_ats_page_code, 4 bits */
	bool poisoned; /**< EP */
	bool no_write; /**< [T] the requester does not want to write */
	bool global; /**< [I] every PASID */
	bool has_pasid; /**< a PASID prefix goes before the header */
	bool exec; /**< in the prefix: Execute Requested */
	bool priv; /**< in the prefix: Privileged Mode Requested */
};

/**
 * Read a packet.
 *
 * A digest (TD) is skipped and not verified: frames carry their own check.
 *
 * @param p    @p len bytes, no alignment needed; out->data points into them
 * @param rcb  read completion boundary, 64 or 128 bytes: the most a Translation Request may ask for
 * @return WEFT_OK; WEFT_DROP_ATS_LENGTH if the bytes are not as many as the header says;
 *         WEFT_DROP_ATS_TYPE for a type, format, message code or AT not known here;
 *         WEFT_DROP_ATS_FIELD for a field its kind forbids: a Translation Request of an odd, zero
 *         or too large Length or of partial DWs, a reserved status, data with a bad status, Length
 *         of a packet without data; WEFT_DROP_ATS_RANGE for an invalidation whose size is
 *         undefined. @p out is defined after WEFT_OK only
 */
enum weft_verdict weft_ats_decode(
	const uint8_t *p, size_t len, unsigned int rcb, struct weft_ats_packet *out);

/**
 * Write a packet.
 *
 * @return its length in bytes; 0 if @p room is too small or a field is out of its range: the limits
 *         of struct weft_ats_packet, addr aligned to the size of an invalidation, Length of a
 *         Translation Request even and 2..32
 */
size_t weft_ats_encode(const struct weft_ats_packet *in, uint8_t *p, size_t room);

/** One translation. */
struct weft_ats_xlat {
	uint64_t pa; /**< translated address, aligned to its size */
	uint16_t bits; /**< enum weft_ats_bits */
	uint8_t log2; /**< size, 12..64; 0 if there is neither R nor W: the rest is undefined */
};

/** Which packet of the answer to a Translation Request (section 2.5). */
enum weft_ats_part { WEFT_ATS_ONLY, WEFT_ATS_FIRST, WEFT_ATS_SECOND };

/**
 * Read the translations of a completion with data.
 *
 * @param p     a packet of kind WEFT_ATS_CPLD
 * @param rcb   64 or 128
 * @param part  receives which packet of the answer it is
 * @param x     receives up to WEFT_ATS_XLATS translations
 * @param n     receives their number, 1 or more
 * @return WEFT_OK; WEFT_DROP_ATS_FIELD for an odd Length or one above the RCB, a Byte Count below
 *         the length, above the RCB or not of whole translations; WEFT_DROP_ATS_RANGE for a
 *         translation whose size is undefined
 */
enum weft_verdict weft_ats_xlats_get(const struct weft_ats_packet *p, unsigned int rcb,
	enum weft_ats_part *part, struct weft_ats_xlat *x, unsigned int *n);

/**
 * Make one packet of an answer: Length, Byte Count, Lower Address and data.
 *
 * @param p      receives kind, status, length, byte_count, lower_addr, data; other fields stay
 * @param x      all @p n translations of the answer, each valid
 * @param n      1..16
 * @param first  translations in the first packet: @p n for an answer in one packet
 * @param part   WEFT_ATS_ONLY with @p first == @p n, else FIRST or SECOND
 * @param data   memory for the payload, WEFT_ATS_XLATS * WEFT_ATS_XLAT_LEN bytes; p->data is this
 * @return 0; -EINVAL for numbers or a translation out of range
 */
int weft_ats_xlats_put(struct weft_ats_packet *p, const struct weft_ats_xlat *x, unsigned int n,
	unsigned int first, enum weft_ats_part part, uint8_t *data);

/**
 * Encode a range as address and size bit S (section 3).
 *
 * @param base  aligned to the size
 * @param log2  12..64
 */
uint64_t weft_ats_range_put(uint64_t base, unsigned int log2);

/**
 * Decode a range; bits 10:0 of @p word are not looked at.
 *
 * @param base  receives the start
 * @return log2 of its size, 12..64; -1 if it is undefined (bits 63:12 all 1 with S)
 */
int weft_ats_range_get(uint64_t word, uint64_t *base);

/** An aligned range of 1 << log2 bytes. */
struct weft_ats_range {
	uint64_t base;
	uint8_t log2; /**< 12..64 */
};

/**
 * Cover @p from .. @p last by aligned ranges, for an invalidation: exactly if @p max are enough,
 * else what is left by one that is larger than it (section 3).
 *
 * @param from      start, rounded down to a smallest unit
 * @param last      last address, not below @p from
 * @param stu_log2  log2 of the Smallest Translation Unit, 12..43
 * @param out       receives up to @p max ranges, 1 or more
 * @return how many
 */
unsigned int weft_ats_cover(uint64_t from, uint64_t last, unsigned int stu_log2,
	struct weft_ats_range *out, unsigned int max);

WEFT_END_DECLS

#endif /* WEFT_ATS_WIRE_H */
