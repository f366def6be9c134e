/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Programs that attach to hosts of the daemon: what the files of it share. */
#ifndef ATTACH_PRIV_H
#define ATTACH_PRIV_H

#include "weft_attach.h"
#include "weft_clients.h"

#include "daemon.h"

/* What is in a message of a client, and what it is answered. */
struct attach_reply {
	struct weft_attach_answer answer;
	int fd[WEFT_ATTACH_FDS];
	unsigned int n_fds;
};

/* A region that a client has open. */
struct attach_region {
	struct weft_node_region node; /* what the host's lcore reads */
	struct weft_attach_row row;
	struct attach_region *next; /* closed, but its operations may not have ended */
};

/* --- attach_regions.c: what of the fabric's memory has a name at a host --- */

/* Regions of a host by the topology in force. */
uint32_t attach_regions_count(const struct node *n);

/* The one with this number. False: there is none. */
bool attach_regions_at(const struct node *n, uint32_t index, struct weft_attach_row *row);

/*
 * The region with a name, or NAME:OFFSET+SIZE of it, with the rights @p rights; 0: all there are.
 * 0, or -errno with a line.
 */
int attach_regions_open(const struct node *n, const char *name, uint32_t rights,
	struct attach_region *r, char *err, size_t err_len);

/* What a host may do with open memory by another topology; 0: nothing, or it is other memory. */
uint32_t attach_regions_rights(
	const struct node *n, const struct weft_topo *t, const struct attach_region *r);

/* --- attach.c --- */

/* What wakes the lcore of a host: an eventfd. */
int attach_bell_of(const struct node *n);

/* --- attach_client.c: clients of a host --- */

struct attach_client;

/* Answer a message of @p len bytes. NULL: no client yet; a good HELLO makes one. */
void attach_client_answer(struct node *n, struct attach_client **c,
	const struct weft_attach_request *rq, size_t len, struct attach_reply *reply);

/* Its socket has ended. */
void attach_client_leave(struct attach_client *c);

/* Free it if nothing of it is open any more, or no lcore runs (@p is_over). False: not yet. */
bool attach_client_free(struct attach_client *c, bool is_over);

/* What it did that no client does; NULL: nothing. */
const char *attach_client_breach(const struct attach_client *c);

/* Tell it that no more will come. */
void attach_client_end(const struct attach_client *c);

/*
 * The topology @p next is about to be in force, or is: rights are taken away, or given. False:
 * operations that may not go on have not ended.
 */
bool attach_client_change(struct attach_client *c, const struct weft_topo *next, bool is_before);

#endif /* ATTACH_PRIV_H */
