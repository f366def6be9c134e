/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside the drawing of fabrics: what is decided so far, and the text that it becomes. */
#ifndef DRAW_PRIV_H
#define DRAW_PRIV_H

#include <stdbool.h>
#include <stdio.h>

#include "draw.h"

#include "weft_rand.h"

#define DRAW_HOSTS 4
#define DRAW_GFDS 4
#define DRAW_DEVICES 2
#define DRAW_SEGMENTS (DRAW_GFDS + DRAW_HOSTS + DRAW_DEVICES + 2)
#define DRAW_PROGRAM_BYTES (12u * DRAW_BLOCK)
#define DRAW_BLOCK 4096u /* rights and segments are of so many bytes */
/*
 * At the beginning of each segment: 64 lines of CXL.mem of each host, 64 of UIO of each that sends
 * it.
 */
#define DRAW_LINES 64
#define DRAW_LINE_BYTES ((2 * DRAW_HOSTS + DRAW_DEVICES) * DRAW_LINES * 64u)

/* Part of the addresses; what is taken of it belongs to translations or transfers. */
struct draw_segment {
	uint64_t base;
	uint64_t size;
	uint64_t taken;
	bool is_gfd; /* memory of GFDs */
};

struct draw {
	struct weft_rand r;
	struct weft_rand equal; /* what other draws mean does not depend on it */
	struct weft_rand users; /* likewise */
	FILE *out;
	uint32_t has; /* a bit for each enum draw_domain */
	bool is_cxl;
	unsigned int hosts; /* h0, h1, ...: the last of them translate */
	unsigned int clients;
	unsigned int gfds;
	unsigned int devices;
	unsigned int switches;
	unsigned int groups;
	/* Drawn instead, for the file that changes the rights of the first; else nothing. */
	struct draw_rights {
		struct weft_rand r;
		unsigned int groups;
	} * change;
	uint32_t transfer_hosts; /* a bit each */
	uint64_t memory[DRAW_GFDS];
	uint64_t gim[DRAW_HOSTS]; /* that hosts offer */
	uint64_t own[DRAW_DEVICES]; /* memory of devices */
	unsigned int n_segments;
	struct draw_segment segment[DRAW_SEGMENTS];
};

static inline bool
draw_has(const struct draw *d, enum draw_domain domain)
{
	return (d->has >> domain & 1) != 0;
}

/* Hosts that send as they like: no client. The first host is never one. */
static inline unsigned int
draw_free_hosts(const struct draw *d)
{
	return d->hosts - d->clients;
}

static inline unsigned int
draw_from(struct draw *d, unsigned int least, unsigned int most)
{
	return least + (unsigned int)weft_rand_below(&d->r, most - least + 1);
}

static inline bool
draw_percent(struct draw *d, unsigned int percent)
{
	return weft_rand_below(&d->r, 100) < percent;
}

/* Bytes of a segment for one owner alone, @p align a power of 2: offset, or UINT64_MAX. */
uint64_t draw_take(struct draw *d, unsigned int segment, uint64_t bytes, uint64_t align);

/* What @p d draws from now on is of the change, or of the first file again. */
static inline void
draw_swap(struct draw *d)
{
	const struct draw_rights now = { d->r, d->groups };

	d->r = d->change->r;
	d->groups = d->change->groups;
	*d->change = now;
}

/* draw_space.c */
void draw_segments(struct draw *d);
void draw_groups(struct draw *d);
void draw_access(struct draw *d, bool is_all);
void draw_windows(struct draw *d, unsigned int host);
void draw_translations(struct draw *d);

/* draw_load.c */
/* Whose programs a host takes. */
void draw_clients(struct draw *d);
void draw_workloads(struct draw *d);
/* A region for programs that attach, where memory has room. Draws nothing. */
void draw_programs(struct draw *d);

#endif /* DRAW_PRIV_H */
