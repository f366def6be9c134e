/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Senders that a port admits (reliability.md S7). Beyond an edge port is one host, device or GFD,
 * and only its PID may come in as SPID; what comes by a fabric port was checked where it entered
 * the fabric. In cxl mode frames have no SPID: there the source address names the sender, and SPIDs
 * are those of messages. Hot.
 */
#ifndef WEFT_INGRESS_H
#define WEFT_INGRESS_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_SPID_ANY 0xFFFF /**< a fabric port is trusted */

/** The rule of a port. Read only. */
struct weft_ingress {
	uint16_t spid; /**< the only one that may come in, or WEFT_SPID_ANY */
	uint8_t mac[6]; /**< cxl mode: source address of the other end of the link */
};

/** One kind of refused traffic. */
enum weft_ingress_kind {
	WEFT_INGRESS_FLITS, /**< frames with flits */
	WEFT_INGRESS_CONTROL, /**< link control frames */
	WEFT_INGRESS_MESSAGES, /**< cxl mode: messages and CXL.io packets */
	WEFT_INGRESS_KINDS
};

/** Traffic that came in by a port by the rule. Written by the lcore that receives, any readers. */
struct weft_ingress_seen {
	uint64_t frames; /**< of either kind */
	uint64_t flits;
};

/** Traffic that a port refused. Written by the lcore that receives, any readers. */
struct weft_ingress_drops {
	uint64_t count[WEFT_INGRESS_KINDS];
	uint16_t spid; /**< of the newest */
};

/** True if a message, or in rxl mode a frame, may come in with this SPID. */
static inline bool
weft_ingress_spid(const struct weft_ingress *in, uint16_t spid)
{
	return in->spid == WEFT_SPID_ANY || in->spid == spid;
}

/** True if a frame in cxl mode may come in with this source address. */
static inline bool
weft_ingress_mac(const struct weft_ingress *in, const uint8_t *mac)
{
	return memcmp(in->mac, mac, sizeof(in->mac)) == 0;
}

/** Count what was refused. */
static inline void
weft_ingress_refused(struct weft_ingress_drops *d, enum weft_ingress_kind kind, uint16_t spid)
{
	__atomic_store_n(&d->count[kind], d->count[kind] + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&d->spid, spid, __ATOMIC_RELAXED);
}

WEFT_END_DECLS

#endif /* WEFT_INGRESS_H */
