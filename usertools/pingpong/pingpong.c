/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Round trips of 64 bytes between two threads by what everybody has: a TCP connection over
 * loopback, a UNIX socket, two rings of DPDK, two memif ports. bench-peers sets a read through the
 * fabric against them. One line of JSON: nanoseconds of a round trip by share of the trips.
 */

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "loopback.h"
#include "weft_eal.h"

#define BYTES 64
#define WARM_UP 1000 /* trips that do not count */
#define TRIPS_MAX 10000000u
#define RING_SLOTS 64
#define LINK_TRIES 10000 /* of a millisecond each: the two memif ports meet */

/* Two ends, 0 and 1, of one way to talk. */
struct talk {
	const char *name;
	int (*open)(struct talk *t);
	void (*send)(struct talk *t, int end);
	void (*receive)(struct talk *t, int end); /* waits */
	int fd[2];
	struct rte_ring *ring[2]; /* by the end that reads */
	struct rte_mempool *pool;
};

struct run {
	struct talk *talk;
	int cpu[2];
	unsigned int trips;
	uint64_t *ns; /* of each trip */
};

__attribute__((noreturn)) static void
pingpong_fail(const char *what, int error)
{
	fprintf(stderr, "pingpong: %s: %s\n", what, strerror(error));
	exit(EXIT_FAILURE);
}

static void
pingpong_pin(int cpu)
{
	const int rc = loopback_pin(cpu);

	if (rc != 0)
		pingpong_fail("CPU", -rc);
}

/* --- sockets: the kernel wakes whoever waits --- */

static void
socket_send(struct talk *t, int end)
{
	static const char bytes[BYTES];

	if (send(t->fd[end], bytes, BYTES, MSG_NOSIGNAL) != BYTES)
		pingpong_fail("send", errno);
}

static void
socket_receive(struct talk *t, int end)
{
	char bytes[BYTES];

	if (recv(t->fd[end], bytes, BYTES, MSG_WAITALL) != BYTES)
		pingpong_fail("receive", errno);
}

static int
unix_open(struct talk *t)
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, t->fd);
}

static int
tcp_open(struct talk *t)
{
	const int rc = loopback_tcp(t->fd);

	errno = -rc;
	return rc == 0 ? 0 : -1;
}

/* --- DPDK: whoever waits polls --- */

/* @p args are kept by EAL. */
static int
dpdk_start(struct talk *t, char *const *args, int n_args)
{
	const struct weft_eal_cfg cfg = {
		.program = "pingpong", .memory_mb = 64, .user_argc = n_args, .user_argv = args
	};
	char err[256];

	if (weft_eal_start(&cfg, err, sizeof(err)) != 0) {
		fprintf(stderr, "pingpong: %s\n", err);
		exit(EXIT_FAILURE);
	}
	t->pool = rte_pktmbuf_pool_create("pingpong", 4095, 0, 0, 2048, SOCKET_ID_ANY);
	errno = rte_errno;
	return t->pool != NULL ? 0 : -1;
}

static int
ring_open(struct talk *t)
{
	if (dpdk_start(t, NULL, 0) != 0)
		return -1;
	for (int end = 0; end < 2; end++) {
		t->ring[end] = rte_ring_create(end == 0 ? "ping" : "pong", RING_SLOTS,
			SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		errno = rte_errno;
		if (t->ring[end] == NULL)
			return -1;
	}
	return 0;
}

static void
ring_send(struct talk *t, int end)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(t->pool);

	if (m == NULL || rte_ring_enqueue(t->ring[!end], m) != 0)
		pingpong_fail("ring", ENOBUFS);
}

static void
ring_receive(struct talk *t, int end)
{
	void *m;

	while (rte_ring_dequeue(t->ring[end], &m) != 0)
		rte_pause();
	rte_pktmbuf_free(m);
}

static int
memif_port(struct talk *t, uint16_t port)
{
	const struct rte_eth_conf conf = { 0 };

	if (rte_eth_dev_configure(port, 1, 1, &conf) != 0 ||
		rte_eth_rx_queue_setup(port, 0, 256, (unsigned int)SOCKET_ID_ANY, NULL, t->pool) !=
			0 ||
		rte_eth_tx_queue_setup(port, 0, 256, (unsigned int)SOCKET_ID_ANY, NULL) != 0)
		return -1;
	return rte_eth_dev_start(port);
}

static int
memif_open(struct talk *t)
{
	static char vdev[2][128];
	static char *const args[] = { vdev[0], vdev[1] };
	char socket_path[64];
	struct rte_eth_link link = { 0 };
	int rc = 0;

	/* An abstract one: no file is left behind. */
	snprintf(socket_path, sizeof(socket_path), "@pingpong-%d", (int)getpid());
	for (int end = 0; end < 2; end++)
		snprintf(vdev[end], sizeof(vdev[end]),
			"--vdev=net_memif%d,role=%s,socket=%s,socket-abstract=yes", end,
			end == 0 ? "server" : "client", socket_path);
	errno = EIO;
	if (dpdk_start(t, args, 2) != 0)
		return -1;
	for (uint16_t port = 0; port < 2 && rc == 0; port++)
		rc = memif_port(t, port);
	for (int i = 0; rc == 0 && link.link_status == 0; i++) {
		if (i == LINK_TRIES) {
			errno = ETIMEDOUT;
			return -1;
		}
		usleep(1000);
		rc = rte_eth_link_get_nowait(0, &link);
	}
	errno = EIO;
	return rc;
}

static void
memif_send(struct talk *t, int end)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(t->pool);

	if (m == NULL)
		pingpong_fail("memif", ENOBUFS);
	rte_pktmbuf_append(m, BYTES);
	while (rte_eth_tx_burst((uint16_t)end, 0, &m, 1) != 1)
		rte_pause();
}

static void
memif_receive(struct talk *t, int end)
{
	struct rte_mbuf *m;

	(void)t;
	while (rte_eth_rx_burst((uint16_t)end, 0, &m, 1) != 1)
		rte_pause();
	rte_pktmbuf_free(m);
}

/* --- the trips --- */

static void *
pingpong_answer(void *arg)
{
	struct run *r = arg;

	pingpong_pin(r->cpu[1]);
	for (unsigned int i = 0; i < WARM_UP + r->trips; i++) {
		r->talk->receive(r->talk, 1);
		r->talk->send(r->talk, 1);
	}
	return NULL;
}

static uint64_t
pingpong_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int
pingpong_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
pingpong_run(struct run *r)
{
	uint64_t then, now;
	pthread_t other;
	int rc;

	rc = pthread_create(&other, NULL, pingpong_answer, r);
	if (rc != 0)
		pingpong_fail("thread", rc);
	then = pingpong_now_ns();
	for (unsigned int i = 0; i < WARM_UP + r->trips; i++) {
		r->talk->send(r->talk, 0);
		r->talk->receive(r->talk, 0);
		now = pingpong_now_ns();
		r->ns[i < WARM_UP ? 0 : i - WARM_UP] = now - then;
		then = now;
	}
	pthread_join(other, NULL);
	qsort(r->ns, r->trips, sizeof(r->ns[0]), pingpong_compare);
	printf("{\"kind\": \"%s\", \"trips\": %u, \"p50\": %lu, \"p99\": %lu, \"p99_9\": %lu}\n",
		r->talk->name, r->trips, r->ns[r->trips / 2], r->ns[(uint64_t)r->trips * 99 / 100],
		r->ns[(uint64_t)r->trips * 999 / 1000]);
}

int
main(int argc, char **argv)
{
	static struct talk talks[] = {
		{ .name = "tcp", tcp_open, socket_send, socket_receive },
		{ .name = "unix", unix_open, socket_send, socket_receive },
		{ .name = "ring", ring_open, ring_send, ring_receive },
		{ .name = "memif", memif_open, memif_send, memif_receive },
	};
	struct run r = { 0 };

	for (size_t i = 0; argc == 5 && i < RTE_DIM(talks); i++)
		if (strcmp(argv[1], talks[i].name) == 0)
			r.talk = &talks[i];
	if (r.talk != NULL) {
		r.trips = (unsigned int)strtoul(argv[2], NULL, 10);
		r.cpu[0] = atoi(argv[3]);
		r.cpu[1] = atoi(argv[4]);
	}
	if (r.trips == 0 || r.trips > TRIPS_MAX || r.cpu[0] < 0 || r.cpu[1] < 0) {
		fputs("usage: pingpong tcp|unix|ring|memif TRIPS CPU CPU\n", stderr);
		return 2;
	}
	r.ns = calloc(r.trips, sizeof(r.ns[0]));
	if (r.ns == NULL)
		pingpong_fail("memory", ENOMEM);
	pingpong_pin(r.cpu[0]);
	if (r.talk->open(r.talk) != 0)
		pingpong_fail(r.talk->name, errno);
	pingpong_run(&r);
	free(r.ns);
	if (r.talk->pool != NULL)
		weft_eal_stop();
	return EXIT_SUCCESS;
}
