/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames come from a list and go back to it, the last one first: it is still in the cache. Most
 * have one flit; those that are on their way have room for no more, or they would lie far apart.
 * Hot.
 */

#include <string.h>

#include "sim.h"

#define BLOCK_FRAMES 64
#define LINE ((size_t)WEFT_CACHE_LINE)

/* The flits begin WEFT_WIRE_FLITS_OFF bytes into the data; they are to stand on a cache line. */
#define DATA_OFF (offsetof(struct sim_frame, data) + WEFT_WIRE_FLITS_OFF)
#define FRAME_SHIFT ((LINE - DATA_OFF % LINE) % LINE)

static void
frame_make_more(struct sim *s, bool small)
{
	const size_t room = small ? s->frames.small : s->frames.room;
	const size_t each = (sizeof(struct sim_frame) + room + 2 * LINE - 1) & ~(LINE - 1);
	uint8_t *block = arena_alloc(&s->memory.arena, BLOCK_FRAMES * each);

	for (unsigned int i = BLOCK_FRAMES; i-- > 0;) {
		struct sim_frame *f = (struct sim_frame *)(void *)(block + i * each + FRAME_SHIFT);

		f->is_small = small;
		frame_free(s, f);
	}
}

static struct sim_frame *
frame_take(struct sim *s, bool small)
{
	struct sim_frame *f;

	if (s->frames.free[small] == NULL)
		frame_make_more(s, small);
	f = s->frames.free[small];
	s->frames.free[small] = f->next;
	f->is_again = f->is_forged = f->is_replayed = f->is_stolen = false;
	f->forged = 0;
	return f;
}

struct sim_frame *
frame_new(struct sim *s)
{
	return frame_take(s, false);
}

struct sim_frame *
frame_copy(struct sim *s, const struct sim_frame *f)
{
	struct sim_frame *copy = frame_take(s, f->len <= s->frames.small);

	copy->link_dir = f->link_dir;
	copy->flap = f->flap;
	copy->len = f->len;
	copy->is_again = f->is_again;
	copy->is_forged = f->is_forged;
	copy->is_replayed = f->is_replayed;
	copy->is_stolen = f->is_stolen;
	copy->forged = f->forged;
	copy->hdr = f->hdr;
	memcpy(copy->data, f->data, f->len);
	return copy;
}

struct sim_frame *
frame_pack(struct sim *s, struct sim_frame *f)
{
	struct sim_frame *packed;

	if (f->len > s->frames.small || f->is_small)
		return f;
	packed = frame_copy(s, f);
	frame_free(s, f);
	return packed;
}

void
frame_free(struct sim *s, struct sim_frame *f)
{
	f->next = s->frames.free[f->is_small];
	s->frames.free[f->is_small] = f;
}

void
frame_address(struct sim_frame *f, uint16_t to, uint16_t from, uint32_t link_dir)
{
	memset(f->data, 0, WEFT_ETH_LEN);
	f->data[0] = f->data[6] = 0x02; /* locally administered */
	weft_put_be16(f->data + 4, to);
	/* A port has its own address: in cxl mode a reader tells senders by nothing else. */
	weft_put_be16(f->data + 8, (uint16_t)link_dir);
	weft_put_be16(f->data + 10, from);
}
