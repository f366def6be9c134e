/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is known of a line: see weft_line_state.h. Hot: runs for each request of a source. */

#include "weft_line_state.h"

static uint64_t
line_run_base(uint32_t run)
{
	return (uint64_t)run << WEFT_LINE_RUN_SHIFT;
}

static bool
line_is_of_run(uint64_t version, uint32_t run)
{
	return version >> WEFT_LINE_RUN_SHIFT == run;
}

void
weft_line_state_init(struct weft_line_state *s, uint32_t run)
{
	*s = (struct weft_line_state){ .may_be_zero = true, .may_be_former = run != 0 };
}

uint64_t
weft_line_state_next(const struct weft_line_state *s, uint32_t run)
{
	return (line_is_of_run(s->last, run) ? s->last : line_run_base(run)) + 1;
}

void
weft_line_state_begin(struct weft_line_state *s, uint32_t run)
{
	/* `last` has no room for a version of an earlier run any more. */
	s->may_be_former |= s->last != 0 && !line_is_of_run(s->last, run);
	s->last = weft_line_state_next(s, run);
}

void
weft_line_state_settle(struct weft_line_state *s)
{
	s->version_slack = 0;
	s->may_be_zero = s->may_be_former = false;
}

void
weft_line_state_doubt(struct weft_line_state *s)
{
	s->version_slack++;
}

void
weft_line_state_undo(struct weft_line_state *s)
{
	s->last--;
}

bool
weft_line_state_admits(const struct weft_line_state *s, uint32_t run, uint64_t version)
{
	/* A version never written is above `last`; the difference wraps and is no small number. */
	if (s->last - version <= s->version_slack)
		return true;
	if (version == 0)
		return s->may_be_zero || s->may_be_former;
	return s->may_be_former && !line_is_of_run(version, run);
}

void
weft_line_state_seen(struct weft_line_state *s, uint32_t run, uint64_t version)
{
	if (s->last - version <= s->version_slack) {
		s->version_slack = (uint32_t)(s->last - version); /* versions only rise */
		s->may_be_zero &= version == 0;
		s->may_be_former = false;
	} else if (version == 0) {
		s->may_be_zero = true;
		s->may_be_former = false;
	} else if (!line_is_of_run(s->last, run) || s->last == 0) {
		*s = (struct weft_line_state){ .last = version };
	}
}

static uint32_t
line_writes(const struct weft_line_state *s, uint32_t run)
{
	const uint64_t n = line_is_of_run(s->last, run) ? s->last - line_run_base(run) : 0;

	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

bool
weft_line_state_forget(struct weft_line_state *s, uint32_t run, enum weft_line_loss how)
{
	const bool was_known = s->last != 0 && !s->may_be_zero && !s->may_be_former;

	if (how == WEFT_LINE_LOST_PARTLY) {
		s->may_be_former |= s->last != 0 && !line_is_of_run(s->last, run);
		s->version_slack = line_writes(s, run);
	} else if (how == WEFT_LINE_LOST_ALL || s->version_slack == 0) {
		/* A version that nobody has written: none is admitted but zeros. */
		s->last = s->last == 0 ? 0 : weft_line_state_next(s, run);
		s->version_slack = 0;
		s->may_be_former = false;
	}
	s->may_be_zero = true;
	return was_known;
}
