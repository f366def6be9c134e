/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Decisions against the reference: all of a small device, 10^7 at random of a full one, each deny
 * case for every SPID, each bit of the tables turned over.
 */

#include "gfam_ref.h"

#define SPIDS 16
#define BLOCKS 64
#define RUN 64
#define LOOKUPS 10000000

static struct ref ref;
static struct weft_gfam *t;

static const struct weft_gfam_cfg full = {
	.rows = 4095,
	.groups = 64,
	.dmps = 4,
	.blocks = REF_BLOCKS,
	.media = {
		{ 64 * MB, WEFT_GFAM_COHERENT },
		{ 16 * MB, 0 },
		{ 256 * MB, WEFT_GFAM_COHERENT | WEFT_GFAM_READ_ONLY },
		{ 256 * 1024, WEFT_GFAM_SHARABLE },
	},
};

static int
setup(void **state)
{
	(void)state;
	t = ref_new(&ref, &full);
	ref_set_dmp(&ref, t, 0, 0, 64 * GB, 64 * MB);
	ref_set_dmp(&ref, t, 1, TB, 16 * GB, 16 * MB);
	ref_set_dmp(&ref, t, 2, 2 * TB, 64 * GB, 256 * MB);
	ref_set_dmp(&ref, t, 3, 128 * GB, 256 * MB, 256 * 1024);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(t);
	return 0;
}

WEFT_TEST_EACH(setup, teardown)

static void
plain_decoder(uint16_t spid, uint64_t hpa, uint64_t dpa, uint64_t len)
{
	const struct weft_gfam_decoder d = {
		.valid = true, .hpa_base = hpa, .dpa_base = dpa, .dpa_len = len
	};

	assert_true(ref_set_decoder(&ref, t, spid, 0, &d));
}

WEFT_TEST(nothing_is_allowed_at_first)
{
	struct weft_gfam_decision d;

	for (unsigned int spid = 0; spid <= UINT16_MAX; spid++) {
		weft_gfam_decide(t, (uint16_t)spid, 0, false, &d);
		assert_int_equal(d.result, WEFT_GFAM_NO_ROW);
		weft_gfam_decide(NULL, (uint16_t)spid, 0, spid % 2, &d);
		assert_int_equal(d.result, WEFT_GFAM_NO_ROW);
		if (spid < 0xFFF)
			assert_int_equal(weft_gfam_sat(t, (uint16_t)spid), 0);
	}
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int b = 0; b < REF_BLOCKS; b++)
			assert_int_equal(
				weft_gfam_group(
					t, ref.dmp[i].base + b * (ref.dmp[i].len / REF_BLOCKS)),
				WEFT_GFAM_NO_GROUP);
}

/* Every assignment of a group to a block and every right, for each SPID and each block. */
WEFT_TEST(small_device_exhaustively)
{
	uint64_t allowed = 0;

	for (uint16_t s = 0; s < SPIDS; s++) {
		plain_decoder(s, PB + s * 64 * GB, 0, 64 * GB);
		ref_set_sat(&ref, t, s, UINT64_C(0x9E3779B97F4A7C15) * (s + 1u));
	}
	for (unsigned int round = 0; round < 65; round++) {
		for (unsigned int b = 0; b < BLOCKS; b++)
			ref_set_block(&ref, t, 0, b,
				(b + round) % 65 == 64 ? WEFT_GFAM_NO_GROUP
						       : (uint8_t)((b + round) % 65));
		for (uint16_t s = 0; s < SPIDS; s++) {
			for (unsigned int b = 0; b < BLOCKS; b++) {
				const uint64_t hpa = PB + s * 64 * GB + b * 64 * MB;

				allowed += ref_ask(&ref, t, s, hpa, b % 2) == WEFT_GFAM_ALLOWED;
				ref_ask(&ref, t, s, hpa + 64 * MB - 1, b % 2);
				assert_int_equal(
					ref_ask(&ref, t, (uint16_t)(s + 1) % SPIDS, hpa, b % 2),
					WEFT_GFAM_NO_HIT);
			}
		}
	}
	/* 65 rounds lead each block through each group: one allowance a set bit and block. */
	for (uint16_t s = 0; s < SPIDS; s++)
		allowed -= (uint64_t)__builtin_popcountll(ref.sat[s]) * BLOCKS;
	assert_int_equal(allowed, 0);
}

/* Any that the tables may take, and some they may not. */
static struct weft_gfam_decoder
random_decoder(struct weft_rand *r, unsigned int slot)
{
	const struct ref_dmp *d = &ref.dmp[weft_rand_below(r, 4)];
	struct weft_gfam_decoder e = { .valid = weft_rand_below(r, 8) != 0,
		.coherent = weft_rand_below(r, 3) == 0,
		.intlv = (uint8_t)weft_rand_below(r, 10),
		.gran = (uint8_t)weft_rand_below(r, 8) };
	const unsigned int n = (unsigned int)(d->len / d->block);
	const unsigned int first = (unsigned int)weft_rand_below(r, n);

	e.way = (uint8_t)weft_rand_below(r, (UINT64_C(1) << e.intlv) + weft_rand_below(r, 2));
	e.dpa_base = d->base + first * d->block;
	e.dpa_len = d->block * (1 + weft_rand_below(r, n - first) / (1 + weft_rand_below(r, 64)));
	e.hpa_base = (slot + 1) * 64 * TB + weft_rand_below(r, 64) * 256 * MB;
	return e;
}

static void
random_tables(struct weft_rand *r)
{
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int b = 0; b < ref.dmp[i].len / ref.dmp[i].block; b++) {
			const uint64_t g = weft_rand_below(r, 72);

			ref_set_block(&ref, t, i, b, g < 64 ? (uint8_t)g : WEFT_GFAM_NO_GROUP);
		}
	}
	for (uint16_t s = 0; s < 0xFFF; s++) {
		for (unsigned int k = 0; k < WEFT_GFAM_DECODERS; k++) {
			const struct weft_gfam_decoder e = random_decoder(r, k);

			ref_set_decoder(&ref, t, s, k, &e);
		}
		ref_set_sat(&ref, t, s, weft_rand_u64(r) | weft_rand_u64(r));
	}
}

/* Mostly where a decoder of the SPID ends or inside it, and mostly of its way. */
static uint64_t
random_address(struct weft_rand *r, uint16_t spid)
{
	const struct weft_gfam_decoder *d = &ref.d[spid % 0xFFF][weft_rand_below(r, 8)];
	const uint64_t span = d->dpa_len << d->intlv;
	uint64_t hpa;

	if (!d->valid || weft_rand_below(r, 64) == 0)
		return weft_rand_u64(r) >> weft_rand_below(r, 64);
	hpa = d->hpa_base + weft_rand_below(r, span);
	if (weft_rand_below(r, 8) == 0)
		hpa = d->hpa_base + (weft_rand_below(r, 2) != 0 ? span : 0) +
		      weft_rand_below(r, 128) - 64;
	if (weft_rand_below(r, 4) != 0)
		hpa = (hpa & ~((ref_ways(d) - 1) * ref_gran(d))) | d->way * ref_gran(d);
	return hpa;
}

WEFT_TEST(ten_million_of_a_full_device)
{
	struct weft_gfam_decision d[RUN];
	uint64_t seen[WEFT_GFAM_RESULTS] = { 0 }, coherent = 0;
	struct weft_rand r;

	weft_test_seed(&r, "gfam access");
	random_tables(&r);
	for (unsigned int at = 0; at < LOOKUPS; at += RUN) {
		uint16_t spid[RUN];
		uint64_t hpa[RUN];
		bool write[RUN];

		for (unsigned int i = 0; i < RUN; i++) {
			spid[i] = (uint16_t)weft_rand_below(&r, 4100);
			hpa[i] = random_address(&r, spid[i]);
			write[i] = weft_rand_below(&r, 2) != 0;
		}
		weft_gfam_decide_run(t, spid, hpa, write, d, RUN);
		for (unsigned int i = 0; i < RUN; i++) {
			const struct weft_gfam_decision want =
				ref_decide(&ref, spid[i], hpa[i], write[i]);

			ref_same(&d[i], &want);
			seen[d[i].result]++;
			coherent += d[i].coherent;
		}
	}
	for (unsigned int i = WEFT_GFAM_ALLOWED; i <= WEFT_GFAM_NO_WRITE; i++) {
		printf("  %s %llu\n", weft_gfam_result_name(i), (unsigned long long)seen[i]);
		if (i != WEFT_GFAM_SEVERAL)
			assert_true(seen[i] > 1000);
	}
	assert_true(coherent > 1000);
}

/* Each way to be refused, for every SPID there can be, and beside it that it can be allowed. */
WEFT_TEST(every_deny_case_for_every_spid)
{
	static const uint64_t ro = 2 * TB;
	const struct weft_gfam_decoder off = { 0 };

	ref_set_block(&ref, t, 0, 0, 7);
	ref_set_block(&ref, t, 0, 2, 9);
	ref_set_block(&ref, t, 2, 0, 7);
	for (uint16_t s = 0; s < 0xFFF; s++) {
		struct weft_gfam_decoder d = {
			.valid = true, .hpa_base = PB, .dpa_len = 192 * MB, .intlv = 1
		};

		assert_int_equal(ref_ask(&ref, t, s, PB, false), WEFT_GFAM_NO_ROW);
		assert_true(ref_set_decoder(&ref, t, s, 3, &d));
		assert_int_equal(ref_ask(&ref, t, s, PB, false), WEFT_GFAM_DENIED);
		assert_int_equal(ref_ask(&ref, t, s, PB, true), WEFT_GFAM_DENIED);
		ref_set_sat(&ref, t, s, ~(UINT64_C(1) << 7));
		assert_int_equal(ref_ask(&ref, t, s, PB, false), WEFT_GFAM_DENIED);
		ref_set_sat(&ref, t, s, UINT64_C(1) << 7);
		assert_int_equal(ref_ask(&ref, t, s, PB, false), WEFT_GFAM_ALLOWED);
		assert_int_equal(ref_ask(&ref, t, s, PB, true), WEFT_GFAM_ALLOWED);
		assert_int_equal(ref_ask(&ref, t, s, PB + 256, true), WEFT_GFAM_WRONG_WAY);
		assert_int_equal(ref_ask(&ref, t, s, PB - 1, true), WEFT_GFAM_NO_HIT);
		assert_int_equal(ref_ask(&ref, t, s, PB + 384 * MB, true), WEFT_GFAM_NO_HIT);
		assert_int_equal(ref_ask(&ref, t, s, PB + 128 * MB, false), WEFT_GFAM_UNGROUPED);
		assert_int_equal(ref_ask(&ref, t, s, PB + 256 * MB, false), WEFT_GFAM_DENIED);
		d.dpa_base = ro;
		d.dpa_len = 256 * MB;
		assert_true(ref_set_decoder(&ref, t, s, 3, &d));
		assert_int_equal(ref_ask(&ref, t, s, PB, false), WEFT_GFAM_ALLOWED);
		assert_int_equal(ref_ask(&ref, t, s, PB, true), WEFT_GFAM_NO_WRITE);
		assert_true(ref_set_decoder(&ref, t, s, 3, &off));
		assert_int_equal(ref_ask(&ref, t, s, PB, true), WEFT_GFAM_NO_ROW);
		ref_set_sat(&ref, t, s, 0);
	}
}

/* A few requesters, and addresses that tell their tables apart. */
#define FEW 4
#define PROBES 96

static void
probe(const struct ref *r, const struct weft_gfam *u, const uint64_t hpa[FEW][PROBES])
{
	for (uint16_t s = 0; s < FEW; s++)
		for (unsigned int i = 0; i < PROBES; i++)
			ref_ask(r, u, s, hpa[s][i], i % 2);
}

WEFT_TEST(each_bit_of_the_tables_turned_over)
{
	static uint64_t hpa[FEW][PROBES];
	struct weft_rand r;
	unsigned int taken = 0;

	weft_test_seed(&r, "gfam bits");
	random_tables(&r);
	for (uint16_t s = 0; s < FEW; s++)
		for (unsigned int i = 0; i < PROBES; i++)
			hpa[s][i] = random_address(&r, s);
	probe(&ref, t, hpa);
	for (uint16_t s = 0; s < FEW; s++) {
		for (unsigned int bit = 0; bit < 64; bit++) {
			ref_set_sat(&ref, t, s, ref.sat[s] ^ UINT64_C(1) << bit);
			probe(&ref, t, hpa);
			ref_set_sat(&ref, t, s, ref.sat[s] ^ UINT64_C(1) << bit);
		}
		for (unsigned int i = 0; i < WEFT_GFAM_DECODERS * 218; i++) {
			const struct weft_gfam_decoder was = ref.d[s][i / 218];
			struct weft_gfam_decoder d = was;
			const unsigned int bit = i % 218;

			if (bit < 58)
				d.hpa_base ^= UINT64_C(1) << (bit % 58);
			else if (bit < 58 + 58)
				d.dpa_base ^= UINT64_C(1) << (bit - 58);
			else if (bit < 58 + 58 + 58)
				d.dpa_len ^= UINT64_C(1) << (bit - 116);
			else if (bit < 182)
				d.intlv ^= (uint8_t)(1u << (bit - 174));
			else if (bit < 190)
				d.gran ^= (uint8_t)(1u << (bit - 182));
			else if (bit < 198)
				d.way ^= (uint8_t)(1u << (bit - 190));
			else if (bit < 208)
				d.coherent = !was.coherent;
			else
				d.valid = !was.valid;
			if (!ref_set_decoder(&ref, t, s, i / 218, &d))
				continue;
			taken++;
			probe(&ref, t, hpa);
			assert_true(ref_set_decoder(&ref, t, s, i / 218, &was));
		}
	}
	assert_true(taken > FEW * 20);
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int b = 0; b < 64; b++) {
			const uint8_t was = ref.dmp[i].group[b];

			for (unsigned int bit = 0; bit < 6; bit++) {
				ref_set_block(&ref, t, i, b, (was ^ 1u << bit) % 64);
				if (bit == b % 6)
					probe(&ref, t, hpa);
			}
			ref_set_block(&ref, t, i, b, was);
		}
	}
	probe(&ref, t, hpa);
}

static enum weft_gfam_result
uio(const struct weft_gfam *u, uint16_t spid, uint64_t hpa, uint32_t len, bool write)
{
	struct weft_gfam_decision d;

	weft_gfam_decide_uio(u, spid, hpa, len, write, &d);
	return d.result;
}

WEFT_TEST(uio_is_whole_or_not_at_all)
{
	struct weft_gfam_cfg on = full;
	struct weft_gfam_decoder d = { .valid = true, .hpa_base = PB, .dpa_len = 192 * MB };
	struct weft_gfam *u;
	const uint64_t end = PB + 192 * MB;

	plain_decoder(1, PB, 0, 64 * MB);
	assert_int_equal(uio(t, 1, PB, 64, false), WEFT_GFAM_UIO_OFF);
	assert_int_equal(uio(NULL, 1, PB, 64, false), WEFT_GFAM_UIO_OFF);
	free(t);
	on.knobs = WEFT_GFAM_UIO;
	u = t = ref_new(&ref, &on);
	ref_set_dmp(&ref, t, 0, 0, 64 * GB, 64 * MB);
	assert_int_equal(weft_gfam_set_gdt(u, 1, 1, 0, &d, 1), 0);
	ref_set_block(&ref, t, 0, 0, 1);
	ref_set_block(&ref, t, 0, 1, 2);
	ref_set_block(&ref, t, 0, 2, 1);
	ref_set_sat(&ref, t, 1, 1u << 1);
	assert_int_equal(uio(u, 1, PB, 1, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, PB, 4096, true), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 2, PB, 4096, true), WEFT_GFAM_NO_ROW);
	assert_int_equal(uio(u, 1, PB + 64 * MB - 64, 64, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, PB + 64 * MB - 64, 65, false), WEFT_GFAM_DENIED);
	assert_int_equal(uio(u, 1, PB + 64 * MB - 1, 2, false), WEFT_GFAM_DENIED);
	assert_int_equal(uio(u, 1, PB + 128 * MB - 1, 2, false), WEFT_GFAM_DENIED);
	assert_int_equal(uio(u, 1, end - 1, 1, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, end - 1, 2, false), WEFT_GFAM_CROSSES);
	assert_int_equal(uio(u, 1, end, 2, false), WEFT_GFAM_NO_HIT);
	assert_int_equal(uio(u, 1, PB - 1, 2, false), WEFT_GFAM_CROSSES);
	assert_int_equal(uio(u, 1, PB - 1, 1, false), WEFT_GFAM_NO_HIT);
	/* A second decoder right behind: both ends are allowed, and yet it crosses a limit. */
	d.hpa_base = end;
	d.dpa_base = 512 * MB;
	d.dpa_len = 64 * MB;
	assert_int_equal(weft_gfam_set_gdt(u, 1, 1, 1, &d, 1), 0);
	ref_set_block(&ref, t, 0, 8, 1);
	assert_int_equal(uio(u, 1, end, 64, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, end - 64, 128, false), WEFT_GFAM_CROSSES);
	/* Out of its own way into another's. */
	d.intlv = 1;
	assert_int_equal(weft_gfam_set_gdt(u, 1, 1, 1, &d, 1), 0);
	assert_int_equal(uio(u, 1, end, 256, false), WEFT_GFAM_ALLOWED);
	assert_int_equal(uio(u, 1, end, 257, false), WEFT_GFAM_CROSSES);
	assert_int_equal(uio(u, 1, end + 256, 256, false), WEFT_GFAM_WRONG_WAY);
}

/* Typed from fabric.md section 1.9, by result: read, write, UIO; then the reads with both knobs. */
WEFT_TEST(answers_are_those_of_the_section)
{
	static const struct {
		int trigger;
		const char *read, *write, *uio_read, *uio_write, *knobs_read;
	} want[WEFT_GFAM_RESULTS] = {
		[WEFT_GFAM_ALLOWED] = { -1, "serve", "serve", "serve", "serve", "serve" },
		[WEFT_GFAM_NO_ROW] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_NO_HIT] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_WRONG_WAY] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_SEVERAL] = { 0, "nxm", "cmp", "ur", "ur", "nxm_poison" },
		[WEFT_GFAM_UNGROUPED] = { 2, "ones", "cmp", "ca", "ca", "ones_poison" },
		[WEFT_GFAM_DENIED] = { 3, "ones", "cmp", "ca", "ca", "ones_poison" },
		[WEFT_GFAM_NO_WRITE] = { -1, "serve", "cmp", "serve", "cmp", "serve" },
		[WEFT_GFAM_CROSSES] = { 0, "nxm", "cmp", "ca", "ca", "nxm_poison" },
		[WEFT_GFAM_UIO_OFF] = { -1, "nxm", "cmp", "ca", "ca", "nxm_poison" },
	};
	const uint32_t both = WEFT_GFAM_POISON_ON_DENY | WEFT_GFAM_POISON_ON_NO_DECODE;

	for (unsigned int r = 0; r < WEFT_GFAM_RESULTS; r++) {
#define NAME(a, k) weft_gfam_answer_name(weft_gfam_answer(r, a, k))
		assert_int_equal(weft_gfam_trigger(r), want[r].trigger);
		assert_string_equal(NAME(WEFT_GFAM_READ, 0), want[r].read);
		assert_string_equal(NAME(WEFT_GFAM_WRITE, both), want[r].write);
		assert_string_equal(NAME(WEFT_GFAM_UIO_READ, both), want[r].uio_read);
		assert_string_equal(NAME(WEFT_GFAM_UIO_WRITE, both), want[r].uio_write);
		assert_string_equal(NAME(WEFT_GFAM_READ, both), want[r].knobs_read);
		assert_string_equal(NAME(WEFT_GFAM_READ, WEFT_GFAM_POISON_ON_DENY),
			want[r].read[0] == 'o' ? want[r].knobs_read : want[r].read);
#undef NAME
	}
	assert_string_equal(weft_gfam_result_name(WEFT_GFAM_RESULTS), "unknown");
}
