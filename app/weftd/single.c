/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One daemon a node: two that run the same one take each other's sessions away in turn. A node that
 * others can reach has a lock of its name in the run folder for as long as it runs. One behind
 * rings only has nobody to confuse.
 */

#include "daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_file.h"
#include "weft_lock.h"

void
run_folder(char *path, size_t len)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	if (dir != NULL && dir[0] == '/')
		snprintf(path, len, "%s/weft", dir);
	else if (geteuid() == 0)
		snprintf(path, len, "/run/weft");
	else
		snprintf(path, len, "/tmp/weft-%u", (unsigned int)geteuid());
}

/* Whether frames can come to a node from outside this process, and whether by memif. */
static bool
single_is_reached(const struct daemon *d, const struct node *n, bool *by_memif)
{
	bool is_reached = false;

	*by_memif = false;
	for (uint16_t p = 0; p < n->n_ports; p++) {
		const unsigned int port = n->topo->first_port + p;

		if (port_is_ring(d, &d->topo->link[d->topo->port[port].link]))
			continue;
		is_reached = true;
		*by_memif |= d->topo->port[port].device_kind == WEFT_TOPO_NO_DEVICE;
	}
	return is_reached;
}

/*
 * Interfaces are those of a network namespace, in which another fabric of the same name may run;
 * memif sockets are files, and no namespace keeps two apart.
 */
static void
single_path(const struct daemon *d, const struct node *n, bool by_memif, char *path, size_t len)
{
	char folder[200];
	struct stat net;

	run_folder(folder, sizeof(folder));
	if (by_memif || stat("/proc/self/ns/net", &net) != 0)
		snprintf(path, len, "%s/%s.%s.lock", folder, d->topo->fabric, n->topo->name);
	else
		snprintf(path, len, "%s/%s.%s.net-%llu.lock", folder, d->topo->fabric,
			n->topo->name, (unsigned long long)net.st_ino);
}

static int
single_take(struct daemon *d, struct node *n, bool by_memif, char *err, size_t err_len)
{
	char path[512];
	pid_t holder;
	int fd;

	single_path(d, n, by_memif, path, sizeof(path));
	fd = weft_lock_take(path, &holder);
	if (fd == -EBUSY) {
		snprintf(err, err_len,
			"node %s of fabric %s runs already, as process %d: end that one first",
			n->topo->name, d->topo->fabric, (int)holder);
		return fd;
	}
	if (fd < 0) {
		snprintf(err, err_len, "node %s: lock %s: %s", n->topo->name, path, strerror(-fd));
		return fd;
	}
	n->lock = fd;
	n->lock_path = strdup(path);
	return 0;
}

int
single_init(struct daemon *d, char *err, size_t err_len)
{
	char folder[200];

	run_folder(folder, sizeof(folder));
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		bool by_memif;
		int rc;

		d->node[i].lock = -1;
		if (!single_is_reached(d, &d->node[i], &by_memif))
			continue;
		if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
			snprintf(err, err_len, "run folder %s: %s", folder, strerror(errno));
			return -errno;
		}
		if (!weft_file_is_private_dir(folder)) {
			snprintf(err, err_len,
				"run folder %s: expected one of user %u with mode 0700 and not a "
				"link: remove it, or mend its owner and mode",
				folder, geteuid());
			return -EPERM;
		}
		rc = single_take(d, &d->node[i], by_memif, err, err_len);
		if (rc != 0)
			return rc;
	}
	return 0;
}

void
single_fini(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		if (d->node[i].lock >= 0)
			weft_lock_release(d->node[i].lock, d->node[i].lock_path);
		free(d->node[i].lock_path);
	}
}
