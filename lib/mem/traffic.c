/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Checking traffic source (reliability.md section 5). Nobody else writes its lines, and it never has
 * two requests open for one line, since a fabric promises no order between them. So what a line
 * holds is known (weft_line_state.h): its last version, or, if writes were lost, that or one of theirs.
 */

#include "weft_traffic.h"

#include <errno.h>

#include "weft_base.h"
#include "weft_carve.h"
#include "weft_line.h"
#include "weft_line_state.h"
#include "weft_pace.h"
#include "weft_rand.h"
#include "weft_telem.h"

#define LINES_MAX (1u << 24)
#define TARGETS_MAX 4095
#define DPID_MAX 0xFFE
#define HPA_END (UINT64_C(1) << 52)
#define SWEEP_SKIP_MAX 1024 /* lines never written that one call may pass over */

struct traffic_line {
	struct weft_line_state state;
	uint64_t begun_ns; /* busy: when */
	uint64_t no_write_before_ns; /* no write before: a lost one may still arrive */
	bool busy : 1; /* a request for it is open */
	bool written : 1; /* a write of it was begun */
	bool write_expected : 1; /* the open write is in `state`; one that cannot be done is not */
	bool renewed : 1; /* the memory was replaced since the open request began */
	/* A change of rights may not have come to its GFD yet: answers from before it. */
	bool accept_data : 1;
	bool accept_ones : 1;
	bool accept_nxm : 1;
	uint8_t expect; /* enum weft_expect */
	uint16_t dpid;
};

static_assert(sizeof(struct traffic_line) == 40, "a host has as many as lines");

struct weft_traffic {
	struct weft_traffic_cfg cfg;
	struct weft_requester *host;
	struct weft_traffic_target *target; /* cfg.n_targets */
	struct traffic_line *line; /* cfg.lines of each target in turn */
	uint64_t n_lines;
	uint64_t issued; /* random requests */
	uint64_t sweep_at; /* next line to sweep */
	uint32_t open;
	struct weft_pace pace;
	struct weft_rand rand;
	struct weft_traffic_mismatch first; /* valid once a mismatch is counted */
	uint64_t count[WEFT_TRAFFIC_N_COUNTERS];
};

static const struct weft_counter counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_traffic_counters.def"
#undef WEFT_COUNTER
};

static bool
target_ok(const struct weft_traffic_target *g, uint64_t lines_needed)
{
	return g->dpid <= DPID_MAX && g->hpa_base % WEFT_LINE_LEN == 0 && g->hpa_base < HPA_END &&
	       g->len_bytes <= HPA_END - g->hpa_base &&
	       lines_needed <= g->len_bytes / WEFT_LINE_LEN;
}

static bool
cfg_ok(const struct weft_traffic_cfg *cfg)
{
	const uint64_t lines_needed = cfg->first_line + cfg->lines;

	if (cfg->first_line >= HPA_END || cfg->run > WEFT_LINE_RUN_MAX || cfg->n_targets == 0 ||
		cfg->n_targets > TARGETS_MAX || cfg->lines == 0 || cfg->lines > LINES_MAX ||
		cfg->outstanding == 0 || cfg->rate > WEFT_PACE_RATE_MAX || cfg->write_percent > 100)
		return false;
	for (uint32_t i = 0; i < cfg->n_targets; i++) {
		if (!target_ok(&cfg->targets[i], lines_needed))
			return false;
	}
	return true;
}

static struct weft_traffic *
traffic_carve(struct weft_carver *c, const struct weft_traffic_cfg *cfg)
{
	struct weft_traffic *t = weft_carve(c, sizeof(*t));
	struct weft_traffic_target *target = weft_carve(c, cfg->n_targets * sizeof(*target));
	struct traffic_line *line =
		weft_carve(c, (size_t)cfg->n_targets * cfg->lines * sizeof(*line));

	if (t != NULL) {
		t->target = target;
		t->line = line;
	}
	return t;
}

size_t
weft_traffic_size(const struct weft_traffic_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!cfg_ok(cfg))
		return 0;
	traffic_carve(&c, cfg);
	return c.len;
}

static const struct weft_traffic_target *
target_of(const struct weft_traffic *t, uint64_t i)
{
	return &t->target[i / t->cfg.lines];
}

static uint64_t
hpa_of(const struct weft_traffic *t, uint64_t i)
{
	const uint64_t line = t->cfg.first_line + i % t->cfg.lines;

	return target_of(t, i)->hpa_base + line * WEFT_LINE_LEN;
}

static void
place(struct weft_traffic *t, uint64_t i)
{
	weft_line_state_init(&t->line[i].state, t->cfg.run);
	t->line[i].dpid = target_of(t, i)->dpid;
	if (t->cfg.expect != NULL)
		t->line[i].expect =
			(uint8_t)t->cfg.expect(t->cfg.expect_arg, hpa_of(t, i), &t->line[i].dpid);
}

struct weft_traffic *
weft_traffic_init(void *mem, const struct weft_traffic_cfg *cfg, struct weft_requester *host)
{
	struct weft_carver c = { .block = mem };
	struct weft_traffic *t;

	if (!cfg_ok(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_traffic_size(cfg));
	t = traffic_carve(&c, cfg);
	t->cfg = *cfg;
	t->host = host;
	t->n_lines = (uint64_t)cfg->n_targets * cfg->lines;
	memcpy(t->target, cfg->targets, cfg->n_targets * sizeof(*t->target));
	t->cfg.targets = t->target;
	for (uint64_t i = 0; i < t->n_lines; i++)
		place(t, i);
	weft_pace_init(&t->pace, cfg->rate, cfg->outstanding);
	/* Hosts that share a seed must not choose alike. */
	weft_rand_seed(&t->rand, cfg->seed ^ (uint64_t)cfg->host_index << 32);
	return t;
}

static void
begun(struct weft_traffic *t, uint64_t i, uint64_t now_ns, enum weft_traffic_counter kind)
{
	t->line[i].busy = true;
	t->line[i].renewed = false;
	t->line[i].begun_ns = now_ns;
	t->open++;
	weft_pace_begun(&t->pace, now_ns);
	t->count[kind]++;
}

static int
begin_read(struct weft_traffic *t, uint64_t i, uint64_t now_ns, struct weft_msg *msg)
{
	const int rc = weft_mem_read(t->host, t->line[i].dpid, hpa_of(t, i), i, now_ns, msg);

	if (rc == 0)
		begun(t, i, now_ns, WEFT_TRAFFIC_N_READS);
	return rc;
}

static int
begin_write(struct weft_traffic *t, uint64_t i, uint64_t now_ns, struct weft_msg *msg)
{
	struct traffic_line *l = &t->line[i];
	const struct weft_line_id id = { hpa_of(t, i), weft_line_state_next(&l->state, t->cfg.run),
		t->cfg.host_index };
	uint8_t data[WEFT_LINE_LEN];
	int rc;

	weft_line_fill(data, t->cfg.seed, &id);
	rc = weft_mem_write(t->host, l->dpid, id.hpa, data, i, now_ns, msg);
	if (rc == 0) {
		l->write_expected = l->expect == WEFT_EXPECT_DATA || l->accept_data;
		if (l->write_expected)
			weft_line_state_begin(&l->state, t->cfg.run);
		l->written = true;
		begun(t, i, now_ns, WEFT_TRAFFIC_N_WRITES);
	}
	return rc;
}

/* A choice that cannot begin is forgotten: to wait for it would hold up the other destinations. */
static int
next_random(struct weft_traffic *t, uint64_t now_ns, struct weft_msg *msg)
{
	bool is_write;
	uint64_t i;
	int rc;

	if (!weft_pace_is_due(&t->pace, now_ns))
		return -EAGAIN;
	is_write = weft_rand_below(&t->rand, 100) < t->cfg.write_percent;
	if (t->open >= t->n_lines)
		return -EAGAIN;
	i = weft_rand_below(&t->rand, t->n_lines);
	while (t->line[i].busy) /* at most `open` steps, as one line at least is idle */
		i = i + 1 == t->n_lines ? 0 : i + 1;
	is_write = is_write && now_ns >= t->line[i].no_write_before_ns;
	rc = is_write ? begin_write(t, i, now_ns, msg) : begin_read(t, i, now_ns, msg);
	if (rc == 0)
		t->issued++;
	return rc;
}

/* The sweep starts when nothing else is open, so none of its lines is busy. */
static int
next_sweep(struct weft_traffic *t, uint64_t now_ns, struct weft_msg *msg)
{
	int rc;

	if (t->sweep_at == 0 && t->open > 0)
		return -EAGAIN;
	for (unsigned int n = 0; n < SWEEP_SKIP_MAX && t->sweep_at < t->n_lines; n++) {
		const struct traffic_line *l = &t->line[t->sweep_at];

		if (!l->written && l->expect != WEFT_EXPECT_READ_ONLY) {
			t->sweep_at++;
			continue;
		}
		if (!weft_pace_is_due(&t->pace, now_ns))
			return -EAGAIN;
		rc = begin_read(t, t->sweep_at, now_ns, msg);
		if (rc == 0) {
			t->sweep_at++;
			t->count[WEFT_TRAFFIC_N_SWEPT]++;
		}
		return rc;
	}
	return weft_traffic_done(t) ? -ESHUTDOWN : -EAGAIN;
}

int
weft_traffic_next(struct weft_traffic *t, uint64_t now_ns, struct weft_msg *msg)
{
	if (t->open >= t->cfg.outstanding)
		return -EAGAIN;
	return t->issued < t->cfg.requests ? next_random(t, now_ns, msg)
	                                   : next_sweep(t, now_ns, msg);
}

/*
 * @return WEFT_TRAFFIC_N_VERIFIED or the kind of mismatch; @p version is what the line holds, 0 if
 *         it is damaged or fresh
 */
static enum weft_traffic_counter
judge(const struct weft_traffic *t, uint64_t i, const uint8_t *data, uint64_t *version)
{
	struct weft_line_id id = { 0 };

	*version = 0;
	if (!weft_line_is_zero(data)) {
		if (!weft_line_read(data, t->cfg.seed, &id))
			return WEFT_TRAFFIC_N_DAMAGED;
		*version = id.version;
		if (id.hpa != hpa_of(t, i) || id.writer != t->cfg.host_index)
			return WEFT_TRAFFIC_N_MISPLACED;
	}
	return weft_line_state_admits(&t->line[i].state, t->cfg.run, *version)
	               ? WEFT_TRAFFIC_N_VERIFIED
	               : WEFT_TRAFFIC_N_STALE;
}

static void
note_mismatch(struct weft_traffic *t, uint64_t i, enum weft_traffic_counter why, uint64_t version)
{
	const struct traffic_line *l = &t->line[i];

	if (t->count[WEFT_TRAFFIC_N_MISMATCHES]++ > 0)
		return;
	t->first.hpa = hpa_of(t, i);
	t->first.dpid = l->dpid;
	t->first.why = (uint8_t)why;
	t->first.version = version;
	t->first.version_min = l->state.last - l->state.version_slack;
	t->first.version_max = l->state.last;
}

static void
verify(struct weft_traffic *t, uint64_t i, const uint8_t *data)
{
	uint64_t version;
	const enum weft_traffic_counter what = judge(t, i, data, &version);

	t->count[what]++;
	if (what != WEFT_TRAFFIC_N_VERIFIED) {
		note_mismatch(t, i, what, version);
		return;
	}
	t->count[WEFT_TRAFFIC_N_FORMER] +=
		version != 0 && version >> WEFT_LINE_RUN_SHIFT != t->cfg.run;
	weft_line_state_seen(&t->line[i].state, t->cfg.run, version);
}

static bool
is_ones(const uint8_t *data)
{
	for (unsigned int i = 0; i < WEFT_LINE_LEN; i++)
		if (data[i] != 0xFF)
			return false;
	return true;
}

static enum weft_expect
answer_of(const struct weft_completion *c)
{
	if ((c->status != WEFT_REQUEST_NXM && c->status != WEFT_REQUEST_DONE) || !is_ones(c->data))
		return WEFT_EXPECT_DATA;
	return c->status == WEFT_REQUEST_NXM ? WEFT_EXPECT_NXM : WEFT_EXPECT_ONES;
}

static bool
may_be(const struct traffic_line *l, enum weft_expect a)
{
	return a == WEFT_EXPECT_DATA   ? l->accept_data
	       : a == WEFT_EXPECT_ONES ? l->accept_ones
	                               : l->accept_nxm;
}

static void
allow(struct traffic_line *l, uint8_t answer)
{
	l->accept_data |= answer == WEFT_EXPECT_DATA;
	l->accept_ones |= answer == WEFT_EXPECT_ONES;
	l->accept_nxm |= answer == WEFT_EXPECT_NXM;
}

static bool
is_changing(const struct traffic_line *l)
{
	return l->accept_data || l->accept_ones || l->accept_nxm;
}

/* A line that is closed to this host. */
static void
refused(struct weft_traffic *t, uint64_t i, bool is_right)
{
	if (is_right) {
		t->count[WEFT_TRAFFIC_N_REFUSED]++;
		return;
	}
	t->count[WEFT_TRAFFIC_N_NOT_REFUSED]++;
	note_mismatch(t, i, WEFT_TRAFFIC_N_NOT_REFUSED, 0);
}

static void
complete_read(struct weft_traffic *t, const struct weft_completion *c)
{
	struct traffic_line *l = &t->line[c->cookie];
	const enum weft_expect got = answer_of(c);
	const enum weft_expect want =
		l->expect == WEFT_EXPECT_READ_ONLY ? WEFT_EXPECT_DATA : (enum weft_expect)l->expect;
	const bool is_before = got != want && may_be(l, got);

	t->count[WEFT_TRAFFIC_N_BEFORE] += is_before;
	/* The first answer as it is now: from here on there are no others. */
	if (got == want)
		l->accept_data = l->accept_ones = l->accept_nxm = false;
	if (is_before && got != WEFT_EXPECT_DATA)
		return;
	if (!is_before && want != WEFT_EXPECT_DATA)
		refused(t, c->cookie, got == want);
	else if (c->status == WEFT_REQUEST_DONE)
		verify(t, c->cookie, c->data);
	else
		t->count[WEFT_TRAFFIC_N_FAILED]++;
	t->count[WEFT_TRAFFIC_N_POISONED] += c->status == WEFT_REQUEST_POISON;
}

/* The answer to a write does not tell whether it was done. */
static void
complete_write(struct weft_traffic *t, uint64_t i)
{
	struct traffic_line *l = &t->line[i];

	if (!l->write_expected) {
		refused(t, i, true);
	} else if (is_changing(l)) {
		t->count[WEFT_TRAFFIC_N_BEFORE] += l->expect != WEFT_EXPECT_DATA;
		weft_line_state_doubt(&l->state);
	} else {
		weft_line_state_settle(&l->state);
	}
}

static void
lost(struct weft_traffic *t, struct traffic_line *l, const struct weft_completion *c)
{
	t->count[WEFT_TRAFFIC_N_LOST]++;
	if (c->kind == WEFT_REQUEST_WRITE) {
		t->count[WEFT_TRAFFIC_N_UNCERTAIN]++;
		/* A late one may find the line open, unless it may only be read. */
		if (!l->write_expected && l->expect != WEFT_EXPECT_READ_ONLY)
			weft_line_state_begin(&l->state, t->cfg.run);
		weft_line_state_doubt(&l->state);
		l->no_write_before_ns = l->begun_ns + c->latency_ns + t->cfg.write_quarantine_ns;
	}
}

/*
 * Answered, but it is not known by which memory, the one before or the one now. A read then says
 * nothing, and a write may be in either.
 */
static void
complete_renewed(struct weft_traffic *t, struct traffic_line *l, const struct weft_completion *c)
{
	if (c->kind == WEFT_REQUEST_READ)
		return;
	if (!l->write_expected && l->expect != WEFT_EXPECT_READ_ONLY)
		weft_line_state_begin(&l->state, t->cfg.run);
	weft_line_state_doubt(&l->state);
}

void
weft_traffic_complete(struct weft_traffic *t, const struct weft_completion *c)
{
	struct traffic_line *l = &t->line[c->cookie];

	assert(c->cookie < t->n_lines && l->busy);
	l->busy = false;
	t->open--;
	if (c->status == WEFT_REQUEST_LOST)
		lost(t, l, c);
	else if (l->renewed)
		complete_renewed(t, l, c);
	else if (c->kind == WEFT_REQUEST_WRITE)
		complete_write(t, c->cookie);
	else
		complete_read(t, c);
}

uint64_t
weft_traffic_lines(const struct weft_traffic *t)
{
	return t->n_lines;
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
	for (uint64_t i = 0; i < t->n_lines; i++) {
		struct traffic_line *l = &t->line[i];

		if (c->lines[i].before != c->lines[i].after) {
			allow(l, l->expect);
			allow(l, c->lines[i].before);
			/* An edge port that opens before the rights do, or closes behind them. */
			allow(l, WEFT_EXPECT_ONES);
		}
		l->expect = c->lines[i].after;
		l->dpid = c->lines[i].dpid;
	}
	return 0;
}

uint64_t
weft_traffic_forget(struct weft_traffic *t, uint16_t dpid, enum weft_line_loss how)
{
	uint64_t forgotten = 0;

	for (uint64_t i = 0; i < t->n_lines; i++) {
		struct traffic_line *l = &t->line[i];

		if (l->dpid != dpid)
			continue;
		forgotten += weft_line_state_forget(&l->state, t->cfg.run, how);
		l->renewed = true;
	}
	t->count[WEFT_TRAFFIC_N_FORGOTTEN] += forgotten;
	return forgotten;
}

void
weft_traffic_stop(struct weft_traffic *t)
{
	t->cfg.requests = t->issued;
}

bool
weft_traffic_done(const struct weft_traffic *t)
{
	return t->issued >= t->cfg.requests && t->sweep_at == t->n_lines && t->open == 0;
}

const struct weft_traffic_mismatch *
weft_traffic_first_mismatch(const struct weft_traffic *t)
{
	return t->count[WEFT_TRAFFIC_N_MISMATCHES] > 0 ? &t->first : NULL;
}

const struct weft_counter *
weft_traffic_counters(void)
{
	return counters;
}

const uint64_t *
weft_traffic_counts(const struct weft_traffic *t)
{
	return t->count;
}
