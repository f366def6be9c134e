/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The keys of segments, groups and bindings, and of their parts; space.c and attach.c check what they
 * say together.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo_keys.h"

#define MAX_MEMORY (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2)
#define MAX_SIZE (UINT64_C(1) << WEFT_TOPO_SEGMENT_LOG2_MAX)
#define MAX_RANGES 8192

static const struct topo_key interleave_keys[INTERLEAVE_KEYS] = {
	[INTERLEAVE_WAYS] =
		NUMBER("ways", REQUIRED, struct topo_segment_src, ways, 2, WEFT_TOPO_WAYS),
	[INTERLEAVE_GRANULARITY] =
		SIZE("granularity", OPTIONAL, struct topo_segment_src, granularity, 256, 16384),
	[INTERLEAVE_TARGETS] =
		NAMES("targets", REQUIRED, struct topo_segment_src, targets, 2, WEFT_TOPO_WAYS),
};

static int
read_interleave(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	struct topo_segment_src *src = base;

	(void)k;
	return topo_decode_map(l, v, interleave_keys, INTERLEAVE_KEYS, src, src->interleave_at);
}

static const struct topo_key segment_keys[SEGMENT_KEYS] = {
	[SEGMENT_TARGET] = TEXT("target", OPTIONAL, struct topo_segment_src, name, NAME_CHARS),
	[SEGMENT_INTERLEAVE] = OTHER("interleave", OPTIONAL, read_interleave),
	[SEGMENT_GIM] = TEXT("gim", OPTIONAL, struct topo_segment_src, name, NAME_CHARS),
	[SEGMENT_SIZE] =
		SIZE("size", OPTIONAL, struct topo_segment_src, size, WEFT_TOPO_BLOCK, MAX_SIZE),
};

static int
read_segment(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_segment_src *src = &l->segment[index];

	src->line = v->line;
	src->ways = 1;
	src->granularity = 256;
	return topo_decode_map(l, v, segment_keys, SEGMENT_KEYS, src, src->at);
}

int
topo_read_segments(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	int rc = topo_check_list(l, v, WEFT_TOPO_SEGMENTS);

	(void)k;
	(void)base;
	if (rc < 0)
		return rc;
	l->segment = calloc(v->count, sizeof(*l->segment));
	if (l->segment == NULL)
		return -ENOMEM;
	l->n_segments = v->count;
	return topo_decode_list(l, v, read_segment);
}

static const struct topo_key range_keys[RANGE_KEYS] = {
	[RANGE_GFD] = TEXT("gfd", REQUIRED, struct topo_range_src, gfd, NAME_CHARS),
	[RANGE_BASE] = SIZE("base", OPTIONAL, struct topo_range_src, out.base, 0, MAX_MEMORY),
	[RANGE_SIZE] = SIZE(
		"size", OPTIONAL, struct topo_range_src, out.size, WEFT_TOPO_BLOCK, MAX_MEMORY),
};

static int
read_range(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_range_src *src = &l->range[l->t.n_ranges++];

	(void)index;
	src->line = v->line;
	src->out.group = (uint8_t)(l->t.n_groups - 1);
	return topo_decode_map(l, v, range_keys, RANGE_KEYS, src, src->at);
}

static int
read_ranges(struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	int rc = topo_check_list(l, v, MAX_RANGES - l->t.n_ranges);
	const size_t n = (size_t)l->t.n_ranges + v->count;
	struct topo_range_src *more;

	(void)k;
	(void)base;
	if (rc < 0)
		return rc;
	more = realloc(l->range, n * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	memset(more + l->t.n_ranges, 0, v->count * sizeof(*more));
	l->range = more;
	return topo_decode_list(l, v, read_range);
}

static const struct topo_key group_keys[GROUP_KEYS] = {
	[GROUP_NAME] = TEXT("name", REQUIRED, struct topo_group_src, out.name, NAME_CHARS),
	[GROUP_RANGES] = OTHER("ranges", REQUIRED, read_ranges),
};

static int
read_group(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_group_src *src = &l->group[index];

	src->line = v->line;
	l->t.n_groups++;
	return topo_decode_map(l, v, group_keys, GROUP_KEYS, src, src->at);
}

int
topo_read_groups(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	int rc = topo_check_list(l, v, WEFT_TOPO_GROUPS);

	(void)k;
	(void)base;
	if (rc < 0)
		return rc;
	l->group = calloc(v->count, sizeof(*l->group));
	return l->group == NULL ? -ENOMEM : topo_decode_list(l, v, read_group);
}

static const struct topo_key binding_keys[BINDING_KEYS] = {
	[BINDING_HOST] = TEXT("host", REQUIRED, struct topo_binding_src, host, NAME_CHARS),
	[BINDING_DEVICE] = TEXT("device", REQUIRED, struct topo_binding_src, device, NAME_CHARS),
	[BINDING_PID] =
		NUMBER("pid", OPTIONAL, struct topo_binding_src, pid, 0, WEFT_TOPO_NO_PID - 1),
};

static int
read_binding(struct topo_load *l, const struct topo_value *v, unsigned int index)
{
	struct topo_binding_src *src = &l->binding[index];

	src->line = v->line;
	return topo_decode_map(l, v, binding_keys, BINDING_KEYS, src, src->at);
}

int
topo_read_bindings(
	struct topo_load *l, const struct topo_value *v, const struct topo_key *k, void *base)
{
	int rc = topo_check_list(l, v, WEFT_TOPO_NODES);

	(void)k;
	(void)base;
	if (rc < 0)
		return rc;
	l->binding = calloc(v->count, sizeof(*l->binding));
	if (l->binding == NULL)
		return -ENOMEM;
	l->t.n_bindings = (uint16_t)v->count;
	return topo_decode_list(l, v, read_binding);
}
