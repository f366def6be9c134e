/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Unix sockets in the file system. */

#include "weft_socket.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_BACKLOG 64

static int
socket_address(struct sockaddr_un *addr, const char *path)
{
	static_assert(sizeof(addr->sun_path) == WEFT_SOCKET_PATH_MAX, "what the kernel takes");
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(addr->sun_path))
		return -ENAMETOOLONG;
	memcpy(addr->sun_path, path, strlen(path));
	return 0;
}

static int
socket_connect(const char *path, int type, unsigned int timeout_ms)
{
	const struct timeval limit = { .tv_sec = timeout_ms / 1000,
		.tv_usec = timeout_ms % 1000 * 1000 };
	struct sockaddr_un addr;
	int rc = socket_address(&addr, path), fd;

	if (rc != 0)
		return rc;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The limit of sending rules connect() as well. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
		connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/*
 * A datagram socket cannot be connected to a listening one: the kernel says so (EPROTOTYPE), and
 * nothing arrives there.
 */
int
weft_socket_is_served(const char *path)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket_connect(path, SOCK_DGRAM, 0);
	if (fd >= 0) {
		close(fd);
		return 1;
	}
	return fd == -EPROTOTYPE ? 1 : fd == -ECONNREFUSED || fd == -ENOENT ? 0 : fd;
}

/* The folder of @path, locked; closing it unlocks. */
static int
socket_lock_folder(const char *path)
{
	char folder[WEFT_SOCKET_PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');
	int fd, rc;

	if (slash != NULL)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int
socket_bind(const char *path, int type)
{
	struct sockaddr_un addr;
	int rc = socket_address(&addr, path), fd;
	mode_t mask;

	if (rc != 0)
		return rc;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	rc = bind(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 ? 0 : -errno;
	umask(mask);
	if (rc == 0 && listen(fd, SOCKET_BACKLOG) != 0) {
		rc = -errno;
		unlink(path);
	}
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

static int
socket_listen(const char *path, int type)
{
	int folder, rc;

	if (strlen(path) >= WEFT_SOCKET_PATH_MAX)
		return -ENAMETOOLONG;
	folder = socket_lock_folder(path);
	if (folder < 0)
		return folder;
	rc = weft_socket_is_served(path);
	if (rc == 1)
		rc = -EADDRINUSE;
	else if (rc == 0 && unlink(path) != 0 && errno != ENOENT)
		rc = -errno;
	if (rc == 0)
		rc = socket_bind(path, type);
	close(folder);
	return rc;
}

int
weft_socket_listen(const char *path)
{
	return socket_listen(path, SOCK_SEQPACKET);
}

int
weft_socket_listen_stream(const char *path)
{
	return socket_listen(path, SOCK_STREAM);
}

int
weft_socket_replace_stream(const char *path)
{
	char own[WEFT_SOCKET_PATH_MAX];
	int fd, rc = weft_socket_is_served(path);

	if (rc < 0)
		return rc;
	if (snprintf(own, sizeof(own), "%s.%d", path, (int)getpid()) >= (int)sizeof(own))
		return -ENAMETOOLONG;
	/* Left behind by one of this number that was killed on the way. */
	if (unlink(own) != 0 && errno != ENOENT)
		return -errno;
	fd = socket_bind(own, SOCK_STREAM);
	if (fd < 0 || rename(own, path) == 0)
		return fd;
	rc = -errno;
	unlink(own);
	close(fd);
	return rc;
}

int
weft_socket_connect(const char *path, unsigned int timeout_ms)
{
	return socket_connect(path, SOCK_SEQPACKET, timeout_ms);
}

int
weft_socket_connect_stream(const char *path, unsigned int timeout_ms)
{
	return socket_connect(path, SOCK_STREAM, timeout_ms);
}

int
weft_socket_hide(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW), rc;

	if (fd < 0)
		return -errno;
	if (unlink(path) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int
weft_socket_reach(int hidden, unsigned int timeout_ms)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", hidden);
	return socket_connect(path, SOCK_SEQPACKET, timeout_ms);
}

bool
weft_socket_is_trusted(int fd)
{
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

pid_t
weft_socket_peer(int fd, char *name, size_t len)
{
	struct ucred who = { 0 };
	socklen_t who_len = sizeof(who);
	char path[32];
	FILE *f;

	snprintf(name, len, "?");
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_len) != 0 || who.pid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)who.pid);
	f = fopen(path, "re");
	if (f == NULL)
		return who.pid;
	if (fgets(name, (int)len, f) != NULL)
		name[strcspn(name, "\n")] = '\0';
	fclose(f);
	return who.pid;
}
