/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Memory groups of GFDs: which extents they have and who may reach them (fabric.md section 1.7).
 * Extents are compared by the memory that they cover, since a GFD may join or cut them. Only whole
 * extents can be given back, and they are wiped.
 */

#include "fm_priv.h"

#define GFD_ROWS FM_FITS(2, 6, 170) /* of a SAT, in one command */
#define GFD_EXTENTS FM_FITS(36, 40, 24)

/* Memory of a GFD in the making of one command. */
struct gfd_batch {
	uint16_t group;
	uint8_t region;
	uint8_t tag[16];
	uint64_t len;
	unsigned int n;
	uint8_t list[GFD_EXTENTS * 40];
};

static bool
gfd_is_same(const struct weft_fm_extent *a, const struct weft_fm_extent *b)
{
	return a->path == b->path && a->group == b->group &&
	       memcmp(a->tag, b->tag, sizeof(a->tag)) == 0;
}

/*
 * First part of @x from @from on that no extent of the list covers: false if there is none.
 * @from goes behind it.
 */
static bool
gfd_uncovered(const struct weft_fm_extent *list, uint32_t n, const struct weft_fm_extent *x,
	uint64_t *from, struct weft_fm_extent *piece)
{
	const uint64_t end = x->dpa + x->len;
	uint64_t next = end;
	bool is_moved = true;

	while (is_moved && *from < end) {
		is_moved = false;
		for (uint32_t i = 0; i < n; i++) {
			if (!gfd_is_same(&list[i], x) || list[i].dpa > *from ||
				list[i].dpa + list[i].len <= *from)
				continue;
			*from = list[i].dpa + list[i].len;
			is_moved = true;
		}
	}
	if (*from >= end)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (gfd_is_same(&list[i], x) && list[i].dpa > *from && list[i].dpa < next)
			next = list[i].dpa;
	*piece = *x;
	piece->dpa = *from;
	piece->len = next - *from;
	*from = next;
	return true;
}

static bool
gfd_is_covered(const struct weft_fm_extent *list, uint32_t n, const struct weft_fm_extent *x)
{
	struct weft_fm_extent piece;
	uint64_t from = x->dpa;

	return !gfd_uncovered(list, n, x, &from, &piece);
}

bool
fm_is_covered(const struct fm_gfd *g, const struct weft_fm_extent *x)
{
	return gfd_is_covered(g->extent, g->n_extents, x);
}

static int
gfd_region_of(const struct fm_gfd *g, const struct weft_fm_extent *e)
{
	for (unsigned int i = 0; i < g->n_regions; i++)
		if (e->dpa >= g->region[i].base && e->len <= g->region[i].len &&
			e->dpa - g->region[i].base <= g->region[i].len - e->len)
			return (int)i;
	return -1;
}

/* Whether an extent goes into the same command. */
static bool
gfd_batch_takes(struct gfd_batch *b, const struct weft_fm_extent *e, int region)
{
	const struct weft_cci_extent wire = { .dpa = e->dpa, .len = e->len };

	if (b->n == 0) {
		b->group = e->group;
		b->region = (uint8_t)region;
		memcpy(b->tag, e->tag, sizeof(b->tag));
	} else if (b->n == GFD_EXTENTS || b->group != e->group || b->region != region ||
		   memcmp(b->tag, e->tag, sizeof(b->tag)) != 0) {
		return false;
	}
	weft_cci_put_extent(b->list, b->n++, &wire);
	b->len += e->len;
	return true;
}

static void
gfd_send_release(struct weft_fm *fm, struct fm_component *c, const struct gfd_batch *b)
{
	struct weft_cci_dc_release_req req = { .grp = b->group,
		.flags = FM_RELEASE_PRESCRIPTIVE | FM_RELEASE_WIPE,
		.len = b->len,
		.n = b->n,
		.max_rsp = GFD_EXTENTS,
		.extent = b->list };

	memcpy(req.tag, b->tag, sizeof(req.tag));
	fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_DC_RELEASE,
		"group %u gives back %u extents, %llu bytes", b->group, b->n,
		(unsigned long long)b->len);
	fm_send(fm, c, WEFT_CCI_DC_RELEASE,
		weft_cci_put_dc_release_req(fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req), true);
}

static void
gfd_send_add(struct weft_fm *fm, struct fm_component *c, const struct gfd_batch *b)
{
	struct weft_cci_dc_add_req req = { .grp = b->group,
		.policy = FM_ADD_PRESCRIPTIVE,
		.region = b->region,
		.len = b->len,
		.n = b->n,
		.max_rsp = GFD_EXTENTS,
		.extent = b->list };

	memcpy(req.tag, b->tag, sizeof(req.tag));
	fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_DC_ADD,
		"group %u gets %u extents, %llu bytes", b->group, b->n, (unsigned long long)b->len);
	fm_send(fm, c, WEFT_CCI_DC_ADD,
		weft_cci_put_dc_add_req(fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req), true);
}

/* Those that have more than they are to have. */
static void
gfd_collect_release(const struct weft_fm *fm, const struct fm_gfd *g, struct gfd_batch *b)
{
	for (uint32_t i = 0; i < g->n_extents; i++) {
		const struct weft_fm_extent *e = &g->extent[i];

		if (!gfd_is_covered(fm->intent->extent, fm->intent->n_extents, e) &&
			!gfd_batch_takes(b, e, 0))
			return;
	}
}

static void
gfd_collect_add(const struct weft_fm *fm, const struct fm_component *c, struct gfd_batch *b)
{
	for (uint32_t i = 0; i < fm->intent->n_extents; i++) {
		const struct weft_fm_extent *x = &fm->intent->extent[i];
		uint64_t from = x->dpa;
		struct weft_fm_extent piece;

		if (x->path != c->path)
			continue;
		while (gfd_uncovered(c->gfd->extent, c->gfd->n_extents, x, &from, &piece)) {
			const int region = gfd_region_of(c->gfd, &piece);

			/* The GFD says that it has no such region. */
			if (!gfd_batch_takes(b, &piece, region < 0 ? UINT8_MAX : region))
				return;
		}
	}
}

static bool
gfd_is_managed(const struct weft_fm *fm, const struct fm_component *c)
{
	return fm->intent->has_memory && fm_is_usable(c) && c->gfd != NULL && !c->gfd->is_fixed;
}

unsigned int
fm_release_extents(struct weft_fm *fm)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		struct gfd_batch b = { 0 };

		if (!gfd_is_managed(fm, c))
			continue;
		gfd_collect_release(fm, c->gfd, &b);
		if (b.n == 0 || !fm_can_write(fm, c))
			continue;
		gfd_send_release(fm, c, &b);
		n++;
	}
	return n;
}

/* Rows of a GFD's SAT as they are to be. */
static void
gfd_want_rights(const struct weft_fm *fm, const struct fm_component *c, uint32_t want[WEFT_PIDS])
{
	memset(want, 0, WEFT_PIDS * sizeof(*want));
	for (uint32_t i = 0; i < fm->intent->n_rights; i++) {
		const struct weft_fm_right *r = &fm->intent->right[i];

		if (r->path == c->path && r->pid < WEFT_FM_NO_PID)
			want[r->pid] |= r->groups & ~(UINT32_C(1) << 31);
	}
}

/* Capacity comes only where nobody has a right that he is not to have. */
static bool
gfd_rights_are_closed(const struct weft_fm *fm, const struct fm_component *c)
{
	uint32_t want[WEFT_PIDS];

	gfd_want_rights(fm, c, want);
	for (unsigned int p = 0; p < WEFT_PIDS; p++)
		if ((c->gfd->sat[p] & ~want[p]) != 0)
			return false;
	return true;
}

unsigned int
fm_add_extents(struct weft_fm *fm)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		struct gfd_batch b = { 0 };

		if (!gfd_is_managed(fm, c))
			continue;
		gfd_collect_add(fm, c, &b);
		if (b.n == 0 || !fm_can_write(fm, c) || !gfd_rights_are_closed(fm, c))
			continue;
		gfd_send_add(fm, c, &b);
		n++;
	}
	return n;
}

/* Send up to a command of rows: @row says of each what it becomes. */
static unsigned int
gfd_send_rights(
	struct weft_fm *fm, struct fm_component *c, const uint32_t row[WEFT_PIDS], const char *what)
{
	uint8_t list[GFD_ROWS * 6];
	struct weft_cci_set_sat_req req = { .rows = list };
	unsigned int first = 0, last = 0;

	for (unsigned int p = 0; p < WEFT_PID_RESERVED && req.n < GFD_ROWS; p++) {
		const struct weft_cci_sat_row e = { .rpid = (uint16_t)p, .vec = row[p] };

		if (row[p] == c->gfd->sat[p])
			continue;
		first = req.n == 0 ? p : first;
		last = p;
		weft_cci_put_sat_row(list, req.n++, &e);
	}
	if (req.n == 0 || !fm_can_write(fm, c))
		return 0;
	fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_SET_SAT, "%s, %u rows, PIDs 0x%03x to 0x%03x",
		what, req.n, first, last);
	fm_send(fm, c, WEFT_CCI_SET_SAT,
		weft_cci_put_set_sat_req(fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req), true);
	return 1;
}

unsigned int
fm_close_rights(struct weft_fm *fm)
{
	const unsigned int n_held = fm->n_held;
	unsigned int n = 0, n_unknown = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		uint32_t row[WEFT_PIDS];

		n_unknown += c->kind == WEFT_TOPO_GFD && c->state == WEFT_FM_READING;
		if (!gfd_is_managed(fm, c))
			continue;
		gfd_want_rights(fm, c, row);
		for (unsigned int p = 0; p < WEFT_PIDS; p++)
			row[p] &= c->gfd->sat[p];
		if (memcmp(row, c->gfd->sat, sizeof(row)) != 0)
			fm_keep_used(fm, c, row); /* looks at all hosts: where any right goes */
		n += gfd_send_rights(fm, c, row, "rights go");
	}
	fm->is_unclosed = fm->n_held != n_held || n_unknown != 0;
	return n;
}

/* Whether groups hold what they are to hold, and no more: only then they may be opened. */
static bool
gfd_capacity_is_right(const struct weft_fm *fm, const struct fm_component *c)
{
	struct gfd_batch less = { 0 }, more = { 0 };

	gfd_collect_release(fm, c->gfd, &less);
	gfd_collect_add(fm, c, &more);
	return less.n == 0 && more.n == 0;
}

unsigned int
fm_open_rights(struct weft_fm *fm)
{
	bool unsettled[WEFT_PIDS];
	unsigned int n = 0;

	if (!fm->intent->has_memory)
		return 0;
	fm_find_unsettled(fm, unsettled);
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		uint32_t row[WEFT_PIDS];

		if (!gfd_is_managed(fm, c) || !gfd_capacity_is_right(fm, c))
			continue;
		gfd_want_rights(fm, c, row);
		for (unsigned int p = 0; p < WEFT_PIDS; p++)
			row[p] = unsettled[p] ? c->gfd->sat[p] : row[p] | c->gfd->sat[p];
		n += gfd_send_rights(fm, c, row, "rights come");
	}
	return n;
}
