/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Attaching and detaching: options, the greeting, the block and the descriptors that it brings. */

#include "client_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTACH_ENTRIES 256
#define ATTACH_BUFFER (UINT64_C(1) << 20)
#define ATTACH_SPIN_NS 20000
#define ATTACH_MAP_CACHE (UINT64_C(64) << 20)
#define ATTACH_MAP_CACHE_MAX (UINT64_C(1) << 42)

/* Of this thread's last weft_attach(), or call of a map. */
static __thread char attach_error[CLIENT_TEXT];
/* Whose map it is about, as the last thing that failed here: a mapper's number; 0: another. */
static __thread uint64_t attach_error_of;

char *
client_thread_error(void)
{
	return attach_error;
}

void
client_thread_error_is_of(uint64_t mapper)
{
	attach_error_of = mapper;
}

char *
client_error(struct weft *w)
{
	attach_error_of = 0;
	return w->error;
}

/* A caller that was built with a smaller struct has zeros in the rest; one with a larger, must. */
static int
attach_copy_opts(const struct weft_attach_opts *from, struct weft_attach_opts *o)
{
	const uint8_t *bytes = (const uint8_t *)from;
	size_t len, i;

	*o = (struct weft_attach_opts){ 0 };
	if (from == NULL)
		return 0;
	len = from->size == 0 || from->size > sizeof(*o) ? sizeof(*o) : from->size;
	for (i = sizeof(*o); i < from->size; i++)
		if (bytes[i] != 0)
			return weft_errorf(attach_error, CLIENT_TEXT, -EINVAL,
				"opts: byte %zu of %zu is set: this library knows %zu", i,
				from->size, sizeof(*o));
	memcpy(o, from, len);
	if (o->size == 0 &&
		(o->entries != 0 || o->buffer != 0 || o->spin_ns != 0 || o->map_cache != 0))
		return weft_errorf(attach_error, CLIENT_TEXT, -EINVAL,
			"opts.size is 0 and another member is not: expected sizeof(struct "
			"weft_attach_opts)");
	return 0;
}

/* @return 0: it can be asked for */
static int
attach_settle_opts(struct weft_attach_opts *o)
{
	const uint64_t page = WEFT_ATTACH_PAGE;
	uint64_t least;

	if (o->entries == 0)
		o->entries = ATTACH_ENTRIES;
	if (o->entries < WEFT_ATTACH_ENTRIES_MIN || o->entries > WEFT_ATTACH_ENTRIES_MAX ||
		(o->entries & (o->entries - 1)) != 0)
		return weft_errorf(attach_error, CLIENT_TEXT, -EINVAL,
			"opts.entries is %u: expected a power of two, %d to %d", o->entries,
			WEFT_ATTACH_ENTRIES_MIN, WEFT_ATTACH_ENTRIES_MAX);
	least = (uint64_t)o->entries * CLIENT_SLOT + page;
	if (o->buffer == 0)
		o->buffer = ATTACH_BUFFER;
	if (o->buffer < least || o->buffer > WEFT_ATTACH_DATA_MAX)
		return weft_errorf(attach_error, CLIENT_TEXT, -EINVAL,
			"opts.buffer is %llu bytes: expected %llu (with %u entries) to %llu",
			(unsigned long long)o->buffer, (unsigned long long)least, o->entries,
			(unsigned long long)WEFT_ATTACH_DATA_MAX);
	o->buffer = (o->buffer + page - 1) / page * page;
	if (o->spin_ns < -1)
		return weft_errorf(attach_error, CLIENT_TEXT, -EINVAL,
			"opts.spin_ns is %lld: expected nanoseconds, 0 for %d, or -1 for never",
			(long long)o->spin_ns, ATTACH_SPIN_NS);
	o->spin_ns = o->spin_ns == 0 ? ATTACH_SPIN_NS : o->spin_ns < 0 ? 0 : o->spin_ns;
	if (o->map_cache > ATTACH_MAP_CACHE_MAX)
		return weft_errorf(attach_error, CLIENT_TEXT, -EINVAL,
			"opts.map_cache is %llu bytes: expected up to %llu, or 0 for %llu",
			(unsigned long long)o->map_cache, (unsigned long long)ATTACH_MAP_CACHE_MAX,
			(unsigned long long)ATTACH_MAP_CACHE);
	if (o->map_cache == 0)
		o->map_cache = ATTACH_MAP_CACHE;
	return 0;
}

/* A block that could become smaller would kill this process where it is read. */
static bool
attach_is_block(int fd, uint64_t len)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &st) == 0 &&
	       st.st_size >= 0 && (uint64_t)st.st_size >= len;
}

/* Where things are in a block. */
static void
attach_lay(struct weft *w, uint8_t *base, const struct weft_attach_layout *l, uint32_t entries)
{
	w->head = (struct weft_attach_head *)(void *)base;
	w->sqe = (struct weft_attach_sqe *)(void *)(base + l->sq_off);
	w->cqe = (const struct weft_attach_cqe *)(void *)(base + l->cq_off);
	w->data = base + l->data_off;
	w->entries = entries;
}

static int
attach_map(struct weft *w, const struct weft_attach_answer *a, int fd)
{
	struct weft_attach_layout l;
	uint8_t *base;

	if (weft_attach_layout(a->entries, a->data_len, &l) != 0 ||
		a->data_len < (uint64_t)a->entries * CLIENT_SLOT + WEFT_ATTACH_PAGE ||
		!attach_is_block(fd, l.len))
		return weft_errorf(attach_error, CLIENT_TEXT, -EPROTO,
			"%s: the daemon's block of %u entries and %llu bytes is none: restart it",
			w->path, a->entries, (unsigned long long)a->data_len);
	base = mmap(NULL, l.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return weft_errorf(attach_error, CLIENT_TEXT, -ENOMEM, "%s: mapping %llu bytes: %s",
			w->path, (unsigned long long)l.len, strerror(errno));
	w->block = base;
	w->block_len = l.len;
	attach_lay(w, base, &l, a->entries);
	if (w->head->magic == WEFT_ATTACH_MAGIC && w->head->version == WEFT_ATTACH_VERSION &&
		w->head->entries == a->entries && w->head->data_off == l.data_off &&
		w->head->data_len == a->data_len)
		return 0;
	return weft_errorf(attach_error, CLIENT_TEXT, -EPROTO,
		"%s: the head of the daemon's block does not say what its answer does: restart it",
		w->path);
}

/* What the library keeps of each operation. */
static int
attach_keep(struct weft *w, uint64_t data_len)
{
	const uint64_t slots = (uint64_t)w->entries * CLIENT_SLOT;
	uint32_t i;

	w->ops = calloc(w->entries, sizeof(*w->ops));
	w->unused = calloc(w->entries, sizeof(*w->unused));
	if (w->ops == NULL || w->unused == NULL ||
		client_pages_init(&w->pages, (uint32_t)((data_len - slots) / WEFT_ATTACH_PAGE)) !=
			0)
		return weft_errorf(attach_error, CLIENT_TEXT, -ENOMEM,
			"%s: no memory for %u entries", w->path, w->entries);
	/* The data area holds four at least, if it has as many pages. */
	w->pages.piece = CLIENT_PIECE;
	while (w->pages.piece > WEFT_ATTACH_PAGE && w->pages.piece * 4 > data_len - slots)
		w->pages.piece /= 2;
	for (i = 0; i < w->entries; i++)
		w->unused[i] = (uint16_t)(w->entries - 1 - i);
	return 0;
}

/* One descriptor for what weft_wait() sleeps on. */
static int
attach_watch(struct weft *w)
{
	struct epoll_event in = { .events = EPOLLIN }, hup = { .events = EPOLLRDHUP };

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	/* Neither a signal nor taking it may stop this process. */
	if (w->epoll >= 0 && epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->to_client, &in) == 0 &&
		epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->socket, &hup) == 0 &&
		fcntl(w->to_client, F_SETFL, O_NONBLOCK) == 0 &&
		fcntl(w->to_daemon, F_SETFL, O_NONBLOCK) == 0)
		return 0;
	return weft_errorf(attach_error, CLIENT_TEXT, errno == EMFILE ? -EMFILE : -EPROTO,
		"%s: watching the daemon's descriptors: %s", w->path, strerror(errno));
}

static int
attach_greet(struct weft *w, const struct weft_attach_opts *o)
{
	struct weft_attach_request q = {
		.call = WEFT_ATTACH_HELLO, .entries = o->entries, .data_len = o->buffer
	};
	struct weft_attach_answer a;
	int fds[WEFT_ATTACH_FDS], rc;

	rc = client_exchange(w->socket, w->path, &q, &a, fds, attach_error);
	if (rc != 0)
		return rc;
	w->to_daemon = fds[WEFT_ATTACH_FD_TO_DAEMON];
	w->to_client = fds[WEFT_ATTACH_FD_TO_CLIENT];
	rc = attach_map(w, &a, fds[WEFT_ATTACH_FD_BLOCK]);
	close(fds[WEFT_ATTACH_FD_BLOCK]);
	if (rc == 0)
		rc = attach_keep(w, a.data_len);
	if (rc == 0)
		rc = attach_watch(w);
	memcpy(w->node, a.node, sizeof(w->node));
	w->features = a.features;
	return rc;
}

int
weft_attach(const char *socket, const struct weft_attach_opts *opts, struct weft **out)
{
	struct weft_attach_opts o;
	struct weft *w;
	int rc;

	*out = NULL;
	attach_error_of = 0;
	rc = attach_copy_opts(opts, &o);
	if (rc == 0)
		rc = attach_settle_opts(&o);
	if (rc != 0)
		return rc;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return weft_errorf(attach_error, CLIENT_TEXT, -ENOMEM, "no memory to attach");
	w->to_daemon = w->to_client = w->epoll = -1;
	w->spin_ns = o.spin_ns;
	w->map_cache = o.map_cache;
	w->socket = rc = client_connect(socket, w->path, attach_error);
	if (rc >= 0)
		rc = attach_greet(w, &o);
	if (rc < 0) {
		weft_detach(w);
		return rc;
	}
	*out = w;
	return 0;
}

int
client_make(struct weft **out, void *block, uint32_t entries, uint64_t data_len)
{
	struct weft_attach_layout l;
	struct weft *w;
	int rc = weft_attach_layout(entries, data_len, &l);

	if (rc != 0)
		return rc;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return -ENOMEM;
	w->socket = w->to_daemon = w->to_client = w->epoll = -1;
	attach_lay(w, block, &l, entries);
	rc = attach_keep(w, data_len);
	if (rc != 0) {
		weft_detach(w);
		return rc;
	}
	*out = w;
	return 0;
}

static void
attach_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

void
weft_detach(struct weft *w)
{
	struct weft_region *r;

	if (w == NULL)
		return;
	client_map_end(w->mapper);
	while ((r = w->regions) != NULL) {
		w->regions = r->next;
		free(r);
	}
	attach_close(w->epoll);
	attach_close(w->to_client);
	attach_close(w->to_daemon);
	attach_close(w->socket);
	if (w->block != NULL)
		munmap(w->block, w->block_len);
	free(w->pages.used);
	free(w->unused);
	free(w->ops);
	free(w);
}

const char *
weft_error(const struct weft *w)
{
	/* A map is any thread's: its line is kept by who called, not where others write. */
	if (w == NULL || (w->mapper != NULL && client_map_number(w->mapper) == attach_error_of))
		return attach_error;
	return w->error;
}

const char *
weft_node(const struct weft *w)
{
	return w->node;
}
