/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Credits of one end, per message class (wire-formats.md section 4.5): what it may send, and what
 * it has to give back. The receiver grants its room once, then one credit for every message it has
 * consumed; nothing is ever sent that the other end has no room for. CRD fields travel in flits
 * with numbers only, so they arrive exactly once. One thread at a time.
 */
#ifndef WEFT_CREDITS_H
#define WEFT_CREDITS_H

#include <assert.h>

#include "weft_base.h"
#include "weft_credit.h"

WEFT_BEGIN_DECLS

#define WEFT_CREDITS_ROOM_MAX 4096 /**< messages of a class that a receiver may grant */

/** Credits of one end. Set by weft_credits_init(); to be read only. */
struct weft_credits {
	uint32_t room[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES]; /* what it grants in all */
	uint32_t may_send[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES]; /* credits in hand */
	uint32_t pending[WEFT_CREDIT_SETS]
			[WEFT_CREDIT_CLASSES]; /* to be returned to the other end */
	uint32_t outstanding[WEFT_CREDIT_SETS]
			    [WEFT_CREDIT_CLASSES]; /* returned and not used up yet */
	uint8_t turn; /* set whose credits the next flit carries first */
	bool is_granting; /* of the room of a new session some has not been granted yet */
};

/**
 * Start a session: all room is pending, nothing may be sent.
 *
 * @param room  messages of each set and class that this end has room for, 0..WEFT_CREDITS_ROOM_MAX;
 *              0: it takes none
 */
void weft_credits_init(
	struct weft_credits *f, const uint32_t room[WEFT_CREDIT_SETS][WEFT_CREDIT_CLASSES]);

/** Use one credit for a message about to be sent. @return false: none left. */
static inline bool
weft_credits_consume(struct weft_credits *f, enum weft_credit_set s, enum weft_credit_class c)
{
	if (f->may_send[s][c] == 0)
		return false;
	f->may_send[s][c]--;
	return true;
}

/** A message arrived. @return false: the other end had no credit for it, so it is to be dropped. */
static inline bool
weft_credits_arrived(struct weft_credits *f, enum weft_credit_set s, enum weft_credit_class c)
{
	if (f->outstanding[s][c] == 0)
		return false;
	f->outstanding[s][c]--;
	return true;
}

/** The owner has consumed a message: its room is free again. */
static inline void
weft_credits_release(struct weft_credits *f, enum weft_credit_set s, enum weft_credit_class c)
{
	assert(f->pending[s][c] + f->outstanding[s][c] < f->room[s][c]);
	f->pending[s][c]++;
}

/** CRD field of the flit being made; what it carries is no longer pending. Sets take turns. */
uint16_t weft_credits_crd(struct weft_credits *f);

/** Whether credits wait to be returned. */
bool weft_credits_pending(const struct weft_credits *f);

/**
 * Whether so much is pending that a flit for the credits alone is worth it: all that a field can
 * carry, or half of what the other end may have at all; and what a new session begins with.
 */
bool weft_credits_is_urgent(const struct weft_credits *f);

/**
 * CRD field of a flit that was delivered.
 *
 * @return false: it held a reserved code, or gives more than any receiver grants; what of it was
 *         valid is taken
 */
bool weft_credits_crd_arrived(struct weft_credits *f, uint16_t crd);

WEFT_END_DECLS

#endif /* WEFT_CREDITS_H */
