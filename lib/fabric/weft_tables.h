/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Snapshot of all tables of a switch or node: its edge ports, its DRTs with their RGTs, and which
 * DRT an ingress port uses. A snapshot never changes once published: the control side copies it,
 * changes the copy and publishes that by one pointer. A reader takes the pointer once a burst and
 * sees all of a change or nothing of it; it locks nothing. When the old one may be freed or written
 * is for the owner of the readers to say (weft_tables_writer.h).
 *
 * Words of tables and decisions:
 *
 *   1. A PID names a port of the fabric: SPID the port that a request entered by, DPID the one that
 *      it leaves by. 0xFFF names none. In an answer the two change places.
 *   2. An edge port is a switch's port towards a host or device (weft_edge.h). It decides once
 *      which DPID an address belongs to, and sets the SPID; what a host says of it is not read.
 *   3. A segment is an equal part of the fabric's addresses, of one target or dealt out to several
 *      in granules (weft_seg.h). FAST and LDST are segment decoders; the IDT has their targets.
 *   4. An access vector (GMV, VTV, LAV) is a set of PIDs that a port's requests may go to.
 *   5. The DRT of the ingress port leads a DPID to a port, or by its RGT to one of a group
 *      (weft_route.h). No switch after the edge port looks at an address.
 *   6. A GFD checks again by the SPID: address to DPA (GDT), block to group (MGT), requester to
 *      groups (SAT); see weft_gfam.h.
 *   7. What is refused is answered, never dropped: the answer is fixed by who refused and why
 *      (fabric.md section 1.9).
 */
#ifndef WEFT_TABLES_H
#define WEFT_TABLES_H

#include "weft_base.h"
#include "weft_edge.h"
#include "weft_route.h"

WEFT_BEGIN_DECLS

/** Numbers of tables; fixed over the life of a switch, as is the DRT of each port (Q11). */
struct weft_tables_cfg {
	uint16_t n_edges; /**< 0..256 */
	const struct weft_edge_cfg *edge; /**< @p n_edges */
	uint16_t n_routes; /**< 1..256: the first for all edge ports, then one per fabric port */
	uint16_t n_rgt; /**< rows of each RGT: 0, or a power of two up to 256 */
	uint8_t route_of_port[WEFT_SWITCH_PORTS]; /**< DRT of an ingress port */
};

/** A snapshot; edges and routes follow in the same memory. */
struct weft_tables {
	uint64_t generation; /* grows with each one published */
	size_t size;
	uint16_t n_edges;
	uint16_t n_routes;
	uint8_t route_of_port[WEFT_SWITCH_PORTS];
};

/** Where readers find the snapshot in force. One writer, any readers. */
struct weft_tables_slot {
	const struct weft_tables *now;
};

/** Bytes for the tables of @p cfg, 64-byte aligned memory wanted. */
size_t weft_tables_size(const struct weft_tables_cfg *cfg);

/**
 * Make the first snapshot in @p mem, of weft_tables_size() bytes: all tables empty, generation 0.
 *
 * @return 0, or -EINVAL for a configuration out of range
 */
int weft_tables_init(struct weft_tables *t, const struct weft_tables_cfg *cfg);

/** Copy @p from over @p to; both were sized for one configuration. */
void weft_tables_copy(struct weft_tables *to, const struct weft_tables *from);

/** Edge port @p i. */
const struct weft_edge *weft_tables_edge(const struct weft_tables *t, unsigned int i);

/** The same, to change a copy. */
struct weft_edge *weft_tables_edge_rw(struct weft_tables *t, unsigned int i);

/** DRT @p i. */
const struct weft_route *weft_tables_route(const struct weft_tables *t, unsigned int i);

/** The same, to change a copy. */
struct weft_route *weft_tables_route_rw(struct weft_tables *t, unsigned int i);

/** DRT for what came in by @p port. */
static inline const struct weft_route *
weft_tables_route_of(const struct weft_tables *t, uint8_t port)
{
	return weft_tables_route(t, t->route_of_port[port]);
}

/** The snapshot in force; NULL before the first. Good until the reader's next quiescent point. */
static inline const struct weft_tables *
weft_tables_now(const struct weft_tables_slot *slot)
{
	return __atomic_load_n(&slot->now, __ATOMIC_ACQUIRE);
}

/**
 * Put @p t in force. It may not be written until it has been replaced and no reader has it.
 *
 * @return the one that was in force, still read by some
 */
const struct weft_tables *weft_tables_publish(
	struct weft_tables_slot *slot, const struct weft_tables *t);

/**
 * CXL.mem requests of a run: address to egress port, of a class that stays on one path.
 *
 * @param port  receives a port, or -1 if no decoder or no row took it
 */
void weft_hpa_port_run(const struct weft_edge *e, const struct weft_route *r, const uint64_t *hpa,
	int16_t *port, unsigned int n);

WEFT_END_DECLS

#endif /* WEFT_TABLES_H */
