/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Addresses of a drawn fabric: segments, groups and rights, windows, translations. */

#include "draw_priv.h"

#include <inttypes.h>

#define FABRIC_BASE (UINT64_C(1) << 40)
#define SEGMENT_LOG2 36
#define RANGES 3 /* of a GFD; and groups, at most */
#define TRANSLATION_PAGES 8

static struct draw_segment *
draw_segment_add(struct draw *d, uint64_t size, bool is_gfd)
{
	struct draw_segment *s = &d->segment[d->n_segments];

	*s = (struct draw_segment){ .base = FABRIC_BASE + ((uint64_t)d->n_segments << SEGMENT_LOG2),
		.size = size,
		.taken = DRAW_LINE_BYTES,
		.is_gfd = is_gfd };
	d->n_segments++;
	return s;
}

/* Memory of the first GFDs, or all of them, takes turns. @return bytes of each that it takes */
static uint64_t
draw_interleave(struct draw *d)
{
	const unsigned int ways = d->gfds >= 4 && draw_percent(d, 50) ? 4 : 2;
	const unsigned int first = draw_from(d, 0, d->gfds - ways);
	const uint64_t way = UINT64_C(0x10000) << draw_from(d, 0, 2);

	fprintf(d->out, "  - {interleave: {ways: %u, granularity: %u, targets: [", ways,
		256u << draw_from(d, 0, 6));
	for (unsigned int i = 0; i < ways; i++)
		fprintf(d->out, "%sg%u", i == 0 ? "" : ", ", first + i);
	fprintf(d->out, "]}, size: %" PRIu64 "}\n", way * ways);
	draw_segment_add(d, way * ways, true);
	return way;
}

void
draw_segments(struct draw *d)
{
	const bool is_plain = (d->has & (1u << DRAW_INTERLEAVE | 1u << DRAW_GIM)) == 0 &&
	                      d->own[0] == 0 && d->own[1] == 0;
	uint64_t taken = 0;

	if (!is_plain)
		fprintf(d->out, "segments:\n");
	if (draw_has(d, DRAW_INTERLEAVE)) {
		taken = draw_interleave(d);
		if (draw_percent(d, 30))
			taken += draw_interleave(d);
	}
	for (unsigned int i = 0; i < d->gfds; i++) {
		/* What nobody has is nobody's, but something is there for translations. */
		if (!is_plain && i != 0 && draw_percent(d, 20))
			continue;
		if (!is_plain)
			fprintf(d->out, "  - {target: g%u, size: %" PRIu64 "}\n", i,
				d->memory[i] - taken);
		draw_segment_add(d, d->memory[i] - taken, true);
	}
	for (unsigned int i = 0; i < d->hosts; i++)
		if (d->gim[i] != 0) {
			fprintf(d->out, "  - {gim: h%u}\n", i);
			draw_segment_add(d, d->gim[i], false);
		}
	for (unsigned int i = 0; i < d->devices; i++)
		if (d->own[i] != 0) {
			fprintf(d->out, "  - {target: d%u}\n", i);
			draw_segment_add(d, d->own[i], false);
		}
}

/* --- rights --- */

/* Memory of a GFD: cut among the lines of load, or far from them. */
static void
draw_cuts(struct draw *d, unsigned int gfd, uint64_t base[RANGES + 1])
{
	base[0] = 0;
	for (unsigned int k = 1; k < RANGES; k++)
		base[k] = draw_percent(d, 60)
		                  ? base[k - 1] + DRAW_BLOCK * (uint64_t)draw_from(d, 1, 8)
		                  : d->memory[gfd] / RANGES * k & ~(uint64_t)(DRAW_BLOCK - 1);
	base[RANGES] = d->memory[gfd];
}

/* Memory of all GFDs, in turn, and which group has it; the last one: none. */
struct draw_ranges {
	uint64_t base[DRAW_GFDS][RANGES + 1];
	unsigned int group[DRAW_GFDS * RANGES];
};

/*
 * Each group has a range at least. Some memory is in none; but a transfer, and an agent that moves
 * pages, reach all of it.
 */
static void
draw_ranges(struct draw *d, struct draw_ranges *x)
{
	const bool is_whole = draw_has(d, DRAW_TRANSFER) || draw_has(d, DRAW_ATS);

	d->groups = draw_from(d, 1, RANGES);
	for (unsigned int g = 0; g < d->gfds; g++)
		draw_cuts(d, g, x->base[g]);
	for (unsigned int k = 0; k < d->gfds * RANGES; k++)
		x->group[k] = k < d->groups ? k : draw_from(d, 0, d->groups - is_whole);
}

static void
draw_print_group(const struct draw *d, const struct draw_ranges *x, unsigned int group)
{
	const char *between = "";

	fprintf(d->out, "  - {name: x%u, ranges: [", group);
	for (unsigned int k = 0; k < d->gfds * RANGES; k++) {
		const uint64_t *at = &x->base[k / RANGES][k % RANGES];

		if (x->group[k] != group)
			continue;
		fprintf(d->out, "%s{gfd: g%u, base: %" PRIu64 ", size: %" PRIu64 "}", between,
			k / RANGES, at[0], at[1] - at[0]);
		between = ", ";
	}
	fprintf(d->out, "]}\n");
}

void
draw_groups(struct draw *d)
{
	struct draw_ranges x;
	unsigned int groups;

	if (!draw_has(d, DRAW_RIGHTS))
		return;
	draw_ranges(d, &x);
	groups = d->groups;
	if (d->change != NULL) {
		draw_swap(d);
		draw_ranges(d, &x);
		groups = d->groups;
		draw_swap(d);
	}
	fprintf(d->out, "groups:\n");
	for (unsigned int i = 0; i < groups; i++)
		draw_print_group(d, &x, i);
}

#define OPEN_ALL UINT32_MAX

/* Of a host or device: a bit for each group, or all, whatever they are. */
static uint32_t
draw_open(struct draw *d)
{
	uint32_t open = 0;

	if (draw_percent(d, 40))
		return OPEN_ALL;
	for (unsigned int i = 0; i < d->groups; i++)
		open |= (uint32_t)!draw_percent(d, 40) << i;
	return open;
}

void
draw_access(struct draw *d, bool is_all)
{
	const char *between = "";
	uint32_t open;

	/* What stands in `pa` and `move_to` would not be of one right. */
	if (!draw_has(d, DRAW_RIGHTS) || is_all || draw_has(d, DRAW_MOVE))
		return;
	open = draw_open(d);
	if (d->change != NULL) {
		draw_swap(d);
		open = draw_open(d);
		draw_swap(d);
	}
	if (open == OPEN_ALL)
		return;
	fprintf(d->out, ", access: [");
	for (unsigned int i = 0; i < RANGES; i++) {
		if ((open >> i & 1) == 0)
			continue;
		fprintf(d->out, "%sx%u", between, i);
		between = ", ";
	}
	fprintf(d->out, "]");
}

/* One or two of what the host offers; the rest is closed. */
void
draw_windows(struct draw *d, unsigned int host)
{
	const unsigned int blocks = (unsigned int)(d->gim[host] / DRAW_BLOCK);
	const unsigned int n = draw_from(d, 1, 2);
	unsigned int from = draw_from(d, 0, 2);

	fprintf(d->out, ", gim: %" PRIu64 ", windows: [", d->gim[host]);
	for (unsigned int w = 0; w < n; w++) {
		const unsigned int size = draw_from(d, 1, (blocks - from) / 2);
		const char *between = "";

		fprintf(d->out, "%s{base: %u, size: %u, nodes: [", w == 0 ? "" : ", ",
			from * DRAW_BLOCK, size * DRAW_BLOCK);
		for (unsigned int i = 0; i < draw_free_hosts(d) + d->devices; i++) {
			const bool is_host = i < draw_free_hosts(d);

			if (i == host || draw_percent(d, 30))
				continue;
			fprintf(d->out, "%s%c%u", between, is_host ? 'h' : 'd',
				is_host ? i : i - draw_free_hosts(d));
			between = ", ";
		}
		fprintf(d->out, "]}");
		from += size + draw_from(d, 0, 1);
	}
	fprintf(d->out, "]");
}

/* --- translations --- */

/* Memory of GFDs, or UINT64_MAX: an address. */
static uint64_t
draw_place(struct draw *d, uint64_t bytes, uint64_t page)
{
	const unsigned int first = draw_from(d, 0, d->n_segments - 1);

	for (unsigned int i = 0; i < d->n_segments; i++) {
		const unsigned int k = (first + i) % d->n_segments;
		uint64_t at;

		if (!d->segment[k].is_gfd)
			continue;
		at = draw_take(d, k, bytes, page);
		if (at != UINT64_MAX)
			return d->segment[k].base + at;
	}
	return UINT64_MAX;
}

static const char *
draw_rights(struct draw *d)
{
	static const char *const words[] = { "rw", "rw", "rw", "rw", "r", "r", "w", "none" };

	return words[draw_from(d, 0, 7)];
}

static void
draw_translation(struct draw *d, unsigned int client, unsigned int i)
{
	const uint64_t page = DRAW_BLOCK << draw_from(d, 0, 2);
	const uint64_t size = page * draw_from(d, 1, TRANSLATION_PAGES);
	const uint64_t pa = draw_place(d, size, page);
	uint64_t to = UINT64_MAX;

	if (pa == UINT64_MAX)
		return;
	if (draw_has(d, DRAW_MOVE) && draw_percent(d, 70))
		to = draw_place(d, size, page);
	fprintf(d->out,
		"      - {host: h%u, va: %" PRIu64 ", pa: %" PRIu64 ", size: %" PRIu64
		", page: %" PRIu64,
		client, (uint64_t)(i + draw_from(d, 0, 3) * 8) << 24, pa, size, page);
	if (to != UINT64_MAX)
		fprintf(d->out, ", move_to: %" PRIu64, to);
	fprintf(d->out, ", rights: %s, demand: %s}\n", i == 0 ? "rw" : draw_rights(d),
		draw_percent(d, 30) ? "true" : "false");
}

/* The agent: what the addresses of its clients stand for. */
void
draw_translations(struct draw *d)
{
	fprintf(d->out, "  - name: ta\n    kind: host\n    pid: %u\n    translations:\n", 0x180);
	for (unsigned int c = draw_free_hosts(d); c < d->hosts; c++) {
		const unsigned int n = draw_from(d, 1, 3);

		for (unsigned int i = 0; i < n; i++)
			draw_translation(d, c, i);
	}
}
