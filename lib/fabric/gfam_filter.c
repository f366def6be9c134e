/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Snoop filter: sets of entries, one entry a line and holder, 8 bytes each (fabric.md section 1.6;
 * what becomes of a snoop without an address is this project's rule).
 */

#include "weft_gfam_filter.h"

#include <errno.h>

#include "weft_gfam_log.h"

#define SETS_MAX (UINT32_C(1) << 24)
#define LINE_LOG2 6
#define DPA_BITS 52
#define PID_NONE 0xFFF

/* Entry: [0] in use, [1] exclusive, [13:2] PID, [59:14] line number. */
#define USED UINT64_C(1)
#define EXCLUSIVE UINT64_C(2)
#define PID_LOW 2
#define LINE_LOW 14

static uint64_t
filter_line(uint64_t entry)
{
	return entry >> LINE_LOW;
}

static uint16_t
filter_pid(uint64_t entry)
{
	return (uint16_t)(entry >> PID_LOW & 0xFFF);
}

static uint64_t *
filter_set_of(const struct weft_gfam_filter *f, uint64_t line)
{
	/* Folded, so that strides of a power of two do not all meet in one set. */
	const uint64_t at = (line ^ line >> 12 ^ line >> 24) & (f->sets - 1);

	return f->entry + at * f->ways;
}

static bool
filter_holds(uint64_t entry, uint64_t line)
{
	return (entry & USED) != 0 && filter_line(entry) == line;
}

static struct weft_gfam_snoop
filter_snoop_for(uint64_t entry)
{
	return (struct weft_gfam_snoop){
		.dpa = filter_line(entry) << LINE_LOG2,
		.pid = filter_pid(entry),
		.exclusive = (entry & EXCLUSIVE) != 0,
	};
}

int
weft_gfam_filter_init(
	struct weft_gfam_filter *f, uint64_t *entry, uint32_t sets, uint8_t ways, uint32_t lost_max)
{
	if (sets == 0 || sets > SETS_MAX || (sets & (sets - 1)) != 0 || ways == 0 ||
		ways > WEFT_GFAM_FILTER_WAYS_MAX || lost_max == 0)
		return -EINVAL;
	memset(f, 0, sizeof(*f));
	f->entry = entry;
	f->sets = sets;
	f->ways = ways;
	f->lost_max = lost_max;
	memset(entry, 0, (size_t)sets * ways * sizeof(*entry));
	return 0;
}

int
weft_gfam_filter_take(struct weft_gfam_filter *f, uint64_t dpa, uint16_t pid, bool exclusive,
	struct weft_gfam_snoop *snoop)
{
	const uint64_t line = dpa >> LINE_LOG2;
	uint64_t *set, *mine = NULL, *room = NULL;
	int n = 0;

	if (pid >= PID_NONE || dpa >> DPA_BITS != 0)
		return -EINVAL;
	if (f->offline)
		return -EIO;
	set = filter_set_of(f, line);
	for (unsigned int i = 0; i < f->ways; i++) {
		if ((set[i] & USED) == 0)
			room = &set[i];
		else if (filter_line(set[i]) == line && filter_pid(set[i]) == pid)
			mine = &set[i];
		else if (filter_line(set[i]) == line && (exclusive || (set[i] & EXCLUSIVE) != 0))
			snoop[n++] = filter_snoop_for(set[i]);
	}
	if (n != 0) {
		f->conflicts++;
		return n;
	}
	if (mine != NULL) {
		*mine |= exclusive ? EXCLUSIVE : 0;
		return 0;
	}
	if (room == NULL) {
		f->hand = (uint8_t)((f->hand + 1u) % f->ways);
		snoop[0] = filter_snoop_for(set[f->hand]);
		f->evictions++;
		return 1;
	}
	*room = line << LINE_LOW | (uint64_t)pid << PID_LOW | (exclusive ? EXCLUSIVE : 0) | USED;
	f->held++;
	return 0;
}

bool
weft_gfam_filter_drop(struct weft_gfam_filter *f, uint64_t dpa, uint16_t pid)
{
	const uint64_t line = dpa >> LINE_LOG2;
	uint64_t *set = filter_set_of(f, line);

	for (unsigned int i = 0; i < f->ways; i++) {
		if (filter_holds(set[i], line) && filter_pid(set[i]) == pid) {
			set[i] = 0;
			f->held--;
			return true;
		}
	}
	return false;
}

uint64_t
weft_gfam_filter_gone(struct weft_gfam_filter *f, uint16_t pid)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)f->sets * f->ways; i++) {
		if ((f->entry[i] & USED) != 0 && filter_pid(f->entry[i]) == pid) {
			f->entry[i] = 0;
			n++;
		}
	}
	f->held -= n;
	return n;
}

unsigned int
weft_gfam_filter_holders(
	const struct weft_gfam_filter *f, uint64_t dpa, struct weft_gfam_snoop *out)
{
	const uint64_t line = dpa >> LINE_LOG2;
	const uint64_t *set = filter_set_of(f, line);
	unsigned int n = 0;

	for (unsigned int i = 0; i < f->ways; i++) {
		if (filter_holds(set[i], line))
			out[n++] = filter_snoop_for(set[i]);
	}
	return n;
}

int
weft_gfam_filter_path(struct weft_gfam_filter *f, const struct weft_gfam *t,
	struct weft_gfam_log *log, uint64_t now_ns, struct weft_gfam_snoop *s,
	struct weft_gfam_report *due, bool *is_due)
{
	*is_due = false;
	if (weft_gfam_reverse(t, s->pid, s->dpa, &s->hpa) == 0)
		return 0;
	*is_due = weft_gfam_log_snoop(log, now_ns, s->pid, s->dpa, due);
	weft_gfam_filter_drop(f, s->dpa, s->pid);
	f->offline |= ++f->lost >= f->lost_max;
	return -ENOENT;
}
