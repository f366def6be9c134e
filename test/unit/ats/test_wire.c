/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATS packets: the examples of ats.md sections 2 and 3, every split, and damage of every kind. */

#include "weft_test.h"

#include "weft_ats_wire.h"
#include "weft_guard.h"

#define RUNS 200000

static struct weft_guard guard;

static int
map_guard(void **state)
{
	(void)state;
	weft_guard_open(&guard, 8192);
	return 0;
}

WEFT_TEST_AROUND(map_guard, NULL)

/* Decode @p len bytes that end at an unmapped page. */
static enum weft_verdict
decode(const uint8_t *p, size_t len, unsigned int rcb, struct weft_ats_packet *out)
{
	uint8_t *last = weft_guard_last(&guard, len);

	memmove(last, p, len);
	return weft_ats_decode(last, len, rcb, out);
}

static void
expect_bytes(const struct weft_ats_packet *p, const char *hex)
{
	uint8_t want[256], got[256];
	const size_t len = weft_test_unhex(hex, want, sizeof(want));

	assert_int_equal(weft_ats_encode(p, got, sizeof(got)), len);
	assert_memory_equal(got, want, len);
	assert_int_equal(weft_ats_encode(p, got, len), len);
	assert_int_equal(weft_ats_encode(p, got, len - 1), 0);
}

/* Typed by hand from the tables of section 2. */
WEFT_TEST(golden_packets_are_written)
{
	static const uint8_t eight[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	expect_bytes(&(struct weft_ats_packet){ .kind = WEFT_ATS_REQUEST,
			     .requester = 0x1234,
			     .tag = 0x56,
			     .length = 16,
			     .addr = UINT64_C(0x89ABCDEF01234000),
			     .no_write = true },
		"20000410123456ff89abcdef01234001");
	expect_bytes(&(struct weft_ats_packet){ .kind = WEFT_ATS_WRITE,
			     .tc = 5,
			     .attr = 2,
			     .at = WEFT_ATS_TRANSLATED,
			     .poisoned = true,
			     .requester = 0xFFFF,
			     .tag = 1,
			     .enables = 0xF3,
			     .length = 2,
			     .addr = 0x1000,
			     .data = eight },
		"60506802ffff01f300000000000010000102030405060708");
	expect_bytes(&(struct weft_ats_packet){ .kind = WEFT_ATS_CPL,
			     .status = WEFT_ATS_CA,
			     .target = 0x0100,
			     .requester = 0x0208,
			     .tag = 9 },
		"0a0000000100800002080900");
	expect_bytes(&(struct weft_ats_packet){ .kind = WEFT_ATS_INVALIDATE,
			     .requester = 0x0100,
			     .target = 0x0208,
			     .itag = 3,
			     .addr = 0x400000,
			     .log2 = 21,
			     .global = true,
			     .has_pasid = true,
			     .priv = true,
			     .pasid = 0xABCDE },
		"912abcde7200000201000301020800000000000000000000004ff801");
	expect_bytes(&(struct weft_ats_packet){ .kind = WEFT_ATS_PAGE,
			     .requester = 0x0208,
			     .addr = 0x7000,
			     .group = 0x101,
			     .page_bits = WEFT_ATS_PAGE_LAST | WEFT_ATS_PAGE_W },
		"3000000002080004000000000000780e");
	expect_bytes(&(struct weft_ats_packet){ .kind = WEFT_ATS_PAGE_GROUP,
			     .requester = 0x0100,
			     .target = 0x0208,
			     .group = 0x1FF,
			     .code = 15 },
		"32000000010000050208f1ff00000000");
}

/* The deck: request on TC 0 with ITag 3, done on TC 1; ITags 0, 1, 3, 6, 8 make 0x14B. */
WEFT_TEST(itag_vector_of_the_deck)
{
	static const unsigned int done[] = { 0, 1, 3, 6, 8 };
	struct weft_ats_packet p = { .kind = WEFT_ATS_INVALIDATED,
		.tc = 1,
		.requester = 0x0208,
		.target = 0x0100,
		.count = 1,
		.itags = 1u << 3 };

	expect_bytes(&p, "32100000020800020100000100000008");
	p.itags = 0;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(done); i++)
		p.itags |= 1u << done[i];
	p.count = 8; /* is written as 0 */
	expect_bytes(&p, "3210000002080002010000000000014b");
}

/* Section 3, every row. */
WEFT_TEST(ranges_of_the_table)
{
	static const struct {
		unsigned int log2;
		uint64_t word0, base, word;
	} rows[] = {
		{ 12, 0x0, 0x2000, 0x2000 },
		{ 13, 0x800, 0x4000, 0x4800 },
		{ 14, 0x1800, 0x8000, 0x9800 },
		{ 15, 0x3800, 0x10000, 0x13800 },
		{ 16, 0x7800, 0x20000, 0x27800 },
		{ 17, 0xF800, 0x40000, 0x4F800 },
		{ 21, 0xFF800, 0x400000, 0x4FF800 },
		{ 30, 0x1FFFF800, 0x80000000, 0x9FFFF800 },
		{ 64, UINT64_C(0x7FFFFFFFFFFFF800), 0, UINT64_C(0x7FFFFFFFFFFFF800) },
	};
	uint64_t base;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		assert_int_equal(weft_ats_range_put(0, rows[i].log2), rows[i].word0);
		assert_int_equal(weft_ats_range_put(rows[i].base, rows[i].log2), rows[i].word);
		assert_int_equal(weft_ats_range_get(rows[i].word, &base), rows[i].log2);
		assert_int_equal(base, rows[i].base);
	}
	assert_int_equal(weft_ats_range_get(UINT64_C(0xFFFFFFFFFFFFF800), &base), -1);
}

WEFT_TEST(every_size_at_any_base_comes_back)
{
	struct weft_rand r;

	weft_test_seed(&r, "ranges");
	for (unsigned int i = 0; i < RUNS; i++) {
		const unsigned int log2 = 12 + i % 53;
		const uint64_t base = weft_rand_u64(&r) & ~weft_mask64(log2);
		const uint64_t low = weft_rand_u64(&r) & 0x7FF;
		uint64_t got;

		assert_int_equal(
			weft_ats_range_get(weft_ats_range_put(base, log2) | low, &got), log2);
		assert_int_equal(got, base);
	}
}

/* Section 3: 8 KB across a 128 MB border are two pages, or 256 MB at once. */
WEFT_TEST(covers_are_exact_or_one_larger)
{
	struct weft_ats_range got[64];
	struct weft_rand r;

	assert_int_equal(weft_ats_cover(0x7FFF000, 0x8000FFF, 12, got, 1), 1);
	assert_true(got[0].base == 0 && got[0].log2 == 28);
	assert_int_equal(weft_ats_cover(0x7FFF000, 0x8000FFF, 12, got, 2), 2);
	assert_true(got[1].base == 0x8000000 && got[1].log2 == 12);
	assert_int_equal(weft_ats_cover(0, UINT64_MAX, 12, got, 64), 1);
	assert_int_equal(got[0].log2, 64);
	assert_int_equal(weft_ats_cover(0x1000, UINT64_MAX, 12, got, 64), 52);

	weft_test_seed(&r, "covers");
	for (unsigned int i = 0; i < RUNS; i++) {
		const uint64_t a = weft_rand_u64(&r) >> weft_rand_below(&r, 52);
		const uint64_t b = weft_rand_u64(&r) >> weft_rand_below(&r, 52);
		const unsigned int unit = 12 + (unsigned int)weft_rand_below(&r, 10);
		const unsigned int max = 1 + (unsigned int)weft_rand_below(&r, 64);
		uint64_t from = a < b ? a : b, last = a < b ? b : a, next;
		const unsigned int n = weft_ats_cover(from, last, unit, got, max);

		assert_in_range(n, 1, max);
		from &= ~weft_mask64(unit);
		last |= weft_mask64(unit);
		next = from;
		for (unsigned int k = 0; k < n; k++) {
			const uint64_t end = got[k].base + weft_mask64(got[k].log2);

			assert_true(got[k].log2 >= unit && got[k].log2 <= 64);
			assert_int_equal(got[k].base & weft_mask64(got[k].log2), 0);
			assert_true(got[k].base <= next && end >= next);
			if (k + 1 < max) /* exact but for the last that was allowed */
				assert_true(got[k].base == next && end <= last);
			next = end + 1;
		}
		assert_true(next - 1 >= last);
	}
}

/* What packets of one kind have alone; @p bits and @p addr: where it comes from. */
static void
random_of_kind(struct weft_ats_packet *p, struct weft_rand *r, uint64_t bits, uint64_t addr)
{
	switch (p->kind) {
	case WEFT_ATS_REQUEST:
		p->length = (uint16_t)(2 + 2 * weft_rand_below(r, 16));
		p->no_write = bits >> 4 & 1;
		break;
	case WEFT_ATS_CPL:
	case WEFT_ATS_CPLD:
		p->target = (uint16_t)(bits >> 24);
		p->byte_count = bits >> 40 & 0xFFF;
		p->lower_addr = bits >> 52 & 0x7F;
		if (p->kind == WEFT_ATS_CPLD)
			p->length = (uint16_t)(1 + weft_rand_below(r, 32));
		else
			p->status = bits & 4 ? WEFT_ATS_CA : bits & 1;
		break;
	case WEFT_ATS_INVALIDATE:
		p->target = (uint16_t)(bits >> 24);
		p->itag = bits & 31;
		p->log2 = (uint8_t)(12 + weft_rand_below(r, 53));
		p->addr = addr & ~weft_mask64(p->log2);
		p->global = bits >> 7 & 1;
		break;
	case WEFT_ATS_INVALIDATED:
		p->target = (uint16_t)(bits >> 24);
		p->count = 1 + (bits & 7);
		p->itags = (uint32_t)addr;
		break;
	case WEFT_ATS_PAGE:
		p->addr = addr & ~UINT64_C(0xFFF);
		p->group = bits & 0x1FF;
		p->page_bits = bits >> 9 & 7;
		break;
	case WEFT_ATS_PAGE_GROUP:
		p->target = (uint16_t)(bits >> 24);
		p->group = bits & 0x1FF;
		p->code = bits >> 9 & 15;
		break;
	default: break;
	}
}

static struct weft_ats_packet
random_packet(struct weft_rand *r, uint8_t *data)
{
	struct weft_ats_packet p = { .kind = (uint8_t)weft_rand_below(r, WEFT_ATS_KINDS),
		.tc = (uint8_t)weft_rand_below(r, 8),
		.requester = (uint16_t)weft_rand_u64(r),
		.poisoned = weft_rand_below(r, 2) };
	const uint64_t bits = weft_rand_u64(r);
	const uint64_t addr = weft_rand_u64(r);

	if (weft_rand_below(r, 2) != 0) {
		p.has_pasid = true;
		p.pasid = (uint32_t)weft_rand_below(r, 1 << 20);
		p.exec = bits & 1;
		p.priv = bits >> 1 & 1;
	}
	if (p.kind == WEFT_ATS_READ || p.kind == WEFT_ATS_WRITE) {
		p.attr = bits >> 2 & 3;
		p.at = (uint8_t)(weft_rand_below(r, 2) * WEFT_ATS_TRANSLATED);
		p.enables = (uint8_t)(bits >> 8);
		p.length = (uint16_t)(1 + weft_rand_below(r, weft_rand_below(r, 8) ? 8 : 1024));
	}
	if (p.kind <= WEFT_ATS_REQUEST)
		p.addr = addr & ~UINT64_C(3);
	if (p.kind <= WEFT_ATS_CPLD)
		p.tag = (uint8_t)(bits >> 16);
	random_of_kind(&p, r, bits, addr);
	if (p.kind == WEFT_ATS_WRITE || p.kind == WEFT_ATS_CPLD) {
		weft_rand_fill(r, data, (size_t)p.length * 4);
		p.data = data;
	}
	return p;
}

static void
expect_same(const struct weft_ats_packet *a, const struct weft_ats_packet *b)
{
	struct weft_ats_packet x = *a, y = *b;

	assert_int_equal(a->data != NULL, b->data != NULL);
	if (a->data != NULL)
		assert_memory_equal(a->data, b->data, (size_t)a->length * 4);
	x.data = y.data = NULL;
	assert_memory_equal(&x, &y, offsetof(struct weft_ats_packet, priv) + 1);
}

WEFT_TEST(every_packet_comes_back_and_no_other_length_does)
{
	static uint8_t data[4096], bytes[4200];
	struct weft_rand r;

	weft_test_seed(&r, "packets");
	for (unsigned int i = 0; i < RUNS; i++) {
		struct weft_ats_packet out;
		const struct weft_ats_packet in = random_packet(&r, data);
		const size_t len = weft_ats_encode(&in, bytes, sizeof(bytes));
		size_t other;

		assert_true(len >= 12);
		assert_int_equal(decode(bytes, len, 128, &out), WEFT_OK);
		expect_same(&in, &out);
		other = weft_rand_below(&r, len + 8);
		if (other != len)
			assert_int_not_equal(decode(bytes, other, 128, &out), WEFT_OK);
	}
}

static void
expect_verdict(const char *hex, unsigned int rcb, enum weft_verdict want)
{
	struct weft_ats_packet out;
	uint8_t bytes[256];
	const size_t len = weft_test_unhex(hex, bytes, sizeof(bytes));

	assert_string_equal(
		weft_verdict_name(decode(bytes, len, rcb, &out)), weft_verdict_name(want));
}

WEFT_TEST(malformed_packets_are_named)
{
	static const struct {
		const char *hex;
		enum weft_verdict want64, want128;
	} rows[] = {
#define SAME(v) v, v
		/*
		 * Translation Requests of 0, 3, 16, 18 and 32 DW, of partial DWs, and one that
		 * writes.
		 */
		{ "20000400000000ff0000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "20000403000000ff0000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "20000410000000ff0000000000000000", SAME(WEFT_OK) },
		{ "20000412000000ff0000000000000000", WEFT_DROP_ATS_FIELD, WEFT_OK },
		{ "20000420000000ff0000000000000000", WEFT_DROP_ATS_FIELD, WEFT_OK },
		{ "20000422000000ff0000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "200004020000000f0000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "60000401000000ff000000000000000000000000", SAME(WEFT_DROP_ATS_TYPE) },
		/* AT 11, a 32-bit request, an unknown type. */
		{ "20000c02000000ff0000000000000000", SAME(WEFT_DROP_ATS_TYPE) },
		{ "00000002000000ff00000000", SAME(WEFT_DROP_ATS_TYPE) },
		{ "05000002000000ff00000000", SAME(WEFT_DROP_ATS_TYPE) },
		/* Reserved statuses, data with a status, data without any. */
		{ "0a0000000000200000000000", SAME(WEFT_OK) },
		{ "0a0000000000400000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "0a0000000000600000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "0a0000000000a00000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "0a0000010000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "4a000001000020040000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "4a000002000000040000000000000000", SAME(WEFT_DROP_ATS_LENGTH) },
		/* Invalidate Requests: Length 1, all ones, another message code. */
		{ "720000010000000100000000000000000000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		{ "72000002000000010000000000000000fffffffffffff800", SAME(WEFT_DROP_ATS_RANGE) },
		{ "72000002000000010000000000000000fffffffffffff000", SAME(WEFT_OK) },
		{ "720000020000000200000000000000000000000000000000", SAME(WEFT_DROP_ATS_TYPE) },
		{ "32000000000000010000000000000000", SAME(WEFT_DROP_ATS_TYPE) },
		{ "32000000000000040000000000000000", SAME(WEFT_DROP_ATS_TYPE) },
		{ "32000001000000020000000000000000", SAME(WEFT_DROP_ATS_FIELD) },
		/* A prefix and nothing behind it, two prefixes, a digest and a missing one. */
		{ "91000000", SAME(WEFT_DROP_ATS_LENGTH) },
		{ "91000000910000000a0000000000000000000000", SAME(WEFT_DROP_ATS_TYPE) },
		{ "0a0080000000000000000000deadbeef", SAME(WEFT_OK) },
		{ "0a0080000000000000000000", SAME(WEFT_DROP_ATS_LENGTH) },
#undef SAME
	};

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		expect_verdict(rows[i].hex, 64, rows[i].want64);
		expect_verdict(rows[i].hex, 128, rows[i].want128);
	}
}

WEFT_TEST(reserved_bits_are_ignored)
{
	/* Fmt bit 7, byte 1, AT and Attr of a message, bytes 6 and 10..15. */
	static const char clean[] = "720000020100030102080000000000000000000000004800";
	static const char dirty[] = "f28f3c020100e3010208ffffffffffff0000000000004ffe";
	struct weft_ats_packet a, b;
	uint8_t bytes[64];

	assert_int_equal(decode(bytes, weft_test_unhex(clean, bytes, 64), 64, &a), WEFT_OK);
	assert_int_equal(decode(bytes, weft_test_unhex(dirty, bytes, 64), 64, &b), WEFT_OK);
	expect_same(&a, &b);
}

static void
expect_xlat(const struct weft_ats_xlat *got, const struct weft_ats_xlat *want)
{
	assert_int_equal(got->pa, want->pa);
	assert_int_equal(got->bits, want->bits);
	assert_int_equal(got->log2, want->log2);
}

/* Section 2.5: all counts of translations at both boundaries in one and in two packets. */
WEFT_TEST(every_split_is_told_apart)
{
	unsigned int packets = 0;

	for (unsigned int rcb = 64; rcb <= 128; rcb += 64) {
		for (unsigned int n = 1; n <= rcb / 8; n++) {
			for (unsigned int first = 1; first <= n; first++) {
				for (unsigned int part = 0; part <= WEFT_ATS_SECOND; part++) {
					struct weft_ats_xlat x[16] = { 0 }, got[16];
					struct weft_ats_packet p = { 0 };
					enum weft_ats_part as;
					unsigned int m;
					uint8_t data[128];

					for (unsigned int i = 0; i < n; i++)
						x[i] = (struct weft_ats_xlat){ 0x4000 * i,
							WEFT_ATS_R | WEFT_ATS_N, 14 };
					if (weft_ats_xlats_put(&p, x, n, first,
						    (enum weft_ats_part)part, data) != 0) {
						assert_int_not_equal(first == n, part == 0);
						continue;
					}
					packets++;
					assert_int_equal(
						weft_ats_xlats_get(&p, rcb, &as, got, &m), WEFT_OK);
					assert_int_equal(as, part);
					assert_int_equal(m, part == 2 ? n - first : first);
					for (unsigned int i = 0; i < m; i++)
						expect_xlat(
							&got[i], &x[i + (part == 2 ? first : 0)]);
				}
			}
		}
	}
	assert_int_equal(packets, 320);
}

WEFT_TEST(completion_of_the_example)
{
	const struct weft_ats_xlat x[2] = { { 0x8000, WEFT_ATS_R, 12 },
		{ 0x400000, WEFT_ATS_R | WEFT_ATS_W | WEFT_ATS_U | WEFT_ATS_N | WEFT_ATS_CXL_IO,
			12 } };
	struct weft_ats_packet p = { .tc = 3, .target = 0x0100, .requester = 0x0208, .tag = 5 };
	uint8_t data[128];

	assert_int_equal(weft_ats_xlats_put(&p, x, 2, 2, WEFT_ATS_ONLY, data), 0);
	expect_bytes(&p, "4a3000040100001002080570000000000000800100000000"
			 "00400607");
}

WEFT_TEST(bad_counts_and_sizes_are_refused)
{
	const struct weft_ats_xlat x[2] = { { 0x8000, WEFT_ATS_R, 12 }, { 0, 0, 0 } };
	struct weft_ats_packet p = { 0 }, q;
	struct weft_ats_xlat got[16];
	enum weft_ats_part part;
	uint8_t data[128];
	unsigned int n;

	assert_int_equal(weft_ats_xlats_put(&p, x, 2, 2, WEFT_ATS_ONLY, data), 0);
	assert_int_equal(weft_ats_xlats_get(&p, 64, &part, got, &n), WEFT_OK);
	assert_int_equal(got[1].log2, 0);
	q = p;
	q.byte_count = 8; /* less than it carries */
	assert_int_equal(weft_ats_xlats_get(&q, 64, &part, got, &n), WEFT_DROP_ATS_FIELD);
	q.byte_count = 20;
	assert_int_equal(weft_ats_xlats_get(&q, 64, &part, got, &n), WEFT_DROP_ATS_FIELD);
	q.byte_count = 72;
	assert_int_equal(weft_ats_xlats_get(&q, 64, &part, got, &n), WEFT_DROP_ATS_FIELD);
	assert_int_equal(weft_ats_xlats_get(&q, 128, &part, got, &n), WEFT_OK);
	q = p;
	q.length = 3;
	assert_int_equal(weft_ats_xlats_get(&q, 64, &part, got, &n), WEFT_DROP_ATS_FIELD);
	weft_put_be64(data + 8, UINT64_C(0xFFFFFFFFFFFFF801));
	assert_int_equal(weft_ats_xlats_get(&p, 64, &part, got, &n), WEFT_DROP_ATS_RANGE);
	/* Without R and W the rest is undefined, so nothing is wrong with it. */
	weft_put_be64(data + 8, UINT64_C(0xFFFFFFFFFFFFFFFC));
	assert_int_equal(weft_ats_xlats_get(&p, 64, &part, got, &n), WEFT_OK);
	assert_int_equal(got[1].bits, 0);
}
