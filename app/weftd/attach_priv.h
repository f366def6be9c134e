/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Programs that attach to hosts of the daemon: what the files of it share. */
#ifndef ATTACH_PRIV_H
#define ATTACH_PRIV_H

#include "weft_attach.h"
#include "weft_clients.h"

#include "daemon.h"
#include "weft_socket.h"

/* What is in a message of a client, and what it is answered. */
struct attach_reply {
	struct weft_attach_answer answer;
	int fd[WEFT_ATTACH_FDS];
	unsigned int n_fds;
};

/* Whose program is at the other end of a socket. */
struct attach_who {
	struct weft_topo_user user;
	gid_t *group; /* its further groups */
	pid_t pid;
};

/* A host as a user may see it by one topology. */
struct attach_view {
	const struct node *n;
	const struct weft_topo *t;
	const struct weft_topo_client *row; /* NULL: all that the host may reach */
	uid_t uid;
};

/* A region that a client has open. */
struct attach_region {
	struct weft_node_region node; /* what the host's lcore reads */
	struct weft_attach_row row; /* its rights: those that were given at first */
	uint64_t offset; /* in what has the name */
	uint64_t place; /* which memory that was */
	uint64_t begin; /* of what has the name, in its segment */
	struct attach_region *next; /* closed, but its operations may not have ended */
};

/* --- attach_regions.c: what of the fabric's memory has a name at a host --- */

/* Regions of a view. */
uint32_t attach_regions_count(const struct attach_view *v);

/* The one with this number. False: there is none. */
bool attach_regions_at(const struct attach_view *v, uint32_t index, struct weft_attach_row *row);

/*
 * The region with a name, or NAME:OFFSET+SIZE of it, with the rights @p rights; 0: all there are.
 * 0, or -errno with a line.
 */
int attach_regions_open(const struct attach_view *v, const char *name, uint32_t rights,
	struct attach_region *r, char *err, size_t err_len);

/*
 * What names the content behind a name: the memory, and where in it that begins, @p begin bytes
 * into its segment. 0: not known.
 */
uint64_t attach_regions_generation(
	const struct node *n, const struct weft_node_region *r, uint64_t begin);

/* What may be done with open memory by another view. -ESTALE: its name is that of other memory. */
int attach_regions_rights(
	const struct attach_view *v, const struct attach_region *r, uint32_t *rights);

/* --- attach_users.c: who that is, and what he may see --- */

/* 0 with who is at the other end, until attach_users_forget(), or -errno. */
int attach_users_know(int fd, struct attach_who *who);
void attach_users_forget(struct attach_who *who);

/* False: he may not come in. */
bool attach_users_view(const struct node *n, const struct weft_topo *t,
	const struct attach_who *who, struct attach_view *v);

/* --- attach_door.c: whom a socket lets connect --- */

struct attach_door {
	mode_t mode;
	gid_t gid;
};

struct attach_door attach_door_of(const struct node *n, const struct weft_topo *t);

/* Make it so; where that fails it says so and nobody else may connect. 0, or -errno. */
int attach_door_set(const struct node *n, const char *socket, const struct attach_door *door);

/* --- attach.c --- */

/* What wakes the lcore of a host: an eventfd. */
int attach_bell_of(const struct node *n);

/* The topology that is about to be in force, or NULL. For who holds the lock of all clients. */
const struct weft_topo *attach_next(void);

/* --- attach_client.c: clients of a host --- */

struct attach_client;

/*
 * Answer a message of @p len bytes from @p who, which outlives its client. NULL: no client yet; a
 * good HELLO makes one.
 */
void attach_client_answer(struct node *n, const struct attach_who *who, struct attach_client **c,
	const struct weft_attach_request *rq, size_t len, struct attach_reply *reply);

/* Its socket has ended. */
void attach_client_leave(struct attach_client *c);

/* Free it if nothing of it is open any more, or no lcore runs (@p is_over). False: not yet. */
bool attach_client_free(struct attach_client *c, bool is_over);

/* What it did that no client does; NULL: nothing. */
const char *attach_client_breach(const struct attach_client *c);

/* What it is and has open, for a report. */
json_t *attach_client_json(const struct attach_client *c);

/* Tell it that no more will come. */
void attach_client_end(const struct attach_client *c);

/*
 * The topology @p next is about to be in force, or is: rights are taken away, or given. False:
 * operations that may not go on have not ended.
 */
bool attach_client_change(struct attach_client *c, const struct weft_topo *next, bool is_before);

#endif /* ATTACH_PRIV_H */
