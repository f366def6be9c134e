/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the nodes here are to a fabric manager: identities, the live tables of switches, and their
 * ports. A PID that sessions and rules of frames go by is that of the topology: a manager may give
 * a node that one, and to switches others that no node has.
 */

#include "backlog.h"
#include "cci.h"
#include "manage.h"

#include <errno.h>
#include <stdlib.h>

#include "weft_manager.h"

#define IDENTITY_LEN 16 /* of a link partner: what Identify begins with */

/* Unique in a fabric, as names are, and the same in every process: FNV-1a. */
static uint64_t
cci_serial(const struct weft_topo_node *n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (const char *p = n->name; *p != '\0'; p++)
		h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
	return h;
}

static uint16_t
cci_device_id(const struct weft_topo_node *n)
{
	return (uint16_t)(n->kind + 1);
}

bool
cci_is_requester(const struct daemon *d, uint16_t pid)
{
	for (uint16_t i = 0; i < d->topo->n_nodes; i++)
		if (d->topo->node[i].pid == pid)
			return d->topo->node[i].kind == WEFT_TOPO_HOST ||
			       d->topo->node[i].kind == WEFT_TOPO_DEVICE;
	return false;
}

/* No other node than @p own has it; WEFT_TOPO_NODES for own: no node at all. */
static bool
cci_is_free(const struct weft_topo *t, unsigned int own, uint16_t pid)
{
	for (uint16_t i = 0; i < t->n_nodes; i++)
		if (t->node[i].pid == pid && i != own)
			return false;
	return true;
}

static uint16_t
cci_take_pid(void *component, uint16_t pid)
{
	const struct cci_component *c = component;
	const bool may_change = c->node->topo->kind == WEFT_TOPO_SWITCH;

	return pid == c->node->topo->pid || (may_change && cci_is_free(c->node->daemon->topo,
								   c->node->index, pid))
	               ? WEFT_CCI_SUCCESS
	               : WEFT_CCI_INVALID_INPUT;
}

static const struct weft_tables *
cci_tables_now(void *component)
{
	return ((struct cci_component *)component)->node->tables.live;
}

static struct weft_tables *
cci_tables_begin(void *component)
{
	return weft_tables_begin(&((struct cci_component *)component)->node->tables);
}

/* The answer leaves when no lcore goes by the old ones any more. */
static void
cci_tables_commit(void *component)
{
	weft_tables_commit(&((struct cci_component *)component)->node->tables);
	weft_loop_quiesce();
}

static void
cci_port(void *component, unsigned int port, struct weft_cci_switch_port *p)
{
	const struct node *n = ((struct cci_component *)component)->node;
	const struct weft_topo *t = n->daemon->topo;
	const unsigned int index = n->topo->first_port + port;
	const struct weft_topo_node *far = &t->node[t->neighbour[index]];

	p->state = far->kind == WEFT_TOPO_HOST     ? WEFT_CCI_PORT_USP
	           : far->kind == WEFT_TOPO_SWITCH ? WEFT_CCI_PORT_FABRIC
	                                           : WEFT_CCI_PORT_DSP;
	p->is_pbr = t->mode != WEFT_MODE_CXL || t->port[index].form != WEFT_FORM_HBR;
	p->is_up = weft_port_is_up(n->port[port]) && !backlog_is_held(&n->out[port]);
	if (far->kind == WEFT_TOPO_SWITCH || far->kind == WEFT_TOPO_GFD)
		p->type = WEFT_CCI_PORT_PBR;
	else if (far->kind == WEFT_TOPO_DEVICE)
		p->type = far->memory != 0 ? WEFT_CCI_PORT_SLD : WEFT_CCI_PORT_TYPE1;
}

/* Hosts and devices are no PBR components, and say nothing of themselves. */
static void
cci_partner(void *component, unsigned int port, struct weft_cci_lpi_block *b)
{
	const struct node *n = ((struct cci_component *)component)->node;
	const struct weft_topo *t = n->daemon->topo;
	const unsigned int index = n->topo->first_port + port;
	const struct weft_topo_node *far = &t->node[t->neighbour[index]];
	const struct weft_topo_link *l = &t->link[t->port[index].link];
	const unsigned int other = l->a == index ? l->b : l->a;

	if (far->kind != WEFT_TOPO_SWITCH && far->kind != WEFT_TOPO_GFD)
		return;
	b->far_port = (uint8_t)(other - far->first_port);
	b->pid_type = far->pid;
	if (far->kind == WEFT_TOPO_GFD)
		b->pid_type |= 1u << 12;
	memset(b->id, 0, IDENTITY_LEN);
	weft_put_le16(b->id + 2, cci_device_id(far));
	weft_put_le64(b->id + 8, cci_serial(far));
}

/* Of a host, device or GFD at the other end its own; between switches any that no node has. */
static bool
cci_may_have_pid(void *component, unsigned int port, uint16_t pid)
{
	const struct node *n = ((struct cci_component *)component)->node;
	const struct weft_topo *t = n->daemon->topo;
	const struct weft_topo_node *far = &t->node[t->neighbour[n->topo->first_port + port]];

	return far->kind == WEFT_TOPO_SWITCH ? cci_is_free(t, WEFT_TOPO_NODES, pid)
	                                     : pid == far->pid;
}

static const struct weft_cci_switch_world cci_switch_world = {
	.now = cci_tables_now,
	.begin = cci_tables_begin,
	.commit = cci_tables_commit,
	.port = cci_port,
	.partner = cci_partner,
	.may_have_pid = cci_may_have_pid,
	.control = cci_port_control,
	.exchange = manage_exchange,
};

/* Rows of a switch, and 5701h where it takes messages by its links. */
static int
cci_switch_rows(struct cci_component *c, struct weft_cci_component_cfg *cfg)
{
	const unsigned int n = weft_cci_switch_n_commands;

	cfg->command = weft_cci_switch_commands;
	cfg->n_commands = n;
	if (!manage_is_on(c->node->daemon))
		return 0;
	c->rows = calloc(n + 1u, sizeof(*c->rows));
	if (c->rows == NULL)
		return -ENOMEM;
	memcpy(c->rows, weft_cci_switch_commands, n * sizeof(*c->rows));
	c->rows[n] = weft_cci_switch_crawl_out;
	cfg->command = c->rows;
	cfg->n_commands = n + 1;
	return 0;
}

/* What the file says of PIDs holds, unless all of it is for the manager to say. */
static int
cci_begin_switch(
	struct cci_component *c, struct weft_cci_component_cfg *cfg, char *err, size_t err_len)
{
	const struct node *n = c->node;
	const struct weft_topo *t = n->daemon->topo;
	int rc = weft_cci_switch_init(&c->sw, &cci_switch_world, c, n->n_ports);

	if (rc == 0 && t->access.management == WEFT_TOPO_MANAGED_BY_FILE)
		rc = weft_manager_set_pids(&c->sw, &n->node->cfg, t, err, err_len);
	if (rc != 0)
		return rc;
	cfg->type = WEFT_CCI_TYPE_SWITCH;
	cfg->arg = &c->sw;
	return cci_switch_rows(c, cfg);
}

int
cci_begin(struct cci_component *c, struct node *n, char *err, size_t err_len)
{
	const struct daemon *d = n->daemon;
	struct weft_cci_component_cfg cfg = {
		.did = cci_device_id(n->topo),
		.serial = cci_serial(n->topo),
		.pid = d->topo->access.management == WEFT_TOPO_MANAGED_BY_FM ? WEFT_CCI_NO_PID
		                                                             : n->topo->pid,
		.read_only = d->cfg.cci != CCI_FULL,
		.aliases = d->cfg.cci_aliases,
		.world = c,
		.take_pid = cci_take_pid,
		.notify = cci_notify,
	};
	int rc = 0;

	c->node = n;
	if (n->topo->kind == WEFT_TOPO_SWITCH)
		rc = cci_begin_switch(c, &cfg, err, err_len);
	else if (n->topo->kind == WEFT_TOPO_GFD)
		rc = cci_begin_gfd(c, &cfg);
	else if (n->topo->kind == WEFT_TOPO_HOST)
		rc = cci_begin_host(c, &cfg);
	else
		return -ENOTSUP;
	return rc != 0 ? rc : weft_cci_component_init(&c->component, &cfg);
}
