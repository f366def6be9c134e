/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Capture files made here, byte by byte, in both byte orders; read whole, in every possible cut and
 * with every field that a reader may trip over wrong. Bytes to be read lie in a heap block of their
 * own length, so that a sanitizer sees a read past it.
 */

#include "weft_test.h"

#include "weft_pcap.h"

#define S UINT64_C(1000000000)
#define ROOM 4096

enum { SHB = 0x0A0D0D0A, IDB = 1, OLD = 2, SPB = 3, NRB = 4, ISB = 5, EPB = 6, CUSTOM = 0xBAD };

/* A file as it is made. */
struct file {
	bool is_big_endian;
	size_t len;
	size_t block; /* where the open block begins */
	uint8_t bytes[ROOM];
};

static void
put(struct file *f, const void *p, size_t len)
{
	assert_true(f->len + len <= sizeof(f->bytes));
	memcpy(f->bytes + f->len, p, len);
	f->len += len;
}

static void
put16(struct file *f, uint16_t v)
{
	v = f->is_big_endian ? htobe16(v) : htole16(v);
	put(f, &v, sizeof(v));
}

static void
put32(struct file *f, uint32_t v)
{
	v = f->is_big_endian ? htobe32(v) : htole32(v);
	put(f, &v, sizeof(v));
}

static void
put64(struct file *f, uint64_t v)
{
	v = f->is_big_endian ? htobe64(v) : htole64(v);
	put(f, &v, sizeof(v));
}

static void
block_begin(struct file *f, uint32_t type)
{
	f->block = f->len;
	put32(f, type);
	put32(f, 0);
}

static void
block_end(struct file *f)
{
	static const uint8_t zeros[4];
	uint32_t total;

	put(f, zeros, -f->len % 4);
	total = (uint32_t)(f->len + 4 - f->block);
	put32(f, total);
	total = f->is_big_endian ? htobe32(total) : htole32(total);
	memcpy(f->bytes + f->block + 4, &total, sizeof(total));
}

static void
section(struct file *f, bool is_big_endian)
{
	f->is_big_endian = is_big_endian;
	block_begin(f, SHB);
	put32(f, 0x1A2B3C4D);
	put16(f, 1);
	put16(f, 0);
	put64(f, UINT64_MAX);
	put16(f, 4); /* shb_userappl, which says nothing to us */
	put16(f, 5);
	put(f, "tests\0\0", 8);
	put32(f, 0);
	block_end(f);
}

/* Without options where @p resolution and @p offset are those of an interface that has none. */
static void
interface(struct file *f, uint16_t link, uint32_t snaplen, uint8_t resolution, int64_t offset)
{
	block_begin(f, IDB);
	put16(f, link);
	put16(f, 0);
	put32(f, snaplen);
	if (resolution != 6 || offset != 0) {
		put16(f, 2); /* if_name */
		put16(f, 3);
		put(f, "eth", 4);
		put16(f, 9);
		put16(f, 1);
		put(f, &resolution, 1);
		put(f, "\0\0", 3);
		put16(f, 14);
		put16(f, 8);
		put64(f, (uint64_t)offset);
		put32(f, 0);
	}
	block_end(f);
}

static void
packet(struct file *f, uint32_t number, uint64_t ticks, const char *data, uint32_t wire_len)
{
	block_begin(f, EPB);
	put32(f, number);
	put32(f, (uint32_t)(ticks >> 32));
	put32(f, (uint32_t)ticks);
	put32(f, (uint32_t)strlen(data));
	put32(f, wire_len);
	put(f, data, strlen(data));
	put(f, "\0\0\0", -strlen(data) % 4);
	put16(f, 2); /* epb_flags */
	put16(f, 4);
	put32(f, 1);
	put32(f, 0);
	block_end(f);
}

static void
pcap_header(struct file *f, bool is_big_endian, uint32_t magic, uint32_t link)
{
	f->is_big_endian = is_big_endian;
	put32(f, magic);
	put16(f, 2);
	put16(f, 4);
	put64(f, 0);
	put32(f, 65535);
	put32(f, link);
}

static void
pcap_packet(
	struct file *f, uint32_t seconds, uint32_t fraction, const char *data, uint32_t wire_len)
{
	put32(f, seconds);
	put32(f, fraction);
	put32(f, (uint32_t)strlen(data));
	put32(f, wire_len);
	put(f, data, strlen(data));
}

/* What a file was made of, to be found in it. */
struct expected {
	uint64_t time_ns;
	bool has_time;
	uint16_t link;
	const char *data;
	uint32_t wire_len;
};

static enum weft_pcap_status
next(struct weft_pcap *p, const uint8_t *bytes, size_t len, struct weft_pcap_record *r)
{
	uint8_t *copy = malloc(len + 1);
	enum weft_pcap_status s;

	/* One byte short of nothing is no allocation: the end of the block is what is watched. */
	memcpy(copy + 1, bytes, len);
	s = weft_pcap_next(p, copy + 1, len, r);
	if (s == WEFT_PCAP_PACKET) {
		const size_t at = (size_t)(r->packet.data - copy - 1);

		assert_true(at + r->packet.len <= r->used);
		r->packet.data = bytes + at;
	}
	free(copy);
	return s;
}

static void
is_packet(const struct weft_pcap_packet *p, const struct expected *e)
{
	assert_int_equal(p->time_ns, e->time_ns);
	assert_int_equal(p->has_time, e->has_time);
	assert_int_equal(p->link, e->link);
	assert_int_equal(p->len, strlen(e->data));
	assert_int_equal(p->wire_len, e->wire_len);
	assert_memory_equal(p->data, e->data, p->len);
}

/* Read @p f giving only what is asked for, from one byte on, and find @p e in it. */
static void
is_read(const struct file *f, const struct expected *e, size_t n)
{
	struct weft_pcap *p = malloc(sizeof(*p));
	struct weft_pcap_record r;
	size_t found = 0, have = 0;

	weft_pcap_begin(p);
	while (p->offset < f->len) {
		const uint64_t before = p->offset;
		const enum weft_pcap_status s = next(p, f->bytes + before, have, &r);

		assert_int_not_equal(s, WEFT_PCAP_BROKEN);
		if (s == WEFT_PCAP_MORE) {
			assert_int_equal(p->offset, before);
			assert_true(r.needed > have);
			assert_true(before + r.needed <= f->len);
			have = r.needed;
			continue;
		}
		assert_int_equal(r.used, have);
		assert_int_equal(p->offset, before + have);
		if (s == WEFT_PCAP_PACKET) {
			assert_true(found < n);
			is_packet(&r.packet, &e[found++]);
		}
		have = 0;
	}
	assert_int_equal(found, n);
	free(p);
}

WEFT_TEST(pcap_in_both_orders_and_resolutions)
{
	for (int big = 0; big < 2; big++) {
		for (int nano = 0; nano < 2; nano++) {
			struct file f = { 0 };
			const struct expected e[] = {
				{ S * 4294967295u + (nano ? 999 : 999000), true, 147, "abc", 3 },
				{ 7 * S, true, 147, "", 0 },
				{ 0, true, 147, "defgh", 4000000000u },
			};

			/* Bits 26 and up of the link type are about a frame check sequence. */
			pcap_header(&f, big, nano ? 0xA1B23C4D : 0xA1B2C3D4, 0xF4000093);
			pcap_packet(&f, UINT32_MAX, 999, "abc", 3);
			pcap_packet(&f, 7, 0, "", 0);
			pcap_packet(&f, 0, 0, "defgh", 4000000000u);
			is_read(&f, e, WEFT_ARRAY_SIZE(e));
		}
	}
}

WEFT_TEST(sections_of_either_order_have_interfaces_of_their_own)
{
	struct file f = { 0 };
	const struct expected e[] = {
		{ 0, false, 1, "first", 9 },
		{ 5 * S + 7, true, 147, "raw", 3 },
		{ 3000, true, 1, "ether", 5 },
		{ 3000, false, 1, "cut", 9 },
		{ S / 2, true, 228, "other", 5 },
		{ UINT64_C(1700000000) * S + S / 4, true, 1, "later", 64 },
	};

	section(&f, false);
	interface(&f, 1, 5, 6, 0);
	block_begin(&f, SPB); /* "first": five of nine bytes, by the interface's snaplen */
	put32(&f, 9);
	put(&f, "first", 5);
	block_end(&f);
	interface(&f, 147, 65535, 9, 5);
	packet(&f, 1, 7, "raw", 3);
	packet(&f, 0, 3, "ether", 5);
	section(&f, true);
	interface(&f, 1, 3, 6, 0);
	interface(&f, 228, 0, 0x81, 0);
	block_begin(&f, CUSTOM);
	put32(&f, 32473);
	block_end(&f);
	block_begin(&f, SPB);
	put32(&f, 9);
	put(&f, "cut", 3);
	block_end(&f);
	block_begin(&f, OLD);
	put16(&f, 1);
	put16(&f, 0xFFFF);
	put64(&f, 1);
	put32(&f, 5);
	put32(&f, 5);
	put(&f, "other", 5);
	block_end(&f);
	block_begin(&f, ISB);
	put64(&f, 0);
	put32(&f, 0);
	block_end(&f);
	section(&f, false);
	interface(&f, 1, 0, 0x82, 1700000000);
	block_begin(&f, NRB);
	put32(&f, 0);
	block_end(&f);
	packet(&f, 0, 1, "later", 64);
	is_read(&f, e, WEFT_ARRAY_SIZE(e));
}

WEFT_TEST(links_are_those_of_the_section)
{
	struct weft_pcap p;
	struct weft_pcap_record r;
	struct file f = { 0 };
	size_t second;

	section(&f, false);
	interface(&f, 1, 0, 6, 0);
	second = f.len;
	section(&f, true);
	interface(&f, 147, 0, 6, 0);
	weft_pcap_begin(&p);
	assert_false(weft_pcap_is_ng(&p));
	while (p.offset < second)
		assert_int_equal(weft_pcap_next(&p, f.bytes + p.offset, f.len - p.offset, &r),
			WEFT_PCAP_OTHER);
	assert_true(weft_pcap_is_ng(&p));
	assert_true(weft_pcap_has_link(&p, 1));
	assert_false(weft_pcap_has_link(&p, 147));
	while (p.offset < f.len)
		assert_int_equal(weft_pcap_next(&p, f.bytes + p.offset, f.len - p.offset, &r),
			WEFT_PCAP_OTHER);
	assert_false(weft_pcap_has_link(&p, 1));
	assert_true(weft_pcap_has_link(&p, 147));
}

WEFT_TEST(times_of_every_resolution_are_nanoseconds)
{
	static const struct {
		uint8_t resolution;
		int64_t offset;
		uint64_t ticks, ns;
	} row[] = {
		{ 0, 0, 5, 5 * S },
		{ 0, 0, UINT64_MAX, UINT64_MAX }, /* clamped */
		{ 3, 0, 1234, 1234000000 },
		{ 6, 0, UINT64_C(1700000000123456), UINT64_C(1700000000123456000) },
		{ 9, 0, UINT64_MAX, UINT64_MAX },
		{ 9, 0, 1, 1 },
		{ 12, 0, 12999, 12 },
		{ 18, 0, UINT64_MAX, UINT64_C(18446744073) },
		{ 28, 0, UINT64_MAX, 1 },
		{ 29, 0, UINT64_MAX, 0 },
		{ 127, 0, UINT64_MAX, 0 },
		{ 0x80, 0, 3, 3 * S },
		{ 0x8A, 0, 1536, S + S / 2 },
		{ 0xA0, 0, UINT64_C(1) << 31, S / 2 },
		{ 0xC0, 0, UINT64_C(1) << 63, S / 2 },
		{ 0xFF, 0, UINT64_MAX, 0 },
		{ 9, 3, 4, 3 * S + 4 },
		{ 9, -3, 4 * S, S },
		{ 9, -3, S, 0 }, /* before 1970 */
		{ 6, INT64_MAX, 0, UINT64_MAX },
		{ 0, INT64_MIN, UINT64_MAX, UINT64_MAX },
		{ 6, INT64_MIN, 0, 0 },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(row); i++) {
		const struct expected e = { row[i].ns, true, 1, "x", 1 };
		struct file f = { 0 };

		section(&f, i & 1);
		interface(&f, 1, 0, row[i].resolution, row[i].offset);
		packet(&f, 0, row[i].ticks, "x", 1);
		is_read(&f, &e, 1);
	}
}

/* Read to the first record that is none. */
static void
is_broken(const struct file *f, uint64_t offset, const char *what, uint64_t got)
{
	struct weft_pcap *p = malloc(sizeof(*p));
	struct weft_pcap_record r;
	enum weft_pcap_status s;
	uint64_t before;

	weft_pcap_begin(p);
	do {
		before = p->offset;
		s = next(p, f->bytes + before, f->len - before, &r);
	} while (s == WEFT_PCAP_PACKET || s == WEFT_PCAP_OTHER);
	assert_int_equal(s, WEFT_PCAP_BROKEN);
	assert_string_equal(r.what, what);
	assert_int_equal(r.offset, offset);
	assert_int_equal(r.got, got);
	assert_non_null(r.expected);
	/* Nothing was consumed, and it says the same again. */
	assert_int_equal(p->offset, before);
	assert_int_equal(next(p, f->bytes + before, f->len - before, &r), WEFT_PCAP_BROKEN);
	assert_string_equal(r.what, what);
	free(p);
}

WEFT_TEST(pcap_that_is_none_is_broken)
{
	struct file f;

	for (int big = 0; big < 2; big++) {
		f = (struct file){ 0 };
		put(&f, "This is no capture file.", 24);
		is_broken(&f, 0, "first four bytes", 0x54686973);
		f = (struct file){ 0 };
		pcap_header(&f, big, 0xA1B2CD34, 1);
		is_broken(&f, 0, "first four bytes", big ? 0xA1B2CD34 : 0x34CDB2A1);
		f = (struct file){ 0 };
		pcap_header(&f, big, 0xA1B2C3D4, 1);
		f.bytes[big ? 5 : 4] = 3;
		is_broken(&f, 4, "major version of pcap", 3);
		f.bytes[big ? 5 : 4] = 2;
		f.bytes[big ? 7 : 6] = 3;
		is_broken(&f, 6, "minor version of pcap", 3);
		f = (struct file){ 0 };
		pcap_header(&f, big, 0xA1B2C3D4, 0x10001);
		is_broken(&f, 20, "link type", 0x10001);
		f = (struct file){ 0 };
		pcap_header(&f, big, 0xA1B2C3D4, 1);
		pcap_packet(&f, 1, 1, "abc", 3);
		put64(&f, 0);
		put32(&f, WEFT_PCAP_RECORD_MAX - 15);
		put32(&f, 3);
		is_broken(&f, 24 + 19 + 8, "length of a packet", WEFT_PCAP_RECORD_MAX - 15);
	}
}

/* Write @p v over four bytes at @p at. */
static struct file
with32(struct file f, size_t at, uint32_t v)
{
	v = f.is_big_endian ? htobe32(v) : htole32(v);
	memcpy(f.bytes + at, &v, sizeof(v));
	return f;
}

WEFT_TEST(pcapng_blocks_that_are_none_are_broken)
{
	for (int big = 0; big < 2; big++) {
		struct file f = { 0 }, b;
		size_t idb, epb;

		section(&f, big);
		idb = f.len;
		interface(&f, 1, 0, 9, 1);
		epb = f.len;
		packet(&f, 0, 1, "abc", 3);

		b = with32(f, 8, 0x1A2B3C4E);
		is_broken(&b, 8, "byte order of a section", big ? 0x1A2B3C4E : 0x4E3C2B1A);
		b = with32(f, 12, 0x00020002);
		is_broken(&b, 12, "major version of pcapng", 2);
		b = with32(f, 4, 20);
		is_broken(&b, 16, "second length of a block", 0xFFFFFFFF);
		b = with32(f, idb + 4, 8);
		is_broken(&b, idb + 4, "length of a block", 8);
		b = with32(f, idb + 4, 22);
		is_broken(&b, idb + 4, "length of a block", 22);
		b = with32(f, epb + 4, WEFT_PCAP_RECORD_MAX + 4);
		is_broken(&b, epb + 4, "length of a block", WEFT_PCAP_RECORD_MAX + 4);
		b = with32(f, f.len - 4, 52);
		is_broken(&b, f.len - 4, "second length of a block", 52);
		b = with32(f, epb + 8, 1);
		is_broken(&b, epb + 8, "interface of a packet", 1);
		b = with32(f, epb + 20, 17);
		is_broken(&b, epb + 20, "length of a packet", 17);
		/* if_name, of 3 bytes; if_tsresol; if_tsoffset, each behind code and length. */
		b = with32(f, idb + 16, big ? 0x0002FFFC : 0xFFFC0002);
		is_broken(&b, idb + 18, "length of an option", 0xFFFC);
		b = with32(f, idb + 24, big ? 0x00090002 : 0x00020009);
		is_broken(&b, idb + 26, "length of if_tsresol", 2);
		b = with32(f, idb + 32, big ? 0x000E0004 : 0x0004000E);
		is_broken(&b, idb + 34, "length of if_tsoffset", 4);
	}
}

WEFT_TEST(blocks_too_short_for_what_they_are_are_broken)
{
	static const struct {
		uint32_t type, least;
		const char *what;
	} row[] = {
		{ SHB, 28, "length of a section header" },
		{ IDB, 20, "length of an interface description" },
		{ EPB, 32, "length of a packet block" },
		{ OLD, 32, "length of a packet block" },
		{ SPB, 16, "length of a simple packet block" },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(row); i++) {
		struct file f = { 0 };
		size_t at;

		section(&f, i & 1);
		interface(&f, 1, 0, 6, 0);
		at = f.len;
		block_begin(&f, row[i].type);
		if (row[i].type == SHB)
			put32(&f, 0x1A2B3C4D);
		while (f.len - at < row[i].least - 8)
			put32(&f, 0);
		block_end(&f);
		is_broken(&f, at + 4, row[i].what, row[i].least - 4);
	}
}

WEFT_TEST(packets_need_an_interface_of_their_section)
{
	struct file f = { 0 };
	size_t at;

	section(&f, false);
	interface(&f, 1, 0, 6, 0);
	section(&f, false);
	at = f.len;
	packet(&f, 0, 1, "abc", 3);
	is_broken(&f, at + 8, "interface of a packet", 0);
	f.len = at;
	block_begin(&f, SPB);
	put32(&f, 0);
	block_end(&f);
	is_broken(&f, at, "interfaces in front of a simple packet block", 0);
	f.len = at;
	interface(&f, 1, 0, 6, 0);
	at = f.len;
	block_begin(&f, SPB);
	put32(&f, 5);
	put32(&f, 0);
	block_end(&f);
	is_broken(&f, at + 8, "length of a packet", 5);
}

WEFT_TEST(interfaces_are_bounded)
{
	struct weft_pcap *p = malloc(sizeof(*p));
	struct weft_pcap_record r;
	struct file f = { 0 };
	size_t at;

	section(&f, false);
	at = f.len;
	interface(&f, 1, 0, 6, 0);
	weft_pcap_begin(p);
	assert_int_equal(weft_pcap_next(p, f.bytes, at, &r), WEFT_PCAP_OTHER);
	for (unsigned int i = 0; i < WEFT_PCAP_INTERFACES_MAX; i++)
		assert_int_equal(weft_pcap_next(p, f.bytes + at, f.len - at, &r), WEFT_PCAP_OTHER);
	assert_int_equal(weft_pcap_next(p, f.bytes + at, f.len - at, &r), WEFT_PCAP_BROKEN);
	assert_string_equal(r.what, "interfaces of a section");
	/* A new section has room again. */
	assert_int_equal(weft_pcap_next(p, f.bytes, at, &r), WEFT_PCAP_OTHER);
	assert_int_equal(weft_pcap_next(p, f.bytes + at, f.len - at, &r), WEFT_PCAP_OTHER);
	free(p);
}

/* The longest packets there may be. */
WEFT_TEST(the_longest_records_are_read)
{
	static struct weft_pcap p;
	struct weft_pcap_record r;
	struct file f = { 0 };
	const uint32_t longest = WEFT_PCAP_RECORD_MAX - WEFT_PCAP_PACKET_HEADER_LEN;
	uint8_t *bytes = calloc(1, WEFT_PCAP_RECORD_MAX);
	const uint32_t total = htole32(WEFT_PCAP_RECORD_MAX);

	pcap_header(&f, false, 0xA1B2C3D4, 1);
	weft_pcap_begin(&p);
	assert_int_equal(weft_pcap_next(&p, f.bytes, f.len, &r), WEFT_PCAP_OTHER);
	weft_pcap_put_packet_header(bytes, 0, longest);
	assert_int_equal(weft_pcap_next(&p, bytes, 16, &r), WEFT_PCAP_MORE);
	assert_int_equal(r.needed, WEFT_PCAP_RECORD_MAX);
	assert_int_equal(weft_pcap_next(&p, bytes, WEFT_PCAP_RECORD_MAX, &r), WEFT_PCAP_PACKET);
	assert_int_equal(r.packet.len, longest);

	f.len = 0;
	section(&f, false);
	weft_pcap_begin(&p);
	assert_int_equal(weft_pcap_next(&p, f.bytes, f.len, &r), WEFT_PCAP_OTHER);
	memcpy(bytes + 4, &total, 4);
	memcpy(bytes + WEFT_PCAP_RECORD_MAX - 4, &total, 4);
	assert_int_equal(weft_pcap_next(&p, bytes, 12, &r), WEFT_PCAP_MORE);
	assert_int_equal(r.needed, WEFT_PCAP_RECORD_MAX);
	assert_int_equal(weft_pcap_next(&p, bytes, WEFT_PCAP_RECORD_MAX, &r), WEFT_PCAP_OTHER);
	free(bytes);
}

WEFT_TEST(what_is_written_is_read)
{
	struct file f = { .len = WEFT_PCAP_FILE_HEADER_LEN };
	const struct expected e[] = {
		{ UINT64_C(1700000000123456789), true, 147, "abc", 3 },
		{ UINT64_C(4294967295) * S, true, 147, "d", 1 },
	};

	weft_pcap_put_file_header(f.bytes, 147, 65535);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(e); i++) {
		weft_pcap_put_packet_header(
			f.bytes + f.len, e[i].time_ns, (uint32_t)strlen(e[i].data));
		f.len += WEFT_PCAP_PACKET_HEADER_LEN;
		put(&f, e[i].data, strlen(e[i].data));
	}
	is_read(&f, e, WEFT_ARRAY_SIZE(e));
}

/* An enhanced or obsolete packet of five bytes with these options, of @p len bytes. */
static uint8_t
direction_of(uint32_t type, bool is_big_endian, const uint16_t *words, size_t n)
{
	struct file f = { 0 };
	struct weft_pcap p;
	struct weft_pcap_record r;
	size_t at;

	section(&f, is_big_endian);
	interface(&f, 1, 0, 6, 0);
	at = f.len;
	block_begin(&f, type);
	put32(&f, 0);
	put64(&f, 1);
	put32(&f, 5);
	put32(&f, 5);
	put(&f, "bytes\0\0", 8);
	for (size_t i = 0; i < n; i++)
		put16(&f, words[i]);
	block_end(&f);
	weft_pcap_begin(&p);
	while (p.offset < at)
		assert_int_equal(
			next(&p, f.bytes + p.offset, f.len - p.offset, &r), WEFT_PCAP_OTHER);
	assert_int_equal(next(&p, f.bytes + at, f.len - at, &r), WEFT_PCAP_PACKET);
	assert_int_equal(r.packet.len, 5);
	return r.packet.direction;
}

WEFT_TEST(packets_say_which_way_they_went)
{
	/* epb_flags: bits 1:0 are the direction, the others are not ours. */
	for (uint32_t flags = 0; flags < 8; flags++) {
		const uint8_t want[] = { WEFT_PCAP_UNKNOWN, WEFT_PCAP_IN, WEFT_PCAP_OUT,
			WEFT_PCAP_UNKNOWN };
		const uint16_t little[] = { 1, 5, 0x6F63, 0x6D6D, 0x65, 0, 2, 4,
			(uint16_t)(flags | 0xFFF0), 0xFFFF, 0, 0 };
		const uint16_t big[] = { 2, 4, 0xFFFF, (uint16_t)(flags | 0xFFF0) };

		assert_int_equal(direction_of(EPB, false, little, 12), want[flags & 3]);
		assert_int_equal(direction_of(OLD, true, big, 4), want[flags & 3]);
	}
}

WEFT_TEST(options_of_a_packet_that_are_none_say_nothing)
{
	static const struct {
		uint16_t words[8];
		size_t n;
	} rows[] = {
		{ { 0 }, 0 }, { { 2, 4 }, 2 }, /* ends in front of its value */
		{ { 2, 3, 1, 0 }, 4 }, /* of another length */
		{ { 2, 8, 1, 0, 0, 0 }, 6 },
		{ { 9, 0xFFFF, 2, 4, 1, 0 }, 6 }, /* longer than its block */
		{ { 9, 13, 2, 4, 1, 0 }, 6 }, { { 0, 0, 2, 4, 1, 0 }, 6 }, /* behind their end */
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++)
		assert_int_equal(
			direction_of(EPB, false, rows[i].words, rows[i].n), WEFT_PCAP_UNKNOWN);
}
