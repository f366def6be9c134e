/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Routing of a PBR switch: DPID to port by a DRT and the RGT that belongs to it (fabric.md section
 * 1.10). A DRT row is a port, or names an RGT row: up to eight ports, of which a message class that
 * may be spread takes one by the row's mode, and every other class the first.
 *
 * Plain data without pointers, changed by one control thread while no thread reads it
 * (weft_tables.h).
 */
#ifndef WEFT_ROUTE_H
#define WEFT_ROUTE_H

#include "weft_base.h"
#include "weft_pbr.h"

WEFT_BEGIN_DECLS

#define WEFT_RGT_ROWS 256
#define WEFT_RGT_PORTS 8
#define WEFT_SWITCH_PORTS 256

/** Message classes of table 7-86, as far as they differ in routing. */
enum weft_route_class {
	WEFT_CLASS_D2H_REQ,
	WEFT_CLASS_D2H_RSP,
	WEFT_CLASS_D2H_DH,
	WEFT_CLASS_H2D_REQ,
	WEFT_CLASS_H2D_RSP,
	WEFT_CLASS_H2D_DH,
	WEFT_CLASS_M2S_REQ_HDM_D,
	WEFT_CLASS_M2S_REQ_HDM_H,
	WEFT_CLASS_M2S_REQ_HDM_DB,
	WEFT_CLASS_M2S_RWD,
	WEFT_CLASS_M2S_BIRSP,
	WEFT_CLASS_S2M_NDR,
	WEFT_CLASS_S2M_DRS,
	WEFT_CLASS_S2M_BISNP,
	WEFT_CLASS_IO,
	WEFT_CLASS_IO_VH, /**< between vDSP and vUSP: PTH.Hie = 1 */
	WEFT_CLASS_UIO_P2P, /**< direct peer-to-peer to HDM */
	WEFT_CLASSES
};

/** A class: its word for people, and whether its messages may take different paths. */
struct weft_route_class_info {
	const char *word;
	bool may_spread;
};

extern const struct weft_route_class_info weft_route_classes[WEFT_CLASSES];

/** RGT row as on the wire (12 bytes). */
struct weft_rgt_entry {
	uint8_t port[WEFT_RGT_PORTS]; /* primary ports first */
	uint8_t counts; /* [2:0] highest valid index, [5:3] highest primary index */
	uint8_t mode; /* [2:0] enum weft_rgt_mode, [5:3] mix */
	uint8_t reserved[2];
};

enum weft_rgt_mode {
	WEFT_RGT_RANDOM = 0, /**< group by mix, then any member */
	WEFT_RGT_LEAST_LOADED = 1 /**< group by mix, then the member with the least queued */
};

/** Modes there are, as Identify PBR Switch tells them (5700h, byte Bh): bit k is mode k. */
#define WEFT_RGT_MODES (1u << WEFT_RGT_RANDOM | 1u << WEFT_RGT_LEAST_LOADED)

/** Mix 0..6: primary takes (7 - mix) / 8 of the messages. 7: primary whenever it can. */
#define WEFT_RGT_MIX_PRIMARY_FIRST 7

/** A DRT, its RGT, and what the look-up reads. */
struct weft_route {
	int16_t first[WEFT_PIDS]; /* port of a class that stays on one path, -1: none */
	struct weft_drt drt; /* as written */
	struct weft_rgt_entry rgt[WEFT_RGT_ROWS]; /* as written */
	uint16_t n_rgt;
	uint16_t n_groups; /* rows of the DRT that name an RGT row */
	bool spread; /* may be set: off, every class stays on one path (Q23) */
};

/** State of a switch's egress ports. Written by the lcore that routes. */
struct weft_route_ports {
	uint64_t ready[WEFT_SWITCH_PORTS / 64]; /* bit p: a message can be queued into port p now */
	uint32_t load[WEFT_SWITCH_PORTS]; /* what is queued there, in any one unit */
};

/** Answers of weft_route_port() that are no port. */
enum weft_route_answer {
	WEFT_ROUTE_NONE = -1, /**< unroutable: drop and count */
	WEFT_ROUTE_STALL = -2, /**< no port of the group can take it now: the class waits */
	WEFT_ROUTE_LOCAL = -3 /**< DPID 0xFFF: handle here */
};

/**
 * Start a table: every DPID invalid, RGT rows all zero, spreading off.
 *
 * @param n_rgt  0, or a power of two up to 256
 * @return 0, or -EINVAL
 */
int weft_route_init(struct weft_route *r, unsigned int n_rgt);

/**
 * Write @p n DRT rows (5709h) from DPID @p start on.
 *
 * @param row  type and port, or type and RGT row, as on the wire
 * @return 0; -EINVAL for a DPID of 0xFFF or above, a reserved type or bit, or an RGT row that is
 *         not there. On error nothing has changed
 */
int weft_route_set_drt(
	struct weft_route *r, unsigned int start, const uint8_t (*row)[2], unsigned int n);

/**
 * Write @p n RGT rows (570Bh) from @p start on.
 *
 * @return 0; -EINVAL for a row that is not there, reserved bits or modes, or more primary than
 *         valid ports; -ENOTSUP for a mode not offered (2, 6, 7). On error nothing has changed
 */
int weft_route_set_rgt(
	struct weft_route *r, unsigned int start, const struct weft_rgt_entry *e, unsigned int n);

/**
 * Port for a message. Any thread.
 *
 * @param dpid  0..0xFFFF; above 0xFFF: none
 * @param rnd   64 random bits, used only by a row that spreads this class
 * @return 0..255, or enum weft_route_answer. A class that stays on one path gets its port even if
 *         that is not ready: it waits there
 */
int weft_route_port(const struct weft_route *r, const struct weft_route_ports *ports, uint16_t dpid,
	enum weft_route_class c, uint64_t rnd);

/** Whether a class may take different paths by this table, for some DPID at least. */
static inline bool
weft_route_spreads(const struct weft_route *r, enum weft_route_class c)
{
	return r->spread && r->n_groups != 0 && weft_route_classes[c].may_spread;
}

/** RGT row by which messages for @p dpid are spread, or NULL. */
static inline const struct weft_rgt_entry *
weft_route_group(const struct weft_route *r, uint16_t dpid)
{
	return dpid < WEFT_PID_RESERVED && r->drt.entry[dpid][0] == WEFT_DRT_RGT
	               ? &r->rgt[r->drt.entry[dpid][1]]
	               : NULL;
}

/**
 * Port of the messages of one key: a key's go one way, ready or not, as long as the row stands. So
 * what has to stay in order among itself does, and keys share the ports of a row as its mix says,
 * in any mode. Any thread.
 *
 * @param dpid  as weft_route_port()
 * @param key   any number, such as an address
 * @return 0..255, WEFT_ROUTE_NONE or WEFT_ROUTE_LOCAL
 */
int weft_route_port_of_key(
	const struct weft_route *r, uint16_t dpid, enum weft_route_class c, uint64_t key);

/**
 * Ports of a run of messages that stay on one path.
 *
 * @param dpid  @p n ids
 * @param port  receives a port, or -1
 */
void weft_route_run(
	const struct weft_route *r, const uint16_t *dpid, int16_t *port, unsigned int n);

WEFT_END_DECLS

#endif /* WEFT_ROUTE_H */
