/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Maps: the calls. The first map of a struct weft makes its mapper (map_priv.h); each call is a job
 * for that thread, which the caller waits for. A map is found by its address among all of this
 * process.
 */

#include "map_priv.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAP_ENTRIES 256
#define MAP_BUFFERS 384 /* pages: what is fetched at a time, and more to write back */

/* All mappers of this process, and their arenas. */
static pthread_mutex_t map_all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapper *map_all;
static uint64_t map_last; /* number */

void
client_map_lock_all(void)
{
	pthread_mutex_lock(&map_all_lock);
}

void
client_map_unlock_all(void)
{
	pthread_mutex_unlock(&map_all_lock);
}

uint64_t
client_map_number(const struct mapper *k)
{
	return k->number;
}

/* --- jobs --- */

static int
map_run(struct mapper *k, struct map_job *j)
{
	const uint64_t one = 1;

	j->tid = (uint32_t)gettid();
	pthread_mutex_lock(&k->jobs.lock);
	if (k->jobs.first == NULL)
		k->jobs.first = j;
	else
		k->jobs.last->next = j;
	k->jobs.last = j;
	__atomic_fetch_add(&k->jobs.n, 1, __ATOMIC_RELEASE);
	/* It fails only where it is full, which wakes as well. */
	if (write(k->bell, &one, sizeof(one)) < 0)
		assert(errno == EAGAIN);
	while (!j->is_done)
		pthread_cond_wait(&k->jobs.is_done, &k->jobs.lock);
	pthread_mutex_unlock(&k->jobs.lock);
	return j->status;
}

/*
 * For the map that has an address. @p judged: 0, or what the call ends with, whose line stands in
 * client_thread_error(): it is that map's as well.
 */
static int
map_run_at(struct map_job *j, int judged)
{
	struct mapper *k, *found = NULL;
	uint64_t number = 0;
	uint32_t i;

	client_map_lock_all();
	for (k = map_all; k != NULL && found == NULL; k = k->next)
		for (i = 0; i < k->space.n_arenas; i++)
			if (j->p >= k->space.arena[i].at &&
				j->p < k->space.arena[i].at + k->space.arena[i].len)
				found = k;
	if (found != NULL)
		number = found->number;
	client_map_unlock_all();
	j->err = client_thread_error();
	if (found != NULL) {
		const int rc = judged != 0 ? judged : map_run(found, j);

		client_thread_error_is_of(rc == 0 ? 0 : number);
		return rc;
	}
	client_thread_error_is_of(0);
	return weft_errorf(
		j->err, CLIENT_TEXT, -EINVAL, "map: %p is no address of a map", (void *)j->p);
}

/* --- the mapper --- */

static int
map_cpus(void)
{
	cpu_set_t set;

	/* It fails where there are more than the set has room for. */
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : CPU_SETSIZE;
}

static void
map_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Frames, twins and buffers, of which only those that are used take memory. */
static uint64_t
map_memory(struct mapper *k, uint8_t *at)
{
	const uint64_t frames = k->cache.n_frames * sizeof(struct map_frame);
	const uint64_t staging = MAP_FETCHES * MAP_PIECE * k->page;
	uint64_t len = 0;
	uint32_t i;

	k->cache.twins = at;
	len += k->cache.n_frames * k->page;
	k->staging = at + len;
	len += staging;
	k->scratch = at + len;
	len += k->page;
	k->cache.frame = (struct map_frame *)(void *)(at + len);
	len += frames;
	k->cache.free = MAP_NONE;
	k->free_fetch = MAP_NONE;
	for (i = MAP_FETCHES; i-- > 0;) {
		k->fetch[i].buf = k->staging + i * MAP_PIECE * k->page;
		k->fetch[i].next = k->free_fetch;
		k->free_fetch = i;
	}
	return len;
}

static int
map_reserve(struct mapper *k, char *err)
{
	const uint64_t len = map_memory(k, NULL);
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		k->cache.twins = NULL;
		return weft_errorf(err, CLIENT_TEXT, -ENOMEM,
			"map: no memory for a cache of %llu bytes",
			(unsigned long long)(k->cache.limit * k->page));
	}
	map_memory(k, at);
	k->memory_len = len;
	return 0;
}

/* An attachment of its own, of the same host. */
static int
map_attach(struct mapper *k, const struct weft *w, char *err)
{
	struct weft_attach_opts o = { .size = sizeof(o), .entries = MAP_ENTRIES };
	int rc;

	o.buffer = MAP_ENTRIES * CLIENT_SLOT + MAP_BUFFERS * k->page;
	o.spin_ns = w->spin_ns == 0 ? -1 : w->spin_ns;
	rc = weft_attach(w->path, &o, &k->w);
	return rc == 0 ? 0 : weft_errorf(err, CLIENT_TEXT, rc, "map: %s", client_thread_error());
}

static void
map_free(struct mapper *k)
{
	client_map_arenas_end(k);
	client_map_regions_end(k);
	map_close(k->uffd);
	map_close(k->space.file);
	map_close(k->space.hole);
	map_close(k->bell);
	if (k->cache.twins != NULL)
		munmap(k->cache.twins, k->memory_len);
	weft_detach(k->w);
	free(k);
}

/* Its thread takes no signal of the program's. */
static int
map_begin_thread(struct mapper *k, char *err)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&k->thread, NULL, client_map_run, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* For who looks at threads; nothing hangs on it. */
	if (rc == 0)
		pthread_setname_np(k->thread, "weft-map");
	return rc == 0 ? 0 : weft_errorf(err, CLIENT_TEXT, -rc, "map: a thread: %s", strerror(rc));
}

static int
map_prepare(struct mapper *k, const struct weft *w, char *err)
{
	int rc;

	k->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k->bell < 0)
		return weft_errorf(
			err, CLIENT_TEXT, -errno, "map: an eventfd: %s", strerror(errno));
	rc = client_map_uffd_open(k, err);
	if (rc == 0)
		rc = client_map_file_open(k, err);
	if (rc == 0)
		rc = map_reserve(k, err);
	if (rc == 0)
		rc = map_attach(k, w, err);
	if (rc == 0)
		rc = map_begin_thread(k, err);
	return rc;
}

static int
map_begin(struct weft *w)
{
	struct mapper *k = calloc(1, sizeof(*k));
	const uint64_t limit = w->map_cache / (uint64_t)sysconf(_SC_PAGESIZE);
	int rc;

	if (k == NULL)
		return weft_errorf(client_error(w), CLIENT_TEXT, -ENOMEM, "no memory to map");
	k->bell = k->uffd = k->space.file = k->space.hole = -1;
	k->page = (uint64_t)sysconf(_SC_PAGESIZE);
	k->cache.limit = limit == 0 ? 1 : (uint32_t)limit;
	k->cache.n_frames = k->cache.limit + MAP_SPARE;
	k->spin_ns = map_cpus() > 1 ? w->spin_ns : 0;
	pthread_mutex_init(&k->jobs.lock, NULL);
	pthread_cond_init(&k->jobs.is_done, NULL);
	rc = map_prepare(k, w, client_error(w));
	if (rc != 0) {
		map_free(k);
		return rc;
	}
	w->mapper = k;
	client_map_lock_all();
	k->number = ++map_last;
	k->next = map_all;
	map_all = k;
	client_map_unlock_all();
	return 0;
}

void
client_map_end(struct mapper *k)
{
	char err[CLIENT_TEXT];
	struct map_job j = { .kind = MAP_JOB_END, .err = err };
	struct mapper **at;

	if (k == NULL)
		return;
	client_map_lock_all();
	for (at = &map_all; *at != k; at = &(*at)->next)
		;
	*at = k->next;
	client_map_unlock_all();
	map_run(k, &j);
	pthread_join(k->thread, NULL);
	map_free(k);
}

void
client_map_forget(struct mapper *k, struct map_region *mapped)
{
	char err[CLIENT_TEXT];
	struct map_job j = { .kind = MAP_JOB_FORGET, .err = err, .forget = mapped };

	if (mapped != NULL)
		map_run(k, &j);
}

/* --- calls --- */

static int
map_judge(const struct weft_region *r, uint64_t off, size_t n, int flags)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct weft *w = r->w;

	if (off % page != 0)
		return weft_errorf(client_error(w), CLIENT_TEXT, -EINVAL,
			"map of \"%s\" at offset 0x%llx: expected a multiple of %llu", r->name,
			(unsigned long long)off, (unsigned long long)page);
	if (n == 0 || off > r->size || n > r->size - off)
		return weft_errorf(client_error(w), CLIENT_TEXT, -EINVAL,
			"map of \"%s\" of %zu bytes at offset 0x%llx: expected 1 byte or more, "
			"within its 0x%llx bytes",
			r->name, n, (unsigned long long)off, (unsigned long long)r->size);
	if (r->is_uio && n % CLIENT_UIO_ALIGN != 0)
		return weft_errorf(client_error(w), CLIENT_TEXT, -EINVAL,
			"map of \"%s\" of %zu bytes: expected a multiple of %u, as it was opened "
			"with "
			"WEFT_UIO",
			r->name, n, CLIENT_UIO_ALIGN);
	if ((flags & ~(int)(WEFT_READ | WEFT_WRITE)) != 0 ||
		(flags != 0 && (flags & (int)WEFT_READ) == 0))
		return weft_errorf(client_error(w), CLIENT_TEXT, -EINVAL,
			"map of \"%s\": flags are 0x%x: expected 0, WEFT_READ, or that with "
			"WEFT_WRITE",
			r->name, (unsigned int)flags);
	if (((unsigned int)flags & ~r->rights) != 0 || (r->rights & WEFT_READ) == 0)
		return weft_errorf(client_error(w), CLIENT_TEXT, -EACCES,
			"map of \"%s\": it was not opened for that: open it with WEFT_READ%s",
			r->name, (flags & (int)WEFT_WRITE) != 0 ? " and WEFT_WRITE" : "");
	return client_is_over(w) ? client_say_over(w) : 0;
}

int
weft_map(struct weft_region *r, uint64_t off, size_t n, int flags, void **p)
{
	struct weft *w = r->w;
	struct map_job j = { .kind = MAP_JOB_MAP, .err = client_error(w), .region = r, .off = off };
	int rc = map_judge(r, off, n, flags);

	*p = NULL;
	if (rc == 0 && w->mapper == NULL)
		rc = map_begin(w);
	if (rc != 0)
		return rc;
	j.n = n;
	j.what = flags != 0 ? flags : (int)r->rights;
	rc = map_run(w->mapper, &j);
	*p = j.p;
	return rc;
}

int
weft_unmap(void *p)
{
	struct map_job j = { .kind = MAP_JOB_UNMAP, .p = p };

	return map_run_at(&j, 0);
}

int
weft_sync(void *p, size_t n, int flags)
{
	struct map_job j = { .kind = MAP_JOB_SYNC, .p = p, .len = n, .what = flags };
	int rc = 0;

	if (flags != 0 && flags != WEFT_DROP)
		rc = weft_errorf(client_thread_error(), CLIENT_TEXT, -EINVAL,
			"map: sync with flags 0x%x: expected 0 or WEFT_DROP", (unsigned int)flags);
	return map_run_at(&j, rc);
}

int
weft_advise(void *p, size_t n, int what)
{
	struct map_job j = { .kind = MAP_JOB_ADVISE, .p = p, .len = n, .what = what };
	int rc = 0;

	switch (what) {
	case WEFT_NORMAL:
	case WEFT_SEQUENTIAL:
	case WEFT_RANDOM: break;
	case WEFT_PREFETCH:
	case WEFT_PREFETCH_WRITE: j.kind = MAP_JOB_FETCH; break;
	case WEFT_DROP: j.kind = MAP_JOB_DROP; break;
	default:
		rc = weft_errorf(client_thread_error(), CLIENT_TEXT, -EINVAL,
			"map: advice %d: expected one of enum weft_advice", what);
	}
	return map_run_at(&j, rc);
}

void
weft_map_counters(struct weft *w, struct weft_map_counters *c)
{
	char err[CLIENT_TEXT];
	struct map_job j = { .kind = MAP_JOB_COUNT, .err = err, .counters = c };

	*c = (struct weft_map_counters){ 0 };
	if (w->mapper != NULL)
		map_run(w->mapper, &j);
}
