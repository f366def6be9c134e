/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD: memory behind a port. It answers hosts of the topology, each in a connection of its own (in
 * cxl mode all on its link); a request waits where its answer would have no room. Its memory is of huge pages where there are any, and
 * on the NUMA node of the lcore that serves it; a crossing is reported.
 */

#include "daemon.h"

#include <errno.h>
#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <rte_lcore.h>

#define HUGE_PAGE (UINT64_C(2) << 20)

/* A response may be either: with room for both, no request is executed and then not answered. */
static bool
gfd_can_answer(const struct weft_node_link *p)
{
	return weft_end_can_send(p->end, WEFT_MSG_S2M_NDR) &&
	       weft_end_can_send(p->end, WEFT_MSG_S2M_DRS);
}

/* Data that turns out bad is poisoned behind its header, or in it where the window has no room. */
static enum weft_verdict
gfd_answer(struct weft_node_link *p, struct weft_msg *reply, bool turns_bad)
{
	const bool late = turns_bad && weft_end_can_poison(p->end);
	int rc;

	reply->poison |= turns_bad && !late;
	if (weft_end_send(p->end, reply) != 0)
		return WEFT_DROP_TX_FULL; /* cannot be: it was asked before */
	rc = late ? weft_end_poison(p->end) : 0;
	assert(rc == 0);
	(void)rc;
	return WEFT_OK;
}

/* False: it has to wait, for a credit or for the window. */
static bool
gfd_message(void *arg, const struct weft_msg *m)
{
	struct weft_node_link *p = arg;
	struct node *n = daemon_node(p->node);
	struct weft_msg reply;
	enum weft_verdict v;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	if (!gfd_can_answer(p))
		return false;
	p->due_ns = 0;
	/* The message must be the host's own: nobody asks, or writes, in another's name. */
	if (p->is_host && m->spid != p->pid)
		return weft_node_refuse(p, m->spid);
	v = weft_gfd_request(&n->gfd, m, &reply);
	if (v == WEFT_OK)
		v = gfd_answer(p, &reply, n->gfd.turns_bad);
	if (v != WEFT_OK)
		n->node->drops[v]++;
	return true;
}

/* Requests that had to wait. */
static void
gfd_waiting(struct weft_node_link *p)
{
	static const enum weft_msg_kind kinds[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD };

	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(kinds); k++) {
		const struct weft_msg *m;

		while ((m = weft_end_peek(p->end, kinds[k])) != NULL && gfd_message(p, m))
			weft_end_pop(p->end, kinds[k]);
	}
}

unsigned int
gfd_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked = node_flush(n);

	weft_node_time(n->node, node_now_ns());
	n->guard.now_ns = n->node->now_ns;
	late_poll(n);
	worked += node_poll_rx(n);
	for (uint16_t i = 0; i < n->node->n_links; i++) {
		struct weft_node_link *p = &n->node->link[i];

		weft_node_link_ended(p);
		weft_node_link_began(p);
		gfd_waiting(p);
	}
	uio_poll(n, false);
	return worked + peers_flush(n);
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
	if (n->daemon->cfg.no_text)
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
	if (late_init(n) != 0) {
		snprintf(err, err_len, "gfd %s: out of memory", n->topo->name);
		return -ENOMEM;
	}
	return 0;
}

int
gfd_init(struct node *n, char *err, size_t err_len)
{
	const bool cxl = daemon_is_cxl(n->daemon);
	int rc;

	n->env.message = gfd_message;
	/*
	 * The route stage compares addresses with the DPID of the frame. In cxl mode there is none:
	 * requests are judged where they are answered.
	 */
	if (!cxl)
		n->env.edge = 0;
	rc = gfd_memory(n, err, err_len);
	if (rc == 0)
		rc = fabric_access(n, err, err_len);
	if (rc == 0)
		rc = peers_init(n, err, err_len);
	if (rc == 0)
		rc = uio_init(n, err, err_len);
	if (rc != 0)
		return rc;
	return node_rx(n, n->daemon->cfg.rx_layout, peers_sink, err, err_len);
}

void
gfd_fini(struct node *n)
{
	late_fini(n);
	free(n->gfd.poison);
	if (n->memory != NULL)
		munmap(n->memory, n->memory_len);
}
