/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Bytes for people, in the form of hexdump -C. */

#include "hexdump.h"

#include <inttypes.h>
#include <string.h>

void
hexdump_begin(struct hexdump *h, FILE *out, uint64_t at)
{
	*h = (struct hexdump){ .out = out, .at = at };
}

static void
hexdump_print(const struct hexdump *h)
{
	char text[128];
	int used = snprintf(text, sizeof(text), "%08" PRIx64, h->at);

	for (size_t i = 0; i < HEXDUMP_LINE; i++) {
		const char *gap = i % 8 == 0 ? "  " : " ";

		used += i < h->n ? sprintf(text + used, "%s%02x", gap, h->line[i])
		                 : sprintf(text + used, "%s  ", gap);
	}
	used += sprintf(text + used, "  |");
	for (size_t i = 0; i < h->n; i++)
		text[used++] = h->line[i] >= 0x20 && h->line[i] < 0x7F ? (char)h->line[i] : '.';
	text[used++] = '|';
	text[used++] = '\n';
	fwrite(text, 1, (size_t)used, h->out);
}

/* The line is whole, or the last, which is shown whatever it is. */
static void
hexdump_line(struct hexdump *h)
{
	if (h->n < HEXDUMP_LINE || !h->has_before || memcmp(h->line, h->before, h->n) != 0) {
		hexdump_print(h);
		h->is_starred = false;
	} else if (!h->is_starred) {
		fputs("*\n", h->out);
		h->is_starred = true;
	}
	memcpy(h->before, h->line, h->n);
	h->has_before = true;
	h->at += h->n;
	h->n = 0;
}

void
hexdump_push(struct hexdump *h, const uint8_t *p, size_t n)
{
	while (n > 0) {
		const size_t room = HEXDUMP_LINE - h->n, part = n < room ? n : room;

		memcpy(h->line + h->n, p, part);
		h->n += part;
		p += part;
		n -= part;
		if (h->n == HEXDUMP_LINE)
			hexdump_line(h);
	}
}

void
hexdump_end(struct hexdump *h)
{
	if (h->n > 0)
		hexdump_line(h);
	if (h->has_before)
		fprintf(h->out, "%08" PRIx64 "\n", h->at);
}
