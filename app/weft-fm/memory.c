/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Memory that operators asked for: each is a group of its own, extents of it in every GFD that
 * takes turns in one segment of the fabric's addresses, and hosts that may reach it (fabric.md
 * 1.7).
 * Where its extents are is decided once, and kept: nothing moves memory that is in use.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "manager.h"

struct memory *
memory_find(struct memories *s, const char *name)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (s->m[i].n_extents != 0 && strcmp(s->m[i].name, name) == 0)
			return &s->m[i];
	return NULL;
}

bool
memory_has_host(const struct memory *m, unsigned int host)
{
	for (unsigned int i = 0; i < m->n_hosts; i++)
		if (m->host[i] == host)
			return true;
	return false;
}

/* The lowest group that neither the file nor any memory has, or -1. */
static int
memory_free_group(const struct memories *s, const struct weft_topo *t)
{
	for (unsigned int k = t->access.n_groups; k < WEFT_TOPO_FM_GROUPS; k++) {
		bool is_taken = false;

		for (unsigned int i = 0; i < s->n; i++)
			is_taken = is_taken || s->m[i].group == k;
		if (!is_taken)
			return (int)k;
	}
	return -1;
}

/* The end of what is taken of a GFD's memory at @p dpa, or 0: nothing is. */
static uint64_t
memory_taken(const struct memories *s, const struct weft_topo *t, uint16_t gfd, uint64_t dpa,
	uint64_t len)
{
	uint64_t end = 0;

	for (uint16_t i = 0; i < t->access.n_ranges; i++) {
		const struct weft_topo_range *r = &t->access.range[i];

		if (r->gfd == gfd && dpa < r->base + r->size && r->base < dpa + len)
			end = r->base + r->size;
	}
	for (unsigned int i = 0; i < s->n; i++)
		for (unsigned int k = 0; k < s->m[i].n_extents; k++) {
			const struct memory_extent *e = &s->m[i].extent[k];

			if (e->gfd == gfd && dpa < e->dpa + e->size && e->dpa < dpa + len)
				end = e->dpa + e->size;
		}
	return end;
}

/* First place of @p each bytes that is free in all ways of a segment; or -ENOSPC. */
static int
memory_place(const struct memories *s, const struct weft_topo *t,
	const struct weft_topo_segment *seg, uint64_t each, uint64_t *at)
{
	const unsigned int ways = 1u << seg->ways_log2;
	bool is_moved = true;

	*at = 0;
	while (is_moved) {
		is_moved = false;
		for (unsigned int w = 0; w < ways; w++) {
			const struct weft_topo_target *to = &t->map.target[seg->first_target + w];
			const uint64_t end = memory_taken(s, t, to->node, to->dpa + *at, each);

			if (end == 0)
				continue;
			*at = end - to->dpa;
			is_moved = true;
		}
	}
	return *at + each <= seg->size >> seg->ways_log2 ? 0 : -ENOSPC;
}

/* Add @p size bytes of a segment to a memory. */
static int
memory_take(struct memories *s, struct memory *m, const struct weft_topo *t, uint64_t size,
	char *err, size_t err_len)
{
	const struct weft_topo_segment *seg = &t->map.segment[m->segment];
	const unsigned int ways = 1u << seg->ways_log2;
	const uint64_t gran = UINT64_C(256) << seg->gran;
	const uint64_t unit = (gran > WEFT_TOPO_BLOCK ? gran : WEFT_TOPO_BLOCK) << seg->ways_log2;
	uint64_t at;

	if (size == 0 || size % unit != 0)
		return weft_errorf(err, err_len, -EINVAL,
			"size: expected a multiple of %llu, got %llu", (unsigned long long)unit,
			(unsigned long long)size);
	if (m->n_extents + ways > MEMORY_EXTENTS)
		return weft_errorf(err, err_len, -ENOSPC, "%s: expected at most %u extents",
			m->name, MEMORY_EXTENTS);
	if (memory_place(s, t, seg, size >> seg->ways_log2, &at) != 0)
		return weft_errorf(err, err_len, -ENOSPC,
			"size: expected what is free in one piece of segment %u (%llu "
			"bytes with what is given out: weftctl fm show memory), got %llu",
			m->segment, (unsigned long long)seg->size, (unsigned long long)size);
	for (unsigned int w = 0; w < ways; w++) {
		const struct weft_topo_target *to = &t->map.target[seg->first_target + w];

		m->extent[m->n_extents++] = (struct memory_extent){
			.gfd = to->node, .dpa = to->dpa + at, .size = size >> seg->ways_log2
		};
	}
	return 0;
}

/* The segment of so many GFDs that take turns, one of them @p gfd; -1: there is none. */
static int
memory_segment(const struct weft_topo *t, unsigned int gfd, unsigned int ways)
{
	for (unsigned int i = 0; i < t->map.n_segments; i++) {
		const struct weft_topo_segment *s = &t->map.segment[i];

		for (unsigned int w = 0; 1u << s->ways_log2 == ways && w < ways; w++)
			if (!s->is_gim && t->map.target[s->first_target + w].node == gfd)
				return (int)i;
	}
	return -1;
}

/* Extents of hosts are told in one message each. */
static int
memory_judge_hosts(const struct memories *s, const struct weft_topo *t, char *err, size_t err_len)
{
	for (unsigned int h = 0; h < t->n_hosts; h++) {
		const uint64_t access = t->node[t->host[h]].access;
		unsigned int n = 0;

		for (uint16_t i = 0; i < t->access.n_ranges; i++)
			n += (unsigned int)(access >> t->access.range[i].group & 1);
		for (unsigned int i = 0; i < s->n; i++)
			n += memory_has_host(&s->m[i], t->host[h]) ? s->m[i].n_extents : 0;
		if (n > WEFT_FM_HOST_EXTENTS)
			return weft_errorf(err, err_len, -ENOSPC,
				"host %s: expected at most %u extents, got %u",
				t->node[t->host[h]].name, WEFT_FM_HOST_EXTENTS, n);
	}
	return 0;
}

int
memory_create(struct memories *s, const struct weft_topo *t, const struct memory_wish *w, char *err,
	size_t err_len)
{
	const int group = memory_free_group(s, t);
	const int segment = memory_segment(t, w->gfd, w->ways);
	struct memory *m = &s->m[s->n % MEMORY_MAX];
	int rc;

	if (group < 0 || s->n == MEMORY_MAX)
		return weft_errorf(err, err_len, -ENOSPC,
			"expected at most %u groups, those included that a GFD has not given back "
			"yet, got one more",
			WEFT_TOPO_FM_GROUPS);
	if (segment < 0)
		return weft_errorf(err, err_len, -EINVAL,
			"interleave: expected as many ways as a segment with memory of %s has, got "
			"%u",
			t->node[w->gfd].name, w->ways);
	*m = (struct memory){ .group = (uint8_t)group, .segment = (uint16_t)segment };
	snprintf(m->name, sizeof(m->name), "%s", w->name);
	for (unsigned int k = 0; m->name[0] == '\0'; k++) {
		snprintf(m->name, sizeof(m->name), "mem%u", k);
		if (memory_find(s, m->name) != NULL)
			m->name[0] = '\0';
	}
	if (memory_find(s, m->name) != NULL)
		return weft_errorf(err, err_len, -EEXIST,
			"name: expected one that no memory has, got \"%s\"", m->name);
	rc = memory_take(s, m, t, w->size, err, err_len);
	if (rc != 0)
		return rc;
	s->n++;
	return memory_share(s, m, t, w->host, w->n_hosts, err, err_len);
}

int
memory_grow(struct memories *s, struct memory *m, const struct weft_topo *t, uint64_t size,
	char *err, size_t err_len)
{
	const int rc = memory_take(s, m, t, size, err, err_len);

	return rc != 0 ? rc : memory_judge_hosts(s, t, err, err_len);
}

int
memory_share(struct memories *s, struct memory *m, const struct weft_topo *t, const uint16_t *host,
	unsigned int n_hosts, char *err, size_t err_len)
{
	for (unsigned int i = 0; i < n_hosts; i++) {
		if (memory_has_host(m, host[i]))
			continue;
		if (m->n_hosts == MEMORY_HOSTS)
			return weft_errorf(err, err_len, -ENOSPC, "%s: expected at most %u hosts",
				m->name, MEMORY_HOSTS);
		m->host[m->n_hosts++] = host[i];
	}
	return memory_judge_hosts(s, t, err, err_len);
}

/* Operators see it in tables: no blanks, no controls (C1 too: C2 80 to C2 9F), and UTF-8. */
bool
memory_is_name(const char *name)
{
	const size_t len = strlen(name);
	json_t *text = json_string(name);
	bool is_good = text != NULL && len > 0 && len < MANAGER_NAME;

	json_decref(text);
	for (size_t i = 0; i < len && is_good; i++) {
		const uint8_t c = (uint8_t)name[i];

		is_good = c > ' ' && c != 0x7f && (c != 0xC2 || (uint8_t)name[i + 1] >= 0xA0);
	}
	return is_good;
}

/*
 * Its group is not given to another memory before every GFD has let go of it: what is added to a
 * group that still has old extents there would not be wiped.
 */
void
memory_release(struct memory *m)
{
	m->n_extents = m->n_hosts = 0;
	snprintf(m->name, sizeof(m->name), "~%u", m->group);
}

bool
memory_is_released(const struct memory *m)
{
	return m->name[0] == '~';
}

/* Whether a GFD has, or may have, memory in a group. */
static bool
memory_is_held(const struct manager *m, unsigned int group)
{
	for (unsigned int g = 0; g < m->topo->n_gfds; g++) {
		const uint32_t path = intent_path(&m->intent, m->topo->gfd[g]);
		struct weft_fm_component c;
		struct weft_fm_extent x;

		if (weft_fm_component(m->fm, path, &c) != 0 || c.state != WEFT_FM_READY)
			return true;
		for (uint32_t k = 0; weft_fm_extent(m->fm, path, k, &x) == 0; k++)
			if (x.group == group)
				return true;
	}
	return false;
}

void
memory_forget(const struct manager *m, struct memories *s)
{
	for (unsigned int i = 0; i < s->n;) {
		struct memory *old = &s->m[i];

		if (old->n_extents != 0 || memory_is_held(m, old->group))
			i++;
		else
			memmove(old, old + 1, (size_t)(&s->m[--s->n] - old) * sizeof(*old));
	}
}

/* Whether components had it, with its rights, when they were heard last. */
static bool
memory_is_found(const struct manager *m, const struct memory *mem)
{
	for (unsigned int i = 0; i < mem->n_extents; i++) {
		const struct memory_extent *e = &mem->extent[i];
		const uint32_t path = intent_path(&m->intent, e->gfd);
		struct weft_fm_extent x;
		bool is_found = false;

		for (uint32_t k = 0; weft_fm_extent(m->fm, path, k, &x) == 0; k++)
			is_found = is_found || (x.group == mem->group && x.dpa <= e->dpa &&
						       x.dpa + x.len >= e->dpa + e->size);
		for (unsigned int h = 0; h < mem->n_hosts; h++)
			is_found = is_found &&
			           (weft_fm_rights(m->fm, path, m->topo->node[mem->host[h]].pid) >>
						   mem->group &
					   1) != 0;
		if (!is_found)
			return false;
	}
	return true;
}

/* The worst way from hosts of a memory to an extent of it, of hosts that were told of it. */
static enum weft_fm_way
memory_way(const struct manager *m, const struct memory *mem)
{
	enum weft_fm_way worst = WEFT_FM_WAY_THERE;

	for (unsigned int i = 0; i < mem->n_extents * mem->n_hosts; i++) {
		const struct memory_extent *e = &mem->extent[i / mem->n_hosts];
		const struct weft_fm_node *host = &m->intent.node[mem->host[i % mem->n_hosts]];
		const struct weft_fm_extent x = {
			.path = intent_path(&m->intent, e->gfd),
			.group = mem->group,
			.dpa = e->dpa,
			.len = e->size,
		};
		const enum weft_fm_way way =
			host->is_drained ? WEFT_FM_WAY_NONE
					 : weft_fm_host_way(m->fm, host->agent_path, &x);

		worst = way < worst ? way : worst;
	}
	return worst;
}

/*
 * "lost": the GFD had it when it was heard last, and does not answer now, or no way leads there.
 * "there": the fabric is as this memory needs it, and its hosts know; what else is being done in
 * the fabric is no matter of this memory.
 */
static const char *
memory_state(const struct manager *m, const struct memory *mem)
{
	enum weft_fm_way way;

	if (!memory_is_found(m, mem))
		return "wanted";
	for (unsigned int i = 0; i < mem->n_extents; i++)
		if (!report_is_ready(m, intent_path(&m->intent, mem->extent[i].gfd)))
			return "lost";
	way = memory_way(m, mem);
	return way == WEFT_FM_WAY_THERE ? "there" : way == WEFT_FM_WAY_NONE ? "lost" : "wanted";
}

/* A component that a memory waits for and that nobody works on. False: there is none. */
static bool
memory_why(const struct manager *m, const struct memory *mem, char *text, size_t len)
{
	for (unsigned int i = 0; i < mem->n_extents + mem->n_hosts; i++) {
		const bool is_host = i >= mem->n_extents;
		const uint16_t node = is_host ? mem->host[i - mem->n_extents] : mem->extent[i].gfd;
		const uint32_t path =
			is_host ? m->intent.node[node].agent_path : intent_path(&m->intent, node);

		if (!report_is_foreign(m, path))
			continue;
		snprintf(text, len,
			"%s belongs to another manager: give that one's --store to weft-fm, or "
			"start the weftd of %s again",
			m->topo->node[node].name, m->topo->node[node].name);
		return true;
	}
	return false;
}

json_t *
memory_json(const struct manager *m, const struct memory *mem)
{
	json_t *hosts = json_array(), *extents = json_array();
	char why[256];
	uint64_t size = 0;

	for (unsigned int i = 0; i < mem->n_hosts; i++)
		json_array_append_new(hosts, json_string(m->topo->node[mem->host[i]].name));
	for (unsigned int i = 0; i < mem->n_extents; i++) {
		const struct memory_extent *e = &mem->extent[i];

		size += e->size;
		json_array_append_new(
			extents, json_pack("{s:s, s:I, s:I}", "gfd", m->topo->node[e->gfd].name,
					 "dpa", (json_int_t)e->dpa, "size", (json_int_t)e->size));
	}
	return json_pack("{s:s, s:i, s:I, s:s, s:o, s:o, s:s*}", "name", mem->name, "group",
		(int)mem->group, "size", (json_int_t)size, "state", memory_state(m, mem), "hosts",
		hosts, "extents", extents, "why",
		memory_why(m, mem, why, sizeof(why)) ? why : NULL);
}

json_t *
report_memory(const struct manager *m)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < m->memories.n; i++)
		if (m->memories.m[i].n_extents != 0)
			json_array_append_new(list, memory_json(m, &m->memories.m[i]));
	return list;
}
