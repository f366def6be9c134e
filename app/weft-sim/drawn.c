/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Seeds whose fabric comes with its load, as draw.h draws it; and how much of each of its domains
 * was judged, by the counters of the nodes, through all of their lives.
 */

#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "draw.h"
#include "weft_xfer.h"

#define ONE_IN 3 /* seeds */
#define CLIENT_TIMEOUT_MS 800 /* of a host that translates: it asks again after a part of that */
#define MOVE_TIMEOUT_MS 200
#define ROUNDS 3 /* so many times what weftd sends by the file: faults need time to strike */

const char *const drawn_words[] = { "some", "never", "always", NULL };
enum { DRAWN_SOME, DRAWN_NEVER, DRAWN_ALWAYS };

const char *const domain_word[DOMAINS] = {
	[DOMAIN_UIO] = "uio",
	[DOMAIN_ATS] = "ats",
	[DOMAIN_TRANSFER] = "transfer",
	[DOMAIN_RIGHTS] = "rights",
	[DOMAIN_LATE_POISON] = "late_poison",
	[DOMAIN_CLIENTS] = "clients",
	[DOMAIN_CLIENTS_UIO] = "clients_uio",
	[DOMAIN_RESTART] = "restart",
	[DOMAIN_EQUAL] = "equal",
	[DOMAIN_MANAGER] = "manager",
};

/* A number of its own: what other seeds mean stays. */
static bool
drawn_is_wanted(const struct sim_opt *o, uint64_t seed)
{
	struct weft_rand r;

	if (o->topology != NULL || o->fabric != NULL || o->pace || o->ide > WEFT_IDE_OFF ||
		o->drawn == DRAWN_NEVER)
		return false;
	weft_rand_seed(&r, seed ^ UINT64_C(0xD7A));
	return o->drawn == DRAWN_ALWAYS || weft_rand_below(&r, ONE_IN) == 0;
}

static char *
drawn_draw(const struct sim_opt *o, uint64_t seed, uint32_t *has, size_t *len)
{
	const int mode = o->mode < 0 && bad_wire_needs_rxl(o) ? WEFT_MODE_RXL : o->mode;
	char *text = has != NULL ? draw_fabric(seed, mode, has, len) : draw_change(seed, mode, len);

	if (text == NULL)
		cli_fail("out of memory");
	return text;
}

char *
drawn_text(const struct sim_opt *o, uint64_t seed, size_t *len)
{
	uint32_t has;

	return drawn_is_wanted(o, seed) ? drawn_draw(o, seed, &has, len) : NULL;
}

char *
drawn_change_text(const struct sim_opt *o, uint64_t seed, size_t *len)
{
	uint32_t has;

	if (!drawn_is_wanted(o, seed))
		return NULL;
	free(drawn_draw(o, seed, &has, len));
	return draw_may_change(has) ? drawn_draw(o, seed, NULL, len) : NULL;
}

void
drawn_settle(struct sim *s)
{
	const uint64_t session_ms = s->sc.session.session_timeout_ns / MS;

	if (!s->is_drawn && s->opt->topology == NULL)
		snprintf(s->sc.fabric, sizeof(s->sc.fabric), "drawn");
	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		struct weft_load_node *l = &s->load->node[i];

		/* A request of CXL.mem ends by its answer or its session. */
		l->mem.timeout_ms = s->topo->node[i].translates  ? CLIENT_TIMEOUT_MS
		                    : s->sc.load.timeout_ms != 0 ? s->sc.load.timeout_ms
		                                                 : UINT32_MAX;
		l->uio.timeout_ms = s->sc.load.timeout_ms != 0 ? s->sc.load.timeout_ms : UINT32_MAX;
		if (s->opt->topology == NULL) {
			l->mem.requests *= ROUNDS;
			l->uio.requests *= ROUNDS;
		}
		l->move.timeout_ms = MOVE_TIMEOUT_MS;
		/*
		 * A host that its agent does not hear goes on for as long as that session lives
		 * there, and what it has sent to a GFD then may come for as long as that one does.
		 */
		l->move.fence_ms = 2 * (uint32_t)session_ms + MOVE_TIMEOUT_MS;
	}
}

/* --- judges --- */

bool
drawn_is_excused(const struct sim_node *n)
{
	return n->sim->sc.load.timeout_ms != 0 && n->node.cfg.run > 1;
}

bool
drawn_may_poison(const struct sim *s)
{
	if (s->sc.mode == WEFT_MODE_CXL && s->total.fault[FAULT_MEMORY] != 0)
		return true;
	for (uint16_t i = 0; i < s->topo->n_gfds; i++)
		if (s->topo->node[s->topo->gfd[i]].late_poison > 0)
			return true;
	/* What a host offers is lost with it. */
	for (uint16_t i = 0; s->sc.mode == WEFT_MODE_CXL && i < s->topo->n_hosts; i++) {
		const uint16_t h = s->topo->host[i];

		if (s->topo->node[h].n_windows != 0 && s->node[h].node.cfg.run > 1)
			return true;
	}
	return false;
}

/*
 * A transfer ends well, or for a fault by which it was lost or its data is bad. After one that was,
 * what the next ones find is not known; nor if memory is new, or flits that somebody played back
 * were taken.
 */
void
drawn_transfers(struct sim_node *n)
{
	const struct weft_node_transfer *t = weft_node_transfers(&n->node);

	if (t == NULL || drawn_is_excused(n) || n->sim->total.replay[REPLAY_TAKEN] != 0 ||
		weft_node_replacements(&n->node) != 0)
		return;
	for (unsigned int i = 0; i < n->node.load->n_transfers; i++) {
		const char *outcome = weft_xfer_outcome(t[i].xfer);

		if (weft_node_transfer_is_good(&t[i]))
			continue;
		if (strcmp(outcome, "lost") != 0 && strcmp(outcome, "poisoned") != 0)
			violation(n->sim, "transfer %s of host %u: %s", t[i].load->name, n->pid,
				outcome);
		return;
	}
}

/* --- what was judged --- */

static uint64_t
drawn_count(const struct weft_node *n, const char *part, const char *name, const char *counter)
{
	const uint64_t *value = weft_node_counter(n, part, name, counter);

	return value == NULL ? 0 : *value;
}

static uint64_t
drawn_requests(const struct weft_node *n, const char *part, const char *name)
{
	return drawn_count(n, part, name, "reads") + drawn_count(n, part, name, "writes");
}

void
drawn_add(struct sim_node *node)
{
	const struct weft_node *n = &node->node;
	uint64_t *total = node->sim->total.domain;
	uint64_t uio, mem;

	if (n->kind == NULL)
		return; /* its first */
	uio = drawn_requests(n, "uio", "traffic");
	mem = drawn_requests(n, NULL, "traffic");
	total[DOMAIN_UIO] += uio;
	if (n->topo->translates)
		total[DOMAIN_ATS] += mem;
	if (n->load->n_transfers != 0)
		total[DOMAIN_TRANSFER] += drawn_requests(n, NULL, "requests") - mem;
	if (n->topo->access != UINT64_MAX >> (WEFT_TOPO_GROUPS - n->cfg.topo->access.n_groups))
		total[DOMAIN_RIGHTS] += uio + mem;
	total[DOMAIN_LATE_POISON] += drawn_count(n, NULL, "traffic", "poisoned");
}

void
drawn_begun(const struct sim_node *n, uint16_t dpid)
{
	const struct sim_node *gfd = dpid < WEFT_PIDS ? n->sim->by_pid[dpid] : NULL;

	if (n->node.cfg.run > 1 || (gfd != NULL && gfd->node.cfg.run > 1))
		n->sim->total.domain[DOMAIN_RESTART]++;
}
