/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of requests and memory, which knows nothing of the protocol: every request ends once, a
 * read gives what was written last, and no write is executed twice. A write that was lost may or
 * may not have been executed, so a line may then be one of several things until it is read or
 * written again (reliability.md section 5).
 */

#include "judge.h"
#include "replay.h"

#include <string.h>

#include "weft_requester.h"

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

/*
 * Where sessions end inside the fabric a write that was lost may yet be executed, though not behind
 * a later one: it was seen that those up to @at are done or will never be.
 */
static void
oracle_line_passes(struct shadow_line *l, unsigned int at)
{
	if (l->anything || at == 0)
		return;
	l->n = (uint8_t)(l->n - at);
	memmove(l->may_be, l->may_be + at, l->n * sizeof(l->may_be[0]));
}

/* Requests that were lost are still on their way. */
static bool
oracle_comes_late(const struct sim_node *n)
{
	return n->sim->sc.load.timeout_ms != 0;
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

/* Where a request of the source is: its lines stand in the order of its targets. */
static struct sim_target *
oracle_find(const struct sim_node *n, uint64_t cookie, struct shadow_line **line)
{
	struct sim_target *t = &n->host.target[cookie / n->host.lines];

	*line = &t->shadow[cookie % n->host.lines];
	return t;
}

void
oracle_met(struct sim_end *host, uint64_t memory)
{
	static const uint8_t zero[WEFT_MSG_DATA_LEN];
	struct sim_node *n = host->node;
	struct sim_target *t = oracle_target(n, host->peer_pid);
	bool is_new;

	if (t == NULL)
		return;
	is_new = t->memory != 0 && t->memory != memory;
	t->memory = memory;
	if (is_new && t->open != 0)
		violation(n->sim, "host %u keeps %u requests to memory of gfd %u that is gone",
			n->pid, t->open, t->dpid);
	for (uint32_t i = 0; is_new && i < n->host.lines; i++)
		oracle_line_init(&t->shadow[i], zero);
}

void
oracle_begun(struct sim_node *n, const struct weft_request *rq)
{
	struct shadow_line *l;
	struct sim_target *t;

	if (n->host.n_targets == 0)
		return;
	t = oracle_find(n, rq->cookie, &l);
	if (l->open || t->dpid != rq->dpid || l != oracle_line_at(n, t, rq->addr)) {
		violation(n->sim, "host %u asks for a line that is %s", n->pid,
			l->open ? "busy" : "not its own");
		return;
	}
	if (t->open != 0 && t->session != t->end->session && !t->end->link->is_switch)
		violation(n->sim,
			"host %u asks gfd %u, and %u requests of another session are open", n->pid,
			t->dpid, t->open);
	t->session = t->end->session;
	if (t->open == 0)
		t->progress_ns = n->sim->now_ns;
	l->open = true;
	l->executed = l->answer_poisoned = l->is_gone = false;
	l->is_write = rq->kind == WEFT_REQUEST_WRITE;
	l->writes = l->is_write ? oracle_hash_data(rq->data) : 0;
	t->open++;
	l->tag = rq->tag;
	n->host.line_of_tag[rq->tag & (n->host.tags - 1)] = (uint32_t)rq->cookie;
}

static void
oracle_read_ends(struct sim_node *n, struct sim_target *t, struct shadow_line *l,
	const struct weft_completion *c)
{
	const bool is_bad = c->status == WEFT_REQUEST_POISON;
	const uint64_t hash = is_bad ? POISONED : oracle_hash_data(c->data);
	unsigned int at = 0;

	if (l->is_gone)
		return; /* it tells of the memory before */
	if (l->answer_poisoned) { /* which says nothing about the line */
		if (!is_bad)
			violation(n->sim, "host %u takes data of gfd %u that was poisoned late",
				n->pid, t->dpid);
		return;
	}

	while (at < l->n && l->may_be[at] != hash)
		at++;
	if (at == l->n && !l->anything)
		violation(n->sim, "host %u read line %zu of gfd %u: not what was written", n->pid,
			(size_t)(l - t->shadow), t->dpid);
	if (!oracle_comes_late(n))
		oracle_line_becomes(l, hash);
	else
		oracle_line_passes(l, at);
}

static void
oracle_line_may_be(struct shadow_line *l, uint64_t hash)
{
	if (l->n == SHADOW_MAX)
		l->anything = true;
	else
		l->may_be[l->n++] = hash;
}

/* Whether it was executed nobody knows. */
static void
oracle_lost(const struct sim_node *n, struct sim_target *t, struct shadow_line *l, bool was_fooled)
{
	l->open = false;
	t->open--;
	t->progress_ns = n->sim->now_ns;
	if (was_fooled)
		oracle_line_taint(l);
	if (l->is_write && !l->is_gone)
		oracle_line_may_be(l, l->writes);
}

static void
oracle_answered(struct sim_node *n, struct sim_target *t, struct shadow_line *l,
	const struct weft_completion *c)
{
	if (!l->executed)
		violation(
			n->sim, "a request of host %u ends that gfd %u never saw", n->pid, t->dpid);
	l->open = false;
	t->open--;
	t->completed++;
	if (c->status != WEFT_REQUEST_DONE && (l->is_write || c->status != WEFT_REQUEST_POISON))
		violation(n->sim, "a request of host %u to gfd %u fails", n->pid, t->dpid);
	else if (l->is_write && !l->is_gone)
		oracle_line_becomes(l, l->writes);
	else if (l->is_write)
		l->is_gone = false;
	else
		oracle_read_ends(n, t, l, c);
	n->host.excused += l->tainted && !l->is_write;
	l->tainted &= !l->is_write;
}

void
oracle_ended(struct sim_node *n, const struct weft_completion *c)
{
	struct shadow_line *l;
	struct sim_target *t;

	if (n->host.n_targets == 0)
		return;
	t = oracle_find(n, c->cookie, &l);
	t->progress_ns = n->sim->now_ns;
	if (!l->open || l->is_write != (c->kind == WEFT_REQUEST_WRITE)) {
		violation(n->sim, "a request of host %u to gfd %u ends that is not open", n->pid,
			t->dpid);
	} else if (c->status == WEFT_REQUEST_LOST) {
		oracle_lost(n, t, l, t->end->was_fooled);
	} else if (replay_excuses(t->end)) {
		l->open = false;
		t->open--;
		oracle_line_taint(l);
		n->host.excused += !l->is_write;
	} else {
		oracle_answered(n, t, l, c);
	}
}

void
oracle_forget(struct sim_node *n)
{
	for (uint32_t k = 0; k < n->host.n_targets; k++) {
		struct sim_target *t = &n->host.target[k];
		const bool was_fooled = replay_excuses(t->end) || t->end->was_fooled;

		for (uint32_t i = 0; i < n->host.lines && t->open > 0; i++) {
			if (t->shadow[i].open)
				oracle_lost(n, t, &t->shadow[i], was_fooled);
		}
	}
	n->sim->total.lost += n->host.open;
	n->host.open = 0;
	n->host.mismatches += load_unexpected(n);
}

/* Only of a session that ends where its requests do: not of a link to a switch. */
void
oracle_left(struct sim_end *e)
{
	const struct sim_node *n = e->node;

	for (uint32_t i = 0; i < n->host.n_targets && !e->link->is_switch; i++)
		if (n->host.target[i].end == e && n->host.target[i].open != 0)
			violation(n->sim,
				"host %u keeps %u requests to gfd %u of a session that is over",
				n->pid, n->host.target[i].open, n->host.target[i].dpid);
}

/* A request that was lost, and comes now. */
static bool
oracle_is_late(const struct shadow_line *l, const struct weft_msg *m)
{
	return !l->open || l->tag != m->tag;
}

/* One that nobody waits for any more is done all the same. */
static void
oracle_executes_late(const struct sim_node *n, struct shadow_line *l, const struct weft_msg *m)
{
	const uint64_t hash = m->poison != 0 ? POISONED : oracle_hash_data(m->data);
	bool known = l->anything || m->kind != WEFT_MSG_M2S_RWD;

	for (unsigned int i = 0; i < l->n; i++)
		known |= l->may_be[i] == hash;
	if (!known)
		violation(n->sim, "a write of host %u comes behind a later one", n->pid);
	/* A source that has started again does not look for what comes after its first read. */
	l->tainted |= n->node.cfg.run > 1;
}

void
oracle_memory_lost(struct sim_node *gfd)
{
	const struct sim *s = gfd->sim;

	for (uint16_t h = 0; h < s->topo->n_hosts; h++) {
		struct sim_node *n = &s->node[s->topo->host[h]];
		struct sim_target *t = oracle_target(n, gfd->pid);

		for (uint32_t i = 0; t != NULL && i < n->host.lines; i++) {
			struct shadow_line *l = &t->shadow[i];

			l->may_be[0] = POISONED;
			l->is_gone = l->open && l->executed;
		}
	}
}

void
oracle_poisoned(struct sim_end *e, const struct weft_msg *m)
{
	const bool is_write = m->kind == WEFT_MSG_M2S_RWD;
	const bool is_host = e->node->kind == WEFT_TOPO_HOST;
	const uint16_t pid = is_host                    ? e->node->pid
	                     : is_write                 ? m->spid
	                     : e->form == WEFT_FORM_HBR ? e->peer_pid
	                                                : m->dpid;
	struct sim_node *n = e->node->sim->by_pid[pid];
	struct shadow_line *l = NULL;

	if (n->host.n_targets == 0)
		return;
	if (!is_write)
		oracle_find(n, n->host.line_of_tag[m->tag & (n->host.tags - 1)], &l);
	/* Others have used that tag since. */
	if (l != NULL && l->tag != m->tag)
		return;
	for (uint32_t i = 0; i < n->host.n_targets && l == NULL; i++)
		l = oracle_line_at(n, &n->host.target[i], m->addr);
	if (l != NULL && is_write && oracle_comes_late(n) && oracle_is_late(l, m))
		oracle_line_may_be(l, POISONED);
	else if (l == NULL || !l->open || l->is_write != is_write)
		return;
	else if (is_write)
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

	if (!gfd->sim->topo->map.is_default)
		return; /* its source judges */
	if (replay_excuses(e)) {
		if (l != NULL) {
			l->executed = true;
			oracle_line_taint(l);
		}
		return;
	}
	if (l == NULL && n != NULL && n->node.load->n_transfers != 0)
		return; /* its signatures judge */
	if (l == NULL && n != NULL && n->host.programs != NULL)
		return; /* what they read judges */
	if (l == NULL) {
		violation(gfd->sim, "gfd %u has a request that nobody made", gfd->pid);
		return;
	}
	if (oracle_comes_late(n) && oracle_is_late(l, m)) {
		oracle_executes_late(n, l, m);
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
