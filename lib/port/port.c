/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Opening and closing ports, and the pair of rings between two nodes of one process. */

#include "memif_door_priv.h"
#include "memif_relay_priv.h"

#include <rte_cycles.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>

#include "weft_capture.h"
#include "weft_eal.h"
#include "weft_loop.h"
#include "weft_port_badwire.h"

#define PORT_UNREAD_MS 500 /* at most: lcores may be stopped, or hold frames back */

/* Two rings, one a direction; lives until both ends are closed. */
struct port_pair {
	unsigned int open_ends;
	struct rte_ring *rings[2];
};

static_assert(offsetof(struct weft_port, rx_frames) % WEFT_CACHE_LINE == 0, "rx counters' line");
static_assert(offsetof(struct weft_port, tx_frames) % WEFT_CACHE_LINE == 0, "tx counters' line");
static_assert(sizeof(struct weft_port) == 4 * WEFT_CACHE_LINE, "one line a writer");

static int
port_new(const struct weft_port_spec *spec, struct weft_port **port, char *err, size_t errlen)
{
	struct weft_port *p;

	*port = NULL;
	if (spec->name == NULL || spec->name[0] == '\0' || strlen(spec->name) >= WEFT_PORT_NAME_MAX)
		return weft_errorf(err, errlen, -EINVAL, "port %s: a name has 1 to %d characters",
			spec->name != NULL ? spec->name : "", WEFT_PORT_NAME_MAX - 1);
	p = rte_zmalloc("weft_port", sizeof(*p), RTE_CACHE_LINE_SIZE);
	if (p != NULL)
		p->ctl = rte_zmalloc("weft_port_ctl", sizeof(*p->ctl), 0);
	if (p == NULL || p->ctl == NULL) {
		rte_free(p);
		return weft_errorf(err, errlen, -ENOMEM, "port %s: out of memory", spec->name);
	}
	snprintf(p->ctl->name, sizeof(p->ctl->name), "%s", spec->name);
	p->ctl->max_flits = spec->max_flits;
	p->ctl->connect_wait = PORT_CONNECT_TENDS;
	*port = p;
	return 0;
}

static void
port_free(struct weft_port *port)
{
	port_netif_forget(port->ctl);
	rte_free(port->ctl);
	rte_free(port);
}

static int
port_enlist(struct weft_port *port, char *err, size_t errlen)
{
	int rc = port_list_add(port);

	if (rc != 0)
		snprintf(err, errlen, "port %s: a port of this name is open", port->ctl->name);
	return rc;
}

static int
port_check_pool(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	unsigned int room, need = weft_pool_room(spec->max_flits);

	if (spec->pool == NULL)
		return weft_errorf(
			err, errlen, -EINVAL, "port %s: has no packet buffers", spec->name);
	room = rte_pktmbuf_data_room_size(spec->pool);
	if (room >= need)
		return 0;
	return weft_errorf(err, errlen, -EINVAL,
		"port %s: packet buffers of %u bytes, but %u flits per frame need %u", spec->name,
		room, spec->max_flits, need);
}

static const char *
port_device(const struct weft_port_spec *spec)
{
	return spec->netif != NULL  ? spec->netif
	       : spec->pci != NULL  ? spec->pci
	       : spec->vdev != NULL ? spec->vdev
	                            : spec->socket;
}

static void
port_write_line(
	struct weft_port *port, const struct weft_port_spec *spec, const struct port_choice *choice)
{
	snprintf(port->ctl->line, sizeof(port->ctl->line), "port %s: %s on %s (%s)%s%s", spec->name,
		weft_port_driver_word(choice->driver), port_device(spec), choice->why,
		spec->wire != NULL ? ", bad wire " : "", spec->wire != NULL ? spec->wire : "");
}

static int
port_bring_up(struct weft_port *port, const struct weft_port_spec *spec,
	const struct port_facts *facts, const struct port_choice *choice, char *err, size_t errlen)
{
	static atomic_uint next_index;
	struct port_devargs args;
	int rc;

	rc = port_devargs_write(
		&args, spec, facts, choice->driver, atomic_fetch_add(&next_index, 1));
	if (rc != 0)
		return weft_errorf(
			err, errlen, rc, "port %s: the name of its device is too long", spec->name);
	if (choice->driver == WEFT_PORT_AF_XDP)
		port_quiet_xdp();
	rc = port_ethdev_open(&port->ctl->ethdev, spec, choice->driver, &args, err, errlen);
	if (rc != 0)
		return rc;
	port->ethdev = port->ctl->ethdev.id;
	port->driver = (uint8_t)choice->driver;
	port_write_line(port, spec, choice);
	return 0;
}

static int
port_no_socket(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	return weft_errorf(err, errlen, -ENOMEM, "port %s: socket %s cannot be used: %s",
		spec->name, spec->socket, strerror(errno));
}

/* A server's driver listens where nobody can find it; who asks for the port comes to the door. */
static int
port_bring_up_server(struct weft_port *port, const struct weft_port_spec *spec,
	const struct port_facts *facts, const struct port_choice *choice, char *err, size_t errlen)
{
	struct weft_port_spec behind = *spec;
	struct memif_door *door = port_memif_door_new(port, spec->socket);
	int rc;

	if (door == NULL)
		return port_no_socket(spec, err, errlen);
	behind.socket = port_memif_door_behind(door);
	rc = port_bring_up(port, &behind, facts, choice, err, errlen);
	if (rc != 0)
		goto close_door;
	rc = port_memif_door_open(door);
	if (rc != 0) {
		snprintf(err, errlen, "port %s: socket %s: %s", spec->name, spec->socket,
			strerror(-rc));
		port_ethdev_close(&port->ctl->ethdev);
		goto close_door;
	}
	port->ctl->door = door;
	port_write_line(port, spec, choice);
	return 0;

close_door:
	port_memif_door_close(door);
	return rc;
}

/* A client's driver is connected to a relay, which is connected to the server. */
static int
port_bring_up_client(struct weft_port *port, const struct weft_port_spec *spec,
	const struct port_facts *facts, const struct port_choice *choice, char *err, size_t errlen)
{
	struct memif_relay *relay = port_memif_relay_new(port, spec->socket);
	struct weft_port_spec own = *spec;
	int rc;

	if (relay == NULL)
		return port_no_socket(spec, err, errlen);
	port_memif_relay_lock(relay);
	rc = port_memif_relay_meet(relay);
	port_memif_relay_unlock(relay);
	if (rc != 0) {
		snprintf(err, errlen, "port %s: nobody can be reached at socket %s: %s", spec->name,
			spec->socket, strerror(-rc));
		port_memif_relay_close(relay);
		return rc;
	}
	own.socket = port_memif_relay_path(relay);
	rc = port_bring_up(port, &own, facts, choice, err, errlen);
	port_memif_relay_met(relay);
	if (rc != 0) {
		port_memif_relay_close(relay);
		return rc;
	}
	port->ctl->relay = relay;
	port_write_line(port, spec, choice);
	return 0;
}

/* Try af_xdp where af_packet would do as well: the driver's complaints are then not errors. */
static int
port_bring_up_or_fall(struct weft_port *port, const struct weft_port_spec *spec,
	const struct port_facts *facts, struct port_choice *choice, char *err, size_t errlen)
{
	int rc;

	if (choice->driver == WEFT_PORT_MEMIF) {
		rc = port_memif_prepare(spec, err, errlen);
		if (rc != 0)
			return rc;
		return spec->memif_server
		               ? port_bring_up_server(port, spec, facts, choice, err, errlen)
		               : port_bring_up_client(port, spec, facts, choice, err, errlen);
	}
	if (!choice->may_fall)
		return port_bring_up(port, spec, facts, choice, err, errlen);
	rte_log_set_level_pattern("pmd.net.af_xdp", RTE_LOG_EMERG);
	rc = port_bring_up(port, spec, facts, choice, err, errlen);
	rte_log_set_level_pattern("pmd.net.af_xdp", RTE_LOG_ERR);
	if (rc == 0)
		return 0;
	choice->driver = WEFT_PORT_AF_PACKET;
	snprintf(choice->why, sizeof(choice->why), "af_xdp was refused: %s", strerror(-rc));
	return port_bring_up(port, spec, facts, choice, err, errlen);
}

int
port_open_device(
	struct weft_port *port, const struct weft_port_spec *spec, char *err, size_t errlen)
{
	struct port_choice choice;
	struct port_facts facts;
	int rc;

	port_facts_read(spec, &facts);
	rc = port_choose(spec, &facts, &choice, err, errlen);
	if (rc == 0)
		rc = port_bring_up_or_fall(port, spec, &facts, &choice, err, errlen);
	return rc;
}

int
weft_port_open(const struct weft_port_spec *spec, struct weft_port **port, char *err, size_t errlen)
{
	struct weft_port *p;
	int rc;

	rc = port_new(spec, &p, err, errlen);
	if (rc != 0)
		return rc;
	rc = port_check_pool(spec, err, errlen);
	if (rc != 0)
		goto free_port;
	if (spec->netif != NULL && port_netif_keep(p->ctl, spec) != 0) {
		snprintf(err, errlen, "port %s: out of memory", spec->name);
		rc = -ENOMEM;
		goto free_port;
	}
	rc = port_open_device(p, spec, err, errlen);
	if (rc != 0)
		goto free_port;
	rc = port_enlist(p, err, errlen);
	if (rc != 0)
		goto close_ethdev;
	*port = p;
	return 0;

close_ethdev:
	port_memif_door_close(p->ctl->door);
	port_memif_relay_close(p->ctl->relay);
	port_ethdev_close(&p->ctl->ethdev);
free_port:
	port_free(p);
	return rc;
}

static struct rte_ring *
port_pair_ring(unsigned int frames)
{
	/* One more, so that a ring of @frames holds them all. */
	unsigned int size = rte_align32pow2(frames + 1);
	ssize_t bytes = rte_ring_get_memsize(size);
	struct rte_ring *ring;

	if (bytes < 0)
		return NULL;
	ring = rte_zmalloc("weft_port_ring", (size_t)bytes, RTE_CACHE_LINE_SIZE);
	if (ring == NULL)
		return NULL;
	if (rte_ring_init(ring, "weft_port", frames,
		    RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ) != 0) {
		rte_free(ring);
		return NULL;
	}
	return ring;
}

static void
port_pair_free(struct port_pair *pair)
{
	struct rte_mbuf *m;

	for (int i = 0; i < 2; i++) {
		if (pair->rings[i] == NULL)
			continue;
		while (rte_ring_sc_dequeue(pair->rings[i], (void **)&m) == 0)
			rte_pktmbuf_free(m);
		rte_free(pair->rings[i]);
	}
	rte_free(pair);
}

static struct port_pair *
port_pair_new(unsigned int frames)
{
	struct port_pair *pair = rte_zmalloc("weft_port_pair", sizeof(*pair), 0);

	if (pair == NULL)
		return NULL;
	for (int i = 0; i < 2; i++) {
		pair->rings[i] = port_pair_ring(frames);
		if (pair->rings[i] == NULL) {
			port_pair_free(pair);
			return NULL;
		}
	}
	return pair;
}

static int
port_pair_check(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	const char *name = spec->name != NULL ? spec->name : "";

	if (spec->driver != WEFT_PORT_AUTO && spec->driver != WEFT_PORT_RING)
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: driver %s cannot join two nodes inside a process", name,
			weft_port_driver_word(spec->driver));
	if (spec->wire != NULL)
		return weft_errorf(err, errlen, -EINVAL, "port %s: a ring takes no bad wire", name);
	if (spec->max_flits < 1 || spec->max_flits > WEFT_WIRE_FLITS_MAX)
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: flits per frame must be 1 to 64, not %u", name, spec->max_flits);
	return 0;
}

/* Make end @side (0 or 1) of a pair and enlist it. */
static int
port_pair_open_end(struct port_pair *pair, int side, const struct weft_port_spec *spec,
	const struct weft_port_spec *peer, struct weft_port **port, char *err, size_t errlen)
{
	struct weft_port *p;
	int rc = port_new(spec, &p, err, errlen);

	if (rc != 0)
		return rc;
	p->driver = WEFT_PORT_RING;
	p->rx_ring = pair->rings[side];
	p->tx_ring = pair->rings[1 - side];
	p->ctl->pair = pair;
	snprintf(p->ctl->line, sizeof(p->ctl->line),
		"port %s: ring to %s (both ends in this process)", spec->name, peer->name);
	rc = port_enlist(p, err, errlen);
	if (rc != 0) {
		port_free(p);
		return rc;
	}
	pair->open_ends++;
	*port = p;
	return 0;
}

int
weft_port_open_pair(const struct weft_port_spec *a, const struct weft_port_spec *b,
	struct weft_port *ports[2], char *err, size_t errlen)
{
	unsigned int frames = a->ring_frames != 0 ? a->ring_frames : PORT_RING_FRAMES;
	struct weft_port *ends[2];
	struct port_pair *pair;
	int rc;

	rc = port_pair_check(a, err, errlen);
	if (rc == 0)
		rc = port_pair_check(b, err, errlen);
	if (rc != 0)
		return rc;
	pair = frames < RTE_RING_SZ_MASK / 2 ? port_pair_new(frames) : NULL;
	if (pair == NULL)
		return weft_errorf(err, errlen, -ENOMEM,
			"port %s: no memory for rings of %u frames", a->name != NULL ? a->name : "",
			frames);
	rc = port_pair_open_end(pair, 0, a, b, &ends[0], err, errlen);
	if (rc != 0)
		goto free_pair;
	rc = port_pair_open_end(pair, 1, b, a, &ends[1], err, errlen);
	if (rc != 0)
		goto close_first;
	memcpy(ports, ends, sizeof(ends));
	return 0;

close_first:
	port_list_remove(ends[0]);
	port_free(ends[0]);
free_pair:
	port_pair_free(pair);
	return rc;
}

void
weft_port_close(struct weft_port *port)
{
	struct port_pair *pair;

	if (port == NULL)
		return;
	port_list_remove(port);
	if (weft_capture_is_open(port))
		weft_capture_close(port, NULL);
	weft_port_badwire_close(port, NULL);
	weft_loop_quiesce();
	pair = port->ctl->pair;
	port_memif_door_close(port->ctl->door);
	port_memif_relay_close(port->ctl->relay);
	if (pair == NULL && !port->ctl->netif.is_gone)
		port_ethdev_close(&port->ctl->ethdev);
	else if (pair != NULL && --pair->open_ends == 0)
		port_pair_free(pair);
	port_free(port);
}

void
port_hold(struct weft_port *port)
{
	__atomic_fetch_or(&port->detour, WEFT_PORT_HELD, __ATOMIC_ACQ_REL);
	weft_loop_quiesce();
}

void
port_release(struct weft_port *port)
{
	__atomic_fetch_and(&port->detour, (uint8_t)~WEFT_PORT_HELD, __ATOMIC_ACQ_REL);
}

void
port_look_whether_read(struct weft_port *port)
{
	if (port->ctl->unread_bursts == port->rx_bursts)
		__atomic_fetch_and(&port->detour, (uint8_t)~WEFT_PORT_UNREAD, __ATOMIC_ACQ_REL);
	port->ctl->unread_bursts = port->rx_bursts;
}

void
port_read_out(struct weft_port *port, int wake)
{
	struct pollfd p = { .fd = wake, .events = POLLIN };

	port->ctl->unread_bursts = UINT64_MAX;
	__atomic_fetch_or(&port->detour, WEFT_PORT_UNREAD, __ATOMIC_ACQ_REL);
	for (unsigned int ms = 0; ms < PORT_UNREAD_MS; ms++)
		if ((__atomic_load_n(&port->detour, __ATOMIC_ACQUIRE) & WEFT_PORT_UNREAD) == 0 ||
			poll(&p, 1, 1) > 0)
			break;
	__atomic_fetch_and(&port->detour, (uint8_t)~WEFT_PORT_UNREAD, __ATOMIC_ACQ_REL);
}

const char *
weft_port_name(const struct weft_port *port)
{
	return port->ctl->name;
}

const char *
weft_port_line(const struct weft_port *port)
{
	return port->ctl->line;
}

/* DPDK's driver does not connect again by itself, only when it is started. */
static void
port_connect_anew(struct weft_port *port, uint16_t id)
{
	struct weft_port_ctl *ctl = port->ctl;

	/* A handshake on a busy machine takes a while, and beginning anew would cut it short. */
	if (ctl->connect_wait != 0 && port_memif_relay_is_joined(ctl->relay)) {
		ctl->connect_wait--;
		return;
	}
	if (port_memif_relay_meet(ctl->relay) != 0)
		return;
	port_hold(port);
	/* A link is down before EAL's interrupt thread is done with taking it down. */
	port_settle_interrupts();
	port_memif_restart(id);
	port_memif_relay_met(ctl->relay);
	port_release(port);
	ctl->connect_wait = PORT_CONNECT_TENDS;
}

void
weft_port_maintain(struct weft_port *port)
{
	uint16_t id;

	if (port->ctl->netif.is_kept) {
		port_netif_maintain(port);
		return;
	}
	if (port->ctl->relay == NULL || !port_memif_client(&port->ctl->ethdev, &id))
		return;
	port_memif_relay_lock(port->ctl->relay);
	if (port_ethdev_is_up(id))
		port->ctl->connect_wait = 0;
	else
		port_connect_anew(port, id);
	port_memif_relay_unlock(port->ctl->relay);
}

bool
weft_port_next_event(struct weft_port *port, struct weft_port_event *event)
{
	struct weft_port_ctl *ctl = port->ctl;
	char why[192];
	uint64_t refused;

	if (ctl->netif.is_kept)
		return port_netif_next_event(port, event);
	if (ctl->door == NULL)
		return false;
	refused = port_memif_door_refused(ctl->door, why, sizeof(why));
	if (refused == ctl->refused_told)
		return false;
	event->kind = WEFT_PORT_CALLERS;
	event->n = refused - ctl->refused_told;
	snprintf(event->text, sizeof(event->text), "turned away a caller at its socket, %s", why);
	ctl->refused_told = refused;
	return true;
}

bool
weft_port_is_up(struct weft_port *port)
{
	const struct port_netif *n = &port->ctl->netif;
	struct weft_netif now;

	/* A ring's other end is there as long as the process is. */
	if (port->ctl->pair != NULL)
		return true;
	/* To a driver of an interface the link is up always. */
	if (n->is_kept &&
		(n->is_gone || weft_netif_look(n->spec.netif, &now) != 0 || !now.has_carrier))
		return false;
	return port_ethdev_is_up(port->ethdev);
}
