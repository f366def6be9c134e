/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Moves that somebody asked for, beside those that come by themselves: see weft_ats_agent.h. */

#include "ats_agent_priv.h"

#include <errno.h>

/* A place of a map, and which page of it. */
static bool
ask_is_at(const struct weft_ats_agent_map *m, uint64_t place, uint64_t hpa, uint32_t *page)
{
	if (hpa < place || hpa - place >= m->size)
		return false;
	*page = (uint32_t)((hpa - place) >> m->page_log2);
	return true;
}

/* Map of the page at an address, or -ENOENT. */
static int
ask_find(const struct weft_ats_agent *a, uint64_t hpa, uint32_t *page, uint64_t *place)
{
	for (uint16_t i = 0; i < a->cfg.n_maps; i++) {
		const struct weft_ats_agent_map *m = &a->cfg.map[i];

		if (m->alt_pa == 0)
			continue;
		*place = m->pa;
		if (ask_is_at(m, m->pa, hpa, page))
			return i;
		*place = m->alt_pa;
		if (ask_is_at(m, m->alt_pa, hpa, page))
			return i;
	}
	return -ENOENT;
}

int
weft_ats_agent_page(const struct weft_ats_agent *a, uint64_t hpa, uint64_t *first, uint64_t *size)
{
	uint64_t place;
	uint32_t page;
	const int map = ask_find(a, hpa, &page, &place);

	if (map < 0)
		return map;
	*size = UINT64_C(1) << a->cfg.map[map].page_log2;
	*first = place + page * *size;
	return 0;
}

int
weft_ats_agent_move(struct weft_ats_agent *a, uint64_t hpa, uint64_t cookie, uint64_t now_ns)
{
	struct agent_ask *q = a->ask;
	uint64_t place;
	uint32_t page;
	const int map = ask_find(a, hpa, &page, &place);

	if (map < 0)
		return map;
	if (a->n_asks == WEFT_ATS_AGENT_ASKS)
		return -EAGAIN;
	while (q->state != AGENT_ASK_FREE)
		q++;
	*q = (struct agent_ask){
		.cookie = cookie,
		.until_ns = now_ns + a->cfg.timeout_ns,
		.map = (uint16_t)map,
		.page = page,
		.state = AGENT_ASK_WAITS,
	};
	a->n_asks++;
	a->count[WEFT_ATS_AGENT_N_ASKED]++;
	return 0;
}

struct agent_ask *
agent_ask_next(struct weft_ats_agent *a, uint64_t now_ns)
{
	struct agent_ask *next = NULL;

	for (unsigned int i = 0; a->n_asks != 0 && i < WEFT_ATS_AGENT_ASKS; i++) {
		struct agent_ask *q = &a->ask[i];

		if (q->state != AGENT_ASK_WAITS && q->state != AGENT_ASK_MOVES)
			continue;
		if (now_ns >= q->until_ns)
			q->state = AGENT_ASK_LATE;
		else if (q->state == AGENT_ASK_WAITS && next == NULL &&
			 agent_may_begin(a, q->map, q->page, now_ns))
			next = q;
	}
	return next;
}

void
agent_ask_begun(struct weft_ats_agent *a, struct agent_ask *q, uint64_t now_ns)
{
	q->state = AGENT_ASK_MOVES;
	q->until_ns = now_ns + a->cfg.timeout_ns + a->cfg.fence_ns;
}

void
agent_ask_ended(struct weft_ats_agent *a, const struct agent_migration *v, bool is_done)
{
	for (unsigned int i = 0; a->n_asks != 0 && i < WEFT_ATS_AGENT_ASKS; i++) {
		struct agent_ask *q = &a->ask[i];

		if (q->state == AGENT_ASK_MOVES && q->map == v->map && q->page == v->page)
			q->state = is_done ? AGENT_ASK_DONE : AGENT_ASK_LATE;
	}
}

bool
weft_ats_agent_moved(struct weft_ats_agent *a, struct weft_ats_agent_moved *m)
{
	for (unsigned int i = 0; a->n_asks != 0 && i < WEFT_ATS_AGENT_ASKS; i++) {
		struct agent_ask *q = &a->ask[i];

		if (q->state != AGENT_ASK_DONE && q->state != AGENT_ASK_LATE)
			continue;
		*m = (struct weft_ats_agent_moved){ q->cookie, q->state == AGENT_ASK_DONE };
		q->state = AGENT_ASK_FREE;
		a->n_asks--;
		return true;
	}
	return false;
}
