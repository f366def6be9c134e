/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The port of a manager: cci-HOST.port in the run folder, mode 0600, of a host that the topology
 * calls a manager's. A packet is PID (2 bytes, low first), type and tag of MCTP (bit 3: a request)
 * and a message of CCI; it goes out by the host's link to that PID, or to the neighbour switch
 * (FFFh), and what comes from there for the host is given to whoever is connected.
 */

#include "manage.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "weft_attach_rundir.h"
#include "weft_socket.h"

#define HOST_HEAD 4
#define HOST_OWNER 0x08

static struct {
	unsigned int n;
	struct host_port {
		struct manage *m;
		int fd, conn; /* -1: nobody is connected */
		char path[WEFT_SOCKET_PATH_MAX];
	} port[MANAGE_HOSTS];
} host;

int
manage_host_open(struct manage *m, const char *folder)
{
	struct host_port *p = &host.port[host.n];

	if (host.n == MANAGE_HOSTS)
		return -E2BIG;
	*p = (struct host_port){ .m = m, .fd = -1, .conn = -1 };
	if (snprintf(p->path, sizeof(p->path), "%s/" WEFT_ATTACH_CCI "%s.port", folder,
		    m->node->topo->name) >= (int)sizeof(p->path))
		return -ENAMETOOLONG;
	p->fd = weft_socket_listen(p->path);
	if (p->fd < 0)
		return p->fd;
	host.n++;
	return 0;
}

static void
host_close(struct host_port *p)
{
	if (p->conn >= 0)
		close(p->conn);
	p->conn = -1;
}

void
manage_host_fini(void)
{
	for (unsigned int i = 0; i < host.n; i++) {
		host_close(&host.port[i]);
		close(host.port[i].fd);
		unlink(host.port[i].path);
	}
	host.n = 0;
}

unsigned int
manage_host_fds(struct pollfd *p)
{
	for (unsigned int i = 0; i < host.n; i++) {
		p[2 * i] = (struct pollfd){ .fd = host.port[i].fd, .events = POLLIN };
		p[2 * i + 1] = (struct pollfd){ .fd = host.port[i].conn, .events = POLLIN };
	}
	return 2 * host.n;
}

/* One at a time: the next one takes the place of the last, which may hang. */
static void
host_accept(struct host_port *p)
{
	const int fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (!weft_socket_is_trusted(fd)) {
		close(fd);
		return;
	}
	host_close(p);
	p->conn = fd;
}

/* False: nothing has come. */
static bool
host_receive(struct host_port *p)
{
	uint8_t b[HOST_HEAD + WEFT_CCI_MESSAGE_MAX + 1];
	const ssize_t n = p->conn < 0 ? -1 : recv(p->conn, b, sizeof(b), MSG_DONTWAIT);
	struct weft_cci_mctp_hdr h;

	if (n < 0)
		return false;
	if (n < HOST_HEAD + WEFT_CCI_HDR || n > HOST_HEAD + WEFT_CCI_MESSAGE_MAX ||
		weft_get_le16(b) > WEFT_CCI_NO_PID || !weft_cci_mctp_is_cci(b[2])) {
		host_close(p);
		return false;
	}
	h = (struct weft_cci_mctp_hdr){ .is_owner = (b[3] & HOST_OWNER) != 0, .tag = b[3] & 7 };
	manage_send(p->m, 0, p->m->node->topo->pid, weft_get_le16(b), &h, b[2], b + HOST_HEAD,
		(size_t)n - HOST_HEAD);
	return true;
}

void
manage_host_serve(void)
{
	for (unsigned int i = 0; i < host.n; i++) {
		host_accept(&host.port[i]);
		for (unsigned int k = 0; k < MANAGE_PORT_FRAMES && host_receive(&host.port[i]); k++)
			;
	}
}

void
manage_host_message(const struct manage *m, const struct weft_management_packet *p,
	const struct weft_cci_mctp_rx *rx)
{
	uint8_t b[HOST_HEAD + WEFT_CCI_MCTP_MESSAGE_MAX];
	struct host_port *to = NULL;

	for (unsigned int i = 0; i < host.n; i++)
		if (host.port[i].m == m && host.port[i].conn >= 0)
			to = &host.port[i];
	if (to == NULL || rx->len < 1 + WEFT_CCI_HDR) {
		manage_count(WEFT_MANAGEMENT_N_UNWANTED);
		return;
	}
	weft_put_le16(b, p->dpid == WEFT_CCI_NO_PID ? WEFT_CCI_NO_PID : p->spid);
	b[2] = rx->message[0];
	b[3] = (uint8_t)((rx->hdr.is_owner ? HOST_OWNER : 0) | rx->hdr.tag);
	memcpy(b + HOST_HEAD, rx->message + 1, rx->len - 1);
	if (send(to->conn, b, HOST_HEAD + rx->len - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		host_close(to); /* it does not read, or has gone */
	manage_count(WEFT_MANAGEMENT_N_ANSWERS);
}
