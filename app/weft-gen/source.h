/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Makes flits full of random CXL.mem traffic, whole messages only. */
#ifndef SOURCE_H
#define SOURCE_H

#include "weft_ide_pace.h"
#include "weft_msg.h"
#include "weft_rand.h"

/* Parts of an encrypted trace beside messages. */
struct source_ide {
	enum weft_ide_mode mode;
	uint64_t seed; /* of the chances below */
	double poison; /* probability a flit of Poison in front of it */
	double truncate; /* likewise of IDE.TMAC, where an epoch can be ended */
	uint64_t refresh; /* flits until the key is changed; 0: never */
	unsigned int later_keys; /* that are there to change to */
};

/* Counts of what was made, for comparison with a receiver's. */
struct source_counts {
	uint64_t epochs;
	uint64_t protocol;
	uint64_t poison;
	uint64_t key_changes;
};

struct source {
	struct weft_rand *rand;
	struct weft_packer pack;
	struct weft_rand chance; /* of its own: traffic is the same with and without IDE */
	struct source_ide ide;
	struct weft_ide_pace pace;
	struct source_counts made;
	bool sent_any; /* flits: all of them are payload */
	uint64_t since_key; /* flits */
	bool has_poison; /* the next flit is a protocol flit, as Poison is in front of it */
	enum weft_form form;
	uint16_t spid;
	uint16_t dpid;
	uint16_t tag;
	bool has_waiting; /* a message that did not fit the last flit */
	struct weft_msg waiting;
	uint64_t messages[WEFT_MSG_KINDS];
};

void source_init(struct source *s, struct weft_rand *rand, enum weft_form form, uint16_t spid,
	uint16_t dpid, const struct source_ide *ide);

/**
 * Make the next flit at @p flit.
 *
 * @param left  flits still to be made, this one included (1 or more): towards the end no new
 *              message is begun whose data would not fit, and an open MAC epoch is closed
 */
void source_flit(struct source *s, uint8_t *flit, uint64_t left);

#endif /* SOURCE_H */
