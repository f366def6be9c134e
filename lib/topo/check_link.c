/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a link's two ends must fulfil: one device an end at most, a driver that can open it, both
 * ends of a memif or ring on one server, and frames that fit the MTU (encapsulation.md section 2,
 * doc/runtime.md). What is not written is settled here as far as the file alone decides it.
 */

#include <errno.h>

#include "weft_flit.h"
#include "weft_wire.h"

#include "topo_priv.h"

#define AF_XDP_MTU 3498 /* one frame, its headroom and the PMD's in a 4 KiB page */

/* The device each driver opens. AUTO takes any. */
static const uint8_t driver_device[] = {
	[WEFT_TOPO_VFIO] = WEFT_TOPO_PCI,
	[WEFT_TOPO_AF_XDP] = WEFT_TOPO_NETIF,
	[WEFT_TOPO_AF_PACKET] = WEFT_TOPO_NETIF,
	[WEFT_TOPO_MEMIF] = WEFT_TOPO_NO_DEVICE,
	[WEFT_TOPO_RING] = WEFT_TOPO_NO_DEVICE,
	[WEFT_TOPO_VDEV] = WEFT_TOPO_DEVARGS,
};

static const char *const device_words[] = { "no device", "pci", "netif", "vdev" };

/* One end of a link while it is settled: what the file says and the port it becomes. */
struct topo_end {
	struct topo_load *load;
	const struct topo_link_src *link;
	const struct topo_end_src *src;
	struct weft_topo_port *port;
};

static struct topo_end
link_end_of(struct topo_load *l, unsigned int link, unsigned int e)
{
	uint16_t port = e == 0 ? l->t.link[link].a : l->t.link[link].b;

	topo_where(l, "links[%u].%c_port", link, "ab"[e]);
	return (struct topo_end){ l, &l->link[link], &l->link[link].end[e], &l->t.port[port] };
}

static unsigned int
link_driver_line(const struct topo_end *e)
{
	if (e->src->line_of[PORT_DRIVER] != 0)
		return e->src->line_of[PORT_DRIVER];
	return e->link->line_of[LINK_DRIVER] != 0 ? e->link->line_of[LINK_DRIVER]
	                                          : e->src->line_of[0];
}

static int
link_settle_device(struct topo_end *e)
{
	static const struct {
		unsigned int key;
		size_t offset;
		uint8_t kind;
	} devices[] = {
		{ PORT_PCI, offsetof(struct topo_end_src, pci), WEFT_TOPO_PCI },
		{ PORT_NETIF, offsetof(struct topo_end_src, netif), WEFT_TOPO_NETIF },
		{ PORT_VDEV, offsetof(struct topo_end_src, vdev), WEFT_TOPO_DEVARGS },
	};

	for (unsigned int i = 0; i < 3; i++) {
		if (e->src->line_of[devices[i].key] == 0)
			continue;
		if (e->port->device_kind != WEFT_TOPO_NO_DEVICE)
			return topo_fail(e->load, -EINVAL, e->src->line_of[devices[i].key],
				"two devices, expected one of pci, netif and vdev, got %s and %s",
				device_words[e->port->device_kind], device_words[devices[i].kind]);
		e->port->device_kind = devices[i].kind;
		strcpy(e->port->device, (const char *)e->src + devices[i].offset);
	}
	if (e->port->device_kind == WEFT_TOPO_DEVARGS && strncmp(e->port->device, "net_", 4) != 0)
		return topo_fail(e->load, -EINVAL, e->src->line_of[PORT_VDEV],
			"bad vdev, expected device arguments that begin with \"net_\", "
			"got \"%.48s\"",
			e->port->device);
	return 0;
}

static int
link_settle_driver(struct topo_end *e)
{
	struct weft_topo_port *port = e->port;

	port->driver = e->src->line_of[PORT_DRIVER] != 0 ? e->src->driver : e->link->driver;
	if (port->driver == WEFT_TOPO_AUTO && port->device_kind == WEFT_TOPO_DEVARGS)
		port->driver = WEFT_TOPO_VDEV;
	if (port->driver == WEFT_TOPO_AUTO && port->device_kind == WEFT_TOPO_NO_DEVICE &&
		e->src->line_of[PORT_SOCKET] != 0)
		port->driver = WEFT_TOPO_MEMIF;
	if (port->driver != WEFT_TOPO_AUTO && driver_device[port->driver] != port->device_kind)
		return topo_fail(e->load, -EINVAL, link_driver_line(e),
			"driver %s does not fit, expected it with %s, got %s",
			topo_driver_words[port->driver], device_words[driver_device[port->driver]],
			device_words[port->device_kind]);
	if (e->src->line_of[PORT_SOCKET] != 0 && port->driver != WEFT_TOPO_MEMIF)
		return topo_fail(e->load, -EINVAL, e->src->line_of[PORT_SOCKET],
			"socket without memif, expected driver memif, got %s",
			topo_driver_words[port->driver]);
	strcpy(port->socket, e->src->socket);
	return 0;
}

/* A link's wire is bad in both directions, but not alike. */
static void
link_settle_wire(struct topo_end *e)
{
	struct weft_impair_cfg cfg = e->link->wire;

	if (e->src->line_of[PORT_WIRE] != 0)
		cfg = e->src->wire;
	else if (e->link->line_of[LINK_WIRE] == 0)
		return;
	else if (e->src == &e->link->end[1])
		cfg.seed = ~cfg.seed;
	topo_wire_text(&cfg, e->port->wire);
}

static int
link_settle_mtu(struct topo_end *e)
{
	struct topo_load *l = e->load;
	unsigned int asked = l->t.flits_per_frame != 0 ? l->t.flits_per_frame : 1;
	bool is_own = e->src->line_of[PORT_MTU] != 0;
	unsigned int line = is_own ? e->src->line_of[PORT_MTU] : l->defaults_at[DEFAULTS_MTU];
	unsigned int mtu = is_own ? e->src->mtu : l->mtu;
	unsigned int fits = WEFT_WIRE_FLITS_FOR_MTU(mtu);

	e->port->mtu = (uint16_t)mtu;
	/* 9000 carries one flit: with no mtu in the file, flits_per_frame is what asks too much. */
	if (fits < asked)
		return topo_fail(l, -EINVAL, line != 0 ? line : l->defaults_at[DEFAULTS_FLITS],
			"mtu %u carries %u flits, %u asked: expected mtu %u or more, got %u", mtu,
			fits, asked, WEFT_WIRE_HDR_LEN + WEFT_WIRE_FLIT_LEN * asked, mtu);
	if (e->port->driver == WEFT_TOPO_AF_XDP && mtu > AF_XDP_MTU)
		return topo_fail(l, -EINVAL, is_own ? line : link_driver_line(e),
			"mtu too large for af_xdp, expected at most %d, got %u", AF_XDP_MTU, mtu);
	return 0;
}

static int
link_settle_end(struct topo_load *l, unsigned int link, unsigned int which)
{
	struct topo_end e = link_end_of(l, link, which);
	int rc = link_settle_device(&e);

	if (rc == 0)
		rc = link_settle_driver(&e);
	link_settle_wire(&e);
	return rc == 0 ? link_settle_mtu(&e) : rc;
}

/* An end that says nothing takes the memif or ring of the other. */
static void
link_follow_peer(struct weft_topo_port *port, const struct weft_topo_port *peer)
{
	if (port->driver == WEFT_TOPO_AUTO && port->device_kind == WEFT_TOPO_NO_DEVICE &&
		peer->device_kind == WEFT_TOPO_NO_DEVICE)
		port->driver = peer->driver;
	if (port->socket[0] == '\0')
		strcpy(port->socket, peer->socket);
}

/* A ring is no device that a wire could be put before. */
static int
check_wire(const struct topo_end *e)
{
	if (e->port->wire[0] == '\0' || e->port->driver != WEFT_TOPO_RING)
		return 0;
	return topo_fail(e->load, -EINVAL,
		e->src->line_of[PORT_WIRE] != 0 ? e->src->line_of[PORT_WIRE]
						: e->link->line_of[LINK_WIRE],
		"wire on a ring, expected driver memif or a device, got ring");
}

/* Without devices, both ends are on one machine and are the same kind of port. */
static int
check_local_pair(struct topo_load *l, const struct topo_end *a, const struct topo_end *b)
{
	const char *here = l->t.node[a->port->node].server;
	const char *there = l->t.node[b->port->node].server;

	if (a->port->driver != b->port->driver)
		return topo_fail(l, -EINVAL, link_driver_line(b),
			"drivers differ, expected %s at both ends, got %s",
			topo_driver_words[a->port->driver], topo_driver_words[b->port->driver]);
	if (strcmp(here, there) != 0 && a->port->driver == WEFT_TOPO_AUTO)
		return topo_fail(l, -EINVAL, a->link->line_of[0],
			"no device between servers %s and %s, expected pci, netif or vdev at "
			"both ends, got none",
			here, there);
	if (strcmp(here, there) != 0)
		return topo_fail(l, -EINVAL, link_driver_line(a),
			"driver %s between servers, expected both nodes on one, got %s and %s",
			topo_driver_words[a->port->driver], here, there);
	if (strcmp(a->port->socket, b->port->socket) != 0)
		return topo_fail(l, -EINVAL, b->src->line_of[PORT_SOCKET],
			"sockets differ, expected \"%.48s\" at both ends, got \"%.48s\"",
			a->port->socket, b->port->socket);
	return 0;
}

static int
check_pair(struct topo_load *l, unsigned int link)
{
	struct topo_end a = link_end_of(l, link, 0);
	struct topo_end b = link_end_of(l, link, 1);
	bool a_is_local, b_is_local;

	topo_where(l, "links[%u]", link);
	link_follow_peer(a.port, b.port);
	link_follow_peer(b.port, a.port);
	a_is_local = a.port->device_kind == WEFT_TOPO_NO_DEVICE;
	b_is_local = b.port->device_kind == WEFT_TOPO_NO_DEVICE;
	if (a_is_local != b_is_local)
		return topo_fail(l, -EINVAL, a_is_local ? a.src->line_of[0] : b.src->line_of[0],
			"device at one end only, expected pci, netif or vdev at %c too, got none",
			a_is_local ? 'a' : 'b');
	if (check_wire(&a) != 0 || check_wire(&b) != 0)
		return -EINVAL;
	return a_is_local ? check_local_pair(l, &a, &b) : 0;
}

/* What two ports would both open, or NULL. A memif socket has one client. */
static const char *
link_shared(
	const struct weft_topo *t, const struct weft_topo_port *a, const struct weft_topo_port *b)
{
	const bool is_socket = a->device_kind == WEFT_TOPO_NO_DEVICE;
	const char *name = is_socket ? a->socket : a->device;

	if (a->device_kind != b->device_kind || name[0] == '\0' ||
		strcmp(name, is_socket ? b->socket : b->device) != 0)
		return NULL;
	/* Nodes of one server may live in network namespaces with equal names inside. */
	if (a->device_kind == WEFT_TOPO_NETIF)
		return a->node == b->node ? name : NULL;
	/* Every process has virtual devices of its own. */
	if (a->device_kind == WEFT_TOPO_DEVARGS || (is_socket && a->link == b->link))
		return NULL;
	return strcmp(t->node[a->node].server, t->node[b->node].server) == 0 ? name : NULL;
}

static int
check_shared_devices(struct topo_load *l)
{
	for (unsigned int i = 0; i < 2u * l->t.n_links; i++) {
		struct topo_end e = link_end_of(l, i / 2, i % 2);

		for (unsigned int j = 0; j < i; j++) {
			struct weft_topo_link link = l->t.link[j / 2];
			const char *name = link_shared(
				&l->t, e.port, &l->t.port[j % 2 == 0 ? link.a : link.b]);

			if (name == NULL)
				continue;
			return topo_fail(l, -EINVAL, e.src->line_of[0],
				"%s used twice, expected one of its own, got that of links[%u]",
				name, j / 2);
		}
	}
	return 0;
}

static bool
link_is_of(const struct weft_topo *t, const struct weft_topo_link *link, enum weft_topo_kind kind)
{
	return t->node[t->port[link->a].node].kind == kind ||
	       t->node[t->port[link->b].node].kind == kind;
}

/*
 * What a client and its agent say to each other is routed by no rule of an edge port: they do it.
 */
static bool
link_is_of_ats(const struct weft_topo *t, const struct weft_topo_link *link)
{
	const struct weft_topo_node *a = &t->node[t->port[link->a].node];
	const struct weft_topo_node *b = &t->node[t->port[link->b].node];

	return a->translates || a->n_translations != 0 || b->translates || b->n_translations != 0;
}

/* HBR form needs somebody at the other end who converts; below an HBR switch there is no other. */
static int
link_settle_form(struct topo_load *l, unsigned int index)
{
	const struct topo_link_src *src = &l->link[index];
	struct weft_topo *t = &l->t;
	const struct weft_topo_link *link = &t->link[index];
	const bool is_hbr_switch = link_is_of(t, link, WEFT_TOPO_HBR);
	const bool at_edge =
		link_is_of(t, link, WEFT_TOPO_SWITCH) && !link_is_of_ats(t, link) &&
		(link_is_of(t, link, WEFT_TOPO_HOST) || link_is_of(t, link, WEFT_TOPO_DEVICE));
	const bool may_hbr = t->mode == WEFT_MODE_CXL && (at_edge || is_hbr_switch);
	const bool may_pbr = t->mode == WEFT_MODE_RXL || !is_hbr_switch;
	uint8_t form = may_hbr ? WEFT_FORM_HBR : WEFT_FORM_PBR;

	if (may_hbr && may_pbr && l->defaults_at[DEFAULTS_FORM] != 0)
		form = l->link_form;
	if (src->line_of[LINK_FORM] != 0)
		form = src->form;
	t->port[link->a].form = t->port[link->b].form = form;
	if (form == WEFT_FORM_HBR ? may_hbr : may_pbr)
		return 0;
	topo_where(l, "links[%u].link_form", index);
	return topo_fail(l, -EINVAL, src->line_of[LINK_FORM],
		form == WEFT_FORM_HBR ? "bad form, expected pbr but in cxl mode between a PBR "
					"switch and a host or "
					"device without ats or translations, got hbr"
				      : "bad form, expected hbr at an HBR switch, got pbr");
}

int
topo_check_links(struct topo_load *l)
{
	int rc = 0;

	for (unsigned int i = 0; i < l->t.n_links && rc == 0; i++) {
		const unsigned int before = l->n_fails;

		rc = link_settle_end(l, i, 0);
		if (rc == 0 && l->n_fails == before)
			rc = link_settle_end(l, i, 1);
		if (rc == 0 && l->n_fails == before)
			rc = check_pair(l, i);
		if (rc == 0 && l->n_fails == before)
			rc = link_settle_form(l, i);
	}
	return rc == 0 ? check_shared_devices(l) : rc;
}
