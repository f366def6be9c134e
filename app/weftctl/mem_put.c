/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The verbs that change regions: write, load and fill. */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "file.h"
#include "mem_move.h"

static size_t
put_from_file(void *arg, uint8_t *p, size_t n)
{
	return file_read(arg, p, n);
}

/* To the end of the file, which must be within the region. */
static void
put_file(struct mem_move *m, const char *path)
{
	struct file_in in;
	uint64_t done;
	uint8_t more;

	file_open(&in, m->c, path);
	m->size = m->r->size - m->off;
	if (in.size != UINT64_MAX && in.size > m->size)
		cli_usage("%s %s: expected up to %" PRIu64 " bytes (the region from offset %" PRIu64
			  " on), got %" PRIu64 " of %s; nothing was written",
			m->c->verb, m->r->name, m->size, m->off, in.size, in.name);
	if (in.size < m->size)
		m->size = in.size;
	m->data = put_from_file;
	m->arg = &in;
	m->is_quiet = isatty(in.fd) == 1;
	done = mem_move(m);
	file_judge_end(&in, done, "those were written");
	/* The length of a pipe, or of a file of /proc, shows at its end. */
	if (done == m->r->size - m->off && file_read(&in, &more, 1) != 0)
		cli_usage("%s %s: expected up to %" PRIu64 " bytes, got more of %s; those were "
			  "written",
			m->c->verb, m->r->name, done, in.name);
}

struct put_bytes {
	const uint8_t *p;
	size_t n;
};

static size_t
put_from_bytes(void *arg, uint8_t *p, size_t n)
{
	struct put_bytes *b = arg;

	memcpy(p, b->p, n);
	b->p += n;
	b->n -= n;
	return n;
}

static int
put_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Pairs of digits, with blanks between them or not, in their own place. */
static size_t
put_parse_hex(char *text)
{
	uint8_t *to = (uint8_t *)text;
	size_t n = 0;

	for (const char *at = text; *at != '\0';) {
		if (isspace((unsigned char)*at)) {
			at++;
			continue;
		}
		if (!isxdigit((unsigned char)at[0]) || !isxdigit((unsigned char)at[1]))
			cli_usage("--hex: expected pairs of hex digits such as \"00ff 1234\", got "
				  "\"%.16s\" behind %zu bytes",
				at, n);
		to[n++] = (uint8_t)(put_digit(at[0]) << 4 | put_digit(at[1]));
		at += 2;
	}
	return n;
}

int
mem_write(struct ctl *c)
{
	struct ctl_region r;
	struct put_bytes b = { 0 };
	struct mem_move m = {
		.c = c, .r = &r, .kind = WEFT_OP_WRITE, .data = put_from_bytes, .arg = &b
	};
	char *hex = NULL;

	m.off = ctl_bytes("OFFSET", c->operand[1]);
	if (c->opt.hex != NULL && c->opt.file != NULL)
		cli_usage("%s: expected --file or --hex, got both", c->verb);
	if (c->opt.hex != NULL) {
		hex = strdup(c->opt.hex);
		if (hex == NULL)
			ctl_fail(c, "%s: no memory for --hex", c->verb);
		b.p = (const uint8_t *)hex;
		b.n = put_parse_hex(hex);
	}
	ctl_open(c, c->operand[0], WEFT_WRITE, &r);
	ctl_judge_range(c, &r, m.off, b.n);
	m.size = b.n;
	if (hex == NULL)
		put_file(&m, c->opt.file);
	else
		mem_move(&m);
	free(hex);
	return EXIT_SUCCESS;
}

int
mem_load(struct ctl *c)
{
	struct ctl_region r;
	struct mem_move m = { .c = c, .r = &r, .kind = WEFT_OP_WRITE };

	ctl_open(c, c->operand[0], WEFT_WRITE, &r);
	put_file(&m, c->operand[1]);
	return EXIT_SUCCESS;
}

static size_t
put_from_byte(void *arg, uint8_t *p, size_t n)
{
	memset(p, *(const uint8_t *)arg, n);
	return n;
}

int
mem_fill(struct ctl *c)
{
	struct ctl_region r;
	uint8_t byte;
	struct mem_move m = {
		.c = c, .r = &r, .kind = WEFT_OP_WRITE, .data = put_from_byte, .arg = &byte
	};

	m.off = ctl_bytes("OFFSET", c->operand[1]);
	m.size = ctl_bytes("SIZE", c->operand[2]);
	byte = (uint8_t)cli_number("BYTE", c->operand[3], 0, UINT8_MAX);
	ctl_open(c, c->operand[0], WEFT_WRITE, &r);
	ctl_judge_range(c, &r, m.off, m.size);
	mem_move(&m);
	return EXIT_SUCCESS;
}
