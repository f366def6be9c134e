/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The check that a GFD makes before each access: tables, log and reports together (fabric.md
 * section 1.9). A checker belongs to one thread.
 */
#ifndef WEFT_GFAM_ACCESS_H
#define WEFT_GFAM_ACCESS_H

#include "weft_base.h"
#include "weft_gfam.h"
#include "weft_gfam_log.h"

WEFT_BEGIN_DECLS

/** Checks the accesses to one GFD. */
struct weft_gfam_checker {
	const struct weft_gfam_ref *tables; /* published by another thread */
	struct weft_gfam_log *log; /* may be NULL: nothing is counted */
	uint64_t now_ns; /* set by the owner before a burst; used with a log only */
	void (*report)(void *arg, const struct weft_gfam_report *r); /* may be NULL */
	void *report_arg;
};

/**
 * Check one CXL.mem request, count it if it fails, and report it if that is due.
 *
 * @param d  receives the decision
 * @return the answer it must get
 */
enum weft_gfam_answer weft_gfam_access_check(const struct weft_gfam_checker *c, uint16_t spid,
	uint64_t hpa, uint8_t opcode, bool write, struct weft_gfam_decision *d);

/** The same for a UIO access of @p len bytes, 1..4096 (weft_gfam_decide_uio()). */
enum weft_gfam_answer weft_gfam_access_check_uio(const struct weft_gfam_checker *c, uint16_t spid,
	uint64_t hpa, uint32_t len, bool write, struct weft_gfam_decision *d);

WEFT_END_DECLS

#endif /* WEFT_GFAM_ACCESS_H */
