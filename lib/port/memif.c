/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The socket two memif ends meet at: in a folder only its owner can enter, and free of what a
 * server that was killed left behind. Whoever can connect to it shares memory with us.
 */

#include "port_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_log.h>

/* Is someone listening? 0: no (and nothing is in the way), -EADDRINUSE, or another errno. */
static int
memif_clear_stale(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, rc;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	memcpy(addr.sun_path, path, strlen(path));
	rc = connect(fd, (const struct sockaddr *)&addr, sizeof(addr));
	rc = rc == 0 || errno == EAGAIN ? -EADDRINUSE : -errno;
	close(fd);
	if (rc == -ECONNREFUSED)
		return unlink(path) == 0 ? 0 : -errno;
	return rc;
}

static int
memif_make_folder(const char *path)
{
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *slash = strrchr(path, '/');
	size_t len;

	if (slash == NULL || slash == path)
		return 0;
	len = (size_t)(slash - path);
	memcpy(folder, path, len);
	folder[len] = '\0';
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return -errno;
	return 0;
}

int
port_memif_prepare(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	const size_t room = sizeof(((struct sockaddr_un *)0)->sun_path);
	int rc;

	if (strlen(spec->socket) >= room || strpbrk(spec->socket, ",[]\"") != NULL) {
		snprintf(err, errlen,
			"port %s: socket path %s must be shorter than %zu bytes and without , [ ] "
			"\"",
			spec->name, spec->socket, room);
		return -EINVAL;
	}
	rc = memif_make_folder(spec->socket);
	if (rc != 0) {
		snprintf(err, errlen, "port %s: cannot make the folder of %s: %s", spec->name,
			spec->socket, strerror(-rc));
		return rc;
	}
	if (!spec->memif_server)
		return 0;
	rc = memif_clear_stale(spec->socket);
	if (rc == -EADDRINUSE)
		snprintf(err, errlen,
			"port %s: socket %s is served by another process: stop it, or choose "
			"another path",
			spec->name, spec->socket);
	else if (rc != 0)
		snprintf(err, errlen, "port %s: socket %s: %s", spec->name, spec->socket,
			rc == -EEXIST ? "a file that is no socket is in the way" : strerror(-rc));
	return rc;
}

bool
port_memif_client(const struct port_ethdev *dev, uint16_t *id)
{
	struct rte_eth_dev_info info;

	*id = dev->behind.is_there ? dev->behind.id : dev->id;
	return !dev->memif_server && rte_eth_dev_info_get(*id, &info) == 0 &&
	       strcmp(info.driver_name, "net_memif") == 0;
}

bool
port_memif_connect(uint16_t id)
{
	const int level = rte_log_get_level((uint32_t)rte_log_register("pmd.net.memif"));
	int rc;

	/* It says each time that nobody is there; who looks at the port knows. */
	rte_log_set_level_pattern("pmd.net.memif", RTE_LOG_EMERG);
	rte_eth_dev_stop(id);
	rc = rte_eth_dev_start(id);
	if (level >= 0)
		rte_log_set_level_pattern("pmd.net.memif", (uint32_t)level);
	return rc == 0;
}
