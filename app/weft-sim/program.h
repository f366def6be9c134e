/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Programs at the hosts of drawn fabrics (doc/drawn.md): libweft's own rings over a block of
 * memory, and the clients of lib/node at the other side. program.c attaches them, has them work,
 * leave and be killed at moments that the seed decides; program_line.c knows what each line of
 * their memory may hold.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "sim.h"

#define PROGRAM_LINE 64
#define PROGRAM_LINES 64 /* of the page that each has for its own */
#define PROGRAM_PAGE (PROGRAM_LINE * PROGRAM_LINES)
#define PROGRAM_IMAGES 8

/* --- program_line.c --- */

/* What a line may hold, or held. */
struct program_image {
	uint64_t dead; /* count of the ledger's when it was known to be there no more; 0: it may */
	uint8_t data[PROGRAM_LINE];
};

struct program_line {
	struct program_image image[PROGRAM_IMAGES];
	uint8_t n;
	bool anything; /* more than there is room for */
	bool is_written; /* a write is open */
	bool is_frozen; /* a write that was lost may come at any time: nobody writes it any more */
	uint8_t first, last; /* of the open write: bytes of the line */
	uint8_t data[PROGRAM_LINE];
};

/* A page of memory that one program writes. */
struct program_ledger {
	uint64_t count; /* of writes that have ended; from 1 on */
	uint64_t oldest; /* that count when the first read began that is open; UINT64_MAX: none */
	bool comes_late; /* what was lost may be done yet */
	struct program_line line[PROGRAM_LINES];
};

/** All of it is zeros. */
void program_ledger_init(struct program_ledger *l, bool comes_late);
/** Memory may have been lost: lines may be zeros. */
void program_ledger_lost(struct program_ledger *l);
/** Whether @p n bytes at @p at may be written: no line has an open write, or one that may come. */
bool program_may_write(const struct program_ledger *l, uint32_t at, uint32_t n);
void program_write_begins(struct program_ledger *l, uint32_t at, uint32_t n, const uint8_t *data);
/** @p is_done false: each of its lines was written or was not. */
void program_write_ends(struct program_ledger *l, uint32_t at, uint32_t n, bool is_done);
/**
 * Judge a read that began when the ledger's count was @p begun.
 *
 * @return the first line that holds what it can't, or -1
 */
int program_read_ends(
	struct program_ledger *l, uint32_t at, uint32_t n, const uint8_t *data, uint64_t begun);

/* --- program.c --- */

/** Once the scenario is drawn, and rights that change: whether frames are played back. */
void programs_choose(struct sim *s);
/** Before nodes are made: which hosts have programs. */
void programs_draw(struct sim *s);
/** Once nodes are there. */
void programs_make(struct sim *s);
/** A node ends, with the clients that it has; it is not polled any more. */
void programs_gone(struct sim_node *n);
/** An event. */
void program_step(struct sim_program *p);
void programs_free(struct sim *s);

#endif /* PROGRAM_H */
