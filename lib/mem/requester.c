/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Requester (wire-formats.md section 4). Hot: read, write and response run per message. A lost
 * request keeps its tag and its credit through the quarantine, because the GFD may still hold it
 * in the buffer that the credit stands for.
 */

#include "requester_priv.h"

#include <errno.h>

#include "weft_carve.h"
#include "weft_telem.h"

#define HPA_MASK (((UINT64_C(1) << 52) - 1) & ~UINT64_C(63))

static const struct weft_counter counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_mem_requester_counters.def"
#undef WEFT_COUNTER
};

static bool
cfg_ok(const struct weft_requester_cfg *cfg)
{
	return cfg->tags >= 1 && cfg->tags <= WEFT_REQUESTER_TAGS_MAX &&
	       (cfg->tags & (cfg->tags - 1)) == 0 && cfg->id < WEFT_REQUESTER_PEERS - 1 &&
	       cfg->timeout_ns > 0;
}

static struct weft_requester *
requester_carve(struct weft_carver *c, const struct weft_requester_cfg *cfg)
{
	struct weft_requester *h = weft_carve(c, sizeof(*h));
	struct request_tag *tag = weft_carve(c, cfg->tags * sizeof(*tag));

	if (h != NULL)
		h->tag = tag;
	return h;
}

size_t
weft_requester_size(const struct weft_requester_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!cfg_ok(cfg))
		return 0;
	requester_carve(&c, cfg);
	return c.len;
}

struct weft_requester *
weft_requester_init(void *mem, const struct weft_requester_cfg *cfg)
{
	struct weft_carver c = { .block = mem };
	struct weft_requester *h;

	if (!cfg_ok(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_requester_size(cfg));
	h = requester_carve(&c, cfg);
	h->cfg = *cfg;
	weft_requester_tags_init(h);
	return h;
}

int
weft_requester_grant(struct weft_requester *h, uint16_t dpid, uint16_t req, uint16_t rwd)
{
	if (dpid >= WEFT_REQUESTER_PEERS - 1)
		return -EINVAL;
	h->peer[dpid].limit[WEFT_REQUEST_READ] = req;
	h->peer[dpid].limit[WEFT_REQUEST_WRITE] = rwd;
	return 0;
}

const struct weft_requester_peer *
weft_requester_peer(const struct weft_requester *h, uint16_t dpid)
{
	return dpid < WEFT_REQUESTER_PEERS - 1 ? &h->peer[dpid] : NULL;
}

static int
request_begin(struct weft_requester *h, enum weft_request_kind kind, uint16_t dpid, uint64_t hpa,
	uint64_t cookie, uint64_t now_ns, struct weft_msg *msg)
{
	struct weft_requester_peer *p;
	struct request_tag *t;

	if (dpid >= WEFT_REQUESTER_PEERS - 1 || (hpa & ~HPA_MASK) != 0)
		return -EINVAL;
	p = &h->peer[dpid];
	t = weft_requester_tag_oldest(h, TAG_FREE);
	if (t == NULL) {
		h->count[WEFT_MEM_N_NO_TAG]++;
		return -EAGAIN;
	}
	if (p->in_flight[kind] >= p->limit[kind]) {
		h->count[WEFT_MEM_N_NO_CREDIT]++;
		return -EAGAIN;
	}
	p->in_flight[kind]++;
	h->n_open++;
	h->count[kind == WEFT_REQUEST_READ ? WEFT_MEM_N_READS : WEFT_MEM_N_WRITES]++;
	t->cookie = cookie;
	t->since_ns = now_ns;
	t->stood = weft_request_clock_stood(h->cfg.clock, dpid, now_ns);
	t->dpid = dpid;
	t->kind = (uint8_t)kind;
	weft_requester_tag_move(h, t, TAG_OPEN);

	memset(msg, 0, offsetof(struct weft_msg, data));
	msg->meta_field = WEFT_META_FIELD_NOOP;
	msg->spid = h->cfg.id;
	msg->dpid = dpid;
	msg->tag = t->tag;
	msg->addr = hpa;
	return 0;
}

int
weft_mem_read(struct weft_requester *h, uint16_t dpid, uint64_t hpa, uint64_t cookie,
	uint64_t now_ns, struct weft_msg *msg)
{
	const int rc = request_begin(h, WEFT_REQUEST_READ, dpid, hpa, cookie, now_ns, msg);

	if (rc != 0)
		return rc;
	msg->kind = WEFT_MSG_M2S_REQ;
	msg->op = WEFT_M2S_REQ_MEMRD;
	return 0;
}

int
weft_mem_write(struct weft_requester *h, uint16_t dpid, uint64_t hpa, const uint8_t *data,
	uint64_t cookie, uint64_t now_ns, struct weft_msg *msg)
{
	const int rc = request_begin(h, WEFT_REQUEST_WRITE, dpid, hpa, cookie, now_ns, msg);

	if (rc != 0)
		return rc;
	msg->kind = WEFT_MSG_M2S_RWD;
	msg->op = WEFT_M2S_RWD_MEMWR;
	memcpy(msg->data, data, WEFT_MSG_DATA_LEN);
	return 0;
}

int
weft_mem_write_partial(struct weft_requester *h, uint16_t dpid, uint64_t hpa, const uint8_t *data,
	uint64_t enables, uint64_t cookie, uint64_t now_ns, struct weft_msg *msg)
{
	const int rc = weft_mem_write(h, dpid, hpa, data, cookie, now_ns, msg);

	if (rc != 0)
		return rc;
	msg->op = WEFT_M2S_RWD_MEMWRPTL;
	msg->trp = 1;
	msg->byte_enables = enables;
	return 0;
}

/* The open request that @p msg answers, or NULL: why not is counted. */
static struct request_tag *
request_of(struct weft_requester *h, const struct weft_msg *msg)
{
	struct request_tag *t = &h->tag[msg->tag & (h->cfg.tags - 1)];

	if (t->tag == msg->tag && t->queue == TAG_OPEN)
		return t;
	h->count[t->tag == msg->tag && t->queue == TAG_QUARANTINE ? WEFT_MEM_N_LATE
								  : WEFT_MEM_N_UNMATCHED]++;
	return NULL;
}

static bool
opcode_answers(const struct weft_msg *msg)
{
	if (msg->kind == WEFT_MSG_S2M_NDR)
		return msg->op == WEFT_S2M_NDR_CMP;
	return msg->op == WEFT_S2M_DRS_MEMDATA || msg->op == WEFT_S2M_DRS_MEMDATA_NXM;
}

static void
request_end(struct weft_requester *h, const struct request_tag *t, enum weft_request_status status,
	uint64_t now_ns, struct weft_completion *c)
{
	h->n_open--;
	c->cookie = t->cookie;
	c->latency_ns = now_ns - t->since_ns;
	c->data = NULL;
	c->kind = t->kind;
	c->status = (uint8_t)status;
}

/* NXM goes before poison: a GFD may be set to poison what is not there. */
static enum weft_request_status
response_status(struct weft_requester *h, const struct weft_msg *msg)
{
	if (msg->kind == WEFT_MSG_S2M_NDR) {
		h->count[WEFT_MEM_N_WRITES_DONE]++;
		return WEFT_REQUEST_DONE;
	}
	h->count[WEFT_MEM_N_READS_DONE]++;
	if (msg->op == WEFT_S2M_DRS_MEMDATA_NXM) {
		h->count[WEFT_MEM_N_NXM]++;
		return WEFT_REQUEST_NXM;
	}
	if (msg->poison != 0) {
		h->count[WEFT_MEM_N_POISON]++;
		return WEFT_REQUEST_POISON;
	}
	return WEFT_REQUEST_DONE;
}

enum weft_verdict
weft_mem_response(struct weft_requester *h, const struct weft_msg *msg, uint64_t now_ns,
	struct weft_completion *c)
{
	static const uint8_t answer[WEFT_REQUEST_KINDS] = { WEFT_MSG_S2M_DRS, WEFT_MSG_S2M_NDR };
	struct request_tag *t;

	if (msg->kind != WEFT_MSG_S2M_DRS && msg->kind != WEFT_MSG_S2M_NDR) {
		h->count[WEFT_MEM_N_WRONG_CLASS]++;
		return WEFT_DROP_WRONG_CLASS;
	}
	if (msg->dpid != h->cfg.id) {
		h->count[WEFT_MEM_N_NOT_MINE]++;
		return WEFT_DROP_NOT_MINE;
	}
	t = request_of(h, msg);
	if (t == NULL)
		return WEFT_DROP_NO_TAG;
	if (msg->kind != answer[t->kind]) {
		h->count[WEFT_MEM_N_WRONG_CLASS]++;
		return WEFT_DROP_WRONG_CLASS;
	}
	if (!opcode_answers(msg)) {
		h->count[WEFT_MEM_N_BAD_OPCODE]++;
		return WEFT_DROP_BAD_OPCODE;
	}
	request_end(h, t, response_status(h, msg), now_ns, c);
	if (msg->kind == WEFT_MSG_S2M_DRS)
		c->data = msg->data;
	weft_latency_add(&h->latency, c->latency_ns);
	weft_requester_tag_release(h, t);
	return WEFT_OK;
}

/* Ends as lost; what becomes of the tag is the caller's to say. */
static void
request_lost(
	struct weft_requester *h, struct request_tag *t, uint64_t now_ns, struct weft_completion *c)
{
	request_end(h, t, WEFT_REQUEST_LOST, now_ns, c);
	h->count[t->kind == WEFT_REQUEST_READ ? WEFT_MEM_N_READS_LOST : WEFT_MEM_N_WRITES_LOST]++;
	t->since_ns = now_ns;
}

static struct request_tag *
tag_behind(struct weft_requester *h, const struct request_tag *t)
{
	return t->next == TAG_NONE ? NULL : &h->tag[t->next];
}

unsigned int
weft_requester_expire(struct weft_requester *h, uint64_t now_ns, weft_completion_fn fn, void *arg,
	unsigned int max)
{
	struct weft_completion c;
	struct request_tag *t, *behind;
	unsigned int n = 0;

	while ((t = weft_requester_tag_oldest(h, TAG_QUARANTINE)) != NULL &&
		now_ns - t->since_ns >= h->cfg.quarantine_ns)
		weft_requester_tag_release(h, t);
	/* In the order of real time; what a clock that stood still has kept young is passed over. */
	for (t = weft_requester_tag_oldest(h, TAG_OPEN);
		n < max && t != NULL && now_ns - t->since_ns >= h->cfg.timeout_ns; t = behind) {
		behind = tag_behind(h, t);
		if (weft_request_clock_age(h->cfg.clock, t->dpid, t->since_ns, t->stood, now_ns) <
			h->cfg.timeout_ns)
			continue;
		request_lost(h, t, now_ns, &c);
		weft_requester_tag_move(h, t, TAG_QUARANTINE);
		n++;
		fn(arg, &c);
	}
	return n;
}

unsigned int
weft_requester_abort(struct weft_requester *h, uint16_t dpid, bool is_over, uint64_t now_ns,
	weft_completion_fn fn, void *arg)
{
	struct weft_completion c;
	unsigned int n = 0;

	for (uint32_t i = 0; i < h->cfg.tags; i++) {
		struct request_tag *t = &h->tag[i];
		const bool is_open = t->queue == TAG_OPEN;

		if (t->queue == TAG_FREE || t->dpid != dpid || (!is_open && !is_over))
			continue;
		if (is_open)
			request_lost(h, t, now_ns, &c);
		if (is_over)
			weft_requester_tag_release(h, t);
		else
			weft_requester_tag_move(h, t, TAG_QUARANTINE);
		if (!is_open)
			continue;
		n++;
		fn(arg, &c);
	}
	return n;
}

uint32_t
weft_requester_outstanding(const struct weft_requester *h)
{
	return h->n_open;
}

const struct weft_latency *
weft_requester_latency(const struct weft_requester *h)
{
	return &h->latency;
}

const struct weft_counter *
weft_requester_counters(void)
{
	return counters;
}

const uint64_t *
weft_requester_counts(const struct weft_requester *h)
{
	return h->count;
}
