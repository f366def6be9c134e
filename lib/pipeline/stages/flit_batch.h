/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames of a burst taken together until they hold enough flits to fill the kernels' groups, so
 * that small frames do not pay for empty lanes. For stages only.
 */
#ifndef FLIT_BATCH_H
#define FLIT_BATCH_H

#include "weft_codec.h"
#include "weft_stage.h"

/** Frames first..end-1 of a burst, and their flits in order. */
struct flit_batch {
	uint16_t first;
	uint16_t end;
	unsigned int n; /* flits, 0..WEFT_CODEC_MAX */
	enum weft_crc_order order; /* of every flit */
	uint8_t *flit[WEFT_CODEC_MAX];
};

static_assert(WEFT_WIRE_FLITS_MAX <= WEFT_CODEC_MAX, "a frame fits a batch");

/** The kernels of an environment. */
static inline struct weft_codec
flit_batch_codec(const struct weft_env *env)
{
	return (struct weft_codec){ env->fec, env->crc };
}

/** The batch that begins with frame @p first of the burst; at least one frame. */
static inline void
flit_batch_fill(struct flit_batch *c, const struct weft_burst *b, uint16_t first)
{
	uint16_t i = first;

	c->first = first;
	c->n = 0;
	for (; i < b->n; i++) {
		const struct weft_frame *f = weft_frame(b->pkt[i]);
		const enum weft_crc_order order = f->conn == NULL
		                                          ? WEFT_CRC_R0_FIRST
		                                          : (enum weft_crc_order)f->conn->isn.order;
		uint8_t *flits = weft_frame_flits(b->pkt[i]);

		if (i != first && (c->n + f->hdr.n_flits > WEFT_CODEC_MAX || order != c->order))
			break;
		c->order = order;
		for (unsigned int k = 0; k < f->hdr.n_flits; k++)
			c->flit[c->n++] = flits + k * (size_t)WEFT_FLIT_LEN;
	}
	c->end = i;
}

/** The flits for functions that only read them. */
static inline const uint8_t *const *
flit_batch_flits(const struct flit_batch *c)
{
	return (const uint8_t *const *)c->flit;
}

/** The part of a batch's mask that a frame's flits have, which begin with flit @p at. */
static inline uint64_t
flit_batch_part(uint64_t mask, unsigned int at, const struct weft_frame *f)
{
	return at == WEFT_CODEC_MAX ? 0 : mask >> at & weft_mask64(f->hdr.n_flits);
}

#endif /* FLIT_BATCH_H */
