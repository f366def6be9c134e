/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Many bytes of a region, in order, with several pieces of it under way at a time. */
#ifndef MEM_MOVE_H
#define MEM_MOVE_H

#include "ctl.h"

#define MEM_PIECE ((size_t)64 << 10) /* bytes of an operation */

struct mem_move {
	struct ctl *c;
	const struct ctl_region *r;
	enum weft_op_kind kind; /* WEFT_OP_READ or WEFT_OP_WRITE */
	uint64_t off, size; /* within the region */
	/*
	 * READ: these bytes came. @return @p n to go on. WRITE: give up to @p n bytes. @return how
	 * many; fewer only at the end
	 */
	size_t (*data)(void *arg, uint8_t *p, size_t n);
	void *arg;
	bool is_quiet; /* no progress: what is moved goes to the terminal */
};

/** Move; an error ends the program. @return bytes that were moved */
uint64_t mem_move(const struct mem_move *m);

#endif /* MEM_MOVE_H */
