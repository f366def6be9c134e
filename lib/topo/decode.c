/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * From values to structs by the rows of keys.def. A key that is in no row, there twice, of another
 * kind, or missing although required is an error. A new key is a row there and the field it fills.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft_flit.h"
#include "weft_ide.h"
#include "weft_isn.h"
#include "weft_wire.h"
#include "weft_words.h"

#include "topo_rows.h"

#define SOCKET_CHARS HOST_CHARS "/@+:~" /* no comma: the path goes into device arguments */

#define USER_CHARS HOST_CHARS "@+$\\ " /* of directories, too: LAB\domain users */

#define MAX_PID 0xFFE /* 0xFFF is reserved: fabric.md section 2.1 */
#define MIN_MTU 68
#define MAX_MEMORY (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2)
#define MIN_SEGMENT (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2)
#define MAX_SEGMENT (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2_MAX)
#define MAX_VA (UINT64_C(1) << 52)
#define MAX_PAGE (UINT64_C(1) << 30)
#define MAX_RANGES 8192
#define MIN_WINDOW 8 /* of lib/link; the number on the wire allows MAX_WINDOW */
#define MAX_WINDOW 511
#define MAX_REKEY_MS 86400000 /* a day */

/* Index = value of the enum; the last word is followed by NULL. */
static const char *const override_words[] = { "none", "gim-forward", NULL };
const char *const weft_topo_kind_words[] = { [WEFT_TOPO_HOST] = "host",
	[WEFT_TOPO_SWITCH] = "switch",
	[WEFT_TOPO_GFD] = "gfd",
	[WEFT_TOPO_DEVICE] = "device",
	[WEFT_TOPO_HBR] = "hbr",
	NULL };
static const char *const role_words[] = { [TOPO_ROLE_AUTO] = "auto",
	[TOPO_ROLE_USP] = "usp",
	[TOPO_ROLE_DSP] = "dsp",
	[TOPO_ROLE_FPORT] = "fport",
	NULL };
const char *const topo_driver_words[] = { [WEFT_TOPO_AUTO] = "auto",
	[WEFT_TOPO_VFIO] = "vfio",
	[WEFT_TOPO_AF_XDP] = "af_xdp",
	[WEFT_TOPO_AF_PACKET] = "af_packet",
	[WEFT_TOPO_MEMIF] = "memif",
	[WEFT_TOPO_RING] = "ring",
	[WEFT_TOPO_VDEV] = "vdev",
	NULL };

/* Not a word of the fabric's part: lib/load reads it. */
static int
decode_read_later(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	(void)l;
	(void)v;
	(void)k;
	(void)base;
	return 0;
}

/* clang-format off */
#define TOPO_READER struct topo_load
#define TOPO_TABLE topo_section
#define IN(kind) TOPO_IN(WEFT_TOPO_##kind)
#define MOVED(kind) .read = topo_read_moved, .allowed = (kind)
#define LATER .read = decode_read_later
#include "keys.def"
const struct topo_section topo_section[] = {
	[SECTION_ROOT] = { ROWS(ROOT, "top level", line_of) },
	[SECTION_DEFAULTS] = { ROWS(DEFAULTS, "defaults", defaults_at) },
	[SECTION_RETRY] = { ROWS(RETRY, "retry", retry_at) },
	[SECTION_IDE] = { ROWS(IDE, "ide", ide_at) },
	[SECTION_NODE] = { ROWS(NODE, "nodes", line_of), ITEMS(NODE, node, WEFT_TOPO_NODES),
		KINDS(NODE, out.kind, weft_topo_kind_words) },
	[SECTION_LINK] = { ROWS(LINK, "links", line_of), ITEMS(LINK, link, WEFT_TOPO_LINKS) },
	[SECTION_PORT] = { ROWS(PORT, "ports", line_of) },
	[SECTION_BINDING] = { ROWS(BINDING, "bindings", line_of),
		ITEMS(BINDING, binding, WEFT_TOPO_NODES) },
	[SECTION_SEGMENT] = { ROWS(SEGMENT, "segments", line_of),
		ITEMS(SEGMENT, segment, WEFT_TOPO_SEGMENTS) },
	[SECTION_INTERLEAVE] = { ROWS(INTERLEAVE, "interleave", interleave_at) },
	[SECTION_GROUP] = { ROWS(GROUP, "groups", line_of),
		ITEMS(GROUP, group, WEFT_TOPO_GROUPS) },
	[SECTION_RANGE] = { ROWS(RANGE, "ranges", line_of), ITEMS(RANGE, range, MAX_RANGES) },
	[SECTION_REGION] = { ROWS(REGION, "regions", line_of),
		ITEMS(REGION, region, WEFT_TOPO_REGIONS) },
	[SECTION_CLIENT] = { ROWS(CLIENT, "clients", line_of),
		ITEMS(CLIENT, of_node.client, WEFT_TOPO_NODES * WEFT_TOPO_CLIENTS) },
	[SECTION_WINDOW] = { ROWS(WINDOW, "windows", line_of),
		ITEMS(WINDOW, of_node.window, WEFT_TOPO_NODES * WEFT_TOPO_WINDOWS) },
	[SECTION_ATS] = { ROWS(ATS, "ats", ats_at) },
	[SECTION_TRANSLATION] = { ROWS(TRANSLATION, "translations", line_of),
		ITEMS(TRANSLATION, of_node.translation, WEFT_TOPO_TRANSLATIONS) },
};
/* clang-format on */

static const struct topo_key *
decode_find_key(const struct topo_section *s, const char *name)
{
	for (unsigned int i = 1; i < s->n; i++) {
		if (strcmp(s->key[i].name, name) == 0)
			return &s->key[i];
	}
	return NULL;
}

static int
decode_unknown_key(struct topo_load *l, const struct topo_value *v, const struct topo_section *s)
{
	char list[256] = "";

	for (unsigned int i = 1; i < s->n; i++)
		if (s->key[i].read != topo_read_moved)
			topo_add_word(list, sizeof(list), "|", s->key[i].name);
	return topo_fail(
		l, -EINVAL, v->key_line, "unknown key, expected %s, got \"%.48s\"", list, v->key);
}

/* Read one pair of a mapping into @base, with its key on the path. */
static int
decode_pair(struct topo_load *l, const struct topo_value *v, const struct topo_key *key, void *base,
	unsigned int *line)
{
	size_t end = strlen(l->where);
	int rc;

	snprintf(l->where + end, sizeof(l->where) - end, ".%s", key->name);
	if (*line != 0) {
		rc = topo_fail(l, -EINVAL, v->key_line,
			"duplicate key, expected it once, got it again after line %u", *line);
	} else {
		*line = v->line;
		rc = key->read(l, v, key, base);
	}
	if (rc == 0)
		l->where[end] = '\0';
	return rc;
}

/* What is there must belong to the kind that the mapping says it is. */
static int
decode_check_kinds(struct topo_load *l, const struct topo_section *s, const void *base,
	const unsigned int *line_of)
{
	const unsigned int kind = *((const uint8_t *)base + s->kind);
	const size_t end = strlen(l->where);

	for (unsigned int i = 1; i < s->n; i++) {
		const unsigned int in = s->key[i].flags / TOPO_IN(0);
		char list[64] = "";

		if (line_of[i] == 0 || in == 0 || (in >> kind & 1) != 0)
			continue;
		for (unsigned int k = 0; s->kinds[k] != NULL; k++)
			if ((in >> k & 1) != 0)
				topo_add_word(list, sizeof(list), " or ", s->kinds[k]);
		snprintf(l->where + end, sizeof(l->where) - end, ".%s", s->key[i].name);
		return topo_fail(l, -EINVAL, line_of[i],
			"key of another kind, expected it in a %s only, got it in a %s", list,
			s->kinds[kind]);
	}
	return 0;
}

int
topo_decode_map(
	struct topo_load *l, const struct topo_value *v, const struct topo_section *s, void *base)
{
	unsigned int *line_of = (unsigned int *)(void *)((char *)base + s->line_of);
	const unsigned int before = l->n_fails;
	bool are_known = true;
	int rc;

	line_of[0] = v->line;
	if (v->kind != TOPO_MAP)
		return topo_bad(l, v, "wrong type", "a mapping");
	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next) {
		const struct topo_value *pair = &l->tree.value[i];
		const struct topo_key *key = decode_find_key(s, pair->key);

		are_known = are_known && key != NULL;
		rc = key == NULL ? decode_unknown_key(l, pair, s)
		                 : decode_pair(l, pair, key, base, &line_of[key - s->key]);
		if (rc < 0)
			return rc;
	}
	/* A key that is missing may be the unknown one, misspelt. */
	for (unsigned int i = 1; i < s->n && are_known; i++) {
		if ((s->key[i].flags & REQUIRED) != 0 && line_of[i] == 0)
			return topo_fail(l, -EINVAL, v->line, "key missing, expected %s, got none",
				s->key[i].name);
	}
	return s->kinds != NULL && l->n_fails == before ? decode_check_kinds(l, s, base, line_of)
	                                                : 0;
}

void
topo_set_defaults(struct topo_load *l, const struct topo_section *s, void *base)
{
	for (unsigned int i = 1; i < s->n; i++) {
		const struct topo_key *k = &s->key[i];
		const struct topo_value v = { .kind = TOPO_SCALAR, .text = (char *)k->usual };

		if (k->read == topo_read_map)
			topo_set_defaults(l, k->section, (char *)base + k->offset);
		else if (k->usual[0] != '\0' && k->usual[0] != '(')
			k->read(l, &v, k, base);
	}
}

int
topo_read_map(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	return topo_decode_map(l, v, k->section, (char *)base + k->offset);
}

/* Whether @v is a list of 1..@max. */
static int
decode_check_list(struct topo_load *l, const struct topo_value *v, uint64_t max)
{
	if (v->kind != TOPO_LIST || v->count == 0)
		return topo_bad(l, v, v->kind == TOPO_LIST ? "empty list" : "wrong type",
			"a list of 1..%llu", (unsigned long long)max);
	if (v->count > max)
		return topo_fail(l, -EFBIG, v->line, "too long, expected at most %llu, got %u",
			(unsigned long long)max, v->count);
	return 0;
}

/* Room for @more items of a section after those it has; the first of them, or NULL. */
static char *
decode_add_items(struct topo_load *l, const struct topo_section *s, unsigned int more)
{
	unsigned int *n = (unsigned int *)(void *)((char *)l + s->count);
	char *items;

	memcpy(&items, (char *)l + s->items, sizeof(items));
	items = realloc(items, ((size_t)*n + more) * s->size);
	if (items == NULL)
		return NULL;
	memcpy((char *)l + s->items, &items, sizeof(items));
	items += *n * s->size;
	memset(items, 0, more * s->size);
	*n += more;
	return items;
}

/* The keys of item @v in place of @s, if those of its kind are its own. */
static int
decode_item_section(
	struct topo_load *l, const struct topo_value *v, const struct topo_section **section)
{
	const struct topo_section *s = *section;

	if (s->of_kind == NULL || v->kind != TOPO_MAP)
		return 0;
	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next) {
		const struct topo_value *pair = &l->tree.value[i];

		if (strcmp(pair->key, "kind") != 0)
			continue;
		for (unsigned int k = 0; pair->kind == TOPO_SCALAR && s->kinds[k] != NULL; k++)
			if (strcmp(pair->text, s->kinds[k]) == 0)
				*section = s->of_kind[k];
		return 0;
	}
	*section = NULL;
	return topo_fail(l, -EINVAL, v->line, "key missing, expected kind, got none");
}

static int
decode_read_item(
	struct topo_load *l, const struct topo_value *v, const struct topo_section *s, void *item)
{
	const int rc = decode_item_section(l, v, &s);

	if (rc != 0 || s == NULL)
		return rc;
	topo_set_defaults(l, s, item);
	return topo_decode_map(l, v, s, item);
}

int
topo_read_moved(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	const struct topo_node_src *src = base;

	return topo_fail(l, -EINVAL, v->key_line,
		"load moved to the list \"workloads\": - {on: %s, kind: %s}",
		src->out.name[0] != '\0' ? src->out.name : "NODE", k->allowed);
}

int
topo_read_list(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	const struct topo_section *s = k->section;
	const unsigned int n = *(const unsigned int *)(void *)((char *)l + s->count);
	struct topo_items *mine = (void *)((char *)base + k->offset);
	const size_t end = strlen(l->where);
	const unsigned int before = l->n_fails;
	int rc = decode_check_list(l, v, k->max < s->most - n ? k->max : s->most - n);
	char *item;

	/* Of what is no list there are no items to go on with. */
	if (l->n_fails != before)
		return rc;
	item = decode_add_items(l, s, v->count);
	if (item == NULL)
		return -ENOMEM;
	*mine = (struct topo_items){ .first = n, .n = v->count };
	for (unsigned int i = v->first, at = 0; i != 0 && rc == 0;
		i = l->tree.value[i].next, at++) {
		snprintf(l->where + end, sizeof(l->where) - end, "[%u]", at);
		rc = decode_read_item(l, &l->tree.value[i], s, item + at * s->size);
	}
	if (rc == 0)
		l->where[end] = '\0';
	return rc;
}

int
topo_decode(struct topo_load *l)
{
	topo_set_defaults(l, &topo_section[SECTION_ROOT], l);
	return topo_decode_map(l, &l->tree.value[0], &topo_section[SECTION_ROOT], l);
}
