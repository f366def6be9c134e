/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit CRCs of eight flits with AVX-512 but neither GFNI nor VBMI (doc/performance.md, Flit CRC).
 * Hot path. Registers are 256 bits wide: by wider ones these CPUs lower their clock for all that
 * runs. There additions are cheap, two in a ternary operation, and byte shuffles are dear: one a
 * cycle. So additions first:
 *   1. parts of 4 bytes of all flits: the message is a polynomial in y = x^4 of 61 parts;
 *   2. relations such as y^13 = y^12 + 1 make 8 to 10 parts of it by additions alone. The roots
 *      alpha^j fall into four classes with a relation each, as conjugates share theirs;
 *   3. for each root, the sum of these parts times powers of alpha^(4 j);
 *   4. the 4 bytes of the sum to one, of all flits and then two roots at a time;
 *   5. from the values at the roots to the remainder, by tables.
 */

#include "crc_nibbles_priv.h"

#define PART 4
#define PARTS 61 /* the last of 2 bytes */
#define COLUMN 16
#define CLASS_MAX 4 /* roots of a class */
#define PAD 4 /* zero parts before the first, so that steps of 13 and of 9 parts fit */
#define LONG_ROWS 13 /* of the relations of roots 1 2 4 8, and of 7 */
#define SHORT_ROWS 9 /* of those of roots 3 6, and of 5 */

/* y^rows = y^a + y^b + 1; b is 0 if there is no such term. */
struct relation {
	unsigned int a, b;
};

static inline reg
crc_add3(reg a, reg b, reg c)
{
	return _mm256_ternarylogic_epi64(a, b, c, 0x96);
}

/* Step 1: parts in the order of the message, each of flits 0 2 4 6 1 3 5 7. */
static inline __attribute__((always_inline)) void
crc_split(const uint8_t *const *flit, reg *part)
{
	static_assert(WEFT_CRC_COVERED == (PARTS - 1) * PART + 2, "what the last part holds");
#pragma GCC unroll 2
	for (unsigned int off = 0; off < CRC_FLIT_LEN; off += COLUMN, part += COLUMN / PART) {
		const reg a = reg256_two_at(flit[0], flit[1], off);
		const reg b = reg256_two_at(flit[2], flit[3], off);
		const reg c = reg256_two_at(flit[4], flit[5], off);
		const reg d = reg256_two_at(flit[6], flit[7], off);

		reg256_transpose(a, b, c, d, part);
	}
}

/*
 * The next row into a ring of the last @p n: the part, and what is added to it by those before that
 * have gone to lower powers. The last @p n rows go nowhere.
 */
static inline __attribute__((always_inline)) void
crc_add_row(
	reg *ring, unsigned int n, unsigned int k, struct relation y, reg part, bool is_last_round)
{
	const bool has_a = !is_last_round || k + y.a < n;
	const bool has_b = y.b != 0 && (!is_last_round || k + y.b < n);

	ring[k] = has_a ? crc_add3(ring[k], ring[(k + y.a) % n], part) : crc_add(ring[k], part);
	if (has_b)
		ring[k] = crc_add(ring[k], ring[(k + y.b) % n]);
}

/*
 * Step 2 for two classes, from @p rounds * @p n parts to @p n: [i] belongs to y^i. Loops have
 * constant bounds, so that the rings are registers.
 */
static inline __attribute__((always_inline)) void
crc_add_rows(reg *ring_y, reg *ring_z, unsigned int n, const reg *part, struct relation y,
	struct relation z, bool is_last_round)
{
#pragma GCC unroll 13
	for (unsigned int k = 0; k < LONG_ROWS; k++) {
		if (k >= n)
			continue;
		crc_add_row(ring_y, n, k, y, part[k], is_last_round);
		crc_add_row(ring_z, n, k, z, part[k], is_last_round);
	}
}

static inline __attribute__((always_inline)) void
crc_reduce(const reg *part, unsigned int rounds, unsigned int n, struct relation y,
	struct relation z, reg *out_y, reg *out_z)
{
	reg ring_y[LONG_ROWS], ring_z[LONG_ROWS];

#pragma GCC unroll 13
	for (unsigned int k = 0; k < LONG_ROWS; k++)
		ring_y[k] = ring_z[k] = _mm256_setzero_si256();
#pragma GCC unroll 1
	for (unsigned int i = 1; i < rounds; i++, part += n)
		crc_add_rows(ring_y, ring_z, n, part, y, z, false);
	crc_add_rows(ring_y, ring_z, n, part, y, z, true);
#pragma GCC unroll 13
	for (unsigned int k = 0; k < LONG_ROWS; k++) {
		if (k >= n)
			continue;
		out_y[n - 1 - k] = ring_y[k];
		out_z[n - 1 - k] = ring_z[k];
	}
}

/* Step 2, the rest of it for roots 1 2 4 8: y^8 = y^5 + y^3 + y + 1. */
static inline void
crc_reduce_to_eight(reg *part)
{
#pragma GCC unroll 5
	for (unsigned int i = LONG_ROWS - 1; i >= 8; i--) {
		part[i - 3] = crc_add(part[i - 3], part[i]);
		part[i - 5] = crc_add(part[i - 5], part[i]);
		part[i - 7] = crc_add(part[i - 7], part[i]);
		part[i - 8] = crc_add(part[i - 8], part[i]);
	}
}

/* And for root 7: y^10 = y^9 + y^5 + 1. */
static inline void
crc_reduce_to_ten(reg *part)
{
#pragma GCC unroll 3
	for (unsigned int i = LONG_ROWS - 1; i >= 10; i--) {
		part[i - 1] = crc_add(part[i - 1], part[i]);
		part[i - 5] = crc_add(part[i - 5], part[i]);
		part[i - 10] = crc_add(part[i - 10], part[i]);
	}
}

/* sum, plus a part times y^@p power for root number @p r. */
static inline reg
crc_add_product(reg sum, reg low, reg high, unsigned int r, unsigned int power)
{
	const uint8_t(*t)[16] = weft_crc_avx512bw.root[r].part[power - 1];

	return crc_add3(sum, _mm256_shuffle_epi8(reg256_table(t[0]), low),
		_mm256_shuffle_epi8(reg256_table(t[1]), high));
}

/* Step 3 for @p n_roots of the tables from @p first on, which share their @p n parts. */
static inline __attribute__((always_inline)) void
crc_weigh(const reg *part, unsigned int n, unsigned int first, unsigned int n_roots, reg *fours)
{
#pragma GCC unroll 4
	for (unsigned int r = 0; r < CLASS_MAX; r++)
		if (r < n_roots)
			fours[first + r] = part[0];
#pragma GCC unroll 9
	for (unsigned int i = 1; i < n; i++) {
		const reg low = reg256_low_nibbles(part[i]), high = reg256_high_nibbles(part[i]);

#pragma GCC unroll 4
		for (unsigned int r = 0; r < CLASS_MAX; r++)
			if (r < n_roots)
				fours[first + r] =
					crc_add_product(fours[first + r], low, high, first + r, i);
	}
}

/* Step 4 for four roots: a byte a flit of each. */
static inline void
crc_store_values(const struct crc_avx2_pair *t, const reg *fours, uint8_t (*value)[CRC_GROUP])
{
	_mm256_storeu_si256((reg *)(void *)value,
		_mm256_packus_epi16(crc_values_at_two(&t[0], fours[0], fours[2]),
			crc_values_at_two(&t[1], fours[1], fours[3])));
}

/* Step 5 for flit @p k. */
static inline uint64_t
crc_remainder(const uint8_t (*value)[CRC_GROUP], unsigned int k)
{
	uint64_t sum = 0;

#pragma GCC unroll 8
	for (unsigned int r = 0; r < 8; r++)
		sum ^= weft_crc_avx512bw_remainder[r][value[r][k]];
	return sum;
}

void
weft_crc_group_avx512bw(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	const uint8_t *p[CRC_GROUP];
	uint8_t value[8][CRC_GROUP];
	reg part[PAD + CRC_FLIT_LEN / PART], a[LONG_ROWS], b[LONG_ROWS], fours[8];

	if (crc_few(flit, n, crc))
		return;
	/* Lanes without a flit repeat the first: no other memory is read. */
	if (n < CRC_GROUP) {
		for (unsigned int k = 0; k < CRC_GROUP; k++)
			p[k] = flit[k < n ? k : 0];
		flit = p;
	}
	for (unsigned int i = 0; i < PAD; i++)
		part[i] = _mm256_setzero_si256();
	crc_split(flit, part + PAD);
	part[PAD + PARTS - 1] = _mm256_and_si256(part[PAD + PARTS - 1], _mm256_set1_epi32(0xFFFF));
	crc_reduce(part, 5, LONG_ROWS, (struct relation){ 12, 0 }, (struct relation){ 2, 0 }, a, b);
	crc_reduce_to_eight(a);
	crc_reduce_to_ten(b);
	crc_weigh(a, 8, 0, 4, fours);
	crc_weigh(b, 10, 7, 1, fours);
	crc_reduce(part + 2, 7, SHORT_ROWS, (struct relation){ 1, 3 }, (struct relation){ 2, 4 }, a,
		b);
	crc_weigh(a, SHORT_ROWS, 4, 2, fours);
	crc_weigh(b, SHORT_ROWS, 6, 1, fours);
	crc_store_values(weft_crc_avx512bw.pair, fours, value);
	crc_store_values(weft_crc_avx512bw.pair + 2, fours + 4, value + 4);
	for (unsigned int k = 0; k < n; k++)
		crc[k] = crc_remainder(value, k);
}
