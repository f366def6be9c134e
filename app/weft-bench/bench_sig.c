/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Block signatures, every type and block size, over 64 blocks that stay in the cache: the sum
 * alone, the sum while copying, and whole streams that check and strip, or make and insert. memcpy
 * of the same blocks is what they are to be compared with. A flit is 256 bytes of data here.
 */

#include "bench.h"

#include <stdlib.h>

#include "weft_flit.h"
#include "weft_rand.h"
#include "weft_sig.h"

#define BLOCKS 64
#define SIZES 5

enum work { MEMCPY, SUM, COPY, CHECK, GENERATE, WORKS };

struct sig {
	const struct bench *b;
	const struct weft_sig_kernel *kernel;
	enum work work;
	enum weft_sig_sum_kind sum;
	uint32_t block;
	uint32_t sig_len;
	uint64_t begin;
	uint64_t want[BLOCKS];
	uint64_t bad; /* blocks that gave another answer */
	struct weft_sig_key key;
	struct weft_sig_stream stream;
	uint8_t from[BLOCKS * (WEFT_SIG_BLOCK_MAX + WEFT_SIG_LEN_MAX)];
	uint8_t to[BLOCKS * (WEFT_SIG_BLOCK_MAX + WEFT_SIG_LEN_MAX)];
};

/* One by one through the bits, as signature.md section 3.1 has them; register begun with ones. */
static uint64_t
sig_by_definition(enum weft_sig_sum_kind kind, const uint8_t *p, size_t len)
{
	static const uint64_t reversed[WEFT_SIG_SUMS] = { [WEFT_SIG_SUM_CRC32] = 0xEDB88320,
		[WEFT_SIG_SUM_CRC32C] = 0x82F63B78,
		[WEFT_SIG_SUM_CRC64] = UINT64_C(0x9A6C9329AC4BC9B5) };
	const uint64_t ones = kind == WEFT_SIG_SUM_CRC64 ? UINT64_MAX : UINT32_MAX;
	uint64_t r = reversed[kind] != 0 ? ones : UINT16_MAX;

	for (size_t i = 0; i < len; i++) {
		if (kind == WEFT_SIG_SUM_CSUM) {
			r += (uint64_t)p[i] << (i % 2 == 0 ? 8 : 0);
			r = (r & UINT16_MAX) + (r >> 16);
			continue;
		}
		r ^= kind == WEFT_SIG_SUM_T10DIF ? (uint64_t)p[i] << 8 : p[i];
		for (unsigned int bit = 0; bit < 8; bit++) {
			if (kind == WEFT_SIG_SUM_T10DIF)
				r = (r << 1 ^ ((r & 0x8000) != 0 ? 0x8BB7 : 0)) & UINT16_MAX;
			else
				r = r >> 1 ^ ((r & 1) != 0 ? reversed[kind] : 0);
		}
	}
	return reversed[kind] != 0 ? r ^ ones : r;
}

static void
sig_stream_run(struct sig *s, enum weft_sig_dir dir)
{
	const size_t plain = (size_t)BLOCKS * s->block, units = plain + BLOCKS * s->sig_len;
	struct weft_sig_piece in = { s->from, s->work == CHECK ? units : plain, 0 };
	struct weft_sig_piece out = { s->to, sizeof(s->to), 0 };
	struct weft_sig_op op = { .key = &s->key,
		.dir = dir,
		.in = { .piece = &in, .n = 1 },
		.out = { .piece = &out, .n = 1 } };

	s->bad += weft_sig_burst(&s->stream, &op, 1) != 1;
}

static uint64_t
sig_run(void *ctx)
{
	struct sig *s = ctx;
	const size_t step = s->block;

	switch (s->work) {
	case CHECK: sig_stream_run(s, WEFT_SIG_TX); break;
	case GENERATE: sig_stream_run(s, WEFT_SIG_RX); break;
	case MEMCPY:
		for (size_t i = 0; i < BLOCKS; i++)
			memcpy(s->to + i * step, s->from + i * step, step);
		break;
	case SUM:
		for (size_t i = 0; i < BLOCKS; i++)
			s->bad += s->kernel->sum[s->sum](s->begin, s->from + i * step, step) !=
			          s->want[i];
		break;
	default:
		for (size_t i = 0; i < BLOCKS; i++)
			s->bad += s->kernel->copy[s->sum](s->begin, s->to + i * step,
					  s->from + i * step, step) != s->want[i];
	}
	return (uint64_t)BLOCKS * s->block / WEFT_FLIT_LEN;
}

/* A signature as it is stored: the sum and, for DIF, tags of 0 behind it. */
static void
sig_put(const struct sig *s, uint8_t *p, uint64_t sum)
{
	if (s->sum > WEFT_SIG_SUM_CSUM) {
		weft_put_le32(p, (uint32_t)sum);
		if (s->sig_len == 8)
			weft_put_le64(p, sum);
		return;
	}
	memset(p, 0, 8);
	weft_put_be16(p, (uint16_t)(s->sum == WEFT_SIG_SUM_CSUM ? ~sum : sum));
}

static bool
sig_is_right(void *ctx)
{
	const struct sig *s = ctx;
	const size_t in_step = s->block + (s->work == CHECK ? s->sig_len : 0);
	const size_t out_step = s->block + (s->work == GENERATE ? s->sig_len : 0);
	uint64_t errors = 0;

	for (unsigned int i = 0; i < WEFT_SIG_ERROR_TYPES; i++)
		errors += s->key.counters.errors[i];
	if (s->bad != 0 || errors != 0 || (s->work == CHECK && s->key.counters.checked == 0))
		return false;
	for (size_t i = 0; i < BLOCKS && s->work != SUM; i++) {
		const uint8_t *out = s->to + i * out_step;
		uint8_t sig[8];

		if (memcmp(out, s->from + i * in_step, s->block) != 0)
			return false;
		sig_put(s, sig, s->want[i]);
		if (s->work == GENERATE && memcmp(out + s->block, sig, s->sig_len) != 0)
			return false;
	}
	return true;
}

/* What is checked must also be noticed. */
static bool
sig_finds_damage(struct sig *s)
{
	struct weft_sig_error e;
	bool found = true;

	if (s->work == SUM || s->work == COPY) {
		s->from[7] ^= 1;
		sig_run(s);
		found = s->bad == 1;
		s->from[7] ^= 1;
	} else if (s->work == CHECK) {
		s->from[s->block + s->sig_len + 7] ^= 1;
		sig_run(s);
		found = weft_sig_key_check(&s->key, &e) == 0 && e.type == WEFT_SIG_BAD_GUARD &&
		        e.block == 1;
		s->from[s->block + s->sig_len + 7] ^= 1;
	}
	s->bad = 0;
	s->key.counters = (struct weft_sig_counters){ 0 };
	sig_run(s);
	return found;
}

/* The domain of memory; there is none on the wire. */
static bool
sig_open_key(struct sig *s)
{
	const struct weft_sig_t10dif dif = {
		.bg_type = s->sum == WEFT_SIG_SUM_CSUM ? WEFT_SIG_BG_CSUM : WEFT_SIG_BG_CRC,
		.bg = UINT16_MAX
	};
	const struct weft_sig_crc crc = { .type = s->sum == WEFT_SIG_SUM_CRC32 ? WEFT_SIG_CRC32
		                                  : s->sum == WEFT_SIG_SUM_CRC32C
		                                          ? WEFT_SIG_CRC32C
		                                          : WEFT_SIG_CRC64_XP10,
		.seed = s->sig_len == 8 ? UINT64_MAX : UINT32_MAX };
	struct weft_sig_domain mem = {
		.sig_type = WEFT_SIG_CRC, .sig.crc = &crc, .block_size = s->block
	};
	const struct weft_sig_attr attr = { .mem = &mem, .check_mask = UINT8_MAX };

	if (s->sum <= WEFT_SIG_SUM_CSUM) {
		mem.sig_type = WEFT_SIG_T10DIF;
		mem.sig.dif = &dif;
	}
	return weft_sig_key_init(&s->key, WEFT_SIG_KEY_BLOCK_SIGNATURE, s->kernel) == 0 &&
	       weft_sig_key_configure(&s->key, 0, 0) == 0 &&
	       weft_sig_key_set_sig(&s->key, &attr) == 0 && weft_sig_key_complete(&s->key) == 0;
}

/* A row's kind: work, sum and place in the list of block sizes. */
#define KIND(work, sum, size) (((work)*WEFT_SIG_SUMS + (sum)) * SIZES + (size))

static void *
sig_setup(const struct bench *b, const struct bench_params *p)
{
	struct sig *s = bench_alloc(sizeof(*s));
	struct weft_rand r;
	size_t step;

	s->b = b;
	s->kernel = p->sig;
	s->block = weft_sig_block_sizes()[b->kind % SIZES];
	s->sum = (enum weft_sig_sum_kind)(b->kind / SIZES % WEFT_SIG_SUMS);
	s->work = (enum work)(b->kind / SIZES / WEFT_SIG_SUMS);
	s->sig_len = s->sum == WEFT_SIG_SUM_CRC32 || s->sum == WEFT_SIG_SUM_CRC32C ? 4 : 8;
	s->begin = weft_sig_sum_begin(s->sum, UINT64_MAX);
	step = s->block + (s->work == CHECK ? s->sig_len : 0);
	weft_rand_seed(&r, 1);
	for (size_t i = 0; i < BLOCKS; i++) {
		weft_rand_fill(&r, s->from + i * step, s->block);
		s->want[i] = sig_by_definition(s->sum, s->from + i * step, s->block);
		if (s->work == CHECK)
			sig_put(s, s->from + i * step + s->block, s->want[i]);
	}
	s->bad += !sig_open_key(s) || !sig_finds_damage(s);
	return s;
}

static const struct bench_ops sig = { sig_setup, NULL, sig_run, sig_is_right, free };

#define ROW(name, help, family, work, sum, size)                                                   \
	{                                                                                          \
		name, help, family, 1 << BENCH_RTC, KIND(work, sum, size), &sig                    \
	}
#define TYPE(type, sum, bytes, size)                                                               \
	ROW("sig-" type "-" bytes "-sum", "sum of blocks of " bytes, BENCH_SIG, SUM, sum, size),   \
		ROW("sig-" type "-" bytes "-copy", "sum of the same while copying", BENCH_SIG,     \
			COPY, sum, size),                                                          \
		ROW("sig-" type "-" bytes "-check", "a stream that checks and strips", BENCH_SIG,  \
			CHECK, sum, size),                                                         \
		ROW("sig-" type "-" bytes "-generate", "a stream that makes and inserts",          \
			BENCH_SIG, GENERATE, sum, size)
#define SIZE(bytes, size)                                                                          \
	ROW("sig-memcpy-" bytes, "memcpy of blocks of " bytes, BENCH_PLAIN, MEMCPY, 0, size),      \
		TYPE("t10dif", WEFT_SIG_SUM_T10DIF, bytes, size),                                  \
		TYPE("csum", WEFT_SIG_SUM_CSUM, bytes, size),                                      \
		TYPE("crc32", WEFT_SIG_SUM_CRC32, bytes, size),                                    \
		TYPE("crc32c", WEFT_SIG_SUM_CRC32C, bytes, size),                                  \
		TYPE("crc64", WEFT_SIG_SUM_CRC64, bytes, size)

_Static_assert(
	KIND(WORKS - 1, WEFT_SIG_SUMS - 1, SIZES - 1) <= UINT8_MAX, "a row's kind is 8 bits");

/* In the order of weft_sig_block_sizes(). */
const struct bench bench_sig[] = {
	SIZE("512", 0),
	SIZE("520", 1),
	SIZE("4048", 2),
	SIZE("4096", 3),
	SIZE("4160", 4),
};

const unsigned int bench_n_sig = sizeof(bench_sig) / sizeof(bench_sig[0]);
