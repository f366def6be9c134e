/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the files of libweft share. The daemon is not trusted with this process's memory either:
 * what it says is copied once and checked before anything is done by it.
 */
#ifndef CLIENT_PRIV_H
#define CLIENT_PRIV_H

#include <time.h>

#include "weft_attach.h"
#include "weft_base.h"

#include "weft.h"

#define CLIENT_TEXT 512 /* bytes of a line for people, with its end */
#define CLIENT_PATH 108 /* what the kernel takes for a socket, with its end */
#define CLIENT_SLOT 64 /* bytes of the data area that each entry has for its own */
#define CLIENT_UIO_ALIGN 4u /* of places and lengths by UIO */
#define CLIENT_PIECE (UINT64_C(16) << 10) /* of a long blocking call, at most */
#define CLIENT_TIMEOUT_S 5 /* for an answer over the socket */
#define CLIENT_NS_PER_S INT64_C(1000000000)

/* An operation that is open, by the number that the daemon knows it by. */
struct client_op {
	void *buf;
	uint64_t user;
	uint64_t data; /* offset in the data area */
	uint32_t len;
	uint8_t kind; /* enum weft_op_kind; 0: none is open */
};

/* The data area behind the slots, in pieces of a page. */
struct client_pages {
	uint64_t *used; /* a bit each; those beyond the last are set */
	uint32_t n;
	uint32_t hint; /* no word before this has a free one */
	uint64_t piece; /* of a long blocking call, bytes: a power of two, pages */
};

struct weft {
	struct weft_attach_head *head;
	struct weft_attach_sqe *sqe;
	const struct weft_attach_cqe *cqe;
	uint8_t *data;
	struct client_op *ops; /* of each entry */
	uint16_t *unused; /* numbers of ops: a stack of entries - n_open */
	uint32_t entries, n_open;
	uint32_t sq_tail, cq_head;
	struct client_pages pages;
	int64_t spin_ns; /* 0: never */
	int64_t looked_ns; /* when the socket was last looked at */
	int socket, to_daemon, to_client;
	int epoll; /* of to_client and the socket */
	bool is_over; /* none will come any more than cq_tail says */
	bool is_broken; /* the daemon does not keep to the rules of the rings */
	bool is_cut; /* what comes belongs to a blocking call that has ended: nobody takes it */
	void *block;
	size_t block_len;
	struct weft_region *regions;
	struct mapper *mapper; /* of its maps; NULL: there were none */
	uint64_t map_cache; /* bytes of pages that the maps may have */
	uint64_t last_bad;
	uint32_t features; /* of the host: bits of enum weft_attach_feature */
	char node[WEFT_ATTACH_NAME];
	char path[CLIENT_PATH];
	char error[CLIENT_TEXT];
};

struct weft_region {
	struct weft *w;
	uint64_t size;
	uint64_t generation; /* when it was opened; 0: it was not known */
	uint32_t handle;
	uint32_t rights; /* that it was opened for */
	bool is_uio; /* opened with WEFT_UIO */
	struct map_region *mapped; /* as the mapper has it; NULL: there was no map of it */
	struct weft_region *next;
	char name[WEFT_ATTACH_NAME * 2];
};

/**
 * Connect to a host's socket: find.c.
 *
 * @param path  receives where it is, CLIENT_PATH bytes
 * @param err   CLIENT_TEXT bytes, for the line where it fails
 * @return a descriptor, or an error of weft_attach()
 */
int client_connect(const char *socket, char *path, char *err);

/**
 * One request and its answer: talk.c. Texts in the answer end.
 *
 * @param fds  receives WEFT_ATTACH_FDS descriptors, the caller's on 0; NULL: none are expected
 * @return 0; what the daemon said, in which case the answer holds; -EPROTO, -EPROTONOSUPPORT: it is
 *         no answer (a->magic is 0); -ETIMEDOUT, -ECONNREFUSED, -EMFILE: there is none (likewise)
 */
int client_exchange(int sock, const char *path, struct weft_attach_request *q,
	struct weft_attach_answer *a, int *fds, char *err);

/** As client_exchange() for an attachment: without an answer it is over, and -ESHUTDOWN. */
int client_ask(struct weft *w, struct weft_attach_request *q, struct weft_attach_answer *a);

/** Nanoseconds of a clock. */
int64_t client_clock(clockid_t id);

/** Nothing comes any more. */
static inline bool
client_is_over(const struct weft *w)
{
	return w->is_over || __atomic_load_n(&w->head->is_over, __ATOMIC_ACQUIRE) != 0;
}

/** @return -ESHUTDOWN, with the line for that */
int client_say_over(struct weft *w);

/**
 * An attachment without a socket, for who is the daemon as well: it submits, looks at what is done,
 * and never sleeps.
 *
 * @param block  of weft_attach_layout()'s len, laid out; the caller's, until weft_detach()
 * @return 0; -EINVAL: entries, data_len; -ENOMEM
 */
int client_make(struct weft **w, void *block, uint32_t entries, uint64_t data_len);

/** Room for the line of a call with @p w that fails, CLIENT_TEXT bytes. */
char *client_error(struct weft *w);

/** What weft_error(NULL) says: CLIENT_TEXT bytes of this thread's. */
char *client_thread_error(void);

/** The line of this thread is about a map of the mapper of that number; 0: about none. */
void client_thread_error_is_of(uint64_t mapper);

/* --- map.c --- */

/** A mapper's number, not 0, which no other of this process has, also not after its end. */
uint64_t client_map_number(const struct mapper *k);

/** End all maps; what is stored is written back, if that can be. NULL is allowed. */
void client_map_end(struct mapper *k);
/** A region is closed, of which there may be maps. NULL is allowed. */
void client_map_forget(struct mapper *k, struct map_region *mapped);

/* --- pages.c --- */

/** @return 0, or -ENOMEM */
int client_pages_init(struct client_pages *p, uint32_t n);
/** @return the first of @p n pages in a row, or -EAGAIN */
int client_pages_take(struct client_pages *p, uint32_t n);
void client_pages_give(struct client_pages *p, uint32_t first, uint32_t n);

/* --- ops.c --- */

/** What weft_submit() says of an operation, or -EAGAIN: no room. */
int client_op_begin(struct weft *w, const struct weft_op *op);
/** Let the daemon see what was begun. */
void client_op_publish(struct weft *w);
/** One is done: what it read is copied, its room is free. */
void client_op_end(struct weft *w, uint32_t slot, int status);
/** 0, or why an operation on a part of a region cannot be. */
int client_op_check(const struct weft_region *r, int kind, uint64_t off, size_t n);
/** @return @p rc of an operation that was not begun, with a line */
int client_op_refuse(struct weft *w, const struct weft_op *op, int rc);

#endif /* CLIENT_PRIV_H */
