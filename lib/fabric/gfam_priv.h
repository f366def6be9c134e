/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Layout of a block of tables: this struct, then rows, free rows and the MGTs by offset. */
#ifndef GFAM_PRIV_H
#define GFAM_PRIV_H

#include "weft_gfam.h"

#include "weft_base.h"

#define GFAM_PID_NONE 0xFFF
#define GFAM_NO_ROW UINT16_MAX
#define GFAM_STEP (UINT64_C(256) << 20) /* DMPs and regions are placed in steps of it */

/* A decoder as the look-up wants it. One that is off has a length of 0 and hits nothing. */
struct gfam_decoder {
	uint64_t hpa_base;
	uint64_t dpa_base;
	uint64_t dpa_len;
	uint8_t low; /* bits below the way, 8 + gran */
	uint8_t high; /* first bit above the way */
	uint8_t way;
	uint8_t check_mask; /* way bits to compare; 0 compares none */
	uint8_t check_way;
	uint8_t coherent;
	uint8_t spare[2];
};

static_assert(sizeof(struct gfam_decoder) == 32, "two in a cache line");

/* A requester's row, read in one load. */
struct gfam_rpid {
	uint64_t groups; /* SAT */
	uint16_t row; /* of the GDT, or GFAM_NO_ROW */
	uint16_t owner; /* PID that may set the row besides the requester */
	uint8_t used; /* decoders from 0 on that need a look */
	uint8_t spare[3];
};

static_assert(sizeof(struct gfam_rpid) == 16, "four in a cache line");

struct gfam_dmp {
	uint64_t base;
	uint64_t len; /* 0: not placed */
	uint32_t mgt; /* first entry */
	uint32_t n_away; /* blocks whose memory is elsewhere */
	uint8_t block_log2;
	uint8_t flags;
};

struct gfam_region {
	uint64_t base;
	uint64_t decode_len; /* 0: not placed */
	uint64_t len;
};

struct weft_gfam {
	struct weft_gfam_cfg cfg;
	uint32_t row_off, free_off, mgt_off;
	uint32_t home_off; /* 0: no memory is sharable, none is elsewhere */
	uint32_t size;
	uint32_t n_free;
	struct gfam_dmp dmp[WEFT_GFAM_DMPS];
	struct gfam_region region[WEFT_GFAM_REGIONS];
	_Alignas(WEFT_CACHE_LINE) struct gfam_rpid rpid[WEFT_GFAM_RPIDS];
};

static inline const struct gfam_decoder *
gfam_row(const struct weft_gfam *t, unsigned int row)
{
	return (const struct gfam_decoder *)((const uint8_t *)t + t->row_off) +
	       (size_t)row * WEFT_GFAM_DECODERS;
}

static inline const uint8_t *
gfam_mgt(const struct weft_gfam *t)
{
	return (const uint8_t *)t + t->mgt_off;
}

#define GFAM_AT_HOME UINT32_MAX

/* Of each entry of the MGT, the block that holds its memory, in blocks of its own DMP. */
static inline const uint32_t *
gfam_home(const struct weft_gfam *t)
{
	return (const uint32_t *)((const uint8_t *)t + t->home_off);
}

/* True if @p len bytes from @p at lie in the @p room bytes from @p base. */
static inline bool
gfam_within(uint64_t at, uint64_t len, uint64_t base, uint64_t room)
{
	return at >= base && len <= room && at - base <= room - len;
}

static inline bool
gfam_overlap(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a_len != 0 && b_len != 0 && (a < b ? b - a < a_len : a - b < b_len);
}

/* DMP that holds @p dpa, or cfg.dmps. One that is not placed holds nothing. */
static inline unsigned int
gfam_dmp_of(const struct weft_gfam *t, uint64_t dpa)
{
	unsigned int i = 0;

	while (i < t->cfg.dmps && dpa - t->dmp[i].base >= t->dmp[i].len)
		i++;
	return i;
}

static inline uint8_t
gfam_group_at(const struct weft_gfam *t, const struct gfam_dmp *d, uint64_t dpa)
{
	return gfam_mgt(t)[d->mgt + ((dpa - d->base) >> d->block_log2)];
}

#endif /* GFAM_PRIV_H */
