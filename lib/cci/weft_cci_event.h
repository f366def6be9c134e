/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Event records (fabric.md 4.5): 128 bytes, of which the UUID says what the last 80 are. Records
 * are the entry `record` of weft_cci_payload.h, their data the entries *_event. Pure, any thread.
 */
#ifndef WEFT_CCI_EVENT_H
#define WEFT_CCI_EVENT_H

#include "weft_base.h"
#include "weft_cci_payload.h"

WEFT_BEGIN_DECLS

enum weft_cci_event {
	WEFT_CCI_EVENT_PHYSICAL_SWITCH, /**< something became of a port */
	WEFT_CCI_EVENT_VIRTUAL_SWITCH, /**< a vPPB was bound or unbound */
	WEFT_CCI_EVENT_MLD_PORT,
	WEFT_CCI_EVENT_DYNAMIC_CAPACITY, /**< of LD-FAM; a GFD has 0107h and 0108h */
	WEFT_CCI_EVENT_END
};

/** UUIDs of records, by enum weft_cci_event, as on the wire. */
extern const uint8_t weft_cci_event_uuid[WEFT_CCI_EVENT_END][16];

/** UUID of the log of commands and their effects, read by 0401h. */
extern const uint8_t weft_cci_cel_uuid[16];

/** Kind of a record by its UUID; WEFT_CCI_EVENT_END: none that is known here. */
enum weft_cci_event weft_cci_event_kind(const struct weft_cci_record *r);

/** What became of a port, by `what` of physical_switch_event. */
enum { WEFT_CCI_PORT_LINK_STATE, WEFT_CCI_PORT_SLOT };

/**
 * The record of an event at a port whose state @p block is as in 5101h.
 * @param what   WEFT_CCI_PORT_*
 * @param ts     time stamp, ns
 */
void weft_cci_port_event(struct weft_cci_record *r, const struct weft_cci_port_block *block,
	uint8_t what, uint64_t ts);

WEFT_END_DECLS

#endif /* WEFT_CCI_EVENT_H */
