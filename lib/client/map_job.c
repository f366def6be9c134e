/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What callers want of maps, one at a time, a part of it at each step: faults are served between
 * them. Pages of a range are found by their cells, or by the frames where those are fewer.
 */

#include "map_priv.h"

#include <stdio.h>

#define JOB_LOOKS 4096 /* pages of a step */
#define JOB_OPEN 32 /* pages that are written back or fetched at a time */

/* --- ranges --- */

/* Which pages are meant: whole ones, the first and the last as well. @return whether it is a map */
static bool
job_range(struct mapper *k, struct map_job *j)
{
	uint64_t at = (uintptr_t)j->p, end;

	j->m = client_map_find(k, at);
	if (j->m == NULL || j->m->is_ending) {
		j->status = weft_errorf(j->err, CLIENT_TEXT, -EINVAL,
			"map: %p is no address of a map", (void *)j->p);
		return false;
	}
	at -= (uintptr_t)j->m->at;
	j->first = at / k->page;
	end = j->m->n_pages * k->page;
	if (j->len > end - at) {
		j->status = weft_errorf(j->err, CLIENT_TEXT, -EINVAL,
			"map: %zu bytes from %p on: the map has %llu there", j->len, (void *)j->p,
			(unsigned long long)(end - at));
		return false;
	}
	j->end = (at + j->len + k->page - 1) / k->page;
	return true;
}

/* Frames that come into use later have nothing of what is meant. */
void
client_map_job_walk(const struct mapper *k, struct map_job *j)
{
	j->is_walked = false;
	j->at = 0;
	j->has_frames = j->end - j->first > k->cache.n_high;
	j->size = j->has_frames ? k->cache.n_high : j->end - j->first;
}

/* What is at a place of the walk; NULL: nothing of the range */
static struct map_frame *
job_frame(const struct mapper *k, const struct map_job *j, uint64_t at)
{
	struct map_frame *f;

	if (!j->has_frames)
		return client_map_frame(j->m, j->first + at);
	f = &k->cache.frame[at];
	return f->m == j->m && f->page >= j->first && f->page < j->end ? f : NULL;
}

static void
job_count(struct map_job *j, struct map_frame *f)
{
	f->is_counted = true;
	j->n_open++;
}

void
client_map_job_note(struct mapper *k, struct map_frame *f, int status, uint64_t bad)
{
	struct map_job *j = k->job;

	if (!f->is_counted)
		return;
	f->is_counted = false;
	j->n_open--;
	if (status == -EAGAIN) {
		/* It went without being there: the walk comes by again. */
		j->is_walked = false;
		j->at = 0;
	} else if (status != 0 && j->status == 0) {
		j->status = status;
		j->bad = bad;
	}
}

__attribute__((cold)) static const char *
job_reason(int status)
{
	switch (status) {
	case -EIO: return "the memory is poisoned";
	case -ENXIO: return "no memory is there";
	case -EACCES: return "the fabric does not let this host do that, or not any more";
	case -ETIMEDOUT: return "the way to the memory was lost";
	case -ESTALE: return "the memory is another than was opened, open and map it again";
	case -ESHUTDOWN: return "the daemon left, or detached this client";
	default: return strerror(-status);
	}
}

void
client_map_job_say(struct map_job *j, const char *what)
{
	if (j->status != 0)
		weft_errorf(j->err, CLIENT_TEXT, j->status,
			"map of \"%s\": %s at offset 0x%llx: %s", j->m->region->r->name, what,
			(unsigned long long)j->bad, job_reason(j->status));
}

/* --- writing back --- */

/*
 * Frames are walked until so many are open. All that was stored before this began is written when
 * it ends: a page that is being written already was protected for that. Only those are waited for
 * if @only_waits.
 */
bool
client_map_job_back(struct mapper *k, struct map_job *j, bool only_waits)
{
	struct map_frame *dirty[JOB_OPEN], *f;
	uint32_t n = 0, looks = 0;

	while (!j->is_walked && j->n_open < JOB_OPEN && looks++ < JOB_LOOKS) {
		if (j->at == j->size) {
			j->is_walked = true;
			break;
		}
		f = job_frame(k, j, j->at++);
		if (f == NULL || f->is_counted ||
			(f->state != MAP_WRITING && (f->state != MAP_DIRTY || only_waits)))
			continue;
		job_count(j, f);
		if (f->state == MAP_DIRTY)
			dirty[n++] = f;
	}
	client_map_back(k, dirty, n);
	return j->is_walked && j->n_open == 0;
}

/* Forget pages; those that are dirty as well, if @discards. */
void
client_map_job_forget(struct mapper *k, struct map_job *j, bool discards)
{
	struct map_run run = { 0 };
	struct map_frame *f;
	uint64_t i;

	client_map_job_walk(k, j);
	for (i = 0; i < j->size; i++) {
		f = job_frame(k, j, i);
		if (f == NULL || f->state == MAP_FREE)
			continue;
		if (f->state == MAP_FETCHING)
			f->is_stale = true;
		else if (f->state != MAP_WRITING && (f->state != MAP_DIRTY || discards))
			client_map_release_run(k, f, &run);
	}
	client_map_run_end(k, &run);
}

static bool
job_sync(struct mapper *k, struct map_job *j)
{
	if (!client_map_job_back(k, j, false))
		return false;
	/* What another thread stored since then stays. */
	if (j->what == WEFT_DROP)
		client_map_job_forget(k, j, false);
	client_map_job_say(j, "writing back");
	return true;
}

static bool
job_drop(struct mapper *k, struct map_job *j)
{
	if (!client_map_job_back(k, j, true))
		return false;
	client_map_job_forget(k, j, true);
	/* Of what is forgotten nobody asks how it was written back. */
	j->status = 0;
	return true;
}

/* --- fetching --- */

static void
job_fail(struct mapper *k, struct map_job *j, int status)
{
	if (j->status == 0) {
		j->status = status;
		j->bad = j->m->off + (j->first + j->at) * k->page;
	}
	j->is_walked = true;
}

/* Pages in a row that are absent. @return whether it may go on */
static bool
job_fetch_absent(struct mapper *k, struct map_job *j)
{
	struct map_frame *f[MAP_PIECE];
	enum map_take rc = MAP_TAKEN;
	uint32_t n = 0, i;

	if (k->is_over) {
		job_fail(k, j, -ESHUTDOWN);
		return false;
	}
	while (n < MAP_PIECE && j->at + n < j->size && job_frame(k, j, j->at + n) == NULL) {
		rc = client_map_take(k, j->m, j->first + j->at + n, &f[n]);
		if (rc == MAP_FULL)
			client_map_release(k, f[n]);
		if (rc != MAP_TAKEN)
			break;
		f[n]->is_again = true;
		f[n++]->is_stored = j->what == WEFT_PREFETCH_WRITE;
	}
	if (n == 0 && rc == MAP_FULL)
		job_fail(k, j, k->cache.stuck);
	if (n == 0)
		return false;
	if (k->is_over || !client_map_fetch(k, f, n)) {
		for (i = 0; i < n; i++)
			client_map_release(k, f[i]);
		return false;
	}
	for (i = 0; i < n; i++)
		job_count(j, f[i]);
	j->at += n;
	return true;
}

/* @return whether it may go on */
static bool
job_fetch_one(struct mapper *k, struct map_job *j, struct map_frame *f)
{
	const bool is_store = j->what == WEFT_PREFETCH_WRITE;

	f->is_again = true;
	switch ((enum map_state)f->state) {
	case MAP_BAD: client_map_release(k, f); return true;
	case MAP_WRITING:
		if (is_store)
			return false;
		break;
	case MAP_FETCHING:
		f->is_stored |= is_store;
		if (!f->is_counted)
			job_count(j, f);
		break;
	case MAP_STAGED: client_map_unstage(k, f, is_store); break;
	case MAP_CLEAN:
		if (is_store)
			client_map_turn_dirty(k, f);
		break;
	case MAP_DIRTY:
		if (is_store)
			client_map_unprotect(k, client_map_address(f));
		break;
	default: break;
	}
	j->at++;
	return true;
}

static bool
job_fetch(struct mapper *k, struct map_job *j)
{
	struct map_frame *f;
	bool goes_on = true;

	while (goes_on && !j->is_walked && j->n_open < JOB_OPEN) {
		if (j->at == j->size) {
			j->is_walked = true;
			break;
		}
		f = job_frame(k, j, j->at);
		goes_on = f == NULL ? job_fetch_absent(k, j) : job_fetch_one(k, j, f);
	}
	if (!j->is_walked || j->n_open > 0)
		return false;
	client_map_job_say(j, "prefetch");
	return true;
}

static bool
job_fetch_begin(struct mapper *k, struct map_job *j)
{
	if (j->what == WEFT_PREFETCH_WRITE && !j->m->can_write)
		j->status = weft_errorf(j->err, CLIENT_TEXT, -EACCES,
			"map of \"%s\": it may only be read", j->m->region->r->name);
	else if (j->end - j->first > k->cache.limit)
		j->status = weft_errorf(j->err, CLIENT_TEXT, -EMSGSIZE,
			"prefetch of %zu bytes: the cache takes %llu: attach with a larger "
			"opts.map_cache",
			j->len, (unsigned long long)(k->cache.limit * k->page));
	return j->status == 0;
}

/* --- steps --- */

static void
job_tell(const struct mapper *k, const struct map_job *j)
{
	*j->counters = k->count;
	j->counters->pages = k->cache.n_used;
	j->counters->is_user_only = k->is_user_only;
}

/* @return whether there is more to do */
static bool
job_begin(struct mapper *k, struct map_job *j)
{
	switch (j->kind) {
	case MAP_JOB_MAP: j->status = client_map_begin(k, j); return false;
	case MAP_JOB_COUNT: job_tell(k, j); return false;
	case MAP_JOB_FORGET: client_map_unref(k, j->forget); return false;
	case MAP_JOB_END: return true;
	default: break;
	}
	if (!job_range(k, j))
		return false;
	if (j->kind == MAP_JOB_ADVISE) {
		j->m->advice = (uint8_t)j->what;
		return false;
	}
	if (j->kind == MAP_JOB_UNMAP)
		return client_map_unmap_begin(k, j);
	if (j->kind == MAP_JOB_FETCH && !job_fetch_begin(k, j))
		return false;
	client_map_job_walk(k, j);
	/* Pages that are absent have no frame to be found by. */
	if (j->kind == MAP_JOB_FETCH) {
		j->has_frames = false;
		j->size = j->end - j->first;
	}
	return true;
}

bool
client_map_job_step(struct mapper *k, struct map_job *j)
{
	if (!j->is_begun) {
		j->is_begun = true;
		client_map_let_go(k, j->tid);
		if (!job_begin(k, j))
			return true;
	}
	switch (j->kind) {
	case MAP_JOB_UNMAP: return client_map_unmap(k, j);
	case MAP_JOB_SYNC: return job_sync(k, j);
	case MAP_JOB_DROP: return job_drop(k, j);
	case MAP_JOB_FETCH: return job_fetch(k, j);
	default: return client_map_end_all(k, j);
	}
}
