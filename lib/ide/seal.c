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

static inline void
end_full_epoch(struct weft_ide_stream *s)
{
	if (!ide_epoch_is_full(s))
		return;
	ide_epoch_end(s, s->mac);
	s->mac_due = true;
}

static inline int
seal_flit(struct weft_ide_stream *s, uint8_t *flit, bool in_run)
{
	const enum ide_kind kind = ide_kind(flit);

	if (kind == IDE_KIND_CONTROL || kind == IDE_KIND_TMAC)
		return 0;
	if ((kind == IDE_KIND_MAC) != s->mac_due)
		return -EPROTO;
	if (s->mac_due && !ide_epoch_starts_in_one_pass(s, in_run))
		memcpy(flit + IDE_MAC_OFF, s->mac, WEFT_IDE_MAC_LEN);
	s->mac_due = false;
	ide_epoch_flit(s, flit, kind, false, in_run);
	end_full_epoch(s);
	return 0;
}

int
weft_ide_seal(struct weft_ide_stream *s, uint8_t *flit)
{
	int ret = seal_flit(s, flit, false);

	ide_epoch_flush(s);
	return ret;
}

/* Whole epochs of containment. @return flits sealed */
static __attribute__((noinline)) unsigned int
seal_pairs(struct weft_ide_stream *s, uint8_t *flits, unsigned int n)
{
	uint8_t tag[IDE_PASS_PAIRS][IDE_TAG_LEN];
	unsigned int pairs;

	pairs = ide_epoch_pairs(s, flits, n, false, tag);
	/* Each MAC rides in the epoch behind. */
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

		if (ide_epoch_may_be_paired(s)) {
			const unsigned int paired = seal_pairs(s, flit, n - i);

			i += paired;
			if (paired > 0)
				continue;
		}
		plain = s->mac_due ? 0 : ide_epoch_plain_flits(s, flit, n - i, false);
		if (plain > 0)
			end_full_epoch(s);
		else if (seal_flit(s, flit, true) != 0)
			break;
		i += plain > 0 ? plain : 1;
	}
	ide_epoch_flush(s);
	return i;
}

enum weft_ide_close
weft_ide_close(struct weft_ide_stream *s, uint8_t *flit)
{
	/* An epoch is open, so the flit before this one was payload. */
	const struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM, .prior_payload = true };
	uint8_t mac[WEFT_IDE_MAC_LEN];

	if (s->mac_due)
		return WEFT_IDE_CLOSE_CARRIER;
	if (s->flits == 0)
		return WEFT_IDE_CLOSED;
	ide_epoch_end(s, mac);
	memset(flit, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_llctrl_put(flit, WEFT_LLCTRL_IDE_TMAC, mac);
	return WEFT_IDE_CLOSE_TMAC;
}
