/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Sockets in the file system: asked after without being disturbed, replaced when dead, hidden. */

#include "weft_test.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_socket.h"

static char folder[] = "/tmp/weft-socket-XXXXXX";
static char path[64];

WEFT_TEST(a_server_does_not_notice_that_it_was_asked)
{
	struct pollfd p = { .events = POLLIN };
	struct stat st;
	int other;

	assert_int_equal(weft_socket_is_served(path), 0);
	p.fd = weft_socket_listen(path);
	assert_true(p.fd >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (int i = 0; i < 100; i++)
		assert_int_equal(weft_socket_is_served(path), 1);
	assert_int_equal(poll(&p, 1, 20), 0);
	assert_int_equal(weft_socket_listen(path), -EADDRINUSE);
	other = weft_socket_connect(path, 100);
	assert_true(other >= 0);
	close(other);
	close(p.fd);
	/* Dead: its name is still there, and is taken. */
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(weft_socket_is_served(path), 0);
	assert_int_equal(weft_socket_connect(path, 100), -ECONNREFUSED);
	other = weft_socket_listen(path);
	assert_true(other >= 0);
	close(other);
	assert_int_equal(unlink(path), 0);
}

WEFT_TEST(a_stream_has_no_ends_of_messages)
{
	int listener = weft_socket_listen_stream(path), us, them;
	char text[8] = "";

	assert_true(listener >= 0);
	assert_int_equal(weft_socket_is_served(path), 1);
	assert_int_equal(weft_socket_listen(path), -EADDRINUSE);
	us = weft_socket_connect_stream(path, 100);
	assert_true(us >= 0);
	/* Neither kind takes the other for its own. */
	assert_int_equal(weft_socket_connect(path, 100), -EPROTOTYPE);
	them = accept(listener, NULL, NULL);
	assert_true(them >= 0);
	assert_int_equal(write(us, "ab", 2), 2);
	assert_int_equal(write(us, "cd", 2), 2);
	assert_int_equal(read(them, text, sizeof(text)), 4);
	assert_string_equal(text, "abcd");
	close(us);
	close(them);
	close(listener);
	assert_int_equal(unlink(path), 0);
}

WEFT_TEST(a_socket_that_is_served_is_replaced)
{
	int old = weft_socket_listen_stream(path), us = weft_socket_connect_stream(path, 100);
	int new = weft_socket_replace_stream(path), next, them;
	char own[120];
	struct stat st;

	assert_true(old >= 0 && us >= 0 && new >= 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	snprintf(own, sizeof(own), "%s.%d", path, (int)getpid());
	assert_int_equal(access(own, F_OK), -1);
	next = weft_socket_connect_stream(path, 100);
	assert_true(next >= 0);
	/* Who had connected stays with the old one, who comes now has the new one. */
	them = accept4(old, NULL, NULL, SOCK_NONBLOCK);
	assert_true(them >= 0);
	close(them);
	assert_int_equal(accept4(old, NULL, NULL, SOCK_NONBLOCK), -1);
	them = accept4(new, NULL, NULL, SOCK_NONBLOCK);
	assert_true(them >= 0);
	close(them);
	close(us);
	close(next);
	close(old);
	close(new);
	assert_int_equal(unlink(path), 0);
}

WEFT_TEST(what_is_no_socket_stays)
{
	char too_long[200];

	fclose(fopen(path, "w"));
	assert_int_equal(weft_socket_is_served(path), -EEXIST);
	assert_int_equal(weft_socket_listen(path), -EEXIST);
	assert_int_equal(weft_socket_replace_stream(path), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(weft_socket_listen("/nonesuch/s"), -ENOENT);
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	assert_int_equal(weft_socket_listen(too_long), -ENAMETOOLONG);
	assert_int_equal(weft_socket_is_served("/dev/null/s"), -ENOTDIR);
}

WEFT_TEST(a_hidden_socket_is_reached_by_its_descriptor_only)
{
	int listener = weft_socket_listen(path), hidden, us, them;
	char name[32] = "", byte;

	assert_int_equal(weft_socket_hide("/nonesuch/s"), -ENOENT);
	hidden = weft_socket_hide(path);
	assert_true(hidden >= 0);
	assert_int_equal(access(path, F_OK), -1);
	us = weft_socket_reach(hidden, 100);
	assert_true(us >= 0);
	them = accept(listener, NULL, NULL);
	assert_true(them >= 0);
	assert_int_equal(weft_socket_peer(them, name, sizeof(name)), getpid());
	assert_string_equal(name, "test_sys_socket");
	/* Whoever waits for an answer does so for a while. */
	assert_int_equal(read(us, &byte, 1), -1);
	assert_int_equal(errno, EAGAIN);
	close(us);
	close(them);
	close(listener);
	assert_int_equal(weft_socket_reach(hidden, 100), -ECONNREFUSED);
	close(hidden);
	assert_int_equal(weft_socket_peer(-1, name, sizeof(name)), 0);
}

WEFT_TEST(who_is_of_another_user_is_not_trusted)
{
	int end[2];

	assert_false(weft_socket_is_trusted(-1));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, end), 0);
	assert_true(weft_socket_is_trusted(end[0]));
	close(end[0]);
	close(end[1]);
	if (geteuid() != 0)
		return; /* it takes root to be somebody else for a while */
	assert_int_equal(seteuid(1), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, end), 0);
	assert_true(weft_socket_is_trusted(end[0]));
	assert_int_equal(seteuid(0), 0);
	assert_false(weft_socket_is_trusted(end[0]));
	close(end[0]);
	close(end[1]);
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
