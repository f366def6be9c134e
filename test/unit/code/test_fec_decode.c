/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What must be corrected is: every wrong byte, every burst of three. Everything else is judged
 * exactly as the oracle judges it, one flit at a time and in runs.
 */

#include "weft_test.h"

#include "fec_oracle.h"

static const struct weft_fec_kernel *fec;
static struct fec_oracle oracle;

static void
random_codeword(struct weft_rand *r, uint8_t *flit)
{
	weft_rand_fill(r, flit, WEFT_FEC_COVERED);
	weft_fec_encode(fec, flit, 1);
}

static uint8_t
nonzero(struct weft_rand *r)
{
	return (uint8_t)(1 + weft_rand_below(r, 255));
}

WEFT_TEST(every_single_wrong_byte_is_put_right)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t good[256], flit[256];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	random_codeword(&r, good);
	for (unsigned int off = 0; off < 256; off++) {
		for (unsigned int error = 1; error < 256; error++) {
			unsigned int n_bytes = 0;

			memcpy(flit, good, sizeof(flit));
			flit[off] ^= (uint8_t)error;
			assert_int_equal(weft_fec_decode_flit(flit, &n_bytes), WEFT_FEC_CORRECTED);
			assert_int_equal(n_bytes, 1);
			assert_memory_equal(flit, good, sizeof(flit));
		}
	}
}

static void
expect_burst_corrected(const uint8_t *good, unsigned int start, const uint8_t *error)
{
	unsigned int n_bytes = 0, wrong = 0;
	uint8_t flit[256];

	memcpy(flit, good, sizeof(flit));
	for (unsigned int i = 0; i < 3; i++) {
		flit[start + i] ^= error[i];
		wrong += error[i] != 0;
	}
	if (weft_fec_decode_flit(flit, &n_bytes) != WEFT_FEC_CORRECTED || n_bytes != wrong ||
		memcmp(flit, good, sizeof(flit)) != 0)
		fail_msg("burst %02x %02x %02x from byte %u", error[0], error[1], error[2], start);
}

WEFT_TEST(every_three_byte_burst_is_put_right)
{
	/* The ends, where data, check and parity bytes meet, get all pairs of values. */
	static const unsigned int ends[] = { 0, 247, 248, 249, 250, 251, 252, 253 };
	_Alignas(WEFT_CACHE_LINE) uint8_t good[256];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	random_codeword(&r, good);
	for (unsigned int start = 0; start + 3 <= 256; start++) {
		for (int round = 0; round < 500; round++) {
			const uint8_t error[3] = { nonzero(&r), (uint8_t)weft_rand_u64(&r),
				nonzero(&r) };

			expect_burst_corrected(good, start, error);
		}
	}
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(ends); i++) {
		for (unsigned int a = 1; a < 256; a++) {
			for (unsigned int b = 1; b < 256; b++) {
				const uint8_t error[3] = { (uint8_t)a, (uint8_t)b, nonzero(&r) };

				expect_burst_corrected(good, ends[i], error);
			}
		}
	}
}

WEFT_TEST(clean_flit_is_left_alone)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t good[256];
	uint8_t moved[256 + 1];
	unsigned int n_bytes = 9;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	random_codeword(&r, good);
	memcpy(moved + 1, good, sizeof(good));
	assert_int_equal(weft_fec_decode_flit(moved + 1, &n_bytes), WEFT_FEC_CLEAN);
	assert_int_equal(n_bytes, 0);
	assert_memory_equal(moved + 1, good, sizeof(good));
}

/*
 * Groups are judged together: a group that could be put right stays wrong beside one that cannot.
 */
WEFT_TEST(uncorrectable_flit_is_left_alone)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
	uint8_t before[256];

	flit[0] = 0x77;
	flit[1] = 0x01;
	flit[4] = 0x47;
	flit[2] = 0x33;
	memcpy(before, flit, sizeof(before));
	assert_int_equal(weft_fec_decode_flit(flit, NULL), WEFT_FEC_UNCORRECTABLE);
	assert_memory_equal(flit, before, sizeof(before));
}

/* 0..6 wrong bytes, spread over the flit or close together so that groups often get two. */
static void
harm(struct weft_rand *r, uint8_t *flit)
{
	const unsigned int spread = weft_rand_below(r, 2) == 0 ? 256 : 12;
	const unsigned int start = (unsigned int)weft_rand_below(r, 257 - spread);

	for (uint64_t wrong = weft_rand_below(r, 7); wrong > 0; wrong--)
		flit[start + weft_rand_below(r, spread)] ^= nonzero(r);
}

WEFT_TEST(decoder_agrees_with_trying_everything)
{
	unsigned int seen[3] = { 0 };
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 10000; round++) {
		_Alignas(WEFT_CACHE_LINE) uint8_t flit[256], want[256];
		unsigned int n_want, n_got;
		enum weft_fec_status status;

		random_codeword(&r, flit);
		harm(&r, flit);
		memcpy(want, flit, sizeof(want));
		status = fec_oracle_decode(&oracle, want, &n_want);
		assert_int_equal(weft_fec_decode_flit(flit, &n_got), status);
		assert_int_equal(n_got, n_want);
		assert_memory_equal(flit, want, sizeof(want));
		seen[status]++;
	}
	for (int status = 0; status < 3; status++)
		assert_true(seen[status] > 500);
}

WEFT_TEST(runs_agree_with_trying_everything)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t got[WEFT_FEC_RUN_MAX * 256];
	uint8_t want[sizeof(got)];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int n = 0; n <= WEFT_FEC_RUN_MAX; n++) {
		struct weft_fec_result result, expected = { 0 };

		weft_rand_fill(&r, got, (size_t)n * 256);
		weft_fec_encode(fec, got, n);
		for (unsigned int i = 0; i < n; i++)
			harm(&r, got + (size_t)i * 256);
		memcpy(want, got, (size_t)n * 256);
		for (unsigned int i = 0; i < n; i++) {
			unsigned int n_bytes;

			switch (fec_oracle_decode(&oracle, want + (size_t)i * 256, &n_bytes)) {
			case WEFT_FEC_CLEAN: break;
			case WEFT_FEC_CORRECTED: expected.corrected |= WEFT_BIT64(i); break;
			case WEFT_FEC_UNCORRECTABLE: expected.uncorrectable |= WEFT_BIT64(i); break;
			}
			expected.corrected_bytes += n_bytes;
		}
		weft_fec_decode(fec, got, n, &result);
		assert_int_equal(result.corrected, expected.corrected);
		assert_int_equal(result.uncorrectable, expected.uncorrectable);
		assert_int_equal(result.corrected_bytes, expected.corrected_bytes);
		assert_memory_equal(got, want, (size_t)n * 256);
		/* What was put right is a codeword; what was not is still flagged. */
		assert_int_equal(weft_fec_check(fec, got, n), expected.uncorrectable);
	}
}

int
main(void)
{
	fec = weft_fec_kernel_find(NULL, weft_cpu_detect());
	fec_oracle_init(&oracle);
	return weft_test_run();
}
