/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The way from files to the fabric. Each thread that serves files has an attachment of its own, as
 * a struct weft belongs to one thread; the main thread has one that does nothing but notice when
 * the daemon goes. What is open then is lost for good (EIO); what is opened later attaches again.
 *
 * A region is opened in the attachment of a thread when that thread first has something to do with
 * the file, and only if its memory is still the one that the file was opened on.
 */
#ifndef FABRIC_H
#define FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft.h"

#define FABRIC_SLOTS 64 /* regions that an attachment may have open */

struct fabric_slot {
	uint64_t file; /* 0: none is open */
	uint64_t used; /* when it was, in calls */
	struct weft_region *r;
};

/** The attachment of a thread; all zeros before fabric_attach(). */
struct fabric_client {
	struct weft *w; /* NULL: not attached */
	uint64_t epoch; /* of the daemon that it is attached to */
	uint64_t used;
	struct fabric_slot slot[FABRIC_SLOTS];
};

/** A region that is open, for any thread. */
struct fabric_file {
	uint64_t id;
	uint64_t epoch; /* of the daemon that served it first */
	uint64_t size;
	uint64_t generation; /* 0: not known yet; set once, by any thread */
	int rights;
	bool is_lost; /* set by any thread */
	bool is_asked; /* fabric_learn() was: by any thread */
	char name[WEFT_NAME_LEN];
};

/* --- main thread --- */

/**
 * Attach to a host, for good: weft-fuse stays with the host that it found.
 *
 * @param target  as for weft_attach(); stays the caller's
 * @return 0, or an error of weft_attach(), or -errno
 */
int fabric_begin(const char *target);

/** Name of the host. */
const char *fabric_node(void);

/** What to poll for input before fabric_keep(); the second is -1 while there is no daemon. */
void fabric_fds(int fds[2]);

/** Notice a daemon that has gone, and try the next one if a thread asked. @return it has gone */
bool fabric_keep(void);

/** Let no thread wait for the daemon any more. */
void fabric_stop(void);

/** After the threads have ended. */
void fabric_end(void);

/* --- threads, each with its own attachment --- */

/** @return 0, or an error of weft_attach() */
int fabric_attach(struct fabric_client *c);
void fabric_detach(struct fabric_client *c);

/** regions_list() of the daemon that is there; -EIO: there is none. */
int fabric_list(struct fabric_client *c, struct weft_region_info **list);

/**
 * Open a region.
 *
 * @param f     receives all but its name, which is set by the caller
 * @param info  receives what the region is
 * @return 0; -EIO: there is no daemon; an error of weft_open()
 */
int fabric_open(struct fabric_client *c, struct fabric_file *f, struct weft_region_info *info);

/**
 * After the first operation that succeeded: what memory it is, where that was not known before.
 *
 * @return @p info is new
 */
bool fabric_learn(struct fabric_client *c, struct fabric_file *f, struct weft_region_info *info);

/** Nothing will be asked of a file any more. */
void fabric_close(struct fabric_client *c, const struct fabric_file *f);

/** Errors of weft_read() and so on; -EIO also where the file's daemon has gone. */
int fabric_read(struct fabric_client *c, struct fabric_file *f, uint64_t off, void *buf, size_t n);
int fabric_write(
	struct fabric_client *c, struct fabric_file *f, uint64_t off, const void *buf, size_t n);
int fabric_fence(struct fabric_client *c, struct fabric_file *f);

/** The same memory by another file, to read only. */
void fabric_copy(struct fabric_file *to, const struct fabric_file *f);

/**
 * Ask for a part of it and do not wait. An attachment that does this does nothing else.
 *
 * @param buf   of @p n bytes, until fabric_answers() gives @p user, or is not 0
 * @return 0; an error of an operation; -ESHUTDOWN: the file's daemon has gone
 */
int fabric_ask(struct fabric_client *c, struct fabric_file *f, uint64_t off, void *buf, size_t n,
	uint64_t user);

/** Answers, as weft_wait(); -ESHUTDOWN: none will come to what was asked. */
int fabric_answers(struct fabric_client *c, struct weft_done *done, int n, int64_t timeout_ns);

#endif /* FABRIC_H */
