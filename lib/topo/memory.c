/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What hosts have of memory, where a fabric manager says it and not the file (fabric.md 1.7). */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo_priv.h"

#define MEMORY_RANGES UINT16_MAX

static bool
memory_is_same(const struct weft_topo_range *a, const struct weft_topo_grant *b)
{
	return a->gfd == b->gfd && a->group == b->group && a->base == b->base && a->size == b->size;
}

static bool
memory_has(const struct weft_topo_access *a, const struct weft_topo_grant *g)
{
	for (uint16_t i = 0; i < a->n_ranges; i++)
		if (memory_is_same(&a->range[i], g))
			return true;
	return false;
}

static bool
memory_is_good(const struct weft_topo *t, const struct weft_topo_grant *g)
{
	return g->host < t->n_nodes && t->node[g->host].kind == WEFT_TOPO_HOST &&
	       g->gfd < t->n_nodes && t->node[g->gfd].kind == WEFT_TOPO_GFD &&
	       g->group < WEFT_TOPO_FM_GROUPS && g->size != 0 &&
	       ((g->base | g->size) & (WEFT_TOPO_BLOCK - 1)) == 0 &&
	       g->size <= t->node[g->gfd].memory && g->base <= t->node[g->gfd].memory - g->size;
}

int
weft_topo_set_memory(struct weft_topo *t, const struct weft_topo_grant *grant, size_t n)
{
	struct weft_topo_group *group;
	struct weft_topo_range *range;

	for (size_t i = 0; i < n; i++)
		if (!memory_is_good(t, &grant[i]))
			return -EINVAL;
	if (n > MEMORY_RANGES)
		return -E2BIG;
	group = calloc(WEFT_TOPO_FM_GROUPS + 1u, sizeof(*group));
	range = calloc(n + 1, sizeof(*range));
	if (group == NULL || range == NULL) {
		free(group);
		free(range);
		return -ENOMEM;
	}
	for (unsigned int k = 0; k < WEFT_TOPO_FM_GROUPS; k++)
		snprintf(group[k].name, sizeof(group[k].name), "group%u", k);
	free(t->access.group);
	free(t->access.range);
	t->access.group = group;
	t->access.n_groups = WEFT_TOPO_FM_GROUPS;
	t->access.range = range;
	t->access.n_ranges = 0;
	for (unsigned int i = 0; i < t->n_nodes; i++)
		t->node[i].access = 0;
	for (size_t i = 0; i < n; i++) {
		t->node[grant[i].host].access |= UINT64_C(1) << grant[i].group;
		if (!memory_has(&t->access, &grant[i]))
			range[t->access.n_ranges++] = (struct weft_topo_range){
				.gfd = grant[i].gfd,
				.group = grant[i].group,
				.base = grant[i].base,
				.size = grant[i].size,
			};
	}
	return 0;
}

/* Arrays of a topology, for a copy: where the pointer is, and how much is behind it. */
struct memory_array {
	size_t at, len;
};

#define OF(member, n)                                                                              \
	{                                                                                          \
		offsetof(struct weft_topo, member), (size_t)(n) * sizeof(*t->member)               \
	}

int
weft_topo_copy(struct weft_topo **out, const struct weft_topo *t)
{
	const struct memory_array array[] = {
		OF(map.segment, t->map.n_segments),
		OF(map.target, t->map.n_targets),
		OF(access.group, t->access.n_groups),
		OF(access.range, t->access.n_ranges),
		OF(access.window, t->access.n_windows),
		OF(attach.region, t->attach.n_regions),
		OF(attach.client, t->attach.n_clients),
		OF(attach.list, t->attach.n_list),
		OF(translations.entry, t->translations.n),
		OF(binding, t->n_bindings),
		OF(list, t->n_list),
		OF(node, t->n_nodes),
		OF(link, t->n_links),
		OF(port, t->n_ports),
		OF(neighbour, t->n_ports),
		OF(host, t->n_hosts),
		OF(gfd, t->n_gfds),
		OF(route, (size_t)t->n_nodes * t->n_nodes),
	};
	struct weft_topo *copy = malloc(sizeof(*copy));

	*out = NULL;
	if (copy == NULL)
		return -ENOMEM;
	*copy = *t;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(array); i++)
		memset((char *)copy + array[i].at, 0, sizeof(void *));
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(array); i++) {
		void *mem = malloc(array[i].len + 1), *from;

		if (mem == NULL) {
			weft_topo_free(copy);
			return -ENOMEM;
		}
		memcpy(&from, (const char *)t + array[i].at, sizeof(from));
		if (array[i].len != 0)
			memcpy(mem, from, array[i].len);
		memcpy((char *)copy + array[i].at, &mem, sizeof(mem));
	}
	*out = copy;
	return 0;
}
