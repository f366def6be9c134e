/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Two memif ports of one process joined by a socket: jumbo frames both ways, rights, refusals. */

#include "eal_test.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define FLITS 35
#define FRAME_LEN (32 + 256 * FLITS)
#define FRAMES 500

static struct rte_mempool *pool;
static char folder[] = "/tmp/weft-memif-XXXXXX";
static char server_path[64], client_path[64];

static struct weft_port *
open_end(const char *name, const char *path, bool server)
{
	const struct weft_port_spec spec = {
		.name = name,
		.socket = path,
		.memif_server = server,
		.max_flits = FLITS,
		.pool = pool,
		.link_wait_ms = server ? 0 : 5000,
	};
	struct weft_port *port;
	char err[256] = "";

	if (weft_port_open(&spec, &port, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	return port;
}

static void
pass(struct weft_port *from, struct weft_port *to)
{
	uint32_t sent = 0, got = 0;
	unsigned int idle = 0;

	while (got < FRAMES) {
		struct rte_mbuf *mbufs[32];
		uint16_t n = 0, taken;

		for (; n < 32 && sent + n < FRAMES; n++)
			mbufs[n] = test_frame(pool, sent + n, FRAME_LEN);
		taken = weft_port_tx(from, mbufs, n);
		rte_pktmbuf_free_bulk(mbufs + taken, (unsigned int)(n - taken));
		sent += taken;
		n = test_receive(to, mbufs, 32, 20);
		/* The driver sends nothing on its first call after the link came up. */
		idle = n == 0 && taken == 0 ? idle + 1 : 0;
		if (idle == 100)
			fail_msg("%u of %u frames came, then nothing", got, sent);
		for (uint16_t i = 0; i < n; i++)
			test_frame_is(mbufs[i], got + i, FRAME_LEN);
		rte_pktmbuf_free_bulk(mbufs, n);
		got += n;
	}
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

static void
jumbo_frames_pass_both_ways(void **state)
{
	struct weft_port *server = open_end("m.server", server_path, true);
	/* The driver keys its sockets by name: another spelling lets one process hold both ends. */
	struct weft_port *client = open_end("m.client", client_path, false);

	(void)state;
	print_message("%s\n", weft_port_line(server));
	assert_non_null(strstr(weft_port_line(server), "memif on "));
	assert_non_null(strstr(weft_port_line(server), "(both ends on this host)"));
	assert_int_equal(mode_of(server_path), 0600);
	assert_int_equal(mode_of(folder) & 077, 0);
	for (int i = 0; i < 5000 && !weft_port_is_up(server); i++)
		usleep(1000);
	assert_true(weft_port_is_up(client));
	assert_true(weft_port_is_up(server));
	pass(client, server);
	pass(server, client);
	weft_port_close(client);
	weft_port_close(server);
	test_pool_is_whole(pool);
}

/*
 * What one end frees, the other's is freed for by EAL's interrupt thread when it hears of the
 * disconnection; both at once was a double free, which EAL reports as "Invalid memory".
 */
static void
both_ends_close_one_after_the_other(void **state)
{
	char *log = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&log, &len);

	(void)state;
	rte_openlog_stream(stream);
	for (int round = 0; round < 100; round++) {
		struct weft_port *server = open_end("m.server", server_path, true);
		struct weft_port *client = open_end("m.client", client_path, false);

		for (int i = 0; i < 5000 && !weft_port_is_up(server); i++)
			usleep(1000);
		assert_true(weft_port_is_up(server));
		weft_port_close(round & 1 ? server : client);
		weft_port_close(round & 1 ? client : server);
	}
	rte_openlog_stream(NULL);
	fclose(stream);
	if (strstr(log, "Invalid memory") != NULL)
		fail_msg("%s", log);
	free(log);
	test_pool_is_whole(pool);
}

static int
listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	memcpy(addr.sun_path, path, strlen(path));
	assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void
socket_of_a_dead_server_is_cleared_that_of_a_live_one_is_not(void **state)
{
	struct weft_port_spec spec = { .name = "m",
		.socket = server_path,
		.memif_server = true,
		.max_flits = FLITS,
		.pool = pool };
	struct weft_port *port;
	char err[256], want[256];
	int fd = listen_at(server_path);

	(void)state;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EADDRINUSE);
	snprintf(want, sizeof(want),
		"port m: socket %s is served by another process: stop it, or choose another path",
		server_path);
	assert_string_equal(err, want);
	close(fd);
	assert_int_equal(access(server_path, F_OK), 0);
	port = open_end("m", server_path, true);
	weft_port_close(port);
	assert_int_equal(access(server_path, F_OK), -1);
}

static void
bad_paths_are_refused(void **state)
{
	struct weft_port_spec spec = {
		.name = "m", .memif_server = true, .max_flits = FLITS, .pool = pool
	};
	struct weft_port *port;
	char err[256], path[128];

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	spec.socket = path;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EINVAL);
	spec.socket = "/tmp/a,zero-copy=yes";
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "must be shorter than 108 bytes and without , [ ]"));
	spec.socket = "/proc/none/such/s";
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "cannot make the folder"));
	/* A file that is no socket is not ours to remove. */
	fclose(fopen(server_path, "w"));
	spec.socket = server_path;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EEXIST);
	assert_int_equal(unlink(server_path), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumbo_frames_pass_both_ways),
		cmocka_unit_test(both_ends_close_one_after_the_other),
		cmocka_unit_test(socket_of_a_dead_server_is_cleared_that_of_a_live_one_is_not),
		cmocka_unit_test(bad_paths_are_refused),
	};
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(server_path, sizeof(server_path), "%s/s", folder);
	snprintf(client_path, sizeof(client_path), "%s/./s", folder);
	test_eal_start(NULL);
	pool = test_pool("memif", 4095, FLITS);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_mempool_free(pool);
	weft_eal_stop();
	unlink(server_path);
	rmdir(folder);
	return failed;
}
