/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A port that cannot be: one line that says what and how to mend it, nothing left behind. */

#include "eal_test.h"

#include <rte_ethdev.h>

static struct rte_mempool *pool;

static void
refuses(const struct weft_port_spec *spec, int rc, const char *says)
{
	struct weft_port *port = NULL;
	char err[256] = "";

	assert_int_equal(weft_port_open(spec, &port, err, sizeof(err)), rc);
	assert_null(port);
	if (strstr(err, says) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err, says);
	assert_null(strchr(err, '\n'));
	assert_int_equal(rte_eth_dev_count_avail(), 0);
}

WEFT_TEST(missing_interface_is_named)
{
	const struct weft_port_spec spec = {
		.name = "h0.0", .netif = "weftnone0", .max_flits = 5, .pool = pool
	};
	const struct weft_port_spec too_long = {
		.name = "h0.0", .netif = "a-name-no-kernel-takes", .max_flits = 5, .pool = pool
	};

	refuses(&spec, -ENODEV, "port h0.0: interface weftnone0: no such interface here");
	refuses(&too_long, -ENODEV, "no such interface here");
}

WEFT_TEST(pool_of_small_buffers_is_refused)
{
	struct weft_port_spec spec = {
		.name = "h0.0", .vdev = "net_null0", .max_flits = 16, .pool = pool
	};

	refuses(&spec, -EINVAL, "but 16 flits per frame need");
	spec.pool = NULL;
	refuses(&spec, -EINVAL, "has no packet buffers");
}

WEFT_TEST(unknown_devices_are_refused)
{
	const struct weft_port_spec vdev = {
		.name = "h0.0", .vdev = "net_nonesuch0,x=1", .max_flits = 5, .pool = pool
	};
	const struct weft_port_spec pci = {
		.name = "h0.0", .pci = "ffff:ff:1f.7", .max_flits = 5, .pool = pool
	};

	refuses(&vdev, -ENODEV, "port h0.0: net_nonesuch0: DPDK has no device");
	refuses(&pci, -ENODEV, "port h0.0: ffff:ff:1f.7: DPDK has no device");
}

WEFT_TEST(names_are_checked)
{
	struct weft_port_spec spec = {
		.name = "", .vdev = "net_null0", .max_flits = 5, .pool = pool
	};

	refuses(&spec, -EINVAL, "a name has 1 to 39 characters");
	spec.name = NULL;
	refuses(&spec, -EINVAL, "a name has 1 to 39 characters");
	spec.name = "a-name-that-is-just-one-letter-too-long.";
	refuses(&spec, -EINVAL, "a name has 1 to 39 characters");
}

/* The device of a port that is refused late is given back, and can be opened again. */
WEFT_TEST(device_can_be_opened_again)
{
	struct weft_port_spec spec = {
		.name = "n", .vdev = "net_null0,size=288", .max_flits = 5, .pool = pool
	};
	struct weft_port *port, *other;
	struct rte_mbuf *mbufs[8];
	char err[256] = "";

	for (int i = 0; i < 2; i++) {
		if (weft_port_open(&spec, &port, err, sizeof(err)) != 0)
			fail_msg("%s", err);
		assert_string_equal(weft_port_line(port),
			"port n: vdev on net_null0,size=288 (named by its devargs)");
		assert_int_equal(weft_port_rx(port, mbufs, 8), 8);
		assert_int_equal(weft_port_tx(port, mbufs, 8), 8);
		spec.vdev = "net_null1";
		assert_int_equal(weft_port_open(&spec, &other, err, sizeof(err)), -EEXIST);
		assert_int_equal(rte_eth_dev_count_avail(), 1);
		weft_port_close(port);
		assert_int_equal(rte_eth_dev_count_avail(), 0);
		spec.vdev = "net_null0,size=288";
	}
}

int
main(void)
{
	int failed;

	test_eal_start(NULL);
	pool = test_pool("errors", 2047, 15);
	failed = weft_test_run();
	test_pool_is_whole(pool);
	rte_mempool_free(pool);
	weft_eal_stop();
	return failed;
}
