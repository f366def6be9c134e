/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A unit's page requests (ats.md section 5.4): one page a group, what needs it waits for the
 * answer.
 */

#include "xlate_priv.h"

#include <errno.h>

#define ANSWERS 4 /* a page may take as long as so many translations */

uint16_t
xlate_page_queue(struct weft_xlate *x, const struct weft_xlate_item *item, uint64_t now_ns)
{
	const uint64_t page =
		item->va & ~weft_mask64(WEFT_ATS_PAGE_LOG2 + (unsigned int)x->cfg.stu);
	const uint8_t bits = (item->want & WEFT_ATC_W) != 0 ? WEFT_ATS_PAGE_W : WEFT_ATS_PAGE_R;
	struct xlate_ask *unused = NULL;

	for (struct xlate_ask *a = x->ask; a < x->ask + XLATE_ASKS; a++) {
		if (!a->is_used)
			unused = a;
		else if (a->page == page && a->bits == bits && a->ctx == item->ctx)
			return (uint16_t)(XLATE_PAGE + (a - x->ask));
	}
	if (unused == NULL)
		return XLATE_LATER;
	*unused = (struct xlate_ask){
		.page = page,
		.until_ns = now_ns + ANSWERS * x->cfg.answer_ns,
		.ctx = item->ctx,
		.bits = bits,
		.is_used = true,
	};
	return (uint16_t)(XLATE_PAGE + (unused - x->ask));
}

/* What waits for it goes on. */
static void
page_end_ask(struct weft_xlate *x, struct xlate_ask *a, enum weft_xlate_why why)
{
	a->is_used = false;
	xlate_release_why(x, (uint16_t)(XLATE_PAGE + (a - x->ask)), why);
}

void
xlate_page_time(struct weft_xlate *x, uint64_t now_ns)
{
	for (struct xlate_ask *a = x->ask; a < x->ask + XLATE_ASKS; a++)
		if (a->is_used && now_ns >= a->until_ns)
			page_end_ask(x, a, WEFT_XLATE_LOOK);
}

void
xlate_page_reset(struct weft_xlate *x)
{
	for (struct xlate_ask *a = x->ask; a < x->ask + XLATE_ASKS; a++)
		if (a->is_used)
			page_end_ask(x, a, WEFT_XLATE_LOOK);
	weft_ats_pri_init(&x->pri, x->cfg.id, WEFT_ATS_GROUPS);
}

void
xlate_page_on(struct weft_xlate *x)
{
	weft_ats_pri_reg_set(&x->pri, WEFT_ATS_PRI_REG_ALLOCATION, WEFT_ATS_GROUPS);
	weft_ats_pri_reg_set(&x->pri, WEFT_ATS_PRI_REG_CTL, WEFT_ATS_PRI_E);
}

/* Groups are taken in turn, so that an answer that comes late meets no other question. */
static size_t
page_send_ask(struct weft_xlate *x, struct xlate_ask *a, uint8_t *buf)
{
	for (unsigned int i = 0; i < WEFT_ATS_GROUPS; i++) {
		const struct weft_ats_page page = {
			.addr = a->page,
			.pasid = a->ctx == 0 ? -1 : a->ctx,
			.requester = x->cfg.id,
			.group = x->next_group,
			.bits = (uint8_t)(a->bits | WEFT_ATS_PAGE_LAST),
		};
		const int len = weft_ats_pri_ask(&x->pri, &page, buf);

		if (len < 0 && len != -EBUSY)
			return 0;
		x->next_group = (uint16_t)((x->next_group + 1) % WEFT_ATS_GROUPS);
		if (len < 0)
			continue;
		a->group = page.group;
		a->is_sent = true;
		x->count[WEFT_XLATE_N_PAGES]++;
		return (size_t)len;
	}
	return 0;
}

size_t
xlate_page_send(struct weft_xlate *x, uint8_t *buf)
{
	for (struct xlate_ask *a = x->ask; a < x->ask + XLATE_ASKS; a++) {
		const size_t len = a->is_used && !a->is_sent ? page_send_ask(x, a, buf) : 0;

		if (len != 0)
			return len;
	}
	return 0;
}

enum weft_verdict
xlate_page_receive(struct weft_xlate *x, const uint8_t *p, size_t len)
{
	uint16_t group;
	uint8_t code;
	const enum weft_verdict v = weft_ats_pri_receive(&x->pri, p, len, &group, &code);

	for (struct xlate_ask *a = x->ask; v == WEFT_OK && a < x->ask + XLATE_ASKS; a++)
		if (a->is_used && a->is_sent && a->group == group)
			page_end_ask(x, a,
				code != WEFT_ATS_PAGE_SUCCESS ? WEFT_XLATE_NO_PAGE
							      : WEFT_XLATE_LOOK);
	return v;
}
