/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What an operator hears of links: up and down, silent, with an MTU that became too small, and that
 * a way is dead while another one is there that nobody takes. Looked at once a second; what lasts
 * for less than two looks is no news, nor is a host or device that leaves.
 */

#include "watch.h"
#include "backlog.h"
#include "duplicate.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "event.h"

#define LOOKS 2 /* in a row, before it is said */

enum link_state { LINK_WAITS, LINK_UP, LINK_DOWN };

static const char *const state_words[] = {
	[LINK_WAITS] = "waits",
	[LINK_UP] = "up",
	[LINK_DOWN] = "down",
};

/* A port, as the control thread saw it. */
struct link_watch {
	uint8_t state; /* enum link_state; WAITS: it was never up */
	uint8_t down_looks; /* in a row that found it down */
	uint8_t silent_looks; /* that found frames sent and none received */
	bool told_down, told_silent, told_mtu, told_way;
	bool was_heard; /* a frame came since the links or routes changed last */
	unsigned int mtu; /* of the kernel's interface; 0: not known */
	uint64_t rx, tx; /* frames at the last look */
	uint64_t rx_ns; /* when some came last */
	uint64_t since_ns; /* of the present state */
	double since; /* the same in seconds since 1970 */
	uint64_t updates; /* changes of routes at the last look */
};

static const struct weft_topo_port *
watch_topo_port(const struct node *n, unsigned int port)
{
	return &n->daemon->topo->port[n->topo->first_port + port];
}

static const struct weft_topo_node *
watch_behind(const struct node *n, unsigned int port)
{
	const struct weft_topo *t = n->daemon->topo;

	return &t->node[t->neighbour[n->topo->first_port + port]];
}

int
links_watch_init(struct node *n)
{
	struct weft_netif netif;

	n->link_watch = calloc(n->n_ports, sizeof(*n->link_watch));
	if (n->link_watch == NULL)
		return -ENOMEM;
	for (uint16_t p = 0; p < n->n_ports; p++) {
		if (watch_topo_port(n, p)->device_kind != WEFT_TOPO_NETIF)
			continue;
		(void)weft_netif_look(watch_topo_port(n, p)->device, &netif);
		n->link_watch[p].mtu = netif.mtu;
	}
	return 0;
}

/* A host or device comes and goes; what a host's or device's own link leads to does not. */
static bool
watch_is_news(const struct node *n, unsigned int port)
{
	const uint8_t kind = watch_behind(n, port)->kind;

	return kind != WEFT_TOPO_HOST && kind != WEFT_TOPO_DEVICE;
}

static void
link_set(struct link_watch *w, enum link_state state, uint64_t now_ns)
{
	struct timespec t;

	if (w->state == state)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	w->state = (uint8_t)state;
	w->since_ns = now_ns;
	w->since = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
watch_up(const struct node *n, unsigned int port, bool is_up, uint64_t now_ns)
{
	struct link_watch *w = &n->link_watch[port];
	const char *peer = watch_behind(n, port)->name;
	char since[48];

	if (is_up) {
		if (w->told_down)
			event_put(watch_is_news(n, port) ? EVENT_LINK_UP : EVENT_PEER_LEFT,
				n->topo->name, peer, 1, "port %u (%s): the link is up after %.1f s",
				port, peer, (double)(now_ns - w->since_ns) / 1e9);
		if (w->state != LINK_UP)
			duplicates_ask(n);
		w->told_down = false;
		w->down_looks = 0;
		link_set(w, LINK_UP, now_ns);
		return;
	}
	/* Up and down again between two looks: it has been used. */
	if (w->state != LINK_WAITS || n->ingress.seen[port].frames != 0)
		link_set(w, LINK_DOWN, now_ns);
	if (w->state == LINK_WAITS || w->told_down || ++w->down_looks < LOOKS)
		return;
	w->told_down = true;
	event_put(watch_is_news(n, port) ? EVENT_LINK_DOWN : EVENT_PEER_LEFT, n->topo->name, peer,
		1, "port %u (%s): the link is down %s", port, peer,
		event_since(since, sizeof(since), now_ns - w->since_ns));
}

/* Bytes behind the Ethernet header of the largest frame that is sent there. */
static unsigned int
watch_needed_mtu(const struct node *n, unsigned int port)
{
	const struct weft_topo *t = n->daemon->topo;

	return WEFT_WIRE_HDR_LEN +
	       WEFT_WIRE_FLIT_LEN * weft_topo_link_flits(t, n->topo->first_port + port);
}

static void
watch_mtu(const struct node *n, unsigned int port, unsigned int mtu)
{
	struct link_watch *w = &n->link_watch[port];
	const unsigned int need = watch_needed_mtu(n, port);
	const char *netif = watch_topo_port(n, port)->device;
	const char *peer = watch_behind(n, port)->name;

	if (mtu < need && !w->told_mtu)
		event_put(EVENT_MTU_SHRANK, n->topo->name, peer, 1,
			"port %u (%s): interface %s has MTU %u now, it had %u: frames up to %u "
			"bytes "
			"do not pass any more",
			port, peer, netif, mtu, w->mtu, need);
	else if (mtu >= need && w->told_mtu)
		event_put(EVENT_MTU_BACK, n->topo->name, peer, 1,
			"port %u (%s): interface %s has MTU %u again", port, peer, netif, mtu);
	w->told_mtu = mtu < need;
	w->mtu = mtu;
}

/* What is sent there gets no answer of any kind: all that a switch without sessions can see. */
static void
watch_silence(const struct node *n, unsigned int port, uint64_t now_ns)
{
	struct link_watch *w = &n->link_watch[port];
	const char *peer = watch_behind(n, port)->name;
	const uint64_t rx = __atomic_load_n(&n->ingress.seen[port].frames, __ATOMIC_RELAXED);
	const bool is_heard = rx != w->rx;
	struct weft_port_stats st;
	char since[48];

	weft_port_stats(n->port[port], &st);
	if (is_heard || st.tx_frames == w->tx || !w->was_heard || w->state != LINK_UP)
		w->silent_looks = 0;
	else if (w->silent_looks < LOOKS)
		w->silent_looks++;
	if (w->silent_looks == LOOKS && !w->told_silent) {
		w->told_silent = true;
		event_put(watch_is_news(n, port) ? EVENT_LINK_SILENT : EVENT_PEER_LEFT,
			n->topo->name, peer, 1,
			"port %u (%s): frames go there and none comes back %s", port, peer,
			event_since(since, sizeof(since), now_ns - w->rx_ns));
	} else if (is_heard && w->told_silent) {
		w->told_silent = false;
		event_put(watch_is_news(n, port) ? EVENT_LINK_UP : EVENT_PEER_LEFT, n->topo->name,
			peer, 1, "port %u (%s): frames come again after %.1f s", port, peer,
			(double)(now_ns - w->rx_ns) / 1e9);
	}
	w->rx_ns = is_heard || w->rx_ns == 0 ? now_ns : w->rx_ns;
	w->was_heard = w->was_heard || is_heard;
	w->rx = rx;
	w->tx = st.tx_frames;
}

/* Whether the topology has a way from the node to another that does not begin at @p dead. */
static bool
watch_has_other_way(const struct weft_topo *t, const struct node *n, unsigned int dead,
	unsigned int to, uint16_t *queue, bool *seen)
{
	unsigned int head = 0, tail = 0;

	memset(seen, 0, t->n_nodes * sizeof(*seen));
	seen[n->index] = true;
	queue[tail++] = n->index;
	while (head < tail) {
		const uint16_t at = queue[head++];
		const struct weft_topo_node *node = &t->node[at];

		if (at == to)
			return true;
		if (at != n->index && !weft_topo_is_transit(t, at))
			continue;
		for (unsigned int p = 0; p < node->n_ports; p++) {
			const uint16_t next = t->neighbour[node->first_port + p];
			const bool is_open =
				at != n->index || (p != dead && n->link_watch[p].state == LINK_UP &&
							  !n->link_watch[p].told_silent);

			if (is_open && !seen[next]) {
				seen[next] = true;
				queue[tail++] = next;
			}
		}
	}
	return false;
}

/*
 * Ends that are reached by a port that is dead, though there is another way. Returns the first, or
 * -1.
 */
static int
watch_who_has_another_way(const struct node *n, unsigned int port, unsigned int *count)
{
	const struct weft_topo *t = daemon_now(n->daemon);
	uint16_t *queue = calloc(t->n_nodes, sizeof(*queue));
	bool *seen = calloc(t->n_nodes, sizeof(*seen));
	int first = -1;

	*count = 0;
	for (uint16_t i = 0; queue != NULL && seen != NULL && i < t->n_nodes; i++) {
		if (weft_topo_is_transit(t, i) || i == n->index ||
			weft_node_port(n->node, t->node[i].pid) != (int)port ||
			!watch_has_other_way(t, n, port, i, queue, seen))
			continue;
		first = first < 0 ? i : first;
		++*count;
	}
	free(queue);
	free(seen);
	return first;
}

static void
watch_way(const struct node *n, unsigned int port)
{
	struct link_watch *w = &n->link_watch[port];
	const bool is_dead = w->told_down || w->told_silent;
	unsigned int count;
	int first;

	if (!is_dead || w->told_way) {
		w->told_way = w->told_way && is_dead;
		return;
	}
	w->told_way = true;
	first = watch_who_has_another_way(n, port, &count);
	if (first < 0)
		return;
	event_put(EVENT_NO_WAY_AROUND, n->topo->name, watch_behind(n, port)->name, 1,
		"port %u (%s): %s%s is routed by it alone, though there is a way around", port,
		watch_behind(n, port)->name, n->daemon->topo->node[first].name,
		count > 1 ? " (and others)" : "");
}

static void
watch_link(const struct node *n, unsigned int port, uint64_t now_ns)
{
	const struct weft_topo_port *tp = watch_topo_port(n, port);
	struct link_watch *w = &n->link_watch[port];
	struct weft_netif netif;

	if (w->updates != n->daemon->updates) { /* frames may take other ways now */
		w->updates = n->daemon->updates;
		w->was_heard = w->told_way = false;
	}
	watch_up(
		n, port, weft_port_is_up(n->port[port]) && !backlog_is_held(&n->out[port]), now_ns);
	if (tp->device_kind == WEFT_TOPO_NETIF && weft_netif_look(tp->device, &netif) == 0)
		watch_mtu(n, port, netif.mtu);
	if (n->conns == NULL)
		watch_silence(n, port, now_ns);
}

void
links_watch(struct daemon *d)
{
	const uint64_t now_ns = node_now_ns();

	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];

		for (uint16_t p = 0; p < n->n_ports; p++)
			watch_link(n, p, now_ns);
		for (uint16_t p = 0; p < n->n_ports; p++)
			watch_way(n, p);
	}
}

json_t *
link_watch_json(const struct node *n, unsigned int port)
{
	const struct link_watch *w = &n->link_watch[port];

	return json_pack("{s:s, s:b, s:f, s:o}", "link", state_words[w->state], "silent",
		w->told_silent, "since", w->since, "mtu",
		w->mtu == 0 ? json_null() : json_integer(w->mtu));
}
