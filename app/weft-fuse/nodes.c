/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Nodes of the folder, of regions.json and of regions. A host has few: they are in a list. */

#include "nodes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NODES_BLOCK 4096 /* what stat(2) calls the best size */
#define NODES_FIRST_REGION 3 /* numbers of regions, for people */

static struct node nodes_folder = { .kind = NODE_FOLDER, .number = FUSE_ROOT_ID };
static struct node nodes_json = { .kind = NODE_JSON, .number = FUSE_ROOT_ID + 1 };

static struct {
	pthread_mutex_t lock;
	struct node *first, **last;
	uint64_t n;
	struct timespec updated; /* of a clock that never goes back */
	struct timespec begun;
	bool may_make;
} nodes = { .lock = PTHREAD_MUTEX_INITIALIZER, .last = &nodes.first };

void
nodes_begin(bool may_make)
{
	nodes.may_make = may_make;
	clock_gettime(CLOCK_REALTIME, &nodes.begun);
}

void
nodes_end(void)
{
	struct node *node;

	while ((node = nodes.first) != NULL) {
		nodes.first = node->next;
		free(node->name);
		free(node);
	}
	nodes.last = &nodes.first;
}

struct node *
nodes_get(fuse_ino_t number)
{
	return number == FUSE_ROOT_ID ? &nodes_folder : (struct node *)(uintptr_t)number;
}

fuse_ino_t
nodes_number(struct node *node)
{
	return node == &nodes_folder ? FUSE_ROOT_ID : (fuse_ino_t)(uintptr_t)node;
}

/* A file can have that name. */
static bool
nodes_is_name(const char *name)
{
	return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strcmp(name, NODES_JSON) != 0 && strchr(name, '/') == NULL;
}

static struct node *
nodes_search(const char *name, size_t len)
{
	for (struct node *node = nodes.first; node != NULL; node = node->next)
		if (!node->is_old && strlen(node->name) == len &&
			memcmp(node->name, name, len) == 0)
			return node;
	return NULL;
}

/* NULL without memory: then it is not shown. */
static struct node *
nodes_add(const char *name)
{
	struct node *node = calloc(1, sizeof(*node));

	if (node == NULL)
		return NULL;
	node->name = strdup(name);
	if (node->name == NULL) {
		free(node);
		return NULL;
	}
	node->kind = NODE_REGION;
	node->number = NODES_FIRST_REGION + nodes.n++;
	node->fd = -1;
	node->changed = nodes.begun;
	*nodes.last = node;
	nodes.last = &node->next;
	return node;
}

/* What it was opened on, or seen as, is still there. */
static bool
nodes_is_same(const struct node *node, const struct weft_region_info *info, uint64_t epoch)
{
	const uint64_t was = node->info.generation;

	return !node->is_old && node->epoch == epoch &&
	       (was == 0 || info->generation == 0 || was == info->generation);
}

/* The node of a name is that of a row from now on. */
static void
nodes_set(const char *name, const struct weft_region_info *row, uint64_t epoch, bool is_place)
{
	struct node *node = nodes_search(name, strlen(name));

	if (node != NULL && !nodes_is_same(node, row, epoch)) {
		node->is_old = true;
		node = NULL;
	}
	if (node == NULL && nodes_is_name(name))
		node = nodes_add(name);
	if (node == NULL)
		return;
	node->info = *row;
	node->epoch = epoch;
	node->is_place = is_place;
	node->is_there = true;
}

/*
 * Where memory is given and taken the name of a part, NAME:OFFSET+SIZE, goes with its size; its
 * place stays: NAME:OFFSET, of a whole region NAME:0x0.
 */
static void
nodes_set_place(const struct weft_region_info *row, uint64_t epoch)
{
	char name[WEFT_NAME_LEN + 8];
	char *plus;

	snprintf(name, sizeof(name), strchr(row->name, ':') == NULL ? "%s:0x0" : "%s", row->name);
	plus = strrchr(name, '+');
	if (plus != NULL && strchr(name, ':') < plus)
		*plus = '\0';
	if (strlen(name) < WEFT_NAME_LEN)
		nodes_set(name, row, epoch, true);
}

void
nodes_update(const struct weft_region_info *list, int n, uint64_t epoch)
{
	pthread_mutex_lock(&nodes.lock);
	for (struct node *node = nodes.first; node != NULL; node = node->next)
		node->is_there = false;
	for (int i = 0; i < n; i++)
		nodes_set(list[i].name, &list[i], epoch, false);
	for (int i = 0; i < n; i++)
		nodes_set_place(&list[i], epoch);
	clock_gettime(CLOCK_MONOTONIC, &nodes.updated);
	pthread_mutex_unlock(&nodes.lock);
}

bool
nodes_confirm(struct node *node, const struct weft_region_info *info, uint64_t epoch)
{
	bool is_same;

	pthread_mutex_lock(&nodes.lock);
	is_same = nodes_is_same(node, info, epoch);
	if (is_same) {
		/* Its rights are those that it was opened for. */
		node->info.size = info->size;
		if (info->generation != 0)
			node->info.generation = info->generation;
	}
	pthread_mutex_unlock(&nodes.lock);
	return is_same;
}

struct weft_region_info
nodes_info(const struct node *node)
{
	struct weft_region_info info;

	pthread_mutex_lock(&nodes.lock);
	info = node->info;
	pthread_mutex_unlock(&nodes.lock);
	return info;
}

double
nodes_age(void)
{
	struct timespec now;
	double age;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&nodes.lock);
	age = (double)(now.tv_sec - nodes.updated.tv_sec) +
	      (double)(now.tv_nsec - nodes.updated.tv_nsec) / 1e9;
	pthread_mutex_unlock(&nodes.lock);
	return age;
}

struct node *
nodes_find(const char *name)
{
	struct node *node;

	if (strcmp(name, NODES_JSON) == 0)
		return &nodes_json;
	pthread_mutex_lock(&nodes.lock);
	node = nodes_search(name, strlen(name));
	if (node != NULL && !node->is_there)
		node = NULL;
	pthread_mutex_unlock(&nodes.lock);
	return node;
}

struct node *
nodes_next(struct node *node)
{
	pthread_mutex_lock(&nodes.lock);
	node = node == NULL ? nodes.first : node->next;
	while (node != NULL && (!node->is_there || node->is_place))
		node = node->next;
	pthread_mutex_unlock(&nodes.lock);
	return node;
}

bool
nodes_is_region(const char *name, size_t len)
{
	bool is_one;

	pthread_mutex_lock(&nodes.lock);
	is_one = nodes_search(name, len) != NULL;
	pthread_mutex_unlock(&nodes.lock);
	return is_one;
}

static void
nodes_stat_region(const struct node *node, struct stat *st)
{
	const mode_t may_read = (node->info.rights & WEFT_READ) != 0 ? S_IRUSR : 0;
	const mode_t may_write = (node->info.rights & WEFT_WRITE) != 0 ? S_IWUSR : 0;

	st->st_mode = S_IFREG | may_read | may_write;
	st->st_size = (off_t)node->info.size;
	st->st_mtim = st->st_ctim = node->changed;
}

void
nodes_stat(struct node *node, uint64_t size, struct stat *st)
{
	*st = (struct stat){ .st_ino = node->number,
		.st_nlink = 1,
		.st_uid = getuid(),
		.st_gid = getgid(),
		.st_blksize = NODES_BLOCK,
		.st_size = (off_t)size };
	pthread_mutex_lock(&nodes.lock);
	st->st_atim = st->st_mtim = st->st_ctim = nodes.begun;
	if (node->kind == NODE_REGION)
		nodes_stat_region(node, st);
	else if (node->kind == NODE_JSON)
		st->st_mode = S_IFREG | S_IRUSR;
	else
		st->st_mode = S_IFDIR | S_IRUSR | S_IXUSR | (nodes.may_make ? S_IWUSR : 0);
	pthread_mutex_unlock(&nodes.lock);
	if (node->kind == NODE_FOLDER)
		st->st_nlink = 2;
	st->st_blocks = (st->st_size + 511) / 512;
}

void
nodes_touch(struct node *node, const struct timespec *at)
{
	pthread_mutex_lock(&nodes.lock);
	node->changed = *at;
	pthread_mutex_unlock(&nodes.lock);
}

bool
nodes_doubt(struct node *only)
{
	bool is_any = false;

	pthread_mutex_lock(&nodes.lock);
	for (struct node *node = nodes.first; node != NULL; node = node->next)
		if (only == NULL || only == node)
			node->is_doubtful = is_any = true;
	pthread_mutex_unlock(&nodes.lock);
	return is_any;
}

struct node *
nodes_take_doubtful(void)
{
	struct node *node;

	pthread_mutex_lock(&nodes.lock);
	for (node = nodes.first; node != NULL && !node->is_doubtful; node = node->next)
		;
	if (node != NULL)
		node->is_doubtful = false;
	pthread_mutex_unlock(&nodes.lock);
	return node;
}
