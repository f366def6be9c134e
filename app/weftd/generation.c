/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which life of a process or of a memory something is of. Data in memory tells the run of the host
 * that wrote it, so a host that is started again knows its former lines. Of memory, nodes know by
 * its generation (lib/node/session.c); here it is said.
 */

#include "daemon.h"

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
		event_put(EVENT_MEMORY_NEW, n->topo->name, daemon_peer_name(c),
			poisoned - c->poisoned_told,
			"memory is new (generation %016" PRIx64 "), and %s knew other: it reads "
			"as poison until it is written",
			n->node->generation, daemon_peer_name(c));
	c->poisoned_told = poisoned;
}

void
generation_log_events(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];

		for (uint16_t k = 0; k < n->node->n_links; k++) {
			struct conn *c = &n->conn[k];
			const uint64_t replaced =
				__atomic_load_n(&c->link->memory.replaced, __ATOMIC_ACQUIRE);

			generation_tell_poison(n, c);
			if (replaced == c->replaced_told)
				continue;
			event_put(EVENT_MEMORY_NEW, n->topo->name, daemon_peer_name(c),
				replaced - c->replaced_told,
				"%s restarted with empty memory (generation %016" PRIx64
				", before %016" PRIx64 "), %" PRIu64 " lines forgotten, %" PRIu64
				" transfers lost",
				daemon_peer_name(c), c->link->memory.generation,
				c->link->memory.before, c->link->memory.forgotten,
				c->link->memory.transfers);
			c->replaced_told = replaced;
		}
	}
}
