/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two af_packet ports over a veth pair of MTU 9000, in a network namespace that ends with the
 * program: jumbo frames both ways, the line that explains the choice, and an MTU too small.
 * Skipped where neither root nor a user namespace is to be had.
 */

#include "eal_test.h"

#include <errno.h>
#include <sched.h>

#define FLITS 35
#define FRAME_LEN (32 + 256 * FLITS)
#define FRAMES 400

static struct rte_mempool *pool;

static struct weft_port_spec
spec_of(const char *name, const char *netif, unsigned int flits)
{
	return (struct weft_port_spec){
		.name = name, .netif = netif, .max_flits = flits, .pool = pool, .link_wait_ms = 1000
	};
}

static struct weft_port *
open_on(const char *name, const char *netif)
{
	const struct weft_port_spec spec = spec_of(name, netif, FLITS);
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
pass(struct weft_port *from, struct weft_port *to)
{
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct rte_mbuf *m = test_frame(pool, i, FRAME_LEN);

		assert_int_equal(weft_port_tx(from, &m, 1), 1);
		m = next_frame(to);
		if (m == NULL)
			fail_msg("frame %u did not come", i);
		test_frame_is(m, i, FRAME_LEN);
		assert_int_equal((rte_pktmbuf_mtod(m, uintptr_t) + 32) % 64, 0);
		rte_pktmbuf_free(m);
	}
}

static void
jumbo_frames_pass_over_veth(void **state)
{
	struct weft_port *a = open_on("h0.0", "weft0");
	struct weft_port *b = open_on("s0.0", "weft1");

	(void)state;
	assert_string_equal(weft_port_line(a),
		"port h0.0: af_packet on weft0 (af_xdp needs MTU <= 3498, this is 9000)");
	assert_true(weft_port_is_up(a));
	pass(a, b);
	pass(b, a);
	weft_port_close(a);
	weft_port_close(b);
	test_pool_is_whole(pool);
}

static void
mtu_too_small_names_both_numbers(void **state)
{
	const struct weft_port_spec spec = spec_of("h0.0", "weft0", 36);
	const struct weft_port_spec down = spec_of("h0.0", "lo", 36);
	struct weft_port *port;
	char err[256];

	(void)state;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EMSGSIZE);
	assert_string_equal(err,
		"port h0.0: MTU of weft0 is 9000, but 36 flits per frame need 9234: "
		"ip link set weft0 mtu 9234, or at most 35 flits");
	assert_int_equal(weft_port_open(&down, &port, err, sizeof(err)), -ENETDOWN);
	assert_string_equal(err, "port h0.0: interface lo is down: ip link set lo up");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumbo_frames_pass_over_veth),
		cmocka_unit_test(mtu_too_small_names_both_numbers),
	};
	int failed;

	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
		printf("skipped: no right to make a network namespace: %s\n", strerror(errno));
		return 77;
	}
	if (system("ip link add weft0 mtu 9000 type veth peer name weft1 mtu 9000 && "
		   "ip link set weft0 up && ip link set weft1 up") != 0) {
		printf("skipped: no veth pair can be made here\n");
		return 77;
	}
	test_eal_start(NULL);
	/* Two ports fill their queues from it, and frames of 36 flits must pass its check. */
	pool = test_pool("packet", 2047, 36);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_mempool_free(pool);
	weft_eal_stop();
	return failed;
}
