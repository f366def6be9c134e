/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Starts that fail, each in a process of its own: one line that says why, nothing else written,
 * standard output and error where they were, and no folder left behind. What a start can do
 * without, it does.
 */

#include "eal_test.h"
#include "weft_fail.h"

#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "weft_socket.h"

WEFT_FAIL(void *, calloc, (size_t n, size_t len), (n, len), NULL)
WEFT_FAIL(void *, malloc, (size_t len), (len), NULL)
WEFT_FAIL(int, memfd_create, (const char *name, unsigned int flags), (name, flags), -1)
WEFT_FAIL(int, fcntl64, (int fd, int what, long arg), (fd, what, arg), -1)
WEFT_FAIL(int, dup2, (int from, int to), (from, to), -1)
WEFT_FAIL(int, open64, (const char *name, int flags, mode_t mode), (name, flags, mode), -1)
WEFT_FAIL(DIR *, opendir, (const char *name), (name), NULL)
WEFT_FAIL(int, sched_getaffinity, (pid_t pid, size_t len, cpu_set_t *set), (pid, len, set), -1)
WEFT_FAIL(int, rename, (const char *from, const char *to), (from, to), -1)
WEFT_FAIL(int, mincore, (void *at, size_t len, unsigned char *is_there), (at, len, is_there), -1)
WEFT_FAIL(void *, rte_zmalloc, (const char *type, size_t len, unsigned int align),
	(type, len, align), NULL)
WEFT_FAIL(int, rte_rcu_qsbr_init, (struct rte_rcu_qsbr * v, uint32_t n), (v, n), 1)
WEFT_FAIL(int, weft_socket_listen, (const char *path), (path), -weft_fail.error)
WEFT_FAIL(int, weft_socket_reach, (int hidden, unsigned int ms), (hidden, ms), -weft_fail.error)
WEFT_FAIL(int, rte_ctrl_thread_create,
	(pthread_t * thread, const char *name, const pthread_attr_t *attr, void *(*fn)(void *),
		void *arg),
	(thread, name, attr, fn, arg), -weft_fail.error)

/* Hardened builds call the second. */
int __real_vasprintf(char **s, const char *fmt, va_list ap);
int __wrap_vasprintf(char **s, const char *fmt, va_list ap);
int __wrap___vasprintf_chk(char **s, int flag, const char *fmt, va_list ap);

int
__wrap_vasprintf(char **s, const char *fmt, va_list ap)
{
	return weft_fail_now("vasprintf") ? -1 : __real_vasprintf(s, fmt, ap);
}

int
__wrap___vasprintf_chk(char **s, int flag, const char *fmt, va_list ap)
{
	(void)flag;
	return __wrap_vasprintf(s, fmt, ap);
}

#define EARLY_LEN 40000u

static uint8_t
early_byte(uint32_t i)
{
	return (uint8_t)(i ^ i >> 8 ^ 0x5a);
}

/* What EAL does when it starts, instead of starting. */
static uint8_t *early; /* memory of EAL from before we know of it */
static enum { EAL_STARTS, EAL_SAYS_NOTHING, EAL_SAYS_WHY, EAL_CRASHES } eal_does;
int __real_rte_eal_init(int argc, char **argv);
int __wrap_rte_eal_init(int argc, char **argv);

int
__wrap_rte_eal_init(int argc, char **argv)
{
	int rc;

	switch (eal_does) {
	case EAL_STARTS:
		rc = __real_rte_eal_init(argc, argv);
		early = rc < 0 ? NULL : rte_malloc(NULL, EARLY_LEN, 0);
		for (uint32_t i = 0; early != NULL && i < EARLY_LEN; i++)
			early[i] = early_byte(i);
		return rc;
	case EAL_SAYS_NOTHING: rte_errno = 0; return -1;
	case EAL_SAYS_WHY:
		printf("a hundred lines of help\n");
		fprintf(stderr, "weft-test: it is too cold\nEAL: FATAL: and it fails\n");
		rte_errno = ENODEV;
		return -1;
	case EAL_CRASHES: fprintf(stderr, "EAL: its last words\n"); abort();
	}
	return -1;
}

static char folder[] = "/tmp/weft-start-XXXXXX";

enum start_pages { NOT_PLAIN, PLAIN_FILE, PLAIN_PRIVATE, PLAIN_LARGE };

/* How a start ended. */
struct start {
	int rc;
	bool hit; /* what was to fail did */
	bool same_output; /* standard output and error are what they were */
	char err[512];
	bool died;
	char said[512]; /* on its terminal */
	bool has_early; /* what was in memory before is there */
	enum start_pages pages; /* of EAL's memory */
	char drivers[512]; /* of pools and ports, that are loaded: "mempool_ring net_memif" */
	char eal[64]; /* its library, as dlopen() knows it */
	bool is_hidden;
	bool has_null; /* that driver, which no port of ours is made of, is among them */
};

static struct weft_eal_cfg cfg;

static bool
early_is_there(void)
{
	for (uint32_t i = 0; i < EARLY_LEN; i++)
		if (early[i] != early_byte(i))
			return false;
	return true;
}

/* Of the mapping that @p is in; what DPDK calls hugepages is not plain. */
static enum start_pages
pages_at(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	uintptr_t from = 0, to = 0;
	enum start_pages pages = PLAIN_PRIVATE;
	char line[512];

	if (f == NULL || strstr(weft_eal_memory_line(), "ordinary pages") == NULL)
		pages = NOT_PLAIN;
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to);
		if ((uintptr_t)p < from || (uintptr_t)p >= to || pages == NOT_PLAIN)
			continue;
		if (strstr(line, "memfd:nohuge") != NULL)
			pages = PLAIN_FILE;
		/* "hg": may be large. */
		if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") != NULL)
			pages = PLAIN_LARGE;
	}
	if (f != NULL)
		fclose(f);
	return pages;
}

static int
note_driver(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char *const kinds[] = { "librte_mempool_", "librte_net_" };
	const char *file = strrchr(info->dlpi_name, '/');
	struct start *s = arg;
	const size_t used = strlen(s->drivers);

	(void)size;
	for (size_t i = 0; file != NULL && i < WEFT_ARRAY_SIZE(kinds); i++)
		if (strncmp(file + 1, kinds[i], strlen(kinds[i])) == 0)
			snprintf(s->drivers + used, sizeof(s->drivers) - used, "%s%.*s",
				used != 0 ? " " : "", (int)strcspn(file + 8, "."), file + 8);
	if (file != NULL && strncmp(file, "/librte_eal.so", 14) == 0)
		snprintf(s->eal, sizeof(s->eal), "%s", file + 1);
	s->has_null |= file != NULL && strncmp(file, "/librte_net_null.", 17) == 0;
	return 0;
}

/* In a process of its own. */
static void
start_there(const char *name, int error, unsigned int nth, int output, int answer)
{
	struct start s = { .rc = 0 };
	struct stat want, out, err;

	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	weft_fail_set(name, error, nth);
	s.rc = weft_eal_start(&cfg, s.err, sizeof(s.err));
	s.hit = weft_fail_end();
	/* Memory goes with a start that fails. */
	s.has_early = s.rc == 0 && early != NULL && early_is_there();
	s.pages = s.has_early ? pages_at(early) : NOT_PLAIN;
	dl_iterate_phdr(note_driver, &s);
	s.is_hidden = s.eal[0] == '\0' || dlopen(s.eal, RTLD_LAZY | RTLD_NOLOAD) == NULL;
	s.same_output = fstat(output, &want) == 0 && fstat(STDOUT_FILENO, &out) == 0 &&
	                fstat(STDERR_FILENO, &err) == 0 && out.st_ino == want.st_ino &&
	                err.st_ino == want.st_ino;
	if (write(answer, &s, sizeof(s)) != sizeof(s))
		abort();
	weft_eal_stop();
	exit(0);
}

static void
start(const char *name, int error, unsigned int nth, struct start *s)
{
	int output = memfd_create("output", 0), answer[2], status;
	pid_t pid;
	ssize_t n;

	memset(s, 0, sizeof(*s));
	assert_true(output >= 0);
	assert_int_equal(pipe(answer), 0);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		start_there(name, error, nth, output, answer[1]);
	close(answer[1]);
	n = read(answer[0], s, sizeof(*s));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	s->died = n != sizeof(*s) || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	n = pread(output, s->said, sizeof(s->said) - 1, 0);
	s->said[n > 0 ? n : 0] = '\0';
	close(answer[0]);
	close(output);
}

/* Folders of processes, of which each had one. */
static unsigned int
folders(void)
{
	char name[64];
	unsigned int n = 0;
	const struct dirent *e;
	DIR *dir;

	snprintf(name, sizeof(name), "%s/dpdk", folder);
	dir = opendir(name);
	while (dir != NULL && (e = readdir(dir)) != NULL)
		n += e->d_name[0] != '.';
	if (dir != NULL)
		closedir(dir);
	return n;
}

static void
ends_in_order(const struct start *s, const char *what, unsigned int nth)
{
	if (s->is_hidden)
		fail_msg("%s, call %u: EAL's library is still hidden", what, nth);
	if (s->died || !s->same_output || s->said[0] != '\0' || folders() != 0)
		fail_msg("%s, call %u: %d \"%s\", said \"%s\", %u folders left", what, nth, s->rc,
			s->err, s->said, folders());
	if ((s->rc == 0) != (s->err[0] == '\0') || strchr(s->err, '\n') != NULL || s->rc > 0)
		fail_msg("%s, call %u: %d \"%s\"", what, nth, s->rc, s->err);
}

/* It cannot do without. */
static bool
no_start(const char *name, int error, unsigned int nth)
{
	struct start s;

	start(name, error, nth, &s);
	ends_in_order(&s, name, nth);
	assert_int_equal(s.rc != 0, s.hit);
	return s.hit;
}

/* It can. */
static bool
a_start_all_the_same(const char *name, int error, unsigned int nth)
{
	struct start s;

	start(name, error, nth, &s);
	ends_in_order(&s, name, nth);
	assert_int_equal(s.rc, 0);
	assert_true(s.has_early);
	return s.hit;
}

WEFT_TEST(what_a_start_needs_is_named)
{
	static const char *const calls[] = { "calloc", "malloc", "vasprintf", "rte_zmalloc",
		"rte_rcu_qsbr_init" };
	struct start s;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(calls); i++)
		weft_fail_each(calls[i], ENOMEM, no_start);
	/* As on a machine with more CPUs than fit. */
	start("sched_getaffinity", EINVAL, 1, &s);
	ends_in_order(&s, "sched_getaffinity", 1);
	assert_int_equal(s.rc, -EINVAL);
	assert_string_equal(
		s.err, "DPDK did not start: its arguments cannot be made: Invalid argument");
}

/*
 * Quiet, a telemetry that no silent visitor blocks, folders of dead processes: all that is comfort.
 */
WEFT_TEST(what_a_start_wants_it_can_do_without)
{
	static const char *const calls[] = { "memfd_create", "fcntl64", "open64", "opendir",
		"rename", "mincore", "weft_socket_listen", "weft_socket_reach",
		"rte_ctrl_thread_create" };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(calls); i++)
		weft_fail_each(calls[i], EMFILE, a_start_all_the_same);
	/* To keep output away; bringing it back is another matter. */
	assert_true(a_start_all_the_same("dup2", EBUSY, 1));
	assert_true(a_start_all_the_same("dup2", EBUSY, 2));
}

/* Large pages may stand under ordinary ones, where no device lends them to others. */
WEFT_TEST(ordinary_pages_may_be_large)
{
	struct start s;

	start(NULL, 0, 0, &s);
	ends_in_order(&s, "a start", 0);
	assert_true(s.has_early);
	if (s.pages == NOT_PLAIN)
		skip();
	/* A kernel without large pages refuses the wish alone. */
	if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0)
		assert_int_equal(s.pages, PLAIN_LARGE);
	else
		assert_int_equal(s.pages, PLAIN_PRIVATE);
	start("mincore", ENOMEM, 1, &s);
	assert_int_equal(s.pages, PLAIN_FILE);
	cfg.lends_memory = true;
	start(NULL, 0, 0, &s);
	cfg.lends_memory = false;
	ends_in_order(&s, "a start that lends memory", 0);
	assert_true(s.has_early);
	assert_int_equal(s.pages, PLAIN_FILE);
}

/* All of DPDK's 128 take as long as the rest of a start. */
WEFT_TEST(drivers_are_loaded_that_ports_need)
{
	char *argv[] = { TEST_ARG("--log-level=error") };
	struct start s;

	start(NULL, 0, 0, &s);
	ends_in_order(&s, "a start", 0);
	assert_string_equal(s.drivers, "mempool_ring net_memif net_af_packet net_af_xdp");
	cfg.any_driver = true;
	start(NULL, 0, 0, &s);
	cfg.any_driver = false;
	ends_in_order(&s, "a start with any driver", 0);
	assert_true(s.has_null);
	cfg.user_argv = argv;
	cfg.user_argc = 1;
	start(NULL, 0, 0, &s);
	cfg.user_argc = 0;
	ends_in_order(&s, "a start with arguments", 0);
	assert_true(s.has_null);
}

WEFT_TEST(a_run_folder_too_long_for_sockets_is_named)
{
	char deep[128], want[192];
	struct start s;

	snprintf(deep, sizeof(deep), "%s/%080d", folder, 0);
	assert_int_equal(mkdir(deep, 0700), 0);
	setenv("RUNTIME_DIRECTORY", deep, 1);
	start(NULL, 0, 0, &s);
	setenv("RUNTIME_DIRECTORY", folder, 1);
	ends_in_order(&s, "a long folder", 0);
	assert_true(s.rc != 0);
	snprintf(want, sizeof(want), "(run folder %s/dpdk/weft-test-", deep);
	assert_non_null(strstr(s.err, want));
	assert_non_null(strstr(s.err, ": set RUNTIME_DIRECTORY to a shorter one)"));
}

WEFT_TEST(words_that_eal_passes_over_end_a_start)
{
	char *words[] = { TEST_ARG("foo"), TEST_ARG("-n"), TEST_ARG("4"), TEST_ARG("--"),
		TEST_ARG("bar") };
	struct start s;

	cfg.user_argv = words;
	for (cfg.user_argc = 5; cfg.user_argc >= 3; cfg.user_argc--) {
		start(NULL, 0, 0, &s);
		ends_in_order(&s, "a start with words", 0);
		assert_int_equal(s.rc, -EINVAL);
		assert_string_equal(
			s.err, "EAL arguments: expected options and their values, got \"foo\"");
	}
	cfg.user_argv = words + 1;
	cfg.user_argc = 4;
	start(NULL, 0, 0, &s);
	ends_in_order(&s, "a start with words behind --", 0);
	assert_non_null(strstr(s.err, "got \"bar\""));
	cfg.user_argc = 3;
	start(NULL, 0, 0, &s);
	ends_in_order(&s, "a start with options alone", 0);
	assert_int_equal(s.rc, 0);
	cfg.user_argc = 0;
	cfg.user_argv = NULL;
}

WEFT_TEST(ordinary_pages_leave_no_folder_whoever_chose_them)
{
	char *plain[] = { TEST_ARG("--no-huge"), TEST_ARG("-m256") };
	struct start s;

	cfg.user_argc = 2;
	cfg.user_argv = plain;
	start(NULL, 0, 0, &s);
	cfg.user_argc = 0;
	cfg.user_argv = NULL;
	ends_in_order(&s, "a start with --no-huge", 0);
	assert_int_equal(s.rc, 0);
}

WEFT_TEST(what_eal_says_comes_through)
{
	struct start s;

	eal_does = EAL_SAYS_WHY;
	start(NULL, 0, 0, &s);
	ends_in_order(&s, "an EAL that says why", 0);
	assert_int_equal(s.rc, -ENODEV);
	assert_string_equal(s.err, "DPDK did not start: it is too cold");
	eal_does = EAL_SAYS_NOTHING;
	start(NULL, 0, 0, &s);
	ends_in_order(&s, "an EAL that does not", 0);
	assert_string_equal(s.err, "DPDK did not start: Invalid argument (lcores chosen "
				   "automatically; its own message is above)");
	cfg.lcores = "0";
	start(NULL, 0, 0, &s);
	assert_non_null(strstr(s.err, "(lcores 0; its own"));
	cfg.lcores = NULL;
	/* Its last words are not lost with it. */
	eal_does = EAL_CRASHES;
	start(NULL, 0, 0, &s);
	assert_true(s.died);
	assert_string_equal(s.said, "EAL: its last words\n");
	eal_does = EAL_STARTS;
}

WEFT_TEST(wrong_lcores_are_told_before_eal_is_asked)
{
	struct start s;

	cfg.lcores = "1;2";
	start(NULL, 0, 0, &s);
	ends_in_order(&s, cfg.lcores, 0);
	assert_int_equal(s.rc, -EINVAL);
	cfg.lcores = "1000";
	start(NULL, 0, 0, &s);
	ends_in_order(&s, cfg.lcores, 0);
	assert_non_null(strstr(s.err, "there is no CPU 1000 here, only 0"));
	cfg.lcores = NULL;
}

int
main(void)
{
	char command[64];
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	setenv("RUNTIME_DIRECTORY", folder, 1);
	cfg = (struct weft_eal_cfg){ .program = "weft-test", .memory_mb = 16 };
	failed = weft_test_run();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) == 0 ? failed : 1;
}
