/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The door before a memif server. DPDK's driver does not outlive a client that connects and goes at
 * once (it frees a control channel that EAL's interrupt thread still polls, which then panics), and
 * believes whatever a client says of its memory. So its socket has no name: what clients find is
 * ours. A thread takes a client's whole handshake, checks it, and only then repeats it to the
 * driver; afterwards it passes on what little the two still say. Frames never come here.
 */

#include "memif_door_priv.h"

#include <rte_lcore.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "weft_socket.h"

#define DOOR_CALLERS 8
#define DOOR_ACCEPTS 16 /* in a turn */
#define DOOR_PATIENCE_MS 3000 /* for a whole handshake, and for an answer of the driver */

enum { DOOR_WAKE, DOOR_LISTEN, DOOR_PEER, DOOR_DRIVER, DOOR_FIRST_CALLER };

struct memif_door {
	/* Set when opened. */
	struct weft_port *port;
	char path[WEFT_SOCKET_PATH_MAX];
	char hidden_path[MEMIF_NAME_MAX];
	int folder;
	int listener;
	int wake;
	int hidden;
	pthread_t thread;
	bool runs;
	struct memif_msg hello; /* what the driver greets with */
	/* The thread's. */
	struct memif_hand callers[DOOR_CALLERS];
	int peer; /* the client that is connected, and our end to the driver; -1: none */
	int driver;
	/* Under the lock. */
	pthread_mutex_t lock;
	uint64_t refused;
	char reason[192]; /* of the last */
};

static uint64_t
door_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Turn a caller away, say why to it and keep it for people. */
static void
door_refuse(struct memif_door *d, struct memif_hand *c, const char *why)
{
	char name[32];
	pid_t pid = weft_socket_peer(c->fd, name, sizeof(name));

	pthread_mutex_lock(&d->lock);
	d->refused++;
	snprintf(d->reason, sizeof(d->reason), "process %d (%s): %s", (int)pid, name, why);
	pthread_mutex_unlock(&d->lock);
	memif_send_disconnect(c->fd, why);
	memif_hand_close(c);
}

/* Of two callers, which has less to lose: one that has said nothing, and then the older one. */
static bool
door_goes_first(const struct memif_hand *a, const struct memif_hand *b)
{
	if ((a->n == 0) != (b->n == 0))
		return a->n == 0;
	return a->until_ms < b->until_ms;
}

static void
door_accept(struct memif_door *d)
{
	for (unsigned int i = 0; i < DOOR_ACCEPTS; i++) {
		struct memif_hand *c = NULL, *oldest = &d->callers[0];
		int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		for (unsigned int k = 0; k < DOOR_CALLERS; k++) {
			if (d->callers[k].fd < 0)
				c = &d->callers[k];
			else if (door_goes_first(&d->callers[k], oldest))
				oldest = &d->callers[k];
		}
		/* Whoever came last is served: those who say nothing keep nobody out. */
		if (c == NULL) {
			door_refuse(d, oldest, "too many callers");
			c = oldest;
		}
		memif_hand_begin(c, fd, door_now_ms() + DOOR_PATIENCE_MS);
		if (!memif_send(fd, &d->hello, -1))
			door_refuse(d, c, "hung up");
	}
}

/* Repeat a handshake to the driver. Its end, or -1; then @answer is what it said last. */
static int
door_repeat(struct memif_door *d, const struct memif_hand *c, struct memif_msg *answer)
{
	int fd = weft_socket_reach(d->hidden, DOOR_PATIENCE_MS), got;

	memset(answer, 0, sizeof(*answer));
	if (fd < 0)
		return -1;
	if (memif_receive(fd, answer, &got) != MEMIF_RECEIVED || answer->type != MEMIF_HELLO)
		goto fail;
	for (unsigned int i = 0; i < c->n; i++) {
		const uint16_t want = c->msg[i].type == MEMIF_CONNECT ? MEMIF_CONNECTED : MEMIF_ACK;

		if (!memif_send(fd, &c->msg[i], c->msg_fd[i]) ||
			memif_receive(fd, answer, &got) != MEMIF_RECEIVED || answer->type != want)
			goto fail;
	}
	return fd;

fail:
	close(fd);
	return -1;
}

/* The handshake of a caller is whole and good: join it to the driver. */
static void
door_join(struct memif_door *d, struct memif_hand *c)
{
	struct memif_msg answer;
	char why[WEFT_MEMIF_REASON + 32];
	int fd;

	if (d->peer >= 0) {
		door_refuse(d, c, "Already connected");
		return;
	}
	fd = door_repeat(d, c, &answer);
	if (fd < 0) {
		if (answer.type == MEMIF_DISCONNECT)
			snprintf(why, sizeof(why), "the port refuses: %.*s", WEFT_MEMIF_REASON - 1,
				answer.disconnect.reason);
		else
			snprintf(why, sizeof(why), "the port does not answer");
		door_refuse(d, c, why);
		return;
	}
	if (!memif_send(c->fd, &answer, -1)) {
		close(fd);
		door_refuse(d, c, "hung up");
		return;
	}
	d->driver = fd;
	d->peer = c->fd;
	c->fd = -1; /* stays open */
	memif_hand_close(c);
}

static void
door_listen_to(struct memif_door *d, struct memif_hand *c)
{
	const char *why = NULL;

	switch (memif_hand_step(c, d->peer >= 0, &why)) {
	case MEMIF_HAND_MORE: break;
	case MEMIF_HAND_WHOLE: door_join(d, c); break;
	case MEMIF_HAND_BAD: door_refuse(d, c, why); break;
	}
}

/*
 * The client went. The driver gives up the memory when it hears of it, so no lcore may be in there:
 * the port is held until EAL's interrupt thread is done with it.
 */
static void
door_part(struct memif_door *d)
{
	if (d->driver < 0)
		return;
	port_hold(d->port);
	close(d->driver);
	close(d->peer);
	d->driver = -1;
	d->peer = -1;
	port_settle_interrupts();
	port_release(d->port);
}

/* After the handshake there is only the end to talk about. */
static void
door_relay(struct memif_door *d, int from, int to)
{
	struct memif_msg msg;
	int fd = -1;

	if (memif_receive(from, &msg, &fd) == MEMIF_NOTHING)
		return;
	if (fd >= 0)
		close(fd);
	if (from == d->driver && msg.type == MEMIF_DISCONNECT)
		memif_send(to, &msg, -1);
	if (from == d->peer)
		port_read_out(d->port, d->wake);
	door_part(d);
}

static int
door_collect(struct memif_door *d, struct pollfd *p)
{
	uint64_t now = door_now_ms(), first = UINT64_MAX;

	p[DOOR_WAKE] = (struct pollfd){ .fd = d->wake, .events = POLLIN };
	p[DOOR_LISTEN] = (struct pollfd){ .fd = d->listener, .events = POLLIN };
	p[DOOR_PEER] = (struct pollfd){ .fd = d->peer, .events = POLLIN };
	p[DOOR_DRIVER] = (struct pollfd){ .fd = d->driver, .events = POLLIN };
	for (unsigned int i = 0; i < DOOR_CALLERS; i++) {
		struct memif_hand *c = &d->callers[i];

		if (c->fd >= 0 && c->until_ms <= now)
			door_refuse(d, c, "no handshake within 3 s");
		if (c->fd >= 0 && c->until_ms < first)
			first = c->until_ms;
		p[DOOR_FIRST_CALLER + i] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	}
	return first == UINT64_MAX ? -1 : (int)(first - now);
}

static void *
door_main(void *arg)
{
	struct memif_door *d = arg;
	struct pollfd p[DOOR_FIRST_CALLER + DOOR_CALLERS];

	for (;;) {
		int wait_ms = door_collect(d, p);

		if (poll(p, DOOR_FIRST_CALLER + DOOR_CALLERS, wait_ms) <= 0)
			continue;
		if (p[DOOR_WAKE].revents != 0)
			break;
		if (p[DOOR_PEER].revents != 0)
			door_relay(d, d->peer, d->driver);
		else if (p[DOOR_DRIVER].revents != 0)
			door_relay(d, d->driver, d->peer);
		for (unsigned int i = 0; i < DOOR_CALLERS; i++)
			if (p[DOOR_FIRST_CALLER + i].revents != 0)
				door_listen_to(d, &d->callers[i]);
		if (p[DOOR_LISTEN].revents != 0)
			door_accept(d);
	}
	return NULL;
}

struct memif_door *
port_memif_door_new(struct weft_port *port, const char *path)
{
	struct memif_door *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->port = port;
	d->listener = d->wake = d->hidden = d->peer = d->driver = -1;
	for (unsigned int i = 0; i < DOOR_CALLERS; i++)
		d->callers[i].fd = -1;
	pthread_mutex_init(&d->lock, NULL);
	snprintf(d->path, sizeof(d->path), "%s", path);
	d->folder = memif_name_beside(path, d->hidden_path, sizeof(d->hidden_path));
	if (d->folder < 0) {
		port_memif_door_close(d);
		return NULL;
	}
	return d;
}

const char *
port_memif_door_behind(const struct memif_door *d)
{
	return d->hidden_path;
}

/* The greeting is the driver's: ask it once. */
static int
door_read_hello(struct memif_door *d)
{
	int fd = weft_socket_reach(d->hidden, DOOR_PATIENCE_MS), got, rc = 0;

	if (fd < 0)
		return fd;
	if (memif_receive(fd, &d->hello, &got) != MEMIF_RECEIVED || d->hello.type != MEMIF_HELLO)
		rc = -EPROTO;
	close(fd);
	return rc;
}

int
port_memif_door_open(struct memif_door *d)
{
	int rc;

	d->hidden = weft_socket_hide(d->hidden_path);
	if (d->hidden < 0)
		return d->hidden;
	rc = door_read_hello(d);
	if (rc != 0)
		return rc;
	d->wake = eventfd(0, EFD_CLOEXEC);
	if (d->wake < 0)
		return -errno;
	d->listener = weft_socket_listen(d->path);
	if (d->listener < 0)
		return d->listener;
	rc = rte_ctrl_thread_create(&d->thread, "weft-memif", NULL, door_main, d);
	d->runs = rc == 0;
	return rc > 0 ? -rc : rc;
}

void
port_memif_door_close(struct memif_door *d)
{
	if (d == NULL)
		return;
	if (d->runs) {
		eventfd_write(d->wake, 1);
		pthread_join(d->thread, NULL);
	}
	if (d->listener >= 0) {
		unlink(d->path);
		close(d->listener);
	}
	for (unsigned int i = 0; i < DOOR_CALLERS; i++)
		if (d->callers[i].fd >= 0)
			memif_hand_close(&d->callers[i]);
	if (d->peer >= 0)
		memif_send_disconnect(d->peer, "Device closed");
	door_part(d);
	if (d->hidden >= 0)
		close(d->hidden);
	if (d->wake >= 0)
		close(d->wake);
	if (d->folder >= 0)
		close(d->folder);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

uint64_t
port_memif_door_refused(struct memif_door *d, char *reason, size_t len)
{
	uint64_t n;

	pthread_mutex_lock(&d->lock);
	n = d->refused;
	snprintf(reason, len, "%s", d->reason);
	pthread_mutex_unlock(&d->lock);
	return n;
}
