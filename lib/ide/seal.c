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

int
weft_ide_seal(struct weft_ide_stream *s, uint8_t *flit)
{
	const enum ide_kind kind = ide_kind(flit);

	if (kind == IDE_KIND_CONTROL || kind == IDE_KIND_TMAC)
		return 0;
	if ((kind == IDE_KIND_MAC) != s->mac_due)
		return -EPROTO;
	if (s->mac_due) {
		memcpy(flit + IDE_MAC_OFF, s->mac, WEFT_IDE_MAC_LEN);
		s->mac_due = false;
	}
	ide_epoch_seal(s, flit);
	if (ide_epoch_is_full(s)) {
		ide_epoch_end(s, s->mac);
		s->mac_due = true;
	}
	return 0;
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
