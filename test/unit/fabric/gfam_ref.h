/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD's tables as fabric.md sections 1.6, 1.7 and 1.12 tell them: one struct a fact, division
 * where the library shifts, and no short cut.
 */
#ifndef GFAM_REF_H
#define GFAM_REF_H

#include "weft_test.h"

#include "weft_gfam.h"

#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)
#define TB (UINT64_C(1) << 40)
#define PB (UINT64_C(1) << 50)
#define REF_BLOCKS 1024

struct ref_dmp {
	uint64_t base, len, block;
	unsigned int flags;
	uint8_t group[REF_BLOCKS];
};

struct ref {
	struct weft_gfam_decoder d[WEFT_GFAM_RPIDS][WEFT_GFAM_DECODERS];
	uint64_t sat[WEFT_GFAM_RPIDS];
	struct ref_dmp dmp[WEFT_GFAM_DMPS];
	bool any_way;
};

static inline uint64_t
ref_gran(const struct weft_gfam_decoder *d)
{
	return UINT64_C(256) << d->gran;
}

static inline uint64_t
ref_ways(const struct weft_gfam_decoder *d)
{
	return UINT64_C(1) << d->intlv;
}

/* Whether @p hpa hits but for its way, and by which offset in the device. */
static inline bool
ref_in(const struct weft_gfam_decoder *d, uint64_t hpa, uint64_t *off)
{
	const uint64_t g = ref_gran(d), w = ref_ways(d);

	if (!d->valid || hpa < d->hpa_base)
		return false;
	*off = (hpa - d->hpa_base) / (g * w) * g + (hpa - d->hpa_base) % g;
	return *off < d->dpa_len;
}

static inline bool
ref_way(const struct ref *r, const struct weft_gfam_decoder *d, uint64_t hpa)
{
	return r->any_way || hpa / ref_gran(d) % ref_ways(d) == d->way;
}

static inline int
ref_dmp_of(const struct ref *r, uint64_t dpa)
{
	for (int i = 0; i < WEFT_GFAM_DMPS; i++) {
		if (dpa >= r->dmp[i].base && dpa < r->dmp[i].base + r->dmp[i].len)
			return i;
	}
	return -1;
}

static inline struct weft_gfam_decision
ref_decide(const struct ref *r, uint16_t spid, uint64_t hpa, bool write)
{
	struct weft_gfam_decision out = { .group = WEFT_GFAM_NO_GROUP };
	unsigned int hits = 0, ranges = 0, decoders = 0;
	uint64_t off;
	int i;

	for (uint8_t k = 0; spid < 0xFFF && k < WEFT_GFAM_DECODERS; k++) {
		const struct weft_gfam_decoder *d = &r->d[spid][k];

		decoders += d->valid;
		if (!ref_in(d, hpa, &off))
			continue;
		ranges++;
		if (ref_way(r, d, hpa)) {
			hits++;
			out.dpa = d->dpa_base + off;
			out.decoder = k;
			out.coherent = d->coherent;
		}
	}
	if (hits != 1) {
		out.dpa = 0;
		out.decoder = 0;
		out.coherent = false;
		out.result = decoders == 0 ? WEFT_GFAM_NO_ROW
		             : hits > 1    ? WEFT_GFAM_SEVERAL
		             : ranges != 0 ? WEFT_GFAM_WRONG_WAY
		                           : WEFT_GFAM_NO_HIT;
		return out;
	}
	i = ref_dmp_of(r, out.dpa);
	if (i >= 0)
		out.group = r->dmp[i].group[(out.dpa - r->dmp[i].base) / r->dmp[i].block];
	if (out.group == WEFT_GFAM_NO_GROUP)
		out.result = WEFT_GFAM_UNGROUPED;
	else if ((r->sat[spid] & UINT64_C(1) << out.group) == 0)
		out.result = WEFT_GFAM_DENIED;
	else if (write && (r->dmp[i].flags & WEFT_GFAM_READ_ONLY) != 0)
		out.result = WEFT_GFAM_NO_WRITE;
	else
		out.result = WEFT_GFAM_ALLOWED;
	out.dmp = out.group != WEFT_GFAM_NO_GROUP ? (uint8_t)i : 0;
	out.coherent = out.coherent && out.result == WEFT_GFAM_ALLOWED &&
	               (r->dmp[i].flags & WEFT_GFAM_COHERENT) != 0;
	return out;
}

static inline bool
ref_apart(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a + a_len <= b || b + b_len <= a;
}

/* What setting decoder @p k of @p spid must return. Values small enough for plain sums. */
static inline int
ref_set_rc(const struct ref *r, uint16_t spid, unsigned int k, const struct weft_gfam_decoder *d)
{
	int i;

	if (!d->valid)
		return 0;
	if (d->intlv > 8 || d->gran > 6 || d->way >= ref_ways(d) || d->dpa_len == 0)
		return -EINVAL;
	i = ref_dmp_of(r, d->dpa_base);
	if (i < 0 || d->dpa_base + d->dpa_len > r->dmp[i].base + r->dmp[i].len)
		return -EINVAL;
	if (d->hpa_base % r->dmp[i].block != 0 || d->dpa_base % r->dmp[i].block != 0 ||
		d->dpa_len % r->dmp[i].block != 0)
		return -EINVAL;
	if (d->hpa_base % (ref_ways(d) * ref_gran(d)) != 0)
		return -EINVAL;
	if (d->coherent && (r->dmp[i].flags & WEFT_GFAM_COHERENT) == 0)
		return -ENOTSUP;
	for (unsigned int o = 0; o < WEFT_GFAM_DECODERS; o++) {
		const struct weft_gfam_decoder *e = &r->d[spid][o];

		if (o == k || !e->valid)
			continue;
		if (!ref_apart(d->dpa_base, d->dpa_len, e->dpa_base, e->dpa_len) ||
			!ref_apart(d->hpa_base, d->dpa_len * ref_ways(d), e->hpa_base,
				e->dpa_len * ref_ways(e)))
			return -EINVAL;
	}
	return 0;
}

/* Tables and reference set alike. */

static inline struct weft_gfam *
ref_new(struct ref *r, const struct weft_gfam_cfg *cfg)
{
	const size_t len = weft_gfam_size(cfg);
	void *mem;

	assert_true(len != 0);
	mem = aligned_alloc(WEFT_CACHE_LINE, len);
	assert_non_null(mem);
	memset(mem, 0xA5, len);
	memset(r, 0, sizeof(*r));
	r->any_way = (cfg->knobs & WEFT_GFAM_ANY_WAY) != 0;
	for (unsigned int i = 0; i < WEFT_GFAM_DMPS; i++) {
		r->dmp[i].flags = cfg->media[i].flags;
		memset(r->dmp[i].group, WEFT_GFAM_NO_GROUP, sizeof(r->dmp[i].group));
	}
	return weft_gfam_init(mem, cfg);
}

static inline void
ref_set_dmp(struct ref *r, struct weft_gfam *t, unsigned int i, uint64_t base, uint64_t len,
	uint64_t block)
{
	assert_int_equal(weft_gfam_set_dmp(t, i, base, len, block), 0);
	r->dmp[i].base = base;
	r->dmp[i].len = len;
	r->dmp[i].block = block;
}

static inline void
ref_set_block(struct ref *r, struct weft_gfam *t, unsigned int dmp, unsigned int b, uint8_t group)
{
	struct ref_dmp *d = &r->dmp[dmp];

	assert_int_equal(weft_gfam_set_blocks(t, d->base + b * d->block, d->block, group), 0);
	d->group[b] = group;
}

static inline void
ref_set_sat(struct ref *r, struct weft_gfam *t, uint16_t spid, uint64_t vec)
{
	assert_int_equal(weft_gfam_set_sat(t, spid, vec), 0);
	r->sat[spid] = vec;
}

/* Both must take it, or both refuse it for the same reason; true if they took it. */
static inline bool
ref_set_decoder(struct ref *r, struct weft_gfam *t, uint16_t spid, unsigned int k,
	const struct weft_gfam_decoder *d)
{
	const int rc = ref_set_rc(r, spid, k, d);

	assert_int_equal(weft_gfam_set_gdt(t, WEFT_GFAM_SELF, spid, k, d, 1), rc);
	if (rc == 0) {
		memset(&r->d[spid][k], 0, sizeof(*d));
		if (d->valid)
			r->d[spid][k] = *d;
	}
	return rc == 0;
}

static inline void
ref_same(const struct weft_gfam_decision *a, const struct weft_gfam_decision *b)
{
	if (a->dpa == b->dpa && a->result == b->result && a->decoder == b->decoder &&
		a->dmp == b->dmp && a->group == b->group && a->coherent == b->coherent)
		return;
	fail_msg("%s dpa %llx decoder %u dmp %u group %u coherent %d, want %s %llx %u %u %u %d",
		weft_gfam_result_name(a->result), (unsigned long long)a->dpa, a->decoder, a->dmp,
		a->group, a->coherent, weft_gfam_result_name(b->result), (unsigned long long)b->dpa,
		b->decoder, b->dmp, b->group, b->coherent);
}

/* Ask both. */
static inline enum weft_gfam_result
ref_ask(const struct ref *r, const struct weft_gfam *t, uint16_t spid, uint64_t hpa, bool write)
{
	const struct weft_gfam_decision want = ref_decide(r, spid, hpa, write);
	struct weft_gfam_decision d;

	weft_gfam_decide(t, spid, hpa, write, &d);
	ref_same(&d, &want);
	return d.result;
}

#endif /* GFAM_REF_H */
