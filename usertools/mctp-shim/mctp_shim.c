/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Preloaded into a program that speaks to MCTP endpoints of the kernel (AF_MCTP), it lets the
 * program speak to a component of weftd instead: WEFT_CCI names its socket, which becomes EID 8 of
 * net 1 (doc/cci.md). A socket connects when it sends first: weftd closes those that say nothing.
 */

/* Headers that check lengths bring a recvfrom() of their own, and clang lets none follow. */
#undef _FORTIFY_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <linux/mctp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef AF_MCTP
#define AF_MCTP 45
#endif
#define SHIM_NET 1
#define SHIM_EID 8
#define SHIM_HEAD 4 /* net, EID, type, tag */
#define SHIM_FILES 1024

#define PUBLIC __attribute__((visibility("default")))

static uint8_t shim_is_ours[SHIM_FILES]; /* by descriptor */

PUBLIC int
socket(int family, int type, int protocol)
{
	int (*next)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
	int fd;

	if (family != AF_MCTP || getenv("WEFT_CCI") == NULL)
		return next(family, type, protocol);
	fd = next(AF_UNIX, SOCK_SEQPACKET | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)), 0);
	if (fd >= 0 && fd < SHIM_FILES)
		shim_is_ours[fd] = 1;
	return fd;
}

PUBLIC int
close(int fd)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");

	if (fd >= 0 && fd < SHIM_FILES)
		shim_is_ours[fd] = 0;
	return next(fd);
}

static int
shim_connect(int fd)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	strncpy(to.sun_path, getenv("WEFT_CCI"), sizeof(to.sun_path) - 1);
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EISCONN ? 0 : -1;
}

PUBLIC ssize_t
sendto(int fd, const void *msg, size_t len, int flags, const struct sockaddr *to, socklen_t to_len)
{
	ssize_t (*next)(int, const void *, size_t, int, const struct sockaddr *, socklen_t) =
		(ssize_t(*)(int, const void *, size_t, int, const struct sockaddr *,
			socklen_t))dlsym(RTLD_NEXT, "sendto");
	const struct sockaddr_mctp *a = (const void *)to;
	uint8_t head[SHIM_HEAD];
	struct iovec part[2] = { { head, sizeof(head) }, { (void *)(uintptr_t)msg, len } };
	const struct msghdr m = { .msg_iov = part, .msg_iovlen = 2 };
	ssize_t n;

	if (fd < 0 || fd >= SHIM_FILES || !shim_is_ours[fd])
		return next(fd, msg, len, flags, to, to_len);
	if (a == NULL || to_len < sizeof(*a) || a->smctp_network != SHIM_NET ||
		a->smctp_addr.s_addr != SHIM_EID) {
		errno = EHOSTUNREACH;
		return -1;
	}
	if (shim_connect(fd) != 0)
		return -1;
	head[0] = SHIM_NET;
	head[1] = SHIM_EID;
	head[2] = a->smctp_type;
	head[3] = a->smctp_tag;
	n = sendmsg(fd, &m, flags | MSG_NOSIGNAL);
	return n < SHIM_HEAD ? -1 : n - SHIM_HEAD;
}

PUBLIC ssize_t
recvfrom(int fd, void *msg, size_t len, int flags, struct sockaddr *from, socklen_t *from_len)
{
	ssize_t (*next)(int, void *, size_t, int, struct sockaddr *, socklen_t *) = (ssize_t(*)(int,
		void *, size_t, int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "recvfrom");
	uint8_t head[SHIM_HEAD] = { 0 };
	struct iovec part[2] = { { head, sizeof(head) }, { msg, len } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = 2 };
	ssize_t n;

	if (fd < 0 || fd >= SHIM_FILES || !shim_is_ours[fd])
		return next(fd, msg, len, flags, from, from_len);
	n = recvmsg(fd, &m, flags);
	if (n < SHIM_HEAD) {
		errno = n < 0 ? errno : ECONNRESET;
		return -1;
	}
	if (from != NULL && from_len != NULL && *from_len >= sizeof(struct sockaddr_mctp)) {
		const struct sockaddr_mctp a = { .smctp_family = AF_MCTP,
			.smctp_network = head[0],
			.smctp_addr.s_addr = head[1],
			.smctp_type = head[2],
			.smctp_tag = head[3] };

		memcpy(from, &a, sizeof(a));
		*from_len = sizeof(a);
	}
	return n - SHIM_HEAD;
}
