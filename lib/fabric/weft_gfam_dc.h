/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Dynamic capacity of a GFD: which extents each memory group has, under which tag, and what becomes
 * of memory that nobody has any more (fabric.md sections 1.7 and 4.6: 4902h to 490Bh). It stands
 * beside the tables of weft_gfam.h, which the data path reads: the control side copies those,
 * changes both here, and publishes the tables.
 *
 * An extent is a run of blocks in a group. Those added by one command under one tag are one
 * allocation: the tag names it in the whole device, and all of it goes to a group or leaves it.
 * Extents of an allocation are where its memory is. Sharable ones may be shown to other groups
 * too (policy 3), at addresses of their own, whose blocks then show that memory
 * (weft_gfam_set_home()). The memory is free again when no group has it and the fabric manager
 * holds no reference to the tag.
 *
 * One block of memory; for one thread.
 */
#ifndef WEFT_GFAM_DC_H
#define WEFT_GFAM_DC_H

#include "weft_base.h"
#include "weft_gfam.h"

WEFT_BEGIN_DECLS

#define WEFT_GFAM_TAG_LEN 16

/** Sizes of the lists; fixed over the life of a device. */
struct weft_gfam_dc_cfg {
	uint16_t extents; /* 1..4096: a command may look at each for each */
	uint16_t tags; /* 1..4096 */
};

/** Opaque. */
struct weft_gfam_dc;

/** Bytes of memory for lists of this size, 0 for a configuration out of range. */
size_t weft_gfam_dc_size(const struct weft_gfam_dc_cfg *cfg);

/**
 * Lists with nothing in them.
 *
 * @param mem  weft_gfam_dc_size() bytes, 8-byte aligned; the caller's for the life of the lists
 * @return @p mem as lists, or NULL for a configuration out of range
 */
struct weft_gfam_dc *weft_gfam_dc_init(void *mem, const struct weft_gfam_dc_cfg *cfg);

/*
 * Commands. @p t is a copy of the tables, seen by no reader yet. One that fails has changed
 * nothing. A GFD answers errors as: EINVAL, EBUSY Invalid Input; EBADMSG Invalid Extent List;
 * ENOTSUP Unsupported; ENOSPC Resources Exhausted. Of several reasons the first in this order is
 * given: EINVAL, EBADMSG, ENOTSUP, ENOSPC.
 */

/** A run of blocks. */
struct weft_gfam_range {
	uint64_t dpa, len;
};

/** An extent as it is listed. */
struct weft_gfam_extent {
	uint64_t dpa, len;
	uint8_t tag[WEFT_GFAM_TAG_LEN]; /* zero: none */
	uint16_t seq; /* order among those added with it, from 1; 0: not sharable */
};

/** How 4907h chooses. */
enum weft_gfam_policy {
	WEFT_GFAM_FREE, /**< the lowest free blocks, in as many extents as it takes */
	WEFT_GFAM_CONTIGUOUS, /**< the lowest free run that is long enough, as one extent */
	WEFT_GFAM_PRESCRIPTIVE, /**< these extents */
	WEFT_GFAM_SHARED, /**< what a sharable tag names already */
};

/** Parameters of 4907h. */
struct weft_gfam_add {
	uint16_t group;
	uint8_t policy; /* enum weft_gfam_policy */
	uint8_t region; /* 0..7 */
	uint64_t len; /* bytes, in whole blocks; with SHARED of no other meaning */
	uint8_t tag[WEFT_GFAM_TAG_LEN]; /* zero: none */
	const struct weft_gfam_range *range; /* with PRESCRIPTIVE */
	unsigned int n;
};

/** Parameters of 4908h. */
struct weft_gfam_release {
	uint16_t group;
	bool by_tag;
	uint8_t tag[WEFT_GFAM_TAG_LEN]; /* with by_tag */
	const struct weft_gfam_range *range; /* else: whole extents of the group, in any order */
	unsigned int n;
};

/** What a command did; good until the next one on the same lists. */
struct weft_gfam_dc_done {
	const struct weft_gfam_extent *extent; /* added or released, in the order of the list */
	unsigned int n_extents;
	/**
	 * Memory that was freed. Its owner zeroes it once no reader has the old tables, and before
	 * the next command.
	 */
	const struct weft_gfam_range *wipe;
	unsigned int n_wipe;
};

/**
 * Add capacity to a group, all or nothing (4907h).
 *
 * FREE, CONTIGUOUS and PRESCRIPTIVE take blocks of the region that no extent holds. With a tag they
 * begin an allocation: the tag must not be in use. SHARED shows the allocation of a tag to one more
 * group: at its own addresses if the region is theirs and no group has them, else at the lowest
 * free blocks of the region.
 *
 * @return 0; -EINVAL for a group, region or policy that is not there, a length of 0 or of part of a
 *         block, a tag in use, or for SHARED: no tag in use or not a sharable one, a region that is
 *         not sharable or whose blocks do not fit the allocation, a group that has the tag already;
 *         -EBADMSG for prescribed extents that are none, empty, not of whole blocks, not in the
 *         region, overlapping, in use or not @p a->len in all; -ENOTSUP for SHARED at other
 *         addresses with a coherent region; -ENOSPC for no room in the region, or in the lists of
 *         extents and tags
 */
int weft_gfam_dc_add(struct weft_gfam_dc *dc, struct weft_gfam *t, const struct weft_gfam_add *a,
	struct weft_gfam_dc_done *done);

/**
 * Take whole extents from a group (4908h).
 *
 * @return 0; -EINVAL for a group that is not there, a tag of which the group has nothing, or an
 *         extent of a sharable tag without by_tag; -EBADMSG for ranges that are none, are named
 *         twice or are no whole extent of the group
 */
int weft_gfam_dc_release(struct weft_gfam_dc *dc, struct weft_gfam *t,
	const struct weft_gfam_release *r, struct weft_gfam_dc_done *done);

/**
 * Let the fabric manager hold a sharable tag, once or again, or not any more (4909h, 490Ah).
 *
 * @return 0, or -EINVAL for a tag not in use, not sharable, or to let go and not held
 */
int weft_gfam_dc_refer(struct weft_gfam_dc *dc, const uint8_t tag[WEFT_GFAM_TAG_LEN], bool hold,
	struct weft_gfam_dc_done *done);

/** weft_gfam_set_region(); -EBUSY too if memory in it is held. */
int weft_gfam_dc_set_region(const struct weft_gfam_dc *dc, struct weft_gfam *t, unsigned int i,
	const struct weft_gfam_region *r);

/* Lists. */

/** Entries of a list that has @p total of them: those asked for are copied, @p n at most. */
struct weft_gfam_dc_list {
	unsigned int n, total;
	uint32_t generation; /* changes whenever the list does */
};

/**
 * Extents of @p group in the order in which they were added, from number @p start on (4904h).
 *
 * @param out  @p max entries
 * @return 0, or -EINVAL for a group that is not there or @p start beyond the end
 */
int weft_gfam_dc_extents(const struct weft_gfam_dc *dc, const struct weft_gfam *t, uint16_t group,
	uint32_t start, struct weft_gfam_extent *out, unsigned int max,
	struct weft_gfam_dc_list *list);

/** A tag in use. */
struct weft_gfam_tag {
	uint8_t tag[WEFT_GFAM_TAG_LEN];
	bool is_held; /* by the fabric manager */
};

/** Tags in the order in which they came into use (490Bh); as weft_gfam_dc_extents(). */
int weft_gfam_dc_tags(const struct weft_gfam_dc *dc, uint32_t start, struct weft_gfam_tag *out,
	unsigned int max, struct weft_gfam_dc_list *list);

/** Room in the lists (4902h). */
struct weft_gfam_dc_room {
	uint32_t extents, extents_free, tags, tags_free;
};

/** How much the lists hold, and how much more they could. */
void weft_gfam_dc_room(const struct weft_gfam_dc *dc, struct weft_gfam_dc_room *room);

/** Whether a group exists: it has capacity, or a requester may reach it. Else it is recycled. */
bool weft_gfam_dc_is_active(
	const struct weft_gfam_dc *dc, const struct weft_gfam *t, uint16_t group);

WEFT_END_DECLS

#endif /* WEFT_GFAM_DC_H */
