/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The threads of weft-fuse. Those that answer the kernel: as many as were asked for, each with an
 * attachment to the daemon. One that tells the kernel what to forget: the kernel may want an answer
 * before it does, so none of those that answer may be the one. One that looks whether the memory is
 * still there (watch.h). The main thread watches the daemon and signals.
 */
#ifndef SERVE_H
#define SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric.h"
#include "nodes.h"

#define SERVE_MOST ((size_t)1 << 20) /* bytes of a read or a write of the kernel's */
#define SERVE_THREADS_MAX 64

struct serve_options {
	unsigned int n_threads;
	bool is_direct;
};

/**
 * Attach for each thread.
 *
 * @return 0, or an error of weft_attach(), whose line weft_error(NULL) has; or -ENOMEM
 */
int serve_prepare(const struct serve_options *o);

/**
 * See what regions there are, once nodes_begin() was called and before serve_run(): so they are
 * shown even if the daemon goes before anybody has looked.
 */
void serve_look(void);

/**
 * Start the threads, of a session that is mounted, and serve until a signal (cli_catch_stop(), what
 * it catches being blocked) or the end of the mount.
 *
 * @param ready  called when all is served
 */
void serve_run(struct fuse_session *se, void (*ready)(void));

/** After the session was unmounted. */
void serve_end(void);

/* --- for operations --- */

const struct serve_options *serve_options(void);

/** Of the calling thread: its attachment, and SERVE_MOST bytes. */
struct fabric_client *serve_client(void);
uint8_t *serve_data(void);

/** What the kernel keeps of a region's content must go; NULL: of all. */
void serve_doubt(struct node *node);

#endif /* SERVE_H */
