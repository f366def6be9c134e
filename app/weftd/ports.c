/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Opens the ports of the nodes that run here. A link between two of them is a pair of rings, one
 * to another process of this machine a memif; everything else is what the topology names. Control
 * side only.
 */

#include "ports.h"
#include "single.h"

#include <errno.h>
#include <rte_config.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "event.h"

#define CLIENT_NAP_MS 100
#define PORT_FILES 24 /* of a memif server with callers at its door; others need fewer */
#define LINK_WAIT_MS 0 /* a link that comes up later is fine: hosts go on asking */

static const uint8_t port_drivers[] = {
	[WEFT_TOPO_AUTO] = WEFT_PORT_AUTO,
	[WEFT_TOPO_VFIO] = WEFT_PORT_PCI,
	[WEFT_TOPO_AF_XDP] = WEFT_PORT_AF_XDP,
	[WEFT_TOPO_AF_PACKET] = WEFT_PORT_AF_PACKET,
	[WEFT_TOPO_MEMIF] = WEFT_PORT_MEMIF,
	[WEFT_TOPO_RING] = WEFT_PORT_RING,
	[WEFT_TOPO_VDEV] = WEFT_PORT_VDEV,
};

struct port_names {
	char name[WEFT_PORT_NAME_MAX];
	char socket[256]; /* too long for a socket: the port says so */
};

/* The node that runs here and has this index in the topology, or NULL. */
static struct node *
ports_local_node(const struct daemon *d, unsigned int index)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		if (d->node[i].index == index)
			return &d->node[i];
	return NULL;
}

/*
 * Both daemons of a link must come to the same path by themselves. It is no NAME.sock, which would
 * be a host's.
 */
static void
ports_memif_path(const struct daemon *d, const struct weft_topo_port *tp, char *path, size_t len)
{
	char folder[200];

	run_folder(folder, sizeof(folder));
	if (tp->socket[0] != '\0')
		snprintf(path, len, "%s", tp->socket);
	else
		snprintf(path, len, "%s/%s-%u.memif", folder, d->topo->fabric, tp->link);
}

static void
port_spec(struct daemon *d, struct node *n, unsigned int index, struct weft_port_spec *s,
	struct port_names *names)
{
	const struct weft_topo_port *tp = &d->topo->port[index];

	snprintf(names->name, sizeof(names->name), "%s.%u", n->topo->name,
		index - n->topo->first_port);
	*s = (struct weft_port_spec){
		.name = names->name,
		.driver = port_drivers[tp->driver],
		.max_flits = weft_topo_port_flits(d->topo, index),
		.wire = tp->wire[0] != '\0' ? tp->wire : NULL,
		.pool = n->pool,
		.link_wait_ms = LINK_WAIT_MS,
		.memif_server = d->topo->link[tp->link].a == index,
		.memif_id = tp->link,
	};
	switch (tp->device_kind) {
	case WEFT_TOPO_PCI: s->pci = tp->device; break;
	case WEFT_TOPO_NETIF: s->netif = tp->device; break;
	case WEFT_TOPO_DEVARGS: s->vdev = tp->device; break;
	default:
		ports_memif_path(d, tp, names->socket, sizeof(names->socket));
		s->socket = names->socket;
		s->socket_is_named = tp->socket[0] != '\0';
		break;
	}
}

bool
port_is_ring(const struct daemon *d, const struct weft_topo_link *l)
{
	const struct weft_topo_port *tp = &d->topo->port[l->a];
	const bool both_here = ports_local_node(d, tp->node) != NULL &&
	                       ports_local_node(d, d->topo->port[l->b].node) != NULL;

	/* A bad wire stands before a device: a memif then, and each end has its own. */
	if (tp->wire[0] != '\0' || d->topo->port[l->b].wire[0] != '\0')
		return false;
	return tp->device_kind == WEFT_TOPO_NO_DEVICE && both_here &&
	       (tp->driver == WEFT_TOPO_AUTO || tp->driver == WEFT_TOPO_RING);
}

struct node *
ports_find(const struct daemon *d, const char *name, size_t len, uint16_t *port)
{
	char is[WEFT_PORT_NAME_MAX];

	for (uint16_t i = 0; i < d->n_nodes; i++)
		for (uint16_t p = 0; p < d->node[i].n_ports; p++) {
			snprintf(is, sizeof(is), "%s.%u", d->node[i].topo->name, p);
			if (strlen(is) == len && memcmp(is, name, len) == 0) {
				*port = p;
				return &d->node[i];
			}
		}
	return NULL;
}

/*
 * The client of a memif cannot open before its server is there, so wait for the other daemon, for
 * as long as the run is to last. Links are opened in the order of the file by every daemon, so no
 * two wait for each other.
 */
static int
ports_open_client(struct daemon *d, const struct weft_port_spec *s, struct weft_port **port,
	char *err, size_t err_len)
{
	const struct timespec nap = { .tv_nsec = CLIENT_NAP_MS * 1000000L };
	struct timespec start, now;
	bool said = false;
	struct stat st;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		int rc = -ENOENT;

		if (stat(s->socket, &st) == 0)
			rc = weft_port_open(s, port, err, err_len);
		if (rc != -ENOENT)
			return rc;
		if (!said && !d->cfg.no_text)
			printf("port %s: waits for the other end at %s\n", s->name, s->socket);
		said = true;
		if (daemon_is_stopped())
			return weft_errorf(err, err_len, -EINTR,
				"port %s: stopped while waiting for %s", s->name, s->socket);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (d->cfg.seconds > 0 && (double)(now.tv_sec - start.tv_sec) >= d->cfg.seconds)
			return weft_errorf(err, err_len, -ETIMEDOUT,
				"port %s: expected another daemon at %s, got none in %g s", s->name,
				s->socket, d->cfg.seconds);
		nanosleep(&nap, NULL);
	}
}

static bool
ports_are_one_vdev(const struct weft_topo_port *a, const struct weft_topo_port *b)
{
	const size_t len = strcspn(a->device, ",");

	return b->device_kind == WEFT_TOPO_DEVARGS && strcspn(b->device, ",") == len &&
	       memcmp(a->device, b->device, len) == 0;
}

/*
 * What ports of a node here that are no rings take: @p each, and @p wire more for a bad wire before
 * one.
 */
static unsigned int
ports_node_takes(const struct daemon *d, const struct node *n, unsigned int each, unsigned int wire)
{
	unsigned int sum = 0;

	for (uint16_t p = 0; p < n->n_ports; p++) {
		const struct weft_topo_port *tp = &d->topo->port[n->topo->first_port + p];

		if (!port_is_ring(d, &d->topo->link[tp->link]))
			sum += each + (tp->wire[0] != '\0' ? wire : 0);
	}
	return sum;
}

static unsigned int
ports_take(const struct daemon *d, unsigned int each, unsigned int wire)
{
	unsigned int sum = 0;

	for (uint16_t i = 0; i < d->n_nodes; i++)
		sum += ports_node_takes(d, &d->node[i], each, wire);
	return sum;
}

/* Each is a device of DPDK, and so is a bad wire. */
static void
ports_check_number(const struct daemon *d, bool is_sure)
{
	const unsigned int n = ports_take(d, 1, 1);
	unsigned int of_node = 0;
	uint16_t i = 0;
	char text[512];

	if (n <= RTE_MAX_ETHPORTS)
		return;
	while (i < d->n_nodes && of_node <= RTE_MAX_ETHPORTS)
		of_node = ports_node_takes(d, &d->node[i++], 1, 1);
	if (of_node > RTE_MAX_ETHPORTS)
		snprintf(text, sizeof(text),
			"%s %s: expected at most %d ports of a node that are no rings (bad wires "
			"count as well), as many as this DPDK takes in one process, got %u: give "
			"it fewer",
			weft_topo_kind_words[d->node[i - 1].topo->kind], d->node[i - 1].topo->name,
			RTE_MAX_ETHPORTS, of_node);
	else
		snprintf(text, sizeof(text),
			"fabric %s: expected at most %d ports of one process that are no rings "
			"(bad wires count as well), as many as this DPDK takes, got %u: have "
			"several daemons run its nodes (--node)",
			d->topo->fabric, RTE_MAX_ETHPORTS, n);
	if (is_sure)
		cli_fail("%s", text);
	cli_warn("%s", text);
}

void
ports_check(const struct daemon *d, bool is_sure)
{
	const struct weft_topo *t = d->topo;

	ports_check_number(d, is_sure);
	for (uint16_t i = 0; i < t->n_ports; i++)
		for (uint16_t j = 0; t->port[i].device_kind == WEFT_TOPO_DEVARGS && j < i; j++)
			if (ports_are_one_vdev(&t->port[i], &t->port[j]) &&
				ports_local_node(d, t->port[i].node) != NULL &&
				ports_local_node(d, t->port[j].node) != NULL)
				cli_fail("nodes %s and %s: expected virtual devices of two names "
					 "in one process, got %.64s and %.64s",
					t->node[t->port[j].node].name,
					t->node[t->port[i].node].name, t->port[j].device,
					t->port[i].device);
}

unsigned int
ports_files(const struct daemon *d)
{
	return d->cfg.n_captures + ports_take(d, PORT_FILES, 0);
}

static int
ports_open_link(struct daemon *d, const struct weft_topo_link *l, char *err, size_t err_len)
{
	const uint16_t end[2] = { l->a, l->b };
	struct node *n[2];
	struct weft_port_spec spec[2];
	struct port_names names[2];
	struct weft_port *pair[2];
	int rc;

	for (unsigned int e = 0; e < 2; e++) {
		n[e] = ports_local_node(d, d->topo->port[end[e]].node);
		if (n[e] != NULL)
			port_spec(d, n[e], end[e], &spec[e], &names[e]);
	}
	if (port_is_ring(d, l)) {
		spec[0].driver = WEFT_PORT_RING;
		spec[1].driver = WEFT_PORT_RING;
		rc = weft_port_open_pair(&spec[0], &spec[1], pair, err, err_len);
		if (rc == 0) {
			d->port[l->a] = pair[0];
			d->port[l->b] = pair[1];
		}
		return rc;
	}
	for (unsigned int e = 0; e < 2; e++) {
		if (n[e] == NULL)
			continue;
		if (spec[e].socket != NULL && !spec[e].memif_server)
			rc = ports_open_client(d, &spec[e], &d->port[end[e]], err, err_len);
		else
			rc = weft_port_open(&spec[e], &d->port[end[e]], err, err_len);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
ports_open(struct daemon *d, char *err, size_t err_len)
{
	d->port = calloc((size_t)d->topo->n_ports + 1, sizeof(d->port[0]));
	if (d->port == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "out of memory");
	for (uint16_t i = 0; i < d->topo->n_links; i++) {
		int rc = ports_open_link(d, &d->topo->link[i], err, err_len);

		if (rc != 0)
			return rc;
	}
	for (uint16_t i = 0; i < d->topo->n_ports; i++)
		if (d->port[i] != NULL && !d->cfg.no_text)
			puts(weft_port_line(d->port[i]));
	return 0;
}

void
ports_close(struct daemon *d)
{
	if (d->port == NULL)
		return;
	for (uint16_t i = 0; i < d->topo->n_ports; i++)
		weft_port_close(d->port[i]);
	free(d->port);
	d->port = NULL;
}

void
ports_maintain(struct daemon *d)
{
	static const enum event_kind kinds[] = {
		[WEFT_PORT_CALLERS] = EVENT_CALLER,
		[WEFT_PORT_GONE] = EVENT_INTERFACE_GONE,
		[WEFT_PORT_BACK] = EVENT_INTERFACE_BACK,
	};

	for (uint16_t i = 0; i < d->topo->n_ports; i++) {
		const char *node = d->topo->node[d->topo->port[i].node].name;
		struct weft_port_event e;

		if (d->port[i] == NULL)
			continue;
		weft_port_maintain(d->port[i]);
		while (weft_port_next_event(d->port[i], &e))
			event_put(kinds[e.kind], node, weft_port_name(d->port[i]), e.n,
				"port %s: %s", weft_port_name(d->port[i]), e.text);
	}
}
