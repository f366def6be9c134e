/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A ring link inside the process: both ways, in order, by pointer, and full. */

#include "eal_test.h"

static struct rte_mempool *pool;

static void
open_pair(struct weft_port *ports[2], unsigned int frames)
{
	const struct weft_port_spec a = { .name = "h0.0", .max_flits = 15, .ring_frames = frames };
	const struct weft_port_spec b = { .name = "s0.0", .max_flits = 15 };
	char err[256] = "";

	if (weft_port_open_pair(&a, &b, ports, err, sizeof(err)) != 0)
		fail_msg("%s", err);
}

static void
send_burst(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		mbufs[i] = test_frame(pool, i, 288);
	assert_int_equal(weft_port_tx(port, mbufs, n), n);
}

WEFT_TEST(bursts_pass_both_ways_in_order)
{
	struct rte_mbuf *sent[32], *got[64];
	struct weft_port *ports[2];

	open_pair(ports, 0);
	assert_string_equal(weft_port_name(ports[0]), "h0.0");
	assert_string_equal(
		weft_port_line(ports[1]), "port s0.0: ring to h0.0 (both ends in this process)");
	assert_true(weft_port_is_up(ports[0]));
	for (int from = 0; from < 2; from++) {
		struct weft_port_stats s;

		assert_int_equal(weft_port_rx(ports[1 - from], got, 64), 0);
		send_burst(ports[from], sent, 32);
		/* Nothing comes back to the sender. */
		assert_int_equal(weft_port_rx(ports[from], got, 64), 0);
		assert_int_equal(weft_port_rx(ports[1 - from], got, 64), 32);
		for (uint16_t i = 0; i < 32; i++) {
			assert_ptr_equal(got[i], sent[i]);
			test_frame_is(got[i], i, 288);
		}
		rte_pktmbuf_free_bulk(got, 32);
		weft_port_stats(ports[from], &s);
		assert_int_equal(s.tx_frames, 32);
		assert_int_equal(s.tx_bursts, 1);
		assert_int_equal(s.tx_full_frames, 0);
		weft_port_stats(ports[1 - from], &s);
		assert_int_equal(s.rx_frames, 32);
		assert_int_equal(s.rx_bursts, 1);
	}
	weft_port_close(ports[0]);
	weft_port_close(ports[1]);
	test_pool_is_whole(pool);
}

WEFT_TEST(full_ring_pushes_back)
{
	struct weft_port *ports[2];
	struct rte_mbuf *mbufs[64];
	struct weft_port_stats s;

	/* Exactly as many as asked for, though no power of two. */
	open_pair(ports, 100);
	send_burst(ports[0], mbufs, 64);
	for (uint16_t i = 0; i < 64; i++)
		mbufs[i] = test_frame(pool, i, 288);
	assert_int_equal(weft_port_tx(ports[0], mbufs, 64), 36);
	assert_int_equal(weft_port_tx(ports[0], mbufs + 36, 28), 0);
	weft_port_stats(ports[0], &s);
	assert_int_equal(s.tx_frames, 100);
	assert_int_equal(s.tx_full_frames, 28 + 28);
	/* What was not taken is still ours and whole. */
	for (uint16_t i = 36; i < 64; i++)
		test_frame_is(mbufs[i], i, 288);
	rte_pktmbuf_free_bulk(mbufs + 36, 28);
	/* The 100 under way are freed with the second end, not the first. */
	weft_port_close(ports[0]);
	assert_int_equal(rte_mempool_in_use_count(pool), 100);
	weft_port_close(ports[1]);
	test_pool_is_whole(pool);
}

WEFT_TEST(names_are_unique_while_open)
{
	const struct weft_port_spec a = { .name = "h0.0", .max_flits = 15 };
	struct weft_port *ports[2], *more[2];
	char err[256];

	open_pair(ports, 0);
	assert_int_equal(weft_port_open_pair(&a, &a, more, err, sizeof(err)), -EEXIST);
	assert_string_equal(err, "port h0.0: a port of this name is open");
	weft_port_close(ports[1]);
	weft_port_close(ports[0]);
	/* Both ends of one name: the second fails, and the first is not left open. */
	assert_int_equal(weft_port_open_pair(&a, &a, more, err, sizeof(err)), -EEXIST);
	open_pair(ports, 0);
	weft_port_close(ports[0]);
	weft_port_close(ports[1]);
	weft_port_close(NULL);
}

WEFT_TEST(other_drivers_cannot_be_paired)
{
	const struct weft_port_spec a = { .name = "a", .max_flits = 15 };
	const struct weft_port_spec b = { .name = "b", .driver = WEFT_PORT_MEMIF, .max_flits = 15 };
	const struct weft_port_spec c = { .name = "c", .max_flits = 65 };
	struct weft_port *ports[2];
	char err[256];

	assert_int_equal(weft_port_open_pair(&a, &c, ports, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "port c: flits per frame must be 1 to 64, not 65");
	assert_int_equal(weft_port_open_pair(&a, &b, ports, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "port b: driver memif cannot join two nodes inside a process");
}

WEFT_TEST(telemetry_tells_names_and_counters)
{
	char reply[16384];
	struct weft_port *ports[2];
	struct rte_mbuf *mbufs[3];

	open_pair(ports, 0);
	send_burst(ports[0], mbufs, 3);
	test_ask("/weft/ports", reply, sizeof(reply));
	assert_string_equal(reply, "{\"/weft/ports\":[\"s0.0\",\"h0.0\"]}");
	test_ask("/weft/port,h0.0", reply, sizeof(reply));
	assert_non_null(strstr(reply, "\"driver\":\"ring\""));
	assert_non_null(strstr(reply, "\"tx_frames\":3,"));
	assert_non_null(strstr(reply, "\"max_flits\":15,"));
	weft_port_close(ports[0]);
	test_ask("/weft/port,h0.0", reply, sizeof(reply));
	assert_string_equal(reply, "{\"/weft/port\":null}");
	test_ask("/weft/port", reply, sizeof(reply));
	assert_string_equal(reply, "{\"/weft/port\":null}");
	weft_port_close(ports[1]);
	test_ask("/weft/ports", reply, sizeof(reply));
	assert_string_equal(reply, "{\"/weft/ports\":[]}");
}

int
main(void)
{
	int failed;

	test_eal_start(NULL);
	pool = test_pool("ring", 511, 15);
	failed = weft_test_run();
	rte_mempool_free(pool);
	weft_eal_stop();
	return failed;
}
