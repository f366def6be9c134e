/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What stands in one flit, for who looks at flits that somebody else takes: headers of messages
 * alone, their data passed over by count (wire-formats.md section 4.4).
 */

#include "slots.h"

/* Data and trailers that follow the messages of a header slot; DRS share a trailer. */
static unsigned int
walk_slots_behind(const struct weft_msg *m, unsigned int n)
{
	unsigned int slots = 0, trailers = 0;

	for (unsigned int i = 0; i < n; i++) {
		slots += weft_msg_has_data(&m[i]) ? DATA_SLOTS : 0;
		trailers += weft_msg_has_data(&m[i]) ? m[i].trp : 0;
	}
	if (n != 0 && m[0].kind == WEFT_MSG_S2M_DRS && trailers != 0)
		trailers = 1;
	return slots + trailers;
}

enum weft_verdict
weft_flit_walk(const uint8_t *flit, enum weft_form form, unsigned int *data_slots, weft_msg_fn fn,
	void *arg)
{
	const int llctrl = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM || weft_flit_is_empty(flit))
		return WEFT_OK;
	if (llctrl >= 0) {
		const struct weft_msg m = { .kind = WEFT_MSG_LLCTRL, .op = (uint8_t)llctrl };

		fn(arg, &m);
		if (llctrl != WEFT_LLCTRL_IDE_MAC)
			return WEFT_OK;
	}
	for (unsigned int s = llctrl >= 0; s < WEFT_FLIT_SLOTS; s++) {
		struct weft_msg m[WEFT_MSG_PER_SLOT];
		unsigned int n;

		if (s != 0 && *data_slots != 0) {
			--*data_slots;
			continue;
		}
		if (weft_slot_decode(weft_flit_slot_const(flit, s), s == 0, form, m, &n) !=
			WEFT_OK) {
			*data_slots = 0;
			return WEFT_DROP_SLOT_FORMAT;
		}
		for (unsigned int i = 0; i < n; i++)
			fn(arg, &m[i]);
		*data_slots += walk_slots_behind(m, n);
	}
	return WEFT_OK;
}
