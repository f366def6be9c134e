/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The responder's end of CXL.mem: a GFD that serves reads and writes from memory of the caller
 * (wire-formats.md section 4.3, fabric.md sections 1.9 and 1.12). It sees one segment of fabric
 * addresses; its memory begins at the segment's base. With a guard, the tables of lib/fabric say
 * where an address leads and who may go there; without one, everybody reaches everything. A GFD
 * belongs to one thread.
 */
#ifndef WEFT_GFD_H
#define WEFT_GFD_H

#include "weft_base.h"
#include "weft_msg.h"
#include "weft_rand.h"
#include "weft_telem.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

/** Row order of weft_gfd_counters and of the values. */
enum weft_gfd_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_GFD_N_##id,
#include "weft_gfd_counters.def"
#undef WEFT_COUNTER
	WEFT_GFD_N_COUNTERS
};

struct weft_gfam_checker;

/** Bad data that is found when the header of the answer has left; see weft_gfd_set_late(). */
struct weft_gfd_late {
	uint64_t *line; /* one bit a line that is marked; NULL: nothing turns bad */
	uint64_t share; /* of reads of good lines, times 2^53 */
	struct weft_rand rand;
};

/** A GFD; set by weft_gfd_init(), to be read only. */
struct weft_gfd {
	uint8_t *mem;
	uint64_t *poison; /* one bit a line */
	uint64_t hpa_base;
	uint64_t len_bytes;
	const struct weft_gfam_checker *guard; /* NULL: no check */
	struct weft_gfd_late late;
	/** Of the reply made last: its data turns out bad, and its header does not say so. */
	bool turns_bad;
	uint64_t count[WEFT_GFD_N_COUNTERS];
	uint64_t skew; /**< from the address that was served last to its place in the memory */
	uint16_t pid;
};

/** Bytes of the poison map for @p len_bytes of memory. */
size_t weft_gfd_poison_size(uint64_t len_bytes);

/**
 * Start a GFD. The memory's contents are kept, no line is poisoned.
 *
 * @param pid        its PID, 0..0xFFE
 * @param hpa_base   fabric address of its first byte, 64-byte aligned, 52 bits
 * @param mem        its memory, the caller's for the GFD's life
 * @param len_bytes  size of @p mem: a multiple of 64, 64 or more, within 52 bits of @p hpa_base
 * @param poison     weft_gfd_poison_size() bytes, the caller's for the GFD's life
 * @return 0, or -EINVAL for a value out of range
 */
int weft_gfd_init(struct weft_gfd *g, uint16_t pid, uint64_t hpa_base, void *mem,
	uint64_t len_bytes, uint64_t *poison);

/** Poison every line: what was known of it is gone. Each write of a whole line heals it. */
void weft_gfd_poison_all(struct weft_gfd *g);

/**
 * Check with @p guard (weft_gfam_access.h) before each access from now on: it decides by the
 * request's SPID and address, and the device address is then its answer, not the distance to
 * hpa_base. What it refuses is answered as fabric.md section 1.9 has it, and counted.
 *
 * @param guard  the caller's for the GFD's life; NULL: no check, as after weft_gfd_init()
 */
void weft_gfd_set_guard(struct weft_gfd *g, const struct weft_gfam_checker *guard);

/**
 * Have data turn out bad when the header of its answer has left (late poison, wire-formats.md
 * section 4.6): of a share of the reads of good lines, and of every read of a line that
 * weft_gfd_mark_late() marked. weft_gfd_request() says so in `turns_bad`; the owner then poisons
 * the message on its way, or, where it cannot, sets the poison bit of the header. A clean write of
 * a whole line heals it.
 *
 * @param share  0..1
 * @param seed   of the draws
 * @param lines  weft_gfd_poison_size() bytes, the caller's for the GFD's life; cleared here
 * @return 0, or -EINVAL for a share out of range
 */
int weft_gfd_set_late(struct weft_gfd *g, double share, uint64_t seed, uint64_t *lines);

/**
 * Mark lines bad: poisoned, which is found late. By the thread that serves requests.
 *
 * @param offset  bytes from the first one of the memory; the line it is in is the first
 * @param lines   1 or more
 * @return 0, or -EINVAL if some are beyond the memory, or without weft_gfd_set_late()
 */
int weft_gfd_mark_late(struct weft_gfd *g, uint64_t offset, uint64_t lines);

/** The share and the seed of weft_gfd_set_late() again; marks stay. 0, or -EINVAL. */
int weft_gfd_set_late_share(struct weft_gfd *g, double share, uint64_t seed);

/**
 * As weft_gfd_mark_late(), of lines that are good: what is bad already stays as it is. It can be
 * taken back.
 *
 * @param map  a bit a line, zeros; receives which were marked
 * @return how many were; 0 if some are beyond the memory
 */
uint64_t weft_gfd_mark_good(struct weft_gfd *g, uint64_t offset, uint64_t lines, uint64_t *map);

/** Take that back, but for lines that were written since. */
void weft_gfd_unmark(struct weft_gfd *g, uint64_t offset, uint64_t lines, const uint64_t *map);

/**
 * Lines are good again: their owner has zeroed them. By the thread that serves requests.
 *
 * @param offset  as above
 * @param lines   multiple of 64, as @p offset is of 64 lines; all within the memory
 */
void weft_gfd_heal(struct weft_gfd *g, uint64_t offset, uint64_t lines);

/**
 * Execute one request and build its reply, which goes to the requester (DPID = the request's SPID).
 *
 * - MemRd, MemRdData: MemData, with poison if the line is, but for what weft_gfd_set_late() says;
 *   beyond the memory MemData-NXM, all ones
 * - MemInv: Cmp, for there is no metadata to change
 * - MemWr, MemWrPtl: Cmp; beyond the memory nothing is written, and Cmp all the same
 * - where the guard finds no decoder, as beyond the memory; where it finds no right, MemData, all
 *   ones, or Cmp with nothing written; either read with poison if its knob is on
 *
 * A write with poison poisons its line; a clean one of all 64 bytes heals it. A partial write
 * writes the bytes whose enable is set and no others.
 *
 * @param msg    address bits 5:0 are ignored
 * @param reply  written on WEFT_OK only; must not be @p msg
 * @return WEFT_OK; WEFT_DROP_NOT_MINE for another DPID than this GFD's; WEFT_DROP_WRONG_CLASS if it
 *         is neither M2S Req nor RwD; WEFT_DROP_BAD_OPCODE for any other opcode, or a MemWrPtl
 *         without the trailer that holds its byte enables. Each is counted
 */
enum weft_verdict weft_gfd_request(
	struct weft_gfd *g, const struct weft_msg *msg, struct weft_msg *reply);

/**
 * Have the CPU fetch lines that the requests of a flit may be about, before they are executed: a
 * line of a large memory is some hundred nanoseconds away. Places are guessed from the one served
 * last, so interleaved ways gain little. Changes nothing but what the caches hold.
 *
 * @param flit  256 bytes
 */
void weft_gfd_look_ahead(const struct weft_gfd *g, const uint8_t *flit);

/** Counter rows, WEFT_GFD_N_COUNTERS of them; the values are weft_gfd.count. */
extern const struct weft_counter weft_gfd_counters[];

WEFT_END_DECLS

#endif /* WEFT_GFD_H */
