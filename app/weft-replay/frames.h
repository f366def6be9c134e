/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A trace in memory, for who has no time to read files: frames as they are on a wire. */
#ifndef FRAMES_H
#define FRAMES_H

#include "receiver.h"

struct frame {
	uint64_t at_ns; /* since the first of the trace; never less than that of the frame before */
	size_t off; /* of its first byte */
	uint32_t packet; /* number in the file, from 1 */
	uint16_t len;
	uint8_t n_flits; /* 0: it is none of ours */
	uint8_t direction; /* enum weft_pcap_direction */
};

struct frames {
	struct frame *frame;
	size_t n, room;
	uint8_t *bytes; /* of all of them */
	size_t used, bytes_room;
	uint16_t longest; /* bytes; 0: there is none */
	bool has_raw; /* raw flits, which were given a header */
	bool is_truncated; /* the file ends inside a record */
	uint64_t skipped[WEFT_VERDICT_COUNT]; /* packets that are no frame, or not whole */
};

/**
 * Read a trace to its end.
 *
 * @param cfg  header of raw flits
 * @return 0, or -EINVAL (the trace is broken) or -ENOMEM with a line in @p err; frames_free() it
 *         then as well
 */
int frames_load(struct frames *f, const char *path, struct trace *t, const struct receiver_cfg *cfg,
	char *err, size_t err_len);

void frames_free(struct frames *f);

/** Bytes of a frame. */
static inline const uint8_t *
frames_bytes(const struct frames *f, const struct frame *one)
{
	return f->bytes + one->off;
}

/** Flits that a frame of the length of the longest has room for, 1 at least. */
unsigned int frames_max_flits(const struct frames *f);

#endif /* FRAMES_H */
