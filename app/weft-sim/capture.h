/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A capture of a whole run: every frame that a node takes from a link. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stddef.h>
#include <stdint.h>

struct capture;

/** Contents of a capture. */
struct capture_counts {
	uint64_t frames; /* of flits */
	uint64_t flits;
	uint64_t control; /* frames of link control */
	uint64_t refused; /* frames with a wrong header */
};

/** Make the file, a pcap with nanoseconds. NULL with a line in @p err. */
struct capture *capture_open(const char *path, char *err, size_t err_len);

/** Write a frame. What cannot be written is told by capture_close(). */
void capture_add(struct capture *c, uint64_t time_ns, const uint8_t *frame, uint32_t len);

/** Finish the file and free @p c. 0, or -errno: the file is not whole. */
int capture_close(struct capture *c, struct capture_counts *count);

#endif /* CAPTURE_H */
