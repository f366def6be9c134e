/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Packs messages into flits: header slots in order, data right after its header and on into the
 * next flit, never more of a kind in two neighbouring slot groups than wire-formats.md section 4.4
 * allows. Messages without data that come in a row share a slot; a data header has a slot of its
 * own, so that its data can follow at once.
 */

#include <errno.h>

#include "slots.h"

/* Most messages of a kind in two neighbouring slot groups. */
static const uint8_t per_groups_max[WEFT_MSG_LLCTRL] = {
	[WEFT_MSG_D2H_REQ] = 4,
	[WEFT_MSG_D2H_RSP] = 4,
	[WEFT_MSG_D2H_DH] = 4,
	[WEFT_MSG_S2M_BISNP] = 2,
	[WEFT_MSG_S2M_NDR] = 6,
	[WEFT_MSG_S2M_DRS] = 3,
	[WEFT_MSG_H2D_REQ] = 2,
	[WEFT_MSG_H2D_RSP] = 6,
	[WEFT_MSG_H2D_DH] = 4,
	[WEFT_MSG_M2S_REQ] = 4,
	[WEFT_MSG_M2S_RWD] = 2,
	[WEFT_MSG_M2S_BIRSP] = 3,
};

unsigned int
weft_pack_limit(enum weft_msg_kind kind)
{
	return (unsigned int)kind < WEFT_MSG_LLCTRL ? per_groups_max[kind] : 0;
}

void
weft_pack_init(struct weft_packer *p, enum weft_form form)
{
	memset(p, 0, offsetof(struct weft_packer, data));
	p->form = (uint8_t)form;
}

/* Let waiting data slots into the G-slots that are free. */
static void
pack_place_data(struct weft_packer *p)
{
	for (; p->n_data != 0 && p->slot < WEFT_FLIT_SLOTS; p->slot++, p->n_data--) {
		memcpy(weft_flit_slot(p->flit, p->slot), p->data[p->data_head], WEFT_FLIT_SLOT_LEN);
		p->data_head++;
		p->used = true;
	}
}

void
weft_pack_begin(struct weft_packer *p, uint8_t *flit, bool with_mac)
{
	static const uint8_t no_mac[WEFT_LLCTRL_PAYLOAD_LEN];
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM, .prior_payload = p->sent_any };

	memset(flit, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	if (with_mac)
		weft_llctrl_put(flit, WEFT_LLCTRL_IDE_MAC, no_mac);
	memcpy(p->per_group[0], p->per_group[4], sizeof(p->per_group[0]));
	memset(p->per_group[1], 0, 4 * sizeof(p->per_group[1]));
	p->flit = flit;
	p->slot = 1;
	p->h_free = !with_mac;
	p->used = false;
	p->join_room = 0;
	pack_place_data(p);
}

static void
pack_put_slot(struct weft_packer *p, const uint8_t *slot)
{
	if (p->slot < WEFT_FLIT_SLOTS)
		memcpy(weft_flit_slot(p->flit, p->slot++), slot, WEFT_FLIT_SLOT_LEN);
	else
		memcpy(p->data[p->n_data++], slot, WEFT_FLIT_SLOT_LEN);
}

/* Into the slots behind the header; what has no room waits for the next flit. */
static void
pack_data(struct weft_packer *p, const struct weft_msg *m)
{
	uint8_t trailer[WEFT_FLIT_SLOT_LEN];

	/*
	 * The slots of the message before are all placed: else this flit is full, or else it has
	 * just begun and took in the few slots that waited. So at most five ever wait, and the
	 * limit of 16 for a data header in the H-slot is kept without a look.
	 */
	assert(p->n_data == 0);
	p->data_head = 0;
	if (p->slot + DATA_SLOTS <= WEFT_FLIT_SLOTS) {
		memcpy(weft_flit_slot(p->flit, p->slot), m->data, WEFT_MSG_DATA_LEN);
		p->slot = (uint8_t)(p->slot + DATA_SLOTS);
	} else {
		for (unsigned int i = 0; i < DATA_SLOTS; i++)
			pack_put_slot(p, m->data + i * WEFT_FLIT_SLOT_LEN);
	}
	if (m->kind == WEFT_MSG_H2D_DH || !m->trp)
		return;
	memset(trailer, 0, sizeof(trailer));
	if (slot_trailer_has_enables(m))
		weft_put_le64(trailer, m->byte_enables);
	if (m->kind != WEFT_MSG_D2H_DH)
		weft_put_le32(trailer + (slot_trailer_has_enables(m) ? 8 : 0), m->emd);
	pack_put_slot(p, trailer);
}

static bool
pack_group_has_room(const struct weft_packer *p, unsigned int kind, unsigned int slot)
{
	unsigned int g = slot_group(slot) + 1;

	return p->per_group[g - 1][kind] + p->per_group[g][kind] < per_groups_max[kind];
}

static void
pack_count(struct weft_packer *p, unsigned int kind, unsigned int slot)
{
	p->per_group[slot_group(slot) + 1][kind]++;
	p->used = true;
}

/* Put message @p i of header slot @p slot there: 0, or an errno value and the flit unchanged. */
static inline __attribute__((always_inline)) int
pack_header(struct weft_packer *p, const struct weft_msg *m, unsigned int slot, unsigned int i)
{
	uint8_t *at = weft_flit_slot(p->flit, slot);
	struct slot_bits b = { slot_fmts[m->kind], 0 };

	if (i != 0)
		b = slot_load(at, slot == 0);
	if (!slot_add(&b, &slot_codecs[m->kind][p->form], m, i))
		return -EINVAL;
	if (!slot_store(at, slot == 0, &b))
		return -ENOSPC;
	pack_count(p, m->kind, slot);
	return 0;
}

/* Put a message into the last header slot beside others of its kind. */
static bool
pack_join(struct weft_packer *p, const struct weft_msg *m)
{
	if (p->join_kind != m->kind || !pack_group_has_room(p, m->kind, p->join_slot) ||
		pack_header(p, m, p->join_slot, p->n_join) != 0)
		return false;
	p->n_join++;
	p->join_room--;
	return true;
}

/* Put a message into a header slot of its own; the slot is free and its group has room. */
static inline __attribute__((always_inline)) int
pack_slot(struct weft_packer *p, const struct weft_msg *m, unsigned int slot)
{
	const int rc = pack_header(p, m, slot, 0);

	if (rc != 0)
		return rc;
	p->h_free = false;
	if (slot != 0)
		p->slot = (uint8_t)(slot + 1);
	p->join_room = 0;
	if (slot_kind_has_data(m->kind)) {
		pack_data(p, m);
		return 0;
	}
	p->join_kind = m->kind;
	p->join_slot = (uint8_t)slot;
	p->n_join = 1;
	p->join_room = (uint8_t)(slot_formats[p->form][slot == 0][slot_fmts[m->kind]].n - 1);
	return 0;
}

static int
pack_try_h(struct weft_packer *p, const struct weft_msg *m)
{
	if (!p->h_free || !pack_group_has_room(p, m->kind, 0))
		return -ENOSPC;
	return pack_slot(p, m, 0);
}

static int
pack_try_g(struct weft_packer *p, const struct weft_msg *m)
{
	unsigned int slot = p->slot;

	/* A full pair of groups: leave the rest of this group empty and look at the next. */
	while (slot < WEFT_FLIT_SLOTS && !pack_group_has_room(p, m->kind, slot))
		slot = (slot_group(slot) + 1) * 4;
	return slot < WEFT_FLIT_SLOTS ? pack_slot(p, m, slot) : -ENOSPC;
}

int
weft_pack_msg(struct weft_packer *p, const struct weft_msg *m)
{
	int rc;

	assert(p->flit != NULL);
	if (m->kind >= WEFT_MSG_LLCTRL)
		return -EINVAL;
	if (p->join_room != 0 && pack_join(p, m))
		return 0;
	rc = pack_try_h(p, m);
	return rc == -ENOSPC ? pack_try_g(p, m) : rc;
}

bool
weft_pack_end(struct weft_packer *p)
{
	assert(p->flit != NULL);
	p->flit = NULL;
	p->sent_any = true;
	return p->n_data != 0;
}

bool
weft_pack_waits(const struct weft_packer *p)
{
	return p->n_data != 0;
}

bool
weft_pack_used(const struct weft_packer *p)
{
	return p->used;
}
