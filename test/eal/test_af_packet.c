/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two af_packet ports over a veth pair of MTU 9000 (and af_xdp, where it can be, over one of 3498),
 * in a network namespace that ends with the program: jumbo frames both ways, the line that explains
 * the choice, and an MTU too small. Skipped where neither root nor a user namespace is to be had.
 */

#include "eal_test.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#define FLITS 35
#define XDP_FLITS 13
#define FRAMES 400

/* In sanitizer builds: libxdp forgets two small objects for each socket it closes. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libxdp.so";
}

static struct rte_mempool *pool;

static struct rte_mempool *xdp_pool;

static struct weft_port_spec
spec_of(const char *name, const char *netif, unsigned int flits)
{
	return (struct weft_port_spec){ .name = name,
		.netif = netif,
		.max_flits = flits,
		.pool = flits == XDP_FLITS ? xdp_pool : pool,
		.link_wait_ms = 1000 };
}

static struct weft_port *
open_on(const char *name, const char *netif, unsigned int flits)
{
	const struct weft_port_spec spec = spec_of(name, netif, flits);
	struct weft_port *port;
	char err[256] = "";

	if (weft_port_open(&spec, &port, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	return port;
}

/* The next of our frames, past whatever the kernel itself says on a new interface. */
static struct rte_mbuf *
next_frame(struct weft_port *port)
{
	struct rte_mbuf *m;

	while (test_receive(port, &m, 1, 2000) == 1) {
		if (weft_get_be16(rte_pktmbuf_mtod(m, const uint8_t *) + 12) == 0x88B5)
			return m;
		rte_pktmbuf_free(m);
	}
	return NULL;
}

static void
pass(struct weft_port *from, struct weft_port *to, unsigned int flits)
{
	const uint16_t len = (uint16_t)(32 + 256 * flits);

	for (uint32_t i = 0; i < FRAMES; i++) {
		struct rte_mbuf *m = test_frame(pool, i, len);

		assert_int_equal(weft_port_tx(from, &m, 1), 1);
		m = next_frame(to);
		if (m == NULL)
			fail_msg("frame %u did not come", i);
		test_frame_is(m, i, len);
		assert_int_equal((rte_pktmbuf_mtod(m, uintptr_t) + 32) % 64, 0);
		rte_pktmbuf_free(m);
	}
}

WEFT_TEST(jumbo_frames_pass_over_veth)
{
	struct weft_port *a = open_on("h0.0", "weft0", FLITS);
	struct weft_port *b = open_on("s0.0", "weft1", FLITS);

	assert_string_equal(weft_port_line(a),
		"port h0.0: af_packet on weft0 (af_xdp needs MTU <= 3498, this is 9000)");
	assert_true(weft_port_is_up(a));
	pass(a, b, FLITS);
	pass(b, a, FLITS);
	weft_port_close(a);
	weft_port_close(b);
	test_pool_is_whole(pool);
}

static atomic_bool flood_ends;

/* Frames by weft3, which come in by weft2, as fast as they can be sent. */
static void *
flood(void *arg)
{
	const struct sockaddr_ll to = { .sll_family = AF_PACKET,
		.sll_protocol = htons(0x88B5),
		.sll_ifindex = (int)if_nametoindex("weft3"),
		.sll_halen = 6 };
	const int fd = socket(AF_PACKET, SOCK_RAW, 0);
	uint8_t frame[64] = { 0 };
	cpu_set_t all;

	(void)arg;
	/* Not on the CPU of the port's thread, where it would wait for what it is to disturb. */
	memset(&all, 0xFF, sizeof(all));
	pthread_setaffinity_np(pthread_self(), sizeof(all), &all);
	weft_put_be16(frame + 12, 0x88B5);
	while (fd >= 0 && !flood_ends)
		if (sendto(fd, frame, sizeof(frame), 0, (const struct sockaddr *)(const void *)&to,
			    sizeof(to)) < 0)
			sched_yield();
	close(fd);
	return NULL;
}

/* The driver's socket hears them until it is bound. */
WEFT_TEST(frames_of_other_interfaces_stay_out)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, flood, NULL), 0);
	for (unsigned int i = 0; i < 24; i++) {
		struct weft_port *port = open_on("h0.0", "weft0", FLITS);
		struct rte_mbuf *m;

		while (test_receive(port, &m, 1, 5) == 1) {
			assert_int_not_equal(
				weft_get_be16(rte_pktmbuf_mtod(m, const uint8_t *) + 12), 0x88B5);
			rte_pktmbuf_free(m);
		}
		weft_port_close(port);
	}
	flood_ends = true;
	pthread_join(thread, NULL);
	test_pool_is_whole(pool);
}

/* The fuller rung: thirteen flits are the most that AF_XDP's MTU and one page allow. */
WEFT_TEST(af_xdp_carries_its_largest_frames)
{
	struct weft_port *a = open_on("h0.1", "weft2", XDP_FLITS);
	struct weft_port *b = open_on("s0.1", "weft3", XDP_FLITS);
	bool is_xdp = strstr(weft_port_line(a), ": af_xdp on ") != NULL;

	print_message("%s\n", weft_port_line(a));
	/* Whichever driver it came to, frames pass. */
	pass(a, b, XDP_FLITS);
	pass(b, a, XDP_FLITS);
	weft_port_close(a);
	weft_port_close(b);
	/*
	 * The driver does not give back what waited in its fill ring, so the pool is not counted.
	 */
	if (!is_xdp)
		skip();
}

WEFT_TEST(mtu_too_small_names_both_numbers)
{
	const struct weft_port_spec spec = spec_of("h0.0", "weft0", 36);
	const struct weft_port_spec down = spec_of("h0.0", "lo", 36);
	struct weft_port *port;
	char err[256];

	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EMSGSIZE);
	assert_string_equal(err,
		"port h0.0: MTU of weft0 is 9000, but 36 flits per frame need 9234: "
		"ip link set weft0 mtu 9234, or at most 35 flits");
	assert_int_equal(weft_port_open(&down, &port, err, sizeof(err)), -ENETDOWN);
	assert_string_equal(err, "port h0.0: interface lo is down: ip link set lo up");
}

WEFT_TEST(an_interface_made_again_is_used_again)
{
	struct weft_port *a = open_on("h0.2", "weft4", FLITS);
	struct weft_port *b = open_on("s0.2", "weft5", FLITS);
	struct weft_port_event e;
	struct weft_port_stats stats;
	struct rte_mbuf *m;

	weft_port_maintain(a);
	assert_false(weft_port_next_event(a, &e));
	pass(a, b, FLITS);
	assert_int_equal(system("ip link del weft4"), 0);
	weft_port_maintain(a);
	weft_port_maintain(b);
	assert_true(weft_port_next_event(a, &e));
	assert_int_equal(e.kind, WEFT_PORT_GONE);
	assert_string_equal(e.text, "interface weft4 is gone");
	assert_false(weft_port_next_event(a, &e));
	assert_false(weft_port_is_up(a));
	m = test_frame(pool, 0, 60);
	assert_int_equal(weft_port_tx(a, &m, 1), 0);
	rte_pktmbuf_free(m);
	assert_int_equal(weft_port_rx(a, &m, 1), 0);
	weft_port_stats(a, &stats);
	assert_int_equal(stats.tx_frames, FRAMES);
	/* There again, and no good yet: said once. */
	assert_int_equal(system("ip link add weft4 mtu 1500 type veth peer name weft5 mtu 9000 && "
				"ip link set weft4 up && ip link set weft5 up"),
		0);
	for (int i = 0; i < 3; i++) {
		weft_port_maintain(a);
		assert_int_equal(weft_port_next_event(a, &e), i == 0);
	}
	assert_int_equal(e.kind, WEFT_PORT_GONE);
	assert_non_null(strstr(e.text, "interface weft4 is there but not taken: port h0.2: MTU"));
	assert_int_equal(system("ip link set weft4 mtu 9000"), 0);
	weft_port_maintain(a);
	weft_port_maintain(b);
	assert_true(weft_port_next_event(a, &e));
	assert_int_equal(e.kind, WEFT_PORT_BACK);
	assert_string_equal(e.text, "interface weft4 is back, over af_packet");
	pass(a, b, FLITS);
	pass(b, a, FLITS);
	/* Deleted and made again between two looks. */
	assert_int_equal(system("ip link del weft4 && "
				"ip link add weft4 mtu 9000 type veth peer name weft5 mtu 9000 && "
				"ip link set weft4 up && ip link set weft5 up"),
		0);
	weft_port_maintain(a);
	weft_port_maintain(b);
	assert_true(weft_port_next_event(a, &e));
	assert_string_equal(e.text, "interface weft4 is gone: another has its name");
	assert_true(weft_port_next_event(a, &e));
	assert_int_equal(e.kind, WEFT_PORT_BACK);
	pass(a, b, FLITS);
	/* Closed while it is away. */
	assert_int_equal(system("ip link del weft4"), 0);
	weft_port_maintain(a);
	weft_port_close(a);
	weft_port_close(b);
	test_pool_is_whole(pool);
}

/* A network of our own: as root, or as root of a user namespace (or programs run by us lose it). */
static bool
enter_network(void)
{
	uid_t uid = geteuid();
	FILE *f;

	if (unshare(CLONE_NEWNET) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	f = fopen("/proc/self/uid_map", "w");
	if (f == NULL)
		return false;
	fprintf(f, "0 %u 1\n", uid);
	return fclose(f) == 0;
}

int
main(void)
{
	int failed;

	if (!enter_network()) {
		printf("skipped: no right to make a network namespace: %s\n", strerror(errno));
		return 77;
	}
	if (system("ip link add weft0 mtu 9000 type veth peer name weft1 mtu 9000 && "
		   "ip link add weft2 mtu 3498 type veth peer name weft3 mtu 3498 && "
		   "ip link add weft4 mtu 9000 type veth peer name weft5 mtu 9000 && "
		   "for i in 0 1 2 3 4 5; do ip link set weft$i up || exit 1; done") != 0) {
		printf("skipped: no veth pair can be made here\n");
		return 77;
	}
	test_eal_start(NULL);
	/* Two ports fill their queues from it, and frames of 36 flits must pass its check. */
	pool = test_pool("packet", 2047, 36);
	xdp_pool = test_pool("xdp", 16383, XDP_FLITS);
	failed = weft_test_run();
	rte_mempool_free(xdp_pool);
	rte_mempool_free(pool);
	weft_eal_stop();
	return failed;
}
