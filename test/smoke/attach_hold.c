/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A program that stays attached while rights change: it does what its standard input says, a word
 * a line, and prints what came of each: 0, or the name of the error.
 *
 *   open NAME    for reading and writing, in place of what is open
 *   read, write  64 bytes at its beginning
 *   again        reads one after the other, without a pause, until the next line
 *   list         names of regions
 */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <weft.h>

#define HOLD_LIST 16

static struct weft *hold_w;
static struct weft_region *hold_r;

static void
hold_print(int rc)
{
	printf("%s\n", rc >= 0 ? "0" : strerrorname_np(-rc));
	fflush(stdout);
}

/* Until something is to be read, or one fails. */
static int
hold_again(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	char bytes[4096];
	int rc = 0;

	while (rc == 0 && poll(&in, 1, 0) == 0)
		rc = weft_read(hold_r, 0, bytes, sizeof(bytes));
	return rc;
}

static int
hold_list(void)
{
	struct weft_region_info list[HOLD_LIST];
	const int n = weft_regions(hold_w, list, HOLD_LIST);

	for (int i = 0; i < n && i < HOLD_LIST; i++)
		printf("%s ", list[i].name);
	return n;
}

static int
hold_do(const char *line)
{
	char bytes[64] = "";

	if (strncmp(line, "open ", 5) == 0) {
		weft_close(hold_r);
		return weft_open(hold_w, line + 5, WEFT_READ | WEFT_WRITE, &hold_r);
	}
	if (strcmp(line, "read") == 0)
		return weft_read(hold_r, 0, bytes, sizeof(bytes));
	if (strcmp(line, "write") == 0)
		return weft_write(hold_r, 0, bytes, sizeof(bytes));
	return strcmp(line, "again") == 0 ? hold_again() : hold_list();
}

int
main(int argc, char **argv)
{
	char line[128];
	const int rc = argc == 2 ? weft_attach(argv[1], NULL, &hold_w) : -EINVAL;

	hold_print(rc);
	/* Lines are asked for by poll(): none may be read ahead. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (rc == 0 && fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		hold_print(hold_do(line));
	}
	weft_detach(hold_w);
	return rc == 0 ? 0 : 1;
}
