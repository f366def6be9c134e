/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * May this requester do this? (fabric.md section 1.12, GFD.) Hot: runs per request. The tests come
 * in the order of that section, so that an access which fails several is counted by the first.
 */

#include "gfam_priv.h"

#define AHEAD                                                                                      \
	8 /* of a run: enough for rows in L2, and beyond it a miss or two are open at a time */
#define UIO_LINE 64
#define GRANULE_LOG2 8 /* least unit of interleave */

/*
 * Device address of @p hpa by @p d, counted from the decoder's base. Below hpa_base the distance
 * wraps to no less than the set's length, for no set wraps; so that it is no less than dpa_len
 * here.
 */
static inline uint64_t
gfam_squeeze(const struct gfam_decoder *d, uint64_t hpa)
{
	const uint64_t off = hpa - d->hpa_base;

	return off >> d->high << d->low | (off & (WEFT_BIT64(d->low) - 1));
}

static inline bool
gfam_in_range(const struct gfam_decoder *d, uint64_t hpa)
{
	return gfam_squeeze(d, hpa) < d->dpa_len;
}

static inline bool
gfam_way_agrees(const struct gfam_decoder *d, uint64_t hpa)
{
	return (hpa >> d->low & d->check_mask) == d->check_way;
}

/* Why not exactly one decoder hits. */
static __attribute__((noinline)) enum weft_gfam_result
gfam_explain(
	const struct gfam_rpid *r, const struct gfam_decoder *d, unsigned int hits, uint64_t hpa)
{
	if (r->row == GFAM_NO_ROW)
		return WEFT_GFAM_NO_ROW;
	if (hits > 1)
		return WEFT_GFAM_SEVERAL;
	for (unsigned int i = 0; i < r->used; i++) {
		if (gfam_in_range(&d[i], hpa))
			return WEFT_GFAM_WRONG_WAY;
	}
	return WEFT_GFAM_NO_HIT;
}

static void
gfam_refuse(struct weft_gfam_decision *d, enum weft_gfam_result result)
{
	*d = (struct weft_gfam_decision){ .result = (uint8_t)result, .group = WEFT_GFAM_NO_GROUP };
}

static inline uint64_t
gfam_where(const struct weft_gfam *t, const struct gfam_dmp *dmp, uint64_t dpa)
{
	const uint32_t at = gfam_home(t)[dmp->mgt + ((dpa - dmp->base) >> dmp->block_log2)];

	if (at == GFAM_AT_HOME)
		return dpa;
	return (uint64_t)at << dmp->block_log2 | (dpa & weft_mask64(dmp->block_log2));
}

/* The group, the requester's right, the kind of memory: for an address that is in @p out. */
static inline void
gfam_judge(const struct weft_gfam *t, const struct gfam_rpid *r, bool coherent, bool write,
	struct weft_gfam_decision *out)
{
	const unsigned int i = gfam_dmp_of(t, out->dpa);
	const struct gfam_dmp *dmp = &t->dmp[i % WEFT_GFAM_DMPS];
	uint8_t group;

	out->result = WEFT_GFAM_UNGROUPED;
	out->dmp = 0;
	out->group = WEFT_GFAM_NO_GROUP;
	out->coherent = false;
	if (i == t->cfg.dmps)
		return;
	group = gfam_group_at(t, dmp, out->dpa);
	if (group >= WEFT_GFAM_GROUPS)
		return;
	out->dmp = (uint8_t)i;
	out->group = group;
	if ((r->groups >> group & 1) == 0) {
		out->result = WEFT_GFAM_DENIED;
	} else if (write && (dmp->flags & WEFT_GFAM_READ_ONLY) != 0) {
		out->result = WEFT_GFAM_NO_WRITE;
	} else {
		out->result = WEFT_GFAM_ALLOWED;
		out->coherent = coherent && (dmp->flags & WEFT_GFAM_COHERENT) != 0;
		if (dmp->n_away != 0)
			out->dpa = gfam_where(t, dmp, out->dpa);
	}
}

static inline void
decide(const struct weft_gfam *t, uint16_t spid, uint64_t hpa, bool write,
	struct weft_gfam_decision *out)
{
	const struct gfam_rpid *r = &t->rpid[spid % WEFT_GFAM_RPIDS];
	const struct gfam_decoder *d = gfam_row(t, r->row != GFAM_NO_ROW ? r->row : 0);
	unsigned int hits = 0, hit = 0;
	uint64_t dpa = 0;

	if (spid >= WEFT_GFAM_RPIDS) {
		gfam_refuse(out, WEFT_GFAM_NO_ROW);
		return;
	}
	for (unsigned int i = 0; i < r->used; i++) {
		const uint64_t at = gfam_squeeze(&d[i], hpa);
		/* Both, and no branch between them: it would be one that nothing foretells. */
		const unsigned int h = (unsigned int)(at < d[i].dpa_len) &
		                       (unsigned int)gfam_way_agrees(&d[i], hpa);

		hits += h;
		hit = h != 0 ? i : hit;
		dpa = h != 0 ? at : dpa;
	}
	if (hits != 1) {
		gfam_refuse(out, gfam_explain(r, d, hits, hpa));
		return;
	}
	out->dpa = d[hit].dpa_base + dpa;
	out->decoder = (uint8_t)hit;
	gfam_judge(t, r, d[hit].coherent != 0, write, out);
}

void
weft_gfam_decide(const struct weft_gfam *t, uint16_t spid, uint64_t hpa, bool write,
	struct weft_gfam_decision *d)
{
	if (t == NULL)
		gfam_refuse(d, WEFT_GFAM_NO_ROW);
	else
		decide(t, spid, hpa, write, d);
}

void
weft_gfam_decide_run(const struct weft_gfam *t, const uint16_t *spid, const uint64_t *hpa,
	const bool *write, struct weft_gfam_decision *d, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (t == NULL) {
			gfam_refuse(&d[i], WEFT_GFAM_NO_ROW);
			continue;
		}
		if (i + AHEAD < n) {
			const unsigned int row = t->rpid[spid[i + AHEAD] % WEFT_GFAM_RPIDS].row;

			__builtin_prefetch(gfam_row(t, row != GFAM_NO_ROW ? row : 0));
		}
		decide(t, spid[i], hpa[i], write[i], &d[i]);
	}
}

/*
 * True if line @p i of an access and its first do not lie together in memory elsewhere. Where
 * all of it is at home, the decoder that both have says where lines are.
 */
static bool
gfam_is_apart(const struct weft_gfam *t, const struct weft_gfam_decision *first,
	const struct weft_gfam_decision *line, uint64_t i)
{
	return first->result == WEFT_GFAM_ALLOWED && line->result == WEFT_GFAM_ALLOWED &&
	       t->dmp[first->dmp].n_away != 0 &&
	       line->dpa != (first->dpa & ~(uint64_t)(UIO_LINE - 1)) + i * UIO_LINE;
}

/*
 * True if all of an access is decided as its first line is: it lies within one unit of interleave,
 * at whose multiples decoders begin, and within one block, at whose multiples they end.
 */
static bool
gfam_is_one(const struct weft_gfam *t, const struct weft_gfam_decision *first, uint64_t hpa,
	uint32_t len)
{
	return first->result == WEFT_GFAM_ALLOWED &&
	       t->dmp[first->dmp].block_log2 >= GRANULE_LOG2 &&
	       (hpa ^ (hpa + len - 1)) >> GRANULE_LOG2 == 0;
}

void
weft_gfam_decide_uio(const struct weft_gfam *t, uint16_t spid, uint64_t hpa, uint32_t len,
	bool write, struct weft_gfam_decision *d)
{
	struct weft_gfam_decision line;
	const uint64_t lines = (hpa % UIO_LINE + len + UIO_LINE - 1) / UIO_LINE;
	uint64_t in;

	if (t == NULL || (t->cfg.knobs & WEFT_GFAM_UIO) == 0) {
		gfam_refuse(d, WEFT_GFAM_UIO_OFF);
		return;
	}
	decide(t, spid, hpa, write, d);
	if (gfam_is_one(t, d, hpa, len))
		return;
	in = weft_gfam_trigger(d->result) != 0;
	for (uint64_t i = 1; i < lines; i++) {
		decide(t, spid, (hpa & ~(uint64_t)(UIO_LINE - 1)) + i * UIO_LINE, write, &line);
		if (weft_gfam_trigger(line.result) == 0)
			continue;
		in++;
		if (line.decoder != d->decoder || gfam_is_apart(t, d, &line, i)) {
			gfam_refuse(d, WEFT_GFAM_CROSSES);
			return;
		}
		if (d->result == WEFT_GFAM_ALLOWED && line.result != WEFT_GFAM_ALLOWED)
			*d = line;
	}
	if (in != 0 && in != lines)
		gfam_refuse(d, WEFT_GFAM_CROSSES);
}
