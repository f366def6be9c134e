/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The state of a stream, and one MAC epoch (wire-formats.md sections 5.1 to 5.3).
 *
 * The tag hashes the AAD of all flits before the first byte of ciphertext, but flits must go out
 * (and, in skid mode, on) before the last AAD word is known. An epoch is computed in one of two
 * ways. The reference keeps the AAD words and the plaintext P, and ide_epoch_end() runs GCM over
 * them as a whole: AES is done twice, plainly. In one pass (pass_priv.h) a kernel takes the flits
 * of a run as they lie.
 */
#ifndef WEFT_IDE_PRIV_H
#define WEFT_IDE_PRIV_H

#include "weft_ide.h"

#include "gcm_priv.h"
#include "pass_priv.h"
#include "weft_base.h"
#include "weft_flit.h"

#define IDE_COVERED 240 /* header, slot 0 and slots 1..14 */
#define IDE_P_MAX (WEFT_IDE_EPOCH_MAX * IDE_COVERED)
#define IDE_PCRC_LEN 4
#define IDE_AAD_WORD 4
/* Flits, and what may stand in front of each. */
#define IDE_AAD_WORDS_MAX (WEFT_IDE_EPOCH_MAX * (1 + WEFT_IDE_POISON_MAX))
#define IDE_MAC_OFF (WEFT_FLIT_H_OFF + WEFT_LLCTRL_PAYLOAD_OFF)

/* Kinds of flits to IDE. */
enum ide_kind {
	IDE_KIND_CONTROL, /* anything in the clear: not cachemem, or a control slot */
	IDE_KIND_PLAIN, /* protocol flit with a protocol header in slot 0 */
	IDE_KIND_MAC, /* protocol flit with IDE.MAC in slot 0 */
	IDE_KIND_TMAC
};

struct weft_ide_stream {
	struct ide_gcm *gcm; /* after this struct in the same memory */
	uint64_t counter; /* of the epoch being filled */
	enum weft_ide_mode mode;
	bool pcrc;

	/*
	 * The next flit must go the long way: any of poison that waits, idles that are due,
	 * IDE.TMAC just before, a sender's MAC to be computed, Insecure, stopped. So the short way
	 * need look at one thing only.
	 */
	bool is_special;

	/* Of the full epoch before this one: its MAC has not been sent, or not been seen. */
	bool mac_due;
	uint8_t mac[WEFT_IDE_MAC_LEN]; /* valid while mac_due */

	/*
	 * Receiver only. Held flits: those of the epoch whose MAC is due, then `tail` later ones,
	 * from the first protocol flit of the epoch being filled on. They are kept apart: joined
	 * into one load, two that were just stored would make it wait.
	 */
	struct {
		unsigned int n;
		unsigned int tail;
		unsigned int behind; /* of the tail, those from the first Poison that waits on */
	} hold;
	bool insecure;

	/* The epoch being filled. */
	bool in_one_pass; /* decided by its first flit; says which of the states below it is in */
	uint8_t flits;
	uint16_t aad_words; /* one a flit, and one for each Poison before it */
	/*
	 * Sender with late poison: the epoch is full and stays here, its MAC not computed, until it
	 * has to go out. Only between calls.
	 */
	bool is_open_ended;
	size_t p_len;
	uint8_t aad[IDE_AAD_WORDS_MAX * IDE_AAD_WORD];
	uint8_t p[IDE_P_MAX + IDE_PCRC_LEN];

	/*
	 * Within a run: flits, back to back, that were counted in, but are still to be worked on,
	 * and how.
	 */
	struct {
		uint8_t *flits;
		unsigned int n;
		unsigned int way;
	} pending;

	const struct ide_pass_kernel *kernel; /* NULL: no epoch is in one pass */
	struct ide_pass pass;
	struct ide_pass_key pass_key; /* valid with a kernel */
	struct ide_pass pair[IDE_PASS_PAIRS]; /* within ide_epoch_pairs() */

	/* Seldom used. */
	bool is_lopt;
	bool has_stop;
	bool is_stopped;
	bool after_tmac; /* a valid IDE.TMAC was the last flit */
	struct { /* IDE.Idle */
		uint8_t truncation, refresh; /* that follow IDE.TMAC, and IDE.Start */
		unsigned int due;
	} idles;
	struct { /* late poison */
		bool is_on;
		uint8_t n; /* Poison that waits for its protocol flit */
		uint8_t last; /* words of it in front of the last protocol flit */
		uint8_t word[WEFT_IDE_POISON_MAX];
	} late;
	struct { /* the key after this one; the others are valid with is_ready */
		bool is_ready;
		struct ide_gcm *gcm;
		struct ide_pass_key pass_key;
	} next_key;
	struct weft_ide_counts counts;
};

static inline void
ide_note_special(struct weft_ide_stream *s)
{
	s->is_special = s->late.n > 0 || s->idles.due > 0 || s->after_tmac || s->is_open_ended ||
	                s->insecure || s->is_stopped;
}

enum ide_kind ide_kind(const uint8_t *flit);

/* LLCTRL << 4 | SubType of a flit that is IDE_KIND_CONTROL; -1 if it is another protocol's. */
static inline int
ide_control(const uint8_t *flit)
{
	return flit[0] >> 6 == WEFT_FLIT_CACHEMEM ? weft_llctrl_get(flit + WEFT_FLIT_H_OFF) : -1;
}

/* Have Poison wait for the next protocol flit. @return false if it is one too many */
bool ide_poison_wait(struct weft_ide_stream *s, const uint8_t *flit);

/* Put Poison's word in front of the last flit's. */
void ide_poison_insert(struct weft_ide_stream *s, uint8_t offset);

/* Take the next key, which there must be. No epoch is open. */
void ide_take_next_key(struct weft_ide_stream *s);

/* min(epoch - flits, the delay): idles after IDE.TMAC. */
static inline unsigned int
ide_truncation_idles(const struct weft_ide_stream *s, unsigned int flits)
{
	const unsigned int missing = weft_ide_epoch_flits(s->mode) - flits;

	return missing < s->idles.truncation ? missing : s->idles.truncation;
}

/*
 * Encrypt or decrypt a protocol flit in place and count it in. The epoch must not be full. Its
 * first flit decides how the epoch is computed: @p in_run asks for one pass.
 */
void ide_epoch_flit(
	struct weft_ide_stream *s, uint8_t *flit, enum ide_kind kind, bool is_open, bool in_run);

/*
 * True if an epoch that begins now goes in one pass. Then the sender's MAC of the epoch before is
 * put into an IDE.MAC flit by ide_epoch_flit(), from s->mac; otherwise by its caller.
 */
static inline bool
ide_epoch_starts_in_one_pass(const struct weft_ide_stream *s, bool in_run)
{
	return in_run && s->kernel != NULL;
}

/*
 * Count in protocol flits without IDE.MAC that lie back to back, in one pass: what
 * ide_epoch_flit() does for each. @return how many, until the first that is none, the epoch is
 * full or is not in one pass
 */
unsigned int ide_epoch_plain_flits(
	struct weft_ide_stream *s, uint8_t *flits, unsigned int n, bool is_open);

/* True if the stream is where ide_epoch_pairs() can begin. */
static inline bool
ide_epoch_may_be_paired(const struct weft_ide_stream *s)
{
	return s->mode == WEFT_IDE_CONTAINMENT && s->kernel != NULL && s->mac_due &&
	       s->flits == 0 && !s->is_special;
}

/*
 * Epochs of two flits, the first with IDE.MAC, back to back and more than one: all at once, in one
 * pass, where ide_epoch_may_be_paired(). Senders' MAC slots are left as they are.
 *
 * @param tag  receives the tags, at most IDE_PASS_PAIRS
 * @return how many epochs; 0: nothing was done
 */
unsigned int ide_epoch_pairs(struct weft_ide_stream *s, uint8_t *flits, unsigned int n,
	bool is_open, uint8_t (*tag)[IDE_TAG_LEN]);

/* Make the last @p n epochs that were opened, from @p flits on, ciphertext again. */
void ide_epoch_close_pairs(struct weft_ide_stream *s, uint8_t *flits, unsigned int n);

/* Work on the flits that wait, if any: none does when a call of the stream returns. */
void ide_epoch_flush(struct weft_ide_stream *s);

static inline void
ide_epoch_seal(struct weft_ide_stream *s, uint8_t *flit)
{
	ide_epoch_flit(s, flit, ide_kind(flit), false, false);
}

static inline bool
ide_epoch_is_full(const struct weft_ide_stream *s)
{
	return s->flits == weft_ide_epoch_flits(s->mode);
}

/* Give the MAC of the epoch, and begin the next one. */
void ide_epoch_end(struct weft_ide_stream *s, uint8_t *mac);

/* True if runs with the kernel of @p lib give what single flits give. Allocates. */
bool ide_pass_agrees(struct weft_ide_lib *lib);

#endif /* WEFT_IDE_PRIV_H */
