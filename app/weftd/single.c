/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One daemon a node: two that run the same one take each other's sessions away in turn. A node that
 * others can reach has a lock of its name in the run folder for as long as it runs, and one for
 * each kernel interface in the network namespace, where others may have another run folder. One
 * behind rings only has nobody to confuse. Daemons that share neither: duplicate.c.
 */

#include "single.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event.h"
#include "ports.h"
#include "weft_attach_rundir.h"
#include "weft_file.h"
#include "weft_lock.h"

#define CALLERS_MAX 64 /* that are heard of in a second */

static struct daemon *holder_of_locks; /* NULL: nobody holds any */

void
run_folder(char *path, size_t len)
{
	/* It may be missing still: who needs it makes it, and looks whose it is. */
	weft_attach_rundir(path, len, false);
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

static void
single_busy(const struct node *n, pid_t holder, const char *where, char *err, size_t err_len)
{
	char who[32] = "a process that is not seen here";

	if (holder != 0)
		snprintf(who, sizeof(who), "process %d", (int)holder);
	snprintf(err, err_len, "node %s of fabric %s runs already%s, as %s: end that one first",
		n->topo->name, n->daemon->topo->fabric, where, who);
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
		single_busy(n, holder, "", err, err_len);
		return fd;
	}
	if (fd < 0)
		return weft_errorf(err, err_len, fd, "node %s: lock %s: %s", n->topo->name, path,
			strerror(-fd));
	n->lock.fd = fd;
	n->lock.path = strdup(path);
	return 0;
}

/* A name that another user has taken is no lock: it would let him keep the node from running. */
static int
single_take_interface(struct node *n, uint16_t port, char *err, size_t err_len)
{
	const struct weft_topo *t = n->daemon->topo;
	const struct weft_topo_port *tp = &t->port[n->topo->first_port + port];
	char name[100], where[40];
	pid_t holder;
	int fd;

	if (tp->device_kind != WEFT_TOPO_NETIF)
		return 0;
	snprintf(name, sizeof(name), "weft/%.15s/%s/%s", tp->device, t->fabric, n->topo->name);
	fd = weft_lock_take_net(name, &holder);
	if (fd == -EBUSY) {
		snprintf(where, sizeof(where), " on interface %.15s", tp->device);
		single_busy(n, holder, where, err, err_len);
		return fd;
	}
	n->lock.netif[port] = fd;
	return 0;
}

static int
single_take_interfaces(struct node *n, char *err, size_t err_len)
{
	int rc = 0;

	n->lock.netif = malloc(n->n_ports * sizeof(*n->lock.netif));
	if (n->lock.netif == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "out of memory");
	memset(n->lock.netif, -1, n->n_ports * sizeof(*n->lock.netif));
	for (uint16_t p = 0; rc == 0 && p < n->n_ports; p++)
		rc = single_take_interface(n, p, err, err_len);
	return rc;
}

/* A start that fails ends by exit(): its locks are nobody's then, and neither are their files. */
static void
single_exit(void)
{
	if (holder_of_locks != NULL)
		single_fini(holder_of_locks);
}

int
single_init(struct daemon *d, char *err, size_t err_len)
{
	char folder[200];

	run_folder(folder, sizeof(folder));
	for (uint16_t i = 0; i < d->n_nodes; i++)
		d->node[i].lock.fd = -1;
	holder_of_locks = d;
	atexit(single_exit);
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		bool by_memif;
		int rc;

		if (!single_is_reached(d, &d->node[i], &by_memif))
			continue;
		if (mkdir(folder, 0700) != 0 && errno != EEXIST)
			return weft_errorf(
				err, err_len, -errno, "run folder %s: %s", folder, strerror(errno));
		if (!weft_file_is_passed_dir(folder))
			return weft_errorf(err, err_len, -EPERM,
				"run folder %s: expected one of user %u with mode 0700 and not a "
				"link: remove it, or mend its owner and mode",
				folder, geteuid());
		rc = single_take(d, &d->node[i], by_memif, err, err_len);
		if (rc == 0)
			rc = single_take_interfaces(&d->node[i], err, err_len);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Of so many at a time: they could be quicker than this. */
static void
single_log_port(const struct node *n, uint16_t port)
{
	const char *netif = n->daemon->topo->port[n->topo->first_port + port].device;
	pid_t caller = 0, last = 0;
	unsigned int callers = 0;

	while (callers < CALLERS_MAX && weft_lock_next_caller(n->lock.netif[port], &caller)) {
		last = caller;
		callers++;
	}
	if (callers != 0)
		event_put(EVENT_DUPLICATE, n->topo->name, netif, callers,
			"process %d began to run this node as well, on interface %s, and is "
			"refused: see who starts it",
			(int)last, netif);
}

void
single_log_events(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];

		for (uint16_t p = 0; n->lock.netif != NULL && p < n->n_ports; p++)
			if (n->lock.netif[p] >= 0)
				single_log_port(n, p);
	}
}

void
single_fini(struct daemon *d)
{
	holder_of_locks = NULL;
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		if (d->node[i].lock.fd >= 0)
			weft_lock_release(d->node[i].lock.fd, d->node[i].lock.path);
		for (uint16_t p = 0; d->node[i].lock.netif != NULL && p < d->node[i].n_ports; p++)
			if (d->node[i].lock.netif[p] >= 0)
				close(d->node[i].lock.netif[p]);
		free(d->node[i].lock.netif);
		free(d->node[i].lock.path);
	}
}
