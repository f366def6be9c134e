/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Failed accesses: counted all, reported at a bounded rate (fabric.md section 1.9). */

#include "weft_gfam_log.h"

#define ROW_FOREIGN 0xFFF
#define TYPE_ACCESS_ERROR 2
#define KNOWS_RPID 0x02
#define KNOWS_DPA 0x04
#define KNOWS_HPA 0x08
#define KNOWS_GROUP 0x10
#define KNOWS_OPCODE 0x20

void
weft_gfam_log_init(struct weft_gfam_log *log)
{
	memset(log, 0, sizeof(*log));
}

static struct weft_gfam_counts *
log_row_of(struct weft_gfam_log *log, uint16_t rpid)
{
	return &log->rpid[rpid < ROW_FOREIGN ? rpid : ROW_FOREIGN];
}

/* Count r->trigger for r->rpid; true if it is to be reported. */
static bool
log_count(struct weft_gfam_log *log, struct weft_gfam_report *r)
{
	struct weft_gfam_counts *c = log_row_of(log, r->rpid);

	log->failed[r->trigger]++;
	c->failed[r->trigger]++;
	if (r->time_ns < c->next_report_ns[r->trigger]) {
		c->suppressed[r->trigger]++;
		log->suppressed++;
		return false;
	}
	r->suppressed = c->suppressed[r->trigger];
	c->suppressed[r->trigger] = 0;
	c->next_report_ns[r->trigger] = r->time_ns + WEFT_GFAM_REPORT_NS;
	log->reports++;
	return true;
}

bool
weft_gfam_log_note(struct weft_gfam_log *log, uint64_t now_ns, uint16_t spid, uint64_t hpa,
	uint8_t opcode, const struct weft_gfam_decision *d, struct weft_gfam_report *r)
{
	const int trigger = weft_gfam_trigger(d->result);

	if (d->result == WEFT_GFAM_NO_WRITE) {
		log->read_only++;
		log_row_of(log, spid)->read_only++;
	}
	if (trigger < 0)
		return false;
	*r = (struct weft_gfam_report){
		.time_ns = now_ns,
		.hpa = hpa,
		.rpid = spid,
		.flags = KNOWS_RPID | KNOWS_HPA,
		.trigger = (uint8_t)trigger,
	};
	if (opcode != WEFT_GFAM_NO_OPCODE) {
		r->opcode = opcode;
		r->flags |= KNOWS_OPCODE;
	}
	if (trigger != WEFT_GFAM_T_DECODE) {
		r->dpa = d->dpa;
		r->flags |= KNOWS_DPA;
	}
	if (trigger == WEFT_GFAM_T_SAT) {
		r->group = d->group;
		r->flags |= KNOWS_GROUP;
	}
	return log_count(log, r);
}

bool
weft_gfam_log_snoop(struct weft_gfam_log *log, uint64_t now_ns, uint16_t rpid, uint64_t dpa,
	struct weft_gfam_report *r)
{
	*r = (struct weft_gfam_report){
		.time_ns = now_ns,
		.dpa = dpa,
		.rpid = rpid,
		.flags = KNOWS_RPID | KNOWS_DPA,
		.trigger = WEFT_GFAM_T_SNOOP,
	};
	return log_count(log, r);
}

void
weft_gfam_report_pack(
	const struct weft_gfam_report *r, uint16_t pid, uint8_t out[WEFT_GFAM_REPORT_LEN])
{
	memset(out, 0, WEFT_GFAM_REPORT_LEN);
	weft_put_le16(out, pid);
	out[0x04] = TYPE_ACCESS_ERROR;
	out[0x05] = (uint8_t)(1u << r->trigger);
	weft_put_le16(out + 0x06, r->rpid);
	weft_put_le64(out + 0x08, r->dpa);
	weft_put_le64(out + 0x10, r->hpa);
	weft_put_le16(out + 0x18, r->group);
	out[0x1A] = r->opcode;
	weft_put_le16(out + 0x1C, r->flags);
	weft_put_le64(out + 0x20, r->time_ns);
}
