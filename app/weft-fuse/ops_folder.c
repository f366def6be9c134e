/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The folder: names, and the list of regions behind them. Files are made and removed only where
 * they are companions (side.h); whatever else would change the folder is refused.
 */

#include "ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "regions.h"
#include "serve.h"
#include "side.h"

int
ops_refresh(double seconds)
{
	struct weft_region_info *list;
	int n;

	if (nodes_age() < seconds)
		return 0;
	n = fabric_list(serve_client(), &list);
	if (n < 0)
		return -n;
	nodes_update(list, n, serve_client()->epoch);
	free(list);
	return 0;
}

char *
ops_json(void)
{
	struct weft_region_info *list = NULL;
	struct node *node;
	json_t *o;
	char *text, *line = NULL;
	size_t len;
	int n = 0;

	for (node = nodes_next(NULL); node != NULL; node = nodes_next(node)) {
		struct weft_region_info *more = realloc(list, ((size_t)n + 1) * sizeof(*more));

		if (more == NULL) {
			free(list);
			return NULL;
		}
		list = more;
		list[n++] = nodes_info(node);
	}
	o = regions_json(fabric_node(), list, n);
	free(list);
	text = json_dumps(o, JSON_INDENT(2));
	json_decref(o);
	len = text == NULL ? 0 : strlen(text);
	if (text != NULL)
		line = realloc(text, len + 2);
	if (line == NULL) {
		free(text);
		return NULL;
	}
	memcpy(line + len, "\n", 2);
	return line;
}

/* --- names --- */

static int
folder_find(const char *name, struct node **node)
{
	int rc;

	*node = nodes_find(name);
	if (*node != NULL && (*node)->kind == NODE_REGION) {
		(void)ops_refresh(OPS_SECONDS);
		*node = nodes_find(name);
	}
	if (*node != NULL)
		return 0;
	rc = side_find(name, 0, 0, node);
	if (rc != -ENOENT || side_is_name(name))
		return rc;
	/* Where there is no daemon, what was there last counts. */
	(void)ops_refresh(0);
	*node = nodes_find(name);
	return *node != NULL ? 0 : -ENOENT;
}

/* What the kernel gets of a node; of one that can't be looked at, an errno. */
static int
folder_entry(struct node *node, struct fuse_entry_param *e)
{
	int rc;

	*e = (struct fuse_entry_param){ .ino = nodes_number(node), .entry_timeout = OPS_SECONDS };
	rc = ops_stat(node, &e->attr);
	e->attr_timeout = node->kind == NODE_REGION ? OPS_SECONDS : 0;
	if (rc != 0 && node->kind == NODE_SIDE)
		side_forget(node, 1);
	return rc;
}

void
ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e;
	struct node *node;
	int rc = folder_find(name, &node);

	(void)parent;
	if (rc == 0)
		rc = folder_entry(node, &e);
	if (rc != 0)
		fuse_reply_err(req, -rc);
	else if (fuse_reply_entry(req, &e) != 0 && node->kind == NODE_SIDE)
		side_forget(node, 1);
}

/* --- listing --- */

struct folder_name {
	char *name;
	uint64_t number;
	mode_t mode;
};

/* All names at the time of opendir(3): they have places that stay. */
struct folder_list {
	struct ops_handle handle;
	struct folder_name *name;
	size_t n;
	bool is_short; /* of memory */
};

static bool
folder_add(struct folder_list *l, const char *name, uint64_t number, mode_t mode)
{
	struct folder_name *more = realloc(l->name, (l->n + 1) * sizeof(*more));

	if (more != NULL)
		l->name = more;
	if (more == NULL || (more[l->n].name = strdup(name)) == NULL) {
		l->is_short = true;
		return false;
	}
	more[l->n].number = number;
	more[l->n++].mode = mode;
	return true;
}

static bool
folder_add_side(void *arg, const char *name, uint64_t number)
{
	return nodes_find(name) != NULL || folder_add(arg, name, number, S_IFREG);
}

static void
folder_free(struct ops_handle *h)
{
	struct folder_list *l = (struct folder_list *)h;

	for (size_t i = 0; i < l->n; i++)
		free(l->name[i].name);
	free(l->name);
	free(l);
}

void
ops_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct folder_list *l = calloc(1, sizeof(*l));
	struct node *node = NULL;
	int rc;

	(void)ino;
	if (l == NULL) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	(void)ops_refresh(0);
	folder_add(l, ".", FUSE_ROOT_ID, S_IFDIR);
	folder_add(l, "..", FUSE_ROOT_ID, S_IFDIR);
	folder_add(l, NODES_JSON, nodes_find(NODES_JSON)->number, S_IFREG);
	while ((node = nodes_next(node)) != NULL)
		folder_add(l, node->name, node->number, S_IFREG);
	rc = side_list(folder_add_side, l);
	if (rc == 0 && l->is_short)
		rc = -ENOMEM;
	fi->fh = ops_keep(&l->handle, folder_free);
	if (rc != 0)
		fuse_reply_err(req, -rc);
	if (rc != 0 || fuse_reply_open(req, fi) != 0)
		ops_drop(&l->handle);
}

void
ops_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	const struct folder_list *l = (const struct folder_list *)(uintptr_t)fi->fh;
	char *text = (char *)serve_data();
	size_t used = 0, len;

	(void)ino;
	if (size > SERVE_MOST)
		size = SERVE_MOST;
	for (size_t i = (size_t)off; i < l->n; i++) {
		const struct stat st = { .st_ino = l->name[i].number, .st_mode = l->name[i].mode };

		len = fuse_add_direntry(
			req, text + used, size - used, l->name[i].name, &st, (off_t)(i + 1));
		if (len > size - used)
			break;
		used += len;
	}
	fuse_reply_buf(req, text, used);
}

void
ops_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	ops_drop((struct ops_handle *)(uintptr_t)fi->fh);
	fuse_reply_err(req, 0);
}

void
ops_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)ino;
	(void)datasync;
	(void)fi;
	fuse_reply_err(req, -side_sync());
}

/* --- changes --- */

void
ops_create(
	fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	struct node *node;
	int rc = side_find(name, O_CREAT | (fi->flags & O_EXCL), mode, &node);

	(void)parent;
	if (rc == 0)
		rc = folder_entry(node, &e);
	fi->keep_cache = 1;
	if (rc != 0)
		fuse_reply_err(req, -rc);
	else if (fuse_reply_create(req, &e, fi) != 0)
		side_forget(node, 1);
}

void
ops_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent;
	fuse_reply_err(req, nodes_find(name) != NULL ? EPERM : -side_unlink(name));
}

void
ops_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	(void)parent;
	(void)name;
	(void)mode;
	(void)rdev;
	fuse_reply_err(req, EPERM);
}

void
ops_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void)parent;
	(void)name;
	(void)mode;
	fuse_reply_err(req, EPERM);
}

void
ops_symlink(fuse_req_t req, const char *link, fuse_ino_t parent, const char *name)
{
	(void)link;
	(void)parent;
	(void)name;
	fuse_reply_err(req, EPERM);
}

void
ops_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	(void)ino;
	(void)parent;
	(void)name;
	fuse_reply_err(req, EPERM);
}

void
ops_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t to_parent,
	const char *to, unsigned int flags)
{
	(void)parent;
	(void)name;
	(void)to_parent;
	(void)to;
	(void)flags;
	fuse_reply_err(req, EPERM);
}
