/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Maps of the client library against a daemon over flat memory (fake_daemon.h). What a kernel may
 * lack is taken away by an ioctl() and a syscall() of this program's own.
 */

#include "weft_test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_daemon.h"
#include "weft.h"

#define TEST_RW (int)(WEFT_READ | WEFT_WRITE)
#define TEST_S INT64_C(1000000000)
#define TEST_PAGES (FAKE_SIZE / test_page)
#define TEST_POISON (UINT64_C(1) << 14) /* UFFD_FEATURE_POISON */

static uint64_t test_page;
static uint64_t test_lacks; /* features of userfaultfd that this kernel is to lack */
static int test_refuses; /* errno of userfaultfd() */

int
ioctl(int fd, unsigned long request, ...)
{
	struct uffdio_api *api;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	api = arg;
	if (request == UFFDIO_API && (api->features & test_lacks) != 0) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* Takes as many arguments as any call has, and thus more than most callers gave. */
__attribute__((no_sanitize("address"))) long
syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_userfaultfd && test_refuses != 0) {
		errno = test_refuses;
		return -1;
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int
test_setup(void **state)
{
	(void)state;
	fake_folder_begin();
	test_page = (uint64_t)sysconf(_SC_PAGESIZE);
	test_lacks = 0;
	test_refuses = 0;
	return 0;
}

static int
test_teardown(void **state)
{
	(void)state;
	fake_folder_end();
	return 0;
}

WEFT_TEST_EACH(test_setup, test_teardown)

static int
test_fds(const char *what)
{
	char path[300], to[64];
	struct dirent *e;
	DIR *d = opendir("/proc/self/fd");
	ssize_t n;
	int found = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		found += strstr(to, what) != NULL;
	}
	closedir(d);
	return found;
}

/* A daemon, a program and a map of a whole region. */
struct rig {
	struct fake f;
	struct weft *w;
	struct weft_region *r;
	uint8_t *p, *memory; /* of the map, and what the daemon has of it */
};

static void *
rig_map(struct weft_region *r, uint64_t off, size_t n, int flags)
{
	void *p;

	if (weft_map(r, off, n, flags, &p) != 0)
		fail_msg("%s", weft_error(NULL));
	return p;
}

static void
rig_begin(struct rig *g, uint32_t region, uint64_t pages, uint64_t seed)
{
	const struct weft_attach_opts o = { .size = sizeof(o), .map_cache = pages * test_page };
	struct weft_rand rand;
	char name[16];

	fake_begin(&g->f, fake_socket, seed);
	g->memory = g->f.memory + (uint64_t)region * FAKE_SIZE;
	weft_rand_seed(&rand, seed);
	weft_rand_fill(&rand, g->memory, FAKE_SIZE);
	assert_int_equal(weft_attach(fake_socket, &o, &g->w), 0);
	snprintf(name, sizeof(name), "g%u", region);
	assert_int_equal(
		weft_open(g->w, name, region == FAKE_READ_ONLY ? WEFT_READ : TEST_RW, &g->r), 0);
	if (weft_map(g->r, 0, FAKE_SIZE, 0, (void **)&g->p) != 0)
		fail_msg("%s", weft_error(g->w));
}

static void
rig_end(struct rig *g)
{
	weft_detach(g->w);
	fake_end(&g->f);
	assert_int_equal(g->f.n_clashes, 0);
}

static struct weft_map_counters
rig_count(struct rig *g)
{
	struct weft_map_counters c;

	weft_map_counters(g->w, &c);
	return c;
}

static void
rig_sync(struct rig *g)
{
	if (weft_sync(g->p, FAKE_SIZE, 0) != 0)
		fail_msg("%s", weft_error(NULL));
}

/* --- signals --- */

static __thread sigjmp_buf test_jump;
static __thread volatile sig_atomic_t test_may_jump;
static __thread void *volatile test_address;

static void
test_caught(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!test_may_jump)
		abort();
	test_address = info->si_addr;
	siglongjmp(test_jump, sig);
}

static void
test_catch(void)
{
	struct sigaction act = { .sa_sigaction = test_caught, .sa_flags = SA_SIGINFO };

	assert_int_equal(sigaction(SIGBUS, &act, NULL), 0);
	assert_int_equal(sigaction(SIGSEGV, &act, NULL), 0);
}

/* The signal of a load, or of a store; 0: none */
static int
test_signal(volatile uint8_t *at, bool is_store)
{
	const int sig = sigsetjmp(test_jump, 1);

	if (sig == 0) {
		test_may_jump = 1;
		if (is_store)
			*at = 7;
		else
			(void)*at;
	}
	test_may_jump = 0;
	return sig;
}

/* --- random loads and stores against a flat copy --- */

#define RUNNERS 4

/* One load or store, also where it stands on two pages. */
typedef volatile uint64_t runner_word __attribute__((aligned(1)));

struct runner {
	pthread_t thread;
	struct rig *g;
	struct weft_rand rand;
	uint8_t *flat;
	uint64_t me, turns;
	uint64_t pages; /* of the map, that are used */
};

/* Pairs of lines belong to one thread, so that some of them stand on two pages. */
static bool
runner_owns(const struct runner *k, uint64_t at, uint64_t n)
{
	return (at / 64 + 1) / 2 % RUNNERS == k->me &&
	       ((at + n - 1) / 64 + 1) / 2 % RUNNERS == k->me;
}

static uint64_t
runner_place(struct runner *k, uint64_t n)
{
	const uint64_t page = weft_rand_below(&k->rand, k->pages) * test_page;
	uint64_t at;

	do {
		/* Often where two pages meet. */
		at = page + (weft_rand_below(&k->rand, 3) == 0
					    ? test_page - weft_rand_below(&k->rand, n + 1)
					    : weft_rand_below(&k->rand, test_page));
	} while (at + n > k->pages * test_page || !runner_owns(k, at, n));
	return at;
}

static void
runner_call(struct runner *k)
{
	const uint64_t at = runner_place(k, 8);
	const uint64_t rest = k->pages * test_page - at;
	const uint64_t n = weft_rand_below(&k->rand, rest < 30000 ? rest : 30000);
	uint64_t i;

	switch (weft_rand_below(&k->rand, 4)) {
	case 0:
		assert_int_equal(weft_sync(k->g->p + at, n, 0), 0);
		for (i = at; i < at + n; i++)
			if (runner_owns(k, i, 1) && k->g->memory[i] != k->flat[i])
				fail_msg("byte %llu is not written", (unsigned long long)i);
		break;
	case 1: assert_int_equal(weft_sync(k->g->p + at, n, WEFT_DROP), 0); break;
	case 2: assert_int_equal(weft_advise(k->g->p + at, 1, WEFT_PREFETCH), 0); break;
	default: assert_int_equal(weft_advise(k->g->p + at, 1, WEFT_PREFETCH_WRITE), 0); break;
	}
}

static void *
runner_run(void *arg)
{
	struct runner *k = arg;
	uint64_t turn, at, v, i;

	for (turn = 0; turn < k->turns; turn++) {
		at = runner_place(k, sizeof(v));
		if (weft_rand_below(&k->rand, 2) == 0) {
			v = weft_rand_u64(&k->rand);
			memcpy(k->flat + at, &v, sizeof(v));
			*(runner_word *)(void *)(k->g->p + at) = v;
		} else {
			memcpy(&v, k->flat + at, sizeof(v));
			i = *(runner_word *)(void *)(k->g->p + at);
			if (i != v)
				fail_msg("at %llu: %llx, expected %llx", (unsigned long long)at,
					(unsigned long long)i, (unsigned long long)v);
		}
		if (weft_rand_below(&k->rand, 50) == 0)
			runner_call(k);
	}
	return NULL;
}

static void
test_random(uint64_t limit, uint64_t pages, struct weft_rand *rand)
{
	struct rig g = { .f = { .idle_max = 20 } };
	struct runner k[RUNNERS];
	uint8_t *flat = malloc(FAKE_SIZE);
	struct weft_map_counters c;
	int i;

	assert_non_null(flat);
	rig_begin(&g, 0, limit, weft_rand_u64(rand));
	memcpy(flat, g.memory, FAKE_SIZE);
	for (i = 0; i < RUNNERS; i++) {
		k[i] = (struct runner){ .g = &g,
			.flat = flat,
			.me = (uint64_t)i,
			.pages = pages,
			.turns = weft_test_cases(limit < 100 ? 700 : 10000) };
		weft_rand_seed(&k[i].rand, weft_rand_u64(rand));
		assert_int_equal(pthread_create(&k[i].thread, NULL, runner_run, &k[i]), 0);
	}
	for (i = 0; i < RUNNERS; i++)
		assert_int_equal(pthread_join(k[i].thread, NULL), 0);
	c = rig_count(&g);
	printf("limit %llu: %llu faults, %llu first stores, %llu evicted, %llu lines written, "
	       "%llu pages at the end\n",
		(unsigned long long)limit, (unsigned long long)c.faults,
		(unsigned long long)c.first_stores, (unsigned long long)c.evicted,
		(unsigned long long)c.written_lines, (unsigned long long)c.pages);
	/* What an instruction of each thread may need passes the limit. */
	assert_true(c.pages <= limit || c.pages <= RUNNERS * 4);
	assert_true((limit < pages) == (c.evicted > 0));
	assert_memory_equal(g.p, flat, pages * test_page);
	if (weft_unmap(g.p) != 0)
		fail_msg("%s", weft_error(NULL));
	assert_memory_equal(g.memory, flat, FAKE_SIZE);
	rig_end(&g);
	free(flat);
}

WEFT_TEST(random_loads_and_stores_are_those_of_flat_memory)
{
	static const uint64_t limits[] = { 1, 2, 7, 1000 };
	struct weft_rand rand;
	size_t i;

	weft_test_seed(&rand, "maps");
	for (i = 0; i < WEFT_ARRAY_SIZE(limits); i++)
		test_random(limits[i], i % 2 == 0 ? TEST_PAGES : 30, &rand);
}

/* --- a store that meets a write-back --- */

struct counter {
	pthread_t thread;
	_Atomic uint64_t *at;
	atomic_bool is_over;
	uint64_t n;
};

static void *
counter_run(void *arg)
{
	struct counter *c = arg;

	while (!c->is_over)
		atomic_store(c->at, ++c->n);
	return NULL;
}

WEFT_TEST(no_store_is_lost_to_a_write_back)
{
	struct rig g = { .f = { .idle_max = 20 } };
	const uint32_t turns = weft_test_cases(700);
	struct counter c[2] = { 0 };
	uint64_t before[2], now;
	uint32_t i, j;

	rig_begin(&g, 0, 3, 3);
	memset(g.memory, 0, test_page);
	for (i = 0; i < 2; i++) {
		c[i].at = (_Atomic uint64_t *)(void *)(g.p + i * 128);
		assert_int_equal(pthread_create(&c[i].thread, NULL, counter_run, &c[i]), 0);
	}
	for (j = 0; j < turns; j++) {
		for (i = 0; i < 2; i++)
			before[i] = atomic_load(c[i].at);
		if (j % 3 == 0)
			(void)*(volatile uint8_t *)(g.p + (1 + j % 17) * test_page);
		else
			assert_int_equal(weft_sync(g.p, 1, j % 3 == 1 ? 0 : WEFT_DROP), 0);
		for (i = 0; i < 2 && j % 3 != 0; i++) {
			now = __atomic_load_n(
				(uint64_t *)(void *)(g.memory + i * 128), __ATOMIC_RELAXED);
			assert_true(now >= before[i]);
		}
	}
	for (i = 0; i < 2; i++) {
		c[i].is_over = true;
		assert_int_equal(pthread_join(c[i].thread, NULL), 0);
	}
	rig_sync(&g);
	for (i = 0; i < 2; i++)
		assert_int_equal(*(uint64_t *)(void *)(g.memory + i * 128), c[i].n);
	rig_end(&g);
}

/* Two programs, or two maps, store in other lines of one page. */
WEFT_TEST(lines_that_did_not_change_are_not_written)
{
	struct rig g = { 0 };
	uint8_t *other, line[64];

	rig_begin(&g, 0, 100, 4);
	other = rig_map(g.r, 0, 3 * test_page, 0);
	memset(line, 0xaa, sizeof(line));
	g.p[0] = 1;
	g.p[test_page + 130] = 2;
	other[64] = 3;
	other[test_page - 1] = 4;
	assert_int_equal(weft_write(g.r, 256, line, 64), 0);
	rig_sync(&g);
	assert_int_equal(rig_count(&g).written_lines, 2);
	assert_int_equal(weft_sync(other, 2 * test_page, 0), 0);
	assert_int_equal(rig_count(&g).written_lines, 4);
	assert_int_equal(g.memory[0], 1);
	assert_int_equal(g.memory[64], 3);
	assert_int_equal(g.memory[test_page - 1], 4);
	assert_int_equal(g.memory[test_page + 130], 2);
	assert_memory_equal(g.memory + 256, line, 64);
	/* A store of what was there is none. */
	g.p[0] = 1;
	assert_int_equal(weft_advise(g.p, 3 * test_page, WEFT_PREFETCH_WRITE), 0);
	rig_sync(&g);
	assert_int_equal(rig_count(&g).written_lines, 4);
	rig_end(&g);
}

WEFT_TEST(what_others_wrote_shows_after_it_was_forgotten)
{
	struct rig g = { 0 };
	uint8_t byte = 0x11;

	rig_begin(&g, 0, 100, 5);
	g.memory[5] = g.memory[4096] = 0x22;
	assert_int_equal(g.p[5], 0x22);
	assert_int_equal(weft_write(g.r, 5, &byte, 1), 0);
	assert_int_equal(g.p[5], 0x22);
	g.p[100] = 0x33;
	rig_sync(&g);
	assert_int_equal(g.p[5], 0x22);
	assert_int_equal(weft_sync(g.p, test_page, WEFT_DROP), 0);
	assert_int_equal(g.p[5], 0x11);
	assert_int_equal(g.p[100], 0x33);
	/* Forgotten with what was stored. */
	g.p[100] = 0x44;
	assert_int_equal(weft_advise(g.p, 1, WEFT_DROP), 0);
	assert_int_equal(g.p[100], 0x33);
	assert_int_equal(g.memory[100], 0x33);
	/* A part of a map is what is named. */
	g.p[0] = g.p[test_page] = 0x55;
	assert_int_equal(weft_sync(g.p, test_page, 0), 0);
	assert_int_equal(g.memory[0], 0x55);
	assert_true(g.memory[test_page] != 0x55);
	rig_end(&g);
}

struct loader {
	pthread_t thread;
	uint8_t *at, byte;
};

static void *
loader_run(void *arg)
{
	struct loader *l = arg;

	l->byte = *(volatile uint8_t *)l->at;
	return NULL;
}

/* What is on its way may be from before: it is fetched again. */
WEFT_TEST(what_is_forgotten_on_its_way_is_not_shown)
{
	struct rig g = { 0 };
	struct loader l;

	rig_begin(&g, 0, 100, 21);
	g.f.is_held = true;
	l.at = g.p + 7 * test_page;
	assert_int_equal(pthread_create(&l.thread, NULL, loader_run, &l), 0);
	while (rig_count(&g).faults == 0)
		usleep(1000);
	assert_int_equal(weft_advise(g.p, FAKE_SIZE, WEFT_DROP), 0);
	g.f.is_held = false;
	assert_int_equal(pthread_join(l.thread, NULL), 0);
	assert_int_equal(l.byte, g.memory[7 * test_page]);
	assert_int_equal(rig_count(&g).fetched, 2);
	assert_int_equal(rig_count(&g).pages, 1);
	rig_end(&g);
}

/* --- prefetch --- */

static void
test_read_page(struct rig *g, uint64_t page)
{
	assert_int_equal(g->p[page * test_page + 9], g->memory[page * test_page + 9]);
}

WEFT_TEST(readers_that_go_forward_are_seen)
{
	struct rig g = { .f = { .idle_max = 20 } };
	struct weft_map_counters c, before;
	uint64_t page, i;

	rig_begin(&g, 0, 1000, 6);
	for (page = 0; page < TEST_PAGES; page++)
		test_read_page(&g, page);
	c = rig_count(&g);
	printf("forward: %llu faults, %llu of %llu pages ahead\n", (unsigned long long)c.faults,
		(unsigned long long)c.fetched_ahead, (unsigned long long)c.fetched);
	assert_int_equal(c.fetched, TEST_PAGES);
	assert_int_equal(c.fetched_ahead, TEST_PAGES - 3);
	assert_int_equal(weft_sync(g.p, FAKE_SIZE, WEFT_DROP), 0);
	assert_int_equal(rig_count(&g).pages, 0);

	/* In an order that goes nowhere. */
	before = rig_count(&g);
	for (i = 0; i < TEST_PAGES; i++)
		test_read_page(&g, i * 101 % TEST_PAGES);
	c = rig_count(&g);
	assert_int_equal(c.fetched - before.fetched, TEST_PAGES);
	assert_int_equal(c.fetched_ahead - before.fetched_ahead, 0);
	assert_int_equal(weft_sync(g.p, FAKE_SIZE, WEFT_DROP), 0);

	/* Told not to. */
	before = rig_count(&g);
	assert_int_equal(weft_advise(g.p, 1, WEFT_RANDOM), 0);
	for (page = 0; page < TEST_PAGES; page++)
		test_read_page(&g, page);
	c = rig_count(&g);
	assert_int_equal(c.fetched_ahead - before.fetched_ahead, 0);
	assert_int_equal(c.faults - before.faults, TEST_PAGES);
	assert_int_equal(weft_sync(g.p, FAKE_SIZE, WEFT_DROP), 0);

	/* Told to, from the first page on. */
	before = rig_count(&g);
	assert_int_equal(weft_advise(g.p, 1, WEFT_SEQUENTIAL), 0);
	test_read_page(&g, 100);
	assert_int_equal(rig_count(&g).fetched_ahead - before.fetched_ahead, 64);
	assert_int_equal(weft_advise(g.p, 1, WEFT_NORMAL), 0);
	test_read_page(&g, 10);
	test_read_page(&g, 11);
	assert_int_equal(rig_count(&g).fetched_ahead - before.fetched_ahead, 64);
	test_read_page(&g, 12);
	assert_int_equal(rig_count(&g).fetched_ahead - before.fetched_ahead, 64 + 8);
	rig_end(&g);
}

/* Several readers at a time, each of which goes forward, and a cache that is smaller than they. */
WEFT_TEST(readers_share_a_small_cache)
{
	struct rig g = { .f = { .idle_max = 20 } };
	struct weft_map_counters c;
	uint64_t page, i;

	rig_begin(&g, 0, 64, 7);
	for (page = 0; page < TEST_PAGES / 4; page++)
		for (i = 0; i < 4; i++)
			test_read_page(&g, i * TEST_PAGES / 4 + page);
	c = rig_count(&g);
	assert_true(c.pages <= 64);
	assert_true(c.fetched_ahead > TEST_PAGES / 2);
	assert_true(c.fetched < TEST_PAGES + TEST_PAGES / 4);
	rig_end(&g);
}

WEFT_TEST(pages_are_brought_in_when_asked)
{
	struct rig g = { 0 };
	struct weft_map_counters c;

	rig_begin(&g, 0, 50, 8);
	assert_int_equal(weft_advise(g.p + 5 * test_page, 50 * test_page, WEFT_PREFETCH), 0);
	c = rig_count(&g);
	assert_int_equal(c.pages, 50);
	assert_int_equal(c.faults, 0);
	test_read_page(&g, 5);
	test_read_page(&g, 54);
	assert_int_equal(rig_count(&g).faults, 0);
	assert_int_equal(
		weft_advise(g.p + 5 * test_page, 50 * test_page + 1, WEFT_PREFETCH), -EMSGSIZE);
	assert_non_null(strstr(weft_error(NULL), "map_cache"));
	/* Others leave for them. */
	assert_int_equal(weft_advise(g.p + 100 * test_page, 50 * test_page, WEFT_PREFETCH), 0);
	assert_int_equal(rig_count(&g).pages, 50);
	rig_end(&g);
}

/* --- what cannot be read --- */

static bool
test_is_bad_page(uint64_t page)
{
	const uint64_t lines = test_page / 64;
	uint64_t line = (FAKE_POISONED * (uint64_t)FAKE_SIZE + page * test_page) / 64, i;

	for (i = 0; i < lines; i++)
		if (fake_is_bad(line + i))
			return true;
	return false;
}

static void
test_poison(uint64_t limit)
{
	struct rig g = { 0 };
	uint64_t page, n_bad = 0;
	int round, sig;

	rig_begin(&g, FAKE_POISONED, limit, 9);
	/* The second time round it is in the map, or has left it. */
	for (round = 0; round < 2; round++)
		for (page = 0; page < TEST_PAGES; page++) {
			uint8_t *at = g.p + page * test_page + page % test_page;

			sig = test_signal(at, (page + (uint64_t)round) % 3 == 0);
			assert_int_equal(sig, test_is_bad_page(page) ? SIGBUS : 0);
			assert_true(sig == 0 || (uintptr_t)test_address / test_page ==
							(uintptr_t)at / test_page);
			n_bad += sig != 0;
		}
	assert_true(n_bad > 0 && n_bad < 2 * TEST_PAGES);
	assert_true(rig_count(&g).failed >= n_bad / 2);
	for (page = 0; !test_is_bad_page(page); page++)
		;
	assert_int_equal(weft_advise(g.p + page * test_page, 1, WEFT_PREFETCH), -EIO);
	fake_is_line(weft_error(NULL));
	assert_non_null(strstr(weft_error(NULL), "poison"));
	/* What is good around it is there. */
	if (limit > 100) {
		assert_int_equal(weft_advise(g.p, 20 * test_page, WEFT_PREFETCH), -EIO);
		assert_true(rig_count(&g).pages >= 3);
	}
	g.f.is_mended = true;
	assert_int_equal(weft_advise(g.p + page * test_page, 1, WEFT_PREFETCH), 0);
	assert_int_equal(test_signal(g.p + page * test_page, false), 0);
	assert_int_equal(weft_advise(g.p, FAKE_SIZE, WEFT_DROP), 0);
	for (page = 0; page < TEST_PAGES; page++)
		assert_int_equal(test_signal(g.p + page * test_page, page % 2 == 0), 0);
	rig_end(&g);
}

WEFT_TEST(poison_is_a_signal)
{
	static const uint64_t limits[] = { 1, 5, 1000 };
	size_t i;

	test_catch();
	for (i = 0; i < WEFT_ARRAY_SIZE(limits); i++)
		test_poison(limits[i]);
}

/* As on the kernel of Debian 12. */
WEFT_TEST(poison_is_a_signal_also_where_the_kernel_has_none)
{
	test_lacks = TEST_POISON;
	test_catch();
	test_poison(1);
	test_poison(1000);
}

struct waiter {
	pthread_t thread;
	uint8_t *at;
	int sig;
};

static void *
waiter_run(void *arg)
{
	struct waiter *k = arg;

	k->sig = test_signal(k->at, false);
	return NULL;
}

static void
test_leave(enum fake_exit exit, uint64_t lacks)
{
	struct rig g = { .f = { .exit = exit } };
	struct waiter k[3];
	int64_t begin;
	void *p;
	int i;

	test_lacks = lacks;
	rig_begin(&g, 0, 100, 10);
	g.p[0] = 9;
	(void)*(volatile uint8_t *)(g.p + test_page);
	g.f.is_held = true;
	for (i = 0; i < 3; i++) {
		k[i].at = g.p + (10 + 10 * (uint64_t)i) * test_page;
		assert_int_equal(pthread_create(&k[i].thread, NULL, waiter_run, &k[i]), 0);
	}
	usleep(20000);
	begin = fake_now_ns();
	if (exit == FAKE_STAYS) {
		fake_end(&g.f);
	} else {
		g.f.is_held = false;
		g.f.error = -EIO;
	}
	for (i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(k[i].thread, NULL), 0);
		assert_int_equal(k[i].sig, SIGBUS);
	}
	if (exit != FAKE_STAYS)
		fake_end(&g.f);
	/* Absent pages, and those that are there. */
	assert_int_equal(test_signal(g.p + 200 * test_page, false), SIGBUS);
	assert_int_equal(test_signal(g.p + 201 * test_page, true), SIGBUS);
	assert_in_range(fake_now_ns() - begin, 0, TEST_S);
	assert_int_equal(test_signal(g.p + test_page, true), 0);
	assert_int_equal(g.p[0], 9);
	assert_int_equal(weft_sync(g.p, 1, 0), -ESHUTDOWN);
	fake_is_line(weft_error(NULL));
	assert_int_equal(weft_advise(g.p + 100 * test_page, 1, WEFT_PREFETCH), -ESHUTDOWN);
	assert_int_equal(weft_map(g.r, 0, 1, 0, &p), -ESHUTDOWN);
	assert_null(p);
	assert_int_equal(weft_advise(g.p, 1, WEFT_DROP), 0);
	assert_int_equal(test_signal(g.p, false), SIGBUS);
	assert_int_equal(weft_unmap(g.p), -ESHUTDOWN);
	assert_int_equal(test_signal(g.p, false), SIGSEGV);
	weft_detach(g.w);
}

WEFT_TEST(a_daemon_that_left_is_a_signal)
{
	test_catch();
	test_leave(FAKE_STAYS, 0);
	test_leave(FAKE_LEAVES, 0);
	test_leave(FAKE_STAYS, TEST_POISON);
}

/* At any moment, while threads load, store and sync in a cache of two pages. */
struct victim {
	pthread_t thread;
	struct rig *g;
	uint64_t seed;
	int64_t last_ns;
};

static void *
victim_run(void *arg)
{
	struct victim *v = arg;
	struct weft_rand rand;
	bool is_over = false;
	uint64_t at;

	weft_rand_seed(&rand, v->seed);
	while (!is_over) {
		at = weft_rand_below(&rand, FAKE_SIZE);
		v->last_ns = fake_now_ns();
		if (weft_rand_below(&rand, 20) == 0)
			is_over = weft_sync(v->g->p, FAKE_SIZE, 0) != 0;
		else
			is_over = test_signal(v->g->p + at, weft_rand_below(&rand, 2)) != 0;
	}
	v->last_ns = fake_now_ns() - v->last_ns;
	return NULL;
}

WEFT_TEST(nothing_hangs_when_a_daemon_leaves_at_any_moment)
{
	const uint32_t n = weft_test_cases(30);
	struct weft_rand rand;
	uint32_t i, j;

	test_catch();
	weft_test_seed(&rand, "leaving");
	for (i = 0; i < n; i++) {
		struct rig g = { .f = { .exit = FAKE_KILLED + i % 3,
					 .idle_max = (uint32_t)weft_rand_below(&rand, 30) } };
		struct victim v[3];

		rig_begin(&g, 0, i % 2 == 0 ? 2 : 40, weft_rand_u64(&rand));
		for (j = 0; j < 3; j++) {
			v[j] = (struct victim){ .g = &g, .seed = weft_rand_u64(&rand) };
			assert_int_equal(pthread_create(&v[j].thread, NULL, victim_run, &v[j]), 0);
		}
		usleep((useconds_t)weft_rand_below(&rand, 20000));
		g.f.leave_after = 1;
		for (j = 0; j < 3; j++) {
			assert_int_equal(pthread_join(v[j].thread, NULL), 0);
			assert_in_range(v[j].last_ns, 0, TEST_S);
		}
		if (weft_rand_below(&rand, 2) == 0)
			weft_unmap(g.p);
		weft_detach(g.w);
		fake_end(&g.f);
		assert_int_equal(g.f.n_clashes, 0);
	}
}

/* --- what cannot be written --- */

WEFT_TEST(what_cannot_be_written_back_stays)
{
	struct rig g = { 0 };
	uint64_t page, n_kept = 0;
	const uint8_t old[2] = { 1, 2 };

	test_catch();
	rig_begin(&g, 0, 8, 11);
	g.memory[0] = g.memory[test_page] = 0;
	g.p[0] = old[0];
	g.p[test_page] = old[1];
	g.f.write_error = -EACCES;
	assert_int_equal(weft_sync(g.p, test_page, 0), -EACCES);
	fake_is_line(weft_error(NULL));
	assert_non_null(strstr(weft_error(NULL), "offset 0x0"));
	/* The attachment has it too, until another call with it fails, and for this thread only. */
	assert_string_equal(weft_error(g.w), weft_error(NULL));
	assert_int_equal(weft_read(g.r, UINT64_MAX, &page, 1), -EINVAL);
	assert_null(strstr(weft_error(g.w), "offset 0x0"));
	assert_int_equal(weft_sync(g.p, test_page, 0), -EACCES);
	assert_string_equal(weft_error(g.w), weft_error(NULL));
	/* It can be stored to, and is written back when that goes again. */
	g.p[1] = 7;
	assert_int_equal(weft_sync(g.p, 2 * test_page, WEFT_DROP), -EACCES);
	assert_int_equal(g.p[0], old[0]);
	g.f.write_error = 0;
	rig_sync(&g);
	assert_int_equal(g.memory[0] + g.memory[1] + g.memory[test_page], 1 + 7 + 2);

	/* A cache that is full of it: what has no room is a signal, and nothing is lost. */
	g.f.write_error = -EACCES;
	for (page = 0; page < 40 && test_signal(g.p + page * test_page, true) == 0; page++)
		n_kept++;
	assert_in_range(n_kept, 8, 12);
	assert_int_equal(test_signal(g.p + 50 * test_page, false), SIGBUS);
	for (page = 0; page < n_kept; page++)
		assert_int_equal(g.p[page * test_page], 7);
	assert_int_equal(weft_advise(g.p + 60 * test_page, 1, WEFT_PREFETCH), -EACCES);
	assert_int_equal(weft_advise(g.p, test_page, WEFT_DROP), 0);
	assert_int_equal(test_signal(g.p + 51 * test_page, false), 0);
	/* By itself as well, after a moment. */
	g.f.write_error = 0;
	usleep(1000000);
	assert_int_equal(test_signal(g.p + 70 * test_page, false), 0);
	assert_int_equal(weft_unmap(g.p), 0);
	for (page = 1; page < n_kept; page++)
		assert_int_equal(g.memory[page * test_page], 7);
	rig_end(&g);
}

/* --- maps --- */

WEFT_TEST(maps_that_can_not_be_are_refused)
{
	static const struct {
		int rights;
		uint64_t off;
		size_t n;
		int flags, rc;
	} rows[] = {
		{ TEST_RW, 1, 1, 0, -EINVAL },
		{ TEST_RW, 64, 4096, 0, -EINVAL },
		{ TEST_RW, 0, 0, 0, -EINVAL },
		{ TEST_RW, 0, FAKE_SIZE + 1, 0, -EINVAL },
		{ TEST_RW, FAKE_SIZE, 1, 0, -EINVAL },
		{ TEST_RW, UINT64_MAX & ~UINT64_C(0xffff), SIZE_MAX, 0, -EINVAL },
		{ TEST_RW, 0, 1, 4, -EINVAL },
		{ TEST_RW, 0, 1, (int)WEFT_WRITE, -EINVAL },
		{ (int)WEFT_READ, 0, 1, TEST_RW, -EACCES },
		{ (int)WEFT_WRITE, 0, 1, 0, -EACCES },
	};
	struct rig g = { 0 };
	struct weft_region *r;
	uint8_t *q;
	size_t i;
	void *p;

	rig_begin(&g, 0, 10, 12);
	for (i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		assert_int_equal(weft_open(g.w, "g1", rows[i].rights, &r), 0);
		if (weft_map(r, rows[i].off, rows[i].n, rows[i].flags, &p) != rows[i].rc)
			fail_msg("row %zu: %s", i, weft_error(g.w));
		assert_null(p);
		fake_is_line(weft_error(g.w));
		weft_close(r);
	}
	/* Addresses that are no maps', or not all of them. */
	q = rig_map(g.r, 0, test_page, 0);
	assert_int_equal(weft_sync(&g, 1, 0), -EINVAL);
	assert_int_equal(weft_unmap(NULL), -EINVAL);
	assert_int_equal(weft_unmap(q + 1), -EINVAL);
	assert_int_equal(weft_sync(q, test_page + 1, 0), -EINVAL);
	assert_int_equal(weft_sync(q + test_page, 0, 0), -EINVAL);
	assert_int_equal(weft_sync(q, 1, 1), -EINVAL);
	assert_int_equal(weft_advise(q, 1, 77), -EINVAL);
	fake_is_line(weft_error(NULL));
	assert_int_equal(weft_unmap(q), 0);
	assert_int_equal(weft_unmap(q), -EINVAL);
	assert_int_equal(weft_sync(q, 1, 0), -EINVAL);
	rig_end(&g);
}

/* Detach, and attach and map again: the memory of both may be what the first had. */
static void *
test_attach_anew(void *arg)
{
	struct rig *g = arg;

	weft_detach(g->w);
	if (weft_attach(fake_socket, NULL, &g->w) != 0 ||
		weft_open(g->w, "g0", TEST_RW, &g->r) != 0 ||
		weft_map(g->r, 0, FAKE_SIZE, 0, (void **)&g->p) != 0)
		abort();
	return NULL;
}

WEFT_TEST(a_line_is_that_of_the_attachment_whose_map_it_was)
{
	struct rig g = { 0 };
	pthread_t thread;
	struct weft *w;

	rig_begin(&g, 0, 10, 13);
	assert_int_equal(weft_sync(g.p, 1, 99), -EINVAL);
	assert_non_null(strstr(weft_error(g.w), "flags 0x63"));
	assert_int_equal(weft_advise(g.p, 1, 77), -EINVAL);
	assert_non_null(strstr(weft_error(g.w), "advice 77"));
	/* What is no map's address, or no attachment, is none's. */
	assert_int_equal(weft_sync(&g, 1, 99), -EINVAL);
	assert_non_null(strstr(weft_error(NULL), "no address of a map"));
	assert_string_equal(weft_error(g.w), "");
	assert_int_equal(weft_advise(g.p, 1, 77), -EINVAL);
	assert_true(weft_attach("/nonesuch/h0.sock", NULL, &w) < 0);
	assert_non_null(strstr(weft_error(NULL), "/nonesuch/h0.sock"));
	assert_string_equal(weft_error(g.w), "");
	/* One that another thread made meanwhile has not this thread's line of the one before. */
	assert_int_equal(weft_advise(g.p, 1, 77), -EINVAL);
	assert_int_equal(pthread_create(&thread, NULL, test_attach_anew, &g), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_string_equal(weft_error(g.w), "");
	rig_end(&g);
}

WEFT_TEST(what_a_kernel_lacks_is_said)
{
	static const struct {
		int refuses;
		uint64_t lacks;
		int rc;
		const char *says;
	} rows[] = {
		{ EPERM, 0, -EPERM, "weft_read" },
		{ ENOSYS, 0, -ENOSYS, "userfaultfd" },
		{ EMFILE, 0, -EMFILE, "userfaultfd" },
		{ 0, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, -ENOSYS, "5.19" },
	};
	const int fds = test_fds("");
	struct weft_region *r;
	struct fake f = { 0 };
	struct weft *w;
	uint8_t byte;
	void *p;
	size_t i;

	fake_begin(&f, fake_socket, 13);
	for (i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		test_refuses = rows[i].refuses;
		test_lacks = rows[i].lacks;
		assert_int_equal(weft_attach(fake_socket, NULL, &w), 0);
		assert_int_equal(weft_open(w, "g0", TEST_RW, &r), 0);
		/* A device that root may open is a way round the first. */
		if (weft_map(r, 0, 1, 0, &p) != rows[i].rc &&
			(rows[i].refuses == ENOSYS || p == NULL))
			fail_msg("row %zu: %s", i, weft_error(w));
		if (p == NULL) {
			fake_is_line(weft_error(w));
			assert_non_null(strstr(weft_error(w), rows[i].says));
		}
		assert_int_equal(weft_read(r, 0, &byte, 1), 0);
		weft_detach(w);
	}
	fake_end(&f);
	assert_int_equal(test_fds(""), fds);
}

WEFT_TEST(what_may_only_be_read_is_mapped_so)
{
	struct rig g = { 0 };
	struct weft_region_info info;
	uint8_t *p;

	test_catch();
	rig_begin(&g, FAKE_READ_ONLY, 10, 14);
	test_read_page(&g, 3);
	assert_int_equal(test_signal(g.p + 3 * test_page, true), SIGSEGV);
	assert_int_equal(test_signal(g.p + 4 * test_page, true), SIGSEGV);
	test_read_page(&g, 4);
	assert_int_equal(weft_advise(g.p, 1, WEFT_PREFETCH_WRITE), -EACCES);
	rig_sync(&g);
	/* A map outlives the handle that it was made by. */
	weft_close(g.r);
	test_read_page(&g, 99);
	assert_int_equal(weft_open(g.w, "g0", TEST_RW, &g.r), 0);
	p = rig_map(g.r, 0, FAKE_SIZE, (int)WEFT_READ);
	assert_int_equal(p[77], g.f.memory[77]);
	assert_int_equal(test_signal(p, true), SIGSEGV);
	assert_int_equal(weft_info(g.r, &info), 0);
	rig_end(&g);
}

/* A map goes the way that its region was opened for; both of one attachment see the same memory. */
WEFT_TEST(a_map_goes_by_uio_where_its_region_does)
{
	struct rig g = { .f.has_uio = true };
	struct weft_region *uio;
	uint8_t *p, was;
	uint32_t done;
	void *q;

	rig_begin(&g, 0, 10, 16);
	assert_int_equal(weft_open(g.w, "g0", TEST_RW | (int)WEFT_UIO, &uio), 0);
	p = rig_map(uio, test_page, test_page + 100, 0);
	done = g.f.n_ops;
	was = g.memory[test_page + 5];
	assert_memory_equal(p, g.memory + test_page, test_page + 100);
	p[5] = (uint8_t)~was;
	assert_int_equal(weft_unmap(p), 0);
	assert_int_equal(g.memory[test_page + 5], (uint8_t)~was);
	assert_int_equal(weft_map(uio, 0, 102, 0, &q), -EINVAL);
	assert_non_null(strstr(weft_error(g.w), "expected a multiple of 4"));
	rig_end(&g);
	assert_true(g.f.n_ops > done);
	assert_int_equal(g.f.n_uio[0] + g.f.n_uio[1], g.f.n_ops - done);
	assert_int_equal(g.f.n_uio[1], 1);
}

WEFT_TEST(the_last_page_may_be_a_part)
{
	struct rig g = { 0 };
	uint8_t *p;

	rig_begin(&g, 0, 10, 15);
	p = rig_map(g.r, test_page, test_page + 100, 0);
	assert_memory_equal(p, g.memory + test_page, test_page + 100);
	assert_int_equal(p[test_page + 100], 0);
	assert_int_equal(p[2 * test_page - 1], 0);
	g.memory[2 * test_page + 100] = 0x77;
	p[test_page + 99] = 0x12;
	p[test_page + 100] = 0x34;
	assert_int_equal(weft_unmap(p), 0);
	assert_int_equal(g.memory[2 * test_page + 99], 0x12);
	assert_int_equal(g.memory[2 * test_page + 100], 0x77);
	rig_end(&g);
}

WEFT_TEST(many_maps_have_one_registration)
{
	enum { MANY = 2000 };
	static uint8_t *p[MANY];
	const int mappings = fake_mappings(), uffds = test_fds("userfaultfd");
	struct rig g = { .f = { .idle_max = 20 } };
	struct weft_rand rand;
	uint64_t i, j;
	int fds;

	weft_test_seed(&rand, "many");
	rig_begin(&g, 0, 64, 16);
	fds = test_fds("");
	for (i = 0; i < MANY; i++) {
		p[i] = rig_map(g.r, i % TEST_PAGES * test_page, test_page, 0);
		if (i % 3 == 0)
			p[i][i % TEST_PAGES] = g.memory[i % TEST_PAGES * test_page] = (uint8_t)i;
	}
	assert_int_equal(test_fds(""), fds);
	assert_int_equal(test_fds("userfaultfd"), uffds + 1);
	for (i = 0; i < MANY; i++)
		(void)*(volatile uint8_t *)p[i];
	for (i = 0; i < MANY; i++) {
		uint8_t *q;

		j = i + weft_rand_below(&rand, MANY - i);
		q = p[j];
		p[j] = p[i];
		assert_int_equal(weft_unmap(q), 0);
	}
	/* Addresses are used again. */
	p[0] = rig_map(g.r, 0, 500 * 1024, 0);
	assert_memory_equal(p[0], g.memory, 500 * 1024);
	assert_int_equal(weft_unmap(p[0]), 0);
	assert_int_equal(rig_count(&g).pages, 0);
	rig_end(&g);
	assert_in_range(fake_mappings(), 0, mappings + 8);
}

WEFT_TEST(mapping_again_and_again_grows_nothing)
{
	struct fake f = { .idle_max = 3 };
	struct weft_region *r;
	struct weft *w;
	int i, fds = 0, maps = 0;
	uint8_t *p;

	fake_begin(&f, fake_socket, 17);
	for (i = 0; i < 150; i++) {
		assert_int_equal(weft_attach(fake_socket, NULL, &w), 0);
		assert_int_equal(weft_open(w, "g0", TEST_RW, &r), 0);
		p = rig_map(r, 0, FAKE_SIZE, 0);
		p[i * 64] = (uint8_t)i;
		if (i >= 10 && i < 20) {
			fds = test_fds("") > fds ? test_fds("") : fds;
			maps = fake_mappings() > maps ? fake_mappings() : maps;
		}
		/* What was stored is written back at the end as well. */
		weft_detach(w);
		assert_int_equal(f.memory[i * 64], i);
	}
	assert_true(test_fds("") <= fds);
	assert_true(fake_mappings() <= maps);
	fake_end(&f);
}

WEFT_TEST(a_child_has_no_maps)
{
	struct rig g = { 0 };
	int status;
	pid_t pid;

	test_catch();
	rig_begin(&g, 0, 10, 18);
	g.p[0] = 5;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(test_signal(g.p, true) != SIGSEGV ||
			test_signal(g.p + 5 * test_page, false) != SIGSEGV);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	test_read_page(&g, 5);
	assert_int_equal(g.p[0], 5);
	rig_end(&g);
}

/* --- system calls --- */

/* Of a file, into a map, and out of it. @return 0: as it is promised */
static int
test_system_calls(uint8_t *p, bool is_user_only)
{
	const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	const uint64_t half = test_page / 2;
	int pair[2];
	ssize_t want = is_user_only ? -1 : (ssize_t)half;

	/* /dev/null reads nothing. */
	if (zero < 0 || pipe(pair) != 0)
		return 1;
	errno = EFAULT;
	if (read(zero, p, half) != want || (is_user_only && errno != EFAULT))
		return 2;
	if (write(pair[1], p + 2 * test_page, half) != want || (is_user_only && errno != EFAULT))
		return 3;
	if (weft_advise(p + test_page, 3 * test_page, WEFT_PREFETCH) != 0)
		return 4;
	if (write(pair[1], p + test_page, half) != (ssize_t)half)
		return 5;
	/* It is there, and was not stored to yet. */
	if (read(zero, p + 3 * test_page, half) != want)
		return 6;
	if (weft_advise(p, 4 * test_page, WEFT_PREFETCH_WRITE) != 0)
		return 7;
	if (read(zero, p, half) != (ssize_t)half || read(zero, p + 3 * test_page, half) < 1)
		return 8;
	if (weft_sync(p, 4 * test_page, 0) != 0)
		return 9;
	return 0;
}

static int
test_unprivileged(void)
{
	struct weft_map_counters c;
	struct weft_region *r;
	struct weft *w;
	void *p;

	if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
		return 77;
	if (weft_attach(fake_socket, NULL, &w) != 0 || weft_open(w, "g0", TEST_RW, &r) != 0)
		return 10;
	if (weft_map(r, 0, FAKE_SIZE, 0, &p) == -EPERM)
		return 77;
	if (p == NULL)
		return 11;
	weft_map_counters(w, &c);
	if (*(uint8_t *)p != 0x5a)
		return 12;
	return test_system_calls((uint8_t *)p + test_page, c.is_user_only == 1);
}

WEFT_TEST(without_privilege_system_calls_need_pages_that_are_there)
{
	struct fake f = { .idle_max = 3 };
	int status;
	pid_t pid;

	fake_begin(&f, fake_socket, 19);
	memset(f.memory, 0x5a, FAKE_SIZE);
	assert_int_equal(chmod(fake_folder, 0755), 0);
	assert_int_equal(chmod(fake_socket, 0777), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(test_unprivileged());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		fake_end(&f);
		print_message("no unprivileged userfaultfd here\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(f.memory[test_page], 0);
	assert_int_equal(f.memory[4 * test_page], 0);
	assert_int_equal(f.memory[2 * test_page], 0x5a);
	fake_end(&f);
}

WEFT_TEST(what_the_program_unmapped_by_itself_is_lost_alone)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	struct rig g = { 0 };
	uint8_t *own, *other;

	rig_begin(&g, 0, 100, 21);
	g.p[3 * test_page] = 0x11;
	g.p[5 * test_page] = 0x22;
	assert_int_equal(munmap(g.p + 3 * test_page, 2 * test_page), 0);
	own = mmap(g.p + 4 * test_page, test_page, PROT_READ | PROT_WRITE, flags, -1, 0);
	assert_ptr_equal(own, g.p + 4 * test_page);
	own[0] = 0x77;
	assert_int_equal(weft_advise(own, test_page, WEFT_PREFETCH), -ENOENT);
	assert_int_equal(weft_sync(g.p, FAKE_SIZE, 0), 0);
	assert_int_equal(g.memory[3 * test_page], 0x11);
	assert_int_equal(g.memory[5 * test_page], 0x22);
	assert_int_equal(weft_unmap(g.p), 0);
	assert_int_equal(own[0], 0x77);
	test_catch();
	assert_int_equal(test_signal(g.p + 5 * test_page, false), SIGSEGV);

	/* Others of this attachment go elsewhere. */
	other = rig_map(g.r, 0, FAKE_SIZE, 0);
	assert_int_equal(other[3 * test_page], 0x11);
	rig_end(&g);
	assert_int_equal(own[0], 0x77);
	munmap(own, test_page);
}

WEFT_TEST(with_privilege_system_calls_bring_pages_in)
{
	struct rig g = { 0 };

	rig_begin(&g, 0, 100, 20);
	if (rig_count(&g).is_user_only == 1) {
		rig_end(&g);
		print_message("this user may not serve faults of the kernel\n");
		skip();
	}
	assert_int_equal(test_system_calls(g.p, false), 0);
	assert_int_equal(g.memory[0], 0);
	rig_end(&g);
}
