/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames come from a list and go back to it, the last one first: it is still in the cache. Hot.
 */

#include <string.h>

#include "sim.h"

#define BLOCK_FRAMES 64
#define LINE ((size_t)WEFT_CACHE_LINE)

/* The flits begin WEFT_WIRE_FLITS_OFF bytes into the data; they are to stand on a cache line. */
#define DATA_OFF (offsetof(struct sim_frame, data) + WEFT_WIRE_FLITS_OFF)
#define FRAME_SHIFT ((LINE - DATA_OFF % LINE) % LINE)

static void
frames_make(struct sim *s)
{
	const size_t each = (sizeof(struct sim_frame) + s->frame_room + 2 * LINE - 1) & ~(LINE - 1);
	uint8_t *block = arena_alloc(&s->arena, BLOCK_FRAMES * each);

	for (unsigned int i = BLOCK_FRAMES; i-- > 0;) {
		struct sim_frame *f = (struct sim_frame *)(void *)(block + i * each + FRAME_SHIFT);

		f->room = s->frame_room;
		f->next = s->free_frames;
		s->free_frames = f;
	}
}

struct sim_frame *
frame_new(struct sim *s)
{
	struct sim_frame *f;

	if (s->free_frames == NULL)
		frames_make(s);
	f = s->free_frames;
	s->free_frames = f->next;
	return f;
}

struct sim_frame *
frame_copy(struct sim *s, const struct sim_frame *f)
{
	struct sim_frame *copy = frame_new(s);

	copy->wire = f->wire;
	copy->flap = f->flap;
	copy->len = f->len;
	copy->hdr = f->hdr;
	memcpy(copy->data, f->data, f->len);
	return copy;
}

void
frame_free(struct sim *s, struct sim_frame *f)
{
	f->next = s->free_frames;
	s->free_frames = f;
}
