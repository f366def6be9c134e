/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Paths to components: the sockets that their daemons serve, cci-NODE.sock in the run folder
 * (doc/cci.md); where there is none, through the fabric (inband.c).
 * A message is net, endpoint, type and tag, a byte each, and the CCI message.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "manager.h"
#include "weft_cci_mctp.h"
#include "weft_socket.h"

#define PATHS_FRAME 4 /* bytes before a message */
#define PATHS_NET 1
#define PATHS_EID 8 /* the FM interface of the component */
#define PATHS_TAG_OWNER 8 /* set in requests; the tag itself is of the CCI message */
#define PATHS_CONNECT_MS 50

struct paths_one {
	int fd; /* -1: not connected */
	char path[WEFT_SOCKET_PATH_MAX];
};

struct paths {
	struct inband *inband; /* NULL: sockets alone */
	uint32_t n;
	struct paths_one one[];
};

struct paths *
paths_new(const struct intent *in, const char *folder, int via)
{
	struct paths *p = calloc(1, sizeof(*p) + in->n_paths * sizeof(p->one[0]));

	if (p == NULL)
		cli_fail("out of memory");
	p->n = in->n_paths;
	if (via >= 0)
		p->inband = inband_new(in, folder, (unsigned int)via);
	for (uint32_t i = 0; i < p->n; i++) {
		struct paths_one *o = &p->one[i];

		o->fd = -1;
		if (snprintf(o->path, sizeof(o->path), "%s/cci-%s.sock", folder,
			    intent_name(in, i)) >= (int)sizeof(o->path))
			cli_fail("%s/cci-%s.sock: longer than the name of a socket may be", folder,
				intent_name(in, i));
	}
	return p;
}

static void
paths_close(struct paths_one *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

void
paths_free(struct paths *p)
{
	for (uint32_t i = 0; p != NULL && i < p->n; i++)
		paths_close(&p->one[i]);
	if (p != NULL)
		inband_free(p->inband);
	free(p);
}

int
paths_send(struct paths *p, const struct weft_fm *fm, uint32_t path, const uint8_t *msg, size_t len)
{
	struct paths_one *o = &p->one[path];
	uint8_t packet[PATHS_FRAME + WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD];
	struct weft_cci_hdr h;

	if (o->fd < 0 && p->inband != NULL)
		return inband_send(p->inband, fm, path, msg, len);
	if (o->fd < 0 || weft_cci_get_hdr(&h, msg, len) != 0)
		return -ENOTCONN;
	packet[0] = PATHS_NET;
	packet[1] = PATHS_EID;
	packet[2] = weft_cci_mctp_type(h.opcode);
	packet[3] = PATHS_TAG_OWNER;
	memcpy(packet + PATHS_FRAME, msg, len);
	if (send(o->fd, packet, PATHS_FRAME + len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	/* One that takes nothing any more is given up, as one that has gone. */
	paths_close(o);
	return -EPIPE;
}

void
paths_connect(struct paths *p, struct weft_fm *fm, uint64_t now_ns)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct paths_one *o = &p->one[i];

		if (o->fd >= 0)
			continue;
		o->fd = weft_socket_connect(o->path, PATHS_CONNECT_MS);
		if (o->fd >= 0)
			weft_fm_reset_path(fm, i, now_ns);
	}
	if (p->inband == NULL || !inband_connect(p->inband))
		return;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->one[i].fd < 0)
			weft_fm_reset_path(fm, i, now_ns);
}

unsigned int
paths_fds(const struct paths *p, struct pollfd *fd)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->one[i].fd >= 0)
			fd[n++] = (struct pollfd){ .fd = p->one[i].fd, .events = POLLIN };
	if (p->inband != NULL)
		n += inband_fds(p->inband, fd + n);
	return n;
}

/* All that has come by one socket, as long as it does not keep the others waiting. */
static void
paths_receive_one(struct paths_one *o, uint32_t path, struct weft_fm *fm, uint64_t now_ns)
{
	uint8_t packet[PATHS_FRAME + WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD + 1];

	for (unsigned int k = 0; o->fd >= 0 && k < 16; k++) {
		const ssize_t n = recv(o->fd, packet, sizeof(packet), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			paths_close(o);
		else if (n >= PATHS_FRAME)
			weft_fm_answer(
				fm, path, packet + PATHS_FRAME, (size_t)n - PATHS_FRAME, now_ns);
	}
}

void
paths_receive(struct paths *p, struct weft_fm *fm, uint64_t now_ns)
{
	for (uint32_t i = 0; i < p->n; i++)
		paths_receive_one(&p->one[i], i, fm, now_ns);
	if (p->inband != NULL)
		inband_receive(p->inband, fm, now_ns);
}
