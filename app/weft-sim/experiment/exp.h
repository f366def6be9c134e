/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Shared by the parts of the experiment: the sample, the rows of the table, work on threads. */
#ifndef EXP_H
#define EXP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "stats.h"
#include "weft_codec.h"
#include "weft_impair.h"

/* Parameters of the paper (section 7). */
#define PAPER_BER 1e-6
#define PAPER_FER_UC 3.0e-5
#define PAPER_P 0.1 /* one flit in ten carries an Ack */
#define PAPER_SLOT_NS 2
#define PAPER_ROUND_TRIP 50 /* slots */
#define FLITS_PER_S 5e8
#define FIT_OF_RATE (FLITS_PER_S * 3600 * 1e9) /* failures in 1e9 h by failures a flit */

#define EXP_ROWS_MAX 96
#define EXP_NONE __builtin_nan("") /* no such value */

/** A row of the table. What it says of the paper follows from the numbers (row.c). */
struct exp_row {
	char id[32];
	const char *what;
	double paper; /**< EXP_NONE: the paper does not have it */
	double paper_half; /**< half a unit of the last place that the paper prints */
	double exact; /**< by arithmetic; EXP_NONE: not known */
	double measured;
	struct stats_range shown; /**< 95 % */
	struct stats_range far; /**< four sigma */
	uint64_t events, sample; /**< what was counted, of how many */
	const char *note; /**< may be NULL */
};

struct exp {
	uint64_t seed;
	bool quick;
	bool brief;
	unsigned int threads;
	struct weft_codec codec;
	struct exp_row row[EXP_ROWS_MAX];
	unsigned int n_rows;
	json_t *crc, *fit, *beyond; /**< arrays for plots */

	/* Measured by one part, used by another. */
	struct exp_row *fec_detect_4, *fer_uc_burst;
	uint64_t channel_missed, channel_uncorrectable, channel_flits;
	double channel_uc; /* by arithmetic: share of the channel's bursts beyond FEC */
};

/* --- row.c --- */

/** A new row, zeroed but for its names and EXP_NONE; it stays where it is. */
struct exp_row *exp_row(struct exp *x, const char *what, const char *id, ...)
	__attribute__((format(printf, 3, 4)));

/** The row of that id, which there must be. */
const struct exp_row *exp_row_find(const struct exp *x, const char *id);

/** Measured is the share @p events of @p n, times @p scale. */
void exp_row_share(struct exp_row *r, uint64_t events, uint64_t n, double scale);

/** Measured is @p events a unit of @p n, times @p scale: events that may come in any number. */
void exp_row_rate(struct exp_row *r, uint64_t events, uint64_t n, double scale);

/**
 * "disagrees": four sigma do not reach the exact value (else the paper's). "bound": nothing of it
 * was seen. "agrees", "paper rounds", "paper disagrees": the exact value holds, and the paper's is
 * the same in the places it prints, near it, or something else. "measured": nothing to compare
 * with.
 */
const char *exp_verdict(const struct exp_row *r);

json_t *exp_row_json(const struct exp_row *r);

/** A number for JSON; null for what is none. */
json_t *exp_number(double v);

/* --- work.c --- */

/** Work @p i of @p n; adds its counts to @p sum, which is its own. */
typedef void (*exp_work_fn)(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum);

#define EXP_SUMS 32

/**
 * Do @p n pieces of work on the threads; the counts of all of them are added up in @p sum. Seeds
 * follow from the seed of the experiment, @p topic and the piece, so threads change nothing.
 */
void exp_work(const struct exp *x, const char *topic, exp_work_fn fn, unsigned int n,
	uint64_t sum[EXP_SUMS]);

/** @p full, or less of it in a quick run, and in a brief one next to nothing. */
static inline uint64_t
exp_sample(const struct exp *x, uint64_t full)
{
	const uint64_t n = x->brief ? full / 1000 : x->quick ? full / 20 : full;

	return n != 0 ? n : 1;
}

/** The same for what is so rare that a twentieth might not show it at all. */
static inline uint64_t
exp_sample_rare(const struct exp *x, uint64_t full)
{
	return x->brief ? exp_sample(x, full) : x->quick ? full / 5 : full;
}

/** @p n flits of random bytes with CRC and FEC. */
void exp_flits(const struct exp *x, uint64_t seed, uint8_t *flits, unsigned int n);

/** A wire that does one thing, by the seed. */
void exp_wire(struct weft_impair *w, uint64_t seed, const char *settings);

/* --- the parts --- */

void exp_shares(struct exp *x);
void exp_flit_errors(struct exp *x);
void exp_crc_slope(struct exp *x);
void exp_order(struct exp *x);
void exp_bandwidth(struct exp *x);
void exp_figures(struct exp *x);
void exp_arithmetic(struct exp *x);
void exp_beyond(struct exp *x);
void exp_llr(struct exp *x);

#endif /* EXP_H */
