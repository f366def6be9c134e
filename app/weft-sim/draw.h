/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fabrics with their load, drawn by a seed as the text of a topology file: what is drawn is what
 * weftd could run, and nothing that a file cannot say. doc/sim.md lists what is never drawn.
 */
#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What a drawn fabric may have beside load by CXL.mem, each drawn by itself: rows of draw_rows. */
enum draw_domain {
	DRAW_ATS, /**< hosts that translate, and their agent */
	DRAW_MOVE, /**< pages that the agent moves */
	DRAW_TRANSFER, /**< transfers with block signatures */
	DRAW_INTERLEAVE, /**< memory of several GFDs that takes turns */
	DRAW_UIO, /**< hosts that send by UIO */
	DRAW_GIM, /**< hosts that offer memory, in windows */
	DRAW_DEVICE, /**< devices that send by UIO, with memory and without */
	DRAW_RIGHTS, /**< groups, and hosts and devices that may not reach all */
	DRAW_LATE_POISON, /**< GFDs that find out late that data is bad */
	DRAW_IDE, /**< encryption */
	DRAW_EQUAL, /**< several links between two switches */
	DRAW_DOMAINS
};

#define DRAW_NODES 16 /**< at most */

#define DRAW_PROGRAMS 3 /**< of a host: program @p i is of user DRAW_UID + i ... */
#define DRAW_UID 1000u
#define DRAW_GID 100u /**< ... whose groups are this one and DRAW_GID + 1 + i */

extern const char *const draw_words[];

/**
 * Draw a fabric.
 *
 * @param mode  enum weft_mode, or -1: drawn too
 * @param has   receives a bit for each domain that it has; may be NULL
 * @param len   receives its length; may be NULL
 * @return the text, the caller's to free; NULL: out of memory
 */
char *draw_fabric(uint64_t seed, int mode, uint32_t *has, size_t *len);

/** Whether rights may change in a fabric that has these domains, while it runs. */
bool draw_may_change(uint32_t has);

/** The same fabric with other groups and rights. Parameters and result as above. */
char *draw_change(uint64_t seed, int mode, size_t *len);

#endif /* DRAW_H */
