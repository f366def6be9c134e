/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Checking traffic source (reliability.md section 5). Nobody else writes its lines, and it never
 * has two requests open for one unit, since a fabric promises no order between them. So what a line
 * holds is known (weft_line_state.h): its last version, or, if writes were lost, that or one of
 * theirs.
 */

#include "weft_traffic.h"

#include <errno.h>

#include "weft_carve.h"
#include "weft_choice.h"
#include "weft_line.h"
#include "weft_line_check.h"
#include "weft_pace.h"
#include "weft_rand.h"

#define LINES_MAX (1u << 24)
#define TARGETS_MAX 4096
#define DPID_MAX 0xFFE
#define HPA_END (UINT64_C(1) << 52)
#define SWEEP_SKIP_MAX 1024 /* units never written that one call may pass over */
#define FIRST_SHIFT 60 /* of a cookie: which line of the unit is the first */

/* A unit has as many as lines: what is asked for, and kept, by one request at a time. */
struct traffic_unit {
	uint64_t begun_ns; /* busy: when */
	uint64_t no_write_before_ns; /* a lost one may still arrive */
	bool busy : 1; /* a request for it is open */
	bool written : 1; /* a write of it was begun */
	/* `line` has the open write (not if the line is not writable for us) */
	bool write_expected : 1;
	bool renewed : 1; /* the memory was replaced since the open request began */
	uint8_t expect; /* enum weft_expect */
	uint8_t accept; /* a bit for each: answers from before a change that may not be there yet */
	uint16_t dpid;
	uint16_t target; /* saves a division for its address */
	struct weft_line_state line[];
};

static_assert(sizeof(struct traffic_unit) + sizeof(struct weft_line_state) == 40,
	"a host has as many as lines");

/* Lines of a request, within one unit. */
struct traffic_range {
	uint64_t unit;
	unsigned int first, n;
};

/* A random request before it begins. */
struct traffic_wish {
	struct traffic_range range;
	bool is_write;
};

struct weft_traffic {
	struct weft_traffic_cfg cfg;
	struct weft_requester *requester;
	struct weft_traffic_target *target; /* cfg.n_targets */
	uint8_t *unit; /* n_units of struct traffic_unit, `stride` bytes each */
	size_t stride;
	uint64_t n_units, target_units; /* of all targets, of one */
	uint64_t issued; /* random requests */
	uint64_t sweep_at; /* next unit to sweep */
	uint32_t open;
	struct weft_line_owner owner;
	struct weft_pace pace;
	struct weft_choice choice; /* of units */
	struct weft_rand rand;
	struct traffic_wish next; /* drawn ahead: what was not used lately is in no cache */
	uint8_t data[WEFT_TRAFFIC_UNIT_MAX * WEFT_LINE_LEN]; /* of the write that began last */
	struct weft_traffic_mismatch first; /* valid once a mismatch is counted */
	uint64_t count[WEFT_TRAFFIC_N_COUNTERS];
};

const struct weft_counter weft_traffic_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_traffic_counters.def"
#undef WEFT_COUNTER
};

const struct weft_counter weft_traffic_uio_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) [WEFT_TRAFFIC_N_##id] = { name, unit, help },
#include "weft_uio_traffic_counters.def"
#undef WEFT_COUNTER
};

static_assert(
	WEFT_ARRAY_SIZE(weft_traffic_uio_counters) == WEFT_TRAFFIC_N_UIO_COUNTERS, "a row each");

static bool
traffic_target_ok(const struct weft_traffic_target *g, const struct weft_traffic_cfg *cfg)
{
	const uint64_t lines_needed = cfg->first_line + cfg->lines;

	return g->dpid <= DPID_MAX && g->hpa_base % WEFT_LINE_LEN == 0 && g->hpa_base < HPA_END &&
	       g->len_bytes <= HPA_END - g->hpa_base &&
	       lines_needed <= g->len_bytes / WEFT_LINE_LEN &&
	       (g->hpa_base / WEFT_LINE_LEN + cfg->first_line) % cfg->unit_lines == 0;
}

static bool
traffic_cfg_ok(const struct weft_traffic_cfg *cfg)
{
	if (cfg->unit_lines == 0 || cfg->unit_lines > WEFT_TRAFFIC_UNIT_MAX ||
		(cfg->unit_lines & (cfg->unit_lines - 1)) != 0 || cfg->request_lines == 0 ||
		cfg->request_lines > cfg->unit_lines || cfg->lines % cfg->unit_lines != 0)
		return false;
	if (cfg->first_line >= HPA_END || cfg->run > WEFT_LINE_RUN_MAX || cfg->n_targets == 0 ||
		cfg->n_targets > TARGETS_MAX || cfg->lines == 0 || cfg->lines > LINES_MAX ||
		cfg->outstanding == 0 || cfg->rate > WEFT_PACE_RATE_MAX || cfg->write_percent > 100)
		return false;
	for (uint32_t i = 0; i < cfg->n_targets; i++) {
		if (!traffic_target_ok(&cfg->targets[i], cfg))
			return false;
	}
	return true;
}

static struct weft_traffic *
traffic_carve(struct weft_carver *c, const struct weft_traffic_cfg *cfg)
{
	const uint64_t target_units = cfg->lines / cfg->unit_lines;
	const size_t stride =
		sizeof(struct traffic_unit) + cfg->unit_lines * sizeof(struct weft_line_state);
	struct weft_traffic *t = weft_carve(c, sizeof(*t));
	struct weft_traffic_target *target = weft_carve(c, cfg->n_targets * sizeof(*target));
	uint8_t *unit = weft_carve(c, cfg->n_targets * target_units * stride);

	if (t != NULL) {
		t->target = target;
		t->unit = unit;
		t->stride = stride;
		t->target_units = target_units;
		t->n_units = cfg->n_targets * target_units;
	}
	return t;
}

size_t
weft_traffic_size(const struct weft_traffic_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!traffic_cfg_ok(cfg))
		return 0;
	traffic_carve(&c, cfg);
	return c.len;
}

static struct traffic_unit *
traffic_unit(const struct weft_traffic *t, uint64_t i)
{
	return (void *)(t->unit + i * t->stride);
}

static uint64_t
traffic_hpa(const struct weft_traffic *t, const struct traffic_unit *u, uint64_t unit,
	unsigned int line)
{
	const uint64_t of_target = unit - u->target * t->target_units;
	const uint64_t first = t->cfg.first_line + of_target * t->cfg.unit_lines + line;

	return t->target[u->target].hpa_base + first * WEFT_LINE_LEN;
}

static void
traffic_unit_init(struct weft_traffic *t, uint64_t i)
{
	struct traffic_unit *u = traffic_unit(t, i);

	for (unsigned int k = 0; k < t->cfg.unit_lines; k++)
		weft_line_state_init(&u->line[k], t->cfg.run);
	u->target = (uint16_t)(i / t->target_units);
	u->dpid = t->target[u->target].dpid;
	if (t->cfg.expect != NULL)
		u->expect = (uint8_t)t->cfg.expect(
			t->cfg.expect_arg, traffic_hpa(t, u, i, 0), &u->dpid);
}

/* Draw the request after the next, and let its unit come into the caches meanwhile. */
static void
traffic_draw(struct weft_traffic *t)
{
	struct traffic_range *g = &t->next.range;
	const uint8_t *u;

	t->next.is_write = weft_rand_below(&t->rand, 100) < t->cfg.write_percent;
	g->unit = weft_choice_next(&t->choice, &t->rand);
	u = (const uint8_t *)traffic_unit(t, g->unit);
	__builtin_prefetch(u, 1);
	__builtin_prefetch(u + t->stride - 1, 1);
	g->n = 1;
	if (t->cfg.unit_lines > 1) {
		g->n += (unsigned int)weft_rand_below(&t->rand, t->cfg.request_lines);
		g->first = (unsigned int)weft_rand_below(&t->rand, t->cfg.unit_lines + 1 - g->n);
	}
}

struct weft_traffic *
weft_traffic_init(void *mem, const struct weft_traffic_cfg *cfg, struct weft_requester *r)
{
	struct weft_carver c = { .block = mem };
	struct weft_traffic *t;

	if (!traffic_cfg_ok(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_traffic_size(cfg));
	t = traffic_carve(&c, cfg);
	t->cfg = *cfg;
	t->requester = r;
	memcpy(t->target, cfg->targets, cfg->n_targets * sizeof(*t->target));
	t->cfg.targets = t->target;
	for (uint64_t i = 0; i < t->n_units; i++)
		traffic_unit_init(t, i);
	weft_pace_init(&t->pace, cfg->rate, cfg->outstanding);
	t->owner = (struct weft_line_owner){ cfg->seed, cfg->writer, cfg->run };
	weft_choice_init(&t->choice, WEFT_CHOICE_RANDOM, t->n_units, 0);
	/* Sources that share a seed must not choose alike. */
	weft_rand_seed(&t->rand, cfg->seed ^ (uint64_t)cfg->writer << 32);
	traffic_draw(t);
	return t;
}

static bool
traffic_accepts(const struct traffic_unit *u, enum weft_expect answer)
{
	return (u->accept >> answer & 1) != 0;
}

/* The next versions of the lines of a write, which has begun at @p hpa. */
static void
traffic_fill(struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g, uint64_t hpa)
{
	u->written = true;
	u->write_expected = u->expect == WEFT_EXPECT_DATA || traffic_accepts(u, WEFT_EXPECT_DATA);
	for (unsigned int i = 0; i < g.n; i++) {
		struct weft_line_state *l = &u->line[g.first + i];

		weft_line_check_next(
			&t->owner, l, hpa + i * WEFT_LINE_LEN, t->data + i * WEFT_LINE_LEN);
		if (u->write_expected)
			weft_line_state_begin(l, t->cfg.run);
	}
}

static int
traffic_begin(struct weft_traffic *t, struct traffic_range g, enum weft_request_kind kind,
	uint64_t now_ns, struct weft_request *rq)
{
	struct traffic_unit *u = traffic_unit(t, g.unit);
	int rc;

	rq->addr = traffic_hpa(t, u, g.unit, g.first);
	rq->cookie = g.unit | (uint64_t)g.first << FIRST_SHIFT;
	rq->data = t->data;
	rq->len = (uint16_t)(g.n * WEFT_LINE_LEN);
	rq->dpid = u->dpid;
	rq->kind = (uint8_t)kind;
	rc = weft_requester_begin(t->requester, rq, now_ns);
	if (rc != 0)
		return rc;
	if (kind == WEFT_REQUEST_WRITE)
		traffic_fill(t, u, g, rq->addr);
	u->busy = true;
	u->renewed = false;
	u->begun_ns = now_ns;
	t->open++;
	weft_pace_begun(&t->pace, now_ns);
	t->count[kind == WEFT_REQUEST_WRITE ? WEFT_TRAFFIC_N_WRITES : WEFT_TRAFFIC_N_READS]++;
	return 0;
}

/* A choice that cannot begin is forgotten: to wait for it would hold up the other destinations. */
static int
traffic_next_random(struct weft_traffic *t, uint64_t now_ns, struct weft_request *rq)
{
	const struct traffic_wish wish = t->next;
	struct traffic_range g = wish.range;
	bool is_write;
	int rc;

	if (!weft_pace_is_due(&t->pace, now_ns) || t->open >= t->n_units)
		return -EAGAIN;
	traffic_draw(t);
	while (traffic_unit(t, g.unit)->busy) /* at most `open` steps, as one at least is idle */
		g.unit = g.unit + 1 == t->n_units ? 0 : g.unit + 1;
	is_write = wish.is_write && now_ns >= traffic_unit(t, g.unit)->no_write_before_ns;
	rc = traffic_begin(t, g, is_write ? WEFT_REQUEST_WRITE : WEFT_REQUEST_READ, now_ns, rq);
	t->issued += rc == 0;
	return rc;
}

/* The sweep starts when nothing else is open, so none of its units is busy. */
static int
traffic_next_sweep(struct weft_traffic *t, uint64_t now_ns, struct weft_request *rq)
{
	if (t->sweep_at == 0 && t->open > 0)
		return -EAGAIN;
	for (unsigned int n = 0; n < SWEEP_SKIP_MAX && t->sweep_at < t->n_units; n++) {
		const struct traffic_unit *u = traffic_unit(t, t->sweep_at);
		const struct traffic_range g = { t->sweep_at, 0, t->cfg.unit_lines };
		int rc;

		if (!u->written && u->expect != WEFT_EXPECT_READ_ONLY) {
			t->sweep_at++;
			continue;
		}
		if (!weft_pace_is_due(&t->pace, now_ns))
			return -EAGAIN;
		rc = traffic_begin(t, g, WEFT_REQUEST_READ, now_ns, rq);
		if (rc == 0) {
			t->sweep_at++;
			t->count[WEFT_TRAFFIC_N_SWEPT]++;
		}
		return rc;
	}
	return weft_traffic_done(t) ? -ESHUTDOWN : -EAGAIN;
}

int
weft_traffic_next(struct weft_traffic *t, uint64_t now_ns, struct weft_request *rq)
{
	if (t->open >= t->cfg.outstanding)
		return -EAGAIN;
	return t->issued < t->cfg.requests ? traffic_next_random(t, now_ns, rq)
	                                   : traffic_next_sweep(t, now_ns, rq);
}

static const enum weft_traffic_counter traffic_counts[] = {
	[WEFT_LINE_GOOD] = WEFT_TRAFFIC_N_VERIFIED,
	[WEFT_LINE_STALE] = WEFT_TRAFFIC_N_STALE,
	[WEFT_LINE_MISPLACED] = WEFT_TRAFFIC_N_MISPLACED,
	[WEFT_LINE_DAMAGED] = WEFT_TRAFFIC_N_DAMAGED,
};

/* @p line: of the unit. */
static void
traffic_note_mismatch(struct weft_traffic *t, uint64_t unit, unsigned int line,
	enum weft_traffic_counter why, uint64_t version)
{
	const struct traffic_unit *u = traffic_unit(t, unit);

	if (t->count[WEFT_TRAFFIC_N_MISMATCHES]++ > 0)
		return;
	t->first.hpa = traffic_hpa(t, u, unit, line);
	t->first.dpid = u->dpid;
	t->first.why = (uint8_t)why;
	t->first.version = version;
	t->first.version_min = u->line[line].last - u->line[line].version_slack;
	t->first.version_max = u->line[line].last;
}

static void
traffic_verify(
	struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g, const uint8_t *data)
{
	for (unsigned int i = g.first; i < g.first + g.n; i++, data += WEFT_LINE_LEN) {
		struct weft_line_state *l = &u->line[i];
		uint64_t version;
		const enum weft_traffic_counter what = traffic_counts[weft_line_check(
			&t->owner, l, traffic_hpa(t, u, g.unit, i), data, &version)];

		t->count[what]++;
		if (what != WEFT_TRAFFIC_N_VERIFIED) {
			traffic_note_mismatch(t, g.unit, i, what, version);
			continue;
		}
		t->count[WEFT_TRAFFIC_N_FORMER] +=
			version != 0 && version >> WEFT_LINE_RUN_SHIFT != t->cfg.run;
		weft_line_state_seen(l, t->cfg.run, version);
	}
}

static bool
traffic_is_ones(const uint8_t *data, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		if (data[i] != 0xFF)
			return false;
	return true;
}

/* How a request was answered; a write by CXL.mem is done, whatever became of it. */
static enum weft_expect
traffic_answer(const struct weft_completion *c)
{
	switch (c->status) {
	case WEFT_REQUEST_UR: return WEFT_EXPECT_UR;
	case WEFT_REQUEST_CA: return WEFT_EXPECT_CA;
	case WEFT_REQUEST_LOST: return WEFT_EXPECT_NONE;
	case WEFT_REQUEST_NXM:
	case WEFT_REQUEST_DONE: break;
	default: return WEFT_EXPECT_DATA;
	}
	if (c->kind == WEFT_REQUEST_WRITE || !traffic_is_ones(c->data, c->len))
		return WEFT_EXPECT_DATA;
	return c->status == WEFT_REQUEST_NXM ? WEFT_EXPECT_NXM : WEFT_EXPECT_ONES;
}

/* How it is to be answered, by the rights as they are. */
static enum weft_expect
traffic_due(const struct traffic_unit *u, const struct weft_completion *c)
{
	const bool is_silent = u->expect == WEFT_EXPECT_ONES || u->expect == WEFT_EXPECT_NXM;

	if (u->expect == WEFT_EXPECT_READ_ONLY || (is_silent && c->kind == WEFT_REQUEST_WRITE))
		return WEFT_EXPECT_DATA;
	return (enum weft_expect)u->expect;
}

/* A unit that is closed to this requester. */
static void
traffic_refused(struct weft_traffic *t, struct traffic_range g, bool is_right)
{
	if (is_right) {
		t->count[WEFT_TRAFFIC_N_REFUSED]++;
		return;
	}
	t->count[WEFT_TRAFFIC_N_NOT_REFUSED]++;
	traffic_note_mismatch(t, g.unit, g.first, WEFT_TRAFFIC_N_NOT_REFUSED, 0);
}

static void
traffic_complete_read(struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g,
	const struct weft_completion *c)
{
	const enum weft_expect got = traffic_answer(c), due = traffic_due(u, c);
	const bool is_before = got != due && traffic_accepts(u, got);

	t->count[WEFT_TRAFFIC_N_BEFORE] += is_before;
	/* The first answer as it is now: from here on there are no others. */
	if (got == due)
		u->accept = 0;
	if (is_before && got != WEFT_EXPECT_DATA)
		return;
	if (!is_before && due != WEFT_EXPECT_DATA)
		traffic_refused(t, g, got == due);
	else if (c->status == WEFT_REQUEST_DONE)
		traffic_verify(t, u, g, c->data);
	else
		t->count[WEFT_TRAFFIC_N_FAILED]++;
	t->count[WEFT_TRAFFIC_N_POISONED] += c->status == WEFT_REQUEST_POISON;
}

/* A write may have been executed, or may be later, also where it was not to be. */
static void
traffic_doubt(struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g)
{
	for (unsigned int i = g.first; i < g.first + g.n; i++) {
		/*
		 * A delayed write may land after rights change, so from now on it may be in the
		 * line.
		 */
		if (!u->write_expected && u->expect != WEFT_EXPECT_READ_ONLY)
			weft_line_state_begin(&u->line[i], t->cfg.run);
		weft_line_state_doubt(&u->line[i]);
	}
}

/* The answer to a write that is done does not tell whether it was. */
static void
traffic_write_done(struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g)
{
	if (!u->write_expected) {
		traffic_refused(t, g, true);
	} else if (u->accept != 0) {
		t->count[WEFT_TRAFFIC_N_BEFORE] += u->expect != WEFT_EXPECT_DATA;
		traffic_doubt(t, u, g);
	} else {
		for (unsigned int i = g.first; i < g.first + g.n; i++)
			weft_line_state_settle(&u->line[i]);
	}
}

/* A write was refused, and so not executed: its lines are as before. */
static void
traffic_undo(struct traffic_unit *u, struct traffic_range g)
{
	for (unsigned int i = g.first; u->write_expected && i < g.first + g.n; i++)
		weft_line_state_undo(&u->line[i]);
}

static void
traffic_complete_write(struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g,
	const struct weft_completion *c)
{
	const enum weft_expect got = traffic_answer(c), due = traffic_due(u, c);
	const bool is_before = got != due && traffic_accepts(u, got);

	if (got == WEFT_EXPECT_DATA && (got == due || is_before)) {
		traffic_write_done(t, u, g);
		return;
	}
	traffic_undo(u, g);
	t->count[WEFT_TRAFFIC_N_BEFORE] += is_before;
	if (!is_before && due == WEFT_EXPECT_DATA)
		t->count[WEFT_TRAFFIC_N_FAILED]++;
	else if (!is_before)
		traffic_refused(t, g, got == due);
}

static void
traffic_lost(struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g,
	const struct weft_completion *c)
{
	t->count[WEFT_TRAFFIC_N_LOST]++;
	if (c->kind == WEFT_REQUEST_READ)
		return;
	t->count[WEFT_TRAFFIC_N_UNCERTAIN] += g.n;
	traffic_doubt(t, u, g);
	u->no_write_before_ns = u->begun_ns + c->latency_ns + t->cfg.write_quarantine_ns;
}

/*
 * Answered, but it is not known by which memory, the one before or the one now. A read then says
 * nothing, and a write that was not refused may be in either.
 */
static void
traffic_complete_renewed(struct weft_traffic *t, struct traffic_unit *u, struct traffic_range g,
	const struct weft_completion *c)
{
	if (c->kind == WEFT_REQUEST_READ)
		return;
	if (c->status == WEFT_REQUEST_DONE)
		traffic_doubt(t, u, g);
	else
		traffic_undo(u, g);
}

void
weft_traffic_complete(struct weft_traffic *t, const struct weft_completion *c)
{
	const struct traffic_range g = { c->cookie & (WEFT_BIT64(FIRST_SHIFT) - 1),
		(unsigned int)(c->cookie >> FIRST_SHIFT), c->len / WEFT_LINE_LEN };
	struct traffic_unit *u = traffic_unit(t, g.unit);

	assert(g.unit < t->n_units && u->busy);
	u->busy = false;
	t->open--;
	/*
	 * One that nobody is to answer is lost as it should; under a change it may have been
	 * executed.
	 */
	if (c->status == WEFT_REQUEST_LOST && (u->expect != WEFT_EXPECT_NONE || u->accept != 0))
		traffic_lost(t, u, g, c);
	else if (u->renewed)
		traffic_complete_renewed(t, u, g, c);
	else if (c->kind == WEFT_REQUEST_WRITE)
		traffic_complete_write(t, u, g, c);
	else
		traffic_complete_read(t, u, g, c);
}

uint64_t
weft_traffic_units(const struct weft_traffic *t)
{
	return t->n_units;
}

const struct weft_traffic_target *
weft_traffic_targets(const struct weft_traffic *t)
{
	return t->target;
}

int
weft_traffic_change(struct weft_traffic *t, const struct weft_traffic_change *c)
{
	if (t->open != 0)
		return -EBUSY;
	memcpy(t->target, c->targets, t->cfg.n_targets * sizeof(*t->target));
	for (uint64_t i = 0; i < t->n_units; i++) {
		const struct weft_traffic_unit_change *to = &c->units[i];
		struct traffic_unit *u = traffic_unit(t, i);

		/* An edge port that opens before the rights do, or closes behind them. */
		if (to->before != to->after)
			u->accept = (uint8_t)(u->accept | 1u << WEFT_EXPECT_ONES |
					      1u << WEFT_EXPECT_CA |
					      ((1u << u->expect | 1u << to->before) &
						      ~(1u << WEFT_EXPECT_READ_ONLY)));
		u->expect = to->after;
		u->dpid = to->dpid;
		for (unsigned int k = 0; to->is_wiped && k < t->cfg.unit_lines; k++)
			(void)weft_line_state_forget(
				&u->line[k], t->cfg.run, WEFT_LINE_LOST_PARTLY);
	}
	return 0;
}

uint64_t
weft_traffic_forget(struct weft_traffic *t, uint16_t dpid, enum weft_line_loss how)
{
	uint64_t forgotten = 0;

	for (uint64_t i = 0; i < t->n_units; i++) {
		struct traffic_unit *u = traffic_unit(t, i);

		/*
		 * Once is enough while a request is open: what a write of it may be is told later.
		 */
		if (u->dpid != dpid || (u->busy && u->renewed))
			continue;
		for (unsigned int k = 0; k < t->cfg.unit_lines; k++)
			forgotten += weft_line_state_forget(&u->line[k], t->cfg.run, how);
		u->renewed = true;
	}
	t->count[WEFT_TRAFFIC_N_FORGOTTEN] += forgotten;
	return forgotten;
}

void
weft_traffic_stop(struct weft_traffic *t)
{
	t->cfg.requests = t->issued;
}

void
weft_traffic_rate(struct weft_traffic *t, uint32_t rate)
{
	if (t->cfg.rate != 0 && t->cfg.rate < rate)
		return;
	t->cfg.rate = rate;
	weft_pace_init(&t->pace, rate, t->cfg.outstanding);
}

bool
weft_traffic_done(const struct weft_traffic *t)
{
	return t->issued >= t->cfg.requests && t->sweep_at == t->n_units && t->open == 0;
}

const struct weft_traffic_mismatch *
weft_traffic_first_mismatch(const struct weft_traffic *t)
{
	return t->count[WEFT_TRAFFIC_N_MISMATCHES] > 0 ? &t->first : NULL;
}

const uint64_t *
weft_traffic_counts(const struct weft_traffic *t)
{
	return t->count;
}
