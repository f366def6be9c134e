/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Ends of connections, or (in cxl mode) of links. Frames come in, lose what FEC cannot correct, and
 * are given to the end with their syndromes; what an end has to send gets its CRC and FEC here. An
 * end is looked at when a frame comes, when its node has given it something or at its deadline,
 * never otherwise. Hot.
 */

#include "ide.h"
#include "judge.h"
#include "replay.h"

#include "weft_base.h"
#include "weft_control.h"

#define TURNS_MAX 1000 /* times in a row that an end may want to send and give nothing */

/*
 * A session has begun or ended, the end's own state being the only source: the judge of connections
 * knows at once, its node when it looks (watch_session()).
 */
static void
edge_session(struct sim_end *e)
{
	const struct weft_session *session = weft_link_session(e->end);
	const uint32_t id = weft_session_is_live(session) ? session->id : 0;

	if (id == e->session)
		return;
	if (e->session != 0) {
		order_end(e);
		e->was_fooled |= replay_excuses(e);
	}
	e->session = id;
	if (e->ide != NULL)
		e->ide->number = 0;
	e->heard_ns = e->node->sim->now_ns;
	if (id == 0)
		return;
	e->node->sim->total.sessions++;
	order_begin(e);
}

static bool
edge_message(void *arg, const struct weft_msg *m)
{
	struct sim_end *e = arg;
	struct sim_node *n = e->node;

	edge_session(e); /* the frame may have begun one */
	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	if (n->kind == WEFT_TOPO_GFD && (!n->sim->sc.direct || node_is_slow(n)))
		return false;
	if (!n->node.kind->message(e->link, m))
		return false;
	order_came(e, m);
	return true;
}

static void
edge_flits(struct sim_end *e, struct sim_frame *f, uint64_t now_ns)
{
	struct sim *s = e->node->sim;
	const unsigned int n = f->hdr.n_flits;
	uint8_t *flits = f->data + WEFT_WIRE_FLITS_OFF;
	const uint8_t *flit[WEFT_WIRE_FLITS_MAX] = { NULL };
	uint64_t syndrome[WEFT_WIRE_FLITS_MAX];
	enum weft_session_event ev = WEFT_SESSION_NOTHING;
	struct weft_llr_rx_result in;
	struct replay_mark mark = { 0 };
	const bool watched = replay_watches(e, f);
	bool is_in;

	for (unsigned int i = 0; i < n; i++)
		flit[i] = flits + (size_t)i * WEFT_FLIT_LEN;
	/* What FEC could not correct goes on: its CRC tells. */
	flits_decode(s, flit, n);
	weft_codec_syndromes(
		&s->opt->codec, flit, n, (enum weft_crc_order)s->sc.crc_order, syndrome);
	for (unsigned int i = 0; i < n; i++)
		syndrome[i] ^= e->address_in;
	if (watched)
		mark = replay_mark(e, f, syndrome);
	misfit_came(e, f);
	weft_node_arriving(e->link);
	is_in = weft_link_receive(e->end, &f->hdr, flits, syndrome, weft_wire_all_zero(flits, n),
			now_ns, &ev, &in, edge_message, e) == WEFT_OK;
	weft_node_arriving(e->link);
	s->total.loss[LOSS_SESSION] += !is_in;
	if (watched)
		replay_came(e, f, syndrome, &in, &mark);
	if (is_in && e->ide != NULL)
		monitor_came(e, f, &in);
}

/* Have the end looked at at this time or before. */
static void
edge_wake(struct sim_end *e, uint64_t at_ns)
{
	if (at_ns >= e->timer_ns)
		return;
	e->timer_ns = at_ns;
	heap_push(&e->node->sim->heap, at_ns, EV_END, e);
}

static bool
edge_parse_control(const struct sim_frame *f, struct weft_control *c)
{
	return weft_control_parse(f->data + WEFT_WIRE_FLITS_OFF, f->len - WEFT_WIRE_FLITS_OFF, c) ==
	       WEFT_OK;
}

/* The number of a signed frame of link control; 0: it has none. */
static uint64_t
edge_control_number(const struct sim_frame *f)
{
	struct weft_control c;

	return edge_parse_control(f, &c) ? c.number : 0;
}

/* @return flits that a switch says it has dropped */
static uint64_t
edge_control(struct sim_end *e, const struct sim_frame *f)
{
	const struct weft_session *session = weft_link_session(e->end);
	const uint64_t before = session->count[WEFT_SESSION_N_LOSSES];
	const uint64_t old_before = session->count[WEFT_SESSION_N_OLD_NUMBERS];
	const uint64_t number =
		e->ide != NULL && f->is_replayed && !f->is_forged && session->id == f->hdr.session
			? edge_control_number(f)
			: 0;
	const uint32_t asked = session->attempt.hello_nonce;
	const uint32_t wanted = session->attempt.pending_sid;

	weft_node_control(
		e->link, &f->hdr, f->data + WEFT_WIRE_FLITS_OFF, f->len - WEFT_WIRE_FLITS_OFF);
	/* An old WELCOME does no lasting harm, so nothing else would show that it was believed. */
	if (session->attempt.pending_sid != 0 && session->attempt.pending_sid != wanted &&
		f->hdr.session != asked)
		violation(e->node->sim,
			"end %u>%u takes session %08x, offered to %08x, not to %08x", e->node->pid,
			e->peer_pid, session->attempt.pending_sid, f->hdr.session, asked);
	/* Nor does an old KEEPALIVE. */
	if (number != 0 && number <= e->ide->number &&
		session->count[WEFT_SESSION_N_OLD_NUMBERS] == old_before)
		violation(e->node->sim, "end %u>%u believes link control that was played back",
			e->node->pid, e->peer_pid);
	return session->count[WEFT_SESSION_N_LOSSES] - before;
}

/*
 * True if a frame of its session is a sign of life. Of link control that is a KEEPALIVE or READY:
 * what answers a HELLO or a claim that somebody forged is none, though it comes from the other end.
 * With keys each is so once.
 */
static bool
edge_is_heard(struct sim_end *e, const struct sim_frame *f)
{
	struct weft_control c;

	if (f->is_forged || f->hdr.kind != WEFT_WIRE_CONTROL)
		return !f->is_forged;
	if (!edge_parse_control(f, &c) ||
		(c.type != WEFT_CONTROL_KEEPALIVE && c.type != WEFT_CONTROL_READY))
		return false;
	if (e->ide == NULL)
		return true;
	if (c.number <= e->ide->number)
		return false;
	e->ide->number = c.number;
	return true;
}

void
edge_receive(struct sim_node *n, struct sim_frame *f)
{
	struct sim *s = n->sim;
	struct sim_end *e = node_end(s, f->link_dir, &f->hdr);
	uint64_t told = 0;

	if (e == NULL) {
		s->total.loss[LOSS_ROUTE]++;
		frame_free(s, f);
		return;
	}
	sim_node_time(n);
	if (f->hdr.kind == WEFT_WIRE_CONTROL)
		told = edge_control(e, f);
	else
		edge_flits(e, f, n->node.ends_ns);
	edge_session(e);
	if (f->is_stolen)
		violation(s, "end %u>%u has a frame from the port of another", n->pid, e->peer_pid);
	if (told != 0 && !f->is_forged)
		order_told(e, told, f->is_again);
	else if (f->hdr.session == e->session && edge_is_heard(e, f))
		e->heard_ns = s->now_ns;
	frame_free(s, f);
	order_bounds(e);
	if (s->sc.poll_ns == 0)
		node_turn(n);
	else
		edge_wake(e, s->now_ns + s->sc.poll_ns);
}

static void
edge_protect(struct sim_end *e, struct sim_frame *f, const struct weft_llr_tx_info *out)
{
	struct sim *s = e->node->sim;
	uint8_t *flit[WEFT_WIRE_FLITS_MAX];
	uint64_t implicit[WEFT_WIRE_FLITS_MAX];

	for (unsigned int i = 0; i < out->n; i++)
		flit[i] = f->data + WEFT_WIRE_FRAME_LEN(i);
	weft_isn_given(&e->isn, out->first, out->n, out->nops, out->invert_crc, implicit);
	weft_codec_protect(
		&s->opt->codec, flit, out->n, (enum weft_crc_order)s->sc.crc_order, implicit);
}

static void
edge_emit(struct sim_end *e, struct sim_frame *f, struct weft_link_out *out,
	struct monitor_mark before, uint64_t now_ns)
{
	struct sim *s = e->node->sim;

	out->hdr.spid = s->sc.mode == WEFT_MODE_RXL ? e->node->pid : WEFT_PID_NONE;
	out->hdr.dpid = s->sc.mode == WEFT_MODE_RXL ? e->peer_pid : WEFT_PID_NONE;
	out->hdr.clock = (uint32_t)now_ns;
	if (out->hdr.kind == WEFT_WIRE_FLITS)
		edge_protect(e, f, &out->flits);
	if (e->ide != NULL && out->hdr.kind == WEFT_WIRE_FLITS)
		monitor_frame(e, f, &out->flits, before);
	frame_address(f, e->peer_pid, e->node->pid, e->link_dir);
	weft_wire_build(f->data, &out->hdr);
	f->hdr = out->hdr;
	f->len = (uint32_t)(WEFT_WIRE_FLITS_OFF + out->len);
	if (e->replay != NULL && f->hdr.kind == WEFT_WIRE_FLITS)
		replay_sent(e, f, &out->flits);
	link_dir_send(s, e->link_dir, frame_pack(s, f));
}

/* Have the end looked at when its time comes, or when its port is free. */
static void
edge_arm(struct sim_end *e, bool is_full)
{
	const struct sim_node *n = e->node;
	struct sim *s = n->sim;
	const uint64_t local_ns = n->node.due_ns[e->link->index];
	uint64_t at_ns;

	if (local_ns == UINT64_MAX)
		return;
	/* The clock of ends is behind by the pauses of the node. */
	at_ns = clock_sim(&n->clock, local_ns + n->node.now_ns - n->node.ends_ns);
	if (is_full) {
		const uint64_t ready_ns = link_dir_ready_ns(s, e->link_dir);

		at_ns = at_ns > ready_ns ? at_ns : ready_ns;
		e->idle_turns = 0;
	}
	if (at_ns > s->now_ns) {
		e->idle_turns = is_full ? 0 : e->idle_turns;
	} else {
		at_ns = s->now_ns + 1;
		/* Once an instant: a switch that goes on takes thousands of frames in one. */
		if (e->timer_ns > at_ns && ++e->idle_turns == TURNS_MAX)
			violation(s, "end %u>%u wants to send at once and gives nothing",
				e->node->pid, e->peer_pid);
	}
	edge_wake(e, at_ns);
}

void
edge_pump(struct sim_end *e)
{
	struct sim *s = e->node->sim;
	struct weft_link_out out;
	uint64_t now_ns;
	bool is_full;

	sim_node_time(e->node);
	now_ns = e->node->node.ends_ns;
	while (!(is_full = link_dir_is_full(s, e->link_dir))) {
		struct sim_frame *f = frame_new(s);
		const struct monitor_mark before = monitor_mark(e);

		if (!weft_link_next(e->end, f->data + WEFT_WIRE_FLITS_OFF, now_ns,
			    weft_rand_u64(&s->rand.node), &out)) {
			frame_free(s, f);
			break;
		}
		e->idle_turns = 0;
		edge_emit(e, f, &out, before, now_ns);
	}
	edge_session(e);
	weft_node_set_due(e->link, weft_link_deadline(e->end));
	edge_arm(e, is_full);
}

void
edge_flush(struct sim_end *e)
{
	weft_link_tick(e->end, e->node->node.ends_ns);
	edge_session(e);
	edge_pump(e);
}

void
edge_timer(struct sim_end *e)
{
	weft_node_set_due(e->link, 0);
	node_turn(e->node);
}

void
edge_fetch(const struct sim_end *e)
{
	weft_link_prefetch(e->end);
	__builtin_prefetch(e->link);
	__builtin_prefetch((const uint8_t *)e->link + WEFT_CACHE_LINE);
	__builtin_prefetch(e->peer);
	__builtin_prefetch(&e->isn);
	__builtin_prefetch(&e->node->sim->link_dir[e->link_dir]);
}

void
edge_fetch_peer(const struct sim_end *e)
{
	const struct weft_credits *f = weft_link_credits(e->peer->end);

	__builtin_prefetch(f->may_send);
	__builtin_prefetch(f->outstanding);
	__builtin_prefetch(&e->peer->order);
	__builtin_prefetch(e->peer->order.life);
	__builtin_prefetch(e->order.life);
}

/* Perhaps its data turns out to be bad now. Data that is bad already is left alone. */
static bool
edge_poisons(struct sim_end *e, const struct weft_msg *m)
{
	struct sim *s = e->node->sim;

	if (s->sc.poison_one_in == 0 || s->faults.is_healed || !weft_msg_has_data(m) ||
		m->poison != 0 || weft_rand_below(&s->rand.node, s->sc.poison_one_in) != 0 ||
		weft_link_poison(e->end) != 0)
		return false;
	return true;
}

void
edge_sent(struct sim_end *e, const struct weft_msg *m, bool late)
{
	struct sim *s = e->node->sim;
	struct weft_msg own = *m;
	bool is_bad;

	/* Ids of a host's request are for itself: a link of HBR form has none. */
	if (e->node->node.is_hbr)
		own.spid = own.dpid = 0;
	late = late || edge_poisons(e, m);
	s->total.poisoned += late;
	/* Where there is no room behind it, a GFD says in the header what has turned out bad. */
	is_bad = late || (m->poison != 0 && e->node->node.topo->late_poison > 0);
	/* If the other end is in another session, the message will not arrive. */
	if (is_bad && e->session == e->peer->session && !replay_excuses(e))
		oracle_poisoned(e, m);
	order_sent(e, &own, late);
	equal_sent(e, m);
}
