/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The agent of a translation unit, as tests play it: packets of the unit in, answers out. */
#ifndef XLATE_AGENT_H
#define XLATE_AGENT_H

#include "weft_ats_wire.h"
#include "weft_test.h"
#include "weft_xlate.h"

#define AGENT_ID 0x100
#define AGENT_RCB 128
#define AGENT_NOW 1

/* Of 4 KB. flags 0: there is none. */
struct agent_page {
	uint64_t pa;
	uint8_t flags; /* enum weft_atc_flags */
};

static inline uint16_t
agent_context(const struct weft_ats_packet *q)
{
	return q->has_pasid ? (uint16_t)q->pasid : 0;
}

static inline void
agent_send(struct weft_xlate *x, const struct weft_ats_packet *p)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const size_t len = weft_ats_encode(p, buf, sizeof(buf));

	assert_int_not_equal(len, 0);
	assert_int_equal(weft_xlate_receive(x, buf, len, AGENT_NOW), WEFT_OK);
}

/* The next Translation Request. False: there is none. */
static inline bool
agent_hear(struct weft_xlate *x, struct weft_ats_packet *q)
{
	static uint8_t buf[WEFT_ATS_PACKET_MAX];
	const size_t len = weft_xlate_send_request(x, buf, sizeof(buf), AGENT_NOW);

	if (len == 0)
		return false;
	assert_int_equal(weft_ats_decode(buf, len, AGENT_RCB, q), WEFT_OK);
	return true;
}

/* As many pages as are asked for, one behind the other. */
static inline void
agent_answer(struct weft_xlate *x, const struct weft_ats_packet *q, struct agent_page page)
{
	const unsigned int n = q->length / 2;
	struct weft_ats_xlat all[WEFT_ATS_XLATS];
	uint8_t data[WEFT_ATS_XLATS * WEFT_ATS_XLAT_LEN];
	struct weft_ats_packet p = {
		.requester = q->requester, .target = AGENT_ID, .tag = q->tag, .kind = WEFT_ATS_CPL
	};

	for (unsigned int i = 0; i < n; i++)
		all[i] = (struct weft_ats_xlat){ page.pa + i * UINT64_C(4096), page.flags, 12 };
	if (page.flags != 0)
		assert_int_equal(weft_ats_xlats_put(&p, all, n, n, WEFT_ATS_ONLY, data), 0);
	agent_send(x, &p);
	weft_xlate_time(x, AGENT_NOW);
}

/*
 * Page Requests are answered: given if @p gives says so, or denied if that is NULL. @return ITags
 * of the invalidations that the unit completed
 */
static inline uint32_t
agent_hear_posted(struct weft_xlate *x, bool (*gives)(uint16_t ctx, uint64_t va, bool write))
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	struct weft_ats_packet q;
	uint32_t itags = 0;
	size_t len;

	while ((len = weft_xlate_send_posted(x, buf, sizeof(buf))) != 0) {
		assert_int_equal(weft_ats_decode(buf, len, AGENT_RCB, &q), WEFT_OK);
		if (q.kind == WEFT_ATS_INVALIDATED) {
			itags |= q.itags;
			continue;
		}
		assert_int_equal(q.kind, WEFT_ATS_PAGE);
		const bool given = gives != NULL && gives(agent_context(&q), q.addr,
							    (q.page_bits & WEFT_ATS_PAGE_W) != 0);
		const struct weft_ats_packet p = { .kind = WEFT_ATS_PAGE_GROUP,
			.requester = AGENT_ID,
			.target = q.requester,
			.group = q.group,
			.code = given ? WEFT_ATS_PAGE_SUCCESS : WEFT_ATS_PAGE_INVALID,
			.has_pasid = q.has_pasid,
			.pasid = q.pasid };

		agent_send(x, &p);
	}
	return itags;
}

static inline void
agent_invalidate(struct weft_xlate *x, uint16_t unit, uint16_t ctx, uint64_t va, uint8_t itag)
{
	const struct weft_ats_packet p = { .kind = WEFT_ATS_INVALIDATE,
		.addr = va,
		.log2 = 12,
		.requester = AGENT_ID,
		.target = unit,
		.itag = itag,
		.has_pasid = ctx != 0,
		.pasid = ctx };

	agent_send(x, &p);
}

#endif /* XLATE_AGENT_H */
