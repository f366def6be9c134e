/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where MACs are due, for the packer of flits: it runs ahead of encryption (perhaps on
 * another lcore), but epochs are counted, so it can count along. Pure inline functions.
 */
#ifndef WEFT_IDE_PACE_H
#define WEFT_IDE_PACE_H

#include "weft_base.h"
#include "weft_ide.h"

WEFT_BEGIN_DECLS

/** One direction. One thread. */
struct weft_ide_pace {
	uint8_t epoch; /* protocol flits in a full epoch; 0: IDE is off */
	uint8_t in_epoch; /* packed into the open one */
	bool mac_due; /* the next protocol flit carries the MAC of the epoch before */
};

static inline void
weft_ide_pace_init(struct weft_ide_pace *p, enum weft_ide_mode mode)
{
	p->epoch = (uint8_t)(mode == WEFT_IDE_OFF ? 0 : weft_ide_epoch_flits(mode));
	p->in_epoch = 0;
	p->mac_due = false;
}

/** Account for one protocol flit packed, with its slot 0 kept for IDE.MAC if mac_due was set. */
static inline void
weft_ide_pace_flit(struct weft_ide_pace *p)
{
	p->mac_due = false;
	if (p->epoch != 0 && ++p->in_epoch == p->epoch) {
		p->in_epoch = 0;
		p->mac_due = true;
	}
}

/**
 * What must be sent so that the receiver may release everything; as weft_ide_close(), but with the
 * IDE.TMAC flit (its MAC empty) for the caller to pack.
 */
static inline enum weft_ide_close
weft_ide_pace_close(struct weft_ide_pace *p)
{
	if (p->mac_due)
		return WEFT_IDE_CLOSE_CARRIER;
	if (p->in_epoch == 0)
		return WEFT_IDE_CLOSED;
	p->in_epoch = 0;
	return WEFT_IDE_CLOSE_TMAC;
}

WEFT_END_DECLS

#endif /* WEFT_IDE_PACE_H */
