/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What has a number in the mount: the folder, regions.json, regions, and companion files (side.h).
 * To the kernel a number is the address of the node; the folder has the one that FUSE gives it. All
 * functions may be called by any thread.
 */
#ifndef NODES_H
#define NODES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "fuse_header.h"
#include "weft.h"

#define NODES_JSON "regions.json"

enum node_kind { NODE_FOLDER, NODE_JSON, NODE_REGION, NODE_SIDE };

struct node {
	enum node_kind kind;
	char *name;
	uint64_t number; /* for people */
	struct node *next;
	/* REGION: kept to the end, as files may be open. Under the lock of nodes.c */
	struct weft_region_info info;
	uint64_t epoch; /* of the daemon (fabric.h) */
	struct timespec changed; /* by this mount */
	int64_t lost_ns; /* when the way there was last found to be lost; 0: not so. Atomic */
	bool is_old; /* its name is another node's: files that are open here stay dead */
	bool is_there; /* the host may reach it now */
	bool is_place; /* NAME:OFFSET: what begins there, however large; not in lists */
	bool is_doubtful; /* what the kernel has of its content must go */
	/* SIDE. Under the lock of side.c */
	int fd;
	uint64_t n_lookup;
};

/** The node of a number that came from the kernel. */
struct node *nodes_get(fuse_ino_t number);

fuse_ino_t nodes_number(struct node *node);

/**
 * What the fabric has now: regions come and go, and change. One of another daemon, or whose memory
 * is another, gets a new node: what the kernel keeps of the one before is not given out for it.
 *
 * @param n  may be 0
 */
void nodes_update(const struct weft_region_info *list, int n, uint64_t epoch);

/** A region was opened. @return it is the one of this node, which has its size now */
bool nodes_confirm(struct node *node, const struct weft_region_info *info, uint64_t epoch);

/** What a region was when its node was updated last; of a place, the region that begins there. */
struct weft_region_info nodes_info(const struct node *node);

/** Seconds since nodes_update(). */
double nodes_age(void);

/** A region that is there, or regions.json; NULL: none of that name. */
struct node *nodes_find(const char *name);

/** The region after another one, or the first after NULL; no places. @return NULL: there is none */
struct node *nodes_next(struct node *node);

/** Whether a region has that name, of @p len bytes, or had it. */
bool nodes_is_region(const char *name, size_t len);

/** What stat(2) says of the folder, of regions.json (@p size bytes), or of a region. */
void nodes_stat(struct node *node, uint64_t size, struct stat *st);

/** This mount wrote to a region at that time. */
void nodes_touch(struct node *node, const struct timespec *at);

/** Mark a region, or all with NULL, for nodes_take_doubtful(). @return something was marked */
bool nodes_doubt(struct node *node);

/** A marked region, whose mark goes; NULL: there is none. */
struct node *nodes_take_doubtful(void);

/** @param may_make  whether the folder takes new files. Before all else */
void nodes_begin(bool may_make);
void nodes_end(void);

#endif /* NODES_H */
