/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * From values to structs by the rows of keys.def. A key that is in no row, there twice, of another
 * kind, or missing although required is an error. A new key is a row there and the field it fills.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"
#include "weft_ide.h"
#include "weft_isn.h"
#include "weft_wire.h"
#include "weft_words.h"

#include "topo_priv.h"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define NAME_CHARS LOWER DIGITS "_-"
#define HOST_CHARS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "._-"
#define SOCKET_CHARS HOST_CHARS "/@+:~" /* no comma: the path goes into device arguments */

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
#define MAX_TRANSFER (UINT64_C(1) << 30) /* the host holds all of it */
#define MAX_REQUESTS (UINT64_C(1) << 48)
#define MAX_REKEY_MS 86400000 /* a day */
#define LINE 64

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
/* enum weft_topo_transfer_kind */
const char *const topo_transfer_words[] = { "write", "read", "copy", NULL };
const char *const weft_topo_outcomes[] = { "ok", "bad_guard", "bad_apptag", "bad_reftag",
	"poisoned", "lost", "mismatch", "memory_lost", NULL };
const char *const topo_driver_words[] = { [WEFT_TOPO_AUTO] = "auto",
	[WEFT_TOPO_VFIO] = "vfio",
	[WEFT_TOPO_AF_XDP] = "af_xdp",
	[WEFT_TOPO_AF_PACKET] = "af_packet",
	[WEFT_TOPO_MEMIF] = "memif",
	[WEFT_TOPO_RING] = "ring",
	[WEFT_TOPO_VDEV] = "vdev",
	NULL };

/* clang-format off */
#define IN(kind) TOPO_IN(WEFT_TOPO_##kind)
#define FIELD(s, fn, first, last) .read = (fn), .offset = offsetof(s##_struct, first), \
	.width = offsetof(s##_struct, last) + sizeof(((s##_struct *)NULL)->last) - \
		offsetof(s##_struct, first)
#define NUMBER_OF(s, member, low, high, steps) \
	FIELD(s, topo_read_number, member, member), .min = (low), .max = (high), .step = (steps)
#define NUMBER(s, member, low, high) NUMBER_OF(s, member, low, high, 1)
#define SIZE_OF(s, member, low, high, steps) \
	FIELD(s, topo_read_size, member, member), .min = (low), .max = (high), .step = (steps)
#define SIZE(s, member, low, high) SIZE_OF(s, member, low, high, 1)
#define WORD_TO(s, member, list, last) WORD(s, member, list), .max = (last)
#define WORD(s, member, list) FIELD(s, topo_read_word, member, member), .words = (list)
#define TEXT(s, member, chars) FIELD(s, topo_read_text, member, member), .min = 1, \
	.max = sizeof(((s##_struct *)NULL)->member) - 1, .allowed = (chars)
#define NAMES(s, member, low, high) \
	FIELD(s, topo_read_names, member, member), .min = (low), .max = (high)
#define OWN(s, fn, first, last) FIELD(s, fn, first, last)
#define MAP(s, sub) .read = topo_read_map, .section = SECTION_##sub
#define MAP_AT(s, member, sub) FIELD(s, topo_read_map, member, member), .section = SECTION_##sub
#define LIST(s, member, sub, high) \
	FIELD(s, topo_read_list, member, member), .max = (high), .section = SECTION_##sub

#define SECTION(s, type) typedef type s##_struct; static const struct topo_key s##_keys[] = {
#define KEY(s, id, word, type, how, value, what, why) [s##_##id] = { .name = (word), type, \
	.flags = (how), .usual = (value), .form = (what), .help = (why) },
#define END(s) };
#include "keys.def"
#undef SECTION
#undef KEY
#undef END

#define ROWS(s, title, lines) .name = (title), .key = s##_keys, .n = s##_KEYS, \
	.at = offsetof(s##_struct, lines)
#define ITEMS(s, where, in_all) .size = sizeof(s##_struct), \
	.items = offsetof(struct topo_load, where), .most = (in_all)
#define KINDS(s, member, list) .kind = offsetof(s##_struct, member), .kinds = (list)
const struct topo_section topo_section[] = {
	[SECTION_ROOT] = { ROWS(ROOT, "top level", at) },
	[SECTION_DEFAULTS] = { ROWS(DEFAULTS, "defaults", defaults_at) },
	[SECTION_RETRY] = { ROWS(RETRY, "retry", retry_at) },
	[SECTION_IDE] = { ROWS(IDE, "ide", ide_at) },
	[SECTION_NODE] = { ROWS(NODE, "nodes", at), ITEMS(NODE, node, WEFT_TOPO_NODES),
		KINDS(NODE, out.kind, weft_topo_kind_words) },
	[SECTION_LINK] = { ROWS(LINK, "links", at), ITEMS(LINK, link, WEFT_TOPO_LINKS) },
	[SECTION_PORT] = { ROWS(PORT, "ports", at) },
	[SECTION_BINDING] = { ROWS(BINDING, "bindings", at),
		ITEMS(BINDING, binding, WEFT_TOPO_NODES) },
	[SECTION_SEGMENT] = { ROWS(SEGMENT, "segments", at),
		ITEMS(SEGMENT, segment, WEFT_TOPO_SEGMENTS) },
	[SECTION_INTERLEAVE] = { ROWS(INTERLEAVE, "interleave", interleave_at) },
	[SECTION_GROUP] = { ROWS(GROUP, "groups", at),
		ITEMS(GROUP, group, WEFT_TOPO_GROUPS) },
	[SECTION_RANGE] = { ROWS(RANGE, "ranges", at), ITEMS(RANGE, range, MAX_RANGES) },
	[SECTION_WINDOW] = { ROWS(WINDOW, "windows", at),
		ITEMS(WINDOW, window, WEFT_TOPO_NODES * WEFT_TOPO_WINDOWS) },
	[SECTION_ATS] = { ROWS(ATS, "ats", ats_at) },
	[SECTION_TRANSLATION] = { ROWS(TRANSLATION, "translations", at),
		ITEMS(TRANSLATION, translation, WEFT_TOPO_TRANSLATIONS) },
	[SECTION_TRAFFIC] = { ROWS(TRAFFIC, "traffic", traffic_at) },
	[SECTION_UIO] = { ROWS(UIO, "uio", uio_at) },
	[SECTION_TRANSFER] = { ROWS(TRANSFER, "transfers", at),
		ITEMS(TRANSFER, transfer, WEFT_TOPO_TRANSFERS),
		KINDS(TRANSFER, out.kind, topo_transfer_words) },
	[SECTION_CHANGE] = { ROWS(CHANGE, "change", change_at) },
};
/* clang-format on */

static const struct topo_key *
find_key(const struct topo_section *s, const char *name)
{
	for (unsigned int i = 1; i < s->n; i++) {
		if (strcmp(s->key[i].name, name) == 0)
			return &s->key[i];
	}
	return NULL;
}

static int
unknown_key(struct topo_load *l, const struct topo_value *v, const struct topo_section *s)
{
	char list[256] = "";

	for (unsigned int i = 1; i < s->n; i++)
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
check_kinds(
	struct topo_load *l, const struct topo_section *s, const void *base, const unsigned int *at)
{
	const unsigned int kind = *((const uint8_t *)base + s->kind);
	const size_t end = strlen(l->where);

	for (unsigned int i = 1; i < s->n; i++) {
		const unsigned int in = s->key[i].flags / TOPO_IN(0);
		char list[64] = "";

		if (at[i] == 0 || in == 0 || (in >> kind & 1) != 0)
			continue;
		for (unsigned int k = 0; s->kinds[k] != NULL; k++)
			if ((in >> k & 1) != 0)
				topo_add_word(list, sizeof(list), " or ", s->kinds[k]);
		snprintf(l->where + end, sizeof(l->where) - end, ".%s", s->key[i].name);
		return topo_fail(l, -EINVAL, at[i],
			"key of another kind, expected it in a %s only, got it in a %s", list,
			s->kinds[kind]);
	}
	return 0;
}

int
topo_decode_map(
	struct topo_load *l, const struct topo_value *v, const struct topo_section *s, void *base)
{
	unsigned int *at = (unsigned int *)(void *)((char *)base + s->at);
	const unsigned int before = l->n_fails;
	int rc;

	at[0] = v->line;
	if (v->kind != TOPO_MAP)
		return topo_bad(l, v, "wrong type", "a mapping");
	for (unsigned int i = v->first; i != 0; i = l->tree.value[i].next) {
		const struct topo_value *pair = &l->tree.value[i];
		const struct topo_key *key = find_key(s, pair->key);

		if (key == NULL)
			return unknown_key(l, pair, s);
		rc = decode_pair(l, pair, key, base, &at[key - s->key]);
		if (rc < 0)
			return rc;
	}
	for (unsigned int i = 1; i < s->n; i++) {
		if ((s->key[i].flags & REQUIRED) != 0 && at[i] == 0)
			return topo_fail(l, -EINVAL, v->line, "key missing, expected %s, got none",
				s->key[i].name);
	}
	return s->kinds != NULL && l->n_fails == before ? check_kinds(l, s, base, at) : 0;
}

void
topo_set_defaults(struct topo_load *l, const struct topo_section *s, void *base)
{
	for (unsigned int i = 1; i < s->n; i++) {
		const struct topo_key *k = &s->key[i];
		const struct topo_value v = { .kind = TOPO_SCALAR, .text = (char *)k->usual };

		if (k->read == topo_read_map)
			topo_set_defaults(l, &topo_section[k->section], (char *)base + k->offset);
		else if (k->usual[0] != '\0' && k->usual[0] != '(')
			k->read(l, &v, k, base);
	}
}

int
topo_read_map(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	return topo_decode_map(l, v, &topo_section[k->section], (char *)base + k->offset);
}

/* Whether @v is a list of 1..@max; nobody can go on with the items of another: an error in any case. */
static int
check_list(struct topo_load *l, const struct topo_value *v, uint64_t max)
{
	if (v->kind != TOPO_LIST || v->count == 0) {
		topo_bad(l, v, v->kind == TOPO_LIST ? "empty list" : "wrong type",
			"a list of 1..%llu", (unsigned long long)max);
		return -EINVAL;
	}
	if (v->count > max)
		return topo_fail(l, -EFBIG, v->line, "too long, expected at most %llu, got %u",
			(unsigned long long)max, v->count);
	return 0;
}

/* Room for @more items of a section after those it has; the first of them, or NULL. */
static char *
add_items(struct topo_load *l, const struct topo_section *s, unsigned int more)
{
	unsigned int *n = &l->n[s - topo_section];
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

int
topo_read_list(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	const struct topo_section *s = &topo_section[k->section];
	const unsigned int n = l->n[k->section];
	struct topo_items *mine = (void *)((char *)base + k->offset);
	const size_t end = strlen(l->where);
	int rc = check_list(l, v, k->max < s->most - n ? k->max : s->most - n);
	char *item;

	if (rc < 0)
		return rc;
	item = add_items(l, s, v->count);
	if (item == NULL)
		return -ENOMEM;
	*mine = (struct topo_items){ .first = n, .n = v->count };
	for (unsigned int i = v->first, at = 0; i != 0 && rc == 0;
		i = l->tree.value[i].next, at++) {
		snprintf(l->where + end, sizeof(l->where) - end, "[%u]", at);
		topo_set_defaults(l, s, item + at * s->size);
		rc = topo_decode_map(l, &l->tree.value[i], s, item + at * s->size);
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
