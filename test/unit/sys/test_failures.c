/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where the kernel refuses half-way: the reason comes back, and no descriptor or name stays behind.
 */

#include "weft_fail.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_file.h"
#include "weft_lock.h"
#include "weft_socket.h"

WEFT_FAIL(int, fcntl64, (int fd, int what, long arg), (fd, what, arg), -1)
WEFT_FAIL(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
WEFT_FAIL(FILE *, fopen64, (const char *name, const char *mode), (name, mode), NULL)
WEFT_FAIL(int, open64, (const char *name, int flags, mode_t mode), (name, flags, mode), -1)
WEFT_FAIL(int, ftruncate64, (int fd, off_t len), (fd, len), -1)
WEFT_FAIL(int, socket, (int family, int type, int protocol), (family, type, protocol), -1)
WEFT_FAIL(int, setsockopt, (int fd, int level, int option, const void *at, socklen_t len),
	(fd, level, option, at, len), -1)
WEFT_FAIL(int, getsockopt, (int fd, int level, int option, void *at, socklen_t *len),
	(fd, level, option, at, len), -1)
WEFT_FAIL(int, listen, (int fd, int backlog), (fd, backlog), -1)
WEFT_FAIL(int, unlink, (const char *name), (name), -1)

static char folder[] = "/tmp/weft-sys-XXXXXX";
static char path[64];

/* How often whoever held the lock removes its file just before we have it. */
static unsigned int removals;
int __real_flock(int fd, int what);
int __wrap_flock(int fd, int what);

int
__wrap_flock(int fd, int what)
{
	if (weft_fail_now("flock"))
		return -1;
	if (removals > 0) {
		removals--;
		__real_unlink(path);
	}
	return __real_flock(fd, what);
}

static unsigned int
descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static bool
no_file(const char *name, int error, unsigned int nth)
{
	const unsigned int before = descriptors();
	bool failed;
	FILE *f;
	int e;

	weft_fail_set(name, error, nth);
	f = weft_file_stream(path);
	e = errno;
	failed = weft_fail_end();
	assert_int_equal(f == NULL, failed);
	if (failed)
		assert_int_equal(e, error);
	else
		fclose(f);
	assert_int_equal(descriptors(), before);
	return failed;
}

WEFT_TEST(an_output_file_is_opened_whole_or_not)
{
	weft_fail_each("open64", EACCES, no_file);
	weft_fail_each("fcntl64", EINVAL, no_file);
	weft_fail_each("fdopen", ENOMEM, no_file);
	assert_int_equal(unlink(path), 0);
}

static bool
no_lock(const char *name, int error, unsigned int nth)
{
	const unsigned int before = descriptors();
	pid_t holder = 1;
	bool failed;
	int fd;

	weft_fail_set(name, error, nth);
	fd = weft_lock_take(path, &holder);
	failed = weft_fail_end();
	assert_int_equal(fd < 0, failed);
	assert_int_equal(holder, 0);
	if (failed)
		assert_int_equal(fd, -error);
	else
		weft_lock_release(fd, path);
	assert_int_equal(descriptors(), before);
	return failed;
}

WEFT_TEST(a_lock_is_refused_with_the_reason)
{
	pid_t holder = 1;
	int fd;

	weft_fail_each("open64", EROFS, no_lock);
	weft_fail_each("flock", ENOLCK, no_lock);
	/* It holds without the number that is for people. */
	weft_fail_set("ftruncate64", EIO, 1);
	fd = weft_lock_take(path, &holder);
	assert_true(weft_fail_end());
	assert_true(fd >= 0);
	assert_int_equal(weft_lock_take(path, &holder), -EBUSY);
	assert_int_equal(holder, 0);
	weft_lock_release(fd, path);
}

/*
 * A file that its holder removed between our opening and locking it is no lock, nor is it waited
 * for.
 */
WEFT_TEST(a_lock_that_goes_while_it_is_taken_is_taken_anew)
{
	const unsigned int before = descriptors();
	pid_t holder;
	int fd;

	removals = 3;
	fd = weft_lock_take(path, &holder);
	assert_true(fd >= 0);
	assert_int_equal(removals, 0);
	assert_int_equal(access(path, F_OK), 0);
	weft_lock_release(fd, path);
	removals = 1000;
	assert_int_equal(weft_lock_take(path, &holder), -EAGAIN);
	assert_in_range(removals, 900, 999);
	removals = 0;
	assert_int_equal(descriptors(), before);
}

static bool
no_listener(const char *name, int error, unsigned int nth)
{
	const unsigned int before = descriptors();
	bool failed;
	int fd;

	weft_fail_set(name, error, nth);
	fd = weft_socket_listen(path);
	failed = weft_fail_end();
	if (!failed) {
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(unlink(path), 0);
	} else {
		assert_int_equal(fd, -error);
		assert_int_equal(access(path, F_OK), -1);
	}
	assert_int_equal(descriptors(), before);
	return failed;
}

WEFT_TEST(a_socket_listens_or_leaves_no_name)
{
	int dead;

	weft_fail_each("open64", EACCES, no_listener);
	weft_fail_each("flock", ENOLCK, no_listener);
	weft_fail_each("socket", EMFILE, no_listener);
	weft_fail_each("listen", EADDRINUSE, no_listener);
	/* Of a dead server, in a folder where nothing can be removed. */
	dead = weft_socket_listen(path);
	assert_true(dead >= 0);
	close(dead);
	weft_fail_set("unlink", EACCES, 1);
	assert_int_equal(weft_socket_listen(path), -EACCES);
	assert_true(weft_fail_end());
	assert_int_equal(unlink(path), 0);
}

static bool
no_answer(const char *name, int error, unsigned int nth)
{
	const unsigned int before = descriptors();
	bool failed;
	int rc;

	weft_fail_set(name, error, nth);
	rc = weft_socket_is_served(path);
	failed = weft_fail_end();
	assert_int_equal(rc, failed ? -error : 1);
	assert_int_equal(descriptors(), before);
	return failed;
}

static bool
not_reached(const char *name, int error, unsigned int nth)
{
	const unsigned int before = descriptors();
	int hidden = open(path, O_PATH | O_CLOEXEC), fd;
	bool failed;

	weft_fail_set(name, error, nth);
	fd = weft_socket_reach(hidden, 100);
	failed = weft_fail_end();
	assert_int_equal(fd < 0, failed);
	if (failed)
		assert_int_equal(fd, -error);
	else
		close(fd);
	close(hidden);
	assert_int_equal(descriptors(), before);
	return failed;
}

/* That nobody can be asked is not that nobody is there. */
WEFT_TEST(a_socket_that_cannot_be_asked_is_not_taken_for_dead)
{
	const unsigned int before = descriptors();
	int listener = weft_socket_listen(path);
	char name[32];

	assert_true(listener >= 0);
	weft_fail_each("socket", EMFILE, no_answer);
	weft_fail_each("setsockopt", ENOMEM, no_answer);
	weft_fail_each("socket", EMFILE, not_reached);
	weft_fail_each("setsockopt", ENOMEM, not_reached);
	weft_fail_set("unlink", EACCES, 1);
	assert_int_equal(weft_socket_hide(path), -EACCES);
	assert_true(weft_fail_end());
	assert_int_equal(access(path, F_OK), 0);
	/* Whoever called is named as well as can be. */
	weft_fail_set("getsockopt", ENOTCONN, 1);
	assert_int_equal(weft_socket_peer(listener, name, sizeof(name)), 0);
	assert_true(weft_fail_end());
	assert_string_equal(name, "?");
	weft_fail_set("fopen64", EMFILE, 1);
	assert_int_equal(weft_socket_peer(listener, name, sizeof(name)), getpid());
	assert_true(weft_fail_end());
	assert_string_equal(name, "?");
	close(listener);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(descriptors(), before);
}

/* A path without a folder is one in this folder. */
WEFT_TEST(a_socket_is_made_where_we_stand)
{
	char before[512];
	int fd;

	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	fd = weft_socket_listen("s");
	assert_true(fd >= 0);
	assert_int_equal(weft_socket_is_served(path), 1);
	close(fd);
	assert_int_equal(unlink("s"), 0);
	assert_int_equal(chdir(before), 0);
}

int
main(void)
{
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/s", folder);
	failed = weft_test_run();
	rmdir(folder);
	return failed;
}
