/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A client's page requests (ats.md section 5.4): one page a group, requests wait for the answer. */

#include "xlate_priv.h"

#include <errno.h>

#define ANSWERS 4 /* a page may take as long as so many translations */

static uint64_t
page_of(const struct weft_xlate *c, const struct xlate_request *r)
{
	return r->msg.addr & ~weft_mask64(WEFT_ATS_PAGE_LOG2 + (unsigned int)c->cfg.stu);
}

static uint8_t
page_wanted_bits(const struct xlate_request *r)
{
	return r->msg.kind == WEFT_MSG_M2S_RWD ? WEFT_ATS_PAGE_W : WEFT_ATS_PAGE_R;
}

static struct xlate_ask *
page_find_ask(struct weft_xlate *c, const struct xlate_request *r)
{
	struct xlate_ask *unused = NULL;

	for (struct xlate_ask *a = c->ask; a < c->ask + XLATE_ASKS; a++) {
		if (!a->is_used)
			unused = a;
		else if (a->page == page_of(c, r) && a->bits == page_wanted_bits(r))
			return a;
	}
	return unused;
}

void
xlate_page_wait(struct weft_xlate *c, struct xlate_request *r, uint64_t now_ns)
{
	struct xlate_ask *a = page_find_ask(c, r);

	if (a == NULL) {
		xlate_list_put(c, XLATE_LATER, r);
		return;
	}
	if (!a->is_used)
		*a = (struct xlate_ask){
			.page = page_of(c, r),
			.until_ns = now_ns + ANSWERS * c->cfg.answer_ns,
			.bits = page_wanted_bits(r),
			.is_used = true,
		};
	r->ask = (uint16_t)(a - c->ask);
	xlate_list_put(c, XLATE_PAGE, r);
}

/* Requests that wait for it go on. */
static void
page_end_ask(struct weft_xlate *c, struct xlate_ask *a, bool is_denied)
{
	const uint32_t n = c->list[XLATE_PAGE].n;

	a->is_used = false;
	for (uint32_t i = 0; i < n; i++) {
		struct xlate_request *r = xlate_list_take(c, XLATE_PAGE);

		if (&c->ask[r->ask] != a) {
			xlate_list_put(c, XLATE_PAGE, r);
			continue;
		}
		r->is_denied = is_denied;
		xlate_retry(c, r);
	}
}

void
xlate_page_time(struct weft_xlate *c, uint64_t now_ns)
{
	for (struct xlate_ask *a = c->ask; a < c->ask + XLATE_ASKS; a++)
		if (a->is_used && now_ns >= a->until_ns)
			page_end_ask(c, a, false);
}

void
xlate_page_reset(struct weft_xlate *c)
{
	for (struct xlate_ask *a = c->ask; a < c->ask + XLATE_ASKS; a++)
		if (a->is_used)
			page_end_ask(c, a, false);
	weft_ats_pri_init(&c->pri, c->cfg.id, WEFT_ATS_GROUPS);
}

void
xlate_page_on(struct weft_xlate *c)
{
	weft_ats_pri_reg_set(&c->pri, WEFT_ATS_PRI_REG_ALLOCATION, WEFT_ATS_GROUPS);
	weft_ats_pri_reg_set(&c->pri, WEFT_ATS_PRI_REG_CTL, WEFT_ATS_PRI_E);
}

/* Groups are taken in turn, so that an answer that comes late meets no other question. */
static size_t
page_send_ask(struct weft_xlate *c, struct xlate_ask *a, uint8_t *buf)
{
	for (unsigned int i = 0; i < WEFT_ATS_GROUPS; i++) {
		const struct weft_ats_page page = {
			.addr = a->page,
			.pasid = -1,
			.requester = c->cfg.id,
			.group = c->next_group,
			.bits = (uint8_t)(a->bits | WEFT_ATS_PAGE_LAST),
		};
		const int len = weft_ats_pri_ask(&c->pri, &page, buf);

		if (len < 0 && len != -EBUSY)
			return 0;
		c->next_group = (uint16_t)((c->next_group + 1) % WEFT_ATS_GROUPS);
		if (len < 0)
			continue;
		a->group = page.group;
		a->is_sent = true;
		c->count[WEFT_XLATE_N_PAGES]++;
		return (size_t)len;
	}
	return 0;
}

size_t
xlate_page_send(struct weft_xlate *c, uint8_t *buf)
{
	for (struct xlate_ask *a = c->ask; a < c->ask + XLATE_ASKS; a++) {
		const size_t len = a->is_used && !a->is_sent ? page_send_ask(c, a, buf) : 0;

		if (len != 0)
			return len;
	}
	return 0;
}

enum weft_verdict
xlate_page_receive(struct weft_xlate *c, const uint8_t *p, size_t len)
{
	uint16_t group;
	uint8_t code;
	const enum weft_verdict v = weft_ats_pri_receive(&c->pri, p, len, &group, &code);

	for (struct xlate_ask *a = c->ask; v == WEFT_OK && a < c->ask + XLATE_ASKS; a++)
		if (a->is_used && a->is_sent && a->group == group)
			page_end_ask(c, a, code != WEFT_ATS_PAGE_SUCCESS);
	return v;
}
