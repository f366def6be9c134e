/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Translation Agent: requests and their answers (ats.md sections 2.2 to 2.5 and 5.6). */

#include "ats_priv.h"

#include <errno.h>

static struct ats_walk *
walk_find(const struct weft_ats_ta *t, enum ats_walk_state state)
{
	for (struct ats_walk *w = t->walk; w < t->walk + t->cfg.walks; w++)
		if (w->state == state)
			return w;
	return NULL;
}

static enum weft_verdict
walk_take_request(struct weft_ats_ta *t, const struct weft_ats_packet *p)
{
	struct ats_walk *w = walk_find(t, ATS_WALK_FREE);
	const int i = ats_ta_find(t, p->requester);
	const bool is_served = i >= 0 && !t->device[i].is_isolated;

	if (w == NULL)
		return WEFT_DROP_TX_FULL;
	w->requester = p->requester;
	w->tag = p->tag;
	w->tc = p->tc;
	w->state = is_served ? ATS_WALK_WAITING : ATS_WALK_ANSWERED;
	w->status = WEFT_ATS_UR;
	t->count[WEFT_ATS_TA_N_REQUESTS]++;
	t->count[WEFT_ATS_TA_N_UNSUPPORTED] += !is_served;
	if (!is_served)
		return WEFT_OK;
	w->walk.va = p->addr & ~weft_mask64(WEFT_ATS_PAGE_LOG2 + (unsigned int)t->device[i].stu);
	w->walk.pasid = p->has_pasid ? (int32_t)p->pasid : -1;
	w->walk.device = (uint16_t)i;
	w->walk.n = (uint8_t)(p->length / 2);
	w->walk.no_write = p->no_write;
	w->walk.exec = p->exec;
	w->walk.priv = p->priv;
	return WEFT_OK;
}

enum weft_verdict
weft_ats_ta_receive(struct weft_ats_ta *t, const uint8_t *p, size_t len)
{
	struct weft_ats_packet packet;
	enum weft_verdict v = weft_ats_decode(p, len, t->cfg.rcb, &packet);

	if (v == WEFT_OK && packet.kind == WEFT_ATS_REQUEST)
		v = walk_take_request(t, &packet);
	else if (v == WEFT_OK && packet.kind == WEFT_ATS_INVALIDATED)
		v = ats_ta_completion(t, &packet);
	else if (v == WEFT_OK)
		v = WEFT_DROP_ATS_TYPE;
	t->count[WEFT_ATS_TA_N_REFUSED] += v != WEFT_OK;
	return v;
}

int
weft_ats_ta_walk(struct weft_ats_ta *t, struct weft_ats_walk *walk)
{
	struct ats_walk *w = walk_find(t, ATS_WALK_WAITING);

	if (w == NULL)
		return -ENOENT;
	w->state = ATS_WALK_TAKEN;
	*walk = w->walk;
	return (int)(w - t->walk);
}

/* One size, not below the unit, and the last translation begins in what was asked for. */
static bool
walk_answer_is_good(const struct weft_ats_ta *t, const struct weft_ats_walk *w,
	const struct weft_ats_xlat *x, unsigned int n)
{
	const unsigned int stu_log2 = WEFT_ATS_PAGE_LOG2 + t->device[w->device].stu;
	const uint64_t last = w->va + ((uint64_t)w->n << stu_log2) - 1;
	unsigned int log2 = 0;

	for (unsigned int i = 0; i < n; i++) {
		if ((x[i].bits & ~(unsigned int)WEFT_ATS_BITS) != 0)
			return false;
		if (x[i].log2 == 0 && (x[i].bits & (WEFT_ATS_R | WEFT_ATS_W)) == 0)
			continue;
		if (log2 == 0)
			log2 = x[i].log2;
		if (x[i].log2 != log2 || log2 < stu_log2 || log2 > 64 ||
			(x[i].pa & weft_mask64(log2)) != 0)
			return false;
	}
	if (n <= 1)
		return true;
	/* A first one without rights has the size of the unit, so all have. */
	if (x[0].log2 == 0 && log2 > stu_log2)
		return false;
	log2 = log2 == 0 ? stu_log2 : log2;
	return log2 < 64 && (w->va & ~weft_mask64(log2)) + ((uint64_t)(n - 1) << log2) <= last;
}

int
weft_ats_ta_answer(struct weft_ats_ta *t, int handle, enum weft_ats_status status,
	const struct weft_ats_xlat *x, unsigned int n, unsigned int first)
{
	struct ats_walk *w = &t->walk[handle];

	if (handle < 0 || handle >= t->cfg.walks || w->state != ATS_WALK_TAKEN || n > w->walk.n ||
		first > n || (status != WEFT_ATS_SUCCESS && n != 0) ||
		!walk_answer_is_good(t, &w->walk, x, n))
		return -EINVAL;
	if (n != 0)
		memcpy(w->x, x, n * sizeof(*x));
	w->n = (uint8_t)n;
	w->first = (uint8_t)(first == 0 ? n : first);
	w->status = (uint8_t)status;
	w->state = ATS_WALK_ANSWERED;
	return 0;
}

static enum weft_ats_part
walk_part(const struct ats_walk *w)
{
	if (w->first == w->n)
		return WEFT_ATS_ONLY;
	return w->is_second_due ? WEFT_ATS_SECOND : WEFT_ATS_FIRST;
}

size_t
weft_ats_ta_send_completion(struct weft_ats_ta *t, uint8_t *buf, size_t room)
{
	struct ats_walk *w = walk_find(t, ATS_WALK_ANSWERED);
	uint8_t data[WEFT_ATS_XLATS * WEFT_ATS_XLAT_LEN];
	struct weft_ats_packet p = { .kind = WEFT_ATS_CPL };
	enum weft_ats_part part = WEFT_ATS_ONLY;
	size_t len;

	if (w == NULL || room < WEFT_ATS_PACKET_MAX)
		return 0;
	p.tc = w->tc;
	p.target = t->cfg.id;
	p.requester = w->requester;
	p.tag = w->tag;
	p.status = w->status;
	if (w->n != 0) {
		part = walk_part(w);
		weft_ats_xlats_put(&p, w->x, w->n, w->first, part, data);
	}
	len = weft_ats_encode(&p, buf, room);
	if (part == WEFT_ATS_FIRST)
		w->is_second_due = true;
	else
		memset(w, 0, sizeof(*w));
	return len;
}
