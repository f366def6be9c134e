/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * State of both peers, and the rules that a test may switch off to see that it notices. Nothing
 * here points outside but to the parts of the same object, so a copy put back is the state of then.
 */
#ifndef WEFT_ATS_PRIV_H
#define WEFT_ATS_PRIV_H

#include "weft_ats_atc.h"
#include "weft_ats_ta.h"
#include "weft_ats_wire.h"
#include "weft_base.h"

/* Rules of ats.md 4.9. A bit in field broken: the peer does not keep this rule. */
enum ats_rule {
	ATS_RULE_SNOOP = 1 << 0, /* outstanding requests in the range are marked */
	ATS_RULE_WRITES = 1 << 1, /* a completion stays after earlier writes */
	ATS_RULE_EVERY_TC = 1 << 2, /* a completion on each traffic class in use */
	ATS_RULE_FLUSH = 1 << 3, /* the agent flushes its own cache first */
	ATS_RULE_READS = 1 << 4, /* outstanding reads are tagged */
	ATS_RULE_LARGE = 1 << 5 /* answers larger than the request are compared, too */
};

enum ats_slot_state {
	ATS_SLOT_FREE,
	ATS_SLOT_WAITING, /* to be sent */
	ATS_SLOT_SENT,
	ATS_SLOT_BACKOFF, /* to be sent again at `until_ns` */
	ATS_SLOT_DONE, /* to be reported */
	ATS_SLOT_LATE, /* to be reported, then RESTING */
	ATS_SLOT_RESTING /* a late completion must not meet another request: until `until_ns` */
};

struct ats_slot {
	uint64_t va;
	uint64_t last; /* last address asked for */
	uint64_t until_ns; /* SENT: times out; else see the state */
	/* Hull of the ranges invalidated since this request was sent; empty if from > to. */
	uint64_t gone_from, gone_to;
	uint16_t ctx;
	uint16_t bits; /* of the first translation */
	uint8_t state; /* enum ats_slot_state */
	uint8_t wanted; /* translations */
	uint8_t got; /* DONE or SENT: translations in x */
	uint8_t total; /* announced by the first of two packets; 0: not seen */
	uint8_t tries;
	uint8_t result; /* DONE, LATE */
	bool no_write;
	bool marked; /* an invalidation overlaps what was asked for */
	uint8_t turn; /* requests that nobody answered in time: each moves the tag on */
	struct weft_ats_xlat x[WEFT_ATS_XLATS];
};

/* An answer may be late by more than a rest: by then the tag is another one. */
static inline uint8_t
ats_slot_tag(const struct ats_slot *s, unsigned int at, unsigned int slots)
{
	return (uint8_t)(at + s->turn % (256 / slots) * slots);
}

struct ats_read {
	uint64_t from, to;
	uint16_t ctx;
	bool used;
	bool discard;
};

struct ats_space {
	int32_t pasid; /* -1: requests without */
	bool bound;
};

struct weft_ats_atc {
	struct weft_ats_atc_cfg cfg;
	uint64_t count[WEFT_ATS_ATC_N_COUNTERS];
	struct ats_slot *slot;
	struct ats_read *read;
	struct ats_space *space; /* by context of the cache */
	unsigned int broken; /* enum ats_rule */
	uint32_t pasid_ctl; /* control bits in place */
	uint16_t contexts;
	uint16_t agent; /* captured from the first Invalidate Request */
	uint8_t stu;
	bool is_enabled;
	bool has_agent;
	/* Translated writes, by traffic class. All of them wrap. */
	uint32_t queued[WEFT_ATS_TCS];
	uint32_t passed[WEFT_ATS_TCS];
	/* Invalidations not yet answered on a traffic class; and what must have passed before. */
	uint32_t pending[WEFT_ATS_TCS];
	uint32_t fence[WEFT_ATS_ITAGS][WEFT_ATS_TCS];
};

struct ats_inv {
	struct weft_ats_inv range;
	uint64_t until_ns; /* SENT */
	uint8_t state; /* enum weft_ats_inv_state */
	uint8_t count; /* completions announced; 0: none came */
	uint8_t came; /* bit per traffic class */
};

struct ats_device {
	struct ats_inv inv[WEFT_ATS_ITAGS];
	uint16_t id;
	uint8_t stu;
	uint8_t depth; /* 1..32 */
	bool is_isolated;
};

enum ats_walk_state { ATS_WALK_FREE, ATS_WALK_WAITING, ATS_WALK_TAKEN, ATS_WALK_ANSWERED };

struct ats_walk {
	struct weft_ats_walk walk;
	struct weft_ats_xlat x[WEFT_ATS_XLATS];
	uint16_t requester;
	uint8_t tag;
	uint8_t tc;
	uint8_t state; /* enum ats_walk_state */
	uint8_t status;
	uint8_t n;
	uint8_t first;
	bool is_second_due;
};

struct weft_ats_ta {
	struct weft_ats_ta_cfg cfg;
	uint64_t count[WEFT_ATS_TA_N_COUNTERS];
	struct ats_device *device;
	struct ats_walk *walk;
	unsigned int broken; /* enum ats_rule */
	uint16_t devices;
};

static inline uint64_t
ats_last(uint64_t base, unsigned int log2)
{
	return base | weft_mask64(log2);
}

static inline bool
ats_overlaps(uint64_t a_from, uint64_t a_to, uint64_t b_from, uint64_t b_to)
{
	return a_from <= b_to && b_from <= a_to;
}

/* Of the ATC peer. */
size_t ats_atc_size(const struct weft_ats_atc_cfg *cfg, unsigned int contexts);
bool ats_atc_has_slot(const struct weft_ats_atc *a);
/* A packet that was decoded: what became of that is in @p v. */
enum weft_verdict ats_atc_receive(struct weft_ats_atc *a, enum weft_verdict v,
	const struct weft_ats_packet *p, uint64_t now_ns);
enum weft_verdict ats_atc_completion(
	struct weft_ats_atc *a, const struct weft_ats_packet *p, uint64_t now_ns);
enum weft_verdict ats_atc_invalidation(struct weft_ats_atc *a, const struct weft_ats_packet *p);
void ats_atc_cancel(struct weft_ats_atc *a, int ctx);
void ats_atc_empty(struct weft_ats_atc *a);
void ats_slot_end(struct ats_slot *s, enum weft_ats_result result);

/* Of the agent. @return index, or -1. */
int ats_ta_find(const struct weft_ats_ta *t, uint16_t id);
enum weft_verdict ats_ta_completion(struct weft_ats_ta *t, const struct weft_ats_packet *p);

#endif /* WEFT_ATS_PRIV_H */
