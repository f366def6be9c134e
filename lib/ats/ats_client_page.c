/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A client's page requests (ats.md section 5.4): one page a group, requests wait for the answer. */

#include "ats_client_priv.h"

#include <errno.h>

#define ANSWERS 4 /* a page may take as long as so many translations */

static uint64_t
page_of(const struct weft_ats_client *c, const struct client_request *r)
{
	return r->msg.addr & ~weft_mask64(WEFT_ATS_PAGE_LOG2 + (unsigned int)c->cfg.stu);
}

static uint8_t
page_wanted_bits(const struct client_request *r)
{
	return r->msg.kind == WEFT_MSG_M2S_RWD ? WEFT_ATS_PAGE_W : WEFT_ATS_PAGE_R;
}

static struct client_ask *
page_find_ask(struct weft_ats_client *c, const struct client_request *r)
{
	struct client_ask *unused = NULL;

	for (struct client_ask *a = c->ask; a < c->ask + CLIENT_ASKS; a++) {
		if (!a->is_used)
			unused = a;
		else if (a->page == page_of(c, r) && a->bits == page_wanted_bits(r))
			return a;
	}
	return unused;
}

void
client_page_wait(struct weft_ats_client *c, struct client_request *r, uint64_t now_ns)
{
	struct client_ask *a = page_find_ask(c, r);

	if (a == NULL) {
		client_list_put(c, CLIENT_LATER, r);
		return;
	}
	if (!a->is_used)
		*a = (struct client_ask){
			.page = page_of(c, r),
			.until_ns = now_ns + ANSWERS * c->cfg.answer_ns,
			.bits = page_wanted_bits(r),
			.is_used = true,
		};
	r->ask = (uint16_t)(a - c->ask);
	client_list_put(c, CLIENT_PAGE, r);
}

/* Requests that wait for it go on. */
static void
page_end_ask(struct weft_ats_client *c, struct client_ask *a, bool is_denied)
{
	const uint32_t n = c->list[CLIENT_PAGE].n;

	a->is_used = false;
	for (uint32_t i = 0; i < n; i++) {
		struct client_request *r = client_list_take(c, CLIENT_PAGE);

		if (&c->ask[r->ask] != a) {
			client_list_put(c, CLIENT_PAGE, r);
			continue;
		}
		r->is_denied = is_denied;
		client_retry(c, r);
	}
}

void
client_page_time(struct weft_ats_client *c, uint64_t now_ns)
{
	for (struct client_ask *a = c->ask; a < c->ask + CLIENT_ASKS; a++)
		if (a->is_used && now_ns >= a->until_ns)
			page_end_ask(c, a, false);
}

void
client_page_reset(struct weft_ats_client *c)
{
	for (struct client_ask *a = c->ask; a < c->ask + CLIENT_ASKS; a++)
		if (a->is_used)
			page_end_ask(c, a, false);
	weft_ats_pri_init(&c->pri, c->cfg.id, WEFT_ATS_GROUPS);
}

void
client_page_on(struct weft_ats_client *c)
{
	weft_ats_pri_reg_set(&c->pri, WEFT_ATS_PRI_REG_ALLOCATION, WEFT_ATS_GROUPS);
	weft_ats_pri_reg_set(&c->pri, WEFT_ATS_PRI_REG_CTL, WEFT_ATS_PRI_E);
}

/* Groups are taken in turn, so that an answer that comes late meets no other question. */
static size_t
page_send_ask(struct weft_ats_client *c, struct client_ask *a, uint8_t *buf)
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
		c->count[WEFT_ATS_CLIENT_N_PAGES]++;
		return (size_t)len;
	}
	return 0;
}

size_t
client_page_send(struct weft_ats_client *c, uint8_t *buf)
{
	for (struct client_ask *a = c->ask; a < c->ask + CLIENT_ASKS; a++) {
		const size_t len = a->is_used && !a->is_sent ? page_send_ask(c, a, buf) : 0;

		if (len != 0)
			return len;
	}
	return 0;
}

enum weft_verdict
client_page_receive(struct weft_ats_client *c, const uint8_t *p, size_t len)
{
	uint16_t group;
	uint8_t code;
	const enum weft_verdict v = weft_ats_pri_receive(&c->pri, p, len, &group, &code);

	for (struct client_ask *a = c->ask; v == WEFT_OK && a < c->ask + CLIENT_ASKS; a++)
		if (a->is_used && a->is_sent && a->group == group)
			page_end_ask(c, a, code != WEFT_ATS_PAGE_SUCCESS);
	return v;
}
