/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Page requests (ats.md section 5.4): a device asks for pages to be made present, in groups; the
 * host answers a group. Both ends, as state without memory of its own. One thread an end.
 */
#ifndef WEFT_ATS_PRI_H
#define WEFT_ATS_PRI_H

#include "weft_base.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_ATS_GROUPS 512

/** Registers, a 32-bit word each: extended capability 0013h. */
enum weft_ats_pri_reg {
	WEFT_ATS_PRI_REG_HEADER, /**< RO */
	WEFT_ATS_PRI_REG_CTL, /**< control 15:0, status 31:16 */
	WEFT_ATS_PRI_REG_CAPACITY, /**< page requests that may be outstanding, RO */
	WEFT_ATS_PRI_REG_ALLOCATION /**< how many of them software allows */
};

/** Bits of WEFT_ATS_PRI_REG_CTL. Writing 1 clears FAILURE and UNEXPECTED. */
#define WEFT_ATS_PRI_E (UINT32_C(1) << 0)
#define WEFT_ATS_PRI_RESET (UINT32_C(1) << 1) /**< with E off: forget what is outstanding */
#define WEFT_ATS_PRI_FAILURE (UINT32_C(1) << 16)
#define WEFT_ATS_PRI_UNEXPECTED (UINT32_C(1) << 17)
#define WEFT_ATS_PRI_STOPPED (UINT32_C(1) << 24) /**< off and nothing outstanding */
#define WEFT_ATS_PRI_PASID_REQUIRED (UINT32_C(1) << 31) /**< in responses, RO */

/** The device's end. Fields are private. */
struct weft_ats_pri {
	uint32_t capacity;
	uint32_t allocation;
	uint32_t outstanding;
	uint32_t status; /* FAILURE, UNEXPECTED */
	uint16_t id;
	bool is_enabled;
	struct {
		uint16_t pages; /* asked for */
		bool closed; /* the last was sent */
	} group[WEFT_ATS_GROUPS];
};

/** Start a device's end: disabled, nothing allocated. @param id requester ID */
void weft_ats_pri_init(struct weft_ats_pri *p, uint16_t id, uint32_t capacity);

/** A register; 0 for one that is not there. */
uint32_t weft_ats_pri_reg(const struct weft_ats_pri *p, enum weft_ats_pri_reg reg);

/** Write a register. An allocation above the capacity counts as the capacity. */
void weft_ats_pri_reg_set(struct weft_ats_pri *p, enum weft_ats_pri_reg reg, uint32_t value);

/** A page wanted, or given. */
struct weft_ats_page {
	uint64_t addr; /**< multiple of 4 KB */
	int32_t pasid; /**< 20 bits, or -1 */
	uint16_t requester; /**< at the host's end */
	uint16_t group; /**< 0..511 */
	uint8_t bits; /**< enum weft_ats_page_bits */
};

/**
 * Ask for a page. The group is answered once its last page, WEFT_ATS_PAGE_LAST, was asked for.
 *
 * @param buf  receives the packet, WEFT_ATS_HEADER_MAX bytes
 * @return its length; -EACCES if disabled; -EAGAIN if what software allows is outstanding; -EBUSY
 *         if the group waits for its answer; -EINVAL for a field out of range, or neither R nor W
 */
int weft_ats_pri_ask(struct weft_ats_pri *p, const struct weft_ats_page *page, uint8_t *buf);

/**
 * Say that no request of a PASID follows: the Stop Marker.
 *
 * @param pasid  20 bits
 * @return length of the packet; -EINVAL for a PASID out of range
 */
int weft_ats_pri_stop(struct weft_ats_pri *p, int32_t pasid, uint8_t *buf);

/**
 * Take a PRG Response.
 *
 * @param group  receives the group that was answered
 * @param code   receives enum weft_ats_page_code; after FAILURE (or a code unknown) no page may be
 *               asked for any more
 * @return WEFT_OK; a verdict of weft_ats_decode(); WEFT_DROP_ATS_TYPE for another packet;
 *         WEFT_DROP_ATS_PEER for another device's; WEFT_DROP_NO_TAG for a group that is not waiting
 */
enum weft_verdict weft_ats_pri_receive(
	struct weft_ats_pri *p, const uint8_t *packet, size_t len, uint16_t *group, uint8_t *code);

/** The host's end: a queue of requests. */
struct weft_ats_pages {
	struct weft_ats_page *page; /**< of the caller */
	uint32_t room; /**< entries of page, 1 or more */
	uint32_t at, n; /**< oldest, and how many; 0 to begin with */
	uint64_t refused; /**< requests the queue had no room for */
	uint16_t id; /**< of the agent */
};

/**
 * Take a Page Request. If the queue is full the last one of a group is answered with success, so
 * that the device asks again, and others vanish (section 5.4). Stop Markers are queued like
 * requests.
 *
 * @param buf  receives an answer to send, WEFT_ATS_HEADER_MAX bytes
 * @param out  receives its length, 0 if there is none
 * @return WEFT_OK; a verdict of weft_ats_decode(); WEFT_DROP_ATS_TYPE for another packet
 */
enum weft_verdict weft_ats_pages_receive(
	struct weft_ats_pages *q, const uint8_t *packet, size_t len, uint8_t *buf, size_t *out);

/** Take the oldest request out. @return false if there is none. */
bool weft_ats_pages_next(struct weft_ats_pages *q, struct weft_ats_page *page);

/** True if it is a Stop Marker, which is not answered. */
bool weft_ats_page_is_stop(const struct weft_ats_page *page);

/**
 * Answer the group of a request.
 *
 * @param code  enum weft_ats_page_code
 * @param buf   receives the packet, WEFT_ATS_HEADER_MAX bytes
 * @return its length
 */
size_t weft_ats_pages_answer(const struct weft_ats_pages *q, const struct weft_ats_page *page,
	uint8_t code, uint8_t *buf);

WEFT_END_DECLS

#endif /* WEFT_ATS_PRI_H */
