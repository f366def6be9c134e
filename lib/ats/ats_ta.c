/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Translation Agent: memory, devices, invalidations. Answers are in ats_walk.c. */

#include "ats_priv.h"

#include <errno.h>

const struct weft_counter weft_ats_ta_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_ats_ta_counters.def"
#undef WEFT_COUNTER
};

const uint64_t *
weft_ats_ta_counts(const struct weft_ats_ta *t)
{
	return t->count;
}

size_t
weft_ats_ta_size(const struct weft_ats_ta_cfg *cfg)
{
	if ((cfg->rcb != 64 && cfg->rcb != 128) || cfg->devices == 0 || cfg->walks == 0 ||
		cfg->devices > WEFT_ATS_TA_DEVICES_MAX || cfg->walks > WEFT_ATS_TA_WALKS_MAX)
		return 0;
	return sizeof(struct weft_ats_ta) + cfg->devices * sizeof(struct ats_device) +
	       cfg->walks * sizeof(struct ats_walk);
}

struct weft_ats_ta *
weft_ats_ta_init(void *mem, const struct weft_ats_ta_cfg *cfg)
{
	const size_t size = weft_ats_ta_size(cfg);
	struct weft_ats_ta *t = mem;

	if (size == 0 || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, size);
	t->cfg = *cfg;
	t->device = (struct ats_device *)(void *)(t + 1);
	t->walk = (struct ats_walk *)(void *)(t->device + cfg->devices);
	return t;
}

int
ats_ta_find(const struct weft_ats_ta *t, uint16_t id)
{
	for (int i = 0; i < t->devices; i++)
		if (t->device[i].id == id)
			return i;
	return -1;
}

int
weft_ats_ta_add(struct weft_ats_ta *t, uint16_t id, unsigned int stu, unsigned int depth)
{
	struct ats_device *d = &t->device[t->devices];

	if (stu > 31 || depth > 31)
		return -EINVAL;
	if (ats_ta_find(t, id) >= 0)
		return -EEXIST;
	if (t->devices == t->cfg.devices)
		return -ENOSPC;
	d->id = id;
	d->stu = (uint8_t)stu;
	d->depth = depth == 0 ? WEFT_ATS_ITAGS : (uint8_t)depth;
	return t->devices++;
}

bool
weft_ats_ta_allows(const struct weft_ats_ta *t, uint16_t id)
{
	const int i = ats_ta_find(t, id);

	return i >= 0 && !t->device[i].is_isolated;
}

static bool
ta_range_is_good(const struct ats_device *d, const struct weft_ats_inv *r)
{
	return r->log2 >= WEFT_ATS_PAGE_LOG2 + d->stu && r->log2 <= 64 &&
	       (r->addr & weft_mask64(r->log2)) == 0 && r->pasid >= -1 && r->pasid < 1 << 20 &&
	       !(r->global && r->pasid < 0);
}

/* Lowest ITag that may be used, or -EAGAIN if the device's queue is full. */
static int
ta_find_free_itag(const struct ats_device *d)
{
	unsigned int busy = 0;
	int free = -EAGAIN;

	for (int i = WEFT_ATS_ITAGS - 1; i >= 0; i--) {
		if (d->inv[i].state == WEFT_ATS_INV_IDLE)
			free = i;
		else
			busy += d->inv[i].state != WEFT_ATS_INV_DONE;
	}
	return busy < d->depth ? free : -EAGAIN;
}

int
weft_ats_ta_invalidate(struct weft_ats_ta *t, unsigned int device, const struct weft_ats_inv *range)
{
	struct ats_device *d;
	int i;

	if (device >= t->devices || !ta_range_is_good(&t->device[device], range))
		return -EINVAL;
	d = &t->device[device];
	if (d->is_isolated)
		return -EIO;
	i = ta_find_free_itag(d);
	if (i < 0)
		return i;
	memset(&d->inv[i], 0, sizeof(d->inv[i]));
	d->inv[i].range = *range;
	d->inv[i].state = WEFT_ATS_INV_FLUSHING;
	return i;
}

void
weft_ats_ta_flushed(struct weft_ats_ta *t, unsigned int device, uint32_t itags)
{
	for (unsigned int i = 0; device < t->devices && i < WEFT_ATS_ITAGS; i++) {
		struct ats_inv *v = &t->device[device].inv[i];

		if ((itags >> i & 1) != 0 && v->state == WEFT_ATS_INV_FLUSHING)
			v->state = WEFT_ATS_INV_READY;
	}
}

enum weft_ats_inv_state
weft_ats_ta_state(const struct weft_ats_ta *t, unsigned int device, unsigned int itag)
{
	if (device >= t->devices || itag >= WEFT_ATS_ITAGS)
		return WEFT_ATS_INV_IDLE;
	return (enum weft_ats_inv_state)t->device[device].inv[itag].state;
}

int
weft_ats_ta_release(struct weft_ats_ta *t, unsigned int device, unsigned int itag)
{
	if (device >= t->devices || itag >= WEFT_ATS_ITAGS)
		return -EINVAL;
	if (t->device[device].inv[itag].state != WEFT_ATS_INV_DONE)
		return -EBUSY;
	memset(&t->device[device].inv[itag], 0, sizeof(struct ats_inv));
	return 0;
}

static bool
ta_may_send(const struct weft_ats_ta *t, const struct ats_inv *v)
{
	return v->state == WEFT_ATS_INV_READY ||
	       (v->state == WEFT_ATS_INV_FLUSHING && (t->broken & ATS_RULE_FLUSH) != 0);
}

size_t
weft_ats_ta_send_invalidate(
	struct weft_ats_ta *t, unsigned int device, uint8_t *buf, size_t room, uint64_t now_ns)
{
	if (device >= t->devices || room < WEFT_ATS_PACKET_MAX)
		return 0;
	for (unsigned int i = 0; i < WEFT_ATS_ITAGS; i++) {
		struct ats_inv *v = &t->device[device].inv[i];
		const struct weft_ats_packet p = {
			.kind = WEFT_ATS_INVALIDATE,
			.requester = t->cfg.id,
			.target = t->device[device].id,
			.itag = (uint8_t)i,
			.addr = v->range.addr,
			.log2 = v->range.log2,
			.global = v->range.global,
			.has_pasid = v->range.pasid >= 0,
			.pasid = v->range.pasid < 0 ? 0 : (uint32_t)v->range.pasid,
		};

		if (!ta_may_send(t, v))
			continue;
		v->state = WEFT_ATS_INV_SENT;
		v->until_ns = now_ns + t->cfg.timeout_ns;
		t->count[WEFT_ATS_TA_N_INVALIDATIONS]++;
		return weft_ats_encode(&p, buf, room);
	}
	return 0;
}

/* Every ITag of the packet must be under way and announced with this count. */
static enum weft_verdict
ta_judge_itags(const struct ats_device *d, const struct weft_ats_packet *p)
{
	for (uint32_t left = p->itags; left != 0; left &= left - 1) {
		const struct ats_inv *v = &d->inv[__builtin_ctz(left)];

		if (v->state != WEFT_ATS_INV_SENT && v->state != WEFT_ATS_INV_FAILED)
			return WEFT_DROP_ATS_ITAG;
		if (v->count != 0 && v->count != p->count)
			return WEFT_DROP_ATS_SPLIT;
	}
	return WEFT_OK;
}

/* Late or not, a completion counts: a device that has completed all is isolated no more. */
static void
ta_inv_done(struct ats_device *d, struct ats_inv *v)
{
	v->state = WEFT_ATS_INV_DONE;
	for (unsigned int i = 0; i < WEFT_ATS_ITAGS; i++)
		if (d->inv[i].state == WEFT_ATS_INV_FAILED)
			return;
	d->is_isolated = false;
}

enum weft_verdict
ats_ta_completion(struct weft_ats_ta *t, const struct weft_ats_packet *p)
{
	const int i = ats_ta_find(t, p->requester);
	enum weft_verdict v;

	if (i < 0 || p->target != t->cfg.id)
		return WEFT_DROP_ATS_PEER;
	v = ta_judge_itags(&t->device[i], p);
	if (v != WEFT_OK)
		return v;
	for (uint32_t left = p->itags; left != 0; left &= left - 1) {
		struct ats_inv *inv = &t->device[i].inv[__builtin_ctz(left)];

		if ((inv->came >> p->tc & 1) != 0) {
			t->count[WEFT_ATS_TA_N_DUPLICATES]++;
			continue;
		}
		/* By class and not by number: a packet sent twice must not complete anything. */
		inv->came |= (uint8_t)(1u << p->tc);
		inv->count = p->count;
		t->count[WEFT_ATS_TA_N_COMPLETIONS]++;
		if (__builtin_popcount(inv->came) == p->count)
			ta_inv_done(&t->device[i], inv);
	}
	return WEFT_OK;
}

unsigned int
weft_ats_ta_time(struct weft_ats_ta *t, uint64_t now_ns)
{
	unsigned int failed = 0;

	for (struct ats_device *d = t->device; d < t->device + t->devices; d++) {
		for (struct ats_inv *v = d->inv; v < d->inv + WEFT_ATS_ITAGS; v++) {
			if (v->state != WEFT_ATS_INV_SENT || now_ns < v->until_ns)
				continue;
			v->state = WEFT_ATS_INV_FAILED;
			d->is_isolated = true;
			failed++;
		}
	}
	t->count[WEFT_ATS_TA_N_TIMEOUTS] += failed;
	return failed;
}

void
weft_ats_ta_reset(struct weft_ats_ta *t, unsigned int device)
{
	if (device >= t->devices)
		return;
	for (struct ats_inv *v = t->device[device].inv; v < t->device[device].inv + WEFT_ATS_ITAGS;
		v++)
		if (v->state != WEFT_ATS_INV_IDLE)
			v->state = WEFT_ATS_INV_DONE;
	for (struct ats_walk *w = t->walk; w < t->walk + t->cfg.walks; w++)
		if (w->state != ATS_WALK_FREE && w->requester == t->device[device].id)
			memset(w, 0, sizeof(*w));
	t->device[device].is_isolated = false;
}
