/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two sessions and a wire of fixed latency between them in simulated time. Control frames go
 * through their bytes.
 */
#ifndef SESSION_NET_H
#define SESSION_NET_H

#include "session_rig.h"

#define LATENCY 2
#define QUEUE 1024

struct frame {
	uint64_t at;
	uint8_t to;
	bool flits;
	uint32_t id;
	size_t len;
	uint8_t rec[8 * WEFT_WIRE_FLIT_LEN];
};

struct net {
	struct weft_session s[ENDS];
	struct weft_session_cfg cfg[ENDS];
	bool off[ENDS]; /* not running: hears and says nothing */
	bool cut[ENDS]; /* frames to this end are lost */
	bool streams[ENDS]; /* sends flits all the time while it is live */
	uint8_t path_flits; /* longer frames are lost */
	uint64_t now, latency;
	uint32_t drop_type; /* the next frame of this type is lost; 0: none */
	uint32_t fresh;
	unsigned int begun[ENDS], ended[ENDS];
	unsigned int sent[ENDS][WEFT_CONTROL_TYPES]; /* control frames, by type */
	unsigned int n;
	struct frame queue[QUEUE];
	struct weft_control last[WEFT_CONTROL_TYPES]; /* of each type, as sent last */
	uint32_t last_id[WEFT_CONTROL_TYPES];
};

static struct net *n; /* of the test that runs */

static inline void
boot(unsigned int end)
{
	assert_int_equal(weft_session_init(&n->s[end], &n->cfg[end], n->now), 0);
	n->off[end] = false;
}

static inline int
open_net(void **state)
{
	(void)state;
	n = calloc(1, sizeof(*n));
	assert_non_null(n);
	n->latency = LATENCY;
	n->path_flits = WEFT_WIRE_FLITS_MAX;
	n->now = 1000;
	n->fresh = 100;
	for (unsigned int end = 0; end < ENDS; end++) {
		n->cfg[end] = session_cfg(end);
		boot(end);
	}
	return 0;
}

static inline int
close_net(void **state)
{
	(void)state;
	free(n);
	return 0;
}

static inline void
note(unsigned int end, enum weft_session_event ev)
{
	n->begun[end] += ev == WEFT_SESSION_BEGIN;
	n->ended[end] += ev == WEFT_SESSION_END;
}

static inline void
put(unsigned int from, bool flits, uint32_t id, const struct weft_control *c)
{
	struct frame *f = &n->queue[n->n];

	assert_true(n->n < QUEUE);
	*f = (struct frame){
		.at = n->now + n->latency, .to = (uint8_t)!from, .flits = flits, .id = id
	};
	if (!flits)
		f->len = weft_control_build(f->rec, c);
	if (n->cut[!from] || f->len > (size_t)n->path_flits * WEFT_WIRE_FLIT_LEN)
		return;
	if (!flits && c->type == n->drop_type) {
		n->drop_type = 0;
		return;
	}
	n->n++;
}

static inline void
deliver(struct frame f)
{
	struct weft_session *s = &n->s[f.to];
	enum weft_session_event ev;
	struct weft_control c;

	if (n->off[f.to])
		return;
	if (f.flits) {
		weft_session_flits(s, f.id, n->now, &ev);
	} else {
		assert_int_equal(weft_control_parse(f.rec, f.len, &c), WEFT_OK);
		ev = weft_session_control(s, f.id, &c, n->now, ++n->fresh);
	}
	note(f.to, ev);
}

/* What an end does by itself at this moment. */
static inline void
serve(unsigned int end)
{
	struct weft_session *s = &n->s[end];
	struct weft_control c;
	uint32_t id;

	if (n->off[end])
		return;
	if (weft_session_deadline(s) <= n->now)
		note(end, weft_session_tick(s, n->now));
	while (weft_session_next(s, n->now, ++n->fresh, &id, &c)) {
		n->sent[end][c.type]++;
		n->last[c.type] = c;
		n->last_id[c.type] = id;
		put(end, false, id, &c);
	}
	assert_true(weft_session_deadline(s) > n->now); /* else an owner would spin */
	if (n->streams[end] && weft_session_is_live(s)) {
		weft_session_sent(s, n->now);
		put(end, true, s->id, NULL);
	}
}

static inline void
run(uint64_t units)
{
	const uint64_t until = n->now + units;

	for (;; n->now++) {
		/* In the order of sending, whatever has arrived. */
		for (unsigned int i = 0; i < n->n;) {
			struct frame f = n->queue[i];

			if (f.at > n->now) {
				i++;
				continue;
			}
			memmove(&n->queue[i], &n->queue[i + 1], (--n->n - i) * sizeof(f));
			deliver(f);
		}
		serve(ASKS);
		serve(ANSWERS);
		if (n->now >= until)
			return;
	}
}

static inline void
assert_state(enum weft_session_state asks, enum weft_session_state answers)
{
	assert_int_equal(n->s[ASKS].state, asks);
	assert_int_equal(n->s[ANSWERS].state, answers);
}

static inline void
assert_up(void)
{
	assert_state(WEFT_SESSION_UP, WEFT_SESSION_UP);
	assert_int_not_equal(n->s[ASKS].id, 0);
	assert_int_equal(n->s[ASKS].id, n->s[ANSWERS].id);
}

static inline void
bring_up(void)
{
	run(5 * LATENCY);
	assert_up();
}

/* Both start again and find each other; sessions' ends are counted from then on. */
static inline void
start_over(void)
{
	boot(ASKS);
	boot(ANSWERS);
	memset(n->ended, 0, sizeof(n->ended));
	run(HELLO);
	assert_up();
}

/* A frame from nowhere, such as one that was recorded in an older life. */
static inline void
inject(unsigned int to, enum weft_control_type type, uint32_t id)
{
	struct weft_control c = n->cfg[!to].params;

	c.type = (uint8_t)type;
	c.session = 77;
	c.padded = 8;
	c.count = 3;
	c.challenge = 9;
	c.flags = 0;
	c.differs = WEFT_PARAM_MODE;
	note(to, weft_session_control(&n->s[to], id, &c, n->now, ++n->fresh));
}

/* Both ends with keys. */
static inline void
ide_on(struct rig_keys *keys)
{
	memset(keys, 0, ENDS * sizeof(*keys));
	for (unsigned int end = 0; end < ENDS; end++) {
		keys[end].drawn = 1000 * end;
		rig_ide(&n->cfg[end], &keys[end]);
		boot(end);
	}
}

WEFT_TEST_EACH(open_net, close_net)

#endif /* SESSION_NET_H */
