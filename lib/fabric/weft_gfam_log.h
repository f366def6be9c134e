/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a GFD remembers of accesses that failed, by requester and by trigger, and when it tells the
 * fabric manager (fabric.md section 1.9). A log belongs to one thread.
 */
#ifndef WEFT_GFAM_LOG_H
#define WEFT_GFAM_LOG_H

#include "weft_base.h"
#include "weft_gfam.h"

WEFT_BEGIN_DECLS

/** Of a request that is no CXL.mem message: UIO. */
#define WEFT_GFAM_NO_OPCODE 0xFF

/** No more than one report a requester and trigger in this time. */
#define WEFT_GFAM_REPORT_NS UINT64_C(100000000)
#define WEFT_GFAM_REPORT_LEN 40 /* 0107h */

/** Triggers of an access error: bit numbers of byte 5 of 0107h. */
enum weft_gfam_trigger_no {
	WEFT_GFAM_T_DECODE, /**< host address to device address */
	WEFT_GFAM_T_SNOOP, /**< device address to host address */
	WEFT_GFAM_T_GROUP, /**< the block has no group */
	WEFT_GFAM_T_SAT /**< the group is closed to the requester */
};

/** One requester's failures. */
struct weft_gfam_counts {
	uint64_t failed[WEFT_GFAM_TRIGGERS];
	uint64_t read_only; /* writes to read-only memory, which are no access error */
	uint64_t next_report_ns[WEFT_GFAM_TRIGGERS];
	uint32_t suppressed[WEFT_GFAM_TRIGGERS]; /* reports not made since the last one */
};

/** Failures of all requesters; to be read only. */
struct weft_gfam_log {
	uint64_t failed[WEFT_GFAM_TRIGGERS]; /* of all */
	uint64_t read_only;
	uint64_t reports, suppressed;
	/* Row 0xFFF is that of ids which no requester can have. */
	struct weft_gfam_counts rpid[WEFT_GFAM_RPIDS];
};

/** Start a log: nothing failed. */
void weft_gfam_log_init(struct weft_gfam_log *log);

/** An access error to report (0107h type 2). */
struct weft_gfam_report {
	uint64_t time_ns;
	uint64_t dpa, hpa;
	uint32_t suppressed; /* errors of this requester and trigger since the last report */
	uint16_t rpid;
	uint16_t flags; /* [1] requester, [2] DPA, [3] HPA, [4] group, [5] opcode are known */
	uint8_t trigger; /* enum weft_gfam_trigger_no */
	uint8_t group;
	uint8_t opcode; /* of the request */
};

/**
 * Count a decision that did not allow its access.
 *
 * @param now_ns  any clock that does not go back
 * @param opcode  of the request, for the report, or WEFT_GFAM_NO_OPCODE
 * @param r       receives the report if one is due
 * @return whether one is
 */
bool weft_gfam_log_note(struct weft_gfam_log *log, uint64_t now_ns, uint16_t spid, uint64_t hpa,
	uint8_t opcode, const struct weft_gfam_decision *d, struct weft_gfam_report *r);

/** Count a snoop to @p rpid for @p dpa that has no host address; otherwise as the above. */
bool weft_gfam_log_snoop(struct weft_gfam_log *log, uint64_t now_ns, uint16_t rpid, uint64_t dpa,
	struct weft_gfam_report *r);

/** The report as payload of Enhanced Event Notification (0107h) from the GFD @p pid. */
void weft_gfam_report_pack(
	const struct weft_gfam_report *r, uint16_t pid, uint8_t out[WEFT_GFAM_REPORT_LEN]);

WEFT_END_DECLS

#endif /* WEFT_GFAM_LOG_H */
