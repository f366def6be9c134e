/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Capture of a port's frames to a pcapng file, from inside the process and while traffic flows
 * (encapsulation.md section 4). The data path copies frames to a ring; a thread of the capture's
 * own writes them, with nanoseconds and direction. Works without hugepages, where DPDK's tools,
 * being secondary processes, cannot attach.
 */
#ifndef WEFT_CAPTURE_H
#define WEFT_CAPTURE_H

#include "weft_base.h"
#include "weft_port.h"

WEFT_BEGIN_DECLS

struct weft_capture_cfg {
	const char *path; /**< file to write (made anew, mode 0600), or "-": standard output */
	unsigned int ring_frames; /**< copies that may wait to be written; 0: 1024 */
	uint64_t limit_bytes; /**< the file grows to no more; 0: as far as the disk goes */
	/**
	 * The data path waits for room instead of dropping the copy: a slow disk then slows the
	 * traffic.
	 */
	bool lossless;
	unsigned int stall_ms; /**< a pipe that takes nothing for so long ends the file; 0: 5000 */
};

/** Frames that came by, and what became of their copies. */
struct weft_capture_stats {
	uint64_t frames; /**< copies handed to the writer */
	uint64_t dropped; /**< frames that passed uncaptured: the ring was full */
	uint64_t written; /**< frames in the file */
	uint64_t bytes; /**< of the file */
	bool is_full; /**< the limit was reached: frames that came later are not in the file */
	int error; /**< errno of the first write that failed, or 0; then frames > written */
};

/**
 * Start to capture @p port. One capture a port. Control thread.
 *
 * @param err  receives one line on failure; may be NULL when @p errlen is 0
 * @return 0, -EINVAL (no path), -EBUSY (the port is being captured), -ENOMEM, or the errno of
 *         opening the file
 */
int weft_capture_open(
	struct weft_port *port, const struct weft_capture_cfg *cfg, char *err, size_t errlen);

/** Is the port being captured? Control thread. */
bool weft_capture_is_open(const struct weft_port *port);

/** Read the counters of the port's capture. Control thread. @return 0, or -ENOENT: no capture. */
int weft_capture_stats(const struct weft_port *port, struct weft_capture_stats *stats);

/**
 * Stop: waits until no loop is copying, writes what waits, closes the file. A thread that polls the
 * port outside a weft_loop must not do so meanwhile. Control thread.
 *
 * @param stats  receives the final counters; may be NULL
 * @return 0, -ENOENT (no capture), or the negative errno of a write that failed: the file is short
 */
int weft_capture_close(struct weft_port *port, struct weft_capture_stats *stats);

WEFT_END_DECLS

#endif /* WEFT_CAPTURE_H */
