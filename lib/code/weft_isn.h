/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The implicit sequence number (ISN) of rxl mode: five symbols SPID, DPID, VC, number stand in
 * front of the flit while its CRC is computed and are never sent (encapsulation.md section 3).
 * By linearity CRC(number, ids, flit) = CRC(flit) ^ L(number) ^ A(ids). The syndrome of an intact
 * flit with another number is L(difference), so the receiver tells a lost flit from a corrupt one
 * and knows how many were lost.
 */
#ifndef WEFT_ISN_H
#define WEFT_ISN_H

#include "weft_base.h"
#include "weft_crc.h"

WEFT_BEGIN_DECLS

#define WEFT_ISN_NUMBERS 1024 /**< numbers 0..1023, modulo 1024 */
#define WEFT_ISN_WINDOW 511 /**< at most this many flits unacknowledged (ISN-8) */
#define WEFT_ISN_FIRST 1 /**< first number of a session */

/** How the number enters the CRC. Both ends of a connection must agree. */
enum weft_isn_form {
	WEFT_ISN_PSEUDO, /**< pseudo-header of ids and number: the default */
	WEFT_ISN_XOR, /**< number XORed into payload bits 9:0, no ids, no gap decoding */
	WEFT_ISN_NONE /**< plain CRC (cxl mode, or analysis) */
};

/** "pseudo", "xor", "none". */
extern const char *const weft_isn_words[];

/** L(number), number 0..1023; L(0) = 0. Any thread. */
uint64_t weft_isn_number(unsigned int number);

/** A(SPID, DPID, VC): a constant of the connection. SPID, DPID 0..0xFFF, VC 0..7. Any thread. */
uint64_t weft_isn_address(uint16_t spid, uint16_t dpid, uint8_t vc);

/** CRC contribution of a number in the XOR form, 0..1023. Any thread. */
uint64_t weft_isn_xor_number(unsigned int number);

/**
 * Decode a syndrome of the pseudo-header form.
 *
 * @return d in 0..1023 with L(d) = @p syndrome (0: the flit is intact and in turn), or -1 if there
 *         is none: the flit is corrupt, or for another receiver
 */
int weft_isn_decode(uint64_t syndrome);

/** One direction of a connection: what its CRCs are made with. Set by weft_isn_init(). */
struct weft_isn {
	uint64_t address; /* A(ids); 0 but for the pseudo-header form */
	uint16_t next; /* number of the next flit, 0..1023 */
	uint16_t guessed; /* receiver: bad flits just before, each taken to have used a number */
	uint8_t form; /* enum weft_isn_form */
	uint8_t order; /* enum weft_crc_order */
};

/**
 * Start a direction. One struct serves a sender or a receiver, never both.
 *
 * @param first  number of the first flit, 0..1023
 * @return 0, or -EINVAL for an id, channel, number, form or order out of range
 */
int weft_isn_init(struct weft_isn *s, enum weft_isn_form form, enum weft_crc_order order,
	uint16_t spid, uint16_t dpid, uint8_t vc, uint16_t first);

/**
 * Sender: number and protect a run of @p n (0..64) flits; bytes 242..249 are written.
 * Remainders come from @p kernel.
 */
void weft_isn_protect(
	struct weft_isn *s, const struct weft_crc_kernel *kernel, uint8_t *flits, unsigned int n);

/** Findings of a receiver in a run; bit i stands for flit i. Masks are disjoint. */
struct weft_isn_result {
	uint64_t in_turn; /**< intact, the number expected */
	/** intact, 1..511 numbers were skipped; the receiver went on from it */
	uint64_t after_gap;
	uint64_t duplicate; /**< intact, number in the past half: not to be used */
	uint64_t bad; /**< corrupt, or made for another receiver; one number used, it is guessed */
	uint64_t nop; /**< intact, uses no number */
	uint32_t lost; /**< numbers skipped by the gaps of this run, added up */
};

/**
 * Sender, where the CRC is made elsewhere: what @p n (0..64) flits from the next on have to XOR
 * into their remainders. The numbers are used up.
 */
void weft_isn_take(struct weft_isn *s, uint64_t *implicit, unsigned int n);

/**
 * As weft_isn_take() for @p n (0..64) flits that the retry layer has numbered from @p first
 * (0..1023) on; of the direction nothing is used up.
 *
 * @param nops   NOPs, the last ones: all of them are made with the number behind the other flits
 * @param invert_crc  flits whose CRC is to be inverted (bit i: flit i)
 */
void weft_isn_given(const struct weft_isn *s, uint16_t first, unsigned int n, unsigned int nops,
	uint64_t invert_crc, uint64_t *implicit);

/**
 * Receiver, where the CRC is made elsewhere: whether @p n (0..64) flits are all intact and in turn.
 *
 * @param syndrome  of each flit: its remainder XORed with the one in its CRC field
 */
bool weft_isn_all_in_turn(const struct weft_isn *s, const uint64_t *syndrome, unsigned int n);

/**
 * True if a flit's CRC holds for any number of this direction; in the XOR form, which cannot tell
 * numbers from damage, for the number @p ahead (0..63) flits from the next.
 */
bool weft_isn_is_intact(const struct weft_isn *s, uint64_t syndrome, unsigned int ahead);

/**
 * Receiver, where the CRC is made elsewhere: as weft_isn_check(), from syndromes as above. A flit
 * whose number shows that a bad one before it used none is in turn.
 *
 * @param nops  flits that use no number, if they are intact
 */
void weft_isn_judge(struct weft_isn *s, const uint64_t *syndrome, unsigned int n, uint64_t skip,
	uint64_t nops, struct weft_isn_result *r);

/**
 * Receiver: check a run of @p n (0..64) flits, each of which uses a number.
 *
 * @param skip  flits to pass over as if they were not there (all-zero ones); in no mask
 * @param r     receives the result; may not be NULL
 */
void weft_isn_check(struct weft_isn *s, const struct weft_crc_kernel *kernel, const uint8_t *flits,
	unsigned int n, uint64_t skip, struct weft_isn_result *r);

WEFT_END_DECLS

#endif /* WEFT_ISN_H */
