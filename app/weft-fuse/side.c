/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Companion files. A node has its file open as long as the kernel knows it, so that what was
 * unlinked can be used by those who have it open.
 */

#include "side.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SIDE_NUMBERS (UINT64_C(1) << 48) /* so that they are not those of regions */

static struct {
	int fd;
	pthread_mutex_t lock;
	struct node *first;
} side = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

int
side_begin(const char *path)
{
	int rc;

	side.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (side.fd < 0)
		return -errno;
	if (flock(side.fd, LOCK_EX | LOCK_NB) == 0)
		return faccessat(side.fd, ".", W_OK | X_OK, AT_EACCESS) == 0 ? 0 : -errno;
	rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
	side_end();
	return rc;
}

static void
side_free(struct node *node)
{
	close(node->fd);
	free(node->name);
	free(node);
}

void
side_end(void)
{
	struct node *node;

	while ((node = side.first) != NULL) {
		side.first = node->next;
		side_free(node);
	}
	if (side.fd >= 0)
		close(side.fd);
	side.fd = -1;
}

bool
side_is_name(const char *name)
{
	const char *dash = side.fd >= 0 ? strchr(name, '-') : NULL;

	/* Names of regions may have some, too. */
	while (dash != NULL && (dash[1] == '\0' || !nodes_is_region(name, (size_t)(dash - name))))
		dash = strchr(dash + 1, '-');
	return dash != NULL;
}

/* --- nodes --- */

static int
side_open(const char *name, int flags, mode_t mode)
{
	struct stat st;
	int fd, rc;

	fd = openat(side.fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags,
		(mode & 0777) | S_IRUSR | S_IWUSR);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? fd : -EPERM;
	if (rc < 0)
		close(fd);
	return rc;
}

/* The node of the file that has a name now. */
static struct node *
side_known(const char *name)
{
	struct node *node = side.first;
	struct stat now, st;

	if (fstatat(side.fd, name, &now, AT_SYMLINK_NOFOLLOW) != 0)
		return NULL;
	while (node != NULL && (strcmp(node->name, name) != 0 || fstat(node->fd, &st) != 0 ||
				       st.st_ino != now.st_ino || st.st_dev != now.st_dev))
		node = node->next;
	return node;
}

static int
side_make(const char *name, int flags, mode_t mode, struct node **out)
{
	struct node *node = calloc(1, sizeof(*node));

	if (node == NULL)
		return -ENOMEM;
	node->kind = NODE_SIDE;
	node->name = strdup(name);
	node->fd = node->name == NULL ? -ENOMEM : side_open(name, flags, mode);
	if (node->fd < 0) {
		const int rc = node->fd;

		free(node->name);
		free(node);
		return rc;
	}
	node->next = side.first;
	side.first = node;
	*out = node;
	return 0;
}

int
side_find(const char *name, int flags, mode_t mode, struct node **out)
{
	int rc = 0;

	if (!side_is_name(name))
		return (flags & O_CREAT) != 0 ? -EPERM : -ENOENT;
	pthread_mutex_lock(&side.lock);
	*out = side_known(name);
	if (*out != NULL && (flags & O_EXCL) != 0)
		rc = -EEXIST;
	else if (*out == NULL)
		rc = side_make(name, flags, mode, out);
	if (rc == 0)
		(*out)->n_lookup++;
	pthread_mutex_unlock(&side.lock);
	return rc;
}

void
side_forget(struct node *node, uint64_t n)
{
	struct node **at;

	pthread_mutex_lock(&side.lock);
	node->n_lookup -= n;
	if (node->n_lookup == 0) {
		for (at = &side.first; *at != node; at = &(*at)->next)
			;
		*at = node->next;
		side_free(node);
	}
	pthread_mutex_unlock(&side.lock);
}

int
side_unlink(const char *name)
{
	if (!side_is_name(name))
		return -EPERM;
	return unlinkat(side.fd, name, 0) == 0 ? 0 : -errno;
}

/* --- files --- */

int
side_stat(struct node *node, struct stat *st)
{
	if (fstat(node->fd, st) != 0)
		return -errno;
	st->st_ino |= SIDE_NUMBERS;
	return 0;
}

int
side_setattr(struct node *node, const struct stat *attr, int to_set)
{
	const int times = FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME;
	const bool is_owner = (to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)) != 0;
	struct timespec t[] = { attr->st_atim, attr->st_mtim };

	if ((to_set & FUSE_SET_ATTR_SIZE) != 0 && ftruncate(node->fd, attr->st_size) != 0)
		return -errno;
	if ((to_set & FUSE_SET_ATTR_MODE) != 0 &&
		fchmod(node->fd, (attr->st_mode & 0777) | S_IRUSR | S_IWUSR) != 0)
		return -errno;
	if (is_owner &&
		fchown(node->fd, (to_set & FUSE_SET_ATTR_UID) != 0 ? attr->st_uid : (uid_t)-1,
			(to_set & FUSE_SET_ATTR_GID) != 0 ? attr->st_gid : (gid_t)-1) != 0)
		return -errno;
	if ((to_set & times) == 0)
		return 0;
	if ((to_set & FUSE_SET_ATTR_ATIME_NOW) != 0)
		t[0].tv_nsec = UTIME_NOW;
	else if ((to_set & FUSE_SET_ATTR_ATIME) == 0)
		t[0].tv_nsec = UTIME_OMIT;
	if ((to_set & FUSE_SET_ATTR_MTIME_NOW) != 0)
		t[1].tv_nsec = UTIME_NOW;
	else if ((to_set & FUSE_SET_ATTR_MTIME) == 0)
		t[1].tv_nsec = UTIME_OMIT;
	return futimens(node->fd, t) == 0 ? 0 : -errno;
}

int
side_sync(void)
{
	return side.fd < 0 || fsync(side.fd) == 0 ? 0 : -errno;
}

int
side_list(bool (*see)(void *arg, const char *name, uint64_t number), void *arg)
{
	const int fd = side.fd < 0 ? -1 : openat(side.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool goes_on = true;
	int rc = 0;

	if (side.fd < 0)
		return 0;
	if (d == NULL) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (goes_on && (e = readdir(d)) != NULL)
		if ((e->d_type == DT_REG || e->d_type == DT_UNKNOWN) && side_is_name(e->d_name))
			goes_on = see(arg, e->d_name, e->d_ino | SIDE_NUMBERS);
	closedir(d);
	return rc;
}
