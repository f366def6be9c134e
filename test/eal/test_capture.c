/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a capture leaves in its file, read back by libpcap: every frame, byte for byte, with time
 * and direction; what happens when the writer is too slow, the disk full, or traffic flowing.
 */

#include "eal_test.h"
#include "weft_fail.h"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <rte_lcore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "weft_capture.h"
#include "weft_loop.h"

#define FRAMES 3000
#define FRAME_MAX (32 + 256 * 15)

static struct rte_mempool *pool;
static struct weft_port *ports[2];
static char path[] = "/tmp/weft-capture-XXXXXX";

/* A signal ends the poll() that a test wants, or each that waits for longer than 10 ms. */
static atomic_bool is_interrupted;
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

int
__wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	const bool is_cut = atomic_load(&is_interrupted);
	int rc;

	if (weft_fail_now("poll"))
		return -1;
	rc = __real_poll(fds, n, is_cut && ms > 10 ? 10 : ms);
	if (rc != 0 || !is_cut)
		return rc;
	errno = EINTR;
	return -1;
}

static uint16_t
len_of(uint32_t number)
{
	return (uint16_t)(60 + number * 37 % (FRAME_MAX - 60 + 1));
}

static int
open_ports(void **state)
{
	const struct weft_port_spec a = { .name = "h0.0", .max_flits = 15 };
	const struct weft_port_spec b = { .name = "s0.0", .max_flits = 15 };

	(void)state;
	return weft_port_open_pair(&a, &b, ports, NULL, 0);
}

static int
close_ports(void **state)
{
	(void)state;
	weft_port_close(ports[0]);
	weft_port_close(ports[1]);
	return rte_mempool_full(pool) ? 0 : -1;
}

WEFT_TEST_EACH(open_ports, close_ports)

static void
start(struct weft_port *port, unsigned int ring_frames, bool lossless)
{
	const struct weft_capture_cfg cfg = {
		.path = path, .ring_frames = ring_frames, .lossless = lossless
	};
	char err[256] = "";

	if (weft_capture_open(port, &cfg, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	assert_true(weft_capture_is_open(port));
}

/* Send frames @first.. from end @from; receive them at the other. */
static void
pass(int from, uint32_t first, uint16_t n)
{
	struct rte_mbuf *mbufs[WEFT_PORT_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		mbufs[i] = test_frame(pool, first + i, len_of(first + i));
	assert_int_equal(weft_port_tx(ports[from], mbufs, n), n);
	assert_int_equal(weft_port_rx(ports[1 - from], mbufs, WEFT_PORT_BURST_MAX), n);
	for (uint16_t i = 0; i < n; i++)
		test_frame_is(mbufs[i], first + i, len_of(first + i));
	rte_pktmbuf_free_bulk(mbufs, n);
}

static void
pass_many(uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 50)
		pass(0, first + i, 50);
}

static pcap_t *
read_back(void)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, err);

	if (p == NULL)
		fail_msg("%s", err);
	assert_int_equal(pcap_datalink(p), DLT_EN10MB);
	return p;
}

/* The next packet is frame @number; returns its time. */
static uint64_t
next_is(pcap_t *p, uint32_t number)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;

	assert_int_equal(pcap_next_ex(p, &h, &bytes), 1);
	assert_int_equal(h->len, len_of(number));
	assert_int_equal(h->caplen, h->len);
	for (uint32_t i = 0; i < h->caplen; i++) {
		uint8_t want = i < 6 ? 0xFF : i < 12 ? 2 : i == 12 ? 0x88 : 0xB5;

		if (bytes[i] != (i < 14 ? want : test_byte(number, i)))
			fail_msg("frame %u differs at byte %u", number, i);
	}
	return (uint64_t)h->ts.tv_sec * 1000000000u + (uint64_t)h->ts.tv_usec;
}

/* Nothing follows, and the file is not cut short. */
static void
ends(pcap_t *p)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;

	assert_int_equal(pcap_next_ex(p, &h, &bytes), PCAP_ERROR_BREAK);
	pcap_close(p);
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

WEFT_TEST(file_holds_every_frame_byte_for_byte)
{
	uint64_t before = now_ns(), after, last = 0;
	struct weft_capture_stats s;
	struct stat st;
	pcap_t *p;

	/* Fewer slots than frames: lossless means that the data path waits. */
	start(ports[0], 128, true);
	for (uint32_t i = 0; i < FRAMES; i += 50)
		pass((int)(i / 50 % 2), i, 50);
	assert_int_equal(weft_capture_close(ports[0], &s), 0);
	assert_false(weft_capture_is_open(ports[0]));
	after = now_ns();
	assert_int_equal(s.frames, FRAMES);
	assert_int_equal(s.written, FRAMES);
	assert_int_equal(s.dropped, 0);
	p = read_back();
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint64_t t = next_is(p, i);

		assert_true(t >= before && t <= after && t >= last);
		last = t;
	}
	ends(p);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static uint32_t
u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* libpcap does not tell direction or the interface's name: walk the blocks. */
WEFT_TEST(blocks_tell_direction_name_and_totals)
{
	uint8_t file[4096];
	unsigned int n_packets = 0, n_stats = 0;
	size_t len, at = 0;
	FILE *f;

	start(ports[0], 0, true);
	pass(0, 0, 1);
	pass(1, 1, 1);
	assert_int_equal(weft_capture_close(ports[0], NULL), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	len = fread(file, 1, sizeof(file), f);
	fclose(f);
	while (at < len) {
		uint32_t type = u32_at(file + at), total = u32_at(file + at + 4);

		assert_true(total >= 12 && total % 4 == 0 && at + total <= len);
		assert_int_equal(u32_at(file + at + total - 4), total);
		if (type == 6) {
			/* Last option before the end mark: epb_flags = inbound 1, outbound 2. */
			assert_int_equal(u32_at(file + at + total - 16), 4u << 16 | 2);
			assert_int_equal(u32_at(file + at + total - 12), n_packets == 0 ? 2 : 1);
			n_packets++;
		} else if (type == 1) {
			assert_memory_equal(file + at + 20, "h0.0", 4);
		} else if (type == 5) {
			assert_int_equal(u32_at(file + at + 24), 2);
			n_stats++;
		}
		at += total;
	}
	assert_int_equal(n_packets, 2);
	assert_int_equal(n_stats, 1);
}

/* Another reader than libpcap, which knows about direction and names. */
WEFT_TEST(wireshark_reads_name_and_direction)
{
	static const char *const want[] = { "h0.0\t0x00000002\n", "h0.0\t0x00000001\n" };
	char command[256], line[64];
	FILE *out;

	if (system("command -v tshark >/dev/null") != 0)
		skip();
	start(ports[0], 0, true);
	pass(0, 0, 1);
	pass(1, 1, 1);
	assert_int_equal(weft_capture_close(ports[0], NULL), 0);
	snprintf(command, sizeof(command),
		"tshark -r %s -T fields -e frame.interface_name -e frame.packet_flags 2>/dev/null",
		path);
	out = popen(command, "r");
	assert_non_null(out);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(want); i++) {
		assert_non_null(fgets(line, sizeof(line), out));
		assert_string_equal(line, want[i]);
	}
	assert_null(fgets(line, sizeof(line), out));
	assert_int_equal(pclose(out), 0);
}

WEFT_TEST(frame_not_taken_is_not_in_the_file)
{
	struct rte_mbuf *mbufs[WEFT_PORT_BURST_MAX];
	struct weft_capture_stats s;
	uint16_t taken = 0;
	pcap_t *p;

	start(ports[0], 0, true);
	for (uint32_t i = 0; i < 1030; i += 10) {
		uint16_t now;

		for (uint16_t m = 0; m < 10; m++)
			mbufs[m] = test_frame(pool, i + m, len_of(i + m));
		now = weft_port_tx(ports[0], mbufs, 10);
		rte_pktmbuf_free_bulk(mbufs + now, (unsigned int)(10 - now));
		taken = (uint16_t)(taken + now);
	}
	assert_int_equal(taken, 1024);
	assert_int_equal(weft_capture_close(ports[0], &s), 0);
	assert_int_equal(s.frames, 1024);
	p = read_back();
	for (uint32_t i = 0; i < 1024; i++)
		next_is(p, i);
	ends(p);
}

WEFT_TEST(full_ring_drops_the_copy_and_counts_it)
{
	struct weft_capture_stats s;

	start(ports[0], 1, false);
	/* Of each burst at most one copy finds a slot; each frame passes all the same. */
	for (uint32_t i = 0; i < 1000; i += 50)
		pass(0, i, 50);
	assert_int_equal(weft_capture_stats(ports[0], &s), 0);
	assert_int_equal(s.frames + s.dropped, 1000);
	assert_true(s.dropped >= 980);
	assert_int_equal(weft_capture_close(ports[0], &s), 0);
	assert_int_equal(s.written, s.frames);
	assert_int_equal(weft_capture_stats(ports[0], &s), -ENOENT);
}

WEFT_TEST(full_disk_is_told_and_traffic_goes_on)
{
	const struct weft_capture_cfg cfg = { .path = "/dev/full" };
	char err[256] = "";

	if (access("/dev/full", W_OK) != 0)
		skip();
	assert_int_equal(weft_capture_open(ports[0], &cfg, err, sizeof(err)), -ENOSPC);
	assert_string_equal(err, "capture of port h0.0 to /dev/full: No space left on device");
	pass(0, 0, 50);
}

/* Until everything that was handed over has been written, or thrown away. */
static void
wait_stats(struct weft_capture_stats *s, bool (*is_so)(const struct weft_capture_stats *))
{
	for (int i = 0; i < 10000; i++) {
		assert_int_equal(weft_capture_stats(ports[0], s), 0);
		if (is_so(s))
			return;
		usleep(1000);
	}
	fail_msg("waited in vain");
}

static bool
has_failed(const struct weft_capture_stats *s)
{
	return s->error != 0;
}

static bool
is_full(const struct weft_capture_stats *s)
{
	return s->is_full;
}

WEFT_TEST(disk_that_fills_up_ends_the_file)
{
	struct rlimit was, limit;
	struct weft_capture_stats s;

	/* A limit of the process's files is as good as a full disk, and needs no right. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	limit = (struct rlimit){ .rlim_cur = 65536, .rlim_max = was.rlim_max };
	start(ports[0], 0, true);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	pass_many(0, 200);
	wait_stats(&s, has_failed);
	assert_int_equal(s.error, EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	pass(0, 200, 50);
	assert_int_equal(weft_capture_close(ports[0], &s), -EFBIG);
	assert_int_equal(s.frames, 250);
	assert_true(s.written < 250);
}

WEFT_TEST(limit_ends_the_file_whole)
{
	const struct weft_capture_cfg cfg = {
		.path = path, .limit_bytes = 65536, .lossless = true
	};
	struct weft_capture_stats s;
	uint64_t in_file = 0;
	struct pcap_pkthdr *head;
	const u_char *bytes;
	char err[PCAP_ERRBUF_SIZE];
	struct stat st;
	pcap_t *p;

	assert_int_equal(weft_capture_open(ports[0], &cfg, err, sizeof(err)), 0);
	pass_many(0, 200);
	wait_stats(&s, is_full);
	assert_int_equal(weft_capture_close(ports[0], &s), 0);
	assert_int_equal(s.frames, 200);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, s.bytes);
	assert_true(s.bytes <= cfg.limit_bytes && s.bytes > cfg.limit_bytes - FRAME_MAX - 100);
	p = pcap_open_offline(path, err);
	assert_non_null(p);
	while (pcap_next_ex(p, &head, &bytes) == 1)
		in_file++;
	assert_int_equal(in_file, s.written);
	pcap_close(p);
}

static char fifo[64];

static void
make_fifo(void)
{
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
}

/* A FIFO whose reader takes nothing ends the capture, not the node. */
static void
leave_reader(void)
{
	const struct weft_capture_cfg cfg = {
		.path = fifo, .lossless = true, .ring_frames = 64, .stall_ms = 200
	};
	struct weft_capture_stats s;
	char err[256];
	int reader;

	make_fifo();
	assert_int_equal(weft_capture_open(ports[0], &cfg, err, sizeof(err)), -ENXIO);
	assert_non_null(strstr(err, "start the reader first"));
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_int_equal(weft_capture_open(ports[0], &cfg, err, sizeof(err)), 0);
	pass_many(0, 500);
	wait_stats(&s, has_failed);
	assert_int_equal(s.error, ETIMEDOUT);
	assert_int_equal(weft_capture_close(ports[0], &s), -ETIMEDOUT);
	assert_int_equal(s.frames, 500);
	close(reader);
	assert_int_equal(unlink(fifo), 0);
}

WEFT_TEST(reader_that_does_not_read_is_left)
{
	leave_reader();
}

WEFT_TEST(signals_do_not_keep_a_reader_that_does_not_read)
{
	atomic_store(&is_interrupted, true);
	leave_reader();
	atomic_store(&is_interrupted, false);
}

/* What came out of a FIFO, to where read_back() finds it. */
static void
keep(int from)
{
	const int to = open(path, O_WRONLY | O_TRUNC);
	char bytes[4096];
	ssize_t n;

	assert_true(to >= 0);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		assert_int_equal(write(to, bytes, (size_t)n), n);
	assert_int_equal(n, 0);
	close(to);
}

/* All that is written fits in the FIFO, and most in pieces: a burst is far more than PIPE_BUF. */
static bool
capture_with_a_failure(const char *name, int error, unsigned int nth)
{
	const struct weft_capture_cfg cfg = { .path = fifo, .lossless = true };
	struct weft_capture_stats s;
	char err[256] = "";
	bool has_failed_once;
	int reader;
	pcap_t *p;

	make_fifo();
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	weft_fail_set(name, error, nth);
	if (weft_capture_open(ports[0], &cfg, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	pass(0, 0, 40);
	assert_int_equal(weft_capture_close(ports[0], &s), 0);
	has_failed_once = weft_fail_end();
	assert_int_equal(s.written, 40);
	keep(reader);
	close(reader);
	assert_int_equal(unlink(fifo), 0);
	p = read_back();
	for (uint32_t i = 0; i < 40; i++)
		next_is(p, i);
	ends(p);
	return has_failed_once;
}

WEFT_TEST(signal_does_not_end_a_capture)
{
	weft_fail_each("poll", EINTR, capture_with_a_failure);
}

WEFT_TEST(bad_requests_are_refused)
{
	struct weft_capture_cfg cfg = { .path = "/proc/none/such" };
	char err[256] = "";

	assert_int_equal(weft_capture_open(ports[0], &cfg, err, sizeof(err)), -ENOENT);
	cfg.path = "";
	assert_int_equal(weft_capture_open(ports[0], &cfg, err, sizeof(err)), -EINVAL);
	start(ports[0], 0, false);
	cfg.path = path;
	assert_int_equal(weft_capture_open(ports[0], &cfg, err, sizeof(err)), -EBUSY);
	assert_int_equal(weft_capture_close(ports[0], NULL), 0);
	assert_int_equal(weft_capture_close(ports[0], NULL), -ENOENT);
	/* Closing the port ends its capture: the file is whole (close_ports() follows). */
	start(ports[0], 0, false);
}

static unsigned int
send_one(void *arg)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	(void)arg;
	if (m == NULL)
		return 0;
	memset(rte_pktmbuf_append(m, 60), 0x5A, 60);
	if (weft_port_tx(ports[0], &m, 1) == 1)
		return 1;
	rte_pktmbuf_free(m);
	return 0;
}

static unsigned int
receive_all(void *arg)
{
	struct rte_mbuf *mbufs[WEFT_PORT_BURST_MAX];
	uint16_t n = weft_port_rx(ports[1], mbufs, WEFT_PORT_BURST_MAX);

	(void)arg;
	rte_pktmbuf_free_bulk(mbufs, n);
	return n;
}

/* Two lcores at work while captures of both ends come and go. */
WEFT_TEST(captures_come_and_go_while_traffic_flows)
{
	const struct weft_poll tx = { send_one, NULL }, rx = { receive_all, NULL };
	const struct weft_loop_cfg cfg[2] = {
		{ .lcore = 1, .idle = WEFT_IDLE_YIELD, .polls = &tx, .n_polls = 1 },
		{ .lcore = 2, .idle = WEFT_IDLE_YIELD, .polls = &rx, .n_polls = 1 },
	};
	struct weft_loop *loops[2];

	for (int i = 0; i < 2; i++) {
		loops[i] = weft_loop_create(&cfg[i]);
		assert_non_null(loops[i]);
		assert_int_equal(weft_loop_launch(loops[i]), 0);
	}
	for (int i = 0; i < 20; i++) {
		struct weft_capture_stats s;
		unsigned int ms = 0;
		struct pcap_pkthdr *h;
		const u_char *bytes;
		uint64_t n = 0;
		pcap_t *p;

		start(ports[i % 2], 256, i % 4 < 2);
		do {
			usleep(1000);
			assert_int_equal(weft_capture_stats(ports[i % 2], &s), 0);
		} while (s.frames < 200 && ++ms < 5000);
		assert_true(s.frames >= 200);
		assert_int_equal(weft_capture_close(ports[i % 2], &s), 0);
		p = read_back();
		while (pcap_next_ex(p, &h, &bytes) == 1) {
			assert_int_equal(h->caplen, 60);
			assert_int_equal(bytes[59], 0x5A);
			n++;
		}
		pcap_close(p);
		assert_int_equal(n, s.written);
		assert_int_equal(s.written, s.frames);
	}
	for (int i = 0; i < 2; i++) {
		weft_loop_stop(loops[i]);
		weft_loop_join(loops[i]);
		weft_loop_free(loops[i]);
	}
}

int
main(void)
{
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	test_eal_start("(0-2)@0");
	pool = test_pool("capture", 2047, 15);
	failed = weft_test_run();
	rte_mempool_free(pool);
	weft_eal_stop();
	unlink(path);
	return failed;
}
