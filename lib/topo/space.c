/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The address space and who may reach what (fabric.md sections 1.2 to 1.7 and 2.4): segments take
 * memory of their GFDs in file order, groups name ranges of it, hosts name groups. A file that says
 * nothing of it gets a segment for each GFD and a group of everything, unless a manager gives
 * memory out: then nobody has any.
 */

#include <errno.h>
#include <stdlib.h>

#include "weft_seg.h"

#include "topo_priv.h"

#define ADDRESS_BITS 52

/* What is being placed. */
struct placing {
	struct topo_load *l;
	const struct topo_segment_src *src;
	struct weft_topo_segment *segment;
	unsigned int index;
	unsigned int n_ways; /* of segments that take turns, so far */
	uint64_t *used; /* bytes of each node's memory that segments have */
	uint8_t *decoders; /* of each node */
};

static unsigned int
space_ways(const struct weft_topo_segment *s)
{
	return 1u << s->ways_log2;
}

static int
space_find_form(struct placing *p)
{
	const unsigned int *line_of = p->src->line_of;
	const int n = (line_of[SEGMENT_TARGET] != 0) + (line_of[SEGMENT_INTERLEAVE] != 0) +
	              (line_of[SEGMENT_GIM] != 0);

	topo_where(p->l, "segments[%u]", p->index);
	if (n != 1)
		return topo_fail(p->l, -EINVAL, p->src->line_of[0],
			"bad segment, expected one of target, interleave and gim, got %s",
			n == 0 ? "none" : "several");
	p->segment->is_gim = line_of[SEGMENT_GIM] != 0;
	if (line_of[SEGMENT_INTERLEAVE] == 0)
		return 0;
	topo_where(p->l, "segments[%u].interleave", p->index);
	if (p->l->tree.value[p->src->targets].count != p->src->ways)
		return topo_fail(p->l, -EINVAL, p->src->interleave_at[INTERLEAVE_TARGETS],
			"bad targets, expected as many as ways, %u, got %u", p->src->ways,
			p->l->tree.value[p->src->targets].count);
	p->segment->ways_log2 = (uint8_t)__builtin_ctz(p->src->ways);
	p->segment->gran = (uint8_t)(__builtin_ctzll(p->src->granularity) - 8);
	return 0;
}

/* A host that does not say what it offers: its segment is as large as the file has it. */
static bool
space_is_unknown(const struct placing *p, const struct weft_topo_node *node)
{
	return p->segment->is_gim && node->gim == 0;
}

static int
space_add_target(struct placing *p, const char *name, unsigned int line)
{
	struct weft_topo *t = &p->l->t;
	const uint8_t kind = p->segment->is_gim ? WEFT_TOPO_HOST : WEFT_TOPO_GFD;
	int node = weft_topo_find(t, name);
	const bool is_device = node >= 0 && p->src->line_of[SEGMENT_TARGET] != 0 &&
	                       t->node[node].kind == WEFT_TOPO_DEVICE;

	if (node < 0 || (t->node[node].kind != kind && !is_device))
		return topo_fail(p->l, -EINVAL, line,
			"bad target, expected the name of a %s, got \"%.48s\"",
			weft_topo_kind_words[kind], name);
	if (is_device && t->node[node].memory == 0)
		return topo_fail(p->l, -EINVAL, line,
			"device without memory, expected one with it, got %s", name);
	for (uint32_t i = p->segment->first_target; i < t->map.n_targets; i++)
		if (t->map.target[i].node == node)
			return topo_fail(p->l, -EINVAL, line,
				"target twice, expected another gfd for each way, as a decoder has "
				"one way (fabric.md 1.6), got %s again",
				name);
	if (p->decoders[node] == WEFT_TOPO_DECODERS)
		return topo_fail(p->l, -EINVAL, line,
			"too many segments of %s %s, expected at most %d, its decoders for a "
			"requester (fabric.md 1.6), got one more",
			weft_topo_kind_words[t->node[node].kind], name, WEFT_TOPO_DECODERS);
	t->map.target[t->map.n_targets++] = (struct weft_topo_target){
		.node = (uint16_t)node,
		.decoder = p->decoders[node]++,
		.dpa = space_is_unknown(p, &t->node[node]) ? 0 : p->used[node],
	};
	return 0;
}

static int
space_add_targets(struct placing *p)
{
	const struct topo_value *value = p->l->tree.value;
	const unsigned int *line_of = p->src->line_of;
	int rc = 0;

	p->segment->first_target = p->l->t.map.n_targets;
	if (line_of[SEGMENT_INTERLEAVE] == 0) {
		topo_where(
			p->l, "segments[%u].%s", p->index, p->segment->is_gim ? "gim" : "target");
		return space_add_target(p, p->src->name,
			line_of[p->segment->is_gim ? SEGMENT_GIM : SEGMENT_TARGET]);
	}
	topo_where(p->l, "segments[%u].interleave.targets", p->index);
	for (unsigned int i = value[p->src->targets].first; i != 0 && rc == 0; i = value[i].next)
		rc = space_add_target(p, value[i].text, value[i].line);
	return rc;
}

/* Unit of a segment's size: whole blocks and whole turns of all ways. */
static uint64_t
space_unit(const struct placing *p)
{
	const uint64_t gran = UINT64_C(256) << p->segment->gran;

	return (gran > WEFT_TOPO_BLOCK ? gran : WEFT_TOPO_BLOCK) << p->segment->ways_log2;
}

/* Bytes of a way, by the target with the least memory left. */
static uint64_t
space_room(const struct placing *p, const struct weft_topo_node **least)
{
	const struct weft_topo *t = &p->l->t;
	uint64_t room = UINT64_MAX;

	for (unsigned int w = 0; w < space_ways(p->segment); w++) {
		unsigned int node = t->map.target[p->segment->first_target + w].node;
		uint64_t left = (p->segment->is_gim ? t->node[node].gim : t->node[node].memory) -
		                p->used[node];

		if (left < room) {
			room = left;
			*least = &t->node[node];
		}
	}
	return room;
}

static int
space_take_memory(struct placing *p)
{
	struct weft_topo *t = &p->l->t;
	const uint64_t whole = UINT64_C(1) << t->map.segment_log2, unit = space_unit(p);
	const struct weft_topo_node *least = NULL;
	const bool unknown =
		space_is_unknown(p, &t->node[t->map.target[p->segment->first_target].node]);
	const uint64_t room = unknown ? whole : space_room(p, &least);
	uint64_t size = p->src->line_of[SEGMENT_SIZE] != 0
	                        ? p->src->size
	                        : (room << p->segment->ways_log2) / unit * unit;

	size = p->src->line_of[SEGMENT_SIZE] == 0 && size > whole ? whole : size;
	topo_where(p->l, "segments[%u].size", p->index);
	if (size == 0 || size > whole || size % unit != 0)
		return topo_fail(p->l, -EINVAL,
			size == 0 ? p->src->line_of[0] : p->src->line_of[SEGMENT_SIZE],
			"bad size, expected a multiple of %llu up to %llu, got %llu",
			(unsigned long long)unit, (unsigned long long)whole,
			(unsigned long long)size);
	if (size >> p->segment->ways_log2 > room)
		return topo_fail(p->l, -EINVAL, p->src->line_of[SEGMENT_SIZE],
			"more than %s %s has left, expected at most %llu for each of %u ways, got "
			"%llu",
			weft_topo_kind_words[least->kind], least->name, (unsigned long long)room,
			space_ways(p->segment),
			(unsigned long long)(size >> p->segment->ways_log2));
	p->segment->size = size;
	for (unsigned int w = 0; !unknown && w < space_ways(p->segment); w++)
		p->used[t->map.target[p->segment->first_target + w].node] +=
			size >> p->segment->ways_log2;
	return 0;
}

/* Those that take turns share the IDT of an edge port. */
static int
space_count_ways(struct placing *p)
{
	if (p->segment->ways_log2 == 0)
		return 0;
	p->n_ways += space_ways(p->segment);
	if (p->n_ways <= WEFT_SEG_ENTRIES || p->n_ways - space_ways(p->segment) > WEFT_SEG_ENTRIES)
		return 0;
	topo_where(p->l, "segments[%u].interleave.ways", p->index);
	return topo_fail(p->l, -EINVAL, p->src->interleave_at[INTERLEAVE_WAYS],
		"too many ways, expected at most %u of all segments, the size of an IDT (fabric.md "
		"1.4), got %u",
		WEFT_SEG_ENTRIES, p->n_ways);
}

static int
space_place_segments(struct topo_load *l, struct placing *p)
{
	int rc = 0;

	for (unsigned int i = 0; i < l->n[SECTION_SEGMENT] && rc == 0; i++) {
		const unsigned int before = l->n_fails;

		p->index = i;
		p->src = &l->segment[i];
		p->segment = &l->t.map.segment[i];
		p->segment->base =
			weft_topo_fast_base(&l->t) + ((uint64_t)i << l->t.map.segment_log2);
		rc = space_find_form(p);
		if (rc == 0 && l->n_fails == before)
			rc = space_count_ways(p);
		if (rc == 0 && l->n_fails == before)
			rc = space_add_targets(p);
		if (rc == 0 && l->n_fails == before)
			rc = space_take_memory(p);
	}
	return rc;
}

static void
space_plain_segments(struct weft_topo *t)
{
	for (uint16_t g = 0; g < t->n_gfds; g++) {
		t->map.segment[g] = (struct weft_topo_segment){
			.base = weft_topo_fast_base(t) + ((uint64_t)g << t->map.segment_log2),
			.size = t->node[t->gfd[g]].memory,
			.first_target = g,
		};
		t->map.target[g].node = t->gfd[g];
	}
	t->map.n_targets = t->n_gfds;
}

static int
space_make_segments(struct topo_load *l)
{
	struct weft_topo *t = &l->t;
	const bool given = l->line_of[ROOT_SEGMENTS] != 0;
	size_t targets = t->n_gfds;
	struct placing p = { .l = l };
	int rc = -ENOMEM;

	t->map.segment_log2 = (uint8_t)__builtin_ctzll(l->segment_size);
	t->map.n_segments = given ? (uint16_t)l->n[SECTION_SEGMENT] : t->n_gfds;
	topo_where(l, "segment_size");
	if (weft_topo_fast_base(t) + ((uint64_t)t->map.n_segments << t->map.segment_log2) >
		UINT64_C(1) << ADDRESS_BITS)
		return topo_fail(l, -EINVAL, l->line_of[ROOT_SEGMENT_SIZE],
			"segments do not fit, expected all of them below 2^%d, got %u",
			ADDRESS_BITS, t->map.n_segments);
	for (unsigned int i = 0; given && i < l->n[SECTION_SEGMENT]; i++)
		targets += l->segment[i].line_of[SEGMENT_INTERLEAVE] != 0 ? l->segment[i].ways : 1;
	t->map.segment = calloc(t->map.n_segments + 1u, sizeof(*t->map.segment));
	t->map.target = calloc(targets + 1, sizeof(*t->map.target));
	p.used = calloc(t->n_nodes, sizeof(*p.used));
	p.decoders = calloc(t->n_nodes, sizeof(*p.decoders));
	if (t->map.segment != NULL && t->map.target != NULL && p.used != NULL &&
		p.decoders != NULL) {
		rc = given ? space_place_segments(l, &p) : 0;
		if (!given)
			space_plain_segments(t);
	}
	free(p.used);
	free(p.decoders);
	return rc;
}

static int
space_place_range(struct topo_load *l, unsigned int group, unsigned int i)
{
	struct weft_topo *t = &l->t;
	struct topo_range_src *src = &l->range[i];
	const int node = weft_topo_find(t, src->gfd);

	src->out.group = (uint8_t)group;
	topo_where(l, "groups[%u].ranges", group);
	if (node < 0 || t->node[node].kind != WEFT_TOPO_GFD)
		return topo_fail(l, -EINVAL, src->line_of[RANGE_GFD],
			"bad range, expected the name of a gfd, got \"%s\"", src->gfd);
	src->out.gfd = (uint16_t)node;
	if (src->line_of[RANGE_SIZE] == 0 && src->out.base < t->node[node].memory)
		src->out.size = t->node[node].memory - src->out.base;
	if (src->out.base % WEFT_TOPO_BLOCK != 0 || src->out.size % WEFT_TOPO_BLOCK != 0 ||
		src->out.size == 0 || src->out.base + src->out.size > t->node[node].memory)
		return topo_fail(l, -EINVAL, src->line_of[0],
			"bad range, expected multiples of %d in the %llu bytes of %s, got %llu "
			"from %llu on",
			WEFT_TOPO_BLOCK, (unsigned long long)t->node[node].memory, src->gfd,
			(unsigned long long)src->out.size, (unsigned long long)src->out.base);
	for (unsigned int j = 0; j < i; j++) {
		const struct topo_range_src *o = &l->range[j];

		if (o->out.gfd == node && src->out.base < o->out.base + o->out.size &&
			o->out.base < src->out.base + src->out.size)
			return topo_fail(l, -EINVAL, src->line_of[0],
				"ranges overlap, expected one group for a block (fabric.md 1.7), "
				"got memory of %s of line %u again",
				src->gfd, o->line_of[0]);
	}
	t->access.range[i] = src->out;
	return 0;
}

static int
space_check_group(struct topo_load *l, unsigned int i)
{
	topo_where(l, "groups[%u].name", i);
	for (unsigned int j = 0; j < i; j++)
		if (strcmp(l->group[i].out.name, l->group[j].out.name) == 0)
			return topo_fail(l, -EINVAL, l->group[i].line_of[GROUP_NAME],
				"duplicate name, expected one no other group has, got \"%s\" of "
				"line %u",
				l->group[i].out.name, l->group[j].line_of[GROUP_NAME]);
	l->t.access.group[i] = l->group[i].out;
	return 0;
}

static int
space_place_ranges(struct topo_load *l, unsigned int group)
{
	const struct topo_items *r = &l->group[group].ranges;
	int rc = 0;

	for (unsigned int i = r->first; i < r->first + r->n && rc == 0; i++)
		rc = space_place_range(l, group, i);
	return rc;
}

/* A group of all memory. */
static void
space_plain_groups(struct weft_topo *t)
{
	t->access.n_groups = 1;
	strcpy(t->access.group[0].name, "all");
	for (uint16_t g = 0; g < t->n_gfds; g++)
		t->access.range[t->access.n_ranges++] = (struct weft_topo_range){
			.gfd = t->gfd[g],
			.size = t->node[t->gfd[g]].memory,
		};
}

static int
space_make_groups(struct topo_load *l)
{
	struct weft_topo *t = &l->t;
	int rc = 0;

	t->access.group = calloc(t->access.n_groups + 1u, sizeof(*t->access.group));
	t->access.range =
		calloc((size_t)t->access.n_ranges + t->n_gfds + 1u, sizeof(*t->access.range));
	if (t->access.group == NULL || t->access.range == NULL)
		return -ENOMEM;
	if (l->line_of[ROOT_GROUPS] == 0 && t->access.management == WEFT_TOPO_MANAGED_BY_FILE)
		space_plain_groups(t);
	for (unsigned int i = 0; l->line_of[ROOT_GROUPS] != 0 && i < t->access.n_groups && rc == 0;
		i++)
		rc = space_check_group(l, i);
	for (unsigned int i = 0; l->line_of[ROOT_GROUPS] != 0 && i < t->access.n_groups && rc == 0;
		i++)
		rc = space_place_ranges(l, i);
	return rc;
}

/* A host or device that names no groups may reach all of them. */
static int
space_grant(struct topo_load *l, unsigned int i)
{
	struct weft_topo *t = &l->t;
	const struct topo_value *value = l->tree.value;

	if (l->node[i].line_of[NODE_ACCESS] == 0) {
		if (t->access.n_groups != 0)
			t->node[i].access = UINT64_MAX >> (WEFT_TOPO_GROUPS - t->access.n_groups);
		return 0;
	}
	topo_where(l, "nodes[%u].access", i);
	for (unsigned int v = value[l->node[i].access].first; v != 0; v = value[v].next) {
		unsigned int g = 0;

		while (g < t->access.n_groups &&
			strcmp(t->access.group[g].name, value[v].text) != 0)
			g++;
		if (g == t->access.n_groups || l->line_of[ROOT_GROUPS] == 0)
			return topo_fail(l, -EINVAL, value[v].line,
				"unknown group, expected a name under groups, got \"%.48s\"",
				value[v].text);
		t->node[i].access |= UINT64_C(1) << g;
	}
	return 0;
}

int
topo_space(struct topo_load *l)
{
	int rc = space_make_segments(l);

	if (rc == 0)
		rc = space_make_groups(l);
	l->t.map.is_default = l->line_of[ROOT_SEGMENTS] == 0 && l->line_of[ROOT_GROUPS] == 0 &&
	                      l->line_of[ROOT_SEGMENT_SIZE] == 0 &&
	                      l->line_of[ROOT_BINDINGS] == 0 &&
	                      l->t.access.management == WEFT_TOPO_MANAGED_BY_FILE;
	for (unsigned int i = 0; i < l->t.n_nodes; i++)
		if (l->t.node[i].kind >= WEFT_TOPO_DEVICE)
			l->t.map.is_default = false;
	for (unsigned int i = 0; i < l->t.n_nodes && rc == 0; i++) {
		if (l->t.node[i].kind != WEFT_TOPO_HOST && l->t.node[i].kind != WEFT_TOPO_DEVICE)
			continue;
		rc = space_grant(l, i);
		if (l->node[i].line_of[NODE_ACCESS] != 0)
			l->t.map.is_default = false;
	}
	return rc;
}
