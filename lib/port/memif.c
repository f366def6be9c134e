/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The socket two memif ends meet at: in a folder only its owner can enter. Whoever can connect to
 * it shares memory with us.
 */

#include "port_priv.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_log.h>

#include "weft_file.h"
#include "weft_socket.h"

/*
 * Nobody else may be able to put a socket where ours is looked for. Who may pass through the run
 * folder, to sockets for programs, is kept out by the mode of ours. A folder that the user named
 * may be open to others if they cannot remove or replace what is not theirs.
 */
static bool
memif_folder_is_safe(const char *folder, bool is_named)
{
	struct stat st;

	if (!is_named)
		return weft_file_is_passed_dir(folder);
	return stat(folder, &st) == 0 && S_ISDIR(st.st_mode) &&
	       (st.st_uid == geteuid() || st.st_uid == 0) &&
	       ((st.st_mode & 022) == 0 || (st.st_mode & S_ISVTX) != 0);
}

static int
memif_prepare_folder(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	char folder[WEFT_SOCKET_PATH_MAX];
	const char *slash = strrchr(spec->socket, '/');

	if (slash == NULL || slash == spec->socket)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - spec->socket), spec->socket);
	if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
		const int rc = -errno;

		return weft_errorf(err, errlen, rc, "port %s: cannot make the folder of %s: %s",
			spec->name, spec->socket, strerror(-rc));
	}
	if (memif_folder_is_safe(folder, spec->socket_is_named))
		return 0;
	return weft_errorf(err, errlen, -EPERM,
		"port %s: folder %s of its socket: expected one of user %u %s; whoever can write "
		"there could take part: remove it, or mend its owner and mode",
		spec->name, folder, geteuid(),
		spec->socket_is_named ? "or root that others cannot write to"
				      : "with mode 0700 and not a link");
}

/* A client shares memory with whoever made the socket. */
static int
memif_check_socket(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	struct stat st;
	int rc;

	if (!spec->memif_server) {
		if (lstat(spec->socket, &st) != 0 || st.st_uid == geteuid() || st.st_uid == 0)
			return 0;
		return weft_errorf(err, errlen, -EACCES,
			"port %s: socket %s belongs to user %u, not to %u or root", spec->name,
			spec->socket, st.st_uid, geteuid());
	}
	rc = weft_socket_is_served(spec->socket);
	if (rc == 0)
		return 0;
	if (rc == 1)
		return weft_errorf(err, errlen, -EADDRINUSE,
			"port %s: socket %s is served by another process: stop it, or choose "
			"another path",
			spec->name, spec->socket);
	return weft_errorf(err, errlen, rc, "port %s: socket %s: %s", spec->name, spec->socket,
		rc == -EEXIST ? "a file that is no socket is in the way" : strerror(-rc));
}

int
port_memif_prepare(const struct weft_port_spec *spec, char *err, size_t errlen)
{
	const size_t room = WEFT_SOCKET_PATH_MAX;
	int rc;

	if (strlen(spec->socket) >= room || strpbrk(spec->socket, ",[]\"") != NULL)
		return weft_errorf(err, errlen, -EINVAL,
			"port %s: socket path %s must be shorter than %zu bytes and without , [ ] "
			"\"",
			spec->name, spec->socket, room);
	rc = memif_prepare_folder(spec, err, errlen);
	return rc != 0 ? rc : memif_check_socket(spec, err, errlen);
}

bool
port_memif_client(const struct port_ethdev *dev, uint16_t *id)
{
	struct rte_eth_dev_info info;

	*id = dev->behind.is_there ? dev->behind.id : dev->id;
	return !dev->memif_server && rte_eth_dev_info_get(*id, &info) == 0 &&
	       strcmp(info.driver_name, "net_memif") == 0;
}

int
port_memif_hush(void)
{
	const int level = rte_log_get_level((uint32_t)rte_log_register("pmd.net.memif"));

	rte_log_set_level_pattern("pmd.net.memif", RTE_LOG_EMERG);
	return level;
}

void
port_memif_unhush(int level)
{
	if (level >= 0)
		rte_log_set_level_pattern("pmd.net.memif", (uint32_t)level);
}

void
port_memif_restart(uint16_t id)
{
	const int level = port_memif_hush();

	rte_eth_dev_stop(id);
	rte_eth_dev_start(id);
	port_memif_unhush(level);
}
