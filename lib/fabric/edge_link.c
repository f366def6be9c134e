/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: messages and packets at an edge port of HBR form, see weft_edge_link.h. */

#include "weft_edge_link.h"

/* Bytes of a UIO header; the unpacker has seen to it that it is whole. */
enum { REQUEST_ID = 4, REQUEST_ADDR = 8, CPL_REQUESTER = 8, PASID_LEN = 4 };

void
weft_edge_answer(struct weft_msg *m)
{
	/* What asks for no data is answered by the other kind. */
	const bool is_read = m->kind == WEFT_MSG_M2S_REQ && m->op != WEFT_M2S_REQ_MEMINV;
	const struct weft_msg answer = {
		.kind = is_read ? WEFT_MSG_S2M_DRS : WEFT_MSG_S2M_NDR,
		.op = is_read ? WEFT_S2M_DRS_MEMDATA_NXM : WEFT_S2M_NDR_CMP,
		.meta_field = WEFT_META_FIELD_NOOP,
		.dpid = m->spid,
		.tag = m->tag,
		.ld_id = m->ld_id,
	};

	*m = answer;
	memset(m->data, 0xFF, sizeof(m->data));
}

enum weft_edge_reason
weft_edge_msg_in(const struct weft_edge *e, struct weft_msg *m)
{
	struct weft_edge_decision d;

	if (m->kind != WEFT_MSG_M2S_REQ && m->kind != WEFT_MSG_M2S_RWD)
		return WEFT_EDGE_UNEXPECTED;
	weft_edge_request(e, WEFT_EDGE_MEM, m->addr, WEFT_EDGE_ABSENT, &d);
	if (d.reason != WEFT_EDGE_OK) {
		m->spid = 0;
		weft_edge_answer(m);
		return (enum weft_edge_reason)d.reason;
	}
	m->spid = d.spid;
	m->dpid = d.dpid;
	m->ld_id = 0;
	return WEFT_EDGE_OK;
}

bool
weft_edge_msg_out(struct weft_msg *m)
{
	if (m->kind != WEFT_MSG_S2M_NDR && m->kind != WEFT_MSG_S2M_DRS)
		return false;
	m->dpid = 0;
	return true;
}

static const uint8_t *
edge_header(const struct weft_io_tlp *t)
{
	return t->tlp + (t->tlp[0] == WEFT_IO_PASID_PREFIX ? PASID_LEN : 0);
}

static bool
edge_is_request(const uint8_t *h)
{
	return h[0] == WEFT_IO_UIO_MRD || h[0] == WEFT_IO_UIO_MWR;
}

static bool
edge_is_completion(const uint8_t *h)
{
	return h[0] == WEFT_IO_UIO_CPL || h[0] == WEFT_IO_UIO_CPLD;
}

int
weft_edge_requester(const struct weft_io_tlp *t)
{
	const uint8_t *h = edge_header(t);

	if (edge_is_request(h))
		return weft_get_be16(h + REQUEST_ID);
	return edge_is_completion(h) ? weft_get_be16(h + CPL_REQUESTER) : -1;
}

void
weft_edge_tlp_in(
	const struct weft_edge *e, bool down, struct weft_io_tlp *t, struct weft_edge_decision *d)
{
	const int prefix = t->has_prefix ? t->prefix_pid : WEFT_EDGE_ABSENT;
	const uint8_t *h = edge_header(t);

	if (edge_is_completion(h))
		weft_edge_completion(
			e, (uint16_t)weft_edge_requester(t), WEFT_EDGE_ABSENT, false, prefix, d);
	else
		weft_edge_request(e, edge_is_request(h) ? WEFT_EDGE_UIO : WEFT_EDGE_IO,
			weft_get_be64(h + REQUEST_ADDR), prefix, d);
	if (d->reason != WEFT_EDGE_OK)
		return;
	t->spid = d->spid;
	t->dpid = d->dpid;
	t->pif = d->pif;
	t->hie = d->decoder == WEFT_EDGE_BY_PCIE;
	t->dsar = down;
	t->has_prefix = false;
	t->prefix_pid = 0;
}

enum weft_edge_egress
weft_edge_tlp_out(const struct weft_edge *e, struct weft_io_tlp *t)
{
	const bool is_request = edge_is_request(edge_header(t));
	const enum weft_edge_egress how =
		weft_edge_egress(e, is_request ? WEFT_EDGE_UIO : WEFT_EDGE_CPL, t->pif);

	if (how != WEFT_EGRESS_PASS && how != WEFT_EGRESS_PREFIX)
		return how;
	t->has_prefix = how == WEFT_EGRESS_PREFIX;
	t->prefix_pid = t->has_prefix ? t->spid : 0;
	t->spid = t->dpid = 0;
	t->hie = t->pif = t->dsar = false;
	return how;
}
