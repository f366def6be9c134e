/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Regions of a host: each segment of GFDs that it may reach. One that is all of a GFD's has its
 * name, any other is called segK. Of a segment without interleaving that is open in parts each part
 * is one, called by its place: g0:OFFSET+SIZE.
 */

#include "attach_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft_resolve.h"

/* A segment as a host sees it. */
struct region_view {
	const struct weft_topo *t;
	uint16_t host; /* node */
	const struct weft_topo_segment *s;
	struct weft_resolve_hop *hop;
};

static uint64_t
region_ways(const struct weft_topo_segment *s)
{
	return UINT64_C(1) << s->ways_log2;
}

static uint64_t
region_granule(const struct weft_topo_segment *s)
{
	return UINT64_C(256) << s->gran;
}

/* Bytes of a way in front of an offset of the segment; @p up: of its granule all. */
static uint64_t
region_in_way(const struct weft_topo_segment *s, uint64_t offset, bool up)
{
	const uint64_t stripe = region_granule(s) * region_ways(s);

	if (s->ways_log2 == 0)
		return offset;
	return (up ? (offset + stripe - 1) / stripe : offset / stripe) * region_granule(s);
}

static uint64_t
region_address(const struct weft_topo_segment *s, uint64_t way, uint64_t in_way)
{
	const uint64_t g = region_granule(s);

	if (s->ways_log2 == 0)
		return s->base + in_way;
	return s->base + (in_way / g * region_ways(s) + way) * g + in_way % g;
}

static bool
region_is_open(const struct region_view *v, uint64_t way, uint64_t in_way)
{
	struct weft_resolve r;

	return weft_resolve(v->t, v->host, region_address(v->s, way, in_way), false, &r, v->hop) ==
	               0 &&
	       r.rule == WEFT_RESOLVE_ALLOWED;
}

/* Where, behind @p at, rights may be others: the next end of a range of the target; or @p end. */
static uint64_t
region_next_border(const struct region_view *v, uint64_t way, uint64_t at, uint64_t end)
{
	const struct weft_topo_target *target = &v->t->map.target[v->s->first_target + way];
	const struct weft_topo_access *a = &v->t->access;

	for (uint16_t i = 0; i < a->n_ranges; i++) {
		const struct weft_topo_range *range = &a->range[i];
		const uint64_t border[] = { range->base, range->base + range->size };

		for (unsigned int k = 0; range->gfd == target->node && k < 2; k++)
			if (border[k] > target->dpa + at && border[k] - target->dpa < end)
				end = border[k] - target->dpa;
	}
	return end;
}

/* Whether all of a part of the segment is open. */
static bool
region_part_is_open(const struct region_view *v, uint64_t offset, uint64_t size)
{
	const uint64_t first = region_in_way(v->s, offset, false);
	const uint64_t end = region_in_way(v->s, offset + size, true);

	for (uint64_t way = 0; way < region_ways(v->s); way++)
		for (uint64_t at = first; at < end; at = region_next_border(v, way, at, end))
			if (!region_is_open(v, way, at))
				return false;
	return true;
}

/* The first open part behind @p from of a segment of one way. False: there is none. */
static bool
region_next_part(const struct region_view *v, uint64_t from, uint64_t *offset, uint64_t *size)
{
	uint64_t at = from, end;

	while (at < v->s->size && !region_is_open(v, 0, at))
		at = region_next_border(v, 0, at, v->s->size);
	for (end = at; end < v->s->size && region_is_open(v, 0, end);)
		end = region_next_border(v, 0, end, v->s->size);
	*offset = at;
	*size = end - at;
	return end > at;
}

/* Memory of GFDs, which is what a host reaches by CXL.mem. */
static bool
region_is_memory(const struct weft_topo *t, const struct weft_topo_segment *s)
{
	for (uint64_t way = 0; way < region_ways(s); way++)
		if (t->node[t->map.target[s->first_target + way].node].kind != WEFT_TOPO_GFD)
			return false;
	return !s->is_gim;
}

static void
region_name(
	const struct weft_topo *t, const struct weft_topo_segment *s, char name[WEFT_ATTACH_NAME])
{
	const struct weft_topo_target *target = &t->map.target[s->first_target];
	unsigned int places = 0;

	for (uint32_t i = 0; i < t->map.n_targets; i++)
		places += t->map.target[i].node == target->node;
	if (places == 1 && s->ways_log2 == 0)
		snprintf(name, WEFT_ATTACH_NAME, "%.60s", t->node[target->node].name);
	else
		snprintf(name, WEFT_ATTACH_NAME, "seg%u", (unsigned int)(s - t->map.segment));
}

/* What a row says of its segment. */
static void
region_describe(const struct region_view *v, uint64_t size, struct weft_attach_row *row)
{
	const uint16_t node = v->t->map.target[v->s->first_target].node;

	row->size = size;
	row->rights = WEFT_ATTACH_READ | WEFT_ATTACH_WRITE;
	row->granule = v->s->ways_log2 == 0 ? 0 : (uint32_t)region_granule(v->s);
	snprintf(row->target, sizeof(row->target), "%.60s", v->t->node[node].name);
}

static void
region_set(const struct region_view *v, uint64_t offset, uint64_t size, struct weft_node_region *r)
{
	*r = (struct weft_node_region){ .base = v->s->base + offset, .size = size };
	for (uint64_t way = 0; way < region_ways(v->s); way++) {
		const uint16_t pid =
			v->t->node[v->t->map.target[v->s->first_target + way].node].pid;

		r->target[pid / 64] |= WEFT_BIT64(pid % 64);
	}
}

/* Called for each region; true ends it. */
typedef bool (*region_fn)(void *arg, const struct region_view *v, uint64_t offset, uint64_t size);

static bool
region_walk_segment(const struct region_view *v, region_fn fn, void *arg)
{
	uint64_t offset = 0, size = v->s->size;

	if (v->s->ways_log2 != 0)
		return region_part_is_open(v, 0, size) && fn(arg, v, 0, size);
	for (; region_next_part(v, offset, &offset, &size); offset += size)
		if (fn(arg, v, offset, size))
			return true;
	return false;
}

/* All regions in order. -ENOMEM, 1: fn() ended it, or 0. */
static int
region_walk(const struct node *n, region_fn fn, void *arg)
{
	const struct weft_topo *t = daemon_now(n->daemon);
	struct region_view v = { .t = t, .host = n->index };
	int rc = 0;

	v.hop = calloc(t->n_nodes, sizeof(*v.hop));
	if (v.hop == NULL)
		return -ENOMEM;
	for (uint16_t s = 0; s < t->map.n_segments && rc == 0; s++) {
		v.s = &t->map.segment[s];
		if (region_is_memory(t, v.s))
			rc = region_walk_segment(&v, fn, arg);
	}
	free(v.hop);
	return rc;
}

/* --- the list --- */

static bool
region_count(void *arg, const struct region_view *v, uint64_t offset, uint64_t size)
{
	(void)v;
	(void)offset;
	(void)size;
	++*(uint32_t *)arg;
	return false;
}

uint32_t
attach_regions_count(const struct node *n)
{
	uint32_t count = 0;

	region_walk(n, region_count, &count);
	return count;
}

struct region_pick {
	const struct node *n;
	uint32_t left;
	struct weft_attach_row *row;
};

static bool
region_pick(void *arg, const struct region_view *v, uint64_t offset, uint64_t size)
{
	struct region_pick *p = arg;
	struct weft_node_region r;
	char name[WEFT_ATTACH_NAME];

	if (p->left-- != 0)
		return false;
	region_name(v->t, v->s, name);
	if (size == v->s->size)
		memcpy(p->row->name, name, sizeof(name));
	else
		snprintf(p->row->name, sizeof(p->row->name), "%.20s:0x%" PRIx64 "+0x%" PRIx64, name,
			offset, size);
	region_describe(v, size, p->row);
	region_set(v, offset, size, &r);
	p->row->generation = weft_node_region_generation(p->n->node, &r);
	return true;
}

bool
attach_regions_at(const struct node *n, uint32_t index, struct weft_attach_row *row)
{
	struct region_pick p = { n, index, row };

	memset(row, 0, sizeof(*row));
	return region_walk(n, region_pick, &p) == 1;
}

/* --- opening --- */

/* "0x1000", "64M". False: it is none, or too large. @p end receives what is behind it. */
static bool
region_number(const char *text, uint64_t *value, const char **end)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *behind;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &behind, 0);
	if (errno != 0)
		return false;
	unit = *behind == '\0' ? NULL : strchr(units, *behind);
	if (unit != NULL) {
		const unsigned int shift = 10 * (unsigned int)(unit - units + 1);

		if (*value > UINT64_MAX >> shift)
			return false;
		*value <<= shift;
		behind++;
	}
	*end = behind;
	return true;
}

/* What stands behind the name: nothing, or :OFFSET+SIZE. */
static int
region_parse(const char *name, size_t *name_len, uint64_t *offset, uint64_t *size)
{
	const char *colon = strchr(name, ':'), *end;

	*name_len = colon == NULL ? strlen(name) : (size_t)(colon - name);
	*offset = *size = 0;
	if (colon == NULL)
		return 0;
	if (!region_number(colon + 1, offset, &end) || *end != '+' ||
		!region_number(end + 1, size, &end) || *end != '\0' || *size == 0)
		return -EINVAL;
	return 0;
}

struct region_open {
	const char *name;
	size_t len;
	bool is_part;
	uint64_t offset, size;
	struct attach_region *r;
	const struct node *n;
	int status;
	char *err;
	size_t err_len;
};

static void
region_take(struct region_open *o, const struct region_view *v)
{
	if (!o->is_part)
		o->size = v->s->size;
	if (o->size > v->s->size || o->offset > v->s->size - o->size) {
		o->status = weft_errorf(o->err, o->err_len, -ERANGE,
			"region %s: expected a part of its %" PRIu64 " bytes, got %" PRIu64
			" bytes from offset %" PRIu64 " on",
			o->name, v->s->size, o->size, o->offset);
	} else if (!region_part_is_open(v, o->offset, o->size)) {
		o->status = weft_errorf(o->err, o->err_len, -EACCES,
			"region %s: not all of it is open to %s: see which parts are (weftctl mem "
			"list), or change the access of its groups in the topology",
			o->name, o->n->topo->name);
	} else {
		region_set(v, o->offset, o->size, &o->r->node);
		region_describe(v, o->size, &o->r->row);
		o->status = 0;
	}
}

/* By name: of parts that are open, all stand in a segment of one. */
static int
region_find(struct region_open *o)
{
	const struct weft_topo *t = daemon_now(o->n->daemon);
	struct region_view v = { .t = t, .host = o->n->index };
	char name[WEFT_ATTACH_NAME];

	v.hop = calloc(t->n_nodes, sizeof(*v.hop));
	if (v.hop == NULL)
		return weft_errorf(o->err, o->err_len, -ENOMEM, "out of memory");
	for (uint16_t s = 0; s < t->map.n_segments && o->status == -ENOENT; s++) {
		v.s = &t->map.segment[s];
		region_name(t, v.s, name);
		if (region_is_memory(t, v.s) && strlen(name) == o->len &&
			strncmp(name, o->name, o->len) == 0)
			region_take(o, &v);
	}
	free(v.hop);
	return o->status;
}

int
attach_regions_open(const struct node *n, const char *name, uint32_t rights,
	struct attach_region *r, char *err, size_t err_len)
{
	struct region_open o = {
		.name = name, .r = r, .n = n, .status = -ENOENT, .err = err, .err_len = err_len
	};
	const uint32_t all = WEFT_ATTACH_READ | WEFT_ATTACH_WRITE;

	if ((rights & ~all) != 0)
		return weft_errorf(err, err_len, -EINVAL,
			"region %s: expected rights to read (1), write (2) or both, got %u", name,
			rights);
	if (region_parse(name, &o.len, &o.offset, &o.size) != 0)
		return weft_errorf(err, err_len, -EINVAL,
			"region %s: expected NAME or NAME:OFFSET+SIZE, numbers such as 4096, "
			"0x1000 or 64M",
			name);
	o.is_part = name[o.len] != '\0';
	snprintf(err, err_len,
		"region %s: host %s knows none of that name: weftctl mem list shows what there is",
		name, n->topo->name);
	if (region_find(&o) != 0)
		return o.status;
	r->node.rights = r->row.rights = rights == 0 ? all : rights;
	snprintf(r->row.name, sizeof(r->row.name), "%.63s", name);
	return 0;
}

uint32_t
attach_regions_rights(
	const struct node *n, const struct weft_topo *t, const struct attach_region *r)
{
	struct region_view v = { .t = t, .host = n->index };
	uint32_t rights = 0;

	v.hop = calloc(t->n_nodes, sizeof(*v.hop));
	for (uint16_t s = 0; s < t->map.n_segments && v.hop != NULL; s++) {
		struct weft_node_region now;

		v.s = &t->map.segment[s];
		if (r->node.base < v.s->base || r->node.base - v.s->base >= v.s->size ||
			!region_is_memory(t, v.s))
			continue;
		region_set(&v, 0, 0, &now);
		if (r->node.size <= v.s->size - (r->node.base - v.s->base) &&
			memcmp(now.target, r->node.target, sizeof(now.target)) == 0 &&
			region_part_is_open(&v, r->node.base - v.s->base, r->node.size))
			rights = r->row.rights;
	}
	free(v.hop);
	return rights;
}
