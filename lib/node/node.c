/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What all kinds of node have: weft_node.h. */

#include "node_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * A lost write: a link that flaps was seen to hold frames for 3 s, and messages wait in switches
 * while a link is down.
 */
static const struct weft_node_rules usual[] = {
	[WEFT_MODE_RXL] = { .credits = WEFT_NODE_CREDITS,
		.late_write_ns = UINT64_C(5000000000),
		.losses_ns = UINT64_C(10000000) },
	[WEFT_MODE_CXL] = { .credits = WEFT_NODE_CREDITS,
		.late_write_ns = UINT64_C(60000000000),
		.down_ns = UINT64_C(1000000000) },
};

bool
weft_node_offers_memory(const struct weft_topo_node *t)
{
	return t->kind == WEFT_TOPO_GFD || (t->kind == WEFT_TOPO_HOST && t->gim != 0) ||
	       (t->kind == WEFT_TOPO_DEVICE && t->memory != 0);
}

/* SESS-30 */
static int
node_draw_generation(struct weft_node *n, char *err, size_t err_len)
{
	if (!weft_node_offers_memory(n->topo) || n->generation != 0)
		return 0;
	n->generation = n->cfg.world->random(n->cfg.world_arg);
	if (n->generation != 0)
		return 0;
	return weft_errorf(err, err_len, -EIO, "node %s: no random bits", n->topo->name);
}

static int
node_init_services(struct weft_node *n, char *err, size_t err_len)
{
	bool has_packets = false;
	int rc = 0;

	for (unsigned int i = 0; i < NODE_SERVICES && rc == 0; i++) {
		const struct weft_node_service *s = weft_node_services[i];

		if (s->packet != NULL && has_packets)
			continue;
		rc = s->init(n, &n->service[i], err, err_len);
		has_packets = has_packets || (n->service[i] != NULL && s->packet != NULL);
	}
	return rc;
}

int
weft_node_init(struct weft_node *n, char *err, size_t err_len)
{
	const struct weft_node_cfg *cfg = &n->cfg;
	int rc;

	if (cfg->rules == NULL)
		n->cfg.rules = &usual[cfg->topo->mode];
	n->kind = weft_node_kind_of(cfg->topo, cfg->index);
	n->topo = &cfg->topo->node[cfg->index];
	n->load = &cfg->load->node[cfg->index];
	n->is_hbr = weft_node_is_cxl(n) && n->topo->kind != WEFT_TOPO_SWITCH &&
	            cfg->topo->port[n->topo->first_port].form == WEFT_FORM_HBR;
	rc = node_draw_generation(n, err, err_len);
	if (rc != 0)
		return rc;
	snprintf(err, err_len, "node %s: out of memory", n->topo->name);
	if (n->topo->kind == WEFT_TOPO_HOST || n->topo->kind == WEFT_TOPO_DEVICE) {
		n->clock = node_alloc(n, sizeof(*n->clock));
		if (n->clock == NULL)
			return -ENOMEM;
	}
	if (n->kind->state_len != 0) {
		n->state = node_alloc(n, n->kind->state_len);
		if (n->state == NULL)
			return -ENOMEM;
	}
	if (n->kind->has_links)
		rc = node_links_init(n, err, err_len);
	if (rc == 0 && n->kind->init != NULL)
		rc = n->kind->init(n, err, err_len);
	return rc == 0 ? node_init_services(n, err, err_len) : rc;
}

void
weft_node_fini(struct weft_node *n)
{
	if (n->kind == NULL)
		return;
	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL)
			weft_node_services[i]->fini(n, n->service[i]);
	if (n->kind->fini != NULL && n->state != NULL)
		n->kind->fini(n);
	for (uint16_t i = 0; i < n->n_links; i++) {
		if (n->link[i].end != NULL)
			weft_link_fini(n->link[i].end);
		node_free(n, n->link[i].end);
		node_free(n, n->link[i].waiting);
		node_free(n, n->link[i].edge);
	}
	node_free(n, n->link);
	node_free(n, n->due_ns);
	node_free(n, n->touched);
	node_free(n, n->link_of_pid);
	node_free(n, n->clock);
	node_free(n, n->state);
	node_free(n, n->hop);
	n->link = NULL;
	n->n_links = 0;
	n->kind = NULL;
}

static void
node_poll_links(struct weft_node *n)
{
	for (uint16_t i = 0; i < n->n_links && n->kind->links_meet; i++)
		node_poll_link(&n->link[i]);
	for (uint16_t w = 0; w * 64 < n->n_links && !n->kind->links_meet; w++) {
		uint64_t touched = n->touched[w];

		for (n->touched[w] = 0; touched != 0; touched &= touched - 1)
			node_poll_link(&n->link[w * 64 + __builtin_ctzll(touched)]);
	}
}

unsigned int
weft_node_poll(struct weft_node *n, bool may_ask)
{
	unsigned int worked;

	n->drain.holds = __atomic_load_n(&n->drain.is_asked, __ATOMIC_ACQUIRE);
	node_poll_links(n);
	if (!n->was_up)
		n->was_up = (n->go_ns != 0 && n->ends_ns >= n->go_ns) || weft_node_is_up(n);
	worked = n->kind->poll(n, may_ask);
	if (n->drain.holds)
		node_drain_look(n);
	return worked;
}

/* Of the clock of the ends @p passed_ns have passed. Receivers on other lcores look at it too. */
static void
node_pass_time(struct weft_node *n, uint64_t now_ns, uint64_t passed_ns)
{
	__atomic_store_n(&n->ends_ns, n->ends_ns + passed_ns, __ATOMIC_RELAXED);
	n->now_ns = now_ns;
	if (n->cfg.guard != NULL)
		n->cfg.guard->now_ns = now_ns;
}

void
weft_node_time(struct weft_node *n, uint64_t now_ns)
{
	const uint64_t passed_ns = now_ns - n->now_ns;
	const uint64_t paused_ns =
		passed_ns > WEFT_NODE_PAUSE_NS ? passed_ns - WEFT_NODE_PAUSE_NS : 0;

	node_pass_time(n, now_ns, passed_ns - paused_ns);
	if (paused_ns != 0 && n->clock != NULL)
		weft_request_clock_forgive(n->clock, paused_ns);
}

void
weft_node_time_busy(struct weft_node *n, uint64_t now_ns)
{
	node_pass_time(n, now_ns, now_ns - n->now_ns);
}

bool
weft_node_refuse(const struct weft_node_link *in, uint16_t spid)
{
	struct weft_node *n = in->node;

	weft_ingress_refused(&n->cfg.ingress_drops[in->port], WEFT_INGRESS_MESSAGES, spid);
	node_drop(n, WEFT_DROP_SPID);
	return true;
}
