/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What would happen to an address in a fabric: the decisions of the edge port, the switches and the
 * GFD, host or device one after the other (fabric.md sections 1.5, 1.9, 1.12 and 2.4), from the
 * topology alone.
 */
#ifndef WEFT_RESOLVE_H
#define WEFT_RESOLVE_H

#include "weft_base.h"
#include "weft_topo.h"

WEFT_BEGIN_DECLS

/** How it ends, in the order of the tests. Each has a word, an explanation and an answer. */
enum weft_resolve_rule {
	WEFT_RESOLVE_ALLOWED,
	WEFT_RESOLVE_GIM, /**< the host offers no memory */
	WEFT_RESOLVE_NO_DECODE, /**< no segment holds the address */
	WEFT_RESOLVE_GIM_UIO_ONLY,
	WEFT_RESOLVE_GIM_SELF, /**< the memory is the requester's own */
	WEFT_RESOLVE_VECTOR, /**< no group of the GFD is open to the host: stopped at the edge */
	WEFT_RESOLVE_NO_ROUTE,
	WEFT_RESOLVE_NO_HIT, /**< behind the GFD's part of the segment */
	WEFT_RESOLVE_NO_GROUP,
	WEFT_RESOLVE_DENIED, /**< by the SAT */
	WEFT_RESOLVE_VTV, /**< GIM: the target is not in the VTV of the requester's port */
	WEFT_RESOLVE_LAV, /**< the device is not in the LAV of the requester's port */
	WEFT_RESOLVE_EGRESS, /**< GIM: the target's port adds no prefix */
	WEFT_RESOLVE_NO_WINDOW, /**< GIM: memory that is in no window */
	WEFT_RESOLVE_WINDOW, /**< GIM: the window is closed to the requester */
	WEFT_RESOLVE_ANSWER, /**< GIM: done, but the answer is dropped by the target's port */
	WEFT_RESOLVE_NO_TRANSLATION, /**< the agent of the host has none */
	WEFT_RESOLVE_RULES
};

#define WEFT_RESOLVE_NONE UINT16_MAX

/** A node on the way. */
struct weft_resolve_hop {
	uint16_t node;
	int16_t in; /**< port number, -1 at the first */
	int16_t out; /**< port number, -1 at the last */
};

/** What the agent of a host that translates answers (ats.md section 2.4). */
struct weft_resolve_xlat {
	const struct weft_topo_translation *rule; /**< NULL: none, or the host translates nothing */
	uint64_t va;
	uint64_t pa;
	uint16_t agent; /**< node; WEFT_RESOLVE_NONE: the host goes by fabric addresses */
};

/** The answer. What the rule did not come to is WEFT_RESOLVE_NONE, or 0 for addresses. */
struct weft_resolve {
	uint8_t rule; /**< enum weft_resolve_rule */
	bool is_unanswered; /**< whatever it would be, the target's port drops the answer */
	uint16_t segment; /**< number of the FAST entry */
	uint16_t way;
	uint16_t spid;
	uint16_t dpid;
	uint16_t target; /**< node */
	uint16_t n_hops;
	uint16_t decoder; /**< of the GFD, device or host */
	uint16_t group; /**< of a GFD */
	uint16_t window; /**< of a host: number among its own */
	uint64_t dpa; /**< in the memory of the target */
};

/**
 * Follow a request.
 *
 * @param from  node index of a host or device
 * @param uio   by CXL.io UIO; otherwise by CXL.mem
 * @param r     written whole
 * @param hop   room for n_nodes; the first r->n_hops are written
 * @return 0, or -EINVAL if @p from is neither
 */
int weft_resolve(const struct weft_topo *t, unsigned int from, uint64_t hpa, bool uio,
	struct weft_resolve *r, struct weft_resolve_hop *hop);

/**
 * The same for an address as the host itself uses it: virtual where it translates.
 *
 * @param x  written whole. Without a translation the rule is WEFT_RESOLVE_NO_TRANSLATION
 */
int weft_resolve_from(const struct weft_topo *t, unsigned int from, uint64_t addr, bool uio,
	struct weft_resolve_xlat *x, struct weft_resolve *r, struct weft_resolve_hop *hop);

/** Whether the request is done. */
bool weft_resolve_is_allowed(enum weft_resolve_rule rule);

/** Word for programs, such as "sat-denied", and a sentence for people. Constant. */
const char *weft_resolve_word(enum weft_resolve_rule rule);
const char *weft_resolve_text(enum weft_resolve_rule rule);

/** What a read, or a write, gets as its answer, if it gets one, such as "MemData-NXM". Constant. */
const char *weft_resolve_answer(enum weft_resolve_rule rule, bool uio, bool write);

WEFT_END_DECLS

#endif /* WEFT_RESOLVE_H */
