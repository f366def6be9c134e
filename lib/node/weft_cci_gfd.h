/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a GFD answers by CCI (fabric.md 4.6, set 49h and 0702h): its manager places DMPs and
 * regions, gives capacity to groups and opens them; hosts set their own decoders. The rows work on
 * tables of the control side, which the GFD's world has and puts in force; doc/gfam.md says what
 * they make of payloads where the specification leaves a choice.
 *
 * Pure; one thread at a time.
 */
#ifndef WEFT_CCI_GFD_H
#define WEFT_CCI_GFD_H

#include "weft_base.h"
#include "weft_cci_component.h"
#include "weft_cci_payload.h"
#include "weft_gfam.h"
#include "weft_gfam_dc.h"
#include "weft_gfam_log.h"

WEFT_BEGIN_DECLS

/** Bytes of a report to the manager: a whole request, 0107h. */
#define WEFT_CCI_GFD_REPORT_LEN (WEFT_CCI_HDR + WEFT_GFAM_REPORT_LEN)

/** Where the tables and the memory of a GFD are. */
struct weft_cci_gfd_world {
	/** The tables in force. */
	const struct weft_gfam *(*now)(void *world);
	/** A copy of them, to change; NULL: no memory. A later call may be given the same. */
	struct weft_gfam *(*begin)(void *world);
	/**
	 * Put the copy in force, and return when no access is decided by the old tables any more:
	 * what the copy denies is not done after a response that was sent then.
	 */
	void (*commit)(void *world);
	/** Zero memory that nobody can reach. */
	void (*wipe)(void *world, uint64_t dpa, uint64_t len);
	/** Tell a requester that its capacity changed (Notify of 490Dh). NULL: nobody is told. */
	void (*notify)(void *world, uint16_t rpid);
	/** Whether its link is up (4901h). */
	bool (*is_up)(void *world);
};

/** The responder of one GFD; behind the pointers is the caller's. */
struct weft_cci_gfd {
	const struct weft_cci_gfd_world *world;
	void *world_arg;
	struct weft_gfam_dc *dc;
	uint8_t region_san[WEFT_GFAM_REGIONS], dmp_san[WEFT_GFAM_DMPS];
	struct weft_cci_get_gfd_qos_control_rsp qos; /* stored and echoed (Q33) */
	uint8_t bw_limit[WEFT_GFAM_RPIDS];
	uint32_t cdat_sequence; /* changes with the DMPs */
	uint64_t latency_ns, bandwidth_mbps; /* of CDAT, as measured; 0: not known, and left out */
};

/** Start a responder over the lists of dynamic capacity @p dc: no QoS, latency not known. */
void weft_cci_gfd_init(struct weft_cci_gfd *g, const struct weft_cci_gfd_world *world,
	void *world_arg, struct weft_gfam_dc *dc);

/** An access error as the request 0107h of the GFD @p pid to its manager (section 1.9). */
void weft_cci_gfd_report(
	const struct weft_gfam_report *r, uint16_t pid, uint8_t msg[WEFT_CCI_GFD_REPORT_LEN]);

/** Rows for weft_cci_component_cfg.command; their argument is a struct weft_cci_gfd. */
extern const struct weft_cci_command weft_cci_gfd_commands[];
extern const unsigned int weft_cci_gfd_n_commands;

WEFT_END_DECLS

#endif /* WEFT_CCI_GFD_H */
