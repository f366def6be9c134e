/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The injectors' effects on a flit (reliability.md sections 3.1 and 3.2). */

#include "impair_priv.h"

#include "weft_fec.h"
#include "weft_impair.h"
#include "weft_wire.h"

#define FLIT_BITS (WEFT_WIRE_FLIT_LEN * 8)
#define FEC_WAYS 3

static void
damage_flip_bit(struct weft_impair *w, uint8_t *flit, uint64_t bit)
{
	flit[bit / 8] ^= (uint8_t)(1 << bit % 8);
	w->count[WEFT_IMPAIR_N_FLIPPED]++;
}

/* Nonzero, so the symbol becomes wrong. */
static uint8_t
damage_draw_error(struct weft_rand *rand)
{
	return (uint8_t)(1 + weft_rand_below(rand, 255));
}

static void
damage_hit_symbol(struct weft_impair *w, uint8_t *flit, uint64_t at, uint8_t error)
{
	flit[at] ^= error;
	w->count[WEFT_IMPAIR_N_FLIPPED] += (unsigned int)__builtin_popcount(error);
}

static void
damage_ber(struct weft_impair *w, uint8_t *flit)
{
	struct weft_impair_event *e = &w->event[IMPAIR_BER];
	const uint64_t first = w->flit * FLIT_BITS;

	for (; e->at < first + FLIT_BITS; weft_impair_schedule(e, e->at + 1))
		damage_flip_bit(w, flit, e->at - first);
}

static void
damage_bits(struct weft_impair *w, uint8_t *flit)
{
	struct weft_rand *rand = &w->event[IMPAIR_BITS].rand;
	uint64_t taken[FLIT_BITS / 64] = { 0 };

	for (unsigned int i = 0; i < w->cfg.bits;) {
		const uint64_t bit = weft_rand_below(rand, FLIT_BITS);

		if (taken[bit / 64] & WEFT_BIT64(bit % 64))
			continue;
		taken[bit / 64] |= WEFT_BIT64(bit % 64);
		damage_flip_bit(w, flit, bit);
		i++;
	}
}

static void
damage_burst(struct weft_impair *w, uint8_t *flit)
{
	struct weft_rand *rand = &w->event[IMPAIR_BURST].rand;
	const uint64_t start = weft_rand_below(rand, WEFT_WIRE_FLIT_LEN - w->cfg.burst + 1);

	for (unsigned int i = 0; i < w->cfg.burst; i++)
		damage_hit_symbol(w, flit, start + i, damage_draw_error(rand));
	w->count[WEFT_IMPAIR_N_SYMBOLS] += w->cfg.burst;
}

static void
damage_channel(struct weft_impair *w, uint8_t *flit)
{
	struct weft_rand *rand = &w->event[IMPAIR_CHANNEL].rand;
	const uint64_t first = weft_rand_below(rand, FLIT_BITS);
	uint64_t last = first;

	while (last < FLIT_BITS - 1 && weft_rand_unit(rand) < WEFT_IMPAIR_CHANNEL_A)
		last++;
	damage_flip_bit(w, flit, first);
	for (uint64_t bit = first + 1; bit < last; bit++)
		if (weft_rand_u64(rand) & 1)
			damage_flip_bit(w, flit, bit);
	if (last != first)
		damage_flip_bit(w, flit, last);
}

static uint64_t
damage_way_symbols(uint64_t way)
{
	return (WEFT_WIRE_FLIT_LEN - way + FEC_WAYS - 1) / FEC_WAYS;
}

/*
 * Two wrong symbols in one way of the code. About a third of such pairs would be miscorrected
 * (section 3.1): draw until the decoder gives up, whatever state the flit came in.
 */
static void
damage_uncorrectable(struct weft_impair *w, uint8_t *flit)
{
	struct weft_rand *rand = &w->event[IMPAIR_UNCORRECTABLE].rand;
	uint8_t copy[WEFT_WIRE_FLIT_LEN], error[2];
	uint64_t at[2], way;

	do {
		at[0] = weft_rand_below(rand, WEFT_WIRE_FLIT_LEN);
		way = at[0] % FEC_WAYS;
		at[1] = way + FEC_WAYS * weft_rand_below(rand, damage_way_symbols(way));
		error[0] = damage_draw_error(rand);
		error[1] = damage_draw_error(rand);
		memcpy(copy, flit, sizeof(copy));
		copy[at[0]] ^= error[0];
		copy[at[1]] ^= error[1];
	} while (at[0] == at[1] || weft_fec_decode_flit(copy, NULL) != WEFT_FEC_UNCORRECTABLE);
	damage_hit_symbol(w, flit, at[0], error[0]);
	damage_hit_symbol(w, flit, at[1], error[1]);
}

/* In the order of their numbers: the one that promises a result comes last. */
static const struct {
	void (*damage)(struct weft_impair *w, uint8_t *flit);
	enum weft_impair_counter counter;
} injectors[IMPAIR_FLIT_INJECTORS] = {
	[IMPAIR_BER] = { damage_ber, WEFT_IMPAIR_N_BER },
	[IMPAIR_BITS] = { damage_bits, WEFT_IMPAIR_N_BITS },
	[IMPAIR_BURST] = { damage_burst, WEFT_IMPAIR_N_BURST },
	[IMPAIR_CHANNEL] = { damage_channel, WEFT_IMPAIR_N_CHANNEL },
	[IMPAIR_UNCORRECTABLE] = { damage_uncorrectable, WEFT_IMPAIR_N_UNCORRECTABLE },
};

static void
damage_flit(struct weft_impair *w, uint8_t *flit)
{
	for (unsigned int i = 0; i < IMPAIR_FLIT_INJECTORS; i++) {
		struct weft_impair_event *e = &w->event[i];

		if (e->at / (i == IMPAIR_BER ? FLIT_BITS : 1) != w->flit)
			continue;
		injectors[i].damage(w, flit);
		w->count[injectors[i].counter]++;
		if (i != IMPAIR_BER)
			weft_impair_schedule(e, w->flit + 1);
	}
}

uint64_t
weft_impair_flits(struct weft_impair *w, uint8_t *flits, unsigned int n)
{
	const uint64_t first = w->flit;
	uint64_t touched = 0;

	assert(n <= WEFT_IMPAIR_RUN_MAX);
	for (; w->flit_event < first + n; weft_impair_next_flit(w)) {
		w->flit = w->flit_event;
		damage_flit(w, flits + (w->flit - first) * WEFT_WIRE_FLIT_LEN);
		touched |= WEFT_BIT64(w->flit - first);
		w->count[WEFT_IMPAIR_N_TOUCHED]++;
	}
	w->flit = first + n;
	w->count[WEFT_IMPAIR_N_FLITS] += n;
	return touched;
}
