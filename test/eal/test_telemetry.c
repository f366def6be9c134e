/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The telemetry socket with visitors that say nothing, ask and go, or stay: whoever asks is
 * answered; and what processes that were killed left beside it.
 */

#include "eal_test.h"

#include <rte_log.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "eal_priv.h"
#include "weft_socket.h"

static void
path_of_socket(struct sockaddr_un *addr)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
}

static int
visit(void)
{
	struct sockaddr_un addr;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	path_of_socket(&addr);
	assert_int_equal(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

WEFT_TEST(silent_visitors_keep_nobody_out)
{
	static int silent[500];
	char reply[16384];

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < WEFT_ARRAY_SIZE(silent); i++)
			silent[i] = visit();
		test_ask("/info", reply, sizeof(reply));
		assert_non_null(strstr(reply, "\"pid\""));
		for (size_t i = 0; i < WEFT_ARRAY_SIZE(silent); i++)
			close(silent[i]);
	}
	test_ask("/", reply, sizeof(reply));
	assert_non_null(strstr(reply, "/info"));
	test_ask("/nonesuch", reply, sizeof(reply));
	assert_non_null(strstr(reply, "null"));
}

/* It hears the greeting, its answers, and then the end. */
WEFT_TEST(a_visitor_is_served_until_it_falls_silent)
{
	char reply[16384];
	int asks = visit(), silent = visit();

	eal_telemetry_set_patience(200, 700);
	close(visit()); /* who comes is when the desk looks up */
	assert_true(read(asks, reply, sizeof(reply)) > 0);
	assert_true(read(silent, reply, sizeof(reply)) > 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(write(asks, "/info", 5), 5);
		assert_true(read(asks, reply, sizeof(reply)) > 0);
	}
	assert_int_equal(read(silent, reply, sizeof(reply)), 0);
	assert_int_equal(write(asks, "/info", 5), 5);
	assert_true(read(asks, reply, sizeof(reply)) > 0);
	assert_int_equal(read(asks, reply, sizeof(reply)), 0);
	close(asks);
	close(silent);
	eal_telemetry_set_patience(10000, 600000);
}

static pid_t
a_dead_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void
make_rundir(char *path, const char *name, pid_t pid)
{
	snprintf(path, PATH_MAX, "%s/../%s-%d", rte_eal_get_runtime_dir(), name, (int)pid);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* The socket of a run-time folder, listening. */
static int
serve_rundir(const char *folder)
{
	char path[PATH_MAX + 32];
	int at = open(folder, O_PATH | O_DIRECTORY), fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/dpdk_telemetry.v2", at);
	fd = weft_socket_listen(path);
	assert_true(fd >= 0);
	close(at);
	return fd;
}

WEFT_TEST(folders_of_killed_processes_go)
{
	char dead[PATH_MAX], served[PATH_MAX], live[PATH_MAX], young[PATH_MAX], other[PATH_MAX];
	char own[PATH_MAX];
	const struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	int fd;

	make_rundir(dead, "weft-gen", a_dead_process());
	close(serve_rundir(dead));
	make_rundir(served, "weft-x", a_dead_process());
	fd = serve_rundir(served);
	make_rundir(live, "weftd", getpid());
	make_rundir(young, "weftd", a_dead_process());
	make_rundir(other, "testpmd", a_dead_process());
	snprintf(own, sizeof(own), "%s", rte_eal_get_runtime_dir());
	assert_int_equal(eal_remove_dead_rundirs(own), 1);
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(served, F_OK), 0);
	assert_int_equal(access(live, F_OK), 0);
	assert_int_equal(access(young, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(own, F_OK), 0);
	/* No longer young, no longer served. */
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, young, old, 0), 0);
	assert_int_equal(eal_remove_dead_rundirs(own), 2);
	assert_int_equal(rmdir(live), 0);
	assert_int_equal(rmdir(other), 0);
	assert_int_equal(eal_remove_dead_rundirs("nowhere"), 0);
	assert_int_equal(eal_remove_dead_rundirs("/nonesuch/here/x"), 0);
}

/* Through syslog an exit could wait for ever for a thread that logs. */
WEFT_TEST(what_dpdk_says_goes_to_standard_error_alone)
{
	assert_ptr_equal(rte_log_get_stream(), stderr);
}

static char folder[] = "/tmp/weft-telemetry-XXXXXX";

/* Behind EAL's own end: what it made in there is gone by then. */
static void
remove_folder(void)
{
	char dpdk[sizeof(folder) + 8];

	snprintf(dpdk, sizeof(dpdk), "%s/dpdk", folder);
	rmdir(dpdk);
	if (rmdir(folder) != 0)
		fprintf(stderr, "%s: left behind\n", folder);
}

int
main(void)
{
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	atexit(remove_folder);
	setenv("RUNTIME_DIRECTORY", folder, 1);
	test_eal_start(NULL);
	failed = weft_test_run();
	weft_eal_stop();
	return failed;
}
