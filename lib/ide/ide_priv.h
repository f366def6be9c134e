/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The state of a stream, and one MAC epoch (wire-formats.md sections 5.1 to 5.3).
 *
 * The tag hashes the AAD of all flits before the first byte of ciphertext, but flits must go out
 * (and, in skid mode, on) before the last AAD word is known. So an epoch keeps its AAD words and
 * its plaintext P, and ide_epoch_end() runs GCM over them as a whole. That does AES twice, and in
 * return sender and receiver share one path, and the receiver need not rebuild the ciphertext of
 * the pads that were not sent: it is what encrypting the zero pads gives.
 */
#ifndef WEFT_IDE_PRIV_H
#define WEFT_IDE_PRIV_H

#include "weft_ide.h"

#include "gcm_priv.h"
#include "weft_base.h"
#include "weft_flit.h"

#define IDE_COVERED 240 /* header, slot 0 and slots 1..14 */
#define IDE_P_MAX (WEFT_IDE_EPOCH_MAX * IDE_COVERED)
#define IDE_PCRC_LEN 4
#define IDE_AAD_WORD 4
#define IDE_MAC_OFF (WEFT_FLIT_H_OFF + WEFT_LLCTRL_PAYLOAD_OFF)

/* What IDE makes of a flit. */
enum ide_kind {
	IDE_KIND_CONTROL, /* anything in the clear: not cachemem, or a control slot */
	IDE_KIND_PLAIN, /* protocol flit with a protocol header in slot 0 */
	IDE_KIND_MAC, /* protocol flit with IDE.MAC in slot 0 */
	IDE_KIND_TMAC
};

struct weft_ide_stream {
	struct ide_gcm *gcm; /* behind this struct in the same memory */
	uint64_t counter; /* of the epoch being filled */
	enum weft_ide_mode mode;
	bool pcrc;

	/* Of the full epoch before this one: its MAC has not been sent, or not been seen. */
	bool mac_due;
	uint8_t mac[WEFT_IDE_MAC_LEN]; /* valid while mac_due */

	/*
	 * Receiver only. Held flits: those of the epoch whose MAC is due, then `tail` later ones,
	 * from the first protocol flit of the epoch being filled on.
	 */
	bool insecure;
	uint8_t held;
	uint8_t tail;

	/* The epoch being filled. */
	uint8_t flits;
	size_t p_len;
	uint8_t aad[WEFT_IDE_EPOCH_MAX * IDE_AAD_WORD];
	uint8_t p[IDE_P_MAX + IDE_PCRC_LEN];
};

/* PCRC of @p len bytes, which are only read. */
uint32_t ide_pcrc(uint8_t *p, size_t len);

enum ide_kind ide_kind(const uint8_t *flit);

/* Start the epoch that the counter says, with no flit in it. */
void ide_epoch_begin(struct weft_ide_stream *s);

/* Encrypt or decrypt a protocol flit in place and count it in. The epoch must not be full. */
void ide_epoch_seal(struct weft_ide_stream *s, uint8_t *flit);
void ide_epoch_open(struct weft_ide_stream *s, uint8_t *flit);

static inline bool
ide_epoch_is_full(const struct weft_ide_stream *s)
{
	return s->flits == weft_ide_epoch_flits(s->mode);
}

/* Give the MAC of the epoch, and begin the next one. */
void ide_epoch_end(struct weft_ide_stream *s, uint8_t *mac);

#endif /* WEFT_IDE_PRIV_H */
