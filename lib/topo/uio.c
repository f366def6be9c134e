/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Who may ask whom by UIO (fabric.md sections 1.5, 1.8, 2.4 and 3.5): windows to the memory of
 * hosts, the vectors of edge ports, and what must not be together.
 */

#include <errno.h>
#include <stdlib.h>

#include "topo_priv.h"

static bool
uio_is_segment_of(const struct weft_topo *t, unsigned int s, unsigned int node)
{
	const struct weft_topo_segment *seg = &t->map.segment[s];

	for (unsigned int w = 0; w < 1u << seg->ways_log2; w++)
		if (t->map.target[seg->first_target + w].node == node)
			return true;
	return false;
}

bool
topo_has_segment(const struct weft_topo *t, unsigned int node)
{
	/* One of each GFD: large fabrics are like this, and it is asked of all pairs of nodes. */
	if (t->map.is_default)
		return t->node[node].kind == WEFT_TOPO_GFD;
	for (unsigned int s = 0; s < t->map.n_segments; s++)
		if (uio_is_segment_of(t, s, node))
			return true;
	return false;
}

bool
topo_answers_gim(const struct weft_topo *t, unsigned int node)
{
	return t->node[node].kind == WEFT_TOPO_HOST &&
	       (t->node[node].gim != 0 || topo_has_segment(t, node));
}

static bool
uio_is_asker(const struct weft_topo *t, unsigned int node)
{
	return t->node[node].kind == WEFT_TOPO_HOST || t->node[node].kind == WEFT_TOPO_DEVICE;
}

static bool
uio_names(const struct weft_topo *t, const struct weft_topo_names *n, unsigned int node)
{
	for (unsigned int i = 0; i < n->n; i++)
		if (t->list[n->first + i] == node)
			return true;
	return false;
}

bool
weft_topo_in_vtv(const struct weft_topo *t, unsigned int node, unsigned int other)
{
	const struct weft_topo_node *n = &t->node[node];

	if (node == other || !uio_is_asker(t, node) || !uio_is_asker(t, other))
		return false;
	if (n->vtv.is_given)
		return uio_names(t, &n->vtv, other);
	return topo_answers_gim(t, other) || n->gim != 0;
}

static bool
uio_lav_says(const struct weft_topo *t, unsigned int node, unsigned int other)
{
	const struct weft_topo_node *n = &t->node[node];

	return t->node[other].memory != 0 && (!n->lav.is_given || uio_names(t, &n->lav, other));
}

bool
weft_topo_in_lav(const struct weft_topo *t, unsigned int node, unsigned int other)
{
	if (node == other || t->node[node].kind != WEFT_TOPO_DEVICE ||
		t->node[other].kind != WEFT_TOPO_DEVICE)
		return false;
	return uio_lav_says(t, node, other) || uio_lav_says(t, other, node);
}

bool
weft_topo_may_ask(const struct weft_topo *t, unsigned int from, unsigned int to)
{
	if (from == to || !uio_is_asker(t, from) || !topo_has_segment(t, to))
		return false;
	return t->node[to].kind != WEFT_TOPO_DEVICE || t->node[from].kind == WEFT_TOPO_DEVICE;
}

/* Names of hosts and devices, or of devices only, as nodes. */
static int
uio_resolve(struct topo_load *l, unsigned int list, bool devices_only, struct weft_topo_names *out)
{
	const struct topo_value *value = l->tree.value;
	struct weft_topo *t = &l->t;

	out->first = t->n_list;
	out->is_given = true;
	for (unsigned int v = value[list].first; v != 0; v = value[v].next) {
		const int node = weft_topo_find(t, value[v].text);

		if (node < 0 || !uio_is_asker(t, (unsigned int)node) ||
			(devices_only && t->node[node].kind != WEFT_TOPO_DEVICE))
			return topo_fail(l, -EINVAL, value[v].line,
				"bad name, expected that of a %s, got \"%.48s\"",
				devices_only ? "device" : "host or device", value[v].text);
		t->list[t->n_list++] = (uint16_t)node;
		out->n++;
	}
	return 0;
}

static int
uio_place_window(struct topo_load *l, unsigned int node, unsigned int i)
{
	struct weft_topo *t = &l->t;
	struct weft_topo_node *host = &t->node[node];
	struct topo_window_src *src = &l->of_node.window[host->first_window + i];
	struct weft_topo_window *out = &t->access.window[host->first_window + i];
	int rc;

	topo_where(l, "nodes[%u].windows[%u]", node, i);
	src->out.host = (uint16_t)node;
	if (src->line_of[WINDOW_SIZE] == 0 && src->out.base < host->gim)
		src->out.size = host->gim - src->out.base;
	if (src->out.base % WEFT_TOPO_BLOCK != 0 || src->out.size % WEFT_TOPO_BLOCK != 0 ||
		src->out.size == 0 || src->out.base + src->out.size > host->gim)
		return topo_fail(l, -EINVAL, src->line_of[0],
			"bad window, expected multiples of %d in the %llu bytes of gim, got %llu "
			"from %llu on",
			WEFT_TOPO_BLOCK, (unsigned long long)host->gim,
			(unsigned long long)src->out.size, (unsigned long long)src->out.base);
	for (unsigned int j = 0; j < i; j++) {
		const struct weft_topo_window *o = &t->access.window[host->first_window + j];

		if (src->out.base < o->base + o->size && o->base < src->out.base + src->out.size)
			return topo_fail(l, -EINVAL, src->line_of[0],
				"windows overlap, expected one for a block, got memory of "
				"windows[%u] again",
				j);
	}
	rc = uio_resolve(l, src->nodes, false, &src->out.nodes);
	*out = src->out;
	return rc;
}

static int
uio_place_node(struct topo_load *l, unsigned int i)
{
	struct weft_topo_node *n = &l->t.node[i];
	const struct topo_node_src *src = &l->node[i];
	int rc = 0;

	topo_where(l, "nodes[%u].vtv", i);
	if (rc == 0 && src->line_of[NODE_VTV] != 0)
		rc = uio_resolve(l, src->vtv, false, &n->vtv);
	topo_where(l, "nodes[%u].lav", i);
	if (rc == 0 && src->line_of[NODE_LAV] != 0)
		rc = uio_resolve(l, src->lav, true, &n->lav);
	for (unsigned int w = 0; w < n->n_windows && rc == 0; w++)
		rc = uio_place_window(l, i, w);
	return rc;
}

/*
 * Shared resources of the two roles close a loop through two hosts: devices of a host that answers
 * must not reach another's memory through it.
 */
static int
uio_check_forward(struct topo_load *l, unsigned int i)
{
	const struct weft_topo *t = &l->t;

	if (!t->node[i].uio.forward || t->node[i].uio.override || !topo_answers_gim(t, i))
		return 0;
	for (unsigned int other = 0; other < t->n_nodes; other++) {
		if (!topo_answers_gim(t, other) || !weft_topo_in_vtv(t, i, other))
			continue;
		topo_where(l, "nodes[%u].forward", i);
		return topo_fail(l, -EINVAL, l->node[i].line_of[NODE_FORWARD],
			"a host that answers GIM must not forward UIO to GIM (fabric.md 3.5): "
			"expected forward false, no such host in its vtv, or override: "
			"gim-forward, got %s in the vtv of %s",
			t->node[other].name, t->node[i].name);
	}
	return 0;
}

int
topo_uio(struct topo_load *l)
{
	struct weft_topo *t = &l->t;
	int rc = 0;

	t->access.window = calloc((size_t)t->access.n_windows + 1, sizeof(*t->access.window));
	/* No value is in two lists. */
	t->list = calloc((size_t)l->tree.n + 1, sizeof(*t->list));
	if (t->access.window == NULL || t->list == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->n_nodes && rc == 0; i++)
		rc = uio_place_node(l, i);
	for (unsigned int i = 0; i < t->n_nodes && rc == 0; i++)
		rc = uio_check_forward(l, i);
	return rc;
}
