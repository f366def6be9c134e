/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* An agent: its memory, its clients' sessions, packets in and out. */

#include "ats_agent_priv.h"

#include "weft_carve.h"

#define RCB 128

const struct weft_counter weft_ats_agent_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_ats_agent_counters.def"
#undef WEFT_COUNTER
};

const uint64_t *
weft_ats_agent_counts(const struct weft_ats_agent *a)
{
	return a->count;
}

const struct weft_ats_ta *
weft_ats_agent_peer(const struct weft_ats_agent *a)
{
	return a->ta;
}

static struct weft_ats_ta_cfg
agent_ta_cfg(const struct weft_ats_agent_cfg *cfg)
{
	return (struct weft_ats_ta_cfg){
		.timeout_ns = cfg->timeout_ns,
		.id = cfg->id,
		.rcb = RCB,
		.devices = cfg->n_clients,
		.walks = AGENT_WALKS,
	};
}

static bool
agent_map_is_good(const struct weft_ats_agent_cfg *cfg, const struct weft_ats_agent_map *m)
{
	if (m->client >= cfg->n_clients || m->page_log2 > 30 ||
		m->page_log2 < WEFT_ATS_PAGE_LOG2 + cfg->client[m->client].stu || m->size == 0)
		return false;
	return ((m->va | m->pa | m->size | m->alt_pa) & weft_mask64(m->page_log2)) == 0;
}

static uint64_t
agent_count_pages(const struct weft_ats_agent_cfg *cfg)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < cfg->n_maps; i++) {
		if (!agent_map_is_good(cfg, &cfg->map[i]))
			return 0;
		n += cfg->map[i].size >> cfg->map[i].page_log2;
	}
	return n < UINT32_MAX ? n : 0;
}

/* Its peer is still to begin. */
static struct weft_ats_agent *
agent_carve(struct weft_carver *c, const struct weft_ats_agent_cfg *cfg)
{
	const struct weft_ats_ta_cfg peer = agent_ta_cfg(cfg);
	const uint64_t pages = agent_count_pages(cfg);
	struct weft_ats_agent *a = weft_carve(c, sizeof(*a));
	struct weft_ats_ta *ta = weft_carve(c, weft_ats_ta_size(&peer));
	struct agent_client *client = weft_carve(c, cfg->n_clients * sizeof(*client));
	uint32_t *first_page = weft_carve(c, (cfg->n_maps + 1u) * sizeof(*first_page));
	uint32_t *stays = weft_carve(c, pages * sizeof(*stays));
	uint8_t *page = weft_carve(c, pages);

	if (a != NULL) {
		a->ta = ta;
		a->client = client;
		a->first_page = first_page;
		a->stays = stays;
		a->page = page;
	}
	return a;
}

size_t
weft_ats_agent_size(const struct weft_ats_agent_cfg *cfg)
{
	struct weft_carver c = { 0 };
	struct weft_ats_ta_cfg ta;

	if (cfg->n_clients == 0 || cfg->n_maps == 0 || cfg->max_concurrent == 0 ||
		cfg->max_concurrent > WEFT_ATS_AGENT_MIGRATIONS || cfg->timeout_ns == 0)
		return 0;
	ta = agent_ta_cfg(cfg);
	if (agent_count_pages(cfg) == 0 || weft_ats_ta_size(&ta) == 0)
		return 0;
	agent_carve(&c, cfg);
	return c.len;
}

static void
agent_fill_pages(struct weft_ats_agent *a)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < a->cfg.n_maps; i++) {
		const struct weft_ats_agent_map *m = &a->cfg.map[i];

		a->first_page[i] = n;
		n += (uint32_t)(m->size >> m->page_log2);
		for (uint32_t p = a->first_page[i]; p < n; p++)
			a->page[p] = m->on_demand ? 0 : AGENT_PRESENT;
	}
	a->first_page[a->cfg.n_maps] = n;
}

struct weft_ats_agent *
weft_ats_agent_init(void *mem, const struct weft_ats_agent_cfg *cfg)
{
	const size_t size = weft_ats_agent_size(cfg);
	const struct weft_ats_ta_cfg ta = agent_ta_cfg(cfg);
	struct weft_carver c = { .block = mem };
	struct weft_ats_agent *a;

	if (size == 0 || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, size);
	a = agent_carve(&c, cfg);
	a->cfg = *cfg;
	weft_ats_ta_init(a->ta, &ta);
	agent_fill_pages(a);
	a->pages = (struct weft_ats_pages){
		.page = a->wanted,
		.room = AGENT_PAGES,
		.id = cfg->id,
	};
	for (unsigned int i = 0; i < cfg->n_clients; i++)
		if (weft_ats_ta_add(a->ta, cfg->client[i].id, cfg->client[i].stu, 0) != (int)i)
			return NULL;
	return a;
}

/* --- sessions --- */

void
weft_ats_agent_up(struct weft_ats_agent *a, unsigned int client)
{
	if (client < a->cfg.n_clients)
		a->client[client].is_up = true;
}

void
weft_ats_agent_down(struct weft_ats_agent *a, unsigned int client, uint64_t now_ns)
{
	uint32_t kept = 0;

	if (client >= a->cfg.n_clients)
		return;
	a->client[client].is_up = false;
	a->client[client].fence_ns = now_ns + a->cfg.fence_ns;
	weft_ats_ta_reset(a->ta, client);
	agent_walks_drop(a, client);
	for (uint32_t i = 0; i < a->n_replies; i++)
		if (a->reply[i].to != a->cfg.client[client].id)
			a->reply[kept++] = a->reply[i];
	a->n_replies = kept;
}

void
weft_ats_agent_time(struct weft_ats_agent *a, uint64_t now_ns)
{
	weft_ats_ta_time(a->ta, now_ns);
	agent_migrate_poll(a, now_ns);
	agent_walks(a);
	agent_pages(a);
}

uint64_t
weft_ats_agent_isolated(struct weft_ats_agent *a)
{
	return __atomic_exchange_n(&a->isolated, 0, __ATOMIC_RELAXED);
}

/* --- packets --- */

enum weft_verdict
weft_ats_agent_receive(struct weft_ats_agent *a, uint16_t from, const uint8_t *p, size_t len)
{
	uint8_t reply[WEFT_ATS_HEADER_MAX];
	struct weft_ats_packet packet;
	size_t reply_len = 0;
	enum weft_verdict v = weft_ats_decode(p, len, RCB, &packet);

	if (v == WEFT_OK && packet.requester != from)
		return WEFT_DROP_ATS_PEER;
	if (v != WEFT_OK || packet.kind != WEFT_ATS_PAGE)
		return weft_ats_ta_receive(a->ta, p, len);
	v = weft_ats_pages_receive(&a->pages, p, len, reply, &reply_len);
	if (reply_len != 0)
		agent_reply(a, from, reply, reply_len);
	return v;
}

size_t
weft_ats_agent_send_answer(struct weft_ats_agent *a, uint8_t *buf, size_t room, uint16_t *to)
{
	const size_t len = weft_ats_ta_send_completion(a->ta, buf, room);
	struct weft_ats_packet packet;

	if (len == 0 || weft_ats_decode(buf, len, RCB, &packet) != WEFT_OK)
		return 0;
	*to = packet.requester;
	return len;
}

static size_t
agent_take_reply(struct weft_ats_agent *a, uint16_t to, uint8_t *buf)
{
	for (uint32_t i = 0; i < a->n_replies; i++) {
		const size_t len = a->reply[i].len;

		if (a->reply[i].to != to)
			continue;
		memcpy(buf, a->reply[i].packet, len);
		memmove(&a->reply[i], &a->reply[i + 1], (--a->n_replies - i) * sizeof(a->reply[0]));
		return len;
	}
	return 0;
}

size_t
weft_ats_agent_send_posted(
	struct weft_ats_agent *a, unsigned int client, uint8_t *buf, size_t room, uint64_t now_ns)
{
	size_t len;

	if (client >= a->cfg.n_clients || !a->client[client].is_up || room < WEFT_ATS_PACKET_MAX)
		return 0;
	len = weft_ats_ta_send_invalidate(a->ta, client, buf, room, now_ns);
	return len != 0 ? len : agent_take_reply(a, a->cfg.client[client].id, buf);
}
