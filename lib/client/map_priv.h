/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the files of maps share. The maps of a struct weft have one mapper: a thread with an
 * attachment of its own, one userfaultfd, one file of memory that the maps are parts of, and a
 * cache of pages. All of that belongs to the thread; callers hand it jobs and wait.
 *
 *   map.c         the calls
 *   map_job.c     what the thread does for them
 *   map_place.c   maps that begin and end
 *   map_loop.c    the thread: jobs, faults, completions, sleep
 *   map_fault.c   faults, and the readers that are seen to go forward
 *   map_fetch.c   pages from the fabric into the map
 *   map_back.c    what was stored, back into the fabric
 *   map_cache.c   the frames: which page goes
 *   map_arena.c   addresses, and the file behind them
 *   map_kernel.c  userfaultfd
 *
 * A page in the map is write-protected until the first store, when a copy of it is kept (its twin).
 * It is written back line by line where it differs from its twin: what others wrote in other lines
 * of the page stays. No store is lost: the page is protected before it is read for that, and what
 * is stored meanwhile waits.
 */
#ifndef CLIENT_MAP_PRIV_H
#define CLIENT_MAP_PRIV_H

#include <pthread.h>

#include "client_priv.h"

#define MAP_SPARE 256 /* frames beyond the limit, for pages that are held */
#define MAP_WINDOW_MIN 8 /* pages that are fetched ahead */
#define MAP_WINDOW_MAX 64
#define MAP_PIECE 4 /* pages of a fetch */
#define MAP_FETCHES 64
#define MAP_PENDING 64 /* faults that wait for room */
#define MAP_STREAMS 8
#define MAP_HOLDERS 64 /* threads whose pages are held */
#define MAP_HOLD 4 /* pages that an instruction may need at a time */
#define MAP_ARENAS 32
#define MAP_BATCH 64 /* pages that begin to be written back together */
#define MAP_WRITE_BACK (UINT64_C(1) << 63) /* user of an operation: frame, not fetch */

/* A page of a map that is there, or on its way. */
enum map_state {
	MAP_FREE,
	MAP_FETCHING,
	MAP_STAGED, /* its content is in its twin: the first load shows how far a reader is */
	MAP_CLEAN, /* in the map, protected */
	MAP_DIRTY, /* stored to; the twin has what it was */
	MAP_WRITING, /* protected, and being written back */
	MAP_BAD /* in place of it there is a signal */
};

struct map_frame {
	struct map *m;
	uint64_t page; /* of the map */
	uint32_t next; /* FREE: in the list of those */
	uint32_t n_writes; /* WRITING: open */
	int16_t status; /* BAD: why; DIRTY: why it could not be written back, else 0 */
	uint8_t state; /* enum map_state */
	bool is_wanted; /* FETCHING: a thread waits */
	bool is_stored; /* FETCHING: to store */
	bool is_trip; /* FETCHING: is staged, not installed, if nobody waits */
	bool is_stale; /* FETCHING: was forgotten meanwhile */
	bool is_counted; /* FETCHING, WRITING: the job waits */
	bool is_leaving; /* WRITING: goes when it is written */
	bool is_again; /* the clock's hand passes it once */
};

struct map {
	struct mapper *k;
	struct map_region *region;
	uint8_t *at;
	uint64_t off; /* in the region */
	uint64_t len; /* bytes */
	uint64_t n_pages;
	uint64_t file_off;
	uint32_t *cell; /* of each page: 1 + its frame; 0: it is absent */
	uint32_t n_busy; /* frames that are FETCHING or WRITING */
	bool can_write;
	bool is_ending;
	uint8_t advice; /* enum weft_advice */
};

/* A region as the mapper has it open, for all maps of one struct weft_region. */
struct map_region {
	struct weft_region *r;
	uint32_t refs; /* maps, and the caller's region while that is open */
	struct map_region *next;
};

struct map_fetch {
	struct map_frame *frame[MAP_PIECE];
	uint32_t n, next;
	uint8_t *buf;
};

/* A reader that goes forward. */
struct map_stream {
	const struct map *m;
	uint64_t next; /* a fault from here on */
	uint64_t end; /* to here continues it; behind what was asked for */
	uint32_t window; /* pages, of the last that were asked for; 0: one page was read */
	uint64_t used;
};

/* The last pages that a thread asked for. */
struct map_holder {
	uint32_t tid, keep;
	const struct map *m[MAP_HOLD];
	uint64_t page[MAP_HOLD];
	int64_t at_ns;
};

struct map_fault {
	uint64_t address;
	uint32_t tid;
	bool is_store;
};

struct map_arena {
	uint8_t *at;
	uint64_t len, file_off;
	bool is_torn; /* the program took a part of it away: nothing more goes there */
};

enum map_job_kind {
	MAP_JOB_MAP,
	MAP_JOB_UNMAP,
	MAP_JOB_SYNC,
	MAP_JOB_DROP,
	MAP_JOB_FETCH,
	MAP_JOB_ADVISE,
	MAP_JOB_COUNT,
	MAP_JOB_FORGET,
	MAP_JOB_END
};

/* What a caller wants; it waits until is_done. */
struct map_job {
	enum map_job_kind kind;
	struct map_job *next;
	char *err; /* CLIENT_TEXT bytes of the caller's */
	struct weft_region *region; /* MAP */
	struct map_region *forget; /* FORGET */
	uint64_t off, n; /* MAP: of the region */
	uint8_t *p; /* MAP: receives it; others: the address, */
	size_t len; /* and how many bytes */
	int what; /* flags or advice */
	struct weft_map_counters *counters;
	uint32_t tid; /* of the caller */
	int status;
	bool is_done;
	/* The mapper's. */
	struct map *m;
	bool is_begun, is_walked;
	bool has_frames; /* it walks frames, not pages */
	uint64_t first, end; /* pages */
	uint64_t at, size; /* of the walk */
	uint32_t n_open;
	uint64_t bad; /* offset in the region of what failed */
};

/* What callers want: theirs until it is taken, and when it is done. */
struct map_jobs {
	pthread_mutex_t lock; /* of first, last and is_done of each */
	pthread_cond_t is_done;
	struct map_job *first, *last;
	uint32_t n; /* that wait; read without the lock */
};

/* Addresses, and the file behind them. */
struct map_space {
	int file;
	int hole; /* a file that stays empty */
	uint64_t len; /* of the file */
	struct map_arena arena[MAP_ARENAS]; /* added under client_map_lock_all() */
	uint32_t n_arenas;
	struct map **maps; /* by address */
	uint32_t n_maps, room;
};

struct map_cache {
	struct map_frame *frame;
	uint8_t *twins; /* a page of each frame */
	uint32_t limit, n_frames; /* the limit and MAP_SPARE */
	uint32_t n_high; /* those from here on were never used */
	uint32_t n_used, n_writing, n_leaving, n_fetching, n_bad;
	uint32_t free, hand;
	int stuck; /* why what was stored could not be written back, last */
	int64_t retry_ns;
	struct map_holder holder[MAP_HOLDERS];
};

struct mapper {
	struct weft *w; /* its own */
	struct mapper *next; /* of all of this process */
	uint64_t number; /* of all that this process made */
	pthread_t thread;
	struct map_jobs jobs;
	struct map_job *job; /* the one that is under way */
	int bell, uffd;
	bool is_user_only, has_poison, is_over, is_ended;
	uint64_t page; /* bytes */
	int64_t spin_ns, now_ns, busy_ns;
	uint32_t published; /* of the submission ring */
	struct map_space space;
	struct map_region *regions;
	struct map_cache cache;
	struct map_fetch fetch[MAP_FETCHES];
	uint32_t free_fetch;
	uint8_t *staging, *scratch;
	uint64_t memory_len; /* of the frames, twins and buffers */
	struct map_stream stream[MAP_STREAMS];
	uint64_t tick;
	struct map_fault pending[MAP_PENDING];
	uint32_t n_pending;
	struct weft_map_counters count;
};

#define MAP_NONE UINT32_MAX /* no frame, no fetch */

static inline uint8_t *
client_map_twin(const struct mapper *k, const struct map_frame *f)
{
	return k->cache.twins + (uint64_t)(f - k->cache.frame) * k->page;
}

static inline uint64_t
client_map_address(const struct map_frame *f)
{
	return (uint64_t)(uintptr_t)f->m->at + f->page * f->m->k->page;
}

/* Bytes of the map on a page: its last may have fewer than others. */
static inline uint64_t
client_map_bytes(const struct map *m, uint64_t page)
{
	const uint64_t rest = m->len - page * m->k->page;

	return rest < m->k->page ? rest : m->k->page;
}

/** The frame of a page; NULL: it is absent. */
static inline struct map_frame *
client_map_frame(const struct map *m, uint64_t page)
{
	return m->cell[page] == 0 ? NULL : &m->k->cache.frame[m->cell[page] - 1];
}

/* --- map_kernel.c --- */

/** A userfaultfd. 0, or -errno with a line; -ENOSYS: the kernel lacks something, -EPERM */
int client_map_uffd_open(struct mapper *k, char *err);
int client_map_register(const struct mapper *k, const void *at, uint64_t len);

/** Whether a page is still of that; it is protected from stores if so. */
bool client_map_is_registered(const struct mapper *k, uint64_t at);

/** Put @p n pages from @p buf where they are absent, and wake who waits. 0, or -errno */
int client_map_install(
	const struct mapper *k, uint64_t at, const void *buf, uint32_t n, bool is_protected);
void client_map_protect(const struct mapper *k, uint64_t at, uint64_t n);
/** Let threads store there, and wake those that wait. */
void client_map_unprotect(const struct mapper *k, uint64_t at);
void client_map_wake(const struct mapper *k, uint64_t at, uint64_t len);
/** An absent page gives SIGBUS from now on, and to those that wait. 0, or -errno */
int client_map_poison(struct mapper *k, const struct map *m, uint64_t at);
void client_map_mend(struct mapper *k, const struct map *m, uint64_t at);

/* --- map_arena.c --- */

/** A file of memory, of no bytes yet. 0, or -errno with a line */
int client_map_file_open(struct mapper *k, char *err);
/** Addresses for m->n_pages, and the pages' rights. 0, -ENOMEM or -EMFILE */
int client_map_place(struct mapper *k, struct map *m);
/** No more: who waits gets SIGSEGV. */
void client_map_displace(struct mapper *k, struct map *m);
void client_map_read_page(const struct mapper *k, const struct map_frame *f, void *buf);
/** Pages from @p page on become absent. */
void client_map_punch(const struct mapper *k, const struct map *m, uint64_t page, uint64_t n);
void client_map_arenas_end(struct mapper *k);
/** The map that has an address; NULL: none */
struct map *client_map_find(const struct mapper *k, uint64_t address);

/* --- map_cache.c --- */

/* Pages that leave together: neighbours of one map are one call. */
struct map_run {
	struct map *m;
	uint64_t page, n;
};

enum map_take {
	MAP_TAKEN,
	MAP_WAIT, /* for completions */
	MAP_FULL /* taken; but beyond the limit, which nothing brings it back to: for BAD */
};

/** A frame for an absent page that a thread or a job waits for. */
enum map_take client_map_take(
	struct mapper *k, struct map *m, uint64_t page, struct map_frame **out);
/** One for a page ahead; NULL: none is free without waiting */
struct map_frame *client_map_take_ahead(struct mapper *k, struct map *m, uint64_t page);
/** Free a frame. What is in the map of it goes, also where it is dirty. */
void client_map_release(struct mapper *k, struct map_frame *f);
/** Likewise; its page goes with the next ones, or by client_map_run_end(). */
void client_map_release_run(struct mapper *k, struct map_frame *f, struct map_run *r);
void client_map_run_end(const struct mapper *k, struct map_run *r);
/** A frame is on its way, or has arrived. */
void client_map_begin_busy(struct mapper *k, struct map_frame *f, enum map_state state);
void client_map_end_busy(struct mapper *k, struct map_frame *f, enum map_state state);
/** A thread asked for a page: it stays for a moment. */
void client_map_hold(struct mapper *k, uint32_t tid, const struct map *m, uint64_t page);
/** A thread that makes a call is between two instructions: it needs no page. */
void client_map_let_go(struct mapper *k, uint32_t tid);
void client_map_turn_bad(struct mapper *k, struct map_frame *f, int status);
/** Of a page in the map: its twin, and let threads store there. */
void client_map_turn_dirty(struct mapper *k, struct map_frame *f);

/* --- map_fetch.c --- */

/** Begin to fetch frames of pages in a row. false: no room for an operation */
bool client_map_fetch(struct mapper *k, struct map_frame *const *frames, uint32_t n);
void client_map_fetched(struct mapper *k, uint32_t fetch, int status, uint64_t bad);
/** What is staged goes into the map. */
void client_map_unstage(struct mapper *k, struct map_frame *f, bool is_store);

/* --- map_back.c --- */

/** Begin to write back frames that are DIRTY. Those without a change are CLEAN at once. */
void client_map_back(struct mapper *k, struct map_frame *const *frames, uint32_t n);
void client_map_backed(struct mapper *k, uint32_t frame, int status, uint64_t bad);

/* --- map_fault.c --- */

/** @return whether it is answered, or will be by itself; else ask again */
bool client_map_fault(struct mapper *k, const struct map_fault *f);
void client_map_forget_streams(struct mapper *k, const struct map *m);

/* --- map_job.c --- */

/** Go on with a job. @return whether it is done */
bool client_map_job_step(struct mapper *k, struct map_job *j);
/** Something that the job waits for is done. */
void client_map_job_note(struct mapper *k, struct map_frame *f, int status, uint64_t bad);

void client_map_job_walk(const struct mapper *k, struct map_job *j);
/** Write back what the walk finds, or only wait. @return whether that is done */
bool client_map_job_back(struct mapper *k, struct map_job *j, bool only_waits);
/** Forget pages of the range; those that are dirty as well, if @p discards. */
void client_map_job_forget(struct mapper *k, struct map_job *j, bool discards);
/** A line for its status, if that is an error. */
void client_map_job_say(struct map_job *j, const char *what);

/* --- map_place.c --- */

int client_map_begin(struct mapper *k, struct map_job *j);
bool client_map_unmap_begin(struct mapper *k, struct map_job *j);
/** @return whether it is done */
bool client_map_unmap(struct mapper *k, struct map_job *j);
/** Likewise, of all maps. */
bool client_map_end_all(struct mapper *k, struct map_job *j);
void client_map_unref(struct mapper *k, struct map_region *r);
void client_map_regions_end(struct mapper *k);

/* --- map_loop.c --- */

void *client_map_run(void *mapper);
void client_map_publish(struct mapper *k);
/** Take what has completed, after waiting for something if @p waits. @return whether there was any
 */
bool client_map_reap(struct mapper *k, bool waits);

/* --- map.c --- */

/** Nothing of a mapper's maps is looked up while this is held. */
void client_map_lock_all(void);
void client_map_unlock_all(void);

#endif /* CLIENT_MAP_PRIV_H */
