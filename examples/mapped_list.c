/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A linked list in the memory of a fabric: one host builds it, any other walks it. The region is
 * mapped, so nodes are structs and a walk is loads. Links are offsets, which mean the same to all
 * hosts; pointers mean something to one process.
 *
 *   cc mapped_list.c -o mapped_list $(pkg-config --cflags --libs weft)
 *   ./mapped_list h0 g0 new
 *   ./mapped_list h0 g0 push "first" "second"
 *   ./mapped_list h1 g0 walk
 *
 * What is stored in a map is another host's after weft_sync(). A push stores the node, syncs it,
 * and then stores the head that leads there and syncs that: who walks meanwhile sees the old list
 * or the new one, since a line of 64 bytes is written in one piece. One host pushes at a time:
 * there are no atomic operations.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define LINE 64u
#define MAGIC UINT64_C(0x7473696C74666577) /* "weftlist" */

/* The first line of the region. */
struct head {
	uint64_t magic;
	uint64_t first; /* offset of a node; 0: there is none */
	uint64_t used; /* bytes of the region, this line included */
	uint8_t zero[LINE - 24];
};

struct node {
	uint64_t next; /* likewise */
	char text[LINE - 8];
};

struct list {
	struct weft *w;
	struct weft_region *r;
	uint64_t size;
	uint8_t *map; /* the whole region */
	struct head *head; /* its first line */
};

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "mapped_list: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void
open_list(struct list *l, const char *host, const char *region, int flags)
{
	struct weft_region_info info;
	void *map;

	if (weft_attach(host, NULL, &l->w) != 0)
		fail("attach", weft_error(NULL));
	if (weft_open(l->w, region, flags, &l->r) != 0 || weft_info(l->r, &info) != 0)
		fail("open", weft_error(l->w));
	if (weft_map(l->r, 0, info.size, 0, &map) != 0)
		fail("map", weft_error(l->w));
	l->size = info.size;
	l->map = map;
	l->head = map;
}

/*
 * Memory that cannot be read is SIGBUS at the load, as of a file. Asked for before, it is an error
 * and a line.
 */
static void
fetch(const struct list *l, uint64_t off)
{
	if (weft_advise(l->map + off, LINE, WEFT_PREFETCH) != 0)
		fail("read", weft_error(NULL));
}

static void
sync_line(const struct list *l, uint64_t off)
{
	if (weft_sync(l->map + off, LINE, 0) != 0)
		fail("write", weft_error(NULL));
}

/* Whoever wrote there may have been anybody: nothing is followed before it was looked at. */
static void
check_head(const struct list *l)
{
	if (l->head->magic != MAGIC)
		fail("head", "there is no list: expected one that \"new\" made");
	if (l->head->used < LINE || l->head->used > l->size || l->head->used % LINE != 0)
		fail("head", "it says that more is used than the region has");
}

static void
make(const struct list *l)
{
	*l->head = (struct head){ .magic = MAGIC, .used = LINE };
	sync_line(l, 0);
}

static void
push(const struct list *l, const char *text)
{
	const uint64_t at = l->head->used;
	struct node n = { .next = l->head->first };

	if (strlen(text) >= sizeof(n.text))
		fail(text, "longer than the 55 bytes of a node");
	if (at + LINE > l->size)
		fail(text, "the region is full");
	memcpy(n.text, text, strlen(text));
	fetch(l, at);
	memcpy(l->map + at, &n, sizeof(n));
	sync_line(l, at);
	l->head->first = at;
	l->head->used += LINE;
	sync_line(l, 0);
}

static void
walk(const struct list *l)
{
	/* The head as it is now; a list has no more nodes than lines, or it goes round. */
	const struct head head = *l->head;
	uint64_t left = head.used / LINE - 1, at;
	const struct node *n;

	for (at = head.first; at != 0; at = n->next) {
		if (at % LINE != 0 || at >= head.used || left-- == 0)
			fail("walk", "a link leads nowhere");
		fetch(l, at);
		n = (const struct node *)(const void *)(l->map + at);
		printf("%#8llx  %.*s\n", (unsigned long long)at, (int)sizeof(n->text), n->text);
	}
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 3 ? argv[3] : "";
	const int is_new = strcmp(verb, "new") == 0 && argc == 4;
	const int is_push = strcmp(verb, "push") == 0 && argc > 4;
	const int is_walk = strcmp(verb, "walk") == 0 && argc == 4;
	struct list l;

	if (!is_new && !is_push && !is_walk) {
		fprintf(stderr, "usage: mapped_list HOST REGION new | push TEXT... | walk\n");
		return 2;
	}
	open_list(&l, argv[1], argv[2], is_walk ? WEFT_READ : WEFT_READ | WEFT_WRITE);
	fetch(&l, 0);
	if (is_new)
		make(&l);
	else
		check_head(&l);
	for (int i = 4; is_push && i < argc; i++)
		push(&l, argv[i]);
	if (is_walk)
		walk(&l);
	weft_detach(l.w);
	return EXIT_SUCCESS;
}
