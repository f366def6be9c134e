/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What may be attached to what (fabric.md section 3.1), and the bindings that join a host and a
 * device at different switches (section 3.2). A port's role follows from the two nodes, unless the
 * file says it. A host and a GFD joined directly are let pass: a bench without a switch.
 */

#include <errno.h>
#include <stdlib.h>

#include "topo_priv.h"

#define BIT(role) (1u << WEFT_TOPO_ROLE_##role)

/* Roles that each may meet, and the rule as it is told. */
static const struct {
	const char *name;
	unsigned int meets;
	const char *rule;
} roles[] = {
	[WEFT_TOPO_ROLE_ROOT] = { "a host's root port", BIT(PBR_USP) | BIT(HBR_USP) | BIT(DEVICE),
		"a USP or a device but no GFD" },
	[WEFT_TOPO_ROLE_DEVICE] = { "a device", BIT(ROOT) | BIT(PBR_DSP) | BIT(HBR_DSP),
		"a DSP or a root port" },
	[WEFT_TOPO_ROLE_GFD] = { "a GFD", BIT(PBR_DSP), "a DSP of a PBR switch" },
	[WEFT_TOPO_ROLE_PBR_USP] = { "a PBR USP", BIT(ROOT), "a root port" },
	[WEFT_TOPO_ROLE_PBR_DSP] = { "a PBR DSP", BIT(DEVICE) | BIT(GFD) | BIT(HBR_USP),
		"a device, a GFD or an HBR USP" },
	[WEFT_TOPO_ROLE_FPORT] = { "an FPort", BIT(FPORT), "an FPort of another PBR switch" },
	[WEFT_TOPO_ROLE_HBR_USP] = { "an HBR USP", BIT(ROOT) | BIT(PBR_DSP) | BIT(HBR_DSP),
		"a root port or a DSP" },
	[WEFT_TOPO_ROLE_HBR_DSP] = { "an HBR DSP", BIT(DEVICE) | BIT(HBR_USP),
		"a device or an HBR USP" },
};

/* Role of end @e of a link by the kinds of both nodes. */
static uint8_t
attach_usual_role(const struct topo_load *l, const struct topo_link_src *link, unsigned int e)
{
	static const uint8_t ends[] = {
		[WEFT_TOPO_HOST] = WEFT_TOPO_ROLE_ROOT,
		[WEFT_TOPO_GFD] = WEFT_TOPO_ROLE_GFD,
		[WEFT_TOPO_DEVICE] = WEFT_TOPO_ROLE_DEVICE,
		[WEFT_TOPO_HBR] = WEFT_TOPO_ROLE_HBR_DSP,
	};
	const uint8_t kind = l->t.node[link->end[e].node].kind;
	const uint8_t other = l->t.node[link->end[1 - e].node].kind;

	if (kind == WEFT_TOPO_SWITCH)
		return other == WEFT_TOPO_SWITCH ? WEFT_TOPO_ROLE_FPORT
		       : other == WEFT_TOPO_HOST ? WEFT_TOPO_ROLE_PBR_USP
		                                 : WEFT_TOPO_ROLE_PBR_DSP;
	if (kind != WEFT_TOPO_HBR)
		return ends[kind];
	if (other == WEFT_TOPO_HBR) {
		/* The file's word for the other end, or a above b. */
		const uint8_t said =
			link->end[1 - e].line_of[PORT_ROLE] != 0 ? link->end[1 - e].role : 0;
		const bool is_up = said == TOPO_ROLE_DSP || (said == 0 && e == 1);

		return is_up ? WEFT_TOPO_ROLE_HBR_USP : WEFT_TOPO_ROLE_HBR_DSP;
	}
	return other == WEFT_TOPO_HOST || other == WEFT_TOPO_SWITCH ? WEFT_TOPO_ROLE_HBR_USP
	                                                            : WEFT_TOPO_ROLE_HBR_DSP;
}

static int
attach_find_role(struct topo_load *l, unsigned int i, unsigned int e, uint8_t *role)
{
	static const uint8_t said[2][4] = {
		{ 0, WEFT_TOPO_ROLE_PBR_USP, WEFT_TOPO_ROLE_PBR_DSP, WEFT_TOPO_ROLE_FPORT },
		{ 0, WEFT_TOPO_ROLE_HBR_USP, WEFT_TOPO_ROLE_HBR_DSP, 0 },
	};
	const struct topo_link_src *link = &l->link[i];
	const struct topo_end_src *end = &link->end[e];
	const struct weft_topo_node *node = &l->t.node[end->node];
	const bool is_hbr = node->kind == WEFT_TOPO_HBR;

	topo_where(l, "links[%u].%c_port.role", i, "ab"[e]);
	*role = attach_usual_role(l, link, e);
	if (end->line_of[PORT_ROLE] == 0)
		return 0;
	if (!is_hbr && node->kind != WEFT_TOPO_SWITCH)
		return topo_fail(l, -EINVAL, end->line_of[PORT_ROLE],
			"role of a %s, expected it at a port of a switch only, got it at %s",
			weft_topo_kind_words[node->kind], node->name);
	if (is_hbr && end->role == TOPO_ROLE_FPORT)
		return topo_fail(l, -EINVAL, end->line_of[PORT_ROLE],
			"FPort of an HBR switch, expected usp|dsp (fabric.md 3.1), got fport at %s",
			node->name);
	if (end->role != TOPO_ROLE_AUTO)
		*role = said[is_hbr][end->role];
	return 0;
}

static int
attach_check_link(struct topo_load *l, unsigned int i)
{
	const struct topo_link_src *link = &l->link[i];
	uint8_t role[2];
	int rc = 0;

	for (unsigned int e = 0; e < 2 && rc == 0; e++)
		rc = attach_find_role(l, i, e, &role[e]);
	if (rc != 0)
		return rc;
	l->t.port[l->t.link[i].a].role = role[0];
	l->t.port[l->t.link[i].b].role = role[1];
	if ((BIT(ROOT) | BIT(GFD)) == (1u << role[0] | 1u << role[1]))
		return 0;
	topo_where(l, "links[%u]", i);
	for (unsigned int e = 0; e < 2; e++) {
		if ((roles[role[e]].meets >> role[1 - e] & 1) != 0)
			continue;
		return topo_fail(l, -EINVAL, link->line_of[0],
			"%s attaches to %s (fabric.md 3.1): expected that for %s, got %s of %s",
			roles[role[e]].name, roles[role[e]].rule, l->t.node[link->end[e].node].name,
			roles[role[1 - e]].name, l->t.node[link->end[1 - e].node].name);
	}
	return 0;
}

static int
attach_check_hbr(struct topo_load *l, unsigned int i)
{
	const struct weft_topo_node *node = &l->t.node[i];
	const struct weft_topo_node *pbr = NULL;
	unsigned int n_usp = 0, n_hosts = 0;

	for (unsigned int p = 0; p < node->n_ports; p++) {
		const struct weft_topo_node *other = &l->t.node[weft_topo_neighbour(&l->t, i, p)];

		if (l->t.port[node->first_port + p].role != WEFT_TOPO_ROLE_HBR_USP)
			continue;
		n_usp++;
		n_hosts += other->kind == WEFT_TOPO_HOST;
		pbr = other->kind == WEFT_TOPO_SWITCH ? other : pbr;
	}
	if (n_usp == 1)
		return 0;
	topo_where(l, "nodes[%u]", i);
	/* With a host above it, a PBR switch is meant to hang below. */
	if (n_usp > 1 && n_hosts != 0 && pbr != NULL)
		return topo_fail(l, -EINVAL, l->node[i].line_of[0],
			"PBR switches may not hang below an HBR switch (fabric.md 3.1): expected "
			"none for %s, whose USP is a host's, got %s",
			node->name, pbr->name);
	return topo_fail(l, -EINVAL, l->node[i].line_of[0],
		"an HBR switch has one USP (fabric.md 3.1): expected one for %s, got %u",
		node->name, n_usp);
}

/* The port at the other end of the only link, or of the USP, of a node. */
static const struct weft_topo_port *
attach_port_above(const struct weft_topo *t, unsigned int node)
{
	const struct weft_topo_port *port = &t->port[t->node[node].first_port];

	while (t->node[node].kind == WEFT_TOPO_HBR && port->role != WEFT_TOPO_ROLE_HBR_USP)
		port++;
	return &t->port[port->peer];
}

static int
attach_find_bound(struct topo_load *l, unsigned int i)
{
	struct topo_binding_src *src = &l->binding[i];
	const int host = weft_topo_find(&l->t, src->host);
	const int device = weft_topo_find(&l->t, src->device);
	const uint8_t kind = device < 0 ? WEFT_TOPO_HOST : l->t.node[device].kind;

	topo_where(l, "bindings[%u].host", i);
	if (host < 0 || l->t.node[host].kind != WEFT_TOPO_HOST ||
		attach_port_above(&l->t, (unsigned int)host)->role != WEFT_TOPO_ROLE_PBR_USP)
		return topo_fail(l, -EINVAL, src->line_of[BINDING_HOST],
			"bad host, expected a host at a PBR switch, where its vDSPs are "
			"(fabric.md 3.2), got \"%s\"",
			src->host);
	topo_where(l, "bindings[%u].device", i);
	if (kind == WEFT_TOPO_GFD)
		return topo_fail(l, -EINVAL, src->line_of[BINDING_DEVICE],
			"binding of a gfd, expected none, as G-FAM goes edge to edge (fabric.md "
			"3.2), got %s",
			src->device);
	if ((kind != WEFT_TOPO_DEVICE && kind != WEFT_TOPO_HBR) ||
		attach_port_above(&l->t, (unsigned int)device)->role != WEFT_TOPO_ROLE_PBR_DSP)
		return topo_fail(l, -EINVAL, src->line_of[BINDING_DEVICE],
			"bad device, expected a device or an hbr at a PBR DSP (fabric.md 3.2), got "
			"\"%s\"",
			src->device);
	l->t.binding[i] = (struct weft_topo_binding){
		.host = (uint16_t)host,
		.device = (uint16_t)device,
		.host_switch = attach_port_above(&l->t, (unsigned int)host)->node,
		.device_switch = attach_port_above(&l->t, (unsigned int)device)->node,
		.pid = src->line_of[BINDING_PID] != 0 ? src->pid : WEFT_TOPO_NO_PID,
	};
	return 0;
}

static int
attach_check_binding_pid(struct topo_load *l, unsigned int i)
{
	const struct weft_topo_binding *b = &l->t.binding[i];
	const struct topo_binding_src *src = &l->binding[i];
	const bool is_far = b->host_switch != b->device_switch;

	topo_where(l, "bindings[%u].pid", i);
	if (is_far != (b->pid != WEFT_TOPO_NO_PID))
		return topo_fail(l, -EINVAL, is_far ? src->line_of[0] : src->line_of[BINDING_PID],
			"vDSP and vUSP, expected a pid of the FPort %s (fabric.md 3.2), got %s",
			is_far ? "between two switches" : "only if there are two switches",
			is_far ? "none" : "one");
	for (unsigned int n = 0; n < l->t.n_nodes; n++)
		if (l->t.node[n].pid == b->pid)
			return topo_fail(l, -EINVAL, src->line_of[BINDING_PID],
				"PID of a node, expected one for FPorts (fabric.md 2.1), got that "
				"of %s",
				l->t.node[n].name);
	return 0;
}

static int
attach_check_binding_pair(struct topo_load *l, unsigned int i, unsigned int j)
{
	const struct weft_topo_binding *b = &l->t.binding[i], *o = &l->t.binding[j];
	const struct topo_binding_src *src = &l->binding[i];

	topo_where(l, "bindings[%u]", i);
	if (b->device == o->device)
		return topo_fail(l, -EINVAL, src->line_of[0],
			"bound twice, expected one vDSP for a vUSP (fabric.md 3.2), got %s of "
			"line %u again",
			src->device, l->binding[j].line_of[0]);
	if (b->pid == WEFT_TOPO_NO_PID || b->pid != o->pid)
		return 0;
	if (b->host == o->host)
		return topo_fail(l, -EINVAL, src->line_of[BINDING_PID],
			"two bindings of one pair of PIDs, expected another pid, as both ids tell "
			"them apart (fabric.md 2.2), got that of line %u",
			l->binding[j].line_of[0]);
	if (b->device_switch != o->device_switch)
		return topo_fail(l, -EINVAL, src->line_of[BINDING_PID],
			"FPort PID of two switches, expected one for each (fabric.md 2.1), got "
			"that of line %u",
			l->binding[j].line_of[0]);
	return 0;
}

static int
attach_check_binding(struct topo_load *l, unsigned int i)
{
	const unsigned int before = l->n_fails;
	int rc = attach_find_bound(l, i);

	if (rc == 0 && l->n_fails == before)
		rc = attach_check_binding_pid(l, i);
	for (unsigned int j = 0; j < i && rc == 0 && l->n_fails == before; j++)
		rc = attach_check_binding_pair(l, i, j);
	return rc;
}

int
topo_check_attached(struct topo_load *l)
{
	int rc = 0;

	for (unsigned int i = 0; i < l->t.n_links && rc == 0; i++)
		rc = attach_check_link(l, i);
	for (unsigned int i = 0; i < l->t.n_nodes && rc == 0 && l->n_findings == 0; i++)
		if (l->t.node[i].kind == WEFT_TOPO_HBR)
			rc = attach_check_hbr(l, i);
	l->t.binding = calloc(l->t.n_bindings + 1u, sizeof(*l->t.binding));
	if (l->t.binding == NULL)
		return -ENOMEM;
	if (l->n_findings != 0)
		return rc;
	for (unsigned int i = 0; i < l->t.n_bindings && rc == 0; i++)
		rc = attach_check_binding(l, i);
	return rc;
}
