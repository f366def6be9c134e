/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * UIO packets and memory that answers them, driven by a script on standard input, for a model to
 * compare with. One request a line, one line of answer each. Numbers are hexadecimal without a
 * prefix, bytes are strings of hex digits.
 *
 * decode HEX               Answer: KIND STATUS POISON REQUESTER TAG LEN ADDR COMPLETER LEFT LOWER
 * DATA, or bad: malformed, or none: not of UIO. KIND: 0 read, 1 write, 2 Cpl, 3 CplD memory BASE
 * LEN SPLIT    new memory, zero, of LEN bytes (up to 4000h) at BASE. Answer: ok ask HEX
 * Answer: the bytes of each completion, or bad: none
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_uio_memory.h"

#define LINE 1024
#define BYTES 0x4000

static void
give_up(const char *why, const char *what)
{
	fprintf(stderr, "uio_script: %s: %s\n", why, what);
	exit(2);
}

static void
unhex(const char *text, struct weft_io_tlp *t)
{
	const size_t n = strlen(text) / 2;
	unsigned int byte;

	memset(t, 0, sizeof(*t));
	if (strlen(text) % 2 != 0 || n > sizeof(t->tlp))
		give_up("bad bytes", text);
	for (size_t i = 0; i < n; i++) {
		if (sscanf(text + 2 * i, "%2x", &byte) != 1)
			give_up("bad bytes", text);
		t->tlp[i] = (uint8_t)byte;
	}
	t->len = (uint16_t)n;
}

static void
print_hex(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", p[i]);
}

static void
say_decoded(const struct weft_io_tlp *t)
{
	struct weft_uio u;
	const int rc = weft_uio_decode(t, &u);

	if (rc != 0) {
		printf("%s\n", rc == -ENOENT ? "none" : "bad");
		return;
	}
	printf("%x %x %x %x %x %x %llx %x %x %x ", u.kind, u.status, u.poison, u.requester, u.tag,
		u.len, (unsigned long long)u.addr, u.completer, u.left, u.lower);
	if (u.data == NULL)
		putchar('-');
	else
		print_hex(u.data, u.len);
	putchar('\n');
}

static void
say_answers(struct weft_uio_memory *m, const struct weft_io_tlp *req)
{
	struct weft_io_tlp cpl[WEFT_UIO_CPLS_MAX];
	unsigned int n;

	if (weft_uio_serve(m, req, cpl, &n) != WEFT_OK)
		printf("bad");
	for (unsigned int i = 0; i < n; i++) {
		if (i != 0)
			putchar(' ');
		print_hex(cpl[i].tlp, cpl[i].len);
	}
	putchar('\n');
}

int
main(void)
{
	static char line[LINE], word[LINE];
	static uint8_t mem[BYTES];
	static uint64_t poison[BYTES / 64 / 64];
	struct weft_uio_memory m = { 0 };
	unsigned long long base;
	unsigned int len, split;
	struct weft_io_tlp t;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "decode %1023s", word) == 1) {
			unhex(word, &t);
			say_decoded(&t);
		} else if (sscanf(line, "memory %llx %x %x", &base, &len, &split) == 3 &&
			   len <= BYTES) {
			const struct weft_uio_memory_cfg cfg = { .mem = mem,
				.len = len,
				.hpa_base = base,
				.poison = poison,
				.split = (uint16_t)split };

			memset(mem, 0, sizeof(mem));
			memset(poison, 0, sizeof(poison));
			printf("%s\n", weft_uio_memory_init(&m, &cfg) == 0 ? "ok" : "bad");
		} else if (sscanf(line, "ask %1023s", word) == 1) {
			unhex(word, &t);
			say_answers(&m, &t);
		} else {
			give_up("bad line", line);
		}
	}
	return 0;
}
