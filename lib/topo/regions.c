/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Regions: memory that has a name for programs (attach.md section 4). The file names parts of GFDs
 * and segments; every segment of GFDs has a name without that. A region is in one segment, so its
 * addresses follow each other.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo_priv.h"

/* Memory of GFDs, which is what a host reaches by CXL.mem. */
static bool
regions_is_memory(const struct weft_topo *t, const struct weft_topo_segment *s)
{
	for (unsigned int w = 0; w < 1u << s->ways_log2; w++)
		if (t->node[t->map.target[s->first_target + w].node].kind != WEFT_TOPO_GFD)
			return false;
	return !s->is_gim;
}

int
weft_topo_find_region(const struct weft_topo *t, const char *name, size_t len)
{
	for (unsigned int i = 0; i < t->attach.n_regions; i++) {
		const char *is = t->attach.region[i].name;

		if (strlen(is) == len && strncmp(is, name, len) == 0)
			return (int)i;
	}
	return -ENOENT;
}

/* --- those that have a name without being given one --- */

static void
regions_add_segment(struct weft_topo *t, unsigned int s, const uint32_t *places)
{
	const struct weft_topo_segment *seg = &t->map.segment[s];
	const uint16_t node = t->map.target[seg->first_target].node;
	struct weft_topo_region *r = &t->attach.region[t->attach.n_regions++];

	*r = (struct weft_topo_region){ .segment = (uint16_t)s, .size = seg->size };
	if (seg->ways_log2 == 0 && places[node] == 1)
		memcpy(r->name, t->node[node].name, sizeof(r->name));
	else
		snprintf(r->name, sizeof(r->name), "seg%u", s);
}

static int
regions_add_segments(struct weft_topo *t)
{
	uint32_t *places = calloc(t->n_nodes, sizeof(*places));

	if (places == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->map.n_targets; i++)
		places[t->map.target[i].node]++;
	for (unsigned int s = 0; s < t->map.n_segments; s++)
		if (regions_is_memory(t, &t->map.segment[s]))
			regions_add_segment(t, s, places);
	free(places);
	return 0;
}

/* --- those of the file --- */

/* The segment without turns that holds what begins at @offset of a GFD's memory. */
static const struct weft_topo_segment *
regions_segment_at(const struct weft_topo *t, int gfd, uint64_t offset, uint64_t *dpa)
{
	for (unsigned int s = 0; s < t->map.n_segments; s++) {
		const struct weft_topo_segment *seg = &t->map.segment[s];
		const struct weft_topo_target *target = &t->map.target[seg->first_target];

		if (seg->ways_log2 != 0 || target->node != gfd || offset < target->dpa ||
			offset - target->dpa >= seg->size)
			continue;
		*dpa = target->dpa;
		return seg;
	}
	return NULL;
}

static int
regions_fail_place(
	struct topo_load *l, const struct topo_region_src *src, uint64_t room, const char *of)
{
	const unsigned int key = src->line_of[REGION_SIZE] != 0 ? REGION_SIZE : REGION_OFFSET;

	return topo_fail(l, -EINVAL, topo_line(src->line_of, key),
		"bad region, expected multiples of %d in the %llu bytes of %s, got %llu from %llu "
		"on",
		WEFT_TOPO_BLOCK, (unsigned long long)room, of, (unsigned long long)src->out.size,
		(unsigned long long)src->offset);
}

/* In a segment: @offset from its beginning. */
static int
regions_fit(struct topo_load *l, struct topo_region_src *src, const struct weft_topo_segment *s,
	uint64_t offset)
{
	struct weft_topo_region *r = &src->out;

	if (src->line_of[REGION_SIZE] == 0 && offset < s->size)
		r->size = s->size - offset;
	if (offset % WEFT_TOPO_BLOCK != 0 || r->size % WEFT_TOPO_BLOCK != 0 || offset >= s->size ||
		r->size > s->size - offset)
		return regions_fail_place(l, src, s->size, "its segment");
	r->segment = (uint16_t)(s - l->t.map.segment);
	r->offset = offset;
	return 0;
}

static int
regions_place_in_gfd(struct topo_load *l, struct topo_region_src *src)
{
	const struct weft_topo *t = &l->t;
	const int gfd = weft_topo_find(t, src->gfd);
	const struct weft_topo_segment *s;
	uint64_t dpa = 0;

	if (gfd < 0 || t->node[gfd].kind != WEFT_TOPO_GFD)
		return topo_fail(l, -EINVAL, src->line_of[REGION_GFD],
			"bad region, expected the name of a gfd, got \"%s\"", src->gfd);
	if (src->offset >= t->node[gfd].memory ||
		(src->line_of[REGION_SIZE] != 0 &&
			src->out.size > t->node[gfd].memory - src->offset))
		return regions_fail_place(l, src, t->node[gfd].memory, src->gfd);
	s = regions_segment_at(t, gfd, src->offset, &dpa);
	if (s == NULL ||
		(src->line_of[REGION_SIZE] != 0 && src->out.size > s->size - (src->offset - dpa)))
		return topo_fail(l, -EINVAL, src->line_of[0],
			"not in one segment, expected memory of %s in a segment without "
			"interleave, or segment in place of gfd, got %llu bytes from %llu on",
			src->gfd, (unsigned long long)src->out.size,
			(unsigned long long)src->offset);
	return regions_fit(l, src, s, src->offset - dpa);
}

static int
regions_place(struct topo_load *l, struct topo_region_src *src)
{
	const struct weft_topo *t = &l->t;

	if ((src->line_of[REGION_GFD] != 0) == (src->line_of[REGION_SEGMENT] != 0))
		return topo_fail(l, -EINVAL, src->line_of[0],
			"bad region, expected one of gfd and segment, got %s",
			src->line_of[REGION_GFD] != 0 ? "both" : "none");
	if (src->line_of[REGION_GFD] != 0)
		return regions_place_in_gfd(l, src);
	if (src->segment >= t->map.n_segments ||
		!regions_is_memory(t, &t->map.segment[src->segment]))
		return topo_fail(l, -EINVAL, src->line_of[REGION_SEGMENT],
			"bad segment, expected the number of one of %u that has memory of gfds, "
			"got %u",
			t->map.n_segments, src->segment);
	return regions_fit(l, src, &t->map.segment[src->segment], src->offset);
}

/* Of segments, which stand behind them, and of each other. */
static int
regions_check_name(struct topo_load *l, unsigned int i)
{
	const struct weft_topo *t = &l->t;
	const struct topo_region_src *src = &l->region[i];

	topo_where(l, "regions[%u].name", i);
	for (unsigned int j = 0; j < i; j++)
		if (strcmp(src->out.name, l->region[j].out.name) == 0)
			return topo_fail(l, -EINVAL, src->line_of[REGION_NAME],
				"duplicate name, expected one no other region has, got \"%s\" of "
				"line %u",
				src->out.name, l->region[j].line_of[REGION_NAME]);
	for (unsigned int j = l->n[SECTION_REGION]; j < t->attach.n_regions; j++)
		if (strcmp(src->out.name, t->attach.region[j].name) == 0)
			return topo_fail(l, -EINVAL, src->line_of[REGION_NAME],
				"duplicate name, expected one no segment has, got \"%s\" of "
				"segment %u",
				src->out.name, t->attach.region[j].segment);
	return 0;
}

int
topo_regions(struct topo_load *l)
{
	struct weft_topo *t = &l->t;
	const unsigned int n = l->n[SECTION_REGION];
	int rc;

	t->attach.region = calloc(n + t->map.n_segments + 1u, sizeof(*t->attach.region));
	if (t->attach.region == NULL)
		return -ENOMEM;
	t->attach.n_regions = (uint16_t)n;
	rc = regions_add_segments(t);
	for (unsigned int i = 0; i < n && rc == 0; i++) {
		const unsigned int before = l->n_fails;

		rc = regions_check_name(l, i);
		topo_where(l, "regions[%u]", i);
		if (rc == 0 && l->n_fails == before)
			rc = regions_place(l, &l->region[i]);
		l->region[i].out.is_given = true;
		t->attach.region[i] = l->region[i].out;
	}
	return rc;
}
