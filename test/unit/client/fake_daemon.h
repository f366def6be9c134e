/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A daemon for tests of its clients: a thread that serves a socket, over flat memory in place of a
 * fabric. It completes operations in any order that fences allow, at times of its own, looks
 * whether its clients keep to the rules, and breaks them where a test wants that.
 */
#ifndef FAKE_DAEMON_H
#define FAKE_DAEMON_H

#include <pthread.h>
#include <stdatomic.h>

#include "weft_attach_server.h"
#include "weft_test.h"

#define FAKE_REGIONS 6
#define FAKE_SIZE (1u << 20) /* bytes of each region */
#define FAKE_CLIENTS 8
#define FAKE_READ_ONLY (FAKE_REGIONS - 2) /* region that may only be read */
#define FAKE_POISONED (FAKE_REGIONS - 1) /* region of which fake_is_bad() lines are poisoned */

/* What it does wrong: in its answers, and in the rings. */
enum fake_fault {
	FAKE_GOOD,
	FAKE_CLOSES, /* in place of an answer */
	FAKE_REFUSES, /* with -EAGAIN and a text of two lines without end */
	FAKE_SHORT,
	FAKE_LONG,
	FAKE_EMPTY,
	FAKE_MAGIC,
	FAKE_VERSION,
	FAKE_CALL,
	FAKE_STATUS, /* above 0 */
	FAKE_NO_FDS,
	FAKE_TWO_FDS,
	FAKE_SEVEN_FDS,
	FAKE_OTHER_FDS, /* of files */
	FAKE_SMALL_BLOCK,
	FAKE_UNSEALED,
	FAKE_NO_HEAD,
	FAKE_ENTRIES,
	FAKE_ODD_DATA,
	FAKE_TINY_DATA, /* no page behind the slots */
	FAKE_FAULTS,
	/* In the rings, from the first operation on. */
	FAKE_CQ_TAIL = FAKE_FAULTS,
	FAKE_CQ_USER,
	FAKE_CQ_TWICE,
	FAKE_CQ_STATUS,
	FAKE_CQ_FAULTS
};

/* How it leaves. */
enum fake_exit {
	FAKE_STAYS,
	FAKE_KILLED, /* the sockets end */
	FAKE_LEAVES, /* the blocks say so, then the sockets end */
	FAKE_DETACHES, /* the blocks say so */
	FAKE_EXITS
};

struct fake_client {
	int socket; /* -1: none */
	int to_client;
	struct weft_attach_server s;
	size_t block_len;
	struct weft_attach_sqe *pending; /* taken, in their order */
	uint32_t n_pending;
	uint64_t part_off[WEFT_ATTACH_REGIONS]; /* of an open region by its handle */
	uint64_t part_size[WEFT_ATTACH_REGIONS];
	uint32_t n_handles;
};

struct fake {
	char path[108];
	_Atomic(enum fake_fault) fault;
	uint32_t idle_max; /* rounds without work before it sleeps; 0: at once */
	uint32_t leave_after; /* operations; 0: never */
	enum fake_exit exit;
	bool has_uio;
	/* What was seen, for after fake_end(); atomic where read before. */
	atomic_uint n_sleeps, n_signals, n_done;
	uint32_t
		n_clashes; /* data of two open operations at one place, or a rule of rings broken */
	uint32_t n_cuts; /* operations that neither began nor ended where lines do */
	uint32_t n_ops;
	uint32_t n_uio[2]; /* of those, reads and writes by UIO */
	uint8_t *memory; /* FAKE_REGIONS of FAKE_SIZE */

	struct weft_rand rand;
	struct fake_client client[FAKE_CLIENTS];
	atomic_bool is_over;
	atomic_bool is_held; /* completes nothing for now */
	atomic_int error; /* that reads and writes end with, undone; 0: none */
	atomic_int write_error; /* likewise, of writes */
	atomic_bool is_mended; /* nothing is poisoned any more */
	int listener, wake;
	pthread_t thread;
};

static inline bool
fake_is_bad(uint64_t line)
{
	return line % 97 == 13;
}

/** Serve @p path; what is set in @p f before holds. */
void fake_begin(struct fake *f, const char *path, uint64_t seed);

/** End it, and take its socket's name away. */
void fake_end(struct fake *f);

/* --- what tests of it have besides --- */

extern char fake_folder[64]; /**< of the test, while it runs */
extern char fake_socket[96]; /**< h0.sock there */

/** Make the folder, and remove it with all that is in it: a test's setup and teardown. */
void fake_folder_begin(void);
void fake_folder_end(void);

int64_t fake_now_ns(void);

/** Lines of /proc/self/maps. */
int fake_mappings(void);

/** A line for people: it says something, and is one. */
void fake_is_line(const char *line);

#endif /* FAKE_DAEMON_H */
