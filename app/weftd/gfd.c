/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD: memory behind a port. It answers hosts of the topology, each in a session of its own; a
 * new session of a host ends the one before. Its memory is of huge pages where there are any, and
 * on the NUMA node of the lcore that serves it; a crossing is reported.
 */

#include "daemon.h"

#include <errno.h>
#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#define ATC_SETS_1G 16 /* x 8 ways: the segments of 128 GFDs */
#define HUGE_PAGE (UINT64_C(2) << 20)

static void
gfd_message(void *arg, const struct weft_msg *m)
{
	struct node *n = arg;
	struct weft_msg reply;
	struct peer *p;
	enum weft_verdict v;

	if (m->kind == WEFT_MSG_LLCTRL)
		return;
	v = weft_gfd_request(&n->gfd, m, &reply);
	p = v == WEFT_OK ? peer_find(n, reply.dpid) : NULL;
	/* The message must be the connection's own: nobody asks in another's name. */
	if (v == WEFT_OK && (p == NULL || p->tx == NULL || p->state != PEER_UP))
		v = WEFT_DROP_NO_CONN;
	if (v == WEFT_OK)
		peer_send(p, &reply);
	else
		n->drops[v]++;
}

static void
gfd_hello(struct node *n, struct peer *p, uint32_t session, const struct weft_control *theirs)
{
	enum weft_control_param differs;
	struct weft_control ours;

	peer_parameters(n, &ours);
	differs = weft_control_compare(&ours, theirs);
	if (differs == WEFT_PARAM_NONE && p->state == PEER_UP && p->session == session) {
		peer_send_control(p, WEFT_CONTROL_WELCOME, WEFT_PARAM_NONE);
		return; /* our answer was lost, or is still on its way */
	}
	peer_down(p);
	p->session = session;
	if (differs != WEFT_PARAM_NONE) {
		peer_send_control(p, WEFT_CONTROL_REFUSE, differs);
		return;
	}
	if (peer_up(p, session) != 0) {
		n->drops[WEFT_DROP_CONN_LIMIT]++;
		return;
	}
	p->max_flits = (uint8_t)weft_topo_path_flits(n->daemon->topo, p->topo_node, n->index);
	if (theirs->max_flits < p->max_flits)
		p->max_flits = theirs->max_flits;
	__atomic_store_n(&p->state, PEER_UP, __ATOMIC_RELAXED);
	peer_send_control(p, WEFT_CONTROL_WELCOME, WEFT_PARAM_NONE);
}

static void
gfd_control(struct node *n, struct rte_mbuf *m)
{
	const struct weft_wire_hdr *h = &weft_frame(m)->hdr;
	struct peer *p = peer_find(n, h->spid);
	struct weft_control c;
	enum weft_verdict v =
		weft_control_parse(rte_pktmbuf_mtod_offset(m, const uint8_t *, WEFT_WIRE_FLITS_OFF),
			rte_pktmbuf_data_len(m) - (size_t)WEFT_WIRE_FLITS_OFF, &c);

	if (v == WEFT_OK && p == NULL)
		v = WEFT_DROP_NO_CONN;
	if (v == WEFT_OK && h->session == 0)
		v = WEFT_DROP_SESSION;
	if (v != WEFT_OK) {
		n->drops[v]++;
		return;
	}
	if (c.type == WEFT_CONTROL_HELLO)
		gfd_hello(n, p, h->session, &c);
	else if (c.type == WEFT_CONTROL_GOODBYE && h->session == p->session)
		peer_down(p);
}

static void
gfd_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;

	/* Flits first: a HELLO in the same burst may end the connection that they point to. */
	for (uint16_t i = 0; i < n; i++) {
		struct weft_frame *f = weft_frame(pkt[i]);

		/* A frame may have waited in a ring while its session ended. */
		if (f->hdr.kind == WEFT_WIRE_FLITS && f->conn->user != NULL)
			peer_receive(f->conn->user, pkt[i], gfd_message, node);
	}
	for (uint16_t i = 0; i < n; i++)
		if (weft_frame(pkt[i])->hdr.kind == WEFT_WIRE_CONTROL)
			gfd_control(node, pkt[i]);
	rte_pktmbuf_free_bulk(pkt, n);
}

unsigned int
gfd_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked = backlog_flush(&n->out[0]);

	n->now_ns = node_now_ns();
	/* While answers wait for the port no requests are taken in. */
	if (n->out[0].n == 0)
		for (unsigned int s = 0; s < weft_pipe_segments(n->rx); s++)
			worked += weft_pipe_poll(n->rx, s);
	for (uint16_t i = 0; i < n->n_peers; i++)
		peer_flush(&n->peer[i]);
	return worked;
}

/* Every host may reach the segments of all GFDs; finer rights are another layer's. */
static void
gfd_walk(void *arg, uint16_t ctx, uint64_t va, struct weft_walk *w)
{
	const struct node *n = arg;

	(void)ctx;
	memset(w, 0, sizeof(*w));
	if (va < n->fast.base || va >= n->fast.limit)
		return;
	w->log2 = (uint8_t)weft_atc_class_log2(WEFT_ATC_1G);
	w->va = va & ~weft_mask64(w->log2);
	w->pa = w->va;
	w->flags = WEFT_ATC_R | WEFT_ATC_W;
}

static int
gfd_atc(struct node *n)
{
	struct weft_atc_cfg cfg = {
		.sets = { [WEFT_ATC_1G] = ATC_SETS_1G },
		.contexts = WEFT_CONNS_MAX,
		.kernel = n->daemon->atc,
	};
	void *mem = rte_zmalloc("weft_atc", weft_atc_size(&cfg), WEFT_CACHE_LINE);

	n->env.atc = mem == NULL ? NULL : weft_atc_init(mem, &cfg);
	n->env.walk = gfd_walk;
	n->env.walk_arg = n;
	return n->env.atc == NULL ? -ENOMEM : 0;
}

static void *
gfd_map(size_t len, bool *huge)
{
	void *mem = MAP_FAILED;

	*huge = false;
	if (len % HUGE_PAGE == 0)
		mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (mem != MAP_FAILED) {
		*huge = true;
		return mem;
	}
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Put the memory on the node that serves it, unless the topology says where; report a crossing. */
static void
gfd_place(struct node *n, bool huge)
{
	int serves = (int)rte_lcore_to_socket_id(n->lcore), want = n->topo->numa;

	if (want < 0)
		want = serves;
	if (numa_available() >= 0 && want <= numa_max_node())
		numa_tonode_memory(n->memory, n->memory_len, want);
	if (n->daemon->cfg.quiet)
		return;
	printf("node %s: %zu bytes of %s pages on NUMA node %d%s\n", n->topo->name, n->memory_len,
		huge ? "huge" : "ordinary", want,
		want == serves ? "" : ", served from another node: every access crosses");
}

static int
gfd_memory(struct node *n, char *err, size_t err_len)
{
	const struct weft_topo *t = n->daemon->topo;
	bool huge;
	uint64_t *poison;
	void *mem = gfd_map(n->topo->memory, &huge);

	if (mem == MAP_FAILED) {
		snprintf(err, err_len, "gfd %s: memory of %llu bytes: %s", n->topo->name,
			(unsigned long long)n->topo->memory, strerror(errno));
		return -ENOMEM;
	}
	n->memory = mem;
	n->memory_len = n->topo->memory;
	gfd_place(n, huge);
	poison = calloc(1, weft_gfd_poison_size(n->memory_len));
	if (poison == NULL || weft_gfd_init(&n->gfd, n->topo->pid, weft_topo_hpa(t, n->topo->order),
				      mem, n->memory_len, poison) != 0) {
		free(poison);
		snprintf(err, err_len, "gfd %s: out of memory", n->topo->name);
		return -ENOMEM;
	}
	return 0;
}

int
gfd_init(struct node *n, char *err, size_t err_len)
{
	const struct weft_topo *t = n->daemon->topo;
	struct weft_pipe_cfg cfg = {
		.name = n->topo->name,
		.layout = n->daemon->cfg.rx_layout,
		.env = &n->env,
		.source = node_source,
		.source_arg = n,
		.sink = gfd_sink,
		.sink_arg = n,
		.socket = SOCKET_ID_ANY,
	};
	int rc;

	n->n_peers = t->n_hosts;
	n->peer = calloc((size_t)n->n_peers + 1, sizeof(*n->peer));
	if (n->peer == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < n->n_peers; i++) {
		n->peer[i].node = n;
		n->peer[i].topo_node = t->host[i];
		n->peer[i].pid = t->node[t->host[i]].pid;
	}
	n->env.take_control = true;
	rc = node_fast(n, err, err_len);
	if (rc == 0)
		rc = gfd_atc(n);
	if (rc == 0)
		rc = gfd_memory(n, err, err_len);
	if (rc != 0)
		return rc;
	n->rx = weft_pipe_create(&cfg, err, err_len);
	return n->rx == NULL ? -EINVAL : 0;
}

void
gfd_fini(struct node *n)
{
	free(n->gfd.poison);
	rte_free(n->env.atc);
	if (n->memory != NULL)
		munmap(n->memory, n->memory_len);
}
