/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of data that turns out bad late: which reads of a GFD these are, its file says by a
 * share and a seed. Their data leaves poisoned, behind its header or in it, and no other does.
 */

#include "update.h"

#include "weft_gfd.h"

void
late_started(struct sim_node *gfd)
{
	weft_rand_seed(&gfd->gfd.late.rand, gfd->node.topo->late_poison_seed);
}

/* Whether a line has been bad for longer, which is told in the header. */
static bool
late_is_poisoned(struct sim_node *gfd, uint64_t dpa)
{
	const uint64_t *poison = weft_node_gfd(&gfd->node)->poison;
	const uint64_t line = dpa / WEFT_MSG_DATA_LEN;

	return (poison[line / 64] >> line % 64 & 1) != 0;
}

void
late_executes(struct sim_end *e, const struct weft_msg *m)
{
	struct sim_node *gfd = e->node;
	struct sim *s = gfd->sim;
	const struct sim_node *from = m->spid < WEFT_PIDS ? s->by_pid[m->spid] : NULL;
	const struct weft_topo *t =
		s->faults.update == NULL ? s->topo : s->faults.update->node[gfd->index].by;
	struct sim_late *late = &gfd->gfd.late;
	uint64_t dpa;

	late->is_judged = false;
	if (gfd->node.topo->late_poison <= 0 || from == NULL || m->kind != WEFT_MSG_M2S_REQ ||
		m->op == WEFT_M2S_REQ_MEMINV)
		return;
	dpa = rights_place(t, gfd->index, m->addr);
	if (dpa >= gfd->node.topo->memory ||
		(gfd->access != NULL && !rights_may(t, from, gfd->index, dpa)))
		return;
	late->is_judged = true;
	late->is_bad = late_is_poisoned(gfd, dpa) ||
	               weft_rand_unit(&late->rand) < gfd->node.topo->late_poison;
}

void
late_answered(struct sim_end *e, const struct weft_msg *answer, bool late)
{
	struct sim_late *l = &e->node->gfd.late;

	if (l->is_judged && answer->kind == WEFT_MSG_S2M_DRS &&
		l->is_bad != (late || answer->poison != 0))
		violation(e->node->sim, "gfd %u sends node %u data that is %s, and says it is %s",
			e->node->pid, answer->dpid, l->is_bad ? "bad" : "good",
			l->is_bad ? "good" : "bad");
	l->is_judged = false;
}
