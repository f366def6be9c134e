/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Ports that a command line names, for programs that send to a wire and are no node: up to two,
 * each a kernel interface, a NIC, a memif, a virtual device, or both the ends of a pair of rings.
 * They are opened by lib/port, as those of a topology file are, with the words of that file.
 * doc/replay.md, "Ports", is the manual.
 */
#ifndef WIRE_H
#define WIRE_H

#include "weft_eal.h"
#include "weft_port.h"

#define WIRE_PORTS 2

struct wire {
	struct weft_port_spec spec[WIRE_PORTS];
	char pci[WIRE_PORTS][16];
	const char *device[WIRE_PORTS]; /* addresses of NICs, for EAL */
	unsigned int n; /* ports there are */
	bool is_ring; /* they are the two ends of a pair of rings */
	struct weft_port *port[WIRE_PORTS]; /* NULL: not open */
};

/**
 * Add the ports that the value of an option names, with commas between them; cli_usage() with one
 * line if it is none, or one too many.
 *
 * @param text   is cut into pieces, and must live as long as @p w
 * @param names  of the first port and of the second, for lines and telemetry; likewise
 * @param most   ports that there may be then, 1..WIRE_PORTS; a pair of rings is one
 */
void wire_read(struct wire *w, const char *option, char *text, const char *const names[WIRE_PORTS],
	unsigned int most);

/** What EAL has to know of the ports before it starts. @p w must outlive EAL. */
void wire_eal(struct wire *w, struct weft_eal_cfg *eal);

/** Packet buffers that the ports may hold at a time, beside those that are being worked on. */
unsigned int wire_frames(const struct wire *w);

/**
 * Open all ports and wait until each has a link: for the server of a memif client, and for the
 * client of a server. A signal ends the wait. They are then for one thread, the caller's, or for
 * one that receives and one that sends.
 *
 * @param max_flits  of the longest frame, 1..64
 * @param wait_s     seconds to wait at most
 * @return 0, or -errno of weft_port_open(), -ETIMEDOUT (no link) or -EINTR, with a line in @p err;
 *         nothing is open then
 */
int wire_open(struct wire *w, struct rte_mempool *pool, unsigned int max_flits, double wait_s,
	char *err, size_t err_len);

/**
 * Whether the interface of a port has no link any more, and say so: what it took may be lost, and
 * counts as sent. Not of a memif, whose other end may have gone when all was done. Control thread.
 */
bool wire_has_lost_link(const struct wire *w);

/** Close those that are open. */
void wire_close(struct wire *w);

#endif /* WIRE_H */
