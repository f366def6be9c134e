/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Whatever fails while a port or a capture is opened, DPDK, the kernel or memory: one line, and
 * nothing stays behind: no device, descriptor, socket or name, so that the next try is as good as
 * the first. Each call fails in its turn.
 */

#include "eal_test.h"
#include "weft_fail.h"

#include <dirent.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_ring.h>
#include <sys/stat.h>

#include "memif_door_priv.h"
#include "weft_capture.h"
#include "weft_socket.h"

#define FLITS 15

/* DPDK's calls return what failed, those of the kernel leave it in errno. */
#define RC (-weft_fail.error)

WEFT_FAIL(void *, rte_zmalloc, (const char *type, size_t len, unsigned int align),
	(type, len, align), NULL)
WEFT_FAIL(void *, calloc, (size_t n, size_t len), (n, len), NULL)
WEFT_FAIL(void *, aligned_alloc, (size_t align, size_t len), (align, len), NULL)
WEFT_FAIL(int, rte_dev_probe, (const char *devargs), (devargs), RC)
WEFT_FAIL(int, rte_eth_dev_info_get, (uint16_t id, struct rte_eth_dev_info *info), (id, info), RC)
WEFT_FAIL(int, rte_eth_dev_configure,
	(uint16_t id, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf),
	(id, rx, tx, conf), RC)
WEFT_FAIL(int, rte_eth_dev_adjust_nb_rx_tx_desc, (uint16_t id, uint16_t *rx, uint16_t *tx),
	(id, rx, tx), RC)
WEFT_FAIL(int, rte_eth_rx_queue_setup,
	(uint16_t id, uint16_t queue, uint16_t n, unsigned int node,
		const struct rte_eth_rxconf *conf, struct rte_mempool *pool),
	(id, queue, n, node, conf, pool), RC)
WEFT_FAIL(int, rte_eth_tx_queue_setup,
	(uint16_t id, uint16_t queue, uint16_t n, unsigned int node,
		const struct rte_eth_txconf *conf),
	(id, queue, n, node, conf), RC)
WEFT_FAIL(int, rte_eth_dev_start, (uint16_t id), (id), RC)
WEFT_FAIL(int, rte_eth_promiscuous_enable, (uint16_t id), (id), RC)
WEFT_FAIL(ssize_t, rte_ring_get_memsize, (unsigned int n), (n), RC)
WEFT_FAIL(int, rte_ring_init,
	(struct rte_ring * r, const char *name, unsigned int n, unsigned int flags),
	(r, name, n, flags), RC)
WEFT_FAIL(int, rte_ctrl_thread_create,
	(pthread_t * thread, const char *name, const pthread_attr_t *attr, void *(*fn)(void *),
		void *arg),
	(thread, name, attr, fn, arg), RC)
WEFT_FAIL(ssize_t, getrandom, (void *out, size_t len, unsigned int flags), (out, len, flags), -1)
WEFT_FAIL(int, eventfd, (unsigned int n, int flags), (n, flags), -1)
WEFT_FAIL(FILE *, fopencookie, (void *arg, const char *mode, cookie_io_functions_t io),
	(arg, mode, io), NULL)
WEFT_FAIL(int, fcntl64, (int fd, int what, long arg), (fd, what, arg), -1)
WEFT_FAIL(int, open64, (const char *name, int flags, mode_t mode), (name, flags, mode), -1)
WEFT_FAIL(int, weft_socket_hide, (const char *name), (name), RC)
WEFT_FAIL(int, weft_socket_reach, (int hidden, unsigned int ms), (hidden, ms), RC)
WEFT_FAIL(int, weft_socket_listen, (const char *name), (name), RC)

/*
 * The driver has greeted, but not so that it is understood. Earlier it must not be left alone: DPDK
 * 22.11 goes on listening for a server that is closed, in memory that it gave back.
 */
enum memif_received __real_memif_receive(int fd, struct memif_msg *msg, int *carried);
enum memif_received __wrap_memif_receive(int fd, struct memif_msg *msg, int *carried);

enum memif_received
__wrap_memif_receive(int fd, struct memif_msg *msg, int *carried)
{
	const enum memif_received got = __real_memif_receive(fd, msg, carried);

	return weft_fail_now("memif_receive") ? MEMIF_ENDED : got;
}

/* What the driver says of a queue: frames in several buffers, where a test wants that. */
static bool is_scattered;
int __real_rte_eth_rx_queue_info_get(uint16_t id, uint16_t queue, struct rte_eth_rxq_info *info);
int __wrap_rte_eth_rx_queue_info_get(uint16_t id, uint16_t queue, struct rte_eth_rxq_info *info);

int
__wrap_rte_eth_rx_queue_info_get(uint16_t id, uint16_t queue, struct rte_eth_rxq_info *info)
{
	if (!is_scattered)
		return __real_rte_eth_rx_queue_info_get(id, queue, info);
	memset(info, 0, sizeof(*info));
	info->scattered_rx = 1;
	return 0;
}

static struct rte_mempool *pool;
static char folder[] = "/tmp/weft-failures-XXXXXX";
static char path[64];

static unsigned int
entries(const char *name)
{
	DIR *dir = opendir(name);
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

/* What a try is to leave as it was. */
struct left {
	unsigned int devices, descriptors, names;
};

/* The memif driver never closes the socket that it listened at. */
static unsigned int
drivers_sockets(void)
{
	struct sockaddr_un addr;
	unsigned int n = 0;

	for (int fd = 0; fd < 256; fd++) {
		socklen_t len = sizeof(addr);

		memset(&addr, 0, sizeof(addr));
		if (getsockname(fd, (struct sockaddr *)&addr, &len) == 0 &&
			strncmp(addr.sun_path, "/proc/self/fd/", 14) == 0)
			n++;
	}
	return n;
}

static struct left
look(void)
{
	return (struct left){ rte_eth_dev_count_avail(),
		entries("/proc/self/fd") - drivers_sockets(), entries(folder) };
}

static void
is_as_before(const struct left *before, const char *name, unsigned int nth)
{
	const struct left now = look();

	if (memcmp(&now, before, sizeof(now)) != 0)
		fail_msg("%s, call %u: %u devices, %u descriptors, %u names, before: %u, %u, %u",
			name, nth, now.devices, now.descriptors, now.names, before->devices,
			before->descriptors, before->names);
	test_pool_is_whole(pool);
}

static struct weft_port_spec spec;

static bool
no_port(const char *name, int error, unsigned int nth)
{
	const struct left before = look();
	struct weft_port *port = NULL;
	char err[256] = "";
	bool failed;
	int rc;

	weft_fail_set(name, error, nth);
	rc = weft_port_open(&spec, &port, err, sizeof(err));
	failed = weft_fail_end();
	if (failed != (rc != 0))
		fail_msg("%s, call %u: %d, \"%s\"", name, nth, rc, err);
	if (failed && (strncmp(err, "port n: ", 8) != 0 || strchr(err, '\n') != NULL || rc > 0))
		fail_msg("%s, call %u: said \"%s\"", name, nth, err);
	weft_port_close(port);
	is_as_before(&before, name, nth);
	return failed;
}

/* The first use of a driver opens what it keeps. */
static void
warm_up(void)
{
	struct weft_port *port;
	char err[256];

	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), 0);
	weft_port_close(port);
}

WEFT_TEST(a_device_that_fails_is_given_back)
{
	static const char *const calls[] = { "rte_zmalloc", "rte_dev_probe", "rte_eth_dev_info_get",
		"rte_eth_dev_configure", "rte_eth_dev_adjust_nb_rx_tx_desc",
		"rte_eth_rx_queue_setup", "rte_eth_tx_queue_setup", "rte_eth_dev_start",
		"rte_eth_promiscuous_enable" };
	struct weft_port *port;
	char err[256];

	spec = (struct weft_port_spec){
		.name = "n", .vdev = "net_null0,size=288", .max_flits = FLITS, .pool = pool
	};
	warm_up();
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(calls); i++)
		if (strcmp(calls[i], "rte_eth_dev_info_get") != 0)
			weft_fail_each(calls[i], ENOMEM, no_port);
	/* The closing asks too, and does without. */
	assert_true(no_port("rte_eth_dev_info_get", EIO, 1));
	/* A device that hears everything anyway need not be told to. */
	weft_fail_set("rte_eth_promiscuous_enable", ENOTSUP, 1);
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), 0);
	assert_true(weft_fail_end());
	weft_port_close(port);
	/* Frames in several buffers would be dropped one by one: said at the start instead. */
	is_scattered = true;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EMSGSIZE);
	is_scattered = false;
	assert_non_null(strstr(err, "its queues cannot be set up (Message too long)"));
}

WEFT_TEST(a_memif_server_that_fails_leaves_no_socket)
{
	static const char *const calls[] = { "rte_zmalloc", "calloc", "getrandom", "open64",
		"weft_socket_hide", "weft_socket_reach", "memif_receive", "eventfd",
		"weft_socket_listen", "rte_ctrl_thread_create" };

	spec = (struct weft_port_spec){
		.name = "n", .socket = path, .memif_server = true, .max_flits = FLITS, .pool = pool
	};
	warm_up();
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(calls); i++)
		weft_fail_each(calls[i], EMFILE, no_port);
}

static bool
no_pair(const char *name, int error, unsigned int nth)
{
	const struct weft_port_spec a = { .name = "n", .max_flits = FLITS };
	const struct weft_port_spec b = { .name = "o", .max_flits = FLITS };
	struct weft_port *ports[2] = { NULL, NULL };
	char err[256] = "";
	bool failed;
	int rc;

	weft_fail_set(name, error, nth);
	rc = weft_port_open_pair(&a, &b, ports, err, sizeof(err));
	failed = weft_fail_end();
	assert_int_equal(rc, failed ? -ENOMEM : 0);
	assert_int_equal(strncmp(err, "port ", 5) == 0, failed);
	weft_port_close(ports[0]);
	weft_port_close(ports[1]);
	return failed;
}

WEFT_TEST(a_pair_of_rings_is_whole_or_not_there)
{
	const struct weft_port_spec good = { .name = "n", .max_flits = FLITS };
	struct weft_port_spec bad = { .name = "o", .max_flits = FLITS, .driver = WEFT_PORT_MEMIF };
	struct weft_port *ports[2], *other[2];
	char err[256];

	weft_fail_each("rte_zmalloc", ENOMEM, no_pair);
	weft_fail_each("rte_ring_init", EINVAL, no_pair);
	weft_fail_each("rte_ring_get_memsize", EINVAL, no_pair);
	/* The second end has a mistake: the first is not left alone. */
	assert_int_equal(weft_port_open_pair(&good, &bad, ports, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "port o: driver memif cannot join two nodes inside a process");
	bad.driver = WEFT_PORT_RING;
	bad.wire = "ber=1";
	assert_int_equal(weft_port_open_pair(&good, &bad, ports, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "port o: a ring takes no bad wire");
	bad.wire = NULL;
	bad.max_flits = 65;
	assert_int_equal(weft_port_open_pair(&bad, &good, ports, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "port o: flits per frame must be 1 to 64, not 65");
	bad.max_flits = FLITS;
	bad.name = NULL;
	assert_int_equal(weft_port_open_pair(&good, &bad, ports, err, sizeof(err)), -EINVAL);
	bad.name = "n";
	assert_int_equal(weft_port_open_pair(&good, &bad, ports, err, sizeof(err)), -EEXIST);
	assert_string_equal(err, "port n: a port of this name is open");
	bad.name = "o";
	bad.ring_frames = UINT32_MAX;
	assert_int_equal(weft_port_open_pair(&bad, &good, ports, err, sizeof(err)), -ENOMEM);
	bad.ring_frames = 0;
	assert_int_equal(weft_port_open_pair(&good, &bad, ports, err, sizeof(err)), 0);
	assert_int_equal(weft_port_open_pair(&good, &bad, other, err, sizeof(err)), -EEXIST);
	weft_port_close(ports[0]);
	weft_port_close(ports[1]);
	weft_port_close(NULL);
}

static struct weft_port *ends[2];

static bool
no_capture(const char *name, int error, unsigned int nth)
{
	const struct weft_capture_cfg cfg = { .path = path, .ring_frames = 64 };
	const struct left before = look();
	char err[256] = "";
	bool failed;
	int rc;

	weft_fail_set(name, error, nth);
	rc = weft_capture_open(ends[0], &cfg, err, sizeof(err));
	failed = weft_fail_end();
	if (failed != (rc != 0))
		fail_msg("%s, call %u: %d, \"%s\"", name, nth, rc, err);
	assert_int_equal(weft_capture_is_open(ends[0]), !failed);
	assert_int_equal(strncmp(err, "capture of port n to ", 21) == 0, failed);
	assert_int_equal(weft_capture_close(ends[0], NULL), failed ? -ENOENT : 0);
	unlink(path);
	is_as_before(&before, name, nth);
	return failed;
}

WEFT_TEST(a_capture_that_fails_is_none)
{
	static const char *const calls[] = { "aligned_alloc", "rte_ring_init",
		"rte_ring_get_memsize", "open64", "fcntl64", "fopencookie",
		"rte_ctrl_thread_create" };
	const struct weft_port_spec a = { .name = "n", .max_flits = FLITS };
	const struct weft_port_spec b = { .name = "o", .max_flits = FLITS };
	struct weft_capture_cfg cfg = { .path = path, .ring_frames = UINT32_MAX };
	char err[256];

	assert_int_equal(weft_port_open_pair(&a, &b, ends, err, sizeof(err)), 0);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(calls); i++)
		weft_fail_each(calls[i], ENOMEM, no_capture);
	assert_int_equal(weft_capture_open(ends[0], &cfg, err, sizeof(err)), -ENOMEM);
	assert_non_null(strstr(err, "Cannot allocate memory"));
	cfg = (struct weft_capture_cfg){ .path = "-" };
	weft_fail_set("fcntl64", EMFILE, 1);
	assert_int_equal(weft_capture_open(ends[0], &cfg, err, sizeof(err)), -EMFILE);
	assert_true(weft_fail_end());
	weft_port_close(ends[0]);
	weft_port_close(ends[1]);
}

int
main(void)
{
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/s", folder);
	test_eal_start(NULL);
	/* DPDK says of each failure what it thinks of it. */
	rte_log_set_global_level(RTE_LOG_EMERG);
	pool = test_pool("failures", 2047, FLITS);
	failed = weft_test_run();
	rte_mempool_free(pool);
	weft_eal_stop();
	rmdir(folder);
	return failed;
}
