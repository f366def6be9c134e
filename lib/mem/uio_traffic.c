/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A source that checks: see weft_uio_traffic.h. A unit of 256 bytes has one request open at most, as
 * a fabric promises no order between two. So what a line holds is known: its last version, or, if
 * writes were lost, that or one of theirs.
 */

#include "weft_uio_traffic.h"

#include <errno.h>

#include "weft_base.h"
#include "weft_carve.h"
#include "weft_line.h"
#include "weft_line_state.h"
#include "weft_pace.h"
#include "weft_rand.h"
#include "weft_telem.h"

#define UNIT (WEFT_UIO_UNIT_LINES * WEFT_LINE_LEN)
#define LINES_MAX (1u << 24)
#define TARGETS_MAX 4096
#define SWEEP_SKIP_MAX 1024 /* units never written that one call may pass over */
#define FIRST_SHIFT 60 /* of a cookie: which line of the unit is the first */

struct unit {
	struct weft_line_state line[WEFT_UIO_UNIT_LINES];
	uint64_t begun_ns; /* busy: when */
	uint64_t no_write_before_ns; /* no write before: a lost one may still arrive */
	uint16_t dpid; /* who answers */
	bool busy;
	bool renewed; /* the memory was replaced since the open request began */
	uint8_t answer; /* enum weft_uio_answer */
};

struct weft_uio_traffic {
	struct weft_uio_traffic_cfg cfg;
	struct weft_requester *requester;
	uint64_t *base; /* cfg.n_targets */
	struct unit *unit; /* cfg.lines / 4 of each target in turn */
	uint64_t n_units;
	uint64_t issued; /* random requests */
	uint64_t sweep_at; /* next unit to sweep */
	uint32_t open;
	struct weft_pace pace;
	struct weft_rand rand;
	uint8_t data[UNIT]; /* of the write that has begun last */
	struct weft_uio_mismatch first; /* valid once a mismatch is counted */
	uint64_t count[WEFT_UIO_TRAFFIC_N_COUNTERS];
};

/* A request: lines [first, first + n) of a unit. */
struct range {
	uint64_t unit;
	unsigned int first, n;
};

static const struct weft_counter counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_uio_traffic_counters.def"
#undef WEFT_COUNTER
};

static bool
cfg_ok(const struct weft_uio_traffic_cfg *cfg)
{
	if (cfg->n_targets == 0 || cfg->n_targets > TARGETS_MAX || cfg->lines == 0 ||
		cfg->lines > LINES_MAX || cfg->lines % WEFT_UIO_UNIT_LINES != 0 ||
		cfg->outstanding == 0 || cfg->rate > WEFT_PACE_RATE_MAX ||
		cfg->write_percent > 100 || cfg->bytes == 0 || cfg->bytes > UNIT ||
		cfg->bytes % WEFT_LINE_LEN != 0 || cfg->run > WEFT_LINE_RUN_MAX)
		return false;
	for (uint32_t i = 0; i < cfg->n_targets; i++)
		if (cfg->base[i] % UNIT != 0)
			return false;
	return true;
}

static struct weft_uio_traffic *
traffic_carve(struct weft_carver *c, const struct weft_uio_traffic_cfg *cfg)
{
	const size_t units = (size_t)cfg->n_targets * cfg->lines / WEFT_UIO_UNIT_LINES;
	struct weft_uio_traffic *s = weft_carve(c, sizeof(*s));
	uint64_t *base = weft_carve(c, cfg->n_targets * sizeof(*base));
	struct unit *unit = weft_carve(c, units * sizeof(*unit));

	if (s != NULL) {
		s->base = base;
		s->unit = unit;
		s->n_units = units;
	}
	return s;
}

size_t
weft_uio_traffic_size(const struct weft_uio_traffic_cfg *cfg)
{
	struct weft_carver c = { 0 };

	if (!cfg_ok(cfg))
		return 0;
	traffic_carve(&c, cfg);
	return c.len;
}

static uint64_t
addr_of(const struct weft_uio_traffic *s, uint64_t unit, unsigned int line)
{
	const uint64_t units = s->cfg.lines / WEFT_UIO_UNIT_LINES;

	return s->base[unit / units] + unit % units * UNIT + line * WEFT_LINE_LEN;
}

static void
unit_init(struct weft_uio_traffic *s, uint64_t i)
{
	struct unit *u = &s->unit[i];

	for (unsigned int k = 0; k < WEFT_UIO_UNIT_LINES; k++)
		weft_line_state_init(&u->line[k], s->cfg.run);
	if (s->cfg.expect != NULL)
		u->answer = (uint8_t)s->cfg.expect(s->cfg.expect_arg, addr_of(s, i, 0), &u->dpid);
}

struct weft_uio_traffic *
weft_uio_traffic_init(
	void *mem, const struct weft_uio_traffic_cfg *cfg, struct weft_requester *requester)
{
	struct weft_carver c = { .block = mem };
	struct weft_uio_traffic *s;

	if (!cfg_ok(cfg) || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, weft_uio_traffic_size(cfg));
	s = traffic_carve(&c, cfg);
	s->cfg = *cfg;
	s->requester = requester;
	memcpy(s->base, cfg->base, cfg->n_targets * sizeof(*s->base));
	s->cfg.base = s->base;
	for (uint64_t i = 0; i < s->n_units; i++)
		unit_init(s, i);
	weft_pace_init(&s->pace, cfg->rate, cfg->outstanding);
	/* Sources that share a seed must not choose alike. */
	weft_rand_seed(&s->rand, cfg->seed ^ (uint64_t)cfg->writer << 32);
	return s;
}

static uint64_t
cookie_of(const struct range *r)
{
	return r->unit | (uint64_t)r->first << FIRST_SHIFT;
}

static int
begun(struct weft_uio_traffic *s, const struct range *r, uint64_t now_ns,
	enum weft_uio_traffic_counter kind)
{
	s->unit[r->unit].busy = true;
	s->unit[r->unit].renewed = false;
	s->unit[r->unit].begun_ns = now_ns;
	s->open++;
	weft_pace_begun(&s->pace, now_ns);
	s->count[kind]++;
	return 0;
}

static int
begin_read(
	struct weft_uio_traffic *s, const struct range *r, uint64_t now_ns, struct weft_request *rq)
{
	int rc;

	*rq = (struct weft_request){ .kind = WEFT_REQUEST_READ,
		.addr = addr_of(s, r->unit, r->first),
		.len = (uint16_t)(r->n * WEFT_LINE_LEN),
		.dpid = WEFT_REQUESTER_ANYBODY,
		.cookie = cookie_of(r) };
	rc = weft_requester_begin(s->requester, rq, now_ns);
	return rc == 0 ? begun(s, r, now_ns, WEFT_UIO_TRAFFIC_N_READS) : rc;
}

static int
begin_write(
	struct weft_uio_traffic *s, const struct range *r, uint64_t now_ns, struct weft_request *rq)
{
	struct weft_line_state *line = &s->unit[r->unit].line[r->first];
	int rc;

	for (unsigned int i = 0; i < r->n; i++) {
		const struct weft_line_id id = { addr_of(s, r->unit, r->first + i),
			weft_line_state_next(&line[i], s->cfg.run), s->cfg.writer };

		weft_line_fill(s->data + (size_t)i * WEFT_LINE_LEN, s->cfg.seed, &id);
	}
	*rq = (struct weft_request){ .kind = WEFT_REQUEST_WRITE,
		.addr = addr_of(s, r->unit, r->first),
		.len = (uint16_t)(r->n * WEFT_LINE_LEN),
		.data = s->data,
		.dpid = WEFT_REQUESTER_ANYBODY,
		.cookie = cookie_of(r) };
	rc = weft_requester_begin(s->requester, rq, now_ns);
	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < r->n; i++)
		weft_line_state_begin(&line[i], s->cfg.run);
	return begun(s, r, now_ns, WEFT_UIO_TRAFFIC_N_WRITES);
}

static int
next_random(struct weft_uio_traffic *s, uint64_t now_ns, struct weft_request *rq)
{
	struct range range, *r = &range;
	const unsigned int most = s->cfg.bytes / WEFT_LINE_LEN;
	bool is_write;
	int rc;

	if (!weft_pace_is_due(&s->pace, now_ns))
		return -EAGAIN;
	is_write = weft_rand_below(&s->rand, 100) < s->cfg.write_percent;
	if (s->open >= s->n_units)
		return -EAGAIN;
	r->unit = weft_rand_below(&s->rand, s->n_units);
	r->n = 1 + (unsigned int)weft_rand_below(&s->rand, most);
	r->first = (unsigned int)weft_rand_below(&s->rand, WEFT_UIO_UNIT_LINES + 1 - r->n);
	while (s->unit[r->unit].busy) /* at most `open` steps, as one unit at least is idle */
		r->unit = r->unit + 1 == s->n_units ? 0 : r->unit + 1;
	is_write = is_write && now_ns >= s->unit[r->unit].no_write_before_ns;
	rc = is_write ? begin_write(s, r, now_ns, rq) : begin_read(s, r, now_ns, rq);
	s->issued += rc == 0;
	return rc;
}

static bool
was_written(const struct weft_uio_traffic *s, const struct unit *u)
{
	bool written = false;

	for (unsigned int i = 0; i < WEFT_UIO_UNIT_LINES; i++)
		written |= weft_line_state_is_written(&u->line[i], s->cfg.run);
	return written;
}

/* The sweep starts when nothing else is open, so none of its units is busy. */
static int
next_sweep(struct weft_uio_traffic *s, uint64_t now_ns, struct weft_request *rq)
{
	struct range r;
	int rc;

	if (s->sweep_at == 0 && s->open > 0)
		return -EAGAIN;
	for (unsigned int n = 0; n < SWEEP_SKIP_MAX && s->sweep_at < s->n_units; n++) {
		if (!was_written(s, &s->unit[s->sweep_at])) {
			s->sweep_at++;
			continue;
		}
		if (!weft_pace_is_due(&s->pace, now_ns))
			return -EAGAIN;
		r = (struct range){ s->sweep_at, 0, WEFT_UIO_UNIT_LINES };
		rc = begin_read(s, &r, now_ns, rq);
		if (rc == 0) {
			s->sweep_at++;
			s->count[WEFT_UIO_TRAFFIC_N_SWEPT]++;
		}
		return rc;
	}
	return weft_uio_traffic_done(s) ? -ESHUTDOWN : -EAGAIN;
}

int
weft_uio_traffic_next(struct weft_uio_traffic *s, uint64_t now_ns, struct weft_request *rq)
{
	if (s->open >= s->cfg.outstanding)
		return -EAGAIN;
	return s->issued < s->cfg.requests ? next_random(s, now_ns, rq) : next_sweep(s, now_ns, rq);
}

static void
note_mismatch(struct weft_uio_traffic *s, uint64_t addr, enum weft_uio_traffic_counter why,
	const struct weft_completion *d)
{
	if (s->count[WEFT_UIO_TRAFFIC_N_MISMATCHES]++ > 0)
		return;
	s->first = (struct weft_uio_mismatch){ addr, (uint8_t)why, d->status };
}

/* WEFT_UIO_TRAFFIC_N_VERIFIED, or the kind of mismatch; @p version is what the line holds. */
static enum weft_uio_traffic_counter
judge(const struct weft_uio_traffic *s, const struct weft_line_state *l, uint64_t addr,
	const uint8_t *data, uint64_t *version)
{
	struct weft_line_id id = { 0 };

	*version = 0;
	if (!weft_line_is_zero(data)) {
		if (!weft_line_read(data, s->cfg.seed, &id))
			return WEFT_UIO_TRAFFIC_N_DAMAGED;
		*version = id.version;
		if (id.hpa != addr || id.writer != s->cfg.writer)
			return WEFT_UIO_TRAFFIC_N_MISPLACED;
	}
	return weft_line_state_admits(l, s->cfg.run, *version) ? WEFT_UIO_TRAFFIC_N_VERIFIED
	                                                       : WEFT_UIO_TRAFFIC_N_STALE;
}

static void
verify(struct weft_uio_traffic *s, const struct range *r, const struct weft_completion *d)
{
	for (unsigned int i = 0; i < r->n; i++) {
		const uint64_t addr = addr_of(s, r->unit, r->first + i);
		struct weft_line_state *l = &s->unit[r->unit].line[r->first + i];
		uint64_t version;
		const enum weft_uio_traffic_counter what =
			judge(s, l, addr, d->data + (size_t)i * WEFT_LINE_LEN, &version);

		s->count[what]++;
		if (what != WEFT_UIO_TRAFFIC_N_VERIFIED) {
			note_mismatch(s, addr, what, d);
			continue;
		}
		s->count[WEFT_UIO_TRAFFIC_N_FORMER] +=
			version != 0 && version >> WEFT_LINE_RUN_SHIFT != s->cfg.run;
		weft_line_state_seen(l, s->cfg.run, version);
	}
}

static void
lost(struct weft_uio_traffic *s, const struct range *r, const struct weft_completion *d)
{
	struct unit *u = &s->unit[r->unit];

	s->count[WEFT_UIO_TRAFFIC_N_LOST]++;
	if (d->kind != WEFT_REQUEST_WRITE)
		return;
	for (unsigned int i = 0; i < r->n; i++)
		weft_line_state_doubt(&u->line[r->first + i]);
	s->count[WEFT_UIO_TRAFFIC_N_UNCERTAIN] += r->n;
	u->no_write_before_ns = u->begun_ns + d->latency_ns + s->cfg.write_quarantine_ns;
}

/* It was refused, or is poison. A write that was refused was not done: its lines are as before. */
static void
failed(struct weft_uio_traffic *s, const struct range *r, const struct weft_completion *d)
{
	s->count[WEFT_UIO_TRAFFIC_N_FAILED]++;
	for (unsigned int i = 0; d->kind == WEFT_REQUEST_WRITE && i < r->n; i++)
		weft_line_state_undo(&s->unit[r->unit].line[r->first + i]);
}

/* A write that was done, or may be, if it is not known in which memory. */
static void
written(struct unit *u, const struct range *r)
{
	for (unsigned int i = 0; i < r->n; i++) {
		if (u->renewed)
			weft_line_state_doubt(&u->line[r->first + i]);
		else
			weft_line_state_settle(&u->line[r->first + i]);
	}
}

/* A unit that is closed to this requester. */
static void
complete_refused(struct weft_uio_traffic *s, const struct range *r, const struct weft_completion *d)
{
	static const uint8_t ends[] = { [WEFT_UIO_ANSWER_UR] = WEFT_REQUEST_UR,
		[WEFT_UIO_ANSWER_CA] = WEFT_REQUEST_CA,
		[WEFT_UIO_ANSWER_NONE] = WEFT_REQUEST_LOST };

	if (d->status == ends[s->unit[r->unit].answer]) {
		s->count[WEFT_UIO_TRAFFIC_N_REFUSED]++;
		return;
	}
	if (d->status == WEFT_REQUEST_LOST) {
		s->count[WEFT_UIO_TRAFFIC_N_LOST]++;
		return;
	}
	s->count[WEFT_UIO_TRAFFIC_N_WRONG_ANSWER]++;
	note_mismatch(s, addr_of(s, r->unit, r->first), WEFT_UIO_TRAFFIC_N_WRONG_ANSWER, d);
}

void
weft_uio_traffic_complete(struct weft_uio_traffic *s, const struct weft_completion *d)
{
	const struct range r = { d->cookie & (WEFT_BIT64(FIRST_SHIFT) - 1),
		(unsigned int)(d->cookie >> FIRST_SHIFT), d->len / WEFT_LINE_LEN };
	struct unit *u = &s->unit[r.unit];

	assert(r.unit < s->n_units && u->busy);
	u->busy = false;
	s->open--;
	if (u->answer != WEFT_UIO_ANSWER_DATA)
		complete_refused(s, &r, d);
	else if (d->status == WEFT_REQUEST_LOST)
		lost(s, &r, d);
	else if (d->status != WEFT_REQUEST_DONE)
		failed(s, &r, d);
	else if (d->kind == WEFT_REQUEST_WRITE)
		written(u, &r);
	else if (!u->renewed)
		verify(s, &r, d);
}

uint64_t
weft_uio_traffic_forget(struct weft_uio_traffic *s, uint16_t dpid, enum weft_line_loss how)
{
	uint64_t forgotten = 0;

	for (uint64_t i = 0; i < s->n_units; i++) {
		struct unit *u = &s->unit[i];

		if (u->dpid != dpid || u->answer != WEFT_UIO_ANSWER_DATA)
			continue;
		for (unsigned int k = 0; k < WEFT_UIO_UNIT_LINES; k++)
			forgotten += weft_line_state_forget(&u->line[k], s->cfg.run, how);
		u->renewed = true;
	}
	s->count[WEFT_UIO_TRAFFIC_N_FORGOTTEN] += forgotten;
	return forgotten;
}

bool
weft_uio_traffic_done(const struct weft_uio_traffic *s)
{
	return s->issued >= s->cfg.requests && s->sweep_at == s->n_units && s->open == 0;
}

const struct weft_uio_mismatch *
weft_uio_traffic_first_mismatch(const struct weft_uio_traffic *s)
{
	return s->count[WEFT_UIO_TRAFFIC_N_MISMATCHES] > 0 ? &s->first : NULL;
}

const struct weft_counter *
weft_uio_traffic_counters(void)
{
	return counters;
}

const uint64_t *
weft_uio_traffic_counts(const struct weft_uio_traffic *s)
{
	return s->count;
}
