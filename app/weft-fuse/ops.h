/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the kernel may ask of the mount. */
#ifndef OPS_H
#define OPS_H

#include "nodes.h"

#define OPS_SECONDS 1.0 /* that the kernel believes names, sizes and rights */

extern const struct fuse_lowlevel_ops ops_table;

/** The first member of what is open: what is not closed when the mount ends is freed then. */
struct ops_handle {
	struct ops_handle *next, **at;
	void (*free)(struct ops_handle *h); /* frees its memory, nothing more */
};

/** @return the handle's number for the kernel */
uint64_t ops_keep(struct ops_handle *h, void (*free)(struct ops_handle *h));
/** Forget it and free it. */
void ops_drop(struct ops_handle *h);

/** What stat(2) says. 0 or -errno. */
int ops_stat(struct node *node, struct stat *st);

/* --- ops_folder.c --- */

/** Have the list of regions be no older than so many seconds. @return 0, or an errno: no daemon */
int ops_refresh(double seconds);

/** The text of regions.json, the caller's to free; NULL: no memory. */
char *ops_json(void);

void ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void ops_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void ops_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void ops_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void ops_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	struct fuse_file_info *fi);
void ops_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void ops_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void ops_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void ops_symlink(fuse_req_t req, const char *link, fuse_ino_t parent, const char *name);
void ops_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void ops_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t to_parent,
	const char *to, unsigned int flags);

#endif /* OPS_H */
