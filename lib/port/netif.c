/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A kernel interface under a port may be deleted and made again: a socket of the old one never
 * hears of the new one. So the port is held, its device closed, and opened anew when an interface
 * of the name is there and will do. Control thread.
 */

#include "port_priv.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

int
port_netif_keep(struct weft_port_ctl *ctl, const struct weft_port_spec *spec)
{
	struct port_netif *n = &ctl->netif;

	n->spec = *spec;
	n->spec.name = ctl->name;
	n->spec.netif = strdup(spec->netif);
	n->spec.wire = spec->wire == NULL ? NULL : strdup(spec->wire);
	n->index = if_nametoindex(spec->netif);
	n->is_kept = true;
	return n->spec.netif != NULL && (spec->wire == NULL || n->spec.wire != NULL) ? 0 : -1;
}

void
port_netif_forget(struct weft_port_ctl *ctl)
{
	/* They were copied for us; the spec's type is for those that are not. */
	free((void *)(uintptr_t)ctl->netif.spec.netif);
	free((void *)(uintptr_t)ctl->netif.spec.wire);
}

int
weft_netif_look(const char *name, struct weft_netif *n)
{
	struct ifreq ifr = { 0 };
	int fd, rc = 0;

	*n = (struct weft_netif){ 0 };
	if (strlen(name) >= sizeof(ifr.ifr_name))
		return -ENODEV;
	memcpy(ifr.ifr_name, name, strlen(name));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFMTU, &ifr) != 0) {
		rc = -errno;
	} else {
		n->mtu = (unsigned int)ifr.ifr_mtu;
		if (ioctl(fd, SIOCGIFFLAGS, &ifr) != 0)
			rc = -errno;
		n->is_up = rc == 0 && (ifr.ifr_flags & IFF_UP) != 0;
		n->has_carrier = n->is_up && (ifr.ifr_flags & IFF_RUNNING) != 0;
	}
	close(fd);
	return rc;
}

static void
netif_let_go(struct weft_port *port, bool is_replaced)
{
	struct port_netif *n = &port->ctl->netif;

	port_hold(port);
	port_list_lock();
	port_ethdev_close(&port->ctl->ethdev);
	n->is_gone = true;
	port_list_unlock();
	/* The driver keeps the buffers that waited in its fill ring: not a second time. */
	if (port->driver == WEFT_PORT_AF_XDP)
		n->spec.driver = WEFT_PORT_AF_PACKET;
	n->tell_gone = true;
	snprintf(n->gone, sizeof(n->gone), "interface %s is gone%s", n->spec.netif,
		is_replaced ? ": another has its name" : "");
	n->why[0] = '\0';
}

static void
netif_take(struct weft_port *port, unsigned int index)
{
	struct port_netif *n = &port->ctl->netif;
	char err[256];
	int rc;

	port_list_lock();
	rc = port_open_device(port, &n->spec, err, sizeof(err));
	n->is_gone = rc != 0;
	port_list_unlock();
	if (rc != 0) {
		/* It may be half made: down, or of a small MTU. Said once for each reason. */
		n->tell_back = strcmp(n->why, err) != 0;
		snprintf(n->why, sizeof(n->why), "%s", err);
		return;
	}
	n->index = index;
	n->tell_back = true;
	n->why[0] = '\0';
	port_release(port);
}

void
port_netif_maintain(struct weft_port *port)
{
	struct port_netif *n = &port->ctl->netif;
	const unsigned int index = if_nametoindex(n->spec.netif);

	if (!n->is_gone && index == n->index)
		return;
	if (!n->is_gone)
		netif_let_go(port, index != 0);
	if (index != 0)
		netif_take(port, index);
}

bool
port_netif_next_event(struct weft_port *port, struct weft_port_event *event)
{
	struct port_netif *n = &port->ctl->netif;
	const enum weft_port_driver driver = (enum weft_port_driver)port->driver;

	event->n = 1;
	if (n->tell_gone) {
		n->tell_gone = false;
		event->kind = WEFT_PORT_GONE;
		snprintf(event->text, sizeof(event->text), "%s", n->gone);
		return true;
	}
	if (!n->tell_back)
		return false;
	n->tell_back = false;
	event->kind = n->is_gone ? WEFT_PORT_GONE : WEFT_PORT_BACK;
	if (n->is_gone)
		snprintf(event->text, sizeof(event->text),
			"interface %s is there but not taken: %.180s", n->spec.netif, n->why);
	else
		snprintf(event->text, sizeof(event->text), "interface %s is back, over %s",
			n->spec.netif, weft_port_driver_word(driver));
	return true;
}
