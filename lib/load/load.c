/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Reading a load, from the topology file and from files of its own, for a fabric that is known to
 * be good. Nothing leaves this file half done.
 */

#include <errno.h>
#include <stdlib.h>

#include "load_priv.h"
#include "topo_rows.h"

#include "weft_words.h"

#define MAX_ITEMS 65536
#define MAX_RATE 1000000000 /* requests a second */
#define MAX_REQUESTS (UINT64_C(1) << 48)
#define MAX_MEMORY (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2)
#define MAX_TRANSFER (UINT64_C(1) << 30) /* the host holds all of it */

const char *const load_kind_words[] = { [LOAD_IS_MEM] = "mem",
	[LOAD_IS_UIO] = "uio",
	[LOAD_IS_TRANSFER] = "transfer",
	[LOAD_IS_MOVE] = "move",
	NULL };
/* enum weft_load_transfer_kind */
static const char *const load_transfer_words[] = { "write", "read", "copy", NULL };
const char *const weft_load_outcomes[] = { "ok", "bad_guard", "bad_apptag", "bad_reftag",
	"poisoned", "lost", "mismatch", "memory_lost", NULL };

/* clang-format off */
#define TOPO_READER struct load_read
#define TOPO_TABLE load_section
#define IN(kind) TOPO_IN(WEFT_LOAD_##kind)
#include "keys.def"

static const struct topo_section *const sections_of_kind[LOAD_KINDS] = {
	[LOAD_IS_MEM] = &load_section[SECTION_LOAD_MEM],
	[LOAD_IS_UIO] = &load_section[SECTION_LOAD_UIO],
	[LOAD_IS_TRANSFER] = &load_section[SECTION_LOAD_TRANSFERS],
	[LOAD_IS_MOVE] = &load_section[SECTION_LOAD_MOVE],
};

const struct topo_section load_section[] = {
	[SECTION_LOAD_FILE] = { ROWS(LOAD_FILE, "file of load", line_of) },
	[SECTION_LOAD_ITEM] = { ROWS(LOAD_ITEM, "workloads", line_of),
		ITEMS(LOAD_ITEM, item, MAX_ITEMS), .kinds = load_kind_words,
		.of_kind = sections_of_kind },
	[SECTION_LOAD_MEM] = { ROWS(LOAD_MEM, "mem", line_of) },
	[SECTION_LOAD_UIO] = { ROWS(LOAD_UIO, "uio", line_of) },
	[SECTION_LOAD_TRANSFERS] = { ROWS(LOAD_TRANSFERS, "transfer", line_of) },
	[SECTION_LOAD_TRANSFER] = { ROWS(LOAD_TRANSFER, "transfers", line_of),
		ITEMS(LOAD_TRANSFER, transfer, WEFT_LOAD_TRANSFERS),
		KINDS(LOAD_TRANSFER, out.kind, load_transfer_words) },
	[SECTION_LOAD_MOVE] = { ROWS(LOAD_MOVE, "move", line_of) },
};
/* clang-format on */

static_assert(LOAD_UIO_KEYS >= LOAD_MEM_KEYS && LOAD_UIO_KEYS >= LOAD_MOVE_KEYS &&
		      LOAD_UIO_KEYS >= LOAD_TRANSFERS_KEYS && LOAD_UIO_KEYS >= LOAD_ITEM_KEYS,
	"lines of any kind's keys have room");

void
load_where(struct load_read *r, const struct load_src *src, const char *more)
{
	r->l.file = src->file;
	topo_where(&r->l, "workloads[%u]%s", src->index, more);
}

struct load_src *
load_of(const struct load_read *r, unsigned int node, enum load_kind kind)
{
	return r->of_node[(size_t)node * LOAD_KINDS + kind];
}

/* The list of a topology file, whose other keys are the fabric's; it need not have one. */
static int
load_read_list(struct load_read *r)
{
	const struct topo_key *key = &load_section[SECTION_LOAD_FILE].key[LOAD_FILE_WORKLOADS];
	const struct topo_value *value = r->l.tree.value;

	for (unsigned int i = value[0].first; i != 0; i = value[i].next) {
		if (strcmp(value[i].key, key->name) != 0)
			continue;
		topo_where(&r->l, ".%s", key->name);
		return key->read(&r->l, &value[i], key, r);
	}
	return 0;
}

static int
load_read_text(struct load_read *r, const char *yaml, size_t len, bool is_topology)
{
	const unsigned int first = r->n[SECTION_LOAD_ITEM];
	int rc;

	topo_where(&r->l, "%s", "");
	if (len > WEFT_TOPO_BYTES)
		return topo_fail(&r->l, -EFBIG, 0,
			"file too large, expected at most %u bytes, got %zu", WEFT_TOPO_BYTES, len);
	memset(r->line_of, 0, sizeof(r->line_of));
	r->l.goes_on = false; /* without a tree there is nothing to look at */
	r->l.holds = is_topology ? NULL : "workloads";
	rc = topo_tree_build(&r->l, yaml, len);
	r->l.goes_on = true;
	if (rc == 0)
		rc = is_topology ? load_read_list(r)
		                 : topo_decode_map(&r->l, &r->l.tree.value[0],
					   &load_section[SECTION_LOAD_FILE], r);
	topo_tree_free(&r->l.tree);
	for (unsigned int i = first; i < r->n[SECTION_LOAD_ITEM]; i++) {
		r->item[i].file = r->l.file;
		r->item[i].index = i - first;
	}
	return rc;
}

static int
load_read_file(struct load_read *r, const char *path)
{
	size_t len = 0;
	char *buf;
	int rc;

	r->l.file = path;
	topo_where(&r->l, "%s", "");
	rc = topo_read_file(&r->l, &buf, &len);
	if (rc == 0)
		rc = load_read_text(r, buf, len, false);
	free(buf);
	return rc;
}

/* The topology's text is read once, by the fabric's reader and by this: it may be a pipe. */
static int
load_read_files(struct load_read *r, const struct weft_load_files *f)
{
	int rc;

	r->l.file = f->topology;
	rc = load_read_text(r, f->yaml, f->len, true);
	for (unsigned int i = 0; i < f->n_more && rc == 0; i++)
		rc = load_read_file(r, f->more[i]);
	return rc;
}

/* Which node an item is of, and whether that may have it, once. */
static int
load_find_node(struct load_read *r, struct load_src *src)
{
	static const struct {
		unsigned int kinds;
		const char *expected;
	} nodes[LOAD_KINDS] = {
		[LOAD_IS_MEM] = { TOPO_IN(WEFT_TOPO_HOST), "a host" },
		[LOAD_IS_UIO] = { TOPO_IN(WEFT_TOPO_HOST) | TOPO_IN(WEFT_TOPO_DEVICE),
			"a host or device" },
		[LOAD_IS_TRANSFER] = { TOPO_IN(WEFT_TOPO_HOST), "a host" },
		[LOAD_IS_MOVE] = { TOPO_IN(WEFT_TOPO_HOST), "a host with translations" },
	};
	const char *kind = load_kind_words[src->kind];
	const int i = weft_topo_find(r->t, src->on);
	const struct weft_topo_node *n = i < 0 ? NULL : &r->t->node[i];
	struct load_src **mine;

	load_where(r, src, ".on");
	if (n == NULL)
		return topo_fail(&r->l, -EINVAL, src->line_of[LOAD_ITEM_ON],
			"unknown node, expected a name under nodes, got \"%s\"", src->on);
	if ((nodes[src->kind].kinds & TOPO_IN(n->kind)) == 0 ||
		(src->kind == LOAD_IS_MOVE && n->n_translations == 0))
		return topo_fail(&r->l, -EINVAL, src->line_of[LOAD_ITEM_ON],
			"%s of another kind of node, expected %s, got %s %s", kind,
			nodes[src->kind].expected, weft_topo_kind_words[n->kind], n->name);
	src->node = (uint16_t)i;
	mine = &r->of_node[(size_t)i * LOAD_KINDS + src->kind];
	if (*mine != NULL)
		return topo_fail(&r->l, -EINVAL, src->line_of[0],
			"second %s of %s, expected one, got another after line %u of %.100s", kind,
			n->name, (*mine)->line_of[0], (*mine)->file);
	*mine = src;
	return 0;
}

/* Each node's part, with the defaults of what it does not have. */
static void
load_take_items(struct load_read *r)
{
	struct load_src usual = { 0 };

	for (unsigned int k = 0; k < LOAD_KINDS; k++)
		topo_set_defaults(&r->l, sections_of_kind[k], &usual);
	for (unsigned int i = 0; i < r->t->n_nodes; i++) {
		struct weft_load_node *n = &r->out->node[i];
		struct load_src *const *of = &r->of_node[(size_t)i * LOAD_KINDS];

		*n = usual.out;
		n->has_mem = of[LOAD_IS_MEM] != NULL;
		n->has_uio = of[LOAD_IS_UIO] != NULL;
		r->out->has_uio |= n->has_uio;
		if (n->has_mem)
			n->mem = of[LOAD_IS_MEM]->out.mem;
		if (n->has_uio)
			n->uio = of[LOAD_IS_UIO]->out.uio;
		if (of[LOAD_IS_MOVE] != NULL)
			n->move = of[LOAD_IS_MOVE]->out.move;
		if (of[LOAD_IS_TRANSFER] != NULL) {
			n->first_transfer = (uint16_t)of[LOAD_IS_TRANSFER]->transfers.first;
			n->n_transfers = (uint16_t)of[LOAD_IS_TRANSFER]->transfers.n;
		}
	}
}

static int
load_make(struct load_read *r)
{
	const unsigned int n = r->t->n_nodes;
	int rc = 0;

	r->out = calloc(1, sizeof(*r->out));
	if (r->out == NULL)
		return -ENOMEM;
	r->out->n_nodes = r->t->n_nodes;
	r->out->n_transfers = (uint16_t)r->n[SECTION_LOAD_TRANSFER];
	r->out->node = calloc(n, sizeof(*r->out->node));
	r->of_node = calloc((size_t)n * LOAD_KINDS, sizeof(struct load_src *));
	if (r->out->node == NULL || r->of_node == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < r->n[SECTION_LOAD_ITEM] && rc == 0; i++)
		rc = load_find_node(r, &r->item[i]);
	load_take_items(r);
	return rc;
}

/* What load by UIO needs of the fabric. */
static void
load_switch_on_uio(struct weft_topo *t)
{
	if (!t->cxl_io.is_given)
		t->cxl_io.packets = WEFT_TOPO_CXL_IO_USUAL;
	t->map.is_default = false;
}

static int
load_read_steps(struct load_read *r, const struct weft_load_files *f)
{
	static int (*const steps[])(struct load_read *) = { load_make, load_check_lines,
		load_check_transfers, load_check_fabric };
	int rc = load_read_files(r, f);

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(steps) && rc == 0 && r->l.n_findings == 0; i++)
		rc = steps[i](r);
	if (rc == 0 && r->l.n_findings == 0 && r->out->has_uio)
		load_switch_on_uio(r->t);
	return rc;
}

static void
load_read_release(struct load_read *r)
{
	free(r->item);
	free(r->transfer);
	free(r->of_node);
	weft_load_free(r->out);
}

/* @files with the topology's text; @buf is the caller's to free. */
static int
load_begin(struct load_read *r, struct weft_load_files *files, char **buf)
{
	int rc;

	*buf = NULL;
	r->topology = r->l.file = files->topology;
	r->l.is_stopped = files->is_stopped;
	if (files->yaml != NULL)
		return 0;
	rc = topo_read_file(&r->l, buf, &files->len);
	files->yaml = *buf;
	return rc;
}

int
weft_load_open(struct weft_topo **t, struct weft_load **load, const struct weft_load_files *files,
	struct weft_topo_error *err)
{
	struct load_read r = { .l.err = err };
	struct weft_load_files f = *files;
	char *buf;
	int rc = load_begin(&r, &f, &buf);

	*load = NULL;
	*t = NULL;
	if (rc == 0)
		rc = weft_topo_parse(t, f.topology, f.yaml, f.len, err);
	if (rc == 0) {
		r.t = *t;
		rc = load_read_steps(&r, &f);
		if (rc == -ENOMEM)
			topo_fail(&r.l, rc, 0, "out of memory");
	}
	if (rc == 0) {
		*load = r.out;
		r.out = NULL;
	} else {
		weft_topo_free(*t);
		*t = NULL;
	}
	load_read_release(&r);
	free(buf);
	return rc;
}

unsigned int
weft_load_check(const struct weft_load_files *files, weft_topo_finding_fn fn, void *arg)
{
	struct weft_topo_error e;
	struct load_read r = { .l = { .err = &e, .on_error = fn, .arg = arg } };
	struct weft_load_files f = *files;
	unsigned int n = 0;
	char *buf;
	int rc = load_begin(&r, &f, &buf);

	if (rc == 0)
		n = weft_topo_check_text(f.topology, f.yaml, f.len, fn, arg);
	if (rc == 0 && n == 0 && weft_topo_parse(&r.t, f.topology, f.yaml, f.len, &e) == 0 &&
		load_read_steps(&r, &f) == -ENOMEM)
		topo_fail(&r.l, -ENOMEM, 0, "out of memory");
	n += r.l.n_findings;
	load_read_release(&r);
	weft_topo_free(r.t);
	free(buf);
	return n;
}

void
weft_load_free(struct weft_load *load)
{
	if (load == NULL)
		return;
	free(load->node);
	free(load->transfer);
	free(load);
}
