/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Address and size in one word (ats.md section 3): with S, the lowest 0 at or above address bit 12
 * tells the size. And the translations of a completion, which use it (sections 2.4 and 2.5).
 */

#include "weft_ats_wire.h"

#include <errno.h>

#define RANGE_S 0x800u

uint64_t
weft_ats_range_put(uint64_t base, unsigned int log2)
{
	assert(log2 >= WEFT_ATS_PAGE_LOG2 && log2 <= 64 && (base & weft_mask64(log2)) == 0);
	if (log2 == WEFT_ATS_PAGE_LOG2)
		return base;
	/* All bits below the size are set but the topmost: a 0 further down would shrink it. */
	return base | (WEFT_BIT64(log2 - 1) - WEFT_BIT64(WEFT_ATS_PAGE_LOG2)) | RANGE_S;
}

int
weft_ats_range_get(uint64_t word, uint64_t *base)
{
	const uint64_t pages = word >> WEFT_ATS_PAGE_LOG2;
	unsigned int log2 = WEFT_ATS_PAGE_LOG2;

	if ((word & RANGE_S) != 0) {
		if (pages == weft_mask64(64 - WEFT_ATS_PAGE_LOG2))
			return -1;
		log2 += 1 + (unsigned int)__builtin_ctzll(~pages);
	}
	*base = word & ~weft_mask64(log2);
	return (int)log2;
}

/* Smallest aligned range around both addresses. */
static struct weft_ats_range
range_around(uint64_t from, uint64_t last, unsigned int stu_log2)
{
	const uint64_t differ = from ^ last;
	unsigned int log2 = differ == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(differ);

	log2 = log2 < stu_log2 ? stu_log2 : log2;
	return (struct weft_ats_range){ from & ~weft_mask64(log2), (uint8_t)log2 };
}

/* Largest aligned range that begins at @p from and does not pass @p last. */
static struct weft_ats_range
range_within(uint64_t from, uint64_t last, unsigned int stu_log2)
{
	unsigned int log2 = stu_log2;

	while (log2 < 64 && (from & weft_mask64(log2 + 1)) == 0 &&
		weft_mask64(log2 + 1) <= last - from)
		log2++;
	return (struct weft_ats_range){ from, (uint8_t)log2 };
}

unsigned int
weft_ats_cover(uint64_t from, uint64_t last, unsigned int stu_log2, struct weft_ats_range *out,
	unsigned int max)
{
	unsigned int n = 0;
	uint64_t end;

	assert(from <= last && max != 0);
	from &= ~weft_mask64(stu_log2);
	last |= weft_mask64(stu_log2);
	for (;;) {
		out[n] = n + 1 == max ? range_around(from, last, stu_log2)
		                      : range_within(from, last, stu_log2);
		end = out[n].base | weft_mask64(out[n].log2);
		n++;
		if (end >= last)
			return n;
		from = end + 1;
	}
}

static bool
ats_xlat_put(const struct weft_ats_xlat *x, uint8_t *p)
{
	if ((x->bits & ~(unsigned int)WEFT_ATS_BITS) != 0)
		return false;
	if ((x->bits & (WEFT_ATS_R | WEFT_ATS_W)) == 0 && x->log2 == 0) {
		weft_put_be64(p, x->bits);
		return true;
	}
	if (x->log2 < WEFT_ATS_PAGE_LOG2 || x->log2 > 64 || (x->pa & weft_mask64(x->log2)) != 0)
		return false;
	weft_put_be64(p, weft_ats_range_put(x->pa, x->log2) | x->bits);
	return true;
}

static bool
ats_xlat_get(const uint8_t *p, struct weft_ats_xlat *x)
{
	const uint64_t word = weft_get_be64(p);
	int log2;

	memset(x, 0, sizeof(*x));
	x->bits = (uint16_t)(word & WEFT_ATS_BITS);
	if ((x->bits & (WEFT_ATS_R | WEFT_ATS_W)) == 0) {
		x->bits = 0;
		return true;
	}
	log2 = weft_ats_range_get(word, &x->pa);
	x->log2 = log2 < 0 ? 0 : (uint8_t)log2;
	return log2 >= 0;
}

enum weft_verdict
weft_ats_xlats_get(const struct weft_ats_packet *p, unsigned int rcb, enum weft_ats_part *part,
	struct weft_ats_xlat *x, unsigned int *n)
{
	const unsigned int bytes = 4u * p->length;

	assert(rcb == 64 || rcb == 128);
	if (p->length == 0 || p->length % 2 != 0 || bytes > rcb || p->byte_count < bytes ||
		p->byte_count > rcb || p->byte_count % WEFT_ATS_XLAT_LEN != 0)
		return WEFT_DROP_ATS_FIELD;
	if (p->byte_count > bytes)
		*part = WEFT_ATS_FIRST;
	else if ((p->lower_addr + bytes) % rcb == 0)
		*part = WEFT_ATS_ONLY;
	else
		*part = WEFT_ATS_SECOND;
	*n = bytes / WEFT_ATS_XLAT_LEN;
	for (unsigned int i = 0; i < *n; i++)
		if (!ats_xlat_get(p->data + (size_t)i * WEFT_ATS_XLAT_LEN, &x[i]))
			return WEFT_DROP_ATS_RANGE;
	return WEFT_OK;
}

int
weft_ats_xlats_put(struct weft_ats_packet *p, const struct weft_ats_xlat *x, unsigned int n,
	unsigned int first, enum weft_ats_part part, uint8_t *data)
{
	const unsigned int from = part == WEFT_ATS_SECOND ? first : 0;
	const unsigned int to = part == WEFT_ATS_SECOND ? n : first;

	if (n == 0 || n > WEFT_ATS_XLATS || first == 0 || first > n ||
		(part == WEFT_ATS_ONLY) != (first == n))
		return -EINVAL;
	for (unsigned int i = from; i < to; i++)
		if (!ats_xlat_put(&x[i], data + (size_t)(i - from) * WEFT_ATS_XLAT_LEN))
			return -EINVAL;
	p->kind = WEFT_ATS_CPLD;
	p->status = WEFT_ATS_SUCCESS;
	p->length = (uint16_t)((to - from) * WEFT_ATS_XLAT_LEN / 4);
	p->byte_count = (uint16_t)((n - from) * WEFT_ATS_XLAT_LEN);
	/*
	 * As if the answer lay before a boundary: the first packet ends at it, a second begins
	 * there.
	 */
	p->lower_addr = part == WEFT_ATS_SECOND ? 0 : (uint8_t)(-4u * p->length & 0x7F);
	p->data = data;
	return 0;
}
