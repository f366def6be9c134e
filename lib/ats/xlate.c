/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A client: requests from the host to the cache, to what they wait for, and out. */

#include "xlate_priv.h"

#include <errno.h>

#include "weft_carve.h"
#include "weft_telem.h"

#define SLOTS 32
#define STREAMS 64
#define RCB 128
#define RETRIES 2
#define BACKOFFS 16 /* the first is a part of the time for an answer */
#define TC 0

static const struct weft_counter counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_xlate_counters.def"
#undef WEFT_COUNTER
};

const struct weft_counter *
weft_xlate_counters(void)
{
	return counters;
}

const uint64_t *
weft_xlate_counts(const struct weft_xlate *c)
{
	return c->count;
}

const struct weft_ats_atc *
weft_xlate_peer(const struct weft_xlate *c)
{
	return c->peer;
}

const struct weft_atc *
weft_xlate_cache(const struct weft_xlate *c)
{
	return c->cache;
}

unsigned int
weft_xlate_waiting(const struct weft_xlate *c)
{
	return weft_pending_used(c->pending) + c->list[XLATE_LATER].n + c->list[XLATE_PAGE].n;
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
	       xlate_is_power(cfg->tags) && cfg->tags <= WEFT_XLATE_TAGS_MAX &&
	       cfg->prefetch_degree >= 1 && cfg->prefetch_degree <= WEFT_ATC_PREFETCH_MAX &&
	       cfg->stu <= 18;
}

static struct weft_atc_cfg
xlate_cache_cfg(const struct weft_xlate_cfg *cfg)
{
	struct weft_atc_cfg cache = { .contexts = 1, .kernel = cfg->kernel };

	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++)
		cache.sets[k] = cfg->entries / WEFT_ATC_WAYS;
	return cache;
}

static struct weft_pending_cfg
xlate_pending_cfg(const struct weft_xlate_cfg *cfg)
{
	return (struct weft_pending_cfg){
		.slots = SLOTS,
		.entries = (uint16_t)cfg->tags,
		.contexts = 1,
		.per_ctx_max = (uint16_t)cfg->tags,
	};
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
		.slots = SLOTS,
		.reads = (uint16_t)cfg->tags,
		.tcs = 1 << TC,
		.retries = RETRIES,
	};
}

/* The peer's size follows from its cache, of one context here, and is no less than for its slots. */
static size_t
xlate_peer_size(const struct weft_xlate_cfg *cfg, struct weft_atc *cache)
{
	const struct weft_ats_atc_cfg peer = xlate_peer_cfg(cfg, cache);

	return weft_ats_atc_size(&peer);
}

/* Bytes of the peer of a cache with one context: a cache of the least size says it. */
static size_t
xlate_least_peer_size(const struct weft_xlate_cfg *cfg)
{
	const struct weft_atc_cfg least = { .sets = { 1 }, .contexts = 1 };
	uint8_t mem[8192] __attribute__((aligned(WEFT_CACHE_LINE)));

	if (weft_atc_size(&least) > sizeof(mem))
		return 0;
	return xlate_peer_size(cfg, weft_atc_init(mem, &least));
}

/* Its parts are still to begin. */
static struct weft_xlate *
xlate_carve(struct weft_carver *carver, const struct weft_xlate_cfg *cfg, size_t peer_size)
{
	const struct weft_atc_cfg cache_at = xlate_cache_cfg(cfg);
	const struct weft_pending_cfg pending_at = xlate_pending_cfg(cfg);
	struct weft_xlate *c = weft_carve(carver, sizeof(*c));
	struct weft_atc *cache = weft_carve(carver, weft_atc_size(&cache_at));
	struct weft_ats_atc *peer = weft_carve(carver, peer_size);
	struct weft_pending *pending = weft_carve(carver, weft_pending_size(&pending_at));
	struct weft_atc_prefetcher *prefetcher =
		weft_carve(carver, weft_atc_prefetcher_size(STREAMS));
	struct xlate_request *request = weft_carve(carver, cfg->tags * sizeof(*request));

	if (c != NULL) {
		c->cache = cache;
		c->peer = peer;
		c->pending = pending;
		c->prefetcher = prefetcher;
		c->request = request;
	}
	return c;
}

size_t
weft_xlate_size(const struct weft_xlate_cfg *cfg)
{
	struct weft_carver carver = { 0 };
	size_t peer_size;

	if (!xlate_cfg_is_good(cfg))
		return 0;
	peer_size = xlate_least_peer_size(cfg);
	if (peer_size == 0)
		return 0;
	xlate_carve(&carver, cfg, peer_size);
	return carver.len;
}

struct weft_xlate *
weft_xlate_init(void *mem, const struct weft_xlate_cfg *cfg)
{
	struct weft_carver carver = { .block = mem };
	struct weft_pending_cfg pending;
	struct weft_ats_atc_cfg peer;
	struct weft_atc_cfg cache;
	struct weft_xlate *c;

	if (!xlate_cfg_is_good(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_xlate_size(cfg));
	c = xlate_carve(&carver, cfg, xlate_least_peer_size(cfg));
	c->cfg = *cfg;
	cache = xlate_cache_cfg(cfg);
	pending = xlate_pending_cfg(cfg);
	c->cache = weft_atc_init(c->cache, &cache);
	peer = xlate_peer_cfg(cfg, c->cache);
	c->peer = weft_ats_atc_init(c->peer, &peer);
	c->pending = weft_pending_init(c->pending, &pending);
	c->prefetcher = weft_atc_prefetcher_init(c->prefetcher, STREAMS, cfg->prefetch_degree);
	for (unsigned int l = 0; l < XLATE_LISTS; l++)
		c->list[l] = (struct xlate_ends){ XLATE_NONE, XLATE_NONE, 0 };
	xlate_page_reset(c);
	return c->cache == NULL || c->peer == NULL || c->pending == NULL || c->prefetcher == NULL
	               ? NULL
	               : c;
}

/* --- lists --- */

void
xlate_list_put(struct weft_xlate *c, enum xlate_list list, struct xlate_request *r)
{
	struct xlate_ends *e = &c->list[list];
	const uint16_t i = (uint16_t)(r - c->request);

	r->state = XLATE_LISTED;
	r->next = XLATE_NONE;
	if (e->n++ == 0)
		e->head = i;
	else
		c->request[e->tail].next = i;
	e->tail = i;
}

struct xlate_request *
xlate_list_take(struct weft_xlate *c, enum xlate_list list)
{
	struct xlate_ends *e = &c->list[list];
	struct xlate_request *r;

	if (e->n == 0)
		return NULL;
	r = &c->request[e->head];
	e->head = r->next;
	e->n--;
	return r;
}

void
xlate_retry(struct weft_xlate *c, struct xlate_request *r)
{
	xlate_list_put(c, r->msg.kind == WEFT_MSG_M2S_RWD ? XLATE_WRITE : XLATE_READ, r);
}

/* --- sessions --- */

void
weft_xlate_enable(struct weft_xlate *c)
{
	c->is_on = true;
	c->isolated_until_ns = 0;
	weft_ats_atc_reg_set(c->peer, WEFT_ATS_REG_ATS_CTL,
		WEFT_ATS_CTL_E | (uint32_t)c->cfg.stu << WEFT_ATS_CTL_STU_SHIFT);
	xlate_page_on(c);
}

void
weft_xlate_reset(struct weft_xlate *c, uint64_t now_ns)
{
	c->is_on = false;
	c->count[WEFT_XLATE_N_RESETS]++;
	weft_ats_atc_flr(c->peer, now_ns);
	xlate_page_reset(c);
}

void
weft_xlate_ended(struct weft_xlate *c, uint16_t dpid)
{
	for (uint32_t i = c->write_head; i != c->write_tail; i++) {
		struct xlate_write *w = &c->write[i % XLATE_WRITES];

		w->is_lost |= w->dpid == dpid;
	}
	if (!c->is_on)
		return;
	c->count[WEFT_XLATE_N_RESETS]++;
	weft_ats_atc_reg_set(
		c->peer, WEFT_ATS_REG_ATS_CTL, (uint32_t)c->cfg.stu << WEFT_ATS_CTL_STU_SHIFT);
	weft_xlate_enable(c);
}

/* Writes pass in their order: the peer knows only how many did. */
static void
xlate_pass_writes(struct weft_xlate *c)
{
	while (c->write_head != c->write_tail && c->write[c->write_head % XLATE_WRITES].is_done) {
		c->write_head++;
		weft_ats_atc_write_done(c->peer, TC);
	}
}

void
weft_xlate_began(struct weft_xlate *c, uint16_t dpid)
{
	for (uint32_t i = c->write_head; i != c->write_tail; i++) {
		struct xlate_write *w = &c->write[i % XLATE_WRITES];

		w->is_done |= w->is_lost && w->dpid == dpid;
	}
	xlate_pass_writes(c);
}

/* --- requests --- */

static struct xlate_request *
xlate_request_at(struct weft_xlate *c, uint16_t tag)
{
	return &c->request[tag & (c->cfg.tags - 1)];
}

int
weft_xlate_submit(struct weft_xlate *c, const struct weft_msg *m, uint64_t now_ns)
{
	struct xlate_request *r = xlate_request_at(c, m->tag);

	if (r->state == XLATE_LISTED || r->state == XLATE_PARKED)
		return -EBUSY;
	/* Lost; its answer, should one arrive, is ignored. */
	if (r->state == XLATE_SENT && r->read >= 0)
		weft_ats_atc_read_done(c->peer, (unsigned int)r->read);
	*r = (struct xlate_request){
		.msg = *m,
		.until_ns = now_ns + c->cfg.life_ns,
		.read = -1,
	};
	xlate_retry(c, r);
	return 0;
}

/* It misses: ask, or wait until something can be asked. */
static void
xlate_translate(struct weft_xlate *c, struct xlate_request *r)
{
	const unsigned int n = weft_atc_prefetcher_miss(
		c->prefetcher, 0, r->msg.addr, WEFT_ATS_PAGE_LOG2 + (unsigned int)c->cfg.stu);
	const int slot = weft_ats_atc_request(c->peer, 0, r->msg.addr, n, false);

	if (slot < 0 || weft_pending_add(c->pending, (unsigned int)slot, 0, r) != 0) {
		xlate_list_put(c, XLATE_LATER, r);
		return;
	}
	c->count[WEFT_XLATE_N_MISSED]++;
	r->state = XLATE_PARKED;
}

static bool
xlate_begin_write(struct weft_xlate *c, struct xlate_request *r)
{
	if (c->write_tail - c->write_head == XLATE_WRITES)
		return false;
	r->has_write = true;
	r->write = c->write_tail++;
	c->write[r->write % XLATE_WRITES] =
		(struct xlate_write){ .tag = r->msg.tag, .dpid = XLATE_NONE };
	weft_ats_atc_write_begin(c->peer, TC);
	return true;
}

static bool
xlate_begin(struct weft_xlate *c, struct xlate_request *r)
{
	int read;

	r->has_write = false;
	r->read = -1;
	if (r->msg.kind == WEFT_MSG_M2S_RWD)
		return xlate_begin_write(c, r);
	read = weft_ats_atc_read_begin(c->peer, 0, r->msg.addr, WEFT_MSG_DATA_LEN);
	r->read = (int16_t)read;
	return read >= 0;
}

static enum weft_xlate_next
xlate_refuse(struct weft_xlate *c, struct xlate_request *r, enum weft_xlate_counter why,
	struct weft_msg *m)
{
	c->count[why]++;
	r->state = XLATE_SENT;
	r->has_write = false;
	r->read = -1;
	*m = r->msg;
	return WEFT_XLATE_REFUSE;
}

/* NONE: it waits somewhere now, or is gone. */
static enum weft_xlate_next
xlate_try_one(struct weft_xlate *c, struct xlate_request *r, uint64_t now_ns, struct weft_msg *m)
{
	const unsigned int want = r->msg.kind == WEFT_MSG_M2S_RWD ? WEFT_ATC_W : WEFT_ATC_R;
	uint64_t pa = 0;

	if (now_ns >= r->until_ns) {
		c->count[WEFT_XLATE_N_EXPIRED]++;
		r->state = XLATE_FREE;
		return WEFT_XLATE_NONE;
	}
	if (r->is_denied)
		return xlate_refuse(c, r, WEFT_XLATE_N_NO_PAGE, m);
	switch (weft_atc_lookup(c->cache, 0, r->msg.addr, want, &pa)) {
	case WEFT_ATC_HIT: break;
	case WEFT_ATC_MISS: xlate_translate(c, r); return WEFT_XLATE_NONE;
	default: return xlate_refuse(c, r, WEFT_XLATE_N_DENIED, m);
	}
	if (!xlate_begin(c, r)) {
		xlate_list_put(c, XLATE_LATER, r);
		return WEFT_XLATE_NONE;
	}
	c->count[WEFT_XLATE_N_TRANSLATED]++;
	r->state = XLATE_SENT;
	*m = r->msg;
	m->addr = pa;
	return WEFT_XLATE_SEND;
}

enum weft_xlate_next
weft_xlate_next(struct weft_xlate *c, unsigned int kinds, uint64_t now_ns, struct weft_msg *m)
{
	static_assert(1 << XLATE_READ == WEFT_XLATE_READS && 1 << XLATE_WRITE == WEFT_XLATE_WRITES,
		"lists by kind");

	for (unsigned int i = 0; i < 2; i++) {
		const enum xlate_list list = c->writes_turn ? XLATE_WRITE : XLATE_READ;
		struct xlate_request *r;

		c->writes_turn = !c->writes_turn;
		while ((kinds >> list & 1) != 0 && (r = xlate_list_take(c, list)) != NULL) {
			const enum weft_xlate_next what = xlate_try_one(c, r, now_ns, m);

			if (what != WEFT_XLATE_NONE)
				return what;
		}
	}
	return WEFT_XLATE_NONE;
}

void
weft_xlate_sent(struct weft_xlate *c, uint16_t tag, uint16_t dpid)
{
	const struct xlate_request *r = xlate_request_at(c, tag);

	if (r->state == XLATE_SENT && r->msg.tag == tag && r->has_write)
		c->write[r->write % XLATE_WRITES].dpid = dpid;
}

/* The answer to a write that its host gave up, and whose tag is another request's by now. */
static void
xlate_late_write(struct weft_xlate *c, uint16_t tag)
{
	for (uint32_t i = c->write_head; i != c->write_tail; i++)
		if (c->write[i % XLATE_WRITES].tag == tag)
			c->write[i % XLATE_WRITES].is_done = true;
	xlate_pass_writes(c);
}

bool
weft_xlate_response(struct weft_xlate *c, const struct weft_msg *m)
{
	struct xlate_request *r = xlate_request_at(c, m->tag);

	if (r->state != XLATE_SENT || r->msg.tag != m->tag) {
		if (m->kind == WEFT_MSG_S2M_NDR)
			xlate_late_write(c, m->tag);
		return true;
	}
	r->state = XLATE_FREE;
	if (r->has_write) {
		c->write[r->write % XLATE_WRITES].is_done = true;
		xlate_pass_writes(c);
	}
	if (r->read < 0 || weft_ats_atc_read_done(c->peer, (unsigned int)r->read))
		return true;
	c->count[WEFT_XLATE_N_AGAIN]++;
	xlate_retry(c, r);
	return false;
}

/* --- answers --- */

/* Next step of a request whose translation was answered: nearly always another look-up. */
static void
xlate_settle(struct weft_xlate *c, struct xlate_request *r, const struct weft_ats_done *d,
	uint64_t now_ns)
{
	const unsigned int log2 = WEFT_ATS_PAGE_LOG2 + (unsigned int)c->cfg.stu;

	if (d->result == WEFT_ATS_NO_PAGE && r->msg.addr >> log2 == d->va >> log2)
		xlate_page_wait(c, r, now_ns);
	else
		xlate_retry(c, r);
}

void
weft_xlate_time(struct weft_xlate *c, uint64_t now_ns)
{
	const uint32_t later = c->list[XLATE_LATER].n;
	struct xlate_request *r;
	struct weft_ats_done d;

	weft_ats_atc_time(c->peer, now_ns);
	/* The agent may have heard from it since: an invalidation that it was late with. */
	if (c->isolated_until_ns != 0 && now_ns >= c->isolated_until_ns && c->is_on)
		weft_xlate_enable(c);
	while (weft_ats_atc_done(c->peer, &d)) {
		if (d.result == WEFT_ATS_REFUSED) {
			c->isolated_until_ns = now_ns + c->cfg.answer_ns;
			c->count[WEFT_XLATE_N_ISOLATED]++;
		}
		while ((r = weft_pending_take(c->pending, d.slot)) != NULL)
			xlate_settle(c, r, &d, now_ns);
	}
	xlate_page_time(c, now_ns);
	for (uint32_t i = 0; i < later; i++)
		xlate_retry(c, xlate_list_take(c, XLATE_LATER));
}

/* --- packets --- */

enum weft_verdict
weft_xlate_receive(struct weft_xlate *c, const uint8_t *p, size_t len, uint64_t now_ns)
{
	struct weft_ats_packet packet;
	const enum weft_verdict v = weft_ats_decode(p, len, RCB, &packet);

	if (v == WEFT_OK && packet.kind == WEFT_ATS_PAGE_GROUP)
		return xlate_page_receive(c, p, len);
	return weft_ats_atc_receive(c->peer, p, len, now_ns);
}

size_t
weft_xlate_send_request(struct weft_xlate *c, uint8_t *buf, size_t room, uint64_t now_ns)
{
	return weft_ats_atc_send_request(c->peer, buf, room, now_ns);
}

size_t
weft_xlate_send_posted(struct weft_xlate *c, uint8_t *buf, size_t room)
{
	const size_t len = weft_ats_atc_send_completion(c->peer, TC, buf, room);

	return len != 0 || room < WEFT_ATS_HEADER_MAX ? len : xlate_page_send(c, buf);
}
