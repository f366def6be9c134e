/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Trace files that cannot be read or written to their end: what stood before comes all the same,
 * and the reason names the file and the byte.
 */

#include "weft_fail.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace.h"
#include "weft_pcap.h"

WEFT_FAIL(void *, calloc, (size_t n, size_t len), (n, len), NULL)
WEFT_FAIL(void *, malloc, (size_t len), (len), NULL)
WEFT_FAIL(void *, realloc, (void *at, size_t len), (at, len), NULL)
WEFT_FAIL(char *, strdup, (const char *s), (s), NULL)
WEFT_FAIL(int, fstat64, (int fd, struct stat *st), (fd, st), -1)
WEFT_FAIL(off_t, lseek64, (int fd, off_t to, int from), (fd, to, from), -1)
WEFT_FAIL(ssize_t, read, (int fd, void *to, size_t len), (fd, to, len), -1)

#define LARGE (1u << 19) /* more than the reader begins with */

static char folder[] = "/tmp/weft-trace-XXXXXX";
static char path[64], other[64];
static uint8_t data[LARGE];

/* A file of three packets; the last is large. */
static void
write_file(int link)
{
	char err[256];
	struct trace_writer *w = trace_create(path, link, err, sizeof(err));

	assert_non_null(w);
	trace_write(w, 1000, data, 256);
	trace_write(w, 2000, data, 512);
	trace_write(w, 3000, data, LARGE);
	assert_int_equal(trace_finish(w), 0);
}

static struct trace *
open_file(void)
{
	char err[256] = "";
	struct trace *t = trace_open(path, err, sizeof(err));

	if (t == NULL)
		fail_msg("%s", err);
	return t;
}

static bool
no_trace(const char *name, int error, unsigned int nth)
{
	char err[256] = "";
	struct trace *t;
	bool failed;

	weft_fail_set(name, error, nth);
	t = trace_open(path, err, sizeof(err));
	failed = weft_fail_end();
	assert_int_equal(t == NULL, failed);
	if (failed && (strncmp(err, path, strlen(path)) != 0 || strchr(err, '\n') != NULL))
		fail_msg("said: %s", err);
	if (t != NULL)
		trace_close(t);
	return failed;
}

static bool
no_writer(const char *name, int error, unsigned int nth)
{
	char err[256] = "";
	struct trace_writer *w;
	bool failed;

	weft_fail_set(name, error, nth);
	w = trace_create(other, TRACE_LINK_ETHERNET, err, sizeof(err));
	failed = weft_fail_end();
	assert_int_equal(w == NULL, failed);
	assert_int_equal(strncmp(err, other, strlen(other)) == 0, failed);
	if (w != NULL)
		assert_int_equal(trace_finish(w), 0);
	return failed;
}

WEFT_TEST(a_file_is_opened_or_named)
{
	write_file(TRACE_LINK_ETHERNET);
	weft_fail_each("calloc", ENOMEM, no_trace);
	weft_fail_each("strdup", ENOMEM, no_trace);
	weft_fail_each("malloc", ENOMEM, no_trace);
	weft_fail_each("fstat64", EIO, no_trace);
	weft_fail_each("calloc", ENOMEM, no_writer);
	assert_int_equal(unlink(other), 0);
}

/* Two packets come, and then what @p want says. */
static void
ends_with(struct trace *t, enum trace_read end, const char *want)
{
	struct trace_packet p;

	assert_int_equal(trace_next(t, &p), TRACE_PACKET);
	assert_int_equal(p.len, 256);
	assert_true(p.is_whole && p.has_time && p.time_ns == 1000);
	assert_int_equal(trace_next(t, &p), TRACE_PACKET);
	assert_int_equal(p.len, 512);
	assert_int_equal(trace_next(t, &p), end);
	if (want != NULL && strstr(trace_why(t), want) == NULL)
		fail_msg("said: %s", trace_why(t));
	trace_close(t);
}

/* The first read is that of opening, the next comes with the large packet. */
WEFT_TEST(what_stood_before_a_failure_comes)
{
	struct trace *t;

	write_file(TRACE_LINK_ETHERNET);
	t = open_file();
	weft_fail_set("realloc", ENOMEM, 1);
	ends_with(t, TRACE_BROKEN, "f: byte 262144: Cannot allocate memory");
	assert_true(weft_fail_end());
	t = open_file();
	weft_fail_set("read", EIO, 1);
	ends_with(t, TRACE_BROKEN, "f: byte 262144: Input/output error");
	assert_true(weft_fail_end());
	/* A signal ends the reading, and is not the file's fault. */
	t = open_file();
	weft_fail_set("read", EINTR, 1);
	ends_with(t, TRACE_END, NULL);
	assert_true(weft_fail_end());
	assert_int_equal(truncate(path, 300000), 0);
	ends_with(open_file(), TRACE_TRUNCATED, "f: ends inside the record at byte 824");
}

WEFT_TEST(a_file_can_be_read_again_and_a_pipe_not)
{
	struct trace_packet p;
	char err[256];
	struct trace *t;
	int in, pipes[2];

	write_file(TRACE_LINK_RAW_FLITS);
	t = open_file();
	assert_true(trace_can_rewind(t));
	assert_true(trace_is_file(t, path));
	assert_false(trace_is_file(t, folder));
	assert_false(trace_is_file(t, "/nonesuch"));
	assert_in_range(trace_percent(t), 0, 1);
	while (trace_next(t, &p) == TRACE_PACKET)
		;
	assert_int_equal(trace_percent(t), 100);
	weft_fail_set("lseek64", EIO, 1);
	assert_int_equal(trace_rewind(t, err, sizeof(err)), -EIO);
	assert_true(weft_fail_end());
	assert_non_null(strstr(err, "f: Input/output error"));
	assert_int_equal(trace_rewind(t, err, sizeof(err)), 0);
	ends_with(t, TRACE_PACKET, NULL);
	/* By then somebody wrote over it. */
	t = open_file();
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(trace_rewind(t, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "f: expected a pcap or pcapng file, got no bytes"));
	trace_close(t);

	write_file(TRACE_LINK_ETHERNET);
	in = dup(STDIN_FILENO);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(
		write(pipes[1], "\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0", 24),
		24);
	close(pipes[1]);
	assert_int_equal(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
	t = trace_open("-", err, sizeof(err));
	assert_non_null(t);
	assert_int_equal(trace_next(t, &p), TRACE_END);
	assert_int_equal(trace_percent(t), -1);
	assert_false(trace_is_file(t, path));
	assert_false(trace_can_rewind(t));
	assert_int_equal(trace_rewind(t, err, sizeof(err)), -ESPIPE);
	trace_close(t);
	close(pipes[0]);
	dup2(in, STDIN_FILENO);
	close(in);
}

/* A block of pcapng with a body of whole words. */
static void
put_block(FILE *f, uint32_t kind, const uint32_t *body, uint32_t words)
{
	const uint32_t len = 12 + 4 * words;

	fwrite(&kind, 4, 1, f);
	fwrite(&len, 4, 1, f);
	fwrite(body, 4, words, f);
	fwrite(&len, 4, 1, f);
}

static void
put_section(FILE *f)
{
	put_block(f, 0x0A0D0D0A, (const uint32_t[]){ 0x1A2B3C4D, 1, UINT32_MAX, UINT32_MAX }, 4);
}

/* An interface, which is the @p number-th of its section, and a packet of it. */
static void
put_interface(FILE *f, uint32_t link, uint32_t number)
{
	put_block(f, 1, (const uint32_t[]){ link, 0 }, 2);
	put_block(f, 6, (const uint32_t[]){ number, 0, 0, 4, 4, 0 }, 6);
}

/* The link type of a file as it was opened, which is then read from its first packet on. */
static int
link_of(unsigned int packets)
{
	struct trace *t = open_file();
	struct trace_packet p;
	char err[256];
	const int link = trace_link(t, err, sizeof(err));

	while (trace_next(t, &p) == TRACE_PACKET)
		packets--;
	assert_int_equal(packets, 0);
	trace_close(t);
	return link;
}

WEFT_TEST(a_file_is_of_raw_flits_if_it_has_nothing_else)
{
	char err[256];
	struct trace *t;
	FILE *f;

	write_file(TRACE_LINK_ETHERNET);
	assert_int_equal(link_of(3), TRACE_LINK_ETHERNET);
	write_file(TRACE_LINK_RAW_FLITS);
	assert_int_equal(link_of(3), TRACE_LINK_RAW_FLITS);
	f = fopen(path, "w");
	assert_non_null(f);
	put_section(f);
	put_interface(f, TRACE_LINK_RAW_FLITS, 0);
	put_interface(f, 101, 1);
	put_section(f);
	put_interface(f, TRACE_LINK_RAW_FLITS, 0);
	fflush(f);
	assert_int_equal(link_of(3), TRACE_LINK_RAW_FLITS);
	/* Behind the first packets of raw flits, in a section of its own. */
	put_section(f);
	put_interface(f, TRACE_LINK_ETHERNET, 0);
	put_interface(f, TRACE_LINK_RAW_FLITS, 1);
	fclose(f);
	assert_int_equal(link_of(5), TRACE_LINK_ETHERNET);
	t = open_file();
	weft_fail_set("lseek64", EIO, 1);
	assert_int_equal(trace_link(t, err, sizeof(err)), -EIO);
	assert_true(weft_fail_end());
	assert_non_null(strstr(err, "f: Input/output error"));
	trace_close(t);
}

WEFT_TEST(a_disk_that_is_full_is_noticed)
{
	char err[256];
	struct trace_writer *w;

	if (access("/dev/full", W_OK) != 0)
		skip();
	/* While it is written, and when what is left is written at the end. */
	w = trace_create("/dev/full", TRACE_LINK_ETHERNET, err, sizeof(err));
	assert_non_null(w);
	trace_write(w, 0, data, LARGE);
	assert_int_equal(trace_finish(w), -ENOSPC);
	w = trace_create("/dev/full", TRACE_LINK_ETHERNET, err, sizeof(err));
	assert_non_null(w);
	assert_int_equal(trace_finish(w), -ENOSPC);
}

/* Whoever reads a part must not take it for the whole. */
WEFT_TEST(a_trace_that_is_cut_does_not_stay)
{
	struct rlimit before, limit;
	struct trace_writer *w;
	char err[256];

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){ .rlim_cur = LARGE / 2, .rlim_max = before.rlim_max };
	w = trace_create(other, TRACE_LINK_ETHERNET, err, sizeof(err));
	assert_non_null(w);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	trace_write(w, 0, data, LARGE);
	assert_false(trace_is_writable(w));
	assert_int_equal(trace_finish(w), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_not_equal(access(other, F_OK), 0);
}

int
main(void)
{
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/f", folder);
	snprintf(other, sizeof(other), "%s/o", folder);
	failed = weft_test_run();
	unlink(path);
	rmdir(folder);
	return failed;
}
