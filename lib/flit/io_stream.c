/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * TLPs into flits and out of them. Both go by DWs; a TLP's length comes from its header, and is
 * judged before a byte of it is taken for more than that.
 */

#include <errno.h>

#include "weft_io.h"

#define DW 4u
#define LOCAL_PREFIX_MASK 0x3Fu
#define LOCAL_PREFIX_LEAST 0x0Du
#define LOCAL_PREFIX_MOST 0x0Fu

/* --- into flits --- */

void
weft_io_pack_init(struct weft_io_packer *p, enum weft_form form)
{
	p->form = (uint8_t)form;
	p->flit = NULL;
	p->at = p->n = 0;
}

static unsigned int
io_room(const struct weft_io_packer *p)
{
	return WEFT_IO_OFF + WEFT_IO_LEN - p->pos;
}

static void
io_place(struct weft_io_packer *p)
{
	const unsigned int room = io_room(p), left = p->n - p->at;
	const unsigned int len = left < room ? left : room;

	memcpy(p->flit + p->pos, p->wire + p->at, len);
	p->pos = (uint16_t)(p->pos + len);
	p->at = (uint16_t)(p->at + len);
}

void
weft_io_pack_begin(struct weft_io_packer *p, uint8_t *flit)
{
	struct weft_flit_hdr h = { .type = WEFT_FLIT_IO };

	weft_flit_hdr_put(flit, &h);
	p->flit = flit;
	p->pos = WEFT_IO_OFF;
	io_place(p);
}

int
weft_io_pack_tlp(struct weft_io_packer *p, const struct weft_io_tlp *t)
{
	unsigned int at = 0, now;

	assert(p->flit != NULL);
	if (!weft_io_is_valid(t))
		return -EINVAL;
	if (io_room(p) == 0)
		return -ENOSPC;
	if (t->has_prefix) {
		weft_io_prefix_put(p->wire, t->prefix_pid);
		at = DW;
	}
	if (p->form == WEFT_FORM_PBR) {
		weft_io_pth_put(p->wire + at, t);
		at += DW;
	}
	p->at = 0;
	p->n = (uint16_t)at;
	io_place(p);
	/* What does not fit waits in wire[], where it would stand had it come that way whole. */
	now = io_room(p) < t->len ? io_room(p) : t->len;
	memcpy(p->flit + p->pos, t->tlp, now);
	p->pos = (uint16_t)(p->pos + now);
	memcpy(p->wire + at + now, t->tlp + now, t->len - now);
	p->at = (uint16_t)(p->at + now);
	p->n = (uint16_t)(at + t->len);
	return 0;
}

bool
weft_io_pack_end(struct weft_io_packer *p)
{
	assert(p->flit != NULL);
	memset(p->flit + p->pos, 0, WEFT_FLIT_LEN - p->pos); /* a NOP DW is all zero */
	p->flit = NULL;
	return weft_io_pack_waits(p);
}

bool
weft_io_pack_waits(const struct weft_io_packer *p)
{
	return p->at != p->n;
}

/* --- out of flits --- */

void
weft_io_unpack_init(struct weft_io_unpacker *u, enum weft_form form)
{
	memset(u, 0, sizeof(*u));
	u->form = (uint8_t)form;
}

static void
io_next_tlp(struct weft_io_unpacker *u)
{
	u->in_tlp = u->prefixed = false;
	u->need = 0;
	u->t.has_prefix = false;
	u->t.prefix_pid = 0;
	u->t.len = 0;
}

static bool
io_is_local_prefix(uint8_t byte0)
{
	const unsigned int low = byte0 & LOCAL_PREFIX_MASK;

	return byte0 >> 6 == 2 && low >= LOCAL_PREFIX_LEAST && low <= LOCAL_PREFIX_MOST;
}

static bool
io_take_prefix(struct weft_io_unpacker *u, const uint8_t *dw)
{
	const int pid = weft_io_prefix_get(dw);

	u->prefixed = true;
	if (pid < 0)
		return true; /* another local prefix says nothing here */
	if (u->t.has_prefix)
		return false;
	u->t.has_prefix = true;
	u->t.prefix_pid = (uint16_t)pid;
	return true;
}

/* A DW before the PTH (wire-formats.md section 6). False: malformed. */
static bool
io_take_before(struct weft_io_unpacker *u, const uint8_t *dw)
{
	switch (dw[0] >> 6) {
	case 0: return dw[0] == 0 && !u->prefixed; /* NOP */
	case 1: return true; /* to be passed over */
	case 2: return io_is_local_prefix(dw[0]) && io_take_prefix(u, dw);
	default: u->in_tlp = true; return weft_io_pth_get(dw, &u->t);
	}
}

/* The DW that tells the length, or the PASID prefix before it. False: malformed. */
static bool
io_take_head(struct weft_io_unpacker *u, const uint8_t *dw)
{
	memcpy(u->t.tlp + u->t.len, dw, DW);
	u->t.len = (uint16_t)(u->t.len + DW);
	if (u->t.len == DW && dw[0] == WEFT_IO_PASID_PREFIX)
		return true;
	u->need = (uint16_t)weft_io_tlp_len(u->t.tlp, u->t.len);
	return u->need != 0;
}

/* HBR form: a TLP begins with whatever is neither a NOP nor a local prefix. False: malformed. */
static bool
io_take_before_hbr(struct weft_io_unpacker *u, const uint8_t *dw)
{
	if (dw[0] == 0)
		return !u->prefixed;
	if (io_is_local_prefix(dw[0]))
		return io_take_prefix(u, dw);
	u->in_tlp = true;
	return io_take_head(u, dw);
}

static bool
io_take_dw(struct weft_io_unpacker *u, const uint8_t *dw)
{
	if (u->in_tlp)
		return io_take_head(u, dw);
	return u->form == WEFT_FORM_PBR ? io_take_before(u, dw) : io_take_before_hbr(u, dw);
}

static unsigned int
io_take_rest(struct weft_io_unpacker *u, const uint8_t *from, unsigned int have, weft_io_fn fn,
	void *arg)
{
	const unsigned int left = (unsigned int)u->need - u->t.len;
	const unsigned int len = left < have ? left : have;

	memcpy(u->t.tlp + u->t.len, from, len);
	u->t.len = (uint16_t)(u->t.len + len);
	if (u->t.len == u->need) {
		if (fn != NULL)
			fn(arg, &u->t);
		io_next_tlp(u);
	}
	return len;
}

enum weft_verdict
weft_io_unpack_flit(struct weft_io_unpacker *u, const uint8_t *flit, weft_io_fn fn, void *arg)
{
	const uint8_t *at = flit + WEFT_IO_OFF, *end = at + WEFT_IO_LEN;

	if (u->is_broken)
		return WEFT_DROP_IO_STREAM;
	while (at != end) {
		if (u->need != 0) {
			at += io_take_rest(u, at, (unsigned int)(end - at), fn, arg);
			continue;
		}
		if (!io_take_dw(u, at)) {
			u->is_broken = true;
			return WEFT_DROP_IO_STREAM;
		}
		at += DW;
	}
	return WEFT_OK;
}
