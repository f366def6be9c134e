/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Which socket is meant, and a connection to it. */

#include "client_priv.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "weft_attach_rundir.h"

static_assert(sizeof(((struct sockaddr_un *)0)->sun_path) == CLIENT_PATH, "what the kernel takes");

/* A descriptor, or -errno. */
static int
find_connect(const char *path, int type)
{
	const struct timeval limit = { .tv_sec = CLIENT_TIMEOUT_S };
	/* The limit begins anew with each signal, and this does not. */
	const int64_t until = client_clock(CLOCK_MONOTONIC) + CLIENT_TIMEOUT_S * CLIENT_NS_PER_S;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), rc;

	if (fd < 0)
		return -errno;
	memcpy(addr.sun_path, path, strlen(path));
	/* The limit of sending rules connect() as well. */
	rc = setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	while (rc == 0 && connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0) {
		if (errno == EINTR && client_clock(CLOCK_MONOTONIC) < until)
			continue;
		errno = errno == EINTR ? EAGAIN : errno;
		rc = -1;
	}
	if (rc == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/*
 * A datagram socket cannot be connected to one that listens, and the kernel says so (EPROTOTYPE):
 * the daemon does not notice that it was asked.
 */
static bool
find_is_served(const char *path)
{
	const int fd = find_connect(path, SOCK_DGRAM);

	if (fd >= 0)
		close(fd);
	return fd == -EPROTOTYPE;
}

static int
find_rundir(char *dir, size_t len, char *err)
{
	const int rc = weft_attach_rundir(dir, len, false);

	if (rc == 0)
		return 0;
	if (rc == -EACCES)
		return weft_errorf(err, CLIENT_TEXT, rc,
			"%.300s: expected a folder of this user that others may not write to: name "
			"a "
			"socket by its path",
			dir);
	return weft_errorf(err, CLIENT_TEXT, -ENOENT,
		"%.300s: %s: no daemon of this user serves a host: start weftd, or name a socket "
		"by "
		"its path",
		dir, strerror(-rc));
}

/* @dir/@name, where @name is of @len bytes and may be without the suffix. */
static int
find_join(char *path, const char *dir, const char *name, const char *suffix, char *err)
{
	if (snprintf(path, CLIENT_PATH, "%s/%s%s", dir, name, suffix) < CLIENT_PATH)
		return 0;
	return weft_errorf(err, CLIENT_TEXT, -ENOENT,
		"%.200s/%.100s%s: longer than the %d bytes of a socket's path", dir, name, suffix,
		CLIENT_PATH - 1);
}

static bool
find_is_socket(const char *name)
{
	const size_t len = strlen(name), end = strlen(WEFT_ATTACH_SUFFIX);

	return len > end && strcmp(name + len - end, WEFT_ATTACH_SUFFIX) == 0 &&
	       strncmp(name, WEFT_ATTACH_CCI, strlen(WEFT_ATTACH_CCI)) != 0 &&
	       strcmp(name, WEFT_ATTACH_FM WEFT_ATTACH_SUFFIX) != 0;
}

/* The only socket of the run directory that is served. */
static int
find_only(char *path, char *err)
{
	char dir[PATH_MAX], one[CLIENT_PATH], ignored[CLIENT_TEXT];
	int rc = find_rundir(dir, sizeof(dir), err), n = 0;
	const struct dirent *e;
	DIR *d;

	if (rc != 0)
		return rc;
	d = opendir(dir);
	if (d == NULL)
		return weft_errorf(err, CLIENT_TEXT, errno == EMFILE ? -EMFILE : -ENOENT,
			"%.300s: %s: name a host's socket by its path", dir, strerror(errno));
	while (n < 2 && (e = readdir(d)) != NULL) {
		if (!find_is_socket(e->d_name) ||
			find_join(one, dir, e->d_name, "", ignored) != 0 || !find_is_served(one))
			continue;
		if (n++ == 0)
			memcpy(path, one, CLIENT_PATH);
	}
	closedir(d);
	if (n == 1)
		return 0;
	if (n == 0)
		return weft_errorf(err, CLIENT_TEXT, -ENOENT,
			"%.300s: no daemon serves a host there: start weftd, or name a socket by "
			"its "
			"path",
			dir);
	return weft_errorf(err, CLIENT_TEXT, -ENOTUNIQ,
		"%s and %s are two of several hosts: name one, by an argument or by $WEFT_SOCKET",
		path, one);
}

static int
find_named(const char *socket, char *path, char *err)
{
	char dir[PATH_MAX];
	int rc;

	if (strchr(socket, '/') != NULL) {
		if (strlen(socket) >= CLIENT_PATH)
			return weft_errorf(err, CLIENT_TEXT, -ENOENT,
				"%.300s: longer than the %d bytes of a socket's path", socket,
				CLIENT_PATH - 1);
		memcpy(path, socket, strlen(socket) + 1);
		return 0;
	}
	rc = find_rundir(dir, sizeof(dir), err);
	return rc != 0 ? rc : find_join(path, dir, socket, WEFT_ATTACH_SUFFIX, err);
}

/* Why nobody takes a connection of the kind that hosts take. */
static int
find_refused(const char *path, int rc, char *err)
{
	struct stat st;

	if (rc == -EPROTOTYPE || (stat(path, &st) == 0 && !S_ISSOCK(st.st_mode)))
		return weft_errorf(err, CLIENT_TEXT, -EPROTO,
			"%s: expected a host's socket, NODE.sock, got something else", path);
	return weft_errorf(err, CLIENT_TEXT, -ECONNREFUSED,
		"%s: nobody serves it: its daemon has gone, start it again", path);
}

int
client_connect(const char *socket, char *path, char *err)
{
	const char *env = getenv("WEFT_SOCKET");
	int rc;

	if (socket == NULL && env != NULL && env[0] != '\0')
		socket = env;
	rc = socket != NULL ? find_named(socket, path, err) : find_only(path, err);
	if (rc != 0)
		return rc;
	rc = find_connect(path, SOCK_SEQPACKET);
	switch (rc) {
	case -ENOENT:
	case -ENOTDIR:
		return weft_errorf(err, CLIENT_TEXT, -ENOENT,
			"%s: no such host: start weftd, or see which sockets are there", path);
	case -EACCES:
	case -EPERM:
		return weft_errorf(err, CLIENT_TEXT, -EACCES,
			"%s: it is not open to this user: run as the daemon's, or have the host's "
			"clients in the topology name this one",
			path);
	case -ECONNREFUSED:
	case -EPROTOTYPE: return find_refused(path, rc, err);
	case -EAGAIN:
		return weft_errorf(err, CLIENT_TEXT, -ETIMEDOUT,
			"%s: the daemon has not answered for %d s: is it stopped?", path,
			CLIENT_TIMEOUT_S);
	default:
		return rc >= 0 ? rc
		               : weft_errorf(err, CLIENT_TEXT, rc, "%s: %s", path, strerror(-rc));
	}
}
