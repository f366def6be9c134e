/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Capture files: pcap (microseconds and nanoseconds) and pcapng, in either byte order, read record
 * by record from bytes that the caller holds; pcap is written too. Pure functions: no file, no
 * allocation. encapsulation.md section 4 says what Weft expects in such a file.
 *
 * A pcapng file may change its byte order from section to section, and each interface of a section
 * has a link type, snapshot length, time resolution and time offset of its own.
 */
#ifndef WEFT_PCAP_H
#define WEFT_PCAP_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** Bytes of the longest record (a packet with its header, any other block): 16 MiB. */
#define WEFT_PCAP_RECORD_MAX (1u << 24)
/** Interfaces of one pcapng section. */
#define WEFT_PCAP_INTERFACES_MAX 1024u

/** An interface; a pcap file has one. */
struct weft_pcap_if {
	uint16_t link; /**< a LINKTYPE */
	uint8_t resolution; /**< as if_tsresol: a power of ten, or with bit 7 of two */
	uint32_t snaplen; /**< 0: no limit */
	int64_t offset_s; /**< seconds to add to its time stamps */
};

/** A file that is being read, from weft_pcap_begin() on. Private, but for @p offset. */
struct weft_pcap {
	uint64_t offset; /**< bytes consumed: where the next record begins */
	uint64_t time_ns; /* of the last packet that had one */
	uint8_t format; /* enum pcap_format */
	bool is_big_endian;
	uint32_t n_ifs;
	struct weft_pcap_if ifs[WEFT_PCAP_INTERFACES_MAX];
};

/** Which way a packet went by where it was captured: epb_flags of pcapng, bits 1:0. */
enum weft_pcap_direction { WEFT_PCAP_UNKNOWN, WEFT_PCAP_IN, WEFT_PCAP_OUT };

/** A packet as the file has it. */
struct weft_pcap_packet {
	uint64_t time_ns; /**< since 1970, clamped; without one, that of the packet before */
	bool has_time;
	uint8_t direction; /**< enum weft_pcap_direction */
	uint16_t link; /**< of its interface */
	uint32_t len; /**< bytes at @p data */
	uint32_t wire_len; /**< bytes that the wire carried */
	const uint8_t *data; /**< in the caller's bytes */
};

enum weft_pcap_status {
	WEFT_PCAP_PACKET, /**< a packet */
	WEFT_PCAP_OTHER, /**< a record without a packet; go on */
	WEFT_PCAP_MORE, /**< the record does not end in these bytes */
	WEFT_PCAP_BROKEN, /**< no record of a capture file: nothing after it can be read */
};

/** Results of weft_pcap_next(). */
struct weft_pcap_record {
	size_t used; /**< PACKET, OTHER: bytes of the record */
	size_t needed; /**< MORE: bytes to be there at the next call, more than now */
	struct weft_pcap_packet packet; /**< PACKET */
	/* BROKEN: "byte OFFSET: WHAT: expected EXPECTED, got GOT" */
	uint64_t offset;
	const char *what;
	const char *expected;
	uint64_t got;
	bool is_hex; /**< how people write @p got */
};

/** Begin to read a file at its first byte. */
void weft_pcap_begin(struct weft_pcap *p);

/**
 * Read the next record.
 *
 * @param bytes  those at p->offset of the file; to be the same, or more of them, after MORE
 * @param len    how many; fewer than a record has is MORE, never an error
 * @param r      set as the status says; valid until the bytes go
 * @return the status; @p p moves past the record at PACKET and OTHER, and stays else
 */
enum weft_pcap_status weft_pcap_next(
	struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r);

/** True if an interface of the section read last has that link type: so far, in pcapng. */
bool weft_pcap_has_link(const struct weft_pcap *p, uint16_t link);

/** True if the file is pcapng; false before its first record. */
bool weft_pcap_is_ng(const struct weft_pcap *p);

/* Writing: pcap with nanoseconds, in this machine's byte order. */

#define WEFT_PCAP_FILE_HEADER_LEN 24u
#define WEFT_PCAP_PACKET_HEADER_LEN 16u

/** Write the header of a file at @p out. @p snaplen: bytes of the longest packet. */
void weft_pcap_put_file_header(
	uint8_t out[WEFT_PCAP_FILE_HEADER_LEN], uint16_t link, uint32_t snaplen);

/** Write the header of a whole packet of @p len bytes at @p out. Seconds wrap in 2106. */
void weft_pcap_put_packet_header(
	uint8_t out[WEFT_PCAP_PACKET_HEADER_LEN], uint64_t time_ns, uint32_t len);

WEFT_END_DECLS

#endif /* WEFT_PCAP_H */
