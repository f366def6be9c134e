/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Edge port of a PBR switch: what becomes of a request or completion that a host or device gives
 * in, and of one that leaves to it (fabric.md sections 1.5, 1.8, 1.12 and 2.4). The SPID is always
 * the port's: what a host says about it is not read.
 *
 * Plain data without pointers, changed by one control thread while no thread reads it
 * (weft_tables.h).
 */
#ifndef WEFT_EDGE_H
#define WEFT_EDGE_H

#include "weft_base.h"
#include "weft_seg.h"

WEFT_BEGIN_DECLS

#define WEFT_HDM_DECODERS 10
#define WEFT_REROUTER_ROWS 64

#define WEFT_VP_EGRESS 0x01 /**< requests leave with VendPrefixL0 */
#define WEFT_VP_INGRESS 0x02 /**< requests may come in with VendPrefixL0 */

enum weft_edge_kind { WEFT_EDGE_MEM, WEFT_EDGE_UIO, WEFT_EDGE_IO, WEFT_EDGE_CPL };
enum weft_edge_vector { WEFT_GMV, WEFT_VTV, WEFT_LAV };

/** A prefix or a segment that is not there. */
#define WEFT_EDGE_ABSENT (-1)

/** Which decoder decided. */
enum weft_edge_decoder {
	WEFT_EDGE_BY_NONE,
	WEFT_EDGE_BY_PREFIX, /**< VendPrefixL0 */
	WEFT_EDGE_BY_FAST,
	WEFT_EDGE_BY_LDST,
	WEFT_EDGE_BY_HDM,
	WEFT_EDGE_BY_PCIE, /**< bus, device or upstream: the port's binding */
	WEFT_EDGE_BY_REROUTER,
	WEFT_EDGE_BY_UPSTREAM /**< completion of a request that came down the ordinary way */
};

/** Why nothing may go on. How it is answered: NXM for .mem, UR for .io, section 1.9. */
enum weft_edge_reason {
	WEFT_EDGE_OK,
	WEFT_EDGE_NO_DECODE, /**< no decoder took it */
	WEFT_EDGE_NOT_ALLOWED, /**< the target is not in the access vector any more */
	WEFT_EDGE_GIM_UIO_ONLY, /**< CXL.mem to a GIM segment */
	WEFT_EDGE_BAD_PREFIX, /**< not UIO, not enabled, or its PID not in VTV: UR */
	WEFT_EDGE_UNEXPECTED /**< completion: drop, count as Unexpected Completion */
};

/** A decision. dpid and pif hold only if reason is WEFT_EDGE_OK. */
struct weft_edge_decision {
	uint16_t dpid; /**< WEFT_PID_RESERVED for WEFT_EDGE_BY_UPSTREAM: the caller's rules */
	uint16_t spid; /**< the port's */
	uint8_t pif; /**< PTH.PIF */
	uint8_t segment; /**< LDST: the TLP carries the requester's PCIe segment */
	uint8_t decoder; /**< enum weft_edge_decoder: the one that hit, also if refused */
	uint8_t reason; /**< enum weft_edge_reason */
};

/** Decision on a message that leaves towards the host or device. */
enum weft_edge_egress { WEFT_EGRESS_PASS, WEFT_EGRESS_PREFIX, WEFT_EGRESS_UR, WEFT_EGRESS_DROP };

/** ID-based re-router row: completions for this requester go to @p pid. */
struct weft_reroute {
	uint16_t pid; /* WEFT_PID_RESERVED: row not in use */
	bool segment_valid; /* compare the segment too */
	uint8_t segment;
	uint8_t bus;
	uint8_t devfn; /* device << 3 | function */
};

struct weft_hdm {
	uint64_t base;
	uint64_t len; /* 0: off */
	uint16_t pid; /* of the bound edge vPPB */
};

/** Configuration of a port; fixed for its life. */
struct weft_edge_cfg {
	uint16_t pid; /**< 0..0xFFE */
	uint8_t fast_depth_log2; /**< 0..12 */
	uint16_t fast_idt; /**< 1..4096 */
	uint8_t ldst_depth_log2; /**< 0..12 */
	uint16_t ldst_idt; /**< 1..4096, or 0: no LDST */
	uint8_t rerouter_rows; /**< 0..WEFT_REROUTER_ROWS */
	bool gim; /**< FAST entries may name GIM */
	uint8_t vp; /**< WEFT_VP_* that the switch has */
	bool pbr_link; /**< a GFD is beyond the port: no prefix, ever */
};

struct weft_edge {
	struct weft_edge_cfg cfg;
	uint8_t vp_vcs; /* WEFT_VP_* by FM */
	uint8_t vp_host; /* by host */
	uint8_t vp; /* in effect: all three agree */
	bool link_up;
	uint16_t pcie_pid; /* WEFT_PID_RESERVED: none */
	uint8_t n_hdm; /* rows after the last in use need no look */
	struct weft_hdm hdm[WEFT_HDM_DECODERS];
	struct weft_reroute reroute[WEFT_REROUTER_ROWS];
	struct weft_pid_set vector[3]; /* by enum weft_edge_vector */
	struct weft_seg fast;
	struct weft_seg ldst;
};

/**
 * Start a port: decoders off, vectors empty, prefixes off, link up.
 *
 * @return 0, or -EINVAL for a field out of range
 */
int weft_edge_init(struct weft_edge *e, const struct weft_edge_cfg *cfg);

/**
 * Set a bit of an access vector (5902h, 5716h). Entries that use the PID stay as written; without
 * the bit requests to it stop here at once (Q13).
 *
 * @return 0, or -EINVAL for a PID of 0xFFF or above
 */
int weft_edge_allow(struct weft_edge *e, enum weft_edge_vector v, uint16_t pid, bool on);

/** Prefixes allowed by the FM (5904h). @return 0, or -EINVAL for bits the switch does not have. */
int weft_edge_set_vp_vcs(struct weft_edge *e, unsigned int vp);

/** Prefixes wanted by the host (5804h byte 2). @return 0, or -EINVAL for reserved bits. */
int weft_edge_set_vp_host(struct weft_edge *e, unsigned int vp);

/**
 * Write @p n re-router rows (5713h) from @p start on; the lowest row that matches wins.
 *
 * @return 0; -EINVAL for a row or PID out of range; -EPERM for a PID not in LAV. On error nothing
 *         has changed
 */
int weft_edge_set_rerouter(
	struct weft_edge *e, unsigned int start, const struct weft_reroute *r, unsigned int n);

/**
 * Set HDM decoder @p i.
 *
 * @param h  base and length multiples of 256 MB; length 0 = off
 * @return 0; -EINVAL for a field out of range or an overlap with another decoder
 */
int weft_edge_set_hdm(struct weft_edge *e, unsigned int i, const struct weft_hdm *h);

/**
 * Where .io goes that no decoder took: the PID at the other end of the vDSP or vUSP binding.
 *
 * @return 0, or -EINVAL above 0xFFF; 0xFFF: nowhere
 */
int weft_edge_set_pcie(struct weft_edge *e, uint16_t pid);

/**
 * Decide about a request from the host or device, in the order of section 1.12. Any thread.
 *
 * @param kind    MEM, UIO or IO
 * @param prefix  PID of its VendPrefixL0, or WEFT_EDGE_ABSENT; CXL.mem has none
 */
void weft_edge_request(const struct weft_edge *e, enum weft_edge_kind kind, uint64_t hpa,
	int prefix, struct weft_edge_decision *d);

/**
 * Decide about a UIO completion from the host or device. Any thread.
 *
 * @param bdf      requester id: bus << 8 | device << 3 | function
 * @param segment  PCIe segment of the requester id, or WEFT_EDGE_ABSENT
 * @param local    it matches a request that came down the ordinary way
 * @param prefix   as above
 */
void weft_edge_completion(const struct weft_edge *e, uint16_t bdf, int segment, bool local,
	int prefix, struct weft_edge_decision *d);

/**
 * Decide about a message that leaves to the host or device. The PID of a prefix to add is the
 * message's SPID. Any thread.
 */
enum weft_edge_egress weft_edge_egress(
	const struct weft_edge *e, enum weft_edge_kind kind, bool pif);

/**
 * CXL.mem requests of a run: what weft_edge_request() says of each, without the reasons.
 *
 * @param dpid  receives a DPID, or -1
 * @return how many have a DPID
 */
unsigned int weft_edge_mem_run(
	const struct weft_edge *e, const uint64_t *hpa, int16_t *dpid, unsigned int n);

/** Words for people: "fast", "no-decode". Constant. */
const char *weft_edge_decoder_word(enum weft_edge_decoder d);
const char *weft_edge_reason_word(enum weft_edge_reason r);

WEFT_END_DECLS

#endif /* WEFT_EDGE_H */
