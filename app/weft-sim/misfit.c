/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A node that starts again by a file that does not fit: its ends say another CRC order, ISN form or
 * mode of IDE, have another key, or take smaller frames. Until the file is mended none of them
 * begins a session, or, with smaller frames, none larger comes. One node at a time.
 */

#include "judge.h"

#define TRIES 10 /* HELLOs, at least, before the file is mended */

/* What the ends are told of it. */
static const uint8_t misfit_word[MISFITS] = {
	[MISFIT_CRC] = WEFT_PARAM_CRC_ORDER,
	[MISFIT_ISN] = WEFT_PARAM_ISN_FORM,
	[MISFIT_IDE] = WEFT_PARAM_IDE_MODE,
	[MISFIT_KEY] = WEFT_PARAM_IDE_KEY,
};

void
misfit_strike(struct sim_node *n, uint64_t which, uint64_t length_ns)
{
	struct sim *s = n->sim;
	const bool has_ide = s->sc.session.params.ide_mode != WEFT_IDE_OFF;
	const unsigned int kinds = has_ide ? MISFITS - 1 : MISFIT_IDE - 1;

	if (s->faults.misfit != NULL || n->n_ends == 0 || n->resume_ns != 0 ||
		n->life.state != LIFE_RUNS)
		return;
	node_crash(n, s->now_ns + 1);
	s->faults.misfit = n;
	n->life.misfit = (uint8_t)(1 + which % kinds);
	s->faults.misfits |= 1u << n->life.misfit;
	heap_push(&s->heap, s->now_ns + TRIES * s->sc.session.hello_ns + length_ns, EV_MEND, n);
}

void
misfit_params(const struct sim_node *n, struct weft_link_cfg *c)
{
	struct weft_control *p = &c->session.params;

	switch (n->life.misfit) {
	case MISFIT_CRC: p->crc_order = !p->crc_order; break;
	case MISFIT_ISN:
		p->isn_form = p->isn_form == WEFT_ISN_XOR ? WEFT_ISN_PSEUDO : WEFT_ISN_XOR;
		break;
	case MISFIT_IDE:
		p->ide_mode = p->ide_mode == WEFT_IDE_SKID ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID;
		break;
	case MISFIT_FLITS:
		p->max_flits = (uint8_t)(p->max_flits + 1) / 2;
		c->max_flits = p->max_flits;
		break;
	default: break;
	}
}

void
misfit_begins(const struct sim_end *e)
{
	if (misfit_word[e->node->life.misfit] != WEFT_PARAM_NONE)
		violation(e->node->sim, "end %u>%u begins a session, and its %s is another",
			e->node->pid, e->peer_pid,
			weft_control_param_name(misfit_word[e->node->life.misfit]));
}

void
misfit_came(const struct sim_end *e, const struct sim_frame *f)
{
	const struct weft_session *s = weft_link_session(e->end);

	if (e->node->life.misfit == MISFIT_FLITS && f->hdr.session == e->session && !f->is_forged &&
		f->hdr.n_flits > s->cfg.params.max_flits)
		violation(e->node->sim, "%u flits in a frame to end %u>%u, which takes %u",
			f->hdr.n_flits, e->node->pid, e->peer_pid, s->cfg.params.max_flits);
}

/* A HELLO of another's file that did not fit may come late. */
static bool
misfit_was_said(const struct sim *s, uint8_t word)
{
	for (unsigned int k = MISFIT_CRC; k < MISFITS; k++)
		if ((s->faults.misfits >> k & 1) != 0 && misfit_word[k] == word)
			return true;
	return false;
}

/* Somebody who forges link control may have said anything. */
static void
misfit_judge(const struct sim_end *e)
{
	const struct weft_session *s = weft_link_session(e->end);
	const uint8_t word = misfit_word[e->node->life.misfit];
	struct sim *sim = e->node->sim;

	if (s->state != WEFT_SESSION_REFUSED || sim->sc.fault.weight[FAULT_CONTROL] != 0)
		return;
	sim->total.refusals += s->differs == word;
	/* Whoever hears no offer that fits may blame the size of frames as well. */
	if (!misfit_was_said(sim, s->differs) && s->differs != WEFT_PARAM_FRAME_SIZE)
		violation(sim, "end %u>%u is refused for its %s, not for its %s", e->node->pid,
			e->peer_pid, weft_control_param_name(s->differs),
			weft_control_param_name(word));
}

void
misfit_mend(struct sim_node *n)
{
	struct sim *s = n->sim;

	if (s->faults.misfit != n)
		return;
	for (uint32_t i = 0; i < n->n_ends && n->life.state == LIFE_RUNS; i++)
		misfit_judge(&n->end[i]);
	node_crash(n, s->now_ns + 1);
	n->life.misfit = MISFIT_NONE;
	s->faults.misfit = NULL;
}
