/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Trace files for the readers of lib/frame: one buffer, as long as the longest record so far, that
 * they read from in place.
 */

#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "weft_file.h"
#include "weft_pcap.h"

#define BUFFER_MIN (1u << 18)
#define SNAPLEN 65535u

struct trace {
	int fd;
	char *path;
	long long size; /* -1: unknown */
	uint8_t *buf;
	size_t room;
	size_t from, to; /* what of it is read and not consumed */
	bool is_at_end; /* of the file */
	bool has_next; /* trace_start() went so far to learn the link type */
	enum trace_read next;
	struct weft_pcap_record record;
	struct weft_pcap pcap;
	char why[512]; /* it was TRACE_TRUNCATED or TRACE_BROKEN */
};

struct trace_writer {
	FILE *file;
	int error; /* errno of the first write that failed */
	char path[];
};

/* Have at least @p needed bytes from `from` on. 1; 0: the file ends before; -errno. */
static int
trace_fill(struct trace *t, size_t needed)
{
	uint8_t *more;
	ssize_t n;

	if (t->from > 0) {
		memmove(t->buf, t->buf + t->from, t->to - t->from);
		t->to -= t->from;
		t->from = 0;
	}
	if (needed > t->room) {
		more = realloc(t->buf, needed);
		if (more == NULL)
			return -ENOMEM;
		t->buf = more;
		t->room = needed;
	}
	while (t->to < needed && !t->is_at_end) {
		n = read(t->fd, t->buf + t->to, t->room - t->to);
		if (n < 0)
			return -errno;
		t->is_at_end = n == 0;
		t->to += (size_t)n;
	}
	return t->to >= needed;
}

/* The file's end, inside a record or not. */
static enum trace_read
trace_ended(struct trace *t, size_t needed)
{
	const size_t have = t->to - t->from;

	if (have == 0)
		return TRACE_END;
	snprintf(t->why, sizeof(t->why),
		"%s: ends inside the record at byte %" PRIu64
		", of which it has %zu of %s%zu bytes",
		t->path, t->pcap.offset, have, needed <= 16 ? "at least " : "", needed);
	return TRACE_TRUNCATED;
}

static enum trace_read
trace_broken(struct trace *t)
{
	const struct weft_pcap_record *r = &t->record;

	snprintf(t->why, sizeof(t->why),
		r->is_hex ? "%s: byte %" PRIu64 ": %s: expected %s, got %" PRIx64
			  : "%s: byte %" PRIu64 ": %s: expected %s, got %" PRIu64,
		t->path, r->offset, r->what, r->expected, r->got);
	return TRACE_BROKEN;
}

static enum trace_read
trace_unreadable(struct trace *t, int error)
{
	if (error == EINTR)
		return TRACE_END; /* a signal ends the run, and this is not the file's fault */
	snprintf(t->why, sizeof(t->why), "%s: byte %" PRIu64 ": %s", t->path,
		t->pcap.offset + (t->to - t->from), strerror(error));
	return TRACE_BROKEN;
}

/* Next packet, or the end. */
static enum trace_read
trace_record(struct trace *t)
{
	int rc;

	for (;;) {
		switch (weft_pcap_next(&t->pcap, t->buf + t->from, t->to - t->from, &t->record)) {
		case WEFT_PCAP_PACKET: t->from += t->record.used; return TRACE_PACKET;
		case WEFT_PCAP_OTHER: t->from += t->record.used; break;
		case WEFT_PCAP_BROKEN: return trace_broken(t);
		case WEFT_PCAP_MORE:
			rc = trace_fill(t, t->record.needed);
			if (rc < 0)
				return trace_unreadable(t, -rc);
			if (rc == 0)
				return trace_ended(t, t->record.needed);
			break;
		}
	}
}

/* Read up to the first packet. What a file holds is known then, or that it is none. */
static int
trace_start(struct trace *t, char *err, size_t err_len)
{
	weft_pcap_begin(&t->pcap);
	t->from = t->to = 0;
	t->is_at_end = false;
	t->next = trace_record(t);
	t->has_next = true;
	if (t->pcap.offset == 0) {
		if (t->next == TRACE_END)
			snprintf(err, err_len, "%s: expected a pcap or pcapng file, got no bytes",
				t->path);
		else
			snprintf(err, err_len, "%s", t->why);
		return -EINVAL;
	}
	if (!weft_pcap_is_ng(&t->pcap) && !weft_pcap_has_link(&t->pcap, TRACE_LINK_ETHERNET) &&
		!weft_pcap_has_link(&t->pcap, TRACE_LINK_RAW_FLITS))
		return weft_errorf(err, err_len, -EINVAL,
			"%s: expected link type 1 (Ethernet) or 147 (raw flits), got %u", t->path,
			(unsigned int)t->pcap.ifs[0].link);
	return 0;
}

static int
trace_open_file(struct trace *t, char *err, size_t err_len)
{
	struct stat st;

	t->fd = strcmp(t->path, "-") == 0 ? dup(STDIN_FILENO) : open(t->path, O_RDONLY | O_CLOEXEC);
	if (t->fd < 0 || fstat(t->fd, &st) != 0)
		return weft_errorf(err, err_len, -errno, "%s: %s", t->path, strerror(errno));
	t->size = S_ISREG(st.st_mode) ? st.st_size : -1;
	return trace_start(t, err, err_len);
}

struct trace *
trace_open(const char *path, char *err, size_t err_len)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (t != NULL) {
		t->fd = -1;
		t->path = strdup(path);
		t->room = BUFFER_MIN;
		t->buf = malloc(t->room);
	}
	if (t == NULL || t->path == NULL || t->buf == NULL) {
		snprintf(err, err_len, "%s: out of memory", path);
	} else if (trace_open_file(t, err, err_len) == 0) {
		return t;
	}
	if (t != NULL)
		trace_close(t);
	return NULL;
}

void
trace_close(struct trace *t)
{
	if (t->fd >= 0)
		close(t->fd);
	free(t->buf);
	free(t->path);
	free(t);
}

bool
trace_can_rewind(const struct trace *t)
{
	return t->size >= 0;
}

bool
trace_is_file(const struct trace *t, const char *path)
{
	struct stat in, other;

	return t->size >= 0 && fstat(t->fd, &in) == 0 && stat(path, &other) == 0 &&
	       in.st_dev == other.st_dev && in.st_ino == other.st_ino;
}

enum trace_read
trace_next(struct trace *t, struct trace_packet *p)
{
	const struct weft_pcap_packet *from = &t->record.packet;
	const enum trace_read got = t->has_next ? t->next : trace_record(t);

	t->has_next = false;
	if (got == TRACE_PACKET)
		*p = (struct trace_packet){
			.time_ns = from->time_ns,
			.has_time = from->has_time,
			.direction = from->direction,
			.link = from->link,
			.data = from->data,
			.len = from->len,
			.is_whole = from->len >= from->wire_len,
		};
	return got;
}

const char *
trace_why(const struct trace *t)
{
	return t->why;
}

int
trace_rewind(struct trace *t, char *err, size_t err_len)
{
	if (!trace_can_rewind(t))
		return weft_errorf(err, err_len, -ESPIPE,
			"%s: not a regular file, cannot be read twice", t->path);
	if (lseek(t->fd, 0, SEEK_SET) != 0)
		return weft_errorf(err, err_len, -errno, "%s: %s", t->path, strerror(errno));
	return trace_start(t, err, err_len);
}

static bool
trace_describes_raw_alone(const struct trace *t)
{
	return weft_pcap_has_link(&t->pcap, TRACE_LINK_RAW_FLITS) &&
	       !weft_pcap_has_link(&t->pcap, TRACE_LINK_ETHERNET);
}

int
trace_link(struct trace *t, char *err, size_t err_len)
{
	bool is_raw = trace_describes_raw_alone(t);
	enum trace_read got = t->next;
	int rc = 0;

	/* Interfaces may be described anywhere, and each section has its own. */
	if (is_raw && weft_pcap_is_ng(&t->pcap) && trace_can_rewind(t)) {
		for (; got == TRACE_PACKET && is_raw; got = trace_record(t))
			is_raw = t->record.packet.link != TRACE_LINK_ETHERNET;
		rc = trace_rewind(t, err, err_len);
	}
	if (rc != 0)
		return rc;
	return is_raw ? TRACE_LINK_RAW_FLITS : TRACE_LINK_ETHERNET;
}

int
trace_percent(const struct trace *t)
{
	if (t->size <= 0)
		return -1;
	return t->pcap.offset >= (uint64_t)t->size
	               ? 100
	               : (int)(t->pcap.offset * 100 / (uint64_t)t->size);
}

static void
trace_writer_put(struct trace_writer *w, const void *data, size_t len)
{
	if (fwrite(data, 1, len, w->file) != len && w->error == 0)
		w->error = errno != 0 ? errno : EIO;
}

struct trace_writer *
trace_create(const char *path, int link, char *err, size_t err_len)
{
	const size_t path_len = strlen(path) + 1;
	struct trace_writer *w = calloc(1, sizeof(*w) + path_len);
	uint8_t header[WEFT_PCAP_FILE_HEADER_LEN];

	if (w == NULL) {
		snprintf(err, err_len, "%s: out of memory", path);
		return NULL;
	}
	memcpy(w->path, path, path_len);
	w->file = strcmp(path, "-") == 0 ? stdout : weft_file_stream(path);
	if (w->file == NULL) {
		snprintf(err, err_len, "%s: %s", path, weft_file_error(-errno));
		free(w);
		return NULL;
	}
	weft_pcap_put_file_header(header, (uint16_t)link, SNAPLEN);
	trace_writer_put(w, header, sizeof(header)); /* trace_finish() asks whether all went well */
	return w;
}

void
trace_write(struct trace_writer *w, uint64_t time_ns, const uint8_t *data, uint32_t len)
{
	uint8_t header[WEFT_PCAP_PACKET_HEADER_LEN];

	weft_pcap_put_packet_header(header, time_ns, len);
	trace_writer_put(w, header, sizeof(header));
	trace_writer_put(w, data, len);
}

bool
trace_is_writable(const struct trace_writer *w)
{
	return !ferror(w->file);
}

int
trace_finish(struct trace_writer *w)
{
	int rc = -w->error;

	if (w->file != stdout)
		rc = weft_file_close(w->file, w->path, rc);
	else if (fflush(stdout) != 0 && rc == 0)
		rc = -errno;
	free(w);
	return rc;
}
