/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE for CXL.cachemem, 256 B mode: AES-256-GCM over MAC epochs of 2 (containment) or 32 (skid)
 * protocol flits, one stream a direction of a link or connection (wire-formats.md section 5). The
 * 96-bit MAC of an epoch rides in an IDE.MAC slot of the first or second protocol flit after it; an
 * epoch ended early is closed by IDE.TMAC. gcm.c is the one file that knows intel-ipsec-mb.
 */
#ifndef WEFT_IDE_H
#define WEFT_IDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_IDE_KEY_LEN 32
#define WEFT_IDE_MAC_LEN 12
#define WEFT_IDE_EPOCH_MAX 32

enum weft_ide_mode { WEFT_IDE_OFF, WEFT_IDE_CONTAINMENT, WEFT_IDE_SKID };

/** Protocol flits in a full epoch: 2 or 32. */
static inline unsigned int
weft_ide_epoch_flits(enum weft_ide_mode mode)
{
	return mode == WEFT_IDE_SKID ? 32 : 2;
}

/** The intel-ipsec-mb manager: which code paths it may use. One per process is enough. */
struct weft_ide_lib;

/**
 * Open intel-ipsec-mb. Allocates; call at start.
 *
 * @param features  weft_cpu_feature bits that may be used; 0 takes its SSE path, the least it has
 * @return NULL if it cannot run here
 */
struct weft_ide_lib *weft_ide_lib_open(uint32_t features);

void weft_ide_lib_close(struct weft_ide_lib *lib);

/** Name of the code path in use, such as "avx512-vaes", for reports. Constant string. */
const char *weft_ide_lib_kernel(const struct weft_ide_lib *lib);

/** Name of the kernel for runs, such as "vaes512"; "none": runs go flit by flit. Constant string. */
const char *weft_ide_lib_run_kernel(const struct weft_ide_lib *lib);

/** Bytes and alignment (64) of one stream's state, sender or receiver. */
size_t weft_ide_stream_size(void);

/** One direction, as sender or as receiver. Lives in memory of the caller. */
struct weft_ide_stream;

/**
 * Start a stream with a new key: the counter begins at @p counter for the next epoch.
 *
 * One thread at a time uses a stream.
 *
 * @param mem      weft_ide_stream_size() bytes, 64-byte aligned; holds key material from now on
 * @param lib      must outlive the stream; streams on any threads share it
 * @param mode     containment or skid
 * @param key      32 bytes; not kept in this form
 * @param counter  1 after every key change
 * @param pcrc     append the plaintext CRC (on by default, IDE Control bit 0)
 * @return the stream (in @p mem); NULL for a mode of OFF or memory that is not aligned
 */
struct weft_ide_stream *weft_ide_stream_init(void *mem, struct weft_ide_lib *lib,
	enum weft_ide_mode mode, const uint8_t *key, uint64_t counter, bool pcrc);

/** Wipe the key material. The memory is the caller's again. */
void weft_ide_stream_wipe(struct weft_ide_stream *s);

/* --- sender --- */

/**
 * Whether the next protocol flit must have its slot 0 kept for IDE.MAC (weft_pack_begin's
 * with_mac): the MAC of the epoch before it is due.
 */
bool weft_ide_mac_due(const struct weft_ide_stream *s);

/**
 * Encrypt one flit in place, in transmission order. A protocol flit joins the epoch (and carries
 * the MAC due, if any); a control flit passes in the clear.
 *
 * @param flit  256 bytes; header, CRC and FEC are not touched
 * @return 0; -EPROTO if a MAC is due and slot 0 is not IDE.MAC, or the other way round (nothing is
 *         changed)
 */
int weft_ide_seal(struct weft_ide_stream *s, uint8_t *flit);

/**
 * Seal flits that lie back to back: weft_ide_seal() for each in turn, faster. The two may be mixed.
 *
 * @param flits  n * 256 bytes
 * @return n; fewer if flits[that many] is one that weft_ide_seal() answers with -EPROTO: those
 *         before it are sealed, it and those behind it are not changed
 */
unsigned int weft_ide_seal_run(struct weft_ide_stream *s, uint8_t *flits, unsigned int n);

/** What weft_ide_close() needs next to let the receiver have everything. */
enum weft_ide_close {
	WEFT_IDE_CLOSED, /**< nothing is open: the flit was not written */
	WEFT_IDE_CLOSE_TMAC, /**< @p flit is a whole IDE.TMAC flit: send it; nothing is open now */
	WEFT_IDE_CLOSE_CARRIER /**< the epoch is full, so its MAC must ride in a protocol flit: seal
				    and send an empty one with its MAC slot, then call again */
};

/**
 * End the traffic for now: close the open epoch by IDE.TMAC where the protocol allows it
 * (wire-formats.md section 5.4).
 *
 * @param flit  256 bytes; header, H-slot and the rest are written when the answer is CLOSE_TMAC
 */
enum weft_ide_close weft_ide_close(struct weft_ide_stream *s, uint8_t *flit);

/* --- receiver --- */

/** What one flit did. */
struct weft_ide_event {
	enum weft_verdict verdict; /**< WEFT_OK; _IDE_MAC: this flit's arrival failed an epoch;
					_IDE_INSECURE: the stream had failed before */
	uint8_t release; /**< flits, oldest first, that may go on now: this one and those held */
	uint8_t dropped; /**< held flits, this one included, lost to the failure */
	bool epoch_good; /**< the MAC of an epoch was good */
};

/**
 * Decrypt one flit in place, in order.
 *
 * Containment: a protocol flit is held until the MAC of its epoch is good; a control flit waits
 * behind held ones (order is kept). Skid: everything is released at once. The caller keeps the
 * flits in arrival order and moves on the oldest `release` of them. After a bad, missing or
 * misplaced MAC the stream is Insecure for good: held flits are dropped, later ones too.
 *
 * At most WEFT_IDE_HELD_MAX flits are held, control flits included: more of them between an epoch
 * and its MAC is a failure.
 */
void weft_ide_open(struct weft_ide_stream *s, uint8_t *flit, struct weft_ide_event *e);

#define WEFT_IDE_HELD_MAX 8

/**
 * What a run did, to flits of before and of the run, oldest first: `release` may go on, then
 * `failed` are lost to the epoch that failed, then `insecure` to a stream that had failed before.
 * Of flits in the run that is as many as are live, less those that are held now.
 */
struct weft_ide_run {
	uint8_t release; /**< 0..72 */
	uint8_t failed; /**< 0..9; not 0: an epoch failed in this run */
	uint8_t insecure; /**< 0..64 */
	uint8_t epochs_good; /**< epochs whose MAC was good */
};

/**
 * Decrypt flits that lie back to back: weft_ide_open() for each in turn, faster, and what it says
 * summed up. The two may be mixed.
 *
 * @param flits  up to 64 flits, 256 bytes each
 * @param live   a bit for each flit that arrived; the others are passed over
 */
void weft_ide_open_run(
	struct weft_ide_stream *s, uint8_t *flits, uint64_t live, struct weft_ide_run *run);

/** Flits held now, 0..WEFT_IDE_HELD_MAX. */
unsigned int weft_ide_held(const struct weft_ide_stream *s);

/** Whether the stream went Insecure. */
bool weft_ide_is_insecure(const struct weft_ide_stream *s);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_IDE_H */
