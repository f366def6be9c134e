/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A linked list in the memory of a fabric: one host builds it, any other walks it. Links are
 * offsets in the region, which mean the same to all hosts; pointers mean something to one process.
 *
 *   cc mapped_list.c -o mapped_list $(pkg-config --cflags --libs weft)
 *   ./mapped_list h0 g0 new
 *   ./mapped_list h0 g0 push "first" "second"
 *   ./mapped_list h1 g0 walk
 *
 * A node is a line of 64 bytes, so a reader finds all of it or none. A push writes the node, waits
 * until the device has it, and then writes the head that leads there: who walks meanwhile sees the
 * old list or the new one. One host pushes at a time: there are no atomic operations.
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
	struct head head;
};

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "mapped_list: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

static void
put(struct list *l, uint64_t off, const void *line)
{
	if (weft_write(l->r, off, line, LINE) != 0)
		fail("write", weft_error(l->w));
}

static void
get(struct list *l, uint64_t off, void *line)
{
	if (weft_read(l->r, off, line, LINE) != 0)
		fail("read", weft_error(l->w));
}

static void
open_list(struct list *l, const char *host, const char *region, int flags)
{
	struct weft_region_info info;

	if (weft_attach(host, NULL, &l->w) != 0)
		fail("attach", weft_error(NULL));
	if (weft_open(l->w, region, flags, &l->r) != 0 || weft_info(l->r, &info) != 0)
		fail("open", weft_error(l->w));
	l->size = info.size;
}

/* Whoever wrote there may have been anybody: nothing is followed before it was looked at. */
static void
read_head(struct list *l)
{
	get(l, 0, &l->head);
	if (l->head.magic != MAGIC)
		fail("head", "there is no list: expected one that \"new\" made");
	if (l->head.used < LINE || l->head.used > l->size || l->head.used % LINE != 0)
		fail("head", "it says that more is used than the region has");
}

static void
push(struct list *l, const char *text)
{
	struct node n = { .next = l->head.first };
	const uint64_t at = l->head.used;

	if (strlen(text) >= sizeof(n.text))
		fail(text, "longer than the 55 bytes of a node");
	if (at + LINE > l->size)
		fail(text, "the region is full");
	memcpy(n.text, text, strlen(text));
	put(l, at, &n);
	l->head.first = at;
	l->head.used += LINE;
	put(l, 0, &l->head);
}

static void
walk(struct list *l)
{
	/* A list has no more nodes than lines; one that goes round does not end. */
	uint64_t left = l->head.used / LINE - 1, at;
	struct node n;

	for (at = l->head.first; at != 0; at = n.next) {
		if (at % LINE != 0 || at >= l->head.used || left-- == 0)
			fail("walk", "a link leads nowhere");
		get(l, at, &n);
		printf("%#8llx  %.*s\n", (unsigned long long)at, (int)sizeof(n.text), n.text);
	}
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 3 ? argv[3] : "";
	struct list l = { .w = NULL };

	if (strcmp(verb, "new") == 0 && argc == 4) {
		open_list(&l, argv[1], argv[2], WEFT_READ | WEFT_WRITE);
		l.head = (struct head){ .magic = MAGIC, .used = LINE };
		put(&l, 0, &l.head);
	} else if (strcmp(verb, "push") == 0 && argc > 4) {
		open_list(&l, argv[1], argv[2], WEFT_READ | WEFT_WRITE);
		read_head(&l);
		for (int i = 4; i < argc; i++)
			push(&l, argv[i]);
	} else if (strcmp(verb, "walk") == 0 && argc == 4) {
		open_list(&l, argv[1], argv[2], WEFT_READ);
		read_head(&l);
		walk(&l);
	} else {
		fprintf(stderr, "usage: mapped_list HOST REGION new | push TEXT... | walk\n");
		return 2;
	}
	weft_detach(l.w);
	return EXIT_SUCCESS;
}
