/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A page at a loopback address can be opened by every user of the machine. The kernel says in
 * /proc/net/tcp and tcp6 whose each socket is: the other end's is the row whose local address is
 * our remote one.
 */

#include "http_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

bool
http_peer_is_loopback(const struct sockaddr *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)a;

	if (a->sa_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* An end as rows of /proc/net have it: words of the address as they are stored, and a port. */
static void
peer_text(const struct sockaddr *a, char text[48])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)a;
	uint32_t w[4];

	if (a->sa_family == AF_INET) {
		snprintf(text, 48, "%08X:%04X", v4->sin_addr.s_addr, ntohs(v4->sin_port));
		return;
	}
	memcpy(w, &v6->sin6_addr, sizeof(w));
	snprintf(text, 48, "%08X%08X%08X%08X:%04X", w[0], w[1], w[2], w[3], ntohs(v6->sin6_port));
}

static int
peer_find(const char *file, const char *local, const char *remote, uid_t *uid)
{
	FILE *f = fopen(file, "re");
	char line[512], a[64], b[64];
	unsigned int user;
	int rc = -ENOENT;

	if (f == NULL)
		return -errno;
	while (rc != 1 && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, " %*d: %63s %63s %*x %*s %*s %*s %u", a, b, &user) == 3 &&
			strcmp(a, local) == 0 && strcmp(b, remote) == 0) {
			*uid = user;
			rc = 1;
		}
	fclose(f);
	return rc;
}

int
http_peer_user(int fd, uid_t *uid)
{
	struct sockaddr_storage us, them;
	socklen_t us_len = sizeof(us), them_len = sizeof(them);
	char local[48], remote[48];

	if (getsockname(fd, (struct sockaddr *)&us, &us_len) != 0 ||
		getpeername(fd, (struct sockaddr *)&them, &them_len) != 0)
		return -errno;
	if (!http_peer_is_loopback((struct sockaddr *)&them))
		return 0;
	peer_text((struct sockaddr *)&them, local);
	peer_text((struct sockaddr *)&us, remote);
	return peer_find(
		them.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", local, remote, uid);
}
