/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The flitwire driver over a ring that gives back what it is sent: what arrives is held against the
 * same injectors run over the same frames by hand.
 */

#include "eal_test.h"

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include "weft_impair.h"
#include "weft_wire.h"

#define FLITS 4
#define LEN ((uint16_t)WEFT_WIRE_FRAME_LEN(FLITS))
#define MAX 256 /* frames in a test */

static struct rte_mempool *pool;
static struct weft_port *port;
static uint16_t wire;

static void
open_wire(const char *args)
{
	char vdev[256], err[256] = "";
	const struct weft_port_spec spec = {
		.name = "w", .vdev = vdev, .max_flits = FLITS, .pool = pool
	};

	snprintf(vdev, sizeof(vdev), "net_flitwire0,port=net_ring0%s", args);
	if (weft_port_open(&spec, &port, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_flitwire0", &wire), 0);
}

static void
close_wire(void)
{
	struct rte_mbuf *m;

	while (weft_port_rx(port, &m, 1) == 1)
		rte_pktmbuf_free(m);
	weft_port_close(port);
	test_pool_is_whole(pool);
}

/* A Weft frame whose flits tell its number. */
static struct rte_mbuf *
flit_frame(uint32_t number)
{
	const struct weft_wire_hdr h = {
		.mode = WEFT_MODE_RXL, .n_flits = FLITS, .spid = 1, .dpid = 2, .session = number
	};
	struct rte_mbuf *m = test_frame(pool, number, LEN);

	weft_wire_build(rte_pktmbuf_mtod(m, uint8_t *), &h);
	return m;
}

static uint32_t
number_of(const struct rte_mbuf *m)
{
	struct weft_wire_hdr h;

	assert_int_equal(
		weft_wire_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &h), WEFT_OK);
	return h.session;
}

static void
send_frames(uint32_t first, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = flit_frame(first + i);

		assert_int_equal(weft_port_tx(port, &m, 1), 1);
	}
}

static uint64_t
xstat(const char *name)
{
	uint64_t id, value;

	assert_int_equal(rte_eth_xstats_get_id_by_name(wire, name, &id), 0);
	assert_int_equal(rte_eth_xstats_get_by_id(wire, &id, &value, 1), 1);
	return value;
}

WEFT_TEST(clean_wire_is_transparent)
{
	struct rte_mbuf *sent[32], *got[64];
	struct rte_eth_stats stats;

	open_wire("");
	for (uint32_t i = 0; i < 32; i++)
		sent[i] = flit_frame(i);
	assert_int_equal(weft_port_tx(port, sent, 32), 32);
	assert_int_equal(weft_port_rx(port, got, 64), 32);
	/* By pointer: nothing is copied without need. */
	assert_memory_equal(sent, got, sizeof(sent));
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(number_of(got[i]), i);
	rte_pktmbuf_free_bulk(got, 32);
	assert_true(weft_port_is_up(port));
	assert_int_equal(rte_eth_stats_get(wire, &stats), 0);
	assert_int_equal(stats.opackets, 32);
	assert_int_equal(stats.obytes, 32 * LEN);
	assert_int_equal(stats.ipackets, 32);
	assert_int_equal(stats.ibytes, 32 * LEN);
	assert_int_equal(xstat("tx_wire_frames"), 32);
	assert_int_equal(xstat("tx_wire_flits"), 32 * FLITS);
	assert_int_equal(xstat("tx_wire_touched"), 0);
	close_wire();
}

/* Run the same settings over the same frames with the library alone, and compare. */
static void
compare_with_library(const char *settings, uint32_t frames)
{
	struct weft_impair_cfg cfg;
	struct weft_impair by_hand;
	char args[256];
	uint64_t differing = 0;

	weft_impair_defaults(&cfg);
	assert_int_equal(weft_impair_parse_list(&cfg, settings, NULL, 0), 0);
	assert_int_equal(weft_impair_init(&by_hand, &cfg), 0);
	snprintf(args, sizeof(args), ",%s", settings);
	open_wire(args);
	for (uint32_t i = 0; i < frames; i++) {
		struct rte_mbuf *want = flit_frame(i), *got[4], *m = flit_frame(i);
		struct weft_impair_fate fate;

		weft_impair_frame(&by_hand, &fate);
		if (!fate.drop)
			differing += 0 != weft_impair_flits(&by_hand,
						  rte_pktmbuf_mtod_offset(
							  want, uint8_t *, WEFT_WIRE_FLITS_OFF),
						  FLITS);
		assert_int_equal(weft_port_tx(port, &m, 1), 1);
		assert_int_equal(weft_port_rx(port, got, 4), fate.copies);
		for (unsigned int c = 0; c < fate.copies; c++) {
			assert_int_equal(got[c]->pkt_len, LEN);
			assert_memory_equal(rte_pktmbuf_mtod(got[c], uint8_t *),
				rte_pktmbuf_mtod(want, uint8_t *), LEN);
			rte_pktmbuf_free(got[c]);
		}
		rte_pktmbuf_free(want);
	}
	assert_true(differing > 0);
	for (unsigned int i = 0; i < WEFT_IMPAIR_N_COUNTERS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "tx_wire_%s", weft_impair_counters[i].name);
		assert_int_equal(xstat(name), by_hand.count[i]);
	}
	close_wire();
}

WEFT_TEST(damage_is_that_of_the_library)
{
	compare_with_library("seed=5,ber=1e-4", 2000);
	compare_with_library("seed=6,bits=3@0.1,burst=4@0.1,drop=0.1,dup=0.1", 2000);
	compare_with_library("seed=7,channel=0.2,uncorrectable=0.1", 2000);
}

WEFT_TEST(shared_frames_are_copied_before_damage)
{
	struct rte_mbuf *m, *got;

	open_wire(",bits=1");
	m = flit_frame(9);
	rte_mbuf_refcnt_update(m, 1);
	assert_int_equal(weft_port_tx(port, &m, 1), 1);
	for (uint32_t i = WEFT_WIRE_FLITS_OFF; i < LEN; i++)
		assert_int_equal(rte_pktmbuf_mtod(m, uint8_t *)[i], test_byte(9, i));
	assert_int_equal(weft_port_rx(port, &got, 1), 1);
	assert_ptr_not_equal(got, m);
	assert_memory_not_equal(
		rte_pktmbuf_mtod(got, uint8_t *), rte_pktmbuf_mtod(m, uint8_t *), LEN);
	rte_pktmbuf_free(got);
	rte_pktmbuf_free(m);
	close_wire();
}

WEFT_TEST(other_packets_keep_their_bytes)
{
	struct rte_mbuf *m, *got;

	open_wire(",ber=1");
	m = test_frame(pool, 3, 300);
	assert_int_equal(weft_port_tx(port, &m, 1), 1);
	assert_int_equal(weft_port_rx(port, &got, 1), 1);
	test_frame_is(got, 3, 300);
	rte_pktmbuf_free(got);
	assert_int_equal(xstat("tx_wire_frames"), 1);
	assert_int_equal(xstat("tx_wire_flits"), 0);
	close_wire();
}

/* Late frames come by themselves, not before their time, in order. */
WEFT_TEST(delay_holds_frames_back)
{
	struct rte_mbuf *got[32];
	uint64_t sent, hz = rte_get_tsc_hz();

	open_wire(",delay_us=20000");
	sent = rte_rdtsc();
	send_frames(0, 16);
	assert_int_equal(weft_port_rx(port, got, 32), 0);
	assert_int_equal(test_receive(port, got, 16, 2000), 16);
	assert_true(rte_rdtsc() - sent >= hz / 50);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(number_of(got[i]), i);
	rte_pktmbuf_free_bulk(got, 16);
	assert_int_equal(xstat("tx_wire_delayed"), 16);

	/* Those under way when the port closes come back to the pool. */
	send_frames(0, 16);
	close_wire();
}

WEFT_TEST(reordered_frames_all_arrive)
{
	struct rte_mbuf *got[MAX];
	unsigned int overtaken = 0;
	bool seen[MAX] = { false };

	open_wire(",reorder=0.2,reorder_us=3000,seed=4");
	send_frames(0, MAX / 2);
	assert_int_equal(test_receive(port, got, MAX / 2, 2000), MAX / 2);
	for (uint32_t i = 0; i < MAX / 2; i++) {
		const uint32_t n = number_of(got[i]);

		assert_true(n < MAX / 2 && !seen[n]);
		seen[n] = true;
		overtaken += n > i;
	}
	assert_true(overtaken > 0);
	assert_in_range(xstat("tx_wire_reordered"), 5, 60);
	rte_pktmbuf_free_bulk(got, MAX / 2);
	close_wire();
}

WEFT_TEST(replay_brings_old_frames_once_more)
{
	struct rte_mbuf *got[4];
	unsigned int n, replayed = 0;

	open_wire(",replay=0.5,history=8");
	for (uint32_t i = 0; i < 200; i++) {
		send_frames(i, 1);
		n = weft_port_rx(port, got, 4);
		assert_in_range(n, 1, 2);
		assert_int_equal(number_of(got[0]), i);
		if (n == 2) {
			assert_in_range(i - number_of(got[1]), 1, 8);
			replayed++;
		}
		rte_pktmbuf_free_bulk(got, n);
	}
	assert_in_range(replayed, 60, 140);
	assert_int_equal(xstat("tx_wire_replayed"), replayed);
	close_wire();
}

WEFT_TEST(too_many_late_frames_are_dropped_and_counted)
{
	open_wire(",delay_us=10000000");
	send_frames(0, MAX);
	for (unsigned int i = 0; i < 4096; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		assert_non_null(m);
		assert_non_null(rte_pktmbuf_append(m, 64));
		assert_int_equal(weft_port_tx(port, &m, 1), 1);
	}
	assert_int_equal(xstat("tx_wire_late_full"), MAX);
	close_wire();
}

/* What the lower port does not take waits, and then pushes back. */
WEFT_TEST(full_lower_port_pushes_back)
{
	unsigned int taken = 0, got_n = 0;
	struct rte_mbuf *m, *got[64];
	uint16_t n;

	open_wire("");
	for (m = flit_frame(taken); weft_port_tx(port, &m, 1) == 1; m = flit_frame(taken))
		taken++;
	rte_pktmbuf_free(m);
	assert_in_range(taken, 1024, 4000);
	while ((n = weft_port_rx(port, got, 64)) > 0) {
		for (uint16_t i = 0; i < n; i++)
			assert_int_equal(number_of(got[i]), got_n++);
		rte_pktmbuf_free_bulk(got, n);
	}
	assert_int_equal(got_n, taken);
	close_wire();
}

WEFT_TEST(receiving_side_can_be_bad_too)
{
	struct rte_mbuf *got[64];

	open_wire(",dir=rx,drop=0.5");
	send_frames(0, 64);
	assert_in_range(weft_port_rx(port, got, 64), 10, 54);
	assert_int_equal(xstat("tx_wire_frames"), 0);
	assert_int_equal(xstat("rx_wire_frames"), 64);
	rte_pktmbuf_free_bulk(got, 64 - (unsigned int)xstat("rx_wire_dropped"));
	close_wire();
}

/* Frees what has come. @return how many */
static unsigned int
take(void)
{
	struct rte_mbuf *got[64];
	const uint16_t n = weft_port_rx(port, got, 64);

	rte_pktmbuf_free_bulk(got, n);
	return n;
}

/* When more are due than stand ready at a time, what arrives meanwhile has to wait in the ring. */
WEFT_TEST(frames_that_are_due_together_all_arrive)
{
	const unsigned int late = 1500, more = 256;
	unsigned int came = 0;
	uint64_t end;

	open_wire(",dir=rx,delay_us=300000");
	for (unsigned int i = 0; i < late; i++) {
		send_frames(i, 1);
		came += take();
	}
	usleep(400000);
	send_frames(late, (uint16_t)more);
	end = rte_get_timer_cycles() + 10 * rte_get_timer_hz();
	while (came < late + more && rte_get_timer_cycles() < end)
		came += take();
	assert_int_equal(came, late + more);
	assert_int_equal(xstat("rx_wire_late_full"), 0);
	close_wire();
}

WEFT_TEST(settings_change_by_telemetry)
{
	char reply[16384];
	struct rte_mbuf *m;

	open_wire(",seed=77");
	test_ask("/weft/flitwire", reply, sizeof(reply));
	assert_string_equal(reply, "{\"/weft/flitwire\":[\"net_flitwire0\"]}");
	send_frames(0, 10);
	test_ask("/weft/flitwire,net_flitwire0,drop=1,delay_us=2.5@0.5", reply, sizeof(reply));
	assert_non_null(strstr(reply, "\"port\":\"net_ring0\""));
	assert_non_null(strstr(reply, "\"seed\":\"77\""));
	assert_non_null(strstr(reply, "\"drop\":\"1\""));
	assert_non_null(strstr(reply, "\"delay_us\":\"2.5\""));
	assert_non_null(strstr(reply, "\"tx_wire_frames\":10"));
	assert_null(strstr(reply, "rx_wire_"));
	send_frames(0, 5);
	assert_int_equal(xstat("tx_wire_dropped"), 5);
	test_ask("/weft/flitwire,net_flitwire0,drop=2", reply, sizeof(reply));
	assert_non_null(strstr(reply, "\"error\":\"drop: expected P: of a frame to be lost"));
	test_ask("/weft/flitwire,net_flitwire0,bits_p=1", reply, sizeof(reply));
	assert_non_null(strstr(reply, "\"error\":\"bits must be 1 to 64\""));
	test_ask("/weft/flitwire,net_flitwire0", reply, sizeof(reply));
	assert_non_null(strstr(reply, "\"drop\":\"1\""));
	test_ask("/weft/flitwire,nobody", reply, sizeof(reply));
	assert_string_equal(reply, "{\"/weft/flitwire\":null}");
	test_ask("/weft/flitwire,net_flitwire0,drop=0", reply, sizeof(reply));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(weft_port_rx(port, &m, 1), 1);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(rte_eth_xstats_reset(wire), 0);
	assert_int_equal(xstat("tx_wire_frames"), 0);
	close_wire();
	test_ask("/weft/flitwire", reply, sizeof(reply));
	assert_string_equal(reply, "{\"/weft/flitwire\":[]}");
}

WEFT_TEST(bad_arguments_make_no_device)
{
	static const char *const bad[] = {
		NULL,
		"drop=0.1",
		"port=",
		"port=net_flitwire1",
		"port=net_ring0,drop=2",
		"port=net_ring0,dir=up",
		"port=net_ring0,colour=red",
		"port=net_ring0,replay=1,history=0",
	};
	char err[256];
	const struct weft_port_spec missing = {
		.name = "w", .vdev = "net_flitwire1,port=nobody", .max_flits = FLITS, .pool = pool
	};
	uint16_t before = rte_eth_dev_count_total();

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_int_not_equal(rte_vdev_init("net_flitwire1", bad[i]), 0);
	assert_int_equal(weft_port_open(&missing, &port, err, sizeof(err)), -ENODEV);
	assert_int_equal(rte_eth_dev_count_total(), before);
}

WEFT_TEST(one_wire_a_port)
{
	char err[256];
	struct weft_port *second;
	const struct weft_port_spec spec = { .name = "v",
		.vdev = "net_flitwire1,port=net_ring0",
		.max_flits = FLITS,
		.pool = pool };

	open_wire("");
	assert_int_equal(weft_port_open(&spec, &second, err, sizeof(err)), -EBUSY);
	close_wire();
}

int
main(void)
{
	int failed;

	test_eal_start(NULL);
	pool = test_pool("flitwire", 8191, FLITS);
	if (rte_vdev_init("net_ring0", NULL) != 0)
		return 1;
	failed = weft_test_run();
	rte_mempool_free(pool);
	weft_eal_stop();
	return failed;
}
