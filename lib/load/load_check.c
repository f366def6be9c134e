/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the items of a load say together, and with the fabric: lines fit the memory they are in,
 * what is sent by UIO has somewhere to go, and no memory has two owners.
 */

#include <errno.h>
#include <stdio.h>

#include "load_priv.h"

#include "weft_edge.h"
#include "weft_ide.h"

#define MAX_OPEN 256 /* requests of a host that translates */
#define LINES_A_UNIT (WEFT_TOPO_UIO_UNIT / LINE)

/* --- lines --- */

/* Bytes of the smallest segment, where all lines must have room, and its name. */
static uint64_t
check_least_room(const struct weft_topo *t, char *name, size_t len)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < t->map.n_segments; i++) {
		const struct weft_topo_segment *s = &t->map.segment[i];
		const struct weft_topo_node *n = &t->node[t->map.target[s->first_target].node];

		if (s->size >= least)
			continue;
		least = s->size;
		if (s->ways_log2 == 0 && n->kind == WEFT_TOPO_GFD && n->memory == s->size)
			snprintf(name, len, "gfd %s", n->name);
		else
			snprintf(name, len, "segments[%u]", i);
	}
	return least;
}

/* Lines of an item begin where @used ends, in every segment the same. */
static int
check_take_lines(struct load_read *r, const struct load_src *src, uint64_t lines, uint64_t *used)
{
	char name[WEFT_TOPO_NAME_ROOM + 8] = "";
	const uint64_t room = check_least_room(r->t, name, sizeof(name)) / LINE;

	*used += lines;
	if (*used <= room)
		return 0;
	return topo_fail(&r->l, -EINVAL,
		topo_line(src->line_of, src->kind == LOAD_IS_MEM ? (unsigned int)LOAD_MEM_LINES
								 : (unsigned int)LOAD_UIO_LINES),
		"more lines than %s holds, expected at most %llu for all load, got %llu", name,
		(unsigned long long)room, (unsigned long long)*used);
}

/* By UIO: after the lines of CXL.mem; a request does not cross a unit. */
static int
check_uio_lines(struct load_read *r, uint64_t used)
{
	int rc = 0;

	used = (used + LINES_A_UNIT - 1) / LINES_A_UNIT * LINES_A_UNIT;
	for (unsigned int i = 0; i < r->t->n_nodes && rc == 0 && r->l.n_fails == 0; i++) {
		const struct load_src *src = load_of(r, i, LOAD_IS_UIO);
		struct weft_load_uio *uio = &r->out->node[i].uio;

		if (src == NULL)
			continue;
		load_where(r, src, "");
		if (r->t->map.n_segments == 0)
			return topo_fail(&r->l, -EINVAL, src->line_of[0],
				"uio without a destination, expected a segment or a gfd, got none");
		uio->first_line = used;
		rc = check_take_lines(r, src, uio->lines, &used);
	}
	return rc;
}

/* A line has one writer: hosts take theirs one after the other. */
int
load_check_lines(struct load_read *r)
{
	uint64_t used = 0;
	int rc = 0;

	for (unsigned int i = 0; i < r->t->n_nodes && rc == 0 && r->l.n_fails == 0; i++) {
		const struct load_src *src = load_of(r, i, LOAD_IS_MEM);
		struct weft_load_mem *mem = &r->out->node[i].mem;

		if (src == NULL || r->t->node[i].translates)
			continue;
		load_where(r, src, "");
		if (r->t->n_gfds == 0)
			return topo_fail(&r->l, -EINVAL, src->line_of[0],
				"mem without a destination, expected a gfd, got none");
		mem->first_line = used;
		rc = check_take_lines(r, src, mem->lines, &used);
	}
	return rc == 0 ? check_uio_lines(r, used) : rc;
}

uint64_t
load_bytes(const struct load_read *r)
{
	uint64_t lines = 0;

	for (unsigned int i = 0; i < r->t->n_nodes; i++) {
		const struct weft_load_node *n = &r->out->node[i];

		if (n->has_mem && !r->t->node[i].translates &&
			n->mem.first_line + n->mem.lines > lines)
			lines = n->mem.first_line + n->mem.lines;
		if (n->has_uio && n->uio.first_line + n->uio.lines > lines)
			lines = n->uio.first_line + n->uio.lines;
	}
	return lines * LINE;
}

/* --- UIO --- */

/* Said once, of the first, as it is one decision. */
static int
check_uio(struct load_read *r)
{
	const struct load_src *src = NULL;

	for (unsigned int i = 0; i < r->t->n_nodes && src == NULL; i++)
		src = load_of(r, i, LOAD_IS_UIO);
	if (src == NULL)
		return 0;
	load_where(r, src, "");
	if (r->t->ide.mode != WEFT_IDE_OFF)
		return topo_fail(&r->l, -EINVAL, src->line_of[0],
			"uio beside ide, expected one of them, as IDE of CXL.cachemem does not "
			"cover CXL.io, got both");
	if (r->t->cxl_io.is_given && r->t->cxl_io.packets == 0)
		return topo_fail(&r->l, -EINVAL, src->line_of[0],
			"uio without CXL.io packets, expected no defaults.cxl_io or one above 0, "
			"got 0");
	return 0;
}

/* Who sends by UIO reaches all whom it may ask. */
static int
check_paths(struct load_read *r, unsigned int to)
{
	const struct weft_topo *t = r->t;
	struct topo_hops hops;

	if (!topo_has_segment(t, to))
		return 0;
	topo_hops_to(t, to, &hops);
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		const struct load_src *src = load_of(r, i, LOAD_IS_UIO);

		if (src == NULL || !weft_topo_may_ask(t, i, to) || hops.hop[i] != UINT16_MAX)
			continue;
		load_where(r, src, "");
		return topo_fail(&r->l, -EINVAL, src->line_of[0],
			"%s %s cannot reach %s %s, expected a path of switches, got none",
			weft_topo_kind_words[t->node[i].kind], t->node[i].name,
			weft_topo_kind_words[t->node[to].kind], t->node[to].name);
	}
	return 0;
}

/* The port above a device knows by its re-router where answers to other devices go. */
static int
check_rerouter(struct load_read *r, unsigned int i)
{
	const struct load_src *last = NULL;
	unsigned int rows = 0;

	for (unsigned int k = 0; k < r->t->n_nodes && r->t->node[i].memory != 0; k++) {
		if (!r->out->node[k].has_uio || !weft_topo_in_lav(r->t, i, k))
			continue;
		last = load_of(r, k, LOAD_IS_UIO);
		rows++;
	}
	if (rows <= WEFT_REROUTER_ROWS)
		return 0;
	load_where(r, last, "");
	return topo_fail(&r->l, -EINVAL, last->line_of[0],
		"more requesters than the re-router of a port has rows, expected at most %d with "
		"uio in the lav of %s, got %u",
		WEFT_REROUTER_ROWS, r->t->node[i].name, rows);
}

/* --- translations --- */

/* A client's requests are by its translations, an agent has none. */
static int
check_translating(struct load_read *r, unsigned int i)
{
	const struct weft_topo_node *n = &r->t->node[i];

	for (enum load_kind k = LOAD_IS_MEM; k < LOAD_IS_MOVE; k++) {
		const struct load_src *src = load_of(r, i, k);

		if (src == NULL || (!n->translates && n->n_translations == 0) ||
			(n->translates && k == LOAD_IS_MEM))
			continue;
		load_where(r, src, "");
		if (n->translates)
			return topo_fail(&r->l, -EINVAL, src->line_of[0],
				"%s of a host that translates, expected mem only, got some",
				load_kind_words[k]);
		return topo_fail(&r->l, -EINVAL, src->line_of[0],
			"an agent that has requests of its own, expected a host without "
			"translations, got %s",
			n->name);
	}
	return 0;
}

/* Every target of a client is one translation, and its lines begin at the first of each. */
static int
check_client(struct load_read *r, unsigned int i)
{
	const struct load_src *src = load_of(r, i, LOAD_IS_MEM);
	const struct weft_topo_node *n = &r->t->node[i];
	const struct weft_load_mem *mem = &r->out->node[i].mem;
	uint64_t least = UINT64_MAX;

	if (src == NULL || !n->translates)
		return 0;
	for (unsigned int k = 0; k < r->t->translations.n; k++)
		if (r->t->translations.entry[k].host == i &&
			r->t->translations.entry[k].size < least)
			least = r->t->translations.entry[k].size;
	load_where(r, src, "");
	if (least == UINT64_MAX)
		return topo_fail(&r->l, -EINVAL, src->line_of[0],
			"mem without a destination, expected a translation of host %s at %s, "
			"got none",
			n->name, r->t->node[n->ats.agent].name);
	if (mem->lines > least / LINE)
		return topo_fail(&r->l, -EINVAL, topo_line(src->line_of, LOAD_MEM_LINES),
			"more lines than a translation holds, expected at most %llu, got %llu",
			(unsigned long long)(least / LINE), (unsigned long long)mem->lines);
	if (mem->outstanding > MAX_OPEN)
		return topo_fail(&r->l, -EINVAL, src->line_of[LOAD_MEM_OUTSTANDING],
			"too many at once, expected at most %d of a host that translates, got %u",
			MAX_OPEN, mem->outstanding);
	return 0;
}

static const struct load_transfer_src *
check_writer(
	const struct load_read *r, const struct weft_topo_segment *s, uint64_t pa, uint64_t size)
{
	const struct weft_topo_target *at = &r->t->map.target[s->first_target];
	const uint64_t dpa = at->dpa + (pa - s->base);

	for (unsigned int i = 0; i < r->n[SECTION_LOAD_TRANSFER] && s->ways_log2 == 0; i++) {
		const struct load_transfer_src *src = &r->transfer[i];
		const struct weft_load_transfer *tr = &src->out;
		const bool is_copy = tr->kind == WEFT_LOAD_COPY;
		const uint64_t offset = is_copy ? tr->to_offset : tr->offset;

		if (tr->kind != WEFT_LOAD_READ && src->wire_len != 0 &&
			(is_copy ? tr->to : tr->gfd) == at->node && dpa < offset + src->wire_len &&
			offset < dpa + size)
			return src;
	}
	return NULL;
}

/*
 * Memory of a translation is no line's, and no transfer writes there. Transfers go by the GFD's own
 * addresses, and run only where a segment is all of its memory: nothing to look for where memory
 * takes turns.
 */
static int
check_memory(struct load_read *r, unsigned int i, uint64_t pa, const char *key)
{
	const struct weft_topo *t = r->t;
	const struct weft_topo_translation *x = &t->translations.entry[i];
	const uint64_t from = pa & ((UINT64_C(1) << t->map.segment_log2) - 1);
	const struct weft_topo_segment *s =
		&t->map.segment[(pa - weft_topo_fast_base(t)) >> t->map.segment_log2];

	topo_where(&r->l, "translation %s of host %s", key, t->node[x->host].name);
	if (from < load_bytes(r))
		return topo_fail(&r->l, -EINVAL, x->line,
			"over the lines of load, expected %llu bytes or more into the segment, "
			"got 0x%llx",
			(unsigned long long)load_bytes(r), (unsigned long long)pa);
	if (check_writer(r, s, pa, x->size) != NULL)
		return topo_fail(&r->l, -EINVAL, x->line,
			"where a transfer writes, expected memory of its own, got 0x%llx",
			(unsigned long long)pa);
	return 0;
}

static int
check_translations(struct load_read *r)
{
	int rc = 0;

	r->l.file = r->topology;
	for (unsigned int i = 0; i < r->t->translations.n && rc == 0; i++) {
		const struct weft_topo_translation *x = &r->t->translations.entry[i];

		rc = check_memory(r, i, x->pa, "pa");
		if (rc == 0 && x->alt_pa != 0)
			rc = check_memory(r, i, x->alt_pa, "move_to");
	}
	return rc;
}

int
load_check_fabric(struct load_read *r)
{
	int rc = check_uio(r);

	for (unsigned int i = 0; i < r->t->n_nodes && rc == 0; i++) {
		if (r->out->has_uio)
			rc = check_paths(r, i);
		if (rc == 0 && r->out->has_uio)
			rc = check_rerouter(r, i);
		if (rc == 0)
			rc = check_translating(r, i);
		if (rc == 0)
			rc = check_client(r, i);
	}
	return rc == 0 ? check_translations(r) : rc;
}
