/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * pcapng, in this machine's byte order as the format allows. Every block is type, length, body,
 * length again; options are code, length, value padded to four bytes.
 */

#include "pcapng_priv.h"

#include "weft_base.h"

enum { BLOCK_INTERFACE = 1, BLOCK_STATISTICS = 5, BLOCK_PACKET = 6, BLOCK_SECTION = 0x0A0D0D0A };
enum { OPT_END = 0, SHB_APPLICATION = 4, IF_NAME = 2, IF_TSRESOL = 9, EPB_FLAGS = 2 };
enum { ISB_RECEIVED = 4, ISB_DROPPED = 5 };

#define LINKTYPE_ETHERNET 1
#define BLOCK_FRAME 12 /* type, and length twice */
#define PAD4(n) (((n) + 3u) & ~3u)

/* A block's fixed part and options, before the frame's bytes if it has any. */
struct block {
	uint32_t len;
	uint8_t bytes[256];
};

static void
pcapng_block_put(struct block *b, const void *value, size_t len)
{
	assert(b->len + PAD4(len) <= sizeof(b->bytes));
	memset(b->bytes + b->len, 0, PAD4(len));
	memcpy(b->bytes + b->len, value, len);
	b->len += (uint32_t)PAD4(len);
}

static void
pcapng_block_put_u32(struct block *b, uint32_t v)
{
	pcapng_block_put(b, &v, sizeof(v));
}

static void
pcapng_block_option(struct block *b, uint16_t code, const void *value, uint16_t len)
{
	const uint16_t head[2] = { code, len };

	pcapng_block_put(b, head, sizeof(head));
	pcapng_block_put(b, value, len);
}

/* Time goes high half first whatever the byte order. */
static void
pcapng_block_put_time(struct block *b, uint64_t time_ns)
{
	pcapng_block_put_u32(b, (uint32_t)(time_ns >> 32));
	pcapng_block_put_u32(b, (uint32_t)time_ns);
}

static bool
pcapng_put(FILE *f, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, f) == len;
}

static bool
pcapng_block_write(FILE *f, uint32_t type, const struct block *b)
{
	const uint32_t len = 12 + b->len, head[2] = { type, len };

	return pcapng_put(f, head, sizeof(head)) && pcapng_put(f, b->bytes, b->len) &&
	       pcapng_put(f, &len, sizeof(len));
}

bool
pcapng_begin(FILE *f, const char *interface, uint32_t snaplen)
{
	static const char application[] = "weft " WEFT_VERSION;
	static const uint32_t magic = 0x1A2B3C4D;
	static const uint16_t version[2] = { 1, 0 }, link[2] = { LINKTYPE_ETHERNET, 0 };
	static const int64_t length_unknown = -1;
	static const uint8_t nanoseconds = 9;
	struct block section = { 0 }, iface = { 0 };

	pcapng_block_put(&section, &magic, sizeof(magic));
	pcapng_block_put(&section, version, sizeof(version));
	pcapng_block_put(&section, &length_unknown, sizeof(length_unknown));
	pcapng_block_option(&section, SHB_APPLICATION, application, sizeof(application) - 1);
	pcapng_block_option(&section, OPT_END, "", 0);

	pcapng_block_put(&iface, link, sizeof(link));
	pcapng_block_put_u32(&iface, snaplen);
	pcapng_block_option(&iface, IF_NAME, interface, (uint16_t)strlen(interface));
	pcapng_block_option(&iface, IF_TSRESOL, &nanoseconds, 1);
	pcapng_block_option(&iface, OPT_END, "", 0);
	return pcapng_block_write(f, BLOCK_SECTION, &section) &&
	       pcapng_block_write(f, BLOCK_INTERFACE, &iface);
}

bool
pcapng_packet(FILE *f, uint64_t time_ns, enum pcapng_direction direction, const void *bytes,
	uint32_t len, uint32_t wire_len)
{
	static const uint8_t zeros[4];
	const uint32_t flags = direction;
	struct block head = { 0 }, tail = { 0 };
	uint32_t total;

	pcapng_block_option(&tail, EPB_FLAGS, &flags, sizeof(flags));
	pcapng_block_option(&tail, OPT_END, "", 0);
	total = 8 + 20 + PAD4(len) + tail.len + 4;
	pcapng_block_put_u32(&tail, total);

	pcapng_block_put_u32(&head, BLOCK_PACKET);
	pcapng_block_put_u32(&head, total);
	pcapng_block_put_u32(&head, 0); /* the file's only interface */
	pcapng_block_put_time(&head, time_ns);
	pcapng_block_put_u32(&head, len);
	pcapng_block_put_u32(&head, wire_len);
	return pcapng_put(f, head.bytes, head.len) && pcapng_put(f, bytes, len) &&
	       pcapng_put(f, zeros, PAD4(len) - len) && pcapng_put(f, tail.bytes, tail.len);
}

uint64_t
pcapng_begin_len(const char *interface)
{
	const size_t application = sizeof("weft " WEFT_VERSION) - 1, name = strlen(interface);

	return BLOCK_FRAME + 16 + 4 + PAD4(application) + 4 + BLOCK_FRAME + 8 + 4 + PAD4(name) + 8 +
	       4;
}

uint64_t
pcapng_packet_len(uint32_t len)
{
	return BLOCK_FRAME + 20 + PAD4(len) + 8 + 4;
}

uint64_t
pcapng_end_len(void)
{
	return BLOCK_FRAME + 12 + 12 + 12 + 4;
}

bool
pcapng_end(FILE *f, uint64_t time_ns, uint64_t seen, uint64_t dropped)
{
	struct block b = { 0 };

	pcapng_block_put_u32(&b, 0);
	pcapng_block_put_time(&b, time_ns);
	pcapng_block_option(&b, ISB_RECEIVED, &seen, sizeof(seen));
	pcapng_block_option(&b, ISB_DROPPED, &dropped, sizeof(dropped));
	pcapng_block_option(&b, OPT_END, "", 0);
	return pcapng_block_write(f, BLOCK_STATISTICS, &b);
}
