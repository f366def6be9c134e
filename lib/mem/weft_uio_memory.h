/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The responder's end of UIO: memory of a GFD, of a device, or that a host offers to others (GIM).
 * With a guard, the tables of lib/fabric say where an address leads and who may go there (fabric.md
 * sections 1.9 and 2.4); without one, everybody reaches everything. Belongs to one thread.
 */
#ifndef WEFT_UIO_MEMORY_H
#define WEFT_UIO_MEMORY_H

#include "weft_base.h"
#include "weft_telem.h"
#include "weft_uio.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_UIO_SPLIT_MIN 64
#define WEFT_UIO_CPLS_MAX 5 /**< packets of one answer: 256 bytes from the middle of a line on */

/** Row order of weft_uio_memory_counters and of the values. */
enum weft_uio_memory_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_UIO_MEMORY_N_##id,
#include "weft_uio_memory_counters.def"
#undef WEFT_COUNTER
	WEFT_UIO_MEMORY_N_COUNTERS
};

struct weft_gfam_checker;

struct weft_uio_memory_cfg {
	uint8_t *mem; /**< the caller's for the object's life */
	uint64_t len; /**< bytes of it; 0: there is none */
	uint64_t hpa_base; /**< without a guard: address of its first byte */
	uint64_t *poison; /**< a bit for each 64 bytes, or NULL: none is kept */
	const struct weft_gfam_checker *guard; /**< or NULL; its tables have WEFT_GFAM_UIO on */
	uint16_t completer; /**< id in completions: 0 of a GFD and of GIM */
	uint16_t split; /**< completions end at multiples of it: 64, 128 or 256 */
	/**
	 * The requester is whom VendPrefixL0 names, as at a host, and who is not named gets UR.
	 * Otherwise it is the SPID.
	 */
	bool by_prefix;
};

/** A responder; set by weft_uio_memory_init(), to be read only. */
struct weft_uio_memory {
	struct weft_uio_memory_cfg cfg;
	uint64_t skew; /* place of the request served last, less its address */
	uint64_t count[WEFT_UIO_MEMORY_N_COUNTERS];
};

/** @return 0, or -EINVAL for a split that is none of those */
int weft_uio_memory_init(struct weft_uio_memory *m, const struct weft_uio_memory_cfg *cfg);

/**
 * Execute one request and build its answer: completions without a PTH but for PIF, which is set,
 * each with the prefix of the request, if it had one.
 *
 *   read   CplD, as many as `split` asks for; poison if a line is
 *   write  Cpl; poisons its lines, or heals those it writes as a whole
 *   UR     no decoder, or nothing there; CA no right, or a range that crosses a limit
 *
 * @param cpl  room for WEFT_UIO_CPLS_MAX; must not hold @p req
 * @param n    receives how many to send, in this order
 * @return WEFT_OK; WEFT_DROP_WRONG_CLASS if it is no UIO request, WEFT_DROP_BAD_OPCODE if it is
 *         malformed: nothing to send then. Each is counted
 */
enum weft_verdict weft_uio_serve(struct weft_uio_memory *m, const struct weft_io_tlp *req,
	struct weft_io_tlp *cpl, unsigned int *n);

/**
 * Fetch what a flit may ask to read, some time before its packets are executed: see
 * weft_gfd_look_ahead(). Changes nothing but what caches hold. Hot.
 *
 * @param flit  256 bytes
 */
void weft_uio_look_ahead(const struct weft_uio_memory *m, const uint8_t *flit);

/** Counter rows, WEFT_UIO_MEMORY_N_COUNTERS of them; the values are weft_uio_memory.count. */
extern const struct weft_counter weft_uio_memory_counters[];

WEFT_END_DECLS

#endif /* WEFT_UIO_MEMORY_H */
