/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * See watch.h. A region that is not there any more, or not for this host, says so at any line. In
 * cxl mode hosts do not hear of new memory: it is poisoned until it is written, so other lines are
 * tried each time, and the first that is poison tells. What is on its way when a GFD goes is not
 * answered for 15 s: the next is asked for nevertheless.
 *
 * An attachment has places for so many regions. One gives its place back when it was closed and all
 * that was asked of it is answered, as a region is closed only then; others wait for it.
 */

#include "watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve.h"
#include "weft_base.h"

#define WATCH_LINE 64
#define WATCH_STEP UINT64_C(0x9E3779B97F4A7C15) /* odd: numbers of lines come in no order */
#define WATCH_LOOKS 5 /* a second, whether all is to end */
#define WATCH_LOOK_NS INT64_C(200000000)
#define WATCH_MOST 16 /* lines of a region that are asked for at a time */
#define WATCH_ENDS 16

struct watch_region {
	struct watch_region *next;
	struct node *node; /* kept to the end */
	uint32_t n_open; /* 0: the thread frees it */
	bool is_over; /* nothing will ever come of it again. Atomic; set by the thread */
	/* The thread's; but for the name and the size, which stay. */
	struct fabric_file file;
	unsigned int n_asked;
	bool has_place; /* in the attachment */
	bool is_poisoned; /* what was found last */
};

static struct {
	pthread_t thread;
	struct fabric_client client; /* the thread's, as the next */
	uint8_t line[WATCH_LINE]; /* nobody looks at it */
	unsigned int n_places; /* that are taken */
	pthread_mutex_t lock; /* of what follows, and of each n_open */
	pthread_cond_t stop;
	struct watch_region *first;
	bool is_running;
	bool is_over;
} watch = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct watch_region *
watch_find(const struct node *node)
{
	struct watch_region *r = watch.first;

	while (r != NULL && (r->node != node || r->n_open == 0))
		r = r->next;
	return r;
}

/* It asks for what the file is: a part that has grown or shrunk since has another name and size. */
static bool
watch_is_same(const struct watch_region *r, const struct fabric_file *f)
{
	return r->file.size == f->size && strcmp(r->file.name, f->name) == 0 &&
	       !__atomic_load_n(&r->is_over, __ATOMIC_RELAXED);
}

/* In place of @p was, which may be NULL, and which stays where there is no memory. */
static struct watch_region *
watch_add(struct node *node, const struct fabric_file *f, struct watch_region *was)
{
	struct watch_region *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return was;
	r->node = node;
	fabric_copy(&r->file, f);
	r->next = watch.first;
	watch.first = r;
	if (was != NULL) {
		r->n_open = was->n_open;
		was->n_open = 0;
	}
	return r;
}

void
watch_open(struct node *node, const struct fabric_file *f)
{
	struct watch_region *r;

	if ((nodes_info(node).rights & WEFT_READ) == 0)
		return; /* the kernel has nothing of it either */
	pthread_mutex_lock(&watch.lock);
	r = watch_find(node);
	if (r == NULL || !watch_is_same(r, f))
		r = watch_add(node, f, r);
	if (r != NULL)
		r->n_open++;
	pthread_mutex_unlock(&watch.lock);
}

void
watch_close(const struct node *node)
{
	struct watch_region *r;

	pthread_mutex_lock(&watch.lock);
	r = watch_find(node);
	if (r != NULL)
		r->n_open--;
	pthread_mutex_unlock(&watch.lock);
}

/* The next that is open behind @p r, from the first on. */
static struct watch_region *
watch_next(struct watch_region *r)
{
	pthread_mutex_lock(&watch.lock);
	r = r == NULL ? watch.first : r->next;
	while (r != NULL && (r->n_open == 0 || __atomic_load_n(&r->is_over, __ATOMIC_RELAXED)))
		r = r->next;
	pthread_mutex_unlock(&watch.lock);
	return r;
}

/* --- its thread --- */

static void
watch_end_region(struct watch_region *r)
{
	__atomic_store_n(&r->is_over, true, __ATOMIC_RELAXED);
}

static void
watch_judge(struct watch_region *r, int status)
{
	switch (status) {
	case 0: r->is_poisoned = false; break;
	case -EIO:
		/* Once: the kernel may keep what others have written since. */
		if (!r->is_poisoned)
			serve_doubt(r->node);
		r->is_poisoned = true;
		break;
	case -ESTALE: watch_end_region(r); /* fallthrough */
	case -EACCES:
	case -ENXIO: serve_doubt(r->node); break;
	/* The main thread tells of a daemon that has gone. */
	case -ESHUTDOWN: watch_end_region(r); break;
	default: break;
	}
}

/* What was asked is not answered any more. */
static void
watch_forget(void)
{
	struct watch_region *r;

	if (watch.client.w != NULL)
		return;
	pthread_mutex_lock(&watch.lock);
	for (r = watch.first; r != NULL; r = r->next)
		r->n_asked = 0;
	pthread_mutex_unlock(&watch.lock);
}

/* False: all places are taken. */
static bool
watch_take_place(struct watch_region *r)
{
	if (!r->has_place && watch.n_places < FABRIC_SLOTS) {
		r->has_place = true;
		watch.n_places++;
	}
	return r->has_place;
}

static void
watch_ask(struct watch_region *r, uint64_t number)
{
	const uint64_t lines = r->file.size / WATCH_LINE;
	int rc;

	/* It attaches to the next daemon: nothing comes any more from the one before. */
	if (watch.client.w != NULL && watch.client.epoch < r->file.epoch)
		fabric_detach(&watch.client);
	watch_forget();
	if (lines == 0 || r->n_asked == WATCH_MOST || !watch_take_place(r))
		return;
	/* It may not have been known at open, and other memory have come before the first look. */
	if (r->file.generation == 0)
		r->file.generation = nodes_info(r->node).generation;
	rc = fabric_ask(&watch.client, &r->file, number * WATCH_STEP % lines * WATCH_LINE,
		watch.line, sizeof(watch.line), (uint64_t)(uintptr_t)r);
	if (rc == 0)
		r->n_asked++;
	else
		watch_judge(r, rc);
}

/* Answers that have come. */
static void
watch_listen(void)
{
	struct weft_done done[WATCH_ENDS];
	const int n = fabric_answers(&watch.client, done, WATCH_ENDS, 0);

	for (int i = 0; i < n; i++) {
		struct watch_region *r = (struct watch_region *)(uintptr_t)done[i].user;

		r->n_asked--;
		watch_judge(r, done[i].status);
	}
}

/* One that needs its place no more, or NULL. @p is_closed: it is in no list then. */
static struct watch_region *
watch_take_idle(bool *is_closed)
{
	struct watch_region **at, *r;

	pthread_mutex_lock(&watch.lock);
	for (at = &watch.first; (r = *at) != NULL; at = &r->next)
		if (r->n_asked == 0 && (r->n_open == 0 || (r->is_over && r->has_place)))
			break;
	*is_closed = r != NULL && r->n_open == 0;
	if (*is_closed)
		*at = r->next;
	pthread_mutex_unlock(&watch.lock);
	return r;
}

static void
watch_tidy(void)
{
	struct watch_region *r;
	bool is_closed;

	while ((r = watch_take_idle(&is_closed)) != NULL) {
		fabric_close(&watch.client, &r->file);
		watch.n_places -= r->has_place;
		r->has_place = false;
		if (is_closed)
			free(r);
	}
}

/* A moment. False: all is over. */
static bool
watch_sleep(void)
{
	struct timespec until;
	bool is_over;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WATCH_LOOK_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&watch.lock);
	while (!watch.is_over &&
		pthread_cond_timedwait(&watch.stop, &watch.lock, &until) != ETIMEDOUT)
		;
	is_over = watch.is_over;
	pthread_mutex_unlock(&watch.lock);
	return !is_over;
}

static void *
watch_main(void *arg)
{
	for (uint64_t number = 1; watch_sleep(); number++) {
		watch_tidy();
		if (number % WATCH_LOOKS == 0)
			for (struct watch_region *r = watch_next(NULL); r != NULL;
				r = watch_next(r))
				watch_ask(r, number);
		if (watch.client.w != NULL)
			watch_listen();
		watch_forget();
	}
	fabric_detach(&watch.client);
	return arg;
}

int
watch_begin(void)
{
	pthread_condattr_t attr;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watch.stop, &attr);
	pthread_condattr_destroy(&attr);
	rc = pthread_create(&watch.thread, NULL, watch_main, NULL);
	watch.is_running = rc == 0;
	return rc;
}

void
watch_end(void)
{
	struct watch_region *r;

	pthread_mutex_lock(&watch.lock);
	watch.is_over = true;
	pthread_cond_signal(&watch.stop);
	pthread_mutex_unlock(&watch.lock);
	if (watch.is_running)
		pthread_join(watch.thread, NULL);
	while ((r = watch.first) != NULL) {
		watch.first = r->next;
		free(r);
	}
}
