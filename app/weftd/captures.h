/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Captures of ports, those of --capture and those that are begun while the daemon runs. */
#ifndef CAPTURES_H
#define CAPTURES_H

#include "daemon.h"

/** Whether a capture, PORT=FILE, goes to standard output. */
bool capture_is_output(const char *capture);

/**
 * Before anything is opened: ends the program if --capture names no file, or no port of a node
 * here.
 */
void captures_check(const struct daemon *d);

/** Start the captures asked for; telemetry may begin and end others from then on. */
int captures_open(struct daemon *d, char *err, size_t err_len);

/** Once a second: end those that cannot go on, and say so. */
void captures_maintain(struct daemon *d);

/**
 * Begin one, as --capture does. Any thread that does not poll.
 *
 * @param limit_bytes  0: that of --capture-limit
 * @return 0; -EINVAL: no port here; -EEXIST: the file is another's; -ENOSPC, -errno; with a line
 */
int captures_start(
	struct daemon *d, const char *port_file, uint64_t limit_bytes, char *err, size_t err_len);

/** End that of a port. 0 with what it wrote, or -ENOENT. */
int captures_stop(struct daemon *d, const char *port, struct weft_capture_stats *stats);

/** End all. A failure is said and becomes the exit status. The ports are there. */
void captures_close(struct daemon *d);

/** What became of each, so far. */
json_t *captures_json(void);

#endif /* CAPTURES_H */
