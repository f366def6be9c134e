/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Numbers in the memory of a fabric, by plain pointers: code that knows nothing of Weft sorts them.
 *
 *   cc mapped.c -o mapped $(pkg-config --cflags --libs weft)
 *   ./mapped h0 g0 fill 100000       # numbers in no order
 *   ./mapped h1 g0 sort 100000       # qsort(), where they are
 *   ./mapped h0 g0 show 100000       # first, last and sum of them, and whether they ascend
 *
 * Between two stores nothing is said to anybody: others see them after weft_sync() or
 * weft_unmap(). A load of what cannot be read is a signal, SIGBUS.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>

/* Of pages: the region may be much larger. */
#define CACHE (UINT64_C(256) << 10)

static int
fail(struct weft *w, const char *what)
{
	fprintf(stderr, "mapped: %s: %s\n", what, weft_error(w));
	return EXIT_FAILURE;
}

/* Nothing but write() may be called here. */
static void
end_by_signal(int sig)
{
	static const char text[] = "mapped: memory of the region can't be read (SIGBUS)\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(EXIT_FAILURE);
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
fill(uint64_t *number, size_t n)
{
	uint64_t v = 1;

	for (size_t i = 0; i < n; i++) {
		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
		number[i] = v;
	}
}

static void
show(const uint64_t *number, size_t n)
{
	uint64_t sum = 0;
	size_t i, steps_down = 0;

	for (i = 0; i < n; i++) {
		sum += number[i];
		steps_down += i > 0 && number[i] < number[i - 1];
	}
	printf("%zu numbers, %016" PRIx64 " to %016" PRIx64 ", sum %016" PRIx64 ", %s\n", n,
		number[0], number[n - 1], sum, steps_down == 0 ? "ascending" : "in no order");
}

static int
run(struct weft *w, const char *region, const char *verb, size_t n)
{
	const int rights = strcmp(verb, "show") == 0 ? WEFT_READ : WEFT_READ | WEFT_WRITE;
	struct weft_region *r;
	void *p;

	if (weft_open(w, region, rights, &r) != 0)
		return fail(w, "open");
	if (weft_map(r, 0, n * sizeof(uint64_t), 0, &p) != 0)
		return fail(w, "map");
	if (strcmp(verb, "fill") == 0)
		fill(p, n);
	else if (strcmp(verb, "sort") == 0)
		qsort(p, n, sizeof(uint64_t), compare);
	else
		show(p, n);
	/* Once it returns 0 the device has all of it. */
	if (weft_sync(p, n * sizeof(uint64_t), 0) != 0)
		return fail(NULL, "sync");
	/* There is nothing left that it could fail of. */
	weft_unmap(p);
	return EXIT_SUCCESS;
}

/* A number, all of it; false: it is none. */
static bool
number(const char *text, uint64_t *n)
{
	char *end;

	*n = strtoull(text, &end, 0);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0';
}

int
main(int argc, char **argv)
{
	const struct weft_attach_opts o = { .size = sizeof(o), .map_cache = CACHE };
	const struct sigaction on_sigbus = { .sa_handler = end_by_signal };
	uint64_t n;
	struct weft *w;
	int rc;

	if (argc != 5 || !number(argv[4], &n) || n == 0 || n > SIZE_MAX / sizeof(uint64_t) ||
		(strcmp(argv[3], "fill") != 0 && strcmp(argv[3], "sort") != 0 &&
			strcmp(argv[3], "show") != 0)) {
		fprintf(stderr, "usage: mapped HOST REGION fill|sort|show COUNT\n");
		return 2;
	}
	sigaction(SIGBUS, &on_sigbus, NULL);
	if (weft_attach(argv[1], &o, &w) != 0)
		return fail(NULL, "attach");
	rc = run(w, argv[2], argv[3], n);
	weft_detach(w);
	return rc;
}
