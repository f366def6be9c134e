/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* An agent's table: walks of it, and pages that are there once they were asked for. */

#include "ats_agent_priv.h"

int
agent_find(const struct weft_ats_agent *a, unsigned int client, uint64_t va, uint32_t *page)
{
	for (unsigned int i = 0; i < a->cfg.n_maps; i++) {
		const struct weft_ats_agent_map *m = &a->cfg.map[i];

		if (m->client != client || va < m->va || va - m->va >= m->size)
			continue;
		*page = (uint32_t)((va - m->va) >> m->page_log2);
		return (int)i;
	}
	return -1;
}

uint8_t *
agent_page_at(const struct weft_ats_agent *a, unsigned int map, uint32_t page)
{
	return &a->page[a->first_page[map] + page];
}

/* --- walks --- */

/* Pages from the first asked for on, until one is not there or is another map's. */
static unsigned int
table_collect(const struct weft_ats_agent *a, unsigned int map, uint32_t page,
	const struct weft_ats_walk *w, struct weft_ats_xlat *x)
{
	const struct weft_ats_agent_map *m = &a->cfg.map[map];
	const uint64_t asked = (uint64_t)w->n
	                       << (WEFT_ATS_PAGE_LOG2 + a->cfg.client[w->device].stu);
	unsigned int n = 0;

	while (n < w->n && page + n < m->size >> m->page_log2) {
		const uint64_t at = (uint64_t)(page + n) << m->page_log2;
		const uint8_t bits = *agent_page_at(a, map, page + n);

		if (m->va + at >= w->va + asked ||
			(bits & (AGENT_PRESENT | AGENT_MOVING)) != AGENT_PRESENT)
			break;
		x[n++] = (struct weft_ats_xlat){
			.pa = ((bits & AGENT_SECOND) != 0 ? m->alt_pa : m->pa) + at,
			.bits = m->bits,
			.log2 = m->page_log2,
		};
	}
	return n;
}

/* @return false: the page moves, so the question waits */
static bool
table_answer(struct weft_ats_agent *a, int handle, const struct weft_ats_walk *w)
{
	struct weft_ats_xlat x[WEFT_ATS_XLATS];
	unsigned int n = 0;
	uint32_t page;
	const int map = agent_find(a, w->device, w->va, &page);

	if (map >= 0 && (*agent_page_at(a, (unsigned int)map, page) & AGENT_MOVING) != 0)
		return false;
	if (map >= 0 && a->cfg.map[map].bits != 0)
		n = table_collect(a, (unsigned int)map, page, w, x);
	weft_ats_ta_answer(a->ta, handle, WEFT_ATS_SUCCESS, x, n, n);
	a->count[n != 0 ? WEFT_ATS_AGENT_N_ANSWERED : WEFT_ATS_AGENT_N_NO_PAGE]++;
	return true;
}

void
agent_walks(struct weft_ats_agent *a)
{
	struct weft_ats_walk w;
	int handle;

	while (a->n_held < AGENT_WALKS && (handle = weft_ats_ta_walk(a->ta, &w)) >= 0) {
		if (table_answer(a, handle, &w))
			continue;
		a->held[a->n_held++] = (struct agent_walk){ handle, w };
		a->count[WEFT_ATS_AGENT_N_WAITED]++;
	}
}

void
agent_walks_again(struct weft_ats_agent *a)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->n_held; i++)
		if (!table_answer(a, a->held[i].handle, &a->held[i].walk))
			a->held[kept++] = a->held[i];
	a->n_held = kept;
}

void
agent_walks_drop(struct weft_ats_agent *a, unsigned int client)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->n_held; i++)
		if (a->held[i].walk.device != client)
			a->held[kept++] = a->held[i];
	a->n_held = kept;
}

/* --- page requests --- */

void
agent_reply(struct weft_ats_agent *a, uint16_t to, const uint8_t *packet, size_t len)
{
	struct agent_reply *r = &a->reply[a->n_replies];

	if (a->n_replies == AGENT_REPLIES)
		return; /* its client asks again */
	r->to = to;
	r->len = (uint8_t)len;
	memcpy(r->packet, packet, len);
	a->n_replies++;
}

static uint8_t
agent_serve_page_request(struct weft_ats_agent *a, const struct weft_ats_page *p)
{
	const uint8_t need = ((p->bits & WEFT_ATS_PAGE_W) != 0 ? WEFT_ATS_W : 0) |
	                     ((p->bits & WEFT_ATS_PAGE_R) != 0 ? WEFT_ATS_R : 0);
	unsigned int client = 0;
	uint32_t page = 0;
	int map;

	while (client < a->cfg.n_clients && a->cfg.client[client].id != p->requester)
		client++;
	map = p->pasid >= 0 ? -1 : agent_find(a, client, p->addr, &page);
	if (map < 0 || (a->cfg.map[map].bits & need) != need) {
		a->count[WEFT_ATS_AGENT_N_PAGES_DENIED]++;
		return WEFT_ATS_PAGE_INVALID;
	}
	if ((*agent_page_at(a, (unsigned int)map, page) & AGENT_PRESENT) == 0) {
		*agent_page_at(a, (unsigned int)map, page) |= AGENT_PRESENT;
		a->count[WEFT_ATS_AGENT_N_PAGES]++;
	}
	return WEFT_ATS_PAGE_SUCCESS;
}

void
agent_pages(struct weft_ats_agent *a)
{
	struct weft_ats_page p;

	while (a->n_replies < AGENT_REPLIES && weft_ats_pages_next(&a->pages, &p)) {
		uint8_t packet[WEFT_ATS_HEADER_MAX], code;

		if (weft_ats_page_is_stop(&p))
			continue;
		code = agent_serve_page_request(a, &p);
		if ((p.bits & WEFT_ATS_PAGE_LAST) != 0)
			agent_reply(a, p.requester, packet,
				weft_ats_pages_answer(&a->pages, &p, code, packet));
	}
}
