/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two memif ports of one process joined by a socket: jumbo frames both ways, rights, refusals, and
 * callers at the socket that are no peer.
 */

#include "eal_test.h"

#include <stdatomic.h>
#include <fcntl.h>
#include <rte_log.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "memif_door_priv.h"
#include "weft_loop.h"

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

WEFT_TEST(jumbo_frames_pass_both_ways)
{
	struct weft_port *server = open_end("m.server", server_path, true);
	/* The driver keys its sockets by name: another spelling lets one process hold both ends. */
	struct weft_port *client = open_end("m.client", client_path, false);

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
WEFT_TEST(both_ends_close_one_after_the_other)
{
	char *log = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&log, &len);

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

WEFT_TEST(socket_of_a_dead_server_is_cleared_that_of_a_live_one_is_not)
{
	struct weft_port_spec spec = { .name = "m",
		.socket = server_path,
		.memif_server = true,
		.max_flits = FLITS,
		.pool = pool };
	struct weft_port *port;
	char err[256], want[256];
	int fd = listen_at(server_path);

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

WEFT_TEST(bad_paths_are_refused)
{
	struct weft_port_spec spec = {
		.name = "m", .memif_server = true, .max_flits = FLITS, .pool = pool
	};
	struct weft_port *port;
	char err[256], path[128];

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

/* --- callers at a server's socket --- */

static uint64_t
refused_by(const struct weft_port *port)
{
	struct weft_port_stats stats;

	weft_port_stats(port, &stats);
	return stats.callers_refused;
}

static void
wait_refused(const struct weft_port *port, uint64_t n)
{
	for (int i = 0; i < 5000 && refused_by(port) < n; i++)
		usleep(1000);
	assert_int_equal(refused_by(port), n);
}

static void
wait_up(struct weft_port *port, bool up)
{
	for (int i = 0; i < 5000 && weft_port_is_up(port) != up; i++)
		usleep(1000);
	assert_int_equal(weft_port_is_up(port), up);
}

static int
call(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	memcpy(addr.sun_path, server_path, strlen(server_path));
	assert_int_equal(connect(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

WEFT_TEST(callers_that_hang_up_or_talk_nonsense_do_no_harm)
{
	struct weft_port *server = open_end("m.server", server_path, true);
	struct weft_port *client = open_end("m.client", client_path, false);
	uint8_t junk[300];
	struct weft_rand r;
	int silent[20];
	uint64_t n = 0;
	struct weft_port_event e;

	weft_test_seed(&r, __func__);
	wait_up(server, true);
	assert_false(weft_port_next_event(server, &e));
	for (unsigned int i = 0; i < 50; i++)
		close(call());
	wait_refused(server, n += 50);
	assert_true(weft_port_next_event(server, &e));
	print_message("%s\n", e.text);
	assert_int_equal(e.kind, WEFT_PORT_CALLERS);
	assert_int_equal(e.n, 50);
	assert_non_null(strstr(e.text, "a caller at its socket, process "));
	assert_non_null(strstr(e.text, "(test_eal_memif)"));
	assert_false(weft_port_next_event(server, &e));
	for (unsigned int i = 0; i < 50; i++) {
		size_t len = i % 3 == 0 ? 128 : 1 + weft_rand_below(&r, sizeof(junk));
		int fd = call();

		for (size_t k = 0; k < sizeof(junk); k++)
			junk[k] = (uint8_t)weft_rand_below(&r, 256);
		assert_int_equal(write(fd, junk, len), (ssize_t)len);
		close(fd);
	}
	wait_refused(server, n += 50);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(silent); i++)
		silent[i] = call();
	wait_refused(server, n += WEFT_ARRAY_SIZE(silent)); /* by number, the last by time */
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(silent); i++)
		close(silent[i]);
	assert_true(weft_port_is_up(server));
	pass(client, server);
	pass(server, client);
	weft_port_close(client);
	weft_port_close(server);
	test_pool_is_whole(pool);
}

/* That the connection was there nobody saw but by its frames: nothing is left to wait for. */
WEFT_TEST(a_server_that_came_and_went_between_two_looks_is_met_at_the_next)
{
	struct weft_port *server = open_end("m.server", server_path, true);
	struct weft_port *client = open_end("m.client", client_path, false);

	for (unsigned int round = 0; round < 3; round++) {
		wait_up(server, true);
		wait_up(client, true);
		pass(server, client);
		weft_port_close(server);
		wait_up(client, false);
		server = open_end("m.server", server_path, true);
		weft_port_maintain(client);
	}
	wait_up(server, true);
	weft_port_close(client);
	weft_port_close(server);
	test_pool_is_whole(pool);
}

/* An lcore that does nothing but that. */
static struct weft_loop *
start_lcore(unsigned int (*fn)(void *), void *arg)
{
	const struct weft_poll poll = { fn, arg };
	const struct weft_loop_cfg cfg = {
		.lcore = 1, .idle = WEFT_IDLE_YIELD, .polls = &poll, .n_polls = 1
	};
	struct weft_loop *loop = weft_loop_create(&cfg);

	assert_non_null(loop);
	assert_int_equal(weft_loop_launch(loop), 0);
	return loop;
}

static void
end_lcore(struct weft_loop *loop)
{
	weft_loop_stop(loop);
	weft_loop_join(loop);
	weft_loop_free(loop);
}

#define GOES_ROUNDS 60

struct busy {
	struct weft_port *port;
	atomic_uint calls;
};

/* An lcore that is in a burst all the time. */
static unsigned int
send_and_receive(void *arg)
{
	struct busy *b = arg;
	struct rte_mbuf *mbufs[32];
	uint16_t n;

	for (n = 0; n < 8; n++)
		mbufs[n] = test_frame(pool, n, FRAME_LEN);
	n = weft_port_tx(b->port, mbufs, 8);
	rte_pktmbuf_free_bulk(mbufs + n, (unsigned int)(8 - n));
	n = weft_port_rx(b->port, mbufs, 32);
	rte_pktmbuf_free_bulk(mbufs, n);
	atomic_fetch_add(&b->calls, 1);
	return 1;
}

/* DPDK's driver unmaps the rings of a client whose server goes, whoever is in there. */
WEFT_TEST(a_server_that_goes_does_no_harm_to_a_busy_client)
{
	struct weft_port *server = open_end("m.server", server_path, true);
	struct busy busy = { .port = open_end("m.client", client_path, false) };
	struct weft_loop *loop = start_lcore(send_and_receive, &busy);

	for (unsigned int round = 0; round < GOES_ROUNDS; round++) {
		const unsigned int calls = atomic_load(&busy.calls);

		wait_up(server, true);
		wait_up(busy.port, true);
		while (atomic_load(&busy.calls) < calls + 100)
			usleep(100);
		weft_port_close(server);
		wait_up(busy.port, false);
		server = open_end("m.server", server_path, true);
		weft_port_maintain(busy.port);
	}
	end_lcore(loop);
	weft_port_close(busy.port);
	weft_port_close(server);
	test_pool_is_whole(pool);
}

#define LATE 32 /* frames */

struct late {
	struct weft_port *port;
	atomic_bool may_read;
	atomic_uint frames;
};

static unsigned int
receive_when_it_may(void *arg)
{
	struct late *l = arg;
	struct rte_mbuf *mbufs[32];
	uint16_t n;

	if (!atomic_load(&l->may_read))
		return 0;
	n = weft_port_rx(l->port, mbufs, 32);
	for (uint16_t i = 0; i < n; i++)
		test_frame_is(mbufs[i], atomic_load(&l->frames) + i, FRAME_LEN);
	rte_pktmbuf_free_bulk(mbufs, n);
	atomic_fetch_add(&l->frames, n);
	return n;
}

/* LATE frames, from that number on. */
static void
send_from(struct weft_port *port, uint32_t first)
{
	struct rte_mbuf *mbufs[LATE];
	uint16_t sent = 0;

	for (uint16_t i = 0; i < LATE; i++)
		mbufs[i] = test_frame(pool, first + i, FRAME_LEN);
	while (sent < LATE) /* neither is a first burst taken, nor one that nobody reads */
		sent = (uint16_t)(sent + weft_port_tx(port, mbufs + sent, (uint16_t)(LATE - sent)));
}

/* The last words of a process that ends, to one whose lcore has no CPU just then. */
static void
send_and_go(bool server_goes)
{
	struct weft_port *server = open_end("m.server", server_path, true);
	struct weft_port *client = open_end("m.client", client_path, false);
	struct weft_port *leaver = server_goes ? server : client;
	struct late late = { .port = server_goes ? client : server, .may_read = true };
	struct weft_loop *loop = start_lcore(receive_when_it_may, &late);

	wait_up(server, true);
	wait_up(client, true);
	send_from(leaver, 0);
	while (atomic_load(&late.frames) < LATE)
		usleep(100);
	atomic_store(&late.may_read, false);
	send_from(leaver, LATE);
	weft_port_close(leaver);
	usleep(20000);
	atomic_store(&late.may_read, true);
	wait_up(late.port, false);
	assert_int_equal(atomic_load(&late.frames), 2 * LATE);
	end_lcore(loop);
	weft_port_close(late.port);
	test_pool_is_whole(pool);
}

WEFT_TEST(what_was_sent_before_the_other_end_went_is_read)
{
	for (unsigned int round = 0; round < 4; round++)
		send_and_go(round & 1);
}

/* Memory as a client has it: rings that are marked as such, in a file that cannot shrink. */
static int
client_memory(size_t len, bool can_shrink, bool is_marked)
{
	const uint32_t cookie = is_marked ? 0x3E31F20 : 0;
	int fd = memfd_create("region", MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	for (off_t ring = 0; ring < 8192; ring += 4096)
		assert_int_equal(pwrite(fd, &cookie, sizeof(cookie), ring), sizeof(cookie));
	if (!can_shrink)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

/* What one client does; zero where it does as it should. */
struct bad_client {
	const char *why; /* that it is told */
	uint16_t version, id;
	bool no_init, twice_init, no_region, no_memory, can_shrink, not_marked;
	uint16_t region_index;
	uint64_t region_size;
	unsigned int regions, rings;
	uint16_t ring_index, ring_region;
	uint32_t ring_offset;
	uint8_t ring_log2;
	bool same_ring, no_event, odd_end;
};

#define MEMORY_LEN 65536

static void
say(int fd, const struct memif_msg *msg, int carried)
{
	struct memif_msg answer;
	int got;

	memif_send(fd, msg, carried);
	/* What it is told at the end is left for the end. */
	if (recv(fd, &answer, sizeof(answer), MSG_PEEK) == sizeof(answer) &&
		answer.type == MEMIF_ACK)
		assert_int_equal(memif_receive(fd, &answer, &got), MEMIF_RECEIVED);
}

static void
say_init(int fd, const struct bad_client *b)
{
	struct memif_msg msg = { .type = MEMIF_INIT };
	const uint16_t version = b->version != 0 ? b->version : 0x200;
	const uint32_t id = b->id;

	memcpy(msg.bytes, &version, sizeof(version));
	memcpy(msg.bytes + 2, &id, sizeof(id));
	say(fd, &msg, -1);
}

static void
say_regions(int fd, const struct bad_client *b)
{
	for (unsigned int i = 0; i < (b->regions != 0 ? b->regions : 1); i++) {
		struct memif_msg msg = { .type = MEMIF_ADD_REGION };
		int memory = client_memory(MEMORY_LEN, b->can_shrink, !b->not_marked);

		msg.region.index = (uint16_t)(b->region_index + i);
		msg.region.size = b->region_size != 0 ? b->region_size : MEMORY_LEN;
		say(fd, &msg, b->no_memory ? -1 : memory);
		close(memory);
	}
}

static void
say_rings(int fd, const struct bad_client *b)
{
	for (unsigned int i = 0; i < (b->rings != 0 ? b->rings : 2); i++) {
		struct memif_msg msg = { .type = MEMIF_ADD_RING };
		int event = eventfd(0, 0);

		msg.ring.flags = i == 0 || b->same_ring ? MEMIF_RING_C2S : 0;
		msg.ring.index = b->ring_index;
		msg.ring.region = b->ring_region;
		msg.ring.offset = b->ring_offset != 0 ? b->ring_offset : i * 4096;
		msg.ring.log2_size = b->ring_log2 != 0 ? b->ring_log2 : 7;
		say(fd, &msg, b->no_event ? -1 : event);
		close(event);
	}
}

/* The whole handshake; what the server said last goes to @last. */
static int
shake(const struct bad_client *b, struct memif_msg *last)
{
	const struct memif_msg connect = { .type = b->odd_end ? 99 : MEMIF_CONNECT };
	int fd = call(), got;

	assert_int_equal(memif_receive(fd, last, &got), MEMIF_RECEIVED);
	assert_int_equal(last->type, MEMIF_HELLO);
	for (int i = 0; i < 1 + b->twice_init && !b->no_init; i++)
		say_init(fd, b);
	if (!b->no_region)
		say_regions(fd, b);
	say_rings(fd, b);
	memif_send(fd, &connect, -1);
	/* That something was not read before it hung up is told first, once. */
	if (memif_receive(fd, last, &got) != MEMIF_RECEIVED &&
		memif_receive(fd, last, &got) != MEMIF_RECEIVED)
		memset(last, 0, sizeof(*last));
	return fd;
}

WEFT_TEST(a_handshake_is_believed_only_when_it_is_right)
{
	static const struct bad_client bad[] = {
		{ .why = "Unexpected message", .no_init = true },
		{ .why = "Unexpected message", .twice_init = true },
		{ .why = "Unexpected message", .odd_end = true },
		{ .why = "the port refuses: Incompatible memif version", .version = 0x300 },
		{ .why = "the port refuses: ID not found", .id = 7 },
		{ .why = "a ring outside its region", .no_region = true },
		{ .why = "a region without memory", .no_memory = true },
		{ .why = "a region whose memory can shrink", .can_shrink = true },
		{ .why = "Invalid region index", .region_index = 1 },
		{ .why = "Invalid region index", .regions = 5 },
		{ .why = "a region larger than its memory", .region_size = MEMORY_LEN + 1 },
		{ .why = "a region larger than its memory", .region_size = UINT64_MAX },
		{ .why = "too few rings", .rings = 1 },
		{ .why = "a ring twice", .rings = 3 },
		{ .why = "a ring twice", .same_ring = true },
		{ .why = "Invalid ring index", .ring_index = 1 },
		{ .why = "a ring outside its region", .ring_region = 1 },
		{ .why = "a ring outside its region", .ring_offset = UINT32_MAX & ~63u },
		{ .why = "a ring outside its region", .ring_offset = MEMORY_LEN - 1024 },
		{ .why = "a ring outside its region", .ring_offset = 1 },
		{ .why = "a ring outside its region", .ring_log2 = 13 },
		{ .why = "a ring of no good size", .ring_log2 = 15 },
		{ .why = "a ring without an event", .no_event = true },
		{ .why = "the port does not answer", .not_marked = true },
	};
	static const struct bad_client good = { .why = NULL };
	struct weft_port *server = open_end("m.server", server_path, true), *client;
	struct memif_msg last;
	int fd;

	/* The driver says of each what it thinks of it. */
	rte_log_set_level_pattern("pmd.net.memif", RTE_LOG_EMERG);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		fd = shake(&bad[i], &last);
		if (last.type != MEMIF_DISCONNECT ||
			strcmp(last.disconnect.reason, bad[i].why) != 0)
			fail_msg("handshake %zu: expected \"%s\", got \"%.*s\"", i, bad[i].why,
				WEFT_MEMIF_REASON, last.disconnect.reason);
		close(fd);
		assert_false(weft_port_is_up(server));
	}
	wait_refused(server, WEFT_ARRAY_SIZE(bad));
	fd = shake(&good, &last);
	assert_int_equal(last.type, MEMIF_CONNECTED);
	wait_up(server, true);
	/* One client at a time. */
	close(shake(&good, &last));
	assert_string_equal(last.disconnect.reason, "Already connected");
	close(fd);
	wait_up(server, false);
	client = open_end("m.client", client_path, false);
	wait_up(server, true);
	rte_log_set_level_pattern("pmd.net.memif", RTE_LOG_ERR);
	pass(client, server);
	weft_port_close(server); /* with a client that is told */
	wait_up(client, false);
	weft_port_close(client);
	test_pool_is_whole(pool);
}

WEFT_TEST(folders_open_to_others_are_refused)
{
	struct weft_port_spec spec = {
		.name = "m", .memif_server = true, .max_flits = FLITS, .pool = pool
	};
	char open_folder[64], path[80], err[256];
	struct weft_port *port;

	snprintf(open_folder, sizeof(open_folder), "%s/open", folder);
	snprintf(path, sizeof(path), "%s/s", open_folder);
	spec.socket = path;
	assert_int_equal(mkdir(open_folder, 0700), 0);
	assert_int_equal(chmod(open_folder, 0777), 0);
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EPERM);
	print_message("%s\n", err);
	assert_non_null(strstr(err, "with mode 0700 and not a link"));
	spec.memif_server = false;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EPERM);
	spec.memif_server = spec.socket_is_named = true;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EPERM);
	assert_non_null(strstr(err, "or root that others cannot write to"));
	/* As /tmp is: others can be there, and replace nothing. */
	assert_int_equal(chmod(open_folder, 01777), 0);
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), 0);
	weft_port_close(port);
	spec.socket_is_named = false;
	assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EPERM);
	if (geteuid() == 0) {
		spec.socket_is_named = true;
		spec.memif_server = false;
		close(listen_at(path));
		assert_int_equal(lchown(path, 65534, 65534), 0);
		assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EACCES);
		assert_non_null(strstr(err, "belongs to user 65534, not to 0 or root"));
		assert_int_equal(unlink(path), 0);
		spec.memif_server = true;
		assert_int_equal(chown(open_folder, 65534, 65534), 0);
		assert_int_equal(chmod(open_folder, 0700), 0);
		assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EPERM);
		spec.socket_is_named = false;
		assert_int_equal(weft_port_open(&spec, &port, err, sizeof(err)), -EPERM);
	}
	assert_int_equal(rmdir(open_folder), 0);
}

int
main(void)
{
	size_t first, last;
	char lcores[64];
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(server_path, sizeof(server_path), "%s/s", folder);
	snprintf(client_path, sizeof(client_path), "%s/./s", folder);
	test_cpus(&first, &last);
	snprintf(lcores, sizeof(lcores), "0@(%zu,%zu),1@%zu", first, last, last);
	test_eal_start(lcores);
	pool = test_pool("memif", 4095, FLITS);
	failed = weft_test_run();
	rte_mempool_free(pool);
	weft_eal_stop();
	unlink(server_path);
	rmdir(folder);
	return failed;
}
