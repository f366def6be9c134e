/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The device's side of Address Translation Services: asks the Translation Agent, fills a cache
 * (weft_atc.h), gives translations up on request and certifies it (ats.md sections 4 and 6). Events
 * go in, packets come out into the caller's memory; no clock, no allocation. One function of one
 * device, one thread.
 *
 * Time is what the caller passes as now_ns, never going back.
 */
#ifndef WEFT_ATS_ATC_H
#define WEFT_ATS_ATC_H

#include "weft_atc.h"
#include "weft_base.h"
#include "weft_telem.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_ATS_SLOTS_MAX 64
#define WEFT_ATS_READS_MAX 1024

struct weft_ats_atc_cfg {
	struct weft_atc *cache; /**< the caller's, and changed by this peer only */
	uint64_t timeout_ns; /**< of a Translation Request; it rests as long again */
	uint64_t backoff_ns; /**< before the first retry after Completer Abort; doubles each time */
	uint16_t id; /**< requester ID */
	uint16_t rcb; /**< 64 or 128 bytes */
	uint16_t slots; /**< Translation Requests outstanding, 1..64; the slot is in the tag */
	uint16_t reads; /**< translated reads outstanding, 0..1024 */
	uint8_t tcs; /**< bit per traffic class that translated writes use, at least one */
	uint8_t retries; /**< after Completer Abort, 0..16 */
};

/** Outcome of a request. */
enum weft_ats_result {
	WEFT_ATS_INSTALLED, /**< in the cache as far as it has room: look it up again */
	WEFT_ATS_NO_PAGE, /**< the agent has no translation, or none with R or W */
	WEFT_ATS_AGAIN, /**< an invalidation overtook the answer: ask again */
	/** Unsupported Request: the cache is empty now and nothing may be asked */
	WEFT_ATS_REFUSED,
	WEFT_ATS_ABORTED, /**< Completer Abort to the last retry, or packets that do not fit */
	WEFT_ATS_LATE, /**< no answer in time */
	WEFT_ATS_CANCELLED /**< reset, or translation was disabled */
};

struct weft_ats_done {
	uint64_t va; /**< first address asked for, aligned to the smallest unit */
	uint16_t slot;
	uint16_t ctx;
	uint16_t bits; /**< of the first translation if INSTALLED, enum weft_ats_bits */
	uint8_t result; /**< enum weft_ats_result */
};

enum weft_ats_atc_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_ATS_ATC_N_##id,
#include "weft_ats_atc_counters.def"
#undef WEFT_COUNTER
	WEFT_ATS_ATC_N_COUNTERS
};

/** Registers, a 32-bit word each (section 5): extended capabilities 000Fh and 001Bh. */
enum weft_ats_reg {
	WEFT_ATS_REG_ATS, /**< header, RO */
	WEFT_ATS_REG_ATS_CTL, /**< 4:0 depth, 5 page aligned, 6 global; 20:16 STU, 31 E */
	WEFT_ATS_REG_PASID, /**< header, RO */
	/** 1 exec, 2 privileged, 12:8 width; 16 E, 17 exec, 18 privileged */
	WEFT_ATS_REG_PASID_CTL,
	WEFT_ATS_REGS
};
#define WEFT_ATS_CTL_E (UINT32_C(1) << 31)
#define WEFT_ATS_CTL_STU_SHIFT 16
#define WEFT_ATS_PASID_E (UINT32_C(1) << 16)

struct weft_ats_atc;

/** Bytes that a peer of @p cfg needs; 0 if @p cfg is out of range. */
size_t weft_ats_atc_size(const struct weft_ats_atc_cfg *cfg);

/**
 * Start a peer after a cold reset: translation disabled, smallest unit 4 KB, context 0 without a
 * PASID and the other contexts unbound.
 *
 * @param mem  weft_ats_atc_size() bytes, 64-byte aligned, the caller's for the life of the peer
 * @return the peer; NULL for a bad @p cfg or misaligned memory
 */
struct weft_ats_atc *weft_ats_atc_init(void *mem, const struct weft_ats_atc_cfg *cfg);

/** A register. */
uint32_t weft_ats_atc_reg(const struct weft_ats_atc *a, enum weft_ats_reg reg);

/**
 * Write a register; read-only bits keep their value. Turning E on or off, another STU and PASID off
 * empty the cache; with E off requests that wait are cancelled, and invalidations are still
 * answered (section 4.7).
 */
void weft_ats_atc_reg_set(struct weft_ats_atc *a, enum weft_ats_reg reg, uint32_t value);

/**
 * Say which address space a context of the cache is; its old entries are forgotten, and answers on
 * their way for it.
 *
 * @param pasid  20 bits, or -1: the space of requests without a PASID
 * @return 0; -EINVAL for a context or PASID out of range; -EEXIST if another context has it
 */
int weft_ats_atc_bind(struct weft_ats_atc *a, uint16_t ctx, int32_t pasid);

/**
 * Ask for translations.
 *
 * @param va        untranslated address, 57 bits
 * @param n         translations wanted, of the smallest unit each: 1..rcb/8
 * @param no_write  only reads are wanted
 * @return slot, 0..slots-1; that of a request under way if it includes this one. -EAGAIN if no slot
 *         is free (the caller parks the access); -EINVAL for an argument out of range or an unbound
 *         context; -EACCES if translation, or the PASID capability for a PASID, is disabled
 */
int weft_ats_atc_request(
	struct weft_ats_atc *a, uint16_t ctx, uint64_t va, unsigned int n, bool no_write);

/**
 * Next Translation Request to send, if any. To be called until it returns 0.
 *
 * @return bytes written; 0 if there is none, or @p room is below WEFT_ATS_PACKET_MAX
 */
size_t weft_ats_atc_send_request(
	struct weft_ats_atc *a, uint8_t *buf, size_t room, uint64_t now_ns);

/**
 * Next Invalidate Completion of a traffic class, if any. It goes into the posted channel of @p tc
 * after everything that weft_ats_atc_write_done() reported.
 *
 * @return bytes written; 0 if there is none yet, or @p room is below WEFT_ATS_PACKET_MAX
 */
size_t weft_ats_atc_send_completion(
	struct weft_ats_atc *a, unsigned int tc, uint8_t *buf, size_t room);

/**
 * Take a packet: completions of Translation Requests and Invalidate Requests. An Invalidate Request
 * is always accepted (section 4.4) and has taken effect on return.
 *
 * @return WEFT_OK; a verdict of weft_ats_decode() or weft_ats_xlats_get(); WEFT_DROP_ATS_TYPE for a
 *         packet of another kind; WEFT_DROP_NO_TAG for a completion that matches no request;
 *         WEFT_DROP_ATS_SPLIT or WEFT_DROP_ATS_RANGE for an answer that does not fit its request,
 *         which fails then; WEFT_DROP_ATS_ITAG if the ITag is in use; WEFT_DROP_ATS_PEER if the
 *         packet is for another ID or the request from another agent than the first. Verdicts but
 *         the last of SPLIT and RANGE change no state
 */
enum weft_verdict weft_ats_atc_receive(
	struct weft_ats_atc *a, const uint8_t *p, size_t len, uint64_t now_ns);

/** Next request that ended; its slot is free then, or rests. @return false if there is none. */
bool weft_ats_atc_done(struct weft_ats_atc *a, struct weft_ats_done *done);

/** Time passes: requests time out, back-offs end, tags have rested. */
void weft_ats_atc_time(struct weft_ats_atc *a, uint64_t now_ns);

/** A translated write was queued for traffic class @p tc, which is one of cfg.tcs. */
void weft_ats_atc_write_begin(struct weft_ats_atc *a, unsigned int tc);

/** The oldest queued translated write of @p tc entered the ordered channel. */
void weft_ats_atc_write_done(struct weft_ats_atc *a, unsigned int tc);

/**
 * A translated read goes out.
 *
 * @param bytes  1 or more, not across the end of the translation
 * @return handle, 0..reads-1; -EAGAIN if none is free; -EINVAL for a context out of range
 */
int weft_ats_atc_read_begin(struct weft_ats_atc *a, uint16_t ctx, uint64_t va, uint32_t bytes);

/** A translated read came back. @return whether its data may be used; false: throw it away. */
bool weft_ats_atc_read_done(struct weft_ats_atc *a, unsigned int handle);

/**
 * Function Level Reset: as after weft_ats_atc_init(), but tags of requests under way rest, reads on
 * their way are to be discarded and queued writes stay counted. No pending invalidation is
 * answered.
 */
void weft_ats_atc_flr(struct weft_ats_atc *a, uint64_t now_ns);

/** Counter rows, WEFT_ATS_ATC_N_COUNTERS of them. */
extern const struct weft_counter weft_ats_atc_counters[];

/** Their values, in row order. Written by the peer's thread only. */
const uint64_t *weft_ats_atc_counts(const struct weft_ats_atc *a);

WEFT_END_DECLS

#endif /* WEFT_ATS_ATC_H */
