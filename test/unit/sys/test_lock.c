/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A lock: one holder, whose number the others learn; it ends with its process. */

#include "weft_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weft_lock.h"

static char folder[] = "/tmp/weft-lock-XXXXXX";
static char path[64];

WEFT_TEST(one_holds_it_and_the_other_learns_who)
{
	pid_t holder = 1;
	int fd = weft_lock_take(path, &holder), again;

	assert_true(fd >= 0);
	assert_int_equal(holder, 0);
	assert_int_equal(weft_lock_take(path, &holder), -EBUSY);
	assert_int_equal(holder, getpid());
	weft_lock_release(fd, path);
	assert_int_equal(access(path, F_OK), -1);
	again = weft_lock_take(path, &holder);
	assert_true(again >= 0);
	weft_lock_release(again, path);
	assert_int_equal(weft_lock_take("/nonesuch/lock", &holder), -ENOENT);
}

WEFT_TEST(it_ends_with_its_process)
{
	int ready[2], status, fd;
	pid_t child, holder;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (weft_lock_take(path, &holder) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(weft_lock_take(path, &holder), -EBUSY);
	assert_int_equal(holder, child);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	/* The file it left is no lock. */
	assert_int_equal(access(path, F_OK), 0);
	fd = weft_lock_take(path, &holder);
	assert_true(fd >= 0);
	weft_lock_release(fd, path);
	close(ready[0]);
	close(ready[1]);
}

WEFT_TEST(a_removed_file_is_not_given_back_again)
{
	pid_t holder;
	int old = weft_lock_take(path, &holder), fresh;

	assert_int_equal(unlink(path), 0);
	fresh = weft_lock_take(path, &holder);
	assert_true(fresh >= 0);
	weft_lock_release(old, path);
	assert_int_equal(access(path, F_OK), 0);
	weft_lock_release(fresh, path);
}

/* Whoever holds it is told who tried. */
WEFT_TEST(a_lock_of_the_network_needs_no_file)
{
	char name[64];
	pid_t holder = 1, child, caller;
	int fd, status;

	snprintf(name, sizeof(name), "weft-test-%d", (int)getpid());
	fd = weft_lock_take_net(name, &holder);
	assert_true(fd >= 0);
	assert_int_equal(holder, 0);
	assert_false(weft_lock_next_caller(fd, &caller));
	for (unsigned int i = 0; i < 200; i++) {
		child = fork();
		if (child == 0)
			_exit(weft_lock_take_net(name, &holder) == -EBUSY && holder == getppid()
					? 0
					: 1);
		waitpid(child, &status, 0);
		assert_int_equal(status, 0);
		assert_true(weft_lock_next_caller(fd, &caller));
		assert_int_equal(caller, child);
	}
	assert_false(weft_lock_next_caller(fd, &caller));
	close(fd);
	fd = weft_lock_take_net(name, &holder);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(weft_lock_take_net("", &holder), -ENAMETOOLONG);
}

/* Who may not use the node at all does not keep it from running. */
WEFT_TEST(another_users_name_is_no_lock)
{
	int ready[2], status;
	char name[64], byte;
	pid_t child, holder;

	if (geteuid() != 0)
		skip();
	snprintf(name, sizeof(name), "weft-test-%d", (int)getpid());
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (setuid(65534) != 0 || weft_lock_take_net(name, &holder) < 0 ||
			write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(weft_lock_take_net(name, &holder), -EPERM);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	close(ready[0]);
	close(ready[1]);
}

int
main(void)
{
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/lock", folder);
	failed = weft_test_run();
	rmdir(folder);
	return failed;
}
