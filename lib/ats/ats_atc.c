/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATC peer: memory, registers, requests and the accesses it must keep track of. */

#include "ats_priv.h"
#include "atc_priv.h"

#include <errno.h>

#define ATS_PASIDS (1 << 20)
#define ATS_STU_MAX 31u

const struct weft_counter weft_ats_atc_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_ats_atc_counters.def"
#undef WEFT_COUNTER
};

const uint64_t *
weft_ats_atc_counts(const struct weft_ats_atc *a)
{
	return a->count;
}

static bool
ats_cfg_is_good(const struct weft_ats_atc_cfg *cfg)
{
	return (cfg->rcb == 64 || cfg->rcb == 128) && cfg->slots != 0 &&
	       cfg->slots <= WEFT_ATS_SLOTS_MAX && cfg->reads <= WEFT_ATS_READS_MAX &&
	       cfg->tcs != 0 && cfg->retries <= 16;
}

size_t
ats_atc_size(const struct weft_ats_atc_cfg *cfg, unsigned int contexts)
{
	if (!ats_cfg_is_good(cfg))
		return 0;
	return sizeof(struct weft_ats_atc) + cfg->slots * sizeof(struct ats_slot) +
	       cfg->reads * sizeof(struct ats_read) + contexts * sizeof(struct ats_space);
}

size_t
weft_ats_atc_size(const struct weft_ats_atc_cfg *cfg)
{
	return cfg->cache == NULL ? 0 : ats_atc_size(cfg, cfg->cache->contexts);
}

struct weft_ats_atc *
weft_ats_atc_init(void *mem, const struct weft_ats_atc_cfg *cfg)
{
	struct weft_ats_atc *a = mem;

	if (weft_ats_atc_size(cfg) == 0 || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_ats_atc_size(cfg));
	a->cfg = *cfg;
	a->contexts = cfg->cache->contexts;
	a->slot = (struct ats_slot *)(void *)(a + 1);
	a->read = (struct ats_read *)(void *)(a->slot + cfg->slots);
	a->space = (struct ats_space *)(void *)(a->read + cfg->reads);
	a->space[0] = (struct ats_space){ .pasid = -1, .bound = true };
	ats_atc_empty(a);
	return a;
}

void
ats_atc_empty(struct weft_ats_atc *a)
{
	for (unsigned int ctx = 0; ctx < a->contexts; ctx++)
		weft_atc_invalidate_context(a->cfg.cache, (uint16_t)ctx);
}

/* @p turns: to move its tag on by. */
static void
ats_slot_clear(struct ats_slot *s, unsigned int turns)
{
	*s = (struct ats_slot){ .turn = (uint8_t)(s->turn + turns) };
}

void
ats_slot_end(struct ats_slot *s, enum weft_ats_result result)
{
	s->state = ATS_SLOT_DONE;
	s->result = (uint8_t)result;
}

/*
 * Give up what is under way for @p ctx, or for all if it is -1. What was not sent ends; an answer
 * on its way is thrown away when it comes, and its tag stays taken until then.
 */
void
ats_atc_cancel(struct weft_ats_atc *a, int ctx)
{
	for (struct ats_slot *s = a->slot; s < a->slot + a->cfg.slots; s++) {
		if (ctx >= 0 && s->ctx != ctx)
			continue;
		if (s->state == ATS_SLOT_WAITING || s->state == ATS_SLOT_BACKOFF)
			ats_slot_end(s, WEFT_ATS_CANCELLED);
		else if (s->state == ATS_SLOT_SENT)
			s->marked = true;
	}
}

uint32_t
weft_ats_atc_reg(const struct weft_ats_atc *a, enum weft_ats_reg reg)
{
	switch (reg) {
	case WEFT_ATS_REG_ATS: /* version 1; the other capability is next */
		return 0x000Fu | 1u << 16 | 8u << 20;
	case WEFT_ATS_REG_ATS_CTL: /* depth 0: 32; page aligned; global */
		return 1u << 5 | 1u << 6 | (uint32_t)a->stu << WEFT_ATS_CTL_STU_SHIFT |
		       (a->is_enabled ? WEFT_ATS_CTL_E : 0);
	case WEFT_ATS_REG_PASID: return 0x001Bu | 1u << 16;
	case WEFT_ATS_REG_PASID_CTL: /* neither exec nor privileged; 20 bits wide */
		return 20u << 8 | a->pasid_ctl;
	default: return 0;
	}
}

void
weft_ats_atc_reg_set(struct weft_ats_atc *a, enum weft_ats_reg reg, uint32_t value)
{
	if (reg == WEFT_ATS_REG_ATS_CTL) {
		const uint8_t stu = value >> WEFT_ATS_CTL_STU_SHIFT & ATS_STU_MAX;
		const bool enable = (value & WEFT_ATS_CTL_E) != 0;

		if (stu == a->stu && enable == a->is_enabled)
			return;
		a->stu = stu;
		a->is_enabled = enable;
	} else if (reg == WEFT_ATS_REG_PASID_CTL) {
		if (((value ^ a->pasid_ctl) & WEFT_ATS_PASID_E) == 0)
			return;
		a->pasid_ctl = value & WEFT_ATS_PASID_E;
	} else {
		return;
	}
	ats_atc_cancel(a, -1);
	ats_atc_empty(a);
}

int
weft_ats_atc_bind(struct weft_ats_atc *a, uint16_t ctx, int32_t pasid)
{
	if (ctx >= a->contexts || pasid < -1 || pasid >= ATS_PASIDS)
		return -EINVAL;
	for (unsigned int i = 0; i < a->contexts; i++)
		if (i != ctx && a->space[i].bound && a->space[i].pasid == pasid)
			return -EEXIST;
	ats_atc_cancel(a, ctx);
	weft_atc_invalidate_context(a->cfg.cache, ctx);
	a->space[ctx] = (struct ats_space){ .pasid = pasid, .bound = true };
	return 0;
}

static bool
ats_may_request(const struct weft_ats_atc *a, uint16_t ctx)
{
	return a->is_enabled && (a->space[ctx].pasid < 0 || (a->pasid_ctl & WEFT_ATS_PASID_E) != 0);
}

/* A request under way whose answer will do, or -1. */
static int
ats_find_request(
	const struct weft_ats_atc *a, uint16_t ctx, uint64_t va, uint64_t last, bool no_write)
{
	for (int i = 0; i < a->cfg.slots; i++) {
		const struct ats_slot *s = &a->slot[i];

		if (s->state >= ATS_SLOT_WAITING && s->state <= ATS_SLOT_BACKOFF && !s->marked &&
			s->ctx == ctx && s->va <= va && last <= s->last &&
			(no_write || !s->no_write))
			return i;
	}
	return -1;
}

static int
ats_find_free_slot(const struct weft_ats_atc *a)
{
	for (int i = 0; i < a->cfg.slots; i++)
		if (a->slot[i].state == ATS_SLOT_FREE)
			return i;
	return -EAGAIN;
}

bool
ats_atc_has_slot(const struct weft_ats_atc *a)
{
	return ats_find_free_slot(a) >= 0;
}

int
weft_ats_atc_request(
	struct weft_ats_atc *a, uint16_t ctx, uint64_t va, unsigned int n, bool no_write)
{
	const unsigned int log2 = WEFT_ATS_PAGE_LOG2 + a->stu;
	struct ats_slot *s;
	uint64_t last;
	int i;

	if (ctx >= a->contexts || !a->space[ctx].bound || n == 0 ||
		n > a->cfg.rcb / WEFT_ATS_XLAT_LEN || va >> ATC_VA_BITS != 0)
		return -EINVAL;
	if (!ats_may_request(a, ctx))
		return -EACCES;
	va &= ~weft_mask64(log2);
	last = va + ((uint64_t)n << log2) - 1;
	i = ats_find_request(a, ctx, va, last, no_write);
	if (i >= 0) {
		a->count[WEFT_ATS_ATC_N_MERGED]++;
		return i;
	}
	i = ats_find_free_slot(a);
	if (i < 0)
		return i;
	s = &a->slot[i];
	ats_slot_clear(s, 0);
	s->state = ATS_SLOT_WAITING;
	s->ctx = ctx;
	s->va = va;
	s->last = last;
	s->wanted = (uint8_t)n;
	s->no_write = no_write;
	return i;
}

static void
ats_slot_sent(struct weft_ats_atc *a, struct ats_slot *s, uint64_t now_ns)
{
	s->state = ATS_SLOT_SENT;
	s->until_ns = now_ns + a->cfg.timeout_ns;
	s->marked = false;
	s->got = s->total = 0;
	s->gone_from = UINT64_MAX;
	s->gone_to = 0;
	a->count[WEFT_ATS_ATC_N_REQUESTS]++;
}

size_t
weft_ats_atc_send_request(struct weft_ats_atc *a, uint8_t *buf, size_t room, uint64_t now_ns)
{
	if (room < WEFT_ATS_PACKET_MAX)
		return 0;
	for (struct ats_slot *s = a->slot; s < a->slot + a->cfg.slots; s++) {
		const int32_t pasid = a->space[s->ctx].pasid;
		const struct weft_ats_packet p = {
			.kind = WEFT_ATS_REQUEST,
			.tc = (uint8_t)__builtin_ctz(a->cfg.tcs),
			.requester = a->cfg.id,
			.tag = ats_slot_tag(s, (unsigned int)(s - a->slot), a->cfg.slots),
			.length = (uint16_t)(2u * s->wanted),
			.addr = s->va,
			.no_write = s->no_write,
			.has_pasid = pasid >= 0,
			.pasid = pasid < 0 ? 0 : (uint32_t)pasid,
		};

		if (s->state != ATS_SLOT_WAITING)
			continue;
		ats_slot_sent(a, s, now_ns);
		return weft_ats_encode(&p, buf, room);
	}
	return 0;
}

bool
weft_ats_atc_done(struct weft_ats_atc *a, struct weft_ats_done *done)
{
	for (struct ats_slot *s = a->slot; s < a->slot + a->cfg.slots; s++) {
		if (s->state != ATS_SLOT_DONE && s->state != ATS_SLOT_LATE)
			continue;
		*done = (struct weft_ats_done){ .va = s->va,
			.slot = (uint16_t)(s - a->slot),
			.ctx = s->ctx,
			.bits = s->result == WEFT_ATS_INSTALLED ? s->bits : 0,
			.result = s->result };
		if (s->state == ATS_SLOT_LATE)
			s->state = ATS_SLOT_RESTING;
		else
			ats_slot_clear(s, 0);
		return true;
	}
	return false;
}

static void
ats_slot_late(
	struct weft_ats_atc *a, struct ats_slot *s, enum weft_ats_result result, uint64_t now_ns)
{
	s->state = ATS_SLOT_LATE;
	s->result = (uint8_t)result;
	s->until_ns = now_ns + a->cfg.timeout_ns;
}

void
weft_ats_atc_time(struct weft_ats_atc *a, uint64_t now_ns)
{
	for (struct ats_slot *s = a->slot; s < a->slot + a->cfg.slots; s++) {
		if (now_ns < s->until_ns)
			continue;
		if (s->state == ATS_SLOT_SENT) {
			a->count[WEFT_ATS_ATC_N_TIMEOUTS]++;
			ats_slot_late(a, s, WEFT_ATS_LATE, now_ns);
		} else if (s->state == ATS_SLOT_BACKOFF) {
			s->state = ATS_SLOT_WAITING;
		} else if (s->state == ATS_SLOT_RESTING) {
			ats_slot_clear(s, 1);
		}
	}
}

void
weft_ats_atc_write_begin(struct weft_ats_atc *a, unsigned int tc)
{
	assert(tc < WEFT_ATS_TCS && (a->cfg.tcs >> tc & 1) != 0);
	a->queued[tc]++;
}

void
weft_ats_atc_write_done(struct weft_ats_atc *a, unsigned int tc)
{
	assert(tc < WEFT_ATS_TCS && a->passed[tc] != a->queued[tc]);
	a->passed[tc]++;
}

int
weft_ats_atc_read_begin(struct weft_ats_atc *a, uint16_t ctx, uint64_t va, uint32_t bytes)
{
	if (ctx >= a->contexts || bytes == 0)
		return -EINVAL;
	for (int i = 0; i < a->cfg.reads; i++) {
		struct ats_read *r = &a->read[i];

		if (r->used)
			continue;
		r->from = va;
		r->to = va + bytes - 1;
		r->ctx = ctx;
		r->used = true;
		return i;
	}
	return -EAGAIN;
}

bool
weft_ats_atc_read_done(struct weft_ats_atc *a, unsigned int handle)
{
	const bool is_good =
		handle < a->cfg.reads && a->read[handle].used && !a->read[handle].discard;

	if (handle < a->cfg.reads)
		memset(&a->read[handle], 0, sizeof(a->read[handle]));
	a->count[WEFT_ATS_ATC_N_READS_DISCARDED] += !is_good;
	return is_good;
}

void
weft_ats_atc_flr(struct weft_ats_atc *a, uint64_t now_ns)
{
	ats_atc_empty(a);
	for (struct ats_slot *s = a->slot; s < a->slot + a->cfg.slots; s++) {
		if (s->state == ATS_SLOT_WAITING || s->state == ATS_SLOT_BACKOFF)
			ats_slot_end(s, WEFT_ATS_CANCELLED);
		else if (s->state == ATS_SLOT_SENT)
			ats_slot_late(a, s, WEFT_ATS_CANCELLED, now_ns);
	}
	for (unsigned int i = 0; i < a->cfg.reads; i++)
		a->read[i].discard = a->read[i].used;
	memset(a->space, 0, a->contexts * sizeof(*a->space));
	a->space[0] = (struct ats_space){ .pasid = -1, .bound = true };
	memset(a->pending, 0, sizeof(a->pending));
	a->pasid_ctl = 0;
	a->stu = 0;
	a->is_enabled = a->has_agent = false;
}

static enum weft_verdict
ats_receive(struct weft_ats_atc *a, const struct weft_ats_packet *p, uint64_t now_ns)
{
	switch (p->kind) {
	case WEFT_ATS_CPL:
	case WEFT_ATS_CPLD:
		return p->requester == a->cfg.id ? ats_atc_completion(a, p, now_ns)
		                                 : WEFT_DROP_ATS_PEER;
	case WEFT_ATS_INVALIDATE: return ats_atc_invalidation(a, p);
	default: return WEFT_DROP_ATS_TYPE;
	}
}

enum weft_verdict
ats_atc_receive(struct weft_ats_atc *a, enum weft_verdict v, const struct weft_ats_packet *p,
	uint64_t now_ns)
{
	if (v == WEFT_OK)
		v = ats_receive(a, p, now_ns);
	a->count[WEFT_ATS_ATC_N_REFUSED] += v != WEFT_OK;
	return v;
}

enum weft_verdict
weft_ats_atc_receive(struct weft_ats_atc *a, const uint8_t *p, size_t len, uint64_t now_ns)
{
	struct weft_ats_packet packet;
	const enum weft_verdict v = weft_ats_decode(p, len, a->cfg.rcb, &packet);

	return ats_atc_receive(a, v, &packet, now_ns);
}
