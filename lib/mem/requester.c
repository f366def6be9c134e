/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Requests from their beginning to their end: see weft_requester.h. Hot: begin and the end by an
 * answer run per request. A lost request keeps its tag and its credit through the quarantine,
 * because the completer may still hold it in the buffer that the credit stands for.
 */

#include "requester_priv.h"

#include <errno.h>

#include "weft_carve.h"

#define PAGE 4096 /* that no request crosses */

static const struct requester_protocol *
requester_protocol(const struct weft_requester_cfg *cfg)
{
	return cfg->protocol == WEFT_REQUESTER_MEM   ? &weft_requester_mem
	       : cfg->protocol == WEFT_REQUESTER_UIO ? &weft_requester_uio
	                                             : NULL;
}

static bool
requester_cfg_ok(const struct weft_requester_cfg *cfg)
{
	const struct requester_protocol *p = requester_protocol(cfg);

	return p != NULL && cfg->tags >= 1 && cfg->tags <= p->tags_max &&
	       (cfg->tags & (cfg->tags - 1)) == 0 && cfg->id <= p->id_max && cfg->timeout_ns > 0;
}

static struct weft_requester *
requester_carve(struct weft_carver *c, const struct weft_requester_cfg *cfg)
{
	struct weft_requester *r = weft_carve(c, sizeof(*r));
	struct request_tag *tag = weft_carve(c, cfg->tags * sizeof(*tag));
	uint8_t *state = weft_carve(c, (size_t)cfg->tags * requester_protocol(cfg)->state_len);

	if (r != NULL) {
		r->tag = tag;
		r->state = state;
	}
	return r;
}

size_t
weft_requester_size(const struct weft_requester_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!requester_cfg_ok(cfg))
		return 0;
	requester_carve(&c, cfg);
	return c.len;
}

struct weft_requester *
weft_requester_init(void *mem, const struct weft_requester_cfg *cfg)
{
	struct weft_carver c = { .block = mem };
	struct weft_requester *r;

	if (!requester_cfg_ok(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_requester_size(cfg));
	r = requester_carve(&c, cfg);
	r->cfg = *cfg;
	r->protocol = requester_protocol(cfg);
	for (unsigned int i = 0; i < WEFT_REQUESTER_PEERS; i++)
		for (unsigned int k = 0; k < WEFT_REQUEST_KINDS; k++)
			r->peer[i].limit[k] = r->protocol->limit;
	weft_requester_tags_init(r);
	return r;
}

int
weft_requester_grant(struct weft_requester *r, uint16_t dpid, uint16_t reads, uint16_t writes)
{
	if (dpid >= WEFT_REQUESTER_PEERS - 1)
		return -EINVAL;
	r->peer[dpid].limit[WEFT_REQUEST_READ] = reads;
	r->peer[dpid].limit[WEFT_REQUEST_WRITE] = writes;
	return 0;
}

const struct weft_requester_peer *
weft_requester_peer(const struct weft_requester *r, uint16_t dpid)
{
	return dpid < WEFT_REQUESTER_PEERS - 1 ? &r->peer[dpid] : NULL;
}

const struct weft_requester_peer *
weft_requester_anybody(const struct weft_requester *r)
{
	return &r->peer[WEFT_REQUESTER_ANYBODY];
}

uint32_t
weft_requester_open_at(const struct weft_requester_peer *p)
{
	const uint32_t held =
		(uint32_t)__atomic_load_n(&p->in_flight[WEFT_REQUEST_READ], __ATOMIC_RELAXED) +
		__atomic_load_n(&p->in_flight[WEFT_REQUEST_WRITE], __ATOMIC_RELAXED);
	const uint32_t lost = __atomic_load_n(&p->quarantined, __ATOMIC_RELAXED);

	return held > lost ? held - lost : 0;
}

static bool
requester_request_is_good(const struct requester_protocol *p, const struct weft_request *rq)
{
	return rq->dpid <= p->dpid_max && rq->addr <= p->addr_max && rq->len != 0 &&
	       rq->len <= p->len_max && ((rq->addr | rq->len) & (p->align - 1)) == 0 &&
	       rq->addr % PAGE + rq->len <= PAGE;
}

int
weft_requester_begin(struct weft_requester *r, struct weft_request *rq, uint64_t now_ns)
{
	struct weft_requester_peer *p;
	struct request_tag *t;

	if (!requester_request_is_good(r->protocol, rq))
		return -EINVAL;
	p = &r->peer[rq->dpid];
	t = requester_oldest(r, TAG_FREE);
	if (t == NULL) {
		r->count[r->protocol->n_no_tag]++;
		return -EAGAIN;
	}
	if (p->in_flight[rq->kind] >= p->limit[rq->kind]) {
		r->count[r->protocol->n_no_credit]++;
		return -EAGAIN;
	}
	p->in_flight[rq->kind]++;
	r->n_open++;
	r->count[r->protocol->n_begun[rq->kind]]++;
	t->cookie = rq->cookie;
	t->since_ns = now_ns;
	t->stood = weft_request_clock_stood(r->cfg.clock, rq->dpid, now_ns);
	t->dpid = rq->dpid;
	t->len = rq->len;
	t->kind = rq->kind;
	weft_requester_tag_move(r, t, TAG_OPEN);
	rq->tag = t->tag;
	return 0;
}

void
weft_requester_missed(struct weft_requester *r, uint16_t tag)
{
	const struct request_tag *t = &r->tag[tag & (r->cfg.tags - 1)];

	r->count[t->tag == tag && t->queue == TAG_QUARANTINE ? r->protocol->n_late
							     : r->protocol->n_unmatched]++;
}

void
weft_requester_sent_to(struct weft_requester *r, uint16_t tag, uint16_t dpid, uint64_t now_ns)
{
	const struct weft_request_clock *clock = r->cfg.clock;
	struct request_tag *t = requester_open_tag(r, tag);

	if (t == NULL)
		return;
	/* What has not counted so far must not count from now on either. */
	t->stood = weft_request_clock_stood(clock, dpid, now_ns) -
	           (weft_request_clock_stood(clock, t->dpid, now_ns) - t->stood);
	r->peer[t->dpid].in_flight[t->kind]--;
	r->peer[dpid].in_flight[t->kind]++;
	t->dpid = dpid;
}

/* Ends as lost; what becomes of the tag is the caller's to say. */
static void
requester_request_lost(
	struct weft_requester *r, struct request_tag *t, uint64_t now_ns, struct weft_completion *c)
{
	requester_describe(t, WEFT_REQUEST_LOST, now_ns, c);
	r->n_open--;
	r->count[r->protocol->n_lost[t->kind]]++;
	t->since_ns = now_ns;
}

static struct request_tag *
requester_request_behind(struct weft_requester *r, const struct request_tag *t)
{
	return t->next == TAG_NONE ? NULL : &r->tag[t->next];
}

unsigned int
weft_requester_expire(struct weft_requester *r, uint64_t now_ns, weft_completion_fn fn, void *arg,
	unsigned int max)
{
	struct weft_completion c;
	struct request_tag *t, *behind;
	unsigned int n = 0;

	while ((t = requester_oldest(r, TAG_QUARANTINE)) != NULL &&
		now_ns - t->since_ns >= r->cfg.quarantine_ns)
		weft_requester_tag_release(r, t);
	/*
	 * In the order of real time; what a clock that stood still has kept young is passed over.
	 */
	for (t = requester_oldest(r, TAG_OPEN);
		n < max && t != NULL && now_ns - t->since_ns >= r->cfg.timeout_ns; t = behind) {
		behind = requester_request_behind(r, t);
		if (weft_request_clock_age(r->cfg.clock, t->dpid, t->since_ns, t->stood, now_ns) <
			r->cfg.timeout_ns)
			continue;
		requester_request_lost(r, t, now_ns, &c);
		weft_requester_tag_move(r, t, TAG_QUARANTINE);
		n++;
		fn(arg, &c);
	}
	return n;
}

unsigned int
weft_requester_abort(struct weft_requester *r, uint16_t dpid, bool is_over, uint64_t now_ns,
	weft_completion_fn fn, void *arg)
{
	struct weft_completion c;
	unsigned int n = 0;

	for (uint32_t i = 0; i < r->cfg.tags; i++) {
		struct request_tag *t = &r->tag[i];
		const bool is_open = t->queue == TAG_OPEN;

		if (t->queue == TAG_FREE || t->dpid != dpid || (!is_open && !is_over))
			continue;
		if (is_open)
			requester_request_lost(r, t, now_ns, &c);
		if (is_over)
			weft_requester_tag_release(r, t);
		else
			weft_requester_tag_move(r, t, TAG_QUARANTINE);
		if (!is_open)
			continue;
		n++;
		fn(arg, &c);
	}
	return n;
}

bool
weft_requester_is_open(const struct weft_requester *r, uint16_t tag)
{
	return requester_open_tag(r, tag) != NULL;
}

bool
weft_requester_is_full(const struct weft_requester *r)
{
	return r->queue[TAG_FREE].head == TAG_NONE;
}

uint32_t
weft_requester_free(const struct weft_requester *r)
{
	return r->cfg.tags - r->n_open - r->n_quarantine;
}

uint32_t
weft_requester_outstanding(const struct weft_requester *r)
{
	return r->n_open;
}

const struct weft_latency *
weft_requester_latency(const struct weft_requester *r)
{
	return &r->latency;
}

const uint64_t *
weft_requester_counts(const struct weft_requester *r)
{
	return r->count;
}
