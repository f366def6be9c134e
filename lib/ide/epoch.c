/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: one MAC epoch. A flit's share of P is bytes 0..239 with the pad, its first 20 bits, zero; of
 * an IDE.MAC flit only slots 1..14. The pad takes part in encryption but is never written to the
 * flit, where the same bits are the flit header and the slot format.
 */

#include "ide_priv.h"

#include "weft_data_crc.h"

#include <endian.h>

/* First byte of the flit that is in P. */
static inline unsigned int
ide_p_off(enum ide_kind kind)
{
	return kind == IDE_KIND_MAC ? WEFT_FLIT_SLOT_LEN : 0;
}

static inline void
epoch_clear_pad(uint8_t *p)
{
	p[0] = 0;
	p[1] = 0;
	p[2] &= 0xF0;
}

/*
 * An LOpt flit's slots as those of a Standard flit, and back: slot 7 is joined, slot 8 has 12 bytes
 * and four that are zero and not sent.
 */
static const struct {
	uint8_t share, flit, len;
} lopt_parts[] = {
	{ 16, 16, 106 }, /* slots 1 to 6, slot 7 bytes 0 to 9 */
	{ 122, 138, 6 }, { 128, 128, 10 }, /* slot 8 */
	{ 138, 242, 2 }, { 144, 144, 96 }, /* slots 9 to 14 */
};
#define LOPT_ZERO_OFF 140
#define LOPT_ZERO_LEN 4

static void
ide_lopt_gather(uint8_t *slots, const uint8_t *flit)
{
	memcpy(slots, flit, WEFT_FLIT_SLOT_LEN);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(lopt_parts); i++)
		memcpy(slots + lopt_parts[i].share, flit + lopt_parts[i].flit, lopt_parts[i].len);
	memset(slots + LOPT_ZERO_OFF, 0, LOPT_ZERO_LEN);
}

static void
ide_lopt_scatter(uint8_t *flit, const uint8_t *slots)
{
	memcpy(flit, slots, WEFT_FLIT_SLOT_LEN);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(lopt_parts); i++)
		memcpy(flit + lopt_parts[i].flit, slots + lopt_parts[i].share, lopt_parts[i].len);
}

/* Write a share of P, or of ciphertext, into the flit but for the pad. */
static inline void
epoch_put_share(uint8_t *flit, enum ide_kind kind, const uint8_t *share)
{
	if (kind == IDE_KIND_MAC) {
		memcpy(flit + WEFT_FLIT_SLOT_LEN, share, IDE_COVERED - WEFT_FLIT_SLOT_LEN);
	} else {
		flit[2] = (uint8_t)((flit[2] & 0x0F) | (share[2] & 0xF0));
		memcpy(flit + 3, share + 3, IDE_COVERED - 3);
	}
}

/* In one store: the tag's load would wait for four. */
static inline void
epoch_put_aad(struct weft_ide_stream *s, unsigned int at, uint32_t word)
{
	const uint32_t w = htole32(word);

	memcpy(s->aad + at * IDE_AAD_WORD, &w, sizeof(w));
}

/* Poison payload, bits 3:0: the only part of the flit that counts. */
static inline uint8_t
epoch_poison_offset(const uint8_t *flit)
{
	return flit[IDE_MAC_OFF] & 0xF;
}

bool
ide_poison_wait(struct weft_ide_stream *s, const uint8_t *flit)
{
	if (s->late.n == WEFT_IDE_POISON_MAX)
		return false;
	s->late.word[s->late.n++] = epoch_poison_offset(flit);
	return true;
}

void
ide_poison_insert(struct weft_ide_stream *s, uint8_t offset)
{
	uint8_t *last = s->aad + (s->aad_words - 1U) * IDE_AAD_WORD;

	memcpy(last + IDE_AAD_WORD, last, IDE_AAD_WORD);
	epoch_put_aad(s, s->aad_words - 1U, offset);
	s->aad_words++;
	s->late.last++;
	s->counts.poison++;
}

/* Poison that waited belongs to the flit that comes now, and, protected, stands before it. */
static __attribute__((noinline)) void
epoch_take_poison(struct weft_ide_stream *s)
{
	for (unsigned int i = 0; s->late.is_on && i < s->late.n; i++)
		epoch_put_aad(s, s->aad_words++, s->late.word[i]);
	s->late.n = 0;
	s->hold.behind = 0;
}

static inline void
epoch_count_in(struct weft_ide_stream *s, const uint8_t *flit, enum ide_kind kind)
{
	const uint32_t crd = weft_flit_crd(flit);

	s->late.last = s->late.n;
	if (s->late.n > 0)
		epoch_take_poison(s);
	epoch_put_aad(s, s->aad_words,
		kind == IDE_KIND_MAC ? crd : crd << 4 | weft_slot_fmt(flit + WEFT_FLIT_H_OFF));
	s->aad_words++;
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
epoch_make_iv(uint64_t counter, uint8_t *iv)
{
	weft_put_be32(iv, UINT32_C(0x80000000));
	weft_put_be64(iv + 4, counter);
}

/* The two passes of an epoch that no kernel takes, or that came flit by flit. */
static void
epoch_reference_slots(struct weft_ide_stream *s, uint8_t *flit, enum ide_kind kind, bool is_open)
{
	const unsigned int off = ide_p_off(kind);
	uint8_t *p = s->p + s->p_len;
	uint8_t sealed[IDE_COVERED];

	if (is_open) {
		ide_gcm_xor(s->gcm, p, flit + off, IDE_COVERED - off);
		if (kind == IDE_KIND_PLAIN)
			epoch_clear_pad(
				p); /* these bits came from the header, which is not ciphertext */
		if (s->is_lopt) /* nor were these received */
			memset(p + LOPT_ZERO_OFF - off, 0, LOPT_ZERO_LEN);
		epoch_put_share(flit, kind, p);
	} else {
		memcpy(p, flit + off, IDE_COVERED - off);
		if (kind == IDE_KIND_PLAIN)
			epoch_clear_pad(p);
		ide_gcm_xor(s->gcm, sealed, p, IDE_COVERED - off);
		epoch_put_share(flit, kind, sealed);
	}
	s->p_len += IDE_COVERED - off;
}

static __attribute__((noinline)) void
epoch_reference_flit(struct weft_ide_stream *s, uint8_t *flit, enum ide_kind kind, bool is_open)
{
	uint8_t slots[IDE_COVERED];

	if (!s->is_lopt) {
		epoch_reference_slots(s, flit, kind, is_open);
		return;
	}
	ide_lopt_gather(slots, flit);
	epoch_reference_slots(s, slots, kind, is_open);
	ide_lopt_scatter(flit, slots);
}

/*
 * The MAC goes into its flit after the kernel: a kernel that had to load what was just written in
 * small pieces would wait for the epoch before.
 */
void
ide_epoch_flush(struct weft_ide_stream *s)
{
	if (s->pending.n == 0)
		return;
	s->kernel->flits(&s->pass_key, &s->pass, s->pending.flits, s->pending.n, s->pending.way);
	if ((s->pending.way & (IDE_PASS_MAC | IDE_PASS_OPEN)) == IDE_PASS_MAC)
		memcpy(s->pending.flits + IDE_MAC_OFF, s->mac, WEFT_IDE_MAC_LEN);
	s->pending.n = 0;
}

/* The more flits the kernel gets at once, the faster it is. */
static inline void
epoch_wait_for_more(
	struct weft_ide_stream *s, uint8_t *flit, unsigned int n, enum ide_kind kind, bool is_open)
{
	/* They must be back to back, and IDE.MAC the first of them. */
	if (kind == IDE_KIND_MAC || flit != s->pending.flits + s->pending.n * (size_t)WEFT_FLIT_LEN)
		ide_epoch_flush(s);
	if (s->pending.n == 0) {
		s->pending.flits = flit;
		s->pending.way = (kind == IDE_KIND_MAC ? IDE_PASS_MAC : 0U) |
		                 (is_open ? IDE_PASS_OPEN : 0U) | (s->pcrc ? IDE_PASS_PCRC : 0U);
	}
	s->pending.n += n;
}

static inline void
epoch_begin(struct weft_ide_stream *s, bool in_run)
{
	uint8_t iv[IDE_IV_LEN];

	s->in_one_pass = ide_epoch_starts_in_one_pass(s, in_run);
	if (s->in_one_pass) {
		ide_pass_begin(&s->pass, s->counter);
	} else {
		epoch_make_iv(s->counter, iv);
		ide_gcm_start(s->gcm, iv);
	}
}

void
ide_epoch_flit(
	struct weft_ide_stream *s, uint8_t *flit, enum ide_kind kind, bool is_open, bool in_run)
{
	if (s->flits == 0)
		epoch_begin(s, in_run);
	epoch_count_in(s, flit, kind);
	if (s->in_one_pass)
		epoch_wait_for_more(s, flit, 1, kind, is_open);
	else
		epoch_reference_flit(s, flit, kind, is_open);
}

unsigned int
ide_epoch_plain_flits(struct weft_ide_stream *s, uint8_t *flits, unsigned int n, bool is_open)
{
	const unsigned int room = weft_ide_epoch_flits(s->mode) - s->flits;
	const uint32_t empty = is_open ? UINT32_MAX : 1; /* CRD[4:0]; only a sender minds */
	unsigned int i;

	if (s->kernel == NULL || s->is_special)
		return 0;
	if (s->flits == 0)
		epoch_begin(s, true);
	else if (!s->in_one_pass)
		return 0;
	if (n > room)
		n = room;
	for (i = 0; i < n; i++) {
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		const uint32_t fmt = weft_slot_fmt(flit + WEFT_FLIT_H_OFF);
		const uint32_t crd = weft_flit_crd(flit);

		if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM || fmt == WEFT_SLOT_FMT_LLCTRL ||
			(crd & 0x1F) == empty)
			break;
		epoch_put_aad(s, s->aad_words + i, crd << 4 | fmt);
	}
	if (i > 0) {
		epoch_wait_for_more(s, flits, i, IDE_KIND_PLAIN, is_open);
		s->late.last = 0;
	}
	s->flits = (uint8_t)(s->flits + i);
	s->aad_words = (uint16_t)(s->aad_words + i);
	return i;
}

/* Epochs of IDE.MAC and a plain flit among the first of @p n flits. */
static inline unsigned int
epoch_count_pairs(const uint8_t *flits, unsigned int n)
{
	unsigned int i = 0;

	while (i < IDE_PASS_PAIRS && 2 * i + 1 < n &&
		ide_kind(flits + 2 * i * (size_t)WEFT_FLIT_LEN) == IDE_KIND_MAC &&
		ide_kind(flits + (2 * i + 1) * (size_t)WEFT_FLIT_LEN) == IDE_KIND_PLAIN)
		i++;
	return i;
}

static inline bool
epoch_any_empty(const uint8_t *flits, unsigned int n)
{
	unsigned int any = 0;

	for (unsigned int i = 0; i < n; i++)
		any |= (flits[i * (size_t)WEFT_FLIT_LEN + WEFT_FLIT_CRD_OFF] & 0x1F) == 1;
	return any != 0;
}

static void
epoch_run_pairs(
	struct weft_ide_stream *s, uint8_t *flits, unsigned int n, uint64_t counter, bool is_open)
{
	for (unsigned int i = 0; i < n; i++)
		ide_pass_begin(&s->pair[i], counter + i);
	s->kernel->pairs(&s->pass_key, s->pair, flits, n,
		(is_open ? IDE_PASS_OPEN : 0U) | (s->pcrc ? IDE_PASS_PCRC : 0U));
}

void
ide_epoch_close_pairs(struct weft_ide_stream *s, uint8_t *flits, unsigned int n)
{
	/* The same key stream once more: ciphertext again. */
	epoch_run_pairs(s, flits, n, s->counter - n, false);
}

unsigned int
ide_epoch_pairs(struct weft_ide_stream *s, uint8_t *flits, unsigned int n, bool is_open,
	uint8_t (*tag)[IDE_TAG_LEN])
{
	unsigned int pairs = epoch_count_pairs(flits, n);

	if (s->late.is_on && !is_open && pairs > 0)
		pairs--; /* the last may have to stay open-ended */
	if (pairs < 2 || (!is_open && epoch_any_empty(flits, 2 * pairs)))
		return 0;
	epoch_run_pairs(s, flits, pairs, s->counter, is_open);
	for (unsigned int i = 0; i < pairs; i++) {
		uint8_t *first = flits + 2 * i * (size_t)WEFT_FLIT_LEN;
		uint8_t *second = first + WEFT_FLIT_LEN;

		epoch_put_aad(s, 0, weft_flit_crd(first));
		epoch_put_aad(s, 1,
			(uint32_t)weft_flit_crd(second) << 4 |
				weft_slot_fmt(second + WEFT_FLIT_H_OFF));
		s->kernel->tag(
			&s->pass_key, &s->pair[i], s->aad, 2 * IDE_AAD_WORD, s->pcrc, tag[i]);
	}
	s->counter += pairs;
	return pairs;
}

static __attribute__((noinline)) void
epoch_reference_end(struct weft_ide_stream *s, uint8_t *tag)
{
	uint8_t iv[IDE_IV_LEN];

	if (s->pcrc) {
		weft_put_le32(s->p + s->p_len, weft_crc32c(0, s->p, s->p_len));
		s->p_len += IDE_PCRC_LEN;
	}
	epoch_make_iv(s->counter, iv);
	ide_gcm_tag(s->gcm, iv, s->aad, s->aad_words * IDE_AAD_WORD, s->p, s->p_len, tag);
}

void
ide_epoch_end(struct weft_ide_stream *s, uint8_t *mac)
{
	uint8_t tag[IDE_TAG_LEN];

	if (s->flits > 0 && s->in_one_pass) {
		ide_epoch_flush(s);
		s->kernel->tag(
			&s->pass_key, &s->pass, s->aad, s->aad_words * IDE_AAD_WORD, s->pcrc, tag);
	} else {
		epoch_reference_end(s, tag);
	}
	memcpy(mac, tag, WEFT_IDE_MAC_LEN);
	s->counter++;
	s->flits = 0;
	s->aad_words = 0;
	s->p_len = 0;
}
