/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Nodes and links of a drawn fabric, and what all of it agrees on. Which domains it has is drawn
 * first, by the rows below; what goes with them, in the order of the file.
 */

#include "draw_priv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "weft_base.h"
#include "weft_wire.h"
#include "weft_words.h"

#define EQUAL_PERCENT 25 /* of fabrics with more than one switch */
#define BIT(domain) (UINT32_C(1) << DRAW_##domain)
const char *const draw_words[] = { [DRAW_ATS] = "ats",
	[DRAW_MOVE] = "move",
	[DRAW_TRANSFER] = "transfer",
	[DRAW_INTERLEAVE] = "interleave",
	[DRAW_UIO] = "uio",
	[DRAW_GIM] = "gim",
	[DRAW_DEVICE] = "device",
	[DRAW_RIGHTS] = "rights",
	[DRAW_LATE_POISON] = "late_poison",
	[DRAW_IDE] = "ide",
	[DRAW_EQUAL] = "equal",
	NULL };

/*
 * How often each is there, what it needs, and what it is never with. Transfers want whole GFDs for
 * segments; with them and with pages that move, poison would end what has to end well. Equal links
 * are drawn apart.
 */
static const struct {
	uint8_t percent;
	uint32_t needs, never_with;
} draw_rows[] = {
	[DRAW_ATS] = { 35, 0, 0 },
	[DRAW_MOVE] = { 70, BIT(ATS), 0 },
	[DRAW_TRANSFER] = { 35, 0, 0 },
	[DRAW_INTERLEAVE] = { 50, 0, BIT(TRANSFER) },
	[DRAW_UIO] = { 50, 0, 0 },
	[DRAW_GIM] = { 60, BIT(UIO), BIT(TRANSFER) },
	[DRAW_DEVICE] = { 50, BIT(UIO), 0 },
	[DRAW_RIGHTS] = { 50, 0, 0 },
	[DRAW_LATE_POISON] = { 40, 0, BIT(TRANSFER) | BIT(MOVE) },
	[DRAW_IDE] = { 50, 0, BIT(ATS) | BIT(UIO) },
};

uint64_t
draw_take(struct draw *d, unsigned int segment, uint64_t bytes, uint64_t align)
{
	struct draw_segment *s = &d->segment[segment];
	const uint64_t from = (s->taken + align - 1) & ~(align - 1);

	if (from >= s->size || bytes > s->size - from)
		return UINT64_MAX;
	s->taken = from + bytes;
	return from;
}

static void
draw_sizes(struct draw *d)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(draw_rows); i++) {
		const bool is_drawn = draw_percent(d, draw_rows[i].percent);

		if (is_drawn && (d->has & draw_rows[i].needs) == draw_rows[i].needs &&
			(d->has & draw_rows[i].never_with) == 0)
			d->has |= UINT32_C(1) << i;
	}
	d->hosts = draw_from(d, draw_has(d, DRAW_ATS) || draw_has(d, DRAW_GIM) ? 2 : 1, DRAW_HOSTS);
	d->clients = draw_has(d, DRAW_ATS) ? draw_from(d, 1, d->hosts - 1) : 0;
	d->gfds = draw_from(d, draw_has(d, DRAW_INTERLEAVE) ? 2 : 1, DRAW_GFDS);
	d->devices = draw_has(d, DRAW_DEVICE) ? draw_from(d, 1, DRAW_DEVICES) : 0;
	d->switches = draw_from(d, 1, 3);
	if (d->switches > 1 && weft_rand_below(&d->equal, 100) < EQUAL_PERCENT)
		d->has |= BIT(EQUAL);
	for (unsigned int i = 0; i < d->gfds; i++)
		d->memory[i] = UINT64_C(1) << draw_from(d, 20, 22);
	for (unsigned int i = 0; i < draw_free_hosts(d); i++)
		if (draw_has(d, DRAW_TRANSFER) && (i == 0 || draw_percent(d, 30)))
			d->transfer_hosts |= UINT32_C(1) << i;
	for (unsigned int i = 0; i < draw_free_hosts(d); i++)
		if (draw_has(d, DRAW_GIM) && (i == 0 || draw_percent(d, 50)))
			d->gim[i] = DRAW_LINE_BYTES + DRAW_BLOCK * (uint64_t)draw_from(d, 0, 32);
	for (unsigned int i = 0; i < d->devices; i++)
		if (!draw_has(d, DRAW_TRANSFER) && draw_percent(d, 60))
			d->own[i] = DRAW_LINE_BYTES + DRAW_BLOCK * (uint64_t)draw_from(d, 0, 32);
}

/* --- what all agree on --- */

static void
draw_head(struct draw *d, uint64_t seed)
{
	fprintf(d->out, "# seed %" PRIu64 ":", seed);
	for (unsigned int i = 0; i < DRAW_DOMAINS; i++)
		if (draw_has(d, (enum draw_domain)i))
			fprintf(d->out, " %s", draw_words[i]);
	fprintf(d->out, "\nfabric: drawn\nmode: %s\n",
		weft_mode_words[d->is_cxl ? WEFT_MODE_CXL : WEFT_MODE_RXL]);
}

static void
draw_retry(struct draw *d)
{
	const unsigned int window = 8u << draw_from(d, 0, 5);
	const bool is_xor = !d->is_cxl && draw_percent(d, 20);
	const bool is_selective = !is_xor && draw_percent(d, 70);

	if (is_xor)
		fprintf(d->out, ", isn: xor");
	if (draw_percent(d, 40))
		return;
	fprintf(d->out, ", retry: {window: %u, ack_every: %u, selective: %s", window,
		draw_from(d, 1, window / 2), is_selective ? "true" : "false");
	if (is_selective && draw_percent(d, 50))
		fprintf(d->out, ", rx_buffer: %u", draw_from(d, 1, window - 1));
	fprintf(d->out, "}");
}

static void
draw_defaults(struct draw *d)
{
	const unsigned int flits = draw_from(d, 1, 3) == 1 ? 1 : draw_from(d, 2, 35);

	fprintf(d->out, "defaults: {mtu: %u, crc_order: %s", 18 + 256 * flits,
		draw_percent(d, 50) ? "r0" : "r7");
	if (draw_percent(d, 30))
		fprintf(d->out, ", flits_per_frame: %u", draw_from(d, 1, flits));
	draw_retry(d);
	if ((d->has & (BIT(UIO) | BIT(ATS))) != 0 && draw_percent(d, 50))
		fprintf(d->out, ", cxl_io: %u", draw_from(d, 1, 127));
	if (d->is_cxl && draw_percent(d, 30))
		fprintf(d->out, ", link_form: pbr");
	fprintf(d->out, "}\n");
	if (draw_has(d, DRAW_IDE))
		fprintf(d->out, "ide: {mode: %s, key_file: weft-sim.key, pcrc: %s, poison: %s}\n",
			draw_percent(d, 50) ? "containment" : "skid",
			weft_switch_words[draw_from(d, 0, 1)],
			weft_switch_words[draw_from(d, 0, 1)]);
}

/* --- nodes and links --- */

static void
draw_node_begins(struct draw *d, const char *kind, unsigned int i, unsigned int pid)
{
	fprintf(d->out, "  - {name: %c%u, kind: %s, pid: %u", kind[0], i, kind, pid + i);
}

/* What edge ports of those that send by UIO do. */
static void
draw_edge(struct draw *d)
{
	if (!draw_has(d, DRAW_UIO))
		return;
	if (draw_percent(d, 50))
		fprintf(d->out, ", ingress_prefix: %s", weft_bool_words[draw_from(d, 0, 1)]);
	if (draw_percent(d, 50))
		fprintf(d->out, ", egress_prefix: %s", weft_bool_words[draw_from(d, 0, 1)]);
}

static void
draw_host(struct draw *d, unsigned int i)
{
	draw_node_begins(d, "host", i, 0x100);
	if (i >= draw_free_hosts(d)) {
		fprintf(d->out, ", ats: {agent: ta, entries: %u, prefetch: %u}",
			8u << draw_from(d, 0, 4), draw_from(d, 1, 15));
	} else {
		draw_edge(d);
		if (d->gim[i] != 0)
			draw_windows(d, i);
		draw_clients(d);
	}
	draw_access(d, (d->transfer_hosts >> i & 1) != 0);
	fprintf(d->out, "}\n");
}

static void
draw_nodes(struct draw *d)
{
	fprintf(d->out, "nodes:\n");
	for (unsigned int i = 0; i < d->hosts; i++)
		draw_host(d, i);
	if (draw_has(d, DRAW_ATS))
		draw_translations(d);
	for (unsigned int i = 0; i < d->switches; i++) {
		draw_node_begins(d, "switch", i, 0x10);
		fprintf(d->out, "}\n");
	}
	for (unsigned int i = 0; i < d->gfds; i++) {
		draw_node_begins(d, "gfd", i, 0x200);
		fprintf(d->out, ", memory: %" PRIu64, d->memory[i]);
		if (draw_has(d, DRAW_LATE_POISON) && (i == 0 || draw_percent(d, 50)))
			fprintf(d->out, ", late_poison: 0.%02u, late_poison_seed: %u",
				draw_from(d, 1, 50), draw_from(d, 0, 1000));
		fprintf(d->out, "}\n");
	}
	for (unsigned int i = 0; i < d->devices; i++) {
		draw_node_begins(d, "device", i, 0x600);
		if (d->own[i] != 0)
			fprintf(d->out, ", memory: %" PRIu64, d->own[i]);
		draw_edge(d);
		draw_access(d, false);
		fprintf(d->out, "}\n");
	}
}

static void
draw_leaves(struct draw *d, char kind, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		fprintf(d->out, "  - {a: %c%u, b: s%u, driver: ring}\n", kind, i,
			draw_from(d, 0, d->switches - 1));
}

/* Each switch but the first hangs at one before it; three may make a triangle. */
static void
draw_links(struct draw *d)
{
	const bool is_triangle = d->switches == 3 && draw_percent(d, 40);

	fprintf(d->out, "links:\n");
	draw_leaves(d, 'h', d->hosts);
	if (draw_has(d, DRAW_ATS))
		fprintf(d->out, "  - {a: ta, b: s%u, driver: ring}\n",
			draw_from(d, 0, d->switches - 1));
	for (unsigned int i = 1; i < d->switches; i++) {
		const unsigned int to = is_triangle ? i - 1 : draw_from(d, 0, i - 1);
		/* The first two switches have several, if any have. */
		unsigned int more =
			draw_has(d, DRAW_EQUAL) && (i == 1 || weft_rand_below(&d->equal, 2) != 0)
				? 1 + (unsigned int)weft_rand_below(&d->equal, 3)
				: 0;

		do
			fprintf(d->out, "  - {a: s%u, b: s%u, driver: ring}\n", i, to);
		while (more-- != 0);
	}
	if (is_triangle)
		fprintf(d->out, "  - {a: s2, b: s0, driver: ring}\n");
	draw_leaves(d, 'g', d->gfds);
	draw_leaves(d, 'd', d->devices);
}

static char *
draw_text(struct draw_rights *change, uint64_t seed, int mode, uint32_t *has, size_t *len)
{
	struct draw d = { .change = change };
	char *text = NULL;
	size_t n = 0;
	bool is_good;

	d.out = open_memstream(&text, &n);
	if (d.out == NULL)
		return NULL;
	weft_rand_seed(&d.r, seed);
	weft_rand_seed(&d.equal, seed ^ UINT64_C(0xE09A1));
	weft_rand_seed(&d.users, seed ^ UINT64_C(0x05E25));
	d.is_cxl = draw_percent(&d, 50);
	if (mode >= 0)
		d.is_cxl = mode == WEFT_MODE_CXL;
	draw_sizes(&d);
	draw_head(&d, seed);
	draw_defaults(&d);
	draw_segments(&d);
	draw_groups(&d);
	draw_nodes(&d);
	draw_links(&d);
	draw_workloads(&d);
	draw_programs(&d);
	is_good = ferror(d.out) == 0;
	if (fclose(d.out) != 0 || !is_good) {
		free(text);
		return NULL;
	}
	if (has != NULL)
		*has = d.has;
	if (len != NULL)
		*len = n;
	return text;
}

char *
draw_fabric(uint64_t seed, int mode, uint32_t *has, size_t *len)
{
	return draw_text(NULL, seed, mode, has, len);
}

bool
draw_may_change(uint32_t has)
{
	return (has & BIT(RIGHTS)) != 0 && (has & (BIT(GIM) | BIT(ATS))) == 0;
}

char *
draw_change(uint64_t seed, int mode, size_t *len)
{
	struct draw_rights change = { .groups = 0 };

	weft_rand_seed(&change.r, seed ^ UINT64_C(0xC4A6E));
	return draw_text(&change, seed, mode, NULL, len);
}
