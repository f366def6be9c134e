/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A connection of this node, or in cxl mode a link: an end (lib/link), what it is made of, and what
 * its sessions are to the node. Its frames: peer_frames.c.
 */

#include "daemon.h"
#include "event.h"
#include "retry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#define RETRY_TIMEOUT_MIN_NS UINT64_C(2000000)
#define RESEND_AFTER_NS UINT64_C(100000000)

struct peer *
peer_find(struct node *n, uint16_t pid)
{
	for (uint16_t i = 0; i < n->n_peers; i++)
		if (n->peer[i].pid == pid)
			return &n->peer[i];
	return NULL;
}

/* Room for messages: what may come this way. A link of a switch carries everything. */
static void
peer_room(const struct peer *p, struct weft_end_cfg *c)
{
	const uint8_t kind = p->node->topo->kind;
	const bool none = kind == WEFT_TOPO_DEVICE;
	const uint16_t requests = kind == WEFT_TOPO_HOST || none ? 0 : PEER_CREDITS;
	const uint16_t answers = kind == WEFT_TOPO_GFD || none ? 0 : PEER_CREDITS;

	c->room[WEFT_MSG_M2S_REQ] = requests;
	c->room[WEFT_MSG_M2S_RWD] = requests;
	c->room[WEFT_MSG_S2M_NDR] = answers;
	c->room[WEFT_MSG_S2M_DRS] = answers;
}

static_assert(WEFT_TOPO_CXL_IO_MAX == WEFT_END_IO_ROOM_MAX, "what a topology may ask for is given");

static void
peer_io(struct peer *p, struct weft_end_cfg *c)
{
	const uint8_t kind = p->node->topo->kind;

	for (unsigned int i = 0; i < WEFT_IO_CLASSES; i++)
		c->io_room[i] = p->node->daemon->topo->cxl_io;
	c->io = kind == WEFT_TOPO_HOST     ? host_packet
	        : kind == WEFT_TOPO_SWITCH ? store_packet
	                                   : uio_packet;
	c->io_arg = p;
}

static void
peer_cfg(struct peer *p, bool is_initiator, struct weft_end_cfg *c)
{
	const struct weft_topo *t = p->node->daemon->topo;
	struct weft_control *own = &c->session.params;

	memset(c, 0, sizeof(*c));
	weft_llr_defaults(&c->llr, (enum weft_mode)t->mode);
	if (t->mode == WEFT_MODE_RXL) {
		c->llr.isn = t->isn;
		c->llr.gap_decoding = t->isn == WEFT_ISN_PSEUDO;
		c->llr.selective = c->llr.gap_decoding;
	}
	c->llr.timeout_min_ns = RETRY_TIMEOUT_MIN_NS;
	/* A process that shares its CPU may be away for so long; lost tails are found sooner. */
	c->llr.resend_after_ns = RESEND_AFTER_NS;
	c->llr.window = PEER_WINDOW;
	c->llr.rx_flits = c->llr.selective ? PEER_WINDOW - 1 : 0;
	retry_from_topo(&c->llr, &t->retry);
	weft_session_defaults(&c->session);
	c->session.is_initiator = is_initiator;
	own->version = WEFT_WIRE_VERSION;
	own->mode = t->mode;
	own->max_flits = p->max_flits;
	own->crc_order = t->crc_order;
	own->isn_form = c->llr.isn;
	own->credits = PEER_CREDITS;
	own->memory = p->node->generation;
	memcpy(own->node, p->node->topo->name,
		strnlen(p->node->topo->name, WEFT_NODE_ID_LEN)); /* the rest stays 0 */
	c->form = WEFT_FORM_PBR; /* in both modes: switches need the DPID */
	c->max_flits = p->max_flits;
	c->seen = p->node->messages;
	peer_room(p, c);
	peer_io(p, c);
}

size_t
peer_memory(const struct weft_topo *t)
{
	const size_t window = t->retry.window > PEER_WINDOW || t->retry.rx_buffer >= PEER_WINDOW
	                              ? 2 * PEER_WINDOW
	                              : PEER_WINDOW;
	const size_t kinds = t->mode == WEFT_MODE_CXL ? 4 : 2;

	/* Both buffers of the retry layer, what waits to be consumed, and the allocator's rounding. */
	return 2 * window * WEFT_FLIT_LEN + kinds * PEER_CREDITS * sizeof(struct weft_msg) +
	       WEFT_IO_CLASSES * t->cxl_io * sizeof(struct weft_io_tlp) + sizeof(struct waiting) +
	       45056;
}

/* Of a GFD by CXL.mem, of an agent, or of anybody by UIO. */
static bool
peer_node_asks(const struct daemon *d, unsigned int node, unsigned int other)
{
	const struct weft_topo *t = d->topo;
	const struct weft_load_node *l = &d->load->node[node];
	const struct weft_topo_node *n = &t->node[node], *o = &t->node[other];

	if (n->kind == WEFT_TOPO_HOST && o->kind == WEFT_TOPO_GFD && daemon_host_sends(n, l))
		return true;
	if (n->translates && l->has_mem && n->ats.agent == other)
		return true;
	return l->has_uio && weft_topo_may_ask(t, node, other);
}

int
peer_init(struct peer *p, bool is_initiator)
{
	const uint8_t kind = p->node->daemon->topo->node[p->topo_node].kind;
	struct weft_end_cfg cfg;
	void *mem;
	int rc;

	p->is_initiator = is_initiator;
	p->is_host = kind == WEFT_TOPO_HOST || kind == WEFT_TOPO_DEVICE;
	p->is_switch = kind == WEFT_TOPO_SWITCH;
	p->is_needed = daemon_is_cxl(p->node->daemon) ||
	               peer_node_asks(p->node->daemon, p->node->index, p->topo_node);
	peer_cfg(p, is_initiator, &cfg);
	rc = ide_peer(p, is_initiator, &cfg);
	if (rc != 0)
		return rc;
	mem = rte_zmalloc("weft_end", weft_end_size(&cfg), WEFT_CACHE_LINE);
	if (mem == NULL)
		return -ENOMEM;
	p->end = weft_end_init(mem, &cfg, p->node->ends_ns);
	if (p->end == NULL) {
		rte_free(mem);
		return -EINVAL;
	}
	if (cfg.llr.mode == WEFT_MODE_RXL && kind == WEFT_TOPO_GFD &&
		daemon_host_sends(p->node->topo, p->node->load)) {
		p->waiting = rte_zmalloc("weft_waiting", sizeof(*p->waiting), WEFT_CACHE_LINE);
		if (p->waiting == NULL)
			return -ENOMEM;
	}
	return peer_directions(p);
}

void
peer_fini(struct peer *p)
{
	peer_directions_fini(p);
	if (p->end != NULL)
		weft_end_fini(p->end);
	ide_peer_fini(p);
	rte_free(p->end);
	rte_free(p->waiting);
}

bool
peer_is_wanted(const struct daemon *d, unsigned int node, unsigned int other, bool *first)
{
	const struct weft_topo *t = d->topo;
	const bool there = peer_node_asks(d, node, other), back = peer_node_asks(d, other, node);

	/* Of two that ask each other it is the first. */
	*first = there && (!back || node < other);
	return there || back ||
	       (t->node[node].kind == WEFT_TOPO_GFD && t->node[other].kind == WEFT_TOPO_HOST);
}

int
connections_init(struct node *n, char *err, size_t err_len)
{
	const struct weft_topo *t = n->daemon->topo;
	bool first;

	n->peer = calloc(t->n_nodes, sizeof(*n->peer));
	if (n->peer == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < t->n_nodes; i++) {
		struct peer *p = &n->peer[n->n_peers];
		int rc;

		if (!peer_is_wanted(n->daemon, n->index, i, &first))
			continue;
		n->n_peers++;
		p->node = n;
		p->topo_node = i;
		p->pid = t->node[i].pid;
		p->max_flits = (uint8_t)weft_topo_path_flits(t, n->index, i);
		rc = peer_init(p, first);
		if (rc != 0) {
			snprintf(err, err_len, "node %s: connection to %s: %s", n->topo->name,
				t->node[i].name, strerror(-rc));
			return rc;
		}
	}
	return 0;
}

/* --- sessions --- */

bool
peers_are_up(const struct node *n)
{
	for (uint16_t i = 0; i < n->n_peers; i++)
		if (n->peer[i].state != PEER_UP && n->peer[i].is_needed)
			return false;
	return true;
}

bool
peer_ended(struct peer *p)
{
	const struct weft_session *s = weft_end_session(p->end);

	/* Over, or over and begun anew since. */
	if (p->state != PEER_UP ||
		(weft_session_is_live(s) && s->count[WEFT_SESSION_N_BEGUN] == p->begun))
		return false;
	__atomic_store_n(&p->state, PEER_DOWN, __ATOMIC_RELAXED);
	return true;
}

static void
peer_refusal_text(const struct peer *p, char *text, size_t len)
{
	const struct weft_session *s = weft_end_session(p->end);
	const enum weft_control_param differs = (enum weft_control_param)s->differs;
	const char *who = (const char *)s->peer.node;

	if (differs == WEFT_PARAM_PID)
		snprintf(text, len,
			"%.*s knows nobody with PID 0x%03x, which is %s here: the files differ",
			WEFT_NODE_ID_LEN, who, p->pid,
			p->node->daemon->topo->node[p->topo_node].name);
	else if (differs == WEFT_PARAM_IDE_KEY)
		snprintf(text, len, "%.*s has another pre-shared key than ide.key_file here",
			WEFT_NODE_ID_LEN, who);
	else
		snprintf(text, len, "%.*s refuses: %s is %s there, %s here", WEFT_NODE_ID_LEN, who,
			weft_control_param_name(differs),
			weft_control_param_value(&s->peer, differs),
			weft_control_param_value(&s->cfg.params, differs));
}

/*
 * Whoever asked has a reason to give up, nobody else, and not where there was a session before: this
 * may be anybody's word, and ends no run.
 */
static void
peer_refused(struct peer *p)
{
	struct node *n = p->node;

	__atomic_store_n(&p->state, PEER_REFUSED, __ATOMIC_RELAXED);
	if (!weft_end_session(p->end)->cfg.is_initiator)
		return;
	if (p->begun == 0 && n->refused == NULL) {
		peer_refusal_text(p, n->refusal, sizeof(n->refusal));
		__atomic_store_n(&n->refused, n->refusal, __ATOMIC_RELEASE);
	} else if (p->begun != 0 && __atomic_load_n(&n->refused_again, __ATOMIC_ACQUIRE) == NULL) {
		peer_refusal_text(p, n->refusal_again, sizeof(n->refusal_again));
		__atomic_store_n(&n->refused_again, n->refusal_again, __ATOMIC_RELEASE);
	}
}

bool
peer_began(struct peer *p)
{
	const struct weft_session *s = weft_end_session(p->end);

	if (s->state == WEFT_SESSION_REFUSED && p->state != PEER_REFUSED)
		peer_refused(p);
	if (!weft_session_is_live(s) || s->count[WEFT_SESSION_N_BEGUN] == p->begun)
		return false;
	p->begun = s->count[WEFT_SESSION_N_BEGUN];
	__atomic_store_n(&p->state, PEER_UP, __ATOMIC_RELAXED);
	return true;
}

/* Behind a switch are those who knew the memory before: nothing of this session is answered first. */
void
peer_new_memory(struct peer *p)
{
	const struct weft_session *s = weft_end_session(p->end);

	if (p->node->generation == 0 || s->count[WEFT_SESSION_N_BEGUN] == p->memory.asked)
		return;
	p->memory.asked = s->count[WEFT_SESSION_N_BEGUN];
	if (s->peer.known != 0 && s->peer.known != p->node->generation)
		generation_poison(p);
}

void
peer_close(struct peer *p)
{
	weft_end_close(p->end);
	p->due_ns = 0;
}

void
peers_tell(struct daemon *d)
{
	for (uint16_t k = 0; k < d->n_nodes; k++)
		for (uint16_t i = 0; i < d->node[k].n_peers; i++) {
			struct peer *p = &d->node[k].peer[i];
			const uint64_t n = weft_end_counts(p->end)[WEFT_END_N_DOUBTED];
			const uint64_t *c = weft_llr_counts(weft_end_llr(p->end));

			event_tell(EVENT_DOUBTED, d->node[k].topo->name, daemon_peer_name(p),
				n - p->others_told,
				"flits came in the name of %s that it did not send (%llu numbers "
				"with two contents): a new session begins, what was open is lost",
				daemon_peer_name(p), (unsigned long long)c[WEFT_LLR_N_CONFLICTS]);
			p->others_told = n;
		}
}
