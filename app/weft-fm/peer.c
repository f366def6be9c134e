/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A socket that a daemon serves in the run folder, of packets both ways. */

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "manager.h"

#define PEER_CONNECT_MS 50

void
peer_init(struct peer *p, const char *folder, const char *node, const char *suffix)
{
	p->fd = -1;
	if (snprintf(p->path, sizeof(p->path), "%s/cci-%s%s", folder, node, suffix) >=
		(int)sizeof(p->path))
		cli_fail("%s/cci-%s%s: longer than the name of a socket may be", folder, node,
			suffix);
}

void
peer_close(struct peer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

bool
peer_connect(struct peer *p)
{
	if (p->fd >= 0)
		return false;
	p->fd = weft_socket_connect(p->path, PEER_CONNECT_MS);
	return p->fd >= 0;
}

unsigned int
peer_fds(const struct peer *p, struct pollfd *fd)
{
	if (p->fd < 0)
		return 0;
	*fd = (struct pollfd){ .fd = p->fd, .events = POLLIN };
	return 1;
}

int
peer_send(struct peer *p, const uint8_t *packet, size_t len)
{
	if (send(p->fd, packet, len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	/* One that takes nothing any more is given up, as one that has gone. */
	peer_close(p);
	return -EPIPE;
}

size_t
peer_receive(struct peer *p, uint8_t *packet, size_t room)
{
	const ssize_t n = p->fd < 0 ? 0 : recv(p->fd, packet, room, MSG_DONTWAIT);

	if (n > 0)
		return (size_t)n;
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		peer_close(p);
	return 0;
}
