/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * cxl mode: links of HBR form. A host's requests have no ids, nor have its answers: the edge port of
 * its switch decodes the address and converts (weft_edge_link.h), as in weftd. The judges know from
 * the host whom it asks, so a request that is decoded to another GFD, or in another's name, shows.
 */

#include "sim.h"

#include "cli.h"
#include "weft_edge_link.h"

#define ANYBODY (WEFT_PID_RESERVED - 1) /* PID that no node has: nobody's own port */

/* Numbers of their own: what a seed means otherwise stays. */
void
form_draw(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0x4B2));
	sc->form = sc->mode == WEFT_MODE_CXL && weft_rand_below(&r, 5) != 0 ? WEFT_FORM_HBR
	                                                                    : WEFT_FORM_PBR;
}

enum weft_form
form_of(const struct sim *s, uint32_t link_dir)
{
	const struct weft_topo *t = s->topo;
	const uint8_t a = t->node[t->port[link_dir].node].kind;
	const uint8_t b = t->node[t->neighbour[link_dir]].kind;

	if (s->sc.mode == WEFT_MODE_RXL)
		return WEFT_FORM_PBR;
	if (s->opt->topology != NULL && t->mode == WEFT_MODE_CXL)
		return (enum weft_form)t->port[link_dir].form;
	return (a == WEFT_TOPO_HOST && b == WEFT_TOPO_SWITCH) ||
	                       (a == WEFT_TOPO_SWITCH && b == WEFT_TOPO_HOST)
	               ? (enum weft_form)s->sc.form
	               : WEFT_FORM_PBR;
}

void
form_build(struct sim *s)
{
	const struct weft_topo *t = s->topo;
	const struct weft_edge_cfg cfg = {
		.pid = ANYBODY,
		.fast_depth_log2 = (uint8_t)__builtin_ctz(WEFT_SEG_ENTRIES),
		.fast_idt = 1,
	};
	const uint64_t base = weft_topo_fast_base(t);
	struct weft_edge *e;
	int rc;

	if (s->sc.mode == WEFT_MODE_RXL)
		return;
	e = arena_alloc(&s->arena, sizeof(*e));
	rc = weft_edge_init(e, &cfg);
	if (rc == 0)
		rc = weft_seg_set_range(&e->fast, t->segment_log2, base,
			base + ((uint64_t)t->n_segments << t->segment_log2));
	for (unsigned int i = 0; i < t->n_segments && rc == 0; i++) {
		const struct weft_fast_entry entry = {
			.flags = WEFT_SEG_VALID,
			.dpid = t->node[t->target[t->segment[i].first_target].node].pid,
		};

		rc = weft_edge_allow(e, WEFT_GMV, entry.dpid, true);
		if (rc == 0)
			rc = weft_seg_set_entries(&e->fast, i, &entry, 1);
	}
	if (rc != 0)
		cli_fail("seed %llu: no edge port can be made of %u segments",
			(unsigned long long)s->seed, t->n_segments);
	s->edge = e;
}

bool
form_in(struct sim_end *in, struct weft_msg *m)
{
	const enum weft_msg_kind kind = (enum weft_msg_kind)m->kind;

	if (in->form != WEFT_FORM_HBR)
		return true;
	if (m->spid != 0 || m->dpid != 0 ||
		weft_edge_msg_in(in->node->sim->edge, m) != WEFT_EDGE_OK) {
		violation(in->node->sim, "edge port of host %u refuses a %s", in->peer_pid,
			weft_msg_kind_name(kind));
		return false;
	}
	if (m->spid == ANYBODY) /* one table serves all ports */
		m->spid = in->peer_pid;
	return true;
}

void
form_out(struct sim_end *out, struct weft_msg *m)
{
	if (out->form != WEFT_FORM_HBR)
		return;
	if (out->node->kind == WEFT_TOPO_HOST)
		m->spid = m->dpid = 0;
	else if (!weft_edge_msg_out(m))
		violation(out->node->sim, "a %s is to leave to host %u",
			weft_msg_kind_name((enum weft_msg_kind)m->kind), out->peer_pid);
}
