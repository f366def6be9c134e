/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flits with errors, and flits that FEC cannot put right, in both channels that the paper mixes
 * (reliability.md section 3.2): independent bits, and bursts. At a BER of 1e-6 nearly all flits are
 * clean, so uncorrectable ones are sampled by the number k of wrong bits and weighted by how often
 * k happens; plain samples at 1e-6 and 1e-4 check that.
 */

#include <math.h>
#include <stdio.h>

#include "exp.h"
#include "weft_fec.h"
#include "weft_wire.h"

#define PIECES 16
#define RUN WEFT_IMPAIR_RUN_MAX
#define FLIT_BITS (WEFT_WIRE_FLIT_LEN * 8)
#define K_MAX 8
#define PLAIN_BER 1e-4
#define UALINK_BER 2.4e-4 /* of 200 GT/s Ethernet, which UALink takes its physical layer from */
#define CHANNEL_FER 2.0e-3
#define WAYS 3
#define BURST_BITS 200 /* longer ones come less often than 1e-18 */

enum { FLITS, WRONG, UNCORRECTABLE, MISSED };

struct sample {
	char wire[32];
	uint64_t flits;
};

static struct sample sample; /* of the pieces under way */

/* A wrong flit through the decoder: was it put right, and if not, was that noticed? */
static void
error_decode(const uint8_t *good, uint8_t *bad, uint64_t *sum)
{
	enum weft_fec_status s = weft_fec_decode_flit(bad, NULL);

	if (s == WEFT_FEC_UNCORRECTABLE) {
		sum[UNCORRECTABLE]++;
	} else if (memcmp(good, bad, WEFT_WIRE_FLIT_LEN) != 0) {
		sum[UNCORRECTABLE]++;
		sum[MISSED]++;
	}
}

static void
error_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	const uint64_t runs = sample.flits / PIECES / RUN + 1;
	uint8_t good[RUN * WEFT_WIRE_FLIT_LEN], bad[sizeof(good)];
	struct weft_impair wire;

	(void)i;
	exp_wire(&wire, seed, sample.wire);
	exp_flits(x, seed, good, RUN);
	memcpy(bad, good, sizeof(bad));
	for (uint64_t r = 0; r < runs; r++) {
		uint64_t touched = weft_impair_flits(&wire, bad, RUN);
		uint64_t wrong = weft_fec_check(x->codec.fec, bad, RUN);

		sum[WRONG] += (unsigned int)__builtin_popcountll(wrong);
		for (; touched != 0; touched &= touched - 1) {
			size_t at = (size_t)__builtin_ctzll(touched) * WEFT_WIRE_FLIT_LEN;

			error_decode(good + at, bad + at, sum);
			memcpy(bad + at, good + at, WEFT_WIRE_FLIT_LEN);
		}
	}
	sum[FLITS] += runs * RUN;
}

static void
error_run(const struct exp *x, const char *topic, const char *wire, double param, uint64_t flits,
	uint64_t *sum)
{
	sample.flits = exp_sample(x, flits);
	snprintf(sample.wire, sizeof(sample.wire), wire, param);
	exp_work(x, topic, error_piece, PIECES, sum);
}

/* --- by arithmetic --- */

static double
error_exact_fer(double ber)
{
	return -expm1(FLIT_BITS * log1p(-ber));
}

/* Put right are flits with at most one wrong symbol a way. */
static double
error_exact_fer_uc(double ber)
{
	double wrong = -expm1(8 * log1p(-ber)), all_good = 0;

	for (unsigned int way = 0; way < WAYS; way++) {
		unsigned int n = (WEFT_WIRE_FLIT_LEN - way + WAYS - 1) / WAYS;

		all_good += log1p(-wrong) * (n - 1) + log1p(wrong * (n - 1));
	}
	return -expm1(all_good);
}

/* Chance that at most one of every third symbol of a burst is wrong, from the way-th on. */
static double
error_way_is_good(unsigned int way, unsigned int symbols)
{
	double none = 1, one = 0;

	for (unsigned int i = way; i < symbols; i += WAYS) {
		double wrong = i == 0 || i == symbols - 1 ? 1 : 255.0 / 256;

		one = one * (1 - wrong) + none * wrong;
		none *= 1 - wrong;
	}
	return none + one;
}

/*
 * Chance that a burst cannot be put right: its first and last symbol are wrong, some way has two.
 */
static double
error_exact_burst_uc(void)
{
	double bad = 0;

	for (unsigned int first = 0; first < FLIT_BITS; first++) {
		double goes_on = 1.0 / FLIT_BITS;

		for (unsigned int last = first; last < FLIT_BITS && last < first + BURST_BITS;
			last++) {
			unsigned int symbols = last / 8 - first / 8 + 1;
			bool is_cut = last == FLIT_BITS - 1;
			double good = 1;

			for (unsigned int way = 0; way < WAYS; way++)
				good *= error_way_is_good(way, symbols);
			bad += goes_on * (is_cut ? 1 : 1 - WEFT_IMPAIR_CHANNEL_A) * (1 - good);
			goes_on *= WEFT_IMPAIR_CHANNEL_A;
		}
	}
	return bad;
}

static double
error_binomial(unsigned int k, double ber)
{
	return exp(lgamma(FLIT_BITS + 1) - lgamma(k + 1) - lgamma(FLIT_BITS - k + 1) +
		   k * log(ber) + (FLIT_BITS - k) * log1p(-ber));
}

/* --- rows --- */

/* Adds a stratum: @p weight of all flits are such, @p events of @p n of them count. */
static void
error_add_stratum(struct exp_row *r, double variance[2], uint64_t events, uint64_t n, double weight)
{
	struct stats_range shown = stats_share(events, n, STATS_CONFIDENCE);
	struct stats_range far = stats_share(events, n, STATS_FAR);
	double p = (double)events / (double)n;

	r->measured += weight * p;
	r->events += events;
	r->sample += n;
	/* Half widths of independent parts add up like standard deviations do. */
	variance[0] += pow(weight * (shown.high - shown.low) / 2, 2);
	variance[1] += pow(weight * (far.high - far.low) / 2, 2);
}

/* The intervals of a row whose parts were added. */
static void
error_sum_strata(struct exp_row *r, const double variance[2])
{
	const double shown = sqrt(variance[0]), far = sqrt(variance[1]);

	r->shown = (struct stats_range){ r->measured - shown, r->measured + shown };
	r->far = (struct stats_range){ r->measured - far, r->measured + far };
}

/* At the BER of UALink. */
static void
error_ualink(struct exp *x)
{
	struct exp_row *r;
	uint64_t sum[EXP_SUMS];

	error_run(x, "ualink", "ber=%g", UALINK_BER, 3000000, sum);
	r = exp_row(x, "flits with errors at UALink's BER of 2.4e-4", "fer_ualink");
	r->exact = error_exact_fer(UALINK_BER);
	r->note = "the paper names the BER alone; a flit of 256 bytes there has an error in two of "
		  "five cases";
	exp_row_share(r, sum[WRONG], sum[FLITS], 1);
	r = exp_row(x, "FEC cannot put right, UALink's BER", "fer_uc_ualink");
	r->exact = error_exact_fer_uc(UALINK_BER);
	r->note = "independent bits and this FEC, 1100 times the paper's 3e-5: such a link needs "
		  "the FEC of its Ethernet below";
	exp_row_share(r, sum[UNCORRECTABLE], sum[FLITS], 1);
}

static void
error_independent_bits(struct exp *x)
{
	struct exp_row *fer = exp_row(x, "flits with errors, BER 1e-6", "fer");
	struct exp_row *weighted = exp_row(x, "the same, weighted by wrong bits", "fer_weighted");
	struct exp_row *uc =
		exp_row(x, "flits FEC cannot put right, independent bits", "fer_uc_iid");
	struct exp_row *r;
	double var_fer[2] = { 0 }, var_uc[2] = { 0 };
	uint64_t sum[EXP_SUMS];

	error_run(x, "fer", "ber=%g", PAPER_BER, 200000000, sum);
	fer->paper = 2.0e-3;
	fer->paper_half = 0.05e-3;
	fer->exact = error_exact_fer(PAPER_BER);
	exp_row_share(fer, sum[WRONG], sum[FLITS], 1);

	weighted->exact = fer->exact;
	weighted->measured = uc->measured = 0;
	for (unsigned int k = 1; k <= K_MAX; k++) {
		char topic[8];

		snprintf(topic, sizeof(topic), "bits%u", k);
		error_run(x, topic, "bits=%g", k, 1000000, sum);
		error_add_stratum(
			weighted, var_fer, sum[WRONG], sum[FLITS], error_binomial(k, PAPER_BER));
		error_add_stratum(
			uc, var_uc, sum[UNCORRECTABLE], sum[FLITS], error_binomial(k, PAPER_BER));
	}
	error_sum_strata(weighted, var_fer);
	error_sum_strata(uc, var_uc);
	weighted->note =
		"exactly k = 1..8 wrong bits, weighted with the binomial; all are found, so "
		"the interval is that of none missed";
	uc->paper = PAPER_FER_UC;
	uc->paper_half = 0.05e-5;
	uc->exact = error_exact_fer_uc(PAPER_BER);
	uc->note =
		"the paper takes 3e-5, a ceiling of PCIe 6 that stands for bursts, next to a FER "
		"of independent bits: those give 43 times less. By k wrong bits, as above";

	error_run(x, "plain", "ber=%g", PLAIN_BER, 10000000, sum);
	r = exp_row(x, "flits with errors, BER 1e-4, plain", "fer_1e-4");
	r->exact = error_exact_fer(PLAIN_BER);
	exp_row_share(r, sum[WRONG], sum[FLITS], 1);
	r = exp_row(x, "FEC cannot put right, BER 1e-4, plain", "fer_uc_1e-4");
	r->exact = error_exact_fer_uc(PLAIN_BER);
	exp_row_share(r, sum[UNCORRECTABLE], sum[FLITS], 1);
	error_ualink(x);
}

static void
error_bursts(struct exp *x)
{
	struct exp_row *r;
	uint64_t sum[EXP_SUMS];

	error_run(x, "channel", "channel=%g", 1, 10000000, sum);
	r = exp_row(x, "flits FEC cannot put right, bursts", "fer_uc_burst");
	r->paper = PAPER_FER_UC;
	r->paper_half = 0.05e-5;
	x->channel_uc = error_exact_burst_uc();
	r->exact = CHANNEL_FER * x->channel_uc;
	r->note = "bursts start in 2.0e-3 of the flits and go on by one more bit with 0.811; every "
		  "flit of the sample has one";
	exp_row_share(r, sum[UNCORRECTABLE], sum[FLITS], CHANNEL_FER);
	x->fer_uc_burst = r;
	x->channel_missed = sum[MISSED];
	x->channel_uncorrectable = sum[UNCORRECTABLE];
	x->channel_flits = sum[FLITS];
	r = exp_row(x, "of those FEC notices, bursts", "fec_detect_channel");
	exp_row_share(r, sum[UNCORRECTABLE] - sum[MISSED], sum[UNCORRECTABLE], 1);
	r->note = "no closed form: the burst's ends are not random symbols";

	error_run(x, "channel-plain", "channel=%g", CHANNEL_FER, 50000000, sum);
	r = exp_row(x, "FEC cannot put right, bursts, plain", "fer_uc_burst_plain");
	r->exact = x->fer_uc_burst->exact;
	exp_row_share(r, sum[UNCORRECTABLE], sum[FLITS], 1);
}

void
exp_flit_errors(struct exp *x)
{
	error_independent_bits(x);
	error_bursts(x);
}
