/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Edge port whose link is of HBR form (fabric.md 1.11, 1.12): what the host or device gives in is
 * decoded, and goes on in PBR form with the SPID of the port; what leaves to it loses its ids.
 * Which messages an edge port converts is a row each: those with state behind them (CacheID and
 * BI-ID, the PIDs of vPPBs) have none yet, and are refused.
 *
 * An address is physical here. A port that translates has its translation unit look first.
 */
#ifndef WEFT_EDGE_LINK_H
#define WEFT_EDGE_LINK_H

#include "weft_base.h"
#include "weft_edge.h"
#include "weft_io.h"
#include "weft_msg.h"

WEFT_BEGIN_DECLS

/**
 * A message from the host or device.
 *
 * @param m  becomes the message in PBR form
 * @return WEFT_EDGE_OK; WEFT_EDGE_UNEXPECTED: nobody there may send such, @p m is unchanged and to
 *         be dropped; else the request stops here, and @p m becomes the answer to it, in HBR form:
 *         as from a GFD where nothing is (fabric.md 1.9)
 */
enum weft_edge_reason weft_edge_msg_in(const struct weft_edge *e, struct weft_msg *m);

/**
 * A message for the host or device: @p m becomes that of HBR form.
 *
 * @return false: nobody there takes such, @p m is unchanged and to be dropped
 */
bool weft_edge_msg_out(struct weft_msg *m);

/**
 * The answer with which an edge port ends a CXL.mem request: MemData-NXM, all ones; Cmp.
 *
 * @param m  the request, becomes the answer, to its SPID
 */
void weft_edge_answer(struct weft_msg *m);

/**
 * A CXL.io packet from the host or device. If it may go on, its prefix becomes a PTH (hie for what
 * the binding takes).
 *
 * @param down  it comes from a host: PTH.DSAR
 * @param d     receives the decision; if its reason is not WEFT_EDGE_OK, @p t is unchanged
 */
void weft_edge_tlp_in(
	const struct weft_edge *e, bool down, struct weft_io_tlp *t, struct weft_edge_decision *d);

/**
 * A CXL.io packet for the host or device: if it passes, @p t loses its PTH, and has the prefix that
 * the port adds.
 *
 * @return what weft_edge_egress() says
 */
enum weft_edge_egress weft_edge_tlp_out(const struct weft_edge *e, struct weft_io_tlp *t);

/** Requester id in a UIO packet, or -1 of any other. */
int weft_edge_requester(const struct weft_io_tlp *t);

WEFT_END_DECLS

#endif /* WEFT_EDGE_LINK_H */
