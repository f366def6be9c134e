/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Whom a host's socket lets connect: as few as its clients need. Without rows about others it is
 * the daemon's user's alone (mode 0600). Where all rows about others name one group, it is given to
 * that (0660), so that the kernel keeps all others out. For another user, or several groups, a mode
 * has no words: then everybody may connect (0666), and is told that he may not come in. Who may is
 * decided by his rows in any case; the mode only keeps strangers from asking.
 *
 * The run folder is closed to others until somebody else is to come in; then they may pass through
 * it (0711), and neither list it nor put anything there. All else in it is of mode 0600.
 */

#include "attach_priv.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define FOLDER_CLOSED 0700
#define FOLDER_PASSED 0711

/* Rows that are about somebody who would not come in without them. */
static bool
door_is_for_others(const struct weft_topo_client *c)
{
	return c->rights != 0 && c->id != WEFT_TOPO_NO_ID &&
	       (c->is_group || (c->id != geteuid() && c->id != 0));
}

struct attach_door
attach_door_of(const struct node *n, const struct weft_topo *t)
{
	const struct weft_topo_clients *rows = &t->node[n->index].clients;
	struct attach_door door = { .mode = 0600, .gid = getegid() };

	for (uint32_t i = 0; i < rows->n; i++) {
		const struct weft_topo_client *c = &t->attach.client[rows->first + i];

		if (!door_is_for_others(c))
			continue;
		if (c->is_group && (door.mode == 0600 || c->id == door.gid)) {
			door.mode = 0660;
			door.gid = c->id;
		} else {
			return (struct attach_door){ .mode = 0666, .gid = getegid() };
		}
	}
	return door;
}

/* The first folder on the way that keeps others out; false: there is none. */
static bool
door_is_shut_before(char *path, mode_t *mode)
{
	char *slash;

	while ((slash = strrchr(path, '/')) != NULL && slash != path) {
		struct stat st;

		*slash = '\0';
		if (stat(path, &st) != 0 || (st.st_mode & S_IXOTH) != 0)
			continue;
		*mode = st.st_mode & 07777;
		return true;
	}
	return false;
}

/* Let others pass to the socket. */
static void
door_open_folder(const struct node *n, const char *socket)
{
	char folder[WEFT_SOCKET_PATH_MAX];
	struct stat st;
	mode_t mode = 0;

	snprintf(folder, sizeof(folder), "%s", socket);
	*strrchr(folder, '/') = '\0';
	if (stat(folder, &st) == 0 && (st.st_mode & 07777) == FOLDER_CLOSED &&
		chmod(folder, FOLDER_PASSED) != 0)
		cli_warn("host %s: run folder %s: %s", n->topo->name, folder, strerror(errno));
	snprintf(folder, sizeof(folder), "%s", socket);
	if (door_is_shut_before(folder, &mode))
		cli_warn("host %s: other users do not come to %s: folder %s has mode %04o: have "
			 "XDG_RUNTIME_DIR name one that they may pass",
			n->topo->name, socket, folder, mode);
}

int
attach_door_set(const struct node *n, const char *socket, const struct attach_door *door)
{
	int rc = 0;

	/* Nobody is to come in by the old group and the new mode. */
	if (chmod(socket, 0600) != 0 || lchown(socket, (uid_t)-1, door->gid) != 0 ||
		chmod(socket, door->mode) != 0)
		rc = -errno;
	if (rc != 0 && door->mode == 0660)
		cli_warn("host %s: %s stays closed to group %u: %s: run weftd as root, or as a "
			 "member of the group",
			n->topo->name, socket, door->gid, strerror(-rc));
	else if (rc != 0)
		cli_warn("host %s: mode of %s: %s", n->topo->name, socket, strerror(-rc));
	if (rc == 0 && door->mode != 0600)
		door_open_folder(n, socket);
	return rc;
}
