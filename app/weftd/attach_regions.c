/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Regions of a host as one of its users sees them: those of the topology that his row lists and
 * that the host may reach. Of a segment without interleaving that is open to the host in parts each
 * part is one, called by its place: g0:OFFSET+SIZE.
 */

#include "attach_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft_resolve.h"

/* A region as a host sees it. */
struct region_view {
	const struct weft_topo *t;
	uint16_t host; /* node */
	const struct weft_topo_region *region;
	const struct weft_topo_segment *s; /* which it is in: offsets are in that */
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

/* Which memory has the name: where it begins, for programs and in the memory of each target. */
static uint64_t
region_place(const struct region_view *v)
{
	uint64_t sum = v->s->base + v->region->offset;

	for (uint64_t way = 0; way < region_ways(v->s); way++) {
		const struct weft_topo_target *target = &v->t->map.target[v->s->first_target + way];

		sum = (sum ^ target->node) * UINT64_C(0x9E3779B97F4A7C15);
		sum = (sum ^ target->dpa ^ v->s->gran) * UINT64_C(0x9E3779B97F4A7C15);
	}
	return sum;
}

static uint32_t
region_rights(const struct weft_topo_client *row)
{
	static_assert((int)WEFT_TOPO_CLIENT_READ == (int)WEFT_ATTACH_READ &&
			      (int)WEFT_TOPO_CLIENT_WRITE == (int)WEFT_ATTACH_WRITE,
		"rights are handed on");
	return row == NULL ? WEFT_ATTACH_READ | WEFT_ATTACH_WRITE : row->rights;
}

/* What a row says of its segment. */
static void
region_describe(
	const struct region_view *v, uint64_t size, uint32_t rights, struct weft_attach_row *row)
{
	const uint16_t node = v->t->map.target[v->s->first_target].node;

	row->size = size;
	row->rights = rights;
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

/* Called for each region with its place in its segment; true ends it. */
typedef bool (*region_fn)(void *arg, const struct region_view *v, uint64_t offset, uint64_t size);

static bool
region_walk_one(const struct region_view *v, region_fn fn, void *arg)
{
	uint64_t offset = 0, size = v->region->size;

	if (v->region->is_given || v->s->ways_log2 != 0)
		return region_part_is_open(v, v->region->offset, size) &&
		       fn(arg, v, v->region->offset, size);
	for (; region_next_part(v, offset, &offset, &size); offset += size)
		if (fn(arg, v, offset, size))
			return true;
	return false;
}

static void
region_look(struct region_view *v, unsigned int region)
{
	v->region = &v->t->attach.region[region];
	v->s = &v->t->map.segment[v->region->segment];
}

/* All regions in order. -ENOMEM, 1: fn() ended it, or 0. */
static int
region_walk(const struct attach_view *view, region_fn fn, void *arg)
{
	struct region_view v = { .t = view->t, .host = view->n->index };
	int rc = 0;

	v.hop = calloc(v.t->n_nodes, sizeof(*v.hop));
	if (v.hop == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < v.t->attach.n_regions && rc == 0; i++) {
		region_look(&v, i);
		if (weft_topo_client_may_open(v.t, view->row, i))
			rc = region_walk_one(&v, fn, arg);
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
attach_regions_count(const struct attach_view *v)
{
	uint32_t count = 0;

	region_walk(v, region_count, &count);
	return count;
}

uint64_t
attach_regions_generation(const struct node *n, const struct weft_node_region *r, uint64_t begin)
{
	const uint64_t memory = weft_node_region_generation(n->node, r);
	const uint64_t place = memory ^ begin * UINT64_C(0x9E3779B97F4A7C15);

	return memory == 0 || place == 0 ? memory : place;
}

struct region_pick {
	const struct attach_view *view;
	uint32_t left;
	struct weft_attach_row *row;
};

/* The name by which a part is opened; the numbers of a fabric's addresses have room. */
static void
region_name_part(char name[WEFT_ATTACH_NAME], const char *of, uint64_t offset, uint64_t size)
{
	char text[WEFT_ATTACH_NAME * 2];

	snprintf(text, sizeof(text), "%.32s:0x%" PRIx64 "+0x%" PRIx64, of, offset, size);
	snprintf(name, WEFT_ATTACH_NAME, "%.63s", text);
}

static bool
region_pick(void *arg, const struct region_view *v, uint64_t offset, uint64_t size)
{
	struct region_pick *p = arg;
	struct weft_node_region r;

	if (p->left-- != 0)
		return false;
	if (size == v->region->size)
		snprintf(p->row->name, sizeof(p->row->name), "%s", v->region->name);
	else
		region_name_part(p->row->name, v->region->name, offset, size);
	region_describe(v, size, region_rights(p->view->row), p->row);
	region_set(v, offset, size, &r);
	p->row->generation = attach_regions_generation(p->view->n, &r, v->region->offset);
	return true;
}

bool
attach_regions_at(const struct attach_view *v, uint32_t index, struct weft_attach_row *row)
{
	struct region_pick p = { v, index, row };

	memset(row, 0, sizeof(*row));
	return region_walk(v, region_pick, &p) == 1;
}

/* --- opening --- */

/*
 * "0x1000", "64M"; nothing of base 8. False: it is none, or too large. @p end receives what is
 * behind it.
 */
static bool
region_number(const char *text, uint64_t *value, const char **end)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *behind;

	if (*text < '0' || *text > '9' || (text[0] == '0' && text[1] >= '0' && text[1] <= '9'))
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
	bool is_part;
	uint64_t offset, size;
	struct attach_region *r;
	const struct attach_view *view;
	char *err;
	size_t err_len;
};

static int
region_take(struct region_open *o, const struct region_view *v, uint32_t rights)
{
	if (!o->is_part)
		o->size = v->region->size;
	if (o->size > v->region->size || o->offset > v->region->size - o->size)
		return weft_errorf(o->err, o->err_len, -ERANGE,
			"region %s: expected a part of its %" PRIu64 " bytes, got %" PRIu64
			" bytes from offset %" PRIu64 " on",
			o->name, v->region->size, o->size, o->offset);
	if (!region_part_is_open(v, v->region->offset + o->offset, o->size))
		return weft_errorf(o->err, o->err_len, -EACCES,
			"region %s: not all of it is open to %s: see which parts are (weftctl mem "
			"list), or %s",
			o->name, o->view->n->topo->name,
			v->t->access.management == WEFT_TOPO_MANAGED_BY_FM
				? "have the manager give it (weftctl fm mem)"
				: "change the access of its groups in the topology");
	region_set(v, v->region->offset + o->offset, o->size, &o->r->node);
	region_describe(v, o->size, rights, &o->r->row);
	o->r->node.rights = rights;
	o->r->offset = o->offset;
	o->r->place = region_place(v);
	o->r->begin = v->region->offset;
	return 0;
}

/* What his row says of it. */
static int
region_check_row(const struct region_open *o, unsigned int region, uint32_t *rights)
{
	const struct attach_view *view = o->view;
	const uint32_t most = region_rights(view->row);

	if (!weft_topo_client_may_open(view->t, view->row, region))
		return weft_errorf(o->err, o->err_len, -EACCES,
			"region %s: host %s does not open it to user %u: see which it does "
			"(weftctl mem list), or change its clients in the topology",
			o->name, view->n->topo->name, view->uid);
	if ((*rights & ~most) != 0)
		return weft_errorf(o->err, o->err_len, -EACCES,
			"region %s: host %s lets user %u only %s it: ask for no more, or change "
			"its clients in the topology",
			o->name, view->n->topo->name, view->uid,
			most == WEFT_ATTACH_READ ? "read" : "write");
	if (*rights == 0)
		*rights = most;
	return 0;
}

static int
region_find(struct region_open *o, size_t name_len, uint32_t rights)
{
	struct region_view v = { .t = o->view->t, .host = o->view->n->index };
	const int i = weft_topo_find_region(v.t, o->name, name_len);
	int rc;

	if (i < 0)
		return weft_errorf(o->err, o->err_len, -ENOENT,
			"region %s: host %s knows none of that name: weftctl mem list shows what "
			"there is",
			o->name, o->view->n->topo->name);
	rc = region_check_row(o, (unsigned int)i, &rights);
	if (rc != 0)
		return rc;
	v.hop = calloc(v.t->n_nodes, sizeof(*v.hop));
	if (v.hop == NULL)
		return weft_errorf(o->err, o->err_len, -ENOMEM, "out of memory");
	region_look(&v, (unsigned int)i);
	rc = region_take(o, &v, rights);
	free(v.hop);
	return rc;
}

int
attach_regions_open(const struct attach_view *v, const char *name, uint32_t rights,
	struct attach_region *r, char *err, size_t err_len)
{
	struct region_open o = { .name = name, .r = r, .view = v, .err = err, .err_len = err_len };
	size_t len;
	int rc;

	if ((rights & ~(uint32_t)(WEFT_ATTACH_READ | WEFT_ATTACH_WRITE)) != 0)
		return weft_errorf(err, err_len, -EINVAL,
			"region %s: expected rights to read (1), write (2) or both, got %u", name,
			rights);
	if (region_parse(name, &len, &o.offset, &o.size) != 0)
		return weft_errorf(err, err_len, -EINVAL,
			"region %s: expected NAME or NAME:OFFSET+SIZE, numbers such as 4096, "
			"0x1000 or 64M",
			name);
	o.is_part = name[len] != '\0';
	rc = region_find(&o, len, rights);
	if (rc == 0)
		snprintf(r->row.name, sizeof(r->row.name), "%.63s", name);
	return rc;
}

int
attach_regions_rights(
	const struct attach_view *view, const struct attach_region *r, uint32_t *rights)
{
	struct region_view v = { .t = view->t, .host = view->n->index };
	const int i = weft_topo_find_region(v.t, r->row.name, strcspn(r->row.name, ":"));
	int rc = 0;

	*rights = 0;
	if (i < 0 || !weft_topo_client_may_open(v.t, view->row, (unsigned int)i))
		return 0;
	region_look(&v, (unsigned int)i);
	if (region_place(&v) != r->place)
		return -ESTALE;
	if (r->node.size > v.region->size || r->offset > v.region->size - r->node.size)
		return 0;
	v.hop = calloc(v.t->n_nodes, sizeof(*v.hop));
	if (v.hop == NULL)
		rc = -ENOMEM;
	else if (region_part_is_open(&v, v.region->offset + r->offset, r->node.size))
		*rights = r->row.rights & region_rights(view->row);
	free(v.hop);
	return rc;
}
