/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Paths through the fabric, from the port of one host (doc/cci.md, "By links"). The neighbour
 * switch is asked without a name. A component that routes lead to, there and back, is asked by its
 * PID; any other through the last component before it that can be asked, which sends the message
 * on by a port (5701h), at most two of them. So a fabric without tables is found hop by hop: what
 * is near is claimed and routed, and by those routes what is behind it. A host is asked by its PID
 * alone. Where the components are is what the file says.
 */

#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "manager.h"
#include "weft_cci_mctp.h"
#include "weft_cci_payload.h"

#define INBAND_HEAD 4 /* PID, type, tag */
#define INBAND_OWNER 8 /* of the tag: a request */
#define INBAND_LAYERS 2 /* messages in messages, of which each switch takes so many */
#define INBAND_MESSAGE (WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD)
#define INBAND_HOPS 64

/* Where a component is: behind a port of another. */
struct inband_place {
	uint32_t before; /* path; WEFT_FM_NO_PATH: the host's, or nowhere */
	uint8_t port; /* of that */
	uint16_t depth; /* from the neighbour switch on, whose is 1; 0: no way */
	unsigned int misses; /* requests in a row without an answer */
};

struct inband {
	const struct intent *in;
	struct peer port;
	unsigned int host;
	uint16_t pid; /* the host's, which is the manager's */
	uint8_t at_port; /* of its switch */
	uint32_t first; /* path of that */
	uint8_t last_tag;
	bool is_missed; /* the port is not there, and that was said */
	bool is_foreign; /* the switch is another manager's, and that was said */
	unsigned int n_connected;
	struct inband_out { /* by tag */
		bool is_out;
		uint32_t path;
		uint16_t dpid; /* that answers */
		uint8_t tag, layers;
		uint16_t opcode;
	} out[256];
	struct inband_place place[]; /* by path */
};

/* Path of a node, or of what tells a host of its memory; WEFT_FM_NO_PATH: there is none. */
static uint32_t
inband_path(const struct intent *in, unsigned int node)
{
	const struct weft_fm_node *n = &in->node[node];

	if (n->kind != WEFT_TOPO_HOST)
		return n->path;
	return n->has_agent ? n->agent_path : WEFT_FM_NO_PATH;
}

/* The way to each component, near ones first. */
static void
inband_place_all(struct inband *b, const struct intent *in)
{
	const struct weft_topo *t = in->topo;
	bool is_more = true;

	b->place[b->first].depth = 1;
	for (uint16_t depth = 1; is_more; depth++) {
		is_more = false;
		for (unsigned int p = 0; p < t->n_ports; p++) {
			const unsigned int near = t->port[p].node;
			const unsigned int far = t->neighbour[p];
			const uint32_t from = in->node[near].path, to = inband_path(in, far);

			if (t->node[near].kind != WEFT_TOPO_SWITCH || to == WEFT_FM_NO_PATH ||
				b->place[from].depth != depth || b->place[to].depth != 0)
				continue;
			b->place[to].before = from;
			b->place[to].port = (uint8_t)(p - t->node[near].first_port);
			b->place[to].depth = (uint16_t)(depth + 1);
			is_more = true;
		}
	}
}

struct inband *
inband_new(const struct intent *in, const char *folder, unsigned int host)
{
	struct inband *b = calloc(1, sizeof(*b) + in->n_paths * sizeof(b->place[0]));

	if (b == NULL)
		cli_fail("out of memory");
	b->in = in;
	b->host = host;
	b->pid = in->topo->node[host].pid;
	b->first = in->node[host].at_path;
	b->at_port = in->node[host].at_port;
	for (uint32_t i = 0; i < in->n_paths; i++)
		b->place[i].before = WEFT_FM_NO_PATH;
	inband_place_all(b, in);
	peer_init(&b->port, folder, in->topo->node[host].name, ".port");
	return b;
}

void
inband_free(struct inband *b)
{
	if (b != NULL)
		peer_close(&b->port);
	free(b);
}

static void
inband_say_missed(struct inband *b)
{
	if (!b->is_missed && b->n_connected == 0)
		cli_warn("%s: expected the port that weftd opens with the host of --via: start it; "
			 "nothing is reached through the fabric until then",
			b->port.path);
	b->is_missed = true;
}

/* Of many times the 1st, 2nd, 4th and so on: two managers take it from each other without end. */
static void
inband_say_lost(const struct inband *b)
{
	if (b->n_connected != 0 && (b->n_connected & (b->n_connected - 1)) == 0)
		cli_warn("%s: closed (%u in all): weftd has ended, or let another manager in, of "
			 "which there may be one; what is reached by it is lost until it is back",
			b->port.path, b->n_connected);
}

bool
inband_connect(struct inband *b)
{
	const bool was_open = b->port.fd >= 0;

	if (!was_open && !b->is_missed)
		inband_say_lost(b);
	if (!peer_connect(&b->port)) {
		if (!was_open)
			inband_say_missed(b);
		return false;
	}
	memset(b->out, 0, sizeof(b->out));
	b->is_missed = false;
	b->n_connected++;
	return true;
}

/* Who has the PID of the manager that a component belongs to, if the file says. */
static const char *
inband_owner(const struct inband *b, uint16_t pid)
{
	const struct weft_topo *t = b->in->topo;

	for (unsigned int h = 0; h < t->n_hosts; h++)
		if (t->node[t->host[h]].pid == pid && t->node[t->host[h]].is_manager)
			return t->node[t->host[h]].name;
	return "nobody here";
}

bool
inband_is_let_in(struct inband *b, const struct weft_fm *fm)
{
	struct weft_fm_component c;

	if (weft_fm_component(fm, b->first, &c) != 0)
		return false;
	if (c.state == WEFT_FM_FOREIGN && !b->is_foreign)
		cli_warn("--via %s: expected switch %s to be nobody's or this store's, got one of "
			 "the manager with PID 0x%03x (%s): nothing is changed; end that one and "
			 "use its store, or give both --store etcd:URL",
			b->in->topo->node[b->host].name, intent_name(b->in, b->first), c.owner_pid,
			inband_owner(b, c.owner_pid));
	b->is_foreign = c.state == WEFT_FM_FOREIGN;
	return c.state == WEFT_FM_READY;
}

unsigned int
inband_fds(const struct inband *b, struct pollfd *fd)
{
	return peer_fds(&b->port, fd);
}

/* --- which way --- */

/* Path of what is behind a port of a switch, or WEFT_FM_NO_PATH. */
static uint32_t
inband_behind(const struct inband *b, uint32_t path, int port)
{
	const struct weft_topo *t = b->in->topo;
	const struct weft_topo_node *n = &t->node[b->in->node_of[path]];

	return port < 0 || port >= n->n_ports || n->kind != WEFT_TOPO_SWITCH
	               ? WEFT_FM_NO_PATH
	               : inband_path(b->in, t->neighbour[n->first_port + (unsigned int)port]);
}

/*
 * Whether tables lead what is for @pid from one switch to a component, as far as they are known. @p
 * last receives the switch before it.
 */
static bool
inband_leads(const struct inband *b, const struct weft_fm *fm, uint32_t from, uint32_t to,
	uint16_t pid, uint32_t *last)
{
	for (unsigned int hops = 0; from != to; hops++) {
		*last = from;
		from = inband_behind(b, from, weft_fm_route(fm, from, pid));
		if (from == WEFT_FM_NO_PATH || hops == INBAND_HOPS)
			return false;
	}
	return true;
}

/* There and back. */
static bool
inband_is_routed(const struct inband *b, const struct weft_fm *fm, uint32_t path)
{
	const struct weft_topo_node *n = &b->in->topo->node[b->in->node_of[path]];
	uint32_t last = b->first, back;

	if (!inband_leads(b, fm, b->first, path, n->pid, &last))
		return false;
	back = n->kind == WEFT_TOPO_SWITCH ? path : last;
	return inband_leads(b, fm, back, b->first, b->pid, &last) &&
	       weft_fm_route(fm, b->first, b->pid) == b->at_port;
}

/* What is asked: the neighbour, or a PID; 0 if a message would have to be in too many others. */
static bool
inband_find(const struct inband *b, const struct weft_fm *fm, uint32_t path, uint16_t *dpid,
	unsigned int *layers)
{
	const bool is_host = b->in->topo->node[b->in->node_of[path]].kind == WEFT_TOPO_HOST;
	/* One that does not answer by its PID may have forgotten it. */
	bool may_ask = is_host || b->place[path].misses % 2 == 0;

	for (*layers = 0; *layers <= INBAND_LAYERS; (*layers)++) {
		*dpid = WEFT_FM_NO_PID;
		if (path == b->first)
			return true;
		if (may_ask && inband_is_routed(b, fm, path)) {
			*dpid = b->in->topo->node[b->in->node_of[path]].pid;
			return true;
		}
		may_ask = true;
		if (is_host)
			return false; /* switches send nothing on to it by a port */
		path = b->place[path].before;
		if (path == WEFT_FM_NO_PATH)
			return false;
	}
	return false;
}

/* --- messages --- */

/* @msg as what the switch before @path sends on by a port. @return bytes; -EMSGSIZE */
static int
inband_wrap(const struct inband *b, uint32_t path, const uint8_t *msg, size_t len, uint8_t *to)
{
	const struct weft_cci_crawl_out_req req = {
		.target = b->place[path].port, .size = (uint16_t)len, .msg = msg
	};
	const int n = weft_cci_put_crawl_out_req(to + WEFT_CCI_HDR, WEFT_CCI_MAX_PAYLOAD, &req);
	const struct weft_cci_hdr h = { .opcode = WEFT_CCI_CRAWL_OUT, .len = (uint32_t)n };

	if (n < 0)
		return -EMSGSIZE;
	weft_cci_put_hdr(to, &h);
	return WEFT_CCI_HDR + n;
}

/* Note a request under the next tag. The one that had it was not answered in time. */
static void
inband_note(struct inband *b, uint32_t path, uint16_t dpid, unsigned int layers, const uint8_t *msg)
{
	b->out[++b->last_tag] = (struct inband_out){ .is_out = true,
		.path = path,
		.dpid = dpid,
		.tag = msg[1],
		.layers = (uint8_t)layers,
		.opcode = weft_get_le16(msg + 3) };
}

int
inband_send(
	struct inband *b, const struct weft_fm *fm, uint32_t path, const uint8_t *msg, size_t len)
{
	uint8_t part[2][INBAND_MESSAGE], packet[INBAND_HEAD + INBAND_MESSAGE];
	unsigned int layers;
	uint16_t dpid, opcode;
	int n = (int)len;
	uint32_t at = path;

	if (b->port.fd < 0 || len > INBAND_MESSAGE || b->place[path].depth == 0)
		return -ENOTCONN;
	/* Tables that are read meanwhile may lead there: no answer is not yet nobody. */
	if (!inband_find(b, fm, path, &dpid, &layers))
		return 0;
	memcpy(part[0], msg, len);
	for (unsigned int i = 0; i < layers; i++, at = b->place[at].before) {
		n = inband_wrap(b, at, part[i % 2], (size_t)n, part[(i + 1) % 2]);
		if (n < 0)
			return n;
	}
	inband_note(b, path, dpid, layers, msg);
	b->place[path].misses++;
	part[layers % 2][1] = b->last_tag;
	opcode = weft_get_le16(part[layers % 2] + 3);
	weft_put_le16(packet, dpid);
	packet[2] = weft_cci_mctp_type(opcode);
	packet[3] = INBAND_OWNER | (b->last_tag & 7);
	memcpy(packet + INBAND_HEAD, part[layers % 2], (size_t)n);
	return peer_send(&b->port, packet, INBAND_HEAD + (size_t)n);
}

/* What a component says by itself (0106h, 0107h). */
static void
inband_told(const struct inband *b, struct weft_fm *fm, uint16_t pid, const uint8_t *msg,
	size_t len, uint64_t now_ns)
{
	for (uint32_t i = 0; i < b->in->n_paths; i++) {
		struct weft_fm_component c;

		if (weft_fm_component(fm, i, &c) == 0 && c.kind != WEFT_TOPO_HOST && c.pid == pid)
			weft_fm_answer(fm, i, msg, len, now_ns);
	}
}

/* The message in the answer of a switch that has sent it on, or NULL: it could not. */
static const uint8_t *
inband_unwrap(const uint8_t *msg, size_t *len)
{
	struct weft_cci_crawl_out_rsp rsp;
	struct weft_cci_hdr h;

	if (weft_cci_get_hdr(&h, msg, *len) != 0 || !h.is_response ||
		h.opcode != WEFT_CCI_CRAWL_OUT || h.rc != WEFT_CCI_SUCCESS ||
		weft_cci_get_crawl_out_rsp(&rsp, msg + WEFT_CCI_HDR, h.len) != 0)
		return NULL;
	*len = rsp.len;
	return rsp.msg;
}

static void
inband_take(struct inband *b, struct weft_fm *fm, uint8_t *packet, size_t len, uint64_t now_ns)
{
	uint8_t *whole = packet + INBAND_HEAD;
	struct inband_out *o = &b->out[whole[1]];
	const uint8_t *msg = whole;

	len -= INBAND_HEAD;
	if ((packet[3] & INBAND_OWNER) != 0) {
		inband_told(b, fm, weft_get_le16(packet), whole, len, now_ns);
		return;
	}
	/* Any host may send answers to this one. */
	if (!o->is_out || o->dpid != weft_get_le16(packet))
		return;
	o->is_out = false;
	if (o->layers == 0)
		whole[1] = o->tag;
	for (unsigned int i = 0; msg != NULL && i < o->layers; i++)
		msg = inband_unwrap(msg, &len);
	/* A switch on the way that could not send it on is as good as no answer. */
	if (msg == NULL || len < WEFT_CCI_HDR || weft_get_le16(msg + 3) != o->opcode)
		return;
	b->place[o->path].misses = 0;
	weft_fm_answer(fm, o->path, msg, len, now_ns);
}

void
inband_receive(struct inband *b, struct weft_fm *fm, uint64_t now_ns)
{
	uint8_t packet[INBAND_HEAD + INBAND_MESSAGE + 1];
	size_t n;

	for (unsigned int k = 0;
		k < 64 && (n = peer_receive(&b->port, packet, sizeof(packet))) != 0; k++)
		if (n >= INBAND_HEAD + WEFT_CCI_HDR)
			inband_take(b, fm, packet, n, now_ns);
}
