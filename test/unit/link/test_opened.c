/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * An end whose flits are opened on another thread: it has the stream of each session in time, makes
 * the keys that follow by itself, and says when one fails, which ends that session and no other.
 * Everything that was sent comes in order, and no key stays when the last session is over.
 */

#include "link_rig.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "weft_base.h"
#include "weft_flit.h"

#define FAILURES 5
#define MESSAGES 1500 /* of a session before it is made to fail */
#define ITEMS 1024
#define HELD_MAX 64

/* A flit on its way to the other thread, or back. */
struct item {
	uint32_t session;
	uint8_t flit[WEFT_FLIT_LEN] __attribute__((aligned(WEFT_CACHE_LINE)));
};

struct queue {
	unsigned int head, tail;
	struct item item[ITEMS];
};

static struct rig rig;
static struct weft_ide_lib *lib;
static struct queue to_open, opened;
static struct weft_link_ide ide[2];
static uint8_t *key_memory[2];
static bool bell, stop, is_idle, spoil;

static struct item *
queue_room(struct queue *q)
{
	const unsigned int head = __atomic_load_n(&q->head, __ATOMIC_ACQUIRE);

	return q->tail - head == ITEMS ? NULL : &q->item[q->tail % ITEMS];
}

static struct item *
queue_first(struct queue *q)
{
	const unsigned int tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);

	return q->head == tail ? NULL : &q->item[q->head % ITEMS];
}

static void
queue_step(unsigned int *end)
{
	__atomic_store_n(end, *end + 1, __ATOMIC_RELEASE);
}

/* --- the thread that opens --- */

static struct item held[HELD_MAX];
static unsigned int n_held;
static uint64_t strangers, untold;

static void
opener_release(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct item *to;

		while ((to = queue_room(&opened)) == NULL)
			sched_yield();
		*to = held[i];
		queue_step(&opened.tail);
	}
}

static void
opener_flit(struct weft_link *e, const struct weft_link_rx_ide *now, const struct item *flit)
{
	struct weft_ide_run run;
	unsigned int gone;

	if (now->stream == NULL || flit->session != now->session) {
		strangers++;
		return;
	}
	assert_true(n_held < HELD_MAX);
	held[n_held] = *flit;
	weft_ide_open_run(now->stream, held[n_held++].flit, 1, &run);
	if (weft_link_rx_opened(e, &run))
		__atomic_store_n(&bell, true, __ATOMIC_RELEASE);
	opener_release(run.release);
	gone = (unsigned int)run.release + run.failed + run.insecure;
	n_held -= gone;
	memmove(held, held + gone, n_held * sizeof(held[0]));
}

static void *
opener(void *arg)
{
	const struct weft_ide_stream *stream = NULL;
	struct weft_link *e = arg;
	uint32_t number = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		const struct item *flit = queue_first(&to_open);
		const struct weft_link_rx_ide *now = weft_link_rx_ide(e);

		if (now->number != number)
			n_held = 0;
		else
			untold += now->stream != stream;
		number = now->number;
		stream = now->stream;
		__atomic_store_n(&is_idle, now->stream == NULL, __ATOMIC_RELEASE);
		if (flit == NULL) {
			sched_yield();
			continue;
		}
		opener_flit(e, now, flit);
		queue_step(&to_open.head);
	}
	return NULL;
}

/* --- the thread of the ends --- */

static void
give(struct rig *r, uint32_t session, const uint8_t *flit)
{
	struct item *to;

	(void)r;
	while ((to = queue_room(&to_open)) == NULL)
		sched_yield();
	to->session = session;
	memcpy(to->flit, flit, WEFT_FLIT_LEN);
	if (spoil && weft_flit_is_protocol(flit)) {
		to->flit[100] ^= 1;
		spoil = false;
	}
	queue_step(&to_open.tail);
}

static enum weft_session_event
take(struct rig *r, const struct frame *f)
{
	struct weft_link *e = r->side[1].end;
	enum weft_session_event ev;
	struct weft_llr_rx_result in;
	const uint8_t *flit;

	if (weft_link_frame(e, f->hdr.session, r->now_ns, &ev) != WEFT_OK)
		return ev;
	weft_llr_rx(weft_link_llr(e), f->payload, f->syndrome, f->hdr.n_flits, 0, r->now_ns, &in);
	for (uint64_t left = in.deliver; left != 0; left &= left - 1)
		give(r, f->hdr.session, f->payload + (size_t)__builtin_ctzll(left) * WEFT_FLIT_LEN);
	while ((flit = weft_llr_rx_next(weft_link_llr(e))) != NULL)
		give(r, f->hdr.session, flit);
	return ev;
}

static void
take_opened(struct rig *r)
{
	struct weft_link *e = r->side[1].end;
	const struct item *i;

	for (; (i = queue_first(&opened)) != NULL; queue_step(&opened.head))
		if (i->session == weft_link_session(e)->id)
			weft_link_deliver(e, i->flit, 1, 0, consume, &r->side[1]);
	if (__atomic_exchange_n(&bell, false, __ATOMIC_ACQUIRE))
		weft_link_hear(e, r->now_ns);
}

/* Until @p n messages have come in this session, or it ends. */
static void
talk(struct rig *r, unsigned int n)
{
	const unsigned int ended = r->side[1].ended;
	const uint64_t had = r->side[1].came[WEFT_MSG_M2S_REQ];
	uint16_t tag = r->side[1].tag[WEFT_MSG_M2S_REQ];

	while (r->side[1].came[WEFT_MSG_M2S_REQ] - had < n && r->side[1].ended == ended) {
		struct weft_msg m = message(WEFT_MSG_M2S_REQ, tag);

		while (weft_link_send(r->side[0].end, &m) == 0)
			m = message(WEFT_MSG_M2S_REQ, ++tag);
		assert_true(step(r));
		take_opened(r);
	}
}

/* --- keys that are no secret --- */

/* An end whose retry layer's receiver must not know of the session yet when its keys are made. */
static struct weft_link *watched;

static bool
make_random(void *arg, uint8_t *out, size_t len)
{
	weft_rand_fill(arg, out, len);
	return true;
}

static bool
make_key(void *arg, const struct weft_session_transcript *d, bool from_initiator,
	uint32_t generation, uint8_t *key)
{
	(void)arg;
	if (watched != NULL) {
		weft_llr_rx_poll(weft_link_llr(watched), rig.now_ns);
		assert_int_equal(weft_llr_rx_live(weft_link_llr(watched)), 0);
	}
	for (unsigned int i = 0; i < WEFT_IDE_KEY_LEN; i++)
		key[i] = d->initiator.random[i % WEFT_RANDOM_LEN] ^
		         d->responder.random[i % WEFT_RANDOM_LEN] ^
		         (uint8_t)(from_initiator + 2 * generation);
	return true;
}

static bool
make_proof(void *arg, const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof)
{
	(void)arg;
	(void)d;
	memset(proof, is_initiator, WEFT_PROOF_LEN);
	return true;
}

static bool
bind_keys(void *arg, const struct weft_session_transcript *d)
{
	(void)arg;
	(void)d;
	return true;
}

static bool
make_mac(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac)
{
	(void)arg;
	(void)image;
	(void)len;
	memset(mac, from_initiator, WEFT_CONTROL_MAC_LEN);
	return true;
}

static bool
make_gone(void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	(void)arg;
	memset(proof, (int)(session + number + from_initiator), WEFT_PROOF_LEN);
	return true;
}

static void
ends_start(uint64_t seed, enum weft_ide_mode mode)
{
	static struct weft_session_keys session = { .random = make_random,
		.proof = make_proof,
		.bind = bind_keys,
		.mac = make_mac,
		.gone = make_gone };

	rig_init(&rig, seed);
	rig.take = take;
	session.arg = &rig.rnd;
	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &rig.side[i];

		key_memory[i] = aligned_alloc(WEFT_CACHE_LINE, weft_link_ide_size());
		assert_non_null(key_memory[i]);
		memset(key_memory[i], 0, weft_link_ide_size());
		ide[i] = (struct weft_link_ide){ .lib = lib,
			.mem = key_memory[i],
			.key = make_key,
			.rekey_flits = 50,
			.rekey_ns = UINT64_C(3600000000000),
			.owner_opens = i == 1,
			.apart = i == 1 };
		s->cfg.ide = &ide[i];
		s->cfg.session.keys = &session;
		s->cfg.session.params.ide_mode = (uint8_t)mode;
		free(s->end);
		s->end = aligned_alloc(WEFT_CACHE_LINE, weft_line_up(weft_link_size(&s->cfg)));
		assert_non_null(s->end);
		side_start(&rig, i);
	}
}

static void
ends_stop(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		weft_link_fini(rig.side[i].end);
		free(key_memory[i]);
	}
	rig_free(&rig);
}

static void
run_sessions(uint64_t seed, enum weft_ide_mode mode)
{
	struct weft_link *e;
	pthread_t thread;

	ends_start(seed, mode);
	e = rig.side[1].end;
	stop = bell = false;
	n_held = 0;
	assert_int_equal(pthread_create(&thread, NULL, opener, e), 0);
	for (unsigned int i = 0; i <= FAILURES; i++) {
		while (!both_up(&rig))
			assert_true(step(&rig));
		talk(&rig, MESSAGES);
		assert_int_equal(rig.side[1].ended, i);
		if (i == FAILURES)
			break;
		spoil = true;
		talk(&rig, UINT32_MAX);
	}
	weft_link_close(e);
	while (!__atomic_load_n(&is_idle, __ATOMIC_ACQUIRE))
		sched_yield();
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (size_t i = 0; i < weft_link_ide_size(); i++)
		assert_int_equal(key_memory[1][i], 0);
	assert_int_equal(untold, 0);
	/* In skid what was changed is handed on before its MAC comes. */
	assert_in_range(
		rig.side[1].wrong, 0, mode == WEFT_IDE_CONTAINMENT ? 0 : (uint64_t)2 * FAILURES);
	assert_int_equal(weft_link_count(e, WEFT_LINK_N_IDE_FAILURES), FAILURES);
	assert_true(weft_link_count(e, WEFT_LINK_N_IDE_REKEYED) > FAILURES);
	assert_true(weft_link_count(e, WEFT_LINK_N_IDE_EPOCHS) > FAILURES);
	assert_true(weft_link_count(e, WEFT_LINK_N_IDE_DROPPED) >= FAILURES);
	ends_stop();
}

WEFT_TEST(sessions_are_opened_on_another_thread)
{
	struct weft_rand pick;

	weft_test_seed(&pick, __func__);
	run_sessions(weft_rand_u64(&pick), WEFT_IDE_CONTAINMENT);
	run_sessions(weft_rand_u64(&pick), WEFT_IDE_SKID);
	printf("%llu flits of sessions that were over\n", (unsigned long long)strangers);
}

/* What the other lcore has not looked at is overtaken: the newest session counts. */
WEFT_TEST(only_the_newest_session_is_told)
{
	const struct weft_link_rx_ide *now;
	struct weft_link *e;
	uint32_t number;

	ends_start(1, WEFT_IDE_SKID);
	e = rig.side[1].end;
	now = weft_link_rx_ide(e);
	assert_null(now->stream);
	number = now->number;
	for (unsigned int i = 0; i < 3; i++) {
		while (!both_up(&rig))
			assert_true(step(&rig));
		if (i == 2)
			break;
		weft_link_close(rig.side[0].end);
		while (weft_link_session(e)->state == WEFT_SESSION_UP)
			assert_true(step(&rig));
		side_start(&rig, 0);
	}
	assert_null(now->stream);
	assert_ptr_equal(weft_link_rx_ide(e), now);
	assert_non_null(now->stream);
	assert_int_equal(now->session, weft_link_session(e)->id);
	assert_int_not_equal(now->number, number);
	number = now->number;
	weft_link_rx_ide(e);
	assert_int_equal(now->number, number);
	weft_link_close(e);
	assert_non_null(now->stream);
	weft_link_rx_ide(e);
	assert_null(now->stream);
	assert_int_not_equal(now->number, number);
	ends_stop();
}

static enum weft_session_event
take_none(struct rig *r, const struct frame *f)
{
	(void)r;
	(void)f;
	return WEFT_SESSION_NOTHING;
}

/* With both halves elsewhere IDE's is told first: what the other takes it must be able to open. */
WEFT_TEST(ide_is_told_before_flits_are_taken)
{
	struct side *s = &rig.side[1];
	struct weft_llr *l;

	ends_start(1, WEFT_IDE_SKID);
	rig.take = take_none;
	s->cfg.llr.apart = true;
	free(s->end);
	s->end = aligned_alloc(WEFT_CACHE_LINE, weft_line_up(weft_link_size(&s->cfg)));
	assert_non_null(s->end);
	side_start(&rig, 1);
	l = weft_link_llr(s->end);
	watched = s->end;
	while (weft_link_session(s->end)->state != WEFT_SESSION_UP)
		assert_true(step(&rig));
	watched = NULL;
	weft_llr_rx_poll(l, rig.now_ns);
	assert_int_equal(weft_llr_rx_live(l), weft_link_session(s->end)->id);
	assert_int_equal(weft_link_rx_ide(s->end)->session, weft_link_session(s->end)->id);
	ends_stop();
}

/* Frames of before the first session ring the bell too: nothing has failed by then. */
WEFT_TEST(a_bell_before_the_first_session_does_no_harm)
{
	ends_start(1, WEFT_IDE_SKID);
	assert_false(weft_link_hear(rig.side[1].end, rig.now_ns));
	while (!both_up(&rig))
		assert_true(step(&rig));
	ends_stop();
}

/* The other lcore cannot be given what this one opens. */
WEFT_TEST(an_end_that_opens_is_not_parted)
{
	struct weft_link_cfg c;

	ends_start(1, WEFT_IDE_SKID);
	c = rig.side[1].cfg;
	assert_true(weft_link_size(&c) > 0);
	ide[1].owner_opens = false;
	assert_int_equal(weft_link_size(&c), 0);
	ide[1].owner_opens = true;
	ends_stop();
}

static int
open_lib(void **state)
{
	(void)state;
	lib = weft_ide_lib_open(0);
	return lib == NULL ? -1 : 0;
}

static int
close_lib(void **state)
{
	(void)state;
	weft_ide_lib_close(lib);
	return 0;
}

WEFT_TEST_AROUND(open_lib, close_lib)
