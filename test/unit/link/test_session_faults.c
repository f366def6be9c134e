/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sessions under every fault at once: the channel loses, doubles, delays, reorders and replays any
 * frame of any life, full frames stop passing, ends crash and start again, clocks jump, and
 * somebody who knows all session ids makes frames of his own. Checked at every step, by what the
 * tester knows and the ends do not (which life sent a frame, who is in which session): see the
 * functions named must_. Ids come from a counter, so that none repeats by chance.
 */

#include "session_rig.h"

#define RUNS 2000
#define STEPS 2500
#define CALM (13 * HELLO) /* after the last fault, both ends are up by then */
#define DELAY_MAX 40
#define QUEUE 256
#define HISTORY 512
#define IDS 16384

struct frame {
	uint64_t at;
	uint32_t id;
	uint32_t life; /* of the sender */
	uint8_t from;
	bool flits;
	bool replayed;
	struct weft_control c;
};

struct side {
	struct weft_session s;
	uint32_t life;
	uint64_t clock; /* ahead of the tester's by so much */
	uint64_t heard; /* tester's time of the last sign of life of its session */
	uint64_t joined; /* when it began its session */
	uint64_t number; /* of the last KEEPALIVE that was one */
	uint32_t jumps; /* since it heard */
	bool lazy; /* looks at its deadline now and then only */
};

/* What became of an id, by its distance from the first. */
struct fate {
	uint64_t deal; /* as the responder has it */
	uint32_t ready_life; /* of the initiator that took it; 0: none */
	uint32_t offer_life; /* of the responder that began it; 0: not begun */
	bool begun[ENDS];
};

static struct world {
	struct weft_rand r;
	unsigned int run;
	uint64_t now;
	bool calm;
	uint64_t calm_at; /* since when */
	bool short_path; /* full frames do not pass */
	uint32_t loss, dup, replay, forge; /* parts of a thousand */
	struct side side[ENDS];
	struct fate fate[IDS];
	uint32_t first_id, n_ids;
	struct frame queue[QUEUE];
	unsigned int n_queue;
	struct frame history[HISTORY];
	unsigned int n_history;
	uint64_t sessions, taken, dropped, replays, forged, ended_live; /* over all runs */
} w;

#define MUST(what, end)                                                                            \
	do {                                                                                       \
		if (!(what))                                                                       \
			fail_msg("run %u, time %llu, end %u: not %s", w.run,                       \
				(unsigned long long)w.now, end, #what);                            \
	} while (0)

static bool
chance(uint32_t thousandths)
{
	return weft_rand_below(&w.r, 1000) < thousandths;
}

static uint64_t
clock_of(unsigned int end)
{
	return w.now + w.side[end].clock;
}

static struct fate *
fate_of(uint32_t id)
{
	assert_true(id - w.first_id < IDS);
	return &w.fate[id - w.first_id];
}

/* Random bits that give the next id, if one is drawn. */
static uint64_t
fresh(void)
{
	return (weft_rand_u64(&w.r) & ~(uint64_t)UINT32_MAX) | (w.first_id + w.n_ids);
}

static void
count_id(uint32_t drawn)
{
	if (drawn == w.first_id + w.n_ids)
		w.n_ids++;
}

static void
boot(unsigned int end)
{
	static struct rig_keys keys[ENDS]; /* they never draw the same twice */
	struct weft_session_cfg cfg = session_cfg(end);
	struct side *e = &w.side[end];

	if (w.run % 2 == 1)
		rig_ide(&cfg, &keys[end]);

	e->life++;
	e->lazy = chance(300);
	/* A new start of the machine starts its clock anew. */
	e->clock = weft_rand_below(&w.r, 1000000);
	assert_int_equal(weft_session_init(&e->s, &cfg, clock_of(end)), 0);
}

/* --- what must hold --- */

/* Of an offer only the answering life that made it, and the asking life that took it, become a
 * session: once at each end, at the answering one first. */
static void
must_begin(unsigned int end)
{
	const struct side *e = &w.side[end];
	struct fate *f = fate_of(e->s.id);
	struct weft_session_transcript d;

	weft_session_transcript(&e->s, &d);
	if (end == ANSWERS)
		f->deal = rig_deal_hash(1, &d);
	else
		MUST(f->deal == rig_deal_hash(1, &d), end);
	MUST(!f->begun[end], end);
	f->begun[end] = true;
	w.side[end].joined = w.now;
	if (end == ANSWERS) {
		MUST(f->ready_life != 0, end);
		f->offer_life = e->life;
		w.sessions++;
	} else {
		MUST(f->begun[ANSWERS], end);
		MUST(f->ready_life == e->life, end);
	}
}

/* Flits are taken only of the life that this session was made with. */
static void
must_take(unsigned int end, const struct frame *f)
{
	const struct fate *fate = fate_of(w.side[end].s.id);

	MUST(f->from != end, end);
	MUST(f->id == w.side[end].s.id, end);
	MUST(f->life == (end == ASKS ? fate->offer_life : fate->ready_life), end);
	MUST(w.side[end].life == (end == ASKS ? fate->ready_life : fate->offer_life), end);
}

/*
 * Whether a frame of its session, which the other end made, tells an end that the other one lives.
 */
static bool
is_sign_of_life(const struct side *e, const struct frame *f)
{
	const bool has_keys = w.run % 2 == 1;

	if (f->flits)
		return true;
	/* With keys a copy of what has come is none. */
	if (f->c.type == WEFT_CONTROL_KEEPALIVE)
		return !has_keys || f->c.number > e->number;
	return f->c.type == WEFT_CONTROL_READY && !has_keys;
}

/*
 * Every sign of life ends the silence, and nothing else does: @p idle_ns up to @p ticked_ns before.
 */
static void
must_hear(unsigned int end, bool sign, uint64_t idle_ns, uint64_t ticked_ns)
{
	const struct weft_session *s = &w.side[end].s;

	MUST(s->idle_ns == (sign ? 0 : idle_ns), end);
	MUST(s->ticked_ns == (sign ? clock_of(end) : ticked_ns), end);
}

/* A session that both ends are in ends only where nothing has come of it for long. */
static void
must_end(unsigned int end, uint32_t id)
{
	const struct side *e = &w.side[end], *peer = &w.side[!end];
	const uint64_t since = peer->joined > w.calm_at ? peer->joined : w.calm_at;

	if (peer->s.id != id)
		return;
	w.ended_live++;
	/* The last of its silence may lie behind the last fault, before a frame could come; and
	 * behind the other end's late begin, which only then says that it lives. */
	MUST(!w.calm || w.now - since <= SILENCE, end);
	MUST(w.now - e->heard + e->jumps * (SILENCE / 2) >= DEAD, end);
}

static void
note(unsigned int end, uint32_t before, enum weft_session_event ev)
{
	struct side *e = &w.side[end];

	if (before != 0 && e->s.id != before) {
		must_end(end, before);
		MUST(ev != WEFT_SESSION_NOTHING, end);
	}
	if (ev == WEFT_SESSION_BEGIN) {
		MUST(e->s.id != 0 && e->s.id != before, end);
		must_begin(end);
	}
	MUST((ev == WEFT_SESSION_END) == (before != 0 && e->s.id == 0), end);
}

/* --- channel --- */

static void
enqueue(const struct frame *f, uint64_t delay)
{
	if (w.n_queue == QUEUE)
		return; /* lost */
	w.queue[w.n_queue] = *f;
	w.queue[w.n_queue++].at = w.now + delay;
}

static void
put(const struct frame *f)
{
	w.history[w.n_history++ % HISTORY] = *f;
	if (chance(w.loss) || (w.short_path && f->c.padded != 0))
		return;
	enqueue(f, weft_rand_below(&w.r, DELAY_MAX) / (w.calm ? 4 : 1));
	if (chance(w.dup))
		enqueue(f, weft_rand_below(&w.r, 3 * HELLO));
}

static void
deliver(const struct frame *f)
{
	const unsigned int end = !f->from;
	struct side *e = &w.side[end];
	const uint64_t idle_ns = e->s.idle_ns, ticked_ns = e->s.ticked_ns;
	const uint32_t before = e->s.id;
	enum weft_session_event ev;
	enum weft_verdict v = WEFT_OK;
	bool sign;

	if (f->flits)
		v = weft_session_flits(&e->s, f->id, clock_of(end), &ev);
	else
		ev = weft_session_control(&e->s, f->id, &f->c, clock_of(end), fresh());
	count_id(e->s.last_sid_drawn);
	note(end, before, ev);
	if (ev == WEFT_SESSION_BEGIN)
		e->number = 0;
	sign = ev == WEFT_SESSION_BEGIN ||
	       (e->s.id != 0 && f->id == e->s.id && is_sign_of_life(e, f));
	must_hear(end, sign, idle_ns, ticked_ns);
	if (sign) {
		e->heard = w.now;
		e->jumps = 0;
		if (!f->flits && f->c.type == WEFT_CONTROL_KEEPALIVE)
			e->number = f->c.number;
	}
	if (f->flits && v == WEFT_OK) {
		must_take(end, f);
		w.taken++;
	}
	w.dropped += f->flits && v != WEFT_OK;
}

static void
deliver_all(void)
{
	for (unsigned int i = 0; i < w.n_queue;) {
		struct frame f = w.queue[i];

		if (f.at > w.now) {
			i++;
			continue;
		}
		w.queue[i] = w.queue[--w.n_queue]; /* reorders */
		deliver(&f);
	}
}

static void
replay(void)
{
	const unsigned int n = w.n_history < HISTORY ? w.n_history : HISTORY;

	if (n == 0)
		return;
	w.replays++;
	enqueue(&w.history[weft_rand_below(&w.r, n)], 0);
}

/* An id that means something to one of the ends, or to none. */
static uint32_t
some_id(void)
{
	const struct weft_session *a = &w.side[ASKS].s, *b = &w.side[ANSWERS].s;
	const uint32_t ids[] = { a->id, b->id, a->id, b->id, a->attempt.hello_nonce,
		a->attempt.pending_sid, b->candidate.sid, b->candidate.nonce, a->last, b->last,
		(uint32_t)weft_rand_u64(&w.r) };

	return ids[weft_rand_below(&w.r, WEFT_ARRAY_SIZE(ids))];
}

/*
 * Somebody says something. Without keys he may not begin sessions, or say that an end lives: who
 * sees S can do that.
 */
static void
forge(void)
{
	const unsigned int to = (unsigned int)weft_rand_below(&w.r, ENDS);
	const uint32_t id = some_id(), before = w.side[to].s.id;
	struct weft_session *s = &w.side[to].s;
	const uint64_t idle_ns = s->idle_ns, ticked_ns = s->ticked_ns;
	struct weft_control c = w.side[!to].s.cfg.params;

	c.type = (uint8_t)(1 + weft_rand_below(&w.r, WEFT_CONTROL_TYPES - 1));
	if (w.run % 2 == 0 && (c.type == WEFT_CONTROL_WELCOME || c.type == WEFT_CONTROL_READY ||
				      c.type == WEFT_CONTROL_KEEPALIVE))
		return;
	/* Nor drown HELLOs in others. */
	if (c.type == WEFT_CONTROL_HELLO && chance(900))
		return;
	c.padded = chance(500) ? 8 : 0;
	c.session = chance(500) ? some_id() : 77;
	c.flags = chance(500) ? WEFT_CONTROL_RDI : 0;
	c.differs = (uint8_t)(1 + weft_rand_below(&w.r, WEFT_PARAM_COUNT - 1));
	c.count = 1;
	c.challenge = weft_rand_u64(&w.r) | 1;
	c.number = chance(100) ? 0 : weft_rand_u64(&w.r);
	weft_rand_fill(&w.r, c.proof, sizeof(c.proof));
	weft_rand_fill(&w.r, c.mac, sizeof(c.mac));
	w.forged++;
	note(to, before, weft_session_control(s, id, &c, clock_of(to), fresh()));
	must_hear(to, false, idle_ns, ticked_ns);
	count_id(s->last_sid_drawn);
}

/* --- ends --- */

static void
serve(unsigned int end)
{
	struct side *e = &w.side[end];
	const uint64_t clock = clock_of(end);
	const uint32_t before = e->s.id;
	struct frame f;

	if (e->lazy && !w.calm && chance(700))
		return;
	if (weft_session_deadline(&e->s) <= clock)
		note(end, before, weft_session_tick(&e->s, clock));
	for (;;) {
		f = (struct frame){ .from = (uint8_t)end, .life = e->life };
		if (!weft_session_next(&e->s, clock, fresh(), &f.id, &f.c))
			break;
		count_id(e->s.last_sid_drawn);
		if (f.c.type == WEFT_CONTROL_READY) {
			struct fate *fate = fate_of(f.id);

			MUST(fate->ready_life == 0 || fate->ready_life == e->life, end);
			fate->ready_life = e->life;
		}
		put(&f);
	}
	MUST(weft_session_deadline(&e->s) > clock, end);
	if (weft_session_is_live(&e->s) && chance(300)) {
		f = (struct frame){
			.from = (uint8_t)end, .life = e->life, .flits = true, .id = e->s.id
		};
		weft_session_sent(&e->s, clock);
		put(&f);
	}
}

static void
some_fault(void)
{
	const unsigned int end = (unsigned int)weft_rand_below(&w.r, ENDS);

	if (chance(4))
		boot(end);
	if (chance(2)) {
		boot(ASKS);
		boot(ANSWERS);
	}
	if (chance(3)) {
		w.side[end].clock += weft_rand_below(&w.r, 20 * DEAD);
		w.side[end].jumps++;
	}
	if (chance(5))
		w.short_path = !w.short_path && chance(200);
	if (chance(10)) {
		/* From a quiet wire to one that passes nothing. */
		w.loss = chance(300) ? 0 : (uint32_t)weft_rand_below(&w.r, 1001);
		w.dup = (uint32_t)weft_rand_below(&w.r, 300);
		w.replay = chance(500) ? 0 : (uint32_t)weft_rand_below(&w.r, 500);
		w.forge = chance(500) ? 0 : (uint32_t)weft_rand_below(&w.r, 1001);
	}
	if (chance(w.replay))
		replay();
}

static void
step(void)
{
	w.now += weft_rand_below(&w.r, 12);
	if (!w.calm)
		some_fault();
	if (chance(w.forge))
		forge();
	deliver_all();
	serve(ASKS);
	serve(ANSWERS);
}

static void
start(unsigned int run)
{
	w.run = run;
	w.now = 1;
	w.calm = w.short_path = false;
	w.loss = w.dup = w.replay = w.forge = 100;
	memset(w.side, 0, sizeof(w.side));
	memset(w.fate, 0, sizeof(w.fate));
	w.first_id = 1 + (uint32_t)weft_rand_below(&w.r, UINT32_MAX / 2);
	w.n_ids = w.n_queue = w.n_history = 0;
	boot(ASKS);
	boot(ANSWERS);
}

static bool
both_are_up(void)
{
	const struct weft_session *a = &w.side[ASKS].s, *b = &w.side[ANSWERS].s;

	return a->state == WEFT_SESSION_UP && b->state == WEFT_SESSION_UP && a->id == b->id;
}

WEFT_TEST(sessions_survive_faults)
{
	uint64_t longest = 0;

	weft_test_seed(&w.r, __func__);
	for (unsigned int run = 0; run < RUNS; run++) {
		uint64_t up = 0;
		uint32_t id;

		start(run);
		for (unsigned int i = 0; i < STEPS; i++)
			step();
		w.calm = true;
		w.calm_at = w.now;
		w.short_path = false;
		w.loss = w.dup = w.replay = w.forge = 0;
		while (w.now - w.calm_at < CALM) {
			step();
			if (!both_are_up())
				up = 0;
			else if (up == 0)
				up = w.now;
		}
		MUST(up != 0, ENDS);
		longest = up - w.calm_at > longest ? up - w.calm_at : longest;
		id = w.side[ASKS].s.id;
		w.forge = 1000; /* all that is said from here on is forged, or of this session */
		while (w.now - w.calm_at < CALM + DEAD) {
			step();
			MUST(both_are_up() && w.side[ASKS].s.id == id, ENDS);
		}
	}
	printf("%llu sessions, %llu frames taken, %llu dropped, %llu replays, %llu forged, up %llu "
	       "HELLO times "
	       "after the last fault at most, %llu sessions ended by silence\n",
		(unsigned long long)w.sessions, (unsigned long long)w.taken,
		(unsigned long long)w.dropped, (unsigned long long)w.replays,
		(unsigned long long)w.forged, (unsigned long long)(longest / HELLO),
		(unsigned long long)w.ended_live);
	/* Every kind of thing happened. */
	assert_true(w.sessions > 5 * RUNS && w.taken > 100 * RUNS && w.dropped > RUNS);
	assert_true(w.ended_live != 0);
}
