/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE of the ends: which, by the seed; keys, as weftd derives them, of what the two ends told each
 * other by the numbers of the run; and an attacker at a link, who changes what a MAC covers and
 * makes the CRC right. A CRC is linear, so he needs to know neither number nor address.
 */

#include "ide.h"

#include <string.h>

#include "weft_codec.h"
#include "weft_flit.h"

#define SHORT_LIFE 400 /* flits of a key that is changed often */

const char *const ide_word[IDE_COUNTS] = {
	[IDE_SESSIONS] = "sessions",
	[IDE_KEYS] = "keys",
	[IDE_SEALED] = "sealed",
	[IDE_AGAIN] = "again",
	[IDE_FORGED] = "forged",
	[IDE_FAILURES] = "failures",
};

/* --- what a seed decides --- */

/* In cxl mode a message that a session loses inside the fabric would end no request. */
static bool
ide_may_lose_sessions(const struct scenario *sc, const struct weft_topo *file)
{
	return sc->mode == WEFT_MODE_RXL || (file == NULL && strcmp(sc->fabric, "pair") == 0);
}

static uint8_t
ide_draw_mode(struct weft_rand *r, const struct sim_opt *opt, const struct weft_topo *file)
{
	static const uint8_t modes[] = { WEFT_IDE_OFF, WEFT_IDE_OFF, WEFT_IDE_CONTAINMENT,
		WEFT_IDE_SKID };
	const uint8_t drawn = modes[weft_rand_below(r, sizeof(modes))];

	if (opt->ide >= 0)
		return (uint8_t)opt->ide;
	if (file != NULL)
		return file->ide.mode;
	return opt->pace ? WEFT_IDE_OFF : drawn;
}

static void
ide_take_options(struct scenario *sc, const struct weft_topo_ide *o)
{
	unsigned int bits = WEFT_CONTROL_IDE_CAN(WEFT_CONTROL_IDE_STOP | WEFT_CONTROL_IDE_POISON);

	bits |= o->pcrc ? 0 : WEFT_CONTROL_IDE_NO_PCRC;
	bits |= o->stop ? WEFT_CONTROL_IDE_STOP : 0;
	bits |= o->poison ? WEFT_CONTROL_IDE_POISON : 0;
	sc->session.params.ide_bits = (uint16_t)bits;
	sc->rekey.flits = o->rekey_flits;
	sc->rekey.ns = o->rekey_ms * MS;
}

void
ide_draw(
	struct scenario *sc, const struct sim_opt *opt, uint64_t seed, const struct weft_topo *file)
{
	struct weft_control *p = &sc->session.params;
	unsigned int bits = WEFT_CONTROL_IDE_CAN(WEFT_CONTROL_IDE_STOP | WEFT_CONTROL_IDE_POISON);
	struct weft_rand r;

	/* Numbers of its own: seeds without IDE are what they would be if there were none. */
	weft_rand_seed(&r, seed ^ UINT64_C(0x1DE));
	p->ide_mode = ide_draw_mode(&r, opt, file);
	bits |= weft_rand_below(&r, 2) == 0 ? WEFT_CONTROL_IDE_NO_PCRC : 0;
	bits |= weft_rand_below(&r, 4) == 0 ? WEFT_CONTROL_IDE_STOP : 0;
	bits |= weft_rand_below(&r, 2) == 0 ? WEFT_CONTROL_IDE_POISON : 0;
	sc->rekey.flits = weft_rand_below(&r, 2) == 0 ? 1 + weft_rand_below(&r, SHORT_LIFE)
	                                              : UINT64_C(1) << 40;
	sc->rekey.ns =
		weft_rand_below(&r, 2) == 0 ? (1 + weft_rand_below(&r, 20)) * MS : 1000 * SEC;
	if (!opt->pace && !opt->calm && weft_rand_below(&r, 2) == 0)
		sc->poison_one_in = 2 + (uint32_t)weft_rand_below(&r, 100);
	if (p->ide_mode == WEFT_IDE_OFF)
		return;
	p->ide_bits = (uint16_t)bits;
	if (file != NULL && file->ide.mode != WEFT_IDE_OFF)
		ide_take_options(sc, &file->ide);
	if (ide_may_lose_sessions(sc, file))
		sc->fault.weight[FAULT_FORGED] = (uint32_t)weft_rand_below(&r, 3);
}

/* --- keys --- */

bool
ide_make_keys(struct sim_opt *opt)
{
	for (uint8_t i = 0; i < WEFT_ARRAY_SIZE(opt->crypto.psk); i++) {
		const uint8_t key[WEFT_PSK_LEN] = { [0] = i };

		opt->crypto.psk[i] = weft_psk_of(key);
		if (opt->crypto.psk[i] == NULL)
			return false;
	}
	return true;
}

void
ide_free_keys(struct sim_opt *opt)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(opt->crypto.psk); i++)
		weft_psk_free(opt->crypto.psk[i]);
}

/* One that came with a wrong file has another than all others. */
static const struct weft_psk *
ide_psk(const struct sim_end *e)
{
	return e->node->sim->opt->crypto.psk[e->node->life.misfit == MISFIT_KEY];
}

static struct weft_derive_domain
ide_domain(const struct sim_end *e)
{
	return weft_derive_domain_of(
		(enum weft_mode)e->node->sim->sc.mode, e->is_initiator, e->node->pid, e->peer_pid);
}

static bool
ide_make_random(void *arg, uint8_t *out, size_t len)
{
	struct sim_end *e = arg;

	weft_rand_fill(&e->node->sim->rand.node, out, len);
	return true;
}

static bool
ide_make_proof(
	void *arg, const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof)
{
	const struct sim_end *e = arg;
	const struct weft_derive_domain domain = ide_domain(e);

	return weft_derive_proof(ide_psk(e), &domain, d, is_initiator, proof);
}

static bool
ide_make_key(void *arg, const struct weft_session_transcript *d, bool from_initiator,
	uint32_t generation, uint8_t *key)
{
	struct sim_end *e = arg;
	const struct weft_derive_domain domain = ide_domain(e);

	if (!weft_derive_key(ide_psk(e), &domain, d, from_initiator, generation, key))
		return false;
	if (from_initiator == e->is_initiator)
		monitor_key(e, weft_get_le64(key), generation == 0);
	return true;
}

static bool
ide_bind_keys(void *arg, const struct weft_session_transcript *d)
{
	struct sim_end *e = arg;
	const struct weft_derive_domain domain = ide_domain(e);

	if (d != NULL)
		return weft_derive_control_keys(ide_psk(e), &domain, d, &e->ide->control);
	memset(&e->ide->control, 0, sizeof(e->ide->control));
	return true;
}

static bool
ide_make_mac(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac)
{
	const struct sim_end *e = arg;

	return weft_control_mac(&e->ide->control, from_initiator, image, len, mac);
}

static bool
ide_make_gone(void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	const struct sim_end *e = arg;
	const struct weft_derive_domain domain = ide_domain(e);

	return weft_derive_gone(ide_psk(e), &domain, session, from_initiator, number, proof);
}

void
ide_end_make(struct sim_end *e)
{
	struct sim *s = e->node->sim;

	if (s->sc.session.params.ide_mode == WEFT_IDE_OFF)
		return;
	e->ide = arena_alloc(&s->memory.arena, sizeof(*e->ide));
	e->ide->end = (struct weft_link_ide){ .lib = s->opt->crypto.lib,
		.mem = arena_alloc(&s->memory.arena, weft_link_ide_size()),
		.key = ide_make_key,
		.arg = e,
		.rekey_flits = s->sc.rekey.flits,
		.rekey_ns = s->sc.rekey.ns };
	e->ide->session = (struct weft_session_keys){ .random = ide_make_random,
		.proof = ide_make_proof,
		.bind = ide_bind_keys,
		.mac = ide_make_mac,
		.gone = ide_make_gone,
		.arg = e };
}

void
ide_end_start(struct sim_end *e)
{
	if (e->ide == NULL)
		return;
	e->ide->failures = 0;
	e->ide->blame.session = 0;
}

/* --- the attacker --- */

/* Where he may strike: in skid the MAC alone, as the rest goes on before it has come. */
static bool
ide_draw_place(const struct sim *s, struct weft_rand *r, const uint8_t *flit, unsigned int *at)
{
	const int c = flit[0] >> 6 == WEFT_FLIT_CACHEMEM ? weft_llctrl_get(flit + WEFT_FLIT_H_OFF)
	                                                 : WEFT_LLCTRL_IDE_IDLE;
	const bool has_mac = c == WEFT_LLCTRL_IDE_MAC || c == WEFT_LLCTRL_IDE_TMAC;

	if (s->sc.session.params.ide_mode == WEFT_IDE_SKID || c == WEFT_LLCTRL_IDE_TMAC) {
		*at = WEFT_FLIT_H_OFF + WEFT_LLCTRL_PAYLOAD_OFF +
		      (unsigned int)weft_rand_below(r, WEFT_IDE_MAC_LEN);
		return has_mac;
	}
	*at = WEFT_FLIT_SLOT_LEN +
	      (unsigned int)weft_rand_below(r, WEFT_FLIT_CRD_OFF + 2 - WEFT_FLIT_SLOT_LEN);
	return c < 0 || has_mac;
}

bool
ide_forge(struct sim *s, struct sim_frame *f)
{
	const enum weft_crc_order order = (enum weft_crc_order)s->sc.crc_order;
	const struct weft_codec *codec = &s->opt->codec;
	const unsigned int n = f->hdr.n_flits;
	const unsigned int first = (unsigned int)weft_rand_below(&s->faults.rand, n);
	unsigned int at;

	for (unsigned int i = 0; i < n; i++) {
		const unsigned int k = (first + i) % n;
		uint8_t *flit = f->data + WEFT_WIRE_FRAME_LEN(k);
		uint64_t syndrome;

		/* Changed twice it might be as it was. */
		if ((f->forged >> k & 1) != 0 || !ide_draw_place(s, &s->faults.rand, flit, &at))
			continue;
		syndrome = weft_codec_syndrome(codec, flit, order);
		flit[at] ^= (uint8_t)(1u << weft_rand_below(&s->faults.rand, 8));
		weft_codec_protect(codec, &flit, 1, order, &syndrome);
		f->forged |= WEFT_BIT64(k);
		s->total.ide[IDE_FORGED]++;
		return true;
	}
	return false;
}

void
ide_forged_moves(struct sim_frame *f, uint64_t gone)
{
	uint64_t moved = 0;

	for (uint64_t left = f->forged & ~gone; left != 0; left &= left - 1) {
		const unsigned int at = (unsigned int)__builtin_ctzll(left);

		moved |=
			WEFT_BIT64(at - (unsigned int)__builtin_popcountll(gone & weft_mask64(at)));
	}
	f->forged = moved;
}
