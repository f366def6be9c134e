/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Faults injected into what a port sends, while traffic flows: any port, rings too, gets a bad wire
 * (lib/impair, lib/badwire), which can be taken away again. A port that has none pays nothing:
 * bursts go the way around it that a port also takes which is connected anew.
 *
 * Captures show frames before the wire. Control thread, which is no lcore of the port.
 */
#ifndef WEFT_PORT_BADWIRE_H
#define WEFT_PORT_BADWIRE_H

#include "weft_badwire.h"
#include "weft_port.h"

WEFT_BEGIN_DECLS

/** So many frames may be late at such a wire: they are buffers of all ports of the process. */
#define WEFT_PORT_BADWIRE_LATE_MAX 512

/** Counters of the wire of a port. */
struct weft_port_badwire_counts {
	uint64_t impair[WEFT_IMPAIR_N_COUNTERS]; /**< rows of weft_impair_counters */
	uint64_t wire[WEFT_BADWIRE_N_COUNTERS]; /**< rows of weft_badwire_counters */
};

/**
 * Have what is sent pass a bad wire from now on.
 *
 * @return 0; -EINVAL: weft_impair_check() says so; -EBUSY: it passes one; -ENOMEM
 */
int weft_port_badwire_open(struct weft_port *port, const struct weft_impair_cfg *cfg);

/** Damage nothing more, and let frames that are late leave now. Of a port that has a wire. */
void weft_port_badwire_calm(struct weft_port *port);

/** Whether frames are in the wire. Of a port that has one. */
bool weft_port_badwire_is_busy(const struct weft_port *port);

/** 0, or -ENOENT: the port has none. Any thread that keeps close() away. */
int weft_port_badwire_counts(const struct weft_port *port, struct weft_port_badwire_counts *counts);

/**
 * Take the wire away. Frames that are in it are dropped, so weft_port_badwire_calm() comes first,
 * and then a while.
 *
 * @param counts  may be NULL
 * @return 0, or -ENOENT: the port has none
 */
int weft_port_badwire_close(struct weft_port *port, struct weft_port_badwire_counts *counts);

WEFT_END_DECLS

#endif /* WEFT_PORT_BADWIRE_H */
