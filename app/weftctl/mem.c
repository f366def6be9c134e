/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The verbs that look at regions: list, read, dump and cmp. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli.h"
#include "ctl.h"
#include "file.h"
#include "hexdump.h"
#include "mem_move.h"
#include "regions.h"

#define JSON_MOST (UINT64_C(16) << 20) /* bytes of a region in an object */

/* --- list --- */

/* "16M", or bytes if it is no round number. */
static const char *
mem_size(uint64_t size, char *text, size_t room)
{
	static const char units[] = "KMGT";
	char unit[2] = "";
	int u = -1;

	while (size != 0 && size % 1024 == 0 && u < 3) {
		size /= 1024;
		u++;
	}
	/* "%.*s" and a choice would end gcc 12 at -O0 by an error of its own. */
	unit[0] = u < 0 ? '\0' : units[u];
	snprintf(text, room, "%" PRIu64 "%s", size, unit);
	return text;
}

static void
mem_list_text(const struct weft_region_info *list, int n)
{
	int name_len = 8, target_len = 8;

	for (int i = 0; i < n; i++) {
		const int name = (int)strlen(list[i].name), target = (int)strlen(list[i].target);

		name_len = name > name_len ? name : name_len;
		target_len = target > target_len ? target : target_len;
	}
	printf("%-*s %-*s %12s %8s %-6s %s\n", name_len, "REGION", target_len, "TARGET", "SIZE",
		"GRANULE", "RIGHTS", "GENERATION");
	for (int i = 0; i < n; i++) {
		char size[32], granule[32], generation[32];
		const char *g =
			regions_generation(list[i].generation, generation, sizeof(generation));

		printf("%-*s %-*s %12s %8s %-6s %s\n", name_len, list[i].name, target_len,
			list[i].target, mem_size(list[i].size, size, sizeof(size)),
			list[i].granule == 0 ? "-"
					     : mem_size(list[i].granule, granule, sizeof(granule)),
			regions_rights(list[i].rights), g != NULL ? g : "-");
	}
}

int
mem_list(struct ctl *c)
{
	struct weft_region_info *list;
	int n;

	ctl_attach(c, NULL);
	n = regions_list(c->w, &list);
	if (n == -ENOMEM)
		ctl_fail(c, "%s: no memory for the list of regions", c->verb);
	if (n < 0)
		ctl_fail(c, "%s", weft_error(c->w));
	if (c->opt.is_json)
		ctl_print_json(c, regions_json(weft_node(c->w), list, n));
	else
		mem_list_text(list, n);
	free(list);
	return EXIT_SUCCESS;
}

/* --- read, dump --- */

static size_t
mem_to_file(void *arg, uint8_t *p, size_t n)
{
	file_write(arg, p, n);
	return n;
}

static size_t
mem_to_people(void *arg, uint8_t *p, size_t n)
{
	hexdump_push(arg, p, n);
	return ferror(stdout) ? 0 : n;
}

/* Two digits a byte, at where @p arg points. */
static size_t
mem_to_digits(void *arg, uint8_t *p, size_t n)
{
	char **at = arg;

	for (size_t i = 0; i < n; i++)
		*at += sprintf(*at, "%02x", p[i]);
	return n;
}

static void
mem_read_file(struct mem_move *m, const char *path)
{
	struct file_out out;

	file_create(&out, m->c, path);
	m->data = mem_to_file;
	m->arg = &out;
	m->is_quiet = out.f == stdout && isatty(STDOUT_FILENO) == 1;
	mem_move(m);
	file_commit(&out);
}

static void
mem_read_json(struct mem_move *m)
{
	char *digits, *at;

	if (m->size > JSON_MOST)
		cli_usage("%s --json: expected 16M or less, got %" PRIu64 " bytes: --out FILE "
			  "takes more",
			m->c->verb, m->size);
	digits = at = calloc(1, 2 * (size_t)m->size + 1);
	if (digits == NULL)
		ctl_fail(m->c, "%s: no memory for %" PRIu64 " digits", m->c->verb, 2 * m->size);
	m->data = mem_to_digits;
	m->arg = &at;
	mem_move(m);
	ctl_print_json(m->c, json_pack("{s:s, s:s, s:I, s:I, s:s}", "node", weft_node(m->c->w),
				     "region", m->r->name, "offset", (json_int_t)m->off, "size",
				     (json_int_t)m->size, "data", digits));
	free(digits);
}

static void
mem_read_people(struct mem_move *m)
{
	struct hexdump h;

	hexdump_begin(&h, stdout, m->off);
	m->data = mem_to_people;
	m->arg = &h;
	m->is_quiet = true;
	mem_move(m);
	hexdump_end(&h);
}

int
mem_read(struct ctl *c)
{
	struct ctl_region r;
	struct mem_move m = { .c = c, .r = &r, .kind = WEFT_OP_READ };

	m.off = ctl_bytes("OFFSET", c->operand[1]);
	m.size = ctl_bytes("SIZE", c->operand[2]);
	if (c->opt.is_json && c->opt.out != NULL)
		cli_usage("%s: expected --json or --out, got both", c->verb);
	ctl_open(c, c->operand[0], WEFT_READ, &r);
	ctl_judge_range(c, &r, m.off, m.size);
	if (c->opt.out != NULL)
		mem_read_file(&m, c->opt.out);
	else if (c->opt.is_json)
		mem_read_json(&m);
	else
		mem_read_people(&m);
	return EXIT_SUCCESS;
}

int
mem_dump(struct ctl *c)
{
	struct ctl_region r;
	struct mem_move m = { .c = c, .r = &r, .kind = WEFT_OP_READ };

	ctl_open(c, c->operand[0], WEFT_READ, &r);
	m.size = r.size;
	mem_read_file(&m, c->operand[1]);
	return EXIT_SUCCESS;
}

/* --- cmp --- */

struct mem_cmp {
	struct file_in file;
	uint64_t same; /* bytes, up to the first that is not, or to an end */
	uint8_t there, in_file; /* they differ */
	bool differs;
	bool file_ended;
};

static size_t
mem_to_cmp(void *arg, uint8_t *p, size_t n)
{
	static uint8_t data[MEM_PIECE];
	struct mem_cmp *d = arg;
	const size_t got = file_read(&d->file, data, n);
	size_t i = 0;

	while (i < got && p[i] == data[i])
		i++;
	d->same += i;
	d->differs = i < got;
	d->file_ended = !d->differs && got < n;
	if (d->differs) {
		d->there = p[i];
		d->in_file = data[i];
	}
	return d->differs || d->file_ended ? 0 : n;
}

static void
mem_cmp_json(const struct ctl *c, const struct mem_cmp *d, uint64_t off, const char *eof)
{
	json_t *o = json_pack("{s:s, s:s, s:b}", "region", c->operand[0], "file", c->operand[2],
		"equal", !d->differs && eof == NULL);

	if (d->differs || eof != NULL)
		json_object_set_new(o, "byte", json_integer((json_int_t)d->same + d->differs));
	if (d->differs)
		json_object_update_new(
			o, json_pack("{s:I, s:i, s:i}", "offset", (json_int_t)(off + d->same),
				   "region_byte", d->there, "file_byte", d->in_file));
	if (eof != NULL)
		json_object_set_new(o, "eof", json_string(eof));
	ctl_print_json(c, o);
}

static void
mem_cmp_text(const struct ctl *c, const struct mem_cmp *d, uint64_t off, const char *eof)
{
	if (d->differs)
		printf("%s %s differ: byte %" PRIu64 " (0x%" PRIx64 "): 0x%02x there, 0x%02x in "
		       "%s\n",
			c->operand[0], c->operand[2], d->same + 1, off + d->same, d->there,
			d->in_file, c->operand[2]);
	else if (eof == c->operand[2] && d->same == 0)
		cli_warn("EOF on %s which is empty", eof);
	else if (eof != NULL)
		cli_warn("EOF on %s after byte %" PRIu64, eof, d->same);
	if (fflush(stdout) != 0)
		ctl_fail(c, "%s: standard output: %s", c->verb, strerror(errno));
}

int
mem_cmp(struct ctl *c)
{
	struct ctl_region r;
	struct mem_cmp d = { 0 };
	struct mem_move m = {
		.c = c, .r = &r, .kind = WEFT_OP_READ, .data = mem_to_cmp, .arg = &d
	};
	const char *eof = NULL; /* what ended too soon */
	bool is_all = false; /* of the file */
	uint8_t more;

	m.off = ctl_bytes("OFFSET", c->operand[1]);
	ctl_open(c, c->operand[0], WEFT_READ, &r);
	ctl_judge_range(c, &r, m.off, 0);
	file_open(&d.file, c, c->operand[2]);
	m.size = r.size - m.off;
	/* What is behind the end of the file need not even be readable. */
	if (d.file.size < m.size) {
		m.size = d.file.size;
		is_all = true;
	}
	mem_move(&m);
	if (!d.differs) {
		file_judge_end(&d.file, d.same, "those are equal");
		is_all = is_all || d.file_ended || file_read(&d.file, &more, 1) == 0;
		if (!is_all)
			eof = c->operand[0];
		else if (d.same == 0)
			eof = c->operand[2];
	}
	(c->opt.is_json ? mem_cmp_json : mem_cmp_text)(c, &d, m.off, eof);
	return d.differs || eof != NULL ? EXIT_FAILURE : EXIT_SUCCESS;
}
