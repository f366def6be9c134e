/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Write a line of text into the memory of a fabric, and read it back.
 *
 *   cc read_write.c -o read_write $(pkg-config --cflags --libs weft)
 *   ./read_write h0 g0 0 "hello"
 *   ./read_write h1 g0 0              # from another host of the same fabric
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define TEXT_MAX 256

static int
fail(struct weft *w, const char *what)
{
	fprintf(stderr, "read_write: %s: %s\n", what, weft_error(w));
	weft_detach(w);
	return EXIT_FAILURE;
}

/* A number, all of it, perhaps in K, M or G; false: it is none. */
static bool
number(const char *text, uint64_t *n)
{
	unsigned int unit;
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 0);
	unit = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (text[0] < '0' || text[0] > '9' || errno != 0 || *n > UINT64_MAX >> unit)
		return false;
	*n <<= unit;
	return end[unit != 0] == '\0';
}

int
main(int argc, char **argv)
{
	char text[TEXT_MAX] = "";
	struct weft_region *r;
	struct weft *w;
	uint64_t at;

	if (argc < 4 || argc > 5 || !number(argv[3], &at)) {
		fprintf(stderr, "usage: read_write HOST REGION OFFSET [TEXT]\n");
		return 2;
	}
	if (weft_attach(argv[1], NULL, &w) != 0)
		return fail(NULL, "attach");
	if (weft_open(w, argv[2], argc == 5 ? WEFT_READ | WEFT_WRITE : WEFT_READ, &r) != 0)
		return fail(w, "open");
	if (argc == 5) {
		snprintf(text, sizeof(text), "%s", argv[4]);
		/* Once it returns 0 the device has it, and every other host sees it. */
		if (weft_write(r, at, text, sizeof(text)) != 0)
			return fail(w, "write");
		memset(text, 0, sizeof(text));
	}
	if (weft_read(r, at, text, sizeof(text)) != 0)
		return fail(w, "read");
	text[sizeof(text) - 1] = '\0';
	puts(text);
	weft_detach(w);
	return EXIT_SUCCESS;
}
