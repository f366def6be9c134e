/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Reads and writes traces: pcap and pcapng, Ethernet or raw flits (encapsulation.md section 4). */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_LINK_ETHERNET 1
#define TRACE_LINK_RAW_FLITS 147 /* LINKTYPE_USER0 */

struct trace;

/** A packet as the file has it. */
struct trace_packet {
	uint64_t time_ns;
	bool has_time; /* false: time_ns is that of the packet before */
	uint8_t direction; /* enum weft_pcap_direction */
	uint16_t link; /* of its interface: any */
	const uint8_t *data; /* valid until the next read */
	uint32_t len; /* bytes at data */
	bool is_whole; /* false: the capture cut it short */
};

enum trace_read {
	TRACE_PACKET,
	TRACE_END,
	TRACE_TRUNCATED, /* the file ends inside a record */
	TRACE_BROKEN, /* what follows is no record, or cannot be read */
};

/**
 * Open a file ("-" is standard input).
 *
 * @return NULL with a line in @p err that names the file
 */
struct trace *trace_open(const char *path, char *err, size_t err_len);

void trace_close(struct trace *t);

/** Whether it can be read more than once: a regular file can. */
bool trace_can_rewind(const struct trace *t);

/** Whether @p path names the regular file that is being read. */
bool trace_is_file(const struct trace *t, const char *path);

/**
 * What packets are to come, before the first is read: a pcapng file that describes raw flits first
 * is looked through to its end. Of one that can be read once, what it describes before its first
 * packet says it.
 *
 * @return TRACE_LINK_RAW_FLITS if there are only such packets, TRACE_LINK_ETHERNET otherwise;
 *         -errno with a line in @p err: it cannot be read again
 */
int trace_link(struct trace *t, char *err, size_t err_len);

/** Next packet. After anything but TRACE_PACKET nothing more can be read. */
enum trace_read trace_next(struct trace *t, struct trace_packet *p);

/** What trace_next() ended with, for TRACE_TRUNCATED and TRACE_BROKEN: file, byte and reason. */
const char *trace_why(const struct trace *t);

/** Back to the first packet. 0, or -errno (standard input cannot). */
int trace_rewind(struct trace *t, char *err, size_t err_len);

/** Share of the file read, 0..100, or -1 if it has no size. */
int trace_percent(const struct trace *t);

struct trace_writer;

/** Make a pcap file with nanosecond time stamps. NULL with a line in @p err. */
struct trace_writer *trace_create(const char *path, int link, char *err, size_t err_len);

void trace_write(struct trace_writer *w, uint64_t time_ns, const uint8_t *data, uint32_t len);

/** False: a write failed, so that nothing more need be made. */
bool trace_is_writable(const struct trace_writer *w);

/** Flush and close. 0, or -errno: it could not be written whole; a regular file is removed then. */
int trace_finish(struct trace_writer *w);

#endif /* TRACE_H */
