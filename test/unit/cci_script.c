/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Codecs of CCI, driven from outside: a line in, a line out. The lines are in doc/cci.md
 * ("Script").
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft_base.h"
#include "weft_cci.h"
#include "weft_cci_layout.h"
#include "weft_cci_text.h"

#define LINE 65536
#define BYTES (LINE / 2)

static void
print_error(int rc)
{
	switch (-rc) {
	case EMSGSIZE: puts("error EMSGSIZE"); break;
	case EINVAL: puts("error EINVAL"); break;
	case ENOBUFS: puts("error ENOBUFS"); break;
	default: puts("error UNKNOWN"); break;
	}
}

/* Bytes of hex digits; -1: they are none. */
static int
bytes_of(const char *hex, uint8_t *b)
{
	const size_t n = strlen(hex);
	unsigned int v;

	if (n % 2 != 0 || strspn(hex, "0123456789abcdefABCDEF") != n || n / 2 > BYTES)
		return -1;
	for (size_t i = 0; i < n / 2; i++) {
		sscanf(hex + 2 * i, "%2x", &v);
		b[i] = (uint8_t)v;
	}
	return (int)(n / 2);
}

static void
print_hex(const uint8_t *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", b[i]);
	putchar('\n');
}

/* The layout that is named by a side and an opcode, or by "entry" and its name. */
static bool
find_layout(const char *side, const char *what, const struct weft_cci_layout **layout)
{
	const struct weft_cci_command_layout *c;

	for (unsigned int i = 0; strcmp(side, "entry") == 0 && i < weft_cci_n_entries; i++)
		if (strcmp(weft_cci_entries[i]->name, what) == 0) {
			*layout = weft_cci_entries[i];
			return true;
		}
	c = weft_cci_find_command((uint16_t)strtoul(what, NULL, 16));
	if (c == NULL || (strcmp(side, "req") != 0 && strcmp(side, "rsp") != 0))
		return false;
	*layout = strcmp(side, "req") == 0 ? c->req : c->rsp;
	return true;
}

static void
run_get(const struct weft_cci_layout *layout, const char *hex)
{
	static char text[32 * LINE];
	static uint8_t b[BYTES];
	const int n = bytes_of(hex, b);
	uint8_t *own;
	int rc;

	if (n < 0) {
		puts("error SYNTAX");
		return;
	}
	/* A block of its own, so that a byte read behind it is seen. */
	own = malloc((size_t)n);
	if (own == NULL && n > 0)
		exit(EXIT_FAILURE);
	if (n > 0)
		memcpy(own, b, (size_t)n);
	rc = weft_cci_print_payload(text, sizeof(text), layout, own, (size_t)n);
	free(own);
	if (rc != 0)
		print_error(rc);
	else
		puts(text);
}

static void
run_put(const struct weft_cci_layout *layout, const char *text)
{
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];
	const int n = weft_cci_parse_payload(b, sizeof(b), layout, text);

	if (n < 0)
		print_error(n);
	else
		print_hex(b, (size_t)n);
}

static void
run_hdr(const char *hex)
{
	static uint8_t b[BYTES];
	struct weft_cci_hdr h;
	const int n = bytes_of(hex, b);
	const int rc = n < 0 ? -EINVAL : weft_cci_get_hdr(&h, b, (size_t)n);

	if (rc != 0 && rc != -EBADMSG) {
		print_error(rc);
		return;
	}
	printf("response=%d background=%d tag=%u opcode=%u len=%u rc=%u ext=%u\n", h.is_response,
		h.is_background, h.tag, h.opcode, h.len, h.rc, h.ext);
}

int
main(void)
{
	static char line[LINE];
	const struct weft_cci_layout *layout;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		char *word[3], *at = line;

		line[strcspn(line, "\n")] = '\0';
		for (unsigned int i = 0; i < 3; i++) {
			word[i] = at;
			at += strcspn(at, " ");
			if (*at != '\0')
				*at++ = '\0';
		}
		if (strcmp(word[0], "hdr") == 0)
			run_hdr(word[1]);
		else if ((strcmp(word[0], "get") != 0 && strcmp(word[0], "put") != 0) ||
			 !find_layout(word[1], word[2], &layout))
			puts("error SYNTAX");
		else if (word[0][0] == 'g')
			run_get(layout, at);
		else
			run_put(layout, at);
		fflush(stdout);
	}
	return 0;
}
