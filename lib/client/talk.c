/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Requests and answers over a host's socket. */

#include "client_priv.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define TALK_FDS_MAX 16 /* more than are expected: those too many are closed here */
#define TALK_ERRNO_MAX 4095

static void
talk_close(const int *fds, int n)
{
	while (n > 0)
		close(fds[--n]);
}

/* What no program prints: a line stays one. */
static void
talk_end_text(char *text, size_t len)
{
	text[len - 1] = '\0';
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

/* Descriptors of a message. @return how many */
static int
talk_take_fds(struct msghdr *m, int *fds)
{
	const struct cmsghdr *c;
	int n = 0;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, (struct cmsghdr *)(uintptr_t)c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			memcpy(fds, CMSG_DATA(c), (size_t)n * sizeof(int));
		}
	return n;
}

/* Until the socket is ready. Signals do not prolong it. 0, or -EAGAIN: time is over. */
static int
talk_wait(int sock, short events, int64_t until)
{
	struct pollfd p = { .fd = sock, .events = events };

	for (;;) {
		const int64_t left = until - client_clock(CLOCK_MONOTONIC);
		const struct timespec t = { .tv_sec = left / CLIENT_NS_PER_S,
			.tv_nsec = left % CLIENT_NS_PER_S };

		if (left <= 0)
			return -EAGAIN;
		if (ppoll(&p, 1, &t, NULL) > 0)
			return 0;
	}
}

/*
 * Receive a message of @len bytes at most. Where no descriptors are expected the kernel closes what
 * comes. @return bytes, or -errno
 */
static ssize_t
talk_receive(int sock, int64_t until, void *buf, size_t len, int *fds, int *n_fds, int *flags)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(TALK_FDS_MAX * sizeof(int))];
	} control;
	struct iovec v = { .iov_base = buf, .iov_len = len };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t got;
	int rc;

	if (fds != NULL) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
	}
	do {
		rc = talk_wait(sock, POLLIN, until);
		got = rc != 0 ? rc : recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	} while (rc == 0 && got < 0 && (errno == EINTR || errno == EAGAIN));
	if (rc == 0 && got < 0)
		got = -errno;
	*n_fds = got >= 0 && fds != NULL ? talk_take_fds(&m, fds) : 0;
	*flags = got >= 0 ? m.msg_flags : 0;
	return got;
}

static int
talk_judge(const char *path, const struct weft_attach_request *q,
	const struct weft_attach_answer *a, ssize_t got, int flags, char *err)
{
	if (got < (ssize_t)offsetof(struct weft_attach_answer, call) ||
		a->magic != WEFT_ATTACH_MAGIC)
		return weft_errorf(err, CLIENT_TEXT, -EPROTO,
			"%s: what answers is no daemon of Weft: name the socket of a host", path);
	if (a->version != WEFT_ATTACH_VERSION)
		return weft_errorf(err, CLIENT_TEXT, -EPROTONOSUPPORT,
			"%s: the daemon speaks version %u, this library version %u: take both from "
			"one Weft",
			path, a->version, WEFT_ATTACH_VERSION);
	if (got != sizeof(*a) || (flags & MSG_TRUNC) != 0 || a->call != q->call || a->status > 0 ||
		a->status < -TALK_ERRNO_MAX)
		return weft_errorf(err, CLIENT_TEXT, -EPROTO,
			"%s: the daemon's answer to request %u makes no sense (%zd bytes, call %u, "
			"status %d): restart it",
			path, q->call, got, a->call, a->status);
	return 0;
}

static int
talk_status(const char *path, struct weft_attach_answer *a, char *err)
{
	talk_end_text(a->text, sizeof(a->text));
	talk_end_text(a->node, sizeof(a->node));
	talk_end_text(a->row.name, sizeof(a->row.name));
	talk_end_text(a->row.target, sizeof(a->row.target));
	if (a->status == 0)
		return 0;
	return weft_errorf(err, CLIENT_TEXT, a->status, "%s: %s", path,
		a->text[0] == '\0' ? strerror(-a->status) : a->text);
}

static int
talk_send(int sock, int64_t until, const struct weft_attach_request *q)
{
	ssize_t sent;
	int rc;

	do {
		rc = talk_wait(sock, POLLOUT, until);
		if (rc != 0)
			return rc;
		sent = send(sock, q, sizeof(*q), MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (sent < 0 && (errno == EINTR || errno == EAGAIN));
	return sent == sizeof(*q) ? 0 : sent < 0 ? -errno : -EPIPE;
}

/* Neither sent nor answered. */
static int
talk_silence(const char *path, int rc, char *err)
{
	if (rc == -EAGAIN)
		return weft_errorf(err, CLIENT_TEXT, -ETIMEDOUT,
			"%s: the daemon has not answered for %d s: is it stopped?", path,
			CLIENT_TIMEOUT_S);
	return weft_errorf(err, CLIENT_TEXT, -ECONNREFUSED,
		"%s: the daemon closed the connection: it left, or does not take this client",
		path);
}

int
client_exchange(int sock, const char *path, struct weft_attach_request *q,
	struct weft_attach_answer *a, int *fds, char *err)
{
	const int64_t until = client_clock(CLOCK_MONOTONIC) + CLIENT_TIMEOUT_S * CLIENT_NS_PER_S;
	int came[TALK_FDS_MAX], n_came, flags, rc;
	ssize_t got;

	q->magic = WEFT_ATTACH_MAGIC;
	q->version = WEFT_ATTACH_VERSION;
	memset(a, 0, sizeof(*a));
	rc = talk_send(sock, until, q);
	/* A daemon that takes nothing may have said why. */
	if (rc != 0 && rc != -EPIPE)
		return talk_silence(path, rc, err);
	got = talk_receive(sock, until, a, sizeof(*a), fds == NULL ? NULL : came, &n_came, &flags);
	if (got <= 0)
		return talk_silence(path, got < 0 ? (int)got : -EPIPE, err);
	rc = talk_judge(path, q, a, got, flags, err);
	if (rc != 0)
		a->magic = 0;
	else
		rc = talk_status(path, a, err);
	if (rc == 0 && fds != NULL && n_came != WEFT_ATTACH_FDS)
		rc = (flags & MSG_CTRUNC) != 0
		             ? weft_errorf(err, CLIENT_TEXT, -EMFILE,
				       "%s: no room for %d descriptors in this process: close some",
				       path, WEFT_ATTACH_FDS)
		             : weft_errorf(err, CLIENT_TEXT, -EPROTO,
				       "%s: %d descriptors came with the answer, expected %d: "
				       "restart "
				       "the daemon",
				       path, n_came, WEFT_ATTACH_FDS);
	if (rc != 0)
		talk_close(came, n_came);
	else if (fds != NULL)
		memcpy(fds, came, WEFT_ATTACH_FDS * sizeof(int));
	return rc;
}

int
client_say_over(struct weft *w)
{
	return weft_errorf(client_error(w), CLIENT_TEXT, -ESHUTDOWN, "%s: %s: attach again",
		w->path,
		w->is_broken ? "the daemon wrote into the rings what no daemon does"
			     : "the daemon left, or detached this client");
}

int
client_ask(struct weft *w, struct weft_attach_request *q, struct weft_attach_answer *a)
{
	int rc;

	if (client_is_over(w))
		return client_say_over(w);
	rc = client_exchange(w->socket, w->path, q, a, NULL, client_error(w));
	if (rc == 0 || a->magic == WEFT_ATTACH_MAGIC)
		return rc;
	/* Whatever comes late would be taken for another answer. */
	shutdown(w->socket, SHUT_RDWR);
	w->is_over = true;
	return -ESHUTDOWN;
}
