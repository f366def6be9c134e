/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is sent in a drawn fabric. */

#include "draw_priv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "weft_base.h"
#include "weft_words.h"

#define UNIT_BYTES 4096u /* whole blocks of every domain below */
#define MOST_UNITS 12
#define SEEDS 1000000

static void
draw_mem(struct draw *d, unsigned int host)
{
	fprintf(d->out,
		"  - {on: h%u, kind: mem, requests: %u, outstanding: %u, lines: %u, "
		"write_percent: %u, seed: %u}\n",
		host, draw_from(d, 20, 600), 1u << draw_from(d, 0, 6), draw_from(d, 1, DRAW_LINES),
		draw_from(d, 0, 100), draw_from(d, 0, SEEDS));
}

static void
draw_uio(struct draw *d, char kind, unsigned int i)
{
	fprintf(d->out,
		"  - {on: %c%u, kind: uio, requests: %u, outstanding: %u, lines: %u, "
		"write_percent: %u, bytes: %u, prefix: %s, seed: %u}\n",
		kind, i, draw_from(d, 20, 400), 1u << draw_from(d, 0, 5),
		4 * draw_from(d, 1, DRAW_LINES / 4), draw_from(d, 0, 100), 64 * draw_from(d, 1, 4),
		weft_bool_words[draw_from(d, 0, 1)], draw_from(d, 0, SEEDS));
}

/* --- transfers --- */

static const char *const draw_mems[] = { "none", "none", "crc32c:512", "crc64:4096" };

/* And how many bytes follow how many in the memory of a GFD. */
static const struct draw_wire {
	const char *text;
	uint16_t block, tail;
} draw_wires[] = { { "none", 512, 0 }, { "crc32:512", 512, 4 }, { "crc32c:4096", 4096, 4 },
	{ "crc64:512", 512, 8 }, { "dif:512,guard=crc,bg=ffff,app=1,ref=0,remap", 512, 8 },
	{ "dif:4096,guard=csum,bg=0,app=abcd,ref=7", 4096, 8 } };

/* @p at: where the units of a GFD begin, any byte. */
static void
draw_transfer(struct draw *d, const char *kind, unsigned int gfd, uint64_t at, const char *rest)
{
	fprintf(d->out, "      - {kind: %s, gfd: g%u, offset: %" PRIu64 ", %s}\n", kind, gfd, at,
		rest);
}

/*
 * A second one begins in the line where the first ends, and the first is written once more: each
 * has to leave the bytes of the other as they are. @p seed: of the second
 */
static void
draw_neighbours(struct draw *d, unsigned int gfd, const uint64_t at[2], const char *data,
	const char *what, unsigned int seed)
{
	char next[300];

	snprintf(next, sizeof(next), "%s, seed: %u", what, seed);
	draw_transfer(d, "write", gfd, at[1], next);
	draw_transfer(d, "read", gfd, at[0], data);
	draw_transfer(d, "write", gfd, at[0], data);
	draw_transfer(d, "read", gfd, at[1], next);
}

/* Write, read back, and then often copy elsewhere and read that. */
static void
draw_round(struct draw *d)
{
	const unsigned int gfd = draw_from(d, 0, d->gfds - 1), to = draw_from(d, 0, d->gfds - 1);
	const uint64_t bytes = UNIT_BYTES * (uint64_t)draw_from(d, 1, MOST_UNITS);
	const char *const mem = draw_mems[draw_from(d, 0, WEFT_ARRAY_SIZE(draw_mems) - 1)];
	const struct draw_wire *wire =
		&draw_wires[draw_from(d, 0, WEFT_ARRAY_SIZE(draw_wires) - 1)];
	const uint64_t len = bytes + bytes / wire->block * wire->tail, odd = draw_from(d, 0, 7);
	const uint64_t at = draw_take(d, gfd, 2 * len + 8, 1), copy = draw_take(d, to, len + 8, 1);
	const uint64_t both[2] = { at + odd, at + odd + len };
	char what[260], data[300], place[300];
	unsigned int seed;

	if (at == UINT64_MAX)
		return;
	seed = draw_from(d, 0, SEEDS);
	snprintf(what, sizeof(what), "bytes: %" PRIu64 ", wire: \"%s\", mem: \"%s\"", bytes,
		wire->text, mem);
	snprintf(data, sizeof(data), "%s, seed: %u", what, seed);
	draw_transfer(d, "write", gfd, both[0], data);
	/* Of a number that was drawn for something else: the others stay. */
	if (seed % 2 == 0)
		draw_neighbours(d, gfd, both, data, what, seed + 1);
	draw_transfer(d, "read", gfd, both[0], data);
	if (copy == UINT64_MAX || draw_percent(d, 40))
		return;
	/* Of a copy both sides are GFDs: units go as they are. */
	snprintf(place, sizeof(place),
		"bytes: %" PRIu64 ", wire: \"%s\", mem: \"%s\", to: g%u, to_offset: %" PRIu64,
		bytes, wire->text, wire->text, to, copy + odd);
	draw_transfer(d, "copy", gfd, both[0], place);
	draw_transfer(d, "read", to, copy + odd, data);
}

/* A list has one at least: where memory is full there is none, nor the domain without any. */
static void
draw_transfers(struct draw *d, unsigned int host)
{
	const unsigned int n = draw_from(d, 1, 3);
	FILE *const out = d->out;
	char *list = NULL;
	size_t len = 0;

	d->out = open_memstream(&list, &len);
	for (unsigned int i = 0; i < n && d->out != NULL; i++)
		draw_round(d);
	if (d->out != NULL)
		fclose(d->out);
	d->out = out;
	if (len != 0)
		fprintf(out, "  - on: h%u\n    kind: transfer\n    transfers:\n%s", host, list);
	else
		d->transfer_hosts &= ~(UINT32_C(1) << host);
	if (d->transfer_hosts == 0)
		d->has &= ~(UINT32_C(1) << DRAW_TRANSFER);
	free(list);
}

static void
draw_host_load(struct draw *d, unsigned int host)
{
	const bool is_client = host >= draw_free_hosts(d);

	if (is_client || host == 0 || draw_percent(d, 70))
		draw_mem(d, host);
	if (is_client)
		return;
	if (draw_has(d, DRAW_UIO) && (host == 0 || draw_percent(d, 60)))
		draw_uio(d, 'h', host);
	if ((d->transfer_hosts >> host & 1) != 0)
		draw_transfers(d, host);
}

void
draw_workloads(struct draw *d)
{
	fprintf(d->out, "workloads:\n");
	for (unsigned int i = 0; i < d->hosts; i++)
		draw_host_load(d, i);
	for (unsigned int i = 0; i < d->devices; i++)
		draw_uio(d, 'd', i);
	if (draw_has(d, DRAW_MOVE))
		fprintf(d->out,
			"  - {on: ta, kind: move, every_ms: %u, at_once: %u, fence_ms: %u}\n",
			draw_from(d, 1, 5), draw_from(d, 1, 8), draw_from(d, 0, 50));
}

/* What they may open is the first GFD, which is not what they want, or everything. */
void
draw_clients(struct draw *d)
{
	static const char *const rights[] = { "none", "read", "rw", "rw" };

	if (weft_rand_below(&d->users, 2) == 0)
		return;
	fprintf(d->out, ", clients: [");
	for (unsigned int i = 0; i < DRAW_PROGRAMS; i++) {
		const uint64_t how = weft_rand_below(&d->users, 8);
		const bool is_elsewhere = how == 1 && !draw_has(d, DRAW_INTERLEAVE);

		if (how == 0)
			continue; /* as his group */
		fprintf(d->out, "{%s: %u, rights: %s, share: %u%s}, ", how % 2 == 0 ? "uid" : "gid",
			how % 2 == 0 ? DRAW_UID + i : DRAW_GID + 1 + i,
			rights[weft_rand_below(&d->users, WEFT_ARRAY_SIZE(rights))],
			1 + (unsigned int)weft_rand_below(&d->users, 5),
			is_elsewhere ? ", regions: [g0]" : "");
	}
	fprintf(d->out, "{gid: %u}]", DRAW_GID);
}

void
draw_programs(struct draw *d)
{
	for (unsigned int i = 0; i < d->n_segments; i++) {
		const uint64_t at = d->segment[i].is_gfd
		                            ? draw_take(d, i, DRAW_PROGRAM_BYTES, DRAW_BLOCK)
		                            : UINT64_MAX;

		if (at == UINT64_MAX)
			continue;
		fprintf(d->out,
			"regions:\n  - {name: programs, segment: %u, offset: %" PRIu64
			", size: %u}\n",
			i, at, DRAW_PROGRAM_BYTES);
		return;
	}
}
