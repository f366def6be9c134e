/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Event records (fabric.md 4.5). */

#include "weft_cci_event.h"

const uint8_t weft_cci_event_uuid[WEFT_CCI_EVENT_END][16] = {
	[WEFT_CCI_EVENT_PHYSICAL_SWITCH] = { 0x77, 0xcf, 0x92, 0x71, 0x9c, 0x02, 0x47, 0x0b, 0x9f,
		0xe4, 0xbc, 0x7b, 0x75, 0xf2, 0xda, 0x97 },
	[WEFT_CCI_EVENT_VIRTUAL_SWITCH] = { 0x40, 0xd2, 0x64, 0x25, 0x33, 0x96, 0x4c, 0x4d, 0xa5,
		0xda, 0x3d, 0x47, 0x26, 0x3a, 0xf4, 0x25 },
	[WEFT_CCI_EVENT_MLD_PORT] = { 0x8d, 0xc4, 0x43, 0x63, 0x0c, 0x96, 0x47, 0x10, 0xb7, 0xbf,
		0x04, 0xbb, 0x99, 0x53, 0x4c, 0x3f },
	[WEFT_CCI_EVENT_DYNAMIC_CAPACITY] = { 0xca, 0x95, 0xaf, 0xa7, 0xf1, 0x83, 0x40, 0x18, 0x8c,
		0x2f, 0x95, 0x26, 0x8e, 0x10, 0x1a, 0x2a },
};

const uint8_t weft_cci_cel_uuid[16] = { 0x0d, 0xa9, 0xc0, 0xb5, 0xbf, 0x41, 0x4b, 0x78, 0x8f, 0x79,
	0x96, 0xb1, 0x62, 0x3b, 0x3f, 0x17 };

enum weft_cci_event
weft_cci_event_kind(const struct weft_cci_record *r)
{
	unsigned int kind = 0;

	while (kind < WEFT_CCI_EVENT_END &&
		memcmp(r->uuid, weft_cci_event_uuid[kind], sizeof(r->uuid)) != 0)
		kind++;
	return (enum weft_cci_event)kind;
}

void
weft_cci_port_event(struct weft_cci_record *r, const struct weft_cci_port_block *block,
	uint8_t what, uint64_t ts)
{
	const struct weft_cci_physical_switch_event e = { .port = block->port,
		.what = what,
		.state = block->state,
		.mode = block->mode,
		.type = block->type,
		.modes = block->modes,
		.maxw = block->maxw,
		.negw = block->negw,
		.speeds = block->speeds,
		.maxs = block->maxs,
		.curs = block->curs,
		.ltssm = block->ltssm,
		.lane = block->lane,
		.flags = block->flags,
		.ld = block->ld };

	memset(r, 0, sizeof(*r));
	memcpy(r->uuid, weft_cci_event_uuid[WEFT_CCI_EVENT_PHYSICAL_SWITCH], sizeof(r->uuid));
	r->length = WEFT_CCI_RECORD_LEN;
	r->ts = ts;
	weft_cci_put_physical_switch_event(r->data, 0, &e);
}
