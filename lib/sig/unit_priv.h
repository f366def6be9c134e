/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the stream asks of unit.c and run.c, and what signatures are to both: a uint64_t, byte 0 of
 * it lowest, whatever their own byte order.
 */
#ifndef WEFT_SIG_UNIT_PRIV_H
#define WEFT_SIG_UNIT_PRIV_H

#include "sig_priv.h"

static inline uint64_t
sig_load(const struct weft_sig_spec *d, const uint8_t *p)
{
	return d->sig_len == 8 ? weft_get_le64(p) : weft_get_le32(p);
}

static inline void
sig_store(const struct weft_sig_spec *d, uint8_t *p, uint64_t sig)
{
	if (d->sig_len == 8)
		weft_put_le64(p, sig);
	else
		weft_put_le32(p, (uint32_t)sig);
}

static inline uint64_t
unit_dif_sig(uint64_t guard, uint16_t app_tag, uint32_t ref_tag)
{
	return (uint64_t)__builtin_bswap16((uint16_t)guard) |
	       (uint64_t)__builtin_bswap16(app_tag) << 16 |
	       (uint64_t)__builtin_bswap32(ref_tag) << 32;
}

/* The signature that the attributes of @p d ask for. */
static inline uint64_t
sig_made(const struct weft_sig_spec *d, uint64_t sum, uint64_t block)
{
	const uint64_t guard = weft_sig_sum_end((enum weft_sig_sum_kind)d->kind, sum);
	const uint32_t count = (d->flags & WEFT_SIG_REF_REMAP) != 0 ? (uint32_t)block : 0;

	return d->is_dif ? unit_dif_sig(guard, d->app_tag, d->ref_tag + count) : guard;
}

static inline uint16_t
sig_app(uint64_t sig)
{
	return __builtin_bswap16((uint16_t)(sig >> 16));
}

static inline uint32_t
sig_ref(uint64_t sig)
{
	return __builtin_bswap32((uint32_t)(sig >> 32));
}

static inline bool
sig_is_escaped(const struct weft_sig_spec *d, uint64_t sig)
{
	const unsigned int escapes = d->flags & (WEFT_SIG_APP_ESCAPE | WEFT_SIG_APP_REF_ESCAPE);

	if (escapes == 0 || sig_app(sig) != SIG_ESCAPE_APP)
		return false;
	return (escapes & WEFT_SIG_APP_REF_ESCAPE) == 0 || sig_ref(sig) == SIG_ESCAPE_REF;
}

/** Bytes that come out for the next unit. */
uint32_t sig_unit_out_len(const struct weft_sig_stream *s);

/**
 * Move the unit at @p src to @p dst, which has room for sig_unit_out_len() bytes.
 *
 * @param marks        WEFT_SIG_PIECE_.. of any byte of it
 * @param is_poisoned  receives whether what came out must not be believed
 * @return false if the stream has to stop in front of it
 */
bool sig_unit_move(struct weft_sig_stream *s, const uint8_t *src, uint32_t marks, uint8_t *dst,
	bool *is_poisoned);

/** Choose s->run for what the stream was begun with. */
void sig_run_plan(struct weft_sig_stream *s);

#endif /* WEFT_SIG_UNIT_PRIV_H */
