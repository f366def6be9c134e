/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: the sender. A full epoch's MAC goes out in the very next protocol flit, the earlier of the
 * two places that are allowed, so a MAC is due only while the epoch after it is empty.
 */

#include "ide_priv.h"

#include <errno.h>

bool
weft_ide_mac_due(const struct weft_ide_stream *s)
{
	return s->mac_due;
}

/* With late poison the epoch stays open-ended, because its last flit may get Poison yet. */
static inline void
seal_end_full_epoch(struct weft_ide_stream *s)
{
	if (!ide_epoch_is_full(s))
		return;
	s->mac_due = true;
	if (s->late.is_on) {
		s->is_open_ended = true;
		s->is_special = true;
		return;
	}
	ide_epoch_end(s, s->mac);
}

/* Now the MAC must go out: nothing can be added to its epoch any more. */
static void
seal_settle(struct weft_ide_stream *s)
{
	if (!s->is_open_ended)
		return;
	ide_epoch_end(s, s->mac);
	s->is_open_ended = false;
}

static int
seal_control(struct weft_ide_stream *s, const uint8_t *flit)
{
	const int c = ide_control(flit);

	/* A receiver of containment holds Poison for the next flit, so that one has to come. */
	if (c == WEFT_LLCTRL_POISON && (s->late.is_on || s->mode == WEFT_IDE_CONTAINMENT)) {
		if (!ide_poison_wait(s, flit))
			return -ENOBUFS;
		s->counts.poison += s->late.is_on;
	}
	if (c == WEFT_LLCTRL_IDE_IDLE && s->idles.due > 0)
		s->idles.due--;
	if (c >= 0)
		s->after_tmac = false;
	ide_note_special(s);
	return 0;
}

static inline int
seal_flit(struct weft_ide_stream *s, uint8_t *flit, bool in_run)
{
	const enum ide_kind kind = ide_kind(flit);

	if (s->is_stopped)
		return kind == IDE_KIND_MAC ? -EPROTO : 0;
	if (kind == IDE_KIND_CONTROL || kind == IDE_KIND_TMAC)
		return seal_control(s, flit);
	if ((kind == IDE_KIND_MAC) != s->mac_due)
		return -EPROTO;
	if (weft_flit_is_empty(flit))
		return -EINVAL;
	if (s->is_special) {
		if (s->idles.due > 0)
			return -EAGAIN;
		seal_settle(s);
		s->after_tmac = false;
	}
	if (s->mac_due && !ide_epoch_starts_in_one_pass(s, in_run))
		memcpy(flit + IDE_MAC_OFF, s->mac, WEFT_IDE_MAC_LEN);
	s->mac_due = false;
	ide_epoch_flit(s, flit, kind, false, in_run);
	s->is_special = false;
	seal_end_full_epoch(s);
	return 0;
}

int
weft_ide_seal(struct weft_ide_stream *s, uint8_t *flit)
{
	int ret = seal_flit(s, flit, false);

	ide_epoch_flush(s);
	return ret;
}

/* So that an epoch that is open-ended keeps no run from the short way. */
static void
seal_settle_before(struct weft_ide_stream *s, const uint8_t *flit)
{
	if (!s->is_open_ended || ide_kind(flit) != IDE_KIND_MAC || weft_flit_is_empty(flit))
		return;
	seal_settle(s);
	ide_note_special(s);
}

/* Whole epochs of containment. @return flits sealed */
static __attribute__((noinline)) unsigned int
seal_pairs(struct weft_ide_stream *s, uint8_t *flits, unsigned int n)
{
	uint8_t tag[IDE_PASS_PAIRS][IDE_TAG_LEN];
	unsigned int pairs;

	pairs = ide_epoch_pairs(s, flits, n, false, tag);
	/* Each MAC rides in the next epoch. */
	for (unsigned int i = 0; i < pairs; i++) {
		memcpy(flits + 2 * i * (size_t)WEFT_FLIT_LEN + IDE_MAC_OFF, s->mac,
			WEFT_IDE_MAC_LEN);
		memcpy(s->mac, tag[i], WEFT_IDE_MAC_LEN);
	}
	return 2 * pairs;
}

unsigned int
weft_ide_seal_run(struct weft_ide_stream *s, uint8_t *flits, unsigned int n)
{
	unsigned int i = 0, plain;

	while (i < n) {
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;

		if (s->is_special)
			seal_settle_before(s, flit);
		if (ide_epoch_may_be_paired(s)) {
			const unsigned int paired = seal_pairs(s, flit, n - i);

			i += paired;
			if (paired > 0)
				continue;
		}
		plain = s->mac_due ? 0 : ide_epoch_plain_flits(s, flit, n - i, false);
		if (plain > 0)
			seal_end_full_epoch(s);
		else if (seal_flit(s, flit, true) != 0)
			break;
		i += plain > 0 ? plain : 1;
	}
	ide_epoch_flush(s);
	return i;
}

/* Write a control flit. An epoch is open or was, so the flit before it was payload. */
static void
seal_make_control(uint8_t *flit, enum weft_llctrl c, const uint8_t *payload)
{
	const struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM, .prior_payload = true };

	memset(flit, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_llctrl_put(flit, c, payload);
}

static const uint8_t no_payload[WEFT_LLCTRL_PAYLOAD_LEN];

enum weft_ide_close
weft_ide_close(struct weft_ide_stream *s, uint8_t *flit)
{
	uint8_t mac[WEFT_IDE_MAC_LEN];

	if (s->mac_due || s->late.n > 0)
		return WEFT_IDE_CLOSE_CARRIER;
	if (s->flits == 0)
		return WEFT_IDE_CLOSED;
	s->idles.due = ide_truncation_idles(s, s->flits);
	ide_epoch_end(s, mac);
	seal_make_control(flit, WEFT_LLCTRL_IDE_TMAC, mac);
	s->after_tmac = true;
	ide_note_special(s);
	return WEFT_IDE_CLOSE_TMAC;
}

unsigned int
weft_ide_idles_due(const struct weft_ide_stream *s)
{
	return s->idles.due;
}

void
weft_ide_idle(struct weft_ide_stream *s, uint8_t *flit)
{
	seal_make_control(flit, WEFT_LLCTRL_IDE_IDLE, no_payload);
	seal_control(s, flit);
}

int
weft_ide_start(struct weft_ide_stream *s, uint8_t *flit)
{
	/* With counter 1 no epoch has ended since the last change of keys. */
	const bool is_mac_of_key_before = s->mac_due && !s->is_open_ended && s->counter == 1;
	/* What the receiver will hold for the MAC: an epoch, this flit, the idles. */
	const unsigned int to_hold =
		s->mac_due ? weft_ide_epoch_flits(s->mode) + 1 + s->idles.refresh : 0;

	if (!s->next_key.is_ready)
		return -ENOKEY;
	if ((s->flits > 0 && !s->is_open_ended) || is_mac_of_key_before ||
		(s->mode == WEFT_IDE_CONTAINMENT && to_hold > WEFT_IDE_HELD_MAX))
		return -EBUSY;
	seal_settle(s);
	ide_take_next_key(s);
	if (s->idles.due < s->idles.refresh)
		s->idles.due = s->idles.refresh;
	seal_make_control(flit, WEFT_LLCTRL_IDE_START, no_payload);
	s->after_tmac = false;
	ide_note_special(s);
	return 0;
}

int
weft_ide_stop(struct weft_ide_stream *s, uint8_t *flit)
{
	if (!s->has_stop)
		return -EPERM;
	if (!s->after_tmac)
		return -EPROTO;
	s->is_stopped = true;
	s->counts.stops++;
	seal_make_control(flit, WEFT_LLCTRL_IDE_STOP, no_payload);
	s->after_tmac = false;
	ide_note_special(s);
	return 0;
}

void
weft_ide_poison_put(uint8_t *flit, uint8_t offset)
{
	const uint8_t payload[WEFT_LLCTRL_PAYLOAD_LEN] = { offset };

	seal_make_control(flit, WEFT_LLCTRL_POISON, payload);
}

int
weft_ide_poison_last(
	struct weft_ide_stream *s, enum weft_ide_spoilt how, uint8_t offset, uint8_t *flit)
{
	if (offset >= 8)
		return -EINVAL;
	if (!s->is_stopped) {
		if (how != WEFT_IDE_SPOILT_CRC)
			return -ENOTSUP;
		if (s->late.is_on && s->flits == 0)
			return -EALREADY;
		if (s->late.is_on && s->late.last == WEFT_IDE_POISON_MAX)
			return -ENOBUFS;
		if (s->late.is_on)
			ide_poison_insert(s, offset);
	}
	weft_ide_poison_put(flit, offset);
	return 0;
}
