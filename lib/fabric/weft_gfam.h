/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tables of a GFD: which requester may reach which byte (fabric.md sections 1.6, 1.7, 1.9, 1.12).
 * GDT (host address to device address, per requester), DMPs and DC regions, MGT (block to group),
 * SAT (requester to groups). All zero denies everybody everything.
 *
 * One block of memory holds all tables and no pointer, so that a copy is a plain copy. The control
 * side copies, changes the copy, and publishes it by one pointer; readers take what they find there
 * for a burst and lock nothing. When an old block may be used again is the caller's to know.
 */
#ifndef WEFT_GFAM_H
#define WEFT_GFAM_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_GFAM_RPIDS 4096
#define WEFT_GFAM_DECODERS 8 /**< of each requester */
#define WEFT_GFAM_DMPS 4
#define WEFT_GFAM_REGIONS 8
#define WEFT_GFAM_GROUPS 64
#define WEFT_GFAM_NO_GROUP 0xFF
/** As the caller of weft_gfam_set_gdt(): the device itself, which may set every row. */
#define WEFT_GFAM_SELF 0xFFF

/** Attributes of a DMP, from its media; bits as in the DMP entry. */
#define WEFT_GFAM_NON_VOLATILE 0x04
#define WEFT_GFAM_SHARABLE 0x08
#define WEFT_GFAM_COHERENT 0x10
#define WEFT_GFAM_DC 0x20
#define WEFT_GFAM_READ_ONLY 0x40

enum weft_gfam_knob {
	WEFT_GFAM_ANY_WAY = 1 << 0, /**< way bits of the address need not be the decoder's */
	WEFT_GFAM_HPA_OVERLAP = 1 << 1, /**< decoders of a requester may overlap: no hit there */
	WEFT_GFAM_POISON_ON_DENY = 1 << 2,
	WEFT_GFAM_POISON_ON_NO_DECODE = 1 << 3,
	WEFT_GFAM_UIO = 1 << 4, /**< UIO is on */
};

/** Properties of the device; fixed for the life of its tables. */
struct weft_gfam_cfg {
	uint16_t rows; /* requesters that may have decoders at a time, 1..4095 */
	uint8_t groups; /* 1..64 */
	uint8_t dmps; /* 1..4 */
	uint32_t blocks; /* entries in the MGT of each DMP, 1 or more */
	uint32_t knobs; /* enum weft_gfam_knob */
	struct {
		uint64_t block_sizes; /* bit n: blocks of 2^n bytes can be had; n is 6..51 */
		uint8_t flags; /* attributes */
	} media[WEFT_GFAM_DMPS];
};

/** All tables of a device; opaque. */
struct weft_gfam;

/** Bytes of one block of tables, 0 for a configuration out of range. */
size_t weft_gfam_size(const struct weft_gfam_cfg *cfg);

/**
 * Tables that deny everything.
 *
 * @param mem  weft_gfam_size() bytes, 64-byte aligned; the caller's for the tables' life
 * @return @p mem as tables, or NULL for a configuration out of range
 */
struct weft_gfam *weft_gfam_init(void *mem, const struct weft_gfam_cfg *cfg);

/** A copy in @p mem (as for weft_gfam_init(), of the same configuration), free to be changed. */
struct weft_gfam *weft_gfam_copy(void *mem, const struct weft_gfam *from);

/** True if two tables differ in anything. */
bool weft_gfam_differs(const struct weft_gfam *a, const struct weft_gfam *b);

/** Where readers find the tables. One writer, any readers. */
struct weft_gfam_ref {
	const struct weft_gfam *now;
};

/** Let readers find @p t from now on; it must not change any more. NULL is "deny everything". */
static inline void
weft_gfam_publish(struct weft_gfam_ref *ref, const struct weft_gfam *t)
{
	__atomic_store_n(&ref->now, t, __ATOMIC_RELEASE);
}

/** The tables to use for a burst, NULL if none were published. Any thread. */
static inline const struct weft_gfam *
weft_gfam_current(const struct weft_gfam_ref *ref)
{
	return __atomic_load_n(&ref->now, __ATOMIC_ACQUIRE);
}

/*
 * Setters, for tables that no reader sees yet. One that fails has changed nothing. A GFD answers
 * their errors as: EINVAL, EPERM, EBUSY Invalid Input; ENOTSUP Unsupported; ENOSPC Resources
 * Exhausted.
 */

/** One decoder: GDT entry (section 1.6). */
struct weft_gfam_decoder {
	uint64_t hpa_base;
	uint64_t dpa_base;
	uint64_t dpa_len; /* bytes of this device, not of the whole set */
	bool valid; /* false: the decoder is off, and the rest is not looked at */
	bool coherent; /* HDM-DB */
	uint8_t intlv; /* 0..8: 1 << intlv ways */
	uint8_t gran; /* 0..6: 256 << gran bytes */
	uint8_t way; /* this device's, below the number of ways */
};

/**
 * Write @p n decoders of @p rpid from number @p start on (4914h). The decoders as they will be, all
 * eight, must keep the rules: bases and length multiples of the DMP's block, the base also of ways
 * x granularity, the whole range in one DMP, no two overlapping, nothing reserved.
 *
 * @param caller  PID in whose name this is asked, or WEFT_GFAM_SELF
 * @param rpid    0..0xFFE
 * @param n       1 or more
 * @return 0; -EINVAL for a value out of range or a rule broken; -EPERM if @p rpid is neither the
 *         caller nor owned by it; -ENOTSUP for coherent where the media is not; -ENOSPC for more
 *         decoders than there are, or no row left for a new requester
 */
int weft_gfam_set_gdt(struct weft_gfam *t, uint16_t caller, uint16_t rpid, unsigned int start,
	const struct weft_gfam_decoder *d, unsigned int n);

/** Decoder @p i (0..7) of @p rpid, all zero if it is off or either is out of range (4913h). */
void weft_gfam_get_gdt(
	const struct weft_gfam *t, uint16_t rpid, unsigned int i, struct weft_gfam_decoder *d);

/**
 * Let host @p owner set the decoders of its accelerator @p rpid. Every PID owns itself at first.
 *
 * @return 0, or -EINVAL for a PID above 0xFFE
 */
int weft_gfam_set_owner(struct weft_gfam *t, uint16_t rpid, uint16_t owner);

/** PID that may set the decoders of @p rpid besides itself; WEFT_GFAM_SELF out of range. */
uint16_t weft_gfam_owner(const struct weft_gfam *t, uint16_t rpid);

/**
 * Place a DMP (4906h), all its blocks in no group; length 0 takes it away.
 *
 * @param i      0..dmps-1
 * @param base   multiple of 256 MB
 * @param len    multiple of 256 MB
 * @param block  bytes: a power of two that the media offers
 * @return 0; -EINVAL for a value out of range or a range that overlaps another DMP's; -ENOSPC for
 *         more blocks than the MGT holds; -EBUSY if a block of it is in a group, or a region in it
 */
int weft_gfam_set_dmp(
	struct weft_gfam *t, unsigned int i, uint64_t base, uint64_t len, uint64_t block);

/**
 * Place a DC region (4903h); @p decode_len 0 takes it away.
 *
 * @param i           0..7
 * @param base        multiple of @p block
 * @param decode_len  multiple of 256 MB; the range must lie in one DMP that is for DC
 * @param len         1..@p decode_len, multiple of @p block: what can be given out
 * @param block       that of the DMP
 * @return 0; -EINVAL for a value out of range or a range that overlaps another region's; -EBUSY if
 *         a block of it is in a group
 */
int weft_gfam_set_region(struct weft_gfam *t, unsigned int i, uint64_t base, uint64_t decode_len,
	uint64_t len, uint64_t block);

/** A DMP, or a DC region, as it is placed. */
struct weft_gfam_region {
	uint64_t base;
	uint64_t decode_len; /* 0: not placed, and all else is 0 but a DMP's flags */
	uint64_t len; /* of a DMP as decode_len */
	uint64_t block;
	uint8_t flags; /* attributes of the media */
};

/** DMP @p i (4905h). @return 0, or -EINVAL for one that the device has not */
int weft_gfam_get_dmp(const struct weft_gfam *t, unsigned int i, struct weft_gfam_region *r);

/** DC region @p i (4902h), with block and flags of its DMP. @return 0, or -EINVAL from 8 on */
int weft_gfam_get_region(const struct weft_gfam *t, unsigned int i, struct weft_gfam_region *r);

/**
 * Put the blocks of a range into a group, or into none (what 4907h and 4908h do to the MGT).
 *
 * @param dpa    multiple of the block
 * @param len    1 or more, multiple of the block; the range lies in one DMP and, if that is for
 *               DC, in one region's length
 * @param group  0..groups-1 or WEFT_GFAM_NO_GROUP
 * @return 0, or -EINVAL
 */
int weft_gfam_set_blocks(struct weft_gfam *t, uint64_t dpa, uint64_t len, uint8_t group);

/**
 * Let a range show memory that is at another address of the device: shared capacity (section 1.7).
 * An access to @p dpa + x that is allowed is then decided to be at @p home + x. Snoops have no way
 * back through it, so that neither DMP may be coherent.
 *
 * @param dpa   multiple of the block of its DMP, as are @p len and @p home
 * @param len   1 or more; either range lies in one DMP
 * @param home  where the memory is; @p dpa itself ends it
 * @return 0; -EINVAL for a value out of range; -ENOTSUP if a DMP is not sharable, or coherent
 */
int weft_gfam_set_home(struct weft_gfam *t, uint64_t dpa, uint64_t len, uint64_t home);

/** Group of the block at @p dpa, or WEFT_GFAM_NO_GROUP. */
uint8_t weft_gfam_group(const struct weft_gfam *t, uint64_t dpa);

/**
 * Let @p rpid reach the groups of @p vec and no others (bit k: group k).
 *
 * @return 0; -EINVAL for an RPID above 0xFFE or a bit of no group
 */
int weft_gfam_set_sat(struct weft_gfam *t, uint16_t rpid, uint64_t vec);

/**
 * The same from the 32 bits of 490Dh: groups 0..30, and bit 31 is the wish to tell the requester.
 * Groups above 30 are closed by it.
 */
int weft_gfam_set_sat32(struct weft_gfam *t, uint16_t rpid, uint32_t vec, bool *notify);

/** Groups open to @p rpid; 0 out of range. */
uint64_t weft_gfam_sat(const struct weft_gfam *t, uint16_t rpid);

/** True if a host may ask for this command of set 49h; the rest is the fabric manager's. */
bool weft_gfam_host_may(uint16_t opcode);

/* Decisions. Any thread. */

/** Outcome, in the order of the tests (section 1.12). */
enum weft_gfam_result {
	WEFT_GFAM_ALLOWED,
	WEFT_GFAM_NO_ROW, /**< the requester has no decoder */
	WEFT_GFAM_NO_HIT,
	WEFT_GFAM_WRONG_WAY, /**< no hit, but for the way bits there would be */
	WEFT_GFAM_SEVERAL, /**< more than one hit */
	WEFT_GFAM_UNGROUPED, /**< in no DMP, or the block in no group */
	WEFT_GFAM_DENIED, /**< the SAT says no */
	WEFT_GFAM_NO_WRITE, /**< a write to read-only memory */
	WEFT_GFAM_CROSSES, /**< UIO: begins or ends outside, or in another decoder */
	WEFT_GFAM_UIO_OFF,
	WEFT_GFAM_RESULTS
};

/** Name of a result, such as "wrong_way"; "unknown" out of range. The string is constant. */
const char *weft_gfam_result_name(enum weft_gfam_result r);

#define WEFT_GFAM_TRIGGERS 4
/** Trigger of access errors that a result counts as: 0, 2, 3; -1 for none (section 1.9). */
int weft_gfam_trigger(enum weft_gfam_result r);

/** Decision of the tables on one access. */
struct weft_gfam_decision {
	uint64_t dpa; /* from UNGROUPED on, else 0; with ALLOWED, where the memory is */
	uint8_t result; /* enum weft_gfam_result */
	uint8_t decoder; /* from UNGROUPED on */
	uint8_t dmp; /* from DENIED on, and ALLOWED */
	uint8_t group; /* the same; else WEFT_GFAM_NO_GROUP */
	bool coherent; /* HDM-DB: the snoop filter is next; with ALLOWED */
};

/** May @p spid read, or write, the byte at @p hpa? @p t may be NULL: no. */
void weft_gfam_decide(const struct weft_gfam *t, uint16_t spid, uint64_t hpa, bool write,
	struct weft_gfam_decision *d);

/** A run of @p n accesses. */
void weft_gfam_decide_run(const struct weft_gfam *t, const uint16_t *spid, const uint64_t *hpa,
	const bool *write, struct weft_gfam_decision *d, unsigned int n);

/**
 * A UIO access of @p len bytes, 1..4096: every line of it must be allowed, by one decoder.
 * The decision is of the first byte, or of the first line that is not allowed. An access to memory
 * that does not lie together (weft_gfam_set_home()) crosses.
 */
void weft_gfam_decide_uio(const struct weft_gfam *t, uint16_t spid, uint64_t hpa, uint32_t len,
	bool write, struct weft_gfam_decision *d);

/**
 * Address for a back-invalidate snoop: the @p hpa by which @p rpid knows @p dpa.
 *
 * @return 0, or -ENOENT if not exactly one decoder of @p rpid holds @p dpa
 */
int weft_gfam_reverse(const struct weft_gfam *t, uint16_t rpid, uint64_t dpa, uint64_t *hpa);

/** How a GFD answers. */
enum weft_gfam_answer {
	WEFT_GFAM_SERVE, /**< do it */
	WEFT_GFAM_NXM, /**< MemData-NXM, all ones */
	WEFT_GFAM_NXM_POISON,
	WEFT_GFAM_ONES, /**< MemData, all ones */
	WEFT_GFAM_ONES_POISON,
	WEFT_GFAM_CMP, /**< write nothing, complete as if written */
	WEFT_GFAM_UR, /**< UIO: Unsupported Request */
	WEFT_GFAM_CA, /**< UIO: Completer Abort */
};

enum weft_gfam_access { WEFT_GFAM_READ, WEFT_GFAM_WRITE, WEFT_GFAM_UIO_READ, WEFT_GFAM_UIO_WRITE };

/** The answer to an access with this result (section 1.9). @p knobs: enum weft_gfam_knob. */
enum weft_gfam_answer weft_gfam_answer(
	enum weft_gfam_result r, enum weft_gfam_access a, uint32_t knobs);

/** Name of an answer, such as "nxm"; "unknown" out of range. The string is constant. */
const char *weft_gfam_answer_name(enum weft_gfam_answer a);

/** What the tables were made for. */
const struct weft_gfam_cfg *weft_gfam_cfg(const struct weft_gfam *t);

/** Knobs of the tables; 0 for NULL. */
uint32_t weft_gfam_knobs(const struct weft_gfam *t);

WEFT_END_DECLS

#endif /* WEFT_GFAM_H */
