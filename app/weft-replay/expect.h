/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Compares the frames that come back at a port with those of a trace, one by one and in turn. A
 * frame that is lost, or is not what it should be, does not make all behind it differ: what comes
 * is looked for in the rest of the trace, by its hash.
 *
 * Frames shorter than 60 bytes count as filled with zeros up to there, as Ethernet fills them.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "frames.h"

#define EXPECT_FRAMES_MAX (UINT64_C(1) << 28) /* of all loops */

struct expect {
	const struct frames *file;
	uint32_t *index; /* of its frames: those that are to come to this port */
	uint32_t n;
	uint64_t total; /* those of all loops */
	uint64_t next; /* behind the last that came in turn */
	uint32_t turn; /* its place in a loop */
	uint8_t *has_come; /* a bit for each of `total` */
	uint32_t *bucket, *chain; /* by hash: index + 1 of the first, and of the next; 0: none */
	uint32_t mask; /* of buckets, less 1 */
	uint8_t types[8192]; /* bits: EtherTypes that the file has, and ours */
	uint64_t equal; /* came in turn */
	uint64_t reordered; /* came behind one that follows it */
	uint64_t unexpected; /* are none of those that were still to come */
	uint64_t foreign; /* of other EtherTypes: the kernel's, not compared */
	char first[200]; /* the first difference; "": none */
};

/**
 * Begin to compare.
 *
 * @param is_mine  whether a frame of the file is to come to this port
 * @param loops    how often they come, one after the other; @p file has at most EXPECT_FRAMES_MAX
 *                 frames in so many
 * @return 0, or -ENOMEM; expect_free() it then as well
 */
int expect_init(struct expect *e, const struct frames *file,
	bool (*is_mine)(const struct frame *one, const void *arg), const void *arg, uint64_t loops);

/** A frame came. @p len of at least 14. */
void expect_frame(struct expect *e, const uint8_t *bytes, uint32_t len);

/** Those that have not come. */
uint64_t expect_missing(const struct expect *e);

/** Nothing more comes: what is missing is a difference too. @return whether there was none */
bool expect_end(struct expect *e);

void expect_free(struct expect *e);

#endif /* EXPECT_H */
