/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the values of nodes must fulfil beside their own ranges: names and PIDs are unique, traffic
 * fits the memory it goes to, every host reaches every GFD and who sends by UIO whom it asks.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "weft_ide.h"
#include "weft_isn.h"
#include "weft_wire.h"

#include "topo_priv.h"

#define LINE 64

static int
check_unique(struct topo_load *l, unsigned int i)
{
	const struct topo_node_src *src = &l->node[i];

	for (unsigned int j = 0; j < i; j++) {
		const struct topo_node_src *other = &l->node[j];

		if (strcmp(src->out.name, other->out.name) == 0) {
			topo_where(l, "nodes[%u].name", i);
			return topo_fail(l, -EINVAL, src->at[NODE_NAME],
				"duplicate name, expected one no other node has, got \"%s\" "
				"of line %u",
				src->out.name, other->at[NODE_NAME]);
		}
		if (src->out.pid == other->out.pid) {
			topo_where(l, "nodes[%u].pid", i);
			return topo_fail(l, -EINVAL, src->at[NODE_PID],
				"duplicate PID, expected one no other node has, got 0x%03x "
				"of %s, line %u",
				src->out.pid, other->out.name, other->at[NODE_PID]);
		}
	}
	return 0;
}

/* Coordinates of a mesh are of one length and each taken once. */
static int
check_at(struct topo_load *l, unsigned int i)
{
	const struct weft_topo_node *node = &l->node[i].out;

	topo_where(l, "nodes[%u].at", i);
	for (unsigned int j = 0; j < i && node->n_at != 0; j++) {
		const struct weft_topo_node *other = &l->node[j].out;

		if (other->n_at != 0 && other->n_at != node->n_at)
			return topo_fail(l, -EINVAL, l->node[i].at[NODE_AT],
				"coordinates of another length, expected %u as for %s, got %u",
				other->n_at, other->name, node->n_at);
		if (other->n_at != 0 && memcmp(other->at, node->at, sizeof(node->at)) == 0)
			return topo_fail(l, -EINVAL, l->node[i].at[NODE_AT],
				"coordinates taken, expected those of no other switch, got those "
				"of %s, line %u",
				other->name, l->node[j].at[NODE_AT]);
	}
	return 0;
}

/* A node that every daemon or none would run has no place beside nodes with a server. */
static int
check_server(struct topo_load *l, unsigned int i)
{
	const struct topo_node_src *src = &l->node[i];
	bool has_server = src->at[NODE_SERVER] != 0;

	if (has_server == (l->node[0].at[NODE_SERVER] != 0))
		return 0;
	topo_where(l, "nodes[%u]", i);
	return topo_fail(l, -EINVAL, has_server ? src->at[NODE_SERVER] : src->at[0],
		"server for some nodes only, expected it for all or none, got %s for %s",
		has_server ? "one" : "none", src->out.name);
}

unsigned int
topo_traffic_line(const struct topo_node_src *src)
{
	return topo_line(src->traffic_at, TRAFFIC_LINES);
}

/* The smallest GFD, or NULL if there is none. */
static const struct weft_topo_node *
smallest_gfd(const struct weft_topo *t)
{
	const struct weft_topo_node *least = NULL;

	for (unsigned int i = 0; i < t->n_gfds; i++) {
		const struct weft_topo_node *gfd = &t->node[t->gfd[i]];

		if (least == NULL || gfd->memory < least->memory)
			least = gfd;
	}
	return least;
}

static int
check_ide(struct topo_load *l)
{
	if (l->t.ide != WEFT_IDE_OFF && l->t.cxl_io != 0) {
		topo_where(l, "defaults.cxl_io");
		return topo_fail(l, -EINVAL, l->defaults_at[DEFAULTS_CXL_IO],
			"CXL.io with ide on, expected 0 as ide covers no CXL.io flits, got %u",
			l->t.cxl_io);
	}
	if (l->t.ide == WEFT_IDE_OFF || l->ide_at[IDE_KEY_FILE] != 0)
		return 0;
	topo_where(l, "ide");
	return topo_fail(l, -EINVAL, l->ide_at[IDE_MODE],
		"key missing, expected key_file as ide is on, got none");
}

/* Single flits can be asked for only where their numbers can be told, and kept only in a buffer. */
static int
check_retry(struct topo_load *l)
{
	const struct weft_topo_retry *r = &l->t.retry;

	if (r->selective == 1 && l->t.mode == WEFT_MODE_RXL && l->t.isn == WEFT_ISN_XOR) {
		topo_where(l, "defaults.retry.selective");
		return topo_fail(l, -EINVAL, l->retry_at[RETRY_SELECTIVE],
			"selective with isn xor, expected false or isn pseudo, got true");
	}
	if (r->selective == 0 && r->rx_buffer != 0) {
		topo_where(l, "defaults.retry.rx_buffer");
		return topo_fail(l, -EINVAL, l->retry_at[RETRY_RX_BUFFER],
			"buffer that nothing uses, expected it with selective true, got %u",
			r->rx_buffer);
	}
	return 0;
}

int
topo_check_nodes(struct topo_load *l)
{
	int rc = check_ide(l);

	if (rc == 0)
		rc = check_retry(l);

	for (unsigned int i = 0; i < l->t.n_nodes && rc == 0; i++) {
		rc = check_unique(l, i);
		if (rc == 0)
			rc = check_server(l, i);
		if (rc == 0)
			rc = check_at(l, i);
	}
	return rc;
}

/* Bytes where the lines of all hosts must have room, and the name of what has the least. */
static uint64_t
least_room(const struct topo_load *l, char *name, size_t len)
{
	const struct weft_topo_node *gfd = smallest_gfd(&l->t);
	uint64_t least = UINT64_MAX;

	if (l->at[ROOT_SEGMENTS] == 0 && gfd != NULL) {
		snprintf(name, len, "gfd %s", gfd->name);
		return gfd->memory;
	}
	for (unsigned int i = 0; i < l->t.n_segments; i++) {
		if (l->t.segment[i].size >= least)
			continue;
		least = l->t.segment[i].size;
		snprintf(name, len, "segments[%u]", i);
	}
	return least;
}

/* Behind them the lines of UIO; a request does not cross a unit. */
static int
check_uio_lines(struct topo_load *l, uint64_t used)
{
	const uint64_t unit = WEFT_TOPO_UIO_UNIT / LINE;
	char name[WEFT_TOPO_NAME_ROOM + 8] = "";

	used = (used + unit - 1) / unit * unit;
	for (unsigned int i = 0; i < l->t.n_nodes; i++) {
		struct weft_topo_node *node = &l->t.node[i];
		uint64_t room;

		if (!node->has_uio)
			continue;
		topo_where(l, "nodes[%u].uio", i);
		if (l->t.n_segments == 0)
			return topo_fail(l, -EINVAL, l->node[i].at[NODE_UIO],
				"uio without a destination, expected a segment or a gfd, got none");
		room = least_room(l, name, sizeof(name)) / LINE;
		node->uio.first_line = used;
		used += node->uio.lines;
		if (used > room)
			return topo_fail(l, -EINVAL, l->node[i].at[NODE_UIO],
				"more lines than %s holds, expected at most %llu for all traffic, "
				"got %llu",
				name, (unsigned long long)room, (unsigned long long)used);
	}
	return 0;
}

/* A line has one writer: hosts take theirs one behind the other, in every segment the same. */
int
topo_check_traffic(struct topo_load *l)
{
	char name[WEFT_TOPO_NAME_ROOM + 8] = "";
	uint64_t used = 0, room;

	for (unsigned int h = 0; h < l->t.n_hosts; h++) {
		unsigned int i = l->t.host[h];
		struct weft_topo_node *host = &l->t.node[i];

		if (!host->has_traffic || host->translates)
			continue;
		topo_where(l, "nodes[%u].traffic", i);
		if (l->t.n_gfds == 0)
			return topo_fail(l, -EINVAL, l->node[i].at[NODE_TRAFFIC],
				"traffic without a destination, expected a gfd, got none");
		room = least_room(l, name, sizeof(name)) / LINE;
		host->traffic.first_line = used;
		used += host->traffic.lines;
		if (used > room)
			return topo_fail(l, -EINVAL, topo_traffic_line(&l->node[i]),
				"more lines than %s holds, expected at most %llu for all "
				"hosts, got %llu",
				name, (unsigned long long)room, (unsigned long long)used);
	}
	return check_uio_lines(l, used);
}

int
topo_check_paths(struct topo_load *l)
{
	const struct weft_topo *t = &l->t;
	struct topo_hops hops;
	bool has_uio = false;

	for (unsigned int i = 0; i < t->n_nodes; i++)
		has_uio = has_uio || t->node[i].has_uio;
	for (unsigned int to = 0; to < t->n_nodes; to++) {
		const bool is_gfd = t->node[to].kind == WEFT_TOPO_GFD;

		if (!is_gfd && (!has_uio || !topo_has_segment(t, to)))
			continue;
		topo_hops_to(t, to, &hops);
		for (unsigned int i = 0; i < t->n_nodes; i++) {
			const bool asks = (is_gfd && t->node[i].kind == WEFT_TOPO_HOST) ||
			                  (t->node[i].has_uio && weft_topo_may_ask(t, i, to));

			if (!asks || hops.hop[i] != UINT16_MAX)
				continue;
			topo_where(l, "nodes[%u]", i);
			return topo_fail(l, -EINVAL, l->node[i].at[0],
				"%s %s cannot reach %s %s, expected a path of switches, got none",
				weft_topo_kind_words[t->node[i].kind], t->node[i].name,
				weft_topo_kind_words[t->node[to].kind], t->node[to].name);
		}
	}
	return 0;
}
