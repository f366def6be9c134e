/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Messages of a manager into packets, flits and back (weft_management.h). */

#include "weft_management.h"

#include <errno.h>

#include "weft_cci_vdm.h"
#include "weft_io.h"

#define MANAGEMENT_PTH 4u /* bytes of it */
#define MANAGEMENT_HOPS_OFF 9 /* of the VDM: the low byte of the target id, which no one has */

const struct weft_counter weft_management_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_management_counters.def"
#undef WEFT_COUNTER
};

unsigned int
weft_management_cut(struct weft_management_packet *p, uint16_t spid, uint16_t dpid,
	const struct weft_cci_mctp_hdr *h, const uint8_t *msg, size_t len)
{
	const unsigned int n = weft_cci_mctp_packets(len, WEFT_MANAGEMENT_UNIT);

	assert(len != 0 && n <= WEFT_MANAGEMENT_PACKETS);
	for (unsigned int i = 0; i < n; i++) {
		p[i] = (struct weft_management_packet){ .spid = spid, .dpid = dpid };
		p[i].len = (uint16_t)weft_cci_mctp_put_packet(
			p[i].mctp, sizeof(p[i].mctp), h, msg, len, WEFT_MANAGEMENT_UNIT, i);
	}
	return n;
}

static bool
management_has_owner(const struct weft_management_packet *p, bool is_owner)
{
	struct weft_cci_mctp_hdr h;

	return weft_cci_mctp_get_hdr(&h, p->mctp, p->len) == 0 && h.is_owner == is_owner;
}

bool
weft_management_is_request(const struct weft_management_packet *p)
{
	return management_has_owner(p, true);
}

/* --- who may send what --- */

void
weft_management_add_manager(struct weft_management_managers *m, uint16_t pid)
{
	if (pid < WEFT_CCI_NO_PID)
		m->pid[pid / 64] |= UINT64_C(1) << pid % 64;
}

static bool
management_is_manager(const struct weft_management_managers *m, uint16_t pid)
{
	return pid < WEFT_CCI_NO_PID && (m->pid[pid / 64] >> pid % 64 & 1) != 0;
}

bool
weft_management_may_enter(const struct weft_management_managers *m, uint8_t from, uint16_t pid,
	const struct weft_management_packet *p)
{
	switch (from) {
	case WEFT_MANAGEMENT_FROM_SWITCH: return true;
	case WEFT_MANAGEMENT_FROM_GFD: return p->spid == pid || p->spid == WEFT_CCI_NO_PID;
	case WEFT_MANAGEMENT_FROM_MANAGER: return p->spid == pid;
	case WEFT_MANAGEMENT_FROM_HOST:
		return p->spid == pid && management_has_owner(p, false) &&
		       management_is_manager(m, p->dpid);
	default: return false;
	}
}

bool
weft_management_may_leave(const struct weft_management_managers *m, uint8_t from,
	const struct weft_management_packet *p)
{
	return from == WEFT_MANAGEMENT_FROM_HOST
	               ? weft_management_is_request(p) && management_is_manager(m, p->spid)
	               : from != WEFT_MANAGEMENT_FROM_NOBODY;
}

bool
weft_management_is_asked(const struct weft_management_managers *m, uint16_t own,
	const struct weft_management_packet *p)
{
	return p->dpid == own && p->spid != own && management_is_manager(m, p->spid) &&
	       weft_management_is_request(p);
}

/* The VDM's last four bytes are the packet's header. All VDMs have DSAR (fabric.md 2.3). */
static void
management_tlp(struct weft_io_tlp *t, const struct weft_management_packet *p)
{
	const size_t data = p->len - (size_t)WEFT_CCI_MCTP_HDR;

	*t = (struct weft_io_tlp){ .spid = p->spid, .dpid = p->dpid, .dsar = true };
	weft_cci_vdm_put_mctp(t->tlp, data);
	t->tlp[MANAGEMENT_HOPS_OFF] = p->hops;
	memcpy(t->tlp + WEFT_CCI_VDM_MCTP_HDR, p->mctp, p->len);
	t->len = (uint16_t)(WEFT_CCI_VDM_HDR + (data + 3) / 4 * 4);
}

/* Whether a packet fits behind @p used bytes of the flits. */
static bool
management_fits(size_t used, unsigned int room, const struct weft_management_packet *p)
{
	const size_t len =
		MANAGEMENT_PTH + WEFT_CCI_VDM_HDR + (p->len - WEFT_CCI_MCTP_HDR + 3u) / 4 * 4;

	return used + len <= (size_t)room * WEFT_IO_LEN;
}

static void
management_next_flit(struct weft_io_packer *pack, uint8_t *flits, unsigned int *n_flits)
{
	weft_io_pack_end(pack);
	weft_io_pack_begin(pack, flits + (size_t)(*n_flits)++ * WEFT_FLIT_LEN);
}

static void
management_protect(
	uint8_t *flits, unsigned int n, const struct weft_codec *codec, enum weft_crc_order order)
{
	static const uint64_t no_number[WEFT_MANAGEMENT_FLITS];
	uint8_t *flit[WEFT_MANAGEMENT_FLITS];

	for (unsigned int i = 0; i < n; i++)
		flit[i] = flits + (size_t)i * WEFT_FLIT_LEN;
	weft_codec_protect(codec, flit, n, order, no_number);
}

unsigned int
weft_management_put(uint8_t *flits, unsigned int room, const struct weft_management_packet *p,
	unsigned int n, const struct weft_codec *codec, enum weft_crc_order order,
	unsigned int *n_flits)
{
	struct weft_io_packer pack;
	unsigned int i = 0;
	size_t used = 0;

	assert(room >= 1 && room <= WEFT_MANAGEMENT_FLITS && n != 0);
	weft_io_pack_init(&pack, WEFT_FORM_PBR);
	weft_io_pack_begin(&pack, flits);
	*n_flits = 1;
	while (i < n && management_fits(used, room, &p[i])) {
		struct weft_io_tlp t;

		management_tlp(&t, &p[i++]);
		if (weft_io_pack_tlp(&pack, &t) == -ENOSPC) {
			management_next_flit(&pack, flits, n_flits);
			weft_io_pack_tlp(&pack, &t);
		}
		/* It is shorter than what a flit holds. */
		if (weft_io_pack_waits(&pack))
			management_next_flit(&pack, flits, n_flits);
		used += MANAGEMENT_PTH + t.len;
	}
	weft_io_pack_end(&pack);
	for (unsigned int k = 0; k < *n_flits; k++)
		weft_io_dllp_nop(flits + (size_t)k * WEFT_FLIT_LEN + WEFT_IO_DLLP_OFF);
	management_protect(flits, *n_flits, codec, order);
	return i;
}

struct management_get {
	weft_management_fn fn;
	void *arg;
	bool is_other; /* something else came */
};

static void
management_packet(void *arg, const struct weft_io_tlp *t)
{
	struct management_get *g = arg;
	const int data = weft_cci_vdm_get_mctp(t->tlp, t->len);
	struct weft_management_packet p = { .spid = t->spid, .dpid = t->dpid };

	if (data <= 0 || data > WEFT_MANAGEMENT_UNIT) {
		g->is_other = true;
		return;
	}
	p.hops = t->tlp[MANAGEMENT_HOPS_OFF];
	p.len = (uint16_t)(WEFT_CCI_MCTP_HDR + data);
	memcpy(p.mctp, t->tlp + WEFT_CCI_VDM_MCTP_HDR, p.len);
	g->fn(g->arg, &p);
}

enum weft_verdict
weft_management_get(uint8_t *flits, unsigned int n, const struct weft_codec *codec,
	enum weft_crc_order order, weft_management_fn fn, void *arg)
{
	struct management_get g = { fn, arg, false };
	struct weft_io_unpacker unpack;

	weft_io_unpack_init(&unpack, WEFT_FORM_PBR);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *flit = flits + (size_t)i * WEFT_FLIT_LEN;

		if (weft_fec_decode_flit(flit, NULL) == WEFT_FEC_UNCORRECTABLE)
			return WEFT_DROP_FEC;
		if (weft_codec_syndrome(codec, flit, order) != 0)
			return WEFT_DROP_CRC;
		if (flit[0] >> 6 != WEFT_FLIT_IO ||
			weft_io_unpack_flit(&unpack, flit, management_packet, &g) != WEFT_OK)
			return WEFT_DROP_IO_STREAM;
	}
	return g.is_other ? WEFT_DROP_WRONG_CLASS : WEFT_OK;
}

/* Whose message it is part of, or the place that was not used for longest. */
static struct weft_management_open *
management_open(struct weft_management_rx *r, uint16_t port, const struct weft_management_packet *p)
{
	struct weft_management_open *oldest = &r->open[0];
	const bool is_request = weft_management_is_request(p);

	for (unsigned int i = 0; i < WEFT_MANAGEMENT_OPEN; i++) {
		struct weft_management_open *o = &r->open[i];

		if (o->used != 0 && o->port == port && o->spid == p->spid && o->dpid == p->dpid &&
			o->is_request == is_request)
			return o;
		if (o->used < oldest->used)
			oldest = o;
	}
	*oldest = (struct weft_management_open){
		.port = port, .spid = p->spid, .dpid = p->dpid, .is_request = is_request
	};
	return oldest;
}

const struct weft_cci_mctp_rx *
weft_management_take(
	struct weft_management_rx *r, uint16_t port, const struct weft_management_packet *p)
{
	struct weft_management_open *o = management_open(r, port, p);

	o->used = ++r->turn;
	return weft_cci_mctp_rx(&o->rx, p->mctp, p->len) == 1 ? &o->rx : NULL;
}
