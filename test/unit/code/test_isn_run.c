/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a receiver makes of a run: the edges of gap and duplicate, wrap, bad flits, skipped flits,
 * every form and order, and random runs against a model that knows the true numbers.
 */

#include "weft_test.h"

#include "weft_isn.h"

#define SPID 0x123
#define DPID 0x456
#define VC 3
#define RUN_MAX 64

static const struct weft_crc_kernel *kernel;

static struct weft_isn
direction(enum weft_isn_form form, unsigned int first)
{
	struct weft_isn s;

	assert_int_equal(
		weft_isn_init(&s, form, WEFT_CRC_R0_FIRST, SPID, DPID, VC, (uint16_t)first), 0);
	return s;
}

/* Protect one flit with the number given, whatever came before. */
static void
protect_as(uint8_t *flit, unsigned int number)
{
	struct weft_isn tx = direction(WEFT_ISN_PSEUDO, number);

	weft_isn_protect(&tx, kernel, flit, 1);
}

/* ISN-6 */
WEFT_TEST(number_against_expected_decides)
{
	enum outcome { IN_TURN, GAP, DUPLICATE };
	static const struct {
		uint16_t expected, number;
		enum outcome outcome;
		uint16_t lost, expected_after;
	} cases[] = {
		/*  1 */ { 0, 0, IN_TURN, 0, 1 },
		/*  2 */ { 0, 1, GAP, 1, 2 },
		/*  3 */ { 0, 510, GAP, 510, 511 },
		/*  4 */ { 0, 511, GAP, 511, 512 },
		/*  5 */ { 0, 512, DUPLICATE, 0, 0 },
		/*  6 */ { 0, 513, DUPLICATE, 0, 0 },
		/*  7 */ { 0, 1022, DUPLICATE, 0, 0 },
		/*  8 */ { 0, 1023, DUPLICATE, 0, 0 },
		/*  9 */ { 1, 0, DUPLICATE, 0, 1 },
		/* 10 */ { 1, 1, IN_TURN, 0, 2 },
		/* 11 */ { 1, 2, GAP, 1, 3 },
		/* 12 */ { 1, 512, GAP, 511, 513 },
		/* 13 */ { 1, 513, DUPLICATE, 0, 1 },
		/* 14 */ { 1, 1023, DUPLICATE, 0, 1 },
		/* 15 */ { 511, 0, DUPLICATE, 0, 511 },
		/* 16 */ { 511, 510, DUPLICATE, 0, 511 },
		/* 17 */ { 511, 511, IN_TURN, 0, 512 },
		/* 18 */ { 511, 512, GAP, 1, 513 },
		/* 19 */ { 511, 1022, GAP, 511, 1023 },
		/* 20 */ { 511, 1023, DUPLICATE, 0, 511 },
		/* 21 */ { 512, 0, DUPLICATE, 0, 512 },
		/* 22 */ { 512, 1, DUPLICATE, 0, 512 },
		/* 23 */ { 512, 511, DUPLICATE, 0, 512 },
		/* 24 */ { 512, 512, IN_TURN, 0, 513 },
		/* 25 */ { 512, 1023, GAP, 511, 0 },
		/* 26 */ { 513, 0, GAP, 511, 1 },
		/* 27 */ { 1022, 0, GAP, 2, 1 },
		/* 28 */ { 1023, 0, GAP, 1, 1 },
		/* 29 */ { 1023, 510, GAP, 511, 511 },
		/* 30 */ { 1023, 511, DUPLICATE, 0, 1023 },
		/* 31 */ { 1023, 512, DUPLICATE, 0, 1023 },
		/* 32 */ { 1023, 1022, DUPLICATE, 0, 1023 },
		/* 33 */ { 1023, 1023, IN_TURN, 0, 0 },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 1 };
		struct weft_isn rx = direction(WEFT_ISN_PSEUDO, cases[i].expected);
		struct weft_isn_result got;

		protect_as(flit, cases[i].number);
		weft_isn_check(&rx, kernel, flit, 1, 0, &got);
		if (got.in_turn != (cases[i].outcome == IN_TURN) ||
			got.after_gap != (cases[i].outcome == GAP) ||
			got.duplicate != (cases[i].outcome == DUPLICATE) || got.bad != 0 ||
			got.lost != cases[i].lost || rx.next != cases[i].expected_after)
			fail_msg("case %zu", i + 1);
	}
}

/* Every pair of numbers: what is not in turn is a gap ahead or a duplicate behind, never bad. */
WEFT_TEST(every_intact_flit_is_placed)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

	for (unsigned int number = 0; number < WEFT_ISN_NUMBERS; number++) {
		protect_as(flit, number);
		for (unsigned int expected = 0; expected < WEFT_ISN_NUMBERS; expected += 31) {
			const unsigned int ahead = (number + 1024 - expected) % 1024;
			struct weft_isn rx = direction(WEFT_ISN_PSEUDO, expected);
			struct weft_isn_result got;

			weft_isn_check(&rx, kernel, flit, 1, 0, &got);
			assert_int_equal(got.in_turn, ahead == 0);
			assert_int_equal(got.after_gap, ahead >= 1 && ahead <= 511);
			assert_int_equal(got.duplicate, ahead >= 512);
			assert_int_equal(got.lost, ahead <= 511 ? ahead : 0);
		}
	}
}

/* ISN-1 */
WEFT_TEST(runs_in_turn_pass_across_the_wrap)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[RUN_MAX * 256];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int form = WEFT_ISN_PSEUDO; form <= WEFT_ISN_NONE; form++) {
		for (int order = WEFT_CRC_R0_FIRST; order <= WEFT_CRC_R7_FIRST; order++) {
			struct weft_isn tx, rx;
			unsigned int sent = 1000;

			weft_isn_init(&tx, (enum weft_isn_form)form, (enum weft_crc_order)order,
				SPID, DPID, VC, 1000);
			rx = tx;
			for (unsigned int n = 0; n <= RUN_MAX; n++) {
				struct weft_isn_result got;

				weft_rand_fill(&r, flits, sizeof(flits));
				weft_isn_protect(&tx, kernel, flits, n);
				weft_isn_check(&rx, kernel, flits, n, 0, &got);
				sent += n;
				assert_int_equal(got.in_turn, weft_mask64(n));
				assert_int_equal(got.after_gap | got.duplicate | got.bad, 0);
				assert_int_equal(got.lost, 0);
				assert_int_equal(tx.next, sent % WEFT_ISN_NUMBERS);
				assert_int_equal(rx.next, sent % WEFT_ISN_NUMBERS);
			}
		}
	}
}

/* ISN-7 */
WEFT_TEST(bad_flit_uses_one_number)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[3 * 256] = { 0 };
	struct weft_isn tx = direction(WEFT_ISN_PSEUDO, 1022);
	struct weft_isn rx = direction(WEFT_ISN_PSEUDO, 1022);
	struct weft_isn_result got;

	weft_isn_protect(&tx, kernel, flits, 3);
	flits[256 + 17] ^= 0x04;
	weft_isn_check(&rx, kernel, flits, 3, 0, &got);
	assert_int_equal(got.in_turn, 5);
	assert_int_equal(got.bad, 2);
	assert_int_equal(got.after_gap | got.duplicate, 0);
	assert_int_equal(rx.next, 1);
}

WEFT_TEST(skipped_flits_are_as_if_absent)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[4 * 256] = { 0 };
	struct weft_isn rx = direction(WEFT_ISN_PSEUDO, 7);
	struct weft_isn_result got;

	protect_as(flits + 256, 7);
	protect_as(flits + 3 * 256, 8);
	weft_isn_check(&rx, kernel, flits, 4, 5, &got);
	assert_int_equal(got.in_turn, 10);
	assert_int_equal(got.after_gap | got.duplicate | got.bad, 0);
	assert_int_equal(rx.next, 9);

	weft_isn_check(&rx, kernel, flits, 4, UINT64_MAX, &got);
	assert_int_equal(got.in_turn | got.after_gap | got.duplicate | got.bad, 0);
	assert_int_equal(rx.next, 9);
}

/* Why receivers must pass all-zero flits over: they are a codeword for number 0 and no ids. */
WEFT_TEST(all_zero_flit_would_pass_for_number_zero)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
	struct weft_isn_result got;
	struct weft_isn rx;

	weft_isn_init(&rx, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, 0, 0, 0, 0);
	weft_isn_check(&rx, kernel, flit, 1, 0, &got);
	assert_int_equal(got.in_turn, 1);
}

/* ISN-3 */
WEFT_TEST(flit_for_another_connection_is_bad)
{
	static const struct {
		uint16_t spid, dpid;
		uint8_t vc;
	} others[] = {
		{ DPID, SPID, VC },
		{ SPID ^ 1, DPID, VC },
		{ SPID ^ 0x800, DPID, VC },
		{ SPID, DPID ^ 1, VC },
		{ SPID, DPID ^ 0x800, VC },
		{ SPID, DPID, VC ^ 1 },
		{ SPID, DPID, VC ^ 4 },
	};
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };

	protect_as(flit, 100);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(others); i++) {
		for (uint16_t expected = 0; expected < WEFT_ISN_NUMBERS; expected++) {
			struct weft_isn_result got;
			struct weft_isn rx;

			weft_isn_init(&rx, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, others[i].spid,
				others[i].dpid, others[i].vc, expected);
			weft_isn_check(&rx, kernel, flit, 1, 0, &got);
			assert_int_equal(got.bad, 1);
		}
	}
}

/*
 * A NOP uses no number, whatever it says; a bad flit that was one is found out by the next
 * (ISN-2).
 */
WEFT_TEST(nops_use_no_number)
{
	const struct weft_isn start = direction(WEFT_ISN_PSEUDO, 7);
	uint64_t syndrome[6] = { 0 };
	struct weft_isn_result got;
	struct weft_isn rx = start;

	for (unsigned int i = 0; i < 6; i++)
		syndrome[i] = start.address ^ weft_isn_number(7 + i);
	/* 7, a NOP before 8, a NOP that is late, 8 */
	syndrome[2] = syndrome[0];
	syndrome[3] = syndrome[1];
	weft_isn_judge(&rx, syndrome, 4, 0, 6, &got);
	assert_int_equal(got.in_turn, 9);
	assert_int_equal(got.nop, 6);
	assert_int_equal(rx.next, 9);
	/* 9, something bad, 10: the bad one was a NOP. 10 again: a duplicate. */
	syndrome[0] = start.address ^ weft_isn_number(9);
	syndrome[1] = ~syndrome[0];
	syndrome[2] = syndrome[3] = start.address ^ weft_isn_number(10);
	weft_isn_judge(&rx, syndrome, 4, 0, 0, &got);
	assert_int_equal(got.in_turn, 5);
	assert_int_equal(got.bad, 2);
	assert_int_equal(got.duplicate, 8);
	assert_int_equal(got.lost, 0);
	/* A NOP that is alone and in turn does not count as a flit in turn. */
	syndrome[0] = start.address ^ weft_isn_number(11);
	weft_isn_judge(&rx, syndrome, 1, 0, 1, &got);
	assert_int_equal(got.nop, 1);
	assert_int_equal(rx.next, 11);
}

/* Without addresses a number cannot be decoded: any other number is bad in the XOR form. */
WEFT_TEST(other_forms_decode_no_gap)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flit[256] = { 0 };
	struct weft_isn_result got;

	for (unsigned int number = 0; number < WEFT_ISN_NUMBERS; number++) {
		struct weft_isn tx = direction(WEFT_ISN_XOR, number);
		struct weft_isn rx = direction(WEFT_ISN_XOR, 5);

		weft_isn_protect(&tx, kernel, flit, 1);
		weft_isn_check(&rx, kernel, flit, 1, 0, &got);
		assert_int_equal(got.in_turn, number == 5);
		assert_int_equal(got.bad, number != 5);
		assert_int_equal(got.after_gap | got.duplicate, 0);
	}
	for (unsigned int number = 1; number < WEFT_ISN_NUMBERS; number++) {
		struct weft_isn rx;

		/* A plain receiver sees L(number) and must not take it for a gap. */
		weft_isn_init(&rx, WEFT_ISN_NONE, WEFT_CRC_R0_FIRST, 0, 0, 0, 0);
		memset(flit, 0, sizeof(flit));
		weft_crc_store(flit, weft_isn_number(number), WEFT_CRC_R0_FIRST);
		weft_isn_check(&rx, kernel, flit, 1, 0, &got);
		assert_int_equal(got.bad, 1);
	}
}

/* The verdicts of a run whose true numbers are known. */
static void
model_check(unsigned int *next, unsigned int *guessed, const unsigned int *number, uint64_t broken,
	uint64_t skip, unsigned int n, struct weft_isn_result *want)
{
	*want = (struct weft_isn_result){ 0 };
	for (unsigned int i = 0; i < n; i++) {
		unsigned int ahead = (number[i] + 1024 - *next) % 1024;

		if (skip >> i & 1)
			continue;
		if (broken >> i & 1) {
			want->bad |= WEFT_BIT64(i);
			*next = (*next + 1) % 1024;
			*guessed += *guessed < 511;
			continue;
		}
		if (ahead != 0 && 1024 - ahead <= *guessed) {
			*next = number[i]; /* bad flits had used no number after all */
			ahead = 0;
		}
		if (ahead >= 512) {
			want->duplicate |= WEFT_BIT64(i);
			continue;
		}
		*guessed = 0;
		if (ahead == 0)
			want->in_turn |= WEFT_BIT64(i);
		else
			want->after_gap |= WEFT_BIT64(i);
		want->lost += ahead;
		*next = (number[i] + 1) % 1024;
	}
}

/* A sender's run, harmed: numbers jump ahead or back, flits break in 1..6 places. */
static uint64_t
harm_run(struct weft_rand *r, uint8_t *flits, unsigned int n, unsigned int *sent,
	unsigned int *number)
{
	uint64_t broken = 0;

	weft_rand_fill(r, flits, RUN_MAX * 256);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *flit = flits + i * 256;

		if (weft_rand_below(r, 8) == 0)
			*sent = (*sent + (unsigned int)weft_rand_below(r, 1024)) % 1024;
		number[i] = *sent;
		protect_as(flit, *sent);
		*sent = (*sent + 1) % 1024;
		if (weft_rand_below(r, 8) == 0) {
			for (uint64_t k = 1 + weft_rand_below(r, 6); k > 0; k--)
				flit[k * 40 + weft_rand_below(r, 10)] ^=
					(uint8_t)(1 + weft_rand_below(r, 255));
			broken |= WEFT_BIT64(i);
		}
	}
	return broken;
}

WEFT_TEST(random_runs_match_the_model)
{
	_Alignas(WEFT_CACHE_LINE) uint8_t flits[RUN_MAX * 256];
	struct weft_isn rx = direction(WEFT_ISN_PSEUDO, WEFT_ISN_FIRST);
	unsigned int next = WEFT_ISN_FIRST, sent = WEFT_ISN_FIRST, number[RUN_MAX], guessed = 0;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (int round = 0; round < 3000; round++) {
		const unsigned int n = (unsigned int)weft_rand_below(&r, RUN_MAX + 1);
		const uint64_t broken = harm_run(&r, flits, n, &sent, number);
		const uint64_t skip = weft_rand_u64(&r) & weft_rand_u64(&r) & weft_rand_u64(&r);
		struct weft_isn_result want, got;

		model_check(&next, &guessed, number, broken, skip, n, &want);
		weft_isn_check(&rx, kernel, flits, n, skip, &got);
		assert_int_equal(got.in_turn, want.in_turn);
		assert_int_equal(got.after_gap, want.after_gap);
		assert_int_equal(got.duplicate, want.duplicate);
		assert_int_equal(got.bad, want.bad);
		assert_int_equal(got.lost, want.lost);
		assert_int_equal(rx.next, next);
	}
}

/* ISN-2: a frame of NOPs, be they ever so many, says one number; else each made a gap up. */
WEFT_TEST(all_nops_of_a_run_have_the_number_behind_it)
{
	static const enum weft_isn_form forms[] = { WEFT_ISN_PSEUDO, WEFT_ISN_XOR, WEFT_ISN_NONE };
	const uint64_t invert_crc = UINT64_C(1) << 63 | 5;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(forms); i++)
		for (unsigned int n = 0; n <= RUN_MAX; n++)
			for (unsigned int nops = 0; nops <= n; nops++) {
				const unsigned int first = 1024 - 1 - nops % 7;
				const struct weft_isn s = direction(forms[i], 77);
				uint64_t got[RUN_MAX];

				weft_isn_given(&s, (uint16_t)first, n, nops, invert_crc, got);
				for (unsigned int k = 0; k < n; k++) {
					const unsigned int by = k < n - nops ? k : n - nops;
					struct weft_isn one =
						direction(forms[i], (first + by) % 1024);
					uint64_t want;

					weft_isn_take(&one, &want, 1);
					if ((invert_crc >> k & 1) != 0)
						want ^= UINT64_MAX;
					assert_int_equal(got[k], want);
				}
				assert_int_equal(s.next, 77);
			}
}

WEFT_TEST(init_refuses_what_is_out_of_range)
{
	const struct weft_isn before = direction(WEFT_ISN_PSEUDO, 9);
	struct weft_isn s = before;

	assert_int_equal(
		weft_isn_init(&s, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, 0x1000, 0, 0, 0), -EINVAL);
	assert_int_equal(
		weft_isn_init(&s, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, 0, 0x1000, 0, 0), -EINVAL);
	assert_int_equal(
		weft_isn_init(&s, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, 0, 0, 8, 0), -EINVAL);
	assert_int_equal(
		weft_isn_init(&s, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, 0, 0, 0, 1024), -EINVAL);
	assert_int_equal(weft_isn_init(&s, (enum weft_isn_form)(WEFT_ISN_NONE + 1),
				 WEFT_CRC_R0_FIRST, 0, 0, 0, 0),
		-EINVAL);
	assert_int_equal(weft_isn_init(&s, WEFT_ISN_PSEUDO,
				 (enum weft_crc_order)(WEFT_CRC_R7_FIRST + 1), 0, 0, 0, 0),
		-EINVAL);
	assert_memory_equal(&s, &before, sizeof(s));
	assert_int_equal(
		weft_isn_init(&s, WEFT_ISN_NONE, WEFT_CRC_R7_FIRST, 0xFFF, 0xFFF, 7, 1023), 0);
	assert_int_equal(s.next, 1023);
}

int
main(void)
{
	kernel = weft_crc_kernel_find(NULL, weft_cpu_detect());
	return weft_test_run();
}
