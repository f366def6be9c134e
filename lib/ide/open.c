/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: the receiver. The MAC of a full epoch is worked out when its last flit arrives and compared
 * when the sender's comes: in the first or second protocol flit after it, or the stream has failed.
 * A failed stream stays so; the caller starts another with a new key.
 */

#include "ide_priv.h"

/* Compare in a time that does not tell how much was equal. */
static bool
ide_mac_equal(const uint8_t *a, const uint8_t *b)
{
	return ((weft_get_le64(a) ^ weft_get_le64(b)) |
		       (weft_get_le32(a + 8) ^ weft_get_le32(b + 8))) == 0;
}

static void
open_fail(struct weft_ide_stream *s, struct weft_ide_event *e)
{
	e->verdict = WEFT_DROP_IDE_MAC;
	e->dropped = (uint8_t)(s->hold.n + 1);
	s->hold.n = 0;
	s->hold.tail = 0;
	s->insecure = true;
	ide_note_special(s);
}

/* The epoch before the present one is good: let go what arrived before the present one began. */
static void
open_release_full_epoch(struct weft_ide_stream *s, struct weft_ide_event *e)
{
	e->epoch_good = true;
	e->release = (uint8_t)(s->hold.n - s->hold.tail);
	s->hold.n = s->hold.tail;
	s->mac_due = false;
}

/* Keep this flit after the held ones; with @p tail it belongs to, or follows, the open epoch. */
static bool
open_hold(struct weft_ide_stream *s, bool tail, struct weft_ide_event *e)
{
	if (s->hold.n == WEFT_IDE_HELD_MAX) {
		open_fail(s, e);
		return false;
	}
	s->hold.n++;
	s->hold.tail += tail;
	s->hold.behind += s->late.n > 0;
	return true;
}

/* The MAC of the full epoch is here, or could still be in the flit after this one. */
static bool
open_mac_in_place(struct weft_ide_stream *s, const uint8_t *flit, enum ide_kind kind)
{
	if (kind == IDE_KIND_MAC)
		return s->mac_due && ide_mac_equal(flit + IDE_MAC_OFF, s->mac);
	return !s->mac_due || s->flits == 0;
}

/* The next key, if it may be taken here; a MAC that is due was computed with the old one. */
static void
open_start(struct weft_ide_stream *s)
{
	if (s->flits > 0 || !s->next_key.is_ready)
		s->counts.starts_ignored++;
	else
		ide_take_next_key(s);
}

/* @return whether clear text follows. Poison that waits has no MAC to wait for then. */
static bool
open_stop(struct weft_ide_stream *s, bool after_tmac)
{
	if (!s->has_stop || !after_tmac) {
		s->counts.stops_ignored++;
		return false;
	}
	s->is_stopped = true;
	s->counts.stops++;
	s->late.n = 0;
	s->hold.behind = 0;
	s->hold.tail = 0;
	return true;
}

static void
open_control(struct weft_ide_stream *s, const uint8_t *flit, struct weft_ide_event *e)
{
	const int c = ide_control(flit);
	const bool after_tmac = s->after_tmac;
	bool waits = false, ends = false;

	/* Other protocols' flits may come between IDE.TMAC and IDE.Stop. */
	s->after_tmac = after_tmac && c < 0;
	switch (c) {
	case WEFT_LLCTRL_IDE_IDLE: s->idles.due -= s->idles.due > 0; break;
	case WEFT_LLCTRL_IDE_START: open_start(s); break;
	case WEFT_LLCTRL_IDE_STOP: ends = open_stop(s, after_tmac); break;
	case WEFT_LLCTRL_POISON:
		s->counts.poison++;
		waits = s->mode == WEFT_IDE_CONTAINMENT;
		if ((s->late.is_on || waits) && !ide_poison_wait(s, flit)) {
			open_fail(s, e);
			return;
		}
		break;
	default: break;
	}
	if (ends || (s->hold.n == 0 && !waits)) {
		e->release = (uint8_t)(s->hold.n + 1);
		s->hold.n = 0;
	} else {
		open_hold(s, s->flits > 0 || s->late.n > 0, e);
	}
	ide_note_special(s);
}

/* Clear text, to IDE.Start. A MAC in it is out of place. */
static void
open_stopped(struct weft_ide_stream *s, const uint8_t *flit, enum ide_kind kind,
	struct weft_ide_event *e)
{
	if (kind == IDE_KIND_MAC || kind == IDE_KIND_TMAC) {
		open_fail(s, e);
		return;
	}
	e->release = 1;
	if (ide_control(flit) == WEFT_LLCTRL_IDE_START)
		open_start(s);
	else if (ide_control(flit) == WEFT_LLCTRL_IDE_IDLE)
		s->idles.due -= s->idles.due > 0; /* of the IDE.TMAC in front of IDE.Stop */
	ide_note_special(s);
}

static inline void
open_end_full_epoch(struct weft_ide_stream *s)
{
	if (!ide_epoch_is_full(s))
		return;
	ide_epoch_end(s, s->mac);
	s->mac_due = true;
	s->hold.tail = 0;
}

static void
open_protocol(struct weft_ide_stream *s, uint8_t *flit, enum ide_kind kind, bool in_run,
	struct weft_ide_event *e)
{
	if (!open_mac_in_place(s, flit, kind)) {
		open_fail(s, e);
		return;
	}
	if (kind == IDE_KIND_MAC)
		open_release_full_epoch(s, e);
	if (s->mode == WEFT_IDE_SKID)
		e->release = 1;
	else if (!open_hold(s, true, e))
		return;
	if (s->is_special) {
		s->counts.idles_missing += s->idles.due > 0;
		s->idles.due = 0;
		s->after_tmac = false;
	}
	ide_epoch_flit(s, flit, kind, true, in_run);
	s->is_special = false;
	open_end_full_epoch(s);
}

/* TMAC closes an epoch that is open and not full, and only when no other MAC is due before it. */
static void
open_tmac(struct weft_ide_stream *s, const uint8_t *flit, struct weft_ide_event *e)
{
	uint8_t mac[WEFT_IDE_MAC_LEN];

	if (s->mac_due || s->flits == 0) {
		open_fail(s, e);
		return;
	}
	s->idles.due = ide_truncation_idles(s, s->flits);
	ide_epoch_end(s, mac);
	if (!ide_mac_equal(flit + IDE_MAC_OFF, mac)) {
		open_fail(s, e);
		return;
	}
	e->epoch_good = true;
	if (s->hold.behind == 0) {
		e->release = (uint8_t)(s->hold.n + 1);
		s->hold.n = 0;
		s->hold.tail = 0;
	} else { /* Poison waits for the next epoch's MAC, and what came after it waits too */
		e->release = (uint8_t)(s->hold.n - s->hold.behind);
		s->hold.n = s->hold.behind;
		s->hold.tail = s->hold.behind;
		if (!open_hold(s, true, e))
			return;
	}
	s->after_tmac = true;
	ide_note_special(s);
}

static inline void
open_flit(struct weft_ide_stream *s, uint8_t *flit, bool in_run, struct weft_ide_event *e)
{
	const enum ide_kind kind = ide_kind(flit);

	memset(e, 0, sizeof(*e));
	if (s->insecure) {
		e->verdict = WEFT_DROP_IDE_INSECURE;
		e->dropped = 1;
	} else if (s->is_stopped) {
		open_stopped(s, flit, kind, e);
	} else if (kind == IDE_KIND_TMAC) {
		open_tmac(s, flit, e);
	} else if (kind == IDE_KIND_CONTROL) {
		open_control(s, flit, e);
	} else {
		open_protocol(s, flit, kind, in_run, e);
	}
}

void
weft_ide_open(struct weft_ide_stream *s, uint8_t *flit, struct weft_ide_event *e)
{
	open_flit(s, flit, false, e);
	ide_epoch_flush(s);
}

/* The bits set from bit 0 of @p live, which is set, to the first that is not. */
static inline unsigned int
open_back_to_back(uint64_t live)
{
	return live == UINT64_MAX ? 64 : (unsigned int)__builtin_ctzll(~live);
}

/*
 * Up to @p n protocol flits without IDE.MAC, in a state in which nothing can be wrong with them.
 * @return how many
 */
static inline unsigned int
open_plain(struct weft_ide_stream *s, uint8_t *flits, unsigned int n, struct weft_ide_run *run)
{
	const unsigned int room = WEFT_IDE_HELD_MAX - s->hold.n;

	if (s->is_special || s->mac_due)
		return 0;
	if (s->mode == WEFT_IDE_SKID) {
		n = ide_epoch_plain_flits(s, flits, n, true);
		run->release = (uint8_t)(run->release + n);
	} else {
		n = ide_epoch_plain_flits(s, flits, n < room ? n : room, true);
		s->hold.n += n;
		s->hold.tail += n;
	}
	if (n > 0)
		open_end_full_epoch(s);
	return n;
}

/*
 * Whole epochs of containment, whose MACs are looked at when all are opened. What comes with or
 * after a bad one is closed again: it must not be delivered. @return flits dealt with
 */
static __attribute__((noinline)) unsigned int
open_pairs(struct weft_ide_stream *s, uint8_t *flits, unsigned int n, struct weft_ide_run *run)
{
	uint8_t tag[IDE_PASS_PAIRS][IDE_TAG_LEN];
	unsigned int pairs, i;

	if (!ide_mac_equal(flits + IDE_MAC_OFF, s->mac))
		return 0;
	pairs = ide_epoch_pairs(s, flits, n, true, tag);
	if (pairs == 0)
		return 0;
	run->release = (uint8_t)(run->release + s->hold.n);
	run->epochs_good++;
	s->hold.n = 2;
	s->hold.tail = 0;
	for (i = 1; i < pairs; i++) {
		uint8_t *epoch = flits + 2 * i * (size_t)WEFT_FLIT_LEN;

		if (!ide_mac_equal(epoch + IDE_MAC_OFF, tag[i - 1])) {
			ide_epoch_close_pairs(s, epoch, pairs - i);
			run->failed = (uint8_t)(s->hold.n + 1);
			s->hold.n = 0;
			s->insecure = true;
			s->is_special = true;
			return 2 * i + 1;
		}
		run->release = (uint8_t)(run->release + s->hold.n);
		run->epochs_good++;
	}
	memcpy(s->mac, tag[pairs - 1], WEFT_IDE_MAC_LEN);
	return 2 * pairs;
}

void
weft_ide_open_run(
	struct weft_ide_stream *s, uint8_t *flits, uint64_t live, struct weft_ide_run *run)
{
	memset(run, 0, sizeof(*run));
	while (live != 0) {
		const unsigned int i = (unsigned int)__builtin_ctzll(live);
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		const unsigned int n = open_back_to_back(live >> i);
		unsigned int done = ide_epoch_may_be_paired(s) ? open_pairs(s, flit, n, run) : 0;
		struct weft_ide_event e;

		if (done == 0)
			done = open_plain(s, flit, n, run);
		if (done > 0) {
			live &= ~(weft_mask64(done) << i);
			continue;
		}
		live &= live - 1;
		open_flit(s, flit, true, &e);
		run->release = (uint8_t)(run->release + e.release);
		run->epochs_good = (uint8_t)(run->epochs_good + e.epoch_good);
		if (e.verdict == WEFT_DROP_IDE_MAC)
			run->failed = e.dropped;
		else
			run->insecure = (uint8_t)(run->insecure + e.dropped);
	}
	ide_epoch_flush(s);
}

unsigned int
weft_ide_held(const struct weft_ide_stream *s)
{
	return s->hold.n;
}

bool
weft_ide_is_insecure(const struct weft_ide_stream *s)
{
	return s->insecure;
}
