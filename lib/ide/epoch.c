/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: one MAC epoch. A flit's share of P is bytes 0..239 with the pad, its first 20 bits, zero; of
 * an IDE.MAC flit only slots 1..14. The pad takes part in encryption but is never written to the
 * flit, where the same bits are the flit header and the slot format.
 */

#include "ide_priv.h"

/* First byte of the flit that is in P. */
static inline unsigned int
p_off(enum ide_kind kind)
{
	return kind == IDE_KIND_MAC ? WEFT_FLIT_SLOT_LEN : 0;
}

static inline void
clear_pad(uint8_t *p)
{
	p[0] = 0;
	p[1] = 0;
	p[2] &= 0xF0;
}

/* Write a share of P, or of ciphertext, into the flit but for the pad. */
static inline void
put_share(uint8_t *flit, enum ide_kind kind, const uint8_t *share)
{
	if (kind == IDE_KIND_MAC) {
		memcpy(flit + WEFT_FLIT_SLOT_LEN, share, IDE_COVERED - WEFT_FLIT_SLOT_LEN);
	} else {
		flit[2] = (uint8_t)((flit[2] & 0x0F) | (share[2] & 0xF0));
		memcpy(flit + 3, share + 3, IDE_COVERED - 3);
	}
}

static void
count_in(struct weft_ide_stream *s, const uint8_t *flit, enum ide_kind kind)
{
	const uint32_t crd = weft_flit_crd(flit);

	weft_put_le32(s->aad + s->flits * IDE_AAD_WORD,
		kind == IDE_KIND_MAC ? crd : crd << 4 | weft_slot_fmt(flit + WEFT_FLIT_H_OFF));
	s->p_len += IDE_COVERED - p_off(kind);
	s->flits++;
}

enum ide_kind
ide_kind(const uint8_t *flit)
{
	if (weft_flit_is_protocol(flit))
		return weft_slot_fmt(flit + WEFT_FLIT_H_OFF) == WEFT_SLOT_FMT_LLCTRL
		               ? IDE_KIND_MAC
		               : IDE_KIND_PLAIN;
	if (weft_flit_hdr_get(flit).type == WEFT_FLIT_CACHEMEM &&
		weft_llctrl_get(flit + WEFT_FLIT_H_OFF) == WEFT_LLCTRL_IDE_TMAC)
		return IDE_KIND_TMAC;
	return IDE_KIND_CONTROL;
}

/* 1000b, 28 + 32 zero bits, then the counter; most significant byte first. */
static void
make_iv(uint64_t counter, uint8_t *iv)
{
	weft_put_be32(iv, UINT32_C(0x80000000));
	weft_put_be64(iv + 4, counter);
}

void
ide_epoch_begin(struct weft_ide_stream *s)
{
	uint8_t iv[IDE_IV_LEN];

	make_iv(s->counter, iv);
	ide_gcm_start(s->gcm, iv);
	s->flits = 0;
	s->p_len = 0;
}

void
ide_epoch_seal(struct weft_ide_stream *s, uint8_t *flit)
{
	const enum ide_kind kind = ide_kind(flit);
	const unsigned int off = p_off(kind);
	uint8_t *p = s->p + s->p_len;
	uint8_t sealed[IDE_COVERED];

	memcpy(p, flit + off, IDE_COVERED - off);
	if (kind == IDE_KIND_PLAIN)
		clear_pad(p);
	ide_gcm_xor(s->gcm, sealed, p, IDE_COVERED - off);
	put_share(flit, kind, sealed);
	count_in(s, flit, kind);
}

void
ide_epoch_open(struct weft_ide_stream *s, uint8_t *flit)
{
	const enum ide_kind kind = ide_kind(flit);
	const unsigned int off = p_off(kind);
	uint8_t *p = s->p + s->p_len;

	ide_gcm_xor(s->gcm, p, flit + off, IDE_COVERED - off);
	if (kind == IDE_KIND_PLAIN)
		clear_pad(p); /* these bits came from the header, which is not ciphertext */
	put_share(flit, kind, p);
	count_in(s, flit, kind);
}

void
ide_epoch_end(struct weft_ide_stream *s, uint8_t *mac)
{
	uint8_t iv[IDE_IV_LEN], tag[IDE_TAG_LEN];

	if (s->pcrc) {
		weft_put_le32(s->p + s->p_len, ide_pcrc(s->p, s->p_len));
		s->p_len += IDE_PCRC_LEN;
	}
	make_iv(s->counter, iv);
	ide_gcm_tag(s->gcm, iv, s->aad, s->flits * IDE_AAD_WORD, s->p, s->p_len, tag);
	memcpy(mac, tag, WEFT_IDE_MAC_LEN);
	s->counter++;
	ide_epoch_begin(s);
}
