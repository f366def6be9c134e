/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The agent that the translation unit of a benchmark asks: by the packets of a fabric, but at once.
 * Every page of 4 KB is where its address says.
 */

#include "bench_agent.h"

#include <stdlib.h>

#include "bench.h"

#define AGENT_ID 0x100
#define UNIT_ID 0x101
#define RCB 128
#define EVER_NS (UINT64_C(1) << 60)

bool
bench_agent_init(struct bench_agent *a, uint32_t entries, uint16_t contexts, uint16_t places,
	const struct weft_atc_kernel *kernel)
{
	const struct weft_ats_ta_cfg ta = {
		.timeout_ns = EVER_NS, .id = AGENT_ID, .rcb = RCB, .devices = 1, .walks = 32
	};
	const struct weft_xlate_cfg cfg = {
		.answer_ns = EVER_NS,
		.life_ns = EVER_NS,
		.entries = entries,
		.places = places,
		.share = places,
		.contexts = contexts,
		.id = UNIT_ID,
		.prefetch_degree = 1,
		.is_ordered = true,
		.kernel = kernel,
	};

	a->now_ns = 1;
	a->unit = weft_xlate_init(bench_alloc(weft_xlate_size(&cfg)), &cfg);
	a->ta = weft_ats_ta_init(bench_alloc(weft_ats_ta_size(&ta)), &ta);
	if (a->unit == NULL || a->ta == NULL || weft_ats_ta_add(a->ta, UNIT_ID, 0, 0) != 0)
		return false;
	weft_xlate_enable(a->unit);
	return true;
}

void
bench_agent_fini(struct bench_agent *a)
{
	free(a->unit);
	free(a->ta);
}

static void
agent_walk(struct bench_agent *a)
{
	struct weft_ats_walk walk;
	int handle;

	while ((handle = weft_ats_ta_walk(a->ta, &walk)) >= 0) {
		const struct weft_ats_xlat page = {
			.pa = walk.va, .bits = WEFT_ATS_R | WEFT_ATS_W, .log2 = WEFT_ATS_PAGE_LOG2
		};

		weft_ats_ta_answer(a->ta, handle, WEFT_ATS_SUCCESS, &page, 1, 1);
	}
}

void
bench_agent_talk(struct bench_agent *a)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	while ((len = weft_xlate_send_request(a->unit, buf, sizeof(buf), a->now_ns)) != 0)
		weft_ats_ta_receive(a->ta, buf, len);
	agent_walk(a);
	while ((len = weft_ats_ta_send_completion(a->ta, buf, sizeof(buf))) != 0)
		weft_xlate_receive(a->unit, buf, len, a->now_ns);
	while ((len = weft_ats_ta_send_invalidate(a->ta, 0, buf, sizeof(buf), a->now_ns)) != 0)
		weft_xlate_receive(a->unit, buf, len, a->now_ns);
	while ((len = weft_xlate_send_posted(a->unit, buf, sizeof(buf))) != 0)
		weft_ats_ta_receive(a->ta, buf, len);
	weft_xlate_time(a->unit, a->now_ns);
}

void
bench_agent_give(struct bench_agent *a, uint16_t ctx, uint64_t va)
{
	weft_xlate_ask(a->unit, ctx, va);
	bench_agent_talk(a);
}

bool
bench_agent_take(struct bench_agent *a, uint16_t ctx, uint64_t va)
{
	const struct weft_ats_inv page = {
		.addr = va, .pasid = ctx == 0 ? -1 : ctx, .log2 = WEFT_ATS_PAGE_LOG2
	};
	const int itag = weft_ats_ta_invalidate(a->ta, 0, &page);

	if (itag < 0)
		return false;
	weft_ats_ta_flushed(a->ta, 0, 1u << itag);
	weft_xlate_passed(a->unit, weft_xlate_left(a->unit));
	bench_agent_talk(a);
	return weft_ats_ta_release(a->ta, 0, (unsigned int)itag) == 0;
}
