/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Servers whose topology files differ: somebody asks for a session in the other mode, or with a PID
 * that this file does not know. No session can tell, as no end gets such a frame. So the node that
 * cannot take the HELLO answers with REFUSE, in the asker's own mode and by the way that it came,
 * and says it here. Nothing else is answered, and no more often than ANSWER_NS.
 */

#include "notes.h"

#include "event.h"
#include "weft_words.h"

#define ANSWER_NS UINT64_C(20000000)

/* Whether the records are those of a HELLO. What they say beside that does not matter. */
static bool
misfit_is_hello(const struct rte_mbuf *m)
{
	struct weft_control c;

	return weft_control_parse(rte_pktmbuf_mtod_offset(m, const uint8_t *, WEFT_WIRE_FLITS_OFF),
		       rte_pktmbuf_data_len(m) - (size_t)WEFT_WIRE_FLITS_OFF, &c) == WEFT_OK &&
	       c.type == WEFT_CONTROL_HELLO;
}

static void
misfit_answer(struct node *n, const struct note *note, uint8_t differs)
{
	const struct weft_topo *t = n->daemon->topo;
	struct weft_control c = { .type = WEFT_CONTROL_REFUSE,
		.version = WEFT_WIRE_VERSION,
		.mode = t->mode,
		.max_flits = 1,
		.crc_order = t->crc_order,
		.isn_form = t->isn,
		.ide_mode = t->ide.mode,
		.differs = differs };
	struct weft_wire_hdr h = note->hdr;

	memcpy(c.node, n->topo->name, strnlen(n->topo->name, WEFT_NODE_ID_LEN));
	h.spid = note->hdr.dpid;
	h.dpid = note->hdr.spid;
	h.clock = 0;
	node_send_control(n, note->in_port, &h, &c);
}

void
misfit_take(struct node *n, const struct note *note)
{
	struct misfit *x = &n->misfit;

	if (n->node->now_ns < n->misfit.after_ns)
		return;
	n->misfit.after_ns = n->node->now_ns + ANSWER_NS;
	__atomic_store_n(&x->about,
		(uint64_t)note->in_port << 48 | (uint64_t)note->hdr.spid << 32 |
			(uint64_t)note->hdr.dpid << 16 | (uint64_t)note->why << 8 | note->hdr.mode,
		__ATOMIC_RELAXED);
	__atomic_store_n(&x->n, x->n + 1, __ATOMIC_RELEASE);
	misfit_answer(n, note, note->why == WEFT_DROP_MODE ? WEFT_PARAM_MODE : WEFT_PARAM_PID);
}

void
misfit_came(void *arg, struct rte_mbuf *m, enum weft_verdict why)
{
	const struct node *n = arg;
	const struct weft_frame *f = weft_frame(m);

	/* A manager may not have written that row yet, or taken it away. */
	if (why == WEFT_DROP_NO_ROUTE &&
		n->daemon->topo->access.management == WEFT_TOPO_MANAGED_BY_FM)
		return;
	if (f->hdr.kind == WEFT_WIRE_CONTROL && misfit_is_hello(m))
		note_send(arg, &(struct note){ .kind = NOTE_MISFIT,
				       .in_port = f->in_port,
				       .why = (uint8_t)why,
				       .hdr = f->hdr });
}

static void
misfit_say(const struct node *n, uint64_t about, uint64_t more)
{
	const struct weft_topo *t = n->daemon->topo;
	const unsigned int port = (unsigned int)(about >> 48), spid = about >> 32 & UINT16_MAX;
	const char *other = t->node[t->neighbour[n->topo->first_port + port]].name;

	if ((about >> 8 & UINT8_MAX) == WEFT_DROP_MODE)
		event_put(EVENT_MISFIT, n->topo->name, other, more,
			"port %u (%s): somebody asks for a session in mode %s; this file says %s",
			port, other, weft_words_name(weft_mode_words, about & UINT8_MAX),
			weft_mode_words[t->mode]);
	else
		event_put(EVENT_MISFIT, n->topo->name, other, more,
			"port %u (%s): PID 0x%03x asks for PID 0x%03x, which this file gives to "
			"nobody that way",
			port, other, spid, (unsigned int)(about >> 16 & UINT16_MAX));
}

static void
misfit_say_refused(const struct node *n, struct weft_node_refusal *r)
{
	const char *text = __atomic_load_n(&r->text, __ATOMIC_ACQUIRE);

	if (text == NULL)
		return;
	event_put(EVENT_MISFIT, n->topo->name, NULL, 1, "%s", text);
	__atomic_store_n(&r->text, NULL, __ATOMIC_RELEASE);
}

void
misfit_log_events(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];
		const uint64_t all = __atomic_load_n(&n->misfit.n, __ATOMIC_ACQUIRE);

		misfit_say_refused(n, &n->node->refused_again);
		if (!d->cfg.until_done) /* otherwise it ends the run, and is its last word */
			misfit_say_refused(n, &n->node->refused);
		if (all == n->misfit.told)
			continue;
		misfit_say(n, __atomic_load_n(&n->misfit.about, __ATOMIC_RELAXED),
			all - n->misfit.told);
		n->misfit.told = all;
	}
}
