/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Accesses decided, and those that failed counted and reported (fabric.md section 1.9). */

#include "weft_gfam_access.h"

/* Count what is not allowed, report it if that is due, and say how it is answered. */
static enum weft_gfam_answer
access_judged(const struct weft_gfam_checker *c, const struct weft_gfam *t, uint16_t spid,
	uint64_t hpa, uint8_t opcode, enum weft_gfam_access access,
	const struct weft_gfam_decision *d)
{
	struct weft_gfam_report r;

	if (d->result == WEFT_GFAM_ALLOWED)
		return WEFT_GFAM_SERVE;
	if (c->log != NULL && weft_gfam_log_note(c->log, c->now_ns, spid, hpa, opcode, d, &r) &&
		c->report != NULL)
		c->report(c->report_arg, &r);
	return weft_gfam_answer(d->result, access, weft_gfam_knobs(t));
}

enum weft_gfam_answer
weft_gfam_access_check(const struct weft_gfam_checker *c, uint16_t spid, uint64_t hpa,
	uint8_t opcode, bool write, struct weft_gfam_decision *d)
{
	const struct weft_gfam *t = weft_gfam_current(c->tables);

	weft_gfam_decide(t, spid, hpa, write, d);
	return access_judged(c, t, spid, hpa, opcode, write ? WEFT_GFAM_WRITE : WEFT_GFAM_READ, d);
}

enum weft_gfam_answer
weft_gfam_access_check_uio(const struct weft_gfam_checker *c, uint16_t spid, uint64_t hpa,
	uint32_t len, bool write, struct weft_gfam_decision *d)
{
	const struct weft_gfam *t = weft_gfam_current(c->tables);

	weft_gfam_decide_uio(t, spid, hpa, len, write, d);
	return access_judged(c, t, spid, hpa, WEFT_GFAM_NO_OPCODE,
		write ? WEFT_GFAM_UIO_WRITE : WEFT_GFAM_UIO_READ, d);
}
