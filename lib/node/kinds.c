/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Kinds of node, services, and how a node calls those that it has. */

#include "node_priv.h"

#include <assert.h>

#include "weft_base.h"
#include "weft_telem.h"

const struct weft_node_kind *const weft_node_kinds[] = {
	&node_host,
	&node_gfd,
	&node_device,
	&node_rxl_switch,
	&node_cxl_switch,
};
const unsigned int weft_node_n_kinds = WEFT_ARRAY_SIZE(weft_node_kinds);

static_assert(NODE_SERVICES <= WEFT_NODE_SERVICES, "a node has room for all");

const struct weft_node_service *const weft_node_services[] = {
#define WEFT_SERVICE(id) &node_##id,
#include "services.def"
#undef WEFT_SERVICE
};
const unsigned int weft_node_n_services = NODE_SERVICES;

const struct weft_node_kind *
weft_node_kind_of(const struct weft_topo *t, unsigned int index)
{
	for (unsigned int i = 0; i < weft_node_n_kinds; i++)
		if (weft_node_kinds[i]->topo_kind == t->node[index].kind &&
			(weft_node_kinds[i]->modes >> t->mode & 1) != 0)
			return weft_node_kinds[i];
	return NULL;
}

bool
weft_node_runs(const struct weft_topo *t)
{
	for (uint16_t i = 0; i < t->n_nodes; i++)
		if (weft_node_kind_of(t, i) == NULL)
			return false;
	return t->n_bindings == 0;
}

bool
node_packet(void *link, const struct weft_io_tlp *t)
{
	struct weft_node_link *l = link;
	struct weft_node *n = l->node;

	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->packet != NULL)
			return weft_node_services[i]->packet(l, n->service[i], t);
	node_drop(n, WEFT_DROP_WRONG_CLASS);
	return true;
}

unsigned int
node_poll_services(struct weft_node *n, bool may_ask)
{
	unsigned int worked = 0;

	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->poll != NULL)
			worked += weft_node_services[i]->poll(n, n->service[i], may_ask);
	return worked;
}

void
node_poison_services(struct weft_node *n)
{
	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->poison != NULL)
			weft_node_services[i]->poison(n, n->service[i]);
}

bool
weft_node_is_done(const struct weft_node *n)
{
	if (n->kind->is_done != NULL && !n->kind->is_done(n))
		return false;
	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->is_done != NULL &&
			!weft_node_services[i]->is_done(n->service[i]))
			return false;
	return true;
}

bool
weft_node_is_good(const struct weft_node *n)
{
	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->is_good != NULL &&
			!weft_node_services[i]->is_good(n, n->service[i]))
			return false;
	return true;
}

unsigned int
weft_node_counters(const struct weft_node *n, struct weft_node_set set[WEFT_NODE_SETS])
{
	unsigned int sets = n->kind->counters == NULL ? 0 : n->kind->counters(n, set);

	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->counters != NULL)
			sets += weft_node_services[i]->counters(n, n->service[i], set + sets);
	return sets;
}

const uint64_t *
weft_node_counter(
	const struct weft_node *n, const char *part, const char *name, const char *counter)
{
	struct weft_node_set set[WEFT_NODE_SETS];
	const unsigned int sets = weft_node_counters(n, set);

	for (unsigned int i = 0; i < sets; i++) {
		const bool is_part =
			part == NULL ? set[i].part == NULL
				     : set[i].part != NULL && strcmp(set[i].part, part) == 0;
		const int row = weft_counter_find(set[i].rows, set[i].n, counter);

		if (is_part && strcmp(set[i].name, name) == 0 && row >= 0)
			return &set[i].values[row];
	}
	return NULL;
}
