/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The halves of a retry layer on two threads: what one sends comes to the other, over a wire that
 * loses and doubles frames. Everything arrives in order, once, session after session, and what is
 * of another session is not taken.
 */

#include "weft_flit.h"
#include "weft_isn.h"
#include "weft_llr.h"
#include "weft_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SESSIONS 4
#define FLITS 20000 /* a session */
#define FRAMES 64 /* on the wire */
#define FRAME_FLITS 8

struct apart_frame {
	uint32_t session;
	unsigned int n;
	uint64_t syndrome[FRAME_FLITS];
	uint8_t flit[FRAME_FLITS * WEFT_FLIT_LEN];
};

static struct weft_llr *llr;
static struct apart_frame wire[FRAMES];
static unsigned int wire_head, wire_tail; /* the receiver's, the sender's */
static bool stop;
static uint64_t taken[SESSIONS + 1], wrong, strangers;

static uint64_t
apart_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Each flit says of which session it is, and its place there. */
static void
apart_take(uint32_t session, const uint8_t *flit)
{
	const uint64_t is = weft_get_be64(flit + 16);

	wrong += is >> 32 != session || (is & UINT32_MAX) != taken[session];
	taken[session]++;
}

static void
apart_receive(const struct apart_frame *f)
{
	struct weft_llr_rx_result in;
	const uint8_t *flit;

	if (!weft_llr_rx_session(llr, f->session, apart_now())) {
		strangers++;
		return;
	}
	weft_llr_rx(llr, f->flit, f->syndrome, f->n, 0, apart_now(), &in);
	for (; in.deliver != 0; in.deliver &= in.deliver - 1)
		apart_take(
			f->session, f->flit + (size_t)__builtin_ctzll(in.deliver) * WEFT_FLIT_LEN);
	while ((flit = weft_llr_rx_next(llr)) != NULL)
		apart_take(f->session, flit);
}

static void *
apart_receiver(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		weft_llr_rx_poll(llr, apart_now());
		if (wire_head == __atomic_load_n(&wire_tail, __ATOMIC_ACQUIRE)) {
			sched_yield();
			continue;
		}
		apart_receive(&wire[wire_head % FRAMES]);
		__atomic_store_n(&wire_head, wire_head + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static bool
apart_wire_has_room(void)
{
	return wire_tail - __atomic_load_n(&wire_head, __ATOMIC_ACQUIRE) < FRAMES - 1;
}

/* A frame, if there is one to send. It may be lost, or come twice. */
static void
apart_send(uint32_t session, struct weft_rand *rnd)
{
	struct apart_frame *f = &wire[wire_tail % FRAMES];
	struct weft_llr_tx_info out;

	if (weft_llr_tx(llr, f->flit, FRAME_FLITS, apart_now(), &out) == 0) {
		sched_yield();
		return;
	}
	f->session = session;
	f->n = out.n;
	for (unsigned int i = 0; i < out.n; i++) {
		const unsigned int numbered = out.n - out.nops;

		f->syndrome[i] =
			weft_isn_number((out.first + (i < numbered ? i : numbered)) % 1024);
	}
	if (weft_rand_below(rnd, 50) == 0)
		return;
	if (weft_rand_below(rnd, 50) == 0) {
		wire[(wire_tail + 1) % FRAMES] = *f;
		__atomic_store_n(&wire_tail, wire_tail + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&wire_tail, wire_tail + 1, __ATOMIC_RELEASE);
}

/* Until all is acknowledged, or, every other time, with much still on its way. */
static void
apart_run_session(uint32_t session, struct weft_rand *rnd)
{
	uint64_t committed = 0;
	uint32_t heard;
	uint8_t *slot;

	weft_llr_restart(llr, session, apart_now());
	while (committed < FLITS || (session % 2 == 0 && weft_llr_unacked(llr) != 0)) {
		while (weft_llr_hear(llr, apart_now(), &heard))
			assert_true(heard <= session);
		while (committed < FLITS && (slot = weft_llr_reserve(llr)) != NULL) {
			struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

			memset(slot, 0, WEFT_FLIT_LEN);
			weft_flit_hdr_put(slot, &h);
			weft_put_be64(slot + 16, (uint64_t)session << 32 | committed++);
			weft_llr_commit(llr);
		}
		if (apart_wire_has_room())
			apart_send(session, rnd);
		else
			sched_yield();
	}
}

WEFT_TEST(halves_on_two_threads)
{
	struct weft_rand rnd;
	struct weft_llr_cfg cfg;
	pthread_t thread;
	void *mem;

	weft_test_seed(&rnd, "threads");
	weft_llr_defaults(&cfg, WEFT_MODE_RXL);
	cfg.window = 64;
	cfg.rx_flits = 63;
	cfg.apart = true;
	mem = aligned_alloc(WEFT_CACHE_LINE, weft_llr_size(&cfg));
	assert_non_null(mem);
	llr = weft_llr_init(mem, &cfg, apart_now());
	assert_non_null(llr);
	assert_true(weft_llr_is_apart(llr));
	assert_int_equal(pthread_create(&thread, NULL, apart_receiver, NULL), 0);
	for (uint32_t session = 1; session <= SESSIONS; session++)
		apart_run_session(session, &rnd);
	weft_llr_over(llr);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (uint32_t session = 1; session <= SESSIONS; session++)
		assert_in_range(taken[session], session % 2 == 0 ? FLITS : 1, FLITS);
	assert_int_equal(wrong, 0);
	printf("%llu frames of another session\n", (unsigned long long)strangers);
	free(mem);
}

/* What a half said in the session before counts for nothing in the next. */
WEFT_TEST(sessions_have_generations)
{
	const uint64_t first = weft_isn_number(WEFT_ISN_FIRST);
	uint8_t flit[WEFT_FLIT_LEN] = { WEFT_FLIT_CACHEMEM << 6 };
	struct weft_llr_rx_result in;
	struct weft_llr_tx_info out;
	struct weft_llr_cfg cfg;
	uint32_t session;
	struct weft_llr *l;
	void *mem;

	weft_llr_defaults(&cfg, WEFT_MODE_RXL);
	cfg.ack_every = 1;
	cfg.apart = true;
	mem = aligned_alloc(WEFT_CACHE_LINE, weft_llr_size(&cfg));
	assert_non_null(mem);
	l = weft_llr_init(mem, &cfg, 0);
	assert_non_null(l);
	for (unsigned int ended = 0; ended < 2; ended++) {
		weft_llr_restart(l, 7, 0);
		assert_true(weft_llr_rx_session(l, 7, 0));
		weft_llr_rx(l, flit, &first, 1, 0, 0, &in);
		assert_int_equal(in.deliver, 1);
		if (ended)
			weft_llr_restart(l, 8, 0);
		assert_true(weft_llr_hear(l, 0, &session));
		assert_int_equal(session, ended ? 0 : 7);
		assert_false(weft_llr_hear(l, 0, &session));
		assert_int_equal(weft_llr_tx(l, flit, 1, 0, &out), ended ? 0 : 1); /* an Ack */
		memset(flit + 1, 0, sizeof(flit) - 1);
		flit[0] = WEFT_FLIT_CACHEMEM << 6;
	}
	assert_false(weft_llr_rx_session(l, 7, 0));
	assert_true(weft_llr_hear(l, 0, &session));
	assert_int_equal(session, 7);
	weft_llr_over(l);
	assert_false(weft_llr_rx_session(l, 8, 0));
	free(mem);
}

/* Where numbers are counted, they stay together. */
WEFT_TEST(not_every_retry_layer_may_be_apart)
{
	struct weft_llr_cfg cfg;

	weft_llr_defaults(&cfg, WEFT_MODE_RXL);
	cfg.apart = true;
	assert_true(weft_llr_size(&cfg) > 0);
	weft_llr_defaults(&cfg, WEFT_MODE_CXL);
	cfg.apart = true;
	assert_int_equal(weft_llr_size(&cfg), 0);
}
