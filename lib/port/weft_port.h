/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A port of a node: bursts of frames in and out, over any DPDK Ethernet port or over a pair of
 * rings to another node of the same process. Opening one climbs down a ladder of drivers and says
 * why it stopped where it did (doc/runtime.md). Drivers are only ever reached through ethdev: none
 * is linked, all load from DPDK's plug-in directory.
 *
 * Hot: the burst functions add one predictable branch for the kind of port, one for capture and one
 * for what keeps a burst from going straight.
 */
#ifndef WEFT_PORT_H
#define WEFT_PORT_H

#include <stdalign.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "weft_base.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

#define WEFT_PORT_NAME_MAX 40 /**< bytes of a port's name with its 0 */
#define WEFT_PORT_BURST_MAX 64 /**< frames a burst may hold */
#define WEFT_PORT_AF_XDP_MTU_MAX 3498 /**< largest MTU the kernel runs an XDP program on */

/** The rungs of the ladder. */
enum weft_port_driver {
	WEFT_PORT_AUTO, /**< choose by what the spec names */
	WEFT_PORT_PCI, /**< NIC bound to vfio-pci (or one whose driver works beside the kernel's) */
	WEFT_PORT_AF_XDP, /**< kernel interface, XDP socket */
	WEFT_PORT_AF_PACKET, /**< kernel interface, packet socket */
	WEFT_PORT_MEMIF, /**< shared memory between processes of one host */
	WEFT_PORT_VDEV, /**< any virtual device by its devargs */
	WEFT_PORT_RING, /**< rings inside the process, zero copy */
};

/** The word of a driver in topology files: "auto", "pci", "af_xdp", ... */
const char *weft_port_driver_word(enum weft_port_driver driver);

/**
 * What to open. Zero or NULL where a field is not needed. With WEFT_PORT_AUTO exactly one of pci,
 * netif, vdev and socket is given, and a link that names none of them at either end is a pair of
 * rings (weft_port_open_pair()), or a memif on a socket of the caller's choice.
 */
struct weft_port_spec {
	const char *name; /**< for people and telemetry, unique, such as "s0.1" */
	enum weft_port_driver driver;
	const char *pci; /**< address such as "0000:3b:00.0" */
	const char *netif; /**< kernel interface */
	const char *vdev; /**< devargs such as "net_null0,size=288"; handed on verbatim */
	const char *socket; /**< memif: path of the socket; its folder is made, mode 0700 */
	/**
	 * The user chose that path: its folder may be open to others, as long as they cannot
	 * replace what is there. Otherwise it must be this user's alone.
	 */
	bool socket_is_named;
	bool memif_server; /**< memif: one end is the server, the other is not */
	/** memif: tells links over one socket apart; the same at both ends */
	unsigned int memif_id;
	unsigned int ring_frames; /**< memif, ring: frames under way a direction; 0: 1024 */
	/**
	 * A bad wire: what the net_flitwire driver is to do to frames sent here, as "key=value,..."
	 * (doc/flitwire.md). NULL: none.
	 */
	const char *wire;
	unsigned int max_flits; /**< largest frame to send or receive, 1..64 flits */
	struct rte_mempool *pool; /**< of weft_pool_create(), for at least max_flits */
	/** Wait at most so long for the link to come up, ms; 0: do not wait. */
	unsigned int link_wait_ms;
};

/** Counters of a port. Each half has one writer: the lcore that receives, the one that sends. */
struct weft_port_stats {
	uint64_t rx_frames;
	uint64_t rx_bursts; /**< bursts that were not empty */
	uint64_t tx_frames;
	uint64_t tx_bursts; /**< bursts that were not empty, taken or not */
	uint64_t tx_full_frames; /**< frames offered and not taken */
	/** ethdev: lost before we could take them (imissed + rx_nombuf) */
	uint64_t rx_missed_frames;
	uint64_t rx_errors; /**< ethdev: ierrors */
	uint64_t tx_errors; /**< ethdev: oerrors */
	/** memif server: connections to its socket that were no peer's */
	uint64_t callers_refused;
};

#define WEFT_PORT_COUNTERS (sizeof(struct weft_port_stats) / sizeof(uint64_t))

/** Name, unit and help of each field of struct weft_port_stats, in order. */
extern const struct weft_counter weft_port_counters[WEFT_PORT_COUNTERS];

struct weft_badwire;
struct weft_capture;

/** What keeps bursts from going straight: bits of weft_port.detour. Private. */
enum {
	WEFT_PORT_HELD = 1, /* the device is being connected anew: no lcore may touch it */
	WEFT_PORT_BADWIRE = 2, /* faults are injected into what is sent (weft_port_badwire.h) */
	WEFT_PORT_REPAIRED = 4, /* that ends: as held, but by another thread */
	WEFT_PORT_CLOSED = WEFT_PORT_HELD | WEFT_PORT_REPAIRED,
	/* memif: the other end went, and not all that it sent is known to be read */
	WEFT_PORT_UNREAD = 8,
};

/** A port. Fields are the library's; they are visible for the inline functions only. */
struct weft_port {
	/* Set when opened, then only read; the first two and detour change while traffic flows. */
	struct weft_capture *capture;
	struct weft_badwire *badwire;
	struct rte_ring *rx_ring; /**< NULL: an ethdev */
	struct rte_ring *tx_ring;
	uint16_t ethdev;
	uint8_t driver; /**< enum weft_port_driver, never AUTO */
	uint8_t detour; /* 0: straight */
	/* Written by the receiving lcore. */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t rx_frames;
	uint64_t rx_bursts;
	/* Written by the sending lcore. */
	alignas(RTE_CACHE_LINE_SIZE) uint64_t tx_frames;
	uint64_t tx_bursts;
	uint64_t tx_full_frames;
	/* Control side. */
	alignas(RTE_CACHE_LINE_SIZE) struct weft_port_ctl *ctl;
};

/**
 * Open a port that is not a ring. Control thread; not from inside a poll function.
 *
 * @param port  receives the port; close it with weft_port_close()
 * @param err   receives one line on failure that names the port, what was wrong and how to mend
 *              it; may be NULL when @p errlen is 0
 * @return 0, or
 *         -EINVAL    the spec is incomplete or contradicts itself; pool buffers too small
 *         -ENODEV    no such interface or device, or its driver refused it
 *         -EMSGSIZE  the interface's MTU is too small for max_flits
 *         -ENETDOWN  the interface is down
 *         -EPERM     no right to open raw sockets (CAP_NET_RAW); memif: the socket's folder is
 *                    open to others
 *         -ENOENT    memif client: nobody serves the socket
 *         -EACCES    memif client: the socket is another user's
 *         -EADDRINUSE  memif socket is served by a process already; af_packet: the packet group
 *                    that DPDK numbers by process and interface is in use on another interface
 *         -EEXIST    a port of this name is open
 *         -ENOMEM, or what DPDK returned
 */
int weft_port_open(
	const struct weft_port_spec *spec, struct weft_port **port, char *err, size_t errlen);

/**
 * Open both ends of a link inside this process: two rings. Frames pass by pointer, so both specs
 * should use pools of the same layout. Of each spec only name, driver (auto or ring) and max_flits
 * matter, and ring_frames of @p a.
 *
 * @return as weft_port_open()
 */
int weft_port_open_pair(const struct weft_port_spec *a, const struct weft_port_spec *b,
	struct weft_port *ports[2], char *err, size_t errlen);

/**
 * Close a port: stops its capture and waits until no loop uses it (weft_loop_quiesce()). The loops
 * must not poll it again. Each end of a ring pair is closed on its own; frames still in the rings
 * are freed with the second. Before the pools are freed. NULL is allowed. Control thread.
 */
void weft_port_close(struct weft_port *port);

/** The port's name; lives as long as the port. */
const char *weft_port_name(const struct weft_port *port);

/**
 * Which driver and why, "port s0.1: af_packet on veth1 (af_xdp needs MTU <= 3498, this is 9000)".
 */
const char *weft_port_line(const struct weft_port *port);

/** What the kernel says of an interface. */
struct weft_netif {
	unsigned int mtu;
	bool is_up;
	bool has_carrier; /**< and is up */
};

/** Ask it. 0; -ENODEV: no interface of that name; or -errno. Any thread. */
int weft_netif_look(const char *name, struct weft_netif *n);

/** Is the link up? An interface of the kernel has to be up and have a carrier. Control thread. */
bool weft_port_is_up(struct weft_port *port);

/**
 * Look after the link: a memif client whose server went away connects again once a server is there;
 * a kernel interface that was deleted is used again once one of its name is up. Until then the port
 * takes and gives nothing, and counts of the device begin anew. Control thread, about once a
 * second; the lcores that use the port run weft_loop.
 */
void weft_port_maintain(struct weft_port *port);

/** Events of an open port. */
enum weft_port_event_kind {
	WEFT_PORT_CALLERS, /**< memif server: callers at its socket were turned away */
	WEFT_PORT_GONE, /**< its kernel interface is not there any more, or not fit for use */
	WEFT_PORT_BACK, /**< an interface of that name is in use again */
};

struct weft_port_event {
	enum weft_port_event_kind kind;
	uint64_t n; /**< how often since this kind was last taken */
	char text[256]; /**< what happened, without the port's name and a full stop */
};

/** Take the next event of the port, if there is one. Control thread. @return whether there is */
bool weft_port_next_event(struct weft_port *port, struct weft_port_event *event);

/** Read the counters. Any thread; a burst under way may be missing. */
void weft_port_stats(const struct weft_port *port, struct weft_port_stats *stats);

/* The way of a burst while the port is captured; not for direct use. */
uint16_t weft_port_capture_rx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n);
uint16_t weft_port_capture_tx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n);

/* The way of a burst that does not go straight; not for direct use. */
bool weft_port_detour_rx(struct weft_port *port); /* whether the port may be asked for frames */
uint16_t weft_port_detour_tx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n);

/* One writer, any readers: a plain add would be a data race with weft_port_stats(). */
static inline void
weft_port_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/** Give frames to the device or ring; not for direct use. */
static inline uint16_t
weft_port_tx_straight(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	if (port->tx_ring == NULL)
		return rte_eth_tx_burst(port->ethdev, 0, mbufs, n);
	return (uint16_t)rte_ring_sp_enqueue_burst(port->tx_ring, (void *const *)mbufs, n, NULL);
}

/** Send without counting or capture; not for direct use. */
static inline uint16_t
weft_port_tx_raw(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	if (__atomic_load_n(&port->detour, __ATOMIC_ACQUIRE) != 0)
		return weft_port_detour_tx(port, mbufs, n);
	return weft_port_tx_straight(port, mbufs, n);
}

/**
 * Receive a burst. One lcore a port.
 *
 * @param mbufs  receives the frames; they are the caller's
 * @param n      room, 1..WEFT_PORT_BURST_MAX
 * @return how many came
 */
static inline uint16_t
weft_port_rx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t got;

	if (__atomic_load_n(&port->detour, __ATOMIC_ACQUIRE) != 0 && !weft_port_detour_rx(port))
		return 0;
	if (port->rx_ring == NULL)
		got = rte_eth_rx_burst(port->ethdev, 0, mbufs, n);
	else
		got = (uint16_t)rte_ring_sc_dequeue_burst(port->rx_ring, (void **)mbufs, n, NULL);
	if (got == 0)
		return 0;
	weft_port_count(&port->rx_frames, got);
	weft_port_count(&port->rx_bursts, 1);
	if (__atomic_load_n(&port->capture, __ATOMIC_ACQUIRE) != NULL)
		return weft_port_capture_rx(port, mbufs, got);
	return got;
}

/**
 * Send a burst. One lcore a port.
 *
 * @param mbufs  frames of one segment each; those taken are the port's
 * @param n      0..WEFT_PORT_BURST_MAX
 * @return how many were taken, from the front; the others stay the caller's
 */
static inline uint16_t
weft_port_tx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t sent;

	if (n == 0)
		return 0;
	if (__atomic_load_n(&port->capture, __ATOMIC_ACQUIRE) != NULL)
		sent = weft_port_capture_tx(port, mbufs, n);
	else
		sent = weft_port_tx_raw(port, mbufs, n);
	weft_port_count(&port->tx_frames, sent);
	weft_port_count(&port->tx_bursts, 1);
	weft_port_count(&port->tx_full_frames, (uint64_t)(n - sent));
	return sent;
}

WEFT_END_DECLS

#endif /* WEFT_PORT_H */
