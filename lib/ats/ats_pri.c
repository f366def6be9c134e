/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Page requests, both ends (ats.md section 5.4). */

#include "weft_ats_pri.h"

#include <errno.h>

#include "weft_ats_wire.h"

#define PRI_RCB 128 /* no matter: of Translation Requests only */

void
weft_ats_pri_init(struct weft_ats_pri *p, uint16_t id, uint32_t capacity)
{
	memset(p, 0, sizeof(*p));
	p->id = id;
	p->capacity = capacity;
}

uint32_t
weft_ats_pri_reg(const struct weft_ats_pri *p, enum weft_ats_pri_reg reg)
{
	switch (reg) {
	case WEFT_ATS_PRI_REG_HEADER: return 0x0013u | 1u << 16;
	case WEFT_ATS_PRI_REG_CTL:
		return (p->is_enabled ? WEFT_ATS_PRI_E : 0) | p->status |
		       (!p->is_enabled && p->outstanding == 0 ? WEFT_ATS_PRI_STOPPED : 0) |
		       WEFT_ATS_PRI_PASID_REQUIRED;
	case WEFT_ATS_PRI_REG_CAPACITY: return p->capacity;
	case WEFT_ATS_PRI_REG_ALLOCATION: return p->allocation;
	default: return 0;
	}
}

static void
pri_forget_groups(struct weft_ats_pri *p)
{
	memset(p->group, 0, sizeof(p->group));
	p->outstanding = 0;
}

void
weft_ats_pri_reg_set(struct weft_ats_pri *p, enum weft_ats_pri_reg reg, uint32_t value)
{
	if (reg == WEFT_ATS_PRI_REG_ALLOCATION) {
		p->allocation = value < p->capacity ? value : p->capacity;
	} else if (reg == WEFT_ATS_PRI_REG_CTL) {
		p->is_enabled = (value & WEFT_ATS_PRI_E) != 0;
		p->status &= ~value;
		if ((value & WEFT_ATS_PRI_RESET) != 0 && !p->is_enabled)
			pri_forget_groups(p);
	}
}

static size_t
pri_put_request(const struct weft_ats_pri *p, const struct weft_ats_page *page, uint8_t *buf)
{
	const struct weft_ats_packet packet = {
		.kind = WEFT_ATS_PAGE,
		.requester = p->id,
		.addr = page->addr,
		.group = page->group,
		.page_bits = page->bits,
		.has_pasid = page->pasid >= 0,
		.pasid = page->pasid < 0 ? 0 : (uint32_t)page->pasid,
	};

	return weft_ats_encode(&packet, buf, WEFT_ATS_HEADER_MAX);
}

int
weft_ats_pri_ask(struct weft_ats_pri *p, const struct weft_ats_page *page, uint8_t *buf)
{
	size_t len;

	if (!p->is_enabled)
		return -EACCES;
	if (page->group >= WEFT_ATS_GROUPS || page->pasid < -1 ||
		(page->bits & (WEFT_ATS_PAGE_R | WEFT_ATS_PAGE_W)) == 0)
		return -EINVAL;
	if (p->group[page->group].closed)
		return -EBUSY;
	if (p->outstanding >= p->allocation)
		return -EAGAIN;
	len = pri_put_request(p, page, buf);
	if (len == 0)
		return -EINVAL;
	p->group[page->group].pages++;
	p->group[page->group].closed = (page->bits & WEFT_ATS_PAGE_LAST) != 0;
	p->outstanding++;
	return (int)len;
}

int
weft_ats_pri_stop(struct weft_ats_pri *p, int32_t pasid, uint8_t *buf)
{
	const struct weft_ats_page marker = { .pasid = pasid, .bits = WEFT_ATS_PAGE_LAST };
	const size_t len = pasid < 0 ? 0 : pri_put_request(p, &marker, buf);

	return len == 0 ? -EINVAL : (int)len;
}

enum weft_verdict
weft_ats_pri_receive(
	struct weft_ats_pri *p, const uint8_t *packet, size_t len, uint16_t *group, uint8_t *code)
{
	struct weft_ats_packet in;
	const enum weft_verdict v = weft_ats_decode(packet, len, PRI_RCB, &in);

	if (v != WEFT_OK)
		return v;
	if (in.kind != WEFT_ATS_PAGE_GROUP)
		return WEFT_DROP_ATS_TYPE;
	if (in.target != p->id)
		return WEFT_DROP_ATS_PEER;
	if (!p->group[in.group].closed) {
		p->status |= WEFT_ATS_PRI_UNEXPECTED;
		return WEFT_DROP_NO_TAG;
	}
	p->outstanding -= p->group[in.group].pages;
	memset(&p->group[in.group], 0, sizeof(p->group[0]));
	*group = in.group;
	*code = in.code;
	if (in.code != WEFT_ATS_PAGE_SUCCESS && in.code != WEFT_ATS_PAGE_INVALID) {
		*code = WEFT_ATS_PAGE_FAILURE;
		p->status |= WEFT_ATS_PRI_FAILURE;
		p->is_enabled = false;
	}
	return WEFT_OK;
}

bool
weft_ats_page_is_stop(const struct weft_ats_page *page)
{
	return page->pasid >= 0 && page->bits == WEFT_ATS_PAGE_LAST;
}

size_t
weft_ats_pages_answer(const struct weft_ats_pages *q, const struct weft_ats_page *page,
	uint8_t code, uint8_t *buf)
{
	const struct weft_ats_packet packet = {
		.kind = WEFT_ATS_PAGE_GROUP,
		.requester = q->id,
		.target = page->requester,
		.group = page->group,
		.code = code & 0xF,
		.has_pasid = page->pasid >= 0,
		.pasid = page->pasid < 0 ? 0 : (uint32_t)page->pasid,
	};

	return weft_ats_encode(&packet, buf, WEFT_ATS_HEADER_MAX);
}

enum weft_verdict
weft_ats_pages_receive(
	struct weft_ats_pages *q, const uint8_t *packet, size_t len, uint8_t *buf, size_t *out)
{
	struct weft_ats_page page;
	struct weft_ats_packet in;
	const enum weft_verdict v = weft_ats_decode(packet, len, PRI_RCB, &in);

	*out = 0;
	if (v != WEFT_OK)
		return v;
	if (in.kind != WEFT_ATS_PAGE)
		return WEFT_DROP_ATS_TYPE;
	page = (struct weft_ats_page){ .addr = in.addr,
		.pasid = in.has_pasid ? (int32_t)in.pasid : -1,
		.requester = in.requester,
		.group = in.group,
		.bits = in.page_bits };
	if (q->n < q->room) {
		q->page[(q->at + q->n) % q->room] = page;
		q->n++;
		return WEFT_OK;
	}
	q->refused++;
	if ((page.bits & WEFT_ATS_PAGE_LAST) != 0 && !weft_ats_page_is_stop(&page))
		*out = weft_ats_pages_answer(q, &page, WEFT_ATS_PAGE_SUCCESS, buf);
	return WEFT_OK;
}

bool
weft_ats_pages_next(struct weft_ats_pages *q, struct weft_ats_page *page)
{
	if (q->n == 0)
		return false;
	*page = q->page[q->at];
	q->at = (q->at + 1) % q->room;
	q->n--;
	return true;
}
