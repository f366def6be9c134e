/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the tests of lib/eal and lib/port share: a start that needs nothing of the machine, a pool
 * of the shape the pipeline uses, frames whose every byte can be told, and the check that each
 * buffer came back.
 */
#ifndef EAL_TEST_H
#define EAL_TEST_H

#include "weft_test.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "weft_eal.h"
#include "weft_port.h"

#define TEST_PRIV_SIZE 96

/* argv is not const by tradition only: nobody writes to it. */
#define TEST_ARG(s) ((char *)(uintptr_t)(s))

/* Ends the program on failure: no test makes sense then. */
static inline void
test_eal_start(const char *lcores)
{
	char *no_huge[] = { TEST_ARG("--no-huge"), TEST_ARG("--no-shconf"), TEST_ARG("-m192"),
		TEST_ARG("--iova-mode=va") };
	const struct weft_eal_cfg cfg = {
		.program = "weft-test",
		.lcores = lcores,
		.user_argc = WEFT_ARRAY_SIZE(no_huge),
		.user_argv = no_huge,
	};
	char err[256];

	if (weft_eal_start(&cfg, err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		exit(1);
	}
}

/* How many CPUs this process may run on, and the first and the last of them. */
static inline unsigned int
test_cpus(size_t *first, size_t *last)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		exit(1);
	*first = CPU_SETSIZE;
	*last = 0;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		*first = cpu < *first ? cpu : *first;
		*last = cpu;
	}
	return (unsigned int)CPU_COUNT(&cpus);
}

/* One question to the telemetry socket of this process; the answer in @p reply. */
static inline void
test_ask(const char *question, char *reply, size_t room)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ssize_t n;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	assert_int_equal(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_true(read(fd, reply, room) > 0);
	assert_int_equal(write(fd, question, strlen(question)), (ssize_t)strlen(question));
	n = read(fd, reply, room - 1);
	assert_true(n > 0);
	reply[n] = '\0';
	close(fd);
}

static inline struct rte_mempool *
test_pool(const char *name, unsigned int n, unsigned int max_flits)
{
	const struct weft_pool_cfg cfg = {
		.name = name,
		.n_mbufs = n,
		.max_flits = max_flits,
		.priv_size = TEST_PRIV_SIZE,
		.cache = 0,
		.socket = -1,
	};
	char err[256] = "";
	struct rte_mempool *pool = weft_pool_create(&cfg, err, sizeof(err));

	if (pool == NULL)
		fail_msg("%s", err);
	return pool;
}

/* Byte @i of frame number @number. */
static inline uint8_t
test_byte(uint32_t number, uint32_t i)
{
	uint32_t x = (number + 1) * 2654435761u + i * 40503u;

	return (uint8_t)(x >> 13);
}

static inline struct rte_mbuf *
test_frame(struct rte_mempool *pool, uint32_t number, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *bytes;

	assert_non_null(m);
	bytes = (uint8_t *)rte_pktmbuf_append(m, len);
	assert_non_null(bytes);
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = test_byte(number, i);
	/* Broadcast from a local address, EtherType 0x88B5: real interfaces look at these. */
	memset(bytes, 0xFF, 6);
	memset(bytes + 6, 0x02, 6);
	weft_put_be16(bytes + 12, 0x88B5);
	return m;
}

/* Is @m frame number @number, whole and unchanged? */
static inline void
test_frame_is(const struct rte_mbuf *m, uint32_t number, uint16_t len)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(m, const uint8_t *);

	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->data_len, len);
	for (uint32_t i = 14; i < len; i++)
		if (bytes[i] != test_byte(number, i))
			fail_msg("frame %u differs at byte %u", number, i);
}

/* Receive up to @n frames, for at most @ms. */
static inline uint16_t
test_receive(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n, unsigned int ms)
{
	uint64_t end = rte_get_timer_cycles() + rte_get_timer_hz() / 1000 * ms;
	uint16_t got = 0;

	while (got < n && rte_get_timer_cycles() < end) {
		uint16_t room = (uint16_t)(n - got);
		uint16_t more = weft_port_rx(
			port, mbufs + got, room < WEFT_PORT_BURST_MAX ? room : WEFT_PORT_BURST_MAX);

		if (more == 0)
			usleep(100);
		got = (uint16_t)(got + more);
	}
	return got;
}

static inline void
test_pool_is_whole(const struct rte_mempool *pool)
{
	assert_int_equal(rte_mempool_avail_count(pool), pool->size);
}

#endif /* EAL_TEST_H */
