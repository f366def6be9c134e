/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What stages have for their node beside frames: flits that were lost, a HELLO that fits nothing,
 * an announcement. It answers them with state of its own, so stages on other lcores send notes
 * through a ring, which any of them may fill and the node's poll empties. Rare: nothing of a
 * healthy link is a note.
 */

#include "notes.h"

#include <rte_errno.h>
#include <rte_ring_elem.h>

#define NOTES 64

static_assert(sizeof(struct note) % 4 == 0, "what a ring takes");

int
notes_init(struct node *n)
{
	static unsigned int made; /* names of DPDK objects are short: a number tells ours apart */
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "weft_notes_%u", made++);
	n->notes = rte_ring_create_elem(
		name, sizeof(struct note), NOTES, SOCKET_ID_ANY, RING_F_SC_DEQ);
	return n->notes == NULL ? -rte_errno : 0;
}

void
notes_fini(struct node *n)
{
	rte_ring_free(n->notes);
}

static void
note_take(struct node *n, const struct note *note)
{
	switch (note->kind) {
	case NOTE_LOST: n->node->kind->lost(n->node, &note->hdr, note->flits); break;
	case NOTE_MISFIT: misfit_take(n, note); break;
	case NOTE_ANNOUNCE: duplicate_take_announcement(n, note); break;
	}
}

void
note_send(struct node *n, const struct note *note)
{
	if (n->notes == NULL)
		note_take(n, note);
	else
		rte_ring_mp_enqueue_elem(n->notes, (void *)(uintptr_t)note, sizeof(*note));
}

unsigned int
notes_poll(struct node *n)
{
	struct note note;
	unsigned int taken = 0;

	for (; taken < NOTES && rte_ring_sc_dequeue_elem(n->notes, &note, sizeof(note)) == 0;
		taken++)
		note_take(n, &note);
	return taken;
}
