/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A translation unit: its memory, its sessions with the agent, time and packets. */

#include "xlate_priv.h"

#include "weft_carve.h"

#define STREAMS 64
#define RCB 128
#define RETRIES 2
#define BACKOFFS 16 /* the first is a part of the time for an answer */

const struct weft_counter weft_xlate_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_xlate_counters.def"
#undef WEFT_COUNTER
};

const uint64_t *
weft_xlate_counts(const struct weft_xlate *x)
{
	return x->count;
}

const struct weft_ats_atc *
weft_xlate_peer(const struct weft_xlate *x)
{
	return x->peer;
}

const struct weft_atc *
weft_xlate_cache(const struct weft_xlate *x)
{
	return x->cache;
}

/* --- memory --- */

static bool
xlate_is_power(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static bool
xlate_cfg_is_good(const struct weft_xlate_cfg *cfg)
{
	return cfg->answer_ns != 0 && xlate_is_power(cfg->entries) &&
	       cfg->entries >= WEFT_ATC_WAYS && cfg->entries <= 1u << 20 &&
	       (cfg->tags == 0 || xlate_is_power(cfg->tags)) && cfg->tags <= WEFT_XLATE_TAGS_MAX &&
	       (cfg->tags == 0 || (cfg->contexts == 1 && !cfg->is_ordered)) && cfg->places != 0 &&
	       cfg->places <= WEFT_XLATE_PLACES_MAX && cfg->share != 0 &&
	       cfg->share <= cfg->places && cfg->contexts != UINT16_MAX &&
	       cfg->prefetch_degree >= 1 && cfg->prefetch_degree <= WEFT_ATC_PREFETCH_MAX &&
	       cfg->stu <= 18;
}

/* What follows from the rest is said. */
static struct weft_xlate_cfg
xlate_cfg_full(const struct weft_xlate_cfg *cfg)
{
	struct weft_xlate_cfg full = *cfg;

	full.contexts = cfg->contexts == 0 ? 1 : cfg->contexts;
	if (cfg->tags != 0 && cfg->tags <= WEFT_XLATE_TAGS_MAX)
		full.places = full.share = (uint16_t)cfg->tags;
	return full;
}

static struct weft_atc_cfg
xlate_cache_cfg(const struct weft_xlate_cfg *cfg)
{
	struct weft_atc_cfg cache = { .contexts = cfg->contexts, .kernel = cfg->kernel };

	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++)
		cache.sets[k] = cfg->entries / WEFT_ATC_WAYS;
	return cache;
}

static struct weft_ats_atc_cfg
xlate_peer_cfg(const struct weft_xlate_cfg *cfg, struct weft_atc *cache)
{
	return (struct weft_ats_atc_cfg){
		.cache = cache,
		.timeout_ns = cfg->answer_ns,
		.backoff_ns = cfg->answer_ns / BACKOFFS,
		.id = cfg->id,
		.rcb = RCB,
		.slots = XLATE_SLOTS,
		.reads = (uint16_t)cfg->tags,
		.tcs = 1 << XLATE_TC,
		.retries = RETRIES,
	};
}

/* Its parts are still to begin. */
static struct weft_xlate *
xlate_carve(struct weft_carver *carver, const struct weft_xlate_cfg *cfg)
{
	const struct weft_atc_cfg cache_at = xlate_cache_cfg(cfg);
	const struct weft_ats_atc_cfg peer_at = xlate_peer_cfg(cfg, NULL);
	struct weft_xlate *x = weft_carve(carver, sizeof(*x));
	struct weft_atc *cache = weft_carve(carver, weft_atc_size(&cache_at));
	struct weft_ats_atc *peer = weft_carve(carver, ats_atc_size(&peer_at, cfg->contexts));
	struct weft_atc_prefetcher *prefetcher =
		weft_carve(carver, weft_atc_prefetcher_size(STREAMS));
	struct xlate_entry *entry = weft_carve(carver, cfg->places * sizeof(*entry));
	struct xlate_context *context = weft_carve(carver, cfg->contexts * sizeof(*context));
	struct xlate_request *request = weft_carve(carver, cfg->tags * sizeof(*request));
	struct xlate_write *write =
		weft_carve(carver, cfg->tags == 0 ? 0 : XLATE_WRITES * sizeof(*write));

	if (x != NULL) {
		x->cache = cache;
		x->peer = peer;
		x->prefetcher = prefetcher;
		x->entry = entry;
		x->context = context;
		x->request = request;
		x->write = write;
	}
	return x;
}

size_t
weft_xlate_size(const struct weft_xlate_cfg *cfg)
{
	const struct weft_xlate_cfg full = xlate_cfg_full(cfg);
	struct weft_carver carver = { 0 };

	if (!xlate_cfg_is_good(&full))
		return 0;
	xlate_carve(&carver, &full);
	return carver.len;
}

/* After a reset the peer knows of context 0 alone. */
static void
xlate_bind(struct weft_xlate *x)
{
	if (x->cfg.contexts > 1)
		weft_ats_atc_reg_set(x->peer, WEFT_ATS_REG_PASID_CTL, WEFT_ATS_PASID_E);
	for (uint16_t i = 1; i < x->cfg.contexts; i++)
		weft_ats_atc_bind(x->peer, i, i);
}

struct weft_xlate *
weft_xlate_init(void *mem, const struct weft_xlate_cfg *cfg)
{
	const struct weft_xlate_cfg full = xlate_cfg_full(cfg);
	struct weft_carver carver = { .block = mem };
	struct weft_ats_atc_cfg peer;
	struct weft_atc_cfg cache;
	struct weft_xlate *x;

	if (!xlate_cfg_is_good(&full) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_xlate_size(cfg));
	x = xlate_carve(&carver, &full);
	x->cfg = full;
	cache = xlate_cache_cfg(&full);
	x->cache = weft_atc_init(x->cache, &cache);
	peer = xlate_peer_cfg(&full, x->cache);
	x->peer = weft_ats_atc_init(x->peer, &peer);
	x->prefetcher = weft_atc_prefetcher_init(x->prefetcher, STREAMS, full.prefetch_degree);
	if (x->cache == NULL || x->peer == NULL || x->prefetcher == NULL)
		return NULL;
	xlate_wait_init(x);
	xlate_bind(x);
	xlate_page_reset(x);
	return x;
}

/* --- sessions --- */

void
weft_xlate_enable(struct weft_xlate *x)
{
	x->is_on = true;
	x->isolated_until_ns = 0;
	x->epoch++;
	weft_ats_atc_reg_set(x->peer, WEFT_ATS_REG_ATS_CTL,
		WEFT_ATS_CTL_E | (uint32_t)x->cfg.stu << WEFT_ATS_CTL_STU_SHIFT);
	xlate_page_on(x);
}

void
weft_xlate_reset(struct weft_xlate *x, uint64_t now_ns)
{
	x->is_on = false;
	x->epoch++;
	x->count[WEFT_XLATE_N_RESETS]++;
	weft_ats_atc_flr(x->peer, now_ns);
	xlate_bind(x);
	xlate_page_reset(x);
}

void
weft_xlate_time(struct weft_xlate *x, uint64_t now_ns)
{
	struct weft_ats_done d;

	weft_ats_atc_time(x->peer, now_ns);
	/* The agent may have heard from it since: an invalidation that it was late with. */
	if (x->isolated_until_ns != 0 && now_ns >= x->isolated_until_ns && x->is_on)
		weft_xlate_enable(x);
	while (weft_ats_atc_done(x->peer, &d)) {
		if (d.result == WEFT_ATS_REFUSED) {
			x->isolated_until_ns = now_ns + x->cfg.answer_ns;
			x->count[WEFT_XLATE_N_ISOLATED]++;
		}
		xlate_release(x, (uint16_t)(XLATE_TRANSLATION + d.slot), &d, now_ns);
	}
	xlate_page_time(x, now_ns);
	if (!xlate_is_empty(x, XLATE_LATER) && ats_atc_has_slot(x->peer))
		xlate_release_why(x, XLATE_LATER, WEFT_XLATE_LOOK);
}

/* --- packets --- */

enum weft_verdict
weft_xlate_receive(struct weft_xlate *x, const uint8_t *p, size_t len, uint64_t now_ns)
{
	struct weft_ats_packet packet;
	const enum weft_verdict v = weft_ats_decode(p, len, RCB, &packet);

	x->epoch += v == WEFT_OK &&
	            (packet.kind == WEFT_ATS_INVALIDATE ||
			    (packet.kind == WEFT_ATS_CPL && packet.status == WEFT_ATS_UR));
	if (v == WEFT_OK && packet.kind == WEFT_ATS_PAGE_GROUP)
		return xlate_page_receive(x, p, len);
	return ats_atc_receive(x->peer, v, &packet, now_ns);
}

size_t
weft_xlate_send_request(struct weft_xlate *x, uint8_t *buf, size_t room, uint64_t now_ns)
{
	return weft_ats_atc_send_request(x->peer, buf, room, now_ns);
}

size_t
weft_xlate_send_posted(struct weft_xlate *x, uint8_t *buf, size_t room)
{
	const size_t len = weft_ats_atc_send_completion(x->peer, XLATE_TC, buf, room);

	return len != 0 || room < WEFT_ATS_HEADER_MAX ? len : xlate_page_send(x, buf);
}

/* --- what leaves in pieces --- */

void
weft_xlate_leave(struct weft_xlate *x, unsigned int n)
{
	x->peer->queued[XLATE_TC] += n;
}

uint32_t
weft_xlate_left(const struct weft_xlate *x)
{
	return x->peer->queued[XLATE_TC];
}

void
weft_xlate_passed(struct weft_xlate *x, uint32_t left)
{
	x->peer->passed[XLATE_TC] = left;
}
