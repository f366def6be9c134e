/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every row of the kernel table, with and without a copy: published vectors, and the definition at
 * every length and alignment in front of guard pages.
 */

#include "sig_model.h"
#include "weft_guard.h"
#include "weft_kernel_table.h"

#define SHORT_MAX 700
#define LONG 4096
#define AROUND 70
#define ALIGNMENTS 64
#define ROOM (LONG + AROUND + ALIGNMENTS)

/* The sum of @p len bytes behind @p sum, by the definition; CSUM with even lengths behind it. */
static uint64_t
by_definition(enum weft_sig_sum_kind kind, uint64_t sum, const uint8_t *p, size_t len)
{
	uint8_t even[ROOM + 1];

	switch (kind) {
	case WEFT_SIG_SUM_T10DIF: return model_crc(16, 0x8BB7, false, sum, p, len);
	case WEFT_SIG_SUM_CRC32: return model_crc(32, 0x04C11DB7, true, ~sum, p, len);
	case WEFT_SIG_SUM_CRC32C: return model_crc(32, 0x1EDC6F41, true, ~sum, p, len);
	case WEFT_SIG_SUM_CRC64:
		return model_crc(64, UINT64_C(0xAD93D23594C93659), true, ~sum, p, len);
	default:
		memcpy(even, p, len);
		even[len] = 0;
		return (uint16_t)~model_csum((uint16_t)sum, even, (len + 1) & ~(size_t)1);
	}
}

/* Not the model's register, which takes any: those behind a first piece of the same message. */
static uint64_t
begin_draw(struct weft_rand *r, enum weft_sig_sum_kind kind)
{
	const unsigned int width[] = { 16, 16, 32, 32, 64 };

	return weft_rand_u64(r) & weft_mask64(width[kind]);
}

struct subject {
	const struct weft_sig_kernel *row;
	enum weft_sig_sum_kind kind;
	char name[64];
};

static void
skip_if_the_cpu_lacks(const struct subject *s)
{
	if (weft_kernel_usable(&s->row->k, weft_cpu_detect()))
		return;
	print_message("  skipped: this CPU lacks what %s needs\n", s->row->k.name);
	skip();
}

/* The model reflects the register's bits only at its end: bring @p sum to its beginning. */
static uint64_t
model_begin(enum weft_sig_sum_kind kind, uint64_t sum)
{
	const unsigned int width = kind == WEFT_SIG_SUM_CRC64 ? 64 : 32;
	uint64_t r = 0;

	if (kind == WEFT_SIG_SUM_T10DIF || kind == WEFT_SIG_SUM_CSUM)
		return sum;
	for (unsigned int b = 0; b < width; b++)
		r |= (sum >> b & 1) << (width - 1 - b);
	return r;
}

static void
compare(const struct subject *s, uint64_t begin, uint64_t want, const uint8_t *src, uint8_t *dst,
	size_t len)
{
	const unsigned int kind = s->kind;

	assert_int_equal(s->row->sum[kind](begin, src, len), want);
	dst[-1] = 0x5A;
	memset(dst, 0, len);
	assert_int_equal(s->row->copy[kind](begin, dst, src, len), want);
	assert_memory_equal(dst, src, len);
	assert_int_equal(dst[-1], 0x5A);
}

static void
every_length_and_alignment_agrees_at_a_guard_page(void **state)
{
	const struct subject *s = *state;
	struct weft_guard from, to;
	uint8_t data[LONG + AROUND];
	uint64_t begin, *want;
	struct weft_rand r;

	skip_if_the_cpu_lacks(s);
	weft_test_seed(&r, s->name);
	weft_rand_fill(&r, data, sizeof(data));
	begin = begin_draw(&r, s->kind);
	want = malloc((sizeof(data) + 1) * sizeof(*want));
	assert_non_null(want);
	for (size_t len = 0; len <= sizeof(data); len++)
		if (len <= SHORT_MAX || len >= LONG - AROUND)
			want[len] = by_definition(s->kind, model_begin(s->kind, begin), data, len);
	weft_guard_open(&from, ROOM);
	weft_guard_open(&to, ROOM + 1);
	for (size_t align = 0; align < ALIGNMENTS; align++)
		for (size_t len = 0; len <= sizeof(data); len++) {
			uint8_t *src = weft_guard_last(&from, len + align);
			uint8_t *dst = weft_guard_last(&to, len + (align * 7 & 63));

			if (len > SHORT_MAX && len < LONG - AROUND)
				continue;
			memcpy(src, data, len);
			compare(s, begin, want[len], src, dst, len);
		}
	weft_guard_close(&to);
	weft_guard_close(&from);
	free(want);
}

static const struct {
	enum weft_sig_sum_kind kind;
	const char *text;
	uint64_t want;
} texts[] = {
	{ WEFT_SIG_SUM_T10DIF, "123456789", 0xD0DB },
	{ WEFT_SIG_SUM_T10DIF, "abc", 0x443B },
	{ WEFT_SIG_SUM_T10DIF, "abcddddddddddddddddddddddddddddddddddddddddddddddddddddd", 0x9CE3 },
	{ WEFT_SIG_SUM_CRC32, "123456789", 0xCBF43926 },
	{ WEFT_SIG_SUM_CRC32, "Hello world!", 0x1B851995 },
	{ WEFT_SIG_SUM_CRC32, "The quick brown fox jumps over the lazy dog", 0x414FA339 },
	{ WEFT_SIG_SUM_CRC32C, "123456789", 0xE3069283 },
	{ WEFT_SIG_SUM_CRC32C, "12345678", 0x6087809A },
	{ WEFT_SIG_SUM_CRC32C, "Hello world!", 0x7B98E751 },
	{ WEFT_SIG_SUM_CRC64, "123456789", UINT64_C(0xAE8B14860A799888) },
	{ WEFT_SIG_SUM_CRC64, "hello world!", UINT64_C(0xD9160D1FA8E418E3) },
	{ WEFT_SIG_SUM_CRC64, "abc", UINT64_C(0x05E5CABB3FC1FAEB) },
};

/*
 * Section 3: by kind, blocks of 512 and 4096: zeros, ones, up, down; first register FFFF for DIF.
 */
static const uint64_t blocks[WEFT_SIG_SUMS][2][4] = {
	[WEFT_SIG_SUM_T10DIF] = { { 0x72BB, 0x941A, 0x3DAB, 0xDB0A },
		{ 0xE7E2, 0x6CBF, 0x688F, 0xE3D2 } },
	[WEFT_SIG_SUM_CSUM] = { { 0x0000, 0x0000, 0x7F80, 0x807F },
		{ 0x0000, 0x0000, 0xFC03, 0x03FC } },
	[WEFT_SIG_SUM_CRC32] = { { 0xB2AA7578, 0xBD7BC39F, 0x1C613576, 0x13B08391 },
		{ 0xC71C0011, 0xF154670A, 0xA2912082, 0x94D94799 } },
	[WEFT_SIG_SUM_CRC32C] = { { 0x30FCEDC0, 0x5BD99297, 0xAE10EE5A, 0xC535910D },
		{ 0x98F94189, 0x25C1FE13, 0x9C71FE32, 0x214941A8 } },
	[WEFT_SIG_SUM_CRC64] = { { UINT64_C(0x1DE60E2868A782E9), UINT64_C(0x5277682DDAEB44B6),
					 UINT64_C(0x65F48632094A1B07),
					 UINT64_C(0x2A65E037BB06DD58) },
		{ UINT64_C(0x6482D367EB22B64E), UINT64_C(0xC0DDBA7302ECA3AC),
			UINT64_C(0x3E729F5F6750449C), UINT64_C(0x9A2DF64B8E9E517E) } },
};

static void
published_vectors_hold(void **state)
{
	const struct subject *s = *state;
	const uint64_t ones = weft_sig_sum_begin(s->kind, UINT64_MAX);
	uint8_t data[LONG], copy[LONG + 1];

	skip_if_the_cpu_lacks(s);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(texts); i++)
		if (texts[i].kind == s->kind)
			assert_int_equal(
				s->row->sum[s->kind](0, texts[i].text, strlen(texts[i].text)),
				texts[i].want);
	for (unsigned int i = 0; i < 8; i++) {
		const size_t len = i < 4 ? 512 : LONG;
		const uint64_t want = blocks[s->kind][i / 4][i % 4];
		uint64_t sum;

		for (size_t k = 0; k < len; k++)
			data[k] = (uint8_t)(i % 4 == 0   ? 0
					    : i % 4 == 1 ? 0xFF
					    : i % 4 == 2 ? k
							 : ~k);
		sum = s->row->sum[s->kind](ones, data, len);
		assert_int_equal(weft_sig_sum_end(s->kind, sum), want);
		assert_int_equal(s->row->copy[s->kind](ones, copy + 1, data, len), sum);
		assert_memory_equal(copy + 1, data, len);
	}
}

static const struct weft_kernel *
find(const char *name, uint32_t features)
{
	return (const struct weft_kernel *)(const void *)weft_sig_kernel_find(name, features);
}

static void
the_best_is_found_without_asking(void **state)
{
	(void)state;
	assert_ptr_equal(weft_sig_kernel_best(), weft_sig_kernel_find(NULL, weft_cpu_detect()));
	assert_null(weft_kernel_failure(0));
}

static int
run_subject(struct subject *s)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(published_vectors_hold, s),
		cmocka_unit_test_prestate(every_length_and_alignment_agrees_at_a_guard_page, s),
	};

	return cmocka_run_group_tests_name(s->name, tests, NULL, NULL);
}

int
main(void)
{
	struct weft_kernel_table table = { weft_sig_kernels, sizeof(weft_sig_kernels[0]),
		weft_sig_n_kernels, find };
	static const char *const kinds[] = { "t10dif", "csum", "crc32", "crc32c", "crc64" };
	const struct CMUnitTest tests[] = {
		WEFT_KERNEL_TABLE_TESTS(&table),
		cmocka_unit_test(the_best_is_found_without_asking),
	};
	int failed = cmocka_run_group_tests_name("choice", tests, NULL, NULL);

	for (unsigned int i = 0; i < weft_sig_n_kernels; i++)
		for (unsigned int k = 0; k < WEFT_SIG_SUMS; k++) {
			struct subject s = { .row = &weft_sig_kernels[i],
				.kind = (enum weft_sig_sum_kind)k };

			snprintf(s.name, sizeof(s.name), "%s %s", s.row->k.name, kinds[k]);
			failed += run_subject(&s);
		}
	return failed;
}
