/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Makes flits full of random CXL.mem traffic, whole messages only. */
#ifndef SOURCE_H
#define SOURCE_H

#include "weft_ide_pace.h"
#include "weft_msg.h"
#include "weft_rand.h"

struct source {
	struct weft_rand *rand;
	struct weft_packer pack;
	struct weft_ide_pace pace;
	enum weft_form form;
	uint16_t spid;
	uint16_t dpid;
	uint16_t tag;
	bool has_waiting; /* a message that did not fit the last flit */
	struct weft_msg waiting;
	uint64_t messages[WEFT_MSG_KINDS];
};

void source_init(struct source *s, struct weft_rand *rand, enum weft_form form, uint16_t spid,
	uint16_t dpid, enum weft_ide_mode ide);

/**
 * Make the next flit at @p flit.
 *
 * @param left  flits still to be made, this one included (1 or more): towards the end no new
 *              message is begun whose data would not fit, and an open MAC epoch is closed
 */
void source_flit(struct source *s, uint8_t *flit, uint64_t left);

#endif /* SOURCE_H */
