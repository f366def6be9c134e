/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the files of lib/port share: the ladder of drivers as a pure choice over facts, the strings
 * drivers are asked for with, and the control half of a port.
 */
#ifndef WEFT_PORT_PRIV_H
#define WEFT_PORT_PRIV_H

#include "weft_port.h"
#include "weft_wire.h"

/* MTU that a frame of so many flits needs: the frame without its Ethernet header. */
#define PORT_MTU(flits) ((unsigned int)WEFT_WIRE_FRAME_LEN(flits) - WEFT_ETH_LEN)

#define PORT_LINE_MAX 256
#define PORT_RING_FRAMES 1024
#define PORT_CONNECT_TENDS 4

/* Facts of the machine about a spec. */
struct port_facts {
	int netif_rc; /* 0, or why the interface cannot be asked: -ENODEV, ... */
	unsigned int mtu; /* of the interface */
	bool is_up;
	bool can_packet; /* CAP_NET_RAW */
	bool is_group_taken; /* the packet group of an af_packet port is another process's */
	bool can_xdp; /* may load programs: CAP_BPF and CAP_NET_ADMIN outside a user namespace */
	size_t lockable; /* bytes this process may still lock; SIZE_MAX: no limit */
	size_t buffer_len; /* a whole buffer of the pool, bookkeeping included, in bytes */
};

void port_facts_read(const struct weft_port_spec *spec, struct port_facts *facts);

struct port_choice {
	enum weft_port_driver driver;
	bool may_fall; /* af_xdp chosen by the ladder: af_packet if the kernel refuses */
	char why[160]; /* in brackets in the port's line */
};

/* Climb down the ladder. 0, or an errno of weft_port_open() with one line in @err. Pure. */
int port_choose(const struct weft_port_spec *spec, const struct port_facts *facts,
	struct port_choice *choice, char *err, size_t errlen);

/* Device name and arguments, for rte_dev_probe(). */
struct port_devargs {
	char name[64];
	char text[320];
	char wire_name[64]; /* "" without a bad wire */
	char wire_text[768];
};

/* Write the devargs of @driver; @index makes the name unique. 0, or -ENAMETOOLONG. Pure. */
int port_devargs_write(struct port_devargs *args, const struct weft_port_spec *spec,
	const struct port_facts *facts, enum weft_port_driver driver, unsigned int index);

/* Make the folder of a memif socket, and see that nobody else can be at either. */
int port_memif_prepare(const struct weft_port_spec *spec, char *err, size_t errlen);

/* A device brought up as one queue each way. */
struct port_ethdev {
	uint16_t id;
	bool is_ours; /* we probed it, so we remove it */
	bool memif_server; /* of a memif: this end is the server */
	struct {
		uint16_t id;
		bool is_there;
		bool is_ours;
	} behind; /* with a bad wire: the device behind it */
};

int port_ethdev_open(struct port_ethdev *dev, const struct weft_port_spec *spec,
	enum weft_port_driver driver, const struct port_devargs *args, char *err, size_t errlen);
void port_ethdev_close(const struct port_ethdev *dev);
bool port_ethdev_is_up(uint16_t id);

/*
 * Wait until EAL's interrupt thread has dealt with what has happened so far. At most a second or
 * two. Not from that thread.
 */
void port_settle_interrupts(void);

/* The memif of a port. NULL if it is none, or a server, which waits for its client. */
bool port_memif_client(const struct port_ethdev *dev, uint16_t *id);

/* Its driver says of what is no error that it is one: keep it quiet, and end that. */
int port_memif_hush(void);
void port_memif_unhush(int level);

/* Have it connect anew, while no lcore uses the port. */
void port_memif_restart(uint16_t id);

/* Keep libbpf and libxdp, which come with the af_xdp driver, off the terminal. */
void port_quiet_xdp(void);

struct port_pair;

/* State to open the port of a kernel interface again. */
struct port_netif {
	struct weft_port_spec spec; /* with strings of its own */
	unsigned int index; /* of the interface that is open */
	bool is_kept; /* the port is one of a kernel interface */
	bool is_gone; /* its device is closed; under the list's lock */
	bool tell_gone, tell_back;
	char gone[96];
	char why[256]; /* an interface that is there was not taken */
};

/* The control half of a port. */
struct weft_port_ctl {
	char name[WEFT_PORT_NAME_MAX];
	char line[PORT_LINE_MAX];
	unsigned int max_flits;
	struct port_ethdev ethdev;
	unsigned int connect_wait; /* memif client: calls to tend it before it connects anew */
	uint64_t unread_bursts; /* WEFT_PORT_UNREAD: not empty, before the last one was asked for */
	struct memif_relay *relay; /* NULL: no memif client */
	struct memif_door *door; /* NULL: no memif server */
	struct port_pair *pair; /* NULL: an ethdev */
	struct port_netif netif;
	uint64_t refused_told; /* control thread: callers that an event was made of */
	struct weft_port *next; /* list of open ports, under its lock */
};

/* Have no lcore in a burst of the port until it is released: waits for a round of the loops. */
void port_hold(struct weft_port *port);
void port_release(struct weft_port *port);

/*
 * The other end of a memif has gone: have what it sent before be read, as what is on a wire is.
 * Until a burst comes in empty, @wake can be read, or the port is not asked for long.
 */
void port_read_out(struct weft_port *port, int wake);

/* That is so: the lcore that receives is about to ask for a burst. */
void port_look_whether_read(struct weft_port *port);

/* Ask the machine, choose a driver, and bring the device up. 0, or as weft_port_open(). */
int port_open_device(
	struct weft_port *port, const struct weft_port_spec *spec, char *err, size_t errlen);

/* Remember how the port of an interface was opened; 0, or -1: no memory. */
int port_netif_keep(struct weft_port_ctl *ctl, const struct weft_port_spec *spec);
void port_netif_forget(struct weft_port_ctl *ctl);

/* See whether the interface is still the one that was opened. */
void port_netif_maintain(struct weft_port *port);
bool port_netif_next_event(struct weft_port *port, struct weft_port_event *event);

/* Telemetry reads the ports on a thread of its own. */
void port_list_lock(void);
void port_list_unlock(void);

/* The list of open ports, for names and telemetry. */
int port_list_add(struct weft_port *port);
void port_list_remove(struct weft_port *port);

#endif /* WEFT_PORT_PRIV_H */
