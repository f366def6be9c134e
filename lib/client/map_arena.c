/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Addresses of maps, and the file of memory behind them. Addresses are taken from the system and
 * registered many at a time (an arena); a map is a part of one, with a page between it and the
 * next. What is no map's has no rights.
 */

#include "map_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_LEAST (UINT64_C(1) << 30) /* each has twice the size of that before it, */
#define ARENA_MOST 8 /* times */

int
client_map_file_open(struct mapper *k, char *err)
{
	k->space.file = memfd_create("weft_map", MFD_CLOEXEC);
	/* It stays empty. */
	k->space.hole = memfd_create("weft_hole", MFD_CLOEXEC);
	if (k->space.file >= 0 && k->space.hole >= 0)
		return 0;
	return weft_errorf(
		err, CLIENT_TEXT, -errno, "map: a file for its pages: %s", strerror(errno));
}

static int
arena_add(struct mapper *k, uint64_t len)
{
	const int flags = MAP_SHARED | MAP_NORESERVE;
	struct map_arena *a = &k->space.arena[k->space.n_arenas];
	void *at;
	int rc;

	if (k->space.n_arenas == MAP_ARENAS)
		return -ENOMEM;
	if (ftruncate(k->space.file, (off_t)(k->space.len + len)) != 0)
		return errno == EMFILE ? -EMFILE : -ENOMEM;
	at = mmap(NULL, len, PROT_NONE, flags, k->space.file, (off_t)k->space.len);
	if (at == MAP_FAILED)
		return -ENOMEM;
	rc = client_map_register(k, at, len);
	/* A child would fill pages with zeros; a dump of them would have no end. */
	if (rc != 0 || madvise(at, len, MADV_DONTFORK) != 0 ||
		madvise(at, len, MADV_DONTDUMP) != 0) {
		munmap(at, len);
		return rc != 0 ? rc : -ENOMEM;
	}
	client_map_lock_all();
	*a = (struct map_arena){ .at = at, .len = len, .file_off = k->space.len };
	k->space.n_arenas++;
	client_map_unlock_all();
	k->space.len += len;
	return 0;
}

/* The first gap of an arena that has room; NULL: none. */
static uint8_t *
arena_gap(const struct mapper *k, const struct map_arena *a, uint64_t len)
{
	uint8_t *at = a->at;
	uint32_t i;

	if (a->is_torn)
		return NULL;
	for (i = 0; i < k->space.n_maps; i++) {
		const struct map *m = k->space.maps[i];

		if (m->at < a->at || m->at >= a->at + a->len)
			continue;
		if ((uint64_t)(m->at - at) >= len)
			return at;
		at = m->at + (m->n_pages + 1) * k->page;
	}
	return (uint64_t)(a->at + a->len - at) >= len ? at : NULL;
}

/* Where @m->at goes among the maps, which are in the order of addresses. */
static int
arena_insert(struct mapper *k, struct map *m)
{
	const uint32_t room = k->space.room == 0 ? 16 : k->space.room * 2;
	struct map **maps;
	uint32_t i;

	if (k->space.n_maps == k->space.room) {
		maps = realloc(k->space.maps, room * sizeof(*maps));
		if (maps == NULL)
			return -ENOMEM;
		k->space.maps = maps;
		k->space.room = room;
	}
	for (i = k->space.n_maps; i > 0 && k->space.maps[i - 1]->at > m->at; i--)
		k->space.maps[i] = k->space.maps[i - 1];
	k->space.maps[i] = m;
	k->space.n_maps++;
	return 0;
}

static void
arena_remove(struct mapper *k, const struct map *m)
{
	uint32_t i;

	for (i = 0; k->space.maps[i] != m; i++)
		;
	k->space.n_maps--;
	memmove(&k->space.maps[i], &k->space.maps[i + 1],
		(k->space.n_maps - i) * sizeof(struct map *));
}

int
client_map_place(struct mapper *k, struct map *m)
{
	const uint64_t len = (m->n_pages + 1) * k->page;
	uint64_t size = ARENA_LEAST
	                << (k->space.n_arenas < ARENA_MOST ? k->space.n_arenas : ARENA_MOST);
	uint32_t i;
	int rc = 0;

	if (len > (UINT64_C(1) << 46))
		return -ENOMEM;
	for (;;) {
		for (i = 0; i < k->space.n_arenas && m->at == NULL; i++) {
			m->at = arena_gap(k, &k->space.arena[i], len);
			if (m->at != NULL)
				m->file_off = k->space.arena[i].file_off +
				              (uint64_t)(m->at - k->space.arena[i].at);
		}
		if (m->at != NULL)
			break;
		rc = size > len ? arena_add(k, size) : -ENOMEM;
		/* As little as is needed, where there is no more. */
		if (rc == -ENOMEM)
			rc = arena_add(k, len);
		if (rc != 0)
			return rc;
	}
	rc = arena_insert(k, m);
	if (rc == 0 && mprotect(m->at, m->n_pages * k->page,
			       m->can_write ? PROT_READ | PROT_WRITE : PROT_READ) != 0) {
		rc = -errno;
		arena_remove(k, m);
	}
	return rc;
}

/*
 * The program unmapped a part of a map by itself, and may have put something else there: what is
 * left of the map loses its rights.
 */
static void
arena_tear(struct mapper *k, const struct map *m)
{
	uint64_t i;

	for (i = 0; i < k->space.n_arenas; i++)
		if (m->at >= k->space.arena[i].at &&
			m->at < k->space.arena[i].at + k->space.arena[i].len)
			k->space.arena[i].is_torn = true;
	for (i = 0; i < m->n_pages; i++)
		if (client_map_is_registered(k, (uintptr_t)m->at + i * k->page))
			(void)mprotect(m->at + i * k->page, k->page, PROT_NONE);
}

void
client_map_displace(struct mapper *k, struct map *m)
{
	const uint64_t len = m->n_pages * k->page;

	/* It splits nothing, so it needs no memory. */
	if (mprotect(m->at, len, PROT_NONE) != 0)
		arena_tear(k, m);
	client_map_punch(k, m, 0, m->n_pages);
	arena_remove(k, m);
	client_map_wake(k, (uintptr_t)m->at, len);
}

void
client_map_read_page(const struct mapper *k, const struct map_frame *f, void *buf)
{
	const off_t off = (off_t)(f->m->file_off + f->page * k->page);
	ssize_t got;

	do
		got = pread(k->space.file, buf, k->page, off);
	while (got < 0 && errno == EINTR);
	/* A page that is there is read whole. */
	assert(got == (ssize_t)k->page);
}

void
client_map_punch(const struct mapper *k, const struct map *m, uint64_t page, uint64_t n)
{
	int rc;

	do
		rc = fallocate(k->space.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)(m->file_off + page * k->page), (off_t)(n * k->page));
	while (rc != 0 && errno == EINTR);
	assert(rc == 0);
}

struct map *
client_map_find(const struct mapper *k, uint64_t address)
{
	uint32_t low = 0, high = k->space.n_maps, mid;
	struct map *m;

	while (low < high) {
		mid = low + (high - low) / 2;
		m = k->space.maps[mid];
		if (address < (uintptr_t)m->at)
			high = mid;
		else if (address - (uintptr_t)m->at >= m->n_pages * k->page)
			low = mid + 1;
		else
			return m;
	}
	return NULL;
}

void
client_map_arenas_end(struct mapper *k)
{
	uint32_t i;

	/* In the gap of a torn one something of the program's may be by now. */
	for (i = 0; i < k->space.n_arenas; i++)
		if (!k->space.arena[i].is_torn)
			munmap(k->space.arena[i].at, k->space.arena[i].len);
	free(k->space.maps);
}
