/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every pair of domains in both directions against the definition, whole and cut into pieces; the
 * vectors of the specification; sums of pieces in any order.
 */

#include "sig_model.h"

#include <openssl/sha.h>

#define DATA_MAX (1052480 + 8) /* whole blocks of 4048 and of 4160 */
#define UNITS_MAX (DATA_MAX + DATA_MAX / 512 * 8 + 16)

static uint8_t *in_bytes, *out_bytes, *want_bytes, *back_bytes;

static int
buffers_open(void **state)
{
	(void)state;
	in_bytes = malloc(UNITS_MAX);
	out_bytes = malloc(UNITS_MAX);
	want_bytes = malloc(UNITS_MAX);
	back_bytes = malloc(UNITS_MAX);
	return in_bytes && out_bytes && want_bytes && back_bytes ? 0 : -1;
}

static int
buffers_close(void **state)
{
	(void)state;
	free(in_bytes);
	free(out_bytes);
	free(want_bytes);
	free(back_bytes);
	return 0;
}

WEFT_TEST_AROUND(buffers_open, buffers_close)

enum { NONE, CRC32, CRC32C, CRC64, DIF_CRC, DIF_CSUM, TYPES };

static const uint32_t sizes[] = { 512, 520, 4048, 4096, 4160 };
#define SIZES WEFT_ARRAY_SIZE(sizes)

/* A side of a type, its parameters drawn from few so that two are often alike. */
static struct side
side_draw(struct weft_rand *r, unsigned int type, uint32_t block)
{
	struct side s = { .present = type != NONE, .is_dif = type >= DIF_CRC, .block = block };
	const bool ones = weft_rand_below(r, 2) != 0;

	if (type == NONE)
		return (struct side){ 0 };
	if (s.is_dif) {
		s.dif.bg_type = type == DIF_CRC ? WEFT_SIG_BG_CRC : WEFT_SIG_BG_CSUM;
		s.dif.bg = ones ? 0xFFFF : 0;
		s.dif.app_tag = weft_rand_below(r, 3) == 0 ? 0xFFFF : 0xABCD;
		s.dif.ref_tag = weft_rand_below(r, 2) != 0 ? 0xFFFFFFFE : 0x01234567;
		s.dif.flags = (uint16_t)weft_rand_below(r, 8);
		return s;
	}
	s.crc = (enum weft_sig_crc_type)(type - CRC32);
	s.seed = !ones ? 0 : type == CRC64 ? UINT64_MAX : UINT32_MAX;
	return s;
}

static uint32_t
gcd(uint32_t a, uint32_t b)
{
	return b == 0 ? a : gcd(b, a % b);
}

/* Data bytes that are whole blocks of both. */
static size_t
common_len(const struct side *a, const struct side *b)
{
	size_t len;

	if (!a->present || !b->present)
		return a->present ? 3 * a->block : b->present ? 3 * b->block : 1000;
	len = (size_t)a->block / gcd(a->block, b->block) * b->block;
	return len < 100000 ? 3 * len : len;
}

/* Random data with right signatures of @p s, most of the time. @return bytes */
static size_t
input_draw(struct weft_rand *r, const struct side *s, size_t data_len, uint64_t block0)
{
	size_t len = 0;

	if (!s->present) {
		weft_rand_fill(r, in_bytes, data_len);
		return data_len;
	}
	for (uint64_t j = 0; j < data_len / s->block; j++) {
		uint8_t *unit = in_bytes + len;

		weft_rand_fill(r, unit, s->block);
		model_sig(s, unit, block0 + j, unit + s->block);
		switch (weft_rand_below(r, 6)) {
		case 0: unit[weft_rand_below(r, s->block + side_sig_len(s))] ^= 0x10; break;
		case 1: memset(unit + s->block + side_sig_len(s) / 2, 0xFF, 2); break;
		case 2:
			if (s->is_dif)
				memset(unit + s->block + 2, 0xFF, 2 + 4 * weft_rand_below(r, 2));
			break;
		default: break;
		}
		len += s->block + side_sig_len(s);
	}
	return len;
}

static void
errors_compare(struct weft_sig_key *key, const struct model_out *want, enum weft_sig_dir dir)
{
	struct weft_sig_error e;
	uint64_t n = 0;

	for (unsigned int i = WEFT_SIG_BAD_GUARD; i < WEFT_SIG_ERROR_TYPES; i++)
		n += key->counters.errors[i];
	assert_int_equal(n, want->n_errors);
	assert_int_equal(key->counters.escaped, want->escaped);
	assert_int_equal(weft_sig_key_check(key, &e), 0);
	assert_int_equal(e.type, want->first.type);
	if (e.type == WEFT_SIG_NO_ERROR)
		return;
	assert_int_equal(e.domain, dir == WEFT_SIG_TX ? WEFT_SIG_MEM : WEFT_SIG_WIRE);
	assert_int_equal(e.block, want->first.block);
	assert_int_equal(e.offset, want->first.offset);
	assert_int_equal(e.computed, want->first.computed);
	assert_int_equal(e.stored, want->first.stored);
}

/* Up to 64 pieces over @p len bytes at @p base, mostly short ones in front. */
#define PIECES 64
static struct weft_sig_list
cut(struct weft_rand *r, struct weft_sig_piece *piece, uint8_t *base, size_t len)
{
	static const uint16_t most[] = { 1, 9, 240, 600, 9000 };
	const size_t shorter = most[weft_rand_below(r, WEFT_ARRAY_SIZE(most))];
	struct weft_sig_list l = { .piece = piece };

	while (l.n < PIECES - 1 && len > 0) {
		size_t n = weft_rand_below(r, shorter + 1);

		n = n < len ? n : len;
		piece[l.n++] = (struct weft_sig_piece){ base, n, 0 };
		base += n;
		len -= n;
	}
	piece[l.n++] = (struct weft_sig_piece){ base, len, 0 };
	return l;
}

static void
pair_run(struct weft_rand *r, unsigned int from, unsigned int to, uint32_t in_block,
	uint32_t out_block)
{
	static struct weft_sig_stream stream;
	struct weft_sig_piece in_piece[PIECES], out_piece[PIECES];
	struct weft_sig_list in, out;
	struct model_in m = { .in = side_draw(r, from, in_block),
		.out = side_draw(r, to, out_block),
		.check = weft_rand_below(r, 2) != 0 ? 0xFF : (uint8_t)weft_rand_u64(r) };
	const size_t data_len = common_len(&m.in, &m.out);
	const enum weft_sig_dir dir = (enum weft_sig_dir)weft_rand_below(r, 2);
	const struct side *mem = dir == WEFT_SIG_TX ? &m.in : &m.out;
	const struct side *wire = dir == WEFT_SIG_TX ? &m.out : &m.in;
	struct model_out want = { .bytes = want_bytes };
	const bool gives_copy = model_copy_mask(&m.in, &m.out) != 0 && weft_rand_below(r, 2) != 0;
	struct weft_sig_key key;
	size_t len;

	m.copy = gives_copy ? (uint8_t)weft_rand_u64(r) : model_copy_mask(&m.in, &m.out);
	if (m.in.present || m.out.present)
		m.block0 = weft_rand_below(r, 3) *
		           (data_len / (m.in.present ? m.in.block : m.out.block));
	len = input_draw(r, &m.in, data_len, m.block0);
	model_run(&m, in_bytes, len, &want);

	weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
	assert_int_equal(key_set(&key, mem, wire, m.check, gives_copy ? &m.copy : NULL), 0);
	memset(out_bytes, 0x5A, want.len + 1);
	assert_int_equal(
		run_whole(&key, dir, m.block0, 0, in_bytes, len, out_bytes, want.len), want.len);
	assert_memory_equal(out_bytes, want_bytes, want.len);
	assert_int_equal(out_bytes[want.len], 0x5A);
	assert_int_equal(key.counters.bytes, data_len);
	errors_compare(&key, &want, dir);

	weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
	assert_int_equal(key_set(&key, mem, wire, m.check, gives_copy ? &m.copy : NULL), 0);
	memset(out_bytes, 0x5A, want.len + 1);
	in = cut(r, in_piece, in_bytes, len);
	out = cut(r, out_piece, out_bytes, want.len);
	assert_int_equal(weft_sig_begin(&stream, &key, dir, m.block0, 0), 0);
	assert_int_equal(weft_sig_push(&stream, &in, &out), 0);
	assert_int_equal(in.done, len);
	assert_int_equal(out.done, want.len);
	assert_int_equal(out.at, out.n);
	assert_int_equal(weft_sig_end(&stream), 0);
	assert_memory_equal(out_bytes, want_bytes, want.len);
	assert_int_equal(out_bytes[want.len], 0x5A);
	errors_compare(&key, &want, dir);
}

/* Every pair of types, and every pair of sizes: all of both where blocks soon meet. */
WEFT_TEST(every_pair_of_domains_does_what_the_definition_says)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int from = 0; from < TYPES; from++)
		for (unsigned int to = 0; to < TYPES; to++)
			for (unsigned int k = 0; k < 40; k++) {
				const uint32_t a = sizes[k % SIZES];
				const uint32_t b = sizes[weft_rand_below(&r, SIZES)];

				if (k % 2 == 0 || (size_t)a / gcd(a, b) * b < 10000)
					pair_run(&r, from, to, a, k % 2 == 0 ? a : b);
			}
	for (unsigned int i = 0; i < SIZES * SIZES; i++)
		pair_run(&r, CRC32 + (unsigned int)weft_rand_below(&r, TYPES - 1),
			CRC32 + (unsigned int)weft_rand_below(&r, TYPES - 1), sizes[i / SIZES],
			sizes[i % SIZES]);
}

WEFT_TEST(what_goes_out_comes_back)
{
	struct weft_rand r;
	unsigned int trips = 0;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < 2 * TYPES * TYPES * SIZES; i++) {
		const uint32_t block = sizes[i % SIZES];
		struct side mem = side_draw(&r, i / SIZES % TYPES, block);
		struct side wire = side_draw(&r, i / SIZES / TYPES % TYPES, block);
		const size_t data_len = common_len(&mem, &wire);
		struct weft_sig_key key;
		struct weft_sig_error e;
		size_t len = 0, sent;

		mem.dif.flags &= WEFT_SIG_REF_REMAP;
		wire.dif.flags &= WEFT_SIG_REF_REMAP;
		weft_rand_fill(&r, want_bytes, data_len);
		if (!mem.present)
			memcpy(in_bytes, want_bytes, len = data_len);
		for (uint64_t j = 0; mem.present && j < data_len / block; j++) {
			memcpy(in_bytes + len, want_bytes + j * block, block);
			model_sig(&mem, in_bytes + len, j, in_bytes + len + block);
			len += block + side_sig_len(&mem);
		}
		weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		assert_int_equal(key_set(&key, &mem, &wire, 0xFF, NULL), 0);
		sent = run_whole(&key, WEFT_SIG_TX, 0, 0, in_bytes, len, out_bytes, UNITS_MAX);
		assert_int_equal(
			run_whole(&key, WEFT_SIG_RX, 0, 0, out_bytes, sent, back_bytes, UNITS_MAX),
			len);
		assert_memory_equal(back_bytes, in_bytes, len);
		assert_int_equal(weft_sig_key_check(&key, &e), 0);
		assert_int_equal(e.type, WEFT_SIG_NO_ERROR);
		trips++;
	}
	assert_true(trips >= 296);
}

WEFT_TEST(transform_equals_strip_and_generate)
{
	const struct side none = { 0 };
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < (TYPES - 1) * (TYPES - 1); i++) {
		struct side a = side_draw(&r, CRC32 + i / (TYPES - 1), 512);
		struct side b = side_draw(&r, CRC32 + i % (TYPES - 1), 4096);
		struct weft_sig_key direct, strip, generate;
		size_t len, stripped, made;

		a.dif.flags &= WEFT_SIG_REF_REMAP;
		len = input_draw(&r, &a, 8192, 0);
		weft_sig_key_init(&direct, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		weft_sig_key_init(&strip, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		weft_sig_key_init(&generate, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		assert_int_equal(key_set(&direct, &a, &b, 0xFF, NULL), 0);
		assert_int_equal(key_set(&strip, &a, &none, 0xFF, NULL), 0);
		assert_int_equal(key_set(&generate, &none, &b, 0xFF, NULL), 0);
		stripped =
			run_whole(&strip, WEFT_SIG_TX, 0, 0, in_bytes, len, back_bytes, UNITS_MAX);
		made = run_whole(
			&generate, WEFT_SIG_TX, 0, 0, back_bytes, stripped, want_bytes, UNITS_MAX);
		assert_int_equal(
			run_whole(&direct, WEFT_SIG_TX, 0, 0, in_bytes, len, out_bytes, UNITS_MAX),
			made);
		assert_memory_equal(out_bytes, want_bytes, made);
		assert_memory_equal(&direct.latch, &strip.latch, sizeof(direct.latch));
	}
}

/* One cut at every byte of a unit, inside data and each field, on both sides at once. */
WEFT_TEST(a_cut_at_any_byte_changes_nothing)
{
	static struct weft_sig_stream s;
	struct weft_rand r;
	struct model_in m = { .check = 0xFF };
	struct model_out want = { .bytes = want_bytes };
	struct weft_sig_key key;
	size_t len;

	weft_test_seed(&r, __func__);
	m.in = side_draw(&r, DIF_CRC, 512);
	m.out = side_draw(&r, DIF_CSUM, 520);
	m.out.block = 512;
	m.copy = model_copy_mask(&m.in, &m.out);
	len = input_draw(&r, &m.in, 3 * 512, 0);
	model_run(&m, in_bytes, len, &want);
	for (size_t at = 0; at <= len; at++) {
		struct weft_sig_piece in[] = { { in_bytes, at, 0 }, { in_bytes + at, 0, 0 },
			{ in_bytes + at, len - at, 0 } };
		struct weft_sig_piece out[] = { { out_bytes, len - at, 0 },
			{ out_bytes + len - at, at, 0 } };
		struct weft_sig_list from = { .piece = in, .n = 3 }, to = { .piece = out, .n = 2 };

		memset(out_bytes, 0, len);
		weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		assert_int_equal(key_set(&key, &m.in, &m.out, 0xFF, NULL), 0);
		assert_int_equal(weft_sig_begin(&s, &key, WEFT_SIG_TX, 0, 0), 0);
		assert_int_equal(weft_sig_push(&s, &from, &to), 0);
		assert_int_equal(weft_sig_end(&s), 0);
		assert_memory_equal(out_bytes, want_bytes, want.len);
		errors_compare(&key, &want, WEFT_SIG_TX);
	}
}

/* Byte by byte in and out, by calls of their own: output that finds no room waits. */
WEFT_TEST(a_byte_a_call_changes_nothing)
{
	static struct weft_sig_stream s;
	struct weft_rand r;
	struct model_in m = { .check = 0xFF };
	struct model_out want = { .bytes = want_bytes };
	struct weft_sig_key key;
	size_t len, taken = 0, written = 0;

	weft_test_seed(&r, __func__);
	m.in = side_draw(&r, DIF_CRC, 4096);
	m.out = side_draw(&r, CRC64, 512);
	len = input_draw(&r, &m.in, 2 * 4096, 0);
	model_run(&m, in_bytes, len, &want);
	weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
	assert_int_equal(key_set(&key, &m.in, &m.out, 0xFF, NULL), 0);
	assert_int_equal(weft_sig_begin(&s, &key, WEFT_SIG_TX, 0, 0), 0);
	while (written < want.len) {
		struct weft_sig_piece in = { in_bytes + taken, taken < len, 0 };
		struct weft_sig_piece out = { out_bytes + written, 1, 0 };
		struct weft_sig_list from = { .piece = &in, .n = 1 };
		struct weft_sig_list to = { .piece = &out, .n = 1 };

		assert_int_equal(weft_sig_push(&s, taken < len ? &from : NULL, &to), 0);
		if (weft_sig_held(&s) != 0)
			assert_int_equal(weft_sig_end(&s), -11 /* EAGAIN */);
		taken += from.done;
		written += to.done;
	}
	assert_int_equal(taken, len);
	assert_int_equal(weft_sig_end(&s), 0);
	assert_memory_equal(out_bytes, want_bytes, want.len);
	errors_compare(&key, &want, WEFT_SIG_TX);
}

WEFT_TEST(shards_in_any_order_make_the_report_of_the_whole)
{
	struct weft_rand r;
	struct model_in m = { .check = 0xFF };
	struct model_out want = { .bytes = want_bytes };
	struct weft_sig_key total;
	size_t len;

	weft_test_seed(&r, __func__);
	m.in = side_draw(&r, DIF_CRC, 512);
	m.in.dif.flags = WEFT_SIG_REF_REMAP;
	m.out = side_draw(&r, DIF_CSUM, 4096);
	len = input_draw(&r, &m.in, 8 * 4096, 0);
	model_run(&m, in_bytes, len, &want);
	weft_sig_key_init(&total, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
	assert_int_equal(key_set(&total, &m.in, &m.out, 0xFF, NULL), 0);
	for (size_t i = 8; i-- > 0;) {
		struct weft_sig_key part;

		weft_sig_key_init(&part, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		assert_int_equal(key_set(&part, &m.in, &m.out, 0xFF, NULL), 0);
		run_whole(&part, WEFT_SIG_TX, 8 * i, 0, in_bytes + i * 8 * 520, 8 * 520,
			out_bytes + i * 4104, 4104);
		weft_sig_key_merge(&total, &part);
	}
	assert_memory_equal(out_bytes, want_bytes, want.len);
	assert_int_equal(total.counters.bytes, 8 * 4096);
	errors_compare(&total, &want, WEFT_SIG_TX);
}

WEFT_TEST(sums_of_pieces_join_in_any_order)
{
	struct weft_rand r;
	uint8_t data[1500];

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < 2000; i++) {
		const enum weft_sig_sum_kind kind = (enum weft_sig_sum_kind)(i % WEFT_SIG_SUMS);
		const size_t a = weft_rand_below(&r, 500), b = weft_rand_below(&r, 500);
		const size_t c = weft_rand_below(&r, 500);
		const uint64_t begin = weft_sig_sum_begin(kind, (i & 8) != 0 ? UINT64_MAX : 0);
		uint64_t parts[3], whole, left, right;

		weft_rand_fill(&r, data, sizeof(data));
		parts[2] = weft_sig_sum(NULL, kind, 0, data + a + b, c);
		parts[0] = weft_sig_sum(NULL, kind, begin, data, a);
		parts[1] = weft_sig_sum(NULL, kind, 0, data + a, b);
		whole = weft_sig_sum(NULL, kind, begin, data, a + b + c);
		left = weft_sig_sum_join(
			kind, weft_sig_sum_join(kind, parts[0], parts[1], b), parts[2], c);
		right = weft_sig_sum_join(
			kind, parts[0], weft_sig_sum_join(kind, parts[1], parts[2], c), b + c);
		assert_int_equal(left, whole);
		assert_int_equal(right, whole);
		assert_int_equal(weft_sig_sum(NULL, kind, parts[0], data + a, b + c), whole);
	}
}

static void
pattern_fill(const char *name, uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(strcmp(name, "ones") == 0  ? 0xFF
				 : strcmp(name, "inc") == 0 ? i
				 : strcmp(name, "dec") == 0 ? 0xFF - i
				 : strcmp(name, "c") == 0   ? 'c'
							    : 0);
}

static struct side
vector_side(const char *kind, uint32_t block, uint64_t seed, unsigned int app, unsigned int ref,
	unsigned int remap)
{
	struct side s = { .present = true, .block = block, .seed = seed };

	if (strncmp(kind, "DIF/", 4) == 0) {
		s.is_dif = true;
		s.dif = (struct weft_sig_t10dif){
			.bg_type =
				strcmp(kind, "DIF/CSUM") == 0 ? WEFT_SIG_BG_CSUM : WEFT_SIG_BG_CRC,
			.bg = (uint16_t)seed,
			.app_tag = (uint16_t)app,
			.ref_tag = ref,
			.flags = remap != 0 ? WEFT_SIG_REF_REMAP : 0,
		};
	} else {
		s.crc = strcmp(kind, "CRC32") == 0    ? WEFT_SIG_CRC32
		        : strcmp(kind, "CRC32C") == 0 ? WEFT_SIG_CRC32C
		                                      : WEFT_SIG_CRC64_XP10;
	}
	return s;
}

WEFT_TEST(vectors_of_the_specification_hold)
{
	const struct side none = { 0 };
	FILE *f = fopen(WEFT_TEST_VECTORS "/sig.txt", "r");
	char line[512];
	unsigned int lines = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		char pattern[8], kind[16], sig[2][20], sha[72];
		unsigned int bytes, block, app, ref, remap;
		unsigned long long seed;
		uint8_t want[8], digest[32], want_digest[32];
		struct weft_sig_key key;
		struct side wire;
		size_t len, n;

		if (line[0] == '#')
			continue;
		assert_int_equal(
			sscanf(line, "%7s %u %15s %u %llx %x %x %u %19s %19s %71s", pattern, &bytes,
				kind, &block, &seed, &app, &ref, &remap, sig[0], sig[1], sha),
			11);
		wire = vector_side(kind, block, seed, app, ref, remap);
		pattern_fill(pattern, in_bytes, bytes);
		weft_sig_key_init(&key, WEFT_SIG_KEY_BLOCK_SIGNATURE, NULL);
		assert_int_equal(key_set(&key, &none, &wire, 0xFF, NULL), 0);
		len = run_whole(&key, WEFT_SIG_TX, 0, 0, in_bytes, bytes, out_bytes, UNITS_MAX);
		n = side_sig_len(&wire);
		assert_int_equal(len, bytes + 2 * n);
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(weft_test_unhex(sig[i], want, n), n);
			assert_memory_equal(out_bytes + i * (block + n) + block, want, n);
		}
		SHA256(out_bytes, len, digest);
		assert_int_equal(weft_test_unhex(sha, want_digest, 32), 32);
		assert_memory_equal(digest, want_digest, 32);
		lines++;
	}
	fclose(f);
	assert_int_equal(lines, 200);
}
