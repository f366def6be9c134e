/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Random CXL.mem traffic: reads, writes, their answers, in the mix of a busy link. The last flits
 * of a trace are kept for loose ends: data still to come, the MAC of the last epoch.
 */

#include "source.h"

#define LAST_FLITS 3 /* data left over, a carrier for the MAC, IDE.TMAC */

void
source_init(struct source *s, struct weft_rand *rand, enum weft_form form, uint16_t spid,
	uint16_t dpid, const struct source_ide *ide)
{
	memset(s, 0, sizeof(*s));
	s->rand = rand;
	s->form = form;
	s->spid = spid;
	s->dpid = dpid;
	weft_pack_init(&s->pack, form);
	s->ide = *ide;
	weft_rand_seed(&s->chance, ide->seed);
	weft_ide_pace_init(&s->pace, ide->mode);
}

static void
source_message_ids(struct source *s, struct weft_msg *m)
{
	bool is_request = m->kind == WEFT_MSG_M2S_REQ || m->kind == WEFT_MSG_M2S_RWD;

	m->tag = s->tag++;
	if (s->form == WEFT_FORM_HBR) {
		m->ld_id = (uint8_t)weft_rand_below(s->rand, 16);
		return;
	}
	m->dpid = s->dpid;
	m->spid = is_request ? s->spid : 0;
}

static void
source_draw_message(struct source *s, struct weft_msg *m)
{
	static const uint8_t kinds[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD,
		WEFT_MSG_S2M_NDR, WEFT_MSG_S2M_NDR, WEFT_MSG_S2M_DRS };

	memset(m, 0, sizeof(*m));
	m->kind = kinds[weft_rand_below(s->rand, WEFT_ARRAY_SIZE(kinds))];
	m->meta_field = WEFT_META_FIELD_NOOP;
	source_message_ids(s, m);
	if (m->kind == WEFT_MSG_M2S_REQ || m->kind == WEFT_MSG_M2S_RWD)
		m->addr = weft_rand_below(s->rand, WEFT_BIT64(46)) << 6;
	switch (m->kind) {
	case WEFT_MSG_M2S_REQ: m->op = WEFT_M2S_REQ_MEMRD; break;
	case WEFT_MSG_M2S_RWD:
		m->op = WEFT_M2S_RWD_MEMWR;
		if (weft_rand_below(s->rand, 8) == 0) {
			m->op = WEFT_M2S_RWD_MEMWRPTL;
			m->trp = 1;
			m->byte_enables = weft_rand_u64(s->rand);
		}
		break;
	case WEFT_MSG_S2M_NDR: m->op = WEFT_S2M_NDR_CMP; break;
	default: m->op = WEFT_S2M_DRS_MEMDATA; break;
	}
	if (weft_msg_has_data(m))
		weft_rand_fill(s->rand, m->data, sizeof(m->data));
}

static void
source_fill(struct source *s)
{
	for (;;) {
		if (!s->has_waiting)
			source_draw_message(s, &s->waiting);
		s->has_waiting = weft_pack_msg(&s->pack, &s->waiting) != 0;
		if (s->has_waiting)
			return;
		s->messages[s->waiting.kind]++;
	}
}

static void
source_control_flit(struct source *s, uint8_t *flit, enum weft_llctrl c, uint8_t payload)
{
	const uint8_t bytes[WEFT_LLCTRL_PAYLOAD_LEN] = { payload };
	struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

	memset(flit, 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(flit, &h);
	weft_llctrl_put(flit, c, bytes);
	s->messages[WEFT_MSG_LLCTRL]++;
}

static bool
source_chance(struct source *s, double p)
{
	return p > 0 && weft_rand_unit(&s->chance) < p;
}

static void
source_end_epoch(struct source *s)
{
	s->made.epochs++;
}

static bool
source_try_tmac(struct source *s, uint8_t *flit)
{
	if (weft_ide_pace_close(&s->pace) != WEFT_IDE_CLOSE_TMAC)
		return false;
	source_control_flit(s, flit, WEFT_LLCTRL_IDE_TMAC, 0);
	source_end_epoch(s);
	return true;
}

/* The key is changed between two epochs: IDE.TMAC, IDE.Start. */
static bool
source_try_refresh(struct source *s, uint8_t *flit)
{
	if (s->ide.refresh == 0 || s->since_key < s->ide.refresh ||
		s->made.key_changes == s->ide.later_keys || s->pace.mac_due)
		return false;
	if (source_try_tmac(s, flit))
		return true;
	source_control_flit(s, flit, WEFT_LLCTRL_IDE_START, 0);
	s->made.key_changes++;
	s->since_key = 0;
	return true;
}

static bool
source_try_poison(struct source *s, uint8_t *flit)
{
	if (!source_chance(s, s->ide.poison))
		return false;
	source_control_flit(s, flit, WEFT_LLCTRL_POISON, (uint8_t)weft_rand_below(&s->chance, 8));
	s->made.poison++;
	s->has_poison = true;
	return true;
}

/* A control flit of IDE, if it is time for one. */
static bool
source_try_control(struct source *s, uint8_t *flit, uint64_t left)
{
	if (s->pace.epoch == 0 || s->has_poison)
		return false;
	/* The end: nothing may be left that waits for a MAC. */
	if (left == 2 && s->pace.in_epoch + 1 == s->pace.epoch)
		return source_try_tmac(s, flit);
	if (left == 1) {
		if (!source_try_tmac(s, flit))
			source_control_flit(s, flit, WEFT_LLCTRL_IDE_IDLE, 0);
		return true;
	}
	if (left <= LAST_FLITS + 1)
		return false;
	return source_try_refresh(s, flit) ||
	       (source_chance(s, s->ide.truncate) && source_try_tmac(s, flit)) ||
	       source_try_poison(s, flit);
}

static void
source_protocol_flit(struct source *s, uint8_t *flit, uint64_t left)
{
	bool with_mac = s->pace.mac_due;

	weft_pack_begin(&s->pack, flit, with_mac);
	s->messages[WEFT_MSG_LLCTRL] += with_mac;
	if (with_mac)
		source_end_epoch(s);
	if (left > LAST_FLITS)
		source_fill(s);
	weft_pack_end(&s->pack);
	weft_ide_pace_flit(&s->pace);
	s->made.protocol++;
	s->has_poison = false;
}

void
source_flit(struct source *s, uint8_t *flit, uint64_t left)
{
	struct weft_flit_hdr h;

	s->since_key++;
	if (!source_try_control(s, flit, left))
		source_protocol_flit(s, flit, left);
	/* Control flits are payload too, so the packer does not know what went before. */
	h = weft_flit_hdr_get(flit);
	h.prior_payload = s->sent_any;
	weft_flit_hdr_put(flit, &h);
	s->sent_any = true;
}
