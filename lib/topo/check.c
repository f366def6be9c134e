/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the values of nodes must fulfil beside their own ranges: names and PIDs are unique, every
 * host reaches every GFD.
 */

#include <errno.h>

#include "weft_ide.h"
#include "weft_isn.h"
#include "weft_wire.h"

#include "topo_priv.h"

static int
check_unique(struct topo_load *l, unsigned int i)
{
	const struct topo_node_src *src = &l->node[i];

	for (unsigned int j = 0; j < i; j++) {
		const struct topo_node_src *other = &l->node[j];

		if (strcmp(src->out.name, other->out.name) == 0) {
			topo_where(l, "nodes[%u].name", i);
			return topo_fail(l, -EINVAL, src->line_of[NODE_NAME],
				"duplicate name, expected one no other node has, got \"%s\" "
				"of line %u",
				src->out.name, other->line_of[NODE_NAME]);
		}
		if (src->out.pid == other->out.pid) {
			topo_where(l, "nodes[%u].pid", i);
			return topo_fail(l, -EINVAL, src->line_of[NODE_PID],
				"duplicate PID, expected one no other node has, got 0x%03x "
				"of %s, line %u",
				src->out.pid, other->out.name, other->line_of[NODE_PID]);
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
			return topo_fail(l, -EINVAL, l->node[i].line_of[NODE_AT],
				"coordinates of another length, expected %u as for %s, got %u",
				other->n_at, other->name, node->n_at);
		if (other->n_at != 0 && memcmp(other->at, node->at, sizeof(node->at)) == 0)
			return topo_fail(l, -EINVAL, l->node[i].line_of[NODE_AT],
				"coordinates taken, expected those of no other switch, got those "
				"of %s, line %u",
				other->name, l->node[j].line_of[NODE_AT]);
	}
	return 0;
}

/* A node that every daemon or none would run has no place beside nodes with a server. */
static int
check_server(struct topo_load *l, unsigned int i)
{
	const struct topo_node_src *src = &l->node[i];
	bool has_server = src->line_of[NODE_SERVER] != 0;

	if (has_server == (l->node[0].line_of[NODE_SERVER] != 0))
		return 0;
	topo_where(l, "nodes[%u]", i);
	return topo_fail(l, -EINVAL, has_server ? src->line_of[NODE_SERVER] : src->line_of[0],
		"server for some nodes only, expected it for all or none, got %s for %s",
		has_server ? "one" : "none", src->out.name);
}

static int
check_ide(struct topo_load *l)
{
	if (l->t.ide.mode != WEFT_IDE_OFF && l->t.cxl_io.packets != 0) {
		topo_where(l, "defaults.cxl_io");
		return topo_fail(l, -EINVAL, l->defaults_at[DEFAULTS_CXL_IO],
			"CXL.io with ide on, expected 0 as ide covers no CXL.io flits, got %u",
			l->t.cxl_io.packets);
	}
	if (l->t.ide.mode == WEFT_IDE_OFF || l->ide_at[IDE_KEY_FILE] != 0)
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

int
topo_check_paths(struct topo_load *l)
{
	const struct weft_topo *t = &l->t;
	struct topo_hops hops;

	for (unsigned int g = 0; g < t->n_gfds; g++) {
		topo_hops_to(t, t->gfd[g], &hops);
		for (unsigned int h = 0; h < t->n_hosts; h++) {
			const unsigned int i = t->host[h];

			if (hops.hop[i] != UINT16_MAX)
				continue;
			topo_where(l, "nodes[%u]", i);
			return topo_fail(l, -EINVAL, l->node[i].line_of[0],
				"host %s cannot reach gfd %s, expected a path of switches, got "
				"none",
				t->node[i].name, t->node[t->gfd[g]].name);
		}
	}
	return 0;
}
