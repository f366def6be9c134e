/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The checking source over a GFD without a fabric in between, one request at a time unless a case
 * says otherwise.
 */
#ifndef TRAFFIC_RIG_H
#define TRAFFIC_RIG_H

#include "weft_test.h"

#include "weft_gfd.h"
#include "weft_mem_requester.h"
#include "weft_pace.h"
#include "weft_rand.h"
#include "weft_telem.h"
#include "weft_traffic.h"

#define PID 0x20
#define BASE (UINT64_C(1) << 36)
#define HOST_INDEX 2
#define LINES 4
#define ROOM 16 /* lines of memory: hosts 0..3 */
#define TIMEOUT 100

struct rig {
	struct weft_requester *host;
	struct weft_traffic *traffic;
	struct weft_gfd gfd;
	uint64_t poison[1];
	uint64_t now;
	uint8_t mem[ROOM * 64];
};

static struct rig rig;

static const struct weft_traffic_target target = { BASE, ROOM * 64, PID };

static inline struct weft_traffic_cfg
cfg_of(uint64_t requests, uint8_t write_percent)
{
	const struct weft_traffic_cfg cfg = {
		.seed = 42,
		.requests = requests,
		.targets = &target,
		.n_targets = 1,
		.lines = LINES,
		.outstanding = 1,
		.writer = HOST_INDEX,
		.unit_lines = 1,
		.request_lines = 1,
		.first_line = HOST_INDEX * LINES,
		.write_percent = write_percent,
	};

	return cfg;
}

static inline void *
dirty_memory(size_t size)
{
	void *mem = aligned_alloc(64, size);

	assert_true(size > 0);
	assert_non_null(mem);
	memset(mem, 0xA5, size);
	return mem;
}

static inline void
rig_free(void)
{
	free(rig.traffic);
	free(rig.host);
}

static inline int
teardown(void **state)
{
	(void)state;
	rig_free();
	memset(&rig, 0, sizeof(rig));
	return 0;
}

/* Another life of the same host at the same memory, with what both have counted. */
static inline void
rig_again(const struct weft_traffic_cfg *cfg)
{
	const struct weft_requester_cfg host_cfg = { TIMEOUT, 10, 64, 1, NULL, 0, 0 };

	rig_free();
	rig.host = weft_requester_init(dirty_memory(weft_requester_size(&host_cfg)), &host_cfg);
	assert_int_equal(weft_requester_grant(rig.host, PID, 64, 64), 0);
	rig.traffic = weft_traffic_init(dirty_memory(weft_traffic_size(cfg)), cfg, rig.host);
	assert_non_null(rig.traffic);
}

/* In the place of the rig before, if there was one. */
static inline void
rig_new(const struct weft_traffic_cfg *cfg)
{
	rig_free();
	memset(&rig, 0, sizeof(rig));
	rig_again(cfg);
	assert_int_equal(
		weft_gfd_init(&rig.gfd, PID, BASE, rig.mem, sizeof(rig.mem), rig.poison), 0);
}

/* The same of one line, so that all requests are of it. */
static inline void
rig_new_of_a_line(struct weft_traffic_cfg *cfg)
{
	cfg->lines = 1;
	cfg->first_line = HOST_INDEX * LINES;
	rig_new(cfg);
}

static inline int
next_message(uint64_t now, struct weft_msg *m)
{
	struct weft_request rq;
	const int rc = weft_traffic_next(rig.traffic, now, &rq);

	if (rc == 0)
		weft_mem_request(rig.host, &rq, m);
	return rc;
}

static inline uint64_t
count(enum weft_traffic_counter i)
{
	return weft_traffic_counts(rig.traffic)[i];
}

static inline uint8_t *
line(unsigned int i)
{
	return rig.mem + (HOST_INDEX * LINES + i) * 64;
}

static inline void
answer(const struct weft_msg *reply)
{
	struct weft_completion c;

	assert_int_equal(weft_mem_response(rig.host, reply, rig.now, &c), WEFT_OK);
	weft_traffic_complete(rig.traffic, &c);
}

/* One request and its answer. @return what weft_traffic_next() said */
static inline int
step(void)
{
	struct weft_msg m, reply;
	const int rc = next_message(++rig.now, &m);

	if (rc != 0)
		return rc;
	assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
	answer(&reply);
	return 0;
}

static inline void
run_to_end(void)
{
	for (unsigned int i = 0; !weft_traffic_done(rig.traffic); i++) {
		const int rc = step();

		assert_true(rc == 0 || rc == -EAGAIN || rc == -ESHUTDOWN);
		assert_true(i < 100000);
	}
	assert_int_equal(step(), -ESHUTDOWN);
}

static inline void
stop_and_sweep(void)
{
	weft_traffic_stop(rig.traffic);
	run_to_end();
}

static inline void
on_lost(void *arg, const struct weft_completion *c)
{
	(void)arg;
	weft_traffic_complete(rig.traffic, c);
}

/* A request whose response never comes; the GFD sees it or not. */
static inline void
lose(bool executed)
{
	struct weft_msg m, reply;

	assert_int_equal(next_message(++rig.now, &m), 0);
	if (executed)
		assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
	rig.now += TIMEOUT;
	assert_int_equal(weft_requester_expire(rig.host, rig.now, on_lost, NULL, 8), 1);
}

#endif /* TRAFFIC_RIG_H */
