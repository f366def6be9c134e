/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The control thread looks, and says what changed. */
#ifndef WATCH_H
#define WATCH_H

#include "daemon.h"

/* --- watch_*.c --- */

/** Sessions: every round of the control thread. */
void sessions_watch(struct daemon *d);

/** Requests that nobody answers: every round, behind sessions_watch(). */
void requests_watch(struct daemon *d);

/** A word for the state of a session: "down", "up", "stalled", "refused", "closed". */
const char *session_word(const struct conn *c);

/** Links, their interfaces and MTUs, and ways that nobody takes: once a second. */
void links_watch(struct daemon *d);

/** Before the first: make room. 0, or -ENOMEM. */
int links_watch_init(struct node *n);

/** What was seen of a port: {link, since, mtu}; mtu is null if it has none that can change. */
json_t *link_watch_json(const struct node *n, unsigned int port);

/* --- forged.c --- */

/** Control thread: say which sessions somebody tried to end or disturb, a line each. */
void forged_log_events(struct daemon *d);

/* --- ats.c --- */

/** Control thread: say who was isolated since the last call, a line each. */
void ats_log_events(struct daemon *d);

#endif /* WATCH_H */
