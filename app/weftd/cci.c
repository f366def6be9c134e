/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sockets of components: who may connect, whole messages in and out, and which manager a connection
 * is. Connections are bounded in number; one that says nothing at first is closed, as is one that
 * sends what is no message, or does not read.
 */

#include "cci.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "event.h"
#include "manage.h"
#include "update.h"
#include "weft_attach_rundir.h"
#include "weft_socket.h"

#define CCI_COMPONENTS 256 /* with a socket: the first of a process */
#define CCI_CONNS 64 /* of all of them */
#define CCI_SILENT_NS UINT64_C(5000000000) /* until the first message */
#define CCI_NET 1
#define CCI_EID_FM 8
#define CCI_EID_HOST 9
#define CCI_TAG_OWNER 0x08 /* in the tag: it is a request */
#define CCI_HEAD 4 /* net, EID, type, tag */
#define CCI_HOST_HEAD 8 /* and PID of the host, reserved */
#define CCI_MESSAGE (CCI_HOST_HEAD + WEFT_CCI_MESSAGE_MAX)

const char *const cci_mode_words[] = { "read-only", "full", "off", NULL };

struct cci_conn {
	int fd; /* -1: free */
	struct cci_component *to;
	uint16_t fm_pid; /* of the manager that it is; WEFT_CCI_NO_PID: none */
	bool has_spoken;
	uint64_t since_ns;
};

static struct {
	unsigned int n;
	struct cci_component *component;
	struct cci_conn conn[CCI_CONNS];
	uint64_t requests, garbage, turned_away, silent, unread;
	uint64_t reports, reports_kept_back; /* of components that have ended */
} cci;

static void
cci_exit(void)
{
	for (unsigned int i = 0; cci.component != NULL && i < cci.n; i++)
		if (cci.component[i].fd >= 0) {
			close(cci.component[i].fd);
			unlink(cci.component[i].path);
			cci.component[i].fd = -1;
		}
	manage_host_fini();
}

/* The socket of a component. @return 0 or -errno; its name may be another daemon's */
static int
cci_listen(struct cci_component *c, const char *folder)
{
	if (snprintf(c->path, sizeof(c->path), "%s/" WEFT_ATTACH_CCI "%s" WEFT_ATTACH_SUFFIX,
		    folder, c->node->topo->name) >= (int)sizeof(c->path))
		return -ENAMETOOLONG;
	c->fd = weft_socket_listen(c->path);
	return c->fd < 0 ? c->fd : 0;
}

/* What a component has beside its socket. No lcore that could make reports runs, or it has none. */
static void
cci_forget(struct cci_component *c)
{
	c->node->rights.guard.report = NULL;
	free(c->reports);
	free(c->host);
	free(c->rows);
	c->reports = NULL;
	c->host = NULL;
	c->rows = NULL;
}

/* Ports of managers, where the file says that a host is one's. */
static int
cci_open_ports(struct daemon *d, const char *folder, char *err, size_t err_len)
{
	unsigned int hosts = 0;

	for (uint16_t i = 0; i < d->n_nodes && d->topo->ide.mode == WEFT_IDE_OFF; i++)
		hosts += d->node[i].topo->is_manager;
	if (hosts > MANAGE_HOSTS)
		return weft_errorf(err, err_len, -E2BIG,
			"--node: expected at most %u hosts with manager: true in a process, got "
			"%u: give some to another weftd, or take the word from those that no "
			"manager uses",
			MANAGE_HOSTS, hosts);
	for (uint16_t i = 0; i < d->n_nodes && hosts != 0; i++) {
		struct node *n = &d->node[i];
		int rc;

		if (!n->topo->is_manager)
			continue;
		/* One that a manager gives memory takes messages already. */
		rc = n->own.manage != NULL ? 0 : manage_begin(n, NULL);
		if (rc == 0)
			rc = manage_host_open(n->own.manage, folder);
		if (rc != 0)
			return weft_errorf(err, err_len, rc,
				"node %s: port of a manager, in %s: %s", n->topo->name, folder,
				strerror(-rc));
	}
	return 0;
}

static int
cci_open(struct daemon *d, const char *folder, char *err, size_t err_len)
{
	for (uint16_t i = 0; i < d->n_nodes && cci.n < CCI_COMPONENTS; i++) {
		struct cci_component *c = &cci.component[cci.n];
		int rc = cci_begin(c, &d->node[i], err, err_len);

		if (rc == -ENOTSUP)
			continue;
		if (rc == -EPROTO)
			return rc;
		if (rc == 0 && manage_is_on(d))
			rc = manage_begin(c->node, c);
		/* Last: a component that is left out has no socket. */
		if (rc == 0)
			rc = cci_listen(c, folder);
		if (rc != 0 && d->cfg.cci_is_given)
			return weft_errorf(err, err_len, rc, "node %s: CCI socket %s: %s",
				c->node->topo->name, c->path, strerror(-rc));
		if (rc != 0) {
			manage_fini(c->node);
			cci_forget(c);
		}
		cci.n += rc == 0;
	}
	return cci_open_ports(d, folder, err, err_len);
}

int
cci_init(struct daemon *d, char *err, size_t err_len)
{
	char folder[sizeof(cci.component->path)];
	int rc;

	for (unsigned int i = 0; i < CCI_CONNS; i++)
		cci.conn[i].fd = -1;
	if (d->cfg.cci == CCI_OFF)
		return 0;
	rc = weft_attach_rundir(folder, sizeof(folder), true);
	if (rc != 0)
		return d->cfg.cci_is_given
		               ? weft_errorf(err, err_len, rc, "--cci: run folder %s: %s", folder,
					 weft_attach_rundir_error(rc))
		               : 0;
	cci.component = calloc(
		d->n_nodes < CCI_COMPONENTS ? d->n_nodes : CCI_COMPONENTS, sizeof(*cci.component));
	if (cci.component == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "CCI: out of memory");
	atexit(cci_exit);
	return cci_open(d, folder, err, err_len);
}

struct cci_component *
cci_component_at(unsigned int i)
{
	return i < cci.n ? &cci.component[i] : NULL;
}

static void
cci_close(struct cci_conn *k)
{
	close(k->fd);
	k->fd = -1;
}

static void
cci_say(const struct cci_component *c, uint64_t *count, const char *what)
{
	++*count;
	event_put(EVENT_CCI_REFUSED, c->node->topo->name, what, 1, "CCI: %s (%llu in all)", what,
		(unsigned long long)*count);
}

/* Mode 0600 keeps others out; who came by another way, such as a passed descriptor, is refused. */
static void
cci_accept(struct cci_component *c, uint64_t now_ns)
{
	const int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct cci_conn *k = NULL;

	if (fd < 0)
		return;
	for (unsigned int i = 0; k == NULL && i < CCI_CONNS; i++)
		if (cci.conn[i].fd < 0)
			k = &cci.conn[i];
	if (k == NULL || !weft_socket_is_trusted(fd)) {
		cci_say(c, &cci.turned_away,
			k == NULL ? "a connection too many was closed"
				  : "a connection of another user was closed");
		close(fd);
		return;
	}
	*k = (struct cci_conn){ fd, c, WEFT_CCI_NO_PID, false, now_ns };
}

/* After an answer: the connection that claimed is the manager's, or it comes by a link. */
static void
cci_learn(const struct cci_way *w, const uint8_t *msg, const uint8_t *rsp)
{
	const uint16_t pid = weft_cci_component_learn(&w->to->component, WEFT_CCI_NO_PID, msg, rsp);

	if (pid == WEFT_CCI_NO_PID)
		return;
	w->to->is_by_link = w->conn < 0;
	if (w->conn >= 0)
		cci.conn[w->conn].fm_pid = pid;
}

/* Who does not read is closed, and named; who has gone is closed. */
static void
cci_send(struct cci_conn *k, const uint8_t *msg, size_t len)
{
	if (send(k->fd, msg, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len)
		return;
	if (errno == EAGAIN || errno == ENOBUFS)
		cci_say(k->to, &cci.unread, "a connection that does not read was closed");
	cci_close(k);
}

void
cci_notify(void *component, uint16_t fm_pid, const uint8_t *msg, size_t len)
{
	const struct cci_component *c = component;
	uint8_t packet[CCI_HEAD + WEFT_CCI_MESSAGE_MAX] = { CCI_NET, CCI_EID_FM, WEFT_CCI_MCTP_CCI,
		CCI_TAG_OWNER };

	memcpy(packet + CCI_HEAD, msg, len);
	for (unsigned int i = 0; i < CCI_CONNS; i++) {
		struct cci_conn *k = &cci.conn[i];

		if (k->fd >= 0 && k->to == c && k->fm_pid == fm_pid)
			cci_send(k, packet, CCI_HEAD + len);
	}
	/* A host says nothing by its link that it was not asked. */
	if (c->is_by_link && c->host == NULL)
		manage_notify(c, fm_pid, msg, len);
}

/* Bytes before the CCI message; 0: it is none. */
static size_t
cci_head(const struct daemon *d, const uint8_t *packet, size_t len)
{
	if (len < CCI_HEAD || packet[0] != CCI_NET || !weft_cci_mctp_is_cci(packet[2]))
		return 0;
	if (packet[1] == CCI_EID_FM)
		return CCI_HEAD;
	return packet[1] == CCI_EID_HOST && len >= CCI_HOST_HEAD &&
	                       cci_is_requester(d, weft_get_le16(packet + CCI_HEAD))
	               ? CCI_HOST_HEAD
	               : 0;
}

size_t
cci_run(const struct cci_way *w, const uint8_t *msg, size_t len, uint8_t *rsp, size_t room)
{
	struct cci_component *c = w->to;
	size_t n;

	c->gfd.dc = c->node->rights.lists; /* SIGHUP makes others */
	n = weft_cci_component_run(&c->component, &w->who, msg, len, rsp, room, node_now_ns());
	if (n == 0)
		return 0;
	cci.requests++;
	weft_probe_fm_command(c->node->topo->name, w->who.pid, weft_get_le16(msg + 3),
		weft_get_le16(rsp + 8), (unsigned int)len);
	if (w->who.iface == WEFT_CCI_FM)
		cci_learn(w, msg, rsp);
	return n;
}

void
cci_reply(const struct cci_way *w, const uint8_t *rsp, size_t len)
{
	uint8_t out[CCI_MESSAGE];
	struct cci_conn *k = &cci.conn[w->conn < 0 ? 0 : w->conn];

	if (w->conn < 0) {
		manage_answer(w, rsp, len);
		return;
	}
	if (k->fd < 0 || k->to != w->to || k->since_ns != w->since_ns)
		return; /* another one has its place */
	memcpy(out, w->head, w->head_len);
	out[3] &= (uint8_t)~CCI_TAG_OWNER;
	memcpy(out + w->head_len, rsp, len);
	cci_send(k, out, w->head_len + len);
}

bool
cci_take(const struct cci_way *w, const uint8_t *msg, size_t len)
{
	uint8_t rsp[WEFT_CCI_MESSAGE_MAX];
	const size_t n = cci_run(w, msg, len, rsp, sizeof(rsp));

	if (n == 0)
		return false;
	if (weft_cci_unalias(weft_get_le16(rsp + 3)) == WEFT_CCI_CRAWL_OUT &&
		weft_get_le16(rsp + 8) == WEFT_CCI_RETRY_REQUIRED && manage_defer(w, msg, len, rsp))
		return true;
	cci_reply(w, rsp, n);
	return true;
}

/* False: close it. */
static bool
cci_answer(const struct daemon *d, struct cci_conn *k, const uint8_t *packet, size_t len)
{
	const size_t head = len > CCI_MESSAGE ? 0 : cci_head(d, packet, len);
	struct cci_way w = { .to = k->to,
		.who = { .iface = WEFT_CCI_FM },
		.conn = (int)(k - cci.conn),
		.since_ns = k->since_ns,
		.head_len = (uint8_t)head };

	if (head == 0) {
		cci_say(k->to, &cci.garbage,
			"what came was no message of CCI, or of a PID that no host or device has");
		return false;
	}
	memcpy(w.head, packet, head);
	w.who.pid =
		weft_cci_component_manager(&k->to->component, k->fm_pid, packet + head, len - head);
	if (head == CCI_HOST_HEAD)
		w.who = (struct weft_cci_caller){ WEFT_CCI_HOST, weft_get_le16(packet + CCI_HEAD) };
	if (cci_take(&w, packet + head, len - head))
		return true;
	cci_say(k->to, &cci.garbage, "what came was no request of CCI");
	return false;
}

/* A message of a connection, if one has come. */
static void
cci_receive(const struct daemon *d, struct cci_conn *k)
{
	uint8_t packet[CCI_MESSAGE];
	const ssize_t n = recv(k->fd, packet, sizeof(packet), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	k->has_spoken = true;
	if (n <= 0 || !cci_answer(d, k, packet, (size_t)n))
		cci_close(k);
}

static void
cci_close_silent(uint64_t now_ns)
{
	for (unsigned int i = 0; i < CCI_CONNS; i++) {
		struct cci_conn *k = &cci.conn[i];

		if (k->fd < 0 || k->has_spoken || now_ns - k->since_ns < CCI_SILENT_NS)
			continue;
		cci_say(k->to, &cci.silent, "a connection that said nothing was closed");
		cci_close(k);
	}
}

/* What there is to wait for: sockets, then connections; ppoll passes over those that are -1. */
static int
cci_wait(struct pollfd *p, int timeout_ms)
{
	unsigned int n = cci.n + CCI_CONNS;

	for (unsigned int i = 0; i < cci.n; i++)
		p[i] = (struct pollfd){ .fd = cci.component[i].fd, .events = POLLIN };
	for (unsigned int i = 0; i < CCI_CONNS; i++)
		p[cci.n + i] = (struct pollfd){ .fd = cci.conn[i].fd, .events = POLLIN };
	p[n++] = (struct pollfd){ .fd = manage_fd(), .events = POLLIN };
	n += manage_host_fds(p + n);
	return poll(p, n, timeout_ms);
}

void
cci_serve(struct daemon *d, unsigned int ms)
{
	struct pollfd p[CCI_COMPONENTS + CCI_CONNS + 1 + MANAGE_HOST_FDS];
	uint64_t now_ns = node_now_ns();
	const uint64_t until_ns = now_ns + ms * UINT64_C(1000000);

	cci_close_silent(now_ns);
	for (unsigned int i = 0; i < cci.n; i++) {
		cci_gfd_send_reports(&cci.component[i], now_ns);
		cci_end_resets(&cci.component[i], now_ns);
	}
	for (; now_ns < until_ns; now_ns = node_now_ns()) {
		/* At least one: what is left of a millisecond is not polled for. */
		const uint64_t left_ms = (until_ns - now_ns + 999999) / 1000000;

		if (cci_wait(p, update_is_going() ? 1 : (int)left_ms) < 0)
			return; /* a signal: the control thread has something to do */
		update_go_on(d);
		cci_hosts_go_on();
		manage_serve(d, now_ns);
		manage_host_serve();
		for (unsigned int i = 0; i < CCI_CONNS; i++)
			if (p[cci.n + i].revents != 0 && cci.conn[i].fd == p[cci.n + i].fd)
				cci_receive(d, &cci.conn[i]);
		for (unsigned int i = 0; i < cci.n; i++)
			if (p[i].revents != 0)
				cci_accept(&cci.component[i], now_ns);
	}
}

json_t *
cci_json(const struct daemon *d)
{
	uint64_t sent = cci.reports, kept_back = cci.reports_kept_back;

	for (unsigned int i = 0; cci.component != NULL && i < cci.n; i++) {
		const struct cci_reports *q = cci.component[i].reports;

		sent += q == NULL ? 0 : q->sent;
		kept_back += q == NULL ? 0 : q->kept_back + q->dropped;
	}
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "components", (int)cci.n,
		"requests", (json_int_t)cci.requests, "garbage", (json_int_t)cci.garbage,
		"turned_away", (json_int_t)cci.turned_away, "silent", (json_int_t)cci.silent,
		"unread", (json_int_t)cci.unread, "reports", (json_int_t)sent, "reports_kept_back",
		(json_int_t)kept_back, "links", manage_json(d));
}

void
cci_fini(void)
{
	for (unsigned int i = 0; i < CCI_CONNS; i++)
		if (cci.conn[i].fd >= 0)
			cci_close(&cci.conn[i]);
	cci_exit();
	/* No lcore runs any more, but nodes say goodbye yet. */
	for (unsigned int i = 0; i < cci.n; i++) {
		struct cci_component *c = &cci.component[i];

		cci.reports += c->reports == NULL ? 0 : c->reports->sent;
		cci.reports_kept_back +=
			c->reports == NULL ? 0 : c->reports->kept_back + c->reports->dropped;
		cci_forget(c);
	}
	free(cci.component);
	cci.component = NULL;
}
