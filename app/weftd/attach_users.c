/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Who is at the other end of a socket, and what the topology says of him (`clients` of a host): the
 * first row that is about him decides. Where there is none the daemon's user and root, who could
 * do as they like anyway, have everything, and nobody else has anything. Names of users and groups
 * become numbers once a topology is read: a later change of the user database is for the next
 * SIGHUP.
 */

#include "attach.h"
#include "attach_priv.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define USUAL_GROUPS 32
#define RECORD_MAX (1u << 20) /* of the user database: a group with very many members */

/* --- who it is --- */

/* Further groups of the other end, as they were when it connected. */
static int
users_know_groups(int fd, struct attach_who *who)
{
	socklen_t len = USUAL_GROUPS * sizeof(gid_t), room;

	do {
		gid_t *more = realloc(who->group, len);

		if (more == NULL)
			return -ENOMEM;
		who->group = more;
		room = len;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, who->group, &len) == 0) {
			who->user.group = who->group;
			who->user.n_groups = (unsigned int)(len / sizeof(gid_t));
			return 0;
		}
	} while (errno == ERANGE && len > room);
	return -errno;
}

int
attach_users_know(int fd, struct attach_who *who)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);
	int rc;

	static_assert(sizeof(gid_t) == sizeof(*who->user.group), "groups are handed on");
	*who = (struct attach_who){ .pid = 0 };
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return -errno;
	who->user.uid = peer.uid;
	who->user.gid = peer.gid;
	who->pid = peer.pid;
	rc = users_know_groups(fd, who);
	if (rc != 0)
		attach_users_forget(who);
	return rc;
}

void
attach_users_forget(struct attach_who *who)
{
	free(who->group);
	who->group = NULL;
	who->user.group = NULL;
	who->user.n_groups = 0;
}

/* --- what he may do --- */

bool
attach_users_view(const struct node *n, const struct weft_topo *t, const struct attach_who *who,
	struct attach_view *v)
{
	*v = (struct attach_view){
		.n = n,
		.t = t,
		.row = weft_topo_client_of(t, n->index, &who->user),
		.uid = who->user.uid,
	};
	if (v->row != NULL)
		return v->row->rights != 0;
	return who->user.uid == geteuid() || who->user.uid == 0;
}

/* --- names --- */

/* 0: found; ENOENT, or another errno. */
static int
users_find(const struct weft_topo_client *c, char *room, size_t len, uint32_t *id)
{
	struct passwd user, *u = NULL;
	struct group group, *g = NULL;
	const int rc = c->is_group ? getgrnam_r(c->name, &group, room, len, &g)
	                           : getpwnam_r(c->name, &user, room, len, &u);

	if (g != NULL)
		*id = g->gr_gid;
	if (u != NULL)
		*id = u->pw_uid;
	return u != NULL || g != NULL ? 0 : rc == 0 ? ENOENT : rc;
}

static int
users_look_up(const struct weft_topo_client *c, uint32_t *id)
{
	size_t len = 1024;
	char *room = NULL;
	int rc;

	do {
		char *more = realloc(room, len *= 4);

		if (more == NULL) {
			rc = ENOMEM;
			break;
		}
		room = more;
		rc = users_find(c, room, len, id);
	} while (rc == ERANGE && len < RECORD_MAX);
	free(room);
	return rc;
}

static int
users_resolve_row(const struct daemon *d, struct weft_topo *t, uint16_t node, uint16_t row,
	struct weft_topo_error *e)
{
	const uint32_t index = t->node[node].clients.first + row;
	const struct weft_topo_client *c = &t->attach.client[index];
	const char *what = c->is_group ? "group" : "user";
	uint32_t id = WEFT_TOPO_NO_ID;
	int rc;

	if (c->name[0] == '\0')
		return 0;
	rc = users_look_up(c, &id);
	if (rc == 0 && id != WEFT_TOPO_NO_ID) {
		weft_topo_client_is(t, index, id);
		return 0;
	}
	e->line = c->line;
	snprintf(e->text, sizeof(e->text),
		"%.200s:%u: nodes[%u].clients[%u].%s: unknown %s, expected one of this machine, "
		"got \"%s\"%s%s",
		d->cfg.topology, c->line, node, row, what, what, c->name, rc == ENOENT ? "" : ": ",
		rc == ENOENT ? "" : strerror(rc));
	return -EINVAL;
}

int
attach_resolve(const struct daemon *d, struct weft_topo *t, struct weft_topo_error *e)
{
	int rc = 0;

	for (uint16_t i = 0; i < d->n_nodes && rc == 0; i++)
		for (uint16_t k = 0; k < t->node[d->node[i].index].clients.n && rc == 0; k++)
			rc = users_resolve_row(d, t, d->node[i].index, k, e);
	return rc;
}
