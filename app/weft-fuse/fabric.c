/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Attachments of threads, and the epoch: how many daemons have gone so far. A file and an
 * attachment go together only within an epoch.
 */

#include "fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "regions.h"

/* The main thread's attachment moves nothing. */
#define KEEPER_ENTRIES 16
#define KEEPER_BUFFER 8192

static struct {
	const char *target; /* as for weft_attach() */
	char node[WEFT_NAME_LEN];
	struct weft *w; /* of the main thread; NULL: there is no daemon */
	int event; /* somebody asked */
	uint64_t epoch; /* atomic */
	uint64_t last_file; /* atomic */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t answer;
	uint64_t asked, answered;
	bool is_there;
	bool is_stopped;
} fabric = { .event = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .answer = PTHREAD_COND_INITIALIZER };

static uint64_t
fabric_epoch(void)
{
	return __atomic_load_n(&fabric.epoch, __ATOMIC_ACQUIRE);
}

/* --- main thread --- */

static int
fabric_attach_keeper(void)
{
	const struct weft_attach_opts opts = {
		.size = sizeof(opts), .entries = KEEPER_ENTRIES, .buffer = KEEPER_BUFFER
	};

	return weft_attach(fabric.target, &opts, &fabric.w);
}

int
fabric_begin(const char *target)
{
	const char *env = getenv("WEFT_SOCKET");
	int rc;

	fabric.target = target;
	rc = fabric_attach_keeper();
	if (rc != 0)
		return rc;
	strcpy(fabric.node, weft_node(fabric.w));
	/* It was the only one; the daemon may come back beside others. */
	if (target == NULL && (env == NULL || env[0] == '\0'))
		fabric.target = fabric.node;
	fabric.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fabric.is_there = true;
	return fabric.event < 0 ? -errno : 0;
}

const char *
fabric_node(void)
{
	return fabric.node;
}

void
fabric_fds(int fds[2])
{
	fds[0] = fabric.event;
	fds[1] = fabric.w != NULL ? weft_fd(fabric.w) : -1;
}

bool
fabric_keep(void)
{
	bool is_lost = false;
	uint64_t asked, n;

	if (read(fabric.event, &n, sizeof(n)) < 0)
		n = 0;
	pthread_mutex_lock(&fabric.lock);
	asked = fabric.asked;
	pthread_mutex_unlock(&fabric.lock);
	if (fabric.w != NULL && weft_regions(fabric.w, NULL, 0) == -ESHUTDOWN) {
		weft_detach(fabric.w);
		fabric.w = NULL;
		__atomic_add_fetch(&fabric.epoch, 1, __ATOMIC_RELEASE);
		is_lost = true;
	}
	if (fabric.w == NULL && asked != fabric.answered)
		(void)fabric_attach_keeper();
	pthread_mutex_lock(&fabric.lock);
	fabric.is_there = fabric.w != NULL;
	fabric.answered = asked;
	pthread_cond_broadcast(&fabric.answer);
	pthread_mutex_unlock(&fabric.lock);
	return is_lost;
}

void
fabric_stop(void)
{
	pthread_mutex_lock(&fabric.lock);
	fabric.is_stopped = true;
	pthread_cond_broadcast(&fabric.answer);
	pthread_mutex_unlock(&fabric.lock);
}

void
fabric_end(void)
{
	weft_detach(fabric.w);
	fabric.w = NULL;
	if (fabric.event >= 0)
		close(fabric.event);
	fabric.event = -1;
}

/* --- threads --- */

static void
fabric_poke(void)
{
	const uint64_t one = 1;

	/* It fails only where it would say the same once more. */
	if (write(fabric.event, &one, sizeof(one)) < 0)
		return;
}

/* Have the main thread look for the daemon now. @return there is one */
static bool
fabric_look(void)
{
	uint64_t mine;
	bool is_there;

	pthread_mutex_lock(&fabric.lock);
	mine = ++fabric.asked;
	fabric_poke();
	while (fabric.answered < mine && !fabric.is_stopped)
		pthread_cond_wait(&fabric.answer, &fabric.lock);
	is_there = fabric.is_there && !fabric.is_stopped;
	pthread_mutex_unlock(&fabric.lock);
	return is_there;
}

static bool
fabric_is_there(void)
{
	bool is_there;

	pthread_mutex_lock(&fabric.lock);
	is_there = fabric.is_there;
	pthread_mutex_unlock(&fabric.lock);
	return is_there;
}

void
fabric_detach(struct fabric_client *c)
{
	weft_detach(c->w);
	*c = (struct fabric_client){ 0 };
}

int
fabric_attach(struct fabric_client *c)
{
	const uint64_t epoch = fabric_epoch();
	int rc;

	fabric_detach(c);
	rc = weft_attach(fabric.target, NULL, &c->w);
	c->epoch = epoch;
	return rc;
}

/* Attached to the daemon that is there. @return 0 or -ESHUTDOWN */
static int
fabric_ready(struct fabric_client *c)
{
	if (c->w != NULL && c->epoch == fabric_epoch())
		return 0;
	return fabric_attach(c) == 0 ? 0 : -ESHUTDOWN;
}

/* The attachment is over: so is what was open in it. */
static int
fabric_lose(struct fabric_client *c, int rc)
{
	if (rc == -ESHUTDOWN)
		fabric_detach(c);
	return rc;
}

static struct fabric_slot *
fabric_oldest(struct fabric_client *c)
{
	struct fabric_slot *s = &c->slot[0];

	for (int i = 1; i < FABRIC_SLOTS; i++)
		if (c->slot[i].used < s->used)
			s = &c->slot[i];
	return s;
}

/* Open region @p name for a file, in place of one that was not asked for since longest. */
static int
fabric_fill(struct fabric_client *c, const struct fabric_file *f, const char *name,
	struct weft_region_info *info, struct fabric_slot **slot)
{
	struct fabric_slot *s = fabric_oldest(c);
	int rc;

	weft_close(s->r);
	*s = (struct fabric_slot){ 0 };
	rc = weft_open(c->w, name, f->rights, &s->r);
	if (rc == 0)
		rc = weft_info(s->r, info);
	if (rc != 0) {
		weft_close(s->r);
		s->r = NULL;
		return fabric_lose(c, rc);
	}
	s->file = f->id;
	s->used = ++c->used;
	*slot = s;
	return 0;
}

int
fabric_list(struct fabric_client *c, struct weft_region_info **list)
{
	int rc, tries = 0;

	do {
		rc = fabric_is_there() ? fabric_ready(c) : -ESHUTDOWN;
		if (rc == 0)
			rc = fabric_lose(c, regions_list(c->w, list));
	} while (rc == -ESHUTDOWN && tries++ == 0 && fabric_look());
	return rc == -ESHUTDOWN ? -EIO : rc;
}

int
fabric_open(struct fabric_client *c, struct fabric_file *f, struct weft_region_info *info)
{
	struct fabric_slot *s;
	int rc, tries = 0;

	f->id = __atomic_add_fetch(&fabric.last_file, 1, __ATOMIC_RELAXED);
	f->is_lost = f->is_asked = false;
	do {
		rc = fabric_is_there() ? fabric_ready(c) : -ESHUTDOWN;
		if (rc == 0)
			rc = fabric_fill(c, f, f->name, info, &s);
	} while (rc == -ESHUTDOWN && tries++ == 0 && fabric_look());
	if (rc != 0)
		return rc == -ESHUTDOWN ? -EIO : rc;
	f->epoch = c->epoch;
	f->size = info->size;
	f->generation = info->generation;
	f->is_asked = info->generation != 0;
	return 0;
}

static struct fabric_slot *
fabric_find(struct fabric_client *c, const struct fabric_file *f)
{
	for (int i = 0; i < FABRIC_SLOTS; i++)
		if (c->slot[i].file == f->id)
			return &c->slot[i];
	return NULL;
}

void
fabric_close(struct fabric_client *c, const struct fabric_file *f)
{
	struct fabric_slot *s = fabric_find(c, f);

	/* Other threads close theirs when they need the slot. */
	if (s != NULL) {
		weft_close(s->r);
		*s = (struct fabric_slot){ 0 };
	}
}

/* The same memory: what was not known yet is from now on. */
static bool
fabric_is_same(struct fabric_file *f, const struct weft_region_info *info)
{
	uint64_t known = 0;

	if (info->size != f->size)
		return false;
	if (info->generation == 0 ||
		__atomic_compare_exchange_n(&f->generation, &known, info->generation, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return true;
	return known == info->generation;
}

bool
fabric_learn(struct fabric_client *c, struct fabric_file *f, struct weft_region_info *info)
{
	const struct fabric_slot *s;

	/* Another thread may know it since it opened the region, and have told nobody. */
	if (__atomic_load_n(&f->is_asked, __ATOMIC_RELAXED) ||
		__atomic_exchange_n(&f->is_asked, true, __ATOMIC_RELAXED))
		return false;
	s = fabric_find(c, f);
	return s != NULL && weft_info(s->r, info) == 0 && info->generation != 0 &&
	       fabric_is_same(f, info);
}

/* A file that another thread opened: as much of the region as it had then. */
static int
fabric_fill_again(struct fabric_client *c, struct fabric_file *f, struct fabric_slot **s)
{
	char name[WEFT_NAME_LEN + 32];
	struct weft_region_info info;
	int rc;

	/* A part is called by its size. */
	if (strchr(f->name, ':') != NULL)
		snprintf(name, sizeof(name), "%s", f->name);
	else
		snprintf(name, sizeof(name), "%s:0+%" PRIu64, f->name, f->size);
	rc = fabric_fill(c, f, name, &info, s);
	/* It was there: the host may not reach it any more, or not as much of it. */
	if (rc == -ENOENT || rc == -ERANGE)
		return -EACCES;
	if (rc == 0 && !fabric_is_same(f, &info)) {
		fabric_close(c, f);
		return -ESTALE;
	}
	return rc;
}

/* The region of a file in this thread's attachment. */
static int
fabric_region(struct fabric_client *c, struct fabric_file *f, struct weft_region **r)
{
	struct fabric_slot *s;
	int rc;

	if (__atomic_load_n(&f->is_lost, __ATOMIC_RELAXED) || f->epoch != fabric_epoch())
		return -EIO;
	rc = fabric_ready(c);
	if (rc != 0)
		return rc;
	s = fabric_find(c, f);
	if (s == NULL)
		rc = fabric_fill_again(c, f, &s);
	if (rc == 0) {
		s->used = ++c->used;
		*r = s->r;
	}
	return rc;
}

/* An operation on a file has ended. */
static int
fabric_done(struct fabric_client *c, struct fabric_file *f, int rc)
{
	if (rc != -ESHUTDOWN)
		return rc;
	__atomic_store_n(&f->is_lost, true, __ATOMIC_RELAXED);
	fabric_detach(c);
	fabric_poke();
	return -EIO;
}

int
fabric_read(struct fabric_client *c, struct fabric_file *f, uint64_t off, void *buf, size_t n)
{
	struct weft_region *r;
	const int rc = fabric_region(c, f, &r);

	return fabric_done(c, f, rc != 0 ? rc : weft_read(r, off, buf, n));
}

int
fabric_write(
	struct fabric_client *c, struct fabric_file *f, uint64_t off, const void *buf, size_t n)
{
	struct weft_region *r;
	const int rc = fabric_region(c, f, &r);

	return fabric_done(c, f, rc != 0 ? rc : weft_write(r, off, buf, n));
}

int
fabric_fence(struct fabric_client *c, struct fabric_file *f)
{
	struct weft_region_info info;
	struct weft_region *r;
	int rc = fabric_region(c, f, &r);

	if (rc == 0)
		rc = weft_fence(r);
	/* A fence asks no memory: what was written before may have been lost with it. */
	if (rc == 0)
		rc = weft_info(r, &info);
	if (rc == 0 && !fabric_is_same(f, &info))
		rc = -ESTALE;
	return fabric_done(c, f, rc);
}

void
fabric_copy(struct fabric_file *to, const struct fabric_file *f)
{
	*to = (struct fabric_file){
		.id = __atomic_add_fetch(&fabric.last_file, 1, __ATOMIC_RELAXED),
		.epoch = f->epoch,
		.size = f->size,
		.generation = __atomic_load_n(&f->generation, __ATOMIC_RELAXED),
		.rights = WEFT_READ,
	};
	memcpy(to->name, f->name, sizeof(to->name));
}

int
fabric_ask(struct fabric_client *c, struct fabric_file *f, uint64_t off, void *buf, size_t n,
	uint64_t user)
{
	struct weft_op op = { .kind = WEFT_OP_READ, .off = off, .buf = buf, .n = n, .user = user };
	int rc = fabric_region(c, f, &op.region);

	if (rc == -EIO)
		return -ESHUTDOWN;
	if (rc == 0)
		rc = weft_submit(c->w, &op, 1);
	if (rc == -ESHUTDOWN)
		fabric_done(c, f, rc);
	return rc > 0 ? 0 : rc == 0 ? -EAGAIN : rc;
}

int
fabric_answers(struct fabric_client *c, struct weft_done *done, int n, int64_t timeout_ns)
{
	return fabric_lose(c, c->w == NULL ? -ESHUTDOWN : weft_wait(c->w, done, n, timeout_ns));
}
