/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames come from a list and go back to it, the last one first: it is still in the cache. Memory
 * is taken in blocks and given back when the run is over. Hot.
 */

#include <stdlib.h>
#include <string.h>

#include "cli.h"
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
	uint8_t *block = aligned_alloc(LINE, LINE + BLOCK_FRAMES * each);
	struct sim_frame *f;

	if (block == NULL)
		cli_fail("out of memory for frames");
	f = (struct sim_frame *)(void *)block;
	f->next = s->all_frames;
	s->all_frames = f;
	for (unsigned int i = BLOCK_FRAMES; i-- > 0;) {
		f = (struct sim_frame *)(void *)(block + LINE + i * each + FRAME_SHIFT);
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

void
frames_release(struct sim *s)
{
	while (s->all_frames != NULL) {
		struct sim_frame *block = s->all_frames;

		s->all_frames = block->next;
		free(block);
	}
	s->free_frames = NULL;
}
