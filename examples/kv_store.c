/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A hash table in the memory of a fabric, whole at every moment: each pair is a line of 64 bytes,
 * which is written in one piece or not at all. A put or del that is killed has happened or has not,
 * and there is nothing to repair. Any host reads; one at a time writes, as nobody locks anything.
 *
 *   cc kv_store.c -o kv_store $(pkg-config --cflags --libs weft)
 *   ./kv_store h0 g0 format
 *   ./kv_store h0 g0 put colour blue
 *   ./kv_store h1 g0 get colour           # from another host; status 1: there is no such key
 *   ./kv_store h1 g0 del colour
 *   ./kv_store h0 g0 list
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define LINE 64u
#define CHUNK 1024u /* lines that format and list move at a time */
#define ROOM (LINE - 3) /* bytes of a key and its value together */

/* EMPTY ends a search, DELETED does not: what was put behind it is still there. */
enum { EMPTY, USED, DELETED };

struct pair {
	uint8_t state, key_len, value_len;
	char text[ROOM]; /* the key, then its value */
};

static const struct pair title = { .state = USED, .key_len = 9, .text = "weft kv 1" };

struct store {
	struct weft *w;
	struct weft_region *r;
	uint64_t lines; /* of the table; it begins behind the line with the title */
};

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "kv_store: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void
get_lines(struct store *s, uint64_t line, void *buf, uint64_t n)
{
	if (weft_read(s->r, line * LINE, buf, n * LINE) != 0)
		fail("read", weft_error(s->w));
}

static void
put_lines(struct store *s, uint64_t line, const void *buf, uint64_t n)
{
	if (weft_write(s->r, line * LINE, buf, n * LINE) != 0)
		fail("write", weft_error(s->w));
}

static void
open_store(struct store *s, char **argv, int flags, int is_new)
{
	struct weft_region_info info;
	struct pair p;

	if (weft_attach(argv[1], NULL, &s->w) != 0)
		fail("attach", weft_error(NULL));
	if (weft_open(s->w, argv[2], flags, &s->r) != 0 || weft_info(s->r, &info) != 0)
		fail("open", weft_error(s->w));
	if (info.size < 2 * LINE)
		fail(argv[2], "too small: expected two lines of 64 bytes or more");
	s->lines = info.size / LINE - 1;
	if (is_new)
		return;
	get_lines(s, 0, &p, 1);
	if (memcmp(&p, &title, sizeof(p)) != 0)
		fail(argv[2], "there is no table: expected one that \"format\" made");
}

/* Whole, and its lengths fit: what others wrote there is not trusted. */
static int
is_pair(const struct pair *p)
{
	return p->state == USED && p->key_len + p->value_len <= (int)ROOM;
}

/* The title goes first and comes last: a table that is half empty has none. */
static void
format(struct store *s)
{
	static const struct pair empty[CHUNK];

	put_lines(s, 0, empty, 1);
	for (uint64_t i = 0; i < s->lines; i += CHUNK)
		put_lines(s, 1 + i, empty, s->lines - i < CHUNK ? s->lines - i : CHUNK);
	put_lines(s, 0, &title, 1);
}

/* The line of a key, or 0; and the first where it could be put, or 0. */
static uint64_t
find(struct store *s, const char *key, struct pair *p, uint64_t *unused)
{
	uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
	const size_t len = strlen(key);

	*unused = 0;
	p->state = USED;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)key[i]) * UINT64_C(0x100000001B3);
	for (uint64_t i = 0; i < s->lines && p->state != EMPTY; i++) {
		const uint64_t line = 1 + (hash + i) % s->lines;

		get_lines(s, line, p, 1);
		if (is_pair(p) && p->key_len == len && memcmp(p->text, key, len) == 0)
			return line;
		if (p->state != USED && *unused == 0)
			*unused = line;
	}
	return 0;
}

static void
put(struct store *s, const char *key, const char *value)
{
	const size_t key_len = strlen(key), value_len = strlen(value);
	struct pair p, pair = {
		.state = USED, .key_len = (uint8_t)key_len, .value_len = (uint8_t)value_len
	};
	uint64_t line, unused;

	if (key_len + value_len > ROOM)
		fail(key, "key and value are longer than the 61 bytes that a line has for them");
	memcpy(pair.text, key, key_len);
	memcpy(pair.text + key_len, value, value_len);
	line = find(s, key, &p, &unused);
	if (line == 0 && unused == 0)
		fail(key, "the table is full");
	put_lines(s, line != 0 ? line : unused, &pair, 1);
}

static void
list(struct store *s)
{
	static struct pair p[CHUNK];

	for (uint64_t i = 0; i < s->lines; i += CHUNK) {
		const uint64_t n = s->lines - i < CHUNK ? s->lines - i : CHUNK;

		get_lines(s, 1 + i, p, n);
		for (uint64_t k = 0; k < n; k++)
			if (is_pair(&p[k]))
				printf("%.*s=%.*s\n", p[k].key_len, p[k].text, p[k].value_len,
					p[k].text + p[k].key_len);
	}
}

static int
look_up(struct store *s, const char *key, int is_del)
{
	struct pair p, deleted = { .state = DELETED };
	uint64_t unused;
	const uint64_t line = find(s, key, &p, &unused);

	if (line != 0 && is_del)
		put_lines(s, line, &deleted, 1);
	else if (line != 0)
		printf("%.*s\n", p.value_len, p.text + p.key_len);
	return line != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main(int argc, char **argv)
{
	static const char *const verbs[] = { "format", "list", "get", "del", "put" };
	int status = EXIT_SUCCESS, v = 0;
	struct store s;

	while (v < 5 && (argc < 4 || strcmp(argv[3], verbs[v]) != 0))
		v++;
	if (v == 5 || argc != 4 + v / 2) {
		fprintf(stderr, "usage: kv_store HOST REGION format | put KEY VALUE | get KEY | "
				"del KEY | list\n");
		return 2;
	}
	open_store(&s, argv, v == 1 || v == 2 ? WEFT_READ : WEFT_READ | WEFT_WRITE, v == 0);
	if (v == 0)
		format(&s);
	else if (v == 1)
		list(&s);
	else if (v == 4)
		put(&s, argv[4], argv[5]);
	else
		status = look_up(&s, argv[4], v == 3);
	weft_detach(s.w);
	return status;
}
