/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The thread of a mapper. It looks at its jobs, at faults and at completions, for a while after the
 * last of them, then sleeps on all three. On a machine of one CPU it sleeps at once: whoever it
 * waits for wants that CPU.
 */

#include "map_priv.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define LOOP_DONE 32 /* completions at a time */
#define LOOP_FAULTS 16
#define LOOP_RETRY_MS 10 /* what waits for time, not for completions */

static void
loop_look_at_clock(struct mapper *k)
{
	k->now_ns = client_clock(CLOCK_MONOTONIC);
}

void
client_map_publish(struct mapper *k)
{
	if (k->published == k->w->sq_tail)
		return;
	k->published = k->w->sq_tail;
	client_op_publish(k->w);
}

/* No completion comes any more: what is open has failed. */
static void
loop_end_all(struct mapper *k)
{
	struct map_frame *f;
	uint32_t i;

	k->is_over = true;
	for (i = 0; i < MAP_FETCHES; i++)
		if (k->fetch[i].n > 0)
			client_map_fetched(k, i, -ESHUTDOWN, 0);
	for (i = 0; i < k->cache.n_high; i++) {
		f = &k->cache.frame[i];
		if (f->state != MAP_WRITING)
			continue;
		f->n_writes = 1;
		client_map_backed(k, i, -ESHUTDOWN, f->m->off + f->page * k->page);
	}
}

bool
client_map_reap(struct mapper *k, bool waits)
{
	struct weft_done done[LOOP_DONE];
	int n, i;

	if (k->is_over)
		return false;
	client_map_publish(k);
	n = weft_wait(k->w, done, LOOP_DONE, waits ? -1 : 0);
	for (i = 0; i < n; i++) {
		const uint64_t user = done[i].user;

		if ((user & MAP_WRITE_BACK) != 0)
			client_map_backed(
				k, (uint32_t)(user & ~MAP_WRITE_BACK), done[i].status, done[i].bad);
		else
			client_map_fetched(k, (uint32_t)user, done[i].status, done[i].bad);
	}
	if (n < 0)
		loop_end_all(k);
	return n != 0;
}

/* --- faults --- */

static bool
loop_serve(struct mapper *k)
{
	uint32_t i, left = 0;
	bool any;

	for (i = 0; i < k->n_pending; i++)
		if (!client_map_fault(k, &k->pending[i]))
			k->pending[left++] = k->pending[i];
	any = left < k->n_pending;
	k->n_pending = left;
	return any;
}

/* Those for which there is no room stay with the kernel. */
static bool
loop_take_faults(struct mapper *k)
{
	struct uffd_msg msg[LOOP_FAULTS];
	const uint32_t room = MAP_PENDING - k->n_pending;
	ssize_t got, i;

	if (room == 0)
		return false;
	got = read(k->uffd, msg, sizeof(msg[0]) * (room < LOOP_FAULTS ? room : LOOP_FAULTS));
	got = got < 0 ? 0 : got / (ssize_t)sizeof(msg[0]);
	for (i = 0; i < got; i++) {
		if (msg[i].event != UFFD_EVENT_PAGEFAULT)
			continue;
		k->pending[k->n_pending++] = (struct map_fault){
			.address = msg[i].arg.pagefault.address,
			.tid = msg[i].arg.pagefault.feat.ptid,
			.is_store =
				(msg[i].arg.pagefault.flags &
					(UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP)) != 0,
		};
	}
	return got > 0;
}

/* --- jobs --- */

static struct map_job *
loop_next_job(struct mapper *k)
{
	struct map_job *j;

	if (__atomic_load_n(&k->jobs.n, __ATOMIC_ACQUIRE) == 0)
		return NULL;
	pthread_mutex_lock(&k->jobs.lock);
	j = k->jobs.first;
	k->jobs.first = j->next;
	__atomic_fetch_sub(&k->jobs.n, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&k->jobs.lock);
	return j;
}

static bool
loop_work(struct mapper *k)
{
	struct map_job *j = k->job == NULL ? loop_next_job(k) : k->job;
	uint64_t at;

	if (j == NULL)
		return false;
	k->job = j;
	at = j->at;
	if (!client_map_job_step(k, j))
		return j->at != at;
	k->job = NULL;
	k->is_ended = j->kind == MAP_JOB_END;
	pthread_mutex_lock(&k->jobs.lock);
	j->is_done = true;
	pthread_cond_broadcast(&k->jobs.is_done);
	pthread_mutex_unlock(&k->jobs.lock);
	return true;
}

/* --- sleep --- */

static void
loop_sleep(struct mapper *k)
{
	struct pollfd p[] = { { .fd = k->uffd, .events = POLLIN },
		{ .fd = k->bell, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	uint64_t n;

	if (!k->is_over) {
		p[2].fd = weft_fd(k->w);
		/* It was armed just now: what came before is looked at once more. */
		if (client_map_reap(k, false))
			return;
	}
	if (k->n_pending == MAP_PENDING)
		p[0].fd = -1;
	if (poll(p, WEFT_ARRAY_SIZE(p), k->n_pending > 0 || k->job != NULL ? LOOP_RETRY_MS : -1) <=
		0)
		return;
	while (p[1].revents != 0 && read(k->bell, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

void *
client_map_run(void *mapper)
{
	struct mapper *k = mapper;
	bool is_busy;

	while (!k->is_ended) {
		loop_look_at_clock(k);
		is_busy = loop_take_faults(k);
		is_busy |= loop_serve(k);
		is_busy |= client_map_reap(k, false);
		is_busy |= loop_work(k);
		client_map_publish(k);
		if (is_busy)
			k->busy_ns = k->now_ns;
		else if (k->now_ns - k->busy_ns >= k->spin_ns)
			loop_sleep(k);
	}
	return NULL;
}
