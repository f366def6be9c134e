/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Files: what they are, and what is read and written. A region is as a block device is: its size
 * stays, so O_TRUNC has no effect, ftruncate(2) to another size is refused (EPERM), and what would
 * be written behind its end does not fit (ENOSPC). The kernel writes at once what write(2) gives
 * it, and what was stored through maps before it asks for a fence.
 */

#include "ops.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"
#include "side.h"
#include "watch.h"

#define OPS_LOST_NS INT64_C(1000000000) /* that a region is not asked any more */

/* A file that is open. Companions have none. */
struct ops_file {
	struct ops_handle handle;
	struct fabric_file fabric;
	struct node *watched; /* NULL: it is not */
	char *json; /* of regions.json; NULL: a region */
};

static pthread_mutex_t ops_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ops_handle *ops_handles;

uint64_t
ops_keep(struct ops_handle *h, void (*free)(struct ops_handle *h))
{
	pthread_mutex_lock(&ops_lock);
	*h = (struct ops_handle){ .next = ops_handles, .at = &ops_handles, .free = free };
	if (h->next != NULL)
		h->next->at = &h->next;
	ops_handles = h;
	pthread_mutex_unlock(&ops_lock);
	return (uint64_t)(uintptr_t)h;
}

void
ops_drop(struct ops_handle *h)
{
	pthread_mutex_lock(&ops_lock);
	*h->at = h->next;
	if (h->next != NULL)
		h->next->at = h->at;
	pthread_mutex_unlock(&ops_lock);
	h->free(h);
}

static struct ops_file *
ops_file(const struct fuse_file_info *fi)
{
	return (struct ops_file *)(uintptr_t)fi->fh;
}

static void
ops_init(void *arg, struct fuse_conn_info *conn)
{
	(void)arg;
	conn->max_read = SERVE_MOST;
	conn->max_write = SERVE_MOST;
	/*
	 * Not wanted: that O_TRUNC makes the kernel believe that a file is empty; that times decide
	 * what it forgets; that it keeps what write(2) gave it; that requests come through pipes.
	 */
	conn->want &= ~(unsigned int)(FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_AUTO_INVAL_DATA |
				      FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_SPLICE_READ);
}

/* Nobody asks any more. */
static void
ops_destroy(void *arg)
{
	(void)arg;
	while (ops_handles != NULL)
		ops_drop(ops_handles);
}

static void
ops_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	struct node *node = nodes_get(ino);

	if (node->kind == NODE_SIDE)
		side_forget(node, n);
	fuse_reply_none(req);
}

/* --- what files are --- */

int
ops_stat(struct node *node, struct stat *st)
{
	char *json = NULL;

	if (node->kind == NODE_SIDE)
		return side_stat(node, st);
	if (node->kind == NODE_JSON || node->is_place)
		(void)ops_refresh(OPS_SECONDS);
	if (node->kind == NODE_JSON) {
		json = ops_json();
		if (json == NULL)
			return -ENOMEM;
	}
	nodes_stat(node, json != NULL ? strlen(json) : 0, st);
	free(json);
	return 0;
}

static void
ops_reply_attr(fuse_req_t req, struct node *node)
{
	struct stat st;
	const int rc = ops_stat(node, &st);

	if (rc != 0)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_attr(req, &st, node->kind == NODE_REGION ? OPS_SECONDS : 0);
}

static void
ops_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	ops_reply_attr(req, nodes_get(ino));
}

/*
 * Nothing of a region can be set but its time. O_TRUNC comes as a size of 0 without an open file,
 * as truncate(2) to 0 does: both succeed, and the region stays as it is.
 */
static int
ops_judge_attr(struct node *node, const struct stat *attr, int to_set, bool is_open)
{
	struct stat st;

	if (node->kind != NODE_REGION)
		return -EPERM;
	nodes_stat(node, 0, &st);
	if ((to_set & FUSE_SET_ATTR_SIZE) != 0 && attr->st_size != st.st_size &&
		(is_open || attr->st_size != 0))
		return -EPERM;
	if (((to_set & FUSE_SET_ATTR_MODE) != 0 &&
		    (attr->st_mode & 07777) != (st.st_mode & 07777)) ||
		((to_set & FUSE_SET_ATTR_UID) != 0 && attr->st_uid != st.st_uid) ||
		((to_set & FUSE_SET_ATTR_GID) != 0 && attr->st_gid != st.st_gid))
		return -EPERM;
	return 0;
}

static void
ops_touch(struct node *node, const struct timespec *at)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	nodes_touch(node, at != NULL ? at : &now);
}

static void
ops_setattr(
	fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	struct node *node = nodes_get(ino);
	int rc;

	if (node->kind == NODE_SIDE) {
		rc = side_setattr(node, attr, to_set);
	} else {
		rc = ops_judge_attr(node, attr, to_set, fi != NULL);
		if (rc == 0 && (to_set & FUSE_SET_ATTR_MTIME) != 0)
			ops_touch(node,
				(to_set & FUSE_SET_ATTR_MTIME_NOW) != 0 ? NULL : &attr->st_mtim);
	}
	if (rc != 0)
		fuse_reply_err(req, -rc);
	else
		ops_reply_attr(req, node);
}

/* --- open, close --- */

static int
ops_open_json(struct ops_file *f, struct fuse_file_info *fi)
{
	int rc;

	if ((fi->flags & O_ACCMODE) != O_RDONLY)
		return EACCES;
	rc = ops_refresh(0);
	if (rc != 0)
		return rc;
	f->json = ops_json();
	fi->direct_io = 1;
	return f->json == NULL ? ENOMEM : 0;
}

static int
ops_open_region(struct ops_file *f, struct node *node, struct fuse_file_info *fi)
{
	static const int rights[] = {
		[O_RDONLY] = WEFT_READ, [O_WRONLY] = WEFT_WRITE, [O_RDWR] = WEFT_READ | WEFT_WRITE
	};
	struct weft_region_info info;
	int rc;

	if ((fi->flags & O_ACCMODE) > O_RDWR)
		return EINVAL;
	/* A place is opened by the name that it has now, and as large as it is now. */
	if (node->is_place && ops_refresh(0) != 0)
		return EIO;
	info = nodes_info(node);
	memcpy(f->fabric.name, info.name, sizeof(f->fabric.name));
	f->fabric.rights = rights[fi->flags & O_ACCMODE];
	rc = fabric_open(serve_client(), &f->fabric, &info);
	if (rc != 0)
		return -rc;
	if (!nodes_confirm(node, &info, f->fabric.epoch)) {
		fabric_close(serve_client(), &f->fabric);
		/* The kernel looks the name up again, and then finds the new one. */
		(void)ops_refresh(0);
		return ESTALE;
	}
	/* Without that the kernel forgets now what it has: others may have written since. */
	fi->keep_cache = 0;
	fi->direct_io = serve_options()->is_direct;
	if (!serve_options()->is_direct) {
		f->watched = node;
		watch_open(node, &f->fabric);
	}
	return 0;
}

static void
ops_free(struct ops_handle *h)
{
	struct ops_file *f = (struct ops_file *)h;

	free(f->json);
	free(f);
}

static void
ops_close(struct ops_file *f)
{
	if (f->watched != NULL)
		watch_close(f->watched);
	if (f->json == NULL)
		fabric_close(serve_client(), &f->fabric);
	ops_drop(&f->handle);
}

static void
ops_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct node *node = nodes_get(ino);
	struct ops_file *f;
	int rc;

	if (node->kind == NODE_SIDE) {
		/* Nobody else changes it. */
		fi->keep_cache = 1;
		fuse_reply_open(req, fi);
		return;
	}
	f = calloc(1, sizeof(*f));
	if (f == NULL) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	rc = node->kind == NODE_JSON ? ops_open_json(f, fi) : ops_open_region(f, node, fi);
	fi->fh = ops_keep(&f->handle, ops_free);
	if (rc != 0) {
		fuse_reply_err(req, rc);
		ops_drop(&f->handle);
	} else if (fuse_reply_open(req, fi) != 0) {
		ops_close(f);
	}
}

static void
ops_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	if (nodes_get(ino)->kind != NODE_SIDE)
		ops_close(ops_file(fi));
	fuse_reply_err(req, 0);
}

/* --- read, write --- */

/* The kernel must not go on to give out what it keeps of a region that failed so. */
static int
ops_judge(struct node *node, int rc)
{
	if (rc == -ESTALE || rc == -EACCES || rc == -ENXIO)
		serve_doubt(node);
	return rc;
}

static int64_t
ops_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/*
 * Read @p to, or write @p from where that is NULL. It takes the fabric 15 s to find that the way to
 * a region is lost, and the kernel asks again page by page for what it read ahead: those, and who
 * waited for a thread, are told at once.
 */
static int
ops_move(struct node *node, struct fabric_file *f, uint64_t off, void *to, const void *from,
	size_t n)
{
	const int64_t began_ns = ops_now_ns();
	const int64_t lost_ns = __atomic_load_n(&node->lost_ns, __ATOMIC_RELAXED);
	struct weft_region_info info;
	int rc;

	if (lost_ns != 0 && began_ns - lost_ns < OPS_LOST_NS)
		return -ETIMEDOUT;
	rc = to != NULL ? fabric_read(serve_client(), f, off, to, n)
	                : fabric_write(serve_client(), f, off, from, n);
	if (rc == -ETIMEDOUT && ops_now_ns() - began_ns > OPS_LOST_NS)
		__atomic_store_n(&node->lost_ns, ops_now_ns(), __ATOMIC_RELAXED);
	else if (rc == 0 && lost_ns != 0)
		__atomic_store_n(&node->lost_ns, 0, __ATOMIC_RELAXED);
	if (rc == 0 && fabric_learn(serve_client(), f, &info))
		(void)nodes_confirm(node, &info, f->epoch);
	return ops_judge(node, rc);
}

static void
ops_read_region(fuse_req_t req, struct node *node, size_t size, uint64_t off, struct ops_file *f)
{
	const uint64_t left = off < f->fabric.size ? f->fabric.size - off : 0;
	uint8_t *data = serve_data();
	int rc = 0;

	if (size > left)
		size = (size_t)left;
	if (size > SERVE_MOST)
		size = SERVE_MOST;
	if (size > 0)
		rc = ops_move(node, &f->fabric, off, data, NULL, size);
	if (rc != 0)
		fuse_reply_err(req, -rc);
	else
		fuse_reply_buf(req, (const char *)data, size);
}

static void
ops_read_side(fuse_req_t req, const struct node *node, size_t size, off_t off)
{
	char *data = (char *)serve_data();
	const ssize_t n = pread(node->fd, data, size < SERVE_MOST ? size : SERVE_MOST, off);

	if (n < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_buf(req, data, (size_t)n);
}

/* A copy: when the answer is out the reader may close the file, which frees its text. */
static void
ops_read_json(fuse_req_t req, size_t size, off_t off, const char *json)
{
	const size_t all = strlen(json), at = (uint64_t)off < all ? (size_t)off : all;
	const size_t len = all - at < size ? all - at : size;
	char *text = malloc(len + 1);

	if (text == NULL) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	memcpy(text, json + at, len);
	fuse_reply_buf(req, text, len);
	free(text);
}

static void
ops_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct node *node = nodes_get(ino);

	if (node->kind == NODE_SIDE) {
		ops_read_side(req, node, size, off);
	} else if (node->kind == NODE_JSON) {
		ops_read_json(req, size, off, ops_file(fi)->json);
	} else {
		ops_read_region(req, node, size, (uint64_t)off, ops_file(fi));
	}
}

static void
ops_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t off,
	struct fuse_file_info *fi)
{
	struct node *node = nodes_get(ino);
	struct fabric_file *f;
	uint64_t left;
	ssize_t n;
	int rc;

	if (node->kind == NODE_SIDE) {
		n = pwrite(node->fd, data, size, off);
		if (n < 0)
			fuse_reply_err(req, errno);
		else
			fuse_reply_write(req, (size_t)n);
		return;
	}
	f = &ops_file(fi)->fabric;
	left = (uint64_t)off < f->size ? f->size - (uint64_t)off : 0;
	if (size > left)
		size = (size_t)left;
	rc = size == 0 ? -ENOSPC : ops_move(node, f, (uint64_t)off, NULL, data, size);
	if (rc != 0) {
		fuse_reply_err(req, -rc);
		return;
	}
	ops_touch(node, NULL);
	fuse_reply_write(req, size);
}

static int
ops_fence(struct node *node, struct fuse_file_info *fi)
{
	struct fabric_file *f = &ops_file(fi)->fabric;

	if (node->kind != NODE_REGION || (f->rights & (int)WEFT_WRITE) == 0)
		return 0;
	return ops_judge(node, fabric_fence(serve_client(), f));
}

static void
ops_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct node *node = nodes_get(ino);

	fuse_reply_err(req, node->kind == NODE_SIDE ? 0 : -ops_fence(node, fi));
}

static void
ops_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct node *node = nodes_get(ino);
	int rc;

	if (node->kind != NODE_SIDE)
		rc = -ops_fence(node, fi);
	else
		rc = (datasync ? fdatasync(node->fd) : fsync(node->fd)) == 0 ? 0 : errno;
	fuse_reply_err(req, rc);
}

const struct fuse_lowlevel_ops ops_table = {
	.init = ops_init,
	.destroy = ops_destroy,
	.lookup = ops_lookup,
	.forget = ops_forget,
	.getattr = ops_getattr,
	.setattr = ops_setattr,
	.open = ops_open,
	.release = ops_release,
	.read = ops_read,
	.write = ops_write,
	.flush = ops_flush,
	.fsync = ops_fsync,
	.opendir = ops_opendir,
	.readdir = ops_readdir,
	.releasedir = ops_releasedir,
	.fsyncdir = ops_fsyncdir,
	.create = ops_create,
	.unlink = ops_unlink,
	.mknod = ops_mknod,
	.mkdir = ops_mkdir,
	.symlink = ops_symlink,
	.link = ops_link,
	.rename = ops_rename,
};
