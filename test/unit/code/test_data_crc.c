/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The data CRCs and every row of the CRC64 kernel table: published vectors, the vectors of the
 * model, and the parameters of the CRC catalogue put into practice a bit at a time.
 */

#include "weft_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "crc64_priv.h"
#include "weft_data_crc.h"
#include "weft_kernel_table.h"

#define SHORT_MAX 600
#define ALIGNMENTS 64
#define LONG_MAX 65536

/* A CRC as the catalogue describes it (signature.md section 3.1). */
struct params {
	const char *name;
	unsigned int width;
	uint64_t poly;
	bool reflected;
	bool inverted; /* register begun with ones, and inverted behind */
};

enum { T10DIF, CRC32, CRC32C, CRC64, KINDS };

static const struct params kinds[KINDS] = {
	[T10DIF] = { "t10dif", 16, 0x8BB7, false, false },
	[CRC32] = { "crc32", 32, 0x04C11DB7, true, true },
	[CRC32C] = { "crc32c", 32, 0x1EDC6F41, true, true },
	[CRC64] = { "crc64-xp10", 64, UINT64_C(0xAD93D23594C93659), true, true },
};

static uint64_t
reversed(uint64_t v, unsigned int width)
{
	uint64_t r = 0;

	for (unsigned int i = 0; i < width; i++)
		r |= (v >> i & 1) << (width - 1 - i);
	return r;
}

/* The register stands most significant bit first, whichever way the bits of a byte come. */
static uint64_t
by_definition(const struct params *k, uint64_t crc, const uint8_t *p, size_t len)
{
	const uint64_t mask = weft_mask64(k->width);
	uint64_t r = (k->inverted ? ~crc : crc) & mask;

	if (k->reflected)
		r = reversed(r, k->width);
	for (size_t i = 0; i < len; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			const uint64_t in = p[i] >> (k->reflected ? bit : 7 - bit) & 1;
			const bool out = ((r >> (k->width - 1) ^ in) & 1) != 0;

			r = (r << 1 ^ (out ? k->poly : 0)) & mask;
		}
	if (k->reflected)
		r = reversed(r, k->width);
	return (k->inverted ? ~r : r) & mask;
}

static uint64_t
t10dif(uint64_t crc, const void *buf, size_t len)
{
	return weft_crc16_t10dif((uint16_t)crc, buf, len);
}

static uint64_t
crc32(uint64_t crc, const void *buf, size_t len)
{
	return weft_crc32((uint32_t)crc, buf, len);
}

static uint64_t
crc32c(uint64_t crc, const void *buf, size_t len)
{
	return weft_crc32c((uint32_t)crc, buf, len);
}

/* What is tested: a function of its own, or a row of the kernel table. */
struct subject {
	const char *name;
	const struct params *kind;
	weft_crc64_fn fn;
	uint32_t needs;
};

static const struct subject functions[] = {
	{ "weft_crc16_t10dif", &kinds[T10DIF], t10dif, 0 },
	{ "weft_crc32", &kinds[CRC32], crc32, 0 },
	{ "weft_crc32c", &kinds[CRC32C], crc32c, 0 },
	{ "weft_crc64_xp10", &kinds[CRC64], weft_crc64_xp10, 0 },
	{ "weft_crc64_xp10_ref", &kinds[CRC64], weft_crc64_xp10_ref, 0 },
};

static void
skip_if_the_cpu_lacks(const struct subject *s)
{
	if ((s->needs & ~weft_cpu_detect()) == 0)
		return;
	print_message("  skipped: this CPU lacks what %s needs\n", s->name);
	skip();
}

static uint64_t
random_crc(struct weft_rand *r, const struct params *kind)
{
	return weft_rand_u64(r) & weft_mask64(kind->width);
}

/* Vectors of signature.md sections 3.2 to 3.5. */

static void
zeros(uint8_t *p, size_t len)
{
	memset(p, 0, len);
}

static void
ones(uint8_t *p, size_t len)
{
	memset(p, 0xFF, len);
}

static void
up(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)i;
}

static void
down(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(0xFF - i);
}

static const struct {
	const char *text;
	uint64_t want[KINDS];
} texts[] = {
	{ "", { 0, 0, 0, 0 } },
	{ "123456789", { 0xD0DB, 0xCBF43926, 0xE3069283, UINT64_C(0xAE8B14860A799888) } },
};

static const struct {
	unsigned int kind;
	const char *text;
	uint64_t want;
} more_texts[] = {
	{ T10DIF, "abc", 0x443B },
	{ T10DIF, "abcddddddddddddddddddddddddddddddddddddddddddddddddddddd", 0x9CE3 },
	{ CRC32, "a", 0xE8B7BE43 },
	{ CRC32, "penguin", 0xE5C1A120 },
	{ CRC32, "The quick brown fox jumps over the lazy dog", 0x414FA339 },
	{ CRC32C, "1", 0x90F599E3 },
	{ CRC32C, "12345678", 0x6087809A },
	{ CRC32C, "Hello world!", 0x7B98E751 },
	{ CRC64, "a", UINT64_C(0x8C2F8445B4CBFC3C) },
	{ CRC64, "hello world!", UINT64_C(0xD9160D1FA8E418E3) },
};

static const struct {
	void (*fill)(uint8_t *p, size_t len);
	size_t len;
	uint64_t want[KINDS];
} blocks[] = {
	{ zeros, 512, { 0x0000, 0xB2AA7578, 0x30FCEDC0, UINT64_C(0x1DE60E2868A782E9) } },
	{ ones, 512, { 0xE6A1, 0xBD7BC39F, 0x5BD99297, UINT64_C(0x5277682DDAEB44B6) } },
	{ up, 512, { 0x4F10, 0x1C613576, 0xAE10EE5A, UINT64_C(0x65F48632094A1B07) } },
	{ down, 512, { 0xA9B1, 0x13B08391, 0xC535910D, UINT64_C(0x2A65E037BB06DD58) } },
	{ zeros, 4096, { 0x0000, 0xC71C0011, 0x98F94189, UINT64_C(0x6482D367EB22B64E) } },
	{ ones, 4096, { 0x8B5D, 0xF154670A, 0x25C1FE13, UINT64_C(0xC0DDBA7302ECA3AC) } },
	{ up, 4096, { 0x8F6D, 0xA2912082, 0x9C71FE32, UINT64_C(0x3E729F5F6750449C) } },
	{ down, 4096, { 0x0430, 0x94D94799, 0x214941A8, UINT64_C(0x9A2DF64B8E9E517E) } },
};

static void
published_vectors_hold(void **state)
{
	const struct subject *s = *state;
	const unsigned int kind = (unsigned int)(s->kind - kinds);
	uint8_t block[4096];

	skip_if_the_cpu_lacks(s);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(texts); i++)
		assert_int_equal(
			s->fn(0, texts[i].text, strlen(texts[i].text)), texts[i].want[kind]);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(more_texts); i++)
		if (more_texts[i].kind == kind)
			assert_int_equal(s->fn(0, more_texts[i].text, strlen(more_texts[i].text)),
				more_texts[i].want);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(blocks); i++) {
		blocks[i].fill(block, blocks[i].len);
		assert_int_equal(s->fn(0, block, blocks[i].len), blocks[i].want[kind]);
	}
}

static void
another_first_register_is_passed_as_documented(void **state)
{
	uint8_t block[512];

	(void)state;
	up(block, sizeof(block));
	assert_int_equal(weft_crc16_t10dif(0xFFFF, block, sizeof(block)), 0x3DAB);
	zeros(block, sizeof(block));
	assert_int_equal(weft_crc16_t10dif(0xFFFF, block, sizeof(block)), 0x72BB);
	assert_int_equal(weft_crc32(UINT32_MAX, block, sizeof(block)), UINT32_MAX);
	assert_int_equal(weft_crc32c(UINT32_MAX, block, sizeof(block)), UINT32_MAX);
	assert_int_equal(weft_crc64_xp10(UINT64_MAX, block, sizeof(block)), UINT64_MAX);
}

static void
nothing_changes_nothing(void **state)
{
	const struct subject *s = *state;
	struct weft_rand r;

	skip_if_the_cpu_lacks(s);
	weft_test_seed(&r, s->name);
	for (int round = 0; round < 100; round++) {
		const uint64_t crc = random_crc(&r, s->kind);

		assert_int_equal(s->fn(crc, NULL, 0), crc);
	}
}

/* test/vectors/data_crc.txt, written by the model: start bytes t10dif crc32 crc32c crc64 */
static void
vectors_of_the_model_hold(void **state)
{
	const struct subject *s = *state;
	const unsigned int kind = (unsigned int)(s->kind - kinds);
	FILE *f = fopen(WEFT_TEST_VECTORS "/data_crc.txt", "r");
	char line[4096], hex[2048];
	unsigned int lines = 0;

	skip_if_the_cpu_lacks(s);
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		unsigned long long start, want[KINDS];
		uint8_t bytes[1024];
		size_t len;

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%llx %2047s %llx %llx %llx %llx", &start, hex,
					 &want[0], &want[1], &want[2], &want[3]),
			6);
		len = weft_test_unhex(hex, bytes, sizeof(bytes));
		assert_int_equal(len * 2, strcmp(hex, "-") == 0 ? 0 : strlen(hex));
		assert_int_equal(
			s->fn(start & weft_mask64(s->kind->width), bytes, len), want[kind]);
		lines++;
	}
	fclose(f);
	assert_true(lines >= 40);
}

/* Memory between two guard pages. */
struct fenced {
	uint8_t *map;
	size_t page;
	uint8_t *first; /* first byte that may be read */
	uint8_t *end; /* first that may not */
};

static void
fence_open(struct fenced *f)
{
	f->page = (size_t)sysconf(_SC_PAGESIZE);
	f->map = mmap(NULL, 3 * f->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f->map != MAP_FAILED);
	f->first = f->map + f->page;
	f->end = f->first + f->page;
	assert_int_equal(mprotect(f->first, f->page, PROT_READ | PROT_WRITE), 0);
}

static void
fence_close(struct fenced *f)
{
	assert_int_equal(munmap(f->map, 3 * f->page), 0);
}

/*
 * Every length at every alignment, once with the buffer's first byte and once with its last byte
 * as near to a guard page as the alignment allows.
 */
static void
short_buffers_agree_between_guard_pages(void **state)
{
	const struct subject *s = *state;
	uint64_t start, want[SHORT_MAX + 1];
	uint8_t data[SHORT_MAX];
	struct fenced fence;
	struct weft_rand r;

	skip_if_the_cpu_lacks(s);
	weft_test_seed(&r, s->name);
	fence_open(&fence);
	weft_rand_fill(&r, fence.first, fence.page);
	weft_rand_fill(&r, data, sizeof(data));
	start = want[0] = random_crc(&r, s->kind);
	for (size_t len = 0; len < SHORT_MAX; len++)
		want[len + 1] = by_definition(s->kind, want[len], data + len, 1);
	for (size_t len = 0; len <= SHORT_MAX; len++)
		for (size_t align = 0; align < ALIGNMENTS; align++) {
			uint8_t *front = fence.first + align;
			uint8_t *back = fence.end - align - len;

			memcpy(front, data, len);
			assert_int_equal(s->fn(start, front, len), want[len]);
			memcpy(back, data, len);
			assert_int_equal(s->fn(start, back, len), want[len]);
		}
	fence_close(&fence);
}

static void
pieces_equal_the_whole_at_every_split(void **state)
{
	const struct subject *s = *state;
	uint8_t data[SHORT_MAX];
	uint64_t whole;
	struct weft_rand r;

	skip_if_the_cpu_lacks(s);
	weft_test_seed(&r, s->name);
	weft_rand_fill(&r, data, sizeof(data));
	whole = by_definition(s->kind, 0, data, sizeof(data));
	for (size_t cut = 0; cut <= sizeof(data); cut++) {
		const size_t more = weft_rand_below(&r, sizeof(data) - cut + 1);
		const uint64_t head = s->fn(0, data, cut);
		const uint64_t middle = s->fn(head, data + cut, more);

		assert_int_equal(s->fn(head, data + cut, sizeof(data) - cut), whole);
		assert_int_equal(
			s->fn(middle, data + cut + more, sizeof(data) - cut - more), whole);
	}
}

static void
long_buffers_agree(void **state)
{
	const struct subject *s = *state;
	uint8_t *data;
	struct weft_rand r;

	skip_if_the_cpu_lacks(s);
	data = malloc(LONG_MAX + ALIGNMENTS);
	assert_non_null(data);
	weft_test_seed(&r, s->name);
	weft_rand_fill(&r, data, LONG_MAX + ALIGNMENTS);
	for (int round = 0; round < 60; round++) {
		const size_t len = weft_rand_below(&r, LONG_MAX + 1);
		const uint8_t *p = data + weft_rand_below(&r, ALIGNMENTS);
		const uint64_t start = random_crc(&r, s->kind);

		assert_int_equal(s->fn(start, p, len), by_definition(s->kind, start, p, len));
	}
	free(data);
}

/* Lengths that fit neither an int nor 32 bits, over one piece of memory mapped many times. */
#define PIECE ((size_t)1 << 24)
#define PIECES 256
#define BEYOND (PIECES * PIECE + 5)

static uint8_t *
map_pieces(const uint8_t *piece)
{
	int fd = memfd_create("weft-data-crc", 0);
	uint8_t *map;

	assert_true(fd >= 0);
	for (size_t done = 0; done < PIECE;) {
		ssize_t n = write(fd, piece + done, PIECE - done);

		assert_true(n > 0);
		done += (size_t)n;
	}
	map = mmap(NULL, (PIECES + 1) * PIECE, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	for (size_t i = 0; map != MAP_FAILED && i <= PIECES; i++)
		assert_true(mmap(map + i * PIECE, PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
				    0) != MAP_FAILED);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void
more_than_4_gib_is_not_cut_short(void **state)
{
	uint8_t *piece = malloc(PIECE), *map;
	struct weft_rand r;

	(void)state;
	assert_non_null(piece);
	weft_test_seed(&r, __func__);
	weft_rand_fill(&r, piece, PIECE);
	map = map_pieces(piece);
	if (map == NULL) {
		free(piece);
		print_message("  skipped: no 4 GiB of address space\n");
		skip();
	}
	for (size_t i = 0; i < (weft_test_is_again() ? 1 : KINDS); i++) {
		const struct subject *s = &functions[i];
		uint64_t want = 0;

		for (unsigned int k = 0; k < PIECES; k++)
			want = s->fn(want, piece, PIECE);
		want = s->fn(want, piece, BEYOND - PIECES * PIECE);
		assert_int_equal(s->fn(0, map, BEYOND), want);
	}
	assert_int_equal(munmap(map, (PIECES + 1) * PIECE), 0);
	free(piece);
}

static void
constants_are_those_of_the_specification(void **state)
{
	static const struct {
		unsigned int bits;
		uint64_t lo, hi;
	} folds[] = {
		{ 128, UINT64_C(0xeadc41fd2ba3d420), UINT64_C(0x21e9761e252621ac) },
		{ 256, UINT64_C(0xb0bc2e589204f500), UINT64_C(0xe1e0bb9d45d7a44c) },
		{ 512, UINT64_C(0x0c32cdb31e18a84a), UINT64_C(0x62242240ace5045a) },
		{ 1024, UINT64_C(0xa1ca681e733f9c40), UINT64_C(0x5f852fb61e8d92dc) },
		{ 2048, UINT64_C(0x37ccd3e14069cabc), UINT64_C(0xa043808c0f782663) },
	};

	(void)state;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(folds); i++) {
		assert_int_equal(weft_crc64_fold[folds[i].bits / 128][0], folds[i].lo);
		assert_int_equal(weft_crc64_fold[folds[i].bits / 128][1], folds[i].hi);
	}
	assert_int_equal(weft_crc64_barrett[0], UINT64_C(0x27ecfa329aef9f77));
	assert_int_equal(weft_crc64_barrett[1], UINT64_C(0x34d926535897936a));
}

static const struct weft_kernel *
find(const char *name, uint32_t features)
{
	return (const struct weft_kernel *)(const void *)weft_crc64_kernel_find(name, features);
}

static int
run_subject(const struct subject *s)
{
	void *state = (void *)(uintptr_t)s;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(published_vectors_hold, state),
		cmocka_unit_test_prestate(vectors_of_the_model_hold, state),
		cmocka_unit_test_prestate(nothing_changes_nothing, state),
		cmocka_unit_test_prestate(short_buffers_agree_between_guard_pages, state),
		cmocka_unit_test_prestate(pieces_equal_the_whole_at_every_split, state),
		cmocka_unit_test_prestate(long_buffers_agree, state),
	};

	return cmocka_run_group_tests_name(s->name, tests, NULL, NULL);
}

int
main(void)
{
	struct weft_kernel_table table = { weft_crc64_kernels, sizeof(weft_crc64_kernels[0]),
		weft_crc64_n_kernels, find };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_those_of_the_specification),
		cmocka_unit_test(another_first_register_is_passed_as_documented),
		cmocka_unit_test(more_than_4_gib_is_not_cut_short),
		WEFT_KERNEL_TABLE_TESTS(&table),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(functions); i++)
		failed += run_subject(&functions[i]);
	for (unsigned int i = 0; i < weft_crc64_n_kernels; i++) {
		const struct weft_crc64_kernel *row = &weft_crc64_kernels[i];
		const struct subject s = { row->k.name, &kinds[CRC64], row->fn, row->k.needs };

		failed += run_subject(&s);
	}
	return failed;
}
