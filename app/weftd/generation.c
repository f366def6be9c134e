/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which life of a process or of a memory something is of. Data in memory tells the run of the host
 * that wrote it, so a host that is started again knows its former lines. Of memory, nodes know by
 * its generation (lib/node/session.c); here it is said.
 */

#include "generation.h"
#include "conn.h"

#include <errno.h>
#include <inttypes.h>
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

static void
generation_tell_poison(const struct node *n, struct conn *c)
{
	const uint64_t poisoned = __atomic_load_n(&c->link->memory.poisoned, __ATOMIC_ACQUIRE);

	if (poisoned != c->poisoned_told)
		event_put(EVENT_MEMORY_NEW, n->topo->name, conn_peer_name(c),
			poisoned - c->poisoned_told,
			"memory is new (generation %016" PRIx64 "), and %s knew other: it reads "
			"as poison until it is written",
			n->node->generation, conn_peer_name(c));
	c->poisoned_told = poisoned;
}

void
generation_log_events(struct daemon *d)
{
	struct conn_walk w = d->walk;
	struct conn *c;

	while ((c = conns_next(d, &w)) != NULL) {
		const struct weft_node_memory *m = &c->link->memory;
		const uint64_t replaced = __atomic_load_n(&m->replaced, __ATOMIC_ACQUIRE);

		generation_tell_poison(c->node, c);
		if (replaced == c->replaced_told)
			continue;
		event_put(EVENT_MEMORY_NEW, c->node->topo->name, conn_peer_name(c),
			replaced - c->replaced_told,
			"%s restarted with empty memory (generation %016" PRIx64
			", before %016" PRIx64 "), %" PRIu64 " lines forgotten, %" PRIu64
			" transfers lost",
			conn_peer_name(c), m->generation, m->before, m->forgotten, m->transfers);
		c->replaced_told = replaced;
	}
}
