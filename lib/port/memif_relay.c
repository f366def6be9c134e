/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The relay behind a memif client. When a server goes, DPDK's driver unmaps the memory of the rings
 * in EAL's interrupt thread, whether an lcore is in a burst or not. So the driver is connected to
 * us and we to the server: a thread passes on what the two say, and parts them while no lcore is in
 * there. Frames never come here.
 */

#include "memif_relay_priv.h"

#include <rte_lcore.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memif_door_priv.h"
#include "weft_socket.h"

#define RELAY_PATIENCE_MS 3000 /* for an answer of the server */

enum { RELAY_WAKE, RELAY_LISTEN, RELAY_SERVER, RELAY_DRIVER, RELAY_FDS };

struct memif_relay {
	/* Set when made. */
	struct weft_port *port;
	char server_path[WEFT_SOCKET_PATH_MAX];
	char meet_path[MEMIF_NAME_MAX]; /* has a name only while the driver is started */
	int folder;
	int wake;
	pthread_t thread;
	bool runs;
	/* The thread's; -1: none. */
	int listener, server, driver;
	/* Under the lock. */
	pthread_mutex_t lock;
	bool ends, is_joined;
	int next_listener, next_server; /* of the meeting that the thread has not taken up yet */
};

static void
relay_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* One of the two has gone: the driver hears of it while no lcore is in its rings. */
static void
relay_part(struct memif_relay *r)
{
	pthread_mutex_lock(&r->lock);
	/* One that still waits to be let in hears of it too. */
	if (r->driver >= 0 || r->listener >= 0) {
		port_hold(r->port);
		relay_close(&r->driver);
		relay_close(&r->listener);
		port_settle_interrupts();
		port_release(r->port);
	}
	relay_close(&r->server);
	r->is_joined = r->next_listener >= 0;
	pthread_mutex_unlock(&r->lock);
}

/* What one says to the other; a server that says it goes has gone. */
static void
relay_pass(struct memif_relay *r, int from, int to)
{
	struct memif_msg msg;
	bool goes_on = false;
	int fd = -1;

	switch (memif_receive(from, &msg, &fd)) {
	case MEMIF_NOTHING: return;
	case MEMIF_ENDED: break;
	case MEMIF_RECEIVED:
		if (from == r->driver || msg.type != MEMIF_DISCONNECT)
			goes_on = memif_send(to, &msg, fd);
		break;
	}
	if (fd >= 0)
		close(fd);
	if (goes_on)
		return;
	if (from == r->server)
		port_read_out(r->port, r->wake);
	relay_part(r);
}

static void
relay_accept(struct memif_relay *r)
{
	r->driver = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (r->driver >= 0)
		relay_close(&r->listener);
}

/* The device has been stopped, and with it the old connection, when the lock is free again. */
static bool
relay_take_up(struct memif_relay *r)
{
	eventfd_t n;
	bool ends;

	eventfd_read(r->wake, &n);
	pthread_mutex_lock(&r->lock);
	ends = r->ends;
	if (r->next_listener >= 0) {
		relay_close(&r->driver);
		relay_close(&r->server);
		relay_close(&r->listener);
		r->listener = r->next_listener;
		r->server = r->next_server;
		r->next_listener = r->next_server = -1;
	}
	pthread_mutex_unlock(&r->lock);
	return !ends;
}

static void *
relay_main(void *arg)
{
	struct memif_relay *r = arg;

	for (;;) {
		/* A server greets first, and that waits for the driver. */
		struct pollfd p[RELAY_FDS] = {
			[RELAY_WAKE] = { .fd = r->wake, .events = POLLIN },
			[RELAY_LISTEN] = { .fd = r->listener, .events = POLLIN },
			[RELAY_SERVER] = { .fd = r->driver < 0 ? -1 : r->server, .events = POLLIN },
			[RELAY_DRIVER] = { .fd = r->driver, .events = POLLIN },
		};

		if (poll(p, RELAY_FDS, -1) <= 0)
			continue;
		if (p[RELAY_WAKE].revents != 0) {
			if (!relay_take_up(r))
				return NULL;
			continue;
		}
		if (p[RELAY_LISTEN].revents != 0)
			relay_accept(r);
		else if (p[RELAY_SERVER].revents != 0)
			relay_pass(r, r->server, r->driver);
		else if (p[RELAY_DRIVER].revents != 0)
			relay_pass(r, r->driver, r->server);
	}
}

struct memif_relay *
port_memif_relay_new(struct weft_port *port, const char *server_path)
{
	struct memif_relay *r = calloc(1, sizeof(*r));
	int rc;

	if (r == NULL)
		return NULL;
	r->port = port;
	r->listener = r->server = r->driver = r->next_listener = r->next_server = r->wake = -1;
	pthread_mutex_init(&r->lock, NULL);
	snprintf(r->server_path, sizeof(r->server_path), "%s", server_path);
	r->folder = memif_name_beside(server_path, r->meet_path, sizeof(r->meet_path));
	if (r->folder < 0)
		goto fail;
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake < 0)
		goto fail;
	rc = rte_ctrl_thread_create(&r->thread, "weft-memif", NULL, relay_main, r);
	r->runs = rc == 0;
	if (r->runs)
		return r;
	errno = rc < 0 ? -rc : rc;

fail:
	port_memif_relay_close(r);
	return NULL;
}

const char *
port_memif_relay_path(const struct memif_relay *r)
{
	return r->meet_path;
}

int
port_memif_relay_meet(struct memif_relay *r)
{
	int server = weft_socket_connect(r->server_path, RELAY_PATIENCE_MS), listener;

	if (server < 0)
		return server == -ECONNREFUSED ? -ENOENT : server;
	/* Whoever serves the socket shares memory with us. */
	listener = weft_socket_is_trusted(server) ? weft_socket_listen(r->meet_path) : -EACCES;
	if (listener < 0) {
		close(server);
		return listener;
	}
	relay_close(&r->next_listener);
	relay_close(&r->next_server);
	r->next_listener = listener;
	r->next_server = server;
	r->is_joined = true;
	eventfd_write(r->wake, 1);
	return 0;
}

void
port_memif_relay_met(struct memif_relay *r)
{
	unlink(r->meet_path);
}

bool
port_memif_relay_is_joined(const struct memif_relay *r)
{
	return r->is_joined;
}

void
port_memif_relay_lock(struct memif_relay *r)
{
	pthread_mutex_lock(&r->lock);
}

void
port_memif_relay_unlock(struct memif_relay *r)
{
	pthread_mutex_unlock(&r->lock);
}

void
port_memif_relay_close(struct memif_relay *r)
{
	if (r == NULL)
		return;
	if (r->runs) {
		pthread_mutex_lock(&r->lock);
		r->ends = true;
		pthread_mutex_unlock(&r->lock);
		eventfd_write(r->wake, 1);
		pthread_join(r->thread, NULL);
	}
	if (r->next_listener >= 0) {
		r->listener = r->next_listener;
		r->next_listener = -1;
	}
	relay_part(r);
	relay_close(&r->next_server);
	relay_close(&r->wake);
	relay_close(&r->folder);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
