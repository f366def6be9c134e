/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Requests by tag: see weft_uio_requester.h. Tags are reused oldest first, and the bits of the tag
 * that the table does not need count its uses, so that a late answer does not meet a new request.
 */

#include "weft_uio_requester.h"

#include <errno.h>

#include "weft_base.h"
#include "weft_carve.h"
#include "weft_telem.h"

#define NONE UINT16_MAX
#define ANYBODY UINT16_MAX

/* Each in the order of time. */
enum queue { FREE, OPEN, QUARANTINE, QUEUES };

struct slot {
	uint64_t cookie;
	uint64_t addr;
	uint64_t since_ns; /* open: begun; resting: lost */
	uint16_t prev, next;
	uint16_t tag;
	uint16_t len;
	uint16_t got; /* bytes of a read that came */
	uint16_t dpid; /* who answers, or ANYBODY */
	uint32_t stood; /* open: by cfg.clock, when it was begun, or sent to somebody */
	uint8_t queue;
	uint8_t kind;
	bool poisoned;
	uint8_t data[WEFT_UIO_BYTES_MAX];
};

struct weft_uio_requester {
	struct weft_uio_requester_cfg cfg;
	struct slot *slot;
	uint32_t n[QUEUES];
	uint16_t head[QUEUES], tail[QUEUES];
	struct weft_latency latency;
	uint64_t count[WEFT_UIO_N_COUNTERS];
};

static const struct weft_counter counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_uio_counters.def"
#undef WEFT_COUNTER
};

static bool
cfg_ok(const struct weft_uio_requester_cfg *cfg)
{
	return cfg->timeout_ns != 0 && cfg->tags != 0 && cfg->tags <= WEFT_UIO_TAGS &&
	       (cfg->tags & (cfg->tags - 1)) == 0;
}

static struct weft_uio_requester *
requester_carve(struct weft_carver *c, const struct weft_uio_requester_cfg *cfg)
{
	struct weft_uio_requester *r = weft_carve(c, sizeof(*r));
	struct slot *slot = weft_carve(c, cfg->tags * sizeof(*slot));

	if (r != NULL)
		r->slot = slot;
	return r;
}

size_t
weft_uio_requester_size(const struct weft_uio_requester_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!cfg_ok(cfg))
		return 0;
	requester_carve(&c, cfg);
	return c.len;
}

static void
append(struct weft_uio_requester *r, struct slot *s, enum queue q)
{
	const uint16_t i = (uint16_t)(s - r->slot);

	s->queue = (uint8_t)q;
	s->prev = r->tail[q];
	s->next = NONE;
	if (r->tail[q] == NONE)
		r->head[q] = i;
	else
		r->slot[r->tail[q]].next = i;
	r->tail[q] = i;
	r->n[q]++;
}

static void
move(struct weft_uio_requester *r, struct slot *s, enum queue to)
{
	const unsigned int q = s->queue;

	if (s->prev == NONE)
		r->head[q] = s->next;
	else
		r->slot[s->prev].next = s->next;
	if (s->next == NONE)
		r->tail[q] = s->prev;
	else
		r->slot[s->next].prev = s->prev;
	r->n[q]--;
	append(r, s, to);
}

static struct slot *
oldest(struct weft_uio_requester *r, enum queue q)
{
	return r->head[q] == NONE ? NULL : &r->slot[r->head[q]];
}

struct weft_uio_requester *
weft_uio_requester_init(void *mem, const struct weft_uio_requester_cfg *cfg)
{
	struct weft_carver c = { .block = mem };
	struct weft_uio_requester *r;

	if (!cfg_ok(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_uio_requester_size(cfg));
	r = requester_carve(&c, cfg);
	r->cfg = *cfg;
	for (unsigned int q = 0; q < QUEUES; q++)
		r->head[q] = r->tail[q] = NONE;
	for (uint32_t i = 0; i < cfg->tags; i++) {
		r->slot[i].tag = (uint16_t)i;
		append(r, &r->slot[i], FREE);
	}
	return r;
}

static int
begin(struct weft_uio_requester *r, const struct weft_uio *u, uint64_t cookie, uint64_t now_ns,
	struct weft_io_tlp *t)
{
	struct slot *s = oldest(r, FREE);
	struct weft_uio out = *u;
	int rc;

	if (s == NULL) {
		r->count[WEFT_UIO_N_NO_TAG]++;
		return -EAGAIN;
	}
	out.requester = r->cfg.id;
	out.tag = s->tag;
	rc = weft_uio_encode(t, &out);
	if (rc != 0)
		return rc;
	s->cookie = cookie;
	s->addr = u->addr;
	s->since_ns = now_ns;
	s->len = u->len;
	s->got = 0;
	s->dpid = ANYBODY;
	s->stood = weft_request_clock_stood(r->cfg.clock, ANYBODY, now_ns);
	s->kind = u->kind;
	s->poisoned = false;
	move(r, s, OPEN);
	r->count[u->kind == WEFT_UIO_READ ? WEFT_UIO_N_READS : WEFT_UIO_N_WRITES]++;
	return 0;
}

int
weft_uio_read(struct weft_uio_requester *r, uint64_t addr, uint16_t len, uint64_t cookie,
	uint64_t now_ns, struct weft_io_tlp *t)
{
	const struct weft_uio u = { .kind = WEFT_UIO_READ, .addr = addr, .len = len };

	return begin(r, &u, cookie, now_ns, t);
}

int
weft_uio_write(struct weft_uio_requester *r, uint64_t addr, const uint8_t *data, uint16_t len,
	uint64_t cookie, uint64_t now_ns, struct weft_io_tlp *t)
{
	const struct weft_uio u = {
		.kind = WEFT_UIO_WRITE, .addr = addr, .len = len, .data = data
	};

	return begin(r, &u, cookie, now_ns, t);
}

/* The open request with this tag, or NULL. */
static struct slot *
open_slot(struct weft_uio_requester *r, uint16_t tag)
{
	struct slot *s = &r->slot[tag & (r->cfg.tags - 1)];

	return s->queue == OPEN && s->tag == tag ? s : NULL;
}

void
weft_uio_sent_to(struct weft_uio_requester *r, const struct weft_io_tlp *t, uint16_t dpid)
{
	struct weft_uio u;
	struct slot *s = weft_uio_decode(t, &u) == 0 ? open_slot(r, u.tag) : NULL;

	if (s == NULL)
		return;
	s->dpid = dpid;
	s->stood = weft_request_clock_stood(r->cfg.clock, dpid, s->since_ns);
}

static void
end(struct weft_uio_requester *r, struct slot *s, enum weft_uio_end how, uint64_t now_ns,
	struct weft_uio_done *d)
{
	*d = (struct weft_uio_done){
		.cookie = s->cookie,
		.latency_ns = now_ns - s->since_ns,
		.data = s->kind == WEFT_UIO_READ && how <= WEFT_UIO_POISONED ? s->data : NULL,
		.len = s->len,
		.kind = s->kind,
		.end = (uint8_t)how,
	};
	if (how == WEFT_UIO_PART)
		return;
	s->tag = (uint16_t)((s->tag + r->cfg.tags) % WEFT_UIO_TAGS);
	s->since_ns = now_ns;
	move(r, s, how == WEFT_UIO_LOST ? QUARANTINE : FREE);
	if (how != WEFT_UIO_LOST)
		weft_latency_add(&r->latency, d->latency_ns);
}

static enum weft_verdict
drop(struct weft_uio_requester *r, enum weft_uio_counter why, enum weft_verdict v)
{
	r->count[why]++;
	return v;
}

/* Whether the packet is the next piece of what was asked for. */
static bool
fits(const struct slot *s, const struct weft_uio *u)
{
	if (u->kind == WEFT_UIO_CPL)
		return u->status != WEFT_UIO_SC || s->kind == WEFT_UIO_WRITE;
	return s->kind == WEFT_UIO_READ && u->left == s->len - s->got &&
	       u->lower == ((s->addr + s->got) & 0x7F);
}

static enum weft_uio_end
take_data(struct weft_uio_requester *r, struct slot *s, const struct weft_uio *u)
{
	memcpy(s->data + s->got, u->data, u->len);
	s->got = (uint16_t)(s->got + u->len);
	s->poisoned = s->poisoned || u->poison;
	if (s->got < s->len) {
		r->count[WEFT_UIO_N_PARTS]++;
		return WEFT_UIO_PART;
	}
	r->count[s->poisoned ? WEFT_UIO_N_POISON : WEFT_UIO_N_READS_DONE]++;
	return s->poisoned ? WEFT_UIO_POISONED : WEFT_UIO_DONE;
}

enum weft_verdict
weft_uio_take(struct weft_uio_requester *r, const struct weft_io_tlp *t, uint64_t now_ns,
	struct weft_uio_done *d)
{
	enum weft_uio_end how = WEFT_UIO_DONE;
	struct weft_uio u;
	struct slot *s;
	const int rc = weft_uio_decode(t, &u);

	if (rc == -ENOENT || (rc == 0 && u.kind < WEFT_UIO_CPL))
		return drop(r, WEFT_UIO_N_MALFORMED, WEFT_DROP_WRONG_CLASS);
	if (rc != 0)
		return drop(r, WEFT_UIO_N_MALFORMED, WEFT_DROP_BAD_OPCODE);
	if (u.requester != r->cfg.id)
		return drop(r, WEFT_UIO_N_NOT_MINE, WEFT_DROP_NOT_MINE);
	s = open_slot(r, u.tag);
	if (s == NULL)
		return drop(r, WEFT_UIO_N_UNMATCHED, WEFT_DROP_NO_TAG);
	if (s->dpid != ANYBODY && s->dpid != t->spid)
		return drop(r, WEFT_UIO_N_NOT_MINE, WEFT_DROP_NOT_MINE);
	if (!fits(s, &u))
		return drop(r, WEFT_UIO_N_WRONG, WEFT_DROP_BAD_OPCODE);
	if (u.kind == WEFT_UIO_CPLD) {
		how = take_data(r, s, &u);
	} else if (u.status == WEFT_UIO_SC) {
		r->count[WEFT_UIO_N_WRITES_DONE]++;
	} else {
		how = u.status == WEFT_UIO_UR ? WEFT_UIO_REFUSED_UR : WEFT_UIO_REFUSED_CA;
		r->count[u.status == WEFT_UIO_UR ? WEFT_UIO_N_UR : WEFT_UIO_N_CA]++;
	}
	end(r, s, how, now_ns, d);
	return WEFT_OK;
}

static void
lose(struct weft_uio_requester *r, struct slot *s, uint64_t now_ns, weft_uio_lost_fn fn, void *arg)
{
	struct weft_uio_done d;

	end(r, s, WEFT_UIO_LOST, now_ns, &d);
	r->count[WEFT_UIO_N_LOST]++;
	fn(arg, &d);
}

unsigned int
weft_uio_expire(struct weft_uio_requester *r, uint64_t now_ns, weft_uio_lost_fn fn, void *arg,
	unsigned int max)
{
	unsigned int n = 0;
	struct slot *s, *behind;

	while ((s = oldest(r, QUARANTINE)) != NULL && now_ns - s->since_ns >= r->cfg.quarantine_ns)
		move(r, s, FREE);
	/* In the order of real time; what a clock that stood still has kept young is passed over. */
	for (s = oldest(r, OPEN); n < max && s != NULL && now_ns - s->since_ns >= r->cfg.timeout_ns;
		s = behind) {
		behind = s->next == NONE ? NULL : &r->slot[s->next];
		if (weft_request_clock_age(r->cfg.clock, s->dpid, s->since_ns, s->stood, now_ns) <
			r->cfg.timeout_ns)
			continue;
		lose(r, s, now_ns, fn, arg);
		n++;
	}
	return n;
}

unsigned int
weft_uio_abort(struct weft_uio_requester *r, uint16_t dpid, bool is_over, uint64_t now_ns,
	weft_uio_lost_fn fn, void *arg)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < r->cfg.tags; i++) {
		struct slot *s = &r->slot[i];

		if (s->dpid != dpid)
			continue;
		if (s->queue == OPEN) {
			lose(r, s, now_ns, fn, arg);
			n++;
		}
		if (s->queue == QUARANTINE && is_over)
			move(r, s, FREE);
	}
	return n;
}

bool
weft_uio_is_open(const struct weft_uio_requester *r, const struct weft_io_tlp *t)
{
	const struct slot *s;
	struct weft_uio u;

	if (weft_uio_decode(t, &u) != 0)
		return false;
	s = &r->slot[u.tag & (r->cfg.tags - 1)];
	return s->queue == OPEN && s->tag == u.tag;
}

uint32_t
weft_uio_outstanding(const struct weft_uio_requester *r)
{
	return r->n[OPEN];
}

const struct weft_latency *
weft_uio_latency(const struct weft_uio_requester *r)
{
	return &r->latency;
}

const struct weft_counter *
weft_uio_counters(void)
{
	return counters;
}

const uint64_t *
weft_uio_counts(const struct weft_uio_requester *r)
{
	return r->count;
}
