/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What stages on other lcores have for their node. */
#ifndef NOTES_H
#define NOTES_H

#include "daemon.h"

/** Make room; stages of the receive pipeline are going to run elsewhere. 0, or -ENOMEM. */
int notes_init(struct node *n);
void notes_fini(struct node *n);

/**
 * A note for the node: taken at once where its lcore runs the stage, else by its next poll. One
 * that finds no room is lost; all of them are about what comes again, or is counted elsewhere.
 */
struct note {
	enum { NOTE_LOST, NOTE_MISFIT, NOTE_ANNOUNCE } kind;
	uint16_t in_port;
	uint8_t why; /* MISFIT: enum weft_verdict */
	uint32_t flits; /* LOST */
	struct weft_wire_hdr hdr; /* LOST, MISFIT */
	struct weft_control control; /* ANNOUNCE */
};
void note_send(struct node *n, const struct note *note);

/** Take what waits. Returns notes taken. */
unsigned int notes_poll(struct node *n);

/** Who they are for; the node's lcore. */
void misfit_take(struct node *n, const struct note *note);
void duplicate_take_announcement(struct node *n, const struct note *note);

/* --- misfit.c: servers whose files differ --- */

/** A frame is dropped for its mode or its DPID (weft_misfit_fn). */
void misfit_came(void *arg, struct rte_mbuf *m, enum weft_verdict why);

/** Control thread: say what came since the last call, a line a node. */
void misfit_log_events(struct daemon *d);

#endif /* NOTES_H */
