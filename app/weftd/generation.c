/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which life of a process or of a memory something is of. Data in memory tells the run of the host
 * that wrote it, so a host that is started again knows its former lines. Memory has a random
 * generation, which its node tells in every session: who meets another one than before knows that all
 * it had there is gone, and tells those who use it before any request of theirs can be answered. In cxl
 * mode a session is of a link, and the users are elsewhere: the switch keeps the generation in their name
 * and says so to the node, whose memory is poisoned then until it is written.
 */

#include "daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "event.h"

int
generation_run(struct daemon *d)
{
	uint32_t random;

	/* Before any port: here it may wait until the machine has random bits. */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	d->run = 1 + random % WEFT_LINE_RUN_MAX;
	return 0;
}

/* Tell everybody here who has data there. */
static void
generation_replaced(struct weft_node_link *p, uint64_t generation, bool is_late)
{
	const enum weft_line_loss how = is_late ? WEFT_LINE_LOST_LATE : WEFT_LINE_LOST_ALL;
	struct node *n = daemon_node(p->node);
	uint64_t forgotten = 0;

	/* Where the lines of a host that translates are, its agent knows. */
	if (n->traffic != NULL && ats_translates(n))
		forgotten = weft_traffic_forget(n->traffic, n->topo->pid, WEFT_LINE_LOST_PARTLY);
	else if (n->traffic != NULL)
		forgotten = weft_traffic_forget(n->traffic, p->pid, how);
	forgotten += uio_forget(n, p->pid, how);
	if (n->xfers != NULL)
		p->memory.transfers += weft_xfer_replaced(n->xfers, p->pid);
	p->memory.forgotten += forgotten;
	p->memory.before = p->memory.generation;
	p->memory.generation = generation;
	__atomic_store_n(&p->memory.replaced, p->memory.replaced + 1, __ATOMIC_RELEASE);
}

/* SESS-31 */
void
generation_met(struct weft_node_link *p, uint64_t generation)
{
	const bool is_cxl = weft_node_is_cxl(p->node);

	if (p->memory.generation != 0 && generation != p->memory.generation)
		generation_replaced(p, generation, is_cxl);
	else
		p->memory.generation = generation;
	if (is_cxl && p->node->topo->kind == WEFT_TOPO_SWITCH)
		weft_end_knows(p->end, generation);
}

void
generation_poison(struct weft_node *node)
{
	struct node *n = daemon_node(node);

	if (n->topo->kind == WEFT_TOPO_GFD)
		weft_gfd_poison_all(&n->gfd);
	else
		uio_poison(n);
}

static void
generation_tell_poison(const struct node *n, struct peer *p)
{
	const uint64_t poisoned = __atomic_load_n(&p->link->memory.poisoned, __ATOMIC_ACQUIRE);

	if (poisoned != p->poisoned_told)
		event_tell(EVENT_MEMORY_NEW, n->topo->name, daemon_peer_name(p),
			poisoned - p->poisoned_told,
			"memory is new (generation %016" PRIx64 "), and %s knew other: it reads "
			"as poison until it is written",
			n->node->generation, daemon_peer_name(p));
	p->poisoned_told = poisoned;
}

void
generation_tell(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];

		for (uint16_t k = 0; k < n->node->n_links; k++) {
			struct peer *p = &n->peer[k];
			const uint64_t replaced =
				__atomic_load_n(&p->link->memory.replaced, __ATOMIC_ACQUIRE);

			generation_tell_poison(n, p);
			if (replaced == p->replaced_told)
				continue;
			event_tell(EVENT_MEMORY_NEW, n->topo->name, daemon_peer_name(p),
				replaced - p->replaced_told,
				"%s restarted with empty memory (generation %016" PRIx64
				", before %016" PRIx64 "), %" PRIu64 " lines forgotten, %" PRIu64
				" transfers lost",
				daemon_peer_name(p), p->link->memory.generation,
				p->link->memory.before, p->link->memory.forgotten,
				p->link->memory.transfers);
			p->replaced_told = replaced;
		}
	}
}

uint64_t
generation_replacements(const struct node *n)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->node->n_links; i++)
		sum += __atomic_load_n(&n->node->link[i].memory.replaced, __ATOMIC_RELAXED);
	return sum;
}
