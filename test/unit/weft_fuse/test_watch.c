/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which regions with open files weft-fuse asks for, and that they give their places back. The
 * fabric is this file: it answers all at once, and its attachment counts what is open in it.
 */

#include "weft_test.h"

#include <pthread.h>

#include "serve.h"
#include "watch.h"

#define NODES 200
#define PATIENCE_S 30 /* a region is asked for within a second or two */

#define ASKED 65536

static struct node node[NODES];
static struct {
	pthread_mutex_t lock;
	uint64_t last_file;
	uint64_t open[NODES]; /* files that have a place in the attachment */
	unsigned int n_open, most_open;
	uint64_t asked[ASKED]; /* of these sizes: which tells the files of a test apart */
	unsigned int n_asked;
	struct weft_done done[ASKED];
	unsigned int n_done;
	int status; /* of what comes next */
	unsigned int n_doubts;
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- what watch.c calls --- */

void
fabric_copy(struct fabric_file *to, const struct fabric_file *f)
{
	*to = *f;
	to->id = ++fake.last_file;
}

static void
fake_open(uint64_t id)
{
	for (unsigned int i = 0; i < fake.n_open; i++)
		if (fake.open[i] == id)
			return;
	fake.open[fake.n_open++] = id;
	if (fake.n_open > fake.most_open)
		fake.most_open = fake.n_open;
}

int
fabric_ask(struct fabric_client *c, struct fabric_file *f, uint64_t off, void *buf, size_t n,
	uint64_t user)
{
	(void)buf;
	pthread_mutex_lock(&fake.lock);
	c->w = (struct weft *)&fake;
	assert_true(off + n <= f->size && fake.n_asked < ASKED && fake.n_open < NODES);
	fake_open(f->id);
	fake.asked[fake.n_asked++] = f->size;
	fake.done[fake.n_done++] = (struct weft_done){ .user = user, .status = fake.status };
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

int
fabric_answers(struct fabric_client *c, struct weft_done *done, int n, int64_t timeout_ns)
{
	(void)c;
	(void)timeout_ns;
	pthread_mutex_lock(&fake.lock);
	n = (unsigned int)n < fake.n_done ? n : (int)fake.n_done;
	fake.n_done -= (unsigned int)n;
	memcpy(done, &fake.done[fake.n_done], (size_t)n * sizeof(*done));
	pthread_mutex_unlock(&fake.lock);
	return n;
}

void
fabric_close(struct fabric_client *c, const struct fabric_file *f)
{
	(void)c;
	pthread_mutex_lock(&fake.lock);
	for (unsigned int i = 0; i < fake.n_open; i++)
		if (fake.open[i] == f->id)
			fake.open[i] = fake.open[--fake.n_open];
	pthread_mutex_unlock(&fake.lock);
}

void
fabric_detach(struct fabric_client *c)
{
	c->w = NULL;
}

struct weft_region_info
nodes_info(const struct node *of)
{
	return of->info;
}

void
serve_doubt(struct node *of)
{
	(void)of;
	pthread_mutex_lock(&fake.lock);
	fake.n_doubts++;
	pthread_mutex_unlock(&fake.lock);
}

/* --- tests --- */

/* One life of the thread for all tests: it begins once in a program. */
static int
begin(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NODES; i++)
		node[i] = (struct node){ .info.rights = WEFT_READ };
	return watch_begin();
}

static int
end(void **state)
{
	(void)state;
	watch_end();
	return 0;
}

WEFT_TEST_AROUND(begin, end)

/* A file of node @p i. */
static void
open_file(unsigned int i, const char *name, uint64_t lines)
{
	struct fabric_file f = { .size = lines * 64 };

	snprintf(f.name, sizeof(f.name), "%s", name);
	watch_open(&node[i], &f);
}

static void
close_files(unsigned int first, unsigned int n)
{
	for (unsigned int i = first; i < first + n; i++)
		watch_close(&node[i]);
}

/* How often a file of so many lines was asked for since @p from. */
static unsigned int
asked(uint64_t lines, unsigned int from)
{
	unsigned int n = 0;

	pthread_mutex_lock(&fake.lock);
	for (unsigned int i = from; i < fake.n_asked; i++)
		n += fake.asked[i] == lines * 64;
	pthread_mutex_unlock(&fake.lock);
	return n;
}

static unsigned int
read_locked(const unsigned int *value)
{
	unsigned int v;

	pthread_mutex_lock(&fake.lock);
	v = *value;
	pthread_mutex_unlock(&fake.lock);
	return v;
}

static unsigned int
now(void)
{
	return read_locked(&fake.n_asked);
}

static void
answer(int status)
{
	pthread_mutex_lock(&fake.lock);
	fake.status = status;
	pthread_mutex_unlock(&fake.lock);
}

static void
wait_a_moment(int *n, const char *what)
{
	const struct timespec t = { .tv_nsec = 10000000 };

	if (++*n == PATIENCE_S * 100)
		fail_msg("%s", what);
	nanosleep(&t, NULL);
}

static void
wait_asked(uint64_t lines, unsigned int from)
{
	int n = 0;

	while (asked(lines, from) == 0)
		wait_a_moment(&n, "a file that is open is not asked for");
}

/* Others are asked for when more have been closed than an attachment has places for. */
WEFT_TEST(closed_files_give_their_places_back)
{
	unsigned int from;

	for (unsigned int i = 0; i < FABRIC_SLOTS; i++)
		open_file(i, "g0", 1);
	wait_asked(1, 0);
	for (unsigned int i = FABRIC_SLOTS; i < FABRIC_SLOTS + 9; i++)
		open_file(i, "g0", 2);
	close_files(0, FABRIC_SLOTS);
	wait_asked(2, 0);
	for (unsigned int i = 100; i < NODES; i++)
		open_file(i, "g0", 3);
	close_files(100, NODES - 100);
	open_file(99, "g0", 4);
	wait_asked(4, 0);
	from = now();
	wait_asked(4, from);
	assert_int_equal(asked(1, from) + asked(3, from), 0);
	assert_in_range(read_locked(&fake.most_open), 1, FABRIC_SLOTS);
	close_files(FABRIC_SLOTS, 9);
	close_files(99, 1);
}

/* A part that has grown is another to the fabric; all its files are one to the kernel. */
WEFT_TEST(the_last_opening_is_asked_for)
{
	unsigned int from;

	open_file(0, "g0:0x0+0x280", 10);
	wait_asked(10, 0);
	open_file(0, "g0:0x0+0x2c0", 11);
	open_file(0, "g0:0x0+0x2c0", 11);
	wait_asked(11, 0);
	from = now();
	close_files(0, 1);
	close_files(0, 1);
	wait_asked(11, from);
	assert_int_equal(asked(10, from), 0);
	close_files(0, 1);
	open_file(1, "g1", 12);
	wait_asked(12, 0);
	from = now();
	wait_asked(12, from);
	assert_int_equal(asked(11, from), 0);
	close_files(1, 1);
}

/* What has come to its end is not asked for again, but what is opened later is. */
WEFT_TEST(a_region_that_is_over_is_watched_when_it_is_opened_again)
{
	unsigned int from;
	int n = 0;

	answer(-ESTALE);
	open_file(0, "g0", 20);
	while (read_locked(&fake.n_doubts) == 0)
		wait_a_moment(&n, "what the kernel has is not doubted");
	from = now();
	answer(0);
	open_file(1, "g1", 21);
	wait_asked(21, from);
	assert_int_equal(asked(20, from), 0);
	open_file(0, "g0", 20);
	wait_asked(20, from);
	assert_int_equal(read_locked(&fake.n_doubts), 1);
}
