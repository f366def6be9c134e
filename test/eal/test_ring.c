/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A ring link inside the process: both ways, in order, by pointer, and full. */

#include "eal_test.h"

#include "weft_port_badwire.h"

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

/* How often each number came. */
static void
count_frames(struct weft_port *port, uint8_t came[640])
{
	struct rte_mbuf *got[64];
	uint16_t n;

	while ((n = weft_port_rx(port, got, 64)) != 0)
		for (uint16_t i = 0; i < n; i++) {
			came[weft_get_be16(rte_pktmbuf_mtod_offset(got[i], uint8_t *, 14))]++;
			rte_pktmbuf_free(got[i]);
		}
}

/* How often each of 640 frames comes through a wire of this text; and what it counts. */
static void
pass_bad_wire(const char *text, uint8_t came[640], struct weft_port_badwire_counts *counts)
{
	struct rte_mbuf *mbufs[64], *got[64];
	struct weft_impair_cfg cfg;
	struct weft_port *ports[2];

	weft_impair_defaults(&cfg);
	assert_int_equal(weft_impair_parse_list(&cfg, text, NULL, 0), 0);
	memset(came, 0, 640);
	open_pair(ports, 0);
	assert_int_equal(weft_port_badwire_counts(ports[0], counts), -ENOENT);
	assert_int_equal(weft_port_badwire_open(ports[0], &cfg), 0);
	assert_int_equal(weft_port_badwire_open(ports[0], &cfg), -EBUSY);
	for (uint16_t first = 0; first < 640; first = (uint16_t)(first + 64)) {
		for (uint16_t i = 0; i < 64; i++) {
			mbufs[i] = test_frame(pool, 0, 288);
			weft_put_be16(rte_pktmbuf_mtod_offset(mbufs[i], uint8_t *, 14),
				(uint16_t)(first + i));
		}
		assert_int_equal(weft_port_tx(ports[0], mbufs, 64), 64);
		count_frames(ports[1], came);
	}
	/* Late frames leave when the sender looks for what comes, or when the wire is calmed. */
	weft_port_badwire_calm(ports[0]);
	assert_int_equal(weft_port_rx(ports[0], got, 64), 0);
	assert_false(weft_port_badwire_is_busy(ports[0]));
	count_frames(ports[1], came);
	assert_int_equal(weft_port_badwire_close(ports[0], counts), 0);
	assert_int_equal(weft_port_badwire_close(ports[0], NULL), -ENOENT);
	send_burst(ports[0], mbufs, 32);
	assert_int_equal(weft_port_rx(ports[1], got, 64), 32);
	rte_pktmbuf_free_bulk(got, 32);
	weft_port_close(ports[0]);
	weft_port_close(ports[1]);
	test_pool_is_whole(pool);
}

WEFT_TEST(bad_wire_comes_and_goes)
{
	uint8_t came[640], again[640], other[640];
	struct weft_port_badwire_counts c, same;
	unsigned int lost = 0, twice = 0;

	pass_bad_wire("seed=7,drop=0.1,dup=0.1,delay_us=10000000@0.1", came, &c);
	pass_bad_wire("seed=7,drop=0.1,dup=0.1,delay_us=10000000@0.1", again, &same);
	pass_bad_wire("seed=8,drop=0.1,dup=0.1", other, &same);
	assert_memory_equal(came, again, sizeof(came));
	assert_memory_not_equal(came, other, sizeof(came));
	for (unsigned int i = 0; i < 640; i++) {
		lost += came[i] == 0;
		twice += came[i] == 2;
	}
	assert_int_equal(c.impair[WEFT_IMPAIR_N_FRAMES], 640);
	assert_int_equal(c.impair[WEFT_IMPAIR_N_DROPPED], lost);
	assert_int_equal(c.impair[WEFT_IMPAIR_N_DUPLICATED], twice);
	assert_true(lost > 20 && twice > 20 && c.impair[WEFT_IMPAIR_N_DELAYED] > 20);
	assert_int_equal(c.wire[WEFT_BADWIRE_N_NO_BUFFER], 0);
}

/* What is late without end takes no more buffers than it may. */
WEFT_TEST(bad_wire_keeps_few_frames)
{
	struct weft_port_badwire_counts c;
	uint8_t came[640];
	unsigned int n = 0;

	pass_bad_wire("delay_us=10000000", came, &c);
	for (unsigned int i = 0; i < 640; i++)
		n += came[i];
	assert_int_equal(n, WEFT_PORT_BADWIRE_LATE_MAX);
	assert_int_equal(c.wire[WEFT_BADWIRE_N_LATE_FULL], 640 - WEFT_PORT_BADWIRE_LATE_MAX);
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
	pool = test_pool("ring", 1023, 15);
	failed = weft_test_run();
	rte_mempool_free(pool);
	weft_eal_stop();
	return failed;
}
