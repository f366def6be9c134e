/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Translation Agent: answers Translation Requests from tables of the caller and takes translations
 * back (ats.md sections 4.2, 4.8 and 5.6). Events go in, packets come out into the caller's memory;
 * no clock, no allocation. One thread.
 *
 * An invalidation: change the table, weft_ats_ta_invalidate(), flush what the walker has cached and
 * wait for it, weft_ats_ta_flushed(), send. Memory may be used again once the state is DONE.
 */
#ifndef WEFT_ATS_TA_H
#define WEFT_ATS_TA_H

#include "weft_ats_wire.h"
#include "weft_base.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

#define WEFT_ATS_TA_DEVICES_MAX 4096
#define WEFT_ATS_TA_WALKS_MAX 1024

struct weft_ats_ta_cfg {
	uint64_t timeout_ns; /**< of an invalidation; 1 s is usual */
	uint16_t id; /**< of the agent */
	uint16_t rcb; /**< 64 or 128 bytes */
	uint16_t devices; /**< 1..4096 */
	uint16_t walks; /**< Translation Requests held at a time, 1..1024 */
};

enum weft_ats_inv_state {
	WEFT_ATS_INV_IDLE,
	WEFT_ATS_INV_FLUSHING, /**< the walker's own cache still has to be flushed */
	WEFT_ATS_INV_READY, /**< may be sent */
	WEFT_ATS_INV_SENT,
	WEFT_ATS_INV_DONE, /**< every completion came */
	/** timed out: the device is isolated, no reuse of memory; DONE once all completions came */
	WEFT_ATS_INV_FAILED
};

/** One invalidation. */
struct weft_ats_inv {
	uint64_t addr; /**< aligned to the size */
	int32_t pasid; /**< 20 bits, or -1 */
	uint8_t log2; /**< 12..64; not below the device's smallest unit */
	bool global; /**< every PASID; only with a PASID */
};

/** A Translation Request to be answered. */
struct weft_ats_walk {
	uint64_t va; /**< aligned to the device's smallest unit */
	int32_t pasid; /**< or -1 */
	uint16_t device; /**< index */
	uint8_t n; /**< translations wanted, of the smallest unit each */
	bool no_write;
	bool exec;
	bool priv;
};

enum weft_ats_ta_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_ATS_TA_N_##id,
#include "weft_ats_ta_counters.def"
#undef WEFT_COUNTER
	WEFT_ATS_TA_N_COUNTERS
};

struct weft_ats_ta;

/** Bytes that an agent of @p cfg needs; 0 if @p cfg is out of range. */
size_t weft_ats_ta_size(const struct weft_ats_ta_cfg *cfg);

/**
 * Start an agent without devices.
 *
 * @param mem  weft_ats_ta_size() bytes, 64-byte aligned, the caller's for the life of the agent
 * @return the agent; NULL for a bad @p cfg or misaligned memory
 */
struct weft_ats_ta *weft_ats_ta_init(void *mem, const struct weft_ats_ta_cfg *cfg);

/**
 * Serve a device. To be done before its E bit is set.
 *
 * @param id     requester ID
 * @param stu    smallest unit: 2^stu * 4 KB, 0..31
 * @param depth  Invalidate Queue Depth, 1..31, 0 = 32
 * @return index, counting from 0; -EINVAL for an argument out of range; -EEXIST; -ENOSPC
 */
int weft_ats_ta_add(struct weft_ats_ta *t, uint16_t id, unsigned int stu, unsigned int depth);

/**
 * True if translated accesses of a requester may pass: it is served and not isolated.
 */
bool weft_ats_ta_allows(const struct weft_ats_ta *t, uint16_t id);

/**
 * Begin an invalidation. The table must have been changed before.
 *
 * @return ITag, 0..31, in state FLUSHING; -EAGAIN if the device's queue is full; -EINVAL for a
 *         device or range out of range; -EIO if the device is isolated
 */
int weft_ats_ta_invalidate(
	struct weft_ats_ta *t, unsigned int device, const struct weft_ats_inv *range);

/** The walker's cache was flushed for @p itags (bit each): they become READY. */
void weft_ats_ta_flushed(struct weft_ats_ta *t, unsigned int device, uint32_t itags);

/** State of an ITag; IDLE for a number out of range. */
enum weft_ats_inv_state weft_ats_ta_state(
	const struct weft_ats_ta *t, unsigned int device, unsigned int itag);

/** Let an ITag that is DONE be used again. @return 0; -EINVAL; -EBUSY in any other state */
int weft_ats_ta_release(struct weft_ats_ta *t, unsigned int device, unsigned int itag);

/** Next Invalidate Request. @return bytes written; 0: none, or @p room below WEFT_ATS_PACKET_MAX */
size_t weft_ats_ta_send_invalidate(
	struct weft_ats_ta *t, unsigned int device, uint8_t *buf, size_t room, uint64_t now_ns);

/**
 * Take a packet: Translation Requests and Invalidate Completions.
 *
 * A request of a device that is not served, or isolated, is answered with Unsupported Request.
 *
 * @return WEFT_OK; a verdict of weft_ats_decode(); WEFT_DROP_ATS_TYPE for a packet of another kind;
 *         WEFT_DROP_TX_FULL if no walk is free: hold the packet back and offer it again;
 *         WEFT_DROP_ATS_PEER for a completion to another agent or from a device not served;
 *         WEFT_DROP_ATS_ITAG if it names an ITag that is not sent, WEFT_DROP_ATS_SPLIT if its count
 *         is not that of an earlier completion. After these two no ITag of the packet is ticked off
 */
enum weft_verdict weft_ats_ta_receive(struct weft_ats_ta *t, const uint8_t *p, size_t len);

/** Next request to be walked. @return handle for weft_ats_ta_answer(), or -ENOENT */
int weft_ats_ta_walk(struct weft_ats_ta *t, struct weft_ats_walk *walk);

/**
 * Answer a request.
 *
 * @param status  WEFT_ATS_SUCCESS, WEFT_ATS_UR or WEFT_ATS_CA (section 5.6)
 * @param x       @p n translations of one size, from the start of the one that holds walk.va on;
 *                the size not below the smallest unit. May be NULL for @p n = 0
 * @param n       0..walk.n; each must overlap what was asked for. 0 unless SUCCESS
 * @param first   translations in the first packet; @p n (or 0): all in one packet
 * @return 0; -EINVAL for an answer that breaks section 2.4, or an unknown handle
 */
int weft_ats_ta_answer(struct weft_ats_ta *t, int handle, enum weft_ats_status status,
	const struct weft_ats_xlat *x, unsigned int n, unsigned int first);

/** Next completion. @return bytes written; 0: none, or @p room below WEFT_ATS_PACKET_MAX */
size_t weft_ats_ta_send_completion(struct weft_ats_ta *t, uint8_t *buf, size_t room);

/**
 * Time passes: an invalidation without its completions FAILED, and its device is isolated: no
 * translation is given, no translated access allowed until it was reset, or has completed all that
 * failed.
 *
 * @return invalidations that failed now
 */
unsigned int weft_ats_ta_time(struct weft_ats_ta *t, uint64_t now_ns);

/**
 * The device was reset and nothing it sent before can arrive any more: invalidations under way are
 * DONE, walks dropped, isolation ends.
 */
void weft_ats_ta_reset(struct weft_ats_ta *t, unsigned int device);

/** Counter rows, WEFT_ATS_TA_N_COUNTERS of them. */
extern const struct weft_counter weft_ats_ta_counters[];

/** Their values, in row order. Written by the agent's thread only. */
const uint64_t *weft_ats_ta_counts(const struct weft_ats_ta *t);

WEFT_END_DECLS

#endif /* WEFT_ATS_TA_H */
