/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE for CXL.cachemem, 256 B mode: AES-256-GCM over MAC epochs of 2 (containment) or 32 (skid)
 * protocol flits, one stream a direction of a link or connection (wire-formats.md section 5). The
 * 96-bit MAC of an epoch rides in an IDE.MAC slot of the first or second protocol flit after it; an
 * epoch ended early is closed by IDE.TMAC. IDE.Start changes the key in flight, IDE.Stop ends
 * protection, and late poison may be authenticated. gcm.c is the one file that knows
 * intel-ipsec-mb.
 *
 * Words of epochs:
 *
 *   1. A stream is one direction of a link or connection at one end: a key, a counter, an epoch.
 *   2. A protocol flit has a protocol header or IDE.MAC in slot 0. Only protocol flits are
 *      protected and counted in epochs; control flits and NOPs pass in the clear.
 *   3. An epoch is one GCM message. It is full after 2 or 32 protocol flits, or truncated by
 *      IDE.TMAC. Its counter is in the IV, and no counter is used twice with a key.
 *   4. The MAC of a full epoch is due from its last flit on, and must come in the first or second
 *      protocol flit after it.
 *   5. Containment delivers the flits of an epoch once its MAC was good. Skid delivers each at
 *      once; a bad MAC is found after.
 *   6. A failure makes the receiver's stream insecure: it drops what it holds and all that follows.
 *      The way back is another stream with another key.
 *   7. PCRC is a CRC of the epoch's plaintext; it enters the MAC and is not sent.
 *   8. The flit CRC is made over ciphertext, so switches and retry need no key.
 */
#ifndef WEFT_IDE_H
#define WEFT_IDE_H

#include "weft_base.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_IDE_KEY_LEN 32
#define WEFT_IDE_MAC_LEN 12
#define WEFT_IDE_EPOCH_MAX 32
/**
 * Poison flits in front of one protocol flit: each names a data message that is in transfer, by an
 * offset of 0..7, so a ninth would say nothing (wire-formats.md section 4.6). An epoch may have so
 * many in front of each of its protocol flits.
 */
#define WEFT_IDE_POISON_MAX 8

enum weft_ide_mode { WEFT_IDE_OFF, WEFT_IDE_CONTAINMENT, WEFT_IDE_SKID };

/** "off", "containment", "skid". */
extern const char *const weft_ide_mode_words[];

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

/**
 * Name of the kernel for runs, such as "vaes512"; "none": runs go flit by flit. Constant string.
 */
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

/** Where the slots of a flit are (wire-formats.md section 1.1). PBR flits are as Standard ones. */
enum weft_ide_format { WEFT_IDE_STANDARD, WEFT_IDE_LOPT };

/** Of weft_ide_config.poison: "open", "protected". */
extern const char *const weft_ide_poison_words[];

/** Configuration: both ends must agree on it (weft_ide_regs.h compares), pauses aside. */
struct weft_ide_config {
	enum weft_ide_mode mode; /**< containment or skid */
	enum weft_ide_format format;
	bool pcrc; /**< IDE Control bit 0 clear: append the plaintext CRC */
	bool stop; /**< bit 1: IDE.Stop is made and obeyed */
	bool poison; /**< bit 2: LLCTRL Poison in the H-slot is authenticated */
	/**
	 * Tx Truncation Transmit Delay, flits: after IDE.TMAC of an epoch with n flits the sender
	 * sends min(epoch - n, this) IDE.Idle flits; a receiver with more than 0 here counts
	 * protocol flits that came before.
	 */
	uint8_t truncation_delay;
	uint8_t refresh_idles; /**< Tx Key Refresh Time, flits: IDE.Idle after IDE.Start; sender */
};

/**
 * weft_ide_stream_init() with every parameter.
 *
 * @param mem, lib, key, counter  as there
 * @param cfg                     copied
 * @return the stream (in @p mem); NULL for a mode of OFF, a format that does not exist, or memory
 *         that is not aligned
 */
struct weft_ide_stream *weft_ide_stream_setup(void *mem, struct weft_ide_lib *lib,
	const struct weft_ide_config *cfg, const uint8_t *key, uint64_t counter);

/**
 * Have the next key ready (CXL_KEY_PROG and CXL_K_SET_GO): it is taken, with counter 1, at the next
 * IDE.Start. One that waited already is replaced.
 *
 * @param key  32 bytes; not kept in this form
 */
void weft_ide_stream_next_key(
	struct weft_ide_stream *s, struct weft_ide_lib *lib, const uint8_t *key);

/** True if a key waits for IDE.Start. False once it was taken. */
bool weft_ide_has_next_key(const struct weft_ide_stream *s);

/**
 * Counter of the epoch that is open, or of the next one: keys must be changed long before
 * UINT64_MAX. The stream itself does not watch it.
 */
uint64_t weft_ide_counter(const struct weft_ide_stream *s);

/** True if IDE.Stop was sent or obeyed: flits pass in the clear until IDE.Start. */
bool weft_ide_is_stopped(const struct weft_ide_stream *s);

/** Since the stream was set up. */
struct weft_ide_counts {
	uint64_t starts; /**< IDE.Start sent or obeyed */
	uint64_t stops; /**< IDE.Stop sent or obeyed */
	/**
	 * Poison in H-slots. Sender: authenticated, or to be. Receiver: that came in a protected
	 * state, authenticated or not.
	 */
	uint64_t poison;
	uint64_t starts_ignored; /**< receiver: inside an epoch, or without a key that waits */
	uint64_t stops_ignored; /**< receiver: not enabled, or not right after a valid IDE.TMAC */
	uint64_t idles_missing; /**< receiver: protocol flits before the idles after IDE.TMAC */
};

/** The stream's counts; they live as long as it. */
const struct weft_ide_counts *weft_ide_counts(const struct weft_ide_stream *s);

/** Wipe the key material. The memory is the caller's again. */
void weft_ide_stream_wipe(struct weft_ide_stream *s);

/* --- sender --- */

/**
 * True if the next protocol flit must have its slot 0 kept for IDE.MAC (weft_pack_begin's
 * with_mac): the MAC of the epoch before it is due.
 */
bool weft_ide_mac_due(const struct weft_ide_stream *s);

/**
 * Encrypt one flit in place, in transmission order. A protocol flit joins the epoch (and carries
 * the MAC due, if any); a control flit passes in the clear. With config.poison, Poison in the
 * H-slot joins the additional data in front of the next protocol flit's (section 5.1). IDE.TMAC,
 * IDE.Start and IDE.Stop come from calls of their own; here they only pass.
 *
 * @param flit  256 bytes; header, CRC and FEC are not touched
 * @return 0, or nothing is changed: -EPROTO if a MAC is due and slot 0 is not IDE.MAC, or the other
 *         way round; -EINVAL for the Empty encoding, not used while IDE is on; -EAGAIN if IDE.Idle
 *         flits are due first (weft_ide_idles_due()); -ENOBUFS for a Poison flit too many
 */
int weft_ide_seal(struct weft_ide_stream *s, uint8_t *flit);

/**
 * Seal flits that lie back to back: weft_ide_seal() for each in turn, faster. The two may be mixed.
 *
 * @param flits  n * 256 bytes
 * @return n; fewer if flits[that many] is one that weft_ide_seal() answers with an error: those
 *         before it are sealed, it and those after it are not changed
 */
unsigned int weft_ide_seal_run(struct weft_ide_stream *s, uint8_t *flits, unsigned int n);

/** Next flit that weft_ide_close() needs to let the receiver have everything. */
enum weft_ide_close {
	WEFT_IDE_CLOSED, /**< nothing is open: the flit was not written */
	WEFT_IDE_CLOSE_TMAC, /**< @p flit is a whole IDE.TMAC flit: send it; nothing is open now */
	WEFT_IDE_CLOSE_CARRIER /**< the epoch is full, so its MAC must ride in a protocol flit, or
				    Poison waits for one: seal and send one without messages, with
				    a MAC slot if weft_ide_mac_due(), then call again */
};

/**
 * End the traffic for now: close the open epoch by IDE.TMAC where the protocol allows it
 * (wire-formats.md section 5.4).
 *
 * @param flit  256 bytes; header, H-slot and the rest are written when the answer is CLOSE_TMAC
 */
enum weft_ide_close weft_ide_close(struct weft_ide_stream *s, uint8_t *flit);

/** IDE.Idle flits to send before the next protocol flit, after IDE.TMAC or IDE.Start. */
unsigned int weft_ide_idles_due(const struct weft_ide_stream *s);

/** Write an IDE.Idle flit, 256 bytes, and count it as sent. */
void weft_ide_idle(struct weft_ide_stream *s, uint8_t *flit);

/**
 * Change the key: write the IDE.Start flit. What is sealed from now on uses the next key, with
 * counter 1; a MAC that is still due is one of the old key. Best right after IDE.TMAC.
 *
 * @param flit  256 bytes
 * @return 0, or nothing is changed: -ENOKEY without a next key; -EBUSY inside an epoch
 *         (weft_ide_close() first), while a MAC of the key before is due, or if the receiver would
 *         have to hold too many idles for a MAC that is due (send it first)
 */
int weft_ide_start(struct weft_ide_stream *s, uint8_t *flit);

/**
 * End protection: write the IDE.Stop flit. Flits pass in the clear from now on.
 *
 * @param flit  256 bytes
 * @return 0, or nothing is changed: -EPERM without config.stop; -EPROTO if the call before was not
 *         a weft_ide_close() that made IDE.TMAC; only flits of other protocols may lie between
 */
int weft_ide_stop(struct weft_ide_stream *s, uint8_t *flit);

/** Which CRC the sender spoiled to force a replay (section 4.6). */
enum weft_ide_spoilt {
	WEFT_IDE_SPOILT_CRC, /**< of the flit, or of the first half of an LOpt flit */
	WEFT_IDE_SPOILT_SECOND_HALF /**< of an LOpt flit: cannot be while IDE is on */
};

/**
 * Late poison by CRC corruption: write the Poison flit that goes in front of the protocol flit
 * sealed last, which was sent once with a bad CRC and is sent again as it is, ciphertext unchanged.
 * With config.poison the epoch authenticates it, in that place. Until the next protocol flit,
 * IDE.TMAC or IDE.Start the epoch's MAC is not computed, so no two MACs have one IV.
 *
 * @param how     the CRC that was bad
 * @param offset  payload: which data message, 0..7
 * @param flit    256 bytes; not to be sealed
 * @return 0, or nothing is changed: -EINVAL for an offset out of range; -ENOTSUP for the second
 *         half's CRC; -EALREADY if no protocol flit is in the open epoch or its MAC is gone;
 *         -ENOBUFS for a Poison flit too many
 */
int weft_ide_poison_last(
	struct weft_ide_stream *s, enum weft_ide_spoilt how, uint8_t offset, uint8_t *flit);

/** Write a Poison flit, 256 bytes, for weft_ide_seal(). @p offset 0..7: which data message. */
void weft_ide_poison_put(uint8_t *flit, uint8_t offset);

/* --- receiver --- */

/** Result of one flit. */
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
 * Containment: a protocol flit is held until the MAC of its epoch is good, and so is Poison ahead
 * of it, authenticated or not; another control flit waits after held ones (order is kept). Skid:
 * everything is released at once. The caller keeps the flits in arrival order and moves on the
 * oldest `release` of them. After a bad, missing or misplaced MAC the stream is Insecure for good:
 * held flits are dropped, later ones too.
 *
 * IDE.Start outside an epoch takes the next key. IDE.Stop right after a valid IDE.TMAC, if
 * config.stop, ends protection; an IDE.MAC or IDE.TMAC in clear text is a failure. Elsewhere they
 * are ignored and counted, and go on as any control flit does.
 *
 * At most WEFT_IDE_HELD_MAX flits are held, control flits included: more of them between an epoch
 * and its MAC is a failure, and so is Poison beyond WEFT_IDE_POISON_MAX in front of a protocol
 * flit.
 */
void weft_ide_open(struct weft_ide_stream *s, uint8_t *flit, struct weft_ide_event *e);

/*
 * Containment: an epoch of two flits and the one that may come before its MAC, each with all the
 * Poison that there can be in front of it, Poison in front of the flit with the MAC, and five other
 * control flits.
 */
#define WEFT_IDE_HELD_MAX (3 * (1 + WEFT_IDE_POISON_MAX) + WEFT_IDE_POISON_MAX + 5)

/**
 * What a run did, to flits of before and of the run, oldest first: `release` may go on, then
 * `failed` are lost to the epoch that failed, then `insecure` to a stream that had failed before.
 * Of flits in the run that is as many as are live, less those that are held now.
 */
struct weft_ide_run {
	uint8_t release; /**< 0..64 + WEFT_IDE_HELD_MAX */
	uint8_t failed; /**< 0..WEFT_IDE_HELD_MAX + 1; not 0: an epoch failed in this run */
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

/** True if the stream went Insecure. */
bool weft_ide_is_insecure(const struct weft_ide_stream *s);

WEFT_END_DECLS

#endif /* WEFT_IDE_H */
