/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Writes and reads of test lines: see weft_line_check.h. Hot: runs for each line of a source. */

#include "weft_line_check.h"

#include "weft_line.h"

void
weft_line_check_next(const struct weft_line_owner *o, const struct weft_line_state *s,
	uint64_t addr, uint8_t *data)
{
	const struct weft_line_id id = { addr, weft_line_state_next(s, o->run), o->writer };

	weft_line_fill(data, o->seed, &id);
}

enum weft_line_verdict
weft_line_check(const struct weft_line_owner *o, const struct weft_line_state *s, uint64_t addr,
	const uint8_t *data, uint64_t *version)
{
	struct weft_line_id id = { 0 };

	*version = 0;
	if (!weft_line_is_zero(data)) {
		if (!weft_line_read(data, o->seed, &id))
			return WEFT_LINE_DAMAGED;
		*version = id.version;
		if (id.hpa != addr || id.writer != o->writer)
			return WEFT_LINE_MISPLACED;
	}
	return weft_line_state_admits(s, o->run, *version) ? WEFT_LINE_GOOD : WEFT_LINE_STALE;
}
