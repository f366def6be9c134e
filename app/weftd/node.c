/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What all kinds of node have: tables, kernels, connections, the way out. */

#include "daemon.h"
#include "backlog.h"
#include "conn.h"
#include "duplicate.h"
#include "fabric.h"
#include "gfd.h"
#include "ingress.h"
#include "inject.h"
#include "manage.h"
#include "notes.h"
#include "segments.h"
#include "transfer.h"
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#define FETCHED (RTE_PKTMBUF_HEADROOM + WEFT_WIRE_FLITS_OFF + WEFT_FLIT_LEN) /* of a frame */
#define OBJECT_MAX (UINT64_C(8) << 20) /* of DPDK's memory */

/* Frames go point to point: the addresses only have to be valid and tell who sent them. */
static const uint8_t mac_prefix[4] = { 0x02, 'W', 'E', 'F' };
static const uint8_t mac_group[6] = { 0x03, 'W', 'E', 'F', 'T', 0 };

/* Many at a time. Zeros early on a machine that just booted: the session is tried again. */
static uint64_t
node_random(void *node)
{
	struct node_random *r = &((struct node *)node)->random;
	uint64_t bits;

	if (r->left == 0) {
		if (getrandom(r->bits, sizeof(r->bits), 0) != sizeof(r->bits))
			return 0;
		r->left = WEFT_ARRAY_SIZE(r->bits);
	}
	bits = r->bits[--r->left];
	r->bits[r->left] = 0;
	return bits;
}

/*
 * Of huge pages where DPDK has them: ends, tags and what is known of lines are looked at all the
 * time. What it has no room for is of the process, with its block just before it; and all where
 * there are none, as DPDK writes zeros to what is freed, also to what nobody ever used.
 */
static void *
node_alloc(void *node, size_t len)
{
	const bool is_huge = len <= OBJECT_MAX && rte_eal_has_hugepages();
	void *mem = is_huge ? rte_zmalloc("weft_node", len, WEFT_CACHE_LINE) : NULL;
	uintptr_t at;
	void *block;

	(void)node;
	if (mem != NULL)
		return mem;
	block = calloc(1, len + 2 * WEFT_CACHE_LINE);
	if (block == NULL)
		return NULL;
	at = ((uintptr_t)block + 2 * WEFT_CACHE_LINE - 1) & ~(uintptr_t)(WEFT_CACHE_LINE - 1);
	((void **)at)[-1] = block;
	return (void *)at;
}

static void
node_free(void *node, void *mem)
{
	(void)node;
	if (mem == NULL || rte_mem_virt2memseg_list(mem) != NULL)
		rte_free(mem);
	else
		free(((void **)mem)[-1]);
}

static const struct weft_node_world node_world = {
	.random = node_random,
	.alloc = node_alloc,
	.free = node_free,
	.map = memory_map,
	.unmap = memory_unmap,
	.read_file = transfer_read_file,
	.link_cfg = conn_cfg,
	.send_control = node_send_control,
};

/* Nanoseconds of a cycle in units of 2^-CLOCK_SHIFT, whatever a TSC of 1 MHz or more does. */
#define CLOCK_SHIFT 54

uint64_t
node_now_ns(void)
{
	static uint64_t cycle;
	const uint64_t tsc = rte_rdtsc();

	if (cycle == 0)
		cycle = (uint64_t)(((unsigned __int128)1000000000 << CLOCK_SHIFT) /
				   rte_get_tsc_hz());
	return (uint64_t)((unsigned __int128)tsc * cycle >> CLOCK_SHIFT);
}

/*
 * As long as bursts are full, one for each port and link: nodes of the same lcore at the other ends
 * of all of them send that much before this one is polled again.
 */
static unsigned int
node_poll_segment(struct node *n, unsigned int segment)
{
	unsigned int left = 1u + n->n_ports + n->node->n_links;
	unsigned int worked = 0, took;

	do {
		took = weft_pipe_poll(n->rx, segment);
		worked += took;
	} while (took >= WEFT_BURST_MAX && --left != 0);
	return worked;
}

unsigned int
node_poll_rx(struct node *n)
{
	unsigned int worked = n->notes == NULL ? 0 : notes_poll(n);

	for (unsigned int own = n->own.rx; own != 0; own &= own - 1)
		worked += node_poll_segment(n, (unsigned int)__builtin_ctz(own));
	return worked;
}

/* The first segment has no ring before it: bursts are pushed. */
void
node_poll_tx(struct node *n)
{
	for (unsigned int own = n->own.tx & ~1u; own != 0; own &= own - 1)
		while (weft_pipe_poll(n->tx, (unsigned int)__builtin_ctz(own)) != 0)
			;
}

bool
node_push_tx(struct node *n, struct rte_mbuf **pkt, uint16_t k)
{
	const bool took = weft_pipe_push(n->tx, pkt, k) == k;

	node_poll_tx(n);
	return took;
}

unsigned int
node_flush(struct node *n)
{
	unsigned int taken = 0;

	for (uint16_t p = 0; n->own.sends && p < n->n_ports; p++)
		taken += backlog_flush(&n->out[p]);
	return taken;
}

/*
 * Whether new requests may begin: neither the port nor a ring on the way to it holds back. Not of a
 * rxl switch.
 */
static bool
node_may_send(const struct node *n)
{
	return !backlog_waits(&n->out[0]) && weft_pipe_has_room(n->tx);
}

/* A frame with the records of a message, or NULL. */
static struct rte_mbuf *
node_make_control(struct node *n, const struct weft_control *c)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(n->pool);
	uint8_t *frame;

	if (m == NULL) {
		daemon_drop(n, WEFT_DROP_NO_MBUF, 1);
		return NULL;
	}
	memset(weft_frame(m), 0, sizeof(struct weft_frame));
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	rte_pktmbuf_append(m, WEFT_WIRE_FLITS_OFF);
	rte_pktmbuf_append(m, (uint16_t)weft_control_build(frame + WEFT_WIRE_FLITS_OFF, c));
	return m;
}

/* By the transmit pipeline, which is the way to the ports; a switch in rxl mode has none. */
static bool
node_send_frame(struct node *n, uint16_t port, const struct weft_wire_hdr *h, struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (n->tx != NULL) {
		weft_frame(m)->hdr = *h;
		weft_frame(m)->out_port = (int16_t)port;
		if (node_push_tx(n, &m, 1))
			return true;
		daemon_drop(n, WEFT_DROP_TX_FULL, 1);
		rte_pktmbuf_free(m);
		return false;
	}
	memcpy(frame, n->env.dst_mac, sizeof(n->env.dst_mac));
	link_mac(n->daemon->topo, n->topo->first_port + port, frame + sizeof(n->env.dst_mac));
	weft_wire_build(frame, h);
	backlog_send(&n->out[port], &m, 1);
	return true;
}

bool
node_send_control(
	void *node, uint16_t port, const struct weft_wire_hdr *h, const struct weft_control *c)
{
	struct rte_mbuf *m = node_make_control(node, c);

	return m != NULL && node_send_frame(node, port, h, m);
}

/* Flits that the MTU has room for: the buffer has too. */
bool
node_send_management(struct node *n, uint16_t port, const uint8_t *flits, unsigned int n_flits)
{
	const struct weft_control c = { .type = WEFT_CONTROL_MANAGEMENT,
		.padded = (uint8_t)(1 + n_flits) };
	const struct weft_wire_hdr h = { .kind = WEFT_WIRE_CONTROL,
		.mode = n->daemon->topo->mode,
		.spid = WEFT_PID_NONE,
		.dpid = WEFT_PID_NONE };
	struct rte_mbuf *m = node_make_control(n, &c);

	if (m == NULL)
		return false;
	memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, WEFT_WIRE_FRAME_LEN(1)), flits,
		(size_t)n_flits * WEFT_FLIT_LEN);
	return node_send_frame(n, port, &h, m);
}

/*
 * Of many frames under way most have left the nearer caches. Where the bytes of one begin follows
 * from the pool, so nothing of it is read here.
 */
static void
node_prefetch(const struct node *n, struct rte_mbuf *const *pkt, uint16_t k)
{
	const size_t frame = sizeof(struct rte_mbuf) + rte_pktmbuf_priv_size(n->pool);

	for (uint16_t i = 0; i < k; i++)
		for (size_t at = 0; at < frame + FETCHED; at += WEFT_CACHE_LINE)
			rte_prefetch0((const uint8_t *)pkt[i] + at);
}

static uint16_t
node_source(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;
	uint16_t got = 0;

	/* One turn over the ports at most; the next burst begins where this one ended. */
	for (uint16_t i = 0; i < node->n_ports && got < n; i++) {
		uint16_t port = node->next_port;
		uint16_t more = weft_port_rx(node->port[port], pkt + got, (uint16_t)(n - got));

		if (more != 0 && backlog_is_held(&node->out[port])) {
			backlog_drop(&node->out[port], pkt + got, more);
			more = 0;
		}
		node_prefetch(node, pkt + got, more);
		for (uint16_t k = got; k < got + more; k++)
			weft_frame(pkt[k])->in_port = port;
		got = (uint16_t)(got + more);
		node->next_port = (uint16_t)(port + 1 == node->n_ports ? 0 : port + 1);
	}
	return got;
}

/*
 * A switch in rxl mode: frames leave by the port that `route` found, in the buffers they came in.
 */
static void
node_relay_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;
	uint16_t first = 0;

	/* Frames for one port come in runs: send each run at once. */
	for (uint16_t i = 1; i <= n; i++) {
		int16_t port = weft_frame(pkt[first])->out_port;

		if (i < n && weft_frame(pkt[i])->out_port == port)
			continue;
		if (port >= 0) {
			backlog_send(&node->out[port], pkt + first, (uint16_t)(i - first));
		} else {
			/* DPID FFFh: for the switch itself, which takes nothing yet. */
			daemon_drop(node, WEFT_DROP_NO_ROUTE, (uint64_t)(i - first));
			rte_pktmbuf_free_bulk(pkt + first, (unsigned int)(i - first));
		}
		first = i;
	}
}

/* A switch in rxl mode: flits are gone, whose sender is to be told. */
static void
node_lost(void *arg, const struct weft_wire_hdr *h, unsigned int flits)
{
	const struct note note = { .kind = NOTE_LOST, .hdr = *h, .flits = flits };

	note_send(arg, &note);
}

/* The receive pipeline, from the ports in turn. */
static int
node_init_rx(struct node *n, char *err, size_t err_len)
{
	const bool has_links = n->node->kind->has_links;
	struct weft_pipe_cfg cfg = {
		.name = n->topo->name,
		.layout = has_links ? n->daemon->cfg.rx_layout : n->daemon->cfg.switch_layout,
		.env = &n->env,
		.source = node_source,
		.source_arg = n,
		.sink = has_links ? conns_sink : node_relay_sink,
		.sink_arg = n,
		.socket = SOCKET_ID_ANY,
	};

	n->env.take_control = true;
	n->env.deliver.message = n->node->kind->message;
	n->env.deliver.ahead = n->node->kind->ahead;
	n->env.lost = node_lost;
	n->env.lost_arg = n;
	/*
	 * At a GFD the route stage compares addresses with the DPID of the frame. In cxl mode there
	 * is none: requests are judged where they are answered.
	 */
	if (n->topo->kind == WEFT_TOPO_GFD && !daemon_is_cxl(n->daemon))
		n->env.edge = 0;
	n->rx = weft_pipe_create(&cfg, err, err_len);
	return n->rx == NULL ? -EINVAL : 0;
}

static void
node_tx_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;

	/* Of the other mode: an answer to somebody whose file differs (misfit.c). */
	for (uint16_t i = 0; i < n; i++)
		if (weft_frame(pkt[i])->hdr.mode == WEFT_MODE_CXL)
			link_put_port(pkt[i], 0);
	backlog_send(&node->out[0], pkt, n);
}

/* Whoever has retry domains: the table of their directions, and a pipeline out. */
static int
node_init_end(struct node *n, char *err, size_t err_len)
{
	char name[WEFT_TOPO_NAME_ROOM + 8];
	const bool cxl = daemon_is_cxl(n->daemon);
	struct weft_pipe_cfg cfg = {
		.name = name,
		.layout = n->daemon->cfg.tx_layout,
		.env = &n->env,
		.sink = cxl ? link_sink : node_tx_sink,
		.sink_arg = n,
		.socket = SOCKET_ID_ANY,
	};

	/* Two directions for each peer. */
	n->conns = weft_conns_create(n->topo->name,
		2u * (cxl ? n->n_ports : n->daemon->topo->n_nodes), NULL, SOCKET_ID_ANY);
	if (n->conns == NULL)
		return weft_errorf(err, err_len, -rte_errno, "node %s: connection table: %s",
			n->topo->name, rte_strerror(rte_errno));
	n->env.conns = n->conns;
	n->env.pid = cxl ? WEFT_PID_ANY : n->topo->pid;
	n->env.ends.know_session = true;
	n->env.ends.rx_apart = segments_apart(n, WEFT_ENDS_LLR_RX);
	n->env.ends.ide_apart = segments_apart(n, WEFT_ENDS_IDE_RX);
	n->env.now_ns = &n->node->ends_ns;
	n->env.ends.pool = n->pool;
	n->env.deliver.arriving = weft_node_arriving;
	n->env.random = node_random;
	n->env.random_arg = n;
	snprintf(name, sizeof(name), "%s-tx", n->topo->name);
	n->tx = weft_pipe_create(&cfg, err, err_len);
	return n->tx == NULL ? -rte_errno : 0;
}

/* What stands above the frames, before it has tables or links. */
static struct weft_node *
node_above(struct node *n)
{
	struct weft_node *above = node_alloc(n, sizeof(*above));
	const struct daemon *d = n->daemon;

	if (above != NULL)
		above->cfg = (struct weft_node_cfg){
			.world = &node_world,
			.world_arg = n,
			.topo = d->topo,
			.load = d->load,
			.index = n->index,
			.tables = &n->tables.slot,
			.ingress = n->ingress.rule,
			.ingress_drops = n->ingress.drops,
			.atc = d->atc,
			.sig = d->sig,
			.run = d->run,
		};
	return above;
}

int
node_init(struct node *n, char *err, size_t err_len)
{
	struct daemon *d = n->daemon;
	int rc;

	snprintf(err, err_len, "node %s: out of memory", n->topo->name);
	n->out = rte_zmalloc("weft_out", n->n_ports * sizeof(*n->out), WEFT_CACHE_LINE);
	n->port = calloc(n->n_ports, sizeof(*n->port));
	if (n->out == NULL || n->port == NULL)
		return -ENOMEM;
	for (uint16_t p = 0; p < n->n_ports; p++) {
		n->port[p] = d->port[n->topo->first_port + p];
		n->out[p].port = n->port[p];
	}
	n->env = (struct weft_env){
		.node = n->topo->name,
		.only_mode = d->topo->mode,
		.pid = WEFT_PID_ANY,
		.fec = d->fec,
		.crc = d->crc,
		.req_scan = d->req_scan,
		.tables = &n->tables.slot,
		.edge = UINT16_MAX,
		.misfit = misfit_came,
		.misfit_arg = n,
		.neighbour = duplicate_came,
		.neighbour_arg = n,
	};
	memcpy(n->env.src_mac, mac_prefix, sizeof(mac_prefix));
	weft_put_be16(n->env.src_mac + sizeof(mac_prefix), n->topo->pid);
	memcpy(n->env.dst_mac, mac_group, sizeof(mac_group));
	rc = ingress_init(n);
	if (rc == 0)
		rc = links_watch_init(n);
	if (rc != 0)
		return rc;
	n->node = node_above(n);
	if (n->node == NULL)
		return -ENOMEM;
	rc = fabric_tables(n, err, err_len);
	if (rc == 0)
		rc = fabric_access(n, err, err_len);
	if (rc == 0 && weft_node_kind_of(d->topo, n->index)->has_links)
		rc = node_init_end(n, err, err_len);
	if (rc == 0)
		rc = conns_init(n, err, err_len);
	if (rc == 0)
		rc = node_init_rx(n, err, err_len);
	return rc == 0 ? segments_init(n) : rc;
}

struct node *
node_find(const struct daemon *d, const char *name)
{
	for (uint16_t i = 0; name != NULL && i < d->n_nodes; i++)
		if (strcmp(d->node[i].topo->name, name) == 0)
			return &d->node[i];
	return NULL;
}

bool
node_is_paused(const struct node *n)
{
	return node_now_ns() < __atomic_load_n(&n->own.paused_until_ns, __ATOMIC_RELAXED);
}

/* Its time is over by the node's own clock: nobody else need be there to end it. */
static bool
node_stays_paused(struct node *n)
{
	uint64_t until_ns = __atomic_load_n(&n->own.paused_until_ns, __ATOMIC_RELAXED);

	if (node_is_paused(n))
		return true;
	__atomic_compare_exchange_n(
		&n->own.paused_until_ns, &until_ns, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return false;
}

/* A port or a ring that takes nothing holds back new requests; answers are taken all the same. */
unsigned int
node_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked;

	if (__atomic_load_n(&n->own.paused_until_ns, __ATOMIC_RELAXED) != 0 && node_stays_paused(n))
		return 0;
	worked = node_flush(n);
	if (__builtin_expect(n->own.manage != NULL, 0))
		worked += manage_send_due(n);
	weft_node_time(n->node, node_now_ns());
	worked += node_poll_rx(n);
	worked += weft_node_poll(n->node, n->tx != NULL && node_may_send(n));
	return worked + conns_flush(n);
}

void
node_fini(struct node *n)
{
	weft_pipe_free(n->rx);
	weft_pipe_free(n->tx);
	conns_fini(n);
	segments_fini(n);
	weft_conns_free(n->conns);
	for (uint16_t p = 0; p < n->n_ports && n->out != NULL; p++)
		backlog_free(&n->out[p]);
	fabric_fini(n);
	ingress_fini(n);
	duplicates_fini(n);
	manage_fini(n);
	rte_free(n->out);
	free(n->link_watch);
	free(n->told.requests);
	free(n->port);
	node_free(n, n->node);
}
