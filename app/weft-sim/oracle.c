/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of requests and memory, which knows nothing of the protocol: every request ends once, a
 * read gives what was written last, and no write is executed twice. A write that was lost may or may
 * not have been executed, so a line may then be one of several things until it is read or written
 * again (reliability.md section 5).
 */

#include "replay.h"

#include <string.h>

#define POISONED 1 /* in place of a hash: a line of bad data */

static uint64_t
oracle_hash_data(const uint8_t *data)
{
	uint64_t h = 0;

	for (unsigned int i = 0; i < WEFT_MSG_DATA_LEN; i += sizeof(uint64_t)) {
		h = (h ^ weft_get_le64(data + i)) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 29;
	}
	return h;
}

static struct sim_target *
oracle_target(struct sim_node *n, uint16_t dpid)
{
	for (uint32_t i = 0; i < n->host.n_targets; i++)
		if (n->host.target[i].dpid == dpid)
			return &n->host.target[i];
	return NULL;
}

static struct shadow_line *
oracle_line_at(struct sim_node *n, struct sim_target *t, uint64_t addr)
{
	const uint64_t line = (addr - t->hpa_base) / WEFT_MSG_DATA_LEN;

	return addr < t->hpa_base || line >= n->host.lines ? NULL : &t->shadow[line];
}

static void
oracle_line_becomes(struct shadow_line *l, uint64_t hash)
{
	l->may_be[0] = hash;
	l->n = 1;
	l->anything = false;
}

/* Somebody's old messages may have reached it: whatever it holds, nobody knows. */
static void
oracle_line_taint(struct shadow_line *l)
{
	l->anything = l->tainted = true;
}

void
oracle_line_init(struct shadow_line *l, const uint8_t *data)
{
	oracle_line_becomes(l, oracle_hash_data(data));
	l->tainted = false;
}

void
oracle_met(struct sim_end *host, uint64_t memory)
{
	static const uint8_t zero[WEFT_MSG_DATA_LEN];
	struct sim_node *n = host->node;
	struct sim_target *t = oracle_target(n, host->peer_pid);
	const bool is_new = t->memory != 0 && t->memory != memory;

	t->memory = memory;
	if (is_new && t->open != 0)
		violation(n->sim, "host %u keeps %u requests to memory of gfd %u that is gone",
			n->pid, t->open, t->dpid);
	for (uint32_t i = 0; is_new && i < n->host.lines; i++)
		oracle_line_init(&t->shadow[i], zero);
}

void
oracle_request(struct sim_node *n, const struct weft_msg *m)
{
	struct sim_target *t = oracle_target(n, m->dpid);
	struct shadow_line *l = t == NULL ? NULL : oracle_line_at(n, t, m->addr);

	if (l == NULL || l->open) {
		violation(n->sim, "host %u asks for a line that is %s", n->pid,
			l == NULL ? "not its own" : "busy");
		return;
	}
	if (t->open != 0 && t->session != t->end->session)
		violation(n->sim,
			"host %u asks gfd %u, and %u requests of another session are open", n->pid,
			t->dpid, t->open);
	t->session = t->end->session;
	if (t->open == 0)
		t->progress_ns = n->sim->now_ns;
	l->open = true;
	l->executed = l->answer_poisoned = false;
	l->is_write = m->kind == WEFT_MSG_M2S_RWD;
	l->writes = l->is_write ? oracle_hash_data(m->data) : 0;
	t->open++;
	n->host.line_of_tag[m->tag & (n->host.tags - 1)] =
		(uint32_t)(t - n->host.target) * n->host.lines + (uint32_t)(l - t->shadow);
}

static void
oracle_read_ends(struct sim_node *n, struct sim_target *t, struct shadow_line *l,
	const struct weft_completion *c)
{
	const bool is_bad = c->status == WEFT_REQUEST_POISON;
	const uint64_t hash = is_bad ? POISONED : oracle_hash_data(c->data);
	bool known = l->anything;

	if (l->answer_poisoned) { /* which says nothing about the line */
		if (!is_bad)
			violation(n->sim, "host %u takes data of gfd %u that was poisoned late",
				n->pid, t->dpid);
		return;
	}

	for (unsigned int i = 0; i < l->n; i++)
		known |= l->may_be[i] == hash;
	if (!known)
		violation(n->sim, "host %u read line %zu of gfd %u: not what was written", n->pid,
			(size_t)(l - t->shadow), t->dpid);
	oracle_line_becomes(l, hash);
}

void
oracle_response(struct sim_end *e, const struct weft_msg *m, const struct weft_completion *c)
{
	struct sim_node *n = e->node;
	const uint32_t at = n->host.line_of_tag[m->tag & (n->host.tags - 1)];
	struct sim_target *t = &n->host.target[at / n->host.lines];
	struct shadow_line *l = &t->shadow[at % n->host.lines];

	t->progress_ns = n->sim->now_ns;
	if (l->open && replay_excuses(e)) {
		l->open = false;
		t->open--;
		oracle_line_taint(l);
		n->host.excused += !l->is_write;
		return;
	}
	if (!l->open || l->is_write != (c->kind == WEFT_REQUEST_WRITE)) {
		violation(n->sim, "a request of host %u to gfd %u ends that is not open", n->pid,
			t->dpid);
		return;
	}
	if (!l->executed)
		violation(
			n->sim, "a request of host %u ends that gfd %u never saw", n->pid, t->dpid);
	l->open = false;
	t->open--;
	t->completed++;
	if (c->status != WEFT_REQUEST_DONE && (l->is_write || c->status != WEFT_REQUEST_POISON))
		violation(n->sim, "a request of host %u to gfd %u fails", n->pid, t->dpid);
	else if (l->is_write)
		oracle_line_becomes(l, l->writes);
	else
		oracle_read_ends(n, t, l, c);
	n->host.excused += l->tainted && !l->is_write;
	l->tainted &= !l->is_write;
}

uint32_t
oracle_lost(struct sim_node *n, struct sim_target *t)
{
	const uint32_t open = t->open;
	const bool was_fooled = replay_excuses(t->end);

	for (uint32_t i = 0; i < n->host.lines && t->open > 0; i++) {
		struct shadow_line *l = &t->shadow[i];

		if (!l->open)
			continue;
		l->open = false;
		t->open--;
		if (was_fooled)
			oracle_line_taint(l);
		if (!l->is_write)
			continue;
		if (l->n == SHADOW_MAX)
			l->anything = true;
		else
			l->may_be[l->n++] = l->writes;
	}
	t->progress_ns = n->sim->now_ns;
	return open;
}

void
oracle_poisoned(struct sim *s, const struct weft_msg *m)
{
	const bool is_write = m->kind == WEFT_MSG_M2S_RWD;
	struct sim_node *n = s->by_pid[is_write ? m->spid : m->dpid];
	const uint32_t at = is_write ? 0 : n->host.line_of_tag[m->tag & (n->host.tags - 1)];
	struct sim_target *t =
		is_write ? oracle_target(n, m->dpid) : &n->host.target[at / n->host.lines];
	struct shadow_line *l =
		is_write ? oracle_line_at(n, t, m->addr) : &t->shadow[at % n->host.lines];

	if (!l->open || l->is_write != is_write)
		return;
	if (is_write)
		l->writes = POISONED;
	else
		l->answer_poisoned = true;
}

void
oracle_executes(struct sim_end *e, const struct weft_msg *m)
{
	struct sim_node *gfd = e->node;
	struct sim_node *n = m->spid < WEFT_PIDS ? gfd->sim->by_pid[m->spid] : NULL;
	struct sim_target *t = n == NULL ? NULL : oracle_target(n, gfd->pid);
	struct shadow_line *l = t == NULL ? NULL : oracle_line_at(n, t, m->addr);

	if (replay_excuses(e)) {
		if (l != NULL) {
			l->executed = true;
			oracle_line_taint(l);
		}
		return;
	}
	if (l == NULL) {
		violation(gfd->sim, "gfd %u has a request that nobody made", gfd->pid);
		return;
	}
	/* One that was lost may still come: of it nothing is known. */
	if (l->open && l->executed)
		violation(gfd->sim, "gfd %u executes a request of host %u twice", gfd->pid, n->pid);
	if (l->open && t->memory != 0 && t->memory != gfd->gfd.generation)
		violation(gfd->sim, "gfd %u answers host %u from memory that it was not told of",
			gfd->pid, n->pid);
	l->executed = true;
}
